"""Linear plants of closed loops and flexible bodies: closed forms, differences reduced by hand, and simulations."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import root_scalar

import mechanisms
from mbdy.blocks import Plant
from mbdy.engine import (
    Body,
    Joint,
    Loop,
    Model,
    ModelError,
    OperatingPoint,
    Side,
    StartMovedWarning,
    assemble,
    equations,
    linearize,
    load,
    trim,
)
from mbdy.engine.flexible.beam import beam
from mbdy.engine.linear.linearization import Linearization
from mechanisms import GRAVITY, PIN, four_bar, four_bar_angles, hinge, n_four_bars, rod, three_legs
from systems import diagonal, floating

STEP = 5e-5
"""Of differences of fourth order."""
DIFFERENCES = 1e-8
"""Relative to the largest entry: their truncation and rounding."""
EXAMPLES = Path(__file__).parents[2] / "examples"
FALL = (0.0, -GRAVITY, 0.0)


def flexible(body: Body, length: float, stiffness: float, modes: tuple[int, int, int] = (2, 0, 0)) -> Body:
    """``body``, a rod of ``length`` [m] along x, as a boom that bends, its bending stiffness [N.m2] given."""
    made = beam(
        length=length, mass_per_length=body.mass / length, bending_stiffness=stiffness, modes=modes, damping_ratio=0.01,
        polar_inertia=1e-3,
    )  # fmt: skip
    return replace(body, mass=made.mass, com=made.com, inertia=made.inertia, flex=made.flex, nodes=made.nodes)


def flexible_four_bar(**more) -> Model:
    """A crank and rocker with a coupler that bends in and across the plane."""
    model = four_bar(gravity=FALL, **more)
    crank, coupler, rocker = model.bodies
    coupler = flexible(coupler, mechanisms.COUPLER, 5.0, (2, 1, 0))
    (loop,) = model.loops
    loop = replace(loop, a=Side(body="coupler", node="tip"))
    return replace(model, name="flexible four-bar", bodies=(crank, coupler, rocker), loops=(loop,))


def standing_legs() -> Model:
    """Three legs between two plates, the lower one held."""
    model = three_legs()
    base, *legs = model.bodies
    initial = {name: value for name, value in model.initial.items() if not name.startswith("base.")}
    base = replace(base, joint=Joint(to="inertial", kind="fixed"))
    rates = np.random.default_rng(5).uniform(-0.3, 0.3, len(legs))
    initial |= {f"{body.name}.joint.rate": (float(rate),) for body, rate in zip(legs, rates, strict=True)
                if body.joint.n_u}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StartMovedWarning)  # no random rates keep loops closed
        return assemble(replace(model, bodies=(base, *legs), initial=initial))


class Reduced:
    """``A``, ``B``, ``C``, ``D`` of a model without quaternions from differences of its equations in all coordinates.

    Changes that its loops and their rates allow are the null space of differences of their outputs, written in those
    states that ``linear`` has kept.
    """

    def __init__(self, model: Model, linear: Linearization) -> None:
        made = equations(model)
        k = np.array(made.prepare(made.ports.vector("parameter"))).ravel()
        u = np.array(made.ports.vector("input"), dtype=float)
        x = np.array([linear.state_values[name] for name in made.ports.state_names])
        given = [made.ports.input_names.index(name) for name in linear.inputs]
        wanted = [made.ports.output_names.index(name) for name in linear.outputs]
        errors = [i for i, name in enumerate(made.ports.output_names) if ".residual" in name]

        def rates(x: np.ndarray, u: np.ndarray) -> np.ndarray:
            return np.array(made.derivatives(x, u, k)).ravel()

        def outputs(x: np.ndarray, u: np.ndarray) -> np.ndarray:
            return np.array(made.outputs(x, u, k)).ravel()

        of_x, of_u = differenced(lambda x: rates(x, u), x), differenced(lambda u: rates(x, u), u)
        y_x, y_u = differenced(lambda x: outputs(x, u), x), differenced(lambda u: outputs(x, u), u)
        _, sizes, directions = np.linalg.svd(y_x[errors])
        self.rank = int(np.sum(sizes > 1e-6 * sizes[0]))
        kept = [made.ports.state_names.index(name) for name in linear.states]
        allowed = directions[self.rank :].T
        basis = allowed @ np.linalg.inv(allowed[kept])
        self.A, self.B = (of_x @ basis)[kept], of_u[np.ix_(kept, given)]
        self.C, self.D = (y_x @ basis)[wanted], y_u[np.ix_(wanted, given)]


def differenced(f, at: np.ndarray) -> np.ndarray:
    """Derivatives of ``f`` by each element, to fourth order of `STEP`."""
    columns = []
    for direction in STEP * np.eye(len(at)):
        near, far = (f(at + n * direction) - f(at - n * direction) for n in (1, 2))
        columns.append((8 * near - far) / (12 * STEP))
    return np.array(columns).T


def close(found: np.ndarray, expected: np.ndarray, part: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=part * max(1.0, float(np.abs(expected).max())))


def plain(model: Model) -> list[str]:
    """Outputs that are no attitudes."""
    table = equations(model).ports
    return [name for v in table.outputs if not v.name.endswith(".attitude") for name in v.scalar_names]


@pytest.mark.parametrize("make", [
    pytest.param(standing_legs, marks=pytest.mark.slow), flexible_four_bar, lambda: flexible_four_bar(rate=3.0),
    lambda: flexible_four_bar(rows=(4, 5)),
    lambda: n_four_bars(3), lambda: four_bar(rate=2.0, gravity=FALL, time_constant=0.0),
], ids=["legs", "flexible", "flexible, turning", "flexible, in a plane", "three in a row", "no decay"])  # fmt: skip
def test_matrices_are_those_of_differences_reduced_by_hand(make):
    """Moving and at rest, with redundant rows and without, anywhere: the operating points are no steady motions."""
    model = make()
    linear = linearize(model, outputs=plain(model))
    reduced = Reduced(model, linear)
    freedoms = sum(body.joint.n_u + body.modes for body in model.bodies)
    assert len(linear.states) == 2 * freedoms - reduced.rank
    for what in "ABCD":
        close(getattr(linear, what), getattr(reduced, what), DIFFERENCES)


@pytest.mark.slow
def test_a_closed_system_of_many_modes():
    """The flexible platform of the examples, its base held, turning as its loops allow."""
    model = load(EXAMPLES / "two_arm_platform" / "flexible_closed.toml")
    base, *others = model.bodies
    initial = dict(model.initial) | {"leg1_roll.joint.rate": (0.1,), "leg3_boom1.flex.rate": (0.01, -0.02, 0.03, 0.01)}
    base = replace(base, joint=Joint(to="inertial", kind="fixed"))
    model = assemble(replace(model, bodies=(base, *others), initial=initial))
    linear = linearize(model, outputs=["top.centre.*", "leg2_boom1.flex.displacement"])
    reduced = Reduced(model, linear)
    assert reduced.rank == 24
    assert len(linear.states) == 2 * (18 + 24) - 24
    for what in "ABCD":
        close(getattr(linear, what), getattr(reduced, what), DIFFERENCES)
    close(np.sort_complex(np.linalg.eigvals(linear.A)), np.sort_complex(np.linalg.eigvals(reduced.A)), 1e-6)


def parallel_links(rows: tuple[int, ...]) -> Model:
    """Two hanging cranks of 1 m and a coupler of 2 m between them, rods of 1 kg."""
    bodies = (
        rod("left", hinge("inertial"), (1.0, 0.0, 0.0), 1.0),
        rod("coupler", hinge("left", at=(1.0, 0.0, 0.0)), (2.0, 0.0, 0.0), 1.0),
        rod("right", hinge("inertial", at=(2.0, 0.0, 0.0)), (1.0, 0.0, 0.0), 1.0),
    )
    initial = {"left.joint.angle": (-pi / 2,), "coupler.joint.angle": (pi / 2,), "right.joint.angle": (-pi / 2,)}
    a, b = Side(body="coupler", at=(2.0, 0.0, 0.0)), Side(body="right", at=(1.0, 0.0, 0.0))
    loop = Loop(name="pin", a=a, b=b, rows=rows, kind="pin" if rows == PIN else "rows")
    return Model(name="parallel links", bodies=bodies, gravity=FALL, initial=initial, loops=(loop,))


@pytest.mark.parametrize("rows", [PIN, (4, 5)], ids=["redundant", "plane"])
def test_parallel_links_swing_as_a_pendulum(rows: tuple[int, ...]):
    """Both cranks turn about their ends and the coupler only moves: inertia 2/3 + 1, stiffness (1/2 + 1/2 + 1) g."""
    linear = linearize(parallel_links(rows))
    assert len(linear.states) == 2
    frequency = sqrt(2 * GRAVITY / (5 / 3))
    np.testing.assert_allclose(np.sort(linear.eigenvalues().imag), [-frequency, frequency], rtol=1e-12)
    np.testing.assert_allclose(linear.eigenvalues().real, 0.0, atol=1e-12)
    assert not linear.notes or all("no second-order form" in note for note in linear.notes)


def test_redundant_rows_change_nothing():
    wanted = ["crank.*", "coupler.*", "rocker.acceleration"]
    pin, plane = (linearize(four_bar(rows=rows, rate=1.0, gravity=FALL), outputs=wanted) for rows in (PIN, (4, 5)))
    assert pin.states == plane.states
    for what in "ABCD":
        close(getattr(pin, what), getattr(plane, what), 1e-10)


def test_an_open_loop_leaves_the_open_system():
    model = flexible_four_bar()
    (loop,) = model.loops
    switched = replace(model, loops=(replace(loop, switchable=True),))
    wanted = [name for name in plain(model) if not name.startswith("loop.")]
    opened = linearize(switched, at={"loop.pin.closed": False}, outputs=wanted)
    tree = linearize(replace(model, loops=()), outputs=wanted)
    assert opened.states == tree.states
    assert len(opened.states) == 2 * (3 + 3)
    for what in "ABCD":
        close(getattr(opened, what), getattr(tree, what), 1e-12)
    shut, always = linearize(switched, outputs=wanted), linearize(model, outputs=wanted)
    assert shut.states == always.states
    for what in "ABCD":
        close(getattr(shut, what), getattr(always, what), 1e-12)


def potential(crank: float) -> float:
    """[J] Of a four-bar under gravity."""
    angles, _ = four_bar_angles(crank)
    heights = [mechanisms.CRANK * np.sin(crank) / 2, mechanisms.CRANK * np.sin(crank), 0.0]
    heights[1] += mechanisms.COUPLER * np.sin(angles[0] + angles[1]) / 2
    heights[2] = mechanisms.ROCKER * np.sin(angles[2]) / 2
    return GRAVITY * float(np.dot((mechanisms.CRANK, mechanisms.COUPLER, mechanisms.ROCKER), heights))


def inertia(crank: float, own: float = mechanisms.COUPLER**3 / 12) -> float:
    """[kg.m2] Of a four-bar, seen from its crank: twice the kinetic energy at 1 rad/s. ``own`` is the coupler's."""
    angles, (_, coupler, rocker) = four_bar_angles(crank, 1.0)
    a, b, c = mechanisms.CRANK, mechanisms.COUPLER, mechanisms.ROCKER
    turning, direction = 1.0 + coupler, angles[0] + angles[1]
    centre = a * np.array([-np.sin(crank), np.cos(crank)])
    centre = centre + b / 2 * turning * np.array([-np.sin(direction), np.cos(direction)])
    return float(a**3 / 3 + b * centre @ centre + own * turning**2 + c**3 / 3 * rocker**2)


