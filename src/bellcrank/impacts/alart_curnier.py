"""Newton's method on the equations of Alart and Curnier, compiled; its steps are taken where the conditions are missed.

The equations say of each contact that its impulse is the projection of p - v / w, with its mobility w, onto the half
line of pressing impulses and the disc of friction that belongs to it. Their linear systems are solved for the speeds,
(M + J^T K J) du = J^T r, which are as sparse as the graph of nodes. Faces and redundant supports, which make W
singular, leave them regular.

After three or four steps most contacts of a pile have found out whether they are open, stick or slip; what is left are
a few bodies where sticking, slip and load are shared in other ways with each step. So a step *focuses* on the nodes of
contacts whose conditions are missed. All other contacts stay linear, with the slope of their projection; their nodes
are eliminated first, and once. On the condensed system Newton's method takes some turns, each with new slopes and its
own length, and at last the others follow. Of 240 contacts that takes 3 eliminations of all and 13 turns in the mean,
where steps of all contacts take 15, and one in a hundred more than 50.

Sources: Alart, Curnier (1991), "A mixed formulation for frictional contact problems prone to Newton like solution
methods"; Lanzkron, Rose, Wilkes (1996), "An analysis of approximate nonlinear elimination".
Differs in: the linear system has compliance, like the parameter of Levenberg and Marquardt; what is not eliminated
non-linearly takes part with its linear response.
"""

from __future__ import annotations

import math

from bellcrank.impacts.cone_problem import (
    ITERATIONS,
    Cones,
    allowed,
    apply_all,
    keep,
    miss,
    residual,
    take_best,
    trace,
    velocities,
    within_limits,
)
from bellcrank.impacts.elimination import (
    LANES,
    block_of,
    clear,
    factorise,
    order_nodes,
    padded,
    reduce,
    substitute,
)
from bellcrank.program.loops import Reals, Reals2, compiled

NEWTON_STEPS, TURNS, PATIENCE = 50, 6, 20
"""Steps at most, turns in each that focuses, and such steps without a lower residual after which the sweeps go on. With
3 turns 23 steps of 80 boxes stay unsolved, with 10 turns they take a tenth longer. With a patience of 6 heavy bodies on
light ones fail."""
HALVINGS = 3
LEAST_SHARE = 0.5**HALVINGS * 1.5
RISE, STEEP_RISE = 60.0, 1000.0
"""By how much a turn may raise what is left, squared, in odd and even attempts: the path to other sets of contacts that
slip or open leads over hills, and a method that only goes down ends before them. The best impulses are kept. Fewest of
the steps of balls that settle in a box fail between 30 and 100; heavy bodies on light ones need the other."""
SOFTEST, SOFT, HARDEST = 1e-1, 1e-3, 1e-7
"""Compliance of a contact in Newton's linear systems, over its mobility: at most, at first, and at least. Along an
eigenvector of W the error of a step falls by the compliance over the eigenvalue. How redundant supports share a load is
not determined, and a hard system throws it far along; so the compliance grows where a step fails and shrinks where it
succeeds, like the parameter of Levenberg and Marquardt. The least one leaves half the digits to rounding."""
HARDER, SOFTER = 0.3, 10.0
"""By which the compliance shrinks and grows."""
STALLED = 0.9
"""Part of the residual of the step before above which a step has stalled. The next one then begins harder, and with the
neighbours of the focus: turns that go in a circle repeat it otherwise."""
RINGS = 7
"""Neighbours of neighbours at most that a focus takes in."""


