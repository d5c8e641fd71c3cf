"""The oracles against closed forms, identities and each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body, Joint, Model, Wheel
from oracles.dense_kane import (
    accelerations,
    columns,
    kinematics,
    kinetic_energy_rate,
    loads,
    outputs,
    quaternion_rotation,
    skew,
    solve,
)
from oracles.jacobi import quaternion_of, torque_free
from oracles.random_models import (
    CONDITION,
    KINDS,
    XYZ,
    condition,
    explicit_rotors,
    random_inputs,
    random_model,
    random_state,
    rotor_name,
)

ROUND_OFF = 1e-11
"""Relative: condition numbers up to 1e5 times round-off."""
STEP = 1e-30
"""Complex step: any value far below round-off."""
CLOSED_FORM = 1e-12
SEEDS = range(30)


def drawn(seed: int, **options: object) -> tuple[Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    model = random_model(rng, **options)  # type: ignore[arg-type]
    return model, random_state(rng, model), random_inputs(rng, model)


def place(model: Model, name: str) -> slice:
    variable = ports(model).by_name[name]
    at = variable.state if variable.causality == "output" else variable.offset
    assert at is not None
    return slice(at, at + variable.size)


def close(a: np.ndarray, b: np.ndarray, tolerance: float, scale: float = 0.0) -> None:
    a, b = np.asarray(a), np.asarray(b)
    assert np.abs(a - b).max(initial=0.0) <= tolerance * max(1.0, scale, np.abs(b).max(initial=0.0))


def test_random_models_cover_everything():
    models = [random_model(seed) for seed in range(100)]
    joints = [b.joint for m in models for b in m.bodies]
    assert {j.kind for j in joints} == {*KINDS, "free", "attitude"}
    assert {len(m.bodies) for m in models} == set(range(2, 13))
    assert {s for j in joints for s in j.motion} == {"free", "prescribed", "switchable"}
    assert any(b.mass == 0.0 for m in models for b in m.bodies)
    assert any(b.wheels for m in models for b in m.bodies)
    assert any(b.nodes for m in models for b in m.bodies)
    assert any(sum(b.joint.to == "inertial" for b in m.bodies) > 1 for m in models)
    assert any(j.n_translations == 3 and j.n_rotations == 3 and not j.floating for j in joints)
    assert random_model(7) == random_model(7)


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_are_derivatives_along_the_motion(seed: int):
    """Positions, velocities and accelerations of all bodies, by complex step along xdot."""
    model, x, u = drawn(seed)
    assert condition(model, x) < CONDITION
    solution = solve(model, x, u)
    ahead = kinematics(model, x + 1j * STEP * solution.xdot, u).bodies
    for body in model.bodies:
        m, rate = solution.bodies[body.name], {k: v.imag / STEP for k, v in vars(ahead[body.name]).items()}
        scale = np.abs(solution.xdot).max()
        close(rate["rotation"], skew(m.omega) @ m.rotation, ROUND_OFF, scale)
        close(rate["origin"], m.origin_velocity, ROUND_OFF, scale)
        close(rate["centre"], m.centre_velocity, ROUND_OFF, scale)
        close(rate["omega"], m.alpha, ROUND_OFF, scale)
        close(rate["origin_velocity"], m.origin_acceleration, ROUND_OFF, scale)
        close(rate["centre_velocity"], m.centre_acceleration, ROUND_OFF, scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_and_momentum_change_as_forces_say(seed: int):
    model, x, u = drawn(seed)
    solution, here = solve(model, x, u), kinematics(model, x, u)
    ahead = kinematics(model, x + 1j * STEP * solution.xdot, u)
    scale = float(np.abs(solution.power).max())
    close(ahead.kinetic_energy.imag / STEP, solution.power.sum(), ROUND_OFF, scale)
    close(kinetic_energy_rate(model, x, u), solution.power.sum(), ROUND_OFF, scale)
    table, force, torque = ports(model), np.zeros(3), np.zeros(3)
    spring = 0.0
    for body in model.bodies:
        R, centre, name = here.bodies[body.name].rotation, here.bodies[body.name].centre, body.name
        origin = here.bodies[name].origin
        attacks = [(name, centre)]
        attacks += [(f"{name}.{n}", origin + R @ np.array(p.at)) for n, p in body.nodes.items()]
        for stem, point in attacks:
            f, t = (R @ u[place(model, f"{stem}.{sort}")] for sort in ("force", "torque"))
            force, torque = force + f, torque + t + np.cross(point - here.centre_of_mass, f)
        if body.joint.to == "inertial":
            load = solution.loads[name]
            force = force + R @ load[3:]
            torque = torque + R @ load[:3] + np.cross(origin - here.centre_of_mass, R @ load[3:])
        force = force + body.mass * u[place(model, "system.gravity")]
        k = [*body.joint.stiffness]
        for sort, many in (("displacement", body.joint.n_translations), ("angle", len(body.joint.rotations))):
            if many and not body.joint.floating:
                q = place(model, f"{name}.joint.{sort}")
                rest = u[table.by_name[f"{name}.joint.rest"].places]
                rest = rest[:many] if sort == "displacement" else rest[len(rest) - many :]
                mine, k = np.array(k[:many]), k[many:]
                spring += (mine * (rest - x[q])) @ solution.xdot[q]
    scale = max(np.abs(load).max() for load in solution.loads.values())
    close(ahead.momentum.imag / STEP, force, ROUND_OFF, scale)
    close(ahead.angular_momentum.imag / STEP, torque, ROUND_OFF, scale)
    work = spring + here.mass * u[place(model, "system.gravity")] @ here.centre_of_mass_velocity
    change = ahead.energy.imag / STEP + work
    close(change, ahead.kinetic_energy.imag / STEP, ROUND_OFF, float(np.abs(solution.power).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_loads_are_what_joints_can_carry(seed: int):
    """Newton-Euler agrees with Kane: nothing but the known effort acts along a free degree of freedom."""
    model, x, u = drawn(seed)
    solution = solve(model, x, u)
    scale = max(np.abs(load).max() for load in solution.loads.values())
    for body in model.bodies:
        joint, stem = body.joint, f"{body.name}.joint"
        reaction = solution.reactions[body.name]
        for k, motion in enumerate(joint.motion):
            held = motion == "prescribed"
            if motion == "switchable":
                own = [j for j, how in enumerate(joint.motion) if how == "switchable"].index(k)
                held = u[place(model, f"{stem}.prescribed")][own] or u[place(model, f"{stem}.locked")][own]
            if not held:
                close(reaction[k], 0.0, ROUND_OFF, scale)
        if joint.floating and all(motion == "free" for motion in joint.motion):
            close(loads(model, x, u)[body.name], np.zeros(6), ROUND_OFF, scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_wheels_equal_explicit_rotors(seed: int):
    rng = np.random.default_rng(seed)
    model = random_model(rng, int(rng.integers(2, 6)), massless=False)
    while not any(b.wheels for b in model.bodies):
        model = random_model(rng, int(rng.integers(2, 6)), massless=False)
    x, u = random_state(rng, model), random_inputs(rng, model)
    explicit = explicit_rotors(rng, model)
    X, U = np.zeros(len(ports(explicit).state_names)), np.zeros(len(ports(explicit).input_names))
    theirs, ours = ports(explicit), ports(model)
    for v in theirs.outputs:
        if v.state is not None and v.name in ours.by_name:
            X[place(explicit, v.name)] = x[place(model, v.name)]
    for v in theirs.inputs:
        if v.name in ours.by_name:
            U[v.places] = u[ours.by_name[v.name].places]
    y = outputs(model, x, u)
    wheels = [(b.name, w, rotor_name(b.name, w)) for b in model.bodies for w in b.wheels]
    for body, wheel, rotor in wheels:
        X[place(explicit, f"{rotor}.joint.rate")] = y[f"{body}.{wheel}.speed"]
        U[place(explicit, f"{rotor}.joint.torque")] = u[place(model, f"{body}.{wheel}.torque")]
    # External forces on a body act at the mass centre of what is left of it: move them there.
    for b in model.bodies:
        shift = np.array(b.com) - np.array(explicit.body(b.name).com)
        U[place(explicit, f"{b.name}.torque")] += np.cross(shift, u[place(model, f"{b.name}.force")])
    xdot, Xdot = accelerations(model, x, u), accelerations(explicit, X, U)
    scale = float(max(np.abs(xdot).max(), np.abs(Xdot).max()))
    for v in ours.outputs:
        if v.state is not None and not v.name.endswith(".momentum"):
            close(Xdot[place(explicit, v.name)], xdot[place(model, v.name)], 10 * ROUND_OFF, scale)
    solution = solve(model, x, u)
    for body, wheel, rotor in wheels:
        part = model.body(body).wheels[wheel]
        m, axis = solution.bodies[body], np.array(part.axis) / np.linalg.norm(part.axis)
        spin = Xdot[place(explicit, f"{rotor}.joint.rate")][0] + axis @ m.rotation.T @ m.alpha
        torque = u[place(model, f"{body}.{wheel}.torque")][0]
        close(part.inertia * spin, torque, 10 * ROUND_OFF, scale)
    Y, totals = outputs(explicit, X, U), kinematics(model, x, u)
    for name in ("momentum", "angular_momentum", "energy"):
        close(Y[f"system.{name}"], y[f"system.{name}"], 10 * ROUND_OFF, totals.scales[name])
    carried = loads(explicit, X, U)
    scale = max(np.abs(load).max() for load in carried.values())
    for name, load in solution.loads.items():
        close(carried[name], load, 10 * ROUND_OFF, scale)


@pytest.mark.parametrize("seed", range(10))
def test_attitude_root_turns_as_a_free_one(seed: int):
    rng = np.random.default_rng(seed)
    model = random_model(rng, roots=("attitude",), floating_motion=False)
    free = replace(
        model,
        bodies=tuple(replace(b, joint=replace(b.joint, kind="free")) if b.joint.floating else b for b in model.bodies),
    )
    root = next(b.name for b in model.bodies if b.joint.floating)
    x, u = random_state(rng, model), random_inputs(rng, model)
    X, y = x.copy(), outputs(model, x, u)
    for sort in ("position", "velocity"):
        X[place(free, f"{root}.{sort}")] = y[f"{root}.{sort}"]
    xdot, Xdot = accelerations(model, x, u), accelerations(free, X, u)
    scale = float(np.abs(Xdot).max())
    rest = np.ones(len(x), bool)
    rest[place(model, "system.centre_of_mass")] = rest[place(model, "system.centre_of_mass_velocity")] = False
    close(xdot[rest], Xdot[rest], ROUND_OFF, scale)
    close(y[f"{root}.acceleration"], Xdot[place(free, f"{root}.velocity")], ROUND_OFF, scale)
    for name, value in outputs(free, X, u).items():
        if name != "system.work_residual":
            close(y[name], value, 100 * ROUND_OFF, max(scale, np.abs(value).max()))
    ahead = kinematics(free, X + 1j * STEP * Xdot, u)
    close(
        xdot[place(model, "system.centre_of_mass_velocity")],
        ahead.centre_of_mass_velocity.imag / STEP,
        ROUND_OFF,
        scale,
    )


@pytest.mark.parametrize("seed", range(10))
def test_norm_of_quaternions_only_scales_their_rates(seed: int):
    rng = np.random.default_rng(seed)
    model = random_model(rng, roots=("free", "attitude"), kinds=("spherical", "general", "revolute"))
    x, u = random_state(rng, model), random_inputs(rng, model)
    scaled, factors = x.copy(), np.ones(len(x))
    for at in ports(model).quaternions:
        factors[at : at + 4] = rng.uniform(0.3, 3.0)
    scaled *= factors
    expected = accelerations(model, x, u)
    close(accelerations(model, scaled, u) / factors, expected, ROUND_OFF, float(np.abs(expected).max()))


def test_double_pendulum():
    """Two uniform rods in a vertical plane; Lagrange's equations in absolute angles from the vertical."""
    m1, m2, l1, c1, c2, j1, j2, g = 1.3, 0.7, 0.9, 0.4, 0.35, 0.11, 0.05, 9.81
    hinge = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 2.0),))
    upper = Body(name="upper", joint=hinge, mass=m1, com=(0.0, -c1, 0.0), inertia=_diagonal(0.2, 0.3, j1))
    elbow = replace(hinge, to="upper", at=(0.0, -l1, 0.0))
    lower = Body(name="lower", joint=elbow, mass=m2, com=(0.0, -c2, 0.0), inertia=_diagonal(0.1, 0.2, j2))
    model = Model(name="pendulum", bodies=(lower, upper), gravity=(0.0, -g, 0.0))
    a, b, wa, wb, ta, tb = 0.8, -0.5, 1.2, -2.1, 0.3, -0.2
    x = np.zeros(4)
    x[place(model, "upper.joint.angle")], x[place(model, "lower.joint.angle")] = a, b - a
    x[place(model, "upper.joint.rate")], x[place(model, "lower.joint.rate")] = wa, wb - wa
    u = np.array(ports(model).vector("input"))
    u[place(model, "upper.joint.torque")], u[place(model, "lower.joint.torque")] = ta, tb
    h = m2 * l1 * c2
    M = np.array([[j1 + m1 * c1**2 + m2 * l1**2, h * np.cos(a - b)], [h * np.cos(a - b), j2 + m2 * c2**2]])
    F = np.array(
        [
            ta - tb - h * np.sin(a - b) * wb**2 - (m1 * c1 + m2 * l1) * g * np.sin(a),
            tb + h * np.sin(a - b) * wa**2 - m2 * c2 * g * np.sin(b),
        ]
    )
    expected = np.linalg.solve(M, F)
    xdot = accelerations(model, x, u)
    found = xdot[place(model, "upper.joint.rate")][0]
    close(found, expected[0], CLOSED_FORM)
    close(xdot[place(model, "lower.joint.rate")][0], expected[1] - expected[0], CLOSED_FORM)


