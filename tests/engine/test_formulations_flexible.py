"""Dense equations of flexible bodies against rigid equivalents, closed forms and laws of mechanics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body, Flex, Joint, Loop, Model, Node, Side
from mbdy.engine.verification.formulations import FORMULATIONS, UncoveredError
from mbdy.engine.verification.formulations.constrained import STEP, Constrained
from mbdy.engine.verification.formulations.flexible import exponential
from mbdy.engine.verification.formulations.kinematics import shifted
from mbdy.engine.verification.formulations.reader import Reader
from mbdy.engine.verification.formulations.solutions import lagrange
from mbdy.engine.verification.formulations.values import cross_matrix
from oracles.drawing import XYZ, nested
from oracles.named import BASE, CHILD, STATE, near, rate, vectors
from oracles.random_flexible import Case, random_flexible

ROUNDING = 1e-10
"""Relative, where condition numbers reach 1e5."""


def about(mass: float, r, inertia=0.0) -> np.ndarray:
    """Inertia about the origin of what has its mass centre at ``r``."""
    r = np.array(r)
    return np.array(inertia) + mass * (r @ r * np.eye(3) - np.outer(r, r))


def composite(base: Body, mass: float, r, inertia=0.0) -> Body:
    """``base`` with something more at ``r``."""
    total = base.mass + mass
    com = (base.mass * np.array(base.com) + mass * np.array(r)) / total
    whole = about(base.mass, base.com, base.inertia) + about(mass, r, inertia) - about(total, com)
    return replace(base, mass=total, com=tuple(com.tolist()), inertia=nested(whole))


AT, AXIS, K, C = (0.6, -0.3, 0.4), np.array([0.6, 0.0, 0.8]), 7.0, 0.3


def mode(mass: float, coupling, first, second) -> Flex:
    return Flex(
        mass=((mass,),), stiffness=((K,),), damping=((C,),), coupling=nested(np.reshape(coupling, (6, 1))),
        inertia_first=(nested(first),), inertia_second=((nested(second),),),
    )  # fmt: skip


def pair(kind: str) -> tuple[Model, Model]:
    """A base with a sprung part and a child on it: as three rigid bodies, and as a flexible one with a child."""
    axis, r, mass = tuple(AXIS.tolist()), np.array(AT), 0.9
    hinge = {"kind": "revolute", "rotations": ((0.3, 1.0, 0.2),), "at": (0.0, 0.1, 0.0)}
    if kind == "sliding":
        joint = Joint(to="base", kind="prismatic", translations=(axis,), at=AT, stiffness=(K,), damping=(C,))
        inertia = np.zeros((3, 3))
        ra = np.outer(r, AXIS)
        flex = mode(
            mass,
            mass * np.append(np.cross(r, AXIS), AXIS),
            mass * (2.0 * r @ AXIS * np.eye(3) - ra - ra.T),
            2.0 * mass * (np.eye(3) - np.outer(AXIS, AXIS)),
        )
        shape = np.append(np.zeros(3), AXIS)
    else:
        joint = Joint(to="base", kind="revolute", rotations=(axis,), at=AT, stiffness=(K,), damping=(C,))
        inertia = 0.2 * np.eye(3) + 0.3 * np.outer(AXIS, AXIS)
        flex = mode(0.5, np.append(0.5 * AXIS, np.zeros(3)), np.zeros((3, 3)), np.zeros((3, 3)))
        shape = np.append(AXIS, np.zeros(3))
    part = Body(name="part", joint=joint, mass=mass, inertia=nested(inertia), nodes={"end": Node(at=(0.0, 0.0, 0.0))})
    rigid = replace(CHILD, joint=Joint(to="part", **hinge))
    end = Node(at=AT, shape=nested(shape[:, None]))
    whole = replace(composite(BASE, mass, AT, inertia), flex=flex, nodes={**BASE.nodes, "end": end})
    return (
        Model(name="rigid", bodies=(BASE, part, rigid)),
        Model(name="flexible", bodies=(whole, replace(CHILD, joint=Joint(to="base", node="end", **hinge)))),
    )


@pytest.mark.parametrize("kind", ["sliding", "turning"])
@pytest.mark.parametrize("root", ["free", "attitude"])
def test_one_mode_equals_one_more_rigid_body(kind, root):
    rigid, flexible = (
        replace(
            m, bodies=tuple(replace(b, joint=replace(b.joint, kind=root)) if b.joint.floating else b for b in m.bodies)
        )
        for m in pair(kind)
    )
    name = {"sliding": ("displacement", "velocity", "force"), "turning": ("angle", "rate", "torque")}[kind]
    state = {k: v for k, v in STATE.items() if root == "free" or k != "base__velocity"}
    external = {"part__end__force": (0.4, -0.3, 0.2), "part__end__torque": (0.2, 0.6, -0.1)}
    x, u, p = vectors(rigid, **state, **external, **{f"part__joint__{name[0]}": 0.3, f"part__joint__{name[1]}": -0.7})
    xf, uf, pf = vectors(
        flexible, **state, base__end__force=external["part__end__force"],
        base__end__torque=external["part__end__torque"],
        base__flex__displacement=0.3, base__flex__rate=-0.7,
    )  # fmt: skip
    expected = FORMULATIONS["kane"].derivatives(rigid)(x, u, p)
    found = FORMULATIONS["lagrange"].derivatives(flexible)(xf, uf, pf)
    near(rate(flexible, found, "base.omega"), rate(rigid, expected, "base.omega"))
    near(rate(flexible, found, "base.flex.rate"), rate(rigid, expected, f"part.joint.{name[1]}"))
    near(rate(flexible, found, "child.joint.rate"), rate(rigid, expected, "child.joint.rate"))
    for other in ("base.velocity", "system.centre_of_mass_velocity"):
        if ports(rigid).by_name[other].state is not None:
            near(rate(flexible, found, other), rate(rigid, expected, other))


def test_current_stiffness_and_damping_count():
    model = pair("sliding")[1]
    x, u, p = vectors(model, base__flex__displacement=0.2, base__flex__rate=0.4)
    evaluate = FORMULATIONS["lagrange"].derivatives(model)
    before = rate(model, evaluate(x, u, p), "base.flex.rate")
    p[ports(model).by_name["base.flex.stiffness"].places] = 2.0 * K
    softened = rate(model, evaluate(x, u, p), "base.flex.rate")
    p[ports(model).by_name["base.flex.damping"].places] = 2.0 * C
    damped = rate(model, evaluate(x, u, p), "base.flex.rate")
    assert (softened - before) / (damped - softened) == pytest.approx(K * 0.2 / (C * 0.4), rel=1e-12)


def test_foreshortening_stiffens_what_spins():
    """A mass on a massless rod hinged at a radius swings in its plane of rotation at ``spin sqrt(radius/length)``."""
    radius, length, mass, spin, eta = 0.7, 1.6, 2.0, 3.0, 1e-6
    r, phi = np.array([radius + length, 0.0, 0.0]), np.array(XYZ[1])
    bend = np.array([-1.0 / length, 0.0, 0.0])
    second = 2.0 * mass * (np.eye(3) - np.outer(phi, phi) + r @ bend * np.eye(3) - np.outer(r, bend))
    flex = Flex(
        mass=((mass,),), stiffness=((0.0,),), damping=((0.0,),),
        coupling=nested(mass * np.append(np.cross(r, phi), phi)[:, None]),
        inertia_first=(nested(mass * (-np.outer(r, phi) - np.outer(phi, r))),),
        inertia_second=((nested(second),),),
        moment_second=tuple(nested([[mass * b]]) for b in bend),
    )  # fmt: skip
    hub = Joint(to="inertial", kind="revolute", rotations=(XYZ[2],), motion=("prescribed",))
    whole = composite(Body(name="hub", joint=hub, mass=1.0, inertia=nested(np.eye(3))), mass, r)
    model = Model(name="spinning", bodies=(replace(whole, flex=flex),))
    x, u, p = vectors(model, hub__joint__rate=spin, hub__flex__displacement=eta)
    found = rate(model, FORMULATIONS["lagrange"].derivatives(model)(x, u, p), "hub.flex.rate")[0]
    assert found == pytest.approx(-(spin**2) * radius / length * eta, rel=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, 1.1, 3.0])
def test_the_exponential_and_its_rate(size):
    theta, theta_rate = size * np.array([0.48, -0.6, 0.64]), np.array([0.7, 0.2, -1.1])
    turn, rates = exponential(theta)
    near(turn @ turn.T, np.eye(3), 1e-14)
    ahead = exponential(theta + 1j * STEP * theta_rate)[0].imag / STEP
    near(turn.T @ ahead, cross_matrix(rates @ theta_rate), 1e-14)


def quiet(case: Case) -> Case:
    """Without gravity and inputs, loops as they were."""
    model = replace(case.model, gravity=(0.0, 0.0, 0.0))
    u = np.array(ports(model).vector("input"))
    for v in ports(model).inputs:
        if v.boolean:
            u[v.places] = case.u[v.places]
    return replace(case, model=model, u=u)


@pytest.mark.parametrize("seed", range(12))
def test_energy_changes_by_the_power_of_springs_and_dampers(seed):
    case = quiet(random_flexible(500 + seed, wheels=False))
    reader = Reader(case.model)
    system = Constrained(reader, case.x, case.u, case.p)
    w, w_rate = system.w, lagrange(system)[0]
    ahead, change, power = shifted(system.parts, 1j * STEP), w @ system.M @ w_rate, 0.0
    for b, part in enumerate(ahead):
        y, momentum, _, _ = system.momentum(part, system.at_ahead, b)
        change += 0.5 * (y @ momentum).imag / STEP
        modes, motion, joint = part.constants.modes, system.parts[b].motion, part.body.joint
        if modes:
            power -= motion.eta_rate @ (modes.stiffness @ motion.eta + modes.damping @ motion.eta_rate)
        if not joint.floating:
            slack = motion.q[: joint.n_coordinates] - part.given.rest
            power -= motion.u @ (np.array(joint.damping) * motion.u)
            power -= motion.u[: joint.n_coordinates] @ (np.array(joint.stiffness) * slack)
    scale = np.abs(w) @ np.abs(system.M) @ np.abs(w_rate)
    assert abs(change - power) <= ROUNDING * scale


@pytest.mark.parametrize("seed", range(12))
def test_momentum_of_floating_systems_is_kept(seed):
    """Of two sides of every loop, and of every joint, one pushes as the other is pushed."""
    case = quiet(random_flexible(700 + seed, roots=("free",), wheels=seed % 2 == 0))
    case = replace(case, model=replace(case.model, loops=tuple(
        loop for loop in case.model.loops if "inertial" not in (loop.a.body, loop.b.body)
    )))  # fmt: skip
    x, u, p = case.x, np.array(ports(case.model).vector("input")), np.array(ports(case.model).vector("parameter"))
    system = Constrained(Reader(case.model), x, u, p)
    w_rate, force, torque, scale = lagrange(system)[0], np.zeros(3), np.zeros(3), 0.0
    for (momentum, remainder, inertia), at, part in zip(system.momenta, system.at.bodies, system.parts, strict=True):
        own, (omega, v) = inertia @ w_rate + remainder, np.split(at.J @ system.w, 2)
        pushed = at.C @ (own[3:6] + np.cross(omega, momentum[3:6]))
        spun = part.constants.spin_axes.T @ part.given.motors
        turned = at.C @ (own[:3] + spun + np.cross(omega, momentum[:3]) + np.cross(v, momentum[3:6]))
        force, torque = force + pushed, torque + turned + np.cross(at.r, pushed)
        scale += np.abs(pushed).max() + np.abs(turned).max()
    near(force / scale, 0.0, ROUNDING)
    near(torque / scale, 0.0, ROUNDING)


def test_what_trees_of_rigid_bodies_do_not_cover_is_said():
    model = pair("sliding")[1]
    loop = Loop(name="shut", a=Side(body="base"), b=Side(body="child"), rows=(4,))
    model = replace(model, loops=(loop,))
    for name in ("kane", "jpl", "huston"):
        said = FORMULATIONS[name].uncovered(model)
        assert "body 'base' is flexible" in said
        assert "the joint of 'child' sits on node 'end' of the flexible body 'base'" in said
        assert "loop 'shut' closes the tree of joints" in said
        with pytest.raises(UncoveredError, match="shut"):
            FORMULATIONS[name].derivatives(model)
    assert all(FORMULATIONS[name].uncovered(model) == () for name in ("lagrange", "kamman", "penrose"))
    with pytest.raises(UncoveredError, match="has no forces of loops"):
        FORMULATIONS["kane"].multipliers(pair("sliding")[0])
