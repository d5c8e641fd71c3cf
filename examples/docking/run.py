"""Two spacecraft dock and part again: soft capture by contact, latches, panels driven together, release.

    python run.py

Each phase ends with what must be kept: momentum and angular momentum of the two together, and the ledger of work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mbdy.blocks import Plant
from mbdy.engine import load

FOLDER = Path(__file__).parent
SAMPLE = 0.01
"""[s] At which phases look and drives are told."""
PULL, PUSH, DAMPING = 30.0, -25.0, 250.0
"""[N], [N], [N.s/m] Of the actuator between head and drogue."""
TURNED = np.radians(40.0)
"""[rad] To which the drives turn the panels."""
STIFFNESS, RESISTANCE = 20.0, 160.0
"""[N.m/rad] and [N.m.s/rad] of the drives' control."""


@dataclass(frozen=True)
class Phase:
    """What was kept from the start of the run to the end of a phase, and where the two are then."""

    name: str
    time: float
    momentum: float
    """[N.s] Largest change of a component."""
    angular_momentum: float
    """[N.m.s] The same, about the common mass centre."""
    work_error: float
    """[J] Energy less all work, losses of the closing counted."""
    energy: float
    distance: float
    """[m] From the apex of the drogue to the head of the probe."""
    angles: tuple[float, float]
    """[rad] Of the panels' drives."""


def dock(*, tell: Callable[[str], None] = lambda line: None) -> list[Phase]:
    """The phases of one docking."""
    plant = Plant(load(FOLDER / "docking.toml"), step="1 ms")
    start, phases = plant.outputs(), []

    def until(name: str, most: float, done: Callable[[], bool] = lambda: False, drive: bool = False) -> None:
        end = plant.time + most
        while plant.time < end - 1e-9 and not done():
            for panel in ("target_panel", "chaser_panel") if drive else ():
                off = TURNED - float(plant[f"{panel}.joint.angle"])
                plant[f"{panel}.joint.torque"] = STIFFNESS * off - RESISTANCE * float(plant[f"{panel}.joint.rate"])
            plant.step(SAMPLE)
        y = plant.outputs()
        drift = [float(np.abs(y[f"system.{what}"] - start[f"system.{what}"]).max())
                 for what in ("momentum", "angular_momentum")]  # fmt: skip
        angles = (float(y["target_panel.joint.angle"]), float(y["chaser_panel.joint.angle"]))
        phases.append(Phase(name, plant.time, *drift, float(y["system.work_error"]), float(y["system.energy"]),
                            float(y["spring.actuator.length"]), angles))  # fmt: skip
        tell(f"{name:13}{plant.time:8.2f} s{drift[0]:12.1e}{drift[1]:12.1e}{phases[-1].work_error:12.1e} J"
             f"{phases[-1].energy:10.4f} J{phases[-1].distance:9.4f} m")  # fmt: skip

    until("approach", 20.0, lambda: plant["contact.capture.normal_force"] > 0.0)
    plant["spring.actuator.damping"], plant["spring.actuator.actuation"] = DAMPING, PULL
    until("soft capture", 15.0)
    plant["loop.latches.closed"] = True
    plant["spring.actuator.actuation"] = 0.0
    until("latches shut", 8.0)
    until("panels turned", 60.0, drive=True)
    plant["loop.latches.closed"] = False
    plant["spring.actuator.damping"], plant["spring.actuator.actuation"] = 0.0, PUSH
    until("pushed off", 20.0, lambda: plant["spring.actuator.length"] > 0.4, drive=True)
    plant["spring.actuator.actuation"] = 0.0
    until("parted", 10.0, drive=True)
    return phases


if __name__ == "__main__":
    print(f"{'phase':13}{'until':>10}{'momentum':>12}{'angular':>12}{'work error':>14}{'energy':>12}{'distance':>11}")
    dock(tell=print)
