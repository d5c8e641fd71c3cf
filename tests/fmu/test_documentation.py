"""documentation/index.html: whole, safe whatever a model is called, and with a drawing of the tree."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from example_models import EXAMPLES
from fmu.client import satellite
from fmu.described import model_of
from fmu.flexible_systems import docking, flexible_four_bar, with_boom
from mbdy.engine import Model, ports
from mbdy.engine.model.text import visible
from mbdy.fmu.pages.documentation import page
from mbdy.fmu.pages.drawing import drawing, layout
from mbdy.fmu.table import scalars
from systems import chain, star

SVG = "{http://www.w3.org/2000/svg}"


class Reader(HTMLParser):
    """Text of a page; its elements must be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data


def read(model: Model, **how) -> Reader:
    table = scalars(ports(model), derivatives=True, independent=True)
    reader = Reader()
    reader.feed(page(model, table, 1e-3, "rk4", **how))
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("path", [None, *EXAMPLES], ids=lambda p: p.stem if p else "tests")
def test_every_variable_with_its_unit(path):
    model = model_of(path)
    text = read(model, fmi="3.0", kind="native").text
    for variable in ports(model):
        assert variable.scalar_names[0] in text
        assert variable.description in text


def test_what_stands_on_the_page():
    text = read(satellite(), kind="native").text
    for words in ("model exchange", "at most 0.001 s", "rk4", "deg/s", "rpm", "≥ 0", "der(bus.omega[1]) … [3]"):
        assert words in text
    assert "model exchange" not in read(satellite(), kind="python").text.split("Inputs")[0]


def test_arrays_stand_under_their_names():
    arrays, scalars_ = (read(satellite(), fmi="3.0", kind="native", flat=flat).text for flat in (False, True))
    for words in ("bus.force, 3 elements", "der(bus.omega), 3 elements", "system.initial.momentum, 3 elements"):
        assert words in arrays
    assert "bus.force[1]" not in arrays
    assert "bus.force[1] … [3]" in scalars_
    assert "what has elements of one unit is one variable" in arrays
    assert "each element is a variable of its own" in scalars_


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a & b \"c\" 'd'", "</svg></style>", "\x01\x0bfile"])
def test_any_name(name):
    reader = read(replace(satellite(), name=name))
    assert "script" not in reader.tags
    assert visible(name) in reader.text


@pytest.mark.parametrize(
    "model",
    [satellite(), chain(0), chain(400), star(40), with_boom(), docking(), flexible_four_bar()],
    ids=lambda m: m.name,
)
def test_the_drawing_has_each_body_beyond_its_parent(model):
    root = ElementTree.fromstring(drawing(model))
    boxes = [
        {key: float(node.get(key, "")) for key in ("x", "y", "width", "height")} for node in root.iter(f"{SVG}rect")
    ]
    assert len(boxes) == len(model.bodies) + 1
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    assert all(b["x"] + b["width"] <= width and 0 <= b["y"] <= height - b["height"] for b in boxes)
    names = [node.text for node in root.iter(f"{SVG}text")]
    assert {b.name for b in model.bodies} <= set(names)
    for place, box in zip(layout(model), boxes[1:], strict=True):
        parent = boxes[place.parent + 1]  # the first box is inertial space
        assert box["x"] >= parent["x"] + parent["width"] + 20


def test_modes_and_loops_are_shown():
    text = read(docking(), kind="native").text
    for words in ("Loops", "loop.dock.closed opens and closes it", "chaser.port", "target.port", "weld", "guesses"):
        assert words in text
    assert "Loops" not in read(with_boom(), kind="native").text
    root = ElementTree.fromstring(drawing(docking()))
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert "∿ 1 mode" in texts
    assert "dock" in texts
    assert [node.get("class") for node in root.iter(f"{SVG}path")].count("loop") == 1


def test_no_two_bodies_in_one_place():
    places = layout(star(40))
    assert len({(place.depth, place.row) for place in places}) == 41


def test_what_boxes_and_joints_say():
    texts = [node.text for node in ElementTree.fromstring(drawing(satellite())).iter(f"{SVG}text")]
    assert texts == [
        "inertial", "free", "bus", "◎ x", "• tip", "revolute", "switchable", "panel", "cylindrical", "boom",
    ]  # fmt: skip
