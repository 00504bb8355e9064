"""Sensitivity of a run to parameters, by the variational equations integrated alongside.

With Y = [q, u_i], Y-dot = F(t, Y, p), the derivatives s_k = dY/dp_k follow s_k-dot = F_Y s_k + F_pk, whose
right-hand side is the exact derivative of the traced program. The projection onto the constraints is
differentiated too, so that the derivatives satisfy the constraints. They start with those of the assembled start
state.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.analyses.equilibrium_tangent import equilibrium_tangents
from bellcrank.analyses.outputs import full_with_derivatives, measured
from bellcrank.analyses.start_tangent import start_tangents
from bellcrank.analyses.touched import Touches, begun_at
from bellcrank.errors import ModelError, SingularMechanism, unknown_name
from bellcrank.integrate import METHODS, Options, Problem, Trajectory, integrate
from bellcrank.integrate.loop import Change
from bellcrank.mechanism.initial import rates_alone
from bellcrank.program.derive import directional
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.program import Program
from bellcrank.result.result import Result, RunReport
from bellcrank.result.series import Series

if TYPE_CHECKING:
    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.formulations.loops import Partition
    from bellcrank.mechanism import Mechanism, State
    from bellcrank.mechanism.traced import Traced
    from bellcrank.model.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives of quantities over time by parameters.

    ``sensitivity["bob.position.x", "length"]`` is a series, ``sensitivity.end["bob.position.x", "length"]``
    its last value. values: shape (times, outputs). derivatives: shape (times, outputs, parameters).
    position_derivatives, speed_derivatives: of all positions and speeds, shape (times, ..., parameters).
    result: the run.
    """

    outputs: tuple[str, ...]
    parameters: tuple[str, ...]
    values: Array
    derivatives: Array
    units: tuple[str, ...]
    position_derivatives: Array
    speed_derivatives: Array
    result: Result

    def __getitem__(self, key: tuple[str, str]) -> Series:
        """d(quantity)/d(parameter) over time."""
        output, parameter = key
        if output not in self.outputs:
            raise unknown_name("output", output, self.outputs)
        if parameter not in self.parameters:
            raise unknown_name("parameter", parameter, self.parameters)
        i, k = self.outputs.index(output), self.parameters.index(parameter)
        below = self.result.mechanism.system.parameters[parameter].unit or "1"
        name, unit = f"d({output})/d({parameter})", f"({self.units[i] or '1'})/({below})"
        return Series(self.derivatives[:, i, k], self.result.time, name, unit)

    @property
    def end(self) -> Mapping[tuple[str, str], float]:
        """Derivatives at the last output, by (quantity, parameter)."""
        return {
            (output, parameter): float(self.derivatives[-1, i, k])
            for i, output in enumerate(self.outputs)
            for k, parameter in enumerate(self.parameters)
        }


def sensitivity(
    system: System | Mechanism,
    duration: float,
    *,
    outputs: Sequence[str],
    by: Sequence[str] | None = None,
    integrator: str = "auto",
    tolerance: float = 1e-9,
    output: int | float | ArrayLike = 100,
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    start: State | Equilibrium | str | None = None,
) -> Sensitivity:
    """Derivatives of quantities along a run by parameters.

    outputs: quantities by name, accelerations and reactions included. by: parameters by name (default: all).
    integrator, tolerance, output, initial, parameters, start: as for a run. With a state as start=, its independent
    positions and speeds stay as given and the dependent ones follow; with "equilibrium" the run starts at rest in
    the static equilibrium, which moves with the parameters; else the start is assembled anew for each parameter
    value. Continuous contacts are followed; a rigid one that strikes is an error that names it.
    """
    from bellcrank.run.simulation import output_times, prepared

    if integrator not in METHODS:
        raise unknown_name("integrator", integrator, METHODS)
    mechanism = prepared(system, "auto", initial, parameters, start)
    settled = isinstance(start, str)
    if settled and rates_alone(mechanism.system, initial or {}):
        raise ModelError(
            "start='equilibrium' moves with the parameters, and the speeds in initial= with it in a way that is not "
            "followed; give the state as start=, which then stays, or leave out the speeds"
        )
    mechanism = begun_at(mechanism)
    known = mechanism.mechanics.parameters
    names = tuple(mechanism.system.parameters.own() if by is None else by)
    for name in names:
        if name not in known:
            raise unknown_name("parameter", name, known)
    if not names:
        raise ModelError(f"{mechanism.system.name!r} has no parameters to be sensitive to")
    columns = [known.index(name) for name in names]
    if settled:
        dq, du = equilibrium_tangents(mechanism, columns)
    else:
        dq, du = start_tangents(mechanism, columns)
    times = output_times(mechanism.start.t, duration, output)
    return along(mechanism, names, dq, du, times, outputs, integrator, tolerance)