def slope(f, at: float, order: int) -> float:
    """First or second derivative by differences of fourth order."""
    h = 2e-3
    v = [f(at + n * h) for n in (-2, -1, 0, 1, 2)]
    weights = ((1, -8, 0, 8, -1), (-1, 16, -30, 16, -1))[order - 1]
    return float(np.dot(weights, v)) / (12 * h**order)


def hanging() -> float:
    """[rad] Of the crank, where the potential is least."""
    return float(root_scalar(lambda angle: slope(potential, angle, 1), bracket=(-2.5, 0.0)).root)


@pytest.mark.parametrize("rows", [PIN, (4, 5)], ids=["redundant", "plane"])
def test_a_hanging_four_bar_is_trimmed_to_its_rest(rows: tuple[int, ...]):
    """Where its potential is least, closed, and it swings there with the frequency of the one freedom that it has."""
    model = four_bar(crank=-1.0, gravity=FALL, rows=rows)
    rest = hanging()
    point = trim(model)
    found = np.array([point[f"{name}.joint.angle"] for name in ("crank", "coupler", "rocker")])
    np.testing.assert_allclose(found, four_bar_angles(rest)[0], atol=1e-9)
    linear = linearize(model, at=point, outputs=["loop.pin.residual"])
    assert np.abs(linear.output_values).max() < 1e-10
    assert np.abs(linear.residual).max() < 1e-8
    frequency = sqrt(slope(potential, rest, 2) / inertia(rest))
    np.testing.assert_allclose(linear.eigenvalues().imag.max(), frequency, rtol=1e-8)


