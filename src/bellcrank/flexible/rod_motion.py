"""Motion and inertia of a rod whose strains are its coordinates, slice by slice, in the loop language.

The section at the arc s has the frame g(s) = (R, p) in the axes of the rod's start; dg/ds = g [xi], with the strain

    xi(s) = rest(s) + sum_j e_d(j) phi_j(s) q_j,    xi = (twist, bending y, bending z, 1 + stretch, shear y, shear z).

Over a slice g advances by exp(Omega), Omega = A0 + A0 x A1 (Magnus' series to fourth order; Blanes, Casas, Oteo, Ros
2009, equation 254) with the exact moments A0 = int xi ds, A1 = int (s - middle) / h xi ds of the strain. A twist is a
screw, and the formulas of rotations hold for screws with dual numbers in place of reals (Kotelnikov's transference):

    T(Omega) X = X - b Omega x X + c Omega x (Omega x X),    b = (1 - cos a) / a^2, c = (a - sin a) / a^3,

gives the motion g^-1 dg of a frame at exp(Omega) for dOmega = X. Velocities, accelerations and forces follow by the
recursion of a chain (Boyer, Renda 2016; Boyer, Lebastard, Candelier, Renda 2021); motions of sections are in their own
axes. Differs from those in: Jacobians are those of the discrete chain, so that energy is kept to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from bellcrank.math.vectors import IDENTITY, ZERO, Matrix, Vector
from bellcrank.program.loops import Ints, Reals, Reals2, Routine, compiled, reals

TERMS = 12
"""Of the series below. For slices that turn by pi, where Magnus' series ends to converge, the rest is 1e-17."""


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


class Step(NamedTuple):
    """A slice: the frame of its end in that of its beginning, and the motion of the end for a rate of Omega.

    turn, lean: Blocks of T = [[turn, 0], [lean, turn]]. second, slope_b, slope_c: c, and the slopes of b and c by a^2.
    """

    R: Matrix
    p: Vector
    omega: Screw
    turn: Matrix
    lean: Matrix
    second: Dual
    slope_b: Dual
    slope_c: Dual

    def tangent(self, x: Screw) -> Screw:
        """T x."""
        return Screw(self.turn @ x.w, self.lean @ x.w + self.turn @ x.v)

    def pulled(self, wrench: Screw) -> Screw:
        """T^T wrench."""
        turn, lean = self.turn.transposed, self.lean.transposed
        return Screw(turn @ wrench.w + lean @ wrench.v, turn @ wrench.v)

    def bent(self, rate: Screw) -> Screw:
        """The rate of T(Omega) along `rate`, times `rate`."""
        along = self.omega.cross(rate)
        inner = Dual(
            2.0 * self.omega.w.dot(rate.w),
            2.0 * (self.omega.w.dot(rate.v) + self.omega.v.dot(rate.w)),
        )
        b, c = self.slope_b.times(inner), self.slope_c.times(inner)
        return c.on(self.omega.cross(along)) - b.on(along) + self.second.on(rate.cross(along))

    def outwards(self, x: Screw) -> Screw:
        """A twist of the beginning, seen at the end and in its axes."""
        back = self.R.transposed
        return Screw(back @ x.w, back @ (x.v + x.w.cross(self.p)))

    def inwards(self, wrench: Screw) -> Screw:
        """A wrench at the end, about the beginning and in its axes."""
        force = self.R @ wrench.v
        return Screw(self.R @ wrench.w + self.p.cross(force), force)


class Slices(NamedTuple):
    """Moments of the strain over slices: of the shape functions (slices, n), and of the strain at rest (slices, 6)."""

    zeroth: Reals2
    first: Reals2
    rest_zeroth: Reals2
    rest_first: Reals2


class Chain(NamedTuple):
    """A rod as the loops see it.

    component: Of the strain, by coordinate. used: Components that have coordinates. slices: From one section to the
    next. mass: Of the sections (slices + 1, 10): mass, first moment, second moment (xx, yy, zz, xy, xz, yz).
    """

    component: Ints
    used: Ints
    slices: Slices
    mass: Reals2


class Stations(NamedTuple):
    """Places on a rod: the section before each, the slice from there, and its axes at rest, rows of a matrix.

    Sorted along the arc.
    """

    after: Ints
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


