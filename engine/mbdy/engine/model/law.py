"""What a law of effort at a joint is: its numbers, its effort, and all that the other rooms ask of it.

Each law is one file of `mbdy.engine.model.laws`. From it follow the fields of a joint, keys of model files and their
checks, parameters, constants and when they are impossible, effort and energy of the equations, what linear equations
keep exact, and where verification looks. Slopes are CasADi's derivatives of the effort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

Numbers = Mapping[str, Any]
"""A law's numbers at one degree of freedom by name, floats or CasADi's; points as pairs (coordinate, value). A law that
is not of rates alone has ``stretch`` among them: what the coordinate is away from the ``rest`` of the spring."""
Span = tuple[float, float]
AT_ONCE = 1e-10
"""[s] Times nearer than this, of one and of their size, are one to steps."""
FAR = 1e3
"""[m, rad] Beyond all coordinates of a joint."""


@dataclass(frozen=True, slots=True)
class JointValue:
    """One of the numbers of a law: key of the file, field of `Joint` and parameter.

    ``translation`` and ``rotation`` are units, ``text`` says what it is.

    ``speeds``     one for each degree of freedom; otherwise one for each coordinate (a distance or an angle).
    ``points``     a table over the only coordinate instead: pairs of it, increasing, and a value in the unit.
    ``over``       unit of the first of each pair where that is no coordinate.
    ``parameter``  whether it is a parameter; otherwise it is the start value of the joint's input of that name.
    ``default``    None: must be given where the law is.
    ``minimum``    least value, ``above`` whether that itself is impossible; ``below`` names the law's value that must
                   be larger.
    ``passive``    whether a negative value feeds energy in, or pushes away from rest: a reader of files warns.
    ``strength``   whether the law does nothing where all such are zero.
    ``turns``      whether a spherical rotation has three as well, of its rotation vector.
    ``table``      the key of the table in a file that has it, beside others of its law; empty: none.
    ``least``      the law's value that it must be no less than, unless it is zero: then that counts.
    """

    name: str
    translation: str
    rotation: str
    text: str
    _: KW_ONLY
    speeds: bool = False
    points: bool = False
    over: str = ""
    parameter: bool = True
    default: float | None = 0.0
    minimum: float | None = None
    above: bool = False
    below: str = ""
    passive: bool = False
    strength: bool = False
    turns: bool = False
    table: str = ""
    least: str = ""

    @property
    def key(self) -> str:
        """What it is called in files and as a parameter."""
        return f"{self.table}.{self.name}" if self.table else self.name

    def at(self, vector: Any, i: int) -> Any:
        """The value of degree of freedom ``i`` in the ``vector`` of all: a number, or the pairs of a table."""
        if not self.points:
            return vector[i]
        return [(vector[k], vector[k + 1]) for k in range(0, vector.shape[0], 2)]

    def after(self, before: Any) -> Any:
        """What the first number of a point must be above, by that of the point ``before``."""
        return before + AT_ONCE * (1 + abs(before)) if self.over else before

    def strengths(self, places: Sequence[int]) -> Iterable[int]:
        """Those ``places`` of the value's elements with which an effort scales."""
        return places[1::2] if self.points and not self.over else places if self.strength else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A law of effort. The first of its ``values`` brings it, unless every joint has it (``always``).

    ``rank``       its place among the laws, in files and in tables of parameters.
    ``words``      what it is called where it acts alone, in the plural.
    ``effort``     ``(k, q, rate)`` to the effort [N, N.m] along one degree of freedom, on the outboard body: numbers,
                   coordinate [m, rad] (none where all values are ``speeds``), rate. Over floats and CasADi's symbols.
    ``potential``  ``(k, q)`` to the energy [J] stored at one coordinate; none where it stores none.
    ``inertia``    ``k`` to the inertia [kg, kg.m2] that one degree of freedom has besides; none where it has none.
    ``spans``      ``k`` to spans of the coordinate in which the effort changes, to draw states from.
    ``slow``       the value that is the size of rates at which it changes.
    ``resistance`` ``(k, rate)`` to what it takes away over the rate [N.s/m, N.m.s/rad], of a law of rates that may be
                   too steep for any step: what a step cannot follow of it is taken implicitly.
    ``steepest``   ``k`` to the numbers that differ where the law is as steep as it can be at any coordinate within
                   `FAR`, or does nothing as its steepness is no matter.
    ``switches``   ``(k, q)`` to what passes zero where the effort has a kink, by name, above zero beyond it.
    ``either``     values of which a file must give one at least.
    ``sticks``     whether it holds at rest; ``sense`` is among its numbers then, the sign of the rate as steps have it.
    """

    name: str
    words: str
    values: tuple[JointValue, ...]
    effort: Callable[[Numbers, Any, Any], Any]
    potential: Callable[[Numbers, Any], Any] | None = None
    inertia: Callable[[Numbers], Any] | None = None
    spans: Callable[[Numbers], list[Span]] = lambda k: []
    slow: str = ""
    resistance: Callable[[Numbers, Any], Any] | None = None
    steepest: Callable[[Numbers], Mapping[str, Any]] | None = None
    switches: Callable[[Numbers, Any], list[tuple[str, Any]]] | None = None
    either: tuple[str, ...] = ()
    rank: int = 100
    sticks: bool = False
    always: bool = False

    @property
    def of_rates(self) -> bool:
        """Whether it acts on every degree of freedom, those of a spherical rotation too, by rates alone."""
        return all(value.speeds for value in self.values)

    def numbers(self, vectors: Mapping[str, Any], i: int) -> Numbers:
        """Its numbers at degree of freedom ``i``, from those of all."""
        numbers = {value.name: value.at(vectors[value.name], i) for value in self.values if value.parameter}
        if self.sticks:
            numbers["sense"] = vectors["sense"][i]
        return numbers if self.of_rates else {"stretch": vectors["stretch"][i], **numbers}
