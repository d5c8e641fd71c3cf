"""Outputs of one's choosing against SciPy's rotations and other outputs, their singular points, their derivatives."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from interpreted import Interpreted
from mbdy.engine import ChosenOutput, Model, PartError, PortChoice, dumps, linearize, loads
from mbdy.engine.order_n import signal_kernels
from oracles.random_flexible import random_flexible
from oracles.random_models import random_inputs, random_model, random_state
from systems import SIGHTED

EXACT = 1e-12
"""Relative to one, or to the largest of a vector's terms."""
SEQUENCES = [*map("".join, permutations("xyz")), *(a + b + a for a, b in permutations("xyz", 2))]
TURNS = ("mrp", "rotation_vector", "matrix", "relative_attitude")
VECTORS = ("relative_position", "relative_velocity", "relative_omega")


def of_scipy(attitude: np.ndarray) -> Rotation:
    w, *v = attitude
    return Rotation.from_quat([*v, w])


def turned_on(angles: np.ndarray) -> np.ndarray:
    """``angles`` without whole turns."""
    return angles - 2 * np.pi * np.round(angles / (2 * np.pi))


def wanted(kind: str, turn: Rotation) -> np.ndarray:
    """What SciPy makes of a turn."""
    match kind:
        case "mrp":
            return turn.as_mrp()
        case "rotation_vector":
            return turn.as_rotvec()
        case "matrix":
            return turn.as_matrix().ravel()
    return np.roll(turn.as_quat(), 1)


def places(model: Model, rng: np.random.Generator) -> tuple[str, str, str]:
    every = ["inertial", *(b.name for b in model.bodies), *(f"{b.name}.{n}" for b in model.bodies for n in b.nodes)]
    return tuple(rng.choice(every, 3, replace=len(every) < 3).tolist())


def signals(model: Model, rng: np.random.Generator) -> tuple[ChosenOutput, ...]:
    """One of each kind between places of ``model``, sums and norms, in any order."""
    made = []
    for kind in ("euler", *TURNS, *VECTORS):
        of = to = axes = ""
        while of == to:
            of, to, axes = places(model, rng)
        more = (
            {"sequence": str(rng.choice(SEQUENCES))} if kind == "euler" else {"axes": axes} if kind in VECTORS else {}
        )
        made.append(ChosenOutput(name=kind, kind=kind, of=of, to=to, **more))
    made.append(ChosenOutput(name="far", kind="norm", of="output.relative_position"))
    made.append(ChosenOutput(name="both", kind="sum", terms=[("output.far", 0.5), ("output.relative_position[2]", -2)]))
    made.append(ChosenOutput(name="all", kind="sum", terms=[("output.mrp", 2), ("output.mrp", -0.5)]))
    return tuple(made[i] for i in rng.permutation(len(made)))


class Seen:
    """Outputs of a model at a state, and places made of them."""

    def __init__(self, model: Model, x: np.ndarray, u: np.ndarray) -> None:
        self.model, run = model, Interpreted(model)
        y = run.outputs(x, u)
        self.y = {v.name: y[v.places] for v in run.ports.outputs}
        flow = ca.vertcat(run.derivatives(x, u))
        along = run.equations.outputs.forward(1)
        k = run._constants
        self.rates = np.array(along(x, u, k, y, flow, np.zeros(len(u)), np.zeros(k.shape))).ravel()
        self.places = {v.name: v.places for v in run.ports.outputs}

    def attitude(self, place: str) -> Rotation:
        body = place.partition(".")[0]
        if body == "inertial":
            return Rotation.identity()
        return of_scipy(self.y.get(f"{place}.attitude", self.y[f"{body}.attitude"]))

    def omega(self, place: str) -> np.ndarray:
        """Inertial axes."""
        body = place.partition(".")[0]
        if body == "inertial":
            return np.zeros(3)
        return self.attitude(place).apply(self.y.get(f"{place}.omega", self.y[f"{body}.omega"]))

    def at(self, place: str, what: str) -> np.ndarray:
        return np.zeros(3) if place == "inertial" else self.y[f"{place}.{what}"]


def drawn(seed: int) -> Seen:
    rng = np.random.default_rng(seed)
    if seed % 2:
        case = random_flexible(rng, 4, loops=seed % 3)
        model, x, u = case.model, case.x, case.u
    else:
        model = random_model(rng, int(rng.integers(1, 5)))
        x, u = random_state(rng, model), random_inputs(rng, model)
    return Seen(replace(model, chosen_outputs=signals(model, rng)), x, u)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 60))])
