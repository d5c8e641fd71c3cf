"""What the documentation shows works: its Python runs, its model files load, its links lead somewhere."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from mbdy.engine import loads

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([\w-]+\.toml)\n")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its ``language``, its ``text`` and the line where the text begins."""

    language: str
    text: str
    line: int

    @property
    def model_file(self) -> str:
        """The name that a whole model gives itself on its first line; empty where it gives none."""
        named = FILE_NAME.match(self.text)
        return named[1] if named and self.whole_model else ""

    @property
    def whole_model(self) -> bool:
        return self.language == "toml" and re.search(r"^mbdy = ", self.text, re.MULTILINE) is not None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text[: m.start(2)].count("\n") + 1) for m in BLOCK.finditer(text)]


def identified(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


@pytest.mark.parametrize("page", pages_with("python"), ids=identified)
def test_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All Python blocks of a page in order, beside the examples and the model files that the page shows."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks(page):
        if block.model_file:
            (tmp_path / block.model_file).write_text(block.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "documentation"}
    for block in blocks(page):
        if block.language == "python":
            # Blank lines before it make a traceback name the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            exec(code, names)


@pytest.mark.parametrize("page", pages_with("toml"), ids=identified)
def test_whole_models_of_a_page_load(page: Path):
    for block in blocks(page):
        if block.whole_model:
            assert loads(block.text, source=f"{page.name}, line {block.line}").bodies


@pytest.mark.parametrize("page", PAGES, ids=identified)
def test_links_lead_somewhere(page: Path):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_pictures_are_small():
    for picture in (ROOT / "docs").glob("*.svg"):
        assert picture.stat().st_size < 100_000
