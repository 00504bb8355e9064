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
CLOSE = 4
"""Samples that one that goes is compared with."""
BLOCK = 8.0
"""Side of blocks over the least distance of samples."""
ALIKE = 0.5
"""Cosine between normals of samples above which one may stand for the other: not those of both sides of a plate."""


def thinned(samples: Samples, spacing: float) -> NDArray[np.bool_]:
    """Which samples stay so that none is too close to another of its side: corners first, then edges, then the rest.

    All that go have one that stays as close as that.
    """
    r = CLOSEST * spacing
    points = samples.points
    kept = np.ones(len(points), np.bool_)
    near = np.flatnonzero(np.asarray(cKDTree(points).query(points, 2, workers=-1)[0])[:, 1] < r)
    while len(near):
        kept[near] = False
        some = _one_a_cell(samples, near, 0.5 * r)
        pairs = cKDTree(points[some]).query_pairs(r, output_type="ndarray")
        pairs = pairs[_alike(samples, some[pairs[:, 0]], some[pairs[:, 1]])]
        kept[some[_apart(pairs, _ranks(points[some], samples.kinds[some], BLOCK * r))]] = True
        gone = near[~kept[near]]
        stays = np.flatnonzero(kept)
        nearest = np.arange(1, min(CLOSE, len(stays)) + 1)
        far, which = cKDTree(points[stays]).query(points[gone], nearest, workers=-1)
        held = (far < r) & np.stack([_alike(samples, gone, stays[k]) for k in np.asarray(which).T], axis=1)
        near = gone[~held.any(axis=1)]
    return kept


def _alike(samples: Samples, a: Ints, b: Ints) -> NDArray[np.bool_]:
    n = samples.normals
    return np.asarray(np.einsum("ij,ij->i", n[a], n[b]) > ALIKE)


def _one_a_cell(samples: Samples, near: Ints, size: float) -> Ints:
    """Of samples in cells, whose diagonals are less than their distance, one for each way they face, the best kind."""
    points, n = samples.points[near], samples.normals[near]
    cell = np.floor((points - points.min(axis=0)) / size).astype(np.int64)
    axis = np.abs(n).argmax(axis=1)
    way = np.where(n[np.arange(len(n)), axis] > 0.0, axis, axis + 3)
    order = np.lexsort((near, samples.kinds[near], way, *cell.T))
    same = (np.diff(cell[order], axis=0) == 0).all(axis=1) & (np.diff(way[order]) == 0)
    return np.sort(near[order[np.concatenate([[True], ~same])]])


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
