"""Beginning a run, or beginning anew after the state or the parameters were changed from outside.

This happens between steps, so it is left to the interpreter: what is not compiled need not be waited for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.simulate import layout as at
from bellcrank.simulate.status import Status

if TYPE_CHECKING:
    from bellcrank.simulate.run import Run


def begin(run: Run) -> Status:
    """Project the state, take its rates, arm the events, write outputs due now; the step size is kept."""
    ints, reals, v = run.ints, run.reals, run.v
    n = run.problem.n
    _load(run, reals[at.T], v[at.Y])
    if not _project(run):
        ints[at.INDEX] = -1
        return Status.CONSTRAINTS
    v[at.Y] = run.x[1 : 1 + n]
    run.call(run.addresses[at.RHS], v[at.F])
    ints[at.EVALUATIONS] += 1
    if not (np.isfinite(v[at.F]).all() and np.isfinite(v[at.Y]).all()):
        ints[at.INDEX] = np.flatnonzero(~np.isfinite(v[at.F]) | ~np.isfinite(v[at.Y]))[0]
        return Status.NOT_FINITE
    if ints[at.N_EVENTS]:
        # An event just hit stands at zero up to rounding: its side is left open (0) until it moves away.
        run.call(run.addresses[at.EVENTS], run.g[at.VALUE])
        run.g[at.SIGN] = np.where(run.g[at.HIT] != 0.0, 0.0, np.sign(run.g[at.VALUE]))
    while ints[at.OUT_NEXT] < ints[at.N_OUT] and run.out_t[ints[at.OUT_NEXT]] <= reals[at.T]:
        run.out_y[ints[at.OUT_NEXT]] = v[at.Y]
        ints[at.OUT_NEXT] += 1
    if reals[at.H] <= 0.0:
        reals[at.H] = _first_step(run)
    reals[at.ERROR_OLD] = 1e-4
    reals[at.H_OLD] = 0.0
    ints[_CLEARED] = 0
    return Status.RUNNING


_CLEARED = [
    at.FRESH,
    at.SCANNING,
    at.LAST_REJECTED,
    at.TROUBLE,
    at.STIFF_COUNT,
    at.NONSTIFF_COUNT,
    at.JACOBIAN_AGE,
    at.FACTORS_VALID,
    at.HISTORY,
]


def _load(run: Run, t: float, y: NDArray[np.float64]) -> None:
    run.x[0] = t
    run.x[1 : 1 + run.problem.n] = y


def _project(run: Run) -> bool:
    if not run.addresses[at.PROJECT]:
        return True
    n = run.problem.n
    for _ in range(run.ints[at.CORRECTIONS]):
        run.call(run.addresses[at.PROJECT], run.corrected)
        run.x[1 : 1 + n] = run.corrected[:n]
        run.reals[at.MARGIN] = run.corrected[n + 1]
        if run.corrected[n] <= run.reals[at.POSITION_TOLERANCE]:
            return True
    return False


def _first_step(run: Run) -> float:
    """A step size to begin with.

    Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", II.4: an explicit Euler step tells
    the second derivative.
    """
    v, reals = run.v, run.reals
    y, f = v[at.Y], v[at.F]
    scale = v[at.ATOL] + reals[at.RTOL] * np.abs(y)

    def size(z: NDArray[np.float64]) -> float:
        ratio = z / scale
        return math.sqrt(float(np.add.reduce(ratio * ratio)) / len(ratio))

    d0, d1 = size(y), size(f)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, float(reals[at.T_STOP] - reals[at.T]), float(reals[at.MAX_STEP])) or 1e-6
    _load(run, reals[at.T] + h, y + h * f)
    run.call(run.addresses[at.RHS], v[at.WORK])
    run.ints[at.EVALUATIONS] += 1
    d2 = size(v[at.WORK] - f) / h
    if not np.isfinite(d2):
        return 1e-3 * h
    steepest = max(d1, d2)
    longer = (
        max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** (1.0 / (run.integrator.order + 1))
    )
    return float(min(100.0 * h, longer))
