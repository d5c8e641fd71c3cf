"""The satellite's FMU, exported once, and clients that are freed after each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fmu.client import Client, client_of, satellite
from mbdy.engine import Model
from mbdy.fmu import export_fmu


@pytest.fixture(scope="session")
def model() -> Model:
    return satellite()


@pytest.fixture(scope="session")
def fmus(model: Model, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("fmu")
    return {fmi: export_fmu(model, folder / f"satellite{fmi[0]}.fmu", fmi=fmi) for fmi in ("2.0", "3.0")}


@pytest.fixture(scope="session")
def fmu(fmus: dict[str, Path]) -> Path:
    return fmus["2.0"]


@pytest.fixture
def fmi() -> str:
    """The version under test; what tests several gives it parameters."""
    return "2.0"


@pytest.fixture
def versioned(fmus: dict[str, Path], fmi: str) -> Path:
    return fmus[fmi]


@pytest.fixture
def opened(versioned: Path, tmp_path: Path) -> Iterator:
    """Makes clients, of the satellite unless another FMU is named; frees them afterwards."""
    clients: list[Client] = []

    def open_(of: Path = versioned, folder: Path | None = None, **options) -> Client:
        clients.append(client_of(of, folder or tmp_path / of.stem, **options))
        return clients[-1]

    yield open_
    for client in clients:
        client.fmu.freeInstance()
