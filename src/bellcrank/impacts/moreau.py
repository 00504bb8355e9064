"""One step of Moreau's scheme in the joint coordinates of a mechanism, compiled.

From (q, u) at t, with theta = 1/2: half a step of positions; half of the gyroscopic and other terms of the speeds; the
forces, and with them the impulses of all contacts, in the middle; the other halves in the reverse order. So motion
between impacts is of second order. Contacts are looked for in the middle of the step, and hold from there to the middle
of the next one: a gap g may close at most at the speed g / h. No body enters another so, but for what it turns
within a step; that is taken out of the positions, nearest in the metric of the masses. Restitution after Newton acts
where the gap closes within the step. Contact impulses p change the energy by p (v + v') / 2, with v and v' before and
after.

Sources: Moreau (1988), "Unilateral contact and dry friction in finite freedom dynamics"; Jean (1999), "The non-smooth
contact dynamics method"; Acary, Brogliato (2008), "Numerical Methods for Nonsmooth Dynamical Systems", 10.1.
Differs in: gaps that close within the step count from its middle, instead of those that are closed there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bellcrank.impacts.cones import RESIDUAL, SINGULAR, Cones, solve_cones, velocity
from bellcrank.impacts.meeting import POSE, SPOT, TWIST
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, call, call_at, compiled, entry

TOLERANCE = 1e-6
"""Residual of the impulses over the fastest speed of a contact: with it a heap of 20 boxes rests."""
INSIDE = 1e-7
"""Overlap that is left, over the size of the smaller body; a fifth of what is promised."""
NEAR = 1e-3
"""Gaps that count as near besides those that may close in two steps, over the size of the smaller body."""
CORRECTIONS, CORRECTION_SWEEPS = 8, 200
"""Corrections of positions, and sweeps in each."""
CLOSING = 8
"""Newton steps at most in which loops close."""
RESTING = 2.0
"""Bounces slower than what forces add to the speeds of the bodies in so many steps have come to rest."""
QUIET = 1e-5
"""Approaches slower than this part of the unit of speed are what the tolerance of the impulses left."""
EIGHTHS = 8
"""Steps in which restitution is lowered where Newton's law with friction would raise the energy."""
GAIN, TIGHT = 1e-9, 1e-10
"""Energy gained over that turned around that counts as none, and the residual to which impulses are found before a gain
is believed; a gain of a few residuals is theirs."""
RESIDUALS = 10.0

RATES, FRAMES, PROJECT, ADDRESSES = range(4)
POSITIONS, SPEEDS, PAIRS, SIZES = range(4)
KERNEL, INPUTS, FRAME_A, FRAME_B, FIRST, SPOTS, FLAT_A, FLAT_B, SUPPORT, SLOTS_A, SLOTS_B, PAIR = range(12)
"""Of a pair of shapes: its kernel and where its inputs begin; its frames; its first contact and how many; the axes of
endless planes, or -1; where its support begins, and where in it the twist entries of both frames stand."""
REACH_A, REACH_B, LENGTH, SPEED, REACHES = range(5)
FRICTION, RESTITUTION, PROPERTIES = range(3)
U, A0, A, MINUS, START, TRIAL, SCRATCH = range(7)
"""Rows of speeds: at the beginning of the step, accelerations without and with velocities, before impulses."""
NORMAL, FIRST_TANGENT, SECOND_TANGENT, POINT_A, POINT_B, PLACE = 0, 3, 6, 9, 12, 15
WORST, ITERATIONS, ACTIVE, DEEPEST, UNSOLVED, LOWERED, MARGIN, SOLVED, TOLD = range(9)
"""Of all steps: largest residual, iterations, contacts, smallest gap over the length, steps whose residual is above the
tolerance, steps with restitution lowered, smallest margin of the loops, steps with contacts."""
CONTACT, R_POINT, R_NORMAL, R_IMPULSE, R_FRICTION, R_BEFORE, R_AFTER, RECORD = 0, 1, 4, 7, 8, 11, 12, 13
IMPACTS, RECORDS, RECENT, LIMITED, COUNTERS = range(5)


