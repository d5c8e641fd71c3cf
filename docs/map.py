"""The map of docs/architecture.md, drawn from the imports: ``python docs/map.py`` writes docs/architecture.svg.

A box is a room of the sources with its lines of Python and C. An arrow goes from a room to one that it needs, with the
number of files that import from it (Python) or include a header of it (C).
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRAWING = ROOT / "docs" / "architecture.svg"
ROOTS = {"engine": "engine", "blocks": "blocks", "fmu": "fmu_src", "app": "app"}
"""The four rooms from the lowest to the highest, and the source root of each."""
ENGINE = ("model", "flexible", "files", "order_n", "core", "assembly", "linear", "verification")
"""Rooms of the engine, each of which imports those to its left."""
STANDARDS, SLAVE = "headers", "slave"
"""Folders of the standard's headers, and of code that travels in an FMU, whose files import each other relatively."""
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
Room = tuple[str, str]
"""A room and the room in it, which is empty for the files that lie in no other."""


@dataclass(frozen=True)
class Map:
    """``lines`` of each room, and of each pair (importer, imported) the ``files`` of the one that need the other."""

    lines: Mapping[Room, int]
    files: Mapping[tuple[Room, Room], Set[Path]]

    def between(self, importer: str, imported: str) -> int:
        """How many files of one of the four rooms need another of them."""
        return len(set().union(*(n for (a, b), n in self.files.items() if (a[0], b[0]) == (importer, imported))))


def room_of(path: Path) -> Room:
    """The room that a source file lies in."""
    for name, root in ROOTS.items():
        folder = ROOT / root / "mbdy" / name
        if path.is_relative_to(folder):
            inner = path.relative_to(folder).parts
            return name, inner[0] if len(inner) > 1 else ""
    return "app", ""  # __main__.py beside it


def sources() -> list[Path]:
    """Our Python and C."""
    found = (path for root in ROOTS.values() for path in sorted((ROOT / root).rglob("*.*")))
    return [path for path in found if path.suffix in (".py", ".c", ".h") and STANDARDS not in path.parts]


def read() -> Map:
    """The map of the sources as they are."""
    paths = sources()
    lines: Counter[Room] = Counter()
    headers = {path.name: room_of(path) for path in paths if path.suffix == ".h"}
    folders = {room_of(path) for path in paths}
    needs: dict[tuple[Room, Room], set[Path]] = defaultdict(set)
    for path in paths:
        text, own = path.read_text(encoding="utf-8"), room_of(path)
        lines[own] += len(text.splitlines())
        if path.suffix == ".py":
            imported: Iterable[Room] = _imported(text, folders, skip=SLAVE in path.parts)
        else:
            imported = (headers[name] for name in INCLUDE.findall(text) if name in headers)
        for other in imported:
            if other != own:
                needs[own, other].add(path)
    return Map(lines, needs)


def _imported(text: str, rooms: set[Room], *, skip: bool) -> Iterator[Room]:
    """Rooms that a Python file imports; the relative imports of an FMU's slave stay in their room."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not (skip and node.level):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for module in modules:
            parts = module.split(".")
            if parts[0] == "mbdy" and len(parts) > 1:
                inner = parts[2] if len(parts) > 2 else ""
                yield (parts[1], inner) if (parts[1], inner) in rooms else (parts[1], "")


# The drawing, in px

WIDTH, MARGIN, LONG = 1000, 16, 120
"""``LONG`` is the room at the right for arrows past a band."""
BOX, TALL, BETWEEN = 92, 50, 14
BAND, GAP = TALL + 46, 40
LOWER, SPAN = 60, 23
"""Depth of the shortest arc below the engine, and what a longer one goes beyond it for each box."""
STYLE = (
    "text{font:13px Helvetica,Arial,sans-serif;fill:#1d2733}.small{font-size:11px;fill:#4d5c6b}.name{font-weight:bold}"
    ".band{fill:#f4f6f8;stroke:#c3ccd5}.box{fill:#e3edf7;stroke:#1f4e79}.arrow{fill:none;stroke:#6f7f8f;stroke-width:1.2}"
    ".between{stroke:#1f4e79;stroke-width:1.6}.count{font-size:11px}.behind{fill:#fff}"
)


def arrows(found: Map) -> list[tuple[str, str]]:
    """What is drawn: (importer, imported) of the four rooms, and of the engine's."""
    rooms = [(a, b) for a in ROOTS for b in ROOTS if a != b and found.between(a, b)]
    own = [(a, b) for a in ENGINE for b in ENGINE if (("engine", a), ("engine", b)) in found.files]
    return rooms + own


