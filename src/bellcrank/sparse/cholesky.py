"""Multifrontal Cholesky factorisation: a dense front for each part of a nested dissection.

A front holds the rows of its own unknowns and of those they reach, which are eliminated later; eliminating the
former leaves an update that its parent adds. Source: Duff, Reid, ACM Trans. Math. Softw. 9 (1983) 302; Liu, SIAM
Review 34 (1992) 82. The fronts are LAPACK's, so the speed is that of dense products.

Unknowns named as last may make the matrix indefinite, as multipliers do: they form one front that is eliminated with
pivoting. Everything before them must be positive definite.

Factors beyond a size are kept in single precision, which takes half the memory; they precondition an iteration in
double precision whose few rounds end with the residual of double factors (Arioli, Duff, Electron. Trans. Numer. Anal.
33 (2009) 31).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.linalg.blas import dgemm, dgemv, dsyrk, dtrsm, dtrsv, sgemm, sgemv, strsm, strsv
from scipy.linalg.lapack import dpotrf, dtrttp

from bellcrank.errors import BellcrankError
from bellcrank.program.loops import Ints, Reals, Reals2, entry
from bellcrank.sparse.dissection import dissected
from bellcrank.sparse.types import Array, Index, Sparse

TOGETHER = 64
"""Right-hand sides solved at once: enough for the speed of dense products, few enough to stay small."""
SINGULAR = 1e-14
"""A pivot below this share of the diagonal entry it came from is rounding (some dozens of machine epsilons)."""
SINGLE = 500_000_000
"""Numbers in factors from which on they are kept in single precision: 4 GB, half of what a small machine has."""
FINE = 1e-14
"""Error of a solution, over its size, that is left to rounding: some dozens of machine epsilons."""
ROUNDED = 8.0 * np.finfo(float).eps
"""Residual of a solution over the size of its terms that may be rounding."""
REFINED = 16
"""Right-hand sides refined at once: each round keeps two vectors of every one."""
ROUNDS = 30
"""Rounds after which an iteration is given up; with factors good to 6e-8 it takes two to five."""


class NotPositive(BellcrankError, ArithmeticError):
    """A matrix that is not positive definite: `unknown` is where elimination found it out."""

    def __init__(self, unknown: int) -> None:
        super().__init__(f"the matrix is not positive definite: nothing holds unknown {unknown}")
        self.unknown = unknown


class TooLarge(BellcrankError, MemoryError):
    """Factors that do not fit into memory, known before they are computed."""


@dataclass(frozen=True)
class Forecast:
    """What a factorisation will take.

    unknowns: Of the equations. entries: Numbers kept in the factors. operations: Additions and multiplications.
    memory: At the peak [bytes]. single: Whether they are kept in single precision.
    """

    unknowns: int
    entries: int
    operations: float
    memory: int
    single: bool = False

    @property
    def seconds(self) -> float:
        """Time of the factorisation [s], by the speed of a small dense product on this machine."""
        return self.operations / _speed()

    def __str__(self) -> str:
        return f"{self.unknowns} unknowns: {self.seconds:.2g} s, {self.memory / 1e9:.2g} GB"

    def check_memory(self) -> None:
        """Refuse what does not fit into the memory that is free now."""
        free = free_memory()
        if free is not None and self.memory > free:
            raise TooLarge(
                f"factorising {self.unknowns} unknowns needs {self.memory / 1e9:.3g} GB and {free / 1e9:.3g} GB are "
                "free; use a coarser mesh away from what matters, or a machine with more memory"
            )


@cache
def _speed() -> float:
    """Operations a second of a dense product; fronts reach about half of it."""
    a = np.ones((384, 384))
    a @ a
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return 0.5 * 2 * 384**3 / best


def free_memory() -> int | None:
    """Memory that can be had now [bytes]; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return None


@dataclass(frozen=True, eq=False)
class Front:
    """own: First and end of its unknowns in the order of elimination. border: Those reached, ascending."""

    start: int
    end: int
    border: Index
    children: tuple[int, ...]


