"""Closest points of surfaces: where smooth surfaces of any kind face each other, in the loop language.

A surface is known by its nearest point: for any x near it the signed distance, the outward normal at the foot of x, and
how the normal turns (:class:`Near`). Two surfaces meet where their normals are opposed on one line. Its middle m is

    n_A(m) + n_B(m) = 0 across the normal,   d_A(m) = d_B(m),

three equations for three unknowns, with the second derivatives of both distances as their Jacobian (Newton's method).
They hold apart, touching and overlapping alike. The start is the vertex of one surface that lies deepest in the field
of the other, so that the result does not depend on what was found before. Where there is no such line, as beyond the
rim of an open surface or between flat sides, that vertex is the contact point.

The last steps carry rates: derivatives of the result are those of the implicit function, exact to second order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bellcrank.contact.field_energy import Pose
from bellcrank.contact.field_surface import Surface
from bellcrank.contact.shapes.fields import LEVEL
from bellcrank.math.vectors import IDENTITY, ZERO, Matrix, Vector, across, inverse
from bellcrank.program.loops import Reals, compiled, gradient, value

STEPS = 20
"""Newton steps at most: quadratic from the nearest vertex on, so that more do not help."""
CLOSE = 1e-6
"""Step over the size of the surface from which on two more, whose errors are the fourth power of it, are the last."""
TURN = 0.25
"""Step over the size of the surface that is taken at once on the way to the foot of a distant point."""
SMALL = 0.01
"""Step over the size of the surface below which it is not looked whether it comes nearer."""
FLAT = 1e-9
"""Least curvature of a gap, over one by the size: a flat side stays where it is instead of anywhere."""
MEMORY = 1
"""Numbers that a pair keeps: the cluster of its deepest vertex."""


class Near(NamedTuple):
    """A surface seen from a point x near it.

    distance: To the foot of x, negative inside [m]. normal: Outward, at the foot. bend: Second derivative of the
    distance at x [1/m], without rates. known: Whether the foot lies on the surface, not beyond its rim.
    """

    distance: float
    normal: Vector
    bend: Matrix
    known: bool


class Level(NamedTuple):
    """An implicit function, positive outside, and its slope; known: Whether the surface is there."""

    value: float
    slope: Vector
    known: bool


class Foot(NamedTuple):
    """A point of a surface, and the factor of the slope there that leads to the point it is the foot of."""

    y: Vector
    factor: float


class Free(NamedTuple):
    """What a step of Newton's method for a foot divides by: inverse of 1 + factor bend, its product with the slope."""

    inverse: Matrix
    slope: Vector
    along: float


@compiled
def freed(slope: Vector, bend: Matrix, factor: float) -> Free:
    """The Jacobian of the equations of a foot."""
    inner = inverse(IDENTITY + bend * factor)
    u: Vector = inner @ slope
    return Free(inner, u, slope.dot(u))


@compiled
def foot_step(e: Level, free: Free, x: Vector, foot: Foot) -> Foot:
    """One step of Newton's method for y + factor slope(y) = x, value(y) = 0."""
    w = free.inverse @ (foot.y - x + e.slope * foot.factor)
    more = (e.value - e.slope.dot(w)) / free.along
    return Foot(foot.y - w - free.slope * more, foot.factor + more)


@compiled
def curvature_of(slope: Vector, bend: Matrix) -> Matrix:
    """The curvature of the surface on which a function vanishes [1/m], by its slope and second derivative."""
    n = slope / slope.length
    flat = IDENTITY - n.outer(n)
    return flat @ (bend @ flat) / slope.length  # type: ignore[no-any-return]


