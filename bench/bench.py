"""Ratios of times, measured side by side in one run: ``python bench/bench.py``.

Seconds differ from machine to machine; each line compares two things on this one. Cores, FMUs and a C program are
compiled on the way, which takes some minutes. docs/speed.md says how to read the tables.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

import jpl  # noqa: E402
import native_fmu  # noqa: E402
import other_fmus  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from mbdy.blocks import Plant, simulate  # noqa: E402
from mbdy.engine import Model, ModelWarning, load  # noqa: E402
from systems import chain  # noqa: E402

FIVE_BODY = HERE.parent / "examples" / "five_body_spacecraft" / "five_body.toml"
STEP = 1e-3


def seconds(*works: Callable[[], object], rounds: int) -> list[float]:
    """Median processor time of each work, taken in turn so that all see the same machine."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for times, work in zip(taken, works, strict=True):
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
    return [statistics.median(times) for times in taken]


def bare_loop(plant: Plant, steps: int) -> Callable[[], object]:
    """The compiled core's own loop: integrator steps in C, outputs only at their end, nothing recorded."""
    return lambda: plant.run(1, steps * STEP, pick=())


def core_steps(plant: Plant, steps: int) -> Callable[[], object]:
    """The compiled core's communication steps, each with all outputs at its end, from a loop in C."""
    return lambda: plant.run(steps, STEP, pick=())


def stepping(rounds: int) -> list[tuple[str, float, str]]:
    """`Plant.step` from Python against the core's steps, and `simulate` against the core's own loop."""
    model = load(FIVE_BODY)
    plant, bare = Plant(model, step=STEP), Plant(model, step=STEP)
    steps = 5000

    def block() -> None:
        for _ in range(steps):
            plant.step(STEP)

    core, python = seconds(core_steps(bare, steps), block, rounds=rounds)
    long = 60_000
    loop, run = seconds(
        bare_loop(Plant(model, step=STEP), long),
        lambda: simulate(model, until=long * STEP, every=STEP * 100, step=STEP),
        rounds=max(3, rounds // 5),
    )
    every_step = seconds(
        lambda: simulate(model, until=long * STEP, every=STEP, step=STEP, outputs=["bus.*"]), rounds=3
    )[0]
    return [
        ("Plant.step from Python, one RK4 step of the five-body vehicle / a core step", python / core, "<= 2"),
        ("simulate, 60,000 steps, a record every 100 / the core's own loop", run / loop, "<= 1.3"),
        ("simulate, 60,000 steps, every step recorded / the core's own loop", every_step / loop, ""),
    ]  # fmt: skip


def bodies(rounds: int, *, long: bool) -> list[tuple[str, float, str]]:
    """Cost per body of long chains against short ones; with ``long`` of 500 bodies too, a minute to compile."""
    sizes = (4, 50, 100, 500) if long else (4, 50, 100)
    made = {n: Plant(chain(n), step=STEP) for n in (20, *sizes)}
    works = [bare_loop(plant, 20_000 // n) for n, plant in made.items()]
    per_body = dict(zip(made, seconds(*works, rounds=rounds), strict=True))
    wanted = {500: "<= 1.5"}
    return [
        (f"cost per body, chain of {n} / chain of 20", per_body[n] / per_body[20], wanted.get(n, "")) for n in sizes
    ]


def integrators(rounds: int) -> list[tuple[str, float, str]]:
    """One step of the linearly implicit integrator against one of RK4."""
    rows = []
    for n in (3, 10, 30):
        explicit, implicit = (Plant(chain(n), step=STEP, integrator=name) for name in ("rk4", "rosenbrock"))
        taken = seconds(bare_loop(explicit, 10_000 // n), bare_loop(implicit, 10_000 // n**2), rounds=rounds)
        ratio = (taken[1] / (10_000 // n**2)) / (taken[0] / (10_000 // n))
        rows.append((f"a step of rosenbrock / of rk4, chain of {n}", ratio, ""))
    return rows


def fmus(rounds: int, *, long: bool) -> Iterator[Table]:
    """The native FMU: its steps and partial derivatives, single steps, exports."""
    vehicle = load(FIVE_BODY)
    with tempfile.TemporaryDirectory(prefix="mbdy-bench-") as folder:
        program = native_fmu.program(Path(folder))

        def subject(model: Model, name: str) -> native_fmu.Subject:
            made = Path(folder) / name
            made.mkdir()
            return native_fmu.Subject(model, made, STEP, program)

        vehicles, chains = subject(vehicle, "vehicle"), [subject(chain(n), f"chain{n}") for n in (20, 100)]
        rows = native_fmu.steps(vehicles, rounds)
        rows += other_fmus.under_fmpy(vehicle, vehicles.folder, STEP, rounds)
        for one in (vehicles, *chains):
            rows += native_fmu.partials(one, rounds)
        yield ratios("native FMU: ratios of times, one run", rows)
        count = 1_000_000 if long else 100_000
        title = f"wall time of single steps in µs, {count:,} of each; undisturbed by other processes, then all"
        singly = Table("what", *2 * ("median", "99.99 %", "worst"), title=title)
        for what, times in native_fmu.single_steps(vehicles, count):
            singly.add_row(what, *(f"{value:.2f}" for value in times))
        yield singly
        table = Table("what", "empty cache, s", "again, s", "file, KiB", title="export of the native FMU")
        exported = [other_fmus.exports(one.model, one.folder) for one in (vehicles, chains[-1])]
        if long:
            exported.append(other_fmus.exports(chain(500), subject(chain(500), "chain500").folder, ("2.0",)))
        for what, *numbers in (row for each in exported for row in each):
            table.add_row(what, *(f"{value:.1f}" for value in numbers))
        yield table


def ratios(title: str, rows: list[tuple[str, float, str]]) -> Table:
    """A table of what was compared, how, and what is wanted."""
    table = Table("what", "ratio", "wanted", title=title)
    for what, ratio, wanted in rows:
        table.add_row(what, f"{ratio:.2f}", wanted)
    return table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="rounds to take the median of")
    parser.add_argument("--long", action="store_true", help="chains of 500 bodies and a million single steps too")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ModelWarning)
    console = Console()
    rows = stepping(asked.rounds) + bodies(asked.rounds, long=asked.long)
    rows += integrators(asked.rounds)
    console.print(ratios("mbdy: ratios of times, one run", rows))
    console.print(
        ratios("JPL TR 32-1592: one evaluation of the derivatives", jpl.compared(load(FIVE_BODY), asked.rounds))
    )
    for table in fmus(asked.rounds, long=asked.long):
        console.print(table)


if __name__ == "__main__":
    main()
