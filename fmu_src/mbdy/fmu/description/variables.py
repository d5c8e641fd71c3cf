"""The element ModelVariables, from the table of scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from mbdy.fmu.description.markup import clean, number
from mbdy.fmu.table import Array, Scalar
from mbdy.fmu.versions import Version


def model_variables(version: Version, variables: Sequence[Array], *, intermediate: bool) -> Element:
    """ModelVariables of ``variables``.

    ``intermediate`` says that within a step continuous inputs can be set and outputs be read.
    """
    node = Element("ModelVariables")
    states = {row.state: v.value_reference for v in variables for row in v.rows if row.state is not None}
    for v in variables:
        state = states.get(v.first.place) if v.first.vector == "dx" else None
        derivative = None if state is None else state + int(version.index)  # an index counts from 1
        tag, attributes = ("Boolean", _booleans(v)) if v.first.boolean else (version.real, _numbers(v, derivative))
        if version.variable:
            SubElement(SubElement(node, version.variable, _common(v)), tag, attributes)
            continue
        child = SubElement(node, tag, {**_common(v), **attributes})
        if intermediate and v.first.causality in ("input", "output") and not v.first.boolean:
            child.set("intermediateUpdate", "true")
        if v.size > 1:
            SubElement(child, "Dimension", start=str(v.size))
    return node


def _common(v: Array) -> dict[str, str]:
    attributes = {
        "name": v.name, "valueReference": str(v.value_reference), "description": clean(v.first.description),
        "causality": v.first.causality, "variability": _variability(v.first),
    }  # fmt: skip
    if initial := initially(v.first):
        attributes["initial"] = initial
    return attributes


def _booleans(v: Array) -> dict[str, str]:
    return {"start": " ".join("true" if row.start else "false" for row in v.rows)}


def _numbers(v: Array, derivative: int | None) -> dict[str, str]:
    """What only real variables have; ``derivative`` refers to the state that this is the derivative of."""
    first, starts = v.first, [row.start for row in v.rows if row.start is not None]
    numbers: Mapping[str, float | None] = {"min": first.minimum, "max": first.maximum, "nominal": first.nominal}
    attributes = {
        "unit": first.unit or None, "displayUnit": first.display_unit,
        **{key: None if value is None else number(value) for key, value in numbers.items()},
        "start": " ".join(map(number, starts)) or None,
        "derivative": None if derivative is None else str(derivative),
    }  # fmt: skip
    return {key: value for key, value in attributes.items() if value is not None}


def _variability(row: Scalar) -> str:
    if row.causality == "parameter":
        return "tunable" if row.tunable else "fixed"
    if row.causality == "calculatedParameter":
        return "fixed"
    return "discrete" if row.boolean else "continuous"


def initially(row: Scalar) -> str | None:
    """The attribute ``initial``; None where FMI has none or one possibility only."""
    if row.causality in ("input", "independent"):
        return None
    if row.start is None:
        return "calculated"
    return "approx" if row.guess else "exact"
