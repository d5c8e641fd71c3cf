"""The gravity gradient on floating systems: closed forms, a dense Kane solution, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import Plant, simulate
from mbdy.blocks.errors import VariableError
from mbdy.engine import (
    Body,
    GravityGradient,
    Joint,
    Model,
    ModelError,
    Node,
    Wheel,
    dumps,
    equations,
    linearize,
    loads,
    ports,
    verify,
)
from mbdy.engine.verification.conservation import Observer
from mbdy.engine.verification.formulations import FORMULATIONS
from oracles.dense_kane import outputs, quaternion_rotation, solve
from oracles.particles import Particles
from oracles.random_flexible import random_flexible
from oracles.random_models import random_inputs, random_model, random_state, revalued
from systems import XYZ, chain, diagonal, floating

AGREEMENT = 1e-10
"""Relative: condition numbers of the random systems are below 1e5."""
ROUNDING = 1e-12
"""Relative: identities with a few operations in them."""
FIRST_ORDER = 1e-6
"""Relative: of a system of 2 m at 7000 km, size over distance is 3e-7; differences of weights lose nine digits."""
DIFFERENCED = 1e-8
"""Relative: fourth differences of order-one functions in steps of 1e-3."""
EARTH = 3.986004418e14
SYSTEMS = 40
QUICK = 10


def column(value: Any) -> np.ndarray:
    return np.array(value, dtype=float).reshape(-1)


def near(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return bool(np.abs(found - expected).max(initial=0.0) <= tolerance * scale)


def evaluated(model: Model, x: np.ndarray, u: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Rates of the states, and outputs, by name."""
    made = equations(model)
    k = made.prepare(np.array(made.ports.vector("parameter")))
    rates, y = column(made.derivatives(x, u, k)), column(made.outputs(x, u, k))
    return (
        {v.name: rates[v.state : v.state + v.size] for v in made.ports.outputs if v.state is not None},
        {v.name: y[v.places] for v in made.ports.outputs},
    )


