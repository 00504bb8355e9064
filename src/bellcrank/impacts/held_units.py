"""Lasting contacts in numbers instead of in equations: compiled once, for any set of contacts.

The compiled programs of the open mechanism give M, the rows J of the contacts and the accelerations without contact
forces; forces follow from a = a_free + J M^-1 C f = 0 over the rows that are held, where C = J^T, and with the friction
of a sliding contact C = J_n^T - mu J_t^T d in its column. Pfeiffer and Glocker (1996), Multibody Dynamics with
Unilateral Contacts. The corrections of `hold` are those nearest in the metric of M.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.modes import BACKWARDS, STOPPED
from bellcrank.mechanics.contacts import STILL_SQUARED
from bellcrank.simulate.compiled import matrix, part, vector
from bellcrank.simulate.linear import factorise, solve
from bellcrank.simulate.vocabulary import call

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RATES, IMPACT, FREE, PROJECT, WATCH, ADDRESSES = range(6)
"""Of the kernels of the open mechanism."""
POSITIONS, MOVING, SPEEDS, PARAMETERS, CONTACTS, LASTING, WIDTH, WATCHED, HEAD = range(9)
"""Sizes: positions with and without states, independent speeds, parameters, contacts, those that last, rows a contact,
events of the open mechanism."""
PAIR, STICKS, FIRST, IDENTITY = range(4)
"""Of each lasting contact: its number among all, whether it sticks, the first event that watches its gap."""
GAP_EVENTS = 3
"""Events that watch a gap; they follow each other."""
FRICTION, SLIP, SLACK, PROPERTIES = range(4)
"""Of each lasting contact: coefficient, sign of the slip in the plane, force that is none [N]."""
BEFORE_ROWS = 7
"""Gap, normal and point before the rows of a contact in the program of impacts."""
BEHIND_ROW = 4
"""Drift and direction behind each row."""


@part
def cholesky(a: Floats) -> None:
    """a = L L^T in place; L below the diagonal and on it."""
    n = a.shape[0]
    for k in range(n):
        a[k, k] = math.sqrt(a[k, k])
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k]
            if factor != 0.0:
                for j in range(k + 1, i + 1):
                    a[i, j] -= factor * a[j, k]


@part
def solve_cholesky(a: Floats, v: Floats, row: int) -> None:
    """v[row] = a^-1 v[row]."""
    n = a.shape[0]
    for i in range(n):
        total = v[row, i]
        for j in range(i):
            total -= a[i, j] * v[row, j]
        v[row, i] = total / a[i, i]
    for i in range(n - 1, -1, -1):
        v[row, i] /= a[i, i]
        total = v[row, i]
        for j in range(i):
            v[row, j] -= a[i, j] * total


@part
def gather(
    sizes_at: Ints,
    numbers_at: Floats,
    x: Floats,
    impact_at: Floats,
    J: Floats,
    C: Floats,
    slip: Floats,
    rubs: int,
) -> int:
    """J over the held rows and C^T, with or without the friction of sliding; how many rows are held."""
    head = vector(sizes_at, HEAD)
    n, width, lasting, q = head[SPEEDS], head[WIDTH], head[LASTING], head[POSITIONS]
    contacts = matrix(sizes_at, HEAD, lasting, IDENTITY)
    properties = matrix(numbers_at, 0, lasting, PROPERTIES)
    held = 0
    for c in range(lasting):
        first = n * n + contacts[c, PAIR] * (BEFORE_ROWS + width * (n + BEHIND_ROW)) + BEFORE_ROWS
        block = matrix(impact_at, first, width, n + BEHIND_ROW)
        for j in range(width):
            speed = block[j, n]
            for i in range(n):
                speed += block[j, i] * x[1 + q + i]
            slip[c, j] = speed
        count = 1
        if contacts[c, STICKS] == 1:
            count = width
        for j in range(count):
            for i in range(n):
                J[held + j, i] = block[j, i]
                C[held + j, i] = block[j, i]
        if rubs == 1 and count == 1:
            for j in range(1, width):
                d = direction(properties, slip, c, j)
                for i in range(n):
                    C[held, i] -= properties[c, FRICTION] * d * block[j, i]
        held += count
    return held


@part
def direction(properties: Floats, slip: Floats, c: int, j: int) -> float:
    """Of the slip of a contact along one of its tangents."""
    along: float = properties[c, SLIP]
    if slip.shape[1] == 3:
        along = slip[c, j] / math.sqrt(slip[c, 1] * slip[c, 1] + slip[c, 2] * slip[c, 2] + STILL_SQUARED)
    return along


@part
def delassus(M: Floats, J: Floats, C: Floats, W: Floats, pivots: Ints) -> None:
    """C^T becomes (M^-1 C)^T, W = J M^-1 C its factors, M its own."""
    held = W.shape[0]
    n = M.shape[0]
    cholesky(M)
    for h in range(held):
        solve_cholesky(M, C, h)
    for h in range(held):
        for k in range(held):
            total = 0.0
            for i in range(n):
                total += J[h, i] * C[k, i]
            W[h, k] = total
    # A set whose W is singular is never begun with: independence is looked for before.
    factorise(W, pivots, 0)


@part
def bear(
    addresses_at: Ints,
    sizes_at: Ints,
    numbers_at: Floats,
    x_at: Floats,
    dy: Floats,
    impact_at: Floats,
    rows_at: Floats,
    columns_at: Floats,
    forces_at: Floats,
    pivots_at: Ints,
    work_at: Floats,
) -> None:
    """Rates of the state; forces of each lasting contact (normal, tangents), its speeds, and f stay in `forces`."""
    addresses = vector(addresses_at, ADDRESSES)
    head = vector(sizes_at, HEAD)
    n, width, lasting, q = head[SPEEDS], head[WIDTH], head[LASTING], head[POSITIONS]
    contacts = matrix(sizes_at, HEAD, lasting, IDENTITY)
    properties = matrix(numbers_at, 0, lasting, PROPERTIES)
    most = lasting * width
    x = vector(x_at, 1 + q + n + head[PARAMETERS])
    impact = vector(impact_at, 1)
    free = matrix(work_at, most * most, head[CONTACTS], width)
    call(addresses[RATES], x, dy)
    call(addresses[IMPACT], x, impact)
    call(addresses[FREE], x, free)
    forces = matrix(forces_at, 0, lasting, width)
    slip = matrix(forces_at, most, lasting, width)
    f = matrix(forces_at, 2 * most, 1, most)
    J = matrix(rows_at, 0, most, n)
    V = matrix(columns_at, 0, most, n)
    held = gather(sizes_at, numbers_at, x, impact_at, J, V, slip, 1)
    W = matrix(work_at, 0, held, held)
    pivots = vector(pivots_at, held)
    delassus(matrix(impact_at, 0, n, n), J, V, W, pivots)
    h = 0
    for c in range(lasting):
        for j in range(width):
            if j == 0 or contacts[c, STICKS] == 1:
                f[0, h] = -free[contacts[c, PAIR], j]
                h += 1
    solve(W, pivots, 0, f, 0)
    for h in range(held):
        for i in range(n):
            dy[q + i] += f[0, h] * V[h, i]
    h = 0
    for c in range(lasting):
        forces[c, 0] = f[0, h]
        h += 1
        for j in range(1, width):
            if contacts[c, STICKS] == 1:
                forces[c, j] = f[0, h]
                h += 1
            else:
                forces[c, j] = -properties[c, FRICTION] * direction(properties, slip, c, j) * forces[c, 0]


def rates(
    addresses_at: Ints,
    sizes_at: Ints,
    numbers_at: Floats,
    x_at: Floats,
    y_at: Floats,
    impact_at: Floats,
    rows_at: Floats,
    columns_at: Floats,
    forces_at: Floats,
    pivots_at: Ints,
    work_at: Floats,
) -> int:
    """[t, q, u_i, p] to the rates of q and u_i with the forces of lasting contacts."""
    head = vector(sizes_at, HEAD)
    dy = vector(y_at, head[POSITIONS] + head[SPEEDS])
    bear(
        addresses_at, sizes_at, numbers_at, x_at, dy, impact_at, rows_at, columns_at, forces_at, pivots_at, work_at
    )  # fmt: skip
    return 0


def events(
    addresses_at: Ints,
    sizes_at: Ints,
    numbers_at: Floats,
    x_at: Floats,
    y_at: Floats,
    impact_at: Floats,
    rows_at: Floats,
    columns_at: Floats,
    forces_at: Floats,
    pivots_at: Ints,
    work_at: Floats,
) -> int:
    """The events of the open mechanism, less the gaps that are closed, then what ends each lasting contact."""
    addresses = vector(addresses_at, ADDRESSES)
    head = vector(sizes_at, HEAD)
    n, width, lasting, q = head[SPEEDS], head[WIDTH], head[LASTING], head[POSITIONS]
    contacts = matrix(sizes_at, HEAD, lasting, IDENTITY)
    properties = matrix(numbers_at, 0, lasting, PROPERTIES)
    most = lasting * width
    x = vector(x_at, 1 + q + n + head[PARAMETERS])
    y = vector(y_at, head[WATCHED])
    # The rates come where nobody looks: behind W and the free accelerations.
    dy = matrix(work_at, most * most + head[CONTACTS] * width, 1, q + n)
    bear(
        addresses_at, sizes_at, numbers_at, x_at, dy[0], impact_at, rows_at, columns_at, forces_at, pivots_at, work_at
    )  # fmt: skip
    call(addresses[WATCH], x, y)
    forces = matrix(forces_at, 0, lasting, width)
    slip = matrix(forces_at, most, lasting, width)
    e = head[WATCHED]
    for c in range(lasting):
        for k in range(GAP_EVENTS):
            y[contacts[c, FIRST] + k] = 1.0
        # Forces and slip begin at zero, up to rounding: what goes the wrong way from there must cross something.
        slack = properties[c, SLACK]
        y[e] = forces[c, 0] + slack
        e += 1
        mu = properties[c, FRICTION]
        if mu > 0.0 and contacts[c, STICKS] == 1:
            rub = 0.0
            for j in range(1, width):
                rub += forces[c, j] * forces[c, j]
            y[e] = mu * mu * (forces[c, 0] * forces[c, 0] + slack * slack) - rub
            e += 1
        elif mu > 0.0:
            if width == 2:
                y[e] = properties[c, SLIP] * slip[c, 1] + BACKWARDS
            else:
                y[e] = slip[c, 1] * slip[c, 1] + slip[c, 2] * slip[c, 2] - STOPPED * STOPPED
            e += 1
    return 0


def hold(
    addresses_at: Ints,
    sizes_at: Ints,
    numbers_at: Floats,
    x_at: Floats,
    y_at: Floats,
    impact_at: Floats,
    rows_at: Floats,
    columns_at: Floats,
    forces_at: Floats,
    pivots_at: Ints,
    work_at: Floats,
) -> int:
    """[q, u_i corrected, residual, margin]: one Newton step to closed gaps and to no speed along the held rows."""
    addresses = vector(addresses_at, ADDRESSES)
    head = vector(sizes_at, HEAD)
    n, width, lasting, q = head[SPEEDS], head[WIDTH], head[LASTING], head[POSITIONS]
    contacts = matrix(sizes_at, HEAD, lasting, IDENTITY)
    most = lasting * width
    x = vector(x_at, 1 + q + n + head[PARAMETERS])
    y = vector(y_at, q + n + 2)
    impact = vector(impact_at, 1)
    slip = matrix(forces_at, most, lasting, width)
    move = matrix(forces_at, 2 * most, 2, most)
    behind = most * most
    here = matrix(work_at, behind, 1, 1 + q + n + head[PARAMETERS])
    dq = matrix(work_at, behind + 1 + q + n + head[PARAMETERS], 2, q + n)
    for i in range(q + n):
        y[i] = x[1 + i]
    y[q + n] = 0.0
    y[q + n + 1] = 1.0
    if addresses[PROJECT] != 0:
        call(addresses[PROJECT], x, y)
    for i in range(1 + q + n + head[PARAMETERS]):
        here[0, i] = x[i]
    for i in range(q + n):
        here[0, 1 + i] = y[i]
    call(addresses[IMPACT], here, impact)
    J = matrix(rows_at, 0, most, n)
    V = matrix(columns_at, 0, most, n)
    held = gather(sizes_at, numbers_at, here[0], impact_at, J, V, slip, 0)
    h = 0
    for c in range(lasting):
        gap = matrix(impact_at, n * n + contacts[c, PAIR] * (BEFORE_ROWS + width * (n + BEHIND_ROW)), 1, 1)
        y[q + n] = max(y[q + n], abs(gap[0, 0]))
        for j in range(width):
            if j == 0 or contacts[c, STICKS] == 1:
                move[0, h] = 0.0
                if j == 0:
                    move[0, h] = -gap[0, 0]
                move[1, h] = -slip[c, j]
                h += 1
    W = matrix(work_at, 0, held, held)
    pivots = vector(pivots_at, held)
    delassus(matrix(impact_at, 0, n, n), J, V, W, pivots)
    solve(W, pivots, 0, move, 0)
    solve(W, pivots, 0, move, 1)
    # Positions follow speeds through the rates of q, which are linear in them.
    for k in range(2):
        for i in range(n):
            total = 0.0
            if k == 1:
                for h in range(held):
                    total += move[0, h] * V[h, i]
            here[0, 1 + q + i] = total
        call(addresses[RATES], here, dq[k])
    for i in range(head[MOVING]):
        y[i] += dq[1, i] - dq[0, i]
    for i in range(n):
        for h in range(held):
            y[q + i] += move[1, h] * V[h, i]
    return 0
