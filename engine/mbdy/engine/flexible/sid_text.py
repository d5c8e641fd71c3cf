"""Standard input data of flexible bodies as text: blocks of Taylor expansions, to arrays and back.

The format is that of FEMBS, SIMPACK and their kin (``*.SID_FEM``): a head line with the numbers of nodes and modes,
then ``part``, ``new modal``, ``refmod``, ``frame`` and one block for each matrix, closed by ``end`` and its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mbdy.engine.model.contents import number_in
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.limits import MOST_MODES
from mbdy.engine.model.whole_file import whole_file

SYMMETRIC, UNIT = 2, 4
"""Structures of a matrix that say more than its entries do; 0 is zero, 1 diagonal, 3 any. Of a symmetric one a triangle
will do."""
MIRRORED = 1e-4
"""How far entries across the diagonal of a symmetric matrix may differ, of the larger; files keep six figures or so."""
MOST_ENTRIES = 50_000_000
"""Of all blocks of a file, told by their sizes."""
_ENTRY = re.compile(r"m([01n])\s*\(([^)]*)\)\s*=\s*(\S+)")
_FIELD = re.compile(r"(order|nrow|ncol|nq|nqn|structure)\s*=\s*(-?\d+)\s*$")


@dataclass
class Taylor:
    """``M0 + sum M1[:, k, :] q_k``: constant (rows, columns) and linear (rows, q, columns)."""

    rows: int
    columns: int
    q: int
    order: int
    structure: int
    entries: list[tuple[int, tuple[int, ...], float]] = field(default_factory=list)
    m0: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    m1: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)))

    def fill(self, modes: int, columns_last: bool, name: str) -> None:
        """Make ``m0`` and ``m1`` of the entries; ValueError names an index that is out of range."""
        self.m0 = np.eye(self.rows, self.columns) if self.structure == UNIT else np.zeros((self.rows, self.columns))
        self.m1 = np.zeros((self.rows, modes, self.columns))
        mirrored = self.structure == SYMMETRIC and self.rows == self.columns
        written: dict[tuple[int, ...], float] = {}
        for order, index, value in self.entries:
            try:
                places = tuple(i - 1 for i in index)
                if min(places) < 0:
                    raise IndexError
                if order:
                    row, q, column = places if columns_last else (places[0], places[2], places[1])
                    at, across = (row, q, column), (column, q, row)
                else:
                    at, across = places, places[::-1]
                matrix = self.m1 if order else self.m0
                matrix[at] = value
            except (IndexError, ValueError):
                raise RefusalError(
                    f"{name}: m{order}{index} is out of range for {self.rows} x {self.columns}"
                ) from None
            written[at] = value
            if mirrored:
                other = written.get(across, value)
                if abs(other - value) > MIRRORED * max(abs(other), abs(value)):
                    raise RefusalError(f"{name}: is symmetric, but m{order}{index} is {value:g} and {other:g} across")
                matrix[across] = value


@dataclass
class Sid:
    """The blocks of one file by name; nodes by their number, in the order of the file."""

    mass: float
    modes: int
    blocks: dict[str, Taylor]
    nodes: dict[str, dict[str, Taylor]]


def parse_sid(text: str, source: str = "SID") -> Sid:
    """Read the text of a file. Raises ValueError naming ``source``, the line and what is wrong with it."""
    blocks: dict[str, Taylor] = {}
    nodes: dict[str, dict[str, Taylor]] = {}
    mass: float | None = None
    place: dict[str, Taylor] | None = None
    block: Taylor | None = None
    name = ""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        try:
            if block is not None:
                block, name = _in_block(block, name, line, words)
            elif not words or number == 1 or words[0] in ("part", "refmod", "frame") or words[:2] == ["new", "modal"]:
                continue
            elif words[0] == "mass":
                mass = _number(line)
            elif words[:2] == ["new", "node"]:
                key = line.partition("=")[2].strip()
                if key in nodes:
                    raise RefusalError(f"node {key} is there twice")
                place = nodes.setdefault(key, {})
            elif words[0] == "end":
                place = None if words[1:] == ["node"] else place
            elif len(words) == 1:
                name, block = words[0], Taylor(1, 1, 0, 0, 3)
                (blocks if place is None else place)[name] = block
        except ValueError as error:
            raise RefusalError(f"{source}, line {number}: {error}") from None
    if block is not None:
        raise RefusalError(f"{source}: block {name} does not end")
    if mass is None or "Me" not in blocks or "mdCM" not in blocks:
        raise RefusalError(f"{source}: needs refmod with mass, and the blocks mdCM and Me")
    if mass <= 0:
        raise RefusalError(f"{source}: mass must be > 0 kg, got {mass:g}")
    modes = blocks["Me"].rows
    every = [*blocks.items(), *((f"node {key} {name}", t) for key, node in nodes.items() for name, t in node.items())]
    if not 1 <= modes <= MOST_MODES:
        raise RefusalError(f"{source}: Me: nrow must be the number of modes, 1 to {MOST_MODES}, got {modes}")
    if (entries := sum(taylor.rows * taylor.columns for _, taylor in every) * (modes + 1)) > MOST_ENTRIES:
        raise RefusalError(f"{source}: nrow, ncol: all blocks have {entries:,} entries, above {MOST_ENTRIES:,}")
    columns_last = _columns_last([taylor for _, taylor in every])
    for label, taylor in every:
        try:
            taylor.fill(modes, columns_last, label)
        except ValueError as error:
            raise RefusalError(f"{source}: {error}") from None
    return Sid(mass, modes, blocks, nodes)


def sid_text(
    title: str, mass: float, modes: Sequence[str], nodes: Mapping[str, Mapping[str, tuple]], blocks: Mapping
) -> str:
    """A file's text; blocks map a name to ``m0`` (rows, columns) and ``m1`` (rows, q, columns) or None."""
    lines = [f" {len(nodes)} {len(modes)} : {title}", "part", "  new modal", "    refmod"]
    lines += [f"      mass = {_written(mass)}", f"      nelastq = {len(modes)}"]
    lines += [f"      ielastq ({k}) = {name}" for k, name in enumerate(modes, start=1)]
    lines += ["    end refmod", "    frame"]
    for name, node in nodes.items():
        lines += [f"      new node = {name}", "        rframe = body ref"]
        for block, (m0, m1) in node.items():
            lines += _block(block, m0, m1, len(modes), "        ")
        lines.append("      end node")
    lines.append("    end frame")
    for block, (m0, m1) in blocks.items():
        lines += _block(block, m0, m1, len(modes), "    ")
    return "\n".join([*lines, "  end modal", "end part", ""])


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as it is."""
    with whole_file(path) as file:
        file.write(text)


def _in_block(block: Taylor, name: str, line: str, words: Sequence[str]) -> tuple[Taylor | None, str]:
    """Take one line into an open block; None once it has ended."""
    if not words:
        return block, name
    if words[0] == "end":
        if words[1:] != [name]:
            raise RefusalError(f"{name}: ends with {' '.join(words)!r}, not 'end {name}'")
        return None, ""
    if match := _FIELD.match(line.strip()):
        key = {"nrow": "rows", "ncol": "columns", "nq": "q"}.get(match[1], match[1])
        if match[1] == "nqn":
            if int(match[2]):
                raise RefusalError(f"{name}: nqn = {match[2]}, terms of higher order are not known here")
        elif int(match[2]) < 0:
            raise RefusalError(f"{name}: {match[1]} must not be negative, got {match[2]}")
        else:
            setattr(block, key, int(match[2]))
    elif match := _ENTRY.match(line.strip()):
        if match[1] == "n":
            raise RefusalError(f"{name}: terms of higher order (mn) are not known here")
        index = tuple(int(i) for i in match[2].split(","))
        if len(index) not in (2, 3):
            raise RefusalError(f"{name}: m{match[1]}({match[2]}) must have two or three indices")
        # some writers call linear entries m0 too: three indices are those of a linear one
        block.entries.append((len(index) - 2, index, _real(match[3])))
    else:
        raise RefusalError(f"{name}: not understood: {line.strip()[:60]!r}")
    return block, name


def _columns_last(taylors: Sequence[Taylor]) -> bool:
    """Whether m1's indices are row, q, column (FEMBS, SIMPACK) or row, column, q (some others): what the sizes say."""

    def inside(first: bool) -> bool:
        for taylor in taylors:
            for order, index, _ in taylor.entries:
                q, column = (index[1], index[2]) if order and first else (index[2], index[1]) if order else (0, 0)
                if column > taylor.columns or (taylor.q and q > taylor.q):
                    return False
        return True

    if inside(True):
        return True
    if inside(False):
        return False
    raise RefusalError("indices of m1 are out of range, both as row, q, column and as row, column, q")


def _number(line: str) -> float:
    return _real(line.partition("=")[2].strip())


def _real(text: str) -> float:
    return number_in(text.replace("D", "e").replace("d", "e"), "a number")


def _written(value: float) -> str:
    return f"{value:.17e}"


def _block(name: str, m0: np.ndarray, m1: np.ndarray | None, modes: int, indent: str) -> list[str]:
    rows, columns = m0.shape
    head = {"order": int(m1 is not None), "nrow": rows, "ncol": columns, "nq": modes, "nqn": 0, "structure": 3}
    lines = [f"{indent}{name}", *(f"{indent}  {key} = {value}" for key, value in head.items())]
    for (i, j), value in np.ndenumerate(m0):
        if value:
            lines.append(f"{indent}  m0({i + 1},{j + 1}) = {_written(value)}")
    if m1 is not None:
        for (i, k, j), value in np.ndenumerate(m1):
            if value:
                lines.append(f"{indent}  m1({i + 1},{k + 1},{j + 1}) = {_written(value)}")
    return [*lines, f"{indent}end {name}"]