def started(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """States and inputs of the file's start."""
    made = equations(model)
    k = made.prepare(np.array(made.ports.vector("parameter")))
    return column(made.start(np.array(made.ports.start), k)), np.array(made.ports.vector("input"))


def with_inputs(model: Model, u: np.ndarray, **values: Any) -> np.ndarray:
    given = u.copy()
    for name, value in values.items():
        given[ports(model).by_name[f"system.{name}"].places] = value
    return given


@pytest.mark.parametrize("kind", ["free", "attitude"])
@pytest.mark.parametrize("wheels", [{}, {"w": Wheel(axis=(1.0, 2.0, -1.0), inertia=0.4)}])
def test_torque_on_a_rigid_body(kind, wheels):
    """3 mu/R^3 e x J e with the whole inertia, rotors too, about the mass centre wherever the origin is."""
    J = np.array([[4.0, 0.3, -0.2], [0.3, 6.0, 0.5], [-0.2, 0.5, 3.0]])
    inertia: Any = tuple(map(tuple, J.tolist()))
    R, q = np.array([4e6, -5e6, 3e6]), np.array([0.5, -0.1, 0.7, 0.3])
    body = Body(name="a", mass=20.0, com=(0.4, -0.3, 1.0), inertia=inertia, joint=floating(kind), wheels=wheels)
    start = {"a.attitude": tuple(q / np.linalg.norm(q)), "a.position": (1.0, 2.0, 3.0)}
    orbit: Any = tuple(R.tolist())
    model = Model(name="a", bodies=(body,), initial=start, gravity_gradient=GravityGradient(orbit_position=orbit))
    rates, _ = evaluated(model, *started(model))
    e = quaternion_rotation(q).T @ R / np.linalg.norm(R)
    torque = 3 * EARTH / np.linalg.norm(R) ** 3 * np.cross(e, J @ e)
    carried = J.copy()
    for wheel in wheels.values():
        a = np.array(wheel.axis) / np.linalg.norm(wheel.axis)
        carried -= wheel.inertia * np.outer(a, a)
    expected = np.linalg.solve(carried, torque)
    assert np.abs(rates["a.omega"] - expected).max() < ROUNDING * np.abs(expected).max()
    assert "a.w.momentum" not in rates or rates["a.w.momentum"] == 0.0


def test_first_order_of_two_weights():
    """Two masses on a rod feel the difference of their weights, along the rod and across it."""
    rod, R = 2.0, np.array([7e6, 0.0, 0.0])
    tip = Body(name="b", mass=3.0, joint=Joint(to="a", kind="fixed", at=(rod, 0.0, 0.0)))
    point = Body(name="a", mass=5.0, joint=floating(), inertia=diagonal(1e-3, 1e-3, 1e-3))
    q = np.array([np.cos(0.3), 0.0, 0.0, np.sin(0.3)])
    model = Model(name="two", bodies=(point, tip), initial={"a.attitude": tuple(q)}, gravity_gradient=GravityGradient())
    rates, y = evaluated(model, *started(model))
    along = quaternion_rotation(q) @ [1.0, 0.0, 0.0]
    places = R - along * rod * 3.0 / 8.0, R + along * rod * 5.0 / 8.0
    pulls = [-EARTH * r / np.linalg.norm(r) ** 3 for r in places]
    apart = pulls[1] - pulls[0]
    turning = np.cross(along, apart)[2] / rod  # the rod's reduced mass times rod squared is all its inertia but 1e-3
    reduced = 15.0 / 8.0 * rod**2
    assert rates["a.omega"][2] == pytest.approx(turning * reduced / (reduced + 1e-3), rel=FIRST_ORDER)
    assert y["system.work_residual"] == pytest.approx(0.0, abs=1e-15)
    # The rod holds the two masses together against what pulls them apart.
    assert y["b.joint.load"][3] == pytest.approx(-15.0 / 8.0 * (apart @ along), rel=FIRST_ORDER)


@pytest.mark.parametrize("kind", ["free", "attitude"])
def test_pitch_libration_on_a_circular_orbit(kind):
    """omega = n sqrt(3 (I_roll - I_yaw) / I_pitch): here x points up, z along the orbit's normal."""
    n, small, H = 1.0, 1e-3, 0.005
    yaw, roll, pitch = 1.0, 3.0, 2.5
    distance = np.cbrt(EARTH / n**2)
    body = Body(name="a", mass=4.0, com=(0.2, 0.1, 0.0), inertia=diagonal(yaw, roll, pitch), joint=floating(kind))
    start = {"a.attitude": (np.cos(small / 2), 0.0, 0.0, np.sin(small / 2)), "a.omega": (0.0, 0.0, n)}
    gradient = GravityGradient(orbit_position=(float(distance), 0.0, 0.0))
    model = Model(name="a", bodies=(body,), initial=start, gravity_gradient=gradient)
    plant = Plant(model, step=H, interpolation="linear")
    frequency, times, angles = n * np.sqrt(3 * (roll - yaw) / pitch), [], []
    for i in range(1, 3001):
        t = i * H
        plant["system.orbit_position"] = [distance * np.cos(n * t), distance * np.sin(n * t), 0.0]
        y = plant.step(H)
        w, _, _, z = y["a.attitude"]
        times.append(t)
        angles.append(np.angle(np.exp(1j * (2 * np.arctan2(z, w) - n * t))))
    expected = small * np.cos(frequency * np.array(times))
    # Chords cut the orbit by (n H)^2/8, some 1e-6 of R; after 15 s that is 1e-4 of a radian of phase at most.
    assert np.abs(np.array(angles) - expected).max() < 2e-4 * small


def dumbbell(gradient: GravityGradient) -> Model:
    hinge = Joint(
        to="a", kind="revolute", rotations=((0.2, 1.0, 0.3),), at=(0.5, 0.1, 0.0), frame=(0.8, 0.0, 0.6, 0.0),
        motion=("switchable",),
    )  # fmt: skip
    bodies = (
        Body(name="a", mass=7.0, com=(0.1, 0.2, -0.1), inertia=diagonal(1.0, 1.4, 0.9), joint=floating()),
        Body(name="b", mass=4.0, com=(0.9, 0.0, 0.3), inertia=diagonal(0.3, 0.8, 0.7), joint=hinge),
    )
    start = {"a.omega": (0.3, -0.2, 0.1), "a.attitude": (0.6, 0.0, 0.8, 0.0), "b.joint.angle": (0.7,)}
    return Model(name="dumbbell", bodies=bodies, initial=start, gravity_gradient=gradient)


def merged(model: Model) -> Model:
    """The two bodies of `dumbbell` as one, as they stand at the start."""
    made = solve(model, *started(model)).bodies
    turned = made["a"].rotation
    mass = sum(b.mass for b in model.bodies)
    centre = sum(b.mass * made[b.name].centre for b in model.bodies) / mass
    J = np.zeros((3, 3))
    for b in model.bodies:
        m = made[b.name]
        c = m.centre - centre
        J += m.rotation @ np.array(b.inertia) @ m.rotation.T + b.mass * (c @ c * np.eye(3) - np.outer(c, c))
    J = turned.T @ J @ turned
    inertia: Any = tuple(map(tuple, (0.5 * (J + J.T)).tolist()))
    com: Any = tuple((turned.T @ (centre - made["a"].origin)).tolist())
    initial = {name: value for name, value in model.initial.items() if name.startswith("a.")}
    return replace(
        model, bodies=(Body(name="a", mass=mass, com=com, inertia=inertia, joint=floating()),), initial=initial
    )


def test_locked_dumbbell_is_one_rigid_body():
    strong = GravityGradient(orbit_position=(5e4, 4e4, -3e4))  # mu/R^3 is about 1
    model = dumbbell(strong)
    two, one, free = Plant(model), Plant(merged(model)), Plant(model)
    two["b.joint.locked"] = 1
    for _ in range(20):
        y, single, moving = two.step(0.05), one.step(0.05), free.step(0.05)
    for name in ("a.omega", "a.attitude", "a.position", "a.velocity", "system.angular_momentum"):
        assert near(np.array(y[name]), np.array(single[name]), AGREEMENT), name
    assert np.abs(moving["a.omega"] - single["a.omega"]).max() > 1e-2
    assert abs(y["system.work_residual"]) < ROUNDING


@pytest.mark.parametrize(
    "seed", [*range(QUICK), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(QUICK, SYSTEMS))]
)
def test_random_systems_equal_kane(seed):
    rng = np.random.default_rng(7000 + seed)
    model = random_model(rng, int(rng.integers(1, 10)), gradient=True)
    x, u = random_state(rng, model), random_inputs(rng, model)
    other = revalued(rng, model)  # the same equations with other parameters, mu too
    for each in (model, other):
        rates, y = evaluated(each, x, u)
        solution, expected = solve(each, x, u), outputs(each, x, u)
        scale = np.abs(solution.xdot).max()
        table = ports(each)
        for v in table.outputs:
            if v.state is not None:
                wanted = solution.xdot[v.state : v.state + v.size]
                assert np.abs(rates[v.name] - wanted).max() <= AGREEMENT * max(1.0, scale), v.name
        loads = max(np.abs(load).max() for load in solution.loads.values())
        for v in table.outputs:
            if v.name.endswith((".load", ".reaction")):
                assert np.abs(y[v.name] - expected[v.name]).max() <= AGREEMENT * max(1.0, loads), v.name
            elif v.name.endswith((".specific_force", ".acceleration")):
                assert np.abs(y[v.name] - expected[v.name]).max() <= AGREEMENT * max(1.0, scale), v.name
        assert abs(y["system.work_residual"][0]) <= AGREEMENT * max(1.0, np.abs(solution.power).max())
        if each is model:
            without = replace(model, gravity_gradient=None)
            plain, _ = evaluated(without, x, u[: len(ports(without).input_names)])
            assert max(np.abs(plain[name] - rates[name]).max() for name in rates) > 1e-6


