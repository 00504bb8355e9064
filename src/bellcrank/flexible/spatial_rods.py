"""Rods that bend and twist in space: screws, the exponential of a slice, sections and their masses.

A twist is a screw, and the formulas of rotations hold for screws with dual numbers in place of reals (Kotelnikov's
transference):

    T(Omega) X = X - b Omega x X + c Omega x (Omega x X),    b = (1 - cos a) / a^2, c = (a - sin a) / a^3,

gives the motion g^-1 dg of a frame at exp(Omega) for dOmega = X. :class:`Chain` is what the recursion of
:mod:`bellcrank.flexible.rod_motion` asks of the space it goes on in; :mod:`bellcrank.flexible.planar_rods` has the same
for rods in a plane.
"""

from __future__ import annotations

from typing import NamedTuple

from bellcrank.math.vectors import IDENTITY, ZERO, Matrix, Vector
from bellcrank.program.loops import Ints, Reals, Reals2, Routine, compiled

TERMS = 12
"""Of the series below. For slices that turn by pi, where Magnus' series ends to converge, the rest is 1e-17."""
FEW_TERMS, SMALL = 5, 0.25
"""For slices that turn by half a radian at most, SMALL by its square, the rest of so few is 1e-17, too."""


class Screw(NamedTuple):
    """An angular and a linear vector: a twist, a strain, or a wrench (moment, force)."""

    w: Vector
    v: Vector

    def __add__(self, other: Screw) -> Screw:  # type: ignore[override]
        return Screw(self.w + other.w, self.v + other.v)

    def __sub__(self, other: Screw) -> Screw:
        return Screw(self.w - other.w, self.v - other.v)

    def __mul__(self, factor: float) -> Screw:  # type: ignore[override]
        return Screw(self.w * factor, self.v * factor)

    def cross(self, other: Screw) -> Screw:
        """The Lie bracket of two twists."""
        return Screw(self.w.cross(other.w), self.w.cross(other.v) + self.v.cross(other.w))

    def turned(self, wrench: Screw) -> Screw:
        """The transposed bracket: X . (self x Y) = Y . self.turned(X)."""
        return Screw(wrench.w.cross(self.w) + wrench.v.cross(self.v), wrench.v.cross(self.w))

    def dot(self, other: Screw) -> float:
        """The power of a wrench on a twist."""
        return self.w.dot(other.w) + self.v.dot(other.v)


NOTHING = Screw(ZERO, ZERO)


class Dual(NamedTuple):
    """a + eps b with eps^2 = 0."""

    a: float
    b: float

    def times(self, other: Dual) -> Dual:
        """The product."""
        return Dual(self.a * other.a, self.a * other.b + self.b * other.a)

    def on(self, x: Screw) -> Screw:
        """A screw scaled by it."""
        return Screw(x.w * self.a, x.v * self.a + x.w * self.b)


class Passage(NamedTuple):
    """From the beginning of a slice to its end: the frame of the end in that of the beginning, and T of its Omega.

    turn, lean: Blocks of T = [[turn, 0], [lean, turn]].
    """

    R: Matrix
    p: Vector
    turn: Matrix
    lean: Matrix

    def tangent(self, x: Screw) -> Screw:
        """T x."""
        return Screw(self.turn @ x.w, self.lean @ x.w + self.turn @ x.v)

    def pulled(self, wrench: Screw) -> Screw:
        """T^T wrench."""
        turn, lean = self.turn.transposed, self.lean.transposed
        return Screw(turn @ wrench.w + lean @ wrench.v, turn @ wrench.v)

    def outwards(self, x: Screw) -> Screw:
        """A twist of the beginning, seen at the end and in its axes."""
        back = self.R.transposed
        return Screw(back @ x.w, back @ (x.v + x.w.cross(self.p)))

    def inwards(self, wrench: Screw) -> Screw:
        """A wrench at the end, about the beginning and in its axes."""
        force = self.R @ wrench.v
        return Screw(self.R @ wrench.w + self.p.cross(force), force)


class Step(NamedTuple):
    """A slice. second, slope_b, slope_c: c, and the slopes of b and c by a^2."""

    way: Passage
    omega: Screw
    second: Dual
    slope_b: Dual
    slope_c: Dual

    def bent(self, rate: Screw) -> Screw:
        """The rate of T(Omega) along `rate`, times `rate`."""
        along = self.omega.cross(rate)
        inner = Dual(
            2.0 * self.omega.w.dot(rate.w),
            2.0 * (self.omega.w.dot(rate.v) + self.omega.v.dot(rate.w)),
        )
        b, c = self.slope_b.times(inner), self.slope_c.times(inner)
        return c.on(self.omega.cross(along)) - b.on(along) + self.second.on(rate.cross(along))


class Frame(NamedTuple):
    """Of a section in the axes of the rod's start."""

    R: Matrix
    p: Vector

    def after(self, step: Step) -> Frame:
        """The next section's."""
        return Frame(self.R @ step.way.R, self.p + self.R @ step.way.p)

    def wrench(self, x: Screw) -> Screw:
        """A wrench on the section, about the start of the rod and in its axes."""
        force = self.R @ x.v
        return Screw(self.R @ x.w + self.p.cross(force), force)


