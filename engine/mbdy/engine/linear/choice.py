"""Which equations of a model are run: the full ones, linear ones about an operating point, or partly linear ones.

All are `Equations` over the same variables and vectors, so blocks, the compiled core and FMUs run them alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from mbdy.engine.core.library import Compiled, compiled_equations
from mbdy.engine.files.read import model_from
from mbdy.engine.linear.reference_point import Values
from mbdy.engine.model.collector import collector_still
from mbdy.engine.model.faults import OptionError, shown
from mbdy.engine.model.laws import sticks
from mbdy.engine.model.owners import constraint, joint_of
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Model
from mbdy.engine.model.values import chosen
from mbdy.engine.model.variables import WORK_ERROR
from mbdy.engine.order_n.equations import Equations, equations


@dataclass(frozen=True)
class Linear:
    """Accelerations linear in everything about an operating point; rates of coordinates stay exact.

    ``at``        start values and inputs of the operating point by name, in SI or as text with unit; the model file's
                  where left out. Switches are off there.
    ``geometry``  ``"constant"``: all matrices are constant, as MBDYL has it. ``"first-order"``: external forces and
                  torques keep the first-order change of their arms and axes with the coordinates, the mass matrix is
                  constant, as MBDYTL has it (JPL TR 32-1592, Section III).
    """

    at: Values = field(default_factory=dict)
    geometry: Literal["constant", "first-order"] = "constant"

    def __post_init__(self) -> None:
        chosen("geometry", self.geometry, ("constant", "first-order"))
        if not isinstance(self.at, Mapping):
            raise OptionError(f"at: start values and inputs by name are needed, such as {{'bus.omega[3]': 0.1}}; got a "
                            f"{type(self.at).__name__}")  # fmt: skip
        object.__setattr__(self, "at", MappingProxyType({name: _fixed(value) for name, value in self.at.items()}))

    def __hash__(self) -> int:
        return hash((frozenset(self.at.items()), self.geometry))

    def __reduce__(self) -> tuple[object, ...]:
        return Linear, (dict(self.at), self.geometry)


def _fixed(value: Any) -> Any:
    """``value`` as what neither changes nor compares element by element: lists and arrays as tuples."""
    return value if isinstance(value, str) or np.ndim(value) == 0 else tuple(value)


@dataclass(frozen=True)
class PartlyLinear:
    """Hinges of terminal appendages linear, all else not (MBDYPL of JPL TR 32-1592, Section IV).

    ``joints``  names of the bodies whose inboard hinges are linear; None for the largest terminal set.
    """

    joints: tuple[str, ...] | None = None


Dynamics = Linear | PartlyLinear


def ported(model: Model, dynamics: Dynamics | None) -> Model:
    """``model`` with the outputs that its equations have: energy is no balance of work of linear ones.

    Raises `OptionError` where the model asks for `WORK_ERROR` by its name.
    """
    if dynamics is None or WORK_ERROR not in (table := ports(model)).by_name:
        return model
    if WORK_ERROR in (model.port_choice.outputs or ()):
        raise OptionError(f"ports.outputs of {model.name!r}: linear dynamics have no {WORK_ERROR!r}, as energy is no "
                         "balance of their work: take it out, or leave dynamics out")  # fmt: skip
    kept = tuple(v.name for v in table.outputs if v.name != WORK_ERROR)
    return replace(model, port_choice=replace(model.port_choice, outputs=kept))


@collector_still()
def equations_of(model: Model | str | PathLike[str], dynamics: Dynamics | None = None) -> Equations:
    """The equations of ``model``: Order-N's where ``dynamics`` is None.

    Raises ValueError where the model is outside what such dynamics cover, naming what is, and KeyError for a name of
    the operating point that the model does not have.
    """
    model = model_from(model)
    if dynamics is None:
        return equations(model)
    if not isinstance(dynamics, Dynamics):
        raise OptionError(f"dynamics: Linear(...), PartlyLinear(...) or None is needed, got {shown(dynamics)}")
    model, linear = ported(model, dynamics), isinstance(dynamics, Linear)
    if beyond := [*(f"body {b.name!r} is flexible" for b in model.bodies if b.flex),
                  *(f"friction sticks at the joint of {b.name!r}" for b in model.bodies if sticks(b.joint.laws)),
                  *(f"it has the {constraint(one).kind} {one.name!r}" for one in model.constraints),
                  *(f"{joint_of(b)} is a rotor" for b in model.bodies if b.rotor and not linear),
                  *(f"it has the {one.sort} {one.name!r}" for one in model.elements if not linear)]:  # fmt: skip
        sort = "linear" if linear else "partly linear"
        raise OptionError(
            f"{sort} dynamics of {model.name!r}: {beyond[0]}; only trees of rigid bodies without such have them: leave "
            "dynamics out, or linearize"
        )
    if isinstance(dynamics, Linear):
        from mbdy.engine.linear.linear_plant import linear_equations

        return linear_equations(model, dynamics.at, dynamics.geometry)
    from mbdy.engine.linear.partly_linear import partly_linear_equations

    return partly_linear_equations(model, dynamics.joints)


def compiled(
    model: Model | str | PathLike[str], *, dynamics: Dynamics | None = None, implicit: bool = False
) -> Compiled:
    """The equations of ``model`` in C, built if no earlier build is kept.

    ``dynamics`` other than None are linear or partly linear. ``implicit`` asks for linearly implicit integrators
    (``"rosenbrock"``) beside the explicit ones. Raises `CompilerError` where there is no compiler or it fails.
    """
    return compiled_equations(equations_of(model, dynamics), implicit=implicit)
