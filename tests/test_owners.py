"""Nothing decides by the spelling of a variable's name: whose a variable is and what of it, `Variable` knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from mbdy.engine.model.owners import Quantity

ROOT = Path(__file__).resolve().parent.parent
ROOTS = ("engine", "blocks", "fmu_src", "app")
METHODS = {
    "endswith", "startswith", "partition", "rpartition", "removesuffix", "removeprefix", "replace", "split", "rsplit",
    "index", "find", "rfind",
}  # fmt: skip
WORDS = {*get_args(Quantity), "joint", "flex", "loop", "system"}
"""What names of variables are made of."""
TYPED, PATH, SPELLING = "what a person typed", "paths in a file", "a name spelled for others, no decision"
ALLOWED = {
    "app/mbdy/app/assignments.py:_entries": TYPED,
    "engine/mbdy/engine/files/initial.py:starts_of": TYPED,
    "engine/mbdy/engine/files/signals.py:_signal": PATH,
    "engine/mbdy/engine/model/parts.py:place_of": TYPED,
    "engine/mbdy/engine/model/signal_variables.py:_source": TYPED,
    "engine/mbdy/engine/files/port_choice.py:_judge": TYPED,
    "engine/mbdy/engine/model/starts.py:_nearest": TYPED,
    "engine/mbdy/engine/model/patterns.py:matches": TYPED,
    "engine/mbdy/engine/model/patterns.py:places": TYPED,
    "engine/mbdy/engine/model/gear.py:freedom_of": TYPED,
    "engine/mbdy/engine/model/ports.py:find": TYPED,
    "fmu_src/mbdy/fmu/ssp/links.py:_end": TYPED,
    "fmu_src/mbdy/fmu/ssp/links.py:_indexed": "descriptions of other tools' FMUs",
    "engine/mbdy/engine/files/lines.py:__init__": PATH,
    "engine/mbdy/engine/files/lines.py:_nearest": PATH,
    "engine/mbdy/engine/files/read.py:model_of_tables": PATH,
    "engine/mbdy/engine/files/write.py:_starts": "keys of a file",
    "app/mbdy/app/new.py:template": PATH,
    "fmu_src/mbdy/fmu/native/kind.py:package": PATH,
    "fmu_src/mbdy/fmu/native/prefix.py:_names": "names of C files",
    "fmu_src/mbdy/fmu/python/kind.py:_as_installed": "names of Python modules",
    "engine/mbdy/engine/flexible/flex42.py:_sections": "lines of another tool's file",
    "fmu_src/mbdy/fmu/native/variables.py:_parts": SPELLING,
    "blocks/mbdy/blocks/rig/layout_text.py:identifiers": SPELLING,
    "blocks/mbdy/blocks/rig/library.py:rig_functions": "names of C files",
    "blocks/mbdy/blocks/control/on_control.py:_spelled": SPELLING,
    "engine/mbdy/engine/linear/linearization.py:_undotted": SPELLING,
    "app/mbdy/app/report.py:_numbers": SPELLING,
    "fmu_src/mbdy/fmu/description/markup.py:number": "digits",
    "fmu_src/mbdy/fmu/description/units.py:rate_unit": "units",
    "fmu_src/mbdy/fmu/description/units.py:unit": "units",
}
"""Functions that take texts apart which are no names of variables, or that a person gave, and why they may."""


def _names(literal: ast.expr) -> bool:
    """Whether a literal is a piece of a variable's name: has a dot or a bracket, or is one of the words."""
    parts = literal.elts if isinstance(literal, ast.Tuple) else [literal]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return any("." in text or "[" in text or text in WORDS for text in texts)


def _decisions(tree: ast.AST, function: str = "") -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, ast.FunctionDef) else function
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            if node.args and _names(node.args[0]):
                yield name, node.lineno
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In) and _names(node.left):
            of = node.comparators[0]
            if getattr(of, "attr", getattr(of, "id", "")).endswith("name"):
                yield name, node.lineno
        yield from _decisions(node, name)


def test_nothing_decides_by_the_spelling_of_a_name():
    found: dict[str, int] = {}
    for root in ROOTS:
        for path in sorted((ROOT / root).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            found |= {f"{place}:{name}": line for name, line in _decisions(ast.parse(path.read_text(encoding="utf-8")))}
    new = {place: line for place, line in found.items() if place not in ALLOWED}
    assert not new, "ask variables for their owner and quantity instead"
    assert not ALLOWED.keys() - found.keys(), "these are allowed for nothing"
