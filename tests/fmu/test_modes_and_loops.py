"""Modes and loops in an FMU: the `Plant` bit for bit, loops that close and open, starts that are not closed."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

from flavours import FLAVOURS, NATIVE, UNLIKE, Flavour, mostly
from fmu.client import DISCARD, ERROR, WARNING, answers, client_of, described, needs_front, only
from fmu.exchange import exchange_of
from fmu.flexible_systems import DOCK, docking, flexible_four_bar, like, with_boom
from fmu.test_derivatives import STENCIL, Whole, close, directional, unknowns
from fmu.test_events import Watcher
from fmu.test_exchange import element
from mbdy.blocks import Plant, StartMovedWarning
from mbdy.engine import Model
from mbdy.fmu import export_fmu
from mechanisms import four_bar, three_legs

SOLVER, SOLVERS_APART = 1e-10, 1e-7
"""Relative tolerance asked of CVODE, and how far its errors go in the seconds here."""
DRIFT = 1e-6
"""[m, rad] Errors of closure below this are taken out by co-simulation, see core/loops.c."""
TAKEN_OUT = DRIFT / 0.1
"""Speeds change by no more where co-simulation takes out what is left of a gap: DRIFT over the time constant."""
FINER = 1e-4
"""Steps of differences: modes are stiff."""
TOTALS = [f"system.{name}[{k}]" for name in ("momentum", "angular_momentum") for k in (1, 2, 3)]
SYSTEMS = {
    "boom": with_boom, "docking": docking, "four-bar": flexible_four_bar, "rigid": four_bar, "legs": three_legs,
}  # fmt: skip
SLOW = [pytest.param(name, marks=pytest.mark.slow) if name in ("legs", "rigid", "boom") else name for name in SYSTEMS]
native = only(NATIVE)
native_3 = only([Flavour("native", "3.0")])


@pytest.fixture(scope="session")
def looped(tmp_path_factory):
    """``looped(name, flavour)``: the FMU of one of the systems, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("looped")

    def exported(name: str, flavour: Flavour, integrator: str = "rk4") -> Path:
        path = folder / f"{name}-{flavour}-{integrator}.fmu"
        return path if path.exists() else export_fmu(SYSTEMS[name](), path, integrator=integrator, **flavour.options)

    return exported


@pytest.fixture
def open_(looped, flavour, tmp_path):
    clients = []

    def make(name: str, kind=client_of, integrator: str = "rk4", **options):
        path = looped(name, flavour, integrator)
        clients.append(kind(path, Path(tempfile.mkdtemp(dir=tmp_path)), **options))
        return clients[-1]

    yield make
    for client in clients:
        client.fmu.freeInstance()


def both(client, plant: Plant, name: str, value) -> None:
    client[name] = plant[name] = value


def stepped_alike(client, plant: Plant, H: float = 0.01) -> None:
    client.step(H)
    found = client.get(list(plant.output_names))
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, plant.step(H).values)


@only(mostly([UNLIKE[0], UNLIKE[-1]], UNLIKE))
@pytest.mark.parametrize("name", SLOW)
def test_equals_the_plant_bit_for_bit(open_, name):
    client, plant = open_(name).initialize(), Plant(SYSTEMS[name]())
    rng = np.random.default_rng(3)
    torques = [n for n in plant.input_names if ".torque" in n]
    for _ in range(20):
        for torque in rng.choice(torques, 3):
            both(client, plant, torque, 0.1 * rng.normal())
        stepped_alike(client, plant)


@pytest.mark.parametrize("integrator", ["rk4", pytest.param("rosenbrock", marks=pytest.mark.slow)])
def test_docking_and_letting_go_are_the_plants_bit_for_bit(open_, integrator):
    client, plant = open_("docking", integrator=integrator).initialize(), Plant(docking(), integrator=integrator)
    for i in range(30):
        if i in (10, 20):
            both(client, plant, DOCK, i == 10)
        both(client, plant, "boom.tip.force[2]", 0.1 * np.sin(i))
        both(client, plant, "chaser.torque[3]", 0.5 * np.cos(i))
        stepped_alike(client, plant)
        impulse = np.abs(client.get([f"loop.dock.impulse[{k}]" for k in range(1, 7)])).max()
        assert (impulse > 0.1) if i == 10 else impulse < 1e-6
    assert client["loop.dock.force[1]"] == 0.0


