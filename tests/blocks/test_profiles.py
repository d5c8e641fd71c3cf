"""Prescribed motion by profiles: the profiles themselves, that runs follow them at the integrator's order, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbdy.blocks import (
    CosineSlew,
    Plant,
    ProfileNote,
    Ramp,
    SimulationError,
    Table,
    Triple,
    VariableError,
    simulate,
)
from mbdy.engine import Body, Joint, Model
from mbdy.engine.model.system import Motion
from systems import diagonal, floating

DERIVATIVE = 1e-7
"""Central differences of profiles of order one, 1e-5 s apart."""
FOLLOWS = 1e-9
"""What a slew of a minute at 1 ms may be away from its profile."""
ORDER = 0.1
"""Steps between breaks are not just eight times shorter where the longest allowed one is."""
LINES = 1e-5
"""A torque on lines between rows of 1 ms differs by the torque's curvature, integrated twice over a second."""
MOST = math.radians(200)


def craft(motion: Motion = "switchable", **initial) -> Model:
    """A free bus with a panel on a hinge and a boom on two degrees of freedom."""
    bus = Body(name="bus", mass=80.0, inertia=diagonal(20.0, 25.0, 30.0), joint=floating())
    hinge = Joint(to="bus", kind="revolute", rotations=((0.0, 1.0, 0.2),), at=(0.3, 0.6, 0.0), motion=(motion,))
    panel = Body(name="panel", mass=10.0, com=(0.2, 0.9, 0.1), inertia=diagonal(5.0, 1.0, 5.5), joint=hinge)
    tube = Joint(
        to="bus", kind="cylindrical", translations=((1.0, 0.0, 0.0),), rotations=((1.0, 0.0, 0.0),),
        at=(0.5, 0.0, 0.0), motion=("prescribed", "free"), damping=(0.0, 0.3),
    )  # fmt: skip
    boom = Body(name="boom", mass=4.0, com=(0.4, 0.1, 0.0), inertia=diagonal(0.3, 2.0, 2.1), joint=tube)
    start = {"bus.omega": (0.01, -0.02, 0.015), **initial}
    return Model(name="craft", bodies=(bus, panel, boom), initial=start)


def sine(t):
    return 0.4 * math.sin(t), 0.4 * math.cos(t), -0.4 * math.sin(t)


TIMES = (0.0, 0.7, 1.5, 2.0, 3.1)
WAVE = np.array([sine(t) for t in TIMES]).T.tolist()
PROFILES = {
    "ramp": Ramp(rate=0.3, start=0.5, rise=1.5, initial=0.1),
    "begun": Ramp(rate=0.3, initial=0.1),
    "slew": CosineSlew(angle=1.2, duration=2.0, start=0.4, initial=-0.3),
    "spline": Table(TIMES, WAVE[0], end_rates=(0.4, 0.1)),
    "cubic": Table(TIMES, WAVE[0], WAVE[1]),
    "quintic": Table(TIMES, *WAVE),
    "function": Triple(sine),
}


def test_times_and_angles_with_units():
    assert CosineSlew("90 deg", "2 min", start="500 ms") == CosineSlew(math.pi / 2, 120.0, start=0.5)
    assert Ramp("1 rpm", rise="1 s").rate == pytest.approx(math.pi / 30)
    assert Table(["0 s", "1 min"], ["0 deg", "180 deg"]).at(60.0)[0] == pytest.approx(math.pi)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_rates_and_accelerations_are_derivatives(profile):
    """Between breaks, and one-sided at them; angle and rate never jump."""
    h = 1e-5
    instants = np.sort(np.append(np.linspace(-0.5, 4.0, 91) + 0.00321, np.array(profile.breaks) + 2 * h))
    for t in instants:
        (left, slow, _), (_, rate, acceleration), (right, fast, _) = (profile.at(s) for s in (t - h, t, t + h))
        assert (right - left) / (2 * h) == pytest.approx(rate, abs=DERIVATIVE)
        assert (fast - slow) / (2 * h) == pytest.approx(acceleration, abs=DERIVATIVE)
    for t in profile.breaks:
        for before, after in zip(profile.at(np.nextafter(t, -9))[:2], profile.at(t)[:2], strict=True):
            assert before == pytest.approx(after, abs=1e-14)
    whole = profile.at(instants)
    np.testing.assert_array_equal([part[7] for part in whole], profile.at(float(instants[7])))


