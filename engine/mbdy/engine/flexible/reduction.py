"""Modal data from the mass and stiffness matrices of a finite-element model: Craig-Bampton and plain clamped modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from mbdy.engine.flexible.finite_elements import FiniteElements
from mbdy.engine.flexible.held import Held, check_interface, check_strained
from mbdy.engine.flexible.modal_body import ModalBody, node_of
from mbdy.engine.flexible.moments import Moments
from mbdy.engine.flexible.placing import dampings
from mbdy.engine.flexible.shares import shares_of, sound_shares, sums_of
from mbdy.engine.model.faults import RefusalError, warn
from mbdy.engine.model.system import Node

DEPENDENT = 1e-10
"""Of the largest eigenvalue of the basis' scaled mass: a direction with less is one that others say already."""
SPANNED = 1e-12
"""Of the deflection under a load: what less than that is left beside the normal modes adds nothing to them."""
MASSLESS = 1e-13
"""Of the most mass that a deflection moves, beside its strain energy: what moves less moves none."""


def reduce(
    model: FiniteElements,
    *,
    interface: int | Sequence[int],
    modes: int,
    boundary: Sequence[int] = (),
    attachment: Sequence[int] = (),
    damping_ratio: float | Sequence[float] = 0.005,
    nodes: Mapping[str, int] | None = None,
    origin: Sequence[float] | None = None,
    orthonormal: bool = True,
) -> ModalBody:
    """A flexible body from mass and stiffness matrices, held at its inboard node.

    ``interface``   node or nodes that the inboard joint holds: all their degrees of freedom are zero in the modes.
                    The body frame has its origin there (at their mean, or at ``origin`` [m]) and the model's axes.
    ``modes``       how many fixed-interface normal modes, slowest first.
    ``boundary``    nodes whose every degree of freedom gets a constraint mode and is held in the normal modes
                    (Craig and Bampton); none: plain modes held at the interface alone.
    ``attachment``  nodes for which the static deflection under a unit load on each degree of freedom is added, so
                    that loads there deflect the body as much as without a reduction (MacNeal; Rubin). What moves no
                    mass is left out, with a warning.
    ``nodes``       names to nodes of the model; without it those of boundary and attachment, as ``node_`` and number.
    ``orthonormal`` makes ``mass`` the identity and ``stiffness`` diagonal, ascending; the modes then are neither
                    constraint nor normal modes but span the same motions. Without it ``damping_ratio`` still is that
                    of these orthonormal modes.

    Mass, com, inertia and coupling come from the whole mass matrix. How the inertia changes with the modes, and
    gyroscopic terms, come from what each node carries (`mbdy.engine.flexible.shares`): exact to second order for lumps,
    whose offset and rotary inertia turn with their node; of consistent matrices an approximation that refines with the
    mesh. There is no foreshortening of what lies between nodes.

    Raises ValueError naming the matrix, the node or the mode: matrices that are not symmetric or negative, rigid motion
    that strains the model (K R != 0) or does not have one mass, an interface that does not hold it, and modes that
    depend on each other. Sources: R. R. Craig, M. C. C. Bampton, AIAA J. 6 (1968) 1313-1319; R. H. MacNeal,
    Computers and Structures 1 (1971) 581-601; S. Rubin, AIAA J. 13 (1975) 995-1006.
    """
    held_nodes = [interface] if isinstance(interface, int) else list(interface)
    check_interface(model, held_nodes)
    places = np.array([model.place(node) for node in held_nodes])
    start = places.mean(axis=0) if origin is None else np.array(origin, dtype=float)
    rigid = model.rigid(start)
    spatial = model.check_rigid(rigid)
    kept, loaded = list(dict.fromkeys(boundary)), list(dict.fromkeys(attachment))
    basis, names = _basis(model, held_nodes, kept, loaded, modes)
    mass = basis.T @ (model.mass @ basis)
    stiffness = basis.T @ (model.stiffness @ basis)
    vectors = _modes(mass, stiffness, names)
    check_strained(model, basis @ vectors, range(model.size))
    values = np.einsum("nk,nk->k", basis @ vectors, model.stiffness @ (basis @ vectors))
    omega = np.sqrt(values)
    damping = dampings(omega, damping_ratio)
    if orthonormal:
        largest = abs(basis @ vectors).argmax(axis=0)
        vectors = vectors * np.sign((basis @ vectors)[largest, range(len(omega))])
        basis, mass, stiffness = basis @ vectors, np.eye(len(omega)), np.diag(values)
    else:
        inverse = mass @ vectors
        damping = inverse @ damping @ inverse.T
    coupling = rigid.T @ (model.mass @ basis)
    wanted = {f"node_{n}": n for n in dict.fromkeys([*boundary, *attachment])} if nodes is None else nodes
    named = {name: _node(model, node, basis, start) for name, node in wanted.items()}
    moments = _moments(model, basis, spatial, coupling, start)
    turns = {
        name: [axis for k, axis in enumerate("xyz") if k + 4 not in model.freedoms(n)] for name, n in wanted.items()
    }
    body = moments.body((stiffness + stiffness.T) / 2, damping, named, mass=(mass + mass.T) / 2, coupling=coupling)
    return replace(body, unturned={name: ", ".join(axes) for name, axes in turns.items() if axes})


