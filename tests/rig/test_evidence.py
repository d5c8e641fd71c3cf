"""What a run on a rig is said to have been, beside what a listener has from the packets' own stamps; its page."""

from __future__ import annotations

import multiprocessing
import re
import socket
import sys
import threading
from xml.etree import ElementTree

import numpy as np
import pytest

from mbdy.app.rig_live import view
from mbdy.app.rig_page import COUNTERS, rig_page
from mbdy.blocks.rig import Freeze, Rig
from mbdy.blocks.rig.baseline import BODY, baseline
from mbdy.blocks.rig.layout import CONSTANTS
from mbdy.blocks.rig.library import CONSTANTS as RIG_CONSTANTS
from mbdy.engine import loads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a rig needs Linux")
RATE, UNTIL = 1000, 2.0
TOLERATED = 0.2e-3
"""[s] Between the loop's look at the clock and a packet's stamp, of a loop that may lose its core in between."""


class Monitor(threading.Thread):
    """Listens to a rig and keeps time, stamp and flags of each packet; it commands nothing."""

    def __init__(self, rig: Rig) -> None:
        super().__init__()
        self.layout, self.address = rig.layout, rig.address
        self.rows: list[tuple[int, float, int, int]] = []

    def run(self) -> None:
        kind, greeting = self.layout.dtype("outputs"), self.layout.packet("inputs")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            link.settimeout(5)
            link.sendto(greeting.tobytes(), self.address)
            flags = 0
            while not flags & CONSTANTS["MBDY_FLAG_STOPPED"]:
                packet = np.frombuffer(link.recv(65536), kind)[0]
                flags = int(packet["flags"])
                self.rows.append((int(packet["sequence"]), float(packet["time"]), int(packet["sent"]), flags))


def spin(over) -> None:
    while not over.is_set():
        sum(range(1000))


def test_a_listener_counts_what_the_report_says_under_load():
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    busy = [context.Process(target=spin, args=(over,), daemon=True) for _ in range(2)]
    for one in busy:
        one.start()
    try:
        with Rig(loads(BODY), rate=RATE, udp="127.0.0.1:0", priority=None, lock=False) as rig:
            monitor = Monitor(rig)
            monitor.start()
            result = rig.run(UNTIL)
            monitor.join()
    finally:
        over.set()
        for one in busy:
            one.join()
    sequence, time, sent, flags = np.array(monitor.rows).T
    lost = result.counters["cycles"] - len(sequence)
    lateness = 1e-9 * sent - time - (1e-9 * sent - time).min()
    flagged = (flags.astype(int) & CONSTANTS["MBDY_FLAG_LATE"]) != 0
    assert result.counters["cycles"] == RATE * UNTIL
    assert lost <= 0.2 * len(sequence)
    assert (np.diff(sequence) >= 1).all()
    assert flagged.sum() <= result.counters["missed"] <= flagged.sum() + max(lost, 0)
    assert (lateness[flagged] >= 1 / RATE - TOLERATED).all()
    unmarked = np.count_nonzero(lateness[~flagged] > 1 / RATE + TOLERATED)
    assert unmarked <= 2, "late packets that nothing tells of"
    assert result.histograms["wake"].max >= 0


def test_the_page_has_all_of_a_run_and_needs_no_network():
    with Rig(loads(BODY), rate="1 kHz", faults=[Freeze("one.omega", at=0.02)]) as rig:
        result = rig.run(0.1)
        shown = view(rig)
    judged = [("step.max < 1 s: 2 us", True), ("late_cycles > 3: 0", False)]
    page = rig_page("a <rig>", result, {"rate": "1 kHz"}, judged)
    assert set(result.counters) == set(COUNTERS)
    for said in (
        "a &lt;rig&gt;",
        "1 of 2 requirements not kept",
        "one.omega",
        "begins",
        ">p99.99<",
        "late_cycles",
        "1 kHz",
    ):
        assert said in page
    assert not re.search(r"https?://", page)
    drawn = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    assert {curve.attrib["class"] for curve in drawn.iter("polyline")} == {"curve wake", "curve step"}
    for curve in drawn.iter("polyline"):
        points = [tuple(map(float, point.split(","))) for point in curve.attrib["points"].split()]
        assert points == sorted(points, key=lambda point: (point[0], -point[1]))
        assert all(0 <= y <= 320 for _, y in points)
    assert shown


def test_a_baseline_measures_the_machine_alone():
    result = baseline(rate="1 kHz", duration=0.1)
    assert result.counters["cycles"] == result.histograms["step"].count == 100
    assert result.histograms["trip"].count == result.counters["sent"] == 0


def test_rows_without_room_are_counted_under_a_name_of_their_own():
    cycles = RIG_CONSTANTS["RIG_ROWS"] + 12
    with Rig(loads(BODY), rate="10 kHz", keeper="tick", record="mbdy-test-small") as rig:
        rig.start(cycles / 1e4)
        rig.tick(cycles)
        result = rig.wait()
    counters = result.counters
    assert (counters["cycles"], counters["unrecorded"], counters["dropped"]) == (
        cycles,
        13,
        0,
    )  # the start has a row too
    assert counters["missed"] == counters["late_cycles"] + counters["overslept"]
    assert "unrecorded: 13 rows" in result.report()
