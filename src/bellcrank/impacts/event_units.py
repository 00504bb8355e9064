"""An event of rigid contacts, compiled: they strike, come to rest, let go, slip and stick.

For programs without Python, in which somebody else integrates: an FMU in model exchange. The laws, limits and problems
are those of :mod:`~bellcrank.impacts.contacts`, `impulses` and `transitions`; between events contacts that last are
held by :mod:`~bellcrank.impacts.held_units`.

Differs in: every event judges all contacts that touch anew, with what it has found as given: a contact whose force
vanished lets go, one whose friction was used up slides off against it. Complementarity problems are solved by turns
and Newton's method in the plane too, where they have a third row that nothing moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.checks import TOUCHING
from bellcrank.impacts.contacts import (
    APART,
    AT_REST,
    HIDDEN,
    HOLDING,
    LEAST,
    LOCKED,
    LOW,
    SLOWEST,
    STILL,
    UNRESOLVED,
)
from bellcrank.impacts.coulomb import USABLE
from bellcrank.impacts.coulomb_units import MISS, Coulomb
from bellcrank.impacts.gaps import MISSED
from bellcrank.impacts.held_units import (
    BEHIND_ROW,
    COMPLIANCE,
    CONES,
    CONTACTS,
    CREEP,
    FREE,
    FRICTION,
    HEADING,
    HEADWAY,
    HOLDS,
    IDENTITY,
    IDLE,
    IMPACT,
    LASTING,
    PAIR,
    POSITIONS,
    PROPERTIES,
    SLACK,
    SLIP,
    SLIPS,
    SPEED,
    SPEEDS,
    STICKS,
    WANTED,
    WIDTH,
    Held,
    bear,
    cholesky,
    solve_cholesky,
    state,
)
from bellcrank.impacts.lasting import RESTING as STEADY
from bellcrank.impacts.modes import AHEAD, BACKWARDS
from bellcrank.impacts.routh import LAW, NEWTON, STRONGE
from bellcrank.impacts.sharing import COMPLIANT, EXACT, ROUNDS, SHARED
from bellcrank.impacts.solver import BEFORE_ROWS
from bellcrank.impacts.strikes import (
    ENDED,
    FELT,
    FIRST,
    FULL,
    JAMMED,
    LOG,
    NUMBER,
    RESTING,
    ROUNDING,
    TIE,
    TIED,
    Strikes,
    feel,
)
from bellcrank.impacts.strikes import LOCKED as IMMOVABLE
from bellcrank.impacts.transitions import SETTING_OFF
from bellcrank.integrate.linear import factorise, solve
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
Wholes = NDArray[np.int64]

BOUNCE, RUB, LENGTH, UNIT, FASTEST, OPENED, NATURES = range(7)
"""Of every contact: restitution, friction, units of length [m] and of speed [m/s], the fastest approach so far [m/s],
and the gap below zero from which it opens after an event [m]."""
SHORT = 1e-14
"""Part of the unit of length by which a gap lies above zero after an event, whatever rounding has left of it: what
opens and closes within a step of somebody else would not change its sign else."""
LASTS, HOLDS_FAST, BEARS_NOT, HEADS, BETWEEN, PLACED, NEAR, GIVEN, TIES, ROLES = range(10)
"""Of every contact: whether it lasts, sticks and is idle; the first of the parameters of its heading, which bodies it
is between, and its place among those whose place may end, or -1; whether it takes part in the event, what is known of
its slip, and whether it is struck together with others."""
LOOSE, TOWARD, GONE = 2, 1, -1
"""What is known of slip: what shares has come loose, one slides off in a direction that is given; or it lets go."""
STRIKE, ROOMS, FURTHER = range(3)
"""Programs beside those of `held`: of strikes, and of the rooms of places."""
TOLERANCE, YIELDS, NUMBERS = range(3)
"""Relative error to which the motion is known, and force over what moves contacts that is rounding."""
SAME, MOVED, NO_IMPULSE, NO_END, NO_FORCE = range(5)
"""What an event did: nothing to the motion, or something; a contact cannot be moved, friction does not let one part,
friction jams one."""
BEFORE, PRESSED, WHOLE, VECTORS = range(4)
"""Vectors over the rows of all contacts."""


class Meeting(NamedTuple):
    """The contacts of a mechanism in one partition, `width` rows each.

    held: Those that last, with room for all. strikes: Of an impact. cones: A complementarity problem of all contacts.
    nature, roles: As listed above. slip: Direction in which each slides, and that in which it begins to. x: [t, q, u_i,
    p]. rows, inverse: J and (M^-1 J^T)^T. W: J M^-1 J^T. v: Velocities. free: Accelerations without forces. rooms: Of
    places that may end. held_rows: Which rows a correction holds. scratch: W of these rows. vectors: As listed above.
    """

    held: Held
    strikes: Strikes
    cones: Coulomb
    nature: Reals2
    roles: Ints2
    slip: Reals2
    toward: Reals2
    x: Reals
    rates: Reals
    rows: Reals2
    inverse: Reals2
    W: Reals2
    v: Reals
    free: Reals
    rooms: Reals
    held_rows: Ints
    pivots: Ints
    scratch: Reals
    vectors: Reals2
    programs: Ints
    numbers: Reals


@compiled
def block_of(g: Meeting, c: int) -> int:
    """Where what the program of impacts tells of a contact begins: its gap."""
    n, width = g.held.sizes[SPEEDS], g.held.sizes[WIDTH]
    first: int = n * n + c * (BEFORE_ROWS + width * (n + BEHIND_ROW))
    return first


@compiled
def speeds_of(g: Meeting) -> None:
    """Velocities of all contacts."""
    n, width, q = g.held.sizes[SPEEDS], g.held.sizes[WIDTH], g.held.sizes[POSITIONS]
    for c in range(g.held.sizes[CONTACTS]):
        block = matrix(g.held.impact, block_of(g, c) + BEFORE_ROWS, width, n + BEHIND_ROW)
        for j in range(width):
            total = block[j, n]
            for i in range(n):
                total += block[j, i] * g.x[1 + q + i]
            g.v[width * c + j] = total


@compiled
def weigh(g: Meeting) -> None:
    """Rows, mobilities and velocities of all contacts in the present state, and their coefficients."""
    n, width, m = g.held.sizes[SPEEDS], g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    call(g.held.kernels[IMPACT], g.x, g.held.impact)
    last = len(g.held.impact) - 2 * m
    for c in range(m):
        g.nature[c, RUB], g.nature[c, BOUNCE] = g.held.impact[last + c], g.held.impact[last + m + c]
    M = matrix(g.held.impact, 0, n, n)
    cholesky(M)
    every = g.rows.shape[0]
    for c in range(m):
        block = matrix(g.held.impact, block_of(g, c) + BEFORE_ROWS, width, n + BEHIND_ROW)
        for j in range(width):
            for i in range(n):
                g.rows[width * c + j, i] = block[j, i]
                g.inverse[width * c + j, i] = block[j, i]
            solve_cholesky(M, g.inverse, width * c + j)
    for k in range(every):
        for h in range(k + 1):
            total = 0.0
            for i in range(n):
                total += g.rows[k, i] * g.inverse[h, i]
            g.W[k, h], g.W[h, k] = total, total
    speeds_of(g)


@compiled
def push(g: Meeting, p: Floats) -> None:
    """Speeds and velocities after the impulses p."""
    n, q = g.held.sizes[SPEEDS], g.held.sizes[POSITIONS]
    for k in range(len(g.v)):
        for i in range(n):
            g.x[1 + q + i] += g.inverse[k, i] * p[k]
    speeds_of(g)


@compiled
def pose(g: Meeting, W: Floats, b: Floats, role: int) -> None:
    """The complementarity problem of the contacts in a role; the others neither feel nor move anything."""
    t, width, m = g.cones, g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    mobility = 0.0
    for k in range(W.shape[0]):
        mobility = max(mobility, W[k, k])
    for k in range(3 * m):
        t.b[k] = 0.0
        for h in range(3 * m):
            t.W[k, h] = 0.0
    for c in range(m):
        t.least[c], t.mu[c] = 0.0, 0.0
        t.slip[c, 0], t.slip[c, 1] = 0.0, 0.0
        if g.roles[c, role] == 1:
            t.mu[c] = g.nature[c, RUB]
            for j in range(width):
                t.b[3 * c + j] = b[width * c + j]
                for d in range(m):
                    for h in range(width):
                        if g.roles[d, role] == 1:
                            t.W[3 * c + j, 3 * d + h] = W[width * c + j, width * d + h]
        else:
            for j in range(3):
                t.W[3 * c + j, 3 * c + j] = mobility


@compiled
def solved(g: Meeting, into: int) -> bool:
    """Solve the complementarity problem; whether it could be."""
    t, width = g.cones, g.held.sizes[WIDTH]
    if call_entry(g.held.kernels[CONES], g.cones) == 0 or not t.statistics[MISS] < USABLE:
        return False
    for c in range(g.held.sizes[CONTACTS]):
        for j in range(width):
            g.vectors[into, width * c + j] = t.p[3 * c + j]
    return True


@compiled
def energy(W: Floats, v: Floats, p: Floats) -> float:
    """Kinetic energy gained by the impulses p on the velocities v [J]."""
    total = 0.0
    for k in range(len(v)):
        more = 0.0
        for h in range(len(v)):
            more += W[k, h] * p[h]
        total += p[k] * (v[k] + 0.5 * more)
    return total


@compiled
def crossing(slope: float, bend: float, target: float) -> float:
    """The s > 0 where s slope + s^2 bend reaches the target; :func:`bellcrank.impacts.impulses._crossing`."""
    found = 1.0
    if bend > 0.0:
        found = max((-slope + math.sqrt(slope * slope + 4.0 * bend * max(target, 0.0))) / (2.0 * bend), 0.0)
    return found


@compiled
def together(g: Meeting, role: int) -> bool:
    """Compression, then restitution, of the contacts in a role, struck at once; see `impulses._simultaneous`."""
    s, width, m = g.strikes, g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    law = s.one.flags[LAW]
    before, pressed, whole = g.vectors[BEFORE], g.vectors[PRESSED], g.vectors[WHOLE]
    bounces = False
    for k in range(len(s.v)):
        before[k] = s.v[k]
    pose(g, s.W, s.v, role)
    if not solved(g, PRESSED):
        return False
    for c in range(m):
        bounces = bounces or (g.roles[c, role] == 1 and s.restitution[c] > 0.0)
    share = 0.0
    if bounces:
        for c in range(m):
            if g.roles[c, role] == 1 and law == NEWTON:
                before[width * c] += s.restitution[c] * min(s.v[width * c], 0.0)
        if law != NEWTON:
            for k in range(len(s.v)):
                for h in range(len(s.v)):
                    before[k] += s.W[k, h] * pressed[h]
        pose(g, s.W, before, role)
        for c in range(m):
            if law != NEWTON:
                g.cones.least[c] = max(s.restitution[c] * pressed[width * c], 0.0)
        if not solved(g, WHOLE):
            return False
        slope, bend, returned = 0.0, 0.0, 0.0
        for k in range(len(s.v)):
            if law == NEWTON:
                whole[k] -= pressed[k]
        for k in range(len(s.v)):
            after, more = s.v[k], 0.0
            for h in range(len(s.v)):
                after += s.W[k, h] * pressed[h]
                more += s.W[k, h] * whole[h]
            slope += whole[k] * after
            bend += 0.5 * whole[k] * more
            if k % width == 0:
                e = s.restitution[k // width]
                returned -= e * e * min(0.5 * pressed[k] * (s.v[k] + after), 0.0)
        share = crossing(slope, bend, -energy(s.W, s.v, pressed))
        if law == STRONGE:
            share = min(share, crossing(slope, bend, returned))
        if share >= 1.0 - ROUNDING:
            share = 1.0
    for k in range(len(s.v)):
        pressed[k] += share * whole[k] if bounces else 0.0
        s.p[k] += pressed[k]
    for k in range(len(s.v)):
        for h in range(len(s.v)):
            s.v[k] += s.W[k, h] * pressed[h]
    return True


@compiled
def tie(g: Meeting) -> None:
    """Of the contacts that approach as fast as any, some that feel each other."""
    s, width, m = g.strikes, g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    fastest = 0.0
    for c in range(m):
        fastest = min(fastest, s.v[width * c])
        g.roles[c, TIES] = 0
    alike = fastest * (1.0 - TIE)
    found = 0
    for c in range(m):
        for d in range(c):
            if found == 0 and s.v[width * c] <= alike and s.v[width * d] <= alike and feel(s, c, d):
                g.roles[c, TIES] = 1
                found = 1
    while found == 1:
        found = 0
        for c in range(m):
            for d in range(m):
                if (
                    g.roles[c, TIES] == 1
                    and g.roles[d, TIES] == 0
                    and s.v[width * d] <= alike
                    and feel(s, c, d)
                ):
                    g.roles[d, TIES] = 1
                    found = 1
    for c in range(m):
        if g.roles[c, TIES] == 1:
            s.met[c] = 1


@compiled
def strike(g: Meeting) -> int:
    """One strike after another of the contacts that are near; see `impulses._sequence`."""
    s, width, m = g.strikes, g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    largest, greatest = 0.0, 0.0
    for c in range(m):
        s.restitution[c], s.friction[c] = 0.0, 0.0
        s.limited[c], s.met[c] = 0, 0
        if g.roles[c, NEAR] == 1:
            s.restitution[c], s.friction[c] = g.nature[c, BOUNCE], g.nature[c, RUB]
    for k in range(len(s.v)):
        s.p[k], s.v[k] = 0.0, 0.0
        # What has no friction is not moved across, so that nothing of it is followed.
        feels = g.roles[k // width, NEAR] == 1 and (k % width == 0 or s.friction[k // width] > 0.0)
        if feels:
            s.v[k] = g.v[k]
        for h in range(len(s.v)):
            s.W[k, h] = 0.0
            if feels and g.roles[h // width, NEAR] == 1 and (h % width == 0 or s.friction[h // width] > 0.0):
                s.W[k, h] = g.W[k, h]
        largest, greatest = max(largest, s.W[k, k]), max(greatest, abs(s.v[k]))
    s.sizes[FIRST], s.sizes[RESTING], s.sizes[FELT] = 0.0, 1e-12 * greatest, 1e-13 * largest
    s.counts[NUMBER], s.counts[LOG] = 0, 0
    for k in range(len(s.one.numbers)):
        s.one.numbers[k] = 0.0
    for k in range(3):
        s.one.v[k], s.one.p[k] = 0.0, 0.0
        for h in range(3):
            s.one.W[k, h] = 0.0
    why = FULL
    while True:
        why = call_entry(g.programs[STRIKE], g.strikes)
        s.counts[LOG] = 0
        if why == TIED:
            tie(g)
            if not together(g, TIES):
                return NO_IMPULSE
            s.counts[NUMBER] += 1
        elif why != FULL:
            break
    if why == IMMOVABLE:
        return NO_IMPULSE
    if why == JAMMED:
        return NO_END
    if why != ENDED:
        # What is left meets without restitution.
        for c in range(m):
            s.restitution[c] = 0.0
        if not together(g, NEAR):
            return NO_IMPULSE
    push(g, s.p)
    return MOVED


@compiled
def unresolved(g: Meeting, c: int) -> float:
    """Slip of which the direction is not known [m/s]; see `Contacts.unresolved`."""
    least: float = STILL * g.nature[c, UNIT]
    if g.held.sizes[WIDTH] == 3:
        least = max(least, resolution(g, c))
    return least


@compiled
def resolution(g: Meeting, c: int) -> float:
    """Error to which the slip of a contact in space is known [m/s]; see `Contacts.resolution`."""
    n, width, q = g.held.sizes[SPEEDS], g.held.sizes[WIDTH], g.held.sizes[POSITIONS]
    block = matrix(g.held.impact, block_of(g, c) + BEFORE_ROWS, width, n + BEHIND_ROW)
    square = 0.0
    for j in range(1, width):
        total = abs(block[j, n])
        for i in range(n):
            total += abs(block[j, i] * g.x[1 + q + i])
        square += total * total
    found: float = UNRESOLVED * max(g.numbers[TOLERANCE], LEAST) * (math.sqrt(square) + g.nature[c, UNIT])
    return found


@compiled
def stay(g: Meeting) -> None:
    """Of the contacts that are near, those stay whose bouncing has converged; see `Contacts._staying`."""
    width, m = g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    highest = -1e300
    for c in range(m):
        if g.roles[c, NEAR] == 1 and g.roles[c, LASTS] == 0:
            highest = max(highest, g.held.impact[block_of(g, c)])
    for c in range(m):
        if g.roles[c, NEAR] == 1:
            length, unit, gap = g.nature[c, LENGTH], g.nature[c, UNIT], 0.0
            if g.roles[c, LASTS] == 0:
                gap = g.held.impact[block_of(g, c)]
            speed = abs(g.v[width * c])
            seen = 0.5 * MISSED[0] * length
            together_now = highest > seen
            hides = gap < -seen or together_now
            slow = AT_REST * max(g.nature[c, FASTEST], SLOWEST * unit)
            if hides:
                slow *= HIDDEN / AT_REST
                if slow < speed and speed < LOW * unit:
                    height = max(-gap, 0.0)
                    if together_now:
                        height = max(height, TOUCHING * length)
                    slow = max(slow, math.sqrt(max(-2.0 * height * g.free[width * c], 0.0)))
            # Bounces lower than the error of who integrates are none.
            low = g.numbers[TOLERANCE] * length
            slow = max(slow, math.sqrt(max(-2.0 * low * g.free[width * c], 0.0)))
            if speed > slow:
                g.roles[c, NEAR] = 0


@compiled
def settle(g: Meeting) -> bool:
    """How contacts last that stay: those that press, sticking where friction can hold them; False where one jams."""
    t, width, m = g.cones, g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    some = 0
    for c in range(m):
        g.roles[c, LASTS], g.roles[c, HOLDS_FAST], g.roles[c, BEARS_NOT] = 0, 0, 0
        g.toward[c, 0], g.toward[c, 1] = 0.0, 0.0
        some += g.roles[c, NEAR]
    if some == 0:
        return True
    pose(g, g.W, g.free, NEAR)
    size = 1e-300
    for c in range(m):
        if g.roles[c, NEAR] == 1:
            if g.roles[c, GIVEN] != TOWARD:
                none = max(1e-7 * max(g.nature[c, FASTEST], SLOWEST * g.nature[c, UNIT]), unresolved(g, c))
                square = 0.0
                for j in range(1, width):
                    square += g.v[width * c + j] * g.v[width * c + j]
                for j in range(1, width):
                    g.slip[c, j - 1] = 0.0
                    if math.sqrt(square) > none:
                        g.slip[c, j - 1] = g.v[width * c + j] / math.sqrt(square)
            for j in range(1, width):
                t.slip[c, j - 1] = g.slip[c, j - 1]
            for j in range(width):
                size = max(size, abs(g.free[width * c + j]))
    if not solved(g, PRESSED):
        return False
    for c in range(m):
        if g.roles[c, NEAR] == 1 and t.v[3 * c] <= max(STEADY, 10.0 * t.statistics[MISS]) * size:
            g.roles[c, LASTS] = 1
            slides = g.slip[c, 0] != 0.0 or g.slip[c, 1] != 0.0
            moves = math.sqrt(t.v[3 * c + 1] * t.v[3 * c + 1] + t.v[3 * c + 2] * t.v[3 * c + 2])
            least = STEADY
            if g.roles[c, GIVEN] == LOOSE:
                least = max(0.5 * SLIPS, 10.0 * t.statistics[MISS])
            if g.nature[c, RUB] > 0.0 and not slides and moves <= least * size:
                g.roles[c, HOLDS_FAST] = 1
            elif not slides and moves > 0.0:
                g.slip[c, 0], g.slip[c, 1] = t.v[3 * c + 1] / moves, t.v[3 * c + 2] / moves
                g.toward[c, 0], g.toward[c, 1] = g.slip[c, 0], g.slip[c, 1]
            if g.roles[c, GIVEN] == TOWARD:
                g.toward[c, 0], g.toward[c, 1] = g.slip[c, 0], g.slip[c, 1]
    return True


@compiled
def set_off(g: Meeting) -> None:
    """What bounces and slips are left goes; what begins to slide in space has a slip; see `transitions._set_off`."""
    width, m = g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    held, greatest = 0, 0.0
    for k in range(len(g.v)):
        g.vectors[WHOLE, k] = 0.0
    for c in range(m):
        starts = width == 3 and (g.toward[c, 0] != 0.0 or g.toward[c, 1] != 0.0)
        if g.roles[c, LASTS] == 1:
            for j in range(width):
                if j == 0 or g.roles[c, HOLDS_FAST] == 1 or starts:
                    g.held_rows[held] = width * c + j
                    g.vectors[BEFORE, held] = -g.v[width * c + j]
                    if j > 0 and starts:
                        g.vectors[BEFORE, held] += SETTING_OFF * resolution(g, c) * g.toward[c, j - 1]
                    greatest = max(greatest, abs(g.vectors[BEFORE, held]))
                    held += 1
    if greatest == 0.0:
        return
    A = matrix(g.scratch, 0, held, held)
    give = 0.0
    for k in range(held):
        give = max(give, COMPLIANT * g.W[g.held_rows[k], g.held_rows[k]])
    for k in range(held):
        for h in range(held):
            A[k, h] = g.W[g.held_rows[k], g.held_rows[h]]
        A[k, k] += give
    factorise(A, g.pivots, 0)
    for _ in range(ROUNDS):
        most, change = 0.0, 0.0
        for k in range(held):
            left = g.vectors[BEFORE, k]
            for h in range(held):
                left -= g.W[g.held_rows[k], g.held_rows[h]] * g.vectors[WHOLE, g.held_rows[h]]
            g.vectors[PRESSED, k] = left
        solve(A, g.pivots, 0, g.vectors, PRESSED)
        for k in range(held):
            g.vectors[WHOLE, g.held_rows[k]] += g.vectors[PRESSED, k]
            change = max(change, abs(g.vectors[PRESSED, k]))
            most = max(most, abs(g.vectors[WHOLE, g.held_rows[k]]))
        if change <= EXACT * most:
            break
    push(g, g.vectors[WHOLE])


@compiled
def head(g: Meeting) -> None:
    """The directions in which contacts slide in space, among the parameters."""
    n, width, q = g.held.sizes[SPEEDS], g.held.sizes[WIDTH], g.held.sizes[POSITIONS]
    for c in range(g.held.sizes[CONTACTS]):
        if g.roles[c, LASTS] == 1 and g.roles[c, HOLDS_FAST] == 0 and g.roles[c, HEADS] >= 0:
            block = matrix(g.held.impact, block_of(g, c) + BEFORE_ROWS, width, n + BEHIND_ROW)
            square = g.v[width * c + 1] * g.v[width * c + 1] + g.v[width * c + 2] * g.v[width * c + 2]
            for k in range(3):
                along = 0.0
                for j in range(1, width):
                    along += g.v[width * c + j] * block[j, n + 1 + k]
                g.x[1 + q + n + g.roles[c, HEADS] + k] = along / math.sqrt(max(square, 1e-300))


@compiled
def rank(g: Meeting, without: int) -> int:
    """Of the rows that hold contacts, without one of these: independent ones, by Cholesky's factors with pivots."""
    width, held = g.held.sizes[WIDTH], 0
    for c in range(g.held.sizes[CONTACTS]):
        if g.roles[c, LASTS] == 1 and g.roles[c, BEARS_NOT] == 0 and c != without:
            for j in range(width):
                if j == 0 or g.roles[c, HOLDS_FAST] == 1:
                    g.held_rows[held] = width * c + j
                    held += 1
    A = matrix(g.scratch, 0, held, held)
    for k in range(held):
        for h in range(held):
            A[k, h] = g.W[g.held_rows[k], g.held_rows[h]] / math.sqrt(
                max(g.W[g.held_rows[k], g.held_rows[k]] * g.W[g.held_rows[h], g.held_rows[h]], 1e-300)
            )
    for k in range(held):
        best = k
        for h in range(k + 1, held):
            if A[h, h] > A[best, best]:
                best = h
        if A[best, best] <= APART:
            return k
        for h in range(held):
            A[k, h], A[best, h] = A[best, h], A[k, h]
        for h in range(held):
            A[h, k], A[h, best] = A[h, best], A[h, k]
        for h in range(k + 1, held):
            for i in range(k + 1, held):
                A[h, i] -= A[h, k] * A[k, i] / A[k, k]
    return held


