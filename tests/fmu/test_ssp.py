"""A model and a controller as an SSP package: what it holds, what is connected, what is refused."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from fmpy.ssp.ssd import read_ssd, read_ssv
from fmpy.validation import validate_fmu
from lxml import etree

from fmu.ssp_cases import BASE_UNITS, DRIVEN, SENSED, described
from mbdy.blocks import VariableError
from mbdy.engine import Joint, Model, loads, ports
from mbdy.fmu import ExportError, SystemNote, export_ssp
from mechanisms import FOUR_BAR_FILE
from systems import chain

NS = {
    name: f"http://ssp-standard.org/SSP1/SystemStructure{end}"
    for name, end in (("ssc", "Common"), ("ssd", "Description"), ("ssv", "ParameterValues"))
}


@pytest.fixture(scope="module")
def plain() -> Model:
    """A free bus, called so, with a panel that can be locked."""
    bus, panel = (replace(body, name=name) for body, name in zip(chain(1).bodies, ("bus", "panel"), strict=True))
    joint = replace(panel.joint, to="bus", motion=("switchable",))
    assert isinstance(joint, Joint)
    return Model(name="plain", bodies=(bus, replace(panel, joint=joint)), initial={"bus.omega": (0.1, 0.0, 0.0)})


def connections(path: Path) -> dict[str, str]:
    """What drives what between the FMUs: input to output."""
    system = read_ssd(str(path)).system
    assert system is not None
    return {
        f"{c.endElement}.{c.endConnector}": f"{c.startElement}.{c.startConnector}"
        for c in system.connections
        if c.endElement
    }


def tree(path: Path, name: str = "SystemStructure.ssd"):
    with zipfile.ZipFile(path) as opened:
        return etree.fromstring(opened.read(name))


def test_what_the_package_holds(plain, tmp_path):
    path = export_ssp(plain, described(tmp_path / "c.fmu"), tmp_path / "deep" / "system.ssp")
    with zipfile.ZipFile(path) as opened:
        assert opened.namelist() == [
            "SystemStructure.ssd", "resources/plant.fmu", "resources/plant.ssv", "resources/controller.fmu",
        ]  # fmt: skip
        assert opened.read("resources/controller.fmu") == (tmp_path / "c.fmu").read_bytes()
        opened.extract("resources/plant.fmu", tmp_path)
    assert validate_fmu(str(tmp_path / "resources/plant.fmu")) == []
    root = tree(path)
    components = root.findall(".//ssd:Component", NS)
    assert [c.get("name") for c in components] == ["plant", "controller"]
    assert {c.get("implementation") for c in components} == {"CoSimulation"}
    assert root.find("ssd:DefaultExperiment", NS).get("stopTime") == "10"
    assert 'FixedStepAlgorithm baseStepSize="0.001"' in etree.tostring(root).decode()


def test_equal_names_are_connected_in_both_directions(plain, tmp_path):
    path = export_ssp(plain, described(tmp_path / "c.fmu"), tmp_path / "system.ssp")
    wanted = {f"controller.{n}": f"plant.{n}" for n in SENSED} | {f"plant.{n}": f"controller.{n}" for n in DRIVEN}
    assert connections(path) == wanted


def test_every_connector_has_its_unit_and_every_unit_its_definition(plain, tmp_path):
    root = tree(export_ssp(plain, described(tmp_path / "c.fmu"), tmp_path / "system.ssp"))
    reals = root.findall(".//ssd:Connector/ssc:Real", NS)
    defined = {unit.get("name"): dict(unit[0].attrib) for unit in root.findall(".//ssd:Units/ssc:Unit", NS)}
    assert len(reals) > 30
    assert {real.get("unit") for real in reals} == set(defined) == {"rad/s", "rad", "1", "N.m"}
    assert defined["N.m"] == {"kg": "1", "m": "2", "s": "-2"}
    assert root.find(".//ssd:Component/ssd:Connectors/ssd:Connector[@name='bus.torque[1]']", NS).get("kind") == "input"


def test_only_connected_inputs_have_connectors(plain, tmp_path):
    """A simulator may set every input that has a connector: gravity, say, would be lost."""
    system = read_ssd(str(export_ssp(plain, described(tmp_path / "c.fmu"), tmp_path / "system.ssp"))).system
    assert system is not None
    inputs = {c.name for element in system.elements for c in element.connectors if c.kind == "input"}
    assert inputs == {*SENSED, *DRIVEN}


def test_rates_and_attitudes_are_outputs_of_the_system(plain, tmp_path):
    def shown(**options) -> list[str]:
        system = read_ssd(str(export_ssp(plain, controller, tmp_path / "system.ssp", **options))).system
        assert system is not None
        return [c.name for c in system.connectors]

    controller = described(tmp_path / "c.fmu")
    table = ports(plain)
    wanted = [v for v in table.outputs if v.port in ("omega", "attitude", "joint_rates", "joint_positions")]
    assert shown() == [name for v in wanted for name in v.scalar_names]
    assert {"bus.omega[1]", "bus.attitude[4]", "panel.joint.angle", "panel.joint.rate"} <= set(shown())
    assert shown(outputs=["panel.joint.*", "system.mass"])[-1] == "system.mass"
    assert shown(outputs=()) == []
    with pytest.raises(VariableError, match=r"no output matches 'bus\.omga'"):
        shown(outputs=["bus.omga"])


def test_parameters_with_values_and_units(plain, tmp_path):
    path = export_ssp(plain, described(tmp_path / "c.fmu"), tmp_path / "system.ssp")
    given = {p.name: p for p in read_ssv(str(path), "resources/plant.ssv").parameters}
    assert list(given) == list(ports(plain).parameter_names)
    assert float(given["bus.mass"].value) == plain.bodies[0].mass
    assert given["bus.mass"].unit == "kg"
    defined = {unit.get("name") for unit in tree(path, "resources/plant.ssv").findall(".//ssc:Unit", NS)}
    assert {parameter.unit for parameter in given.values()} == defined
    sources = [b.get("source") for b in tree(path).findall(".//ssd:ParameterBinding", NS)]
    assert sources == ["resources/plant.ssv"]


def test_any_name_of_a_model(plain, tmp_path):
    path = export_ssp(replace(plain, name="7 Ünï <&> \x01"), described(tmp_path / "c.fmu"), tmp_path / "system.ssp")
    assert read_ssd(str(path)).name == "7 Ünï <&> \\x01"


def test_equal_exports_are_equal_files(plain, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    controller = described(tmp_path / "c.fmu")
    one, other = (export_ssp(plain, controller, tmp_path / n).read_bytes() for n in ("a.ssp", "b.ssp"))
    assert one == other


def test_other_names_are_connected_as_told(plain, tmp_path):
    controller = described(
        tmp_path / "c.fmu", inputs={"rate[1]": "rad/s", "rate[2]": "rad/s", "rate[3]": "rad/s"}, outputs={"T": "N.m"}
    )
    told = [("plant.bus.omega", "controller.rate"), ("controller.T", "plant.bus.torque[2]")]
    path = export_ssp(plain, controller, tmp_path / "system.ssp", connect=told)
    assert connections(path) == {f"controller.rate[{k}]": f"plant.bus.omega[{k}]" for k in (1, 2, 3)} | {
        "plant.bus.torque[2]": "controller.T"
    }


def test_what_is_told_is_not_connected_by_name_too(plain, tmp_path):
    told = [("controller.bus.torque", "plant.panel.torque")]
    path = export_ssp(plain, described(tmp_path / "c.fmu"), tmp_path / "system.ssp", connect=told)
    driven = {name for name in connections(path) if name.startswith("plant.")}
    assert driven == {f"plant.panel.torque[{k}]" for k in (1, 2, 3)}


def test_units_that_differ_are_converted_by_a_transformation(plain, tmp_path):
    controller = described(tmp_path / "c.fmu", inputs=dict.fromkeys(SENSED, "deg/s"), outputs=DRIVEN)
    with pytest.warns(SystemNote, match=r"plant\.bus\.omega\[1\] in rad/s to controller\.bus\.omega\[1\] in deg/s"):
        path = export_ssp(plain, controller, tmp_path / "system.ssp")
    made = tree(path).findall(".//ssd:Connection[ssc:LinearTransformation]", NS)
    assert len(made) == 3
    assert {c.get("suppressUnitConversion") for c in made} == {"true"}
    (factor,) = {float(c[0].get("factor")) for c in made}
    assert factor * 0.017453292519943295 == pytest.approx(1.0, rel=1e-15)
    connector = tree(path).find(
        ".//ssd:Component[@name='controller']//ssd:Connector[@name='bus.omega[1]']/ssc:Real", NS
    )
    assert connector.get("unit") == "deg/s"


def test_variables_without_a_unit_have_that_of_the_other_side(plain, tmp_path):
    controller = described(tmp_path / "c.fmu", inputs=dict.fromkeys(SENSED, ""), outputs=DRIVEN)
    with pytest.warns(SystemNote, match=r"that of the other side: controller\.bus\.omega\[1\] in rad/s"):
        path = export_ssp(plain, controller, tmp_path / "system.ssp")
    assert all(real.get("unit") for real in tree(path).findall(".//ssd:Connector/ssc:Real", NS))


def test_booleans_are_connected(plain, tmp_path):
    controller = described(
        tmp_path / "c.fmu", outputs={**DRIVEN, "panel.joint.locked": ""}, types={"panel.joint.locked": "Boolean"}
    )
    path = export_ssp(plain, controller, tmp_path / "system.ssp")
    assert connections(path)["plant.panel.joint.locked"] == "controller.panel.joint.locked"
    assert len(tree(path).findall(".//ssd:Connector/ssc:Boolean", NS)) == 2


def test_a_name_that_nothing_has_stays_open_and_is_told(plain, tmp_path):
    controller = described(tmp_path / "c.fmu", inputs={**SENSED, "bus.atitude[1]": "1"})
    with pytest.warns(
        SystemNote, match=r"input 'bus\.atitude\[1\]' is no output of the plant; near: bus\.attitude\[1\]"
    ):
        path = export_ssp(plain, controller, tmp_path / "system.ssp")
    assert "controller.bus.atitude[1]" not in connections(path)


def test_an_algebraic_loop_is_told(plain, tmp_path):
    controller = described(tmp_path / "c.fmu", inputs={"bus.acceleration[1]": "m/s2"})
    loop = r"algebraic loop: .*plant\.bus\.acceleration\[1\]"
    with pytest.warns(SystemNote, match=loop):
        export_ssp(plain, controller, tmp_path / "system.ssp")


@pytest.mark.parametrize(
    ("options", "connect", "said"),
    [
        ({"inputs": {"bus.omga[1]": "rad/s"}}, [],
         r"input 'bus\.omga\[1\]' is no output of the plant; near: bus\.omega\[1\].*--connect"),
        ({"outputs": {"bus.tork[1]": "N.m"}}, [],
         r"output 'bus\.tork\[1\]' is no input of the plant; near: bus\.torque\[1\].*rename it or connect it"),
        ({}, [("controller.bus.tork", "plant.bus.torque")],
         r"controller\.bus\.tork: .* has no such variable; near: bus\.torque\[\d\]"),
        ({}, [("controller.bus.torque[1]", "plant.bus.mass")], r"plant\.bus\.mass: is a parameter, must be an input"),
        ({}, [("plant.bus.omega", "controller.bus.torque")], r"controller\.bus\.torque\[1\]: is an output, must be an"),
        ({}, [("plant.bus.omega", "plant.bus.torque")], r"both are of the plant"),
        ({}, [("bus.omega", "controller.x")], r"'bus\.omega': must be a variable of the plant or the controller"),
        ({}, [("plant.bus.attitude", "controller.bus.omega")],
         r"plant\.bus\.attitude has 4 elements, controller\.bus\.omega has 3"),
        ({}, [("controller.bus.torque[1]", "plant.bus.torque[2]"), ("controller.bus.torque[3]", "plant.bus.torque[2]")],
         r"plant\.bus\.torque\[2\]: driven by controller\.bus\.torque\[1\] and by controller\.bus\.torque\[3\]"),
        ({"inputs": {"bus.omega[1]": "m/s2"}}, [],
         r"plant\.bus\.omega\[1\] is in rad/s, controller\.bus\.omega\[1\] in m/s2: .* different quantities"),
        ({"inputs": {"bus.omega[1]": "rpm"}, "units": {"rpm": None, "N.m": BASE_UNITS["N.m"]}}, [],
         r"controller\.bus\.omega\[1\]: its unit 'rpm' has no base units in"),
        ({"inputs": {"bus.omega[1]": "rpm"}}, [], r"breaks the rules of FMI: The unit \"rpm\""),
        ({"types": {"bus.omega[1]": "Boolean"}, "inputs": {"bus.omega[1]": ""}}, [],
         r"plant\.bus\.omega\[1\] is Real, controller\.bus\.omega\[1\] is Boolean"),
        ({"units": {"rad/s": {"s": "-1"}, "N.m": {"m": "1"}}}, [], r"'N\.m' is 1 m in .* and 1 kg\.m2\.s-2 in the"),
        ({"version": "3.0"}, [], r"is of FMI 3\.0; export it as FMI 2\.0"),
        ({"element": "ModelExchange"}, [], "for model exchange only"),
        ({"element": "Nonsense"}, [], r"breaks the rules of FMI: .*Nonsense"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(plain, tmp_path, options, connect, said):
    with pytest.raises(ExportError, match=said):
        export_ssp(plain, described(tmp_path / "c.fmu", **options), tmp_path / "system.ssp", connect=connect)
    assert not (tmp_path / "system.ssp").exists()


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (None, "no such file"),
        (b"mbdy = 1", "is no FMU"),
        ({"a.txt": ""}, r"holds no modelDescription\.xml"),
        ({"modelDescription.xml": "<fmi"}, "damaged FMU"),
        ({"modelDescription.xml": "<fmi/>"}, r"is of FMI no version; export it as FMI 2\.0"),
    ],
)
def test_what_is_no_fmu_is_refused(plain, tmp_path, contents, said):
    controller = tmp_path / "c.fmu"
    if isinstance(contents, bytes):
        controller.write_bytes(contents)
    elif contents is not None:
        with zipfile.ZipFile(controller, "w") as packed:
            for name, text in contents.items():
                packed.writestr(name, text)
    with pytest.raises(ExportError, match=said):
        export_ssp(plain, controller, tmp_path / "system.ssp")


def test_where_no_package_can_be(plain, tmp_path):
    controller = described(tmp_path / "c.fmu")
    (tmp_path / "folder.ssp").mkdir()
    for path, said in (("system.zip", r"ends in \.ssp, e\.g\. .*system\.ssp"), ("folder.ssp", "is a folder")):
        with pytest.raises(ExportError, match=said):
            export_ssp(plain, controller, tmp_path / path)


def test_start_values_that_closing_finds_are_no_parameters(tmp_path):
    """A simulator that sets all parameters would give them, and none could move when one of them is changed."""
    text = f"""{FOUR_BAR_FILE}
[ports]
inputs = ["crank.joint.torque"]
outputs = ["crank.joint.angle"]
[initial]
crank.joint.rate = 1
"""
    controller = described(tmp_path / "c.fmu", inputs={"crank.joint.angle": ""}, outputs={"crank.joint.torque": "N.m"})
    with pytest.warns(SystemNote):
        path = export_ssp(loads(text), controller, tmp_path / "system.ssp", kind="python")
    parameters = {p.get("name") for p in tree(path, "resources/plant.ssv").iter("{*}Parameter")}
    assert {"crank.joint.rate", "crank.mass"} <= parameters
    assert not parameters & {"coupler.joint.rate", "coupler.joint.angle", "rocker.joint.angle"}
