"""Static equilibria of all rows of a table, near that of the described mechanism.

Newton's method with the derivative of the described equilibrium kept for all rows and all steps (the chord
method): the accelerations at rest, a = f(z), vanish along z <- z - J^+ a. It costs one compiled evaluation a
row and step and converges by a factor about as small as the rows are apart. Directions without stiffness are
left alone, as in :func:`bellcrank.analyses.equilibrium.equilibrium`, which takes over rows that do not converge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.group import LaneMachine, lane_machine
from bellcrank.batch.table import read_table
from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]

NUDGE = 1e-5
"""Step of the differences for J [m, rad]; J only guides, so that its error costs steps, not accuracy."""
NEUTRAL = 1e-7
"""Singular values of J below this share of the largest count as no stiffness."""
SETTLED = 1e-12
"""Moves below this [m, rad] end the search."""
LONGEST = 80
"""Steps after which a row is taken over by the search for a single equilibrium."""


def equilibria(mechanism: Mechanism, table: Any) -> tuple[Array, Array]:
    """Positions and speeds (zero) at rest for every row: ``starts=`` of :func:`bellcrank.batch.simulate_many`."""
    rows = read_table(mechanism, table)
    machine = lane_machine(mechanism)
    n, free = mechanism.linkage.positions, len(mechanism.partition.independent)
    nominal = mechanism.equilibrium().state
    p = rows.parameters
    J = _derivative(machine, nominal.t, nominal.q, np.array(mechanism.parameter_values), n, free)
    guide = np.linalg.pinv(J, rcond=NEUTRAL)
    q = _closed(machine, nominal.t, np.tile(nominal.q, (len(p), 1)), p, free)
    still = np.zeros((len(p), free))
    move = np.full(len(p), np.inf)
    for _ in range(LONGEST):
        accelerations = _rates(machine, nominal.t, q, still, p)[:, n:]
        step = -accelerations @ guide.T
        move = np.abs(step).max(axis=1, initial=0.0)
        step *= np.minimum(1.0, 0.3 / np.maximum(move, 1e-300))[:, None]
        q = _closed(machine, nominal.t, q + _rates(machine, nominal.t, q, step, p)[:, :n], p, free)
        if np.all(move <= SETTLED):
            break
    names = mechanism.mechanics.parameters
    for k in np.flatnonzero(~(move <= 1e3 * SETTLED)):
        own = dict(zip(names, p[k].tolist(), strict=True))
        q[k] = mechanism.equilibrium(parameters=own).state.q
    return q, np.zeros((len(p), mechanism.linkage.speeds))


def _rates(machine: LaneMachine, t: float, q: Array, v: Array, p: Array) -> Array:
    return machine.rates.many(np.hstack([np.full((len(q), 1), t), q, v, p]))


def _closed(machine: LaneMachine, t: float, q: Array, p: Array, free: int) -> Array:
    if machine.projection is None:
        return q
    still, at = np.zeros((len(q), free)), np.full((len(q), 1), t)
    for _ in range(8):
        out = machine.projection.many(np.hstack([at, q, still, p]))
        q = out[:, : q.shape[1]].copy()
        if np.nanmax(out[:, -3], initial=0.0) <= 1e-12:
            break
    return q


def _derivative(machine: LaneMachine, t: float, q: Array, p: Array, n: int, free: int) -> Array:
    """d(accelerations)/d(independent coordinates) at rest, by central differences."""
    q2, p2 = np.tile(q, (2 * free, 1)), np.tile(p, (2 * free, 1))
    nudges = NUDGE * np.vstack([np.eye(free), -np.eye(free)])
    moved = _closed(machine, t, q2 + _rates(machine, t, q2, nudges, p2)[:, :n], p2, free)
    a = _rates(machine, t, moved, np.zeros((2 * free, free)), p2)[:, n:]
    return (a[:free] - a[free:]).T / (2.0 * NUDGE)


__all__ = ["equilibria"]
