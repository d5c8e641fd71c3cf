"""Degrees of freedom that move no inertia: systems that look idle and are not, and idleness under rounding.

The refusals themselves are in `bad_models`.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bad_models import panel
from mbdy.engine.faults import ModelError
from mbdy.engine.files import loads
from mbdy.engine.inertia_check import faults_of_inertia
from mbdy.engine.model import Body, Joint, Model

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def vector(rng: np.random.Generator) -> tuple[float, float, float]:
    x, y, z = rng.normal(size=3).tolist()
    return (x, y, z)


def turn(rng: np.random.Generator) -> tuple[float, float, float, float]:
    q = rng.normal(size=4)
    w, x, y, z = (q / np.linalg.norm(q)).tolist()
    return (w, x, y, z)


def random_body(rng: np.random.Generator, name: str, joint: Joint) -> Body:
    mass = float(10 ** rng.uniform(-6, 6))
    factor = rng.normal(size=(3, 3))
    a, b, c = ((factor @ factor.T + np.eye(3)) * mass * 0.1).tolist()
    return Body(name=name, mass=mass, com=vector(rng), inertia=(tuple(a), tuple(b), tuple(c)), joint=joint)


def test_prescribed_motion_needs_no_inertia() -> None:
    loads(panel('kind = "revolute"', "axis = [1, 0, 0]", 'motion = "prescribed"', body="mass = 0"))
    with pytest.raises(ModelError, match="no inertia"):
        loads(panel('kind = "revolute"', "axis = [1, 0, 0]", 'motion = "switchable"', body="mass = 0"))


def test_lock_depends_on_the_start() -> None:
    loads(panel('kind = "gimbal"', 'sequence = "zyz"', more="[initial]\npanel.joint.angle = [0, 0.1, 0]"))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_mass_ratios_pass(seed: int) -> None:
    """Trees of masses from 1e-6 to 1e6 kg, light bodies under heavy ones and the other way round."""
    rng = np.random.default_rng(seed)
    bodies = [random_body(rng, "b0", Joint(to="inertial", kind="free", translations=(X, Y, Z), spherical=True))]
    for k in range(1, 12):
        joint = Joint(to=f"b{rng.integers(k)}", rotations=(vector(rng),), at=vector(rng), frame=turn(rng))
        bodies.append(random_body(rng, f"b{k}", joint))
    assert faults_of_inertia(Model(name="", bodies=tuple(bodies))) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 20))
def test_rounding_does_not_hide_an_idle_hinge(seed: int, more: int) -> None:
    """Seven hinges of any direction with nothing but six freedoms of a body to move."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(6):
        to = bodies[-1].name if bodies else "inertial"
        joint = Joint(to=to, rotations=(vector(rng),), at=vector(rng), frame=turn(rng))
        bodies.append(Body(name=f"b{k}", mass=0.0, joint=joint))
    for k in range(6, 7 + more):
        joint = Joint(to=f"b{k - 1}", rotations=(vector(rng),), at=vector(rng), frame=turn(rng))
        bodies.append(random_body(rng, f"b{k}", joint))
    model = Model(name="", bodies=tuple(bodies))
    found = {fault.path for fault in faults_of_inertia(model)}
    assert found
    assert found <= {f"body.b{k}.joint" for k in range(7)}  # most often the last to be asked, b0
