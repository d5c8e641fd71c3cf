"""Flexible bodies as other programs write them: a file of 42, a space frame as matrices and as Nastran has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

Frame = tuple[np.ndarray, np.ndarray, dict[int, tuple[float, float, float]], list[tuple[int, int]]]


def file_of_42(linear: str = "0", angular: str = "0", locations: str = "") -> str:
    """A file in the format of 42's ``InOut/Flex_Simple.txt``: two modes of a particle about its origin."""
    return f"""<<<<<<<<<<<<<<  Flexible Body Inputs for 42  >>>>>>>>>>>>>>>>>>>
Particle                             ! Description
2                                    ! Number of Flex Modes
****************** Initial Modal States x, u  ******************
1.0E-6  0.0                          ! Mode 0  x, u
1.0E-6  0.0                          ! Mode 1  x, u
{locations}****************** Joint Node Mode Shapes *********************
*******  Non-zero Translation Mode Shape (PSI) Elements ********
1                                  ! Number of non-zero elements
  0  3  0  0.5                     ! [Mode] [Node] [Axis] Value
*******  Non-zero Rotation Mode Shape (THETA) Elements ********
0                                  ! Number of non-zero elements
**************** Analysis Node Mode Shapes *********************
*******  Non-zero Translation Mode Shape (PSI) Elements ********
3                                  ! Number of non-zero elements
  0  0  0  0.1                     ! [Mode] [Node] [Axis] Value
  0  0  1  0.2
  1  0  2  0.3
*******  Non-zero Rotation Mode Shape (THETA) Elements ********
1                                  ! Number of non-zero elements
  1  1  2  0.7
****************  Non-zero Mass Matrix Elements ******************
2                                  ! Number of non-zero elements
0 0    0.1                         ! [Row] [Col] Value
1 1    0.18
*************  Non-zero Stiffness Matrix Elements ****************
2
0 0    39.478                      ! [Row] [Col] Value (1 Hz)
1 1    3947.8
*************  Non-zero Damping Matrix Elements ****************
2
0 0    0.012566
1 1    0.12566
*********  Linear Momentum Modal Integral, Pf, 3 x Nf  *********
0.2 0.4 0.0                        ! Mode 0, [x y z]
0.0 0.0 0.6
********  Angular Momentum Modal Integral, Hf, 3 x Nf  *********
0.0 0.0 1.0
0.6 -1.8 0.0
**********  Linear Modal Integral, L, 3 x 3 x Nf  **************
{linear}
*********  Angular Modal Integral, N, 3 x 3 x Nf x Nf  *********
{angular}
[EOF]
"""


def frame(n: int = 30, axial: float = 1e6) -> Frame:
    """Mass, stiffness, places and freedoms of the boom above as n elements of a space frame, free at both ends."""
    h, size = 2.3 / n, 6 * (n + 1)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    k = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                  [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]) / h**3  # fmt: skip
    m = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
                  [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]) * 0.7 * h / 420  # fmt: skip
    rod, mean, sign = np.array([[1, -1], [-1, 1]]) / h, np.array([[2, 1], [1, 2]]) * h / 6, np.array([1, -1, 1, -1])
    for e in range(n):
        for rows, own, heavy in (
            ([1, 5, 7, 11], 11.0 * k, m),
            ([2, 4, 8, 10], 5.0 * k * np.outer(sign, sign), m * np.outer(sign, sign)),
            ([0, 6], axial * rod, 0.7 * mean),
            ([3, 9], 3.0 * rod, 0.02 * mean),
        ):
            part = np.ix_([6 * e + row for row in rows], [6 * e + row for row in rows])
            K[part] += own
            M[part] += heavy
    places = {100 + i: (i * h, 0.0, 0.0) for i in range(n + 1)}
    return M, K, places, [(100 + i, d) for i in range(n + 1) for d in range(1, 7)]


def nastran_files(folder: Path) -> Frame:
    """A bulk data file of grid points and a punch file of DMIG as Nastran writes them."""
    M, K, places, freedoms = frame(6)
    lines = []
    for name, matrix in (("KAAX", K), ("MAAX", M)):
        lines.append(f"DMIG    {name:<8}{0:>8}{6:>8}{2:>8}{0:>8}")
        for j, (node, freedom) in enumerate(freedoms):
            rows = [i for i in range(j, len(freedoms)) if matrix[i, j]]
            lines.append(f"{'DMIG*':<8}{name:<16}{node:>16}{freedom:>16}")
            for i in rows:
                value = f"{matrix[i, j]:>16.9E}".replace("E", "D")
                lines.append(f"{'*':<8}{freedoms[i][0]:>16}{freedoms[i][1]:>16}{value}")
    (folder / "boom.pch").write_text("\n".join(lines) + "\n")
    grids = [f"GRID,{node},,{x:.7f},{y},{z}" for node, (x, y, z) in places.items()]
    (folder / "boom.bdf").write_text("\n".join(["SOL 103", "CEND", "BEGIN BULK", *grids, "ENDDATA", ""]))
    return M, K, places, freedoms
