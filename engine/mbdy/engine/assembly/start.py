"""Closing loops at the start: coordinates moved until every loop is closed, speeds until it stays so.

What ``[initial]`` gives is held at first, and modes; prescribed degrees of freedom always are. The steps are those of
`mbdy.engine.assembly.steps`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbdy.engine.assembly.kinematics import Mechanism, State
from mbdy.engine.assembly.steps import CLOSED, approached, column_scale, errors, is_closed, origins, row_scale
from mbdy.engine.model.faults import Findings, ModelError, path_of
from mbdy.engine.model.system import Loop, Model

TOLD = 1e-6
"""[rad] or [m] Given start values that are moved further than this are warned of."""
RANK = 1e-9
"""Singular values below this, relative to the largest, count as zero."""
STILL = 1e-13
"""Coordinates that move less than this keep their bits."""


@dataclass(frozen=True)
class Assembly:
    """What closing the loops of a model took, and what it leaves.

    ``angle`` [rad] and ``distance`` [m]: the largest that a coordinate was moved by, and which one; quaternions
    by their angle. ``modal`` and ``speed``: the largest change of a modal displacement and of any speed. ``rows``:
    scalar constraints of the loops that are closed at the start; ``rank``: how many of them are independent there;
    ``degrees_of_freedom``: those of joints and modes that are not always prescribed, less the rank.
    """

    angle: float = 0.0
    angle_of: str = ""
    distance: float = 0.0
    distance_of: str = ""
    modal: float = 0.0
    speed: float = 0.0
    rows: int = 0
    rank: int = 0
    degrees_of_freedom: int = 0

    @property
    def moved(self) -> bool:
        """Whether the start was open by more than rounding."""
        return max(self.angle, self.distance, self.modal, self.speed) > TOLD

    @property
    def redundant(self) -> int:
        """Rows that only repeat what others hold."""
        return self.rows - self.rank


@np.errstate(all="ignore")
def assembled(model: Model, findings: Findings) -> Model:
    """``model`` with start values that close its loops; faults, and warnings of given values moved, to ``findings``.

    It is returned as it is where its loops are closed to rounding already.
    """
    mechanism = Mechanism(model)
    if not mechanism.loops:
        return model
    start = mechanism.start(model)
    choices = _choices(mechanism, model.initial, strict=False)
    try:
        state = _closed(mechanism, start, choices, findings)
        speeds = None if state is None else _tangent(mechanism, model, state, choices, findings)
    except np.linalg.LinAlgError:
        loop = path_of(("loop", mechanism.loops[0].name))
        message = "cannot be closed: its numbers are beyond what floats can hold"
        findings.refuse(loop, message, "check units and lengths")
        return model
    if state is None or speeds is None:
        return model
    result = replace(model, initial=_started(mechanism, model, start, state, speeds))
    _warn(model, result, findings)
    change = float(np.abs(speeds - mechanism.speeds(model)).max(initial=0.0))
    object.__setattr__(result, "assembly", replace(_told(mechanism, start, state), speed=change))
    return result


def assemble(model: Model) -> Model:
    """``model`` with start values that close its loops, for models made in Python; reading a file does it already.

    Raises `ModelError` where they cannot be closed.
    """
    findings = Findings()
    result = assembled(model, findings)
    if findings.faults:
        raise ModelError(model.source, findings.faults)
    return result


@np.errstate(all="ignore")
def kept(model: Model, given: Collection[str]) -> Model | None:
    """``model`` with start values that close its loops, those in ``given`` as they are; None where there are none.

    ``given`` has names of start values, ``base.position``, or of their elements, ``base.position[2]``.
    """
    mechanism, findings = Mechanism(model), Findings()
    if not mechanism.loops:
        return model
    start, choices = mechanism.start(model), _choices(mechanism, given, strict=True)
    try:
        state = _closed(mechanism, start, choices, findings)
        speeds = None if state is None else _tangent(mechanism, model, state, choices, findings)
    except np.linalg.LinAlgError:
        return None
    if state is None or speeds is None:
        return None
    return replace(model, initial=_started(mechanism, model, start, state, speeds))


def assembly(model: Model) -> Assembly:
    """What closing the loops of ``model`` took where it was read from a file, and the rank of their rows."""
    known = getattr(model, "assembly", None)
    if known is None:
        mechanism = Mechanism(model)
        state = mechanism.start(model)
        known = _told(mechanism, state, state)
    return known


def _closed(mechanism: Mechanism, start: State, choices: Choices, findings: Findings) -> State | None:
    """Coordinates in which all loops are closed; None where there are none, which ``findings`` tells."""
    if is_closed(mechanism, start):
        return start
    nearest = start
    for free in _tried(free for free, _ in choices):
        found = []
        for k, origin in enumerate(origins(mechanism, start, free)):
            state = approached(mechanism, origin, free)
            nearest = min(nearest, state, key=lambda state: float(np.linalg.norm(errors(mechanism, state)[0])))
            if is_closed(mechanism, state):
                found.append(_settled(mechanism, start, state))
                if k == 0:
                    break
        if found:
            return min(found, key=lambda state: float(np.linalg.norm(_moves(mechanism, start, state))))
    _tell_open(mechanism, nearest, findings)
    return None


Choices = Sequence[tuple[np.ndarray, np.ndarray]]
"""Columns that may move, of coordinates and of speeds, from few to many."""


def _choices(mechanism: Mechanism, given: Collection[str], *, strict: bool) -> Choices:
    """At first none that are ``given`` and no modes, in the end all but prescribed ones; ``strict``: and given ones."""
    movable = ~np.array(mechanism.prescribed, dtype=bool)
    modal = mechanism.modal
    held = [_held(mechanism, names, given) for names in (mechanism.names, mechanism.rates)]
    stages = [[movable & ~modal & ~own for own in held]]
    stages += [[movable & ~own for own in held]] if strict else [[movable & ~modal] * 2, [movable] * 2]
    return [(free, speeds) for free, speeds in stages]


def _held(mechanism: Mechanism, names: Sequence[str], given: Collection[str]) -> np.ndarray:
    """Which of the columns ``names`` are ``given``; of a quaternion all where one element is."""
    elements = [
        {name, *(f"{name}[{k + 1}]" for k in (range(4) if name in mechanism.attitudes else (names[:at].count(name),)))}
        for at, name in enumerate(names)
    ]
    return np.array([not own.isdisjoint(given) for own in elements], dtype=bool)


def _tried(stages: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Those of ``stages`` in which something moves, each once."""
    seen: set[bytes] = set()
    for free in stages:
        if free.any() and free.tobytes() not in seen:
            seen.add(free.tobytes())
            yield free


