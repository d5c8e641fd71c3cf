"""The folder of compiled cores: its limit, what interrupted builds leave, and when it is not used."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mbdy.blocks import Plant
from mbdy.engine import NoCacheNote
from mbdy.engine.core import cache
from systems import chain

OLD = 10 * cache.ABANDONED
posix = pytest.mark.skipif(os.name == "nt", reason="owners and permissions of POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "cores"))
    (tmp_path / "cores").mkdir(mode=0o700)
    return tmp_path / "cores"


def put(path: Path, size: int, age: float) -> Path:
    path.write_bytes(b"\0" * size)
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_what_was_used_longest_ago_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MBDY_CACHE_LIMIT", "2")
    oldest, older, recent = (put(folder / n, cache.MIB, age) for n, age in (("a", 3 * OLD), ("b", OLD), ("c", 0.0)))
    cache.trim(folder)
    assert not oldest.exists()
    assert older.exists()
    monkeypatch.setenv("MBDY_CACHE_LIMIT", "0.5")
    cache.trim(folder)
    assert not older.exists()
    assert recent.exists()  # somebody may be about to load it
    assert sum(about.st_size for about in cache.kept().values()) == cache.MIB


def test_what_interrupted_builds_left_goes(folder: Path) -> None:
    left, at_work = folder / f"{cache.BUILD}left", folder / f"{cache.BUILD}now"
    for path in (left, at_work):
        path.mkdir()
        (path / "model.c").touch()
    os.utime(left, (time.time() - OLD,) * 2)
    cache.tidy(folder)
    assert not left.exists()
    assert at_work.exists()
    left.mkdir()
    os.utime(left, (time.time() - OLD,) * 2)
    cache.tidy(folder)  # once an hour
    assert left.exists()
    put(folder / "a", 10, 0.0)
    assert cache.clear() == 10
    assert [path.name for path in folder.iterdir()] == [cache.LAST]


def test_a_core_that_is_used_is_kept(folder: Path) -> None:
    Plant(chain(1)).step(0.01)
    for path in cache.kept():
        os.utime(path, (time.time() - OLD,) * 2)
    Plant(chain(1)).step(0.01)
    used = {path.suffix for path, about in cache.kept().items() if time.time() - about.st_mtime < cache.HOUR}
    assert used == {next(iter(folder.glob("*.[sd][oyl]*"))).suffix, ".sha256"}


@posix
def test_a_folder_that_others_can_write_to_is_not_used(folder: Path) -> None:
    folder.chmod(0o777)
    with pytest.warns(NoCacheNote, match="chmod go-w"):
        assert cache.cache_folder() != folder
    assert list(folder.iterdir()) == []


@posix
def test_the_folder_is_made_for_its_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "new"))
    assert cache.cache_folder() == tmp_path / "new"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_a_full_disk_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SPARE", 10**12)
    with pytest.warns(NoCacheNote, match="are free there"):
        assert cache.cache_folder() != folder


def test_a_limit_that_is_no_number_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MBDY_CACHE_LIMIT", "much")
    with pytest.warns(NoCacheNote, match="MBDY_CACHE_LIMIT=much"):
        assert cache.limit() == cache.LIMIT * cache.MIB
