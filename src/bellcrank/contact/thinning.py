"""Samples that crowd, thinned out: one stands for those around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bellcrank.contact.division import Samples

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CLOSEST = 0.6
"""Of samples over their distance."""
BLOCK = 8.0
"""Side of blocks over the least distance of samples."""
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
    alike = np.einsum("ij,ij->i", n[near[pairs[:, 0]]], n[near[pairs[:, 1]]]) > ALIKE
    kept[near] = _apart(pairs[alike], _ranks(points[near], samples.kinds[near], BLOCK * r))
    return kept


def _ranks(points: Floats, kinds: NDArray[np.int8], size: float) -> Ints:
    """Who comes first: by kind, then by blocks in no order, so that no long queue forms, then one after another."""
    block = np.floor((points - points.min(axis=0)) / size).astype(np.int64)
    mixed = (block @ np.array([73856093, 19349663, 83492791])) * 2654435761 % 2**31
    rank = np.empty(len(points), np.int64)
    rank[np.lexsort((np.arange(len(points)), mixed, kinds))] = np.arange(len(points))
    return rank


def _apart(pairs: Ints, rank: Ints) -> NDArray[np.bool_]:
    """Who stays so that no pair does: whoever comes before all neighbours that are left, until nobody is left."""
    kept = np.ones(len(rank), np.bool_)
    a, b = pairs[:, 0], pairs[:, 1]
    while len(a):
        least = rank.copy()
        np.minimum.at(least, a, rank[b])
        np.minimum.at(least, b, rank[a])
        stays = least == rank
        kept[b[stays[a]]] = False
        kept[a[stays[b]]] = False
        left = kept[a] & kept[b]
        a, b = a[left], b[left]
    return kept


__all__ = ["CLOSEST", "thinned"]
