"""Eigenvalues of a loop around MBDYL's constant inverse are the points of its root locus."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.blocks.jpl import MBDYL
from mbdy.engine import linearize

control = pytest.importorskip("control")

STIFFNESS, DAMPING = np.array([3500.0, 3500.0, 2000.0, 2000.0]), np.array([20.0, 20.0, 10.0, 10.0])
"""Of the report's hinges: N.m/rad, N.m.s/rad."""
LEAD = 2.0
"""[s] Rate gain of the report's axes: torque = -gain (angle + LEAD rate)."""
GAINS = (1.0, 30.0, 400.0, 3000.0)
"""N.m/rad"""
AGREEMENT = 1e-8


@pytest.fixture(scope="module")
def vehicle():
    """The report's vehicle of five bodies, all frames parallel."""
    MA, PB, PA = np.zeros((4, 7)), np.zeros((4, 3)), np.zeros((4, 4, 3))
    MA[0, :3], MA[0, 6] = (0.35, 0.35, 0.0), 6.8
    MA[1] = 4.85, 2.2, 5.5, -0.41, 0.07, -0.54, 57.5
    MA[3, :3], MA[3, 6] = (27.2, 0.2, 27.2), 10.7
    PB[0], PB[2] = (0, 0, -1.5), (0, -1.2, 0)
    PA[0, 0], PA[0, 1], PA[1, 1], PA[3, 3] = (0, 0, -0.75), (0, -0.1, -0.75), (0, -0.22, 0.2), (0, 3.3, 0)
    MB = np.array([115.0, 316.0, 440.0, 14.0, -14.0, 34.6, 410.0])
    G = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return MBDYL(4, (0, 1, 0, 3), MB, MA, PB, PA, G, (0, 0, 0, 0))


def inverse_of(m: MBDYL) -> np.ndarray:
    """The constant inverse (7, 7), column by column: accelerations by unit torques on the bus and at the hinges."""
    none = np.zeros((4, 3))
    columns = []
    for unit in np.eye(7):
        columns.append(m.MRATE(unit[3:], unit[:3], none, np.zeros(3), none, *np.zeros((3, 4)), np.zeros(3)).copy())
    return np.array(columns).T


def test_the_inverse_is_symmetric_and_definite(vehicle):
    inverse = inverse_of(vehicle)
    assert np.abs(inverse - inverse.T).max() < 1e-14
    assert np.linalg.eigvalsh(inverse).min() > 0.0


def test_eigenvalues_are_the_points_of_the_root_locus(vehicle):
    inverse = inverse_of(vehicle)
    zero, one = np.zeros((7, 7)), np.eye(7)

    def eigenvalues(gain: float) -> np.ndarray:
        K = np.diag([gain] * 3 + list(STIFFNESS))
        D = np.diag([LEAD * gain] * 3 + list(DAMPING))
        return np.linalg.eigvals(np.block([[zero, one], [-inverse @ K, -inverse @ D]]))

    for axis in range(3):  # close all axes but one; the locus over the last one's gain
        body = linearize(
            vehicle.model, inputs=["body0.torque", "*.joint.torque"], outputs=["body0.attitude", "body0.omega"]
        )
        joints = [name for name in body.inputs if name.endswith(".joint.torque")]
        K = np.zeros((len(body.inputs), len(body.states)))
        for name, stiffness, damping in zip(joints, STIFFNESS, DAMPING, strict=True):
            row = body.inputs.index(name)
            stem = name.removesuffix(".torque")
            K[row, body.states.index(f"{stem}.angle")] = stiffness
            K[row, body.states.index(f"{stem}.rate")] = damping
        for gain in GAINS:
            closed = K.copy()
            for k in range(3):
                row = body.inputs.index(f"body0.torque[{k + 1}]")
                if k != axis:
                    closed[row, body.states.index(f"body0.attitude.error[{k + 1}]")] = gain
                    closed[row, body.states.index(f"body0.omega[{k + 1}]")] = LEAD * gain
            own = body.inputs.index(f"body0.torque[{axis + 1}]")
            sensed = np.zeros((1, len(body.states)))
            sensed[0, body.states.index(f"body0.attitude.error[{axis + 1}]")] = 1.0
            sensed[0, body.states.index(f"body0.omega[{axis + 1}]")] = LEAD
            loop = control.ss(body.A - body.B @ closed, body.B[:, [own]], sensed, 0.0)
            roots = control.root_locus_map(loop, gains=[gain]).loci[0]
            for wanted in eigenvalues(gain):
                assert np.abs(roots - wanted).min() < AGREEMENT * max(1.0, abs(wanted))
