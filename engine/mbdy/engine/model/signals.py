"""Outputs of one's choosing, ``[output.NAME]``: how one place stands or moves against another, norms and sums.

| kind | elements | meaning |
|---|---|---|
| euler | 3 rad | turns about the axes of `sequence`, each following those made, from the axes of `to` to that of `of` |
| mrp | 3 | modified Rodrigues parameters, tan(theta/4) n; of the two sets the one of norm <= 1 |
| rotation_vector | 3 rad | theta n, theta <= pi |
| matrix | 3 x 3 | components in the axes of `of` to those in the axes of `to` |
| relative_attitude | 4 | the same as quaternion w, x, y, z, whose sign never flips |
| relative_position | 3 m | from `to` to `of`, components in `axes` |
| relative_velocity | 3 m/s | rates of these components |
| relative_omega | 3 rad/s | angular velocity of `of` against `to`, components in `axes` |
| norm | 1 | root of the sum of squares of the output `of` |
| sum | as its terms | weighted sum of outputs, `terms = [[name, weight], ...]` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from mbdy.engine.model.arrays import listed
from mbdy.engine.model.faults import Findings, RefusalError, nearest, shown
from mbdy.engine.model.parts import Part, part, text, value
from mbdy.engine.model.units import quantity

Terms = tuple[tuple[str, float], ...]
OF_ALL = ("name", "kind")
THREE = ("[1]", "[2]", "[3]")
MATRIX = tuple(f"[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3))


@dataclass(frozen=True, kw_only=True)
class Sort:
    """A kind of signal: the fields that it ``needs`` and those that it ``takes`` besides; of relative ones the ``text``
    that describes it, ``unit`` and ``labels`` of its elements."""

    needs: tuple[str, ...] = ("of",)
    takes: tuple[str, ...] = ("to",)
    text: str = ""
    unit: str = "1"
    labels: tuple[str, ...] = THREE


IN_AXES = ("to", "axes")
KINDS: Mapping[str, Sort] = {
    "euler": Sort(needs=("of", "sequence"), text="Euler angles {sequence} of {of} against {to}", unit="rad"),
    "mrp": Sort(text="Modified Rodrigues parameters of {of} against {to}, of norm <= 1"),
    "rotation_vector": Sort(text="Rotation vector of {of} against {to}, of norm <= pi", unit="rad"),
    "matrix": Sort(text="Components in the axes of {of} to those in the axes of {to}", labels=MATRIX),
    "relative_attitude": Sort(
        text="Quaternion w x y z: components in the axes of {of} to those in the axes of {to}", labels=(*THREE, "[4]")
    ),
    "relative_position": Sort(takes=IN_AXES, text="Position of {of} from {to}, axes of {axes}", unit="m"),
    "relative_velocity": Sort(takes=IN_AXES, text="Velocity of {of} from {to} as the axes of {axes} see it",
                              unit="m/s"),
    "relative_omega": Sort(takes=IN_AXES, text="Angular velocity of {of} against {to}, axes of {axes}",
                           unit="rad/s"),
    "norm": Sort(takes=()),
    "sum": Sort(needs=("terms",), takes=()),
}  # fmt: skip
OTHER_NAMES = {
    "quaternion": "relative_attitude", "attitude": "relative_attitude", "dcm": "matrix", "rotation_matrix": "matrix",
    "euler_angles": "euler", "rotvec": "rotation_vector", "axis_angle": "rotation_vector", "mrps": "mrp",
    "position": "relative_position", "velocity": "relative_velocity", "omega": "relative_omega",
    "angular_velocity": "relative_omega", "magnitude": "norm", "weighted_sum": "sum",
}  # fmt: skip
"""What else these kinds are called."""
EXAMPLES = {
    "of": 'name a body or one of its nodes, e.g. of = "chaser.port"',
    "sequence": 'name three axes, e.g. sequence = "zyx"',
    "terms": 'give outputs and weights, e.g. terms = [["panel.joint.angle", 1], ["boom.joint.angle", -1]]',
}


def terms(given: object) -> Terms:
    """Names of outputs with their weights. Raises `RefusalError`."""
    rows = listed(given)
    if not isinstance(rows, list):
        raise RefusalError(f"must be a list of names and weights, got {shown(given)}", EXAMPLES["terms"])
    for k, row in enumerate(rows):
        if not (isinstance(row, list) and len(row) == 2 and isinstance(row[0], str)):
            raise RefusalError(f"must be a name and a weight, got {shown(row)}", EXAMPLES["terms"], f"[{k + 1}]")
    return tuple((row[0], _weight(row[1], f"[{k + 1}][2]")) for k, row in enumerate(rows))


def _weight(given: object, at: str) -> float:
    try:
        return quantity(given, "1")
    except RefusalError as refusal:
        raise RefusalError(refusal.message, refusal.remedy, at) from None


@part()
class ChosenOutput(Part):
    """An output ``output.NAME`` of one of `KINDS`.

    ``of``, ``to``  places, each a body (its origin), one of its nodes (``"boom.tip"``) or ``"inertial"``, which `to` is
                    unless given; nodes have the axes of their bodies, those of flexible ones turn with the modes.
    ``axes``        place in whose axes components are; `to` unless given.
    ``sequence``    three of the letters x, y, z, none twice in a row.
    A norm has the name of an output as ``of``, a sum several with weights as ``terms``.
    """

    name: str = value(converter=text)
    kind: str = value(converter=text)
    of: str = value(converter=text, default="")
    to: str = value(converter=text, default="")
    axes: str = value(converter=text, default="")
    sequence: str = value(converter=text, default="")
    terms: Terms = value(converter=terms, default=())

    def _agree(self, findings: Findings) -> None:
        if not self.kind:
            return findings.refuse("ChosenOutput.kind", "is missing", f"give one of {', '.join(KINDS)}")
        if (sort := KINDS.get(self.kind)) is None:
            word = OTHER_NAMES.get(self.kind.lower())
            remedy = f"here it is called '{word}'" if word else nearest(self.kind, KINDS)
            return findings.refuse("ChosenOutput.kind", f"unknown kind of output {self.kind!r}", remedy)
        for name in (each.name for each in fields(self) if each.name not in OF_ALL):
            given = bool(getattr(self, name))
            if given and name not in sort.needs + sort.takes:
                takes = ", ".join(sort.needs + sort.takes)
                message = f"an output of kind {self.kind} takes no '{name}'"
                findings.refuse(f"ChosenOutput.{name}", message, f"remove it; it takes {takes}")
            elif name in sort.needs and not given:
                findings.refuse(f"ChosenOutput.{name}", "is missing", EXAMPLES[name])
        if "to" in sort.takes and not findings.faults:
            object.__setattr__(self, "to", self.to or "inertial")
            if "axes" in sort.takes:
                object.__setattr__(self, "axes", self.axes or self.to)
            if self.of == self.to:
                message = f"is {self.of!r}, and 'to' is the same place"
                findings.refuse("ChosenOutput.of", message, "name two places; 'to' is \"inertial\" unless given")
        if self.sequence and not _turns_three_times(self.sequence):
            message = f"must be three of the letters x, y, z, none twice in a row, got {self.sequence!r}"
            findings.refuse("ChosenOutput.sequence", message, EXAMPLES["sequence"])
        return None

    @property
    def sort(self) -> Sort:
        return KINDS[self.kind]

    @property
    def relative(self) -> bool:
        """Whether it is of two places, and not of other outputs."""
        return "to" in self.sort.takes

    @property
    def places(self) -> Mapping[str, str]:
        """The places that it is of, by its fields."""
        return {name: getattr(self, name) for name in ("of", *self.sort.takes)} if self.relative else {}

    @property
    def given(self) -> dict[str, Any]:
        """The keys of a file that say it."""
        keys = [name for name in ("kind", *self.sort.needs, *self.sort.takes) if getattr(self, name)]
        table = {name: getattr(self, name) for name in keys}
        return {name: each for name, each in table.items() if name != "axes" or each != self.to}


def _turns_three_times(sequence: str) -> bool:
    a, b, c = sequence if len(sequence) == 3 else "..."
    return set(sequence) <= set("xyz") and a != b != c
