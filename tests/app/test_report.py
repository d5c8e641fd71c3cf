"""The report: one page that needs nothing else, with the plots that were asked for."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from mbdy.app.panels import MOST_PANELS, POINTS, sections, thinned
from mbdy.app.report import report
from mbdy.blocks import Plant, simulate
from mbdy.engine import RefusalError, load, loads
from systems import star

PANELS = re.compile(r'<script type="application/json" id="panels">(.*?)</script>', re.DOTALL)
OUTSIDE = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """What a page asks the network for, the titles of its plots and its tags that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.titles: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        for key, value in attrs:
            if (tag, key) in OUTSIDE:
                self.outside.append(value)
            if key == "id":
                self.ids.add(value)
            if tag == "a" and key == "href":
                self.links.add(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["h3"]:
            self.titles.append(data)


def panels(text: str) -> list[dict]:
    found = PANELS.search(text)
    assert found
    return json.loads(found[1])


def numbers(packed: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype="<f8")


def test_the_page_needs_nothing_else_and_has_the_plots(satellite: Path, mbdy):
    words = ("--until", "2", "--every", "0.1", "--set", "bus.mass=130 kg", "--report", "run.html")
    assert mbdy("simulate", satellite, *words).status == 0
    text = Path("run.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert page.outside == []
    assert "@import" not in text.split("</style>")[0]
    assert {link.removeprefix("#") for link in page.links} <= page.ids
    for title in (
        "bus.omega", "left.omega", "bus.attitude", "bus: Euler angles", "left.joint.angle", "left.joint.rate",
        "bus.x.speed", "Angular momentum: drift", "Linear momentum: drift", "Energy: drift", "Work balance",
    ):  # fmt: skip
        assert title in page.titles
    assert len(panels(text)) == text.count('class="canvas"')
    assert "bus.mass=130 kg" in text
    assert '130 <span class="set">set</span>' in text
    assert "<b>left</b> revolute" in text


def test_cards_say_how_far_momentum_went_and_why(satellite: Path, mbdy):
    words = ("--until", "1", "--set", "bus.torque[1]=3 N*m", "--set", "system.gravity=[0, 0, -9.81]")
    assert mbdy("simulate", satellite, *words, "--report", "run.html").status == 0
    page = Path("run.html").read_text(encoding="utf-8")
    found = re.findall(r'<div class="card number"><b>(.*?)</b><span>(.*?)</span>', page)
    cards = {label: value for value, label in found}
    angular = next(label for label in cards if label.startswith("angular momentum, largest change ("))
    assert re.fullmatch(r"angular momentum, largest change \(3 N\.m\.s\); external torques act", angular)
    assert re.fullmatch(r"\d\.?\d* × start", cards[angular])
    assert any(label.startswith("linear momentum") and label.endswith("; gravity acts") for label in cards)


def test_plots_show_the_run_in_the_units_of_people(satellite: Path):
    run = simulate(satellite, until=1.0, every=0.1)
    found = {panel.title: panel for section in sections(run) for panel in section.panels}
    omega = found["bus.omega"].data(run.time)
    assert omega["unit"] == "deg/s"
    assert [trace["name"] for trace in omega["traces"]] == ["x", "y", "z"]
    np.testing.assert_allclose(numbers(omega["traces"][1]["y"]), np.degrees(run["bus.omega[2]"]))
    np.testing.assert_array_equal(numbers(omega["traces"][1]["x"]), run.time)
    assert found["bus.x.speed"].unit == "rpm"


def test_euler_angles_are_those_of_the_quaternion(satellite: Path):
    """Turned about z by 200 degrees in steps: yaw goes on past half a turn."""
    text = satellite.read_text(encoding="utf-8").partition("[initial]")[0]
    satellite.write_text(f'{text}[initial]\nbus.omega = [0, 0, "100 deg/s"]\n', encoding="utf-8")
    run = simulate(satellite, until=2.0, every=0.1)
    angles = next(p for s in sections(run) for p in s.panels if p.title == "bus: Euler angles")
    lines = dict(angles.lines)
    assert lines["yaw"][-1] == pytest.approx(200, abs=10)
    assert (np.diff(lines["yaw"]) > 0).all()
    assert np.abs(lines["pitch"]).max() < 10


def test_names_from_the_model_cannot_break_the_page(satellite: Path, tmp_path: Path):
    name = "</script><script>alert(1)</script>"
    text = satellite.read_text(encoding="utf-8").replace('name = "satellite"', f'name = "{name}"')
    satellite.write_text(text, encoding="utf-8")
    model = load(satellite)
    run = simulate(model, until=0.1, every=0.1)
    written = report(run, model, tmp_path / "run.html", warnings=[name], settings={name: name}, title=name)
    page = written.read_text(encoding="utf-8")
    assert name not in page
    assert Page(page).open == []


def test_chosen_outputs_are_plotted_and_others_are_not(satellite: Path, mbdy):
    words = ("--until", "0.5", "--outputs", "bus.omega,bus.thruster.position", "--report", "run.html")
    assert mbdy("simulate", satellite, *words).status == 0
    titles = Page(Path("run.html").read_text(encoding="utf-8")).titles
    assert "bus.thruster.position" in titles
    assert "left.omega" not in titles
    assert "Energy: drift" in titles


def test_many_bodies_make_a_page_that_still_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    most = 4
    monkeypatch.setattr("mbdy.app.report.MOST_PANELS", most)
    assert most < MOST_PANELS
    model = star(most + 2)
    run = simulate(model, until=0.01, every=0.01)
    text = report(run, model, tmp_path / "run.html").read_text(encoding="utf-8")
    assert text.count('class="canvas"') == 4 * 1 + 3 * most
    assert "more are not drawn" in text
    assert len(panels(text)) == text.count('class="canvas"')


def test_thinning_keeps_every_peak():
    values = np.sin(np.linspace(0, 30, 100_000))
    values[54_321] = 7.0
    values[12_345] = -7.0
    rows = thinned(values)
    assert len(rows) <= POINTS
    assert {0, 12_345, 54_321, 99_999} <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()
    assert thinned(values[:POINTS]).tolist() == list(range(POINTS))
    for n in (POINTS + 1, 2 * POINTS - 3, 5 * POINTS + 17):
        assert len(thinned(np.arange(n, dtype=float))) <= POINTS


def test_commands_and_signals_of_a_controlled_run(satellite: Path, tmp_path: Path):
    def controller(t, y):
        error = np.radians(2.0) * np.exp(-t)
        return {"bus.torque": [0.0, 0.0, -error], "log.attitude_error [deg]": np.degrees(error)}

    run = simulate(satellite, until=10, every=0.1, sample=0.1, controller=controller, record=["bus.torque"])
    page = report(run, load(satellite), tmp_path / "run.html").read_text()
    error = "attitude_error, largest in the last tenth; within 2% of its largest from 4 s on"
    for text in ("Inputs and commands", "Signals", error, "bus.torque, largest", "0.0349 N.m"):
        assert text in page, text


def test_a_report_is_of_the_runs_own_model_and_not_over_its_files(tmp_path):
    source = tmp_path / "one.toml"
    text = "mbdy = 1\n[body.{}]\nmass = 1\ninertia = [1, 1, 1]\njoint = {{ to = 'inertial', kind = 'free' }}\n"
    source.write_text(text.format("one"))
    run, other = simulate(source, until=0.1), loads(text.format("other"))
    with pytest.raises(RefusalError, match=r"has no one\."):
        report(run, other, tmp_path / "page.html")
    with pytest.raises(RefusalError, match="was read for this model"):
        report(run, load(source), source)
    with pytest.raises(RefusalError, match="was read for this model"):
        Plant(source).save_state(source)
    assert source.read_text() == text.format("one")
    assert report(run, source, tmp_path / "page.html").exists()
