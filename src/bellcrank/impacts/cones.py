"""Impulses of many contacts in Coulomb's cones, compiled.

The problem, for impulses p and velocities v of all contacts after them, normal first:

    v = W p + v_free,   0 <= p_n  _|_  v_n - bound >= 0,   |p_t| <= mu p_n,   p_t = -mu p_n v_t / |v_t| where v_t != 0.

Resistance to spinning and rolling is an entry of its own behind its contact: moments over a length l, so that they are
impulses, against l times the spin and the rolling of one body on the other. They are bounded by the normal impulse of
the contact before, |m_n| <= sigma p_n / l, |m_t| <= rho p_n / l, and act against the motion where it does not vanish.

W = J M^-1 J^T is never formed. Speeds that the mass matrix or a body couples are a *node*, as the six of a free body or
all those of a mechanism; a contact joins at most two nodes, and knows its rows J and columns M^-1 J^T over them. Nodes
joined by contacts are an *island*, solved by itself:

1. Gauss-Seidel with exact local solutions and Nesterov's momentum, which is dropped where it points against
   the last change (O'Donoghue, Candes, 2015). Eigenvalues of W in a packing come close to zero: the residual of plain
   sweeps falls like one over their number, and with momentum at best like one over its square.
2. Where that is slow, as in a stack, Newton's method on the equations of Alart and Curnier (1991). Their linear systems
   are solved for the speeds, (M + J^T K J) du = J^T r, which are as sparse as the graph of nodes. Faces and redundant
   supports, which make W singular, leave them regular.

Acary, Bremond, Huber (2018), "On solving contact problems with Coulomb friction", compares the methods. The residual is
that of the natural map with De Saxce's correction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.elimination import (
    Elimination,
    block_of,
    clear,
    elimination_of,
    factorise,
    order_nodes,
    products,
    substitute,
)
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, compiled, entry

CHECK, NEARLY = 8, 10.0
"""Sweeps between two looks at the residual, which costs half a sweep. Where the largest change of a sweep is within
this factor of the residual asked for, every sweep is followed by a look: momentum makes the residual swing."""
AWAY = 1e2
"""Residual over the lowest one at which the sweeps go back to the best impulses: friction makes the iteration
unsymmetric, and momentum may let it grow."""
SWEEPS, MORE_SWEEPS = 50, 300
"""Sweeps at most before Newton's method is tried, which find out which contacts are open, stick and slip, and between
two attempts of it."""
BETWEEN = 30.0
"""As many sweeps are made before Newton's method as cost one elimination, and so many times that between two attempts:
what is cheaper decides. With 50 and 300 always, piles of 20 to 80 boxes take twice as many iterations, and 27 steps of
80 boxes stay unsolved, in place of none. With 2 times they take as long within a tenth, and of the steps of four
columns of 144 discs that collapse 2 to 8 in a hundred stay unsolved by residuals up to 1e-3, not 1 to 3 by up to 3e-5;
20 times do as well as 30."""
ATTEMPTS, ANEW = 8, 3
"""Attempts of Newton's method, and the one that begins anew. With 6 attempts 16 steps of 1000 with 125 balls in a box
stay unsolved, with 10 of them 12, for a tenth more time."""
CHEAP = 32.0
"""Cost of an elimination over that of a sweep up to which a problem is begun anew. In packings of 125 and 216 balls,
above it, that would double the time and solve one step more in fifty."""
DOUBLINGS = 5
"""In which friction is raised to its coefficients in the attempt that begins anew: from a thirty-second, at which
bodies hardly jam. Impulses at which a few contacts jam with a friction of ten are found no other way."""
NEWTON_STEPS = 50
HALVINGS = 3
LEAST_SHARE = 0.5**HALVINGS * 1.5
RISE, STEEP_RISE = 60.0, 1000.0
"""By how much a step may raise what is left, squared, in odd and even attempts: the path to other sets of contacts that
slip or open leads over hills, and a method that only goes down ends before them. The best impulses are kept. Of the
steps of 64 to 216 balls that settle in a box fewest fail between 30 and 100; heavy bodies on light ones need the
other."""
SINGULAR = 1e-9
"""Part of the mobility of a contact added along its tangents: one that a joint locks has none. It slows the sweeps by
as little, and leaves their solution as it is."""
SOFTEST, SOFT, HARDEST = 1e-1, 1e-3, 1e-7
"""Compliance of a contact in Newton's linear systems, over its mobility: at most, at first, and at least. Along an
eigenvector of W the error of a step falls by the compliance over the eigenvalue. How redundant supports share a load is
not determined, and a hard system throws it far along; so the compliance grows where a step fails and shrinks where it
succeeds, like the parameter of Levenberg and Marquardt. The least one leaves half the digits to rounding."""

RESIDUAL, SCALE, ITERATIONS, STATISTICS = range(4)
CONTACTS, ISLANDS, COUNTS = range(3)


class Newton(NamedTuple):
    """Room for Newton's method on one island.

    change: Of the speeds. now, rate, more, slope, missing: Of each contact, its velocity, the velocity of the change,
    the change of the impulse, K, and r. carried: Of each resistance, K by the normal speed of its contact.
    """

    elimination: Elimination
    change: Reals
    now: Reals2
    rate: Reals2
    more: Reals2
    slope: Reals2
    missing: Reals2
    carried: Reals2


class Cones(NamedTuple):
    """The contacts of one step; arrays as long as there may be contacts.

    counts: Of contacts and islands. first: First speed of each node, and their number. node: Of both sides of a
    contact, -1 for the ground. rows, columns: J and M^-1 J^T over the speeds of a node, in row 6 contact + 3 side +
    direction. mass: Of a node, lower triangle; row: speed, column: within the node. local: A contact's own block of
    W, 00 01 02 11 12 22. bound: Least normal speed [m/s]. drift: Of the velocity, besides J u. p: Impulses [N s],
    given as a guess. resists: 1 where an entry is the resistance of the contact before it. limits: Of a resistance,
    sigma / l and rho / l. u, free: Speeds with and without them. order, begin: Contacts by island, and where each
    begins.
    statistics: Residual over the scale, and the scale, the fastest speed to be taken away [m/s], of the worst island.
    """

    counts: Ints
    first: Ints
    node: Ints2
    rows: Reals2
    columns: Reals2
    mass: Reals2
    local: Reals2
    bound: Reals
    friction: Reals
    resists: Ints
    limits: Reals2
    drift: Reals2
    p: Reals2
    best: Reals2
    least: Reals2
    u: Reals
    free: Reals
    order: Ints
    begin: Ints
    parent: Ints
    members: Ints
    past: Reals2
    before: Reals
    newton: Newton
    statistics: Reals


def cones_of(first: NDArray[np.int64], contacts: int) -> Cones:
    """Room for so many contacts between nodes with the given first speeds."""
    nodes, speeds = len(first) - 1, int(first[-1])
    width = int(np.diff(first).max(initial=1))
    reals, whole = np.zeros, np.int64
    newton = Newton(
        elimination_of(first, contacts),
        reals(speeds),
        *(reals((contacts, size)) for size in (3, 3, 3, 9, 3, 3)),
    )
    return Cones(
        np.zeros(COUNTS, whole),
        np.array(first, whole),
        np.zeros((contacts, 2), whole),
        reals((6 * contacts, width)),
        reals((6 * contacts, width)),
        reals((speeds, width)),
        reals((contacts, 6)),
        reals(contacts),
        reals(contacts),
        np.zeros(contacts, whole),
        reals((contacts, 2)),
        reals((contacts, 3)),
        reals((contacts, 3)),
        reals((contacts, 3)),
        reals((contacts, 3)),
        reals(speeds),
        reals(speeds),
        np.zeros(contacts, whole),
        np.zeros(contacts + 1, whole),
        np.zeros(nodes, whole),
        np.zeros(nodes, whole),
        reals((contacts, 3)),
        reals(speeds),
        newton,
        reals(STATISTICS),
    )


@compiled
def velocity(c: Cones, i: int, k: int) -> float:
    """Of contact i along its direction k [m/s]."""
    total: float = c.drift[i, k]
    for side in range(2):
        node = c.node[i, side]
        if node >= 0:
            at = c.first[node]
            for a in range(c.first[node + 1] - at):
                total += c.rows[6 * i + 3 * side + k, a] * c.u[at + a]
    return total


@compiled
def velocities(c: Cones, i: int) -> tuple[float, float, float]:
    """Of contact i along all its directions [m/s]."""
    x, y, z = c.drift[i, 0], c.drift[i, 1], c.drift[i, 2]
    for side in range(2):
        node = c.node[i, side]
        if node >= 0:
            at, row = c.first[node], 6 * i + 3 * side
            for a in range(c.first[node + 1] - at):
                u = c.u[at + a]
                x += c.rows[row, a] * u
                y += c.rows[row + 1, a] * u
                z += c.rows[row + 2, a] * u
    return x, y, z


@compiled
def push(c: Cones, i: int, x: float, y: float, z: float) -> None:
    """The speeds after one more impulse of a contact."""
    for side in range(2):
        node = c.node[i, side]
        if node >= 0:
            at, row = c.first[node], 6 * i + 3 * side
            for a in range(c.first[node + 1] - at):
                c.u[at + a] += c.columns[row, a] * x + c.columns[row + 1, a] * y + c.columns[row + 2, a] * z


@compiled
def release(c: Cones, begin: int, end: int) -> None:
    """The speeds of an island without impulses."""
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0:
                for a in range(c.first[node], c.first[node + 1]):
                    c.u[a] = c.free[a]


@compiled
def apply_all(c: Cones, begin: int, end: int) -> None:
    """The speeds of an island after all impulses."""
    release(c, begin, end)
    for j in range(begin, end):
        i = c.order[j]
        push(c, i, c.p[i, 0], c.p[i, 1], c.p[i, 2])


@compiled
def root(parent: Ints, i: int) -> int:
    """The representative of a set."""
    at = i
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


@compiled
def find_islands(c: Cones) -> None:
    """Contacts by island, in the order of their first ones."""
    contacts, nodes, head = c.counts[CONTACTS], len(c.parent), c.newton.elimination.head
    for k in range(nodes):
        c.parent[k] = k
        head[k] = -1
    for i in range(contacts):
        a, b = c.node[i, 0], c.node[i, 1]
        if a >= 0 and b >= 0:
            c.parent[root(c.parent, a)] = root(c.parent, b)
    # Count the contacts of each island, then lay them side by side.
    islands = 0
    for i in range(contacts):
        a = root(c.parent, max(c.node[i, 0], c.node[i, 1]))
        if head[a] < 0:
            head[a] = islands
            c.begin[islands] = 0
            islands += 1
        c.begin[head[a]] += 1
    total = 0
    for k in range(islands):
        own = c.begin[k]
        c.begin[k] = total
        total += own
    c.begin[islands] = total
    for i in range(contacts):
        k = head[root(c.parent, max(c.node[i, 0], c.node[i, 1]))]
        c.order[c.begin[k]] = i
        c.begin[k] += 1
    for k in range(islands):
        c.begin[islands - k] = c.begin[islands - k - 1]
    c.begin[0] = 0
    c.counts[ISLANDS] = islands


@compiled
def against(w: Reals, x: float, y: float, z: float, more: float) -> tuple[float, float, float]:
    """p of W p + (x, y, z) = 0, with so much more mobility along the tangents."""
    d, e, f, g, h, k = w[0], w[1], w[2], w[3] + more, w[4], w[5] + more
    a, b, c = g * k - h * h, f * h - e * k, e * h - f * g
    det = d * a + e * b + f * c
    m, n, o = d * k - f * f, e * f - d * h, d * g - e * e
    return -(a * x + b * y + c * z) / det, -(b * x + m * y + n * z) / det, -(c * x + n * y + o * z) / det


@compiled
def local_impulse(w: Reals, mu: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The impulse of one contact whose velocity without it is (x, y, z), exactly.

    It is none, sticks, or slides: then friction acts like more mobility along the tangents, found by false position.
    """
    p, q, r = 0.0, 0.0, 0.0
    if x >= 0.0:
        return p, q, r
    p, q, r = against(w, x, y, z, 0.0)
    excess = math.sqrt(q * q + r * r) - mu * p
    if p > 0.0 and excess <= 0.0:
        return p, q, r
    whole = -x / w[0]
    if mu == 0.0:
        return whole, 0.0, 0.0
    unit = 0.5 * (w[3] + w[5])
    low, high = 0.0, 1.0
    over, under = excess, -mu * whole
    bounded = p > 0.0
    side = 0
    s = 0.5
    for _ in range(60):
        s = min(s, 1.0 - 1e-12)
        p, q, r = against(w, x, y, z, unit * s / (1.0 - s))
        excess = math.sqrt(q * q + r * r) - mu * p
        if p > 0.0 and abs(excess) < 1e-13 * whole:
            break
        if p <= 0.0 or excess > 0.0:
            low = s
            bounded = p > 0.0
            over = excess
            if side == 1:
                under *= 0.5
            side = 1
        else:
            high = s
            under = excess
            if side == -1:
                over *= 0.5
            side = -1
        s = 0.5 * (low + high)
        if bounded:
            s = (high * over - low * under) / (over - under)
        if high - low < 1e-13:
            break
    return p, q, r


