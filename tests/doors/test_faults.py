"""One sentence for one fault: what is wrong is said in the same words by every door in which it can go wrong.

`FAULTS` is the table. A row has the fault's name, what is done at a door, and words that the sentence must have; then,
where they are not all of a running craft: the doors that the fault can come through, the system, whether it has begun
and the exception that `Plant` raises. The sentence of an FMU is the first that it logs against the call, as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, pi
from typing import Any, Literal

import pytest

from doors.doors import ALL, EXCHANGE, FMUS, NATIVE, PLANT, Door, Doors, FmuDoor, PlantDoor
from mbdy.blocks import StateError, StepError, VariableError
from mbdy.engine import Model, loads

CRAFT = loads("""
mbdy = 1
name = "craft"
[system]
gravity_gradient = true
orbit_position = [7e6, 0, 0]
[body.bus]
mass = 500
inertia = [410, 380, 300]
joint = { to = "inertial", kind = "free" }
wheel.x = { axis = [1, 0, 0], inertia = 0.05 }
node.tip = { at = [0.2, 0, 0.9] }
[body.panel]
mass = 12
com = [0, 1.1, 0]
inertia = [9.8, 0.4, 10.1]
[body.panel.joint]
to = "bus"
kind = "revolute"
axis = [0, 1, 0]
at = [0, 0.6, 0]
stiffness = 40
damping = 0.8
motion = "switchable"
friction = 0.1
friction_rate = 0.01
stop_stiffness = 100
stop_damping = 1
stop_lower = -1
stop_upper = 1
[initial]
bus.omega = [0.02, 0.01, 0]
""")
LINKAGE = loads("""
mbdy = 1
name = "linkage"
[body.stone]
mass = 1
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "free" }
[body.arm]
mass = 1
com = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
node.tip = { at = [1, 0, 0] }
[loop.rod]
a = "inertial"
b = "stone"
kind = "distance"
distance = 1
time_constant = 0.5
[loop.hook]
a = "arm.tip"
b = "inertial"
at_b = [0, 3, 0]
kind = "distance"
distance = 3.1622776601683795
[initial]
stone.position = [1, 0, 0]
arm.joint.angle = 0
""")
"""A stone on a rod, and an arm whose tip keeps its distance from a point: it can come no nearer than 2 m."""
GIMBAL = loads("""
mbdy = 1
[body.bus]
mass = 100
inertia = [20, 20, 20]
joint = { to = "inertial", kind = "free" }
[body.camera]
mass = 10
inertia = [1, 2, 3]
joint = { to = "bus", kind = "gimbal", sequence = "zyx" }
""")
PANEL_MOMENTS = ("panel.inertia[1,1]", "panel.inertia[2,2]", "panel.inertia[3,3]")
THREE = ("[1]", "[2]", "[3]")
FOUR = (*THREE, "[4]")
FMI_3 = ("python 3.0", "native 3.0")
MOST = 1e9
"""Internal steps in a communication step; one more is refused."""

Act = Callable[[Any], object]
Names = Literal["nothing", "the call", "its own"]


@dataclass(frozen=True)
class Fault:
    name: str
    act: Act
    words: tuple[str, ...]
    doors: tuple[str, ...] = ALL
    error: tuple[type[Exception], ...] = (VariableError,)
    system: Model = CRAFT
    begun: bool = True
    names: Names = "nothing"
    """What a sentence names that is not the same at all doors: the standard's call, by its version of FMI, or a number
    of the door's own (its last value reference). Doors that share it say the same."""

    def shared(self, door: str) -> str:
        """Doors of which this is the same say the same."""
        return {"nothing": "", "the call": door.rpartition(" ")[2], "its own": door}[self.names]


def said(name: str, act: Act, *words: str, **more) -> Fault:
    return Fault(name, act, words, **more)


# What is done at a door


def sets(name: str, value: float) -> Act:
    return lambda door: door.set({name: value})


def sets_all(name: str, elements: Sequence[str], values: Sequence[float]) -> Act:
    """Values of an array, then a step, which needs them together."""
    return then_steps({name + element: value for element, value in zip(elements, values, strict=True)})


def then_steps(values: Mapping[str, float], size: float = 1e-3) -> Act:
    def act(door: Door) -> None:
        door.set(values)
        door.step(size)

    return act


