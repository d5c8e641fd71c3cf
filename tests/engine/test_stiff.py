"""The linearly implicit integrator: its order, its stability, and one trajectory in plants and FMUs."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest

from fmu.client import client_of
from mbdy.blocks import FastMotionWarning, Plant, StateError, simulate
from mbdy.blocks.simulate import SimulationError
from mbdy.engine import Body, Joint, Linear, Model, compiled
from mbdy.engine.core.library import sources
from mbdy.engine.core.running import Core
from mbdy.fmu import export_fmu
from systems import chain, diagonal, floating

SMOOTH = 1e-3
"""[s] Step at which RK4 is the reference for motions of some rad/s."""


def stiff(*, out: float = 0.0, damping: float = 0.0) -> Model:
    """An arm on a spring of 1e8 N/m (4700 rad/s) on a spinning bus, which pulls it out by some nanometres.

    ``out`` [m] is where it starts.
    """
    joint = Joint(
        to="bus", kind="prismatic", translations=((1.0, 0.0, 0.0),), at=(0.5, 0.0, 0.0), stiffness=(1e8,),
        damping=(damping,),
    )  # fmt: skip
    bus = Body(name="bus", mass=50.0, inertia=diagonal(20.0, 24.0, 30.0), joint=floating())
    arm = Body(name="arm", mass=5.0, com=(0.2, 0.1, 0.0), inertia=diagonal(1.0, 1.3, 1.6), joint=joint)
    initial = {"bus.omega": (0.3, -0.2, 0.5), "arm.joint.displacement": (out,)}
    return Model(name="stiff", bodies=(bus, arm), initial=initial)


@cache
def mass() -> Plant:
    """A mass that slides on a spring with damper."""
    slide = Joint(to="inertial", kind="prismatic", translations=((1.0, 0.0, 0.0),))
    body = Body(name="mass", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=slide)
    return Plant(Model(name="mass", bodies=(body,)), step=1.0, integrator="rosenbrock")


def growth(z: complex) -> complex:
    """What a step of 1 s makes of 1 in ``x' = z x``, z being one of the two roots of a mass on a spring with damper."""
    plant = mass()
    other = z.conjugate() if z.imag else -z
    plant["mass.joint.stiffness"] = (z * other).real
    plant["mass.joint.damping"] = -(z + other).real
    columns = []
    for unit in np.eye(2):
        plant.reset()
        plant["mass.joint.displacement"], plant["mass.joint.velocity"] = unit.tolist()
        plant.step(1.0)
        columns.append(plant.state)
    return complex((np.column_stack(columns) @ np.array([1.0, z]))[0])


def test_steps_are_stable_on_the_imaginary_axis_and_forget_what_is_fast():
    assert max(abs(growth(1j * y)) for y in np.logspace(-3, 9, 400)) <= 1.0 + 1e-12
    assert abs(growth(complex(-1e9, 1.0))) < 1e-8
    assert abs(growth(1e9j)) < 1e-8


@pytest.mark.parametrize("interpolation", ["linear", "quadratic"])
def test_of_fourth_order_with_inputs_that_change_within_a_step(interpolation):
    """Of a chain under inputs that are exactly linear, or quadratic, over the run."""

    def end(step: float, integrator: str):
        plant = Plant(chain(3), step=step, integrator=integrator, interpolation=interpolation)
        slope = np.cos(np.arange(len(plant.input_names)))
        plant.jump()
        if interpolation == "quadratic":
            plant.middle.values[:] = 0.1 * slope
        plant.inputs.values[:] = slope
        plant.step(1.0)
        return plant.state

    reference = end(SMOOTH, "rk4")
    errors = [np.abs(end(step, "rosenbrock") - reference).max() for step in (0.1, 0.05, 0.025)]
    assert errors[0] < 1e-5
    assert errors[0] / errors[1] > 14.0
    assert errors[1] / errors[2] > 14.0


