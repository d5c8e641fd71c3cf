"""The model as frozen data: copies, pickles, messages."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from mbdy.engine import Joint, ModelError, keep_rules
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


def test_what_is_no_real_number_is_told_by_its_key():
    model = chain(1)
    bus, link = model.bodies
    for key, body in (
        ("joint.stiffness: must be real numbers, got 1j", replace(link, joint=replace(link.joint, stiffness=(1j,)))),
        ("mass: must be real numbers, got '22 kg'", replace(link, mass="22 kg")),
        ("com: must be real numbers, got None", replace(link, com=(0.0, None, 0.0))),
        ("inertia: must be real numbers", replace(link, inertia=((1j, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))),
    ):
        with pytest.raises(ModelError, match=rf"body\.link1\.{key}"):
            keep_rules(replace(model, bodies=(bus, body)))
    keep_rules(replace(model, bodies=(bus, replace(link, mass=np.float32(2)))))
