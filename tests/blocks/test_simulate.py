"""Runs under controllers and tables: grids, holds, what is kept on a fault, where results go."""

from __future__ import annotations

import csv
import math
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import (
    FastMotionWarning,
    NoCommandWarning,
    Plant,
    SimulationError,
    StepError,
    VariableError,
    simulate,
)
from mbdy.engine import Body, Joint, Model, RefusalError, save
from mbdy.engine.model.system import Motion
from systems import chain, diagonal

INERTIA = 2.0


def hinge(motion: Motion = "free") -> Model:
    """One body on a hinge to inertial: angle'' = torque / 2."""
    joint = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), motion=(motion,))
    return Model(name="hinge", bodies=(Body(name="arm", mass=1.0, inertia=diagonal(1.0, 1.0, INERTIA), joint=joint),))


def test_rows_go_from_zero_to_until_inclusive():
    run = simulate(hinge(), until=1.0, every=0.1)
    np.testing.assert_allclose(run.time, np.arange(11) * 0.1, atol=1e-15)
    assert run.time[-1] == 1.0
    assert simulate(hinge(), until=1.0, every=0.3).time.tolist() == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.0])
    assert len(simulate(hinge(), until=0.01)) == 11
    assert run.names == Plant(hinge()).output_names


def test_a_controller_is_sampled_and_held():
    calls = []

    def controller(t, y):
        calls.append(t)
        assert y.time == pytest.approx(t)
        return {"arm.joint.torque": t}

    run = simulate(hinge(), until=1.0, every=0.25, controller=controller, sample=0.5, step=1e-3)
    assert calls == [0.0, 0.5, 1.0]
    assert run["arm.joint.rate"][2] == 0.0
    assert run["arm.joint.rate"][4] == pytest.approx(0.5 * 0.5 / INERTIA, abs=1e-13)
    calls.clear()
    simulate(hinge(), until=0.01, controller=controller)
    assert calls == pytest.approx(np.arange(11) * 1e-3, abs=1e-15)


def test_a_controller_is_called_at_multiples_of_its_sample_wherever_the_run_ends():
    def to(until: float, sample: float = 0.3):
        calls: list[float] = []

        def controller(t, y):
            calls.append(t)
            return {"arm.joint.torque": 1.0 - sum(calls)}  # it has a memory

        return simulate(hinge(), until=until, every=0.05, controller=controller, sample=sample), calls

    long, _ = to(1.2)
    for until, expected in ((1.0, 4), (1.05, 4), (0.75, 3), (0.9, 4), (1.2, 5)):
        run, calls = to(until)
        assert calls == pytest.approx(np.arange(expected) * 0.3, abs=1e-15)
        np.testing.assert_allclose(run.values, long.values[: len(run)], atol=1e-12)
    assert to(1.0, sample=5.0)[1] == [0.0]


def test_a_controller_and_a_table_act_together():
    def controller(t, y):
        return {"arm.joint.torque": 1.0}

    table = {"time": [0.0, 0.5], "arm.torque": [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]}
    run = simulate(hinge(), until=1.0, every=0.5, controller=controller, sample=0.25, inputs=table)
    assert run["arm.joint.rate"] == pytest.approx([0.0, 0.5, 0.75], abs=1e-13)


@pytest.mark.parametrize("linear", [False, True])
def test_a_table_is_held_or_linear(tmp_path, linear):
    path = tmp_path / "table.csv"
    path.write_text("time,arm.joint.torque\n0,0\n1,2\n2,0\n")
    fine = simulate(hinge(), until=2.0, every=0.5, inputs=path, linear=linear)
    assert fine["arm.joint.rate"][-1] == pytest.approx(2.0 / INERTIA, abs=1e-13)
    middle = 0.5 * 1.0 if linear else 0.0
    assert fine["arm.joint.rate"][2] == pytest.approx(2 * middle / INERTIA, abs=1e-13)


def test_outputs_of_a_row_have_the_inputs_of_its_time():
    table = {"time": [0.0, 0.5], "arm.force": [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]}
    even = simulate(hinge(), until=1.0, every=0.5, inputs=table)
    uneven = simulate(hinge(), until=1.0, every=0.3, inputs=table)
    assert even["arm.joint.load"][:, 3].tolist() == [0.0, -3.0, -3.0]
    assert uneven["arm.joint.load"][:, 3].tolist() == [0.0, 0.0, -3.0, -3.0, -3.0]


