"""The loop that turns a television platform, designed on a linear model: root locus, Bode plot, margins.

The vehicle is the five-body spacecraft of JPL TR 32-1592 (the example beside this one). Its two platform hinges are
driven by springs and dampers about commanded angles, torque = K (command - angle) - B rate. Here the yoke's drive is
taken out of the model and closed again as a loop with python-control, with a gain that goes from nothing to ten times
the report's. The boom swings, and the platform's other hinge keeps its drive.

    python platform_loop.py --out results
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import control
import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mbdy.engine import Linearization, Model, linearize, load

VEHICLE = Path(__file__).resolve().parent.parent / "five_body_spacecraft" / "five_body.toml"
STIFFNESS, DAMPING = 3500.0, 20.0  # N.m/rad and N.m.s/rad: the report's K and B of the yoke
POINTING = {"yoke": "219 deg", "platform": "-27.5 deg"}
GAINS = np.concatenate([[0.0], np.geomspace(1e-3, 10.0, 400)])  # 1 is the report's drive
FREQUENCIES = np.geomspace(1.0, 300.0, 2000)  # rad/s


def vehicle() -> Model:
    """The spacecraft; that its bus breaks the triangle inequality and its boom link has no mass is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return load(VEHICLE)


def plant(model: Model, *, driven: bool = False) -> Linearization:
    """From the yoke's torque and commanded angle to its angle and rate; ``driven`` leaves its drive in the model."""
    at: dict[str, str | float] = {f"{name}.joint.angle": angle for name, angle in POINTING.items()}
    at |= {f"{name}.joint.rest": angle for name, angle in POINTING.items()}
    if not driven:
        at |= {"yoke.joint.stiffness": 0.0, "yoke.joint.damping": 0.0}
    wanted = {"inputs": ["yoke.joint.torque", "yoke.joint.rest"], "outputs": ["yoke.joint.angle", "yoke.joint.rate"]}
    return linearize(model, at=at, **wanted)


def drive(gain: float = 1.0) -> control.StateSpace:
    """The drive's torque from angle and rate, without its sign."""
    return control.ss([], [], [], gain * np.array([[STIFFNESS, DAMPING]]))


def closed_loop_poles(open_plant: Linearization, gain: float) -> np.ndarray:
    """Eigenvalues [1/s] of the vehicle with the loop closed."""
    torque = open_plant.reduce(inputs=["yoke.joint.torque"])
    feedback = gain * np.array([[STIFFNESS, DAMPING]])
    return np.linalg.eigvals(torque.A - torque.B @ feedback @ torque.C)


def loop(open_plant: Linearization) -> control.FrequencyResponseData:
    """Frequency response of the loop broken at the yoke's torque, with the report's gains."""
    system = open_plant.reduce(inputs=["yoke.joint.torque"]).to_control()
    return control.frd(drive() * system, FREQUENCIES)


def figure(open_plant: Linearization, response: control.FrequencyResponseData) -> go.Figure:
    """Root locus on the left, the loop's Bode plot on the right."""
    grid = {"rows": 2, "cols": 2, "specs": [[{"rowspan": 2}, {}], [None, {}]]}
    made = make_subplots(**grid, subplot_titles=("Root locus of the drive's gain", "Loop gain", "Phase"))
    poles = np.array([closed_loop_poles(open_plant, gain) for gain in GAINS])
    text = np.repeat([f"gain {gain:.3g}" for gain in GAINS], poles.shape[1])
    dots = {"mode": "markers", "marker": {"size": 3}, "text": text, "name": "poles"}
    made.add_trace(go.Scatter(x=poles.real.ravel(), y=poles.imag.ravel(), **dots), row=1, col=1)
    for gain, name, symbol in ((0.0, "no drive", "x"), (1.0, "the report's gain", "square-open")):
        at = closed_loop_poles(open_plant, gain)
        marks = {"mode": "markers", "name": name, "marker": {"symbol": symbol, "size": 9}}
        made.add_trace(go.Scatter(x=at.real, y=at.imag, **marks), row=1, col=1)
    size, phase = 20 * np.log10(np.abs(response.frdata[0, 0])), np.degrees(np.unwrap(np.angle(response.frdata[0, 0])))
    made.add_trace(go.Scatter(x=FREQUENCIES, y=size, name="loop", showlegend=False), row=1, col=2)
    made.add_trace(go.Scatter(x=FREQUENCIES, y=phase, name="loop", showlegend=False), row=2, col=2)
    made.update_xaxes(title_text="real part [1/s]", range=[-12, 2], row=1, col=1)
    made.update_yaxes(title_text="imaginary part [1/s]", range=[-40, 40], row=1, col=1)
    made.update_xaxes(type="log", row=1, col=2)
    made.update_xaxes(type="log", title_text="frequency [rad/s]", row=2, col=2)
    made.update_yaxes(title_text="dB", row=1, col=2)
    made.update_yaxes(title_text="deg", row=2, col=2)
    made.update_layout(title="Yoke drive of the five-body spacecraft", height=700)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description="Root locus and Bode plot of a platform's drive.")
    parser.add_argument("--out", type=Path, help="folder for the results; a new temporary one if left out")
    out: Path = parser.parse_args().out or Path(tempfile.mkdtemp(prefix="control_design-"))
    out.mkdir(parents=True, exist_ok=True)
    model = vehicle()
    open_plant, whole = plant(model), plant(model, driven=True)
    response = loop(open_plant)
    _, phase_margin, _, crossover = control.margin(response)
    print("modes of the driven vehicle:")
    for mode in whole.modes():
        if not mode.rigid:
            print(f"  {mode.frequency:8.4f} rad/s, damping ratio {mode.damping:.5f}")
    print(f"crossover {crossover:.2f} rad/s, phase margin {phase_margin:.2f} deg")
    figure(open_plant, response).write_html(out / "platform_loop.html", include_plotlyjs=True)
    whole.save(out / "platform_loop.json")
    print(f"wrote {out / 'platform_loop.html'} and platform_loop.json")


if __name__ == "__main__":
    main()
