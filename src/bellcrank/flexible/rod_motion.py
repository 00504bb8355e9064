"""Motion and inertia of a rod whose strains are its coordinates, slice by slice, in the loop language.

The section at the arc s has the frame g(s) = (R, p) in the axes of the rod's start; dg/ds = g [xi], with the strain

    xi(s) = rest(s) + sum_j e_d(j) phi_j(s) q_j,    xi = (twist, bending y, bending z, 1 + stretch, shear y, shear z).

Over a slice g advances by exp(Omega), Omega = A0 + A0 x A1 (Magnus' series to fourth order; Blanes, Casas, Oteo, Ros
2009, equation 254) with the exact moments A0 = int xi ds, A1 = int (s - middle) / h xi ds of the strain. Velocities,
accelerations and forces follow by the recursion of a chain (Boyer, Renda 2016; Boyer, Lebastard, Candelier, Renda
2021); motions of sections are in their own axes. Differs from those in: Jacobians are those of the discrete chain, so
that energy is kept to rounding.

The chain is one of :mod:`bellcrank.flexible.spatial_rods` or of :mod:`bellcrank.flexible.planar_rods`: the recursion is
the same, screws have six numbers or three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.flexible.spatial_rods import Slices, Stations
from bellcrank.program.graph import Graph
from bellcrank.program.loops import Reals, Reals2, Routine, compiled, reals
from bellcrank.program.trace import Expr

Floats = NDArray[np.float64]

OPERATIONS = 45
"""Of a rod written out, over slices, coordinates and numbers of a screw: 27 to 47 from 3 coordinates to 15."""
ROOM = 12_000
"""Operations of all rods that are written out in a program, at most. So many compile as quickly as loops do and run 3
to 4 times as fast; 31,000 take twice the time to compile and run 1.9 times as fast, as they no longer fit into the
caches near the processor."""


@compiled
def summed(weights: Reals2, i: int, chain: Any, q: Reals) -> Any:
    """sum_j e_d(j) weight_ij q_j."""
    a = reals(6)
    for k in range(len(chain.used)):
        total = 0.0
        for j in range(chain.firsts[k], chain.firsts[k + 1]):
            total += weights[i, j] * q[j]
        a[chain.used[k]] = total
    return chain.at(a, 0)


@compiled
def advanced(columns: Reals, slices: Slices, i: int, chain: Any, q: Reals, out: Reals) -> Any:
    """A slice, and in `out` the motion of its end by each coordinate; `columns` that of its start."""
    width = chain.width
    a0 = summed(slices.zeroth, i, chain, q) + chain.row(slices.rest_zeroth, i)
    a1 = summed(slices.first, i, chain, q) + chain.row(slices.rest_first, i)
    step = chain.step(a0 + a0.cross(a1))
    for k in range(len(chain.used)):
        e = chain.unit(chain.used[k])
        zeroth, first = step.way.tangent(e + e.cross(a1)), step.way.tangent(a0.cross(e))
        for j in range(chain.firsts[k], chain.firsts[k + 1]):
            own = zeroth * slices.zeroth[i, j] + first * slices.first[i, j]
            chain.put(out, width * j, step.way.outwards(chain.at(columns, width * j)) + own)
    return step


def walk(q: Reals, chain: Any, stations: Stations, weighed: int, out: Reals) -> float:
    """Where the rod is bent to, and how much it weighs there.

    If it is weighed: first and second moments, momenta of the coordinates (a screw each), their masses (n (n + 1) / 2,
    by rows). Then of each station the pose and the motion by each coordinate, in axes that are the rod's own at rest.
    """
    n = len(q)
    width = chain.width
    columns, local = reals(6 * len(q)), reals(6 * len(q))
    frame = chain.start
    station = 0
    place = 0
    if weighed != 0:
        place = chain.moments + width * n + n * (n + 1) // 2
    sections = len(chain.slices.zeroth) + 1
    if weighed == 0:
        # What lies beyond the last station is not asked for.
        sections = stations.after[len(stations.after) - 1] + 1
    for i in range(sections):
        if i > 0:
            frame = frame.after(advanced(columns, chain.slices, i - 1, chain, q, columns))
        if weighed != 0:
            weigh(columns, frame, i, chain, n, out)
        while station < len(stations.after):
            if stations.after[station] != i:
                break
            there = frame
            if stations.own[station] != 0:
                there = frame.after(advanced(columns, stations.slices, station, chain, q, local))
            else:
                for j in range(width * n):
                    local[j] = columns[j]
            axes = chain.axes(stations.axes, station)
            chain.put_pose(out, place, there, axes)
            place += chain.pose_numbers
            for j in range(n):
                chain.put(out, place, chain.rested(axes, chain.at(local, width * j)))
                place += width
            station += 1
    return 0.0


@compiled
def weigh(columns: Reals, frame: Any, i: int, chain: Any, n: int, out: Reals) -> None:
    """Add a section to the moments, momenta and masses of a rod."""
    width = chain.width
    own = chain.own(i)
    chain.add_moments(frame, own, out)
    if i > 0:
        place = chain.moments + width * n
        for j in range(n):
            x = own.momentum(chain.at(columns, width * j))
            first = chain.moments + width * j
            chain.put(out, first, chain.at(out, first) + frame.wrench(x))
            for k in range(j + 1):
                out[place] += x.dot(chain.at(columns, width * k))
                place += 1


def station_biases(q: Reals, rates: Reals, chain: Any, stations: Stations, out: Reals) -> float:
    """Rates of the motions of stations while the rates of the coordinates stay, in the axes of `walk`."""
    motion, rate = chain.still, chain.still
    section = 0
    for k in range(len(stations.after)):
        while section < stations.after[k]:
            moved = moving(chain.slices, section, chain, q, rates)
            rate = moved.rate(motion, rate)
            motion = moved.motion(motion)
            section += 1
        found = rate
        if stations.own[k] != 0:
            found = moving(stations.slices, k, chain, q, rates).rate(motion, rate)
        chain.put(out, chain.width * k, chain.rested(chain.axes(stations.axes, k), found))
    return 0.0


class Moved(NamedTuple):
    """A slice while its strain changes: moments A0, A1 of the strain, twist of the end and its rate at constant q'."""

    step: Any
    a0: Any
    a1: Any
    twist: Any
    change: Any

    def motion(self, before: Any) -> Any:
        """The motion of the end from that of the beginning."""
        return self.step.way.outwards(before) + self.twist

    def rate(self, before: Any, rate: Any) -> Any:
        """The rate of the motion of the end."""
        seen = self.step.way.outwards(before)
        return self.step.way.outwards(rate) + seen.cross(self.twist) + self.change


