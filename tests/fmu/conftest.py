"""The satellite's FMU in each flavour, exported when it is first asked for, and clients that are freed after each test.

A test that takes `opened`, `fmu` or `export` runs in every flavour, unless it is given others (`only`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flavours import UNLIKE, Flavour
from fmu.client import NO_FRONT, Client, client_of, front_of, satellite
from fmu.exchange import exchange_of
from mbdy.blocks import Plant
from mbdy.engine import Model
from mbdy.fmu import export_fmu


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrises by ``flavour``, the flavour under test; marks of a test go before its module's."""
    if "flavour" in metafunc.fixturenames:
        chosen = metafunc.definition.get_closest_marker("flavours")
        metafunc.parametrize("flavour", chosen.args[0] if chosen else UNLIKE, ids=str)


@pytest.fixture(scope="session")
def model() -> Model:
    return satellite()


@pytest.fixture
def plant(model: Model) -> Plant:
    return Plant(model)


@pytest.fixture
def fmi(flavour: Flavour) -> str:
    return flavour.fmi


@pytest.fixture
def front(flavour: Flavour) -> None:
    """Skips where pythonfmu alone answers; see `needs_front`."""
    if flavour.kind == "python" and front_of(flavour) is None:
        pytest.skip(NO_FRONT)


@pytest.fixture(scope="session")
def fmus(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Flavour], Path]:
    """``fmus(flavour)``: the satellite's FMU."""
    folder = tmp_path_factory.mktemp("fmu")

    def exported(flavour: Flavour) -> Path:
        path = folder / f"{flavour}.fmu"
        return path if path.exists() else export_fmu(model, path, **flavour.options)

    return exported


@pytest.fixture
def fmu(fmus: Callable[[Flavour], Path], flavour: Flavour) -> Path:
    """The satellite's in the flavour under test."""
    return fmus(flavour)


@pytest.fixture
def export(flavour: Flavour, tmp_path: Path) -> Callable[..., Path]:
    """``export(model, name="other", **options)``: another FMU in the flavour under test."""

    def written(model: Model, name: str = "other", **options) -> Path:
        return export_fmu(model, tmp_path / f"{name}.fmu", **{**flavour.options, **options})

    return written


@pytest.fixture
def opened(fmu: Path, tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Makes co-simulation clients, of the satellite unless another FMU is named; frees them afterwards."""
    yield from _makes(client_of, fmu, tmp_path)


@pytest.fixture
def exchanged(fmu: Path, tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """The same for model exchange."""
    yield from _makes(exchange_of, fmu, tmp_path)


def _makes(kind: Callable[..., Client], own: Path, tmp_path: Path) -> Iterator[Callable[..., Client]]:
    clients: list[Client] = []

    def open_(of: Path = own, folder: Path | None = None, **options) -> Client:
        clients.append(kind(of, folder or tmp_path / f"{of.stem} unpacked", **options))
        return clients[-1]

    yield open_
    for client in clients:
        client.fmu.freeInstance()