def test_a_flexible_four_bar_sags_as_it_hangs():
    """Trimmed with its modes; a stiff coupler's rest and frequency are those of the rigid one."""
    point = trim(flexible_four_bar(crank=-1.5))
    sag = np.array(point["coupler.flex.displacement"])
    assert np.abs(sag[:2]).max() > 1e-3
    linear = linearize(flexible_four_bar(), at=point)
    assert np.abs(linear.residual).max() < 1e-8
    stiff = flexible_four_bar(crank=-1.5)
    crank, coupler, rocker = stiff.bodies
    assert coupler.flex is not None
    harder = tuple(tuple(1e4 * value for value in row) for row in coupler.flex.stiffness)
    stiff = replace(stiff, bodies=(crank, replace(coupler, flex=replace(coupler.flex, stiffness=harder)), rocker))
    rest, at = hanging(), trim(stiff)
    np.testing.assert_allclose(at["crank.joint.angle"], rest, atol=1e-6)
    lowest = np.abs(linearize(stiff, at=at).eigenvalues()).min()
    np.testing.assert_allclose(
        lowest, sqrt(slope(potential, rest, 2) / inertia(rest, coupler.inertia[2][2])), rtol=2e-6
    )


def pushed(model: Model, point: OperatingPoint, push: dict[str, float], outputs: list[str], size: float) -> None:
    """A small step of inputs from ``point``, simulated for half a second, against the linear plant.

    ``size`` scales ``push``; what is left is of second order, so half the step leaves half of it.
    """
    linear = linearize(model, at=point, inputs=list(push), outputs=outputs)
    n, every, left = len(linear.states), 0.01, []
    change = np.array([push[name] for name in linear.inputs])
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = linear.A, linear.B @ change
    advance = expm(whole * every)
    for part in (size, size / 2):
        plant = Plant(model, step=2e-4)
        for variable in point.ports.outputs:
            if variable.state is not None and variable.start_at is not None:
                plant[variable.name] = point[variable.name]
        for name, value in push.items():
            plant[name] = float(plant[name]) + part * value
        state, worst, largest = np.append(np.zeros(n), part), 0.0, 0.0
        for _ in range(50):
            y = plant.step(every)
            state = advance @ state
            found = np.array([y[name] for name in linear.outputs]) - linear.output_values
            expected = linear.C @ state[:n] + part * linear.D @ change
            worst, largest = max(worst, np.abs(found - expected).max()), max(largest, np.abs(expected).max())
        left.append(worst / largest)
    assert left[0] < 2e-3
    assert left[1] < 0.55 * left[0]


