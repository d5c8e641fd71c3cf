"""A model's equations as a shared library: schedules and kernels in C, a table of its functions and sizes, our stepper.

What is compiled depends on the structure of a model alone; our own C not even on that, and the kernels of its equations
are those of other models too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import SimpleNamespace

from mbdy.engine.core import binding, integrators, partials
from mbdy.engine.core.build import FLAGS, LINK, compiler, shared_library
from mbdy.engine.core.folded import listed
from mbdy.engine.core.schedule import Schedule, schedule
from mbdy.engine.core.schedule_text import scheduled
from mbdy.engine.core.units import TranslationUnit, c_files
from mbdy.engine.model.collector import collector_still
from mbdy.engine.model.owners import SYSTEM, name_of
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.variables import WORK_ERROR
from mbdy.engine.order_n.equations import Equations

FOLDER = Path(__file__).parent
PLAYED = (
    "prefix.h", "real.h", "beside.h", "elementary.h", "elementary.c", "folded.h", "schedule.h", "schedule.c",
)  # fmt: skip
"""What generated files need."""
FILES = (
    *PLAYED, "model.h", "core.h", "inside.h", "strides.h", "rows.h", "mechanism.h", "core.c", "stages.c", "work.c",
    "loops.c", "profiles.c", "strides.c", "crossings.c", "tanks.c", "mechanism.c", "closing_steps.c", "closing.c",
    "closing_notes.c", "yielding.c", "sticking.c", "pace.c", "failing.c", "explain.c", "tell.c",
)  # fmt: skip
DOOR = "door.c"
UNITS = (
    TranslationUnit(("schedule.c", "stages.c", "lanes.c", *integrators.FILES, "integrators.c")),
    TranslationUnit(c_files(name for name in FILES if name not in (*PLAYED, "stages.c")), "-Og"),
)
"""What is compiled together: first what runs in every evaluation, then what runs once a step or less, for which -Og
will do, in a third of the time."""
HEADER = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("schedule.h", "model.h", "core.h"))
"""What the core's functions are and what their numbers mean."""
CONSTANTS = binding.constants(HEADER)


@dataclass(frozen=True)
class Compiled:
    """A model's equations in C, ready to run: any number of independent cores and plants can be made of them.

    ``library`` is the shared library's path. ``implicit`` ones are ready for linearly implicit integrators too.
    """

    equations: Equations
    library: Path
    implicit: bool = False
    headers: tuple[str, ...] = (HEADER,)
    """What the library's functions are."""

    @cached_property
    def functions(self) -> SimpleNamespace:
        """The library's functions, as its headers declare them."""
        return binding.library(self.library, self.headers)


def compiled_equations(equations: Equations, *, implicit: bool = False) -> Compiled:
    """``equations`` in C, built if no earlier build is kept.

    ``implicit`` asks for linearly implicit integrators beside the explicit ones: directional derivatives of the
    equations are compiled too, in another library. Raises `CompilerError` where there is no compiler or it fails.
    """
    files = sources(equations, implicit=implicit) | {DOOR: text_of(DOOR)}
    return Compiled(equations, shared_library(files, compiler(), FLAGS, LINK, units=UNITS), implicit)


def text_of(file: str) -> str:
    """The text of a C file of the core."""
    return (FOLDER / file).read_text(encoding="utf-8")


@collector_still()
def sources(
    equations: Equations,
    *,
    implicit: bool = False,
    directional: bool = False,
    adjoint: bool = False,
    located: bool = False,
    adaptive: bool = True,
) -> dict[str, str]:
    """The C sources of a core by file name, but for what shows its functions.

    ``implicit``, ``directional`` and ``adjoint`` have those derivatives of `mbdy.engine.core.partials` with them,
    ``located`` what says where laws of effort switch, ``adaptive`` integrators whose steps adapt.
    """
    schedules = {"model.c": tuple(map(schedule, equations.functions))}
    if directional:
        schedules["changes.c"] = partials.directional(equations)
    if adjoint:
        schedules["gradients.c"] = partials.adjoint(equations)
    if implicit:
        schedules["jacobian.c"] = partials.implicit(equations)
    if located and equations.switching and equations.switching.indicators:
        schedules["indicators.c"] = (schedule(equations.switching.indicators),)
    files = {name: text_of(name) for name in FILES} | integrators.sources(adaptive=adaptive)
    for name, some in schedules.items():
        files |= generated(some, name)
    return files | {"table.c": table(equations, [one.name for some in schedules.values() for one in some])}


