"""The attitude controller of ../quickstart in Python, for the rig of its satellite, over UDP.

    mbdy rig ../quickstart/satellite.toml --header satellite.py
    python run_python.py --port 5001

Change the law in ../quickstart/controller.py, or take another: all that is asked of it is ``f(t, y) -> {name: value}``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from link import Link, layout_in

sys.path.append(str(Path(__file__).parents[1] / "quickstart"))
from controller import make_controller


def main() -> None:
    parser = argparse.ArgumentParser(description="Closes the loop of a satellite's rig.")
    parser.add_argument("--layout", default="satellite.py", help="file of mbdy rig --header (satellite.py)")
    parser.add_argument("--address", default="127.0.0.1", help="of the rig (127.0.0.1)")
    parser.add_argument("--port", type=int, default=5001, help="of the rig (5001)")
    parser.add_argument("--key", type=Path, help="file with the rig's key")
    given = parser.parse_args()
    key = given.key.read_bytes().removesuffix(b"\n").removesuffix(b"\r") if given.key else b""
    link, control, answered = Link((given.address, given.port), layout_in(given.layout), key=key), make_controller(), 0
    for y in link.outputs():
        link.send(control(float(y["time"]), {name: y[name].tolist() for name in ("bus.attitude", "bus.omega")}))
        answered += 1
    print(f"{answered} outputs answered")


if __name__ == "__main__":
    main()
