"""Coulomb contact in space, contact by contact in turn, compiled; see :mod:`bellcrank.impacts.coulomb`.

Jourdan, Alart and Jean (1998), "A Gauss-Seidel like algorithm to solve frictional contact problems". Differs in: the
problem of one contact is solved exactly; Newton's method on the equations of Alart and Curnier (1991) gives the last
digits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bellcrank.impacts.cone_problem import local_impulse
from bellcrank.impacts.sharing import COMPLIANT, ROUNDS
from bellcrank.integrate.linear import factorise, solve
from bellcrank.program.loops import Ints, Reals, Reals2, compiled, entry, reals

SWEEPS = 100
"""Most sweeps over the contacts."""
GOOD = 1e-13
"""Miss of the conditions, over the size of b, at which a sweep is the last."""
NEWTON = 30
"""Most steps of Newton's method, and how often each is halved."""
HALVED = 8
LIFTED = 1e-12
"""Part of the mobility of a contact added to the Jacobian alone: W has half rank under a face."""
MISS, SIZE, STATISTICS = range(3)


class Coulomb(NamedTuple):
    """One problem: v = W p + b, three rows a contact, normal first.

    slip: Directions in which contacts slide already, rows of zeros where they do not. least: Normal impulses at least.
    statistics: The miss, over the size of b and of what stored impulses give, and that size.
    """

    W: Reals2
    b: Reals
    mu: Reals
    least: Reals
    slip: Reals2
    p: Reals
    best: Reals
    v: Reals
    jacobian: Reals2
    rhs: Reals2
    step: Reals
    given: Reals
    before: Reals
    give: Reals
    pivots: Ints
    statistics: Reals


def room(contacts: int) -> Coulomb:
    """For so many contacts."""
    n, reals = 3 * contacts, np.zeros
    return Coulomb(
        reals((n, n)),
        reals(n),
        reals(contacts),
        reals(contacts),
        reals((contacts, 2)),
        reals(n),
        reals(n),
        reals(n),
        reals((n, n)),
        reals((1, n)),
        reals(n),
        reals(n),
        reals(n),
        reals(contacts),
        np.zeros(n, np.int64),
        reals(STATISTICS),
    )


@compiled
def sliding(g: Coulomb, i: int) -> bool:
    """Whether contact i slides already."""
    slips: bool = g.slip[i, 0] != 0.0 or g.slip[i, 1] != 0.0
    return slips


@compiled
def velocities(g: Coulomb) -> None:
    """v = W p + b."""
    n = len(g.b)
    for k in range(n):
        total = g.b[k]
        for j in range(n):
            total += g.W[k, j] * g.p[j]
        g.v[k] = total


@compiled
def mobility_of(g: Coulomb, i: int) -> float:
    """The largest mobility of a contact along its rows [1/kg]."""
    k = 3 * i
    largest: float = max(max(g.W[k, k], g.W[k + 1, k + 1]), max(g.W[k + 2, k + 2], 1e-300))
    return largest


@compiled
def missed(g: Coulomb) -> float:
    """The largest violation of the conditions, as a velocity, over the size of b."""
    velocities(g)
    worst: float = 0.0
    for i in range(len(g.mu)):
        n = 3 * i
        step = mobility_of(g, i)
        worst = max(worst, abs(min((g.p[n] - g.least[i]) * step, g.v[n])))
        x, y = -g.mu[i] * g.p[n] * g.slip[i, 0], -g.mu[i] * g.p[n] * g.slip[i, 1]
        if not sliding(g, i):
            x, y = g.p[n + 1] - g.v[n + 1] / step, g.p[n + 2] - g.v[n + 2] / step
            share = min(1.0, g.mu[i] * max(g.p[n], 0.0) / max(math.sqrt(x * x + y * y), 1e-300))
            x, y = share * x, share * y
        worst = max(worst, step * max(abs(g.p[n + 1] - x), abs(g.p[n + 2] - y)))
    missed_by: float = worst / g.statistics[SIZE]
    return missed_by


@compiled
def with_normal(g: Coulomb, i: int, x: float, y: float) -> tuple[float, float, float]:
    """The impulse with the normal part that is stored: sticking, or sliding with (W_tt + alpha I) p_t = -(x, y)."""
    n = 3 * i
    p_n = g.least[i]
    limit = g.mu[i] * p_n
    if limit == 0.0:
        return p_n, 0.0, 0.0
    x, y = x + g.W[n + 1, n] * p_n, y + g.W[n + 2, n] * p_n
    a, b, d = g.W[n + 1, n + 1], g.W[n + 1, n + 2], g.W[n + 2, n + 2]
    tiny = 1e-15 * (a + d) + 1e-300
    low, high = 0.0, math.sqrt(x * x + y * y) / limit
    alpha = tiny
    q, r = 0.0, 0.0
    for number in range(101):
        det = (a + alpha) * (d + alpha) - b * b
        q, r = -((d + alpha) * x - b * y) / det, -((a + alpha) * y - b * x) / det
        within = math.sqrt(q * q + r * r) <= limit
        if number == 0 and within:
            break
        if number > 0 and within:
            high = alpha
        elif number > 0:
            low = alpha
        alpha = 0.5 * (low + high)
        if number > 0 and high - low <= 1e-16 * high:
            break
    return p_n, q, r


