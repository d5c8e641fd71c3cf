"""MBDYTL, MBDYL and MBDYPL against MBDY: what is equal, what is ignored, and errors of the order they should have."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from jpl_systems import MRATE, five_body, random_arguments, random_system
from mbdy.blocks.jpl import MBDY, MBDYL, MBDYPL, MBDYTL, ArgumentError

NAN = float("nan")
EXACT = 1e-12
"""Of accelerations, relative to one: rounding of two ways to the same."""
QUICK, SYSTEMS = range(2), range(6)
"""Random trees; each compiles the equations of three subroutines."""


@pytest.fixture(params=[n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in SYSTEMS])
def drawn(request) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A random system and arguments of MRATE."""
    rng = np.random.default_rng(request.param)
    system = random_system(rng)
    return system, random_arguments(rng, system["NH"])


def at_rest(given: dict[str, np.ndarray], *more: str) -> dict[str, np.ndarray]:
    return given | {name: np.zeros_like(given[name]) for name in ("GMD", "WO", *more)}


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=EXACT * (1.0 + np.abs(b).max()))


def test_without_external_forces_the_linear_ones_agree_exactly(drawn):
    system, given = drawn
    given = given | {name: np.zeros_like(given[name]) for name in ("TB", "TA", "FB", "FA")}
    first, constant = MBDYTL(**system), MBDYL(**system)
    np.testing.assert_array_equal(first.MRATE(**given), constant.MRATE(**given))


def test_at_angles_of_zero_and_at_rest_all_are_one(drawn):
    system, given = drawn
    given = at_rest(given, "GM")
    wanted = MBDY(**system).MRATE(**given)
    close(MBDYTL(**system).MRATE(**given), wanted)
    close(MBDYL(**system).MRATE(**given), wanted)
    close(MBDYPL(**system, LI=np.ones(system["NH"])).MRATE(**given), wanted)


def test_unused_arguments_are_ignored(drawn):
    system, given = drawn
    for subroutine, ignored in ((MBDYTL, ("GMD", "WO")), (MBDYL, ("GM", "GMD", "WO"))):
        m = subroutine(**system)
        assert m.ignored == ignored
        wanted = m.MRATE(**given)
        for nothing in (None, NAN, np.full(system["NH"], NAN)):
            np.testing.assert_array_equal(m.MRATE(**given | dict.fromkeys(ignored, nothing)), wanted)


def test_what_is_added_up_is_added_up(drawn):
    """MBDYL is linear in all that it looks at."""
    system, given = drawn
    m = MBDYL(**system)
    close(m.MRATE(**{name: 3.0 * value for name, value in given.items()}), 3.0 * m.MRATE(**given))


@pytest.mark.parametrize("PI", [(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1)])
def test_first_order_geometry_is_right_to_first_order(PI: tuple[int, ...]):
    """Generalized forces of MBDYTL under a constant mass matrix: its error falls as the square of the angles.

    MBDY gives them too: its accelerations at rest, times its mass matrix, whose inverse it gives column by column.
    """
    system = five_body(PI=PI)
    exact, first = MBDY(**system), MBDYTL(**system)
    given = at_rest(random_arguments(np.random.default_rng(6), 4), "GMDD")
    free = np.flatnonzero([1, 1, 1, *(1 - np.array(PI))])

    def inverse(GM: np.ndarray) -> np.ndarray:
        columns = []
        for unit in np.eye(7)[free]:
            still = {name: np.zeros_like(value) for name, value in given.items()}
            columns.append(exact.MRATE(**still | {"TB": unit[:3], "TH": unit[3:], "GM": GM})[free])
        return np.array(columns).T

    def error(size: float) -> float:
        GM = size * given["GM"]
        forces = np.linalg.solve(inverse(GM), exact.MRATE(**given | {"GM": GM})[free])
        return float(np.abs(first.MRATE(**given | {"GM": GM})[free] - inverse(np.zeros(4)) @ forces).max())

    errors = [error(size) for size in (2e-2, 1e-2, 5e-3)]
    assert errors[0] > 1e-7
    for before, after in pairwise(errors):
        assert 3.8 < before / after < 4.2, errors


@pytest.mark.parametrize(
    ("LI", "TI"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1]),  # as in Fig. 17
        ([1, 1, 0, 0], [1, 1, 0, 0]),
        ([1, 1, 1, 1], [1, 1, 1, 1]),  # two appendages on body 0
        ([0, 1, 0, 1], [0, 0, 0, 1]),  # one body each, on 1 and on 3
        ([1, 0, 0, 0], [0, 0, 0, 0]),  # linear, but no terminal appendage
        ([0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_largest_terminal_appendage(LI: list[int], TI: list[int]):
    m = MBDYPL(**five_body(), LI=LI)
    assert m.TI.tolist() == TI
    assert m.TI.dtype.kind == "i"


def test_partly_linear_is_exact_where_linear_hinges_stand_still():
    """Any angles of the others, any rates of theirs; linear hinges at zero, prescribed to stay there."""
    system = five_body(PI=[0, 0, 1, 1])
    given = random_arguments(np.random.default_rng(8), 4)
    for name in ("GM", "GMD", "GMDD"):
        given[name][2:] = 0.0
    close(MBDYPL(**system, LI=[0, 0, 1, 1]).MRATE(**given), MBDY(**system).MRATE(**given))


def test_error_of_partly_linear_falls_as_the_square_of_what_is_small():
    system = five_body()
    exact, partly = MBDY(**system), MBDYPL(**system, LI=[0, 0, 1, 1])
    drawn = random_arguments(np.random.default_rng(9), 4, FB=0, FA=0, TA=0)

    def error(size: float) -> float:
        """Everything of first order but the platform's angles, so that accelerations are so too."""
        given = {name: size * value for name, value in drawn.items()}
        given["GM"][:2] = drawn["GM"][:2]
        return float(np.abs(partly.MRATE(**given) - exact.MRATE(**given)).max())

    errors = [error(size) for size in (2e-2, 1e-2, 5e-3)]
    for before, after in pairwise(errors):
        assert before / after > 3.8, errors


def test_without_linear_hinges_it_is_mbdy():
    given = random_arguments(np.random.default_rng(10), 4)
    np.testing.assert_array_equal(
        MBDYPL(**five_body(), LI=[0, 0, 0, 0]).MRATE(**given), MBDY(**five_body()).MRATE(**given)
    )


@pytest.mark.parametrize(
    ("LI", "said"),
    [
        ([0, 0, 3, 1], "LI(3): must be 0 or 1, got 3; LI has a flag for each hinge"),
        ([3, 4], "LI: must be an array (4), got an array (2)"),
    ],
)
def test_bad_flags_are_refused(LI: list[int], said: str):
    with pytest.raises(ArgumentError) as refused:
        MBDYPL(**five_body(), LI=LI)
    assert said in str(refused.value)


def test_the_four_are_interchangeable():
    """The same call goes to each."""
    given = random_arguments(np.random.default_rng(11), 4, GM=1e-4, GMD=1e-4, WO=1e-4)
    arguments = [given[name] for name in MRATE]
    made = [MBDY(**five_body()), MBDYTL(**five_body()), MBDYL(**five_body()), MBDYPL(**five_body(), LI=[0, 0, 1, 1])]
    found = [m.MRATE(*arguments) for m in made]
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], rtol=0, atol=1e-2)
    assert all(m.model.bodies == made[0].model.bodies for m in made)