def test_profiles_pass_through_what_they_are_given():
    for name in ("spline", "cubic", "quintic"):
        for place, given in enumerate(WAVE[: {"spline": 1, "cubic": 2, "quintic": 2}[name]]):
            np.testing.assert_allclose(PROFILES[name].at(TIMES)[place], given, atol=1e-14)
    np.testing.assert_allclose(PROFILES["quintic"].at(TIMES)[2][:-1], WAVE[2][:-1], atol=1e-13)
    spline = PROFILES["spline"]
    inner = np.array(TIMES[1:-1])
    np.testing.assert_allclose(spline.at(np.nextafter(inner, -9))[2], spline.at(inner)[2], atol=1e-13)
    assert [float(spline.at(t)[1]) for t in (TIMES[0], TIMES[-1])] == pytest.approx([0.4, 0.1], abs=1e-14)
    slew = CosineSlew(angle=2.0, duration=10.0, start=5.0)
    assert [float(part) for part in slew.at(10.0)] == pytest.approx([1.0, 0.4, 0.0], abs=1e-15)
    assert [float(part) for part in slew.at(99.0)] == [2.0, 0.0, 0.0]
    assert [float(part) for part in Ramp(rate=2.0, rise=4.0).at(6.0)] == pytest.approx([8.0, 2.0, 0.0])
    fine = np.linspace(0.0, 6.0, 61)
    np.testing.assert_allclose(
        Table(fine, np.sin(fine), end_rates=(1.0, math.cos(6.0))).at(fine + 0.05)[0][:-1], np.sin(fine + 0.05)[:-1],
        atol=1e-6,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Table([0, 1, 1], [0, 1, 2]), r"Table, row 3: times must increase, got 1\.0 s after 1\.0 s"),
        (lambda: Table([0, 2, 1], [0, 1, 2]), "row 3.*increase"),
        (lambda: Table([0, math.nan], [0, 1]), "row 2: times must be finite, got nan"),
        (lambda: Table([0, 1], [0, math.inf]), "row 2: angles must be finite"),
        (lambda: Table([0, 1], [0, 1, 2]), "2 times need as many angles, got 3"),
        (lambda: Table([0], [0]), "two rows"),
        (lambda: Table([0, 1], [0, 1], accelerations=[0, 0]), "need rates"),
        (lambda: Table([0, 1], [0, 1], [0, 0], end_rates=(1, 0)), "end_rates"),
        (lambda: Table([0, 1], ["30 kg", 1]), "angles: must be a number in rad, but 'kg'"),
        (lambda: CosineSlew(angle=1.0, duration=-3.0), r"duration must be positive, got -3\.0 s"),
        (lambda: CosineSlew(angle=1.0, duration=0.0), "duration must be positive"),
        (lambda: CosineSlew(angle=math.nan, duration=1.0), "angle must be finite, got nan"),
        (lambda: CosineSlew(angle="30 kg", duration=1.0), "angle must be a number in rad, but 'kg'.*got '30 kg'"),
        (lambda: CosineSlew(angle="30", duration=1.0), "angle '30' has no unit"),
        (lambda: Ramp(rate=1.0, rise=-1.0), "rise must not be negative"),
        (lambda: Ramp(rate=1.0, start=2.0), r"at once at 2\.0 s; give rise"),
        (lambda: Ramp(rate=math.inf), "rate must be finite"),
        (lambda: Triple(3.0), "function of time"),
    ],
)
def test_a_bad_profile_is_refused(made, message):
    with pytest.raises(VariableError, match=message):
        made()


def test_a_slew_of_a_minute_is_followed():
    slew = CosineSlew(angle=MOST, duration=50.0, start=5.0004)
    run = simulate(craft(), until=60.0, every=0.5, profiles={"panel.joint": slew})
    angle, rate, _ = slew.at(run.time)
    np.testing.assert_allclose(run["panel.joint.angle"], angle, atol=FOLLOWS)
    np.testing.assert_allclose(run["panel.joint.rate"], rate, atol=FOLLOWS)
    assert np.ptp(run["system.angular_momentum"], axis=0).max() < FOLLOWS
    assert np.abs(run["panel.joint.reaction"]).max() > 1e-3


