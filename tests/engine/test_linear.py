"""Linearizations: their matrices against differences, oracles and closed forms; what a person may ask of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interpreted import Interpreted
from mbdy.blocks import Plant
from mbdy.engine import (
    Body,
    Joint,
    Linear,
    Model,
    ModelError,
    OperatingPoint,
    Wheel,
    fastest,
    keep_rules,
    linearize,
    load,
    save,
    trim,
)
from mbdy.engine.linear.error_coordinates import quaternion_tangent, rotation
from mbdy.engine.linear.linearization import Linearization
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.rotations import cross_matrix
from oracles.dense_kane import coefficients
from oracles.random_models import random_inputs, random_model, random_state
from systems import chain, diagonal, floating, free_body

MODELS = 30
STEP = 1e-3
"""Of differences of fourth order."""
DIFFERENCES = 1e-9
"""Relative: their truncation and rounding are some 1e-10 of the size of what is differentiated."""
ROUNDING = 1e-9
"""Relative, of matrices whose condition number is below 1e5."""
CLOSED_FORM = 1e-10


class Drawn:
    """A random model that stands at a random state with random inputs, and its linearization there.

    Every second one has prescribed and locked joints. Accelerations are inputs of every fourth, so that prescribed
    joints stay states.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(7000 + seed)
        self.model = sound_model(rng, gradient=seed % 5 == 0, motion=seed % 2 == 1)
        self.run = Interpreted(self.model)
        self.ports = table = self.run.ports
        self.x, self.u = random_state(rng, self.model), random_inputs(rng, self.model)
        switches = table.span("switches")
        inputs = [name for i, name in enumerate(table.input_names) if not switches.start <= i < switches.stop]
        at = OperatingPoint(table, self.x, self.u, np.array(table.vector("parameter")))
        self.linear = linearize(self.model, at=at, inputs=inputs if seed % 4 == 1 else None)
        self.x = np.array(list(self.linear.state_values.values()))  # locked joints have stopped

    def root(self, name: str) -> tuple[slice, slice]:
        """Places in x of attitude and angular velocity of the floating root that the state ``name`` is of."""
        stem = name.partition(".")[0]
        if stem == "system":
            stem = next(body.name for body in self.model.bodies if body.joint.floating)
        return self.places(f"{stem}.attitude"), self.places(f"{stem}.omega")

    def places(self, name: str) -> slice:
        variable = self.ports.by_name[name]
        assert variable.state is not None
        return slice(variable.state, variable.state + variable.size)

    def along(self, state: str) -> np.ndarray:
        """The direction in x that an error is, from its name alone."""
        direction = np.zeros(len(self.x))
        if ".error" not in state:
            direction[self.ports.state_names.index(state)] = 1.0
            return direction
        name, _, axis = state.rstrip("]").partition(".error[")
        unit = np.eye(3)[int(axis) - 1]
        at = self.places(name)
        if name.endswith(".attitude"):
            direction[at] = quaternion_tangent(self.x[at]) @ unit
        else:
            direction[at] = rotation(self.x[self.root(name)[0]]) @ unit
        return direction


def sound_model(rng: np.random.Generator, *, gradient: bool, motion: bool) -> Model:
    """A random model that keeps the rules of model files, which may not be so at its start."""
    while True:
        model = random_model(rng, int(rng.integers(1, 7)), motion=motion, massless=False, gradient=gradient)
        try:
            keep_rules(model)
        except ModelError:
            continue
        return model


@pytest.fixture(scope="module", params=range(MODELS))
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return Drawn(request.param)


def differenced(f, x: np.ndarray, directions: list[np.ndarray]) -> np.ndarray:
    """Changes of ``f`` along ``directions``, to fourth order of `STEP`."""
    h = STEP
    columns = []
    for d in directions:
        near, far = (f(x + k * h * d) - f(x - k * h * d) for k in (1, 2))
        columns.append((8 * near - far) / (12 * h))
    return np.array(columns).T.reshape(-1, len(directions))