@compiled
def in_cone(mu: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The nearest impulse in the cone."""
    t = math.sqrt(y * y + z * z)
    n = x
    share = 1.0
    if mu * t <= -x:
        n, share = 0.0, 0.0
    elif t > mu * x:
        n = (x + mu * t) / (1.0 + mu * mu)
        share = mu * n / t
    return n, share * y, share * z


@compiled
def local_moment(
    w: Reals, spin: float, roll: float, x: float, y: float, z: float, guess: float
) -> tuple[float, float, float]:
    """The resistance of one contact whose motion without it is (x, y, z), with bounds of its moments.

    Spin and rolling hardly act on each other; so they are found in turn, from a guess of the spinning moment. Rolling
    that goes on acts like more mobility, as slip does.
    """
    p, q, r = guess, 0.0, 0.0
    for _ in range(2):
        a, b = y + w[1] * p, z + w[2] * p
        e, f, g = w[3], w[4], w[5]
        det = e * g - f * f
        q, r = (f * b - g * a) / det, (f * a - e * b) / det
        if q * q + r * r > roll * roll:
            low, high = 0.0, 1.0
            for _ in range(60):
                s = 0.5 * (low + high)
                more = 0.5 * (e + g) * s / (1.0 - s)
                det = (e + more) * (g + more) - f * f
                q, r = (f * b - (g + more) * a) / det, (f * a - (e + more) * b) / det
                if q * q + r * r > roll * roll:
                    low = s
                else:
                    high = s
        p = -(x + w[1] * q + w[2] * r) / w[0]
        p = min(max(p, -spin), spin)
    return p, q, r


@compiled
def within_limits(c: Cones, i: int, n: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The nearest resistance to (x, y, z) where the normal impulse is n."""
    n = max(n, 0.0)
    spin, roll, t = c.limits[i, 0] * n, c.limits[i, 1] * n, math.sqrt(y * y + z * z)
    share = 1.0
    if t > roll:
        share = roll / t
    return min(max(x, -spin), spin), share * y, share * z


@compiled
def trace(c: Cones, i: int) -> float:
    """The mobility of a contact in all directions [1/kg]."""
    total: float = c.local[i, 0] + c.local[i, 3] + c.local[i, 5]
    return total


@compiled
def residual(c: Cones, begin: int, end: int) -> float:
    """How far the conditions of an island are missed [m/s]."""
    worst = 0.0
    for j in range(begin, end):
        i = c.order[j]
        mu, w = c.friction[i], trace(c, i)
        x, y, z = velocities(c, i)
        p, q, r = c.p[i, 0], c.p[i, 1], c.p[i, 2]
        a, b, d = 0.0, 0.0, 0.0
        if c.resists[i] == 1:
            a, b, d = within_limits(c, i, c.p[i - 1, 0], p - x / w, q - y / w, r - z / w)
        else:
            x += mu * math.sqrt(y * y + z * z) - c.bound[i]
            a, b, d = in_cone(mu, p - x / w, q - y / w, r - z / w)
        left = w * math.sqrt((a - p) * (a - p) + (b - q) * (b - q) + (d - r) * (d - r))
        # Not a number counts as unsolved.
        if not left <= worst:
            worst = left
    return worst


@compiled
def sweep(c: Cones, begin: int, end: int) -> tuple[float, float]:
    """Each contact in turn, exactly, with the others as they are.

    The largest change, as a speed [m/s], and the product of the changes with those since the sweep before: it is
    negative where the momentum has carried the impulses too far.
    """
    largest, onward = 0.0, 0.0
    for j in range(begin, end):
        i = c.order[j]
        w = c.local[i]
        p, q, r = c.p[i, 0], c.p[i, 1], c.p[i, 2]
        x, y, z = velocities(c, i)
        x -= c.bound[i] + w[0] * p + w[1] * q + w[2] * r
        y -= w[1] * p + w[3] * q + w[4] * r
        z -= w[2] * p + w[4] * q + w[5] * r
        a, b, d = 0.0, 0.0, 0.0
        if c.resists[i] == 1:
            n = c.p[i - 1, 0]
            if n > 0.0:
                a, b, d = local_moment(w, c.limits[i, 0] * n, c.limits[i, 1] * n, x, y, z, p)
        else:
            a, b, d = local_impulse(w, c.friction[i], x, y, z)
        if a != p or b != q or d != r:
            f, g, h = a - p, b - q, d - r
            push(c, i, f, g, h)
            c.p[i, 0], c.p[i, 1], c.p[i, 2] = a, b, d
            # In units of energy, so that light bodies count as much as heavy ones.
            mobility = trace(c, i)
            largest = max(largest, mobility * math.sqrt(f * f + g * g + h * h))
            onward += mobility * (f * (a - c.past[i, 0]) + g * (b - c.past[i, 1]) + h * (d - c.past[i, 2]))
    return largest, onward


@compiled
def keep(c: Cones, begin: int, end: int) -> None:
    """Remember the impulses as the best so far."""
    for j in range(begin, end):
        i = c.order[j]
        c.best[i, 0], c.best[i, 1], c.best[i, 2] = c.p[i, 0], c.p[i, 1], c.p[i, 2]


@compiled
def take_best(c: Cones, begin: int, end: int) -> None:
    """Go back to the best impulses."""
    for j in range(begin, end):
        i = c.order[j]
        c.p[i, 0], c.p[i, 1], c.p[i, 2] = c.best[i, 0], c.best[i, 1], c.best[i, 2]
    apply_all(c, begin, end)


@compiled
def allowed(c: Cones, i: int, x: float, y: float, z: float, p: Reals2) -> tuple[float, float, float]:
    """The nearest impulse of an entry; p: Those of the contacts before it."""
    a, b, d = 0.0, 0.0, 0.0
    if c.resists[i] == 1:
        a, b, d = within_limits(c, i, p[i - 1, 0], x, y, z)
    else:
        a, b, d = in_cone(c.friction[i], x, y, z)
    return a, b, d


@compiled
def remember_sweep(c: Cones, begin: int, end: int) -> None:
    """The present impulses and speeds, from which the momentum of the next sweep is taken."""
    for j in range(begin, end):
        i = c.order[j]
        c.past[i, 0], c.past[i, 1], c.past[i, 2] = c.p[i, 0], c.p[i, 1], c.p[i, 2]
        for side in range(2):
            node = c.node[i, side]
            if node >= 0:
                for a in range(c.first[node], c.first[node + 1]):
                    c.before[a] = c.u[a]


@compiled
def carry(c: Cones, nodes: int, begin: int, end: int, momentum: float) -> None:
    """Go on along the last change of the impulses, within their cones, and of the speeds."""
    for m in range(nodes):
        node = c.members[m]
        for k in range(c.first[node], c.first[node + 1]):
            now = c.u[k]
            c.u[k] = now + momentum * (now - c.before[k])
            c.before[k] = now
    for j in range(begin, end):
        i = c.order[j]
        p, q, r = c.p[i, 0], c.p[i, 1], c.p[i, 2]
        x, y, z = (
            p + momentum * (p - c.past[i, 0]),
            q + momentum * (q - c.past[i, 1]),
            r + momentum * (r - c.past[i, 2]),
        )
        f, g, h = allowed(c, i, x, y, z, c.p)
        # Speeds are linear in the impulses; what the cone takes away is not in them yet.
        if f != x or g != y or h != z:
            push(c, i, f - x, g - y, h - z)
        c.past[i, 0], c.past[i, 1], c.past[i, 2] = p, q, r
        c.p[i, 0], c.p[i, 1], c.p[i, 2] = f, g, h


@compiled
def find_members(c: Cones, begin: int, end: int) -> int:
    """List the nodes of an island; their number."""
    count = 0
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0:
                c.parent[node] = -1
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0 and c.parent[node] == -1:
                c.parent[node] = 0
                c.members[count] = node
                count += 1
    return count


@compiled
def accelerated(c: Cones, begin: int, end: int, wanted: float, most: int, before: float) -> float:
    """Sweeps with Nesterov's momentum until the residual is as wanted; the best impulses found are kept."""
    nodes = find_members(c, begin, end)
    keep(c, begin, end)
    lowest = before
    remember_sweep(c, begin, end)
    age = 1.0
    for k in range(1, most + 1):
        c.statistics[ITERATIONS] += 1.0
        largest, onward = sweep(c, begin, end)
        if largest < NEARLY * wanted or k % CHECK == 0 or k == most:
            # Speeds anew, without the rounding of what was added up.
            apply_all(c, begin, end)
            left = residual(c, begin, end)
            if left < lowest:
                lowest = left
                keep(c, begin, end)
            if left < wanted:
                return left
            if not left <= AWAY * lowest:
                take_best(c, begin, end)
                remember_sweep(c, begin, end)
                age = 1.0
                continue
        momentum = 0.0
        if onward >= 0.0:
            older = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * age * age))
            momentum = (age - 1.0) / older
            age = older
        else:
            age = 1.0
        carry(c, nodes, begin, end, momentum)
    take_best(c, begin, end)
    return lowest


