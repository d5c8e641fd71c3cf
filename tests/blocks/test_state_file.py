"""A plant's state in a file: taken up in another plant, its steps give the same bits; what cannot be is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzz.mutations import HEAD, with_sum
from mbdy.blocks import LinearPlant, Plant, ResumedWarning, SimulationError, VariableError, simulate
from mbdy.engine import Body, Joint, Loop, Model, Side
from systems import diagonal

PLANAR = {"kind": "revolute", "rotations": ((0.0, 0.0, 1.0),)}


def linkage() -> Model:
    """A four-bar linkage with a wheel-less tail that can be locked, held by a loop that can be opened."""
    places = {"crank": ("inertial", (0.0, 0.0, 0.0)), "coupler": ("crank", (1.0, 0.0, 0.0)),
              "rocker": ("inertial", (1.0, 1.0, 0.0)), "tail": ("rocker", (0.0, -1.0, 0.0))}  # fmt: skip
    bodies = tuple(
        Body(name=name, mass=1.0 + k, com=(0.3, -0.1 * k, 0.0), inertia=diagonal(0.1, 0.2, 0.3 + k),
             joint=Joint(to=to, at=at, motion=("switchable",) if name == "tail" else ("free",), **PLANAR))
        for k, (name, (to, at)) in enumerate(places.items())
    )  # fmt: skip
    loop = Loop(
        name="shut", a=Side(body="coupler", at=(0.0, 1.0, 0.0)), b=Side(body="rocker"), rows=(4, 5), switchable=True
    )
    return Model(name="linkage", bodies=bodies, gravity=(0.0, -9.81, 0.0), loops=(loop,))


def steps(plant: Plant, count: int) -> list[bytes]:
    return [plant.step(0.01).values.tobytes() for _ in range(count)]


def away(plant: Plant) -> None:
    """Somewhere on the way: parameters and inputs set, a joint locked, half a dozen steps done."""
    plant["tail.mass"] = 2.5
    plant["crank.joint.torque"] = 3.0
    steps(plant, 3)
    plant["tail.joint.locked"] = True
    steps(plant, 3)


@pytest.mark.parametrize("interpolation", ["held", "linear", "quadratic"])
@pytest.mark.parametrize("integrator", ["rk4", "euler-cromer", "rosenbrock"])
def test_the_same_bits_go_on(tmp_path: Path, integrator: str, interpolation):
    first, other = (Plant(linkage(), integrator=integrator, interpolation=interpolation) for _ in range(2))
    away(first)
    first.save_state(tmp_path / "plant.state")
    expected = steps(first, 10)
    other.restore_state(str(tmp_path / "plant.state"))
    assert other.time == 0.06
    assert other["tail.mass"] == 2.5
    assert steps(other, 10) == expected
    first.restore_state(tmp_path / "plant.state")
    first["shut.closed" if "shut.closed" in first.input_names else "loop.shut.closed"] = False
    assert steps(first, 1) != expected[:1]


def test_a_run_goes_on_to_the_same_bits(tmp_path: Path):
    whole = simulate(Plant(linkage()), until=1.0, every=0.125)
    half = Plant(linkage())
    first = simulate(half, until=0.5, every=0.125)
    half.save_state(tmp_path / "half.state")
    other = Plant(linkage())
    other.restore_state(tmp_path / "half.state")
    second = simulate(other, until=0.5, every=0.125)
    np.testing.assert_array_equal(np.vstack([first.values, second.values[1:]]), whole.values)


def test_rows_are_the_same_bits_wherever_a_run_ends():
    whole = simulate(Plant(linkage()), until=1.0, every=0.1).values
    for until in (0.1, 0.3, 0.7):
        rows = round(until / 0.1) + 1
        assert (simulate(Plant(linkage()), until=until, every=0.1).values[:rows] == whole[:rows]).all()


def test_other_steps_are_told(tmp_path: Path):
    Plant(linkage(), step="2 ms").save_state(tmp_path / "plant.state", every=0.5)
    Plant(linkage(), step=0.002).restore_state(tmp_path / "plant.state")
    with pytest.warns(
        ResumedWarning, match=r"state: is of a plant with step 0\.002, integrator rk4, this has step 0\.001"
    ):
        Plant(linkage(), integrator="rosenbrock").restore_state(tmp_path / "plant.state")


def test_what_is_no_state_of_this_plant_is_refused(tmp_path: Path):
    plant, path = Plant(linkage()), tmp_path / "plant.state"
    away(plant)
    plant.save_state(path)
    good, before = path.read_bytes(), plant.save().data
    heavier = replace(linkage(), bodies=(replace(linkage().bodies[0], mass=9.0), *linkage().bodies[1:]))
    for other, words in (
        (Plant(heavier), "its model is another, 'linkage'"),
        (Plant(linkage(), interpolation="linear"), "its interpolation is 'held', not 'linear'"),
    ):
        untouched = other.save().data
        with pytest.raises(VariableError, match=words):
            other.restore_state(path)
        assert other.save().data == untouched
    facts = len(good.partition(b"}\n")[0]) + 2
    damaged = [good[:k] for k in range(0, len(good), 97)]
    damaged += [good[:k] + bytes([good[k] ^ 1]) + good[k + 1 :] for k in range(facts, len(good), 61)]
    damaged += [good.replace(old, new) for old, new in (
        (b'"step": 0.001', b'"step": 1e400'), (b'"step": 0.001', b'"step": "1"'), (b'"rk4"', b'[]'),
        (b'"every": null', b'"every": -1'), (b'"time": ', b'"time": 1'  + 400 * b"0"),
    )]  # fmt: skip
    damaged += [b"mbdy state 2\n" + good[13:], good + b"more", b"\x80\x04pickle", b"mbdy state 1\n" + b"[" * 100_000]
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(VariableError, match=r"plant\.state"):
            plant.restore_state(path)
        assert plant.save().data == before
    with pytest.raises(VariableError, match=r"none\.state: cannot be read"):
        plant.restore_state(tmp_path / "none.state")
    path.write_bytes(good)
    plant.restore_state(path)


@pytest.mark.parametrize(("place", "value"), [(0, np.inf), (5, np.nan), (5, 3.0), (5, 1e300), (8, -1.0), (10, 0.5)])
def test_a_state_that_no_plant_can_be_in_is_refused(place: int, value: float):
    """Its sum is right: time, phase, order of the inputs, a switch."""
    plant = Plant(linkage())
    snapshot = plant.save()
    at = HEAD + 8 * place
    odd = snapshot.data[:at] + np.float64(value).tobytes() + snapshot.data[at + 8 :]
    with pytest.raises(VariableError, match="damaged"):
        plant.restore(replace(snapshot, data=with_sum(odd)))
    assert plant.save() == snapshot


def test_dynamics_are_alike_however_their_numbers_are_written(tmp_path: Path):
    model = Model(name="two", bodies=linkage().bodies[:1])
    plants = [LinearPlant(model, at={"crank.joint.angle": angle}) for angle in (0, np.float64(0.0), (0.0,))]
    plants[0].save_state(tmp_path / "linear.state")
    for plant in plants[:2]:
        plant.restore_state(tmp_path / "linear.state")
    with pytest.raises(VariableError, match="its dynamics is"):
        LinearPlant(model, at={"crank.joint.angle": 0.1}).restore_state(tmp_path / "linear.state")
    kept = Plant(linkage(), dynamics=None)
    with pytest.raises(VariableError, match="its model is another"):
        kept.restore_state(tmp_path / "linear.state")


def test_an_interrupted_run_leaves_the_plant_at_its_last_row(monkeypatch):
    plant, run_rows, calls = Plant(linkage()), Plant.run, []

    def interrupted(self, *args, **more):
        found = run_rows(self, *args, **more)
        calls.append(self.time)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(Plant, "run", interrupted)
    with pytest.raises(SimulationError, match="interrupted") as caught:
        simulate(plant, until=2000.0, every=0.125)
    assert plant.time == pytest.approx(calls[0]) == caught.value.run.time[-1]