def expected_rows(drawn: Drawn, changes: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Rates of the errors from changes of x' by the kinematics of small rotations, worked out by hand."""
    rows = []
    for state in drawn.linear.states:
        if ".error" not in state:
            rows.append(changes[drawn.ports.state_names.index(state)])
            continue
        name, _, axis = state.rstrip("]").partition(".error[")
        at, i = drawn.places(name), int(axis) - 1
        if name.endswith(".attitude"):
            omega = drawn.places(name.replace("attitude", "omega"))
            own = 4 * quaternion_tangent(drawn.x[at]).T @ along[at]
            rows.append((along[omega] - cross_matrix(drawn.x[omega]) @ own)[i])
        else:
            attitude, omega = drawn.root(name)
            back = rotation(drawn.x[attitude]).T
            rows.append((back @ changes[at] - cross_matrix(drawn.x[omega]) @ back @ along[at])[i])
    return np.array(rows).reshape(len(drawn.linear.states), -1)


def assert_near(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    assert found.shape == wanted.shape
    scale = max(1.0, np.abs(wanted).max(initial=0.0))
    assert np.abs(found - wanted).max(initial=0.0) < tolerance * scale


def test_state_matrices_equal_differences(drawn: Drawn):
    run, directions = drawn.run, [drawn.along(state) for state in drawn.linear.states]
    changes = differenced(lambda x: run.derivatives(x, drawn.u), drawn.x, directions)
    along = np.array(directions).T.reshape(len(drawn.x), -1)
    assert_near(drawn.linear.A, expected_rows(drawn, changes, along), DIFFERENCES)


def test_input_matrices_equal_differences(drawn: Drawn):
    run, linear = drawn.run, drawn.linear
    directions = [np.eye(len(drawn.u))[drawn.ports.input_names.index(name)] for name in linear.inputs]
    changes = differenced(lambda u: run.derivatives(drawn.x, u), drawn.u, directions)
    along = np.zeros((len(drawn.x), len(directions)))
    assert_near(linear.B, expected_rows(drawn, changes, along), DIFFERENCES)
    outputs = differenced(lambda u: output_errors(drawn, run.outputs(drawn.x, u)), drawn.u, directions)
    assert_near(linear.D, outputs, DIFFERENCES)


def test_output_matrices_equal_differences(drawn: Drawn):
    run, directions = drawn.run, [drawn.along(state) for state in drawn.linear.states]
    outputs = differenced(lambda x: output_errors(drawn, run.outputs(x, drawn.u)), drawn.x, directions)
    assert_near(drawn.linear.C, outputs, DIFFERENCES)


def output_errors(drawn: Drawn, y: np.ndarray) -> np.ndarray:
    """All outputs, attitudes as twice the vector part of their quaternion from that of the operating point."""
    reference = drawn.run.outputs(drawn.x, drawn.u)
    parts = []
    for v in drawn.ports.outputs:
        value = y[v.places]
        if v.name.endswith(".attitude"):
            value = 4 * quaternion_tangent(reference[v.places]).T @ value / np.linalg.norm(value)
        parts.append(value)
    return np.concatenate(parts)


def test_the_mass_matrix_is_the_dense_one(drawn: Drawn):
    """Kane's coefficient matrix, in whose unknowns an attitude root's origin stands for the mass centre."""
    form = drawn.linear.second_order
    if form is None:
        assert any("no second-order form" in note for note in drawn.linear.notes)
        return
    assert np.array_equal(form.M, form.M.T)
    assert np.array_equal(form.G, -form.G.T)
    assert np.linalg.eigvalsh(form.M).min(initial=1.0) > 0.0
    if any(b.joint.kind == "attitude" or b.wheels or set(b.joint.motion) - {"free"} for b in drawn.model.bodies):
        return
    turned = np.eye(len(form.M))
    first = len(drawn.ports.state_names) - len(form.M)
    for body in drawn.model.bodies:
        if body.joint.floating:
            velocity = drawn.places(f"{body.name}.velocity")
            own = slice(velocity.start - first, velocity.stop - first)
            turned[own, own] = rotation(drawn.x[drawn.places(f"{body.name}.attitude")])
    assert_near(form.M, turned.T @ coefficients(drawn.model, drawn.x) @ turned, ROUNDING)


def test_both_forms_have_the_same_motion(drawn: Drawn):
    """A state of the second-order form, taken to the first-order one, moves alike."""
    linear, form = drawn.linear, drawn.linear.second_order
    if form is None:
        return
    n = len(form.coordinates)
    wheels = sum(len(body.wheels) for body in drawn.model.bodies)
    plain, momenta = n - wheels, len(linear.states) - wheels
    rng = np.random.default_rng(3)
    q, rate = rng.normal(size=n), rng.normal(size=n)
    q_acc = np.linalg.solve(form.M, -(form.D + form.G) @ rate - form.K @ q)
    spins = np.diag(form.M)[plain:]
    T = linear.A[:plain, :plain]
    state = np.concatenate([q[:plain], rate[:plain] - T @ q[:plain], spins * rate[plain:]])
    found = linear.A @ state
    assert_near(found[:plain], rate[:plain], ROUNDING)
    assert_near(found[momenta:], spins * q_acc[plain:], ROUNDING)
    T_rate = turning_rate(drawn, plain)
    assert_near(found[plain:momenta], q_acc[:plain] - T @ rate[:plain] - T_rate @ q[:plain], ROUNDING)


def turning_rate(drawn: Drawn, size: int) -> np.ndarray:
    """Rate of ``-omega x`` of the errors that are measured in turning axes."""
    matrix, rates = np.zeros((size, size)), drawn.run.derivatives(drawn.x, drawn.u)
    for i, state in enumerate(drawn.linear.states[:size]):
        if not state.endswith(".error[1]"):
            continue
        name = state.partition(".error")[0]
        turning = name.replace("attitude", "omega")
        omega = drawn.places(turning) if name.endswith(".attitude") else drawn.root(name)[1]
        matrix[i : i + 3, i : i + 3] = -cross_matrix(rates[omega])
    return matrix


def panels(*, damping: float = 0.0, kind: str = "free", omega=(0.0, 0.0, 0.0)) -> Model:
    """A free bus with two equal sprung panels that turn about parallel axes: a planar satellite in space."""
    bodies = [Body(name="bus", mass=100.0, inertia=diagonal(30.0, 20.0, 40.0), joint=floating(kind))]
    for name, side in (("left", -1.0), ("right", 1.0)):
        joint = Joint(
            to="bus", kind="revolute", rotations=((0.0, 0.0, 1.0),), at=(0.0, 0.8 * side, 0.0), stiffness=(25.0,),
            damping=(damping,),
        )  # fmt: skip
        bodies.append(
            Body(name=name, mass=8.0, com=(0.0, 1.5 * side, 0.0), inertia=diagonal(6.0, 0.2, 6.1), joint=joint)
        )
    return Model(name="two panels", bodies=tuple(bodies), initial={"bus.omega": omega})


def test_modes_of_two_panels_equal_the_closed_form():
    """Planar motion with the bus at x, turned by a, and panels turned by b1, b2 (y stays, by symmetry):

    T = (M/2) x'^2 + (J/2) a'^2 + sum (m/2) (x' -+ (d a' + c (a' + b'))) ^2 + (I/2) (a' + b')^2, V = k/2 sum b^2.

    Symmetric (a = 0, b1 = -b2 = b), momentum zero: x' = -2 m c b' / (M + 2 m).
    Antisymmetric (b1 = b2 = b), x = 0, angular momentum zero:
    J a' + 2 (m (d + c) (d a' + c (a' + b')) + I (a' + b')) = 0.
    """
    M, J, m, c, d, inertia, k = 100.0, 40.0, 8.0, 1.5, 0.8, 6.1, 25.0
    symmetric = np.sqrt(2 * k / (2 * (m * c**2 + inertia) - (2 * m * c) ** 2 / (M + 2 * m)))
    whole = J + 2 * (m * (d + c) ** 2 + inertia)
    shared = 2 * (m * (d + c) * c + inertia)
    antisymmetric = np.sqrt(2 * k / (2 * (m * c**2 + inertia) - shared**2 / whole))
    modes = linearize(panels()).modes()
    assert [mode.rigid for mode in modes] == [True] * 12 + [False] * 2
    assert [mode.frequency for mode in modes[12:]] == pytest.approx(sorted([symmetric, antisymmetric]), rel=CLOSED_FORM)
    assert all(mode.damping == 0.0 and mode.oscillates for mode in modes[12:])
    bent = {round((m.shape["left.joint.angle"] / m.shape["right.joint.angle"]).real): m for m in modes[12:]}
    assert bent[-1].frequency == pytest.approx(symmetric, rel=CLOSED_FORM)
    assert bent[1].frequency == pytest.approx(antisymmetric, rel=CLOSED_FORM)
    shape = bent[1].shape
    assert abs(shape["bus.attitude.error[3]"] / shape["left.joint.angle"]) == pytest.approx(shared / whole)


def test_hinge_modes_of_the_five_body_vehicle(five_body: Model):
    at: dict[str, object] = {f"{name}.joint.damping": 0.0 for name in ("yoke", "platform", "boom_link", "boom")}
    for name, angle in (("yoke", "219 deg"), ("platform", "-27.5 deg")):
        at |= {f"{name}.joint.angle": angle, f"{name}.joint.rest": angle}
    linear = linearize(five_body, at=at)  # type: ignore[arg-type]
    assert linear.notes == ()
    found = [mode.frequency for mode in linear.modes() if not mode.rigid]
    assert found == pytest.approx([4.65360549, 5.24299362, 20.0349132, 23.41806581], abs=1e-8)
    form = linear.second_order
    assert form is not None
    assert np.abs(form.D).max() == np.abs(form.G).max() == 0.0
    assert np.abs(form.K - form.K.T).max() < 1e-10 * np.abs(form.K).max()


@pytest.fixture(scope="module")
def five_body() -> Model:
    from pathlib import Path

    path = Path(__file__).parents[2] / "examples" / "five_body_spacecraft" / "five_body.toml"
    with pytest.warns(UserWarning, match="five_body"):
        return load(path)


def test_nutation_of_a_spinning_symmetric_body():
    """Body rate of precession (I3/I1 - 1) W; the spin axis coned about the momentum at I3/I1 W, seen in the body."""
    spin, transverse, axial = 0.7, 2.0, 3.1
    top = Body(name="top", mass=3.0, inertia=diagonal(transverse, transverse, axial), joint=floating())
    linear = linearize(Model(name="top", bodies=(top,)), at={"top.omega": [0.0, 0.0, spin]})
    assert linear.notes == ()
    found = np.sort(np.abs(linear.eigenvalues().imag))
    assert np.abs(found - (axial / transverse - 1) * spin).min() < CLOSED_FORM
    form = linear.second_order
    assert form is not None
    assert np.abs(form.D).max() < 1e-12
    x, y = (form.coordinates.index(f"top.attitude.error[{i}]") for i in (1, 2))
    assert form.G[y, x] == pytest.approx((axial - 2 * transverse) * spin * -1.0, rel=CLOSED_FORM)
    assert form.K[x, x] == pytest.approx((axial - transverse) * spin**2, rel=CLOSED_FORM)


def test_a_wheel_stiffens_as_its_momentum_says():
    """A body with a spinning wheel along z: transverse motion at h / I."""
    body = Body(
        name="bus", mass=10.0, inertia=diagonal(4.0, 4.0, 5.0), joint=floating(),
        wheels={"w": Wheel(axis=(0.0, 0.0, 1.0), inertia=0.02)},
    )  # fmt: skip
    linear = linearize(Model(name="gyrostat", bodies=(body,)), at={"bus.w.speed": "3000 rpm"})
    momentum = 0.02 * 3000 * np.pi / 30
    assert abs(linear.modes()[-1].eigenvalue - 1j * momentum / 4.0) < CLOSED_FORM * momentum
    form = linear.second_order
    assert form is not None
    assert form.coordinates[-1] == "bus.w.spin"
    assert form.B[-1, linear.inputs.index("bus.w.torque")] == pytest.approx(1.0)


def test_steady_spin_has_symmetric_stiffness_and_only_its_dampers(five_body: Model):
    point = trim(five_body, at={"bus.omega": [0.0, 0.0, 0.1]}, free=["*.joint.angle", "bus.omega[1]", "bus.omega[2]"])
    linear = linearize(five_body, at=point)
    assert linear.notes == ()
    form = linear.second_order
    assert form is not None
    dampers = np.diag([0.0] * 6 + [20.0, 20.0, 10.0, 10.0])
    assert np.abs(form.D - dampers).max() < 1e-9
    assert np.abs(form.K - form.K.T).max() < 1e-9 * np.abs(form.K).max()
    assert np.abs(form.G).max() > 1.0


def held_model(kind: str = "free") -> Model:
    model = panels(kind=kind)
    bodies = [replace(b, joint=replace(b.joint, motion=("switchable",))) for b in model.bodies[1:]]
    return replace(model, bodies=(model.bodies[0], *bodies))


def test_held_joints_are_no_states():
    model = held_model()
    linear = linearize(model, at={"left.joint.locked": True, "left.joint.angle": 0.2, "left.joint.rate": 0.1,
                                  "right.joint.prescribed": 1})  # fmt: skip
    assert not any(".joint." in state for state in linear.states)
    assert linear.state_values["left.joint.rate"] == 0.0  # stopped, as in a run
    assert linear.state_values["bus.omega[3]"] != 0.0
    assert not any(name.endswith(".acceleration") for name in linear.inputs)
    form = linear.second_order
    assert form is not None
    assert len(form.M) == 6


def test_a_prescribed_acceleration_is_an_input_if_asked():
    model = held_model()
    linear = linearize(model, at={"left.joint.prescribed": True}, inputs=["left.joint.acceleration", "bus.torque"])
    assert {"left.joint.angle", "left.joint.rate"} <= set(linear.states)
    row = linear.states.index("left.joint.rate")
    assert linear.B[row].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert not linear.A[row].any()
    assert linear.inputs[0] == "left.joint.acceleration"
    form = linear.second_order
    assert form is not None
    assert form.B[form.coordinates.index("left.joint.angle"), 0] == pytest.approx(1.0)


def test_a_ball_held_about_one_axis_has_no_second_order_form():
    ball = Joint(to="inertial", spherical=True, motion=("free", "free", "prescribed"))
    body = Body(name="a", mass=1.0, inertia=diagonal(1.0, 2.0, 2.5), joint=ball)
    linear = linearize(Model(name="ball", bodies=(body,)))
    assert linear.second_order is None
    assert "no second-order form" in linear.notes[0]
    assert len(linear.states) == 5


def test_names_choose_inputs_and_outputs_in_their_order():
    linear = linearize(panels(), inputs=["bus.torque", "left.joint.*"], outputs=["bus.attitude", "right.joint.angle"])
    assert linear.inputs == ("bus.torque[1]", "bus.torque[2]", "bus.torque[3]", "left.joint.torque", "left.joint.rest")
    assert linear.outputs == (*(f"bus.attitude.error[{i}]" for i in (1, 2, 3)), "right.joint.angle")
    assert linear.output_units == ("rad",) * 4
    assert np.array_equal(linear.C[:3, 3:6], np.eye(3))
    less = linear.reduce(inputs=["left.joint.torque"], outputs=["right.*", "bus.attitude.error[2]"])
    assert less.outputs == ("right.joint.angle", "bus.attitude.error[2]")
    assert less.B.shape == (len(linear.states), 1)
    assert np.array_equal(less.D, np.zeros((2, 1)))
    assert less.second_order is not None
    assert less.second_order.B.shape[1] == 1
    quaternion = linearize(panels(), outputs=["bus.attitude[2]"])
    assert quaternion.outputs == ("bus.attitude[2]",)
    assert quaternion.C[0, 3] == pytest.approx(0.5)


def test_all_outputs_have_three_numbers_for_an_attitude():
    linear = linearize(panels())
    plant = Plant(panels())
    assert len(linear.outputs) == len(plant.output_names) - 3
    assert not any(name.endswith(".attitude[1]") for name in linear.outputs)


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"inputs": ["bus.torqe"]}, KeyError, "bus.torque"),
        ({"outputs": ["nothing"]}, KeyError, "no output matches 'nothing'"),
        ({"at": {"bus.omga": 1.0}}, KeyError, "bus.omega"),
        ({"at": {"bus.omega": 1.0}}, RefusalError, "3 values are needed, got 1"),
        ({"at": {"bus.omega": [0, 0, "3 kg"]}}, RefusalError, "unit of something else"),
        ({"at": {"bus.attitude": [0, 0, 0, 0]}}, RefusalError, "zero quaternion"),
        ({"at": {"bus.mass": -5}}, RefusalError, "'bus.mass': must be >= 0, got -5"),
        ({"at": {"bus.inertia": [1, 0, 0, 1, 0, -1]}}, RefusalError, "'bus.inertia': must have no negative"),
        ({"at": {"system.energy": 5}}, RefusalError, "without a start value"),
        ({"at": Plant(free_body())}, RefusalError, "other variables"),
    ],
)
def test_bad_requests_are_told(more, error, said):
    with pytest.raises(error, match=said):
        linearize(panels(), **more)


