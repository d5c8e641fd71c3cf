"""Dense equations of rigid and flexible bodies under constraints: ``M w' = f + G^T lambda``, ``G w' = gamma``.

Speeds ``w`` are those of all joints and the modal rates of all bodies. Each body's momenta ``pi = M(eta) J w`` (rigid
ones about its origin, in its axes, and modal ones) obey

    d(pi_r)/dt + V x* pi_r = F_r,    d(pi_f)/dt - dT/deta + K eta + C eta' = F_f,

which are Lagrange's equations in quasi-coordinates (L. Meirovitch and H. D. Nelson; A. A. Shabana, Dynamics of
Multibody Systems). Jacobians project them on w. What is left of the momenta's rates at ``w' = 0``, the derivatives of T
by eta and the rate of G are derivatives by a complex step, exact to rounding: nothing is derived by hand.

A wheel leaves ``I - J a a^T`` to its body, adds ``a h`` to its momentum and ``-a tau`` to its torque. A force at the
mass centre of a flexible body, and its weight, are spread as its mass is. Under an ``attitude`` root gravity moves the
mass centre alone. Multipliers are those of least sum of squares, metre and radian rows alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.system import Model
from mbdy.engine.verification.formulations.closures import Closure, closed_rows, closures
from mbdy.engine.verification.formulations.flexible import STEP, Numbers, mass_matrix, moment_slope
from mbdy.engine.verification.formulations.forces import joint_efforts, mass_centre, rotors, wheel_torques
from mbdy.engine.verification.formulations.gears import gears
from mbdy.engine.verification.formulations.kinematics import Columns, Kinematics, coordinate_rates, kinematics, shifted
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.values import Array, Derivatives, Part

T = TypeVar("T")


@dataclass(frozen=True)
class Loads:
    """What a loop or gear does, and how far it is from closing.

    ``force`` (3) [N] on b at its place and ``torque`` (3) [N.m] about that place, axes of the loop frame of a;
    ``multipliers`` (m) of its rows, zero where it is open; ``residual`` phi (m) and ``residual_rate`` (m); ``efforts``
    [N, N.m] of a gear at the joints of its terms.
    """

    force: Array
    torque: Array
    multipliers: Array
    residual: Array
    residual_rate: Array
    efforts: Array


Multipliers = Callable[[Array, Array, Array], Mapping[str, Loads]]
"""``f(x, u, p)``: what each loop does, by name, and each gear, by ``gear.NAME``."""
Solve = Callable[["Constrained"], tuple[Array, Array]]
"""``w'`` (n) and multipliers (m) of the equations at an instant."""


def uncovered_by_elimination(model: Model) -> tuple[str, ...]:
    """What of ``model`` lies outside a way to eliminate multipliers, which is none where there are no loops."""
    return () if model.constraints else ("there are no loops, and without them it is formulation 'lagrange'",)


