"""Matrices from files of NumPy, SciPy and Matrix Market, believed only as far as they have been checked.

Every index is held against the shape before it is used, so that a damaged or made-up file is a fault and never touches
memory that is not its own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import sparse

from mbdy.engine.model.contents import contents, reading
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.numpy_files import NUMBERS, TEXT, WHOLE, Archive, npy_array

MOST_ROWS = 10_000_000
"""Of a sparse matrix, which takes room for each row though it may have no entries."""
MEMBERS = {
    "csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"), "dia": ("data", "offsets"),
}  # fmt: skip
"""Arrays of each of SciPy's sparse formats."""

Matrix = np.ndarray | sparse.csr_array


def read_matrix(path: str | Path) -> Matrix:
    """A matrix from a ``.npy`` or ``.npz`` (array or scipy sparse) or Matrix Market ``.mtx`` file.

    Raises OSError, and `mbdy.engine.model.contents.FileError`, a ValueError, naming the file and the array in it: what
    is cut, damaged or something else, complex or no numbers, sizes and indices that contradict each other.
    """
    path = Path(path)
    readers = {".npy": _npy, ".npz": _npz, ".mtx": _mtx}
    if path.suffix.lower() not in readers:
        raise RefusalError(f"{path}: must be a .npy, .npz or .mtx file")
    data = contents(path)
    with reading(path, "matrix"):
        return readers[path.suffix.lower()](data)


def _npy(data: bytes) -> Matrix:
    return npy_array(data).astype(float)


def _npz(data: bytes) -> Matrix:
    archive = Archive(data)
    if len(archive.names) == 1:
        return archive.array(archive.names[0]).astype(float)
    if "format" not in archive.names:
        names = ", ".join(archive.names) or "nothing"
        raise RefusalError(f"must hold one array or one scipy sparse matrix, has {names}")
    said = archive.array("format", TEXT).ravel().tolist()
    kind = said[0] if said else ""
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if kind not in MEMBERS:
        raise RefusalError(f"format: must be one of {', '.join(MEMBERS)}, got {kind[:60]!r}")
    shape = archive.array("shape", WHOLE).ravel().tolist()
    if len(shape) != 2 or not all(0 <= size <= MOST_ROWS for size in shape):
        raise RefusalError(f"shape: must be two numbers up to {MOST_ROWS:,}, got {shape[:4]}")
    parts = {name: archive.array(name, NUMBERS if name == "data" else WHOLE) for name in MEMBERS[kind]}
    return _sparse(kind, (shape[0], shape[1]), parts)


