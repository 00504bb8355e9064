"""Rods that bend and stretch in the x-y plane of their axes: what :mod:`bellcrank.flexible.spatial_rods` has in space.

A twist is (turn about z, x, y) and three numbers do for six; the tangent of the exponential has one angle alone,

    T(Omega) X = (X_w, X_v + X_w (b J Omega_v + c w Omega_v) + w (c w J J - b J) X_v),    J (x, y) = (-y, x).

Strains: bending about z, stretch, shear along y. Sections are symmetric about the plane.
"""

from __future__ import annotations

from typing import NamedTuple

from bellcrank.flexible.spatial_rods import Slices, stumpff
from bellcrank.program.loops import Ints, Reals, Reals2, compiled

COMPONENTS = (2, 3, 4)
"""Of the strain in space."""


class Screw(NamedTuple):
    """A twist or a strain (angle, x, y), or a wrench (moment, x, y)."""

    w: float
    x: float
    y: float

    def __add__(self, other: Screw) -> Screw:  # type: ignore[override]
        return Screw(self.w + other.w, self.x + other.x, self.y + other.y)

    def __sub__(self, other: Screw) -> Screw:
        return Screw(self.w - other.w, self.x - other.x, self.y - other.y)

    def __mul__(self, factor: float) -> Screw:  # type: ignore[override]
        return Screw(self.w * factor, self.x * factor, self.y * factor)

    def cross(self, other: Screw) -> Screw:
        """The Lie bracket of two twists."""
        return Screw(0.0, self.y * other.w - self.w * other.y, self.w * other.x - self.x * other.w)

    def turned(self, wrench: Screw) -> Screw:
        """The transposed bracket: X . (self x Y) = Y . self.turned(X)."""
        return Screw(wrench.x * self.y - wrench.y * self.x, wrench.y * self.w, -wrench.x * self.w)

    def dot(self, other: Screw) -> float:
        """The power of a wrench on a twist."""
        return self.w * other.w + self.x * other.x + self.y * other.y


NOTHING = Screw(0.0, 0.0, 0.0)


class Passage(NamedTuple):
    """From the beginning of a slice to its end: the frame of the end in that of the beginning, and T of its Omega.

    cos, sin, x, y: The frame. along, across: T turns and scales v like a complex number. lean_x, lean_y: What T makes
    of a turn.
    """

    cos: float
    sin: float
    x: float
    y: float
    along: float
    across: float
    lean_x: float
    lean_y: float

    def tangent(self, x: Screw) -> Screw:
        """T x."""
        return Screw(
            x.w,
            self.lean_x * x.w + self.along * x.x + self.across * x.y,
            self.lean_y * x.w - self.across * x.x + self.along * x.y,
        )

    def pulled(self, wrench: Screw) -> Screw:
        """T^T wrench."""
        return Screw(
            wrench.w + self.lean_x * wrench.x + self.lean_y * wrench.y,
            self.along * wrench.x - self.across * wrench.y,
            self.across * wrench.x + self.along * wrench.y,
        )

    def outwards(self, x: Screw) -> Screw:
        """A twist of the beginning, seen at the end and in its axes."""
        a, b = x.x - x.w * self.y, x.y + x.w * self.x
        return Screw(x.w, self.cos * a + self.sin * b, self.cos * b - self.sin * a)

    def inwards(self, wrench: Screw) -> Screw:
        """A wrench at the end, about the beginning and in its axes."""
        a = self.cos * wrench.x - self.sin * wrench.y
        b = self.sin * wrench.x + self.cos * wrench.y
        return Screw(wrench.w + self.x * b - self.y * a, a, b)


class Step(NamedTuple):
    """A slice. second, slope_b, slope_c: c, and the slopes of b and c by w^2."""

    way: Passage
    omega: Screw
    second: float
    slope_b: float
    slope_c: float

    def bent(self, rate: Screw) -> Screw:
        """The rate of T(Omega) along `rate`, times `rate`."""
        along = self.omega.cross(rate)
        inner = 2.0 * self.omega.w * rate.w
        turned = self.omega.cross(along) * (self.slope_c * inner)
        return turned - along * (self.slope_b * inner) + rate.cross(along) * self.second


class Frame(NamedTuple):
    """Of a section in the axes of the rod's start: a turn, and a place."""

    cos: float
    sin: float
    x: float
    y: float

    def after(self, step: Step) -> Frame:
        """The next section's."""
        way = step.way
        return Frame(
            self.cos * way.cos - self.sin * way.sin,
            self.sin * way.cos + self.cos * way.sin,
            self.x + self.cos * way.x - self.sin * way.y,
            self.y + self.sin * way.x + self.cos * way.y,
        )

    def wrench(self, x: Screw) -> Screw:
        """A wrench on the section, about the start of the rod and in its axes."""
        a, b = self.cos * x.x - self.sin * x.y, self.sin * x.x + self.cos * x.y
        return Screw(x.w + self.x * b - self.y * a, a, b)


START = Frame(1.0, 0.0, 0.0, 0.0)


