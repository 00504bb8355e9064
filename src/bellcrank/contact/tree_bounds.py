"""What pairs of nodes cannot fall below: distances of samples of one surface from another and heights above it.

Bounds come from the domes of both nodes (:mod:`tree_domes`), along directions in which they are parted most: between
both axes, along each of them, and towards the nearest points of their rims. They are looser than the truth by the
square of the size of the nodes, times curvatures.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import ACROSS, CONE, DEEP, WIDE_TOP
from bellcrank.contact.tree_heights import SQUARE, reaches
from bellcrank.contact.tree_layout import AXIS, BALL, BEND, DRUM, HALF, RADIUS, TOP
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part

Floats = NDArray[np.float64]


@part
def least(nodes_a: Floats, i: int, nodes_b: Floats, j: int, given: Floats, bound: float) -> float:
    """No sample of a's node measures less above the quadrics of b's; looks no closer where that reaches the bound.

    Along any direction m that makes sharp angles with all normals of b's node, a sample p at the height h above the
    point f of a quadric has m . (p - f) = h m . n; so what parts the nodes along m bounds heights also below zero.
    """
    x, y, z = turned(given, nodes_b[j, 0], nodes_b[j, 1], nodes_b[j, 2])
    dx = x + given[9] - nodes_a[i, 0]
    dy = y + given[10] - nodes_a[i, 1]
    dz = z + given[11] - nodes_a[i, 2]
    square = dx * dx + dy * dy + dz * dz
    ball_a = nodes_a[i, BALL]
    ball_b = nodes_b[j, BALL] + nodes_b[j, ACROSS]
    deep = given[DEEP]
    enough = max(bound, deep)
    far = ball_a + ball_b + enough
    if square >= far * far:
        return math.sqrt(square) - ball_a - ball_b  # type: ignore[no-any-return]
    # The axes in the frame of a.
    ax = nodes_a[i, AXIS]
    ay = nodes_a[i, AXIS + 1]
    az = nodes_a[i, AXIS + 2]
    bx, by, bz = turned(given, nodes_b[j, AXIS], nodes_b[j, AXIS + 1], nodes_b[j, AXIS + 2])
    # By the sum of the axes, half of which is the sine of half their angle from being opposed: exact where they are.
    x = ax + bx
    y = ay + by
    z = az + bz
    s = 0.25 * (x * x + y * y + z * z)
    facing = 2.0 * s - 1.0
    along_a = ax * dx + ay * dy + az * dz
    along_b = bx * dx + by * dy + bz * dz
    half_a = nodes_a[i, HALF]
    drum_a = nodes_a[i, DRUM]
    half_b = nodes_b[j, HALF] + nodes_b[j, ACROSS]
    drum_b = nodes_b[j, DRUM] + nodes_b[j, ACROSS]
    cone = nodes_b[j, CONE]
    c = math.sqrt(max(0.0, 1.0 - s))
    s = math.sqrt(s)
    sine = 2.0 * s * c
    if facing > -SQUARE:
        # Back to back, or so wide that they bend around each other: as drums.
        side_a = drum_a + min(ball_b, drum_b + sine * half_b)
        side_b = drum_b + min(ball_a, drum_a + sine * half_a)
        side_a = max(0.0, math.sqrt(max(0.0, square - along_a * along_a)) - side_a)
        side_b = max(0.0, math.sqrt(max(0.0, square - along_b * along_b)) - side_b)
        way_a = max(0.0, abs(along_a) - half_a - min(ball_b, abs(facing) * half_b + sine * drum_b))
        way_b = max(0.0, abs(along_b) - half_b - min(ball_a, abs(facing) * half_a + sine * drum_a))
        apart = math.sqrt(max(way_a * way_a + side_a * side_a, way_b * way_b + side_b * side_b))
        apart = max(apart, math.sqrt(square) - ball_a - ball_b)
        cone_a = nodes_a[i, CONE]
        if apart >= deep or facing > cone + cone_a + cone * cone_a:
            return apart  # type: ignore[no-any-return]
        return -deep  # type: ignore[no-any-return]
    top_a = nodes_a[i, TOP]
    bend_a = nodes_a[i, BEND]
    radius_a = nodes_a[i, RADIUS]
    top_b = nodes_b[j, WIDE_TOP]
    bend_b = nodes_b[j, BEND]
    radius_b = nodes_b[j, RADIUS]
    # Between both axes, where a tilt of both against each other costs least.
    tilt = s / c
    rim_a = min(drum_a, tilt * radius_a)
    rim_b = min(drum_b, tilt * radius_b)
    up = (along_a - along_b) / (2.0 * c)
    reach = top_a + rim_a * (tilt - 0.5 * bend_a * rim_a) + top_b + rim_b * (tilt - 0.5 * bend_b * rim_b)
    apart = up - c * reach
    height = -1e300
    # The least cosine of that direction with a normal of b.
    sharp = 1.0 - 0.5 * cone * cone
    least_cosine = c * sharp - s * cone
    if least_cosine > SQUARE:
        height = apart if apart >= 0.0 else apart / least_cosine
    if apart >= enough or height >= bound:
        return max(apart, height)  # type: ignore[no-any-return]
    # Tilted towards where the nearest rims of both are: m = n up + (d - n up) share, n = (A - B) / 2c.
    across = math.sqrt(max(0.0, square - up * up))
    rims = drum_a + drum_b
    if across > rims:
        share = 1.0 - rims / across
        stay = up * (1.0 - share) / (2.0 * c)
        inverse = 1.0 / math.sqrt(up * up + share * share * across * across)
        ca = inverse * (stay * (1.0 - facing) + share * along_a)
        cb = inverse * (stay * (1.0 - facing) - share * along_b)
        if ca > SQUARE and cb > SQUARE:
            way = inverse * (up * up + share * across * across)
            way -= reaches(top_a, bend_a, radius_a, drum_a, ca)
            way -= reaches(top_b, bend_b, radius_b, drum_b, cb)
            if way >= enough:
                return way  # type: ignore[no-any-return]
            apart = max(apart, way)
    # Apart along an axis and apart across it: both at once.
    side_a = drum_a + min(ball_b, drum_b + sine * half_b)
    side_b = drum_b + min(ball_a, drum_a + sine * half_a)
    side_a = max(0.0, math.sqrt(max(0.0, square - along_a * along_a)) - side_a)
    side_b = max(0.0, math.sqrt(max(0.0, square - along_b * along_b)) - side_b)
    tilt = -sine / facing
    rim_a = min(drum_a, tilt * radius_a)
    rim_b = min(drum_b, tilt * radius_b)
    way_a = along_a - top_a + facing * (top_b + rim_b * (tilt - 0.5 * bend_b * rim_b))
    way_b = -along_b - top_b + facing * (top_a + rim_a * (tilt - 0.5 * bend_a * rim_a))
    if sharp > SQUARE:
        height = max(height, way_b if way_b >= 0.0 else way_b / sharp)
    way_a = max(0.0, way_a)
    way_b = max(0.0, way_b)
    apart = max(apart, math.sqrt(max(way_a * way_a + side_a * side_a, way_b * way_b + side_b * side_b)))
    if height >= 0.0:
        return max(height, apart)  # type: ignore[no-any-return]
    if up < 0.0:
        # They look away from each other, or one is inside the other.
        apart = max(apart, math.sqrt(square) - ball_a - ball_b)
    height = max(height, -deep)
    # Beside the quadrics and deep inside only distances count.
    if side_b > -height * cone or apart >= deep:
        return apart  # type: ignore[no-any-return]
    return height  # type: ignore[no-any-return]


@part
def out_of_reach(nodes: Floats, j: int, given: Floats, bound: float, pad: Floats) -> bool:
    """Whether the point in the pad measures no less than the bound above all quadrics of a node."""
    dx = pad[0] - nodes[j, 0]
    dy = pad[1] - nodes[j, 1]
    dz = pad[2] - nodes[j, 2]
    up = dx * nodes[j, AXIS] + dy * nodes[j, AXIS + 1] + dz * nodes[j, AXIS + 2]
    above = up - nodes[j, WIDE_TOP]
    c = 1.0 - 0.5 * nodes[j, CONE] * nodes[j, CONE]
    if c > 0.0:
        height = above if above >= 0.0 else above / c
        if height >= bound:
            return True
    across = dx * dx + dy * dy + dz * dz - up * up
    drum = nodes[j, DRUM] + nodes[j, ACROSS] + max(bound, given[DEEP])
    return across >= drum * drum  # type: ignore[no-any-return]


__all__ = ["least", "out_of_reach"]
