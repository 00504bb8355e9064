"""One step of Moreau's scheme in the joint coordinates of a mechanism, compiled.

From (q, u) at t, with theta = 1/2: half a step of positions; half of the gyroscopic and other terms of the speeds; the
forces, and with them the impulses of all contacts, in the middle; the other halves in the reverse order. So motion
between impacts is of second order, with contacts that last too: their laws hold for velocities at the ends of the step
(:func:`turn_contacts`). Contacts are looked for in the middle of the step, and hold from there to the middle
of the next one: a gap g may close at most at the speed g / h. No body enters another so, but for what it turns
within a step; that is taken out of the positions, nearest in the metric of the masses. First-order states z
follow z-dot = f by exponentials of their own slopes df/dz (:func:`relax`). Restitution after Newton acts
where the gap closes within the step. Contact impulses p change the energy by p (v + v') / 2, with v and v' before and
after.

Sources: Moreau (1988), "Unilateral contact and dry friction in finite freedom dynamics"; Jean (1999), "The non-smooth
contact dynamics method"; Acary, Brogliato (2008), "Numerical Methods for Nonsmooth Dynamical Systems", 10.1.
Differs in: gaps that close within the step count from its middle, instead of those that are closed there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bellcrank.impacts.broad_phase import Broad, candidates
from bellcrank.impacts.changes import APART, LOGGED, SLIPS, STICKS, Changes, end_step, see_contact
from bellcrank.impacts.colliders import Collider, Frames, Rule, apart, frame_speeds, surface_speed
from bellcrank.impacts.cones import (
    CONTACTS,
    RESIDUAL,
    SINGULAR,
    Cones,
    solve_cones,
    trace,
    velocity,
)
from bellcrank.impacts.cones import ITERATIONS as SOLVER_ITERATIONS
from bellcrank.impacts.elimination import padded
from bellcrank.impacts.meeting import POSE, SPOT, TWIST
from bellcrank.impacts.patches import MOVED, WITHIN
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, Records, call, call_at, compiled, entry

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
STEADY = 0.1
"""Difference of two changes, from step to step, over the last one, up to which they are those of a smooth motion: there
it is of the order of the step."""
EIGHTHS = 8
"""Steps in which restitution is lowered where Newton's law with friction would raise the energy, or contradict it."""
CONTRADICTED = 1e-3
"""Residual, half of the digits asked for, above which there are no impulses to be found: what is wedged between rough
walls cannot leave both, as restitution asks. Of forty bodies in a funnel with a friction of 10 and a restitution of 0.5
one step in eighty stays unsolved, by 4e-2 at most, where it was one in seven, by up to 0.7."""
GAIN, TIGHT = 1e-9, 1e-10
"""Energy gained over that turned around that counts as none, and the residual to which impulses are found before a gain
is believed; a gain of a few residuals is theirs."""
RESIDUALS = 10.0
ONE_FACE = 1.0 - 1e-12
"""Cosine between the normals of contacts of one face."""
FEATURES, RESISTANCE = 1 << 24, 1 << 23
"""More than the spots of any two shapes and four times the points of any surface, which number the contacts of a pair;
what is added for the resistance of a contact."""
WITHIN_CONE = 1.0 - 1e-9
"""Friction over its bound up to which an impulse lies inside Coulomb's cone; impulses on it are projected there."""
FAR = 1e30
"""Gap of an entry that has none [m]."""

U, A0, A, MINUS, START, TRIAL, SCRATCH, ROWS = range(8)
"""Rows of speeds: at the beginning of the step, accelerations without and with velocities, before impulses."""
POINT, PLACE = 9, 12
FRICTION, RESTITUTION, ROLLING, SPINNING, LAW = range(5)
"""Of a rule: Coulomb's coefficient, e, and lengths of resistance [m]."""
LAWS = (
    ("friction", math.inf),
    ("restitution", 1.0),
    ("rolling_resistance", math.inf),
    ("spinning_resistance", math.inf),
)
"""What the user calls them, and the largest they may be."""
WORST, ITERATIONS, ACTIVE, DEEPEST, UNSOLVED, LOWERED, MARGIN, SOLVED, FASTEST, FAST, STATISTICS = range(11)
"""Of all steps: largest residual, iterations, contacts, smallest gap over the length, steps whose residual is above the
tolerance, steps with restitution lowered, smallest margin of the loops, steps with contacts,
the fastest vibration of a first-order state with the speeds [rad/s], and the number of that state."""
IMPACTS, STRUCK, RECENT, LIMITED, FULL, COUNTERS = range(6)
STEP, LOOK, CLEAR = range(3)
"""What an entry does: steps; look for contacts and leave the state as it is; take overlaps out of the state."""


class Programs(NamedTuple):
    """Addresses of kernels: rates, frames with mass matrix, and positions back onto loops and loads that follow the
    reactions of joints, or 0."""

    rates: int
    frames: int
    project: int
    loads: int


class Carried(NamedTuple):
    """Loads that follow the reactions of joints, with the contact forces of the step before.

    follows: Of each first-order state the output that it is, or -1. places: Of each frame its place among those of
    colliding groups, or -1. x, y: Input and output of the program of loads.
    """

    follows: Ints
    places: Ints
    x: Reals
    y: Reals


class Pair(NamedTuple):
    """Two shapes of a contact of the model: the colliders, its rule, its first contact and where its inputs begin.

    turned: Place of the counted angle of a stop among the outputs of the program of frames, or -1.
    """

    a: int
    b: int
    rule: int
    first: int
    inputs: int
    turned: int


class Near(NamedTuple):
    """The contacts that are near in a step.

    key: Of pair and spot, the same from step to step. number: Of the contact of the model, or -1 where a group
    collides. a, b: Colliders. gap [m], and the length against which it is small. place: World axes, normal first, and
    the point where it acts. before: Velocity before the impulses, at the beginning of the step [m/s]. turn: What its
    velocity gains in half a step because its axes and its point move: as it was found, along the normal and then in
    world axes, and as it is used. struck: 1 where it bounces, 2 of a resistance
    to rolling and spinning where its contact, the entry before it, does. resists: 1 of such a resistance. seen, moved:
    When a contact was last looked at while overlaps are taken away, and when each node of the cones last moved. placed,
    still: Pose of each frame where contacts were last looked for, and 1 where it has not moved since.
    """

    key: Ints
    number: Ints
    a: Ints
    b: Ints
    rule: Ints
    gap: Reals
    length: Reals
    place: Reals2
    before: Reals2
    turn: Reals2
    half: Reals2
    struck: Ints
    resists: Ints
    seen: Ints
    moved: Ints
    placed: Reals2
    still: Ints


