"""Where a system starts: what was given stays, the rest closes its loops (core/closing.c); and what that took."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.core.library import compiled_equations
from mbdy.engine.core.running import OK, Core
from mbdy.engine.files.lines import with_lines_of
from mbdy.engine.files.read import model_from
from mbdy.engine.model.faults import Fault, MbdyWarning, ModelError, ModelWarning, RefusalError
from mbdy.engine.model.ports import Ports, coordinates, ports
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.equations import Equations, equations

Array = NDArray[np.float64]

TOLD = 1e-6
"""[rad] or [m] Closing moved something where it moved it further than this."""

SCALED = 1e-15
"""Changes of a quaternion below this come from scaling it to norm 1."""


class StartMovedWarning(MbdyWarning):
    """Start values that were given contradict the loops and were moved to close them."""


@dataclass(frozen=True)
class Assembly:
    """What closing the loops of a model took, and what it leaves.

    ``angle`` [rad] and ``distance`` [m]: the largest that a coordinate was moved by, and which one; quaternions
    by their angle. ``modal`` and ``speed``: the largest change of a modal displacement and of any speed. ``rows``:
    scalar constraints of the loops that are closed at the start; ``rank``: how many of them are independent there;
    ``degrees_of_freedom``: those of joints and modes that are not always prescribed, less the rank. ``positions``: in
    words, which of two positions each loop took that holds two lines at a right angle and was open.
    """

    angle: float = 0.0
    angle_of: str = ""
    distance: float = 0.0
    distance_of: str = ""
    modal: float = 0.0
    speed: float = 0.0
    rows: int = 0
    rank: int = 0
    degrees_of_freedom: int = 0
    positions: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the start was open by more than rounding."""
        return max(self.angle, self.distance, self.modal, self.speed) > TOLD

    @property
    def redundant(self) -> int:
        """Rows that only repeat what others hold."""
        return self.rows - self.rank


def given_starts(model: Model, table: Ports) -> Array:
    """What the file of ``model`` says of start values (n_x, by ``table``), 1, -1 or 0: `Model.standing`."""
    given = np.zeros(len(table.start_names))
    for name, standing in model.standing.items():
        variable = table.starts[name]
        assert variable.start_at is not None
        given[variable.start_at : variable.start_at + variable.size] = standing
    return given


def started(made: Equations, s: Array, given: Array, u: Array, p: Array) -> Core:
    """A core of the equations ``made`` at its start: states in ``x``, start values with loops closed in ``s_closed``.

    ``s`` are start values, ``given`` which of them stay, ``u`` inputs, ``p`` parameters. Raises `RefusalError` for
    what no system can have and for loops that cannot be closed, and `CompilerError` without a compiler.
    """
    core = prepared(made, u, p)
    core.s[:], core.given[:] = s, given
    _refuse(core, core.start())
    return core


def prepared(made: Equations, u: Array, p: Array) -> Core:
    """A core of the equations ``made`` with inputs ``u`` and parameters ``p``. Raises as `started`."""
    core = Core(compiled_equations(made))
    core.u[:], core.p[:] = u, p
    _refuse(core, core.prepare())
    return core


def refuse_idle(made: Equations, x: Array, u: Array, p: Array) -> None:
    """Raise `RefusalError` where a speed of the states ``x`` that is free with the inputs ``u`` moves no inertia."""
    if made.pivots is not None and (np.array(made.pivots(x, u, made.prepare(p))[0]) <= 0).any():
        core = prepared(made, u, p)
        core.x[:] = x
        _refuse(core, core.pivots())


def senses_at(made: Equations, x: Array, u: Array, p: Array) -> tuple[float, ...]:
    """Senses with which friction that sticks acts at ``x``, 0 where it holds."""
    core = prepared(made, u, p)
    core.x[:] = x
    return core.decided()


def closed_state(core: Core, x: Array) -> Array:
    """The states nearest to ``x`` that close the loops of a `prepared` core: ``x`` itself where these are closed."""
    core.x[:], core.given[:] = x, 1.0
    y = core.outputs()
    for variable in core.compiled.equations.ports.outputs:
        if variable.start_at is not None:
            core.s[variable.start_at : variable.start_at + variable.size] = y[variable.places]
    _refuse(core, core.start())
    if np.abs(core.s_closed - core.s).max() <= SCALED:
        core.x[:] = x
    return core.x


