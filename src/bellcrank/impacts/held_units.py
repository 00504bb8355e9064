"""Lasting contacts in numbers instead of in equations: compiled once, for any set of contacts.

The compiled programs of the open mechanism give M, the rows J of the contacts and the accelerations without contact
forces; forces follow from a = a_free + J M^-1 C f = 0 over the rows that are held, where C = J^T, and with the friction
of a sliding contact C = J_n^T - mu J_t^T d in its column. Pfeiffer and Glocker (1996), Multibody Dynamics with
Unilateral Contacts. The corrections of `hold` are those nearest in the metric of M.

Contacts of which some are one too many share as if each gave way a little: (J M^-1 C + E) f = -a_free with equal small
compliances E has the forces of the least norm. What E lets through is taken out in further rounds, so that it shows in
the shares alone (the method of multipliers). A contact bears where it would come closer without, so the acceleration of
an idle one shows when its turn comes. Sticking friction beyond that is in proportion to normal forces, f_t = D J_t y
with J_t^T D J_t y = J_t^T f. Where it is beyond a cone, the complementarity problem of the accelerations decides
whether other forces hold: slip begins where none do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.coulomb_units import MISS, SIZE, Coulomb
from bellcrank.impacts.gaps import MISSED
from bellcrank.impacts.modes import AHEAD, BACKWARDS, STOPPED
from bellcrank.impacts.sharing import EXACT, ROUNDS
from bellcrank.impacts.solver import BEFORE_ROWS
from bellcrank.integrate.linear import factorise, solve
from bellcrank.mechanics.contacts import STILL
from bellcrank.program.loops import (
    Address,
    Ints,
    Ints2,
    Reals,
    Reals2,
    call,
    call_entry,
    compiled,
    entry,
    matrix,
    vector,
)

Floats = NDArray[np.float64]

RATES, IMPACT, FREE, PROJECT, WATCH, CONES, LOADS, ADDRESSES = range(8)
"""Of the kernels of the open mechanism, of the solver of complementarity problems, and of loads of reactions."""
POSITIONS, MOVING, SPEEDS, PARAMETERS, CONTACTS, LASTING, WIDTH, WATCHED, ROOMS, SIZES = range(10)
"""Sizes: positions with and without states, independent speeds, parameters, contacts, those that last, rows a contact,
events of the open mechanism, and those of them before the ones that watch the rooms of places."""
PAIR, STICKS, FIRST, HEADING, IDLE, ROOM, IDENTITY = range(7)
"""Of each lasting contact: its number among all, whether it sticks, the first event that watches its gap, the first of
the parameters of its heading in space, whether it bears nothing, and the event that watches the room of its
place; -1 without."""
GAP_EVENTS = 2 + len(MISSED)
"""Events that watch a gap; they follow each other."""
FRICTION, SLIP, SLACK, SPEED, HEADWAY, COMPLIANCE, WANTED, SHARE, HOLDS, CREEP, PROPERTIES = range(11)
"""Of each lasting contact: coefficient, sign of the slip in the plane, force that is none [N], unit of speed [m/s], the
speed along its heading in the present state [m/s], compliance [1/kg], what it bears
in the least norm, or would bear if it were not idle [N], its entry of D, whether it goes on sticking (positive), and
acceleration of slip that it had at the start, where it was judged to stick [m/s^2]."""
SLIPS = 3e-11
"""Acceleration of slip, over the largest without forces, at which contacts that share do not hold any more: above the
miss of the complementarity problem."""
LEAST_WEIGHT = 1e-9
"""Least part of all normal forces by which a sticking contact takes part in friction."""
LIFTED = 1e-12
"""Part of the greatest entry added to the diagonal of J_t^T D J_t, which may be singular: below LEAST_WEIGHT, above
rounding."""
BEHIND_ROW = 4
"""Drift and direction behind each row."""


class Carried(NamedTuple):
    """Loads that follow reactions: their places in q, the times in which they do [s], the input and output of their
    program."""

    places: Ints
    lags: Reals
    x: Reals
    y: Reals


class Held(NamedTuple):
    """The arrays of lasting contacts.

    kernels: Addresses of the kernels of the open mechanism. sizes, contacts, properties: As listed above. impact: What
    the program of impacts gives: M, then the block of each contact. rows, columns: J and (M^-1 C)^T of the held rows.
    forces, slip: Of each lasting contact. moves: f, or the corrections of positions and speeds. over_speeds: Vectors
    over the speeds. shared: J_t^T D J_t. work: W, then scratch. cones, every: The complementarity problem of all
    lasting contacts, and (M^-1 J^T)^T of all their rows. carried: Loads that follow reactions.
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
    over_speeds: Reals2
    shared: Reals2
    pivots: Ints
    work: Reals
    cones: Coulomb
    every: Reals2
    carried: Carried


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
def rows_of(contacts: Ints2, c: int, width: int) -> int:
    """Held rows of a contact: none where it is idle, its normal, and its tangents where it sticks."""
    count = 1
    if contacts[c, IDLE] == 1:
        count = 0
    elif contacts[c, STICKS] == 1:
        count = width
    return count