def check_particles(seed: int) -> None:
    """What the gradient adds to the accelerations, against particles; work, and accelerometers at all nodes."""
    case = random_flexible(7400 + seed, loops=0, roots=("free",), foreshortening=False, gradient=True)
    model, x, u = case.model, case.x, case.u
    rates, y = evaluated(model, x, u)
    plain = replace(model, gravity_gradient=None)
    without, _ = evaluated(plain, x, u[: len(ports(plain).input_names)])
    particles, states = Particles(case), np.zeros((2, len(x)))
    for v in ports(model).outputs:
        if v.state is not None:
            states[:, v.state : v.state + v.size] = rates[v.name], rates[v.name] - without[v.name]
    scale = max(1.0, np.abs(states).max())
    assert np.abs(states[1, particles.rates] - particles.attraction(x, u)).max() <= AGREEMENT * scale
    assert abs(y["system.work_residual"][0]) <= AGREEMENT * scale * max(1.0, np.abs(x[particles.rates]).max())
    position, mu = u[ports(model).by_name["system.orbit_position"].places], model.gravity_gradient
    assert mu is not None
    e, R = position / np.linalg.norm(position), np.linalg.norm(position)
    for body in model.bodies:
        for node in (f"{body.name}.{name}" for name in body.nodes):
            rho = y[f"{node}.position"] - y["system.centre_of_mass"]
            pull = mu.gravitational_parameter / R**3 * (3 * e * (e @ rho) - rho)
            felt = y[f"{node}.acceleration"] - u[ports(model).by_name["system.gravity"].places] - pull
            turned = quaternion_rotation(y[f"{node}.attitude" if body.flex else f"{body.name}.attitude"])
            assert np.abs(turned.T @ felt - y[f"{node}.specific_force"]).max() <= AGREEMENT * scale, node