@compiled
def sweep(g: Coulomb) -> bool:
    """Every contact solved with the others as they are; False where one that slides jams."""
    w = reals(6)
    n = len(g.b)
    for i in range(len(g.mu)):
        k = 3 * i
        x, y, z = g.b[k], g.b[k + 1], g.b[k + 2]
        for j in range(n):
            if j < k or j > k + 2:
                x += g.W[k, j] * g.p[j]
                y += g.W[k + 1, j] * g.p[j]
                z += g.W[k + 2, j] * g.p[j]
        a, b, c = 0.0, 0.0, 0.0
        if sliding(g, i):
            d, e = -g.mu[i] * g.slip[i, 0], -g.mu[i] * g.slip[i, 1]
            steep = g.W[k, k] + g.W[k, k + 1] * d + g.W[k, k + 2] * e
            if steep <= 0.0 and x < 0.0:
                return False
            a = g.least[i]
            if steep > 0.0:
                a = max(a, -x / steep)
            b, c = a * d, a * e
        else:
            a, b, c = with_normal(g, i, y, z)
            if g.W[k, k] * a + g.W[k, k + 1] * b + g.W[k, k + 2] * c + x < 0.0:
                w[0], w[1], w[2] = g.W[k, k], g.W[k, k + 1], g.W[k, k + 2]
                # A joint may lock a tangent.
                tiny = LIFTED * (g.W[k, k] + g.W[k + 1, k + 1] + g.W[k + 2, k + 2])
                w[3], w[4], w[5] = g.W[k + 1, k + 1] + tiny, g.W[k + 1, k + 2], g.W[k + 2, k + 2] + tiny
                a, b, c = local_impulse(w, g.mu[i], x, y, z)
        g.p[k], g.p[k + 1], g.p[k + 2] = a, b, c
    return True


@compiled
def keep_better(g: Coulomb) -> None:
    """Keep the impulses where they miss less than the best so far."""
    now = missed(g)
    if now < g.statistics[MISS]:
        g.statistics[MISS] = now
        for k in range(len(g.b)):
            g.best[k] = g.p[k]


@compiled
def natural(g: Coulomb) -> float:
    """What is left of Alart and Curnier's equations, as velocities, in the right-hand side; its norm."""
    velocities(g)
    total = 0.0
    for i in range(len(g.mu)):
        k = 3 * i
        s, mu = mobility_of(g, i), g.mu[i]
        z = s * g.p[k] - g.v[k]
        x, y = s * g.p[k + 1] - g.v[k + 1], s * g.p[k + 2] - g.v[k + 2]
        normal = max(z, s * g.least[i])
        limit, t = mu * max(normal, 0.0), math.sqrt(x * x + y * y)
        share = 1.0
        if t > limit:
            share = limit / t
        g.rhs[0, k] = s * g.p[k] - normal
        g.rhs[0, k + 1] = s * g.p[k + 1] - share * x
        g.rhs[0, k + 2] = s * g.p[k + 2] - share * y
        if sliding(g, i):
            g.rhs[0, k + 1] = s * (g.p[k + 1] + mu * g.p[k] * g.slip[i, 0])
            g.rhs[0, k + 2] = s * (g.p[k + 2] + mu * g.p[k] * g.slip[i, 1])
        for j in range(3):
            total += g.rhs[0, k + j] * g.rhs[0, k + j]
    return math.sqrt(total)


