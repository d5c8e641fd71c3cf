"""mbdy beside other programs of its kind on the same systems, once their accelerations agree.

Peers are installed in an environment of their own (peers/requirements.txt); those that are not there, or do not build,
are told and left out. What is called from C stands side by side in this process; peers in Python are asked in turn.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import distributions
from pathlib import Path
from statistics import median

import native_fmu
import numpy as np
from page import Table, chart, number
from peers.system import System, conserved, drawn
from timing import Asked, EndedError, Subject, derivatives, ratio, start, timed, times_of

from mbdy.engine import Body, Joint, Model
from mbdy.engine.core.build import compiler, shared_library
from mbdy.engine.linear.choice import equations_of
from mbdy.engine.model.system import PortChoice
from mbdy.engine.order_n.equations import Equations

SOURCES = Path(__file__).with_name("peers")
AGREEMENT = 1e-9
"""Largest difference of accelerations, of the largest of all, before anything is timed."""
NATIVE = ("-O3", "-march=native")
SHIPPED = ("-O2",)
"""Flags for this processor alone, and those with which FMUs are shipped."""
CONTRACTED = "-ffp-contract=fast"
"""What gcc does by itself but where, as mbdy's are, sources are strict C11."""
GENERATED = 50
"""Hinges up to which generated code is compiled; beyond, compilers take minutes and more."""
TOO_LARGE = "too large to compile"
GENERATOR = "Pinocchio, generated"
IN_PYTHON = {"Drake": "drake_derivatives.py"}
NAMES = GENERATOR, "Pinocchio", "MuJoCo", *IN_PYTHON


class MissingError(Exception):
    """A peer is not installed, does not build, or does not agree."""


def model_of(system: System) -> Model:
    """``system`` in mbdy, with the hinges' torques as its only inputs."""
    names = ["base", *(f"link{i}" for i in range(1, system.n + 1))]
    axes = tuple(tuple(row) for row in np.eye(3).tolist())
    joints = [Joint(to="inertial", kind="free", translations=axes, spherical=True)]
    joints += [
        Joint(to=names[parent], kind="revolute", rotations=(tuple(axis),), at=tuple(at))
        for parent, axis, at in zip(
            system.parent[1:].tolist(), system.axis[1:].tolist(), system.at[1:].tolist(), strict=True
        )
    ]
    bodies = [
        Body(name=name, mass=mass, com=tuple(com), inertia=tuple(map(tuple, inertia)), joint=joint)
        for name, mass, com, inertia, joint in zip(
            names, system.mass.tolist(), system.com.tolist(), system.inertia.tolist(), joints, strict=True
        )
    ]
    initial = {f"base.{what}": tuple(getattr(system, what).tolist()) for what in BASE}
    for name, angle, rate in zip(names[1:], system.angles.tolist(), system.rates.tolist(), strict=True):
        initial |= {f"{name}.joint.angle": (angle,), f"{name}.joint.rate": (rate,)}
    ports = PortChoice(inputs=("*.joint.torque",))
    return Model(name=system.name, bodies=tuple(bodies), initial=initial, port_choice=ports)


BASE = ("position", "attitude", "velocity", "omega")


def accelerations(made: Equations, rates: np.ndarray) -> np.ndarray:
    """What peers give (system.h) out of the rates of all states of `model_of`."""
    names = made.ports.state_names
    ends = "base.omega", "base.velocity", ".joint.rate"
    return rates[[i for end in ends for i, name in enumerate(names) if end in name]]


def own(system: System, flags: Sequence[str]) -> tuple[Subject, np.ndarray]:
    """Our derivatives of ``system``, and its accelerations."""
    made = equations_of(model_of(system))
    u = np.array(made.ports.vector("input"), dtype=float)
    u[made.ports.span("joint_torques")] = system.torques
    subject = derivatives(made, start(made), u, flags)
    return subject, accelerations(made, subject.arguments[3])