class Scene(NamedTuple):
    """A mechanism with contacts in one partition.

    x: [t, q, u, p]. y: What the program of frames gives. mass: Lower triangle, then its Cholesky factor. places: Of
    the entries of the mass matrix. block, blocks: Coupled speeds, set by set. first, begin, twists: See
    :class:`bellcrank.impacts.meeting.Frames`. pairs, reaches, support, slots: As listed above. inputs: Of the
    programs of pairs. found, gap, place: Number, gap [m] and world axes of the contacts that are near. memory:
    World impulses of the step before, of the contacts that were near then, `recent`. struck: Whether a near contact
    bounces. forces: World impulses of lasting contacts over the step [N]. impacts: [t, first record, q, speeds
    before, speeds after, energy before, energy lost, whether restitution was lowered]. records: Contacts that struck.
    """

    addresses: Ints
    sizes: Ints
    x: Reals
    rates: Reals
    resting: Reals
    closed: Reals
    y: Reals
    mass: Reals2
    places: Ints2
    block: Ints
    blocks: Ints
    first: Ints
    begin: Ints
    twists: Ints2
    pairs: Ints2
    reaches: Reals2
    support: Ints
    slots: Ints
    inputs: Reals
    spots: Reals
    properties: Reals2
    found: Ints
    owner: Ints
    gap: Reals
    place: Reals2
    memory: Reals2
    before: Reals2
    struck: Ints
    recent: Ints
    speeds: Reals2
    moved: Reals2
    forces: Reals2
    impacts: Reals2
    records: Reals2
    counters: Ints
    told: Reals


@compiled
def put_speeds(s: Scene, row: int) -> None:
    """One of the rows of speeds becomes that of the state."""
    for i in range(s.sizes[SPEEDS]):
        s.x[1 + s.sizes[POSITIONS] + i] = s.speeds[row, i]


@compiled
def accelerate(s: Scene, row: int, into: int) -> None:
    """Accelerations of the independent speeds without contacts, at the speeds of a row."""
    put_speeds(s, row)
    call(s.addresses[RATES], s.x, s.rates)
    for i in range(s.sizes[SPEEDS]):
        s.speeds[into, i] = s.rates[s.sizes[POSITIONS] + i]


@compiled
def close_loops(s: Scene) -> None:
    """Positions back onto loops, quaternions to unit length."""
    if s.addresses[PROJECT] == 0:
        return
    q, n = s.sizes[POSITIONS], s.sizes[SPEEDS]
    for _ in range(CLOSING):
        call(s.addresses[PROJECT], s.x, s.closed)
        for i in range(q):
            s.x[1 + i] = s.closed[i]
        # Newton's step squares what was left, so the one after this residual is below rounding.
        if s.closed[q + n] < 1e-9:
            break
    s.told[MARGIN] = min(s.told[MARGIN], s.closed[q + n + 1])


@compiled
def turn_speeds(s: Scene, row: int, h: float) -> None:
    """Half a step of all that depends on speeds, by the midpoint rule; h: The half step [s]."""
    n = s.sizes[SPEEDS]
    accelerate(s, row, A)
    for i in range(n):
        s.speeds[TRIAL, i] = s.speeds[row, i] + 0.5 * h * (s.speeds[A, i] - s.speeds[A0, i])
    accelerate(s, TRIAL, A)
    for i in range(n):
        s.speeds[row, i] += h * (s.speeds[A, i] - s.speeds[A0, i])


@compiled
def weigh(s: Scene) -> None:
    """Poses, twists and the Cholesky factor of the mass matrix at the present positions."""
    call(s.addresses[FRAMES], s.x, s.y)
    M = s.mass
    for b in range(len(s.blocks) - 1):
        for i in range(s.blocks[b], s.blocks[b + 1]):
            for j in range(s.blocks[b], i + 1):
                M[s.block[i], s.block[j]] = 0.0
    for k in range(s.places.shape[0]):
        M[s.places[k, 0], s.places[k, 1]] = s.y[k]
    for b in range(len(s.blocks) - 1):
        for a in range(s.blocks[b], s.blocks[b + 1]):
            i = s.block[a]
            for c in range(s.blocks[b], a + 1):
                j = s.block[c]
                total = M[i, j]
                for d in range(s.blocks[b], c):
                    total -= M[i, s.block[d]] * M[j, s.block[d]]
                if a == c:
                    M[i, i] = math.sqrt(total)
                else:
                    M[i, j] = total / M[j, j]


