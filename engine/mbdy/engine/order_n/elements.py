"""The kernels of force elements: what two places feel of each other, and the energy stored between them (equations.md).

Both places are seen from a body that carries both, or from inertial space where none does, so that nothing depends on
where that is. Forces on the two are equal and act at one point, torques are opposite: momenta close to rounding.
Efforts at rest are exact derivatives of the energy.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import casadi as ca
from casadi import SX

from mbdy.engine.order_n.constants import Fields
from mbdy.engine.order_n.kernels import kernel, symbols


@dataclass(frozen=True)
class Relative:
    """How b stands and moves against a, axes of what they are seen from: ``d`` (3) and its rate ``v`` (3); axes ``A``
    and ``B`` (3, 3) of what carries the ends to these, angular velocities (3); ``ends`` (3) on each, its axes."""

    d: SX
    v: SX
    A: SX
    B: SX
    omega_a: SX
    omega_b: SX
    ends: tuple[SX, SX]


@dataclass(frozen=True)
class Efforts:
    """``force`` (3) on b, and ``torque`` (3) about its end (None: the force acts along the line between the ends), axes
    of what it is seen from; ``power`` [W] that is not stored, ``energy`` [J] that is, and outputs by name."""

    force: SX
    torque: SX | None
    power: SX
    energy: SX
    outputs: dict[str, SX]


@dataclass(frozen=True)
class Element(ABC):
    """What is compiled of a force element: whether it is seen from a, from b, or from elsewhere where both move
    (``seen``), with roots of their own (``apart``)."""

    _: KW_ONLY
    seen: str = ""
    apart: bool = False

    @property
    @abstractmethod
    def law(self) -> str:
        """A part of the names of its kernels."""

    @property
    @abstractmethod
    def framed(self) -> str:
        """Which of its ends, a and b, have axes."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Its inputs, of one element each."""
        return ()

    @property
    @abstractmethod
    def numbers(self) -> tuple[tuple[str, int], ...]:
        """Its numbers and their sizes."""

    @property
    def derived(self) -> tuple[tuple[str, int], ...]:
        """Constants that `prepare` adds to these."""
        return ()

    def prepared(self, k: dict[str, SX]) -> Mapping[str, SX]:
        """Of the numbers ``k`` those that change as constants, and ``derived`` ones."""
        return {}

    @abstractmethod
    def efforts(self, k: dict[str, SX], of: Relative, inputs: dict[str, SX]) -> Efforts:
        """What it does, with its constants ``k``."""

    @property
    def switches(self) -> tuple[str, ...]:
        """What begins and ends in it with a kink, by name."""
        return ()

    def indicators(self, k: dict[str, SX], outputs: Mapping[str, SX]) -> list[SX]:
        """What is above zero while each of ``switches`` lasts, of its constants and outputs."""
        return []

    @property
    def steepens(self) -> bool:
        """Whether it is not always as steep as it can be."""
        return False

    def steepest(self, k: dict[str, SX]) -> Mapping[str, SX | float]:
        """Constants that differ where it is."""
        return {}

    @property
    def name(self) -> str:
        return f"{self.law}{self.seen and 'from'}{self.seen}{'apart' if self.apart else ''}"

    @property
    def fields(self) -> Fields:
        """Its constants: where its ends are on what carries them, and the axes of these; its numbers."""
        ends = (("at_a", 3), ("at_b", 3), *((f"frame_{end}", 9) for end in self.framed))
        return Fields((*ends, *self.numbers, *self.derived))


def kept(condition: SX, value: SX) -> SX:
    """``value``, no number where the ``condition`` does not hold; `mbdy.engine.order_n.rules` has the words."""
    return ca.if_else(condition, value, math.nan)


def prepare(kind: Element) -> ca.Function:
    """Kernel: parameters, by the names of `Element.fields`, to the constants; of ends as what carries them has them."""
    derived = dict(kind.derived)
    inputs = symbols(**{name: size for name, size in kind.fields.sizes if name not in derived})
    k = {**inputs, **kind.prepared(dict(inputs))}
    return kernel(f"prepare_{kind.name}", inputs, {"k": ca.vertcat(*(k[name] for name, _ in kind.fields.sizes))})


