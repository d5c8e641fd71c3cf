"""The one start rule on known mechanisms from random starts, random sets of them given: kept or told, then closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mbdy.engine.core.library import compiled_equations
from mbdy.engine.core.running import OK, Core
from mbdy.engine.model.system import Body, Joint, Loop, Model, Side
from mbdy.engine.order_n.equations import equations
from mechanisms import PIN, andrews, bricard, diagonal, four_bar, hinge, n_four_bars, rod, three_legs

CLOSED = 1e-10
"""[rad, m] Errors of closure, and their rates beside the largest speed."""
TOLD = 1e-6
STARTS = 8


def slider_crank() -> Model:
    """With its slider free to be locked, and its pin to be opened."""
    slider = Joint(to="inertial", translations=((1.0, 0.0, 0.0),), motion=("switchable",))
    bodies = (
        rod("crank", hinge("inertial"), (0.3, 0, 0), 1.0),
        rod("rod", hinge("crank", at=(0.3, 0, 0)), (0.7, 0, 0), 1.0),
        Body(name="slider", joint=slider, mass=1.0, inertia=diagonal(0.1, 0.1, 0.1)),
    )
    loop = Loop(name="pin", a=Side(body="rod", at=(0.7, 0.0, 0.0)), b=Side(body="slider"), kind="pin", rows=PIN,
                switchable=True)  # fmt: skip
    return Model(name="", bodies=bodies, loops=(loop,), initial={"slider.joint.displacement": (1.0,)})


def tethered() -> Model:
    """Two free bodies with wheels, a rod between them, the first on a ball in space."""
    bodies = tuple(
        Body(name=name, joint=Joint(to="inertial", kind="free", translations=AXES, spherical=True), mass=2.0,
             inertia=diagonal(1.0, 2.0, 2.5))
        for name in "ab"
    )  # fmt: skip
    loops = (
        Loop(name="ball", a=Side(body="inertial"), b=Side(body="a", at=(0.2, 0.0, 0.0)), rows=(4, 5, 6)),
        Loop(name="tether", a=Side(body="a"), b=Side(body="b", at=(0.0, 0.1, 0.0)), distance=0.7),
    )
    start = {"a.position": (-0.2, 0.0, 0.0), "b.position": (0.5, -0.1, 0.0)}
    return Model(name="", bodies=bodies, loops=loops, initial=start)


AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
MECHANISMS: dict[str, Callable[[], Model]] = {
    "four-bar": lambda: four_bar(rate=1.5),
    "driven four-bar": lambda: four_bar(rate=1.5, driven=True),
    "three in a row": lambda: n_four_bars(3),
    "slider-crank": slider_crank,
    "squeezer": andrews,
    "Bricard": bricard,
    "legs": lambda: three_legs(seed=3),
    "parallel legs": lambda: three_legs(seed=2, joints=3, parallel=True),
    "tethered": tethered,
}


@cache
def core(name: str) -> tuple[Model, Core]:
    model = MECHANISMS[name]()
    made = equations(model)
    core = Core(compiled_equations(made))
    core.u[:], core.p[:] = made.ports.vector("input"), made.ports.vector("parameter")
    assert core.prepare() == OK
    return model, core


def unit(core: Core, s: np.ndarray) -> np.ndarray:
    """Start values with quaternions of norm 1."""
    s = s.copy()
    for at in core.compiled.equations.ports.quaternions:
        s[at : at + 4] /= np.linalg.norm(s[at : at + 4])
    return s


def open_by(core: Core) -> tuple[float, float]:
    """Errors of closed loops and their rates, these beside the largest speed, by the outputs' own equations."""
    made = core.compiled.equations
    assert made.gaps is not None
    k = made.prepare(core.p)
    errors, rates = (np.abs(np.array(part)).max() for part in made.gaps(core.x, core.u, k)[:2])
    return float(errors), float(rates) / max(1.0, float(np.abs(core.x).max()))