def _checked(system: System, found: np.ndarray, expected: np.ndarray) -> None:
    error = np.abs(found - expected).max() / np.abs(expected).max()
    if not error <= AGREEMENT:
        raise MissingError(f"accelerations of the {system.name} differ by {error:.0e} of the largest")


def _made(library: Path, system: System, until: ExitStack) -> tuple[ctypes.CDLL, int]:
    """The functions of system.h in a peer's ``library``, and its own form of ``system``, freed with ``until``.

    Pinocchio keeps tables of second derivatives with it, 4 GB for 500 hinges.
    """
    functions, numbers = ctypes.CDLL(str(library)), system.numbers
    functions.peer_make.restype = ctypes.c_void_p
    if not (peer := functions.peer_make(numbers.ctypes.data_as(ctypes.c_void_p))):
        raise MissingError(f"does not take the {system.name}")
    functions.peer_free.argtypes = [ctypes.c_void_p]
    until.callback(lambda: (functions.peer_free(peer), numbers))
    return functions, peer


def _of_library(library: Path, system: System, expected: np.ndarray, until: ExitStack) -> Subject:
    """A peer that stands behind the functions of system.h."""
    functions, peer = _made(library, system, until)
    functions.peer_call.argtypes = [ctypes.c_int, ctypes.c_void_p]
    functions.peer_accelerations.argtypes = [ctypes.c_void_p] * 2
    found = np.zeros(system.n + 6)
    functions.peer_call(1, peer)
    functions.peer_accelerations(peer, found.ctypes.data_as(ctypes.c_void_p))
    _checked(system, found, expected)
    return timed(functions.peer_call, peer)


