"""Simulate a described system: analyse, compile, integrate, hand over to another partition when due."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.formulations.loops import Partition
from bellcrank.formulations.registry import Formulation
from bellcrank.mechanics.links import LinkKind
from bellcrank.mechanism import Mechanism, State, Traced, analyse
from bellcrank.model.forces import ContactForce
from bellcrank.program.derive import jvp_program
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.result.result import Happening, Result, RunReport
from bellcrank.simulate import (
    METHODS,
    Options,
    Problem,
    Sample,
    SimulationError,
    Status,
    Trajectory,
    integrate,
)
from bellcrank.simulate.loop import Change, Progress

if TYPE_CHECKING:
    from bellcrank.events import Controller, Event
    from bellcrank.model.system import System
    from bellcrank.recording import Resumption, Writer
    from bellcrank.watching import Watch

Array = NDArray[np.float64]

NEAR_CHANGE_POINT = 1e-3
"""Independence of the loops below which a run that gets no further is said to be at a change point."""


@dataclass(eq=False)
class Machine:
    """The compiled programs of a mechanism for one partition."""

    mechanism: Mechanism
    traced: Traced

    @property
    def partition(self) -> Partition:
        """Which speeds are independent."""
        return self.traced.partition

    @cached_property
    def rates(self) -> Kernel:
        """What the integrator calls."""
        return compile_program(self.traced.rates)

    @cached_property
    def projection(self) -> Kernel:
        """One Newton step back onto the constraints."""
        return compile_program(self.mechanism.projection(self.partition))

    @cached_property
    def full(self) -> Kernel:
        """All speeds, all rates, residuals."""
        return compile_program(self.traced.full)

    @cached_property
    def tangent(self) -> Kernel:
        """Rates and their directional derivative, for implicit methods."""
        return compile_program(jvp_program(self.traced.rates))

    def pack(self, q: Array, u: Array) -> Array:
        """The integrator's state: positions and independent speeds."""
        return np.concatenate([q, u[list(self.partition.independent)]])