def test_a_switch_is_no_input():
    with pytest.raises(RefusalError, match="switch"):
        linearize(held_model(), inputs=["left.joint.locked"])
    with pytest.raises(RefusalError, match="must be 0 or 1"):
        linearize(held_model(), at={"left.joint.locked": 2})


def test_a_plant_is_linearized_as_it_is_now():
    model = chain(2)
    plant = Plant(model)
    plant["bus.torque"] = [0.1, 0.0, -0.2]
    plant["link1.mass"] = 6.0
    plant.step(0.1)
    linear = linearize(model, at=plant)
    assert list(linear.state_values.values()) == plant.state.tolist()
    assert linear.input_values[list(linear.inputs).index("bus.torque[3]")] == -0.2
    assert "no steady motion" in linear.notes[0]
    other = linearize(model)
    assert np.abs(linear.A - other.A).max() > 1e-3


def test_models_without_states_or_inputs():
    rock = Body(name="rock", mass=1.0, joint=Joint(to="inertial", kind="fixed"))
    linear = linearize(Model(name="rock", bodies=(rock,)))
    assert linear.A.shape == (0, 0)
    assert linear.modes() == ()
    assert fastest(linear) == 0
    assert linear.D.shape == (len(linear.outputs), len(linear.inputs))


def test_the_fastest_motion_is_that_of_steep_friction():
    model = panels()
    joint = replace(model.bodies[1].joint, friction=(3.0,), friction_rate=(1e-4,))
    model = replace(model, bodies=(model.bodies[0], replace(model.bodies[1], joint=joint), model.bodies[2]))
    linear = linearize(model)
    form = linear.second_order
    assert form is not None
    assert form.D[6, 6] == pytest.approx(3.0 / 1e-4)
    assert fastest(linear).imag == 0.0
    assert -fastest(linear).real == pytest.approx(3.0 / 1e-4 * np.linalg.inv(form.M)[6, 6], rel=1e-3)
    assert abs(fastest(linear)) * 1e-3 > 2.0


