"""Closing the loops of a described mechanism: positions and speeds that fit, with the smallest move."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import AssemblyError
from bellcrank.formulations.partition import (
    NumericRows,
    compared,
    equation_numbers,
    nonholonomic,
    numeric_rows,
)
from bellcrank.mechanics.constraints import Constraint
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage
from bellcrank.mechanics.numbers import Known

Array = NDArray[np.float64]

POSITION_TOLERANCE = 1e-12
"""Residuals below this, in the model's units, count as closed; rounding sets the floor."""

CLOSED = 1e-10
"""The largest residual of a closed configuration, against the size of its coordinates."""

REMEMBERED = 4
"""Configurations whose rows are kept: those given, closed and moved along the freedoms."""

LONGEST_LEAD = 0.2
"""Coordinates given far from the drawing are led there in steps of this size [rad or m]."""

BESIDE = 0.02
"""A small move along the freedoms, in units of the coordinates."""
IMPLIED = 1e-3
"""Residual, over the square of that move, up to which the others imply an equation. What is violated to second order
leaves about 1/2; places that are given to seven digits leave 1e-7 of the move, 5e-6 of its square."""
LONGEST_MOVE = 0.3
"""No coordinate moves more than this [rad or m] in one step of the search."""
FEW = 50
"""Equations up to which singular values, of NumPy, are taken: 0.2 ms at most, where SciPy takes 0.3 s to import."""


@dataclass(frozen=True, eq=False)
class LoopState:
    """A linkage with numbers for its parameters, ready to evaluate constraints in plain floats.

    coarseness: what tolerances of lengths are multiplied by, 1 or more; coordinates of thousands of metres are
    rounded themselves.
    """

    linkage: Linkage
    constraints: tuple[Constraint, ...]
    parameters: Mapping[str, float]
    coarseness: float = 1.0

    def compared(self, J: Array) -> Array:
        """Rows as they are judged for rank: lengths in units of the mechanism, see :func:`compared`."""
        return compared(self.linkage, self.constraints, J)

    @cached_property
    def _known(self) -> dict[tuple[float, bytes], NumericRows]:
        """Rows of the last few configurations: an assembly asks for the same ones more than once."""
        return {}

    def rows(self, q: Array, t: float = 0.0) -> NumericRows:
        """Residuals and Jacobian at positions q."""
        key = t, q.tobytes()
        if key not in self._known:
            while len(self._known) >= REMEMBERED:
                del self._known[next(iter(self._known))]
            kin = Kinematics(self.linkage, q.tolist(), Known(self.parameters))
            self._known[key] = numeric_rows(kin, self.constraints, t)
        return self._known[key]

    def moved(self, q: Array, step: Array) -> Array:
        """Positions after a small move along the speeds; quaternions stay unit."""
        new = q.copy()
        for link in self.linkage.links:
            here = list(link.own_positions)
            new[here] = link.kind.moved(q[here], step[list(link.own_speeds)])
        return new


def close_positions(
    state: LoopState,
    q: Array,
    fixed: Sequence[int],
    t: float,
    describe: Callable[[NumericRows], str],
    equations: Sequence[int] | None = None,
    nudges: int = 6,
) -> Array:
    """The nearest closed configuration, `fixed` speeds not moved.

    describe: says in the user's words which loop misses by how much. equations: those that count (all where
    None). nudges: how often a search that got stuck begins again from a shifted pose, because a stretched
    or folded start pose gives no direction to go.
    """
    free = np.delete(np.arange(state.linkage.speeds), fixed)
    rows = state.rows(q, t)
    considered = range(len(rows.residual)) if equations is None else equations
    velocities = nonholonomic(state.constraints)
    used = np.array([e for e in considered if e not in velocities], dtype=int)
    best = _approached(state, q, rows, free, used, t)
    units = np.array(state.linkage.speed_units)
    rng = np.random.default_rng(7)
    for _ in range(nudges):
        if _is_closed(state, *best, used):
            break
        nudge = np.zeros(state.linkage.speeds)
        nudge[free] = 0.2 * rng.standard_normal(free.size) * units[free]
        beside = state.moved(q, nudge)
        found = _approached(state, beside, state.rows(beside, t), free, used, t)
        if _size(found[1], used) < _size(best[1], used):
            best = found
    if not _is_closed(state, *best, used):
        raise AssemblyError(describe(best[1]))
    return best[0]


def yielding(
    close: Callable[[list[int]], Array], held: Sequence[int], bendable: Collection[int]
) -> tuple[Array, frozenset[int]]:
    """What `close` finds with some speeds held, and those of `bendable` that were let go.

    Members bend only where the loops do not close otherwise.
    """
    try:
        return close(list(held)), frozenset()
    except AssemblyError:
        let_go = frozenset(held) & frozenset(bendable)
        if not let_go:
            raise
        try:
            return close([k for k in held if k not in let_go]), let_go
        except AssemblyError:
            pass
        raise


