"""Model files: TOML to a `Model` with everything that is wrong told at once, and a `Model` back to TOML.

model = load("satellite.toml")
save(model, "copy.toml")
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from mbdy.engine.files.contacts import contact_of
from mbdy.engine.files.formats import fault_of_format
from mbdy.engine.files.gears import gear_of
from mbdy.engine.files.inertia import faults_of_energy, faults_of_inertia
from mbdy.engine.files.initial import STARTS, starts_of
from mbdy.engine.files.joints import joint_of
from mbdy.engine.files.lines import with_lines
from mbdy.engine.files.loops import loop_of
from mbdy.engine.files.modes import Material, material_of
from mbdy.engine.files.port_choice import choice_of
from mbdy.engine.files.remarks import (
    warn_of_body,
    warn_of_half_turns,
    warn_of_origin,
    warn_of_point_mass,
    warn_of_triangle,
    warn_of_unturned,
)
from mbdy.engine.files.signals import signals_of
from mbdy.engine.files.slips import remedy
from mbdy.engine.files.spellings import Spellings
from mbdy.engine.files.springs import spring_of, warn_of_coincident_ends
from mbdy.engine.files.tables import FileTable, read_tables
from mbdy.engine.files.write import dumps as written
from mbdy.engine.model.contents import FileError, contents, is_standard_input, recorded, source_files, text_of
from mbdy.engine.model.faults import Fault, Findings, ModelError, ModelWarning, OptionError, path_of, shown
from mbdy.engine.model.inertia_spellings import about_mass_centre
from mbdy.engine.model.limits import MOST_DEPTH, MOST_LETTERS, MOST_PARTS
from mbdy.engine.model.parts import place_of
from mbdy.engine.model.rotors import check_rotor_bodies, with_rotors
from mbdy.engine.model.system import (
    HELD_AT_ORIGIN,
    INERTIAL,
    ZERO3,
    Body,
    Draft,
    GravityGradient,
    Joint,
    Model,
    Wheel,
)
from mbdy.engine.model.tanks import tank_of
from mbdy.engine.model.tree_rules import (
    check_joints_places,
    check_names,
    check_parents,
    check_rotors,
    check_source_nodes,
    check_wheels,
)
from mbdy.engine.model.whole_file import file_path, is_stream, whole_file

__all__ = ["dumps", "load", "loads", "save"]

MOST_BYTES = 1 << 24
"""Bytes of a model file; what is longer belongs into files of modal data."""

MOST_TEXT = 4096
"""Letters of a text."""

CHECKED: MutableMapping[int, Model] = WeakValueDictionary()
"""Models, by their identity, that keep the rules of model files; what is made or changed in Python has yet to show."""


def load(path: str | PathLike[str]) -> Model:
    """The model in the TOML file at ``path``.

    Raises `ModelError` with every fault found, also for a file that cannot be read; warns with `ModelWarning`
    of what is taken but worth a look.
    """
    source = path if isinstance(path, str) else file_path(path)
    with recorded():
        text = _text(source)
        folder = Path() if is_stream(source) or is_standard_input(source) else Path(source).parent
        return model_of(text, source, stem=Path(source).stem, folder=folder, stacklevel=3)


def _text(source: str) -> str:
    """The text of the model file ``source``; raises as `load`."""
    try:
        return text_of(contents(source, MOST_BYTES), source)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        meant = f"{source}.toml"
        remedy = f"did you mean {meant}?" if Path(meant).is_file() else "give the path of a TOML file"
        raise ModelError(source, [Fault("", f"cannot be read: {reason}", remedy)]) from None
    except FileError as error:
        raise ModelError(source, [Fault("", error.reason, error.remedy, error.line)]) from None
    except ValueError as error:  # a path that no system has, such as one with a zero byte
        raise ModelError(source, [Fault("", f"cannot be read: {error}", "give the path of a TOML file")]) from None


def model_from(model: Model | str | PathLike[str]) -> Model:
    """``model``, or that of the file at a path. Raises as `load`, and `OptionError` for what is neither."""
    if isinstance(model, Model):
        return model
    if not isinstance(model, str | PathLike):
        raise OptionError(f"model: a Model or the path of a model file is needed, got {shown(model)}")
    return load(model)


def loads(text: str, source: str = "<string>") -> Model:
    """The model in ``text``; ``source`` is what messages call it. Raises and warns as `load`."""
    with recorded():
        return model_of(text, source, stacklevel=3)


def dumps(model: Model | str | PathLike[str]) -> str:
    """The model file that says ``model`` (`mbdy.engine.files.write.dumps`), also of that at a path, in SI."""
    return written(model_from(model))


def save(model: Model | str | PathLike[str], path: str | PathLike[str]) -> None:
    """Write ``model`` to a TOML file at ``path``; `load` of it gives the same numbers to the bit."""
    text = dumps(model)
    with whole_file(path) as file:
        file.write(text)


def model_of(text: str, source: str, *, stem: str = "model", folder: Path | None = None, stacklevel: int = 3) -> Model:
    """`loads`, for a file called ``stem``, which names others from ``folder``, else its own."""
    folder = Path(source).parent if folder is None else folder
    return model_of_tables(_parsed(text, source), source, text, stem=stem, folder=folder, stacklevel=stacklevel + 1)


def model_of_tables(
    raw: dict[str, Any], source: str, text: str = "", *, stem: str = "", folder: Path = Path(), stacklevel: int = 3
) -> Model:
    """The model that the tables ``raw`` say, which are changed; faults have their lines in ``text``, if there is one.

    All else as `model_of`.
    """
    findings = Findings()
    known = list(raw["body"]) if isinstance(raw.get("body"), dict) else []
    spellings = Spellings(raw, findings)
    file = read_tables(raw, findings)
    _check_file(file, known, findings)
    check_names({name: (body.wheel, body.node) for name, body in file.body.items()}, findings)
    joints, unread = _joints(file, known, findings)
    cut = check_parents(joints, known, findings)
    gradient = _gradient(file, joints, findings)
    unturned: dict[str, Mapping[str, str]] = {}
    bodies = tuple(_body(name, file, joints, folder, unturned, findings) for name in file.body)
    rotors = {
        f"{body.name}.{wheel}" for body in bodies for wheel in file.body[body.name].wheel
        if wheel not in body.wheels or findings.faulty(path_of(("body", body.name, "wheel", wheel)))
    }  # fmt: skip
    unread |= {body.name for body in bodies if findings.faulty(path_of(("body", body.name, "flex")))}
    check_joints_places(joints, {body.name: body for body in bodies}, unread, findings)
    by_name = {body.name: body for body in bodies}
    check_rotors({name: body for name, body in by_name.items() if name not in unread}, findings)
    loops = _made(loop_of, file.loop, by_name, unread, findings)
    gears = _made(gear_of, file.gear, by_name, unread, findings)
    springs = _made(spring_of, file.spring, by_name, unread, findings)
    contacts = _made(contact_of, file.contact, by_name, unread, findings)
    partial = tuple(_rooted(body) if body.name in cut else body for body in bodies)
    read = {INERTIAL, *(body.name for body in partial)} - unread
    whole = tuple(body if body.joint.to in read else _rooted(body) for body in partial if body.name in read)
    tanks = _made(tank_of, file.tank, by_name, unread, findings)
    lost = {"tank"} if len(tanks) < len(file.tank) else set[str]()
    initial, guess = starts_of(file, whole, tanks, unread | lost | rotors, findings)
    draft = Draft(
        name=stem if file.name is None else file.name,
        bodies=partial,
        gravity=file.system.gravity,
        gravity_gradient=gradient,
        initial=initial,
        guess=guess,
        source=source,
        files=source_files(folder),
        loops=loops,
        gears=gears,
        springs=springs,
        contacts=contacts,
        tanks=tanks,
    )
    joining = (("loop", file.loop, loops), ("gear", file.gear, gears), ("spring", file.spring, springs))
    joining += (("contact", file.contact, contacts),)
    unjudged = {
        *unread,
        *lost,
        *(rotor.partition(".")[0] for rotor in rotors),
        *(sort for sort, tables, parts in joining if len(parts) < len(tables)),
    }
    check_rotor_bodies(bodies, findings)
    draft = replace(draft, chosen_outputs=signals_of(file.output, draft, unjudged, findings))
    for fault in faults_of_energy(draft):
        if not findings.faulty(fault.path.removesuffix(".flex.coupling")):
            findings.faults.append(fault)
    idle = [] if lost else _faults_of_sound_parts(faults_of_inertia(draft), draft, findings)
    findings.faults += [_with_polar_inertia(fault, file) for fault in idle]
    choice = choice_of(file.ports, draft, unjudged, findings)
    spellings.at_home()
    if findings.faults:
        raise ModelError(source, with_lines(findings.faults, text) if text else findings.faults)
    values: dict[str, Any] = {each.name: getattr(draft, each.name) for each in fields(draft)}
    model = Model(**{**values, "port_choice": choice})
    carried = {joint.to for joint in joints.values()}
    for body in bodies:
        warn_of_body(body, body.name in carried, findings)
        if "inertia" not in file.body[body.name].model_fields_set and _turns(body.name, joints):
            warn_of_point_mass(body, findings)
    for tank in model.tanks:
        for row in range(len(tank.table)):
            warn_of_triangle(tank.inertia(row), path_of(("tank", tank.name, "table")), findings)
    warn_of_unturned(model, unturned, findings)
    warn_of_coincident_ends(model, findings)
    warn_of_half_turns(model, findings)
    spellings.at_home()
    for warning in with_lines(findings.warnings, text) if text and findings.warnings else ():
        warnings.warn(f"{source}: {warning}", ModelWarning, stacklevel=stacklevel)
    CHECKED[id(model)] = model
    return model


def _parsed(text: str, source: str) -> dict[str, Any]:
    try:
        raw = tomllib.loads(text)
        if not (fault := _boundless(raw)):
            return raw
    except tomllib.TOMLDecodeError as error:
        fault = Fault("", f"is not valid TOML: {error}", remedy(text, str(error)))
    except RecursionError:
        fault = Fault("", "is not valid TOML: brackets nested too deep")
    except ValueError as error:  # a number with thousands of digits
        fault = Fault("", f"is not valid TOML: {error}")
    raise ModelError(source, [fault]) from None


def _boundless(raw: dict[str, Any]) -> Fault | None:
    """A fault where names are too long, tables too large or nested too deep, before anything walks along them."""
    tables: list[tuple[Any, tuple[str, ...], int]] = [(raw, (), 0)]
    while tables:
        table, path, depth = tables.pop()
        if isinstance(table, dict) and len(table) > MOST_PARTS:
            message = f"has {len(table)} entries, more than {MOST_PARTS}"
            return Fault(path_of(path), message, "split the system, or take out what it does without")
        if depth > MOST_DEPTH:
            return Fault("", f"has tables or lists nested more than {MOST_DEPTH} deep", "none of a model is")
        for key in table if isinstance(table, dict) else ():
            if len(key) > MOST_LETTERS:
                message = f"the name {shown(key)} has {len(key)} letters, more than {MOST_LETTERS}"
                return Fault("", message, "shorten it")
        for key, value in table.items() if isinstance(table, dict) else (("", entry) for entry in table):
            if isinstance(value, str) and len(value) > MOST_TEXT:
                return Fault(
                    "", f"the text {shown(value)} has {len(value)} letters, more than {MOST_TEXT}", "shorten it"
                )
            if isinstance(value, dict | list):
                tables.append((value, (*path, key), depth + 1))
    return None


def _check_file(file: FileTable, known: list[str], findings: Findings) -> None:
    """Refuse other versions and a file without bodies."""
    if fault := fault_of_format(file.mbdy):
        findings.faults.append(fault)
    if not known and not findings.faulty("body"):
        findings.refuse("body", "there is no body", 'give at least one, e.g. [body.bus] with mass = "500 kg"')


def _joints(file: FileTable, known: list[str], findings: Findings) -> tuple[dict[str, Joint], set[str]]:
    """Each body's joint, a rigid one where it cannot be made out, and the bodies where it could not."""
    joints, unread = {}, set(known) - file.body.keys()
    for name, body in file.body.items():
        path = path_of(("body", name, "joint"))
        lost = any(fault.path == path for fault in findings.faults)
        joint = joint_of(body.joint, path, findings)
        joints[name] = joint or Joint(to=place_of(body.joint.to)[0], kind="fixed")
        if lost or joint is None:
            unread.add(name)
    return joints, unread


