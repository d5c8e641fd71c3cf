"""Spellings that stand for others before the tables are judged: ``[default]``, and inertia by its entries."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from mbdy.engine.files.tables import BodyTable, JointTable, LoopTable, StrictTable, WheelTable
from mbdy.engine.flexible.sources import SOURCES
from mbdy.engine.model.faults import Fault, Findings, nearest, path_of, shown
from mbdy.engine.model.inertia_spellings import rows_of_entries
from mbdy.engine.model.joint_values import KEYS

Tables = dict[str, Any]
OF_EACH = {"joint", "wheel", "node", "flex", "a", "b"}
"""What no default can say."""
MATERIAL = {"mass", "com", "inertia", "inertia_about"}
AXES = {"axis", "axes", "sequence", "translation", "rotation"}


def _keys(table: type[StrictTable]) -> set[str]:
    return set(table.model_fields) - OF_EACH


DEFAULTS: Mapping[tuple[str, ...], set[str]] = {
    ("body",): _keys(BodyTable) | {"joint", "wheel"},
    ("body", "joint"): _keys(JointTable),
    ("body", "wheel"): _keys(WheelTable),
    ("loop",): _keys(LoopTable),
}
"""Tables of ``[default]`` and what they may have."""


class Spellings:
    """What of the parsed file ``raw``, which is changed, stands for something else; faults go to ``findings``."""

    def __init__(self, raw: Tables, findings: Findings) -> None:
        self.findings = findings
        self.inherited: dict[str, str] = {}
        """Paths of values that come from a default, to where that stands."""
        given = raw.pop("default", {})
        self.defaults = {place: self._table(given, place) for place in ((), *DEFAULTS)}
        leaves = ((*place, key) for place in DEFAULTS for key in self.defaults[place])
        self.unused = {path_of(("default", *leaf)) for leaf in leaves if leaf not in DEFAULTS}
        for name, body in _tables(raw, "body"):
            self._fill_body(body, name)
            if isinstance(body.get("inertia"), dict):
                path = path_of(("body", name, "inertia"))
                before = len(findings.faults)
                rows = rows_of_entries(body["inertia"], path, findings)
                body["inertia"] = rows if len(findings.faults) == before else [0, 0, 0]
        for name, loop in _tables(raw, "loop"):
            self._fill(loop, ("loop", name), ("loop",), DEFAULTS["loop",])
        for path in sorted(self.unused):
            findings.warn(path, "is a default that nothing uses", "remove it")

    def at_home(self) -> None:
        """Gives findings about values that come from a default the place where that stands."""
        for found in (self.findings.faults, self.findings.warnings):
            found[:] = dict.fromkeys(map(self._moved, found))

    def _moved(self, fault: Fault) -> Fault:
        for path, home in self.inherited.items():
            if fault.path == path or fault.path.startswith((f"{path}.", f"{path}[")):
                return replace(fault, path=home + fault.path[len(path) :])
        return fault

    def _table(self, given: Any, place: tuple[str, ...]) -> Tables:
        """The table of ``[default]`` at ``place`` without what cannot be there."""
        path = ("default", *place)
        for step in place:
            given = given.get(step, {}) if isinstance(given, dict) else {}
        if not isinstance(given, dict):
            self.findings.refuse(path_of(path), f"must be a table, got {shown(given)}", f"write [{path_of(path)}]")
            return {}
        known = DEFAULTS.get(place, {step for step, *rest in DEFAULTS if not rest})
        homes = {"joint": "[default.body.joint]", "wheel": "[default.body.wheel]"}
        for key in given.keys() - known:
            remedy = f"write {homes[key]}" if key in homes else nearest(key, sorted(known))
            self.findings.refuse(path_of((*path, key)), "is no default", remedy)
        return {key: value for key, value in given.items() if key in known}

    def _fill_body(self, body: Tables, name: str) -> None:
        flex = body.get("flex")
        made = isinstance(flex, dict) and any(key in flex for key in SOURCES)
        self._fill(body, ("body", name), ("body",), DEFAULTS["body",] - (MATERIAL if made else set()))
        default = self.defaults["body", "joint"]
        joint = body.setdefault("joint", {}) if default else None
        if isinstance(joint, dict):
            own_axes = AXES & joint.keys()
            usual = None if own_axes & {"translation", "rotation"} else default.get("kind")
            kind = joint.get("kind", usual)
            takes = KEYS.get(kind or "general", set()) if isinstance(kind, str | None) else set()
            takes = {"to"} | ({"kind"} if kind else set()) | (takes - AXES if own_axes else takes)
            self._fill(joint, ("body", name, "joint"), ("body", "joint"), takes)
        for wheel, table in _tables(body, "wheel"):
            self._fill(table, ("body", name, "wheel", wheel), ("body", "wheel"), DEFAULTS["body", "wheel"])

    def _fill(self, table: Tables, path: tuple[str, ...], place: tuple[str, ...], takes: set[str]) -> None:
        """Gives a ``table`` the defaults of ``place`` that it ``takes`` and does not have."""
        for key, value in self.defaults[place].items():
            if key in takes and (*place, key) not in DEFAULTS and key not in table:
                table[key] = deepcopy(value)
                home = path_of(("default", *place, key))
                self.inherited[path_of((*path, key))] = home
                self.unused.discard(home)


def _tables(raw: Tables, key: str) -> list[tuple[str, Tables]]:
    """The tables called ``key`` by name, those that are tables."""
    named = raw.get(key)
    pairs = named.items() if isinstance(named, dict) else ()
    return [(name, table) for name, table in pairs if isinstance(table, dict)]