def test_a_saved_instant_comes_back_with_its_loop(open_):
    client = open_("docking").initialize()
    client[DOCK] = True
    client.step(0.01)
    state, docked = client.saved(), client.outputs()
    client[DOCK] = False
    client.step(0.1)
    client.restore(state)
    np.testing.assert_array_equal(client.outputs(), docked)
    assert client.fmu.getBoolean([client.place[DOCK]]) == [True]
    client.free(state)


def test_a_start_that_is_not_closed_is_closed(open_):
    """By start values as the client sets them, in any order and however often it looks."""
    client = open_("four-bar")
    client.enter()
    for name, value in (("crank.joint.angle", 1.05), ("rocker.joint.angle", 1.3), ("crank.joint.rate", -0.3)):
        client[name] = value
        assert np.isfinite(client.outputs()).all()
    residuals = client.get([f"loop.pin.residual[{k}]" for k in range(1, 6)])
    assert np.abs(residuals).max() < 1e-12
    assert abs(client["rocker.joint.angle"] - 1.3) > 1e-3
    plant = like(client, flexible_four_bar())
    np.testing.assert_allclose(client.get(list(plant.output_names)), plant.outputs().values, rtol=1e-9, atol=1e-9)
    client.fmu.exitInitializationMode()
    for _ in range(5):
        client.step(0.01)
        found = client.get(list(plant.output_names))
        np.testing.assert_allclose(found, plant.step(0.01).values, rtol=1e-9, atol=1e-9)
    state, before = client.saved(), client.outputs()
    client.step()
    client.restore(state)
    np.testing.assert_array_equal(client.outputs(), before)
    client.free(state)


def test_a_loop_that_is_opened_before_the_start_leaves_start_values_alone(open_):
    client = open_("four-bar")
    client.enter()
    client["rocker.joint.angle"] = 1.3
    assert abs(client["rocker.joint.angle"] - 1.3) > 1e-3
    client["loop.pin.closed"] = False
    assert client["rocker.joint.angle"] == 1.3
    client["loop.pin.closed"] = True
    assert abs(client["rocker.joint.angle"] - 1.3) > 1e-3
    client.fmu.exitInitializationMode()
    client.step()


@needs_front
def test_a_loop_that_cannot_be_closed_is_named(open_):
    client = open_("four-bar")
    client["rocker.joint.at[1]"] = 100.0
    client.enter()
    with answers(client, ERROR, "loop.pin: cannot be closed"):
        client.fmu.exitInitializationMode()
    client["rocker.joint.at[1]"] = 0.7
    client.fmu.exitInitializationMode()
    client.step()


@native
def test_closing_is_an_event_of_model_exchange(open_):
    client = open_("docking", exchange_of, logging=True).initialize()
    assert client.event() is False
    client.fmu.enterContinuousTimeMode()
    before, states = client.get(TOTALS), client.states()
    client.fmu.enterEventMode()
    client[DOCK] = True
    assert client.event() is True
    assert client.said[-1][1:] == ("logEvents", f"locked joints or closed loops stopped at 0 s: '{DOCK[:-7]}'")
    np.testing.assert_allclose(client.get(TOTALS), before, atol=1e-12)
    assert np.abs(client.states() - states).max() > 0.01
    assert np.abs(client.get([f"loop.dock.residual_rate[{k}]" for k in range(1, 7)])).max() < 1e-12
    assert abs(client["loop.dock.impulse[4]"]) > 0.1
    assert client.event() is False
    assert client["loop.dock.impulse[4]"] == 0.0
    client.fmu.enterContinuousTimeMode()
    assert not client.fmu.completedIntegratorStep()[0]
    client.fmu.enterEventMode()
    client[DOCK] = False
    assert client.event() is True


