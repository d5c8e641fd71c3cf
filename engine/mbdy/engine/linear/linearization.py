"""Linear plants: ``e' = A e + B u``, ``y = C e + D u`` of a model about an operating point, by exact derivatives.

States are the minimal errors of `mbdy.engine.linear.error_coordinates`; an output that is an attitude is its error too,
three numbers in the body's axes. Inputs and outputs are differences to their values at the operating point.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.files.rules import ruled
from mbdy.engine.linear.choice import Dynamics, equations_of, ported
from mbdy.engine.linear.error_coordinates import ErrorCoordinates, error_coordinates, quaternion_tangent
from mbdy.engine.linear.jacobians import Slopes
from mbdy.engine.linear.loop_states import tangent
from mbdy.engine.linear.modes import ModeTable, eigenvalues, modes
from mbdy.engine.linear.operating_point import At, OperatingPoint, operating_point
from mbdy.engine.linear.second_order import SecondOrder, generalized_forces, mobility, second_order
from mbdy.engine.linear.steady import CHANGING, Steady, matrix_change
from mbdy.engine.model.display import html_table
from mbdy.engine.model.faults import MissingPackageError, RefusalError
from mbdy.engine.model.laws import LAWS
from mbdy.engine.model.patterns import places
from mbdy.engine.model.ports import Ports, ports
from mbdy.engine.model.system import Model

if TYPE_CHECKING:
    import control

Array = NDArray[np.float64]

ATTITUDES = ("attitude", "relative_attitude")
"""Quantities that are quaternions."""
STEADY = 1e-6
"""[rad/s2, m/s2] Larger accelerations at an operating point are noted."""
STABLE = 2.8
"""Largest ``|eigenvalue| h`` with which RK4 follows a motion in steps h without growing: 2.785 for a decay, 2.83 for
an oscillation."""


@dataclass(frozen=True, eq=False)
class Linearization:
    """``e' = A e + B u``, ``y = C e + D u`` about an operating point of the model ``name``.

    ``A`` (n, n), ``B`` (n, n_u), ``C`` (n_y, n), ``D`` (n_y, n_u), with the names and units of states, inputs and
    outputs. ``residual`` (n) is how fast the operating point itself moves, in the same coordinates as the states:
    rates of speeds that are zero in a steady motion, rates of coordinates that are its speeds. ``input_values`` and
    ``output_values`` are those at the operating point (an attitude's error is zero); ``state_values`` all states of the
    model there by name, quaternions with four numbers. ``second_order`` is None where that form does not exist (a ball
    joint held about some of its axes alone). ``notes`` say what is to be known, such as that it is no steady motion.
    """

    name: str
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    residual: Array
    input_values: Array
    output_values: Array
    state_values: dict[str, float]
    second_order: SecondOrder | None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<Linearization of {self.name!r}: {sizes}>"

    def _repr_html_(self) -> str:
        sorts = (("states", self.state_units), ("inputs", self.input_units), ("outputs", self.output_units))
        rows = [
            (sort, name, unit) for sort, units in sorts for name, unit in zip(getattr(self, sort), units, strict=True)
        ]
        return html_table(f"{self!r}".strip("<>"), ("", "name", "unit"), rows)

    def reduce(self, *, inputs: Iterable[str] | None = None, outputs: Iterable[str] | None = None) -> Linearization:
        """With some of the inputs and outputs, by names or patterns, in that order. Raises KeyError for an unknown."""
        u = list(range(len(self.inputs))) if inputs is None else places(self.inputs, inputs, "input")
        y = list(range(len(self.outputs))) if outputs is None else places(self.outputs, outputs, "output")
        return replace(
            self,
            B=self.B[:, u],
            C=self.C[y],
            D=self.D[np.ix_(y, u)],
            inputs=tuple(self.inputs[i] for i in u),
            outputs=tuple(self.outputs[i] for i in y),
            input_units=tuple(self.input_units[i] for i in u),
            output_units=tuple(self.output_units[i] for i in y),
            input_values=self.input_values[u],
            output_values=self.output_values[y],
            second_order=self.second_order and self.second_order.reduced(u),
        )

    def modes(self) -> ModeTable:
        """Modes by frequency, those of rigid-body motion first."""
        return modes(self.A, self.states)

    def eigenvalues(self) -> NDArray[np.complex128]:
        """All eigenvalues of A [1/s] by size; those of rigid-body motion are exactly zero."""
        return eigenvalues(self.A)

    def to_control(self) -> control.StateSpace:
        """The system for python-control, which allows no dots in names: ``bus.omega[1]`` is ``bus_omega[1]`` there.

        Raises ImportError where python-control is not installed (the extra ``control``).
        """
        try:
            from control import StateSpace
        except ImportError as error:
            raise MissingPackageError(
                "python-control is needed for to_control(): pip install 'mbdy[control]'"
            ) from error
        names = {sort: _undotted(getattr(self, sort)) for sort in ("states", "inputs", "outputs")}
        return StateSpace(self.A, self.B, self.C, self.D, **names)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it as ``.npz`` (NumPy), ``.mat`` (MATLAB) or ``.json``, by the name of ``path``.

        Folders that are missing are made. Raises ValueError for another ending.
        """
        from mbdy.engine.linear.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> Linearization:
        """What `save` has written. Raises ValueError for a file that holds none."""
        from mbdy.engine.linear.storage import load

        return load(path)


def linearize(
    model: Model | str | PathLike[str],
    *,
    at: At = None,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    dynamics: Dynamics | None = None,
) -> Linearization:
    """``model`` linear about an operating point, resting, spinning or accelerating.

    ``model``    a model or the path of its file.
    ``at``       values by name, what `trim` found, or a `mbdy.blocks.Plant`, linearized as it is now; see
                 `mbdy.engine.linear.operating_point.operating_point`. None: the start of the model file.
    ``inputs``   names or patterns (``"bus.torque"``, ``"bus.*"``), in the order wanted; by default all that are no
                 switches and no prescribed accelerations.
    ``outputs``  likewise; by default all. ``"bus.attitude"`` is its error, ``"bus.attitude[2]"`` an element.
    ``dynamics`` of which equations: None for the full ones.

    Joints that are locked or prescribed at the operating point are no states, unless their prescribed accelerations
    are among ``inputs``. Closed loops leave as many states as the motion that they allow has: those of the errors that
    determine all others. Raises `RefusalError` for an operating point that cannot be taken and KeyError for an unknown
    name.
    """
    model = ruled(model)
    equations, chosen = equations_of(model.whole, dynamics), ports(ported(model, dynamics))
    point, slopes = operating_point(model, equations, at), Slopes(equations)
    u_places = _chosen_inputs(point.ports, chosen, inputs)
    input_names = tuple(point.ports.input_names[i] for i in u_places)
    wanted = _Outputs(point.ports, chosen, outputs)
    rates = slopes.rates(point)
    if not np.isfinite(rates).all():
        raise RefusalError(f"the operating point of {model.name!r}: accelerations are not finite",
                           "a joint may move no inertia there, or be singular: linearize elsewhere")  # fmt: skip
    errors = error_coordinates(model, point, rates, accelerated=input_names)
    n, n_u = len(errors.names), len(u_places)
    along_x = np.hstack([errors.R, np.zeros((len(point.x), n_u))])
    along_u = np.hstack([np.zeros((len(point.u), n)), np.eye(len(point.u))[:, u_places]])
    of_rates = slopes.of_rates(point, along_x, along_u)
    y = slopes.outputs(point)
    of_outputs = wanted.errors(y, slopes.of_outputs(point, along_x, along_u))
    A = errors.L @ (of_rates[:, :n] - errors.R_rate)
    B = errors.L @ of_rates[:, n:]
    kept, basis = tangent(model, point, slopes, errors)
    form = _second_order(model, point, slopes, errors, y, A, B, kept, basis)
    units = [unit for v in point.ports.inputs for unit in v.units]
    return Linearization(
        name=model.name,
        A=A[kept] @ basis,
        B=B[kept],
        C=of_outputs[:, :n] @ basis,
        D=of_outputs[:, n:],
        states=tuple(errors.names[i] for i in kept),
        inputs=input_names,
        outputs=wanted.names,
        state_units=tuple(errors.units[i] for i in kept),
        input_units=tuple(units[i] for i in u_places),
        output_units=wanted.units,
        residual=(errors.L @ rates)[kept],
        input_values=point.u[u_places],
        output_values=wanted.values(y),
        state_values=dict(zip(point.ports.state_names, point.x.tolist(), strict=True)),
        second_order=form,
        notes=_notes(model, slopes, point, input_names, form),
    )


def fastest(linear: Linearization) -> complex:
    """The eigenvalue of the largest size [1/s], 0 without states.

    RK4 with a step h follows it while ``abs(fastest(linear)) * h`` stays below `STABLE`.
    """
    return complex(linear.eigenvalues()[-1]) if linear.states else 0j


def without_friction(model: Model, at: At) -> OperatingPoint:
    """The operating point ``at`` of ``model`` without the laws of effort that steps take implicitly."""
    point = operating_point(model, equations_of(model.whole), at)
    implicit, p = {law.values[0].name for law in LAWS if law.resistance}, point.p.copy()
    for v in point.ports.parameters:
        if v.quantity in implicit:
            p[v.places] = 0.0
    return replace(point, p=p)


def _second_order(
    model: Model,
    point: OperatingPoint,
    slopes: Slopes,
    errors: ErrorCoordinates,
    y: Array,
    A: Array,
    B: Array,
    kept: list[int],
    basis: Array,
) -> SecondOrder | None:
    along = generalized_forces(model, point, errors)
    gains = errors.L @ slopes.of_rates(point, np.zeros((len(point.x), along.shape[1])), along)
    mass = float(y[point.ports.by_name["system.mass"].offset])
    spins = np.array([float(point[f"{b.name}.{wheel}.inertia"]) for b in model.bodies for wheel in b.wheels])
    independent = errors.kept(kept, A)
    if independent is None:
        return None
    chosen = [k for k, i in enumerate(errors.speeds) if i in kept]
    free = mobility(model, point, errors, gains[list(errors.speeds)], mass)[np.ix_(chosen, chosen)]
    return second_order(independent, A[kept] @ basis, B[kept], free, spins)


def _notes(
    model: Model, slopes: Slopes, point: OperatingPoint, inputs: tuple[str, ...], form: SecondOrder | None
) -> tuple[str, ...]:
    notes = []
    if point.held:
        notes.append(f"friction holds {', '.join(point.held)} there: no states, as if they were locked")
    steady = Steady(model, slopes, point)
    left, drift = steady.values(point), steady.drift(point)
    if np.abs(left).max(initial=0.0) > STEADY:
        large = np.where(np.abs(left) > STEADY, left, 0.0)
        notes.append(f"the operating point is no steady motion: {steady.words(large)}")
    elif np.abs(drift).max(initial=0.0) > CHANGING:
        large = np.where(np.abs(drift) > CHANGING, drift, 0.0)
        notes.append(f"the matrices hold at this instant only: along the motion {steady.words(large, order=2)}")
    elif (part := matrix_change(model, slopes, point, inputs)) > CHANGING:
        notes.append(f"the matrices hold at this instant only: along the motion A changes by {part:.2%} in a second")
    if form is None:
        why = "loops and gears tie" if model.constraints else "what is held leaves"
        notes.append(f"no second-order form: {why} some of the errors of a ball joint or an attitude alone")
    return tuple(notes)


def _chosen_inputs(table: Ports, chosen: Ports, wanted: Iterable[str] | None) -> list[int]:
    """Places in the inputs of ``table`` of those that are ``wanted`` of the ``chosen`` ones."""
    whole = {name: at for at, name in enumerate(table.input_names)}
    if wanted is None:
        variables = (v for v in chosen.inputs if v.port not in ("switches", "prescribed_accelerations"))
        return [whole[name] for v in variables for name in v.scalar_names]
    columns = [whole[chosen.input_names[i]] for i in places(chosen.input_names, wanted, "input", chosen.hidden_names)]
    switches = table.span("switches")
    if bad := [table.input_names[i] for i in columns if switches.start <= i < switches.stop]:
        raise RefusalError(f"input {bad[0]!r}: nothing is linear in a switch", "set it in the operating point")
    return columns


class _Outputs:
    """The outputs of a linearization, those of ``chosen`` that are ``wanted``: rows of y as ``table`` has it, an
    attitude's three errors in the place of its four elements."""

    def __init__(self, table: Ports, chosen: Ports, wanted: Iterable[str] | None) -> None:
        variables = [table.by_name[v.name] for v in chosen.outputs]
        attitudes = {v.name: v.offset for v in variables if v.quantity in ATTITUDES}
        self._attitudes = list(attitudes.values())
        units = (unit for v in table.outputs for unit in v.units)
        elements = [(name, unit, i, None) for i, (name, unit) in enumerate(zip(table.output_names, units, strict=True))]
        rows: list[tuple[str, str, int, int | None]] = []
        for v in variables:
            errors = [(f"{v.name}.error[{i + 1}]", "rad", v.offset, i) for i in range(3)]
            rows += errors if v.name in attitudes else elements[v.places]
        if wanted is not None:
            asked = [f"{w}.error" if w in attitudes else w for w in ([wanted] if isinstance(wanted, str) else wanted)]
            # Elements of quaternions only by their own names.
            rows += [row for at in self._attitudes for row in elements[at : at + 4] if row[0] in asked]
            rows = [rows[i] for i in places([row[0] for row in rows], asked, "output", chosen.hidden_names)]
        self._rows = rows
        self.names = tuple(name for name, *_ in self._rows)
        self.units = tuple(unit for _, unit, *_ in self._rows)

    def errors(self, y: Array, changes: Array) -> Array:
        """Changes of the chosen outputs from ``changes`` (n_y, n) of all."""
        units = {at: y[at : at + 4] / np.linalg.norm(y[at : at + 4]) for at in self._attitudes}
        turned = {at: 4.0 * quaternion_tangent(q).T @ changes[at : at + 4] for at, q in units.items()}
        rows = [changes[at] if axis is None else turned[at][axis] for _, _, at, axis in self._rows]
        return np.array(rows).reshape(len(rows), changes.shape[1])

    def values(self, y: Array) -> Array:
        """The chosen outputs at the operating point."""
        return np.array([y[at] if axis is None else 0.0 for _, _, at, axis in self._rows])


def _undotted(names: tuple[str, ...]) -> list[str]:
    plain = [name.replace(".", "_") for name in names]
    if len(set(plain)) < len(plain):
        same = next(name for name in plain if plain.count(name) > 1)
        raise RefusalError(f"to_control: two names become {same!r} without dots; reduce() to one of them")
    return plain
