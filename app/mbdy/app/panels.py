"""What a report plots: which outputs share a panel, in the units a person reads, thinned to what a screen shows."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbdy.app.summary import CONSERVED, TOTALS, displayed, drifts, recorded, residual
from mbdy.blocks import Run
from mbdy.engine import Variable

Array = NDArray[np.float64]

POINTS = 2000
"""Most points of a trace."""
FLAT = 1e-9
"""A trace that varies by less, relative to its size, is drawn as a flat line, not as its rounding."""
MOST_PANELS = 24
"""Panels that a section shows."""

DRAWN = ("omega", "attitude", "joint_rates", "joint_positions", "wheels", "residuals", "loops", "springs", "signals")
"""Ports whose outputs have sections of their own."""
MODAL = ("displacement", "strain_energy")
"""Quantities of modes that have."""

FEW = 10
"""Rows of a run that are drawn as points too."""

COLOURS = ("#c8403f", "#2b8a57", "#2563b0", "#b7791f", "#7a4ea3", "#2a8d99")
AXES = {3: ("x", "y", "z"), 4: ("w", "x", "y", "z"), 6: ("n x", "n y", "n z", "f x", "f y", "f z")}
"""Names of the elements of a vector, a quaternion, a load."""
QUATERNION_COLOURS = ("#4a5560", *COLOURS[:3])


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot: its ``title``, a remark, the unit of its axis, and lines (name, values) over time."""

    title: str
    remark: str
    unit: str
    lines: tuple[tuple[str, Array], ...]

    def data(self, time: Array) -> dict[str, Any]:
        """The panel for the page's script."""
        colours = QUATERNION_COLOURS if len(self.lines) == 4 else COLOURS
        traces = []
        for k, (name, values) in enumerate(self.lines):
            rows = thinned(values)
            points = {"x": _packed(time[rows]), "y": _packed(values[rows])}
            traces.append({"name": name, "color": colours[k % len(colours)], **points})
        return {"unit": self.unit, "range": self._range(), "few": len(time) < FEW, "traces": traces}

    def _range(self) -> list[float] | None:
        values = np.concatenate([v for _, v in self.lines])
        low, high = float(values.min()), float(values.max())
        size = max(abs(low), abs(high))
        if not np.isfinite(size) or high - low > FLAT * size:
            return None
        margin = 0.5 * size or 1.0
        return [low - margin, high + margin]


@dataclass(frozen=True, slots=True)
class Section:
    """Panels of one sort under a heading."""

    heading: str
    remark: str
    panels: tuple[Panel, ...]


def sections(run: Run) -> list[Section]:
    """All that the report of ``run`` plots."""
    known = recorded(run)

    bodies = [v for v in known if v.port == "attitude"]
    result = [
        Section(
            "Rates",
            "Angular velocity of each body relative to the inertial frame, in body axes.",
            tuple(panel(run, v) for v in known if v.port == "omega"),
        ),
        Section(
            "Attitudes",
            "From body to inertial axes: quaternion, and the same as Euler angles.",
            tuple(p for v in bodies for p in (panel(run, v), euler_panel(run, v))),
        ),
        Section("Joints", "Positions and speeds of the joints.", tuple(_joints(run, known))),
        Section("Wheels", "Speed relative to the body.", tuple(panel(run, v) for v in known if v.quantity == "speed")),
        Section("Modes", "Modal displacements of flexible bodies, and the energy in them.", tuple(_modes(run, known))),
        Section(
            "Loops",
            "Force and torque of each closed loop on its b, in the axes of the loop frame of a, efforts of gears at "
            "their joints, and the errors of closure, turning rows apart from moving ones.",
            tuple(_loops(run, known)),
        ),
        Section("Springs and contacts", "Between bodies.", tuple(_between(run, known))),
        Section("Chosen outputs", "Of the model file.", tuple(panel(run, v) for v in known if v.port == "signals")),
        Section(
            "Inputs and commands",
            "As table, controller or profile gave them.",
            tuple(_inputs(run)),
        ),
        Section("Signals", "Logged by the controller.", tuple(panel(run, v) for v in run.signals)),
        Section("Momentum and energy", _balance_words(), tuple(_balances(run))),
    ]
    if not set(run.ports.output_names) <= set(run.names):
        drawn = {v.name for v in known if v.port in DRAWN or _modal(v)}
        rest = [v for v in known if v.name not in drawn and v.name not in TOTALS]
        result.append(Section("Other outputs", "Recorded on request.", tuple(panel(run, v) for v in rest)))
    return [section for section in result if section.panels]


def panel(run: Run, variable: Variable) -> Panel:
    """The elements of one output."""
    values = run[variable.name].reshape(len(run), -1)
    shown = [displayed(variable, k) for k in range(variable.size)]
    names = AXES.get(variable.size) or tuple(label.strip("[]") or variable.name for label in variable.labels)
    lines = tuple((names[k], values[:, k] * shown[k][1]) for k in range(variable.size))
    units = list(dict.fromkeys(unit for unit, _ in shown if unit != "1"))
    return Panel(variable.name, variable.description, ", ".join(units), lines)


