"""Case 1 of the report as a block: the spacecraft under its jet controller, in Python.

    python run_block.py --until 60 --out results

Writes ``block.csv`` and prints when each jet fired first, beside the reference.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

from controller import SpacecraftController

from mbdy.blocks import Run, simulate
from mbdy.engine import Model, ModelWarning, load

MODEL = Path(__file__).with_name("five_body.toml")
RECORDED = ("bus.omega", "bus.attitude", "*.joint.angle", "*.joint.rate", "system.angular_momentum")
REFERENCE_PULSES = (18.41794, 4.60882, 32.23540)
"""[s] First pulse of each axis with switching instants located exactly (README.md)."""


def spacecraft() -> Model:
    """The model; its two warnings are known and explained in README.md."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(MODEL)


def block_run(model: Model, controller: SpacecraftController, *, until: float, every: float = 0.05) -> Run:
    """The spacecraft under ``controller`` from 0 to ``until`` [s], recorded ``every`` [s]."""
    return simulate(
        model, until=until, every=every, controller=controller, sample=controller.sample, outputs=RECORDED, step=1e-3
    )


def print_pulses(controller: SpacecraftController) -> None:
    """First pulse of each axis beside the reference."""
    print(f"{'axis':>4}  {'first pulse [s]':>15}  {'reference [s]':>13}  {'difference [ms]':>15}  {'pulses':>6}")
    for axis, (first, reference) in enumerate(zip(controller.first_pulses(), REFERENCE_PULSES, strict=True), start=1):
        count = sum(pulse.axis == axis for pulse in controller.pulses)
        seen = ("none yet", "") if first is None else (f"{first:.5f}", f"{1000 * (first - reference):+.2f}")
        print(f"{axis:>4}  {seen[0]:>15}  {reference:>13.5f}  {seen[1]:>15}  {count:>6}")


def arguments(text: str) -> argparse.ArgumentParser:
    """Options that both runs of this example have."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--until", type=float, default=60.0, help="end of the run [s] (60)")
    parser.add_argument("--sample", type=float, default=1e-3, help="period of the controller [s] (0.001)")
    parser.add_argument("--no-jets", action="store_true", help="leave the jets cold")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    return parser


def folder(chosen: Path | None) -> Path:
    """The folder for results, made if it is not there."""
    if chosen is None:
        return Path(tempfile.mkdtemp(prefix="five_body_"))
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen


def main() -> None:
    given = arguments("The five-body spacecraft under its jet controller, as a block.").parse_args()
    controller = SpacecraftController(jets=not given.no_jets, sample=given.sample)
    model = spacecraft()
    begin = time.perf_counter()
    run = block_run(model, controller, until=given.until)
    spent = time.perf_counter() - begin
    written = run.to_csv(folder(given.out) / "block.csv")
    print(f"{given.until:g} s simulated in {spent:.1f} s, {written}")
    print_pulses(controller)
    degrees = [f"{57.2957795 * run[f'{body}.joint.angle'][-1]:.4f}" for body in ("yoke", "platform")]
    print(f"at {run.time[-1]:g} s: yoke {degrees[0]} deg, platform {degrees[1]} deg")


if __name__ == "__main__":
    main()