def _approached(
    state: LoopState, q: Array, rows: NumericRows, free: NDArray[np.int64], used: NDArray[np.int64], t: float
) -> tuple[Array, NumericRows]:
    """Where steps of smallest length lead: Gauss-Newton, damped (Levenberg, Marquardt) when it fails."""
    size, damping, slow = _size(rows, used), 0.0, 0
    units = np.array(state.linkage.speed_units)[free]
    for _ in range(200):
        if size <= POSITION_TOLERANCE * state.coarseness or slow > 5:
            break
        J = rows.J[np.ix_(used, free)] * units
        if not (np.isfinite(J).all() and np.isfinite(size)):
            break
        for _ in range(12):
            step = np.zeros(state.linkage.speeds)
            step[free] = -_shortest(J, rows.residual[used], damping)
            step *= min(1.0, LONGEST_MOVE / max(np.abs(step).max(initial=0.0), 1e-300))
            step[free] *= units
            trial = state.moved(q, step)
            # A mechanism of sizes too different to be compared may be led beyond all numbers.
            if np.isfinite(trial).all():
                trial_rows = state.rows(trial, t)
                if _size(trial_rows, used) < size:
                    break
            damping = max(10.0 * damping, 1e-4)
        else:
            break
        damping = 0.1 * damping if damping > 1e-6 else 0.0
        before, size = size, _size(trial_rows, used)
        slow = (
            slow + 1
            if size > 0.9 * before and (size < 1e-9 * state.coarseness or size > 0.9999 * before)
            else 0
        )
        q, rows = trial, trial_rows
    return q, rows


def _shortest(J: Array, b: Array, damping: float = 0.0) -> Array:
    """The shortest x that brings J x nearest to b; damping: over the square of the largest singular value.

    Without damping, many equations are solved by a rank-revealing factorisation, several times as quick as singular
    values.
    """
    if not J.size:
        return np.zeros(J.shape[1])
    if damping == 0.0 and min(J.shape) <= FEW:
        return np.asarray(np.linalg.lstsq(J, b, rcond=1e-9)[0], dtype=np.float64)
    if damping == 0.0:
        from scipy.linalg import lstsq

        return np.asarray(lstsq(J, b, cond=1e-9, lapack_driver="gelsy")[0], dtype=np.float64)
    U, s, V = np.linalg.svd(J, full_matrices=False)
    s = np.where(s > 1e-9 * s.max(initial=0.0), s, 0.0)
    shrunk = np.divide(s, s * s + damping * s.max(initial=0.0) ** 2, out=np.zeros_like(s), where=s > 0.0)
    return np.asarray(V.T @ (shrunk * (U.T @ b)))


def _size(rows: NumericRows, used: NDArray[np.int64]) -> float:
    return float(np.linalg.norm(rows.residual[used]))


def _is_closed(state: LoopState, q: Array, rows: NumericRows, used: NDArray[np.int64]) -> bool:
    largest = float(np.abs(rows.residual[used]).max(initial=0.0))
    return largest <= CLOSED * max(state.coarseness, float(np.abs(q).max(initial=0.0)))


def led(state: LoopState, drawn: Array, given: Array, held: Sequence[int], t: float) -> Array:
    """Positions near closed ones, with the `held` coordinates taken from the drawing to where they are given.

    Loops have two closed configurations or more; small steps keep them in the one that was drawn.
    """
    places = [k.q for k in state.linkage.links if k.kind.speeds == 1 and k.u in set(held)]
    change = given[places] - drawn[places]
    units = [
        state.linkage.speed_units[k.u] for k in state.linkage.links if k.q in places and k.kind.speeds == 1
    ]
    steps = min(100, math.ceil(np.abs(change / units).max(initial=0.0) / LONGEST_LEAD))
    if steps <= 1 or not state.constraints:
        return given
    q = given.copy()
    for k in range(1, steps + 1):
        q[places] = given[places] - (steps - k) / steps * change
        try:
            q = close_positions(state, q, held, t, lambda _: "", nudges=0)
        except AssemblyError:
            return given
    return q


def closed_without(
    state: LoopState, q: Array, closed: Array, fixed: Sequence[int], t: float, kept: Sequence[int]
) -> Array:
    """The configuration nearest to q by the equations `kept` alone, where the redundant ones then hold too.

    Off the constraints redundant equations are independent, though barely, and Newton's method takes long detours.
    """
    if len(kept) == sum(c.size for c in state.constraints):
        return closed
    try:
        found = close_positions(state, q, fixed, t, lambda _: "", kept, nudges=0)
    except AssemblyError:
        return closed
    rows = state.rows(found, t)
    return found if _is_closed(state, found, rows, np.arange(len(rows.residual))) else closed


