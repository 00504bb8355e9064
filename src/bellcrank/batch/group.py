"""Four runs side by side: the arrays of the lane loop, and what happens to lanes that leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.lanes import ACTIVE, FLAG, LANE_ROWS, LANES, ORDER, advance_lanes
from bellcrank.events import Event, watch_program
from bellcrank.formulations.loops import Partition
from bellcrank.impacts.segment import watching
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism import Mechanism, Traced
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.simulate import layout as at
from bellcrank.simulate.methods import load
from bellcrank.simulate.problem import Options
from bellcrank.simulate.status import Status

Array = NDArray[np.float64]

METHODS = ("dop853", "dormand_prince5", "runge_kutta4")
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

    @property
    def partition(self) -> Partition:
        """Which speeds are independent."""
        return self.traced.partition


def lane_machine(mechanism: Mechanism) -> LaneMachine:
    """Compiled for the start partition, once a mechanism."""
    from bellcrank.export import needs_projection

    key = "lanes", mechanism.partition
    if key not in mechanism.compiled:
        traced = mechanism.traced()
        projection = None
        if needs_projection(mechanism):
            projection = compile_program(mechanism.projection(mechanism.partition), LANES)
        rates, full = compile_program(traced.rates, LANES), compile_program(traced.full, LANES)
        mechanism.compiled[key] = LaneMachine(traced, rates, projection, full)
    found: LaneMachine = mechanism.compiled[key]
    return found


@dataclass(frozen=True, eq=False)
class Watch:
    """Event functions of four states at once, and the directions in which they count."""

    kernel: Kernel
    directions: tuple[float, ...]


def watched(mechanism: Mechanism, events: Sequence[Event]) -> Watch | None:
    """What may end the common path of a mechanism: events, and gaps of contacts that close."""
    pairs = [ContactPair.of(c, mechanism.linkage) for c in mechanism.system.contacts.values()]
    functions = [*events, *(e for pair in pairs for e in watching(pair))]
    if not functions:
        return None
    program = watch_program(mechanism, mechanism.partition, functions)
    return Watch(compile_program(program, LANES), tuple(float(e.direction) for e in functions))


@dataclass(frozen=True, eq=False)
class Leaver:
    """A lane that goes on by itself from (t, y); outputs before `output` are done."""

    lane: int
    t: float
    y: Array
    output: int


class LaneGroup:
    """The arrays of four runs; used for one group after the other."""

    def __init__(
        self,
        machine: LaneMachine,
        method: str,
        times: Array,
        parameters: int,
        options: Options,
        watch: Watch | None = None,
    ) -> None:
        self.machine, self.times, self.options = machine, times, options
        integrator = load(method)
        n = machine.rates.n_out
        self.n = n
        self.ints, self.reals = np.zeros(at.INTS, np.int64), np.zeros(at.REALS)
        self.x = np.zeros((1 + n + parameters, LANES))
        self.v = np.zeros((integrator.rows, n, LANES))
        self.directions = np.array(() if watch is None else watch.directions)
        self.g = np.zeros((LANE_ROWS + 6 * len(self.directions), LANES))
        self.corrected = np.zeros((n + 2, LANES))
        self.out_y = np.zeros((len(times), n, LANES))
        self.own = integrator.arrays(n, parameters)
        self.order = integrator.order
        self.addresses = np.zeros(at.ADDRESSES, np.int64)
        self.addresses[at.RHS] = machine.rates.address
        self.addresses[at.PROJECT] = machine.projection.address if machine.projection else 0
        self.addresses[at.EVENTS] = 0 if watch is None else watch.kernel.address
        self.watch = watch
        self.v[at.ATOL] = options.absolute(n)[:, None]

    def run(self, t: float, y: Array, p: Array, stopped: Callable[[], bool]) -> tuple[bool, list[Leaver]]:
        """Integrate up to four rows of `y` and `p`; whether it came to an end, and the lanes that left.

        The outputs lie in `out_y`, those of lanes that left up to where they did.
        """
        count = len(y)
        filled = np.minimum(np.arange(LANES), count - 1)
        self._begin(t, y[filled].T, p[filled].T)
        self.g[ACTIVE] = np.arange(LANES) < count
        leavers: list[Leaver] = []
        while True:
            self.ints[at.BUDGET] = TURN
            status = Status(
                advance_lanes(
                    self.addresses,
                    self.ints,
                    self.reals,
                    self.x,
                    self.v,
                    self.g,
                    self.corrected,
                    self.times,
                    self.out_y,
                    *self.own,
                )
            )
            if status is Status.DONE:
                return True, leavers
            if status is Status.RUNNING:
                if stopped():
                    return False, leavers
                continue
            flagged = self.g[FLAG] != 0.0 if status is not Status.TOO_MANY_STEPS else self.g[ACTIVE] != 0.0
            leavers += self._leave(np.flatnonzero(flagged & (self.g[ACTIVE] != 0.0)))
            if not self.g[ACTIVE].any():
                return True, leavers

    def _begin(self, t: float, y: Array, p: Array) -> None:
        ints, reals, options = self.ints, self.reals, self.options
        ints[:] = 0
        reals[:] = 0.0
        ints[at.N], ints[at.N_OUT], ints[at.ROWS] = self.n, len(self.times), len(self.v)
        ints[at.OWN_INTS], ints[at.OWN_REALS] = len(self.own[0]), len(self.own[1])
        ints[at.FRESH], ints[at.MAX_STEPS], ints[at.CORRECTIONS] = 1, options.max_steps, options.corrections
        ints[at.FIXED], ints[ORDER] = int(options.fixed_step > 0.0), self.order
        reals[at.T] = reals[at.T_NEW] = t
        reals[at.T_STOP] = self.times[-1]
        reals[at.H] = options.fixed_step or options.first_step
        reals[at.RTOL], reals[at.MAX_STEP] = options.rtol, options.max_step
        reals[at.POSITION_TOLERANCE] = options.position_tolerance
        reals[at.THRESHOLD] = options.repartition_threshold
        ints[at.N_EVENTS] = len(self.directions)
        self.g[:] = 1.0
        self.g[len(self.g) - len(self.directions) :] = self.directions[:, None]
        self.v[at.Y] = y
        self.x[1 + self.n :] = p

    def _leave(self, lanes: NDArray[np.int64]) -> list[Leaver]:
        """Take lanes out; copies of another lane keep their places."""
        t, output = float(self.reals[at.T]), int(self.ints[at.OUT_NEXT])
        found = [Leaver(int(k), t, self.v[at.Y, :, k].copy(), output) for k in lanes]
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
        """Calls of the rates, each for four lanes."""
        return int(self.ints[at.EVALUATIONS])

    @property
    def steps(self) -> int:
        """Steps made."""
        return int(self.ints[at.STEPS])


__all__ = ["METHODS", "LaneGroup", "LaneMachine", "Leaver", "lane_machine"]
