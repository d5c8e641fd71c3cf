"""Generators of modal data against closed forms, independent discretizations and published tables."""

from __future__ import annotations

import inspect
import math
import tracemalloc
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from mbdy.engine.flexible.beam import beam
from mbdy.engine.flexible.beam_modes import cantilever, free
from mbdy.engine.flexible.modal import check_body
from mbdy.engine.flexible.modal_body import ModalBody
from mbdy.engine.flexible.moments import Moments, clamped
from mbdy.engine.flexible.plate import plate
from mbdy.engine.flexible.sources import SOURCES
from mbdy.engine.flexible.torsion import torsion
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.system import Body, Joint

BOOM: dict[str, Any] = {"length": 2.3, "mass_per_length": 0.7, "bending_stiffness": (11.0, 5.0)}
TWIST: dict[str, Any] = {"torsional_stiffness": 3.0, "polar_inertia": 0.02}
TIP: dict[str, Any] = {"tip_mass": 0.9, "tip_inertia": (0.05, 0.03, 0.04)}


def hermite(
    n: int, length: float, stiffness: float, density: float, spin: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass of n Hermite elements held at 0; with ``spin`` [rad/s] the tension of a spinning boom."""
    h = length / n
    size = 2 * (n + 1)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    nodes, weights = np.polynomial.legendre.leggauss(6)
    for e in range(n):
        part = slice(2 * e, 2 * e + 4)
        for s, w in zip((nodes + 1) / 2, weights / 2, strict=True):
            value = np.array(
                [1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)]
            )
            slope = (
                np.array([-6 * s + 6 * s**2, h * (1 - 4 * s + 3 * s**2), 6 * s - 6 * s**2, h * (3 * s**2 - 2 * s)]) / h
            )
            bend = np.array([-6 + 12 * s, h * (-4 + 6 * s), 6 - 12 * s, h * (6 * s - 2)]) / h**2
            tension = density * spin**2 * (length**2 - ((e + s) * h) ** 2) / 2
            K[part, part] += w * h * (stiffness * np.outer(bend, bend) + tension * np.outer(slope, slope))
            M[part, part] += w * h * density * np.outer(value, value)
    return K, M


def slowest(K: np.ndarray, M: np.ndarray, count: int) -> np.ndarray:
    return np.sqrt(eigh(K[2:, 2:], M[2:, 2:], eigvals_only=True, subset_by_index=[0, count - 1]))


def frequencies(body: ModalBody) -> np.ndarray:
    return np.sqrt(eigh(np.array(body.flex.stiffness), np.array(body.flex.mass), eigvals_only=True))


def spun(body: ModalBody, spin: float, axis: int) -> np.ndarray:
    """Frequencies beside a constant spin of the body frame about an axis through its origin, no Coriolis coupling."""
    second = np.array(body.flex.inertia_second)[:, :, axis, axis]
    return np.sqrt(np.linalg.eigvalsh(np.array(body.flex.stiffness) - spin**2 * second / 2))


def test_roots_of_a_bare_beam() -> None:
    held = [1.875104068711961, 4.694091132974175, 7.854757438237613, 10.995540734875467, 14.137168391046471]
    loose = [4.730040744862704, 7.853204624095838, 10.995607838001671, 14.137165491257464]
    assert [mode.root for mode in cantilever(5)] == pytest.approx(held, rel=1e-14)
    assert [mode.root for mode in free(4)] == pytest.approx(loose, rel=1e-14)


@pytest.mark.parametrize(
    "tip", [(0.0, 0.0), (1.0, 0.1), (0.0, 1.0), (0.01, 1e-4), (100.0, 0.0), (10.0, 10.0), (1e4, 1e4)]
)
def test_no_root_is_missed_and_shapes_are_orthogonal(tip: tuple[float, float]) -> None:
    modes = cantilever(40, *tip)
    roots = [mode.root for mode in modes]
    assert all(b > a for a, b in pairwise(roots))
    assert roots[-1] < 40.5 * math.pi
    nodes, weights = np.polynomial.legendre.leggauss(300)
    values = np.array([mode((nodes + 1) / 2) for mode in modes])
    ends, slopes = np.array([mode(1.0) for mode in modes]), np.array([mode(1.0, 1) for mode in modes])
    gram = values * (weights / 2) @ values.T + tip[0] * np.outer(ends, ends) + tip[1] * np.outer(slopes, slopes)
    size = np.sqrt(np.diag(gram))
    assert abs(gram / np.outer(size, size) - np.eye(40)).max() < 1e-8
    if max(tip) <= 10:
        assert abs(gram / np.outer(size, size) - np.eye(40)).max() < 1e-11


def test_a_boom_with_a_tip_body_against_elements() -> None:
    body = beam(**BOOM, **TWIST, **TIP, modes=(3, 3, 1))
    omega = np.sqrt(np.diag(body.flex.stiffness))
    for first, stiffness, inertia in ((0, 11.0, 0.04), (3, 5.0, 0.03)):
        K, M = hermite(40, 2.3, stiffness, 0.7)
        M[-2, -2] += 0.9
        M[-1, -1] += inertia
        assert omega[first : first + 3] == pytest.approx(slowest(K, M, 3), rel=1e-6)
    root = omega[6] * 2.3 * math.sqrt(0.02 / 3.0)
    assert root * math.tan(root) == pytest.approx(0.02 * 2.3 / 0.05, rel=1e-12)


def test_mass_properties_with_a_tip_body() -> None:
    body = beam(**BOOM, **TWIST, **TIP, modes=2)
    rod, mass = 0.7 * 2.3, 0.7 * 2.3 + 0.9
    com = (rod * 1.15 + 0.9 * 2.3) / mass
    across = rod * 2.3**2 / 3 + 0.9 * 2.3**2 - mass * com**2
    assert body.mass == pytest.approx(mass, rel=1e-14)
    assert body.com == pytest.approx((com, 0.0, 0.0), rel=1e-13)
    assert np.array(body.inertia) == pytest.approx(
        np.diag([0.02 * 2.3 + 0.05, across + 0.03, across + 0.04]), rel=1e-12
    )


def test_modal_mass_of_the_field_is_one() -> None:
    body = beam(**BOOM, **TWIST, **TIP, modes=(4, 3, 2), stiffening=())
    assert abs(Moments.of_body(body).gram - np.eye(9)).max() < 1e-13


def test_all_modes_together_make_the_rigid_body() -> None:
    """Sums of a held boom's effective masses tend to mass and inertia (1 / root^2 and faster)."""
    body = beam(length=2.0, mass_per_length=1.5, bending_stiffness=1.0, modes=(40, 40, 40), stiffening=(), **TWIST)
    coupling = np.array(body.flex.coupling)
    effective = coupling @ coupling.T
    first = 1.5 * 2.0**2 / 2
    across = 1.5 * 2.0**3 / 3
    assert effective[4, 4] == pytest.approx(3.0, rel=0.012)
    assert effective[4, 4] < 3.0
    assert effective[2, 4] == pytest.approx(first, rel=2e-3)
    assert effective[2, 2] == pytest.approx(across, rel=1e-5)
    assert effective[1, 1] == pytest.approx(across, rel=1e-5)
    assert effective[0, 0] == pytest.approx(0.04, rel=0.006)
    check_body(body.mass, body.com, body.inertia, body.flex)


WRIGHT = {
    0: (3.5160, 22.0345), 1: (3.6817, 22.1810), 2: (4.1373, 22.6149), 3: (4.7973, 23.3203), 4: (5.5850, 24.2733),
    5: (6.4495, 25.4461), 6: (7.3604, 26.8091), 8: (9.2568, 29.9954), 10: (11.2023, 33.6404), 12: (13.1702, 37.6031),
}  # fmt: skip
"""Flapwise frequencies of a uniform cantilever at spin rates, hub radius 0, all times sqrt(m L^4 / EI): A. D. Wright,
C. E. Smith, R. W. Thresher, J. L. C. Wang, Vibration modes of centrifugally stiffened beams, J. Appl. Mech. 49 (1982)
197-202, table 2."""


@pytest.mark.parametrize("spin", WRIGHT)
def test_a_spinning_boom_is_as_stiff_as_published(spin: int) -> None:
    body = beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, modes=(0, 10))
    K, M = hermite(40, 1.0, 1.0, 1.0, spin)
    flap = spun(body, spin, 2)[:2]
    assert slowest(K, M, 2) == pytest.approx(WRIGHT[spin], abs=6e-5)
    assert flap == pytest.approx(WRIGHT[spin], rel=3e-5)
    lag = spun(beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, modes=(10, 0)), spin, 2)[:2]
    assert lag == pytest.approx(np.sqrt(flap**2 - spin**2), rel=1e-12)