@compiled
def missed(c: Cones, begin: int, end: int, share: float) -> float:
    """What is left of Alart and Curnier's equations after a share of the step, squared [N m]."""
    m = c.newton
    total = 0.0
    pressed = 0.0
    for j in range(begin, end):
        i = c.order[j]
        w = trace(c, i)
        p = c.p[i, 0] + share * m.more[i, 0]
        q = c.p[i, 1] + share * m.more[i, 1]
        r = c.p[i, 2] + share * m.more[i, 2]
        x = p - (m.now[i, 0] + share * m.rate[i, 0]) / w
        y = q - (m.now[i, 1] + share * m.rate[i, 1]) / w
        z = r - (m.now[i, 2] + share * m.rate[i, 2]) / w
        if c.resists[i] == 1:
            x, y, z = within_limits(c, i, pressed, x, y, z)
        else:
            x = max(x, 0.0)
            pressed = x
            t, most = math.sqrt(y * y + z * z), c.friction[i] * x
            if t > most:
                y, z = most / t * y, most / t * z
        p -= x
        q -= y
        r -= z
        total += w * (p * p + q * q + r * r)
    return total


@compiled
def linearise(c: Cones, i: int, soft: float) -> bool:
    """K and r of a contact, (1 - D + soft) dp = g - D J du / w, with the slope D of its projection; False: K = 0."""
    m = c.newton
    mu, w = c.friction[i], trace(c, i)
    p, q, r = c.p[i, 0], c.p[i, 1], c.p[i, 2]
    x, y, z = p - m.now[i, 0] / w, q - m.now[i, 1] / w, r - m.now[i, 2] / w
    for k in range(9):
        m.slope[i, k] = 0.0
    if x <= 0.0:
        m.missing[i, 0], m.missing[i, 1], m.missing[i, 2] = -p, -q, -r
        return False
    stiff = 1.0 / (w * soft)
    t = math.sqrt(y * y + z * z)
    m.slope[i, 0] = stiff
    m.missing[i, 0] = (x - p) / soft
    if t <= mu * x:
        m.slope[i, 4], m.slope[i, 8] = stiff, stiff
        m.missing[i, 1], m.missing[i, 2] = (y - q) / soft, (z - r) / soft
        return True
    # It slips along d; across it, along e, friction turns with the slip.
    share = mu * x / t
    d, e = y / t, z / t
    across = share / (w * (1.0 - share + soft))
    m.slope[i, 3], m.slope[i, 6] = mu * stiff * d, mu * stiff * e
    m.slope[i, 4], m.slope[i, 8] = across * e * e, across * d * d
    m.slope[i, 5] = -across * d * e
    m.slope[i, 7] = m.slope[i, 5]
    g, h = share * y - q, share * z - r
    turning = (d * h - e * g) / (1.0 - share + soft)
    along = (d * g + e * h + mu * m.missing[i, 0]) / (1.0 + soft)
    m.missing[i, 1], m.missing[i, 2] = along * d - turning * e, along * e + turning * d
    return True


