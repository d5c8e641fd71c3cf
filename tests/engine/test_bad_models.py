"""Bad model files: every refusal and warning, each with its place and remedy, all at once, never a traceback."""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from bad_models import BAD_MODELS, WARNED_MODELS, bars, beam, boom, bus, hinged, panel
from mbdy.engine.assembly.start import assemble
from mbdy.engine.files.lines import lines_of
from mbdy.engine.files.read import load, loads
from mbdy.engine.files.rules import keep_rules
from mbdy.engine.model.faults import Fault, ModelError, ModelWarning


@pytest.mark.parametrize(("text", "path", "fragment"), [pytest.param(*bad[1:], id=bad[0]) for bad in BAD_MODELS])
def test_refused(text: str, path: str, fragment: str) -> None:
    with pytest.raises(ModelError) as caught:
        assemble(loads(text, source="bad.toml"))
    told = [
        fault for fault in caught.value.faults if fault.path == path and fragment in f"{fault.message}; {fault.remedy}"
    ]
    assert told, str(caught.value)
    assert f"bad.toml: {told[0]}" in str(caught.value).splitlines()


@pytest.mark.parametrize(("text", "path", "fragment"), [pytest.param(*bad[1:], id=bad[0]) for bad in BAD_MODELS])
def test_one_mistake_is_told_once(text: str, path: str, fragment: str) -> None:
    # A misspelt key that is needed is unknown, and the one that was meant is missing.
    expected = {"empty": 2, "unknown-node": 2, "unknown-frame": 2, "axes-on-revolute": 2, "other-word-parent": 2}
    name = next(bad[0] for bad in BAD_MODELS if bad[1] == text)
    with pytest.raises(ModelError) as caught:
        assemble(loads(text))
    assert len(caught.value.faults) == expected.get(name, 1), str(caught.value)


def test_faults_stand_in_the_order_of_lines() -> None:
    text = (
        hinged("stiffness = 'x'\nfriction_rate = 1\ntypo = 3").replace("mass = 10", "mass = -1")
        + "\n[zzz]\n[system]\ng = 1"
    )
    with pytest.raises(ModelError) as caught:
        loads(text)
    lines = [fault.line or 0 for fault in caught.value.faults]
    assert len(set(lines)) == len(lines) == 6
    assert lines == sorted(lines)


def test_names_of_bad_models_are_unique() -> None:
    names = [bad[0] for bad in BAD_MODELS + WARNED_MODELS]
    assert len(set(names)) == len(names) >= 45


@pytest.mark.parametrize(("text", "path", "fragment"), [pytest.param(*bad[1:], id=bad[0]) for bad in WARNED_MODELS])
def test_warned(text: str, path: str, fragment: str) -> None:
    with pytest.warns(ModelWarning) as caught:
        loads(text, source="odd.toml")
    assert len(caught) == 1
    assert re.match(rf"odd\.toml: line \d+: {re.escape(path)}: ", str(caught[0].message))
    assert fragment in str(caught[0].message)
    assert caught[0].filename == __file__


def test_all_faults_at_once() -> None:
    text = """
    mbdy = 3
    nam = "x"
    [system]
    gravity = [0, "1 kg", nan]
    [body.bus]
    mass = "3 deg"
    inertia = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]
    joint = { to = "inertial", kind = "free", at = [0, 0, 1] }
    wheel.x = { axis = [0, 0, 0], inertia = -1 }
    [body.panel]
    com = [0, 1]
    joint = { to = "bsu", kind = "revolute", axis = [0, 0, 0], stifness = 1, damping = "1 kg" }
    [body.a]
    mass = -1
    joint = { to = "b", kind = "fixed" }
    [body.b]
    mass = 1
    joint = { to = "a", kind = "universal", axes = [[1, 0, 0], [1, 0, 0]], motion = "slow" }
    [body.dot]
    mass = 0
    joint = { to = "bus", kind = "prismatic", axis = [1, 0, 0] }
    [initial]
    bus.omega = [1, 2]
    bus.spin = 3
    """
    with pytest.raises(ModelError) as caught:
        loads(text)
    assert {fault.path for fault in caught.value.faults} == {
        "mbdy", "nam", "system.gravity[2]", "system.gravity[3]",
        "body.bus.mass", "body.bus.inertia", "body.bus.joint.at", "body.bus.wheel.x.axis", "body.bus.wheel.x.inertia",
        "body.panel.mass", "body.panel.com", "body.panel.joint.to", "body.panel.joint.axis",
        "body.panel.joint.stifness", "body.a.mass", "body.a.joint.to", "body.b.joint.axes", "body.b.joint.motion",
        "body.dot.joint", "initial.bus.omega", "initial.bus.spin",
    }  # fmt: skip