class Elimination:
    """The order of elimination of a pattern, and what factorising in it will take.

    matrix: (N, N), symmetric. places: Of the unknowns, (N, d). last: Unknowns that may make the matrix indefinite.
    """

    def __init__(self, matrix: Sparse, places: Array, last: Index | None = None) -> None:
        tail = np.empty(0, dtype=np.int64) if last is None else np.asarray(last, dtype=np.int64)
        parts = dissected(matrix, np.asarray(places, dtype=float), tail)
        self.order = np.concatenate([part.unknowns for part in parts])
        self.rank = np.empty(len(self.order), dtype=np.int64)
        self.rank[self.order] = np.arange(len(self.order))
        self.tail = len(tail)
        pattern = self._lower(matrix)
        self.fronts: list[Front] = []
        start = 0
        for part in parts:
            end = start + len(part.unknowns)
            entries = pattern.indices[pattern.indptr[start] : pattern.indptr[end]]
            reached: list[Index] = [entries.astype(np.int64)]
            reached += [self.fronts[child].border for child in part.children]
            border = np.unique(np.concatenate(reached))
            self.fronts.append(Front(start, end, border[border >= end], part.children))
            start = end

    def _lower(self, matrix: Sparse) -> sp.csc_array:
        permuted = sp.csr_array(matrix)[self.order][:, self.order]
        return sp.csc_array(sp.tril(permuted, format="csc"))

    @cached_property
    def forecast(self) -> Forecast:
        """Exact counts of the factors and of the fronts in work."""
        sizes = ((front.end - front.start, len(front.border)) for front in self.fronts)
        return self.forecast_of(single=sum(p * (p + u) for p, u in sizes) > SINGLE)

    def forecast_of(self, single: bool) -> Forecast:
        """The forecast for factors kept in one of the precisions."""
        entries, operations, stacked, peak = 0, 0.0, 0, 0
        for number, front in enumerate(self.fronts):
            p, u = front.end - front.start, len(front.border)
            # The front is built while the updates of its children still stand, and its own is then halved.
            room = p * (p + u) + u * u
            packed = self._packed(number)
            done = stacked - sum(self._packed(child) for child in front.children)
            peak = max(peak, (4 if single else 8) * entries + 8 * (room + max(stacked, done + packed)))
            entries += p * (p + u)
            operations += p**3 / 3.0 + p * p * u + p * u * u
            stacked = done + packed
        return Forecast(len(self.order), entries, operations, peak, single)

    def _packed(self, front: int) -> int:
        """Numbers in the lower half of the update of a front."""
        u = len(self.fronts[front].border)
        return u * (u + 1) // 2

    def factorised(self, matrix: Sparse, progress: Callable[[float], None] | None = None) -> Factor:
        """The factors of a matrix of this pattern; `progress` receives the share of operations done."""
        self.forecast.check_memory()
        blocks, tail = self.eliminated(matrix, np.float32 if self.forecast.single else np.float64, progress)
        return Refined(self, blocks, tail, matrix) if self.forecast.single else Factor(self, blocks, tail)

    def eliminated(
        self, matrix: Sparse, kept: type[np.floating[Any]], progress: Callable[[float], None] | None
    ) -> tuple[list[tuple[Array, Array]], Any]:
        """The blocks of the factors, kept with so many digits, and those of the last unknowns."""
        lower = self._lower(matrix)
        diagonal = np.abs(lower.diagonal())
        where = np.empty(len(self.order), dtype=np.int64)
        updates: dict[int, Array] = {}
        blocks: list[tuple[Array, Array]] = []
        tail: Any = None
        done = 0.0
        for number, front in enumerate(self.fronts):
            p, u = front.end - front.start, len(front.border)
            own, below = np.zeros((p, p), order="F"), np.zeros((u, p), order="F")
            update = np.zeros((u, u), order="F")
            self._entries(lower, front, where, own, below)
            for child in front.children:
                rows = where[self.fronts[child].border]
                # A part that is connected to nothing behind it leaves no update: one of two bodies.
                if len(rows):
                    extend(own.T, below.T, update.T, rows, updates.pop(child))
            if self.tail and front.end == len(self.order):
                # Only the lower half was added up.
                tail = _pivoted(np.tril(own) + np.tril(own, -1).T)
                break
            own, info = dpotrf(own, lower=1, clean=1, overwrite_a=1)
            pivots = np.diag(own) ** 2 <= SINGULAR * diagonal[front.start : front.end]
            if info > 0 or pivots.any():
                at = info - 1 if info > 0 else int(np.argmax(pivots))
                raise NotPositive(int(self.order[front.start + at]))
            if u:
                below = dtrsm(1.0, own, below, side=1, lower=1, trans_a=1, overwrite_b=1)
                update = dsyrk(-1.0, below, beta=1.0, c=update, lower=1, overwrite_c=1)
                # Updates wait for their parents as halves, which is what takes the most memory besides the factors.
                updates[number], _ = dtrttp(update, uplo="L")
            blocks.append(
                (own.astype(kept, order="F", copy=False), below.astype(kept, order="F", copy=False))
            )
            del own, below, update
            if progress is not None:
                done += p**3 / 3.0 + p * p * u + p * u * u
                progress(done / self.forecast.operations)
        return blocks, tail

    def _entries(self, lower: sp.csc_array, front: Front, where: Index, own: Array, below: Array) -> None:
        """The entries of the matrix in the columns of a front; `where` then gives rows of the front."""
        p = front.end - front.start
        where[front.start : front.end] = np.arange(p)
        where[front.border] = p + np.arange(len(front.border))
        first, end = lower.indptr[front.start], lower.indptr[front.end]
        column = np.repeat(np.arange(p), np.diff(lower.indptr[front.start : front.end + 1]))
        row, value = where[lower.indices[first:end]], lower.data[first:end]
        inside = row < p
        own[row[inside], column[inside]] = value[inside]
        below[row[~inside] - p, column[~inside]] = value[~inside]


