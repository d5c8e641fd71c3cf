"""Derivatives of a schedule: its values once, which leave coefficients behind, then changes as a linear schedule.

What a kernel makes of changes of its inputs is linear in these. Its coefficients are found where values are, once at a
point; then any number of directions, or of gradients, takes only sums of products with them. Nothing is done for
arguments whose changes are not asked for, nor for results that are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbdy.engine.core.linear_kernels import (
    Entry,
    LinearKernel,
    change,
    copy,
    dependencies,
    gradient,
    linear,
    total,
    union,
    values,
)  # fmt: skip
from mbdy.engine.core.schedule import SEGMENT, ZEROS, Guard, Kernel, KernelCall, Places, Schedule, Solution


@dataclass(eq=False, frozen=True)
class LinearCall:
    """A call with its `LinearKernel`: where, in the schedule, numbers change, and those that they change; where its
    coefficients begin among all."""

    call: KernelCall
    linear: LinearKernel
    inputs: Places
    outputs: Places
    at: int


@dataclass(eq=False, frozen=True)
class Linearised:
    """The derivatives of a schedule by arguments ``wrt``, of results ``of``, as schedules of their own.

    `values` makes coefficients of the schedule's arguments. `changes` and `gradients` take these, then a change of each
    of ``wrt``, which gives one of each of ``of``, or a seed for each of ``of``, which gives gradients. Their names are
    ``name`` with theirs behind it.
    """

    schedule: Schedule
    wrt: tuple[int, ...]
    of: tuple[int, ...]
    name: str

    @cached_property
    def calls(self) -> tuple[LinearCall, ...]:
        """The calls on the way from what changes to what that changes, in order."""
        active = self._active
        needed = {p for o in self.of for p in self.schedule.results[o].tolist() if p in active}
        found, at = [], 0
        for call in reversed(self.schedule.calls):
            wanted = tuple(
                (o, n) for o, output in enumerate(call.outputs) for n, p in enumerate(output.tolist()) if p in needed
            )
            if not wanted:
                continue
            felt = union(dependencies(call.kernel)[o][n] for o, n in wanted)
            along = tuple(
                (i, n)
                for bit, (i, n) in enumerate(call.kernel.reads)
                if felt >> bit & 1 and int(call.inputs[i][n]) in active
            )
            of, inputs = linear(call.kernel, along, wanted), _picked(call.inputs, along)
            needed.update(inputs.tolist())
            found.append(LinearCall(call, of, inputs, _picked(call.outputs, wanted), at))
            at += of.size
        return tuple(reversed(found))

    @property
    def _active(self) -> set[int]:
        """The places whose numbers change with arguments ``wrt``."""
        s = self.schedule
        active = {(1 + i) * SEGMENT + n for i in self.wrt for n in range(s.arguments[i])}
        for call in s.calls:
            places = (int(call.inputs[i][n]) for i, n in call.kernel.reads)
            mask = union(1 << bit for bit, place in enumerate(places) if place in active)
            if mask:
                for output, felt in zip(call.outputs, dependencies(call.kernel), strict=True):
                    active.update(p for p, bits in zip(output.tolist(), felt, strict=True) if bits & mask)
        return active

    @cached_property
    def _conditions(self) -> tuple[int, ...]:
        """Places, in the schedule, of what guards calls: the last coefficients."""
        return tuple(dict.fromkeys(one.call.guard.place for one in self.calls if one.call.guard))

    @cached_property
    def _own(self) -> int:
        """How many coefficients kernels leave."""
        return sum(one.linear.size for one in self.calls)

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return self._own + len(self._conditions)

    @cached_property
    def values(self) -> Schedule:
        """From the schedule's arguments to the coefficients."""
        s, linears = self.schedule, {id(one.call): one for one in self.calls}
        result, work = (1 + len(s.arguments)) * SEGMENT, (1 + len(s.arguments) + len(s.outputs)) * SEGMENT
        shift, needed, calls = (1 - len(s.outputs)) * SEGMENT, set(self._conditions), []

        def moved(places: Places) -> Places:
            return np.where(places >= work, places + shift, places)

        for call in reversed(s.calls):
            one = linears.get(id(call))
            used = tuple(any(p in needed for p in output.tolist()) for output in call.outputs)
            if isinstance(call.kernel.function, Solution) and (one or any(used)):
                used = tuple(True for _ in used)
            own = one.linear.size if one else 0
            if not any(used) and not own:
                continue
            kernel = values(call.kernel, one.linear if one else None, used)
            outputs = [moved(output) for output, u in zip(call.outputs, used, strict=True) if u]
            if one and own:
                outputs.append(result + one.at + np.arange(own))
            guard = call.guard and Guard(int(moved(np.array(call.guard.place))), call.guard.when)
            calls.append(KernelCall(kernel, [moved(a) for a in call.inputs], outputs, guard))
            needed.update(int(call.inputs[i][n]) for i, n in kernel.reads)
            needed.update([call.guard.place] if call.guard else [])
        left = np.concatenate([result + np.arange(self._own), moved(np.array(self._conditions, dtype=np.int64))])
        return Schedule(
            f"{self.name}_values", s.arguments, (self.size,), s.constants, s.work, calls[::-1], [left]
        )  # fmt: skip

    def _coefficients(self, one: LinearCall) -> Places:
        return SEGMENT + one.at + np.arange(one.linear.size)

    def _guard(self, one: LinearCall) -> Guard | None:
        guard = one.call.guard
        return guard and Guard(SEGMENT + self._own + self._conditions.index(guard.place), guard.when)

    def changes(self, directions: int = 1) -> Schedule:
        """From coefficients and changes of arguments to changes of results: of so many ``directions`` at once, the
        numbers of each place beside each other."""
        s, wrt = self.schedule, self.wrt
        made = _LinearSchedule(self, "changes", [s.arguments[i] for i in wrt], [s.outputs[o] for o in self.of])
        place = {(1 + i) * SEGMENT + n: (2 + a) * SEGMENT + n for a, i in enumerate(wrt) for n in range(s.arguments[i])}
        for one in self.calls:
            if int(one.outputs[0]) not in place:  # or the other branch made them
                place.update(zip(one.outputs.tolist(), made.fresh(len(one.outputs)).tolist(), strict=True))
            given = [self._coefficients(one), _through(place, one.inputs)]
            made.call(change(one.linear, directions), given, _through(place, one.outputs), self._guard(one))
        return made.done([_through(place, s.results[o]) for o in self.of], directions)

    def gradients(self) -> Schedule:
        """From coefficients and seeds to gradients of the sum of products of seeds and results: the calls of `changes`
        turned around, from the last to the first."""
        s, wrt = self.schedule, self.wrt
        made = _LinearSchedule(self, "gradients", [s.outputs[o] for o in self.of], [s.arguments[i] for i in wrt])
        sums: dict[int, int] = {}

        def add(kernel: Kernel, inputs: list[Places], places: list[int], guard: Guard | None) -> None:
            fresh = made.fresh(len(places))
            made.call(kernel, inputs, fresh, guard)
            if guard:  # where the call is not made, sums stay as they are
                unless = Guard(guard.place, not guard.when)
                made.call(copy(len(places)), [_through(sums, np.array(places))], fresh, unless)
            sums.update(zip(places, fresh.tolist(), strict=True))

        for a, o in enumerate(self.of):
            for n, p in enumerate(s.results[o].tolist()):
                seed = (2 + a) * SEGMENT + n
                if p in sums:
                    add(total(2), [np.array([sums[p], seed])], [p], None)
                sums.setdefault(p, seed)
        for one in reversed(self.calls):
            seeded = tuple(n for n, p in enumerate(one.outputs.tolist()) if p in sums)
            if not seeded or not len(one.inputs):  # one branch may have what nothing changes
                continue
            by_place: dict[int, list[int]] = {}
            for n, p in enumerate(one.inputs.tolist()):
                by_place.setdefault(p, []).append(n)
            places = [*by_place]
            added = tuple(n for n, p in enumerate(places) if p in sums)
            so_far = np.array([sums[places[n]] for n in added], dtype=np.int64)
            kernel = gradient(one.linear, tuple(map(tuple, by_place.values())), seeded, added)
            given = [self._coefficients(one), _through(sums, one.outputs[list(seeded)]), so_far]
            add(kernel, given, places, self._guard(one))
        return made.done([_through(sums, np.arange(s.arguments[i]) + (1 + i) * SEGMENT) for i in wrt])