@compiled
def share(g: Meeting) -> bool:
    """Whether some of the contacts that last are one too many, or a joint locks one."""
    width, wanted = g.held.sizes[WIDTH], 0
    for c in range(g.held.sizes[CONTACTS]):
        if g.roles[c, LASTS] == 1:
            least, most, count = 1e300, 0.0, 1
            if g.roles[c, HOLDS_FAST] == 1:
                count = width
            for j in range(count):
                least = min(least, g.W[width * c + j, width * c + j])
                most = max(most, g.W[width * c + j, width * c + j])
            if least <= LOCKED * most:
                return True
            wanted += count
    return rank(g, -1) < wanted


@compiled
def fit(g: Meeting, shares: bool) -> None:
    """The contacts that last become those that are held."""
    held, width, m, lasting = g.held, g.held.sizes[WIDTH], g.held.sizes[CONTACTS], 0
    size = 0.0
    for c in range(m):
        size = max(size, g.nature[c, UNIT] * g.nature[c, UNIT] / g.nature[c, LENGTH])
        for j in range(width):
            size = max(size, abs(g.free[width * c + j]))
    none = g.numbers[YIELDS]
    if shares:
        none = max(none, SHARED)
    for c in range(m):
        if g.roles[c, LASTS] == 1:
            for k in range(PROPERTIES):
                held.properties[lasting, k] = 0.0
            for k in range(IDENTITY):
                held.contacts[lasting, k] = -1
            held.contacts[lasting, PAIR], held.contacts[lasting, STICKS] = c, g.roles[c, HOLDS_FAST]
            held.contacts[lasting, HEADING], held.contacts[lasting, IDLE] = (
                g.roles[c, HEADS],
                g.roles[c, BEARS_NOT],
            )
            held.properties[lasting, FRICTION], held.properties[lasting, SPEED] = (
                g.nature[c, RUB],
                g.nature[c, UNIT],
            )
            held.properties[lasting, SLIP] = 1.0
            if g.slip[c, 0] < 0.0:
                held.properties[lasting, SLIP] = -1.0
            held.properties[lasting, SLACK] = none * size / g.W[width * c, width * c]
            if shares:
                most = 0.0
                for d in range(m):
                    for j in range(width):
                        if g.roles[d, LASTS] == 1 and g.roles[d, BETWEEN] == g.roles[c, BETWEEN]:
                            most = max(most, g.W[width * d + j, width * d + j])
                held.properties[lasting, COMPLIANCE] = COMPLIANT * most
            lasting += 1
    held.sizes[LASTING] = lasting
    for k in range(3 * m):
        held.cones.b[k] = 0.0
        for h in range(3 * m):
            held.cones.W[k, h] = 0.0
        if k >= 3 * lasting:
            held.cones.W[k, k] = 1.0
            held.cones.mu[k // 3] = 0.0
    for c in range(m):
        held.cones.least[c], held.cones.slip[c, 0], held.cones.slip[c, 1] = 0.0, 0.0, 0.0


@compiled
def hold_on(g: Meeting) -> None:
    """Hold the contacts that last, those idle that would have to pull though others bear it all."""
    shares = share(g)
    whole = rank(g, -1)
    fit(g, shares)
    for _ in range(2 * g.held.sizes[CONTACTS]):
        bear(g.x, g.rates, g.held)
        if not shares:
            break
        greatest, at, most = 1e-300, -1, 0.0
        for i in range(g.held.sizes[LASTING]):
            greatest = max(greatest, abs(g.held.properties[i, WANTED]))
        small = 0.1 * SHARED * greatest
        for i in range(g.held.sizes[LASTING]):
            c, borne = g.held.contacts[i, PAIR], g.held.properties[i, WANTED]
            if g.roles[c, BEARS_NOT] == 0 and borne < -small and -borne > most and rank(g, c) == whole:
                at, most = c, -borne
        for i in range(g.held.sizes[LASTING]):
            c, borne = g.held.contacts[i, PAIR], g.held.properties[i, WANTED]
            if most == 0.0 and g.roles[c, BEARS_NOT] == 1 and borne > small:
                at = c
        if at < 0:
            break
        g.roles[at, BEARS_NOT] = 1 - g.roles[at, BEARS_NOT]
        fit(g, shares)
    for i in range(g.held.sizes[LASTING]):
        g.held.properties[i, CREEP] = max(-g.held.properties[i, HOLDS], 0.0)


@compiled
def release(g: Meeting, i: int) -> float:
    """What is left of the force of a contact that lasts, or of what an idle one lacks; positive until it changes."""
    held = g.held
    left: float = held.forces[i, 0] + held.properties[i, SLACK]
    if held.contacts[i, IDLE] == 1:
        left = held.properties[i, SLACK] - held.properties[i, WANTED]
    elif held.properties[i, COMPLIANCE] > 0.0:
        left = held.properties[i, WANTED] + held.properties[i, SLACK]
    c = held.contacts[i, PAIR]
    if g.roles[c, PLACED] >= 0:
        left = min(left, g.rooms[g.roles[c, PLACED]])
    return left


@compiled
def turn(g: Meeting, i: int) -> float:
    """What is left of friction while a contact sticks, or of slip while it slides; positive until it changes.

    Slip begins at zero, up to the error of whoever integrates.
    """
    held, width = g.held, g.held.sizes[WIDTH]
    mu, unit = held.properties[i, FRICTION], held.properties[i, SPEED]
    if mu == 0.0 or (held.contacts[i, STICKS] == 1 and held.contacts[i, IDLE] == 1):
        return 1.0
    error = max(BACKWARDS, g.numbers[TOLERANCE]) * unit
    if held.contacts[i, STICKS] == 1:
        rub = 0.0
        for j in range(1, width):
            rub += held.forces[i, j] * held.forces[i, j]
        slack = held.properties[i, SLACK]
        left: float = mu * mu * (held.forces[i, 0] * held.forces[i, 0] + slack * slack) - rub
        if held.properties[i, COMPLIANCE] > 0.0:
            left = held.properties[i, HOLDS]
        return left
    ahead: float = held.properties[i, SLIP] * held.slip[i, 1] + error
    if width == 3:
        speed = math.sqrt(held.slip[i, 1] * held.slip[i, 1] + held.slip[i, 2] * held.slip[i, 2])
        ahead = held.properties[i, HEADWAY] - AHEAD * speed + error
    return ahead


@compiled
def find_rooms(g: Meeting, x: Floats) -> None:
    """Rooms of the places that may end."""
    if g.programs[ROOMS] != 0:
        call(g.programs[ROOMS], x, g.rooms)


@entry
def meet(x_at: Address, y_at: Address, g: Meeting) -> int:
    """An event at [t, q, u_i, p], which becomes that after it at y; what it did."""
    held, width, m = g.held, g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    x, y = state(x_at, held.sizes), state(y_at, held.sizes)
    for k in range(len(g.x)):
        g.x[k] = x[k]
    for c in range(m):
        g.roles[c, NEAR], g.roles[c, GIVEN] = 0, 0
    find_rooms(g, x)
    freed = 0
    if held.sizes[LASTING] > 0:
        bear(g.x, g.rates, held)
        for i in range(held.sizes[LASTING]):
            c = held.contacts[i, PAIR]
            mu, normal = held.properties[i, FRICTION], held.forces[i, 0]
            none = held.properties[i, SLACK] * HOLDING / g.numbers[YIELDS]
            # One that shares may be idle from here on, which its force does not show.
            gone = held.properties[i, COMPLIANCE] == 0.0 and release(g, i) <= none
            if gone or (g.roles[c, PLACED] >= 0 and g.rooms[g.roles[c, PLACED]] <= 0.0):
                g.roles[c, GIVEN] = GONE
                freed += 1
            elif (
                held.contacts[i, STICKS] == 1
                and held.properties[i, COMPLIANCE] == 0.0
                and mu > 0.0
                and turn(g, i) <= HOLDING * mu * mu * normal * normal
            ):
                rub = 0.0
                for j in range(1, width):
                    rub += held.forces[i, j] * held.forces[i, j]
                for j in range(1, width):
                    g.slip[c, j - 1] = -held.forces[i, j] / math.sqrt(rub)
                g.roles[c, GIVEN] = TOWARD
            elif held.contacts[i, STICKS] == 1 and turn(g, i) <= 0.0:
                g.roles[c, GIVEN] = LOOSE
    weigh(g)
    approaching = False
    for c in range(m):
        if g.roles[c, LASTS] == 1 or held.impact[block_of(g, c)] <= TOUCHING * g.nature[c, LENGTH]:
            g.roles[c, NEAR] = 1
            slow = 0.0
            if g.roles[c, LASTS] == 1:
                slow = AT_REST * max(g.nature[c, FASTEST], SLOWEST * g.nature[c, UNIT])
            approaching = approaching or -g.v[width * c] > slow
    did = SAME
    if approaching:
        for c in range(m):
            g.roles[c, GIVEN] = 0
            if g.roles[c, NEAR] == 1:
                g.nature[c, FASTEST] = max(g.nature[c, FASTEST], -g.v[width * c])
        did = strike(g)
        if did != MOVED:
            return did
    for c in range(m):
        if g.roles[c, GIVEN] == GONE:
            g.roles[c, NEAR], g.roles[c, GIVEN] = 0, 0
    call(held.kernels[FREE], g.x, g.free)
    stay(g)
    if not settle(g):
        return NO_FORCE
    set_off(g)
    head(g)
    hold_on(g)
    for c in range(m):
        gap, length = held.impact[block_of(g, c)], g.nature[c, LENGTH]
        g.nature[c, OPENED] = 0.0
        if g.roles[c, NEAR] == 1 or gap <= TOUCHING * length:
            # What lets go opens slowly: the error of who integrates must not close it.
            room = SHORT
            if g.roles[c, NEAR] == 1:
                room = max(MISSED[0], g.numbers[TOLERANCE])
            g.nature[c, OPENED] = max(-gap, 0.0) + room * length
    for k in range(len(g.x)):
        if x[k] != g.x[k]:
            did = MOVED
        y[k] = g.x[k]
    return did


@entry
def indicate(x_at: Address, y_at: Address, g: Meeting) -> int:
    """Two numbers of every contact that change their signs at events; 1 where bodies approach within each other."""
    held, width, m = g.held, g.held.sizes[WIDTH], g.held.sizes[CONTACTS]
    x, y = state(x_at, held.sizes), vector(y_at, 2 * m)
    for k in range(len(g.x)):
        g.x[k] = x[k]
    call(held.kernels[IMPACT], g.x, held.impact)
    speeds_of(g)
    missed = 0
    for c in range(m):
        y[2 * c], y[2 * c + 1] = held.impact[block_of(g, c)] + g.nature[c, OPENED], 1.0
        if g.roles[c, LASTS] == 0 and y[2 * c] < -MISSED[0] * g.nature[c, LENGTH] and g.v[width * c] < 0.0:
            missed = 1
    if held.sizes[LASTING] > 0:
        find_rooms(g, g.x)
        bear(g.x, g.rates, held)
        for i in range(held.sizes[LASTING]):
            c = held.contacts[i, PAIR]
            y[2 * c], y[2 * c + 1] = release(g, i), turn(g, i)
    return missed


__all__ = ["SAME", "Meeting", "indicate", "meet"]
