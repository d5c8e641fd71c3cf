"""modelDescription.xml says of every variable what the port table knows."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
import zipfile
from dataclasses import replace

import fmpy
import pytest
from fmpy.validation import validate_fmu

from flavours import Flavour
from fmu.client import satellite
from mbdy.engine import ports
from mbdy.engine.model.text import visible
from mbdy.fmu import export_fmu
from mbdy.fmu.description.structure import MOST_DEPENDENCIES
from mbdy.fmu.description.units import unit
from systems import chain

WITHOUT_FEEDTHROUGH = {
    "omega", "attitude", "position", "velocity", "angle", "rate", "displacement", "speed", "momentum", "mass",
}  # fmt: skip

CONSERVED = {f"system.{name}" for name in ("mass", "centre_of_mass", "momentum", "angular_momentum", "energy")}


def variables(description) -> dict:
    return {v.name: v for v in description.modelVariables}


@pytest.fixture(scope="module")
def python(fmus):
    """The satellite's Python FMU of FMI 2.0."""
    return fmus(Flavour("python", "2.0"))


@pytest.fixture(scope="module")
def description(python):
    return fmpy.read_model_description(python)


@pytest.fixture(scope="module")
def xml(python):
    with zipfile.ZipFile(python) as opened:
        return ElementTree.fromstring(opened.read("modelDescription.xml"))


def test_fmpy_finds_no_problem(fmu):
    assert validate_fmu(str(fmu)) == []


def test_names_and_order_are_those_of_the_port_table(description, model):
    table = ports(model)
    initial = [
        f"system.initial.{n.removeprefix('system.')}" for n in table.output_names if n.split("[")[0] in CONSERVED
    ]
    assert [v.name for v in description.modelVariables] == [
        *table.input_names, *table.parameter_names, *table.output_names, *initial,
    ]  # fmt: skip
    assert [v.valueReference for v in description.modelVariables] == list(range(len(description.modelVariables)))


def test_causality_start_and_bounds(description):
    v = variables(description)
    torque, mass, omega, energy = (v[n] for n in ("panel.joint.torque", "panel.mass", "bus.omega[1]", "system.energy"))
    assert (torque.causality, torque.variability, torque.start) == ("input", "continuous", "0")
    assert (mass.causality, mass.variability, mass.initial, mass.min) == ("parameter", "tunable", "exact", "0")
    assert (omega.causality, omega.initial, omega.start) == ("output", "exact", "0.02")
    assert (energy.initial, energy.start) == ("calculated", None)
    assert (v["panel.joint.locked"].type, v["panel.joint.locked"].start) == ("Boolean", "false")
    assert all(variable.description for variable in description.modelVariables)


def test_units_and_display_units(description, xml):
    v = variables(description)
    assert (v["bus.omega[1]"].unit, v["bus.omega[1]"].displayUnit) == ("rad/s", "deg/s")
    assert (v["bus.x.speed"].unit, v["bus.x.speed"].displayUnit) == ("rad/s", "rpm")
    assert (v["panel.joint.angle"].unit, v["panel.joint.angle"].displayUnit) == ("rad", "deg")
    assert [v[f"boom.joint.stiffness[{k}]"].unit for k in (1, 2)] == ["N/m", "N.m/rad"]
    assert [v[f"boom.joint.load[{k}]"].unit for k in (1, 4)] == ["N.m", "N"]
    assert all(variable.unit for variable in description.modelVariables if variable.type == "Real")
    units = {node.get("name"): node for node in xml.iter("Unit")}
    assert units["N.m/rad"][0].attrib == {"kg": "1", "m": "2", "s": "-2", "rad": "-1"}
    assert units["1"][0].attrib == {}
    factors = {node.get("name"): float(node.get("factor", "")) for node in xml.iter("DisplayUnit")}
    assert factors["deg"] * math.pi == pytest.approx(180.0)
    assert factors["rpm"] * 2 * math.pi == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("name", "exponents"),
    [
        ("kg.m2", {"kg": 1, "m": 2}), ("N.m.s/rad", {"kg": 1, "m": 2, "s": -1, "rad": -1}), ("1", {}),
        ("rad/s2", {"rad": 1, "s": -2}), ("W", {"kg": 1, "m": 2, "s": -3}), ("m.s-2", {"m": 1, "s": -2}),
    ],
)  # fmt: skip
def test_exponents_of_a_unit(name, exponents):
    assert unit(name).exponents == exponents