def test_acceleration_along_the_boom_softens_it() -> None:
    """A column that stands on an accelerated base buckles where its weight is 7.8373 EI / L^2 (Greenhill)."""
    body = beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, modes=(8, 0))
    stiffness, softening = np.array(body.flex.stiffness), np.array(body.flex.moment_second)[0]
    critical = eigh(stiffness, -softening, eigvals_only=True)[0]
    assert critical == pytest.approx(7.83734744, rel=1e-5)


def test_a_force_at_the_tip_softens_it() -> None:
    """Euler's load of a column held at its foot, pi^2 EI / 4 L^2."""
    body = beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, modes=(12, 0))
    softening = np.array(body.nodes["tip"].bend[0])
    critical = eigh(np.array(body.flex.stiffness), -softening, eigvals_only=True)
    assert critical[0] == pytest.approx(math.pi**2 / 4, rel=2e-4)


def test_foreshortening_is_that_of_the_slopes() -> None:
    body = beam(**BOOM, **TIP, modes=(3, 2), nodes={"mid": 1.1})
    mid = body.nodes["mid"]
    xs = np.linspace(0, 1.1, 20001)
    mode = cantilever(2, 0.9 / 1.61, 0.04 / (1.61 * 2.3**2))[1]
    scale = mid.shape[5 - 1][1] / mode(1.1 / 2.3)
    slopes = scale * mode(xs / 2.3, 1) / 2.3
    assert mid.bend[0][1][1] == pytest.approx(-np.trapezoid(slopes**2, xs), rel=1e-7)
    assert mid.shape[2][1] == pytest.approx(slopes[-1], rel=1e-12)


