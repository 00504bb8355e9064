"""Samples that crowd, thinned out: one stands for those around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bellcrank.contact.division import Samples

CLOSEST = 0.6
"""Of samples over their distance."""
ALIKE = 0.5
"""Cosine between normals of samples above which one may stand for the other: not those of both sides of a plate."""


def thinned(samples: Samples, spacing: float) -> NDArray[np.bool_]:
    """Which samples stay so that none is too close to another of its side: corners first, then edges, then the rest."""
    r = CLOSEST * spacing
    points, n, number = samples.points, samples.normals, len(samples.points)
    kept = np.ones(number, np.bool_)
    far = np.asarray(cKDTree(points).query(points, 2, workers=-1)[0])[:, 1]
    near = np.flatnonzero(far < r)
    if not len(near):
        return kept
    # Where they crowd by the hundred one a cell is left first: the diagonal of a cell is less than the distance.
    cell = np.floor((points[near] - points.min(axis=0)) / (0.5 * r)).astype(np.int64)
    axis = np.abs(n[near]).argmax(axis=1)
    way = np.where(n[near, axis] > 0.0, axis, axis + 3)
    order = np.lexsort((near, samples.kinds[near], way, *cell.T))
    same = (np.diff(cell[order], axis=0) == 0).all(axis=1) & (np.diff(way[order]) == 0)
    dropped = order[1:][same]
    kept[near[dropped]] = False
    near = near[np.isin(near, near[dropped], invert=True)] if len(dropped) else near
    pairs = cKDTree(points[near]).query_pairs(r, output_type="ndarray")
    a, b = near[pairs[:, 0]], near[pairs[:, 1]]
    alike = np.einsum("ij,ij->i", n[a], n[b]) > ALIKE
    a, b = a[alike], b[alike]
    rank = np.empty(number, np.int64)
    rank[np.lexsort((np.arange(number), samples.kinds))] = np.arange(number)
    # Whoever comes before all neighbours that are left stays, and they go; until nobody is left.
    while len(a):
        least = rank.copy()
        np.minimum.at(least, a, rank[b])
        np.minimum.at(least, b, rank[a])
        stays = least == rank
        gone = np.concatenate([b[stays[a]], a[stays[b]]])
        kept[gone] = False
        left = kept[a] & kept[b]
        a, b = a[left], b[left]
    return kept


__all__ = ["CLOSEST", "thinned"]
