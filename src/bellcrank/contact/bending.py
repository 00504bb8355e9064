"""Flexible members with modes in contact by fields: their surface bends, and so does the depth within them.

A material point X of the member is at x = X + u(X), u = sum_k phi_k(X) eta_k. The depth at x is that of the undeformed
body at the X which came there. Its slope is F^-T times that of the undeformed body, F = 1 + du/dX. A force at x acts on
the modes at the material point X, so force and modal forces are the slope of one energy. Lengths change by the strain,
so this is the depth of the deformed body up to a part as large as the strain. The linear displacement of modes makes it
smaller by half the square of the angle by which a part turns.

u between and around the vertices of the surface is a cubic spline on a grid, fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.field_surface import Node, Surface, Triangle
from bellcrank.math.vectors import IDENTITY, ZERO, Matrix, Vector, inverse
from bellcrank.program.loops import Reals, Reals2, Records, compiled, gradient, reals, value

Floats = NDArray[np.float64]
Entry = Callable[[Reals, int], float]

CASES = 7
"""Loads whose forces on the coordinates bristles need: the contact itself, then a unit force along each axis and a unit
moment about each, spread as the normal load is."""
STEPS = 30
"""Of Newton's method for a material point at most; it takes three or four where bodies touch."""
CLOSE = 1e-7
"""Last step of that search, over the size of the body: the point is then known to the square of it."""


@compiled
def exact(a: Reals, i: int) -> float:
    """An entry with its rates."""
    return a[i]  # type: ignore[no-any-return]


@compiled
def plain(a: Reals, i: int) -> float:
    """An entry without its rates."""
    return value(a[i])  # type: ignore[no-any-return]


