"""Tanks that run empty in a plant: closed forms, a code that throws particles, momenta of craft and exhaust."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np
import pytest

from mbdy.blocks import Plant, PlantBatch, VariableError
from mbdy.engine import Model, loads
from mbdy.engine.verification.formulations.values import rotation
from oracles.thrown_particles import PlaneCraft, extrapolated

CRAFT = """
mbdy = 1
name = "craft"
[body.bus]
mass = 100
com = [0, 0, 0]
inertia = [20, 22, 18]
joint = { to = "inertial", kind = "KIND" }
[body.bus.node]
left.at = [0, 0.8, 0]
right.at = [0, -0.8, 0]
[tank.fuel]
body = "bus"
shape = "sphere"
radius = 0.5
mass = 40
nozzle = ["left", "right"]
thrust_axis = [[0, -1, 0], [0, 1, 0]]
exhaust_velocity = 300
[initial]
bus.omega = [0, 0, 0.5]
"""
SPEED, DRY, FUEL = 300.0, 100.0, 40.0


def craft(kind: str = "free") -> Model:
    return loads(CRAFT.replace("KIND", kind))


@pytest.fixture(scope="module")
def shared() -> Plant:
    return Plant(craft(), step="10 ms")


@pytest.fixture
def plant(shared: Plant) -> Iterator[Plant]:
    """As the file has it, whatever tests set."""
    start = shared.save()
    yield shared
    shared.restore(start)


def test_both_nozzles_along_one_line_follow_tsiolkovsky_until_the_tank_is_empty_to_the_bit(plant: Plant):
    plant["bus.omega"] = [0, 0, 0]
    plant["tank.fuel.thrust_axis"] = [0, 0, 1, 0, 0, 1]
    plant["tank.fuel.flow"] = [1.0, 1.0]
    y = plant.step(10.0)
    assert y["tank.fuel.mass"] == pytest.approx(20.0, rel=1e-13)
    assert y["bus.velocity"] == pytest.approx([0, 0, SPEED * log(140 / 120)], rel=1e-12, abs=1e-12)
    assert y["tank.fuel.thrust"].tolist() == [300.0, 300.0]
    y = plant.step(15.005)
    assert (y["tank.fuel.mass"], y["system.mass"], *y["tank.fuel.thrust"]) == (0.0, 100.0, 0.0, 0.0)
    assert y["bus.velocity"][2] == pytest.approx(SPEED * log(140 / 100), rel=1e-12)
    assert abs(y["system.work_error"]) < 1e-9 * y["system.energy"]


@pytest.mark.parametrize(
    "options", [{"step": "10 ms"}, {"step": "7 ms", "integrator": "euler-cromer"}, {"tolerance": 1e-9}]
)
def test_the_impulse_of_a_tank_that_empties_within_a_step_is_that_of_its_mass(options):
    plant = Plant(craft(), **({"integrator": "dopri5"} | options if "tolerance" in options else options))
    plant["tank.fuel.exhaust_velocity"] = [3.0, 3.0]
    plant["bus.omega"] = [0, 0, 0]
    plant["tank.fuel.flow"] = [40.0, 0.0]
    crossings = []
    for _ in range(12):
        y = plant.step(0.0987)
        crossings += [(one.name, one.rising, one.time) for one in plant.crossings]
    assert y["tank.fuel.mass"] == 0.0
    if "tolerance" in options:
        assert crossings == [("tank.fuel.empty", True, pytest.approx(1.0, abs=1e-12))]
    assert plant.step(1.0)["tank.fuel.mass"] == 0.0
    if options.get("integrator") != "euler-cromer":  # which is of the first order
        assert np.linalg.norm(y["system.momentum"]) == pytest.approx(DRY * 3.0 * log(1.4), rel=1e-5)


@pytest.mark.parametrize("integrator", ["rk4", "rosenbrock"])
def test_no_stage_finds_a_tank_empty_before_its_last_step_ends(integrator: str):
    plant = Plant(craft(), step="10 ms", integrator=integrator)
    plant["tank.fuel.thrust_axis"] = [0, 0, 1, 0, 0, 1]
    plant["bus.omega"] = [0, 0, 0]
    start = plant.save()
    for flow in (3e3, 1e4, 1e5, 1e6, 1e9, 1e14):
        plant.restore(start)
        plant["tank.fuel.flow"] = [flow, flow]
        y = plant.step(0.1)
        assert y["tank.fuel.mass"] == 0.0
        assert y["bus.velocity"][2] == pytest.approx(SPEED * log(1.4), rel=3e-4)  # what one step of rk4 is wrong by


def test_the_spin_is_damped_by_nozzles_at_a_distance(plant: Plant):
    """(J w)' = -f R^2 w, with J = J0 + k m: w = w0 (J / J at the start)^((R^2 - k) / k)."""
    plant["tank.fuel.flow"] = [1.0, 1.0]
    y, k = plant.step(15.0), 0.4 * 0.5**2
    expected = 0.5 * ((18 + k * 10) / (18 + k * 40)) ** ((0.8**2 - k) / k)
    assert y["bus.omega"] == pytest.approx([0, 0, expected], rel=1e-11, abs=1e-14)
    assert y["system.momentum"] == pytest.approx([0, 0, 0], abs=1e-11)


