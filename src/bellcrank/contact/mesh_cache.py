"""Fields of meshes kept on disk between runs, beside the machine code (:mod:`bellcrank.program.cache`).

An entry is an archive of plain arrays. What does not fit together is made anew: the loops that read the tables do not
check their indices.
"""

from __future__ import annotations

import functools
import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh_field import BLOCK, COARSE, GROUPS, SIDE, MeshField
from bellcrank.math.vectors import Vector
from bellcrank.program import cache

Array = NDArray[np.float64]
Made = tuple[MeshField, Array, float]
"""A field, its errors on the surface [m], and the share of walls too thin for it."""

FORMAT = "3"
"""Version of the entries."""
MAKERS = (
    "mesh.py",
    "mesh_depth.py",
    "mesh_distance.py",
    "mesh_field.py",
    "mesh_grid.py",
    "mesh_winding.py",
    "quadrics.py",
    "sampled.py",
    "solid_angle.py",
)
"""What fields depend on besides the mesh: the text that makes them."""
LARGEST = 32 * 1024 * 1024
"""Bytes of an entry at most: an eighth of what the folder holds."""
ARRAYS = ("table", "fine", "coarse", "bends", "numbers", "counts", "errors")


def kept(vertices: Array, others: NDArray[np.generic], given: str, make: Callable[[], Made]) -> Made:
    """A field, from disk or made and stored. others: Faces or normals. given: What else it depends on."""
    contents = hashlib.sha256(vertices.tobytes() + b"/" + others.tobytes()).hexdigest()
    key = cache.key("mesh field", FORMAT, _makers(), contents, given)
    data = cache.load(key)
    found = None if data is None else _unpacked(data)
    if found is None:
        found = make()
        packed = _packed(found)
        if len(packed) <= LARGEST:
            cache.store(key, packed)
    return found


@functools.cache
def _makers() -> str:
    return "".join(Path(__file__).with_name(name).read_text() for name in MAKERS)


def _packed(made: Made) -> bytes:
    field, errors, thin = made
    numbers = np.array([*field.origin, field.spacing, field.steepest, field.deepest, field.jump, thin])
    counts = np.array([field.nx, field.ny, field.nz])
    out = io.BytesIO()
    np.savez(
        out,
        table=field.table,
        fine=field.fine,
        coarse=field.coarse,
        bends=field.bends,
        numbers=numbers,
        counts=counts,
        errors=errors,
    )
    return out.getvalue()


def _unpacked(data: bytes) -> Made | None:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            table, fine, coarse, bends, numbers, counts, errors = (archive[name] for name in ARRAYS)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    reals = (fine, coarse, bends, numbers, errors)
    if any(x.dtype != np.float64 or x.ndim != 1 for x in reals) or any(
        x.dtype != np.int64 or x.ndim != 1 for x in (table, counts)
    ):
        return None
    if len(numbers) != 8 or len(counts) != 3 or counts.min() < 1 or len(table) != np.prod(counts):
        return None
    if len(coarse) != np.prod(BLOCK // COARSE * counts + 3) or len(fine) % SIDE**3:
        return None
    if len(bends) * SIDE**3 != len(fine) * GROUPS**3:
        return None
    if table.min() < -1 or table.max() >= len(fine) // SIDE**3:
        return None
    x, y, z, spacing, steepest, deepest, jump, thin = numbers.tolist()
    nx, ny, nz = counts.tolist()
    field = MeshField(
        Vector(x, y, z), spacing, nx, ny, nz, table, fine, coarse, bends, steepest, deepest, jump
    )
    return field, errors, thin


__all__ = ["kept"]