@compiled
def missed(c: Cones, begin: int, end: int, share: float) -> float:
    """What is left of Alart and Curnier's equations after a share of the step, squared [N m]."""
    m = c.newton
    total = 0.0
    pressed = 0.0
    for j in range(begin, end):
        i = m.listed[j]
        w = trace(c, i)
        mass = 1.0 / w
        p = c.p[i, 0] + share * m.more[i, 0]
        q = c.p[i, 1] + share * m.more[i, 1]
        r = c.p[i, 2] + share * m.more[i, 2]
        x = p - mass * (m.now[i, 0] + share * m.rate[i, 0])
        y = q - mass * (m.now[i, 1] + share * m.rate[i, 1])
        z = r - mass * (m.now[i, 2] + share * m.rate[i, 2])
        if c.resists[i] == 1:
            x, y, z = within_limits(c, i, pressed, x, y, z)
        elif x <= 0.0:
            x, y, z = 0.0, 0.0, 0.0
            pressed = x
        else:
            pressed = x
            square, most = y * y + z * z, c.friction[i] * x
            if square > most * most:
                most /= math.sqrt(square)
                y, z = most * y, most * z
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
    p, q, r, mass = c.p[i, 0], c.p[i, 1], c.p[i, 2], 1.0 / w
    x, y, z = p - mass * m.now[i, 0], q - mass * m.now[i, 1], r - mass * m.now[i, 2]
    if x <= 0.0:
        m.missing[i, 0], m.missing[i, 1], m.missing[i, 2] = -p, -q, -r
        return False
    for k in range(9):
        m.slope[i, k] = 0.0
    stiff = mass / soft
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
def weigh(c: Cones, i: int, side: int) -> None:
    """K J of a contact over the speeds of one side; a resistance feels the normal speed of its contact too."""
    m, node, row = c.newton, c.node[i, side], 6 * i + 3 * side
    for k in range(3):
        x, y, z = m.slope[i, 3 * k], m.slope[i, 3 * k + 1], m.slope[i, 3 * k + 2]
        for a in range(0, padded(c.first[node + 1] - c.first[node]), LANES):
            for n in range(LANES):
                m.weighed[3 * side + k, a + n] = (
                    x * c.rows[row, a + n] + y * c.rows[row + 1, a + n] + z * c.rows[row + 2, a + n]
                )
            if c.resists[i] == 1:
                for n in range(LANES):
                    m.weighed[3 * side + k, a + n] += m.carried[i, k] * c.rows[row - 6, a + n]


@compiled
def add_product(
    x: Reals, at: int, down: int, left: Reals2, row: int, rows: int, right: Reals2, other: int, columns: int
) -> None:
    """Add A^T B to a block; A and B are three rows from row and other on."""
    for a in range(rows):
        f, g, h = left[row, a], left[row + 1, a], left[row + 2, a]
        for b in range(0, columns, LANES):
            for n in range(LANES):
                x[at + b + n] += (
                    f * right[other, b + n] + g * right[other + 1, b + n] + h * right[other + 2, b + n]
                )
        at += down


@compiled
def add_block(c: Cones, i: int, side: int, other: int) -> None:
    """J^T K J of a contact between two of its sides."""
    m, values, row, column = c.newton, c.newton.elimination.values, 6 * i + 3 * side, 3 * other
    a, b = c.node[i, side], c.node[i, other]
    at, down, along = block_of(m.elimination, c.first, a, b)
    rows, columns = c.first[a + 1] - c.first[a], c.first[b + 1] - c.first[b]
    if along == 1:
        add_product(values, at, down, c.rows, row, rows, m.weighed, column, padded(columns))
    else:
        add_product(values, at, along, m.weighed, column, columns, c.rows, row, padded(rows))


@compiled
def assemble_masses(c: Cones, nodes: int) -> None:
    """M as the matrix, and no change."""
    m, e = c.newton, c.newton.elimination
    clear(e, c.first, nodes)
    for k in range(nodes):
        node = e.order[k]
        at, to = c.first[node], e.panels[k]
        size = c.first[node + 1] - at
        down = padded(size)
        for a in range(size):
            m.change[at + a] = 0.0
            for b in range(a):
                e.values[to + a * down + b] = c.mass[at + a, b]
                e.values[to + b * down + a] = c.mass[at + a, b]
            e.values[to + a * down + a] = c.mass[at + a, a]


@compiled
def add_contacts(c: Cones, begin: int, end: int, soft: float) -> None:
    """Add J^T K J to the matrix and J^T r to the change, of the contacts listed."""
    m = c.newton
    for j in range(begin, end):
        i = m.listed[j]
        carries = False
        if c.resists[i] == 1:
            carries = linearise_resistance(c, i, soft)
        else:
            carries = linearise(c, i, soft)
        m.carries[i] = 0
        if carries:
            m.carries[i] = 1
        x, y, z = m.missing[i, 0], m.missing[i, 1], m.missing[i, 2]
        if not carries and x == 0.0 and y == 0.0 and z == 0.0:
            continue
        for side in range(2):
            node = c.node[i, side]
            if node < 0:
                continue
            at, row = c.first[node], 6 * i + 3 * side
            for a in range(c.first[node + 1] - at):
                m.change[at + a] += c.rows[row, a] * x + c.rows[row + 1, a] * y + c.rows[row + 2, a] * z
            if carries:
                weigh(c, i, side)
                add_block(c, i, side, side)
                if c.node[i, 1 - side] >= 0:
                    add_block(c, i, 1 - side, side)