def _diagonal(a: float, b: float, c: float) -> tuple[tuple[float, float, float], ...]:
    return ((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c))


@pytest.mark.parametrize("kind", ["free", "attitude"])
def test_gyrostat_follows_euler(kind: str):
    """One free body with a wheel: I wdot + J a Omegadot = T - w x (I w + J a Omega)."""
    inertia, a, J = (
        np.array([[3.0, 0.2, 0.1], [0.2, 2.0, -0.3], [0.1, -0.3, 1.5]]),
        np.array([0.6, 0.0, 0.8]),
        0.2,
    )
    root = Joint(to="inertial", kind=kind, translations=XYZ, spherical=True)
    body = Body(
        name="bus",
        joint=root,
        mass=4.0,
        com=(0.1, -0.2, 0.3),
        inertia=tuple(map(tuple, inertia.tolist())),
        wheels={"w": Wheel(axis=(1.2, 0.0, 1.6), inertia=J)},
    )
    model = Model(name="gyrostat", bodies=(body,), gravity=(0.0, 0.0, -2.0))
    rng = np.random.default_rng(3)
    x, u = random_state(rng, model), random_inputs(rng, model)
    w, h = x[place(model, "bus.omega")], x[place(model, "bus.w.momentum")][0]
    F, T, motor = (u[place(model, f"bus.{n}")] for n in ("force", "torque", "w.torque"))
    speed = h / J - a @ w
    # Unknowns: wdot and Omegadot; the rotor's own equation is J (Omegadot + a . wdot) = motor torque.
    A = np.block([[inertia, J * a[:, None]], [J * a[None, :], np.array([[J]])]])
    right = np.concatenate([T - np.cross(w, inertia @ w + J * a * speed), motor])
    wdot = np.linalg.solve(A, right)[:3]
    xdot = accelerations(model, x, u)
    close(xdot[place(model, "bus.omega")], wdot, CLOSED_FORM)
    close(xdot[place(model, "bus.w.momentum")], motor, CLOSED_FORM)
    R = quaternion_rotation(x[place(model, "bus.attitude")])
    centre = R @ F / 4.0 + u[place(model, "system.gravity")]
    c = np.array(body.com)
    origin = centre - R @ (np.cross(wdot, c) + np.cross(w, np.cross(w, c)))
    name = "bus.velocity" if kind == "free" else "system.centre_of_mass_velocity"
    close(xdot[place(model, name)], origin if kind == "free" else centre, CLOSED_FORM)
    close(outputs(model, x, u)["bus.acceleration"], origin, CLOSED_FORM)


