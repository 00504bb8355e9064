"""Whether the closest points of two sampled surfaces have stayed where they were, in compiled code.

Two bodies that are convex have one place where they are closest, and Newton's method finds it. Of others two things are
found out after a search about patches around both points. Within them the gap is convex: the surfaces
curve towards each other and their normals stay opposed, so that it has one minimum there, and Newton's method finds it.
Outside, no pair of samples is closer than a clearance. No point moves by more than |c - c0| + |y| |R - R0| against the
other body, so until that has used up the clearance the minimum in the patches is the closest place of all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import (
    LEAVES_A,
    LEAVES_B,
    SIZE_B,
    SLACK,
    SLOPES,
    SPACING_A,
    SPACING_B,
    VISITED,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.refinement import FOUND, refined
from bellcrank.contact.settling import nearest_of
from bellcrank.contact.tree_bounds import least
from bellcrank.contact.tree_layout import AXIS, BALL
from bellcrank.contact.tree_pairs import measured, seen_from_b
from bellcrank.contact.tree_queue import queued, unqueued
from bellcrank.contact.turning import turned_back
from bellcrank.contact.units import part

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# known: whether there is anything, pose then (12), clearance, radius of the patches, points (6), points of the last
# time (6), how many searches to wait before patches are looked for again, and how many the last time; whether both
# bodies are convex; how often the last patches were of use
VALID = 0
POSE = 1
CLEAR = 13
PATCH = 14
MIDDLES = 15
LAST = 21
WAIT = 27
WAITS = 28
CONVEX = 29
USED = 30
KNOWN = 31
PAIRS = 1000
"""Pairs of nodes that are looked at for the clearance, at most."""
FINE = 0.08
"""Nodes smaller than so much of a patch are not parted for its curvature."""
COARSE = 0.2
"""The same for the clearance outside."""
TILT = 1.3
"""Angle [rad] that the normals of both patches may be tilted against each other, at most: less than square."""
TURN = 0.05
"""Of which bodies may turn [rad]."""
LARGEST = 0.7
"""Patches are no larger than so much of the smaller body."""
WORTH = 0.02
"""Clearance over the square of the patch and the size of the body that is worth having."""
SMALLEST = 2.5
"""Patches are no smaller than so many distances of samples."""
ONE_SIDED = 0.3
"""Mean of the neighbours of a sample over the farthest of them, beyond which it counts as one of a rim."""
OFTEN = 3.0
"""Queries without a search that patches are worth."""
MISS = 1e-9
"""What points may miss of being opposite each other, over the distance of samples."""
WAITS_MOST = 64.0
"""Searches to wait at most where there are no such patches."""


def rounded(surface: Sampled) -> bool:
    """Whether a surface is that of a convex body: closed, and curved outwards at every sample, without edges."""
    if surface.least_curvature[0] <= 0.0 or surface.sharp.any():
        return False
    # At a rim the neighbours of a sample lie on one side of it, the mean of half a disc at 4 / 3 pi of its radius.
    off = surface.points[surface.neighbours].mean(axis=1) - surface.points
    off -= np.einsum("ij,ij->i", off, surface.normals)[:, None] * surface.normals
    far = np.linalg.norm(surface.points[surface.neighbours] - surface.points[:, None], axis=2).max(axis=1)
    return bool((np.linalg.norm(off, axis=1) < ONE_SIDED * far).all())


@part
def bent(
    nodes: Floats,
    turns: Floats,
    leaves: int,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    patch: float,
    stack: Ints,
) -> tuple[float, float]:
    """The least curvature within a patch around a point, and how far normals there are from its own, at most."""
    curvature = 1e300
    tilt = 0.0
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        dx = nodes[k, 0] - x
        dy = nodes[k, 1] - y
        dz = nodes[k, 2] - z
        ball = nodes[k, BALL]
        reached = patch + ball
        if dx * dx + dy * dy + dz * dz > reached * reached:
            continue
        if k >= leaves - 1 or ball < FINE * patch:
            curvature = min(curvature, turns[k, 1])
            tx = nodes[k, AXIS] - nx
            ty = nodes[k, AXIS + 1] - ny
            tz = nodes[k, AXIS + 2] - nz
            tilt = max(tilt, math.sqrt(tx * tx + ty * ty + tz * tz) + turns[k, 0])
            if tilt > TILT:
                break
            continue
        stack[top] = 2 * k + 2
        stack[top + 1] = 2 * k + 1
        top += 2
    return curvature, tilt


@part
def convex(
    header: Ints,
    given: Floats,
    nodes_a: Floats,
    turns_a: Floats,
    nodes_b: Floats,
    turns_b: Floats,
    answer: Floats,
    patch: float,
    stack: Ints,
) -> bool:
    """Whether the gap between two patches is convex, also after a turn by TURN.

    The distance from b bends along a by cos K_a + K_b / (1 + d K_b), the latter times the cosine squared if positive.
    """
    nx = answer[1]
    ny = answer[2]
    nz = answer[3]
    mx, my, mz = turned_back(given, nx, ny, nz)
    of_a, tilt_a = bent(
        nodes_a, turns_a, header[LEAVES_A], answer[4], answer[5], answer[6], nx, ny, nz, patch, stack
    )
    of_b, tilt_b = bent(
        nodes_b, turns_b, header[LEAVES_B], answer[7], answer[8], answer[9], -mx, -my, -mz, patch, stack
    )
    # Chords of angles, which are shorter by less than a twentieth each.
    angle = 1.05 * (tilt_a + tilt_b) + TURN
    if angle > TILT:
        return False
    square = angle * angle
    cosine = 1.0 - square * (0.5 - square * (1.0 / 24.0 - square / 720.0))
    d = max(0.0, answer[0]) + patch
    if not 1.0 + d * of_b > 0.0:
        return False
    seen = of_b / (1.0 + d * of_b)
    total = cosine * of_a if of_a > 0.0 else of_a
    total += cosine * cosine * seen if seen > 0.0 else seen
    return total > 0.0  # type: ignore[no-any-return]


@part
def far_from(rows: Floats, k: int, answer: Floats, at: int) -> float:
    """How far a node's centre or a sample lies from a point of the answer."""
    dx = rows[k, 0] - answer[at]
    dy = rows[k, 1] - answer[at + 1]
    dz = rows[k, 2] - answer[at + 2]
    return math.sqrt(dx * dx + dy * dy + dz * dz)


