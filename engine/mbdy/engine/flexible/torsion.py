"""Modal data of a uniform rod that twists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from mbdy.engine.flexible.beam import beam
from mbdy.engine.flexible.modal_body import ModalBody


def torsion(
    *,
    length: float,
    mass_per_length: float,
    polar_inertia: float,
    torsional_stiffness: float,
    modes: int,
    damping_ratio: float | Sequence[float] = 0.005,
    tip_mass: float = 0.0,
    tip_inertia: float = 0.0,
    ends: Literal["cantilever", "free"] = "cantilever",
    axis: str | Sequence[float] = "x",
    normal: Sequence[float] | None = None,
    nodes: Mapping[str, float | Sequence[float]] | None = None,
) -> ModalBody:
    """A uniform rod that only twists, with a tip body of ``tip_inertia`` [kg.m2] about its axis.

    ``polar_inertia`` [kg.m] per length and ``torsional_stiffness`` GJ [N.m2]. The tip body is a disc: half of its
    inertia counts about each diameter. All else as for `mbdy.engine.flexible.beam.beam`, of which this is the case
    without bending. Source: Blevins, Formulas for Natural Frequency and Mode Shape (1979), table 8-19.
    """
    return beam(
        length=length, mass_per_length=mass_per_length, bending_stiffness=0.0, modes=(0, 0, modes),
        damping_ratio=damping_ratio, torsional_stiffness=torsional_stiffness, polar_inertia=polar_inertia,
        tip_mass=tip_mass, tip_inertia=(tip_inertia, tip_inertia / 2, tip_inertia / 2), ends=ends, axis=axis,
        normal=normal, nodes=nodes,
    )  # fmt: skip
