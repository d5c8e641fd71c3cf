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
CLOSE = 1e-9
"""[s] Times nearer than this are one instant."""


@dataclass(frozen=True, slots=True)
class InputTable:
    """Values (n, number of ``names``) of input scalars at ``time`` (n) [s], increasing."""

    names: tuple[str, ...]
    time: Array
    values: Array
    linear: bool = False

    def __post_init__(self) -> None:
        rows, columns = self.values.shape
        if rows != self.time.size or columns != len(self.names):
            raise VariableError(f"an input table of {self.time.size} times and {len(self.names)} names has "
                                f"{rows} rows of {columns} values")  # fmt: skip
        for what, array in (("time", self.time), *zip(self.names, self.values.T, strict=True)):
            if bad := np.flatnonzero(~np.isfinite(array)).tolist():
                raise VariableError(f"input table, row {bad[0] + 1}: {what} must be finite, got {array[bad[0]]}")
        late = np.flatnonzero(np.diff(self.time) <= 0).tolist()
        if late:
            raise VariableError(
                f"input table, row {late[0] + 2}: time must increase, got {self.time[late[0] + 1]} s "
                f"after {self.time[late[0]]} s"
            )

    def at(self, times: Array) -> Array:
        """Values (m, number of names) at ``times`` (m); before the first row and after the last they stay."""
        if self.linear:
            return np.column_stack([np.interp(times, self.time, column) for column in self.values.T])
        rows = np.searchsorted(self.time, times + CLOSE, side="right") - 1
        return self.values[np.clip(rows, 0, None)]


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
    for name, values in columns.items():
        if name == "time":
            continue
        try:
            variable, part = table.find(name)
        except KeyError as fault:
            raise VariableError(f"input table: {fault.args[0]}") from None
        if variable.causality != "input":
            raise VariableError(f"input table: {name!r} is no input (causality: {variable.causality})")
        block = np.asarray(values, dtype=float)
        names += variable.scalar_names[part]
        parts.append(block.reshape(len(block), -1) if block.ndim else np.full((time.size, 1), float(block)))
    if doubled := {n for n in names if names.count(n) > 1}:
        raise VariableError(f"input table: given twice: {', '.join(sorted(doubled))}")
    return InputTable(tuple(names), time, np.hstack(parts) if parts else np.empty((time.size, 0)), linear)


def _read(path: Path) -> dict[str, list[float]]:
    """Columns of a CSV file by their headers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as fault:
        raise VariableError(f"{path}: {fault.strerror or fault}") from None
    except UnicodeDecodeError:
        raise VariableError(f"{path}: is not UTF-8 text") from None
    if not rows:
        raise VariableError(f"{path}: is empty; its first line names 'time' and inputs")
    header = [name.strip() for name in rows[0]]
    columns: dict[str, list[float]] = {name: [] for name in header}
    if len(columns) != len(header):
        raise VariableError(f"{path}: a column is named twice in {', '.join(header)}")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise VariableError(f"{path}, line {line}: {len(header)} values are needed, got {len(row)}")
        for name, text in zip(header, row, strict=True):
            try:
                columns[name].append(float(text))
            except ValueError:
                raise VariableError(f"{path}, line {line}: {name}: {text!r} is no number") from None
            if not math.isfinite(columns[name][-1]):
                raise VariableError(f"{path}, line {line}: {name}: must be finite, got {text.strip()}")
    return columns
