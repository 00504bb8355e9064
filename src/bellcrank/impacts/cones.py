"""Impulses of many contacts in Coulomb's cones, compiled: the problem of :mod:`bellcrank.impacts.cone_problem`.

Nodes joined by contacts are an *island*, solved by itself: by sweeps (:mod:`bellcrank.impacts.sweeps`) and, where they
are slow, as in a stack, by Newton's method (:mod:`bellcrank.impacts.alart_curnier`).

Half of the contacts that are near in a pile have no impulse, and join bodies that do not act on each other. So those
that neither press nor close after the sweeps leave before Newton's method, which falls into smaller islands, and enter
again where the others close them. Of 180 boxes that are islands of 19 contacts in place of 52, and half the work.

Acary, Bremond, Huber (2018), "On solving contact problems with Coulomb friction", compares the methods.
"""

from __future__ import annotations

import math

from bellcrank.impacts.alart_curnier import RISE, STEEP_RISE, by_newton
from bellcrank.impacts.cone_problem import (
    CONTACTS,
    FRESH,
    ISLANDS,
    ITERATIONS,
    OUT,
    RESIDUAL,
    SCALE,
    SETTLED,
    SINGULAR,
    Cones,
    apply_all,
    cones_of,
    miss,
    release,
    residual,
    trace,
    velocities,
    velocity,
)
from bellcrank.impacts.elimination import order_nodes, products
from bellcrank.impacts.sweeps import accelerated
from bellcrank.program.loops import Ints, compiled, entry

SWEEPS, MORE_SWEEPS = 50, 300
"""Sweeps at most before Newton's method is tried, which find out which contacts are open, stick and slip, and between
two attempts of it."""
BETWEEN = 30.0
"""As many sweeps are made before Newton's method as cost one elimination, and so many times that between two attempts:
what is cheaper decides. With 50 and 300 always, piles of 20 to 80 boxes take twice as many iterations, and 27 steps of
80 boxes stay unsolved, in place of none. With 2 times they take as long within a tenth, and of the steps of four
columns of 144 discs that collapse 2 to 8 in a hundred stay unsolved by residuals up to 1e-3, not 1 to 2 by up to 3e-4;
20 times do as well as 30."""
FOCUSED, ATTEMPTS, ANEW = 1, 9, 4
"""Attempts of Newton's method whose steps focus, attempts in all, and the one that begins anew. What one focused
attempt leaves are bodies that jam, which takes steps in all contacts. With every other attempt focused 45 of 3000 steps
of a hundred balls in a box stay unsolved, not 11, and 125 balls take twice the time."""
APART = 2
"""Attempts without the contacts that have no impulse; what jams then is solved with them. Over five boxes of a hundred
balls 75 of 15,000 steps stay unsolved, with one such attempt 80, with four 108, and 87 where all take part at first."""
CHEAP = 32.0
"""Cost of an elimination over that of a sweep, zeros that fill up registers left out, up to which a problem is begun
anew. In packings of 125 and 216 balls, above it, that would double the time and solve one step more in fifty."""
DOUBLINGS = 5
"""In which friction is raised to its coefficients in the attempt that begins anew: from a thirty-second, at which
bodies hardly jam. Impulses at which a few contacts jam with a friction of ten are found no other way."""


@compiled
def root(parent: Ints, i: int) -> int:
    """The representative of a set."""
    at = i
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


@compiled
def leave(c: Cones, begin: int, end: int) -> None:
    """Leave out the contacts of an island that have no impulse and do not close."""
    for j in range(begin, end):
        i = c.order[j]
        c.part[i] = FRESH
        if c.resists[i] == 1:
            c.part[i] = c.part[i - 1]
        elif c.p[i, 0] <= 0.0 and velocity(c, i, 0) >= c.bound[i]:
            c.part[i] = OUT
        for side in range(2):
            if c.node[i, side] >= 0:
                c.missed[c.node[i, side]] = 0.0


@compiled
def enter(c: Cones, tolerance: float) -> bool:
    """Let further contacts take part that close, and whether there are any; what they miss otherwise is noted."""
    found = False
    for i in range(c.counts[CONTACTS]):
        if c.part[i] != OUT:
            continue
        if c.resists[i] == 1:
            c.part[i] = c.part[i - 1]
            continue
        if velocity(c, i, 0) >= c.bound[i]:
            continue
        x, y, z = velocities(c, i)
        scale, left = 0.0, miss(c, i, x - c.bound[i], y, z)
        for side in range(2):
            if c.node[i, side] >= 0:
                scale = max(scale, c.scale[c.node[i, side]])
        if left < tolerance * scale:
            for side in range(2):
                node = c.node[i, side]
                if node >= 0:
                    c.missed[node] = max(c.missed[node], left / scale)
        else:
            c.part[i] = FRESH
            found = True
    return found