def _body(
    name: str,
    file: FileTable,
    joints: dict[str, Joint],
    folder: Path,
    unturned: dict[str, Mapping[str, str]],
    findings: Findings,
) -> Body:
    table, path, joint = file.body[name], path_of(("body", name)), joints[name]
    if table.inertia_about != "com":
        given = (table.inertia, table.inertia_about, table.mass or 0.0, table.com, joint.at_b)
        tensor = findings.attempt(f"{path}.inertia", about_mass_centre, *given, instead=table.inertia)
        table = table.model_copy(update={"inertia": tensor})
    material = material_of(table, path, folder, findings) or Material()
    if material.flex and joint.offset:
        findings.refuse(f"{path}.joint.at_b", *HELD_AT_ORIGIN)
        joint = replace(joint, at_b=ZERO3)
    wheels = {wheel: Wheel(**w.model_dump()) for wheel, w in table.wheel.items()}
    body = Body(
        name=name, joint=joint, mass=material.mass, com=material.com, inertia=material.inertia,
        wheels=wheels, nodes=material.nodes, flex=material.flex, rotor=table.rotor, harmonics=table.harmonics,
    )  # fmt: skip
    if material.unturned:
        unturned[name] = material.unturned
    check_source_nodes(body, table.node, findings)
    warn_of_origin(body, findings)
    check_wheels(body, findings)
    for wheel, w in table.wheel.items():
        if "angle" in w.model_fields_set and not w.angle and wheels[wheel].explicit:
            message = "is false, but the wheel has an imbalance or harmonics, which turn with its angle"
            findings.refuse(path_of(("body", name, "wheel", wheel, "angle")), message, "remove it, or take these out")
    if findings.faulty(path) or findings.attempt(f"{path}.wheel", with_rotors, (body,)) is None:
        return replace(body, wheels={name: wheel for name, wheel in wheels.items() if not wheel.explicit})
    return body