@compiled
def stumpff(t: float, first: int) -> float:
    """c_k(t) = sum (-t)^i / (k + 2 i)! for k = `first`, times k!."""
    total = 1.0
    for i in range(TERMS, 0, -1):
        total = 1.0 - total * t / ((first + 2.0 * i) * (first + 2.0 * i - 1.0))
    return total


@compiled
def exponential(omega: Screw) -> Step:
    """exp(Omega) and its tangent, by Stumpff's functions: no division, smooth at zero.

    c_k = 1/k! - t c_(k+2), dc_k/dt = (k c_(k+2) - c_(k+1)) / 2, t = |w|^2.
    """
    w, v = omega.w, omega.v
    t, product = w.square, w.dot(v)
    c6, c7 = stumpff(t, 6) / 720.0, stumpff(t, 7) / 5040.0
    c4, c5 = 1.0 / 24.0 - t * c6, 1.0 / 120.0 - t * c7
    c2, c3 = 0.5 - t * c4, 1.0 / 6.0 - t * c5
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
    return Step(R, p, omega, turn, lean, c, slope_b, slope_c)


@compiled
def hat(w: Vector) -> Matrix:
    """The matrix of w x."""
    return Matrix(Vector(0.0, -w.z, w.y), Vector(w.z, 0.0, -w.x), Vector(-w.y, w.x, 0.0))


@compiled
def summed(weights: Reals2, i: int, component: Ints, q: Reals) -> Screw:
    """sum_j e_d(j) weight_ij q_j."""
    a = reals(6)
    for j in range(len(q)):
        a[component[j]] += weights[i, j] * q[j]
    return Screw(Vector(a[0], a[1], a[2]), Vector(a[3], a[4], a[5]))


@compiled
def row(table: Reals2, i: int) -> Screw:
    """A row of a table as a screw."""
    return Screw(Vector(table[i, 0], table[i, 1], table[i, 2]), Vector(table[i, 3], table[i, 4], table[i, 5]))


@compiled
def unit(d: int) -> Screw:
    """e_d."""
    x = reals(6)
    x[d] = 1.0
    return Screw(Vector(x[0], x[1], x[2]), Vector(x[3], x[4], x[5]))


class Frame(NamedTuple):
    """Of a section in the axes of the rod's start."""

    R: Matrix
    p: Vector

    def after(self, step: Step) -> Frame:
        """The next section's."""
        return Frame(self.R @ step.R, self.p + self.R @ step.p)


@compiled
def advanced(columns: Reals, slices: Slices, i: int, chain: Chain, q: Reals, out: Reals) -> Step:
    """A slice, and in `out` the motion of its end by each coordinate, six numbers each; `columns` that of its start."""
    a0 = summed(slices.zeroth, i, chain.component, q) + row(slices.rest_zeroth, i)
    a1 = summed(slices.first, i, chain.component, q) + row(slices.rest_first, i)
    step = exponential(a0 + a0.cross(a1))
    ways = reals(72)
    for k in range(len(chain.used)):
        d = chain.used[k]
        e = unit(d)
        put(ways, 12 * d, step.tangent(e + e.cross(a1)))
        put(ways, 12 * d + 6, step.tangent(a0.cross(e)))
    for j in range(len(q)):
        d = chain.component[j]
        own = at(ways, 12 * d) * slices.zeroth[i, j] + at(ways, 12 * d + 6) * slices.first[i, j]
        put(out, 6 * j, step.outwards(at(columns, 6 * j)) + own)
    return step


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


def station_poses(q: Reals, chain: Chain, stations: Stations, out: Reals) -> float:
    """Of each station rotation, place and motion by each coordinate, in axes that are the rod's own at rest."""
    n = len(q)
    columns, local = reals(6 * len(q)), reals(6 * len(q))
    frame = Frame(IDENTITY, ZERO)
    section = 0
    for k in range(len(stations.after)):
        while section < stations.after[k]:
            frame = frame.after(advanced(columns, chain.slices, section, chain, q, columns))
            section += 1
        there = frame.after(advanced(columns, stations.slices, k, chain, q, local))
        axes = Matrix(
            Vector(stations.axes[k, 0], stations.axes[k, 1], stations.axes[k, 2]),
            Vector(stations.axes[k, 3], stations.axes[k, 4], stations.axes[k, 5]),
            Vector(stations.axes[k, 6], stations.axes[k, 7], stations.axes[k, 8]),
        )
        R = there.R @ axes.transposed
        first = k * (12 + 6 * n)
        put(out, first, Screw(R.a, R.b))
        put(out, first + 6, Screw(R.c, there.p))
        for j in range(n):
            x = at(local, 6 * j)
            put(out, first + 12 + 6 * j, Screw(axes @ x.w, axes @ x.v))
    return 0.0


