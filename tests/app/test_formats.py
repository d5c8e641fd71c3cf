"""Files of earlier formats keep their meaning; newer ones are refused, and what they read otherwise is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from bad_models import bus
from mbdy.engine import ModelError, dumps, load, loads
from mbdy.engine.files import formats
from mbdy.engine.files.formats import Change, read_otherwise

CHANGE = Change(3, "body.*.mass", "a plain number is in g", 'write its unit, mass = "2 kg"')


def test_a_newer_file_is_refused():
    with pytest.raises(ModelError) as caught:
        loads(bus().replace("mbdy = 1", "mbdy = 7"))
    [fault] = caught.value.faults
    assert (fault.path, fault.line) == ("mbdy", 1)
    assert "this mbdy reads up to 1: update" in str(fault)


def test_files_of_every_format_until_now_are_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(formats, "FORMAT", 3)
    for number in (1, 2, 3):
        assert loads(bus().replace("mbdy = 1", f"mbdy = {number}")).bodies
    with pytest.raises(ModelError, match="reads up to 3: update"):
        loads(bus().replace("mbdy = 1", "mbdy = 4"))


def test_what_is_written_is_of_the_newest():
    assert f"mbdy = {formats.FORMAT}\n" in dumps(loads(bus()))


def test_what_later_formats_read_otherwise_is_told(monkeypatch: pytest.MonkeyPatch):
    assert read_otherwise(bus()) == []
    monkeypatch.setattr(formats, "CHANGES", (CHANGE,))
    [fault] = read_otherwise(bus())
    assert str(fault) == f"line 3: body.bus.mass: mbdy = 3 reads this otherwise: {CHANGE.reading}; {CHANGE.remedy}"
    assert read_otherwise(bus().replace("mbdy = 1", "mbdy = 3")) == []


def test_check_tells_it(tmp_path: Path, mbdy, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "it.toml"
    path.write_text(bus(), encoding="utf-8")
    assert mbdy("check", path, "--json").json["later"] == []
    monkeypatch.setattr(formats, "CHANGES", (CHANGE,))
    assert "later: line 3: body.bus.mass: mbdy = 3 reads this otherwise" in mbdy("check", path).err
    [told] = mbdy("check", path, "--json").json["later"]
    assert (told["line"], told["path"]) == (3, "body.bus.mass")
    assert load(path).bodies