def _made(
    make: Callable[..., Any],
    tables: Mapping[str, Any],
    bodies: Mapping[str, Body],
    unread: set[str],
    findings: Findings,
) -> tuple[Any, ...]:
    """The loops, gears, springs or tanks without fault that ``make`` makes of their ``tables``."""
    made = [make(name, table, bodies, unread, findings) for name, table in tables.items()]
    return tuple(one for one in made if one)


def _gradient(file: FileTable, joints: dict[str, Joint], findings: Findings) -> GravityGradient | None:
    """The gravity gradient, if the file asks for it; refused but for one root that floats."""
    system, key = file.system, "system.gravity_gradient"
    values = {"orbit_position": system.orbit_position, "gravitational_parameter": system.gravitational_parameter}
    arguments = {name: value for name, value in values.items() if value is not None}
    if not system.gravity_gradient:
        for name in () if findings.faulty(key) else arguments:
            remedy = "add gravity_gradient = true, or remove it"
            findings.refuse(f"system.{name}", "is for a gravity gradient only", remedy)
        return None
    roots = [name for name, joint in joints.items() if joint.to == INERTIAL]
    if not findings.faulty("body") and (len(roots) != 1 or not joints[roots[0]].floating):
        message = f"is for systems with one root, which floats, but to inertial join {', '.join(map(repr, roots))}"
        findings.refuse(key, message, 'let one body of kind "free" or "attitude" carry all others, or remove it')
    return GravityGradient(**arguments)  # pyright: ignore[reportArgumentType]


