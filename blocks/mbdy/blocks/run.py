"""`Run`: the outputs of a simulation as arrays by name, and the ways to take them elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import VariableError
from mbdy.blocks.strides import Crossing
from mbdy.engine import Ports, Variable
from mbdy.engine.model.contents import SourceFile
from mbdy.engine.model.display import html_table, table_of_names
from mbdy.engine.model.faults import MissingPackageError, UnknownNameError, nearest
from mbdy.engine.model.patterns import matches, places
from mbdy.engine.model.whole_file import not_over, whole_file

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray

Array = NDArray[np.float64]
DEFAULT_PLOT = ("*.omega", "*.joint.angle", "*.joint.displacement")


@dataclass(frozen=True, slots=True)
class Run:
    """Outputs over time: ``time`` (n) [s], ``values`` (n, number of ``names``) in SI.

    ``run["bus.omega"]`` is (n, 3), ``run["bus.omega[2]"]`` and ``run["time"]`` are (n). ``ports`` is the model's
    table of variables, ``signals`` are those that a controller logged, ``sources`` the files that the model and its
    inputs were read from. ``complete`` is False where a fault ended the run early; ``strides`` are the steps that were
    accepted and rejected, of an integrator that chooses them, ``crossings`` the laws that switched, each a `Crossing`.
    Its keys are ``"time"`` and the
    recorded variables (elements, of those that are not recorded whole), so that ``dict(run)`` has all arrays; its
    length is its number of rows.
    """

    title: str
    ports: Ports
    names: tuple[str, ...]
    time: Array
    values: Array
    complete: bool = True
    signals: tuple[Variable, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    strides: tuple[int, int] | None = None
    crossings: tuple[Crossing, ...] = ()

    def __getitem__(self, name: str) -> Array:
        if name == "time":
            return self.time
        if name in self.names:
            return self.values[:, self.names.index(name)]
        whole = {variable.name: variable for variable in self.variables}
        if name in whole:
            begin = self.names.index(whole[name].scalar_names[0])
            return self.values[:, begin : begin + whole[name].size]
        self.ports.find(name)  # raises with the nearest names
        raise UnknownNameError(f"{name!r} was not recorded; {nearest(name, self)}")

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that are recorded whole: outputs, inputs, logged signals."""
        names = set(self.names)
        known = (*self.ports.outputs, *self.ports.inputs, *self.signals)
        return tuple(variable for variable in known if names.issuperset(variable.scalar_names))

    def keys(self) -> tuple[str, ...]:
        """``"time"`` and what is recorded: variables, and elements of those that are not recorded whole."""
        whole = {name: variable.name for variable in self.variables for name in variable.scalar_names}
        return tuple(dict.fromkeys(("time", *(whole.get(name, name) for name in self.names))))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.names or name in self.keys()

    def __repr__(self) -> str:
        end = f"{len(self)} rows to {self.time[-1]:g} s" if len(self) else "no rows"
        early = "" if self.complete else ", ended early"
        return f"<Run {self.title!r}: {end}{early}; {table_of_names(self.keys())}>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{self[name][-1]}" if len(self) else "") for name in self.keys()]
        return html_table(f"{self!r}".partition(";")[0].strip("<>"), ("recorded", "at the end"), rows)

    def __len__(self) -> int:
        return len(self.time)

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write ``time`` and every recorded output under its exact name, at full precision; returns the path.

        Raises `RefusalError` for a file that the run comes from, and `WriteError`.
        """
        not_over(path, (source.place for source in self.sources))
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
        for variable in self.variables:
            about = {"units": variable.unit, "long_name": variable.description}
            dims = ("time",) if variable.size == 1 else ("time", f"{variable.name}.index")
            data[variable.name] = (dims, self[variable.name], about)
        return xarray.Dataset(data, coords={"time": ("time", self.time, {"units": "s"})}, attrs={"title": self.title})

    def plot(self, *patterns: str) -> go.Figure:
        """A plotly figure of the outputs that match the patterns (rates and joints by default), a panel each."""
        import plotly.graph_objects as go
        from plotly.subplots import make_subplots

        chosen = [v for v in self.variables if _matches(v.name, patterns or DEFAULT_PLOT)]
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


def selected(
    names: Sequence[str], patterns: Iterable[str] | None, hidden: Iterable[str] = (), *, what: str = "output"
) -> list[int]:
    """Places of the scalars that match a pattern: exact names, names without index, or ``bus.*``.

    All without patterns; raises `VariableError` for a pattern that matches none; ``hidden`` are those that the model
    file leaves out.
    """
    if patterns is None:
        return list(range(len(names)))
    try:
        return sorted(places(names, patterns, what, hidden))
    except KeyError as fault:
        raise VariableError(fault.args[0]) from None


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(matches(name, pattern) for pattern in patterns)


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name
