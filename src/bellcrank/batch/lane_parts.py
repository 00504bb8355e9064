"""What the lane loop does with the states of four lanes: combine, project, measure, interpolate; see :mod:`lanes`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.beginning import AT_FIRST
from bellcrank.integrate.embedded import COLUMNS, DENSE_EXTRA, ERRORS, EXTRAS, NODES, STAGES, STARTS, WEIGHTS
from bellcrank.integrate.layout import (
    CORRECTIONS,
    DENSE,
    DENSE_ROWS,
    ERROR_OLD,
    EVALUATIONS,
    F_NEW,
    FIXED,
    H_STEP,
    MAX_STEP,
    N_OUT,
    OUT_NEXT,
    OWN,
    POSITION_TOLERANCE,
    PROJECT,
    RANK_BEST,
    RHS,
    RTOL,
    SCANNING,
    T_NEW,
    T_STOP,
    THRESHOLD,
    WORK,
    Y_NEW,
    F,
    H,
    N,
    T,
    Y,
)
from bellcrank.integrate.scan import DECAYED
from bellcrank.integrate.steps import BESIDE, CLOSE, ONCE, ROUNDING, SHARE
from bellcrank.integrate.vectors import allowed, hermite, magnitude
from bellcrank.program.loops import call, call_at, compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LANES = 4
# rows of g, one number a lane
ACTIVE = 0  # 0 for a lane that only keeps a place warm
FLAG = 1  # set where the lane cannot go on with the others
MARGINS = 2
ERRORS_OF = 3
RANKS = 4  # how far the loops are from losing rank, in the state just projected
RANK_STARTS = 5  # and at the start of the step
RANK_BESTS = 6  # and at best, so far
NEARER = 7  # the smaller of that at both ends of the step just made
LANE_ROWS = 8

FROM_START = 2.0
"""Flag of a lane beside a change point: by itself it finds steps that lead past, if it has not come close in others."""

ORDER = 24
"""Where the order of the method stands in ints: the place of HISTORY, which one-step methods do not use."""


@compiled
def load_lanes(x: Floats, t: float, v: Floats, row: int) -> None:
    """x = [t, v[row], p]."""
    for lane in range(4):
        x[lane] = t
    for i in range(v.shape[1]):
        x[4 + i] = v[row, i]


@compiled
def combine_lanes(x: Floats, v: Floats, base: int, h: float, shape: Ints, table: Floats, row: int) -> None:
    """States in x = v[base] + h * sum of weights * rates; without the base where it is negative."""
    n = v.shape[1]
    if base >= 0:
        for i in range(n):
            x[4 + i] = v[base, i]
    else:
        for i in range(n):
            x[4 + i] = 0.0
    k = shape[STARTS + row]
    last = shape[STARTS + row + 1]
    while k + 1 < last:
        w0 = h * table[WEIGHTS + k]
        w1 = h * table[WEIGHTS + k + 1]
        r0 = shape[COLUMNS + k]
        r1 = shape[COLUMNS + k + 1]
        for i in range(n):
            x[4 + i] += w0 * v[r0, i] + w1 * v[r1, i]
        k += 2
    if k < last:
        w0 = h * table[WEIGHTS + k]
        r0 = shape[COLUMNS + k]
        for i in range(n):
            x[4 + i] += w0 * v[r0, i]


@compiled
def rates_lanes(addresses: Ints, ints: Ints, x: Floats, v: Floats, t: float, row: int) -> None:
    """v[row] = rates of the states in x at time t."""
    for lane in range(4):
        x[lane] = t
    call_at(addresses[RHS], x, 0, v, row * v.shape[1])
    ints[EVALUATIONS] += 1


@compiled
def project_lanes(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, corrected: Floats, g: Floats, t: float
) -> bool:
    """Newton corrections until the constraints hold in all active lanes; flags those in which they do not."""
    for lane in range(4):
        x[lane] = t
        g[FLAG, lane] = 0.0
    if addresses[PROJECT] == 0:
        return True
    n = 4 * ints[N]
    for _ in range(ints[CORRECTIONS]):
        call(addresses[PROJECT], x, corrected)
        for i in range(n):
            x[4 + i] = corrected[i]
        closed = True
        for lane in range(4):
            g[MARGINS, lane] = corrected[n + 4 + lane]
            g[RANKS, lane] = corrected[n + 8 + lane]
            g[FLAG, lane] = 0.0
            if g[ACTIVE, lane] != 0.0 and not corrected[n + lane] <= reals[POSITION_TOLERANCE]:
                g[FLAG, lane] = 1.0
                closed = False
        if closed:
            return True
    return False


@compiled
def lost_lanes(addresses: Ints, ints: Ints, reals: Floats, g: Floats) -> bool:
    """Flag lanes that the step just projected leads too close to a change point; see the scalar `lost`.

    The middle of a fixed step, of which there is no error estimate, is left to the scalar loop.
    """
    if addresses[PROJECT] == 0:
        return False
    found = False
    for lane in range(4):
        g[FLAG, lane] = 0.0
        if g[ACTIVE, lane] != 0.0:
            g[RANK_BESTS, lane] = max(g[RANK_BESTS, lane], g[RANKS, lane])
            d = g[RANKS, lane] / g[RANK_BESTS, lane]
            begun = g[RANK_STARTS, lane] / g[RANK_BESTS, lane]
            if ints[FIXED] != 0:
                met = min(d, begun) < CLOSE
            else:
                met = d < begun and d**3 < SHARE * min(begun, 0.1) * ROUNDING / reals[RTOL]
            if met:
                g[FLAG, lane] = FROM_START
                found = True
    return found


@compiled
def worst_norm(reals: Floats, v: Floats, g: Floats, row: int, a: int, b: int, keep: bool) -> float:
    """The largest over the active lanes of the root mean square of v[row] over the error allowed.

    What is not a number counts as infinite. keep: leave the norm of each lane in g.
    """
    n = v.shape[1]
    t0 = 0.0
    t1 = 0.0
    t2 = 0.0
    t3 = 0.0
    for i in range(0, n, 4):
        r0 = v[row, i] / allowed(reals, v, i, a, b)
        r1 = v[row, i + 1] / allowed(reals, v, i + 1, a, b)
        r2 = v[row, i + 2] / allowed(reals, v, i + 2, a, b)
        r3 = v[row, i + 3] / allowed(reals, v, i + 3, a, b)
        t0 += r0 * r0
        t1 += r1 * r1
        t2 += r2 * r2
        t3 += r3 * r3
    g[ERRORS_OF, 0] = math.sqrt(4.0 * t0 / n)
    g[ERRORS_OF, 1] = math.sqrt(4.0 * t1 / n)
    g[ERRORS_OF, 2] = math.sqrt(4.0 * t2 / n)
    g[ERRORS_OF, 3] = math.sqrt(4.0 * t3 / n)
    worst = 0.0
    for lane in range(4):
        if g[ACTIVE, lane] != 0.0:
            if not math.isfinite(g[ERRORS_OF, lane]):
                worst = math.inf
                if keep:
                    g[FLAG, lane] = 1.0
            worst = max(worst, g[ERRORS_OF, lane])
    return worst


@compiled
def error_lanes(
    reals: Floats, x: Floats, v: Floats, g: Floats, h: float, shape: Ints, table: Floats
) -> float:
    """The scaled local error of the worst lane; see the scalar `error_norm`."""
    fine = 0.0
    coarse = 0.0
    first = shape[STAGES] + shape[EXTRAS] + shape[DENSE_EXTRA]
    for k in range(shape[ERRORS] - 1, -1, -1):
        combine_lanes(x, v, -1, h, shape, table, first + k)
        for i in range(v.shape[1]):
            v[WORK, i] = x[4 + i]
        coarse = fine
        fine = worst_norm(reals, v, g, WORK, Y, Y_NEW, True)
    return fine if coarse == 0.0 else fine * fine / math.sqrt(fine * fine + 0.01 * coarse * coarse)


@compiled
def dense_lanes(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    g: Floats,
    corrected: Floats,
    shape: Ints,
    table: Floats,
) -> bool:
    """The polynomial of the step just made; sets SCANNING.

    False where a further stage lies at a change point in a lane, which is flagged.
    """
    h = reals[H_STEP]
    hermite(v, h, F_NEW, Y_NEW)
    stages = shape[STAGES] + shape[EXTRAS]
    for k in range(shape[STAGES], stages + shape[DENSE_EXTRA]):
        further = k < stages
        combine_lanes(x, v, Y if further else -1, h, shape, table, k)
        if further:
            t = reals[T] + table[NODES + k] * h
            if lost_between_lanes(addresses, reals, x, v, g, corrected, t):
                return False
            rates_lanes(addresses, ints, x, v, t, OWN + k)
        else:
            for i in range(v.shape[1]):
                v[DENSE + 3 + k - stages, i] = x[4 + i]
    ints[DENSE_ROWS] = 3 + shape[DENSE_EXTRA]
    ints[SCANNING] = 1
    return True


@compiled
def lost_between_lanes(
    addresses: Ints, reals: Floats, x: Floats, v: Floats, g: Floats, corrected: Floats, t: float
) -> bool:
    """Flag lanes in which the states in x, between the ends of the step, lie at a change point."""
    if addresses[PROJECT] == 0:
        return False
    near = False
    for lane in range(4):
        g[FLAG, lane] = 0.0
        near = True if near else g[ACTIVE, lane] != 0.0 and g[NEARER, lane] < BESIDE * g[RANK_BESTS, lane]
    if not near:
        return False
    for lane in range(4):
        x[lane] = t
    call(addresses[PROJECT], x, corrected)
    found = False
    for lane in range(4):
        d = corrected[v.shape[1] + 8 + lane] / g[RANK_BESTS, lane]
        if g[ACTIVE, lane] != 0.0 and d**3 < ONCE * SHARE * ROUNDING / reals[RTOL]:
            g[FLAG, lane] = FROM_START
            found = True
    return found


@compiled
def interpolate_lanes(ints: Ints, x: Floats, v: Floats, theta: float) -> None:
    """States in x at the fraction theta of the step."""
    n = v.shape[1]
    for i in range(n):
        x[4 + i] = 0.0
    for j in range(ints[DENSE_ROWS] - 1, -1, -1):
        factor = theta if j % 2 == 0 else 1.0 - theta
        for i in range(n):
            x[4 + i] = (x[4 + i] + v[DENSE + j, i]) * factor
    for i in range(n):
        x[4 + i] += v[Y, i]


@compiled
def decayed_lanes(addresses: Ints, ints: Ints, reals: Floats, g: Floats) -> bool:
    """Flag the lanes whose partition is nearly singular at an output; see :data:`bellcrank.integrate.scan.DECAYED`."""
    if addresses[PROJECT] == 0 or ints[FIXED] != 0:
        return False
    found = False
    for lane in range(4):
        g[FLAG, lane] = 0.0
        if g[ACTIVE, lane] != 0.0 and g[MARGINS, lane] < DECAYED * reals[THRESHOLD]:
            g[FLAG, lane] = 1.0
            found = True
    return found


@compiled
def outputs_lanes(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    g: Floats,
    corrected: Floats,
    out_t: Floats,
    out_y: Floats,
    shape: Ints,
    table: Floats,
) -> bool:
    """Write the outputs due in the step just made; False where one does not satisfy the constraints, or where the
    margin of a lane has decayed: that lane goes on by itself, with shorter steps."""
    n = v.shape[1]
    while ints[OUT_NEXT] < ints[N_OUT] and out_t[ints[OUT_NEXT]] <= reals[T_NEW]:
        k = ints[OUT_NEXT]
        t = out_t[k]
        if t < reals[T_NEW]:
            if ints[SCANNING] == 0 and not dense_lanes(
                addresses, ints, reals, x, v, g, corrected, shape, table
            ):
                return False
            interpolate_lanes(ints, x, v, (t - reals[T]) / reals[H_STEP])
            if not project_lanes(addresses, ints, reals, x, corrected, g, t):
                return False
            if decayed_lanes(addresses, ints, reals, g):
                return False
            for i in range(n):
                out_y[k, i] = x[4 + i]
        else:
            for i in range(n):
                out_y[k, i] = v[Y_NEW, i]
        ints[OUT_NEXT] = k + 1
    return True


@compiled
def begin_lanes(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, g: Floats, corrected: Floats, order: int
) -> bool:
    """Project, take the rates, choose a first step as the scalar loop does; False where a lane is flagged."""
    n = v.shape[1]
    load_lanes(x, reals[T], v, Y)
    if not project_lanes(addresses, ints, reals, x, corrected, g, reals[T]):
        return False
    for lane in range(4):
        g[RANK_STARTS, lane] = g[RANKS, lane]
        g[RANK_BESTS, lane] = max(reals[RANK_BEST], g[RANKS, lane])
    for i in range(n):
        v[Y, i] = x[4 + i]
    rates_lanes(addresses, ints, x, v, reals[T], F)
    for i in range(n):
        v[WORK, i] = magnitude(reals, v, i)
    d0 = worst_norm(reals, v, g, WORK, Y, Y, True)
    d1 = worst_norm(reals, v, g, F, Y, Y, True)
    if not math.isfinite(d0 + d1):
        return False
    reals[ERROR_OLD] = 1e-4
    if reals[H] <= 0.0:
        remaining = reals[T_STOP] - reals[T]
        brief = AT_FIRST * remaining
        h = brief if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        h = min(min(h, remaining), reals[MAX_STEP])
        for i in range(n):
            x[4 + i] = v[Y, i] + h * v[F, i]
        rates_lanes(addresses, ints, x, v, reals[T] + h, F_NEW)
        for i in range(n):
            v[WORK, i] = (v[F_NEW, i] - v[F, i]) / h
        d2 = worst_norm(reals, v, g, WORK, Y, Y, False)
        steepest = max(d1, d2)
        longer = max(brief, 1e-3 * h)
        if steepest > 1e-15:
            longer = (0.01 / steepest) ** (1.0 / (order + 1.0))
        reals[H] = min(100.0 * h, longer) if math.isfinite(d2) else 1e-3 * h
    return True