class Constrained:
    """The equations at one instant. ``held`` says which of ``w`` have ``known`` rates (prescribed, locked);
    ``G`` and ``gamma`` have the rows of closed loops only."""

    def __init__(self, reader: Reader, x: Array, u: Array, p: Array) -> None:
        self.reader, self.columns = reader, Columns(reader.model, reader.tree)
        self.parts: list[Part] = reader.parts(x, u, p)
        self.minimum = any(b.joint.kind == "attitude" for b in reader.model.bodies)
        self.gravity = reader.gravity(u)
        self.held, self.known, self.w = self._speeds()
        ahead = shifted(self.parts, 1j * STEP)
        self.at, self.at_ahead = (kinematics(self.columns, parts) for parts in (self.parts, ahead))
        self._assemble(ahead)
        self.closures, later = (
            [*closures(reader, at, u, p), *gears(reader, self.columns, parts, u, p)]
            for at, parts in ((self.at, self.parts), (self.at_ahead, ahead))
        )
        self.closed = closed_rows(self.closures)
        self._constrain(later)

    def _speeds(self) -> tuple[NDArray[np.bool_], Array, Array]:
        columns = self.columns
        fixed, known = np.zeros(columns.n, dtype=np.bool_), np.zeros(columns.n)
        for part, places in zip(self.parts, columns.u, strict=True):
            fixed[places], known[places] = part.given.fixed, part.given.acceleration
        return fixed, known, np.where(columns.still, 0.0, columns.speeds(self.parts))

    def _assemble(self, ahead: list[Part]) -> None:
        n = self.columns.n
        self.M, self.f = np.zeros((n, n)), np.zeros(n)
        self.momenta: list[tuple[Array, Array, Array]] = []
        for b, part in enumerate(self.parts):
            y, momentum, J, mass = self.momentum(part, self.at, b)
            _, momentum_ahead, _, _ = self.momentum(ahead[b], self.at_ahead, b)
            remainder = _slope(momentum_ahead)
            omega, v, turning, moving = y[:3], y[3:6], momentum[:3], momentum[3:6]
            self.momenta.append((momentum, remainder, mass @ J))
            inertial = np.concatenate([np.cross(omega, turning) + np.cross(v, moving), np.cross(omega, moving),
                                       -self._energy_slope(part, y)])  # fmt: skip
            self.M += J.T @ mass @ J
            self.f += J.T @ (self._acting(b, part, y) - remainder - inertial)
            self.f[self.columns.u[b]] += joint_efforts(part)
            self._spin_rotors(b, part)
            for i, name in enumerate(part.body.nodes, start=1):
                self.f += self.at.nodes[b][name].J.T @ np.append(part.given.torques[i], part.given.forces[i])

    def _spin_rotors(self, b: int, part: Part) -> None:
        """Rotors at a joint: what a body of inertia ``J a a^T`` has that turns with ``omega + a n u``, and its carrier,
        which has it already, without it."""
        for rotor in rotors(part):
            turn = rotor.ratio * np.eye(self.columns.n)[self.columns.u[b].start + rotor.place]
            carried, ahead = np.zeros(self.columns.n), 0.0
            if rotor.axis is not None:
                now, later = (at.carrier(self.columns, b) for at in (self.at, self.at_ahead))
                carried, omega = rotor.axis @ now.J[:3], now.J[:3] @ self.w
                ahead = float(_slope(rotor.axis @ later.J[:3] @ self.w))
                spin = rotor.inertia * (turn @ self.w)
                self.f -= now.J[:3].T @ np.cross(omega, rotor.axis) * spin
            whole = carried + turn
            self.M += rotor.inertia * (np.outer(whole, whole) - np.outer(carried, carried))
            self.f -= rotor.inertia * turn * ahead

    def momentum(self, part: Part, at: Kinematics, b: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """``[V; eta']``, momenta ``pi``, the Jacobian (6 + m, n) of the former and the body's mass matrix."""
        modal = np.eye(self.columns.n)[self.columns.eta[b]]
        J, mass = np.concatenate([at.bodies[b].J, modal]), _mass(part, part.motion.eta)
        y = J @ self.w
        momentum = mass @ y
        momentum[:3] += part.constants.spin_axes.T @ part.motion.h
        return y, momentum, J, mass

    def _energy_slope(self, part: Part, y: Array) -> Array:
        """Derivatives of the kinetic energy by eta."""
        slope = np.zeros(len(part.motion.eta))
        for k in range(len(slope)):
            eta = part.motion.eta.astype(np.complex128)
            eta[k] += 1j * STEP
            slope[k] = 0.5 * y @ _slope(_mass(part, eta)) @ y
        return slope

    def _acting(self, b: int, part: Part, y: Array) -> Array:
        """Torque about the origin, force and modal forces of what acts on a body, but at nodes; its axes."""
        constants, motion, inputs = part.constants, part.motion, part.given
        force, torque = inputs.forces[0], inputs.torques[0]
        if not self.minimum:
            force = force + constants.mass * self.at.bodies[b].C.T @ self.gravity
        torque = torque - constants.spin_axes.T @ wheel_torques(part, y[:3])
        if constants.modes is None:
            return np.concatenate([torque + np.cross(constants.com, force), force])
        modes, eta, centre = constants.modes, motion.eta, mass_centre(part)
        modal = moment_slope(modes, eta).T @ force / constants.mass
        modal = modal + inputs.modal - modes.stiffness @ eta - modes.damping @ motion.eta_rate
        return np.concatenate([torque + np.cross(centre, force), force, modal])

    def _constrain(self, ahead: list[Closure]) -> None:
        pairs = zip(self.closures, ahead, strict=True)
        gammas = [now.decay(now.G @ self.w) - _slope(later.G @ self.w) for now, later in pairs]
        self.G = np.concatenate([np.zeros((0, self.columns.n)), *(now.G for now in self.closures)])[self.closed]
        self.gamma = np.concatenate([np.zeros(0), *gammas])[self.closed]

    def rates(self, w_rate: Array) -> Array:
        """``x'`` from the accelerations."""
        u_rates = []
        for b, part in enumerate(self.parts):
            accelerations = w_rate[self.columns.u[b]]
            if part.motion.joint.kind == "attitude":
                accelerations = np.append(self._mass_centre_acceleration(w_rate), accelerations[3:])
            u_rates.append(accelerations)
        return self.reader.derivatives(
            [coordinate_rates(part) for part in self.parts],
            u_rates,
            [wheel_torques(part, self.at.bodies[b].J[:3] @ self.w) for b, part in enumerate(self.parts)],
            [part.motion.eta_rate for part in self.parts],
            [w_rate[modal] for modal in self.columns.eta],
        )

    def _mass_centre_acceleration(self, w_rate: Array) -> Array:
        """Of the whole system, inertial axes: the rate of its momentum, and gravity."""
        total, mass = np.zeros(3), 0.0
        for (momentum, remainder, inertia), at, part in zip(self.momenta, self.at.bodies, self.parts, strict=True):
            rate = (inertia @ w_rate + remainder)[3:6] + np.cross(at.J[:3] @ self.w, momentum[3:6])
            total, mass = total + at.C @ rate, mass + part.constants.mass
        return total / mass + self.gravity

    def loads(self, multipliers: Array) -> dict[str, Loads]:
        """What each loop and gear does with the ``multipliers`` of the closed ones' rows."""
        every = np.zeros(len(self.closed))
        every[self.closed] = multipliers
        loads, begin = {}, 0
        for closure in self.closures:
            rows = every[begin : begin + len(closure.phi)]
            begin += len(rows)
            force, torque = closure.pushing @ rows, closure.twisting @ rows
            gaps = closure.norm * closure.phi, closure.norm * closure.G @ self.w
            loads[closure.name] = Loads(
                force, torque, rows, *gaps, closure.efforts @ rows if closure.efforts.size else rows[:0]
            )
        return loads


def _slope(ahead: Numbers) -> Array:
    """The derivative of what was found a complex step ahead."""
    return np.imag(ahead) / STEP


def _mass(part: Part, eta: Numbers) -> Numbers:
    constants = part.constants
    spun = np.einsum("w,wi,wj->ij", constants.spins, constants.spin_axes, constants.spin_axes)
    return mass_matrix(constants.mass, constants.com, constants.inertia - spun, constants.modes, eta)


def derivatives_by(solve: Solve) -> Callable[[Model], Derivatives]:
    """A formulation's ``derivatives(model)`` from how it solves the equations."""
    return lambda model: _evaluated(model, lambda system: system.rates(solve(system)[0]))


def multipliers_by(solve: Solve) -> Callable[[Model], Multipliers]:
    """A formulation's ``multipliers(model)`` from how it solves the equations."""
    return lambda model: _evaluated(model, lambda system: system.loads(solve(system)[1]))


def _evaluated(model: Model, result: Callable[[Constrained], T]) -> Callable[[Array, Array, Array], T]:
    """``f(x, u, p)``: the ``result`` of the equations of ``model`` at that instant."""
    reader = Reader(model)
    return lambda x, u, p: result(Constrained(reader, x, u, p))
