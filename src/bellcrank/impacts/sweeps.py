"""Gauss-Seidel over the contacts of an island, with Nesterov's momentum, compiled.

Each contact in turn is solved exactly with the others as they are. Momentum is dropped where it points against the last
change (O'Donoghue, Candes, 2015). Eigenvalues of W in a packing come close to zero: the residual of plain sweeps falls
like one over their number, and with momentum at best like one over its square.
"""

from __future__ import annotations

import math

from bellcrank.impacts.cone_problem import (
    ITERATIONS,
    Cones,
    allowed,
    apply_all,
    keep,
    local_impulse,
    local_moment,
    push,
    residual,
    take_best,
    trace,
    velocities,
)
from bellcrank.program.loops import compiled

CHECK, NEARLY = 8, 10.0
"""Sweeps between two looks at the residual, which costs half a sweep. Where the largest change of a sweep is within
this factor of the residual asked for, every sweep is followed by a look: momentum makes the residual swing."""
AWAY = 1e2
"""Residual over the lowest one at which the sweeps go back to the best impulses: friction makes the iteration
unsymmetric, and momentum may let it grow."""


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


__all__ = ["accelerated"]
