"""Where each body's parts lie in the vectors of a model."""

from __future__ import annotations

from dataclasses import dataclass

from mbdy.engine.model.system import Model
from mbdy.engine.order_n.constants import (
    GEAR_CONSTANTS,
    LOOP_CONSTANTS,
    Structure,
    constant_fields,
    frame_fields,
    structure,
)
from mbdy.engine.order_n.element_kinds import structure_of
from mbdy.engine.order_n.joint_frames import in_joint_frames
from mbdy.engine.order_n.tanks import tank_form


@dataclass(frozen=True)
class Layout:
    """Places of each body's parts in the core's vectors ``x``, ``u``, ``p`` and ``k``."""

    structures: tuple[Structure, ...]
    q: tuple[slice, ...]
    speeds: tuple[slice, ...]
    wheels: tuple[slice, ...]
    constants: tuple[slice, ...]
    framed_structures: tuple[Structure, ...]
    """The structures of bodies in joint frames, and the places of what these take besides in ``k``."""
    frames: tuple[slice, ...]
    modes: tuple[slice, ...]
    """Of modal displacements; modal rates are `n_eta` further on."""
    loops: tuple[slice, ...]
    """Of the loops' constants in ``k``."""
    gears: tuple[slice, ...]
    """Of the gears' constants in ``k``."""
    elements: tuple[slice, ...]
    """Of the force elements'."""
    tanks: tuple[slice, ...]
    """Of the tanks' masses in ``x``."""
    tank_constants: tuple[slice, ...]
    n_q: int
    n_u: int
    n_eta: int
    n_x: int
    n_k: int
    """The last of ``k`` is the gravitational parameter in models with a gravity gradient."""

    def modal_rates(self, body: int) -> slice:
        """Of a body's modal rates in ``x``."""
        at = self.modes[body]
        return slice(at.start + self.n_eta, at.stop + self.n_eta)


def layout(model: Model) -> Layout:
    """The layout of ``model``: x = [q, u, eta, eta', h, m], each block by body in the order of the file, m by tank."""
    structures = tuple(structure(b) for b in model.bodies)

    def run(start: int, sizes: list[int]) -> tuple[tuple[slice, ...], int]:
        slices = []
        for size in sizes:
            slices.append(slice(start, start + size))
            start += size
        return tuple(slices), start

    q, n_q = run(0, [b.joint.n_q for b in model.bodies])
    speeds, end = run(n_q, [b.joint.n_u for b in model.bodies])
    modes, modes_end = run(end, [b.modes for b in model.bodies])
    n_eta = modes_end - end
    wheels, end_h = run(modes_end + n_eta, [len(b.wheels) for b in model.bodies])
    tanks, n_x = run(end_h, [1] * len(model.tanks))
    constants, n_k = run(0, [constant_fields(s).size for s in structures])
    framed = in_joint_frames(model, structures)
    frames, n_k = run(n_k, [sum(size for _, size in frame_fields(s)) for s in framed])
    loops, n_k = run(n_k, [LOOP_CONSTANTS] * len(model.loops))
    gears, n_k = run(n_k, [GEAR_CONSTANTS + len(gear.terms) for gear in model.gears])
    elements, n_k = run(n_k, [structure_of(part).fields.size for part in model.elements])
    tank_constants, n_k = run(n_k, [tank_form(tank).constants.size for tank in model.tanks])
    n_k += model.gravity_gradient is not None
    return Layout(
        structures,
        q,
        speeds,
        wheels,
        constants,
        framed,
        frames,
        modes,
        loops,
        gears,
        elements,
        tanks,
        tank_constants,
        n_q,
        end - n_q,
        n_eta,
        n_x,
        n_k,
    )