def starts(values: Mapping[str, float], size: float = 1e-3) -> Act:
    """Start values or parameters, the start, and a step of ``size`` [s]."""

    def act(door: Door) -> None:
        door.set(values)
        door.initialize()
        door.step(size)

    return act


def steps(size: Any, **more: float) -> Act:
    return lambda door: door.step(size, **more)


def initializes(start: float = 0.0, stop: float | None = None) -> Act:
    return lambda door: door.initialize(start, stop)


def past_the_stop_time(door: FmuDoor) -> None:
    door.initialize(0.0, 0.0015)
    door.step(1e-3)
    door.step(1e-3)


def calls(name: str, *arguments: object) -> Act:
    """A function of FMPy's instance."""
    return lambda door: getattr(door.client.fmu, name)(*arguments)


def terminated(*more: Act) -> Act:
    def act(door: FmuDoor) -> None:
        door.client.fmu.terminate()
        for each in more:
            each(door)

    return act


def two_values_for_three(door: FmuDoor) -> None:
    door.client.fmu.setFloat64([door.reference("bus.torque")], [1.0, 2.0])


def two_elements_for_three(door: PlantDoor) -> None:
    door.plant["bus.torque"] = [1.0, 2.0]


def gets_reference(offset: int, name: str = "") -> Act:
    return lambda door: door.client.get_reals([(door.reference(name) if name else 0) + offset])


def sets_reference(name: str) -> Act:
    return lambda door: door.client.set_reals([door.reference(name)], [1.0])


