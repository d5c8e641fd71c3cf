"""`mbdy verify`: its table, its JSON, its evidence page and its exit statuses."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from pathlib import Path

import pytest

from example_models import each_example
from mbdy.app.pages import literal
from mbdy.engine.verification.formulations import FORMULATIONS, Formulation

HINGED = """
mbdy = 1
name = "two <hinged> bodies | free"
[body.bus]
mass = 100
inertia = [20, 25, 30]
joint = { to = "inertial", kind = "free" }
[body.panel]
mass = 5
com = [0, 1, 0]
inertia = [2, 0.5, 2.2]
joint = { to = "bus", kind = "revolute", axis = [1, 0, 0], at = [0, 0.5, 0], stiffness = 3 }
"""
OF_LOOPS = {"kamman", "penrose"}
"""Formulations for models with loops alone."""
LARGE = ("two_arm_platform",)
"""Examples for which one random state has to do: complex steps through all their bodies take seconds each."""


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that every formulation of trees covers, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pair.toml"
    path.write_text(HINGED, encoding="utf-8")
    return path


@pytest.fixture
def erring(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formulation that always says zero."""
    zero = Formulation("zero", "rest", "nobody", lambda model: (), lambda model: lambda x, u, p: 0.0 * x)
    monkeypatch.setattr(
        importlib.import_module("mbdy.engine.verification.verify"), "FORMULATIONS", {**FORMULATIONS, "zero": zero}
    )


def test_a_model_that_all_cover_agrees(mbdy, pair):
    said = mbdy("verify", pair)
    assert said.status == 0, said.err
    for name in (*FORMULATIONS, "work and energy", "linear momentum", "angular momentum"):
        assert name in said.out
    assert "Order-N agrees with 4 independent formulations and the laws hold, to 1e-10" in said.out
    assert said.out.count("not covered") == len(OF_LOOPS) == said.out.count("there are no loops")
    assert "--report" in said.err


def test_what_is_not_covered_is_said(mbdy, satellite):
    said = mbdy("verify", satellite, "--states", 2)
    assert said.status == 0, said.err
    assert "not covered" in said.out
    assert "has wheels" in said.out


def test_json_has_every_figure(mbdy, pair):
    said = mbdy("verify", pair, "--states", 3, "--seed", 5, "--json")
    assert said.status == 0
    told = said.json
    assert told["ok"] is True
    assert told["agrees"] is True
    assert (told["states"], told["seed"], told["tolerance"]) == (3, 5, 1e-10)
    assert told["sha256"] == hashlib.sha256(pair.read_bytes()).hexdigest()
    assert {"mbdy", "casadi", "numpy", "Python"} <= set(told["versions"])
    assert [item["name"] for item in told["comparisons"]] == list(FORMULATIONS)
    assert {item["name"] for item in told["comparisons"] if item["found"] is None} == OF_LOOPS
    found = [item["found"] for item in (*told["comparisons"], *told["residuals"]) if item["found"]]
    assert all(item["figure"] < 1e-10 for item in found)
    again = mbdy("verify", pair, "--states", 3, "--seed", 5, "--json").json
    assert again["residuals"] == told["residuals"]
    other = mbdy("verify", pair, "--states", 3, "--seed", 6, "--json").json
    assert other["residuals"] != told["residuals"]


def test_the_evidence_page_says_what_was_verified(mbdy, pair):
    said = mbdy("verify", pair, "--states", 3, "--report", "out/evidence.md")
    assert said.status == 0
    assert "wrote out" in said.out
    page = Path("out/evidence.md").read_text(encoding="utf-8")
    assert page.startswith("# Verification of two \\<hinged\\> bodies | free\n")
    assert "Not compared: start values and how they close loops, what a latch does and its impulses" in page
    assert "**Agreement.**" in page
    assert hashlib.sha256(pair.read_bytes()).hexdigest() in page
    for source in (made.source for made in FORMULATIONS.values()):
        assert source in page
    assert re.search(r"\| seed \| 0 \|", page)
    assert re.search(r"\| tolerance \| 1e-10", page)
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert all(len(re.split(r"(?<!\\)\|", row)) in (4, 6, 7) for row in rows)


