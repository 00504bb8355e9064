"""Whether the normals of points that know nothing but their neighbours can be those of a surface through them.

Across a thin body two samples that face opposite ways lie behind each other, across a slit in front of each other: with
the way d from one to the other, d . (m - n) is plus or minus twice the width. Within one sheet it vanishes, whatever
the curvature: there one of the normals is turned round. Where the plane through the neighbours of a sample is sure, its
normal is square to that, but for the turn at an edge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OPPOSED = -0.5
"""Cosine between normals below which they face opposite ways."""
SAME_SHEET = 1e-3
"""d . (m - n) over the distance below which two samples are in one sheet."""
AGAINST = 3
"""Neighbours within one sheet that face the other way, from which on a sample contradicts them."""
ASKEW = 0.5
"""Cosine between a normal and that of the plane through the neighbours below which it is no normal of the surface."""
SOME = 0.35
"""Share of such samples from which on that is no matter of edges and corners; of random normals it is one half."""
SURE = 0.1
"""Least spread of neighbours along their plane over the largest for this to be one."""
CHUNK = 50_000


def check_normals(points: Floats, normals: Floats, neighbours: Ints) -> None:
    """Raise where normals are not square to the surface that neighbours tell, or contradict each other."""
    against, askew, looked = list[Ints](), list[Ints](), 0
    for begin in range(0, len(points), CHUNK):
        rows = slice(begin, begin + CHUNK)
        d, n, m = points[neighbours[rows]] - points[rows, None], normals[rows], normals[neighbours[rows]]
        far = np.maximum(np.linalg.norm(d, axis=2), 1e-300)
        off = np.abs(np.einsum("ijk,ijk->ij", d, m - n[:, None]))
        opposed = (np.einsum("ijk,ik->ij", m, n) < OPPOSED) & (off < SAME_SHEET * far)
        against.append(begin + np.flatnonzero(np.count_nonzero(opposed, axis=1) >= AGAINST))
        d -= d.mean(axis=1, keepdims=True)
        values, vectors = np.linalg.eigh(np.einsum("ijk,ijl->ikl", d, d))
        sure = values[:, 1] > SURE * values[:, 2]
        cosine = np.abs(np.einsum("ik,ik->i", vectors[:, :, 0], n))
        askew.append(begin + np.flatnonzero(sure & (cosine < ASKEW)))
        looked += int(np.count_nonzero(sure))
    if looked == 0:
        raise ModelError(
            "the samples lie along lines, which tell of no surface between them; sample it all over"
        )
    wrong = np.concatenate(askew)
    if len(wrong) > SOME * max(looked, 1):
        raise ModelError(
            f"the normals of {len(wrong)} of {len(points)} samples, among them sample {wrong[0]}, are not square to "
            "the surface that their neighbours lie on; estimate them anew, or sample more closely"
        )
    turned = np.concatenate(against)
    if len(turned):
        raise ModelError(
            f"{len(turned)} samples, among them sample {turned[0]}, have neighbours on the same side of the body with "
            "normals that point the other way; turn them so that all point outwards"
        )


def is_hollow(points: Floats, normals: Floats, spacing: Floats) -> bool:
    """Whether the samples of a closed surface, so far apart each, face what is inside it."""
    away = points - points.mean(axis=0)
    return float(np.einsum("ij,ij,i->", away, normals, spacing**2)) < 0.0


__all__ = ["check_normals", "is_hollow"]
