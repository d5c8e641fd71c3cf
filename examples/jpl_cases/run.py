"""The report's cases, each beside its reference.

    python run.py
    python run.py --case case2 --subroutine MBDYTL --out results

Prints the largest difference from the reference for each variable, and when the jets fired first. With ``--out`` each
run is written there as a CSV file under the report's names.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from cases import CASES
from jets import run_with_jets
from program import Program, Trajectory
from reference import differences, pulse_differences, reference
from vehicle import NOMINAL, at_nominal, vehicle

from mbdy.blocks.jpl import MBDY, MBDYL, MBDYPL, MBDYTL

SUBROUTINES = {"MBDY": MBDY, "MBDYTL": MBDYTL, "MBDYL": MBDYL, "MBDYPL": MBDYPL}
LI = (0, 0, 1, 1)  # the boom's hinges are linear in MBDYPL
ALL = (("case1", "MBDY"), ("case1", "MBDYPL"), ("prescribed", "MBDY"), ("case2", "MBDY"), ("case2", "MBDYTL"),
       ("case2", "MBDYL"), ("jets", "MBDY"))  # fmt: skip


def program(case: str, subroutine: str) -> Program:
    """A case with one of the four; the linear ones get the vehicle as it is about the nominal platform angles."""
    if subroutine in ("MBDYTL", "MBDYL"):
        return Program(CASES[case], at_nominal(vehicle(), NOMINAL), SUBROUTINES[subroutine])
    more = (LI,) if subroutine == "MBDYPL" else ()
    return Program(CASES[case], vehicle(), SUBROUTINES[subroutine], *more)


def told(case: str, subroutine: str, out: Path | None) -> None:
    """Run and say how far from the reference it went."""
    run = program(case, subroutine).run()
    linear = subroutine in ("MBDYTL", "MBDYL")
    found = differences(run, reference(f"{case} linear" if linear else case))
    print(f"{CASES[case].title}, {subroutine}: largest differences from the reference")
    print("  " + "  ".join(f"{name} {worst.max():.0e}" for name, worst in found.items()))
    if out is not None:
        write(run, out / f"{case}_{subroutine}.csv")


def jets(out: Path | None) -> None:
    """Case 1 with jets."""
    located = run_with_jets(CASES["case1"], progress=sys.stderr.isatty())
    print("Case 1 with jets: axis, pulses, first pulse [s], largest difference of a pulse from the reference [s]")
    for axis, worst in enumerate(pulse_differences(located), start=1):
        print(f"  {axis}  {len(located.pulses(axis - 1)):4d}  {located.first(axis - 1):9.5f}  {worst:.0e}")
    if out is not None:
        located.run.to_csv(out / "jets_MBDY.csv")


def write(run: Trajectory, path: Path) -> None:
    """A CSV file at full precision."""
    names = ["time", *(f"{n}[{k + 1}]" for n, values in run.columns.items() for k in range(values.shape[1]))]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(np.column_stack([run.time, *run.columns.values()]).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description="The cases of JPL TR 32-1592.")
    parser.add_argument("--case", choices=[*CASES, "jets"], help="one case (default: all)")
    parser.add_argument("--subroutine", choices=SUBROUTINES, default="MBDY", help="what gives accelerations (MBDY)")
    parser.add_argument("--out", type=Path, help="folder for the results")
    given = parser.parse_args()
    if given.subroutine in ("MBDYTL", "MBDYL") and given.case != "case2":
        parser.error("MBDYTL and MBDYL are linear about the platform's angles of Case 2; give --case case2")
    if given.case == "jets" and given.subroutine != "MBDY":
        parser.error("the case with jets goes with MBDY")
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
    for case, subroutine in ALL if given.case is None else ((given.case, given.subroutine),):
        if case == "jets":
            jets(given.out)
        else:
            told(case, subroutine, given.out)


if __name__ == "__main__":
    main()
