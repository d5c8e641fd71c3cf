"""Partly linear equations: chosen hinges turn little, all else as it likes (MBDYPL of JPL TR 32-1592, Section IV).

What the report's Eq. (16) keeps is kept: the rotation of a linear hinge is of first order, ``U + gamma g~`` from outer
to inner components, in all terms but one; the rates count in full; and of the largest terminal appendages the block of
the coefficient matrix is the constant one of no displacement. Its inverse is worked out once, when the parameters are
set, so that n + 3 - t equations are left to solve of the n + 3 of Eq. (5). The result is right to first order in the
linear hinges' angles, rates *and accelerations*, and the full equations' where their angles are zero.

The matrix is that of Eq. (5), with the system's mass centre as the point of all moments, but not formed from pairs of
bodies: each hinge carries a branch of known mass, first moment and inertia, summed from tips to base.

A hinge's angle is small as seen from its reference, where its turn is exact: the rest of its spring in the model if it
has one, else its angle at the model's start. Both are the model's numbers; inputs and parameters do not change them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add

import casadi as ca
from casadi import SX

from mbdy.engine.linear.hinges import Hinge, Hinged, Kept, refuse_tanks, solved, turning
from mbdy.engine.model.faults import OptionError
from mbdy.engine.model.system import Body, Model
from mbdy.engine.model.topology import ROOT, Tree, tree
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.equations import Equations

WHAT = "partly linear equations"


def partly_linear_equations(model: Model, joints: tuple[str, ...] | None = None) -> Equations:
    """The equations of ``model`` with some hinges linear; same vectors as `mbdy.engine.order_n.equations.equations`.

    ``joints``  names of the bodies whose inboard hinges are linear; None for those of the largest terminal appendages
                whose hinges all have springs.

    Raises ValueError for a model that is not one of hinges below one floating body, and where a name is no hinge's or,
    with None, no appendage has springs at all its hinges.
    """
    refuse_tanks(model, WHAT)
    system, kept = Hinged(model, WHAT), Kept()
    terminal, linear = terminal_set(model, joints), linear_joints(model, joints)
    return system.equations(_PartlyLinear(system, kept, linear, terminal).rates(), kept)


def linear_joints(model: Model, joints: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Names of the bodies whose inboard hinges are linear; ``joints`` as in `partly_linear_equations`."""
    linear = terminal_set(model, None) if joints is None else joints
    if joints is None and not linear:
        raise OptionError(f"{WHAT} of {model.name!r}: no terminal appendage has springs at all its hinges; name joints")
    return linear


def references(model: Model, joints: tuple[str, ...]) -> tuple[tuple[str, int, float], ...]:
    """Body, turn and reference angle [rad] of each linear hinge of the bodies ``joints``."""
    bodies = [model.body(name) for name in joints]
    return tuple((b.name, turn, reference(model, b, turn)) for b in bodies for turn in range(len(b.joint.rotations)))


def reference(model: Model, body: Body, turn: int) -> float:
    """Angle [rad] from which a linear hinge is small: the rest of its spring, else the start's; the model's numbers."""
    if body.joint.stiffness[turn]:
        return body.joint.rest[turn]
    return model.starts.get(f"{body.name}.joint.angle", (0.0,) * body.joint.n_u)[turn]