def test_signals_are_what_attitudes_and_motions_of_places_make_them(seed: int) -> None:
    seen = drawn(seed)
    for signal in seen.model.chosen_outputs:
        found = seen.y[f"output.{signal.name}"]
        if not signal.relative:
            continue
        of, to = signal.of, signal.to
        if signal.kind not in VECTORS:
            turn = seen.attitude(to).inv() * seen.attitude(of)
            if signal.kind == "euler":
                again = Rotation.from_euler(signal.sequence.upper(), found)
                assert (again.inv() * turn).magnitude() < 10 * EXACT
                continue
            expected = wanted(signal.kind, turn)
            if signal.kind == "relative_attitude":
                expected *= np.sign(expected @ found)
            np.testing.assert_allclose(found, expected, atol=EXACT)
            continue
        axes, spin = seen.attitude(signal.axes).inv(), seen.omega(signal.axes)
        place, velocity = (seen.at(of, what) - seen.at(to, what) for what in ("position", "velocity"))
        vectors = (place, velocity - np.cross(spin, place), seen.omega(of) - seen.omega(to))
        scale = max(1.0, *(np.abs(seen.at(each, what)).max() for each in (of, to) for what in ("position", "velocity")))
        expected = axes.apply(dict(zip(VECTORS, vectors, strict=True))[signal.kind])
        np.testing.assert_allclose(found, expected, atol=EXACT * scale)
        if signal.kind == "relative_position":
            far = seen.y["output.far"][0]
            assert far == pytest.approx(np.linalg.norm(found), rel=EXACT)
            assert seen.y["output.both"][0] == pytest.approx(0.5 * far - 2 * found[1], abs=EXACT * scale)
    np.testing.assert_allclose(seen.y["output.all"], 1.5 * seen.y["output.mrp"], rtol=EXACT)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_velocities_are_rates_of_places(seed: int) -> None:
    seen = drawn(seed)
    position = next(signal for signal in seen.model.chosen_outputs if signal.kind == "relative_position")
    velocity = replace(position, name="velocity", kind="relative_velocity")
    of_model = replace(seen.model, chosen_outputs=(position, velocity))
    rng = np.random.default_rng(seed)
    x, u = (random_state(rng, of_model), random_inputs(rng, of_model)) if not seed % 2 else (None, None)
    if x is None:
        case = random_flexible(rng, 4, loops=seed % 3)
        x, u = case.x, case.u
    run = Seen(of_model, x, u)
    rates = run.rates[run.places["output.relative_position"]]
    np.testing.assert_allclose(run.y["output.velocity"], rates, atol=1e-11 * max(1.0, np.abs(rates).max()))


def kernel(kind: str, sequence: str = "") -> ca.Function:
    return signal_kernels.turned(kind, sequence)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_angles_are_those_of_scipy_and_finite_where_they_lock(sequence: str) -> None:
    """Values reproduce the turn everywhere; where first and third axis are one the third is zero, slopes are finite."""
    rng = np.random.default_rng(1)
    f, right = kernel("euler", sequence), np.pi / 2
    change = f.forward(1)
    edges = [np.array(angles) for angles in product((-right, 0.0, right, np.pi), (-right, 0.0, right, np.pi), (0.3,))]
    near = [np.array([0.4, middle + shift, -0.7]) for middle in (0, right) for shift in (1e-9, -1e-6, 1e-15)]
    locks = 0
    for angles in (*rng.uniform(-3, 3, (40, 3)), *edges, *near):
        turn = Rotation.from_euler(sequence.upper(), angles)
        q = np.roll(turn.as_quat(), 1) * rng.choice((-0.5, 1.0, 2.0))
        found = np.array(f(q, [1, 0, 0, 0])).ravel()
        again = Rotation.from_euler(sequence.upper(), found)
        assert (again.inv() * turn).magnitude() < 1e-11
        middle = abs(found[1]) if sequence[0] != sequence[2] else abs(found[1] - right)
        assert middle <= right
        assert np.abs(found).max() <= np.pi
        if right - middle > 1e-6:
            np.testing.assert_allclose(turned_on(found - turn.as_euler(sequence.upper())), 0.0, atol=1e-8)
        elif right - middle < 1e-13:
            locks += 1
            assert found[2] == 0.0
        slopes = change(q, [1, 0, 0, 0], found, rng.normal(size=4), np.zeros(4))
        assert np.isfinite(np.array(slopes)).all()
    assert locks >= 8