def test_the_attitude_error_kind_of_root_moves_like_the_free_one():
    """The mass centre of an ``attitude`` root for the origin of a ``free`` one: the same modes."""
    free, attitude = (linearize(panels(kind=kind, damping=0.4)).eigenvalues() for kind in ("free", "attitude"))
    assert np.abs(np.sort_complex(free) - np.sort_complex(attitude)).max() < CLOSED_FORM


def test_linear_dynamics_have_the_matrices_that_they_are_made_of():
    """Equations that are linear about a point, linearized there: those of the full ones, by external forces too."""
    at = {"bus.omega": [0.1, -0.2, 0.3], "left.joint.angle": 0.2, "right.joint.rate": 0.1}
    model = panels(damping=0.4)
    full = linearize(model, at=at)
    assert full.second_order is not None
    for geometry in ("constant", "first-order"):
        linear = linearize(model, at=at, dynamics=Linear(at=at, geometry=geometry))
        assert_near(linear.A, full.A, ROUNDING)
        assert_near(linear.B, full.B, ROUNDING)
        assert linear.second_order is not None
        assert_near(linear.second_order.M, full.second_order.M, ROUNDING)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({"bus.omega[3]": "5 kg"}, r"bus\.omega\[3\]"),
        ({"bus.omega": [0.0, 1.0]}, r"'bus\.omega': 3 values are needed, got 2"),
        ({"bus.mass": 3.0}, r"at 'bus\.mass': a parameter.*set it on the plant"),
        (
            {"bus.x.momentum": 3.0},
            r"'bus\.x\.momentum' is the momentum of a wheel that.*bus\.x\.speed",
        ),
        ({"system.energy": 3.0}, r"'system\.energy' is an output without a start value"),
        ({"arm.joint.locked": True}, r"at 'arm\.joint\.locked': switches are off"),
        ({"bus.omega[1]": float("nan")}, r"'bus\.omega\[1\]': .*finite"),
    ],
)
def test_bad_points_of_linear_dynamics_are_told(at, said):
    bus = replace(free_body().bodies[0], name="bus", joint=floating(), wheels={"x": Wheel(axis=(1, 0, 0), inertia=0.1)})
    arm = replace(chain(2).bodies[1], name="arm")
    arm = replace(arm, joint=replace(arm.joint, to="bus", motion=("switchable",) * len(arm.joint.motion)))
    model = Model(name="wheeled", bodies=(bus, arm))
    with pytest.raises(RefusalError, match=said):
        linearize(model, dynamics=Linear(at))


