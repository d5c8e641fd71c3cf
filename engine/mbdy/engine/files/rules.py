"""The rules of model files for models made in Python."""

from __future__ import annotations

import warnings
from os import PathLike

from mbdy.engine.files.read import CHECKED, model_from, model_of
from mbdy.engine.files.write import dumps
from mbdy.engine.model.faults import Fault, ModelError, ModelWarning
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.ports import ports as ports_of
from mbdy.engine.model.system import Model

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


def keep_rules(model: Model) -> None:
    """Raise `ModelError` where ``model`` breaks a rule of model files; it is written as one and read again.

    Models that come from a file, unchanged, have been through this. Warnings are for files alone.
    """
    if CHECKED.get(id(model)) is model:
        return
    source = model.source or MADE_IN_PYTHON
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
