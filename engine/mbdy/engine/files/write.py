"""A `Model` as the text of a model file, in SI, to the last bit of each number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

from mbdy.engine.files.formats import FORMAT
from mbdy.engine.files.joints import joint_of
from mbdy.engine.files.loops import TIME_CONSTANT, spelled
from mbdy.engine.files.modes import TERMS
from mbdy.engine.files.tables import JointTable
from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.faults import Findings
from mbdy.engine.model.laws import laws_of
from mbdy.engine.model.ports import state_parts
from mbdy.engine.model.system import IDENTITY, ZERO3, Body, Joint, Loop, Matrix3, Model, PortChoice, Side
from mbdy.engine.model.units import odd_angle, real


def dumps(model: Model) -> str:
    """The model file that says ``model``; `mbdy.engine.files.read.loads` of it gives an equal one.

    Joints keep their kind. Lost are the spelling of a frame (a quaternion is written), the units of the text
    it came from, and ``source``. Flexible bodies are written with the numbers of their modes, wherever they came from.
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
    for loop in model.loops:
        lines += ["", *_loop(loop)]
    if model.port_choice != PortChoice():
        chosen = (("inputs", model.port_choice.inputs), ("outputs", model.port_choice.outputs))
        lines += ["", "[ports]", *(f"{key} = {_literal(names)}" for key, names in chosen if names is not None)]
    for table, starts, kept in (
        ("initial", model.initial, ""),
        ("guess", model.guess, "closing loops may move them; "),
    ):
        if starts:
            lines += ["", f"[{table}]  # {kept}m, rad, m/s, rad/s; quaternions w, x, y, z"]
            lines += [f"{_dotted(name.split('.'))} = {_literal(_one_or_all(v))}" for name, v in _starts(model, starts)]
    return "\n".join(lines) + "\n"


def _starts(model: Model, starts: Mapping[str, tuple[float, ...]]) -> list[tuple[str, tuple[object, ...]]]:
    """Start values by body, then by name: reading a file brings names with a common beginning together."""
    parts = {part.name: part for part in state_parts(model)}
    places = {name: model.index[part.owner.name] for name, part in parts.items()}
    angles = {name for name, part in parts.items() if part.quantity == "angle"}
    names = sorted(starts, key=lambda name: (places.get(name, -1), name))
    return [(name, _with_units(starts[name], repeat("rad" if name in angles else ""))) for name in names]


def _body(body: Body) -> Iterator[str]:
    yield _head("body", body.name)
    yield f"mass = {_literal(body.mass)}"
    if body.com != ZERO3:
        yield f"com = {_literal(body.com)}"
    if any(any(row) for row in body.inertia) or (body.mass and not body.flex):
        yield f"inertia = {_literal(_shortest(body.inertia))}"
    yield from ("", _head("body", body.name, "joint"), *_joint(body.joint))
    for name, wheel in body.wheels.items():
        keys = ("axis", "inertia", *(BEARING if wheel.bearing else ()))
        yield from ("", _head("body", body.name, "wheel", name), *_values(wheel, keys))
    if body.flex:
        keys = [key for key in ("mass", "stiffness", "damping", *TERMS) if getattr(body.flex, key)]
        yield from ("", _head("body", body.name, "flex"), *_values(body.flex, keys))
    for name, node in body.nodes.items():
        keys = ["at", *(key for key in ("shape", "bend") if getattr(node, key))]
        yield from ("", _head("body", body.name, "node", name), *_values(node, keys))


def _head(*names: str) -> str:
    return f"[{_dotted(names)}]"


def _values(part: object, keys: Iterable[str]) -> Iterator[str]:
    return (f"{key} = {_literal(getattr(part, key))}" for key in keys)


def _loop(loop: Loop) -> Iterator[str]:
    yield _head("loop", loop.name)
    for key, side in (("a", loop.a), ("b", loop.b)):
        yield f"{key} = {_literal(_place(side.body, side.node))}"
    for key, value in spelled(loop).items():
        yield f"{key} = {list(value)}" if key == "rows" else f"{key} = {_literal(value)}"
    for key, side in (("a", loop.a), ("b", loop.b)):
        yield from _placed(side, f"_{key}")
    if loop.time_constant != TIME_CONSTANT:
        yield f"time_constant = {_literal(loop.time_constant)}"
    if not loop.closed:
        yield "closed = false"
    if loop.switchable:
        yield "switchable = true"


def _place(body: str, node: str) -> str:
    return f"{body}.{node}" if node else body


def _placed(where: Joint | Side, suffix: str = "") -> Iterator[str]:
    if where.at != ZERO3:
        yield f"at{suffix} = {_literal(where.at)}"
    if where.frame != IDENTITY:
        yield f"frame{suffix} = {{ quaternion = {_literal(where.frame)} }}"


def _joint(joint: Joint) -> Iterator[str]:
    yield f"to = {_literal(_place(joint.to, joint.node))}"
    for key, value in _spelled(joint).items():
        yield f"{key} = {_literal(value)}"
    yield from _placed(joint)
    for law in laws_of(joint.laws):
        for value in law.values:
            numbers = getattr(joint, value.name)
            if value.points:
                unit = "m" if joint.n_translations else "rad"
                yield f"{value.name} = {_literal([_with_units(point, (unit, '')) for point in numbers])}"
            elif law.either and numbers == (value.default,) * len(numbers):
                continue
            elif any(numbers) or (numbers and not law.always):
                units = [value.translation] * joint.n_translations + [value.rotation] * joint.n_rotations
                entries = _with_units(numbers, units)
                yield f"{value.name} = {_literal(entries if joint.n_u > 1 else _one_or_all(entries))}"
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


def _with_units(values: Sequence[float], units: Iterable[str]) -> tuple[object, ...]:
    """``values``, with the unit beside an angle of more than a turn, which would be taken for degrees without."""
    return tuple(f"{v!r} {u}" if odd_angle(v, u) else v for v, u in zip(values, units, strict=False))


def _one_or_all(values: Sequence[object]) -> object:
    return values[0] if len(values) == 1 else values


def _shortest(tensor: Matrix3) -> object:
    """The diagonal where all else is zero."""
    diagonal = all(tensor[i][j] == 0 for i in range(3) for j in range(3) if i != j)
    return tuple(tensor[i][i] for i in range(3)) if diagonal else tensor


def _dotted(names: Iterable[str]) -> str:
    import tomlkit

    return ".".join(tomlkit.key(name).as_string() for name in names)


def _literal(value: object) -> str:
    """``value`` as TOML writes it; floats by the shortest text that reads back to the same bits."""
    import tomlkit

    if isinstance(value, str):
        return tomlkit.string(value).as_string()
    if (number := real(value)) is not None:
        return tomlkit.float_(repr(number)).as_string()
    if isinstance(value, Iterable):
        return f"[{', '.join(map(_literal, value))}]"
    raise TypeError(f"a model file has no {type(value).__name__}, got {value!r}")
