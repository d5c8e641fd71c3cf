"""Matrix files: every layout gives the same matrix, and what contradicts itself is refused by file and array."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from mbdy.engine.flexible.matrices import read_matrix
from mbdy.engine.model.contents import FileError

DENSE = np.array([[2.0, 0.0, -1.0, 0.0], [0.0, 3.0, 0.0, 0.5], [-1.0, 0.0, 4.0, 0.0], [0.0, 0.5, 0.0, 5.0]])


def full(matrix: object) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_formats_of_scipy(kind: str, tmp_path: Path) -> None:
    for matrix in (sparse.csr_array(DENSE), sparse.csr_matrix(DENSE[:2]), sparse.csr_array(DENSE[:, :2]).astype("f4")):
        sparse.save_npz(tmp_path / "m.npz", matrix.asformat(kind), compressed=kind != "csr")
        assert np.array_equal(full(read_matrix(tmp_path / "m.npz")), matrix.toarray())
    blocks = sparse.bsr_array(np.arange(24.0).reshape(4, 6), blocksize=(2, 3))
    sparse.save_npz(tmp_path / "m.npz", blocks)
    assert np.array_equal(full(read_matrix(tmp_path / "m.npz")), blocks.toarray())


def test_layouts_of_matrix_market(tmp_path: Path) -> None:
    for matrix in (DENSE, sparse.coo_array(DENSE)):
        for symmetry in ("general", "symmetric"):
            mmwrite(tmp_path / "m.mtx", matrix, comment="made\nby hand", symmetry=symmetry, precision=17)
            assert np.array_equal(full(read_matrix(tmp_path / "m.mtx")), DENSE)
    upper = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n1 2 -1\n2 2 3\n"
    (tmp_path / "m.mtx").write_text(upper)
    assert np.array_equal(full(read_matrix(tmp_path / "m.mtx")), [[2, -1], [-1, 3]])


def stored(change: Callable[[dict[str, np.ndarray]], object], kind: str = "csr") -> bytes:
    """A sparse matrix in ``.npz`` with its arrays changed, and whole as an archive."""
    packed = io.BytesIO()
    sparse.save_npz(packed, sparse.csr_array(DENSE).asformat(kind), compressed=False)
    with np.load(io.BytesIO(packed.getvalue())) as arrays:
        parts = dict(arrays)
    change(parts)
    packed = io.BytesIO()
    np.savez(packed, **parts)
    return packed.getvalue()


def header(shape: str, descr: str = "<f8") -> bytes:
    """A ``.npy`` file of one number whose header says something else."""
    packed = io.BytesIO()
    np.save(packed, np.ones(1))
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    return packed.getvalue()[:10] + head.ljust(117).encode() + b"\n" + packed.getvalue()[-8:]


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for name, content in members.items():
            opened.writestr(f"{name}.npy", content)
    return packed.getvalue()


def market(text: str, head: str = "coordinate real general") -> bytes:
    return f"%%MatrixMarket matrix {head}\n{text}".encode()


def put(name: str, value: object, at: object = ...) -> Callable[[dict[str, np.ndarray]], None]:
    def change(parts: dict[str, np.ndarray]) -> None:
        if at is ...:
            parts[name] = np.array(value)
        else:
            parts[name][at] = value

    return change


HOSTILE = [
    ("flipped-index", "npz", stored(put("indices", 1 << 27, 3)), "columns: index 134217728 is out of range"),
    ("negative-index", "npz", stored(put("indices", -5, 3)), "columns: index -5 is out of range"),
    ("flipped-pointer", "npz", stored(put("indptr", 1 << 30, 2)), "indptr: must be 5 numbers that rise from 0 to 8"),
    ("falling-pointer", "npz", stored(put("indptr", -1, 1)), "indptr: must be 5 numbers"),
    ("short-pointer", "npz", stored(put("indptr", [0, 8]), "csc"), "indptr: must be 5 numbers"),
    ("no-pointer", "npz", stored(lambda parts: parts.pop("indptr")), "has no array 'indptr'"),
    ("fewer-data", "npz", stored(put("data", [1.0])), "indices: has 8 entries, and data has 1"),
    ("endless-shape", "npz", stored(put("shape", [1 << 62, 1 << 62])), "shape: must be two numbers up to 10,000,000"),
    ("negative-shape", "npz", stored(put("shape", [-4, 4])), "shape: must be two numbers"),
    ("small-shape", "npz", stored(put("shape", [4, 3])), "columns: index 3 is out of range, there are 3"),
    ("complex", "npz", stored(lambda parts: parts.update(data=parts["data"] * 1j)), "data: is complex; give real"),
    ("text", "npz", stored(put("data", ["a"])), "data: is of the type <U1"),
    ("format", "npz", stored(put("format", "lil")), "format: must be one of csr, csc, bsr, coo, dia, got 'lil'"),
    ("coo-row", "npz", stored(put("row", 4, 0), "coo"), "rows: index 4 is out of range"),
    ("dia-offsets", "npz", stored(put("offsets", 0), "dia"), "offsets: has 0 dimensions"),
    ("dia-twice", "npz", stored(put("offsets", [0, 0, 0]), "dia"), "offsets: must be 3 different ones"),
    ("bsr-blocks", "npz", stored(put("data", np.ones((8, 0, 1))), "bsr"), "data: blocks of 0 x 1 do not fill"),
    ("not-zip", "npz", b"PK\3\4 and nothing", "holds no matrix, or not all of it"),
    ("empty-zip", "npz", archive(), "must hold one array or one scipy sparse matrix, has nothing"),
    ("bomb", "npz", archive(a=header(f"({1 << 40},)")), "a: says that it is"),
    ("pickle", "npz", archive(a=header("(1,)", "|O")), "a: is of the type object; give real numbers"),
    ("claimed", "npy", header("(1000000000000,)"), "the array: says that it is .* and has 8 bytes"),
    ("negative", "npy", header("(-1,)"), "the array: says that it is"),
    ("nested", "npy", header("((((((1,),),),),),)"), "holds no matrix, or not all of it"),
    ("empty", "npy", b"", "holds no matrix, or not all of it"),
    ("market-short", "mtx", market("4 4 3\n1 1 2\n"), "says that it has 3 entries, and has 3 numbers, three for each"),
    ("market-far", "mtx", market("4 4 1\n5 1 2\n"), "row: index 4.0 is out of range, there are 4"),
    ("market-half", "mtx", market("4 4 1\n1.5 1 2\n"), "row: must be whole numbers"),
    ("market-huge", "mtx", market("4000000000 4 1\n1 1 2\n"), "must say its rows and columns, up to 10,000,000"),
    ("market-both", "mtx", market("2 2 2\n1 2 1\n2 1 1\n", "coordinate real symmetric"), "is symmetric, and has"),
    ("market-words", "mtx", market("2 2 1\n1 1 two\n"), "holds no matrix, or not all of it"),
    ("market-complex", "mtx", market("1 1 1\n1 1 1 1\n", "coordinate complex general"), "is 'complex', must be real"),
]  # fmt: skip


@pytest.mark.parametrize(("ending", "data", "words"), [pytest.param(*one[1:], id=one[0]) for one in HOSTILE])
def test_refused(ending: str, data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / f"hostile.{ending}"
    path.write_bytes(data)
    with pytest.raises(FileError, match=f"hostile.{ending}: {words}"):
        read_matrix(path)
