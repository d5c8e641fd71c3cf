"""Descriptions of FMI 2.0 and 3.0 of both kinds: valid to other tools, and true to the table and the equations."""

from __future__ import annotations

import io
import struct
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu
from lxml import etree

from example_models import EXAMPLES, slow_where_large
from flavours import FLAVOURS, NATIVE, Flavour, flavours
from fmu.client import only, satellite
from fmu.described import SOURCES, Described, described, model_of
from mbdy.engine import Body, Joint, Model, equations, ports
from mbdy.fmu.description.units import rate_unit, unit
from mbdy.fmu.pages import icon
from mbdy.fmu.table import arrays, scalars
from systems import XYZ, chain, diagonal, floating, star

NATIVE_3 = Flavour("native", "3.0")
ALL_NATIVE = flavours(kind="native")
pytestmark = only(FLAVOURS)
ROUNDING = 1e-9
"""Of derivatives that cancel, such as a velocity's, turned there and back, over the attitude."""
TERMINALS_SCHEMA = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"


def joints_of_all_kinds() -> Model:
    """Spherical, gimbal and general joints, each with a body, on a free root."""
    inertia = diagonal(1.0, 1.1, 1.2)
    kinds = {
        "ball": Joint(to="bus", kind="spherical", spherical=True),
        "gimbal": Joint(to="ball", kind="gimbal", rotations=XYZ),
        "slider": Joint(to="bus", kind="general", translations=XYZ[:2], rotations=XYZ[1:], motion=("switchable",) * 4),
    }
    bodies = [Body(name=name, mass=2.0, com=(0.1, 0.2, 0.3), inertia=inertia, joint=j) for name, j in kinds.items()]
    return Model(name="joints", bodies=(Body(name="bus", mass=9.0, inertia=inertia, joint=floating()), *bodies))


def known_models() -> list[Model]:
    return [satellite(), satellite(kind="attitude"), joints_of_all_kinds(), chain(2)]


@pytest.fixture
def one(flavour, tmp_path) -> Described:
    return described(satellite(), flavour, tmp_path)


def by_reference(one: Described) -> dict:
    """Variables of the file by what ModelStructure calls them, an index or a value reference."""
    variables = fmpy.read_model_description(one.fmu).modelVariables
    return dict(enumerate(variables, 1)) if one.fmi == "2.0" else {v.valueReference: v for v in variables}


def scalar_names(v) -> list[str]:
    """The names of a variable's scalars, as the table has them."""
    if not v.shape:
        return [v.name]
    if v.name.startswith("der("):
        return [f"{v.name[:-1]}[{k + 1}])" for k in range(v.shape[0])]
    return [f"{v.name}[{k + 1}]" for k in range(v.shape[0])]


