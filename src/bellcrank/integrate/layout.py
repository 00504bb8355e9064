"""Where things lie in the arrays that are the whole state of a running integrator.

The arrays are plain, so a run can be stopped, copied and resumed, and goes on with the same bits.

    addresses  int64    kernel addresses
    ints       int64    counters, cursors, flags
    reals      float64  times, step sizes, tolerances
    x          float64  the kernel input [t, y (n), p]; a scratch pad but for the parameters at its end
    v          float64  one row of length n for every vector: common rows here, then the method's own
    g          float64  one row of length n_events for every event vector
    corrected  float64  output of the projection kernel (n + 3)
    out_t, out_y        output times and states
    own_ints, own_reals whatever else the method keeps

The translation takes module level integers as constants, so these names cost nothing.
"""

from __future__ import annotations

from typing import Final

# addresses
RHS: Final = 0
PROJECT: Final = 1
JACOBIAN: Final = 2
TANGENT: Final = 3
EVENTS: Final = 4
SEARCH: Final = 5  # the unit that looks for events; 0 where there are none
ADDRESSES: Final = 6

# ints
N: Final = 0
N_EVENTS: Final = 1
N_OUT: Final = 2
OUT_NEXT: Final = 3
SCANNING: Final = 4  # a step is computed, its outputs and events are not all passed yet
FRESH: Final = 5  # state or parameters were changed from outside
STEPS: Final = 6
REJECTED: Final = 7
EVALUATIONS: Final = 8
BUDGET: Final = 9  # steps left before the interpreter gets a turn
MAX_STEPS: Final = 10
INDEX: Final = 11  # offending state entry
FIXED: Final = 12  # constant step size
CORRECTIONS: Final = 13
DENSE_ROWS: Final = 14
WATCH_STIFFNESS: Final = 15
STIFF_COUNT: Final = 16
LAST_REJECTED: Final = 17
TROUBLE: Final = 18  # why the step shrinks: a status code, or 0
JACOBIANS: Final = 19
FACTORISATIONS: Final = 20
JACOBIAN_AGE: Final = 21  # 0 none, 1 of the present state, 2 of an earlier one
FACTORS_VALID: Final = 22
HISTORY: Final = 23  # steps since the last restart that a multistep formula may look back on
HEAD: Final = 24  # newest entry of the ring of past steps
ROWS: Final = 25  # rows of v
OWN_INTS: Final = 26  # lengths of the method's own arrays
OWN_REALS: Final = 27
ORDER: Final = 28  # of the method
EIGENVALUE_AGE: Final = 29  # steps since the largest eigenvalue was estimated
WINDOW_STEPS: Final = 30  # steps since the window began over which the motion is watched
LEAPING: Final = (
    31  # of two uneven steps in place of two fixed ones: 1 in the first, 2 in the second; 3 in a short one
)
NEARBY: Final = 32  # steps tried in a row beside a change point
INTS: Final = 33

# reals
T: Final = 0
T_NEW: Final = 1
T_STOP: Final = 2
H: Final = 3  # step size to try next
H_STEP: Final = 4  # step size of the step just made
ERROR_OLD: Final = 5
H_OLD: Final = 6
RTOL: Final = 7
MAX_STEP: Final = 8
POSITION_TOLERANCE: Final = 9
THRESHOLD: Final = 10
MARGIN: Final = 11
THETA: Final = 12  # part of the step already passed, 0 to 1
T_EVENT: Final = 13
NEWTON_RATE: Final = 14
SPECTRAL_RADIUS: Final = 15
LARGEST_EIGENVALUE: Final = 16
RESIDUAL: Final = 17
STEP_MARGIN: Final = 18  # margin at the end of the step; MARGIN is that of the last projection
THETA_EVENT: Final = 19
H_FACTORS: Final = 20  # step size for which the factors, or the auxiliary rates, hold
T_WINDOW: Final = 21  # begin and middle of this window, and the step size at its begin
T_MIDDLE: Final = 22
H_WINDOW: Final = 23
STEEPEST: Final = 24  # largest residual for its correction so far
RANK: Final = 25  # how far the loops are from losing rank: after the last projection, at the start, at best
RANK_START: Final = 26
RANK_BEST: Final = 27
THRESHOLD_USUAL: Final = 28  # of the margin, while no other partition was asked for in vain
INDEPENDENCE: Final = (
    29  # of the loops where the problem began, 0 to 1; one once it is taken into the best rank
)
FIXED_STEP: Final = 30
SPENT_WINDOW: Final = 31  # price of all steps up to the begin of the window
SPENT_STINT: Final = 32  # and up to the last change of the method
T_STINT: Final = 33
PACE: Final = 34  # price of a second over the last window
PACE_BEFORE: Final = 35  # and of the method before
SPENT_LEAST: Final = 36  # price of all steps before which the method is not changed again
STEP_PRICE: Final = 37  # price of a step of the implicit method as measured; 0 where it made none yet
EXPLICIT_PRICE: Final = 38  # price of a step of the explicit method, how far its stability reaches,
EXPLICIT_REACH: Final = 39
EXPLICIT_SHARE: Final = 40  # and its steps over those of the implicit one in a motion both resolve
FORESEEN: Final = 41  # price of the window by the explicit method
REALS: Final = 42

# rows of v
Y: Final = 0
Y_NEW: Final = 1
F: Final = 2
F_NEW: Final = 3
ATOL: Final = 4
Y_EVENT: Final = 5
WORK: Final = 6
FROM_HERE: Final = 7  # 1 for lengths, which are measured from where the step begins, 0 for all else
DENSE: Final = 8  # up to 7 rows
DENSE_LIMIT: Final = 7
OWN: Final = DENSE + DENSE_LIMIT  # the method's own rows from here on

# rows of g
SIGN: Final = 0  # -1, 1, or 0 where not known yet
DIRECTION: Final = 1
HIT: Final = 2
VALUE: Final = 3  # scratch
SAMPLES: Final = 4  # 5 rows
PIECES: Final = 4
STARTED: Final = SAMPLES + PIECES + 1  # SIGN at the start of the step
DEEPEST: Final = STARTED + 1  # of gaps that are closed, how far they were below zero at most
EVENT_ROWS: Final = DEEPEST + 1
