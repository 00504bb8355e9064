"""A sampled surface around a contact point, in a straight-line program, and how two surfaces meet there.

A program cannot search a tree. So the samples around the contact point are inputs of it, gathered from outside by
:mod:`bellcrank.contact.search` whenever the point has moved by a margin; Newton's method does the rest. Weights vanish
beyond their radius, so gathering anew changes nothing: the gap stays one smooth function of the poses, and there is
no tick.

Newton's method, with x on a, y on b, r = y - x, d = n_a . r, curvatures K by dn = K dx, and T for the part across n_a:
    (K_a + K_b + d K_b K_a) dx = K_b r_T - (n_a + n_b)_T,   dy = (I + d K_a) dx - r_T,
both points being pulled back onto their surfaces. It is regular at d = 0. The curvatures are those of the nearest
quadrics, so it converges by a factor of the order of the spacing over the radius squared each time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

from bellcrank.contact.blended import FAR, NEAR, blended_curvature, quadric
from bellcrank.contact.edge_local import Crossing
from bellcrank.contact.learning import Step
from bellcrank.contact.partners import Symmetric, slope, smooth_partner, why_not
from bellcrank.contact.rim_local import Bounded, rim_numbers
from bellcrank.contact.rims_between import Rims, bend_of
from bellcrank.contact.sampled import ENTRIES, Sampled
from bellcrank.contact.shapes import TINY, Shape
from bellcrank.contact.source import Around, Source
from bellcrank.contact.steps import chosen, frame, solved_2x2
from bellcrank.errors import ModelError
from bellcrank.math.tuples import (
    Mat,
    Vec,
    add,
    cross,
    dot,
    neg,
    scale,
    sub,
    times,
    transposed_times,
    vec,
)
from bellcrank.program.functions import maximum, minimum, sqrt, where
from bellcrank.program.trace import Expr, Scalar, compare, function, logical, logical_not

STEPS = 6
"""Newton steps."""
MORE = 6
"""Newton steps besides where a surface has rims: along them nothing is learnt of the curvatures."""
ROUGH, FINE = 4, 3
"""Those where derivatives of the contact point are needed; the last with the curvature of the surface itself."""
AWAY = 10.0
"""Gap of a contact that is none, over the spacing."""
LEVEL = 1e-6
"""Share of the spread of samples that is added to it: curvatures are not continued beyond samples on a line."""
FLAT = 1e-14
"""Determinant of the curvatures of a gap, over the square of their sum, that is rounding."""


@dataclass(frozen=True, eq=False)
class Local(Around):
    """A sampled surface with the samples around a point as inputs."""

    source: Sampled

    @property
    def rows(self) -> list[tuple[Scalar, ...]]:
        """One for each sample, the nearest first."""
        return [self.inputs[k : k + ENTRIES] for k in range(0, self.source.capacity * ENTRIES, ENTRIES)]

    def slope(self, x: Vec) -> tuple[Scalar, Vec]:
        """f and its gradient."""
        total: Scalar = 0.0
        value: Scalar = 0.0
        total_slope: Vec = (0.0, 0.0, 0.0)
        value_slope: Vec = (0.0, 0.0, 0.0)
        for k, row in enumerate(self.rows):
            d, n, Hd, q, narrow, left, inverse = quadric(row, x)
            square = left * left * inverse
            w = square * left
            # dw/ds = -(3 left^2 + w) / (s + NEAR), and ds = 2 d / R^2.
            steep = -(2.0 * narrow) * (3.0 * square + w * inverse)
            spare = FAR if k == 0 else 0.0
            total, value = total + w + spare, value + (w + spare) * q
            total_slope = add(total_slope, scale(steep, d))
            value_slope = add(value_slope, add(scale(w + spare, sub(n, Hd)), scale(steep * q, d)))
        f = value / total
        return f, scale(1.0 / total, sub(value_slope, scale(f, total_slope)))

    def pulled(self, x: Vec) -> tuple[Vec, Vec]:
        return _onto(x, *self.slope(x))

    def bend(self, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
        """Of the nearest sample: K = -H; that of the surface itself where it is `sharp`."""
        if self.sharp:
            return blended_curvature(self.rows, x, *self.slope(x), e1, e2)
        xx, yy, zz, xy, xz, yz = self.inputs[6:12]
        K = (-xx, -xy, -xz), (-xy, -yy, -yz), (-xz, -yz, -zz)
        K1, K2 = times(K, e1), times(K, e2)
        return dot(e1, K1), dot(e1, K2), dot(e2, K2)

    def curvature(self, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
        """The quadrics' curvatures by their weights at x: of second order in the spacing, without jumps.

        Quadrics tell curvatures at their samples to second order. Their mean would be that of the samples' mean place,
        off by the first; so a linear function over the tangents is fitted to them, by weighted least squares, and its
        value at x taken. In places t_i, h(x) = sum w_i l_i h_i / sum w_i l_i with l_i = 1 - t_i . M^-1 sum w t,
        M = sum w t t'.

        Source: Lancaster and Salkauskas (1981), moving least squares.
        """
        weights: list[tuple[Scalar, Scalar, Scalar]] = []
        m1: Scalar = 0.0
        m2: Scalar = 0.0
        m11: Scalar = 0.0
        m12: Scalar = 0.0
        m22: Scalar = 0.0
        for k, row in enumerate(self.rows):
            d = sub((row[0], row[1], row[2]), x)
            narrow = 1.0 / (row[12] * row[12])
            s = dot(d, d) * narrow
            left = maximum(1.0 - s, 0.0)
            w = left * left * left / (s + NEAR) + (FAR if k == 0 else 0.0)
            t1, t2 = dot(e1, d), dot(e2, d)
            weights.append((w, t1, t2))
            m1, m2 = m1 + w * t1, m2 + w * t2
            m11, m12, m22 = m11 + w * t1 * t1, m12 + w * t1 * t2, m22 + w * t2 * t2
        # Samples on a line, as at a rim, tell no slope across it.
        steady = LEVEL * (m11 + m22) + TINY
        g1, g2 = solved_2x2(m11 + steady, m12, m12, m22 + steady, m1, m2)
        total: Scalar = 0.0
        sums: list[Scalar] = [0.0] * 6
        for row, (w, t1, t2) in zip(self.rows, weights, strict=True):
            share = w * (1.0 - t1 * g1 - t2 * g2)
            total = total + share
            sums = [before + share * value for before, value in zip(sums, row[6:12], strict=True)]
        xx, yy, zz, xy, xz, yz = (-value / total for value in sums)
        K = (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
        K1, K2 = times(K, e1), times(K, e2)
        return dot(e1, K1), dot(e1, K2), dot(e2, K2)

    def rim(self, x: Vec) -> list[Scalar] | None:
        if not self.source.rim_room:
            return None
        return rim_numbers(self.inputs[self.source.capacity * ENTRIES :], x, self.source.spacing)

    def room(self, x: Vec) -> Scalar:
        way = sub(x, self.start)
        return 1.0 - dot(way, way) / self.source.margin**2


def meets(other: Shape) -> bool:
    """Whether a surface of data can meet this shape."""
    return isinstance(other, Source | Around) or smooth_partner(other)


def _onto(x: Vec, f: Scalar, g: Vec) -> tuple[Vec, Vec]:
    """A Newton step onto f = 0 along the slope g, and the unit normal."""
    inverse = 1.0 / sqrt(maximum(dot(g, g), TINY))
    n = scale(inverse, g)
    return sub(x, scale(f * inverse, n)), n


def _pulled(shape: Shape, x: Vec) -> tuple[Vec, Vec]:
    """The point pulled onto the surface, and the normal where it was."""
    return shape.pulled(x) if isinstance(shape, Around) else _onto(x, *slope(shape, x))


def _start(shape: Shape, a: Around, R: Mat, c: Vec) -> Vec:
    """A point of b near the contact, in b's frame."""
    if isinstance(shape, Around):
        return shape.start
    return transposed_times(R, sub(a.start, c))


