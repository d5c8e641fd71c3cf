"""The rules of model files for models made in Python."""

from __future__ import annotations

from os import PathLike

from mbdy.engine.files.read import CHECKED, model_from, model_of_tables
from mbdy.engine.files.write import tables_of
from mbdy.engine.model.faults import MADE_IN_PYTHON, Fault, ModelError
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.ports import ports as ports_of
from mbdy.engine.model.system import Model


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
    """Raise `ModelError` where ``model`` breaks a rule of model files, with all of them that it breaks.

    Its parts were judged when they were made. What they mean together the tables of its file tell, judged as those of
    any file, so that no rule stands twice. Models that come from a file, unchanged, have been through this. Warnings
    are for files alone.
    """
    if CHECKED.get(id(model)) is model:
        return
    source = model.source or MADE_IN_PYTHON
    read = model_of_tables(tables_of(model), source)
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
