"""The native FMU timed from C (fmu.c) beside the bare core: steps, single steps' worst, partial derivatives."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import fmpy
from timing import Row, ratio

from mbdy.engine import Model, compiled
from mbdy.engine.core.build import compiler
from mbdy.engine.core.integrators import CODES
from mbdy.fmu import export_fmu
from mbdy.fmu.table import Array, Scalar, arrays, scalars

ROOT = Path(__file__).resolve().parent.parent
HEADERS = (ROOT / "engine/mbdy/engine/core", ROOT / "fmu_src/mbdy/fmu/native/headers")
VERSIONS = ("2.0", "3.0")
SEEN = ("omega", "joint_rates", "attitude", "joint_positions")
"""Ports of outputs that a controller reads after each step."""


@dataclass(frozen=True)
class Subject:
    """A model with its core and its native FMUs, exported into ``folder``; ``program`` is fmu.c's."""

    model: Model
    folder: Path
    step: float
    program: Path

    @cached_property
    def fmus(self) -> list[tuple[Path, str]]:
        """The library and the token of the FMU of each version."""
        return [self._exported(fmi) for fmi in VERSIONS]

    def times(
        self, mode: str, rounds: int, count: int, *, peers: Sequence[Path] = (), numbers: Sequence[float] = ()
    ) -> Mapping[str, list[float]]:
        """What fmu.c prints, by name: nanoseconds a call; of libraries of ``peers`` too, that take ``numbers``."""
        libraries = [compiled(self.model).library, *(part for fmu in self.fmus for part in fmu), *peers]
        command = list(map(str, (self.program, mode, rounds, count, self.step, *libraries)))
        plan = " ".join([self._plan, repr(len(numbers)), *map(repr, numbers)])
        done = subprocess.run(command, input=plan, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"fmu.c {mode} ended with {done.returncode}: {done.stderr.strip()}")
        lines = [line.split() for line in done.stdout.splitlines()]
        return {name: [float(value) for value in values] for name, *values in lines}

    def _exported(self, fmi: str) -> tuple[Path, str]:
        fmu = export_fmu(self.model, self.folder / f"native{fmi[0]}.fmu", fmi=fmi, kind="native", step=self.step)
        unpacked = Path(fmpy.extract(fmu, self.folder / fmu.stem))
        token = str(fmpy.read_model_description(unpacked, validate=False).guid)
        return next((unpacked / "binaries").glob("*/*.so")), token

    @cached_property
    def _plan(self) -> str:
        ports = compiled(self.model).equations.ports
        numbers: list[float] = []
        for vector in (ports.start, ports.vector("input"), ports.vector("parameter")):
            numbers += [len(vector), *vector]
        port = {name: v.port for v in ports for name in v.scalar_names}
        for fmi in VERSIONS:
            table = scalars(ports, derivatives=True, independent=fmi == "3.0")
            for chosen in _lists(arrays(table, scalars=fmi == "2.0"), port):
                numbers += [len(chosen), sum(one.size for one in chosen), *(one.value_reference for one in chosen)]
        return " ".join(map(repr, numbers))


def _lists(variables: Sequence[Array], port: Mapping[str, str]) -> list[list[Array]]:
    """The lists of fmu.c, in its order."""

    def those(wanted: Callable[[Scalar], bool]) -> list[Array]:
        return [one for one in variables if wanted(one.first)]

    states = those(lambda row: row.state is not None)
    inputs = those(lambda row: row.vector == "u" and not row.boolean)
    torques = [one for one in inputs if port[one.first.name] == "joint_torques"]
    return [
        torques,
        those(lambda row: row.vector == "y" and port[row.name] in SEEN),
        those(lambda row: row.vector == "dx"),
        those(lambda row: row.vector == "y"),
        [next(one for one in states if port[one.first.name] == "joint_positions")],
        torques[:1],
        states + inputs,
    ]  # fmt: skip


def program(folder: Path) -> Path:
    """fmu.c as a program in ``folder``."""
    made, source = folder / "fmu", str(Path(__file__).with_name("fmu.c"))
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", f"-DRK4={CODES['rk4']}", *(f"-I{header}" for header in HEADERS)]
    subprocess.run([*compiler().command, *flags, source, "-o", str(made), "-ldl"], check=True)
    return made


def steps(subject: Subject, rounds: int) -> list[Row]:
    """Native steps of one internal step each against the core's."""
    times = subject.times("steps", 10 * rounds, 1000)
    rows: list[Row] = [("core step, µs", statistics.median(times["step"]) / 1e3, "")]
    for n in (fmi[0] for fmi in VERSIONS):
        call = f"fmi{n}DoStep"
        rows += [
            (what, ratio(times, f"{name}{n}", base), wanted)
            for what, name, base, wanted in (
                (f"{call} / core step", "step", "step", "<= 1.1"),
                (f"{call} / core step without outputs", "step", "advance", "<= 1.1"),
                (f"{call}, then rates and attitudes got / core step", "step_get", "step", "<= 1.2"),
                (f"torques set, {call}, rates and attitudes got / core step", "set_step_get", "step", "<= 1.2"),
            )
        ]
    return rows


def single_steps(subject: Subject, count: int) -> list[tuple[str, list[float]]]:
    """Wall time [µs] of ``count`` steps: median, 99.99 %, worst without those that others interrupted; then of all."""
    said = {
        "idle": "a loop of 4.5 µs", "advance": "core step without outputs",
        "step2": "fmi2DoStep", "step3": "fmi3DoStep",
    }  # fmt: skip
    times = subject.times("worst", 1, count)
    note = "" if times["locked"] == [1.0] else ", memory not locked"
    return [(f"{what}{note}", [value / 1e3 for value in times[name]]) for name, what in said.items()]


PARTIALS = {
    "all derivatives by one state": ("rates_by_state3", "rates3", "<= 2.5"),
    "a further state at the same point": ("rates_by_state_more3", "rates3", "<= 1.3"),
    "all derivatives by one input": ("rates_by_input3", "rates3", "<= 2.5"),
    "a further input at the same point": ("rates_by_input_more3", "rates3", "<= 1.3"),
    "adjoint of all derivatives": ("adjoint_of_rates3", "rates3", "<= 2.6"),
    "all outputs": ("outputs3", "rates3", ""),
    "all outputs by one input / all outputs": ("outputs_by_input3", "outputs3", "<= 3"),
    "adjoint of all outputs / all outputs": ("adjoint_of_outputs3", "outputs3", ""),
}
"""What is timed, what by, and what is wanted; in right-hand sides unless another name follows a stroke."""


def partials(subject: Subject, rounds: int) -> dict[str, float]:
    """Ratios by the names of `PARTIALS`, after the microseconds of one right-hand side."""
    times = subject.times("partials", 3 * rounds, max(3, 2000 // len(subject.model.bodies)))
    first = {"right-hand side, µs": statistics.median(times["rates3"]) / 1e3}
    return first | {what: ratio(times, name, base) for what, (name, base, _) in PARTIALS.items()}