@compiled
def gather(given: Held, x: Floats, rubs: int) -> int:
    """J over the held rows and C^T, with or without the friction of sliding; how many rows are held."""
    _, sizes, contacts, properties, impact, J, C, _, slip, _, _, _, _, _, _, _, _ = given
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
        count = rows_of(contacts, c, width)
        for j in range(count):
            for i in range(n):
                J[held + j, i] = block[j, i]
                C[held + j, i] = block[j, i]
        if rubs == 1 and contacts[c, STICKS] == 0:
            if width == 3 and contacts[c, HEADING] >= 0:
                ahead = 0.0
                for j in range(1, width):
                    for k in range(3):
                        ahead += slip[c, j] * block[j, n + 1 + k] * x[1 + q + n + contacts[c, HEADING] + k]
                properties[c, HEADWAY] = ahead
            for j in range(1, width * count):
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
def delassus(given: Held, W: Floats) -> None:
    """C^T becomes (M^-1 C)^T, W = J M^-1 C + E its factors, M its own."""
    _, sizes, contacts, properties, impact, J, C, _, _, _, _, _, pivots, _, _, _, _ = given
    M = matrix(impact, 0, sizes[SPEEDS], sizes[SPEEDS])
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
    h = 0
    for c in range(sizes[LASTING]):
        for _ in range(rows_of(contacts, c, sizes[WIDTH])):
            W[h, h] += properties[c, COMPLIANCE]
            h += 1
    factorise(W, pivots, 0)


@compiled
def press(given: Held, held: int) -> None:
    """What the forces f accelerate, M^-1 C f, in the first vector over the speeds."""
    for i in range(given.sizes[SPEEDS]):
        total = 0.0
        for h in range(held):
            total += given.moves[0, h] * given.columns[h, i]
        given.over_speeds[0, i] = total


@compiled
def resultant(given: Held, k: int) -> None:
    """J_t^T f of sticking friction into vector k over the speeds."""
    _, sizes, contacts, _, impact, _, _, forces, _, _, over, _, _, _, _, _, _ = given
    n, width = sizes[SPEEDS], sizes[WIDTH]
    for i in range(n):
        over[k, i] = 0.0
    for c in range(sizes[LASTING]):
        if rows_of(contacts, c, width) > 1:
            block = matrix(impact, first_row(sizes, contacts, c), width, n + BEHIND_ROW)
            for j in range(1, width):
                for i in range(n):
                    over[k, i] += block[j, i] * forces[c, j]


@compiled
def weighed(given: Held, k: int) -> None:
    """Sticking friction D J_t y, y being vector k over the speeds."""
    _, sizes, contacts, properties, impact, _, _, forces, _, _, over, _, _, _, _, _, _ = given
    n, width = sizes[SPEEDS], sizes[WIDTH]
    for c in range(sizes[LASTING]):
        if rows_of(contacts, c, width) > 1:
            block = matrix(impact, first_row(sizes, contacts, c), width, n + BEHIND_ROW)
            for j in range(1, width):
                along = 0.0
                for i in range(n):
                    along += block[j, i] * over[k, i]
                forces[c, j] = properties[c, SHARE] * along


