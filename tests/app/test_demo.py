"""`mbdy demo`: the whole way from the example's files to a report."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from mbdy.app import example_folder

SAME = 1e-12
"""The FMU runs the block's own core: only the rounding of sample times may differ."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory, mbdy):
    folder = tmp_path_factory.mktemp("demo") / "mbdy-demo"
    return folder, mbdy("demo", "--folder", folder, "--json")


def test_the_demo_turns_the_satellite_to_its_target(shown):
    _, said = shown
    assert said.status == 0
    results = said.json["results"]
    assert math.degrees(results["attitude_error_start"]) == pytest.approx(46, abs=1)
    assert math.degrees(results["attitude_error_end"]) < 0.1
    assert results["rate_end"] < results["rate_start"]
    assert results["momentum_drift"] < 1e-10
    assert results["work_residual"] < 1e-10


def test_the_largest_are_between(shown):
    results = shown[1].json["results"]
    for what in ("attitude_error", "rate", "panel_angle"):
        assert results[f"{what}_largest"] >= max(results[f"{what}_start"], results[f"{what}_end"])


def test_the_fmu_is_the_block(shown):
    assert shown[1].json["results"]["fmu_against_block"] <= SAME


def test_the_files_are_there(shown):
    folder, said = shown
    for path in said.json["files"].values():
        assert Path(path).stat().st_size > 10_000
    assert (folder / "satellite.toml").read_bytes() == (example_folder() / "satellite.toml").read_bytes()
    assert "stepped by FMPy" in (folder / "report.html").read_text(encoding="utf-8")
    assert len((folder / "run.csv").read_text(encoding="utf-8").splitlines()) == 1 + 601


def test_changed_files_are_kept_and_their_mistakes_told(shown, mbdy):
    folder, _ = shown
    controller = folder / "controller.py"
    good = controller.read_text(encoding="utf-8")
    try:
        for text, fragment in (
            ("def f(:", "line 1: SyntaxError"),
            ("TARGET = 1", "must define make_controller"),
            (good + "\n\ndef make_controller():\n    return lambda t, y: {'bus.torque': 1 / 0}\n", "ZeroDivisionError"),
            (good + "\n\ndef make_controller():\n    return lambda t, y: {'bus.tork': 1}\n", "bus.tork"),
            (good + "\n\ndef make_controller():\n    return lambda t, y: {'bus.torque': y['bus.omga']}\n", "bus.omga"),
            (good + "\n\ndef make_controller():\n    return lambda t, y: {'bus.torque': 1.0}\n", "bus.torque"),
        ):
            controller.write_text(text, encoding="utf-8")
            said = mbdy("demo", "--folder", folder)
            assert said.status == 2
            assert fragment in said.err
            assert controller.read_text(encoding="utf-8") == text
    finally:
        controller.write_text(good, encoding="utf-8")


def test_a_folder_that_is_a_file(tmp_path: Path, mbdy):
    (tmp_path / "taken").write_text("")
    assert mbdy("demo", "--folder", tmp_path / "taken").status == 2


def test_what_a_full_disk_does_not_take_is_named_and_leaves_nothing(tmp_path: Path, mbdy):
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        said = mbdy("demo", "--folder", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (said.status, said.err) == (1, f"error: {tmp_path / 'README.md'}: File too large\n")
    assert list(tmp_path.iterdir()) == []
