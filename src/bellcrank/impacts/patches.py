"""Representative points of the patch in which two shapes of any kind may touch, in the loop language.

Sampled points of each surface lie in the depth field of the other one. Over a step, a point x with the gap g and the
normal n stays outside where g + n . (t + w x (x - c)) >= 0 for the displacement t and the turn w of one body against
the other: a half-space in six dimensions. What all of them allow is bounded by the points that touch first for some
displacement. So of all points that are near enough, those are kept that would touch first where the body moves along
one of a few displacements spread over all directions, and that in which it moves now. A flat side keeps its corners, a
round one its lowest point and those it rolls to, a body in a bowl its points all around. The choice is that of a linear
program, so it changes only where another point takes the place of one of these.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.closest import OF_DATA
from bellcrank.contact.field_energy import Pose
from bellcrank.contact.field_surface import NOTHING, Surface, vertices_of
from bellcrank.contact.shapes import Plane, Shape
from bellcrank.impacts.meeting import POSE, SPOT
from bellcrank.math.vectors import Matrix, Vector
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.loops import Reals, Reals2, Routine, compiled, gradient, reals
from bellcrank.program.program import Program

Array = NDArray[np.float64]

MOVED = 2 * POSE
"""Where among the inputs the turn and the displacement of both frames in a step begin."""
WITHIN = MOVED + 12
INPUTS = WITHIN + 1
"""Poses, then turn [rad] and displacement [m] of both frames in the step, then the gap up to which points count [m]."""
NOWHERE = 1e30
"""Gap of a point that is not there [m]."""
SAME = 1e-4
"""Part of the gap up to which points count by which the deepest point is deeper than all others, to be one besides
them: as much as the correction of positions leaves. So rounding does not decide which point of a flat side it is."""


FINE = 1e-3
"""Part of the turn that moves the rim of the smaller body by the gap up to which points count: a flat side with a
rounded edge may turn that far over the edge, but lies on the side; so both turns are looked at."""


def _directions() -> Array:
    """Displacements, then turns: both along and against three axes, and about both of the six axes of an icosahedron.

    Flat sides have the axes of their bodies, and two corners of a side along one of these would touch at once; so the
    directions stand askew to them. Seen along any normal, neighbours of the twelve turns are less than a right angle
    apart: a rectangle keeps all its corners.
    """
    from scipy.spatial.transform import Rotation

    golden = 0.5 * (1.0 + math.sqrt(5.0))
    corners = [(0.0, 1.0, golden), (1.0, golden, 0.0), (golden, 0.0, 1.0)]
    corners += [(0.0, 1.0, -golden), (1.0, -golden, 0.0), (-golden, 0.0, 1.0)]
    axes = np.array(corners) / math.hypot(1.0, golden)
    askew = Rotation.from_rotvec([0.3, 0.5, 0.2]).as_matrix()
    found = np.zeros((30, 6))
    found[:3, :3], found[3:6, :3] = askew, -askew
    found[6:12, 3:], found[12:18, 3:] = axes @ askew, -axes @ askew
    found[18:] = FINE * found[6:18]
    return found


DIRECTIONS = _directions()
MOTION, DEEPEST = len(DIRECTIONS), len(DIRECTIONS) + 1
POINTS = len(DIRECTIONS) + 2
"""Points at most: one for each direction, one for the present motion, and the deepest one."""
GAP, NORMAL, PLACE, ON_A, NUMBER, KEPT = 0, 1, 4, 7, 8, 9
"""Of a point that is kept: gap, normal, place, whether it is on a, and its number."""


class Test(NamedTuple):
    """What points are judged by, in the frame of a.

    centre: About which turns are [m]. within: Up to which gap they count [m]. arm: Of the smaller body [m].
    displacement, turn: Of b against a in the step.
    """

    centre: Vector
    within: float
    arm: float
    displacement: Vector
    turn: Vector


@compiled
def judge(
    test: Test,
    directions: Reals2,
    scores: Reals,
    kept: Reals,
    gap: float,
    n: Vector,
    y: Vector,
    on_a: float,
    k: int,
) -> None:
    """Keep a point wherever it would touch before those so far."""
    m = (y - test.centre).cross(n)
    a, b = test.within, test.within / test.arm
    for i in range(POINTS):
        score = gap
        if i < MOTION:
            score += a * (directions[i, 0] * n.x + directions[i, 1] * n.y + directions[i, 2] * n.z)
            score += b * (directions[i, 3] * m.x + directions[i, 4] * m.y + directions[i, 5] * m.z)
        elif i == MOTION:
            score += n.dot(test.displacement) + m.dot(test.turn)
        if score < scores[i]:
            scores[i] = score
            at = KEPT * i
            kept[at + GAP] = gap
            kept[at + NORMAL], kept[at + NORMAL + 1], kept[at + NORMAL + 2] = n.x, n.y, n.z
            kept[at + PLACE], kept[at + PLACE + 1], kept[at + PLACE + 2] = y.x, y.y, y.z
            kept[at + ON_A] = on_a
            kept[at + NUMBER] = k


@compiled
def search(
    surface: Surface,
    field: Any,
    pose: Pose,
    on_a: float,
    test: Test,
    directions: Reals2,
    scores: Reals,
    kept: Reals,
) -> None:
    """Judge the points of a surface that are near; its frame has the `pose` in that of the field."""
    back = pose.R.transposed
    i = 0
    while i < len(surface.nodes):
        node = surface.nodes[i]
        if field.bound(pose.p + pose.R @ node.centre, node.radius) < -test.within:
            i = node.skip
            continue
        for k in range(node.vertices):
            v = surface.vertices[node.first_vertex + k]
            x = pose.p + pose.R @ v
            if field.depth(x) > -test.within:
                d, g = gradient(field.depth, x)
                steep = g.length
                if steep > 0.0:
                    number = node.first_vertex + k
                    n = g / steep
                    if on_a > 0.0:
                        judge(test, directions, scores, kept, -d, back @ n, v, on_a, number)
                    else:
                        judge(test, directions, scores, kept, -d, -n, x, on_a, number)
        i += 1


def patch(
    x: Reals,
    a: Any,
    on_a: Surface,
    b: Any,
    on_b: Surface,
    directions: Reals2,
    found: Reals,
) -> float:
    """Points of a patch: POINTS times distance, normal, and points on a and b; then their numbers. Gives how many.

    x: See INPUTS. on_a, on_b: Points of the surfaces; none of a plane.
    """
    R_a = Matrix(Vector(x[0], x[1], x[2]), Vector(x[3], x[4], x[5]), Vector(x[6], x[7], x[8]))
    R_b = Matrix(Vector(x[12], x[13], x[14]), Vector(x[15], x[16], x[17]), Vector(x[18], x[19], x[20]))
    p_a = Vector(x[9], x[10], x[11])
    p_b = Vector(x[21], x[22], x[23])
    back = R_a.transposed
    pose = Pose(back @ (p_b - p_a), back @ R_b)
    there = Pose(-(pose.R.transposed @ pose.p), pose.R.transposed)
    # The smaller body is that which turns.
    small_a = len(on_a.nodes) > 0
    if len(on_a.nodes) > 0 and len(on_b.nodes) > 0:
        small_a = on_a.nodes[0].radius <= on_b.nodes[0].radius
    centre = pose.p
    arm = 1.0
    if small_a:
        centre = on_a.nodes[0].centre
        arm = on_a.nodes[0].radius
    else:
        centre = pose.p + pose.R @ on_b.nodes[0].centre
        arm = on_b.nodes[0].radius
    turn_a = back @ Vector(x[MOVED], x[MOVED + 1], x[MOVED + 2])
    move_a = back @ Vector(x[MOVED + 3], x[MOVED + 4], x[MOVED + 5])
    turn_b = back @ Vector(x[MOVED + 6], x[MOVED + 7], x[MOVED + 8])
    move_b = back @ Vector(x[MOVED + 9], x[MOVED + 10], x[MOVED + 11])
    moved = move_b + turn_b.cross(centre - pose.p) - move_a - turn_a.cross(centre)
    test = Test(centre, x[WITHIN], arm, moved, turn_b - turn_a)
    scores = reals(POINTS)
    kept = reals(POINTS * KEPT)
    for i in range(POINTS):
        scores[i] = NOWHERE
        kept[KEPT * i + NUMBER] = -1.0
    search(on_b, a, pose, 0.0, test, directions, scores, kept)
    search(on_a, b, there, 1.0, test, directions, scores, kept)
    count = 0
    least = NOWHERE
    for i in range(POINTS):
        at = KEPT * i
        out = SPOT * i
        found[out] = NOWHERE
        if kept[at + NUMBER] < 0.0:
            continue
        new = i < DEEPEST or kept[at + GAP] < least - SAME * test.within
        for j in range(i):
            other = KEPT * j
            if kept[other + NUMBER] == kept[at + NUMBER] and kept[other + ON_A] == kept[at + ON_A]:
                new = False
        if not new:
            continue
        gap = kept[at + GAP]
        least = min(least, gap)
        n = R_a @ Vector(kept[at + NORMAL], kept[at + NORMAL + 1], kept[at + NORMAL + 2])
        y = p_a + R_a @ Vector(kept[at + PLACE], kept[at + PLACE + 1], kept[at + PLACE + 2])
        other_side = y - n * gap
        if kept[at + ON_A] > 0.0:
            other_side = y + n * gap
        found[out] = gap
        found[out + 1], found[out + 2], found[out + 3] = n.x, n.y, n.z
        first = y if kept[at + ON_A] > 0.0 else other_side
        second = other_side if kept[at + ON_A] > 0.0 else y
        found[out + 4], found[out + 5], found[out + 6] = first.x, first.y, first.z
        found[out + 7], found[out + 8], found[out + 9] = second.x, second.y, second.z
        found[SPOT * POINTS + i] = 2.0 * kept[at + NUMBER] + kept[at + ON_A]
        count += 1
    return 1.0 * count


class Patch:
    """The patch of two shapes from the poses of both, compiled; shapes of the same classes share the code."""

    def __init__(self, a: Shape, b: Shape) -> None:
        tables = a.field, points_of(a, b), b.field, points_of(b, a), DIRECTIONS
        routine = Routine(patch, tables, rows=[INPUTS], more=(SPOT + 1) * POINTS)
        graph = Graph()
        x = [graph.input(f"x.{i}") for i in range(INPUTS)]
        _, numbers = routine(x)
        self.spots, self.inputs = POINTS, INPUTS
        self.program = Program.of(x, list(numbers), "patch of contact")
        self.kernel: Kernel = compile_program(self.program)


def points_of(shape: Shape, other: Shape) -> Surface:
    """The points of a surface that are looked for in the field of another; a plane has none."""
    if isinstance(shape, OF_DATA):
        return vertices_of(shape.points)
    triangles = shape.facets() if isinstance(other, Plane) else shape.triangles()
    if triangles is None:
        return NOTHING
    return vertices_of(triangles.vertices[np.unique(triangles.faces)])