class Memory(NamedTuple):
    """World impulses of the contacts of the step before [N s], found by key.

    table: A hash table: number of the contact, -1 where empty. keys: Of these contacts. slots: Where they are in it.
    after: Velocities after the impulses, along the normal and then those across it in world axes. turn: As of
    :class:`Near`.
    """

    table: Ints
    keys: Ints
    slots: Ints
    impulse: Reals2
    after: Reals2
    turn: Reals2


class StruckContact(NamedTuple):
    """A contact that struck: impulse along the normal and in friction [N s], normal speed before and after [m/s]."""

    number: int
    a: int
    b: int
    point_x: float
    point_y: float
    point_z: float
    normal_x: float
    normal_y: float
    normal_z: float
    impulse: float
    friction_x: float
    friction_y: float
    friction_z: float
    before: float
    after: float


class Log(NamedTuple):
    """The record of steps.

    forces: World force of each contact of the model that lasts [N]. wrenches: Moment about the origin of the world
    and force on each frame, of the lasting contacts of colliding groups [N m, N]. impacts: [t, first record, energy
    before, energy lost, whether restitution was lowered, q, speeds before, speeds after]. struck: Contacts that struck.
    changes: Of contacts that last.
    """

    forces: Reals2
    wrenches: Reals2
    impacts: Reals2
    struck: Records[StruckContact]
    changes: Changes
    counters: Ints
    statistics: Reals


class Scene(NamedTuple):
    """A mechanism with contacts in one partition.

    q, n, states: Numbers of positions, of speeds, and of first-order states, the last of the positions.
    x: [t, q, u, p]. y: What the program of frames gives. places: Of the entries of the mass matrix, the speed (by
    nodes), the column within its node, and the speed of that column. factor: Cholesky's, of the mass matrix, node by
    node, with the inverse of its diagonal. block: The speeds by nodes. rules: Of the pairs of kinds of colliders. laws:
    Their numbers; varied: rule, number and place in y of those that parameters give. numbers: Sizes of colliders.
    inputs, spots: Of the kernel of a pair.
    """

    programs: Programs
    q: int
    n: int
    states: int
    x: Reals
    start: Reals
    rates: Reals
    resting: Reals
    beside: Reals
    slopes: Reals
    closed: Reals
    y: Reals
    speeds: Reals2
    places: Ints2
    factor: Reals2
    block: Ints
    carried: Carried
    frames: Frames
    colliders: Records[Collider]
    rules: Records[Rule]
    laws: Reals2
    varied: Ints2
    pairs: Records[Pair]
    broad: Broad
    numbers: Reals
    inputs: Reals
    spots: Reals
    near: Near
    memory: Memory
    cones: Cones
    log: Log


@compiled
def put_speeds(s: Scene, row: int) -> None:
    """One of the rows of speeds becomes that of the state."""
    for i in range(s.n):
        s.x[1 + s.q + i] = s.speeds[row, i]


@compiled
def accelerate(s: Scene, row: int, into: int) -> None:
    """Accelerations of the independent speeds without contacts, at the speeds of a row."""
    put_speeds(s, row)
    call(s.programs.rates, s.x, s.rates)
    for i in range(s.n):
        s.speeds[into, i] = s.rates[s.q + i]


@compiled
def close_loops(s: Scene) -> None:
    """Positions back onto loops, quaternions to unit length."""
    if s.programs.project == 0:
        return
    for _ in range(CLOSING):
        call(s.programs.project, s.x, s.closed)
        for i in range(s.q):
            s.x[1 + i] = s.closed[i]
        # Newton's step squares what was left, so the one after this residual is below rounding.
        if s.closed[s.q + s.n] < 1e-9:
            break
    s.log.statistics[MARGIN] = min(s.log.statistics[MARGIN], s.closed[s.q + s.n + 1])


@compiled
def see_vibration(s: Scene, h: float, k: int, moved: float) -> None:
    """How fast a first-order state vibrates with the speeds that it drives; `beside` holds the rates where it moved.

    With accelerations a, its rate f and d = da/dz: the frequency squared is -df/du d, the damping -d da/du d / d^2.
    The forces of a step and the halves of its damping are explicit: they are stable up to h w = 2 and h c = 4.
    """
    at, length, size = 1 + s.q, 0.0, 0.0
    for j in range(s.n):
        s.speeds[SCRATCH, j] = (s.beside[s.q + j] - s.rates[s.q + j]) / moved
        length = max(length, abs(s.speeds[SCRATCH, j]))
        size = max(size, abs(s.x[at + j]) + h * abs(s.rates[s.q + j]))
    if length == 0.0 or size == 0.0:
        return
    small = 1e-7 * size / length
    for j in range(s.n):
        s.speeds[TRIAL, j] = s.x[at + j]
        s.x[at + j] += small * s.speeds[SCRATCH, j]
    call(s.programs.rates, s.x, s.beside)
    i, along, square = s.q - s.states + k, 0.0, 0.0
    for j in range(s.n):
        s.x[at + j] = s.speeds[TRIAL, j]
        along += (s.beside[s.q + j] - s.rates[s.q + j]) / small * s.speeds[SCRATCH, j]
        square += s.speeds[SCRATCH, j] * s.speeds[SCRATCH, j]
    frequency = math.sqrt(max(0.0, -(s.beside[i] - s.rates[i]) / small))
    fastest = max(frequency, -0.5 * along / square)
    if fastest > s.log.statistics[FASTEST]:
        s.log.statistics[FASTEST] = fastest
        s.log.statistics[FAST] = k


