"""Mechanisms with random lengths, masses and places in few structures, as model files without an ``[initial]``.

Mechanisms of one structure differ in parameters alone, so that one FMU serves all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbdy.blocks import Plant
from mbdy.engine import Model, loads

Values = dict[str, tuple[float, ...]]
"""Start values by variable."""
HINGE = 'kind = "revolute", axis = [0, 0, 1]'
LEGS = 3
NEAR = 0.15
"""[rad], [m] or [1/s] How far random hints lie from the position that a structure was drawn for: all of them close."""


@dataclass(frozen=True, eq=False)
class Structure:
    """``text(rng)`` is a model file; ``near`` a position not far from closed for all of them; ``efforts`` hold it.

    ``switch`` is the input that closes its loop, where the file has that open.
    """

    name: str
    near: Mapping[str, Sequence[float]]
    efforts: tuple[str, ...]
    switch: str = ""

    def text(self, rng: np.random.Generator) -> str:
        return f'mbdy = 1\nname = "{self.name}"\n{DRAWN[self.name](rng)}'


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One of a structure, with a closed position and speeds in it (``closed``)."""

    structure: Structure
    text: str
    closed: Values

    def file(self, initial: Mapping[str, Sequence[float]], *, shut: bool = True) -> str:
        """The model file with these start values; ``shut``: a loop that can be switched is closed."""
        text = self.text.replace("closed = false", "closed = true") if shut else self.text
        lines = [f"{name} = {value(numbers)}" for name, numbers in initial.items()]
        return "\n".join([text, "[initial]", *lines, ""])

    def model(self, initial: Mapping[str, Sequence[float]], *, shut: bool = True) -> Model:
        return loads(self.file(initial, shut=shut))


