"""How far points and nodes of a tree lie from a convex shape, in compiled code.

Of a convex f the tangent plane at any point y leaves the shape behind it: no point p of it has less than
n . (p - y) + f(y) / |g(y)| from the shape, n = g / |g|. The most that any y tells is the distance, and the foot of p
tells it. Newton's method goes there, (I + d K) dy = the way to the foot across n; wherever it ends, what it found is no
more than the distance. Planes at the foot of a node's centre are square to the way towards it, so
that bounds of nodes are looser than the truth by the square of their size, however far away they are.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.curving import POINT, VALUES, smooth_bending
from bellcrank.contact.meeting_layout import AWAY, BEND, FOOT, RADIUS, SLOPE
from bellcrank.contact.settling import tangents
from bellcrank.contact.smooth import DISTANCE, GAUGE, SURFACE
from bellcrank.contact.tree_heights import reach_towards
from bellcrank.contact.tree_layout import KIND
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part
from bellcrank.program.loops import call_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 24
"""Planes that are tried at most; five or so are enough."""
ON = 0.05
"""A point is on the surface, as far as the next step is concerned, within so much of the size of the shape."""
SHORTER = 0.25
"""Of a step that did not lead upwards: so much of it is tried next."""


@part
def reach_to(given: Floats, nodes: Floats, k: int, x: float, y: float, z: float) -> float:
    """How far the samples of a node reach against the other shape's outward unit normal (x, y, z), at most."""
    ax, ay, az = turned(given, x, y, z)
    return reach_towards(nodes, k, -ax, -ay, -az)  # type: ignore[no-any-return]


@part
def footed(header: Ints) -> bool:
    """Whether f of a shape is no distance, so that feet are to be looked for."""
    return header[KIND] > DISTANCE and header[KIND] != SURFACE  # type: ignore[no-any-return]


@part
def begin_feet(pad: Floats) -> None:
    """Forget the foot of the last point, from which the next is looked for."""
    pad[FOOT + 3] = -1.0


@part
def distance(header: Ints, given: Floats, enough: float, close: float, pad: Floats) -> float:
    """How far the point in pad[POINT] lies from a convex shape, at least; the plane that tells it goes to pad[AWAY].

    enough: No more than this is asked for. close: Nor what is missing of the distance by less.
    """
    px = pad[POINT]
    py = pad[POINT + 1]
    pz = pad[POINT + 2]
    if pad[FOOT + 3] < 0.0:
        # From where the ray to the middle meets a ball around the shape.
        share = min(1.0, given[RADIUS] / math.sqrt(max(1e-300, px * px + py * py + pz * pz)))
        pad[FOOT] = share * px
        pad[FOOT + 1] = share * py
        pad[FOOT + 2] = share * pz
        pad[FOOT + 3] = 1.0
    best = -1e300
    here = -1e300
    sx = 0.0
    sy = 0.0
    sz = 0.0
    stepped = False
    for _ in range(STEPS):
        yx = pad[FOOT] + sx
        yy = pad[FOOT + 1] + sy
        yz = pad[FOOT + 2] + sz
        pad[POINT] = yx
        pad[POINT + 1] = yy
        pad[POINT + 2] = yz
        call_at(header[SLOPE], pad, POINT, pad, VALUES)
        nx = pad[VALUES + 1]
        ny = pad[VALUES + 2]
        nz = pad[VALUES + 3]
        along = nx * yx + ny * yy + nz * yz
        inverse = 1.0 / math.sqrt(max(1e-300, nx * nx + ny * ny + nz * nz))
        nx *= inverse
        ny *= inverse
        nz *= inverse
        way = inverse * pad[VALUES]
        bound = nx * (px - yx) + ny * (py - yy) + nz * (pz - yz) + way
        if stepped and not bound > here:
            sx *= SHORTER
            sy *= SHORTER
            sz *= SHORTER
            if not sx * sx + sy * sy + sz * sz > close * close:
                return best
            continue
        gained = bound - here
        here = bound
        if bound > best:
            best = bound
            pad[AWAY] = nx
            pad[AWAY + 1] = ny
            pad[AWAY + 2] = nz
        # Onto the surface along the ray from the middle, which the shape holds.
        share = 1.0 - pad[VALUES] / max(1e-300, along)
        pad[FOOT] = share * yx
        pad[FOOT + 1] = share * yy
        pad[FOOT + 2] = share * yz
        if best >= enough or (stepped and gained <= close):
            return best
        stepped = header[KIND] == GAUGE or abs(way) < ON * given[RADIUS]
        sx = 0.0
        sy = 0.0
        sz = 0.0
        if not stepped:
            continue
        rx = px - pad[FOOT]
        ry = py - pad[FOOT + 1]
        rz = pz - pad[FOOT + 2]
        ux, uy, uz, vx, vy, vz = tangents(nx, ny, nz)
        b11, b12, b22 = smooth_bending(header[BEND], pad, FOOT, ux, uy, uz, vx, vy, vz)
        m1 = ux * rx + uy * ry + uz * rz
        m2 = vx * rx + vy * ry + vz * rz
        d = max(0.0, bound)
        c11 = 1.0 + d * b11
        c12 = d * b12
        c22 = 1.0 + d * b22
        det = c11 * c22 - c12 * c12
        if det > 0.0 and c11 > 0.0:
            k1 = (c22 * m1 - c12 * m2) / det
            k2 = (c11 * m2 - c12 * m1) / det
            m1 = k1
            m2 = k2
        sx = m1 * ux + m2 * vx
        sy = m1 * uy + m2 * vy
        sz = m1 * uz + m2 * vz
        # What the next plane would tell more: half the way across times the step, and what the pull left over.
        if 0.5 * (sx * rx + sy * ry + sz * rz) + way * way / given[RADIUS] <= close:
            return best
    return best


__all__ = ["begin_feet", "distance", "footed", "reach_to"]