@pytest.mark.parametrize("seed", range(4))
def test_flexible_trees_equal_particles(seed):
    check_particles(seed)


@pytest.mark.slow
def test_many_flexible_trees_equal_particles():
    for seed in range(4, 54):
        check_particles(seed)


@pytest.mark.parametrize("seed", range(4))
def test_formulations_agree_on_flexible_systems(seed):
    """Displacements of second order and loops among them."""
    case = random_flexible(7500 + seed, n_bodies=4, gradient=True)
    made = equations(case.model)
    rates = column(made.derivatives(case.x, case.u, made.prepare(case.p)))
    covered = {name: it for name, it in FORMULATIONS.items() if not it.uncovered(case.model)}
    assert set(covered) == {"lagrange"} | ({"kamman", "penrose"} if case.model.loops else set())
    for name, formulation in covered.items():
        assert near(formulation.derivatives(case.model)(case.x, case.u, case.p), rates, AGREEMENT), name


def test_linear_models_of_a_flexible_system_are_the_derivatives():
    model = random_flexible(7501, n_bodies=3, loops=0, gradient=True).model
    found = linearize(model, inputs=["system.orbit_position[1]"])
    made, (x, u) = equations(model), started(model)
    k, table = made.prepare(np.array(made.ports.vector("parameter"))), made.ports
    plain = [i for i, name in enumerate(found.states) if name in table.state_names]
    places = [table.state_names.index(found.states[i]) for i in plain]
    assert any(".flex.displacement" in found.states[i] for i in plain)

    def slope(at: Any) -> np.ndarray:
        """To fourth order of the step."""
        one, two = (at(h) - at(-h) for h in (1e-3, 2e-3))
        return (8 * one - two)[places] / 12e-3

    for i, place in zip(plain, places, strict=True):
        way = np.eye(len(x))[place]
        expected = slope(lambda h, way=way: column(made.derivatives(x + h * way, u, k)))
        assert near(found.A[plain, i], expected, DIFFERENCED), found.states[i]
    way = np.linalg.norm(u[table.orbit_position]) * np.eye(len(u))[table.orbit_position.start]
    expected = slope(lambda h: column(made.derivatives(x, u + h * way, k)))
    assert near(found.B[plain, 0] * way.max(), expected, DIFFERENCED)


def test_momenta_of_a_flexible_system_change_by_what_acts():
    found = verify(random_flexible(7500, n_bodies=3, loops=0, gradient=True).model, states=1)
    assert found.agrees, str(found)
    assert len(found.residuals) == 3
    assert all(item.found for item in found.residuals)


@pytest.mark.parametrize("seed", range(12))
def test_formulations_agree(seed):
    rng = np.random.default_rng(7100 + seed)
    hinged = {"kinds": ("fixed", "revolute", "universal", "gimbal"), "wheels": False} if seed % 2 else {}
    model = random_model(rng, int(rng.integers(2, 8)), gradient=True, floating_motion=False, **hinged)
    found = verify(model, states=2, seed=seed)
    assert found.agrees, str(found)
    covered = {item.name for item in found.comparisons if item.covered}
    assert covered == {"kane", "huston", "jpl", "lagrange"} if seed % 2 else covered >= {"kane", "huston", "lagrange"}
    assert all(item.found for item in found.residuals)