class _LinearSchedule:
    """A linear schedule on its way, of coefficients and what is ``given``."""

    def __init__(self, of: Linearised, name: str, given: Sequence[int], outputs: Sequence[int]) -> None:
        self._name, self._arguments, self._outputs = f"{of.name}_{name}", (of.size, *given), tuple(outputs)
        self._work, self._begin = 0, (1 + len(self._arguments) + len(outputs)) * SEGMENT
        self._calls: list[KernelCall] = []

    def fresh(self, n: int) -> Places:
        at = self._begin + self._work
        self._work += n
        return np.arange(at, at + n)

    def call(self, kernel: Kernel, inputs: list[Places], outputs: Places, guard: Guard | None) -> None:
        self._calls.append(KernelCall(kernel, inputs, [outputs], guard))

    def done(self, results: list[Places], directions: int = 1) -> Schedule:
        zeros = [0.0] * ZEROS
        return Schedule(
            self._name, self._arguments, self._outputs, zeros, self._work, self._calls, results, directions
        )  # fmt: skip


def _picked(places: Sequence[Places], entries: Sequence[Entry]) -> Places:
    return np.array([places[i][n] for i, n in entries], dtype=np.int64)


def _through(place: Mapping[int, int], places: Places) -> Places:
    """Where the numbers of ``places`` are: zero where there are none."""
    return np.array([place.get(p, n % ZEROS) for n, p in enumerate(places.tolist())], dtype=np.int64)
