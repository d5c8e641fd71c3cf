"""A model's equations as a shared library: CasADi's C and our stepper, built once (`mbdy.engine.core.build`).

The library depends on the structure of the model alone.
"""

from __future__ import annotations

import ctypes
import warnings
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import casadi as ca

from mbdy.engine.core import binding, rosenbrock
from mbdy.engine.core.build import FLAGS, FORWARD, LINK, compiler, shared_library
from mbdy.engine.core.virtual import VirtualCore
from mbdy.engine.linear.choice import Dynamics, equations_of
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.derivatives import forward_of, smooth_derivatives
from mbdy.engine.order_n.equations import Equations
from mbdy.engine.order_n.loop_kernels import (
    ASSEMBLY_STEPS,
    CLOSED,
    DRIFT,
    NEARLY_CLOSED,
    SETTLED,
    SETTLING_STEPS,
    TORN_APART,
)
from mbdy.engine.verification.formulations import ORDER_N, Derivatives
from mbdy.engine.verification.formulations import formulation as chosen

CLOSING = {
    "ASSEMBLY_STEPS": ASSEMBLY_STEPS, "SETTLING_STEPS": SETTLING_STEPS, "CLOSED": CLOSED,
    "NEARLY_CLOSED": NEARLY_CLOSED, "SETTLED": SETTLED, "DRIFT": DRIFT, "TORN_APART": TORN_APART,
}  # fmt: skip
"""How the core closes loops (`mbdy.engine.order_n.loop_kernels`)."""
CORE = Path(__file__).parent


class NoCompilerNote(UserWarning):
    """Said once where steps run in CasADi's virtual machine because no C compiler was found."""


@dataclass(frozen=True)
class Compiled:
    """A model's equations, ready to run: `core` makes any number of independent plants.

    ``library`` is the shared library's path, None where CasADi's virtual machine runs the steps. ``derivatives`` are
    those of another formulation, which only the virtual machine's steps can take. ``implicit`` ones are ready for the
    linearly implicit integrator too.
    """

    equations: Equations
    library: Path | None
    derivatives: Derivatives | None = None
    implicit: bool = False

    @cached_property
    def _loaded(self) -> ctypes.CDLL:
        return binding.load(str(self.library))

    def core(self) -> binding.Core | VirtualCore:
        """A new plant of this core, its vectors all zero."""
        if self.library is None:
            return VirtualCore(self.equations, self.derivatives, implicit=self.implicit)
        return binding.Core(self._loaded)


def compiled(
    model: Model,
    *,
    virtual: bool = False,
    formulation: str = ORDER_N,
    dynamics: Dynamics | None = None,
    implicit: bool = False,
) -> Compiled:
    """The equations of ``model`` in C, built if no earlier build is kept; ``virtual`` asks for none.

    ``formulation`` other than ``"order-n"`` names a second opinion whose derivatives are stepped instead, without C;
    raises ValueError for an unknown one and `UncoveredError` where ``model`` is not of its domain.
    ``dynamics`` other than None are linear or partly linear (`mbdy.engine.linear.choice`).
    ``implicit`` asks for the linearly implicit integrator (``"rosenbrock"``) beside the explicit ones: its directional
    derivatives of the equations are compiled too, in another library. ValueError with another formulation.

    Warns with `NoCompilerNote` where no compiler exists; raises `CompilerError` where one fails.
    """
    if formulation != ORDER_N:
        if dynamics is not None:
            raise ValueError(
                f"formulation {formulation!r} has the full dynamics only; leave formulation or dynamics out"
            )
        if implicit:
            raise ValueError(
                f"integrator 'rosenbrock' needs derivatives that formulation {formulation!r} does not have; "
                f"leave formulation out ({ORDER_N!r}) or choose another integrator"
            )
        return Compiled(equations_of(model), None, chosen(formulation).derivatives(model))
    return compiled_equations(equations_of(model, dynamics), virtual=virtual, implicit=implicit)


def compiled_equations(made: Equations, *, virtual: bool = False, implicit: bool = False) -> Compiled:
    """Equations in C, as `compiled` gives those of a model."""
    if virtual:
        return Compiled(made, None, implicit=implicit)
    cc = compiler()
    if cc is None:
        warnings.warn(
            "no C compiler found (cc, gcc, clang or ziglang): the steps run in CasADi's virtual machine, slower but "
            "with the same results; `pip install mbdy[native]` brings a compiler",
            NoCompilerNote,
            stacklevel=3,
        )
        return Compiled(made, None, implicit=implicit)
    return Compiled(made, shared_library(sources(made, implicit=implicit), cc, FLAGS, LINK), implicit=implicit)


def sources(made: Equations, *, implicit: bool = False) -> dict[str, str]:
    """The C sources of a core by file name: generated equations and sizes, and our stepper.

    ``implicit``  with the linearly implicit integrator.
    """
    files = {"model.c": generated(made.functions, "model.c"), "config.h": config(made, implicit=implicit)}
    own = ["core.h", "core.c"]
    if implicit:
        files[FORWARD] = generated((forward_of(smooth_derivatives(made)),), FORWARD)
        own += ["rosenbrock.h", "lu.h"]
    return files | {name: (CORE / name).read_text(encoding="utf-8") for name in own}


@lru_cache(maxsize=32)
def generated(functions: tuple[ca.Function, ...], file: str) -> str:
    """The C ``file`` (``model.c``) of CasADi functions: all they need but libm, and nothing that a library shows."""
    generator = ca.CodeGenerator(file, {"casadi_int": "int", "with_header": False})
    for function in functions:
        generator.add(function)
    title = "/* Generated by CasADi from mbdy's equations. */\n"
    versions = (CORE / "old_glibc.h").read_text(encoding="utf-8")
    return f"{title}{versions}#define CASADI_SYMBOL_EXPORT\n{generator.dump()}"


def config(made: Equations, *, implicit: bool = False) -> str:
    """config.h: the sizes of a core's vectors, where quaternions and locks lie in them, and the integrators."""
    table, switches = made.ports, made.ports.span("switches")
    sizes = {
        "NX": len(table.state_names), "NQ": made.n_q, "NU": len(table.input_names),
        "NP": len(table.parameter_names), "NY": len(table.output_names), "NK": made.n_k,
        "NQUAT": len(table.quaternions), "SWITCHES": switches.start, "NSWITCHES": switches.stop - switches.start,
        "NLOCKS": len(made.locks), "NIMPULSES": len(made.impulse_places), "LOOP_IMPULSES": made.loop_impulses,
        "NROWS": len(made.loop_rows),
        "MODAL": made.modal.start, "NMODAL": made.modal.stop - made.modal.start, "IMPLICIT": int(implicit),
    }  # fmt: skip
    places = {
        "QUATERNIONS": (*table.quaternions, -1),
        "LOCKS": (*(lock for lock, _ in made.locks), -1),
        "LOCK_SPEEDS": (*(speed for _, speed in made.locks), -1),
        "IMPULSE_PLACES": (*made.impulse_places, -1),
    }
    lines = ["/* Generated by mbdy: sizes and places of one model's core. */"]
    lines += [f"#define MBDY_{name} {size}" for name, size in sizes.items()]
    lines += [f"#define MBDY_{name} {{{', '.join(map(str, at))}}}" for name, at in places.items()]
    lines += [f"#define MBDY_{name} {value!r}" for name, value in CLOSING.items()] if made.assemble else []
    if orbit := table.orbit_position:
        lines.append(f"#define MBDY_ORBIT_POSITION {orbit.start}")
    if implicit:
        lines += rosenbrock.definitions()
    return "\n".join((*lines, ""))