@compiled
def frame_speeds(s: Scene, h: float) -> None:
    """How fast frames turn and move, the forces of the step included, and what these add: rows of `moved`."""
    for f in range(len(s.first)):
        for k in range(TWIST):
            s.spots[k] = s.y[s.first[f] + POSE + k]
            s.spots[TWIST + k] = 0.0
        for e in range(s.begin[f], s.begin[f + 1]):
            value = s.y[s.first[f] + POSE + TWIST + e - s.begin[f]]
            added = h * s.speeds[A0, s.twists[e, 1]]
            s.spots[s.twists[e, 0]] += value * (s.speeds[MINUS, s.twists[e, 1]] + added)
            s.spots[TWIST + s.twists[e, 0]] += value * added
        for k in range(4):
            a, b, c = s.spots[3 * k], s.spots[3 * k + 1], s.spots[3 * k + 2]
            s.moved[f, k] = math.sqrt(a * a + b * b + c * c)


@compiled
def apart(s: Scene, g: int, near: float) -> bool:
    """Whether the balls around two shapes, or a ball and a plane, are further apart than `near` [m]."""
    a, b = s.first[s.pairs[g, FRAME_A]], s.first[s.pairs[g, FRAME_B]]
    x, y, z = s.y[b + 9] - s.y[a + 9], s.y[b + 10] - s.y[a + 10], s.y[b + 11] - s.y[a + 11]
    reach = s.reaches[g, REACH_A] + s.reaches[g, REACH_B] + near
    far: bool = x * x + y * y + z * z > reach * reach
    k = s.pairs[g, FLAT_A]
    if k >= 0:
        far = s.y[a + k] * x + s.y[a + 3 + k] * y + s.y[a + 6 + k] * z > s.reaches[g, REACH_B] + near
    k = s.pairs[g, FLAT_B]
    if k >= 0:
        far = -(s.y[b + k] * x + s.y[b + 3 + k] * y + s.y[b + 6 + k] * z) > s.reaches[g, REACH_A] + near
    return far


@compiled
def surface_speed(s: Scene, g: int) -> float:
    """An upper bound of the speed at which two shapes near each other [m/s]."""
    a, b = s.pairs[g, FRAME_A], s.pairs[g, FRAME_B]
    total: float = s.moved[a, 1] + s.moved[b, 1]
    # The contact lies on the smaller one; an endless shape reaches as far as its partner is away.
    i, j = s.first[a] + 9, s.first[b] + 9
    x, y, z = s.y[i] - s.y[j], s.y[i + 1] - s.y[j + 1], s.y[i + 2] - s.y[j + 2]
    away = math.sqrt(x * x + y * y + z * z)
    if s.moved[a, 0] > 0.0:
        total += s.moved[a, 0] * min(s.reaches[g, REACH_A], away + s.reaches[g, REACH_B])
    if s.moved[b, 0] > 0.0:
        total += s.moved[b, 0] * min(s.reaches[g, REACH_B], away + s.reaches[g, REACH_A])
    return total


