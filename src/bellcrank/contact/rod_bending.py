"""Rods in contact by fields: sections of the surface move with the axis, however far it bends.

The material point X = (s, y, z) of a rod is at x = p(s) + y R2(s) + z R3(s), with p and the axes R of the section at
the arc s; beyond an end, sections go on as that end does. Between stations along the arc, where the strains give place
and axes exactly (:mod:`bellcrank.flexible.rod_motion`), both are quintic splines. As for members with modes
(:mod:`bellcrank.contact.bending`), the depth at x is that of the straight rod at X, and a force acts at X. The section
of X passes x where (x - p) . (R2 x R3) = 0: one equation for s.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bellcrank.contact.bending import CLOSE, STEPS, Entry, exact, plain, unit_load, vector_at
from bellcrank.contact.field_surface import Node, Surface, Triangle
from bellcrank.contact.shapes.splines import slopes, weights
from bellcrank.flexible.rod_motion import advanced
from bellcrank.flexible.spatial_rods import NOTHING, Chain, Frame, Screw, Slices, at, hat, put
from bellcrank.math.vectors import IDENTITY, ZERO, Matrix, Vector
from bellcrank.program.loops import Ints, Reals, Reals2, Records, compiled, gradient, reals, value

NUMBERS = 12
"""Of a section: place, then its three axes."""
BEYOND = 0.2
"""Least slope of the equation for s, over that on the axis: it falls to zero at the centre of curvature, and what lies
further than four fifths of the way to it is outside the rod."""


class Section(NamedTuple):
    """Place and axes of a section, and their slopes by the arc."""

    p: Vector
    r1: Vector
    r2: Vector
    r3: Vector
    p_slope: Vector
    slope_2: Vector
    slope_3: Vector


class Bounds(NamedTuple):
    """Of the shape of a rod.

    stretch, width: Length of a unit of arc, and of a unit across, at most. bend: How fast sections turn [1/m]. slack:
    How far the axis leaves the lines between stations at most [m].
    """

    stretch: float
    width: float
    bend: float
    slack: float


class Line(NamedTuple):
    """A rod with a surface, as the loops see it.

    chain: See :mod:`bellcrank.flexible.spatial_rods`. pieces: Slices of it, each from one section; ends: Where each
    ends, 0 at the next section and 1 at a station. stations: How many. spline: From values there to coefficients.
    at_stations: The other way round. step: Between stations [m]. length: [m]. rest: Surface of the straight rod. spans:
    Of each node the arc and the radius that it covers from its middle, and the radius at which that lies [m]. reach: No
    vertex is further from the axis [m]. body: Depth in the straight rod.
    """

    chain: Chain
    pieces: Slices
    ends: Ints
    stations: int
    spline: Reals2
    at_stations: Reals2
    step: float
    length: float
    rest: Surface
    spans: Reals2
    reach: float
    body: Any

    def posed(self, q: Reals, rates: Reals, frames: Reals, moves: Reals, loads: Reals) -> BentRod:
        """The rod at coordinates q."""
        return BentRod(self, frames, moves, loads, self.shaped(q, rates, frames, moves))

    def shaped(self, q: Reals, rates: Reals, frames: Reals, moves: Reals) -> Bounds:
        """Coefficients of sections and of their rates, then places of the stations and their motions by q."""
        n = len(q)
        count = len(self.spline)
        columns, local = reals(6 * len(q)), reals(6 * len(q))
        frame = Frame(IDENTITY, ZERO)
        k = 0
        for piece in range(len(self.ends)):
            step = advanced(columns, self.pieces, piece, self.chain, q, local)
            there = frame.after(step)
            if self.ends[piece] == 0:
                frame = there
                for j in range(6 * n):
                    columns[j] = local[j]
            else:
                twist = NOTHING
                for j in range(n):
                    own = at(local, 6 * j)
                    twist = twist + own * rates[j]
                    put(frames, (NUMBERS * count + 3 * self.stations) + 6 * (k * n + j), own)
                R = there.R.transposed
                turned = (there.R @ hat(twist.w)).transposed
                p = there.p
                first = NUMBERS * count + 3 * k
                frames[first], frames[first + 1], frames[first + 2] = value(p)
                for c in range(count):
                    share = self.spline[c, k]
                    add(frames, NUMBERS * c, p * share)
                    add(frames, NUMBERS * c + 3, R.a * share)
                    add(frames, NUMBERS * c + 6, R.b * share)
                    add(frames, NUMBERS * c + 9, R.c * share)
                    add(moves, NUMBERS * c, there.R @ twist.v * share)
                    add(moves, NUMBERS * c + 3, turned.a * share)
                    add(moves, NUMBERS * c + 6, turned.b * share)
                    add(moves, NUMBERS * c + 9, turned.c * share)
                k += 1
        # Coefficients bound what lies between them, and their differences its slopes.
        stretch = 0.0
        width = 0.0
        bend = 0.0
        slack = 0.0
        for c in range(count):
            b, d = vector_at(frames, NUMBERS * c + 6, plain), vector_at(frames, NUMBERS * c + 9, plain)
            stretch = max(stretch, vector_at(frames, NUMBERS * c + 3, plain).length)
            width = max(width, (max(b.square, d.square) + abs(b.dot(d))) ** 0.5)
            if c > 0:
                before = NUMBERS * (c - 1)
                along = vector_at(frames, NUMBERS * c, plain) - vector_at(frames, before, plain)
                over = b - vector_at(frames, before + 6, plain)
                under = d - vector_at(frames, before + 9, plain)
                stretch = max(stretch, along.length / self.step)
                bend = max(bend, (over.square + under.square) ** 0.5 / self.step)
                if c > 1:
                    last = vector_at(frames, before, plain) - vector_at(frames, before - NUMBERS, plain)
                    slack = max(slack, 0.125 * (along - last).length)
        return Bounds(stretch, width, bend, slack)


class BentRod(NamedTuple):
    """A rod in one shape, as surface and as field.

    frames, moves: Coefficients of sections and of their rates. loads: Takes forces on these coefficients, for each case
    of loads.
    """

    line: Line
    frames: Reals
    moves: Reals
    loads: Reals
    bounds: Bounds

    @property
    def nodes(self) -> Records[Node]:
        return self.line.rest.nodes

    @property
    def triangles(self) -> Records[Triangle]:
        return self.line.rest.triangles

    @property
    def inner(self) -> Vector:
        return self.line.rest.inner

    @property
    def inner_radius(self) -> float:
        return self.line.rest.inner_radius

    @property
    def surface(self) -> BentRod:
        return self

    @property
    def field(self) -> BentRod:
        return self

    def held(self, s: float) -> float:
        """The arc of the section that carries the material at s."""
        return min(max(s, 0.0), self.line.length)

    def section(self, s: float, table: Reals, read: Entry) -> Section:
        """The section at an arc."""
        u = s / self.line.step
        i = min(max(int(value(u)), 0), len(self.line.spline) - 6)
        w = weights(u - i)
        d = slopes(u - i)
        by = reals(12)
        by[0], by[1], by[2], by[3], by[4], by[5] = w
        by[6], by[7], by[8], by[9], by[10], by[11] = d
        p = ZERO
        r1 = ZERO
        r2 = ZERO
        r3 = ZERO
        p_slope = ZERO
        slope_2 = ZERO
        slope_3 = ZERO
        for c in range(6):
            first = NUMBERS * (i + c)
            here = vector_at(table, first, read)
            y = vector_at(table, first + 6, read)
            z = vector_at(table, first + 9, read)
            steep = by[6 + c] / self.line.step
            p += here * by[c]
            r1 += vector_at(table, first + 3, read) * by[c]
            r2 += y * by[c]
            r3 += z * by[c]
            p_slope += here * steep
            slope_2 += y * steep
            slope_3 += z * steep
        return Section(p, r1, r2, r3, p_slope, slope_2, slope_3)

    def placed(self, X: Vector, table: Reals) -> Vector:
        """Where a material point is, or its velocity."""
        s = self.held(X.x)
        u = s / self.line.step
        i = min(max(int(value(u)), 0), len(self.line.spline) - 6)
        by = reals(6)
        by[0], by[1], by[2], by[3], by[4], by[5] = weights(u - i)
        found = ZERO
        for c in range(6):
            first = NUMBERS * (i + c)
            here = vector_at(table, first, exact) + vector_at(table, first + 3, exact) * (X.x - s)
            here += vector_at(table, first + 6, exact) * X.y + vector_at(table, first + 9, exact) * X.z
            found += here * by[c]
        return found

    def vertex(self, k: int) -> Vector:
        return self.placed(self.line.rest.vertices[k], self.frames)

    def area(self, triangle: Triangle, first: int) -> float:
        return triangle.area

    def speed(self, k: int) -> Vector:
        return self.placed(self.line.rest.vertices[k], self.moves)

    def centre(self, i: int) -> Vector:
        return self.placed(self.line.rest.nodes[i].centre, self.frames)

    def reach(self, i: int) -> float:
        arc, wide, out = self.line.spans[i, 0], self.line.spans[i, 1], self.line.spans[i, 2]
        return self.bounds.stretch * arc + self.bounds.width * wide + self.bounds.bend * arc * out  # type: ignore[no-any-return]

    def rise(self, i: int, g: Vector) -> float:
        return self.reach(i) * g.length  # type: ignore[no-any-return]

    def push(self, k: int, force: Vector, case: int) -> None:
        """A force on a vertex, as a part of a case of loads."""
        self.push_at(self.line.rest.vertices[k], force, case)

    def push_at(self, at: Vector, force: Vector, case: int) -> None:
        """A force on a material point, as a part of a case of loads."""
        s = self.held(at.x)
        u = s / self.line.step
        i = min(max(int(value(u)), 0), len(self.line.spline) - 6)
        by = reals(6)
        by[0], by[1], by[2], by[3], by[4], by[5] = weights(u - i)
        for c in range(6):
            first = NUMBERS * (case * len(self.line.spline) + i + c)
            add(self.loads, first, force * by[c])
            add(self.loads, first + 3, force * (by[c] * (at.x - s)))
            add(self.loads, first + 6, force * (by[c] * at.y))
            add(self.loads, first + 9, force * (by[c] * at.z))

    def weigh(self, k: int, load: float) -> None:
        """Spread the unit loads as the normal load is."""
        self.weigh_at(self.line.rest.vertices[k], self.vertex(k), load)

    def weigh_at(self, at: Vector, x: Vector, load: float) -> None:
        """Spread the unit loads as the normal load is; x: Where the material point is."""
        for case in range(1, len(self.loads) // (NUMBERS * len(self.line.spline))):
            self.push_at(at, unit_load(case, x) * load, case)

    def scale_pushes(self, contact: float, units: float) -> None:
        """Forces of the contact and of the unit loads become so many times as large."""
        for j in range(len(self.loads)):
            self.loads[j] *= contact if j < NUMBERS * len(self.line.spline) else units

    def nearest(self, x: Vector) -> tuple[float, float]:
        """The arc next to x on the lines between stations, and the square of the distance."""
        first = NUMBERS * len(self.line.spline)
        best = -1.0
        arc = 0.0
        a = vector_at(self.frames, first, plain)
        for k in range(1, self.line.stations):
            b = vector_at(self.frames, first + 3 * k, plain)
            way = b - a
            t = min(max((x - a).dot(way) / way.square, 0.0), 1.0)
            away = (x - a - way * t).square
            if best < 0.0 or away < best:
                best = away
                arc = self.line.step * (k - 1.0 + t)
            a = b
        return arc, best

    def located(self, x: Vector) -> float:
        """The arc of the section at x, without rates, by Newton's method."""
        s, _ = self.nearest(x)
        low, high = max(s - 1.5 * self.line.step, 0.0), min(s + 1.5 * self.line.step, self.line.length)
        for _ in range(STEPS):
            here = self.section(s, self.frames, plain)
            out = x - here.p
            across = here.r2.cross(here.r3)
            steep = here.p_slope.dot(across)
            bent = here.slope_2.cross(here.r3) + here.r2.cross(here.slope_3)
            step = out.dot(across) / max(steep - out.dot(bent), BEYOND * steep)
            before = s
            s = min(max(s + step, low), high)
            if abs(s - before) <= CLOSE * self.line.length:
                break
        return s

    def arc(self, x: Vector) -> float:
        """The arc of the section at x. Each of two last steps doubles the order of rates that are exact."""
        s = self.located(value(x))
        if 0.0 < s < self.line.length:
            for _ in range(2):
                here = self.section(s, self.frames, exact)
                out = x - here.p
                across = here.r2.cross(here.r3)
                bent = here.slope_2.cross(here.r3) + here.r2.cross(here.slope_3)
                s = s + out.dot(across) / (here.p_slope.dot(across) - out.dot(bent))
        return s

    def depth(self, x: Vector) -> float:
        """Depth [m] at x, without rates of the coordinates."""
        s = self.located(x)
        return self.line.body.depth(within(self.section(s, self.frames, plain), s, x))  # type: ignore[no-any-return]

    def bound(self, x: Vector, r: float) -> float:
        """By the distance from the axis."""
        _, square = self.nearest(x)
        return self.bounds.width * self.line.reach + self.bounds.slack + r - square**0.5  # type: ignore[no-any-return]

    def met(self, x: Vector) -> tuple[float, Vector, Vector]:
        """Depth [m] at x, its slope, and the material point."""
        s = self.arc(x)
        here = self.section(s, self.frames, exact)
        at = within(here, s, x)
        d, g = gradient(self.line.body.depth, at)
        along = here.r1
        if 0.0 < s < self.line.length:
            along = here.p_slope + here.slope_2 * at.y + here.slope_3 * at.z
        over = here.r2.cross(here.r3)
        slope = over * g.x + here.r3.cross(along) * g.y + along.cross(here.r2) * g.z
        return d, slope / along.dot(over), at

    def velocity(self, at: Vector) -> Vector:
        """Of a material point against the frame of the rod [m/s]."""
        return self.placed(at, self.moves)