@compiled
def nearest(surface: Any, x: Vector) -> Near:
    """The distance of an implicit surface, which has `start`, `level`, `bend` and `size`."""
    at = value(x)
    y = surface.start(at)
    outside = surface.field.depth(at) < 0.0
    reach = TURN * surface.size
    factor = 0.0
    done = False
    for k in range(2 * STEPS):
        e = surface.level(y)
        bend = surface.bend(y)
        if outside or k == 0:
            factor = (at - y).dot(e.slope) / e.slope.square
        free = freed(e.slope, bend, factor)
        if done:
            break
        if outside:
            # The foot of a distant point may be a turn away: along the surface, as long as that comes nearer.
            along = at - y - e.slope * factor
            bent = (
                inverse(IDENTITY + curvature_of(e.slope, bend) * (max(factor, 0.0) * e.slope.length)) @ along
            )
            way = bent if bent.dot(along) > 0.0 else along
            length = way.length
            y = y - e.slope * (e.value / e.slope.square)
            tried = y + way * (reach / max(reach, length))
            if length < SMALL * surface.size:
                y = tried
                done = length < CLOSE * surface.size
            else:
                tried = surface.start(tried)
                there = surface.level(tried)
                tried = tried - there.slope * (there.value / there.slope.square)
                if (tried - y).dot(at + at - tried - y) > 0.0:
                    y = tried
                else:
                    reach = 0.5 * min(reach, length)
        else:
            moved = foot_step(e, free, at, Foot(y, factor))
            length = (moved.y - y).length
            # Beyond the centres of curvature steps may lead anywhere.
            if not length < surface.size:
                break
            y = moved.y
            factor = moved.factor
            done = length < CLOSE * surface.size
    # With the rates of x; its differences are zero.
    foot = Foot(y + (x - x), factor + (x.x - x.x))
    for k in range(3):
        last = surface.level(foot.y)
        if k < 2:
            foot = foot_step(last, free, x, foot)
    n = last.slope / last.slope.length
    d = n.dot(x - foot.y)
    curved = curvature_of(e.slope, bend)
    return Near(d, n, curved @ inverse(IDENTITY + curved * value(d)), e.known)


class FieldSurface(NamedTuple):
    """The surface of a shape by its field of depth. size: Of the shape [m]."""

    field: Any
    size: float

    def start(self, x: Vector) -> Vector:
        """A point of the surface near x."""
        return descended(self.field, x, ZERO, 1.5 * self.size)

    def level(self, x: Vector) -> Level:
        """Minus the depth."""
        d, g = gradient(self.field.depth, x)
        return Level(-d, -g, True)

    def bend(self, x: Vector) -> Matrix:
        """The second derivative of minus the depth."""
        _, a = gradient(self.slope_x, x)
        _, b = gradient(self.slope_y, x)
        _, c = gradient(self.slope_z, x)
        return -Matrix(a, b, c)

    def slope_x(self, x: Vector) -> float:
        """Of the depth along x."""
        _, g = gradient(self.field.depth, x)
        return g.x  # type: ignore[no-any-return]

    def slope_y(self, x: Vector) -> float:
        """Of the depth along y."""
        _, g = gradient(self.field.depth, x)
        return g.y  # type: ignore[no-any-return]

    def slope_z(self, x: Vector) -> float:
        """Of the depth along z."""
        _, g = gradient(self.field.depth, x)
        return g.z  # type: ignore[no-any-return]

    def around(self, x: Vector) -> FieldSurface:
        """The surface near x, which is one everywhere."""
        return self

    def near(self, x: Vector) -> Near:
        """The surface seen from x."""
        return nearest(self, x)

    def curvature(self, y: Vector) -> Matrix:
        """Of the surface at one of its points [1/m]."""
        return curvature_of(self.level(y).slope, self.bend(y))


class DistanceSurface(NamedTuple):
    """The surface of a shape whose depth is the distance to it, as a sphere's: nothing is searched."""

    whole: FieldSurface

    def around(self, x: Vector) -> DistanceSurface:
        """The surface near x, which is one everywhere."""
        return self

    def near(self, x: Vector) -> Near:
        """The surface seen from x."""
        e = self.whole.level(x)
        return Near(e.value, e.slope, self.whole.bend(value(x)), True)

    def curvature(self, y: Vector) -> Matrix:
        """Of the surface at one of its points [1/m]."""
        return self.whole.bend(y)


@compiled
def descended(field: Any, x: Vector, middle: Vector, size: float) -> Vector:
    """A point near the surface, from x along the slope of the depth. middle, size: Of the surface [m]."""
    # Depths are off by a part of themselves: from afar that is more than the surface is large.
    away = x - middle
    y = middle + away * (size / max(size, away.length))
    for _ in range(3):
        d, g = gradient(field.depth, y)
        y = y - g * (d / (g.square + LEVEL))
    return y


class Meeting(NamedTuple):
    """Where two surfaces meet, in the frame of a: the normal from a to b, and the points on the surfaces [m]."""

    normal: Vector
    point_a: Vector
    point_b: Vector


class Bends(NamedTuple):
    """Curvatures of two surfaces where they meet, in the frame of a [1/m], positive for round bodies."""

    a: Matrix
    b: Matrix


