"""Inputs over time from a table or a CSV file, held between its rows or linear from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.errors import RowError, VariableError
from mbdy.engine import Ports, Variable
from mbdy.engine.model.contents import SourceFile, contents, number_in, recorded, source_files, table_of
from mbdy.engine.model.faults import RefusalError, shown
from mbdy.engine.model.values import array_of

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class InputTable:
    """Values (n, number of ``names``) of input scalars at ``time`` (n) [s], increasing.

    Between rows they are held, or ``linear`` but for ``switches`` (one flag a name); before the first row and after
    the last they stay as there. ``source`` is the file that they come from.
    """

    names: tuple[str, ...]
    time: Array
    values: Array
    linear: bool = False
    switches: tuple[bool, ...] = ()
    source: SourceFile | None = None

    def __post_init__(self) -> None:
        rows, columns = self.values.shape
        if rows != self.time.size or columns != len(self.names):
            raise VariableError(
                f"an input table of {self.time.size} times and {len(self.names)} names has {rows} rows of "
                f"{columns} values"
            )
        object.__setattr__(self, "switches", self.switches or (False,) * columns)
        for what, array in (("time", self.time), *zip(self.names, self.values.T, strict=True)):
            if bad := np.flatnonzero(~np.isfinite(array)).tolist():
                raise RowError(bad[0], f"{what} must be finite, got {array[bad[0]]}")
        late = np.flatnonzero(np.diff(self.time) <= 0).tolist()
        if late:
            row = late[0] + 1
            raise RowError(row, f"time must increase, got {self.time[row]} s after {self.time[row - 1]} s")

    def since(self, begin: float) -> InputTable:
        """The same with times that count from ``begin`` [s]."""
        return replace(self, time=self.time - begin)

    def at(self, times: Array, close: float = 0.0) -> Array:
        """Values (m, number of names) at ``times`` (m); instants nearer than ``close`` [s] are one."""
        rows = np.searchsorted(self.time, times + close, side="right") - 1
        values = self.values[np.clip(rows, 0, None)]
        if self.linear:
            for k in np.flatnonzero(~np.array(self.switches)):
                values[:, k] = np.interp(times, self.time, self.values[:, k])
        return values


def input_table(
    source: str | PathLike[str] | Mapping[str, ArrayLike] | InputTable, table: Ports, *, linear: bool
) -> InputTable:
    """The inputs in a CSV file (a column ``time`` and input names) or a mapping of the same; a table as it is.

    A mapping's vector inputs may be given whole: ``{"time": (n), "bus.torque": (n, 3)}``.
    Raises `VariableError` for an unknown name, a missing column or a bad number, naming the line.
    """
    if isinstance(source, InputTable):
        return source
    if not isinstance(source, Mapping | str | PathLike):
        raise VariableError(f"inputs: a CSV file or a mapping of names to columns is needed, got {shown(source)}")
    if not isinstance(source, Mapping):
        path = Path(source)
        with recorded():
            columns, lines = _read(path)
            [file] = source_files(path.parent)
        try:
            return replace(input_table(columns, table, linear=linear), source=file)
        except RowError as fault:
            raise VariableError(f"{path}, line {lines[fault.row]}: {fault.what}") from None
        except VariableError as fault:
            raise VariableError(f"{path}: {fault}") from None
    columns = source
    if "time" not in columns:
        raise VariableError("an input table needs a column 'time' [s]")
    time = _floats("time", columns["time"], "s").ravel()
    if not time.size:
        raise VariableError("an input table needs at least one row")
    names: list[str] = []
    parts: list[Array] = []
    switches: list[bool] = []
    given = {name: values for name, values in columns.items() if name != "time"}
    try:
        table.each_once(given)
    except (KeyError, RefusalError) as fault:
        raise VariableError(f"input table: {fault}") from None
    for name, values in given.items():
        variable, part = table.find(name)
        if variable.causality != "input":
            raise VariableError(f"input table: {name!r} is no input (causality: {variable.causality})")
        elements = variable.scalar_names[part]
        parts.append(_block(name, values, time.size, elements, variable, part))
        names += elements
        switches += [variable.boolean] * len(elements)
        if variable.boolean and (odd := np.flatnonzero(~np.isin(parts[-1], (0.0, 1.0)).all(axis=1))).size:
            raise RowError(int(odd[0]), f"{name!r} is a switch; its values must be 0 or 1")
    values = np.hstack(parts) if parts else np.empty((time.size, 0))
    return InputTable(tuple(names), time, values, linear, tuple(switches))


def _floats(name: str, values: object, unit: str, *, boolean: bool = False) -> Array:
    try:
        return array_of(f"input table: {name!r}", values, unit, boolean=boolean)
    except RefusalError as refusal:
        raise VariableError(str(refusal)) from None


def _block(
    name: str, values: ArrayLike, rows: int, elements: tuple[str, ...], variable: Variable, part: slice
) -> Array:
    """The columns (rows, number of elements) of one variable."""
    units = set(variable.units[part])
    block = _floats(name, values, units.pop() if len(units) == 1 else "", boolean=variable.boolean)
    if block.ndim == 0:
        block = np.full(rows, block)
    if block.ndim == 1:
        block = block[:, None]
    if block.shape != (rows, len(elements)):
        several = f"; it has the elements {', '.join(elements)}" if len(elements) > 1 else ""
        raise VariableError(
            f"input table: {name!r} needs {rows} rows of {len(elements)} values, got shape {np.shape(values)}{several}"
        )
    return block


def _read(path: Path) -> tuple[dict[str, list[float]], list[int]]:
    """Columns of a CSV file by their headers, and the line of each row."""
    try:
        header, rows = table_of(contents(path), path)
        columns: dict[str, list[float]] = {name: [] for name in header}
        for line, row in rows:
            if len(row) != len(header):
                point = "; write decimals with a point" if len(row) > len(header) else ""
                raise VariableError(f"{path}, line {line}: {len(header)} values are needed, got {len(row)}{point}")
            for name, text in zip(header, row, strict=True):
                columns[name].append(number_in(text, f"{path}, line {line}: {name}"))
    except OSError as fault:
        raise VariableError(f"{path}: {fault.strerror or fault}") from None
    except RefusalError as fault:
        raise VariableError(str(fault)) from None
    except MemoryError:
        raise VariableError(f"{path}: does not fit into memory; give fewer rows") from None
    return columns, [line for line, _ in rows]
