"""Programs for other machines, built with ziglang and run in Wine or QEMU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mbdy.fmu.native.platforms import Platform, host

AARCH64_ROOT = Path("/usr/aarch64-linux-gnu")
"""Where Debian's libc6-arm64-cross lies: the loader and C library that a program for ARM asks for."""


def runner(platform: Platform) -> list[str] | None:
    """What goes before a program for ``platform`` to run it here; None where this machine cannot."""
    if platform == host():
        return []
    if platform.name == "win64":
        found = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine") or shutil.which("wine")
        return [found] if found else None
    if platform.name == "linux-aarch64":
        found = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        return [found, "-L", str(AARCH64_ROOT)] if found and (AARCH64_ROOT / "lib").exists() else None
    return None


def program(platform: Platform, source: Path, folder: Path, flags: Sequence[str] = ()) -> Path:
    """The C program ``source`` for ``platform``, put into ``folder``."""
    made = folder / (f"{source.stem}.exe" if platform.name == "win64" else source.stem)
    link = ["-ldl"] if platform.suffix == ".so" else []
    command = [sys.executable, "-m", "ziglang", "cc", "-target", platform.target, "-O1", *flags]
    subprocess.run([*command, str(source), "-o", str(made), *link], check=True)
    return made


def ran(platform: Platform, made: Path, *arguments: str | Path, folder: Path) -> str:
    """What a program for ``platform`` prints; Wine keeps its settings in ``folder``."""
    before = runner(platform)
    assert before is not None
    environment = os.environ | {"WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all", "WINEARCH": "win64"}
    command = [*before, str(made), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
