"""Contact forces by the accelerated iteration of the paper: an option beside the direct active set.

Source: Lee (1995), (8) to (22) and appendix (A.1) to (A.7). Differs in: each level of C_n and A_n is multiplied by
4 / b_n^2, so that its largest eigenvalue stays 1 (as printed they underflow near n = 10); epsilon_1 is the smallest
eigenvalue of C' / ||C'|| itself; the friction bound h is frozen in an iteration and renewed until it stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.elastic.active_set import ContactFailure
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.problem import ContactProblem, ContactSolution, ContactSolver, Flags
from bellcrank.errors import ModelError


def accelerator(c: Array, level: int) -> tuple[Array, float]:
    """b A_n / ||C'|| for the active part of C, and by how much an error shrinks; (A.2) to (A.6), (19), rescaled."""
    norm = float(np.abs(c).sum(axis=1).max())
    identity = np.eye(len(c))
    c_n, a_n = c / norm, identity
    low = max(float(np.linalg.eigvalsh(c_n)[0]), 1e-16)
    for _ in range(level - 1):
        b = low + 1.0
        step = (4.0 / b**2) * (b * identity - c_n)
        c_n, a_n = c_n @ step, step @ a_n
        low = 4.0 * low / b**2
    return (2.0 / (1.0 + low)) * a_n / norm, (1.0 - low) / (1.0 + low)


@dataclass(frozen=True)
class AcceleratedIteration(ContactSolver):
    """The iterations (10), (14) and (15).

    level: n of the appendix; 1 is the plain iteration. tolerance: largest displacement error left [m]; unset, 1e-11
    of the largest displacement of the problem. The errors left in velocity and acceleration are the same times their
    factors. most: iterations before giving up.
    """

    level: int = 6
    tolerance: float | None = None
    most: int = 200_000

    def __post_init__(self) -> None:
        if not 1 <= self.level <= 30:
            raise ModelError(f"the level of the accelerated iteration must be 1 to 30, not {self.level}")

    def solve(self, problem: ContactProblem) -> ContactSolution:
        """Iteration (10), with h renewed until it stays."""
        if problem.free.shape[1] > 2 and problem.rubbing.any():
            raise ModelError(
                "the accelerated iteration knows one direction of slip, so friction in three dimensions needs "
                "elastic.DirectActiveSet()"
            )
        m = len(problem.free)
        if m == 0:
            none = np.zeros(0, dtype=bool)
            return ContactSolution(problem.free, none, none, 0)
        rub = problem.rubbing
        p = np.column_stack(
            [np.minimum(problem.guess[:, 0], 0.0), np.where(rub[:, None], problem.guess[:, 1:], 0.0)]
        )
        bound = np.where(rub, problem.friction * np.abs(p[:, 0]), 0.0)
        tolerance = self.tolerance or 1e-11 * max(np.abs(problem.free).max(), 1e-300)
        total, last = 0, np.inf
        for rounds in range(500):
            p, pressed, stick, count = self._iterate(problem, p, bound, tolerance)
            total += count
            renewed = np.where(rub, problem.friction * np.abs(p[:, 0]), 0.0)
            change = float(np.abs(renewed - bound).max())
            # The bounds cannot settle closer than the tolerance lets the forces wander.
            stalled = rounds > 20 and change >= 0.9 * last and change <= 1e-3 * np.abs(p).max()
            if stalled or change * float(problem.diagonal.max()) <= tolerance:
                return ContactSolution(p, pressed, stick & pressed, total)
            bound, last = renewed, change
        raise ContactFailure(
            "the friction bounds do not settle; take elastic.DirectActiveSet() or a smaller step"
        )

    def _iterate(
        self, problem: ContactProblem, p: Array, h: Array, tolerance: float
    ) -> tuple[Array, Flags, Flags, int]:
        c, q = problem.compliance, problem.free
        used, a_n = b"", np.empty((0, 0))
        p = np.column_stack([p[:, :1], np.clip(p[:, 1:], -h[:, None], h[:, None])])
        for count in range(self.most):
            s = q + (c @ p.ravel()).reshape(p.shape)
            pressed = (p[:, 0] < 0.0) | (s[:, 0] > 0.0)
            flags = np.zeros(p.shape, dtype=bool)
            flags[:, 0] = pressed
            inside = (np.abs(p[:, 1]) < h) | ((p[:, 1] * s[:, 1] > 0.0) & (h > 0.0))
            flags[:, 1] = inside
            error = np.where(flags, s, 0.0)
            if np.abs(error).max() <= tolerance:
                return p, pressed, inside, count
            on = flags.ravel()
            if on.tobytes() != used:
                used = on.tobytes()
                a_n, _ = accelerator(c[np.ix_(on, on)], self.level)
            flat = p.ravel().copy()
            flat[on] -= a_n @ error.ravel()[on]
            trial = flat.reshape(p.shape)
            p = np.zeros_like(p)
            p[:, 0] = np.minimum(0.0, trial[:, 0])
            t = trial[:, 1]
            p[:, 1] = np.sign(t) * np.where(inside, np.minimum(np.abs(t), h), h)
        raise ContactFailure(
            f"iteration (10) did not converge in {self.most} iterations; take a higher level"
        )

    def correct(self, matrix: Array, error: Array, factor: float) -> tuple[Array, int]:
        """Iterations (14) and (15): no projection."""
        x = np.zeros_like(error)
        if len(error) == 0:
            return x, 0
        a_n, _ = accelerator(matrix, self.level)
        left = error.copy()
        tolerance = factor * self.tolerance if self.tolerance else 1e-11 * max(np.abs(error).max(), 1e-300)
        for count in range(self.most):
            if np.abs(left).max() <= tolerance:
                return x, count
            x -= a_n @ left / factor
            left = error + factor * (matrix @ x)
        raise ContactFailure(
            f"iteration (14) or (15) did not converge in {self.most} iterations; take a higher level"
        )
