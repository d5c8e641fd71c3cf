"""Files made hostile: what chance, other programs and ill will do to bytes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from random import Random

import numpy as np

ODD = (
    b"nan", b"-inf", b"1e308", b"1e-320", b"-1", b"0", b"1.5", b"2147483648", b"9223372036854775808", b"-2147483649",
    b"18446744073709551616", b"1" * 400, b"1,5", b"", b"0x10", b"1e400", b"\xef\xbb\xbf1", b"true", b"[]", b"{}",
    b'"1 furlong"', b"99999999",
)  # fmt: skip
WORDS = (b"\0", b"\xff\xfe", b"\r", b"\n\n", b"\x1b[31m", "\u202e".encode(), b'"', b"[" * 3000, b"a." * 2000, b"," * 50,
         b"A" * 70_000, b";", b"=", b"{", b"]")  # fmt: skip
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eEdD][-+]?\d+)?")
SEES = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all", "-O1", "-g")
"""What the compiler is told so that C looks at itself."""
HEAD = 80
"""Bytes of a saved state's header, of which the last eight are the sum of what follows."""
Change = Callable[[bytes, Random], bytes]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _without(data: bytes, random: Random) -> bytes:
    begin, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:begin] + data[min(end, begin + random.choice((1, 8, 100, 10_000))) :]


def _flipped(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 4, 20))):
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _whole_number(data: bytes, random: Random) -> bytes:
    """A binary number of four or eight bytes becomes an odd one."""
    size, at = random.choice((2, 4, 8)), random.randrange(len(data))
    value = random.choice((0, -1, 1 << (8 * size - 1), (1 << (8 * size - 1)) - 1, 1 << (4 * size), 7))
    return data[:at] + (value % (1 << 8 * size)).to_bytes(size, "little") + data[at + size :]


def _repeated(data: bytes, random: Random) -> bytes:
    begin, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[begin:end] * random.choice((1, 1, 5)) + data[end:]


def _swapped(data: bytes, random: Random) -> bytes:
    """Two lines change places."""
    lines = data.splitlines(keepends=True)
    i, k = random.randrange(len(lines)), random.randrange(len(lines))
    lines[i], lines[k] = lines[k], lines[i]
    return b"".join(lines)


def _odd_number(data: bytes, random: Random) -> bytes:
    numbers = list(NUMBER.finditer(data))
    if not numbers:
        return _flipped(data, random)
    one = random.choice(numbers)
    return data[: one.start()] + random.choice(ODD) + data[one.end() :]


def _word(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(WORDS) + data[at:]


def _encoded(data: bytes, random: Random) -> bytes:
    return data.decode("latin-1").encode(random.choice(("utf-16", "utf-16-le", "utf-32", "utf-7", "utf-8-sig")))


CHANGES: tuple[Change, ...] = (
    _cut, _without, _flipped, _flipped, _whole_number, _repeated, _swapped, _odd_number, _odd_number, _odd_number,
    _word, _encoded,
)  # fmt: skip


def mutated(data: bytes, random: Random) -> bytes:
    """``data`` with one or a few changes; of an archive mostly inside a member, packed again without fault."""
    if data.startswith(b"PK") and random.random() < 0.8:
        return _repacked(data, random)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        if data:
            data = random.choice(CHANGES)(data, random)
    return data


def _repacked(data: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(list(members))
    fate = random.random()
    if fate < 0.05:
        del members[name]
    elif fate < 0.1:
        members[name] = random.choice(list(members.values()))
    elif fate < 0.15:
        members[f"{name}.{random.choice(('npy', 'xml', '../x'))}"] = members[name]
    else:
        members[name] = mutated(members[name], random)
    packed = io.BytesIO()
    with zipfile.ZipFile(
        packed, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    ) as to:
        for name, content in members.items():
            to.writestr(name, content)
    return packed.getvalue()


def with_sum(state: bytes) -> bytes:
    """``state`` with the sum that its contents have, as someone would write it who means ill (state.c)."""
    total, mask = 0xCBF29CE484222325, (1 << 64) - 1
    for word in np.frombuffer(state[HEAD : HEAD + (len(state) - HEAD) // 8 * 8], dtype="<u8").tolist():
        total = ((total ^ word) * 0x100000001B3) & mask
        total ^= total >> 32
    return state[: HEAD - 8] + total.to_bytes(8, "little") + state[HEAD:]
