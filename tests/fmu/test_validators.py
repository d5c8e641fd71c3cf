"""What FMPy's validation and the FMU manipulation toolbox's checker say of every example in every flavour."""

from __future__ import annotations

import warnings

import pytest
from fmpy.validation import validate_fmu

from example_models import each_example
from flavours import FLAVOURS
from fmu.client import only
from mbdy.engine import ModelWarning, load


@pytest.mark.slow
@only(FLAVOURS)
@pytest.mark.parametrize("example", each_example())
def test_nothing_is_found(example, fmi, export):
    operations = pytest.importorskip("fmu_manipulation_toolbox.operations")
    checker = pytest.importorskip("fmu_manipulation_toolbox.checker")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load(example)
    made = export(model)
    assert validate_fmu(str(made)) == []
    schema, rules = checker.OperationGenericCheck(), checker.OperationSemanticCheck()
    with operations.FMU(str(made)) as opened:
        for check in (schema, rules):
            opened.apply_operation(check)
    assert schema.compliant_with_version == fmi
    assert rules.errors == []
