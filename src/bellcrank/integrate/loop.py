"""The driver: resumes a run through events, samples, repartitions and chunks until it is done."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import ModelError, SingularMechanism
from bellcrank.integrate import layout as at
from bellcrank.integrate.auto import successor
from bellcrank.integrate.checkpoint import Checkpoint
from bellcrank.integrate.failures import CallError, SimulationError
from bellcrank.integrate.problem import Options, Problem, Sample
from bellcrank.integrate.run import Run
from bellcrank.integrate.status import Status
from bellcrank.integrate.trajectory import EventRecord, Trajectory

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Change:
    """What an event does to the run.

    Attributes:
        y: State after the event, or None where it stays.
        p: Parameters after the event, or None where they stay.
        stop: Whether the run ends here.
    """

    y: Floats | None = None
    p: Floats | None = None
    stop: bool = False


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        t: Time reached [s].
        end: End time [s].
        steps: Steps made.
        outputs: Outputs written; `y[:outputs]` are final.
        y: The output states, a view.
        seconds: Wall time so far [s].
        partition: How many repartitions had happened at each output, a view.
        checkpoint: Copies the run out, to go on from here another time.
    """

    t: float
    end: float
    steps: int
    outputs: int
    y: Floats
    seconds: float
    partition: NDArray[np.int64]
    checkpoint: Callable[[], Checkpoint]


OnEvent = Callable[[float, Floats, tuple[int, ...], Floats], Change | None]
OnRepartition = Callable[[float, Floats, Floats], tuple[Problem, Floats] | None]
OnChunk = Callable[[Progress], None]
OnSampled = Callable[[float, Floats, Floats], bool]

SIMULTANEOUS = 1000
"""Events at one and the same time after which the run is taken to be stuck."""


def integrate(
    problem: Problem,
    method: str,
    output_times: ArrayLike,
    options: Options | None = None,
    on_event: OnEvent | None = None,
    on_repartition: OnRepartition | None = None,
    on_chunk: OnChunk | None = None,
    samples: Sequence[Sample] = (),
    resume: Checkpoint | None = None,
    on_sampled: OnSampled | None = None,
) -> Trajectory:
    """Integrate to the last output time.

    Args:
        problem: The initial value problem.
        method: One of `METHODS`.
        output_times: Ascending times of the outputs [s]; the last one ends the run.
        options: Tolerances and limits.
        on_event: (t, y, indices, p) -> Change or None, called at each located event. None goes on within the
            step already computed, so watching events does not change the trajectory.
        on_repartition: (t, y, p) -> (problem, y) with another partition, or None where there is no better
        one. on_chunk: Called about every `options.chunk_seconds`.
        samples: Sampled controllers.
        on_sampled: (t, y, p) -> whether to end the run, called where samples have changed parameters.
        resume: Go on from here; `problem` is that of the partition at work then. Outputs before it stay zero.

    Returns:
        The trajectory. Interrupting with Ctrl-C returns what there is, with status INTERRUPTED.

    Raises:
        SimulationError: The run could not go on; it carries the trajectory up to there.
    """
    options = options or Options()
    times = np.array(output_times, dtype=np.float64, ndmin=1)
    ends = times.ndim == 1 and len(times) > 0 and math.isfinite(times[0]) and math.isfinite(times[-1])
    if not ends or (len(times) > 1 and not (times[1:] >= times[:-1]).all()):
        raise ModelError("output times must be finite numbers in ascending order, at least one")
    if times[0] < problem.t0:
        raise ModelError(f"the first output time {times[0]} lies before the start time {problem.t0}")
    run = Run(problem, method, times, float(times[-1]), options)
    driver = Driver(run, on_event, on_repartition, on_chunk, samples, on_sampled)
    if resume is not None:
        driver.take_over(resume)
    return driver.drive()


