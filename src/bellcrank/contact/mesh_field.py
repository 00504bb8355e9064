"""The depth of a triangle mesh as a smooth function, in the loop language.

Exact depths at the nodes of a regular grid become coefficients of tricubic B-splines (C2) by quasi-interpolation with
the weights (-1, 8, -1) / 6 along each axis: fourth order where the depth is smooth, and a kink (an edge, the medial
axis) is rounded over two cells. Two grids share the work: blocks of 8^3 fine cells hold a narrow band around the
surface, and a dense grid of cells four times as long holds everything else, so that what lies deep inside is inside and
what lies far outside has a distance. Between `NEAR` and `BAND` cells from the surface one passes into the other.

All lengths in the tables are in fine cells: a mesh scaled by s has the same tables and s times the depth.

Source of the quasi-interpolation: de Boor (1978), A Practical Guide to Splines, chapter XII.
"""

from __future__ import annotations

from typing import NamedTuple

from bellcrank.contact.shapes.fields import Tangent
from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Ints, Reals, value

BLOCK = 8
"""Fine cells along the side of a block."""
SIDE = BLOCK + 3
"""Coefficients along the side of a block: a cell needs four, so blocks carry an apron."""
COARSE = 4
"""Fine cells along the side of a coarse cell."""
NEAR, BAND = 1.5, 3.5
"""Depths [cells] at which the fine spline begins to pass into the coarse one, and has passed into it."""
MARGIN = 8.0
"""From the mesh to the border of the grid [cells]: the band, and a coarse cell in which points are eased inwards."""
FINE_EXCESS, EXCESS = 0.35, 2.0
"""How far the field lies from the distance at most [cells], in the fine grid and anywhere: a cubic spline misses the
tip of a cone, the worst kink, by 0.3 of its cells, and the coarse cells are four times as long; where both grids meet
at a kink, half a cell more."""

GROUP = 2
"""Fine cells along the side of a group, for which one bound of the curvature is kept."""
GROUPS = BLOCK // GROUP
"""Groups along the side of a block."""
REACH = 3.0
"""How far from a point the bound of the curvature there holds [cells]. What has no fine block is more than four cells
from the surface, so a straight line of this length that ends inside the mesh and begins less than half a cell deep
stays in fine blocks."""

SIXTH = 1.0 / 6.0
"""Divisions take ten times as long as products."""


class Weights(NamedTuple):
    """Of the four coefficients around a point."""

    a: float
    b: float
    c: float
    d: float


class Row(NamedTuple):
    """A spline along one line of coefficients: its value and its slope."""

    value: float
    slope: float


class Plane(NamedTuple):
    """A spline in a plane of coefficients: its value and its slopes along y and z."""

    value: float
    y: float
    z: float


def _weights(t: float) -> Weights:
    """Cubic B-splines at t in [0, 1] of a cell."""
    u = 1.0 - t
    return Weights(
        u * u * u * SIXTH,
        t * t * (0.5 * t - 1.0) + 4.0 * SIXTH,
        u * u * (0.5 * u - 1.0) + 4.0 * SIXTH,
        t * t * t * SIXTH,
    )


def _slopes(t: float) -> Weights:
    """The derivatives of the cubic B-splines."""
    u = 1.0 - t
    return Weights(-0.5 * u * u, t * (1.5 * t - 2.0), u * (2.0 - 1.5 * u), 0.5 * t * t)


def _along(c: Reals, m: int, w: Weights) -> float:
    return c[m] * w.a + c[m + 1] * w.b + c[m + 2] * w.c + c[m + 3] * w.d  # type: ignore[no-any-return]


def _across(c: Reals, m: int, step: int, v: Weights, w: Weights) -> float:
    return (
        _along(c, m, w) * v.a
        + _along(c, m + step, w) * v.b
        + _along(c, m + 2 * step, w) * v.c
        + _along(c, m + 3 * step, w) * v.d
    )


def _row(c: Reals, m: int, w: Weights, s: Weights) -> Row:
    return Row(_along(c, m, w), _along(c, m, s))


def _plane(c: Reals, m: int, step: int, v: Weights, r: Weights, w: Weights, s: Weights) -> Plane:
    """v, r: Weights and slopes along y; w, s: Along z."""
    e, f = _row(c, m, w, s), _row(c, m + step, w, s)
    g, h = _row(c, m + 2 * step, w, s), _row(c, m + 3 * step, w, s)
    return Plane(
        e.value * v.a + f.value * v.b + g.value * v.c + h.value * v.d,
        e.value * r.a + f.value * r.b + g.value * r.c + h.value * r.d,
        e.slope * v.a + f.slope * v.b + g.slope * v.c + h.slope * v.d,
    )


