"""Arguments of MBDY and MRATE: what is taken, what is ignored, what is refused and how it is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jpl_systems import MRATE, five_body, random_arguments
from mbdy.blocks import StateError
from mbdy.blocks.jpl import MBDY, MBDYL, MBDYPL, MBDYTL, ArgumentError

NAN = float("nan")


@pytest.fixture(scope="module")
def m() -> MBDY:
    return MBDY(**five_body())


@pytest.fixture(scope="module")
def given() -> dict[str, np.ndarray]:
    return random_arguments(np.random.default_rng(1974), 4)


def changed(name: str, place: tuple[int, ...], value: float) -> dict[str, Any]:
    """Arguments of MBDY with one element changed; indices count from 1, as the report's do."""
    array = np.array(five_body()[name], dtype=float)
    array[tuple(i - 1 for i in place)] = value
    return five_body(**{name: array})


def one_body(**changes: Any) -> dict[str, Any]:
    """Arguments of MBDY for body 0 alone."""
    return {"NH": 0, "MB": five_body()["MB"], **{name: [] for name in ("H", "MA", "PB", "PA", "G", "PI")}} | changes


def test_arguments_come_in_order_or_by_name(m: MBDY, given):
    WDOT = m.MRATE(*(given[name] for name in MRATE))
    assert WDOT.shape == (7,)
    np.testing.assert_array_equal(WDOT, m.MRATE(**given))
    np.testing.assert_array_equal(WDOT, m.MRATE(*(given[name].tolist() for name in MRATE)))


def test_a_result_is_its_own_or_where_it_is_wanted(m: MBDY, given):
    first = m.MRATE(**given)
    kept, wanted = first.copy(), np.empty(7)
    second = m.MRATE(**given | {"TB": 2 * given["TB"]}, WDOT=wanted)
    assert second is wanted
    assert not np.array_equal(second, kept)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(m.MRATE(**given), kept)  # nothing stays from call to call


def test_products_of_inertia_are_minus_the_tensor_s():
    """Of one body alone: the equations of Euler with the tensor written out."""
    J = np.array([[115, -14, 14], [-14, 316, -34.6], [14, -34.6, 440]])
    T, W = np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, -0.3])
    none, empty = [], np.zeros((0, 3))
    one = MBDY(0, none, five_body()["MB"], np.zeros((0, 7)), empty, np.zeros((0, 0, 3)), empty, none)
    WDOT = one.MRATE(none, T, empty, [5, 6, 7], empty, none, none, none, W)
    np.testing.assert_allclose(WDOT, np.linalg.solve(J, T - np.cross(W, J @ W)), rtol=1e-13)


def test_what_the_report_ignores_may_be_anything(given):
    system = five_body(PI=[1, 0, 0, 1])
    wanted = MBDY(**system).MRATE(**given)
    PB, PA = np.full((4, 3), NAN), np.full((4, 4, 3), NAN)
    for row in (0, 2):
        PB[row] = system["PB"][row]
    for row in ((0, 0), (0, 1), (1, 1), (2, 2), (2, 3), (3, 3)):
        PA[row] = system["PA"][row]
    m = MBDY(**system | {"PB": PB, "PA": PA})
    ignored = {"TH": given["TH"].copy(), "GMDD": given["GMDD"].copy()}
    ignored["TH"][[0, 3]] = ignored["GMDD"][[1, 2]] = NAN
    np.testing.assert_array_equal(m.MRATE(**given | ignored), wanted)


def test_an_axis_is_a_direction(given):
    longer = five_body(G=7.0 * np.array(five_body()["G"]))
    np.testing.assert_allclose(MBDY(**longer).MRATE(**given), MBDY(**five_body()).MRATE(**given), rtol=1e-13)


@pytest.mark.parametrize("subroutine", [MBDY, MBDYTL, MBDYL, MBDYPL])
def test_prescribed_accelerations_are_returned(subroutine, given):
    more = {"LI": [0, 0, 1, 1]} if subroutine is MBDYPL else {}
    m = subroutine(**five_body(PI=[0, 1, 1, 0]), **more)
    np.testing.assert_array_equal(m.MRATE(**given)[[4, 5]], given["GMDD"][[1, 2]])