def station_biases(q: Reals, rates: Reals, chain: Chain, stations: Stations, out: Reals) -> float:
    """Rates of the motions of stations while the rates of the coordinates stay, in the axes of `station_poses`."""
    motion, rate = NOTHING, NOTHING
    section = 0
    for k in range(len(stations.after)):
        while section < stations.after[k]:
            moved = moving(chain.slices, section, chain, q, rates)
            motion, rate = moved.motion(motion), moved.rate(motion, rate)
            section += 1
        found = moving(stations.slices, k, chain, q, rates).rate(motion, rate)
        axes = Matrix(
            Vector(stations.axes[k, 0], stations.axes[k, 1], stations.axes[k, 2]),
            Vector(stations.axes[k, 3], stations.axes[k, 4], stations.axes[k, 5]),
            Vector(stations.axes[k, 6], stations.axes[k, 7], stations.axes[k, 8]),
        )
        put(out, 6 * k, Screw(axes @ found.w, axes @ found.v))
    return 0.0


class Moved(NamedTuple):
    """A slice while its strain changes: moments A0, A1 of the strain, twist of the end and its rate at constant q'."""

    step: Step
    a0: Screw
    a1: Screw
    twist: Screw
    change: Screw

    def motion(self, before: Screw) -> Screw:
        """The motion of the end from that of the beginning."""
        return self.step.outwards(before) + self.twist

    def rate(self, before: Screw, rate: Screw) -> Screw:
        """The rate of the motion of the end."""
        return self.step.outwards(rate) + self.step.outwards(before).cross(self.twist) + self.change


@compiled
def moving(slices: Slices, i: int, chain: Chain, q: Reals, rates: Reals) -> Moved:
    """A slice for rates of the coordinates, which stay constant."""
    a0 = summed(slices.zeroth, i, chain.component, q) + row(slices.rest_zeroth, i)
    a1 = summed(slices.first, i, chain.component, q) + row(slices.rest_first, i)
    step = exponential(a0 + a0.cross(a1))
    d0 = summed(slices.zeroth, i, chain.component, rates)
    d1 = summed(slices.first, i, chain.component, rates)
    rate = d0 + d0.cross(a1) + a0.cross(d1)
    change = step.tangent(d0.cross(d1) * 2.0) + step.bent(rate)
    return Moved(step, a0, a1, step.tangent(rate), change)


def inertia(q: Reals, chain: Chain, out: Reals) -> float:
    """First moment (3), second moment (6), momenta of the coordinates (6 n), their masses (n (n + 1) / 2, by rows)."""
    n = len(q)
    columns, momenta = reals(6 * len(q)), reals(6 * len(q))
    frame = Frame(IDENTITY, ZERO)
    for i in range(len(chain.mass)):
        if i > 0:
            frame = frame.after(advanced(columns, chain.slices, i - 1, chain, q, columns))
        own = mass_of(chain.mass, i)
        h, p = frame.R @ own.h, frame.p
        J = frame.R @ own.J @ frame.R.transposed + h.outer(p) + p.outer(h) + p.outer(p) * own.m
        h = h + p * own.m
        out[0], out[1], out[2] = out[0] + h.x, out[1] + h.y, out[2] + h.z
        out[3], out[4], out[5] = out[3] + J.a.x, out[4] + J.b.y, out[5] + J.c.z
        out[6], out[7], out[8] = out[6] + J.a.y, out[7] + J.a.z, out[8] + J.b.z
        if i > 0:
            place = 9 + 6 * n
            for j in range(n):
                x = own.momentum(at(columns, 6 * j))
                put(momenta, 6 * j, x)
                force = frame.R @ x.v
                there = Screw(frame.R @ x.w + p.cross(force), force)
                put(out, 9 + 6 * j, at(out, 9 + 6 * j) + there)
                for k in range(j + 1):
                    out[place] += x.dot(at(columns, 6 * k))
                    place += 1
    return 0.0