@compiled
def locate(s: Scene, c: Cones, h: float) -> float:
    """The contacts that may close within two steps; the smallest gap over the length of its pair."""
    active = 0
    deepest = 1.0
    for g in range(s.sizes[PAIRS]):
        length = s.reaches[g, LENGTH]
        within = 2.0 * h * surface_speed(s, g) + NEAR * length
        if apart(s, g, within):
            continue
        at = s.pairs[g, INPUTS]
        for k in range(POSE):
            s.inputs[at + k] = s.y[s.first[s.pairs[g, FRAME_A]] + k]
            s.inputs[at + POSE + k] = s.y[s.first[s.pairs[g, FRAME_B]] + k]
        call_at(s.pairs[g, KERNEL], s.inputs, at, s.spots, 0)
        for spot in range(s.pairs[g, SPOTS]):
            gap = s.spots[SPOT * spot]
            if not gap < within:
                continue
            s.found[active] = s.pairs[g, FIRST] + spot
            s.owner[active] = g
            s.gap[active] = gap
            deepest = min(deepest, gap / length)
            n0, n1, n2 = s.spots[SPOT * spot + 1], s.spots[SPOT * spot + 2], s.spots[SPOT * spot + 3]
            t0, t1, t2 = 0.0, -n2, n1
            if abs(n0) > 0.7:
                t0, t1, t2 = -n1, n0, 0.0
            size = 1.0 / math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
            t0, t1, t2 = size * t0, size * t1, size * t2
            place = s.place
            place[active, 0], place[active, 1], place[active, 2] = n0, n1, n2
            place[active, 3], place[active, 4], place[active, 5] = t0, t1, t2
            place[active, 6], place[active, 7] = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2
            place[active, 8] = n0 * t1 - n1 * t0
            for k in range(6):
                place[active, POINT_A + k] = s.spots[SPOT * spot + 4 + k]
            active += 1
    c.active[0] = active
    return deepest


@compiled
def add_side(s: Scene, c: Cones, i: int, k: int, frame: int, slots: int, point: int, sign: float) -> None:
    """One side of a contact in its row k."""
    at = s.first[frame]
    d0, d1, d2 = s.place[i, 3 * k], s.place[i, 3 * k + 1], s.place[i, 3 * k + 2]
    x, y, z = (
        s.place[i, point] - s.y[at + 9],
        s.place[i, point + 1] - s.y[at + 10],
        s.place[i, point + 2] - s.y[at + 11],
    )
    m0, m1, m2 = y * d2 - z * d1, z * d0 - x * d2, x * d1 - y * d0
    along = s.spots
    along[0], along[1], along[2] = sign * m0, sign * m1, sign * m2
    along[3], along[4], along[5] = sign * d0, sign * d1, sign * d2
    for j in range(TWIST):
        c.drift[i, k] += along[j] * s.y[at + POSE + j]
    for e in range(s.begin[frame], s.begin[frame + 1]):
        value = s.y[at + POSE + TWIST + e - s.begin[frame]]
        c.rows[3 * i + k, s.slots[slots + e - s.begin[frame]]] += along[s.twists[e, 0]] * value


@compiled
def divide_by_mass(s: Scene, c: Cones, i: int, k: int) -> None:
    """A column M^-1 J^T of a contact from its row."""
    row, size = 3 * i + k, c.size[i]
    for a in range(size):
        total = c.rows[row, a]
        for b in range(a):
            total -= s.mass[c.places[i, a], c.places[i, b]] * c.columns[row, b]
        c.columns[row, a] = total / s.mass[c.places[i, a], c.places[i, a]]
    for step in range(size):
        a = size - 1 - step
        c.columns[row, a] /= s.mass[c.places[i, a], c.places[i, a]]
        for b in range(a):
            c.columns[row, b] -= s.mass[c.places[i, a], c.places[i, b]] * c.columns[row, a]


@compiled
def assemble(s: Scene, c: Cones, directions: int) -> None:
    """Rows, columns and drifts of the contacts that are near, along the normal alone or along the tangents too."""
    for i in range(c.active[0]):
        g = s.owner[i]
        first = s.pairs[g, SUPPORT]
        c.size[i] = s.pairs[g + 1, SUPPORT] - first
        for a in range(c.size[i]):
            c.places[i, a] = s.support[first + a]
        for k in range(directions):
            for a in range(c.size[i]):
                c.rows[3 * i + k, a] = 0.0
            c.drift[i, k] = 0.0
            add_side(s, c, i, k, s.pairs[g, FRAME_A], s.pairs[g, SLOTS_A], POINT_A, -1.0)
            add_side(s, c, i, k, s.pairs[g, FRAME_B], s.pairs[g, SLOTS_B], POINT_B, 1.0)
            divide_by_mass(s, c, i, k)
        entry = 0
        for k in range(directions):
            for m in range(k, directions):
                total = 0.0
                for a in range(c.size[i]):
                    total += c.rows[3 * i + k, a] * c.columns[3 * i + m, a]
                c.local[i, entry] = total
                entry += 1
        if directions == 3:
            lift = SINGULAR * (c.local[i, 0] + c.local[i, 3] + c.local[i, 5])
            c.local[i, 3] += lift
            c.local[i, 5] += lift