def pull(kind: Element) -> ca.Function:
    """Kernel: force vectors ``on_a`` and ``on_b`` (6) on what carries the ends, about its origin, its axes; ``power``
    that the energy grows by.

    ``C`` (to axes of what both are seen from), ``rho`` and ``V`` of what carries each; ``slip`` (3) the velocity of b's
    root less a's.
    """
    inputs, k, of = _relative(kind)
    efforts = kind.efforts(k, of, inputs)
    outputs = {**_wrenches(of, efforts), "power": efforts.power}
    return kernel(f"pull_{kind.name}", inputs, {name: ca.densify(value) for name, value in outputs.items()})


def see(kind: Element) -> ca.Function:
    """Kernel: the ``energy`` of an element, its ``work`` [W] on the bodies as the sweeps see them move, and its
    outputs, names with ``_out``; inputs as those of `pull`."""
    inputs, k, of = _relative(kind)
    efforts = kind.efforts(k, of, inputs)
    on = _wrenches(of, efforts)
    work = ca.dot(on["on_a"], inputs["V_a"]) + ca.dot(on["on_b"], inputs["V_b"])
    outputs = {"energy": efforts.energy, "work": work, **efforts.outputs}
    return kernel(f"see_{kind.name}", inputs, {f"{name}_out": ca.densify(value) for name, value in outputs.items()})


def switching(kind: Element) -> ca.Function:
    """Kernel: the indicators of an element; inputs as those of `pull`."""
    inputs, k, of = _relative(kind)
    rows = kind.indicators(k, kind.efforts(k, of, inputs).outputs)
    return kernel(f"switching_{kind.name}", inputs, {"indicators": ca.densify(ca.vertcat(*rows))})


def steepest(kind: Element) -> ca.Function:
    """Kernel: constants with which an element is as steep as it can be."""
    vector = SX.sym("k", kind.fields.size)
    steep = SX(vector)
    for name, value in kind.steepest(kind.fields.split(vector)).items():
        steep[kind.fields.places(name)] = value
    return kernel(f"steepest_{kind.name}", {"k": vector}, {"steep": steep})


def _relative(kind: Element) -> tuple[dict[str, SX], dict[str, SX], Relative]:
    """The inputs of an element's kernels by name, its constants and what they make of the ends' motion."""
    vector = SX.sym("k", kind.fields.size)
    inputs, k = {"k": vector}, kind.fields.split(vector)
    poses = []
    for end in "ab":
        C, rho = SX.eye(3), SX(3, 1)
        if kind.seen != end:
            side = symbols(**{f"C_{end}": (3, 3), f"rho_{end}": 3})
            inputs |= side
            C, rho = side.values()
        V = SX.sym(f"V_{end}", 6)
        inputs[f"V_{end}"] = V
        at = k[f"at_{end}"]
        poses.append((C, rho + C @ at, C @ (V[3:] + ca.cross(V[:3], at)), C @ V[:3], at))
    slip = SX(3, 1)
    if kind.apart:
        inputs["slip"] = slip = SX.sym("slip", 3)
    inputs |= symbols(**dict.fromkeys(kind.inputs, 1))
    (A, r_a, v_a, omega_a, at_a), (B, r_b, v_b, omega_b, at_b) = poses
    return inputs, k, Relative(r_b - r_a, v_b - v_a + slip, A, B, omega_a, omega_b, (at_a, at_b))


def _wrenches(of: Relative, efforts: Efforts) -> dict[str, SX]:
    on_a, on_b = (C.T @ force for C, force in ((of.A, -efforts.force), (of.B, efforts.force)))
    torque_a, torque_b = (ca.cross(at, f) for at, f in zip(of.ends, (on_a, on_b), strict=True))
    if efforts.torque is not None:
        torque_a += of.A.T @ (ca.cross(efforts.force, of.d) - efforts.torque)
        torque_b += of.B.T @ efforts.torque
    return {"on_a": ca.vertcat(torque_a, on_a), "on_b": ca.vertcat(torque_b, on_b)}