def damaged(door: FmuDoor) -> None:
    """One bit of a saved state, in the middle of its numbers, is another."""
    data = bytearray(door.saved())
    data[-len(data) // 3] ^= 1
    door.restore(bytes(data))
    door.step()


def cut(door: FmuDoor) -> None:
    door.restore(door.saved()[:16])
    door.step()


def sets_states(place: int, value: float) -> Act:
    def act(door: FmuDoor) -> None:
        x = door.client.states()
        x[place] = value
        door.client.set_states(x)

    return act


def sets_slope(name: str, order: int, value: float) -> Act:
    return lambda door: door.client.fmu.setRealInputDerivatives([door.reference(name)], [order], [value])


FAULTS = (
    # Inputs
    said("an input that is no number", sets("bus.torque[1]", nan), "input 'bus.torque[1]': must be finite, got nan"),
    said("an infinite input", sets("panel.joint.torque", inf),
         "input 'panel.joint.torque': must be finite, got inf"),
    said("an input of minus infinity", sets("bus.tip.force[3]", -inf),
         "input 'bus.tip.force[3]': must be finite, got -inf"),
    said("an infinite rest of a spring", sets("panel.joint.rest", inf),
         "input 'panel.joint.rest': must be finite, got inf"),
    said("a gravity that is no number", sets("system.gravity[2]", nan),
         "input 'system.gravity[2]': must be finite, got nan"),
    said("an orbit through the centre", sets_all("system.orbit_position", THREE, (0, 0, 0)),
         "'system.orbit_position", "centre"),
    said("half a switch", sets("panel.joint.locked", 0.5), "'panel.joint.locked'", "0.5", "0 or 1", doors=(PLANT,)),
    said("two values for three", two_values_for_three, "3 values", "2", doors=FMI_3),
    said("two elements for three", two_elements_for_three, "'bus.torque'", "3 values", "2", doors=(PLANT,)),
    # Parameters
    said("a mass that is no number", sets("panel.mass", nan), "parameter 'panel.mass': must be finite, got nan"),
    said("an infinite stiffness", sets("panel.joint.stiffness", inf),
         "parameter 'panel.joint.stiffness': must be finite, got inf"),
    said("a product of inertia that is no number", sets("bus.inertia[1,2]", nan),
         "parameter 'bus.inertia[1,2]': must be finite, got nan"),
    said("a negative mass", sets("panel.mass", -2.0), "parameter 'panel.mass': must be >= 0, got -2"),
    said("a negative friction", sets("panel.joint.friction", -0.5),
         "parameter 'panel.joint.friction': must be >= 0, got -0.5"),
    said("a negative stiffness of a stop", sets("panel.joint.stop_stiffness", -1.0),
         "parameter 'panel.joint.stop_stiffness': must be >= 0, got -1"),
    said("a centre that repels", sets("system.gravitational_parameter", -1.0),
         "parameter 'system.gravitational_parameter': must be >= 0, got -1"),
    said("a negative moment of inertia", then_steps({"panel.inertia[1,1]": -3.0}), "parameter 'panel.inertia': must "
         "have no negative principal moment (xx, xy, xz, yy, yz, zz), got [-3, 0, 0, 0.4, 0, 10.1]"),
    said("moments that become negative by a product", then_steps({"panel.inertia[1,3]": 50.0}),
         "'panel.inertia': must have no negative principal moment"),
    said("a mass centre out of all floats", then_steps({"panel.com[2]": 1e200}),
         "parameter 'panel.com': must be nearer"),
    said("an axis of zero", then_steps({"panel.joint.axis[2]": 0.0}),
         "parameter 'panel.joint.axis': must not be zero, got [0, 0, 0]"),
    said("an axis of zero of a wheel", then_steps({"bus.x.axis[1]": 0.0}),
         "parameter 'bus.x.axis': must not be zero, got [0, 0, 0]"),
    said("a frame of zero", then_steps({"panel.joint.frame[1]": 0.0}),
         "parameter 'panel.joint.frame': must be a quaternion, not zero, got [0, 0, 0, 0]"),
    said("a wheel with more spin inertia than its body", then_steps({"bus.x.inertia": 500.0}),
         "parameter 'bus.x.inertia': must be > 0 kg.m2, and no more than its body", "got 500"),
    said("a wheel without spin inertia", then_steps({"bus.x.inertia": 0.0}), "'bus.x.inertia': must be > 0 kg.m2"),
    said("a friction rate of zero", then_steps({"panel.joint.friction_rate": 0.0}),
         "parameter 'panel.joint.friction_rate': must be > 0, got 0"),
    said("stops in the wrong order", then_steps({"panel.joint.stop_lower": 2.0}),
         "parameter 'panel.joint.stop_lower': must be below 'panel.joint.stop_upper', got 2"),
    said("a distance of zero", then_steps({"loop.rod.distance": 0.0}), "'loop.rod.distance'", system=LINKAGE),
    said("a negative time constant", then_steps({"loop.rod.time_constant": -0.5}),
         "parameter 'loop.rod.time_constant': must be >= 0, got -0.5",
         system=LINKAGE),
    said("a hinge without inertia", starts({"panel.mass": 0.0, **dict.fromkeys(PANEL_MOMENTS, 0.0)}),
         "'panel.joint.rate' moves no inertia: give 'panel' or a body that it carries mass or inertia", begun=False),
    said("a hinge that loses its inertia", then_steps({"panel.mass": 0.0, **dict.fromkeys(PANEL_MOMENTS, 0.0)}),
         "'panel.joint.rate' moves no inertia", doors=(PLANT, *FMUS)),
    said("a singular gimbal", starts({"camera.joint.angle[2]": pi / 2}), "'camera.joint' is singular: its middle angle "
         "'camera.joint.angle[2]' is 90 deg", begun=False, system=GIMBAL),
    said("axes that turn alike", starts({"camera.joint.axis[2,1]": 0.0, "camera.joint.axis[2,2]": 0.0,
         "camera.joint.axis[2,3]": 2.0}), "parameter 'camera.joint.axis': axis 2 must neither be zero nor turn",
         "got [0, 0, 2]", begun=False, system=GIMBAL),
    # Start values
    said("a start that is no number", starts({"panel.joint.angle": nan}),
         "start value 'panel.joint.angle': must be finite, got nan",
         begun=False),
    said("an infinite start", starts({"bus.x.speed": inf}), "start value 'bus.x.speed': must be finite, got inf",
         begun=False),
    said("an attitude of zeros", starts({f"bus.attitude{k}": 0.0 for k in FOUR}), "'bus.attitude", "quaternion",
         begun=False),
    said("an attitude that is no number", starts({"bus.attitude[3]": nan}),
         "start value 'bus.attitude[3]': must be finite, got nan", begun=False),
    said("a start after the start", sets("panel.joint.angle", 0.1), "'panel.joint.angle'", "reset"),
    said("an output", sets("system.mass", 1.0), "'system.mass'", "output"),
    said("an output before the start", sets("panel.joint.reaction", 1.0), "'panel.joint.reaction'", "output",
         begun=False),
    said("a calculated parameter", sets("system.initial.mass", 1.0), "'system.initial.mass'", "calculated", doors=FMUS),
    said("a derivative", sets("der(panel.joint.angle)", 1.0), "'der(panel.joint.angle)'", "derivative", doors=NATIVE),
    said("speeds of which no finite energy follows", starts({"bus.velocity[1]": 1e200}), "finite", begun=False,
         error=(StateError,)),
    # Loops
    said("a loop that cannot be closed", starts({"loop.hook.distance": 0.5}), "loop.hook", "cannot be closed",
         system=LINKAGE, begun=False),
    said("a loop that comes apart", starts({"stone.velocity[2]": 3e3}, 2e-3), "loop.rod", "came apart", "0.002 s",
         system=LINKAGE, begun=False, error=(StateError,)),
    # Steps
    said("no step", steps(0.0), "0 s", "must be positive, finite", error=(StepError,)),
    said("a step back", steps(-1e-3), "-0.001 s", "must be positive, finite", error=(StepError,)),
    said("a step that is no number", steps(nan), "nan s", "must be positive, finite", error=(StepError,)),
    said("a step without end", steps(inf), "inf s", "must be positive, finite", error=(StepError,)),
    said("a step of too many", steps(1.1e-3 * MOST), "at most 1e9 internal steps", error=(StepError,)),
    said("a step that is a text", steps("0.1"), "'0.1'", doors=(PLANT,), error=(StepError,)),
    said("a state that leaves the finite numbers", then_steps({"bus.torque[1]": 1e300}, 0.1), "'bus.", "0.101 s",
         "left the finite numbers", "as it was", error=(StateError,)),
    said("a joint that turns too far in a step", then_steps({"panel.joint.torque": 1e200}, 0.1), "'", "0.101 s",
         "left the finite numbers", error=(StateError,)),
    # Time
    said("a time that goes back", steps(1e-3, at=-1.0), "backwards", "-1 s", doors=FMUS),
    said("a time that jumps ahead", steps(1e-3, at=5.0), "ahead", "5 s", doors=FMUS),
    said("a time that is no number", steps(1e-3, at=nan), "nan s", "finite", doors=FMUS),
    said("a step past the stop time", past_the_stop_time, "past the stop time", "0.0015", doors=FMUS, begun=False),
    said("a start time that is no number", initializes(nan), "start time", "nan s", doors=FMUS, begun=False),
    said("a stop time before the start time", initializes(1.0, 0.5), "stop time", "0.5 s", doors=FMUS, begun=False),
    said("a stop time that is no number", initializes(1.0, nan), "stop time", "nan s", doors=FMUS, begun=False),
    said("a time of model exchange that is no number", calls("setTime", nan), "nan s", "finite", doors=EXCHANGE),
    # Phases
    said("a step before initialization", steps(1e-3), "instantiated", doors=FMUS, begun=False, names="the call"),
    said("an end of initialization before its begin", calls("exitInitializationMode"), "instantiated", doors=FMUS,
         begun=False, names="the call"),
    said("an end before the begin", calls("terminate"), "instantiated", doors=NATIVE, begun=False, names="the call"),
    said("initialization of what runs", calls("enterInitializationMode"), "between steps", doors=FMUS,
         names="the call"),
    said("a second end of initialization", calls("exitInitializationMode"), "between steps", doors=FMUS,
         names="the call"),
    said("a step after the end", terminated(steps(1e-3)), "terminated", "reset", doors=FMUS, names="the call"),
    said("a value after the end", terminated(sets("bus.torque[1]", 1.0)), "'bus.torque", "terminated", doors=FMUS),
    said("a second end", terminated(calls("terminate")), "terminated", "reset", doors=FMUS, names="the call"),
    said("a parameter between events", sets("panel.mass", 3.0), "'panel.mass'", "event mode", doors=EXCHANGE),
    said("a switch between events", lambda door: door.switch("panel.joint.locked", True), "'panel.joint.locked'",
         "event mode", doors=EXCHANGE),
    said("a state of model exchange that is no number", sets_states(3, nan), "nan", "finite", doors=EXCHANGE),
    # References
    said("an unknown name", sets("bus.torq[1]", 1.0), "'bus.torq", "bus.torque", doors=(PLANT,), error=(LookupError,
         VariableError)),
    said("an index too large", sets("bus.torque[4]", 1.0), "'bus.torque", "4", doors=(PLANT,), error=(LookupError,
         VariableError)),
    said("an unknown reference", gets_reference(10**6), "no value reference 1000000", doors=FMUS, names="its own"),
    said("a reference of an element", gets_reference(1, "bus.omega"), "'bus.omega[2]'", "element", doors=FMI_3),
    said("a switch as a number", sets_reference("panel.joint.locked"), "'panel.joint.locked'", "Boolean", doors=FMUS),
    said("a number as a switch", lambda door: door.client.fmu.setBoolean([door.reference("panel.mass")], [True]),
         "'panel.mass'", doors=FMUS),
    said("a slope of what is no input", sets_slope("panel.mass", 1, 1.0), "'panel.mass'", "input",
         doors=("native 2.0",)),
    said("a third derivative", sets_slope("bus.torque[1]", 3, 1.0), "'bus.torque[1]'", "order", doors=("native 2.0",)),
    said("a slope that is no number", sets_slope("bus.torque[1]", 1, nan), "'bus.torque[1]'", "nan",
         doors=("native 2.0",)),
    # Saved states
    said("a damaged state", damaged, "damaged", doors=FMUS),
    said("a state that is cut off", cut, "16 bytes", doors=FMUS),
)  # fmt: skip
ENOUGH = 40
"""Faults that `Plant` shares with an FMU, or that all FMUs share."""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "_"))
def test_one_sentence_for_one_fault(fault: Fault, doors: Doors) -> None:
    sentences = {}
    for name in fault.doors:
        door = doors.open(name, fault.system)
        if fault.begun:
            door.initialize()
            if name not in EXCHANGE:
                door.step()
        sentence, raised = door.refusal(fault.act)
        sentences[name] = sentence
        if name == PLANT:
            assert raised is not None, "Plant lets it through"
            assert issubclass(raised, fault.error), f"Plant raises {raised.__name__}: {sentence}"
    told = "\n".join(f"{name}: {sentence or '(nothing)'}" for name, sentence in sentences.items())
    assert all(word in sentence for sentence in sentences.values() for word in fault.words), told
    assert len({*sentences.values()}) == len({fault.shared(name) for name in sentences}), told