def _basis(
    model: FiniteElements, interface: list[int], boundary: list[int], attachment: list[int], modes: int
) -> tuple[np.ndarray, list[str]]:
    """Displacements of all degrees of freedom (n, m), constraint, normal and attachment modes, and their names."""
    clamped, kept, loaded = set(model.rows(interface)), model.rows(boundary), model.rows(attachment)
    if both := set(interface) & set(boundary):
        raise RefusalError(f"boundary: node {min(both)} is the interface, which is held already")
    if fixed := set(attachment) & set(interface):
        raise RefusalError(f"attachment: node {min(fixed)} is the interface, where loads deflect nothing")
    if both := set(attachment) & set(boundary):
        raise RefusalError(
            f"attachment: node {min(both)} depends on the others, the constraint modes of the boundary; leave it out"
        )
    inner = [row for row in range(model.size) if row not in clamped and row not in set(kept)]
    if isinstance(modes, bool) or not 0 <= modes <= len(inner) or modes + len(kept) + len(loaded) == 0:
        raise RefusalError(f"modes: a whole number up to {len(inner)} is needed, got {modes}")
    held = Held(model, inner)
    static = np.zeros((model.size, len(kept)))
    static[kept, range(len(kept))] = 1.0
    static[inner] = -held.solve(model.stiffness[inner][:, kept].toarray())
    normal = np.zeros((model.size, modes))
    if modes:
        normal[inner] = held.slowest(modes)
    loads = np.zeros((model.size, len(loaded)))
    loads[loaded, range(len(loaded))] = 1.0
    bent = np.zeros_like(loads)
    bent[inner] = held.solve(loads[inner])
    bent = _attached(model, normal, loads, bent, attachment)
    names = [f"constraint mode of node {node}, {freedom}" for node, freedom in (model.order[row] for row in kept)]
    names += [f"normal mode {k + 1}" for k in range(modes)]
    names += [f"attachment mode of nodes {', '.join(map(str, attachment))}"] * bent.shape[1]
    return np.hstack((static, normal, bent)), names


def _attached(
    model: FiniteElements, normal: np.ndarray, loads: np.ndarray, bent: np.ndarray, nodes: list[int]
) -> np.ndarray:
    """Attachment modes (n, k) of the deflections ``bent`` (n, l) under ``loads``: without their part in the ``normal``
    modes, and apart from each other by strain and mass. Warns of deflections that move no mass, which are left out.
    """
    if not loads.size:
        return bent
    alone = np.sqrt(np.einsum("nk,nk->k", bent, loads))
    heaviest = (np.einsum("nk,nk->k", bent, model.mass @ bent) / alone**2).max()
    for _ in range(2):  # once leaves rounding of the whole in what is small
        bent = bent - normal @ (normal.T @ (model.mass @ bent))
    left, directions = np.linalg.eigh(bent.T @ (model.stiffness @ bent) / np.outer(alone, alone))
    new = left > SPANNED
    bent = bent @ (directions[:, new] / alone[:, None] / np.sqrt(left[new]))
    moved, directions = np.linalg.eigh(bent.T @ (model.mass @ bent))
    heavy = moved > MASSLESS * heaviest
    if not heavy.all():
        warn(
            f"attachment: {int((~heavy).sum())} of the deflections under loads on nodes {', '.join(map(str, nodes))} "
            "move no mass and are left out, so the body is stiffer there; give its nodes rotary inertia"
        )
    return bent @ (directions[:, heavy] / np.sqrt(moved[heavy]))


def _modes(mass: np.ndarray, stiffness: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Mass-normalized eigenvectors of the reduced matrices, slowest first; ValueError where columns depend."""
    scale = np.sqrt(np.diag(mass))
    if np.any(scale <= 0):
        raise RefusalError(
            f"{names[int(scale.argmin())]}: moves no mass; leave out its node, or give it rotary inertia"
        )
    lengths, directions = np.linalg.eigh(mass / np.outer(scale, scale))
    if lengths[0] < DEPENDENT * lengths[-1]:
        most = names[int(abs(directions[:, 0]).argmax())]
        raise RefusalError(
            f"{most}: depends on the others; ask for fewer modes, or for no attachment of a boundary node"
        )
    return eigh((stiffness + stiffness.T) / 2, (mass + mass.T) / 2)[1]


def _node(model: FiniteElements, node: int, basis: np.ndarray, start: np.ndarray) -> Node:
    shape = np.zeros((6, basis.shape[1]))
    rows = model.freedoms(node)
    if missing := {1, 2, 3} - set(rows):
        raise RefusalError(f"node {node}: has no translation {min(missing)}; name another")
    for freedom, row in rows.items():
        shape[(freedom + 2) % 6] = basis[row]
    return node_of(model.place(node) - start, shape[3:], shape[:3])


def _moments(
    model: FiniteElements, basis: np.ndarray, spatial: np.ndarray, coupling: np.ndarray, start: np.ndarray
) -> Moments:
    """Moments of the whole mass matrix, and of its nodes' shares where that does not have them."""
    about = spatial[:3, :3]
    sums = sums_of(sound_shares(shares_of(model, start), float(np.trace(about))), basis)
    return Moments(
        mass=float(np.trace(spatial[3:, 3:]) / 3),
        first=np.array([spatial[2, 4], spatial[0, 5], spatial[1, 3]]),
        second=np.trace(about) / 2 * np.eye(3) - about,
        shape=coupling[3:].T,
        shape_first=sums.shape_first,
        shape_second=sums.shape_second,
        bend=sums.bend,
        bend_first=sums.bend_first,
    )
