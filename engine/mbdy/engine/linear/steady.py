"""How far a system is from a steady motion: the accelerations that are not zero, and their exact changes.

In a steady motion no generalized speed changes: a system at rest, or one that turns at a constant rate. The origin of
a floating root goes round the mass centre then; what stands still is the mass centre of all that hangs on the root, so
its acceleration counts, the sum of external forces over the mass and gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mbdy.engine.linear.error_coordinates import error_coordinates, fixed, quaternion_tangent, rotation
from mbdy.engine.linear.jacobians import Slopes
from mbdy.engine.linear.operating_point import OperatingPoint
from mbdy.engine.model.owners import constraint, name_of
from mbdy.engine.model.rotations import cross_matrix
from mbdy.engine.model.system import Model
from mbdy.engine.model.topology import tree
from mbdy.engine.order_n.layout import layout

Array = NDArray[np.float64]

CHANGING = 1e-4
"""[rad/s3, m/s3, N.m/s of wheels] Accelerations that change faster along a motion are those of no steady one; of
matrices the part of their largest entry that changes in a second."""
DIFFERENCE = 1e-4
"""Change of the fastest state over which the change of a matrix is taken, at most as many seconds."""
TOLD = 3
"""How many of the accelerations a message names."""
UNITS = {
    "rad/s": ("rad/s2", "rad/s3"), "m/s": ("m/s2", "m/s3"), "N.m.s": ("N.m", "N.m/s"), "1/s": ("1/s2", "1/s3"),
    "rad": ("rad", "rad/s"), "m": ("m", "m/s"),
}  # fmt: skip
"""Of the first and second rate of a speed or a momentum, and of an error of closure."""


class Steady:
    """The accelerations of ``model`` that vanish in a steady motion, with the locks and switches of ``point``.

    ``names`` are those of the speeds (and momenta of wheels) that they are the rates of.
    """

    def __init__(self, model: Model, slopes: Slopes, point: OperatingPoint) -> None:
        self._model, self._slopes = model, slopes
        at, freely = layout(model), [[not flag for flag in fixed(b, point)] for b in model.bodies]
        self._falls: list[tuple[int, list[int]]] = []
        """Floating roots with their translations that are free."""
        self._places: list[int] = []
        names = point.ports.state_names
        for j, (body, speeds) in enumerate(zip(model.bodies, at.speeds, strict=True)):
            floating = body.joint.n_translations if body.joint.floating else 0
            free = [i for i, moves in enumerate(freely[j]) if moves]
            self._places += [speeds.start + i for i in free if i >= floating]
            if floating:
                self._falls.append((j, [i for i in free if i < floating]))
        modal = [at.modal_rates(j) for j in range(len(model.bodies))]
        self._places += [i for span in (*modal, *at.wheels, *at.tanks) for i in range(span.start, span.stop)]
        falling = [names[at.speeds[j].start + i] for j, free in self._falls for i in free]
        self._errors = closed_rows(model, point, "residual")
        """Errors of closed loops, in y: they vanish as well."""
        self.names = (*(names[i] for i in self._places), *falling, *(point.ports.output_names[i] for i in self._errors))
        scalars = point.ports.by_scalar
        self._units = [scalars[name][0].units[scalars[name][1]] for name in self.names]

    def values(self, point: OperatingPoint) -> Array:
        """The accelerations at ``point``."""
        rates = self._slopes.rates(point)[self._places]
        y = self._slopes.outputs(point) if self._falls or self._errors else np.zeros(0)
        return np.concatenate([rates, *(self._fall(point, y, j)[free] for j, free in self._falls), y[self._errors]])

    def changes(self, point: OperatingPoint, along_x: Array, along_u: Array) -> Array:
        """What the accelerations change by along the columns of ``along_x`` (n_x, n) and ``along_u`` (n_u, n)."""
        rows = [self._slopes.of_rates(point, along_x, along_u)[self._places]]
        if self._falls or self._errors:
            y, dy = self._slopes.outputs(point), self._slopes.of_outputs(point, along_x, along_u)
            rows += [self._fall_changes(point, y, dy, along_u, j)[free] for j, free in self._falls]
            rows.append(dy[self._errors])
        return np.concatenate(rows)

    def fall(self, point: OperatingPoint) -> Array:
        """Rates (n_x) of the coordinates with which the system would begin to move from rest at ``point``."""
        x, n_q = self._slopes.rates(point), layout(self._model).n_q
        x[:n_q] = point.x[:n_q]
        rates = self._slopes.rates(replace(point, x=x))
        rates[n_q:] = 0.0
        return rates

    def drift(self, point: OperatingPoint) -> Array:
        """What the accelerations change by in a second along the motion; zero in a steady one."""
        along = self._slopes.rates(point)
        along[self._places] = 0.0  # they vanish but for rounding, which stiff springs would magnify
        return self.changes(point, along[:, None], np.zeros((len(point.u), 1))).ravel()

    def words(self, rates: Array, *, order: int = 1) -> str:
        """The largest of `values`, or with ``order`` 2 of `drift`, by names and with units."""
        largest = [i for i in np.argsort(-np.abs(rates))[:TOLD] if rates[i]]
        what = "" if order == 1 else "the acceleration of "
        residuals = range(len(self.names) - len(self._errors), len(self.names)) if order == 1 else ()
        return ", ".join(
            f"{self.names[i]} is {rates[i]:.3g} {self._units[i]}"
            if i in residuals
            else f"{what}{self.names[i]} changes by {rates[i]:.3g} {UNITS[self._units[i]][order - 1]}"
            for i in largest
        )

    def _fall(self, point: OperatingPoint, y: Array, root: int) -> Array:
        forces = [turned @ point.u[places] for _, turned, places in self._forces(point, y, root)]
        return np.sum(forces, axis=0) / self._mass(point, root) + point["system.gravity"]

    def _fall_changes(self, point: OperatingPoint, y: Array, dy: Array, along_u: Array, root: int) -> Array:
        changes = np.zeros((3, along_u.shape[1]))
        for attitude, turned, places in self._forces(point, y, root):
            error = 4.0 * quaternion_tangent(y[attitude]).T @ dy[attitude]
            changes += turned @ (along_u[places] - cross_matrix(point.u[places]) @ error)
        return changes / self._mass(point, root) + along_u[point.ports.by_name["system.gravity"].places]

    def _forces(self, point: OperatingPoint, y: Array, root: int):
        """Each external force on what hangs on ``root``: place of its body's attitude in y, body axes, place in u."""
        for j in self._carried(root):
            body = self._model.bodies[j]
            attitude = point.ports.by_name[f"{body.name}.attitude"].places
            turned = rotation(y[attitude])
            for stem in (body.name, *(f"{body.name}.{node}" for node in body.nodes)):
                yield attitude, turned, point.ports.by_name[f"{stem}.force"].places

    def _mass(self, point: OperatingPoint, root: int) -> float:
        names = {self._model.bodies[j].name for j in self._carried(root)}
        stems = [*names, *(f"tank.{tank.name}" for tank in self._model.tanks if tank.body in names)]
        return sum(float(point[f"{stem}.mass"]) for stem in stems)

    def _carried(self, root: int) -> list[int]:
        above = tree(self._model)
        return [j for j in range(len(self._model.bodies)) if above.root[j] == root]


