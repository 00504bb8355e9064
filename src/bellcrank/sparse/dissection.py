"""Elimination order by nested dissection, from the places of the unknowns.

A cloud of vertices is halved along an axis; the fewest vertices that touch every edge between the halves separate
them (Koenig's theorem: a minimum vertex cover of a bipartite graph from a maximum matching). Separators are
eliminated after both halves, so fill stays inside each part. Source: George, SIAM J. Numer. Anal. 10 (1973) 345;
for vertex covers as separators, Pothen, Fan, ACM Trans. Math. Softw. 16 (1990) 303.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import maximum_bipartite_matching

from bellcrank.sparse.types import Array, Index, Sparse

LEAF = 120
"""Unknowns of a part that is not halved any further; dense blocks of this size run at the speed of large ones."""
WIDE = 0.5
"""An axis along which a part is at least this share of its longest extent is tried for the cut, too."""


@dataclass(frozen=True, eq=False)
class Part:
    """A node of the elimination tree: unknowns eliminated together, after those of its children."""

    unknowns: Index
    children: tuple[int, ...]


def dissected(matrix: Sparse, places: Array, last: Index) -> list[Part]:
    """Parts in the order of their elimination; each comes after its children.

    matrix: (N, N), its pattern symmetric. places: Of the unknowns, (N, d); unknowns at one place stay together.
    last: Unknowns that form the last part.
    """
    count = matrix.shape[0]
    first = np.ones(count, dtype=bool)
    first[last] = False
    inner = np.flatnonzero(first)
    parts: list[Part] = []
    roots: tuple[int, ...] = ()
    if len(inner):
        where, owner = np.unique(places[inner], axis=0, return_inverse=True)
        roots = _Halving(_vertex_graph(matrix, inner, owner.ravel()), where, inner, owner.ravel()).run(parts)
    if len(last):
        parts.append(Part(np.asarray(last, dtype=np.int64), roots))
    return parts


def _vertex_graph(matrix: Sparse, inner: Index, owner: Index) -> sp.csr_array:
    entries = sp.coo_array(sp.csr_array(matrix)[inner][:, inner])
    row, column = entries.coords
    rows, columns = owner[row], owner[column]
    off = rows != columns
    n = int(owner.max()) + 1
    graph = sp.csr_array(
        sp.coo_array((np.ones(int(off.sum()), dtype=np.int8), (rows[off], columns[off])), (n, n))
    )
    graph.data[:] = 1
    return graph


class _Halving:
    def __init__(self, graph: sp.csr_array, where: Array, inner: Index, owner: Index) -> None:
        self.graph, self.where = graph, where
        # Unknowns of each vertex, one vertex after another.
        order = np.argsort(owner, kind="stable")
        self.unknowns = inner[order]
        self.weight = np.bincount(owner, minlength=len(where))
        self.first = np.concatenate([[0], np.cumsum(self.weight)])

    def run(self, parts: list[Part]) -> tuple[int, ...]:
        return self._part(np.arange(len(self.where)), self.graph, parts)

    def _part(self, vertices: Index, graph: sp.csr_array, parts: list[Part]) -> tuple[int, ...]:
        if self.weight[vertices].sum() > LEAF and len(vertices) > 2:
            cover, left, right = self._cut(vertices, graph)
            below: tuple[int, ...] = ()
            for half in (left, right):
                if len(half):
                    below += self._part(vertices[half], graph[half][:, half], parts)
            if not len(cover):
                return below
            parts.append(Part(self._expanded(vertices[cover]), below))
        else:
            parts.append(Part(self._expanded(vertices), ()))
        return (len(parts) - 1,)

    def _cut(self, vertices: Index, graph: sp.csr_array) -> tuple[Index, Index, Index]:
        """Numbers within the part: separator, and both sides without it."""
        x = self.where[vertices]
        extent = np.ptp(x, axis=0)
        axes = np.flatnonzero(extent >= WIDE * extent.max())
        best: tuple[Index, NDArray[np.bool_]] | None = None
        size = np.inf
        for axis in axes:
            order = np.lexsort((*np.delete(x, axis, axis=1).T, x[:, axis]))
            behind = np.zeros(len(vertices), dtype=bool)
            weight = np.cumsum(self.weight[vertices][order])
            behind[order[weight > 0.5 * weight[-1]]] = True
            cover = _cover(graph, behind)
            taken = float(self.weight[vertices][cover].sum())
            if taken < size:
                best, size = (cover, behind), taken
        assert best is not None
        cover, behind = best
        rest = np.ones(len(vertices), dtype=bool)
        rest[cover] = False
        return cover, np.flatnonzero(rest & ~behind), np.flatnonzero(rest & behind)

    def _expanded(self, vertices: Index) -> Index:
        return np.concatenate([self.unknowns[self.first[v] : self.first[v + 1]] for v in vertices])


def _cover(graph: sp.csr_array, behind: NDArray[np.bool_]) -> Index:
    """The fewest vertices that touch every edge between the two sides."""
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    cut = ~behind[row] & behind[graph.indices]
    if not cut.any():
        return np.empty(0, dtype=np.int64)
    lefts, i = np.unique(row[cut], return_inverse=True)
    rights, j = np.unique(graph.indices[cut], return_inverse=True)
    shape = (len(lefts), len(rights))
    edges = sp.csr_array(sp.coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape))
    partner = maximum_bipartite_matching(edges, perm_type="row")
    mate = np.full(len(lefts), -1)
    mate[partner[partner >= 0]] = np.flatnonzero(partner >= 0)
    # From unmatched vertices on the left along alternating paths: the cover is what is left and not reached on
    # the left, and what is reached on the right.
    left, right = mate < 0, np.zeros(len(rights), dtype=bool)
    new = left.copy()
    while new.any():
        reached = np.zeros(len(rights), dtype=bool)
        reached[j[new[i]]] = True
        reached &= ~right
        right |= reached
        back = partner[reached]
        new = np.zeros(len(lefts), dtype=bool)
        new[back[back >= 0]] = True
        new &= ~left
        left |= new
    return np.concatenate([lefts[~left], rights[right]]).astype(np.int64)