def test_a_spring_far_faster_than_the_step():
    told = pytest.warns(FastMotionWarning, match=r"arm\.joint\.stiffness")
    with told, pytest.raises(SimulationError, match="internal step"):
        simulate(stiff(out=1e-4), until=1.0, every=0.1, step=1e-3)
    run = simulate(stiff(out=1e-4), until=10.0, every=0.1, step=1e-3, integrator="rosenbrock")
    energy, momentum = run["system.energy"], run["system.angular_momentum"]
    assert np.all(np.diff(energy) <= 1e-9 * energy[0])  # the spring's swing is damped away, nothing else changes
    assert energy[0] - energy[-1] == pytest.approx(0.5, rel=1e-3)  # 1/2 1e8 N/m (1e-4 m)^2
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), rtol=1e-6)


def test_slow_motion_is_right_while_fast_motion_is_not_resolved():
    model = stiff(damping=2e4)
    fine = simulate(model, until=1.0, every=0.1, step=5e-5)
    coarse = simulate(model, until=1.0, every=0.1, step=0.01, integrator="rosenbrock")
    np.testing.assert_allclose(coarse["bus.omega"], fine["bus.omega"], atol=1e-9)
    after = slice(2, None)
    np.testing.assert_allclose(
        coarse["arm.joint.displacement"][after], fine["arm.joint.displacement"][after], rtol=1e-5
    )


@pytest.mark.parametrize("geometry", ["constant", pytest.param("first-order", marks=pytest.mark.slow)])
def test_linear_equations_are_differentiated_too(geometry):
    ends = [
        Plant(chain(3), step=step, integrator=integrator, dynamics=Linear(geometry=geometry)).step(0.2).values
        for step, integrator in ((0.01, "rosenbrock"), (SMOOTH, "rk4"))
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-7, atol=1e-7)


def test_rows_at_once_copies_and_saved_instants():
    plant = Plant(stiff(), step=1e-3, integrator="rosenbrock")
    twin = copy.deepcopy(plant)
    rows, fault = plant.run(5, 0.01, pick=range(len(plant.output_names)))
    assert fault is None
    np.testing.assert_array_equal(rows, [twin.step(0.01).values for _ in range(5)])
    kept = plant.save()
    first = plant.step(0.01).values
    plant.restore(kept)
    np.testing.assert_array_equal(plant.step(0.01).values, first)


def test_a_state_that_leaves_the_finite_numbers_is_put_back():
    model = chain(2)
    plant = Plant(model, step=1e-3, integrator="rosenbrock")
    plant["link1.joint.rate"] = 1e200
    before = plant.state
    with np.errstate(all="ignore"), pytest.raises(StateError, match="left the finite numbers"):
        plant.step(0.01)
    np.testing.assert_array_equal(plant.state, before)


def test_a_singular_matrix_leaves_no_finite_numbers():
    """Of ``x' = 4 x`` in a step of 1 s: 1/(gamma h) - J is zero."""
    with pytest.raises(StateError, match="left the finite numbers"):
        growth(4.0)


def test_only_cores_built_for_it_have_it_and_the_others_stay_as_they_are():
    explicit, implicit = compiled(chain(2)), compiled(chain(2), implicit=True)
    assert explicit.library != implicit.library
    more = set(sources(implicit.equations, implicit=True)) - set(sources(explicit.equations))
    assert {name for name in more if not name.startswith("mbdy_k")} == {"jacobian.c"}  # and its kernels
    with pytest.raises(ValueError, match="'rosenbrock' needs"):
        Core(explicit, "rosenbrock")
    with pytest.raises(ValueError, match=r"rosenbrock.*'kane'.*another integrator"):
        Plant(chain(2), integrator="rosenbrock", formulation="kane")


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize("kind", ["python", "native"])
def test_fmus_are_the_plant_bit_for_bit(kind, fmi, tmp_path):
    model = stiff()
    made = export_fmu(model, tmp_path / "stiff.fmu", fmi=fmi, kind=kind, step="2 ms", integrator="rosenbrock")
    client, plant = (
        client_of(made, tmp_path / "unpacked").initialize(),
        Plant(model, step="2 ms", integrator="rosenbrock"),
    )
    for i in range(10):
        for one in (client, plant):
            one["arm.force[1]"] = 3.0 * i
        client.step(0.005)
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(0.005).values)
    client.fmu.freeInstance()