def kept_or_told(core: Core) -> None:
    """Every given value is as it was, or among the moves, which name nothing else."""
    told = [move.split("'")[1] for move in core.moves()]
    wanted = unit(core, core.s)
    for at in core.compiled.equations.ports.quaternions:
        wanted[at : at + 4] *= np.sign(wanted[at : at + 4] @ core.s_closed[at : at + 4])
    for name, given, before, after in zip(
        core.compiled.equations.ports.start_names, core.given, wanted, core.s_closed, strict=True
    ):
        if given and name not in told:
            assert abs(after - before) <= (1e-10 if not told else TOLD), name
        elif name in told:
            assert abs(after - before) > TOLD


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "legs" in name else ()) for name in MECHANISMS]
)
@pytest.mark.parametrize("seed", range(STARTS))
def test_given_starts_are_kept_or_told(name: str, seed: int) -> None:
    """Those of a closed position, then all a little beside one."""
    model, at = core(name)
    rng, table = np.random.default_rng(seed), at.compiled.equations.ports
    begin, rate = np.array(table.start), slice(at.compiled.equations.n_q, None)
    at.s[:], at.given[:] = unit(at, begin + rng.normal(scale=0.1, size=len(begin))), 0.0
    at.s[rate] = begin[rate]
    assert at.start() == OK
    assert at.moves() == []
    assert max(open_by(at)) < CLOSED
    near = at.s_closed.copy()
    driven = [
        table.start_names.index(f"{b.name}.joint.angle") for b in model.bodies if b.joint.motion == ("prescribed",)
    ]
    for spread in (0.0, 0.03):
        at.given[:] = rng.random(len(near)) < rng.choice([0.2, 0.5, 1.0])
        at.s[:] = np.where(at.given, near + rng.normal(scale=spread, size=len(near)) * (spread > 0), begin)
        for q in (slice(place, place + 4) for place in table.quaternions):
            at.given[q] = at.given[q.start]
            at.s[q] = near[q] if at.given[q.start] else (1, 0, 0, 0)
        at.s[driven] = near[driven]
        assert at.start() == OK, at.explain(at.start())
        assert max(open_by(at)) < CLOSED
        kept_or_told(at)
        if not spread:
            assert at.moves() == []
        x, closed = at.x.copy(), at.s_closed.copy()
        assert at.start() == OK
        assert np.array_equal(at.x, x)
        assert np.array_equal(closed[driven], at.s[driven])
        at.s[:], at.given[:] = closed, 1.0
        assert at.start() == OK
        assert at.s_closed == pytest.approx(closed, abs=1e-15)
        assert at.moves() == []


@pytest.mark.parametrize("seed", range(STARTS))
def test_what_is_locked_stays_and_open_loops_ask_nothing(seed: int) -> None:
    _, at = core("slider-crank")
    table, rng = at.compiled.equations.ports, np.random.default_rng(seed)
    lock, closed = (table.by_name[f"{name}"].offset for name in ("slider.joint.locked", "loop.pin.closed"))
    place = table.by_name["slider.joint.displacement"].start_at
    u = at.u.copy()
    try:
        at.s[:], at.given[:] = rng.normal(size=len(at.s)), 1.0
        at.u[closed] = 0.0
        assert at.start() == OK
        assert np.array_equal(at.s, at.s_closed)
        assert at.freedoms() == (0, 0, 3)
        at.u[closed], at.u[lock] = 1.0, 1.0
        at.s[:] = 0.0
        at.s[place] = rng.uniform(0.45, 0.95)
        assert at.start() == OK
        assert at.s_closed[place] == at.s[place]
        assert open_by(at)[0] < CLOSED
        assert at.freedoms() == (5, 2, 0)
        at.s[place] = 1.2
        assert "loop.pin: cannot be closed: 0.2 m" in at.explain(at.start())
    finally:
        at.u[:] = u


def test_starts_that_are_no_numbers() -> None:
    _, at = core("four-bar")
    at.given[:] = 0.0
    assert at.start() == OK
    before = at.x.copy()
    at.s[0] = 1e300
    assert at.start() in (OK, *range(1, 8))
    at.s[0] = np.nan
    assert "'crank.joint.angle': must be finite, got nan" in at.explain(at.start())
    assert np.array_equal(at.x, before) or np.isfinite(at.x).all()


def test_a_loop_of_numbers_beyond_floats() -> None:
    model = four_bar()
    coupler = replace(model.bodies[1], joint=replace(model.bodies[1].joint, at=(1e200, 0.0, 0.0)))
    at = Core(compiled_equations(equations(model)))
    table = equations(replace(model, bodies=(model.bodies[0], coupler, model.bodies[2]))).ports
    at.u[:], at.p[:], at.s[:] = table.vector("input"), table.vector("parameter"), table.start
    assert at.prepare() == OK
    status = at.start()
    assert status != OK
    assert at.explain(status).startswith("loop.pin: ")