def left_to_itself(site: Site, system: System, steps: int, h: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Seconds of MuJoCo's own steps of RK4 without torques, and what they conserve, at the start and at the end."""
    state = np.zeros(13 + 2 * system.n)
    with ExitStack() as until:
        functions, peer = _made(site.mujoco(), system, until)
        functions.peer_run.argtypes = [ctypes.c_int, ctypes.c_double, *[ctypes.c_void_p] * 2]
        begin = time.process_time()
        functions.peer_run(steps, h, peer, state.ctypes.data_as(ctypes.c_void_p))
        taken = time.process_time() - begin
    names = "position", "attitude", "velocity", "omega", "angles", "rates"
    parts = np.split(state, np.cumsum([3, 4, 3, 3, system.n]))
    return taken, conserved(system), conserved(replace(system, **dict(zip(names, parts, strict=True))))


@dataclass(frozen=True)
class Site:
    """An environment of peers, and a folder for what is built of them."""

    environment: Path
    build: Path

    @cached_property
    def packages(self) -> Path:
        """Its site-packages."""
        return next(self.environment.glob("lib/python*/site-packages"), self.environment)

    def versions(self) -> dict[str, str]:
        """Version by the name of each requirement that is installed."""
        wanted = [line.partition("==")[0] for line in (SOURCES / "requirements.txt").read_text().split()]
        found = {d.metadata["Name"].lower(): d.version for d in distributions(path=[str(self.packages)])}
        return {name: found[name] for name in wanted if name in found}

    def mujoco(self) -> Path:
        """The library of mujoco.c."""
        folder = self.packages / "mujoco"
        library = next(folder.glob("libmujoco.so*"), None)
        if not library:
            raise MissingError("not installed")
        return _compiled("mujoco.c", {}, (f"-I{folder / 'include'}",), (str(library), f"-Wl,-rpath,{folder}"))

    def pinocchio(self) -> Path:
        """The library of pinocchio.cpp."""
        return self._built("pinocchio.cpp", "libpinocchio_peer.so", (*NATIVE, "-fPIC", "-shared"), ())

    def generated(self, system: System, flags: Sequence[str]) -> Path:
        """The library of what pinocchio_generate.cpp writes for ``system``."""
        if system.n > GENERATED:
            raise MissingError(TOO_LARGE)
        casadi = self.packages / "casadi"
        core = next(casadi.glob("libcasadi.so*"), None)
        if not core:
            raise MissingError("not installed: casadi")
        written = self._built(
            "pinocchio_generate.cpp", "pinocchio_generate",
            ("-O1", "-DPINOCCHIO_WITH_CASADI_SUPPORT", f"-I{casadi / 'include'}"),
            (str(core), f"-Wl,-rpath,{casadi}"),
        )  # fmt: skip
        numbers = " ".join(map(repr, system.numbers.tolist()))
        folder = written.parent / hashlib.sha256(numbers.encode()).hexdigest()[:16]
        if not (folder / "generated.c").exists():
            folder.mkdir(exist_ok=True)
            (folder / "numbers").write_text(numbers)
            with tempfile.TemporaryDirectory(dir=self.build) as own:
                subprocess.run([written, folder / "numbers", folder], cwd=own, check=True, capture_output=True)
        return _compiled("generated.c", {"aba.c": (folder / "generated.c").read_text()}, flags, ("-lm",))

    def _built(self, source: str, name: str, flags: Sequence[str], link: Sequence[str]) -> Path:
        """``source`` in C++ with Pinocchio's headers, kept by all that makes it; takes a minute or two."""
        prefix, compile = self.packages / "cmeel.prefix", shutil.which(os.environ.get("CXX", "c++"))
        if not (prefix / "include" / "pinocchio").exists():
            raise MissingError("not installed")
        if not compile:
            raise MissingError("no C++ compiler")
        command = [
            compile, "-w", "-std=c++17", "-DNDEBUG", "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
            "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12", f"-I{prefix / 'include'}",
            *(f"-I{each / 'include' / 'eigen3'}" for each in (prefix, self.packages / "casadi")),
            f"-I{prefix / 'include' / 'pinocchio' / 'deprecated'}", *flags, str(SOURCES / source),
            f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}", "-lpinocchio_default",
            "-lboost_serialization", *link,
        ]  # fmt: skip
        texts = [each.read_text() for each in [*sorted(SOURCES.glob("*.h*")), SOURCES / source]]
        made_of = "\n".join([*command, *texts, self.versions()["pin"]])
        built = self.build / hashlib.sha256(made_of.encode()).hexdigest()[:16] / name
        if not built.exists():
            built.parent.mkdir(parents=True, exist_ok=True)
            done = subprocess.run([*command, "-o", f"{built}.new"], capture_output=True, text=True, check=False)
            if done.returncode:
                raise MissingError(f"does not build: {done.stderr.strip().splitlines()[0]}")
            Path(f"{built}.new").rename(built)
        return built

    def asked(self, script: str, system: System, expected: np.ndarray) -> Asked:
        """The peer in Python of ``script``."""
        numbers = self.build / "numbers.txt"
        self.build.mkdir(parents=True, exist_ok=True)
        numbers.write_text(" ".join(map(repr, system.numbers.tolist())))
        python = self.environment / "bin" / "python"
        if not python.exists():
            raise MissingError("not installed")
        made = Asked.started([python, SOURCES / script, numbers], cwd=self.build)
        try:
            _checked(system, np.array(made.ask("accelerations")), expected)
        except MissingError:
            made.__exit__()
            raise
        return made


def _compiled(source: str, more: Mapping[str, str], flags: Sequence[str], link: Sequence[str]) -> Path:
    """The shared library of a peer's ``source`` and ``more`` files by name."""
    headers = {each.name: each.read_text() for each in SOURCES.glob("*.h")}
    files = {source: (SOURCES / source).read_text(), **headers, **more}
    return shared_library(files, compiler(), ("-std=gnu11", "-fPIC", *flags), link)