@compiled
def unit_load(case: int, y: Vector) -> Vector:
    """The force at y of a unit force along an axis (1, 2, 3), or of a unit moment (4, 5, 6)."""
    k = (case - 1) % 3
    e = Vector(1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    found = e
    if case > 3:
        found = e.cross(y)
    return found


class Grid(NamedTuple):
    """A cubic spline of displacements.

    origin: Its corner [m]. axes: Rows are its directions. fine: Cells in a metre along them. nx, ny, nz: Cells. order:
    Splines over a cell along each direction, four. control: For each of (nx + 3) (ny + 3) (nz + 3) coefficients three
    rows, a column for each mode. size: Of the body [m].
    """

    origin: Vector
    axes: Matrix
    fine: Vector
    nx: int
    ny: int
    nz: int
    order: int
    control: Reals2
    size: float

    def combine(self, i: int, j: int, k: int, q: Reals, cell: Reals) -> None:
        """The coefficients over a cell at coordinates q, kept in `cell` until another one is asked for."""
        number = 1.0 + (i * (self.ny + 3) + j) * (self.nz + 3) + k
        if value(cell[CELL - 1]) == number:
            return
        cell[CELL - 1] = number
        for a in range(self.order):
            for b in range(self.order):
                for c in range(self.order):
                    row = 3 * (((i + a) * (self.ny + 3) + j + b) * (self.nz + 3) + k + c)
                    into = 3 * ((a * self.order + b) * self.order + c)
                    for x in range(3):
                        total = 0.0
                        for m in range(len(q)):
                            total += self.control[row + x, m] * q[m]
                        cell[into + x] = total


class Moved(NamedTuple):
    """Displacement of a material point, and its slope."""

    u: Vector
    slope: Matrix


LAST = 3 * 64
CELL = LAST + 16
"""Numbers kept: 64 coefficients over a cell; the last material point, where it was, and the inverse of the slope there;
and which cell it is, zero where it is none yet."""


@compiled
def shifted(grid: Grid, at: Vector, q: Reals, cell: Reals) -> Vector:
    """The displacement alone, without rates."""
    w = reals(12)
    d = reals(12)
    y = grid.axes @ (at - grid.origin)
    i = along(y.x * grid.fine.x, grid.nx, 0, w, d)
    j = along(y.y * grid.fine.y, grid.ny, 4, w, d)
    k = along(y.z * grid.fine.z, grid.nz, 8, w, d)
    grid.combine(i, j, k, q, cell)
    u = ZERO
    for a in range(grid.order):
        plane = ZERO
        for b in range(grid.order):
            first = 12 * (a * grid.order + b)
            row = vector_at(cell, first, plain) * plain(w, 8) + vector_at(cell, first + 3, plain) * plain(
                w, 9
            )
            row += vector_at(cell, first + 6, plain) * plain(w, 10) + vector_at(
                cell, first + 9, plain
            ) * plain(w, 11)
            plane += row * plain(w, 4 + b)
        u += plane * plain(w, a)
    return u


@compiled
def vector_at(table: Reals, first: int, read: Entry) -> Vector:
    """Three numbers of a table."""
    return Vector(read(table, first), read(table, first + 1), read(table, first + 2))


@compiled
def put(table: Reals, first: int, v: Vector) -> None:
    """Write three numbers."""
    table[first], table[first + 1], table[first + 2] = v


@compiled
def moved(grid: Grid, at: Vector, q: Reals, cell: Reals, read: Entry) -> Moved:
    """Displacement and slope at coordinates q; beyond the grid it stays as at its rim."""
    w = reals(12)
    d = reals(12)
    y = grid.axes @ (at - grid.origin)
    i = along(y.x * grid.fine.x, grid.nx, 0, w, d)
    j = along(y.y * grid.fine.y, grid.ny, 4, w, d)
    k = along(y.z * grid.fine.z, grid.nz, 8, w, d)
    grid.combine(i, j, k, q, cell)
    u = ZERO
    by_x = ZERO
    by_y = ZERO
    by_z = ZERO
    for a in range(grid.order):
        plane = ZERO
        plane_y = ZERO
        plane_z = ZERO
        for b in range(grid.order):
            row = ZERO
            row_z = ZERO
            for c in range(grid.order):
                here = vector_at(cell, 3 * ((a * grid.order + b) * grid.order + c), read)
                row += here * read(w, 8 + c)
                row_z += here * read(d, 8 + c)
            plane += row * read(w, 4 + b)
            plane_y += row * read(d, 4 + b)
            plane_z += row_z * read(w, 4 + b)
        u += plane * read(w, a)
        by_x += plane * read(d, a)
        by_y += plane_y * read(w, a)
        by_z += plane_z * read(w, a)
    steep = Matrix(by_x * grid.fine.x, by_y * grid.fine.y, by_z * grid.fine.z)
    return Moved(u, steep.transposed @ grid.axes)


@compiled
def along(u: float, cells: int, first: int, w: Reals, d: Reals) -> int:
    """The cell of a coordinate, and there the four cubic B-splines and their slopes."""
    held = min(max(u, 0.0), 1.0 * cells)
    i = min(int(value(held)), cells - 1)
    t = held - i
    s = 1.0 - t
    w[first] = s * s * s / 6.0
    w[first + 1] = 2.0 / 3.0 + t * t * (0.5 * t - 1.0)
    w[first + 2] = 2.0 / 3.0 + s * s * (0.5 * s - 1.0)
    w[first + 3] = t * t * t / 6.0
    within = 1.0 if 0.0 <= u <= cells else 0.0
    d[first] = -0.5 * s * s * within
    d[first + 1] = t * (1.5 * t - 2.0) * within
    d[first + 2] = s * (2.0 - 1.5 * s) * within
    d[first + 3] = 0.5 * t * t * within
    return i


class Bent(NamedTuple):
    """A flexible member at modal coordinates eta, as surface and as field: x = x0 + sum phi_k eta_k.

    rest: The surface at rest. shapes: phi of the vertices, three rows each. middles: Those of the spheres around nodes.
    spreads: How much further a vertex may move, by mode. body: Depth of the undeformed member. grid: phi in its body.
    strains: No stretch of a unit of a mode is more. rates: Of eta. cell: See :data:`CELL`. pushes: Takes the forces on
    the modes, from the place `first` on, for so many `cases` of loads.
    """

    rest: Surface
    shapes: Reals2
    middles: Reals2
    spreads: Reals2
    body: Any
    grid: Grid
    strains: Reals
    eta: Reals
    rates: Reals
    cell: Reals
    pushes: Reals
    first: int
    cases: int

    @property
    def nodes(self) -> Records[Node]:
        return self.rest.nodes

    @property
    def triangles(self) -> Records[Triangle]:
        return self.rest.triangles

    @property
    def inner(self) -> Vector:
        return self.rest.inner

    @property
    def inner_radius(self) -> float:
        return self.rest.inner_radius

    @property
    def surface(self) -> Bent:
        return self

    @property
    def field(self) -> Bent:
        return self

    def vertex(self, k: int) -> Vector:
        return self.rest.vertices[k] + combined(self.shapes, k, self.eta)

    def area(self, triangle: Triangle, first: int) -> float:
        return triangle.area

    def speed(self, k: int) -> Vector:
        return combined(self.shapes, k, self.rates)

    def centre(self, i: int) -> Vector:
        return self.rest.nodes[i].centre + combined(self.middles, i, self.eta)

    def reach(self, i: int) -> float:
        found = self.rest.nodes[i].radius
        for j in range(len(self.eta)):
            found += self.spreads[i, j] * abs(value(self.eta[j]))
        return found

    def rise(self, i: int, g: Vector) -> float:
        return self.reach(i) * g.length  # type: ignore[no-any-return]

    def push(self, k: int, force: Vector, case: int) -> None:
        """A force on a vertex, as a part of a case of loads."""
        self.give(self.shapes, k, force, case)

    def weigh(self, k: int, load: float) -> None:
        """Spread the unit loads as the normal load is."""
        for case in range(1, self.cases):
            self.push(k, unit_load(case, self.vertex(k)) * load, case)

    def scale_pushes(self, contact: float, units: float) -> None:
        """Forces of the contact and of the unit loads become so many times as large."""
        n = len(self.eta)
        for j in range(self.cases * n):
            self.pushes[self.first + j] *= contact if j < n else units

    def located(self, x: Vector) -> Vector:
        """The material point at x, without rates.

        From the last one that was asked for, which is near, by steps with the slope there; anew where they do not get
        ten times shorter each.
        """
        cell = self.cell
        back = Matrix(
            vector_at(cell, LAST + 6, plain),
            vector_at(cell, LAST + 9, plain),
            vector_at(cell, LAST + 12, plain),
        )
        at = vector_at(cell, LAST, plain) + back @ (x - vector_at(cell, LAST + 3, plain))
        fresh = value(cell[CELL - 1]) == 0.0
        if fresh:
            at = x
        before = np.inf
        for _ in range(STEPS):
            if fresh:
                m = moved(self.grid, at, self.eta, cell, plain)
                back = inverse(IDENTITY + m.slope)
                step = back @ (at + m.u - x)
            else:
                step = back @ (at + shifted(self.grid, at, self.eta, cell) - x)
            at = at - step
            size = step.square
            if size <= (CLOSE * self.grid.size) ** 2:
                break
            fresh = size > 0.01 * before
            before = size
        put(cell, LAST, at)
        put(cell, LAST + 3, x)
        put(cell, LAST + 6, back.a)
        put(cell, LAST + 9, back.b)
        put(cell, LAST + 12, back.c)
        return at  # type: ignore[no-any-return]

    def depth(self, x: Vector) -> float:
        """Depth [m] at x, without rates of the coordinates."""
        return self.body.depth(self.located(x))  # type: ignore[no-any-return]

    def bound(self, x: Vector, r: float) -> float:
        """By the least length to which the member strains a unit."""
        least = 1.0
        for j in range(len(self.eta)):
            least -= self.strains[j] * abs(value(self.eta[j]))
        most = np.inf
        if least > 0.0:
            most = self.body.bound(self.located(x), r / least)
        return most

    def met(self, x: Vector) -> tuple[float, Vector, Vector]:
        """Depth [m] at x, its slope, and the material point; each of two steps doubles the order of exact rates."""
        at = self.located(value(x))
        m = moved(self.grid, at, self.eta, self.cell, exact)
        at = at - inverse(IDENTITY + m.slope) @ (at + m.u - x)
        m = moved(self.grid, at, self.eta, self.cell, exact)
        back = inverse(IDENTITY + m.slope)
        at = at - back @ (at + m.u - x)
        d, g = gradient(self.body.depth, at)
        m = moved(self.grid, at, self.eta, self.cell, exact)
        return d, inverse(IDENTITY + m.slope).transposed @ g, at

    def velocity(self, at: Vector) -> Vector:
        """Of a material point against the frame of the member [m/s]."""
        grid = self.grid
        w = reals(12)
        d = reals(12)
        y = grid.axes @ (at - grid.origin)
        i = along(y.x * grid.fine.x, grid.nx, 0, w, d)
        j = along(y.y * grid.fine.y, grid.ny, 4, w, d)
        k = along(y.z * grid.fine.z, grid.nz, 8, w, d)
        found = ZERO
        for a in range(grid.order):
            for b in range(grid.order):
                for c in range(grid.order):
                    node = ((i + a) * (grid.ny + 3) + j + b) * (grid.nz + 3) + k + c
                    found += combined(grid.control, node, self.rates) * (w[a] * w[4 + b] * w[8 + c])
        return found

    def push_at(self, at: Vector, force: Vector, case: int) -> None:
        """A force on a material point, as a part of a case of loads."""
        grid = self.grid
        w = reals(12)
        d = reals(12)
        y = grid.axes @ (at - grid.origin)
        i = along(y.x * grid.fine.x, grid.nx, 0, w, d)
        j = along(y.y * grid.fine.y, grid.ny, 4, w, d)
        k = along(y.z * grid.fine.z, grid.nz, 8, w, d)
        for a in range(grid.order):
            for b in range(grid.order):
                for c in range(grid.order):
                    node = ((i + a) * (grid.ny + 3) + j + b) * (grid.nz + 3) + k + c
                    self.give(grid.control, node, force * (w[a] * w[4 + b] * w[8 + c]), case)

    def give(self, shapes: Reals2, k: int, force: Vector, case: int) -> None:
        """The work of a force along the displacement in the rows 3 k to 3 k + 2, mode by mode."""
        at = self.first + case * len(self.eta)
        for j in range(len(self.eta)):
            work = force.x * shapes[3 * k, j] + force.y * shapes[3 * k + 1, j]
            self.pushes[at + j] += work + force.z * shapes[3 * k + 2, j]

    def weigh_at(self, at: Vector, x: Vector, load: float) -> None:
        """Spread the unit loads as the normal load is; x: Where the material point is."""
        for case in range(1, self.cases):
            self.push_at(at, unit_load(case, x) * load, case)


@compiled
def combined(shapes: Reals2, k: int, weights: Reals) -> Vector:
    """sum w_j phi_kj of the rows 3 k to 3 k + 2."""
    x = 0.0
    y = 0.0
    z = 0.0
    for j in range(len(weights)):
        x += shapes[3 * k, j] * weights[j]
        y += shapes[3 * k + 1, j] * weights[j]
        z += shapes[3 * k + 2, j] * weights[j]
    return Vector(x, y, z)


CELLS = 24
"""Along the longest side of the grid of displacements: four for each half wave of the sixth bending mode of a beam."""
MOST_CELLS = 1500
"""Cells of that grid at most; a cube has eleven along each side."""
MARGIN = 0.02
"""From the surface to the border of the grid, over the longest side."""
STIFF = 1e-7
"""Weight of second differences against the misfit: they decide only where no vertex is near."""


def grid_of(vertices: Floats, modes: Floats) -> tuple[Grid, Floats, Floats]:
    """The spline through modes (n, 3, k) of vertices (n, 3); by mode its misfit over the mode, and its largest strain.

    The grid lies along the axes of the member, or along those of its second moment where the box is much smaller then.
    """
    import scipy.sparse as sp
    from scipy.sparse.linalg import splu

    axes = np.eye(3)
    _, own = np.linalg.eigh(np.cov(vertices.T))
    if np.prod(np.ptp(vertices @ own, axis=0)) < 0.5 * np.prod(np.ptp(vertices, axis=0)):
        axes = own.T
    y = vertices @ axes.T
    size = float(np.ptp(y, axis=0).max())
    low, high = y.min(axis=0) - MARGIN * size, y.max(axis=0) + MARGIN * size
    longest = CELLS
    while True:
        cells = np.maximum(np.rint(longest * (high - low) / (high - low).max()), 1).astype(int)
        if cells.prod() <= MOST_CELLS or longest <= 2:
            break
        longest -= 1
    fine = cells / (high - low)
    value, slopes = _design((y - low) * fine, cells)
    count = cells + 3
    bends = []
    for axis in range(3):
        ones = [sp.eye_array(n, format="csr") for n in count]
        n = int(count[axis])
        ones[axis] = sp.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(n - 2, n), format="csr")  # type: ignore[assignment]
        bends.append(sp.kron(sp.kron(ones[0], ones[1]), ones[2], format="csr"))
    D = sp.vstack(bends)
    normal = (value.T @ value + STIFF * len(vertices) / count.prod() * (D.T @ D)).tocsc()
    k = modes.shape[2]
    control = splu(normal).solve(np.asarray(value.T @ modes.reshape(len(vertices), -1)))
    found = (value @ control).reshape(modes.shape)
    scale = np.abs(modes).max(axis=(0, 1))
    misfit = np.abs(found - modes).max(axis=(0, 1)) / np.where(scale > 0.0, scale, 1.0)
    slope = np.stack(
        [(d @ control).reshape(modes.shape) * f for d, f in zip(slopes, fine, strict=True)], axis=2
    )
    slope = np.einsum("nigk,gj->nijk", slope, axes)
    strain = np.moveaxis(0.5 * (slope + slope.swapaxes(1, 2)), 3, 1)
    strains = np.linalg.norm(strain, axis=(2, 3)).max(axis=0)
    rows = [Vector(*row) for row in axes.tolist()]
    nx, ny, nz = cells.tolist()
    grid = Grid(
        Vector(*(low @ axes).tolist()),
        Matrix(*rows),
        Vector(*fine.tolist()),
        nx,
        ny,
        nz,
        4,
        np.ascontiguousarray(control.reshape(-1, k)),
        size,
    )
    return grid, misfit, strains


