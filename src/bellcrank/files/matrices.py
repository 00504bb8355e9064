"""Matrices in files beside a model: NumPy's .npy and Matrix Market's .mtx.

What a header claims is compared with the file before anything is allocated.
Source: Boisvert, Pozo, Remington 1996, The Matrix Market Exchange Formats, NISTIR 5935, 2.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

MAX_ENTRIES = 2**25
"""Stored entries of a matrix: those of a dense one of 5,800 freedoms, 256 MiB of numbers."""
LARGEST = 100_000
"""Rows or columns."""
_LAYOUTS = ("array", "coordinate")
_NUMBERS = ("real", "double", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")


def read_matrix(path: Path) -> Any:
    """The matrix in a file, dense or sparse; a ValueError says what is wrong with it."""
    try:
        found = _npy(path) if path.suffix.lower() == ".npy" else _mtx(path.read_bytes())
    except ValueError:
        raise
    except Exception as error:
        # NumPy takes the header of a file apart by Python's own tokenizer, which raises errors of many kinds.
        raise ValueError(str(error)) from error
    entries = found.data if isinstance(found, sp.coo_array) else found
    if not np.isfinite(entries).all():
        raise ValueError("it has entries that are not finite")
    return found


def _npy(path: Path) -> Any:
    # Mapped, so that a shape beyond the file is refused and nothing is allocated for it.
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(mapped, np.ndarray) or mapped.dtype.kind not in "fiub":
        raise ValueError("it does not hold real numbers")
    _check(mapped.shape, mapped.size)
    return np.array(mapped, dtype=float)


def _check(shape: tuple[int, ...], entries: int) -> None:
    if len(shape) != 2 or min(shape) < 1:
        raise ValueError(f"it holds an array of shape {shape}, not a matrix")
    if max(shape) > LARGEST or entries > MAX_ENTRIES:
        raise ValueError(
            f"{shape[0]} x {shape[1]} with {entries} entries is too large; at most {LARGEST} rows and "
            f"{MAX_ENTRIES} entries are read"
        )


def _mtx(data: bytes) -> Any:
    text = io.StringIO(data.decode("latin-1"))
    words = text.readline().lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("its first line is not that of a Matrix Market file")
    layout, numbers, symmetry = words[2:]
    if layout not in _LAYOUTS or numbers not in _NUMBERS or symmetry not in _SYMMETRIES:
        raise ValueError(f"matrices that are {layout}, {numbers}, {symmetry} are not read")
    line = "%"
    while line and (line.startswith("%") or not line.strip()):
        line = text.readline()
    sizes = [int(word) for word in line.split()]
    if len(sizes) != (2 if layout == "array" else 3) or min(sizes) < 0:
        raise ValueError(f"the line of its sizes is {line.strip()[:80]!r}")
    rows, columns = sizes[:2]
    square = symmetry == "general" or rows == columns
    _check((rows, columns), sizes[2] if layout == "coordinate" else rows * columns)
    if not square or (layout == "array" and numbers == "pattern"):
        raise ValueError(f"a matrix of {rows} x {columns} cannot be {symmetry}, {numbers}")
    read = _dense if layout == "array" else _sparse
    return read(text, rows, columns, sizes[-1], numbers == "pattern", symmetry)


def _table(text: io.StringIO, count: int, width: int) -> Any:
    """The lines behind the header, as many as it claims."""
    if len(text.getvalue()) - text.tell() < 2 * width * count - 1:
        raise ValueError(f"it claims {count} entries and is too short for them; it is cut off")
    with warnings.catch_warnings():
        # Empty lines are allowed, and counted by nobody.
        warnings.simplefilter("ignore")
        found = np.loadtxt(text, comments="%", ndmin=2, max_rows=count + 1) if count else np.zeros((0, width))
    if found.shape != (count, width):
        raise ValueError(f"it claims {count} lines of {width} numbers and has {found.shape}")
    return found


def _dense(text: io.StringIO, rows: int, columns: int, _: int, __: bool, symmetry: str) -> Any:
    """Column by column; of symmetric matrices from the diagonal down, of skew-symmetric ones from below it."""
    if symmetry == "general":
        return _table(text, rows * columns, 1).reshape(columns, rows).T
    skipped = int(symmetry != "symmetric")
    below = np.triu_indices(rows, skipped)
    whole = np.zeros((rows, rows))
    whole[below] = _table(text, len(below[0]), 1)[:, 0]
    return whole.T + (np.triu(whole, 1) if skipped == 0 else -whole)


def _sparse(text: io.StringIO, rows: int, columns: int, count: int, pattern: bool, symmetry: str) -> Any:
    table = _table(text, count, 2 if pattern else 3)
    i, j = table[:, 0] - 1, table[:, 1] - 1
    values = np.ones(count) if pattern else table[:, 2]
    places = (i, j)
    if not all(
        ((k >= 0) & (k < n) & (k == np.floor(k))).all() for k, n in zip(places, (rows, columns), strict=True)
    ):
        raise ValueError(f"an entry lies outside of {rows} x {columns}")
    i, j = i.astype(np.int64), j.astype(np.int64)
    if symmetry != "general":
        off = i != j
        sign = 1.0 if symmetry == "symmetric" else -1.0
        mirrored = (np.concatenate([i, j[off]]), np.concatenate([j, i[off]]))
        i, j, values = *mirrored, np.concatenate([values, sign * values[off]])
    return sp.coo_array((values, (i, j)), shape=(rows, columns))


__all__ = ["read_matrix"]
