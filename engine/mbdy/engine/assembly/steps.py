"""Steps that close the loops of a mechanism, as far as they lead.

Newton's steps of least norm, damped as Levenberg and Marquardt do (J. Fan, Y. Yuan, Computing 74 (2005): damping in
proportion to the error keeps them quadratic where rows are redundant). Metres count as radians times the size of the
mechanism, or what parts its loops where that is more; modes by the root of their strain energy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbdy.engine.assembly.kinematics import Mechanism, State

CLOSED = 1e-11
"""Errors of closure below this, relative to the size of the mechanism, are rounding and left alone."""
SPREADS = (0.1, 0.3, 0.3, 1.0, 1.0, 2.0)
"""[rad] Standard deviations of the starts that are tried where the given one leads nowhere."""
STEPS = 80
LONGEST = 0.5
"""[rad] Longest turn in one step."""
SOFT = 1e-12
"""Modes whose stiffness is below this, relative to the stiffest, have no strain energy to go by."""


def origins(mechanism: Mechanism, start: State, free: np.ndarray) -> Iterator[State]:
    """The start, then others about it."""
    yield start
    random = np.random.default_rng(0)
    scale = column_scale(mechanism)
    for spread in SPREADS:
        yield mechanism.moved(start, spread * scale * random.normal(size=len(free)) * (free & ~mechanism.modal))


def approached(mechanism: Mechanism, state: State, free: np.ndarray) -> State:
    """``state`` moved in the columns ``free`` towards closure, as near as steps of descent get."""
    modal, damping = mechanism.modal, 1e-2
    error, descent = errors(mechanism, state)
    softened = _softened(mechanism)
    for _ in range(STEPS):
        if is_closed(mechanism, state) or damping > 1e8:
            break
        size = float(np.linalg.norm(error))
        spread = softened * np.where(_sliding(mechanism), max(1.0, _apart(mechanism, error)), 1.0)
        weighed = descent @ spread
        u, s, v = np.linalg.svd(weighed[:, free], full_matrices=False)
        gain = np.where(s > 1e-12 * s[0], s / (s**2 + damping * size), 0.0) if s[0] > 0 else s
        step = np.zeros(len(free))
        step[free] = -(v.T @ (gain * (u.T @ error)))
        bent = weighed[:, modal] @ step[modal]  # by what they do: how large modal displacements are means nothing
        longest = float(np.abs(np.concatenate([step[~modal], bent])).max())
        step = spread @ step * min(1.0, LONGEST / max(longest, 1e-300))
        tried = mechanism.moved(state, step)
        new_error, new_descent = errors(mechanism, tried)
        if float(np.linalg.norm(new_error)) < size:
            state, error, descent, damping = tried, new_error, new_descent, max(damping / 5, 1e-10)
        else:
            damping *= 10
    return state


def errors(mechanism: Mechanism, state: State) -> tuple[np.ndarray, np.ndarray]:
    """How far the loops are from closed (rows), and what lessens it by columns; metres by the size."""
    closures, rows = mechanism.closures(state), row_scale(mechanism)
    error = np.concatenate([c.error for c in closures]) * rows
    return error, np.vstack([c.descent for c in closures]) * rows[:, None]


def is_closed(mechanism: Mechanism, state: State) -> bool:
    """Whether all loops are closed to rounding, none of them mirrored."""
    closures = mechanism.closures(state)
    residual = np.concatenate([c.residual for c in closures]) * row_scale(mechanism)
    far = [float(np.abs(state[mechanism.names[mechanism.columns[i].start]]).max()) for i in mechanism.tied
           if i >= 0 and mechanism.bodies[i].joint.floating]  # fmt: skip
    rounding = 1e-14 * max([0.0, *far]) / mechanism.size
    return bool(np.abs(residual).max() <= CLOSED + rounding) and not any(c.mirrored for c in closures)


def row_scale(mechanism: Mechanism) -> np.ndarray:
    """What each row of the loops is multiplied with to be compared: radians, and metres by the size."""
    turning = [row <= 3 for loop in mechanism.loops for row in loop.rows or (4,)]
    return np.where(turning, 1.0, 1.0 / mechanism.size)


def column_scale(mechanism: Mechanism) -> np.ndarray:
    """How much of each column counts as one radian."""
    return np.where(_sliding(mechanism), mechanism.size, 1.0)


def _sliding(mechanism: Mechanism) -> np.ndarray:
    return ~(np.array(mechanism.angular, dtype=bool) | mechanism.modal)


def _apart(mechanism: Mechanism, error: np.ndarray) -> float:
    """The largest gap of the loops, in sizes of the mechanism."""
    moving = [row > 3 for loop in mechanism.loops for row in loop.rows or (4,)]
    return float(np.abs(error[moving]).max(initial=0.0))


def _softened(mechanism: Mechanism) -> np.ndarray:
    """Columns from steps that count alike (n, n): modes by the root of their strain energy, the softest as one radian.

    Where some mode has no stiffness all count as they are.
    """
    spread = np.diag(column_scale(mechanism))
    stiff = [np.array(body.flex.stiffness, dtype=float) if body.flex else np.zeros((0, 0)) for body in mechanism.bodies]
    values = np.concatenate([np.linalg.eigvalsh(own) for own in stiff if own.size] or [np.zeros(0)])
    if values.size and values.min() > SOFT * values.max():
        for modes, own in zip(mechanism.modes, stiff, strict=True):
            if own.size:
                spread[modes, modes] = np.linalg.inv(np.linalg.cholesky(own)).T * np.sqrt(values.min())
    return spread
