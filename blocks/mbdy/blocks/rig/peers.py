"""Addresses of a rig: where it listens, and who may send to it."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from mbdy.engine.model.faults import OptionError, shown

LOOPBACK = IPv4Network("127.0.0.0/8")
ANYBODY = IPv4Network("0.0.0.0/0")
SO_TIMESTAMPNS = 35
"""Linux: the kernel says when it took a datagram in."""
PATIENCE = 0.05
"""[s] A wait for a datagram ends by then, to see whether the rig is to stop."""
BUFFER = 1 << 20


class Peer(NamedTuple):
    """Who may send: a network, and a port, 0 for any."""

    network: IPv4Network
    port: int


def address(what: str, text: str) -> tuple[IPv4Address, int]:
    """``"127.0.0.1:5001"`` taken apart. Raises `OptionError`."""
    host, _, port = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    try:
        found = IPv4Address("127.0.0.1" if host in ("", "localhost") else host), _port(port)
    except ValueError:
        found = None
    if found is None:
        raise OptionError(f"{what}: an IPv4 address and a port such as '127.0.0.1:5001' is needed, got {shown(text)}")
    return found


def _port(text: str) -> int:
    """A port's number. Raises ValueError, or `OptionError`, which is one."""
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise OptionError(f"ports are from 0 to 65535, got {text}")
    return number


def peers(allow: Iterable[str], listens: IPv4Address, *, keyed: bool) -> list[Peer]:
    """Who may send to a rig that ``listens``: ``allow`` has addresses, networks, or addresses with a port.

    Where it is empty: this machine; from outside too only with a key. Raises `OptionError`.
    """
    allow = [allow] if isinstance(allow, str) else list(allow)
    if not allow:
        if listens in LOOPBACK:
            return [Peer(LOOPBACK, 0)]
        if keyed:
            return [Peer(ANYBODY, 0)]
        raise OptionError(
            f"udp: {listens} is open to the network, from where anyone could command the plant: give allow, the "
            "addresses that may, or a key"
        )
    found = []
    for one in allow:
        host, _, port = one.partition(":") if isinstance(one, str) else ("", "", "")
        try:
            found.append(Peer(IPv4Network(host), _port(port or "0")))
        except ValueError:
            example = "'192.168.0.7', '192.168.0.0/24' or '192.168.0.7:5001'"
            raise OptionError(
                f"allow: IPv4 addresses or networks such as {example} are needed, got {shown(one)}"
            ) from None
    return found


def bound(listens: IPv4Address, port: int) -> socket.socket:
    """A socket that listens there. Raises `OptionError` where it cannot."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.bind((str(listens), port))
    except OSError as fault:
        made.close()
        raise OptionError(f"udp: cannot listen at {listens}:{port}: {fault.strerror}; take another port") from None
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.settimeout(None)
    whole, part = divmod(PATIENCE, 1)
    made.setsockopt(
        socket.SOL_SOCKET, socket.SO_RCVTIMEO, int(whole).to_bytes(8, "little") + int(part * 1e6).to_bytes(8, "little")
    )
    return made
