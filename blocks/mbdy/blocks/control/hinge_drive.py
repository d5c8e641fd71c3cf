"""A drive at a hinge: a spring to the commanded angle and a damper (JPL TR 32-1592, page 15)."""

from __future__ import annotations

from mbdy.blocks.control.block import Signal, Static, number


class HingeDrive(Static):
    """tau = -K (angle - command) - B rate.

    ``stiffness``  K [N.m/rad].
    ``damping``    B [N.m.s/rad]; it acts on the rate itself, not on its difference to the commanded one.

    The same law is in the model where its joint has this stiffness and damping: `parameters` gives them, and the
    command then is the input ``.rest``. That is exact at every stage of the integrator, where `step` gives a torque
    that is held from call to call. Raises `VariableError` for a number that is negative or not finite.
    """

    ins = (Signal("command", "rad"), Signal("angle", "rad"), Signal("rate", "rad/s"))
    outs = (Signal("torque", "N.m"),)

    def __init__(self, stiffness: float | str, damping: float | str) -> None:
        self.stiffness = number(self, "stiffness", stiffness, "N.m/rad", least=0.0)
        self.damping = number(self, "damping", damping, "N.m.s/rad", least=0.0)

    @classmethod
    def platform(cls) -> HingeDrive:
        """The report's drives of the television platform: 3500 N.m/rad, 20 N.m.s/rad."""
        return cls(3500.0, 20.0)

    @classmethod
    def boom(cls) -> HingeDrive:
        """The report's hinges of the boom: 2000 N.m/rad, 10 N.m.s/rad."""
        return cls(2000.0, 10.0)

    def value(self, t: float, command: float, angle: float, rate: float) -> float:
        """The torque [N.m] for a ``command`` [rad] at an ``angle`` [rad] and ``rate`` [rad/s]."""
        return -self.stiffness * (angle - command) - self.damping * rate

    def parameters(self, joint: str) -> dict[str, float]:
        """Parameters of ``joint`` (``"yoke.joint"``) that give it this law; the command is the input ``JOINT.rest``."""
        return {f"{joint}.stiffness": self.stiffness, f"{joint}.damping": self.damping}