def terminal_set(model: Model, joints: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Names of the hinged bodies that are members of the largest set of terminal appendages (``TI`` of the report).

    ``joints`` are as in `partly_linear_equations`. A terminal appendage is a branch whose hinges are all linear; a set
    is all those of one base body. The base that carries most hinges wins, of equals the one that comes last in
    ``model``. Bodies that are fixed to each other are one body. Raises ValueError where a name is no hinge's.
    """
    branches, bodies = tree(model), model.bodies
    sprung = {b for b, body in enumerate(bodies) if body.joint.rotations and all(body.joint.stiffness)}
    linear = sprung if joints is None else _places(model, joints)
    welded = [not body.joint.floating and not body.joint.n_u for body in bodies]
    hinges = [0 if body.joint.floating else body.joint.n_u for body in bodies]
    best: list[int] = []
    for base in range(len(bodies)):
        if welded[base]:
            continue
        terminal: list[int] = []
        for b in _carried(branches, base, welded):
            members = [j for j in range(len(bodies)) if hinges[j] and b in branches.path(j)]
            if linear.issuperset(members):
                terminal += members
        if terminal and sum(hinges[j] for j in terminal) >= sum(hinges[j] for j in best):
            best = terminal
    return tuple(bodies[b].name for b in sorted(best))


def _places(model: Model, joints: tuple[str, ...]) -> set[int]:
    hinged = [body.name for body in model.bodies if body.joint.rotations]
    for name in joints:
        if name not in hinged:
            raise OptionError(
                f"joints: {name!r} is no body on a hinge; those of {model.name!r} are {', '.join(hinged)}"
            )
    return {model.index[name] for name in joints}


def _carried(branches: Tree, base: int, welded: list[bool]) -> list[int]:
    """Bodies that hang on ``base`` and on what is fixed to it by hinges of their own."""
    children = ((child, welded[child]) for child in branches.children[base])
    return [b for child, fixed in children for b in (_carried(branches, child, welded) if fixed else [child])]


@dataclass(frozen=True)
class Branch:
    """A body and all that it carries, about the system's mass centre: axes of the reference body.

    ``mass`` [kg], first ``moment`` (3) [kg.m], ``inertia`` (3, 3) [kg.m2].
    """

    mass: SX
    moment: SX
    inertia: SX


class _Geometry:
    """Where all bodies are, by the turns of the hinges, and the columns of momenta that these have.

    Of every hinge ``s``: axis ``g``, velocity ``b`` that a unit rate gives the point at the system's mass centre,
    angular momentum ``l`` about it and linear momentum ``h`` of a unit rate. Of every body: its ``origin`` from the
    reference body's, ``arm`` from there to its mass centre, ``place`` of that from the system's mass centre. All are
    in axes of the reference body.
    """

    def __init__(self, system: Hinged, turns: list[SX], keep: Callable[[SX], SX] = SX) -> None:
        self.system = system
        self._place(turns)
        masses = [constants["mass"] for constants in system.constants]
        moments = [m * at for m, at in zip(masses, self.place, strict=True)]
        tensors = [keep(constants["about_com"]) for constants in system.constants]
        self.inertia = [_turned(self.C[b], tensor) for b, tensor in enumerate(tensors)]
        about = [J + _spread(*each) for J, *each in zip(self.inertia, moments, self.place, strict=True)]
        summed = map(self.sums, (masses, moments, about))
        self.branches = [Branch(keep(m), at, spatial.symmetric(J, 3)) for m, at, J in zip(*summed, strict=True)]
        self.b, self.l, self.h = {}, {}, {}
        for s, hinge in enumerate(system.hinges):
            branch, g = self.branches[hinge.body], self.g[s]
            b = self.b[s] = ca.cross(self.origin[hinge.body] - self.centre, g)
            self.l[s] = branch.inertia @ g + ca.cross(branch.moment, b)
            self.h[s] = ca.cross(g, branch.moment) + branch.mass * b

    def _place(self, turns: list[SX]) -> None:
        system = self.system
        self.C: dict[int, SX] = {system.root: SX.eye(3)}
        self.origin: dict[int, SX] = {system.root: SX(3, 1)}
        self.g: dict[int, SX] = {}
        for b in system.tree.outward[1:]:
            constants, above, hinges = system.constants[b], system.tree.parent[b], system.own(b)
            C = self.C[above]
            self.origin[b] = self.origin[above] + C @ constants["at"]
            for s in hinges:
                C = C @ turns[s]
                self.g[s] = C @ system.axis(system.hinges[s])
            self.C[b] = C if hinges else C @ constants["R0"]
        self.arm = [self.C[b] @ constants["com"] for b, constants in enumerate(system.constants)]
        from_root = [self.origin[b] + arm for b, arm in enumerate(self.arm)]
        moments = (constants["mass"] * at for constants, at in zip(system.constants, from_root, strict=True))
        self.centre = reduce(add, moments) / system.mass
        self.place = [at - self.centre for at in from_root]

    def sums(self, terms: list[SX]) -> list[SX]:
        """Sums over each body and all that it carries."""
        sums, branches = list(terms), self.system.tree
        for b in branches.inward:
            if (above := branches.parent[b]) != ROOT:
                sums[above] = sums[above] + sums[b]
        return sums

    def coefficient(self, r: int, s: int) -> SX:
        """a_rs of Eq. (5)."""
        shared = -ca.dot(self.h[r], self.h[s]) / self.system.mass
        inner, outer = self._inner_first(r, s)
        if inner is None:
            return shared
        return shared + ca.dot(self.g[inner], self.l[outer]) + ca.dot(self.b[inner], self.h[outer])

    def _inner_first(self, r: int, s: int) -> tuple[int | None, int]:
        """Two hinges of one path, the inner one first; None for it where they are on different branches."""
        one, other = self.system.hinges[r], self.system.hinges[s]
        if one.body == other.body:
            return min(r, s), max(r, s)
        if one.body in self.system.tree.path(other.body):
            return r, s
        return (s, r) if other.body in self.system.tree.path(one.body) else (None, s)


def _turned(C: SX, tensor: SX) -> SX:
    """Upper triangle of ``C tensor C^T``."""
    half = C @ tensor
    return ca.vertcat(*(half[i, :] @ C[j, :].T for i in range(3) for j in range(i, 3)))


def _spread(moment: SX, at: SX) -> SX:
    """Upper triangle of the inertia of a particle ``at`` (3) whose first moment is ``moment``."""
    products = [moment[i] * at[i] for i in range(3)]
    sides = [products[1] + products[2], products[0] + products[2], products[0] + products[1]]
    return ca.vertcat(*(sides[i] if i == j else -moment[i] * at[j] for i in range(3) for j in range(i, 3)))


class _PartlyLinear:
    """Eq. (16), its right side, and the solution by parts."""

    def __init__(self, system: Hinged, kept: Kept, linear: tuple[str, ...], terminal: tuple[str, ...]) -> None:
        self.system, self.kept = system, kept
        self.linear = _places(system.model, linear)
        members = _places(system.model, terminal)
        # What can be held when asked for, or lags in steps, is none of the constant block, which is inverted as it is.
        lagging = {b for b, kind in enumerate(system.layout.structures) if kind.resistances}
        free = {s for s, at in enumerate(system.hinges) if at.motion == "free" and at.body not in lagging}
        self.constant = [s for s, at in enumerate(system.hinges) if at.body in members and s in free]
        self.others = [s for s in range(len(system.hinges)) if s not in self.constant]
        self.at = _Geometry(system, [self._turn(hinge) for hinge in system.hinges], kept)
        self._motion()

    def _turn(self, hinge: Hinge) -> SX:
        if hinge.body not in self.linear:
            return turning(self.system, hinge, self.kept)
        turned = self._turned(hinge)
        small = self.system.x[hinge.angle] - self._reference(hinge)
        return self.kept(turned) + small * self.kept(turned @ spatial.skew(self.system.axis(hinge)))

    def _turned(self, hinge: Hinge) -> SX:
        """The turn of a linear hinge at its reference."""
        return self.system.before(hinge) @ spatial.axis_rotation(self.system.axis(hinge), self._reference(hinge))

    def _reference(self, hinge: Hinge) -> SX:
        return SX(reference(self.system.model, self.system.model.bodies[hinge.body], hinge.turn))

    def _inverse(self) -> SX:
        """Constant G, lower triangular, with ``G^T G`` the inverse of the terminal appendages' block.

        The block does not depend on the other hinges, which are taken at zero.
        """
        system, n = self.system, len(self.constant)
        turns = [self._turned(at) if at.body in self.linear else system.before(at) for at in system.hinges]
        at = _Geometry(system, turns)
        block = SX(n, n)
        for i, r in enumerate(self.constant):
            for j, s in enumerate(self.constant):
                block[i, j] = at.coefficient(r, s)
        return self.kept(_inverse_factor(block))

    def _motion(self) -> None:
        """Forces (3) and moments (3) about the mass centre of each branch that keep accelerations zero but those that
        are prescribed, less external ones."""
        system, at = self.system, self.at
        omega, alpha = {system.root: system.omega}, {system.root: SX(3, 1)}
        moved, field = {system.root: SX(3, 1)}, {system.root: _field(system.omega, SX(3, 1))}
        for b in system.tree.outward[1:]:
            above = system.tree.parent[b]
            moved[b] = moved[above] + field[above] @ (at.origin[b] - at.origin[above])
            w, a = omega[above], alpha[above]
            for s in system.own(b):
                hinge = system.hinges[s]
                rate = at.g[s] * system.x[hinge.rate]
                a = a + ca.cross(w, rate) + at.g[s] * system.forced(hinge)
                w = w + rate
            omega[b], alpha[b] = w, a
            field[b] = _field(w, a) if system.own(b) else field[above]
        forces, moments, applied = [], [], []
        for b, constants in enumerate(system.constants):
            J = spatial.symmetric(at.inertia[b], 3)
            wrench = system.wrench(b)
            force = at.C[b] @ wrench[3:]
            inertial = constants["mass"] * (moved[b] + field[b] @ at.arm[b])
            moment = J @ alpha[b] + ca.cross(omega[b], J @ omega[b]) - at.C[b] @ wrench[:3]
            forces.append(inertial - force)
            moments.append(moment + ca.cross(at.place[b], inertial - force) + ca.cross(at.arm[b], force))
            applied.append(force)
        self.forces, self.moments, self.applied = at.sums(forces), at.sums(moments), reduce(add, applied)

    def _right(self, s: int) -> SX:
        """Right side of a hinge's equation."""
        at, hinge = self.at, self.system.hinges[s]
        carried = ca.dot(at.g[s], self.moments[hinge.body]) + ca.dot(at.b[s], self.forces[hinge.body])
        shared = ca.dot(at.h[s], self.forces[self.system.root]) / self.system.mass
        return self.system.effort(hinge) - carried + shared

    def rates(self) -> SX:
        """``x'``: the n + 3 - t equations that are left, then the terminal appendages'."""
        system, at, others, constant = self.system, self.at, self.others, self.constant
        n, root = len(others), system.root
        left, mixed = SX(3 + n, 3 + n), SX(len(constant), 3 + n)
        left[:3, :3] = at.branches[root].inertia
        right = ca.vertcat(-self.moments[root], *map(self._right, others))
        for i, s in enumerate(others):
            left[3 + i, :3], left[:3, 3 + i] = at.l[s].T, at.l[s]
            for j, r in enumerate(others[: i + 1]):
                left[3 + i, 3 + j] = left[3 + j, 3 + i] = at.coefficient(r, s)
            left[3 + i, 3 + i] += system.lag(system.hinges[s])
        for i, s in enumerate(constant):
            mixed[i, :3] = at.l[s].T
            for j, r in enumerate(others):
                mixed[i, 3 + j] = at.coefficient(r, s)
        G = self._inverse()
        reduced, terminal = G @ mixed, G @ ca.vertcat(SX(0, 1), *map(self._right, constant))
        # The accelerations of hinges that are held are in the right sides already.
        fixed = [*[SX(0)] * 3, *(system.held(system.hinges[s]) for s in others)]
        first = solved(left - reduced.T @ reduced, right - reduced.T @ terminal, fixed, [SX(0)] * len(fixed))
        last = G.T @ (terminal - reduced @ first)
        hinge_rates = {s: first[3 + i] for i, s in enumerate(others)} | {s: last[i] for i, s in enumerate(constant)}
        momentum = self.forces[root] + reduce(add, (at.h[s] * rate for s, rate in hinge_rates.items()), SX(3, 1))
        moved = ca.cross(at.centre, first[:3]) - momentum / system.mass
        hinge_rates |= {s: hinge_rates[s] + system.forced(system.hinges[s]) for s in others}
        return system.rates(first[:3], hinge_rates, moved, self.applied)


def _field(omega: SX, alpha: SX) -> SX:
    """The matrix of ``alpha x r + omega x (omega x r)``."""
    return spatial.skew(alpha) + omega @ omega.T - ca.dot(omega, omega) * SX.eye(3)


def _inverse_factor(matrix: SX) -> SX:
    """G, lower triangular, with ``G^T G`` the inverse of a symmetric positive definite matrix: of Cholesky's L."""
    n = matrix.shape[0]
    L, G = SX(n, n), SX(n, n)
    for j in range(n):
        L[j, j] = ca.sqrt(matrix[j, j] - sum((L[j, k] ** 2 for k in range(j)), SX(0)))
        for i in range(j + 1, n):
            L[i, j] = (matrix[i, j] - sum((L[i, k] * L[j, k] for k in range(j)), SX(0))) / L[j, j]
    for j in range(n):
        G[j, j] = 1 / L[j, j]
        for i in range(j + 1, n):
            G[i, j] = -sum((L[i, k] * G[k, j] for k in range(j, i)), SX(0)) / L[i, i]
    return G
