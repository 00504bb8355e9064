"""Contact by fields: the energy of an overlap, and force and moment as its exact slope.

The surface of each body lies in the depth field of the other. Depth is linear in every triangle, and its integrals over
the wet part are closed forms. With d_B the depth of A's surface in B and d_A that of B's surface in A:

    half-space  U = c E* sqrt(I),  I = 1/2 (int_A d_B^4 dS + int_B d_A^4 dS),  c = (8/15) / sqrt(2 pi / 5)
    foundation  U = k I,           I = 1/2 (int_A d_B^2 / 2 dS + int_B d_A^2 / 2 dS)

A plane has no surface; then the other side counts whole. The half-space law is the only power of the depth for which a
flat contact is linear in depth and U scales as E* length^3: a sphere obeys Hertz's law, a cone has 1.026 of Sneddon's
load, a flat round punch 0.843 of Boussinesq's, where triangles are small against the patch. Loads are never negative.

Every vertex carries the slope of U by its depth. Damping multiplies it by max(0, 1 + a rate / v0), friction acts
against the slip there with the load of that vertex (:mod:`laws`, :mod:`friction`).

Integrals: with a, b, c the depths of the vertices, the mean of max(0, d)^n over a triangle is a divided difference of
x_+^(n+2) (Hermite and Genocchi), written with non-negative terms alone, so that nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from bellcrank.contact.field_surface import VERTICES, Surface
from bellcrank.contact.shapes.fields import Tangent, Tangential, Yielding, met
from bellcrank.math.vectors import ZERO, Matrix, Vector
from bellcrank.program.loops import Reals, Routine, compiled, ints, reals, value

HALF_SPACE = (8.0 / 15.0) / math.sqrt(2.0 * math.pi / 5.0)
"""c of the half-space law: a sphere on a plane has Hertz's energy (8/15) E* sqrt(R) d^(5/2)."""

NEGLIGIBLE = 1e-9
"""Part of a cluster's radius that is far above rounding and far below a depth that matters."""


class Integral(NamedTuple):
    """A mean over a triangle, its slopes by the depths of the vertices, and the part of the triangle that is wet."""

    mean: float
    a: float
    b: float
    c: float
    wet: float


Mean: TypeAlias = Callable[[float, float, float], Integral]
"""A mean over a triangle by the depths of its vertices."""


class Pose(NamedTuple):
    """Frame of b in that of a: origin [m] and rotation."""

    p: Vector
    R: Matrix


class Twist(NamedTuple):
    """Of b against a, in a's axes: velocity of b's origin [m/s], angular velocity [rad/s]."""

    v: Vector
    w: Vector


class Coefficients(NamedTuple):
    """Numbers of a contact: E* [Pa] or k [N/m^3]; a of the damping and v0 [m/s]; friction as in :class:`Coulomb`.

    nearness: 1 where the gap is asked for while the bodies are apart, 0 where forces alone are.
    """

    stiffness: float
    damping: float
    approach_speed: float
    kinetic: float
    static: float
    stribeck_speed: float
    slip_speed: float
    nearness: float


class Pressed(NamedTuple):
    """What a contact is in one state, in a's frame.

    force, moment: On b, the moment about a's origin [N, N m]. friction: The part of the force that is [N]. point: Where
    the load acts in the mean [m]. load: Normal force [N]. energy: Elastic [J]. depth: The deepest penetration, negative
    the gap, which is found only where it was asked for [m]. rate: At which the depth grows [m/s]. area: Of the patch
    [m^2]. pressure: The highest [Pa]. radius: Of gyration of the load about the point [m].
    """

    force: Vector
    moment: Vector
    friction: Vector
    point: Vector
    load: float
    energy: float
    depth: float
    rate: float
    area: float
    pressure: float
    radius: float


class Side(NamedTuple):
    """Sums over the surface of one body in the field of the other, in the frame of the field."""

    integral: float
    force: Vector
    moment: Vector
    friction: Vector
    load: float
    weight: float
    middle: Vector
    second: float
    area: float
    depth: float
    deepest: Vector
    rate: float


