"""Kernels: what is worked out for one body, node or loop at once, as CasADi functions that graphs call by names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import casadi as ca
from casadi import MX, SX

Key = tuple[Callable[..., ca.Function], tuple[Hashable, ...]]


def symbols(**sizes: int | tuple[int, int] | ca.Sparsity) -> dict[str, SX]:
    """Symbols of kernels' inputs by name: vectors of a size, or matrices."""
    return {
        name: SX.sym(name, *size) if isinstance(size, tuple) else SX.sym(name, size) for name, size in sizes.items()
    }


def kernel(name: str, inputs: Mapping[str, SX], outputs: Mapping[str, SX]) -> ca.Function:
    """The function ``name`` of symbols and expressions by name. No name is both an input and an output."""
    return ca.Function(name, [*inputs.values()], [*outputs.values()], [*inputs], [*outputs])


@lru_cache(maxsize=4096)
def kernel_of(make: Callable[..., ca.Function], structure: tuple[Hashable, ...]) -> ca.Function:
    """``make(*structure)``, kept: models share kernels, and what is generated of them."""
    return make(*structure)


@dataclass
class Kernels:
    """Kernels by the function that makes them and its arguments, and how often each was called."""

    functions: dict[Key, ca.Function] = field(default_factory=dict)
    calls: Counter[Key] = field(default_factory=Counter)

    def call(self, make: Callable[..., ca.Function], /, *structure: Hashable, **inputs: MX) -> dict[str, Any]:
        """The outputs (MX), by name, of the kernel ``make(*structure)``, which is made at the first call.

        TypeError names inputs that are missing or that it does not have: CasADi would take zeros for the former.
        """
        key = (make, structure)
        function = self.functions.setdefault(key, kernel_of(make, structure))
        if wrong := inputs.keys() ^ {*function.name_in()}:
            raise TypeError(f"kernel {function.name()}: inputs are {function.name_in()}, got {sorted(wrong)} wrong")
        self.calls[key] += 1
        return function(**inputs)

    def operations(self) -> int:
        """Scalar operations of all calls."""
        return sum(self.functions[key].n_instructions() * count for key, count in self.calls.items())
