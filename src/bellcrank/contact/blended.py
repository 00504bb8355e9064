"""The curvature of the surface through samples as it is, by second derivatives of the mean of its quadrics.

Newton's method for contact points gets on with the curvature of the nearest quadric. With that of the surface itself
its last steps converge quadratically, and derivatives traced through them are those of the contact point: what a step
starts from does not matter to first order.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.contact.partners import Symmetric
from bellcrank.contact.shapes import TINY
from bellcrank.math.tuples import Vec, dot, sub
from bellcrank.program.functions import maximum, sqrt
from bellcrank.program.trace import Scalar

NEAR = 1e-10
"""Square of a distance over the radius of its weight that counts as on the sample."""
FAR = 1e-12
"""Weight of the nearest quadric where no other weight reaches."""


def quadric(row: tuple[Scalar, ...], x: Vec) -> tuple[Vec, Vec, Vec, Scalar, Scalar, Scalar, Scalar]:
    """Of a sample and its quadric at a point: way to it d, normal n, H d, height q, R^-2, and of its weight, with
    s = |d|^2 / R^2, 1 - s or 0 and 1 / s."""
    d = sub(x, (row[0], row[1], row[2]))
    n: Vec = (row[3], row[4], row[5])
    xx, yy, zz, xy, xz, yz = row[6:12]
    Hd: Vec = (
        xx * d[0] + xy * d[1] + xz * d[2],
        xy * d[0] + yy * d[1] + yz * d[2],
        xz * d[0] + yz * d[1] + zz * d[2],
    )
    q = dot(n, d) - 0.5 * dot(d, Hd)
    narrow = 1.0 / (row[12] * row[12])
    s = dot(d, d) * narrow
    return d, n, Hd, q, narrow, maximum(1.0 - s, 0.0), 1.0 / (s + NEAR)


def blended_curvature(
    rows: Sequence[tuple[Scalar, ...]], x: Vec, f: Scalar, slope: Vec, e1: Vec, e2: Vec
) -> Symmetric:
    """Along two tangents at right angles to each other, at a point x of the surface.

    rows: As of :class:`bellcrank.contact.local.Local`.

    With f = sum w q / sum w, and its slope, the second derivative is
        sum (w q'' + w' (q' - f') + (q' - f') w' + (q - f) w'') / sum w.
    """
    total: Scalar = 0.0
    s11: Scalar = 0.0
    s12: Scalar = 0.0
    s22: Scalar = 0.0
    for k, row in enumerate(rows):
        d, n, Hd, q, narrow, left, inverse = quadric(row, x)
        xx, yy, zz, xy, xz, yz = row[6:12]
        shrunk = left * inverse
        w = left * left * shrunk
        # w' = steep d, w'' = steep I + curl d d'.
        steep = -(2.0 * narrow) * (left * shrunk * (3.0 + shrunk))
        curl = (8.0 * narrow * narrow) * (shrunk * (3.0 + shrunk * (3.0 + shrunk)))
        own = w + FAR if k == 0 else w
        d1, d2 = dot(e1, d), dot(e2, d)
        away = sub(sub(n, Hd), slope)
        g1, g2 = steep * dot(e1, away), steep * dot(e2, away)
        higher = q - f
        h11 = xx * e1[0] * e1[0] + yy * e1[1] * e1[1] + zz * e1[2] * e1[2]
        h11 = h11 + 2.0 * (xy * e1[0] * e1[1] + xz * e1[0] * e1[2] + yz * e1[1] * e1[2])
        h22 = xx * e2[0] * e2[0] + yy * e2[1] * e2[1] + zz * e2[2] * e2[2]
        h22 = h22 + 2.0 * (xy * e2[0] * e2[1] + xz * e2[0] * e2[2] + yz * e2[1] * e2[2])
        h12 = xx * e1[0] * e2[0] + yy * e1[1] * e2[1] + zz * e1[2] * e2[2]
        h12 = h12 + xy * (e1[0] * e2[1] + e1[1] * e2[0]) + xz * (e1[0] * e2[2] + e1[2] * e2[0])
        h12 = h12 + yz * (e1[1] * e2[2] + e1[2] * e2[1])
        total = total + own
        s11 = s11 + (2.0 * d1 * g1 + higher * (steep + curl * d1 * d1) - own * h11)
        s12 = s12 + (d1 * g2 + d2 * g1 + higher * (curl * d1 * d2) - own * h12)
        s22 = s22 + (2.0 * d2 * g2 + higher * (steep + curl * d2 * d2) - own * h22)
    scale = 1.0 / (total * sqrt(maximum(dot(slope, slope), TINY)))
    return scale * s11, scale * s12, scale * s22


__all__ = ["FAR", "NEAR", "blended_curvature", "quadric"]