def test_an_uneven_grid_ends_where_an_even_one_does():
    table = {"time": np.linspace(0.0, 1.0, 8), "link1.joint.torque": np.sin(np.arange(8))}
    runs = [simulate(chain(1), until=1.0, every=every, inputs=table, linear=True) for every in (0.1, 1.0 / 7.0)]
    np.testing.assert_allclose(runs[0].values[-1], runs[1].values[-1], atol=1e-10)


def test_selected_outputs():
    run = simulate(chain(1), until=0.1, every=0.1, outputs=["bus.*", "link1.joint.angle", "system.momentum[2]"])
    assert "bus.omega[1]" in run.names
    assert run.names[-1] == "system.momentum[2]"
    assert not any(name.startswith("link1.omega") for name in run.names)
    assert run["bus.omega"].shape == (2, 3)
    with pytest.raises(KeyError, match="not recorded"):
        run["link1.omega"]
    with pytest.raises(VariableError, match=r"'buss\.\*'"):
        simulate(chain(1), until=0.1, outputs=["buss.*"])


def test_nothing_is_lost_on_a_fault():
    def breaks(t, y):
        return {"arm.joint.torque": math.nan if t > 0.55 else 1.0}

    with pytest.raises(SimulationError, match=r"at 0\.6 s: .*arm\.joint\.torque.*finite") as caught:
        simulate(hinge(), until=1.0, every=0.1, controller=breaks, sample=0.1)
    assert not caught.value.run.complete
    assert len(caught.value.run) == 6
    unstable = Plant(hinge(), step=0.5)
    unstable["arm.joint.stiffness"] = 1e12
    unstable["arm.joint.angle"] = 1.0
    told = pytest.warns(FastMotionWarning, match=r"arm\.joint\.stiffness")
    with told, pytest.raises(SimulationError, match="internal step") as caught:
        simulate(unstable, until=1e4, every=0.5)
    assert 1 < len(caught.value.run) < 200
    assert np.isfinite(caught.value.run.values[:, 0]).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda t: {"arm.joint.torqe": 1.0}, r"controller gives.*arm\.joint\.torqe.*arm\.joint\.torque"),
        (lambda t: {"arm.joint.angle": 1.0}, r"arm\.joint\.angle.*output"),
        (lambda t: {"arm.joint.torque": 1.0 / (0.5 - t)}, "controller failed: ZeroDivisionError"),
        (lambda t: [1.0], "controller gives .*1.0.*mapping of names to values, or None"),
        (lambda t: "arm.joint.torque", "controller gives .*mapping"),
        (lambda t: 1.0, "controller gives .*mapping"),
        (lambda t: {3: 1.0}, "controller gives"),
        (lambda t: {"arm.joint.torque": 1j}, r"arm\.joint\.torque.*real number.*1j"),
        (lambda t: {"arm.force": np.array([1j, 0, 0])}, r"arm\.force.*real number"),
        (lambda t: {"arm.force": [[1.0], [1.0, 2.0], 3.0]}, r"arm\.force.*3 values in a row"),
        (lambda t: {"arm.force": [1.0, 2.0]}, r"arm\.force.*3 values are needed, got 2"),
    ],
)
def test_a_bad_controller_loses_nothing(given, message):
    with pytest.raises(SimulationError, match=message) as caught:
        simulate(hinge(), until=1.0, every=0.25, sample=0.25, controller=lambda t, y: given(t) if t >= 0.5 else None)
    assert len(caught.value.run) == 2


def test_a_controller_that_steps_its_plant_is_refused():
    plant = Plant(hinge())

    def controller(t, y):
        plant.step(0.01)

    with pytest.raises(SimulationError, match=r"at 0\.01 s: the controller steps the plant that it controls"):
        simulate(plant, until=1.0, every=0.1, controller=controller)


def test_times_with_units():
    run = simulate(hinge(), until="0.2 s", every="100 ms", controller=lambda t, y: None, sample="50 ms")
    assert run.time.tolist() == [0.0, 0.1, 0.2]
    plant = Plant(hinge())
    assert plant.step("10 ms").time == 0.01
    for bad in ("10 m", 1j, None):
        with pytest.raises(StepError):
            plant.step(bad)
        with pytest.raises(StepError):
            simulate(hinge(), until=bad)
    assert plant.time == 0.01


