"""The report's own method: Eq. (5) of augmented bodies, dense, as CasADi scalars.

G. E. Fleischer and P. W. Likins, "Attitude Dynamics Simulation Subroutines for Systems of Hinge-Connected Rigid
Bodies", JPL Technical Report 32-1592, 1974; definitions and equations are numbered as there. What is fixed in a body
(Defs. 24-27) is worked out once, as MBDY does in its initial section. At each evaluation all vectors are turned into
the reference body's axes, Phi is formed for every pair of bodies (Def. 28), and the n + 3 equations are formed and
solved. The report's claims of speed refer to this (``bench/jpl.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import casadi as ca
from casadi import SX

from mbdy.engine.linear.hinges import Hinge, Hinged, Kept, solved, turning
from mbdy.engine.model.system import Model
from mbdy.engine.model.topology import ROOT
from mbdy.engine.order_n.equations import Equations


def augmented_equations(model: Model) -> Equations:
    """The equations of ``model`` with the accelerations of Eq. (5); the vectors of `mbdy.engine.order_n.equations`.

    Raises ValueError for a model that is not one of hinges below one floating body, and names what is not.
    """
    system, kept = Hinged(model, "the augmented-body equations"), Kept()
    return system.equations(_Augmented(system, kept).rates(), kept)


@dataclass(frozen=True)
class Label:
    """One of the report's bodies (Def. 3): its inner neighbour's label, its hinge, and the model's body that it is.

    A link without mass between two rotations of a joint is no body of the model; a welded body has no hinge.
    """

    inboard: int
    hinge: int | None
    body: int | None
    joint: int


def _labels(system: Hinged) -> list[Label]:
    labels = [Label(ROOT, None, system.root, system.root)]
    last = {system.root: 0}
    for b in system.tree.outward[1:]:
        inboard, own = last[system.tree.parent[b]], system.own(b)
        for s in own[:-1]:
            labels.append(Label(inboard, s, None, b))
            inboard = len(labels) - 1
        labels.append(Label(inboard, own[-1] if own else None, b, b))
        last[b] = len(labels) - 1
    return labels


class _Augmented:
    """The report's quantities as expressions; ``k`` and ``j`` are labels, ``s`` and ``r`` places among the hinges."""

    def __init__(self, system: Hinged, kept: Kept) -> None:
        self.system, self.kept = system, kept
        self.labels = _labels(system)
        self.all = range(len(self.labels))
        self.paths = [self._path(k) for k in self.all]
        self.carried = {label.hinge: [j for j in self.all if k in self.paths[j]] for k, label in enumerate(self.labels)}
        self._turn()
        self._vectors()
        self._forces()

    def _path(self, k: int) -> tuple[int, ...]:
        return () if k == ROOT else (k, *self._path(self.labels[k].inboard))

    @cached_property
    def hinges(self) -> list[tuple[int, int, Hinge]]:
        """Label, place among the hinges, and hinge, of every label that has one."""
        return [
            (k, own.hinge, self.system.hinges[own.hinge]) for k, own in enumerate(self.labels) if own.hinge is not None
        ]

    def _turn(self) -> None:
        """C^{0k}, g^s, omega^k, terms of omega^k' without accelerations (Eq. 3), in the reference body's axes."""
        system = self.system
        self.C, self.omega, self.turning = [SX.eye(3)], [system.omega], [SX(3, 1)]
        self.g: dict[int, SX] = {}
        for own in self.labels[1:]:
            C, omega, coriolis = (of[own.inboard] for of in (self.C, self.omega, self.turning))
            if own.hinge is None:
                self.C.append(C @ self.kept(system.constants[own.joint]["R0"]))
            else:
                hinge = system.hinges[own.hinge]
                self.C.append(C @ turning(system, hinge, self.kept))
                g = self.g[own.hinge] = self.C[-1] @ system.axis(hinge)
                rate = g * system.x[hinge.rate]
                coriolis, omega = coriolis + ca.cross(omega, rate), omega + rate
            self.omega.append(omega)
            self.turning.append(coriolis)

    def _toward(self, k: int, j: int) -> SX:
        """L^{kj} of body k (Def. 23), its axes."""
        own = self.labels[k].body
        if k == j or own is None:  # the hinges of a link meet in one point
            return SX(3, 1)
        com = self.system.constants[own]["com"]
        way = next((i for i in self.paths[j] if self.labels[i].inboard == k), None)
        return -com if way is None else self.system.constants[self.labels[way].joint]["at"] - com

    def _vectors(self) -> None:
        """D^{kj} (Defs. 24, 26) and Phi^{kk} (Def. 27) of all bodies, turned into the reference body's axes.

        Equal vectors L cancel before they are weighed, so that light bodies' keep their digits beside heavy ones.
        """
        constants, labels, M = self.system.constants, self.labels, self.system.mass
        masses = [SX(0) if each.body is None else constants[each.body]["mass"] for each in labels]
        self.D, self.Phi = [], []
        for k, own in enumerate(labels):
            L, C = [self._toward(k, j) for j in self.all], self.C[k]
            D = [sum(((L[j] - L[i]) * m for i, m in enumerate(masses)), SX(3, 1)) / M for j in self.all]
            tensor = SX(3, 3) if own.body is None else constants[own.body]["about_com"]
            tensor += sum((m * (ca.dot(d, d) * SX.eye(3) - d @ d.T) for m, d in zip(masses, D, strict=True)), SX(3, 3))
            self.D.append([C @ self.kept(d) for d in D])
            self.Phi.append(C @ self.kept(tensor) @ C.T)

    def _forces(self) -> None:
        """F^k and T^k (Defs. 15, 16), torques about mass centres, in axes of the reference body."""
        self.F, self.T = [], []
        for C, own in zip(self.C, self.labels, strict=True):
            if own.body is None:
                self.F.append(SX(3, 1))
                self.T.append(SX(3, 1))
            else:
                wrench = self.system.wrench(own.body)
                self.F.append(C @ wrench[3:])
                self.T.append(C @ (wrench[:3] - ca.cross(self.system.constants[own.body]["com"], wrench[3:])))

    def _pairs(self) -> list[list[SX]]:
        """Phi^{kj} of every pair (Def. 28)."""
        Phi = [[SX(3, 3) for _ in self.all] for _ in self.all]
        for k in self.all:
            Phi[k][k] = self.Phi[k]
            for j in range(k):
                D_kj, D_jk = self.system.mass * self.D[k][j], self.D[j][k]
                Phi[k][j] = D_jk @ D_kj.T - ca.dot(D_jk, D_kj) * SX.eye(3)
                Phi[j][k] = Phi[k][j].T
        return Phi

    def _loads(self, Phi: list[list[SX]]) -> list[SX]:
        """A^k (Def. 33)."""
        loads = []
        for k in self.all:
            A = self.T[k] - ca.cross(self.omega[k], Phi[k][k] @ self.omega[k])
            for j in self.all:
                moved = self.F[j]
                if j != k:
                    w = self.omega[j]
                    moved = moved + self.system.mass * ca.cross(w, ca.cross(w, self.D[j][k]))
                A += ca.cross(self.D[k][j], moved) - Phi[k][j] @ self.turning[j]
            loads.append(A)
        return loads

    def equation(self) -> tuple[SX, SX]:
        """Coefficients and right side of Eq. (5), by Defs. 29-32 and 36: pair by pair of bodies, as MBDY sums them."""
        Phi, n = self._pairs(), len(self.hinges)
        loads = self._loads(Phi)
        a, right = SX(3 + n, 3 + n), SX(3 + n, 1)
        a[:3, :3] = reduce(add, (each for row in Phi for each in row))
        right[:3] = reduce(add, loads)
        for _, s, _ in self.hinges:
            a[:3, 3 + s] = reduce(add, (Phi[k][j] @ self.g[s] for k in self.all for j in self.carried[s]))
            a[3 + s, :3] = a[:3, 3 + s].T
            for _, r, _ in self.hinges:
                if r <= s:
                    pairs = (Phi[k][j] @ self.g[s] for k in self.carried[r] for j in self.carried[s])
                    a[3 + r, 3 + s] = a[3 + s, 3 + r] = ca.dot(self.g[r], reduce(add, pairs))
        for _, s, hinge in self.hinges:
            a[3 + s, 3 + s] += self.system.lag(hinge)
            right[3 + s] = ca.dot(self.g[s], reduce(add, (loads[k] for k in self.carried[s]))) + self.system.effort(
                hinge
            )
        return a, right

    def rates(self) -> SX:
        """``x'`` of Eq. (5), and of the mass centre theorem for a ``free`` reference body's origin."""
        system, hinges = self.system, self.system.hinges
        found = solved(
            *self.equation(), [*[SX(0)] * 3, *map(system.held, hinges)], [*[SX(0)] * 3, *map(system.forced, hinges)]
        )
        omega_rate, hinge_rates = found[:3], {s: found[3 + s] for s in range(len(hinges))}
        force = reduce(add, self.F)
        moved, com = force / system.mass, system.constants[system.root]["com"]
        for k in self.all:  # c_0 is at the sum of the vectors D^{k0} from the system's mass centre
            alpha, omega, D = omega_rate + self.turning[k], self.omega[k], self.D[k][0]
            for j in self.paths[k][:-1]:
                s = self.labels[j].hinge
                if s is not None:
                    alpha = alpha + self.g[s] * hinge_rates[s]
            moved += ca.cross(alpha, D) + ca.cross(omega, ca.cross(omega, D))
        moved -= ca.cross(omega_rate, com) + ca.cross(system.omega, ca.cross(system.omega, com))
        return system.rates(omega_rate, hinge_rates, moved, force)
