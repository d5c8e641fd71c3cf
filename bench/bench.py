"""mbdy's times beside those of its peers, of earlier commits and of its own parts, all in one run: ``make bench``.

Seconds differ from machine to machine; each table compares things on this one and goes into docs/speed.md, which says
how to read it. ``python bench/bench.py SECTION ...`` measures some sections again; --show prints, and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "examples" / "two_arm_platform")]

import against_peers  # noqa: E402
import from_nothing  # noqa: E402
import jpl  # noqa: E402
import loops  # noqa: E402
import native_fmu  # noqa: E402
import numpy as np  # noqa: E402
import other_fmus  # noqa: E402
import page  # noqa: E402
import two_arms  # noqa: E402
from against_commit import against  # noqa: E402
from page import Table, number  # noqa: E402
from peers.system import drawn  # noqa: E402
from timing import Row, pinned, ratio  # noqa: E402

from mbdy.blocks import Plant, PlantBatch, simulate  # noqa: E402
from mbdy.engine import Model, ModelWarning, OptionError, load  # noqa: E402
from systems import chain  # noqa: E402

FIVE_BODY = HERE.parent / "examples" / "five_body_spacecraft" / "five_body.toml"
CHART = HERE.parent / "docs" / "speed-peers.svg"
STEP = 1e-3
SIZES = 4, 10, 20, 50, 100, 500


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


def stepping(rounds: int) -> list[Row]:
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


def bodies(rounds: int, *, long: bool) -> list[Row]:
    """Cost per body of chains against one of 20; with ``long`` of 500 bodies too."""
    sizes = (4, 10, 50, 100, 500) if long else (4, 50)
    made = {n: Plant(chain(n), step=STEP) for n in (20, *sizes)}
    works = [bare_loop(plant, 20_000 // n) for n, plant in made.items()]
    per_body = dict(zip(made, seconds(*works, rounds=rounds), strict=True))
    return [
        (f"cost per body, chain of {n} / of 20", per_body[n] / per_body[20], "0.85 to 1.15" if n >= 10 else "")
        for n in sizes
    ]


def integrators(rounds: int) -> list[Row]:
    """One step of the linearly implicit integrator against one of RK4."""
    rows = []
    for n in (3, 10, 30):
        explicit, implicit = (Plant(chain(n), step=STEP, integrator=name) for name in ("rk4", "rosenbrock"))
        taken = seconds(bare_loop(explicit, 10_000 // n), bare_loop(implicit, 10_000 // n**2), rounds=rounds)
        ratio = (taken[1] / (10_000 // n**2)) / (taken[0] / (10_000 // n))
        rows.append((f"a step of rosenbrock / of rk4, chain of {n}", ratio, "<= 8" if n == 10 else ""))
    return rows


@dataclass(frozen=True)
class Run:
    """What was asked for, and a ``folder`` that goes when all is done."""

    rounds: int
    quick: bool
    commit: str
    site: against_peers.Site
    folder: Path

    def fmus(self, model: Model, name: str) -> native_fmu.Subject:
        """``model`` with its native FMUs."""
        made = self.folder / name
        made.mkdir(exist_ok=True)
        return native_fmu.Subject(model, made, STEP, native_fmu.program(self.folder))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Hinges of chains and trees."""
        return (4, 20) if self.quick else SIZES


def the_peers(run: Run) -> str:
    table, chart, missing = against_peers.compared(run.site, ("chain", "tree"), run.sizes, run.rounds)
    if not run.quick:
        CHART.write_text(chart, encoding="utf-8")
    left_out = "; ".join(f"{name}: {why}" for name, why in missing.items())
    return f"{table}" + (f"\n\nLeft out: {left_out}." if left_out else "")


def exchange(run: Run) -> str:
    systems = [drawn(shape, n) for shape in ("chain", "tree") for n in run.sizes if n not in (4, 500)]
    return str(against_peers.exchanged(run.site, lambda m: run.fmus(m, f"exchange {m.name}"), systems, run.rounds))