def test_all_faults_of_a_loop_at_once() -> None:
    text = bars("at_a = [0, 1]", "time_constant = -1", "closed = false", kind='kind = "pni"', name="loop.'two words'")
    with pytest.raises(ModelError) as caught:
        loads(text.replace('"coupler.end"', '"cuopler"').replace("rocker.tip", "rocker.top"))
    keys = ("", ".a", ".b", ".at_a", ".time_constant", ".closed", ".kind")
    assert {fault.path for fault in caught.value.faults} == {f'loop."two words"{key}' for key in keys}


def test_no_fault_follows_from_another() -> None:
    """A body whose joint or mass is unreadable is still a parent, and has unknown start values."""
    text = bus(mass='mass = "x"', joint='joint = "inertial"') + "\n[initial]\nbus.omega = 1"
    text += "\n[body.tip]\nmass = 0\njoint = { to = 'bus', kind = 'revolute', axes = [] }"
    with pytest.raises(ModelError) as caught:
        loads(text)
    assert {f.path for f in caught.value.faults} == {"body.bus.mass", "body.bus.joint", "body.tip.joint.axes",
                                                      "body.tip.joint.axis"}  # fmt: skip


def test_every_fault_has_a_remedy() -> None:
    for name, text, _, _ in BAD_MODELS:
        with pytest.raises(ModelError) as caught:
            assemble(loads(text))
        if caught.value.faults[0].path:
            assert all(fault.remedy for fault in caught.value.faults if fault.path), name


def test_words_of_a_fault() -> None:
    fault = Fault("body.panel.mass", "must be >= 0 kg, got -2.0", "give the mass as a non-negative number")
    assert str(fault) == "body.panel.mass: must be >= 0 kg, got -2.0; give the mass as a non-negative number"
    error = ModelError("sat.toml", [fault, Fault("", "is empty")])
    assert str(error) == f"sat.toml: {fault}\nsat.toml: is empty"
    assert pickle.loads(pickle.dumps(error)).faults == error.faults


ODD_LINES = """mbdy = 1
[body.bus]                   # a comment with [brackets] and "quotes"
mass = 10
inertia = [
  [1, 0, 0],   # xx
  [0, -2, 0],
  [0, 0, 1],
]
joint = { to = "inertial", kind = "free", att = 1 }
node.'a b'.at = [0, 0,
  "1 kg"]
[body."panel"]
name = '''
mass = 3
'''
[body.panel.joint]
to = "bus"
kind = "revolute"
axis = [0, 0, 1]
[initial]
bus.omega = [
  0, 0, nan]
"""


def test_every_fault_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(ODD_LINES)
    with pytest.raises(ModelError) as caught:
        load(tmp_path / "odd.toml")
    lines = {fault.path: fault.line for fault in caught.value.faults}
    assert lines == {
        "body.bus.inertia": 4, "body.bus.joint.att": 9, 'body.bus.node."a b"': 10, 'body.bus.node."a b".at[3]': 11,
        "body.panel.name": 13, "body.panel.mass": 12, "initial.bus.omega[3]": 22,
    }  # fmt: skip
    assert f"{tmp_path / 'odd.toml'}: line 12: body.panel.mass: is missing; " in str(caught.value)


def test_lines_are_those_of_all_that_tomllib_reads() -> None:
    text = boom(more=ODD_LINES.partition("mass = 10")[2].replace("body.", "more.").replace("[initial]", "[[last]]"))
    lines = lines_of(f"x.y = 1979-05-27 07:32:00\n{text}")
    assert {lines[path] for path in ("x", "x.y")} == {1}
    assert lines["body.boom.flex.coupling[5][2]"] == lines["body.boom.flex.coupling"]
    assert lines["last.bus.omega[3]"] == text.count("\n") + 1


def test_a_loop_that_cannot_be_closed_has_its_line(tmp_path: Path) -> None:
    text = bars().replace("at = [2.5, 0, 0]", "at = [25, 0, 0]")
    (tmp_path / "far.toml").write_text(text)
    with pytest.raises(ModelError, match=rf"far\.toml: line {text[: text.index('[loop')].count(chr(10)) + 1}: loop\."):
        assemble(load(tmp_path / "far.toml"))


def test_faults_of_models_made_in_python_have_no_line() -> None:
    model = loads(bus())
    with pytest.raises(ModelError) as caught:
        keep_rules(replace(model, bodies=(replace(model.bodies[0], mass=-1.0),)))
    assert [fault.line for fault in caught.value.faults] == [None]


