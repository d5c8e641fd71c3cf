"""Profiles in model files: joints that follow them in block, batch, runs and FMUs without a signal from outside."""

from __future__ import annotations

import math

import fmpy
import numpy as np
import pytest

from mbdy.blocks import Plant, PlantBatch, VariableError, simulate
from mbdy.blocks.profiles import CosineSlew
from mbdy.engine import ModelError, dumps, loads
from mbdy.fmu import export_fmu

BUS = 'mbdy = 1\n[body.bus]\nmass = 10\ninertia = [1, 2, 3]\njoint = { to = "inertial", kind = "free" }\n'
ARM = "[body.arm]\nmass = 2\ncom = [0.5, 0, 0]\ninertia = [0.1, 0.2, 0.2]\n"
SLEW = 'slew = { angle = "90 deg", duration = "2.0005 s", start = "0.10033 s" }'
RATES = 'profile = [["0 s", "0.1 rad/s"], [1.00033, 0.3], ["2.0005 s", "0 deg/s"]]'
TURNED = 0.4 / 2 * 1.00033 + 0.3 / 2 * (2.0005 - 1.00033)
"""[rad] The area under those rates."""


def text(*keys: str, kind: str = "revolute") -> str:
    return BUS + ARM + f'joint = {{ to = "bus", kind = "{kind}", axis = [0, 0, 1], {", ".join(keys)} }}\n'


@pytest.mark.parametrize("integrator", ["rk4", "rosenbrock", "dopri5"])
def test_a_slew_is_exact_wherever_it_begins(integrator):
    """Steps of 1 ms do not fit its instants; momentum and the balance of work stay."""
    plant, slew = Plant(loads(text(SLEW)), step="1 ms", integrator=integrator), CosineSlew("90 deg", 2.0005, 0.10033)
    for time in (1.0, 1.5, 3.0):
        y = plant.step(time - plant.time)
        assert y["arm.joint.angle"] == pytest.approx(slew.at(time)[0], abs=1e-11)
        assert y["arm.joint.rate"] == pytest.approx(slew.at(time)[1], abs=1e-10)
    assert y["system.angular_momentum"] == pytest.approx(np.zeros(3), abs=1e-12)
    assert y["system.work_error"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "rosenbrock", "euler-cromer"])
def test_few_steps_end_where_the_profile_does(integrator):
    """However long they are: a joint never goes on turning after a slew."""
    plant = Plant(loads(text(SLEW)), step="300 ms", integrator=integrator)
    y = plant.step(3.0)
    assert y["arm.joint.rate"] == pytest.approx(0, abs=1e-13)
    if integrator != "euler-cromer":
        assert y["arm.joint.angle"] == pytest.approx(math.pi / 2, abs=1e-13)
    assert y["system.angular_momentum"] == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("key", ["profile", "smooth_profile"])
def test_a_ramp_of_nanoseconds_is_whole(key):
    """Wherever steps begin beside it, and as far from zero as times are told apart."""
    plant = Plant(
        loads(text(f"{key} = [[0.0999999999997, 0], [0.1000000009997, 1], [100, 1], [100.00000002, 3]]")), step="1 s"
    )
    assert plant.step(0.1)["arm.joint.rate"] == 0
    assert plant.step(1.0)["arm.joint.rate"] == pytest.approx(1, abs=1e-11)
    assert plant.step(100.0)["arm.joint.rate"] == pytest.approx(3, abs=1e-11)


def test_rates_on_lines_in_block_run_and_batch():
    model = loads(text(RATES))
    assert model.initial["arm.joint.rate"] == (0.1,)
    plant = Plant(model, step="1 ms")
    assert plant.step(3.0)["arm.joint.angle"] == pytest.approx(TURNED, abs=1e-13)
    run = simulate(model, until=3, every=0.5, step="1 ms")
    assert run["arm.joint.angle"][-1] == pytest.approx(TURNED, abs=1e-13)
    batch = PlantBatch(model, 2, step="1 ms")
    batch["arm.joint.profile[2,2]"] = [0.3, 0.5]
    assert batch.step(3.0)["arm.joint.angle"] == pytest.approx([TURNED, TURNED + 0.1 * 2.0005], abs=1e-13)
    x, u = plant.state, np.zeros(len(plant.input_names))
    rate = plant.state_names.index("arm.joint.rate")
    times = (0.5, 1.5, 2.5)
    assert [plant.derivatives(t, x, u)[rate] for t in times] == pytest.approx([0.2 / 1.00033, -0.3 / 1.00017, 0])
    plant.reset()
    plant["arm.joint.acceleration"] = 0.1
    assert plant.step(3.0)["arm.joint.angle"] == pytest.approx(TURNED + 0.1 * 9 / 2, abs=1e-12), "the input adds to it"


def test_a_run_that_is_cut_within_a_slew_has_the_bits_of_the_whole(tmp_path):
    """Of times too, that are no sums without rounding: 0.7 s is seven times 0.1 s."""
    plant, other = (Plant(loads(text(SLEW)), step="10 ms") for _ in range(2))
    whole, end = simulate(plant, until=3, every=0.1), plant.time
    simulate(other, until=0.7, every=0.1)
    other.save_state(tmp_path / "state")
    plant.reset()
    plant.restore_state(tmp_path / "state")
    rest = simulate(plant, until=2.3, every=0.1)
    assert plant.time == end
    assert [rest[name][-1] for name in plant.state_names] == [whole[name][-1] for name in plant.state_names]