class Machines:
    """The machines of one mechanism by partition; compiled when first needed, kept for the next time."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self._known: dict[Partition, Machine] = mechanism.compiled
        self._formulation: Formulation | None = None

    def for_partition(self, partition: Partition) -> Machine:
        """The machine of a partition."""
        if partition not in self._known:
            traced = self.mechanism.traced(self._formulation, partition)
            self._formulation = traced.formulation
            self._known[partition] = Machine(self.mechanism, traced)
        return self._known[partition]


def simulate(
    system: System | Mechanism,
    duration: float,
    *,
    formulation: Formulation | str = Formulation.AUTO,
    integrator: str = "auto",
    tolerance: float = 1e-8,
    output: int | float | ArrayLike = 1000,
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    events: Sequence[Event] = (),
    controllers: Sequence[Controller] = (),
    step: float = 0.0,
    max_step: float = np.inf,
    start: State | None = None,
    progress: bool | None = None,
    impacts: str = "dense",
    queue_size: int = 4,
    propagation: str = "sequential",
    save: str | PathLike[str] | None = None,
    watch: Callable[[Result], None] | None = None,
) -> Result:
    """Run a mechanism for `duration` seconds.

    formulation: how accelerations are computed; auto takes the fewest operations. integrator: one of
    :data:`bellcrank.simulate.METHODS`. tolerance: relative local error. output: number of equal intervals (an
    integer), the interval [s] (a number with a point), or the times themselves. initial: start values by joint.
    parameters: values other than the described ones. step: fixed step [s] for the methods that take one. start:
    state to start from instead of the described one. progress: show a bar (default: on a terminal, after a
    second). impacts: how impact times are found: "dense" on the dense output of a step, "queue" by the last
    `queue_size` checks every `max_step`. propagation: how impacts pass through bodies in touch, "sequential" or
    "simultaneous".
    save: write the outputs into this file as they come; after an interrupt or a crash
    :func:`bellcrank.resume` goes on from there. watch: called with the result so far a few times a second while
    the run goes on (with contacts: when contacts have changed); :meth:`bellcrank.viewer.Viewer.follow` is such a
    function.

    Ctrl-C returns what was computed so far; a failing run raises :class:`SimulationError` with it.
    """
    mechanism = prepared(system, formulation, initial, parameters)
    if start is not None:
        mechanism = replace(mechanism, start=start).with_programs_of(mechanism)
    if any(isinstance(f, ContactForce) for f in mechanism.system.forces.values()):
        from bellcrank.touch import begun, touch_events

        mechanism = begun(mechanism)
        events = (*events, *touch_events(mechanism))
    times = output_times(mechanism.start.t, duration, output)
    options = Options(
        rtol=tolerance, atol=0.01 * tolerance, fixed_step=step, max_step=max_step, repartition_threshold=0.05
    )
    if mechanism.system.contacts:
        from bellcrank.impacts.run import simulate_with_contacts
        from bellcrank.impacts.timing import Timing

        timing = Timing.of(impacts, queue_size, max_step, propagation)
        return simulate_with_contacts(
            mechanism, integrator, times, options, events, controllers, progress, timing, save, watch
        )
    run = Run(mechanism, integrator, events, controllers)
    if watch is not None:
        from bellcrank.watching import Watch

        run.watch = Watch(watch)
    record = None
    if save is not None:
        from bellcrank.recording import recorder

        record = recorder(run, times, options, save)
        record.begin()
    return run.go(times, options, progress, record)


def prepared(
    system: System | Mechanism,
    formulation: Formulation | str,
    initial: Mapping[str, Any] | None,
    parameters: Mapping[str, float] | None,
) -> Mechanism:
    """An analysed mechanism with the given start and parameters; one already analysed is used as it is."""
    if isinstance(system, Mechanism) and not initial and not parameters:
        wanted = Formulation(formulation)
        return system if wanted is Formulation.AUTO else replace(system, formulation=wanted)
    if isinstance(system, Mechanism):
        wanted = (
            system.formulation if Formulation(formulation) is Formulation.AUTO else Formulation(formulation)
        )
        fresh = analyse(system.system, formulation=wanted, initial=initial, parameters=parameters)
        return fresh.with_programs_of(system)
    return analyse(system, formulation=formulation, initial=initial, parameters=parameters)


def output_times(begin: float, duration: float, output: int | float | ArrayLike) -> Array:
    """The times of the outputs, the start included."""
    if not (np.isfinite(duration) and duration > 0.0):
        raise ModelError(f"the duration must be a positive number of seconds, not {duration!r}")
    if isinstance(output, int | np.integer):
        if output < 1:
            raise ModelError(f"output={output!r}: give at least one interval, or the output times")
        return np.linspace(begin, begin + duration, int(output) + 1)
    if isinstance(output, float | np.floating):
        if not 0.0 < output <= duration:
            raise ModelError(
                f"output={output!r}: the interval must be positive and no longer than {duration:g} s"
            )
        times: Array = begin + float(output) * np.arange(
            int(duration / output * (1.0 + 1e-12)) + 1, dtype=np.float64
        )
        end = begin + duration
        return np.append(times, end) if end - times[-1] > 1e-9 * duration else np.append(times[:-1], end)
    times = np.atleast_1d(np.asarray(output, dtype=float))
    if times.ndim != 1 or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise ModelError("output times must increase and be finite")
    if len(times) == 0 or times[0] < begin or times[-1] > begin + duration * (1.0 + 1e-12):
        raise ModelError(f"output times must lie between {begin:g} s and {begin + duration:g} s")
    return times


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
        self.met: list[Happening] = []
        self.rows_before: tuple[Array, ...] | None = None
        self.seconds_before = 0.0
        self.watch: Watch | None = None
        self._watching: dict[Partition, Kernel] = {}

    def problem(self, q: Array, u: Array, t: float, p: Array) -> Problem:
        """The initial value problem in the present partition."""
        machine, m = self.machine, self.mechanism
        keep: list[object] = [machine.rates]
        project = tangent = watched = 0
        if m.kept or any(link.kind in (LinkKind.BALL, LinkKind.FREE) for link in m.linkage.links):
            project = machine.projection.address
            keep.append(machine.projection)
        if self.integrator in ("radau", "generalised_alpha"):
            tangent = machine.tangent.address
        keep.append(machine)
        if self.events:
            kernel = self._event_kernel()
            watched = kernel.address
            keep.append(kernel)
        names = (
            *(
                f"position {i} of {link.name}"
                for link in m.linkage.links
                for i in range(len(link.own_positions))
            ),
            *(f"state {name}" for name in m.linkage.states),
            *(f"rate of {m.speed_names[i]}" for i in machine.partition.independent),
        )
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
            keep=tuple(keep),
        )

    def _event_kernel(self) -> Kernel:
        partition = self.machine.partition
        if partition not in self._watching:
            self._watching[partition] = compile_program(self._event_program())
        return self._watching[partition]

    def _event_program(self) -> Program:
        from bellcrank.events import watch_program

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
        if resumption is None:
            self.history.append((start.t, p.copy()))
        else:
            self._take_over(resumption)
        problem = self.problem(start.q, start.u, start.t, p)
        bar = _Bar(float(times[-1]), start.t, progress)

        def on_chunk(progress: Progress) -> None:
            bar.show(progress)
            if record is not None:
                record.write(self, times, progress)
            if self.watch is not None:
                self.watch.chunk(self, times, progress)

        began = time.perf_counter()
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
            result = self._result(trajectory, time.perf_counter() - began)
        except SimulationError as stopped:
            error = self._explained(stopped)
            result = self._result(error.trajectory, time.perf_counter() - began)
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
        """The error, or one that tells of the change point at which the steps came to nothing."""
        stuck = (Status.STEP_UNDERFLOW, Status.NEWTON_FAILED, Status.CONSTRAINTS, Status.CHANGE_POINT)
        if error.status not in stuck:
            return error
        t, p = error.time, self.history[-1][1]
        state = self.full_state(self.machine, t, error.trajectory.end_state, p)
        distance, name = self.mechanism.independence(state, self.machine.partition, p.tolist())
        if not distance < NEAR_CHANGE_POINT:
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

    def full_state(self, machine: Machine, t: float, y: Array, p: Array) -> State:
        """All positions and speeds from the integrator's state."""
        n = self.mechanism.linkage.positions
        values = machine.full(np.concatenate([[t], y, p]))
        return State(t, y[:n].copy(), values[: self.mechanism.linkage.speeds])

    def _on_repartition(self, t: float, y: Array, p: Array) -> tuple[Problem, Array] | None:
        state = self.full_state(self.machine, t, y, p)
        partition = self.mechanism.choose_partition(state, p.tolist())
        self.mechanism.check_rank(state, partition, p.tolist())
        if set(partition.independent) == set(self.machine.partition.independent):
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
        return Change(new_y, new_p, stop)

    def _met(
        self, t: float, y: Array, hits: tuple[int, ...], p: Array
    ) -> tuple[State | None, Array | None, bool] | None:
        """What events that were met change: state, parameters, whether to stop."""
        from bellcrank.events import react

        self.met += [Happening(t, self.events[i].name) for i in hits if self.events[i].recorded]
        state = self.full_state(self.machine, t, y, p)

        def watched() -> dict[str, float]:
            values = self._event_kernel()(np.concatenate([[t], y, p]))
            return dict(zip([e.name for e in self.events], values.tolist(), strict=True))

        changed = react(self.mechanism, [self.events[i] for i in hits], state, p, watched)
        if changed is not None and changed[1] is not None:
            self.history.append((t, changed[1].copy()))
        return changed

    def _on_sampled(self, t: float, y: Array, p: Array) -> bool:
        """Whether the run ends where controllers have changed parameters."""
        return False

    def _sample(self, controller: Controller) -> Sample:
        from bellcrank.events import measuring

        measure = measuring(self.mechanism, controller.measures)
        places = {name: i for i, name in enumerate(self.mechanism.mechanics.parameters)}

        def function(t: float, y: Array, p: Array) -> Mapping[int, float]:
            answer = controller.function(t, measure(self.full_state(self.machine, t, y, p), p)) or {}
            unknown = [name for name in answer if name not in places]
            if unknown:
                raise unknown_name(f"input of controller {controller.name!r}", unknown[0], places)
            values = {places[name]: float(value) for name, value in answer.items()}
            after = p.copy()
            for i, value in values.items():
                after[i] = value
            self.history.append((t, after))
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
        report = RunReport(
            trajectory.status.name.lower(),
            self.integrator,
            str(self.machine.traced.formulation),
            trajectory.steps,
            trajectory.rejected,
            trajectory.evaluations,
            self.seconds_before + seconds,
            trajectory.repartitions,
            trajectory.switches,
        )
        return Result(self.mechanism, trajectory.t, *rows, report, tuple(self.met))

    def _parameters_at(self, times: Array) -> Array:
        """Parameter values at the outputs; changes hold from their time on."""
        since = np.array([t for t, _ in self.history[1:]])
        # The last of several changes at one time holds.
        last = np.searchsorted(since, times, side="left")
        return np.array([self.history[k][1] for k in last]).reshape(len(times), -1)


class _Bar:
    """A line with simulated time, speed against real time and step size, once a run takes over a second."""

    def __init__(self, end: float, begin: float, wanted: bool | None) -> None:
        self.end, self.begin = end, begin
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._bar: Any = None
        self._task: Any = None

    def show(self, progress: Progress) -> None:
        """Bring the line up to date."""
        if not self.wanted or progress.seconds < 1.0:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            self._bar = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("simulating", total=self.end - self.begin)
            self._bar.start()
        speed = (progress.t - self.begin) / max(progress.seconds, 1e-9)
        average = (progress.t - self.begin) / max(progress.steps, 1)
        text = f"t = {progress.t:.4g} s, {speed:.3g} x real time, step {average:.2g} s"
        self._bar.update(self._task, completed=progress.t - self.begin, description=text)

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()


__all__ = ["Machine", "Machines", "output_times", "prepared", "simulate"]
