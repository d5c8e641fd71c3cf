"""Linearizations as files: NumPy's ``.npz``, MATLAB's ``.mat``, ``.json``, all with the same names inside.

``A, B, C, D``, ``states, inputs, outputs`` with ``state_units, input_units, output_units``, ``residual``,
``input_values, output_values``, ``state_names`` and ``state_values`` of the whole state, ``name``, ``notes``; and where
there is a second-order form ``M, Damping, G, K, Forcing`` with ``coordinates`` and ``coordinate_units``.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mbdy.engine.linear.linearization import Linearization
from mbdy.engine.linear.second_order import SecondOrder
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.whole_file import whole_file

ENDINGS = (".npz", ".mat", ".json")
MATRICES = ("A", "B", "C", "D")
VECTORS = ("residual", "input_values", "output_values")
NAMES = ("states", "inputs", "outputs", "state_units", "input_units", "output_units", "notes")
SECOND_ORDER = {"M": "M", "Damping": "D", "G": "G", "K": "K", "Forcing": "B"}
"""Matrices of the second-order form by their names in files, where D and B are those of the first-order form."""
FAULTS = (KeyError, TypeError, ValueError, AttributeError, OSError, EOFError, zipfile.BadZipFile, zlib.error)
"""What readers raise for files that are cut or hold something else."""


def save(linear: Linearization, path: str | PathLike[str]) -> None:
    """See `Linearization.save`."""
    ending = _ending(path)
    contents = plain(linear)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if ending == ".json":
        with whole_file(path) as file:
            file.write(json.dumps(contents, indent=2) + "\n")
    elif ending == ".npz":
        with whole_file(path, binary=True) as file:
            np.savez(file, allow_pickle=False, **{key: np.array(value) for key, value in _shaped(contents).items()})
    else:
        from scipy.io import savemat

        cells = {key: np.array(v, dtype=object) if isinstance(v, list) else v for key, v in _shaped(contents).items()}
        with whole_file(path, binary=True) as file:
            savemat(file, cells, oned_as="column")


def load(path: str | PathLike[str]) -> Linearization:
    """See `Linearization.load`."""
    read = {".json": json.loads, ".npz": _npz, ".mat": _mat}[_ending(path)]
    contents = Path(path).read_bytes()
    try:
        return _linearization(read(contents))
    except FAULTS as fault:
        raise RefusalError(f"{path}: holds no linearization, or not all of it: {fault}") from None


def plain(linear: Linearization) -> dict[str, Any]:
    """All of ``linear`` as numbers, text and lists."""
    contents: dict[str, Any] = {"name": linear.name}
    contents |= {key: getattr(linear, key).tolist() for key in (*MATRICES, *VECTORS)}
    contents |= {key: list(getattr(linear, key)) for key in NAMES}
    contents["state_names"] = list(linear.state_values)
    contents["state_values"] = list(linear.state_values.values())
    if form := linear.second_order:
        contents |= {key: getattr(form, name).tolist() for key, name in SECOND_ORDER.items()}
        contents |= {"coordinates": list(form.coordinates), "coordinate_units": list(form.units)}
    return contents


def _ending(path: str | PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        table = "; for one matrix as a table, numpy.savetxt('A.csv', lin.A, delimiter=',')" if ending == ".csv" else ""
        raise RefusalError(f"{path}: a linearization is kept as {', '.join(ENDINGS)}; give one of these endings{table}")
    return ending


def _shaped(contents: dict[str, Any]) -> dict[str, Any]:
    """Matrices and vectors as arrays, of their own shape where they are empty."""
    n, n_u, n_y = (len(contents[key]) for key in ("states", "inputs", "outputs"))
    m = len(contents.get("coordinates", ()))
    shapes = {"A": (n, n), "B": (n, n_u), "C": (n_y, n), "D": (n_y, n_u)}
    shapes |= dict.fromkeys(("M", "Damping", "G", "K"), (m, m)) | {"Forcing": (m, n_u)}
    shapes |= {"residual": (n,), "input_values": (n_u,), "output_values": (n_y,)}
    shapes |= {"state_values": (len(contents["state_names"]),)}
    return {
        key: np.array(value, dtype=float).reshape(shapes[key]) if key in shapes else value
        for key, value in contents.items()
    }


def _npz(contents: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(contents)) as file:
        return {key: file[key].tolist() for key in file.files}


def _mat(contents: bytes) -> dict[str, Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        read = loadmat(io.BytesIO(contents))
    except MatReadError as fault:
        raise RefusalError(str(fault)) from None
    plain: dict[str, Any] = {}
    for key, value in read.items():
        if key.startswith("__"):
            continue
        if value.dtype == object:
            plain[key] = [str(cell[0]) if len(cell) else "" for cell in value.ravel()]
        elif value.dtype.kind == "U":
            plain[key] = str(value[0]) if value.size else ""
        else:
            plain[key] = value.ravel().tolist() if key in (*VECTORS, "state_values") else value.tolist()
    return {key: [] if key in NAMES and not len(value) else value for key, value in plain.items()}


def _linearization(contents: dict[str, Any]) -> Linearization:
    read: Any = _shaped(contents)
    form = None
    if "M" in read:
        form = SecondOrder(
            coordinates=tuple(read["coordinates"]),
            units=tuple(read["coordinate_units"]),
            **{name: read[key] for key, name in SECOND_ORDER.items()},
        )
    parts: dict[str, Any] = {key: read[key] for key in (*MATRICES, *VECTORS)}
    parts |= {key: tuple(read[key]) for key in NAMES}
    return Linearization(
        name=str(read["name"]),
        **parts,
        state_values=dict(zip(read["state_names"], read["state_values"].tolist(), strict=True)),
        second_order=form,
    )
