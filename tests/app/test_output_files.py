"""Where commands write: standard output, pipes, devices, links, full disks; what is there stays whole."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fmu.ssp_cases import described

ENDINGS = {"simulate": "csv", "report": "html", "fmu": "fmu", "linearize": "npz", "verify": "md", "ssp": "ssp"}
"""Of what is written, by names of commands (a report is one that ``simulate`` writes)."""
COMMANDS = tuple(ENDINGS)
SHORT = ("--until", "0.01")
MOMENTS = 10
FULL = 64 * 1024
"""[bytes] What a disk that is nearly full takes of a file."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices, links and limits of POSIX")


def words(command: str, model: Path) -> list[object]:
    """A short run of ``command`` but for the output, whose option comes last."""
    controller = described(Path("controller.fmu")) if command == "ssp" else None
    return {
        "simulate": ["simulate", model, *SHORT, "-o"],
        "report": ["simulate", model, *SHORT, "--report"],
        "fmu": ["fmu", model, "-o"],
        "linearize": ["linearize", model, "-o"],
        "verify": ["verify", model, "--states", 0, "--report"],
        "ssp": ["ssp", model, "--controller", controller, "-o"],
    }[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dash_is_standard_output(command: str, satellite: Path, environment):
    """What is written there is the file, and nothing else."""
    from mbdy.app.output_files import STREAM

    line = [sys.executable, "-m", "mbdy", *map(str, words(command, satellite)), STREAM]
    done = subprocess.run(line, env=environment, capture_output=True, check=True)
    out = done.stdout
    assert b"wrote /dev/stdout" in done.stderr
    if command == "simulate":
        lines = out.decode().splitlines()
        assert lines[0].startswith("time,")
        assert len({line.count(",") for line in lines}) == 1
        assert len(lines) == 12
        assert b"changes and residual" in done.stderr
    elif command in ("fmu", "ssp"):
        assert zipfile.ZipFile(io.BytesIO(out)).testzip() is None
    elif command == "linearize":
        assert json.loads(out)["name"] == "satellite"
    else:
        begin, end = {"verify": (b"# Verification", b"of them.\n"), "report": (b"<!DOCTYPE", b"</html>\n")}[command]
        assert out.startswith(begin)
        assert out.endswith(end)


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_two_answers_do_not_share_standard_output(name: str, satellite: Path, mbdy):
    for more in (("-o", name, "--json"), ("-o", name, "--report", name)):
        said = mbdy("simulate", satellite, *SHORT, *more)
        assert said.status == 2
        assert "give a file name" in said.err or "give another file name" in said.err


def test_names_that_differ_in_their_letters_alone_are_one(satellite: Path, mbdy):
    """Some systems do not tell them apart, and say so only when there is a file."""
    said = mbdy("simulate", satellite, *SHORT, "-o", "run", "--report", "RUN")
    assert said.status == 2
    assert "--report: RUN is named for something else already" in said.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_device_is_told_by_name(command: str, satellite: Path, mbdy):
    said = mbdy(*words(command, satellite), "/dev/full")
    assert said.status == 1
    assert "/dev/full: No space left on device" in said.err


def test_a_full_standard_output_is_told(satellite: Path, environment):
    command = [sys.executable, "-m", "mbdy", *map(str, words("simulate", satellite)), "-"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"/dev/stdout: No space left on device" in done.stderr
    assert b"Exception" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_named_pipe_is_written_through(command: str, satellite: Path, mbdy):
    os.mkfifo("pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    assert mbdy(*words(command, satellite), "pipe").status == 0
    reader.join(10)
    assert len(read[0]) > 1000


@pytest.mark.parametrize("command", COMMANDS)
def test_links_stay_and_are_written_through(command: str, satellite: Path, mbdy):
    ending = {"simulate": "csv", "report": "html", "fmu": "fmu", "linearize": "npz", "verify": "md", "ssp": "ssp"}[
        command
    ]
    link, place, circle = (Path(f"{name}.{ending}") for name in ("link", "place", "circle"))
    link.symlink_to(place)
    circle.symlink_to(circle)
    line = words(command, satellite)
    assert mbdy(*line, link).status == 0
    assert link.is_symlink()
    assert place.stat().st_size > 1000
    said = mbdy(*line, circle)
    assert said.status == 2
    assert "circle" in said.err
    assert circle.is_symlink()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", ["same", "hard", "soft", "longer"])
def test_a_model_is_not_written_over_by_another_name(command: str, how: str, satellite: Path, mbdy):
    text = satellite.read_text(encoding="utf-8")
    ending = ENDINGS[command]
    model = satellite.rename(satellite.with_suffix(f".{ending}"))
    other = Path(f"other.{ending}")
    if how == "hard":
        other.hardlink_to(model)
    elif how == "soft":
        other.symlink_to(model)
    else:
        other = model if how == "same" else Path("..") / model.parent.name / model.name
    said = mbdy(*words(command, model), other)
    assert said.status == 2
    assert "is named for something else already; give another file name" in said.err
    assert model.read_text(encoding="utf-8") == text


@contextmanager
def nearly_full_disk() -> Iterator[None]:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("command", ["simulate", "report", "fmu", "ssp"])
def test_what_a_full_disk_does_not_take_leaves_the_old_file(command: str, satellite: Path, mbdy):
    """Python ignores the signal of the limit, so that writing fails as on a full disk."""
    file = Path(f"it.{ENDINGS[command]}")
    line = [*words(command, satellite), file]
    if command == "simulate":
        line[2:4] = ["--until", "0.1"]
    assert mbdy(*line).status == 0
    assert file.stat().st_size > FULL
    file.write_bytes(b"old")
    before = set(os.listdir())
    with nearly_full_disk():
        said = mbdy(*line)
    assert said.status == 1
    assert "File too large" in said.err
    assert file.read_bytes() == b"old"
    assert set(os.listdir()) == before


@pytest.mark.slow
def test_a_signal_at_any_moment_leaves_files_whole(satellite: Path, environment, tmp_path: Path):
    """While it starts, compiles, runs and writes; what interrupted builds left is no harm to the next."""
    environment = environment | {"MBDY_CACHE": str(tmp_path / "cores")}
    command = [
        sys.executable, "-m", "mbdy", "simulate", str(satellite), "--until", "20", "--every", "0.002", "-o", "run.csv",
        "--report", "run.html",
    ]  # fmt: skip
    begin = time.monotonic()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    whole = time.monotonic() - begin
    moments = random.Random(14)
    for k in range(MOMENTS):
        how = (signal.SIGINT, signal.SIGTERM)[k % 2]
        for file in Path("run.csv"), Path("run.html"):
            file.write_text("old\n", encoding="utf-8")
        if moments.random() < 0.5:
            subprocess.run([sys.executable, "-m", "mbdy", "cache", "--clear"], env=environment, check=True)
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            time.sleep(moments.uniform(0.0, whole))
            running.send_signal(how)
            _, err = running.communicate(timeout=60)
        assert running.returncode in (0, 128 + how, -how), err
        assert running.returncode == -how or b"Traceback" not in err
        table = Path("run.csv").read_text(encoding="utf-8")
        assert table == "old\n" or len({line.count(",") for line in table.splitlines()}) == 1
        assert table.endswith("\n")
        page = Path("run.html").read_text(encoding="utf-8")
        assert page == "old\n" or page.endswith("</html>\n")
        assert {file.name for file in tmp_path.iterdir()} <= {"satellite.toml", "run.csv", "run.html", "cores"}
    subprocess.run(command, env=environment, check=True, capture_output=True)