def _sparse(kind: str, shape: tuple[int, int], parts: Mapping[str, np.ndarray]) -> sparse.csr_array:
    """A matrix of the arrays of one of SciPy's formats, by the row and column of each of its entries."""
    data = parts["data"].astype(float)
    flat = {"csr": 1, "csc": 1, "coo": 1, "dia": 2, "bsr": 3}[kind]
    for name, part in parts.items():
        if part.ndim != (flat if name == "data" else 1):
            raise RefusalError(f"{name}: has {part.ndim} dimensions")
    if kind == "coo":
        rows, columns = parts["row"], parts["col"]
    elif kind == "dia":
        offsets = parts["offsets"].astype(np.int64)
        if len(offsets) != len(data) or len(np.unique(offsets)) != len(offsets):
            raise RefusalError(f"offsets: must be {len(data)} different ones, one for each diagonal")
        columns = np.tile(np.arange(data.shape[1]), len(data))
        rows = columns - np.repeat(offsets, data.shape[1])
        inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
        rows, columns, data = rows[inside], columns[inside], data.ravel()[inside]
    else:
        down, across = data.shape[1:] if kind == "bsr" else (1, 1)
        if not (down and across) or shape[0] % down or shape[1] % across:
            raise RefusalError(f"data: blocks of {down} x {across} do not fill a matrix of {shape[0]} x {shape[1]}")
        lines = shape[1] if kind == "csc" else shape[0] // down
        rows, columns = _unpacked(parts["indptr"], lines, parts["indices"], len(data)), parts["indices"]
        if kind == "csc":
            rows, columns = columns, rows
        if kind == "bsr":
            _within("indices", columns, shape[1] // across)
            i, k = np.indices((down, across))
            rows = rows[:, None, None] * down + i
            columns = columns.astype(np.int64)[:, None, None] * across + k
            rows, columns, data = rows.ravel(), columns.ravel(), data.ravel()
    if not len(rows) == len(columns) == len(data):
        raise RefusalError(f"data: has {len(data)} entries, and there are {len(rows)} rows and {len(columns)} columns")
    for name, index, size in (("rows", rows, shape[0]), ("columns", columns, shape[1])):
        _within(name, index, size)
    return sparse.csr_array((data, (rows.astype(np.int64), columns.astype(np.int64))), shape=shape)


def _unpacked(pointers: np.ndarray, lines: int, indices: np.ndarray, entries: int) -> np.ndarray:
    """The line of each entry, from where each line begins."""
    if len(indices) != entries:
        raise RefusalError(f"indices: has {len(indices)} entries, and data has {entries}")
    if (
        len(pointers) != lines + 1
        or pointers[0] != 0
        or pointers[-1] != entries
        or np.any(pointers[1:] < pointers[:-1])
    ):
        raise RefusalError(f"indptr: must be {lines + 1} numbers that rise from 0 to {entries}")
    return np.repeat(np.arange(lines), np.diff(pointers.astype(np.int64)))


def _within(name: str, index: np.ndarray, size: int) -> None:
    if index.size and not (index.min() >= 0 and index.max() < size):
        wrong = index.min() if index.min() < 0 else index.max()
        raise RefusalError(f"{name}: index {wrong} is out of range, there are {size}")


def _mtx(data: bytes) -> Matrix:
    """Source: R. F. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats, NISTIR 5935 (1996)."""
    lines = re.finditer(rb"[^\r\n]*[\r\n]+", data)
    words = next(lines, [b""])[0].decode("ascii", "replace").lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        raise RefusalError("must begin with '%%MatrixMarket matrix', its form, field and symmetry")
    form, field, symmetry = words[2:]
    for word, known in ((form, ("coordinate", "array")), (field, ("real", "double", "integer")),
                        (symmetry, ("general", "symmetric"))):  # fmt: skip
        if word not in known:
            raise RefusalError(f"is {word[:60]!r}, must be {' or '.join(known)}")
    sizes = next((line for line in lines if line[0].strip() and not line[0].lstrip().startswith(b"%")), None)
    shape = [int(word) for word in sizes[0].split()] if sizes else []
    if len(shape) != (3 if form == "coordinate" else 2) or not all(0 <= size <= MOST_ROWS for size in shape[:2]):
        raise RefusalError(f"must say its rows and columns, up to {MOST_ROWS:,}, got {shape}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's word for text that is no number
        numbers = np.fromstring(data[sizes.end() if sizes else 0 :].decode("ascii"), sep=" ")
    rows, columns = shape[:2]
    mirrored = symmetry == "symmetric"
    if mirrored and rows != columns:
        raise RefusalError(f"is symmetric and of {rows} x {columns}")
    if form == "array":
        needed = rows * (rows + 1) // 2 if mirrored else rows * columns
        if len(numbers) != needed:
            raise RefusalError(f"says that it is {rows} x {columns}, and has {len(numbers)} numbers, not {needed}")
        if not mirrored:
            return numbers.reshape((rows, columns), order="F")
        upper = np.zeros((rows, rows))
        upper[np.triu_indices(rows)] = numbers  # the lower triangle column by column is the upper one row by row
        return upper + np.triu(upper, 1).T
    if len(numbers) != 3 * shape[2]:
        raise RefusalError(f"says that it has {shape[2]} entries, and has {len(numbers)} numbers, three for each")
    down, across, values = numbers.reshape(-1, 3).T
    for name, index, size in (("row", down, rows), ("column", across, columns)):
        if np.any(index != np.floor(index)):
            raise RefusalError(f"{name}: must be whole numbers")
        _within(name, index - 1, size)
    if mirrored and np.any(down > across) and np.any(down < across):
        raise RefusalError("is symmetric, and has entries on both sides of the diagonal", "write one triangle alone")
    matrix = sparse.csr_array((values, (down.astype(int) - 1, across.astype(int) - 1)), shape=(rows, columns))
    return sparse.csr_array(matrix + sparse.tril(matrix.T, -1) + sparse.triu(matrix.T, 1)) if mirrored else matrix
