"""``mbdy demo``: the quickstart example as an FMU under its controller, from the model file to a report."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbdy.app.common import RequestError, guarded, load_model, program, said_warnings, say, show_json, terminal
from mbdy.app.output_files import target
from mbdy.app.progress import busy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mbdy.blocks import Run
    from mbdy.engine import Model

    Array = NDArray[np.float64]

EXAMPLE = "quickstart"
MODEL, CONTROLLER = "satellite.toml", "controller.py"
UNTIL = 60.0
"""[s]"""
SAMPLE = 0.02
"""[s] Period of the controller and communication step of the FMU."""
STRIDE = 5
"""Samples from one recorded row to the next."""
SPAN = {"start": slice(1), "largest": slice(None), "end": slice(-1, None)}
"""What the table of results shows of an angle or a rate, the largest of these rows."""
BODY = "bus"
"""The body that the controller turns."""


@guarded
def demo(
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path("mbdy-demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Say the results as JSON, in SI units.")] = False,
) -> None:
    """Export a two-panel satellite as an FMU, step it with FMPy under an attitude controller, and report.

    The example's files are copied into the folder; change them there and run the demo again.
    """
    copied(folder)
    files = {name: target(folder / name, "--folder") for name in ("satellite.fmu", "run.csv", "report.html")}
    model = load_model(folder / MODEL)
    controller = _Controller(folder / CONTROLLER)
    from mbdy.app.fmu_run import step_fmu
    from mbdy.app.report import report
    from mbdy.blocks import simulate
    from mbdy.fmu import export_fmu

    with busy("exporting the FMU") as tell:
        export_fmu(model, files["satellite.fmu"], progress=lambda stage, done: tell(done))
    with busy("stepping the FMU with FMPy") as tell:
        run = step_fmu(
            files["satellite.fmu"], model, controller.fresh(), until=UNTIL, sample=SAMPLE, stride=STRIDE, tell=tell
        )
    with busy("the same as a block") as tell:
        block = simulate(
            model, until=UNTIL, every=SAMPLE * STRIDE, controller=controller.fresh(), sample=SAMPLE, progress=tell
        )
    run.to_csv(files["run.csv"])
    settings = {
        "run as": "FMU (FMI 2.0 co-simulation) stepped by FMPy",
        "until": f"{UNTIL:g} s",
        "controller": f"{CONTROLLER}, every {SAMPLE:g} s",
        "recorded every": f"{SAMPLE * STRIDE:g} s",
        "internal step": "0.001 s",
        "integrator": "rk4",
    }
    report(run, model, files["report.html"], settings=settings, warnings=said_warnings)
    results = measured(run, block, controller.errors(run))
    if as_json:
        show_json({"ok": True, "files": files, "results": results, "warnings": said_warnings})
    else:
        _show(model, results, folder, files)


def example_folder(name: str = EXAMPLE) -> Path:
    """Where the files of an example lie: in the installed package, or in the source tree's ``examples/``."""
    here = Path(__file__).resolve()
    for folder in (here.parent / "examples" / name, here.parents[3] / "examples" / name):
        if folder.is_dir():
            return folder
    raise RequestError(f"the example {name!r} is missing from this installation; install mbdy again")


def copied(folder: Path) -> None:
    """Copy the example into ``folder``, each file whole; those that are there stay as they are."""
    from mbdy.engine.model.whole_file import whole_file

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source in sorted(example_folder().iterdir()):
            if source.is_file() and not (folder / source.name).exists():
                with whole_file(folder / source.name, binary=True) as file:
                    file.write(source.read_bytes())
    except FileExistsError:
        raise RequestError(f"--folder: {folder} is no folder; give another name") from None


