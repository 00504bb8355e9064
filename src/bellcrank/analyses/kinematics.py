"""Kinematic analysis of fully driven mechanisms: positions, speeds, accelerations over time, by continuation.

Positions follow by Newton's method on the constraint equations from a prediction with speeds and their rates; then J u
= nu and J u-dot = gamma (Ahn and Lee, 1994, equations 20 to 22). The linear systems are pivoted numerically, so no
partition can wear out. Reactions and driver efforts of the result are those of inverse dynamics.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.analyses.lasting import refuse_touch
from bellcrank.analyses.tangent import move_names
from bellcrank.errors import ModelError, SingularMechanism
from bellcrank.formulations.loops import Loops, Partition
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Traced
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.result.result import Result, RunReport

if TYPE_CHECKING:
    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.mechanism import Mechanism, State
    from bellcrank.model.system import System

Array = NDArray[np.float64]

CLOSED = 1e-13
"""Residuals below this, in the model's units, count as zero; rounding sets the floor."""

LONGEST_MOVE = 0.2
"""No coordinate moves more than this [rad or m] between two predictions."""

SMALLEST_STEP = 1e-9
"""Share of an output interval below which continuation gives up."""


def kinematics(
    system: System | Mechanism,
    duration: float,
    *,
    output: int | float | ArrayLike = 1000,
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    start: State | Equilibrium | str | None = None,
) -> Result:
    """The motion of a mechanism all of whose freedoms are driven, for `duration` seconds.

    output: number of equal intervals, or the times themselves. initial: start values by joint, which select the
    branch where the mechanism can be assembled in several. parameters: values other than the described ones.
    """
    from bellcrank.quantities.states import refuse_states
    from bellcrank.run.simulation import output_times, prepared

    mechanism = prepared(system, "auto", initial, parameters, start)
    refuse_states(mechanism, "kinematics")
    if len(mechanism.holonomic) < len(mechanism.kept):
        names = dict.fromkeys(c.what for c in mechanism.mechanics.constraints if c.nonholonomic)
        raise ModelError(
            f"kinematics of {mechanism.system.name!r} follows equations of positions; {', '.join(names)} holds "
            "velocities, whose positions have to be integrated: simulate"
        )
    if mechanism.degrees_of_freedom:
        left = ", ".join(move_names(mechanism, mechanism.partition.independent))
        raise ModelError(
            f"kinematics needs every freedom of {mechanism.system.name!r} driven; "
            f"{mechanism.degrees_of_freedom} left: {left}. Add drivers with system.driver(...), or simulate"
        )
    result = _Continuation(mechanism).go(output_times(mechanism.start.t, duration, output))
    refuse_touch(result, "kinematics")
    return result


