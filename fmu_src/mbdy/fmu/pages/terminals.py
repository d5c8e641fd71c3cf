"""The folder terminalsAndIcons: variables that are connected together, and the icon.

It came with FMI 3; importers of FMI 2 read it too, and for older ones such an FMU has ``model.png`` besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from mbdy.engine.model.owners import Owner, Quantity, element, joint_of, points_of, wheels_of
from mbdy.engine.model.system import Model
from mbdy.fmu.description.markup import document
from mbdy.fmu.pages import icon
from mbdy.fmu.table import Array, Scalar
from mbdy.fmu.versions import VERSIONS, Version

FOLDER = "terminalsAndIcons"
EFFORTS: Sequence[Quantity] = ("force", "torque", "flow", "actuation")
"""What goes in."""
CONSEQUENCES: Sequence[Quantity] = ("acceleration", "strain_energy", "reaction", "load", "impulse")
"""What stays out; every other output, what is moved and how fast, comes out."""
EXTENT = {"x1": "-100", "y1": "-100", "x2": "100", "y2": "100"}


def terminal_files(model: Model, variables: Sequence[Array], fmi: str) -> Mapping[str, bytes]:
    """Files of an FMU of ``model`` by their paths in it; ``variables`` are those of its description."""
    version, drawn = VERSIONS[fmi], icon.png(model)
    files = {
        f"{FOLDER}/terminalsAndIcons.xml": terminals(model, variables, version),
        f"{FOLDER}/icon.png": drawn,
        f"{FOLDER}/icon.svg": icon.svg(model),
    }
    return {**files, "model.png": drawn} if version.picture else files


def terminals(model: Model, variables: Sequence[Array], version: Version) -> bytes:
    """terminalsAndIcons.xml: a terminal for each body, joint, wheel, node, set of modes, spring, contact and output
    that has such."""
    root = Element("fmiTerminalsAndIcons", fmiVersion=version.terminals)
    picture = SubElement(root, "GraphicalRepresentation")
    SubElement(picture, "CoordinateSystem", {**EXTENT, "suggestedScalingFactorTo_mm": "0.1"})
    SubElement(picture, "Icon", EXTENT)
    members: dict[Owner, list[tuple[str, str]]] = {}
    for v in variables:
        first = v.first
        if _member(first):
            member = f"{first.quantity}{'' if v.name == first.array else first.label}"
            members.setdefault(first.owner, []).append((member, v.name))
    node = SubElement(root, "Terminals")
    for owner, description in _owners(model):
        if owner in members:
            terminal = SubElement(node, "Terminal", name=str(owner), matchingRule="plug", description=description)
            for member, variable in members[owner]:
                attributes = {"variableName": variable, "memberName": member, "variableKind": "signal"}
                SubElement(terminal, "TerminalMemberVariable", attributes)
    return document(root)


def _member(row: Scalar) -> bool:
    """Whether a variable is connected with others of its owner."""
    if row.causality == "input":
        return row.quantity in EFFORTS
    return row.causality == "output" and row.quantity not in CONSEQUENCES


def _owners(model: Model) -> Iterator[tuple[Owner, str]]:
    """What can be a terminal, and what it is."""
    for body in model.bodies:
        name, joint, (point, *nodes) = body.name, body.joint, points_of(body)
        yield point, f"Body {name}: loads at its mass centre, motion of its origin"
        if not joint.floating:
            yield joint_of(body), f"Joint of {name} on {joint.to} ({joint.kind})"
        if body.flex:
            yield Owner("modes", name), f"Modes of {name}"
        yield from ((wheel, f"Wheel {wheel.part} of {name}") for wheel in wheels_of(body))
        yield from ((node, f"Node {node.part} of {name}") for node in nodes)
    yield from (
        (Owner("tank", tank.name), f"Tank {tank.name} in {tank.body}: flow, mass and thrust") for tank in model.tanks
    )
    yield from ((element(part), f"{part.sort.capitalize()} {part.name}") for part in model.elements)
    yield from ((Owner("output", one.name), f"Output {one.name}, {one.kind}") for one in model.chosen_outputs)