def expm(v: np.ndarray) -> np.ndarray:
    angle = float(np.linalg.norm(v))
    cross = cross_matrix(v)
    return np.eye(3) + np.sinc(angle / math.pi) * cross + np.sinc(angle / (2 * math.pi)) ** 2 / 2 * cross @ cross


def test_second_order_terms_are_those_of_the_bent_body() -> None:
    """Moment and inertia of points placed as a bent boom of fixed length with a turned tip body, by differences."""
    body = beam(**BOOM, **TWIST, **TIP, modes=(2, 2, 1))
    flex = body.flex
    held = {k: (cantilever(2, 0.9 / 1.61, j / (1.61 * 2.3**2))) for k, j in ((1, 0.04), (2, 0.03))}
    tip = np.array(body.nodes["tip"].shape)
    scales = [
        tip[4, 0] / held[1][0](1.0),
        tip[4, 1] / held[1][1](1.0),
        tip[5, 2] / held[2][0](1.0),
        tip[5, 3] / held[2][1](1.0),
    ]
    nodes, weights = np.polynomial.legendre.leggauss(60)
    s, w = (nodes + 1) / 2, weights * 2.3 / 2
    inner = np.outer(s, s)

    def slopes(at: np.ndarray, eta: np.ndarray) -> np.ndarray:
        y = eta[0] * scales[0] * held[1][0](at, 1) + eta[1] * scales[1] * held[1][1](at, 1)
        z = eta[2] * scales[2] * held[2][0](at, 1) + eta[3] * scales[3] * held[2][1](at, 1)
        return np.stack([y, z], axis=-1) / 2.3

    def points(eta: np.ndarray) -> np.ndarray:
        y = eta[0] * scales[0] * held[1][0](s) + eta[1] * scales[1] * held[1][1](s)
        z = eta[2] * scales[2] * held[2][0](s) + eta[3] * scales[3] * held[2][1](s)
        short = (slopes(inner, eta) ** 2).sum(axis=-1) @ w * s / 2
        end = np.array([2.3 - (slopes(s, eta) ** 2).sum(axis=-1) @ w / 2, 0, 0]) + tip[3:, :] @ eta * [0, 1, 1]
        return np.vstack([np.stack([2.3 * s - short, y, z], axis=-1), end])

    masses, own = np.append(0.7 * w, 0.9), np.diag(TIP["tip_inertia"])

    def properties(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at, turn = points(eta), expm(tip[:3] @ eta)
        inertia = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, at, strict=True))
        ring = np.diag([0.02, 0.01, 0.01]) * 2.3
        return masses @ at, inertia + turn @ own @ turn.T + ring

    def momentum(eta: np.ndarray, mode: int) -> np.ndarray:
        """Angular momentum about the origin by a unit rate of one mode."""
        h = 1e-5 * np.eye(5)[mode]
        rate = (points(eta + h) - points(eta - h)) / 2e-5
        turn = expm(tip[:3] @ eta)
        spin = (expm(tip[:3] @ (eta + h)) - expm(tip[:3] @ (eta - h))) / 2e-5 @ turn.T
        axial = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        return masses @ np.cross(points(eta), rate) + turn @ own @ turn.T @ axial

    rng = np.random.default_rng(3)
    step = 2e-3
    for _ in range(3):
        eta = rng.normal(size=5)
        (m2, J2), (m1, J1), (m0, J0) = (properties(k * step * eta) for k in (1, -1, 0))
        bend = np.einsum("aij,i,j->a", np.array(flex.moment_second), eta, eta)
        second = np.einsum("ijab,i,j->ab", np.array(flex.inertia_second), eta, eta)
        first = np.einsum("iab,i->ab", np.array(flex.inertia_first), eta)
        assert (m2 - 2 * m0 + m1) / step**2 == pytest.approx(bend, abs=3e-5 * abs(bend).max())
        assert (J2 - 2 * J0 + J1) / step**2 == pytest.approx(second, abs=3e-5 * abs(second).max())
        assert (J2 - J1) / (2 * step) == pytest.approx(first, abs=1e-3 * abs(first).max())
        turning = np.einsum("i,ija->ja", eta, np.array(flex.gyroscopic))
        for j in range(5):
            change = (momentum(step * eta, j) - momentum(-step * eta, j)) / (2 * step)
            assert change == pytest.approx(turning[j], abs=1e-3 * abs(turning).max())


