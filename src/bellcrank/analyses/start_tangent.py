"""How the assembled start state of a mechanism changes with its parameters.

Assembly takes the closest positions to the described q_g that satisfy the loops, and the closest speeds to the
described u_g in their tangents: u = u_g + J^+ (nu - J u_g). With z = J^+ b the derivative of such a solution
is J^+ (db - dJ z) + (1 - J^+ J) dJ^T (J J^T)^-1 z (Golub and Pereyra 1973), over the speeds not held by the
user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.tangent import position_map, speed_map
from bellcrank.formulations.loops import Loops, Partition
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Traced
from bellcrank.mechanics.start import start_positions
from bellcrank.mechanism.initial import apply_initial
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]


def start_tangents(mechanism: Mechanism, columns: list[int], held: bool = False) -> tuple[Array, Array]:
    """dq/dp and du/dp of the start, one column a parameter; u over all speeds.

    held: whether the independent positions and speeds stay as they are, as they do in a start given as a state.
    """
    m, start, initial = mechanism, mechanism.start, mechanism.initial or {}
    held = held or mechanism.initial is None
    n, count = m.linkage.speeds, len(columns)
    named = m.loop_state().parameters
    guess_u = start.u
    fixed_q = fixed_u = list(m.partition.independent)
    guess_by = np.zeros((2, max(m.linkage.positions, n), count))
    if not held:
        _, guess_u, fixed_q, fixed_u = _described(m, named, initial)
        # Members that had to bend so that the loops close go on doing so.
        fixed_q = [k for k in fixed_q if k not in m.bent[0]]
        fixed_u = [k for k in fixed_u if k not in m.bent[1]]
        guess_by = _described_by(m, columns, initial)
        if _wanders(m, named, initial, fixed_q):
            guess_by = _assembled_by(m, columns, initial)
            # From a state that assembly reached, only what the parameters tear open is left to close.
            guess_u = start.u
    dq_guess, du_guess = guess_by[0, : m.linkage.positions], guess_by[1, :n]
    G, left = position_map(m.linkage, start.q), speed_map(m.linkage, start.q)
    if not m.kept:
        return G @ (left @ dq_guess), du_guess
    terms = _Terms(m)
    J, _, _ = terms.values()
    along_q = G @ (left @ dq_guess)
    miss = terms.changes(along_q, columns)[1]
    free = np.setdiff1d(np.arange(n), np.array(fixed_q, dtype=int))
    step = np.zeros((n, count))
    closed = [k for k, e in enumerate(m.kept) if e in set(m.holonomic)]
    step[free] = -np.linalg.pinv(J[closed][:, free], rcond=1e-9) @ miss[closed]
    dq = along_q + G @ step
    dJ, _, dnu = terms.changes(dq, columns)
    free = np.setdiff1d(np.arange(n), np.array(fixed_u, dtype=int))
    A = J[:, free]
    inverse = np.linalg.pinv(A, rcond=1e-9)
    z = start.u[free] - guess_u[free]
    rest = np.eye(len(free)) - inverse @ A
    du = du_guess.copy()
    for k in range(count):
        # What the held and guessed speeds ask of the others changes with J as well.
        asked = dnu[:, k] - dJ[k] @ guess_u - J @ du_guess[:, k]
        change = inverse @ (asked - dJ[k][:, free] @ z)
        change += rest @ (dJ[k][:, free].T @ (inverse.T @ z))
        du[free, k] += change
    return dq, du


def _described(m: Mechanism, named: Mapping[str, float], initial: Mapping[str, Any]) -> Any:
    from bellcrank.mechanism.assembly import LoopState

    loops = LoopState(m.linkage, m.mechanics.constraints, named, max(1.0, m.length_scale))
    q = start_positions(m.system, m.linkage, named)
    return apply_initial(m.system, m.linkage, loops, q, np.zeros(m.linkage.speeds), initial)


def _described_by(m: Mechanism, columns: list[int], initial: Mapping[str, Any]) -> Array:
    """Derivatives of the described start by parameters.

    It depends on them only through the frames of ball and free joints, nearly always linearly, so a
    difference of fourth order gives all digits that matter.
    """

    def start(values: Mapping[str, float]) -> tuple[Array, Array]:
        q, u, _, _ = _described(m, values, initial)
        return q, u

    return _by_differences(m, columns, start)


def _wanders(m: Mechanism, named: Mapping[str, float], initial: Mapping[str, Any], held: list[int]) -> bool:
    """Whether the path of assembly matters: positions moved, and the held coordinates do not fix the end."""
    q = _described(m, named, initial)[0]
    rows = m.loop_state().rows(m.start.q, m.start.t)
    free = np.setdiff1d(np.arange(m.linkage.speeds), np.array(held, dtype=int))
    J = rows.J[list(m.holonomic)][:, free]
    fixed = np.linalg.matrix_rank(J, tol=1e-9) == len(free) if rows.J.size else True
    return bool(np.abs(q - m.start.q).max(initial=0.0) > 1e-9) and not fixed


def _assembled_by(m: Mechanism, columns: list[int], initial: Mapping[str, Any]) -> Array:
    """Derivatives of the assembled start by differences of fourth order, where the path of assembly matters.

    The part across the constraints is made exact afterwards.
    """
    from bellcrank.mechanism import analyse

    def start(values: Mapping[str, float]) -> tuple[Array, Array]:
        found = analyse(m.system, initial=initial, parameters=values, t=m.start.t).start
        return found.q, found.u

    return _by_differences(m, columns, start)


def _by_differences(
    m: Mechanism, columns: list[int], start: Callable[[Mapping[str, float]], tuple[Array, Array]]
) -> Array:
    """Derivatives of a start, a function of the parameters by name, by differences of fourth order."""
    names = m.mechanics.parameters
    result = np.zeros((2, max(m.linkage.positions, m.linkage.speeds), len(columns)))
    for k, column in enumerate(columns):
        h = 1e-3 * max(abs(m.parameter_values[column]), 1e-3)
        for weight, shift in ((8.0, 1.0), (-8.0, -1.0), (-1.0, 2.0), (1.0, -2.0)):
            values = dict(zip(names, m.parameter_values, strict=True))
            values[names[column]] += shift * h
            for row, found in zip(result, start(values), strict=True):
                row[: len(found), k] += weight * found / (12.0 * h)
    return result


class _Terms:
    """J, residuals and nu of the kept equations in the start, and their exact changes."""

    def __init__(self, m: Mechanism) -> None:
        self.m = m
        graph = Graph()
        t = graph.input("t.")
        q = m.linkage.position_inputs(graph)
        p = [graph.input(name) for name in m.mechanics.parameters]
        everything = Partition((), tuple(range(m.linkage.speeds)))
        loops = Loops(Kinematics(m.linkage, q, Traced(graph)), m.mechanics.constraints, everything, t)
        rows = [loops.row(e) for e in m.kept]
        self.entries = np.array([(i, j) for i, row in enumerate(rows) for j in row], dtype=int).reshape(-1, 2)
        kept = [loops.equations[e] for e in m.kept]
        outputs = [*(e.residual for e in kept), *(e.nu for e in kept), *(rows[i][j] for i, j in self.entries)]
        self.program = Program.of([t, *q, *p], outputs, "constraints")
        self.x = np.concatenate([[m.start.t], m.start.q, m.parameter_values])

    def values(self) -> tuple[Array, Array, Array]:
        """J, residuals, nu."""
        J, residual, nu = self._unpacked(evaluate(self.program, self.x)[:, None])
        return J[0], residual[:, 0], nu[:, 0]

    def changes(self, dq: Array, columns: list[int]) -> tuple[Array, Array, Array]:
        """dJ (one matrix a parameter), d(residual), d(nu) as positions change by dq and parameters by 1."""
        dx = np.zeros((len(self.x), len(columns)))
        dx[1 : 1 + len(dq)] = dq
        first = 1 + len(dq)
        dx[[first + c for c in columns], range(len(columns))] = 1.0
        x = np.tile(self.x[:, None], (1, len(columns)))
        return self._unpacked(
            evaluate(jvp_program(self.program), np.vstack([x, dx]))[len(self.program.outputs) :]
        )

    def _unpacked(self, values: Array) -> tuple[Array, Array, Array]:
        k = len(self.m.kept)
        J = np.zeros((values.shape[1], k, self.m.linkage.speeds))
        J[:, self.entries[:, 0], self.entries[:, 1]] = values[2 * k :].T
        return J, values[:k], values[k : 2 * k]