def _started(
    mechanism: Mechanism, model: Model, start: State, state: State, speeds: np.ndarray
) -> dict[str, tuple[float, ...]]:
    """Start values with those of ``state`` and ``speeds`` where they differ from ``start`` and those of ``model``."""
    initial = dict(model.initial)
    for name in mechanism.names:
        if not np.array_equal(state[name], start[name]):
            initial[name] = tuple(state[name].tolist())
    before = mechanism.speeds(model)
    for name in mechanism.rates:
        own = [k for k, other in enumerate(mechanism.rates) if other == name]
        if not np.array_equal(speeds[own], before[own]):
            initial[name] = tuple(speeds[own].tolist())
    return initial


def _settled(mechanism: Mechanism, start: State, state: State) -> State:
    """``state`` with the bits of ``start`` in what has not moved."""
    kept = {
        name: start[name] if np.allclose(value, start[name], rtol=STILL, atol=STILL) else value
        for name, value in state.items()
    }
    return kept if is_closed(mechanism, kept) else state


def _tangent(
    mechanism: Mechanism, model: Model, state: State, choices: Choices, findings: Findings
) -> np.ndarray | None:
    """Speeds by column that keep the loops closed; None where prescribed ones part them."""
    speeds, rows, columns = mechanism.speeds(model), row_scale(mechanism), column_scale(mechanism)
    rates = np.vstack([c.rate for c in mechanism.closures(state)]) * rows[:, None]
    size = max(1.0, float(np.abs(speeds / columns).max(initial=0.0)))
    left = rates @ speeds
    if np.abs(left).max() <= CLOSED * size:
        return speeds
    for free in _tried(free for _, free in choices):
        change = np.zeros(len(speeds))
        change[free] = -np.linalg.pinv((rates * columns)[:, free], rcond=RANK) @ (rates @ speeds)
        change[np.abs(change) <= STILL * np.abs(change).max(initial=0.0)] = 0.0
        left = rates @ (speeds + change * columns)
        if np.abs(left).max() <= CLOSED * size:
            return speeds + change * columns
    loop, text = _worst(mechanism, left / rows, rows, "/s")
    message = f"its places part at {text} at the start, however the degrees of freedom that are not prescribed move"
    remedy = "give the prescribed ones start speeds that agree in [initial], or free one of them"
    findings.refuse(path_of(("loop", loop.name)), message, remedy)
    return None


