"""Packets over ZeroMQ, beside a socket that plays the rig."""

from __future__ import annotations

import hashlib
import hmac
import socket
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from mbdy.blocks.rig import Rig
from mbdy.blocks.rig.baseline import BODY
from mbdy.blocks.rig.layout import CONSTANTS, PacketLayout
from mbdy.blocks.rig.zeromq import ZeroMQBridge
from mbdy.engine import MbdyError, load, loads

zmq = pytest.importorskip("zmq")
LAYOUT = PacketLayout.of(load(Path(__file__).parents[2] / "examples/quickstart/satellite.toml"))
KEY = b"between us"
FREE = "tcp://127.0.0.1:*"


def test_packets_pass_unchanged_and_outputs_are_asked_for():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rig, zmq.Context() as context:
        rig.bind(("127.0.0.1", 0))
        rig.settimeout(10)
        over = threading.Event()
        with ZeroMQBridge(LAYOUT, rig.getsockname(), outputs=FREE, inputs=FREE, key=KEY) as bridge:
            passing = threading.Thread(target=bridge.run, args=(over.is_set,))
            with context.socket(zmq.SUB) as watching, context.socket(zmq.PUSH) as commanding:
                watching.setsockopt(zmq.SUBSCRIBE, b"")
                watching.setsockopt(zmq.RCVTIMEO, 50)
                watching.connect(bridge.endpoints[0])
                commanding.connect(bridge.endpoints[1])
                passing.start()
                greeting, at = rig.recvfrom(65536)
                outputs = LAYOUT.packet("outputs").tobytes()
                came = None
                while came is None:  # a subscription takes its time
                    rig.sendto(outputs, at)
                    try:
                        came = watching.recv()
                    except zmq.Again:
                        continue
                commanding.send(b"a packet of inputs")
                commanded = rig.recv(65536)
                while commanded != b"a packet of inputs":
                    commanded = rig.recv(65536)
            over.set()
            passing.join()
    assert came == outputs
    body, seal = greeting[:-32], greeting[-32:]
    assert seal == hmac.digest(KEY, body, hashlib.sha256)
    packet = np.frombuffer(body, LAYOUT.dtype("inputs"))[0]
    assert (packet["layout"], packet["answers"]) == (LAYOUT.key, 0)
    assert bridge.passed["inputs"] == 1


def test_a_place_that_cannot_be_had_is_told():
    with pytest.raises(MbdyError, match="bridge from"):
        ZeroMQBridge(LAYOUT, ("127.0.0.1", 9), outputs="tcp://no.such.place:1", inputs=FREE)


@pytest.mark.skipif(sys.platform != "linux", reason="a rig needs Linux")
def test_a_controller_behind_the_bridge_closes_the_loop():
    model = loads(BODY.replace("inputs = []", 'inputs = ["one.torque"]'))
    with Rig(model, rate="200 Hz", udp="127.0.0.1:0", grace=20, key=KEY) as rig, zmq.Context() as context:
        layout = rig.layout
        with ZeroMQBridge(layout, rig.address, outputs=FREE, inputs=FREE, key=KEY) as bridge:
            over = threading.Event()
            passing = threading.Thread(target=bridge.run, args=(over.is_set,))
            passing.start()
            rig.start(1.0)
            answer = layout.packet("inputs")
            answer["session"], answer["one.torque"] = 7, (0.0, 0.0, 2.0)
            with context.socket(zmq.SUB) as watching, context.socket(zmq.PUSH) as commanding:
                watching.setsockopt(zmq.SUBSCRIBE, b"")
                watching.setsockopt(zmq.RCVTIMEO, 5000)
                watching.connect(bridge.endpoints[0])
                commanding.connect(bridge.endpoints[1])
                flags = 0
                while not flags & CONSTANTS["MBDY_FLAG_STOPPED"]:
                    outputs = np.frombuffer(watching.recv()[:-32], layout.dtype("outputs"))[0]
                    flags = int(outputs["flags"])
                    answer["answers"] = outputs["sequence"]
                    answer["sequence"] += 1
                    body = answer.tobytes()
                    commanding.send(body + hmac.digest(KEY, body, hashlib.sha256))
            result = rig.wait()
            over.set()
            passing.join()
        assert result.counters["acted"] > 50
        assert result.counters["forged"] == 0
        assert rig.plant["one.omega"][2] > 0.5