class _Controller:
    """The controller's file; its mistakes are told with their line, for it is there to be changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._names = self._told(lambda: runpy.run_path(str(path)))
        for name in ("make_controller", "attitude_error", "TARGET"):
            if name not in self._names:
                raise RequestError(f"{path}: must define {name}; take the example's file again (delete this one)")

    def fresh(self) -> Callable[[float, Any], Mapping[str, object]]:
        """A controller for one run."""
        control = self._told(self._names["make_controller"])
        return lambda t, y: self._told(control, t, y)

    def errors(self, run: Run) -> Array:
        """Angle [rad] between the bus and the target, at each row."""
        import numpy as np

        aim, error = self._names["TARGET"], self._names["attitude_error"]
        parts = np.array([self._told(error, aim, q) for q in run[f"{BODY}.attitude"]])
        return 2 * np.arctan2(np.linalg.norm(parts[:, 1:], axis=1), abs(parts[:, 0]))

    def _told(self, function: Callable[..., Any], *arguments: object) -> Any:
        try:
            return function(*arguments)
        except Exception as fault:
            raise RequestError(f"{self.path}{self._line(fault)}: {type(fault).__name__}: {fault}") from fault

    def _line(self, fault: Exception) -> str:
        """Where in the controller's file ``fault`` arose."""
        place = f", line {fault.lineno}" if isinstance(fault, SyntaxError) else ""
        trace = fault.__traceback__
        while trace:
            if trace.tb_frame.f_code.co_filename == str(self.path):
                place = f", line {trace.tb_lineno}"
            trace = trace.tb_next
        return place


def measured(run: Run, block: Run, errors: Array) -> dict[str, float]:
    """What the demo shows, in SI."""
    import numpy as np

    from mbdy.app.summary import drift

    angles = [np.abs(run[v.name]) for v in run.ports.outputs if v.quantity == "angle"]
    series = {
        "attitude_error": errors,
        "rate": np.linalg.norm(run[f"{BODY}.omega"], axis=1),
        "panel_angle": np.max(angles, axis=0) if angles else np.zeros(len(run)),
    }
    watched = [v.name for v in run.ports.outputs if v.port in ("omega", "attitude", "joint_rates", "joint_positions")]
    return {
        **{f"{name}_{at}": float(values[rows].max()) for name, values in series.items() for at, rows in SPAN.items()},
        "momentum_drift": drift(run, "system.momentum").worst,
        "work_residual": float(np.abs(run["system.work_residual"]).max()),
        "fmu_against_block": max(float(np.abs(run[name] - block[name]).max()) for name in watched),
    }


def _show(model: Model, results: Mapping[str, float], folder: Path, files: Mapping[str, Path]) -> None:
    from math import degrees

    from rich.table import Table

    from mbdy.engine.model.text import visible

    table = Table(title=f"{visible(model.name)}: {UNTIL:g} s as an FMU under {CONTROLLER}", title_justify="left")
    table.add_column("")
    for heading in SPAN:
        table.add_column(heading, justify="right")
    table.add_column("unit")
    for what, stem, unit in (
        ("attitude error", "attitude_error", "deg"),
        (f"rate of the {BODY}", "rate", "deg/s"),
        ("panel angle", "panel_angle", "deg"),
    ):
        table.add_row(what, *(f"{degrees(results[f'{stem}_{at}']):.4g}" for at in SPAN), unit)
    table.add_section()
    for what, key, unit in (
        ("linear momentum, drift", "momentum_drift", "N.s"),
        ("power balance, residual", "work_residual", "W"),
        ("FMU against block, rates and attitudes", "fmu_against_block", "SI"),
    ):
        table.add_row(what, "", f"{results[key]:.1e}", "", unit)
    terminal().print(table)
    for path, what in (
        (files["report.html"], "plots; open it in a browser"),
        (files["run.csv"], "every output over time"),
        (files["satellite.fmu"], "the FMU"),
        (folder / MODEL, f"the model, beside {CONTROLLER}: change them, then run the demo again"),
    ):
        say(f"{path}  {what}")
    say(f"next: {program()} new mysat")
