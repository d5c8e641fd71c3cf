"""The neutral description of systems that mbdy and its peers are compared on: numpy alone, so that all can read it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SHAPES = {"parent": (), "mass": (), "com": (3,), "inertia": (3, 3), "at": (3,), "axis": (3,)}
"""What a body has, in the order of `struct body` of system.h; numbers of each."""


@dataclass(frozen=True)
class System:
    """A floating base and n hinged bodies in the order of their places, base first.

    ``parent``, ``mass`` (n+1) [kg], ``com`` (n+1, 3) [m] from the body's origin, ``inertia`` (n+1, 3, 3) [kg.m2] about
    the mass centre, and of the hinge ``at`` (n+1, 3) [m] from the parent's origin and ``axis`` (n+1, 3) of length one.
    Frames of parent and body are parallel at angle zero. ``position`` [m] and ``velocity`` [m/s] of the base's
    origin are inertial, ``attitude`` (w, x, y, z) turns base axes to inertial ones, ``omega`` [rad/s] is in base axes;
    ``angles`` [rad], ``rates`` [rad/s] and ``torques`` [N.m] (n) are the hinges'. No gravity.
    """

    name: str
    parent: np.ndarray
    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    at: np.ndarray
    axis: np.ndarray
    position: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray
    omega: np.ndarray
    angles: np.ndarray
    rates: np.ndarray
    torques: np.ndarray

    @property
    def n(self) -> int:
        """Hinges."""
        return len(self.angles)

    @property
    def numbers(self) -> np.ndarray:
        """All in a row, as system.h reads it."""
        bodies = [np.column_stack([getattr(self, name).reshape(self.n + 1, -1) for name in SHAPES]).ravel()]
        state = (self.position, self.attitude, self.velocity, self.omega, self.angles, self.rates, self.torques)
        return np.concatenate([[float(self.n)], *bodies, *state])


def drawn(shape: str, n: int) -> System:
    """A ``"chain"`` or binary ``"tree"`` of ``n`` hinged bodies of all sorts on a heavy base; always the same."""
    rng = np.random.default_rng(7)
    mass = np.array([800.0, *rng.uniform(5.0, 40.0, n)])
    sizes = np.array([1.2, *[0.4] * n])
    points = rng.uniform(-1.0, 1.0, (n + 1, 12, 3)) * sizes[:, None, None]
    points -= points.mean(axis=1, keepdims=True)
    squares = np.einsum("bki,bkj->bij", points, points) / 12 * mass[:, None, None]
    inertia = np.trace(squares, axis1=1, axis2=2)[:, None, None] * np.eye(3) - squares
    axis = rng.normal(size=(n + 1, 3))
    attitude = rng.normal(size=4)
    at = rng.uniform(-0.5, 0.5, (n + 1, 3))
    at[0] = 0.0
    return System(
        name=f"{shape} of {n}",
        parent=np.array([-1, *(i - 1 if shape == "chain" else (i - 1) // 2 for i in range(1, n + 1))]),
        mass=mass, com=rng.uniform(-0.3, 0.3, (n + 1, 3)), inertia=inertia, at=at,
        axis=axis / np.linalg.norm(axis, axis=1, keepdims=True),
        position=rng.uniform(-1.0, 1.0, 3), attitude=attitude / np.linalg.norm(attitude),
        velocity=rng.uniform(-0.2, 0.2, 3), omega=rng.uniform(-0.2, 0.2, 3), angles=rng.uniform(-1.0, 1.0, n),
        rates=rng.uniform(-0.3, 0.3, n), torques=rng.uniform(-2.0, 2.0, n),
    )  # fmt: skip


def given() -> System:
    """The system of the file of numbers that the command line names."""
    numbers = np.array(Path(sys.argv[1]).read_text().split(), dtype=float)
    n = int(numbers[0])
    table, state = numbers[1 : 1 + 20 * (n + 1)].reshape(n + 1, 20), numbers[1 + 20 * (n + 1) :]
    columns = np.split(table, np.cumsum([int(np.prod(shape)) for shape in SHAPES.values()])[:-1], axis=1)
    parts = {name: part.reshape(n + 1, *SHAPES[name]) for name, part in zip(SHAPES, columns, strict=True)}
    states = np.split(state, np.cumsum([3, 4, 3, 3, n, n]))
    return System("given", parts.pop("parent").astype(int), *parts.values(), *states)


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """The matrix of the quaternion w, x, y, z."""
    w, *v = quaternion
    cross = np.cross(np.eye(3), v)
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def conserved(system: System) -> np.ndarray:
    """Energy [J] and angular momentum about the inertial origin [N.m.s] (3), which stay without torques."""
    turn, at = [rotation(system.attitude)], [system.position]
    omega, velocity = [turn[0] @ system.omega], [system.velocity]
    energy, momentum = 0.0, np.zeros(3)
    for i, mass in enumerate(system.mass):
        if i:
            parent = system.parent[i]
            axis, arm, half = system.axis[i], turn[parent] @ system.at[i], system.angles[i - 1] / 2
            at.append(at[parent] + arm)
            velocity.append(velocity[parent] + np.cross(omega[parent], arm))
            turn.append(turn[parent] @ rotation(np.array([np.cos(half), *np.sin(half) * axis])))
            omega.append(omega[parent] + turn[i] @ axis * system.rates[i - 1])
        com = turn[i] @ system.com[i]
        speed, spin = velocity[i] + np.cross(omega[i], com), turn[i] @ system.inertia[i] @ turn[i].T @ omega[i]
        energy += 0.5 * (mass * speed @ speed + omega[i] @ spin)
        momentum += spin + mass * np.cross(at[i] + com, speed)
    return np.array([energy, *momentum])


def processor_seconds(work: Callable[[], object], count: int) -> float:
    """Processor time of so many calls [s]."""
    begin = time.process_time()
    for _ in range(count):
        work()
    return time.process_time() - begin


def serve(accelerations: Callable[[], np.ndarray], seconds: Callable[[int], float]) -> None:
    """Answers on standard output: the accelerations, or to a number the seconds a call that so many calls take."""
    for line in sys.stdin:
        answer = accelerations() if line.strip() == "accelerations" else [seconds(int(line)) / int(line)]
        print(*map(repr, map(float, answer)), flush=True)