BAD = [
    (five_body(NH=2.5), "NH: must be the number of hinges, an integer >= 0, got 2.5"),
    (five_body(NH=-1), "NH: must be"),
    (five_body(NH=3), "H: must be an array (3), got an array (4)"),
    (five_body(H=[0, 3, 2, 1]), "H(2): must be less than 2, got 3; there is a cycle of bodies, 2 -> 3 -> 2"),
    (five_body(H=[0, 2, 0, 3]), "H(2): must be less than 2, got 2; there is a cycle of bodies, 2 -> 2"),
    (five_body(H=[0, 3, 0, 3]), "H(2): must be less than 2, got 3; labels rise outward from body 0"),
    (five_body(H=[0, 1.5, 0, 3]), "H(2): must be the index of a body, an integer from 0 to 1, got 1.5"),
    (five_body(H=[0, 1, 0, 9]), "H(4): must be the index of a body, an integer from 0 to 3, got 9"),
    (five_body(H=[0, -1, 0, 3]), "H(2): must be the index of a body"),
    (five_body(PI=[0, 0, 2, 0]), "PI(3): must be 0 or 1, got 2; PI has a flag for each hinge"),
    (five_body(PI=[5]), "PI: must be an array (4), got an array (1)"),
    (five_body(MB="x"), "MB: must be an array (7) of numbers, got 'x'"),
    (five_body(MB=1.0), "MB: must be an array (7), got a single number"),
    (five_body(MA=np.zeros((3, 7))), "MA: must be an array (4,7), got an array (3,7)"),
    (five_body(PA=np.zeros((4, 3))), "PA: must be an array (4,4,3), got an array (4,3)"),
    (changed("MA", (2, 7), -1.0), "MA(2,7): a mass must be >= 0 kg, got -1"),
    (changed("MB", (5,), NAN), "MB(5): must be finite, got nan"),
    (changed("PB", (3, 2), np.inf), "PB(3,2): must be finite, got inf"),
    (changed("PA", (1, 2, 3), NAN), "PA(1,2,3): must be finite, got nan"),
    (changed("G", (2, 1), NAN), "G(2,1): must be finite, got nan"),
    (changed("G", (2, 1), 0.0), "G(2,1..3): an axis must not be zero"),
    (changed("MA", (2, 1), -4.85), "MA(2,1..6) of body 2: has a negative principal moment"),
    (changed("MB", (1,), -115.0), "MB(1..6) of body 0: has a negative principal moment"),
    (five_body(MA=np.zeros((4, 7))), "G(1,1..3) of body 1: its rotation moves no inertia"),
    (one_body(MB=[0, 0, 0, 0, 0, 0, 5]), "MB(1..6) of body 0: rotation about x, rotation about y and rotation"),
    (five_body(MB=np.zeros(7), MA=np.zeros((4, 7))), "MB(7): the system has no mass"),
]  # fmt: skip


@pytest.mark.parametrize(("system", "said"), BAD, ids=[said.partition(";")[0][:40] for _, said in BAD])
def test_bad_constants_are_refused(system: dict[str, Any], said: str):
    with pytest.raises(ArgumentError) as refused:
        MBDY(**system)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TH", 1.0, "TH: must be an array (4), got a single number"),
        ("TA", np.zeros(3), "TA: must be an array (4,3), got an array (3)"),
        ("FB", None, "FB: must be an array (3)"),
        ("GM", "abcd", "GM: must be an array (4)"),
        ("GMD", ["a"] * 4, "GMD: must be an array (4) of numbers"),
        ("WO", [0.0, NAN, 0.0], "WO(2): must be finite, got nan"),
        ("FA", [[0, 0, 0], [0, 0, np.inf], [0, 0, 0], [0, 0, 0]], "FA(2,3): must be finite, got inf"),
        ("GMDD", [0, 0, 0], "GMDD: must be an array (4), got an array (3)"),
        ("GMDD", [NAN, 0, 0, NAN], "GMDD(4): must be finite where PI = 1, got nan"),
    ],
)
def test_bad_arguments_of_mrate_are_refused(name: str, value: Any, said: str, given):
    m = MBDY(**five_body(PI=[0, 0, 0, 1]))
    with pytest.raises(ArgumentError) as refused:
        m.MRATE(**given | {name: value})
    assert said in str(refused.value)
    assert np.isfinite(m.MRATE(**given)).all()


@pytest.mark.parametrize("n", [0, 4])
@pytest.mark.parametrize("kind", ["int", "float32", "2d", "short", "list", "read-only", "number"])
def test_a_result_goes_only_where_it_fits(n: int, kind: str):
    m = MBDY(**(one_body() if n == 0 else five_body()))
    zeros = np.zeros(n + 3)
    fixed = zeros.copy()
    fixed.flags.writeable = False
    wanted = {
        "int": zeros.astype(int), "float32": zeros.astype(np.float32), "2d": np.zeros((2, n + 3)), "short": zeros[1:],
        "list": zeros.tolist(), "read-only": fixed, "number": 1.0,
    }[kind]  # fmt: skip
    given = random_arguments(np.random.default_rng(1), n)
    with pytest.raises(ArgumentError, match=rf"WDOT: must be a writable NumPy array \({n + 3}\) of float64, got"):
        m.MRATE(**given, WDOT=wanted)
    assert not np.any(wanted) or kind == "number"


def test_without_hinges_nothing_is_an_empty_list():
    m = MBDY(**one_body())
    none: dict[str, Any] = {name: [] for name in ("TH", "TA", "FA", "GM", "GMD", "GMDD")}
    given = none | {"TB": [1, 2, 3], "FB": [0, 0, 0], "WO": [0.1, 0.2, 0.3]}
    whole = given | {"TA": np.zeros((0, 3)), "FA": np.zeros((0, 3))}
    np.testing.assert_array_equal(m.MRATE(**given), m.MRATE(**whole))
    with pytest.raises(ArgumentError, match=r"TA: must be an array \(0,3\), got an array \(3\)"):
        m.MRATE(**given | {"TA": [1, 2, 3]})
    with pytest.raises(ArgumentError, match=r"GM: must be an array \(0\), got a single number"):
        m.MRATE(**given | {"GM": 1.0})


@pytest.mark.parametrize("subroutine", [MBDY, MBDYTL, MBDYL])
@pytest.mark.parametrize("name", ["TH", "TB", "TA", "FB", "FA"])
def test_an_infinite_load_is_refused_without_a_warning(subroutine, name: str, given):
    load = np.full_like(given[name], 0.0)
    load.flat[-1] = np.inf
    with pytest.raises(ArgumentError, match=rf"{name}\([\d,]+\): must be finite, got inf"):
        subroutine(**five_body()).MRATE(**given | {name: load})


def test_a_result_that_is_not_finite_is_told(m: MBDY, given):
    with pytest.raises(StateError, match="MBDY: the equations have no finite solution"):
        m.MRATE(**given | {"WO": [1e200, -1e200, 1e200]})
