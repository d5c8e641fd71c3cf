"""What linear equations are linear in: the elements of c, and which rows of the accelerations they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from mbdy.engine.model.owners import Owner, joint_of
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.system import INERTIAL, Model
from mbdy.engine.model.variables import Variable
from mbdy.engine.order_n.equations import Equations
from mbdy.engine.order_n.layout import Layout, layout


@dataclass(frozen=True)
class Column:
    """One element of ``c``: its direction in states or inputs; ``turn``: the body whose attitude error it is of."""

    x: int | None = None
    u: int | None = None
    turn: tuple[int, int] | None = None


class Columns:
    """The columns of G of one model, near and far, and the places of things in ``x``, ``u`` and the rows of r.

    Far inputs are external forces that are mostly zero: what they do is worked out only where they are not.
    """

    def __init__(self, model: Model, full: Equations, *, first_order: bool) -> None:
        self.model, self.full, self.first_order = model, full, first_order
        self.table: Ports = full.ports
        self.at: Layout = layout(model)
        self.floating = [j for j, body in enumerate(model.bodies) if body.joint.floating]
        self.near_columns = [*self._coordinates(), *self._speeds(), *self._inputs(near=True)]
        self.far_columns = self._inputs(near=False)
        self.far_places = [column.u for column in self.far_columns if column.u is not None]
        self.n_r = self.at.n_x - full.n_q
        self.efforts = [p for b in model.bodies for p in self.places(joint_of(b), "force", "torque")]

    def _coordinates(self) -> list[Column]:
        columns = []
        for j, body in enumerate(self.model.bodies):
            places, joint = range(self.at.q[j].start, self.at.q[j].stop), body.joint
            if not joint.floating:
                columns += [Column(x=at) for at in (places[:-4] if joint.spherical else places)]
            if joint.spherical and (self.model.gravity_gradient or not joint.floating):
                columns += [Column(turn=(j, i)) for i in range(3)]
        return columns

    def _speeds(self) -> list[Column]:
        """All but the velocity of a floating root, on which nothing depends."""
        spans = [
            (at.start + 3 * b.joint.floating, at.stop) for b, at in zip(self.model.bodies, self.at.speeds, strict=True)
        ]
        return [Column(x=at) for at in (*(at for span in spans for at in range(*span)), *self.momenta)]

    @cached_property
    def momenta(self) -> list[int]:
        return [at for span in self.at.wheels for at in range(span.start, span.stop)]

    def _inputs(self, *, near: bool) -> list[Column]:
        """Near: efforts, accelerations, wheel torques, gravity, what acts on floating roots. Far: all other forces."""
        far = [v for v in self.table.inputs if v.port in ("external_forces", "node_forces") and not self._is_near(v)]
        floats = all(body.joint.floating for body in self.model.bodies if body.joint.to == INERTIAL)
        exact = ("rest", "gravity") if floats else ("rest",)
        others = [v for v in self.table.inputs if v not in far and not v.boolean and v.quantity not in exact]
        variables = others if near else far
        return [Column(u=at) for v in variables for at in range(v.places.start, v.places.stop)]

    def _is_near(self, load: Variable) -> bool:
        roots = [Owner("body", self.model.bodies[j].name) for j in self.floating]
        return load.owner in roots and load.quantity in (("torque",) if self.first_order else ("force", "torque"))

    def places(self, owner: Owner, *parts: str) -> list[int]:
        variables = filter(None, (self.table.by_name.get(f"{owner}.{part}") for part in parts))
        return [at for v in variables for at in range(v.places.start, v.places.stop)]

    @cached_property
    def actuators(self) -> tuple[list[int], list[int]]:
        """Rows of the free speeds that efforts, and torques on floating roots, move; and these inputs."""
        pairs: list[tuple[int, int]] = []
        for j, body in enumerate(self.model.bodies):
            rows = range(self.at.speeds[j].start - self.full.n_q, self.at.speeds[j].stop - self.full.n_q)
            if body.joint.floating:
                pairs += zip(rows[3:], self.places(Owner("body", body.name), "torque"), strict=True)
            else:
                efforts = self.places(joint_of(body), "force", "torque")
                free = [how != "prescribed" for how in body.joint.motion]
                pairs += compress(zip(rows, efforts, strict=True), free)
        return [row for row, _ in pairs], [place for _, place in pairs]

    @cached_property
    def jointed(self) -> list[tuple[int, list[int], list[int]]]:
        """Bodies with joints that have efforts: places in u of these and of the springs' rests."""
        return [
            (j, self.places(joint_of(body), "force", "torque"), self.places(joint_of(body), "rest"))
            for j, body in enumerate(self.model.bodies)
            if not body.joint.floating and body.joint.n_u
        ]

    @cached_property
    def gravity_places(self) -> list[int]:
        span = self.table.by_name["system.gravity"].places
        return list(range(span.start, span.stop))

    def velocity_rows(self, j: int) -> list[int]:
        begin = self.at.speeds[j].start - self.full.n_q
        return [begin, begin + 1, begin + 2]

    def turned_places(self, j: int) -> slice:
        return slice(self.at.q[j].stop - 4, self.at.q[j].stop)
