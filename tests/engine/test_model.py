"""The model as frozen data: copies, pickles, messages."""

from __future__ import annotations

import copy
import pickle

import pytest

from mbdy.engine import Joint
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