def _refuse(core: Core, status: int) -> None:
    if status != OK:
        message, _, remedy = core.explain(status).partition("; ")
        raise RefusalError(message, remedy)


def tell_moves(core: Core, *, stacklevel: int) -> None:
    """Warn of given start values that closing the loops has moved, and of what is doubtful there."""
    for move in core.moves():
        warnings.warn(move, StartMovedWarning, stacklevel=stacklevel + 1)
    for text in core.doubts():
        warnings.warn(text, ModelWarning, stacklevel=stacklevel + 1)


def assemble(model: Model | str | PathLike[str]) -> Model:
    """``model`` with start values that close its loops; it is returned as it is where they are closed to rounding.

    Values in ``model.initial`` stay, those in ``model.guess`` move where the others alone do not close them; those that
    contradict the loops are moved as little as can be, with a `StartMovedWarning`. Raises `ModelError` where the loops
    cannot be closed, `CompilerError` without a C compiler.
    """
    model = model_from(model)
    if not any(each.closed for each in model.constraints):
        return model
    core, table = _core(model)
    tell_moves(core, stacklevel=2)
    initial = dict(model.initial)
    for variable in table.outputs:
        if variable.start_at is not None:
            places = slice(variable.start_at, variable.start_at + variable.size)
            if np.abs(core.s_closed[places] - core.s[places]).max() > (SCALED if variable.unit == "1" else 0.0):
                initial[variable.name] = tuple(core.s_closed[places].tolist())
    guess = {name: value for name, value in model.guess.items() if name not in initial}
    return model if initial == dict(model.initial) else replace(model, initial=initial, guess=guess)


def assembly(model: Model) -> Assembly:
    """What it takes to close the loops and gears of ``model``, and how many rows and degrees of freedom they are.

    Raises as `assemble` does; without loops and gears nothing is compiled.
    """
    if not model.constraints:
        motions = [motion for body in model.bodies for motion in body.joint.motion]
        free = len(motions) - motions.count("prescribed") + sum(body.modes for body in model.bodies)
        return Assembly(degrees_of_freedom=free)
    core, table = _core(model)
    sorts: dict[str, tuple[float, str]] = {"rad": (0.0, ""), "m": (0.0, ""), "modal": (0.0, ""), "speed": (0.0, "")}
    positions = {part.name for body in model.bodies for part in coordinates(body)}
    for variable in table.outputs:
        if variable.start_at is None:
            continue
        places = slice(variable.start_at, variable.start_at + variable.size)
        before, after = core.s[places], core.s_closed[places]
        move = float(np.abs(after - before).max(initial=0.0))
        if variable.name not in positions:
            sort = "modal" if variable.quantity == "displacement" else "speed"
        elif variable.start_at in table.quaternions:
            sort, move = "rad", _angle(before, after)
        else:
            sort = variable.unit
        sorts[sort] = max(sorts[sort], (move, variable.name), key=lambda pair: pair[0])
    rows, rank, degrees_of_freedom = core.freedoms()
    moved = *sorts["rad"], *sorts["m"], sorts["modal"][0], sorts["speed"][0]
    return Assembly(*moved, rows, rank, degrees_of_freedom, tuple(core.lines()))


def _core(model: Model) -> tuple[Core, Ports]:
    """`started` with what the file of ``model`` has; faults are told as it would."""
    table = ports(model.whole)
    vectors = np.array(table.start), given_starts(model, table), table.vector("input"), table.vector("parameter")
    try:
        return started(equations(model.whole), *map(np.asarray, vectors)), table
    except RefusalError as refusal:
        raise open_loop(model, f"{refusal.message}; {refusal.remedy}") from None


def open_loop(model: Model, text: str) -> ModelError:
    """The core's ``text`` of a loop of ``model`` that cannot be closed as a fault of its file."""
    said, _, remedy = text.partition("; ")
    path, colon, message = said.partition(": ")
    fault = Fault(path, message, remedy) if colon else Fault("", said, remedy)
    return ModelError(model.source, with_lines_of(model.source, [fault]))


def _angle(p: Array, q: Array) -> float:
    """Angle [rad] between two quaternions, the first of any norm, as rotations."""
    p = p / np.linalg.norm(p)
    chord = min(float(np.linalg.norm(p - q)), float(np.linalg.norm(p + q)))
    return 4 * float(np.arcsin(min(1.0, chord / 2)))
