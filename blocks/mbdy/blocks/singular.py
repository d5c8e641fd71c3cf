"""Joints of three successive rotations near their middle-angle singularity, where their axes span no volume.

With unit axes a1', a2', a3' in the outboard frame, ``det[a1' a2' a3']`` depends on the middle angle alone: it is
``A cos q2 + B sin q2`` with ``A = a1 . (a2 x a3)`` and ``B = a1 . (a2 x (a2 x a3))`` of the axes at zero. Relative to
its largest value that is the margin ``cos(q2 - phase)``. Models without such joints have no watch at all.

A free joint mostly does not go through but turns back at once, between two looks: its margin then goes along two lines
that meet below both.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.run import Run
from mbdy.engine import Body, Model, Ports
from mbdy.engine.model.faults import MbdyWarning
from mbdy.engine.model.ports import NOWHERE

Array = NDArray[np.float64]

NEAR = 1e-3
"""``|det[a1' a2' a3']|``, relative to its largest value, below which a joint is near its singularity: 0.06 deg."""
CLOSE = 0.2
"""The same, of two looks with a sharp turn between them; farther out a turn need not be sharp."""
LEFT = 2 * NEAR
"""The same, from which on a passage is over, lest a joint that lingers at the edge is told of again and again."""


class SingularityWarning(MbdyWarning):
    """A joint of three rotations came near its middle-angle singularity; results hold while the equations do."""


class Watch:
    """Looks at such joints of one plant as it runs, and warns once for each passage.

    A passage is told of where a look falls inside it, or where the margin between two looks changes sign or, of a
    joint that can move freely, seems to have turned back.
    """

    def __init__(self, gimbals: Sequence[_Gimbal]) -> None:
        self._gimbals = gimbals
        self.blind = not all(g.seen_in_y for g in gimbals)
        """Whether some angle is no output, so that `rows` cannot do and `look` has to."""
        self.picks = np.array([] if self.blind else [place for g in gimbals for place in g.outputs], dtype=np.intc)
        """Places in ``y`` of what `rows` wants."""

    def parameters(self, p: Array) -> None:
        """Take over the axes in ``p``."""
        for gimbal in self._gimbals:
            gimbal.turn(p)

    def forget(self) -> None:
        """Begin anew: the plant goes on from another state."""
        for gimbal in self._gimbals:
            gimbal.seen, gimbal.inside = None, False

    @property
    def fresh(self) -> bool:
        """Whether nothing has been seen yet: the state that a plant starts from is to be looked at too."""
        return self._gimbals[0].seen is None

    def look(self, time: float, x: Array) -> None:
        """Look at the state ``x``."""
        told = [text for g in self._gimbals if (text := g.look(time, [*x[g.angles].tolist(), x.item(g.rate)]))]
        if told:
            self._warn(told)

    def rows(self, times: Array, values: Array) -> None:
        """Look at the outputs ``values`` (n, 4 for each joint) at `picks` of many steps."""
        told: list[str] = []
        for place, gimbal in enumerate(self._gimbals):
            told += gimbal.rows(times, values[:, 4 * place : 4 * place + 4])
        self._warn(told)

    @staticmethod
    def _warn(told: list[str]) -> None:
        for text in told:
            warnings.warn(text, SingularityWarning, stacklevel=4)


@dataclass(slots=True)
class _Look:
    """What was seen of a joint: ``values`` are its three angles and the rate of the middle one."""

    time: float
    values: list[float]
    margin: float


class _Gimbal:
    """One joint: where its ``angles`` and its middle ``rate`` lie in ``x``, the same in ``y``, and the last look."""

    def __init__(self, body: Body, ports: Ports) -> None:
        self.name, self.free = f"{body.name}.joint", any(motion != "prescribed" for motion in body.joint.motion[-3:])
        angle, rate = ports.states[f"{self.name}.angle"], ports.states[f"{self.name}.rate"]
        assert angle.state is not None
        assert rate.state is not None
        self.angles, self.rate = slice(angle.state, angle.state + 3), rate.state + 1
        self.seen_in_y = NOWHERE not in (angle.offset, rate.offset)
        self.outputs = [angle.offset, angle.offset + 1, angle.offset + 2, rate.offset + 1]
        self.axes = ports.by_name[f"{self.name}.axis"].places
        self.phase = 0.0
        self.seen: _Look | None = None
        self.inside = False

    def turn(self, p: Array) -> None:
        """Take over the axes in ``p``."""
        first, middle, last = p[self.axes].reshape(-1, 3)[-3:]
        unit = middle / np.linalg.norm(middle)
        across = np.cross(unit, last)
        self.phase = math.atan2(first @ np.cross(unit, across), first @ across)

    def look(self, time: float, values: list[float]) -> str | None:
        """What to say of ``values`` at ``time``, if a passage begins there or fell between them and the last ones."""
        margin, seen, was_inside = math.cos(values[1] - self.phase), self.seen, self.inside
        if seen is not None and (margin > CLOSE < seen.margin or margin < -CLOSE > seen.margin):
            seen.time, seen.values, seen.margin = time, values, margin
            return None
        now = _Look(time, values, margin)
        self.seen = now
        self.inside = abs(now.margin) < (LEFT if was_inside else NEAR)
        if was_inside:
            return None
        if self.inside:
            return self._told(time, values)
        share = None if seen is None else self._between(seen, now)
        if seen is None or share is None:
            return None
        values = [a + share * (b - a) for a, b in zip(seen.values, values, strict=True)]
        if now.margin * seen.margin > 0.0:
            values[1] = seen.values[1] + seen.values[3] * share * (time - seen.time)
        return self._told(seen.time + share * (time - seen.time), values)

    def _between(self, seen: _Look, now: _Look) -> float | None:
        """The share of the time between two looks after which the margin was zero or seems to have turned at it."""
        if now.margin * seen.margin <= 0.0:
            return seen.margin / (seen.margin - now.margin)
        if not self.free or max(abs(seen.margin), abs(now.margin)) > CLOSE:
            return None
        begin, end = (self._slope(look) * (now.time - seen.time) for look in (seen, now))
        if not begin < 0.0 < end:
            return None
        share = min(max((abs(now.margin) - abs(seen.margin) - end) / (begin - end), 0.0), 1.0)
        return share if abs(seen.margin) + begin * share < NEAR else None

    def _slope(self, look: _Look) -> float:
        """Rate of the margin's size."""
        return -math.copysign(1.0, look.margin) * math.sin(look.values[1] - self.phase) * look.values[3]

    def rows(self, times: Array, values: Array) -> list[str]:
        """What to say of many looks; nearly all are of joints that are far away, and cost a cosine each."""
        margins = np.cos(values[:, 1] - self.phase)
        before = margins[:1] if self.seen is None else [self.seen.margin]
        every = np.concatenate([before, margins])
        far = CLOSE if self.free else NEAR
        if not self.inside and np.abs(every).min(initial=1.0) >= far and (every[1:] * every[:-1] > 0.0).all():
            if len(times):
                self.seen = _Look(float(times[-1]), values[-1].tolist(), float(margins[-1]))
            return []
        looks = (self.look(time, row) for time, row in zip(times.tolist(), values.tolist(), strict=True))
        return [text for text in looks if text]

    def _told(self, time: float, values: Sequence[float]) -> str:
        degrees = ", ".join(f"{math.degrees(angle):.6g}" for angle in values[:3])
        return (
            f"{self.name}: near its middle-angle singularity at {time:.9g} s, angles {degrees} deg; its axes span no "
            "volume there, and free rates grow without bound: use a spherical joint, or axes that keep away from it"
        )


def tell_of_angles(model: Model, run: Run) -> None:
    """Warn of chosen Euler angles of ``model`` that came near where first and third turn about one line, at the rows
    of ``run`` where they were recorded."""
    for output in model.chosen_outputs:
        name = f"output.{output.name}[2]"
        if output.sequence and name in run.names:
            three = len(set(output.sequence)) == 3
            margins = np.abs((np.cos if three else np.sin)(run[name]))
            at = int(np.argmin(margins)) if len(run) else 0
            if len(run) and margins[at] < NEAR:
                text = (
                    f"output.{output.name}: Euler angles {output.sequence} near their singularity at "
                    f"{run.time[at]:.9g} s, where first and third turn about one line: take another sequence, "
                    'kind = "relative_attitude" or "matrix"'
                )
                warnings.warn(text, SingularityWarning, stacklevel=3)


def watch(model: Model, ports: Ports) -> Watch | None:
    """The watch over the joints of ``model`` that have three successive rotations; None where there are none."""
    gimbals = [_Gimbal(body, ports) for body in model.bodies if len(body.joint.rotations) == 3]
    return Watch(gimbals) if gimbals else None
