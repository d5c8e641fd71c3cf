"""Two plates, three legs and two arms, pushed for 20 s one way and 20 s the other: Figures 2 and 3 of the paper.

    python run.py --until 40 --out results
    python run.py --configurations 12 16 --until 20 --out results

Each configuration is driven by forces and moments on the top plate and on the object, and by moments at the joints of
leg 1. Writes one CSV file for each, ``displacements.html`` (Figure 2: top plate and object) and, where there are two or
more, ``leg2.html`` (Figure 3: angular acceleration of leg 2's first pitch joint, rigid and flexible).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from two_arms import configuration, counts, system

from mbdy.blocks import Run, simulate
from mbdy.engine import Model

SWITCHING = 20.0  # s
STEP = {False: 1e-3, True: 1e-4}
"""[s] Internal step of rigid and of flexible systems, as in the paper."""
EVERY = 0.1  # s
PUSH = {
    "top.force": (3.0, -2.0, 1.25), "top.torque": (5.0, 7.5, -6.0),
    "object.force": (-1.0, 1.5, 0.5), "object.torque": (2.0, -1.0, 3.0),
}  # fmt: skip
"""[N, N.m] At the mass centres, body axes."""
LEG_TORQUE = 0.5  # N.m, at each joint of leg 1


def push(model: Model) -> dict[str, tuple[float, ...]]:
    """What drives ``model`` for the first 20 s, by input."""
    found = {name: value for name, value in PUSH.items() if name.partition(".")[0] in model.index}
    joints = [body.name for body in model.bodies if body.name.startswith("leg1") and body.joint.n_u]
    return found | {f"{name}.joint.torque": (LEG_TORQUE,) for name in joints}


def driven(number: int, *, until: float, every: float = EVERY, step: float | None = None) -> Run:
    """Configuration ``number`` under `push`, its sign changed every 20 s; all that the figures show."""
    model = system(number)
    inputs = push(model)

    def controller(t: float, _) -> dict[str, np.ndarray]:
        sign = 1.0 if int(t / SWITCHING + 1e-9) % 2 == 0 else -1.0
        return {name: sign * np.array(value) for name, value in inputs.items()}

    wanted = ["top.centre.position", "leg2_boom1.joint.rate", "system.energy", "system.work_residual"]
    wanted += ["object.position"] * ("object" in model.index)
    wanted += [f"loop.{loop.name}.*" for loop in model.loops]
    return simulate(
        model, until=until, every=every, controller=controller, sample=SWITCHING, outputs=wanted,
        step=step or STEP[configuration(number).flexible], integrator="euler-cromer",
    )  # fmt: skip


def acceleration(run: Run) -> np.ndarray:
    """[rad/s2] Of leg 2's first pitch joint at each row, from its rates."""
    return np.gradient(run["leg2_boom1.joint.rate"].ravel(), run.time)


def main() -> None:
    parser = argparse.ArgumentParser(description="The two-arm platform of Ghosh and Quiocho, pushed to and fro.")
    parser.add_argument("--configurations", type=int, nargs="+", default=[12, 16], help="lines of Table 2 (12 16)")
    parser.add_argument("--until", type=float, default=40.0, help="end of the runs [s] (40)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: a new temporary one)")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="two_arm_platform_"))
    out.mkdir(parents=True, exist_ok=True)
    moved, turned = go.Figure(), go.Figure()
    for number in given.configurations:
        model = system(number)
        rigid, modes, total = counts(model)
        text = configuration(number).text
        print(f"{number}: {text}, {rigid} + {modes} = {total} degrees of freedom of the tree")
        run = driven(number, until=given.until)
        print(run.to_csv(out / f"configuration_{number}.csv"))
        for name in ("top.centre.position", "object.position"):
            if name.partition(".")[0] in model.index:
                for axis, values in zip("xyz", (run[name] - run[name][0]).T, strict=True):
                    moved.add_scatter(x=run.time, y=values, name=f"{number} {name.partition('.')[0]} {axis}")
        turned.add_scatter(x=run.time, y=acceleration(run), name=f"{number}: {text}")
    moved.update_layout(xaxis_title="time [s]", yaxis_title="moved [m]")
    turned.update_layout(xaxis_title="time [s]", yaxis_title="leg 2, first pitch joint [rad/s²]")
    for name, figure in (("displacements", moved), ("leg2", turned)):
        path = out / f"{name}.html"
        figure.write_html(path, include_plotlyjs="cdn")
        print(path)


if __name__ == "__main__":
    main()
