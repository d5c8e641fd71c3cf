"""What a model file may say: its tables, their keys and the types of their values.

A number is in SI, text carries its unit (`mbdy.engine.model.units`). `read_tables` tells everything that is wrong
and answers with what is left without it, so that what depends on several tables can be judged too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from mbdy.engine.files.formats import FORMAT
from mbdy.engine.flexible.sources import SOURCES
from mbdy.engine.model.bearing import BEARING
from mbdy.engine.model.contacts import CONTACT_VALUES
from mbdy.engine.model.faults import Findings, RefusalError, nearest, path_of, shown
from mbdy.engine.model.fields import (
    Accelerations,
    Angle,
    Axes,
    Axis,
    BodyMass,
    DynamicImbalance,
    GravitationalParameter,
    InertiaAbout,
    InertiaTensor,
    Lengths,
    OrbitPosition,
    Rotation,
    SpinInertia,
    StaticImbalance,
    Switch,
    WheelHarmonics,
    bearing_number,
)
from mbdy.engine.model.laws import JOINT_VALUES
from mbdy.engine.model.springs import SPRING_VALUES
from mbdy.engine.model.system import ZERO3

REMEDIES = {
    "mbdy": "give the format version, mbdy = 1",
    "mass": 'give it in kg, e.g. mass = "500 kg"',
    "joint": 'say what it hangs on, e.g. joint = { to = "inertial", kind = "free" }',
    "to": 'name the parent body, or to = "inertial"',
    "axis": "give three components, e.g. axis = [0, 0, 1]",
    "inertia": "give it in kg.m2, e.g. inertia = 0.05",
    "at": "give three lengths, e.g. at = [0, 0, 0.5]",
    "a": 'name a body or one of its nodes, e.g. a = "rocker.tip"',
    "b": 'name a body, one of its nodes or "inertial", e.g. b = "inertial"',
}
"""What to do about a key that is missing or has no sense, by key."""


class StrictTable(BaseModel):
    """A table of the file: no other keys than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


AnyTable = TypeVar("AnyTable", bound=StrictTable)


def _with_keys(keys: Mapping[str, Any]) -> Callable[[type[AnyTable]], type[AnyTable]]:
    """Adds keys, each with its type and default, that follow from other tables of the engine."""
    return lambda table: create_model(table.__name__, __base__=table, __doc__=table.__doc__, **keys)


class SystemTable(StrictTable):
    """``[system]``: uniform ``gravity`` [m/s2], inertial axes; whether there is a ``gravity_gradient``, and for it the
    ``orbit_position`` [m] of the system's mass centre and the ``gravitational_parameter`` [m3/s2]."""

    gravity: Accelerations = ZERO3
    gravity_gradient: Switch = False
    orbit_position: OrbitPosition | None = None
    gravitational_parameter: GravitationalParameter | None = None


@_with_keys(dict.fromkeys((name for name, value in JOINT_VALUES.items() if not value.table), (Any, None)))
class JointTable(StrictTable):
    """``[body.NAME.joint]`` with the values of its laws; `mbdy.engine.files.joints` says which keys a kind takes."""

    to: str
    kind: str | None = None
    at: Lengths = ZERO3
    frame: Any = None
    at_b: Lengths = ZERO3
    frame_b: Any = None
    axes_in: Any = None
    slew: Any = None
    axis: Axis | None = None
    axes: Axes | None = None
    sequence: str | None = None
    translation: Axes | None = None
    rotation: Rotation | None = None
    motion: Any = None
    rotor_axis: Any = None


@_with_keys({name: (bearing_number(value), value.default) for name, value in BEARING.items()})
class WheelTable(StrictTable):
    """``[body.NAME.wheel.NAME]``: spin ``axis`` [-] in body axes, spin ``inertia`` [kg.m2], its bearing, and what
    makes it a rotor of its own."""

    axis: Axis
    inertia: SpinInertia
    angle: Switch = False
    at: Lengths = ZERO3
    mass: BodyMass | None = None
    static_imbalance: StaticImbalance = 0.0
    static_phase: Angle = 0.0
    dynamic_imbalance: DynamicImbalance = 0.0
    dynamic_phase: Angle = 0.0
    harmonics: WheelHarmonics = ()


class NodeTable(StrictTable):
    """``[body.NAME.node.NAME]``: ``at`` [m] from the body's origin, body axes; ``shape`` and ``bend`` by modes."""

    at: Lengths
    shape: Any = None
    bend: Any = None