def closed_rows(model: Model, point: OperatingPoint, what: str) -> list[int]:
    """Places in y of the rows of closed loops' and gears' ``"residual"`` or ``"residual_rate"``."""
    rows: list[int] = []
    for each in model.constraints:
        if not each.switchable or point[name_of(constraint(each), "closed")]:
            places = point.ports.by_name[name_of(constraint(each), what)].places
            rows += range(places.start, places.stop)
    return rows


def matrix_change(model: Model, slopes: Slopes, point: OperatingPoint, accelerated: Sequence[str]) -> float:
    """The part of its largest entry that the matrix A of a linearization changes by in a second along the motion.

    By a central difference, which is enough to tell whether it changes. ``accelerated`` as for `fixed`.
    """
    rates = slopes.rates(point)
    step = DIFFERENCE / max(1.0, float(np.abs(rates).max(initial=0.0)))

    def matrix(after: float) -> Array:
        x = point.x + after * rates
        for at in point.ports.quaternions:
            x[at : at + 4] /= np.linalg.norm(x[at : at + 4])
        moved = replace(point, x=x)
        errors = error_coordinates(model, moved, slopes.rates(moved), accelerated=accelerated)
        along_u = np.zeros((len(point.u), len(errors.names)))
        return errors.L @ (slopes.of_rates(moved, errors.R, along_u) - errors.R_rate)

    before, behind = matrix(-step), matrix(step)
    largest = float(np.abs(behind).max(initial=0.0))
    return float(np.abs(behind - before).max()) / (2.0 * step * largest) if largest else 0.0