def test_a_long_stride_does_not_step_over_a_slew():
    late = 'slew = { angle = 1, duration = "0.5 s", start = "50 s" }'
    plant = Plant(loads(text(late)), step="100 s", integrator="dopri5")
    assert plant.step(100.0)["arm.joint.angle"] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("keys", "kind", "message"),
    [
        (
            ("profile = [[0, 0], [1, 1]]", 'motion = "free"'),
            "revolute",
            "motion: is 'free', and the joint follows a profile",
        ),
        (("profile = [[0, 0], [0, 1]]",), "revolute", "must be above 0 s of the point before, got 0 s"),
        (
            ("profile = [[0, 0], [0.5, 0], [0.5000000000001, 1]]",),
            "revolute",
            "profile[3][1]: must be above 0.5 s of the",
        ),
        (("profile = [['0 m', 0], [1, 1]]",), "revolute", "profile[1][1]: must be a number in s"),
        (("profile = [[0, 0], [1, '1 m']]",), "revolute", "profile[2][2]: must be a number in rad/s"),
        (("profile = [[0, 0], [1, 1]]", SLEW), "revolute", "smooth_profile: is given beside 'profile'"),
        (("slew = { angle = 1 }",), "revolute", "slew.duration: is missing; give it in s"),
        (("slew = { angle = 1, duration = 0 }",), "revolute", "slew.duration: must be > 0 s, got 0.0"),
        (("slew = { angle = 1, duration = 1 }",), "prismatic", "slew.angle: unknown key"),
        (("slew = { angle = 1, duration = 1 }",), "cylindrical", "takes no 'slew'"),
    ],
)
def test_what_is_refused(keys, kind, message):
    with pytest.raises(ModelError) as caught:
        loads(text(*keys, kind=kind))
    assert message in str(caught.value)


def test_a_start_that_the_profile_contradicts():
    with pytest.raises(ModelError, match=r"initial\.arm\.joint\.rate: is 0\.2, and the profile begins at 0\.1"):
        loads(text(RATES) + "[initial]\narm.joint.rate = 0.2\n")
    started = loads(text("profile = [[-1, 0], [1, 0.4]]") + "[initial]\narm.joint.angle = 0.5\n")
    assert started.initial == {"arm.joint.angle": (0.5,), "arm.joint.rate": (0.2,)}


def test_faults_of_profiles_are_told_with_all_others_of_the_file():
    with pytest.raises(ModelError) as caught:
        loads(text(SLEW, 'motion = "switchable"').replace("mass = 2", "mass = 2\nbogus = 1"))
    assert [fault.path for fault in caught.value.faults] == ["body.arm.bogus", "body.arm.joint.motion"]


@pytest.mark.parametrize("keys", [(SLEW,), (RATES,)])
def test_no_door_starts_it_otherwise(keys):
    with pytest.raises(ModelError, match=r"guess\.arm\.joint\.rate: is 0\.4, and the profile begins at 0"):
        loads(text(*keys) + "[guess]\narm.joint.rate = 0.4\n")
    with pytest.raises(
        VariableError, match=r"'arm\.joint\.rate': is 0\.4, and the joint begins at the rate of its pro"
    ):
        Plant(loads(text(*keys)), step="10 ms")["arm.joint.rate"] = 0.4


def test_a_number_that_is_set_before_the_start_moves_it():
    plant = Plant(loads(text(RATES)), step="10 ms")
    plant["arm.joint.profile[1,2]"] = 0.2
    assert plant["arm.joint.rate"] == 0.2
    assert plant.step(3.0)["arm.joint.rate"] == pytest.approx(0, abs=1e-13)


@pytest.mark.slow
def test_an_fmu_that_starts_later_starts_where_the_profile_is(tmp_path):
    file = tmp_path / "arm.fmu"
    export_fmu(loads(text(RATES)), file, fmi="2.0")
    for sort in ("CoSimulation", "ModelExchange"):
        rows = fmpy.simulate_fmu(
            str(file),
            start_time=1.00033,
            stop_time=3.0,
            output=["arm.joint.rate"],
            fmi_type=sort,
            output_interval=0.1,
            relative_tolerance=1e-9,
        )
        assert rows["arm.joint.rate"][[0, -1]] == pytest.approx([0.3, 0], abs=1e-8)


def test_it_is_written_back_and_its_input_stays():
    model = loads(text(SLEW) + "[ports]\ninputs = []\n")
    assert loads(dumps(model)).bodies == model.bodies
    plant = Plant(model, step="10 ms")
    assert plant.input_names == ("arm.joint.acceleration",)
    assert plant.step(3.0)["arm.joint.angle"] == pytest.approx(math.pi / 2, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("fmi", "kind"), [("2.0", "native"), ("3.0", "native"), ("2.0", "python")])
def test_fmus_follow_it_alone(fmi, kind, tmp_path):
    """Its numbers are parameters; model exchange stops at its instants."""
    file = tmp_path / "arm.fmu"
    export_fmu(loads(text(RATES)), file, fmi=fmi, kind=kind, scalars=fmi == "3.0")
    for sort in ("CoSimulation", "ModelExchange") if kind == "native" else ("CoSimulation",):
        for start, more in (({}, 0.0), ({"arm.joint.profile[2,2]": 0.5}, 0.1 * 2.0005)):
            rows = fmpy.simulate_fmu(
                str(file), stop_time=3.0, output_interval=0.5, output=["arm.joint.angle"], start_values=start,
                fmi_type=sort, relative_tolerance=1e-9,
            )  # fmt: skip
            close = 1e-10 if sort == "CoSimulation" else 1e-6
            assert rows["arm.joint.angle"][-1] == pytest.approx(TURNED + more, abs=close)