@compiled
def free_positions(s: Scene, c: Cones, h: float) -> float:
    """Positions without overlaps, nearest in the metric of the masses; the smallest gap left over its length."""
    q, n = s.sizes[POSITIONS], s.sizes[SPEEDS]
    deepest = locate(s, c, h)
    for _ in range(CORRECTIONS):
        if deepest >= -INSIDE:
            break
        assemble(s, c, 1)
        for i in range(n):
            s.speeds[SCRATCH, i] = 0.0
        for i in range(c.active[0]):
            c.p[i, 0] = 0.0
        for _ in range(CORRECTION_SWEEPS):
            largest = 0.0
            for i in range(c.active[0]):
                if not c.local[i, 0] > 0.0:
                    continue
                left = s.gap[i]
                for a in range(c.size[i]):
                    left += c.rows[3 * i, a] * s.speeds[SCRATCH, c.places[i, a]]
                wanted = max(0.0, c.p[i, 0] - left / c.local[i, 0])
                more = wanted - c.p[i, 0]
                if more != 0.0:
                    largest = max(largest, abs(more) * c.local[i, 0] / s.reaches[s.owner[i], LENGTH])
                    c.p[i, 0] = wanted
                    for a in range(c.size[i]):
                        s.speeds[SCRATCH, c.places[i, a]] += more * c.columns[3 * i, a]
            if largest < 0.2 * INSIDE:
                break
        for i in range(n):
            s.speeds[TRIAL, i] = 0.0
        put_speeds(s, TRIAL)
        call(s.addresses[RATES], s.x, s.resting)
        put_speeds(s, SCRATCH)
        call(s.addresses[RATES], s.x, s.rates)
        for i in range(q):
            s.x[1 + i] += s.rates[i] - s.resting[i]
        close_loops(s)
        weigh(s)
        deepest = locate(s, c, h)
    return deepest


@compiled
def prepare_contacts(s: Scene, c: Cones, h: float) -> None:
    """Velocities before, who bounces, the least normal speeds, and the impulses of the step before as a guess."""
    n = s.sizes[SPEEDS]
    for i in range(n):
        c.free[i] = s.speeds[MINUS, i] + h * s.speeds[A0, i]
    for i in range(c.active[0]):
        number = s.found[i]
        for k in range(3):
            before, after = c.drift[i, k], c.drift[i, k]
            for a in range(c.size[i]):
                before += c.rows[3 * i + k, a] * s.speeds[MINUS, c.places[i, a]]
                after += c.rows[3 * i + k, a] * c.free[c.places[i, a]]
            s.before[i, k] = before
            if k == 0:
                closes = s.gap[i] + h * after <= 0.0
                s.struck[i] = 0
                c.bound[i] = -max(s.gap[i], 0.0) / h
                g = s.owner[i]
                added = max(s.moved[s.pairs[g, FRAME_A], 3], s.moved[s.pairs[g, FRAME_B], 3])
                if closes and -before > max(RESTING * added, QUIET * s.reaches[g, SPEED]):
                    s.struck[i] = 1
                    if s.properties[number, RESTITUTION] > 0.0:
                        c.bound[i] = -s.properties[number, RESTITUTION] * before
        c.friction[i] = s.properties[number, FRICTION]
        for k in range(3):
            c.p[i, k] = 0.0
            for m in range(3):
                c.p[i, k] += s.place[i, 3 * k + m] * s.memory[number, m]