@compiled
def over_wet(whole: Mean, one: Mean, two: Mean, a: float, b: float, c: float) -> Integral:
    """A mean by how many vertices are wet: all, one (the first argument of `one`), or two (the first two of `two`)."""
    found = Integral(0.0, 0.0, 0.0, 0.0, 0.0)
    if a <= 0.0 and b <= 0.0 and c <= 0.0:
        return found
    if a >= 0.0 and b >= 0.0 and c >= 0.0:
        found = whole(a, b, c)
    elif b < 0.0 and c < 0.0:
        found = one(a, b, c)
    elif a < 0.0 and b < 0.0:
        i = one(c, a, b)
        found = Integral(i.mean, i.b, i.c, i.a, i.wet)
    elif a < 0.0 and c < 0.0:
        i = one(b, c, a)
        found = Integral(i.mean, i.c, i.a, i.b, i.wet)
    elif c < 0.0:
        found = two(a, b, c)
    elif a < 0.0:
        i = two(b, c, a)
        found = Integral(i.mean, i.c, i.a, i.b, i.wet)
    else:
        i = two(c, a, b)
        found = Integral(i.mean, i.b, i.c, i.a, i.wet)
    return found


@compiled
def mean_square(a: float, b: float, c: float) -> Integral:
    """Of max(0, d)^2 / 2."""
    return over_wet(three_squares, one_square, two_squares, a, b, c)


@compiled
def three_squares(a: float, b: float, c: float) -> Integral:
    """All vertices are wet."""
    return Integral(
        (a * a + b * b + c * c + a * b + b * c + c * a) / 12.0,
        (2.0 * a + b + c) / 12.0,
        (a + 2.0 * b + c) / 12.0,
        (a + b + 2.0 * c) / 12.0,
        1.0,
    )


@compiled
def one_square(a: float, b: float, c: float) -> Integral:
    """One vertex, a, is wet."""
    r = a / (a - b)
    s = a / (a - c)
    w = a * r * s / 12.0
    return Integral(a * w, w * (4.0 - r - s), w * r, w * s, r * s)


@compiled
def two_squares(a: float, b: float, c: float) -> Integral:
    """Two vertices, a and b, are wet."""
    r = a / (a - c)
    s = b / (b - c)
    R = -c / (a - c)
    S = -c / (b - c)
    mean = (a * b * (a * a + a * b + b * b) - c * (a + b) * (a * a + b * b)) / (12.0 * (a - c) * (b - c))
    by_a = (a * r * (3.0 - r) + b * (r * (2.0 - r) + R * R * s)) / 12.0
    by_b = (b * s * (3.0 - s) + a * (s * (2.0 - s) + S * S * r)) / 12.0
    by_c = (a * r + b * s) * (r + s - r * s) / 12.0
    return Integral(mean, by_a, by_b, by_c, r + s * R)


@compiled
def mean_fourth(a: float, b: float, c: float) -> Integral:
    """Of max(0, d)^4."""
    return over_wet(three_fourths, one_fourth, two_fourths, a, b, c)


@compiled
def three_fourths(a: float, b: float, c: float) -> Integral:
    """All vertices are wet."""
    square = a * a + a * b + b * b
    cube = (a + b) * (a * a + b * b)
    fourth = a**4 + a**3 * b + a * a * b * b + a * b**3 + b**4
    mean = (fourth + c * (cube + c * (square + c * (a + b + c)))) / 15.0
    return Integral(mean, slope_fourth(a, b, c), slope_fourth(b, c, a), slope_fourth(c, a, b), 1.0)


@compiled
def slope_fourth(a: float, b: float, c: float) -> float:
    """By a, all vertices wet: of the complete homogeneous polynomial of degree four, over 15."""
    s = b + c
    return (s * (b * b + c * c) + 2.0 * a * (b * b + b * c + c * c) + 3.0 * a * a * s + 4.0 * a**3) / 15.0


@compiled
def one_fourth(a: float, b: float, c: float) -> Integral:
    """One vertex, a, is wet."""
    r = a / (a - b)
    s = a / (a - c)
    w = a**3 * r * s / 15.0
    return Integral(a * w, w * (6.0 - r - s), w * r, w * s, r * s)


