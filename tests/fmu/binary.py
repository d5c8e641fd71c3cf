"""What a shared library says of itself: for which machine it is, what it shows and what it needs (64 bits only)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
PE_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}
MACH_MACHINES = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
LINKERS_OWN = {"_mh_dylib_header", "__dso_handle"}
"""Shown in each library that ziglang links for macOS, though no one can ask for them."""


@dataclass(frozen=True)
class Binary:
    """``system`` and ``machine`` as in FMI 3's names; C names that it shows; names of libraries that it loads."""

    system: str
    machine: str
    shows: frozenset[str]
    loads: frozenset[str]


def binary(data: bytes) -> Binary:
    """A shared library's file taken apart; ValueError where it is none of ELF, PE and Mach-O."""
    if data[:5] == b"\x7fELF\x02":
        return _elf(data)
    if data[:2] == b"MZ":
        return _pe(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _mach(data)
    raise ValueError(f"no shared library: it begins with {data[:8]!r}")


def universal_parts(data: bytes) -> list[bytes]:
    """The thin files of a universal Mach-O file, in order."""
    magic, count = struct.unpack_from(">II", data)
    assert magic == 0xCAFEBABE
    parts = []
    for i in range(count):
        processor, kind, at, size, alignment = struct.unpack_from(">IIIII", data, 8 + 20 * i)
        assert at % (1 << alignment) == 0
        assert struct.unpack_from("<II", data, at + 4) == (processor, kind)
        parts.append(data[at : at + size])
    return parts


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _elf(data: bytes) -> Binary:
    (machine,) = struct.unpack_from("<H", data, 18)
    (at,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    # of each section: type, place, size, place of the section with its names
    sections = [struct.unpack_from("<4xI16xQQI", data, at + i * size) for i in range(count)]
    shows, loads = set(), set()
    for kind, start, length, link in sections:
        names = sections[link][1]
        if kind == 11:  # .dynsym
            for symbol in range(start, start + length, 24):
                name, info, _, section = struct.unpack_from("<IBBH", data, symbol)
                if section and info >> 4:
                    shows.add(_text(data, names + name))
        elif kind == 6:  # .dynamic
            for entry in range(start, start + length, 16):
                tag, value = struct.unpack_from("<QQ", data, entry)
                if tag == 1:
                    loads.add(_text(data, names + value))
    return Binary("linux", ELF_MACHINES[machine], frozenset(shows), frozenset(loads))


def _pe(data: bytes) -> Binary:
    (head,) = struct.unpack_from("<I", data, 60)
    machine, count = struct.unpack_from("<HH", data, head + 4)
    (optional,) = struct.unpack_from("<H", data, head + 20)
    tables = head + 24 + 112
    sections = [struct.unpack_from("<8xIIII", data, head + 24 + optional + 40 * i) for i in range(count)]

    def place(address: int) -> int:
        for length, start, _, at in sections:
            if start <= address < start + length:
                return address - start + at
        raise ValueError(f"no section holds {address:#x}")

    exported, _, imported, _ = struct.unpack_from("<IIII", data, tables)
    (named,) = struct.unpack_from("<I", data, place(exported) + 24)
    (names,) = struct.unpack_from("<I", data, place(exported) + 32)
    shows = {_text(data, place(name)) for (name,) in struct.iter_unpack("<I", data[place(names) :][: 4 * named])}
    loads, at = set(), place(imported)
    while (name := struct.unpack_from("<I", data, at + 12)[0]) != 0:
        loads.add(_text(data, place(name)).lower())
        at += 20
    return Binary("windows", PE_MACHINES[machine], frozenset(shows), frozenset(loads))


def _mach(data: bytes) -> Binary:
    (machine,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<I", data, 16)
    shows, loads, at = set(), set(), 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x0C:  # LC_LOAD_DYLIB
            loads.add(_text(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        elif command in (0x22, 0x80000022):  # LC_DYLD_INFO
            start, length = struct.unpack_from("<II", data, at + 40)
            shows = {name.removeprefix("_") for name in _trie(data[start : start + length], 0, "")}
        at += size
    return Binary("darwin", MACH_MACHINES[machine], frozenset(shows - LINKERS_OWN), frozenset(loads))


def _trie(trie: bytes, at: int, before: str) -> Iterator[str]:
    """Names in a Mach-O export trie below the node at a place."""
    length, at = _number(trie, at)
    if length:
        yield before
    at += length
    branches, at = trie[at], at + 1
    for _ in range(branches):
        label = _text(trie, at)
        child, at = _number(trie, at + len(label) + 1)
        yield from _trie(trie, child, before + label)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and the place after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at
