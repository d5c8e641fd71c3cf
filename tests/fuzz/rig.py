"""A rig attacked by COUNT packets while a controller steps it, its C under sanitizers: COUNT, SEED, MODEL.

Run as a program with the sanitizer's library before all others.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.mutations import SEES
from mbdy.blocks.rig import Force, Rig, library
from mbdy.engine import load
from rig.client import Client, SharedClient, UdpClient

KEY = b"of the fuzz test"
REFUSED = (
    "late",
    "replayed",
    "reordered",
    "foreign",
    "truncated",
    "malformed",
    "forged",
    "other_layout",
    "other_session",
)
AT_ONCE = 20
NAME = "mbdy-fuzz"


class Attacker:
    """Makes packets that must not act out of good ones that it has listened to."""

    def __init__(self, client: Client, random: Random) -> None:
        self.client, self.random = client, random
        self.heard: list[bytes] = []

    def packet(self, good: bytes) -> bytes:
        random, client = self.random, self.client
        self.heard = [*self.heard[-200:], good]
        u = np.array([random.choice((0.0, 1.0, 1e300, np.inf, np.nan)) for _ in range(client.layout.count("inputs"))])
        kind = random.randrange(9)
        if kind == 0:
            return good[: random.randrange(len(good))]
        if kind == 1:
            return good + random.randbytes(random.choice((1, 8, 1000)))
        if kind == 2:
            return random.randbytes(random.choice((0, 1, 64, len(good), 4000)))
        if kind == 3:
            data = bytearray(good)
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
            return bytes(data)
        if kind == 4:
            return random.choice(self.heard[:-1] or [good[:5]])  # replayed
        if kind == 5:
            odd = {"version": 2, "kind": 7, "layout": 1, "count": random.randrange(1 << 32), "magic": 0}
            field = random.choice(list(odd))
            return self.aside(u, **{field: odd[field]})
        if kind == 6:
            return self.aside(u, session=random.randrange(1 << 64), answers=random.randrange(1, 1 << 64))
        if kind == 7:
            return self.aside(u, answers=client.last.sequence + random.choice((-1, 1, -1000)))  # type: ignore[union-attr]
        return self.aside([random.choice((-1.0, 1.5, 1e300, np.nan)), 1.0], kind=3)

    def aside(self, values, **fields: int) -> bytes:
        """A packet that is sealed and numbered as the controller's next, which keeps its number."""
        data = self.client.packet(values, **fields)
        self.client.sequence -= 1
        return data


def attacked(count: int, seed: int, path: str | Path) -> dict[str, Any]:
    """What became of the attacks, by UDP and by shared memory."""
    random, model = Random(seed), load(path)
    total = {"attacks": 0, "steps": 0, "acted": 0, "cycles": 0}
    refused, libraries = dict.fromkeys(REFUSED, 0), set[str]()
    for where in ({"udp": "127.0.0.1:0", "allow": "127.0.0.1"}, {"shared": NAME}):
        fault = Force("bus.torque", 1.0)
        with Rig(model, rate=1000, keeper="lockstep", key=KEY, faults=[fault], watchdog="1 h", **where) as rig:  # type: ignore[arg-type]
            libraries.add(rig._functions.loaded._name)
            client = (
                UdpClient(rig.layout, rig.address, key=KEY) if rig.address else SharedClient(rig.layout, NAME, key=KEY)
            )
            stranger = UdpClient(rig.layout, rig.address, at="127.0.0.3") if rig.address else None
            attacker, u = Attacker(client, random), rig.plant.inputs.values.copy()
            rig.start()
            client.greet()
            good = client.packet(u)
            while total["attacks"] < count * (1 if rig.address else 2) // 2:
                for _ in range(AT_ONCE if rig.address else 1):
                    before = rig.counters
                    data = attacker.packet(good)
                    foreign = stranger is not None and random.randrange(20) == 0
                    (stranger if foreign and stranger else client).send(data)
                    total["attacks"] += 1
                    if not rig.address:  # a mailbox has room for one
                        end = time.monotonic() + 10
                        while sum(rig.counters[name] - before[name] for name in REFUSED) == 0:
                            assert time.monotonic() < end, data
                u[0] = random.random()
                good = client.packet(u)
                assert client.exchanged(good)
                total["steps"] += 1
            counters = rig.counters
            client.close()
            if stranger:
                stranger.close()
        refused = {name: refused[name] + counters[name] for name in REFUSED}
        for name in ("acted", "cycles"):
            total[name] += counters[name]
        assert counters["commanded"] == 0
        assert rig.result.events == ()
    return {**total, "refused": refused, "libraries": sorted(libraries)}


if __name__ == "__main__":
    library.FLAGS, library.LINK = (*library.FLAGS, *SEES), (*library.LINK, *SEES)
    found = attacked(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    assert all(b"__asan" in Path(one).read_bytes() for one in found["libraries"])
    print(json.dumps(found))
