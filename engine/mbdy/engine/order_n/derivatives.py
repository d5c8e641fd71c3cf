"""What of a model's equations is differentiated, and what is in each equation at all.

For ``f`` with inputs ``a, b`` and one result, ``forward_of(f)(a, b, da, db)`` is the change of the result along
``(da, db)``: CasADi's algorithmic differentiation of the very kernels that run, one direction at a time, for equations
that are made of derivatives. What is compiled has derivatives of its schedules (`mbdy.engine.core.changes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
from casadi import MX

from mbdy.engine.model.owners import SYSTEM, Owner, name_of
from mbdy.engine.model.system import INERTIAL, Model
from mbdy.engine.model.topology import tree
from mbdy.engine.model.variables import Variable
from mbdy.engine.order_n.equations import Equations


@dataclass(frozen=True)
class Incidence:
    """What is in each equation at all, whatever the numbers: by output and by state's derivative, in the order of ``y``
    and of ``x``, the places in ``x`` of states and in ``u`` of inputs."""

    outputs: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    derivatives: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    balance: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    """The same of the power and of the energy of `Equations.balance`, where there are."""


def incidence(equations: Equations, model: Model | None = None) -> Incidence:
    """The sparsity of the Jacobians of ``outputs`` and ``derivatives``, which follows from the tree.

    ``model``, where the equations are its full ones, tells what no equation feels though terms that are always zero
    have it.
    """
    outputs, derivatives = (
        tuple(zip(_rows(f, 0), _rows(f, 1), strict=True)) for f in (equations.outputs, equations.derivatives)
    )
    positions = _unfelt(model)
    unfelt = {place for v in equations.ports.states.values() if v.name in positions for place in _places(v)}
    felt = ((tuple(place for place in states if place not in unfelt), inputs) for states, inputs in derivatives)
    balance = tuple((_rows(f, 0, 1)[0], _rows(f, 1, 1)[0]) for f in equations.balance or ())
    return Incidence(outputs, tuple(felt), balance)


def _places(v: Variable) -> range:
    assert v.state is not None
    return range(v.state, v.state + v.size)


def _unfelt(model: Model | None) -> set[str]:
    """Where floating roots are, of trees that nothing ties to another or to inertial space: gravity is uniform."""
    if model is None or model.gravity_gradient:
        return set()
    above = tree(model)
    root = {body.name: model.bodies[above.root[i]].name for i, body in enumerate(model.bodies)}
    joining = (*model.loops, *model.elements)
    ends = [{root.get(one.a.body, INERTIAL), root.get(one.b.body, INERTIAL)} for one in joining]
    tied = {name for pair in ends if len(pair) > 1 for name in pair}
    free = [body for body in model.bodies if body.joint.floating and body.name not in tied]
    return {
        name_of(SYSTEM, "centre_of_mass")
        if body.joint.kind == "attitude"
        else name_of(Owner("body", body.name), "position")
        for body in free
    }


def _rows(f: ca.Function, argument: int, result: int = 0) -> list[tuple[int, ...]]:
    """By row of a ``result`` of ``f`` the places in an argument that are in it."""
    by_row = f.jac_sparsity(result, argument).T
    begins, places = by_row.colind(), by_row.row()
    return [tuple(places[begins[i] : begins[i + 1]]) for i in range(by_row.size2())]


def smooth(equations: Equations) -> tuple[ca.Function, ...]:
    """The functions that have derivatives by parameters too: prepare, start, derivatives and outputs, and of how a
    start closes loops."""
    own = equations.in_own_axes()
    outputs = own.balance[1] if own.balance else own.outputs
    return own.prepare, own.start, stepped(own), outputs, *_closing(own.gaps)


@lru_cache(maxsize=32)
def _closing(gaps: ca.Function | None) -> tuple[ca.Function, ...]:
    """What a start makes vanish where there are loops: ``mbdy_model_closure``, errors, then their rates."""
    if gaps is None:
        return ()
    x, u, k = (MX.sym(name, *gaps.size_in(i)) for i, name in enumerate(("x", "u", "k")))
    open_by = ca.vertcat(*gaps(x, u, k)[:2])
    return (ca.Function("mbdy_model_closure", [x, u, k], [open_by], ["x", "u", "k"], ["open_by"]),)


def smooth_derivatives(equations: Equations) -> ca.Function:
    """The derivatives of the states as a function that can be differentiated."""
    return equations.smooth_derivatives or equations.derivatives


def stepped(equations: Equations) -> ca.Function:
    """What integrators that differentiate take: `smooth_derivatives`, with the power where there is one."""
    return equations.balance[0] if equations.balance else smooth_derivatives(equations)


@lru_cache(maxsize=32)
def forward_of(f: ca.Function) -> ca.Function:
    """The changes of the results of ``f`` along changes of its inputs, as ``NAME_forward``."""
    names = f.name_in()
    at = [MX.sym(name, *f.size_in(i)) for i, name in enumerate(names)]
    along = [MX.sym(f"d{name}", *f.size_in(i)) for i, name in enumerate(names)]
    results = [MX(*f.size_out(i)) for i in range(f.n_out())]
    products = f.forward(1).call([*at, *results, *along])
    return ca.Function(f"{f.name()}_forward", [*at, *along], [ca.densify(product) for product in products])