def drift(run: Run) -> str:
    """A run without torques, of five bodies."""
    system, until = drawn("chain", 4), 10 if run.quick else 100
    plant = Plant(against_peers.model_of(system), step=STEP)
    names = "system.energy", *(f"system.angular_momentum[{i}]" for i in (1, 2, 3))
    pick = [list(plant.ports.output_names).index(name) for name in names]
    before = np.array([plant[name] for name in names])
    begin = time.process_time()
    after = plant.run(until, 1.0, pick=pick)[0][-1]
    runs = {"mbdy": (time.process_time() - begin, before, after)}
    with suppress(against_peers.MissingError):
        runs["MuJoCo"] = against_peers.left_to_itself(run.site, system, round(until / STEP), STEP)
    rows = []
    for what, (taken, first, last) in runs.items():
        turning = abs(last[1:] - first[1:]).max() / abs(first[1:]).max()
        rows.append((what, number(taken), f"{abs(last[0] / first[0] - 1):.0e}", f"{turning:.0e}"))
    return str(Table((f"{until} s, RK4 at 1 ms", "seconds", "drift of energy", "of angular momentum"), rows))


def steps(run: Run) -> str:
    vehicle = run.fmus(load(FIVE_BODY), "vehicle")
    rows = stepping(run.rounds) + native_fmu.steps(vehicle, run.rounds)
    return ratios(rows + other_fmus.under_fmpy(vehicle.model, vehicle.folder, STEP, run.rounds))