@compiled
def two_fourths(a: float, b: float, c: float) -> Integral:
    """Two vertices, a and b, are wet."""
    u = 1.0 / (b - c)
    r = a / (a - c)
    s = b * u
    # Not 1 - r and 1 - s, which cancel.
    R = -c / (a - c)
    S = -c * u
    g = b * (a**3 + a * a * b + a * b * b + b**3)
    m = R * a**4 + g
    mean = (s * (a**4 + g) + S * r * a**4) / 15.0
    by_a = (s * (4.0 * a**3 + 3.0 * a * a * b + 2.0 * a * b * b + b**3) + S * a**3 * r * (4.0 + R)) / 15.0
    by_b = (s * (a**3 + 2.0 * a * a * b + 3.0 * a * b * b + 4.0 * b**3) + S * u * m) / 15.0
    by_c = (s * u * m + S * a**4 * r / (a - c)) / 15.0
    return Integral(mean, by_a, by_b, by_c, r + s * R)


@compiled
def coefficient(law: Coefficients, square: float) -> float:
    """Of friction, at the square of a speed of slip: Stribeck's curve."""
    fall = 0.0
    if law.static > law.kinetic:
        fall = (law.static - law.kinetic) * math.exp(-square / (law.stribeck_speed * law.stribeck_speed))
    return law.kinetic + fall


@compiled
def last_depth(surface: Any, field: Any, pose: Pose, last: int) -> float:
    """The largest depth in the cluster that was deepest the last time."""
    found = -math.inf
    if 0 <= last < len(surface.nodes):
        node = surface.nodes[last]
        for k in range(node.vertices):
            found = max(found, field.depth(pose.p + pose.R @ surface.vertex(node.first_vertex + k)))
        # A little less, so that rounding does not hide that vertex.
        found -= NEGLIGIBLE * node.radius
    return found


