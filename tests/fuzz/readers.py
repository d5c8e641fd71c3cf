"""Every reader of ours: sound files for it, and how a person has them read. `hostile` feeds one with broken ones.

Run as a program in a process of its own, which a limit of memory and a clock hold: COUNT, SEED, FOLDER, NAMES.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from scipy import sparse
from scipy.io import mmwrite

from bad_models import bars, beam, boom, hinged
from flexible_samples import file_of_42, frame, nastran_files
from fmu.ssp_cases import described
from fuzz.mutations import mutated
from mbdy.blocks import Plant, ResumedWarning, input_table
from mbdy.engine import Linearization, ModelWarning, load, loads, ports
from mbdy.engine.flexible.beam import beam as boom_of
from mbdy.engine.flexible.sid import write_sid
from mbdy.engine.model.faults import MbdyError
from mbdy.fmu.ssp.parts import read as read_fmu

MEMORY = 1 << 30
"""Bytes that reading may take beside what the process has; files here have a few thousand."""
SECONDS = 10
MOST_WORDS = 20_000
BODY = "[body.flexible]\njoint = { to = 'bus', kind = 'revolute', axis = [0, 1, 0] }\n"
BUS = "mbdy = 1\n[body.bus]\nmass = 10\ninertia = [1, 1, 1]\njoint = { to = 'inertial', kind = 'free' }\n"
REDUCE = {"mass": "m.npy", "stiffness": "k.npy", "table": "nodes.csv"}


@dataclass(frozen=True)
class Reader:
    """``samples`` writes sound files into a folder and returns them; ``read`` reads one, changed, of the same name."""

    samples: Callable[[Path], list[Path]]
    read: Callable[[Path], object]


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _models(folder: Path) -> list[Path]:
    texts = (hinged("stiffness = '3 N*m/rad'", more="[initial]\nbus.omega = [1, 0, 0]"), boom(), beam(), bars())
    return [_written(folder / f"model{k}.toml", text) for k, text in enumerate(texts)]


def _finite_elements(folder: Path) -> list[Path]:
    mass, stiffness, places, _ = frame(2)
    np.save(folder / "m.npy", mass)
    np.save(folder / "k.npy", stiffness)
    rows = [f"{node},{x},{y},{z},123456" for node, (x, y, z) in places.items()]
    return [_written(folder / "nodes.csv", "\n".join(["node,x,y,z,freedoms", *rows])), folder / "k.npy"]


def _matrices(folder: Path) -> list[Path]:
    _finite_elements(folder)
    stiffness = np.load(folder / "k.npy")
    np.savez(folder / "plain.npz", stiffness=stiffness)
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        sparse.save_npz(folder / f"{kind}.npz", sparse.csr_array(stiffness).asformat(kind), compressed=kind == "csc")
    mmwrite(folder / "whole.mtx", stiffness)
    mmwrite(folder / "half.mtx", sparse.coo_array(stiffness), symmetry="symmetric")
    return sorted([folder / "k.npy", *folder.glob("*.npz"), *folder.glob("*.mtx")])


def _reduced(path: Path) -> object:
    """A model file that names a ``path`` as its table or its stiffness, or one of Nastran's files."""
    keys = {".csv": {"table": path.name}, ".bdf": {}, ".pch": {}}.get(path.suffix, {"stiffness": path.name})
    files = REDUCE | keys if keys else {"bulk": "boom.bdf", "punch": "boom.pch"}
    return _flexible(path, "reduce = { interface = 100, modes = 1, " + _inline(files) + " }")


def _inline(files: Mapping[str, str]) -> str:
    return ", ".join(f"{key} = '{name}'" for key, name in files.items())


def _flexible(path: Path, flex: str, more: str = "") -> object:
    return load(_written(path.parent / "model.toml", BUS + BODY + more + f"[body.flexible.flex]\n{flex}\n"))


def _sid(folder: Path) -> list[Path]:
    write_sid(folder / "boom.SID_FEM", boom_of(length=2, mass_per_length=1, bending_stiffness=10, modes=1))
    return [folder / "boom.SID_FEM"]