def batch(run: Run) -> str:
    """Five-body runs side by side against one core, by the wall clock for more than one thread."""
    n, steps = (128, 20) if run.quick else (1024, 20)
    model = load(FIVE_BODY)
    core, block = Plant(model, step=STEP), Plant(model, step=STEP)
    rows: list[Row] = []

    def loop() -> None:
        for _ in range(n * steps):
            block.step(STEP)

    for lanes in (1, 2, 4, 8):
        try:
            lot = PlantBatch(model, n, step=STEP, threads=1, lanes=lanes)
        except OptionError:
            continue
        alone, one, python = seconds(
            bare_loop(core, n * steps), partial(lot.run, 1, steps * STEP, pick=()), loop, rounds=max(3, run.rounds // 5)
        )
        wanted = {2: ">= 1.4", 4: ">= 2.2", 8: ">= 3.5"}
        rows.append((f"steps of one core / of a batch of {n}, {lanes} lanes", alone / one, wanted.get(lanes, "")))
    rows.append((f"Plant.step / a batch of {n}, most lanes", python / one, ">= 6"))
    return ratios(rows)


def threads(run: Run) -> str:
    """A batch on one thread and on two, by the wall clock."""
    model, n = load(FIVE_BODY), 128 if run.quick else 1024
    lots = {count: PlantBatch(model, n, step=STEP, threads=count) for count in (1, 2)}
    taken: dict[int, list[float]] = {count: [] for count in lots}
    for _ in range(run.rounds):
        for count, lot in lots.items():
            begin = time.perf_counter()
            lot.run(1, 20 * STEP, pick=())
            taken[count].append(time.perf_counter() - begin)
    return ratios([(f"a batch of {n} on one thread / on two", ratio(taken, 1, 2), ">= 1.9")])


def length(run: Run) -> str:
    return ratios(bodies(run.rounds, long=not run.quick))


def partials(run: Run) -> str:
    models = {"five bodies": load(FIVE_BODY)} | {
        f"chain of {n}": chain(n) for n in ((20,) if run.quick else (10, 50, 500))
    }
    found = {
        name: native_fmu.partials(run.fmus(model, name.replace(" ", "_")), run.rounds) for name, model in models.items()
    }
    wanted = {what: text for what, (_, _, text) in native_fmu.PARTIALS.items()}
    whats = next(iter(found.values()))
    rows = [(what, *(number(each[what]) for each in found.values()), wanted.get(what, "")) for what in whats]
    return str(Table(("FMI 3.0", *found, "wanted"), rows))


def singles(run: Run) -> str:
    count = 100_000 if run.quick else 1_000_000
    rows = [
        (what, *(f"{value:,.1f}" for value in times))
        for what, times in native_fmu.single_steps(run.fmus(load(FIVE_BODY), "vehicle"), count)
    ]
    undisturbed, every = (tuple(f"{what}{of}" for what in ("median", "99.99 %", "worst")) for of in ("", " of all"))
    return str(Table((f"{count:,} single steps, µs", *undisturbed, *every), rows))


def starts(run: Run) -> str:
    models = {"five bodies": load(FIVE_BODY), "chain of 100": chain(100), "chain of 500": chain(500)}
    rows = []
    for name, model in list(models.items())[: 1 if run.quick else None]:
        taken = from_nothing.first_step(model, run.folder / f"first {name}")
        rows.append((f"first step, {name}", *map(number, taken), ""))
    for name, model in (models | {"two arms, case 16": two_arms.system(16)}).items():
        for fmi in native_fmu.VERSIONS if not run.quick or name == "five bodies" else ():
            cold, again, size = from_nothing.export(model, run.folder / f"export {name} {fmi}", fmi)
            rows.append((f"export, {name}, FMI {fmi}", number(cold), "", number(again), f"{size:,.0f}"))
    return str(Table(("seconds", "empty cache", "kernels kept", "all kept", "KiB"), rows))


def table2(run: Run) -> str:
    return str(loops.table([loops.line(case, run.rounds) for case in ((1, 16) if run.quick else range(1, 17))]))


def commit(run: Run) -> str:
    cases = (0, 3, 11) if run.quick else range(17)
    return ratios(against(run.commit, cases, run.rounds), f"a step of RK4 at {run.commit} / now")


SECTIONS: dict[str, Callable[[Run], str]] = {
    "peers": the_peers, "exchange": exchange, "length": length, "drift": drift, "steps": steps, "partials": partials,
    "integrators": lambda run: ratios(integrators(run.rounds)),
    "jpl": lambda run: ratios(jpl.compared(load(FIVE_BODY), run.rounds)),
    "batch": batch, "threads": threads, "singles": singles, "starts": starts, "table2": table2, "commit": commit,
}  # fmt: skip


def ratios(rows: list[Row], what: str = "what") -> str:
    """A table of what was compared, how, and what is wanted."""
    return str(Table((what, "ratio", "wanted"), [(what, number(ratio), wanted) for what, ratio, wanted in rows]))


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all unless named")
    parser.add_argument("--rounds", type=int, default=15, help="rounds to take the median of")
    parser.add_argument(
        "--quick", action="store_true", help="few and small systems, some three minutes; implies --show"
    )
    parser.add_argument("--show", action="store_true", help="print the tables, write nothing")
    parser.add_argument("--against", metavar="COMMIT", default="", help="an earlier commit to compare with")
    parser.add_argument("--peers", type=Path, default=HERE.parent / ".venv" / "peers", help="environment of the peers")
    parser.add_argument(
        "--build", type=Path, help="folder for what is built of peers; in their environment unless given"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ModelWarning)
    if unknown := set(asked.sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    chosen = asked.sections or [name for name in SECTIONS if name != "commit" or asked.against]
    site = against_peers.Site(asked.peers.absolute(), (asked.build or asked.peers / "build").absolute())
    put: Callable[[str, str], object] = page.put
    if asked.show or asked.quick:
        put = lambda name, text: print(f"\n## {name}\n\n{text}", flush=True)  # noqa: E731
    put("machine", page.machine(site.versions()))
    everywhere = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="mbdy-bench-") as folder:
        run = Run(asked.rounds, asked.quick, asked.against, site, Path(folder))
        for name in chosen:
            begin = time.perf_counter()
            (os.sched_setaffinity(0, everywhere) if name in ("starts", "threads") else pinned())
            put(name, SECTIONS[name](run))
            print(f"{name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