@compiled
def find_slopes(s: Scene, h: float) -> None:
    """Slopes of the rates of first-order states by themselves, from one difference each, at the rates just taken."""
    for k in range(s.states):
        i = s.q - s.states + k
        value = s.x[1 + i]
        # A part of what the state is and becomes in the step, half way between rounding and the curve of its rate.
        moved = 1e-7 * (abs(value) + h * abs(s.rates[i]))
        s.slopes[k] = 0.0
        if moved > 0.0 and s.carried.follows[k] < 0:
            s.x[1 + i] = value + moved
            call(s.programs.rates, s.x, s.beside)
            s.slopes[k] = (s.beside[i] - s.rates[i]) / moved
            s.x[1 + i] = value
            see_vibration(s, h, k, moved)


@compiled
def follow(s: Scene) -> None:
    """Loads that follow reactions become those of the present state."""
    if s.programs.loads == 0:
        return
    carried, size, contacts = s.carried, len(s.x), s.log.forces.shape[0]
    for i in range(size):
        carried.x[i] = s.x[i]
    for i in range(size, len(carried.x)):
        carried.x[i] = 0.0
    for i in range(contacts):
        for k in range(3):
            carried.x[size + 3 * i + k] = s.log.forces[i, k]
    for i in range(s.log.wrenches.shape[0]):
        if carried.places[i] >= 0:
            for k in range(TWIST):
                carried.x[size + 3 * contacts + TWIST * carried.places[i] + k] += s.log.wrenches[i, k]
    call(s.programs.loads, carried.x, carried.y)
    for k in range(s.states):
        if carried.follows[k] >= 0:
            s.x[1 + s.q - s.states + k] = carried.y[carried.follows[k]]


@compiled
def relax(s: Scene, h: float) -> None:
    """Half a step of the first-order states from `resting`, with the rates just taken at the states in x.

    z(h) = z + (e^(a h) - 1) / a (f - a (z' - z)) with the slope a and the rate f at z': exact where the rate is linear
    in its state, of second order else, and bounded however fast the state decays. A state that grows is not smoothed.
    Loads that follow reactions are those of the new state.
    Source: Hochbruck, Ostermann (2010), "Exponential integrators", Acta Numerica 19, equation (2.31), with a diagonal.
    """
    for k in range(s.states):
        i = s.q - s.states + k
        a = min(s.slopes[k], 0.0)
        # e^x - 1 = 2 T / (1 - T), T = tanh(x / 2), without loss where x is small.
        bend = math.tanh(0.5 * a * h)
        share = h if a * h == 0.0 else 2.0 * bend / ((1.0 - bend) * a)
        if s.carried.follows[k] < 0:
            s.x[1 + i] = s.resting[i] + share * (s.rates[i] - a * (s.x[1 + i] - s.resting[i]))
    follow(s)


@compiled
def turn_speeds(s: Scene, row: int, h: float) -> None:
    """Half a step of all that depends on speeds, by the midpoint rule; h: The half step [s]."""
    accelerate(s, row, A)
    for i in range(s.n):
        s.speeds[TRIAL, i] = s.speeds[row, i] + 0.5 * h * (s.speeds[A, i] - s.speeds[A0, i])
    accelerate(s, TRIAL, A)
    for i in range(s.n):
        s.speeds[row, i] += h * (s.speeds[A, i] - s.speeds[A0, i])


@compiled
def weigh(s: Scene) -> None:
    """Poses, twists, the mass matrix and its Cholesky factor at the present positions."""
    call(s.programs.frames, s.x, s.y)
    for k in range(s.varied.shape[0]):
        s.laws[s.varied[k, 0], s.varied[k, 1]] = s.y[s.varied[k, 2]]
    c, L = s.cones, s.factor
    for k in range(s.places.shape[0]):
        c.mass[s.places[k, 0], s.places[k, 1]] = s.y[k]
    for node in range(len(c.first) - 1):
        at = c.first[node]
        for i in range(c.first[node + 1] - at):
            for j in range(i + 1):
                total = c.mass[at + i, j]
                for k in range(j):
                    total -= L[at + i, k] * L[at + j, k]
                if i == j:
                    L[at + i, i] = 1.0 / math.sqrt(total)
                else:
                    L[at + i, j] = total * L[at + j, j]


@compiled
def height(near: Near, i: int) -> float:
    """Of the point of a contact along its normal [m]."""
    p = near.place
    along: float = p[i, 0] * p[i, POINT] + p[i, 1] * p[i, POINT + 1] + p[i, 2] * p[i, POINT + 2]
    return along


@compiled
def level(near: Near, begin: int, end: int) -> None:
    """Move the points of a face into one plane across its normal.

    Both bodies feel a contact at the same point, so that friction has no moment of its own. Between corners with
    different gaps it lies at different heights; a face that tilts could then not stick at all of them.
    """
    total, p = 0.0, near.place
    for i in range(begin, end):
        across = p[i, 0] * p[begin, 0] + p[i, 1] * p[begin, 1] + p[i, 2] * p[begin, 2]
        if across < ONE_FACE:
            return
        total += height(near, i) / (end - begin)
    for i in range(begin, end):
        more = total - height(near, i)
        for k in range(3):
            p[i, POINT + k] += more * p[i, k]


@compiled
def add_resistance(near: Near, at: int) -> None:
    """The resistance of a contact as an entry behind it."""
    to = at + 1
    near.key[to], near.number[to], near.rule[to] = near.key[at] + RESISTANCE, near.number[at], near.rule[at]
    near.a[to], near.b[to] = near.a[at], near.b[at]
    near.gap[to], near.length[to], near.resists[to] = FAR, near.length[at], 1
    for k in range(PLACE):
        near.place[to, k] = near.place[at, k]


