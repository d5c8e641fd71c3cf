"""What a machine is worth for real time: the loop with one body as its plant, whose step takes a microsecond."""

from __future__ import annotations

from mbdy.blocks.rig.evidence import RigResult
from mbdy.blocks.rig.rig import Rig
from mbdy.engine import loads

BODY = """
mbdy = 1
name = "one body"
[body.one]
mass = 1
com = [0, 0, 0]
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
[ports]
inputs = []
outputs = ["one.omega"]
"""


def baseline(*, rate: float | str, duration: float | str) -> RigResult:
    """A run of ``duration`` [s] by the clock at ``rate`` [Hz], without packets; numbers or texts with unit."""
    with Rig(loads(BODY), rate=rate, step=1.0) as rig:
        return rig.run(duration)
