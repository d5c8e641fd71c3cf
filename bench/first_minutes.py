"""What a newcomer waits for and stores: the demo in a fresh copy of the tree, from nothing, in each way to get it.

python bench/first_minutes.py [make] [pip] [uv]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_CLONED = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "dist", "build", "runs", "mbdy-demo", "uv.lock"
)
ENVIRONMENT = 'python -m venv "$HOME/env"', '"$HOME/env/bin/python" -m pip install --quiet'
UV_TESTS = '"$HOME/env/bin/uv" run pytest -q tests/app/test_demo.py'
"""Its environment has the tests' packages from the start."""
WAYS = {
    "make": ("make demo",),
    "pip": (ENVIRONMENT[0], f"{ENVIRONMENT[1]} .", 'cd "$HOME"', "env/bin/python -m mbdy demo"),
    "uv": (ENVIRONMENT[0], f"{ENVIRONMENT[1]} uv", '"$HOME/env/bin/uv" run mbdy demo', UV_TESTS),
}
"""Shell commands, run one after the other in a copy of the tree; ``$HOME`` is an empty folder."""
MEGABYTE = 1e6


def measured(way: str, folder: Path) -> tuple[float, float]:
    """Seconds that ``way`` takes in an empty ``folder``, and what the folder then holds [MB] beside the sources."""
    tree, home = folder / "mbdy", folder / "home"
    shutil.copytree(ROOT, tree, ignore=NOT_CLONED)
    home.mkdir()
    before = size(folder)
    removed = ("PYTHONPATH", "VIRTUAL_ENV", "MBDY_CACHE")
    variables = {name: value for name, value in os.environ.items() if name not in removed}
    variables |= {"HOME": str(home), "PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1"}
    variables["PATH"] = os.pathsep.join((str(Path(sys.executable).resolve().parent), variables["PATH"]))
    begin = time.perf_counter()
    subprocess.run(["sh", "-ec", "\n".join(WAYS[way])], cwd=tree, env=variables, check=True, stdout=sys.stderr)
    return time.perf_counter() - begin, size(folder) - before


def size(folder: Path) -> float:
    """[MB] of all files in ``folder``, links not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / MEGABYTE


def main() -> None:
    for way in sys.argv[1:] or WAYS:
        with tempfile.TemporaryDirectory(prefix="mbdy-first-") as folder:
            print("{}: {:.0f} s, {:.0f} MB".format(way, *measured(way, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