@compiled
def meet(s: Scene, h: float, a: int, b: int, rule: int, number: int, inputs: int) -> float:
    """Add the contacts of two colliders that may close within two steps; their smallest gap over the length."""
    r, near = s.rules[rule], s.near
    first, second = s.colliders[a], s.colliders[b]
    length = r.unit(first, second)
    within = 2.0 * h * surface_speed(s.frames, s.y, first, second) + NEAR * length
    deepest = 1.0
    if apart(s.frames, s.y, first, second, within):
        return deepest
    i, j = s.frames.first[first.frame], s.frames.first[second.frame]
    for k in range(POSE):
        s.inputs[inputs + k] = s.y[i + k]
        s.inputs[inputs + POSE + k] = s.y[j + k]
    if r.patch == 1:
        for k in range(TWIST):
            s.inputs[inputs + MOVED + k] = h * s.frames.twist[first.frame, k]
            s.inputs[inputs + MOVED + TWIST + k] = h * s.frames.twist[second.frame, k]
        s.inputs[inputs + WITHIN] = within
    elif number < 0:
        # Colliders alike share a kernel, which takes their sizes; its search knows nothing of this pair.
        place = inputs + 2 * POSE
        for k in range(first.sizes):
            s.inputs[place + k] = s.numbers[first.first + k]
        for k in range(second.sizes):
            s.inputs[place + first.sizes + k] = s.numbers[second.first + k]
        for k in range(r.warm):
            s.inputs[place + first.sizes + second.sizes + k] = -1.0
    call_at(r.kernel, s.inputs, inputs, s.spots, 0)
    pair, before = a * len(s.colliders) + b, s.cones.counts[CONTACTS]
    entries = 1
    if s.laws[rule, ROLLING] > 0.0 or s.laws[rule, SPINNING] > 0.0:
        entries = 2
    for spot in range(r.spots):
        gap = s.spots[SPOT * spot]
        if not gap < within:
            continue
        at = s.cones.counts[CONTACTS]
        if at + entries > len(near.gap):
            s.log.counters[FULL] = 1
            return deepest
        deepest = min(deepest, gap / length)
        near.length[at] = length
        feature = spot
        if r.patch == 1:
            feature = int(s.spots[SPOT * r.spots + spot])
        near.key[at], near.rule[at] = FEATURES * pair + feature, rule
        near.a[at], near.b[at] = a, b
        near.number[at] = -1
        if number >= 0:
            near.number[at] = number + spot
        near.gap[at] = gap
        axes = near.place
        n0, n1, n2 = s.spots[SPOT * spot + 1], s.spots[SPOT * spot + 2], s.spots[SPOT * spot + 3]
        t0, t1, t2 = 0.0, -n2, n1
        if abs(n0) > 0.7:
            t0, t1, t2 = -n1, n0, 0.0
        size = 1.0 / math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
        t0, t1, t2 = size * t0, size * t1, size * t2
        axes[at, 0], axes[at, 1], axes[at, 2] = n0, n1, n2
        axes[at, 3], axes[at, 4], axes[at, 5] = t0, t1, t2
        axes[at, 6], axes[at, 7] = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2
        axes[at, 8] = n0 * t1 - n1 * t0
        for k in range(3):
            axes[at, POINT + k] = 0.5 * (s.spots[SPOT * spot + 4 + k] + s.spots[SPOT * spot + 7 + k])
        near.resists[at] = 0
        if entries == 2:
            add_resistance(near, at)
        s.cones.counts[CONTACTS] += entries
    level(near, before, s.cones.counts[CONTACTS])
    return deepest


@compiled
def put(near: Near, to: int, at: int) -> None:
    """A contact takes another place."""
    near.key[to], near.number[to], near.rule[to] = near.key[at], near.number[at], near.rule[at]
    near.a[to], near.b[to], near.resists[to] = near.a[at], near.b[at], near.resists[at]
    near.gap[to], near.length[to] = near.gap[at], near.length[at]
    for k in range(PLACE):
        near.place[to, k] = near.place[at, k]


@compiled
def keep_still(s: Scene) -> float:
    """Keep the contacts of frames that have not moved since contacts were looked for; their smallest gap."""
    near, kept = s.near, 0
    for frame in range(len(near.still)):
        at = s.frames.first[frame]
        near.still[frame] = 1
        for k in range(POSE):
            if near.placed[frame, k] != s.y[at + k]:
                near.still[frame] = 0
                near.placed[frame, k] = s.y[at + k]
    deepest = 1.0
    for i in range(s.cones.counts[CONTACTS]):
        if is_still(s, near.a[i], near.b[i]):
            if near.resists[i] == 0:
                deepest = min(deepest, near.gap[i] / near.length[i])
            if kept != i:
                put(near, kept, i)
            kept += 1
    s.cones.counts[CONTACTS] = kept
    return deepest


@compiled
def is_still(s: Scene, a: int, b: int) -> bool:
    """Whether neither of two colliders has moved since contacts were looked for."""
    still = s.near.still
    rest: bool = still[s.colliders[a].frame] == 1 and still[s.colliders[b].frame] == 1
    return rest


@compiled
def locate(s: Scene, h: float) -> float:
    """The contacts that may close within two steps; the smallest gap over the length of its pair."""
    deepest = keep_still(s)
    for k in range(len(s.pairs)):
        pair = s.pairs[k]
        if is_still(s, pair.a, pair.b):
            continue
        if pair.turned >= 0:
            s.inputs[pair.inputs + 2 * POSE] = s.y[pair.turned]
        deepest = min(deepest, meet(s, h, pair.a, pair.b, pair.rule, pair.first, pair.inputs))
    found = candidates(s.broad, s.frames, s.y, s.colliders, 2.0 * h, NEAR)
    if found > s.broad.found.shape[0]:
        s.log.counters[FULL] = 1
        return deepest
    for k in range(found):
        a, b = s.broad.found[k, 0], s.broad.found[k, 1]
        if is_still(s, a, b):
            continue
        if s.colliders[a].kind > s.colliders[b].kind:
            a, b = b, a
        rule = s.broad.rule[s.colliders[a].kind, s.colliders[b].kind]
        # Searches of colliding groups begin anew: their memory is that behind the last pair.
        deepest = min(deepest, meet(s, h, a, b, rule, -1, s.broad.inputs))
    return deepest


@compiled
def forget_places(s: Scene) -> None:
    """Look for all contacts anew."""
    s.cones.counts[CONTACTS] = 0
    for frame in range(len(s.near.still)):
        s.near.placed[frame, 0] = math.inf