def contradiction(
    state: LoopState, q: Array, u: Array, t: float, kept: Sequence[int], dropped: Sequence[int]
) -> int | None:
    """A dropped equation that the kept ones imply at time t, but no longer a moment later."""
    if not dropped or not any(c.what.startswith("driver") for c in state.constraints):
        return None
    fastest = np.abs(u / np.array(state.linkage.speed_units)).max(initial=0.0)
    span = min(0.02, 0.05 / max(1.0, fastest))
    try:
        later = close_positions(state, state.moved(q, span * u), (), t + span, lambda _: "", kept, nudges=0)
    except AssemblyError:
        return None
    residual = np.abs(state.rows(later, t + span).residual[list(dropped)])
    return dropped[int(residual.argmax())] if residual.max() > 1e-8 * state.coarseness else None


def close_speeds(
    state: LoopState, rows: NumericRows, u: Array, fixed: Sequence[int], describe: Callable[[Array], str]
) -> Array:
    """The nearest speeds that keep the loops closed, `fixed` ones as given."""
    free = np.delete(np.arange(state.linkage.speeds), fixed)
    miss = rows.nu - rows.J @ u
    if not miss.size:
        return u
    u = u.copy()
    units = np.array(state.linkage.speed_units)[free]
    u[free] += units * _shortest(rows.J[:, free] * units, miss)
    left = rows.J @ u - rows.nu
    if np.abs(left).max() > 1e-9 * max(state.coarseness, np.abs(u).max(initial=0.0)):
        raise AssemblyError(describe(left))
    return u


def independent_equations(state: LoopState, q: Array, t: float) -> tuple[list[int], list[int]]:
    """Equations that are needed and those that the others imply, judged near q as well as in it.

    A redundant equation is redundant all along the motion; in a singular configuration equations only seem
    so. The mechanism is therefore moved a little along its freedoms and looked at again; where it cannot move, by those
    that the other equations leave it, and what no longer holds then was needed: a straight rod that keeps its length
    between two pins.
    """
    rows = state.rows(q, t)
    velocities = nonholonomic(state.constraints)
    best = _ranked(state.compared(rows.J), velocities)
    units = np.array(state.linkage.speed_units)
    rng = np.random.default_rng(20)
    for size in (0.02, 0.05, 0.02):
        if len(best) == rows.J.shape[0]:
            break
        nearby = _wander(state, q, rows, size * rng.standard_normal(state.linkage.speeds) * units, t)
        if nearby is not None:
            found = _ranked(state.compared(state.rows(nearby, t).J), velocities)
            if len(found) > len(best):
                best = found
    dropped = np.delete(np.arange(rows.J.shape[0]), [*best, *velocities])
    if len(dropped):
        nearby = _wander(state, q, rows, BESIDE * rng.standard_normal(state.linkage.speeds) * units, t, best)
        if nearby is not None:
            missed = np.abs(state.rows(nearby, t).residual[dropped])
            best = [*best, *dropped[missed > IMPLIED * BESIDE**2 * state.coarseness].tolist()]
    kept = sorted(best)
    return kept, [e for e in range(rows.J.shape[0]) if e not in set(kept)]


def _wander(
    state: LoopState, q: Array, rows: NumericRows, step: Array, t: float, used: Sequence[int] | None = None
) -> Array | None:
    """A configuration a small step along the freedoms, closed by the equations `used`, or None if none is found."""
    units = np.array(state.linkage.speed_units)
    J = rows.J if used is None else rows.J[list(used)]
    step = step - units * _shortest(J * units, J @ step)
    try:
        return close_positions(state, state.moved(q, step), (), t, lambda _: "", used, nudges=0)
    except AssemblyError:
        return None


def _ranked(J: Array, velocities: frozenset[int]) -> list[int]:
    """Independent rows, found block by block of rows that share no column; those of velocities alone last.

    Where one of each kind says the same, the one of positions is kept, because it is corrected.
    """
    from bellcrank.formulations.partition import independent_rows

    found: list[int] = []
    for block in _blocks(J):
        later = [i for i, e in enumerate(block) if e in velocities]
        found += [block[i] for i in independent_rows(J[block], later)]
    return found


def _blocks(J: Array) -> list[list[int]]:
    """Rows in sets that share no column."""
    owner: dict[int, int] = {}
    leader = list(range(J.shape[0]))

    def find(i: int) -> int:
        while leader[i] != i:
            i = leader[i]
        return i

    for i, c in zip(*np.nonzero(J), strict=True):
        a, b = find(int(i)), find(owner.setdefault(int(c), int(i)))
        leader[max(a, b)] = min(a, b)
    blocks: dict[int, list[int]] = {}
    for i in range(J.shape[0]):
        blocks.setdefault(find(i), []).append(i)
    return list(blocks.values())


def worst_constraint(constraints: Sequence[Constraint], misses: Array) -> tuple[Constraint, float]:
    """The constraint that misses most, and by how much (the length of its residual); the last of several alike."""
    sizes = np.array([np.linalg.norm(misses[list(r)]) for r in equation_numbers(constraints)])
    k = int(np.flatnonzero(sizes >= (1.0 - 1e-6) * sizes.max())[-1])
    return constraints[k], float(sizes[k])
