"""Systems in the arrays of JPL TR 32-1592 for tests: the report's vehicle, and random trees of hinged bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MRATE = ("TH", "TB", "TA", "FB", "FA", "GM", "GMD", "GMDD", "WO")


def five_body(**other: Any) -> dict[str, Any]:
    """Arguments of MBDY for the report's vehicle (Fig. 6), some of them replaced by ``other``."""
    MA, PB, PA = np.zeros((4, 7)), np.zeros((4, 3)), np.zeros((4, 4, 3))
    MA[0, [0, 1, 6]] = 0.35, 0.35, 6.8
    MA[1] = 4.85, 2.2, 5.5, -0.41, 0.07, -0.54, 57.5
    MA[3, [0, 1, 2, 6]] = 27.2, 0.2, 27.2, 10.7
    PB[0, 2], PB[2, 1] = -1.5, -1.2
    PA[0, 0, 2], PA[0, 1], PA[1, 1], PA[3, 3, 1] = -0.75, (0, -0.1, -0.75), (0, -0.22, 0.2), 3.3
    return {
        "NH": 4, "H": [0, 1, 0, 3], "MB": [115.0, 316.0, 440.0, 14.0, -14.0, 34.6, 410.0], "MA": MA, "PB": PB, "PA": PA,
        "G": [[0, 0, 1], [-1, 0, 0], [1, 0, 0], [0, 0, 1]], "PI": [0, 0, 0, 0],
    } | other  # fmt: skip


def random_system(rng: np.random.Generator) -> dict[str, Any]:
    """Arguments of MBDY for a random tree of 1 to 8 hinges, any of them prescribed."""
    n = int(rng.integers(1, 9))
    H = [int(rng.integers(max(0, k - 3), k)) for k in range(1, n + 1)]
    return with_other_numbers(rng, {"NH": n, "H": H, "PI": rng.integers(0, 2, n)})


def with_other_numbers(rng: np.random.Generator, system: dict[str, Any]) -> dict[str, Any]:
    """The same tree with the same prescribed hinges and random numbers; some links between others have no mass."""
    n, H = system["NH"], system["H"]
    MA = np.array([_constants(rng) for _ in range(n)])
    for k in range(1, n + 1):
        if k in H and rng.random() < 0.2:
            MA[k - 1] = 0.0
    return system | {
        "MB": _constants(rng), "MA": MA, "PB": rng.normal(size=(n, 3)), "PA": rng.normal(size=(n, n, 3)),
        "G": rng.normal(size=(n, 3)),
    }  # fmt: skip


def _constants(rng: np.random.Generator) -> Array:
    turned, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moment = rng.uniform(1.0, 50.0)
    J = turned @ np.diag(moment * rng.uniform(0.5, 1.0, 3)) @ turned.T
    return np.array([J[0, 0], J[1, 1], J[2, 2], -J[0, 1], -J[0, 2], -J[1, 2], rng.uniform(1.0, 100.0)])


def random_arguments(rng: np.random.Generator, n: int, **scales: float) -> dict[str, Array]:
    """Arguments of MRATE for ``n`` hinges, normally distributed, times a scale for each (1 where left out)."""
    shapes = dict.fromkeys(MRATE, (n,)) | {"TB": (3,), "TA": (n, 3), "FB": (3,), "FA": (n, 3), "WO": (3,)}
    return {name: scales.get(name, 1.0) * rng.normal(size=shape) for name, shape in shapes.items()}