def test_the_table_is_long_enough() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert sum(len(fault.doors) >= len(FMUS) for fault in FAULTS) >= ENOUGH


@pytest.mark.parametrize("name", ALL)
def test_a_saved_state_of_another_model(name: str, doors: Doors) -> None:
    """It is refused and changes nothing. Its sentence is the door's own: an FMU names the tokens of both."""
    own, other = (doors.open(name, model) for model in (CRAFT, LINKAGE))
    own.initialize()
    other.initialize()
    own.step()
    before = own.outputs()
    state = other.saved()
    sentence, _ = own.refusal(lambda door: (door.restore(state), door.step()))
    assert "model" in sentence
    assert (own.outputs() == before).all()


KEPT = [fault for fault in FAULTS if fault.begun and fault.name in {
    "an input that is no number", "an infinite input", "a mass that is no number", "a negative mass",
}]  # fmt: skip


@pytest.mark.parametrize("name", FMUS)
@pytest.mark.parametrize("fault", KEPT, ids=lambda fault: fault.name.replace(" ", "_"))
def test_a_value_that_an_fmu_keeps_is_told_again_in_the_same_words(fault: Fault, name: str, doors: Doors) -> None:
    """By the next step, until a good one is in its place."""
    door = doors.open(name, fault.system)
    door.initialize()
    first, _ = door.refusal(fault.act)
    again, _ = door.refusal(lambda door: door.step())
    assert first == again != ""


def test_an_input_written_into_the_view_is_told_by_the_step(doors: Doors) -> None:
    """In the words of the FMUs: `Plant`'s typed inputs are its own memory, nothing looks at them before."""
    door = doors.open(PLANT, CRAFT)
    assert isinstance(door, PlantDoor)
    place = door.plant.input_names.index("bus.torque[1]")
    door.plant.inputs.values[place] = nan
    sentence, raised = door.refusal(lambda door: door.step())
    assert sentence == "input 'bus.torque[1]': must be finite, got nan"
    assert raised is VariableError