class Driver:
    """Takes a run through all that interrupts it, up to `run.end`, which may then be set further."""

    def __init__(
        self,
        run: Run,
        on_event: OnEvent | None,
        on_repartition: OnRepartition | None,
        on_chunk: OnChunk | None = None,
        samples: Sequence[Sample] = (),
        on_sampled: OnSampled | None = None,
    ):
        self.run = run
        self.on_event = on_event
        self.on_repartition = on_repartition
        self.on_chunk = on_chunk
        self.samples = samples
        self.on_sampled = on_sampled
        self.begin = run.problem.t0
        self.calls = [0] * len(samples)
        self.called_at = run.t
        self.events: list[EventRecord] = []
        self.simultaneous = 0
        self.repartitions: list[float] = []
        self.partition = np.zeros(len(run.out_t), np.int64)
        self.switches = [(run.t, run.integrator.name)]
        self.started = self.reported = time.perf_counter()
        self.chunk = 64
        self.rescued = -math.inf
        # Whether a fixed step was looked at: once, with the parameters that controllers give at the start.
        self.looked = False

    def take_over(self, checkpoint: Checkpoint) -> None:
        """Go on where a run like this one was."""
        if checkpoint.method != self.run.integrator.name:
            self.run.change_method(checkpoint.method)
        self.run.restore(checkpoint.arrays)
        self.calls = list(checkpoint.calls)
        self.repartitions = list(checkpoint.repartitions)
        self.switches = list(checkpoint.switches)

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(
            self.run.snapshot(outputs=False),
            self.run.integrator.name,
            tuple(self.calls),
            tuple(self.repartitions),
            tuple(self.switches),
        )

    def drive(self) -> Trajectory:
        """Run to the end."""
        try:
            status = self._loop()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        except SimulationError:
            raise
        except Exception as problem:
            raise CallError(self.called_at, problem, self._trajectory(Status.CALLED)) from problem
        trajectory = self._trajectory(status)
        if status.failed:
            raise SimulationError(status, self.run.t, *self._cause(status), trajectory)
        return trajectory

    def _cause(self, status: Status) -> tuple[int, str | None]:
        """The state entry that gave the trouble, or -1, and the name of the entry or of the event that did."""
        if status is Status.EVENT_NOT_FINITE:
            return -1, self._event_name(self._lost_event())
        if status is Status.PASSED_OVER:
            return -1, self._event_name(int(self.run.ints[at.INDEX]))
        index, names = self._offender(status), self.run.problem.names
        return index, names[index] if names and index >= 0 else None

    def _event_name(self, index: int) -> str:
        names = self.run.problem.event_names
        return names[index] if names else f"event {index}"

    def _lost_event(self) -> int:
        """The event function that is not a number."""
        run = self.run
        rows = (
            run.g[at.VALUE : at.VALUE + 1]
            if run.ints[at.FRESH]
            else run.g[at.SAMPLES : at.SAMPLES + at.PIECES + 1]
        )
        return int(np.flatnonzero(np.isnan(rows).any(axis=0))[0])

    def _offender(self, status: Status) -> int:
        """The state entry that gave the trouble, or -1."""
        run = self.run
        if run.ints[at.FRESH] or status is Status.UNSTABLE:
            return int(run.ints[at.INDEX])
        if status is Status.NOT_FINITE:
            for row in (at.F_NEW, at.WORK):
                wrong = np.flatnonzero(~np.isfinite(run.v[row]))
                if len(wrong):
                    return int(wrong[0])
            return -1
        if status in (Status.STEP_UNDERFLOW, Status.TOO_MANY_STEPS):
            moved = np.abs(run.y - run.v[at.FROM_HERE] * run.y)
            error = np.abs(run.v[at.WORK]) / (run.v[at.ATOL] + run.reals[at.RTOL] * moved)
            return int(np.argmax(error)) if np.any(error > 0.0) else -1
        return -1

    def _loop(self) -> Status:
        run = self.run
        while True:
            self._report()
            if self._sample():
                return Status.EVENT
            if not self.looked:
                self.looked = True
                if run.unstable():
                    if not run.ints[at.WATCH_STIFFNESS]:
                        return Status.UNSTABLE
                    self._change_method("radau")
            passed = run.ints[at.OUT_NEXT]
            begun = time.perf_counter()
            status = run.advance(self.chunk)
            if self.repartitions:
                self.partition[passed : run.ints[at.OUT_NEXT]] = len(self.repartitions)
            if status is Status.RUNNING:
                self._resize_chunk(time.perf_counter() - begun)
            elif status is Status.DONE:
                if run.t >= run.end:
                    return status
            elif status is Status.EVENT:
                if self._event():
                    return Status.EVENT
            elif status is Status.REPARTITION:
                self._repartition()
            elif self._rescued(status):
                continue
            elif (method := successor(status, run.options)) is not None:
                self._change_method(method)
            elif status.failed:
                return status

    def _change_method(self, name: str) -> None:
        self.run.change_method(name)
        self.switches.append((self.run.t, self.run.integrator.name))

    def _resize_chunk(self, seconds: float) -> None:
        """As many steps as take `chunk_seconds`, after a chunk that took so many seconds."""
        wanted = self.chunk * self.run.options.chunk_seconds / max(seconds, 1e-9)
        self.chunk = int(min(max(wanted, 1.0), 8.0 * self.chunk, 1e9))

    def _report(self) -> None:
        """Report the progress of the run, after all events of the last step."""
        if self.on_chunk is None:
            return
        now = time.perf_counter()
        if now - self.reported < 0.5 * self.run.options.chunk_seconds:
            return
        self.reported = now
        run = self.run
        outputs, steps = int(run.ints[at.OUT_NEXT]), int(run.ints[at.STEPS])
        passed = now - self.started
        self.on_chunk(
            Progress(run.t, run.end, steps, outputs, run.out_y, passed, self.partition, self._checkpoint)
        )

    def _sample(self) -> bool:
        """Call the controllers due now, and stop the integrator at the next one; whether the run ends here."""
        run = self.run
        stop = run.end
        changed = False
        self.called_at = run.t
        if not self.samples:
            run.reals[at.T_STOP] = stop
            return False
        due = not run.ints[at.SCANNING] and run.t < run.end
        for k, sample in enumerate(self.samples):
            if due and run.t >= self._instant(k):
                self.calls[k] += 1
                for index, value in (sample.function(run.t, run.y.copy(), run.p.copy()) or {}).items():
                    changed = changed or run.p[index] != value
                    run.p[index] = value
            stop = min(stop, self._instant(k))
        run.reals[at.T_STOP] = stop
        if not changed:
            return False
        run.restart(run.t, run.y.copy())
        return self.on_sampled is not None and self.on_sampled(run.t, run.y.copy(), run.p.copy())

    def _instant(self, k: int) -> float:
        # Counted, not summed up, so that the instants do not drift.
        sample = self.samples[k]
        return self.begin + sample.offset + self.calls[k] * sample.period

    def _event(self) -> bool:
        """Record an event and what it changes; whether the run ends here."""
        run = self.run
        t = float(run.reals[at.T_EVENT])
        y = run.v[at.Y_EVENT].copy()
        hits = run.hits
        self.called_at = t
        change = self.on_event(t, y.copy(), hits, run.p.copy()) if self.on_event else None
        y_after = y if change is None or change.y is None else np.array(change.y, dtype=np.float64)
        self.simultaneous = self.simultaneous + 1 if self.events and self.events[-1].t == t else 0
        self.events.append(EventRecord(t, y, hits, y_after))
        terminal = any(run.problem.terminal[i] for i in hits) if run.problem.terminal else False
        stop = terminal or (change is not None and change.stop)
        if change is not None and change.p is not None:
            run.p[:] = change.p
        if stop or (change is not None and (change.y is not None or change.p is not None)):
            run.restart(t, y_after, hits=True)
        else:
            run.g[at.HIT] = 0.0
        if self.simultaneous >= SIMULTANEOUS:
            raise self._stuck(t, hits)
        return stop

    def _rescued(self, status: Status) -> bool:
        """Whether something can be done about a failure."""
        if status is Status.CONSTRAINTS:
            return self._again()
        return status is Status.CHANGE_POINT and self._other_pivots()

    def _again(self) -> bool:
        """Make a step again, by half, whose end is on the constraints but not all between; whether that is possible."""
        run = self.run
        step = 0.5 * float(run.reals[at.H_STEP])
        if not run.ints[at.SCANNING] or run.ints[at.FIXED] or not step > 1e-15 * abs(run.t):
            return False
        last = self.events[-1] if self.events else None
        if last is not None and (run.reals[at.THETA] > 0.0 or last.t == run.t):
            # Events of this step, or at its start, were dealt with: go on from the last one.
            run.g[at.HIT] = 0.0
            run.g[at.HIT, list(last.indices)] = 1.0
            run.restart(last.t, last.y_after, hits=True)
        else:
            run.restart(run.t, run.y.copy())
        run.ints[at.REJECTED] += 1
        run.reals[at.H] = step
        return True

    def _other_pivots(self) -> bool:
        """Go on with another partition where only this one loses rank; once at any one time."""
        run = self.run
        if self.on_repartition is None or run.t <= self.rescued:
            return False
        self.rescued = run.t
        if not self._repartition():
            return False
        # The steps before have shrunk to nothing.
        run.reals[at.H] = run.options.fixed_step
        run.ints[[at.LEAPING, at.NEARBY]] = 0
        return True

    def _stuck(self, t: float, hits: tuple[int, ...]) -> SimulationError:
        trajectory = self._trajectory(Status.STEP_UNDERFLOW)
        return SimulationError(Status.STEP_UNDERFLOW, t, -1, self._event_name(hits[0]), trajectory)

    def _repartition(self) -> bool:
        """Ask for another partition; whether there is one."""
        run = self.run
        try:
            answer = self.on_repartition(run.t, run.y.copy(), run.p.copy()) if self.on_repartition else None
        except SingularMechanism as cause:
            trajectory = self._trajectory(Status.CHANGE_POINT)
            error = SimulationError(Status.CHANGE_POINT, run.t, -1, None, trajectory)
            raise error from cause
        if answer is None:
            # No better partition: ask again only when it has become much worse.
            run.reals[at.THRESHOLD] = 0.1 * run.reals[at.STEP_MARGIN]
            return False
        problem, y = answer
        self.repartitions.append(run.t)
        run.reals[at.THRESHOLD] = run.options.repartition_threshold
        run.change_problem(problem, y)
        return True

    def _trajectory(self, status: Status) -> Trajectory:
        run = self.run
        count = run.ints.item
        # Outputs once written are final: they need no copy.
        k = count(at.OUT_NEXT)
        return Trajectory(
            t=run.out_t[:k],
            y=run.out_y[:k],
            partition=self.partition[:k],
            status=status,
            steps=count(at.STEPS),
            rejected=count(at.REJECTED),
            evaluations=count(at.EVALUATIONS),
            jacobians=count(at.JACOBIANS),
            factorisations=count(at.FACTORISATIONS),
            events=tuple(self.events),
            repartitions=tuple(self.repartitions),
            switches=tuple(self.switches),
            end_time=run.t,
            end_state=run.y.copy(),
            next_step=float(run.reals[at.H]),
        )
