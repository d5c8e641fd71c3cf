"""Frames along joints: the same motion as in the bodies' own axes, whatever way the axes point."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from mbdy.engine import Body, Joint, Model
from mbdy.engine.model.ports import ports
from mbdy.engine.order_n.derivatives import forward_of
from mbdy.engine.order_n.equations import _Assembly, equations
from mbdy.engine.order_n.kernels import Kernels
from mechanisms import hinge, three_legs
from oracles.random_models import random_inputs, random_model, random_state
from systems import diagonal, floating

SAME = 1e-12
SKEW = (0.3, -0.5, 0.8)
DIRECTIONS = {
    "parallel": [(0, 0, 1)] * 4,
    "opposed": [(0, 0, 1), (0, 0, -1), (0, 0, 1), (0, 0, -1)],
    "nearly parallel": [(0, 0, 1), (1e-9, 0, 1), (0, 1e-17, 1), (1e-200, -1e-300, 1)],
    "skew and parallel": [SKEW, SKEW, (0.3, -0.5, 0.8 + 1e-15), (-0.3, 0.5, -0.8)],
    "right angles": [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)],
}


def rates_and_outputs(model: Model, *, along: bool) -> ca.Function:
    """x' and y of x, u, k, with frames ``along`` joints or in the bodies' own axes."""
    assembly = _Assembly(model, ports(model), framed=along)
    x, u, k = assembly.symbols().values()
    rates, outputs = assembly.derivatives(x, u, k, Kernels()), assembly.outputs(x, u, k, Kernels())
    return ca.Function("rates_and_outputs", [x, u, k], [ca.vertcat(*rates), ca.vertcat(*outputs)])


def constants(model: Model) -> np.ndarray:
    assembly = _Assembly(model, ports(model))
    p = ca.MX.sym("p", len(assembly.ports.parameter_names))
    prepare = ca.Function("prepare", [p], [assembly.prepare(p)])
    return np.array(prepare(assembly.ports.vector("parameter"))).ravel()


def check(model: Model, x: np.ndarray, u: np.ndarray) -> None:
    k = constants(model)
    own, framed = (rates_and_outputs(model, along=along)(x, u, k) for along in (False, True))
    for one, other in zip(own, framed, strict=True):
        np.testing.assert_allclose(np.array(other), np.array(one), rtol=SAME, atol=SAME * np.abs(np.array(one)).max())


@pytest.mark.parametrize("seed", range(30))
def test_random_trees_move_as_in_their_own_axes(seed: int) -> None:
    rng = np.random.default_rng(7000 + seed)
    model = random_model(rng)
    check(model, random_state(rng, model), random_inputs(rng, model))


@pytest.mark.parametrize("branched", [False, True])
@pytest.mark.parametrize("directions", DIRECTIONS.values(), ids=DIRECTIONS)
def test_axes_of_any_direction(directions: list[tuple[float, float, float]], branched: bool) -> None:
    model = arm(directions, branched=branched)
    rng = np.random.default_rng(5)
    check(model, random_state(rng, model), random_inputs(rng, model))


def test_closed_loops_move_as_in_their_own_axes() -> None:
    model = three_legs()
    rng = np.random.default_rng(3)
    check(model, random_state(rng, model), random_inputs(rng, model))


def test_right_angles_are_exact() -> None:
    model = arm(DIRECTIONS["right angles"])
    assembly, k = _Assembly(model, ports(model)), constants(model)
    for kind, at in zip(assembly.layout.framed_structures, assembly.layout.frames, strict=True):
        if kind.turns:
            assert set(np.abs(k[at][: 2 * kind.turns])) <= {0.0, 1.0}


def test_frames_are_where_they_save_work() -> None:
    model = arm([SKEW] * 4, branched=True)
    tip = Body(name="tip", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=Joint(to="b3", kind="fixed"))
    model = replace(model, bodies=(*model.bodies, tip))
    frames = [kind.frame for kind in _Assembly(model, ports(model)).layout.framed_structures]
    # the bus has its own axes; a second child takes one turn more
    assert frames == ["own", "twisted", "joint", "twisted", "joint", "parent"]


def arm(directions: list[tuple[float, float, float]], *, branched: bool = False) -> Model:
    """A bus with hinges along these directions, in a row or two from each of their bodies."""
    bodies = [Body(name="bus", mass=9.0, inertia=diagonal(2.0, 3.0, 4.0), joint=floating())]
    for n, axis in enumerate(directions):
        to = bodies[(n + 1) // 2 if branched else n].name
        joint = hinge(to, axis, (0.1, 0.2 * n, -0.3))
        bodies.append(Body(name=f"b{n}", mass=2.0, com=(0.3, 0.1, -0.2), inertia=diagonal(0.9, 1.0, 1.2), joint=joint))
    return Model(name="arm", bodies=tuple(bodies))


def test_derivatives_by_axes_that_are_parallel() -> None:
    model = arm(DIRECTIONS["parallel"])
    made, rng = equations(model), np.random.default_rng(4)
    x, u, p = random_state(rng, model), random_inputs(rng, model), np.array(made.ports.vector("parameter"))
    along = np.zeros(len(p))
    along[made.ports.by_name["b1.joint.axis"].places] = (0.4, -0.3, 0.0)
    own = made.in_own_axes()
    k = own.prepare(p)
    dk = forward_of(own.prepare)(p, along)
    slope = np.array(forward_of(own.derivatives)(x, u, k, 0, 0, dk)).ravel()
    step = 1e-5
    ahead, behind = (np.array(made.derivatives(x, u, made.prepare(p + h * along))).ravel() for h in (step, -step))
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-8 * np.abs(slope).max())
