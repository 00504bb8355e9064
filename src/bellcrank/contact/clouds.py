"""Whether points and normals, as they are given, can be those of a surface through them.

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
"""Samples looked at together: some MB."""
SIDEWAYS = 1e-9
"""Cosine between a normal and the way from a point inside that is rounding."""
HUGE = 1e8
"""Coordinates beyond this [m] are no mechanism's."""


def check_normals(points: Floats, normals: Floats, neighbours: Ints) -> None:
    """Raise where normals are not square to the surface through their neighbours, or contradict each other."""
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
            "the samples lie along lines, which define no surface between them; sample it all over"
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


def grid_normals(g: Floats, inside: Floats | None) -> Floats:
    """Rows x columns of a grid, or the other way where these point towards `inside`."""
    normals = np.cross(np.gradient(g, axis=0), np.gradient(g, axis=1)).reshape(-1, 3)
    size = np.linalg.norm(normals, axis=1)
    if not size.all():
        row, column = divmod(int(np.argmin(size)), g.shape[1])
        raise ModelError(
            f"the grid has no normal in row {row}, column {column}, where points coincide or lie in line "
            f"({int(np.count_nonzero(size == 0.0))} such in all); leave out doubled points, as those of a pole"
        )
    if inside is None:
        return normals
    out = g.reshape(-1, 3) - inside
    away = np.einsum("ij,ij->i", out, normals) / (size * np.maximum(np.linalg.norm(out, axis=1), 1e-300))
    if away.min() < -SIDEWAYS and away.max() > SIDEWAYS:
        raise ModelError(
            f"inside={tuple(inside.tolist())} is no point that the whole grid faces away from: "
            f"{int(np.count_nonzero(away < -SIDEWAYS))} of {len(away)} normals would be turned against the others; "
            "leave it out, and order rows and columns so that rows x columns is outwards"
        )
    if max(away.max(), -away.min()) <= SIDEWAYS:
        raise ModelError(
            f"inside={tuple(inside.tolist())} lies in the plane of the grid, so it is on no side of it"
        )
    return -normals if away.min() < -SIDEWAYS else normals


def check_given(points: Floats, normals: Floats, most: int) -> None:
    """Raise for points and normals that are none; most: Samples of a surface at most."""
    if points.ndim != 2 or points.shape[1] != 3 or normals.shape != points.shape:
        raise ModelError(
            f"samples are points and normals of shape (number, 3), not {points.shape} and {normals.shape}"
        )
    if len(points) > most:
        raise ModelError(f"a sampled surface takes at most {most} samples, not {len(points)}; thin it out")
    if len(points) < 12:
        raise ModelError(f"a sampled surface needs at least 12 samples, not {len(points)}")
    for name, rows in (("point", points), ("normal", normals)):
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            raise ModelError(
                f"sample {bad[0]} has a {name} that is not a number ({len(bad)} in all); leave it out"
            )
    farthest = float(np.abs(points).max())
    if farthest > HUGE:
        raise ModelError(
            f"the samples have coordinates up to {farthest:g} m; give them in metres, from an origin near to them"
        )
    zero = np.flatnonzero(~normals.any(axis=1))
    if len(zero):
        raise ModelError(f"sample {zero[0]} has the normal zero ({len(zero)} in all); give its direction")


__all__ = ["HUGE", "check_given", "check_normals", "grid_normals", "is_hollow"]
