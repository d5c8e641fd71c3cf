"""Model files: TOML to a `Model` with everything that is wrong told at once, and a `Model` back to TOML.

model = load("satellite.toml")
save(model, "copy.toml")
"""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

from mbdy.engine.checks import check_names, check_parents, check_wheels, warn_of_body
from mbdy.engine.faults import Fault, Findings, ModelError, ModelWarning, shown
from mbdy.engine.inertia_check import faults_of_inertia
from mbdy.engine.model import INERTIAL, Body, GravityGradient, Joint, Matrix3, Model, Node, Wheel
from mbdy.engine.spellings import joint_of
from mbdy.engine.starts import starts_of
from mbdy.engine.tables import FORMAT, REMEDIES, FileTable, path_of, read_tables
from mbdy.engine.writing import dumps

__all__ = ["dumps", "load", "loads", "save"]


def load(path: str | PathLike[str]) -> Model:
    """The model in the TOML file at ``path``.

    Raises `ModelError` with every fault found, also for a file that cannot be read; warns with `ModelWarning`
    of what is taken but worth a look.
    """
    source = fspath(path)
    try:
        text = Path(source).read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        meant = f"{source}.toml"
        remedy = f"did you mean {meant}?" if Path(meant).is_file() else "give the path of a TOML file"
        raise ModelError(source, [Fault("", f"cannot be read: {reason}", remedy)]) from None
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text: byte {error.object[error.start]:#04x} at offset {error.start}"
        raise ModelError(source, [Fault("", message, "save it as UTF-8")]) from None
    except ValueError as error:  # a path that no system has, such as one with a zero byte
        raise ModelError(source, [Fault("", f"cannot be read: {error}", "give the path of a TOML file")]) from None
    return _model(text, source, stem=Path(source).stem, stacklevel=3)


def loads(text: str, source: str = "<string>") -> Model:
    """The model in ``text``; ``source`` is what messages call it. Raises and warns as `load`."""
    return _model(text, source, stem="model", stacklevel=3)


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write ``model`` to a TOML file at ``path``; `load` of it gives the same numbers to the bit."""
    Path(path).write_text(dumps(model), encoding="utf-8", newline="\n")


def _model(text: str, source: str, *, stem: str, stacklevel: int) -> Model:
    findings = Findings()
    raw = _parsed(text, source)
    known = list(raw["body"]) if isinstance(raw.get("body"), dict) else []
    file = read_tables(raw, findings)
    _check_file(file, known, findings)
    check_names(file, findings)
    joints, unread = _joints(file, known, findings)
    cut = check_parents(joints, known, findings)
    gradient = _gradient(file, joints, findings)
    bodies = tuple(_body(name, file, joints, findings) for name in file.body)
    partial = tuple(_rooted(body) if body.name in cut else body for body in bodies)
    initial = starts_of(file.initial, tuple(b for b in partial if b.name not in unread), unread, findings)
    model = Model(
        name=stem if file.name is None else file.name,
        bodies=partial,
        gravity=file.system.gravity,
        gravity_gradient=gradient,
        initial=initial,
        source=source,
    )
    findings.faults += _told_of_sound_parts(faults_of_inertia(model), model, findings)
    if findings.faults:
        raise ModelError(source, findings.faults)
    carried = {joint.to for joint in joints.values()}
    for body in bodies:
        warn_of_body(body, body.name in carried, findings)
    for warning in findings.warnings:
        warnings.warn(f"{source}: {warning}", ModelWarning, stacklevel=stacklevel)
    object.__setattr__(model, "checked", True)
    return model


def _parsed(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        fault = Fault("", f"is not valid TOML: {error}", "see https://toml.io for the syntax")
    except RecursionError:
        fault = Fault("", "is not valid TOML: brackets nested too deep")
    except ValueError as error:  # a number with thousands of digits
        fault = Fault("", f"is not valid TOML: {error}")
    raise ModelError(source, [fault]) from None


def _check_file(file: FileTable, known: list[str], findings: Findings) -> None:
    """Refuse other versions, a file without bodies, and what this version does not do."""
    if type(file.mbdy) is not int or file.mbdy != FORMAT:
        message = f"this version reads format {FORMAT}, got {shown(file.mbdy)}"
        findings.refuse("mbdy", message, REMEDIES["mbdy"])
    if not known and not findings.faulty("body"):
        findings.refuse("body", "there is no body", 'give at least one, e.g. [body.bus] with mass = "500 kg"')
    remedy = "remove it, or use a version that does"
    if file.loop is not None:
        for name in file.loop if isinstance(file.loop, dict) and file.loop else [None]:
            path = path_of(("loop",) if name is None else ("loop", name))
            findings.refuse(path, "closed loops are not supported by this version", remedy)
    for name, body in file.body.items():
        if body.flex is not None:
            path = path_of(("body", name, "flex"))
            findings.refuse(path, "flexible bodies are not supported by this version", remedy)


def _joints(file: FileTable, known: list[str], findings: Findings) -> tuple[dict[str, Joint], set[str]]:
    """Each body's joint, a rigid one where it cannot be made out, and the bodies where it could not."""
    joints, unread = {}, set(known) - file.body.keys()
    for name, body in file.body.items():
        path = path_of(("body", name, "joint"))
        lost = any(fault.path == path for fault in findings.faults)
        joint = joint_of(body.joint, path, findings)
        joints[name] = joint or Joint(to=body.joint.to, kind="fixed")
        if lost or joint is None:
            unread.add(name)
    return joints, unread


def _body(name: str, file: FileTable, joints: dict[str, Joint], findings: Findings) -> Body:
    table = file.body[name]
    check_wheels(name, table, findings)
    return Body(
        name=name,
        joint=joints[name],
        mass=table.mass,
        com=table.com,
        inertia=cast("Matrix3", table.inertia),
        wheels={wheel: Wheel(**w.model_dump()) for wheel, w in table.wheel.items()},
        nodes={node: Node(at=n.at) for node, n in table.node.items()},
    )


def _gradient(file: FileTable, joints: dict[str, Joint], findings: Findings) -> GravityGradient | None:
    """The gravity gradient, if the file asks for it; refused but for one root that floats."""
    system, key = file.system, "system.gravity_gradient"
    values = {"orbit_position": system.orbit_position, "gravitational_parameter": system.gravitational_parameter}
    given = {name: value for name, value in values.items() if value is not None}
    if not system.gravity_gradient:
        for name in () if findings.faulty(key) else given:
            remedy = "add gravity_gradient = true, or remove it"
            findings.refuse(f"system.{name}", "is for a gravity gradient only", remedy)
        return None
    roots = [name for name, joint in joints.items() if joint.to == INERTIAL]
    if not findings.faulty("body") and (len(roots) != 1 or not joints[roots[0]].floating):
        message = f"is for systems with one root, which floats, but to inertial join {', '.join(map(repr, roots))}"
        findings.refuse(key, message, 'let one body of kind "free" or "attitude" carry all others, or remove it')
    return GravityGradient(**given)  # pyright: ignore[reportArgumentType]


def _rooted(body: Body) -> Body:
    return replace(body, joint=replace(body.joint, to=INERTIAL))


def _told_of_sound_parts(found: list[Fault], model: Model, findings: Findings) -> list[Fault]:
    """Of the inertia faults ``found``, those that no fault of the body or what hangs on it can explain."""
    parent = {body.name: body.joint.to for body in model.bodies}
    unsound: set[str] = set()
    for body in parent:
        if findings.faulty(path_of(("body", body))) or findings.faulty(f"initial.{body}"):
            inward = body
            while inward in parent and inward not in unsound:
                unsound.add(inward)
                inward = parent[inward]
    told = {path_of(("body", name, "joint")) for name in parent if name not in unsound}
    return [fault for fault in found if fault.path in told]