def test_a_node_off_the_axis_moves_with_its_section() -> None:
    body = beam(**BOOM, **TWIST, modes=(1, 1, 1), nodes={"mid": 1.2, "off": (1.2, 0.3, -0.2)})
    mid, off = (np.array(body.nodes[name].shape) for name in ("mid", "off"))
    assert off[:3] == pytest.approx(mid[:3])
    assert off[3:] == pytest.approx(mid[3:] + np.cross(mid[:3].T, [0, 0.3, -0.2]).T)


@pytest.mark.parametrize("axis", ["y", "z", (1.0, 2.0, -0.5)])
def test_a_boom_along_another_axis_is_the_same_one_turned(axis: Any) -> None:
    plain = beam(**BOOM, **TWIST, **TIP, modes=(2, 1, 1))
    normal = np.array([0.0, 1.0, 1.0])
    across = {} if isinstance(axis, str) else {"normal": normal.tolist()}
    turned = beam(**BOOM, **TWIST, **TIP, modes=(2, 1, 1), axis=axis, **across)
    tip, other = plain.nodes["tip"], turned.nodes["tip"]
    if axis == "y":
        R = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    elif axis == "z":
        R = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    else:
        x = np.array(axis) / np.linalg.norm(axis)
        y = normal - x * (x @ normal)
        y /= np.linalg.norm(y)
        R = np.array([x, y, np.cross(x, y)]).T
    both = np.kron(np.eye(2), R)
    assert np.array(other.at) == pytest.approx(R @ tip.at)
    assert np.array(other.shape) == pytest.approx(both @ tip.shape, abs=1e-12)
    assert np.array(other.bend) == pytest.approx(np.einsum("ab,bij->aij", R, tip.bend), abs=1e-12)
    assert np.array(turned.inertia) == pytest.approx(R @ plain.inertia @ R.T, abs=1e-12)
    assert np.array(turned.flex.coupling) == pytest.approx(both @ plain.flex.coupling, abs=1e-12)
    second = np.einsum("ac,ijcd,bd->ijab", R, plain.flex.inertia_second, R)
    assert np.array(turned.flex.inertia_second) == pytest.approx(second, abs=1e-11)
    gyroscopic = np.einsum("ab,ijb->ija", R, plain.flex.gyroscopic)
    assert np.array(turned.flex.gyroscopic) == pytest.approx(gyroscopic, abs=1e-12)


