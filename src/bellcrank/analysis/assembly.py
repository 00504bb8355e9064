"""Closing the loops of a described mechanism: positions and speeds that fit, with the smallest move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import AssemblyError
from bellcrank.formulations.partition import NumericRows, equation_numbers, numeric_rows
from bellcrank.mechanics.constraints import Constraint
from bellcrank.mechanics.kinematics import Kinematics, Known
from bellcrank.mechanics.links import Linkage, LinkKind
from bellcrank.mechanics.rotations import from_quaternion

Array = NDArray[np.float64]

POSITION_TOLERANCE = 1e-12
"""Residuals below this, in the model's units, count as closed; rounding sets the floor."""

LONGEST_MOVE = 0.3
"""No coordinate moves more than this [rad or m] in one step of the search."""


@dataclass(frozen=True, eq=False)
class LoopState:
    """A linkage with numbers for its parameters, ready to evaluate constraints in plain floats."""

    linkage: Linkage
    constraints: tuple[Constraint, ...]
    parameters: Mapping[str, float]

    def rows(self, q: Array, t: float = 0.0) -> NumericRows:
        """Residuals and Jacobian at positions q."""
        return numeric_rows(Kinematics(self.linkage, q.tolist(), Known(self.parameters)), self.constraints, t)

    def moved(self, q: Array, step: Array) -> Array:
        """Positions after a small move along the speeds; quaternions stay unit."""
        new = q.copy()
        for link in self.linkage.links:
            du = step[link.u : link.u + link.kind.speeds]
            if link.kind is LinkKind.BALL:
                new[link.q : link.q + 4] = _turned(q[link.q : link.q + 4], du)
            elif link.kind is LinkKind.FREE:
                R = np.array(from_quaternion(q[link.q + 3 : link.q + 7].tolist()), dtype=float)
                new[link.q : link.q + 3] = q[link.q : link.q + 3] + R @ du[3:]
                new[link.q + 3 : link.q + 7] = _turned(q[link.q + 3 : link.q + 7], du[:3])
            else:
                new[link.q] = q[link.q] + du[0]
        return new


def _turned(quaternion: Array, rotation: Array) -> Array:
    """A quaternion turned by a rotation vector in body axes."""
    angle = float(np.linalg.norm(rotation))
    half = 0.5 * np.sinc(0.5 * angle / np.pi) * rotation
    w, v = np.cos(0.5 * angle), half
    a, b = quaternion[0], quaternion[1:]
    result = np.array([a * w - b @ v, *(a * v + w * b + np.cross(b, v))])
    return result / np.linalg.norm(result)


def close_positions(
    state: LoopState, q: Array, fixed: Sequence[int], t: float, describe: Callable[[NumericRows], str]
) -> Array:
    """The nearest closed configuration: Gauss-Newton steps of smallest length, `fixed` speeds not moved.

    describe: says in the user's words which loop misses by how much.
    """
    free = np.setdiff1d(np.arange(state.linkage.speeds), np.array(fixed, dtype=int))
    rows = state.rows(q, t)
    start_miss = best = _size(rows)
    stalled = 0
    for _ in range(200):
        if best <= POSITION_TOLERANCE:
            break
        step = np.zeros(state.linkage.speeds)
        step[free] = -np.linalg.pinv(rows.J[:, free], rcond=1e-9) @ rows.residual
        largest = np.abs(step).max(initial=0.0)
        scale = min(1.0, LONGEST_MOVE / largest) if largest > 0.0 else 0.0
        for _ in range(12):
            trial = state.moved(q, scale * step)
            trial_rows = state.rows(trial, t)
            if _size(trial_rows) < best:
                break
            scale *= 0.5
        else:
            break
        stalled = stalled + 1 if _size(trial_rows) > 0.9 * best and best < 1e-9 * max(1.0, start_miss) else 0
        q, rows, best = trial, trial_rows, _size(trial_rows)
        if stalled > 2:
            break
    if best > 1e-10 * max(1.0, np.abs(q).max(initial=0.0)):
        raise AssemblyError(describe(rows))
    return q


def _size(rows: NumericRows) -> float:
    return float(np.abs(rows.residual).max(initial=0.0))


def close_speeds(
    state: LoopState, rows: NumericRows, u: Array, fixed: Sequence[int], describe: Callable[[Array], str]
) -> Array:
    """The nearest speeds that keep the loops closed, `fixed` ones as given."""
    free = np.setdiff1d(np.arange(state.linkage.speeds), np.array(fixed, dtype=int))
    miss = rows.nu - rows.J @ u
    if not miss.size:
        return u
    u = u.copy()
    u[free] += np.linalg.pinv(rows.J[:, free], rcond=1e-9) @ miss
    left = rows.J @ u - rows.nu
    if np.abs(left).max() > 1e-9 * max(1.0, np.abs(u).max(initial=0.0)):
        raise AssemblyError(describe(left))
    return u


def independent_equations(state: LoopState, q: Array, t: float) -> tuple[list[int], list[int]]:
    """Equations that are needed and those that the others imply, judged near q as well as in it.

    A redundant equation is redundant all along the motion; in a singular configuration equations only seem
    so. The mechanism is therefore moved a little along its freedoms and looked at again.
    """
    rows = state.rows(q, t)
    best = _ranked(rows.J)
    rng = np.random.default_rng(20)
    for size in (0.02, 0.05, 0.02):
        if len(best) == rows.J.shape[0]:
            break
        nearby = _wander(state, q, rows, size * rng.standard_normal(state.linkage.speeds), t)
        if nearby is not None:
            found = _ranked(state.rows(nearby, t).J)
            if len(found) > len(best):
                best = found
    kept = sorted(best)
    return kept, [e for e in range(rows.J.shape[0]) if e not in set(kept)]


def _wander(state: LoopState, q: Array, rows: NumericRows, step: Array, t: float) -> Array | None:
    """A closed configuration a little way along the freedoms, or None where none is found."""
    step = step - np.linalg.pinv(rows.J, rcond=1e-9) @ (rows.J @ step)
    try:
        return close_positions(state, state.moved(q, step), (), t, lambda _: "")
    except AssemblyError:
        return None


def _ranked(J: Array) -> list[int]:
    """Independent rows, found block by block of rows that share no column."""
    from bellcrank.formulations.partition import independent_rows

    found: list[int] = []
    for block in _blocks(J):
        found += [block[i] for i in independent_rows(J[block])]
    return found


def _blocks(J: Array) -> list[list[int]]:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    if not J.size:
        return []
    pattern = csr_matrix(np.abs(J) > 0.0)
    _, label = connected_components(pattern @ pattern.T, directed=False)
    return [np.flatnonzero(label == n).tolist() for n in range(label.max() + 1)]


def worst_constraint(constraints: Sequence[Constraint], misses: Array) -> tuple[Constraint, float]:
    """The constraint that misses most, and by how much (the length of its residual)."""
    sizes = [float(np.linalg.norm(misses[list(r)])) for r in equation_numbers(constraints)]
    k = int(np.argmax(sizes))
    return constraints[k], sizes[k]
