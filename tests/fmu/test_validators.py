"""What FMPy's validation and the FMU manipulation toolbox's checker say of every example in every flavour."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from fmpy.validation import validate_fmu

from mbdy.engine import ModelWarning, load
from mbdy.fmu import export_fmu

EXAMPLES = sorted(Path("examples").glob("*/*.toml"))
FLAVOURS = (("python", "2.0", False), ("python", "3.0", False), ("native", "2.0", False), ("native", "3.0", False), ("native", "3.0", True))  # fmt: skip  # noqa: E501


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "fmi", "scalars"), FLAVOURS, ids=str)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_nothing_is_found(example, kind, fmi, scalars, tmp_path):
    operations = pytest.importorskip("fmu_manipulation_toolbox.operations")
    checker = pytest.importorskip("fmu_manipulation_toolbox.checker")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load(example)
    made = export_fmu(model, tmp_path / "made.fmu", kind=kind, fmi=fmi, scalars=scalars)
    assert validate_fmu(str(made)) == []
    schema, rules = checker.OperationGenericCheck(), checker.OperationSemanticCheck()
    with operations.FMU(str(made)) as opened:
        for check in (schema, rules):
            opened.apply_operation(check)
    assert schema.compliant_with_version == fmi
    assert rules.errors == []
