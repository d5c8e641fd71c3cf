"""Gears beside loops: their rows, and how their efforts enter the sweeps (equations.md, "Gears").

A gear holds ``phi = sum c q - offset`` of scalar coordinates at zero. Its multiplier acts on each joint as an effort
``c lambda`` where the joint is eliminated, and passes inward from there as loops' forces do; nothing above the joint on
which it acts is turned or moved for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import MX, SX

from mbdy.engine.model.gear import Gear
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.constants import GEAR_CONSTANTS, Structure
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.rigid_body import body_symbols, drive, drive_symbols, joint_symbols, kind_name, passage_of
from mbdy.engine.order_n.sweeps import BodyMotion, BodyState, System


@dataclass(frozen=True)
class GearStructure:
    """What is compiled of a gear: its degrees of freedom, as body and place among those of the joint."""

    freedoms: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """Number of its rows."""
        return 1


def gear_structure(model: Model, gear: Gear) -> GearStructure:
    """The structure of a ``gear`` of ``model``."""
    return GearStructure(tuple((model.index[freedom.body], freedom.place) for freedom in model.freedoms(gear)))


def prepare_gear(count: int) -> ca.Function:
    """Kernel: constants of a gear with so many terms from its ``time`` constant, ``offset`` and ``factor`` (n): decay
    of its errors, offset, what makes the row one of norm 1, factors. The third is no number where factors tie
    nothing (`mbdy.engine.model.gear.TIES`).
    """
    inputs = symbols(time=1, offset=1, factor=count)
    time, offset, factor = inputs.values()
    decay = ca.if_else(time > 0, 1 / time, ca.if_else(time < 0, math.nan, 0))
    scale = ca.if_else(ca.sum1(factor != 0) > 1, 1 / ca.norm_2(factor), math.nan)
    return kernel(f"prepare_gear_{count}", inputs, {"k": ca.vertcat(decay, offset, scale, factor)})


def hold(count: int) -> ca.Function:
    """phi, phi', what phi'' is to be, of coordinates q (n) and their rates u (n)."""
    inputs = symbols(k=GEAR_CONSTANTS + count, q=count, u=count)
    k, q, u = inputs.values()
    factor, decay = k[GEAR_CONSTANTS:], k[0]
    phi, rate = ca.dot(factor, q) - k[1], ca.dot(factor, u)
    gamma = -2 * decay * rate - decay**2 * phi
    return kernel(f"hold_gear_{count}", inputs, {"phi": phi, "rate": rate, "gamma": gamma})


def enter(kind: Structure) -> ca.Function:
    """Of an ``effort`` (n_u) at a joint what `mbdy.engine.order_n.loop_kernels.past_joint` has of a column: ``epsilon``
    (active, 1), ``change`` of t, and ``N_parent``. ``inverse`` (active, active) is D^-1."""
    active = [i for i, how in enumerate(kind.motion) if how != "prescribed"]
    n = len(active)
    inputs, k, g, inverse, effort, *_ = body_symbols(
        kind, g=(n, 6), inverse=(n, n), effort=kind.form.n_u, **joint_symbols(kind)
    )
    passage, _ = passage_of(kind, k, inputs)
    driven = drive_symbols(kind)
    held, _ = drive(kind, driven, k)
    free = ((1 - held) * effort)[active, 0]
    outputs = {"epsilon": -free, "change": inverse @ free, "N_parent": passage.force(g.T @ free)}
    return kernel(f"enter_{kind_name(kind)}", inputs | driven, {n: ca.densify(SX(v)) for n, v in outputs.items()})


def factors(constants: MX) -> MX:
    """The factors (n) of a gear, of its constants."""
    return constants[GEAR_CONSTANTS:, 0]


def along(kind: GearStructure, constants: MX, values: Sequence[MX]) -> MX:
    """The gear's sum of ``values``, which are those of all degrees of freedom of each body."""
    gathered = ca.vertcat(*(values[body][place] for body, place in kind.freedoms))
    return ca.dot(factors(constants), gathered)


def coordinates(kind: GearStructure, states: Sequence[BodyState]) -> dict[str, MX]:
    """Coordinates q and rates u (n) in a gear's terms."""
    return {
        name: ca.vertcat(*(getattr(states[body], name)[place] for body, place in kind.freedoms)) for name in ("q", "u")
    }


def efforts(kind: GearStructure, constants: MX, system: System) -> dict[int, MX]:
    """By body the efforts (n_u) at its joint of a unit multiplier."""
    found: dict[int, MX] = {}
    for k, (body, place) in enumerate(kind.freedoms):
        effort = found.setdefault(body, MX.zeros(system.structures[body].form.n_u))
        effort[place] = factors(constants)[k]
    return found


def entered(system: System, moves: Sequence[BodyMotion], body: int, effort: MX) -> dict[str, MX]:
    """What `enter` has of an ``effort`` at the joint of a ``body``."""
    m, kind, inputs = moves[body], system.structures[body], system.inputs[body]
    at_joint = {name: getattr(m, name) for name in joint_symbols(kind)}
    return system.kernels.call(
        enter, kind, k=system.constants[body], **at_joint, g=m.g, inverse=m.inverse, effort=effort,
        **inputs.driven,
    )  # fmt: skip