@compiled
def linearise_resistance(c: Cones, i: int, soft: float) -> bool:
    """K and r of a resistance like those of slip; its bounds go with the normal impulse of the contact before."""
    m, w, before = c.newton, trace(c, i), i - 1
    for k in range(9):
        m.slope[i, k] = 0.0
    for k in range(3):
        m.carried[i, k] = 0.0
        m.missing[i, k] = -c.p[i, k]
    n = c.p[before, 0] - m.now[before, 0] / trace(c, before)
    if n <= 0.0:
        return False
    stiff, hard = 1.0 / (w * soft), m.slope[before, 0]
    x, y, z = c.p[i, 0] - m.now[i, 0] / w, c.p[i, 1] - m.now[i, 1] / w, c.p[i, 2] - m.now[i, 2] / w
    spin, roll = c.limits[i, 0], c.limits[i, 1]
    if abs(x) <= spin * n:
        m.slope[i, 0] = stiff
        m.missing[i, 0] = (x - c.p[i, 0]) / soft
    else:
        if x < 0.0:
            spin = -spin
        m.carried[i, 0] = spin * hard
        m.missing[i, 0] = (spin * n - c.p[i, 0] + spin * m.missing[before, 0]) / (1.0 + soft)
    t = math.sqrt(y * y + z * z)
    if t <= roll * n:
        m.slope[i, 4], m.slope[i, 8] = stiff, stiff
        m.missing[i, 1], m.missing[i, 2] = (y - c.p[i, 1]) / soft, (z - c.p[i, 2]) / soft
        return True
    share = roll * n / t
    d, e = y / t, z / t
    across = share / (w * (1.0 - share + soft))
    m.carried[i, 1], m.carried[i, 2] = roll * hard * d, roll * hard * e
    m.slope[i, 4], m.slope[i, 8] = across * e * e, across * d * d
    m.slope[i, 5] = -across * d * e
    m.slope[i, 7] = m.slope[i, 5]
    g, h = share * y - c.p[i, 1], share * z - c.p[i, 2]
    turning = (d * h - e * g) / (1.0 - share + soft)
    along = (d * g + e * h + roll * m.missing[before, 0]) / (1.0 + soft)
    m.missing[i, 1], m.missing[i, 2] = along * d - turning * e, along * e + turning * d
    return True