def euler_panel(run: Run, variable: Variable) -> Panel:
    """An attitude as Euler angles, without jumps at half a turn."""
    w, x, y, z = run[variable.name].T
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    angles = (("roll", np.unwrap(roll)), ("pitch", pitch), ("yaw", np.unwrap(yaw)))
    lines = tuple((name, np.degrees(angle)) for name, angle in angles)
    return Panel(f"{variable.owner}: Euler angles", "Intrinsic z-y-x: yaw, then pitch, then roll", "deg", lines)


def _joints(run: Run, known: Sequence[Variable]) -> Iterator[Panel]:
    """Joint by joint: its positions, then its speeds."""
    ports = ("joint_positions", "joint_rates")
    of_joint = [v for v in known if v.port in ports]
    for joint in dict.fromkeys(v.owner for v in of_joint):
        outputs = [v for v in of_joint if v.owner == joint]
        yield from (panel(run, v) for port in ports for v in outputs if v.port == port)


def _inputs(run: Run) -> Iterator[Panel]:
    """Inputs that are recorded, element by element where not whole."""
    for v in run.ports.inputs:
        places = [k for k, name in enumerate(v.scalar_names) if name in run.names]
        if len(places) == v.size:
            yield panel(run, v)
        elif places:
            lines = tuple((v.labels[k], run[v.scalar_names[k]]) for k in places)
            yield Panel(v.name, v.description, ", ".join({v.units[k] for k in places}), lines)


def _modes(run: Run, known: Sequence[Variable]) -> Iterator[Panel]:
    """Body by body: its modal displacements, then the energy in them."""
    for v in filter(_modal, known):
        if v.quantity == "displacement":
            values = run[v.name].reshape(len(run), -1)
            yield Panel(v.name, v.description, "1", tuple((f"mode {k + 1}", values[:, k]) for k in range(v.size)))
        else:
            yield panel(run, v)


def _modal(variable: Variable) -> bool:
    return variable.owner.kind == "modes" and variable.quantity in MODAL


def _loops(run: Run, known: Sequence[Variable]) -> Iterator[Panel]:
    """Loop by loop: its force and torque, then its errors, each unit by itself."""
    of_loop = [v for v in known if v.port in ("residuals", "loops")]
    for loop in dict.fromkeys(v.owner for v in of_loop):
        outputs = {v.quantity: v for v in of_loop if v.owner == loop}
        yield from (panel(run, outputs[what]) for what in ("force", "torque", "effort") if what in outputs)
        for what in ("residual", "residual_rate"):
            if what in outputs:
                yield from _errors(run, outputs[what])


def _between(run: Run, known: Sequence[Variable]) -> Iterator[Panel]:
    """What springs and contacts do; of bushings translations and rotations apart."""
    for v in (v for v in known if v.port == "springs"):
        yield from (panel(run, v),) if v.size == 1 else _errors(run, v)


def _errors(run: Run, variable: Variable) -> Iterator[Panel]:
    """The elements of an output, one panel for each unit."""
    values = run[variable.name].reshape(len(run), -1)
    for unit in dict.fromkeys(variable.units):
        places = [k for k, each in enumerate(variable.units) if each == unit]
        lines = tuple((variable.labels[k] or variable.name, values[:, k]) for k in places)
        yield Panel(variable.name, variable.description, unit, lines)


def _balances(run: Run) -> Iterator[Panel]:
    for change in drifts(run):
        what = CONSERVED[change.name].capitalize()
        lines = ((what, change.change / change.start if change.start else change.change),)
        start = f"At the start {change.start:.6g} {change.unit}"
        if change.start:
            yield Panel(f"{what}: drift", f"Change since the start, relative to it. {start}", "relative", lines)
        else:
            yield Panel(f"{what}: drift", f"Change since the start. {start}", change.unit, lines)
    if residual(run) is not None:
        lines = (("residual", run[TOTALS[3]]),)
        yield Panel("Work balance", "Rate of kinetic energy less the power of all forces", "W", lines)


def _balance_words() -> str:
    return (
        "Momentum stays where no force or torque acts from outside. Energy (kinetic, springs, uniform gravity) changes "
        "with dampers, motors and forces too; the work balance must vanish in every run."
    )


def thinned(values: Array, most: int = POINTS) -> NDArray[np.intp]:
    """Rows of at most ``most`` points that draw like all of ``values`` (n): the least and greatest of each bundle."""
    n = len(values)
    if n <= most:
        return np.arange(n)
    bundle = -(-n // ((most - 2) // 2))
    bundles = np.pad(values, (0, -n % bundle), mode="edge").reshape(-1, bundle)
    begin = np.arange(len(bundles)) * bundle
    rows = np.concatenate([[0, n - 1], begin + bundles.argmin(axis=1), begin + bundles.argmax(axis=1)])
    return np.unique(np.minimum(rows, n - 1))


def _packed(values: Array) -> dict[str, str]:
    """Numbers as plotly.js takes them in one piece."""
    return {"dtype": "f8", "bdata": base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()}