@compiled
def side(
    surface: Any,
    field: Any,
    integral: Mean,
    pose: Pose,
    twist: Twist,
    law: Coefficients,
    floor: float,
    warm: Reals,
    place: int,
) -> Side:
    """Sums over a surface, whose frame has the `pose` in that of the field, and moves with the `twist`.

    surface: A :class:`Surface`, or that of a body that deforms. The twist is that of the surface's body at the origin
    of the field's frame. floor: The pair is known to be that deep, and a vertex less deep is not the deepest.
    warm[place]: The node that held the deepest vertex the last time. Forces here are those on the surface's body for
    dU/dI = 1.
    """
    total = 0.0
    force = ZERO
    moment = ZERO
    friction = ZERO
    load = 0.0
    weight = 0.0
    middle = ZERO
    second = 0.0
    area = 0.0
    depth = floor
    deepest = ZERO
    best = -1
    where = -1
    p = value(pose.p)
    R = value(pose.R)
    count = len(surface.nodes)
    wet = ints(VERTICES)
    depths = reals(VERTICES)
    slopes = reals(VERTICES)
    across = reals(3 * VERTICES)
    material = reals(3 * VERTICES if isinstance(field, Yielding) else 1)
    i = 0
    while i < count:
        node = surface.nodes[i]
        middle_at = value(surface.centre(i))
        centre = p + R @ middle_at
        reach = surface.reach(i)
        near = Tangent(0.0, ZERO, 0.0, 0.0, math.inf)
        # Without a gap to find, whatever lies outside is left out: clusters, and single vertices.
        wet_only = law.nearness == 0.0 or depth > 0.0
        slope = ZERO
        if isinstance(field, Tangential) and wet_only:
            near = field.tangent(centre)
            slope = R.transposed @ near.slope
            most = near.limit + reach
            if reach <= near.reach:
                most = min(most, near.depth + surface.rise(i, slope) + 0.5 * near.bend * reach * reach)
        else:
            most = field.bound(centre, reach)
        if most <= 0.0 if wet_only else most < depth:
            i = node.skip
            continue
        touches = False
        for k in range(node.vertices):
            wet[k] = 0
            slopes[k] = 0.0
            depths[k] = -1.0
            v = value(surface.vertex(node.first_vertex + k))
            if isinstance(field, Tangential):
                w = v - middle_at
                square = w.square
                if near.limit < 0.0 and square <= near.limit * near.limit:
                    continue
                if (
                    square <= near.reach * near.reach
                    and near.depth + slope.dot(w) + 0.5 * near.bend * square <= 0.0
                ):
                    continue
            x = p + R @ v
            d = value(field.depth(x))
            depths[k] = d
            touches = touches or d > 0.0
            if d >= depth:
                depth = d
                deepest = x
                best = i
                where = node.first_vertex + k
        if touches:
            for k in range(node.triangles):
                t = surface.triangles[node.first_triangle + k]
                if max(depths[t.a], max(depths[t.b], depths[t.c])) > 0.0:
                    wet[t.a] = 1
                    wet[t.b] = 1
                    wet[t.c] = 1
            for k in range(node.vertices):
                if wet[k] == 1:
                    x = pose.p + pose.R @ surface.vertex(node.first_vertex + k)
                    depths[k], g, at = met(field, x)
                    if isinstance(field, Yielding):
                        material[3 * k], material[3 * k + 1], material[3 * k + 2] = at
                    across[3 * k], across[3 * k + 1], across[3 * k + 2] = g
            for k in range(node.triangles):
                t = surface.triangles[node.first_triangle + k]
                # Rounding may lift a vertex on the border of the patch, whose other neighbours have no slope here.
                known = wet[t.a] + wet[t.b] + wet[t.c] == 3
                if known and max(depths[t.a], max(depths[t.b], depths[t.c])) > 0.0:
                    part = integral(depths[t.a], depths[t.b], depths[t.c])
                    size = surface.area(t, node.first_vertex)
                    total += size * part.mean
                    area += value(size) * value(part.wet)
                    slopes[t.a] += size * part.a
                    slopes[t.b] += size * part.b
                    slopes[t.c] += size * part.c
            for k in range(node.vertices):
                if slopes[k] > 0.0:
                    x = pose.p + pose.R @ surface.vertex(node.first_vertex + k)
                    g = Vector(across[3 * k], across[3 * k + 1], across[3 * k + 2])
                    u = twist.v + twist.w.cross(x) + pose.R @ surface.speed(node.first_vertex + k)
                    if isinstance(field, Yielding):
                        at = Vector(material[3 * k], material[3 * k + 1], material[3 * k + 2])
                        u = u - field.velocity(at)
                    rate = g.dot(u)
                    steep = g.length
                    damped = slopes[k] * max(0.0, 1.0 + law.damping * rate / law.approach_speed)
                    pushed = g * -damped
                    if law.static > 0.0:
                        slip = u - g * (rate / (steep * steep))
                        speed = slip.square + law.slip_speed * law.slip_speed
                        rubbed = slip * (-coefficient(law, speed) * damped * steep / speed**0.5)
                        friction += rubbed
                        pushed += rubbed
                    surface.push(node.first_vertex + k, pose.R.transposed @ pushed, 0)
                    surface.weigh(node.first_vertex + k, slopes[k] * steep)
                    if isinstance(field, Yielding):
                        field.push_at(at, -pushed, 0)
                        field.weigh_at(at, x, slopes[k] * steep)
                    force += pushed
                    moment += x.cross(pushed)
                    load += damped * steep
                    weight += slopes[k] * steep
                    middle += x * (slopes[k] * steep)
                    second += x.square * (slopes[k] * steep)
        i += 1
    rate = 0.0
    deep = -math.inf
    if best >= 0:
        warm[place] = best
        x = pose.p + pose.R @ surface.vertex(where)
        d, g, at = met(field, x)
        # The same depth, with its rates.
        deep = depth + (d - value(d))
        rate = g.dot(twist.v + twist.w.cross(x) + pose.R @ surface.speed(where))
        if isinstance(field, Yielding):
            rate -= g.dot(field.velocity(at))
    return Side(total, force, moment, friction, load, weight, middle, second, area, deep, deepest, rate)


