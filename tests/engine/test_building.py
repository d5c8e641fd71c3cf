"""Which C compiler is found, and what is said of one that does not work."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mbdy.engine.core.build import Compiler, CompilerError, NoCompilerError, _Build, compiler, shared_library

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the compilers of these tests are shell scripts")
VERSION = 'for word in "$@"; do [ "$word" = --version ] && echo "of a test" && exit 0; done\n'


@pytest.fixture
def compilers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """``compilers(MBDY_CC=..., CC=...)``: what is chosen from now on."""

    def choose(**variables: str) -> None:
        compiler.cache_clear()
        for name in ("MBDY_CC", "CC"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    yield choose
    monkeypatch.undo()
    compiler.cache_clear()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A compiler in a folder with a blank in its name."""
    return script(tmp_path / "my tools" / "cc", f'exec {shutil.which("cc") or "cc"} "$@"\n')


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{VERSION}{text}")
    path.chmod(0o755)
    return path


def command() -> tuple[str, ...]:
    found = compiler()
    return found.command


@pytest.mark.parametrize("variable", ["MBDY_CC", "CC"])
def test_a_path_may_hold_blanks(variable: str, own: Path, compilers):
    for text, words in (
        (f"{own}", []),
        (f" {own} " if variable == "MBDY_CC" else f"{own}", []),
        (f"'{own}' -m64 -DX='a b'", ["-m64", "-DX=a b"]),
        (f'"{own}"', []),
    ):
        compilers(**{variable: text})
        assert command() == (str(own), *words)


def test_a_path_may_be_relative(own: Path, compilers, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(own.parents[1])
    compilers(MBDY_CC=os.path.join("my tools", "cc"))
    assert command() == (str(own),)


def test_words_that_no_shell_would_take_name_no_compiler(own: Path, compilers):
    compilers(MBDY_CC=f"'{own}")
    with pytest.raises(CompilerError, match=r"MBDY_CC='.*: is no C compiler"):
        compiler()
    compilers(CC=f"'{own}")
    found = compiler()
    assert found is None or found.command[0] != str(own)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no cc")
def test_a_compiler_with_a_blank_compiles(own: Path, compilers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "cache"))
    compilers(MBDY_CC=str(own))
    found = compiler()
    assert shared_library({"a.c": "int a(void) { return 1; }\n"}, found, ("-fPIC",), ()).exists()


@pytest.mark.parametrize(("text", "said"), [("exit 0", "says nothing of why"), ("echo no luck", "no luck")])
def test_a_compiler_that_makes_nothing(text, said, compilers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MBDY_CACHE", str(tmp_path / "cache"))
    compilers(MBDY_CC=str(script(tmp_path / "cc", f"{text}\n")))
    found = compiler()
    with pytest.raises(CompilerError, match=rf"status 0 and made no built\.o:\n(.|\n)*{said}") as caught:
        shared_library({"a.c": "int a(void) { return 1; }\n"}, found, (), ())
    assert ("name another in MBDY_CC" in str(caught.value)) == (text == "exit 0")


def test_why_there_is_none(compilers):
    compilers(MBDY_CC="none")
    with pytest.raises(NoCompilerError, match="MBDY_CC=none is set, so no C compiler is used; unset MBDY_CC"):
        compiler()


@pytest.mark.parametrize(("words", "apart"), [("-march=native", True), ("-mcpu=native", True), ("-O2", False)])
def test_what_is_built_for_this_processor_is_kept_apart(words: str, apart: bool, monkeypatch: pytest.MonkeyPatch):
    def kept(features: str) -> str:
        monkeypatch.setattr("mbdy.engine.core.build.features", lambda: features)
        return _Build(Compiler(("cc", words), "1"), ("-c", "it.c"), {"it.c": ""}, ".o").file

    assert (kept("avx2") != kept("avx512")) == apart
    assert kept("avx2") == kept("avx2")