START = Frame(IDENTITY, ZERO)


class Slices(NamedTuple):
    """Moments of the strain over slices: of the shape functions (slices, n), and of the strain at rest (slices, 6)."""

    zeroth: Reals2
    first: Reals2
    rest_zeroth: Reals2
    rest_first: Reals2


class Stations(NamedTuple):
    """Places on a rod: the section before each, the slice from there, and its axes at rest, rows of a matrix.

    Sorted along the arc. own: 0 where a station is the section itself.
    """

    after: Ints
    own: Ints
    slices: Slices
    axes: Reals2


class Mass(NamedTuple):
    """Mass, first and second moment about a frame, in its axes."""

    m: float
    h: Vector
    J: Matrix

    def momentum(self, x: Screw) -> Screw:
        """Angular and linear, of a motion."""
        n = x.w * self.J.trace - self.J @ x.w + self.h.cross(x.v)
        return Screw(n, x.v * self.m + x.w.cross(self.h))

    def force(self, motion: Screw, rate: Screw) -> Screw:
        """What it takes to accelerate the section."""
        momentum, own = self.momentum(motion), self.momentum(rate)
        turning = motion.w.cross(momentum.w) + motion.v.cross(momentum.v)
        return Screw(own.w + turning, own.v + motion.w.cross(momentum.v))


@compiled
def mass_of(table: Reals2, i: int) -> Mass:
    """A row of the masses."""
    return Mass(
        table[i, 0],
        Vector(table[i, 1], table[i, 2], table[i, 3]),
        Matrix(
            Vector(table[i, 4], table[i, 7], table[i, 8]),
            Vector(table[i, 7], table[i, 5], table[i, 9]),
            Vector(table[i, 8], table[i, 9], table[i, 6]),
        ),
    )


def _stumpff(t: float) -> tuple[float, float, float, float, float, float]:
    """c_2 to c_7 at t = |w|^2: c_k = 1/k! - t c_(k+2), dc_k/dt = (k c_(k+2) - c_(k+1)) / 2."""
    even = 1.0
    odd = 1.0
    if t <= SMALL:
        for i in range(FEW_TERMS, 0, -1):
            even = 1.0 - even * (t * (1.0 / ((6.0 + 2.0 * i) * (5.0 + 2.0 * i))))
            odd = 1.0 - odd * (t * (1.0 / ((7.0 + 2.0 * i) * (6.0 + 2.0 * i))))
    else:
        for i in range(TERMS, 0, -1):
            even = 1.0 - even * (t * (1.0 / ((6.0 + 2.0 * i) * (5.0 + 2.0 * i))))
            odd = 1.0 - odd * (t * (1.0 / ((7.0 + 2.0 * i) * (6.0 + 2.0 * i))))
    c6 = even / 720.0
    c7 = odd / 5040.0
    c4 = 1.0 / 24.0 - t * c6
    c5 = 1.0 / 120.0 - t * c7
    return 0.5 - t * c4, 1.0 / 6.0 - t * c5, c4, c5, c6, c7


stumpff = Routine(_stumpff, name="rod")
"""A routine, as its branch depends on the angle: it stays a call where rods are written out."""


@compiled
def exponential(omega: Screw) -> Step:
    """exp(Omega) and its tangent, by Stumpff's functions: no division, smooth at zero."""
    w, v = omega.w, omega.v
    t, product = w.square, w.dot(v)
    c2, c3, c4, c5, c6, c7 = stumpff(t)
    c1 = 1.0 - t * c3
    by_b, by_c = c4 - 0.5 * c3, 1.5 * c5 - 0.5 * c4
    # Slopes of these: with dc4 = 2 c6 - c5 / 2, dc3 = by_c, dc5 = (5 c7 - c6) / 2.
    dc4 = 2.0 * c6 - 0.5 * c5
    slope_b = Dual(by_b, 2.0 * product * (dc4 - 0.5 * by_c))
    slope_c = Dual(by_c, 2.0 * product * (1.5 * (2.5 * c7 - 0.5 * c6) - 0.5 * dc4))
    b, c = Dual(c2, 2.0 * product * by_b), Dual(c3, 2.0 * product * by_c)
    W, V = hat(w), hat(v)
    WW = w.outer(w) - IDENTITY * t
    WV = v.outer(w) + w.outer(v) - IDENTITY * (2.0 * product)
    R = IDENTITY + W * c1 + WW * c2
    p = v + w.cross(v) * c2 + w.cross(w.cross(v)) * c3
    turn = IDENTITY - W * b.a + WW * c.a
    lean = WV * c.a + WW * c.b - V * b.a - W * b.b
    return Step(Passage(R, p, turn, lean), omega, c, slope_b, slope_c)


@compiled
def hat(w: Vector) -> Matrix:
    """The matrix of w x."""
    return Matrix(Vector(0.0, -w.z, w.y), Vector(w.z, 0.0, -w.x), Vector(-w.y, w.x, 0.0))


