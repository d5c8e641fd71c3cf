"""The FMU manipulation toolbox: its checks of a description against the schema and the rules beside it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from clients.cases import EXAMPLE_LAWS, Case
from flavours import FLAVOURS, Flavour

pytest.importorskip("fmu_manipulation_toolbox")
from fmu_manipulation_toolbox.checker import OperationGenericCheck, OperationSemanticCheck
from fmu_manipulation_toolbox.operations import FMU


@pytest.mark.parametrize("case", EXAMPLE_LAWS, ids=str)
@pytest.mark.parametrize("flavour", FLAVOURS, ids=str)
def test_checks(
    case: Case,
    flavour: Flavour,
    exported: Callable[[Case, Flavour], Path],
    caplog: pytest.LogCaptureFixture,
):
    schema, rules = OperationGenericCheck(), OperationSemanticCheck()
    with FMU(str(exported(case, flavour))) as fmu:
        for check in (schema, rules):
            fmu.apply_operation(check)
    told = [record for record in caplog.records if record.name == "fmu_manipulation_toolbox"]
    assert [record.getMessage() for record in told if record.levelno >= logging.WARNING] == []
    assert schema.compliant_with_version == flavour.fmi
    assert rules.errors == []
