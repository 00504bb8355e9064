"""Where an event may lie in a step of four lanes: a coarse look that errs on the side of stopping.

Event functions are sampled at five points of the step. A lane in which one changes its sign, or comes so near to zero
between samples that it might, leaves the others before the step and goes on by itself, where the event is located.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.lane_parts import ACTIVE, FLAG, LANE_ROWS, dense_lanes, interpolate_lanes, load_lanes
from bellcrank.integrate.crossings import RATE
from bellcrank.integrate.layout import EVENTS, H_STEP, N_EVENTS, SCANNING, T_NEW, Y_NEW, T, Y
from bellcrank.program.loops import call_at, compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR = 0.5
"""An extremum between samples is suspected of passing zero where it comes nearer than this share of them."""


@compiled
def watch_lanes(
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
    """Flag the active lanes that may meet an event in the step just made; whether there are any.

    Rows of g behind those of the lanes: five samples of all event functions, then their directions.
    """
    n_events = ints[N_EVENTS]
    if ints[SCANNING] == 0 and not dense_lanes(addresses, ints, reals, x, v, g, corrected, shape, table):
        return True
    for k in range(5):
        if k == 0:
            load_lanes(x, reals[T], v, Y)
        elif k == 4:
            load_lanes(x, reals[T_NEW], v, Y_NEW)
        else:
            interpolate_lanes(ints, x, v, 0.25 * k)
            for lane in range(4):
                x[lane] = reals[T] + 0.25 * k * reals[H_STEP]
        call_at(addresses[EVENTS], x, 0, g, 4 * (LANE_ROWS + k * n_events))
    found = False
    for lane in range(4):
        g[FLAG, lane] = 0.0
        if g[ACTIVE, lane] != 0.0:
            for event in range(n_events):
                direction = g[LANE_ROWS + 5 * n_events + event, lane]
                if direction == RATE:
                    met = turns(g, LANE_ROWS + event, n_events, lane, 0.25 * reals[H_STEP])
                else:
                    met = crosses(g, LANE_ROWS + event, n_events, lane, direction)
                if met:
                    g[FLAG, lane] = 1.0
                    found = True
    return found


@compiled
def crosses(g: Floats, row: int, apart: int, lane: int, direction: float) -> bool:
    """Whether samples of an event function change sign in a direction that counts, or may do so twice unseen."""
    if g[row, lane] == 0.0:
        return True
    for k in range(4):
        a = g[row + k * apart, lane]
        b = g[row + (k + 1) * apart, lane]
        if not math.isfinite(a + b):
            return True
        if a * b <= 0.0 and direction * (b - a) >= 0.0:
            return True
    for k in range(3):
        a = g[row + k * apart, lane]
        b = g[row + (k + 1) * apart, lane]
        c = g[row + (k + 2) * apart, lane]
        if a * b > 0.0 and b * c > 0.0:
            side = 1.0 if b > 0.0 else -1.0
            bend = 0.5 * side * (a - 2.0 * b + c)
            slope = 0.5 * side * (c - a)
            if bend > 0.0 and abs(slope) < 2.0 * bend:
                lowest = side * b - slope * slope / (4.0 * bend)
                if lowest < NEAR * min(min(side * a, side * b), side * c):
                    return True
    return False


@compiled
def turns(g: Floats, row: int, apart: int, lane: int, span: float) -> bool:
    """Whether the function before this one, whose rate this is, may dip through zero where its rate turns.

    Where it is convex it stays above the meeting point of its tangents at two samples.
    """
    for k in range(4):
        a = g[row - 1 + k * apart, lane]
        b = g[row - 1 + (k + 1) * apart, lane]
        rate_a = g[row + k * apart, lane]
        rate_b = g[row + (k + 1) * apart, lane]
        if not math.isfinite(rate_a + rate_b):
            return True
        if a > 0.0 and b > 0.0 and rate_a < 0.0 and rate_b > 0.0:
            moment = (b - a - rate_b * span) / (rate_a - rate_b)
            if a + rate_a * moment < NEAR * min(a, b):
                return True
    return False


__all__ = ["watch_lanes"]
