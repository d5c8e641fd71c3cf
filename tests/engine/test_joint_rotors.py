"""Rotors of motors at joints: reflected inertia, and their own spin where their axes are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.engine import Body, Gear, Joint, Model, ModelError, PartError, Wheel, dumps, loads, verify
from mbdy.engine.model.ports import ports
from mbdy.engine.verification.formulations import FORMULATIONS
from oracles.drawing import any_axis
from oracles.random_models import explicit_rotors, random_inputs, random_model, random_state, rotor_name
from systems import diagonal

QUICK, ALL = range(3), range(3, 30)


def with_rotors(seed: int) -> Model:
    """A random tree with rotors at most joints, of most the axes given, that their carriers include."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, int(rng.integers(3, 8)), massless=False)
    bodies = []
    for body in model.bodies:
        joint = body.joint
        n = joint.n_coordinates
        if n and not joint.floating and rng.random() < 0.8:
            values = {"rotor_inertia": tuple(rng.uniform(1e-4, 2e-3, n).tolist()), "gear_ratio": tuple(
                (rng.choice([-1, 1], n) * np.exp(rng.uniform(0, 4, n))).tolist())}  # fmt: skip
            if joint.to != "inertial" and rng.random() < 0.8:
                values["rotor_axis"] = tuple(any_axis(rng) for _ in range(n))
            joint = replace(joint, **values)
        bodies.append(replace(body, joint=joint))
    return replace(model, bodies=tuple(bodies))


def compare(seed: int) -> None:
    model = with_rotors(seed)
    rng = np.random.default_rng(seed)
    running, p = Interpreted(model), np.array(ports(model).vector("parameter"))
    x, u = random_state(rng, model), random_inputs(rng, model)
    found = running.derivatives(x, u)
    for name in ("kane", "lagrange"):
        expected = FORMULATIONS[name].derivatives(model)(x, u, p)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))
    residual = running.outputs(x, u)[running.ports.by_name["system.work_residual"].offset]
    assert abs(residual) < 1e-9 * max(1.0, np.abs(found).max())