@compiled
def add_side(s: Scene, i: int, k: int, collider: int, row: int, sign: float) -> None:
    """One side of a contact in its direction k."""
    c, near = s.cones, s.near
    frame = s.colliders[collider].frame
    at, begin, end = s.frames.first[frame], s.frames.begin[frame], s.frames.begin[frame + 1]
    d0, d1, d2 = near.place[i, 3 * k], near.place[i, 3 * k + 1], near.place[i, 3 * k + 2]
    x, y, z = (
        near.place[i, POINT] - s.y[at + 9],
        near.place[i, POINT + 1] - s.y[at + 10],
        near.place[i, POINT + 2] - s.y[at + 11],
    )
    if s.rules[near.rule[i]].couple == 1:
        # About the joint, the point of which is the origin of b.
        at_b = s.frames.first[s.colliders[near.b[i]].frame]
        x, y, z = (
            near.place[i, POINT] - s.y[at_b + 9],
            near.place[i, POINT + 1] - s.y[at_b + 10],
            near.place[i, POINT + 2] - s.y[at_b + 11],
        )
    m0, m1, m2 = y * d2 - z * d1, z * d0 - x * d2, x * d1 - y * d0
    if s.rules[near.rule[i]].couple == 1:
        d0, d1, d2 = 0.0, 0.0, 0.0
    if near.resists[i] == 1:
        m0, m1, m2 = near.length[i] * d0, near.length[i] * d1, near.length[i] * d2
        d0, d1, d2 = 0.0, 0.0, 0.0
    along = s.spots
    along[0], along[1], along[2] = sign * m0, sign * m1, sign * m2
    along[3], along[4], along[5] = sign * d0, sign * d1, sign * d2
    for j in range(TWIST):
        c.drift[i, k] += along[j] * s.y[at + POSE + j]
    for e in range(begin, end):
        value = s.y[at + POSE + TWIST + e - begin]
        c.rows[row, s.frames.twists[e, 2]] += along[s.frames.twists[e, 0]] * value


@compiled
def divide_by_mass(s: Scene, row: int, node: int) -> None:
    """A column M^-1 J^T of a contact from its row."""
    c, at = s.cones, s.cones.first[node]
    size = c.first[node + 1] - at
    for a in range(size):
        total = c.rows[row, a]
        for b in range(a):
            total -= s.factor[at + a, b] * c.columns[row, b]
        c.columns[row, a] = total * s.factor[at + a, a]
    for step in range(size):
        a = size - 1 - step
        c.columns[row, a] *= s.factor[at + a, a]
        for b in range(a):
            c.columns[row, b] -= s.factor[at + a, b] * c.columns[row, a]


@compiled
def find_nodes(s: Scene) -> None:
    """The nodes that contacts join."""
    c, near = s.cones, s.near
    for i in range(c.counts[CONTACTS]):
        a, b = s.frames.node[s.colliders[near.a[i]].frame], s.frames.node[s.colliders[near.b[i]].frame]
        c.node[i, 0], c.node[i, 1] = a, b
        # Two links of one mechanism have one row over all its speeds.
        if a == b:
            c.node[i, 1] = -1


@compiled
def assemble(s: Scene, i: int, directions: int) -> None:
    """Rows, columns and drift of a contact, along the normal alone or along the tangents too."""
    c, near = s.cones, s.near
    shift = 3
    if s.frames.node[s.colliders[near.a[i]].frame] == s.frames.node[s.colliders[near.b[i]].frame]:
        shift = 0
    for side in range(2):
        node = c.node[i, side]
        if node >= 0:
            for k in range(directions):
                for m in range(padded(c.first[node + 1] - c.first[node])):
                    c.rows[6 * i + 3 * side + k, m] = 0.0
    for k in range(directions):
        c.drift[i, k] = 0.0
        add_side(s, i, k, near.a[i], 6 * i + k, -1.0)
        add_side(s, i, k, near.b[i], 6 * i + shift + k, 1.0)
    for k in range(6):
        c.local[i, k] = 0.0
    for side in range(2):
        node = c.node[i, side]
        if node < 0:
            continue
        row = 6 * i + 3 * side
        for k in range(directions):
            divide_by_mass(s, row + k, node)
        at = 0
        for k in range(directions):
            for m in range(k, directions):
                total = 0.0
                for n in range(c.first[node + 1] - c.first[node]):
                    total += c.rows[row + k, n] * c.columns[row + m, n]
                c.local[i, at] += total
                at += 1
    if directions == 3:
        lift = SINGULAR * (c.local[i, 0] + c.local[i, 3] + c.local[i, 5])
        c.local[i, 3] += lift
        c.local[i, 5] += lift
        if near.resists[i] == 1:
            c.local[i, 0] += lift


@compiled
def assemble_all(s: Scene) -> None:
    """Rows, columns and drifts of the contacts that are near."""
    find_nodes(s)
    for i in range(s.cones.counts[CONTACTS]):
        assemble(s, i, 3)


@compiled
def normal_speed(c: Cones, i: int) -> float:
    """Along the normal of a contact, without drift [m/s, or m of a displacement]."""
    speed: float = velocity(c, i, 0) - c.drift[i, 0]
    return speed


@compiled
def move_apart(s: Scene) -> None:
    """Displacements after which no contact overlaps, by sweeps.

    A contact is looked at where it overlaps at first or its bodies have moved since, and has rows from then on.
    """
    c, near = s.cones, s.near
    find_nodes(s)
    for i in range(s.n):
        c.u[i] = 0.0
    for node in range(len(near.moved)):
        near.moved[node] = 0
    for i in range(c.counts[CONTACTS]):
        c.p[i, 0] = 0.0
        near.seen[i] = 0
        if near.gap[i] < 0.0:
            near.seen[i] = -1
    looks = 0
    for _ in range(CORRECTION_SWEEPS):
        largest = 0.0
        for i in range(c.counts[CONTACTS]):
            latest = 0
            for side in range(2):
                if c.node[i, side] >= 0:
                    latest = max(latest, near.moved[c.node[i, side]])
            if latest <= near.seen[i]:
                continue
            if near.seen[i] <= 0:
                assemble(s, i, 1)
            looks += 1
            near.seen[i] = looks
            if not c.local[i, 0] > 0.0:
                continue
            left = near.gap[i] + normal_speed(c, i)
            wanted = max(0.0, c.p[i, 0] - left / c.local[i, 0])
            more = wanted - c.p[i, 0]
            if more == 0.0:
                continue
            largest = max(largest, abs(more) * c.local[i, 0] / near.length[i])
            c.p[i, 0] = wanted
            for side in range(2):
                node = c.node[i, side]
                if node >= 0:
                    near.moved[node] = looks
                    for a in range(c.first[node + 1] - c.first[node]):
                        c.u[c.first[node] + a] += more * c.columns[6 * i + 3 * side, a]
        if largest < 0.2 * INSIDE:
            break


