"""The model as frozen data: copies, pickles, messages."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mbdy.engine import (
    Body,
    Flex,
    GravityGradient,
    Joint,
    Loop,
    Model,
    ModelError,
    Node,
    PortChoice,
    Side,
    Wheel,
    keep_rules,
)
from systems import chain


def test_a_model_is_pickled_and_copied():
    model = chain(2)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other == model
        with pytest.raises(TypeError):
            other.initial["bus.omega"] = (1.0, 2.0, 3.0)


def test_a_body_is_found_by_name():
    assert chain(2).body("link2").joint.to == "link1"
    with pytest.raises(KeyError, match=r"no body 'link3'; bodies are bus, link1, link2"):
        chain(2).body("link3")


def test_a_joint_has_values_for_all_it_needs():
    joint = Joint(to="bus", translations=((1.0, 0.0, 0.0),), spherical=True)
    assert (joint.n_q, joint.n_u, joint.n_coordinates) == (5, 4, 1)
    assert joint.stiffness == (0.0,)
    assert joint.motion == ("free",) * 4
    with pytest.raises(ValueError, match="damping: 4 values are needed, got 1"):
        Joint(to="bus", translations=((1.0, 0.0, 0.0),), spherical=True, damping=(1.0,))


FREE: dict[str, Any] = {"to": "inertial", "kind": "free"}
HINGE: dict[str, Any] = {"to": "bus", "kind": "revolute", "rotations": [[0, 1, 0]]}
BODY: dict[str, Any] = {"name": "bus", "joint": Joint(**FREE), "mass": 1}
BODIES = (Body(**BODY), Body(name="panel", joint=Joint(**HINGE), mass=1, inertia=[1, 1, 1]))
MODEL: dict[str, Any] = {"name": "model", "bodies": BODIES}
A = Side(body="bus")
ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("kind", "given", "attribute", "means"),
    [
        (Body, {**BODY, "mass": "500 g"}, "mass", 0.5),
        (Body, {**BODY, "mass": Decimal("22.5")}, "mass", 22.5),
        (Body, {**BODY, "mass": np.float32(2)}, "mass", 2.0),
        (Body, {**BODY, "com": np.array([1, 2, 3])}, "com", (1.0, 2.0, 3.0)),
        (Body, {**BODY, "com": ("10 cm", 0, Fraction(1, 2))}, "com", (0.1, 0.0, 0.5)),
        (Body, {**BODY, "inertia": [1, 2, "3 kg*m^2"]}, "inertia", ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))),
        (Body, {**BODY, "inertia": np.diag([1, 2, 3])}, "inertia", ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))),
        (Joint, {**HINGE, "stiffness": "40 N*m/rad"}, "stiffness", (40.0,)),
        (Joint, {**HINGE, "rest": "180 deg"}, "rest", (math.pi,)),
        (Joint, {**HINGE, "motion": "switchable"}, "motion", ("switchable",)),
        (Joint, {**HINGE, "at": ["1 km", 0, 0]}, "at", (1000.0, 0.0, 0.0)),
        (Joint, {**HINGE, "frame": {"sequence": "z", "angles": "180 deg"}}, "frame", (6.123233995736766e-17, 0, 0, 1)),
        (Joint, {**HINGE, "frame": np.eye(3)}, "frame", (1.0, 0.0, 0.0, 0.0)),
        (Joint, FREE, "translations", ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))),
        (Joint, {"to": "bus", "kind": "spherical", "damping": 2}, "damping", (2.0, 2.0, 2.0)),
        (Wheel, {"axis": [0, 0, 1], "inertia": "50 g*m^2"}, "inertia", 0.05),
        (Node, {"at": np.array(["1 m", "2 m", "3 m"])}, "at", (1.0, 2.0, 3.0)),
        (Loop, {"name": "l", "a": A, "b": A, "distance": "50 cm"}, "distance", 0.5),
        (GravityGradient, {"orbit_position": ["7000 km", 0, 0]}, "orbit_position", (7e6, 0.0, 0.0)),
        (Model, {**MODEL, "gravity": [0, 0, "-9.81 m/s^2"]}, "gravity", (0.0, 0.0, -9.81)),
        (Model, {**MODEL, "initial": {"panel.joint.angle": "180 deg"}}, "initial", {"panel.joint.angle": (math.pi,)}),
        (Model, {**MODEL, "guess": {"bus.omega": np.zeros(3)}}, "guess", {"bus.omega": (0.0, 0.0, 0.0)}),
    ],
)  # fmt: skip
def test_parts_take_what_a_file_takes(kind, given, attribute, means):
    part = kind(**given)
    assert getattr(part, attribute) == means
    changed = {field.name: getattr(part, field.name) for field in fields(part)}
    assert kind(**changed) == part, "what it has is taken as it is"


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (Body, {**BODY, "mass": -1}, "Body.mass: must be >= 0 kg, got -1.0; give the mass as a non-negative number"),
        (Body, {**BODY, "mass": "22 m"}, "Body.mass: must be a number in kg, but 'm' is a unit of something else"),
        (Body, {**BODY, "mass": True}, "Body.mass: must be a number in kg, got true"),
        (Body, {**BODY, "mass": math.nan}, "Body.mass: must be a finite number, got nan"),
        (Body, {**BODY, "mass": 1j}, "Body.mass: must be a real number in kg, got 1j"),
        (Body, {**BODY, "com": [0, None, 0]}, "Body.com[2]: must be a number in m, got None"),
        (Body, {**BODY, "com": ENDLESS}, "Body.com: has lists nested more than 16 deep"),
        (Body, {**BODY, "com": 3}, "Body.com: must be a list of three lengths, got 3"),
        (Body, {**BODY, "com": np.ma.masked_array([1, 2, 3], [0, 1, 0])}, "Body.com: must be real numbers, got masked"),
        (Body, {**BODY, "inertia": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "Body.inertia: must be symmetric"),
        (Body, {**BODY, "inertia": [1, -2, 3]}, "Body.inertia: has a negative principal moment, -2"),
        (Body, {**BODY, "inertia": [1, 2]}, "Body.inertia: must have 3 entries, got 2"),
        (Body, {**BODY, "joint": "free"}, "Body.joint: must be a Joint, got 'free'; make it by Joint(...)"),
        (Body, {**BODY, "name": 3}, "Body.name: must be text, got 3"),
        (Body, {**BODY, "wheels": {"x": 3}}, "Body.wheels['x']: must be a Wheel, got 3"),
        (Body, {**BODY, "mass": -1, "com": "x"}, "Body.com: must be a list of three lengths, got 'x'"),
        (Joint, {**HINGE, "kind": "hinge"}, "Joint.kind: unknown kind of joint 'hinge'; here it is called 'revolute'"),
        (Joint, {**HINGE, "rotations": [[0, 0, 0]]}, "Joint.rotations[1]: must not be zero"),
        (Joint, {**HINGE, "rotations": [0, 1, 0]}, "Joint.rotations[1]: must be a list of three numbers, got 0"),
        (Joint, {**HINGE, "rotations": np.eye(3)[[0, 1, 2, 0]]}, "Joint.rotations: has more than three axes"),
        (Joint, {"to": "bus", "translations": [[1, 0, 0], [2, 0, 0]]}, "Joint.translations: its axes are not"),
        (Joint, {**HINGE, "stiffness": (1j,)}, "Joint.stiffness[1]: must be a real number in N.m/rad, got 1j"),
        (Joint, {**HINGE, "stiffness": "40 N/m"}, "Joint.stiffness: must be a number in N.m/rad, but 'N/m'"),
        (Joint, {**HINGE, "damping": [1, 2]}, "Joint.damping: 1 values are needed, got 2"),
        (Joint, {**HINGE, "motion": "slow"}, "Joint.motion: unknown motion 'slow'"),
        (Joint, {**HINGE, "friction": -1, "friction_rate": 1}, "Joint.friction: must be >= 0, got -1"),
        (Joint, {**HINGE, "friction_rate": 1}, "Joint.friction: is missing beside 'friction_rate'"),
        (Joint, {**HINGE, "frame": [0, 0, 0, 0]}, "Joint.frame.quaternion: a zero quaternion is no attitude"),
        (Joint, {**FREE, "stiffness": 3}, "Joint.stiffness: a joint of kind free takes no 'stiffness'"),
        (Joint, {**FREE, "at": [0, 0, 1]}, "Joint.at: a joint of kind free takes no 'at'"),
        (Wheel, {"axis": [0, 0, 0], "inertia": 1}, "Wheel.axis: must not be zero"),
        (Wheel, {"axis": [0, 0, 1], "inertia": 0}, "Wheel.inertia: must be > 0 kg.m2, got 0.0"),
        (Wheel, {"axis": [0, 0, 1], "inertia": 1, "damping": -1}, "Wheel.damping: must be >= 0 N.m.s/rad, got -1.0"),
        (Node, {"at": [0, 0, 1], "shape": [[1]]}, "Node.shape: 6 rows of one length are needed, got 1"),
        (Flex, {"mass": [[1]], "stiffness": [[1]], "damping": [[1]], "coupling": [[1]]}, "Flex.coupling: numbers of"),
        (Loop, {"name": "l", "a": A, "b": A, "distance": 0}, "Loop.distance: must be > 0 m, got 0.0"),
        (Loop, {"name": "l", "a": A, "b": A, "rows": [7]}, "Loop.rows: must be numbers from 1 to 6, got [7]"),
        (Loop, {"name": "l", "a": A, "b": "bus", "rows": [1]}, "Loop.b: must be a Side, got 'bus'"),
        (PortChoice, {"inputs": "bus.torque"}, "PortChoice.inputs: must be a list of names and patterns"),
        (Model, {**MODEL, "bodies": 3}, "Model.bodies: must be a list of Body, got 3"),
        (Model, {**MODEL, "bodies": ()}, "Model.bodies: there is no body"),
        (Model, {**MODEL, "bodies": BODIES[:1] * 2}, "body.bus: is given 2 times; give each a name of its own"),
        (Model, {**MODEL, "bodies": BODIES[:1] * 10_001}, "body: has 10001 entries, more than 10000"),
        (Model, {**MODEL, "bodies": BODIES[1:]}, "body.panel.joint.to: there is no body 'bus'"),
        (Model, {**MODEL, "bodies": (replace(BODIES[0], name="system"),)}, "body.system: no body can be called"),
        (Model, {**MODEL, "gravity": 9.81}, "Model.gravity: must be a list of three accelerations, got 9.81"),
        (Model, {**MODEL, "initial": {"panel.joint.angel": 1}}, "the nearest known is 'panel.joint.angle'"),
        (Model, {**MODEL, "initial": {"panel.joint.angle": "1 m"}}, "initial.panel.joint.angle: must be a"),
        (Model, {**MODEL, "loops": [Loop(name="l", a=A, b=Side(body="x"), rows=(1,))]}, "loop.l.b: there is no body"),
    ],
)  # fmt: skip
def test_parts_refuse_what_a_file_refuses(kind, given, told):
    with pytest.raises(ModelError) as caught:
        kind(**given)
    assert told in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_what_parts_mean_together_is_told_where_the_model_is_used():
    bus = Body(name="bus", joint=Joint(to="inertial", kind="revolute", rotations=[[0, 0, 1]]), mass=0)
    with pytest.raises(ModelError, match=r"body\.bus\.joint: its rotation moves no inertia at the start"):
        keep_rules(Model(name="idle", bodies=[bus]))