def _design(u: Floats, cells: NDArray[np.int64]) -> tuple[Any, list[Any]]:
    """Sparse matrices from coefficients to values at places u (n, 3) in cells, and to slopes by them."""
    import scipy.sparse as sp

    i = np.clip(np.floor(u).astype(int), 0, cells - 1)
    t = u - i
    s = 1.0 - t
    w = np.stack([s**3 / 6, 2 / 3 + t * t * (0.5 * t - 1), 2 / 3 + s * s * (0.5 * s - 1), t**3 / 6], axis=2)
    d = np.stack([-0.5 * s * s, t * (1.5 * t - 2), s * (2 - 1.5 * s), 0.5 * t * t], axis=2)
    count = cells + 3
    places = i[:, :, None] + np.arange(4)
    flat = (places[:, 0, :, None, None] * count[1] + places[:, 1, None, :, None]) * count[2] + places[
        :, 2, None, None, :
    ]
    rows = np.repeat(np.arange(len(u)), 64)
    made = []
    for k in range(4):
        x, y, z = (d[:, a] if a == k - 1 else w[:, a] for a in range(3))
        weights = np.einsum("na,nb,nc->nabc", x, y, z)
        made.append(sp.csr_array((weights.ravel(), (rows, flat.ravel())), shape=(len(u), int(count.prod()))))
    return made[0], made[1:]