@pytest.mark.parametrize("origin", [0.0, 0.8, 2.3])
def test_free_modes_shift_no_mass(origin: float) -> None:
    body = beam(**BOOM, modes=(3, 3), ends="free", origin=origin)
    assert not np.any(body.flex.coupling)
    assert body.com == pytest.approx((1.15 - origin, 0, 0), abs=1e-14)
    assert body.nodes["tip"].at == pytest.approx((2.3 - origin, 0, 0))


def test_free_modes_clamped_by_the_generator_and_afterwards_agree() -> None:
    options: dict[str, Any] = {**BOOM, **TWIST, "modes": (6, 6, 2), "ends": "free", "stiffening": ()}
    loose = beam(**options, nodes={"root": 0.5, "off": (1.0, 0.1, 0.2)})
    one, other = clamped(loose, "root"), beam(**options, origin=0.5, clamp=True, nodes={"off": (0.5, 0.1, 0.2)})
    assert not np.any(np.abs(one.nodes["root"].shape) > 1e-13)
    assert one.com == pytest.approx(other.com, abs=1e-14)
    assert np.array(one.nodes["off"].shape) == pytest.approx(np.array(other.nodes["off"].shape), abs=1e-12)
    for name in ("mass", "stiffness", "coupling", "inertia_first", "inertia_second", "gyroscopic"):
        a, b = np.array(getattr(one.flex, name)), np.array(getattr(other.flex, name))
        assert a == pytest.approx(b, abs=1e-12 * abs(a).max()), name
    check_body(one.mass, one.com, one.inertia, one.flex)


def test_clamped_free_modes_tend_to_the_held_boom() -> None:
    held = frequencies(beam(**BOOM, modes=(2, 0)))[0]
    errors = []
    for count in (4, 8, 16):
        body = beam(**BOOM, modes=(count, 0), ends="free", clamp=True)
        errors.append(frequencies(body)[0] / held - 1)
    assert errors[0] > errors[1] > errors[2] > 0
    assert errors[2] < 0.6 * errors[1]


def test_foreshortening_does_not_follow_a_moved_frame() -> None:
    with pytest.raises(ValueError, match="foreshortening"):
        clamped(beam(**BOOM, modes=1, ends="free"), "tip")


