"""Numbers that come in as anything: converted once and exactly before anything moves, or refused with the plant as it
was."""

from __future__ import annotations

import array
import datetime
import math
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import CosineSlew, Delay, HingeDrive, Plant, PulseTrain, simulate
from mbdy.engine import (
    Body,
    Joint,
    MbdyError,
    Model,
    ModelError,
    assemble,
    equations_of,
    linearize,
    ports,
    save,
    trim,
    verify,
)
from mbdy.fmu import export_fmu
from systems import diagonal

BAD = object()
"""Refused."""


class Floats:
    """A number of a foreign library."""

    def __float__(self) -> float:
        return 0.375


class Breaks:
    """One that fails in its own way."""

    def __float__(self) -> float:
        raise OSError("no number here")

    def __repr__(self) -> str:
        raise OSError("no words either")


class Array:
    """An array of a foreign library."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values)


class Quantity:
    """A number with a unit of a foreign library, which means something else as a bare number."""

    magnitude, units = 5.0, "deg"

    def __float__(self) -> float:
        return 5.0


ONE = [
    (0.5, 0.5), (1, 1.0), (-0.0, -0.0), (2**53, 2.0**53), (10**308, 1e308), (10**309, BAD), (10**5000, BAD),
    (-(10**400), BAD), (True, BAD), (False, BAD), (np.True_, BAD), (None, BAD), (1j, BAD), (1 + 0j, BAD),
    (np.complex64(1), BAD), (math.nan, BAD), (math.inf, BAD), (-math.inf, BAD), (np.nan, BAD),
    (np.float32("inf"), BAD), (Decimal("NaN"), BAD), (Decimal("0.1"), 0.1), (Decimal("1e-400"), 0.0),
    (Decimal("1e400"), BAD), (Fraction(1, 3), 1 / 3), (Fraction(10**400, 3), BAD),
    (np.float16(0.1), float(np.float16(0.1))), (np.float32(0.1), float(np.float32(0.1))), (np.longdouble("0.1"), 0.1),
    (np.int8(-3), -3.0), (np.uint64(2**63), 2.0**63), (np.array(0.25), 0.25), (np.array(3), 3.0),
    (np.array(True), BAD), (np.array("1 N*m"), 1.0), (np.array(1j), BAD), (np.array(None), BAD),
    (np.array(Fraction(1, 4), dtype=object), 0.25), ([0.5], 0.5), ((0.5,), 0.5), ([[0.5]], BAD), ([], BAD),
    ([1.0, 2.0], BAD), (np.array([0.5], np.float32), 0.5), (np.ma.masked, BAD),
    (np.ma.array([1.0], mask=[True]), BAD), (np.ma.array([1.0]), BAD), (Array([0.5]), 0.5), ("1 N*m", 1.0),
    ("500 mN*m", 0.5), ("1", BAD), ("", BAD), ("nan", BAD), ("1 kg", BAD), ("1 N*m; 2", BAD), ("1e999 N*m", BAD),
    (np.str_("2 N*m"), 2.0), (b"1", BAD), (bytearray(b"1"), BAD), (memoryview(b"\x01"), 1.0), ({}, BAD),
    ({"a": 1.0}, BAD), ({1.0}, BAD), (iter([1.0]), BAD), (range(1, 2), 1.0), (deque([0.5]), 0.5),
    (array.array("d", [0.5]), 0.5), (object(), BAD), (len, BAD), (float, BAD), (Floats(), 0.375), (Breaks(), BAD),
    (Quantity(), BAD), (np.datetime64("2026-01-01"), BAD), (np.timedelta64(1, "s"), BAD),
    (datetime.timedelta(seconds=1), BAD), (datetime.date(2026, 1, 1), BAD),
    (np.array([(1.0, 2)], dtype=[("a", "f8"), ("b", "i4")]), BAD),
]  # fmt: skip
"""A value given for one torque, and the float that it means."""


def arm(**more: Any) -> Model:
    """Two links: one on a planar joint, one on a hinge."""
    motion = ("switchable",)
    base = Joint(to="inertial", kind="planar", translations=((1.0, 0, 0), (0, 1.0, 0)), rotations=((0, 0, 1.0),))
    hinge = Joint(to="base", kind="revolute", rotations=((0.0, 0.0, 1.0),), stiffness=(4.0,), motion=motion)
    bodies = (
        Body(name="base", mass=3.0, inertia=diagonal(1.0, 2.0, 2.5), joint=base),
        Body(name="arm", mass=2.0, com=(0.5, 0.0, 0.0), inertia=diagonal(1.0, 2.0, 2.0), joint=hinge),
    )
    return Model(name="arm", bodies=bodies, **more)


@pytest.fixture(scope="module")
def plant() -> Plant:
    return Plant(arm())


def bits(plant: Plant) -> bytes:
    return plant.save().data


def refused(plant: Plant, act: Callable[[], object], *words: str) -> None:
    """``act`` raises one of mbdy's errors, in a short message with the ``words``, and leaves the plant's bits alone."""
    before = bits(plant)
    with pytest.raises(MbdyError) as caught:
        act()
    assert bits(plant) == before
    message = str(caught.value)
    assert len(message) < 600
    for word in words:
        assert word in message, message


DOORS: dict[str, Callable[[Plant, Any], object]] = {
    "plant": lambda plant, value: plant.__setitem__("arm.joint.torque", value),
    "at": lambda plant, value: linearize(plant.model, at={"arm.joint.torque": value}),
    "controller": lambda plant, value: simulate(plant, until=1e-3, controller=lambda t, y: {"arm.joint.torque": value}),
    "table": lambda plant, value: simulate(plant, until=1e-3, inputs={"time": [0.0], "arm.joint.torque": [value]}),
}  # fmt: skip


@pytest.mark.parametrize(("value", "meant"), ONE, ids=range(len(ONE)))
def test_one_torque(plant: Plant, value: Any, meant: Any):
    plant.reset()
    plant["arm.joint.torque"] = 7.0
    if meant is BAD:
        refused(plant, lambda: DOORS["plant"](plant, value), "arm.joint.torque")
        refused(plant, lambda: DOORS["at"](plant, value), "arm.joint.torque")
        return
    plant["arm.joint.torque"] = value
    assert plant["arm.joint.torque"] == meant
    assert linearize(plant.model, at={"arm.joint.torque": value}, inputs=["arm.joint.torque"]).input_values == [meant]


@pytest.mark.parametrize("door", ["controller", "table"])
def test_one_torque_of_a_run(plant: Plant, door: str):
    for value, meant in ONE:
        several = isinstance(value, list | tuple | range | deque | Array | array.array | memoryview)
        if several or getattr(value, "ndim", 0) or (meant is not BAD and abs(meant) > 1e6):
            continue
        plant.reset()
        if meant is BAD:
            with pytest.raises(MbdyError):
                DOORS[door](plant, value)
        else:
            DOORS[door](plant, value)
            assert plant["arm.joint.torque"] == meant


@pytest.mark.parametrize(("value", "meant"), ONE, ids=range(len(ONE)))
def test_one_stiffness_of_a_joint_made_in_python(value: Any, meant: Any):
    hinge: dict[str, Any] = {"to": "base", "kind": "revolute", "rotations": [[0, 0, 1]], "stiffness": value}
    if isinstance(value, list) and not value:
        assert Joint(**hinge).stiffness == (0.0,), "nothing is given"
    elif meant is BAD:
        with pytest.raises(ModelError, match=r"^Joint\.stiffness") as caught:
            Joint(**hinge)
        assert len(str(caught.value)) < 300
    else:
        assert Joint(**hinge).stiffness == (meant,)


def test_states_parameters_starts_and_switches(plant: Plant):
    plant.reset()
    for name in ("arm.mass", "arm.joint.angle", "arm.joint.stiffness", "system.gravity[1]"):
        for value in (True, 1j, None, math.nan, "1 s", np.ma.masked, [1.0, 2.0]):
            refused(plant, lambda name=name, value=value: plant.__setitem__(name, value), name)
    refused(plant, lambda: plant.__setitem__("arm.mass", -1.0), "arm.mass", "-1", ">= 0")
    for value in (2, -1, 0.5, "perhaps", None, [True, False]):
        refused(plant, lambda value=value: plant.__setitem__("arm.joint.locked", value), "arm.joint.locked")
    for value in (True, np.True_, 1, 1.0, np.int8(1), "on", "true", [True], np.array([True])):
        plant["arm.joint.locked"] = False
        plant["arm.joint.locked"] = value
        assert plant["arm.joint.locked"] == 1.0
    plant["arm.joint.locked"] = False


def test_one_value_for_all_degrees_of_freedom(plant: Plant):
    plant.reset()
    plant["base.joint.damping"] = 0.25
    assert plant["base.joint.damping"].tolist() == [0.25] * 3
    plant["base.joint.displacement"] = "5 cm"
    assert plant["base.joint.displacement"].tolist() == [0.05] * 2
    refused(plant, lambda: plant.__setitem__("base.joint.damping", "1 N*s/m"), "base.joint.damping")
    refused(plant, lambda: plant.__setitem__("base.joint.force", 1.0), "base.joint.force", "2 values")
    refused(plant, lambda: plant.__setitem__("arm.force", 1.0), "arm.force[1]", "3 values are needed, got 1")
    plant["base.joint.damping"] = 0


def test_an_inertia_in_all_its_forms(plant: Plant):
    six = [1.0, 0.1, 0.0, 2.0, 0.0, 2.5]
    rows = [[1.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.5]]
    for value in (
        six,
        rows,
        np.array(rows, np.float32).astype(float),
        [["1 kg*m^2", 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]],
    ):
        plant["arm.inertia"] = value
        np.testing.assert_allclose(plant["arm.inertia"], six, rtol=1e-7)
    plant["arm.inertia"] = (1, "2 kg*m^2", Decimal("2.5"))
    assert plant["arm.inertia"].tolist() == [1.0, 0.0, 0.0, 2.0, 0.0, 2.5]
    for value in (1.0, [1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.5, 0], [0.4, 2, 0], [0, 0, 3]], np.eye(3) * 1j):
        refused(plant, lambda value=value: plant.__setitem__("arm.inertia", value), "arm.inertia")


def test_vectors_and_times(plant: Plant, tmp_path):
    plant.reset()
    n_x, n_u = len(plant.state_names), len(plant.input_names)
    good = plant.state
    for value in (good.astype(np.float32), good.tolist(), [Fraction(0)] * n_x, np.zeros(n_x, int), Array(good)):
        assert np.isfinite(plant.derivatives(0.0, value)).all()
    bad = (good[:-1], good[:, None], good * 1j, np.ma.array(good), ["1"] * n_x, [None] * n_x,
           [[0.0]] + [0.0] * (n_x - 1), np.full(n_x, math.nan), np.full(n_x, math.inf), good > 0, 3.0,
           None, "state", {})  # fmt: skip
    for value in bad:
        refused(plant, lambda value=value: plant.derivatives(0.0, value))
        refused(plant, lambda value=value: setattr(plant, "state", value))
        if value is not None:
            refused(plant, lambda value=value: plant.outputs(0.0, value))
    for value in (np.zeros(n_u + 1), np.full(n_u, math.nan), ["x"] * n_u):
        refused(plant, lambda value=value: plant.derivatives(0.0, good, value))
    for time in (Decimal("0.01"), Fraction(1, 100), np.float64(0.01), "10 ms", np.array(0.01)):
        plant.reset()
        assert plant.step(time).time == 0.01
        assert simulate(arm(), until=time, every=time).time.tolist() == [0.0, 0.01]
    for time in (0.0, -1, "-1 s", "x", "1 m", "1", math.nan, math.inf, True, None, 1j, [1.0], b"1", 10**400, object()):
        refused(plant, lambda time=time: plant.step(time), "step")
        refused(plant, lambda time=time: simulate(plant, until=time), "until")
        for option in ("every", "sample"):
            if time is not None:
                controlled = {"until": 1.0, "controller": lambda t, y: None, option: time}
                refused(plant, lambda controlled=controlled: simulate(plant, **controlled), option)
        if time is not None:
            refused(plant, lambda time=time: Plant(arm(), step=time), "step")
        if time != "1":  # a command line's numbers are all text
            refused(plant, lambda time=time: export_fmu(arm(), tmp_path / "arm.fmu", step=time), "step")
    assert not list(tmp_path.iterdir())


PATH = "no/such/model.toml"
FAULTS: dict[str, tuple[Callable[[Plant], object], tuple[str, ...]]] = {
    "a variable that is none": (lambda p: p.__setitem__("arm.joint.torqe", 1.0),
        ("arm.joint.torqe", "arm.joint.torque")),
    "a name that is no text": (lambda p: p.__setitem__(3, 1.0), ("3", "name")),
    "a name that cannot be looked up": (lambda p: p[["arm"]], ("arm", "name")),
    "reading what is none": (lambda p: p["arm.joint.angel"], ("arm.joint.angle",)),
    "an element beyond the last": (lambda p: p["base.force[4]"], ("base.force[4]", "base.force")),
    "an output": (lambda p: p.__setitem__("arm.omega", [0, 0, 0]), ("arm.omega", "output")),
    "an output of an instant": (lambda p: p.outputs()["arm.omga"], ("arm.omega",)),
    "an input among outputs": (lambda p: p.outputs()["arm.mass"], ("arm.mass", "not an output")),
    "a snapshot of bytes": (lambda p: p.restore(b"abc"), ("snapshot", "abc", "save()")),
    "a snapshot of nothing": (lambda p: p.restore(None), ("snapshot",)),
    "a model of a number": (lambda p: Plant(3), ("model", "3", "path")),
    "a model of bytes": (lambda p: Plant(b"a.toml"), ("model", "path")),
    "a file that is not there": (lambda p: Plant(PATH), (PATH, "cannot be read")),
    "an integrator": (lambda p: Plant(arm(), integrator="rk5"), ("integrator", "rk5", "nearest", "'rk4'")),
    "an integrator that is no text": (lambda p: Plant(arm(), integrator=4), ("integrator", "4", "rk4")),
    "an interpolation": (lambda p: Plant(arm(), interpolation="hold"), ("interpolation", "'held'")),
    "a formulation": (lambda p: Plant(arm(), formulation="kanes"), ("formulation", "'kane'")),
    "dynamics": (lambda p: Plant(arm(), dynamics="linear"), ("dynamics", "'linear'", "Linear(")),
    "a middle of held inputs": (lambda p: p.middle, ("quadratic",)),
    "rows of a run": (lambda p: p.run(2.5, 0.1, pick=[0]), ("rows", "2.5")),
    "negative rows": (lambda p: p.run(-1, 0.1, pick=[0]), ("rows", "-1")),
    "a step of rows": (lambda p: p.run(1, -0.1, pick=[0]), ("step", "-0.1")),
    "places of texts": (lambda p: p.run(1, 0.1, pick=["arm"]), ("pick", "arm")),
    "places of halves": (lambda p: p.run(1, 0.1, pick=[0.5]), ("pick", "0.5")),
    "inputs of another size": (lambda p: p.run(1, 0.1, inputs=np.zeros((1, 3)), pick=[0]), ("inputs", "(1, 3)")),
    "a time of outputs": (lambda p: p.outputs("now"), ("time", "now")),
    "a time of derivatives": (lambda p: p.derivatives(None, p.state), ("time", "None")),
    "a controller that is none": (lambda p: simulate(p, until=1, controller=3), ("controller", "3")),
    "a sample without controller": (lambda p: simulate(p, until=1, sample=1), ("sample",)),
    "inputs of a number": (lambda p: simulate(p, until=1, inputs=3), ("inputs", "3", "CSV")),
    "inputs without time": (lambda p: simulate(p, until=1, inputs={"arm.joint.torque": [1.0]}), ("time",)),
    "inputs of unlike lengths": (lambda p: simulate(p, until=1, inputs={"time": [0, 1], "arm.joint.torque": [1]}),
        ("2 rows",)),
    "ragged inputs": (lambda p: simulate(p, until=1, inputs={"time": [0, 1], "arm.force": [[1, 2, 3], [1]]}),
        ("arm.force",)),
    "inputs that are none": (lambda p: simulate(p, until=1, inputs={"time": [0], "arm.angle": [1]}), ("arm.angle",)),
    "outputs that are none": (lambda p: simulate(p, until=1, outputs=["arm.omga"]), ("arm.omga", "arm.omega")),
    "outputs of numbers": (lambda p: simulate(p, until=1, outputs=[3]), ("3",)),
    "outputs of a number": (lambda p: simulate(p, until=1, outputs=3), ("3",)),
    "profiles of a joint that is none": (lambda p: simulate(arm(), until=1, profiles={"arn.joint": CosineSlew(1, 1)}),
        ("arn.joint",)),
    "a profile that is none": (lambda p: simulate(arm(), until=1, profiles={"arm.joint": 3}), ("arm.joint", "3")),
    "profiles of a list": (lambda p: simulate(arm(), until=1, profiles=[3]), ("profiles", "3")),
    "a slew of a text": (lambda p: CosineSlew("1 kg", 1), ("angle", "1 kg")),
    "progress that is none": (lambda p: simulate(p, until=1, progress="bar"), ("progress", "bar")),
    "a point of a text": (lambda p: linearize(arm(), at="rest"), ("at", "rest")),
    "a point of an unknown name": (lambda p: linearize(arm(), at={"arm.joint.angel": 1.0}), ("arm.joint.angle",)),
    "an angle in metres": (lambda p: linearize(arm(), at={"arm.joint.angle": "1 m"}),
        ("arm.joint.angle", "1 m", "rad")),
    "linear in what is none": (lambda p: linearize(arm(), inputs=["arm.torqe"]), ("arm.torqe", "arm.torque")),
    "a tolerance of a text": (lambda p: trim(arm(), tolerance="small"), ("tolerance", "small")),
    "half a state": (lambda p: verify(arm(), states=0.5), ("states", "0.5")),
    "a seed below zero": (lambda p: verify(arm(), seed=-1), ("seed", "-1")),
    "a kind of FMU": (lambda p: export_fmu(arm(), "a.fmu", kind="nativ"), ("kind", "'native'")),
    "a version of FMI": (lambda p: export_fmu(arm(), "a.fmu", fmi="2"), ("fmi", "2.0")),
    "an FMU of no model": (lambda p: export_fmu(None, "a.fmu"), ("model", "None")),
    "one input twice": (
        lambda p: simulate(p, until=1, controller=lambda t, y: {"arm.force[2]": 1, "arm.force": [0] * 3}),
        ("arm.force[2]", "'arm.force'", "twice", "keep one")),
    "one column twice": (
        lambda p: simulate(p, until=1, inputs={"time": [0], "arm.force": [[0] * 3], "arm.force[1]": [0]}),
        ("arm.force[1]", "'arm.force'", "twice")),
    "one start twice": (
        lambda p: linearize(arm(), at={"base.joint.displacement": 0, "base.joint.displacement[1]": 1}),
        ("base.joint.displacement[1]", "twice")),
    "rows that go back": (lambda p: simulate(p, until=1, inputs={"time": [1, 0], "arm.joint.torque": [0, 0]}),
        ("row 2", "time must increase")),
    "a state in nothing": (lambda p: p.save_state(None), ("path", "None")),
    "a state of a number": (lambda p: p.restore_state(3), ("path", "3")),
    "a state in a folder that is not there": (lambda p: p.save_state("no/such/state"), ("no/such", "folder first")),
    "a state from a folder that is not there": (lambda p: p.restore_state("no/such/state"), ("no/such/state", "read")),
    "rows in nothing": (lambda p: simulate(arm(), until=1).to_csv(None), ("path", "None")),
    "rows in bytes": (lambda p: simulate(arm(), until=1).to_csv(b"a.csv"), ("path", "a.csv")),
    "a name with a zero": (lambda p: simulate(arm(), until=1).to_csv("a\0b"), ("path", "a\\x00b")),
    "rows in a folder that is not there": (lambda p: simulate(arm(), until=1).to_csv("no/rows.csv"), ("no/rows.csv",)),
    "a model in a number": (lambda p: save(arm(), 3), ("path", "3")),
    "a drive in newtons": (lambda p: HingeDrive("40 N", 1), ("HingeDrive", "stiffness", "N.m/rad", "40 N")),
    "a delay of nothing": (lambda p: Delay(None), ("Delay", "time", "None")),
    "a body that is none": (lambda p: arm().body("amr"), ("amr", "arm")),
}  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_faults_of_calls(plant: Plant, what: str):
    plant.reset()
    plant.step(0.01)
    act, words = FAULTS[what]
    refused(plant, lambda: act(plant), *words)


def test_blocks_take_units():
    train, drive = PulseTrain("1 s", "50 ms", start=Decimal("0.5")), HingeDrive("40 N*m", "800 mN*m*s/rad")
    assert (train.period, train.width, train.start) == (1.0, 0.05, 0.5)
    assert (drive.stiffness, drive.damping) == (40.0, 0.8)


def test_what_takes_a_model_takes_a_path(tmp_path):
    from mbdy.engine import dumps

    path = tmp_path / "arm.toml"
    save(arm(), path)
    assert dumps(path) == dumps(str(path)) == path.read_text()
    assert ports(path).input_names == ports(arm()).input_names == equations_of(path).ports.input_names
    assert assemble(path).name == "arm"
    assert verify(path, states=1).agrees
    assert linearize(path).states == linearize(arm()).states
    assert trim(str(path))["arm.joint.angle"] == 0.0
    assert Plant(path).time == 0.0
    assert simulate(str(path), until=0.1).complete
