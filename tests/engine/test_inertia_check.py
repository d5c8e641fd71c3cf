"""Degrees of freedom that move no inertia: systems that look idle and are not, and idleness under rounding.

The refusals themselves are in `bad_models`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bad_models import panel
from mbdy.engine.files.inertia import faults_of_energy, faults_of_inertia, mass_matrix
from mbdy.engine.files.read import loads
from mbdy.engine.model.faults import ModelError
from mbdy.engine.model.system import Body, Flex, Joint, Model, Node

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


SLUG = """
mbdy = 1
[body.bus]
mass = 1e-3
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
[body.slug]
mass = 1
joint = { to = "bus", kind = "prismatic", axis = [1, 0, 0] }
flex = { frequencies = ["1 Hz"], coupling = [[0], [0], [0], [0.999], [0], [0]] }
node.end = { at = [0, 0, 0.3], shape = [[0], [0], [0], [1], [0], [0]] }
"""


def test_what_a_mode_leaves_of_the_inertia() -> None:
    """A mode that takes nearly all of a body along leaves a little; what hangs on its node does not help the joint."""
    loads(SLUG)
    whole = SLUG.replace("0.999", "1")
    for more in ("", "[body.tip]\nmass = 5\ninertia = [1, 1, 1]\njoint = { to = 'slug.end', kind = 'fixed' }"):
        with pytest.raises(ModelError) as caught:
            loads(whole + more)
        assert [fault.path for fault in caught.value.faults] == ["body.slug.joint"]
    origin = "[body.tip]\nmass = 5\ninertia = [1, 1, 1]\njoint = { to = 'slug', kind = 'fixed' }"
    loads(whole + origin)


def test_what_is_in_a_tank_counts() -> None:
    """A body of no mass moves what its tank holds at the start; a point of it cannot turn."""
    text = """mbdy = 1
[body.bus]
mass = 0
joint = { to = "inertial", kind = "free" }
node.e = { at = [0, 0, -1] }
[tank.t]
body = "bus"
shape = "sphere"
radius = 0.3
mass = 10
nozzle = "e"
exhaust_velocity = 200
"""
    table = 'shape = "sphere"\nradius = 0.3'
    loads(text)
    loads(text.replace(table, "table = [[20, 0, 0, 0.1, 1, 1, 1, 0, 0, 0]]"))
    point = 'shape = "point"\nat = [0.1, 0, 0]'
    for idle in (text + "[initial]\ntank.t.mass = 0\n", text.replace(table, point)):
        with pytest.raises(ModelError, match=r"body.bus.joint: .* move no inertia at the start"):
            loads(idle)
    with pytest.raises(ModelError) as caught:
        loads(text.replace('"sphere"', '"ball"'))
    assert [fault.path for fault in caught.value.faults] == ["tank.t.shape"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_flexible_trees_pass(seed: int) -> None:
    """Bodies on nodes of bodies whose modes take most of their mass along."""
    rng = np.random.default_rng(seed)
    bodies: list[Body] = []
    for k in range(6):
        to = f"b{rng.integers(k)}" if k else "inertial"
        joint = Joint(to=to, node="n" if k else "", rotations=(vector(rng),), at=vector(rng), frame=turn(rng))
        body = random_body(rng, f"b{k}", joint)
        factor = np.linalg.cholesky(mass_matrix(body)) @ np.linalg.qr(rng.normal(size=(6, 3)))[0]
        square = np.diag(10.0 ** rng.uniform(-3, 3, size=3))
        rows = [tuple(row) for row in (0.999 * factor @ square).tolist()]
        shape = tuple(tuple(row) for row in rng.normal(size=(6, 3)).tolist())
        mass = tuple(tuple(row) for row in (square @ square).tolist())
        flex = Flex(mass=mass, stiffness=mass, damping=mass, coupling=tuple(rows))
        bodies.append(replace(body, flex=flex, nodes={"n": Node(at=vector(rng), shape=shape)}))
    model = Model(name="", bodies=tuple(bodies))
    assert faults_of_energy(model) == []
    assert faults_of_inertia(model) == []
    large = [tuple(1.01 * value / 0.999 for value in row) for row in bodies[2].flex.coupling]  # type: ignore[union-attr]
    bodies[2] = replace(bodies[2], flex=replace(bodies[2].flex, coupling=tuple(large)))  # type: ignore[type-var]
    (fault,) = faults_of_energy(replace(model, bodies=tuple(bodies)))
    assert fault.path == "body.b2.flex.coupling"