def test_torsion_rod() -> None:
    rod = torsion(length=2.0, mass_per_length=1.0, **TWIST, modes=3, tip_inertia=0.01, tip_mass=0.5)
    roots = np.sqrt(np.diag(rod.flex.stiffness)) * 2.0 * math.sqrt(0.02 / 3.0)
    assert roots * np.tan(roots) == pytest.approx([4.0] * 3, rel=1e-11)
    loose = torsion(length=2.0, mass_per_length=1.0, **TWIST, modes=3, ends="free")
    assert np.sqrt(np.diag(loose.flex.stiffness)) == pytest.approx(
        np.arange(1, 4) * math.pi / 2 * math.sqrt(150), rel=1e-12
    )
    bare = torsion(length=2.0, mass_per_length=1.0, **TWIST, modes=20)
    assert np.sum(np.array(bare.flex.coupling)[0] ** 2) == pytest.approx(0.04, rel=0.011)
    # a round section stays what it is as it twists
    assert not np.any(np.abs(rod.flex.inertia_second) > 1e-12)


def test_plate_frequencies_as_published() -> None:
    """Square plate, nu = 0.3: A. W. Leissa, Vibration of Plates, NASA SP-160 (1969), table 4.52, upper bounds all."""
    body = plate(length=1.0, width=1.0, mass_per_area=1.0, rigidity=1.0, modes=5)
    leissa = np.array([3.4917, 8.5246, 21.429, 27.331, 31.111])
    found = np.sqrt(np.diag(body.flex.stiffness))
    assert found == pytest.approx(leissa, rel=8e-3)
    assert np.all(found < leissa)
    # converged: A. W. Leissa and Y. Narita give 3.471, 8.507, 21.29, 27.20, 30.96 for the same plate
    assert found == pytest.approx([3.471, 8.5065, 21.285, 27.199, 30.955], rel=2e-4)
    loose = plate(length=1.0, width=1.0, mass_per_area=1.0, rigidity=1.0, modes=5, ends="free")
    assert np.sqrt(np.diag(loose.flex.stiffness)) == pytest.approx([13.468, 19.596, 24.270, 34.801, 34.801], rel=1e-4)
    assert not np.any(np.abs(loose.flex.coupling) > 1e-10)
    assert loose.com == pytest.approx((0, 0, 0), abs=1e-14)


def test_a_plate_without_contraction_bends_as_a_boom() -> None:
    sheet = plate(length=2.0, width=0.4, mass_per_area=1.0, rigidity=3.0, poisson=0.0, modes=6)
    boom = beam(length=2.0, mass_per_length=0.4, bending_stiffness=1.2, modes=(0, 2), stiffening=())
    found = np.sqrt(np.diag(sheet.flex.stiffness))
    tip, other = (np.array(body.nodes["tip"].shape) for body in (sheet, boom))
    for k in range(2):
        omega = math.sqrt(boom.flex.stiffness[k][k])
        j = int(np.argmin(abs(found - omega)))
        assert found[j] == pytest.approx(omega, rel=1e-7)
        assert tip[:, j] == pytest.approx(other[:, k], rel=1e-5, abs=1e-9)
        assert np.array(sheet.flex.coupling)[:, j] == pytest.approx(
            np.array(boom.flex.coupling)[:, k], rel=1e-6, abs=1e-9
        )
    assert abs(Moments.of_body(sheet).gram - np.eye(6)).max() < 1e-11
    assert np.array(sheet.inertia) == pytest.approx(
        np.diag([0.8 * 0.16 / 12, 0.8 * 4 / 12, 0.8 * 4.16 / 12]), rel=1e-12
    )


def test_plate_nodes_turn_as_the_surface() -> None:
    step = 1e-5
    spots = {"a": (0.7, 0.2), "x": (0.7 + step, 0.2), "y": (0.7, 0.2 + step), "same": (0.7, 0.2, 0.0)}
    body = plate(length=1.0, width=0.8, mass_per_area=1.0, youngs_modulus=1e6, thickness=0.01, modes=4, nodes=spots)
    a, x, y, same = (np.array(body.nodes[name].shape) for name in spots)
    assert (y[5] - a[5]) / step == pytest.approx(a[0], rel=1e-3, abs=1e-3)
    assert (x[5] - a[5]) / step == pytest.approx(-a[1], rel=1e-3, abs=1e-3)
    assert not np.any(a[2:5])
    assert same == pytest.approx(a)


