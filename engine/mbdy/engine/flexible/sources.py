"""Sources of modal data that a model file can name: the function of this room that makes the body, and its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Key:
    """What a key takes: values of ``types``, alone or in lists; numbers with a ``unit`` are read in it, a `Path` is the
    name of a file.

    ``named``: a table of such values by name. ``required``: the function has no default for it.
    """

    types: tuple[type, ...]
    unit: str = ""
    named: bool = False
    required: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """``function`` of ``module`` in `mbdy.engine.flexible`, which is imported where a file names the source.

    ``keys`` are its arguments but those that come from the tables of the body and its nodes.
    """

    module: str
    function: str
    keys: Mapping[str, Key]


def _number(unit: str, *, required: bool = False) -> Key:
    return Key((float,), unit, required=required)


COUNT, TEXT, FILE = Key((int,)), Key((str,)), Key((Path,))
NUMBERS = Key((int,), named=True)
MODES = Key((int,), required=True)
AXES = {"axis": Key((float, str)), "normal": _number("1")}

SOURCES: Mapping[str, Source] = {
    "beam": Source("beam", "beam", {
        "length": _number("m", required=True), "mass_per_length": _number("kg/m", required=True),
        "bending_stiffness": _number("N.m2", required=True), "modes": MODES, "damping_ratio": _number("1"),
        "torsional_stiffness": _number("N.m2"), "polar_inertia": _number("kg.m"), "tip_mass": _number("kg"),
        "tip_inertia": _number("kg.m2"), "ends": TEXT, "stiffening": TEXT, **AXES, "origin": _number("m"),
        "clamp": Key((bool,)),
    }),
    "plate": Source("plate", "plate", {
        "length": _number("m", required=True), "width": _number("m", required=True),
        "mass_per_area": _number("kg/m2", required=True), "rigidity": _number("N.m"), "youngs_modulus": _number("Pa"),
        "thickness": _number("m"), "poisson": _number("1"), "modes": MODES, "damping_ratio": _number("1"), "ends": TEXT,
        **AXES,
    }),
    "torsion": Source("torsion", "torsion", {
        "length": _number("m", required=True), "mass_per_length": _number("kg/m", required=True),
        "polar_inertia": _number("kg.m", required=True), "torsional_stiffness": _number("N.m2", required=True),
        "modes": MODES, "damping_ratio": _number("1"), "tip_mass": _number("kg"), "tip_inertia": _number("kg.m2"),
        "ends": TEXT, **AXES,
    }),
    "reduce": Source("model_files", "reduced", {
        "interface": Key((int,), required=True), "modes": MODES, "mass": FILE, "stiffness": FILE, "table": FILE,
        "bulk": FILE, "punch": FILE, "boundary": COUNT, "attachment": COUNT, "damping_ratio": _number("1"),
        "origin": _number("m"), "numbers": NUMBERS,
    }),
    "file": Source("model_files", "modal_file", {
        "path": Key((Path,), required=True), "numbers": NUMBERS, "joints": NUMBERS,
    }),
}  # fmt: skip
"""By the key of ``[body.NAME.flex]`` that names them; each brings all modal data, mass, mass centre and inertia of the
body, and the shapes of its nodes."""
