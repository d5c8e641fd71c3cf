"""All that mbdy raises and warns of has one base each, and stands in the doors."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import mbdy
import mbdy.blocks
import mbdy.blocks.jpl
import mbdy.blocks.rig
import mbdy.engine
import mbdy.fmu
from mbdy.engine import MbdyError, MbdyWarning

DOORS = (mbdy.engine, mbdy.blocks, mbdy.blocks.jpl, mbdy.blocks.rig, mbdy.fmu)
OWN_WORLD = ("mbdy.app", "mbdy.fmu.python.slave")
"""Commands tell their faults as words and exit statuses; slaves run without mbdy."""
BUILT_IN = {"ValueError", "KeyError", "TypeError", "IndexError", "ImportError", "RuntimeError", "ArithmeticError"}
INTERNAL = {
    ("kernels.py", "TypeError"),
    ("mat_file.py", "ValueError"),
    ("sid_text.py", "IndexError"),
    ("write.py", "TypeError"),
}
"""Never seen outside: a programmer's slip, and what is caught where it is raised."""


def modules() -> list[str]:
    names = (module.name for module in pkgutil.walk_packages(mbdy.__path__, "mbdy."))
    return [name for name in names if not name.startswith(OWN_WORLD)]


def test_every_error_and_warning_has_its_base_and_stands_in_a_door():
    exported = {thing for door in DOORS for thing in (getattr(door, name) for name in door.__all__)}
    seen = 0
    for name in modules():
        if name.startswith("mbdy.fmu.python"):
            continue
        for thing in vars(importlib.import_module(name)).values():
            if inspect.isclass(thing) and issubclass(thing, Exception) and thing.__module__.startswith("mbdy."):
                assert issubclass(thing, MbdyWarning if issubclass(thing, Warning) else MbdyError), thing
                assert thing in exported or thing.__name__.startswith("_"), thing
                seen += 1
    assert seen > 20


def test_nothing_raises_a_bare_built_in():
    roots = (Path(door.__file__ or "").parent for door in (mbdy.engine, mbdy.blocks, mbdy.fmu))
    for path in (path for root in roots for path in root.rglob("*.py")):
        if "slave" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                raised = node.exc if isinstance(node, ast.Raise) else None
                named = raised.func if isinstance(raised, ast.Call) else raised
                if isinstance(named, ast.Name) and (path.name, named.id) not in INTERNAL:
                    assert named.id not in BUILT_IN, f"{path}:{node.lineno}"