class Chain(NamedTuple):
    """A rod as the loops see it.

    used: Components of the strain that have coordinates. firsts: The first coordinate of each, and how many there are
    in all. slices: From one section to the next. mass: Of the sections (slices + 1, 10): mass, first moment, second
    moment (xx, yy, zz, xy, xz, yz).
    """

    used: Ints
    firsts: Ints
    slices: Slices
    mass: Reals2

    @property
    def width(self) -> int:
        """Numbers of a screw."""
        return 6

    @property
    def start(self) -> Frame:
        """Where it begins."""
        return START

    @property
    def still(self) -> Screw:
        """No motion."""
        return NOTHING

    def at(self, table: Reals, first: int) -> Screw:
        """Read a screw."""
        return at(table, first)

    def put(self, table: Reals, first: int, x: Screw) -> None:
        """Write one."""
        put(table, first, x)

    def row(self, table: Reals2, i: int) -> Screw:
        """A row of a table as a screw."""
        return Screw(
            Vector(table[i, 0], table[i, 1], table[i, 2]), Vector(table[i, 3], table[i, 4], table[i, 5])
        )

    def unit(self, d: int) -> Screw:
        """A component of the strain alone."""
        return Screw(
            Vector(1.0 if d == 0 else 0.0, 1.0 if d == 1 else 0.0, 1.0 if d == 2 else 0.0),
            Vector(1.0 if d == 3 else 0.0, 1.0 if d == 4 else 0.0, 1.0 if d == 5 else 0.0),
        )

    def step(self, omega: Screw) -> Step:
        """The slice of an Omega."""
        return exponential(omega)

    def own(self, i: int) -> Mass:
        """Of a section."""
        return mass_of(self.mass, i)

    @property
    def kept(self) -> int:
        """Numbers of a passage."""
        return 30

    def keep(self, table: Reals, first: int, way: Passage) -> None:
        """Write a passage."""
        put(table, first, Screw(way.turn.a, way.turn.b))
        put(table, first + 6, Screw(way.turn.c, way.lean.a))
        put(table, first + 12, Screw(way.lean.b, way.lean.c))
        put(table, first + 18, Screw(way.R.a, way.R.b))
        put(table, first + 24, Screw(way.R.c, way.p))

    def passage(self, table: Reals, first: int) -> Passage:
        """Read one."""
        a, b, c = at(table, first), at(table, first + 6), at(table, first + 12)
        d, e = at(table, first + 18), at(table, first + 24)
        return Passage(Matrix(d.w, d.v, e.w), e.v, Matrix(a.w, a.v, b.w), Matrix(b.v, c.w, c.v))

    @property
    def moments(self) -> int:
        """Numbers that :meth:`add_moments` adds to."""
        return 9

    def add_moments(self, frame: Frame, own: Mass, out: Reals) -> None:
        """First moment (3) and second moment (xx, yy, zz, xy, xz, yz) of a section about the start of the rod."""
        h, p = frame.R @ own.h, frame.p
        J = frame.R @ own.J @ frame.R.transposed + h.outer(p) + p.outer(h) + p.outer(p) * own.m
        h = h + p * own.m
        out[0], out[1], out[2] = out[0] + h.x, out[1] + h.y, out[2] + h.z
        out[3], out[4], out[5] = out[3] + J.a.x, out[4] + J.b.y, out[5] + J.c.z
        out[6], out[7], out[8] = out[6] + J.a.y, out[7] + J.a.z, out[8] + J.b.z

    def axes(self, table: Reals2, k: int) -> Matrix:
        """Of a station at rest, rows of a matrix."""
        return Matrix(
            Vector(table[k, 0], table[k, 1], table[k, 2]),
            Vector(table[k, 3], table[k, 4], table[k, 5]),
            Vector(table[k, 6], table[k, 7], table[k, 8]),
        )

    def rested(self, axes: Matrix, x: Screw) -> Screw:
        """A motion of a station, in axes that are the rod's own at rest."""
        return Screw(axes @ x.w, axes @ x.v)

    @property
    def pose_numbers(self) -> int:
        """Numbers of a pose."""
        return 12

    def put_pose(self, out: Reals, first: int, frame: Frame, axes: Matrix) -> None:
        """Rotation and place of a station, in the same axes."""
        R = frame.R @ axes.transposed
        put(out, first, Screw(R.a, R.b))
        put(out, first + 6, Screw(R.c, frame.p))


@compiled
def put(array: Reals, first: int, x: Screw) -> None:
    """Write the six numbers of a screw."""
    array[first], array[first + 1], array[first + 2] = x.w.x, x.w.y, x.w.z
    array[first + 3], array[first + 4], array[first + 5] = x.v.x, x.v.y, x.v.z


@compiled
def at(array: Reals, first: int) -> Screw:
    """Read a screw."""
    return Screw(
        Vector(array[first], array[first + 1], array[first + 2]),
        Vector(array[first + 3], array[first + 4], array[first + 5]),
    )


__all__ = [
    "NOTHING",
    "Chain",
    "Frame",
    "Passage",
    "Screw",
    "Slices",
    "Stations",
    "at",
    "exponential",
    "hat",
    "put",
]