@compiled
def moving(slices: Slices, i: int, chain: Any, q: Reals, rates: Reals) -> Moved:
    """A slice for rates of the coordinates, which stay constant."""
    a0 = summed(slices.zeroth, i, chain, q) + chain.row(slices.rest_zeroth, i)
    a1 = summed(slices.first, i, chain, q) + chain.row(slices.rest_first, i)
    step = chain.step(a0 + a0.cross(a1))
    d0 = summed(slices.zeroth, i, chain, rates)
    d1 = summed(slices.first, i, chain, rates)
    rate = d0 + d0.cross(a1) + a0.cross(d1)
    change = step.way.tangent(d0.cross(d1) * 2.0) + step.bent(rate)
    return Moved(step, a0, a1, step.way.tangent(rate), change)


@cache
def forces(slices: int) -> Callable[..., float]:
    """The function below for so many slices: what is kept of each on the way outwards needs constant room."""
    most = 30 + 18

    def inertia_forces(
        q: Reals, rates: Reals, accelerations: Reals, start: Reals, chain: Any, out: Reals
    ) -> float:
        """Wrench on the rod's start (moment, force), then the force on each coordinate, of the accelerated rod.

        start: Motion of the rod's start, without velocity, and its rate, in axes that are its own.
        """
        width, more = chain.width, chain.kept
        kept = reals(most * slices)
        motion, rate = chain.at(start, 0), chain.at(start, width)
        first = chain.own(0).force(motion, rate)
        for i in range(slices):
            moved = moving(chain.slices, i, chain, q, rates)
            way = moved.step.way
            d0 = summed(chain.slices.zeroth, i, chain, accelerations)
            d1 = summed(chain.slices.first, i, chain, accelerations)
            rate = moved.rate(motion, rate) + way.tangent(d0 + d0.cross(moved.a1) + moved.a0.cross(d1))
            motion = moved.motion(motion)
            place = most * i
            chain.keep(kept, place, way)
            chain.put(kept, place + more, moved.a0)
            chain.put(kept, place + more + width, moved.a1)
            chain.put(kept, place + more + 2 * width, chain.own(i + 1).force(motion, rate))
        wrench = chain.still
        pulls = reals(12)
        for back in range(slices):
            i = slices - 1 - back
            place = most * i
            way = chain.passage(kept, place)
            a0, a1 = chain.at(kept, place + more), chain.at(kept, place + more + width)
            wrench = wrench + chain.at(kept, place + more + 2 * width)
            y = way.pulled(wrench)
            # dOmega_j = c0 (e + e x A1) + c1 A0 x e, and y . (e x A1) = - e . A1.turned(y)
            chain.put(pulls, 0, y - a1.turned(y))
            chain.put(pulls, width, a0.turned(y))
            for k in range(len(chain.used)):
                zeroth_pull, first_pull = pulls[chain.used[k]], pulls[width + chain.used[k]]
                for j in range(chain.firsts[k], chain.firsts[k + 1]):
                    pull = chain.slices.zeroth[i, j] * zeroth_pull + chain.slices.first[i, j] * first_pull
                    out[width + j] += pull
            wrench = way.inwards(wrench)
        chain.put(out, 0, wrench + first)
        return 0.0

    return inertia_forces