@entry
def extend(own: Reals2, below: Reals2, update: Reals2, at: Ints, child: Reals) -> int:
    """Add a child's update to the parent's front, lower halves alone; `at`: its rows there, ascending.

    All matrices transposed: LAPACK's columns are rows here, and those of the child's lower half follow each other.
    """
    p = own.shape[0]
    k = 0
    for j in range(len(at)):
        column = at[j]
        for i in range(j, len(at)):
            if column >= p:
                update[column - p, at[i] - p] += child[k]
            elif at[i] >= p:
                below[column, at[i] - p] += child[k]
            else:
                own[column, at[i]] += child[k]
            k += 1
    return 0


def _pivoted(matrix: Array) -> Any:
    import warnings

    size = np.sqrt(np.abs(matrix).max(axis=1))
    if not size.all():
        raise NotPositive(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", la.LinAlgWarning)
        try:
            return la.lu_factor(matrix / np.outer(size, size)), size
        except la.LinAlgWarning:
            raise NotPositive(-1) from None


class Factor:
    """Factors of a matrix; made by :meth:`Elimination.factorised`."""

    def __init__(self, elimination: Elimination, blocks: list[tuple[Array, Array]], tail: Any) -> None:
        self.elimination, self._blocks, self._tail = elimination, blocks, tail

    @property
    def unknowns(self) -> int:
        """N."""
        return len(self.elimination.order)

    @property
    def single(self) -> bool:
        """Whether they are kept in single precision."""
        return False

    def solve(self, right: Array) -> Array:
        """The solution for right-hand sides (N,) or (N, k)."""
        given = np.asarray(right, dtype=float)
        columns = given.reshape(self.unknowns, -1)
        found = np.empty_like(columns, order="C")
        for k in range(0, columns.shape[1], TOGETHER):
            found[:, k : k + TOGETHER] = self._solved(columns[:, k : k + TOGETHER])
        return found.reshape(given.shape)

    def _solved(self, columns: Array) -> Array:
        """The solution for a few columns."""
        return self._swept(columns, np.float64)

    def _swept(self, columns: Array, digits: type[np.floating[Any]]) -> Array:
        """One pass through the factors, forwards and backwards."""
        order = self.elimination.order
        x = np.ascontiguousarray(columns[order], dtype=digits)
        # One column alone is a vector: solving for it waits for memory, and a matrix would be copied first.
        x = x.ravel() if x.shape[1] == 1 else x
        for front, block in zip(self.elimination.fronts, self._blocks, strict=False):
            _forward(front, block, x)
        if self._tail is not None:
            lu, size = self._tail
            by = size if x.ndim == 1 else size[:, None]
            x[-len(size) :] = la.lu_solve(lu, x[-len(size) :] / by) / by
        for front, block in reversed(list(zip(self.elimination.fronts, self._blocks, strict=False))):
            _backward(front, block, x)
        found = np.empty_like(columns)
        found[order] = x.reshape(len(x), -1)
        return found

    def half(self, unknowns: Index) -> tuple[Index, Array]:
        """Rows y of L^-1 e for unit loads e at some unknowns, and their numbers: y^T y is that corner of the inverse.

        Only the fronts between those unknowns and the root are passed. Not for a matrix with last unknowns, nor for
        factors in single precision, `single`, whose halves are not refined.
        """
        assert self._tail is None
        assert not self.single
        at = self.elimination.rank[unknowns]
        fronts = self.elimination.fronts
        touched = np.zeros(len(fronts), dtype=bool)
        touched[np.searchsorted([front.end for front in fronts], at, side="right")] = True
        x = np.zeros((self.unknowns, len(at)))
        x[at, np.arange(len(at))] = 1.0
        rows = []
        for number, front in enumerate(fronts):
            touched[number] |= any(touched[child] for child in front.children)
            if touched[number]:
                _forward(front, self._blocks[number], x)
                rows.append(np.arange(front.start, front.end))
        used = np.concatenate(rows)
        return used, x[used]


class Refined(Factor):
    """Factors in single precision, which precondition generalised conjugate residuals in double precision.

    Source: Eisenstat, Elman, Schultz, SIAM J. Numer. Anal. 20 (1983) 345. Matrices made indefinite by last unknowns
    are solved like any other.
    """

    def __init__(
        self, elimination: Elimination, blocks: list[tuple[Array, Array]], tail: Any, matrix: Sparse
    ) -> None:
        super().__init__(elimination, blocks, tail)
        self._matrix = sp.csr_array(matrix)
        self._size = float(abs(self._matrix).sum(axis=1).max())

    @property
    def single(self) -> bool:
        """Whether they are kept in single precision."""
        return self._blocks[0][0].dtype == np.float32

    def _solved(self, columns: Array) -> Array:
        if not self.single:
            return super()._solved(columns)
        if columns.shape[1] > REFINED:
            parts = [columns[:, k : k + REFINED] for k in range(0, columns.shape[1], REFINED)]
            return np.hstack([self._solved(part) for part in parts])
        x, r = np.zeros_like(columns), columns
        tried: list[tuple[Array, Array]] = []
        last, done = np.zeros(columns.shape[1]), ~columns.any(axis=0)
        for _ in range(ROUNDS):
            # Single precision has little room for sizes far from one.
            unit = np.abs(r).max(axis=0)
            p = self._swept(r / np.where(unit > 0.0, unit, 1.0), np.float32) * unit
            q = np.asarray(self._matrix @ p)
            for before, image in tried:
                part = np.einsum("ij,ij->j", q, image)
                p -= part * before
                q -= part * image
            length = np.linalg.norm(q, axis=0)
            length[length == 0.0] = np.inf
            tried.append((p / length, q / length))
            change = np.einsum("ij,ij->j", r, tried[-1][1]) * tried[-1][0]
            x += change
            r = columns - self._matrix @ x
            size, moved = np.abs(x).max(axis=0), np.abs(change).max(axis=0)
            settled = np.abs(r).max(axis=0) <= ROUNDED * (self._size * size + np.abs(columns).max(axis=0))
            # Each round leaves the same share of the change that the one before left.
            done |= (moved * moved <= FINE * size * last) | (settled & (moved > 0.5 * last) & (last > 0.0))
            if done.all():
                return x
            last = moved
        self._blocks = []
        self.elimination.forecast_of(single=False).check_memory()
        self._blocks, self._tail = self.elimination.eliminated(self._matrix, np.float64, None)
        return super()._solved(columns)


def _times(block: Array, x: Array, transposed: bool = False) -> Array:
    """A product by the library that solves the triangles as well: threads of another one would wait for its threads."""
    # The routines of either precision are called alike.
    vector: Any = dgemv if x.itemsize == 8 else sgemv
    matrix: Any = dgemm if x.itemsize == 8 else sgemm
    # Transposed views are in Fortran's order.
    found: Array = (
        vector(1.0, block, x, trans=int(transposed))
        if x.ndim == 1
        else matrix(1.0, x.T, block, trans_b=int(not transposed)).T
    )
    return found


def _forward(front: Front, block: tuple[Array, Array], x: Array) -> None:
    own, below = block
    # The transposed view is in Fortran's order, so that LAPACK works in place.
    mine = x[front.start : front.end]
    if not mine.any():
        # Loads at few unknowns reach what lies above them alone.
        return
    if x.ndim == 1:
        (dtrsv if x.itemsize == 8 else strsv)(own, mine, lower=1, overwrite_x=1)
    else:
        (dtrsm if x.itemsize == 8 else strsm)(1.0, own, mine.T, side=1, lower=1, trans_a=1, overwrite_b=1)
    if len(front.border):
        x[front.border] -= _times(below, mine)


def _backward(front: Front, block: tuple[Array, Array], x: Array) -> None:
    own, below = block
    mine = x[front.start : front.end]
    if len(front.border):
        mine -= _times(below, x[front.border], transposed=True)
    if x.ndim == 1:
        (dtrsv if x.itemsize == 8 else strsv)(own, mine, lower=1, trans=1, overwrite_x=1)
    else:
        (dtrsm if x.itemsize == 8 else strsm)(1.0, own, mine.T, side=1, lower=1, trans_a=0, overwrite_b=1)
