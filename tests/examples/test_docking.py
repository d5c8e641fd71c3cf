"""Two spacecraft dock by contact and latches, turn their panels and part: what is kept, in every phase."""

from __future__ import annotations

import numpy as np

SEATED = 0.072  # m: where the latches hold the head


def test_docking_keeps_momentum_and_the_ledger(example):
    phases = {phase.name: phase for phase in example("docking", "run").dock()}
    assert [*phases] == ["approach", "soft capture", "latches shut", "panels turned", "pushed off", "parted"]
    for phase in phases.values():
        assert phase.momentum < 1e-8  # of 32 N.s that the chaser brings
        assert phase.angular_momentum < 1e-8
        assert abs(phase.work_error) < 1e-3  # J
    assert phases["soft capture"].energy < phases["approach"].energy
    assert abs(phases["latches shut"].distance - SEATED) < 1e-4
    np.testing.assert_allclose(phases["panels turned"].angles, np.radians(40.0), atol=1e-2)
    assert phases["parted"].distance > 1.0