@compiled
def slope_of_natural(g: Coulomb) -> None:
    """The Jacobian of Alart and Curnier's equations; W has half rank under a face, so it is lifted a little."""
    n = len(g.b)
    H = g.jacobian
    for i in range(len(g.mu)):
        k = 3 * i
        s, mu = mobility_of(g, i), g.mu[i]
        z = s * g.p[k] - g.v[k]
        x, y = s * g.p[k + 1] - g.v[k + 1], s * g.p[k + 2] - g.v[k + 2]
        on = 0.0
        if z > s * g.least[i]:
            on = 1.0
        limit, t = mu * max(max(z, s * g.least[i]), 0.0), math.sqrt(x * x + y * y)
        for j in range(n):
            H[k, j] = on * g.W[k, j]
            H[k + 1, j] = g.W[k + 1, j]
            H[k + 2, j] = g.W[k + 2, j]
        H[k, k] += s * (1.0 - on)
        if sliding(g, i):
            for j in range(n):
                H[k + 1, j] = 0.0
                H[k + 2, j] = 0.0
            H[k + 1, k + 1] = s
            H[k + 2, k + 2] = s
            H[k + 1, k] = s * mu * g.slip[i, 0]
            H[k + 2, k] = s * mu * g.slip[i, 1]
        elif t > limit:
            share = limit / t
            a, b = x / t, y / t
            d, e, f = share * (1.0 - a * a), -share * a * b, share * (1.0 - b * b)
            for j in range(n):
                H[k + 1, j] = d * g.W[k + 1, j] + e * g.W[k + 2, j] + mu * on * a * g.W[k, j]
                H[k + 2, j] = e * g.W[k + 1, j] + f * g.W[k + 2, j] + mu * on * b * g.W[k, j]
            H[k + 1, k] -= s * mu * on * a
            H[k + 2, k] -= s * mu * on * b
            H[k + 1, k + 1] += s * (1.0 - d)
            H[k + 1, k + 2] -= s * e
            H[k + 2, k + 1] -= s * e
            H[k + 2, k + 2] += s * (1.0 - f)
        for j in range(3):
            H[k + j, k + j] += LIFTED * s


@compiled
def newton(g: Coulomb) -> bool:
    """Newton's method on Alart and Curnier's equations with halved steps; the best impulses are kept."""
    n = len(g.b)
    left = natural(g)
    for _ in range(NEWTON):
        slope_of_natural(g)
        if not factorise(g.jacobian, g.pivots, 0):
            return False
        solve(g.jacobian, g.pivots, 0, g.rhs, 0)
        for k in range(n):
            g.step[k] = g.rhs[0, k]
            g.p[k] -= g.step[k]
        part = 1.0
        found = natural(g)
        for _ in range(HALVED):
            if found <= (1.0 - 1e-4 * part) * left:
                break
            part *= 0.5
            for k in range(n):
                g.p[k] += part * g.step[k]
            found = natural(g)
        if not math.isfinite(found):
            return False
        keep_better(g)
        if g.statistics[MISS] < GOOD or found >= left:
            break
        left = natural(g)
    return True


@compiled
def by_turns(g: Coulomb) -> bool:
    """The best impulses in p, from those given; False where a contact that slides jams."""
    n = len(g.b)
    for k in range(n):
        g.best[k] = g.p[k]
    g.statistics[MISS] = missed(g)
    for number in range(1, SWEEPS + 1):
        if g.statistics[MISS] < GOOD:
            break
        if not sweep(g):
            return False
        velocities(g)
        wild = 0.0
        for k in range(n):
            wild = max(wild, abs(g.v[k] - g.b[k]))
        if not wild < 1e6 * g.statistics[SIZE]:
            break
        if number <= 2 or number % 10 == 0:
            keep_better(g)
            newton(g)
            for k in range(n):
                g.p[k] = g.best[k]
    for k in range(n):
        g.p[k] = g.best[k]
    return True


@compiled
def solve_by_turns(g: Coulomb) -> bool:
    """The impulses in p and their velocities; False where a contact that slides jams.

    Rigid bodies may leave open which: those are taken that contacts have which give way a little, with what that lets
    through taken out in further rounds. So impulses are those of the least norm, and contacts stick where they can.
    """
    n = len(g.b)
    mobility, speed, stored = 0.0, 0.0, 0.0
    for k in range(n):
        g.p[k] = 0.0
        g.given[k] = g.b[k]
        mobility = max(mobility, g.W[k, k])
        speed = max(speed, abs(g.b[k]))
    for i in range(len(g.mu)):
        stored = max(stored, g.least[i])
        g.give[i] = COMPLIANT * mobility_of(g, i)
    g.statistics[SIZE] = max(max(speed, mobility * stored), 1e-300)
    for k in range(n):
        g.W[k, k] += g.give[k // 3]
    found = True
    for _ in range(ROUNDS):
        for k in range(n):
            g.before[k] = g.p[k]
            g.b[k] = g.given[k] - g.give[k // 3] * g.p[k]
        found = by_turns(g)
        through = 0.0
        for k in range(n):
            through = max(through, g.give[k // 3] * abs(g.p[k] - g.before[k]))
        if not found or through <= GOOD * g.statistics[SIZE]:
            break
    for k in range(n):
        g.W[k, k] -= g.give[k // 3]
        g.b[k] = g.given[k]
    g.statistics[MISS] = missed(g)
    return found


@entry
def solve_problem(g: Coulomb) -> int:
    """One problem, as it stands in the arrays; 1 where it has come to an end."""
    done = 0
    if solve_by_turns(g):
        done = 1
    return done