@pytest.mark.parametrize("name", PROFILES)
def test_runge_kutta_keeps_its_order(name):
    """For the joint, unless it is exact, and for all that moves with it, though no break falls on the grid of steps."""
    profile, ends = PROFILES[name], []
    for step in (0.1, 0.0125, 0.001):
        runs = simulate(
            craft(), until=3.0, every=3.0, step=step,
            profiles={"panel.joint": profile}, outputs=["*.omega", "*.angle", "*.displacement"],
        )  # fmt: skip
        ends.append(runs.values[-1])
        angle = float(profile.at(3.0)[0])
        assert runs["panel.joint.angle"][-1] == pytest.approx(angle, abs=max(1e-12, 2e-1 * step**4))
    coarse, fine = (np.linalg.norm(end - ends[-1]) for end in ends[:2])
    assert math.log(coarse / fine, 8) == pytest.approx(4.0, abs=ORDER)


def test_a_jump_of_acceleration_belongs_to_both_sides():
    ramp = Ramp(rate=0.3, start=0.5, rise=1.0)
    run = simulate(craft(), until=2.0, every=0.1, profiles={"panel.joint": ramp})
    np.testing.assert_allclose(run["panel.joint.rate"], ramp.at(run.time)[1], atol=1e-13)
    np.testing.assert_allclose(run["panel.joint.angle"], ramp.at(run.time)[0], atol=1e-13)
    jump = np.diff(run["panel.joint.reaction"])
    assert sorted(np.argsort(-np.abs(jump))[:2].tolist()) == [4, 14]


def test_the_reaction_is_the_torque_that_makes_the_same_motion():
    slew = CosineSlew(angle=0.8, duration=1.0)
    led = simulate(craft(), until=1.0, every=1e-3, profiles={"panel.joint": slew})
    table = {"time": led.time, "panel.joint.torque": led["panel.joint.reaction"]}
    driven = simulate(craft(), until=1.0, every=1e-3, inputs=table, linear=True)
    np.testing.assert_allclose(driven["bus.omega"], led["bus.omega"], atol=LINES)
    np.testing.assert_allclose(driven["panel.joint.angle"], led["panel.joint.angle"], atol=LINES)


@pytest.mark.parametrize("motion", ["prescribed", "switchable"])
def test_start_and_switch_are_set_and_other_starts_told(motion):
    wave = Triple(lambda t: (0.2 + 0.1 * t, 0.1, 0.0))
    run = simulate(craft(motion), until=0.1, every=0.1, profiles={"panel.joint": wave})
    assert run["panel.joint.angle"] == pytest.approx([0.2, 0.21], abs=1e-13)
    assert run["panel.joint.rate"].tolist() == [0.1, 0.1]
    with pytest.warns(ProfileNote, match=r"'panel\.joint\.angle' starts at 0\.2, as its .* does, not at 0\.5 as set"):
        simulate(craft(motion, **{"panel.joint.angle": (0.5,)}), until=0.1, profiles={"panel.joint": wave})
    plant = Plant(craft(motion), interpolation="quadratic")
    plant["panel.joint.rate"] = -1.0
    with pytest.warns(ProfileNote, match=r"'panel\.joint\.rate' starts at 0\.1.*not at -1 as set"):
        simulate(plant, until=0.1, profiles={"panel.joint": wave})
    assert plant["panel.joint.angle"] == pytest.approx(0.21, abs=1e-13)


def test_a_plant_that_has_begun_must_stand_where_the_profile_begins():
    plant = Plant(craft(), interpolation="quadratic")
    simulate(plant, until=1.0, profiles={"panel.joint": CosineSlew(angle=0.5, duration=1.0)})
    simulate(plant, until=1.0, profiles={"panel.joint": CosineSlew(angle=0.5, duration=1.0, initial=0.5)})
    assert plant["panel.joint.angle"] == pytest.approx(1.0, abs=FOLLOWS)
    before = plant.state
    with pytest.raises(VariableError, match=r"'panel\.joint\.angle' at 0, where the plant stands at 1.*reset"):
        simulate(plant, until=1.0, profiles={"panel.joint": CosineSlew(angle=0.5, duration=1.0)})
    np.testing.assert_array_equal(plant.state, before)