def test_modal_bodies_are_ready_for_bodies() -> None:
    made = beam(**BOOM, modes=(2, 1), nodes={"mid": 1.0})
    body = Body(
        name="boom", joint=Joint(to="inertial", kind="fixed"),
        mass=made.mass, com=made.com, inertia=made.inertia, nodes=made.nodes, flex=made.flex,
    )  # fmt: skip
    assert body.modes == 3
    assert set(body.nodes) == {"tip", "mid"}
    hash(made.flex)


def test_damping_ratio() -> None:
    body = beam(**BOOM, modes=(1, 1), damping_ratio=(0.01, 0.03))
    omega = np.sqrt(np.diag(body.flex.stiffness))
    assert np.array(body.flex.damping) == pytest.approx(np.diag(2 * omega * [0.01, 0.03]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"length": 0.0}, "length: must be above zero, got 0.0"),
        ({"bending_stiffness": (1.0, -2.0)}, "bending_stiffness along z: must be above zero"),
        ({"modes": 0}, "modes: one or more"),
        ({"modes": (1, 1, 1)}, "torsional_stiffness: is needed"),
        ({"modes": (1, -1)}, "modes: up to 3 whole numbers"),
        ({"tip_mass": -1.0}, "tip_mass: must not be negative"),
        ({"tip_mass": 1e6}, "body of its own"),
        ({"tip_inertia": (1.0, 0.1, 0.1)}, "tip_inertia: about x it is more"),
        ({"ends": "pinned"}, "ends: must be 'cantilever' or 'free'"),
        ({"ends": "free", "tip_mass": 1.0}, "need ends = 'cantilever'"),
        ({"origin": 1.0}, "need ends = 'free'"),
        ({"axis": "w"}, "axis: must be 'x', 'y', 'z'"),
        ({"axis": (1, 1, 0)}, "normal: is needed"),
        ({"axis": (1, 1, 0), "normal": (2, 2, 0)}, "normal: must not lie along the axis"),
        ({"stiffening": ("gravity",)}, "stiffening: must be of"),
        ({"damping_ratio": (0.1,)}, "damping_ratio: one number or one for each of 4"),
        ({"nodes": {"end": 2.4}}, "node end: lies at 2.4 m along the boom"),
        ({"nodes": {"end": (1.0, 2.0)}}, "node end: a station or three numbers"),
    ],
)
def test_booms_that_cannot_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="^.*" + words.replace("(", "\\(").replace(")", "\\)")):
        beam(**{**BOOM, "modes": 2, **change})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"width": -1.0}, "width: must be above zero"),
        ({"rigidity": None}, "rigidity: is needed"),
        ({"thickness": 0.1}, "stands in the place"),
        ({"poisson": 0.5}, "poisson: must be from 0"),
        ({"modes": 0}, "modes: a whole number from 1"),
        ({"nodes": {"a": (1.5, 0.0)}}, "node a: lies off the plate"),
    ],
)
def test_plates_that_cannot_be(change: dict[str, Any], words: str) -> None:
    options: dict[str, Any] = {"length": 1.0, "width": 1.0, "mass_per_area": 1.0, "rigidity": 1.0, "modes": 2}
    with pytest.raises(ValueError, match=words):
        plate(**{**options, **change})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stiffness": ((4.0, 2.0), (1.0, 4.0))}, "stiffness: must be symmetric, got 2 in row 1 column 2"),
        ({"damping": ((4.0, 0.0), (0.0, -1.0))}, "damping: must be positive semidefinite; it is not where mode 2"),
        ({"mass": ((1.0, 0.0), (0.0, 0.0))}, "mass: must be positive definite; it is not where mode 2"),
    ],
)
def test_matrices_that_are_not_symmetric_or_negative(change: dict[str, Any], words: str) -> None:
    body = beam(**BOOM, modes=(1, 1))
    with pytest.raises(ValueError, match=words):
        check_body(body.mass, body.com, body.inertia, replace(body.flex, **change))


