"""Trees of rigid and flexible bodies as particles, and what a gravity gradient does to these, one by one.

Where every particle is, is a function of the coordinates alone, and its derivatives along the speeds ``w`` (of all
joints, then modal rates) are complex steps: with ``J`` of each, ``M = sum m J^T J`` and the forces ``sum m J^T F rho``
are those of Lagrange. A rigid body is six particles; a wheel keeps its spin inertia from M, as its momentum is a state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body
from mbdy.engine.model.topology import ROOT, tree
from oracles.dense_kane import axis_rotation, quaternion_rotation, skew, unit
from oracles.random_flexible import Case

STEP = 1e-30
NAMES = {
    "slides": ("position", "joint.displacement"),
    "turns": ("attitude", "joint.attitude", "joint.angle"),
    "eta": ("flex.displacement",),
    "slide_rates": ("velocity", "joint.velocity"),
    "turn_rates": ("omega", "joint.omega", "joint.rate"),
    "eta_rates": ("flex.rate",),
}


class Particles:
    """The particles of a tree below one free root, without prescribed motion.

    ``rates`` (n) are the places of ``w`` among the states.
    """

    def __init__(self, case: Case) -> None:
        self.model, self.tree, self.table = case.model, tree(case.model), ports(case.model)
        self.places = [_places(self.table.by_name, body.name) for body in self.model.bodies]
        self.bodies = [_particles(body, case) for body in self.model.bodies]
        self.masses = np.concatenate([masses for masses, _, _ in self.bodies])
        of_joints = [at[sort] for at in self.places for sort in ("slide_rates", "turn_rates")]
        self.rates = np.concatenate([*of_joints, *(at["eta_rates"] for at in self.places)])

    def attraction(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """What the gravity gradient adds to the rates of ``w``."""
        here, _ = self._placed(x)
        there = [self._placed(x + 1j * STEP * way) for way in self._ways(x)]
        J = np.array([np.imag(r) / STEP for r, _ in there])  # (n, particles, 3)
        M = np.einsum("ipa,jpa,p->ij", J, J, self.masses)
        for b, body in enumerate(self.model.bodies):
            for wheel in body.wheels.values():
                spins = np.array([_about(turned[b], unit(np.array(wheel.axis))) for _, turned in there])
                M -= wheel.inertia * np.outer(spins, spins)
        assert self.model.gravity_gradient
        R = u[self.table.by_name["system.orbit_position"].places]
        size, mu = np.linalg.norm(R), self.model.gravity_gradient.gravitational_parameter
        pull = mu * (3 * np.outer(R, R) / size**5 - np.eye(3) / size**3)
        rho = here - self.masses @ here / self.masses.sum()
        return np.linalg.solve(M, np.einsum("ipa,p,pa->i", J, self.masses, rho @ pull))

    def _placed(self, x: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Places of all particles (n, 3), inertial axes, and rotations (3, 3) of the bodies."""
        turned: list[np.ndarray] = [np.eye(3)] * len(self.bodies)
        origin: list[np.ndarray] = [np.zeros(3)] * len(self.bodies)
        for b in self.tree.outward:
            joint, parent = self.model.bodies[b].joint, self.tree.parent[b]
            C, r = (np.eye(3), np.zeros(3)) if parent == ROOT else (turned[parent], origin[parent])
            if joint.node:
                node, eta = self.model.bodies[parent].nodes[joint.node], x[self.places[parent]["eta"]]
                shape = np.array(node.shape) if node.shape else np.zeros((6, len(eta)))
                r, C = r + C @ (np.array(node.at) + shape[3:] @ eta), C @ expm(skew(shape[:3] @ eta))
            slides, turns = x[self.places[b]["slides"]], x[self.places[b]["turns"]]
            frame, r = C @ quaternion_rotation(np.array(joint.frame)), r + C @ np.array(joint.at)
            for axis, slide in zip(joint.translations, slides, strict=True):
                r = r + frame @ unit(np.array(axis)) * slide
            if joint.spherical:
                frame = frame @ quaternion_rotation(turns)
            else:
                for axis, angle in zip(joint.rotations, turns, strict=True):
                    frame = frame @ axis_rotation(unit(np.array(axis)), angle)
            turned[b], origin[b] = frame, r
        places = [
            origin[b] + (r + shape @ x[self.places[b]["eta"]]) @ turned[b].T
            for b, (_, r, shape) in enumerate(self.bodies)
        ]
        return np.concatenate(places), turned

    def _ways(self, x: np.ndarray) -> list[np.ndarray]:
        """Directions of the states along unit speeds ``w``."""
        ways = []

        def along(places: Any, direction: Any) -> None:
            way = np.zeros(len(x))
            way[places] = direction
            ways.append(way)

        for body, at in zip(self.model.bodies, self.places, strict=True):
            for place in at["slides"]:
                along(place, 1.0)
            if body.joint.spherical:
                w, v = x[at["turns"][0]], x[at["turns"][1:]]
                for e in np.eye(3):
                    along(at["turns"], 0.5 * np.append(-v @ e, w * e + np.cross(v, e)))
            else:
                for place in at["turns"]:
                    along(place, 1.0)
        for at in self.places:
            for place in at["eta"]:
                along(place, 1.0)
        return ways


def _places(table: Any, body: str) -> dict[str, np.ndarray]:
    """Places of a body's states by what they are."""
    found = {}
    for sort, names in NAMES.items():
        variables = (table.get(f"{body}.{name}") for name in names)
        spans = (np.arange(v.state, v.state + v.size) for v in variables if v and v.state is not None)
        found[sort] = next(spans, np.zeros(0, dtype=int))
    return found


def _particles(body: Body, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses (n), places (n, 3) and shapes (n, 3, m) of what a body is made of."""
    if body.flex:
        cloud = case.clouds[body.name]
        return cloud.masses, cloud.r, cloud.phi
    J = np.array(body.inertia)
    spread, axes = np.linalg.eigh((0.5 * np.trace(J) * np.eye(3) - J) / body.mass)
    arms = axes * np.sqrt(3 * spread)
    return np.full(6, body.mass / 6), np.array(body.com) + np.concatenate([arms.T, -arms.T]), np.zeros((6, 3, 0))


def _about(turned: np.ndarray, axis: np.ndarray) -> float:
    """Angular velocity of a body about an ``axis`` of its own along a complex step."""
    spin = turned.real.T @ np.imag(turned) / STEP
    return float(axis @ [spin[2, 1], spin[0, 2], spin[1, 0]])
