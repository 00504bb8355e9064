"""How far points and nodes of a tree lie from a solid of revolution, convex or not, in compiled code.

Its profile is halved again and again; each piece lies in a frustum, which is convex, so that the plane at its point
nearest to a node bounds the distances of all samples of the node. The frusta of the last level stick out by no more
than the curvature of the profile times the square of their length over eight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.curving import POINT
from bellcrank.contact.feet import reach_to
from bellcrank.contact.meeting_layout import FOOT
from bellcrank.contact.tree_layout import BALL
from bellcrank.contact.units import part
from bellcrank.program.evaluate import evaluate

if TYPE_CHECKING:
    from bellcrank.contact.shapes.revolution import Revolution

Floats = NDArray[np.float64]

LEAVES = 1024
"""Frusta of the last level."""
BETWEEN = 8
"""Places of the profile that are looked at in each of them."""
COLUMNS = 4
"""Of frusta: where it begins and ends along the axis, and the radii there [m]."""
FINE = 0.25
"""Frusta shorter than so much of a node's size are not parted for it."""


def frusta(shape: Revolution) -> Floats:
    """Those of all levels (2 LEAVES - 1, COLUMNS): the parts of k are 2k + 1 and 2k + 2."""
    number = LEAVES * BETWEEN
    z = np.linspace(0.0, shape.length, number + 1)
    r, _, bent = (np.broadcast_to(row, z.shape) for row in evaluate(shape._program, z[None, :]))
    # Between the places that were looked at the profile may rise above their chord.
    over = 0.25 * float(np.abs(bent).max()) * (shape.length / number) ** 2
    found = np.empty((2 * LEAVES - 1, COLUMNS))
    level = 1
    while level <= LEAVES:
        share = number // level
        rows = slice(level - 1, 2 * level - 1)
        inner = np.arange(level)[:, None] * share + np.arange(share + 1)
        first, last = r[inner[:, :1]], r[inner[:, -1:]]
        rises = (r[inner] - first - (last - first) * np.linspace(0.0, 1.0, share + 1)).max(axis=1) + over
        found[rows, 0], found[rows, 1] = z[inner[:, 0]], z[inner[:, -1]]
        found[rows, 2], found[rows, 3] = first[:, 0] + rises, last[:, 0] + rises
        level *= 2
    return found


@part
def nearest_on(frusta: Floats, m: int, around: float, z: float) -> tuple[float, float, float]:
    """The point of a frustum nearest to one so far around and along the axis, and its distance; 0 inside."""
    z0 = frusta[m, 0]
    z1 = frusta[m, 1]
    r0 = frusta[m, 2]
    steep = (frusta[m, 3] - r0) / (z1 - z0)
    along = min(z1, max(z0, z))
    if around > r0 + steep * (along - z0):
        # The side: the foot on its line, between both rims.
        foot = z0 + (z - z0 + steep * (around - r0)) / (1.0 + steep * steep)
        along = min(z1, max(z0, foot))
        out = r0 + steep * (along - z0)
        return out, along, math.sqrt((around - out) * (around - out) + (z - along) * (z - along))
    return around, along, abs(z - along)


@part
def from_frusta(given: Floats, frusta: Floats, nodes: Floats, k: int, enough: float, pad: Floats) -> float:
    """No sample of a node k, whose centre is in pad[POINT], lies nearer to a solid of revolution than this.

    Where k < 0 it is that point alone, and the nearest point of the solid goes to pad[FOOT]. Nothing is told of depths.
    """
    x = pad[POINT]
    y = pad[POINT + 1]
    z = pad[POINT + 2]
    around = math.sqrt(x * x + y * y)
    inverse = 1.0 / max(1e-300, around)
    size = 0.0
    if k >= 0:
        size = nodes[k, BALL]
    least = enough
    # The frustum beside the point comes first, then all whose bounds are lower, without a stack.
    last = LEAVES - 1
    m = 0
    while m < last and not frusta[m, 1] - frusta[m, 0] < FINE * size:
        m = 2 * m + 1 if z < frusta[2 * m + 1, 1] else 2 * m + 2
    guess = m
    while m >= 0:
        out, along, far = nearest_on(frusta, m, around, z)
        bound = far - size
        if bound < least and k >= 0 and far > 0.0:
            steep = (around - out) / far
            bound = far - reach_to(
                given, nodes, k, steep * x * inverse, steep * y * inverse, (z - along) / far
            )
        lower = bound < least
        if lower and (m >= last or frusta[m, 1] - frusta[m, 0] < FINE * size):
            least = bound
            pad[FOOT] = out * x * inverse
            pad[FOOT + 1] = out * y * inverse
            pad[FOOT + 2] = along
            lower = False
        if guess >= 0:
            guess = -1
            m = 0
        elif lower:
            m = 2 * m + 1
        else:
            while m > 0 and m % 2 == 0:
                m = (m - 1) // 2
            m = m + 1 if m > 0 else -1
    return least


__all__ = ["COLUMNS", "from_frusta", "frusta"]
