"""Descriptions without the FMU behind them: models of all sorts, and files as an FMU would carry them."""

from __future__ import annotations

import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

from flavours import Flavour
from fmu.client import satellite
from mbdy.engine import Model, ModelWarning, Ports, load, ports
from mbdy.engine.order_n.derivatives import incidence
from mbdy.engine.order_n.equations import equations
from mbdy.fmu.description.build import build_description
from mbdy.fmu.description.model_description import About, description
from mbdy.fmu.pages.terminals import terminal_files
from mbdy.fmu.table import Array, Scalar, arrays, scalars

SOURCES = ("fmi.c", "model.c")


@dataclass(frozen=True)
class Described:
    """A model as one flavour describes it, and the FMU file that holds the description around a dummy library."""

    model: Model
    ports: Ports
    fmi: str
    kind: str
    table: tuple[Scalar, ...]
    variables: tuple[Array, ...]
    xml: bytes
    fmu: Path


def described(model: Model, flavour: Flavour, folder: Path, *, sparse: bool = False) -> Described:
    """``sparse`` with dependencies as sparse as the equations, as an export has them."""
    fmi, kind, scalar = flavour.fmi, flavour.kind, flavour.scalars
    made = ports(model)
    known = incidence(equations(model), model) if sparse else None
    table = scalars(made, derivatives=kind == "native", independent=fmi == "3.0", incidence=known)
    about = About(name=model.name, description="for tests", guid="{a-b}", tool="mbdy 0", step=1e-3)
    sources = SOURCES if kind == "native" else ()
    xml = description(about, table, identifier="dummy", fmi=fmi, kind=kind, sources=sources, scalars=scalar)
    variables = arrays(table, scalars=scalar or fmi == "2.0")
    files = {
        "modelDescription.xml": xml,
        "binaries/linux64/dummy.so" if fmi == "2.0" else "binaries/x86_64-linux/dummy.so": b"",
        **{f"sources/{name}": b"" for name in sources},
        **terminal_files(model, variables, fmi),
    }
    if sources and fmi == "3.0":
        files["sources/buildDescription.xml"] = build_description(fmi, "dummy", sources, {"DUMMY": "1"})
    fmu = folder / "dummy.fmu"
    with zipfile.ZipFile(fmu, "w") as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return Described(model, made, fmi, kind, table, variables, xml, fmu)


def model_of(path: Path | None) -> Model:
    """An example's model, the satellite of the other tests without one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # oddities of published numbers, told in their README.md
        return load(path) if path else satellite()