def along(
    mechanism: Mechanism,
    names: Sequence[str],
    dq: Array,
    du: Array,
    times: Array,
    outputs: Sequence[str],
    integrator: str,
    tolerance: float,
) -> Sensitivity:
    """The same from a start whose derivatives by the parameters `names` are known; du over all speeds."""
    columns = [mechanism.mechanics.parameters.index(name) for name in names]
    run = _Run(mechanism, columns, integrator, tolerance)
    trajectory, seconds = run.go(dq, du, times)
    return run.answer(trajectory, seconds, tuple(outputs), tuple(names))


@dataclass(eq=False)
class _Machine:
    """The compiled programs of a partition with their derivatives."""

    traced: Traced
    rates: Kernel
    projection: Kernel
    watched: Kernel | None


TANGENTS: Table[tuple[Partition, tuple[int, ...]], _Machine] = Table("with tangents")


class _Run:
    """A run with its derivatives: the state is [Y, s_1, s_2, ...]."""

    def __init__(self, mechanism: Mechanism, columns: list[int], integrator: str, tolerance: float) -> None:
        self.mechanism, self.columns = mechanism, columns
        self.integrator, self.tolerance = integrator, tolerance
        self.p = np.array(mechanism.parameter_values)
        self.touches = Touches(mechanism, columns)
        self.history: list[tuple[float, Array, Array]] = [(mechanism.start.t, self.p, self.touches.tangents)]
        self.machine = self._machine(mechanism.partition)
        self.used = [self.machine]

    def _machine(self, partition: Partition) -> _Machine:
        key = partition, tuple(self.columns)
        return self.mechanism.compiled.once(TANGENTS, key, lambda: self._compiled(partition))

    def _compiled(self, partition: Partition) -> _Machine:
        traced = self.mechanism.traced(partition=partition)
        rates = self._with_tangents(traced.rates, 0)
        projection = self._with_tangents(self.mechanism.projection(partition), 2)
        watched = None
        if self.touches:
            program = self.touches.program(partition)
            watched = compile_program(self._with_tangents(program, len(program.outputs)))
        return _Machine(traced, compile_program(rates), compile_program(projection), watched)

    def _with_tangents(self, program: Program, extra: int) -> Program:
        """[t, Y, s_1 ..., p, tangents of kept ones] to [Y', s_1' ...] and the last `extra` outputs as they are."""
        inputs, p = program.inputs, len(self.p)
        state, parameters = inputs[1 : len(inputs) - p], inputs[len(inputs) - p :]
        graph = inputs[0].graph
        main = program.outputs[: len(program.outputs) - extra]
        tangents, outputs = [], list(main)
        kept = [[graph.input(f"kept.{v}.{k}") for k in self.columns] for v in self.touches.kept]
        for column, k in enumerate(self.columns):
            moving = [graph.input(f"tangent.{k}.{i}") for i in range(len(state))]
            along = {e.id: d for e, d in zip(state, moving, strict=True)}
            after = {parameters[v].id: row[column] for v, row in zip(self.touches.kept, kept, strict=True)}
            outputs += directional(main, {**along, **after, parameters[k].id: 1.0})
            tangents += moving
        outputs += program.outputs[len(main) :]
        every = [inputs[0], *state, *tangents, *parameters, *(x for row in kept for x in row)]
        return Program.of(every, outputs, f"{program.name}, tangents")

    def _problem(self, t: float, Y: Array) -> Problem:
        m = self.machine
        return Problem(
            rhs=m.rates.address,
            y0=Y,
            t0=t,
            p=np.concatenate([self.p, self.touches.tangents.ravel()]),
            project=m.projection.address,
            events=0 if m.watched is None else m.watched.address,
            directions=tuple(e.direction for e in self.touches.events),
            keep=(m.rates, m.projection, m.watched),
        )

    def go(self, dq: Array, du: Array, times: Array) -> tuple[Trajectory, float]:
        """Integrate."""
        start = self.mechanism.start
        self.touches.begin(dq, du)
        independent = list(self.machine.traced.partition.independent)
        Y = np.concatenate([start.q, start.u[independent]])
        S = np.vstack([dq, du[independent]])
        sizes = np.abs(self.p[self.columns])
        atol = np.concatenate([np.ones(len(Y)), np.repeat(1.0 / np.where(sizes > 0.0, sizes, 1.0), len(Y))])
        options = Options(rtol=self.tolerance, atol=0.01 * self.tolerance * atol, repartition_threshold=0.05)
        began = time.perf_counter()
        trajectory = integrate(
            self._problem(start.t, np.concatenate([Y, S.T.ravel()])),
            self.integrator,
            times,
            options,
            on_event=self._on_event if self.touches else None,
            on_repartition=self._on_repartition,
        )
        self.touches.check()
        return trajectory, time.perf_counter() - began

    def _on_event(self, t: float, y: Array, hits: tuple[int, ...], p: Array) -> Change:
        """Derivatives jump where contacts begin and end."""
        Y, S = self._split(y)
        S, self.p = self.touches.met(self.machine.traced, t, Y, S, hits, self.p)
        self.history.append((t, self.p, self.touches.tangents))
        after = np.concatenate([self.p, self.touches.tangents.ravel()])
        return Change(np.concatenate([Y, S.ravel()]), after, self.touches.struck is not None)

    def _parameters_at(self, t: Array) -> tuple[Array, Array]:
        """Parameters and derivatives of kept ones at times; changes hold from their time on."""
        p = np.tile(self.history[0][1], (len(t), 1))
        kept = np.tile(self.history[0][2], (len(t), 1, 1))
        for begin, values, tangents in self.history[1:]:
            p[t > begin], kept[t > begin] = values, tangents
        return p, kept

    def _split(self, y: Array) -> tuple[Array, Array]:
        """Y and the derivatives, one column a parameter; y may have many rows."""
        n = y.shape[-1] // (1 + len(self.columns))
        parts = y.reshape(*y.shape[:-1], 1 + len(self.columns), n)
        return parts[..., 0, :], parts[..., 1:, :]

    def _inputs(self, t: Array, Y: Array, S: Array) -> tuple[Array, Array]:
        """x and dx of programs on [t, Y, p]: one column a time and parameter, times outermost."""
        k = len(self.columns)
        count = len(t)
        p, kept = self._parameters_at(t)
        dp = np.zeros((count, k, len(self.p)))
        dp[:, :, self.touches.kept] = kept.transpose(0, 2, 1)
        dp[:, range(k), self.columns] += 1.0
        x = np.hstack([t[:, None], Y, p])
        dx = np.concatenate([np.zeros((count, k, 1)), S, dp], axis=2)
        return np.repeat(x, k, axis=0).T, dx.reshape(count * k, -1).T

    def _on_repartition(self, t: float, y: Array, p: Array) -> tuple[Problem, Array] | None:
        from bellcrank.mechanism import State

        Y, S = self._split(y)
        x, dx = self._inputs(np.array([t]), Y[None], S[None])
        n, nq = self.mechanism.linkage.speeds, self.mechanism.linkage.positions
        program = self.machine.traced.full
        values = full_with_derivatives(self.mechanism, self.machine.traced).many(np.vstack([x, dx]).T).T
        u, u_by = values[:n, 0], values[len(program.outputs) : len(program.outputs) + n]
        try:
            partition = self.mechanism.choose_partition(State(t, Y[:nq], u), self.p.tolist())
        except SingularMechanism:
            return None
        if partition == self.machine.traced.partition:
            return None
        self.machine = self._machine(partition)
        self.used.append(self.machine)
        independent = list(partition.independent)
        new = [np.concatenate([Y[:nq], u[independent]])]
        new += [np.concatenate([s[:nq], u_by[independent, k]]) for k, s in enumerate(S)]
        state = np.concatenate(new)
        return self._problem(t, state), state

    def answer(
        self, trajectory: Trajectory, seconds: float, outputs: tuple[str, ...], names: tuple[str, ...]
    ) -> Sensitivity:
        """Quantities and their derivatives at the outputs."""
        m, k = self.mechanism, len(self.columns)
        reading = measured(m, outputs)
        Y, S = self._split(trajectory.y)
        count, size = len(trajectory.t), len(reading.labels)
        values, slopes = np.zeros((count, size)), np.zeros((count, size, k))
        n = m.linkage.speeds
        u, du = np.zeros((2, count, n))
        u_by = np.zeros((count, n, k))
        for number, machine in enumerate(self.used):
            rows = trajectory.partition == number
            if not rows.any():
                continue
            x, dx = self._inputs(trajectory.t[rows], Y[rows], S[rows])
            here, by = reading(machine.traced, x, dx)
            values[rows] = here[:, ::k].T
            slopes[rows] = by.reshape(size, int(rows.sum()), k).transpose(1, 0, 2)
            program = machine.traced.full
            full = full_with_derivatives(m, machine.traced).many(np.vstack([x, dx]).T).T
            u[rows], du[rows] = full[:n, ::k].T, full[n : 2 * n, ::k].T
            size_u = len(program.outputs)
            u_by[rows] = full[size_u : size_u + n].reshape(n, -1, k).transpose(1, 0, 2)
        formulation = str(self.machine.traced.formulation)
        report = RunReport.of(trajectory, self.integrator, formulation, seconds)
        q = Y[:, : m.linkage.positions].copy()
        result = Result(m, trajectory.t, q, u, du, self._parameters_at(trajectory.t)[0], report)
        q_by = S[:, :, : m.linkage.positions].transpose(0, 2, 1)
        return Sensitivity(reading.labels, names, values, slopes, reading.units, q_by, u_by, result)
