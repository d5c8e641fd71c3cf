"""How things show themselves in a terminal and in a notebook: never more than a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from mbdy.engine.model.text import html

MOST = 8
"""Names that a line has."""
MOST_ROWS = 24
"""Rows that a table has."""


def table_of_names(names: Sequence[str]) -> str:
    """``"a, b, c and 12 more"``."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return f"{', '.join(names[:MOST])}{more}"


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in HTML under a ``title``, with a row that says that there are more where there are."""
    rows = iter(rows)
    shown = ["".join(f"<td>{html(cell)}</td>" for cell in row) for row in islice(rows, MOST_ROWS)]
    if more := sum(1 for _ in rows):
        shown.append(f'<td colspan="{len(head)}">and {more} more</td>')
    first = "".join(f"<th>{html(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{row}</tr>" for row in shown)
    return f"<p><b>{html(title)}</b></p><table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table>"
