"""What the doors give shows itself on one screen, and passes a type checker as a person uses it."""

from __future__ import annotations

import math
from html.parser import HTMLParser
from pathlib import Path

from mbdy.blocks import Plant, simulate
from mbdy.engine import linearize, load, ports, trim, verify

SATELLITE = Path(__file__).parents[2] / "examples/quickstart/satellite.toml"


def test_one_screen_each() -> None:
    model, plant, linear = load(SATELLITE), Plant(SATELLITE), linearize(SATELLITE)
    run, checked = simulate(plant, until=0.1, every=0.05), verify(SATELLITE, states=1)
    point, modes = trim(SATELLITE, tolerance=1e-5), linear.modes()
    for thing in (model, plant, linear, run, checked, point, modes[0], ports(model), plant.save(), plant.outputs()):
        assert 10 < len(repr(thing)) < 600
        assert "\n" not in repr(thing)
    for thing in (model, plant, linear, run, checked, modes, ports(model), plant.outputs()):
        page = thing._repr_html_()
        assert page.count("<tr>") <= 26
        HTMLParser().feed(page)
    assert repr(model).startswith(f"<Model {model.name!r}: 3 bodies; bus, ")


def controller(t: float, y) -> dict[str, object]:
    return {"bus.torque": -0.1 * y["bus.omega"], "log.rate": y["bus.omega"][0]}


def test_values_are_used_without_a_word_from_a_type_checker() -> None:
    plant = Plant(SATELLITE)
    y = plant.step("10 ms")
    first: float = y["bus.omega"][0]
    angle: float = y["right_panel.joint.angle"]
    mass: float = plant["right_panel.mass"]
    plant["bus.torque"] = [1, "2 N*m", 0.5]
    run = simulate(SATELLITE, until="0.1 s", every="50 ms", controller=controller, sample=0.05, record=["bus.torque"])
    last = math.degrees(run["bus.omega"][-1, 0]) + first + angle + mass
    named: dict[str, float] = {name: float(run[name].max()) for name in run}
    assert math.isfinite(last)
    assert named["time"] == 0.1
