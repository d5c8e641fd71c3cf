"""Linear equations about random operating points: tangent to the full ones, MBDYTL's geometry, switches."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.engine import Body, Joint, Linear, Model, equations, equations_of
from mbdy.engine.linear.reference_point import ReferencePoint
from oracles.random_models import random_model
from systems import diagonal, floating

ROUNDING = 1e-10
TANGENT = 3.5
"""An error that falls with the square of the distance falls 4-fold when that halves; third order takes the rest."""


class Pair:
    """Full and linear equations of a model about a random point in motion under random inputs."""

    def __init__(self, model: Model, seed: int, geometry: str = "constant") -> None:
        self.full = equations(model)
        self.table = self.full.ports
        self.rng = np.random.default_rng(seed)
        starts = [v for v in self.table.outputs if v.start_at is not None]
        given = [v for v in self.table.inputs if not v.boolean and "orbit" not in v.name]
        self.at = {v.name: tuple(self.drawn(v.size) + np.array(v.start or [0.0] * v.size)) for v in starts}
        self.at |= {v.name: tuple(self.drawn(v.size)) for v in given}
        self.linear = equations_of(model, Linear(at=self.at, geometry=geometry))
        p = np.array(self.table.vector("parameter"))
        self.k = [np.array(made.prepare(p)).ravel() for made in (self.full, self.linear)]
        point = ReferencePoint(self.table, self.at)
        self.x, self.u = np.array(self.full.start(point.s, self.k[0])).ravel(), point.u

    def drawn(self, size: int) -> np.ndarray:
        return 0.3 * self.rng.normal(size=size)

    def way(self) -> tuple[np.ndarray, np.ndarray]:
        dx, du = self.rng.normal(size=self.x.size), self.rng.normal(size=self.u.size)
        du[self.table.span("switches")] = 0.0
        if orbit := self.table.orbit_position:
            du[orbit] *= 1e5
        return dx, du

    def apart(self, x: np.ndarray, u: np.ndarray, *, relative: bool = True) -> float:
        """Largest difference of the derivatives."""
        for q in self.table.quaternions:
            x[q : q + 4] /= np.linalg.norm(x[q : q + 4])
        full, linear = (
            np.array(made.derivatives(x, u, k)).ravel()
            for made, k in zip((self.full, self.linear), self.k, strict=True)
        )
        return float(np.abs(full - linear).max() / (max(1.0, np.abs(full).max()) if relative else 1.0))


def covered(count: int) -> list[int]:
    """Seeds of random models whose floating roots are free."""
    held = (seed for seed in range(200) if not _root_held(random_model(seed)))
    return [next(held) for _ in range(count)]


def _root_held(model: Model) -> bool:
    return any(b.joint.floating and any(how != "free" for how in b.joint.motion) for b in model.bodies)


@pytest.mark.parametrize("geometry", ["constant", "first-order"])
@pytest.mark.parametrize("seed", covered(10))
def test_tangent_to_the_full_equations(seed, geometry):
    pair = Pair(random_model(seed), seed, geometry)
    assert pair.apart(pair.x.copy(), pair.u) < ROUNDING
    dx, du = pair.way()
    errors = [pair.apart(pair.x + a * dx, pair.u + a * du) for a in (1e-3, 5e-4)]
    assert errors[0] > TANGENT * errors[1] or errors[0] < ROUNDING


def test_first_order_geometry_follows_large_external_forces():
    """Under forces with efforts that balance them the error is of second order in the coordinates, whatever the
    forces; with constant geometry it is of first order."""
    for geometry, falls in (("constant", 2.0), ("first-order", 4.0)):
        pair = Pair(random_model(4), 4, geometry)
        names = [v for v in pair.table.inputs if v.port in ("external_forces", "node_forces")]
        forces = np.zeros(pair.u.size)
        for v in names:
            forces[v.places] = 1e3 * pair.rng.normal(size=v.size)
        efforts = balance(pair, forces)
        assert np.abs(np.array(pair.full.derivatives(pair.x, pair.u + forces + efforts, pair.k[0])) - np.array(
            pair.full.derivatives(pair.x, pair.u, pair.k[0]))).max() < 1e-7  # fmt: skip
        hinges = [at for at in range(pair.full.n_q) if ".joint." in pair.table.state_names[at]]
        dx = np.zeros(pair.x.size)
        dx[hinges] = pair.rng.normal(size=len(hinges))
        errors = [pair.apart(pair.x + a * dx, pair.u + forces + efforts, relative=False) for a in (1e-4, 5e-5)]
        assert errors[0] / errors[1] == pytest.approx(falls, rel=0.1)


def balance(pair: Pair, forces: np.ndarray) -> np.ndarray:
    """Joint efforts and a torque and force on floating roots under which ``forces`` accelerate nothing."""
    acting = [v for v in pair.table.inputs if v.port == "joint_torques"]
    roots = {
        name.partition(".")[0] for name in pair.table.state_names if name.endswith(".omega[1]") and ".joint" not in name
    }
    acting += [pair.table.by_name[f"{root}.{sort}"] for root in roots for sort in ("force", "torque")]
    places = [at for v in acting for at in range(v.places.start, v.places.stop)]

    def rates(u: np.ndarray) -> np.ndarray:
        return np.array(pair.full.derivatives(pair.x, u, pair.k[0])).ravel()[pair.full.n_q :]

    begun = rates(pair.u)
    columns = np.array([rates(pair.u + np.eye(pair.u.size)[at]) - begun for at in places]).T
    found = np.zeros(pair.u.size)
    found[places] = np.linalg.lstsq(columns, begun - rates(pair.u + forces), rcond=None)[0]
    return found


def test_without_external_forces_the_two_geometries_are_one():
    pairs = [Pair(random_model(5), 5, geometry) for geometry in ("constant", "first-order")]
    dx, du = pairs[0].way()
    du[[at for v in pairs[0].table.inputs if v.port in ("external_forces", "node_forces") for at in range(v.places.start, v.places.stop)]] = 0.0  # fmt: skip  # noqa: E501
    found = [np.array(p.linear.derivatives(p.x + dx, p.u + du, p.k[1])) for p in pairs]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-12)


def test_parameters_stay_inputs():
    """With other masses and stiffnesses the linear equations are those of the other model."""
    pair = Pair(random_model(2), 2)
    p = np.array(pair.table.vector("parameter"))
    for name in pair.table.by_name:
        if name.endswith((".mass", ".stiffness", ".damping")):
            p[pair.table.by_name[name].places] *= 1.3
    pair.k = [np.array(made.prepare(p)).ravel() for made in (pair.full, pair.linear)]
    pair.x = np.array(pair.full.start(ReferencePoint(pair.table, pair.at).s, pair.k[0])).ravel()
    assert pair.apart(pair.x.copy(), pair.u) < ROUNDING
    dx, du = pair.way()
    errors = [pair.apart(pair.x + a * dx, pair.u + a * du) for a in (1e-3, 5e-4)]
    assert errors[0] > TANGENT * errors[1]


def test_what_is_not_covered_and_unknown_names_are_said():
    model = next(m for m in map(random_model, range(100)) if _root_held(m))
    with pytest.raises(ValueError, match="floating root"):
        equations_of(model, Linear())
    with pytest.raises(ValueError, match="geometry"):
        Linear(geometry="square")  # type: ignore[arg-type]
    model = random_model(2)
    with pytest.raises(KeyError, match=r"nothing\.there"):
        equations_of(model, Linear(at={"nothing.there": 1.0}))
    with pytest.raises(ValueError, match=r"system\.mass"):
        equations_of(model, Linear(at={"system.mass": 1.0}))
    with pytest.raises(ValueError, match="finite number"):
        equations_of(model, Linear(at={"system.gravity": (0.0, float("nan"), 1.0)}))


def plane() -> Model:
    """A model whose file has many zeros: two panels on one line, everything in a plane."""
    panels = [
        Body(
            name=name, mass=10.0, com=(0.0, 1.5 * side, 0.0), inertia=diagonal(8.0, 0.5, 8.0),
            joint=Joint(
                to="bus", kind="revolute", rotations=((1.0, 0.0, 0.0),), at=(0.0, side, 0.0), stiffness=(50.0,)
            ),
        )
        for name, side in (("left", 1.0), ("right", -1.0))
    ]  # fmt: skip
    bus = Body(name="bus", mass=300.0, inertia=diagonal(90.0, 40.0, 100.0), joint=floating())
    return Model(name="plane", bodies=(bus, *panels))


@pytest.mark.parametrize("geometry", ["constant", "first-order"])
def test_what_is_zero_in_the_file_can_be_set_later(geometry):
    """Each parameter that is zero, set to something: the matrices follow, as those of the full equations do."""
    model = plane()
    full, linear = equations(model), equations_of(model, Linear(geometry=geometry))
    table = full.ports
    nominal, u = np.array(table.vector("parameter")), np.array(table.vector("input"))
    rng = np.random.default_rng(1)
    dx, du = rng.normal(size=len(table.state_names)), rng.normal(size=u.size)
    for place in np.flatnonzero(nominal == 0.0):
        p = nominal.copy()
        p[place] = 0.15
        k, kl = (np.array(made.prepare(p)).ravel() for made in (full, linear))
        x = np.array(full.start(ReferencePoint(table, {}).s, k)).ravel()
        errors = []
        for a in (1e-3, 5e-4):
            at = x + a * dx
            attitude = at[table.quaternions[0] :][:4]
            attitude /= np.linalg.norm(attitude)
            apart = np.array(full.derivatives(at, u + a * du, k)) - np.array(linear.derivatives(at, u + a * du, kl))
            errors.append(np.abs(apart).max())
        assert errors[0] > TANGENT * errors[1] or errors[0] < ROUNDING, table.parameter_names[place]
