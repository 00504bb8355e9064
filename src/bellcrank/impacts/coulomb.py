"""Coulomb contact: impulses (or forces) in the friction cones, in complementarity with the motion.

Rows are stacked per contact: normal, then one tangent in the plane or two in space. The problem, for impulses p
and velocities v after them (or forces and accelerations):

    v = W p + b,   0 <= p_n - least  _|_  v_n >= 0,   |p_t| <= mu p_n,   p_t = -mu p_n v_t / |v_t| where v_t != 0.

`least` is zero but for restitution after Poisson. A contact that slides already has its friction given by its
direction d: p_t = -mu p_n d.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.coulomb_units import GOOD, MISS, Coulomb, room, solve_problem
from bellcrank.impacts.lcp import lemke
from bellcrank.program.loops.entry import Bound

Array = NDArray[np.float64]

SETTLED = 1e-10
"""Miss below which the sweeps have settled."""
USABLE = 1e-7
"""Miss above which the solution of a polyhedron is preferred: it keeps the inequalities exactly."""
FACETS = 16
"""Sides of the first polyhedral cones."""
LITTLE = 2.0**-26
"""Compliance over the largest mobility with which it is judged whether all contacts may stick."""
CLOSING = 12
"""How often the polyhedra are refined in the directions of slip."""

_rooms = threading.local()
"""Arrays by the number of contacts, for each thread: to make them takes as long as to solve a small problem."""


@dataclass(frozen=True, eq=False)
class CoulombSolution:
    """Impulses, velocities, and how far the conditions are missed, over the size of b."""

    p: Array
    v: Array
    miss: float


@dataclass(frozen=True, eq=False)
class CoulombProblem:
    """W, b over stacked rows; mu, least over contacts; slip (contacts, tangents), rows of zeros where it is free."""

    W: Array
    b: Array
    mu: Array
    least: Array
    slip: Array

    @staticmethod
    def of(
        W: Array, b: Array, mu: Array, least: Array | None = None, slip: Array | None = None
    ) -> CoulombProblem:
        """The problem with nothing stored and no contact sliding, unless given."""
        m = len(mu)
        tangents = len(b) // m - 1
        return CoulombProblem(
            W,
            b,
            mu,
            np.zeros(m) if least is None else np.maximum(least, 0.0),
            np.zeros((m, tangents)) if slip is None else slip,
        )

    @property
    def rows(self) -> int:
        """Rows a contact."""
        return len(self.b) // len(self.mu)

    @property
    def size(self) -> float:
        """The largest velocity given, or that the stored impulses would give."""
        stored = float(np.max(np.diag(self.W), initial=0.0)) * float(np.max(self.least, initial=0.0))
        return max(float(np.max(np.abs(self.b), initial=0.0)), stored, 1e-300)

    def sliding(self, i: int) -> bool:
        """Whether contact i slides already."""
        return bool(np.any(self.slip[i]))

    def solve(self) -> CoulombSolution | None:
        """The solution, or None where there is none (impossible but with sliding friction: Painleve).

        Contacts that do not feel each other, like those of bodies far apart, are solved each for themselves.
        """
        groups = uncoupled(self.W, range(len(self.mu)), self.rows)
        if len(groups) == 1:
            return self._solve_coupled()
        p = np.zeros_like(self.b)
        for group in groups:
            rows = rows_of(group, self.rows)
            own = CoulombProblem(
                self.W[np.ix_(rows, rows)], self.b[rows], self.mu[group], self.least[group], self.slip[group]
            )
            found = own._solve_coupled()
            if found is None:
                return None
            p[rows] = found.p
        return CoulombSolution(p, self.W @ p + self.b, self.miss(p))

    def _solve_coupled(self) -> CoulombSolution | None:
        """With mobilities and velocities about one, whatever the masses; powers of two leave the digits alone."""
        mobility = _power_of_two(float(np.max(np.diag(self.W), initial=0.0)))
        speed = _power_of_two(self.size)
        plain = replace(self, W=self.W / mobility, b=self.b / speed, least=self.least * (mobility / speed))
        if self.rows < 3 or not np.any(self.mu > 0.0):
            p = plain.polyhedral([np.array([[1.0], [-1.0]])] * len(self.mu))
            found = None if p is None else (p, plain.miss(p))
        else:
            found = _circular(plain)
        if found is None:
            return None
        p, miss = found[0] * (speed / mobility), found[1]
        return CoulombSolution(p, self.W @ p + self.b, miss)

    def miss(self, p: Array) -> float:
        """The largest violation of the conditions, as a velocity, over the size of b."""
        v = (self.W @ p + self.b).reshape(-1, self.rows)
        parts = p.reshape(-1, self.rows)
        step = np.maximum(np.diagonal(self.W).reshape(-1, self.rows).max(axis=1), 1e-300)
        normal = parts[:, 0]
        limit = self.mu * np.maximum(normal, 0.0)
        wanted = parts[:, 1:] - v[:, 1:] / step[:, None]
        length = np.sqrt((wanted * wanted).sum(axis=1))
        wanted *= np.minimum(1.0, limit / np.maximum(length, 1e-300))[:, None]
        sliding = self.slip.any(axis=1)
        if sliding.any():
            wanted[sliding] = -(self.mu * normal)[sliding, None] * self.slip[sliding]
        pressing = np.abs(np.minimum((normal - self.least) * step, v[:, 0]))
        rubbing = np.abs(parts[:, 1:] - wanted) * step[:, None]
        return max(float(pressing.max(initial=0.0)), float(rubbing.max(initial=0.0))) / self.size

    def polyhedral(self, directions: Sequence[Array]) -> Array | None:
        """The solution with polyhedral cones: Stewart and Trinkle (1996). In the plane it is exact.

        directions: For each contact, the unit vectors of its friction, an array (number, tangents).
        Unknowns: normal impulses above `least`, friction along each direction, and sliding speeds.
        """
        m, rows = len(self.mu), self.rows
        if not self.mu.any():
            z = lemke(self.W[::rows, ::rows], self.b[::rows] + self.W[::rows, ::rows] @ self.least)
            if z is None:
                return None
            p = np.zeros_like(self.b)
            p[::rows] = self.least + z
            return p
        free = [i for i in range(m) if self.mu[i] > 0.0 and not self.sliding(i)]
        sides = [(j, i, d) for j, i in enumerate(free) for d in directions[i]]
        D = np.zeros((len(self.b), m + len(sides)))
        E = np.zeros_like(D)
        bound = np.zeros((len(free), m + len(sides)))
        for i in range(m):
            D[i * rows, i] = E[i * rows, i] = 1.0
            D[i * rows + 1 : (i + 1) * rows, i] = -self.mu[i] * self.slip[i]
        for column, (j, i, d) in enumerate(sides, start=m):
            D[i * rows + 1 : (i + 1) * rows, column] = E[i * rows + 1 : (i + 1) * rows, column] = d
            bound[j, i], bound[j, column] = self.mu[i], -1.0
        known = D[:, :m] @ self.least
        speeds = -bound.T * (bound.T < 0.0)
        M = np.block([[E.T @ self.W @ D, speeds], [bound, np.zeros((len(free), len(free)))]])
        q = np.concatenate([E.T @ (self.b + self.W @ known), (self.mu * self.least)[free]])
        z = lemke(M, q)
        return None if z is None else known + D @ z[: D.shape[1]]


def rows_of(contacts: Sequence[int], rows: int) -> NDArray[np.intp]:
    """The rows of these contacts, so many each."""
    return (np.asarray(contacts, dtype=int)[:, None] * rows + np.arange(rows)).ravel()


def uncoupled(W: Array, contacts: Sequence[int], rows: int) -> list[list[int]]:
    """Contacts in groups that do not feel each other; W has so many rows for each contact."""
    left, groups = list(contacts), []
    m = len(W) // rows
    felt = 1e-13 * float(np.max(np.diag(W), initial=0.0))
    coupled = np.abs(W).reshape(m, rows, m, rows).max(axis=(1, 3), initial=0.0) > felt
    if coupled.all():
        return [sorted(left)] if left else []
    while left:
        group = [left.pop(0)]
        for i in group:
            near = [j for j in left if coupled[i, j]]
            group += near
            left = [j for j in left if j not in near]
        groups.append(sorted(group))
    return groups


def _circular(problem: CoulombProblem) -> tuple[Array, float] | None:
    """The impulses of spatial cones, and their miss.

    Contact by contact in turn; where that does not settle, polyhedra that close in on it.
    Should neither settle, the last polyhedron's solution is taken: it separates, lies within the cones and takes
    energy, only the direction of its friction is that of a side; `miss` measures it.
    """
    first = _at_once(problem) or _by_turns(problem)
    if first is not None and first[1] < SETTLED:
        return first
    found = [] if first is None else [first]
    inscribed: Array | None = None
    directions = [_around(FACETS)] * len(problem.mu)
    for _ in range(CLOSING):
        p = problem.polyhedral(directions)
        if p is None:
            break
        inscribed = p
        found += [(x, problem.miss(x)) for x in (p, _newton(problem, p))]
        if found[-1][1] < SETTLED:
            break
        slip = (problem.W @ p + problem.b).reshape(-1, 3)[:, 1:]
        speed = np.linalg.norm(slip, axis=1)
        directions = [
            np.vstack([d, -slip[i] / speed[i], slip[i] / speed[i]]) if speed[i] > 0.0 else d
            for i, d in enumerate(directions)
        ]
    best = min(found, key=lambda item: item[1], default=None)
    if inscribed is None or (best is not None and best[1] < USABLE):
        return best if best is not None and best[1] < USABLE else None
    return inscribed, problem.miss(inscribed)


def _around(number: int) -> Array:
    angles = 2.0 * np.pi * np.arange(number) / number
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _at_once(problem: CoulombProblem) -> tuple[Array, float] | None:
    """Where no contact is pressed more than stored, or all stick: what sweeps would come to in many steps.

    Of contacts that are one too many, like the feet of a table, the impulses of the least norm.
    """
    if np.any(problem.slip) or np.any(problem.least):
        return None
    p = np.zeros_like(problem.b)
    if (problem.b[:: problem.rows] >= 0.0).all():
        return p, 0.0
    if not _may_stick(problem):
        return None
    p = np.asarray(np.linalg.lstsq(problem.W, -problem.b, rcond=1e-12)[0], dtype=float)
    miss = problem.miss(p)
    return (p, miss) if miss < GOOD else None


def _may_stick(problem: CoulombProblem) -> bool:
    """Whether impulses that stop every contact may lie in the cones, judged roughly with a little compliance.

    Where this errs, time is lost and nothing else: the impulses are then found in turns, or are looked at in vain.
    """
    W = problem.W.copy()
    W[np.diag_indices_from(W)] += LITTLE * float(np.max(np.diagonal(W), initial=1e-300))
    p = np.linalg.solve(W, -problem.b).reshape(-1, problem.rows)
    rub = np.sqrt((p[:, 1:] ** 2).sum(axis=1))
    near = 1e-3 * float(np.max(np.abs(p), initial=0.0))
    return bool((p[:, 0] >= -near).all() and (rub <= problem.mu * p[:, 0] + near).all())


def _by_turns(problem: CoulombProblem) -> tuple[Array, float] | None:
    """Circular cones: exact solutions contact by contact, in turn, and Newton's method on what they find."""
    known: dict[int, Bound] = _rooms.__dict__.setdefault("known", {})
    m = len(problem.mu)
    if m not in known:
        known[m] = solve_problem.bound(room(m))
    solving = known[m]
    given: Coulomb = solving.arguments[0]
    given.W[:], given.b[:], given.mu[:] = problem.W, problem.b, problem.mu
    given.least[:], given.slip[:] = problem.least, problem.slip
    return (given.p.copy(), float(given.statistics[MISS])) if solving() else None