def test_bad_arguments():
    for arguments, message in (
        ({"until": 0.0}, "until"), ({"until": math.nan}, "until"), ({"until": 1.0, "every": -1.0}, "every"),
        ({"until": 1.0, "every": 0.0}, "every"),
    ):  # fmt: skip
        with pytest.raises(StepError, match=message):
            simulate(hinge(), **arguments)
    with pytest.raises(ValueError, match="controller"):
        simulate(hinge(), until=1.0, sample=0.1)
    with pytest.raises(ValueError, match="linear"):
        simulate(Plant(hinge()), until=1.0, linear=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("t,arm.joint.torque\n0,1\n", "column 'time'"),
        ("time,arm.joint.torqe\n0,1\n", r"arm\.joint\.torque"),
        ("time,arm.joint.angle\n0,1\n", r"no input \(causality: output\)"),
        ("time,arm.joint.torque\n0,x\n", "line 2.*'x' is no number"),
        ("time,arm.joint.torque\n0,nan\n", "line 2.*finite"),
        ("time,arm.joint.torque\n0,1,2\n", "line 2.*2 values.*got 3"),
        ("time,arm.joint.torque\n0,1\n0,2\n", "line 3: time must increase"),
        ("time,arm.joint.torque\n", "at least one row"),
        ("time,time\n0,1\n", "named twice"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(VariableError, match=message):
        simulate(hinge(), until=1.0, inputs=path)
    with pytest.raises(VariableError, match="No such file"):
        simulate(hinge(), until=1.0, inputs=tmp_path / "none.csv")


def test_csv_has_exact_names_and_full_precision(tmp_path):
    run = simulate(chain(1), until=0.2, every=0.1)
    with run.to_csv(tmp_path / "run.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["time", *run.names]
    read = np.array(rows[1:], dtype=float)
    np.testing.assert_array_equal(read[:, 1:], run.values)


def test_xarray_and_plot():
    run = simulate(chain(1), until=0.2, every=0.1)
    data = run.to_xarray()
    assert data["bus.omega"].shape == (3, 3)
    assert data["bus.omega"].attrs["units"] == "rad/s"
    assert len(run.plot("bus.omega").data) == 3
    with pytest.raises(VariableError, match="nothing recorded"):
        run.plot("nothing")


def test_progress_is_told():
    seen: list[float] = []
    simulate(chain(1), until=5.0, every=0.001, progress=seen.append, outputs=["bus.omega"])
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("every", [1.0, 0.5, 0.3, 0.1])
def test_records_do_not_change_the_run(every):
    """What is asked for is the same whatever is recorded: constant inputs, tables, locks, controllers."""
    constant = Plant(hinge(), interpolation="linear")
    constant["arm.joint.torque"] = 2.0
    assert simulate(constant, until=1.0, every=every)["arm.joint.rate"][-1] == pytest.approx(1.0, abs=1e-12)
    held = {"time": [0.0, 0.5], "arm.joint.torque": [0.0, 2.0]}
    assert simulate(hinge(), until=1.0, every=every, inputs=held)["arm.joint.rate"][-1] == pytest.approx(0.5, abs=1e-12)
    locks = {"time": [0.0, 0.4, 0.5, 1.5], "arm.joint.torque": [2.0] * 4, "arm.joint.locked": [0, 0, 1, 1]}
    for linear in (False, True):
        run = simulate(hinge("switchable"), until=1.05, every=every, inputs=locks, linear=linear)
        assert run["arm.joint.angle"][-1] == pytest.approx(0.125, abs=1e-12)


def test_a_held_table_is_no_line():
    table = {"time": [0.0, 0.5], "arm.joint.torque": [0.0, 2.0]}
    with pytest.raises(ValueError, match='held inputs need a plant made with interpolation="held"'):
        simulate(Plant(hinge(), interpolation="linear"), until=1.0, inputs=table)


def test_a_table_and_a_controller_do_not_set_one_input():
    table = {"time": [0.0], "arm.joint.torque": [2.0]}
    with pytest.raises(SimulationError, match=r"'arm\.joint\.torque', which the table of inputs gives too"):
        simulate(hinge(), until=1.0, inputs=table, controller=lambda t, y: {"arm.joint.torque": 0.0})


def test_switches_are_zero_or_one():
    with pytest.raises(VariableError, match="0 or 1"):
        simulate(hinge("switchable"), until=1.0, inputs={"time": [0.0], "arm.joint.locked": [0.5]})
    plant = Plant(hinge("switchable"))
    plant.inputs.switches.values[:] = (0.0, 0.5)
    with pytest.raises(VariableError, match=r"arm\.joint\.locked.*0 or 1, got 0\.5"):
        plant.step(0.1)


def test_vectors_of_a_table_keep_their_columns():
    table = {"time": [0, 1], "arm.force": np.zeros((2, 2)), "arm.torque": [[0] * 4] * 2}
    with pytest.raises(VariableError, match=r"'arm\.force' needs 2 rows of 3 values, got shape \(2, 2\)"):
        simulate(hinge(), until=1.0, inputs=table)


def test_very_short_runs_keep_their_rows():
    assert len(simulate(hinge(), until=1e-9, every=1e-10, step=1e-10)) == 11
    assert len(simulate(hinge(), until=1e-8, every=1e-9)) == 11
    with pytest.raises(StepError, match="more than 1e"):
        simulate(hinge(), until=1.0, every=1e-12)
    with pytest.raises(StepError, match="until: '1' has no unit"):
        simulate(hinge(), until="1")


@pytest.mark.parametrize("every", [0.05, 0.07, 0.2])
def test_the_impulse_of_a_latch_is_in_the_row_after_it(every):
    """However rows and samples lie: the rows' impulses add up to the momentum that the latch took."""

    def lock(t, y):
        return {"arm.joint.locked": t >= 0.0995}

    plant = Plant(hinge("switchable"))
    plant["arm.joint.rate"] = 0.5
    by_controller = simulate(plant, until=0.4, every=every, controller=lock)
    plant.reset()
    plant["arm.joint.rate"] = 0.5
    table = {"time": [0.0, 0.1], "arm.joint.locked": [0, 1]}
    by_table = simulate(plant, until=0.4, every=every, inputs=table)
    for run in (by_controller, by_table):
        assert run["arm.joint.impulse"].sum() == pytest.approx(-INERTIA * 0.5, abs=1e-12)
        assert run.time[np.flatnonzero(run["arm.joint.impulse"])[0]] == pytest.approx(math.ceil(0.1005 / every) * every)


def test_a_controller_that_commands_nothing_is_told():
    def forgets(t, y):
        {"arm.joint.torque": -y["arm.joint.angle"]}

    def looks(t, y):
        return {}

    def logs(t, y):
        return {"log.angle": y["arm.joint.angle"]}

    plant = Plant(hinge())

    def acts(t, y):
        plant["arm.joint.torque"] = t

    settings: dict[str, Any] = {"until": 0.2, "sample": 0.1}
    with pytest.warns(
        NoCommandWarning, match=r"gave None at each of 3 calls.*\{'arm\.\S+': 0\.0\}, or \{\} if"
    ) as told:
        simulate(hinge(), controller=forgets, **settings)
    assert told[0].filename == __file__
    for controller in (looks, logs, lambda t, y: None):
        simulate(hinge(), controller=controller, **settings)
    simulate(plant, controller=acts, **settings)
    table = {"time": [0.0], **{name: [0.0] for name in Plant(hinge()).input_names}}
    simulate(hinge(), controller=forgets, inputs=table, **settings)


def test_a_run_does_not_write_over_what_it_comes_from(tmp_path):
    save(hinge(), tmp_path / "hinge.toml")
    (tmp_path / "torque.csv").write_text("time,arm.joint.torque\n0,1\n")
    (tmp_path / "link.csv").symlink_to("torque.csv")
    run = simulate(tmp_path / "hinge.toml", until=0.2, inputs=tmp_path / "torque.csv")
    assert [source.path for source in run.sources] == ["hinge.toml", "torque.csv"]
    for name in ("hinge.toml", "torque.csv", "link.csv"):
        with pytest.raises(RefusalError, match=f"{name} was read for this model and would be written over"):
            run.to_csv(tmp_path / name)
    assert run.to_csv(tmp_path / "run.csv").exists()
