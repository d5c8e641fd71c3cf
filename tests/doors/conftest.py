"""FMUs of all kinds, exported once, and doors that are closed after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from doors.doors import Doors


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Doors:
    return Doors(tmp_path_factory.mktemp("doors"))


@pytest.fixture
def doors(exported: Doors) -> Iterator[Doors]:
    yield exported
    exported.close()
