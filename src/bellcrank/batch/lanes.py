"""The explicit Runge-Kutta loop for four runs side by side, one a lane.

The four share time and step size: a step is as long as the lane with the largest error allows, and stands when
all lanes accept it. Everything else is the scalar loop (:mod:`bellcrank.integrate.embedded`): the same tables,
controller, projection and dense output. A lane that cannot go on with the others (its partition decays, its
loops do not close or come beside a change point, its rates are not finite, it may meet an event) is flagged and
handed to the caller, who lets it go on by itself and puts a copy of another lane in its place.

Arrays hold the four lanes of an entry side by side: x = [t x 4, y0 x 4, y1 x 4, ..., p0 x 4, ...].
"""

from __future__ import annotations

import math

from bellcrank.batch.lane_parts import (
    ACTIVE,
    ERRORS_OF,
    FLAG,
    FROM_START,
    LANE_ROWS,
    LANES,
    MARGINS,
    NEARER,
    ORDER,
    RANK_BESTS,
    RANK_STARTS,
    RANKS,
    begin_lanes,
    combine_lanes,
    error_lanes,
    lost_lanes,
    outputs_lanes,
    project_lanes,
    rates_lanes,
    worst_norm,
)
from bellcrank.batch.lane_watch import watch_lanes
from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.embedded import BETA, EXPONENT, GROW, NODES, SAFETY, SHRINK, STAGES
from bellcrank.integrate.layout import (
    BUDGET,
    ERROR_OLD,
    EVENTS,
    F_NEW,
    FIXED,
    FRESH,
    LAST_REJECTED,
    MAX_STEPS,
    N_OUT,
    OUT_NEXT,
    OWN,
    PROJECT,
    REJECTED,
    RTOL,
    SCANNING,
    STEPS,
    T_NEW,
    T_STOP,
    THRESHOLD,
    TROUBLE,
    Y_NEW,
    F,
    H,
    N,
    T,
    Y,
)
from bellcrank.integrate.steps import (
    DONE,
    REPARTITION,
    ROUNDING,
    RUNNING,
    STEP_UNDERFLOW,
    TOO_MANY_STEPS,
    next_step,
    plan_step,
)
from bellcrank.program.loops import entry

PATIENCE = 12
"""Rejections in a row that one lane's trouble may cost the others before it is taken out."""


@entry
def advance_lanes(run: Arrays) -> int:
    """Step until done, a lane is flagged or the budget of steps is spent; returns a Status code.

    REPARTITION: flagged lanes leave at the present time, which is that before the step where they may meet an
    event in it; the others make it again. STEP_UNDERFLOW: likewise, they are in trouble.
    """
    addresses, ints, reals, x, v, g, corrected, out_t, out_y, shape, table = run
    n = 4 * ints[N]
    s = shape[STAGES]
    controlled = ints[FIXED] == 0
    if ints[FRESH] != 0:
        if not begin_lanes(addresses, ints, reals, x, v, g, corrected, ints[ORDER]):
            return STEP_UNDERFLOW
        ints[FRESH] = 0
        while ints[OUT_NEXT] < ints[N_OUT] and out_t[ints[OUT_NEXT]] <= reals[T]:
            for i in range(n):
                out_y[ints[OUT_NEXT], i] = v[Y, i]
            ints[OUT_NEXT] += 1
    while True:
        if reals[T] >= reals[T_STOP]:
            return DONE
        if ints[BUDGET] <= 0:
            return RUNNING
        ints[BUDGET] -= 1
        h = plan_step(reals)
        ints[SCANNING] = 0
        for k in range(s):
            combine_lanes(x, v, Y, h, shape, table, k)
            if k < s - 1:
                rates_lanes(addresses, ints, x, v, reals[T] + table[NODES + k] * h, OWN + 1 + k)
        error = 2.0
        factor = 0.2
        trouble = True
        if project_lanes(addresses, ints, reals, x, corrected, g, reals[T_NEW]):
            if lost_lanes(addresses, ints, reals, g):
                return STEP_UNDERFLOW
            for i in range(n):
                v[Y_NEW, i] = x[4 + i]
            rates_lanes(addresses, ints, x, v, reals[T_NEW], F_NEW)
            error = worst_norm(reals, v, g, F_NEW, Y_NEW, Y_NEW, True)
            if error < math.inf:
                trouble = False
                error = error_lanes(reals, x, v, g, h, shape, table) if controlled else 0.0
                factor = (
                    table[SAFETY] * max(error, 1e-12) ** -table[EXPONENT] * reals[ERROR_OLD] ** table[BETA]
                )
                factor = min(table[GROW], max(table[SHRINK], factor))
        if not error <= 1.0:
            ints[REJECTED] += 1
            ints[LAST_REJECTED] = 1
            ints[TROUBLE] += 1
            reals[H] = h * min(factor, 0.9)
            if ints[TROUBLE] >= PATIENCE or not controlled or reals[H] <= 1e-15 * abs(reals[T]):
                if not trouble:
                    for lane in range(4):
                        g[FLAG, lane] = g[ACTIVE, lane] if g[ERRORS_OF, lane] >= 0.99 * error else 0.0
                ints[TROUBLE] = 0
                return STEP_UNDERFLOW
            continue
        if controlled:
            next_step(ints, reals, h * factor)
            reals[ERROR_OLD] = max(error, 1e-4)
        ints[STEPS] += 1
        ints[LAST_REJECTED] = 0
        ints[TROUBLE] = 0
        for lane in range(4):
            g[NEARER, lane] = min(g[RANKS, lane], g[RANK_STARTS, lane])
        if addresses[EVENTS] != 0 and watch_lanes(addresses, ints, reals, x, v, g, corrected, shape, table):
            return REPARTITION
        decayed = False
        for lane in range(4):
            g[ERRORS_OF, lane] = g[MARGINS, lane]
            g[RANK_STARTS, lane] = g[RANKS, lane]
        if not outputs_lanes(addresses, ints, reals, x, v, g, corrected, out_t, out_y, shape, table):
            return STEP_UNDERFLOW
        for lane in range(4):
            g[FLAG, lane] = 0.0
            if g[ACTIVE, lane] != 0.0:
                beside = False
                if addresses[PROJECT] != 0:
                    d = g[RANK_STARTS, lane] / g[RANK_BESTS, lane]
                    beside = d * d < ROUNDING / reals[RTOL]
                if beside or g[ERRORS_OF, lane] < reals[THRESHOLD]:
                    g[FLAG, lane] = FROM_START if beside else 1.0
                    decayed = True
        reals[T] = reals[T_NEW]
        for i in range(n):
            v[Y, i] = v[Y_NEW, i]
            v[F, i] = v[F_NEW, i]
        if decayed and reals[T] < reals[T_STOP]:
            return REPARTITION
        if ints[STEPS] + ints[REJECTED] >= ints[MAX_STEPS]:
            return TOO_MANY_STEPS


__all__ = ["ACTIVE", "FLAG", "FROM_START", "LANES", "LANE_ROWS", "ORDER", "advance_lanes"]
