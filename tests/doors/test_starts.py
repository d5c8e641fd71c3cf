"""The same start behind every door: start values that were given are kept, the others found, contradictions told.

Of each mechanism some start values are given: none, some of a closed position, all of it, or all with some of them
changed so that they contradict the loops. Part of them is in the file's ``[initial]``, the rest is set at the door. The
door that all others must agree with is a file that has all of them.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from doors.doors import EXCHANGE, FMUS, Doors, FmuDoor
from doors.random_mechanisms import NEAR, STRUCTURES, Mechanism, Structure, Values, mechanism, scalars, starts_of, value
from mbdy.app.main import app
from mbdy.blocks import Plant, StartMovedWarning
from mbdy.engine import linearize, loads, ports, trim

MECHANISMS = 10
"""Of each structure."""
KINDS = ("none", "some", "all", "contradictory")
ADJOINT = ("native 3.0", "exchange 3.0")
"""Native FMUs of FMI 3.0 carry adjoint derivatives too, which take long to compile for a platform on legs."""
RATES = (".rate", ".velocity", ".omega")
SAME = 1e-10
"""[m, rad, m/s, rad/s] Doors may differ by this, and a given value may move by it: loops are closed to 1e-12, and
errors of positions come back in speeds."""
TOLD = 1e-6
"""A given value that moves further is told of."""
MOVED = "start value"
"""Texts that tell of a move have these words; others may name variables too."""
PRINTED = 1e-5
"""Relative accuracy with which old and new values are expected in a text."""
STILL = 1e-9
"""[rad/s2, m/s2] What a trim may leave of accelerations."""


@dataclass
class Start:
    """Where a door starts (states by name), and all that it said on the way."""

    states: dict[str, float]
    told: list[str] = field(default_factory=list)

    @property
    def vector(self) -> np.ndarray:
        return np.array([*self.states.values()])


@cache
def drawn(structure: Structure, seed: int) -> Mechanism:
    return mechanism(structure, seed)


@cache
def given(one: Mechanism, kind: str, seed: int) -> Values:
    """Start values of the ``kind``."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    names = [*one.closed]
    if kind == "none":
        return {}
    if kind == "some":  # one speed at most: in another position than the one they are of, two would contradict
        places, rates = ([name for name in names if name.endswith(RATES) == rate] for rate in (False, True))
        names = [name for name in places if rng.random() < 0.4] + rng.permutation(rates)[: rng.integers(2)].tolist()
    values = {name: one.closed[name] for name in names}
    if kind == "contradictory":
        for name in rng.permutation([name for name in names if not name.endswith(".attitude")])[:2].tolist():
            values[name] = tuple(v + NEAR * rng.uniform(0.2, 0.5) for v in values[name])
    return values


def shared_out(one: Mechanism, values: Values, seed: int) -> tuple[Values, Values]:
    """What of the given ``values`` is in the file and what is set; neither contradicts itself where they do not.

    The file has some of them, or (``seed`` odd) one alone with another value, which setting it replaces.
    """
    rng = np.random.default_rng(seed)
    other = [name for name in values if not name.endswith((".attitude", *RATES))]
    if seed % 2 and other:
        name = rng.choice(other)
        return {name: tuple(v + 0.1 for v in values[name])}, values
    names = [name for name in values if rng.random() < 0.5]
    speeds = [name for name in names if name.endswith(RATES)]  # two would contradict in another position
    filed = {name: values[name] for name in names if name not in speeds[1:]}
    return filed, {name: numbers for name, numbers in values.items() if name not in filed}


def noted(act: Callable[[], dict[str, float]]) -> Start:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        states = act()
    return Start(states, [str(warning.message) for warning in caught])


def plant_start(plant: Plant) -> dict[str, float]:
    return scalars(starts_of(plant))


@cache
def of_a_file(one: Mechanism, kind: str, seed: int) -> Start:
    """The door that others must agree with: all values in the file."""
    return noted(lambda: plant_start(Plant(loads(one.file(given(one, kind, seed))))))


def of_a_block(one: Mechanism, filed: Values, put: Values) -> Start:
    def act() -> dict[str, float]:
        plant = Plant(one.model(filed, shut=False))
        if one.structure.switch:
            plant[one.structure.switch] = True
        for name, numbers in put.items():
            plant[name] = numbers
        return plant_start(plant)

    return noted(act)