def _eased(u: float, end: float) -> float:
    """u within [0, end], C2: the last coarse cell takes in what lies up to one coarse cell beyond.

    The slope falls from 1 to 0 as 1 - 3 q^2 + 2 q^3 over q = 0 ... 1, two coarse cells. What is not a number is taken
    to the end, so that the tables are never left.
    """
    if COARSE < u < end - COARSE:
        return u
    low = u < 0.5 * end
    e = COARSE - u if low else u - (end - COARSE)
    g = 1.0 * COARSE
    if e < 2.0 * COARSE:
        q = e / (2.0 * COARSE)
        g = e * (1.0 - q * q * (1.0 - 0.5 * q))
    return COARSE - g if low else end - COARSE + g


def _eased_slope(u: float, end: float) -> float:
    """The derivative of :func:`_eased`."""
    if COARSE < u < end - COARSE:
        return 1.0
    e = COARSE - u if u < 0.5 * end else u - (end - COARSE)
    if e < 2.0 * COARSE:
        q = e / (2.0 * COARSE)
        return 1.0 - q * q * (3.0 - 2.0 * q)
    return 0.0


def _beyond(u: float, end: float) -> float:
    """How far a coordinate lies outside the box around the mesh [cells]."""
    return max(max(MARGIN - u, u - (end - MARGIN)), 0.0)


