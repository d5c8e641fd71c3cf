"""Arrays in NumPy's files, believed only as far as they have been checked.

What a header says of sizes is held against what the file holds before room is made for it; nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from mbdy.engine.model.contents import MOST_BYTES, readable
from mbdy.engine.model.faults import RefusalError

NUMBERS, WHOLE, TEXT = "biuf", "iu", "SU"
"""Kinds of NumPy's types."""


def npy_array(data: bytes, kinds: str = NUMBERS) -> np.ndarray:
    """The array in the ``data`` of a ``.npy`` file, of a type of these ``kinds``; see `Archive.array`."""
    return _array(io.BytesIO(data), len(data), "the array", kinds)


class Archive:
    """The arrays by name in the ``data`` of a ``.npz`` file, read one by one."""

    def __init__(self, data: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._entries = {Path(entry.filename).stem: entry for entry in self._zip.infolist()}
        self.names = tuple(self._entries)

    def array(self, name: str, kinds: str = NUMBERS) -> np.ndarray:
        """The array ``name``, of a type of these ``kinds``.

        Raises RefusalError naming it where there is none, or it is of other types, packed in another way, too large,
        or of another size than its header says; and what `zipfile` and NumPy's header raise of damaged files, which
        `mbdy.engine.model.contents.reading` knows.
        """
        if name not in self._entries:
            raise RefusalError(f"has no array {name!r}, has {', '.join(self.names) or 'nothing'}")
        entry = self._entries[name]
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise RefusalError(f"{name}: is packed as NumPy does not pack", "write it with numpy.savez")
        with self._zip.open(entry) as file:
            return _array(file, entry.file_size, name, kinds)


def _array(file: IO[bytes], size: int, name: str, kinds: str) -> np.ndarray:
    version = npy.read_magic(file)
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if header is None:
        raise RefusalError(f"{name}: is of version {version} of NumPy's format, which plain arrays are not")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        shape, fortran, dtype = header(file)
    if dtype.kind not in kinds:
        what = "complex" if dtype.kind == "c" else f"of the type {str(dtype)[:60]}"
        raise RefusalError(f"{name}: is {what}", "give real numbers" if kinds == NUMBERS else "")
    left, claimed = size - file.tell(), math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or claimed != left:
        raise RefusalError(f"{name}: says that it is {shape} of {dtype}, and has {left} bytes")
    if claimed > MOST_BYTES:
        raise RefusalError(f"{name}: is larger than {readable(MOST_BYTES)}", "give a sparse matrix")
    return np.frombuffer(file.read(claimed), dtype=dtype).reshape(shape, order="F" if fortran else "C")
