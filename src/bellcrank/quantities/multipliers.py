"""Multipliers of all constraint equations from positions, speeds and their rates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.tuples import ZERO
from bellcrank.mechanics.constraints import Equation, over_speeds
from bellcrank.mechanics.dynamics import InertiaForces
from bellcrank.mechanics.forces import effect
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.loads import Loads, elastic_forces
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.quantities.snapshot import Snapshot

Array = NDArray[np.float64]


def row_over_speeds(s: Snapshot, equation: Equation) -> dict[int, Scalar]:
    """A row of the Jacobian over all speeds, every link in its own axes."""
    return over_speeds(s.kin, equation)


def multiplier_terms(s: Snapshot, kept: tuple[int, ...]) -> tuple[list[Scalar], list[dict[int, Scalar]]]:
    """f - Q by speed, and the kept rows of J."""
    loads = Loads(s.kin)
    for force in s.system.forces.values():
        effect(force, s.linkage)(s.kin, s.t, loads)
    for contact in s.contacts.values():
        contact.load(loads)
    for name, (pushed, moment) in s.collided.items():
        link = s.linkage.seat(s.system.colliding[name]).link
        loads.between(GROUND, link, GROUND, ZERO, ZERO, pushed, moment)
    elastic_forces(s.kin, loads)
    inertia = InertiaForces(s.kin, s.mechanics.inertias, s.du, loads.wrenches).whole()
    needed = [f - Q for f, Q in zip(inertia, s.kin.folded(loads.Q), strict=True)]
    return needed, [row_over_speeds(s, s.equations[e]) for e in kept]


class Multipliers:
    """J^T mu = f - Q (Ahn and Lee, 1994, equation 16, with mu = -lambda), traced once and solved in many states.

    Only kept equations carry force: how much redundant ones carry is not determined by rigid bodies.
    """

    def __init__(self, s: Snapshot, kept: tuple[int, ...]) -> None:
        self.kept, self.speeds, self.equations = kept, s.linkage.speeds, len(s.mu)
        needed, rows = multiplier_terms(s, kept) if kept else ([], [])
        self.entries = [(i, j) for i, row in enumerate(rows) for j in row]
        self.program = Program.of(s.inputs, [*needed, *(rows[i][j] for i, j in self.entries)], "multipliers")

    def at(self, states: Array) -> Array:
        """All multipliers, (equations, k), for every column of `states`; those of redundant equations are zero."""
        n, count = self.speeds, states.shape[1]
        result = np.zeros((self.equations, count))
        if not self.kept:
            return result
        values = evaluate(self.program, states)
        J = np.zeros((count, len(self.kept), n))
        for k, (i, j) in enumerate(self.entries):
            J[:, i, j] = values[n + k]
        for c in range(count):
            solution = np.linalg.lstsq(J[c].T, values[:n, c], rcond=None)[0]
            result[list(self.kept), c] = solution
        return result