@cache
def forces(slices: int) -> Callable[..., float]:
    """The function below for so many slices: what is kept of each on the way outwards needs constant room."""
    kept_numbers = 18 + 12 + 12 + 6

    def inertia_forces(
        q: Reals,
        rates: Reals,
        accelerations: Reals,
        spin: Vector,
        alpha: Vector,
        a: Vector,
        chain: Chain,
        out: Reals,
    ) -> float:
        """Wrench on the rod's start (moment, force), then the force on each coordinate, of the accelerated rod.

        spin, alpha, a: Angular velocity and acceleration of the start, and the acceleration of its origin.
        """
        kept = reals(kept_numbers * slices)
        motion, rate = Screw(spin, ZERO), Screw(alpha, a)
        first = force_of(mass_of(chain.mass, 0), motion, rate)
        for i in range(slices):
            moved = moving(chain.slices, i, chain, q, rates)
            step = moved.step
            d0 = summed(chain.slices.zeroth, i, chain.component, accelerations)
            d1 = summed(chain.slices.first, i, chain.component, accelerations)
            more = step.tangent(d0 + d0.cross(moved.a1) + moved.a0.cross(d1))
            rate = moved.rate(motion, rate) + more
            motion = moved.motion(motion)
            place = kept_numbers * i
            put(kept, place, Screw(step.turn.a, step.turn.b))
            put(kept, place + 6, Screw(step.turn.c, step.lean.a))
            put(kept, place + 12, Screw(step.lean.b, step.lean.c))
            put(kept, place + 18, moved.a0)
            put(kept, place + 24, moved.a1)
            put(kept, place + 30, Screw(step.R.a, step.R.b))
            put(kept, place + 36, Screw(step.R.c, step.p))
            put(kept, place + 42, force_of(mass_of(chain.mass, i + 1), motion, rate))
        wrench = NOTHING
        pulls = reals(12)
        for back in range(slices):
            i = slices - 1 - back
            place = kept_numbers * i
            turn, lean = at(kept, place), at(kept, place + 12)
            middle = at(kept, place + 6)
            start, end = at(kept, place + 30), at(kept, place + 36)
            a0, a1 = at(kept, place + 18), at(kept, place + 24)
            wrench = wrench + at(kept, place + 42)
            T = Matrix(turn.w, turn.v, middle.w).transposed
            L = Matrix(middle.v, lean.w, lean.v).transposed
            y = Screw(T @ wrench.w + L @ wrench.v, T @ wrench.v)
            # dOmega_j = c0 (e + e x A1) + c1 A0 x e, and y . (e x A1) = - e . A1.turned(y)
            put(pulls, 0, y - a1.turned(y))
            put(pulls, 6, a0.turned(y))
            for j in range(len(q)):
                d = chain.component[j]
                out[6 + j] += chain.slices.zeroth[i, j] * pulls[d] + chain.slices.first[i, j] * pulls[6 + d]
            R = Matrix(start.w, start.v, end.w)
            force = R @ wrench.v
            wrench = Screw(R @ wrench.w + end.v.cross(force), force)
        put(out, 0, wrench + first)
        return 0.0

    return inertia_forces


@compiled
def force_of(mass: Mass, motion: Screw, rate: Screw) -> Screw:
    """What it takes to accelerate a section."""
    momentum, own = mass.momentum(motion), mass.momentum(rate)
    turning = motion.w.cross(momentum.w) + motion.v.cross(momentum.v)
    return Screw(own.w + turning, own.v + motion.w.cross(momentum.v))


class RodRoutines:
    """The loops over one rod with its tables, to be called from programs."""

    def __init__(self, chain: Chain) -> None:
        self.chain, self.n = chain, len(chain.component)
        n, slices = self.n, len(chain.mass) - 1
        self.inertia = Routine(inertia, (chain,), 0, "rod inertia", (), (n,), 9 + 6 * n + n * (n + 1) // 2)
        self.forces = Routine(forces(slices), (chain,), 0, "rod forces", (), (n, n, n), 6 + n)

    def poses(self, stations: Stations) -> Routine:
        """Poses and motions of stations."""
        more = len(stations.after) * (12 + 6 * self.n)
        return Routine(station_poses, (self.chain, stations), 0, "rod stations", (), (self.n,), more)

    def biases(self, stations: Stations) -> Routine:
        """Rates of the motions of stations at constant rates of the coordinates."""
        more = 6 * len(stations.after)
        return Routine(station_biases, (self.chain, stations), 0, "rod biases", (), (self.n, self.n), more)


__all__ = [
    *("Chain", "RodRoutines", "Slices", "Stations"),
    *("advanced", "exponential", "forces", "inertia", "station_biases", "station_poses"),
]