@compiled
def add_carried(c: Cones, i: int, side: int, other: int) -> None:
    """J^T K J of a resistance and the normal speed of its contact, between two of their sides."""
    m, values = c.newton, c.newton.elimination.values
    a, b = c.node[i, side], c.node[i, other]
    left, right = 6 * i + 3 * side, 6 * (i - 1) + 3 * other
    at, down, along = block_of(m.elimination, c.first, a, b)
    for n in range(c.first[a + 1] - c.first[a]):
        total = 0.0
        for k in range(3):
            total += c.rows[left + k, n] * m.carried[i, k]
        for k in range(c.first[b + 1] - c.first[b]):
            values[at + n * down + k * along] += total * c.rows[right, k]


@compiled
def add_block(c: Cones, i: int, side: int, other: int) -> None:
    """J^T K J of a contact between two of its sides."""
    m, values = c.newton, c.newton.elimination.values
    a, b = c.node[i, side], c.node[i, other]
    left, right = 6 * i + 3 * side, 6 * i + 3 * other
    if c.resists[i] == 1:
        add_carried(c, i, side, other)
    at, down, along = block_of(m.elimination, c.first, a, b)
    for k in range(c.first[b + 1] - c.first[b]):
        x, y, z = c.rows[right, k], c.rows[right + 1, k], c.rows[right + 2, k]
        f = m.slope[i, 0] * x
        g = m.slope[i, 3] * x + m.slope[i, 4] * y + m.slope[i, 5] * z
        h = m.slope[i, 6] * x + m.slope[i, 7] * y + m.slope[i, 8] * z
        for n in range(c.first[a + 1] - c.first[a]):
            values[at + n * down + k * along] += (
                c.rows[left, n] * f + c.rows[left + 1, n] * g + c.rows[left + 2, n] * h
            )


