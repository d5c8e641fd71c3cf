"""What every client does: the two example models, a controller on the client's side, and the same on a `Plant`."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Protocol

import numpy as np
from fmpy.model_description import ModelDescription
from numpy.typing import NDArray

from mbdy.blocks import Plant
from mbdy.engine import Model, ModelWarning, load

EXAMPLES = Path(__file__).parents[2] / "examples"
INTERNAL_STEP = 1e-3  # s, what `export_fmu` and `Plant` take unless told otherwise
TOLERANCE = 1e-12
"""Absolute and relative, of co-simulation: client and `Plant` step the same core, only its sums may be ordered anew."""

Array = NDArray[np.float64]
Law = Callable[[float, Sequence[float]], list[float]]
"""What a controller sets at a time [s], given what it measured."""


@dataclass(frozen=True)
class Linear:
    """The law u = bias + gains y, summed from left to right."""

    bias: tuple[float, ...]
    gains: tuple[tuple[float, ...], ...]

    def __call__(self, t: float, y: Sequence[float]) -> list[float]:
        commands = []
        for bias, row in zip(self.bias, self.gains, strict=True):
            command = bias
            for gain, value in zip(row, y, strict=True):
                command += gain * value
            commands.append(float(command))
        return commands


@dataclass(frozen=True, eq=False)
class Case:
    """A model in closed loop; what is measured, commanded and recorded are names of scalars.

    ``law`` makes a fresh controller, ``linear`` is the same as gains where it can be. Vectors are named whole and in
    order, also in ``starts``, so that their values are those of an array of FMI 3 as well.
    """

    name: str
    file: Path
    measured: tuple[str, ...]
    commanded: tuple[str, ...]
    recorded: tuple[str, ...]
    law: Callable[[], Law]
    step: float
    linear: Linear | None = None
    starts: Mapping[str, float] = field(default_factory=dict)
    steps: int = 250

    def __str__(self) -> str:
        return self.name

    @property
    def model(self) -> Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the five-body report's oddities, told in its README.md
            return load(self.file)


class Side(Protocol):
    """A plant as a client sees it: scalars by name, and communication steps."""

    def get(self, names: Sequence[str]) -> Sequence[float]: ...
    def set(self, names: Sequence[str], values: Sequence[float]) -> None: ...
    def step(self, t: float, H: float) -> None: ...


class PlantSide:
    """The `Plant` of a case at its start."""

    def __init__(self, case: Case) -> None:
        self.plant = Plant(case.model, step=INTERNAL_STEP)
        self.set(tuple(case.starts), tuple(case.starts.values()))

    def get(self, names: Sequence[str]) -> list[float]:
        outputs = self.plant.outputs()
        return [float(outputs[name]) for name in names]

    def set(self, names: Sequence[str], values: Sequence[float]) -> None:
        for name, value in zip(names, values, strict=True):
            self.plant[name] = value

    def step(self, t: float, H: float) -> None:
        self.plant.step(H)


def couple(side: Side, case: Case, *, blind: int = 0) -> Array:
    """What is recorded at each communication point: measure, command, step, with commands held over a step.

    The first ``blind`` steps are taken before anything is measured, with the inputs of the start.
    """
    law = case.law()
    rows = [side.get(case.recorded)]
    for i in range(case.steps):
        t = i * case.step
        if i >= blind:
            side.set(case.commanded, law(t, side.get(case.measured)))
        side.step(t, case.step)
        rows.append(side.get(case.recorded))
    return np.array(rows)


@cache
def reference(case: Case, *, blind: int = 0) -> Array:
    """`couple` on the `Plant`."""
    return couple(PlantSide(case), case, blind=blind)


def agree(found: Array, wanted: Array, tolerance: float = TOLERANCE) -> None:
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def references(description: ModelDescription, names: Sequence[str]) -> list[int]:
    """Value references of scalars; those that are elements of an array stand once, as the array."""
    known = {variable.name: variable.valueReference for variable in description.modelVariables}
    found: list[int] = []
    for name in names:
        place = known[name] if name in known else known[name.rpartition("[")[0]]
        if place not in found:
            found.append(place)
    return found


def elements(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}[{k}]" for k in range(1, count + 1))


def controller(folder: str) -> ModuleType:
    """``controller.py`` of an example."""
    name = f"clients_{folder}_controller"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / folder / "controller.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


ATTITUDE, OMEGA, TORQUE = elements("bus.attitude", 4), elements("bus.omega", 3), elements("bus.torque", 3)
MOMENTUM = elements("system.angular_momentum", 3)


def attitude_law() -> Law:
    """The quickstart's controller."""
    control = controller("quickstart").make_controller()
    return lambda t, y: control(t, {"bus.attitude": y[:4], "bus.omega": y[4:]})["bus.torque"]


