"""A run in progress: it hands over to another partition when due, meets events, and ends in a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.progress_bar import ProgressBar
from bellcrank.errors import unknown_name
from bellcrank.integrate import (
    METHODS,
    Options,
    Problem,
    Sample,
    SimulationError,
    Status,
    Trajectory,
    integrate,
)
from bellcrank.integrate.failures import function_of
from bellcrank.integrate.loop import Change, Progress
from bellcrank.integrate.methods import implicit
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.machines import Machine, Machines
from bellcrank.mechanism.sizes import tolerance_scales
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.preparing import WorkTime
from bellcrank.program.program import Program
from bellcrank.result.result import Happening, Result, RunReport
from bellcrank.run.jumps import Jumps

if TYPE_CHECKING:
    from bellcrank.formulations.loops import Partition
    from bellcrank.run.events import Controller, Event
    from bellcrank.run.recording import Resumption, Writer
    from bellcrank.run.watching import Watch

Array = NDArray[np.float64]

NEAR_CHANGE_POINT = 1e-3
"""Independence of the loops below which a run that gets no further is said to be at a change point."""


WATCHING: Table[tuple[Event, ...], dict[Partition, Kernel]] = Table("event functions of the last run")


class RunBar(ProgressBar):
    """A line with simulated time, speed against real time and step size."""

    def __init__(self, end: float, begin: float, wanted: bool | None) -> None:
        super().__init__(end - begin, "simulating", wanted)
        self.begin = begin

    def follow(self, progress: Progress) -> None:
        """Bring the line up to date."""
        made = progress.t - self.begin
        speed, average = made / max(progress.seconds, 1e-9), made / max(progress.steps, 1)
        self.show(made, f"t = {progress.t:.4g} s, {speed:.3g} x real time, step {average:.2g} s")


class Run:
    """One run in progress."""

    def __init__(
        self,
        mechanism: Mechanism,
        integrator: str,
        events: Sequence[Event],
        controllers: Sequence[Controller],
    ) -> None:
        if integrator not in METHODS:
            raise unknown_name("integrator", integrator, METHODS)
        self.mechanism = mechanism
        self.integrator = integrator
        self.events = tuple(events)
        self.controllers = tuple(controllers)
        self.machines = Machines(mechanism)
        self.machine = self.machines.for_partition(mechanism.partition)
        self.used = [self.machine]
        self.chosen: tuple[State, Array] | None = None
        self.history: list[tuple[float, Array]] = []
        self.outputs: Array = np.zeros(0)
        self.met: list[Happening] = []
        self.rows_before: tuple[Array, ...] | None = None
        self.seconds_before = 0.0
        self.watch: Watch | None = None
        self.jumps = Jumps()
        self.independence = mechanism.start_independence
        self.present = np.array(mechanism.parameter_values)

    @property
    def over(self) -> bool:
        """Whether an event that ends this part ends the whole run."""
        return True

    def problem(self, q: Array, u: Array, t: float, p: Array) -> Problem:
        """The initial value problem in the present partition."""
        machine, m = self.machine, self.mechanism
        keep: list[object] = [machine.rates]
        project = tangent = watched = 0
        if m.kept or m.linkage.has_quaternions:
            project = machine.projection.address
            keep.append(machine.projection)
        if implicit(self.integrator):
            tangent = machine.tangent.address
        keep.append(machine)
        if self.events:
            kernel = self._event_kernel()
            watched = kernel.address
            keep.append(kernel)
        names = (
            *m.linkage.position_names,
            *(f"rate of {m.speed_names[i]}" for i in machine.partition.independent),
        )
        scales, sizes = tolerance_scales(m, machine.partition)
        return Problem(
            rhs=machine.rates.address,
            y0=machine.pack(q, u),
            t0=t,
            p=p,
            project=project,
            tangent=tangent,
            make_tangent=lambda: machine.tangent.address,
            events=watched,
            directions=tuple(e.direction for e in self.events),
            terminal=tuple(e.stops for e in self.events),
            names=names,
            event_names=tuple(e.name for e in self.events),
            scales=scales,
            sizes=sizes,
            independence=self.independence,
            keep=tuple(keep),
        )

    def _event_kernel(self) -> Kernel:
        # Of the events of the last run alone: those of others may never come again.
        known = self.mechanism.compiled.table(WATCHING)
        if self.events not in known:
            known.clear()
        kernels = known.setdefault(self.events, {})
        partition = self.machine.partition
        if partition not in kernels:
            kernels[partition] = compile_program(self._event_program())
        return kernels[partition]

    def _event_program(self) -> Program:
        from bellcrank.run.events import watch_program

        return watch_program(self.mechanism, self.machine.partition, self.events)

    def go(
        self,
        times: Array,
        options: Options,
        progress: bool | None,
        record: Writer | None = None,
        resumption: Resumption | None = None,
    ) -> Result:
        """Integrate to the last output time."""
        start = self.mechanism.start
        p = np.array(self.mechanism.parameter_values)
        self.outputs = times
        if resumption is None:
            self.history.append((start.t, p.copy()))
        else:
            self._take_over(resumption)
        problem = self.problem(start.q, start.u, start.t, p)
        bar = RunBar(float(times[-1]), start.t, progress)

        def on_chunk(progress: Progress) -> None:
            bar.follow(progress)
            if record is not None:
                record.write(self, times, progress)
            if self.watch is not None:
                self.watch.chunk(self, times, progress)

        clock = WorkTime()
        try:
            trajectory = integrate(
                problem,
                self.integrator,
                times,
                options,
                on_event=self._on_event if self.events else None,
                on_repartition=self._on_repartition,
                on_chunk=on_chunk,
                on_sampled=self._on_sampled,
                samples=[self._sample(c) for c in self.controllers],
                resume=None if resumption is None else resumption.checkpoint,
            )
            if trajectory.status is Status.EVENT and self.over:
                trajectory = trajectory.with_end()
            result = self._result(trajectory, clock.seconds)
        except SimulationError as stopped:
            error = self._explained(stopped)
            result = self._result(error.trajectory, clock.seconds)
            error.result = result  # type: ignore[attr-defined]
            if record is not None:
                record.finish(result, complete=False)
            raise error from stopped.__cause__
        finally:
            bar.close()
            if record is not None:
                record.close()
        if record is not None:
            record.finish(result, complete=trajectory.status in (Status.DONE, Status.EVENT))
        return result

    def _explained(self, error: SimulationError) -> SimulationError:
        """The error, or one that names the force that is not a number, or the change point where steps end."""
        stuck = (Status.STEP_UNDERFLOW, Status.NEWTON_FAILED, Status.CONSTRAINTS, Status.CHANGE_POINT)
        t, p = error.time, self.history[-1][1]
        if error.status is Status.NOT_FINITE:
            from bellcrank.run.not_finite import offender

            force = offender(self, t, error.trajectory.end_state, p)
            return error if force is None else SimulationError(error.status, t, -1, force, error.trajectory)
        if error.status not in stuck:
            return error
        state = self.full_state(self.machine, t, error.trajectory.end_state, p)
        distance, name = self.mechanism.independence(state, self.machine.partition, p.tolist())
        if error.status is not Status.CHANGE_POINT and not distance < NEAR_CHANGE_POINT:
            return error
        return SimulationError(Status.CHANGE_POINT, t, -1, name, error.trajectory)

    def _take_over(self, resumption: Resumption) -> None:
        """Be where the run was that is gone on with."""
        if resumption.chosen is not None:
            state, p = resumption.chosen
            self.machine = self.machines.for_partition(self.mechanism.choose_partition(state, p.tolist()))
            self.chosen = resumption.chosen
        # Outputs of earlier partitions are known; only the last machine has outputs to come.
        self.used = [self.machine] * (1 + len(resumption.checkpoint.repartitions))
        self.history, self.met = list(resumption.history), list(resumption.happened)
        self.rows_before, self.seconds_before = resumption.rows, resumption.seconds
        self.present = np.array(self.history[-1][1])
        if resumption.jumps is not None:
            self.jumps.go_on_from(resumption.jumps)

    def full_state(self, machine: Machine, t: float, y: Array, p: Array) -> State:
        """All positions and speeds from the integrator's state."""
        n = self.mechanism.linkage.positions
        values = machine.full(np.concatenate([[t], y, p]))
        return State(t, y[:n].copy(), values[: self.mechanism.linkage.speeds])

    def _on_repartition(self, t: float, y: Array, p: Array) -> tuple[Problem, Array] | None:
        state = self.full_state(self.machine, t, y, p)
        partition = self.mechanism.choose_partition(state, p.tolist())
        self.independence, _ = self.mechanism.check_rank(state, partition, p.tolist())
        # The same speeds with other pivots count as well: a pivot may vanish for its place in the order alone.
        if partition == self.machine.partition:
            return None
        self.machine = self.machines.for_partition(partition)
        self.used.append(self.machine)
        self.chosen = state, p.copy()
        return self.problem(state.q, state.u, t, p), self.machine.pack(state.q, state.u)

    def _on_event(self, t: float, y: Array, hits: tuple[int, ...], p: Array) -> Change | None:
        changed = self._met(t, y, hits, p)
        if changed is None:
            return None
        state, new_p, stop = changed
        new_y = None if state is None else self.machine.pack(state.q, state.u)
        if new_y is not None or new_p is not None:
            after = y if new_y is None else new_y, p if new_p is None else new_p
            # Points of contact that are looked for anew are the same points.
            if any(self.events[i].revise is None or self.events[i].recorded for i in hits):
                self.jumps.add(self, t, (y, p), after)
            self.present = np.array(after[1])
        return Change(new_y, new_p, stop)

    def _met(
        self, t: float, y: Array, hits: tuple[int, ...], p: Array, late: Array | float = 0.0
    ) -> tuple[State | None, Array | None, bool] | None:
        """What events that were met change: state, parameters, whether to stop.

        late: How far event functions went past zero before they were met.
        """
        from bellcrank.run.events import react

        self.met += [Happening(t, self.events[i].name) for i in hits if self.events[i].recorded]
        state = self.full_state(self.machine, t, y, p)

        def watched(at: State | None = None, numbers: Array | None = None) -> dict[str, float]:
            now = y if at is None else self.machine.pack(at.q, at.u)
            x = np.concatenate([[t], now, p if numbers is None else numbers])
            values = self._event_kernel()(x) + late
            return dict(zip([e.name for e in self.events], values.tolist(), strict=True))

        changed = react(self.mechanism, [self.events[i] for i in hits], state, p, watched)
        if changed is not None and changed[1] is not None:
            self._remember(t, changed[1].copy())
        return changed

    def _remember(self, t: float, p: Array) -> None:
        """Parameters that hold from here on; forgets those no output falls on, but for the last two."""
        if len(self.history) > 2:
            (since, _), (until, _) = self.history[-2:]
            first, last = np.searchsorted(self.outputs, (since, until), side="right")
            if first == last:
                del self.history[-2]
        self.history.append((t, p))

    def _on_sampled(self, t: float, y: Array, p: Array) -> bool:
        """Whether the run ends where controllers have changed parameters."""
        self.jumps.add(self, t, (y, self.present), (y, p))
        self.present = p.copy()
        return False

    def _sample(self, controller: Controller) -> Sample:
        from bellcrank.run.events import measuring

        measure = measuring(self.mechanism, controller.measures)
        places = {name: i for i, name in enumerate(self.mechanism.mechanics.parameters)}

        def function(t: float, y: Array, p: Array) -> Mapping[int, float]:
            measured = measure(self.full_state(self.machine, t, y, p), p)
            with function_of(f"controller {controller.name!r}"):
                answer = controller.function(t, measured) or {}
            unknown = [name for name in answer if name not in places]
            if unknown:
                raise unknown_name(f"input of controller {controller.name!r}", unknown[0], places)
            values = {places[name]: float(value) for name, value in answer.items()}
            after = p.copy()
            for i, value in values.items():
                after[i] = value
            self._remember(t, after)
            return values

        return Sample(controller.period, function, controller.offset)

    def rows(self, times: Array, y: Array, partition: NDArray[np.int64]) -> tuple[Array, Array, Array, Array]:
        """Positions, speeds, their rates and parameters at outputs."""
        n, speeds, k = self.mechanism.linkage.positions, self.mechanism.linkage.speeds, len(times)
        parameters = self._parameters_at(times)
        q, u, du = y[:, :n].copy(), np.zeros((k, speeds)), np.zeros((k, speeds))
        for number, machine in enumerate(self.used):
            here = partition == number
            if here.any():
                x = np.hstack([times[here, None], y[here], parameters[here]])
                values = machine.full.many(np.ascontiguousarray(x))
                u[here], du[here] = values[:, :speeds], values[:, speeds : 2 * speeds]
        return q, u, du, parameters

    def _result(self, trajectory: Trajectory, seconds: float) -> Result:
        first = 0 if self.rows_before is None else len(self.rows_before[0])
        rows = self.rows(trajectory.t[first:], trajectory.y[first:], trajectory.partition[first:])
        if self.rows_before is not None:
            before = self.rows_before
            rows = tuple(np.vstack(pair) for pair in zip(before, rows, strict=True))  # type: ignore[assignment]
        formulation = str(self.machine.traced.formulation)
        report = RunReport.of(trajectory, self.integrator, formulation, self.seconds_before + seconds)
        breaks = self.jumps.rows(self)
        return Result(self.mechanism, trajectory.t, *rows, report, tuple(self.met), breaks=breaks)

    def _parameters_at(self, times: Array) -> Array:
        """Parameter values at the outputs; changes hold from their time on."""
        values: Array = np.array([p for _, p in self.history])
        if len(values) == 1:
            return np.broadcast_to(values[0], (len(times), values.shape[1])).copy()
        # The last of several changes at one time holds.
        last = np.searchsorted([t for t, _ in self.history[1:]], times, side="left")
        return values[last]