def test_points_of_linear_dynamics_have_units_and_can_be_keys():
    model = panels()
    one, other = Linear({"left.joint.angle": "5 deg"}), Linear({"left.joint.angle": np.radians(5.0)})
    assert_same(linearize(model, dynamics=one), linearize(model, dynamics=other))
    assert {Linear({"bus.omega": [0.0, 0.0, 1.0]}): 1}[Linear({"bus.omega": np.array([0.0, 0.0, 1.0])})] == 1
    for known in (Plant(model), trim(model)):
        with pytest.raises(TypeError, match="start values and inputs by name"):
            Linear(known)  # type: ignore[arg-type]


def assert_same(one: Linearization, other: Linearization) -> None:
    for key, value in vars(one).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, getattr(other, key)), key
        elif key == "second_order" and value is not None:
            for part, own in vars(value).items():
                assert np.array_equal(own, getattr(other.second_order, part)), part
        else:
            assert value == getattr(other, key), key


@pytest.mark.parametrize("ending", ["npz", "mat", "json"])
def test_files_keep_everything(ending: str, tmp_path):
    path = tmp_path / f"lin.{ending}"
    ball = Joint(to="inertial", spherical=True, motion=("free", "free", "prescribed"))
    half_held = Model(name="ball", bodies=(replace(free_body().bodies[0], joint=ball),))
    rock = Body(name="rock", mass=1.0, joint=Joint(to="inertial", kind="fixed"))
    for linear in (
        linearize(chain(2)),
        linearize(panels(), inputs=[], outputs=["bus.omega[1]"]),
        linearize(half_held),
        linearize(Model(name="rock", bodies=(rock,)), outputs=[]),
    ):
        linear.save(path)
        assert_same(linear, Linearization.load(path))