@lru_cache(maxsize=32)
def generated(schedules: tuple[Schedule, ...], file: str) -> Mapping[str, str]:
    """The C ``file`` (``model.c``) of schedules, and those of their kernels, texts by name."""
    kernels: dict[str, str] = {}
    return {file: scheduled(schedules, kernels)} | kernels


def standing_alone(*schedules: Schedule) -> dict[str, str]:
    """C files by name that have ``schedules`` by their names, and nothing else."""
    return {**generated(schedules, "model.c"), **{name: text_of(name) for name in PLAYED}}


def table(equations: Equations, names: Sequence[str]) -> str:
    """table.c: sizes and places of one structure of model, and its functions by their ``names``."""
    ports = equations.ports
    switches = ports.span("switches")
    n_x = len(ports.state_names)
    numbers = {
        "n_x": n_x, "n_u": len(ports.input_names), "n_p": len(ports.parameter_names), "n_y": len(ports.output_names),
        "n_k": equations.n_k, "n_coordinates": equations.n_q, "n_speeds": equations.modal.start - equations.n_q,
        "n_modes": equations.modal.stop - equations.modal.start,
        "switches": switches.start, "n_switches": switches.stop - switches.start,
        "orbit_position": -1 if ports.orbit_position is None else ports.orbit_position.start,
        "mass_centre": _state(ports, "centre_of_mass"),
        "mass_centre_velocity": _state(ports, "centre_of_mass_velocity"),
        "n_rows": len(equations.loop_rows), "loop_impulses": equations.loop_impulses,
        "work_error": ports.by_name[WORK_ERROR].offset if equations.balance else -1,
    }  # fmt: skip
    columns, flows = asdict(equations.columns), [v for v in ports.inputs if v.port == "flows"]
    numbers["reach"] = columns.pop("reach")
    if linear := columns.pop("linear"):
        numbers["linear_rows"] = linear
    places = {
        "quaternions": ports.quaternions,
        "locks": [lock for lock, _ in equations.locks],
        "lock_speeds": [speed for _, speed in equations.locks],
        "impulses": equations.impulse_places,
        "inertias": [v.offset for v in ports.parameters if (v.owner.kind, v.quantity) == ("body", "inertia")],
        "stores": [v.offset + i for v in ports.inputs if v.quantity in ("gravity", "rest") for i in range(v.size)],
        "flows": [at for v in flows for at in range(v.offset, v.offset + v.size)],
        "flow_tanks": [ports.states[name_of(v.owner, "mass")].state for v in flows for _ in range(v.size)],
        "tanks": [mass for mass, _ in equations.tanks],
        "capacities": [capacity for _, capacity in equations.tanks],
        **columns,
        **asdict(equations.resistances),
        "strengths": equations.strengths.places,
        "strength_groups": equations.strengths.groups,
        "decays": equations.decays,
    }
    counted = ("quaternions", "locks", "impulses", "inertias", "stores", "flows", "tanks", "steps", "resisted",
               "senses", "strengths", "prescriptions", "lengths", "points")  # fmt: skip
    counts = {f"n_{name}": len(places[name]) for name in counted} | {"n_loops": len(places["decays"])}
    counts |= (
        {"n_indicators": len(equations.switching.names)} if equations.switching and equations.switching.names else {}
    )
    if profiles := equations.profiles:
        counts["n_profiles"] = len(profiles)
        names_of = ("profiles", "profile_rates", "profile_points", "profile_counts", "profile_smooth")
        places |= dict(zip(names_of, zip(*profiles, strict=True), strict=True))
    return "\n".join([
        "/* Generated by mbdy: sizes, places and functions of one structure of model. */", '#include "model.h"', "",
        *(f"extern const mbdy_schedule {name};" for name in names), "",
        *(f"static const int {name}[] = {{{listed([*some] or [-1])}}};" for name, some in places.items()), "",
        "static const mbdy_model model = {",
        *(f"    .{name} = {number}," for name, number in {**numbers, **counts}.items()),
        *(f"    .{name} = {name}," for name in places),
        "    .functions = {",
        *(f"        [{name.replace('mbdy_model_', 'mbdy_').upper()}] = &{name}," for name in names),
        "    },", "};", "", "const mbdy_model *mbdy_this(void) { return &model; }", "",
    ])  # fmt: skip


def _state(ports: Ports, quantity: str) -> int:
    """Place in ``x`` of a quantity of the system that is a state; -1 where it is none."""
    variable = ports.states.get(name_of(SYSTEM, quantity))
    return -1 if variable is None or variable.state is None else variable.state