@compiled
def free_positions(s: Scene, h: float, corrections: int) -> float:
    """Positions without overlaps, nearest in the metric of the masses; the smallest gap left over its length."""
    c = s.cones
    forget_places(s)
    deepest = 1.0
    for made in range(corrections + 1):
        deepest = locate(s, h)
        if deepest >= -INSIDE or s.log.counters[FULL] > 0 or made == corrections:
            break
        move_apart(s)
        for i in range(s.n):
            s.speeds[TRIAL, i] = 0.0
            s.speeds[SCRATCH, s.block[i]] = c.u[i]
        put_speeds(s, TRIAL)
        call(s.programs.rates, s.x, s.resting)
        put_speeds(s, SCRATCH)
        call(s.programs.rates, s.x, s.rates)
        # First-order states stay: a correction takes no time.
        for i in range(s.q - s.states):
            s.x[1 + i] += s.rates[i] - s.resting[i]
        close_loops(s)
        weigh(s)
    return deepest


@compiled
def remembered(memory: Memory, key: int) -> int:
    """Where in the hash table a key is, or the empty place where it belongs."""
    size = len(memory.table)
    # A multiplier near the golden part of the size spreads keys that follow each other.
    at = key % size * 40503 % size
    while memory.table[at] >= 0 and memory.keys[memory.table[at]] != key:
        at = (at + 1) % size
    return at


@compiled
def turn_contacts(s: Scene) -> None:
    """Let the laws of contacts see the velocities at both ends of the step, where those at its middle are known.

    With the same speeds, the velocity of a contact changed from the middle of the step before to that of this one
    because its axes and its point moved. Half of it leads from the beginning of the step to its middle, and half on to
    its end: so contacts that last are of second order. Changes that are not steady do not count: where contacts jump
    from feature to feature, or others strike.
    """
    c, near, memory = s.cones, s.near, s.memory
    for i in range(c.counts[CONTACTS]):
        at = memory.table[remembered(memory, near.key[i])]
        for k in range(4):
            near.turn[i, k] = 0.0
        for k in range(3):
            near.half[i, k] = 0.0
        if at < 0:
            continue
        near.turn[i, 0] = near.before[i, 0] - memory.after[at, 0]
        if abs(near.turn[i, 0] - memory.turn[at, 0]) <= STEADY * abs(near.turn[i, 0]):
            near.half[i, 0] = 0.5 * near.turn[i, 0]
        size, change = 0.0, 0.0
        for k in range(3):
            found = near.before[i, 1] * near.place[i, 3 + k] + near.before[i, 2] * near.place[i, 6 + k]
            found -= memory.after[at, 1 + k]
            size += found * found
            change += (found - memory.turn[at, 1 + k]) * (found - memory.turn[at, 1 + k])
            near.turn[i, 1 + k] = found
        if change <= STEADY * STEADY * size:
            for k in range(1, 3):
                for m in range(3):
                    near.half[i, k] += 0.5 * near.turn[i, 1 + m] * near.place[i, 3 * k + m]
        for k in range(3):
            near.before[i, k] -= near.half[i, k]
            c.drift[i, k] += near.half[i, k]


@compiled
def prepare_contacts(s: Scene, h: float) -> None:
    """Velocities before, who bounces, the least normal speeds, and the impulses of the step before as a guess."""
    c, near = s.cones, s.near
    for i in range(s.n):
        c.free[i] = s.speeds[MINUS, s.block[i]] + h * s.speeds[A0, s.block[i]]
        c.u[i] = s.speeds[MINUS, s.block[i]]
    for i in range(c.counts[CONTACTS]):
        for k in range(3):
            near.before[i, k] = velocity(c, i, k)
    turn_contacts(s)
    for i in range(s.n):
        c.u[i] = c.free[i]
    for i in range(c.counts[CONTACTS]):
        rule, before = s.rules[near.rule[i]], near.before[i, 0]
        # Gaps close up to the accuracy of positions, and are closed within twice of it: so the noise of those that
        # rest there does not decide how they share a load, nor contradict contacts that stick beside them.
        gap = near.gap[i] - INSIDE * near.length[i]
        if gap < INSIDE * near.length[i]:
            gap = 0.0
        closes = gap + h * velocity(c, i, 0) <= 0.0
        near.struck[i] = 0
        c.bound[i] = -gap / h
        c.resists[i] = near.resists[i]
        a, b = s.colliders[near.a[i]].frame, s.colliders[near.b[i]].frame
        added = max(s.frames.moved[a, 3], s.frames.moved[b, 3])
        if near.resists[i] == 1:
            c.bound[i] = 0.0
            c.limits[i, 0] = s.laws[near.rule[i], SPINNING] / near.length[i]
            c.limits[i, 1] = s.laws[near.rule[i], ROLLING] / near.length[i]
            near.struck[i] = 2 * near.struck[i - 1]
        elif closes and -before > max(
            RESTING * added, QUIET * (rule.speed + rule.fall * math.sqrt(near.length[i]))
        ):
            near.struck[i] = 1
            if s.laws[near.rule[i], RESTITUTION] > 0.0:
                c.bound[i] = -s.laws[near.rule[i], RESTITUTION] * before
        c.friction[i] = s.laws[near.rule[i], FRICTION]
        at = s.memory.table[remembered(s.memory, near.key[i])]
        for k in range(3):
            c.p[i, k] = 0.0
            if at >= 0:
                for m in range(3):
                    c.p[i, k] += near.place[i, 3 * k + m] * s.memory.impulse[at, m]


@compiled
def gained(s: Scene) -> float:
    """Energy that the impulses put in, over what they turn around."""
    c, near = s.cones, s.near
    total, size = 0.0, 1e-300
    for i in range(c.counts[CONTACTS]):
        for k in range(3):
            before, after = near.before[i, k], velocity(c, i, k)
            total += 0.5 * c.p[i, k] * (before + after)
            size += 0.5 * abs(c.p[i, k]) * (abs(before) + abs(after))
    return total / size


