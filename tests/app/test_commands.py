"""Every command: its help, its exit statuses, what it says to machines, and odd terminals."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bad_models import BAD_MODELS, WARNED_MODELS, bus
from mbdy.app.check import check
from mbdy.app.common import program, quoted, version
from mbdy.app.main import EXAMPLES
from mbdy.app.options import IntegratorName
from mbdy.app.progress import busy
from mbdy.engine import load
from mbdy.engine.core.integrators import INTEGRATORS
from mbdy.engine.model.text import visible

COMMANDS = [command.__name__ for command in EXAMPLES]
LONGEST = 120
"""[s] A command that takes longer hangs."""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_options_and_an_example(command: str, mbdy):
    said = mbdy(command, "--help")
    assert said.status == 0
    assert f"Example: mbdy {command}" in " ".join(said.out.split())
    assert "--json" in said.out
    assert mbdy(command, "-h").out == said.out


def test_the_program_alone_shows_its_commands(mbdy):
    said = mbdy()
    assert all(command in said.out + said.err for command in COMMANDS)
    assert mbdy("--help").status == 0
    assert mbdy("--version").out == f"mbdy {version()}\n"


def test_integrators_are_those_of_the_core():
    assert [one.value for one in IntegratorName] == list(INTEGRATORS)


@pytest.mark.parametrize(
    "words",
    [("nonsense",), ("check",), ("simulate", "x.toml", "--nonsense"), ("simulate", "x.toml", "--integrator", "euler")],
)
def test_a_wrong_command_line_is_bad_input(words, mbdy):
    assert mbdy(*words).status == 2


def test_nothing_heavy_is_imported_to_start(environment):
    heavy = ("casadi", "numpy", "plotly", "fmpy", "pint", "pydantic")
    code = f"import sys, mbdy.app.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_new_writes_a_model_that_checks_and_names_itself(tmp_path: Path, monkeypatch, mbdy):
    monkeypatch.chdir(tmp_path)
    said = mbdy("new", "mysat")
    assert (said.status, said.out) == (0, "wrote mysat.toml\n")
    assert load("mysat.toml").name == "mysat"
    checked = mbdy("check", "mysat.toml")
    assert (checked.status, checked.err) == (0, "")
    assert mbdy("new", "deep/er/sat.toml", "--json").json == {"ok": True, "file": str(Path("deep/er/sat.toml"))}
    assert load("deep/er/sat.toml").name == "sat"


def test_new_keeps_what_is_there(tmp_path: Path, monkeypatch, mbdy):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text("precious")
    said = mbdy("new", "mine")
    assert said.status == 2
    assert "--force" in said.err
    assert Path("mine.toml").read_text() == "precious"
    assert mbdy("new", "mine", "--force").status == 0
    assert load("mine.toml").bodies
    assert mbdy("new", tmp_path).status == 2


@pytest.mark.parametrize("name", ['quo"ted', "back\\slash", "näme", "new\nline"])
def test_new_takes_odd_names(name: str, tmp_path: Path, mbdy):
    try:
        said = mbdy("new", tmp_path / name)
    except OSError:
        pytest.skip("no such file name on this system")
    assert said.status == 0
    assert load(tmp_path / f"{name}.toml").name == name


def test_check_shows_the_tree_and_the_totals(satellite: Path, mbdy):
    said = mbdy("check", satellite)
    assert (said.status, said.err) == (0, "")
    for part in (
        "bus  free",
        "left  revolute",
        "wheels x, y, z",
        "136 kg",
        "degrees of freedom  8, and 3 wheels",
        "no faults",
    ):
        assert part in said.out


def test_check_shows_no_rounding(tmp_path: Path, mbdy):
    """A turned bus: products of inertia and a mass centre that are zero but for rounding."""
    file = tmp_path / "turned.toml"
    file.write_text(
        'mbdy = 1\n[body.a]\nmass = 3\ninertia = [1, 2, 3]\njoint = { to = "inertial", kind = "free" }\n'
        '[body.b]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = "a", kind = "fixed", at = [0, 0.7, 0] }\n'
        '[body.c]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = "a", kind = "fixed", at = [0, -0.7, 0] }\n'
        "[initial]\na.attitude = [0.1, 0.2, 0.3, 0.927361849549570]\na.position = [0.3, 0.2, 0.1]\n"
    )
    said = mbdy("check", file, "--json").json
    inertia, centre = said["totals"]["inertia"], said["totals"]["centre_of_mass"]
    assert [inertia[i][j] for i in range(3) for j in range(3) if i != j] == [0.0] * 6
    assert centre == [0.0, 0.0, 0.0]


def test_check_for_machines(satellite: Path, mbdy):
    told = mbdy("check", satellite, "--json").json
    assert told["ok"]
    assert [body["name"] for body in told["bodies"]] == ["bus", "left", "right"]
    assert told["counts"]["states"] == 13 + 2 + 2 + 3
    assert told["totals"]["mass"] == pytest.approx(136.0)
    assert told["totals"]["axes"] == "bus"
    assert told["warnings"] == []


def test_check_adds_inertias_at_the_start(tmp_path: Path, mbdy):
    """Two point-like bodies 2 m apart on a turned bus: parallel axes, in the axes of the bus."""
    (tmp_path / "two.toml").write_text(
        'mbdy = 1\n[body.a]\nmass = 3\ninertia = [1, 2, 3]\njoint = { to = "inertial", kind = "free" }\n'
        '[body.b]\nmass = 1\ninertia = [1, 1, 1]\njoint = { to = "a", kind = "fixed", at = [0, 0, 2] }\n'
        "[initial]\na.attitude = [0.6, 0.8, 0, 0]\na.position = [7, 8, 9]\n"
    )
    totals = mbdy("check", tmp_path / "two.toml", "--json").json["totals"]
    assert totals["centre_of_mass"] == pytest.approx([0, 0, 0.5])
    assert totals["principal_moments"] == pytest.approx([4, 2 + 3, 3 + 3])
    assert totals["inertia"][0] == pytest.approx([2 + 3, 0, 0], abs=1e-12)


@pytest.mark.parametrize(("text", "path", "fragment"), [pytest.param(*bad[1:], id=bad[0]) for bad in BAD_MODELS])
def test_a_bad_model_is_told_with_its_place(text: str, path: str, fragment: str, tmp_path: Path, mbdy):
    file = tmp_path / "bad.toml"
    file.write_text(text, encoding="utf-8")
    said = mbdy("check", file, "--json")
    assert said.status == 2
    assert re.search(rf"{re.escape(str(file))}: (line \d+: )?{re.escape(path)}", said.err)
    assert fragment in said.err
    told = said.json
    assert not told["ok"]
    faults = [f for f in told["faults"] if f["path"] == path and fragment in f"{f['message']}; {f['remedy']}"]
    assert faults
    assert all(f["line"] is None or f"line {f['line']}: {path}" in said.err for f in faults)


@pytest.mark.parametrize(("text", "path", "fragment"), [pytest.param(*odd[1:], id=odd[0]) for odd in WARNED_MODELS])
def test_an_odd_model_is_taken_with_a_warning(text: str, path: str, fragment: str, tmp_path: Path, mbdy):
    file = tmp_path / "odd.toml"
    file.write_text(text, encoding="utf-8")
    said = mbdy("check", file, "--json")
    assert said.status == 0
    assert re.match(rf"warning: {re.escape(str(file))}: line \d+: {re.escape(path)}", said.err)
    assert len(said.json["warnings"]) == 1
    assert fragment in said.json["warnings"][0]


def test_letters_that_act_are_shown_as_escapes(satellite: Path, mbdy):
    """ESC, right-to-left and line ends in the names of a model, of files and of columns, in all that is answered."""
    Path("a\x1b[31m\nb").mkdir()
    model, table = Path("a\x1b[31m\nb") / "it\u202e.toml", Path("in\x85.csv")
    named = satellite.read_text(encoding="utf-8").replace('name = "satellite"', r'name = "\u001b[2J\u202esat\u009b"')
    model.write_text(named, encoding="utf-8")
    table.write_text("time,bus\x1b]0;title\x07\n0,1\n", encoding="utf-8")
    short = ("--until", "0.01")
    answers = [
        mbdy("check", model),
        mbdy("simulate", model, *short, "-o", Path("out\x07.csv"), "--report", "run.html"),
        mbdy("simulate", model, *short, "--input", table),
        mbdy("linearize", model),
        mbdy("fmu", Path("no\x1bsuch.toml")),
        mbdy("new", model),
    ]
    assert [said.status for said in answers] == [0, 0, 2, 0, 2, 2]
    page = re.sub(r"<script.*?</script>", "", Path("run.html").read_text(encoding="utf-8"), flags=re.DOTALL)
    for text in (*(said.out + said.err for said in answers), page):
        assert "\\x1b" in text
        assert visible(text, keep="\n") == text


def test_all_faults_are_told_at_once(tmp_path: Path, mbdy):
    file = tmp_path / "bad.toml"
    file.write_text(bus("colour = 3", mass="mass = -2"), encoding="utf-8")
    for command in ("check", "simulate", "fmu"):
        said = mbdy(command, file)
        assert said.status == 2
        assert "body.bus.mass" in said.err
        assert "body.bus.colour" in said.err
        assert f"2 faults in {file}" in said.err


@pytest.mark.parametrize("command", ["check", "simulate", "fmu"])
def test_a_file_that_cannot_be_read_is_bad_input(command: str, tmp_path: Path, monkeypatch, mbdy):
    monkeypatch.chdir(tmp_path)
    missing = mbdy(command, "nosuch.toml")
    assert missing.status == 2
    assert "nosuch.toml: cannot be read" in missing.err
    assert mbdy(command, tmp_path).status == 2
    Path("mysat.toml").write_text(bus(), encoding="utf-8")
    assert "did you mean mysat.toml?" in mbdy(command, "mysat").err


def test_long_work_says_its_stages_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr("mbdy.app.progress.PIPE_PATIENCE", 0.0)
    with busy("exporting") as tell:
        time.sleep(0.2)
        for stage in ("win64: compiling", "win64: compiling", "win64: linking"):
            tell(0.5, stage)
    assert capsys.readouterr().err == "exporting: win64: compiling\nexporting: win64: linking\n"
    monkeypatch.setattr("mbdy.app.progress.PIPE_PATIENCE", 60.0)
    with busy("exporting") as tell:
        tell(0.5, "win64: compiling")
    assert capsys.readouterr().err == ""


def test_next_steps_can_be_typed_as_they_are_shown(tmp_path: Path, monkeypatch, mbdy):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    assert "mbdy check 'my sat.toml'" in mbdy("new", "my sat").err
    bin_folder = tmp_path / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    script = bin_folder / "mbdy"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    for argv0, path, expected in (
        (".venv/bin/mbdy", "", ".venv/bin/mbdy"),
        (str(script), str(bin_folder), "mbdy"),
        ("mbdy", str(bin_folder), "mbdy"),
    ):
        monkeypatch.setattr(sys, "argv", [argv0, "demo"])
        monkeypatch.setenv("PATH", path)
        assert program() == expected
    monkeypatch.setattr(sys, "argv", ["/lib/mbdy/__main__.py"])
    assert program() == f"{quoted(sys.executable)} -m mbdy"
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert program() == "uv run mbdy"


def test_a_process_of_its_own(satellite: Path, process):
    assert process("--version").out.startswith("mbdy ")
    assert process("check", satellite).status == 0
    assert process("check", "nosuch.toml").status == 2
    missing = process("simulate", satellite, "--set", "bus.omga=1")
    assert missing.status == 2
    assert "bus.omega" in missing.err


def test_a_terminal_without_unicode(satellite: Path, process):
    satellite.write_text(satellite.read_text(encoding="utf-8").replace('"satellite"', '"spät ☃"'), encoding="utf-8")
    checked = process("check", satellite, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert checked.status == 0
    assert "sp?t ?" in checked.out
    assert "+-- left" in checked.out
    ran = process("simulate", satellite, "--until", "0.1", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert ran.status == 0
    assert "bus.omega" in ran.out


def test_without_a_compiler_a_run_is_refused(satellite: Path, process):
    said = process("simulate", satellite, "--until", "0.01", "--json", MBDY_CC="none")
    assert said.status == 2
    assert said.err == "error: MBDY_CC=none is set, so no C compiler is used; unset MBDY_CC\n"
    assert said.json["error"] in said.err
    assert process("new", "mysat", MBDY_CC="none").status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a process there cannot be sent Ctrl-C alone")
@pytest.mark.parametrize(
    ("how", "status"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_an_interrupted_run_keeps_its_rows(satellite: Path, environment, how: signal.Signals, status: int):
    command = [sys.executable, "-m", "mbdy", "simulate", str(satellite)]
    for _ in range(2):  # the first compiles, the second says how long a start takes here
        begin = time.monotonic()
        subprocess.run([*command, "--until", "0.1"], env=environment, check=True, capture_output=True)
        start_up = 1.0 + 2.0 * (time.monotonic() - begin)
    long = [*command, "--until", "1e6", "--every", "0.1", "--outputs", "bus.omega", "-o", "run.csv"]
    out, err = ended(long, environment, how, start_up, status)
    assert "interrupted" in err
    if "rows up to" in err:  # on a slow machine it may not have begun
        assert Path("run.csv").read_text(encoding="utf-8").startswith("time,bus.omega[1]")
        assert "ended early" in out


@pytest.mark.skipif(sys.platform == "win32", reason="a process there cannot be sent Ctrl-C alone")
@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_compile_ends_at_once(satellite: Path, environment, tmp_path: Path, how: signal.Signals, status: int):
    """By a compiler that never ends, and children of it as drivers have."""
    script = tmp_path / "cc"
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && exit\ntouch begun\nsleep 1000\n', encoding="utf-8")
    script.chmod(0o755)
    cores = tmp_path / "cores"
    command = [sys.executable, "-m", "mbdy", "simulate", str(satellite), "--until", "1", "-o", "run.csv"]
    environment = environment | {"MBDY_CC": str(script), "MBDY_CACHE": str(cores)}
    ended(command, environment, how, lambda: any(cores.glob("*/begun")), status)
    assert list(cores.iterdir()) == []
    assert not Path("run.csv").exists()


def ended(
    command: list[str], environment: dict[str, str], how: signal.Signals, when: float | Callable[[], bool], status: int
) -> tuple[str, str]:
    """What a command says that is sent a signal after some seconds, or once something holds."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background, by children too
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        signal.signal(signal.SIGINT, before)
        if callable(when):
            while not when() and running.poll() is None:
                time.sleep(0.05)
        else:
            time.sleep(when)
        running.send_signal(how)
        out, err = running.communicate(timeout=LONGEST)
    assert running.returncode == status, err
    assert "Traceback" not in err
    return out, err


def test_commands_say_faults_that_nobody_foresaw(monkeypatch, satellite: Path, mbdy):
    """A mistake of ours is not dressed up as one of the person's."""
    monkeypatch.setattr("mbdy.app.check.load_model", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        mbdy("check", satellite)
    assert check.__name__ == "check"
