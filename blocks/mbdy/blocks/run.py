"""`Run`: the outputs of a simulation as arrays by name, and the ways to take them elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import VariableError
from mbdy.engine import Ports
from mbdy.engine.model.faults import MissingPackageError, UnknownNameError
from mbdy.engine.model.patterns import matches, places
from mbdy.engine.model.whole_file import whole_file

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray

Array = NDArray[np.float64]
DEFAULT_PLOT = ("*.omega", "*.joint.angle", "*.joint.displacement")


@dataclass(frozen=True, slots=True)
class Run:
    """Outputs over time: ``time`` (n) [s], ``values`` (n, number of ``names``) in SI.

    ``run["bus.omega"]`` is (n, 3), ``run["bus.omega[2]"]`` and ``run["time"]`` are (n). ``ports`` is the model's
    table of variables. ``complete`` is False where a fault ended the run early.
    """

    title: str
    ports: Ports
    names: tuple[str, ...]
    time: Array
    values: Array
    complete: bool = True

    def __getitem__(self, name: str) -> Array:
        if name == "time":
            return self.time
        if name in self.names:
            return self.values[:, self.names.index(name)]
        variable, _ = self.ports.find(name)
        try:
            columns = [self.names.index(scalar) for scalar in variable.scalar_names]
        except ValueError:
            raise UnknownNameError(f"{name!r} was not recorded; recorded are {', '.join(self.names[:8])} ...") from None
        return self.values[:, columns]

    def __len__(self) -> int:
        return len(self.time)

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write ``time`` and every recorded output under its exact name, at full precision; returns the path."""
        with whole_file(path) as file:
            file.write(",".join(_quoted(name) for name in ("time", *self.names)) + "\n")
            for time, row in zip(self.time.tolist(), self.values.tolist(), strict=True):
                file.write(",".join(map(repr, (time, *row))) + "\n")
        return Path(path)

    def to_xarray(self) -> xarray.Dataset:
        """An xarray Dataset over ``time``, one variable for each output, with units and descriptions.

        Needs the extra ``xarray``.
        """
        try:
            import xarray
        except ImportError:
            raise MissingPackageError("to_xarray needs xarray: pip install mbdy[xarray]") from None
        data = {}
        for variable in self.ports.outputs:
            if not set(variable.scalar_names) <= set(self.names):
                continue
            about = {"units": variable.unit, "long_name": variable.description}
            dims = ("time",) if variable.size == 1 else ("time", f"{variable.name}.index")
            data[variable.name] = (dims, self[variable.name], about)
        return xarray.Dataset(data, coords={"time": ("time", self.time, {"units": "s"})}, attrs={"title": self.title})

    def plot(self, *patterns: str) -> go.Figure:
        """A plotly figure of the outputs that match the patterns (rates and joints by default), a panel each."""
        import plotly.graph_objects as go
        from plotly.subplots import make_subplots

        chosen = [v for v in self.ports.outputs if _matches(v.name, patterns or DEFAULT_PLOT)]
        chosen = [v for v in chosen if set(v.scalar_names) <= set(self.names)]
        if not chosen:
            raise VariableError(f"nothing recorded matches {', '.join(patterns or DEFAULT_PLOT)}")
        figure = make_subplots(rows=len(chosen), cols=1, shared_xaxes=True, subplot_titles=[v.name for v in chosen])
        for row, variable in enumerate(chosen, start=1):
            for scalar in variable.scalar_names:
                trace = go.Scatter(x=self.time, y=self[scalar], name=scalar, mode="lines")
                figure.add_trace(trace, row=row, col=1)
            figure.update_yaxes(title_text=variable.unit, row=row, col=1)
        figure.update_xaxes(title_text="time [s]", row=len(chosen), col=1)
        figure.update_layout(title=self.title, height=180 + 220 * len(chosen))
        return figure


def selected(names: Sequence[str], patterns: Iterable[str] | None, hidden: Iterable[str] = ()) -> list[int]:
    """Places of the scalar outputs that match a pattern: exact names, names without index, or ``bus.*``.

    All without patterns; raises `VariableError` for a pattern that matches none; ``hidden`` are those that the model
    file leaves out.
    """
    if patterns is None:
        return list(range(len(names)))
    try:
        return sorted(places(names, patterns, "output", hidden))
    except KeyError as fault:
        raise VariableError(fault.args[0]) from None


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(matches(name, pattern) for pattern in patterns)


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name
