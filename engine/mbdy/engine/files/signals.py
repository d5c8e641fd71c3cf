"""Outputs of one's choosing: ``[output.NAME]`` of a file as `mbdy.engine.model.signals.ChosenOutput`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mbdy.engine.files.tables import OutputTable
from mbdy.engine.model.faults import Findings, PartError, path_of
from mbdy.engine.model.signal_variables import check_signals
from mbdy.engine.model.signals import ChosenOutput
from mbdy.engine.model.system import Model


def signals_of(
    tables: Mapping[str, OutputTable], model: Model, unread: Collection[str], findings: Findings
) -> tuple[ChosenOutput, ...]:
    """The outputs without fault that ``tables`` ask for of ``model``; ``unread`` as `check_signals` has it."""
    signals = [signal for name, table in tables.items() if (signal := _signal(name, table, findings))]
    sound = check_signals(model, signals, {*unread, *(["output"] if len(signals) < len(tables) else [])}, findings)
    return tuple(signal for signal in signals if signal.name in sound)


def _signal(name: str, table: OutputTable, findings: Findings) -> ChosenOutput | None:
    path = path_of(("output", name))
    if findings.faulty(path):
        return None
    try:
        return ChosenOutput(**{"name": name, "kind": ""} | table.model_dump(exclude_unset=True))
    except PartError as error:
        for fault in error.faults:
            findings.refuse(f"{path}.{fault.path.partition('.')[2]}", fault.message, fault.remedy)
        return None
