"""What an installed mbdy does, without pytest and away from its sources: read, step, linearize and export a model.

Run it in an environment that holds mbdy alone: python smoke.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from fmpy import simulate_fmu

import mbdy.engine
from mbdy.blocks import simulate
from mbdy.engine import linearize, loads
from mbdy.fmu import export_fmu

PENDULUM = """
mbdy = 1
name = "pendulum"
[system]
gravity = [0, 0, -9.81]
[body.bob]
mass = "2 kg"
com = [0, 0, -1.5]
inertia = [0, 0, 0]
joint = { to = "inertial", kind = "revolute", axis = [0, 1, 0] }
[initial]
bob.joint.angle = "10 deg"
"""
END = 2.0


def main() -> None:
    model = loads(PENDULUM)
    run = simulate(model, until=END, every=0.1)
    block = run["bob.joint.angle"][-1]
    assert linearize(model).A.shape == (2, 2)
    with TemporaryDirectory() as folder:
        for kind in ("native", "python"):
            path = export_fmu(model, Path(folder) / f"{kind}.fmu", kind=kind)
            result = simulate_fmu(str(path), stop_time=END, output_interval=0.1, output=["bob.joint.angle"])
            assert abs(result["bob.joint.angle"][-1] - block) < 1e-9, (kind, block, result)
    print(f"read, stepped, linearized and exported by {mbdy.engine.__file__}")


if __name__ == "__main__":
    main()
