"""Springs and contacts among what acts on the bodies of all formulations: the one place for them.

Ends, their velocities and axes come from the formulations' own kinematics. A line pulls along the unit vector between
its ends. A bushing's turn is SciPy's rotation vector theta; its torque tau on b does the work of the efforts g
on theta, ``tau . omega = g . theta'``, with ``omega = J(theta) theta'`` in b's axes: ``J^T tau = g`` is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mbdy.engine.model.contacts import ROUNDED, Contact
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.springs import Spring
from mbdy.engine.model.system import INERTIAL, Side
from mbdy.engine.model.topology import ROOT
from mbdy.engine.verification.formulations.flexible import Numbers, exponential, moment_slope
from mbdy.engine.verification.formulations.forces import mass_centre
from mbdy.engine.verification.formulations.kinematics import Columns, Frame, kinematics
from mbdy.engine.verification.formulations.values import Array, Part, cross, rotation

Value = Callable[[str], Array]
"""The current entries of a parameter of an element; 0 where it does not have it."""


def pulled(columns: Columns, table: Ports, parts: Sequence[Part], u: Array, p: Array) -> list[Part]:
    """``parts`` with what springs and contacts do at their nodes and mass centres."""
    at, w, loaded = kinematics(columns, parts), columns.speeds(parts), list(parts)
    for part in columns.model.elements:

        def value(name: str, stem: str = f"{part.sort}.{part.name}") -> Array:
            variable = table.by_name.get(f"{stem}.{name}")
            return np.zeros(1) if variable is None else p[variable.places]

        frames = []
        for end, side in (("a", part.a), ("b", part.b)):
            body = ROOT if side.body == INERTIAL else columns.model.index[side.body]
            frames.append(at.site(body, side.node).placed(value(f"at_{end}"), rotation(np.array(side.frame))))
        if isinstance(part, Spring):
            actuation = table.by_name.get(f"spring.{part.name}.actuation")
            pushed = float(u[actuation.places][0]) if actuation else 0.0
            force, torque = _spring(part, value, frames[0], frames[1], w, pushed)
        else:
            force, torque = _contact(part, value, frames[0], frames[1], w)
        for side, sign in ((part.a, -1.0), (part.b, 1.0)):
            if side.body != INERTIAL:
                body = columns.model.index[side.body]
                site = at.site(body, side.node)
                moment = torque + cross(frames[1].r - site.r, force)
                loaded[body] = _loaded(loaded[body], side, site.C.T @ (sign * force), site.C.T @ (sign * moment))
    return loaded


def _spring(spring: Spring, value: Value, a: Frame, b: Frame, w: Array, pushed: float) -> tuple[Numbers, Numbers]:
    """Force on b, and torque about its place, inertial axes; ``pushed`` is its actuation."""
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


def _contact(contact: Contact, value: Value, a: Frame, b: Frame, w: Array) -> tuple[Numbers, Numbers]:
    """The same of a contact: the force on the sphere acts where the two surfaces meet, halfway between them."""
    on_b = contact.shape_b.kind == "sphere"
    other, ball, (own, its) = (a, b, "ba") if on_b else (b, a, "ab")
    shape, radius = (contact.shape_a if on_b else contact.shape_b).kind, value(f"radius_{own}")[0]
    place = other.C.T @ (ball.r - other.r)
    foot = np.zeros(3)
    if shape == "plane":
        normal, gap = np.array([0.0, 0.0, 1.0]), place[2] - radius
    elif shape == "sphere":
        distance = float(np.linalg.norm(place))
        normal, gap = place / (distance or 1.0), distance - radius - value(f"radius_{its}")[0]
    else:
        half, near = value(f"half_angle_{its}")[0], ROUNDED * radius
        off, steepness = float(np.linalg.norm(place[:2])), 1.0
        if off < near:  # even powers that go over to the distance itself, and its first two derivatives
            share = np.polynomial.Polynomial([0.0, 0.0, 15 / 8, 0.0, -5 / 4, 0.0, 3 / 8])
            off, steepness = near * share(off / near), share.deriv()(off / near)
        centre = np.array([off, place[2]])
        line = np.array([np.sin(half), np.cos(half)])
        foot = np.clip(centre @ line, 0.0, value(f"depth_{its}")[0] / np.cos(half)) * line
        distance = float(np.linalg.norm(centre - foot))
        across, along = (centre - foot) / (distance or 1.0)
        outward = place[:2] / (np.linalg.norm(place[:2]) or 1.0)
        normal, gap = np.append(across * steepness * outward, along), distance - radius
    if gap >= 0.0 or not normal.any():
        return np.zeros(3), np.zeros(3)
    normal = other.C @ normal
    unit = normal / np.linalg.norm(normal)
    meeting = ball.r - (radius + 0.5 * gap) * unit

    def velocity(frame: Frame, at: Numbers) -> Numbers:
        return frame.C @ (frame.J[3:] @ w) + cross(frame.C @ (frame.J[:3] @ w), at - frame.r)

    opening = normal @ (velocity(ball, ball.r) - velocity(other, ball.r))
    push = value("stiffness")[0] * (-gap) ** contact.exponent * max(0.0, 1.0 - value("damping")[0] * opening)
    slip = velocity(ball, meeting) - velocity(other, meeting)
    slip = slip - unit * (unit @ slip)
    drag = -value("friction")[0] * push * slip / np.hypot(np.linalg.norm(slip), value("friction_rate")[0])
    force, at = push * normal + drag, cross(meeting - ball.r, drag)
    moment = at + cross(ball.r - b.r, force)
    return (force, moment) if on_b else (-force, -moment)


def _loaded(part: Part, side: Side, force: Array, torque: Array) -> Part:
    """``part`` with a force and a torque at the place of a ``side``, its axes."""
    given, constants = part.given, part.constants
    forces, torques, modal = given.forces.copy(), given.torques.copy(), given.modal.copy()
    if side.node:
        place = 1 + list(part.body.nodes).index(side.node)
    else:  # the origin, which no mode moves; a force at the mass centre is spread as the mass is
        place, torque = 0, torque - cross(mass_centre(part) + constants.joint_at, force)
        if constants.modes:
            modal -= moment_slope(constants.modes, part.motion.eta).T @ force / constants.mass
    forces[place] += force
    torques[place] += torque
    return replace(part, given=replace(given, forces=forces, torques=torques, modal=modal))