def test_columns_follow_the_speed_states():
    model = random_model(11)
    names = ports(model).state_names
    speeds = [n for n in names if n.rsplit("[", 1)[0].endswith((".velocity", ".rate", ".omega", "mass_velocity"))]
    assert sum(s.stop - s.start for s in columns(model).values()) == len(speeds)


TENSOR = np.array([[3.0, 0.2, 0.1], [0.2, 2.0, -0.3], [0.1, -0.3, 1.4]])


@pytest.mark.parametrize("inertia", [np.array([1.0, 2.0, 3.0]), np.array([2.5, 1.2, 1.9]), TENSOR])
@pytest.mark.parametrize("omega", [(0.1, 0.2, 1.0), (1.0, 0.2, -0.1), (-0.3, 0.9, 0.2), (0.5, -0.5, -0.5)])
def test_jacobi_equals_integration(inertia: np.ndarray, omega: tuple[float, float, float]):
    tensor = np.diag(inertia) if inertia.ndim == 1 else inertia
    start = np.array([0.5, -0.1, 0.7, 0.3])
    start /= np.linalg.norm(start)

    def rates(_: float, z: np.ndarray) -> np.ndarray:
        q, w = z[:4], z[4:]
        qdot = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        return np.concatenate([qdot, np.linalg.solve(tensor, -np.cross(w, tensor @ w))])

    times = np.linspace(0.0, 40.0, 81)
    run = solve_ivp(rates, (0.0, 40.0), np.concatenate([start, omega]), "DOP853", times, rtol=1e-13, atol=1e-14)
    w, q = torque_free(inertia, omega, times, start)
    assert np.abs(w - run.y[4:].T).max() < 2e-12  # the integration's own error
    assert np.abs(q - run.y[:4].T).max() < 4e-12
    momentum = np.array([quaternion_rotation(qk) @ tensor @ wk for qk, wk in zip(q, w, strict=True)])
    assert np.abs(momentum - momentum[0]).max() < 1e-13 * 10