def of_a_command(one: Mechanism, filed: Values, put: Values, folder: Path) -> Start:
    file, table = folder / "it.toml", folder / "it.csv"
    file.write_text(one.file(filed, shut=False), encoding="utf-8")
    sets = [f"{name}={value(numbers)}" for name, numbers in put.items()]
    sets += [f"{one.structure.switch}=true"] if one.structure.switch else []
    words = ["simulate", file, "--until", "0.001", "--every", "0.001", "-o", table]
    result = CliRunner().invoke(app, [str(w) for w in words] + [w for text in sets for w in ("--set", text)])
    assert result.exit_code == 0, result.output
    with table.open(encoding="utf-8", newline="") as opened:
        header, first, *_ = csv.reader(opened)
    row = dict(zip(header, map(float, first), strict=True))
    return Start({name: row[name] for name in scalars(one.closed)}, [result.stderr])


def point(one: Mechanism, put: Values) -> dict[str, object]:
    """What ``at`` takes."""
    at: dict[str, object] = {name: list(numbers) for name, numbers in put.items()}
    return at | ({one.structure.switch: True} if one.structure.switch else {})


def of_a_linearization(one: Mechanism, filed: Values, put: Values) -> Start:
    made: list[str] = []

    def act() -> dict[str, float]:
        found = linearize(one.model(filed, shut=False), at=point(one, put))
        made.extend(found.notes)
        return {name: found.state_values[name] for name in scalars(one.closed)}

    start = noted(act)
    start.told += made
    return start


def of_an_fmu(door: FmuDoor, one: Mechanism, put: Values) -> Start:
    """Of an FMU of the structure's first mechanism, whose numbers become those of ``one``."""
    own, base = ports(one.model({}, shut=False)), ports(drawn(one.structure, 0).model({}, shut=False))
    numbers = zip(own.parameter_names, own.vector("parameter"), base.vector("parameter"), strict=True)
    door.set({name: float(new) for name, new, old in numbers if new != old})
    return started(door, one, put)


def started(door: FmuDoor, one: Mechanism, put: Values) -> Start:
    if one.structure.switch:
        door.switch(one.structure.switch, True)
    if put:
        door.set(scalars(put))
    door.initialize()
    names = [*scalars(one.closed)]
    return Start(dict(zip(names, door.get(names).tolist(), strict=True)), [text for *_, text in door.client.said])


def tells(told: Sequence[str], name: str, old: float, new: float) -> bool:
    """Whether one of the texts names the variable, or its element, with its old and its new value."""
    for text in told:
        numbers = [float(n) for n in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)]
        has = [any(abs(n - v) <= PRINTED * max(1.0, abs(v)) for n in numbers) for v in (old, new)]
        if name.partition("[")[0] in text and all(has):
            return True
    return False


def check(found: Start, one: Mechanism, kind: str, seed: int) -> None:
    """Against the file's start, and the rule: given values are kept, or each that moved is told."""
    wanted, values = of_a_file(one, kind, seed), scalars(given(one, kind, seed))
    np.testing.assert_allclose(found.vector, wanted.vector, rtol=0, atol=SAME)
    check_given(found, values, kind)


def check_given(found: Start, values: Mapping[str, float], kind: str) -> None:
    moved = {name: old for name, old in values.items() if abs(found.states[name] - old) > TOLD}
    if kind == "contradictory":
        assert moved
        untold = [name for name, old in moved.items() if not tells(found.told, name, old, found.states[name])]
        assert not untold, f"not told: {untold}; told: {found.told}"
        return
    for name, old in values.items():
        assert found.states[name] == pytest.approx(old, rel=0, abs=SAME), name
    assert not [text for text in found.told if MOVED in text], found.told


each_structure = pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: s.name.replace(" ", "_"))
each_kind = pytest.mark.parametrize("kind", KINDS)
each_fmu = pytest.mark.parametrize("door", [*FMUS, *EXCHANGE])
each_structure_and_fmu = pytest.mark.parametrize(
    ("structure", "door"),
    [
        pytest.param(
            structure, door, id=f"{structure.name}-{door}".replace(" ", "_"),
            marks=pytest.mark.slow if structure.name in ("stewart", "two arms") and door in ADJOINT else (),
        )
        for structure in STRUCTURES
        for door in [*FMUS, *EXCHANGE]
    ],
)  # fmt: skip