@compiled
def direction(c: Cones, begin: int, end: int, share: float) -> None:
    """The change of velocities and impulses from that of the speeds, with a share of what is missing."""
    m = c.newton
    for j in range(begin, end):
        i = m.listed[j]
        x, y, z = 0.0, 0.0, 0.0
        for side in range(2):
            node = c.node[i, side]
            if node >= 0:
                at, row = c.first[node], 6 * i + 3 * side
                for a in range(c.first[node + 1] - at):
                    u = m.change[at + a]
                    x += c.rows[row, a] * u
                    y += c.rows[row + 1, a] * u
                    z += c.rows[row + 2, a] * u
        m.rate[i, 0], m.rate[i, 1], m.rate[i, 2] = x, y, z
        if m.carries[i] == 0:
            for k in range(3):
                m.more[i, k] = share * m.missing[i, k]
            continue
        for k in range(3):
            along = m.slope[i, 3 * k] * x + m.slope[i, 3 * k + 1] * y + m.slope[i, 3 * k + 2] * z
            if c.resists[i] == 1:
                along += m.carried[i, k] * m.rate[i - 1, 0]
            m.more[i, k] = share * m.missing[i, k] - along


@compiled
def move_with(c: Cones, begin: int, end: int, share: float) -> float:
    """Impulses and velocities of the contacts listed after a share of the step; the largest miss [m/s]."""
    m = c.newton
    worst = 0.0
    for j in range(begin, end):
        i = m.listed[j]
        for k in range(3):
            c.p[i, k] += share * m.more[i, k]
            m.now[i, k] += share * m.rate[i, k]
        left = miss(c, i, m.now[i, 0], m.now[i, 1], m.now[i, 2])
        # Not a number counts as missed.
        if not left <= worst:
            worst = left
    return worst


@compiled
def in_focus(c: Cones, i: int) -> bool:
    """Whether a contact joins late nodes alone."""
    late = c.newton.elimination.late
    own = True
    for side in range(2):
        node = c.node[i, side]
        if node >= 0 and late[node] == 0:
            own = False
    return own


@compiled
def forget_focus(c: Cones, begin: int, end: int) -> None:
    """No node of an island is late."""
    for j in range(begin, end):
        for side in range(2):
            node = c.node[c.order[j], side]
            if node >= 0:
                c.newton.elimination.late[node] = 0


@compiled
def mark_late(c: Cones, begin: int, end: int, wanted: float, rings: int) -> None:
    """Mark the nodes of contacts whose conditions are missed, and rings of their neighbours."""
    m, late = c.newton, c.newton.elimination.late
    forget_focus(c, begin, end)
    for j in range(begin, end):
        i = c.order[j]
        if not miss(c, i, m.now[i, 0], m.now[i, 1], m.now[i, 2]) < wanted:
            for side in range(2):
                node = c.node[i, side]
                if node >= 0:
                    late[node] = 1
    for ring in range(rings):
        # Those of this ring have its number until the next one.
        for j in range(begin, end):
            a, b = c.node[c.order[j], 0], c.node[c.order[j], 1]
            if a >= 0 and b >= 0:
                if late[a] > 0 and late[a] <= ring + 1 and late[b] == 0:
                    late[b] = ring + 2
                elif late[b] > 0 and late[b] <= ring + 1 and late[a] == 0:
                    late[a] = ring + 2


@compiled
def focus(c: Cones, begin: int, end: int, wanted: float, rings: int) -> tuple[int, int, int]:
    """Order the nodes, late ones last, and list the contacts, those in focus last.

    The first contact in focus, the first late node, and the number of nodes, or -1 where there is no room for them.
    """
    m, e = c.newton, c.newton.elimination
    for j in range(begin, end):
        i = c.order[j]
        x, y, z = velocities(c, i)
        m.now[i, 0], m.now[i, 1], m.now[i, 2] = x - c.bound[i], y, z
    mark_late(c, begin, end, wanted, rings)
    nodes = order_nodes(e, c.first, c.node, c.order, begin, end)
    if nodes < 0:
        # That order has no room; the one without late nodes may.
        mark_late(c, begin, end, 0.0, 0)
        nodes = order_nodes(e, c.first, c.node, c.order, begin, end)
    start = nodes
    while start > 0 and e.late[e.order[start - 1]] > 0:
        start -= 1
    at = begin
    for j in range(begin, end):
        if not in_focus(c, c.order[j]):
            m.listed[at] = c.order[j]
            at += 1
    inner = at
    for j in range(begin, end):
        if in_focus(c, c.order[j]):
            m.listed[at] = c.order[j]
            at += 1
    return inner, start, nodes


@compiled
def copy(x: Reals, to: int, at: int, count: int) -> None:
    """Copy numbers within an array."""
    for k in range(count):
        x[to + k] = x[at + k]


