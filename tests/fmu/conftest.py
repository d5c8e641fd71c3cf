"""The satellite's FMU, exported once, and clients that are freed after each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fmu.client import Client, satellite
from mbdy.engine import Model
from mbdy.fmu import export_fmu


@pytest.fixture(scope="session")
def model() -> Model:
    return satellite()


@pytest.fixture(scope="session")
def fmu(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_fmu(model, tmp_path_factory.mktemp("fmu") / "satellite.fmu")


@pytest.fixture
def opened(fmu: Path, tmp_path: Path) -> Iterator:
    """Makes clients, of the satellite unless another FMU is named; frees them afterwards."""
    clients: list[Client] = []

    def open_(of: Path = fmu, folder: Path | None = None, **options) -> Client:
        clients.append(Client(of, folder or tmp_path / of.stem, **options))
        return clients[-1]

    yield open_
    for client in clients:
        client.fmu.freeInstance()
