"""Files of volume elements (Gmsh, Abaqus, Nastran, VTK and others), through meshio."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from bellcrank.errors import ModelError

LARGEST = 1_000_000_000
"""Bytes of a file at most: some ten million elements, more than a body is computed with."""


def read_elements(path: str | PathLike[str], what: str) -> Any:
    """The points and cells of a mesh file as meshio gives them. what: Whose mesh it is, for errors."""
    import meshio

    file = Path(path)
    if not file.is_file():
        raise ModelError(f"{what}: no mesh file {str(file)!r}")
    if file.stat().st_size > LARGEST:
        raise ModelError(f"{what}: {str(file)!r} is larger than {LARGEST // 10**6} MB; use a coarser mesh")
    try:
        return meshio.read(file)
    except (SystemExit, meshio.ReadError, KeyError, ValueError, IndexError, OSError) as error:
        raise ModelError(f"{what}: meshio cannot read {file.name!r}: {error}") from error


__all__ = ["read_elements"]
