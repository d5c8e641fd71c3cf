"""Force elements among the sweeps: where they sit, what they do there before the second, and what is seen of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import casadi as ca
from casadi import DM, MX, SX

from mbdy.engine.model.owners import element
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.springs import PARAMETERS
from mbdy.engine.model.system import Acting, Model, Side
from mbdy.engine.model.topology import ROOT, Tree
from mbdy.engine.order_n import elements as kernels
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n import sweeps as order_n
from mbdy.engine.order_n.element_kinds import structure_of
from mbdy.engine.order_n.elements import Element
from mbdy.engine.order_n.kernels import Kernels
from mbdy.engine.order_n.seats import INERTIAL_SIDE, Roots, Seat, press, seat_on
from mbdy.engine.order_n.sweeps import BodyMotion, Pose, System

Inputs = Callable[[str], MX]
"""Elements of an input by its name."""


@dataclass(frozen=True)
class Seated:
    """A force element with its seats, and the body that both are seen from (`INERTIAL_SIDE`: inertial space)."""

    part: Acting
    kind: Element
    seats: tuple[Seat, Seat]
    above: int


def seated(model: Model, branches: Tree) -> list[Seated]:
    """The force elements of ``model``; nodes of rigid bodies are places on these."""
    return [_seated(part, (seat_on(model, part.a, moved=True), seat_on(model, part.b, moved=True)), branches)
            for part in model.elements]  # fmt: skip


def _seated(part: Acting, seats: tuple[Seat, Seat], branches: Tree) -> Seated:
    paths = [_path(branches, seat) for seat in seats]
    above = next((j for j in reversed(paths[0]) if j in paths[1]), INERTIAL_SIDE)
    seen = next((end for end, seat in zip("ab", seats, strict=True) if seat == Seat(above, None)), "")
    apart = above == INERTIAL_SIDE
    kind = replace(structure_of(part), seen="" if apart else seen, apart=apart)
    return Seated(part, kind, seats, above)


def _path(branches: Tree, seat: Seat) -> list[int]:
    """Bodies from the root to a seat."""
    return [] if seat.body == INERTIAL_SIDE else [*reversed(branches.path(seat.body))]


def constants(
    elements: Sequence[Seated], model: Model, ports: Ports, p: MX, turns: Sequence[MX | None], calls: Kernels
) -> Iterator[MX]:
    """What each has in ``k``; ``turns`` lead from a body's axes in the sweeps to its own (None: the same)."""

    def parameter(name: str) -> MX:
        return p[ports.by_name[name].places]

    for each in elements:
        part, stem = each.part, element(each.part)
        given: dict[str, MX] = {}
        for end, side, seat in zip("ab", (part.a, part.b), each.seats, strict=True):
            turn = None if seat.body == INERTIAL_SIDE else turns[seat.body]
            at = parameter(f"{stem}.at_{end}")
            if side.node and seat.node is None:
                at += parameter(f"{side.body}.{side.node}.at")
            given[f"at_{end}"] = at if turn is None else turn.T @ at
            if end in each.kind.framed:
                axes = _axes(side)
                given[f"frame_{end}"] = ca.vec(axes if turn is None else turn.T @ axes)
        for name in part.values:
            given[name] = parameter(f"{stem}.{PARAMETERS.get(name, name)}")
        yield calls.call(kernels.prepare, structure_of(part), **given)["k"]


def _axes(side: Side) -> MX:
    return MX(ca.evalf(spatial.rotation_matrix(SX(DM(list(side.frame))))))


class ElementForces:
    """The force elements of a model over the sweeps of its ``system``, with their constants and inputs."""

    def __init__(self, elements: Sequence[Seated], system: System, constants: Sequence[MX], inputs: Inputs) -> None:
        self.elements, self.system, self.constants, self.inputs = elements, system, constants, inputs

    def act(self, moves: list[BodyMotion]) -> None:
        """Applies them to bodies and modes, after the first sweep."""
        for each, k in zip(self.elements, self.constants, strict=True):
            results = self._call(kernels.pull, each, moves, k)
            for seat, end in zip(each.seats, "ab", strict=True):
                if seat.body != INERTIAL_SIDE:
                    press(self.system, moves, seat, results[f"on_{end}"])
            m = next(moves[seat.body] for seat in each.seats if seat.body != INERTIAL_SIDE)
            m.power = m.power + results["power"]

    def see(self, moves: list[BodyMotion], outputs: dict[str, MX]) -> None:
        """Adds what is seen of them to the outputs by name, after all sweeps."""
        for each, k in zip(self.elements, self.constants, strict=True):
            results = self._call(kernels.see, each, moves, k)
            outputs["system.energy"] += results.pop("energy_out")
            outputs["system.work_residual"] -= results.pop("work_out")
            stem = element(each.part)
            outputs |= {f"{stem}.{name.removesuffix('_out')}": value for name, value in results.items()}

    def switching(self, moves: list[BodyMotion]) -> Iterator[tuple[str, MX]]:
        """Where they switch: names, and indicators for each."""
        for each, k in zip(self.elements, self.constants, strict=True):
            if names := each.kind.switches:
                rows = self._call(kernels.switching, each, moves, k)["indicators"]
                yield from ((f"{element(each.part)}.{name}", rows[i]) for i, name in enumerate(names))

    def _call(
        self, make: Callable[[Element], ca.Function], each: Seated, moves: list[BodyMotion], k: MX
    ) -> dict[str, MX]:
        system, given = self.system, {"k": k}
        bodies = [j for seat in each.seats for j in _path(system.tree, seat)]
        roots = Roots(system, sorted(set(bodies), key=system.tree.outward.index)) if each.kind.apart else None
        slips: list[MX] = []
        for end, seat in zip("ab", each.seats, strict=True):
            C, rho = self._pose(seat, each.above, moves)
            V = MX.zeros(6)
            if seat.body != INERTIAL_SIDE:
                m = moves[seat.body]
                V = m.V if seat.node is None else m.nodes[seat.node].V
            if roots:
                grounded = seat.body == INERTIAL_SIDE
                rho = rho + (-roots.origin if grounded else roots.shift[seat.body])
                slips.append(-roots.drift if grounded else roots.slip[seat.body])
            given[f"V_{end}"] = V
            if each.kind.seen != end:
                given |= {f"C_{end}": C, f"rho_{end}": rho}
        if roots:
            given["slip"] = slips[1] - slips[0]
        given |= {name: self.inputs(f"{element(each.part)}.{name}") for name in each.kind.inputs}
        return system.kernels.call(make, each.kind, **given)

    def _pose(self, seat: Seat, above: int, moves: list[BodyMotion]) -> Pose:
        """C and rho of a seat against a body that carries it, or against the origin of its root."""
        system, path = self.system, _path(self.system.tree, seat)
        pose: Pose | None = None
        for j in path[path.index(above) + 1 if above in path else 0 :]:
            parent, at = system.tree.parent[j], system.seats[j]
            if parent != ROOT and at is not None:
                pose = self._stood(moves[parent].nodes[at], pose)
            pose = self._stood(moves[j], pose, floating=system.structures[j].floating)
        if seat.node is not None:
            pose = self._stood(moves[seat.body].nodes[seat.node], pose)
        return pose or order_n.INERTIAL_POSE

    def _stood(self, m: BodyMotion | order_n.NodeMotion, on: Pose | None, *, floating: bool = False) -> Pose:
        if on is None:
            return m.E.T, MX.zeros(3) if floating else m.r
        return order_n.stand(self.system, m, on, floating=floating)
