"""States that satisfy closed loops and gears, from any near ones: Newton's method, then speeds that keep them.

All coordinates move, each by its own size, as little as it takes: ``dw = W G^T (G W G^T)^+ (-phi)``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbdy.engine.model.system import Body
from mbdy.engine.verification.formulations.closures import closures
from mbdy.engine.verification.formulations.gears import gears
from mbdy.engine.verification.formulations.kinematics import Columns, kinematics
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.solutions import RANK
from mbdy.engine.verification.formulations.values import Array, Part

STEPS = 60
"""Newton steps before a start counts as leading nowhere."""
CLOSED = 1e-10
"""Largest error of closure [rad, or of the model's length] before the last step, which leaves rounding."""
LEAP = 0.5
"""[rad, or of a coordinate's size] Largest step."""


class Closing:
    """Closes the loops of one model. ``length`` [m] is what displacements are measured by, ``modal(body)`` (m) what
    modal displacements are."""

    def __init__(self, reader: Reader, length: float, modal: Callable[[Body], Array]) -> None:
        self.reader, self.columns, self.length = reader, Columns(reader.model, reader.tree), length
        self.sizes = np.ones(self.columns.n)
        for body, joint, eta in zip(reader.model.bodies, self.columns.u, self.columns.eta, strict=True):
            self.sizes[joint][: body.joint.n_translations] = length
            self.sizes[eta] = modal(body)

    def closed(self, x: Array, u: Array, p: Array) -> Array | None:
        """``x`` with closed loops and speeds that keep them so; None where no way leads there."""
        for _ in range(STEPS):
            phi, G, sizes = self._errors(x, u, p)
            step = self._least(G, -phi)
            x = self._moved(x, u, p, self.sizes * step * min(1.0, LEAP / max(np.abs(step).max(initial=0.0), LEAP)))
            if not np.all(np.isfinite(x)):
                return None
            if np.abs(phi / sizes).max(initial=0.0) <= CLOSED:
                return self._kept(x, u, p)
        return None

    def _errors(self, x: Array, u: Array, p: Array) -> tuple[Array, Array, Array]:
        """``phi`` (m) and ``G`` (m, n) of closed loops, and what is large for each row."""
        parts = self.reader.parts(x, u, p)
        every = closures(self.reader, kinematics(self.columns, parts), u, p)
        closed = [c for c in (*every, *gears(self.reader, self.columns, parts, u, p)) if c.closed]
        phi = np.concatenate([np.zeros(0), *(c.phi for c in closed)])
        sizes = [1.0 if turns else self.length for c in closed for turns in self.reader.model.turning(c.of)]
        return phi, np.concatenate([np.zeros((0, self.columns.n)), *(c.G for c in closed)]), np.array(sizes)

    def _least(self, G: Array, change: Array) -> Array:
        """The least step (n) in parts of the coordinates' sizes with ``G (sizes step) = change``."""
        return np.linalg.pinv(G * self.sizes, rcond=RANK) @ change

    def _kept(self, x: Array, u: Array, p: Array) -> Array:
        """``x`` with the nearest speeds that the loops allow."""
        parts = self.reader.parts(x, u, p)
        w, (_, G, _) = self.columns.speeds(parts), self._errors(x, u, p)
        w = w - self.sizes * self._least(G, G @ np.where(self.columns.still, 0.0, w))
        motions = [part.motion for part in parts]
        return self.reader.moved(
            x,
            [m.q for m in motions],
            [w[joint] for joint in self.columns.u],
            [m.eta for m in motions],
            [w[modal] for modal in self.columns.eta],
        )

    def _moved(self, x: Array, u: Array, p: Array, step: Array) -> Array:
        parts = self.reader.parts(x, u, p)
        motions = [part.motion for part in parts]
        return self.reader.moved(
            x,
            [_carried(part, step[joint]) for part, joint in zip(parts, self.columns.u, strict=True)],
            [m.u for m in motions],
            [m.eta + step[modal] for m, modal in zip(motions, self.columns.eta, strict=True)],
            [m.eta_rate for m in motions],
        )


def _carried(part: Part, step: Array) -> Array:
    """``q`` moved by ``step`` of its joint's speeds; a quaternion by a rotation about outboard axes."""
    motion = part.motion
    slides = motion.joint.n_translations
    if not motion.joint.spherical:
        return motion.q + step
    half = 0.5 * step[slides:]
    w, v = motion.turns[0], motion.turns[1:]
    vector = half * np.sinc(np.linalg.norm(half) / np.pi)
    scalar = np.cos(np.linalg.norm(half))
    turned = np.append(w * scalar - v @ vector, w * vector + scalar * v + np.cross(v, vector))
    return np.concatenate([motion.slides + step[:slides], turned / np.linalg.norm(turned)])