class _Continuation:
    """A driven motion being followed."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.p = np.array(mechanism.parameter_values)
        self.loops = mechanism.loop_state()
        self.n = mechanism.linkage.speeds
        self.corrections = self.steps = 0

    @cached_property
    def _programs(self) -> tuple[Program, Program]:
        """[t, q, p] to [residuals, nu, entries of J], and [t, q, u, p] to gamma, of the kept equations."""
        m, graph = self.mechanism, Graph()
        linkage, kept = m.linkage, m.kept
        t = graph.input("t.")
        q = linkage.position_inputs(graph)
        u = [graph.input(f"u.{i}") for i in range(linkage.speeds)]
        p = [graph.input(name) for name in m.mechanics.parameters]
        kin = Kinematics(linkage, q, Traced(graph))
        loops = Loops(kin, m.mechanics.constraints, Partition((), tuple(range(self.n))), t)
        rows = [loops.row(e) for e in kept]
        self.entries = [(i, j) for i, row in enumerate(rows) for j in row]
        first: list[Scalar] = [loops.equations[e].residual for e in kept]
        first += [loops.equations[e].nu for e in kept]
        first += [rows[i][j] for i, j in self.entries]
        kin.set_speeds(u)
        gamma = [x for c in m.mechanics.constraints for x in c.gammas(kin, t)]
        return (
            Program.of([t, *q, *p], first, "constraints"),
            Program.of([t, *q, *u, *p], [gamma[e] for e in kept], "constraint accelerations"),
        )

    @cached_property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        a, b = self._programs
        return compile_program(a), compile_program(b)

    def _rows(self, t: float, q: Array) -> tuple[Array, Array, Array]:
        """Residuals, nu and J."""
        m = len(self.mechanism.kept)
        values = self._kernels[0](np.concatenate([[t], q, self.p]))
        J = np.zeros((m, self.n))
        J[tuple(np.array(self.entries, dtype=int).reshape(-1, 2).T)] = values[2 * m :]
        return values[:m], values[m : 2 * m], J

    def go(self, times: Array) -> Result:
        """The motion at the given times."""
        began = time.perf_counter()
        start = self.mechanism.start
        k, n = len(times), self.n
        q = np.zeros((k, self.mechanism.linkage.positions))
        u, du = np.zeros((k, n)), np.zeros((k, n))
        now = (start.t, *self._at(start.t, start.q, 0.0))
        for row, t in enumerate(times):
            now = self._reach(now, float(t))
            q[row], u[row], du[row] = now[1:]
        seconds = time.perf_counter() - began
        report = RunReport("done", "kinematics", "", self.steps, 0, self.corrections, seconds)
        return Result(self.mechanism, times, q, u, du, np.tile(self.p, (k, 1)), report)

    def _reach(self, now: tuple[float, Array, Array, Array], end: float) -> tuple[float, Array, Array, Array]:
        """Follow the motion to a time, in steps short enough for the prediction to hold."""
        whole = end - now[0]
        share = 1.0
        while now[0] < end:
            t, q, u, du = now
            fastest = float(np.abs(u).max(initial=0.0))
            h = min(end - t, share * whole, LONGEST_MOVE / fastest if fastest else np.inf)
            new_t = end if h >= (end - t) * (1.0 - 1e-12) else t + h
            guess = self.loops.moved(q, h * u + 0.5 * h * h * du)
            try:
                now = (new_t, *self._at(new_t, guess, 0.5 * LONGEST_MOVE))
                share = min(1.0, 2.0 * share)
                self.steps += 1
            except SingularMechanism:
                share = 0.5 * h / whole
                if share < SMALLEST_STEP:
                    raise
        return now

    def _at(self, t: float, q: Array, reach: float) -> tuple[Array, Array, Array]:
        """Positions near `q` that fit, speeds and their rates. reach: farthest correction allowed; 0: any."""
        best = np.inf
        for _ in range(12):
            residual, nu, J = self._rows(t, q)
            miss = float(np.abs(residual).max(initial=0.0))
            if miss <= CLOSED or (miss < 1e-11 * self.loops.coarseness and miss > 0.5 * best):
                break
            best = miss
            step = -self._solve(t, J, residual)
            if reach and np.abs(step).max() > reach:
                raise self._singular(t)
            q = self.loops.moved(q, step)
            self.corrections += 1
        else:
            raise self._singular(t)
        u = self._solve(t, J, nu)
        gamma = self._kernels[1](np.concatenate([[t], q, u, self.p]))
        return q, u, self._solve(t, J, gamma)

    def _solve(self, t: float, J: Array, rhs: Array) -> Array:
        """J x = rhs; where J is singular the shortest solution, if there is one."""
        size = max(1.0, float(np.abs(rhs).max(initial=0.0)))
        try:
            x = np.asarray(np.linalg.solve(J, rhs), dtype=np.float64)
            if np.isfinite(x).all() and np.abs(x).max(initial=0.0) < 1e12 * size:
                return x
        except np.linalg.LinAlgError:
            pass
        x = np.asarray(np.linalg.lstsq(J, rhs, rcond=1e-12)[0], dtype=np.float64)
        if np.abs(J @ x - rhs).max() > 1e-8 * size:
            raise self._singular(t)
        return x

    def _singular(self, t: float) -> SingularMechanism:
        return SingularMechanism(
            f"the driven motion of {self.mechanism.system.name!r} cannot be followed at t = {t:.6g} s: there "
            "the drivers lock the mechanism or ask for what its lengths do not allow; drive another "
            "coordinate, or check the drivers' range"
        )
