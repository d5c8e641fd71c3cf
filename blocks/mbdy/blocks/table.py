"""Inputs over time from a table or a CSV file, held between its rows or linear from one to the next."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbdy.blocks.errors import VariableError
from mbdy.engine import Ports

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class InputTable:
    """Values (n, number of ``names``) of input scalars at ``time`` (n) [s], increasing.

    Between rows they are held, or ``linear`` but for ``switches`` (one flag a name); before the first row and after
    the last they stay as there.
    """

    names: tuple[str, ...]
    time: Array
    values: Array
    linear: bool = False
    switches: tuple[bool, ...] = ()

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
                raise VariableError(f"input table, row {bad[0] + 1}: {what} must be finite, got {array[bad[0]]}")
        late = np.flatnonzero(np.diff(self.time) <= 0).tolist()
        if late:
            raise VariableError(
                f"input table, row {late[0] + 2}: time must increase, got {self.time[late[0] + 1]} s "
                f"after {self.time[late[0]]} s"
            )

    def at(self, times: Array, close: float = 0.0) -> Array:
        """Values (m, number of names) at ``times`` (m); instants nearer than ``close`` [s] are one."""
        rows = np.searchsorted(self.time, times + close, side="right") - 1
        values = self.values[np.clip(rows, 0, None)]
        if self.linear:
            for k in np.flatnonzero(~np.array(self.switches)):
                values[:, k] = np.interp(times, self.time, self.values[:, k])
        return values


def input_table(source: str | PathLike[str] | Mapping[str, ArrayLike], table: Ports, *, linear: bool) -> InputTable:
    """The inputs in a CSV file (a column ``time`` and input names) or a mapping of the same.

    A mapping's vector inputs may be given whole: ``{"time": (n), "bus.torque": (n, 3)}``.
    Raises `VariableError` for an unknown name, a missing column or a bad number, naming the line.
    """
    columns = source if isinstance(source, Mapping) else _read(Path(source))
    if "time" not in columns:
        raise VariableError("an input table needs a column 'time' [s]")
    time = np.asarray(columns["time"], dtype=float).ravel()
    if not time.size:
        raise VariableError("an input table needs at least one row")
    names: list[str] = []
    parts: list[Array] = []
    switches: list[bool] = []
    for name, values in columns.items():
        if name == "time":
            continue
        try:
            variable, part = table.find(name)
        except KeyError as fault:
            raise VariableError(f"input table: {fault.args[0]}") from None
        if variable.causality != "input":
            raise VariableError(f"input table: {name!r} is no input (causality: {variable.causality})")
        elements = variable.scalar_names[part]
        parts.append(_block(name, values, time.size, elements))
        names += elements
        switches += [variable.boolean] * len(elements)
        if variable.boolean and not np.isin(parts[-1], (0.0, 1.0)).all():
            raise VariableError(f"input table: {name!r} is a switch; its values must be 0 or 1")
    if doubled := {n for n in names if names.count(n) > 1}:
        raise VariableError(f"input table: given twice: {', '.join(sorted(doubled))}")
    values = np.hstack(parts) if parts else np.empty((time.size, 0))
    return InputTable(tuple(names), time, values, linear, tuple(switches))


def _block(name: str, values: ArrayLike, rows: int, elements: tuple[str, ...]) -> Array:
    """The columns (rows, number of elements) of one variable."""
    block = np.asarray(values, dtype=float)
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


def _read(path: Path) -> dict[str, list[float]]:
    """Columns of a CSV file by their headers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if row]
    except OSError as fault:
        raise VariableError(f"{path}: {fault.strerror or fault}") from None
    except UnicodeDecodeError:
        raise VariableError(f"{path}: is not UTF-8 text") from None
    except csv.Error as fault:
        raise VariableError(f"{path}: is no CSV file: {fault}") from None
    if not rows:
        raise VariableError(f"{path}: is empty; its first line names 'time' and inputs")
    header = [name.strip() for name in rows[0][1]]
    columns: dict[str, list[float]] = {name: [] for name in header}
    if len(columns) != len(header):
        raise VariableError(f"{path}: a column is named twice in {', '.join(header)}")
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise VariableError(f"{path}, line {line}: {len(header)} values are needed, got {len(row)}")
        for name, text in zip(header, row, strict=True):
            try:
                columns[name].append(float(text.replace("_", "?")))
            except ValueError:
                raise VariableError(f"{path}, line {line}: {name}: {text!r} is no number") from None
            if not math.isfinite(columns[name][-1]):
                raise VariableError(f"{path}, line {line}: {name}: must be finite, got {text.strip()}")
    return columns