ASIDE = {
    "bus.com": [0.05, 0.02, 0], "bus.left.at": [-0.6, 0.3, 0], "tank.fuel.at": [0.1, -0.05, 0],
    "tank.fuel.thrust_axis": [1, 0.1, 0, 0, 1, 0], "tank.fuel.exhaust_velocity": [5, 300], "bus.omega": [0, 0, 0.4],
}  # fmt: skip


def set_all(plant: Plant, values: dict[str, object]) -> None:
    for name, value in values.items():
        plant[name] = value


def test_one_nozzle_aside_moves_the_craft_as_a_code_that_throws_particles(plant: Plant):
    spots, axis = (np.array([0.1, -0.05]), np.array([0.05, 0.02])), np.array([1.0, 0.1]) / np.hypot(1.0, 0.1)

    def properties(m: float) -> tuple[float, np.ndarray, float]:
        masses = (m, DRY)
        centre = sum(mass * spot for mass, spot in zip(masses, spots, strict=True)) / (m + DRY)
        spread = sum(mass * ((spot - centre) @ (spot - centre)) for mass, spot in zip(masses, spots, strict=True))
        return m + DRY, centre, 18 + 0.1 * m + spread

    begin = properties(FUEL)[1]
    set_all(plant, ASIDE | {"bus.velocity": [0.4 * begin[1], -0.4 * begin[0], 0]})
    plant["tank.fuel.flow"] = [3.0, 0.0]
    y = plant.step(6.0)
    particles = PlaneCraft(properties, np.array([-0.6, 0.3]), -5.0 * axis)
    expected = extrapolated(particles, burned=18.0, left=22.0, time=6.0, spin=0.4)
    turn = 2.0 * np.arctan2(y["bus.attitude"][3], y["bus.attitude"][0])
    place = y["system.centre_of_mass"][:2] - begin
    found = [turn, y["bus.omega"][2], *y["system.centre_of_mass_velocity"][:2], *place]
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["free", "attitude"])
def test_momenta_of_craft_and_exhaust_stay_and_energy_is_counted(plant: Plant, kind: str):
    plant = plant if kind == "free" else Plant(craft(kind), step="10 ms")
    set_all(plant, ASIDE | {"bus.left.at": [-0.6, 0.3, 0.2], "bus.omega": [0.1, -0.3, 0.4], "bus.velocity": [70, 0, 0]})
    plant["tank.fuel.flow"] = flows = np.array([3.0, 0.4])
    plant["system.gravity"] = [0.0, 0.0, -2.0]
    ends, rates, count, H = [], [], 400, 0.005
    for k in range(count + 1):
        y = plant.outputs() if k == 0 else plant.step(H)
        C, centre, mean = rotation(y["bus.attitude"]), y["system.centre_of_mass"], y["system.centre_of_mass_velocity"]
        force, torque = 2.0 * y["system.mass"] * np.array([0, 0, -1.0]), np.zeros(3)
        for flow, node, axis, speed in zip(flows, ("left", "right"), ([1, 0.1, 0], [0, 1, 0]), (5, 300), strict=True):
            gone = y[f"bus.{node}.velocity"] - speed * C @ axis / np.linalg.norm(axis)
            force = force - flow * gone
            torque = torque - flow * np.cross(y[f"bus.{node}.position"] - centre, gone - mean)
        rates.append(np.concatenate([force, torque]))
        ends.append(np.concatenate([y["system.momentum"], y["system.angular_momentum"]]))
    weights = np.array([1, *([4, 2] * (count // 2 - 1)), 4, 1]) * H / 3.0
    assert ends[-1] - ends[0] == pytest.approx(weights @ np.array(rates), abs=1e-9 * np.abs(ends[-1]).max())
    assert abs(plant["system.work_error"]) < 1e-9 * abs(y["system.energy"])


def test_many_plants_have_the_bits_of_one(plant: Plant):
    many = PlantBatch(craft(), 3, step="10 ms")
    many["tank.fuel.flow"] = flows = np.array([[30.0, 9.0], [1.0, 0.0], [0.0, 0.0]])
    for _ in range(3):
        many.step(0.5)
    for run, flow in enumerate(flows):
        plant.reset()
        plant["tank.fuel.flow"] = flow
        y = [plant.step(0.5) for _ in range(3)][-1]
        assert y["tank.fuel.mass"] == pytest.approx(max(0.0, FUEL - 1.5 * flow.sum()), rel=1e-13, abs=0.0)
        assert many["tank.fuel.mass"][run] == y["tank.fuel.mass"]
        assert (many["bus.omega"][run] == y["bus.omega"]).all()


def test_negative_flows_and_masses_are_refused(plant: Plant):
    with pytest.raises(VariableError, match=r"input 'tank.fuel.flow\[2\]': must be >= 0, got -1"):
        plant["tank.fuel.flow"] = [0, -1]
    with pytest.raises(VariableError, match=r"start value 'tank\.fuel\.mass': must be >= 0, got -1"):
        plant["tank.fuel.mass"] = -1
    plant.inputs.values[plant.input_names.index("tank.fuel.flow[1]")] = -2.0
    with pytest.raises(ValueError, match=r"input 'tank.fuel.flow\[1\]': must be >= 0, got -2"):
        plant.step(0.1)


def test_no_more_is_in_a_tank_than_it_holds_at_the_start_and_when_its_size_is_set():
    text = CRAFT.replace("KIND", "free").replace("radius = 0.5", "radius = 0.5\ndensity = 100")
    plant = Plant(loads(text), step="10 ms")
    plant["tank.fuel.mass"] = 53.0
    with pytest.raises(ValueError, match=r"'tank\.fuel\.mass' is 53 kg, and the tank holds 52\.3599 kg by"):
        plant.outputs()
    plant["tank.fuel.radius"] = 0.51
    assert plant.step(0.1)["tank.fuel.mass"] == 53.0
    plant["tank.fuel.radius"] = 0.4
    with pytest.raises(ValueError, match=r"'tank\.fuel\.mass' is 53 kg, and the tank holds 26\.8083 kg"):
        plant.step(0.1)
    plant["tank.fuel.radius"] = 0.6
    assert plant.step(0.1)["tank.fuel.mass"] == 53.0
    plant["tank.fuel.radius"] = 0.5
    plant.reset()
    assert plant.step(0.1)["tank.fuel.mass"] == 40.0
    many = PlantBatch(loads(text), 2, step="10 ms")
    many["tank.fuel.density"] = np.array([100.0, 70.0])
    many.step(0.1)
    assert many.faults[0] is None
    assert "'tank.fuel.mass' is 40 kg, and the tank holds 36.65" in str(many.faults[1])


TABLE = "table = [[10, 0, 0, 0, 1, 1, 1, 0, 0, 0], [50, 0, 0, 0, 2, 2, 2, 0, 0, 0]]"


def test_strides_end_where_a_table_bends():
    model = loads(CRAFT.replace("KIND", "free").replace('shape = "sphere"\nradius = 0.5', TABLE))
    plant = Plant(model, step="10 ms", integrator="dopri5", tolerance=1e-9)
    plant["tank.fuel.flow"] = [1.0, 1.0]
    plant.step(17.0)
    assert [(one.name, one.rising, one.time) for one in plant.crossings] == [
        ("tank.fuel.table_2", False, pytest.approx(15.0, abs=1e-9))
    ]


def test_a_table_with_a_negative_moment_is_refused_while_running():
    plant = Plant(loads(CRAFT.replace("KIND", "free").replace('shape = "sphere"\nradius = 0.5', TABLE)), step="10 ms")
    numbers = np.array(plant["tank.fuel.table"])
    numbers[26] = -1.0
    plant["tank.fuel.table"] = numbers
    with pytest.raises(ValueError, match=r"'tank\.fuel\.table': must have no negative principal .* \[2, 2, -1"):
        plant.step(0.1)


def test_what_is_left_keeps_place_and_speed_when_mass_goes_under_every_root():
    """As a parameter, which takes its momentum with it."""
    text = (
        CRAFT.split("[tank.fuel]")[0]
        + """
[body.arm]
mass = 20
com = [0.5, 0, 0]
inertia = [1, 2, 2]
joint = { to = "bus", kind = "revolute", at = [0.3, 0.2, 0], axis = [0, 0.2, 1] }
[initial]
bus.omega = [0.1, 0.2, 0.5]
bus.velocity = [7000, 0, 1]
arm.joint.rate = 0.6
"""
    )
    after = {}
    kept = ("bus.position", "bus.velocity", "bus.omega", "arm.joint.angle", "arm.joint.rate", "arm.velocity")
    for kind in ("free", "attitude"):
        plant = Plant(loads(text.replace("KIND", kind)), step="10 ms")
        before = plant.step(0.5)
        plant["arm.mass"], plant["arm.com"] = 5.0, [0.1, 0, 0]
        now = plant.outputs()
        for name in kept:
            assert now[name] == pytest.approx(before[name], rel=1e-12, abs=1e-12)
        assert now["system.mass"] == 105.0
        after[kind] = plant.step(1.0)
    for name in kept:
        assert after["attitude"][name] == pytest.approx(after["free"][name], rel=1e-10, abs=1e-10)
