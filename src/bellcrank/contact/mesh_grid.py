"""The tables of a mesh field, from exact depths at the nodes of its two grids."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh_field import BAND, BLOCK, COARSE, GROUP, GROUPS, MARGIN, REACH, MeshField
from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Reals, Reals2, entry

Array = NDArray[np.float64]

SLACK = 0.5
"""How far spline and depth may differ at the end of the band [cells]: a kink is rounded by about a quarter."""
PER_BLOCK = BLOCK // COARSE
FAR = 2.0 * COARSE
"""Cells from the surface beyond which distances are interpolated between coarse nodes: none of it lies in a coarse cell
there, and the second derivative, 1 over the distance, leaves an error of at most 3/8 COARSE^2 / FAR, under a cell."""
DRAWN = 20_000
"""Points at which the slope of a field is measured: 5 ms."""


class Depth(Protocol):
    """Depths that a field is made of; all lengths in cells."""

    def on_lattice(
        self, points: Array, keys: NDArray[np.int64], shape: NDArray[np.int64], step: float, known: Array
    ) -> Array:
        """Depths at nodes of a lattice. keys: Their places in it. step: Between neighbours. known: Distances from the
        surface that are good enough, NaN where they are wanted."""
        ...


def blocks_along(extent: Array) -> NDArray[np.int64]:
    """Blocks along each axis for a mesh of this extent [cells]; a hair more than a whole number is rounding."""
    return np.ceil((extent + 2.0 * MARGIN) / BLOCK - 1e-6).astype(np.int64)


def tabulated(depth: Depth, extent: Array, centre: Array, spacing: float) -> MeshField:
    """The field of exact depths around the origin. extent: Of the mesh [cells]. centre, spacing: Of the grid [m]."""
    n = blocks_along(extent)
    corner = np.asarray(-0.5 * BLOCK * n, np.float64)
    coarse_nodes = [corner[k] + COARSE * np.arange(-2.0, PER_BLOCK * n[k] + 3) for k in range(3)]
    shape = np.array([len(c) for c in coarse_nodes])
    points = _points(*coarse_nodes)
    wanted = np.full(len(points), np.nan)
    sampled = depth.on_lattice(points, np.arange(len(points)), shape, float(COARSE), wanted).reshape(shape)
    table, chosen = _chosen(sampled, n)
    fine, jump = _blocks(depth, chosen, n, corner, np.abs(sampled))
    coarse = _coefficients(sampled, (0, 1, 2))
    nx, ny, nz = n.tolist()
    field = MeshField(
        Vector(*(centre + spacing * corner).tolist()),
        spacing,
        nx,
        ny,
        nz,
        table,
        fine.reshape(-1),
        np.ascontiguousarray(coarse).reshape(-1),
        _bends(fine, chosen, n),
        1.0,
        float(max(coarse.max(), fine.max(initial=0.0))),
        max(_jump(sampled, float(COARSE)), jump),
    )
    return field._replace(steepest=_steepest(field, chosen))


def _jump(depths: Array, spacing: float) -> float:
    """How much more than by its distance a spline of depths may change, for jumps between neighbours [cells].

    Between neighbours, along the last three axes, of which one is inside and one outside lies a surface, so their
    distances add up to no more than their own distance, up to rounding. What is more is a part of the depth that is not
    larger than the jump; the quasi-interpolation enlarges it at most by the sum of the sizes of its weights, 10/6 along
    each axis.
    """
    most = 0.0
    for axis in (-3, -2, -1):
        rows = np.moveaxis(depths, axis, 0)
        apart = np.where(rows[1:] * rows[:-1] < 0.0, np.abs(rows[1:] - rows[:-1]), 0.0)
        most = max(most, float(apart.max(initial=0.0)) - spacing)
    return (10.0 / 6.0) ** 3 * most if most > 1e-6 * spacing else 0.0


def _bends(fine: Array, chosen: NDArray[np.int64], n: NDArray[np.int64]) -> Array:
    """Upper bounds of the second derivatives of the fine spline within `REACH`, for each group of cells [1/cell].

    The derivatives of a spline lie in the convex hull of the differences of its coefficients. The largest eigenvalue of
    the Hessian is at most the largest sum of a diagonal entry and the sizes of the others in its row (Gershgorin).
    """
    from scipy.ndimage import maximum_filter

    rows = []
    for axis in (1, 2, 3):
        others = [k for k in (1, 2, 3) if k != axis]
        row = _largest(np.diff(fine, 2, axis=axis))
        for other in others:
            row += _largest(np.abs(np.diff(np.diff(fine, axis=axis), axis=other)))
        rows.append(row)
    groups = np.max(rows, axis=0)
    dense = np.zeros(GROUPS * n)
    inside = dense.reshape(n[0], GROUPS, n[1], GROUPS, n[2], GROUPS).transpose(0, 2, 4, 1, 3, 5)
    i, j, k = chosen.T
    inside[i, j, k] = np.maximum(groups, 0.0)
    # From anywhere in a group the reach ends within that many groups.
    wide = 2 * int(np.ceil(REACH / GROUP)) + 1
    dense[:] = maximum_filter(dense, wide, mode="nearest")
    return np.ascontiguousarray(inside[i, j, k]).reshape(-1)


def _largest(differences: Array) -> Array:
    """The largest of the differences that belong to each group of cells, (count, GROUPS, GROUPS, GROUPS)."""
    for axis in (1, 2, 3):
        # Along an axis on which it was differenced k times, a cell has 4 - k coefficients.
        count = GROUP + differences.shape[axis] - BLOCK
        rows = [differences.take(range(j, j + GROUP * GROUPS, GROUP), axis=axis) for j in range(count)]
        differences = np.max(rows, axis=0)
    return differences


@entry
def _evaluated(field: MeshField, points: Reals2, depths: Reals, slopes: Reals2) -> int:
    for i in range(len(depths)):
        depths[i], slope = field.depth_and_gradient(Vector(points[i, 0], points[i, 1], points[i, 2]))
        slopes[i, 0], slopes[i, 1], slopes[i, 2] = slope
    return 0


def evaluated(field: MeshField, points: Array) -> tuple[Array, Array]:
    """Depths [m], (n,), and gradients, (n, 3), at points [m], (n, 3), by compiled code."""
    given = np.ascontiguousarray(points, np.float64)
    depths, slopes = np.empty(len(given)), np.empty((len(given), 3))
    _evaluated(field, given, depths, slopes)
    return depths, slopes


def _steepest(field: MeshField, chosen: NDArray[np.int64]) -> float:
    """The largest gradient at points drawn within the fine blocks, and within and around the grid; a tenth is added."""
    random = np.random.default_rng(0)
    end = BLOCK * np.array([field.nx, field.ny, field.nz])
    fine = chosen[random.integers(len(chosen), size=DRAWN)] * BLOCK + random.uniform(0.0, BLOCK, (DRAWN, 3))
    everywhere = random.uniform(-0.3 * end, 1.3 * end, (DRAWN, 3))
    points = np.array(field.origin) + field.spacing * np.concatenate([fine, everywhere])
    return 1.1 * float(np.linalg.norm(evaluated(field, points)[1], axis=1).max())


def _points(x: Array, y: Array, z: Array) -> Array:
    return np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)


def _chosen(sampled: Array, n: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The table of blocks, and the indices (count, 3) of those that the band may pass through.

    Every point of a block lies within half the diagonal of a coarse cell from a coarse node, and depths change by no
    more than the distance.
    """
    near = np.abs(sampled[2:-2, 2:-2, 2:-2])
    for axis in range(3):
        near = np.moveaxis(near, axis, 0)
        last = len(near) - PER_BLOCK
        near = np.min([near[k : last + k : PER_BLOCK] for k in range(PER_BLOCK + 1)], axis=0)
        near = np.moveaxis(near, 0, axis)
    held = near <= BAND + SLACK + 0.5 * COARSE * 3.0**0.5
    table = np.full(int(np.prod(n)), -1, np.int64)
    table[held.reshape(-1)] = np.arange(int(held.sum()))
    return table, np.argwhere(held)


