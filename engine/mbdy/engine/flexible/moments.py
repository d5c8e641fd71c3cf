"""Integrals over the mass of a body and of its displacement fields, and the modal data that follow from them.

All that the equations need of a displacement field is a handful of integrals of positions ``r``, shapes ``phi`` and
second-order displacements ``h`` (Wallrapp, Standardization of flexible body modeling in multibody system codes,
Mechanics of Structures and Machines 22 (1994) 283-304; Schwertassek and Wallrapp, Dynamik flexibler
Mehrkoerpersysteme (1999), section 6.4). Sources of modal data only say where mass is and how it moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mbdy.engine.flexible.modal_body import ModalBody, tuples_of
from mbdy.engine.model.faults import RefusalError, UnknownNameError
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.system import Flex, Node

Points = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]
"""Positions, masses, shapes and bends of mass points."""
ROUNDING = 1e-13
"""A sum this small beside the sum of its terms' sizes is zero."""


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Integrals over the mass, body axes, positions from the origin of the body frame; m modes.

    ``mass`` [kg]; ``first`` (3) of r; ``second`` (3, 3) of r r'; ``shape`` (m, 3) of phi_k; ``shape_first`` (m, 3, 3)
    of r phi_k'; ``shape_second`` (m, m, 3, 3) of phi_k phi_l'; ``bend`` (m, m, 3) of h_kl and ``bend_first``
    (m, m, 3, 3) of r h_kl', where a point moves by ``phi eta + 1/2 sum h_kl eta_k eta_l``.
    """

    mass: float
    first: np.ndarray
    second: np.ndarray
    shape: np.ndarray
    shape_first: np.ndarray
    shape_second: np.ndarray
    bend: np.ndarray
    bend_first: np.ndarray

    @classmethod
    def of_points(
        cls, at: np.ndarray, masses: np.ndarray, shapes: np.ndarray, bends: np.ndarray | None = None
    ) -> Moments:
        """From mass points: positions (P, 3) [m], masses (P) [kg], shapes (P, 3, m), bends (P, 3, m, m) or None.

        The points of a quadrature rule with its weights times the density are such points; negative masses are fine.
        """
        return cls.of_parts([(at, masses, shapes, bends)])

    @classmethod
    def of_parts(cls, parts: Iterable[Points]) -> Moments:
        """From mass points as `of_points` has them, which come in parts since their bends take much room."""
        sums, sizes, mass = dict[str, np.ndarray](), dict[str, np.ndarray](), 0.0
        for at, masses, shapes, bends in parts:
            m = shapes.shape[2]
            mass += float(masses.sum())
            terms: dict[str, tuple[str, *tuple[np.ndarray, ...]]] = {
                "first": ("pa->a", at),
                "second": ("pa,pb->ab", at, at),
                "shape": ("pbk->kb", shapes),
                "shape_first": ("pa,pbk->kab", at, shapes),
                "shape_second": ("pak,pbl->klab", shapes, shapes),
            }
            if bends is None:
                sums.setdefault("bend", np.zeros((m, m, 3)))
                sums.setdefault("bend_first", np.zeros((m, m, 3, 3)))
            else:
                terms |= {"bend": ("pbkl->klb", bends), "bend_first": ("pa,pbkl->klab", at, bends)}
            for name, (subscripts, one, *others) in terms.items():
                heavy = masses.reshape(-1, *[1] * (one.ndim - 1)) * one
                sums[name] = sums.get(name, 0.0) + np.einsum(subscripts, heavy, *others, optimize=True)
                scale = np.einsum(subscripts, abs(heavy), *(abs(other) for other in others), optimize=True)
                sizes[name] = sizes.get(name, 0.0) + scale
        rounded = {name: np.where(abs(sums[name]) > ROUNDING * size, sums[name], 0.0) for name, size in sizes.items()}
        return cls(mass=mass, **(sums | rounded))

    @classmethod
    def of_body(cls, body: ModalBody) -> Moments:
        """From modal data whose displacement field is linear in the modes.

        Raises ValueError where they have second-order terms that no linear field has (foreshortening).
        """
        flex, m = body.flex, body.flex.modes
        com = np.array(body.com)
        about = np.array(body.inertia) + body.mass * (com @ com * np.eye(3) - np.outer(com, com))
        firsts = _filled(flex.inertia_first, (m, 3, 3))
        seconds = _filled(flex.inertia_second, (m, m, 3, 3))
        turns = _filled(flex.gyroscopic, (m, m, 3))
        coupling = np.array(flex.coupling).reshape(6, m)
        shape_first = np.array([_product(firsts[k] / 2, coupling[:3, k]) for k in range(m)]).reshape(m, 3, 3)
        shape_second = np.array([[_product(seconds[k, n] / 2, turns[k, n]) for n in range(m)] for k in range(m)])
        shape_second = shape_second.reshape(m, m, 3, 3)
        mass = np.array(flex.mass)
        if np.any(flex.moment_second) or not np.allclose(turns, -turns.transpose(1, 0, 2), atol=1e-9 * abs(mass).max()):
            raise RefusalError("flex: foreshortening (moment_second) does not follow a body frame that is moved")
        if flex.inertia_second and not np.allclose(
            np.trace(shape_second, axis1=2, axis2=3), mass, rtol=1e-6, atol=1e-6 * abs(mass).max()
        ):
            raise RefusalError(
                "flex inertia_second: its traces are not four times the mass matrix, as a linear field's are"
            )
        return cls(
            mass=body.mass,
            first=body.mass * com,
            second=np.trace(about) / 2 * np.eye(3) - about,
            shape=coupling[3:].T,
            shape_first=shape_first,
            shape_second=shape_second,
            bend=np.zeros((m, m, 3)),
            bend_first=np.zeros((m, m, 3, 3)),
        )

    @property
    def gram(self) -> np.ndarray:
        """The modes' mass matrix (m, m), the integral of phi_k . phi_l."""
        return np.trace(self.shape_second, axis1=2, axis2=3)

    def from_point(self, point: np.ndarray) -> Moments:
        """The same body with the origin of its frame at ``point`` [m]."""
        first = self.first - self.mass * point
        second = (
            self.second - np.outer(point, self.first) - np.outer(self.first, point) + self.mass * np.outer(point, point)
        )
        shape_first = self.shape_first - np.einsum("a,kb->kab", point, self.shape)
        bend_first = self.bend_first - np.einsum("a,klb->klab", point, self.bend)
        return replace(self, first=first, second=second, shape_first=shape_first, bend_first=bend_first)

    def without_rigid(self, moving: np.ndarray, turning: np.ndarray) -> Moments:
        """Linear fields without a rigid motion: ``phi_k - moving_k - turning_k x r``, both (3, m), at the origin."""
        if np.any(self.bend) or np.any(self.bend_first):
            raise RefusalError("foreshortening does not follow a change of the displacement field")
        t = moving.T
        turn = np.array([-cross_matrix(v) for v in turning.T]).reshape(-1, 3, 3)
        shape = self.shape - self.mass * t + turn @ self.first
        shape_first = (
            self.shape_first - np.einsum("a,kb->kab", self.first, t) + np.einsum("ac,kbc->kab", self.second, turn)
        )
        second = (
            self.shape_second
            - np.einsum("ka,lb->klab", self.shape, t)
            - np.einsum("ka,lb->klab", t, self.shape)
            + self.mass * np.einsum("ka,lb->klab", t, t)
            + np.einsum("kca,lbc->klab", self.shape_first, turn)
            + np.einsum("kac,lcb->klab", turn, self.shape_first)
            - np.einsum("ka,c,lbc->klab", t, self.first, turn)
            - np.einsum("kac,c,lb->klab", turn, self.first, t)
            + np.einsum("kac,cd,lbd->klab", turn, self.second, turn)
        )
        return replace(self, shape=shape, shape_first=shape_first, shape_second=second)

    def body(
        self,
        stiffness: np.ndarray,
        damping: np.ndarray,
        nodes: Mapping[str, Node],
        *,
        mass: np.ndarray | None = None,
        coupling: np.ndarray | None = None,
    ) -> ModalBody:
        """Modal data of these moments with generalized stiffness and damping (m, m).

        ``mass`` (m, m) and ``coupling`` (6, m) replace what the moments say, where they are known better.
        """
        com = self.first / self.mass
        central = self.second - self.mass * np.outer(com, com)
        second = self.shape_second + self.shape_second.transpose(1, 0, 2, 3) + 2 * self.bend_first
        if coupling is None:
            coupling = np.vstack((axial_of(self.shape_first).T, self.shape.T))
        second = inertia_of(second) / 2
        second = (second + second.transpose(1, 0, 2, 3)) / 2
        turns = axial_of(self.shape_second) + axial_of(self.bend_first)
        flex = Flex(
            mass=tuples_of(self.gram if mass is None else mass),
            stiffness=tuples_of(stiffness),
            damping=tuples_of(damping),
            coupling=tuples_of(coupling),
            inertia_first=tuples_of(inertia_of(self.shape_first)),
            inertia_second=tuples_of(second),
            gyroscopic=tuples_of(turns),
            moment_second=tuples_of(self.bend.transpose(2, 0, 1)) if np.any(self.bend) else (),
        )
        inertia = tuples_of(np.trace(central) * np.eye(3) - central)
        return ModalBody(mass=self.mass, com=tuples_of(com), inertia=inertia, flex=flex, nodes=dict(nodes))