@compiled
def drop_locked(s: Scene) -> None:
    """Leave out contacts that nothing can move."""
    c, near = s.cones, s.near
    kept = 0
    for i in range(c.counts[CONTACTS]):
        if near.resists[i] == 1:
            # It stays with its contact; what nothing can turn needs none.
            if kept == 0 or near.key[kept - 1] + RESISTANCE != near.key[i] or not trace(c, i) > 0.0:
                continue
        elif not c.local[i, 0] > 0.0:
            continue
        if kept != i:
            put(near, kept, i)
        kept += 1
    if kept != c.counts[CONTACTS]:
        c.counts[CONTACTS] = kept
        assemble_all(s)


@compiled
def bounce_less(c: Cones, share: float, missed: float) -> bool:
    """Leave contacts of islands that miss more a share of their restitution; whether there are any that bounce."""
    found = False
    for i in range(c.counts[CONTACTS]):
        worst = 0.0
        for side in range(2):
            if c.node[i, side] >= 0:
                worst = max(worst, c.missed[c.node[i, side]])
        if c.bound[i] > 0.0 and worst > missed:
            c.bound[i] *= share
            found = True
    return found


@compiled
def strike(s: Scene, h: float) -> None:
    """The impulses of the step; restitution is lowered where Newton's law with friction gains energy or contradicts."""
    c, statistics = s.cones, s.log.statistics
    assemble_all(s)
    drop_locked(s)
    prepare_contacts(s, h)
    c.statistics[SOLVER_ITERATIONS] = 0.0
    lowered = 0
    tolerance = TOLERANCE
    solving = True
    while solving:
        solve_cones(c, tolerance)
        gain = gained(s)
        solving = False
        if gain > GAIN and tolerance > TIGHT:
            tolerance = TIGHT
            solving = True
        elif lowered < EIGHTHS:
            share = (EIGHTHS - 1.0 - lowered) / (EIGHTHS - lowered)
            if gain > max(GAIN, RESIDUALS * c.statistics[RESIDUAL]):
                solving = bounce_less(c, share, -1.0)
            elif c.statistics[RESIDUAL] > CONTRADICTED:
                solving = bounce_less(c, share, CONTRADICTED)
            if solving:
                lowered += 1
    s.log.counters[LIMITED] = 0
    if lowered > 0:
        s.log.counters[LIMITED] = 1
        statistics[LOWERED] += 1.0
    statistics[WORST] = max(statistics[WORST], c.statistics[RESIDUAL])
    statistics[ITERATIONS] += c.statistics[SOLVER_ITERATIONS]
    statistics[ACTIVE] += float(c.counts[CONTACTS])
    statistics[SOLVED] += 1.0
    if c.statistics[RESIDUAL] >= TOLERANCE:
        statistics[UNSOLVED] += 1.0


@compiled
def bear(s: Scene, i: int, collider: int, x: float, y: float, z: float) -> None:
    """The force of a contact on one of its frames, and its moment."""
    frame, w = s.colliders[collider].frame, s.log.wrenches
    a, b, d = s.near.place[i, POINT], s.near.place[i, POINT + 1], s.near.place[i, POINT + 2]
    w[frame, 0] += b * z - d * y
    w[frame, 1] += d * x - a * z
    w[frame, 2] += a * y - b * x
    w[frame, 3] += x
    w[frame, 4] += y
    w[frame, 5] += z


@compiled
def bear_moment(s: Scene, collider: int, length: float, x: float, y: float, z: float) -> None:
    """The moment of a resistance on one of its frames: a force times a length."""
    frame, w = s.colliders[collider].frame, s.log.wrenches
    w[frame, 0] += length * x
    w[frame, 1] += length * y
    w[frame, 2] += length * z


@compiled
def remember(s: Scene, h: float) -> None:
    """Forces of contacts that last, records of those that struck, and impulses for the next step."""
    c, near, memory, log = s.cones, s.near, s.memory, s.log
    for i in range(log.counters[RECENT]):
        memory.table[memory.slots[i]] = -1
    for i in range(log.forces.shape[0]):
        for k in range(3):
            log.forces[i, k] = 0.0
    for i in range(log.wrenches.shape[0]):
        for k in range(TWIST):
            log.wrenches[i, k] = 0.0
    contacts = c.counts[CONTACTS]
    log.counters[RECENT] = 0
    for i in range(contacts):
        slot = remembered(memory, near.key[i])
        memory.keys[i], memory.slots[i] = near.key[i], slot
        memory.table[slot] = i
        log.counters[RECENT] += 1
        for k in range(3):
            world = 0.0
            for m in range(3):
                world += c.p[i, m] * near.place[i, 3 * m + k]
            memory.impulse[i, k] = world
        y, z = velocity(c, i, 1) - near.half[i, 1], velocity(c, i, 2) - near.half[i, 2]
        memory.after[i, 0] = velocity(c, i, 0) - near.half[i, 0]
        for k in range(3):
            memory.after[i, 1 + k] = y * near.place[i, 3 + k] + z * near.place[i, 6 + k]
        for k in range(4):
            memory.turn[i, k] = near.turn[i, k]
        if near.struck[i] == 0:
            x, y, z = memory.impulse[i, 0] / h, memory.impulse[i, 1] / h, memory.impulse[i, 2] / h
            number = near.number[i]
            if near.resists[i] == 1:
                bear_moment(s, near.a[i], -near.length[i], x, y, z)
                bear_moment(s, near.b[i], near.length[i], x, y, z)
            elif number >= 0:
                log.forces[number, 0], log.forces[number, 1], log.forces[number, 2] = x, y, z
            else:
                bear(s, i, near.a[i], -x, -y, -z)
                bear(s, i, near.b[i], x, y, z)