def drawing(found: Map) -> str:
    """The map as SVG."""
    order = list(reversed(ROOTS))
    heights = {room: BAND if _rooms(room, found) else BAND - TALL for room in order}
    tops = {room: MARGIN + sum(heights[above] + GAP for above in order[:place]) for place, room in enumerate(order)}
    height = tops["engine"] + BAND + 0.75 * (LOWER + SPAN * len(ENGINE)) + MARGIN
    label = "The four rooms and the rooms of the engine, with arrows from a room to those that it imports"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">',
        f'<style>{STYLE}</style><rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#4d5c6b"/></marker></defs>',
    ]
    for room in order:
        parts += _band(room, tops[room], heights[room], found)
    parts += _between(order, tops, heights, found)
    parts += _arcs(tops["engine"] + 34 + TALL, found)
    return "\n".join([*parts, "</svg>", ""])


def _rooms(room: str, found: Map) -> list[str]:
    """Rooms in a room, the engine's in their order."""
    return list(ENGINE) if room == "engine" else sorted(inner for name, inner in found.lines if name == room and inner)


def _left(place: int) -> float:
    return MARGIN + 14 + place * (BOX + BETWEEN)


def _band(room: str, top: float, height: float, found: Map) -> Iterator[str]:
    lines = sum(n for (name, _), n in found.lines.items() if name == room)
    width = WIDTH - MARGIN - LONG
    yield f'<rect class="band" x="{MARGIN}" y="{top}" width="{width}" height="{height}" rx="6"/>'
    title = f'mbdy.{room} <tspan class="small">{_size(lines)} lines</tspan>'
    yield f'<text class="name" x="{MARGIN + 14}" y="{top + 22}">{title}</text>'
    for place, inner in enumerate(_rooms(room, found)):
        left, middle = _left(place), _left(place) + BOX / 2
        yield f'<rect class="box" x="{left}" y="{top + 34}" width="{BOX}" height="{TALL}" rx="4"/>'
        yield f'<text x="{middle}" y="{top + 55}" text-anchor="middle">{inner}</text>'
        size = _size(found.lines[room, inner])
        yield f'<text class="small" x="{middle}" y="{top + 73}" text-anchor="middle">{size}</text>'


def _size(lines: int) -> str:
    return f"{lines / 1000:.1f} k"


def _between(order: list[str], tops: Mapping[str, float], heights: Mapping[str, float], found: Map) -> Iterator[str]:
    """Arrows between the four rooms: to the next one in the gap, past others at the right."""
    right, column = WIDTH - LONG, 0
    for above, importer in enumerate(order):
        for imported in order[above + 1 :]:
            count = found.between(importer, imported)
            if not count:
                continue
            begin, end = tops[importer] + heights[importer], tops[imported]
            if imported == order[above + 1]:
                x = WIDTH / 2 - LONG / 2
                path, at = f"M{x} {begin}V{end - 1}", (x + 8, (begin + end) / 2 + 4)
            else:
                column += 1
                x, begin, end = right + 30 * column, begin - heights[importer] / 2 + 4 * column, end + 10 * column
                path, at = f"M{right} {begin}H{x}V{end}H{right + 1}", (x + 5, (begin + end) / 2)
            yield (
                f'<path class="arrow between" data-arrow="{importer} {imported}" d="{path}" marker-end="url(#tip)"/>'
                f'<text class="count" x="{at[0]}" y="{at[1]}">{count}</text>'
            )


def _arcs(bottom: float, found: Map) -> Iterator[str]:
    """Arrows between the rooms of the engine, below them: from the right half of a box to the left."""
    pairs = [pair for pair in arrows(found) if pair[0] in ENGINE]
    labels = []
    for importer, imported in sorted(pairs, key=lambda pair: ENGINE.index(pair[0]) - ENGINE.index(pair[1])):
        a, b = ENGINE.index(importer), ENGINE.index(imported)
        begin, end = _left(a) + BOX / 2 - 5 * (a - b), _left(b) + BOX / 2 + 5 * (a - b)
        depth = bottom + LOWER + SPAN * (a - b)
        yield (
            f'<path class="arrow" data-arrow="{importer} {imported}" marker-end="url(#tip)" '
            f'd="M{begin} {bottom}C{begin} {depth} {end} {depth} {end} {bottom + 1}"/>'
        )
        count = len(found.files[("engine", importer), ("engine", imported)])
        x, y = (begin + end) / 2, bottom + 0.75 * (depth - bottom)
        labels.append(
            f'<circle class="behind" cx="{x}" cy="{y}" r="8"/>'
            f'<text class="count" x="{x}" y="{y + 4}" text-anchor="middle">{count}</text>'
        )
    yield from labels


if __name__ == "__main__":
    DRAWING.write_text(drawing(read()), encoding="utf-8", newline="\n")