@part
def outside(
    header: Ints, given: Floats, table_a: Floats, nodes_a: Floats, table_b: Floats, nodes_b: Floats,
    answer: Floats, patch: float, pad: Floats, pairs: Ints, bounds: Floats,
) -> float:  # fmt: skip
    """No sample of a comes lower above b than this, but where both lie in the patches."""
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    width_a, width_b = header[WIDTH_A], header[WIDTH_B]
    lowest = max(0.0, answer[0]) + patch
    fine = COARSE * patch
    waiting = 0
    i = 0
    j = 0
    here = -1e300
    for _ in range(PAIRS):
        within_a = far_from(nodes_a, i, answer, 4) + nodes_a[i, BALL] < patch
        within_b = far_from(nodes_b, j, answer, 7) + nodes_b[j, BALL] < patch
        leaf_a = i >= leaves_a - 1
        leaf_b = j >= leaves_b - 1
        if not (within_a and within_b) and leaf_a and leaf_b:
            a = (i - (leaves_a - 1)) * width_a
            b = (j - (leaves_b - 1)) * width_b
            for p in range(a, a + width_a):
                seen_from_b(given, table_a, p, pad)
                in_a = far_from(table_a, p, answer, 4) < patch
                for q in range(b, b + width_b):
                    if not in_a or not far_from(table_b, q, answer, 7) < patch:
                        lowest = min(lowest, measured(table_a, p, table_b, q, given, pad))
        elif not (within_a and within_b):
            fine_a = leaf_a or nodes_a[i, BALL] < fine
            fine_b = leaf_b or nodes_b[j, BALL] < fine
            if fine_a and fine_b and not leaf_a and not leaf_b:
                return here
            open_a = fine_b or (not fine_a and nodes_a[i, BALL] >= nodes_b[j, BALL])
            if leaf_a:
                open_a = False
            if leaf_b:
                open_a = True
            for side in range(1, 3):
                p = 2 * i + side if open_a else i
                q = j if open_a else 2 * j + side
                bound = max(here, least(nodes_a, p, nodes_b, q, given, lowest))
                if bound < lowest:
                    queued(pairs, bounds, waiting, p, q, bound, True)
                    waiting += 1
        if waiting == 0 or bounds[0] >= lowest:
            return lowest  # type: ignore[no-any-return]
        here = bounds[0]
        i = pairs[0]
        j = pairs[1]
        unqueued(pairs, bounds, waiting)
        waiting -= 1
    return here