@needs_front
def test_what_stops_is_told_once(open_):
    client = open_("docking", logging=True).initialize()
    client.step(0.01)
    assert client.said == []
    client[DOCK] = client["boom.joint.locked"] = True
    client.step(0.01)
    client.step(0.01)
    (told,) = client.said
    assert told == (0, "logEvents", "locked joints or closed loops stopped at 0.01 s: 'boom.joint', 'loop.dock'")


@native
def test_a_solver_of_model_exchange_docks_and_lets_go(looped, flavour):
    """Baumgarte's terms alone hold the loop there; co-simulation takes out what is left of the gap after 1.25 s."""
    signals = np.array([(0.0, False), (0.375, False), (0.375, True), (2.125, True), (2.125, False), (3.0, False)],
                       dtype=[("time", float), (DOCK, bool)])  # fmt: skip
    names = ["target.position[1]", "boom.flex.displacement", "chaser.omega[3]", "loop.dock.residual[5]"]
    own = {v.name for v in described(looped("docking", flavour)).modelVariables}
    result = fmpy.simulate_fmu(
        looped("docking", flavour), fmi_type="ModelExchange", stop_time=3.0, output_interval=0.25, input=signals,
        relative_tolerance=SOLVER, output=[name if name in own else name.partition("[")[0] for name in names],
    )  # fmt: skip
    seen = {round(float(row["time"]), 6): row for row in result}
    plant = Plant(docking())
    for i in range(12):
        for t in (0.25 * i, 0.25 * i + 0.125):
            plant[DOCK] = 0.375 <= t < 2.125
            y = plant.step(0.125)
        row = seen[round(0.25 * (i + 1), 6)]
        for name in names:
            found, wanted = row[name] if name in own else element(row, name), float(y[name])
            assert found == pytest.approx(wanted, rel=0, abs=TAKEN_OUT if i >= 5 else SOLVERS_APART), (name, i)


def start_of(model: Model, name: str) -> float:
    variable, k = Plant(model).ports.by_scalar[name]
    assert variable.start is not None
    return variable.start[k]


BY = (
    "crank.joint.angle", "rocker.joint.angle", "crank.joint.rate", "coupler.flex.displacement", "coupler.flex.rate",
    "coupler.joint.at[1]", "coupler.flex.stiffness", "coupler.tip.force[2]", "loop.pin.time_constant",
)  # fmt: skip


@native
def test_derivatives_go_through_the_closing_of_the_start(open_, fmi):
    model = SYSTEMS["four-bar"]()
    for by in BY:
        client = open_("four-bar")
        client.enter()
        base = start_of(model, by)
        of = unknowns(client)
        wanted = np.zeros(len(of))
        for place, weight in STENCIL:
            client[by] = base + place * FINER
            wanted += weight * client.get(of) / (12 * FINER)
        client[by] = base
        np.testing.assert_allclose(directional(client, of, [by], [1.0]), wanted, rtol=2e-6, atol=2e-6, err_msg=by)
    if fmi == "3.0":
        transposed(client, of, BY)


@native
def test_starts_that_contradict_the_loops_have_no_derivative(open_):
    client = open_("docking")
    client[DOCK] = True
    client.enter()
    of = unknowns(client)
    client.get(of)
    with answers(client, DISCARD, "contradict"):
        directional(client, of, ["target.mass"], [1.0])


def transposed(client, of, by) -> None:
    rng, of, by = np.random.default_rng(6), Whole(client, of), Whole(client, by)
    for _ in range(5):
        change, seed = rng.normal(size=by.size), rng.normal(size=of.size)
        ahead = np.array(client.fmu.getDirectionalDerivative(of.references, by.references, change, of.size))
        back = np.array(client.fmu.getAdjointDerivative(of.references, by.references, seed, by.size))
        assert seed @ ahead == pytest.approx(back @ change, rel=1e-11, abs=1e-11 * float(np.abs(seed) @ np.abs(ahead)))