def _tell_open(mechanism: Mechanism, state: State, findings: Findings) -> None:
    """Refuse what cannot be closed; ``state`` is as near as it comes."""
    closures = mechanism.closures(state)
    rows, scale = row_scale(mechanism), column_scale(mechanism)
    residual = np.concatenate([c.residual for c in closures])
    mirrored = [loop for loop, c in zip(mechanism.loops, closures, strict=True) if c.mirrored]
    if mirrored and np.abs(residual * rows).max() < 1e-4:
        message = "closes only with axes opposed that should be aligned: the mirrored position"
        remedy = "turn frame_b by 180 deg, or check at, frame and axis of both sides"
        findings.refuse(path_of(("loop", mirrored[0].name)), message, remedy)
        return
    error = np.concatenate([c.error for c in closures])
    loop, text = _worst(mechanism, error, rows)
    path = path_of(("loop", loop.name))
    free = ~np.array(mechanism.prescribed, dtype=bool)
    around = [errors(mechanism, other)[1] * scale for other in origins(mechanism, state, free)]
    if any(_lessens(descent, free, error * rows) for descent in around):
        message = f"cannot be closed: {text} of error is left in the nearest position that was found"
        remedy = "check lengths, at and frame of what lies between its places, or start nearer to closure in [initial]"
    else:
        message = f"its rows contradict each other or the joints: {text} of error is left that no motion changes"
        remedy = (
            "check at, frame and axis of both sides (hinges of a planar mechanism are parallel), or hold fewer rows"
        )
    findings.refuse(path, message, remedy)


def _lessens(descent: np.ndarray, free: np.ndarray, error: np.ndarray) -> bool:
    """Whether some motion of the columns ``free`` changes ``error``."""
    u, s, _ = np.linalg.svd(descent[:, free], full_matrices=False)
    spanned = u[:, s > 1e-6 * s[0]] if s.size and s[0] > 0 else u[:, :0]
    return bool(np.linalg.norm(spanned.T @ error) > 1e-3 * np.linalg.norm(error))


def _worst(mechanism: Mechanism, error: np.ndarray, rows: np.ndarray, per: str = "") -> tuple[Loop, str]:
    """The loop with the largest error, and the length of that turning or displacement with its unit."""
    worst, at = (0.0, mechanism.loops[0], ""), 0
    for loop in mechanism.loops:
        turning = np.array([row <= 3 for row in loop.rows or (4,)])
        own, scale = error[at : at + loop.size], rows[at : at + loop.size]
        at += loop.size
        for what, of in (("deg", turning), ("m", ~turning)):
            length = float(np.linalg.norm(own[of]))
            shown = math.degrees(length) if what == "deg" else length
            weighed = float(np.linalg.norm((own * scale)[of]))
            worst = max(worst, (weighed, loop, f"{shown:.4g} {what}{per}"), key=lambda found: found[0])
    return worst[1], worst[2]


def _warn(model: Model, result: Model, findings: Findings) -> None:
    """Warn of values that the file gives and closing the loops has moved."""
    for name, given in model.initial.items():
        values = np.array(result.initial[name]) - np.array(given)
        moved = float(np.abs(values).max(initial=0.0))
        if moved > TOLD:
            to = ", ".join(f"{value:.9g}" for value in result.initial[name])
            message = f"does not agree with the loops and starts at [{to}], up to {moved:.3g} from what is given"
            findings.warn(f"initial.{name}", message, "leave it out, or give less of the start, for the loops to find")


def _told(mechanism: Mechanism, start: State, state: State) -> Assembly:
    free = ~np.array(mechanism.prescribed, dtype=bool)
    rates = [c.rate for c in mechanism.closures(state)]
    rows = sum(map(len, rates))
    scales = row_scale(mechanism)[:, None] * column_scale(mechanism)
    rank = _rank((np.vstack(rates) * scales)[:, free]) if rates else 0
    largest: dict[str, tuple[float, str]] = {"angle": (0.0, ""), "distance": (0.0, ""), "modal": (0.0, "")}
    moves = _moves(mechanism, start, state)
    for name, move, angular, modal in zip(mechanism.names, moves, mechanism.angular, mechanism.modal, strict=True):
        sort = "modal" if modal else "angle" if angular else "distance"
        if abs(move) > largest[sort][0]:
            largest[sort] = (float(abs(move)), name)
    return Assembly(
        *largest["angle"], *largest["distance"], largest["modal"][0],
        rows=rows, rank=rank, degrees_of_freedom=int(free.sum()) - rank,
    )  # fmt: skip


def _moves(mechanism: Mechanism, start: State, state: State) -> np.ndarray:
    """How far each column has moved: of a quaternion the whole angle, in its first column."""
    moves: list[float] = []
    for name in dict.fromkeys(mechanism.names):
        if name in mechanism.attitudes:
            p, q = start[name] / np.linalg.norm(start[name]), state[name] / np.linalg.norm(state[name])
            chord = min(float(np.linalg.norm(p - q)), float(np.linalg.norm(p + q)))
            moves += [4 * math.asin(min(1.0, chord / 2)), 0.0, 0.0]
        else:
            moves += (state[name] - start[name]).tolist()
    return np.array(moves)


def _rank(matrix: np.ndarray) -> int:
    if not matrix.size:
        return 0
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(values > RANK * values[0])) if values[0] > 0 else 0
