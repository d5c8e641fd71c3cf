"""Modal data from Nastran: grid points of a bulk data file and matrices that were punched as DMIG."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mbdy.engine.flexible.finite_elements import FiniteElements
from mbdy.engine.model.contents import contents, reading
from mbdy.engine.model.faults import MissingPackageError, RefusalError

INSTALL = "pip install 'numpy<2.4' && pip install --no-deps 'pyNastran>=1.4'"


def read_nastran(
    bulk: str | Path, matrices: str | Path | None = None, *, mass: str = "MAAX", stiffness: str = "KAAX"
) -> FiniteElements:
    """The model of a bulk data file (``.bdf``, ``.dat``), ready for `mbdy.engine.flexible.reduction.reduce`.

    ``matrices``  the punch file (``.pch``) with its mass and stiffness as DMIG of those names; without it they are in
    ``bulk``. MSC and Siemens Nastran write MAAX and KAAX with ``PARAM,EXTOUT,DMIGPCH`` or ``EXTSEOUT(DMIGPCH)``: those
    of the degrees of freedom that ASET names, which must be those of a free model. Units must be SI.

    Reading is done by pyNastran, which says that it needs numpy<2 and runs with numpy<2.4, so it is no extra:
    `INSTALL`. Raises ImportError without it, ValueError naming the file: matrices that are missing or complex, grid
    points whose displacements have axes of their own (CD), scalar points. Source: MSC Nastran Quick Reference Guide,
    entries DMIG, GRID.
    """
    model = _bulk(bulk)
    tables = model if matrices is None else _bulk(matrices)
    source = bulk if matrices is None else matrices
    kept: list[tuple[Any, list[tuple[int, int]]]] = []
    for name in (mass, stiffness):
        if name not in tables.dmig:
            raise RefusalError(f"{source}: has no DMIG {name}; it has {', '.join(tables.dmig) or 'none'}")
        with reading(source, f"DMIG {name}"):
            kept.append(_matrix(tables.dmig[name], f"{source}: DMIG {name}"))
    freedoms = list(dict.fromkeys([*kept[1][1], *kept[0][1]]))
    freedoms.sort()
    row = {freedom: k for k, freedom in enumerate(freedoms)}
    full = []
    for entries, owners in kept:
        matrix = np.zeros((len(freedoms), len(freedoms)))
        index = [row[owner] for owner in owners]
        matrix[np.ix_(index, index)] = entries
        full.append(matrix)
    places = {}
    for node in dict.fromkeys(node for node, _ in freedoms):
        if node not in model.nodes:
            raise RefusalError(f"{bulk}: has no grid point {node}, which the matrices name")
        grid = model.nodes[node]
        if grid.Cd() != 0:
            raise RefusalError(
                f"{bulk}: displacements of grid point {node} are in coordinate system {grid.Cd()}; write the matrices "
                "in the basic one (CD = 0)"
            )
        with reading(bulk, "Nastran bulk data"):
            places[node] = grid.get_position().tolist()
    return FiniteElements(full[0], full[1], places, freedoms)


def _bulk(path: str | Path) -> Any:
    """A bulk data file by pyNastran, with or without executive and case control."""
    try:
        bdf = import_module("pyNastran.bdf.bdf")
    except (ImportError, AttributeError) as error:  # the latter with a numpy that it does not know
        raise MissingPackageError(f"Nastran files need pyNastran; install it with: {INSTALL}") from error
    data = contents(path)
    lines = data.decode("latin-1").upper().splitlines()
    punch = not any(line.startswith(("CEND", "BEGIN BULK", "BEGIN,BULK")) for line in lines)
    model = bdf.BDF(debug=None, log=None)
    with reading(path, "Nastran bulk data"), warnings.catch_warnings(), TemporaryDirectory(prefix="mbdy-") as folder:
        warnings.simplefilter("ignore")  # it warns of, and prints, fields that it then refuses
        place = Path(folder) / Path(path).name  # of the very bytes; files that it includes lie beside the original
        place.write_bytes(data)
        if any(line.startswith("INCLUDE") for line in lines):
            place = Path(path)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            model.read_bdf(str(place), xref=False, punch=punch, validate=False)
            model.safe_cross_reference()
        for included in model.active_filenames[1:]:
            contents(included)  # for the list of files that were read
    return model


def _matrix(dmig: Any, label: str) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """A square matrix of a DMIG entry and the grid point and component of each row."""
    if dmig.is_complex:
        raise RefusalError(f"{label} is complex")
    values, rows, columns = dmig.get_matrix(is_sparse=False)
    owners = sorted({_owner(value, label) for value in [*rows.values(), *columns.values()]})
    index = {owner: k for k, owner in enumerate(owners)}
    matrix = np.zeros((len(owners), len(owners)))
    down = [index[_owner(rows[k], label)] for k in sorted(rows)]
    across = [index[_owner(columns[k], label)] for k in sorted(columns)]
    matrix[np.ix_(down, across)] = np.asarray(values)
    if dmig.matrix_form == 6:
        lower, upper = np.tril(matrix, -1), np.triu(matrix, 1)
        both = np.where(lower != 0, lower, upper.T)
        matrix = np.diag(np.diag(matrix)) + both + both.T
    return matrix, owners


def _owner(value: Sequence[int], label: str) -> tuple[int, int]:
    node, component = int(value[0]), int(value[1])
    if component == 0:
        raise RefusalError(f"{label} has a scalar point, {node}; matrices of grid points alone are known here")
    return node, component