@pytest.mark.parametrize("seed", QUICK)
def test_random_systems(seed: int) -> None:
    compare(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_more_random_systems(seed: int) -> None:
    compare(seed)


@pytest.mark.parametrize("ratio", [-7.5, 1.0, 40.0])
def test_a_rotor_is_a_body_on_a_hinge_that_a_gear_turns(ratio: float) -> None:
    """The same motion, momentum and energy to 1e-10 of one by its axis and of one that is a body of its own."""
    rng = np.random.default_rng(5)
    carrier = Wheel(axis=(0.3, -1.0, 0.5), inertia=0.02)
    hull = Body(name="hull", mass=8.0, com=(0.1, 0.0, -0.2), inertia=diagonal(1.0, 0.8, 0.9),
                joint=Joint(to="inertial", kind="free"), wheels={"w": carrier})  # fmt: skip
    arm = Body(name="arm", mass=3.0, com=(0.2, 0.3, 0.0), inertia=diagonal(0.3, 0.2, 0.4),
               joint=Joint(to="hull", rotations=((0.2, 1.0, 0.1),), at=(0.4, 0.0, 0.1)))  # fmt: skip
    tip = Body(name="tip", mass=1.0, com=(0.0, 0.1, 0.1), inertia=diagonal(0.02, 0.03, 0.04),
               joint=Joint(to="arm", translations=((1.0, 0.0, 0.0),), at=(0.0, 0.5, 0.0)))  # fmt: skip
    told = explicit_rotors(rng, Model(name="", bodies=(hull, arm, tip), gravity=(0.0, 1.0, -2.0)))
    rotor = rotor_name("hull", "w")
    told = replace(told, gears=(Gear(name="g", terms=((f"{rotor}.joint", 1.0), ("arm.joint", -ratio))),))
    given = {"rotor_inertia": (0.02,), "gear_ratio": (ratio,), "rotor_axis": (carrier.axis,)}
    short = Model(name="", gravity=told.gravity, bodies=(
        replace(hull, wheels={}), replace(arm, joint=replace(arm.joint, **given)), tip,
    ))  # fmt: skip
    systems, starts = [Interpreted(told), Interpreted(short)], random_state(rng, short)
    by_name = dict(zip(systems[1].ports.state_names, starts, strict=True))
    by_name |= {f"{rotor}.joint.{what}": ratio * by_name[f"arm.joint.{what}"] for what in ("angle", "rate")}
    acting = {"arm.joint.torque": 0.7, "tip.force[2]": 1.5, "hull.torque[1]": -0.4, "system.gravity[3]": -2.0}
    seen = []
    for system in systems:
        x = np.array([by_name[name] for name in system.ports.state_names])
        u = np.array([acting.get(name, 0.0) for name in system.ports.input_names])
        rates = dict(zip(system.ports.state_names, system.derivatives(x, u), strict=True))
        y, table = system.outputs(x, u), system.ports.by_name
        totals = [y[table[f"system.{what}"].places] for what in ("angular_momentum", "energy", "momentum")]
        seen.append(np.concatenate([[rates[name] for name in systems[1].ports.state_names], *totals]))
    np.testing.assert_allclose(seen[0], seen[1], rtol=0, atol=1e-10 * np.abs(seen[0]).max())


ARM = """
mbdy = 1
[body.base]
mass = 10
inertia = [0.4, 0.5, 0.6]
joint = { to = "inertial", kind = "free" }
[body.arm]
mass = 0
[body.arm.joint]
to = "base"
kind = "revolute"
axis = [0, 0, 1]
rotor_inertia = "2e-4 kg*m^2"
gear_ratio = 50
"""


def test_a_joint_without_mass_has_its_rotors_inertia() -> None:
    """n^2 J = 0.5 kg.m2, and J n in the carrier's momentum where the rotor spins along the joint."""
    model = loads(ARM)
    assert verify(model, states=2).agrees
    for text, wanted in ((ARM, 1 / 0.5), (ARM + "rotor_axis = [0, 0, 1]\n", 1 / (0.5 - 0.01**2 / 0.6))):
        running = Interpreted(loads(text))
        names, u = list(running.ports.input_names), np.zeros(len(running.ports.input_names))
        u[names.index("arm.joint.torque")] = 1.0
        x = np.array(running.ports.start)
        rate = running.derivatives(x, u)[list(running.ports.state_names).index("arm.joint.rate")]
        assert rate == pytest.approx(wanted, rel=1e-12)
    for more in ("", "\nfriction = { coulomb = 0.3 }"):
        text = ARM + "rotor_axis = [0, 0, 2]" + more
        assert loads(dumps(loads(text))).bodies == loads(text).bodies


@pytest.mark.parametrize(
    ("lines", "path", "words"),
    [
        ("rotor_axis = [0, 0, 0]", "joint.rotor_axis[1]", "must not be zero"),
        ("rotor_axis = [[0, 0, 1], [0, 1, 0]]", "joint.rotor_axis", "has 2 axes for 1 degree of freedom"),
        ("rotor_axis = [0, 0, 1]\nrotor_inertia = 0.7", "joint.rotor_inertia", "add the rotor to body.base.inertia"),
        ("rotor_inertia = -1", "joint.rotor_inertia", "must be >= 0"),
        ("rotor_inertia = '3 kg'", "joint.rotor_inertia", "must be a number in kg.m2"),
        ("gear_ratio = '3 rad/m'", "joint.gear_ratio", "a number"),
        ('to = "inertial"\nrotor_axis = [0, 0, 1]', "joint.rotor_axis", "it does not turn"),
    ],
)
def test_refused(lines: str, path: str, words: str) -> None:
    keys = {line.partition(" = ")[0] for line in lines.splitlines()}
    kept = [line for line in ARM.splitlines() if line.partition(" = ")[0] not in keys]
    with pytest.raises(ModelError, match=words) as refused:
        loads("\n".join([*kept, lines]))
    assert refused.value.faults[0].path == f"body.arm.{path}"


def test_no_rotor_of_its_own_on_a_ball_or_without_inertia() -> None:
    with pytest.raises(PartError, match=r"a spherical joint has no angle for a rotor_inertia"):
        Joint(to="base", kind="spherical", rotor_inertia=(1.0,) * 3)
    with pytest.raises(PartError, match="is missing 'rotor_inertia' beside it"):
        Joint(to="base", rotations=((0, 0, 1),), rotor_axis=((0, 0, 1),))
