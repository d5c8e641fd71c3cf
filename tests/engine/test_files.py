"""Good model files: every spelling, what is left out, and the way there and back to the last bit."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bad_models import SIX, bars, beam, boom, bus, hinged, on, on_bus, panel
from mbdy.engine.files.loops import ROWS
from mbdy.engine.files.read import dumps, load, loads, save
from mbdy.engine.flexible.beam import beam as uniform_beam
from mbdy.engine.flexible.sid import write_sid
from mbdy.engine.model.faults import ModelError, ModelWarning
from mbdy.engine.model.rotations import across as plane_axes
from mbdy.engine.model.system import IDENTITY, INERTIAL, Body, Flex, Joint, Loop, Model, Node, Side, Wheel

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
HALF = math.sqrt(0.5)

SATELLITE = """
mbdy = 1
name = "two-panel satellite"
[system]
gravity = [0, 0, "-9.81 m/s^2"]
[body.panel]
mass = 12
com = [0, 1.1, 0]
inertia = [9.8, 0.4, 10.1]
[body.panel.joint]
to = "bus"
kind = "revolute"
axis = [0, 1, 0]
at = [0, "60 cm", 0]
frame = { sequence = "zyx", angles = ["90 deg", 0, 0] }
stiffness = "40 N*m/rad"
damping = 0.8
rest = "1 deg"
motion = "switchable"
[body.bus]
mass = "500 kg"
com = [0, 0, 0.1]
inertia = [[410, 0, 0], [0, 380, 14], [0, 14, 300]]
joint = { to = "inertial", kind = "free" }
[body.bus.wheel.x]
axis = [2, 0, 0]
inertia = 0.05
[body.bus.node.star_tracker]
at = [0.2, 0, 0.9]
[initial]
bus.omega = ["1 deg/s", 0, 0]
panel.joint.angle = "30 deg"
bus.x.speed = "1000 rpm"
"""


def joint(*lines: str) -> Joint:
    """The joint of a panel on a bus that ``lines`` spell."""
    return loads(panel(*lines)).body("panel").joint


def test_everything_in_a_file() -> None:
    model = loads(SATELLITE, source="satellite.toml")
    assert (model.name, model.source, model.gravity) == ("two-panel satellite", "satellite.toml", (0.0, 0.0, -9.81))
    assert [body.name for body in model.bodies] == ["panel", "bus"]
    assert model.body("bus") == Body(
        name="bus",
        mass=500.0,
        com=(0.0, 0.0, 0.1),
        inertia=((410.0, 0.0, 0.0), (0.0, 380.0, 14.0), (0.0, 14.0, 300.0)),
        joint=Joint(to="inertial", kind="free", translations=(X, Y, Z), spherical=True),
        wheels={"x": Wheel(axis=(2.0, 0.0, 0.0), inertia=0.05)},
        nodes={"star_tracker": Node(at=(0.2, 0.0, 0.9))},
    )
    hinge = model.body("panel").joint
    assert hinge.frame == pytest.approx((HALF, 0.0, 0.0, HALF), abs=1e-15)
    assert (hinge.to, hinge.kind, hinge.rotations, hinge.at) == ("bus", "revolute", (Y,), (0.0, 0.6, 0.0))
    assert (hinge.stiffness, hinge.damping, hinge.motion) == ((40.0,), (0.8,), ("switchable",))
    assert hinge.rest == (math.radians(1),)
    assert model.initial == {
        "bus.omega": (math.radians(1), 0.0, 0.0),
        "panel.joint.angle": (pytest.approx(math.radians(30), rel=1e-15),),
        "bus.x.speed": (pytest.approx(1000 * 2 * math.pi / 60, rel=1e-15),),
    }


def test_what_is_left_out() -> None:
    model = loads("mbdy = 1\n[body.ground]\nmass = 1\njoint = { to = 'inertial', kind = 'fixed' }")
    assert model == Model(
        name="model",
        source="<string>",
        bodies=(Body(name="ground", mass=1.0, joint=Joint(to="inertial", kind="fixed")),),
    )


def test_name_of_a_file_without_one(tmp_path: Path) -> None:
    (tmp_path / "rover.toml").write_bytes(b"\xef\xbb\xbf" + bus().replace("\n", "\r\n").encode())
    model = load(tmp_path / "rover.toml")
    assert (model.name, model.source) == ("rover", str(tmp_path / "rover.toml"))


def test_mirrored_products_within_rounding() -> None:
    third = "[[1, 0.333333333333, 0], [0.3333333333333333, 1, 0], [0, 0, 1]]"
    inertia = loads(bus().replace("[1, 1, 1]", third)).body("bus").inertia
    assert inertia[0][1] == inertia[1][0] == pytest.approx(1 / 3)
    rounded = "[[1, 0.70710678119, 0], [0.70710678119, 0.5, 0], [0, 0, 1.5]]"  # a moment of 0 that comes out as -4e-12
    loads(panel('kind = "fixed"', body=f"mass = 1\ninertia = {rounded}"))


def test_axes_of_extreme_length_are_directions() -> None:
    axes = joint("rotation = [[1e-200, 0, 0], [0, 3e-5, 0], [0, 1e300, 1e300]]").rotations
    assert axes == (X, (0.0, 3e-5, 0.0), (0.0, 1.0, 1.0))


class TestKinds:
    @pytest.mark.parametrize(
        ("lines", "translations", "rotations"),
        [
            (['kind = "fixed"'], (), ()),
            (['kind = "revolute"', "axis = [0, 3, 0]"], (), ((0.0, 3.0, 0.0),)),
            (['kind = "prismatic"', "axis = [0, 1, 0]"], (Y,), ()),
            (['kind = "cylindrical"', "axis = [0, 1, 0]"], (Y,), (Y,)),
            (['kind = "universal"', "axes = [[1, 0, 0], [0, 1, 0]]"], (), (X, Y)),
            (['kind = "gimbal"', "axes = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]"], (), (Z, Y, X)),
            (['kind = "gimbal"', 'sequence = "zyx"'], (), (Z, Y, X)),
            (['kind = "planar"'], (X, Y), (Z,)),
            (['kind = "planar"', "axis = [2, 0, 0]"], (Y, Z), ((2.0, 0.0, 0.0),)),
            (['kind = "planar"', "axis = [0, 1, 0]"], (Z, X), (Y,)),
            (["translation = [[1, 0, 0]]", "rotation = [[0, 1, 0], [0, 0, 1]]"], (X,), (Y, Z)),
            (["translation = [[1, 0, 0]]"], (X,), ()),
            (["rotation = [[1, 0, 0]]"], (), (X,)),
            (['kind = "general"', "rotation = [[1, 0, 0]]"], (), (X,)),
        ],
    )
    def test_axes(self, lines: list[str], translations: tuple, rotations: tuple) -> None:
        spelled = joint(*lines)
        assert (spelled.translations, spelled.rotations, spelled.spherical) == (translations, rotations, False)
        assert spelled.kind == (lines[0].split('"')[1] if lines[0].startswith("kind") else "general")

    def test_spherical(self) -> None:
        assert joint('kind = "spherical"') == Joint(to="bus", kind="spherical", spherical=True)
        expected = Joint(to="bus", translations=(X,), spherical=True)
        assert joint("translation = [[1, 0, 0]]", 'rotation = "spherical"') == expected

    @pytest.mark.parametrize("kind", ["free", "attitude"])
    def test_floating(self, kind: str) -> None:
        root = loads(bus(joint=f'joint = {{ to = "inertial", kind = "{kind}" }}')).body("bus").joint
        assert root == Joint(to="inertial", kind=kind, translations=(X, Y, Z), spherical=True)

    @given(st.tuples(*[st.floats(-9, 9).map(lambda v: round(v, 6))] * 3).filter(any))
    def test_plane(self, normal: tuple[float, float, float]) -> None:
        first, second = map(np.array, plane_axes(normal))
        unit = np.array(normal) / np.linalg.norm(normal)
        triad = np.array([first, second, unit])
        assert triad @ triad.T == pytest.approx(np.eye(3), abs=1e-14)
        assert np.cross(first, second) == pytest.approx(unit, abs=1e-14)
        assert first[(int(np.argmax(np.abs(unit))) + 1) % 3] > 0


class TestValues:
    CYLINDRICAL = ('kind = "cylindrical"', "axis = [0, 0, 1]")

    def test_one_value_serves_all(self) -> None:
        spelled = joint(*self.CYLINDRICAL, "stiffness = 4", "damping = 2", "rest = 0.5", 'motion = "prescribed"')
        assert (spelled.stiffness, spelled.damping, spelled.rest) == ((4.0, 4.0), (2.0, 2.0), (0.5, 0.5))
        assert spelled.motion == ("prescribed", "prescribed")

    def test_lists_run_over_translations_first(self) -> None:
        spelled = joint(
            *self.CYLINDRICAL,
            'stiffness = ["4 N/mm", "1 N*m/deg"]',
            'damping = ["2 kN*s/m", "3 N.m.s/rad"]',
            'rest = ["5 mm", "180 deg"]',
            'motion = ["free", "switchable"]',
        )
        assert spelled.stiffness == pytest.approx((4000.0, 180 / math.pi))
        assert (spelled.damping, spelled.rest) == ((2000.0, 3.0), (0.005, math.pi))
        assert spelled.motion == ("free", "switchable")

    def test_spherical_parts_have_no_springs(self) -> None:
        lines = ("translation = [[1, 0, 0]]", 'rotation = "spherical"')
        for stiffness in ("[3]", "[3, 0, 0, 0]"):
            spelled = joint(*lines, f"stiffness = {stiffness}", "damping = [1, 2, 3, 4]", 'motion = "switchable"')
            assert (spelled.stiffness, spelled.damping) == ((3.0,), (1.0, 2.0, 3.0, 4.0))
            assert spelled.motion == ("switchable",) * 4

    def test_motion_of_a_free_root(self) -> None:
        root = loads(bus(joint='joint = { to = "inertial", kind = "free", motion = "switchable" }')).body("bus").joint
        assert root.motion == ("switchable",) * 6


class TestFrames:
    def frame(self, text: str) -> tuple[float, ...]:
        return loads(hinged(f"frame = {text}")).body("panel").joint.frame

    def test_matrix_maps_joint_to_parent(self) -> None:
        """The first column is the joint's x axis in the parent: turned by 90 deg about z, it is the parent's y."""
        assert self.frame("[[0, -1, 0], [1, 0, 0], [0, 0, 1]]") == pytest.approx((HALF, 0, 0, HALF))

    def test_sequence_is_intrinsic(self) -> None:
        """z then the new y: x goes to the parent's y by the first and to -z by the second about the turned axis."""
        spelled = self.frame('{ sequence = "zy", angles = ["90 deg", "90 deg"] }')
        rotation = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
        assert spelled == pytest.approx(self.frame(str(rotation.tolist())), abs=1e-15)

    def test_one_angle_needs_no_list(self) -> None:
        assert self.frame('{ sequence = "x", angles = "90 deg" }') == pytest.approx((HALF, HALF, 0, 0))

    def test_quaternion_keeps_its_bits(self) -> None:
        assert self.frame("{ quaternion = [0.5, -0.5, 0.5, 0.5] }") == (0.5, -0.5, 0.5, 0.5)
        assert self.frame("{ quaternion = [0.7071067812, 0, 0, 0.7071067812] }") == pytest.approx((HALF, 0, 0, HALF))

    @given(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: math.hypot(*q) > 0.1))
    def test_matrices_and_quaternions_agree(self, q: tuple[float, ...]) -> None:
        w, x, y, z = (v / math.hypot(*q) for v in q)
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        assert abs(np.dot(self.frame(str(rows)), (w, x, y, z))) == pytest.approx(1.0, abs=1e-14)