@pytest.mark.parametrize("rate", [0.0, 3.0])
@pytest.mark.parametrize("distance", [1.9, 5.0])
def test_a_start_that_closes_by_large_bending_alone_is_refused_for_that(rate: float, distance: float):
    """By so much that the modes make no inertia any more, whether or not speeds are given."""
    model = flexible_four_bar(rate=rate)
    crank, coupler, rocker = model.bodies
    far = replace(rocker, joint=replace(rocker.joint, at=(distance, 0.0, 0.0)))
    with pytest.raises(ModelError, match=r"loop\.\w+: is closed only by bending that moves its place by .* m"):
        assemble(replace(model, bodies=(crank, coupler, far)))


def test_a_small_push_of_a_flexible_four_bar():
    model = flexible_four_bar(crank=-1.5)
    outputs = ["crank.joint.angle", "crank.joint.rate", "coupler.flex.displacement[1]", "coupler.tip.position[2]"]
    pushed(model, trim(model), {"crank.joint.torque": 1.0, "rocker.torque[3]": -0.5}, outputs, 1e-3)


def spinning() -> Model:
    """A bus that floats, two sprung booms that bend and a rod between their tips: closed, and no external force."""
    bus = Body(name="bus", mass=40.0, inertia=diagonal(5.0, 6.0, 8.0), joint=floating())
    bodies = [bus]
    for name, y in (("near", -0.5), ("far", 0.5)):
        joint = hinge("bus", at=(0.3, y, 0.0), stiffness=(40.0,), damping=(0.2,), rest=(0.2,))
        bodies.append(flexible(rod(name, joint, (1.5, 0.0, 0.0), 2.0), 1.5, 60.0, (2, 1, 0)))
    tip = Joint(to="near", kind="revolute", rotations=((0.0, 0.0, 1.0),), node="tip")
    bodies.append(rod("rod", tip, (0.0, 1.0, 0.0), 1.0))
    a, b = Side(body="rod", at=(0.0, 1.0, 0.0)), Side(body="far", node="tip")
    return Model(name="spinning", bodies=tuple(bodies), loops=(Loop(name="tips", a=a, b=b, rows=(4, 5)),))