@pytest.mark.parametrize("kind", ["free", "attitude"])
@pytest.mark.parametrize("seed", range(5))
def test_forces_add_up_to_nothing(kind, seed):
    """Momentum changes with uniform gravity alone, angular momentum by the torque on the whole."""
    rng = np.random.default_rng(7200 + seed)
    model = random_model(rng, 5, gradient=True, roots=(kind,), motion=False)
    made, p = equations(model), np.array(ports(model).vector("parameter"))
    k = made.prepare(p)
    R = random_inputs(rng, model)[ports(model).by_name["system.orbit_position"].places]
    x, u = random_state(rng, model), np.array(ports(model).vector("input"))
    u = with_inputs(model, u, orbit_position=R, gravity=[1.0, -2.0, 0.5])
    instant = Observer(model, made).instant(x, u, p, k, column(made.derivatives(x, u, k)))
    rate, weight = instant.rates["system.momentum"], instant.mass * np.array([1.0, -2.0, 0.5])
    scale = sum(m.part.constants.mass * np.abs(m.acceleration).max() for m in instant.motions)
    assert np.abs(rate - weight).max() <= ROUNDING * max(1.0, scale)
    assert np.abs(instant.rates["system.angular_momentum"]).max() > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_attitude_root_turns_as_a_free_one(seed):
    rng = np.random.default_rng(7300 + seed)
    model = random_model(rng, 5, gradient=True, roots=("free",), motion=False)
    x, u = random_state(rng, model), random_inputs(rng, model)
    if seed == 0:
        case = random_flexible(7300, n_bodies=4, loops=0, roots=("free",), gradient=True)
        model, x, u = case.model, case.x, case.u
    bodies = [replace(b, joint=replace(b.joint, kind="attitude")) if b.joint.floating else b for b in model.bodies]
    rates, y = evaluated(model, x, u)
    same, seen = evaluated(replace(model, bodies=tuple(bodies)), x, u)
    scale = max(np.abs(rate).max() for rate in rates.values())
    for name, rate in rates.items():
        if name in same and not name.startswith("system."):
            assert np.abs(rate - same[name]).max() <= AGREEMENT * max(1.0, scale), name
    for name in y:
        if name.endswith((".load", ".specific_force")):
            assert np.abs(y[name] - seen[name]).max() <= AGREEMENT * max(1.0, np.abs(y[name]).max(), scale), name


def test_an_accelerometer_in_free_fall_feels_how_it_is_held():
    """A craft that points up all along a circular orbit: a node above its mass centre is held with 3 n^2 of height."""
    n, height = 0.5, 2.0
    distance = float(np.cbrt(EARTH / n**2))
    body = Body(
        name="a", mass=4.0, inertia=diagonal(1.0, 3.0, 2.5), joint=floating(),
        nodes={"top": Node(at=(height, 0.0, 0.0)), "side": Node(at=(0.0, 0.0, height))},
    )  # fmt: skip
    model = Model(
        name="a", bodies=(body,), initial={"a.omega": (0.0, 0.0, n)},
        gravity_gradient=GravityGradient(orbit_position=(distance, 0.0, 0.0)),
    )  # fmt: skip
    rates, y = evaluated(model, *started(model))
    assert near(rates["a.omega"], np.zeros(3), ROUNDING)
    assert near(y["a.top.specific_force"], np.array([-3 * n**2 * height, 0.0, 0.0]), ROUNDING)
    assert near(y["a.side.specific_force"], np.array([0.0, 0.0, n**2 * height]), ROUNDING)


@pytest.mark.parametrize("interpolation", ["held", "linear"])
def test_bad_orbit_positions_are_named_and_change_nothing(interpolation):
    model = dumbbell(GravityGradient())
    plant = Plant(model, interpolation=interpolation)
    plant.step(0.1)
    before = plant.time, plant.state.tolist()
    for bad, said in (([0.0, 0.0, 0.0], r"'system\.orbit_position': must lead away"),
                      ([7e6, 0.0, np.nan], r"'system\.orbit_position\[3\]': must be finite")):  # fmt: skip
        plant.inputs.orbit_position.values[:] = bad
        with pytest.raises(VariableError, match=said):
            plant.step(0.1)
        with pytest.raises(VariableError, match=said):
            plant.outputs()
        assert (plant.time, plant.state.tolist()) == before
    with pytest.raises(VariableError, match=r"'system\.orbit_position\[1\]'.*finite"):
        plant["system.orbit_position"] = [np.nan, 0.0, 0.0]
    with pytest.raises(VariableError, match=r"gravitational_parameter'.*>= 0"):
        plant["system.gravitational_parameter"] = -1.0
    plant["system.orbit_position"] = [0.0, "7000 km", 0.0]
    plant["system.gravitational_parameter"] = "42828 km^3/s^2"
    assert plant["system.gravitational_parameter"] == 42828e9
    assert np.isfinite(plant.step(0.1)["a.omega"]).all()


