"""A law of effort that the engine does not know: one file in the folder of laws; its second opinion in one place."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import mbdy.engine

ENGINE = Path(mbdy.engine.__file__).parent

LAW = '''
"""A pad: a spring of the fifth power, and drag that grows with the square of the rate."""

from mbdy.engine.model.law import JointValue, Law

LAW = Law(
    name="pad",
    words="pads",
    values=(
        JointValue("pad_stiffness", "N/m", "N.m/rad", "Stiffness of the pad", default=None, minimum=0.0, strength=True),
        JointValue("pad_size", "m", "rad", "Size of the pad", default=0.5, minimum=0.0, above=True),
        JointValue("pad_drag", "N", "N.m", "Drag of the pad", passive=True, strength=True),
    ),
    effort=lambda k, q, rate: -k["pad_stiffness"] * q**5 / k["pad_size"] ** 4 - k["pad_drag"] * rate * abs(rate),
    potential=lambda k, q: k["pad_stiffness"] * q**6 / (6 * k["pad_size"] ** 4),
)
'''

USE = '''
import numpy as np
import pytest
from mbdy.engine import Joint, ModelError, dumps, equations, linearize, loads, verify
from mbdy.engine.verification.formulations import forces

TEXT = """
mbdy = 1
[body.arm]
mass = 1
inertia = [1, 1, 2]
[body.arm.joint]
to = "inertial"
kind = "revolute"
axis = [0, 0, 1]
{law}
"""
model = loads(TEXT.format(law='pad_stiffness = "3 N*m/rad"\\npad_drag = 0.7'))
assert model.bodies[0].joint == Joint(
    to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), pad_stiffness=(3.0,), pad_drag=(0.7,)
)
assert model.bodies[0].joint.laws == ("pad",)
assert model.bodies[0].joint.pad_size == (0.5,)
assert loads(dumps(model)) == model

system = equations(model)
parameters = [v for v in system.ports.parameters if "pad" in v.name]
assert [v.name for v in parameters] == [f"arm.joint.pad_{part}" for part in ("stiffness", "size", "drag")]
assert [v.unit for v in parameters] == ["N.m/rad", "rad", "N.m"]
p, q, rate = np.array(system.ports.vector("parameter")), 0.8, -1.5
effort = -3.0 * q**5 / 0.5**4 - 0.7 * rate * abs(rate)
x, u, k = [q, rate], np.array(system.ports.vector("input")), system.prepare(p)
assert np.array(system.derivatives(x, u, k)).ravel() == pytest.approx([rate, effort / 2])
y = np.array(system.outputs(x, u, k)).ravel()
assert y[system.ports.by_name["system.energy"].offset] == pytest.approx(rate**2 + 3.0 * q**6 / (6 * 0.5**4))
assert abs(y[system.ports.by_name["system.work_residual"].offset]) < 1e-12
linear = linearize(model, at={"arm.joint.angle": q}, outputs=["arm.joint.rate"])
assert linear.A[1, 0] == pytest.approx(-15.0 * q**4 / 0.5**4 / 2)
p[parameters[1].offset] = 0.0
assert np.isnan(np.array(system.prepare(p))).any()
assert "arm.joint.pad_stiffness" not in equations(loads(TEXT.format(law=""))).ports.by_name

for law, fault in (
    ("pad_stiffness = -1", "pad_stiffness: must be >= 0"),
    ("pad_stiffness = 1\\npad_size = 0", "pad_size: must be > 0"),
    ("pad_size = 1", "pad_stiffness: is missing beside 'pad_size'"),
    ("pad_stiffness = '1 N'", "pad_stiffness"),
    ("pad_stifness = 1", "the nearest known is 'pad_stiffness'"),
):
    with pytest.raises(ModelError, match=fault):
        loads(TEXT.format(law=law))

assert not verify(model, states=3).agrees
forces.JOINT_LAWS["pad_stiffness"] = lambda k, q, rate, rest: (
    -k["pad_stiffness"] * q**5 / k["pad_size"] ** 4 - k["pad_drag"] * rate[: len(q)] * np.abs(rate[: len(q)])
)
assert verify(model, states=3).agrees
'''


def test_a_law_is_one_file(tmp_path: Path) -> None:
    engine = tmp_path / "mbdy" / "engine"
    shutil.copytree(ENGINE, engine, ignore=shutil.ignore_patterns("__pycache__"))
    (engine / "model" / "laws" / "pad.py").write_text(LAW, encoding="utf-8")
    script = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{USE}"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