def mechanism(structure: Structure, seed: int) -> Mechanism:
    rng = np.random.default_rng([seed, *structure.name.encode()])
    made = Mechanism(structure, structure.text(rng), {})
    hints = {name: np.array(at) + NEAR * rng.uniform(-1, 1, len(at)) for name, at in structure.near.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the hints contradict the loops
        return replace(made, closed=starts_of(Plant(made.model(hints))))


def starts_of(plant: Plant) -> Values:
    """The states of a system without wheels are its start values."""
    names = dict.fromkeys(name.partition("[")[0] for name in plant.state_names)
    return {name: tuple(np.ravel(plant[name]).tolist()) for name in names}


def value(numbers: Sequence[float]) -> str:
    """As a model file or a command line has it."""
    texts = [repr(float(number)) for number in numbers]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def scalars(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The same by the names of elements."""
    return {
        f"{name}[{k}]" if len(numbers) > 1 else name: float(number)
        for name, numbers in values.items()
        for k, number in enumerate(numbers, start=1)
    }


def rod(name: str, length: float, mass: float, joint: str, node: str = "") -> str:
    across = mass * length**2 / 12
    return f"""
[body.{name}]
mass = {mass}
com = [{length / 2}, 0, 0]
inertia = [{across / 100}, {across}, {across}]
joint = {{ {joint} }}
{f"node.{node} = {{ at = [{length}, 0, 0] }}" if node else ""}
"""


def four_bar(rng: np.random.Generator) -> str:
    ground, crank, coupler, rocker = np.array([0.7, 0.3, 0.8, 0.6]) * rng.uniform(0.95, 1.05, 4)
    masses = rng.uniform(0.5, 2.0, 3)
    return (
        rod("crank", crank, masses[0], f'to = "inertial", {HINGE}')
        + rod("coupler", coupler, masses[1], f'to = "crank", {HINGE}, at = [{crank}, 0, 0]', "end")
        + rod("rocker", rocker, masses[2], f'to = "inertial", {HINGE}, at = [{ground}, 0, 0]', "tip")
        + loop("pin", "coupler.end", "rocker.tip", 'kind = "pin"\naxis = [0, 0, 1]')
    )


def slider_crank(rng: np.random.Generator) -> str:
    crank, bar = rng.uniform(0.4, 0.5), rng.uniform(0.8, 1.0)
    masses = rng.uniform(0.5, 2.0, 3)
    slider = f"""
[body.slider]
mass = {masses[2]}
inertia = [0.1, 0.1, 0.1]
joint = {{ to = "inertial", kind = "prismatic", axis = [1, 0, 0] }}
node.pin = {{ at = [{rng.uniform(-0.1, 0.1)}, {rng.uniform(-0.1, 0.1)}, 0] }}
"""
    return (
        rod("crank", crank, masses[0], f'to = "inertial", {HINGE}')
        + rod("bar", bar, masses[1], f'to = "crank", {HINGE}, at = [{crank}, 0, 0]', "end")
        + slider
        + loop("pin", "bar.end", "slider.pin", 'kind = "pin"\naxis = [0, 0, 1]')
    )


def stewart(rng: np.random.Generator) -> str:
    """A platform on `LEGS` legs, each on a universal joint, with a slide and a ball at the platform."""
    parts, nodes, loops = [], [], []
    for leg in range(LEGS):
        turn = 2 * np.pi * leg / LEGS + rng.uniform(-0.2, 0.2)
        foot, top = ((r * np.cos(turn + a), r * np.sin(turn + a), 0.0) for r, a in ((1.0, 0.0), (0.6, 0.4)))
        height = rng.uniform(1.0, 1.2)
        nodes.append(f"node.p{leg} = {{ at = [{', '.join(f'{float(c)!r}' for c in top)}] }}")
        parts.append(f"""
[body.leg{leg}]
mass = {rng.uniform(1, 2)}
com = [0, 0, {height / 4}]
inertia = [0.1, 0.1, 0.02]
[body.leg{leg}.joint]
to = "inertial"
kind = "universal"
axes = [[1, 0, 0], [0, 1, 0]]
at = [{", ".join(f"{float(c)!r}" for c in foot)}]
[body.rod{leg}]
mass = {rng.uniform(0.5, 1)}
inertia = [0.05, 0.05, 0.01]
joint = {{ to = "leg{leg}", kind = "prismatic", axis = [0, 0, 1] }}
node.tip = {{ at = [0, 0, {height}] }}
""")
        loops.append(loop(f"ball{leg}", f"rod{leg}.tip", f"top.p{leg}", 'kind = "ball"'))
    platform = f"""
[body.top]
mass = {rng.uniform(8, 12)}
com = [0.02, -0.01, 0.05]
inertia = [2, 2.5, 4]
joint = {{ to = "inertial", kind = "free" }}
""" + "\n".join(nodes)
    return platform + "".join(parts) + "".join(loops)


def two_arms(rng: np.random.Generator) -> str:
    """Two arms of two links whose tips are joined where the loop is closed."""
    parts = ""
    for arm, at in (("left", 0.0), ("right", rng.uniform(0.9, 1.1))):
        upper, fore = rng.uniform(0.5, 0.7, 2)
        masses = rng.uniform(0.5, 2.0, 2)
        parts += rod(f"{arm}_upper", upper, masses[0], f'to = "inertial", {HINGE}, at = [{at}, 0, 0]')
        parts += rod(f"{arm}_fore", fore, masses[1], f'to = "{arm}_upper", {HINGE}, at = [{upper}, 0, 0]', "tip")
    return parts + loop("dock", "left_fore.tip", "right_fore.tip", 'kind = "pin"\naxis = [0, 0, 1]', switchable=True)


def loop(name: str, a: str, b: str, kind: str, *, switchable: bool = False) -> str:
    switch = "switchable = true\nclosed = false\n" if switchable else ""
    return f'\n[loop.{name}]\na = "{a}"\nb = "{b}"\n{kind}\n{switch}'


DRAWN = {"four-bar": four_bar, "slider-crank": slider_crank, "stewart": stewart, "two arms": two_arms}
STRUCTURES = (
    Structure("four-bar", {
        "crank.joint.angle": [1.0], "coupler.joint.angle": [-0.5], "rocker.joint.angle": [1.6],
        "crank.joint.rate": [0.5],
    }, ("crank.joint.torque",)),
    Structure("slider-crank", {
        "crank.joint.angle": [1.0], "bar.joint.angle": [-1.4], "slider.joint.displacement": [1.0],
        "slider.joint.velocity": [0.3],
    }, ("crank.joint.torque",)),
    Structure("stewart", {
        "top.position": [0.0, 0.0, 1.2], "top.velocity": [0.1, 0.0, 0.1], "top.omega": [0.0, 0.2, 0.1],
        **{f"leg{leg}.joint.angle": [0.0, 0.0] for leg in range(LEGS)},
        **{f"rod{leg}.joint.displacement": [0.1] for leg in range(LEGS)},
    }, ("*.joint.torque", "*.joint.force")),
    Structure("two arms", {
        "left_upper.joint.angle": [1.8], "left_fore.joint.angle": [-1.6], "right_upper.joint.angle": [1.4],
        "right_fore.joint.angle": [1.6], "left_upper.joint.rate": [0.4], "right_upper.joint.rate": [-0.2],
    }, ("*.joint.torque",), "loop.dock.closed"),
)  # fmt: skip
