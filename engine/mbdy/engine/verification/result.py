"""What `mbdy.engine.verification.verify` found, as frozen data that prints as a table and goes into JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mbdy.engine.model.display import html_table
from mbdy.engine.model.text import visible

MOST_SENTENCES = 2
"""Of what is not covered, that a table shows; `Comparison.uncovered` has them all."""


@dataclass(frozen=True)
class Finding:
    """The largest ``figure`` of several states, beside the ``tolerance`` of its ``state`` (0 is the file's start).

    ``laws`` says which laws of effort were at work where not all of the file were.
    """

    figure: float
    state: int
    tolerance: float
    agrees: bool
    laws: str = ""

    @property
    def where(self) -> str:
        """The state in words."""
        return ", ".join(filter(None, (named(self.state), self.laws)))


@dataclass(frozen=True)
class Comparison:
    """What one formulation says beside Order-N.

    ``uncovered`` names what of the model lies outside its domain; it was not run then, and ``found`` is None. Otherwise
    ``found`` has the largest disagreement of a derivative of a state, relative to that derivative's largest value of
    all states with the same laws of effort, and ``variable`` names the state. ``forces`` and ``force`` are the same for
    the forces and torques of loops, where there are some and the formulation tells them. ``seconds`` of one evaluation.
    Formulations of one ``family`` count as one opinion.
    """

    name: str
    title: str
    source: str
    uncovered: tuple[str, ...] = ()
    found: Finding | None = None
    variable: str = ""
    seconds: float = 0.0
    forces: Finding | None = None
    force: str = ""
    family: str = ""

    @property
    def covered(self) -> bool:
        return not self.uncovered

    @property
    def disagreement(self) -> float | None:
        """Relative; None where the model is not covered."""
        return self.found.figure if self.found else None

    @property
    def agrees(self) -> bool:
        """Also true of a formulation that does not cover the model: it says nothing against it."""
        return all(finding is None or finding.agrees for finding in (self.found, self.forces))


@dataclass(frozen=True)
class Residual:
    """How far a law is from holding, relative to the sum of the sizes of its terms.

    ``inapplicable`` says why the law states nothing about the model, where it does not; ``found`` is None then.
    """

    name: str
    title: str
    inapplicable: str = ""
    found: Finding | None = None

    @property
    def residual(self) -> float | None:
        """Relative; None where the law states nothing."""
        return self.found.figure if self.found else None

    @property
    def agrees(self) -> bool:
        return self.found is None or self.found.agrees


@dataclass(frozen=True, repr=False)
class Verification:
    """What `verify` found; ``str()`` of it is a table. State 0 is the start of the file.

    ``tolerance`` holds up to the condition number ``condition`` of the scaled coefficient matrix and grows with it
    beyond; ``worst_condition`` is the largest of the states compared, ``singular`` has those left out, where there is
    no solution. ``open_loops`` are closed at none of the states: those where no way was found to close them have them
    open. A model without ``state_variables`` has nothing to compare.
    """

    model: str
    bodies: int
    degrees_of_freedom: int
    state_variables: int
    states: int
    seed: int
    tolerance: float
    condition: float
    worst_condition: float
    singular: tuple[int, ...]
    open_loops: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    residuals: tuple[Residual, ...]

    @property
    def compared(self) -> int:
        """States at which something was compared, the start included."""
        return self.states + 1 - len(self.singular) if self.state_variables else 0

    @property
    def agrees(self) -> bool:
        """Whether every formulation that covers the model agrees and every law holds, at one state at least.

        Also true of a model without states, which has nothing that could be wrong.
        """
        if not self.state_variables:
            return True
        return self.compared > 0 and all(item.agrees for item in (*self.comparisons, *self.residuals))

    @property
    def heading(self) -> str:
        """What was verified, and at which states."""
        size = f"{_count(self.bodies, 'body', 'bodies')}, {self.degrees_of_freedom} degrees of freedom"
        return f"{visible(self.model)}: {size}; its start and {_count(self.states, 'random state')}, seed {self.seed}"

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        if not self.state_variables:
            return "no states to compare: the model has no degrees of freedom and no wheels"
        if not self.compared:
            return "nothing was compared: the equations are singular to rounding at every state"
        run = len({item.family or item.name for item in self.comparisons if item.covered})
        wrong = [item.name for item in self.comparisons if not item.agrees]
        wrong += [item.title for item in self.residuals if not item.agrees]
        if wrong:
            said = f"beyond the tolerance of {self.tolerance:g}: {', '.join(wrong)}"
        else:
            others = _count(run, "independent formulation")
            said = f"Order-N agrees with {others} and the laws hold, to {self.tolerance:g}"
        if self.singular:
            states = ", ".join(map(named, self.singular))
            said = f"{said}; left out, as the equations are singular to rounding there: {states}"
        if self.open_loops:
            loops = ", ".join(map(repr, self.open_loops))
            said = f"{said}; no state closes loop {loops}: compared open alone"
        return said

    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """Each comparison and residual as text: what, its figure, where the figure was found (or why there is none)."""
        lines = []
        for item in self.comparisons:
            label = f"{item.name}: {item.title}"
            if item.found is None:
                lines.append((label, "not covered" if item.uncovered else "not compared", _few(item.uncovered)))
            else:
                place = f"derivative of {item.variable}, {item.found.where}" if item.variable else ""
                lines.append((label, _figure(item.found), place))
            if item.forces:
                place = f"{item.force}, {item.forces.where}" if item.force else ""
                lines.append((f"{item.name}: forces of loops", _figure(item.forces), place))
        for item in self.residuals:
            if item.found is None:
                lines.append((item.title, "no statement" if item.inapplicable else "not compared", item.inapplicable))
            else:
                lines.append((item.title, _figure(item.found), item.found.where if item.found.figure else ""))
        return tuple(lines)

    def __repr__(self) -> str:
        return f"<Verification of {self.heading}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return html_table(f"{self.heading}: {self.verdict}", ("", "figure", "where"), self.rows())

    def __str__(self) -> str:
        rows = self.rows()
        first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
        lines = [f"  {a:<{first}}  {b:>{second}}  {c}".rstrip() for a, b, c in rows]
        return "\n".join((self.heading, *lines, self.verdict))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        plain = {**asdict(self), "agrees": self.agrees, "verdict": self.verdict}
        for key in ("comparisons", "residuals"):
            for entry, item in zip(plain[key], getattr(self, key), strict=True):
                entry["agrees"] = item.agrees
        return plain


def named(state: int) -> str:
    """A state in words."""
    return f"state {state}" if state else "the start"


def _few(sentences: tuple[str, ...]) -> str:
    more = len(sentences) - MOST_SENTENCES
    return "; ".join(sentences[:MOST_SENTENCES]) + (f"; and {more} more" if more > 0 else "")


def _figure(finding: Finding) -> str:
    return f"{finding.figure:.1e}" + ("" if finding.agrees else " !")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
