"""Groups of four runs one after the other in machine code, so that the interpreter is asked once a block of them.

The arrays are those of the lane loop (:mod:`lanes`), with what belongs to the queue behind them:

    ints       the loop's, the loop's at the beginning of a group, where the queue stands, lanes of each group
    reals      the loop's, the loop's at the beginning of a group
    addresses  the loop's, the loop itself
    x          the loop's, then [t, y, p] at the start of each group, in the same order
    out_y      the loop's, then the outputs of each lane of each group, one after the other
"""

from __future__ import annotations

from typing import Any

from bellcrank.batch.lane_parts import ACTIVE, LANE_ROWS
from bellcrank.simulate.compiled import Unit, call_unit, matrix, vector
from bellcrank.simulate.layout import (
    ADDRESSES,
    BUDGET,
    EVALUATIONS,
    INTS,
    N_EVENTS,
    N_OUT,
    REALS,
    ROWS,
    STEPS,
    N,
    Y,
)
from bellcrank.simulate.steps import DONE

ADVANCE = ADDRESSES
"""The address of the lane loop."""
GROUP = 2 * INTS  # the present one
GROUPS = GROUP + 1
BEGUN = GROUP + 2  # whether the present one has begun
PARAMETERS = GROUP + 3
ALL_STEPS = GROUP + 4  # of the groups that ended, counted once a run
ALL_EVALUATIONS = GROUP + 5
COUNTS = GROUP + 6  # from here on: runs of each group


@Unit
def advance_groups(*pointers: Any) -> int:
    """Run groups until all have ended or the present one needs the caller; returns its Status code."""
    addresses_at, ints_at, reals_at, x_at, v_at, g_at, _, _out_t, out_y_at, _own_ints, _own_reals = pointers
    addresses = vector(addresses_at, ADDRESSES + 1)
    ints = vector(ints_at, COUNTS)
    counts = matrix(ints_at, COUNTS, ints[GROUPS], 1)
    reals = vector(reals_at, 2 * REALS)
    n = 4 * ints[N]
    width = 4 + n + 4 * ints[PARAMETERS]
    x = vector(x_at, width)
    starts = matrix(x_at, width, ints[GROUPS], width)
    v = matrix(v_at, 0, ints[ROWS], n)
    g = matrix(g_at, 0, LANE_ROWS + 6 * ints[N_EVENTS], 4)
    size = ints[N_OUT] * ints[N]
    out_y = vector(out_y_at, 4 * size)
    kept = matrix(out_y_at, 4 * size, 4 * ints[GROUPS], size)
    while ints[GROUP] < ints[GROUPS]:
        group = ints[GROUP]
        count = counts[group, 0]
        if ints[BEGUN] == 0:
            budget = ints[BUDGET]
            for i in range(INTS):
                ints[i] = ints[INTS + i]
            ints[BUDGET] = budget
            for i in range(REALS):
                reals[i] = reals[REALS + i]
            for i in range(width):
                x[i] = starts[group, i]
            for i in range(n):
                v[Y, i] = starts[group, 4 + i]
            for row in range(LANE_ROWS + 5 * ints[N_EVENTS]):
                for lane in range(4):
                    g[row, lane] = 1.0
            for lane in range(count, 4):
                g[ACTIVE, lane] = 0.0
            ints[BEGUN] = 1
        active = 0.0
        for lane in range(4):
            active += g[ACTIVE, lane]
        if active > 0.0:
            status = call_unit(addresses[ADVANCE], pointers)
            if status != DONE:
                return status
        for lane in range(count):
            for i in range(size):
                kept[4 * group + lane, i] = out_y[4 * i + lane]
        ints[ALL_STEPS] += count * ints[STEPS]
        ints[ALL_EVALUATIONS] += count * ints[EVALUATIONS]
        ints[BEGUN] = 0
        ints[GROUP] = group + 1
    return DONE


__all__ = [
    "ADVANCE",
    "ALL_EVALUATIONS",
    "ALL_STEPS",
    "BEGUN",
    "COUNTS",
    "GROUP",
    "GROUPS",
    "PARAMETERS",
    "advance_groups",
]
