"""Evidence, run report and an FMU's documentation in a browser: headings, tables and plots are there to be seen."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1280,1900", "--virtual-time-budget=10000",
)  # fmt: skip
EMPTY = 15_000
"""[bytes] A picture of a page with nothing on it is smaller."""
LOOK = """<script>addEventListener("error", (fault) => { (window.faults ??= []).push(fault.message); });
addEventListener("load", () => setTimeout(() => {
  const seen = {};
  for (const kind of ["h1", "h2", "table", "svg", "rect, path"]) {
    const all = [...document.querySelectorAll(kind)].filter((one) => one.getBoundingClientRect().width > 0);
    seen[kind] = all.map((one) => one.textContent);
  }
  seen.wide = document.documentElement.scrollWidth;
  seen.faults = window.faults ?? [];
  const place = document.createElement("pre");
  place.id = "seen"; place.textContent = JSON.stringify(seen);
  document.body.append(place);
}, 500));</script>"""
"""What a reader sees, written to the page's end."""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs chromium")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, mbdy) -> dict[str, Path]:
    """The three pages of the quickstart example's satellite."""
    folder = tmp_path_factory.mktemp("pages")
    model = Path(__file__).parents[2] / "examples" / "quickstart" / "satellite.toml"
    made = {"evidence": folder / "evidence.html", "report": folder / "run.html", "documentation": folder / "fmu.html"}
    assert mbdy("verify", model, "--states", 1, "--report", made["evidence"]).status == 0
    assert mbdy("simulate", model, "--until", 1, "--report", made["report"]).status == 0
    assert mbdy("fmu", model, "-o", folder / "satellite.fmu").status == 0
    with zipfile.ZipFile(folder / "satellite.fmu") as fmu:
        made["documentation"].write_bytes(fmu.read("documentation/index.html"))
    return made


def browse(page: Path, *options: str) -> str:
    assert BROWSER
    command = [BROWSER, *OPTIONS, f"--user-data-dir={page.with_suffix('.profile')}", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode(errors="replace")


def seen(page: Path) -> dict[str, Any]:
    """What is seen of ``page``: the texts of elements that take room, by their kind, faults of scripts, the width."""
    watched = page.with_name(f"watched-{page.name}")
    watched.write_text(page.read_text(encoding="utf-8").replace("<head>", f"<head>{LOOK}", 1), encoding="utf-8")
    told = re.search(r'<pre id="seen">(.*?)</pre>', browse(watched, "--dump-dom"), re.DOTALL)
    assert told
    return json.loads(html.unescape(told[1]))


@pytest.mark.parametrize(
    ("name", "headings", "tables", "plots"),
    [
        ("evidence", ("What was verified", "Formulations against Order-N", "Laws of mechanics", "Coverage"), 3, 2),
        ("report", ("Model", "Rates", "Attitudes", "Joints", "Momentum and energy", "Values"), 3, 10),
        ("documentation", ("Bodies and joints", "Use", "Inputs", "Parameters", "Outputs"), 5, 1),
    ],
)
def test_headings_tables_and_plots_are_seen(name: str, headings: tuple[str, ...], tables: int, plots: int, pages):
    page = seen(pages[name])
    assert page["faults"] == []
    assert len(page["h1"]) == 1
    assert "two-panel satellite" in page["h1"][0]
    assert set(headings) <= set(page["h2"])
    assert len(page["table"]) >= tables
    assert len(page["svg"]) >= plots
    assert len(page["rect, path"]) > plots
    assert page["wide"] <= 1280


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evidence", "report", "documentation"])
def test_a_picture_can_be_taken(name: str, pages, tmp_path: Path):
    picture = tmp_path / "page.png"
    browse(pages[name], f"--screenshot={picture}")
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") == 1280
    assert len(data) > EMPTY