def clamped(body: ModalBody, node: str) -> ModalBody:
    """``body`` with its frame moved to ``node``, where its modes then neither move nor turn.

    For modes that move the place where a joint holds the body (free-free ones): a rigid motion is taken off each,
    ``phi - rigid(Phi at the node)``. Frequencies of the held body follow from mass and stiffness together.

    Raises KeyError where there is no such node, ValueError for data with foreshortening: a generator must make them
    anew with its origin there.
    """
    if node not in body.nodes:
        raise UnknownNameError(f"no node {node!r}; nodes are {', '.join(body.nodes) or 'none'}")
    m = body.flex.modes
    place = body.nodes[node]
    point, shape = np.array(place.at), _filled(place.shape, (6, m))
    if place.bend:
        raise RefusalError(f"node {node}: foreshortening (bend) does not follow a body frame that is moved")
    turning, moving = shape[:3], shape[3:]
    moments = Moments.of_body(body).from_point(point).without_rigid(moving, turning)
    nodes = {}
    for name, other in body.nodes.items():
        at, rows = np.array(other.at) - point, _filled(other.shape, (6, m))
        carried = moving + np.cross(turning.T, at).T
        rows = np.vstack((rows[:3] - turning, rows[3:] - carried))
        nodes[name] = replace(other, at=tuples_of(at), shape=tuples_of(rows))
    # mass and coupling may be known better than the inertia tensors' traces say: they are moved on their own
    old = np.array(body.flex.coupling)
    old[:3] -= np.cross(point, old[3:].T).T
    rigid = np.vstack((turning, moving))
    first = cross_matrix(moments.first)
    about = np.trace(moments.second) * np.eye(3) - moments.second
    spatial = np.block([[about, first], [-first, moments.mass * np.eye(3)]])
    coupling = old - spatial @ rigid
    mass = np.array(body.flex.mass) - old.T @ rigid - rigid.T @ old + rigid.T @ spatial @ rigid
    new = moments.body(np.array(body.flex.stiffness), np.array(body.flex.damping), nodes, mass=mass, coupling=coupling)
    flex = new.flex if body.flex.inertia_first else replace(new.flex, inertia_first=())
    if not (body.flex.inertia_first and body.flex.inertia_second):
        flex = replace(flex, inertia_second=(), gyroscopic=())
    return replace(new, flex=flex, unturned=body.unturned)


def inertia_of(products: np.ndarray) -> np.ndarray:
    """What tensors ``a b'`` (..., 3, 3) add to an inertia as r becomes a + b: ``2 a.b 1 - a b' - b a'``."""
    traces = np.trace(products, axis1=-2, axis2=-1)[..., None, None]
    return 2 * traces * np.eye(3) - products - np.swapaxes(products, -1, -2)


def axial_of(products: np.ndarray) -> np.ndarray:
    """``a x b`` from ``a b'`` (..., 3, 3)."""
    return np.stack([products[..., i, j] - products[..., j, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=-1)


def _product(inertia: np.ndarray, axial: np.ndarray) -> np.ndarray:
    """``a b'`` (3, 3) from half of what it adds to an inertia and from ``a x b``."""
    symmetric = np.trace(inertia) / 2 * np.eye(3) - inertia
    return symmetric - cross_matrix(axial) / 2


def _filled(values: object, shape: tuple[int, ...]) -> np.ndarray:
    """``values`` as an array; zeros where they are empty."""
    return np.array(values, dtype=float).reshape(shape) if values else np.zeros(shape)
