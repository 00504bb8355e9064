"""The contact problem of one step, and its solution as both solvers return it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.elastic.lattices import Array

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """Find forces p with s = free + C p and the contact conditions, Lee (1995), (7).

    compliance: C, shape (m * d, m * d), point by point, in each the normal first. free: s without contact forces,
    penetration and slip increments [m], shape (m, d). friction: coefficient of each point. guess: forces to start from
    [N], shape (m, d). slides: directions in which a point can move at all, shape (m, d).
    """

    compliance: Array
    free: Array
    friction: Array
    guess: Array

    @property
    def diagonal(self) -> Array:
        """Own compliance of each component, shape (m, d)."""
        return np.diag(self.compliance).reshape(self.free.shape)

    @property
    def rubbing(self) -> Flags:
        """Points with friction that can slide; a point on the axis of revolution cannot."""
        own = self.diagonal
        able = own[:, 1:].min(axis=1) > 1e-12 * own[:, 0] if own.shape[1] > 1 else np.zeros(len(own), bool)
        return np.asarray((self.friction > 0.0) & able)


@dataclass(frozen=True, eq=False)
class ContactSolution:
    """Forces and the branch each point took.

    force: p [N], shape (m, d). active: normal contact. stick: no slip in this step. updates: iterations or changes of
    the active set.
    """

    force: Array
    active: Flags
    stick: Flags
    updates: int


class ContactSolver(ABC):
    """A method that computes the contact forces."""

    @abstractmethod
    def solve(self, problem: ContactProblem) -> ContactSolution:
        """Forces that satisfy the contact conditions on displacements."""

    @abstractmethod
    def correct(self, matrix: Array, error: Array, factor: float) -> tuple[Array, int]:
        """The force change x with factor * matrix x = -error, and the iterations it took; (14) and (15) of Lee (1995).

        factor: delta / (alpha dt) for velocities, 1 / (alpha dt^2) for accelerations.
        """
