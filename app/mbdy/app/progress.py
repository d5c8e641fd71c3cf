"""What is shown of work that takes long: a bar in a terminal, a line for each stage elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import Protocol

from mbdy.app.common import note, terminal

PATIENCE = 1.0
"""[s] Work that is over sooner shows no progress bar."""
PIPE_PATIENCE = 10.0
"""[s] Where there is no terminal for a bar, the stages of work that is over sooner are not told."""
MOST_STAGE = 32
"""Letters of a stage beside a bar."""


class Tell(Protocol):
    """Is given the fraction done, and the stage that begins where there are several."""

    def __call__(self, fraction: float, /, stage: str = "") -> None: ...


@contextmanager
def busy(what: str) -> Iterator[Tell]:
    """A function that is given the fraction done and the stage; a bar on stderr once the work takes over a second.

    Where stderr is no terminal, a line for each stage of work that takes long.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = terminal(stderr=True)
    if not console.is_terminal:
        with _stages(what) as tell:
            yield tell
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
    task = bar.add_task(what, total=None)
    patience = Timer(PATIENCE, bar.start)
    patience.daemon = True
    patience.start()

    def tell(fraction: float, /, stage: str = "") -> None:
        shown = stage if len(stage) <= MOST_STAGE else f"{stage[: MOST_STAGE - 3]}..."
        bar.update(task, total=1.0, completed=fraction, description=f"{what}: {shown}" if shown else what)

    try:
        yield tell
    finally:
        patience.cancel()
        patience.join()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def _stages(what: str) -> Iterator[Tell]:
    """`busy` where there is no terminal."""
    stages: list[str] = []
    late = Event()

    def become_late() -> None:
        late.set()
        if stages:
            note(f"{what}: {stages[-1]}")

    def tell(fraction: float, /, stage: str = "") -> None:
        if stage and stage not in stages:
            stages.append(stage)
            if late.is_set():
                note(f"{what}: {stage}")

    patience = Timer(PIPE_PATIENCE, become_late)
    patience.daemon = True
    patience.start()
    try:
        yield tell
    finally:
        patience.cancel()
        patience.join()
