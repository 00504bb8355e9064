"""Matrices in files: NumPy's, Matrix Market's, and what finite element programs write.

Nastran punches DMIG entries, Abaqus writes lines "node, direction, node, direction, value" (MATRIX INPUT) or "row,
column, value" (COORDINATE), Ansys Harwell-Boeing files (HBMAT), CalculiX "row column value" in .sti and .mas with
"node.direction" in a .dof file beside. Of symmetric matrices they write one half; it is mirrored. What a header claims
is compared with the file before anything is allocated.
Source: Boisvert, Pozo, Remington 1996, The Matrix Market Exchange Formats, NISTIR 5935, 2.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

MAX_ENTRIES = 2**25
"""Stored entries of a matrix: those of a dense one of 5,800 freedoms, 256 MiB of numbers."""
LARGEST = 100_000
"""Rows or columns."""
HARWELL_BOEING = (".hb", ".rsa", ".rua", ".matrix")
_LAYOUTS = ("array", "coordinate")
_NUMBERS = ("real", "double", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")


@dataclass(frozen=True, eq=False)
class NodalMatrix:
    """A matrix whose file says what its rows are: node numbers and directions 1 to 6 (0: none), (N, 2)."""

    matrix: Any
    labels: NDArray[np.int64]


def read_matrix(path: Path, letter: str = "") -> Any:
    """The matrix in a file: an array, a sparse array, or a :class:`NodalMatrix` where the file names its rows; a
    ValueError says what is wrong with it.

    letter: With which the name of the wanted one begins where a file holds several: K or M, as in Nastran's KAAX, MAAX.
    """
    try:
        found = _found(path, letter)
    except ValueError:
        raise
    except Exception as error:
        # NumPy takes the header of a file apart by Python's own tokenizer, which raises errors of many kinds.
        raise ValueError(str(error)) from error
    matrix = found.matrix if isinstance(found, NodalMatrix) else found
    entries = matrix.data if isinstance(matrix, sp.coo_array) else matrix
    if not np.isfinite(entries).all():
        raise ValueError("it has entries that are not finite")
    return found


def _found(path: Path, letter: str) -> Any:
    ending = path.suffix.lower()
    if ending == ".npy":
        return _npy(path)
    if ending == ".npz":
        found = sp.coo_array(sp.load_npz(path))
        _check(found.shape, found.nnz)
        return found
    if ending in HARWELL_BOEING:
        from scipy.io import hb_read

        found = sp.coo_array(hb_read(path))
        _check(found.shape, found.nnz)
        return _mirrored(found)
    data = path.read_bytes()
    if data[:14].lower() == b"%%matrixmarket":
        return _mtx(data)
    if re.search(rb"^dmig", data, re.IGNORECASE | re.MULTILINE):
        return _nastran(data.decode("latin-1"), letter)
    if re.match(rb"(\s|\*[^\n]*\n)*[-+.\d]", data):
        return _entries(path, data)
    return _mtx(data)


def _entries(path: Path, data: bytes) -> Any:
    """Lines of Abaqus (node, direction, node, direction, value), or of row, column and value."""
    lines = [line for line in data.decode("latin-1").replace(",", " ").splitlines() if line[:1] != "*"]
    table = np.loadtxt(lines, ndmin=2)
    if table.shape[1] == 5:
        return _labelled(table[:, :2].astype(np.int64), table[:, 2:4].astype(np.int64), table[:, 4])
    if table.shape[1] != 3:
        raise ValueError(f"its lines have {table.shape[1]} numbers, not 3 (row, column, value) or 5 (Abaqus)")
    rows = table[:, :2].astype(np.int64) - 1
    if (rows < 0).any():
        raise ValueError("its rows and columns are not counted from 1")
    size = int(rows.max()) + 1
    _check((size, size), len(table))
    matrix = _mirrored(sp.coo_array((table[:, 2], (rows[:, 0], rows[:, 1])), shape=(size, size)))
    beside = path.with_suffix(".dof")
    if not beside.exists():
        return matrix
    labels = [line.strip().split(".") for line in beside.read_text().splitlines() if line.strip()]
    if len(labels) != size:
        raise ValueError(f"{beside.name} names {len(labels)} rows, but it has {size}")
    return NodalMatrix(matrix, np.array(labels, dtype=np.int64))


def _labelled(rows: Any, columns: Any, values: Any) -> NodalMatrix:
    labels, at = np.unique(np.concatenate([rows, columns]), axis=0, return_inverse=True)
    at = at.ravel()
    size, count = len(labels), len(values)
    _check((size, size), count)
    return NodalMatrix(
        _mirrored(sp.coo_array((values, (at[:count], at[count:])), shape=(size, size))), labels
    )


def _nastran(text: str, letter: str) -> NodalMatrix:
    """DMIG entries, in small, large or free fields: a column (GJ, CJ), then rows (G, C, value, imaginary part)."""
    columns: list[list[str]] = []
    for line in text.splitlines():
        line = line.split("$")[0].rstrip()
        if not line:
            continue
        if "," in line:
            words = [word.strip() for word in line.split(",")]
            head, fields = words[0], (words[1:] + [""] * 8)[:8]
        else:
            wide = "*" in line[:8]
            head, width = line[:8].strip(), 16 if wide else 8
            body = line[8:72].ljust(64)
            fields = [body[i : i + width].strip() for i in range(0, 64, width)]
        if head.upper().rstrip("*") == "DMIG":
            columns.append(fields)
        elif columns and head[:1] in ("", "*", "+"):
            columns[-1] += fields
    names = {fields[0] for fields in columns}
    wanted = (
        [name for name in names if letter and name.upper().startswith(letter)] if len(names) > 1 else [*names]
    )
    if len(wanted) != 1:
        raise ValueError(
            f"it has the DMIG matrices {', '.join(sorted(names))}; keep one in it, or one that begins with K and one "
            "that begins with M"
        )
    rows, cols, values = [], [], []
    for name, *rest in columns:
        if name != wanted[0]:
            continue
        if rest[0] == "0":
            # The header: name, 0, form, type.
            if rest[2] not in ("1", "2"):
                raise ValueError(f"the DMIG matrix {name} is complex")
            continue
        for k in range(3, len(rest) - 2, 4):
            if rest[k]:
                rows.append((int(rest[k]), int(rest[k + 1] or 0)))
                cols.append((int(rest[0]), int(rest[1] or 0)))
                values.append(_nastran_number(rest[k + 2]))
    return _labelled(np.array(rows, np.int64), np.array(cols, np.int64), np.array(values))


def _nastran_number(word: str) -> float:
    """Nastran's numbers may have a D, or no letter at all, before their exponent."""
    return float(re.sub(r"(?<=[\d.])([-+]\d+)$", r"e\1", word.lower().replace("d", "e")))


def _mirrored(matrix: Any) -> Any:
    """A matrix of which one half is given, whole; others as they are."""
    full = sp.csr_array(matrix)
    off = full - sp.diags_array(full.diagonal())
    pattern = abs(sp.csr_array(off)).sign()
    both = pattern.multiply(pattern.T).nnz
    return sp.coo_array(full + off.T) if off.nnz and not both else sp.coo_array(full)


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