class Mass(NamedTuple):
    """Mass, first moment (x, y) and second moments of a section about its frame, in its axes."""

    m: float
    x: float
    y: float
    xx: float
    yy: float
    zz: float
    xy: float

    def momentum(self, x: Screw) -> Screw:
        """Angular and linear, of a motion."""
        return Screw(
            x.w * (self.xx + self.yy) + self.x * x.y - self.y * x.x,
            x.x * self.m - x.w * self.y,
            x.y * self.m + x.w * self.x,
        )

    def force(self, motion: Screw, rate: Screw) -> Screw:
        """What it takes to accelerate the section."""
        momentum, own = self.momentum(motion), self.momentum(rate)
        return Screw(
            own.w + motion.x * momentum.y - motion.y * momentum.x,
            own.x - motion.w * momentum.y,
            own.y + motion.w * momentum.x,
        )


@compiled
def exponential(omega: Screw) -> Step:
    """exp(Omega) and its tangent, by Stumpff's functions: no division, smooth at zero."""
    w, x, y = omega.w, omega.x, omega.y
    t = w * w
    b, c, c4, c5, _, _ = stumpff(t)
    cos, along, across = 1.0 - t * b, 1.0 - t * c, w * b
    sin = w * along
    # The place is the integral of the turned v: (sin w / w) v + ((1 - cos w) / w) J v.
    way = Passage(
        cos,
        sin,
        along * x - across * y,
        across * x + along * y,
        along,
        across,
        c * w * x - b * y,
        c * w * y + b * x,
    )
    return Step(way, omega, c, c4 - 0.5 * c, 1.5 * c5 - 0.5 * c4)


class Chain(NamedTuple):
    """A rod as the loops see it; see :class:`bellcrank.flexible.spatial_rods.Chain`.

    used: Places in :data:`COMPONENTS`. mass: Of the sections (slices + 1, 7).
    """

    used: Ints
    firsts: Ints
    slices: Slices
    mass: Reals2

    @property
    def width(self) -> int:
        """Numbers of a screw."""
        return 3

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
        return Screw(table[first], table[first + 1], table[first + 2])

    def put(self, table: Reals, first: int, x: Screw) -> None:
        """Write one."""
        table[first], table[first + 1], table[first + 2] = x.w, x.x, x.y

    def row(self, table: Reals2, i: int) -> Screw:
        """A row of a table as a screw."""
        return Screw(table[i, 0], table[i, 1], table[i, 2])

    def unit(self, d: int) -> Screw:
        """A component of the strain alone."""
        return Screw(1.0 if d == 0 else 0.0, 1.0 if d == 1 else 0.0, 1.0 if d == 2 else 0.0)

    def step(self, omega: Screw) -> Step:
        """The slice of an Omega."""
        return exponential(omega)

    def own(self, i: int) -> Mass:
        """Of a section."""
        table = self.mass
        return Mass(table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4], table[i, 5], table[i, 6])

    @property
    def kept(self) -> int:
        """Numbers of a passage."""
        return 8

    def keep(self, table: Reals, first: int, way: Passage) -> None:
        """Write a passage."""
        table[first], table[first + 1], table[first + 2], table[first + 3] = way.cos, way.sin, way.x, way.y
        table[first + 4], table[first + 5] = way.along, way.across
        table[first + 6], table[first + 7] = way.lean_x, way.lean_y

    def passage(self, table: Reals, first: int) -> Passage:
        """Read one."""
        return Passage(
            table[first],
            table[first + 1],
            table[first + 2],
            table[first + 3],
            table[first + 4],
            table[first + 5],
            table[first + 6],
            table[first + 7],
        )

    @property
    def moments(self) -> int:
        """Numbers that :meth:`add_moments` adds to."""
        return 6

    def add_moments(self, frame: Frame, own: Mass, out: Reals) -> None:
        """First moment (x, y) and second moment (xx, yy, zz, xy) of a section about the start of the rod."""
        c, s, x, y = frame.cos, frame.sin, frame.x, frame.y
        hx, hy = c * own.x - s * own.y, s * own.x + c * own.y
        out[0] += hx + own.m * x
        out[1] += hy + own.m * y
        out[2] += c * c * own.xx - 2.0 * c * s * own.xy + s * s * own.yy + (2.0 * hx + own.m * x) * x
        out[3] += s * s * own.xx + 2.0 * c * s * own.xy + c * c * own.yy + (2.0 * hy + own.m * y) * y
        out[4] += own.zz
        out[5] += c * s * (own.xx - own.yy) + (c * c - s * s) * own.xy + hx * y + hy * x + own.m * x * y

    def axes(self, table: Reals2, k: int) -> Frame:
        """Of a station at rest."""
        return Frame(table[k, 0], table[k, 3], 0.0, 0.0)

    def rested(self, axes: Frame, x: Screw) -> Screw:
        """A motion of a station, in axes that are the rod's own at rest."""
        return axes.wrench(x)

    @property
    def pose_numbers(self) -> int:
        """Numbers of a pose."""
        return 4

    def put_pose(self, out: Reals, first: int, frame: Frame, axes: Frame) -> None:
        """Turn (cos, sin) and place of a station, in the same axes."""
        out[first] = frame.cos * axes.cos + frame.sin * axes.sin
        out[first + 1] = frame.sin * axes.cos - frame.cos * axes.sin
        out[first + 2], out[first + 3] = frame.x, frame.y


__all__ = ["COMPONENTS", "Chain"]
