"""Loops that are closed at the start: what moves, what stays, what is told, and the kinematics that it rests on."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mbdy.engine.assembly.kinematics import Mechanism, closure, exponential
from mbdy.engine.assembly.start import assemble, assembled, assembly, kept
from mbdy.engine.files.loops import ROWS
from mbdy.engine.files.read import dumps, loads
from mbdy.engine.files.rules import keep_rules
from mbdy.engine.linear.fastest_mode import fastest_mode
from mbdy.engine.model.faults import Findings, ModelError, ModelWarning
from mbdy.engine.model.ports import ports
from mbdy.engine.model.system import Body, Flex, Joint, Loop, Model, Node, Side
from mbdy.engine.order_n.equations import equations
from mechanisms import FOUR_BAR_FILE

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def four_bar(*start: str, loop: str = "") -> Model:
    return loads(FOUR_BAR_FILE + loop + "\n[initial]\n" + "\n".join(start))


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


@pytest.mark.parametrize("seed", range(8))
def test_rates_are_derivatives_of_residuals(seed: int) -> None:
    model, rng = random_model(seed), np.random.default_rng(seed)
    mechanism = Mechanism(model)
    n, h = len(mechanism.names), 1e-5
    state = mechanism.moved(mechanism.start(model), rng.normal(size=n))
    closures = mechanism.closures(state)
    for k in range(n):
        step = h * np.eye(n)[k]
        ahead, behind = (mechanism.closures(mechanism.moved(state, sign * step)) for sign in (1, -1))
        for c, after, before in zip(closures, ahead, behind, strict=True):
            assert c.rate[:, k] == pytest.approx((after.residual - before.residual) / (2 * h), abs=2e-8)


@pytest.mark.parametrize("seed", range(2))
def test_the_equations_see_the_same_loops(seed: int) -> None:
    """Residuals and rates of the compiled equations, which share no code with these."""
    model, rng = random_model(seed), np.random.default_rng(seed)
    mechanism = Mechanism(model)
    step = rng.normal(size=len(mechanism.names))
    step[[name.endswith(".flex.displacement") for name in mechanism.names]] *= 0.1  # turns within the series' reach
    state = mechanism.moved(mechanism.start(model), step)
    speeds = rng.normal(size=len(mechanism.names))
    initial = {name: tuple(value.tolist()) for name, value in state.items()}
    for name in mechanism.rates:
        initial[name] = tuple(speeds[[k for k, own in enumerate(mechanism.rates) if own == name]].tolist())
    model = replace(model, initial=initial)
    table, made = ports(model), equations(model)
    k = made.prepare(np.array(table.vector("parameter")))
    x = made.start(np.array(table.start), k)
    y = np.array(made.outputs(x, np.array(table.vector("input")), k)).ravel()
    for loop, found in zip(model.loops, mechanism.closures(mechanism.start(model)), strict=True):
        stem = f"loop.{loop.name}"
        assert y[table.by_name[f"{stem}.residual"].places] == pytest.approx(found.residual, abs=1e-11)
        rates = y[table.by_name[f"{stem}.residual_rate"].places]
        assert rates == pytest.approx(found.rate @ speeds, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_steps_and_rates_agree_at_closure(seed: int) -> None:
    """Where b's frame is turned a little from a's, what is solved for is what is held, to the first order."""
    model = random_model(seed)
    rng = np.random.default_rng(seed)
    mechanism = Mechanism(model)
    frames = mechanism.frames(mechanism.start(model), mechanism.tree.outward)
    for loop in model.loops:
        if loop.distance is None:
            a = frames[3]
            b = replace(frames[2], axes=a.axes @ exponential(1e-4 * rng.normal(size=3)), position=a.position)
            found = closure(loop, a, b)
            assert found.error == pytest.approx(found.residual, abs=1e-11)
            assert found.descent == pytest.approx(found.rate, abs=2e-3)
            assert not found.mirrored


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
        model = four_bar('crank.joint.angle = "60 deg"', "crank.joint.rate = 2")
        a, b, c = (model.initial[f"{name}.joint.angle"][0] for name in ("crank", "coupler", "rocker"))
        assert a == math.radians(60)
        end = np.array([math.cos(a) + 2 * math.cos(a + b), math.sin(a) + 2 * math.sin(a + b)])
        assert end == pytest.approx([2.5 + 1.5 * math.cos(c), 1.5 * math.sin(c)], abs=1e-11)
        u, v, w = (model.initial[f"{name}.joint.rate"][0] for name in ("crank", "coupler", "rocker"))
        assert u == 2.0
        speed = [-u * math.sin(a) - 2 * (u + v) * math.sin(a + b), u * math.cos(a) + 2 * (u + v) * math.cos(a + b)]
        assert speed == pytest.approx([-1.5 * w * math.sin(c), 1.5 * w * math.cos(c)], abs=1e-10)

    def test_closed_once_it_stays_to_the_bit(self) -> None:
        model = four_bar('crank.joint.angle = "60 deg"', "crank.joint.rate = 2")
        again = loads(dumps(model))
        assert again == model
        assert assembly(again).angle == 0.0
        assert assembly(again).rank == 2

    def test_given_values_that_are_moved_are_told(self) -> None:
        start = ['crank.joint.angle = "60 deg"', 'coupler.joint.angle = "-41 deg"', 'rocker.joint.angle = "94 deg"']
        with pytest.warns(ModelWarning, match="does not agree with the loops") as caught:
            model = four_bar(*start)
        assert len(caught) == 3
        assert 0 < assembly(model).angle < math.radians(2)

    def test_prescribed_degrees_of_freedom_do_not_move(self) -> None:
        driven = FOUR_BAR_FILE.replace("[0, 0, 1] }", '[0, 0, 1], motion = "prescribed" }', 1)
        model = loads(driven + '[initial]\ncrank.joint.angle = "80 deg"')
        assert model.initial["crank.joint.angle"] == (math.radians(80),)
        assert assembly(model).degrees_of_freedom == 0

    def test_speeds_against_prescribed_ones(self) -> None:
        text = FOUR_BAR_FILE.replace("[0, 0, 1] }", '[0, 0, 1], motion = "prescribed" }', 1)
        text = text.replace("at = [2.5, 0, 0] }", 'at = [2.5, 0, 0], motion = "prescribed" }')
        start = four_bar('crank.joint.angle = "60 deg"').initial
        given = "\n".join(f"{name} = {value[0]!r}" for name, value in start.items())
        loads(f"{text}[initial]\n{given}")
        with pytest.raises(ModelError, match=r"loop\.closure: its places part at .* m/s at the start"):
            loads(f"{text}[initial]\n{given}\ncrank.joint.rate = 1")

    def test_an_open_loop_is_left_alone(self) -> None:
        model = four_bar("crank.joint.angle = 0.3", loop="closed = false\nswitchable = true")
        assert dict(model.initial) == {"crank.joint.angle": (0.3,)}
        assert assembly(model).rows == 0


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
    with pytest.raises(ModelError, match=words):
        four_bar(loop=loop)


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
    there = Loop(name="end", a=Side(body="b8"), b=Side(body="inertial"), rows=ROWS[kind], kind=kind)
    mechanism = Mechanism(Model(name="", bodies=tuple(bodies), loops=(there,)))
    state = mechanism.moved(mechanism.start(Model(name="", bodies=tuple(bodies))), rng.normal(scale=0.3, size=9))
    end = mechanism.frames(state, range(9))[8]
    w = math.sqrt(max(0.0, 1 + np.trace(end.axes))) / 2
    skew = (end.axes - end.axes.T) / (4 * max(w, 1e-3))
    q = (w, float(skew[2, 1]), float(skew[0, 2]), float(skew[1, 0]))
    x, y, z = end.position.tolist()
    if w < 0.1:
        return
    loop = replace(there, b=Side(body="inertial", at=(x, y, z), frame=q))
    findings = Findings()
    model = assembled(Model(name="", bodies=tuple(bodies), loops=(loop,)), findings)
    assert not findings.faults
    found = Mechanism(model)
    (closed,) = found.closures(found.start(model))
    assert np.abs(closed.residual).max() < 1e-10
    assert not closed.mirrored
    assert assembly(model).redundant == 0


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
    model = loads(text)
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
    model = loads(text)
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
    with pytest.warns(ModelWarning, match="does not agree with the loops"):
        model = loads(text)
    mechanism = Mechanism(model)
    (found,) = mechanism.closures(mechanism.start(model))
    assert np.abs(found.residual).max() < 1e-10


def test_what_must_stay_stays_or_nothing_is_found() -> None:
    model = four_bar("crank.joint.angle = 1", "crank.joint.rate = 2")
    turned = replace(model, initial={**model.initial, "crank.joint.angle": (1.5,)})
    found = kept(turned, {"crank.joint.angle", "rocker.joint.rate"})
    assert found is not None
    assert found.initial["crank.joint.angle"] == (1.5,)
    assert found.initial["rocker.joint.rate"] == model.initial["rocker.joint.rate"]
    assert found.initial["crank.joint.rate"] != (2.0,)
    keep_rules(found)
    assert kept(turned, {"crank.joint.angle", "rocker.joint.angle"}) is None
    opened = replace(model, loops=(replace(model.loops[0], closed=False, switchable=True),))
    assert kept(opened, set(model.initial)) is opened


def test_elements_of_vectors_and_quaternions_stay() -> None:
    text = FOUR_BAR_FILE.replace('"inertial"', '"base"')
    text += '[body.base]\nmass = 9\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "free" }\n'
    text += '[loop.anchor]\na = "inertial"\nb = "base"\nat_b = [1, 0, 0]\nkind = "ball"\n'
    model = loads(text + "[initial]\ncrank.joint.angle = 1")
    start = {**model.initial, "base.position": (0.3, -0.2, 0.1)}
    found = kept(replace(model, initial=start), {"base.position[2]"})
    assert found is not None
    assert found.initial["base.position"][1] == -0.2
    assert found.initial["base.position"][0] != 0.3
    start["base.attitude"] = (0.9, 0.0, 0.0, math.sqrt(0.19))
    found = kept(replace(model, initial=start), {"base.attitude[1]"})
    assert found is not None
    assert found.initial["base.attitude"] == start["base.attitude"]


def test_a_tree_far_from_the_inertial_origin_closes_as_well() -> None:
    text = FOUR_BAR_FILE.replace('to = "inertial"', 'to = "base"')
    text += '[body.base]\nmass = 9\ninertia = [1, 1, 1]\njoint = { to = "inertial", kind = "free" }\n'
    far = loads(text + "[initial]\nbase.position = [7e6, -3e6, 1e6]\ncrank.joint.angle = 1")
    near = loads(text + "[initial]\ncrank.joint.angle = 1")
    assert far.initial["rocker.joint.angle"] == near.initial["rocker.joint.angle"]
    assert far.initial["base.position"] == (7e6, -3e6, 1e6)


def test_models_made_in_python_are_held_to_closure() -> None:
    closed = four_bar("crank.joint.angle = 1")
    keep_rules(replace(closed, name="copy"))
    open_ = replace(closed, initial={"crank.joint.angle": (1.0,)})
    with pytest.raises(ModelError, match="its loops are open at the start"):
        keep_rules(open_)
    keep_rules(assemble(open_))
    with pytest.raises(ModelError, match="cannot be closed"):
        assemble(replace(closed, loops=(replace(closed.loops[0], a=Side(body="coupler", at=(9.0, 0.0, 0.0))),)))
    odd = replace(closed.loops[0], rows=(4, 5))
    with pytest.raises(ModelError, match="these rows make no loop of kind pin"):
        keep_rules(replace(closed, loops=(odd,)))


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