@native
def test_derivatives_between_steps(open_, fmi):
    client = open_("docking").initialize()
    client[DOCK] = True
    client.step(0.05)
    of, by = unknowns(client), ["boom.tip.force[2]", "chaser.torque[1]", "boom.flex.stiffness", "target.mass"]
    for name in by:
        wanted, base = np.zeros(len(of)), client[name]
        for place, weight in STENCIL:
            client[name] = base + place * 1e-3
            wanted += weight * client.get(of) / 12e-3
        client[name] = base
        close(directional(client, of, [name], [1.0]), wanted)
    if fmi == "3.0":
        transposed(client, of, [*by, "chaser.omega[2]", "boom.flex.rate"])


@native_3
def test_a_watched_step_closes_and_holds_too(open_):
    """Watched steps take errors out after each internal step, others at their end: equal but for these."""
    client, plant = open_("docking", Watcher, between=lambda *_: None).initialize(), Plant(docking())
    for i in range(11):
        if i == 1:
            both(client, plant, DOCK, True)
        client.step(0.01)
        np.testing.assert_allclose(client.get(list(plant.output_names)), plant.step(0.01).values, rtol=1e-9, atol=1e-10)


@native_3
def test_closing_in_event_mode_of_co_simulation(open_):
    client, plant = open_("docking", Watcher, events=True).initialize(), Plant(docking())
    client[DOCK] = plant[DOCK] = True
    client.fmu.updateDiscreteStates()
    assert abs(client["loop.dock.impulse[4]"]) > 0.1
    client.fmu.enterStepMode()
    client.step(0.01)
    names = [name for name in plant.output_names if ".impulse" not in name]
    with pytest.warns(StartMovedWarning, match="contradicts the loops"):  # the plant closes its start
        seen = plant.step(0.01)
    np.testing.assert_allclose(client.get(names), np.array([seen[name] for name in names]), rtol=1e-12, atol=1e-12)


@needs_front
def test_a_body_that_bends_far_is_told_once(open_):
    client = open_("boom", logging=True)
    client.enter()
    client["boom.flex.displacement[1]"] = 10.0
    client.fmu.exitInitializationMode()
    client.step()
    (said,) = (said for said in client.said if "bend it far" in said[2])
    assert said[:2] == (WARNING, "logStatusWarning")
    assert said[2].startswith("boom: its modes bend it far, its material by ")


@only(FLAVOURS)
def test_start_values_of_loops_are_guesses(looped, flavour):
    """The description says so of states, and lists them with what follows from the start."""
    path = looped("docking", flavour)
    assert validate_fmu(str(path)) == []
    with zipfile.ZipFile(path) as packed:
        root = ElementTree.fromstring(packed.read("modelDescription.xml"))
    variables = list(root.iterfind("ModelVariables/*"))
    by_name = {v.get("name"): v for v in variables}
    guesses = [v for v in variables if v.get("initial") == "approx"]
    assert by_name["boom.flex.rate"] in guesses
    assert by_name["boom.mass"].get("initial") == "exact"
    assert by_name["target.mass"].get("initial") == "exact"
    two = flavour.fmi == "2.0"
    unknown = "ModelStructure/InitialUnknowns/*" if two else "ModelStructure/InitialUnknown"
    listed = {each.get("index" if two else "valueReference") for each in root.iterfind(unknown)}
    assert {str(variables.index(v) + 1) if two else v.get("valueReference") for v in guesses} <= listed
    switch = by_name[DOCK].find("Boolean") if two else by_name[DOCK]
    assert switch is not None
    assert switch.get("start") == "false"


@only(FLAVOURS)
def test_a_closed_loop_starts_closed(looped, flavour):
    path = looped("four-bar", flavour)
    (start,) = [v.start for v in fmpy.read_model_description(path).modelVariables if v.name == "loop.pin.closed"]
    assert start == "true"
    assert validate_fmu(str(path)) == []