def _rooted(body: Body) -> Body:
    return replace(body, joint=replace(body.joint, to=INERTIAL, rotor_axis=()))


def _turns(body: str, joints: dict[str, Joint]) -> bool:
    """Whether some joint between ``body`` and inertial space has a rotation."""
    turning = False
    while body != INERTIAL:
        turning |= joints[body].n_rotations > 0
        body = joints[body].to
    return turning


def _with_polar_inertia(fault: Fault, file: FileTable) -> Fault:
    """A ``fault`` of a beam that moves no inertia about its axis, with the key that gives it some."""
    for name, body in file.body.items():
        beam = getattr(body.flex, "beam", None)
        if fault.path == path_of(("body", name, "joint")) and beam and "polar_inertia" not in beam:
            place = path_of(("body", name, "flex", "beam", "polar_inertia"))
            return replace(fault, remedy=f"give {place} in kg.m if this is its axis, or {fault.remedy}")
    return fault


def _faults_of_sound_parts(faults: list[Fault], model: Model, findings: Findings) -> list[Fault]:
    """Of the inertia ``faults`` those that no fault of the body or what hangs on it can explain."""
    parent = {body.name: body.joint.to for body in model.bodies}
    unsound: set[str] = set()
    for body in parent:
        if findings.faulty(path_of(("body", body))) or any(findings.faulty(f"{table}.{body}") for table in STARTS):
            inward = body
            while inward in parent and inward not in unsound:
                unsound.add(inward)
                inward = parent[inward]
    sound = {path_of(("body", name, "joint")) for name in parent if name not in unsound}
    return [fault for fault in faults if fault.path in sound]
