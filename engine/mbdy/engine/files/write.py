"""A `Model` as the text of a model file, in SI, to the last bit of each number."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import repeat
from typing import Any

from mbdy.engine.files import contacts, springs
from mbdy.engine.files.formats import FORMAT
from mbdy.engine.files.gears import spelled_gear
from mbdy.engine.files.joints import joint_of
from mbdy.engine.files.loops import TIME_CONSTANT, spelled
from mbdy.engine.files.modes import TERMS
from mbdy.engine.files.sides import joined
from mbdy.engine.files.tables import JointTable
from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.faults import Findings
from mbdy.engine.model.harmonics import by_sort
from mbdy.engine.model.laws import laws_of
from mbdy.engine.model.ports import state_parts
from mbdy.engine.model.system import IDENTITY, ZERO3, Body, Joint, Loop, Matrix3, Model, Side
from mbdy.engine.model.tanks import Tank
from mbdy.engine.model.units import odd_angle

COMMENTS = {
    ("system", "gravity"): "m/s2, inertial axes",
    ("system", "orbit_position"): "m, inertial axes",
    ("system", "gravitational_parameter"): "m3/s2",
    ("initial",): "m, rad, m/s, rad/s; quaternions w, x, y, z",
    ("guess",): "closing loops may move them; m, rad, m/s, rad/s; quaternions w, x, y, z",
}
"""What stands behind keys and heads of tables."""


def dumps(model: Model) -> str:
    """The model file that says ``model``; `mbdy.engine.files.read.loads` of it gives an equal one.

    Joints keep their kind. Lost are the spelling of a frame (a quaternion is written), the units of the text
    it came from, and ``source``. Flexible bodies are written with the numbers of their modes, wherever they came from.
    """
    lines = ["# SI units: kg, m, s, rad, N, kg.m2"]
    for key, value in tables_of(model).items():
        lines += _table((key,), value) if isinstance(value, dict) else [_line((key,), value)]
    return "\n".join(lines) + "\n"


def model_hash(model: Model) -> str:
    """SHA-256 of the model file that says ``model``, as `dumps` writes it."""
    return hashlib.sha256(dumps(model).encode("utf-8", "surrogatepass")).hexdigest()


def tables_of(model: Model) -> dict[str, Any]:
    """The tables of the model file that says ``model``: what TOML reads of `dumps`."""
    system: dict[str, Any] = {"gravity": _lists(model.gravity)}
    if gradient := model.gravity_gradient:
        system |= {"gravity_gradient": True, "orbit_position": _lists(gradient.orbit_position)}
        system["gravitational_parameter"] = gradient.gravitational_parameter
    chosen = (("inputs", model.port_choice.inputs), ("outputs", model.port_choice.outputs))
    tables = {
        "system": system,
        "body": {body.name: _body(body) for body in model.bodies},
        "loop": {loop.name: _loop(loop) for loop in model.loops},
        "gear": {gear.name: spelled_gear(gear, turning=model.turning(gear)[0]) for gear in model.gears},
        "tank": {tank.name: _tank(tank) for tank in model.tanks},
        "output": {signal.name: _lists(signal.given) for signal in model.chosen_outputs},
        "spring": {one.name: springs.spelled(one) for one in model.springs},
        "contact": {one.name: contacts.spelled(one) for one in model.contacts},
        "ports": {key: _lists(names) for key, names in chosen if names is not None},
        "initial": _starts(model, model.initial),
        "guess": _starts(model, model.guess),
    }
    return {"mbdy": FORMAT, "name": model.name} | {key: table for key, table in tables.items() if table}


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a table and of those in it."""
    starts = path in (("initial",), ("guess",))
    leaves = dict(_leaves(table)) if starts else {(key,): v for key, v in table.items() if not _is_table(key, v)}
    if leaves:
        yield from ("", f"[{_dotted(path)}]" + _comment(path))
        yield from (_line(key, value, path) for key, value in leaves.items())
    if not starts:
        for key, inner in table.items():
            if _is_table(key, inner):
                yield from _table((*path, key), inner)


