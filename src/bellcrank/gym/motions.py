"""A run that is advanced from action to action, with the bits of one whole run with a controller of that period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts import moreau
from bellcrank.impacts.run import later, simulate_with_contacts
from bellcrank.impacts.stepping import SteppedRun
from bellcrank.impacts.timing import Timing
from bellcrank.integrate import Options, SimulationError, Status
from bellcrank.integrate.loop import Driver
from bellcrank.integrate.run import Run as IntegratorRun
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.machines import Machines
from bellcrank.run.events import Controller, Event
from bellcrank.run.jumps import Jumps
from bellcrank.run.run import Run
from bellcrank.run.touch import begun, followed, touch_events

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Row:
    """A state as results hold it: positions, all speeds, their rates, parameters, contact forces [N]."""

    t: float
    q: Array
    u: Array
    du: Array
    p: Array
    contacts: Array | None = None


class Motion(Protocol):
    """A mechanism in motion."""

    def advance(self, end: float, inputs: Mapping[int, float]) -> bool:
        """Go on to a time [s] with these values of parameters, by number; whether an event has ended the motion."""

    def row(self) -> Row:
        """The present state."""

    def happened(self) -> list[str]:
        """The names of the events met so far, in their order."""


@dataclass(frozen=True, eq=False)
class Method:
    """How motions are computed."""

    integrator: str
    options: Options
    timing: Timing
    events: tuple[Event, ...]
    controllers: tuple[Controller, ...]

    def begin(self, mechanism: Mechanism) -> Motion:
        """A motion from the start of a mechanism."""
        events = self.events
        if followed(mechanism):
            mechanism = begun(mechanism)
            events = (*events, *touch_events(mechanism))
        if not mechanism.system.strikes:
            return SmoothMotion(mechanism, self.integrator, self.options, events, self.controllers)
        if self.timing.stepping:
            return SteppedMotion(mechanism, self.options.fixed_step, events, self.controllers)
        return StruckMotion(mechanism, replace(self, events=events))


class NoJumps(Jumps):
    """Keeps no jumps: they are for the energy ledger of a result."""

    def add(self, run: Run, t: float, before: tuple[Array, Array], after: tuple[Array, Array]) -> None:
        """Forget a jump."""


class SmoothMotion(Run):
    """Without impacts: the integrator waits where it is."""

    def __init__(
        self,
        mechanism: Mechanism,
        integrator: str,
        options: Options,
        events: Sequence[Event],
        controllers: Sequence[Controller],
    ) -> None:
        super().__init__(mechanism, integrator, events, controllers)
        self.jumps = NoJumps()
        start, p = mechanism.start, np.array(mechanism.parameter_values)
        self.history.append((start.t, p))
        problem = self.problem(start.q, start.u, start.t, p)
        self.inner = IntegratorRun(problem, integrator, np.zeros(0), start.t, options)
        self.driver = Driver(
            self.inner,
            self._on_event if events else None,
            self._on_repartition,
            samples=[self._sample(c) for c in controllers],
        )

    def advance(self, end: float, inputs: Mapping[int, float]) -> bool:
        """Go on to a time [s]; whether an event has ended the motion."""
        inner = self.inner
        changed = False
        for k, value in inputs.items():
            changed = changed or inner.p[k] != value
            inner.p[k] = value
        if changed:
            inner.restart(inner.t, inner.y.copy())
        inner.end = end
        try:
            return self.driver.drive().status is Status.EVENT
        except SimulationError as stopped:
            raise self._explained(stopped) from stopped.__cause__

    def row(self) -> Row:
        """The present state."""
        inner, linkage = self.inner, self.mechanism.linkage
        y, p = inner.y, inner.p.copy()
        full = self.machine.full(np.concatenate([[inner.t], y, p]))
        n = linkage.speeds
        return Row(inner.t, y[: linkage.positions].copy(), full[:n], full[n : 2 * n], p)

    def happened(self) -> list[str]:
        """The names of the events met so far."""
        return [happening.name for happening in self.met]


class SteppedMotion(SteppedRun):
    """By steps, whose contacts keep their impulses as a first guess from action to action."""

    def __init__(
        self, mechanism: Mechanism, length: float, events: Sequence[Event], controllers: Sequence[Controller]
    ) -> None:
        super().__init__(mechanism, length, events, controllers)
        self.history.append((mechanism.start.t, np.array(mechanism.parameter_values)))
        self._check_start()

    def _drain(self) -> None:
        """Impacts are not recorded."""
        self.scene.log.counters[[moreau.IMPACTS, moreau.STRUCK]] = 0

    def advance(self, end: float, inputs: Mapping[int, float]) -> bool:
        """Go on to a time [s]; whether an event has ended the motion."""
        x = self.scene.x
        first = len(x) - len(self.mechanism.parameter_values)
        for k, value in inputs.items():
            x[first + k] = value
        self._go_to(end)
        return self.stopped

    def row(self) -> Row:
        """The present state, without overlaps."""
        q, u, du, forces = self._row([])
        return Row(float(self.scene.x[0]), q, u, du, self._parameters(), forces)

    def happened(self) -> list[str]:
        """The names of the events met so far."""
        return [happening.name for happening in self.met]


class StruckMotion:
    """With impacts as events: one run from action to action."""

    def __init__(self, mechanism: Mechanism, method: Method) -> None:
        self.mechanism, self.method = mechanism, method
        self.begin = mechanism.start.t
        self.names: list[str] = []
        self.ended: tuple[State, Array] | None = None
        self.events = tuple(self._watched(event) for event in method.events)
        self.width = 3 * len(mechanism.system.contacts)
        self.present = self._free(mechanism, mechanism.start, np.array(mechanism.parameter_values))

    def advance(self, end: float, inputs: Mapping[int, float]) -> bool:
        """Go on to a time [s]; whether an event has ended the motion."""
        method, row = self.method, self.present
        p = row.p.copy()
        for k, value in inputs.items():
            p[k] = value
        own = replace(
            self.mechanism, start=State(row.t, row.q, row.u), parameter_values=tuple(p.tolist())
        ).with_programs_of(self.mechanism)
        controllers = [later(c, self.begin, row.t) for c in method.controllers]
        times = np.array([end])
        self.ended = None
        result = simulate_with_contacts(
            own, method.integrator, times, method.options, self.events, controllers, False, method.timing
        )
        self.names += [happening.name for happening in result.events]
        if self.ended is not None:
            state, p = self.ended
            self.present = self._free(own, state, p)
            return True
        forces = result.contact_forces
        assert forces is not None
        self.present = Row(end, result.q[-1], result.u[-1], result.du[-1], result.parameters[-1], forces[-1])
        return False

    def _watched(self, event: Event) -> Event:
        """The event; one that ends the motion leaves its state behind, since results hold outputs alone."""
        if not event.stops:
            return event

        def update(state: State, parameters: Mapping[str, float]) -> Mapping[str, float]:
            self.ended = state, np.array([*parameters.values()])
            return event.update(state, parameters) if event.update is not None else {}

        return replace(event, update=update)

    def _free(self, mechanism: Mechanism, state: State, p: Array) -> Row:
        """A state without contact forces."""
        machine = Machines(mechanism).for_partition(mechanism.partition)
        n = mechanism.linkage.speeds
        full = machine.full(np.concatenate([[state.t], machine.pack(state.q, state.u), p]))
        return Row(state.t, state.q, state.u, full[n : 2 * n], p, np.zeros(self.width))

    def row(self) -> Row:
        """The present state."""
        return self.present

    def happened(self) -> list[str]:
        """The names of the events met so far."""
        return self.names


__all__ = ["Method", "Motion", "Row", "SmoothMotion", "SteppedMotion", "StruckMotion"]
