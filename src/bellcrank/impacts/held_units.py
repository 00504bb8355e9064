"""Lasting contacts in numbers instead of in equations: compiled once, for any set of contacts.

The compiled programs of the open mechanism give M, the rows J of the contacts and the accelerations without contact
forces; forces follow from a = a_free + J M^-1 C f = 0 over the rows that are held, where C = J^T, and with the friction
of a sliding contact C = J_n^T - mu J_t^T d in its column. Pfeiffer and Glocker (1996), Multibody Dynamics with
Unilateral Contacts. The corrections of `hold` are those nearest in the metric of M.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.gaps import MISSED
from bellcrank.impacts.modes import AHEAD, BACKWARDS, STOPPED
from bellcrank.integrate.linear import factorise, solve
from bellcrank.mechanics.contacts import STILL
from bellcrank.program.loops import Address, Ints, Ints2, Reals, Reals2, call, compiled, entry, matrix, vector

Floats = NDArray[np.float64]

RATES, IMPACT, FREE, PROJECT, WATCH, ADDRESSES = range(6)
"""Of the kernels of the open mechanism."""
POSITIONS, MOVING, SPEEDS, PARAMETERS, CONTACTS, LASTING, WIDTH, WATCHED, SIZES = range(9)
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


class Held(NamedTuple):
    """The arrays of lasting contacts.

    kernels: Addresses of the kernels of the open mechanism. sizes, contacts, properties: As listed above. impact: What
    the program of impacts gives: M, then the block of each contact. rows, columns: J and (M^-1 C)^T of the held rows.
    forces, slip: Of each lasting contact. moves: f, or the corrections of positions and speeds. work: W, then scratch.
    """

    kernels: Ints
    sizes: Ints
    contacts: Ints2
    properties: Reals2
    impact: Reals
    rows: Reals2
    columns: Reals2
    forces: Reals2
    slip: Reals2
    moves: Reals2
    pivots: Ints
    work: Reals


@compiled
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


@compiled
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


@compiled
def gather(given: Held, x: Floats, rubs: int) -> int:
    """J over the held rows and C^T, with or without the friction of sliding; how many rows are held."""
    _, sizes, contacts, properties, impact, J, C, _, slip, _, _, _ = given
    n, width, lasting, q = sizes[SPEEDS], sizes[WIDTH], sizes[LASTING], sizes[POSITIONS]
    held = 0
    for c in range(lasting):
        first = n * n + contacts[c, PAIR] * (BEFORE_ROWS + width * (n + BEHIND_ROW)) + BEFORE_ROWS
        block = matrix(impact, first, width, n + BEHIND_ROW)
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


@compiled
def direction(properties: Floats, slip: Floats, c: int, j: int) -> float:
    """Of the slip of a contact along one of its tangents; :func:`bellcrank.mechanics.contacts.rubbing_direction`."""
    along: float = properties[c, SLIP]
    if slip.shape[1] == 3:
        still = STILL * properties[c, SPEED]
        along = slip[c, j] / math.sqrt(slip[c, 1] * slip[c, 1] + slip[c, 2] * slip[c, 2] + still * still)
        if properties[c, HEADWAY] < 0.0:
            along = -along
    return along


@compiled
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


@compiled
def bear(x: Floats, dy: Floats, given: Held) -> None:
    """Rates of the state; forces of each lasting contact (normal, tangents), its speeds, and f stay in `given`."""
    kernels, sizes, contacts, properties, impact, J, V, forces, slip, f, pivots, work = given
    n, width, lasting, q = sizes[SPEEDS], sizes[WIDTH], sizes[LASTING], sizes[POSITIONS]
    most = lasting * width
    free = matrix(work, most * most, sizes[CONTACTS], width)
    call(kernels[RATES], x, dy)
    call(kernels[IMPACT], x, impact)
    call(kernels[FREE], x, free)
    held = gather(given, x, 1)
    W = matrix(work, 0, held, held)
    delassus(matrix(impact, 0, n, n), J, V, W, pivots)
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


@compiled
def state(x_at: Address, sizes: Ints) -> Reals:
    """[t, q, u_i, p]."""
    return vector(x_at, 1 + sizes[POSITIONS] + sizes[SPEEDS] + sizes[PARAMETERS])


@entry
def rates(x_at: Address, y_at: Address, given: Held) -> int:
    """[t, q, u_i, p] to the rates of q and u_i with the forces of lasting contacts."""
    sizes = given.sizes
    bear(state(x_at, sizes), vector(y_at, sizes[POSITIONS] + sizes[SPEEDS]), given)
    return 0


@entry
def events(x_at: Address, y_at: Address, given: Held) -> int:
    """The events of the open mechanism, less the gaps that are closed, then what ends each lasting contact."""
    kernels, sizes, contacts, properties, _, _, _, forces, slip, _, _, work = given
    n, width, lasting, q = sizes[SPEEDS], sizes[WIDTH], sizes[LASTING], sizes[POSITIONS]
    most = lasting * width
    x = state(x_at, sizes)
    y = vector(y_at, sizes[WATCHED])
    # The rates come where nobody looks: behind W and the free accelerations.
    dy = matrix(work, most * most + sizes[CONTACTS] * width, 1, q + n)
    bear(x, dy[0], given)
    call(kernels[WATCH], x, y)
    e = sizes[WATCHED]
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


@entry
def hold(x_at: Address, y_at: Address, given: Held) -> int:
    """[q, u_i corrected, residual, margin]: one Newton step to closed gaps and to no speed along the held rows."""
    kernels, sizes, contacts, _, impact, J, V, _, slip, move, pivots, work = given
    n, width, lasting, q = sizes[SPEEDS], sizes[WIDTH], sizes[LASTING], sizes[POSITIONS]
    most = lasting * width
    x = state(x_at, sizes)
    y = vector(y_at, q + n + 2)
    behind = most * most
    here = matrix(work, behind, 1, 1 + q + n + sizes[PARAMETERS])
    dq = matrix(work, behind + 1 + q + n + sizes[PARAMETERS], 2, q + n)
    for i in range(q + n):
        y[i] = x[1 + i]
    y[q + n] = 0.0
    y[q + n + 1] = 1.0
    if kernels[PROJECT] != 0:
        call(kernels[PROJECT], x, y)
    for i in range(1 + q + n + sizes[PARAMETERS]):
        here[0, i] = x[i]
    for i in range(q + n):
        here[0, 1 + i] = y[i]
    call(kernels[IMPACT], here, impact)
    held = gather(given, here[0], 0)
    h = 0
    for c in range(lasting):
        gap = matrix(impact, n * n + contacts[c, PAIR] * (BEFORE_ROWS + width * (n + BEHIND_ROW)), 1, 1)
        y[q + n] = max(y[q + n], abs(gap[0, 0]))
        for j in range(width):
            if j == 0 or contacts[c, STICKS] == 1:
                move[0, h] = 0.0
                if j == 0:
                    move[0, h] = -gap[0, 0]
                move[1, h] = -slip[c, j]
                h += 1
    W = matrix(work, 0, held, held)
    delassus(matrix(impact, 0, n, n), J, V, W, pivots)
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
        call(kernels[RATES], here, dq[k])
    for i in range(sizes[MOVING]):
        y[i] += dq[1, i] - dq[0, i]
    for i in range(n):
        for h in range(held):
            y[q + i] += move[1, h] * V[h, i]
    return 0
