"""The loop of all explicit Runge-Kutta methods, over a table of coefficients.

One compiled function serves every table, so a second method costs no second compilation. A table is a sparse
matrix: each row is a combination of rates, and the rows are, in this order,

    stages 1 .. s-1, the solution, extra stages for the dense output, dense rows d3.., fine and coarse error.

Step size: the PI controller of Gustafsson in the form of Hairer, Norsett, Wanner, "Solving Ordinary
Differential Equations I", IV.2:  h_new = h * safety * err^-(exponent) * err_old^beta. The error of DOP853
combines two estimates, err = fine^2 / sqrt(fine^2 + 0.01 coarse^2); without a coarse row that is `fine`.

Stiffness is watched where asked for, see `stiffness`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.integrator import Integrator
from bellcrank.integrate.layout import (
    DENSE,
    DENSE_ROWS,
    ERROR_OLD,
    F_NEW,
    FIXED,
    H_STEP,
    N_EVENTS,
    N_OUT,
    OUT_NEXT,
    OWN,
    PROJECT,
    SCANNING,
    T_NEW,
    T_STOP,
    TROUBLE,
    WATCH_STIFFNESS,
    WORK,
    Y_NEW,
    F,
    N,
    T,
    Y,
)
from bellcrank.integrate.scan import AGAIN, scan
from bellcrank.integrate.steps import (
    CHANGE_POINT,
    DONE,
    GO_ON,
    NOT_FINITE,
    RUNNING,
    STIFF,
    accept,
    again,
    beside,
    close_step,
    lost_there,
    move_on,
    next_step,
    plan_step,
    reject,
)
from bellcrank.integrate.stiffness import WATCH_ROWS, implicit_pays
from bellcrank.integrate.vectors import (
    hermite,
    rates,
    scaled_norm,
    store,
)
from bellcrank.program.loops import call, compiled, entry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# table: the controller, then nodes and weights
EXPONENT = 0
BETA = 1
SAFETY = 2
SHRINK = 3
GROW = 4
REACH = 5
NODES = 8
WEIGHTS = 32

# shape: sizes, then the rows of the table in compressed form
STAGES = 0
EXTRAS = 1
DENSE_EXTRA = 2
ERRORS = 3
WINDOW = 4
STARTS = 8
COLUMNS = 48


@dataclass(frozen=True, eq=False)
class Table:
    """Coefficients of an explicit Runge-Kutta method.

    Attributes:
        name, purpose, sources: Of the method, see :class:`Integrator`.
        order: Of the solution.
        a: Stage weights, lower triangular (s, s).
        b: Weights of the solution (s,).
        c: Nodes (s,).
        errors: Error weights, one row (fine) or two (fine, coarse) over the s stages and the rates at the
            end.
        extra_a, extra_c: Further stages for the dense output, over all rates before them.
        dense: Rows d3, d4, ... over the stages, the rates at the end and the extra stages.
        exponent, beta: Of the controller. grow, shrink: Largest and smallest change of the step size.
        stability: Where the stability region ends on the negative real axis.
        reach: How far it reaches, about, for every eigenvalue 5 degrees and more from the imaginary axis.
        window: Steps over which the motion is watched for stiffness.
    """

    name: str
    purpose: str
    sources: tuple[str, ...]
    order: int
    a: Floats
    b: Floats
    c: Floats
    errors: Floats
    extra_a: Floats
    extra_c: Floats
    dense: Floats
    exponent: float
    beta: float
    grow: float
    shrink: float
    stability: float
    reach: float
    window: int = 24


def integrator(table: Table) -> Integrator:
    """The method of a table."""
    s = len(table.b)
    extras = len(table.extra_c)
    row = [F, *(OWN + 1 + j for j in range(s - 1)), F_NEW, *(OWN + s + j for j in range(extras))]
    combinations = [*table.a[1:], table.b, *table.extra_a, *table.dense, *table.errors]
    weights: list[float] = []
    columns: list[int] = []
    starts = [0]
    for combination in combinations:
        for j, weight in enumerate(combination):
            if weight != 0.0:
                weights.append(float(weight))
                columns.append(row[j])
        starts.append(len(weights))
    shape = np.zeros(COLUMNS + len(columns), np.int64)
    shape[:5] = s, extras, len(table.dense), len(table.errors), table.window
    shape[STARTS : STARTS + len(starts)] = starts
    shape[COLUMNS:] = columns
    nodes = [*table.c[1:], 1.0, *table.extra_c]
    numbers = np.zeros(WEIGHTS + len(weights))
    numbers[:6] = table.exponent, table.beta, 0.9, table.shrink, table.grow, table.reach
    numbers[NODES : NODES + len(nodes)] = nodes
    numbers[WEIGHTS:] = weights
    return Integrator(
        name=table.name,
        purpose=table.purpose,
        sources=table.sources,
        order=table.order,
        rows=OWN + s + extras + WATCH_ROWS,
        adaptive=len(table.errors) > 0,
        arrays=lambda n, parameters: (shape, numbers),
        advance=advance,
        stability=outermost(table),
        spare=OWN + s + extras,
        table=table,
    )


def outermost(table: Table) -> float:
    """Size of the largest z with Re z <= 0 and |R(z)| <= 1, R(z) = 1 + z b^T (I - z A)^-1 1.

    R is a polynomial: beyond some size all its values are large. Angles of 1 degree and sizes of 1/100 are enough where
    more than a half is left for the estimate of the eigenvalue.
    """
    coefficients, power = [1.0], np.ones(len(table.b))
    for _ in table.b:
        coefficients.append(float(table.b @ power))
        power = table.a @ power
    size = np.arange(0.0, 20.0, 0.01)
    z = size[:, None] * np.exp(1j * np.radians(np.arange(90.0, 181.0)))
    stable = (np.abs(np.polyval(coefficients[::-1], z)) <= 1.0).any(axis=1)
    return float(size[stable].max())


@compiled
def combine(x: Floats, v: Floats, base: int, h: float, shape: Ints, table: Floats, row: int) -> None:
    """State in x = v[base] + h * sum of weights * rates; without the base where it is negative.

    Four entries of the state at a time, which are one register, and two sums of them, so that one need not wait
    for the other.
    """
    n = v.shape[1]
    first = shape[STARTS + row]
    last = shape[STARTS + row + 1]
    i = 0
    while i + 4 <= n:
        a0 = 0.0
        a1 = 0.0
        a2 = 0.0
        a3 = 0.0
        b0 = 0.0
        b1 = 0.0
        b2 = 0.0
        b3 = 0.0
        k = first
        while k + 1 < last:
            w = table[WEIGHTS + k]
            r = shape[COLUMNS + k]
            a0 += w * v[r, i]
            a1 += w * v[r, i + 1]
            a2 += w * v[r, i + 2]
            a3 += w * v[r, i + 3]
            w = table[WEIGHTS + k + 1]
            r = shape[COLUMNS + k + 1]
            b0 += w * v[r, i]
            b1 += w * v[r, i + 1]
            b2 += w * v[r, i + 2]
            b3 += w * v[r, i + 3]
            k += 2
        if k < last:
            w = table[WEIGHTS + k]
            r = shape[COLUMNS + k]
            a0 += w * v[r, i]
            a1 += w * v[r, i + 1]
            a2 += w * v[r, i + 2]
            a3 += w * v[r, i + 3]
        if base >= 0:
            x[1 + i] = v[base, i] + h * (a0 + b0)
            x[2 + i] = v[base, i + 1] + h * (a1 + b1)
            x[3 + i] = v[base, i + 2] + h * (a2 + b2)
            x[4 + i] = v[base, i + 3] + h * (a3 + b3)
        else:
            x[1 + i] = h * (a0 + b0)
            x[2 + i] = h * (a1 + b1)
            x[3 + i] = h * (a2 + b2)
            x[4 + i] = h * (a3 + b3)
        i += 4
    while i < n:
        a0 = 0.0
        b0 = 0.0
        k = first
        while k + 1 < last:
            a0 += table[WEIGHTS + k] * v[shape[COLUMNS + k], i]
            b0 += table[WEIGHTS + k + 1] * v[shape[COLUMNS + k + 1], i]
            k += 2
        if k < last:
            a0 += table[WEIGHTS + k] * v[shape[COLUMNS + k], i]
        x[1 + i] = (v[base, i] if base >= 0 else 0.0) + h * (a0 + b0)
        i += 1


@compiled
def dense_output(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    corrected: Floats,
    shape: Ints,
    table: Floats,
) -> bool:
    """The polynomial of the step just made; False where a further stage lies at a change point."""
    h = reals[H_STEP]
    watched = addresses[PROJECT] != 0 and beside(reals)
    hermite(v, h, F_NEW, Y_NEW)
    stages = shape[STAGES] + shape[EXTRAS]
    for k in range(shape[STAGES], stages + shape[DENSE_EXTRA]):
        further = k < stages
        combine(x, v, Y if further else -1, h, shape, table, k)
        if further:
            x[0] = reals[T] + table[NODES + k] * h
            if watched:
                call(addresses[PROJECT], x, corrected)
                if lost_there(reals, corrected[ints[N] + 2]):
                    return False
            rates(addresses, ints, x, v, OWN + k)
        else:
            store(x, v, DENSE + 3 + k - stages)
    ints[DENSE_ROWS] = 3 + shape[DENSE_EXTRA]
    return True


@compiled
def error_norm(reals: Floats, x: Floats, v: Floats, h: float, shape: Ints, table: Floats) -> float:
    """The scaled local error; leaves the fine error in WORK."""
    fine = 0.0
    coarse = 0.0
    first = shape[STAGES] + shape[EXTRAS] + shape[DENSE_EXTRA]
    for k in range(shape[ERRORS] - 1, -1, -1):
        combine(x, v, -1, h, shape, table, first + k)
        store(x, v, WORK)
        coarse = fine
        fine = scaled_norm(reals, v, WORK, Y, Y_NEW)
    return fine if coarse == 0.0 else fine * fine / math.sqrt(fine * fine + 0.01 * coarse * coarse)


@entry
def advance(run: Arrays) -> int:
    """Step until something asks for the interpreter; returns a Status code."""
    addresses, ints, reals, x, v, _, corrected, out_t, _, shape, table = run
    s = shape[STAGES]
    watched = ints[WATCH_STIFFNESS] != 0
    controlled = ints[FIXED] == 0
    while True:
        if ints[SCANNING] != 0:
            status = scan(run)
            if status == DONE:
                status = move_on(ints, reals, v)
            elif status == AGAIN:
                status = again(ints, reals)
                if status != GO_ON:
                    return status
                continue
            # Whether the interpreter gets a turn here must not matter for what is counted.
            going = True if status == RUNNING else status == GO_ON
            if going and watched:
                first = OWN + s + shape[EXTRAS]
                if implicit_pays(addresses, ints, reals, x, v, first, table[REACH], s, shape[WINDOW]):
                    status = STIFF
            if status != GO_ON:
                return status
        if reals[T] >= reals[T_STOP]:
            return DONE

        h = plan_step(reals)
        for k in range(s):
            combine(x, v, Y, h, shape, table, k)
            if k < s - 1:
                x[0] = reals[T] + table[NODES + k] * h
                rates(addresses, ints, x, v, OWN + 1 + k)

        error = 2.0
        factor = 0.2
        if close_step(addresses, ints, reals, x, v, corrected):
            error = error_norm(reals, x, v, h, shape, table) if controlled else 0.0
            if error < math.inf:
                # The clamp keeps an error of exactly zero from dividing by zero.
                factor = (
                    table[SAFETY] * max(error, 1e-12) ** -table[EXPONENT] * reals[ERROR_OLD] ** table[BETA]
                )
                factor = min(table[GROW], max(table[SHRINK], factor))
            else:
                ints[TROUBLE] = NOT_FINITE
        if not error <= 1.0:
            status = reject(ints, reals, h, min(factor, 0.9))
            if status != GO_ON:
                return status
            continue

        looked_at = ints[OUT_NEXT] < ints[N_OUT] and out_t[ints[OUT_NEXT]] < reals[T_NEW]
        if (ints[N_EVENTS] > 0 or looked_at) and not dense_output(
            addresses, ints, reals, x, v, corrected, shape, table
        ):
            ints[TROUBLE] = CHANGE_POINT
            status = reject(ints, reals, h, 0.5)
            if status != GO_ON:
                return status
            continue
        if controlled:
            next_step(ints, reals, h * factor)
            reals[ERROR_OLD] = max(error, 1e-4)
        accept(ints, reals)