def test_files_of_other_sorts_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"endings; for one matrix as a table, numpy\.savetxt"):
        linearize(panels()).save(tmp_path / "lin.csv")
    (tmp_path / "lin.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="holds no linearization"):
        Linearization.load(tmp_path / "lin.json")


@pytest.mark.parametrize("ending", ["npz", "mat", "json"])
@pytest.mark.parametrize("part", [0.0, 0.5, 0.98])
def test_cut_files_are_refused_and_folders_made(ending: str, part: float, tmp_path):
    path = tmp_path / "new" / "folder" / f"lin.{ending}"
    linearize(panels()).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ValueError, match="holds no linearization, or not all of it"):
        Linearization.load(path)


def pendulum(*, motion: str = "free") -> Model:
    """A bob that hangs along -z from a hinge about y."""
    joint = Joint(to="inertial", kind="revolute", rotations=((0.0, 1.0, 0.0),), motion=(motion,))  # type: ignore[arg-type]
    bob = Body(name="bob", mass=2.0, com=(0.0, 0.0, -0.5), inertia=diagonal(0.1, 0.1, 0.1), joint=joint)
    return Model(name="pendulum", bodies=(bob,), gravity=(0.0, 0.0, -9.81))


def test_matrices_that_hold_at_an_instant_only_are_noted():
    """A swing through the lowest place: nothing accelerates, yet it is no steady motion."""
    swinging = linearize(pendulum(), at={"bob.joint.rate": 1.0})
    change = -2.0 * 0.5 * 9.81 / (0.1 + 2.0 * 0.5**2)
    said = f"along the motion the acceleration of bob.joint.rate changes by {change:.3g} rad/s3"
    assert swinging.notes == (f"the matrices hold at this instant only: {said}",)
    assert linearize(pendulum()).notes == ()