class Both(NamedTuple):
    """Two surfaces seen from one point, in the frame of a."""

    a: Near
    b: Near


@compiled
def seen(surface: Any, pose: Pose, m: Vector) -> Near:
    """A surface in a frame at `pose`, seen from m."""
    back = pose.R.transposed
    found = surface.near(back @ (m - pose.p))
    R = value(pose.R)
    return Near(found.distance, pose.R @ found.normal, R @ (found.bend @ R.transposed), found.known)


class Line(NamedTuple):
    """What a step for the middle of the line between two surfaces needs, without rates.

    e, f: Tangents. free: Inverse of the Jacobian.
    """

    e: Vector
    f: Vector
    free: Matrix


@compiled
def line_of(both: Both, size: float) -> Line:
    """From both surfaces, seen without rates."""
    apart = both.a.normal - both.b.normal
    n = apart / apart.length
    e = across(n)
    f = n.cross(e)
    least = FLAT / size
    bend = both.a.bend + both.b.bend
    return Line(e, f, inverse(Matrix(bend @ e + e * least, bend @ f + f * least, apart)))


@compiled
def middle_step(line: Line, both: Both) -> Vector:
    """One step of Newton's method for the middle."""
    turn = both.a.normal + both.b.normal
    step: Vector = line.free @ Vector(-line.e.dot(turn), -line.f.dot(turn), both.b.distance - both.a.distance)
    return step


class Deepest(NamedTuple):
    """The vertex of a surface that lies deepest in a field: its cluster and its place [m] in the surface's frame."""

    node: int
    vertex: Vector


@compiled
def deepest(surface: Surface, field: Any, p: Vector, R: Matrix, last: int) -> Deepest:
    """Of a surface whose frame lies at p, R in that of the field. last: The cluster to look at first."""
    best = -1
    place = ZERO
    depth = -math.inf
    count = len(surface.nodes)
    first = last if 0 <= last < count else 0
    i = first
    turn = 0
    while turn < 2:
        node = surface.nodes[i]
        if turn == 1 and field.bound(p + R @ node.centre, node.radius) < depth:
            i = node.skip
        else:
            for k in range(node.vertices):
                x = surface.vertices[node.first_vertex + k]
                d = field.depth(p + R @ x)
                # Of equal ones the first in the tree, whichever was looked at first.
                if d > depth or (d == depth and i < best):
                    depth = d
                    place = x
                    best = i
            i += 1
        if turn == 0:
            i = 0
            turn = 1
        if i >= count:
            turn = 2
    return Deepest(best, place)


FOUND, VERTEX, BEYOND = 1, 2, 3


class Middle(NamedTuple):
    """The middle of the line between two surfaces, or how it was not found: at a vertex, or beyond a rim."""

    m: Vector
    line: Line
    how: int


@compiled
def middle_of(pose: Pose, a: Any, b: Any, start: Vector, reach: float, size: float) -> Middle:
    """From a start, no farther than `reach` from it; without rates."""
    m = start
    how = VERTEX
    for _ in range(STEPS):
        both = Both(a.near(m), seen(b, pose, m))
        line = line_of(both, size)
        if how == FOUND:
            break
        step = middle_step(line, both)
        if not (m + step - start).length < reach:
            break
        m = m + step
        if step.length < CLOSE * size:
            how = FOUND
    if how == FOUND and not (both.a.known and both.b.known):
        how = BEYOND
    return Middle(m, line, how)


class Start(NamedTuple):
    """Where a search begins: the deepest vertex, in the frame of a and in its own, and how far from it it may lead."""

    place: Vector
    vertex: Vector
    reach: float


@compiled
def start_of(
    p: Vector, R: Matrix, field_a: Any, on_a: Surface, field_b: Any, on_b: Surface, warm: Reals
) -> Start:
    """The deepest vertex of the surface that is searched."""
    back = R.transposed
    if len(on_a.nodes) > 0:
        of_a = deepest(on_a, field_b, -(back @ p), back, int(warm[0]))
        warm[0] = of_a.node
        # The line's middle may lie half the gap away from the vertex.
        gap = abs(field_b.depth(back @ (of_a.vertex - p)))
        return Start(of_a.vertex, of_a.vertex, 2.0 * on_a.nodes[of_a.node].radius + gap)
    of_b = deepest(on_b, field_a, p, R, int(warm[0]))
    warm[0] = of_b.node
    place = p + R @ of_b.vertex
    return Start(place, of_b.vertex, 2.0 * on_b.nodes[of_b.node].radius + abs(field_a.depth(place)))