def test_the_evidence_page_takes_a_name_literally(mbdy, pair):
    named = HINGED.replace("two <hinged> bodies | free", "a_b_c *d* `e` [f](g) # &amp; ~~h~~")
    pair.write_text(named, encoding="utf-8")
    assert mbdy("verify", pair, "--states", 1, "--report", "evidence.md").status == 0
    page = Path("evidence.md").read_text(encoding="utf-8")
    heading = r"# Verification of a\_b\_c \*d\* \`e\` \[f\](g) \# \&amp; \~\~h\~\~"
    assert page.splitlines()[:2] == [heading, ""]
    assert literal("a\n# b") == r"a \# b"


def test_a_model_without_states_has_nothing_to_compare(mbdy, pair):
    rock = 'mbdy = 1\nname = "rock"\n[body.rock]\nmass = 1\njoint = { to = "inertial", kind = "fixed" }\n'
    pair.write_text(rock, encoding="utf-8")
    said = mbdy("verify", pair, "--report", "evidence.md")
    assert said.status == 0, said.err
    assert "no states to compare" in said.out
    assert "**Nothing compared.** no states to compare" in Path("evidence.md").read_text(encoding="utf-8")
    told = mbdy("verify", pair, "--json")
    assert told.status == 0
    assert told.json["ok"] is True
    assert told.json["state_variables"] == 0
    assert all(item["found"] is None for item in (*told.json["comparisons"], *told.json["residuals"]))


@pytest.mark.parametrize("path", each_example())
def test_every_example_agrees(mbdy, path):
    states = 1 if path.parent.name in LARGE else 20
    said = mbdy("verify", path, "--states", states, "--json")
    assert said.status == 0, said.err
    assert said.json["agrees"] is True


def test_the_evidence_page_as_html(mbdy, pair):
    assert mbdy("verify", pair, "--states", 1, "--report", "evidence.html").status == 0
    page = Path("evidence.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "two &lt;hinged&gt; bodies" in page
    assert "<pre>" not in page
    for tag, least in (("h1", 1), ("h2", 4), ("table", 3), ("svg", 2), ("rect", 7)):
        assert len(re.findall(rf"<{tag}[ >]", page)) >= least


def test_the_evidence_as_json_is_what_is_said_as_json(mbdy, pair):
    said = mbdy("verify", pair, "--states", 1, "--report", "evidence.json", "--json").json
    kept = json.loads(Path("evidence.json").read_text(encoding="utf-8"))
    assert kept == {name: said[name] for name in kept}
    assert kept["agrees"] is True


@pytest.mark.parametrize("name", ["evidence.pdf", "evidence.csv", "evidence.md.gz"])
def test_other_endings_are_refused_by_name(name: str, mbdy, pair):
    said = mbdy("verify", pair, "--report", name)
    assert said.status == 2
    assert f"--report {name}: the evidence page is Markdown, HTML or JSON; give a name that ends in .md" in said.err
    said = mbdy("simulate", pair, "--report", name)
    assert said.status == 2
    assert f"--report {name}: a report is an HTML page; give --report run.html" in said.err


@pytest.mark.usefixtures("erring")
def test_a_disagreement_is_exit_status_one(mbdy, pair):
    said = mbdy("verify", pair, "--states", 2, "--report", "evidence.md")
    assert said.status == 1
    assert "beyond the tolerance of 1e-10: zero" in said.err
    page = Path("evidence.md").read_text(encoding="utf-8")
    assert "**DISAGREEMENT.**" in page
    assert "**NO**" in page
    told = mbdy("verify", pair, "--states", 2, "--json")
    assert told.status == 1
    assert told.json["ok"] is False
    assert "zero" in told.json["error"]


def test_bad_input_is_exit_status_two(mbdy, pair):
    pair.write_text(HINGED.replace("mass = 5", "mass = -5"), encoding="utf-8")
    said = mbdy("verify", pair)
    assert said.status == 2
    assert "body.panel.mass" in said.err
    assert mbdy("verify", "nowhere.toml").status == 2
    assert mbdy("verify", pair, "--states", -1).status == 2
    assert mbdy("verify", pair, "--report", ".").status == 2
    assert mbdy("verify", pair, "--report", pair).status == 2