@part
def cleared(
    header: Ints, given: Floats, table_a: Floats, nodes_a: Floats, turns_a: Floats, table_b: Floats,
    nodes_b: Floats, turns_b: Floats, pad: Floats, stack: Ints, bounds: Floats, answer: Floats, known: Floats,
) -> None:  # fmt: skip
    """Patches around the closest points and the clearance outside, where there are such patches."""
    for k in range(6):
        known[LAST + k] = answer[4 + k]
    if known[CONVEX] > 0.5:
        known[VALID] = 1.0
        return
    if known[WAIT] > 0.0:
        known[WAIT] -= 1.0
        return
    patch = LARGEST * min(nodes_a[0, BALL], nodes_b[0, BALL])
    smallest = SMALLEST * max(given[SPACING_A], given[SPACING_B])
    if known[USED] < OFTEN:
        # The bodies move too fast for it.
        patch = 0.0
    while patch > smallest and not convex(
        header, given, nodes_a, turns_a, nodes_b, turns_b, answer, patch, stack
    ):
        patch *= 0.7
    clear = -1e300
    if patch > smallest:
        clear = outside(header, given, table_a, nodes_a, table_b, nodes_b, answer, patch, pad, stack, bounds)
    if not clear - given[SLACK] > max(0.0, answer[0]) + WORTH * patch * patch / nodes_a[0, BALL]:
        known[WAITS] = min(WAITS_MOST, 2.0 * known[WAITS] + 1.0)
        known[WAIT] = known[WAITS]
        known[USED] = OFTEN
        return
    if known[USED] > OFTEN:
        known[WAITS] = 0.0
    known[USED] = 0.0
    known[VALID] = 1.0
    known[CLEAR] = clear
    known[PATCH] = patch
    for k in range(12):
        known[POSE + k] = given[k]
    for k in range(6):
        known[MIDDLES + k] = answer[4 + k]


@part
def room_left(given: Floats, known: Floats) -> float:
    """How close places outside the patches may have come, at least; nothing where the bodies turned too far."""
    turned = 0.0
    for k in range(9):
        turned += (given[k] - known[POSE + k]) * (given[k] - known[POSE + k])
    turned = math.sqrt(0.5 * turned)
    if 1.05 * turned > TURN:
        return 0.0
    moved = 0.0
    for k in range(9, 12):
        moved += (given[k] - known[POSE + k]) * (given[k] - known[POSE + k])
    return known[CLEAR] - given[SLACK] - math.sqrt(moved) - given[SIZE_B] * turned  # type: ignore[no-any-return]


@part
def left_patches(given: Floats, answer: Floats, known: Floats) -> bool:
    """Whether a point has come to the rim of its patch."""
    within = known[PATCH] - max(given[SPACING_A], given[SPACING_B])
    for m in range(2):
        square = 0.0
        for k in range(3):
            off = answer[4 + 3 * m + k] - known[MIDDLES + 3 * m + k]
            square += off * off
        if square > within * within:
            return True
    return False


@part
def stayed(
    header: Ints, found: Ints, given: Floats, table_a: Floats, nodes_a: Floats, table_b: Floats, nodes_b: Floats,
    pad: Floats, rows: Ints, answer: Floats, known: Floats,
) -> bool:  # fmt: skip
    """Whether the closest place is still that of the last time; it is then refined and stands in the answer."""
    if known[VALID] < 0.5:
        return False
    room = 1e300
    if known[CONVEX] < 0.5:
        room = room_left(given, known)
    if not room > 0.0:
        return False
    for k in range(3):
        pad[SLOPES + 4 + k] = known[LAST + k]
        pad[SLOPES + 12 + k] = known[LAST + 3 + k]
    how = refined(
        given, table_a, nodes_a, header[LEAVES_A], header[WIDTH_A], given[SPACING_A],
        table_b, nodes_b, header[LEAVES_B], header[WIDTH_B], given[SPACING_B],
        0, 0, 0, 0, 0, 2.0, 0.0, 0.0, 0.0, pad, rows[0], rows[1], rows[2], rows[3], answer, 0, 1,
    )  # fmt: skip
    # Of convex bodies that overlap, another place may be deeper.
    if how != FOUND or not max(0.0, answer[0]) < room or not answer[0] > -given[SLACK]:
        return False
    miss = 0.0
    for k in range(3):
        off = given[3 * k] * answer[7] + given[3 * k + 1] * answer[8] + given[3 * k + 2] * answer[9]
        off += given[9 + k] - answer[4 + k] - answer[0] * answer[1 + k]
        miss += off * off
    if math.sqrt(miss) > MISS * given[SPACING_A] or (
        known[CONVEX] < 0.5 and left_patches(given, answer, known)
    ):
        return False
    counts = rows[3]
    found[0] = nearest_of(table_a, rows[1], counts[0], answer[4], answer[5], answer[6])
    found[1] = nearest_of(table_b, rows[2], counts[1], answer[7], answer[8], answer[9])
    seen_from_b(given, table_a, found[0], pad)
    answer[10] = 1.0
    answer[11] = measured(table_a, found[0], table_b, found[1], given, pad)
    for k in range(6):
        known[LAST + k] = answer[4 + k]
    known[USED] += 1.0
    header[VISITED] = 0
    return True


__all__ = ["CONVEX", "KNOWN", "OFTEN", "USED", "VALID", "cleared", "rounded", "stayed"]