def test_a_spinning_flexible_closed_system():
    """Trimmed in its spin about z, then pushed within its plane."""
    model, spin = spinning(), 1.0
    point = trim(model, at={"bus.omega": [0.0, 0.0, spin]})
    assert np.abs(np.array(point["near.flex.displacement"])).max() > 1e-4
    linear = linearize(model, at=point)
    assert len(linear.states) == 2 * (6 + 3 + 6) - 4
    assert not [note for note in linear.notes if "steady" in note or "instant" in note]
    assert all(value.real < 1e-6 for value in linear.eigenvalues())
    outputs = ["bus.omega[3]", "near.joint.angle", "far.flex.displacement[1]", "near.flex.rate[2]"]
    pushed(model, point, {"near.joint.torque": 1.0, "bus.torque[3]": 0.5}, outputs, 1e-3)


@pytest.mark.slow
def test_redundant_rows_of_a_flexible_system_change_nothing():
    """A ball joins what bends across the plane as well; the same again holds nothing more."""
    model = spinning()
    (loop,) = model.loops
    ball = replace(loop, rows=(4, 5, 6))
    plane, once, twice = (
        linearize(replace(model, loops=loops), outputs=["bus.*", "*.tip.*"])
        for loops in ((loop,), (ball,), (ball, replace(ball, name="again")))
    )
    assert len(plane.states) == 26
    assert len(once.states) == 24
    assert once.states == twice.states
    for what in "ABCD":
        close(getattr(twice, what), getattr(once, what), 1e-9)


def test_states_kept_are_told_by_name():
    """Positions with their speeds; and what the outputs of the others follow from them."""
    linear = linearize(four_bar(gravity=FALL), outputs=["*.joint.angle"])
    (angle, rate) = linear.states
    assert angle.endswith(".joint.angle")
    assert rate == angle.replace("angle", "rate")
    own = linear.outputs.index(angle)
    np.testing.assert_allclose(linear.C[own], [1.0, 0.0], atol=1e-12)
    crank = linear.outputs.index("crank.joint.angle")
    _, rates = four_bar_angles(1.0, 1.0)
    np.testing.assert_allclose(linear.C[:, 0] / linear.C[crank, 0], rates, rtol=1e-10)


@pytest.mark.parametrize("angle", [1.5, 2.0, -0.7])
def test_a_start_value_in_at_stays_and_the_others_close_the_loop(angle):
    """As the file with that value has it, and not nearer to the file's own start."""
    model = replace(four_bar(crank=1.0, gravity=FALL), initial={"crank.joint.angle": (1.0,)})
    at = {"crank.joint.angle": angle}
    lin = linearize(model, at=at)
    other = linearize(replace(model, initial={"crank.joint.angle": (angle,)}))
    assert lin.state_values["crank.joint.angle"] == angle
    assert lin.state_values == other.state_values
    assert np.array_equal(lin.A, other.A)
    point = trim(model, at=at, free=["crank.joint.torque"], hold=["crank.joint.angle"])
    assert point["crank.joint.angle"] == angle
    with pytest.warns(StartMovedWarning, match=r"'\w+.joint.angle' contradicts the loops") as caught:
        linearize(model, at=at | {"rocker.joint.angle": lin.state_values["rocker.joint.angle"] + 0.1})
    assert all(warning.filename == __file__ for warning in caught)


@pytest.mark.parametrize("locked", [False, True])
def test_what_drives_a_loop_leaves_no_states(locked):
    model = four_bar(crank=1.0, driven=True)
    at = {}
    if locked:
        crank, *others = model.bodies
        crank = replace(crank, joint=replace(crank.joint, motion=("switchable",)))
        model, at = replace(model, bodies=(crank, *others)), {"crank.joint.locked": True}
    lin = linearize(model, at=at, outputs=["rocker.joint.angle"])
    assert (lin.A.shape, lin.B.shape[0], lin.C.shape) == ((0, 0), 0, (1, 0))


def test_a_driven_loop_follows_its_prescribed_acceleration():
    outputs = ["crank.joint.reaction", "rocker.joint.angle"]
    lin = linearize(four_bar(crank=1.0, driven=True), inputs=["crank.joint.acceleration"], outputs=outputs)
    assert lin.states == ("crank.joint.angle", "crank.joint.rate")
    assert np.hstack([lin.A, lin.B]).ravel().tolist() == pytest.approx([0, 1, 0, 0, 0, 1], abs=1e-12)
    assert lin.D[0, 0] > 0.01
    assert lin.D[1, 0] == 0.0
