"""Makes an FMU (FMI 2.0, co-simulation) of the controller in controller.py, with pythonfmu.

    python controller_fmu.py -o controller.fmu

Its inputs are called as the satellite's outputs, its outputs as the satellite's inputs, so that
``mbdy ssp satellite.toml --controller controller.fmu -o system.ssp`` finds what belongs together. Change the law in
controller.py; other inputs, outputs or parameters are listed in controller_slave.py.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from pythonfmu import FmuBuilder

HERE = Path(__file__).parent
LAW, SLAVE = HERE / "controller.py", HERE / "controller_slave.py"

UNITS = {"1": {}, "rad/s": {"s": -1, "rad": 1}, "N.m": {"kg": 1, "m": 2, "s": -2}}
"""Exponents of the base units."""
UNIT_OF = {
    "bus.attitude": "1", "bus.omega": "rad/s", "bus.torque": "N.m", "target": "1", "bandwidth": "rad/s", "ratio": "1",
}  # fmt: skip


def build(path: Path) -> Path:
    """The controller's FMU at ``path``."""
    contents = SLAVE.read_bytes() + LAW.read_bytes()
    name = f"attitude_controller_{hashlib.sha256(contents).hexdigest()[:12]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        slave, law = Path(folder) / f"{name}.py", Path(folder) / f"{name}_law.py"
        slave.write_bytes(SLAVE.read_bytes())
        law.write_bytes(LAW.read_bytes())
        known = list(sys.path)
        try:
            built = FmuBuilder.build_FMU(
                slave, Path(folder) / "built.fmu", {law}, canGetAndSetFMUstate=True, canSerializeFMUstate=True
            )
        finally:
            sys.path[:] = known
        with zipfile.ZipFile(built) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.namelist():
                data = old.read(entry)
                new.writestr(entry, completed(data) if entry == "modelDescription.xml" else data)
    return path


def completed(description: bytes) -> bytes:
    """A modelDescription.xml with what pythonfmu leaves out: units, and which outputs an initialisation yields."""
    root = ElementTree.fromstring(description)
    defined = Element("UnitDefinitions")
    for name, exponents in UNITS.items():
        unit = SubElement(defined, "Unit", name=name)
        SubElement(unit, "BaseUnit", {base: str(power) for base, power in exponents.items()})
    simulation = root.find("CoSimulation")
    assert simulation is not None  # pythonfmu makes FMUs for co-simulation
    root.insert(list(root).index(simulation) + 1, defined)
    for variable in root.iter("ScalarVariable"):
        variable[0].set("unit", UNIT_OF[variable.attrib["name"].split("[")[0]])
    outputs, structure = root.find("ModelStructure/Outputs"), root.find("ModelStructure")
    assert outputs is not None
    assert structure is not None
    initial = SubElement(structure, "InitialUnknowns")
    for output in outputs:
        SubElement(initial, "Unknown", output.attrib)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes an FMU of the controller in controller.py.")
    parser.add_argument("-o", "--output", type=Path, default=Path("controller.fmu"), help="file (controller.fmu)")
    print(build(parser.parse_args().output))


if __name__ == "__main__":
    main()
