"""The page of the architecture names files that there are, and its drawing has the arrows of today's imports."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
FILE = re.compile(r"`([\w/]+\.(?:py|c|h))`")
GENERATED = {"model.c", "changes.c", "jacobian.c", "table.c"}


def test_files_of_the_page_are_there():
    known = [
        f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.glob("*/**/*.[pch]*") if ".venv" not in path.parts
    ]
    for file in FILE.findall(PAGE.read_text(encoding="utf-8")):
        assert file in GENERATED or any(path.endswith(f"/{file}") for path in known), file


def test_the_drawing_has_the_arrows_of_the_imports():
    """Counts may lag behind; ``make docs`` draws it anew."""
    made = runpy.run_path(str(ROOT / "docs" / "map.py"))
    drawn = re.findall(r'data-arrow="(\w+) (\w+)"', made["DRAWING"].read_text(encoding="utf-8"))
    assert sorted(drawn) == sorted(made["arrows"](made["read"]()))


def test_arrows_go_one_way():
    made = runpy.run_path(str(ROOT / "docs" / "map.py"))
    order = [*made["ENGINE"], *made["ROOTS"]]
    assert all(order.index(importer) > order.index(imported) for importer, imported in made["arrows"](made["read"]()))
