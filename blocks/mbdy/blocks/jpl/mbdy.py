"""MBDY: angular accelerations of a system of hinge-connected bodies, as the report's users called for them."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from mbdy.blocks.errors import StateError
from mbdy.blocks.jpl.arguments import ArgumentError, Array, finite, result, shaped, wrong_shape
from mbdy.blocks.jpl.vehicle import vehicle
from mbdy.engine import Compiled, Model, Ports, compiled
from mbdy.engine.core.running import OK, Core

ARGUMENTS = ("TH", "TB", "TA", "FB", "FA", "GM", "GMD", "GMDD", "WO")
"""Of MRATE, in its order."""
POSITION, ATTITUDE, VELOCITY, OMEGA = 3, 4, 3, 3
"""States of the reference body, before hinge angles and hinge rates."""


class MBDY:
    """The exact, unrestricted equations of a reference body, 0, and ``n`` bodies on hinges, 1 to ``n``.

    Made once, in the INITIAL section; then `MRATE` gives accelerations at each derivative evaluation.

    ``NH``  number of hinges n.
    ``H``   (n) index h_k of the body on which body k hangs; labels rise outward, h_k < k.
    ``MB``  (7) inertial constants of body 0 about its mass centre, its own axes: I11, I22, I33, -I12, -I13, -I23
            [kg.m2], mass [kg]. Products of inertia are *minus* the tensor's elements.
    ``MA``  (n, 7) the same of bodies 1 to n.
    ``PB``  (n, 3) [m] row j: from the mass centre of body 0 to hinge j, body-0 axes. Rows of hinges on other bodies
            are ignored.
    ``PA``  (n, n, 3) [m] row i, i: from the mass centre of body i to its inboard hinge; row i, j for j > i: to the
            hinge of body j, which hangs on it; axes of body i. All others, those with j < i too, are ignored.
    ``G``   (n, 3) hinge axes, of any length but zero, axes of the body's own (and of the one it hangs on: all frames
            are parallel where all hinge angles are zero).
    ``PI``  (n) 1 where the motion of the hinge is prescribed, else 0.

    ``model`` is the system as a `Model` with bodies ``body0`` to ``bodyN``, to keep with `mbdy.engine.save` or to
    give to a `Plant`.

    Raises `ArgumentError`. Source: JPL TR 32-1592, sections II.D and II.E.
    """

    ignored: tuple[str, ...] = ()
    """Arguments of `MRATE` that are not looked at; they are there so that the subroutines can be interchanged."""

    def __init__(
        self, NH: int, H: ArrayLike, MB: ArrayLike, MA: ArrayLike, PB: ArrayLike, PA: ArrayLike, G: ArrayLike,
        PI: ArrayLike,
    ) -> None:  # fmt: skip
        self.model = vehicle(type(self).__name__, NH, H, MB, MA, PB, PA, G, PI)
        self._begin(self._compiled(self.model))

    def _compiled(self, model: Model) -> Compiled:
        """The equations of this subroutine."""
        return compiled(model)

    def _begin(self, made: Compiled) -> None:
        """Views of the core's vectors, one for each argument of MRATE that is looked at."""
        core = self._core = Core(made)
        ports, x, u = made.equations.ports, core.x, core.u
        core.p[:] = ports.vector("parameter")
        if core.prepare() != OK:
            raise ArgumentError(f"{type(self).__name__}: no finite constants come of these arguments; scale them")
        x[POSITION] = 1.0  # the identity: which way the system stands in space changes nothing here
        n = len(self.model.bodies) - 1
        slope = np.zeros_like(x)
        self._address = slope.ctypes.data
        self._rates = slope[len(x) - (OMEGA + n) :]
        self._prescribed = np.flatnonzero([body.joint.motion == ("prescribed",) for body in self.model.bodies[1:]])
        self._given = np.zeros(n)
        self._accelerations = u[ports.span("prescribed_accelerations")]
        views = self._views(ports, x, u)
        self._looked_at = tuple((i, views[name]) for i, name in enumerate(ARGUMENTS) if name not in self.ignored)
        if not self._prescribed.size:
            self._looked_at = tuple(each for each in self._looked_at if ARGUMENTS[each[0]] != "GMDD")

    def _views(self, ports: Ports, x: Array, u: Array) -> dict[str, Array]:
        n = len(self.model.bodies) - 1
        forces = u[ports.span("external_forces")].reshape(n + 1, 2, 3)
        angles = POSITION + ATTITUDE
        omega = angles + n + VELOCITY
        return {
            "TH": u[ports.span("joint_torques")],
            "TB": forces[0, 1],
            "TA": forces[1:, 1],
            "FB": forces[0, 0],
            "FA": forces[1:, 0],
            "GM": x[angles : angles + n],
            "GMD": x[omega + OMEGA :],
            "GMDD": self._given,
            "WO": x[omega : omega + OMEGA],
        }

    def MRATE(
        self, TH: ArrayLike, TB: ArrayLike, TA: ArrayLike, FB: ArrayLike, FA: ArrayLike, GM: ArrayLike, GMD: ArrayLike,
        GMDD: ArrayLike, WO: ArrayLike, WDOT: Array | None = None,
    ) -> Array:  # fmt: skip
        """Angular accelerations WDOT (n + 3) [rad/s2]: of body 0 in its own axes, then of the hinges.

        ``TH``  (n) [N.m] torque on body k along its axis from the body it hangs on; not used where PI = 1.
        ``TB``, ``TA``  (3), (n, 3) [N.m] torques on body 0 and on bodies 1 to n, each in its own axes.
        ``FB``, ``FA``  (3), (n, 3) [N] forces on them at their mass centres, each in its own axes.
        ``GM``, ``GMD``  (n) hinge angles [rad] and hinge rates [rad/s].
        ``GMDD``  (n) [rad/s2] prescribed accelerations; not used where PI = 0. WDOT returns those that are used.
        ``WO``  (3) [rad/s] angular velocity of body 0, its own axes.
        ``WDOT``  where to put the result, an array (n + 3) of float64; a new one where None.

        Raises `ArgumentError` for an argument of another shape or not finite, `StateError` where the equations have no
        finite solution.
        """
        given = (TH, TB, TA, FB, FA, GM, GMD, GMDD, WO)
        if WDOT is not None:
            result("WDOT", WDOT, self._rates.shape)
        try:
            for i, view in self._looked_at:
                if np.shape(given[i]) != view.shape and (view.size or np.size(given[i])):
                    raise wrong_shape(ARGUMENTS[i], np.shape(given[i]), view.shape)
                if view.size:
                    view[...] = given[i]
        except (TypeError, ValueError) as fault:
            raise self._fault(given) or fault from None
        if self._prescribed.size:
            np.take(self._given, self._prescribed, out=self._accelerations, mode="clip")
        self._core.derivatives(None, None, self._address)
        if not all(map(isfinite, self._rates.tolist())):
            raise self._fault(given) or StateError(
                f"{type(self).__name__}: the equations have no finite solution at GM = {np.array(GM)}; "
                "a hinge may move no inertia there, or some argument is too large"
            )
        if WDOT is None:
            return self._rates.copy()
        WDOT[...] = self._rates
        return WDOT

    def _fault(self, given: tuple[ArrayLike, ...]) -> ArgumentError | None:
        """What is wrong with arguments of MRATE; None where nothing is."""
        for i, view in self._looked_at:
            try:
                values = shaped(ARGUMENTS[i], given[i], view.shape)
                if ARGUMENTS[i] != "GMDD":
                    finite(ARGUMENTS[i], values)
            except ArgumentError as fault:
                return fault
            for k in self._prescribed if ARGUMENTS[i] == "GMDD" else ():
                if not isfinite(values[k]):
                    return ArgumentError(f"GMDD({k + 1}): must be finite where PI = 1, got {values[k]}")
        return None
