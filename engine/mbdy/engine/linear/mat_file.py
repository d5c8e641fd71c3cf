"""Matrices, texts and cells of texts in MATLAB's files of level 5, each size held against the bytes that are there.

Source: MathWorks, MAT-File Format, chapter 1 (Level 5).
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from mbdy.engine.model.contents import MOST_BYTES
from mbdy.engine.model.faults import RefusalError

HEADER = 128
MATRIX, COMPRESSED, UTF8, UTF16 = 14, 15, 16, 17
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""NumPy's names of the types of data elements."""
CELL, CHAR, FIRST_NUMERIC, LAST_NUMERIC = 1, 4, 6, 15
"""Classes of arrays."""
COMPLEX = 0x08


def mat_variables(data: bytes) -> dict[str, Any]:
    """The variables in the ``data`` of a ``.mat`` file: arrays of numbers, texts, and lists of texts.

    Raises RefusalError for other contents, and ValueError or struct.error for a damaged file.
    """
    order = {b"IM": "<", b"MI": ">"}.get(data[126:HEADER])
    if order is None:
        raise ValueError("it is no MATLAB file of level 5, as -v7 and scipy.io.savemat write")
    variables: dict[str, Any] = {}
    for kind, content in _elements(data[HEADER:], order):
        if kind == COMPRESSED:
            unpacker = zlib.decompressobj()
            unpacked = unpacker.decompress(content, MOST_BYTES)
            if not unpacker.eof:
                raise ValueError("a compressed variable is cut or too large")
            variables |= dict(_variable(part, order) for kind, part in _elements(unpacked, order) if kind == MATRIX)
        elif kind == MATRIX:
            variables |= dict([_variable(content, order)])
    return variables


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The types and contents of data elements one after another."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        begin, step = at + 8, 8
        if kind >> 16:  # a small one, whose data stand in its tag
            kind, size, begin = kind & 0xFFFF, kind >> 16, at + 4
        else:
            step += size + (-size % 8 if kind != COMPRESSED else 0)
        if begin + size > len(data) or (begin == at + 4 and size > 4):
            raise ValueError(f"an element says that it has {size} bytes, and there are {len(data) - begin}")
        yield kind, data[begin : begin + size]
        at += step


def _variable(content: bytes, order: str) -> tuple[str, Any]:
    """The name and the value in the ``content`` of a matrix element."""
    parts = list(_elements(content, order))
    if len(parts) < 3 or len(parts[0][1]) < 4:
        raise ValueError("an array lacks its flags, sizes or name")
    flags = struct.unpack_from(order + "I", parts[0][1])[0]
    shape = tuple(_numbers(*parts[1], order).astype(int).tolist())
    name, sort, count = parts[2][1].decode("latin-1"), flags & 0xFF, math.prod(shape)
    if (flags >> 8) & COMPLEX or min(shape, default=-1) < 0:
        raise RefusalError(f"{name}: must be real, of two dimensions")
    if sort == CELL:
        cells = [_variable(part, order)[1] for _, part in parts[3:]]
        if len(cells) != count or not all(isinstance(cell, str) for cell in cells):
            raise RefusalError(f"{name}: must be {count} texts")
        return name, cells
    if len(parts) != 4:
        raise ValueError(f"{name}: has {len(parts) - 3} parts, not one")
    if sort == CHAR:
        kind, text = parts[3]
        if kind in (UTF8, UTF16):
            return name, text.decode("utf-8" if kind == UTF8 else {"<": "utf-16-le", ">": "utf-16-be"}[order])
        return name, "".join(map(chr, _numbers(kind, text, order).astype(int).tolist()))
    if not FIRST_NUMERIC <= sort <= LAST_NUMERIC:
        raise RefusalError(f"{name}: must be numbers or text")
    values = _numbers(*parts[3], order)
    if len(values) != count:
        raise RefusalError(f"{name}: says that it is {shape}, and has {len(values)} numbers")
    return name, values.reshape(shape, order="F")


def _numbers(kind: int, content: bytes, order: str) -> np.ndarray:
    if kind not in TYPES:
        raise ValueError(f"numbers of an unknown type, {kind}")
    return np.frombuffer(content, dtype=order + TYPES[kind])