def attitude_gains() -> Linear:
    """The same as gains: it is linear as long as the satellite is less than half a turn from its target."""
    its = controller("quickstart")
    rows = np.zeros((3, 7))
    for axis, inertia in enumerate(its.INERTIA):
        rows[axis, 1 + axis] = -inertia * its.BANDWIDTH**2 * 2
        rows[axis, 4 + axis] = -2 * its.RATIO * inertia * its.BANDWIDTH
    return Linear((0.0, 0.0, 0.0), tuple(tuple(map(float, row)) for row in rows))


def jet_law() -> Law:
    """The five-body spacecraft's controller: jets on the bus, ramps for the television platform."""
    control = controller("five_body_spacecraft").SpacecraftController(sample=0.01)

    def law(t: float, y: Sequence[float]) -> list[float]:
        given = control(t, {"bus.attitude": y[:4], "bus.omega": y[4:]})
        return [*given["bus.torque"], given["yoke.joint.rest"], given["platform.joint.rest"]]

    return law


HINGES = ("yoke", "platform", "boom_link", "boom")
HINGE_ANGLES = tuple(f"{hinge}.joint.angle" for hinge in HINGES)
HINGE_RATES = tuple(f"{hinge}.joint.rate" for hinge in HINGES)


def hinge_gains() -> Linear:
    """Springs and dampers on the boom's hinges and the bus; the platform is turned by 0.02 rad at once."""
    measured = (*ATTITUDE, *OMEGA, *HINGE_ANGLES, *HINGE_RATES)
    rows = np.zeros((7, len(measured)))
    for axis, (stiffness, damping) in enumerate(((60.0, 90.0), (150.0, 230.0), (220.0, 330.0))):
        rows[axis, [measured.index(ATTITUDE[axis + 1]), measured.index(OMEGA[axis])]] = -2 * stiffness, -damping
    for row, hinge in ((3, "boom_link"), (4, "boom")):
        rows[row, measured.index(f"{hinge}.joint.angle")] = -400.0
        rows[row, measured.index(f"{hinge}.joint.rate")] = -60.0
    bias = (0.0, 0.0, 0.0, 0.0, 0.0, 3.8248177702163906, -0.503598775717852)
    return Linear(bias, tuple(tuple(map(float, row)) for row in rows))


FIVE_BODY_FILE = EXAMPLES / "five_body_spacecraft" / "five_body.toml"
PANELS = ("right_panel.joint.angle", "left_panel.joint.angle")
RESTS = ("yoke.joint.rest", "platform.joint.rest")

QUICKSTART = Case(
    "quickstart",
    EXAMPLES / "quickstart" / "satellite.toml",
    measured=(*ATTITUDE, *OMEGA),
    commanded=TORQUE,
    recorded=(*ATTITUDE, *OMEGA, *PANELS, *MOMENTUM),
    law=attitude_law,
    linear=attitude_gains(),
    step=0.02,
    starts={PANELS[0]: 0.05},
)
FIVE_BODY = Case(
    "five-body",
    FIVE_BODY_FILE,
    measured=(*ATTITUDE, *OMEGA),
    commanded=(*TORQUE, *RESTS),
    recorded=(*ATTITUDE, *OMEGA, *HINGE_ANGLES, *HINGE_RATES, *MOMENTUM),
    law=jet_law,
    step=0.01,
    starts=dict(zip(OMEGA, (0.0028, -0.0024, 0.002), strict=True)),  # rad/s: each jet switches
)
FIVE_BODY_LINEAR = Case(
    "five-body-linear",
    FIVE_BODY_FILE,
    measured=(*ATTITUDE, *OMEGA, *HINGE_ANGLES, *HINGE_RATES),
    commanded=(*TORQUE, "boom_link.joint.torque", "boom.joint.torque", *RESTS),
    recorded=FIVE_BODY.recorded,
    law=hinge_gains,
    linear=hinge_gains(),
    step=0.01,
    starts={**FIVE_BODY.starts, "boom.joint.angle": 0.05},
)
EXAMPLE_LAWS = (QUICKSTART, FIVE_BODY)
LINEAR_LAWS = (QUICKSTART, FIVE_BODY_LINEAR)
