"""Native FMUs of the satellite in both versions of FMI, exported once, and clients that are freed after each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fmu.client import client_of, satellite
from mbdy.blocks import Plant
from mbdy.engine import Model
from mbdy.fmu import export_fmu
from native.exchange import exchange_of

VERSIONS = ("2.0", "3.0")


@pytest.fixture(scope="session")
def model() -> Model:
    return satellite()


@pytest.fixture(scope="session")
def natives(model: Model, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("native")
    return {fmi: export_fmu(model, folder / f"satellite{fmi[0]}.fmu", fmi=fmi, kind="native") for fmi in VERSIONS}


@pytest.fixture(params=VERSIONS)
def fmi(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def plant(model: Model) -> Plant:
    return Plant(model)


@pytest.fixture
def opened(natives: dict[str, Path], fmi: str, tmp_path: Path) -> Iterator:
    """Makes co-simulation clients, of the satellite unless another FMU is named; frees them afterwards."""
    yield from _makes(client_of, natives[fmi], tmp_path)


@pytest.fixture
def exchanged(natives: dict[str, Path], fmi: str, tmp_path: Path) -> Iterator:
    """The same for model exchange."""
    yield from _makes(exchange_of, natives[fmi], tmp_path)


def _makes(kind, own: Path, tmp_path: Path) -> Iterator:
    clients = []

    def open_(of: Path = own, folder: Path | None = None, **options):
        clients.append(kind(of, folder or tmp_path / of.stem, **options))
        return clients[-1]

    yield open_
    for client in clients:
        client.fmu.freeInstance()
