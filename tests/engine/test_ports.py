"""Ports that a model file chooses: what is left out stands still, and what is left is as with all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks import CosineSlew, LinearPlant, PartlyLinearPlant, Plant, VariableError, simulate
from mbdy.engine import Model, ModelError, PortChoice, dumps, equations, linearize, load, loads, ports, trim, verify
from mbdy.engine.model.owners import SYSTEM, Owner
from mbdy.engine.model.ports import NOWHERE, whole_inputs
from mbdy.engine.model.system import Body, GravityGradient, Joint, Loop, Node, Side, Wheel
from mbdy.engine.verification.random_states import Trials
from mechanisms import FOUR_BAR_FILE
from systems import chain, diagonal, floating

EXAMPLES = Path(__file__).parents[2] / "examples"
EXACT = 1e-13
"""Relative: the same kernels on the same numbers."""
FAR = 7e6
CHOICES = (
    PortChoice(inputs=("*.torque",), outputs=("*.omega", "system.energy")),
    PortChoice(inputs=("*.locked", "*.closed", "*.force"), outputs=("*.impulse", "*.residual", "*.load")),
    PortChoice(inputs=(), outputs=("*.acceleration", "*.speed", "*.reaction")),
    PortChoice(outputs=()),
    PortChoice(inputs=("*",)),
)


def gimballed() -> Model:
    """A free body with a wheel, and three rotations with prescribed and switchable motion on one of its nodes, in a
    gravity gradient."""
    base = Body(name="base", mass=10.0, com=(0.1, 0, 0), inertia=diagonal(2.0, 3.0, 4.0), joint=floating("attitude"),
                wheels={"x": Wheel(axis=(1, 0, 0), inertia=0.05, damping=0.01)})  # fmt: skip
    joint = Joint(
        to=base.name, rotations=((0, 0, 1), (0, 1, 0), (1, 0, 0)), at=(0.3, 0.1, 0), stiffness=(2.0, 0.0, 1.0),
        rest=(0.2, 0.0, -0.1), motion=("switchable", "free", "prescribed"),
    )  # fmt: skip
    head = Body(name="head", joint=joint, mass=2.0, com=(0.1, 0, 0.2), inertia=diagonal(0.2, 0.3, 0.25),
                nodes={"eye": Node(at=(0.0, 0.1, 0.4))})  # fmt: skip
    start = {"head.joint.angle": (0.3, -0.4, 0.2), "head.joint.rate": (0.1, 0.2, -0.3), f"{base.name}.omega": (1, 2, 3)}
    return Model(name="gimballed", bodies=(base, head), initial=start, gravity=(0.0, 0.0, -1.0),
                 gravity_gradient=GravityGradient(orbit_position=(FAR, 0.0, 1.0)))  # fmt: skip


def docking(*, closed: bool = True) -> Model:
    """Two free bodies, one with a hinged dish, whose ports meet."""
    first = Body(name="chaser", mass=50.0, inertia=diagonal(9.0, 7.0, 11.0), joint=floating(),
                 nodes={"port": Node(at=(1.0, 0.0, 0.0))})  # fmt: skip
    second = Body(name="target", mass=20.0, com=(0.3, 0.0, 0.1), inertia=diagonal(3.0, 4.0, 2.0), joint=floating(),
                  nodes={"port": Node(at=(-0.5, 0.0, 0.0))})  # fmt: skip
    hinge = Joint(to="target", kind="revolute", rotations=((0, 0, 1),), at=(0.5, 0, 0), motion=("switchable",))
    dish = Body(name="dish", mass=2.0, com=(0.4, 0, 0), inertia=diagonal(0.1, 0.2, 0.3), joint=hinge)
    start = {"target.position": (1.5, 0.0, 0.0), "dish.joint.rate": (0.5,)}
    dock = Loop(name="dock", a=Side(body="chaser", node="port"), b=Side(body="target", node="port"),
                rows=(1, 2, 3, 4, 5, 6), kind="weld", closed=closed, switchable=True)  # fmt: skip
    return Model(name="docking", bodies=(first, second, dish), initial=start, loops=(dock,))


def panel() -> Model:
    return load(EXAMPLES / "latching_panel" / "panel.toml")


MODELS = {"panel": panel, "gimballed": gimballed, "docking": docking}


def chosen(model: Model, inputs: tuple[str, ...] | None = None, outputs: tuple[str, ...] | None = None) -> Model:
    return replace(model, port_choice=PortChoice(inputs=inputs, outputs=outputs))


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_functions_are_those_of_the_whole_where_what_is_left_out_stands(model, choice):
    whole = MODELS[model]()
    part = replace(whole, port_choice=choice)
    made, every = equations(part), equations(whole)
    rng = np.random.default_rng(1)
    u = rng.integers(0, 2, len(made.ports.input_names)).astype(float)
    starts, places = whole_inputs(part)
    all_u = np.array(starts)
    all_u[list(places)] = u
    x, p = Trials(whole, rng).state(), np.array(every.ports.vector("parameter"))
    k = np.array(made.prepare(p)).ravel()
    index = {name: at for at, name in enumerate(every.ports.output_names)}
    kept = [index[name] for name in made.ports.output_names]
    np.testing.assert_array_equal(k, np.array(every.prepare(p)).ravel())
    for function, known, rows in (
        (made.derivatives, every.derivatives, slice(None)), (made.outputs, every.outputs, kept),
        *(((made.latch, every.latch, slice(None)),) if made.latch else ()),
    ):  # fmt: skip
        expected = known(x, all_u, k)
        found = function(x, u, k)
        for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
            np.testing.assert_allclose(np.array(one).ravel(), np.array(other).ravel()[rows], rtol=EXACT, atol=EXACT)


def test_names_follow_from_owner_and_quantity():
    table = ports(docking())
    assert len({v.name for v in table}) == sum(1 for _ in table)
    assert table.of(Owner("joint", "dish"), "angle") is table.by_name["dish.joint.angle"]
    assert table.of(Owner("node", "target", "port"), "force") is table.by_name["target.port.force"]
    assert table.of(Owner("loop", "dock"), "closed") is table.by_name["loop.dock.closed"]
    assert table.of(SYSTEM, "mass") is table.by_name["system.mass"]
    assert table.of(Owner("modes", "dish"), "rate") is None
    assert [v.name for v in ports(gimballed()).starts.values()][-1].endswith(".speed")


def test_places_of_impulses_and_loops_of_rows():
    whole = equations(docking())
    impulses = ports(docking()).span("impulses")
    assert whole.impulse_places == tuple(range(impulses.start, impulses.stop))
    assert (whole.loop_impulses, whole.loop_rows) == (6, ("loop.dock",) * 6)
    made = equations(chosen(docking(), outputs=("loop.*.impulse",)))
    assert made.impulse_places == (NOWHERE, 0, 1, 2, 3, 4, 5)
    assert made.loop_rows == ("loop.dock",) * 6
    none = equations(chosen(panel(), inputs=()))
    assert (none.latch, none.impulse_places, none.locks) == (None, (), ())


def test_start_values_left_out_are_part_of_the_structure():
    def with_rest(rest: float) -> Model:
        model = chosen(panel(), inputs=("bus.torque",))
        body = model.bodies[1]
        return replace(model, bodies=(model.bodies[0], replace(body, joint=replace(body.joint, rest=(rest,)))))

    made = [equations(with_rest(rest)) for rest in (0.5, 0.5, 0.7)]
    assert made[0].derivatives is made[1].derivatives
    assert made[0].derivatives is not made[2].derivatives


def test_a_latch_whose_impulse_is_no_output_and_a_dock_whose_errors_are_none():
    choice = PortChoice(inputs=("dish.joint.locked", "loop.*.closed"), outputs=("*.omega", "loop.*.impulse"))
    model = docking(closed=False)
    plants = [Plant(one, step=0.01) for one in (model, replace(model, port_choice=choice))]
    for name in ("dish.joint.locked", "loop.dock.closed"):
        for plant in plants:
            plant.step(0.1)
            plant[name] = True
        seen = [plant.step(0.1) for plant in plants]
        np.testing.assert_array_equal(plants[0].state, plants[1].state)
        np.testing.assert_array_equal(seen[1]["loop.dock.impulse"], seen[0]["loop.dock.impulse"])
    assert np.any(seen[1]["loop.dock.impulse"])


def test_a_loop_whose_errors_are_no_outputs_is_named():
    plant = Plant(chosen(loads(FOUR_BAR_FILE), outputs=()))
    plant["rocker.joint.at"] = [100, 0, 0]
    with pytest.raises(VariableError, match=r"loop\.closure: cannot be closed: .* m of error is left"):
        plant.step(0.1)


def test_a_file_comes_back_with_its_ports():
    model = chosen(panel(), ("bus.torque", "*.joint.*"), ())
    text = dumps(model)
    assert 'inputs = ["bus.torque", "*.joint.*"]\noutputs = []' in text
    again = loads(text)
    assert again.port_choice == model.port_choice
    assert dumps(again) == text
    assert "[ports]" not in dumps(panel())
    assert again.whole.port_choice == PortChoice()


def test_all_faults_of_ports_at_once():
    text = dumps(panel()) + '[ports]\ninputs = ["bus.torqe", 3, "bus.*", "bus.*"]\noutputs = 3\n'
    with pytest.raises(ModelError) as caught:
        loads(text)
    assert [fault.path for fault in caught.value.faults] == [
        "ports.inputs[1]", "ports.inputs[2]", "ports.inputs[4]", "ports.outputs",
    ]  # fmt: skip


def test_what_may_be_of_a_body_with_faults_is_not_judged():
    text = dumps(panel()).replace("[body.panel.joint]\n", '[body.panel.joint]\nkind = "revolut"\n', 1)
    text = text.replace('kind = "revolute"\n', "", 1) + '[ports]\ninputs = ["panel.joint.torque", "*.joint.torque"]\n'
    with pytest.raises(ModelError) as caught:
        loads(text)
    assert {fault.path for fault in caught.value.faults} == {"body.panel.joint.kind"}


def test_a_model_made_in_python_keeps_the_rule():
    with pytest.raises(ModelError, match=r"ports\.outputs\[1\]: 'bus\.omga' is no output"):
        Plant(chosen(panel(), outputs=("bus.omga",)))


def test_asking_for_what_is_left_out():
    plant = Plant(chosen(panel(), ("bus.torque",), ("bus.omega",)))
    for ask in (
        lambda: plant["bus.attitude"],
        lambda: plant["bus.force[2]"],
        lambda: plant.__setitem__("bus.force", [1, 0, 0]),
        lambda: plant.outputs()["panel.joint.angle"],
        lambda: linearize(plant.model, at={"system.gravity": [0, 0, 1]}),
    ):
        with pytest.raises(KeyError, match=r"no variable '.*': \[ports\] of the model file leaves it out"):
            ask()
    left_out = r"matches '{}': \[ports\] of the model file leaves it out"
    with pytest.raises(VariableError, match=left_out.format("panel.joint.angle")):
        simulate(plant, until=0.1, outputs=["panel.joint.angle"])
    for what, name in (("inputs", "bus.force"), ("outputs", "bus.attitude"), ("outputs", "bus.attitude[2]")):
        with pytest.raises(KeyError, match=left_out.format(name.replace("[", r"\[").replace("]", r"\]"))):
            linearize(plant.model, **{what: [name]})
    with pytest.raises(KeyError, match=left_out.format("bus.force")):
        trim(plant.model, free=["bus.force"])


def test_starts_of_what_is_no_output():
    whole, part = Plant(panel()), Plant(chosen(panel(), outputs=("bus.omega",)))
    for plant in (whole, part):
        plant["panel.joint.angle"] = "10 deg"
        plant["panel.joint.rate"] = 0.2
        plant.step(0.1)
    np.testing.assert_array_equal(whole.state, part.state)
    assert part.state_names == whole.state_names
    with pytest.raises(VariableError, match="before the first step"):
        part["panel.joint.angle"] = 0.3


def test_typed_ports_have_what_there_is():
    model = chain(5)
    first, second, third = (body.name for body in model.bodies[:3])
    given = (f"{first}.torque", f"{second}.*", f"{third}.force", "*.joint.torque")
    plant = Plant(chosen(model, given, (f"{second}.omega", f"{third}.attitude")))
    loads_ = plant.inputs.external_forces
    assert loads_.bodies == (second,)
    loads_.force[0], loads_.torque[0] = (1, 2, 3), (4, 5, 6)
    assert plant[f"{second}.force"].tolist() == [1, 2, 3]
    assert plant[f"{second}.torque"].tolist() == [4, 5, 6]
    assert len(plant.inputs.joint_torques.values) == 5
    assert not plant.inputs.gravity.values.size
    y = plant.outputs()
    assert (y.rates.bodies, y.rates.omega.shape) == ((second,), (1, 3))
    assert (y.attitudes.bodies, y.attitudes.quaternions.shape) == ((third,), (1, 4))


def test_linear_models_of_what_there_is():
    whole = load(EXAMPLES / "quickstart" / "satellite.toml")
    part = chosen(whole, ("*.joint.torque", "bus.torque"), ("bus.attitude", "*.joint.angle"))
    found = linearize(part)
    expected = linearize(whole, inputs=found.inputs, outputs=found.outputs)
    assert {name.rpartition(".")[0] for name in found.inputs} == {"bus", "left_panel.joint", "right_panel.joint"}
    assert len(found.outputs) == 3 + 2
    for name in ("A", "B", "C", "D"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(linearize(part, at=Plant(part)).A, expected.A)
    assert trim(part, at={"bus.omega": [0, 0, 0]}).x.size == len(expected.state_values)


@pytest.mark.parametrize("kind", [LinearPlant, PartlyLinearPlant])
def test_linear_plants_of_what_there_is(kind):
    whole = load(EXAMPLES / "quickstart" / "satellite.toml")
    part = chosen(whole, ("bus.torque",), ("left_panel.joint.rate",))
    plants = [kind(one, step=0.01) for one in (whole, part)]
    for plant in plants:
        plant["bus.torque"] = [1.0, 0.0, 0.5]
        plant.step(1.0)
    np.testing.assert_allclose(plants[1].state, plants[0].state, rtol=1e-12, atol=1e-15)


def test_second_opinions_and_checks_look_at_the_whole():
    part = chosen(panel(), ("bus.torque",), ())
    found, expected = (verify(model, states=2) for model in (part, panel()))
    assert [c.found for c in found.comparisons] == [c.found for c in expected.comparisons]
    assert found.residuals == expected.residuals
    one, other = Plant(part, formulation="kane", step=0.01), Plant(part, step=0.01)
    for plant in (one, other):
        plant["bus.torque"] = [0.0, 3.0, 0.0]
        plant.step(0.05)
    np.testing.assert_allclose(one.state, other.state, rtol=1e-9, atol=1e-12)


def test_profiles_need_the_inputs_that_drive_them_alone():
    part = chosen(gimballed(), ("head.joint.acceleration",), ())
    slew = {"head.joint[3]": CosineSlew(angle=0.3, duration=0.5, initial=0.2)}
    plant = Plant(part, step=0.01, interpolation="quadratic")
    plant["head.joint.rate"] = [0.1, 0.2, 0.0]
    simulate(plant, until=0.5, profiles=slew)
    assert plant.state[plant.state_names.index("head.joint.angle[3]")] == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(VariableError, match=r"'head\.joint\.acceleration\[3\]': \[ports\] of the model file leaves it"):
        simulate(chosen(gimballed(), ()), until=0.5, profiles=slew)


def test_a_singular_joint_is_seen_though_its_angles_are_no_outputs():
    start = {"head.joint.angle": (0.0, 1.5, 0.0), "head.joint.rate": (0.0, 1.0, 0.0)}
    whole = replace(gimballed(), initial=start)
    told = []
    for model in (whole, chosen(whole, (), ("head.omega",))):
        with pytest.warns(UserWarning, match="near its middle-angle singularity") as caught:
            simulate(model, until=0.2, every=0.01, step=0.01)
        told.append([str(one.message) for one in caught])
    assert told[0] == told[1]