def _is_table(key: str, value: object) -> bool:
    """Whether a value has a head of its own: a frame and friction stand in their lines."""
    return isinstance(value, dict) and not key.startswith(("frame", "friction"))


def _leaves(table: Mapping[str, Any], stem: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in table.items():
        yield from _leaves(value, (*stem, key)) if isinstance(value, dict) else [((*stem, key), value)]


def _line(key: tuple[str, ...], value: object, path: tuple[str, ...] = ()) -> str:
    return f"{_dotted(key)} = {_literal(value)}" + _comment((*path, *key))


def _comment(path: tuple[str, ...]) -> str:
    return f"  # {COMMENTS[path]}" if path in COMMENTS else ""


def _starts(model: Model, starts: Mapping[str, tuple[float, ...]]) -> dict[str, Any]:
    """Start values by body, then by name: reading a file brings names with a common beginning together."""
    parts = {part.name: part for part in state_parts(model)} if starts else {}
    places = {name: model.index.get(part.owner.name, len(model.bodies)) for name, part in parts.items()}
    angles = {name for name, part in parts.items() if part.quantity == "angle"}
    tables: dict[str, Any] = {}
    for name in sorted(starts, key=lambda name: (places.get(name, -1), name)):
        table, (*stem, key) = tables, name.split(".")
        for step in stem:
            table = table.setdefault(step, {})
        table[key] = _one_or_all(_with_units(starts[name], repeat("rad" if name in angles else "")))
    return tables


def _body(body: Body) -> dict[str, Any]:
    table: dict[str, Any] = {"mass": body.mass}
    if body.com != ZERO3:
        table["com"] = _lists(body.com)
    if any(any(row) for row in body.inertia) or (body.mass and not body.flex):
        table["inertia"] = _shortest(body.inertia)
    table["joint"] = _joint(body.joint)
    if body.rotor:
        table["rotor"] = body.rotor
    if body.harmonics:
        table["harmonics"] = by_sort(body.harmonics)
    for name, wheel in body.wheels.items():
        keys = ("axis", "inertia", *(BEARING if wheel.bearing else ()))
        table.setdefault("wheel", {})[name] = _values(wheel, keys)
    if body.flex:
        keys = [key for key in ("mass", "stiffness", "damping", *TERMS) if getattr(body.flex, key)]
        table["flex"] = _values(body.flex, keys)
    for name, node in body.nodes.items():
        keys = ["at", *(key for key in ("shape", "bend") if getattr(node, key))]
        table.setdefault("node", {})[name] = _values(node, keys)
    return table


def _values(part: object, keys: Iterable[str]) -> dict[str, Any]:
    return {key: _lists(getattr(part, key)) for key in keys}


def _loop(loop: Loop) -> dict[str, Any]:
    table = joined(loop) | {key: _lists(value) for key, value in spelled(loop).items()}
    if loop.time_constant != TIME_CONSTANT:
        table["time_constant"] = loop.time_constant
    if not loop.closed:
        table["closed"] = False
    if loop.switchable:
        table["switchable"] = True
    return table


def _tank(tank: Tank) -> dict[str, Any]:
    keys = [each.name for each in fields(tank) if each.name != "name"]
    given = {key: getattr(tank, key) for key in keys}
    table = {key: _lists(entry) for key, entry in given.items() if entry not in (None, "", (), ZERO3)}
    for key in ("nozzle", "exhaust_velocity", "thrust_axis"):
        table[key] = _one_or_all(table[key])
    return table


def _place(body: str, node: str) -> str:
    return f"{body}.{node}" if node else body


def _placed(where: Joint | Side, suffix: str = "") -> dict[str, Any]:
    table: dict[str, Any] = {} if where.at == ZERO3 else {f"at{suffix}": _lists(where.at)}
    return table if where.frame == IDENTITY else {**table, f"frame{suffix}": {"quaternion": _lists(where.frame)}}


def _joint(joint: Joint) -> dict[str, Any]:
    table: dict[str, Any] = {"to": _place(joint.to, joint.node)}
    table |= {key: _lists(value) for key, value in _spelled(joint).items()} | _placed(joint)
    table |= {"at_b": _lists(joint.at_b)} if joint.offset else {}
    for law in laws_of(joint.laws):
        for value in law.values:
            numbers = getattr(joint, value.name)
            if value.points:
                unit = value.over or ("m" if joint.n_translations else "rad")
                table[value.name] = [_with_units(point, (unit, "")) for point in numbers]
            elif (law.either or value.table) and numbers == (value.default,) * len(numbers):
                continue
            elif any(numbers) or (numbers and not law.always):
                units = [value.translation] * joint.n_translations + [value.rotation] * joint.n_rotations
                entries = _with_units(numbers, units)
                within = table.setdefault(value.table, {}) if value.table else table
                within[value.name] = entries if joint.n_u > 1 else _one_or_all(entries)
    if joint.rotor_axis:
        table["rotor_axis"] = _one_or_all(_lists(joint.rotor_axis))
    if any(motion != "free" for motion in joint.motion):
        table["motion"] = _one_or_all(list(joint.motion))
    return table


def _spelled(joint: Joint) -> dict[str, object]:
    """The axes of ``joint`` under its kind, or in the general form where the kind means other axes."""
    keys: dict[str, object] = {"kind": joint.kind}
    if joint.kind in ("universal", "gimbal"):
        keys["axes"] = joint.rotations
    elif joint.kind in ("revolute", "prismatic", "cylindrical", "planar") and joint.axes:
        keys["axis"] = joint.axes[-1]
    for more in ({}, {"axes": joint.translations}) if joint.kind == "planar" else ({},):
        if _means(joint, keys | more):
            return keys | more
    general: dict[str, object] = {}
    if joint.translations or not joint.n_u:
        general["translation"] = joint.translations
    if joint.n_rotations:
        general["rotation"] = "spherical" if joint.spherical else joint.rotations
    return general


def _means(joint: Joint, keys: Mapping[str, object]) -> bool:
    """Whether ``keys`` say the axes of ``joint``."""
    table = JointTable.model_construct(to=joint.to, **keys)  # pyright: ignore[reportArgumentType]
    findings = Findings()
    meant = None if joint.kind == "general" else joint_of(table, "", findings)
    if meant is None or findings.faults:
        return False
    return all(getattr(meant, key) == getattr(joint, key) for key in ("translations", "rotations", "spherical"))


def _with_units(values: Sequence[float], units: Iterable[str]) -> list[Any]:
    """``values``, with the unit beside an angle of more than a turn, which would be taken for degrees without."""
    return [f"{v!r} {u}" if odd_angle(v, u) else v for v, u in zip(values, units, strict=False)]


def _one_or_all(values: Sequence[object]) -> object:
    return values[0] if len(values) == 1 else values


def _shortest(tensor: Matrix3) -> object:
    """The diagonal where all else is zero."""
    diagonal = all(tensor[i][j] == 0 for i in range(3) for j in range(3) if i != j)
    return [tensor[i][i] for i in range(3)] if diagonal else _lists(tensor)


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(entry) for key, entry in value.items()}
    return list(map(_lists, value)) if isinstance(value, tuple) else value


def _dotted(names: Iterable[str]) -> str:
    import tomlkit

    return ".".join(tomlkit.key(name).as_string() for name in names)


def _literal(value: object) -> str:
    """``value`` as TOML writes it; floats by the shortest text that reads back to the same bits."""
    import tomlkit

    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_literal(entry)}' for key, entry in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value) if isinstance(value, float) else tomlkit.item(value).as_string()
