"""Modes of a linear system: frequencies, damping ratios and shapes, with its rigid-body motions told apart.

Rigid-body motions are zero eigenvalues, several of one chain (a position and its speed), which rounding spreads over
circles of the square root of its size. So they are taken out first: the null space of A, then that of what is left,
until none is left (a staircase). All other eigenvalues are those of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.model.display import html_table

Array = NDArray[np.float64]

TOLD = 3
"""Of so many states, those of the largest shares, a mode says."""
ROUNDING = 1e-12
"""Singular values of a balanced A below this part of the largest are zero."""
SAME = 1e-12
"""Parts of an eigenvalue below this part of its size are zero."""


@dataclass(frozen=True, repr=False)
class Mode:
    """One mode: a pair of complex ``eigenvalue`` s (that with the positive imaginary part), or a real one [1/s].

    ``shape`` has the share of each state, complex, the largest of them 1. ``rigid`` modes are those of zero eigenvalue.
    """

    eigenvalue: complex
    shape: Mapping[str, complex]
    rigid: bool = False

    def __repr__(self) -> str:
        said = "rigid" if self.rigid else f"{self.frequency:.6g} rad/s, damping ratio {self.damping:.4g}"
        shares = sorted(self.shape.items(), key=lambda share: -abs(share[1]))[:TOLD]
        return f"<Mode: {said}; {', '.join(f'{name} {abs(share):.2g}' for name, share in shares)}>"

    @property
    def frequency(self) -> float:
        """Undamped frequency [rad/s], the eigenvalue's size."""
        return abs(self.eigenvalue)

    @property
    def damping(self) -> float:
        """Damping ratio: 1 of a decay without oscillation, 0 without damping, negative where it grows."""
        return 0.0 if self.rigid else 0.0 - self.eigenvalue.real / self.frequency

    @property
    def oscillates(self) -> bool:
        """Whether it stands for a pair of eigenvalues."""
        return self.eigenvalue.imag > 0.0


class ModeTable(tuple[Mode, ...]):
    """Modes in their order, a tuple that shows itself in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(f"{m.frequency:.6g}", f"{m.damping:.4g}", repr(m).rpartition("; ")[2].rstrip(">")) for m in self]
        return html_table(f"{len(self)} modes", ("frequency [rad/s]", "damping ratio", "largest shares"), rows)


def modes(A: Array, names: Sequence[str]) -> ModeTable:
    """The modes of ``e' = A e`` with states ``names``: rigid ones first, then by frequency."""
    from scipy.linalg import matrix_balance

    if not len(A):
        return ModeTable()
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    steps, rest = _staircase(balanced)
    shapes = []
    kept = np.eye(len(A))
    for _, null, others in steps:
        shapes += [Mode(0j, _shape(scale * column, names), rigid=True) for column in (kept @ null).T]
        kept = kept @ others
    values, vectors = np.linalg.eig(rest)
    for value, vector in zip(map(_clean, values.tolist()), vectors.T, strict=True):
        if value.imag >= 0.0:
            shapes.append(Mode(value, _shape(scale * _lifted(vector, value, steps), names)))
    return ModeTable(sorted(shapes, key=lambda mode: (not mode.rigid, mode.frequency, -mode.eigenvalue.real)))


def eigenvalues(A: Array) -> NDArray[np.complex128]:
    """All eigenvalues of ``A`` [1/s], rigid-body motions exactly zero, by size."""
    values = []
    for mode in modes(A, [str(i) for i in range(len(A))]):
        values += [mode.eigenvalue, mode.eigenvalue.conjugate()][: 1 + mode.oscillates]
    return np.array(values, dtype=complex)


def _clean(value: complex) -> complex:
    real, imaginary = (0.0 if abs(part) <= SAME * abs(value) else part for part in (value.real, value.imag))
    return complex(real, imaginary)


def _staircase(A: Array) -> tuple[list[tuple[Array, Array, Array]], Array]:
    """A and what is left of it, each with its null space and the complement, and the rest that has none."""
    steps: list[tuple[Array, Array, Array]] = []
    largest = float(np.linalg.norm(A, 2))
    while len(A):
        _, sizes, rows = np.linalg.svd(A)
        rank = int(np.sum(sizes > ROUNDING * largest))
        if rank == len(A):
            break
        null, others = rows[rank:].T, rows[:rank].T
        steps.append((A, null, others))
        A = others.T @ A @ others
    return steps, A


def _lifted(vector: NDArray[Any], value: complex, steps: list[tuple[Array, Array, Array]]) -> NDArray[Any]:
    """An eigenvector of what the staircase left, as one of A: each null space takes its share by ``A v = value v``."""
    for A, null, others in reversed(steps):
        vector = others @ vector + null @ (null.T @ A @ others @ vector) / value
    return vector


def _shape(vector: NDArray[Any], names: Sequence[str]) -> Mapping[str, complex]:
    largest = vector[int(np.argmax(np.abs(vector)))]
    return MappingProxyType(dict(zip(names, (vector / largest).astype(complex).tolist(), strict=True)))
