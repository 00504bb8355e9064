"""Groups of four runs one after the other in machine code, so that the interpreter is asked once a block of them."""

from __future__ import annotations

from typing import NamedTuple

from bellcrank.batch.lane_parts import ACTIVE, LANE_ROWS
from bellcrank.batch.lanes import advance_lanes
from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.layout import (
    BUDGET,
    EVALUATIONS,
    INTS,
    N_EVENTS,
    N_OUT,
    REALS,
    STEPS,
    N,
    Y,
)
from bellcrank.integrate.steps import DONE
from bellcrank.program.loops import Ints, Reals, Reals2, entry

GROUP, GROUPS, BEGUN, ALL_STEPS, ALL_EVALUATIONS, COUNTERS = range(6)
"""Of the queue: the present group, how many there are, whether the present one has begun; steps and evaluations of the
groups that ended, counted once a run."""


class Queue(NamedTuple):
    """The arrays of the lane loop, and of the groups that wait for it.

    ints, reals: Those of the loop at the beginning of a group. starts: [t, y, p] of each group, as in `x` of the loop.
    lanes: How many lanes of each group are in use. kept: The outputs of each lane of each group.
    """

    loop: Arrays
    ints: Ints
    reals: Reals
    counters: Ints
    starts: Reals2
    lanes: Ints
    kept: Reals2


@entry
def advance_groups(queue: Queue) -> int:
    """Run groups until all have ended or the present one needs the caller; returns its Status code."""
    _, ints, reals, x, v, g, _, _, out_y, _, _ = queue.loop
    counters = queue.counters
    outputs = ints[N_OUT]
    n = ints[N]
    while counters[GROUP] < counters[GROUPS]:
        group = counters[GROUP]
        count = queue.lanes[group]
        if counters[BEGUN] == 0:
            budget = ints[BUDGET]
            for i in range(INTS):
                ints[i] = queue.ints[i]
            ints[BUDGET] = budget
            for i in range(REALS):
                reals[i] = queue.reals[i]
            for i in range(x.shape[0]):
                x[i] = queue.starts[group, i]
            for i in range(4 * n):
                v[Y, i] = queue.starts[group, 4 + i]
            for row in range(LANE_ROWS + 5 * ints[N_EVENTS]):
                for lane in range(4):
                    g[row, lane] = 1.0
            for lane in range(count, 4):
                g[ACTIVE, lane] = 0.0
            counters[BEGUN] = 1
        active = 0.0
        for lane in range(4):
            active += g[ACTIVE, lane]
        if active > 0.0:
            status = advance_lanes(queue.loop)
            if status != DONE:
                return status
        for lane in range(count):
            for k in range(outputs):
                for i in range(n):
                    queue.kept[4 * group + lane, k * n + i] = out_y[k, 4 * i + lane]
        counters[ALL_STEPS] += count * ints[STEPS]
        counters[ALL_EVALUATIONS] += count * ints[EVALUATIONS]
        counters[BEGUN] = 0
        counters[GROUP] = group + 1
    return DONE
