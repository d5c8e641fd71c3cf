"""The tree of a model as drawings: for the documentation with names, for icons bodies and joints alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mbdy.engine.model.system import INERTIAL, Body, Model
from mbdy.engine.model.text import html
from mbdy.engine.model.topology import ROOT, tree

LETTER = 7.2
"""[px] Width of a letter at the drawing's 13 px."""
LINE, GAP, MARGIN = 15.0, 20.0, 8.0
"""[px] A line of a box, the room between two boxes, and that around the drawing."""
BULGE = 30.0
"""[px] How far the line of a loop goes beyond the boxes that it ends at."""
MOST_LETTERS = 26
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1d2733}.small{font-size:11px;fill:#4d5c6b}"
    ".body{fill:#e8f0f8;stroke:#1f4e79;stroke-width:1.3}.ground{fill:#eceae4;stroke:#6b6455;stroke-dasharray:4 3}"
    ".joint{fill:none;stroke:#6f7f8f;stroke-width:1.6}"
    ".loop{fill:none;stroke:#a05a2c;stroke-width:1.6;stroke-dasharray:5 4}"
)


@dataclass(frozen=True, slots=True)
class TreePlace:
    """Where a body stands: ``depth`` counts joints from inertial, rows run over the tips, a parent amid its children.

    ``parent`` is the place of its parent in the model's bodies, `ROOT` for inertial.
    """

    body: Body
    parent: int
    depth: int
    row: float


def layout(model: Model) -> tuple[TreePlace, ...]:
    """A place for each body, in the order of the model."""
    grown = tree(model)
    depth, row = [0] * len(model.bodies), [0.0] * len(model.bodies)
    tips = 0
    for body in grown.outward:
        parent = grown.parent[body]
        depth[body] = 1 if parent == ROOT else depth[parent] + 1
        if not grown.children[body]:
            row[body], tips = float(tips), tips + 1
    for body in grown.inward:
        if below := [row[child] for child in grown.children[body]]:
            row[body] = (min(below) + max(below)) / 2
    return tuple(TreePlace(b, grown.parent[i], depth[i], row[i]) for i, b in enumerate(model.bodies))


def drawing(model: Model) -> str:
    """An SVG element: each body with its wheels and nodes, on its joint, from inertial space at the left."""
    places = layout(model)
    boxes = [(INERTIAL,), *(_lines(place.body) for place in places)]
    width = LETTER * max(len(line) for lines in boxes for line in lines) + 18
    height = LINE * max(map(len, boxes)) + 13
    pitch = width + LETTER * max(max(map(len, _joint(place.body))) for place in places) + 26
    root_rows = [place.row for place in places if place.parent == ROOT]

    def corner(depth: int, row: float) -> tuple[float, float]:
        """The middle of a box's left side."""
        return MARGIN + depth * pitch, MARGIN + height / 2 + row * (height + GAP)

    ground = corner(0, (min(root_rows) + max(root_rows)) / 2)
    corners = [corner(place.depth, place.row) for place in places]
    beside = max((BULGE + LETTER * len(_short(loop.name)) for loop in model.loops), default=0.0)
    right = max(x for x, _ in corners) + width + beside + MARGIN
    bottom = max(y for _, y in corners) + height / 2 + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {right:.0f} {bottom:.0f}" role="img"><title>Bodies and joints of {html(model.name)}</title>',
        f"<style>{STYLE}</style>",
        *_box(ground, (width, height), boxes[0], "ground"),
    ]
    for place, at, lines in zip(places, corners, boxes[1:], strict=True):
        start = ground if place.parent == ROOT else corners[place.parent]
        parts += _link((start[0] + width, start[1]), at, _joint(place.body))
        parts += _box(at, (width, height), lines, "body")
    for loop in model.loops:
        ends = [ground if side.body == INERTIAL else corners[model.index[side.body]] for side in (loop.a, loop.b)]
        parts += _loop([(x + width, y + height / 4) for x, y in ends], _short(loop.name))
    return "\n".join([*parts, "</svg>"])


def _lines(body: Body) -> tuple[str, ...]:
    """What a body's box says: its name, its modes, its wheels and its nodes."""
    marked = (" ".join(f"{mark} {name}" for name in names) for mark, names in (("◎", body.wheels), ("•", body.nodes)))
    modes = f"∿ {body.modes} mode{'s' * (body.modes > 1)}" if body.flex else ""
    return tuple(_short(line) for line in (body.name, modes, *marked) if line)


def _joint(body: Body) -> tuple[str, ...]:
    """What a joint's line says: its kind, and how it can be held."""
    motions = sorted({motion for motion in body.joint.motion if motion != "free"})
    return (_short(body.joint.kind), *motions[:1])


def _short(line: str) -> str:
    return line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "…"


def _box(corner: tuple[float, float], size: tuple[float, float], lines: Sequence[str], sort: str) -> Iterator[str]:
    (x, middle), (width, height) = corner, size
    yield (
        f'<rect class="{sort}" x="{x:.1f}" y="{middle - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="6"/>'
    )
    for k, line in enumerate(lines):
        y = middle + 4.5 + LINE * (k - (len(lines) - 1) / 2)
        yield f'<text x="{x + 9:.1f}" y="{y:.1f}"{_small(k)}>{html(line)}</text>'


def _link(start: tuple[float, float], end: tuple[float, float], lines: Sequence[str]) -> Iterator[str]:
    """A joint's line from the right of its parent to the left of its body, with text above and below its end."""
    (x0, y0), (x1, y1) = start, end
    yield f'<path class="joint" d="M{x0:.1f} {y0:.1f}h9V{y1:.1f}H{x1:.1f}"/>'
    for k, line in enumerate(lines):
        yield f'<text x="{x0 + 15:.1f}" y="{y1 + (13 if k else -5):.1f}"{_small(k)}>{html(line)}</text>'


def _loop(ends: Sequence[tuple[float, float]], name: str) -> Iterator[str]:
    """A dashed line from the right of one body to that of the other, with its name at the turn."""
    (x0, y0), (x1, y1) = ends
    turn = max(x0, x1) + BULGE
    yield f'<path class="loop" d="M{x0:.1f} {y0:.1f}H{turn:.1f}V{y1:.1f}H{x1:.1f}"/>'
    yield f'<text x="{turn + 4:.1f}" y="{(y0 + y1) / 2 + 4:.1f}" class="small">{html(name)}</text>'


def _small(k: int) -> str:
    return ' class="small"' if k else ""
