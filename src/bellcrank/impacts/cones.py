"""Impulses of many contacts in Coulomb's cones, compiled.

The problem, for impulses p and velocities v of all contacts after them, normal first:

    v = W p + v_free,   0 <= p_n  _|_  v_n - bound >= 0,   |p_t| <= mu p_n,   p_t = -mu p_n v_t / |v_t| where v_t != 0.

W = J M^-1 J^T is never formed for the sweeps: a contact knows its rows J and columns M^-1 J^T over the speeds that move
it, its support. Gauss-Seidel with exact local solutions, accelerated by Anderson's method; where that is slow, as in a
stack, Newton's method on the equations of Alart and Curnier (1991). Acary, Bremond, Huber (2018), "On solving contact
problems with Coulomb friction", compares them. The residual is that of the natural map with De Saxce's correction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bellcrank.integrate.linear import factorise, solve
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, compiled, entry, matrix

MEMORY = 5
"""Earlier sweeps that the acceleration looks at; more do not help on heaps, and fewer take twice the sweeps."""
SWEEPS = 40
"""Accelerated sweeps before Newton's method is tried: about what a heap needs to 1e-6."""
LAST_SWEEPS = 400
"""Accelerated sweeps after Newton's method has failed, or where there are too many contacts for it."""
NEWTON_STEPS = 15
NEWTON_MOST = 120
"""Contacts at most for which the dense matrix of Newton's method is cheaper than more sweeps."""
SINGULAR = 1e-9
"""Part of the mobility of a contact added along its tangents: one that a joint locks has none. It slows the sweeps by
as little, and leaves their solution as it is."""

# Rows of the vectors of the acceleration and of Newton's method.
_F, _G, _F0, _G0, _X = range(5)
_STEPS = 5
VECTORS = _STEPS + 2 * MEMORY

RESIDUAL, SCALE, TOLD = range(3)


class Cones(NamedTuple):
    """The contacts of one step; arrays as long as there may be contacts.

    active: Their number. size, places: Support of each, places among the speeds. rows, columns: J and M^-1 J^T, three
    of each contact over its support. local: Its own block of W, 00 01 02 11 12 22. bound: Least normal speed [m/s].
    drift: Of the velocity, besides J u. p: Impulses [N s], given as a guess. u, free: Speeds with and without them.
    told: Residual over the scale, and the scale, the fastest speed to be taken away [m/s].
    """

    active: Ints
    size: Ints
    places: Ints2
    rows: Reals2
    columns: Reals2
    local: Reals2
    bound: Reals
    friction: Reals
    drift: Reals2
    p: Reals2
    best: Reals2
    u: Reals
    free: Reals
    vectors: Reals2
    gram: Reals2
    jacobian: Reals
    mobility: Reals
    pivots: Ints
    told: Reals


def cones_of(contacts: int, support: int, speeds: int) -> Cones:
    """Room for so many contacts, each over a support of at most so many of the speeds."""
    dense = 3 * min(contacts, NEWTON_MOST)
    reals, ints = np.zeros, np.int64
    return Cones(
        np.zeros(1, ints),
        np.zeros(contacts, ints),
        np.zeros((contacts, support), ints),
        reals((3 * contacts, support)),
        reals((3 * contacts, support)),
        reals((contacts, 6)),
        reals(contacts),
        reals(contacts),
        reals((contacts, 3)),
        reals((contacts, 3)),
        reals((contacts, 3)),
        reals(speeds),
        reals(speeds),
        reals((VECTORS, 3 * contacts)),
        reals((MEMORY, MEMORY + 1)),
        reals(dense * dense),
        reals(dense * dense),
        np.zeros(max(dense, MEMORY), ints),
        reals(TOLD),
    )


@compiled
def velocity(given: Cones, c: int, k: int) -> float:
    """Of contact c along its direction k [m/s]."""
    total: float = given.drift[c, k]
    for a in range(given.size[c]):
        total += given.rows[3 * c + k, a] * given.u[given.places[c, a]]
    return total


@compiled
def push(given: Cones, c: int, x: float, y: float, z: float) -> None:
    """The speeds after one more impulse of a contact."""
    for a in range(given.size[c]):
        more = given.columns[3 * c, a] * x + given.columns[3 * c + 1, a] * y + given.columns[3 * c + 2, a] * z
        given.u[given.places[c, a]] += more