@each_kind
@each_structure
def test_a_file_is_closed_and_keeps_what_it_gives(structure: Structure, kind: str) -> None:
    for seed in range(MECHANISMS):
        one = drawn(structure, seed)
        check_given(of_a_file(one, kind, seed), scalars(given(one, kind, seed)), kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = Plant(loads(one.file(given(one, kind, seed)))).outputs()
        for name in [name for name in y.names if ".residual" in name and name.startswith("loop.")]:
            assert abs(float(np.ravel(y[name])[0])) < SAME, name


@each_kind
@each_structure
def test_a_block_starts_as_the_file(structure: Structure, kind: str) -> None:
    for seed in range(MECHANISMS):
        one = drawn(structure, seed)
        check(of_a_block(one, *shared_out(one, given(one, kind, seed), seed)), one, kind, seed)


@each_kind
@each_structure
def test_a_command_starts_as_the_file(structure: Structure, kind: str, tmp_path: Path) -> None:
    for seed in range(MECHANISMS):
        one = drawn(structure, seed)
        check(of_a_command(one, *shared_out(one, given(one, kind, seed), seed), tmp_path), one, kind, seed)


@each_kind
@each_structure
def test_a_linearization_is_about_the_files_start(structure: Structure, kind: str) -> None:
    for seed in range(MECHANISMS):
        one = drawn(structure, seed)
        check(of_a_linearization(one, *shared_out(one, given(one, kind, seed), seed)), one, kind, seed)


@each_kind
@each_structure_and_fmu
def test_an_fmu_starts_as_the_file(structure: Structure, kind: str, door: str, doors: Doors) -> None:
    base = drawn(structure, 0).model({}, shut=False)
    for seed in range(MECHANISMS):
        one = drawn(structure, seed)
        opened = doors.open(door, base)
        assert isinstance(opened, FmuDoor)
        check(of_an_fmu(opened, one, given(one, kind, seed)), one, kind, seed)


@pytest.mark.parametrize("door", ["python 2.0", "native 2.0", "exchange 2.0"])
@each_structure
def test_an_fmu_has_what_its_file_gives(structure: Structure, door: str, doors: Doors) -> None:
    """Part of the values in the file that was exported, part set; after a reset only the file's are left."""
    seed = 1
    one = drawn(structure, seed)
    filed, put = shared_out(one, given(one, "some", seed), seed)
    opened = doors.open(door, one.model(filed, shut=False))
    assert isinstance(opened, FmuDoor)
    check(started(opened, one, put), one, "some", seed)
    opened.reset()
    alone = started(opened, one, {})
    wanted = noted(lambda: plant_start(Plant(loads(one.file(filed)))))
    np.testing.assert_allclose(alone.vector, wanted.vector, rtol=0, atol=SAME)


@each_structure
def test_a_block_that_is_reset_has_what_its_file_gives(structure: Structure) -> None:
    one = drawn(structure, 2)
    plant = Plant(one.model({}))
    fresh = plant.state
    for name, numbers in one.closed.items():
        plant[name] = numbers
    assert not np.array_equal(plant.state, fresh)
    plant.step(0.001)
    plant.reset()
    np.testing.assert_array_equal(plant.state, fresh)


@each_structure
def test_a_trim_begins_at_the_files_start(structure: Structure) -> None:
    """Only efforts are free, so that what it finds is where it began; at rest, so that there is a steady motion."""
    for seed in range(MECHANISMS):
        one = drawn(structure, seed)
        places = {name: v for name, v in given(one, "some", seed).items() if not name.endswith(RATES)}
        still = {name: (0.0,) * len(v) for name, v in one.closed.items() if name.endswith(RATES)}
        filed, put = shared_out(one, places, seed)
        at = point(one, put | still)
        found = trim(one.model(filed, shut=False), at=at, free=structure.efforts, hold=list(places), tolerance=STILL)
        wanted = Plant(loads(one.file(places | still)))
        for name in one.closed:
            np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=SAME)


@each_fmu
def test_loops_that_are_open_leave_start_values_alone(door: str, doors: Doors) -> None:
    structure = STRUCTURES[-1]
    one = drawn(structure, 0)
    values = given(one, "contradictory", 0)
    wanted = scalars(values)
    opened = doors.open(door, one.model({}, shut=False))
    assert isinstance(opened, FmuDoor)
    opened.set(wanted)
    opened.initialize()
    np.testing.assert_array_equal(opened.get([*wanted]), [*wanted.values()])
    plant = Plant(one.model(values, shut=False))
    np.testing.assert_array_equal([plant[name] for name in wanted], [*wanted.values()])
    assert opened.client.said == []


def test_what_moves_is_warned_of_at_the_caller() -> None:
    one = drawn(STRUCTURES[0], 0)
    plant = Plant(one.model({}))
    for name, numbers in given(one, "contradictory", 0).items():
        plant[name] = numbers
    with pytest.warns(StartMovedWarning) as told:
        plant.step(0.001)
    assert told[0].filename == __file__
