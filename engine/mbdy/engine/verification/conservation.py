"""Laws of mechanics that the equations must obey whatever their form: work and energy, linear and angular momentum.

Momenta are outputs of every system. Here they are differentiated along the states' derivatives by CasADi, exactly and
not by differences, and compared with the sums of external forces and torques.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import MX
from numpy.typing import NDArray

from mbdy.engine.model.owners import joint_of
from mbdy.engine.model.system import INERTIAL, Loop, Model
from mbdy.engine.order_n.equations import Equations
from mbdy.engine.verification.formulations.forces import joint_efforts, mass_centre, resultant, wheel_torques
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import Part, rotation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InertialMotion:
    """One body as the outputs say: ``C`` (3, 3) body to inertial components; the rest in inertial axes.

    ``arm`` leads from the system's mass centre to the body's; ``velocity`` and ``acceleration`` are those of its
    origin, ``spin`` and ``spin_rate`` its angular velocity and acceleration; ``force`` and ``torque`` the resultant
    of all that acts on it from outside the system, but uniform gravity, at its mass centre. ``inertia`` [kg.m2] is the
    trace about its origin. ``shaking`` (m) has the sizes of a flexible body's modal accelerations. ``lost`` are the
    linear momentum that leaves its tanks in a second from where it was, and the angular one about the mass centre.
    """

    part: Part
    arm: Array
    velocity: Array
    acceleration: Array
    spin: Array
    spin_rate: Array
    force: Array
    torque: Array
    inertia: float
    wheel_torques: Array
    shaking: Array
    lost: tuple[Array, Array]


@dataclass(frozen=True)
class Instant:
    """A system at one state: its bodies, ``gravity``, outputs by name, and the rates of some of them."""

    motions: tuple[InertialMotion, ...]
    gravity: Array
    outputs: Mapping[str, Array]
    rates: Mapping[str, Array]
    loops: tuple[Loop, ...] = ()
    geared: float = 0.0
    """[W] Sizes of the powers that gears pass from joint to joint."""

    @property
    def mass(self) -> float:
        return float(self.outputs["system.mass"][0])


class Observer:
    """Makes `Instant`s of one model."""

    def __init__(self, model: Model, equations: Equations) -> None:
        self.model, self.equations = model, equations
        self.reader = Reader(model)
        self.gears = [(gear.name, model.freedoms(gear)) for gear in model.gears]
        differentiated = [f"{b.name}.omega" for b in model.bodies]
        differentiated += [f"{b.name}.flex.rate" for b in model.bodies if b.flex]
        differentiated += ["system.momentum", "system.angular_momentum"]
        self.differentiated = [equations.ports.by_name[name] for name in differentiated]
        outputs = equations.outputs
        x, u, k = (MX.sym(name, outputs.size1_in(i)) for i, name in enumerate(("x", "u", "k")))
        x_rate = MX.sym("x_rate", x.numel())
        y = outputs(x, u, k)
        chosen = ca.vertcat(*(y[v.places] for v in self.differentiated))
        self.function = ca.Function("observe", [x, u, k, x_rate], [y, ca.jtimes(chosen, x, x_rate)])

    def instant(self, x: Array, u: Array, p: Array, k: ca.DM, x_rate: Array) -> Instant:
        """The system at states ``x``, which change by ``x_rate``, under inputs ``u``."""
        y, y_rate = (np.array(v, dtype=np.float64).reshape(-1) for v in self.function(x, u, k, x_rate))
        outputs = {v.name: y[v.places] for v in self.equations.ports.outputs}
        ends = np.cumsum([v.size for v in self.differentiated])[:-1]
        rates = {v.name: rate for v, rate in zip(self.differentiated, np.split(y_rate, ends), strict=True)}
        parts = self.reader.parts(x, u, p)
        motions = tuple(
            _motion(part, outputs, rates, _lost(self.reader, j, part, outputs)) for j, part in enumerate(parts)
        )
        geared = sum(
            abs(effort * parts[self.model.index[freedom.body]].motion.u[freedom.place])
            for gear, freedoms in self.gears
            for effort, freedom in zip(outputs[f"gear.{gear}.effort"], freedoms, strict=True)
        )
        return Instant(motions, self.reader.gravity(u), outputs, rates, self.model.loops, geared)


def _lost(reader: Reader, body: int, part: Part, outputs: Mapping[str, Array]) -> tuple[Array, Array]:
    """`InertialMotion.lost` of a body, from where its joint is."""
    name, linear, angular = part.body.name, np.zeros(3), np.zeros(3)
    C, omega, place = rotation(outputs[f"{name}.attitude"]), outputs[f"{name}.omega"], part.constants.joint_at
    velocity = outputs[f"{name}.velocity"] + C @ np.cross(omega, place)
    arm = outputs[f"{name}.position"] + C @ place - outputs["system.centre_of_mass"]
    for each in reader.leaving:
        if each.body == body:
            linear = linear + C @ each.lost(omega, C.T @ velocity)[3:]
            beside = each.lost(omega, C.T @ (velocity - outputs["system.centre_of_mass_velocity"]))
            angular = angular + C @ beside[:3] + np.cross(arm, C @ beside[3:])
    return linear, angular


def _motion(
    part: Part, outputs: Mapping[str, Array], rates: Mapping[str, Array], lost: tuple[Array, Array]
) -> InertialMotion:
    name, constants = part.body.name, part.constants
    C, centre = rotation(outputs[f"{name}.attitude"]), mass_centre(part) + constants.joint_at
    force, torque = resultant(part)
    return InertialMotion(
        part=part,
        arm=outputs[f"{name}.position"] + C @ centre - outputs["system.centre_of_mass"],
        velocity=outputs[f"{name}.velocity"],
        acceleration=outputs[f"{name}.acceleration"],
        spin=C @ outputs[f"{name}.omega"],
        spin_rate=C @ rates[f"{name}.omega"],
        force=C @ force,
        torque=C @ torque,
        inertia=float(np.trace(constants.inertia) + constants.mass * constants.com @ constants.com),
        wheel_torques=wheel_torques(part, outputs[f"{name}.omega"]),
        shaking=np.abs(rates.get(f"{name}.flex.rate", np.zeros(0))),
        lost=lost,
    )


@dataclass(frozen=True)
class Balance:
    """``inapplicable(model)`` says why it states nothing of a model (empty where it does); ``residual(instant)`` how
    far it is from holding, and the sum of the sizes of its terms, or None where it states nothing at that instant."""

    name: str
    title: str
    inapplicable: Callable[[Model], str]
    residual: Callable[[Instant], tuple[float, float] | None]


def _anchored(model: Model) -> str:
    """Why a system exchanges momentum with the inertial frame through joints, if it does."""
    roots = [body for body in model.bodies if body.joint.to == INERTIAL]
    for body in roots:
        if not body.joint.floating:
            return f"body {body.name!r} is held by its joint to inertial"
        if "prescribed" in body.joint.motion:
            return f"the motion of {body.name!r} is prescribed"
    for loop in model.loops:
        if INERTIAL in (loop.a.body, loop.b.body):
            return f"loop {loop.name!r} closes to inertial"
    return "" if len(roots) == 1 else "several bodies float"


def _pushed(instant: Instant) -> bool:
    """Whether the joint of a root is prescribed or locked, which takes a force from outside."""
    return any(m.part.body.joint.to == INERTIAL and m.part.given.fixed.any() for m in instant.motions)


def _work(instant: Instant) -> tuple[float, float]:
    """Rate of kinetic energy less the power of all forces."""
    scale = 0.0
    for m in instant.motions:
        part, name = m.part, m.part.body.name
        speed, spin = np.linalg.norm(m.velocity), np.linalg.norm(m.spin)
        pull = part.constants.mass * (np.linalg.norm(m.acceleration) + np.linalg.norm(instant.gravity))
        scale += (pull + np.linalg.norm(m.force)) * (speed + spin * np.linalg.norm(part.constants.com))
        scale += (m.inertia * np.linalg.norm(m.spin_rate) + np.linalg.norm(m.torque)) * spin
        reaction = instant.outputs.get(f"{joint_of(part.body)}.reaction", np.zeros(1))
        scale += np.abs(joint_efforts(part) * part.motion.u).sum() + np.abs(reaction * part.motion.u).sum()
        for wheel, torque in zip(part.body.wheels, m.wheel_torques, strict=True):
            scale += abs(torque * instant.outputs[f"{name}.{wheel}.speed"][0])
        if modes := part.constants.modes:
            eta, eta_rate = np.abs(part.motion.eta), np.abs(part.motion.eta_rate)
            acting = np.abs(modes.stiffness) @ eta + np.abs(modes.damping) @ eta_rate + np.abs(modes.mass) @ m.shaking
            scale += acting @ eta_rate + pull / part.constants.mass * np.abs(modes.moving).sum(axis=0) @ eta_rate
    scale += sum(_passed(instant, loop.name) for loop in instant.loops) + instant.geared
    return float(instant.outputs["system.work_residual"][0]), float(scale)


def _passed(instant: Instant, loop: str) -> float:
    """Size of the power that a loop passes from one side to the other."""
    speed = max(np.linalg.norm(m.velocity) + np.linalg.norm(m.spin) * np.linalg.norm(m.arm) for m in instant.motions)
    spin = max(np.linalg.norm(m.spin) for m in instant.motions)
    force, torque = (np.linalg.norm(instant.outputs[f"loop.{loop}.{sort}"]) for sort in ("force", "torque"))
    return float(force * speed + torque * spin)


def _linear(instant: Instant) -> tuple[float, float] | None:
    """Rate of the linear momentum less external forces and weight."""
    if _pushed(instant):
        return None
    weight = instant.mass * instant.gravity
    total = sum((m.force - m.lost[0] for m in instant.motions), weight)
    scale = float(np.linalg.norm(weight)) + sum(
        float(np.linalg.norm(m.force))
        + m.part.constants.mass * float(np.linalg.norm(m.acceleration))
        + _shaken(m)[0]
        + float(np.linalg.norm(m.lost[0]))
        for m in instant.motions
    )
    return float(np.linalg.norm(instant.rates["system.momentum"] - total)), scale


def _shaken(m: InertialMotion) -> tuple[float, float]:
    """Sizes of the force [N] and the torque [N.m] that accelerate a flexible body's modes."""
    modes = m.part.constants.modes
    if modes is None:
        return 0.0, 0.0
    return float((np.abs(modes.moving) @ m.shaking).sum()), float((np.abs(modes.turning) @ m.shaking).sum())


def _angular(instant: Instant) -> tuple[float, float] | None:
    """Rate of the angular momentum about the mass centre less external torques about it."""
    if _pushed(instant):
        return None
    total, scale = np.zeros(3), 0.0
    for m in instant.motions:
        arm, spin = float(np.linalg.norm(m.arm)), float(np.linalg.norm(m.spin))
        total = total + m.torque + np.cross(m.arm, m.force) - m.lost[1]
        scale += float(np.linalg.norm(m.lost[1]))
        scale += float(np.linalg.norm(m.torque)) + arm * float(np.linalg.norm(m.force))
        scale += arm * m.part.constants.mass * float(np.linalg.norm(m.acceleration))
        scale += m.inertia * (float(np.linalg.norm(m.spin_rate)) + spin**2)
        scale += float(np.abs(m.part.motion.h).sum()) * spin + float(np.abs(m.wheel_torques).sum())
        force, torque = _shaken(m)
        scale += arm * force + torque
    return float(np.linalg.norm(instant.rates["system.angular_momentum"] - total)), scale


BALANCES = (
    Balance("work", "work and energy", lambda model: "", _work),
    Balance("momentum", "linear momentum", _anchored, _linear),
    Balance("angular_momentum", "angular momentum", _anchored, _angular),
)
