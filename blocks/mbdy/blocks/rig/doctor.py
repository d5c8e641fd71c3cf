"""What a machine is like for real time: each thing that makes cycles late, as Linux tells it, with its remedy."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Verdict = Literal["good", "fair", "poor", "unknown"]
STEADY_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource")
"""Clock sources that are read without a call of the kernel."""
LONG_IDLE = 100
"""[us] A core that takes longer to wake is a share of a cycle at 1 kHz."""
LOCKED_MEMORY = 256
"""[MiB] What a rig's process with Python in it has to be allowed to lock."""
CAP_IPC_LOCK, CAP_SYS_NICE = 14, 23
"""Bits of the privileges that need no limit; see capabilities(7)."""
CPUS = "sys/devices/system/cpu"
PERMIT = (
    "write '{user} - {limit} {value}' into /etc/security/limits.d/mbdy.conf and log in again (systemd: {unit}={value}; "
    "docker: --ulimit {limit}={value})"
)
PERMIT_PRIORITY = PERMIT.format(user="USER", limit="rtprio", value="95", unit="LimitRTPRIO")
PERMIT_LOCKING = PERMIT.format(user="USER", limit="memlock", value="-1", unit="LimitMEMLOCK")


@dataclass(frozen=True, slots=True)
class Symptom:
    """What was found of one thing: ``poor`` makes late cycles at 1 kHz likely, ``fair`` makes them rare."""

    name: str
    verdict: Verdict
    found: str
    remedy: str = ""


def examine(root: Path = Path("/")) -> tuple[Symptom, ...]:
    """All findings of the machine whose ``proc`` and ``sys`` lie in ``root``."""
    if not (root / "proc/version").exists():
        return (Symptom("system", "poor", sys.platform, "run the rig on Linux: only there the loop keeps time"),)
    return tuple(check(root) for check in CHECKS)


