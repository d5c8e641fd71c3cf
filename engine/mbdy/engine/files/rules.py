"""The rules of model files for models made in Python."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike

from mbdy.engine.files.read import CHECKED, model_from, model_of
from mbdy.engine.files.write import dumps
from mbdy.engine.model.faults import Fault, ModelError, ModelWarning, path_of, shown
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.ports import ports as ports_of
from mbdy.engine.model.system import Model
from mbdy.engine.model.units import real

NUMERIC = ("float", "Vector3", "Matrix3", "Quaternion", "Rows")
"""Types of the fields of a model that are numbers."""
MADE_IN_PYTHON = "<model made in Python>"


def ruled(model: Model | str | PathLike[str]) -> Model:
    """``model``, or that of the file at a path, once it is known to keep the rules of model files.

    Raises `ModelError` where it does not, `OptionError` for what is neither.
    """
    model = model_from(model)
    keep_rules(model)
    return model


def ports(model: Model | str | PathLike[str]) -> Ports:
    """The port table of ``model`` (`mbdy.engine.model.ports.ports`), or of that of the file at a path."""
    return ports_of(model_from(model))


def _odd_numbers(part: object, path: str) -> Iterator[Fault]:
    """What stands in the place of a real number in ``part`` of a model, such as a complex stiffness."""
    for field in fields(part):  # type: ignore[arg-type]
        value, key = getattr(part, field.name), f"{path}.{field.name}"
        if is_dataclass(value):
            yield from _odd_numbers(value, key)
        elif isinstance(value, Mapping):
            for name, inner in value.items():
                yield from _odd_numbers(inner, f"{path}.{field.name.removesuffix('s')}.{name}")
        elif field.type in (tuple, float) or any(sort in str(field.type) for sort in NUMERIC):
            for leaf in _leaves(value):
                if real(leaf) is None:
                    yield Fault(key, f"must be real numbers, got {shown(leaf)}", "give numbers in SI")
                    break


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0):
        for entry in value:  # type: ignore[union-attr]
            yield from _leaves(entry)
    else:
        yield value


def keep_rules(model: Model) -> None:
    """Raise `ModelError` where ``model`` breaks a rule of model files; it is written as one and read again.

    Models that come from a file, unchanged, have been through this. Warnings are for files alone.
    """
    if CHECKED.get(id(model)) is model:
        return
    source = model.source or MADE_IN_PYTHON
    if odd := [fault for body in model.bodies for fault in _odd_numbers(body, path_of(("body", body.name)))]:
        raise ModelError(source, odd)
    try:
        text = dumps(model)
    except (TypeError, ValueError, AttributeError, IndexError) as fault:
        raise ModelError(source, [Fault("", f"cannot be written as a model file: {fault}")]) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        read = model_of(text, source, lines=False)
    faults = [
        Fault(f"body.{one.name}.joint.kind", f"these axes make no joint of kind {one.joint.kind}", "give others")
        for one, other in zip(model.bodies, read.bodies, strict=True)
        if one.joint.kind != other.joint.kind
    ]
    kinds = {loop.name: loop.kind for loop in read.loops}
    for loop in model.loops:
        if loop.name not in kinds:
            faults.append(Fault(f"loop.{loop.name}", "a and b cannot move against each other", "remove it"))
        elif loop.kind != kinds[loop.name]:
            message = f"these rows make no loop of kind {loop.kind}"
            faults.append(Fault(f"loop.{loop.name}.kind", message, 'give kind = "rows", or others'))
    if faults:
        raise ModelError(source, faults)
    CHECKED[id(model)] = model
