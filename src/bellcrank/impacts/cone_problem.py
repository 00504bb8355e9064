"""The problem of many contacts in Coulomb's cones: its record, the laws of single contacts, and its residual.

For impulses p and velocities v of all contacts after them, normal first:

    v = W p + v_free,   0 <= p_n  _|_  v_n - bound >= 0,   |p_t| <= mu p_n,   p_t = -mu p_n v_t / |v_t| where v_t != 0.

Resistance to spinning and rolling is an entry of its own behind its contact: moments over a length l, so that they are
impulses, against l times the spin and the rolling of one body on the other. They are bounded by the normal impulse of
the contact before, |m_n| <= sigma p_n / l, |m_t| <= rho p_n / l, and act against the motion where it does not vanish.

W = J M^-1 J^T is never formed. Speeds that the mass matrix or a body couples are a *node*, as the six of a free body or
all those of a mechanism; a contact joins at most two nodes, and knows its rows J and columns M^-1 J^T over them.

The residual is that of the natural map with De Saxce's correction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.elimination import Elimination, elimination_of, padded
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, compiled

SINGULAR = 1e-9
"""Part of the mobility of a contact added along its tangents: one that a joint locks has none. It slows the sweeps by
as little, and leaves their solution as it is."""
RESIDUAL, SCALE, ITERATIONS, STATISTICS = range(4)
CONTACTS, ISLANDS, COUNTS = range(3)
SETTLED, FRESH, OUT = range(3)
"""Whether a contact takes part: it was solved with its island, its island has changed since, or it has no impulse."""


class Newton(NamedTuple):
    """Room for Newton's method on one island.

    change: Of the speeds. condensed, gone: Right-hand side of the condensed system, and the change in all its turns.
    listed: Contacts, those in focus last. carries: 1 where K is not zero. now, rate, more, slope, missing: Of each
    contact, its velocity beyond the least one, the velocity of the change, the change of the impulse, K, and r.
    carried: Of each resistance, K by the normal speed of its contact. weighed: K J of both sides of one contact.
    """

    elimination: Elimination
    change: Reals
    condensed: Reals
    gone: Reals
    listed: Ints
    carries: Ints
    weighed: Reals2
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
    sigma / l and rho / l. u, free: Speeds with and without them. part: Which contacts take part. order, begin: Those
    by island, and where each begins. missed, scale: Of the island of each node, its residual over its scale, and that,
    the fastest speed to be taken away [m/s].
    statistics: Residual over the scale, and the scale, of the worst island.
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
    part: Ints
    order: Ints
    begin: Ints
    missed: Reals
    scale: Reals
    parent: Ints
    members: Ints
    past: Reals2
    before: Reals
    newton: Newton
    statistics: Reals


def cones_of(first: NDArray[np.int64], contacts: int) -> Cones:
    """Room for so many contacts between nodes with the given first speeds."""
    nodes, speeds = len(first) - 1, int(first[-1])
    width = padded(int(np.diff(first).max(initial=1)))
    reals, whole = np.zeros, np.int64
    newton = Newton(
        elimination_of(first, contacts),
        reals(speeds),
        reals(speeds),
        reals(speeds),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        reals((6, width)),
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
        np.zeros(contacts, whole),
        np.zeros(contacts + 1, whole),
        reals(nodes),
        reals(nodes),
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
def miss(c: Cones, i: int, x: float, y: float, z: float) -> float:
    """How far the conditions of a contact are missed [m/s], by its velocity beyond the least one."""
    mu, w = c.friction[i], trace(c, i)
    p, q, r = c.p[i, 0], c.p[i, 1], c.p[i, 2]
    a, b, d, mass = 0.0, 0.0, 0.0, 1.0 / w
    if c.resists[i] == 1:
        a, b, d = within_limits(c, i, c.p[i - 1, 0], p - mass * x, q - mass * y, r - mass * z)
    elif p == 0.0 and q == 0.0 and r == 0.0 and x >= 0.0:
        # It is open.
        return 0.0
    else:
        x += mu * math.sqrt(y * y + z * z)
        a, b, d = in_cone(mu, p - mass * x, q - mass * y, r - mass * z)
    return w * math.sqrt((a - p) * (a - p) + (b - q) * (b - q) + (d - r) * (d - r))


@compiled
def residual(c: Cones, begin: int, end: int) -> float:
    """How far the conditions of an island are missed [m/s]."""
    worst = 0.0
    for j in range(begin, end):
        i = c.order[j]
        x, y, z = velocities(c, i)
        left = miss(c, i, x - c.bound[i], y, z)
        # Not a number counts as unsolved.
        if not left <= worst:
            worst = left
    return worst


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