@pytest.mark.parametrize("seed", range(5))
def test_jacobi_attitude_turns_at_omega(seed: int):
    """Rdot = R [w x] by differences of eighth order, far from the start."""
    rng = np.random.default_rng(seed)
    inertia, start = rng.uniform(1.0, 3.0, 3), rng.normal(size=3)
    middle, h = 1e3, 0.02
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    w, q = torque_free(inertia, start, middle + h * np.arange(-4, 5))
    rate = np.tensordot(weights, np.array([quaternion_rotation(k) for k in q]), 1)
    close(rate, quaternion_rotation(q[4]) @ skew(w[4]), 1e-9)
    tensor = np.diag(inertia)
    close(tensor @ (weights @ w), -np.cross(w[4], tensor @ w[4]), 1e-9)


def test_jacobi_steady_rotation():
    w, q = torque_free((1.0, 2.0, 3.0), (0.0, 0.0, -0.5), [0.0, 2.0])
    close(w, np.array([[0.0, 0.0, -0.5]] * 2), 1e-15)
    close(q[1], np.array([np.cos(0.5), 0.0, 0.0, -np.sin(0.5)]), 1e-15)


def test_quaternion_of_inverts_rotation():
    rng = np.random.default_rng(0)
    for q in [*rng.normal(size=(20, 4)), *np.eye(4), np.array([0.0, 1.0, -1.0, 0.0])]:
        R = quaternion_rotation(q)
        close(quaternion_rotation(quaternion_of(R)), R, 1e-14)
