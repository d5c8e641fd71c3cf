"""Sources of modal data that a model file names: generators with their keys and units, and files of other programs.

The keys are the arguments of the functions that make the body, of which the annotations say what they take.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from mbdy.engine.files.tables import BodyTable
from mbdy.engine.flexible.modal_body import ModalBody
from mbdy.engine.flexible.moments import clamped
from mbdy.engine.model.faults import Findings, RefusalError, nearest, path_of, shown
from mbdy.engine.model.units import quantity

FUNCTIONS: Mapping[str, tuple[str, str]] = {
    "beam": ("beam", "beam"),
    "plate": ("plate", "plate"),
    "torsion": ("torsion", "torsion"),
    "reduce": ("model_files", "reduced"),
    "file": ("model_files", "modal_file"),
}
"""Module in `mbdy.engine.flexible`, imported where a file names it, and function of each source."""
CLAMP = "clamp"
"""The key beside those of ``file`` that names the node at which a joint holds the body."""
UNITS: Mapping[str, str] = {
    "length": "m", "width": "m", "thickness": "m", "origin": "m",
    "mass_per_length": "kg/m", "mass_per_area": "kg/m2", "polar_inertia": "kg.m",
    "rigidity": "N.m", "youngs_modulus": "Pa", "poisson": "1",
    "bending_stiffness": "N.m2", "torsional_stiffness": "N.m2",
    "tip_mass": "kg", "tip_inertia": "kg.m2", "damping_ratio": "1", "normal": "1",
}  # fmt: skip
"""Units of the keys that are numbers, or lists of them."""
KINDS: Mapping[str, tuple[type, str]] = {
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "str": (str, "text"),
    "Literal": (str, "text"),
}
"""Words of an annotation, the type that they allow, and how a message calls it."""


def made_of(source: str, table: BodyTable, path: str, folder: Path, findings: Findings) -> ModalBody | None:
    """The body that ``source``, a key of the flex of ``table``, found at ``path``, makes of what it says.

    Relative names of files begin at ``folder``. None where there are faults, which go to ``findings``.
    """
    place, before = f"{path}.flex.{source}", len(findings.faults)
    function, values = _function(source, getattr(table.flex, source), place, findings)
    if function is None:
        return None
    hidden = _hidden(source, table, path, findings)
    keys = {name: p for name, p in inspect.signature(function).parameters.items() if name not in hidden}
    clamp = _clamp(values.pop(CLAMP, None), place, findings) if source == "file" else None
    for key in values.keys() - keys.keys():
        findings.refuse(f"{place}.{key}", "unknown key", nearest(key, [*keys, CLAMP] if source == "file" else keys))
    for key, parameter in keys.items():
        if parameter.default is parameter.empty and key not in values:
            findings.refuse(f"{place}.{key}", "is missing", f"'{source}' needs it" + _in_unit(key))
    arguments = {
        key: _value(key, value, str(keys[key].annotation), f"{place}.{key}", folder, findings)
        for key, value in values.items()
        if key in keys
    }
    _keep_ends(source, arguments, table, place, findings)
    if len(findings.faults) > before:
        return None
    try:
        body = function(**arguments, **hidden)
        return clamped(body, clamp) if clamp else body
    except (ValueError, TypeError, ArithmeticError, LookupError, OSError, ImportError) as error:
        _tell(error, keys, place, path, findings)
        return None


def _function(
    source: str, given: object, place: str, findings: Findings
) -> tuple[Callable[..., ModalBody] | None, dict[str, Any]]:
    """What makes the body, and what it is given by key."""
    values: Any = {"path": given} if source == "file" and isinstance(given, str) else given
    if not isinstance(values, dict):
        form = "the name of a file or a table" if source == "file" else "a table"
        findings.refuse(place, f"must be {form}, got {shown(given)}", f"write [{place}]")
        return None, {}
    module, name = FUNCTIONS[source]
    return getattr(import_module(f"mbdy.engine.flexible.{module}"), name), dict(values)


def _hidden(source: str, table: BodyTable, path: str, findings: Findings) -> dict[str, Any]:
    """Arguments that are no keys of the source but come from the tables of the body and its nodes."""
    for name, node in table.node.items():
        for key in ("shape", "bend"):
            if getattr(node, key) is not None:
                findings.refuse(f"{path}.{path_of(('node', name))}.{key}", f"is given by '{source}'", "remove it")
    hidden: dict[str, Any] = {"nodes": {name: node.at for name, node in table.node.items()}}
    if source == "file":
        given = table.mass is not None
        rigid = (table.mass, table.com, table.inertia) if given else (None, None, None)
        return hidden | dict(zip(("mass", "com", "inertia"), rigid, strict=True))
    for key in ("mass", "com", "inertia"):
        if key in table.model_fields_set:
            findings.refuse(f"{path}.{key}", f"is given by '{source}' of its flex", "remove it")
    return hidden


def _keep_ends(source: str, values: Mapping[str, Any], table: BodyTable, place: str, findings: Findings) -> None:
    """Refuse modes of a free body that move the place where a joint holds it."""
    if values.get("ends") != "free" or values.get("clamp") or table.joint.kind in ("free", "attitude"):
        return
    message = "'free' has modes that move the body's frame, which its joint holds"
    instead = "give clamp = true" if source == "beam" else "leave it out: modes are held then"
    findings.refuse(f"{place}.ends", message, f'{instead}, or make the body a floating root, kind = "free"')


def _clamp(given: object, place: str, findings: Findings) -> str | None:
    if given is not None and not isinstance(given, str):
        findings.refuse(f"{place}.{CLAMP}", f"must be text, got {shown(given)}", "name the node that the joint holds")
        return None
    return given


def _value(key: str, value: Any, words: str, place: str, folder: Path, findings: Findings) -> Any:
    """``value`` in SI, as the function takes it whose annotation is ``words``."""
    if isinstance(value, list):
        return [_value(key, v, words, f"{place}[{k + 1}]", folder, findings) for k, v in enumerate(value)]
    if isinstance(value, dict) and "Mapping" in words:
        inner = words.partition(",")[2]
        return {name: _value(key, v, inner, f"{place}.{name}", folder, findings) for name, v in value.items()}
    if key in UNITS and not (isinstance(value, str) and "str" in words):
        try:
            return quantity(value, UNITS[key])
        except RefusalError as refusal:
            findings.refuse(place, refusal.message, refusal.remedy)
            return 0.0
    if "Path" in words and isinstance(value, str):
        if not (folder / value).is_file():
            findings.refuse(
                place, f"there is no file {value!r} in {str(folder)!r}", "give its path from the model file"
            )
        return folder / value
    allowed = {} if "Mapping" in words else {kind: text for word, (kind, text) in KINDS.items() if word in words}
    if not (type(value) in allowed or (type(value) is int and float in allowed)):
        form = "the name of a file" if "Path" in words else " or ".join(dict.fromkeys(allowed.values())) or "a table"
        findings.refuse(place, f"must be {form}, got {shown(value)}", "give another value")
    return value


def _in_unit(key: str) -> str:
    unit = UNITS.get(key)
    return f", in {unit}" if unit and unit != "1" else ""


def _tell(error: Exception, keys: Mapping[str, Any], place: str, path: str, findings: Findings) -> None:
    """Refuse what ``error`` says, at the key that its text begins with where it does."""
    words = str(error.args[0]) if isinstance(error, KeyError) else str(error)
    named, _, rest = words.partition(": ")
    key, _, node = named.partition(" ")
    if rest and key.rstrip(",") in keys:
        place, words = f"{place}.{key.rstrip(',')}", rest
    elif rest and key == "node" and node.isidentifier():
        place, words = f"{path}.{path_of(('node', node))}", rest
    message, _, remedy = words.partition("; ")
    findings.refuse(place, message or type(error).__name__, remedy or "give another value")