@compiled
def assemble_matrix(c: Cones, begin: int, end: int, nodes: int, soft: float) -> None:
    """M + J^T K J, and J^T r as the change."""
    m, e = c.newton, c.newton.elimination
    clear(e, c.first, nodes)
    for k in range(nodes):
        node = e.order[k]
        at, to = c.first[node], e.panels[k]
        size = c.first[node + 1] - at
        for a in range(size):
            m.change[at + a] = 0.0
            for b in range(a):
                e.values[to + a * size + b] = c.mass[at + a, b]
                e.values[to + b * size + a] = c.mass[at + a, b]
            e.values[to + a * size + a] = c.mass[at + a, a]
    for j in range(begin, end):
        i = c.order[j]
        carries = False
        if c.resists[i] == 1:
            carries = linearise_resistance(c, i, soft)
        else:
            carries = linearise(c, i, soft)
        for side in range(2):
            node = c.node[i, side]
            if node < 0:
                continue
            for a in range(c.first[node + 1] - c.first[node]):
                for k in range(3):
                    m.change[c.first[node] + a] += c.rows[6 * i + 3 * side + k, a] * m.missing[i, k]
            if carries:
                add_block(c, i, side, side)
                if c.node[i, 1 - side] >= 0:
                    add_block(c, i, side, 1 - side)


