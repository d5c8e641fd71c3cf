"""What acts at a joint besides its constraint, and on wheels: inputs, and the laws that a model asks for."""

from __future__ import annotations

from functools import reduce
from operator import add

import casadi as ca
from casadi import SX

from mbdy.engine.model.bearing import BEARING, BEARING_LAWS
from mbdy.engine.model.law import Law, Numbers
from mbdy.engine.model.laws import laws_of
from mbdy.engine.order_n import ball_spring
from mbdy.engine.order_n.constants import Structure


def effort(kind: Structure, k: dict[str, SX], q: SX, u: SX, actuation: SX, rest: SX) -> SX:
    """Force or torque (n_u) at a joint along its degrees of freedom, on the outboard body."""
    n = kind.form.n_axes
    tau, vectors = SX(actuation), {**k, "stretch": q[:n, 0] - rest[:n]}
    for law in sorted(laws_of(kind.laws), key=lambda law: not law.of_rates):
        for i in range(kind.form.n_u if law.of_rates else n):
            tau[i] += law.effort(law.numbers(vectors, i), q[i] if i < n else None, u[i])
    if kind.ball_spring:
        tau[kind.form.translations :] += ball_spring.torque(kind, k, q, rest)
    return tau + k["push"] if kind.resistances else tau


def lags(kind: Structure, k: dict[str, SX], u: SX) -> SX:
    """Inertias (n_u, or none) that a joint's degrees of freedom have besides in a step of the integrator.

    A law that takes away ``r`` times the rate is taken implicitly over the step h as far as h cannot follow it: with
    ``h r - m`` where that is above zero, m being half the inertia that the degree of freedom has. It then brings a rate
    to where the law has it in no less than half a step, whatever its slope, and stands still where the law does.
    """
    laws = [law for law in laws_of(kind.laws) if law.resistance]
    return ca.vertcat(*(
        sum((_lag(law, law.numbers(k, i), k["step"], k["yielding"][i], u[i]) for law in laws), SX(0))
        for i in range(kind.resistances)
    ))  # fmt: skip


def wheel_lags(kind: Structure, k: dict[str, SX], speeds: SX) -> SX:
    """The same (n) of wheels against their body."""
    lags, n = SX(kind.wheels, 1), len(BEARING)
    for at, i in enumerate(i for i, bearing in enumerate(kind.bearings) if bearing):
        numbers = dict(zip(BEARING, ca.vertsplit(k["bearings"][n * at : n * at + n]), strict=True))
        laws = [law for law in BEARING_LAWS if law.resistance]
        lags[i] = sum((_lag(law, numbers, k["step"], k["turning"][at], speeds[i]) for law in laws), SX(0))
    return lags


def _lag(law: Law, numbers: Numbers, step: SX, inertia: SX, rate: SX) -> SX:
    assert law.resistance
    return ca.fmax(step * law.resistance(numbers, rate) - inertia, 0)


def reflected(kind: Structure, k: dict[str, SX]) -> SX:
    """Inertias (n_u) that a joint's degrees of freedom have by laws, besides those of the bodies that they move."""
    found = SX(kind.form.n_u, 1)
    for law in laws_of(kind.laws):
        for i in range(kind.form.n_axes if law.inertia else 0):
            assert law.inertia
            found[i] += law.inertia({value.name: value.at(k[value.name], i) for value in law.values})
    return found


def rotor_momenta(kind: Structure, k: dict[str, SX]) -> SX:
    """Spin momenta (3, n_u) of rotors about their axes by unit rates of their joint, axes of what it sits on."""
    found = SX(3, kind.form.n_u)
    for i in range(kind.rotors):
        found[:, i] = k["rotor_axes"][3 * i : 3 * i + 3] * k["rotor_inertia"][i] * k["gear_ratio"][i]
    return found


def unstored(kind: Structure, k: dict[str, SX], q: SX, u: SX, actuation: SX, rest: SX) -> SX:
    """The part (n_u) of `effort` that no energy is stored by: the input, and what laws take from a rate. A law that
    stores energy has at rest the effort that its potential gives."""
    n = kind.form.n_axes
    tau, vectors = SX(actuation), {**k, "stretch": q[:n, 0] - rest[:n]}
    for law in laws_of(kind.laws):
        for i in range(kind.form.n_u if law.of_rates else n):
            numbers, at = law.numbers(vectors, i), q[i] if i < n else None
            moving = SX(law.effort(numbers, at, u[i]))
            if not law.potential:
                tau[i] += moving
            elif ca.depends_on(moving, u[i]):
                tau[i] += moving - law.effort(numbers, at, 0)
    return tau


def potential(kind: Structure, k: dict[str, SX], q: SX, rest: SX) -> SX:
    """Energy [J] that the laws of a joint store."""
    n = kind.form.n_axes
    stored, vectors = SX(0), {**k, "stretch": q[:n, 0] - rest[:n]}
    for i in range(n):
        for law in laws_of(kind.laws):
            if law.potential:
                stored += law.potential(law.numbers(vectors, i), q[i])
    return stored + ball_spring.potential(kind, k, q, rest) if kind.ball_spring else stored


def wheel_torques(kind: Structure, k: dict[str, SX], motors: SX, speeds: SX) -> SX:
    """Torque (n) on each wheel about its axis: its motor's, and its bearing's where it takes any."""
    torques, n = SX(motors), len(BEARING)
    for at, i in enumerate(i for i, bearing in enumerate(kind.bearings) if bearing):
        numbers = dict(zip(BEARING, ca.vertsplit(k["bearings"][n * at : n * at + n]), strict=True))
        torques[i] += reduce(add, (law.effort(numbers, None, speeds[i]) for law in BEARING_LAWS))
    return torques


def wheel_speeds(kind: Structure, k: dict[str, SX], h: SX, omega: SX) -> SX:
    """Speed (n) of each wheel relative to its body, from its absolute spin momentum."""
    speeds = [h[i] / k["spin"][i] - ca.dot(k["spin_axes"][3 * i : 3 * i + 3], omega) for i in range(kind.wheels)]
    return ca.vertcat(*speeds) if speeds else SX(0, 1)