def _flex42(folder: Path) -> list[Path]:
    where = "****************** Analysis Node Locations *********************\n1\n500001  3.0 1.0 0.0 ! Node ID\n"
    angular = "4\n0 0 0 0 0.02\n0 1 0 0 0.04\n1 0 0 0 0.04\n2 2 1 1 0.18"
    return [_written(folder / "flex.txt", file_of_42("1\n0 0 0 0.6", angular, where))]


def _nastran(folder: Path) -> list[Path]:
    nastran_files(folder)
    return [folder / "boom.bdf", folder / "boom.pch"]


def _linearizations(folder: Path) -> list[Path]:
    one = Linearization(
        "pendulum", np.array([[0.0, 1.0], [-9.81, 0.0]]), np.ones((2, 1)), np.ones((1, 2)), np.zeros((1, 1)),
        ("angle", "rate"), ("torque",), ("angle",), ("rad", "rad/s"), ("N.m",), ("rad",), np.zeros(2), np.zeros(1),
        np.zeros(1), {"angle": 0.1, "rate": 0.0}, None, ("a note",),
    )  # fmt: skip
    paths = [folder / f"lin.{ending}" for ending in ("npz", "mat", "json")]
    for path in paths:
        one.save(path)
    return paths


def _tables(folder: Path) -> list[Path]:
    return [
        _written(folder / "inputs.csv", "time, bus.torque[1], panel.joint.torque\n0, 1, 2\n0.5, 1e-3, -2.5\n1,0,0\n")
    ]


@cache
def _plant() -> Plant:
    return Plant(loads(hinged()))


def _states(folder: Path) -> list[Path]:
    _plant().save_state(folder / "plant.state")
    return [folder / "plant.state"]


READERS: Mapping[str, Reader] = {
    "model": Reader(_models, load),
    "matrix": Reader(_matrices, _reduced),
    "nodes": Reader(_finite_elements, _reduced),
    "sid": Reader(_sid, lambda path: _flexible(path, f"file = '{path.name}'")),
    "42": Reader(
        _flex42,
        lambda path: _flexible(path, f"file = '{path.name}'", "mass = 2\ncom = [3, 1, 0]\ninertia = [1, 1, 1]\n"),
    ),
    "nastran": Reader(_nastran, _reduced),
    "linearization": Reader(_linearizations, Linearization.load),
    "table": Reader(_tables, lambda path: input_table(path, ports(loads(hinged())), linear=False)),
    "state": Reader(_states, lambda path: _plant().restore_state(path)),
    "fmu": Reader(lambda folder: [described(folder / "controller.fmu")], lambda path: read_fmu("controller", path)),
}


def hostile(name: str, count: int, seed: int, folder: Path) -> dict[str, int]:
    """How many of ``count`` broken files were taken and refused; ends the process at the first that is neither.

    The file at work, left in ``folder``, is then the one to blame.
    """
    reader = READERS[name]
    samples = {path: path.read_bytes() for path in reader.samples(folder)}
    for path in samples:
        reader.read(path)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    random, ends = Random(seed), Counter[str]()
    for k in range(count):
        path = random.choice(list(samples))
        path.write_bytes(mutated(samples[path], random))
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            reader.read(path)
            ends["taken"] += 1
        except MbdyError as fault:
            ends["refused"] += 1
            if len(str(fault)) > MOST_WORDS or not (path.name in str(fault) or "flexible" in str(fault)):
                raise AssertionError(f"input {k}: without name, or endless: {str(fault)[:2000]}") from fault
        except BaseException:
            print(f"input {k} of seed {seed}: {path}", file=sys.stderr)
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        path.write_bytes(samples[path])
    return dict(ends)


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("error")
    for sort in (ModelWarning, ResumedWarning):
        warnings.simplefilter("ignore", sort)
    every = {}
    for one in sys.argv[4:]:
        place = Path(sys.argv[3]) / one
        place.mkdir()
        every[one] = hostile(one, int(sys.argv[1]), int(sys.argv[2]), place)
    print(json.dumps(every))