@compiled
def direction(c: Cones, begin: int, end: int) -> None:
    """The change of velocities and impulses from that of the speeds."""
    m = c.newton
    for j in range(begin, end):
        i = c.order[j]
        for k in range(3):
            total = 0.0
            for side in range(2):
                node = c.node[i, side]
                if node >= 0:
                    for a in range(c.first[node + 1] - c.first[node]):
                        total += c.rows[6 * i + 3 * side + k, a] * m.change[c.first[node] + a]
            m.rate[i, k] = total
        x, y, z = m.rate[i, 0], m.rate[i, 1], m.rate[i, 2]
        for k in range(3):
            along = m.slope[i, 3 * k] * x + m.slope[i, 3 * k + 1] * y + m.slope[i, 3 * k + 2] * z
            if c.resists[i] == 1:
                along += m.carried[i, k] * m.rate[i - 1, 0]
            m.more[i, k] = m.missing[i, k] - along


@compiled
def elimination_cost(c: Cones, begin: int, end: int, nodes: int) -> float:
    """Multiplications of an elimination over those of a sweep."""
    once = 0.0
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0:
                # Velocities before and impulses after, along three directions.
                once += 6.0 * (c.first[node + 1] - c.first[node])
    return products(c.newton.elimination, c.first, nodes) / once


@compiled
def sweeps_worth(cost: float, most: int) -> int:
    """Sweeps that cost so much, within bounds."""
    return int(min(max(cost, float(CHECK)), float(most)))


@compiled
def by_newton(c: Cones, begin: int, end: int, wanted: float, before: float, rise: float, nodes: int) -> float:
    """Newton's method with halved steps, from the impulses given; the residual of the best ones, which are kept."""
    m = c.newton
    keep(c, begin, end)
    lowest = before
    soft = SOFT
    for _ in range(NEWTON_STEPS):
        c.statistics[ITERATIONS] += 1.0
        for j in range(begin, end):
            i = c.order[j]
            x, y, z = velocities(c, i)
            m.now[i, 0], m.now[i, 1], m.now[i, 2] = x - c.bound[i], y, z
        assemble_matrix(c, begin, end, nodes, soft)
        if not factorise(m.elimination, c.first, nodes):
            break
        if not substitute(m.elimination, c.first, nodes, m.change):
            break
        direction(c, begin, end)
        left = missed(c, begin, end, 0.0)
        share = 1.0
        for _ in range(HALVINGS):
            if missed(c, begin, end, share) < rise * left:
                break
            share *= 0.5
        if share == 1.0:
            soft = max(0.3 * soft, HARDEST)
        else:
            if soft >= SOFTEST and share < LEAST_SHARE:
                break
            soft = min(10.0 * soft, SOFTEST)
        if share < LEAST_SHARE:
            continue
        for j in range(begin, end):
            i = c.order[j]
            for k in range(3):
                c.p[i, k] += share * m.more[i, k]
        apply_all(c, begin, end)
        now = residual(c, begin, end)
        if now < lowest:
            lowest = now
            keep(c, begin, end)
        if now < wanted or not math.isfinite(now):
            break
    for j in range(begin, end):
        i = c.order[j]
        a, b, d = allowed(c, i, c.best[i, 0], c.best[i, 1], c.best[i, 2], c.best)
        c.best[i, 0], c.best[i, 1], c.best[i, 2] = a, b, d
    take_best(c, begin, end)
    return residual(c, begin, end)


