"""What a machine is found to be like, from trees of files as Linux shows them."""

from __future__ import annotations

import json

import pytest

from mbdy.app.rig import rig
from mbdy.blocks.rig.doctor import CPUS, Symptom, examine

LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max locked memory         {} {} bytes
Max realtime priority     {} {}
"""
READY = {
    "proc/version": "Linux version 6.1.0-rt (gcc) #1 SMP PREEMPT_RT",
    "proc/cmdline": "quiet",
    "proc/self/limits": LIMITS.format("unlimited", "unlimited", 95, 95),
    "proc/self/status": "Name:\tpython\nCapEff:\t0000000000000000\nCpus_allowed_list:\t3\n",
    "proc/self/cgroup": "0::/user.slice\n",
    "proc/1/cgroup": "0::/init.scope\n",
    "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc constant_tsc\n",
    "proc/stat": "cpu  1 0 1 1 0 0 0 250 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n",
    "proc/loadavg": "0.10 0.20 0.30 1/100 1234",
    f"{CPUS}/online": "0-3",
    f"{CPUS}/isolated": "3",
    f"{CPUS}/smt/active": "0",
    f"{CPUS}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPUS}/cpu10/cpufreq/scaling_governor": "performance",
    f"{CPUS}/cpu0/cpuidle/state0/latency": "1",
    f"{CPUS}/cpu0/cpuidle/state1/latency": "890",
    f"{CPUS}/cpu0/cpuidle/state1/disable": "1",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "sys/fs/cgroup/user.slice/cpu.max": "max 100000",
}
"""A machine on which all is as it should be."""


def found(folder, changes=None) -> dict[str, Symptom]:
    for name, text in {**READY, **(changes or {})}.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return {finding.name: finding for finding in examine(folder)}


def test_a_machine_made_ready_has_nothing_to_mend(tmp_path):
    assert {(f.verdict, f.remedy) for f in found(tmp_path).values()} == {("good", "")}


@pytest.mark.parametrize(
    ("name", "verdict", "said", "changes"),
    [
        ("kernel", "fair", "preempt=full", {"proc/version": "Linux 6.8 PREEMPT", "proc/cmdline": "ro preempt=full"}),
        ("kernel", "fair", "PREEMPT_DYNAMIC", {"proc/version": "Linux 6.8 #1 SMP PREEMPT_DYNAMIC"}),
        ("kernel", "poor", "no preemption", {"proc/version": "Linux 5.4 #1 SMP"}),
        ("real-time priority", "poor", "RTPRIO", {"proc/self/limits": LIMITS.format("unlimited", "unlimited", 0, 0)}),
        ("locked memory", "poor", "8 MiB", {"proc/self/limits": LIMITS.format(8388608, 8388608, 95, 95)}),
        ("governor", "poor", "powersave", {f"{CPUS}/cpu10/cpufreq/scaling_governor": "powersave"}),
        ("governor", "unknown", "", {f"{CPUS}/cpu{n}/cpufreq/scaling_governor": None for n in (0, 10)}),
        ("idle states", "fair", "890 us", {f"{CPUS}/cpu0/cpuidle/state1/disable": "0"}),
        ("clock source", "poor", "hpet", {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"}),
        ("isolated cores", "fair", "none of 4", {f"{CPUS}/isolated": "\n"}),
        ("isolated cores", "fair", "elsewhere", {"proc/self/status": "CapEff:\t0\nCpus_allowed_list:\t0-3\n"}),
        ("isolated cores", "poor", "one core", {f"{CPUS}/online": "0"}),
        ("hyper-threading", "fair", "on", {f"{CPUS}/smt/active": "1"}),
        ("processor quota", "poor", "50000", {"sys/fs/cgroup/user.slice/cpu.max": "50000 100000"}),
        ("container", "fair", "this is one", {".dockerenv": ""}),
        ("container", "fair", "this is one", {"proc/1/cgroup": "0::/kubepods/pod1"}),
        ("virtual machine", "fair", "2.5 core-seconds", {"proc/cpuinfo": "flags\t: fpu hypervisor\n"}),
        ("load", "fair", "3.5 busy on 4", {"proc/loadavg": "3.50 1 1 1/1 1"}),
    ],
)  # fmt: skip
def test_each_thing_has_a_verdict_and_a_remedy(name, verdict, said, changes, tmp_path):
    others = found(tmp_path, changes)
    finding = others.pop(name)
    assert finding.verdict == verdict
    assert said in finding.found
    assert bool(finding.remedy) == (verdict != "unknown")
    assert {f.verdict for f in others.values()} == {"good"}


def test_privileges_need_no_limits(tmp_path):
    none = {"proc/self/limits": LIMITS.format(0, 0, 0, 0), "proc/self/status": f"CapEff:\t{1 << 23 | 1 << 14:016x}\n"}
    machine = found(tmp_path, none)
    assert machine["real-time priority"].verdict == machine["locked memory"].verdict == "good"


def test_another_system_is_told(tmp_path):
    (finding,) = examine(tmp_path)
    assert (finding.verdict, "Linux" in finding.remedy) == ("poor", True)


@pytest.mark.parametrize(("changes", "status"), [({}, 0), ({f"{CPUS}/online": "0"}, 1)])
def test_the_command_says_it_to_machines_and_by_its_status(changes, status, tmp_path, monkeypatch, capsys):
    findings = tuple(found(tmp_path, changes).values())
    monkeypatch.setattr("mbdy.blocks.rig.doctor.examine", lambda: findings)
    with pytest.raises(SystemExit) as end:
        rig(["doctor", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert (end.value.code, answer["ok"]) == (status, not status)
    assert [row["name"] for row in answer["findings"]] == [f.name for f in findings]
    with pytest.raises(SystemExit) as end:
        rig(["doctor"])
    said = capsys.readouterr()
    assert end.value.code == status
    assert "clock source" in said.out
    assert ("late cycles are likely here: isolated cores" in said.err) == bool(status)