@compiled
def apply_all(given: Cones) -> None:
    """The speeds after all impulses."""
    for i in range(len(given.u)):
        given.u[i] = given.free[i]
    for c in range(given.active[0]):
        push(given, c, given.p[c, 0], given.p[c, 1], given.p[c, 2])


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
def trace(given: Cones, c: int) -> float:
    """The mobility of a contact in all directions [1/kg]."""
    total: float = given.local[c, 0] + given.local[c, 3] + given.local[c, 5]
    return total


@compiled
def residual(given: Cones) -> float:
    """How far the conditions are missed, over the scale."""
    worst = 0.0
    for c in range(given.active[0]):
        mu, w = given.friction[c], trace(given, c)
        x, y, z = velocity(given, c, 0) - given.bound[c], velocity(given, c, 1), velocity(given, c, 2)
        x += mu * math.sqrt(y * y + z * z)
        p, q, r = given.p[c, 0], given.p[c, 1], given.p[c, 2]
        a, b, d = in_cone(mu, p - x / w, q - y / w, r - z / w)
        worst = max(worst, w * math.sqrt((a - p) * (a - p) + (b - q) * (b - q) + (d - r) * (d - r)))
    missing: float = worst / given.told[SCALE]
    return missing


@compiled
def sweep(given: Cones) -> None:
    """Each contact in turn, exactly, with the others as they are."""
    for c in range(given.active[0]):
        w = given.local[c]
        p, q, r = given.p[c, 0], given.p[c, 1], given.p[c, 2]
        x = velocity(given, c, 0) - given.bound[c] - w[0] * p - w[1] * q - w[2] * r
        y = velocity(given, c, 1) - w[1] * p - w[3] * q - w[4] * r
        z = velocity(given, c, 2) - w[2] * p - w[4] * q - w[5] * r
        a, b, d = local_impulse(w, given.friction[c], x, y, z)
        if a != p or b != q or d != r:
            push(given, c, a - p, b - q, d - r)
            given.p[c, 0], given.p[c, 1], given.p[c, 2] = a, b, d


@compiled
def keep(given: Cones) -> None:
    """Remember the impulses as the best so far."""
    for c in range(given.active[0]):
        for k in range(3):
            given.best[c, k] = given.p[c, k]


@compiled
def take_best(given: Cones) -> None:
    """Go back to the best impulses."""
    for c in range(given.active[0]):
        for k in range(3):
            given.p[c, k] = given.best[c, k]
    apply_all(given)


@compiled
def extrapolate(given: Cones, known: int) -> bool:
    """Anderson's step from the last sweeps; False where they are all alike."""
    v, gram, n = given.vectors, given.gram, 3 * given.active[0]
    total = 0.0
    for i in range(known):
        for j in range(i, known):
            product = 0.0
            for k in range(n):
                product += v[_STEPS + i, k] * v[_STEPS + j, k]
            gram[i, j] = product
            gram[j, i] = product
        product = 0.0
        for k in range(n):
            product += v[_STEPS + i, k] * v[_F, k]
        gram[i, MEMORY] = product
        total += gram[i, i]
    if total <= 0.0:
        return False
    # Cholesky's method; the small shift keeps sweeps that are nearly alike apart.
    for i in range(known):
        gram[i, i] += 1e-12 * total
    for i in range(known):
        for j in range(i):
            factor = gram[i, j] / gram[j, j]
            for k in range(j + 1, known):
                gram[i, k] -= factor * gram[j, k]
            gram[i, MEMORY] -= factor * gram[j, MEMORY]
    for step in range(known):
        i = known - 1 - step
        for k in range(i + 1, known):
            gram[i, MEMORY] -= gram[i, k] * gram[k, MEMORY]
        gram[i, MEMORY] /= gram[i, i]
    for k in range(n):
        x = v[_G, k]
        for i in range(known):
            x -= gram[i, MEMORY] * v[_STEPS + MEMORY + i, k]
        v[_X, k] = x
    return True


