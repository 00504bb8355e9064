"""Coulomb contact: impulses (or forces) in the friction cones, in complementarity with the motion.

Rows are stacked per contact: normal, then one tangent in the plane or two in space. The problem, for impulses p
and velocities v after them (or forces and accelerations):

    v = W p + b,   0 <= p_n  _|_  v_n >= 0,   |p_t| <= mu p_n,   p_t = -mu p_n v_t / |v_t| where v_t != 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.lcp import lemke

Array = NDArray[np.float64]

SWEEPS = 400
"""Most sweeps over the contacts before the spatial problem is handed to Newton's method for the last time."""


@dataclass(frozen=True, eq=False)
class CoulombSolution:
    """Impulses, velocities, and how far the conditions are missed, over the size of b."""

    p: Array
    v: Array
    miss: float


def solve_coulomb(W: Array, b: Array, mu: Array) -> CoulombSolution | None:
    """The solution, or None where there is none (impossible for W of a mechanism that can move apart)."""
    contacts = len(mu)
    rows = len(b) // contacts
    if not np.any(mu > 0.0):
        return _frictionless(W, b, contacts, rows)
    if rows == 2:
        p = _planar(W, b, mu)
        return None if p is None else CoulombSolution(p, W @ p + b, miss(W, b, mu, p))
    return _spatial(W, b, mu)


def miss(W: Array, b: Array, mu: Array, p: Array) -> float:
    """The largest violation of the conditions, as a velocity, over the size of b."""
    rows = len(b) // len(mu)
    v = W @ p + b
    size = max(float(np.max(np.abs(b), initial=0.0)), 1e-300)
    worst = 0.0
    for i, friction in enumerate(mu):
        k = slice(i * rows, (i + 1) * rows)
        step = max(float(np.max(np.diag(W)[k])), 1e-300)
        projected = _projected(p[k] - _driven(v[k], friction) / step, friction)
        worst = max(worst, float(np.max(np.abs(p[k] - projected))) * step)
    return worst / size


def _driven(v: Array, mu: float) -> Array:
    """De Saxce's velocity (v_n + mu |v_t|, v_t), which is normal to the cone at a solution."""
    return np.concatenate([[v[0] + mu * float(np.linalg.norm(v[1:]))], v[1:]])


def _projected(p: Array, mu: float) -> Array:
    """The nearest point of the cone |p_t| <= mu p_n."""
    tangential = float(np.linalg.norm(p[1:]))
    if tangential <= mu * p[0]:
        return p
    if mu * tangential <= -p[0]:
        return np.zeros_like(p)
    normal = (p[0] + mu * tangential) / (1.0 + mu * mu)
    return np.concatenate([[normal], (mu * normal / tangential) * p[1:]])


def _frictionless(W: Array, b: Array, contacts: int, rows: int) -> CoulombSolution | None:
    k = np.arange(contacts) * rows
    p_n = lemke(W[np.ix_(k, k)], b[k])
    if p_n is None:
        return None
    p = np.zeros(len(b))
    p[k] = p_n
    return CoulombSolution(p, W @ p + b, miss(W, b, np.zeros(contacts), p))


def _planar(W: Array, b: Array, mu: Array) -> Array | None:
    """Exact in the plane: Stewart and Trinkle (1996), eqs (6)-(9) with two friction directions.

    Unknowns: normal impulses, tangential impulses to either side, and the sliding speeds s.
    """
    m = len(mu)
    n, t = np.arange(m) * 2, np.arange(m) * 2 + 1
    D = np.zeros((2 * m, 3 * m))  # p = D (p_n, p_plus, p_minus)
    D[n, np.arange(m)] = 1.0
    D[t, m + np.arange(m)] = 1.0
    D[t, 2 * m + np.arange(m)] = -1.0
    one = np.eye(m)
    sides = np.vstack([np.zeros((m, m)), one, one])
    bound = np.hstack([np.diag(mu), -one, -one])
    M = np.block([[D.T @ W @ D, sides], [bound, np.zeros((m, m))]])
    z = lemke(M, np.concatenate([D.T @ b, np.zeros(m)]))
    return None if z is None else D @ z[: 3 * m]


def _spatial(W: Array, b: Array, mu: Array) -> CoulombSolution:
    """Circular cones: exact solutions contact by contact, in turn, and Newton's method on what they find.

    Jourdan, Alart and Jean (1998), "A Gauss-Seidel like algorithm to solve frictional contact problems".
    Differs in: the problem of one contact is solved in closed form; once the set of open, sticking and sliding
    contacts has settled, a Newton step on it gives the last digits.
    """
    m = len(mu)
    p = np.zeros(3 * m)
    best, best_miss = p, miss(W, b, mu, p)
    for sweep in range(1, (1 if m == 1 else SWEEPS) + 1):
        for i in range(m):
            k = slice(3 * i, 3 * i + 3)
            rest = b[k] + W[k] @ p - W[k, k] @ p[k]
            p[k] = one_contact(W[k, k], rest, float(mu[i]))
        if m == 1 or sweep % 10 == 0:
            for trial in (p, _newton(W, b, mu, p)):
                now = miss(W, b, mu, trial)
                if now < best_miss:
                    best, best_miss = trial.copy(), now
            if best_miss < 1e-13:
                break
    return CoulombSolution(best, W @ best + b, best_miss)