@contextmanager
def peers_of(
    site: Site, system: System, expected: np.ndarray, flags: Sequence[str]
) -> Iterator[tuple[dict[str, Subject | Asked], dict[str, str]]]:
    """Each peer by name, its accelerations those ``expected``; and why others are left out."""
    made, left_out = {}, {}
    with ExitStack() as until:

        def from_c(library: Callable[[], Path]) -> Callable[[], Subject | Asked]:
            return lambda: _of_library(library(), system, expected, until)

        ways: dict[str, Callable[[], Subject | Asked]] = {
            GENERATOR: from_c(lambda: site.generated(system, flags)),
            "Pinocchio": from_c(site.pinocchio),
            "MuJoCo": from_c(site.mujoco),
        }
        for name, script in IN_PYTHON.items():
            ways[name] = lambda script=script: until.enter_context(site.asked(script, system, expected))
        for name, way in ways.items():
            try:
                made[name] = way()
            except (MissingError, EndedError) as reason:
                left_out[name] = str(reason)
        yield made, left_out


def compared(site: Site, shapes: Sequence[str], sizes: Sequence[int], rounds: int) -> tuple[Table, str, dict[str, str]]:
    """Right-hand sides of chains and trees for this processor alone; a chart of them; and why peers are left out."""
    rows, missing, ahead = [], {}, []
    curves: dict[str, dict[str, dict[float, float]]] = {}
    for shape in shapes:
        panel = curves.setdefault(f"{shape} of n hinged bodies", {})
        for n in sizes:
            system = drawn(shape, n)
            mine, expected = own(system, (*NATIVE, CONTRACTED))
            with peers_of(site, system, expected, NATIVE) as (peers, left_out):
                times = times_of({"mbdy": mine, **peers}, rounds)
            missing |= {name: why for name, why in left_out.items() if why != TOO_LARGE}
            cells = {name: f"{number(ratio(times, name, 'mbdy'))} ({_micro(times[name])})" for name in peers}
            ahead += [f"{name} on the {system.name}" for name in peers if ratio(times, name, "mbdy") < 1.0]
            rows.append((system.name, _micro(times["mbdy"]), *(cells.get(name, "") for name in NAMES)))
            for name, taken in times.items():
                panel.setdefault(name, {})[n] = median(taken) * 1e6 / n
    columns = ["system", "mbdy, µs", *(f"{name} / mbdy (µs)" for name in NAMES)]
    note = f"Ahead of mbdy: {', '.join(ahead)}." if ahead else "No peer is ahead of mbdy in these."
    ticks = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
    return Table(columns, rows, note), chart(curves, x="n", y="µs for each body", ticks=ticks), missing


def exchanged(site: Site, made: Callable[[Model], native_fmu.Subject], systems: Sequence[System], rounds: int) -> Table:
    """Right-hand sides through the model exchange of native FMUs as they ship, against peers at the same flags."""
    rows = []
    for system in systems:
        libraries: dict[str, Path] = {}
        expected = own(system, SHIPPED)[1]
        for name, way in {
            GENERATOR: lambda system=system: site.generated(system, SHIPPED),
            "Pinocchio": site.pinocchio, "MuJoCo": site.mujoco,
        }.items():  # fmt: skip
            with suppress(MissingError), ExitStack() as until:
                _of_library(way(), system, expected, until)
                libraries[name] = way()
        numbers, found = system.numbers.tolist(), made(model_of(system))
        count = max(3, 5000 // system.n)
        times = found.times("peers", 3 * rounds, count, peers=list(libraries.values()), numbers=numbers)
        cells = {name: number(ratio(times, str(library), "rates2")) for name, library in libraries.items()}
        taken = (f"{median(times[key]) / 1e3:.2f}" for key in ("rates2", "rates3"))
        rows.append((system.name, *taken, *(cells.get(name, "") for name in NAMES[:3])))
    return Table(["system", "FMI 2.0, µs", "FMI 3.0, µs", *(f"{name} / FMI 2.0" for name in NAMES[:3])], rows)


def _micro(times: Sequence[float]) -> str:
    """Median, and the least [µs]."""
    return f"{number(median(times) * 1e6)}, least {number(min(times) * 1e6)}"
