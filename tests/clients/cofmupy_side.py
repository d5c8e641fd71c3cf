"""What cofmupy needs beside it: the examples' controllers as its proxies, and its master for today's FMPy."""

from __future__ import annotations

from typing import Any

from cofmupy.master import DefaultMaster
from cofmupy.utils.proxy import FmuProxy, Variable

from clients.cases import FIVE_BODY, QUICKSTART, Case


class Controller(FmuProxy):
    """The controller of a case: what is measured comes in, what is commanded goes out."""

    case: Case

    def __init__(self) -> None:
        super().__init__()
        self.law = self.case.law()
        for names, causality in ((self.case.measured, "input"), (self.case.commanded, "output")):
            for name in names:
                self.register_variable(Variable(name=name, causality=causality, start=0.0))

    def do_step(self, current_time: float, step_size: float) -> bool:
        commands = self.law(current_time, [getattr(self, name) for name in self.case.measured])
        for name, value in zip(self.case.commanded, commands, strict=True):
            setattr(self, name, value)
        return True


class QuickstartController(Controller):
    case = QUICKSTART


class FiveBodyController(Controller):
    case = FIVE_BODY


class Master(DefaultMaster):
    """cofmupy 1.0 wants step sizes as numbers; they are texts in FMPy later than the 0.3.20 it is made for."""

    def _load_fmus(self, *args: Any, **options: Any) -> dict[str, Any]:
        handlers = super()._load_fmus(*args, **options)
        for handler in handlers.values():
            if handler.default_step_size is not None:
                handler.default_step_size = float(handler.default_step_size)
        return handlers
