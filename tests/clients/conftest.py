"""FMUs that are exported once, and a place where clients may leave what they like."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from clients.cases import Case
from flavours import Flavour
from mbdy.fmu import export_fmu


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case, Flavour], Path]:
    """``exported(case, flavour)``: the FMU of a case, written when it is first asked for."""
    folder = tmp_path_factory.mktemp("fmus")

    def written(case: Case, flavour: Flavour) -> Path:
        path = folder / f"{case.file.stem}-{flavour}.fmu"
        return path if path.exists() else export_fmu(case.model, path, **flavour.options)  # type: ignore[arg-type]

    return written


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients unpack into the folder for temporary files and write into the current one: both are the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