def one_contact(W: Array, b: Array, mu: float) -> Array:
    """The impulse of one spatial contact: open, sticking, or sliding by a quartic.

    Bonnefon and Daviet (2011), "Quartic formulation of Coulomb 3D frictional contact".
    Sliding: v_t = -alpha p_t with alpha > 0, so that (W + alpha I_t) p = -b, and |p_t| = mu p_n fixes alpha.
    """
    if b[0] >= 0.0:
        return np.zeros(3)
    if mu == 0.0:
        return np.array([-b[0] / W[0, 0], 0.0, 0.0])
    try:
        p = np.linalg.solve(W, -b)
    except np.linalg.LinAlgError:
        p = np.linalg.lstsq(W, -b, rcond=None)[0]
    held = np.max(np.abs(W @ p + b)) <= 1e-9 * np.max(np.abs(b))
    if held and p[0] >= 0.0 and np.hypot(p[1], p[2]) <= mu * p[0]:
        return np.asarray(p)
    return _sliding(W, b, mu)


def _sliding(W: Array, b: Array, mu: float) -> Array:
    scale = max(float(W[1, 1] + W[2, 2]), 1e-300)
    tangent = np.diag([0.0, 1.0, 1.0]) * scale

    def cofactors(alpha: float) -> Array:
        A = W + alpha * tangent
        columns = []
        for j in range(3):
            B = A.copy()
            B[:, j] = -b
            columns.append(float(np.linalg.det(B)))
        return np.array([*columns, float(np.linalg.det(A))])

    at0, at1, at2 = cofactors(0.0), cofactors(1.0), cofactors(-1.0)
    square = 0.5 * (at1 + at2) - at0
    linear = 0.5 * (at1 - at2)
    normal, t1, t2 = (np.array([square[j], linear[j], at0[j]]) for j in range(3))
    t1[0] = t2[0] = 0.0  # of degree one by Cramer's rule
    quartic = np.polymul(t1, t1) + np.polymul(t2, t2) if mu else np.zeros(5)
    quartic = np.polysub(quartic, mu * mu * np.polymul(normal, normal))
    roots = np.roots(quartic)
    found = sorted(float(z.real) for z in roots if abs(z.imag) <= 1e-6 * (1.0 + abs(z)) and z.real > -1e-9)
    for alpha in found:
        p_n, p_1, p_2, D = cofactors(max(alpha, 0.0))
        if p_n * D > 0.0:
            length = max(float(np.hypot(p_1, p_2)), 1e-300)
            # On the cone exactly; the normal row then gives the size.
            direction = np.array([1.0, mu * p_1 / length * np.sign(D), mu * p_2 / length * np.sign(D)])
            steep = float(W[0] @ direction)
            return direction * (-b[0] / steep if steep > 0.0 else p_n / D)
    return np.array([-b[0] / W[0, 0], 0.0, 0.0])


def _newton(W: Array, b: Array, mu: Array, p: Array) -> Array:
    """Newton's method with the contacts' states held: open p = 0, stick v = 0, slide v_n = 0 and on the cone."""
    p = p.copy()
    m = len(mu)
    for _ in range(6):
        v = W @ p + b
        J, F = np.zeros((3 * m, 3 * m)), np.zeros(3 * m)
        for i in range(m):
            k = slice(3 * i, 3 * i + 3)
            n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
            speed, friction = float(np.linalg.norm(v[t])), float(np.linalg.norm(p[t]))
            if p[n] <= 0.0:
                J[k, k], F[k] = np.eye(3), p[k]
            elif friction < mu[i] * p[n] * (1.0 - 1e-9) or speed == 0.0:
                J[k], F[k] = W[k], v[k]
            else:
                direction = v[t] / speed
                J[n], F[n] = W[n], v[n]
                turning = mu[i] * p[n] * (np.eye(2) - np.outer(direction, direction)) / speed
                J[t] = turning @ W[t]
                J[t, t] += np.eye(2)
                J[t, n] += mu[i] * direction
                F[t] = p[t] + mu[i] * p[n] * direction
        p = p - np.linalg.lstsq(J, F, rcond=None)[0]
        if not np.all(np.isfinite(p)):
            break
    return p