@pytest.mark.parametrize("kind", TURNS)
def test_turns_are_those_of_scipy_up_to_half_a_turn(kind: str) -> None:
    f, rng = kernel(kind), np.random.default_rng(2)
    change = f.forward(1)
    for size in (0.0, 1e-9, 1e-4, 0.5, 3.0, np.pi - 1e-9, np.pi, np.pi + 1e-9, 6.0):
        axis = rng.normal(size=3)
        turn = Rotation.from_rotvec(size * axis / np.linalg.norm(axis))
        q = np.concatenate([[np.cos(size / 2)], np.sin(size / 2) * axis / np.linalg.norm(axis)])
        to = rng.normal(size=4)
        of = np.roll((of_scipy(to) * turn).as_quat(), 1)
        found = np.array(f(of, to)).ravel()
        expected = wanted(kind, of_scipy(q))
        if abs(size - np.pi) < 1e-6 and kind in ("mrp", "rotation_vector"):
            expected *= np.sign(found @ expected)
        if kind == "relative_attitude":
            expected *= np.sign(found @ expected)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert np.isfinite(np.array(change(of, to, found, rng.normal(size=4), rng.normal(size=4)))).all()


def test_norms_have_no_slope_where_they_are_zero() -> None:
    f = signal_kernels.norm(3)
    assert float(f([3, 0, -4])) == 5.0
    assert float(f.forward(1)([0, 0, 0], 0, [1, 2, 3])) == 0.0


def test_linear_models_have_exact_slopes_and_small_turns_of_quaternions() -> None:
    model = loads(SIGHTED)
    linear, run = linearize(model, outputs=["output.*"]), Interpreted(model)
    x = np.array(run.equations.start(np.array(run.ports.start), run._constants)).ravel()
    u = np.zeros(len(run.ports.input_names))
    mount = np.array([run.ports.by_name["output.mount"].offset + k for k in range(4)])
    assert [name for name in linear.outputs if "mount" in name] == [f"output.mount.error[{k}]" for k in (1, 2, 3)]
    for state in ("dish.joint.angle[1]", "dish.joint.angle[2]", "dish.joint.rate[2]"):
        at, h = run.ports.state_names.index(state), 1e-3
        rows = [run.outputs(x + k * h * np.eye(len(x))[at], u) for k in (1, -1, 2, -2)]
        slope = (8 * (rows[0] - rows[1]) - (rows[2] - rows[3])) / (12 * h)
        w, *v = run.outputs(x, u)[mount]
        back = np.array([[-a for a in v], [w, v[2], -v[1]], [-v[2], w, v[0]], [v[1], -v[0], w]])
        for name, value in zip(linear.outputs, linear.C[:, linear.states.index(state)], strict=True):
            if ".error" in name:
                expected = (
                    2
                    * slope[mount]
                    @ np.array([[-v[0], w, v[2], -v[1]], [-v[1], -v[2], w, v[0]], [-v[2], v[1], -v[0], w]])[
                        int(name[-2]) - 1
                    ]
                )
            else:
                expected = slope[run.ports.output_names.index(name)]
            assert value == pytest.approx(expected, abs=1e-9), (name, back.shape)


def test_files_keep_signals_and_models_made_in_python_are_judged() -> None:
    model = loads(SIGHTED)
    assert loads(dumps(model)).chosen_outputs == model.chosen_outputs
    assert replace(model, chosen_outputs=()) != model
    with pytest.raises(PartError, match=r"output.a.of: there is no body 'tower'"):
        replace(model, chosen_outputs=(ChosenOutput(name="a", kind="matrix", of="tower"),))
    with pytest.raises(PartError, match=r"ChosenOutput.sequence: must be three of the letters"):
        ChosenOutput(name="a", kind="euler", of="bus", sequence="zyz2")
    with pytest.raises(PartError, match=r"output.a: is given 2 times"):
        replace(model, chosen_outputs=(ChosenOutput(name="a", kind="matrix", of="bus"),) * 2)


def test_chosen_ports_have_them_of_outputs_that_are_left_out() -> None:
    model = replace(loads(SIGHTED), port_choice=PortChoice(outputs=("output.a*", "output.turning")))
    whole, part = Interpreted(model.whole), Interpreted(model)
    assert part.ports.output_names == ("output.away", "output.turning")
    x = np.array(whole.equations.start(np.array(whole.ports.start), whole._constants)).ravel()
    u = np.zeros(len(whole.ports.input_names))
    y = whole.outputs(x, u)
    assert part.outputs(x, u).tolist() == [y[whole.ports.by_name[name].offset] for name in part.ports.output_names]


def test_variables_say_units_and_what_acts_on_them() -> None:
    model = loads(
        SIGHTED + '[output.felt]\nkind = "norm"\nof = "bus.tracker.specific_force"\n'.replace("\n[initial]", "")
    )
    table = Interpreted(model).ports.by_name
    assert {name: table[f"output.{name}"].unit for name in ("pointing", "mount", "away", "turning", "felt")} == {
        "pointing": "rad", "mount": "1", "away": "m", "turning": "rad/s", "felt": "m/s2",
    }  # fmt: skip
    assert table["output.pointing"].display_units == ("deg",) * 3
    assert table["output.away"].dependencies == ()
    assert "bus.force" in table["output.felt"].dependencies