def _power_of_two(size: float) -> float:
    """The one next to a size; one where there is none."""
    return float(2.0 ** round(math.log2(size))) if 1e-290 < size < 1e290 else 1.0


def _newton(problem: CoulombProblem, p: Array) -> Array:
    """Newton's method with the contacts' states held: p_n = least or v_n = 0, and stick or slide."""
    W, b, m = problem.W, problem.b, len(problem.mu)
    p = p.copy()
    for _ in range(6):
        v = W @ p + b
        J, F = np.zeros((3 * m, 3 * m)), np.zeros(3 * m)
        for i, mu in enumerate(problem.mu):
            n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
            if p[n] <= problem.least[i]:
                J[n, n], F[n] = 1.0, p[n] - problem.least[i]
            else:
                J[n], F[n] = W[n], v[n]
            speed, friction = float(np.linalg.norm(v[t])), float(np.linalg.norm(p[t]))
            if problem.sliding(i) or mu * p[n] <= 0.0:
                J[t, t], J[t, n] = np.eye(2), mu * problem.slip[i]
                F[t] = p[t] + mu * p[n] * problem.slip[i]
            elif friction < mu * p[n] * (1.0 - 1e-9) or speed == 0.0:
                J[t], F[t] = W[t], v[t]
            else:
                direction = v[t] / speed
                turning = mu * p[n] * (np.eye(2) - np.outer(direction, direction)) / speed
                J[t] = turning @ W[t]
                J[t, t] += np.eye(2)
                J[t, n] += mu * direction
                F[t] = p[t] + mu * p[n] * direction
        try:
            p = p - np.linalg.solve(J, F)
        except np.linalg.LinAlgError:
            p = p - np.linalg.lstsq(J, F, rcond=None)[0]
        if not np.all(np.isfinite(p)):
            break
    return p
