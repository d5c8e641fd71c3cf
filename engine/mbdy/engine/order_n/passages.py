"""The way from a body to one that hangs on it: what it makes of motion and force vectors, and of inertias.

``X V`` goes outward, ``X^T F`` and ``X^T P X`` inward (Featherstone 2008, ch. 2). A passage shifts by ``r`` in the axes
of the inner body and then turns: anyhow, or by one turn after the other about x and z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from mbdy.engine.order_n import spatial


@dataclass(frozen=True)
class Turn:
    """About axis 0 or 2 of the inner frame, by an angle with this cosine and sine."""

    axis: int
    cosine: SX
    sine: SX

    def outward(self, a: SX) -> SX:
        """Components (3, n) in the turned frame."""
        return self._turned(a, self.sine)

    def inward(self, a: SX) -> SX:
        """Components (3, n) in the frame before the turn."""
        return self._turned(a, -self.sine)

    def symmetric_inward(self, A: SX) -> SX:
        """A symmetric matrix in the frame before the turn, with its lower triangle a copy of the upper."""
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        c, s, found = self.cosine, self.sine, SX(A)
        cc, ss, cs = c * c, s * s, c * s
        twice = 2 * cs * A[i, j]
        found[i, i], found[j, j] = cc * A[i, i] + ss * A[j, j] - twice, ss * A[i, i] + cc * A[j, j] + twice
        found[i, j] = found[j, i] = cs * (A[i, i] - A[j, j]) + (cc - ss) * A[i, j]
        found[i, k] = found[k, i] = c * A[i, k] - s * A[j, k]
        found[j, k] = found[k, j] = s * A[i, k] + c * A[j, k]
        return found

    def matrix_inward(self, B: SX) -> SX:
        """Any matrix in the frame before the turn."""
        return self.inward(self.inward(B).T).T

    def _turned(self, a: SX, sine: SX) -> SX:
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        found = SX(a)
        found[i, :] = self.cosine * a[i, :] + sine * a[j, :]
        found[j, :] = self.cosine * a[j, :] - sine * a[i, :]
        return found


@dataclass(frozen=True)
class Passage:
    """``E`` (3x3) inner to outer components, where it is not made of ``turns``; ``r`` (3), inner axes."""

    r: SX
    E: SX | None = None
    turns: Sequence[Turn] = ()

    @property
    def rotation(self) -> SX:
        """Inner to outer components (3x3)."""
        return self._outward(SX.eye(3))

    def motion(self, V: SX) -> SX:
        """``X V``."""
        return ca.vertcat(self._outward(V[:3]), self._outward(V[3:] + ca.cross(V[:3], self.r)))

    def force(self, F: SX) -> SX:
        """``X^T F`` of force vectors (6, n)."""
        return shifted(self.r, ca.vertcat(self._inward(F[:3, :]), self._inward(F[3:, :])))

    def inertia(self, P: SX) -> SX:
        """``X^T P X`` (6, 6), its upper triangle from that of P."""
        P = spatial.symmetric(spatial.upper(P), 6)
        A, B, C = P[:3, :3], P[:3, 3:], P[3:, 3:]
        if self.E is not None:
            A, B, C = (self.E.T @ block @ self.E for block in (A, B, C))
        for turn in reversed(self.turns):
            A, B, C = turn.symmetric_inward(A), turn.matrix_inward(B), turn.symmetric_inward(C)
        A, C = (spatial.symmetric(spatial.upper(block), 3) for block in (A, C))
        R = spatial.skew(self.r)
        moved = B + R @ C
        return ca.vertcat(ca.horzcat(A - moved @ R - (B @ R).T, moved), ca.horzcat(moved.T, C))

    def _outward(self, a: SX) -> SX:
        if self.E is not None:
            return self.E @ a
        for turn in self.turns:
            a = turn.outward(a)
        return a

    def _inward(self, a: SX) -> SX:
        if self.E is not None:
            return self.E.T @ a
        for turn in reversed(self.turns):
            a = turn.inward(a)
        return a


def shares(E: SX, r: SX, Phi: SX, N: SX) -> tuple[SX, SX]:
    """What force vectors ``N`` (6, n) on a node, node axes, are on its body (6, n) and on modes (m, n).

    ``E``, ``r``, ``Phi`` are the node's (`mbdy.engine.order_n.nodes`).
    """
    turned = ca.vertcat(E.T @ N[:3, :], E.T @ N[3:, :])
    return shifted(r, turned), Phi.T @ turned


def shifted(r: SX, N: SX) -> SX:
    """Force vectors ``N`` (6, n) at ``r`` as ones about the origin."""
    f = N[3:, :]
    return ca.vertcat(N[:3, :] + ca.cross(ca.repmat(r, 1, f.shape[1]), f, 1), f)