SLEW = CosineSlew(angle=0.5, duration=1.0)


@pytest.mark.parametrize(
    ("model", "profiles", "more", "error", "message"),
    [
        (craft(), {"pannel.joint": SLEW}, {}, VariableError, r"'pannel\.joint' is no joint.*nearest: panel\.joint"),
        (craft(), {"bus.joint": SLEW}, {}, VariableError, r"'bus\.joint' is no joint"),
        (craft(), {"panel.joint.angle": SLEW}, {}, VariableError, "BODY.joint"),
        (craft(), {"boom.joint": SLEW}, {}, VariableError, r"2 degrees of freedom; name one, 'boom\.joint\[1\]'"),
        (craft(), {"boom.joint[3]": SLEW}, {}, VariableError, "from 1 to 2"),
        (craft(), {"boom.joint[2]": SLEW}, {}, VariableError, r'free to move.*motion = "prescribed" \(or "swi'),
        (craft("free"), {"panel.joint": SLEW}, {}, VariableError, "switchable"),
        (craft(), {"panel.joint": SLEW, "panel.joint[1]": SLEW}, {}, VariableError, "has a profile already"),
        (craft(), {"panel.joint": 0.5}, {}, VariableError, r"must be a Ramp, CosineSlew, Table or Triple, got 0\.5"),
        (craft(), {"panel.joint": Triple(lambda t: (math.nan, 0, 0))}, {}, VariableError, "finite.*at 0 s"),
        (craft(), {"panel.joint": Triple(lambda t: 1.0)}, {}, VariableError, r"'panel\.joint' failed.*angle, rate"),
        (
            craft(), {"panel.joint": SLEW}, {"inputs": {"time": [0.0], "panel.joint.acceleration": [1.0]}},
            VariableError, r"'panel\.joint\.acceleration' is a column, and the profile of 'panel\.joint' sets it",
        ),
        (
            craft(), {"panel.joint": SLEW}, {"controller": lambda t, y: {"panel.joint.locked": 1}},
            SimulationError, r"controller gives 'panel\.joint\.locked', which the profile of 'panel\.joint' gives too",
        ),
        (Plant(craft()), {"panel.joint": SLEW}, {}, ValueError, 'interpolation="quadratic"'),
    ],
)  # fmt: skip
def test_what_a_profile_cannot_move_is_refused(model, profiles, more, error, message):
    with pytest.raises(error, match=message):
        simulate(model, until=1.0, profiles=profiles, **more)


def test_a_locked_joint_is_not_moved():
    plant = Plant(craft(), interpolation="quadratic")
    plant["panel.joint.locked"] = True
    with pytest.raises(VariableError, match=r"'panel\.joint\.locked' is set, and a lock wins"):
        simulate(plant, until=1.0, profiles={"panel.joint": SLEW})
    assert plant["panel.joint.prescribed"] == 0.0


def test_a_fault_on_the_way_keeps_what_was_recorded():
    def breaks(t):
        return 0.0, 0.0, math.sqrt(0.5 - t) * 0.0

    for profile, message in (
        (Triple(breaks), r"at 0\.5 s.*'panel\.joint' failed at 0\.50.* s: ValueError"),
        (Triple(lambda t: (0.0, 0.0, math.nan if t > 0.5 else 0.0)), r"panel\.joint\.acceleration.*finite, got nan"),
    ):
        with pytest.raises(SimulationError, match=message) as caught:
            simulate(craft(), until=1.0, every=0.1, profiles={"panel.joint": profile})
        assert len(caught.value.run) == 6


def test_a_profile_that_contradicts_itself_is_told():
    with pytest.warns(ProfileNote, match=r"'panel\.joint' stands at 0 in the end, its profile at 0\.2"):
        simulate(craft(), until=1.0, profiles={"panel.joint": Triple(lambda t: (0.2 * t**2, 0.4 * t, 0.0))})


