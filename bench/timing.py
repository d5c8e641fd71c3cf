"""Times of compiled functions called from C, taken in turn so that all see the same machine."""

from __future__ import annotations

import ctypes
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Self, TypeVar

import numpy as np

from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.core.library import standing_alone
from mbdy.engine.core.schedule import schedule
from mbdy.engine.order_n.equations import Equations

Name = TypeVar("Name")
Row = tuple[str, float, str]
"""What was compared, the ratio, and what is wanted."""

SECONDS = 0.01
"""Between two looks at the clock."""
CALLER = """
#include <stdlib.h>

#include "schedule.h"
extern const mbdy_schedule mbdy_model_derivatives;

__attribute__((visibility("default"))) void repeat(int count, const double *x, const double *u, const double *k,
                                                   double *rates) {
    const double *given[%(arguments)d] = {x, u, k};
    double *found[%(results)d] = {rates};
    mbdy_unfold(&mbdy_model_derivatives);
    double *work = calloc(1 + (size_t)mbdy_model_derivatives.work, sizeof *work);
    for (int i = 0; i < count; i++) mbdy_play(&mbdy_model_derivatives, given, found, work);
    free(work);
}
"""


@dataclass(frozen=True)
class Subject:
    """A compiled function at one state: ``repeat`` calls it so many times, with ``arguments`` (vectors or handles)."""

    repeat: Callable[..., object]
    arguments: tuple
    count: int

    def per_call(self) -> float:
        """Processor time of one evaluation [s]."""
        pointers = [a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else a for a in self.arguments]
        begin = time.process_time()
        self.repeat(self.count, *pointers)
        return (time.process_time() - begin) / self.count


def timed(repeat: Callable[..., object], *arguments: object) -> Subject:
    """The subject that makes calls of ``repeat`` for some `SECONDS` a time."""
    one = Subject(repeat, arguments, 1)
    one.per_call()
    count, taken = 1, 0.0
    while taken < SECONDS / 10:
        count *= 4
        taken = Subject(repeat, arguments, count).per_call() * count
    return Subject(repeat, arguments, max(1, int(count * SECONDS / taken)))


def derivatives(made: Equations, x: np.ndarray, u: np.ndarray, flags: Sequence[str] = ()) -> Subject:
    """The derivatives of ``made`` as compiled C at state ``x`` and inputs ``u``; more compiler ``flags`` go last.

    Its arguments are x, u, constants and rates. Raises RuntimeError where they are not those that CasADi evaluates.
    """
    function = made.derivatives
    sizes = {"arguments": function.n_in(), "results": function.n_out()}
    sources = {**standing_alone(schedule(function)), "caller.c": CALLER % sizes}
    repeat = ctypes.CDLL(str(shared_library(sources, compiler(), (*FLAGS, *flags), LINK))).repeat
    repeat.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    k = made.prepare(made.ports.vector("parameter"))
    vectors = [np.ascontiguousarray(np.array(v, dtype=float).ravel()) for v in (x, u, k)]
    rates = np.zeros(len(made.ports.state_names))
    subject = timed(repeat, *vectors, rates)
    expected = np.array(made.derivatives(*vectors)).ravel()
    if not np.allclose(rates, expected, rtol=1e-9, atol=1e-12):
        raise RuntimeError("the compiled derivatives are not those that CasADi evaluates")
    return subject


def start(made: Equations) -> np.ndarray:
    """The model's start as states, loops as they stand."""
    return np.array(made.start(made.ports.start, made.prepare(made.ports.vector("parameter")))).ravel()


def times_of(subjects: Mapping[str, Subject | Asked], rounds: int) -> Mapping[str, list[float]]:
    """Times of each, taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, one in subjects.items():
            times[name].append(one.per_call())
    return times


def ratio(times: Mapping[Name, Sequence[float]], what: Name, base: Name) -> float:
    """Median over the rounds of one thing's time by another's in the same round."""
    return median(a / b for a, b in zip(times[what], times[base], strict=True))


def pinned() -> None:
    """This process and those that it starts stay on one processor, where that can be said."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class EndedError(Exception):
    """A program that was asked has ended; the message is its last word."""


@dataclass
class Asked:
    """Another program that answers a count of evaluations with the processor time of one, on its standard streams."""

    process: subprocess.Popen
    count: int = 1

    @classmethod
    def started(cls, command: Sequence[object], *, cwd: Path, environment: Mapping[str, str] | None = None) -> Self:
        """The program of ``command``, to be asked for some `SECONDS` a time."""
        made = cls(subprocess.Popen(
            list(map(str, command)), cwd=cwd, env=os.environ | (environment or {}), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ))  # fmt: skip
        while (taken := made.per_call() * made.count) < SECONDS / 10:
            made.count *= 4
        made.count = max(1, int(made.count * SECONDS / taken))
        return made

    def ask(self, line: str) -> list[float]:
        """The numbers that it answers. Raises `EndedError` where it has ended."""
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        with suppress(BrokenPipeError):
            print(line, file=self.process.stdin, flush=True)
        if not (said := self.process.stdout.readline()):
            raise EndedError((self.process.stderr.read().strip() or "ended").splitlines()[-1])
        return [float(word) for word in said.split()]

    def per_call(self) -> float:
        """Processor time of one evaluation [s]."""
        return self.ask(str(self.count))[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.process.kill()
        self.process.communicate()