@compiled
def take_turns(
    c: Cones,
    inner: int,
    end: int,
    start: int,
    nodes: int,
    turns: int,
    wanted: float,
    rise: float,
    soft: float,
) -> tuple[float, float]:
    """Newton's method on the condensed system of the contacts in focus; the step of the late nodes is in `gone`.

    The part of the others' step that is not made, and the compliance of the next turn.
    """
    m, e = c.newton, c.newton.elimination
    base, room, size = e.panels[start], e.panels[nodes], e.panels[nodes] - e.panels[start]
    copy(e.values, room, base, size)
    for n in range(start, nodes):
        for k in range(c.first[e.order[n]], c.first[e.order[n] + 1]):
            m.condensed[k], m.gone[k] = m.change[k], 0.0
    whole = 1.0
    for turn in range(turns):
        c.statistics[ITERATIONS] += 1.0
        if turn > 0:
            copy(e.values, base, room, size)
        for n in range(start, nodes):
            for k in range(c.first[e.order[n]], c.first[e.order[n] + 1]):
                m.change[k] = whole * m.condensed[k]
        add_contacts(c, inner, end, soft)
        if not factorise(e, c.first, start, nodes):
            break
        reduce(e, c.first, start, nodes, m.change)
        if not substitute(e, c.first, start, nodes, m.change):
            break
        direction(c, inner, end, 1.0)
        left = missed(c, inner, end, 0.0)
        share = 1.0
        for _ in range(HALVINGS):
            if missed(c, inner, end, share) < rise * left:
                break
            share *= 0.5
        if share < LEAST_SHARE:
            if soft >= SOFTEST:
                break
            soft = min(SOFTER * soft, SOFTEST)
            continue
        if share < 1.0:
            soft = min(SOFTER * soft, SOFTEST)
        else:
            soft = max(HARDER * soft, HARDEST)
        whole *= 1.0 - share
        for n in range(start, nodes):
            for k in range(c.first[e.order[n]], c.first[e.order[n] + 1]):
                m.gone[k] += share * m.change[k]
        if move_with(c, inner, end, share) < wanted:
            break
    return whole, soft


@compiled
def follow(c: Cones, begin: int, inner: int, start: int, nodes: int, share: float) -> bool:
    """The impulses of contacts out of focus after a share of their step, and what the late nodes move; False: none."""
    m, e = c.newton, c.newton.elimination
    for n in range(start):
        for k in range(c.first[e.order[n]], c.first[e.order[n] + 1]):
            m.change[k] *= share
    for n in range(start, nodes):
        for k in range(c.first[e.order[n]], c.first[e.order[n] + 1]):
            m.change[k] = m.gone[k]
    if not substitute(e, c.first, 0, start, m.change):
        return False
    direction(c, begin, inner, share)
    for j in range(begin, inner):
        i = m.listed[j]
        for k in range(3):
            c.p[i, k] += m.more[i, k]
    return True


@compiled
def by_newton(
    c: Cones, begin: int, end: int, wanted: float, before: float, rise: float, focused: bool
) -> float:
    """Newton's method from the impulses given; the residual of the best ones, which are kept.

    focused: Whether its steps focus; else they take in all contacts, and the compliance goes on from step to step.
    """
    m, e = c.newton, c.newton.elimination
    keep(c, begin, end)
    lowest, last, soft, rings, vain = before, before, SOFT, 0, 0
    bound, turns = 0.0, 1
    if focused:
        bound, turns = wanted, TURNS
    for _ in range(NEWTON_STEPS):
        vain += 1
        if focused and vain > PATIENCE:
            break
        inner, start, nodes = focus(c, begin, end, bound, rings)
        if nodes < 0:
            # No room for the elimination.
            break
        rings = min(2 * rings + 1, RINGS)
        assemble_masses(c, nodes)
        add_contacts(c, begin, inner, soft)
        if not factorise(e, c.first, 0, start):
            break
        reduce(e, c.first, 0, start, m.change)
        whole, tried = take_turns(c, inner, end, start, nodes, turns, wanted, rise, soft)
        if whole == 1.0:
            if not focused and tried <= soft:
                # The softest system fails too.
                break
            if not focused:
                soft = tried
            continue
        if not follow(c, begin, inner, start, nodes, 1.0 - whole):
            break
        apply_all(c, begin, end)
        now = residual(c, begin, end)
        if now < lowest:
            lowest, vain = now, 0
            keep(c, begin, end)
        if now < wanted or not math.isfinite(now):
            break
        soft = max(0.1 * soft, HARDEST)
        if not focused:
            soft = tried
        elif now < STALLED * last:
            soft, rings = SOFT, 0
        last = now
    forget_focus(c, begin, end)
    for j in range(begin, end):
        i = c.order[j]
        x, y, z = allowed(c, i, c.best[i, 0], c.best[i, 1], c.best[i, 2], c.best)
        c.best[i, 0], c.best[i, 1], c.best[i, 2] = x, y, z
    take_best(c, begin, end)
    return residual(c, begin, end)


__all__ = ["RISE", "STEEP_RISE", "by_newton"]