@_with_keys(dict.fromkeys(SOURCES, (Any, None)))
class FlexTable(StrictTable):
    """``[body.NAME.flex]``: modal data, or where they come from; `mbdy.engine.files.modes` reads the values."""

    frequencies: Any = None
    damping_ratios: Any = None
    mass: Any = None
    stiffness: Any = None
    damping: Any = None
    coupling: Any = None
    inertia_first: Any = None
    inertia_second: Any = None
    gyroscopic: Any = None
    moment_second: Any = None


class BodyTable(StrictTable):
    """``[body.NAME]``: ``mass`` [kg], ``com`` [m] from the origin, ``inertia`` [kg.m2] about it, or what it says.

    The mass is required, except where a source of modal data gives it.
    """

    mass: BodyMass | None = None
    com: Lengths = ZERO3
    inertia: InertiaTensor = (ZERO3, ZERO3, ZERO3)
    inertia_about: InertiaAbout = "com"
    joint: JointTable
    wheel: dict[str, WheelTable] = Field(default_factory=dict)
    node: dict[str, NodeTable] = Field(default_factory=dict)
    flex: FlexTable | None = None
    rotor: str = ""
    harmonics: WheelHarmonics = ()


class LoopTable(StrictTable):
    """``[loop.NAME]``; `mbdy.engine.files.loops` says which keys a kind takes."""

    a: str
    b: str
    kind: str | None = None
    at_a: Lengths = ZERO3
    at_b: Lengths = ZERO3
    frame_a: Any = None
    frame_b: Any = None
    axis: Axis | None = None
    axis_b: Axis | None = None
    axes: Axes | None = None
    rows: Any = None
    distance: Any = None
    time_constant: Any = None
    closed: Switch = True
    switchable: Switch = False


class OutputTable(StrictTable):
    """``[output.NAME]``: the fields of `mbdy.engine.model.signals.ChosenOutput`, which judges them."""

    kind: Any = None
    of: Any = None
    to: Any = None
    axes: Any = None
    sequence: Any = None
    terms: Any = None


class GearTable(StrictTable):
    """``[gear.NAME]``; `mbdy.engine.files.gears` reads the values."""

    terms: Any = None
    driver: str | None = None
    follower: str | None = None
    ratio: Any = None
    offset: Any = 0.0
    time_constant: Any = None
    closed: Switch = True
    switchable: Switch = False


@_with_keys(dict.fromkeys(SPRING_VALUES, (Any, None)))
class SpringTable(StrictTable):
    """``[spring.NAME]``: two places and the numbers of what acts between them; `mbdy.engine.model.springs`."""

    a: str
    b: str
    kind: str = "line"
    at_a: Lengths = ZERO3
    at_b: Lengths = ZERO3
    frame_a: Any = None
    frame_b: Any = None
    tension_only: Switch = False


@_with_keys(dict.fromkeys((*CONTACT_VALUES, "exponent"), (Any, None)))
class ContactTable(StrictTable):
    """``[contact.NAME]``: two places, their shapes and the numbers of `mbdy.engine.model.contacts`."""

    a: str
    b: str
    at_a: Lengths = ZERO3
    at_b: Lengths = ZERO3
    frame_a: Any = None
    frame_b: Any = None
    shape_a: Any = None
    shape_b: Any = None


class TankTable(StrictTable):
    """``[tank.NAME]``; `mbdy.engine.model.tanks` judges the values."""

    body: Any = None
    mass: Any = None
    nozzle: Any = None
    exhaust_velocity: Any = None
    thrust_axis: Any = None
    shape: Any = None
    at: Any = None
    radius: Any = None
    length: Any = None
    axis: Any = None
    density: Any = None
    table: Any = None


class PortsTable(StrictTable):
    """``[ports]``: names and patterns of inputs and outputs; `mbdy.engine.files.port_choice` reads them."""

    inputs: Any = None
    outputs: Any = None


class FileTable(StrictTable):
    """The whole file."""

    mbdy: Any
    name: str | None = None
    system: SystemTable = SystemTable()
    body: dict[str, BodyTable] = Field(default_factory=dict)
    initial: dict[str, Any] = Field(default_factory=dict)
    guess: dict[str, Any] = Field(default_factory=dict)
    loop: dict[str, LoopTable] = Field(default_factory=dict)
    output: dict[str, OutputTable] = Field(default_factory=dict)
    gear: dict[str, GearTable] = Field(default_factory=dict)
    spring: dict[str, SpringTable] = Field(default_factory=dict)
    contact: dict[str, ContactTable] = Field(default_factory=dict)
    tank: dict[str, TankTable] = Field(default_factory=dict)
    ports: PortsTable = PortsTable()
    default: Any = None


