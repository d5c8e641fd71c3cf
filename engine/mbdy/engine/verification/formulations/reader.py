"""A model's vectors read into numbers of its bodies, and written back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.laws import JOINT_VALUES, sticks
from mbdy.engine.model.owners import joint_of
from mbdy.engine.model.ports import Ports, StatePart, coordinates, modal, ports, speeds, spins
from mbdy.engine.model.system import INERTIAL, Body, Loop, Model
from mbdy.engine.model.topology import Tree, tree
from mbdy.engine.model.variables import GRAVITATIONAL_PARAMETER, ORBIT_POSITION, UPPER
from mbdy.engine.verification.formulations.attraction import attracted
from mbdy.engine.verification.formulations.elements import pulled
from mbdy.engine.verification.formulations.flexible import modes_of
from mbdy.engine.verification.formulations.kinematics import Columns
from mbdy.engine.verification.formulations.propellant import (
    Discharge,
    discharges,
    filled,
    of_mass_centre,
    pushed,
)
from mbdy.engine.verification.formulations.shaking import shaken
from mbdy.engine.verification.formulations.values import Array, Constants, Given, Motion, Part, rotation


class Reader:
    """Reads the vectors of one model into `Part`s, in the order of its bodies, and writes derivatives back."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree: Tree = tree(model)
        self.ports: Ports = ports(model)
        states = self.ports.states

        def places(parts: Iterable[StatePart]) -> NDArray[np.intp]:
            begins = [(part, states[part.state].state or 0) for part in parts]
            return np.array([begin + i for part, begin in begins for i in range(part.size)], dtype=np.intp)

        self._q, self._u, self._h = ([places(sort(b)) for b in model.bodies] for sort in (coordinates, speeds, spins))
        self._eta = [places(modal(b, "displacement")) for b in model.bodies]
        self._eta_rate = [places(modal(b, "rate")) for b in model.bodies]
        self._columns = Columns(model, self.tree)
        self._masses = [states[f"tank.{tank.name}.mass"].state or 0 for tank in model.tanks]
        self._tanks = np.zeros(0)
        self.leaving: list[Discharge] = []
        self._parameters: bytes = b""
        self._constants: list[Constants] = []

    def parts(self, x: Array, u: Array, p: Array) -> list[Part]:
        """Every body's numbers. Behind the parameters ``p`` may stand the senses of friction that sticks, by degree of
        freedom of joints with such; else they are the signs of rates, which holds what is at rest."""
        p, senses = p[: len(self.ports.parameter_names)], p[len(self.ports.parameter_names) :]
        ends = np.cumsum(
            [len(at) if sticks(b.joint.laws) else 0 for b, at in zip(self.model.bodies, self._u, strict=True)]
        )
        own = np.split(senses, ends[:-1]) if senses.size else [np.sign(x[at]) for at in self._u]
        if p.tobytes() != self._parameters:
            self._constants = [_constants(self.model, self.ports, p, body) for body in self.model.bodies]
            self._parameters = p.tobytes()
        parts = [
            Part(body, constants, Motion(body.joint, *(x[at] for at in places)), self._given(u, body, sense))
            for body, constants, sense, *places in zip(
                self.model.bodies,
                self._constants,
                own,
                self._q,
                self._u,
                self._h,
                self._eta,
                self._eta_rate,
                strict=True,
            )
        ]
        parts = [shaken(part) if part.body.harmonics else part for part in parts]
        missed = []
        for tank, at in zip(self.model.tanks, self._masses, strict=True):
            body = self.model.index[tank.body]
            parts[body], unit = filled(self.ports, tank, parts[body], float(x[at]), p)
            flows = u[self.ports.by_name[f"tank.{tank.name}.flow"].places]
            missed.append((tank, body, unit, flows * (x[at] > 0.0)))
        if missed:
            closed = [one for one in self.model.loops if self._closed(one, u)]
            self.leaving = discharges(self._columns, parts, missed, self.ports, p, closed)
            self._tanks = self._tank_rates(parts)
        parts = self._laden(parts, u, p)
        return pushed(self._columns, parts, self.leaving) if missed else parts

    def _closed(self, loop: Loop, u: Array) -> bool:
        return self._switched(u, f"loop.{loop.name}.closed") if loop.switchable else loop.closed

    def _tank_rates(self, parts: list[Part]) -> Array:
        """What tanks add to ``x'`` besides the forces that their flows are."""
        rates = np.zeros(len(self.ports.state_names))
        rates[self._masses] = [-each.flow for each in self.leaving]
        for j, body in enumerate(self.model.bodies):
            if body.joint.kind == "attitude":
                slip, slowed = of_mass_centre(self._columns, parts, self.leaving)
                rates[self._q[j][:3]], rates[self._u[j][:3]] = -slip, -slowed
        return rates

    def _laden(self, parts: list[Part], u: Array, p: Array) -> list[Part]:
        """``parts`` with what springs and the gravity gradient do to them."""
        if self.model.elements:
            parts = pulled(self._columns, self.ports, parts, u, p)
        if not self.model.gravity_gradient:
            return parts
        position, mu = (self.ports.by_name[name].places for name in (ORBIT_POSITION, GRAVITATIONAL_PARAMETER))
        return attracted(self._columns, parts, u[position], float(p[mu][0]))

    def gravity(self, u: Array) -> Array:
        """Uniform gravity (3) [m/s2], inertial axes."""
        return u[self.ports.by_name["system.gravity"].places]

    def derivatives(
        self,
        q_rates: Sequence[Array],
        u_rates: Sequence[Array],
        h_rates: Sequence[Array],
        eta_rates: Sequence[Array] = (),
        eta_accelerations: Sequence[Array] = (),
    ) -> Array:
        """``x'`` from every body's ``q'``, ``u'``, ``h'`` and, where one is flexible, ``eta'`` and ``eta''``."""
        rigid = [np.zeros(0)] * len(self._q)
        rates = self.moved(
            np.zeros(len(self.ports.state_names)), q_rates, u_rates, eta_rates or rigid, eta_accelerations or rigid
        )
        for at, h_rate in zip(self._h, h_rates, strict=True):
            rates[at] = h_rate
        return rates + self._tanks if self._tanks.size else rates

    def moved(
        self, x: Array, q: Sequence[Array], u: Sequence[Array], eta: Sequence[Array], eta_rate: Sequence[Array]
    ) -> Array:
        """``x``, or its rates, with others of coordinates and speeds of joints and modes."""
        changed = x.copy()
        for places, values in ((self._q, q), (self._u, u), (self._eta, eta), (self._eta_rate, eta_rate)):
            for at, value in zip(places, values, strict=True):
                changed[at] = value
        return changed

    def _switched(self, u: Array, scalar: str) -> bool:
        variable, element = self.ports.by_scalar[scalar]
        return bool(u[variable.offset + element] > 0.0)

    def _given(self, u: Array, body: Body, senses: Array) -> Given:
        def read(*names: str) -> Array:
            known = [self.ports.by_name[n].places for n in names if n in self.ports.by_name]
            return np.concatenate([*(u[places] for places in known), np.zeros(0)])

        name, stem, n = body.name, joint_of(body), body.joint.n_u
        points = [name, *(f"{name}.{node}" for node in body.nodes)]
        effort = read(f"{stem}.force", f"{stem}.torque")
        fixed, acceleration = np.zeros(n, dtype=np.bool_), np.zeros(n)
        if any(motion != "free" for motion in body.joint.motion):
            commanded = read(f"{stem}.acceleration")
            for i, motion in enumerate(body.joint.motion):
                # Only switchable degrees of freedom have switches, labelled by their place among all.
                label = "" if n == 1 else f"[{i + 1}]"
                locked = motion == "switchable" and self._switched(u, f"{stem}.locked{label}")
                prescribed = motion == "switchable" and self._switched(u, f"{stem}.prescribed{label}")
                fixed[i] = motion == "prescribed" or locked or prescribed
                acceleration[i] = commanded[i] if fixed[i] and not locked else 0.0
        if sticks(body.joint.laws):
            fixed |= senses == 0.0
        return Given(
            forces=read(*(f"{point}.force" for point in points)).reshape(-1, 3),
            torques=read(*(f"{point}.torque" for point in points)).reshape(-1, 3),
            modal=read(f"{name}.flex.force"),
            effort=effort if effort.size else np.zeros(n),
            rest=read(f"{stem}.rest"),
            fixed=fixed,
            acceleration=acceleration,
            motors=read(*(f"{name}.{wheel}.torque" for wheel in body.wheels)),
            senses=senses,
        )


