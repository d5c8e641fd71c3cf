"""Springs among what acts on the bodies of all formulations: the one place for them.

Ends, their velocities and axes come from the formulations' own kinematics. A line pulls along the unit vector between
its ends. A bushing's turn is SciPy's rotation vector theta; its torque tau on b does the work of the efforts g
on theta, ``tau . omega = g . theta'``, with ``omega = J(theta) theta'`` in b's axes: ``J^T tau = g`` is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mbdy.engine.model.ports import Ports
from mbdy.engine.model.springs import Spring
from mbdy.engine.model.system import INERTIAL, Side
from mbdy.engine.model.topology import ROOT
from mbdy.engine.verification.formulations.flexible import Numbers, exponential, moment_slope
from mbdy.engine.verification.formulations.forces import mass_centre
from mbdy.engine.verification.formulations.kinematics import Columns, Frame, kinematics
from mbdy.engine.verification.formulations.values import Array, Part, cross, rotation


def pulled(columns: Columns, table: Ports, parts: Sequence[Part], u: Array, p: Array) -> list[Part]:
    """``parts`` with what springs do at their nodes and mass centres."""
    at, w, loaded = kinematics(columns, parts), columns.speeds(parts), list(parts)
    for spring in columns.model.springs:
        frames = []
        for end, side in (("a", spring.a), ("b", spring.b)):
            body = ROOT if side.body == INERTIAL else columns.model.index[side.body]
            place = p[table.by_name[f"spring.{spring.name}.at_{end}"].places]
            frames.append(at.site(body, side.node).placed(place, rotation(np.array(side.frame))))
        force, torque = _efforts(spring, table, frames[0], frames[1], w, u, p)
        for side, sign in ((spring.a, -1.0), (spring.b, 1.0)):
            if side.body != INERTIAL:
                body = columns.model.index[side.body]
                site = at.site(body, side.node)
                moment = torque + cross(frames[1].r - site.r, force)
                loaded[body] = _loaded(loaded[body], side, site.C.T @ (sign * force), site.C.T @ (sign * moment))
    return loaded


def _efforts(spring: Spring, table: Ports, a: Frame, b: Frame, w: Array, u: Array, p: Array) -> tuple[Numbers, Numbers]:
    """Force on b, and torque about its place, inertial axes."""

    def value(name: str) -> Array:
        variable = table.by_name.get(f"spring.{spring.name}.{name}")
        return np.zeros(1) if variable is None else p[variable.places]

    d, v = b.r - a.r, b.C @ (b.J[3:] @ w) - a.C @ (a.J[3:] @ w)
    if spring.kind == "line":
        distance = float(np.linalg.norm(d))
        if distance == 0.0:
            return -(value("stiffness") * d + value("damping") * v), np.zeros(3)
        stretch, rate = distance - value("free_length")[0], d @ v / distance
        if spring.table:
            points = value("table")
            elastic = float(np.interp(stretch, points[::2], points[1::2]))
        else:
            coefficients = [value(n)[0] for n in ("cubic_stiffness", "stiffness", "preload")]
            elastic = np.polyval([coefficients[0], 0.0, *coefficients[1:]], stretch)
        damping = value("damping")[0] * rate
        actuation = table.by_name.get(f"spring.{spring.name}.actuation")
        pushed = float(u[actuation.places][0]) if actuation else 0.0
        if spring.tension_only:
            damper = not spring.table and elastic == 0.0 < stretch
            damping = damping if elastic > 0.0 or damper else 0.0
            tension = max(0.0, max(elastic, 0.0) + damping + pushed)
        else:
            tension = elastic + damping + pushed
        return -tension * d / distance, np.zeros(3)
    from scipy.spatial.transform import Rotation

    theta = Rotation.from_matrix(a.C.T @ b.C).as_rotvec()
    _, right = exponential(theta)
    omega = b.C.T @ (b.C @ (b.J[:3] @ w) - a.C @ (a.J[:3] @ w))
    turning = np.linalg.solve(right, omega)
    moving = a.C.T @ (v - cross(a.C @ (a.J[:3] @ w), d))
    stretch = np.append(a.C.T @ d, theta) - value("free_length")
    effort = value("preload") + value("stiffness") * stretch + value("damping") * np.append(moving, turning)
    return -a.C @ effort[:3], -b.C @ np.linalg.solve(right.T, effort[3:])


def _loaded(part: Part, side: Side, force: Array, torque: Array) -> Part:
    """``part`` with a force and a torque at the place of a ``side``, its axes."""
    given, constants = part.given, part.constants
    forces, torques, modal = given.forces.copy(), given.torques.copy(), given.modal.copy()
    if side.node:
        place = 1 + list(part.body.nodes).index(side.node)
    else:  # the origin, which no mode moves; a force at the mass centre is spread as the mass is
        place, torque = 0, torque - cross(mass_centre(part), force)
        if constants.modes:
            modal -= moment_slope(constants.modes, part.motion.eta).T @ force / constants.mass
    forces[place] += force
    torques[place] += torque
    return replace(part, given=replace(given, forces=forces, torques=torques, modal=modal))