class MeshField(NamedTuple):
    """Depth of a mesh (:mod:`bellcrank.contact.mesh_field`).

    origin: Corner of the grid [m]. spacing: Side of a fine cell [m]. nx, ny, nz: Blocks along the axes. table: For each
    block its place among the coefficients, or -1 where only the coarse grid is. fine: (SIDE^3) coefficients [cells] of
    each block. coarse: Coefficients [cells] of the dense grid. bends: For each group of cells of each block an upper
    bound of the second derivatives of the fine spline within `REACH` [1/cell]. steepest: Largest slope of the depth,
    measured. deepest: No depth is larger [cells]. jump: How much more than by the distance
    the depth may change [cells]; 0 but for meshes with holes so wide that what closes them is far from all triangles.
    """

    origin: Vector
    spacing: float
    nx: int
    ny: int
    nz: int
    table: Ints
    fine: Reals
    coarse: Reals
    bends: Reals
    steepest: float
    deepest: float
    jump: float

    def depth(self, x: Vector) -> float:
        """Depth [m] at x, positive inside.

        The distance to the surface within the rounding of edges and, in cells, the fourth power of the spacing; far
        outside the grid at most minus the distance to it.
        """
        u = self._cells(x)
        if self._within(u):
            return self.spacing * self._spline(u)
        inner = Vector(
            _eased(u.x, 1.0 * BLOCK * self.nx),
            _eased(u.y, 1.0 * BLOCK * self.ny),
            _eased(u.z, 1.0 * BLOCK * self.nz),
        )
        return self.spacing * (self._spline(inner) - ((u - inner).square + 1e-30) ** 0.5)  # type: ignore[no-any-return]

    def depth_and_gradient(self, x: Vector) -> tuple[float, Vector]:
        """Depth [m] at x and its gradient, the same numbers as by duals and sooner."""
        u = self._cells(x)
        ex, ey, ez = 1.0 * BLOCK * self.nx, 1.0 * BLOCK * self.ny, 1.0 * BLOCK * self.nz
        inner = Vector(_eased(u.x, ex), _eased(u.y, ey), _eased(u.z, ez))
        d, g = self._spline_and_slope(inner)
        out = u - inner
        length = (out.square + 1e-30) ** 0.5
        # Beyond the grid the point is eased inwards, and the distance it moves counts as distance.
        kx, ky, kz = _eased_slope(u.x, ex), _eased_slope(u.y, ey), _eased_slope(u.z, ez)
        return self.spacing * (d - length), Vector(
            g.x * kx - (1.0 - kx) * out.x / length,
            g.y * ky - (1.0 - ky) * out.y / length,
            g.z * kz - (1.0 - kz) * out.z / length,
        )

    def bound(self, x: Vector, r: float) -> float:
        """An upper bound [m] of the depth within r of x.

        By the slope of the field; by the distance, whose slope is 1 and from which the field differs by little where it
        is not far below zero; and beyond the grid by the distance to the box around the mesh.
        """
        u = self._cells(x)
        near = r * (1.0 / self.spacing)
        # Across a jump the depth may be larger by as much.
        reach = near + self.jump
        # For small spheres the slope of the field says more than the distance does.
        if reach > 1.0 and self._within(u):
            at = self._block(u)
            if at >= 0:
                d = self._fine(u, at)
                most = min(d + reach + 2.0 * FINE_EXCESS, self.deepest)
                if most < -NEAR:
                    # The coarse grid takes part, and the whole excess counts.
                    most = min(-NEAR, d + reach + FINE_EXCESS + EXCESS)
                return self.spacing * most
        away = self._away(u)
        outside = reach + EXCESS - away if away > 0.0 else self.deepest
        if outside < -2.0 * MARGIN:
            return self.spacing * outside
        d = self.depth(x) / self.spacing
        found = min(outside, self.deepest)
        if self.jump == 0.0:
            found = min(found, d + self.steepest * near)
        if away < MARGIN - COARSE:
            here = FINE_EXCESS if d > -NEAR else EXCESS
            found = min(found, max(d + here + reach + FINE_EXCESS, -NEAR))
        return self.spacing * found

    def tangent(self, x: Vector) -> Tangent:
        """By the slope and the curvature of the fine spline: where that is not positive, nor is the field."""
        u = self._cells(x)
        if self._within(u):
            at = self._block(u)
            if at >= 0:
                ix, iy, iz = self._cell(u.x, self.nx), self._cell(u.y, self.ny), self._cell(u.z, self.nz)
                m = ((at * SIDE + ix % BLOCK) * SIDE + iy % BLOCK) * SIDE + iz % BLOCK
                d, g = _cube(self.fine, m, SIDE * SIDE, SIDE, u.x - ix, u.y - iy, u.z - iz)
                group = (
                    (at * GROUPS + ix % BLOCK // GROUP) * GROUPS + iy % BLOCK // GROUP
                ) * GROUPS + iz % BLOCK // GROUP
                return Tangent(
                    self.spacing * d,
                    g,
                    self.bends[group] / self.spacing,
                    REACH * self.spacing if d < 0.5 and self.jump == 0.0 else 0.0,
                    self._clear(d, d + 2.0 * FINE_EXCESS),
                )
        away = self._away(u)
        d = self.depth(x) / self.spacing
        near = d + EXCESS + FINE_EXCESS if away < MARGIN - COARSE else EXCESS - away
        return Tangent(0.0, x - x, 0.0, 0.0, self._clear(d, near))

    def _cells(self, x: Vector) -> Vector:
        """A point in the frame of the grid [cells]."""
        return (x - self.origin) * (1.0 / self.spacing)  # type: ignore[no-any-return]

    def _clear(self, d: float, near: float) -> float:
        """Minus the distance [m] within which there is no inside, at a depth d that by distances is at most `near`.

        By the slope of the field, or by the distance; across a jump by the distance alone.
        """
        if self.jump == 0.0:
            near = min(near, d / self.steepest if d < 0.0 else d)
        return self.spacing * (near + self.jump)

    def _away(self, u: Vector) -> float:
        """How far a point [cells] lies outside the box around the mesh."""
        return Vector(  # type: ignore[no-any-return]
            _beyond(u.x, 1.0 * BLOCK * self.nx),
            _beyond(u.y, 1.0 * BLOCK * self.ny),
            _beyond(u.z, 1.0 * BLOCK * self.nz),
        ).length

    def _within(self, u: Vector) -> bool:
        """Whether a point [cells] lies where nothing is eased."""
        return (  # type: ignore[no-any-return]
            COARSE < u.x < BLOCK * self.nx - COARSE
            and COARSE < u.y < BLOCK * self.ny - COARSE
            and COARSE < u.z < BLOCK * self.nz - COARSE
        )

    def _block(self, u: Vector) -> int:
        """The place of the fine block around a point [cells], or -1."""
        i = min(int(value(u.x)) // BLOCK, self.nx - 1)
        j = min(int(value(u.y)) // BLOCK, self.ny - 1)
        k = min(int(value(u.z)) // BLOCK, self.nz - 1)
        return self.table[(i * self.ny + j) * self.nz + k]  # type: ignore[return-value, no-any-return]

    def _spline(self, u: Vector) -> float:
        """Depth at u, both in cells; u within the grid."""
        at = self._block(u)
        if at >= 0:
            d = self._fine(u, at)
            a = abs(d)
            if a <= NEAR:
                return d
            if a < BAND:
                q = (a - NEAR) / (BAND - NEAR)
                return d + q * q * q * (q * (6.0 * q - 15.0) + 10.0) * (self._coarse(u) - d)
        return self._coarse(u)

    def _fine(self, u: Vector, at: int) -> float:
        ix, iy, iz = self._cell(u.x, self.nx), self._cell(u.y, self.ny), self._cell(u.z, self.nz)
        v, w = _weights(u.y - iy), _weights(u.z - iz)
        m = ((at * SIDE + ix % BLOCK) * SIDE + iy % BLOCK) * SIDE + iz % BLOCK
        x = _weights(u.x - ix)
        c, p = self.fine, SIDE * SIDE
        return (
            _across(c, m, SIDE, v, w) * x.a
            + _across(c, m + p, SIDE, v, w) * x.b
            + _across(c, m + 2 * p, SIDE, v, w) * x.c
            + _across(c, m + 3 * p, SIDE, v, w) * x.d
        )

    def _cell(self, u: float, blocks: int) -> int:
        """The fine cell of a coordinate [cells]; the end of the grid belongs to the last one."""
        return min(int(value(u)), BLOCK * blocks - 1)

    def _coarse(self, u: Vector) -> float:
        q = u / (1.0 * COARSE)
        n = BLOCK // COARSE
        ix, iy, iz = (
            min(int(value(q.x)), n * self.nx - 1),
            min(int(value(q.y)), n * self.ny - 1),
            min(int(value(q.z)), n * self.nz - 1),
        )
        step = n * self.nz + 3
        p = step * (n * self.ny + 3)
        x, v, w = _weights(q.x - ix), _weights(q.y - iy), _weights(q.z - iz)
        c, m = self.coarse, ix * p + iy * step + iz
        return (
            _across(c, m, step, v, w) * x.a
            + _across(c, m + p, step, v, w) * x.b
            + _across(c, m + 2 * p, step, v, w) * x.c
            + _across(c, m + 3 * p, step, v, w) * x.d
        )

    def _spline_and_slope(self, u: Vector) -> tuple[float, Vector]:
        """Depth at u [cells] and its gradient."""
        at = self._block(u)
        if at >= 0:
            ix, iy, iz = self._cell(u.x, self.nx), self._cell(u.y, self.ny), self._cell(u.z, self.nz)
            m = ((at * SIDE + ix % BLOCK) * SIDE + iy % BLOCK) * SIDE + iz % BLOCK
            d, g = _cube(self.fine, m, SIDE * SIDE, SIDE, u.x - ix, u.y - iy, u.z - iz)
            a = abs(d)
            if a <= NEAR:
                return d, g
            if a < BAND:
                e, f = self._coarse_and_slope(u)
                q = (a - NEAR) / (BAND - NEAR)
                share = q * q * q * (q * (6.0 * q - 15.0) + 10.0)
                turn = 30.0 * q * q * (1.0 - q) * (1.0 - q) / (BAND - NEAR) * (e - d)
                own = 1.0 - share + (turn if d > 0.0 else -turn)
                return d + share * (e - d), g * own + f * share
        return self._coarse_and_slope(u)

    def _coarse_and_slope(self, u: Vector) -> tuple[float, Vector]:
        q = u / (1.0 * COARSE)
        n = BLOCK // COARSE
        ix, iy, iz = (
            min(int(q.x), n * self.nx - 1),
            min(int(q.y), n * self.ny - 1),
            min(int(q.z), n * self.nz - 1),
        )
        step = n * self.nz + 3
        p = step * (n * self.ny + 3)
        d, g = _cube(self.coarse, ix * p + iy * step + iz, p, step, q.x - ix, q.y - iy, q.z - iz)
        return d, g / (1.0 * COARSE)


def _cube(c: Reals, m: int, p: int, step: int, tx: float, ty: float, tz: float) -> tuple[float, Vector]:
    """A tricubic spline and its slope, from the 64 coefficients that begin at m."""
    x, r = _weights(tx), _slopes(tx)
    y, s = _weights(ty), _slopes(ty)
    z, t = _weights(tz), _slopes(tz)
    e = _plane(c, m, step, y, s, z, t)
    f = _plane(c, m + p, step, y, s, z, t)
    g = _plane(c, m + 2 * p, step, y, s, z, t)
    h = _plane(c, m + 3 * p, step, y, s, z, t)
    return (
        e.value * x.a + f.value * x.b + g.value * x.c + h.value * x.d,
        Vector(
            e.value * r.a + f.value * r.b + g.value * r.c + h.value * r.d,
            e.y * x.a + f.y * x.b + g.y * x.c + h.y * x.d,
            e.z * x.a + f.z * x.b + g.z * x.c + h.z * x.d,
        ),
    )