@compiled
def of_surfaces(
    pose: Pose, near_a: Any, near_b: Any, on_a: Surface, start: Start, middle: Middle, size: float
) -> Meeting:
    """Where two surfaces meet on the line that was found, or at the vertex where the search began."""
    if middle.how == FOUND:
        # With the rates of the pose; its differences are zero.
        m = middle.m + (pose.p - pose.p)
        for k in range(3):
            both = Both(near_a.near(m), seen(near_b, pose, m))
            if k < 2:
                m = m + middle_step(middle.line, both)
        normal = both.a.normal - both.b.normal
        return Meeting(
            normal / normal.length,
            m - both.a.normal * both.a.distance,
            m - both.b.normal * both.b.distance,
        )
    if len(on_a.nodes) > 0:
        on_b_side = seen(near_b, pose, start.vertex)
        far = size if middle.how == BEYOND else on_b_side.distance
        return Meeting(-on_b_side.normal, start.vertex, start.vertex - on_b_side.normal * far)
    place = pose.p + pose.R @ start.vertex
    on_a_side = near_a.near(place)
    far = size if middle.how == BEYOND else on_a_side.distance
    return Meeting(on_a_side.normal, place - on_a_side.normal * far, place)


@compiled
def inner_meeting(
    pose: Pose, field_a: Any, on_a: Surface, field_b: Any, on_b: Surface, depth: float
) -> Meeting:
    """Where the inner ball of one body lies deeper in the other than `depth` [m]; a normal of zero where neither does.

    Of bodies far within each other no line between the surfaces measures the depth; the middle of the ball lies within
    the other body then.
    """
    found = Meeting(ZERO, ZERO, ZERO)
    most = depth
    if on_b.inner_radius > 0.0:
        c = pose.p + pose.R @ on_b.inner
        d, g = gradient(field_a.depth, c)
        if value(d) > 0.0 and value(d) + on_b.inner_radius > most:
            most = value(d) + on_b.inner_radius
            n = -g / (g.square + LEVEL) ** 0.5
            found = Meeting(n, c + n * d, c - n * on_b.inner_radius)
    if on_a.inner_radius > 0.0:
        e = pose.R.transposed @ (on_a.inner - pose.p)
        d, g = gradient(field_b.depth, e)
        if value(d) > 0.0 and value(d) + on_a.inner_radius > most:
            n = (pose.R @ g) / (g.square + LEVEL) ** 0.5
            found = Meeting(n, on_a.inner + n * on_a.inner_radius, on_a.inner - n * d)
    return found


def closest_pair(
    pose: Pose,
    a: Any,
    field_a: Any,
    on_a: Surface,
    b: Any,
    field_b: Any,
    on_b: Surface,
    size: float,
    warm: Reals,
) -> Meeting:
    """Where two surfaces meet. on_a, on_b: Vertices of the surface that is searched; the other one has none.

    Beyond the rim of an open surface there is nothing to touch: the points are as far apart as the bodies are large.
    """
    p = value(pose.p)
    R = value(pose.R)
    start = start_of(p, R, field_a, on_a, field_b, on_b, warm)
    near_a = a.around(start.place)
    near_b = b.around(R.transposed @ (start.place - p))
    middle = middle_of(Pose(p, R), near_a, near_b, start.place, start.reach, size)
    met = of_surfaces(pose, near_a, near_b, on_a, start, middle, size)
    if middle.how == BEYOND:
        return met
    deep = inner_meeting(pose, field_a, on_a, field_b, on_b, value(met.normal.dot(met.point_a - met.point_b)))
    if value(deep.normal.square) > 0.0:
        return deep
    return met


def closest_bends(
    pose: Pose,
    a: Any,
    field_a: Any,
    on_a: Surface,
    b: Any,
    field_b: Any,
    on_b: Surface,
    size: float,
    warm: Reals,
) -> Bends:
    """The curvatures where two surfaces meet."""
    met = closest_pair(pose, a, field_a, on_a, b, field_b, on_b, size, warm)
    back = pose.R.transposed
    near_a = a.around(value(met.point_a))
    near_b = b.around(value(back) @ (value(met.point_b) - value(pose.p)))
    curved = near_b.curvature(back @ (met.point_b - pose.p))
    return Bends(near_a.curvature(met.point_a), pose.R @ (curved @ back))
