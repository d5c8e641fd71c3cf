"""Modal data of a uniform boom: bending both ways, torsion, a tip body, and the foreshortening that stiffens it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mbdy.engine.flexible import beam_modes
from mbdy.engine.flexible.beam_modes import Bending
from mbdy.engine.flexible.modal_body import ModalBody, node_of
from mbdy.engine.flexible.moments import Moments, Points
from mbdy.engine.flexible.placing import axes_of, counts_of, dampings, not_negative, positive
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.system import Node, Vector3

POINTS = 16
"""Quadrature points of each panel; a panel is a third of the shortest wave or less."""
MOST_ENTRIES = 1 << 20
"""Of a second-order displacement at the points that are summed at once."""
Moves = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""How points of the axis move, how their sections turn, and their `_Field.shortening`."""
MOST_TIP = 1e4
"""The beam's share of the motion is lost in rounding beside a tip body that is heavier by more than this."""


@dataclass(frozen=True)
class _Field:
    """Displacements along a beam of one length, by modes: deflection in y, in z and twist about x, each (P, m)."""

    length: float
    bending: Sequence[tuple[int, float, Bending]]
    torsion: Sequence[tuple[float, float, bool]]
    origin: float
    clamp: bool

    @property
    def modes(self) -> int:
        return len(self.bending) + len(self.torsion)

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Displacement (P, 3, m) and rotation (P, 3, m) at stations ``x`` (P) [m]."""
        moved, turned = self._raw(x)
        if self.clamp:
            moved0, turned0 = (value[0] for value in self._raw(np.array([self.origin])))
            arm = np.stack([x - self.origin, 0 * x, 0 * x], axis=-1)
            moved = moved - moved0 - np.cross(turned0[None], arm[:, :, None], axis=1)
            turned = turned - turned0
        return moved, turned

    def twist(self, x: np.ndarray) -> np.ndarray:
        """Rotation (P, 3, m) of sections as far as their inertia counts: all but that by slopes of bending."""
        turned = self._raw(x)[1]
        turned[:, 1:] = 0.0
        return turned - self._raw(np.array([self.origin]))[1] if self.clamp else turned

    def shortening(self, x: np.ndarray) -> np.ndarray:
        """``-integral phi_i'.phi_j'`` from the origin to each of ``x`` (P, m, m): second-order displacement along x."""
        values = np.zeros((len(x), self.modes, self.modes))
        for p, end in enumerate(x):
            stations, weights = _rule(min(self.origin, end), max(self.origin, end), self.length, self.waves)
            slopes = self.at(stations)[1][:, 1:]
            squares = np.einsum("p,pai,paj->ij", weights, slopes, slopes, optimize=True)
            values[p] = -math.copysign(1.0, end - self.origin) * squares
        return values

    def pieces(self, spin: bool) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Points and weights of the whole length's rule, some panels at a time, and with ``spin`` their `shortening`.

        All at once the second-order displacements of 60 modes would take gigabytes.
        """
        every, shares = _rule(0.0, self.length, self.length, self.waves)
        fixed = self.shortening(np.zeros(1)) if spin and self.origin else 0.0
        before, size = np.zeros((self.modes, self.modes)), POINTS * max(1, MOST_ENTRIES // (POINTS * self.modes**2))
        for begin in range(0, len(every), size):
            x, weights = every[begin : begin + size], shares[begin : begin + size]
            if not spin:
                yield x, weights, None
                continue
            slopes = self.at(x)[1][:, 1:]
            products = np.einsum("pai,paj->pij", slopes, slopes).reshape(-1, POINTS, self.modes, self.modes)
            panels = weights.reshape(-1, POINTS)
            whole = np.einsum("np,npij->nij", panels, products)
            ends = before + np.cumsum(whole, axis=0)
            within = np.einsum("n,qp,npij->nqij", panels.sum(axis=1) / 2, _partial(), products, optimize=True)
            yield x, weights, fixed - ((ends - whole)[:, None] + within).reshape(len(x), self.modes, self.modes)
            before = ends[-1]

    @property
    def waves(self) -> float:
        """The highest root, an upper bound of how fast any mode varies over the length."""
        return max([mode.root for _, _, mode in self.bending] + [root for root, _, _ in self.torsion], default=1.0)

    def _raw(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moved, turned = np.zeros((len(x), 3, self.modes)), np.zeros((len(x), 3, self.modes))
        s = x / self.length
        for k, (plane, scale, mode) in enumerate(self.bending):
            moved[:, plane, k] = scale * mode(s)
            slope = scale * mode(s, 1) / self.length
            turned[:, 3 - plane, k] = slope if plane == 1 else -slope
        for k, (root, scale, free) in enumerate(self.torsion, start=len(self.bending)):
            turned[:, 0, k] = scale * (np.cos(root * s) if free else np.sin(root * s))
        return moved, turned


def beam(
    *,
    length: float,
    mass_per_length: float,
    bending_stiffness: float | Sequence[float],
    modes: int | Sequence[int],
    damping_ratio: float | Sequence[float] = 0.005,
    torsional_stiffness: float | None = None,
    polar_inertia: float = 0.0,
    tip_mass: float = 0.0,
    tip_inertia: Sequence[float] = (0.0, 0.0, 0.0),
    ends: Literal["cantilever", "free"] = "cantilever",
    stiffening: Sequence[Literal["spin", "load"]] = ("spin", "load"),
    axis: str | Sequence[float] = "x",
    normal: Sequence[float] | None = None,
    origin: float = 0.0,
    clamp: bool = False,
    nodes: Mapping[str, float | Sequence[float]] | None = None,
) -> ModalBody:
    """A uniform Euler-Bernoulli boom by its exact eigenfunctions, scaled to a modal mass of 1 kg.

    ``length`` [m]; ``mass_per_length`` [kg/m]; ``bending_stiffness`` EI [N.m2] against deflection along the boom's y
    and along its z, or one for both; ``torsional_stiffness`` GJ [N.m2]; ``polar_inertia`` [kg.m] per length about the
    axis. The rotary inertia of sections in bending and their shear are left out, so what sections have about their
    diameters is no part of the body's inertia; only of a boom without modes that bend it is, half of ``polar_inertia``.

    ``modes``          how many that deflect along y, along z, that twist; in this order they are numbered.
    ``damping_ratio``  [-] one or one for each mode.
    ``tip_mass``       [kg], ``tip_inertia`` [kg.m2] about the tip, boom axes: a rigid body at the far end, part of
                       the modes, mass, com and inertia.
    ``ends``           ``"cantilever"`` (held where it begins) or ``"free"`` (elastic free-free modes, no tip body).
    ``stiffening``     ``"spin"``: foreshortening in the first moment and inertia, by which spin and accelerations
                       stiffen or soften it; ``"load"``: in its nodes, by which forces there do. Without ``"spin"`` the
                       displacement field is linear, which makes a spinning boom softer than it is.
    ``axis``           of the boom in body axes: ``"x"`` (then y, z are the body's), ``"y"``, ``"z"`` (y, z follow in
                       a circle), or a vector with ``normal``, the direction of the boom's y.
    ``origin``         [m] station of the body frame on the boom, ``"free"`` only.
    ``clamp``          whether ``"free"`` modes are shifted so that they neither move nor turn at the origin, for a
                       boom on a joint; without it they are for a floating root.
    ``nodes``          names to a station [m] on the axis or a point [m] from the origin in body axes, which its
                       section carries along. ``tip``, the far end, is always there.

    Raises ValueError naming what is out of range. Sources: `mbdy.engine.flexible.beam_modes`; foreshortening from
    T. R. Kane, R. R. Ryan, A. K. Banerjee, J. Guidance 10 (1987) 139-151.
    """
    positive(length=length, mass_per_length=mass_per_length)
    not_negative(polar_inertia=polar_inertia, tip_mass=tip_mass)
    stiff = [bending_stiffness] if isinstance(bending_stiffness, int | float) else list(bending_stiffness)
    stiff = stiff * 2 if len(stiff) == 1 else stiff
    if len(stiff) != 2:
        raise RefusalError(f"bending_stiffness: one or two numbers are needed, got {len(stiff)}")
    counts = counts_of((modes, modes) if isinstance(modes, int) else modes, 3)
    if sum(counts) == 0:
        raise RefusalError(f"modes: one or more are needed, got {modes}")
    for plane, (name, value) in enumerate(zip(("along y", "along z"), stiff, strict=True)):
        if counts[plane]:
            positive(**{f"bending_stiffness {name}": value})
    if ends not in ("cantilever", "free"):
        raise RefusalError(f"ends: must be 'cantilever' or 'free', got {ends!r}")
    if unknown := set(stiffening) - {"spin", "load"}:
        raise RefusalError(f"stiffening: must be of 'spin' and 'load', got {sorted(unknown)}")
    free = ends == "free"
    if free and (tip_mass or any(tip_inertia)):
        raise RefusalError(
            "tip_mass, tip_inertia: need ends = 'cantilever'; put a body on a node of a free boom instead"
        )
    if not free and (origin or clamp):
        raise RefusalError("origin, clamp: need ends = 'free'; a cantilever's frame is where it is held")
    if not 0 <= origin <= length:
        raise RefusalError(f"origin: must lie on the boom, from 0 to {length}, got {origin}")
    heavy = mass_per_length * length
    tip = _tip_points(tip_inertia, length)
    if tip_mass > MOST_TIP * heavy or max(tip_inertia) > MOST_TIP * heavy * length**2:
        raise RefusalError(
            f"tip_mass, tip_inertia: more than {MOST_TIP:g} times the boom's; make it a body of its own, on the tip"
        )
    bending, frequencies = [], []
    for plane, about in ((1, 2), (2, 1)):
        inertia = tip_inertia[about] / (heavy * length**2)
        shapes = beam_modes.free if free else beam_modes.cantilever
        options = {} if free else {"tip_mass": tip_mass / heavy, "tip_inertia": inertia}
        for mode in shapes(counts[plane - 1], **options):
            at, weights = _rule(0.0, 1.0, 1.0, mode.root)
            modal = heavy * float(weights @ mode(at) ** 2)
            end = 1.0
            modal += tip_mass * float(mode(end)) ** 2 + tip_inertia[about] * float(mode(end, 1) / length) ** 2
            bending.append((plane, modal**-0.5, mode))
            frequencies.append(mode.root**2 * math.sqrt(stiff[plane - 1] / (heavy * length**3)))
    torsion = []
    if counts[2]:
        if torsional_stiffness is None:
            raise RefusalError("torsional_stiffness: is needed for modes that twist [N.m2]")
        positive(torsional_stiffness=torsional_stiffness, polar_inertia=polar_inertia)
        rotary = polar_inertia * length
        roots = [n * math.pi for n in range(1, counts[2] + 1)]
        for root in roots if free else beam_modes.torsion_roots(counts[2], tip_inertia[0] / rotary):
            at, weights = _rule(0.0, 1.0, 1.0, root)
            modal = rotary * float(weights @ (np.cos(root * at) if free else np.sin(root * at)) ** 2)
            modal += tip_inertia[0] * math.sin(root) ** 2
            torsion.append((root, modal**-0.5, free))
            frequencies.append(root * math.sqrt(torsional_stiffness / (polar_inertia * length**2)))
    field = _Field(length, bending, torsion, origin, clamp)
    turn = axes_of(axis, normal, 1)
    moments = _moments(field, mass_per_length, polar_inertia, tip_mass, tip, "spin" in stiffening, turn)
    omega = np.array(frequencies)
    places = _nodes({"tip": length, **(nodes or {})}, field, turn, "load" in stiffening)
    identity = None if clamp else np.eye(field.modes)
    return moments.body(np.diag(omega**2), dampings(omega, damping_ratio), places, mass=identity)


def _tip_points(inertia: Sequence[float], length: float) -> list[tuple[np.ndarray, float]]:
    """Offsets from the tip and masses, in sum zero, of points with the tip body's inertia about its point."""
    if len(inertia) != 3:
        raise RefusalError(f"tip_inertia: three numbers are needed, got {len(inertia)}")
    not_negative(**{f"tip_inertia {name}": value for name, value in zip("xyz", inertia, strict=True)})
    products = sum(inertia) / 2 - np.array(inertia)
    if products.min() < -1e-9 * max(inertia):
        k = int(products.argmin())
        raise RefusalError(f"tip_inertia: about {'xyz'[k]} it is more than about the other two together, got {inertia}")
    points = []
    for k, product in enumerate(products):
        offset = np.eye(3)[k] * length
        mass = product / (2 * length**2)
        points += [(offset, mass), (-offset, mass), (0 * offset, -2 * mass)]
    return points


def _rule(start: float, end: float, length: float, waves: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre points and weights from ``start`` to ``end``, enough for products of modes and slopes."""
    panels = max(1, math.ceil(waves * (end - start) / length))
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    width = (end - start) / panels
    starts = start + width * np.arange(panels)
    return (starts[:, None] + width * (nodes + 1) / 2).ravel(), np.tile(weights * width / 2, panels)


def _partial() -> np.ndarray:
    """Weights (POINTS, POINTS) of the integrals from -1 to each Gauss-Legendre point."""
    nodes = np.polynomial.legendre.leggauss(POINTS)[0]
    values = np.polynomial.legendre.legvander(nodes, POINTS)
    orders = np.arange(1, POINTS)
    sums = np.hstack([nodes[:, None] + 1, (values[:, 2:] - values[:, :-2]) / (2 * orders + 1)])
    return sums @ np.linalg.inv(values[:, :POINTS])


def _moments(
    field: _Field,
    mass_per_length: float,
    polar_inertia: float,
    tip_mass: float,
    tip: Sequence[tuple[np.ndarray, float]],
    spin: bool,
    turn: np.ndarray,
) -> Moments:
    """Integrals over the axis, over rings that stand for sections where they have inertia, and over the tip body."""

    def part(x: np.ndarray, masses: np.ndarray, offset: np.ndarray, moves: Moves) -> Points:
        at, shapes, bends = _carried(field, x, offset, *moves)
        bends = np.einsum("ab,pbkl->pakl", turn, bends, optimize=True) if spin else None
        return at @ turn.T, masses, np.einsum("ab,pbk->pak", turn, shapes), bends

    def parts() -> Iterator[Points]:
        for x, weights, short in field.pieces(spin):
            moves, share = (field.at(x)[0], field.twist(x), short), polar_inertia * weights / (4 * field.length**2)
            offsets = field.length * np.array([[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0]])
            signs = (1, 1, 1, 1, -1, -1) if field.bending else (1, 1, 1, 1)
            # bending knows nothing of the sections' inertia about their diameters: the last two take it off
            yield part(x, mass_per_length * weights - sum(signs) * share, np.zeros(3), moves)
            for offset, sign in zip(offsets, signs, strict=False) if polar_inertia else ():
                yield part(x, sign * share, offset, moves)
        end = np.array([field.length])
        moves = (*field.at(end), field.shortening(end) if spin else None)
        for offset, mass in [(np.zeros(3), tip_mass), *tip]:
            if mass:
                yield part(end, np.array([mass]), offset, moves)

    return Moments.of_parts(parts())


def _carried(
    field: _Field, x: np.ndarray, offset: np.ndarray, moved: np.ndarray, turned: np.ndarray, short: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places, shapes and second-order shapes of points that sections carry at ``offset`` from the axis, boom axes.

    The sections turn by ``exp(turned eta)``; second-order shapes are zero where ``short`` is None.
    """
    at = np.stack([x - field.origin, 0 * x, 0 * x], axis=-1) + offset
    first = np.cross(turned, offset[None, :, None], axis=1)
    bends = np.zeros((len(x), 3, field.modes, field.modes))
    if short is not None:
        twice = np.cross(turned[:, :, :, None], first[:, :, None, :], axis=1)
        bends = (twice + twice.transpose(0, 1, 3, 2)) / 2
        bends[:, 0] += short
    return at, moved + first, bends


def _nodes(
    places: Mapping[str, float | Sequence[float]], field: _Field, turn: np.ndarray, load: bool
) -> dict[str, Node]:
    """Nodes at stations on the axis or at points off it, which the section there carries."""
    nodes = {}
    for name, place in places.items():
        local = np.array([place - field.origin, 0, 0]) if isinstance(place, int | float) else _point(name, place) @ turn
        station = float(local[0]) + field.origin
        slack = 1e-9 * field.length
        if not -slack <= station <= field.length + slack:
            raise RefusalError(
                f"node {name}: lies at {station:g} m along the boom, which reaches from 0 to {field.length:g}"
            )
        x = np.array([min(max(station, 0.0), field.length)])
        moved, turned = field.at(x)
        offset = np.array([0.0, local[1], local[2]])
        at, shape, bends = _carried(field, x, offset, moved, turned, field.shortening(x) if load else None)
        bend = np.einsum("ab,bkl->akl", turn, bends[0]) if load else None
        nodes[name] = node_of(turn @ at[0], turn @ shape[0], turn @ turned[0], bend)
    return nodes


def _point(name: str, place: Sequence[float]) -> Vector3:
    if len(place) != 3:
        raise RefusalError(f"node {name}: a station or three numbers are needed, got {len(place)}")
    x, y, z = (float(value) for value in place)
    return (x, y, z)