@compiled
def raised(c: Cones, begin: int, end: int, wanted: float, nodes: int) -> float:
    """Impulses from the guess with friction raised in doublings to its coefficients; the residual."""
    for j in range(begin, end):
        c.friction[c.order[j]] *= 0.5**DOUBLINGS
    left = residual(c, begin, end)
    for k in range(DOUBLINGS + 1):
        left = accelerated(c, begin, end, wanted, SWEEPS, left)
        if left >= wanted:
            left = by_newton(c, begin, end, wanted, left, RISE, nodes)
        if k < DOUBLINGS:
            for j in range(begin, end):
                c.friction[c.order[j]] *= 2.0
            left = residual(c, begin, end)
    return left


@compiled
def solve_island(c: Cones, begin: int, end: int, tolerance: float) -> tuple[float, float]:
    """Impulses and speeds of an island, from the guess in p: residual and scale [m/s]."""
    scale = 1e-300
    release(c, begin, end)
    for j in range(begin, end):
        x, y, z = velocities(c, c.order[j])
        scale = max(scale, abs(x - c.bound[c.order[j]]) + abs(y) + abs(z))
    apply_all(c, begin, end)
    wanted = tolerance * scale
    left = residual(c, begin, end)
    rise, lowest = RISE, math.inf
    nodes, cost = 0, math.inf
    if left >= wanted:
        nodes = order_nodes(c.newton.elimination, c.first, c.node, c.order, begin, end)
        if nodes > 0:
            cost = elimination_cost(c, begin, end, nodes)
    for attempt in range(ATTEMPTS):
        if left < lowest:
            lowest = left
            for j in range(begin, end):
                i = c.order[j]
                c.least[i, 0], c.least[i, 1], c.least[i, 2] = c.p[i, 0], c.p[i, 1], c.p[i, 2]
        if left < wanted:
            break
        sweeps = sweeps_worth(cost, SWEEPS)
        if attempt > 0:
            sweeps = sweeps_worth(BETWEEN * cost, MORE_SWEEPS)
        if attempt == ANEW and nodes < 0:
            break
        if attempt == ANEW and cost <= CHEAP:
            # Begin anew, without the guess, and from little friction.
            for j in range(begin, end):
                i = c.order[j]
                c.p[i, 0], c.p[i, 1], c.p[i, 2] = 0.0, 0.0, 0.0
            apply_all(c, begin, end)
            left = raised(c, begin, end, wanted, nodes)
        left = accelerated(c, begin, end, wanted, sweeps, left)
        if left >= wanted:
            if nodes < 0:
                # No room for the elimination: sweeps go on alone.
                continue
            left = by_newton(c, begin, end, wanted, left, rise, nodes)
        rise = RISE + STEEP_RISE - rise
    if left > lowest:
        for j in range(begin, end):
            i = c.order[j]
            c.p[i, 0], c.p[i, 1], c.p[i, 2] = c.least[i, 0], c.least[i, 1], c.least[i, 2]
        apply_all(c, begin, end)
        left = lowest
    return left, scale


@compiled
def solve_cones(c: Cones, tolerance: float) -> None:
    """Impulses and speeds of all contacts, from the guess in p, to a residual over the scale of each island."""
    c.statistics[RESIDUAL], c.statistics[SCALE] = 0.0, 1.0
    for k in range(len(c.u)):
        c.u[k] = c.free[k]
    for k in range(c.counts[ISLANDS]):
        left, scale = solve_island(c, c.begin[k], c.begin[k + 1], tolerance)
        if not left / scale <= c.statistics[RESIDUAL]:
            c.statistics[RESIDUAL], c.statistics[SCALE] = left / scale, scale


@entry
def solve_problem(c: Cones, tolerance: float) -> int:
    """One problem, as it stands in the arrays."""
    find_islands(c)
    c.statistics[ITERATIONS] = 0.0
    solve_cones(c, tolerance)
    return int(c.statistics[ITERATIONS])


__all__ = [
    "CONTACTS",
    "RESIDUAL",
    "SINGULAR",
    "Cones",
    "by_newton",
    "cones_of",
    "find_islands",
    "solve_cones",
    "solve_problem",
    "velocity",
]
