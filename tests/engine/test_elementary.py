"""Elementary functions in C against extended precision."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.core.library import text_of

HERE = ("sin", "cos", "tan", "asin", "acos", "atan", "tanh", "exp", "log", "log1p")
OF_TWO = ("atan2", "hypot", "pow")
SHOWN = "".join(
    f"""__attribute__((visibility("default"))) void show_{name}(const double *x, double *r, int n) {{
    for (int i = 0; i < n; i++) r[i] = mbdy_{name}({"x[2 * i], x[2 * i + 1]" if name in OF_TWO else "x[i]"});
}}
"""
    for name in HERE + OF_TWO
)
EXTENDED = np.finfo(np.longdouble).eps < 1e-18
"""Without extended precision the reference has half a unit's error itself."""


@pytest.fixture(scope="module")
def library():
    files = {name: text_of(name) for name in ("prefix.h", "real.h", "elementary.h", "elementary.c")}
    files["shown.c"] = f'#include "elementary.h"\n{SHOWN}'
    return ctypes.CDLL(str(shared_library(files, compiler(), FLAGS, LINK)))


def found(library: ctypes.CDLL, name: str, x: np.ndarray) -> np.ndarray:
    result = np.empty(len(x) // 2 if name in OF_TWO else len(x))
    getattr(library, f"show_{name}")(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(result.ctypes.data), len(result))
    return result


def signed(draw: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    return draw.choice((-1.0, 1.0), n) * 10 ** draw.uniform(low, high, n)


def near_quarters(draw: np.random.Generator, n: int) -> np.ndarray:
    """Angles that are almost whole quarter turns, small and large."""
    return np.floor(10 ** draw.uniform(0, 12, n)) * (np.pi / 2) * (1 + signed(draw, -17, -1, n))


@pytest.mark.parametrize(
    ("name", "bound", "points"),
    [
        *((name, 1.0, [lambda d, n: d.uniform(-4, 4, n), lambda d, n: d.uniform(-1e6, 1e6, n), near_quarters,
                       lambda d, n: signed(d, -20, 18, n)]) for name in ("sin", "cos")),
        ("tan", 2.0, [lambda d, n: d.uniform(-4, 4, n), near_quarters]),
        *((name, 2.5, [lambda d, n: d.uniform(-1, 1, n), lambda d, n: signed(d, -20, 0, n)])
          for name in ("asin", "acos")),
        ("atan", 1.0, [lambda d, n: d.uniform(-3, 3, n), lambda d, n: signed(d, -300, 300, n)]),
        ("tanh", 1.5, [lambda d, n: d.uniform(-2, 2, n), lambda d, n: signed(d, -300, 2, n)]),
        ("exp", 1.0, [lambda d, n: d.uniform(-700, 709, n), lambda d, n: signed(d, -20, 0, n)]),
        ("log", 1.0, [lambda d, n: np.abs(signed(d, -300, 300, n)), lambda d, n: d.uniform(0.9, 1.1, n)]),
        ("log1p", 1.5, [lambda d, n: d.uniform(-0.99, 2, n), lambda d, n: np.abs(signed(d, -300, 300, n))]),
        ("atan2", 1.5, [lambda d, n: signed(d, -9, 9, 2 * n)]),
        ("hypot", 1.5, [lambda d, n: signed(d, -9, 9, 2 * n), lambda d, n: signed(d, -300, 300, 2 * n)]),
        ("pow", 1.5, [lambda d, n: d.uniform(0.01, 30, 2 * n)]),
    ],
)  # fmt: skip
def test_errors_are_below_their_bounds_in_units_of_the_last_place(library, name, bound, points):
    numbers = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
    draw = np.random.default_rng(5)
    for some in points:
        x = some(draw, 20000)
        given = x.astype(np.longdouble)
        function = getattr(np, numbers.get(name, name))
        exact = function(*given.reshape(-1, 2).T) if name in OF_TWO else function(given)
        value = found(library, name, x)
        usual = np.abs(exact) > 1e-300
        units = np.abs(value - exact)[usual] / np.spacing(np.abs(exact[usual]).astype(float))
        assert units.max() < bound + (0.0 if EXTENDED else 1.0)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("sin", [0.0, np.inf, np.nan, 5e-324], [0.0, np.nan, np.nan, 5e-324]),
        ("cos", [0.0, -np.inf], [1.0, np.nan]),
        ("exp", [710.0, -750.0, np.inf, -np.inf, np.nan, -740.0], [np.inf, 0.0, np.inf, 0.0, np.nan, np.exp(-740.0)]),
        ("log", [0.0, -1.0, np.inf, 5e-324], [-np.inf, np.nan, np.inf, np.log(5e-324)]),
        ("log1p", [-1.0, -2.0, np.inf], [-np.inf, np.nan, np.inf]),
        ("tanh", [np.inf, -np.inf, np.nan], [1.0, -1.0, np.nan]),
        ("atan", [np.inf, -np.inf, np.nan], [np.pi / 2, -np.pi / 2, np.nan]),
        ("acos", [1.0, -1.0, 2.0], [0.0, np.pi, np.nan]),
        ("atan2", [[0.0, -1.0], [-0.0, -1.0], [0.0, 0.0], [1.0, 0.0], [np.inf, -np.inf], [np.nan, 1.0]],
         [np.pi, -np.pi, 0.0, np.pi / 2, 3 * np.pi / 4, np.nan]),
        ("pow", [[0, 0], [0, -1], [-0.0, -1], [-2, 3], [-2, 0.5], [2, np.inf], [2, 1024], [2, -1074], [-8, 1e300],
                 [np.nan, 0]], [1, np.inf, -np.inf, -8, np.nan, np.inf, np.inf, 5e-324, np.inf, 1]),
        ("hypot", [[np.inf, np.nan], [3, 4], [0, 0]], [np.inf, 5, 0]),
    ],
)  # fmt: skip
def test_what_is_beyond_is_as_in_the_standard_of_c(library, name, x, expected):
    np.testing.assert_array_equal(found(library, name, np.array(x, dtype=float).ravel()), expected)