def number(low: float = -10.0, high: float = 10.0) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_subnormal=False)


vectors = st.tuples(number(), number(), number())
small = st.tuples(number(-0.1, 0.1), number(-0.1, 0.1), number(-0.1, 0.1))
axes = st.tuples(number(), number(), number()).filter(lambda v: max(map(abs, v)) > 0.1)
triads = st.permutations([X, Y, Z]).map(tuple)


@st.composite
def quaternions(draw: st.DrawFn) -> tuple[float, float, float, float]:
    part = number(-1, 1)
    w, x, y, z = draw(st.tuples(part, part, part, part).filter(lambda q: math.hypot(*q) > 0.1))
    norm = math.hypot(w, x, y, z)
    return (w / norm, x / norm, y / norm, z / norm)


@st.composite
def joints(draw: st.DrawFn, to: str) -> Joint:
    axis, triad = draw(axes), draw(triads)
    shapes = {
        "fixed": ((), (), False),
        "revolute": ((), (axis,), False),
        "prismatic": ((axis,), (), False),
        "cylindrical": ((axis,), (axis,), False),
        "universal": ((), triad[:2], False),
        "gimbal": ((), triad, False),
        "spherical": ((), (), True),
        "planar": (plane_axes(axis), (axis,), False),
        "general": (triad[: draw(st.integers(0, 3))], triad[: draw(st.integers(0, 3))], False),
    }
    kind = draw(st.sampled_from(sorted(shapes)))
    translations, rotations, spherical = shapes[kind]
    n_c, n_u = len(translations + rotations), len(translations) + (3 if spherical else len(rotations))
    motion = st.sampled_from(["free", "prescribed", "switchable"])
    return Joint(
        to=to, kind=kind, translations=translations, rotations=rotations, spherical=spherical, at=draw(vectors),
        frame=draw(st.one_of(st.just(IDENTITY), quaternions())),
        stiffness=draw(st.tuples(*[number(0.0)] * n_c)), rest=draw(st.tuples(*[number()] * n_c)),
        damping=draw(st.tuples(*[number(0.0)] * n_u)), motion=draw(st.tuples(*[motion] * n_u)),
    )  # fmt: skip


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Systems of one to four bodies of every kind of joint."""
    bodies: list[Body] = []
    kinds = st.sampled_from(["free", "attitude", None])
    for k in range(draw(st.integers(1, 4))):
        kind = draw(kinds) if k == 0 else None
        joint = Joint(to="inertial", kind=kind, translations=(X, Y, Z), spherical=True) if kind else None
        parents = [body.name for body in bodies]
        if not bodies or bodies[0].joint.kind != "attitude":
            parents.append("inertial")
        (a, b, c), (d, e, f) = draw(st.tuples(*[number(2.0, 2.5)] * 3)), draw(small)
        bodies.append(
            Body(
                name=f"b{k}", joint=joint or draw(joints(draw(st.sampled_from(parents)))), mass=draw(number(0.5)),
                com=draw(vectors), inertia=((a, d, e), (d, b, f), (e, f, c)),
                wheels=draw(st.dictionaries(st.sampled_from(["w", "x_2"]), st.builds(
                    Wheel, axis=axes, inertia=number(0.01, 0.2)))),
                nodes=draw(st.dictionaries(st.sampled_from(["n", "Tip"]), st.builds(Node, at=vectors))),
            )
        )  # fmt: skip
    initial: dict[str, tuple[float, ...]] = {}
    if bodies[0].joint.floating:
        initial |= {"b0.attitude": draw(quaternions()), "b0.omega": draw(vectors), "b0.position": draw(vectors)}
    for body in bodies[bool(bodies[0].joint.floating) :]:
        if body.joint.rotations:
            initial[f"{body.name}.joint.rate"] = draw(st.tuples(*[number()] * len(body.joint.rotations)))
        if body.joint.spherical:
            initial[f"{body.name}.joint.attitude"] = draw(quaternions())
    initial |= {f"{body.name}.{wheel}.speed": (draw(number(-1e3, 1e3)),) for body in bodies for wheel in body.wheels}
    name = draw(st.text(st.characters(codec="utf-8"), max_size=8))
    return Model(name=name, bodies=tuple(bodies), gravity=draw(vectors), initial=initial, source="<string>")


def array(draw: st.DrawFn, *shape: int, size: float = 0.02) -> np.ndarray:
    count = math.prod(shape)
    return np.array(draw(st.lists(number(-size, size), min_size=count, max_size=count))).reshape(shape)


def nested(values: np.ndarray) -> tuple:
    return tuple(map(nested, values)) if values.ndim > 1 else tuple(values.tolist())


def mirrored(values: np.ndarray, *axes: int) -> np.ndarray:
    return values + np.swapaxes(values, *axes)


@st.composite
def flexes(draw: st.DrawFn) -> Flex:
    """Small coupling, so that no motion has negative energy."""
    m = draw(st.integers(1, 2))
    terms = {}
    if draw(st.booleans()):
        second = mirrored(mirrored(array(draw, m, m, 3, 3), 2, 3), 0, 1)
        terms = {"inertia_first": nested(mirrored(array(draw, m, 3, 3), 1, 2)), "inertia_second": nested(second),
                 "gyroscopic": nested(array(draw, m, m, 3)),
                 "moment_second": nested(mirrored(array(draw, 3, m, m), 1, 2))}  # fmt: skip
    return Flex(mass=nested(np.eye(m) + mirrored(array(draw, m, m), 0, 1)), stiffness=nested(5.0 * np.eye(m)),
                damping=nested(mirrored(array(draw, m, m), 0, 1) + 0.1 * np.eye(m)),
                coupling=nested(array(draw, 6, m)), **terms)  # fmt: skip


@st.composite
def closed_models(draw: st.DrawFn) -> Model:
    """Systems with flexible bodies and with loops of every kind, which are open at the start."""
    model = draw(models())
    bodies: list[Body] = []
    for body in model.bodies:
        flex = draw(st.one_of(st.none(), flexes()))
        nodes = body.nodes
        if flex:
            m = flex.modes
            nodes = {name: Node(at=node.at, shape=nested(array(draw, 6, m)), bend=draw(st.sampled_from(
                [(), nested(mirrored(array(draw, 3, m, m), 1, 2))]))) for name, node in nodes.items()}  # fmt: skip
        parent = next((other for other in bodies if other.name == body.joint.to), None)
        node = draw(st.sampled_from(["", *parent.nodes])) if parent else ""
        moved = replace(body.joint, node=node)
        if parent and parent.flex and not node:
            moved = replace(moved, at=(0.0, 0.0, 0.0))
        bodies.append(replace(body, flex=flex, nodes=nodes, joint=moved, wheels={}))
    loops = []
    carriers = {INERTIAL: INERTIAL}
    for body in bodies:  # what is fixed to each other has one carrier, and no loop
        carriers[body.name] = body.name if body.joint.n_u else carriers[body.joint.to]
    for k, (kind, held) in enumerate(ROWS.items() if len(bodies) > 1 else ()):
        sides = []
        chosen = draw(st.permutations(bodies))[:2]
        if carriers[chosen[0].name] == carriers[chosen[1].name]:
            continue
        for body in chosen:
            node = draw(st.sampled_from(["", *body.nodes]))
            at = (0.0, 0.0, 0.0) if body.flex and not node else draw(vectors)
            sides.append(
                Side(body=body.name, node=node, at=at, frame=draw(st.one_of(st.just(IDENTITY), quaternions())))
            )
        rows = draw(st.sets(st.integers(1, 6), min_size=1)) if kind == "rows" else held
        loops.append(Loop(name=f"l{k}", a=sides[0], b=sides[1], rows=tuple(sorted(rows)), kind=kind, closed=False,
                          distance=draw(number(0.1)) if kind == "distance" else None, switchable=True,
                          time_constant=draw(number(0.0, 1.0))))  # fmt: skip
    initial = {name: value for name, value in model.initial.items() if not name.endswith(".speed")}
    initial |= {f"{b.name}.flex.rate": tuple(array(draw, b.modes).tolist()) for b in bodies if b.flex}
    return replace(model, bodies=tuple(bodies), loops=tuple(loops), initial=initial)


class TestThereAndBack:
    @settings(max_examples=60, deadline=None)
    @given(models())
    def test_to_the_bit(self, model: Model) -> None:
        again = loads(dumps(model))
        assert again == model
        assert dumps(again) == dumps(model)

    @settings(max_examples=40, deadline=None)
    @given(closed_models())
    def test_flexible_bodies_and_loops_to_the_bit(self, model: Model) -> None:
        again = loads(dumps(model))
        assert again == model
        assert dumps(again) == dumps(model)

    def test_generated_bodies_come_back_as_numbers(self) -> None:
        model = loads(
            beam("torsional_stiffness = 5", "polar_inertia = 0.001", more="[body.boom.node.mid]\nat = [1, 0, 0]")
        )
        again = loads(dumps(model))
        assert again == model
        assert list(again.body("boom").nodes) == ["tip", "mid"]

    def test_file(self, tmp_path: Path) -> None:
        model = loads(SATELLITE, source=str(tmp_path / "copy.toml"))
        save(model, tmp_path / "copy.toml")
        assert load(tmp_path / "copy.toml") == model

    def test_axes_that_their_kind_does_not_mean(self) -> None:
        odd = Joint(to="inertial", kind="planar", translations=(X,), rotations=(Y, Z))
        body = Body(name="rig", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(X, Y, Z), joint=odd)
        again = loads(dumps(Model(name="", bodies=(body,)))).body("rig").joint
        assert (again.kind, again.translations, again.rotations) == ("general", (X,), (Y, Z))


class TestFlexibleBodies:
    def flex(self, text: str) -> Flex:
        flex = loads(text).body("boom").flex
        assert flex is not None
        return flex

    def test_frequencies(self) -> None:
        flex = self.flex(boom("damping_ratios = [0.01, 0.02]", frequencies='["1 Hz", "3 rad/s"]'))
        assert flex.mass == ((1.0, 0.0), (0.0, 1.0))
        assert np.diag(flex.stiffness) == pytest.approx([(2 * math.pi) ** 2, 9.0])
        assert np.diag(flex.damping) == pytest.approx([0.04 * math.pi, 0.12])

    def test_modal_masses_and_one_ratio(self) -> None:
        flex = self.flex(boom("damping_ratios = 0.1", "mass = [2, 4]", frequencies='["3 rad/s", "180 rpm"]'))
        assert np.diag(flex.mass).tolist() == [2.0, 4.0]
        assert np.diag(flex.stiffness) == pytest.approx([18.0, 4 * (6 * math.pi) ** 2])
        assert np.diag(flex.damping) == pytest.approx([1.2, 0.8 * 6 * math.pi])

    def test_bare_frequencies_are_told_of(self) -> None:
        with pytest.warns(ModelWarning, match=r"6\.28319 without a unit is in rad/s, 1 Hz"):
            assert self.flex(boom(frequencies="[6.283185307179586, 9]")).stiffness[1][1] == 81.0

    def test_matrices_or_diagonals(self) -> None:
        flex = self.flex(boom("mass = [2, 2]", "stiffness = [[5, 1], [1, 5]]", "damping = [0.1, 0.2]", frequencies=""))
        assert flex.mass == ((2.0, 0.0), (0.0, 2.0))
        assert flex.stiffness == ((5.0, 1.0), (1.0, 5.0))
        assert flex.damping == ((0.1, 0.0), (0.0, 0.2))
        assert self.flex(boom("mass = [2, 2]", "stiffness = [5, 5]", frequencies="")).damping == (
            (0.0, 0.0),
            (0.0, 0.0),
        )

    def test_joints_on_nodes(self) -> None:
        model = loads(boom(more=on("boom.tip", "at = [0.1, 0, 0]")))
        assert (model.body("dish").joint.to, model.body("dish").joint.node) == ("boom", "tip")
        assert model.body("boom").nodes["tip"].shape[2] == (0.5, 0.0)
        rigid = loads(bus("[body.bus.node.side]", "at = [1, 0, 0]", on("bus.side")))
        assert rigid.body("dish").joint.node == "side"

    def test_a_node_without_a_shape_is_told_of(self) -> None:
        with pytest.warns(ModelWarning, match=r"node\.rim\.shape: is missing, so no mode moves this node"):
            model = loads(boom(more="[body.boom.node.rim]\nat = [0, 1, 0]\n[body.boom.node.root]\nat = [0, 0, 0]"))
        assert model.body("boom").nodes["rim"] == Node(at=(0.0, 1.0, 0.0))

    def test_modes_that_move_the_origin_are_told_of(self) -> None:
        with pytest.warns(ModelWarning, match="is at the origin, which the joint holds"):
            loads(boom(more=f"[body.boom.node.root]\nat = [0, 0, 0]\nshape = {SIX}"))

    def test_start(self) -> None:
        model = loads(boom(more="[initial]\nboom.flex.displacement = [0.1, 0]\nboom.flex.rate = [0, 2]"))
        assert model.initial == {"boom.flex.displacement": (0.1, 0.0), "boom.flex.rate": (0.0, 2.0)}

    def test_generated(self) -> None:
        text = beam("damping_ratio = 0.01", more="[body.boom.node.mid]\nat = [1.5, 0, 0]")
        made = uniform_beam(length=3.0, mass_per_length=0.5, bending_stiffness=100.0, modes=1, damping_ratio=0.01,
                            nodes={"mid": (1.5, 0.0, 0.0)})  # fmt: skip
        body = loads(text.replace("bending_stiffness = 100", 'bending_stiffness = "1e8 N*mm^2"')).body("boom")
        assert (body.mass, body.com) == (made.mass, made.com)
        assert np.array(body.flex.stiffness) == pytest.approx(np.array(made.flex.stiffness))  # type: ignore[union-attr]
        assert np.array(body.nodes["mid"].shape) == pytest.approx(np.array(made.nodes["mid"].shape))

    def test_file_beside_the_model(self, tmp_path: Path) -> None:
        made = uniform_beam(length=3.0, mass_per_length=0.5, bending_stiffness=100.0, modes=2)
        write_sid(tmp_path / "boom.SID_FEM", replace(made, nodes={"1": made.nodes["tip"]}))
        lines = ["[body.boom]", on_bus(), "[body.boom.flex]", 'file = "boom.SID_FEM"', "[body.boom.node.end]"]
        (tmp_path / "model.toml").write_text(bus(*lines, "at = [3, 0, 0]"))
        body = load(tmp_path / "model.toml").body("boom")
        assert body.mass == pytest.approx(1.5)
        assert np.array(body.nodes["end"].shape) == pytest.approx(np.array(made.nodes["tip"].shape), rel=1e-6)
        (tmp_path / "model.toml").write_text(bus(*lines, "at = [2, 0, 0]"))
        with pytest.raises(ModelError, match=r"body\.boom\.node\.end: no node lies there"):
            load(tmp_path / "model.toml")
        (tmp_path / "model.toml").write_text(bus(*lines[:3], 'file = "model.toml"'))
        with pytest.raises(ModelError, match=r"body\.boom\.flex\.file: .*model\.toml"):
            load(tmp_path / "model.toml")


class TestLoops:
    def loop(self, *lines: str, kind: str) -> Loop:
        return loads(bars("closed = false", "switchable = true", *lines, kind=kind)).loops[0]

    @pytest.mark.parametrize("axis", [X, Y, Z, (0.0, 0.0, -2.0), (1.0, 2.0, -3.0)])
    def test_axis_of_a_pin_is_z_of_its_frames(self, axis: tuple[float, float, float]) -> None:
        loop = self.loop("frame_a = { quaternion = [0.6, 0, 0.8, 0] }", kind=f'kind = "pin"\naxis = {list(axis)}')
        assert loop.rows == (1, 2, 4, 5, 6)
        unit = np.array(axis) / np.linalg.norm(axis)
        assert rotation(loop.b.frame) @ Z == pytest.approx(unit, abs=1e-15)
        assert rotation(loop.a.frame) @ Z == pytest.approx(rotation((0.6, 0.0, 0.8, 0.0)) @ unit, abs=1e-15)

    def test_frames_of_a_slider_are_turned_alike(self) -> None:
        loop = self.loop(kind='kind = "slider"\naxis = [1, 2, 3]')
        assert loop.rows == (1, 2, 3, 4, 5)
        assert loop.a.frame == loop.b.frame

    def test_the_other_axis_of_a_pin(self) -> None:
        loop = self.loop("axis_b = [0, 1, 0]", kind='kind = "pin"\naxis = [1, 0, 0]')
        assert rotation(loop.a.frame) @ Z == pytest.approx(X)
        assert rotation(loop.b.frame) @ Z == pytest.approx(Y)

    def test_axes_of_a_universal_joint(self) -> None:
        loop = self.loop(kind='kind = "universal"\naxes = [[0, 1, 1], [0, 0, 1]]')
        assert loop.rows == (3, 4, 5, 6)
        assert rotation(loop.a.frame) @ X == pytest.approx([0, HALF, HALF])
        assert rotation(loop.b.frame) @ Y == pytest.approx(Z)

    def test_numbers(self) -> None:
        loop = self.loop('time_constant = "20 ms"', "at_a = [0, 0, 1]", kind='distance = "50 cm"')
        assert (loop.kind, loop.rows, loop.distance, loop.time_constant) == ("distance", (), 0.5, 0.02)
        assert loop.a == Side(body="coupler", node="end", at=(0.0, 0.0, 1.0))
        loop = self.loop(kind="rows = [6, 1]")
        assert (loop.kind, loop.rows, loop.time_constant) == ("rows", (1, 6), 0.1)


def rotation(q: tuple[float, float, float, float]) -> np.ndarray:
    w, x, y, z = q
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * (w * cross + cross @ cross)


def test_a_large_file_reads_in_about_a_second() -> None:
    lines = [bus()]
    for k in range(500):
        to = f"link{k - 1}" if k else "bus"
        lines.append(f'[body.link{k}]\nmass = "{k + 1} kg"\ncom = [0, 0.5, 0]\ninertia = [1, 1, 1]')
        lines.append(f'joint = {{ to = "{to}", kind = "revolute", axis = [1, 0, {k % 2}], at = [0, 1, 0] }}')
    lines.append('[initial]\nlink3.joint.angle = "3 deg"')
    began = time.perf_counter()
    model = loads("\n".join(lines))
    assert len(model.bodies) == 501
    assert time.perf_counter() - began < 5.0  # measured 0.4 s; the rest is for busy machines