@compiled
def gained(s: Scene, c: Cones) -> float:
    """Energy that the impulses put in, over what they turn around."""
    total, size = 0.0, 1e-300
    for i in range(c.active[0]):
        for k in range(3):
            before, after = s.before[i, k], velocity(c, i, k)
            total += 0.5 * c.p[i, k] * (before + after)
            size += 0.5 * abs(c.p[i, k]) * (abs(before) + abs(after))
    return total / size


@compiled
def drop_locked(s: Scene, c: Cones) -> None:
    """Leave out contacts that nothing can move."""
    kept = 0
    for i in range(c.active[0]):
        if not c.local[i, 0] > 0.0:
            continue
        if kept != i:
            s.found[kept], s.owner[kept], s.gap[kept] = s.found[i], s.owner[i], s.gap[i]
            for k in range(PLACE):
                s.place[kept, k] = s.place[i, k]
        kept += 1
    if kept != c.active[0]:
        c.active[0] = kept
        assemble(s, c, 3)


@compiled
def strike(s: Scene, c: Cones, h: float) -> None:
    """The impulses of the step; energy that Newton's law with friction would gain is taken by less restitution."""
    assemble(s, c, 3)
    drop_locked(s, c)
    prepare_contacts(s, c, h)
    made = solve_cones(c, TOLERANCE)
    lowered = 0
    if gained(s, c) > GAIN:
        made += solve_cones(c, TIGHT)
    while lowered < EIGHTHS and gained(s, c) > max(GAIN, RESIDUALS * c.told[RESIDUAL]):
        share = (EIGHTHS - 1.0 - lowered) / (EIGHTHS - lowered)
        bouncing = False
        for i in range(c.active[0]):
            if c.bound[i] > 0.0:
                bouncing = True
                c.bound[i] *= share
        if not bouncing:
            break
        lowered += 1
        made += solve_cones(c, TIGHT)
    s.counters[LIMITED] = 0
    if lowered > 0:
        s.counters[LIMITED] = 1
        s.told[LOWERED] += 1.0
    s.told[WORST] = max(s.told[WORST], c.told[RESIDUAL])
    s.told[ITERATIONS] += float(made)
    s.told[ACTIVE] += float(c.active[0])
    s.told[SOLVED] += 1.0
    if c.told[RESIDUAL] >= TOLERANCE:
        s.told[UNSOLVED] += 1.0


@compiled
def remember(s: Scene, c: Cones, h: float) -> None:
    """Forces of contacts that last, records of those that struck, and impulses for the next step."""
    for i in range(s.counters[RECENT]):
        for k in range(3):
            s.memory[s.recent[i], k] = 0.0
            s.forces[s.recent[i], k] = 0.0
    s.counters[RECENT] = c.active[0]
    struck = False
    lost, energy = 0.0, 0.0
    for i in range(c.active[0]):
        number = s.found[i]
        s.recent[i] = number
        for k in range(3):
            world = 0.0
            for m in range(3):
                world += c.p[i, m] * s.place[i, 3 * m + k]
            s.memory[number, k] = world
            if s.struck[i] == 0:
                s.forces[number, k] = world / h
        if s.struck[i] == 1 and c.p[i, 0] > 0.0:
            struck = True
            record = s.counters[RECORDS]
            s.records[record, CONTACT] = float(number)
            for k in range(3):
                s.records[record, R_POINT + k] = s.place[i, POINT_A + k]
                s.records[record, R_NORMAL + k] = s.place[i, k]
                rub = c.p[i, 1] * s.place[i, 3 + k] + c.p[i, 2] * s.place[i, 6 + k]
                s.records[record, R_FRICTION + k] = rub
                lost -= 0.5 * c.p[i, k] * (s.before[i, k] + velocity(c, i, k))
            s.records[record, R_IMPULSE] = c.p[i, 0]
            s.records[record, R_BEFORE] = s.before[i, 0]
            s.records[record, R_AFTER] = velocity(c, i, 0)
            s.counters[RECORDS] += 1
    if struck:
        q, n = s.sizes[POSITIONS], s.sizes[SPEEDS]
        row = s.counters[IMPACTS]
        s.impacts[row, 0] = s.x[0]
        s.impacts[row, 1] = float(s.counters[RECORDS])
        for i in range(q):
            s.impacts[row, 2 + i] = s.x[1 + i]
        for i in range(n):
            s.impacts[row, 2 + q + i] = s.speeds[MINUS, i]
            s.impacts[row, 2 + q + n + i] = s.speeds[U, i]
        for k in range(s.places.shape[0]):
            i, j = s.places[k, 0], s.places[k, 1]
            share = 1.0
            if i == j:
                share = 0.5
            energy += share * s.y[k] * s.speeds[MINUS, i] * s.speeds[MINUS, j]
        s.impacts[row, 2 + q + 2 * n] = energy
        s.impacts[row, 3 + q + 2 * n] = lost
        s.impacts[row, 4 + q + 2 * n] = float(s.counters[LIMITED])
        s.counters[IMPACTS] += 1


