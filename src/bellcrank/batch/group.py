"""Runs four by four: the arrays of the lane loop and its queue, and what happens to lanes that leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch import lane_queue as queue
from bellcrank.batch.lane_queue import advance_groups
from bellcrank.batch.lanes import ACTIVE, FLAG, FROM_START, LANE_ROWS, LANES, ORDER
from bellcrank.formulations.loops import Partition
from bellcrank.impacts.gaps import watching
from bellcrank.impacts.units import placed_pairs
from bellcrank.integrate import layout as at
from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.methods import load
from bellcrank.integrate.problem import Options
from bellcrank.integrate.run import hold
from bellcrank.integrate.status import Status
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.sizes import tolerance_scales
from bellcrank.mechanism.traced import Traced
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.run.events import Event, watch_program

Array = NDArray[np.float64]

"""Integrators that run in lanes."""

TURN = 5000
"""Steps between two looks at whether the user has interrupted."""


@dataclass(frozen=True, eq=False)
class LaneMachine:
    """The programs of a mechanism for one partition, four states at once."""

    traced: Traced
    rates: Kernel
    projection: Kernel | None
    full: Kernel
    scales: Array | None
    sizes: Array | None
    rank: float = 1.0

    @property
    def partition(self) -> Partition:
        """Which speeds are independent."""
        return self.traced.partition


MACHINES: Table[Partition, LaneMachine] = Table("in lanes")


def lane_machine(mechanism: Mechanism) -> LaneMachine:
    """Compiled for the start partition, once a mechanism."""
    return mechanism.compiled.once(MACHINES, mechanism.partition, lambda: _compiled(mechanism))


def _compiled(mechanism: Mechanism) -> LaneMachine:
    from bellcrank.mechanism.export import needs_projection

    traced = mechanism.traced()
    projection = None
    if needs_projection(mechanism):
        projection = compile_program(mechanism.projection(mechanism.partition, with_rank=True), LANES)
    rates, full = compile_program(traced.rates, LANES), compile_program(traced.full, LANES)
    scales, sizes = tolerance_scales(mechanism, mechanism.partition)
    return LaneMachine(traced, rates, projection, full, scales, sizes, _rank(mechanism, projection))


def _rank(mechanism: Mechanism, projection: Kernel | None) -> float:
    """How far from losing rank the loops are where they are farthest, by the measure of the projection."""
    if projection is None:
        return 1.0
    start = mechanism.start
    y = np.concatenate([[start.t], start.q, start.u[list(mechanism.partition.independent)]])
    x = np.concatenate([y, mechanism.parameter_values])
    return float(projection.many(x[None])[0, -1]) / mechanism.start_independence


@dataclass(frozen=True, eq=False)
class Watch:
    """Event functions of four states at once, and the directions in which they count."""

    kernel: Kernel
    directions: tuple[float, ...]


def watched(mechanism: Mechanism, events: Sequence[Event]) -> Watch | None:
    """What may end the common path of a mechanism: events, and gaps of contacts that close."""
    functions = [*events, *(e for pair in placed_pairs(mechanism) for e in watching(pair))]
    if not functions:
        return None
    program = watch_program(mechanism, mechanism.partition, functions)
    return Watch(compile_program(program, LANES), tuple(float(e.direction) for e in functions))


@dataclass(frozen=True, eq=False)
class Leaver:
    """A run that goes on by itself from (t, y); outputs before `output` are done. place: 4 group + lane."""

    place: int
    t: float
    y: Array
    output: int


class LaneGroups:
    """The arrays of up to `capacity` groups of four runs; used for one block of them after the other."""

    def __init__(
        self,
        machine: LaneMachine,
        method: str,
        times: Array,
        parameters: int,
        options: Options,
        watch: Watch | None = None,
        capacity: int = 1,
    ) -> None:
        self.machine, self.options, self.watch = machine, options, watch
        self.times = np.ascontiguousarray(times, dtype=np.float64)
        integrator = load(method)
        n = machine.rates.n_out
        self.n = n
        self.ints, self.reals = np.zeros(at.INTS, np.int64), np.zeros(at.REALS)
        self.first_ints, self.first_reals = np.zeros(at.INTS, np.int64), np.zeros(at.REALS)
        self.counters, self.lanes = np.zeros(queue.COUNTERS, np.int64), np.zeros(capacity, np.int64)
        x = np.zeros((1 + capacity, 1 + n + parameters, LANES))
        self.x, self.starts = x[0], x[1:]
        self.v = np.zeros((integrator.rows, n, LANES))
        directions = np.array(() if watch is None else watch.directions)
        self.g = np.zeros((LANE_ROWS + 6 * len(directions), LANES))
        self.g[len(self.g) - len(directions) :] = directions[:, None]
        self.corrected = np.zeros((n + 3, LANES))
        outputs = np.zeros((1 + capacity, LANES * len(times) * n))
        self.out_y = outputs[0].reshape(len(times), n, LANES)
        self.kept = outputs[1:].reshape(capacity * LANES, len(times), n)
        self.own = integrator.arrays(n, parameters)
        self.addresses = np.zeros(at.ADDRESSES, np.int64)
        self.addresses[at.RHS] = machine.rates.address
        self.addresses[at.PROJECT] = machine.projection.address if machine.projection else 0
        self.addresses[at.EVENTS] = 0 if watch is None else watch.kernel.address
        hold(self.v, options, machine.scales, machine.sizes)
        self._template(integrator.order, len(directions))
        loop = Arrays(
            self.addresses,
            self.ints,
            self.reals,
            self.x.reshape(-1),
            self.v.reshape(len(self.v), -1),
            self.g,
            self.corrected.reshape(-1),
            self.times,
            self.out_y.reshape(len(times), -1),
            *self.own,
        )
        waiting = queue.Queue(
            loop,
            self.first_ints,
            self.first_reals,
            self.counters,
            self.starts.reshape(capacity, -1),
            self.lanes,
            self.kept.reshape(len(self.kept), -1),
        )
        self._advance = advance_groups.bound(waiting)

    def _template(self, order: int, events: int) -> None:
        """What the loop finds at the beginning of every group."""
        options = self.options
        ints, reals = self.first_ints, self.first_reals
        ints[at.N], ints[at.N_OUT], ints[at.ROWS] = self.n, len(self.times), len(self.v)
        ints[at.OWN_INTS], ints[at.OWN_REALS] = len(self.own[0]), len(self.own[1])
        ints[at.FRESH], ints[at.MAX_STEPS], ints[at.CORRECTIONS] = 1, options.max_steps, options.corrections
        ints[at.FIXED], ints[ORDER] = int(options.fixed_step > 0.0), order
        ints[at.N_EVENTS] = events
        reals[at.T_STOP] = self.times[-1]
        reals[at.H] = options.fixed_step or options.first_step
        reals[at.RTOL], reals[at.MAX_STEP] = options.rtol, options.max_step
        reals[at.POSITION_TOLERANCE] = options.position_tolerance
        reals[at.THRESHOLD] = options.repartition_threshold
        reals[at.RANK_BEST] = self.machine.rank
        # The queue itself reads the sizes, before any group has begun.
        self.ints[:] = ints

    def run(
        self, t: float, y: Array, p: Array, first: NDArray[np.int64], stopped: Callable[[], bool]
    ) -> tuple[int, list[Leaver]]:
        """Integrate the rows of `y` and `p`; a group begins at each row in `first` and has up to four.

        How many groups came to an end, and the runs that left. The outputs lie in `kept` (by place), those of runs
        that left, or of a group that was stopped, up to where they did and not a number from there on.
        """
        groups = len(first)
        counts = np.diff(first, append=len(y))
        rows = first[:, None] + np.minimum(np.arange(LANES), counts[:, None] - 1)
        starts = self.starts[:groups].transpose(0, 2, 1)
        starts[:, :, 0] = t
        starts[:, :, 1 : 1 + self.n] = y[rows]
        starts[:, :, 1 + self.n :] = p[rows]
        self.first_reals[at.T] = self.first_reals[at.T_NEW] = t
        counters = self.counters
        self.lanes[:groups] = counts
        counters[:] = 0
        counters[queue.GROUPS] = groups
        leavers: list[Leaver] = []
        while True:
            self.ints[at.BUDGET] = TURN
            status = Status(self._advance())
            if status is Status.DONE:
                break
            if status is Status.RUNNING:
                if stopped():
                    self._stop(int(counters[queue.GROUP]), groups)
                    break
                continue
            flagged = self.g[FLAG] != 0.0 if status is not Status.TOO_MANY_STEPS else self.g[ACTIVE] != 0.0
            leavers += self._leave(np.flatnonzero(flagged & (self.g[ACTIVE] != 0.0)))
        for leaver in leavers:
            self.kept[leaver.place, leaver.output :] = np.nan
        return int(counters[queue.GROUP]), leavers

    def _stop(self, group: int, groups: int) -> None:
        """Keep what the present group has reached."""
        counters, reached = self.counters, int(self.ints[at.OUT_NEXT])
        self.kept[LANES * group : LANES * groups] = np.nan
        self.kept[LANES * group : LANES * (group + 1), :reached] = self.out_y.transpose(2, 0, 1)[:, :reached]
        count = self.lanes[group]
        counters[queue.ALL_STEPS] += count * self.ints[at.STEPS]
        counters[queue.ALL_EVALUATIONS] += count * self.ints[at.EVALUATIONS]

    def _leave(self, lanes: NDArray[np.int64]) -> list[Leaver]:
        """Take lanes out; copies of another lane keep their places."""
        t, output = float(self.reals[at.T]), int(self.ints[at.OUT_NEXT])
        group = int(self.counters[queue.GROUP])
        found = []
        for k in lanes.tolist():
            leaver = Leaver(LANES * group + k, t, self.v[at.Y, :, k].copy(), output)
            if self.g[FLAG, k] == FROM_START:
                x = self.starts[group, :, k]
                leaver = Leaver(leaver.place, float(x[0]), x[1 : 1 + self.n].copy(), 0)
            found.append(leaver)
        self.g[ACTIVE, lanes] = 0.0
        left = np.flatnonzero(self.g[ACTIVE])
        if len(left):
            donor = left[0]
            for k in lanes:
                for row in (at.Y, at.F):
                    self.v[row, :, k] = self.v[row, :, donor]
                self.x[:, k] = self.x[:, donor]
        return found

    @property
    def evaluations(self) -> int:
        """Calls of the rates, counted once a run."""
        return int(self.counters[queue.ALL_EVALUATIONS])

    @property
    def steps(self) -> int:
        """Steps made, counted once a run."""
        return int(self.counters[queue.ALL_STEPS])


__all__ = ["LaneGroups", "LaneMachine", "Leaver", "lane_machine"]