@compiled
def pressed(
    integral: Mean,
    half_space: bool,
    pose: Pose,
    twist: Twist,
    law: Coefficients,
    a: Any,
    on_a: Any,
    b: Any,
    on_b: Any,
    warm: Reals,
) -> Pressed:
    """Force and moment on b: both sides together."""
    back = pose.R.transposed
    share = 1.0 if len(on_a.nodes) == 0 or len(on_b.nodes) == 0 else 0.5
    there = Pose(-(back @ pose.p), back)
    floor = -math.inf
    if law.nearness > 0.0:
        floor = max(
            last_depth(on_a, b, value(there), int(warm[0])), last_depth(on_b, a, value(pose), int(warm[1]))
        )
    # Of a's surface in b's field, and of b's in a's.
    moving = Twist(-(back @ twist.v), -(back @ twist.w))
    of_a = side(on_a, b, integral, there, moving, law, floor, warm, 0)
    at_a = Twist(twist.v - twist.w.cross(pose.p), twist.w)
    of_b = side(on_b, a, integral, pose, at_a, law, max(floor, value(of_a.depth)), warm, 1)
    total = share * (of_a.integral + of_b.integral)
    energy = 0.0
    slope = 0.0
    if total > 0.0:
        if half_space:
            root = total**0.5
            energy = HALF_SPACE * law.stiffness * root
            slope = HALF_SPACE * law.stiffness / (2.0 * root)
        else:
            energy = law.stiffness * total
            slope = law.stiffness
    slope *= share
    turned = pose.R @ of_a.force
    force = (of_b.force - turned) * slope
    moment = (of_b.moment - pose.R @ of_a.moment - pose.p.cross(turned)) * slope
    friction = (of_b.friction - pose.R @ of_a.friction) * slope
    weight = of_a.weight + of_b.weight
    if weight > 0.0:
        on_a.scale_pushes(slope, 1.0 / weight)
        on_b.scale_pushes(slope, 1.0 / weight)
    depth = of_b.depth
    rate = of_b.rate
    point = of_b.deepest
    if of_a.depth > of_b.depth:
        depth = of_a.depth
        rate = of_a.rate
        point = pose.p + pose.R @ of_a.deepest
    if law.nearness > 0.0 and on_b.inner_radius > 0.0:
        c = pose.p + pose.R @ on_b.inner
        d, g, _ = met(a, c)
        if d > 0.0 and d + on_b.inner_radius > depth:
            depth = d + on_b.inner_radius
            rate = g.dot(at_a.v + at_a.w.cross(c))
    if law.nearness > 0.0 and on_a.inner_radius > 0.0:
        c = back @ (on_a.inner - pose.p)
        d, g, _ = met(b, c)
        if d > 0.0 and d + on_a.inner_radius > depth:
            depth = d + on_a.inner_radius
            rate = -g.dot(back @ (twist.v + twist.w.cross(on_a.inner - pose.p)))
    spread = 0.0
    if weight > 0.0:
        middle = pose.R @ of_a.middle
        point = (of_b.middle + middle + pose.p * of_a.weight) / weight
        squares = of_b.second + of_a.second + 2.0 * pose.p.dot(middle) + pose.p.square * of_a.weight
        spread = squares / weight - point.square
    radius = spread**0.5 if spread > 0.0 else 0.0
    high = max(depth, 0.0)
    pressure = slope / share * (4.0 * high**3 if half_space else high)
    load = slope * (of_a.load + of_b.load)
    return Pressed(
        force,
        moment,
        friction,
        point,
        load,
        energy,
        depth,
        rate,
        share * (of_a.area + of_b.area),
        pressure,
        radius,
    )


def half_space(
    pose: Pose, twist: Twist, law: Coefficients, a: Any, on_a: Surface, b: Any, on_b: Surface, warm: Reals
) -> Pressed:
    """A contact of two half-spaces: Hertz's law where the bodies are round."""
    return pressed(mean_fourth, True, pose, twist, law, a, on_a, b, on_b, warm)


def foundation(
    pose: Pose, twist: Twist, law: Coefficients, a: Any, on_a: Surface, b: Any, on_b: Surface, warm: Reals
) -> Pressed:
    """A contact through an elastic layer: Winkler's law."""
    return pressed(mean_square, False, pose, twist, law, a, on_a, b, on_b, warm)


MEMORY = 2
"""Numbers that a pair keeps: where it was deepest, on each surface."""


def pair(law: Callable[..., Pressed], a: Any, on_a: Surface, b: Any, on_b: Surface) -> Routine:
    """The routine of two bodies by their fields and surfaces; law: :func:`half_space` or :func:`foundation`."""
    return Routine(law, (a, on_a, b, on_b), MEMORY)