@pytest.mark.parametrize(
    ("of", "path"),
    [
        *((flavour, None) for flavour in FLAVOURS),
        *(pytest.param(*pair, marks=slow_where_large(pair[1])) for pair in product(ALL_NATIVE, EXAMPLES)),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else str(value or "tests"),
)
def test_fmpy_finds_no_problem(of, path, tmp_path):
    """Of the examples a native FMU only: one of the kind for Python describes less of the same."""
    one = described(model_of(path), of, tmp_path)
    assert validate_fmu(str(one.fmu)) == []
    with zipfile.ZipFile(one.fmu) as opened:
        terminals = etree.parse(opened.open("terminalsAndIcons/terminalsAndIcons.xml"))
    etree.XMLSchema(file=str(TERMINALS_SCHEMA)).assertValid(terminals)


def test_fmutool_finds_no_problem(one, caplog):
    operations = pytest.importorskip("fmu_manipulation_toolbox.operations")
    checker = pytest.importorskip("fmu_manipulation_toolbox.checker")
    with operations.FMU(str(one.fmu)) as opened:
        for check in checker.get_checkers():
            opened.apply_operation(check())
    assert [r.getMessage() for r in caplog.records if r.name == "fmu_manipulation_toolbox" and r.levelno > 20] == []


def test_value_references_are_rows_of_the_table(one):
    found = fmpy.read_model_description(one.fmu).modelVariables
    assert max(Counter(v.valueReference for v in found).values()) == 1
    rows = one.table
    for v in found:
        own = [row.name for row in rows[v.valueReference : v.valueReference + (v.shape or (1,))[0]]]
        assert scalar_names(v) == own
    assert sum((v.shape or (1,))[0] for v in found) == len(rows)


def test_one_table_for_all_flavours():
    """A value reference means the same in each, as far as its variables are there."""
    made = ports(satellite())
    all_rows = scalars(made, derivatives=True, independent=True)
    without_time = scalars(made, derivatives=True)
    assert without_time == all_rows[:-1]
    assert scalars(made) == all_rows[: len(scalars(made))]
    assert (all_rows[-1].name, all_rows[-1].causality, all_rows[-1].unit) == ("time", "independent", "s")


def test_what_is_an_array_and_what_is_not():
    table = scalars(ports(satellite()), derivatives=True, independent=True)
    found = {v.name: v for v in arrays(table)}
    sizes = {"bus.omega": 3, "bus.attitude": 4, "der(bus.omega)": 3, "der(panel.joint.angle)": 1, "system.energy": 1}
    assert {name: found[name].size for name in sizes} == sizes
    assert found["system.initial.momentum"].size == 3
    for mixed in ("boom.joint.stiffness[1]", "boom.joint.load[4]", "panel.inertia[1,2]", "boom.joint.rest[2]"):
        assert found[mixed].size == 1
    assert all(v.rows == table[v.value_reference : v.value_reference + v.size] for v in found.values())
    assert [v.name for v in arrays(table, scalars=True)] == [row.name for row in table]


def test_an_array_of_switches_has_all_of_them():
    """Switches of some degrees of freedom only keep their indices, so they stay scalars."""
    model = joints_of_all_kinds()
    body = model.bodies[-1]
    some = replace(body, joint=replace(body.joint, motion=("free", "switchable", "free", "switchable")))
    for bodies, names in (
        (model.bodies, ["slider.joint.locked"]),
        ((*model.bodies[:-1], some), ["slider.joint.locked[2]", "slider.joint.locked[4]"]),
    ):
        table = scalars(ports(replace(model, bodies=bodies)))
        assert [v.name for v in arrays(table) if ".locked" in v.name] == names


def test_calculated_parameters_are_outputs_when_initialization_ends(one):
    rows = [row for row in one.table if row.vector == "c"]
    outputs = {row.name: row for row in one.table if row.vector == "y"}
    assert [row.name for row in rows] == [
        "system.initial.mass", *(f"system.initial.centre_of_mass[{k}]" for k in (1, 2, 3)),
        *(f"system.initial.momentum[{k}]" for k in (1, 2, 3)),
        *(f"system.initial.angular_momentum[{k}]" for k in (1, 2, 3)), "system.initial.energy",
    ]  # fmt: skip
    for row in rows:
        source = outputs[row.name.replace(".initial", "")]
        assert (row.place, row.unit) == (source.place, source.unit)
    for v in fmpy.read_model_description(one.fmu).modelVariables:
        if v.name.startswith("system.initial."):
            assert (v.causality, v.variability, v.initial) == ("calculatedParameter", "fixed", "calculated")


@only(ALL_NATIVE)
@pytest.mark.parametrize("model", known_models(), ids=lambda m: m.name)
def test_derivatives_are_those_of_the_states_in_their_order(flavour, model, tmp_path):
    one = described(model, flavour, tmp_path)
    description = fmpy.read_model_description(one.fmu)
    derivatives = [unknown.variable for unknown in description.derivatives]
    assert [n for d in derivatives for n in scalar_names(d.derivative)] == list(one.ports.state_names)
    assert description.numberOfContinuousStates == len(one.ports.state_names)
    for d in derivatives:
        state = d.derivative
        assert (d.name, d.shape) == (f"der({state.name})", state.shape)
        assert (d.causality, d.variability, d.initial, d.start) == ("local", "continuous", "calculated", None)
        assert state.causality == "output"
        of_state, of_rate = Counter(unit(state.unit).exponents), Counter(unit(d.unit).exponents)
        of_state["s"] -= 1
        assert {k: n for k, n in of_state.items() if n} == dict(of_rate)
    places = [row.place for row in one.table if row.vector == "dx"]
    assert places == list(range(len(one.ports.state_names)))


@pytest.mark.parametrize(
    ("name", "rate"),
    [("m", "m/s"), ("m/s", "m/s2"), ("rad", "rad/s"), ("rad/s", "rad/s2"), ("1", "1/s"), ("N.m.s", "N.m")],
)
def test_unit_of_a_derivative(name, rate):
    assert rate_unit(name) == rate


def test_a_derivative_without_a_unit():
    with pytest.raises(ValueError, match="unit 'rad/s2': its derivative's unit cannot be spelled"):
        rate_unit("rad/s2")


def test_units_are_defined_and_given(one):
    description = fmpy.read_model_description(one.fmu)
    defined = {u.name for u in description.unitDefinitions}
    assert all(v.unit in defined for v in description.modelVariables if v.type in ("Real", "Float64"))
    assert all(v.unit is None for v in description.modelVariables if v.type == "Boolean")
    assert {v.name: v.displayUnit for v in description.modelVariables}["panel.joint.angle"] == "deg"


@only(NATIVE)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", known_models(), ids=lambda m: f"{m.name}, {m.bodies[0].joint.kind}")
def test_all_that_the_equations_depend_on_is_listed(flavour, fmi, model, sparse, tmp_path):
    """Jacobians of x' and y over x and u at some state, off unit quaternions too, lie within the dependencies."""
    one = described(model, flavour, tmp_path, sparse=sparse)
    named, root = by_reference(one), ElementTree.fromstring(one.xml)
    tags = ("Outputs/Unknown", "Derivatives/Unknown") if fmi == "2.0" else ("Output", "ContinuousStateDerivative")
    for tag, function, names in (
        (tags[0], equations(model).outputs, one.ports.output_names),
        (tags[1], equations(model).derivatives, [f"der({name})" for name in one.ports.state_names]),
    ):
        listed = _listed(root, tag, named)
        for columns, jacobian in zip(
            (one.ports.state_names, one.ports.input_names), _jacobians(model, function), strict=True
        ):
            for row, column in np.argwhere(np.abs(jacobian) > ROUNDING):
                on = listed[names[row]]
                assert on is None or columns[column] in on, f"{names[row]} depends on {columns[column]}"


def _jacobians(model: Model, function) -> tuple[np.ndarray, np.ndarray]:
    """Over x and over u, at a state away from the start and inputs that are not zero."""
    made, rng = equations(model), np.random.default_rng(3)
    k = made.prepare(made.ports.vector("parameter"))
    x = np.array(made.start(made.ports.start, k)).ravel()
    x = x + 0.3 * rng.normal(size=x.size)
    u = rng.normal(size=len(made.ports.input_names))
    for v in made.ports.inputs:
        if v.boolean:
            u[v.places] = 0.0
    over_x, over_u, _ = function.jacobian()(x, u, k, 0)
    return np.array(over_x), np.array(over_u)


def _listed(root, tag: str, named: dict) -> dict[str, set[str] | None]:
    """Names of the scalars that each scalar of an unknown depends on; None for all."""
    listed: dict[str, set[str] | None] = {}
    for node in root.iterfind(f"ModelStructure/{tag}"):
        text = node.get("dependencies")
        on = None if text is None else {n for reference in text.split() for n in scalar_names(named[int(reference)])}
        for name in scalar_names(named[int(node.get("index") or node.get("valueReference") or "")]):
            listed[name] = on
    return listed


def test_dependencies_are_on_inputs_and_in_a_native_fmu_on_states(one):
    description = fmpy.read_model_description(one.fmu)
    states = {d.variable.derivative.name for d in description.derivatives}
    assert bool(states) == (one.kind == "native")
    inputs = {v.name for v in description.modelVariables if v.causality == "input"}
    for unknown in description.outputs:
        on = [v.name for v in unknown.dependencies]
        assert len(set(on)) == len(on)
        assert set(on) <= inputs | states
        if unknown.variable.name in states:
            assert on == [unknown.variable.name]
        elif states:
            assert states <= set(on)


@only(ALL_NATIVE)
def test_what_moves_a_coordinate(flavour, tmp_path):
    description = fmpy.read_model_description(described(satellite(), flavour, tmp_path).fmu)
    on = {d.variable.name: d.dependencies and [v.name for v in d.dependencies] for d in description.derivatives}
    assert on["der(panel.joint.angle)"] == ["panel.joint.rate"]
    assert on["der(boom.joint.displacement)"] == ["boom.joint.velocity"]
    assert on["der(panel.joint.rate)"] is None
    assert on["der(bus.x.momentum)"] is None


@only(ALL_NATIVE)
def test_dependencies_follow_from_the_tree(flavour, tmp_path):
    description = fmpy.read_model_description(described(satellite(), flavour, tmp_path, sparse=True).fmu)
    on: dict[str, set[str]] = {}
    for unknown in (*description.outputs, *description.derivatives):
        found = {v.name.split("[")[0] for v in unknown.dependencies}
        on.setdefault(unknown.variable.name.split("[")[0].rstrip(")"), set()).update(found)
    for name, wanted in {
        "panel.attitude": {"bus.attitude", "panel.joint.angle"},
        "panel.omega": {"bus.omega", "panel.joint.angle", "panel.joint.rate"},
        "boom.position": {"bus.position", "bus.attitude", "boom.joint.displacement"},
        "bus.x.speed": {"bus.omega", "bus.x.momentum"},
        "system.mass": set(), "panel.joint.impulse": set(),
        "der(boom.joint.angle": {"boom.joint.rate"},
        "der(bus.attitude": {"bus.attitude", "bus.omega"},
        "der(bus.x.momentum": {"bus.x.torque"},
    }.items():  # fmt: skip
        assert on[name] == wanted, name
    inputs = {v.name.split("[")[0] for v in description.modelVariables if v.causality == "input"}
    moving = {"displacement", "angle", "velocity", "rate"}
    states = {"bus.attitude", "bus.omega", "bus.x.momentum", "panel.joint.angle", "panel.joint.rate"}
    # uniform gravity moves no joint of a system that floats
    felt = inputs - {"system.gravity"}
    assert on["der(panel.joint.rate"] == states | {f"boom.joint.{name}" for name in moving} | felt


@only(NATIVE)
def test_capabilities_of_a_native_fmu(flavour, tmp_path):
    description = fmpy.read_model_description(described(satellite(), flavour, tmp_path).fmu)
    exchange, simulation = description.modelExchange, description.coSimulation
    assert exchange.modelIdentifier == simulation.modelIdentifier == "dummy"
    assert exchange.needsCompletedIntegratorStep
    for interface in (exchange, simulation):
        assert interface.canGetAndSetFMUstate
        assert interface.canSerializeFMUstate
        assert not interface.canBeInstantiatedOnlyOncePerProcess
        assert not interface.needsExecutionTool
    assert simulation.canHandleVariableCommunicationStepSize
    assert simulation.maxOutputDerivativeOrder == 1
    assert description.numberOfEventIndicators == 0
    experiment = description.defaultExperiment
    assert (experiment.tolerance, experiment.stepSize) == ("1e-08", "0.001")
    assert [c.name for c in description.logCategories] == [
        "logStatusWarning", "logStatusDiscard", "logStatusError", "logEvents", "logAll",
    ]  # fmt: skip
    assert description.buildConfigurations[0].sourceFileSets[0].sourceFiles == list(SOURCES)


def test_step_and_events_in_fmi_3(tmp_path):
    root = ElementTree.fromstring(described(satellite(), NATIVE_3, tmp_path).xml)
    simulation = root.find("CoSimulation")
    assert simulation is not None
    assert simulation.get("fixedInternalStepSize") == "0.001"
    for flag in (
        "hasEventMode", "providesIntermediateUpdate", "canReturnEarlyAfterIntermediateUpdate",
        "providesDirectionalDerivatives", "providesAdjointDerivatives",
    ):  # fmt: skip
        assert simulation.get(flag) == "true"
    assert simulation.get("mightReturnEarlyFromDoStep") == "false"
    for node in root.iterfind("ModelVariables/*"):
        continuous = node.get("causality") in ("input", "output") and node.tag == "Float64"
        assert node.get("intermediateUpdate") == ("true" if continuous else None)


def test_build_description(tmp_path):
    with zipfile.ZipFile(described(satellite(), NATIVE_3, tmp_path).fmu) as opened:
        root = ElementTree.fromstring(opened.read("sources/buildDescription.xml"))
    platforms = [node.get("platform") for node in root.iter("BuildConfiguration")]
    assert platforms == [None, "x86_64-linux", "aarch64-linux"]  # a tool that reads one configuration takes the first
    assert {node.get("language") for node in root.iter("SourceFileSet")} == {"C11"}
    assert [len(node.findall("Library")) for node in root.iter("BuildConfiguration")] == [0, 1, 1]


def test_starts_of_arrays_read_back(tmp_path):
    model = replace(satellite(), initial={"bus.omega": (1 / 3, -1e-300, 2e22)})
    found = fmpy.read_model_description(described(model, NATIVE_3, tmp_path).fmu).modelVariables
    start = {v.name: v.start for v in found}["bus.omega"]
    assert [float(part) for part in start.split()] == [1 / 3, -1e-300, 2e22]


def test_wheels_are_measured_by_their_inertia(one):
    nominal = {v.name: v.nominal for v in fmpy.read_model_description(one.fmu).modelVariables}
    assert nominal["bus.x.speed"] == "100"
    assert nominal["bus.x.momentum"] == "5"
    assert nominal["panel.joint.rate"] is None


@only(NATIVE)
def test_a_model_of_another_size_is_measured_by_its_own(flavour, tmp_path):
    """A thousand times smaller, and far out at speed."""
    small = satellite()
    bodies = [
        replace(
            b, com=shrunk(b.com), inertia=tuple(tuple(1e-6 * value for value in row) for row in b.inertia),
            nodes={name: replace(node, at=shrunk(node.at)) for name, node in b.nodes.items()},
            joint=replace(b.joint, at=shrunk(b.joint.at)), wheels={},
        ) for b in small.bodies
    ]  # fmt: skip
    far = {"bus.position": (0.0, 7e6, 0.0), "bus.velocity": (7.5e3, 0.0, 0.0), "panel.joint.rate": (30.0,)}
    for model, position, velocity, slide, rate in (
        (small, 2.6, 2.6, 1.2, None), (replace(small, bodies=tuple(bodies), initial={}), 2.6e-3, 2.6e-3, 1.2e-3, None),
        (replace(small, initial=far), 7e6, 7.5e3, 1.2, 30.0),
    ):  # fmt: skip
        found = fmpy.read_model_description(described(model, flavour, tmp_path).fmu).modelVariables
        nominal = {v.name.removesuffix("[1]"): v.nominal and float(v.nominal) for v in found}
        names = ("bus.position", "bus.velocity", "boom.joint.displacement", "panel.joint.rate", "panel.joint.angle")
        assert [nominal[name] for name in names] == [position, velocity, slide, rate, None]


def shrunk(vector: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(1e-3 * value for value in vector)


def test_terminals_have_variables_of_the_description(one):
    with zipfile.ZipFile(one.fmu) as opened:
        root = ElementTree.fromstring(opened.read("terminalsAndIcons/terminalsAndIcons.xml"))
    causality = {v.name: v.causality for v in fmpy.read_model_description(one.fmu).modelVariables}
    found = {node.get("name"): list(node) for node in root.iter("Terminal")}
    assert list(found) == ["bus", "bus.x", "bus.tip", "panel", "panel.joint", "boom", "boom.joint"]
    for name, members in found.items():
        variables = [member.get("variableName") for member in members]
        assert variables == [f"{name}.{member.get('memberName')}" for member in members]
        assert {causality[variable] for variable in variables} == {"input", "output"}
    assert [m.get("memberName") for m in found["panel.joint"]] == ["torque", "rate", "angle"]


def test_icons(one):
    with zipfile.ZipFile(one.fmu) as opened:
        names = set(opened.namelist())
        picture = opened.read("terminalsAndIcons/icon.png")
        ElementTree.parse(io.BytesIO(opened.read("terminalsAndIcons/icon.svg")))
    assert ("model.png" in names) == (one.fmi == "2.0")
    assert _pixels(picture).shape == (200, 200, 3)


def _pixels(picture: bytes) -> np.ndarray:
    """The pixels of a file of PNG with unfiltered rows of red, green, blue."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(picture):
        (size,) = struct.unpack_from(">I", picture, at)
        tag, body = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", picture, at + 8 + size) == (zlib.crc32(tag + body),)
        chunks[tag], at = body, at + 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    columns, rows, *sort = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert sort == [8, 2, 0, 0, 0]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, 1 + 3 * columns)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(rows, columns, 3)


def test_an_icon_shows_the_tree():
    """A bus at the left, two panels at the right, nothing between those."""
    image = _pixels(icon.png(satellite())).astype(int)
    dark = image.sum(axis=2) < 300
    assert dark[100, 32]
    assert dark[32, 168]
    assert dark[168, 168]
    assert not dark[60:140, 100:190].any()
    assert (image[100, 168] == 255).all()


@pytest.mark.parametrize("model", [chain(0), chain(400), star(120)], ids=lambda m: m.name)
def test_icons_of_any_size(model):
    marks = icon.strokes(model)
    assert sum(mark.start == mark.end for mark in marks) == len(model.bodies)
    assert all(0.0 <= at <= 1.0 for mark in marks for at in (*mark.start, *mark.end))