@compiled
def share_friction(given: Held) -> None:
    """Sticking friction in proportion to weights and normal forces, with the same resultant."""
    _, sizes, contacts, properties, impact, _, _, forces, _, _, over, G, _, _, _, _, _ = given
    n, width, lasting = sizes[SPEEDS], sizes[WIDTH], sizes[LASTING]
    total = 0.0
    for c in range(lasting):
        total += max(properties[c, FRICTION] * forces[c, 0], 0.0)
    if not total > 0.0:
        return
    for i in range(n):
        over[3, i] = 0.0
        for j in range(n):
            G[i, j] = 0.0
    size = 0.0
    for c in range(lasting):
        if rows_of(contacts, c, width) > 1:
            limit = max(properties[c, FRICTION] * forces[c, 0] / total, LEAST_WEIGHT)
            properties[c, SHARE] = limit
            block = matrix(impact, first_row(sizes, contacts, c), width, n + BEHIND_ROW)
            for k in range(1, width):
                for i in range(n):
                    for j in range(i + 1):
                        G[i, j] += properties[c, SHARE] * block[k, i] * block[k, j]
                    size = max(size, G[i, i])
    if size == 0.0:
        return
    for i in range(n):
        G[i, i] += LIFTED * size
    cholesky(G)
    resultant(given, 1)
    # The resultant of what is found so far is taken from what is wanted; a second round has all its digits.
    for number in range(2):
        for i in range(n):
            over[2, i] = over[1, i]
        if number > 0:
            resultant(given, 4)
            for i in range(n):
                over[2, i] -= over[4, i]
        solve_cholesky(G, over, 2)
        for i in range(n):
            over[3, i] += over[2, i]
        weighed(given, 3)


@compiled
def judge(given: Held, free: Floats) -> None:
    """Which sticking contacts hold; where some are beyond their cones, with forces that are not, if there are any."""
    kernels, sizes, contacts, properties, impact, _, _, forces, slip, _, _, _, _, _, g, every, _ = given
    n, width, lasting = sizes[SPEEDS], sizes[WIDTH], sizes[LASTING]
    beyond = False
    for c in range(lasting):
        mu = properties[c, FRICTION]
        rub = 0.0
        for j in range(1, width):
            rub += forces[c, j] * forces[c, j]
        slack = properties[c, SLACK]
        properties[c, HOLDS] = mu * mu * (forces[c, 0] * forces[c, 0] + slack * slack) - rub
        if rows_of(contacts, c, width) > 1 and properties[c, HOLDS] < 0.0:
            beyond = True
    if not beyond:
        return
    M = matrix(impact, 0, n, n)
    for c in range(lasting):
        block = matrix(impact, first_row(sizes, contacts, c), width, n + BEHIND_ROW)
        for j in range(width):
            for i in range(n):
                every[width * c + j, i] = block[j, i]
            solve_cholesky(M, every, width * c + j)
            g.b[width * c + j] = free[contacts[c, PAIR], j]
        g.mu[c] = properties[c, FRICTION]
        for j in range(1, width):
            g.slip[c, j - 1] = 0.0
            if contacts[c, STICKS] == 0:
                g.slip[c, j - 1] = direction(properties, slip, c, j)
    for c in range(lasting):
        rows = matrix(impact, first_row(sizes, contacts, c), width, n + BEHIND_ROW)
        for j in range(width):
            for h in range(width * lasting):
                total = 0.0
                for i in range(n):
                    total += rows[j, i] * every[h, i]
                g.W[width * c + j, h] = total
    if call_entry(kernels[CONES], g) == 0 or g.statistics[MISS] > SLIPS:
        return
    for c in range(lasting):
        moving = 0.0
        for j in range(1, width):
            moving += g.v[width * c + j] * g.v[width * c + j]
        properties[c, HOLDS] = SLIPS * g.statistics[SIZE] + 2.0 * properties[c, CREEP] - math.sqrt(moving)
        for j in range(width):
            forces[c, j] = g.p[width * c + j]


