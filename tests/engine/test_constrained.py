"""The dense equations of closed loops against joints, closed forms and a benchmark."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbdy.engine.model.frames import from_matrix
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body, Joint, Loop, Model, Node, Side
from mbdy.engine.verification.formulations import FORMULATIONS
from mbdy.engine.verification.formulations.closures import closures
from mbdy.engine.verification.formulations.constrained import STEP, Constrained
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.solutions import lagrange
from mbdy.engine.verification.formulations.values import rotation
from oracles.drawing import XYZ, nested
from oracles.named import BASE, CHILD, STATE, near, rate, vectors
from oracles.random_flexible import Case, random_flexible

CONSTRAINED = ("lagrange", "kamman", "penrose")
ROUNDING = 1e-10
"""Relative, where condition numbers reach 1e5."""


@pytest.mark.parametrize("seed", range(12))
def test_jacobians_of_loops_are_their_errors_derivatives(seed):
    """At states that satisfy no loop, and loops that satisfy their equations there."""
    case, rng = random_flexible(900 + seed, loops=4, motion=False), np.random.default_rng(seed)
    reader, x = Reader(case.model), case.x + rng.uniform(-0.2, 0.2, len(case.x))
    system = Constrained(reader, x, case.u, case.p)
    ahead = closures(reader, system.at_ahead, case.u, case.p)
    for closure, later in zip(system.closures, ahead, strict=True):
        moving = np.array(closure.of.rows or (4,)) > 3
        near((closure.G @ system.w)[moving], later.phi.imag[moving] / STEP)


@cache
def looped(seed: int, *, motion: bool) -> Case:
    rng = np.random.default_rng(seed)
    while not (case := random_flexible(rng, loops=3, motion=motion)).model.loops:
        pass
    return case


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("name", CONSTRAINED)
def test_solutions_satisfy_the_equations_with_least_multipliers(name, seed):
    case = looped(1100 + seed, motion=bool(seed % 2))
    loads = FORMULATIONS[name].multipliers(case.model)(case.x, case.u, case.p)
    expected = FORMULATIONS["lagrange"].multipliers(case.model)(case.x, case.u, case.p)
    rates, wanted = (FORMULATIONS[n].derivatives(case.model)(case.x, case.u, case.p) for n in (name, "lagrange"))
    near(rates, wanted, ROUNDING)
    system = Constrained(Reader(case.model), case.x, case.u, case.p)
    w_rate, multipliers = lagrange(system)
    near(system.G @ w_rate, system.gamma, ROUNDING)
    free = ~system.held
    near((system.M @ w_rate - system.G.T @ multipliers)[free], system.f[free], ROUNDING)
    least = np.linalg.lstsq(system.G[:, free].T, system.G[:, free].T @ multipliers, rcond=1e-8)[0]
    near(least, multipliers, 1e-9)
    for loop in case.model.loops:
        own = loads[loop.name]
        near(own.multipliers, expected[loop.name].multipliers, 1e-9)
        if loop.switchable and not case.u[ports(case.model).by_name[f"loop.{loop.name}.closed"].offset]:
            assert not own.multipliers.any()
            assert not own.force.any()


JOINTS = {
    "weld": Joint(to="base", kind="fixed"),
    "pin": Joint(to="base", kind="revolute", rotations=(XYZ[2],)),
    "ball": Joint(to="base", kind="spherical", spherical=True),
    "slider": Joint(to="base", kind="prismatic", translations=(XYZ[2],)),
    "universal": Joint(to="base", kind="universal", rotations=(XYZ[0], XYZ[1])),
}
ROWS = {
    "weld": (1, 2, 3, 4, 5, 6),
    "pin": (1, 2, 4, 5, 6),
    "ball": (4, 5, 6),
    "slider": (1, 2, 3, 4, 5),
    "universal": (3, 4, 5, 6),
}


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("name", CONSTRAINED)
def test_a_loop_equals_a_joint(name, kind, twice):
    """A free body held by a loop, or by the same loop twice, moves as one on a joint, in a turned frame off origins."""
    frame, rng = (0.5, 0.5, -0.1, 0.7), np.random.default_rng(4)
    jointed = replace(JOINTS[kind], at=(0.4, -0.2, 0.3), frame=frame)
    tree = Model(name="tree", bodies=(BASE, replace(CHILD, joint=jointed)))
    free = replace(CHILD, joint=BASE.joint)
    loop = Loop(name="l", a=Side(body="base", at=jointed.at, frame=frame), b=Side(body="child"), rows=ROWS[kind])
    loops = (loop, replace(loop, name="again")) if twice else (loop,)
    closed = Model(name="closed", bodies=(BASE, free), loops=loops)
    state = {k: v for k, v in STATE.items() if not k.startswith("child")}
    x, u, p = vectors(tree, **state, child__force=(0.2, -0.4, 0.5), child__torque=(0.3, 0.1, -0.2))
    own = np.array([ports(tree).state_names.index(n) for n in ports(tree).state_names if n.startswith("child")], int)
    x[own] = rng.uniform(-1.0, 1.0, len(own))
    expected = FORMULATIONS["kane"].derivatives(tree)(x, u, p)
    tie = Loop(name="tie", a=Side(body="base"), b=Side(body="inertial"), rows=(4,), closed=False, switchable=True)
    grounded = replace(tree, loops=(tie,))  # with which the base keeps its velocity
    _, *given = vectors(grounded, **state, child__force=(0.2, -0.4, 0.5), child__torque=(0.3, 0.1, -0.2))
    at = Constrained(Reader(grounded), x, *given)
    w_rate = np.concatenate([rate(tree, expected, f"base.{n}") for n in ("velocity", "omega")])
    w_rate = np.append(w_rate, expected[own[len(own) - (len(at.w) - 6) :]] if len(at.w) > 6 else ())
    child, later = at.at.bodies[1], at.at_ahead.bodies[1]
    omega, v = np.split(child.J @ at.w, 2)
    omega_rate, v_rate = np.split(child.J @ w_rate + (later.J @ at.w).imag / STEP, 2)
    xc, uc, pc = vectors(closed, **state, child__force=(0.2, -0.4, 0.5), child__torque=(0.3, 0.1, -0.2))
    turned = np.array(from_matrix(child.C.tolist()))
    for variable, value in (("position", child.r), ("attitude", turned), ("velocity", child.C @ v), ("omega", omega)):
        place = ports(closed).by_name[f"child.{variable}"].state
        assert place is not None
        xc[place : place + len(value)] = value
    found = FORMULATIONS[name].derivatives(closed)(xc, uc, pc)
    loads = FORMULATIONS[name].multipliers(closed)(xc, uc, pc)
    near([np.abs(item.residual).max() for item in loads.values()], 0.0)
    near([np.abs(item.residual_rate).max() for item in loads.values()], 0.0)
    near(rate(closed, found, "base.omega"), rate(tree, expected, "base.omega"))
    near(rate(closed, found, "base.velocity"), rate(tree, expected, "base.velocity"))
    near(rate(closed, found, "child.omega"), omega_rate)
    near(rate(closed, found, "child.velocity"), child.C @ (v_rate + np.cross(omega, v)))
    pushed = sum(child.C.T @ at.at.bodies[0].C @ rotation(np.array(frame)) @ item.force for item in loads.values())
    acceleration = v_rate + np.cross(omega, v) + np.cross(omega_rate, CHILD.com)
    acceleration = acceleration + np.cross(omega, np.cross(omega, CHILD.com))
    near(pushed, CHILD.mass * (acceleration - child.C.T @ STATE["system__gravity"]) - (0.2, -0.4, 0.5))


def test_errors_of_loops_decay_with_their_time_constant():
    """Critically damped: ``(phi0 + (phi0' + phi0/T) t) exp(-t/T)``."""
    T, length = 0.2, 0.9
    body = replace(BASE, nodes={})
    loop = Loop(
        name="rod", a=Side(body="inertial"), b=Side(body="base", at=(0.2, 0.1, 0.0)), distance=length, time_constant=T
    )
    model = Model(name="hung", bodies=(body,), loops=(loop,), gravity=(0.0, -9.0, 0.0))
    x, u, p = vectors(model, base__position=(0.8, -0.6, 0.1), base__omega=(0.2, 0.5, -0.3))
    evaluate, loads = (getattr(FORMULATIONS["lagrange"], n)(model) for n in ("derivatives", "multipliers"))
    start, time = loads(x, u, p)["rod"], 0.5
    end = solve_ivp(lambda t, y: evaluate(y, u, p), (0.0, time), x, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    residual, residual_rate = start.residual[0], start.residual_rate[0]
    expected = (residual + (residual_rate + residual / T) * time) * np.exp(-time / T)
    assert loads(end, u, p)["rod"].residual[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", ["kane", "jpl", "huston", "lagrange"])
def test_a_joint_on_a_node_of_a_rigid_body_is_one_at_its_place(name):
    hinge = Joint(to="base", kind="revolute", rotations=(XYZ[0],), at=(0.4, 0.5, 0.0))
    at_place = Model(name="place", bodies=(BASE, replace(CHILD, joint=hinge)))
    on_node = replace(hinge, node="corner", at=(0.1, 0.1, 0.2))
    model = Model(name="node", bodies=(BASE, replace(CHILD, joint=on_node)))
    state = {k: v for k, v in STATE.items() if not k.endswith("velocity")}
    found, expected = (FORMULATIONS[name].derivatives(m)(*vectors(m, **state)) for m in (model, at_place))
    near(found, expected, 1e-14)


def link(name: str, to: str, mass: float, com, spin: float, at=(0.0, 0.0, 0.0), **nodes) -> Body:
    """A planar link that turns about z."""
    joint = Joint(to=to, kind="revolute", rotations=(XYZ[2],), at=at)
    inertia = nested(np.diag([0.7 * spin, 0.6 * spin, spin]))
    placed = {n: Node(at=(*place, 0.0)) for n, place in nodes.items()}
    return Body(name=name, joint=joint, mass=mass, com=(*com, 0.0), inertia=inertia, nodes=placed)


def closing(name: str, a: str, b: str, rows: tuple[int, ...] = (1, 2, 4, 5, 6)) -> Loop:
    (body_a, node_a), (body_b, node_b) = a.split("."), b.split(".")
    return Loop(name=name, a=Side(body=body_a, node=node_a), b=Side(body=body_b, node=node_b), rows=rows)


@pytest.mark.parametrize("name", CONSTRAINED)
def test_four_bar_mechanism_in_closed_form(name):
    """Eksergian's equation of crank, coupler and rocker: ``I t'' + I'/2 t'^2 = torque``, by influence coefficients."""
    r, c, s, g = 0.4, 1.1, 0.8, 1.0
    m, half, spin = (1.2, 2.1, 1.7), (0.15, 0.5, 0.35), (0.02, 0.21, 0.1)
    theta, omega, torque = 0.9, 2.3, 0.7
    tip = r * np.array([np.cos(theta), np.sin(theta)])
    away = np.array([g, 0.0]) - tip
    distance = np.linalg.norm(away)
    t3 = np.arctan2(away[1], away[0]) + np.arccos((c**2 + distance**2 - s**2) / (2 * c * distance))
    end = tip + c * np.array([np.cos(t3), np.sin(t3)])
    t4 = np.arctan2(end[1], end[0] - g)

    def normal(t):
        return np.array([-np.sin(t), np.cos(t)])

    def along(t):
        return np.array([np.cos(t), np.sin(t)])

    # First and second influence coefficients of coupler and rocker, d/dtheta of the loop equations.
    A = np.column_stack([c * normal(t3), -s * normal(t4)])
    k3, k4 = np.linalg.solve(A, -r * normal(theta))
    l3, l4 = np.linalg.solve(A, r * along(theta) + c * k3**2 * along(t3) - s * k4**2 * along(t4))
    h3, h3_slope = (
        r * normal(theta) + half[1] * k3 * normal(t3),
        (-r * along(theta) + half[1] * (l3 * normal(t3) - k3**2 * along(t3))),
    )
    inertia = spin[0] + m[0] * half[0] ** 2 + spin[1] * k3**2 + m[1] * h3 @ h3 + (spin[2] + m[2] * half[2] ** 2) * k4**2
    slope = 2 * (spin[1] * k3 * l3 + m[1] * h3 @ h3_slope + (spin[2] + m[2] * half[2] ** 2) * k4 * l4)
    theta_rate = (torque - 0.5 * slope * omega**2) / inertia
    model = Model(
        name="four bars",
        bodies=(
            link("crank", "inertial", m[0], (half[0], 0.0), spin[0], end=(r, 0.0)),
            replace(link("coupler", "crank", m[1], (half[1], 0.0), spin[1], end=(c, 0.0))),
            link("rocker", "inertial", m[2], (half[2], 0.0), spin[2], at=(g, 0.0, 0.0), end=(s, 0.0)),
        ),
        loops=(closing("pin", "coupler.end", "rocker.end"),),
    )
    model = replace(model, bodies=(model.bodies[0], replace(model.bodies[1], joint=replace(
        model.bodies[1].joint, node="end")), model.bodies[2]))  # fmt: skip
    x, u, p = vectors(
        model, crank__joint__angle=theta, coupler__joint__angle=t3 - theta, rocker__joint__angle=t4,
        crank__joint__rate=omega, coupler__joint__rate=(k3 - 1) * omega, rocker__joint__rate=k4 * omega,
        crank__joint__torque=torque,
    )  # fmt: skip
    found = FORMULATIONS[name].derivatives(model)(x, u, p)
    near(rate(model, found, "crank.joint.rate"), theta_rate)
    near(rate(model, found, "coupler.joint.rate"), (k3 - 1) * theta_rate + l3 * omega**2)
    near(rate(model, found, "rocker.joint.rate"), k4 * theta_rate + l4 * omega**2)
    load = FORMULATIONS[name].multipliers(model)(x, u, p)["pin"]
    near(load.residual, 0.0)
    near(load.residual_rate, 0.0)
    near(load.torque, 0.0)
    # What is left to the coupler, and the rocker's own moment about its pivot.
    pushed = (rotation(np.array([np.cos(t3 / 2), 0, 0, np.sin(t3 / 2)])) @ load.force)[:2]
    moment = np.cross([*(s * along(t4)), 0.0], [*pushed, 0.0])[2]
    near(moment, (spin[2] + m[2] * half[2] ** 2) * (k4 * theta_rate + l4 * omega**2))


ANDREWS = {
    "m1": 0.04325, "m2": 0.00365, "m3": 0.02373, "m4": 0.00706, "m5": 0.0705, "m6": 0.00706, "m7": 0.05498,
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "c0": 4530,
    "i1": 2.194e-06, "i2": 4.41e-07, "i3": 5.255e-06, "i4": 5.667e-07, "i5": 1.169e-05, "i6": 5.667e-07,
    "i7": 1.912e-05, "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "l0": 0.07785,
    "ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02, "ta": 0.02308, "tb": 0.00916, "u": 0.04,
    "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04, "fa": 0.01421, "mom": 0.033,
    "q": (-0.06171389001427645, 0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256,
          -0.22266839016588588, 1.2305474445498212),
    "accelerations": (14222.443919954114, -10666.832939965585),
    "multipliers": (98.56687039624109, -6.122688344255662),
}  # fmt: skip
"""Andrews' squeezing mechanism: data and start of the CWI/Bari test set for IVP solvers (problem andrews)."""


@pytest.mark.parametrize("pins", [True, False])
def test_andrews_squeezer_starts_as_in_the_test_set(pins):
    """Seven bodies, three loops: accelerations and multipliers of the test set at its start, where all is at rest."""
    b = ANDREWS
    q = dict(zip(("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"), b["q"], strict=True))
    A, B = (b["xa"], b["ya"], 0.0), (b["xb"], b["yb"], 0.0)
    model = Model(
        name="squeezer",
        bodies=(
            link("k1", "inertial", b["m1"], (b["ra"], 0), b["i1"], end=(b["rr"], 0)),
            link("k2", "k1", b["m2"], (-b["da"], 0), b["i2"], at=(b["rr"], 0, 0), end=(-b["d"], 0)),
            link("k3", "inertial", b["m3"], (b["sb"], -b["sa"]), b["i3"], B,
                 end=(0, -b["ss"]), spring=(b["sd"], -b["sc"])),
            link("k5", "inertial", b["m5"], (b["ta"], b["tb"]), b["i5"], A),
            link("k4", "k5", b["m4"], (0, b["ea"] - b["e"]), b["i4"], at=(b["zt"], 0, 0), end=(0, -b["e"])),
            link("k7", "inertial", b["m7"], (-b["ub"], -b["ua"]), b["i7"], A),
            link("k6", "k7", b["m6"], (b["zf"] - b["fa"], 0), b["i6"], at=(0, -b["u"], 0), end=(b["zf"], 0)),
        ),
        loops=tuple(
            closing(f"l{k}", "k2.end", f"{other}.end", (1, 2, 4, 5, 6) if pins else (4, 5))
            for k, other in enumerate(("k3", "k4", "k6"))
        ),
    )  # fmt: skip
    angles = {"k1": "beta", "k2": "Theta", "k3": "gamma", "k4": "Phi", "k5": "delta", "k6": "Omega", "k7": "epsilon"}
    x, u, p = vectors(model, **{f"{body}__joint__angle": q[angle] for body, angle in angles.items()})
    system = Constrained(Reader(model), x, u, p)
    site = system.at.site(model.index["k3"], "spring")
    stretch = site.r - (b["xc"], b["yc"], 0.0)
    length = np.linalg.norm(stretch)
    u[ports(model).by_name["k3.spring.force"].places] = site.C.T @ (-b["c0"] * (length - b["l0"]) * stretch / length)
    u[ports(model).by_name["k1.joint.torque"].places] = b["mom"]
    for name in CONSTRAINED:
        found = FORMULATIONS[name].derivatives(model)(x, u, p)
        got = [rate(model, found, f"{body}.joint.rate")[0] for body in ("k1", "k2")]
        np.testing.assert_allclose(got, b["accelerations"], rtol=1e-9)
        load = FORMULATIONS[name].multipliers(model)(x, u, p)["l0"]
        pushed = system.at.site(model.index["k2"], "end").C @ load.force
        np.testing.assert_allclose(pushed[:2], b["multipliers"], rtol=1e-9)
        np.testing.assert_allclose(load.torque, 0.0, atol=1e-9)
