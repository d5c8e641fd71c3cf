"""A `Model` as the text of a model file, in SI, to the last bit of each number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import tomlkit

from mbdy.engine.faults import Findings
from mbdy.engine.joint_values import BEARING, HARNESS, JOINT_VALUES
from mbdy.engine.model import IDENTITY, ZERO3, Body, Joint, Matrix3, Model
from mbdy.engine.spellings import joint_of
from mbdy.engine.tables import FORMAT, JointTable
from mbdy.engine.units import odd_angle


def dumps(model: Model) -> str:
    """The model file that says ``model``; `mbdy.engine.files.loads` of it gives an equal one.

    Joints keep their kind. Lost are the spelling of a frame (a quaternion is written), the units of the text
    it came from, and ``source``.
    """
    lines = [
        "# SI units: kg, m, s, rad, N, kg.m2",
        f"mbdy = {FORMAT}",
        f"name = {_literal(model.name)}",
        "",
        "[system]",
        f"gravity = {_literal(model.gravity)}  # m/s2, inertial axes",
    ]
    if gradient := model.gravity_gradient:
        lines.append("gravity_gradient = true")
        lines.append(f"orbit_position = {_literal(gradient.orbit_position)}  # m, inertial axes")
        lines.append(f"gravitational_parameter = {_literal(gradient.gravitational_parameter)}  # m3/s2")
    for body in model.bodies:
        lines += ["", *_body(body)]
    if model.initial:
        lines += ["", "[initial]  # m, rad, m/s, rad/s; quaternions w, x, y, z"]
        lines += [f"{_dotted(name.split('.'))} = {_literal(_one_or_all(v))}" for name, v in _starts(model)]
    return "\n".join(lines) + "\n"


def _starts(model: Model) -> list[tuple[str, tuple[object, ...]]]:
    """Start values by body, then by name: reading a file brings names with a common beginning together."""
    places = model.index
    names = sorted(model.initial, key=lambda name: (places.get(name.partition(".")[0], -1), name))
    units = {name: "rad" if name.endswith(".joint.angle") else "" for name in names}
    return [(name, _told(model.initial[name], repeat(units[name]))) for name in names]


def _body(body: Body) -> Iterator[str]:
    yield f"[{_dotted(['body', body.name])}]"
    yield f"mass = {_literal(body.mass)}"
    if body.com != ZERO3:
        yield f"com = {_literal(body.com)}"
    if any(any(row) for row in body.inertia):
        yield f"inertia = {_literal(_shortest(body.inertia))}"
    yield ""
    yield f"[{_dotted(['body', body.name, 'joint'])}]"
    yield from _joint(body.joint)
    for name, wheel in body.wheels.items():
        yield ""
        yield f"[{_dotted(['body', body.name, 'wheel', name])}]"
        yield f"axis = {_literal(wheel.axis)}"
        yield f"inertia = {_literal(wheel.inertia)}"
        if wheel.bearing:
            yield from (f"{key} = {_literal(getattr(wheel, key))}" for key in BEARING)
    for name, node in body.nodes.items():
        yield ""
        yield f"[{_dotted(['body', body.name, 'node', name])}]"
        yield f"at = {_literal(node.at)}"


def _joint(joint: Joint) -> Iterator[str]:
    yield f"to = {_literal(joint.to)}"
    for key, value in _spelled(joint).items():
        yield f"{key} = {_literal(value)}"
    if joint.at != ZERO3:
        yield f"at = {_literal(joint.at)}"
    if joint.frame != IDENTITY:
        yield f"frame = {{ quaternion = {_literal(joint.frame)} }}"
    for key, value in JOINT_VALUES.items():
        values = getattr(joint, key)
        if any(values) or (value.law is not None and values):
            units = [value.translation] * joint.n_translations + [value.rotation] * joint.n_rotations
            yield f"{key} = {_literal(_one_or_all(_told(values, units)))}"
    if joint.harness:
        unit = "m" if joint.n_translations else "rad"
        yield f"{HARNESS} = {_literal([_told(point, (unit, '')) for point in joint.harness])}"
    if any(motion != "free" for motion in joint.motion):
        yield f"motion = {_literal(_one_or_all(joint.motion))}"


def _spelled(joint: Joint) -> dict[str, object]:
    """The axes of ``joint`` under its kind, or in the general form where the kind means other axes."""
    keys: dict[str, object] = {"kind": joint.kind}
    if joint.kind in ("universal", "gimbal"):
        keys["axes"] = joint.rotations
    elif joint.kind in ("revolute", "prismatic", "cylindrical", "planar") and joint.axes:
        keys["axis"] = joint.axes[-1]
    table = JointTable.model_construct(to=joint.to, **keys)  # pyright: ignore[reportArgumentType]
    findings = Findings()
    meant = None if joint.kind == "general" else joint_of(table, "", findings)
    shape = (joint.translations, joint.rotations, joint.spherical)
    if meant and not findings.faults and shape == (meant.translations, meant.rotations, meant.spherical):
        return keys
    general: dict[str, object] = {}
    if joint.translations or not joint.n_u:
        general["translation"] = joint.translations
    if joint.n_rotations:
        general["rotation"] = "spherical" if joint.spherical else joint.rotations
    return general


def _told(values: Sequence[float], units: Iterable[str]) -> tuple[object, ...]:
    """``values``, with the unit beside an angle of more than a turn, which would be taken for degrees without."""
    return tuple(f"{v!r} {u}" if odd_angle(v, u) else v for v, u in zip(values, units, strict=False))


def _one_or_all(values: Sequence[object]) -> object:
    return values[0] if len(values) == 1 else values


def _shortest(tensor: Matrix3) -> object:
    """The diagonal where all else is zero."""
    diagonal = all(tensor[i][j] == 0 for i in range(3) for j in range(3) if i != j)
    return tuple(tensor[i][i] for i in range(3)) if diagonal else tensor


def _dotted(names: Iterable[str]) -> str:
    return ".".join(tomlkit.key(name).as_string() for name in names)


def _literal(value: object) -> str:
    """``value`` as TOML writes it; floats by the shortest text that reads back to the same bits."""
    if isinstance(value, str):
        return tomlkit.string(value).as_string()
    if isinstance(value, int | float):
        return tomlkit.float_(repr(float(value))).as_string()
    if isinstance(value, Iterable):
        return f"[{', '.join(map(_literal, value))}]"
    raise TypeError(f"a model file has no {type(value).__name__}, got {value!r}")
