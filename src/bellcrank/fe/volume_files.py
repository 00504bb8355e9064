"""Files of volume elements (Gmsh, Abaqus, Nastran, VTK and others), through meshio in a process of its own."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base import blocks
from bellcrank.base.confined import EndedError, RefusedError, confined
from bellcrank.errors import BellcrankError, MissingFile, ModelError

LARGEST = 1_000_000_000
"""Bytes of a file at most: some ten million elements, more than a body is computed with."""
SECONDS = 20.0
"""Time a child has to start and read a small file, on a busy machine."""
BYTES_PER_SECOND = 200e3
"""What a child reads at least: a tenth of what meshio reads of the slowest format, Abaqus."""
MEMORY = 2**30
"""Address space of a child [bytes] for a small file; tables over the numbers of nodes may be larger than the file."""
EXPANSION = 50
"""Bytes for one of the file, beyond that: numbers of text as objects of Python."""
SURFACE = {"line": 2, "line3": 3, "triangle": 3, "triangle6": 6, "quad": 4, "quad8": 8, "quad9": 9}
VOLUME = {"tetra": 4, "tetra10": 10, "hexahedron": 8, "hexahedron20": 20, "hexahedron27": 27}
POINTS = SURFACE | VOLUME
"""Of one cell, for the kinds that are used."""


def read_elements(path: str | PathLike[str], what: str) -> Any:
    """The points and cells of a mesh file as meshio gives them, with their sets. what: Whose mesh it is, for errors."""
    import meshio

    file = Path(path)
    if not file.is_file():
        raise MissingFile(f"{what}: {file}: there is no such file")
    size = file.stat().st_size
    if size > LARGEST:
        raise ModelError(f"{what}: {str(file)!r} is larger than {LARGEST // 10**6} MB; use a coarser mesh")
    try:
        found = confined(
            "bellcrank.fe.volume_files:packed",
            str(file.resolve()).encode(),
            SECONDS + size / BYTES_PER_SECOND,
            MEMORY + EXPANSION * size,
        )
        arrays, about = blocks.unpacked(found)
        _check(arrays, about)
    except (RefusedError, EndedError, BellcrankError, ValueError) as error:
        raise ModelError(f"{what}: meshio cannot read {file.name!r}: {error}") from error
    kinds = about["kinds"]
    return meshio.Mesh(
        arrays["points"],
        [(kind, arrays[f"cells {k}"]) for k, kind in enumerate(kinds)],
        cell_data={
            name: [arrays[f"data {n} {k}"] for k in range(len(kinds))] for n, name in enumerate(about["data"])
        },
        cell_sets={
            name: [arrays[f"set {n} {k}"] for k in range(len(kinds))] for n, name in enumerate(about["sets"])
        },
        field_data={name: arrays[f"field {n}"] for n, name in enumerate(about["fields"])},
    )


def packed(path: bytes) -> bytes:
    """The mesh in a file as bytes; in a process of its own."""
    import meshio

    mesh = meshio.read(path.decode())
    # Polyhedra come as lists of their sides; they are no elements of ours.
    used = [k for k, cell in enumerate(mesh.cells) if isinstance(cell.data, np.ndarray)]
    arrays = {"points": np.asarray(mesh.points, dtype=float)}
    for k, block in enumerate(used):
        arrays[f"cells {k}"] = mesh.cells[block].data.astype(np.int64)
        for n, parts in enumerate(mesh.cell_data.values()):
            arrays[f"data {n} {k}"] = _numbers(parts[block])
        for n, parts in enumerate(mesh.cell_sets.values()):
            one = parts[block]
            arrays[f"set {n} {k}"] = np.zeros(0, np.int64) if one is None else np.asarray(one, dtype=np.int64)
    for n, values in enumerate(mesh.field_data.values()):
        arrays[f"field {n}"] = _numbers(values)
    about = {
        "kinds": [mesh.cells[k].type for k in used],
        "data": list(map(str, mesh.cell_data)),
        "sets": list(map(str, mesh.cell_sets)),
        "fields": list(map(str, mesh.field_data)),
    }
    return blocks.packed(arrays, about)


def _numbers(values: Any) -> NDArray[Any]:
    found = np.asarray(values)
    return found.astype(np.int64 if found.dtype.kind in "iub" else np.float64)


def _check(arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
    """Cells name points that there are, sets name cells that there are, and all lie somewhere."""
    points = arrays["points"]
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
        raise ValueError("its points are not places in space")
    for k, kind in enumerate(about["kinds"]):
        cells = arrays[f"cells {k}"]
        if cells.ndim != 2 or not cells.size or cells.shape[1] != POINTS.get(kind, cells.shape[1]):
            raise ValueError(f"a block of cells of kind {kind} is a table of {cells.shape}")
        if not 0 <= cells.min() <= cells.max() < len(points):
            raise ValueError(f"a cell of kind {kind} names a point that does not exist")
        for n, name in enumerate(about["sets"]):
            chosen = arrays[f"set {n} {k}"]
            if chosen.size and not 0 <= chosen.min() <= chosen.max() < len(cells):
                raise ValueError(f"set {name!r} names a cell that does not exist")


__all__ = ["read_elements"]
