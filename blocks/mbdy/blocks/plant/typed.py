"""Typed ports of a block: what goes in and comes out, as NumPy views of the block's own memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.engine import Ports
from mbdy.engine.model.display import html_table, table_of_names
from mbdy.engine.model.faults import UnknownNameError

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Port:
    """Some variables side by side: ``names`` of their elements and a view of their ``values`` (n)."""

    names: tuple[str, ...]
    values: Array


@dataclass(frozen=True, slots=True)
class JointTorques(Port):
    """Efforts at the joints: torques [N.m] and forces [N], positive along the joint's axes on the outboard body."""


@dataclass(frozen=True, slots=True)
class PrescribedAccelerations(Port):
    """Accelerations [rad/s2, m/s2] of degrees of freedom that are prescribed."""


@dataclass(frozen=True, slots=True)
class ExternalForces:
    """``force`` [N] at the mass centre and ``torque`` [N.m] of each of ``bodies``, (n, 3) each, body axes.

    They are the bodies that have both as inputs.
    """

    bodies: tuple[str, ...]
    force: Array
    torque: Array


@dataclass(frozen=True, slots=True)
class Rates:
    """``omega`` (n, 3) [rad/s] of ``bodies`` relative to inertial axes in body axes; speeds of the joints. All of them
    as far as they are outputs."""

    bodies: tuple[str, ...]
    omega: Array
    joints: Port


@dataclass(frozen=True, slots=True)
class Attitudes:
    """``quaternions`` (n, 4), w x y z, of ``bodies`` to inertial axes; coordinates of the joints. All of them as far as
    they are outputs."""

    bodies: tuple[str, ...]
    quaternions: Array
    joints: Port


@dataclass(frozen=True, slots=True)
class Inputs:
    """All inputs of a block as ``values`` (n) under ``names``, and port by port; views of the same memory."""

    names: tuple[str, ...]
    values: Array
    joint_torques: JointTorques
    external_forces: ExternalForces
    prescribed_accelerations: PrescribedAccelerations
    node_forces: Port
    rest: Port
    switches: Port
    wheel_torques: Port
    spring_forces: Port
    gravity: Port
    orbit_position: Port


def inputs(table: Ports, values: Array) -> Inputs:
    """The typed inputs of a block whose input vector is ``values``."""

    def port(name: str, kind: type[Port] = Port) -> Port:
        span = table.span(name)
        return kind(table.input_names[span], values[span])

    loads = Counter(v.owner.name for v in table.inputs if v.port == "external_forces")
    bodies = tuple(name for name, count in loads.items() if count == 2)
    begin = table.span("external_forces").start
    wrenches = values[begin : begin + 6 * len(bodies)].reshape(-1, 6)
    return Inputs(
        names=table.input_names,
        values=values,
        joint_torques=port("joint_torques", JointTorques),  # type: ignore[arg-type]
        external_forces=ExternalForces(bodies, wrenches[:, :3], wrenches[:, 3:]),
        prescribed_accelerations=port("prescribed_accelerations", PrescribedAccelerations),  # type: ignore[arg-type]
        node_forces=port("node_forces"),
        rest=port("rest"),
        switches=port("switches"),
        wheel_torques=port("wheel_torques"),
        spring_forces=port("spring_forces"),
        gravity=port("gravity"),
        orbit_position=port("orbit_position"),
    )


class OutputLayout:
    """Where outputs lie, looked up once for all the `Outputs` of a block."""

    def __init__(self, table: Ports) -> None:
        self.names = table.output_names
        self.variables = tuple(variable.name for variable in table.outputs)
        self.bodies = {
            port: tuple(v.owner.name for v in table.outputs if v.port == port) for port in ("omega", "attitude")
        }
        self.places: dict[str, slice | int] = {}
        for variable in table.outputs:
            for k, scalar in enumerate(variable.scalar_names):
                self.places[scalar] = variable.offset + k
            self.places[variable.name] = variable.places if variable.size > 1 else variable.offset
        self.spans = {p: table.span(p) for p in ("omega", "attitude", "joint_rates", "joint_positions")}
        self.find = table.find


class Outputs:
    """Outputs of one instant: ``y["bus.omega"]`` (an array, or a float for one element), ``y.rates`` ...

    ``time`` [s]; ``values`` (n) in the order of ``names``. It keeps its own values when the block goes on.
    """

    __slots__ = ("_layout", "time", "values")

    def __init__(self, layout: OutputLayout, time: float, values: Array) -> None:
        self._layout = layout
        self.time = time
        self.values = values

    def __getitem__(self, name: str) -> Any:
        """An array, or a number of one element."""
        try:
            return self.values[self._layout.places[name]]
        except (KeyError, TypeError):
            self._layout.find(name)  # raises with the nearest names, unless the name is no output
            raise UnknownNameError(f"{name!r} is not an output") from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._layout.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __repr__(self) -> str:
        return f"<Outputs at {self.time:g} s: {table_of_names(self.keys())}>"

    def _repr_html_(self) -> str:
        rows = [(name, str(self[name])) for name in self]
        return html_table(f"Outputs at {self.time:g} s", ("output", "value"), rows)

    def keys(self) -> tuple[str, ...]:
        """The outputs by name, without index, so that ``dict(y)`` has all of them."""
        return self._layout.variables

    @property
    def names(self) -> tuple[str, ...]:
        return self._layout.names

    @property
    def rates(self) -> Rates:
        at, values = self._layout.spans, self.values
        joints = Port(self.names[at["joint_rates"]], values[at["joint_rates"]])
        return Rates(self._layout.bodies["omega"], values[at["omega"]].reshape(-1, 3), joints)

    @property
    def attitudes(self) -> Attitudes:
        at, values = self._layout.spans, self.values
        joints = Port(self.names[at["joint_positions"]], values[at["joint_positions"]])
        return Attitudes(self._layout.bodies["attitude"], values[at["attitude"]].reshape(-1, 4), joints)
