"""Where laws of effort switch: functions of the state that pass zero there, for integrators that look for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
from casadi import MX, SX

from mbdy.engine.model.laws import laws_of
from mbdy.engine.model.owners import joint_of
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.constants import Structure, constant_fields
from mbdy.engine.order_n.kernels import Kernels, kernel
from mbdy.engine.order_n.layout import Layout


@dataclass(frozen=True)
class Switching:
    """``mbdy_model_indicators (x, u, k)``, None where nothing has any, and what passes zero in each of its rows
    (``panel.joint.stop_upper``); and what ``holds``, of each degree of freedom with friction that sticks."""

    indicators: ca.Function | None
    names: tuple[str, ...]
    holds: tuple[str, ...]


def switching(
    model: Model, layout: Layout, vectors: dict[str, MX], others: Iterable[tuple[str, MX]]
) -> Switching | None:
    """Those of the laws of a model's joints, and of ``others`` by name, of symbols ``x``, ``u`` and ``k``; None where
    none of them switches."""
    kernels, holds = Kernels(), []
    names, rows = ([*each] for each in zip(*others, strict=True)) if (others := [*others]) else ([], [])
    for body, kind, at, q in zip(model.bodies, layout.structures, layout.constants, layout.q, strict=True):
        if own := names_of(kind):
            rows.append(kernels.call(switching_body, kind, k=vectors["k"][at, 0], q=vectors["x"][q, 0])["indicators"])
            names += [f"{joint_of(body)}.{name}" for name in own]
        fields = constant_fields(kind).places("sense")
        several = fields.stop - fields.start > 1
        holds += [
            f"{joint_of(body)}.sticking" + (f"[{i + 1}]" if several else "") for i in range(fields.stop - fields.start)
        ]
    if not rows and not holds:
        return None
    indicators = ca.Function(
        "mbdy_model_indicators", [*vectors.values()], [ca.vertcat(*rows)], [*vectors], ["indicators"]
    )
    return Switching(indicators if rows else None, tuple(names), tuple(holds))


def switching_body(kind: Structure) -> ca.Function:
    """Kernel: the indicators of one joint, of its constants and coordinates."""
    k, q = SX.sym("k", constant_fields(kind).size), SX.sym("q", kind.form.n_q)
    return kernel("switching", {"k": k, "q": q}, {"indicators": ca.vertcat(*(value for _, value in _rows(kind, k, q)))})


def names_of(kind: Structure) -> list[str]:
    """What switches at one joint, in the order of `switching_body`; several axes have a number behind each."""
    k, q = SX.sym("k", constant_fields(kind).size), SX.sym("q", kind.form.n_q)
    return [name for name, _ in _rows(kind, k, q)]


def _rows(kind: Structure, k: SX, q: SX) -> list[tuple[str, SX]]:
    rows, n = [], kind.form.n_axes
    vectors = {**constant_fields(kind).split(k), "stretch": SX(n, 1)}
    for law in () if kind.floating else laws_of(kind.laws):
        for i in range(n if law.switches else 0):
            assert law.switches
            at = f"[{i + 1}]" if n > 1 else ""
            rows += [(f"{name}{at}", value) for name, value in law.switches(law.numbers(vectors, i), q[i])]
    return rows