def test_controllers_and_tables_act_beside_profiles():
    seen = []

    def controller(t, y):
        seen.append(y["panel.joint.reaction"])
        return {"bus.torque": [0.0, 0.0, 1.0]}

    table = {"time": [0.0, 1.0], "bus.force": [[0.0, 0.0, 0.0], [80.0 + 10.0 + 4.0, 0.0, 0.0]]}
    for linear, expected in ((False, 0.0), (True, 0.5)):
        run = simulate(
            craft(**{"bus.omega": (0.0, 0.0, 0.0)}), until=1.0, every=0.25, controller=controller, sample=0.5,
            inputs=table, linear=linear, profiles={"panel.joint": SLEW}, step=0.01,
        )  # fmt: skip
        if not linear:
            assert run["system.angular_momentum"][-1] == pytest.approx([0.0, 0.0, 1.0], abs=0.05)
        speed = np.linalg.norm(run["system.momentum"][-1]) / 94.0
        assert speed == pytest.approx(expected, abs=0.01)
    assert len(seen) == 6


@pytest.mark.parametrize("profile", [SLEW, PROFILES["function"]], ids=["slew", "function"])
def test_a_second_opinion_follows_the_same_profile(profile):
    boom = CosineSlew(angle=0.3, duration=0.4, start=0.33, initial=-0.1)
    both = {"panel.joint": profile, "boom.joint[1]": boom}
    runs = [
        simulate(craft(), until=1.0, every=0.25, step=0.02, profiles=both, formulation=name)
        for name in ("order-n", "kane")
    ]
    np.testing.assert_allclose(runs[0]["boom.joint.displacement"], boom.at(runs[0].time)[0], atol=1e-5)
    for name in ("bus.omega", "boom.joint.angle", "panel.joint.angle", "panel.joint.reaction"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], atol=1e-11)


def test_a_plant_is_left_alone_where_an_output_is_unknown():
    plant = Plant(craft(), interpolation="quadratic")
    with pytest.raises(VariableError, match="no output"):
        simulate(plant, until=1.0, outputs=["nothing"], profiles={"panel.joint": PROFILES["slew"]})
    assert plant["panel.joint.angle"] == plant["panel.joint.prescribed"] == 0.0


def test_inputs_that_stay_are_held_to_the_bit():
    plants = [Plant(craft(), interpolation=how) for how in ("held", "quadratic")]
    given = np.random.default_rng(5).normal(size=len(plants[0].input_names))
    given[plants[0].ports.span("switches")] = 0.0
    for plant in plants:
        plant.inputs.values[:] = given
        plant.jump()
    for _ in range(5):
        np.testing.assert_array_equal(*(plant.step(0.01).values for plant in plants))
    runs = [simulate(Plant(craft(), interpolation=how), until=0.5, every=0.1).values for how in ("held", "quadratic")]
    np.testing.assert_allclose(*runs, atol=1e-14)


def test_quadratic_inputs_by_hand():
    plant = Plant(craft(), interpolation="quadratic")
    plant["panel.joint.prescribed"] = True
    plant.jump()
    plant.middle.prescribed_accelerations.values[0] = 0.25
    plant["panel.joint.acceleration"] = 1.0
    y = plant.step(1.0)  # an acceleration t^2
    assert y["panel.joint.rate"] == pytest.approx(1.0 / 3.0, abs=1e-13)
    assert y["panel.joint.angle"] == pytest.approx(1.0 / 12.0, abs=1e-12)
    saved = plant.save()
    after = plant.step(0.1).values
    assert plant["panel.joint.rate"] == pytest.approx(1.0 / 3.0 + 0.1, abs=1e-13)
    plant.restore(saved)
    np.testing.assert_array_equal(plant.step(0.1).values, after)
    plant.middle.prescribed_accelerations.values[0] = math.nan
    with pytest.raises(VariableError, match=r"'panel\.joint\.acceleration': must be finite, got nan"):
        plant.step(0.1)
    with pytest.raises(ValueError, match="held or linear"):
        plant.run(1, 0.1, pick=[0])
    with pytest.raises(ValueError, match="held inputs have no middle"):
        _ = Plant(craft()).middle