@compiled
def step(s: Scene, c: Cones, h: float) -> None:
    """One step of h seconds."""
    q, n = s.sizes[POSITIONS], s.sizes[SPEEDS]
    for i in range(n):
        s.speeds[U, i] = s.x[1 + q + i]
    call(s.addresses[RATES], s.x, s.rates)
    for i in range(q):
        s.x[1 + i] += 0.5 * h * s.rates[i]
    s.x[0] += 0.5 * h
    close_loops(s)
    for i in range(n):
        s.speeds[TRIAL, i] = 0.0
        s.speeds[MINUS, i] = s.speeds[U, i]
    accelerate(s, TRIAL, A0)
    turn_speeds(s, MINUS, 0.5 * h)
    weigh(s)
    frame_speeds(s, h)
    deepest = free_positions(s, c, h)
    s.told[DEEPEST] = min(s.told[DEEPEST], deepest)
    if c.active[0] > 0:
        strike(s, c, h)
        for i in range(n):
            s.speeds[U, i] = c.u[i]
    else:
        for i in range(n):
            s.speeds[U, i] = s.speeds[MINUS, i] + h * s.speeds[A0, i]
    remember(s, c, h)
    turn_speeds(s, U, 0.5 * h)
    put_speeds(s, U)
    # The second half of the positions ends where the speeds do: by a first guess, then with the rates there.
    call(s.addresses[RATES], s.x, s.rates)
    for i in range(q):
        s.resting[i] = s.x[1 + i]
        s.x[1 + i] += 0.5 * h * s.rates[i]
    s.x[0] += 0.5 * h
    call(s.addresses[RATES], s.x, s.rates)
    for i in range(q):
        s.x[1 + i] = s.resting[i] + 0.5 * h * s.rates[i]
    close_loops(s)


@entry
def advance(s: Scene, c: Cones, h: float, steps: int, margin: float) -> int:
    """Up to so many steps; the number made. It ends early where records are full or loops need other speeds."""
    for k in range(steps):
        step(s, c, h)
        room = s.records.shape[0] - s.counters[RECORDS]
        if room < s.memory.shape[0] or s.counters[IMPACTS] == s.impacts.shape[0] or s.told[MARGIN] < margin:
            return k + 1
        if not math.isfinite(s.x[1]):
            return k + 1
    return steps


@entry
def near(s: Scene, c: Cones, h: float) -> int:
    """Look for the contacts that are near, and leave the state as it is."""
    for i in range(s.sizes[SPEEDS]):
        s.speeds[MINUS, i] = s.x[1 + s.sizes[POSITIONS] + i]
        s.speeds[A0, i] = 0.0
    weigh(s)
    frame_speeds(s, h)
    locate(s, c, h)
    return 0


@entry
def clear(s: Scene, c: Cones, h: float) -> int:
    """Take overlaps out of the state, and note the smallest gap over its length."""
    for i in range(s.sizes[SPEEDS]):
        s.speeds[U, i] = s.x[1 + s.sizes[POSITIONS] + i]
        s.speeds[MINUS, i] = s.speeds[U, i]
        s.speeds[A0, i] = 0.0
    weigh(s)
    frame_speeds(s, h)
    s.told[DEEPEST] = min(s.told[DEEPEST], free_positions(s, c, h))
    put_speeds(s, U)
    return 0