@compiled
def first_row(sizes: Ints, contacts: Ints2, c: int) -> int:
    """Where the rows of a lasting contact begin in what the program of impacts gives."""
    n, width = sizes[SPEEDS], sizes[WIDTH]
    first: int = n * n + contacts[c, PAIR] * (BEFORE_ROWS + width * (n + BEHIND_ROW)) + BEFORE_ROWS
    return first


@compiled
def bear(x: Floats, dy: Floats, given: Held) -> None:
    """Rates of the state; forces of each lasting contact (normal, tangents), its speeds, and f stay in `given`."""
    kernels, sizes, contacts, properties, impact, J, _, forces, slip, f, over, _, pivots, work, _, _, _ = (
        given
    )
    n, width, lasting, q = sizes[SPEEDS], sizes[WIDTH], sizes[LASTING], sizes[POSITIONS]
    most = lasting * width
    free = matrix(work, most * most, sizes[CONTACTS], width)
    call(kernels[RATES], x, dy)
    call(kernels[IMPACT], x, impact)
    call(kernels[FREE], x, free)
    held = gather(given, x, 1)
    W = matrix(work, 0, held, held)
    delassus(given, W)
    sharing = False
    for c in range(lasting):
        sharing = sharing or properties[c, COMPLIANCE] > 0.0
        properties[c, WANTED] = 0.0
    for h in range(held):
        f[0, h] = 0.0
    for i in range(n):
        over[0, i] = 0.0
    for _ in range(ROUNDS):
        h = 0
        for c in range(lasting):
            for j in range(rows_of(contacts, c, width)):
                left = -free[contacts[c, PAIR], j]
                for i in range(n):
                    left -= J[h, i] * over[0, i]
                f[1, h] = left
                h += 1
        solve(W, pivots, 0, f, 1)
        greatest, change = 0.0, 0.0
        for h in range(held):
            f[0, h] += f[1, h]
            greatest = max(greatest, abs(f[0, h]))
            change = max(change, abs(f[1, h]))
        press(given, held)
        if not sharing:
            break
        for c in range(lasting):
            block = matrix(impact, first_row(sizes, contacts, c), width, n + BEHIND_ROW)
            approach = -free[contacts[c, PAIR], 0]
            for i in range(n):
                approach -= block[0, i] * over[0, i]
            properties[c, WANTED] += approach / properties[c, COMPLIANCE]
        if change <= EXACT * greatest:
            break
    for i in range(n):
        dy[q + i] += over[0, i]
    h = 0
    for c in range(lasting):
        for j in range(width):
            forces[c, j] = 0.0
        if contacts[c, IDLE] == 0:
            forces[c, 0] = f[0, h]
            h += 1
            for j in range(1, width):
                if contacts[c, STICKS] == 1:
                    forces[c, j] = f[0, h]
                    h += 1
                else:
                    forces[c, j] = -properties[c, FRICTION] * direction(properties, slip, c, j) * forces[c, 0]
    if sharing:
        for c in range(lasting):
            if contacts[c, IDLE] == 0:
                properties[c, WANTED] = forces[c, 0]
        share_friction(given)
        judge(given, free)