@compiled
def accelerated(given: Cones, tolerance: float, most: int) -> int:
    """Sweeps, extrapolated by Anderson's method; the number of them. The best impulses found are kept."""
    v, active = given.vectors, given.active[0]
    keep(given)
    lowest = residual(given)
    known = 0
    begun = False
    for k in range(3 * active):
        v[_X, k] = given.p[k // 3, k % 3]
    made = 0
    for number in range(most):
        made = number + 1
        sweep(given)
        left = residual(given)
        if left < tolerance:
            keep(given)
            given.told[RESIDUAL] = left
            return made
        if not left <= 2.0 * lowest and known > 0:
            take_best(given)
            for k in range(3 * active):
                v[_X, k] = given.p[k // 3, k % 3]
            known = 0
            begun = False
            continue
        if left < lowest:
            lowest = left
            keep(given)
        for k in range(3 * active):
            c = k // 3
            v[_G, k] = given.p[c, k % 3]
            # In units of speed, so that light bodies count as much as heavy ones.
            v[_F, k] = (v[_G, k] - v[_X, k]) * math.sqrt(trace(given, c))
        if begun:
            row = known % MEMORY
            for k in range(3 * active):
                v[_STEPS + row, k] = v[_F, k] - v[_F0, k]
                v[_STEPS + MEMORY + row, k] = v[_G, k] - v[_G0, k]
            known += 1
        begun = True
        for k in range(3 * active):
            v[_F0, k], v[_G0, k], v[_X, k] = v[_F, k], v[_G, k], v[_G, k]
        if known > 0 and extrapolate(given, min(known, MEMORY)):
            for c in range(active):
                a, b, d = in_cone(given.friction[c], v[_X, 3 * c], v[_X, 3 * c + 1], v[_X, 3 * c + 2])
                v[_X, 3 * c], v[_X, 3 * c + 1], v[_X, 3 * c + 2] = a, b, d
                given.p[c, 0], given.p[c, 1], given.p[c, 2] = a, b, d
            apply_all(given)
    take_best(given)
    given.told[RESIDUAL] = lowest
    return made


@compiled
def whole_mobility(given: Cones) -> None:
    """W of all contacts, each scaled by its own mobility."""
    active = given.active[0]
    n = 3 * active
    W = matrix(given.mobility, 0, n, n)
    # Supports are sorted: those of two contacts are merged.
    for c in range(active):
        for d in range(c + 1):
            for k in range(9):
                W[3 * c + k // 3, 3 * d + k % 3] = 0.0
            scale = 1.0 / math.sqrt(trace(given, c) * trace(given, d))
            a, b = 0, 0
            while a < given.size[c] and b < given.size[d]:
                i, j = given.places[c, a], given.places[d, b]
                if i == j:
                    for k in range(3):
                        for m in range(3):
                            W[3 * c + k, 3 * d + m] += (
                                scale * given.rows[3 * c + k, a] * given.columns[3 * d + m, b]
                            )
                if i <= j:
                    a += 1
                if j <= i:
                    b += 1
            for k in range(9):
                W[3 * d + k % 3, 3 * c + k // 3] = W[3 * c + k // 3, 3 * d + k % 3]


@compiled
def missed(given: Cones, x: int, f: int, y: int) -> float:
    """Alart and Curnier's equations at the scaled impulses in row x of the vectors: the norm of what is left, in f."""
    v, n = given.vectors, 3 * given.active[0]
    W = matrix(given.mobility, 0, n, n)
    total = 0.0
    for c in range(given.active[0]):
        for k in range(3):
            i = 3 * c + k
            speed = v[_G0, i]
            for j in range(n):
                speed += W[i, j] * v[x, j]
            v[y, i] = v[x, i] - speed
        normal = max(v[y, 3 * c], 0.0)
        t = math.sqrt(v[y, 3 * c + 1] * v[y, 3 * c + 1] + v[y, 3 * c + 2] * v[y, 3 * c + 2])
        share = 1.0
        if t > given.friction[c] * normal:
            share = given.friction[c] * normal / t
        v[f, 3 * c] = v[x, 3 * c] - normal
        v[f, 3 * c + 1] = v[x, 3 * c + 1] - share * v[y, 3 * c + 1]
        v[f, 3 * c + 2] = v[x, 3 * c + 2] - share * v[y, 3 * c + 2]
        for k in range(3):
            total += v[f, 3 * c + k] * v[f, 3 * c + k]
    return math.sqrt(total)


@compiled
def slope_of_missed(given: Cones, y: int) -> None:
    """The Jacobian of Alart and Curnier's equations; W has half rank under a face, so it is lifted a little."""
    v, n = given.vectors, 3 * given.active[0]
    W = matrix(given.mobility, 0, n, n)
    H = matrix(given.jacobian, 0, n, n)
    for c in range(given.active[0]):
        i = 3 * c
        mu = given.friction[c]
        on = 0.0
        if v[y, i] > 0.0:
            on = 1.0
        normal = max(v[y, i], 0.0)
        t = math.sqrt(v[y, i + 1] * v[y, i + 1] + v[y, i + 2] * v[y, i + 2])
        for j in range(n):
            H[i, j] = on * W[i, j]
        H[i, i] += 1.0 - on + on * SINGULAR
        if t <= mu * normal:
            for j in range(n):
                H[i + 1, j] = W[i + 1, j]
                H[i + 2, j] = W[i + 2, j]
        else:
            share = mu * normal / t
            a, b = v[y, i + 1] / t, v[y, i + 2] / t
            d, e, f = share * (1.0 - a * a), -share * a * b, share * (1.0 - b * b)
            g, h = mu * on * a, mu * on * b
            for j in range(n):
                H[i + 1, j] = d * W[i + 1, j] + e * W[i + 2, j] + g * W[i, j]
                H[i + 2, j] = e * W[i + 1, j] + f * W[i + 2, j] + h * W[i, j]
            H[i + 1, i] -= g
            H[i + 2, i] -= h
            H[i + 1, i + 1] += 1.0 - d
            H[i + 1, i + 2] -= e
            H[i + 2, i + 1] -= e
            H[i + 2, i + 2] += 1.0 - f
        H[i + 1, i + 1] += SINGULAR
        H[i + 2, i + 2] += SINGULAR


@compiled
def newton(given: Cones, tolerance: float) -> int:
    """Newton's method with halved steps, from the impulses given; the better ones are kept, and its steps returned."""
    v, active = given.vectors, given.active[0]
    n = 3 * active
    before = given.told[RESIDUAL]
    keep(given)
    whole_mobility(given)
    for i in range(len(given.u)):
        given.u[i] = given.free[i]
    for c in range(active):
        size = math.sqrt(trace(given, c))
        for k in range(3):
            v[_G0, 3 * c + k] = velocity(given, c, k) / size
            v[_X, 3 * c + k] = given.p[c, k] * size
        v[_G0, 3 * c] -= given.bound[c] / size
    H = matrix(given.jacobian, 0, n, n)
    lowest = before
    made = 0
    left = missed(given, _X, _F, _F0)
    for number in range(NEWTON_STEPS):
        made = number + 1
        slope_of_missed(given, _F0)
        if not factorise(H, given.pivots, 0):
            break
        # The vectors are longer than the system: solve works on the row as far as H goes.
        solve(H, given.pivots, 0, v, _F)
        step = 1.0
        found = left
        for _ in range(10):
            for k in range(n):
                v[_STEPS, k] = v[_X, k] - step * v[_F, k]
            found = missed(given, _STEPS, _STEPS + 1, _STEPS + 2)
            if found <= (1.0 - 1e-4 * step) * left:
                break
            step *= 0.5
        left = found
        for k in range(n):
            v[_X, k], v[_F, k], v[_F0, k] = v[_STEPS, k], v[_STEPS + 1, k], v[_STEPS + 2, k]
        for c in range(active):
            size = math.sqrt(trace(given, c))
            a, b, d = in_cone(
                given.friction[c], v[_X, 3 * c] / size, v[_X, 3 * c + 1] / size, v[_X, 3 * c + 2] / size
            )
            given.p[c, 0], given.p[c, 1], given.p[c, 2] = a, b, d
        apply_all(given)
        now = residual(given)
        if now < lowest:
            lowest = now
            keep(given)
        if now < tolerance or not math.isfinite(now):
            break
    take_best(given)
    given.told[RESIDUAL] = lowest
    return made


@compiled
def solve_cones(given: Cones, tolerance: float) -> int:
    """Impulses and speeds of all contacts, from the guess in p, to a residual; how many iterations it took."""
    active = given.active[0]
    for i in range(len(given.u)):
        given.u[i] = given.free[i]
    fastest = 1e-300
    for c in range(active):
        size = abs(velocity(given, c, 0) - given.bound[c])
        fastest = max(fastest, size + abs(velocity(given, c, 1)) + abs(velocity(given, c, 2)))
    given.told[SCALE] = fastest
    apply_all(given)
    given.told[RESIDUAL] = residual(given)
    if given.told[RESIDUAL] < tolerance:
        return 0
    made = accelerated(given, tolerance, SWEEPS)
    if given.told[RESIDUAL] >= tolerance and active <= NEWTON_MOST:
        made += newton(given, tolerance)
    if given.told[RESIDUAL] >= tolerance:
        made += accelerated(given, tolerance, LAST_SWEEPS)
    return made


@entry
def solve_problem(given: Cones, tolerance: float) -> int:
    """One problem, as it stands in the arrays."""
    return solve_cones(given, tolerance)


__all__ = ["RESIDUAL", "SINGULAR", "Cones", "cones_of", "solve_cones", "solve_problem", "velocity"]