def _text(root: Path, *paths: str) -> str:
    """What the first of ``paths`` that can be read has; empty without one."""
    for path in paths:
        try:
            return (root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
    return ""


def _texts(root: Path, pattern: str) -> list[str]:
    return [_text(root, str(path.relative_to(root))) for path in sorted(root.glob(pattern))]


def _field(text: str, name: str) -> str:
    """The words behind ``name`` in a table of lines."""
    found = re.search(rf"^{re.escape(name)}\s*:?\s*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _privileged(root: Path, bit: int) -> bool:
    return bool(int(_field(_text(root, "proc/self/status"), "CapEff") or "0", 16) >> bit & 1)


def _cores(text: str) -> set[int]:
    """The numbers in a list such as ``0-2,5``."""
    ends = [part.split("-") for part in text.split(",") if part]
    return {core for first, *last in ends for core in range(int(first), int((last or [first])[0]) + 1)}


def kernel(root: Path) -> Symptom:
    """Whether the kernel lets go of a core when a loop is due."""
    version, line = _text(root, "proc/version"), _text(root, "proc/cmdline")
    sorts = re.findall(r"PREEMPT\w*", version)
    if _text(root, "sys/kernel/realtime") == "1" or "PREEMPT_RT" in sorts:
        return Symptom("kernel", "good", "PREEMPT_RT")
    remedy = "boot a kernel with PREEMPT_RT (Debian: linux-image-rt-amd64, Ubuntu: the real-time kernel of Ubuntu Pro)"
    if "preempt=full" in line.split():
        return Symptom("kernel", "fair", "preempt=full, without PREEMPT_RT", remedy)
    found = f"{sorts[0] if sorts else 'no preemption'}, without PREEMPT_RT"
    remedy += ", or this one with preempt=full on its command line"
    return Symptom("kernel", "fair" if sorts else "poor", found, remedy)


def governor(root: Path) -> Symptom:
    """Whether cores keep their frequency."""
    governors = sorted(set(_texts(root, f"{CPUS}/cpu[0-9]*/cpufreq/scaling_governor")))
    if not governors:
        return Symptom("governor", "unknown", "no frequency scaling is shown, as in most virtual machines")
    good = governors == ["performance"]
    remedy = "" if good else "sudo cpupower frequency-set --governor performance"
    return Symptom("governor", "good" if good else "poor", ", ".join(governors), remedy)


def idle(root: Path) -> Symptom:
    """How long a core takes to wake from its deepest sleep."""
    latencies = [
        int(_text(root, str((state / "latency").relative_to(root))) or 0)
        for state in root.glob(f"{CPUS}/cpu0/cpuidle/state*")
        if _text(root, str((state / "disable").relative_to(root))) != "1"
    ]
    if not latencies:
        return Symptom("idle states", "unknown", "none are shown")
    found = f"the deepest takes {max(latencies)} us to wake from"
    if max(latencies) <= LONG_IDLE:
        return Symptom("idle states", "good", found)
    return Symptom("idle states", "fair", found, f"sudo cpupower idle-set --disable-by-latency {LONG_IDLE}")


def clock(root: Path) -> Symptom:
    """Whether reading the clock is a matter of nanoseconds."""
    source = _text(root, f"{CPUS.rpartition('/')[0]}/clocksource/clocksource0/current_clocksource")
    if not source:
        return Symptom("clock source", "unknown", "not shown")
    if source in STEADY_CLOCKS:
        return Symptom("clock source", "good", source)
    remedy = "boot with clocksource=tsc tsc=reliable, if /proc/cpuinfo has constant_tsc and nonstop_tsc"
    return Symptom("clock source", "poor", f"{source}, which takes a call of the kernel", remedy)


def priority(root: Path) -> Symptom:
    """Whether the loop may go before all other processes."""
    limit = _field(_text(root, "proc/self/limits"), "Max realtime priority").split() or ["0"]
    if _privileged(root, CAP_SYS_NICE) or limit[0] != "0":
        return Symptom("real-time priority", "good", "permitted")
    return Symptom("real-time priority", "poor", "not permitted (RLIMIT_RTPRIO is 0)", PERMIT_PRIORITY)


def locking(root: Path) -> Symptom:
    """Whether memory may be kept from being paged out."""
    limit = (_field(_text(root, "proc/self/limits"), "Max locked memory").split() or ["0"])[0]
    if _privileged(root, CAP_IPC_LOCK) or limit == "unlimited" or int(limit) >= LOCKED_MEMORY * 2**20:
        return Symptom("locked memory", "good", "permitted")
    found = f"{int(limit) / 2**20:.3g} MiB permitted (RLIMIT_MEMLOCK), {LOCKED_MEMORY} are needed"
    return Symptom("locked memory", "poor", found, PERMIT_LOCKING)


def cores(root: Path) -> Symptom:
    """Whether a core is kept free for the loop."""
    online, isolated = _cores(_text(root, f"{CPUS}/online")), _cores(_text(root, f"{CPUS}/isolated"))
    allowed = _cores(_field(_text(root, "proc/self/status"), "Cpus_allowed_list"))
    last = max(online, default=0)
    if len(online) < 2:
        return Symptom("isolated cores", "poor", "one core for the loop and all else", "use a machine with two or more")
    if not isolated:
        remedy = (
            f"boot with isolcpus={last} nohz_full={last} rcu_nocbs={last}, then run: taskset -c {last} mbdy rig ..."
        )
        return Symptom("isolated cores", "fair", f"none of {len(online)}", remedy)
    names = ",".join(map(str, sorted(isolated)))
    if allowed <= isolated:
        return Symptom("isolated cores", "good", f"{names}, and this process runs there")
    return Symptom(
        "isolated cores", "fair", f"{names}, but this process runs elsewhere", f"taskset -c {names} mbdy rig ..."
    )


def siblings(root: Path) -> Symptom:
    """Whether two threads share what one core has."""
    active = _text(root, f"{CPUS}/smt/active")
    if active != "1":
        return Symptom("hyper-threading", "good" if active else "unknown", "off" if active else "not shown")
    remedy = "echo off | sudo tee /sys/devices/system/cpu/smt/control"
    return Symptom("hyper-threading", "fair", "on: a busy sibling slows the loop's core", remedy)


def quota(root: Path) -> Symptom:
    """Whether a control group takes the cores away when a share is used up."""
    inside = re.search(r"^0::/(.*)$", _text(root, "proc/self/cgroup"), re.MULTILINE)
    group = inside[1] if inside else ""
    limit = _text(root, f"sys/fs/cgroup/{group}/cpu.max", "sys/fs/cgroup/cpu.max",
                  "sys/fs/cgroup/cpu/cpu.cfs_quota_us") or "max"  # fmt: skip
    if limit.split()[0] in ("max", "-1"):
        return Symptom("processor quota", "good", "none")
    found = f"cpu.max is {limit!r}: the loop stops where it is used up"
    remedy = "run without it (docker: no --cpus; systemd: no CPUQuota=) and give cores instead (--cpuset-cpus=3)"
    return Symptom("processor quota", "poor", found, remedy)


def container(root: Path) -> Symptom:
    """Whether the process sees a machine of its own."""
    marked = any((root / name).exists() for name in (".dockerenv", "run/.containerenv"))
    if not marked and not re.search(r"docker|kubepods|lxc|libpod", _text(root, "proc/1/cgroup")):
        return Symptom("container", "good", "none")
    remedy = "docker run --cap-add=sys_nice --ulimit rtprio=95 --ulimit memlock=-1 --cpuset-cpus=3 ..."
    return Symptom("container", "fair", "this is one: limits and kernel are its host's", remedy)


def host(root: Path) -> Symptom:
    """Whether another system can take the cores away."""
    if "hypervisor" not in _field(_text(root, "proc/cpuinfo"), "flags").split():
        return Symptom("virtual machine", "good", "no")
    stolen = (_field(_text(root, "proc/stat"), "cpu").split() or ["0"] * 8)[7:8] or ["0"]
    found = f"yes; its host took {int(stolen[0]) / 100:g} core-seconds since it started"
    remedy = "run on the machine itself, or have the host pin this one's cores to cores of their own"
    return Symptom("virtual machine", "fair", found, remedy)


def load(root: Path) -> Symptom:
    """Whether others are busy."""
    busy = float((_text(root, "proc/loadavg").split() or ["0"])[0])
    count = len(_cores(_text(root, f"{CPUS}/online"))) or 1
    found = f"{busy:g} busy on {count} cores"
    if busy <= count / 2:
        return Symptom("load", "good", found)
    return Symptom("load", "fair", found, "end what need not run, or keep a core free (see isolated cores)")


CHECKS: tuple[Callable[[Path], Symptom], ...] = (
    kernel, priority, locking, governor, idle, clock, cores, siblings, quota, container, host, load,
)  # fmt: skip
