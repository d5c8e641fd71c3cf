"""Odd files and odd values of options: every command ends with one status and words, none in a traceback."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import pytest

from app.odd_input import ALONE, ANY, GOOD, OPTIONS, files, tables
from fmu.ssp_cases import described
from mbdy.app.main import main

MODEL_COMMANDS = ("check", "simulate", "linearize", "verify", "fmu", "ssp")
LONGEST = 30
"""[s] A command that refuses does not take longer."""
MOST_WORDS = 100_000
WITHOUT_LINE = ("empty", "utf16", "header-alone", "no-time", "quote", "unknown", "output")
"""Tables of which no line is wrong but all, or the header."""


@pytest.fixture
def refused(tmp_path: Path, monkeypatch, mbdy):
    """``refused(*words)``: a command is refused, with words on stderr and as JSON where it was asked for."""
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD)
    described(Path("c.fmu"))

    def run(*words: str) -> str:
        begun = time.monotonic()
        said = mbdy(*words)
        assert said.status in (1, 2), (words, said)
        assert 0 < len(said.err.strip()) < MOST_WORDS, (words, said.err[:1000])
        assert time.monotonic() - begun < LONGEST, words
        if "--json" in words:
            told = json.loads(said.out)
            assert (told["ok"], bool(told["error"])) == (False, True), words
        return said.err

    return run


def _model(command: str, path: str) -> list[str]:
    return [command, path, *(["--controller", "c.fmu"] if command == "ssp" else []), "--json"]


@pytest.mark.slow
def test_odd_models_are_refused(refused):
    assert len(files()) > 200
    for data in files().values():
        Path("odd.toml").write_bytes(data)
        told = refused(*_model("check", "odd.toml"))
        assert "odd.toml" in told or "bus" in told


@pytest.mark.slow
@pytest.mark.parametrize("command", MODEL_COMMANDS[1:])
def test_every_command_refuses_odd_models(command: str, refused):
    for data in files().values():
        Path("odd.toml").write_bytes(data)
        refused(*_model(command, "odd.toml"))


@pytest.mark.parametrize("command", MODEL_COMMANDS)
def test_odd_paths_and_options_are_refused(command: str, refused):
    for path in ANY.values():
        refused(*_model(command, path))
    for options in OPTIONS[command]:
        refused(command, "good.toml", *options, "--json")
    assert Path("good.toml").read_text() == GOOD
    assert {path.name for path in Path().iterdir()} == {"good.toml", "c.fmu"}


def test_odd_input_tables_are_refused_by_name_and_line(refused):
    for name, data in tables().items():
        Path("table.csv").write_bytes(data)
        told = refused("simulate", "good.toml", "--input", "table.csv", "--json")
        assert "table.csv" in told, name
        assert "line" in told or name in WITHOUT_LINE, told
    for name, hint in (("semicolons", "part them by commas"), ("quoted-commas", "with a point, 1.5")):
        Path("table.csv").write_bytes(tables()[name])
        assert hint in refused("simulate", "good.toml", "--input", "table.csv")


def test_commands_without_a_model_are_refused(refused):
    for words in ALONE:
        refused(*words)


def test_files_that_may_not_be_read(refused):
    Path("secret.toml").write_text(GOOD)
    Path("secret.toml").chmod(0)
    try:
        Path("secret.toml").read_bytes()
    except PermissionError:
        assert "secret.toml" in refused("check", "secret.toml", "--json")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps folders that are in use")
def test_a_folder_that_is_gone(satellite: Path, tmp_path: Path, monkeypatch, mbdy):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in (
        ("simulate", satellite, "-o", "run.csv"),
        ("fmu", satellite),
        ("linearize", satellite, "-o", "x.npz"),
    ):
        said = mbdy(*words)
        assert (said.status, said.err) == (2, "error: the current folder: No such file or directory\n")


def test_a_fault_that_nobody_foresaw_is_kept_in_a_file(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mbdy", "check", "x.toml", "--json"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("mbdy.app.check.load_model", lambda path: 1 / 0)
    monkeypatch.setattr(sys.modules["mbdy.app.main"], "end_on_terminate", lambda: None)
    with pytest.raises(SystemExit, match="1"):
        main()
    said = capsys.readouterr()
    (kept,) = tmp_path.glob("mbdy-fault-*.txt")
    assert "ZeroDivisionError" in kept.read_text()
    assert "Traceback" not in said.err
    assert f"please report it with {kept}" in said.err
    assert json.loads(said.out)["ok"] is False
