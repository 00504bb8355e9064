"""Triangle meshes as they come from CAD, made into samples that lie evenly.

Vertices alone tell a surface only where they lie evenly: a box has eight of them, a cylinder none between its rims, and
a sphere in degrees of latitude crowds them at its poles. There triangles are divided and samples thinned out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bellcrank.contact.creases import FLAT, SMOOTH, Creases
from bellcrank.contact.division import TooMany, divided
from bellcrank.contact.rim_loops import covered, of_edges
from bellcrank.contact.thinning import CLOSEST, thinned
from bellcrank.errors import ModelError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ACROSS = 39.2
"""Samples along the root of the area, at least, where a mesh is made even without a word about their distance."""
BENDS = 0.4
"""Their distance over the radius of curvature that all but SELDOM of the surface exceed."""
SELDOM = 0.05
FINEST = 200_000
"""About so many of them at most, then."""
COARSEST = 0.15
"""Distance of samples over the root of the area beyond which no shape is left."""
LEAST = 12
GAPS = 1.3
"""Longest edge of a triangle over the distance of the sixth neighbour of its vertices beyond which samples miss it."""
SHARE = 1e-3
"""Of the area that they may miss."""
DENSE = 2.3
"""Samples times the square of their distance over the area, at most, as triangles are divided."""


def resampled(
    mesh: Creases, spacing: float | None, most: int, crowded: int
) -> tuple[Floats, Floats, list[str], tuple[Ints, ...], float] | None:
    """Points, normals, notes, rims and spacing of a clean mesh made even, or None where it is so already.

    spacing: Of the samples [m]; without it one that the mesh itself tells. most: Samples at most. crowded: What may
    lie around one point.
    """
    if spacing is None:
        if _even(mesh, crowded):
            return None
        h = _sensible(mesh)
    else:
        h = _checked(mesh, spacing)
    area = float(mesh.areas.sum())
    enough = _rounded_up(math.sqrt(DENSE * area / most))
    refused = ModelError(
        f"samples {h:.3g} m apart may be more than {most} on this mesh, which is the most; spacing={enough:g} would do"
    )
    if DENSE * area > 2.0 * most * h * h:
        raise refused
    try:
        samples = divided(mesh, h, 2 * most)
    except TooMany:
        raise ModelError(
            f"the triangles of this mesh are so narrow that samples {h:.3g} m apart along them are more than "
            f"{2 * most}; mesh it anew with wider ones, or give a larger spacing="
        ) from None
    stays = thinned(samples, h)
    if np.count_nonzero(stays) > most:
        raise refused
    triangles, parts = samples.divided
    slivers, laid = samples.laid
    if triangles == slivers == 0 and stays.all():
        return None
    notes = []
    if triangles:
        notes.append(
            f"divided {triangles} triangles into {parts}, {1e3 * h:.3g} mm apart, so that samples lie evenly"
        )
    if slivers:
        notes.append(
            f"laid {laid} samples, {1e3 * h:.3g} mm apart, over flat sides of {slivers} long and narrow triangles"
        )
    if not stays.all():
        notes.append(
            f"thinned out {np.count_nonzero(~stays)} of {len(stays)} samples, which were closer than "
            f"{1e3 * CLOSEST * h:.3g} mm, so that they lie evenly"
        )
    loops, small = of_edges(samples.rim, stays)
    if small:
        notes.append(covered(small))
    place = np.cumsum(stays) - 1
    return samples.points[stays], samples.normals[stays], notes, tuple(place[loop] for loop in loops), h


def _checked(mesh: Creases, spacing: float) -> float:
    if not (math.isfinite(spacing) and spacing > 0.0):
        raise ModelError(f"the spacing of samples must be positive [m], not {spacing!r}")
    coarsest = COARSEST * math.sqrt(float(mesh.areas.sum()))
    if spacing > coarsest:
        raise ModelError(
            f"samples {spacing:g} m apart leave nothing of the shape of this mesh; at most spacing={coarsest:.2g} does"
        )
    return float(spacing)


def _sensible(mesh: Creases) -> float:
    """A distance of samples from a mesh: that of its vertices, but no coarser than its size and curvature ask for."""
    area = mesh.areas
    whole = float(area.sum())
    own = float((mesh.lengths.max(axis=1) * area).sum()) / whole
    turn, twin = mesh.turns, np.maximum(mesh.twins, 0)
    bent = (mesh.twins >= 0) & (turn > FLAT) & ~mesh.crease.ravel()
    apart = (2.0 / 3.0) * (np.repeat(area, 3) + area[twin // 3]) / mesh.lengths.ravel()
    curved = np.where(bent, turn / apart, 0.0)
    order = np.argsort(-curved, kind="stable")
    share = np.cumsum(np.repeat(area, 3)[order]) / (3.0 * whole)
    most = float(curved[order[int(np.searchsorted(share, SELDOM))]])
    size = math.sqrt(whole)
    h = min(size / ACROSS, own, BENDS / most if most > 0.0 else math.inf)
    return max(h, size / math.sqrt(FINEST))


def _even(mesh: Creases, crowded: int) -> bool:
    """Whether the vertices of a mesh lie evenly: enough of them inside its sides, no gaps, and nowhere too many."""
    from bellcrank.contact.sampled import MARGIN, REACH

    number = len(mesh.points)
    if number < LEAST:
        return False
    inside = (mesh.kinds[0][mesh.faces] == SMOOTH).all(axis=1)
    whole = float(mesh.areas.sum())
    if float(mesh.areas[inside].sum()) < 0.5 * whole:
        return False
    tree = cKDTree(mesh.points)
    sixth = np.asarray(tree.query(mesh.points, 7, workers=-1)[0])[:, 6]
    gaps = mesh.lengths.max(axis=1) > GAPS * sixth[mesh.faces].max(axis=1)
    if float(mesh.areas[gaps].sum()) > SHARE * whole:
        return False
    radii = REACH * sixth + MARGIN * float(sixth.min())
    return bool(
        tree.query_ball_point(mesh.points, radii, return_length=True, workers=-1).max() + 4 <= crowded
    )


def _rounded_up(value: float) -> float:
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / step) * step


__all__ = ["resampled"]
