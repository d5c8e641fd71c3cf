"""Pages of headings, paragraphs, lists, tables and bars, as Markdown or as HTML that looks like the reports."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol

from mbdy.engine.model.text import html, visible

Line = str | tuple[str, ...]
"""Text, or its parts: plain text of ours, `Code`, `Strong`, and `Foreign` text."""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
{end}</body>
</html>
"""


class Code(str):
    """A name as it is typed."""

    __slots__ = ()


class Strong(str):
    """What must not be overlooked."""

    __slots__ = ()


class Foreign(str):
    """Text of others, in which nothing marks anything up."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a section, of the page where ``level`` is 1."""

    text: Line
    level: int = 2

    def markdown(self) -> list[str]:
        return [f"{'#' * self.level} {_markdown(self.text)}"]

    def html(self) -> str:
        return f"<h{self.level}>{_html(self.text)}</h{self.level}>"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text of one or several lines."""

    text: Line

    def markdown(self) -> list[str]:
        return [_markdown(self.text)]

    def html(self) -> str:
        return f"<p>{_html(self.text)}</p>"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    lines: Sequence[Line]

    def markdown(self) -> list[str]:
        return [f"- {_markdown(line)}" for line in self.lines]

    def html(self) -> str:
        return f"<ul>{''.join(f'<li>{_html(line)}</li>' for line in self.lines)}</ul>"


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells under a header."""

    header: Sequence[Line]
    rows: Sequence[Sequence[Line]]

    def markdown(self) -> list[str]:
        cells = [map(_markdown, self.header), ["---"] * len(self.header), *(map(_markdown, row) for row in self.rows)]
        return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]

    def html(self) -> str:
        head = "".join(f"<th>{_html(cell)}</th>" for cell in self.header)
        rows = ("".join(f"<td>{_html(cell)}</td>" for cell in row) for row in self.rows)
        body = "".join(f"<tr>{row}</tr>\n" for row in rows)
        return f'<div class="card scroll"><table><tr>{head}</tr>\n{body}</table></div>'


@dataclass(frozen=True, slots=True)
class Bars:
    """Figures by name on a logarithmic scale, with whether each is right, beside a ``limit``; in HTML alone."""

    title: str
    figures: Sequence[tuple[str, float, bool]]
    limit: float

    def markdown(self) -> list[str]:
        return []

    def html(self) -> str:
        logs = [math.log10(figure) for _, figure, _ in self.figures if 0 < figure < math.inf]
        low, high = math.floor(min([-17.0, *logs])) - 1, math.ceil(max([math.log10(self.limit), *logs])) + 1
        left, width, row = 190, 900, 24
        bottom = row * len(self.figures) + 6

        def x(log: float) -> float:
            return left + (width - left - 80) * (min(max(log, low), high) - low) / (high - low)

        drawn = [f'<svg class="bars" viewBox="0 0 {width} {bottom + 22}" role="img"><title>{html(self.title)}</title>']
        for decade in range(low, high + 1, 2):
            drawn.append(f'<line class="grid" x1="{x(decade):.1f}" x2="{x(decade):.1f}" y1="0" y2="{bottom}"/>')
            drawn.append(f'<text class="tick" x="{x(decade):.1f}" y="{bottom + 16}">1e{decade}</text>')
        for k, (name, figure, right) in enumerate(self.figures):
            end = x(math.log10(figure) if figure > 0 else low)
            sort, y, long = "bar" if right else "bar wrong", row * k + 4, max(end - left, 1.0)
            drawn.append(f'<text class="name" x="{left - 10}" y="{y + 13}">{html(name)}</text>')
            drawn.append(f'<rect class="{sort}" x="{left}" y="{y}" width="{long:.1f}" height="{row - 8}"/>')
            drawn.append(f'<text x="{end + 6:.1f}" y="{y + 13}">{figure:.1e}</text>')
        limit = x(math.log10(self.limit))
        drawn.append(f'<line class="limit" x1="{limit:.1f}" x2="{limit:.1f}" y1="0" y2="{bottom}"/></svg>')
        caption = f"{html(self.title)}; dashed: the limit, {self.limit:g}"
        return f'<figure class="card"><figcaption class="soft">{caption}</figcaption>{"".join(drawn)}</figure>'


class PageBlock(Protocol):
    """A part of a page."""

    def markdown(self) -> list[str]: ...
    def html(self) -> str: ...


def markdown(blocks: Iterable[PageBlock]) -> str:
    """``blocks`` as the text of a file."""
    parts = ["\n".join(lines) for lines in (block.markdown() for block in blocks) if lines]
    return "\n\n".join(parts) + "\n"


def html_page(title: str, blocks: Sequence[PageBlock], foot: str) -> str:
    """``blocks``, of which the first is the page's heading, as the text of a file, with a line at its ``foot``."""
    first, *rest = (block.html() for block in blocks)
    body = [f"<header>{first}</header>", "<main>", *rest, "</main>", f"<footer>{html(foot)}</footer>"]
    return page_of(title, "\n".join(body))


def page_of(title: str, body: str, end: str = "") -> str:
    """A whole page of the ``body`` in HTML, then what comes at the ``end``, such as scripts."""
    return _PAGE.format(title=html(title), style=template("report.css"), body=body, end=end)


def template(name: str) -> str:
    """A file of the folder of templates."""
    return (files("mbdy.app") / "templates" / name).read_text(encoding="utf-8")


def literal(text: str) -> str:
    """``text`` on one line of Markdown in which no character marks anything up.

    A vertical bar stays as it is: it has a meaning in tables only, which escape it themselves.
    """
    return re.sub(r"([\\`*_\[\]<>&#~$!])", r"\\\1", visible(" ".join(text.split())))


def _markdown(line: Line) -> str:
    signs = {Code: "`", Strong: "**"}
    parts = (line,) if isinstance(line, str) else line
    return "".join(
        literal(part) if isinstance(part, Foreign) else f"{signs.get(type(part), '')}{part}{signs.get(type(part), '')}"
        for part in parts
    )


def _html(line: Line) -> str:
    tags = {Code: "code", Strong: "strong"}
    parts = (line,) if isinstance(line, str) else line
    return "".join(
        f"<{tags[type(part)]}>{html(part)}</{tags[type(part)]}>" if type(part) in tags else html(part) for part in parts
    )
