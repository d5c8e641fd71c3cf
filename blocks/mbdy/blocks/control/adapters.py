"""A block or a `Plant` in other people's diagrams: PathSim's and python-control's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mbdy.blocks.control.block import Block
from mbdy.blocks.plant import Plant
from mbdy.engine.model.faults import MissingPackageError, OptionError

if TYPE_CHECKING:
    import pathsim.blocks

    from mbdy.blocks.control.on_control import ControlSystem


def to_pathsim(
    thing: Block | Plant, *, inputs: Iterable[str] = (), outputs: Iterable[str] | None = None
) -> pathsim.blocks.Block:
    """A block of PathSim, with ports under the names that they have here (``amplifier["level"]``).

    ``thing``    a block, whose switches become events of the diagram, or a `Plant`, whose states PathSim integrates.
                 It belongs to the diagram from then on.
    ``inputs``   of a plant: names of those that are connected, whole or by element; all others stay as they are set
                 now. (PathSim has 0 at a port that nothing is connected to.)
    ``outputs``  of a plant: names or patterns (``"bus.*"``); all by default.

    Needs the extra ``pathsim``.
    """
    try:
        from mbdy.blocks.control import on_pathsim
    except ImportError as fault:
        raise MissingPackageError("to_pathsim needs PathSim: pip install mbdy[pathsim]") from fault
    if isinstance(thing, Plant):
        return on_pathsim.PlantBlock(thing, inputs, outputs)
    return on_pathsim.SteppingBlock(_block("to_pathsim", thing))


def to_control(
    thing: Block | Plant,
    *,
    period: float | None = None,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] | None = None,
    name: str | None = None,
) -> ControlSystem:
    """A nonlinear input/output system of python-control; ``.start`` has the states that it begins with.

    ``thing``    a block or a `Plant`.
    ``period``   [s] None for a system in continuous time, which blocks without memory, integrators and plants can be.
                 With a period it is one in discrete time: the block, or the plant with inputs held, stepped by it.
    ``inputs``   of a plant: names of those that the system has; all others stay as they are set now.
    ``outputs``  of a plant: names or patterns (``"bus.*"``); all by default.
    ``name``     of the system.

    Names of signals have ``_`` for a dot (``bus_omega[1]``), since python-control keeps the dot for itself.
    Raises ValueError for a block with a memory but no period. Needs the extra ``control``.
    """
    try:
        from mbdy.blocks.control import on_control
    except ImportError as fault:
        raise MissingPackageError("to_control needs python-control: pip install mbdy[control]") from fault
    if isinstance(thing, Plant):
        return on_control.of_plant(thing, period, inputs, outputs, name)
    return on_control.of_block(_block("to_control", thing), period, name)


def _block(what: str, thing: object) -> Block:
    if not isinstance(thing, Block):
        raise OptionError(f"{what}: a block or a Plant is needed, got {thing!r}")
    return thing
