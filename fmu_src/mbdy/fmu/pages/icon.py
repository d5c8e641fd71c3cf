"""The icon of a model, its tree in a frame, as SVG and as PNG."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbdy.engine.model.system import INERTIAL, Model
from mbdy.engine.model.text import html
from mbdy.engine.model.topology import ROOT
from mbdy.fmu.pages.drawing import layout

PIXELS = 200
EDGE, LARGEST, SMALLEST = 0.16, 0.085, 0.012
"""Of the icon's width: the room around the tree, and the radius of a body."""
BODY, JOINT, LOOP, FRAME = "#1f4e79", "#7b8b9a", "#a05a2c", "#c3ccd4"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line of round ends from ``start`` to ``end``, a disc where they are one; all of the icon's width."""

    start: Point
    end: Point
    radius: float
    colour: str


def strokes(model: Model) -> tuple[Stroke, ...]:
    """What the icon shows: joints as lines, on them bodies as discs; a body on the ground has a line to the left.

    Loops are thinner lines, those that end on the ground to the right.
    """
    places = layout(model)
    columns = max(place.depth for place in places) - 1
    rows = max(place.row for place in places)
    radius = min(LARGEST, max(SMALLEST, 0.28 / (1 + max(columns, rows))))

    def spread(at: float, most: float) -> float:
        return 0.5 if most == 0 else EDGE + (1 - 2 * EDGE) * at / most

    points = [(spread(place.depth - 1, columns), spread(place.row, rows)) for place in places]
    lines: list[Stroke] = []
    for place, point in zip(places, points, strict=True):
        if place.parent != ROOT:
            lines.append(Stroke(points[place.parent], point, 0.3 * radius, JOINT))
        elif not place.body.joint.floating:
            lines.append(Stroke((0.0, point[1]), point, 0.3 * radius, JOINT))
    for loop in model.loops:
        ends = [points[model.index[side.body]] if side.body != INERTIAL else None for side in (loop.a, loop.b)]
        inner = [end for end in ends if end]
        lines.append(Stroke(inner[0], inner[1] if len(inner) > 1 else (1.0, inner[0][1]), 0.15 * radius, LOOP))
    return (*lines, *(Stroke(point, point, radius, BODY) for point in points))


def svg(model: Model) -> bytes:
    """The icon as a file of SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{PIXELS}" height="{PIXELS}" viewBox="0 0 1 1">',
        f"<title>{html(model.name)}</title>",
        f'<rect width="1" height="1" fill="#ffffff" stroke="{FRAME}" stroke-width="0.03"/>',
    ]
    for s in strokes(model):
        (x0, y0), (x1, y1) = s.start, s.end
        parts.append(
            f'<path d="M{x0:.3f} {y0:.3f}L{x1:.3f} {y1:.3f}" stroke="{s.colour}" stroke-width="{2 * s.radius:.3f}" '
            'stroke-linecap="round"/>'
        )
    return "\n".join([*parts, "</svg>", ""]).encode()


def png(model: Model) -> bytes:
    """The icon as a file of PNG."""
    y, x = (np.mgrid[0:PIXELS, 0:PIXELS] + 0.5) / PIXELS
    image = np.full((PIXELS, PIXELS, 3), 255.0)
    border = np.minimum(np.minimum(x, 1 - x), np.minimum(y, 1 - y))
    _paint(image, border - 0.015, FRAME)
    for s in strokes(model):
        (x0, y0), (x1, y1) = s.start, s.end
        dx, dy = x1 - x0, y1 - y0
        near = tuple(
            slice(max(0, int((min(ends) - s.radius) * PIXELS) - 1), int((max(ends) + s.radius) * PIXELS) + 2)
            for ends in ((y0, y1), (x0, x1))
        )
        along = np.clip(((x[near] - x0) * dx + (y[near] - y0) * dy) / max(dx * dx + dy * dy, 1e-12), 0.0, 1.0)
        _paint(image[near], np.hypot(x[near] - x0 - along * dx, y[near] - y0 - along * dy) - s.radius, s.colour)
    return _png(np.rint(image).astype(np.uint8))


def _paint(image: np.ndarray, distance: np.ndarray, colour: str) -> None:
    """``colour`` where ``distance`` from the edge is negative, mixed in over the pixel at the edge."""
    cover = np.clip(0.5 - distance * PIXELS, 0.0, 1.0)[..., None]
    image += cover * (np.array(_rgb(colour)) - image)


def _rgb(colour: str) -> Sequence[float]:
    return [float(part) for part in bytes.fromhex(colour.removeprefix("#"))]


def _png(image: np.ndarray) -> bytes:
    """``image`` (rows, columns, red green blue) as PNG (ISO/IEC 15948), each row unfiltered."""
    rows, columns, _ = image.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    data = np.insert(image.reshape(rows, -1), 0, 0, axis=1).tobytes()
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body)) for tag, body in chunks
    )