@compiled
def follow(x: Floats, dy: Floats, given: Held) -> None:
    """Rates of loads that follow reactions, with the forces of lasting contacts."""
    sizes, contacts, impact, carried = given.sizes, given.contacts, given.impact, given.carried
    if len(carried.places) == 0:
        return
    n, width = sizes[SPEEDS], sizes[WIDTH]
    size = 1 + sizes[POSITIONS] + n + sizes[PARAMETERS]
    for i in range(size):
        carried.x[i] = x[i]
    for i in range(size, len(carried.x)):
        carried.x[i] = 0.0
    for c in range(sizes[LASTING]):
        block = matrix(impact, first_row(sizes, contacts, c), width, n + BEHIND_ROW)
        for j in range(width):
            for k in range(3):
                carried.x[size + 3 * contacts[c, PAIR] + k] += given.forces[c, j] * block[j, n + 1 + k]
    call(given.kernels[LOADS], carried.x, carried.y)
    for k in range(len(carried.places)):
        dy[carried.places[k]] = (carried.y[k] - x[1 + carried.places[k]]) / carried.lags[k]


@compiled
def state(x_at: Address, sizes: Ints) -> Reals:
    """[t, q, u_i, p]."""
    return vector(x_at, 1 + sizes[POSITIONS] + sizes[SPEEDS] + sizes[PARAMETERS])


@entry
def rates(x_at: Address, y_at: Address, given: Held) -> int:
    """[t, q, u_i, p] to the rates of q and u_i with the forces of lasting contacts."""
    sizes = given.sizes
    x, dy = state(x_at, sizes), vector(y_at, sizes[POSITIONS] + sizes[SPEEDS])
    bear(x, dy, given)
    follow(x, dy, given)
    return 0


@entry
def events(x_at: Address, y_at: Address, given: Held) -> int:
    """The events of the open mechanism, less the gaps that are closed, then what ends each lasting contact."""
    kernels, sizes, contacts, properties, _, _, _, forces, slip, _, _, _, _, work, _, _, _ = given
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
        if contacts[c, ROOM] >= 0:
            y[e] = y[contacts[c, ROOM]]
            e += 1
        # Forces and slip begin at zero, up to rounding: what goes the wrong way from there must cross something.
        slack = properties[c, SLACK]
        y[e] = forces[c, 0] + slack
        if contacts[c, IDLE] == 1:
            y[e] = slack - properties[c, WANTED]
        elif properties[c, COMPLIANCE] > 0.0:
            y[e] = properties[c, WANTED] + slack
        e += 1
        mu = properties[c, FRICTION]
        if contacts[c, STICKS] == 1 and contacts[c, IDLE] == 1:
            mu = 0.0
        if mu > 0.0 and contacts[c, STICKS] == 1:
            rub = 0.0
            for j in range(1, width):
                rub += forces[c, j] * forces[c, j]
            y[e] = mu * mu * (forces[c, 0] * forces[c, 0] + slack * slack) - rub
            if properties[c, COMPLIANCE] > 0.0:
                y[e] = properties[c, HOLDS]
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
    for k in range(sizes[ROOMS], sizes[WATCHED]):
        y[k] = 1.0
    return 0


@entry
def hold(x_at: Address, y_at: Address, given: Held) -> int:
    """[q, u_i corrected, residual, margin]: one Newton step to closed gaps and to no speed along the held rows."""
    kernels, sizes, contacts, _, impact, J, V, _, slip, move, over, _, pivots, work, _, _, _ = given
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
        # Beyond its place the distance of a contact jumps; what it keeps at zero does not.
        first = n * n + contacts[c, PAIR] * (BEFORE_ROWS + width * (n + BEHIND_ROW))
        gap = matrix(impact, first + BEFORE_ROWS - 1, 1, 1)
        for j in range(rows_of(contacts, c, width)):
            move[0, h] = 0.0
            if j == 0:
                move[0, h] = -gap[0, 0]
            move[1, h] = -slip[c, j]
            h += 1
    W = matrix(work, 0, held, held)
    delassus(given, W)
    solve(W, pivots, 0, move, 0)
    solve(W, pivots, 0, move, 1)
    # Gaps of contacts that are one too many may not fit each other, by as little as counts as touching: what is missed
    # is what can be mended.
    press(given, held)
    for h in range(held):
        mended = 0.0
        for i in range(n):
            mended += J[h, i] * over[0, i]
        y[q + n] = max(y[q + n], abs(mended))
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