@compiled
def find_islands(c: Cones) -> None:
    """Contacts that take part, by island, in the order of their first ones."""
    contacts, nodes, head = c.counts[CONTACTS], len(c.parent), c.newton.elimination.head
    for k in range(nodes):
        c.parent[k] = k
        head[k] = -1
    for i in range(contacts):
        a, b = c.node[i, 0], c.node[i, 1]
        if c.part[i] != OUT and a >= 0 and b >= 0:
            c.parent[root(c.parent, a)] = root(c.parent, b)
    # Count the contacts of each island, then lay them side by side.
    islands = 0
    for i in range(contacts):
        if c.part[i] == OUT:
            continue
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
        if c.part[i] == OUT:
            continue
        k = head[root(c.parent, max(c.node[i, 0], c.node[i, 1]))]
        c.order[c.begin[k]] = i
        c.begin[k] += 1
    for k in range(islands):
        c.begin[islands - k] = c.begin[islands - k - 1]
    c.begin[0] = 0
    c.counts[ISLANDS] = islands


@compiled
def elimination_cost(c: Cones, begin: int, end: int, nodes: int, filled: bool) -> float:
    """Multiplications of an elimination over those of a sweep; filled: With those by zeros that fill up registers."""
    once = 0.0
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0:
                # Velocities before and impulses after, along three directions.
                once += 6.0 * (c.first[node + 1] - c.first[node])
    return products(c.newton.elimination, c.first, 0, nodes, filled) / once


@compiled
def sweeps_worth(cost: float, most: int) -> int:
    """Sweeps that cost so much, one at least."""
    return int(min(max(cost, 1.0), float(most)))


@compiled
def raised(c: Cones, begin: int, end: int, wanted: float) -> float:
    """Impulses from the guess with friction raised in doublings to its coefficients; the residual."""
    for j in range(begin, end):
        c.friction[c.order[j]] *= 0.5**DOUBLINGS
    left = residual(c, begin, end)
    for k in range(DOUBLINGS + 1):
        left = accelerated(c, begin, end, wanted, SWEEPS, left)
        if left >= wanted:
            left = by_newton(c, begin, end, wanted, left, RISE, False)
        if k < DOUBLINGS:
            for j in range(begin, end):
                c.friction[c.order[j]] *= 2.0
            left = residual(c, begin, end)
    return left


@compiled
def note(c: Cones, begin: int, end: int, left: float, scale: float) -> None:
    """Note for the nodes of an island what it misses [m/s]."""
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0:
                c.missed[node], c.scale[node] = left / scale, scale


@compiled
def begin_island(c: Cones, begin: int, end: int, tolerance: float) -> float:
    """First sweeps over an island, from the guess in p; what it misses over its scale."""
    scale = 1e-300
    release(c, begin, end)
    for j in range(begin, end):
        x, y, z = velocities(c, c.order[j])
        scale = max(scale, abs(x - c.bound[c.order[j]]) + abs(y) + abs(z))
    apply_all(c, begin, end)
    left = residual(c, begin, end)
    if left >= tolerance * scale:
        nodes, cost = order_nodes(c.newton.elimination, c.first, c.node, c.order, begin, end), math.inf
        if nodes > 0:
            cost = elimination_cost(c, begin, end, nodes, True)
        left = accelerated(c, begin, end, tolerance * scale, sweeps_worth(cost, SWEEPS), left)
    note(c, begin, end, left, scale)
    return left / scale