def test_other_formulations_step_it():
    model = dumbbell(GravityGradient(orbit_position=(5e4, 4e4, -3e4)))
    runs = [
        simulate(model, until=0.5, every=0.5, step=0.01, formulation=name) for name in ("order-n", "kane", "huston")
    ]
    for run in runs[1:]:
        assert near(run["a.omega"], runs[0]["a.omega"], AGREEMENT)


def test_a_model_without_one_has_nothing_of_it():
    plain, attracted = chain(2), replace(chain(2), gravity_gradient=GravityGradient())
    assert "system.orbit_position" not in ports(plain).by_name
    assert "system.gravitational_parameter" not in ports(plain).by_name
    assert equations(plain).operations < equations(attracted).operations
    assert equations(plain).n_k == equations(attracted).n_k - 1
    costs = [equations(replace(chain(n), gravity_gradient=GravityGradient())).operations for n in (2, 12, 22)]
    assert costs[2] - costs[1] == costs[1] - costs[0]  # it stays linear in the number of bodies


HEAD = 'mbdy = 1\nname = "x"\n[system]\n'
FREE = '\n[body.a]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "free" }\n'
HELD = FREE.replace("free", "spherical")


def test_file_there_and_back():
    model = loads(HEAD + "gravity_gradient = true" + FREE)
    assert model.gravity_gradient == GravityGradient(orbit_position=(7e6, 0.0, 0.0), gravitational_parameter=EARTH)
    given = 'gravity_gradient = true\norbit_position = [0, "6800 km", 1]\ngravitational_parameter = "42828 km^3/s^2"'
    model = loads(HEAD + given + FREE)
    wanted = GravityGradient(orbit_position=(0.0, 6.8e6, 1.0), gravitational_parameter=42828e9)
    assert model.gravity_gradient == wanted
    assert loads(dumps(model)) == replace(model, source="<string>")
    assert ports(model).vector("input")[-3:] == wanted.orbit_position
    assert loads(HEAD + "gravity_gradient = false" + HELD).gravity_gradient is None


@pytest.mark.parametrize(
    ("keys", "bodies", "path", "said"),
    [
        ("gravity_gradient = true", HELD, "system.gravity_gradient", "one root, which floats"),
        ("gravity_gradient = true", FREE + FREE.replace("body.a", "body.b"), "system.gravity_gradient", "'a', 'b'"),
        ('gravity_gradient = "yes"', FREE, "system.gravity_gradient", "true or false"),
        ("gravity_gradient = true\norbit_position = [0, 0, 0]", FREE, "system.orbit_position", "must not be zero"),
        ("gravity_gradient = true\norbit_position = [7e6, 0]", FREE, "system.orbit_position", "3 entries"),
        ("gravity_gradient = true\norbit_position = [nan, 0, 1]", FREE, "system.orbit_position[1]", "finite"),
        ("gravity_gradient = true\ngravitational_parameter = 0", FREE, "system.gravitational_parameter", "> 0 m3/s2"),
        ("orbit_position = [7e6, 0, 0]", FREE, "system.orbit_position", "gravity_gradient = true"),
        ("gravity_gradients = true", FREE, "system.gravity_gradients", "nearest known is 'gravity_gradient'"),
    ],
)
def test_refused(keys, bodies, path, said):
    with pytest.raises(ModelError) as caught:
        loads(HEAD + keys + bodies)
    (fault,) = caught.value.faults
    assert fault.path == path
    assert said in f"{fault.message}; {fault.remedy}"
    assert fault.remedy


def test_models_made_in_python_keep_the_rules():
    body = Body(name="a", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=Joint(to="inertial", rotations=(XYZ[0],)))
    with pytest.raises(ModelError, match="one root, which floats"):
        Plant(Model(name="a", bodies=(body,), gravity_gradient=GravityGradient()))
    nowhere = GravityGradient(orbit_position=(0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="orbit_position: must not be zero"):
        Plant(Model(name="a", bodies=(replace(body, joint=floating()),), gravity_gradient=nowhere))
