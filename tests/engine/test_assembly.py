"""Loops that are closed at the start: what moves, what stays, what is told, and the rates that it rests on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mbdy.blocks import Plant
from mbdy.engine import fastest, linearize, trim
from mbdy.engine.assembly.start import StartMovedWarning, assemble, assembly, started
from mbdy.engine.core.build import CompilerError, compiler
from mbdy.engine.files import rules, write
from mbdy.engine.files.loops import ROWS
from mbdy.engine.files.read import dumps, load, loads
from mbdy.engine.files.rules import keep_rules
from mbdy.engine.linear.fastest_mode import fastest_mode
from mbdy.engine.linear.operating_point import operating_point
from mbdy.engine.model.faults import ModelError, ModelWarning
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body, Flex, Joint, Loop, Model, Node, Side
from mbdy.engine.order_n.closing_columns import QUATERNION
from mbdy.engine.order_n.equations import equations
from mbdy.engine.verification.formulations.closures import closures
from mbdy.engine.verification.formulations.kinematics import Columns, kinematics
from mbdy.engine.verification.formulations.reader import Reader
from mechanisms import FOUR_BAR_FILE

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def four_bar(*start: str, loop: str = "") -> Model:
    return loads(FOUR_BAR_FILE + loop + "\n[initial]\n" + "\n".join(start))


def begun(model: Model, given: Collection[str]) -> tuple[dict[str, np.ndarray], list[str]]:
    """Start values with loops closed, those named in ``given`` to stay, and what is told."""
    table = ports(model)
    marks = np.array([name in given or name.partition("[")[0] in given for name in table.start_names], dtype=float)
    core = started(equations(model), np.array(table.start), marks,
                   np.array(table.vector("input")), np.array(table.vector("parameter")))  # fmt: skip
    starts = {
        v.name: core.s_closed[v.start_at : v.start_at + v.size].copy() for v in table.outputs if v.start_at is not None
    }
    return starts, core.moves()


def errors(model: Model) -> np.ndarray:
    """Of closure at the start as it is in ``model.initial``."""
    return Approach(model)(Approach(model).x)[0]


def vector(rng: np.random.Generator, size: float = 1.0) -> tuple[float, float, float]:
    x, y, z = (size * rng.normal(size=3)).tolist()
    return (x, y, z)


def turn(rng: np.random.Generator) -> tuple[float, float, float, float]:
    q = rng.normal(size=4)
    w, x, y, z = (q / np.linalg.norm(q)).tolist()
    return (w, x, y, z)


def rows(array: np.ndarray) -> tuple:
    return tuple(rows(part) for part in array) if array.ndim else float(array)  # type: ignore[return-value]


def flexible(rng: np.random.Generator, m: int) -> tuple[Flex, dict[str, Node]]:
    """A body of loose points with random modes, as true as any."""
    zero = rows(np.zeros((m, m)))
    bend = rng.normal(size=(3, m, m))
    flex = Flex(mass=rows(np.eye(m)), stiffness=zero, damping=zero, coupling=rows(0.1 * rng.normal(size=(6, m))))
    node = Node(at=vector(rng), shape=rows(rng.normal(size=(6, m))), bend=rows(bend + bend.transpose(0, 2, 1)))
    return flex, {"tip": node}


def random_model(seed: int) -> Model:
    """A tree of all kinds of joints on nodes of rigid and flexible bodies, and a loop of each kind, all open."""
    rng = np.random.default_rng(seed)
    shapes = ({"translations": (X, Y, Z), "spherical": True, "kind": "free"}, {"rotations": (vector(rng), vector(rng))},
              {"translations": (vector(rng),), "spherical": True}, {"rotations": (vector(rng),)},
              {"translations": (vector(rng), vector(rng)), "rotations": (vector(rng),)}, {})  # fmt: skip
    bodies, initial = [], {}
    for k, shape in enumerate(shapes):
        to = f"b{rng.integers(k)}" if k else "inertial"
        place = {} if not k else {"at": vector(rng), "frame": turn(rng), "node": str(rng.choice(["", "tip"]))}
        flex, nodes = flexible(rng, 2) if k % 2 else (None, {"tip": Node(at=vector(rng))})
        joint = Joint(to=to, **shape, **place)  # type: ignore[arg-type]
        bodies.append(Body(name=f"b{k}", joint=joint, mass=1.0, inertia=(X, Y, Z), flex=flex, nodes=nodes))
        if flex:
            initial[f"b{k}.flex.displacement"] = tuple((0.3 * rng.normal(size=2)).tolist())
    loops = []
    for k, held in enumerate([*ROWS.values(), (1, 3, 5), (2,), (2, 3, 6)]):
        a, b = rng.choice(6, size=2, replace=False)
        far = Side(body=f"b{b}", node="tip", at=vector(rng), frame=turn(rng)) if k else Side(body="inertial")
        near = Side(body=f"b{a}", at=vector(rng), frame=turn(rng))
        loops.append(Loop(name=f"l{k}", a=near, b=far, rows=held, distance=None if held else 0.7))
    return Model(name="", bodies=tuple(bodies), loops=tuple(loops), initial=initial)


class Approach:
    """``gaps`` of a model's equations, about its start with attitudes and all else moved by columns."""

    def __init__(self, model: Model) -> None:
        self.made = equations(model)
        table = self.made.ports
        self.k = self.made.prepare(np.array(table.vector("parameter")))
        self.u, self.x = (
            np.array(table.vector("input")),
            np.array(self.made.start(np.array(table.start), self.k)).ravel(),
        )
        self.n = len(self.made.columns.coordinates) + self.made.modal.stop - self.made.modal.start
        self.modal = slice(len(self.made.columns.coordinates), self.n)

    def moved(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        """``x`` after a small ``step`` (n): quaternions are turned about outboard axes, all else is added to."""
        x, speeds = x.copy(), step[: self.modal.start]
        for place in set(self.made.ports.quaternions):
            turn = speeds[np.array(self.made.columns.coordinates) == place]
            x[place : place + 4] = multiplied(x[place : place + 4], turn)
        for place, motion, part in zip(self.made.columns.coordinates, self.made.columns.motions, speeds, strict=True):
            x[place] += part if motion != QUATERNION else 0.0
        x[self.made.modal] += step[self.modal]
        return x

    def with_speeds(self, x: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        x = x.copy()
        x[self.made.n_q : self.made.modal.start] = speeds[: self.modal.start]
        x[self.made.modal.stop : 2 * self.made.modal.stop - self.made.modal.start] = speeds[self.modal]
        return x

    def __call__(self, x: np.ndarray) -> list[np.ndarray]:
        assert self.made.gaps is not None
        errors, _, cosines, lessening = (np.array(part).ravel() for part in self.made.gaps(x, self.u, self.k))
        return [errors, lessening, cosines]


def multiplied(p: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """The quaternion p and then a rotation vector about outboard axes."""
    half = turn / 2
    w, v = math.cos(np.linalg.norm(half)), half * np.sinc(np.linalg.norm(half) / np.pi)
    return np.concatenate([[p[0] * w - p[1:] @ v], p[0] * v + w * p[1:] + np.cross(p[1:], v)])


def small(rng: np.random.Generator, at: Approach) -> np.ndarray:
    """A step within the reach of the series of nodes' turns."""
    step = rng.normal(size=at.n)
    step[at.modal] *= 0.1
    return step


def turning(model: Model) -> list[np.ndarray]:
    """For each loop its rows that hold a turn with others."""
    rows = np.cumsum([0, *(loop.size for loop in model.loops)])
    counts = [sum(row <= 3 for row in loop.rows) for loop in model.loops]
    return [np.arange(at, at + n) for at, n in zip(rows, counts, strict=False) if n > 1]


@pytest.mark.parametrize("seed", range(8))
def test_rates_are_derivatives_of_errors(seed: int) -> None:
    """Of all rows but those that hold a turn: these have angular velocities, which lessen the whole angle."""
    model, rng = random_model(seed), np.random.default_rng(seed)
    at, h = Approach(model), 1e-5
    x = at.moved(at.x, small(rng, at))
    turns = turning(model)
    others = np.setdiff1d(np.arange(len(at(x)[0])), np.concatenate(turns))
    for k in range(at.n):
        step = np.eye(at.n)[k]
        rate = at(at.with_speeds(x, step))[1]
        slope = (at(at.moved(x, h * step))[0] - at(at.moved(x, -h * step))[0]) / (2 * h)
        assert rate[others] == pytest.approx(slope[others], abs=2e-8)
        for rows in turns:
            error = at(x)[0][rows]
            along = error @ slope[rows] / np.linalg.norm(error)
            assert error @ rate[rows] / np.linalg.norm(error) == pytest.approx(along, abs=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_errors_are_whole_angles(seed: int) -> None:
    """As the dense equations have them; the cosines are of half the angle, of lines at a right angle of the error."""
    model, rng = random_model(seed), np.random.default_rng(seed)
    at, reader, p = Approach(model), Reader(model), np.array(ports(model).vector("parameter"))
    x = at.moved(at.x, small(rng, at))
    errors, _, cosines = at(x)
    there = kinematics(Columns(model, reader.tree), reader.parts(x, at.u, p))
    begin = 0
    for loop, closure in zip(model.loops, closures(reader, there, at.u, p), strict=True):
        rows = slice(begin, begin + loop.size)
        begin = rows.stop
        assert errors[rows] == pytest.approx(closure.phi, abs=1e-12)
        turns = [row <= 3 for row in loop.rows]
        angle = np.linalg.norm(closure.phi[: sum(turns)])
        assert cosines[rows] == pytest.approx(math.cos(angle / 2 if sum(turns) > 1 else angle), abs=1e-12)


@pytest.mark.parametrize("rows", [(1, 2, 3), (1, 2), (2, 3)])
@pytest.mark.parametrize("angle", [1e-12, 1e-5, 1.0, 3.0, math.pi - 1e-12, math.pi])
def test_a_turn_of_any_size_has_its_angle(rows: tuple[int, ...], angle: float) -> None:
    """About an axis that the rows hold; at half a turn the direction is one of two."""
    third = 6 - sum(rows) if len(rows) == 2 else 0
    axis = np.array([0.6, -0.8, 0.0] if third in (0, 3) else [0.0, 0.6, -0.8])
    w, (i, j, k) = math.cos(angle / 2), (math.sin(angle / 2) * axis).tolist()
    joint = Joint(to="inertial", spherical=True)
    body = Body(name="b", joint=joint, mass=1.0, inertia=(X, Y, Z))
    loop = Loop(name="l", a=Side(body="inertial"), b=Side(body="b", frame=(w, i, j, k)), rows=rows)
    at = Approach(Model(name="", bodies=(body,), loops=(loop,)))
    error = at(at.x)[0]
    wanted = angle * axis[[row - 1 for row in rows]]
    if angle > 3.1 and error @ wanted < 0:
        wanted = -wanted
    if angle > 3.1 and len(rows) == 2:
        assert np.linalg.norm(error) == pytest.approx(angle, abs=1e-9)
    else:
        assert error == pytest.approx(wanted, rel=1e-9, abs=1e-15)


class TestFourBar:
    def test_nothing_given(self) -> None:
        """All in line, where the joints cannot tell which way to turn."""
        model = four_bar()
        found = assembly(model)
        assert (found.rows, found.rank, found.redundant, found.degrees_of_freedom) == (5, 2, 3, 1)
        assert found.angle > 0.4
        assert found.angle_of.endswith("joint.angle")
        assert (found.distance, found.distance_of) == (0.0, "")

    def test_a_given_angle_stays(self) -> None:
        model = assemble(four_bar('crank.joint.angle = "60 deg"', "crank.joint.rate = 2"))
        a, b, c = (model.initial[f"{name}.joint.angle"][0] for name in ("crank", "coupler", "rocker"))
        assert a == math.radians(60)
        end = np.array([math.cos(a) + 2 * math.cos(a + b), math.sin(a) + 2 * math.sin(a + b)])
        assert end == pytest.approx([2.5 + 1.5 * math.cos(c), 1.5 * math.sin(c)], abs=1e-11)
        u, v, w = (model.initial[f"{name}.joint.rate"][0] for name in ("crank", "coupler", "rocker"))
        assert u == 2.0
        speed = [-u * math.sin(a) - 2 * (u + v) * math.sin(a + b), u * math.cos(a) + 2 * (u + v) * math.cos(a + b)]
        assert speed == pytest.approx([-1.5 * w * math.sin(c), 1.5 * w * math.cos(c)], abs=1e-10)

    def test_closed_once_it_stays_to_the_bit(self) -> None:
        model = assemble(four_bar('crank.joint.angle = "60 deg"', "crank.joint.rate = 2"))
        again = loads(dumps(model))
        assert again == model
        assert assemble(again) is again
        assert assembly(again).angle == 0.0
        assert assembly(again).rank == 2

    def test_given_values_that_are_moved_are_told(self) -> None:
        start = ['crank.joint.angle = "60 deg"', 'coupler.joint.angle = "-41 deg"', 'rocker.joint.angle = "94 deg"']
        told = r"^start value '\w+\.joint\.angle' contradicts the loops and was moved from [-\d.]+ to [-\d.]+ rad to "
        with pytest.warns(StartMovedWarning, match=told) as caught:
            model = assemble(four_bar(*start))
        assert len(caught) == 3
        assert caught[0].filename == __file__
        assert f"{model.initial['crank.joint.angle'][0]:.9g}" in str(caught[0].message)
        assert 0 < assembly(four_bar(*start)).angle < math.radians(2)

    def test_contradicting_values_move_least_by_their_masses(self) -> None:
        """Impulses move them: the change of momenta is the loops' alone."""
        close = assemble(four_bar("crank.joint.angle = 1")).initial
        heavy = FOUR_BAR_FILE.replace("inertia = [0.1, 0.1, 0.1]", "inertia = [1e4, 1e4, 1e4]", 1)
        names = [f"{name}.joint.angle" for name in ("crank", "coupler", "rocker")]
        start = "\n".join(f"{name} = {close[name][0] + 1e-4 * k!r}" for k, name in enumerate(names))
        for text, part in ((FOUR_BAR_FILE, (0.01, 1.0)), (heavy, (0.0, 1e-4))):
            with pytest.warns(StartMovedWarning):
                model = assemble(loads(f"{text}[initial]\n{start}"))
            moves = [model.initial[name][0] - close[name][0] - 1e-4 * k for k, name in enumerate(names)]
            assert part[0] < abs(moves[0]) / np.abs(moves).max() <= part[1]

    def test_prescribed_degrees_of_freedom_do_not_move(self) -> None:
        driven = FOUR_BAR_FILE.replace("[0, 0, 1] }", '[0, 0, 1], motion = "prescribed" }', 1)
        model = assemble(loads(driven + '[initial]\ncrank.joint.angle = "80 deg"'))
        assert model.initial["crank.joint.angle"] == (math.radians(80),)
        assert assembly(model).degrees_of_freedom == 0
        pulled = loads(driven + '[initial]\n"coupler.joint.angle" = 1\n"rocker.joint.angle" = 2')
        with pytest.warns(StartMovedWarning):
            assert "crank.joint.angle" not in assemble(pulled).initial

    @pytest.mark.parametrize("switch", ["prescribed", "locked"])
    def test_nor_do_those_that_inputs_hold(self, switch: str) -> None:
        model = loads(FOUR_BAR_FILE.replace("[0, 0, 1] }", '[0, 0, 1], motion = "switchable" }', 1))
        point = operating_point(model, equations(model), {f"crank.joint.{switch}": True})
        assert point["crank.joint.angle"] == 0.0
        assert point["rocker.joint.angle"] != 0.0

    def test_speeds_against_prescribed_ones(self) -> None:
        text = FOUR_BAR_FILE.replace("[0, 0, 1] }", '[0, 0, 1], motion = "prescribed" }', 1)
        text = text.replace("at = [2.5, 0, 0] }", 'at = [2.5, 0, 0], motion = "prescribed" }')
        start = assemble(four_bar('crank.joint.angle = "60 deg"')).initial
        given = "\n".join(f"{name} = {value[0]!r}" for name, value in start.items())
        assemble(loads(f"{text}[initial]\n{given}"))
        with pytest.raises(ModelError, match=r"loop\.closure: its places part at .* m/s at the start"):
            assemble(loads(f"{text}[initial]\n{given}\ncrank.joint.rate = 1"))

    def test_given_rates_that_contradict_stop_as_a_latch_stops_them(self) -> None:
        model = four_bar("crank.joint.angle = 1", "crank.joint.rate = 2", "rocker.joint.rate = 5")
        with pytest.warns(StartMovedWarning, match=r"\w+\.joint\.rate' .* from [25] to") as caught:
            closed = assemble(model)
        assert len(caught) == 2
        assert closed.initial["crank.joint.angle"] == (1.0,)
        assert np.abs(errors(closed)).max() < 1e-11

    def test_an_open_loop_is_left_alone(self) -> None:
        model = assemble(four_bar("crank.joint.angle = 0.3", loop="closed = false\nswitchable = true"))
        assert dict(model.initial) == {"crank.joint.angle": (0.3,)}
        assert assembly(model).rows == 0

    def test_guesses_say_the_branch_and_move(self) -> None:
        """The crank is given, the rocker's hint says which of two ways the linkage closes."""
        for hint, sign in ((1.0, 1.0), (-2.5, -1.0)):
            model = loads(f"{FOUR_BAR_FILE}[initial]\ncrank.joint.angle = 1\n[guess]\nrocker.joint.angle = {hint}")
            assert loads(dumps(model)) == model
            closed = assemble(model)
            assert closed.initial["crank.joint.angle"] == (1.0,)
            assert np.sign(closed.initial["rocker.joint.angle"][0]) == sign
            assert dict(closed.guess) == {}
            assert np.abs(errors(closed)).max() < 1e-11

    def test_a_guess_that_closes_stays(self) -> None:
        model = loads(f"{FOUR_BAR_FILE}[guess]\ncrank.joint.angle = 1\ncrank.joint.rate = 2")
        closed = assemble(model)
        assert dict(closed.guess) == dict(model.guess)
        assert closed.initial.keys() == {
            f"{name}.joint.{of}" for name in ("coupler", "rocker") for of in ("angle", "rate")
        }


SLIDER = """
mbdy = 1
[body.l1]
mass = 1
com = [0.25, 0, 0]
inertia = [0.01, 0.02, 0.02]
joint = { to = "inertial", kind = "revolute", axis = [0, 0, 1] }
[body.l2]
mass = 1
com = [0.25, 0, 0]
inertia = [0.01, 0.02, 0.02]
joint = { to = "l1", kind = "revolute", axis = [0, 0, 1], at = [0.5, 0, 0] }
node.e = { at = [0.5, 0, 0] }
[body.sl]
mass = 1
inertia = [0.1, 0.1, 0.1]
joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0] }
[loop.p]
a = "l2.e"
b = "sl"
kind = "pin"
axis = [0, 0, 1]
"""
"""Two bars and a slider, 0.4 m away where the bars are at -1.1593 and 2.3186 rad."""
GUESSES = ("l1.joint.angle = -1.0", "l2.joint.angle = 2.0", "l1.joint.angle = -1.0\nl2.joint.angle = 2.0")


@pytest.mark.parametrize("guess", GUESSES)
def test_an_exact_closing_near_the_guess(guess: str) -> None:
    """Behind each door: what is given stays to the bit, in the file or set."""
    half, names = math.acos(0.4), ["l1.joint.angle", "l2.joint.angle", "sl.joint.displacement"]
    wanted, place = pytest.approx((-half, 2 * half, 0.4), abs=1e-10), {"sl.joint.displacement": 0.4}
    filed = loads(f"{SLIDER}[initial]\nsl.joint.displacement = 0.4\n[guess]\n{guess}")
    hinted = loads(f"{SLIDER}[guess]\n{guess}")
    assert tuple(assemble(filed).initial[name][0] for name in names) == wanted
    set_plant = Plant(hinted)
    set_plant["sl.joint.displacement"] = 0.4
    for start in (
        Plant(filed),
        set_plant,
        linearize(hinted, at=place).state_values,
        trim(hinted, at=place, hold=list(place), free=["l1.joint.torque", "sl.joint.force"]),
    ):
        assert tuple(float(start[name]) for name in names) == wanted
        assert float(start[names[2]]) == 0.4


@pytest.mark.parametrize("switch", ["", "switchable = true", "switchable = true\nclosed = false"])
def test_a_loop_that_is_closed_as_it_stands_between_fixed_bodies_is_left_out(switch: str) -> None:
    ground = '[body.ground]\nmass = 1\njoint = { to = "inertial", kind = "fixed", at = [2.5, 0, 0] }\n'
    stay = '[loop.stay]\na = "inertial"\nat_a = [2.5, 0, 1]\nb = "ground"\nat_b = [0, 0, 1]\nkind = "weld"\n'
    stay += f"{switch}\n"
    with pytest.warns(
        ModelWarning, match=r"loop\.stay: a and b are fixed to each other, through inertial space, .* left out"
    ):
        model = loads(FOUR_BAR_FILE + ground + stay)
    assert [loop.name for loop in model.loops] == ["closure"]


LEVERS = {1e-3: 1e-9, 1e-4: 1e-7, 1e-5: 1e-5}
"""[m] Distance of two ball loops, and how exact an acceleration is: rounding grows with the inverse square."""


@pytest.mark.parametrize("lever", LEVERS)
def test_two_balls_close_together_are_a_hinge(lever: float) -> None:
    text = """
    mbdy = 1
    system.gravity = [0.5, -9.81, 3]
    [body.arm]
    mass = 2
    com = [0.5, 0, 0]
    inertia = [0.01, 0.2, 0.2]
    joint = {{ to = "inertial", kind = "revolute", axis = [0, 0, 1] }}
    [body.load]
    mass = 3
    com = [0.4, 0.1, 0.2]
    inertia = [0.02, 0.3, 0.3]
    joint = {{ {} }}
    """
    hinged = Plant(loads(text.format('to = "arm", kind = "revolute", axis = [0, 1, 0], at = [1, 0, 0]')))
    balls = "".join(
        f'[loop.{name}]\na = "arm"\nat_a = [1, {at}, 0]\nb = "load"\nat_b = [0, {at}, 0]\nkind = "ball"\n'
        for name, at in (("one", -lever / 2), ("two", lever / 2))
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        looped = Plant(
            loads(text.format('to = "inertial", kind = "free"') + balls + "[initial]\nload.position = [1, 0, 0]")
        )
    assert [str(one.message).partition(":")[0] for one in told] == ["loop.one"] * (lever < 1e-4)
    rates = [
        plant.derivatives(0.0, plant.state, plant.inputs.values)[plant.state_names.index("arm.joint.rate")]
        for plant in (hinged, looped)
    ]
    assert rates[1] == pytest.approx(rates[0], rel=LEVERS[lever])


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ("at_a = [9, 0, 0]", r"cannot be closed: 6 m of error is left"),
        ("at_a = [0, 0, 0.1]", r"contradict each other or the joints: 0\.1 m of error is left"),
        ("axis_b = [0, 0, -1]", "the mirrored position"),
        ("axis_b = [0, 0.1, 1]", r"contradict .*: 5\.711 deg of error"),
    ],
)
def test_what_cannot_be_closed(loop: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as raised:
        assemble(four_bar(loop=loop))
    (fault,) = raised.value.faults
    assert fault.path == "loop.closure"
    assert fault.remedy


def test_reading_compiles_and_closes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "bar.toml"
    path.write_text(FOUR_BAR_FILE)
    monkeypatch.setenv("MBDY_CC", "none")
    compiler.cache_clear()
    try:
        model = load(path)
        assert dict(model.initial) == {}
        with pytest.raises(CompilerError, match="MBDY_CC"):
            assemble(model)
    finally:
        compiler.cache_clear()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["weld", "pin", "ball", "slider", "universal"]))
def test_six_hinges_close_any_kind(seed: int, kind: str) -> None:
    """A chain of nine hinges, whose end is held where some other start of its own has it."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(9):
        joint = Joint(
            to=f"b{k - 1}" if k else "inertial", rotations=(vector(rng),), at=vector(rng, 0.3), frame=turn(rng)
        )
        bodies.append(Body(name=f"b{k}", joint=joint, mass=1.0, inertia=(X, Y, Z)))
    angles = {f"b{k}.joint.angle": (float(rng.normal(scale=0.3)),) for k in range(9)}
    x, y, z, *q = pose(Model(name="", bodies=tuple(bodies), initial=angles), "b8")
    if abs(q[0]) < 0.1:
        return
    there = Joint(to="inertial", kind="fixed", at=(x, y, z), frame=(q[0], q[1], q[2], q[3]))
    bodies.append(Body(name="there", joint=there, mass=1.0, inertia=(X, Y, Z)))
    loop = Loop(name="end", a=Side(body="b8"), b=Side(body="there"), rows=ROWS[kind], kind=kind)
    model = assemble(Model(name="", bodies=tuple(bodies), loops=(loop,)))
    assert np.abs(errors(model)).max() < 1e-10
    assert assembly(model).redundant == 0


def pose(model: Model, body: str) -> list[float]:
    """Place and attitude of a body at the start."""
    made = equations(model)
    k = made.prepare(np.array(made.ports.vector("parameter")))
    u = np.array(made.ports.vector("input"))
    y = np.array(made.outputs(made.start(np.array(made.ports.start), k), u, k)).ravel()
    return [*y[made.ports.by_name[f"{body}.position"].places], *y[made.ports.by_name[f"{body}.attitude"].places]]


def test_modes_move_where_nothing_else_can() -> None:
    text = """
    mbdy = 1
    [body.boom]
    mass = 2
    com = [1, 0, 0]
    inertia = [0.1, 1, 1]
    joint = { to = "inertial", kind = "fixed" }
    flex = { frequencies = ["1 Hz"], coupling = [[0], [0], [0.5], [0], [0.6], [0]] }
    node.tip = { at = [2, 0, 0], shape = [[0], [0], [0.5], [0], [1], [0]] }
    [loop.stay]
    a = "inertial"
    at_a = [2, 0.1, 0]
    b = "boom.tip"
    rows = [5]
    """
    model = assemble(loads(text))
    assert model.initial["boom.flex.displacement"] == (pytest.approx(0.1, abs=1e-12),)
    assert assembly(model).degrees_of_freedom == 0


def test_modes_take_the_least_strain_energy() -> None:
    text = """
    mbdy = 1
    [body.boom]
    joint = { to = "inertial", kind = "fixed" }
    [body.boom.flex.beam]
    length = 3
    mass_per_length = 0.5
    bending_stiffness = 50
    modes = [4, 0]
    [loop.stay]
    a = "inertial"
    at_a = [3, 0.1, 0]
    b = "boom.tip"
    rows = [5]
    """
    model = assemble(loads(text))
    boom = model.body("boom")
    assert boom.flex is not None
    eta, stiffness = np.array(model.initial["boom.flex.displacement"]), np.array(boom.flex.stiffness)
    shape = np.array(boom.nodes["tip"].shape)[4]
    static = np.linalg.solve(stiffness, shape)
    assert eta == pytest.approx(0.1 * static / (shape @ static), rel=1e-9)
    assert eta @ stiffness @ eta / 2 == pytest.approx(0.5 * 3 * 50 / 3**3 * 0.1**2, rel=0.01)


@pytest.mark.parametrize("distance", [100.0, 1e3, 1e6])
@pytest.mark.parametrize("at", ["[0, 0, 0]", "[1, 0.3, 0]"])
def test_a_body_far_from_its_anchor_gets_there(distance: float, at: str) -> None:
    text = f"""
    mbdy = 1
    [body.bus]
    mass = 1
    inertia = [1, 1, 1]
    joint = {{ to = "inertial", kind = "free" }}
    [loop.anchor]
    a = "inertial"
    b = "bus"
    at_b = {at}
    kind = "ball"
    [initial]
    bus.position = [{distance}, 5, 0]
    """
    with pytest.warns(StartMovedWarning, match=r"'bus.position\[\d\]' contradicts the loops"):
        model = assemble(loads(text))
    assert np.abs(errors(model)).max() < 1e-10


def test_what_must_stay_stays_or_is_told() -> None:
    model = assemble(four_bar("crank.joint.angle = 1", "crank.joint.rate = 2"))
    turned = replace(model, initial={**model.initial, "crank.joint.angle": (1.5,)})
    found, moves = begun(turned, {"crank.joint.angle", "rocker.joint.rate"})
    assert moves == []
    assert found["crank.joint.angle"] == 1.5
    assert tuple(found["rocker.joint.rate"]) == model.initial["rocker.joint.rate"]
    assert found["crank.joint.rate"] != 2.0
    closed = replace(model, initial={name: tuple(value.tolist()) for name, value in found.items()})
    assert assemble(closed) is closed
    _, moves = begun(turned, {"crank.joint.angle", "rocker.joint.angle"})
    assert len(moves) == 2
    opened = replace(model, loops=(replace(model.loops[0], closed=False, switchable=True),))
    assert begun(opened, set(model.initial))[1] == []
    assert assemble(opened) is opened


def test_elements_of_vectors_and_quaternions_stay() -> None:
    text = FOUR_BAR_FILE.replace('"inertial"', '"base"')
    text += '[body.base]\nmass = 9\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "free" }\n'
    text += '[loop.anchor]\na = "inertial"\nb = "base"\nat_b = [1, 0, 0]\nkind = "ball"\n'
    model = assemble(loads(text + "[initial]\ncrank.joint.angle = 1"))
    start = {**model.initial, "base.position": (0.3, -0.2, 0.1)}
    found, moves = begun(replace(model, initial=start), {"base.position[2]"})
    assert moves == []
    assert found["base.position"][1] == -0.2
    assert found["base.position"][0] != 0.3
    start["base.attitude"] = (0.9, 0.0, 0.0, math.sqrt(0.19))
    found, moves = begun(replace(model, initial=start), {"base.attitude[1]"})
    assert moves == []
    assert tuple(found["base.attitude"]) == start["base.attitude"]


def test_what_does_not_close_loops_stays() -> None:
    """Speeds of wheels, the place of a root that no loop ties, though joints move the mass centre."""
    text = FOUR_BAR_FILE.replace('"inertial"', '"base"')
    text += '[body.base]\nmass = 9\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "attitude" }\n'
    text += "[body.base.wheel.w]\naxis = [0, 0, 1]\ninertia = 0.1\n"
    start = "base.position = [1, 2, 3]\nbase.w.speed = 100\nbase.omega = [0, 0, 1]\ncrank.joint.angle = 1\n"
    model = loads(f"{text}[initial]\n{start}crank.joint.rate = 2\nrocker.joint.rate = 2")
    made = equations(model)
    with pytest.warns(StartMovedWarning):
        point = operating_point(model, made)
    y = np.array(made.outputs(point.x, point.u, made.prepare(point.p))).ravel()
    names = made.ports.by_name
    assert y[names["base.position"].places] == pytest.approx([1, 2, 3], abs=1e-15)
    assert y[names["base.w.speed"].places] == pytest.approx(100, abs=1e-12)


def test_a_tree_far_from_the_inertial_origin_closes_as_well() -> None:
    text = FOUR_BAR_FILE.replace('to = "inertial"', 'to = "base"')
    text += '[body.base]\nmass = 9\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "free" }\n'
    far = assemble(loads(text + "[initial]\nbase.position = [7e6, -3e6, 1e6]\ncrank.joint.angle = 1"))
    near = assemble(loads(text + "[initial]\ncrank.joint.angle = 1"))
    assert far.initial["rocker.joint.angle"] == near.initial["rocker.joint.angle"]
    assert far.initial["base.position"] == (7e6, -3e6, 1e6)


def test_models_made_in_python_keep_the_rules_open_or_closed() -> None:
    model = four_bar("crank.joint.angle = 1")
    keep_rules(model)
    keep_rules(assemble(model))
    with pytest.raises(ModelError, match="cannot be closed"):
        assemble(replace(model, loops=(replace(model.loops[0], a=Side(body="coupler", at=(9.0, 0.0, 0.0))),)))
    odd = replace(model.loops[0], rows=(4, 5))
    with pytest.raises(ModelError, match="these rows make no loop of kind pin"):
        keep_rules(replace(model, loops=(odd,)))


def test_models_of_a_file_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(rules, "tables_of", lambda model: written.append(model) or write.tables_of(model))
    model = four_bar("crank.joint.angle = 1")
    changed = replace(model, name="copy")
    for each in (model, changed, changed, copy(model)):
        keep_rules(each)
    assert [each.name for each in written] == ["copy", model.name]


def test_the_fastest_mode_feels_what_it_hangs_on() -> None:
    """Two masses of a spring: held it swings with its own frequency, on a light body faster."""
    text = """
    mbdy = 1
    [body.bus]
    mass = 3
    inertia = [1, 1, 1]
    joint = { to = "inertial", kind = "prismatic", axis = [1, 0, 0] }
    [body.slug]
    mass = 1
    joint = { to = "bus", kind = "fixed" }
    flex = { frequencies = ["2 rad/s"], coupling = [[0], [0], [0], [1], [0], [0]] }
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        found = fastest_mode(loads(text))
    assert found is not None
    assert (found.body, found.mode) == ("slug", 1)
    assert found.frequency == pytest.approx(2 * math.sqrt(4 / 3))
    assert fastest_mode(four_bar()) is None


@pytest.mark.parametrize(("stiffness", "mode"), [(40.0, 1), (4e6, None)])
def test_the_fastest_mode_is_that_of_the_linear_system_with_springs(stiffness: float, mode: int | None) -> None:
    text = f"""
    mbdy = 1
    [ports]
    inputs = ["bus.torque"]
    [body.bus]
    mass = 50
    inertia = [5, 6, 7]
    joint = {{ to = "inertial", kind = "free" }}
    [body.boom]
    joint = {{ to = "bus", kind = "revolute", axis = [0, 0, 1], at = [0.3, 0, 0], stiffness = {stiffness} }}
    flex.beam = {{ length = 2, mass_per_length = 0.5, bending_stiffness = 1000, modes = [2, 0], damping_ratio = 0 }}
    [body.ball]
    mass = 2
    com = [0, 0, 0.1]
    inertia = [0.1, 0.2, 0.3]
    joint = {{ to = "boom.tip", kind = "spherical" }}
    """
    model = loads(text)
    found = fastest_mode(model)
    assert found is not None
    assert (found.body, found.mode) == ("boom", mode)
    assert found.frequency == pytest.approx(abs(fastest(linearize(model))), rel=1e-7)


@pytest.mark.parametrize("stiffness", ["[0, 0]", "[-1, 0]", "[-1, -2]"])
@pytest.mark.parametrize("kind", ["fixed", "free"])
def test_no_mode_swings_without_stiffness(stiffness: str, kind: str) -> None:
    text = f"""
    mbdy = 1
    [body.bus]
    mass = 3
    inertia = [1, 1, 1]
    joint = {{ to = "inertial", kind = "{kind}" }}
    [body.boom]
    mass = 1
    inertia = [1, 1, 1]
    joint = {{ to = "bus", kind = "fixed" }}
    flex = {{ mass = [1, 1], stiffness = {stiffness}, coupling = [{", ".join(["[0, 0]"] * 6)}] }}
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        assert fastest_mode(loads(text)) is None