STAND_INS: dict[str, Any] = {
    "mbdy": FORMAT, "joint": {"to": "inertial", "kind": "fixed"}, "to": "inertial",
    "axis": [0, 0, 1], "inertia": 1e-9, "at": [0, 0, 0], "a": "inertial", "b": "inertial",
}  # fmt: skip
"""What takes the place of a required key that is missing or wrong, so that the rest can be read."""


def read_tables(raw: dict[str, Any], findings: Findings) -> FileTable:
    """The tables of ``raw``, a parsed file; its faults go to ``findings`` and are taken out of the tables.

    ``raw`` is changed.
    """
    while True:
        try:
            return FileTable.model_validate(raw)
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                loc = _without_form(fault["loc"])
                _report(fault, loc, findings)
                _take_out(raw, loc, missing=fault["type"] == "missing")


def _without_form(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """``loc`` without the tag of a form, which pydantic puts behind the key of a value with several forms."""
    for at, key in ((2, "inertia"), (3, "rotation")):
        if loc[:1] == ("body",) and loc[at : at + 1] == (key,):
            return loc[: at + 1] + loc[at + 2 :]
    return loc


def _report(fault: Any, loc: tuple[str | int, ...], findings: Findings) -> None:
    path, key, sort = path_of(loc), str(loc[-1]) if loc else "", fault["type"]
    refusal = fault.get("ctx", {}).get("error")
    if isinstance(refusal, RefusalError):
        findings.refuse(path, refusal.message, refusal.remedy)
    elif sort == "extra_forbidden":
        findings.refuse(path, "unknown key", _home(key) or nearest(key, _keys_at(loc[:-1])))
    elif sort == "missing":
        findings.refuse(path, "is missing", REMEDIES.get(key, ""))
    elif sort in ("model_type", "dict_type", "model_attributes_type"):
        remedy = REMEDIES.get(key, f"write [{path}]")
        if path in ("body", "loop", "gear", "output", "spring", "contact"):
            remedy = f"write [{path}.NAME]"
        if not _keys_at(loc[:-1]) and key in _keys_at(loc):
            remedy = f"write [{path_of(loc[:-1])}.NAME]: the table needs a name"
        findings.refuse(path, f"must be a table, got {shown(fault['input'])}", remedy)
    elif sort == "string_type":
        findings.refuse(path, f"must be text, got {shown(fault['input'])}", "write it in quotes")
    elif sort == "literal_error":
        message = f"must be {fault['ctx']['expected']} or a list of axes, got {shown(fault['input'])}"
        findings.refuse(path, message, "for example [[0, 0, 1]]")
    else:
        findings.refuse(path, fault["msg"].removeprefix("Value error, "))


def _take_out(raw: dict[str, Any], loc: tuple[str | int, ...], *, missing: bool) -> None:
    """Remove the innermost key of ``loc``; put a stand-in where the table cannot do without."""
    table: Any = raw
    for depth, key in enumerate(loc):
        below = table.get(key)
        if depth == len(loc) - 1 or not isinstance(below, dict):
            required = missing or (key in STAND_INS and _is_required(loc[: depth + 1]))
            if required:
                table[key] = deepcopy(STAND_INS[str(key)])
            else:
                table.pop(key, None)
            return
        table = below


def _is_required(loc: tuple[str | int, ...]) -> bool:
    field = _keys_at(loc[:-1]).get(str(loc[-1]))
    return field is not None and field.is_required()


def _keys_at(loc: tuple[str | int, ...]) -> Mapping[str, FieldInfo]:
    """The keys of the table at ``loc`` (``("body", "bus", "joint")``); none for a table of names (``("body",)``)."""
    place: Any = FileTable
    for step in loc:
        place = place.model_fields[str(step)].annotation if _is_table(place) else get_args(place)[-1]
        place = next((kind for kind in get_args(place) if _is_table(kind) and type(None) in get_args(place)), place)
    return place.model_fields if _is_table(place) else {}


def _is_table(place: Any) -> bool:
    return isinstance(place, type) and issubclass(place, StrictTable)


def _home(key: str) -> str:
    """Where a key that is unknown here belongs, if some other table has it; otherwise empty."""
    homes = {
        "[system]": SystemTable, "[body.NAME.joint]": JointTable, "[body.NAME]": BodyTable,
        "[body.NAME.flex]": FlexTable, "[loop.NAME]": LoopTable, "[gear.NAME]": GearTable,
        "[spring.NAME]": SpringTable, "[contact.NAME]": ContactTable,
        "[tank.NAME]": TankTable,
    }  # fmt: skip
    return next((f"it belongs in {place}" for place, table in homes.items() if key in table.model_fields), "")