class RodLoop(Routine):
    """A loop over slices: long enough that a single state too is worth machine code.

    In a program it is written out while that has room: zeros fold, and walk, biases and forces share their slices.
    """

    def __init__(
        self, name: str, function: Callable[..., float], of: RodRoutines, others: Any, rows: Any, more: int
    ) -> None:
        super().__init__(function, (of.chain, *others), 0, name, (), rows, more)
        self.of = of

    def __call__(self, *arguments: Any, memory: Sequence[Expr] = ()) -> Any:
        """Its results as traced values."""
        graph = next((x.graph for given in arguments for x in given if isinstance(x, Expr)), None)
        if graph is None or not self._has_room(graph):
            return super().__call__(*arguments, memory=memory)
        return self.unrolled(*arguments)

    def _has_room(self, graph: Graph) -> bool:
        """Whether the rod is written out in a program: all of it or nothing."""
        decided = graph.written_out
        if self.of not in decided:
            fits = sum(decided.values()) + self.of.operations <= ROOM
            decided[self.of] = self.of.operations if fits else 0
        return decided[self.of] > 0

    def evaluate(self, x: Floats) -> Floats:
        return self.kernel(x) if x.ndim == 1 else super().evaluate(x)

    def interpreted(self, x: Floats) -> Floats:
        """At one state, for stations that are asked for once."""
        return super().evaluate(x)


class RodRoutines:
    """The loops over one rod with its tables, to be called from programs."""

    def __init__(self, chain: Any) -> None:
        self.chain, self.n, self.width = chain, int(chain.firsts[-1]), int(chain.width)
        self.moments, self.pose_numbers = int(chain.moments), int(chain.pose_numbers)
        n, width = self.n, self.width
        self.masses = self.moments + width * n
        self.weights = self.masses + n * (n + 1) // 2
        slices = len(chain.mass) - 1
        self.operations = OPERATIONS * slices * n * width
        self.forces = RodLoop("rod forces", forces(slices), self, (), (n, n, n, 2 * width), width + n)

    @property
    def station_numbers(self) -> int:
        """Results for each station."""
        return self.pose_numbers + self.width * self.n

    def inertia(self, stations: Stations) -> RodLoop:
        """Weights, then poses and motions of stations."""
        more = self.weights + len(stations.after) * self.station_numbers
        return RodLoop("rod", walk, self, (stations, 1), (self.n,), more)

    def poses(self, stations: Stations) -> RodLoop:
        """Poses and motions of stations; there is one at least."""
        more = len(stations.after) * self.station_numbers
        return RodLoop("rod stations", walk, self, (stations, 0), (self.n,), more)

    def biases(self, stations: Stations) -> RodLoop:
        """Rates of the motions of stations at constant rates of the coordinates."""
        more = self.width * len(stations.after)
        return RodLoop("rod biases", station_biases, self, (stations,), (self.n, self.n), more)


__all__ = ["RodLoop", "RodRoutines", "advanced", "forces", "station_biases", "walk"]
