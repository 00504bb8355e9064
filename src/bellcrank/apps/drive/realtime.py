"""A mechanism stepped in real time: fixed steps of Runge-Kutta 4, parameters changed from outside between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError
from bellcrank.integrate import Options
from bellcrank.integrate.run import Run as Steps
from bellcrank.integrate.status import Status
from bellcrank.mechanism import Mechanism, State
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.result.result import Result, RunReport
from bellcrank.run.run import Run

Array = NDArray[np.float64]

METHOD, EVALUATIONS = "runge_kutta4", 4
"""Of steps, and how often one evaluates the rates."""
FAR = 1e9
"""An end that no drive reaches [s]."""
GIVEN_UP = 0.25
"""Farther than this behind the clock [s], the time in between is dropped instead of being made up for."""


class StepFailed(BellcrankError):
    """A step could not be made."""


class Stepper:
    """Fixed steps of one mechanism; ``measure()`` gives `quantities` in the present state."""

    def __init__(
        self, mechanism: Mechanism, start: State, step: float, quantities: Sequence[str] = ()
    ) -> None:
        self.mechanism, self.start, self.step = mechanism, start, step
        self._run = Run(mechanism, METHOD, (), ())
        self._places = {name: i for i, name in enumerate(mechanism.mechanics.parameters)}
        self.measure = self.measuring(quantities)
        self.reset()

    def reset(self) -> None:
        """Back to the start, with the mechanism's own parameter values."""
        p = np.array(self.mechanism.parameter_values)
        problem = self._run.problem(self.start.q, self.start.u, self.start.t, p)
        # Another partition would have to be compiled while the clock runs; a state in which one is due is left
        # to the check of every step for numbers that are none.
        options = Options(fixed_step=self.step, repartition_threshold=0.0)
        self._steps = Steps(problem, METHOD, np.zeros(0), FAR, options)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._steps.t

    def set(self, values: Mapping[str, float]) -> None:
        """Change parameters from here on."""
        for name, value in values.items():
            self._steps.p[self._places[name]] = value
        self._steps.restart(self._steps.t, self._steps.y)

    def advance(self) -> None:
        """One step."""
        status = self._steps.advance(1)
        if status.failed:
            raise StepFailed(
                f"the step at t = {self.time:.3f} s failed: {status.name.lower().replace('_', ' ')}"
            )
        if status not in (Status.RUNNING, Status.DONE):
            raise StepFailed(f"the step at t = {self.time:.3f} s ended as {status.name.lower()}")

    def state(self) -> State:
        """All positions and speeds."""
        return self._run.full_state(self._run.machine, self.time, self._steps.y, self._steps.p)

    def sample(self) -> Array:
        """Time, state and parameters, for :meth:`result`."""
        return np.concatenate([[self.time], self._steps.y, self._steps.p])

    def result(self, samples: Sequence[Array], seconds: float) -> Result:
        """The result of a drive. samples: Taken on the way. seconds: Wall time of its steps [s]."""
        rows = np.array(samples)
        n, speeds = self.mechanism.linkage.positions, self.mechanism.linkage.speeds
        machine = self._run.machine
        values = machine.full.many(rows)
        steps = round((rows[-1, 0] - rows[0, 0]) / self.step)
        report = RunReport(
            "done", METHOD, str(machine.traced.formulation), steps, 0, EVALUATIONS * steps, seconds
        )
        return Result(
            self.mechanism,
            rows[:, 0].copy(),
            rows[:, 1 : 1 + n].copy(),
            values[:, :speeds].copy(),
            values[:, speeds : 2 * speeds].copy(),
            rows[:, rows.shape[1] - len(self._places) :].copy(),
            report,
        )

    def measuring(self, quantities: Sequence[str]) -> Callable[[], dict[str, Array]]:
        """A function that gives quantities in the present state, by compiled code."""
        kernel, places = _measuring(self.mechanism, quantities)

        def measure() -> dict[str, Array]:
            state = self.state()
            values = kernel(np.concatenate([[state.t], state.q, state.u, self._steps.p]))
            return {name: values[place] for name, place in places.items()}

        return measure


def _measuring(mechanism: Mechanism, names: Sequence[str]) -> tuple[Kernel, dict[str, slice]]:
    s = Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)
    quantities = Quantities(s)
    outputs: list[Scalar] = []
    places: dict[str, slice] = {}
    for name in names:
        quantity, components = quantities.find(name)
        traced = list(quantity.trace())
        picked = traced if components is None else [traced[i] for i in components]
        places[name] = slice(len(outputs), len(outputs) + len(picked))
        outputs += picked
    program = Program.of([s.t, *s.q, *s.u, *s.parameters], outputs, "measured")
    return compile_program(program), places


class Pace:
    """Holds a loop of fixed steps to the clock; where `real` is False, the loop runs as fast as it can."""

    def __init__(
        self, step: float, real: bool = True, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.step, self.real, self.clock = step, real, clock
        self.begin = clock()
        self.made = 0

    def wait(self) -> tuple[float, float]:
        """Wait for the next step; how far behind the clock it begins, and time dropped [s]."""
        due = self.begin + self.made * self.step
        self.made += 1
        if not self.real:
            return 0.0, 0.0
        ahead = due - self.clock()
        if ahead > 0.0:
            time.sleep(ahead)
            return 0.0, 0.0
        if -ahead > GIVEN_UP:
            self.begin -= ahead
            return GIVEN_UP, -ahead
        return -ahead, 0.0