def test_a_mode_with_more_coupling_than_mass_is_named() -> None:
    body = beam(**BOOM, modes=(2, 2))
    check_body(body.mass, body.com, body.inertia, body.flex)
    coupling = np.array(body.flex.coupling)
    coupling[:, 2] *= 2
    with pytest.raises(ValueError, match="coupling: mode 3 moves more mass than it has"):
        check_body(body.mass, body.com, body.inertia, replace(body.flex, coupling=tuple(map(tuple, coupling.tolist()))))
    coupling[0, 0] = 1.0
    with pytest.raises(ValueError, match="mode 1 moves the body where it has neither mass nor inertia"):
        check_body(body.mass, body.com, body.inertia, replace(body.flex, coupling=tuple(map(tuple, coupling.tolist()))))


def test_inertia_of_sections_leaves_bending_alone() -> None:
    """A floating boom of held modes bends as fast, however much its sections have about their axis."""
    found = []
    for polar in (0.0, 0.4):
        body = beam(**BOOM, modes=(6, 6), polar_inertia=polar)
        com = np.array(body.com)
        about = np.array(body.inertia) + body.mass * (com @ com * np.eye(3) - np.outer(com, com))
        arm = body.mass * cross_matrix(com)
        coupling = np.array(body.flex.coupling)
        whole = np.block([[np.block([[about, arm], [arm.T, body.mass * np.eye(3)]]), coupling],
                          [coupling.T, np.array(body.flex.mass)]])  # fmt: skip
        moving = np.arange(len(whole)) != 0  # a bare beam has no inertia about its axis, and none bends it so
        stiffness = np.zeros_like(whole)
        stiffness[6:, 6:] = body.flex.stiffness
        found.append(eigh(stiffness[np.ix_(moving, moving)], whole[np.ix_(moving, moving)], eigvals_only=True)[5:])
        assert body.inertia[0][0] == pytest.approx(polar * BOOM["length"])
    assert found[1] == pytest.approx(found[0], rel=1e-9)
    length, EI = BOOM["length"], max(BOOM["bending_stiffness"])
    exact = 4.730040744862704**2 * math.sqrt(EI / (BOOM["mass_per_length"] * length**4))
    assert min(abs(np.sqrt(found[0]) / exact - 1)) < 0.01


def test_a_rod_that_only_twists_has_its_sections_about_their_diameters() -> None:
    rod = torsion(length=2.0, mass_per_length=1.0, **TWIST, modes=1)
    assert rod.inertia[1][1] == pytest.approx(2.0 * (2.0**2 / 12 + TWIST["polar_inertia"] / 2))


@pytest.mark.parametrize("name", SOURCES)
def test_keys_of_a_source_are_the_arguments_of_its_function(name: str) -> None:
    source = SOURCES[name]
    function = getattr(import_module(f"mbdy.engine.flexible.{source.module}"), source.function)
    hidden = {"nodes"} | ({"mass", "com", "inertia"} if name == "file" else set())
    arguments = {key: p for key, p in inspect.signature(function).parameters.items() if key not in hidden}
    assert [*arguments] == [*source.keys]
    for key, argument in arguments.items():
        assert source.keys[key].required == (argument.default is argument.empty), key


def test_room_for_many_modes_does_not_grow_with_their_cube() -> None:
    tracemalloc.start()
    beam(length=2.0, mass_per_length=1.0, bending_stiffness=5.0, torsional_stiffness=1.0, polar_inertia=0.1, modes=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e8
    for modes in (129, 10**20):
        with pytest.raises(RefusalError, match=r"modes: .* are more than a body can have, 128"):
            torsion(length=1.0, mass_per_length=1.0, polar_inertia=1.0, torsional_stiffness=1.0, modes=modes)