@compiled
def solve_island(c: Cones, begin: int, end: int, tolerance: float, tried: int, attempts: int) -> None:
    """Impulses and speeds of an island whose sweeps have begun, by the attempts behind those tried."""
    scale = 1e-300
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0:
                scale = max(scale, c.scale[node])
    apply_all(c, begin, end)
    wanted = tolerance * scale
    left = residual(c, begin, end)
    rise, lowest = RISE, math.inf
    nodes, cost, plain = -1, math.inf, math.inf
    for attempt in range(tried, attempts):
        if left < lowest:
            lowest = left
            for j in range(begin, end):
                i = c.order[j]
                c.least[i, 0], c.least[i, 1], c.least[i, 2] = c.p[i, 0], c.p[i, 1], c.p[i, 2]
        if left < wanted:
            break
        if attempt == max(tried, 1):
            nodes = order_nodes(c.newton.elimination, c.first, c.node, c.order, begin, end)
            if nodes > 0:
                cost = elimination_cost(c, begin, end, nodes, True)
                plain = elimination_cost(c, begin, end, nodes, False)
        if attempt == ANEW and nodes < 0:
            # No room for the elimination: sweeps were made alone.
            break
        if attempt == ANEW and plain <= CHEAP:
            # Begin anew, without the guess, and from little friction.
            for j in range(begin, end):
                i = c.order[j]
                c.p[i, 0], c.p[i, 1], c.p[i, 2] = 0.0, 0.0, 0.0
            apply_all(c, begin, end)
            left = raised(c, begin, end, wanted)
        if attempt > 0:
            left = accelerated(c, begin, end, wanted, sweeps_worth(BETWEEN * cost, MORE_SWEEPS), left)
        if left >= wanted:
            left = by_newton(c, begin, end, wanted, left, rise, attempt < FOCUSED)
        rise = RISE + STEEP_RISE - rise
    if left > lowest:
        for j in range(begin, end):
            i = c.order[j]
            c.p[i, 0], c.p[i, 1], c.p[i, 2] = c.least[i, 0], c.least[i, 1], c.least[i, 2]
        apply_all(c, begin, end)
        left = lowest
    note(c, begin, end, left, scale)
    for j in range(begin, end):
        c.part[c.order[j]] = SETTLED


@compiled
def is_fresh(c: Cones, begin: int, end: int) -> bool:
    """Whether an island has changed since it was solved."""
    fresh = False
    for j in range(begin, end):
        fresh = fresh or c.part[c.order[j]] == FRESH
    return fresh


@compiled
def rejoin(c: Cones, tolerance: float) -> bool:
    """Let all contacts take part where islands miss the tolerance; whether there are any."""
    found = False
    for i in range(c.counts[CONTACTS]):
        for side in range(2):
            node = c.node[i, side]
            if node >= 0 and not c.missed[node] < tolerance:
                found = True
    if found:
        for i in range(c.counts[CONTACTS]):
            c.part[i] = FRESH
    return found


@compiled
def solve_cones(c: Cones, tolerance: float) -> None:
    """Impulses and speeds of all contacts, from the guess in p, to a residual over the scale of each island."""
    for k in range(len(c.u)):
        c.u[k] = c.free[k]
    for i in range(c.counts[CONTACTS]):
        c.part[i] = SETTLED
    find_islands(c)
    entering = False
    for k in range(c.counts[ISLANDS]):
        if not begin_island(c, c.begin[k], c.begin[k + 1], tolerance) < tolerance:
            leave(c, c.begin[k], c.begin[k + 1])
            entering = True
    while entering:
        find_islands(c)
        for k in range(c.counts[ISLANDS]):
            if is_fresh(c, c.begin[k], c.begin[k + 1]):
                solve_island(c, c.begin[k], c.begin[k + 1], tolerance, 0, APART)
        entering = enter(c, tolerance)
    if rejoin(c, tolerance):
        find_islands(c)
        for k in range(c.counts[ISLANDS]):
            if is_fresh(c, c.begin[k], c.begin[k + 1]):
                solve_island(c, c.begin[k], c.begin[k + 1], tolerance, APART, ATTEMPTS)
    c.statistics[RESIDUAL], c.statistics[SCALE] = 0.0, 1.0
    for i in range(c.counts[CONTACTS]):
        for side in range(2):
            node = c.node[i, side]
            # Not a number counts as unsolved.
            if node >= 0 and not c.missed[node] <= c.statistics[RESIDUAL]:
                c.statistics[RESIDUAL], c.statistics[SCALE] = c.missed[node], c.scale[node]


@entry
def solve_problem(c: Cones, tolerance: float) -> int:
    """One problem, as it stands in the arrays."""
    c.statistics[ITERATIONS] = 0.0
    solve_cones(c, tolerance)
    return int(c.statistics[ITERATIONS])


__all__ = [
    "CONTACTS",
    "ISLANDS",
    "ITERATIONS",
    "RESIDUAL",
    "SINGULAR",
    "Cones",
    "by_newton",
    "cones_of",
    "find_islands",
    "solve_cones",
    "solve_problem",
    "trace",
    "velocity",
]
