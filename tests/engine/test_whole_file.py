"""Files are at their place when they are whole, and stay as they were after any fault."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mbdy.engine.model.whole_file import whole_file

posix = pytest.mark.skipif(os.name == "nt", reason="links, modes and pipes of POSIX")


def broken(path: Path, fault: BaseException) -> None:
    with whole_file(path) as file:
        file.write("half")
        file.flush()
        raise fault


@pytest.mark.parametrize("fault", [ValueError("no"), KeyboardInterrupt(), OSError(28, "disk full")], ids=repr)
@pytest.mark.parametrize("old", ["old", None])
def test_a_fault_leaves_what_was_there(tmp_path: Path, fault: BaseException, old: str | None) -> None:
    path = tmp_path / "it.csv"
    if old:
        path.write_text(old, encoding="utf-8")
    with pytest.raises(type(fault)):
        broken(path, fault)
    assert [p.name for p in tmp_path.iterdir()] == (["it.csv"] if old else [])
    assert not old or path.read_text(encoding="utf-8") == old


def test_it_is_there_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    with whole_file(path) as file:
        file.write("ä\n")
        assert not path.exists()
    assert path.read_bytes() == "ä\n".encode()
    with whole_file(path, binary=True) as file:
        file.write(b"\0")
    assert path.read_bytes() == b"\0"


@posix
def test_modes_stay_and_new_files_have_those_of_the_process(tmp_path: Path) -> None:
    path, other = tmp_path / "it", tmp_path / "other"
    path.touch(0o600)
    other.touch()
    for name in ("it", "new"):
        with whole_file(tmp_path / name) as file:
            file.write("x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (tmp_path / "new").stat().st_mode == other.stat().st_mode


@posix
@pytest.mark.parametrize("there", [True, False])
def test_links_keep_pointing(tmp_path: Path, there: bool) -> None:
    path, link = tmp_path / "it", tmp_path / "link"
    if there:
        path.touch()
    link.symlink_to("it")
    with whole_file(link) as file:
        file.write("x")
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == "x"


@posix
def test_another_name_of_the_old_file_keeps_it(tmp_path: Path) -> None:
    path, other = tmp_path / "it", tmp_path / "other"
    path.write_text("old", encoding="utf-8")
    other.hardlink_to(path)
    with whole_file(path) as file:
        file.write("new")
    assert other.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_devices_are_written_straight() -> None:
    with whole_file("/dev/null") as file:
        file.write("x")
    with pytest.raises(OSError, match="No space left"), whole_file("/dev/full") as file:
        file.write("x")
    assert os.path.exists("/dev/full")


def test_a_folder_that_is_not_there_is_told_by_the_files_name(tmp_path: Path) -> None:
    path = tmp_path / "none" / "it"
    with pytest.raises(FileNotFoundError) as told, whole_file(path):
        pass
    assert told.value.filename == str(path)