def test_a_unit_that_is_none():
    with pytest.raises(ValueError, match=r"unit 'N\.furlong': 'furlong' is no SI unit"):
        unit("N.furlong")


def test_only_what_follows_from_accelerations_depends_on_inputs(description):
    depends = {u.variable.name: u.dependencies for u in description.outputs}
    free = [n for n in depends if n.rsplit(".", 1)[-1].split("[")[0] in WITHOUT_FEEDTHROUGH]
    assert len(free) > 40
    assert all(depends[name] == [] for name in free)
    inputs = {v.name for v in description.modelVariables if v.causality == "input"}
    gravity = {f"system.gravity[{k}]" for k in (1, 2, 3)}
    assert {v.name for v in depends["bus.acceleration[2]"]} == inputs - gravity | {"system.gravity[2]"}
    assert {v.name for v in depends["panel.joint.reaction"]} == inputs - gravity  # which is uniform, and the bus floats
    springs = {"panel.joint.rest", "boom.joint.rest[1]", "boom.joint.rest[2]"}
    assert {v.name for v in depends["system.energy"]} == springs | gravity


def test_dependencies_are_written_out_also_where_there_are_none(xml):
    nodes = list(xml.find("ModelStructure/Outputs"))
    assert all(node.get("dependencies") is not None for node in nodes)
    assert all(set((node.get("dependenciesKind") or "dependent").split()) == {"dependent"} for node in nodes)


def test_long_dependencies_are_left_out_which_means_all(monkeypatch, tmp_path):
    assert MOST_DEPENDENCIES > 300_000
    monkeypatch.setattr("mbdy.fmu.description.structure.MOST_DEPENDENCIES", 100)
    fmu = export_fmu(chain(1), tmp_path / "c.fmu", kind="python")
    description = fmpy.read_model_description(fmu, validate_model_structure=True)
    depends = {u.variable.name or "": u.dependencies for u in description.outputs}
    assert depends["bus.omega[1]"] == []
    assert depends["bus.acceleration[1]"] is None


def test_capabilities_and_experiment(description, xml):
    simulation = description.coSimulation
    assert simulation.canHandleVariableCommunicationStepSize
    assert simulation.canGetAndSetFMUstate
    assert simulation.canSerializeFMUstate
    assert not simulation.canBeInstantiatedOnlyOncePerProcess
    experiment = description.defaultExperiment
    assert (experiment.startTime, experiment.stopTime, experiment.stepSize) == ("0", "10", "0.001")
    assert description.variableNamingConvention == "structured"
    assert description.generationTool.startswith("mbdy ")
    assert description.modelName == "two-panel satellite"
    assert {node.get("name") for node in xml.iter("Category")} >= {"logStatusDiscard", "logStatusError", "logAll"}


@pytest.mark.parametrize("name", ["7 Ünïcode <&> \"sat\" 'x'", "файл", "a" * 300, "class", "\x01control", "-.-"])
def test_any_name_of_a_model(opened, export, name):
    fmu = export(replace(chain(1), name=name))
    assert validate_fmu(str(fmu)) == []
    description = fmpy.read_model_description(fmu)
    assert description.modelName == visible(name)
    identifier = description.coSimulation.modelIdentifier
    assert identifier.isascii()
    assert identifier.isidentifier()
    opened(fmu).initialize().step()


def test_starts_read_back_exactly(tmp_path):
    model = satellite(mass=12.1 + 1e-15)
    model = replace(model, initial={**model.initial, "bus.omega": (1 / 3, -1e-300, 2e22)})
    v = variables(fmpy.read_model_description(export_fmu(model, tmp_path / "exact.fmu")))
    assert float(v["panel.mass"].start) == 12.1 + 1e-15
    assert [float(v[f"bus.omega[{k}]"].start) for k in (1, 2, 3)] == [1 / 3, -1e-300, 2e22]
