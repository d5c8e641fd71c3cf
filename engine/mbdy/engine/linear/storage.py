"""Linearizations as files: NumPy's ``.npz``, MATLAB's ``.mat``, ``.json``, all with the same names inside.

``A, B, C, D``, ``states, inputs, outputs`` with ``state_units, input_units, output_units``, ``residual``,
``input_values, output_values``, ``state_names`` and ``state_values`` of the whole state, ``name``, ``notes``; and where
there is a second-order form ``M, Damping, G, K, Forcing`` with ``coordinates`` and ``coordinate_units``.
"""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mbdy.engine.linear.linearization import Linearization
from mbdy.engine.linear.mat_file import mat_variables
from mbdy.engine.linear.second_order import SecondOrder
from mbdy.engine.model.contents import contents, reading
from mbdy.engine.model.faults import RefusalError
from mbdy.engine.model.numpy_files import NUMBERS, TEXT, Archive
from mbdy.engine.model.whole_file import whole_file, writing

ENDINGS = (".npz", ".mat", ".json")
MATRICES = ("A", "B", "C", "D")
VECTORS = ("residual", "input_values", "output_values")
NAMES = ("states", "inputs", "outputs", "state_units", "input_units", "output_units", "notes")
SECOND_ORDER = {"M": "M", "Damping": "D", "G": "G", "K": "K", "Forcing": "B"}
"""Matrices of the second-order form by their names in files, where D and B are those of the first-order form."""


def save(linear: Linearization, path: str | PathLike[str]) -> None:
    """See `Linearization.save`."""
    ending = _ending(path)
    contents = plain(linear)
    with writing(path):
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
    data = contents(path)
    with reading(path, "linearization"):
        return _linearization(read(data))


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


def _npz(data: bytes) -> dict[str, Any]:
    archive = Archive(data)
    return {name: archive.array(name, NUMBERS + TEXT).tolist() for name in archive.names}


def _mat(data: bytes) -> dict[str, Any]:
    variables = mat_variables(data)
    for key, value in variables.items():
        if isinstance(value, np.ndarray):
            variables[key] = value.ravel().tolist() if key in (*VECTORS, *NAMES, "state_values") else value.tolist()
    return variables


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
    parts |= {key: tuple(map(str, read[key])) for key in NAMES}
    for key, array in read.items():
        if isinstance(array, np.ndarray) and not np.all(np.isfinite(array)):
            raise RefusalError(f"{key}: all entries must be finite numbers")
    return Linearization(
        name=str(read["name"]),
        **parts,
        state_values=dict(zip(read["state_names"], read["state_values"].tolist(), strict=True)),
        second_order=form,
    )
