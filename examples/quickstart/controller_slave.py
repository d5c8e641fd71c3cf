"""The controller as pythonfmu runs it inside the FMU that controller_fmu.py makes.

The FMU carries this file under a name of its own and controller.py as that name with ``_law`` behind: Python keeps one
module of a name in a process, so an FMU with a module called ``controller`` would run the code of the next one's.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable

from pythonfmu import DefaultExperiment, Fmi2Causality, Fmi2Slave, Fmi2Variability, Real

law = importlib.import_module(f"{__name__}_law")

SAMPLE = 0.02  # s, the period that the step of a co-simulation is meant to be

INPUTS = {"bus.attitude": (1.0, 0.0, 0.0, 0.0), "bus.omega": (0.0, 0.0, 0.0)}
PARAMETERS = {"target": law.TARGET, "bandwidth": (law.BANDWIDTH,), "ratio": (law.RATIO,)}
OUTPUTS = {"bus.torque": 3}
DESCRIPTIONS = {
    "bus.attitude": "attitude, quaternion w x y z, bus to inertial axes",
    "bus.omega": "angular velocity of the bus, its axes",
    "bus.torque": "torque on the bus, its axes",
    "target": "wanted attitude, quaternion w x y z, bus to inertial axes",
    "bandwidth": "of the closed loop, each axis by itself",
    "ratio": "damping ratio of the closed loop",
}


class AttitudeController(Fmi2Slave):
    """Measured attitude and rates in, torque out: the law of controller.py at each communication point."""

    description = "Attitude controller of a satellite: quaternion feedback"
    default_experiment = DefaultExperiment(start_time=0.0, stop_time=60.0, step_size=SAMPLE)

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.modelName = __name__
        self.guid = uuid.uuid5(uuid.NAMESPACE_URL, __name__)  # equal contents have equal names
        self.values: dict[str, list[float]] = {}
        for name, start in INPUTS.items():
            self._register(name, start, Fmi2Causality.input, Fmi2Variability.continuous)
        for name, start in PARAMETERS.items():
            self._register(name, start, Fmi2Causality.parameter, Fmi2Variability.tunable)
        for name, size in OUTPUTS.items():
            for k in range(size):
                self.register_variable(
                    Real(
                        f"{name}[{k + 1}]",
                        causality=Fmi2Causality.output,
                        variability=Fmi2Variability.continuous,
                        description=DESCRIPTIONS[name],
                        getter=self._output(name, k),
                    ),
                    nested=False,  # a dot in the name is no way through objects
                )

    def _register(
        self, name: str, start: tuple[float, ...], causality: Fmi2Causality, variability: Fmi2Variability
    ) -> None:
        """The elements of ``name`` as variables that read and write ``values[name]``."""
        values = self.values[name] = list(start)
        for k in range(len(start)):
            self.register_variable(
                Real(
                    name if len(start) == 1 else f"{name}[{k + 1}]",
                    causality=causality,
                    variability=variability,
                    description=DESCRIPTIONS[name],
                    getter=lambda k=k: values[k],
                    setter=lambda value, k=k: values.__setitem__(k, value),
                ),
                nested=False,
            )

    def _output(self, name: str, k: int) -> Callable[[], float]:
        return lambda: self._torque()[name][k]

    def _torque(self) -> dict[str, list[float]]:
        """The law for what is measured now: outputs follow inputs at once, as in a run of controller.py."""
        (bandwidth,), (ratio,) = self.values["bandwidth"], self.values["ratio"]
        control = law.make_controller(self.values["target"], bandwidth, ratio)
        return control(0.0, self.values)  # the law knows no time

    def do_step(self, current_time: float, step_size: float) -> bool:
        return True