def test_a_joint_that_turns_at_a_prescribed_rate_is_noted():
    """A panel balanced about its hinge moves no mass centre, yet turns the inertia of the whole."""
    bus = Body(name="bus", mass=50.0, inertia=diagonal(10.0, 12.0, 14.0), joint=floating())
    turning = Joint(to="bus", kind="revolute", rotations=((0.0, 1.0, 0.0),), motion=("prescribed",))
    panel = Body(name="panel", mass=5.0, inertia=diagonal(3.0, 0.5, 1.0), joint=turning)
    model = Model(name="turning", bodies=(bus, panel))
    (note,) = linearize(model, at={"panel.joint.rate": 0.2}).notes
    assert "the matrices hold at this instant only: along the motion A changes by" in note
    assert linearize(model).notes == ()
    round_panel = replace(panel, inertia=diagonal(1.0, 0.5, 1.0))
    assert linearize(Model(name="rotor", bodies=(bus, round_panel)), at={"panel.joint.rate": 0.2}).notes == ()


def test_a_steady_spin_has_no_note():
    free = ["*.joint.angle", "bus.omega[1]", "bus.omega[2]"]
    assert linearize(panels(), at=trim(panels(), at={"bus.omega": [0.0, 0.0, 0.3]}, free=free)).notes == ()


def test_paths_of_model_files_are_loaded(tmp_path):
    path = tmp_path / "panels.toml"
    save(panels(), path)
    assert_same(linearize(path, at=trim(str(path))), linearize(panels()))


def test_python_control_has_it_with_names():
    linear = linearize(panels(), inputs=["bus.torque"], outputs=["bus.omega"])
    system = linear.to_control()
    assert np.array_equal(system.A, linear.A)
    assert system.input_labels == ["bus_torque[1]", "bus_torque[2]", "bus_torque[3]"]
    assert system.output_labels[2] == "bus_omega[3]"
    assert system.state_labels[3] == "bus_attitude_error[1]"


def test_axes_of_errors_are_the_bodys():
    """A bus that is turned by a quarter about z: its own x is the inertial y."""
    half = np.sqrt(0.5)
    linear = linearize(panels(), at={"bus.attitude": [half, 0, 0, half]}, outputs=["bus.position", "bus.attitude"])
    assert np.allclose(linear.C[:3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert np.allclose(linear.C[3:, 3:6], np.eye(3))
