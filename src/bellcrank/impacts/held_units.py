"""Lasting contacts in numbers instead of in equations: compiled once, for any set of contacts.

The compiled programs of the open mechanism give M, the rows J of the contacts and the accelerations without contact
forces; forces follow from a = a_free + J M^-1 C f = 0 over the rows that are held, where C = J^T, and with the friction
of a sliding contact C = J_n^T - mu J_t^T d in its column. Pfeiffer and Glocker (1996), Multibody Dynamics with
Unilateral Contacts. The corrections of `hold` are those nearest in the metric of M.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.gaps import MISSED
from bellcrank.impacts.modes import AHEAD, BACKWARDS, STOPPED
from bellcrank.mechanics.contacts import STILL
from bellcrank.simulate.compiled import matrix, part, vector
from bellcrank.simulate.linear import factorise, solve
from bellcrank.simulate.vocabulary import call

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

(
    KERNELS_AT,
    SIZES_AT,
    NUMBERS_AT,
    X_AT,
    Y_AT,
    IMPACT_AT,
    ROWS_AT,
    COLUMNS_AT,
    FORCES_AT,
    PIVOTS_AT,
    WORK_AT,
) = range(11)
"""Places of the pointers that the functions are given."""
RATES, IMPACT, FREE, PROJECT, WATCH, ADDRESSES = range(6)
"""Of the kernels of the open mechanism."""
POSITIONS, MOVING, SPEEDS, PARAMETERS, CONTACTS, LASTING, WIDTH, WATCHED, HEAD = range(9)
"""Sizes: positions with and without states, independent speeds, parameters, contacts, those that last, rows a contact,
events of the open mechanism."""
PAIR, STICKS, FIRST, HEADING, IDENTITY = range(5)
"""Of each lasting contact: its number among all, whether it sticks, the first event that watches its gap, and the first
of the parameters that tell its heading in space, -1 without."""
GAP_EVENTS = 2 + len(MISSED)
"""Events that watch a gap; they follow each other."""
FRICTION, SLIP, SLACK, SPEED, HEADWAY, PROPERTIES = range(6)
"""Of each lasting contact: coefficient, sign of the slip in the plane, force that is none [N], unit of speed [m/s], and
the speed along its heading in the present state [m/s]."""
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
def held_arrays(pointers: Any) -> tuple[Ints, Ints, Ints, Floats, Floats, Floats, Floats, Floats]:
    """Addresses, sizes, lasting contacts, their properties, [t, q, u_i, p], impact, forces, speeds of the contacts."""
    addresses = vector(pointers[KERNELS_AT], ADDRESSES)
    head = vector(pointers[SIZES_AT], HEAD)
    contacts = matrix(pointers[SIZES_AT], HEAD, head[LASTING], IDENTITY)
    properties = matrix(pointers[NUMBERS_AT], 0, head[LASTING], PROPERTIES)
    x = vector(pointers[X_AT], 1 + head[POSITIONS] + head[SPEEDS] + head[PARAMETERS])
    impact = vector(pointers[IMPACT_AT], 1)
    forces = matrix(pointers[FORCES_AT], 0, head[LASTING], head[WIDTH])
    slip = matrix(pointers[FORCES_AT], head[LASTING] * head[WIDTH], head[LASTING], head[WIDTH])
    return addresses, head, contacts, properties, x, impact, forces, slip


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
            if width == 3 and contacts[c, HEADING] >= 0:
                ahead = 0.0
                for j in range(1, width):
                    for k in range(3):
                        ahead += slip[c, j] * block[j, n + 1 + k] * x[1 + q + n + contacts[c, HEADING] + k]
                properties[c, HEADWAY] = ahead
            for j in range(1, width):
                d = direction(properties, slip, c, j)
                for i in range(n):
                    C[held, i] -= properties[c, FRICTION] * d * block[j, i]
        held += count
    return held


@part
def direction(properties: Floats, slip: Floats, c: int, j: int) -> float:
    """Of the slip of a contact along one of its tangents; :func:`bellcrank.mechanics.contacts.rubbing_direction`."""
    along: float = properties[c, SLIP]
    if slip.shape[1] == 3:
        still = STILL * properties[c, SPEED]
        along = slip[c, j] / math.sqrt(slip[c, 1] * slip[c, 1] + slip[c, 2] * slip[c, 2] + still * still)
        if properties[c, HEADWAY] < 0.0:
            along = -along
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
def bear(dy: Floats, *pointers: Any) -> None:
    """Rates of the state; forces of each lasting contact (normal, tangents), its speeds, and f stay in `forces`."""
    addresses, head, contacts, properties, x, impact, forces, slip = held_arrays(pointers)
    n, width, lasting, q = head[SPEEDS], head[WIDTH], head[LASTING], head[POSITIONS]
    most = lasting * width
    free = matrix(pointers[WORK_AT], most * most, head[CONTACTS], width)
    call(addresses[RATES], x, dy)
    call(addresses[IMPACT], x, impact)
    call(addresses[FREE], x, free)
    f = matrix(pointers[FORCES_AT], 2 * most, 1, most)
    J = matrix(pointers[ROWS_AT], 0, most, n)
    V = matrix(pointers[COLUMNS_AT], 0, most, n)
    held = gather(pointers[SIZES_AT], pointers[NUMBERS_AT], x, pointers[IMPACT_AT], J, V, slip, 1)
    W = matrix(pointers[WORK_AT], 0, held, held)
    pivots = vector(pointers[PIVOTS_AT], held)
    delassus(matrix(pointers[IMPACT_AT], 0, n, n), J, V, W, pivots)
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


def rates(*pointers: Any) -> int:
    """[t, q, u_i, p] to the rates of q and u_i with the forces of lasting contacts."""
    head = vector(pointers[SIZES_AT], HEAD)
    bear(vector(pointers[Y_AT], head[POSITIONS] + head[SPEEDS]), *pointers)
    return 0


def events(*pointers: Any) -> int:
    """The events of the open mechanism, less the gaps that are closed, then what ends each lasting contact."""
    addresses, head, contacts, properties, x, _, forces, slip = held_arrays(pointers)
    n, width, lasting, q = head[SPEEDS], head[WIDTH], head[LASTING], head[POSITIONS]
    most = lasting * width
    y = vector(pointers[Y_AT], head[WATCHED])
    # The rates come where nobody looks: behind W and the free accelerations.
    dy = matrix(pointers[WORK_AT], most * most + head[CONTACTS] * width, 1, q + n)
    bear(dy[0], *pointers)
    call(addresses[WATCH], x, y)
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
                y[e] = properties[c, SLIP] * slip[c, 1] + BACKWARDS * properties[c, SPEED]
            else:
                square = slip[c, 1] * slip[c, 1] + slip[c, 2] * slip[c, 2]
                stopped = STOPPED * properties[c, SPEED]
                if contacts[c, HEADING] >= 0:
                    y[e] = properties[c, HEADWAY] - AHEAD * math.sqrt(square)
                else:
                    y[e] = square - stopped * stopped
            e += 1
    return 0


def hold(*pointers: Any) -> int:
    """[q, u_i corrected, residual, margin]: one Newton step to closed gaps and to no speed along the held rows."""
    addresses, head, contacts, _, x, impact, _forces, slip = held_arrays(pointers)
    n, width, lasting, q = head[SPEEDS], head[WIDTH], head[LASTING], head[POSITIONS]
    most = lasting * width
    y = vector(pointers[Y_AT], q + n + 2)
    move = matrix(pointers[FORCES_AT], 2 * most, 2, most)
    behind = most * most
    here = matrix(pointers[WORK_AT], behind, 1, 1 + q + n + head[PARAMETERS])
    dq = matrix(pointers[WORK_AT], behind + 1 + q + n + head[PARAMETERS], 2, q + n)
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
    J = matrix(pointers[ROWS_AT], 0, most, n)
    V = matrix(pointers[COLUMNS_AT], 0, most, n)
    held = gather(pointers[SIZES_AT], pointers[NUMBERS_AT], here[0], pointers[IMPACT_AT], J, V, slip, 0)
    h = 0
    for c in range(lasting):
        gap = matrix(
            pointers[IMPACT_AT], n * n + contacts[c, PAIR] * (BEFORE_ROWS + width * (n + BEHIND_ROW)), 1, 1
        )
        y[q + n] = max(y[q + n], abs(gap[0, 0]))
        for j in range(width):
            if j == 0 or contacts[c, STICKS] == 1:
                move[0, h] = 0.0
                if j == 0:
                    move[0, h] = -gap[0, 0]
                move[1, h] = -slip[c, j]
                h += 1
    W = matrix(pointers[WORK_AT], 0, held, held)
    pivots = vector(pointers[PIVOTS_AT], held)
    delassus(matrix(pointers[IMPACT_AT], 0, n, n), J, V, W, pivots)
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
