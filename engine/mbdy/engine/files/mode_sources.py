"""Bodies made by the sources of modal data that a model file names: generators, and files of other programs."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Container, Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mbdy.engine.files.tables import BodyTable
from mbdy.engine.flexible.modal_body import ModalBody
from mbdy.engine.flexible.moments import clamped
from mbdy.engine.flexible.sources import SOURCES, Key
from mbdy.engine.model.faults import Findings, ModelWarning, PartError, nearest, path_of, shown
from mbdy.engine.model.units import quantity

CLAMP = "clamp"
"""The key beside those of ``file`` that names the node at which a joint holds the body."""
UNSOLVED = "infs or NaNs"
"""What solvers of NumPy and SciPy call matrices that are not finite."""
FORMS: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "the name of a file",
}
"""How a message calls a type."""


def body_of(source: str, table: BodyTable, path: str, folder: Path, findings: Findings) -> ModalBody | None:
    """The body that ``source``, a key of the flex of ``table``, found at ``path``, makes of what it says.

    Relative names of files begin at ``folder``. None where there are faults, which go to ``findings``.
    """
    place, before = f"{path}.flex.{source}", len(findings.faults)
    function, values = _function(source, getattr(table.flex, source), place, findings)
    if function is None:
        return None
    hidden, keys = _hidden(source, table, path, findings), SOURCES[source].keys
    clamp = _clamp(values.pop(CLAMP, None), place, findings) if source == "file" else None
    for key in values.keys() - keys.keys():
        findings.refuse(f"{place}.{key}", "unknown key", nearest(key, [*keys, CLAMP] if source == "file" else keys))
    for key, takes in keys.items():
        if takes.required and key not in values:
            unit = f", in {takes.unit}" if takes.unit else ""
            findings.refuse(f"{place}.{key}", "is missing", f"'{source}' needs it{unit}")
    arguments = {
        key: _value(keys[key], value, f"{place}.{key}", folder, findings)
        for key, value in values.items()
        if key in keys
    }
    _keep_ends(source, arguments, table, place, findings)
    if len(findings.faults) > before:
        return None
    warn_of_damping(arguments.get("damping_ratio", 0.0), f"{place}.damping_ratio", findings)
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"):
        warnings.simplefilter("always", ModelWarning)
        try:
            body = function(**arguments, **hidden)
            body = clamped(body, clamp) if clamp else body
            if _finite(body):
                return body
            return _refuse_beyond(arguments, place, findings)
        except MemoryError:
            findings.refuse(place, "does not fit into memory", "give fewer modes, nodes or unknowns")
            return None
        except (np.linalg.LinAlgError, ArithmeticError, PartError):  # parts have finite numbers
            return _refuse_beyond(arguments, place, findings)
        except (ValueError, TypeError, LookupError, OSError, ImportError) as error:
            if UNSOLVED in str(error):
                return _refuse_beyond(arguments, place, findings)
            words = str(error.args[0]) if isinstance(error, KeyError) else str(error)
            findings.refuse(*_placed(words or type(error).__name__, keys, place, path, "give another value"))
            return None
        finally:
            for entry in told:
                if isinstance(entry.message, ModelWarning):
                    findings.warn(*_placed(str(entry.message), keys, place, path, "make sure that it is meant"))


def _finite(value: object) -> bool:
    """Whether all numbers in ``value`` are finite: a number, or tuples, mappings and data classes of such."""
    if isinstance(value, float):
        return math.isfinite(value)
    if is_dataclass(value):
        return all(_finite(getattr(value, part.name)) for part in fields(value))
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else ()
    return all(map(_finite, parts))


def _refuse_beyond(arguments: Mapping[str, Any], place: str, findings: Findings) -> None:
    """Refuse the number among ``arguments`` that is farthest from one: products are beyond what floats can hold."""
    sizes = [
        (abs(math.log(abs(number))), key, number)
        for key, value in arguments.items() if not isinstance(value, str | Path | Mapping)
        for number in np.ravel(value).tolist() if isinstance(number, int | float) and number
    ]  # fmt: skip
    _, key, number = max(sizes, default=(0.0, "", 0.0))
    where, got = (f"{place}.{key}", f", got {number:g}") if key else (place, "")
    findings.refuse(where, f"makes modal data beyond what floats can hold{got}", "check its unit")


def warn_of_damping(ratios: object, path: str, findings: Findings) -> None:
    """Warn of damping ratios that feed energy in, or so large that modes do not swing: percents were meant?"""
    zeta = np.atleast_1d(np.asarray(ratios, dtype=float))
    if np.any(zeta < 0):
        findings.warn(path, "is negative and feeds energy in", "make sure that it is meant")
    if np.any(zeta > 1):
        message = f"{zeta.max():g} is above 1: such a mode does not swing"
        findings.warn(path, message, f"did you mean {zeta.max():g} %, {zeta.max() / 100:g}?")


def _function(
    source: str, entry: object, place: str, findings: Findings
) -> tuple[Callable[..., ModalBody] | None, dict[str, Any]]:
    """What makes the body, and what it is given by key."""
    values: Any = {"path": entry} if source == "file" and isinstance(entry, str) else entry
    if not isinstance(values, dict):
        form = "the name of a file or a table" if source == "file" else "a table"
        findings.refuse(place, f"must be {form}, got {shown(entry)}", f"write [{place}]")
        return None, {}
    module = import_module(f"mbdy.engine.flexible.{SOURCES[source].module}")
    return getattr(module, SOURCES[source].function), dict(values)


def _hidden(source: str, table: BodyTable, path: str, findings: Findings) -> dict[str, Any]:
    """Arguments that are no keys of the source but come from the tables of the body and its nodes."""
    for name, node in table.node.items():
        for key in ("shape", "bend"):
            if getattr(node, key) is not None:
                findings.refuse(f"{path}.{path_of(('node', name))}.{key}", f"is given by '{source}'", "remove it")
    hidden: dict[str, Any] = {"nodes": {name: node.at for name, node in table.node.items()}}
    if source == "file":
        rigid = (None,) * 3 if table.mass is None else (table.mass, table.com, table.inertia)
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


def _clamp(entry: object, place: str, findings: Findings) -> str | None:
    if entry is not None and not isinstance(entry, str):
        findings.refuse(f"{place}.{CLAMP}", f"must be text, got {shown(entry)}", "name the node that the joint holds")
        return None
    return entry


def _value(key: Key, value: Any, place: str, folder: Path, findings: Findings) -> Any:
    """``value`` in SI, as the source's function takes it."""
    if isinstance(value, list):
        return [_value(key, v, f"{place}[{k + 1}]", folder, findings) for k, v in enumerate(value)]
    if isinstance(value, dict) and key.named:
        inner = replace(key, named=False)
        return {name: _value(inner, v, f"{place}.{name}", folder, findings) for name, v in value.items()}
    if key.unit:
        return findings.attempt(place, quantity, value, key.unit)
    if Path in key.types and isinstance(value, str):
        if not os.path.isfile(folder / value):  # which no name makes raise
            findings.refuse(
                place, f"there is no file {value!r} in {str(folder)!r}", "give its path from the model file"
            )
        return folder / value
    if key.named or not (type(value) in key.types or (type(value) is int and float in key.types)):
        form = "a table" if key.named else " or ".join(FORMS[kind] for kind in key.types)
        findings.refuse(place, f"must be {form}, got {shown(value)}", "give another value")
    return value


def _placed(words: str, keys: Container[str], place: str, path: str, remedy: str) -> tuple[str, str, str]:
    """The place, message and remedy (or ``remedy``) in ``words``: at the key that they begin with where they do."""
    named, _, rest = words.partition(": ")
    key, _, node = named.partition(" ")
    if rest and key.rstrip(",") in keys:
        place, words = f"{place}.{key.rstrip(',')}", rest
    elif rest and key == "node" and node.isidentifier():
        place, words = f"{path}.{path_of(('node', node))}", rest
    message, _, said = words.partition("; ")
    return place, message, said or remedy