@pytest.mark.parametrize("digits", [7, 8])
def test_decimals_of_a_quaternion_are_not_doubted(digits: int) -> None:
    attitude = [round(x / 30**0.5, digits) for x in (1, 2, 3, 4)]
    loads(
        panel('kind = "fixed"', f"frame = {{ quaternion = {attitude} }}", more=f"[initial]\nbus.attitude = {attitude}")
    )


def test_a_name_without_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "mysat.toml").write_text(bus())
    with pytest.raises(ModelError, match=r"no such file or directory; did you mean .*mysat\.toml\?"):
        load(tmp_path / "mysat")


def test_angles_of_less_than_a_turn_and_with_units_are_not_doubted() -> None:
    start = '[initial]\npanel.joint.angle = [3.8, "900 deg"]\npanel.joint.rate = [40, 0]'
    axes = "axes = [[1, 0, 0], [0, 1, 0]]"
    loads(panel('kind = "universal"', axes, "rest = [-6, 6]", "stiffness = 500", more=start))
    loads(panel('kind = "prismatic"', "axis = [1, 0, 0]", "rest = 45", more="[initial]\npanel.joint.displacement = 30"))


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes('name = "flèche"'.encode("latin-1"))
    for path, words in (
        (tmp_path / "absent.toml", "no such file"),
        (tmp_path, "directory"),
        (tmp_path / "latin.toml", "is not UTF-8 text: byte 0xe8 at offset 10"),
        ("zero\0byte.toml", "cannot be read"),
    ):
        with pytest.raises(ModelError) as caught:
            load(path)
        assert caught.value.source == str(path)
        assert words in str(caught.value)


NUMBERS = [0, -1, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 10**25, True]
WORDS = ["", "1 kg", "spherical", "free", "bus", "inertial", "\0", "é", "pin", "weld", "bus.x"]
LISTS = [
    [],
    [0, 0, 0],
    [1, 0, 0],
    [1e200, 1e200, 1e-200],
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    [[]],
    [[[1]]],
    [1, 2, 3, 4],
]
TABLES = [{}, {"a": 1}, {"quaternion": [1e-300, 0, 0, 0]}, {"sequence": "", "angles": []}]
VALUES = st.sampled_from([*NUMBERS, *WORDS, *LISTS, *TABLES])
KEYS = st.sampled_from(
    ["mbdy", "name", "system", "body", "initial", "loop", "bus", "panel", "mass", "com", "inertia", "joint", "wheel",
     "node", "flex", "to", "kind", "at", "frame", "axis", "axes", "sequence", "translation", "rotation", "stiffness",
     "damping", "rest", "motion", "x", "omega", "attitude", "tensor", "a b", "", "a", "b", "rows", "distance",
     "closed", "frequencies", "coupling", "shape", "beam", "plate", "file", "reduce", "length", "modes", "displacement"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.lists(KEYS, min_size=1, max_size=5), VALUES), min_size=1, max_size=4))
def test_nothing_but_model_errors(changes: list[tuple[list[str], object]]) -> None:
    """Files that are wrong in any way are answered with faults, or taken."""
    raw = tomlkit.parse(
        hinged('frame = { sequence = "z", angles = [1] }', more="[initial]\nbus.omega = [1, 0, 0]")
    ).unwrap()
    for keys, value in changes:
        table = raw
        for key in keys[:-1]:
            if not isinstance(table.get(key), dict):
                table[key] = {}
            table = table[key]
        table[keys[-1]] = copy.deepcopy(value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        with contextlib.suppress(ModelError):
            loads(tomlkit.dumps(raw))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([boom(), beam(), bars()]), st.data())
def test_nothing_but_model_errors_of_flexible_bodies_and_loops(text: str, data: st.DataObject) -> None:
    """Any value in the place of any other."""
    raw = tomlkit.parse(text).unwrap()
    for _ in range(data.draw(st.integers(1, 3))):
        table: Any = raw
        place: Any = raw
        key: Any = "mbdy"
        while isinstance(table, dict | list) and table and data.draw(st.integers(0, 3)) < 3:
            keys = list(table) if isinstance(table, dict) else range(len(table))
            place, key = table, data.draw(st.sampled_from(keys))
            table = place[key]
        place[key] = copy.deepcopy(data.draw(VALUES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        with contextlib.suppress(ModelError):
            loads(tomlkit.dumps(raw))


@pytest.mark.parametrize("place", ["body", "loop", "body.bus.wheel", "body.bus.node"])
def test_there_is_a_most_of_bodies_and_their_parts(place: str) -> None:
    text = bus("") + "".join(f"[{place}.a{k}]\n" for k in range(10_001 - (place == "body")))
    with pytest.raises(ModelError, match=rf"\b{place}: has 10001 entries, more than 10000; split the system"):
        loads(text)