@compiled
def note_impacts(s: Scene) -> None:
    """Records of the contacts that struck."""
    c, near, log = s.cones, s.near, s.log
    struck = False
    lost, energy = 0.0, 0.0
    for i in range(c.counts[CONTACTS]):
        if near.struck[i] == 2 or (near.struck[i] == 1 and c.p[i, 0] > 0.0):
            for k in range(3):
                lost -= 0.5 * c.p[i, k] * (near.before[i, k] + velocity(c, i, k))
        if near.struck[i] == 1 and c.p[i, 0] > 0.0:
            struck = True
            place = near.place
            log.struck[log.counters[STRUCK]] = StruckContact(
                near.number[i],
                near.a[i],
                near.b[i],
                place[i, POINT],
                place[i, POINT + 1],
                place[i, POINT + 2],
                place[i, 0],
                place[i, 1],
                place[i, 2],
                c.p[i, 0],
                c.p[i, 1] * place[i, 3] + c.p[i, 2] * place[i, 6],
                c.p[i, 1] * place[i, 4] + c.p[i, 2] * place[i, 7],
                c.p[i, 1] * place[i, 5] + c.p[i, 2] * place[i, 8],
                near.before[i, 0],
                velocity(c, i, 0),
            )
            log.counters[STRUCK] += 1
    if not struck:
        return
    row = log.impacts[log.counters[IMPACTS]]
    for k in range(s.places.shape[0]):
        i, j = s.places[k, 0], s.places[k, 2]
        share = 1.0
        if i == j:
            share = 0.5
        energy += share * s.y[k] * s.speeds[MINUS, s.block[i]] * s.speeds[MINUS, s.block[j]]
    row[0], row[1], row[2], row[3] = s.x[0], float(log.counters[STRUCK]), energy, lost
    row[4] = float(log.counters[LIMITED])
    for i in range(s.q):
        row[5 + i] = s.x[1 + i]
    for i in range(s.n):
        row[5 + s.q + i] = s.speeds[MINUS, i]
        row[5 + s.q + s.n + i] = s.speeds[U, i]
    log.counters[IMPACTS] += 1


@compiled
def note_changes(s: Scene) -> None:
    """Which contacts last, and stick or slip, in this step."""
    c, near, changes = s.cones, s.near, s.log.changes
    for i in range(c.counts[CONTACTS]):
        if near.resists[i] == 1:
            continue
        state = APART
        if c.p[i, 0] > 0.0 and near.struck[i] == 0:
            state = SLIPS
            friction = math.sqrt(c.p[i, 1] * c.p[i, 1] + c.p[i, 2] * c.p[i, 2])
            if friction < WITHIN_CONE * c.friction[i] * c.p[i, 0]:
                state = STICKS
        # Contacts of the model are known by their numbers, those of groups by their pairs, behind them.
        key = near.number[i]
        if key < 0:
            key = s.log.forces.shape[0] + near.key[i] // FEATURES
        see_contact(changes, key, near.number[i], near.a[i], near.b[i], state)
    end_step(changes, s.start[0])


@compiled
def step(s: Scene, h: float) -> None:
    """One step of h seconds; it ends half made where there is no room for its contacts."""
    c, q, n = s.cones, s.q, s.n
    for i in range(n):
        s.speeds[U, i] = s.x[1 + q + i]
    call(s.programs.rates, s.x, s.rates)
    find_slopes(s, h)
    for i in range(q):
        s.resting[i] = s.x[1 + i]
    for i in range(q - s.states):
        s.x[1 + i] += 0.5 * h * s.rates[i]
    relax(s, 0.5 * h)
    s.x[0] += 0.5 * h
    close_loops(s)
    for i in range(n):
        s.speeds[TRIAL, i] = 0.0
        s.speeds[MINUS, i] = s.speeds[U, i]
    accelerate(s, TRIAL, A0)
    turn_speeds(s, MINUS, 0.5 * h)
    weigh(s)
    for i in range(n):
        s.speeds[SCRATCH, i] = h * s.speeds[A0, i]
    frame_speeds(s.frames, s.y, s.speeds, MINUS, SCRATCH)
    deepest = free_positions(s, h, CORRECTIONS)
    if s.log.counters[FULL] > 0:
        return
    s.log.statistics[DEEPEST] = min(s.log.statistics[DEEPEST], deepest)
    for i in range(n):
        s.speeds[U, i] = s.speeds[MINUS, i] + h * s.speeds[A0, i]
    if c.counts[CONTACTS] > 0:
        strike(s, h)
        for i in range(n):
            s.speeds[U, s.block[i]] = c.u[i]
        note_impacts(s)
    remember(s, h)
    note_changes(s)
    turn_speeds(s, U, 0.5 * h)
    put_speeds(s, U)
    # The second half of the positions ends where the speeds do: by a first guess, then with the rates there.
    call(s.programs.rates, s.x, s.rates)
    find_slopes(s, h)
    for i in range(q):
        s.resting[i] = s.x[1 + i]
    for i in range(q - s.states):
        s.x[1 + i] += 0.5 * h * s.rates[i]
    relax(s, 0.5 * h)
    s.x[0] += 0.5 * h
    call(s.programs.rates, s.x, s.rates)
    for i in range(q - s.states):
        s.x[1 + i] = s.resting[i] + 0.5 * h * s.rates[i]
    relax(s, 0.5 * h)
    close_loops(s)


@compiled
def look(s: Scene) -> None:
    """Poses, and the speeds of frames without forces."""
    for i in range(s.n):
        s.speeds[U, i] = s.x[1 + s.q + i]
        s.speeds[MINUS, i] = s.speeds[U, i]
        s.speeds[SCRATCH, i] = 0.0
    weigh(s)
    frame_speeds(s.frames, s.y, s.speeds, MINUS, SCRATCH)


@entry
def advance(s: Scene, what: int, h: float, steps: int, margin: float) -> int:
    """Up to so many steps; the number made.

    It ends early where records are full or loops need other speeds. Where there is no room for the contacts of a step,
    the counter FULL says so, and the state is that before the step.
    """
    s.log.counters[FULL] = 0
    if what != STEP:
        look(s)
        corrections = 0
        if what == CLEAR:
            corrections = CORRECTIONS
        deepest = free_positions(s, h, corrections)
        if what == CLEAR:
            s.log.statistics[DEEPEST] = min(s.log.statistics[DEEPEST], deepest)
        put_speeds(s, U)
        return 0
    for k in range(steps):
        for i in range(len(s.x)):
            s.start[i] = s.x[i]
        step(s, h)
        if s.log.counters[FULL] > 0:
            for i in range(len(s.x)):
                s.x[i] = s.start[i]
            return k
        room = len(s.log.struck) - s.log.counters[STRUCK]
        full = room < len(s.near.gap) or s.log.counters[IMPACTS] == s.log.impacts.shape[0]
        changes = s.log.changes
        full = full or len(changes.log) - changes.counts[LOGGED] < changes.known.shape[0]
        if full or s.log.statistics[MARGIN] < margin or not math.isfinite(s.x[1]):
            return k + 1
    return steps
