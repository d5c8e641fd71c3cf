"""Values of `mbdy.engine.model.signals`, from what the sweeps have left and from other outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from casadi import MX

from mbdy.engine.model.parts import place_of
from mbdy.engine.model.ports import Ports
from mbdy.engine.model.signal_variables import signal_name
from mbdy.engine.model.signals import ChosenOutput
from mbdy.engine.model.system import IDENTITY, INERTIAL
from mbdy.engine.order_n import signal_kernels as kernels
from mbdy.engine.order_n.outputs import View


def see_signals(view: View, table: Ports, outputs: dict[str, MX]) -> None:
    """Adds the signals of the model to the outputs by name, once these have all others."""
    signals = _Signals(view, table, outputs)
    for name in signals.by_name:
        signals.value(name)


@dataclass(frozen=True)
class _Place:
    """Attitude of a place (quaternion, to inertial components), and its place, velocity and angular velocity against
    the view's reference, inertial axes."""

    attitude: MX
    place: MX
    velocity: MX
    omega: MX


class _Signals:
    def __init__(self, view: View, table: Ports, outputs: dict[str, MX]) -> None:
        self.view, self.outputs = view, outputs
        self.by_name: Mapping[str, ChosenOutput] = {signal_name(signal): signal for signal in view.model.chosen_outputs}
        every = (*table.outputs, *table.hidden) if self.by_name else ()
        self.elements = {scalar: (v.name, k) for v in every for k, scalar in enumerate(v.scalar_names)}
        self.places: dict[str, _Place] = {}

    def value(self, name: str) -> MX:
        """An output, made first where it is a signal."""
        if name not in self.outputs:
            self.outputs[name] = self._seen(self.by_name[name])
        return self.outputs[name]

    def _seen(self, signal: ChosenOutput) -> MX:
        call = self.view.system.kernels.call
        if signal.kind == "sum":
            return sum((weight * self._of(name) for name, weight in signal.terms), start=MX(0))
        if signal.kind == "norm":
            x = self._of(signal.of)
            return call(kernels.norm, x.numel(), x=x)["seen"]
        of, to = self._place(signal.of), self._place(signal.to)
        if not signal.axes:
            turn = {"attitude_of": of.attitude, "attitude_to": to.attitude}
            return call(kernels.turned, signal.kind, signal.sequence, **turn)["seen"]
        axes = self._place(signal.axes)
        sides = {
            f"{what}_{side}": getattr(place, what)
            for side, place in (("of", of), ("to", to))
            for what in ("place", "velocity", "omega")
        }
        return call(kernels.moved, signal.kind, **sides, attitude=axes.attitude, omega=axes.omega)["seen"]

    def _of(self, name: str) -> MX:
        """An output or one of its elements."""
        if name in self.by_name or name in self.outputs:
            return self.value(name)
        variable, k = self.elements[name]
        return self.value(variable)[k]

    def _place(self, text: str) -> _Place:
        if text not in self.places:
            self.places[text] = self._found(*place_of(text))
        return self.places[text]

    def _found(self, body: str, node: str) -> _Place:
        view = self.view
        if body == INERTIAL:
            place, velocity = view.base
            return _Place(MX(list(IDENTITY)), -place, -velocity, MX.zeros(3))
        j = view.model.index[body]
        i = list(view.model.bodies[j].nodes).index(node) if node else None
        m = ridden = view.moves[j]
        rho = view.pose(j, i)[1]
        arm = rho - view.pose(j)[1]
        if m.flexing and i is not None:
            ridden, arm = m.nodes[i], MX.zeros(3)
        motion = view.system.kernels.call(kernels.ridden, V=ridden.V, C=ridden.pose[0], arm=arm)
        return _Place(ridden.quaternion, rho, motion["velocity"] + view.slip(j), motion["omega"])