@compiled
def within(here: Section, s: float, x: Vector) -> Vector:
    """The material point at x, whose section is known."""
    out = x - here.p
    over = here.r2.cross(here.r3)
    whole = here.r1.dot(over)
    return Vector(
        s + out.dot(over) / whole,
        out.dot(here.r3.cross(here.r1)) / whole,
        out.dot(here.r1.cross(here.r2)) / whole,
    )


@compiled
def add(table: Reals, first: int, v: Vector) -> None:
    """Add to three numbers of a table."""
    table[first] += v.x
    table[first + 1] += v.y
    table[first + 2] += v.z


@compiled
def handed(rod: BentRod, n: int, pushes: Reals, first: int) -> None:
    """From loads on the coefficients to forces on the n coordinates, each case in its row."""
    line = rod.line
    count = len(line.spline)
    motions = NUMBERS * count + 3 * line.stations
    for k in range(line.stations):
        a = ZERO
        b = ZERO
        c = ZERO
        # The axes of the station again, from the coefficients around it.
        for i in range(5):
            place = NUMBERS * (k + i)
            share = line.at_stations[0, i]
            a += vector_at(rod.frames, place + 3, exact) * share
            b += vector_at(rod.frames, place + 6, exact) * share
            c += vector_at(rod.frames, place + 9, exact) * share
        R = Matrix(a, b, c)
        for case in range(len(rod.loads) // (NUMBERS * count)):
            force = ZERO
            on_a = ZERO
            on_b = ZERO
            on_c = ZERO
            for i in range(count):
                place = NUMBERS * (case * count + i)
                share = line.spline[i, k]
                force += vector_at(rod.loads, place, exact) * share
                on_a += vector_at(rod.loads, place + 3, exact) * share
                on_b += vector_at(rod.loads, place + 6, exact) * share
                on_c += vector_at(rod.loads, place + 9, exact) * share
            moment = a.cross(on_a) + b.cross(on_b) + c.cross(on_c)
            wrench = Screw(R @ moment, R @ force)
            for j in range(n):
                pushes[first + case * n + j] += wrench.dot(at(rod.frames, motions + 6 * (k * n + j)))
