"""A rig while it runs, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mbdy.app.common import terminal
from mbdy.app.rig_page import HEADER, figures

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mbdy.blocks.rig import Rig

REFRESHED = 4
"""Times a second."""


@contextmanager
def shown_live(rig: Rig) -> Iterator[None]:
    """Times and counters of ``rig`` on stderr while the block runs, if that is a terminal."""
    from rich.live import Live

    console = terminal(stderr=True)
    if not console.is_terminal:
        yield
        return
    with Live(get_renderable=lambda: view(rig), console=console, refresh_per_second=REFRESHED, transient=True):
        yield


def view(rig: Rig) -> RenderableType:
    """What is shown of ``rig`` now: percentiles of its times, and the counters that are not zero."""
    from rich.console import Group
    from rich.table import Table

    table = Table(*HEADER, box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in figures(rig.histograms):
        table.add_row(*row)
    counted = (f"{value:,} {name.replace('_', ' ')}" for name, value in rig.counters.items() if value)
    return Group(table, ", ".join(counted) + "; Ctrl-C ends the run")