def _answer(
    free: Scalar,
    A: tuple[Scalar, Scalar, Scalar, Scalar],
    stiff: Scalar,
    ways: tuple[Vec, Vec, Vec],
    residual: Vec,
) -> Vec:
    """The step that a residual calls for."""
    e1, e2, way = ways
    t1, t2 = solved_2x2(*A, dot(e1, residual), dot(e2, residual))
    return vec(chosen(free, add(scale(t1, e1), scale(t2, e2)), scale(dot(way, residual) / stiff, way)))


def _regular(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """A matrix [[a, b], [c, d]], or where it tells no step, the gap being flat one way, one that goes downhill."""
    size = function("abs", a) + function("abs", b) + function("abs", c) + function("abs", d)
    flat = compare("le", function("abs", a * d - b * c), FLAT * size * size)
    # Edges of flat sheets have no curvature at all.
    steep = where(compare("lt", 0.0, size), size, 1.0)
    return where(flat, steep, a), where(flat, 0.0, b), where(flat, 0.0, c), where(flat, steep, d)


def meet(a: Around, b: Shape, R: Mat, c: Vec) -> tuple[Vec, Vec, Vec]:
    """Normal and closest points of a surface of data and another shape, in the frame of a.

    Where a's contact point is held, at a corner, on a flat side or to a rim, b's is the foot of it and the normal is
    b's. Along a line it is the closest of a curve that stays where it is on a: the cut of a with a plane, whose normal
    is known.
    """
    if not meets(b):
        raise ModelError(f"{type(a.source).__name__} and {type(b).__name__}: {why_not(b)}")
    graph = next((v.graph for v in (*c, *R[0], *R[1], *R[2]) if isinstance(v, Expr)), None)
    if graph is not None:
        a, b = a.brought(graph), b.brought(graph) if isinstance(b, Around) else b
    longest = a.source.spacing
    if isinstance(b, Around):
        longest = min(longest, b.source.spacing)
    free, held = compare("lt", 1.5, a.hold[0]), compare("lt", a.hold[0], 0.5)
    plane: Vec = (a.hold[1], a.hold[2], a.hold[3])
    x, y = a.start, _start(b, a, R, c)
    learnt: Mat = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    last: Step | None = None
    rims: Bounded | None = None
    crossing: Crossing | None = None
    crosses: Scalar = False
    along: Vec = (0.0, 0.0, 0.0)
    rough, fine = (ROUGH, FINE) if a.exact else (STEPS, 0)
    if any(isinstance(s, Around) and getattr(s.source, "rims", ()) for s in (a, b)):
        rough += MORE
    for k in range(rough + fine):
        if k == rough:
            a, b = a.sharpened(), b.sharpened() if isinstance(b, Around) else b
            # What was learnt is of the curvatures before.
            learnt, last = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), None
        x, n = _pulled(a, x)
        x = vec(chosen(held, a.start, x))
        y, m = _pulled(b, y)
        n_b = times(R, m)
        n = vec(chosen(held, neg(n_b), n))
        r = sub(add(c, times(R, y)), x)
        d = dot(n, r)
        e1, e2 = frame(n)
        r1, r2 = dot(e1, r), dot(e2, r)
        s1, s2 = dot(e1, n_b), dot(e2, n_b)
        a11, a12, a22 = bend_of(a, x, e1, e2)
        b11, b12, b22 = bend_of(b, y, transposed_times(R, e1), transposed_times(R, e2))
        p11, p12 = b11 * a11 + b12 * a12, b11 * a12 + b12 * a22
        p21, p22 = b12 * a11 + b22 * a12, b12 * a12 + b22 * a22
        # Along the cut of a plane, the way f: back into the plane, and to where f . n_b = 0.
        lean = dot(plane, n)
        wide = maximum(1.0 - lean * lean, TINY)
        way = scale(1.0 / sqrt(wide), cross(plane, n))
        f1, f2 = dot(way, e1), dot(way, e2)
        off = -dot(plane, sub(x, a.start)) / wide
        v1, v2 = b11 * f1 + b12 * f2, b12 * f1 + b22 * f2
        turn = (lean * dot(plane, n_b) - dot(n, n_b)) / wide
        bent = f1 * (a11 * f1 + a12 * f2) + f2 * (a12 * f1 + a22 * f2)
        stiff = turn * bent + f1 * v1 + f2 * v2 - d * (v1 * v1 + v2 * v2)
        # y is no foot of x yet.
        lag = sub(r, scale(dot(r, n_b), n_b))
        single = v1 * dot(e1, lag) + v2 * dot(e2, lag) - f1 * s1 - f2 * s2
        w1 = where(free, b11 * r1 + b12 * r2 - s1, single * f1)
        w2 = where(free, b12 * r1 + b22 * r2 - s2, single * f2)
        residual = add(scale(w1, e1), scale(w2, e2))
        if last is not None:
            learnt = last.learnt(learnt, residual, longest)
        g1, g2 = times(learnt, e1), times(learnt, e2)
        A11, A12 = a11 + b11 + d * p11 + dot(e1, g1), a12 + b12 + d * p12 + dot(e1, g2)
        A21, A22 = a12 + b12 + d * p21 + dot(e2, g1), a22 + b22 + d * p22 + dot(e2, g2)
        stiff = stiff + dot(way, times(learnt, way))
        A11, A12, A21, A22 = _regular(A11, A12, A21, A22)
        t1, t2 = solved_2x2(A11, A12, A21, A22, w1, w2)
        stiff = where(compare("lt", TINY, stiff), stiff, 1.0)
        single = single / stiff
        t1 = where(free, t1, where(held, 0.0, single * f1))
        t2 = where(free, t2, where(held, 0.0, single * f2))
        # Far steps leave the samples that are known here.
        part = minimum(1.0, longest / sqrt(maximum(t1 * t1 + t2 * t2, TINY)))
        t1, t2 = part * t1, part * t2
        step = add(scale(t1, e1), scale(t2, e2))
        last = Step(
            step,
            scale(1.0 - part, residual),
            partial(_answer, free, (A11, A12, A21, A22), stiff, (e1, e2, way)),
        )
        back = where(logical("or", free, held), 0.0, off)
        t1, t2 = t1 + back * dot(plane, e1), t2 + back * dot(plane, e2)
        step = add(scale(t1, e1), scale(t2, e2))
        k1, k2 = t1 + d * (a11 * t1 + a12 * t2) - r1, t2 + d * (a12 * t1 + a22 * t2) - r2
        # The foot of a point that is not free: (I + d K_b) dy = the way to it, across b's normal.
        after = sub(step, r)
        after = sub(after, scale(dot(after, n_b), n_b))
        c11, c12, c22 = 1.0 + d * b11, d * b12, 1.0 + d * b22
        near = compare("lt", TINY, minimum(c11 + c22, c11 * c22 - c12 * c12))
        c11, c12, c22 = where(near, c11, 1.0), where(near, c12, 0.0), where(near, c22, 1.0)
        z1, z2 = solved_2x2(c11, c12, c12, c22, dot(e1, after), dot(e2, after))
        move = add(scale(where(free, k1, z1), e1), scale(where(free, k2, z2), e2))
        around = Rims.of(a, b, R, x, y, n, m, r)
        if around is not None:
            rims = around.bounded(free, held, plane, dot(plane, sub(a.start, x)), longest)
            holds = logical("or", rims.on_a, rims.on_b)
            step, move = vec(chosen(holds, rims.step, step)), vec(chosen(holds, rims.move, move))
            if k == 0:
                crossing = around.crossing(longest)
                crosses = False if crossing is None else crossing.begins
            if crossing is not None:
                edges = around.edges(crossing, longest)
                begins = logical("or", crosses, logical("and", rims.neither, edges.follows))
                crosses = logical("and", logical("and", free, edges.holds), begins)
                step, move = vec(chosen(crosses, edges.on, step)), vec(chosen(crosses, edges.off, move))
                along = vec(chosen(crosses, edges.direction, along))
                holds = logical("or", holds, crosses)
            # A step along a rim tells nothing of the curvatures inside.
            last = replace(last, vector=vec(chosen(holds, (0.0, 0.0, 0.0), last.vector)))
        x = add(x, step)
        y = add(y, transposed_times(R, move))
    x, _ = _pulled(a, x)
    x, n = _pulled(a, x)
    y, m = _pulled(b, y)
    n_b, z = times(R, m), add(c, times(R, y))
    x = vec(chosen(held, a.start, x))
    # Far from the pieces that are known the step of an integrator may reach, but finds nothing there; events call for
    # other pieces before. No contact is one some spacings away.
    none = logical("or", compare("lt", a.hold[0], -0.5), compare("lt", a.room(x), a.far))
    if isinstance(b, Around):
        none = logical("or", none, compare("lt", b.room(y), b.far))
    own = free
    if rims is not None:
        neither = rims.neither
        if crossing is not None:
            neither = logical("and", neither, logical_not(crosses))
        none = logical("or", none, neither)
        own = logical("and", free, logical_not(rims.on_a))
    x = vec(chosen(none, add(z, scale(_apart(a, b, c, AWAY * longest), n_b)), x))
    # Where there is no contact the gap is along the normal of b, whichever way that of a points.
    normal = vec(chosen(logical("and", own, logical_not(none)), n, neg(n_b)))
    if crossing is not None:
        normal = vec(chosen(logical("and", crosses, logical_not(none)), along, normal))
    return normal, x, z


def _apart(a: Around, b: Shape, c: Vec, least: float) -> Scalar:
    """The gap between surfaces of which no points are known: that of the spheres around them, or the least."""
    radii = [a.source.bounding_radius(), b.bounding_radius()]
    if b.planar or any(isinstance(r, Expr) or r == math.inf for r in radii):
        return least
    return maximum(least, sqrt(maximum(dot(c, c), TINY)) - sum(float(r) for r in radii))


__all__ = ["Local", "meet", "meets"]