def _constants(model: Model, table: Ports, p: Array, body: Body) -> Constants:
    name, stem, joint = body.name, joint_of(body), body.joint

    def read(*names: str) -> Array:
        return np.concatenate([*(p[table.by_name[n].places] for n in names), np.zeros(0)])

    def joint_place(body: Body) -> Array:
        return read(f"{body.name}.joint.at_b") if body.joint.offset else np.zeros(3)

    def bearing(wheel: str) -> Array:
        names = [f"{wheel}.{law}" for law in BEARING]
        return read(*names) if names[0] in table.by_name else np.array([0.0, 0.0, 1.0])

    upper, inertia = read(f"{name}.inertia"), np.zeros((3, 3))
    for value, (i, j) in zip(upper, UPPER, strict=True):
        inertia[i, j] = inertia[j, i] = value
    if joint.floating:
        at, frame, axes = np.zeros(3), np.eye(3), np.eye(3)
    else:
        at, frame = read(f"{stem}.at"), rotation(read(f"{stem}.frame"))
        if joint.node and joint.to != INERTIAL and not model.body(joint.to).flex:
            at = at + read(f"{joint.to}.{joint.node}.at")
        axes = _units(read(f"{stem}.axis") if joint.axes else np.zeros(0))
        if joint.to != INERTIAL:
            at = at - joint_place(model.body(joint.to))
    place = joint_place(body)
    return Constants(
        mass=float(read(f"{name}.mass")[0]),
        com=read(f"{name}.com") - place,
        inertia=inertia,
        at=at,
        frame=frame,
        translations=axes[: joint.n_translations],
        rotations=axes[joint.n_translations :],
        efforts={
            name: read(f"{stem}.{value.key}")
            for name, value in JOINT_VALUES.items()
            if f"{stem}.{value.key}" in table.by_name
        },
        spins=read(*(f"{name}.{wheel}.inertia" for wheel in body.wheels)),
        spin_axes=_units(read(*(f"{name}.{wheel}.axis" for wheel in body.wheels))),
        bearings=np.array([bearing(f"{name}.{wheel}") for wheel in body.wheels]).reshape(-1, 3),
        nodes=read(*(f"{name}.{node}.at" for node in body.nodes)).reshape(-1, 3) - place,
        joint_at=place,
        rotors=_units(read(f"{stem}.rotor_axis") if joint.rotor_axis else np.zeros(0)),
        modes=modes_of(body, read(f"{name}.flex.stiffness"), read(f"{name}.flex.damping")) if body.flex else None,
    )


def _units(components: Array) -> Array:
    axes = components.reshape(-1, 3)
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)