def _blocks(
    depth: Depth, chosen: NDArray[np.int64], n: NDArray[np.int64], corner: Array, coarse: Array
) -> tuple[Array, float]:
    """Coefficients of the chosen blocks (count, SIDE, SIDE, SIDE), and the largest jump of the depths [cells].

    Nodes that blocks share are computed once. coarse: Distances from the surface at the coarse nodes, which are
    interpolated beyond `FAR`.
    """
    nodes = BLOCK * n + 5
    steps = np.array([nodes[1] * nodes[2], nodes[2], 1])
    around = np.arange(BLOCK + 5)
    within = (around[:, None, None] * steps[0] + around[:, None] * steps[1] + around).reshape(-1)
    which = (chosen * BLOCK) @ steps
    needed = np.zeros(int(np.prod(nodes)), bool)
    for first in which:
        needed[first + within] = True
    keys = np.flatnonzero(needed)
    index = np.stack(np.unravel_index(keys, nodes.tolist()), axis=1) - 2
    found = np.empty(len(needed))
    from scipy.ndimage import map_coordinates

    known = map_coordinates(coarse, index.T / COARSE + 2.0, order=1, mode="nearest")
    known[known < FAR] = np.nan
    found[keys] = depth.on_lattice(corner + index, keys, nodes, 1.0, known)
    samples = found[which[:, None] + within].reshape(-1, BLOCK + 5, BLOCK + 5, BLOCK + 5)
    return np.ascontiguousarray(_coefficients(samples, (1, 2, 3))), _jump(samples, 1.0)


def _coefficients(samples: Array, axes: tuple[int, ...]) -> Array:
    """Quasi-interpolation, exact for cubic polynomials; the first and last node along each axis are used up."""
    for axis in axes:
        f = np.moveaxis(samples, axis, -1)
        samples = np.moveaxis((8.0 * f[..., 1:-1] - f[..., :-2] - f[..., 2:]) / 6.0, -1, axis)
    return samples
