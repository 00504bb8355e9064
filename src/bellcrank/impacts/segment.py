"""A stretch of a run with the same lasting contacts: what it watches, and what its events do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.checks import TOUCHING
from bellcrank.impacts.contacts import Contacts, shared_key
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.gaps import Gap, Missed, watching
from bellcrank.impacts.modes import GONE, Mode, Modes, traced_equations, watched
from bellcrank.impacts.transitions import ahead_of, bouncing_left, changed, ready
from bellcrank.integrate.loop import Change
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.carried_loads import SETTLING
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.result.impact_table import ContactChange
from bellcrank.result.result import Result
from bellcrank.run.events import Event, watch_program
from bellcrank.run.run import Run

if TYPE_CHECKING:
    from bellcrank.impacts.modes import ContactForces
    from bellcrank.impacts.multipliers import Held
    from bellcrank.integrate import Options, Problem, Trajectory
    from bellcrank.integrate.loop import Progress
    from bellcrank.run.events import Controller
    from bellcrank.run.recording import Resumption, Writer

Array = NDArray[np.float64]
Answer = tuple[State | None, Array | None, bool]
"""What events change: state, parameters, whether to stop."""


@dataclass(frozen=True, eq=False)
class Next:
    """How a run goes on after a segment; `sampled`: controllers have been called at its time already."""

    state: State
    p: Array
    modes: Mapping[str, Mode]
    sampled: bool = False


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a segment was that is gone on with.

    forces: Contact forces at its outputs so far [N]. restore: Gives back what else it knew.
    """

    resumption: Resumption
    forces: Array
    restore: Callable[[Segment], None]


class Segment(Run):
    """A stretch of a run with the same lasting contacts."""

    def __init__(
        self,
        contacts: Contacts,
        modes: Modes,
        variant: Mechanism,
        integrator: str,
        events: Sequence[Event],
        controllers: Sequence[Controller],
    ) -> None:
        self.contacts, self.modes, self.sharing = contacts, modes, contacts.sharing(modes)
        self.user_events = tuple(events)
        gaps: list[Event] = []
        for pair in self._watched_pairs():
            gaps += watching(pair)
        super().__init__(variant, integrator, (*events, *gaps, *self._more_events()), controllers)
        self.ends: list[tuple[str, str]] = []
        if modes:
            ends = self._ends()
            self.ends = [(name, what) for name, what, _ in ends]
            marks = [Event(f"{name}: {what}", _never, direction=d) for name, what, d in ends]
            self.events = (*self.events, *marks)
            self._ready_forces()
        self.begin = variant.start
        self.next: Next | None = None
        self.tolerance = 0.0
        self.failure: ContactError | None = None
        self.stalled = ""
        self.breaks: list[Array] = []
        self.forces_before: Array | None = None

    def go_from(
        self,
        times: Array,
        options: Options,
        progress: bool | None,
        record: Writer | None,
        standing: Standing | None,
    ) -> Result:
        """Integrate to the last output time, from the start or from where the segment stood."""
        self.tolerance = options.rtol
        if standing is None:
            self._let_loads_follow()
            return self.go(times, options, progress, record)
        self.forces_before = standing.forces
        standing.restore(self)
        return self.go(times, options, progress, record, standing.resumption)

    def _let_loads_follow(self) -> None:
        """Begin with the loads that reactions ask for, which change where contacts do."""
        if not self.contacts.loads:
            return
        start, p = self.mechanism.start, np.array(self.mechanism.parameter_values)
        q, places = start.q.copy(), [load.place for load in self.contacts.loads]
        lags = np.array([load.lag for load in self.contacts.loads])
        for _ in range(SETTLING):
            x = np.concatenate([[start.t], self.machine.pack(q, start.u), p])
            found = q[places] + lags * self.rates(x)[places]
            settled = np.allclose(found, q[places], rtol=1e-12, atol=0.0)
            q[places] = found
            if settled:
                break
        here = replace(self.mechanism, start=replace(start, q=q))
        self.mechanism = self.machines.mechanism = here.with_programs_of(self.mechanism)

    def _take_over(self, resumption: Resumption) -> None:
        if resumption.chosen is not None:
            here = replace(self.mechanism, start=resumption.chosen[0])
            self.machines.mechanism = here.with_programs_of(self.mechanism)
        super()._take_over(resumption)
        self._ready_forces()

    def _watched_pairs(self) -> list[ContactPair]:
        """Whose gaps are watched."""
        return [pair for pair in self.contacts.pairs if pair.contact.name not in self.modes]

    def _ends(self) -> list[tuple[str, str, int]]:
        """What may end the lasting contacts: (contact, what, direction)."""

        def make() -> list[tuple[str, str, int]]:
            eq = traced_equations(self.mechanism, self.machine.partition)
            ends = watched(eq, self.contacts.pairs, self.modes, self.sharing)
            return [(name, what, direction) for name, what, direction, _ in ends]

        return self.contacts.once(("ends", shared_key(self.modes, self.sharing)), make)

    def _more_events(self) -> list[Event]:
        """What else is watched."""
        return []

    def _watched_key(self) -> Hashable:
        """The identity of what else is watched."""
        return ()

    def problem(self, q: Array, u: Array, t: float, p: Array) -> Problem:
        """As of any run; gaps that are closed at the start may go either way from there."""
        gaps, _ = self.contacts.approach(State(t, q, u), p)
        pairs = self.contacts.pairs
        closed = {
            p.contact.name for p, gap in zip(pairs, gaps, strict=True) if abs(gap) <= TOUCHING * p.length
        }
        # What is not seen of them, since the bounce is too low, is seen where they are missed.
        standing = tuple(
            k
            for k, e in enumerate(self.events)
            if isinstance(e, Gap) and not isinstance(e, Missed) and e.name in closed
        )
        return replace(super().problem(q, u, t, p), standing=standing)

    def _event_kernel(self) -> Kernel:
        key = (
            "events",
            shared_key(self.modes, self.sharing),
            self.machine.partition,
            self.user_events,
            self._watched_key(),
        )
        return self.contacts.once(key, lambda: compile_program(self._event_program()))

    def _event_program(self) -> Program:
        plain = self.events[: len(self.events) - len(self.ends)]
        program = watch_program(self.mechanism, self.machine.partition, plain)
        if not self.ends:
            return program
        eq = traced_equations(self.mechanism, self.machine.partition)
        outputs: list[Scalar] = [eq.graph.bring(e) for e in program.outputs]
        outputs += [x for _, _, _, x in watched(eq, self.contacts.pairs, self.modes, self.sharing)]
        return Program.of(eq.inputs, outputs, "events")

    def _on_repartition(self, t: float, y: Array, p: Array) -> tuple[Problem, Array] | None:
        # Pivots are judged where the new partition is needed: at the start it may be singular.
        here = replace(self.mechanism, start=self.full_state(self.machine, t, y, p))
        self.mechanism = self.machines.mechanism = here.with_programs_of(self.mechanism)
        answer = super()._on_repartition(t, y, p)
        self._ready_forces()
        return answer

    def _ready_forces(self) -> None:
        """Trace the forces while the state is one in which the partition is good."""
        if self.modes:
            self.lasting()

    def lasting(self) -> ContactForces | Held:
        """The forces of the lasting contacts in the present partition."""
        return self.contacts.forces(self.mechanism, self.machine.partition, self.modes, self.sharing)

    def rates(self, x: Array) -> Array:
        """Rates of the integrator's state at [t, y, p]."""
        return np.asarray(self.machine.rates(x))

    def row(self, t: float, y: Array, p: Array) -> Array:
        """[t, q, u, du, parameters, contact forces] at a state of the integrator."""
        n, speeds = self.mechanism.linkage.positions, self.mechanism.linkage.speeds
        x = np.concatenate([[t], y, p])
        return np.concatenate([[t], y[:n], self._full(x)[: 2 * speeds], p, self.contact_forces(x[None])[0]])

    def _full(self, x: Array) -> Array:
        """All speeds and their rates at [t, y, p]."""
        return np.asarray(self.machine.full(x))

    def contact_forces(self, x: Array) -> Array:
        """Forces of all contacts on b, world axes, for rows [t, y, p] of the present partition."""
        names = self.contacts.names
        found = np.zeros((len(x), 3 * len(names)))
        if self.modes:
            for name, block in self.lasting().in_world(x).items():
                k = 3 * names.index(name)
                found[:, k : k + 3] = block
        return found

    @property
    def over(self) -> bool:
        """Whether nothing follows: events of contacts end the segment alone."""
        return self.next is None and self.failure is None

    def _result(self, trajectory: Trajectory, seconds: float) -> Result:
        result = super()._result(trajectory, seconds)
        known = 0 if self.forces_before is None else len(self.forces_before)
        t, y, partition = trajectory.t[known:], trajectory.y[known:], trajectory.partition[known:]
        forces = self._forces_at(t, y, partition, result.parameters[known:])
        if self.forces_before is not None:
            forces = np.vstack([self.forces_before, forces])
        return replace(result, contact_forces=forces)

    def _forces_at(self, times: Array, y: Array, partition: NDArray[np.int64], parameters: Array) -> Array:
        """Contact forces at outputs."""
        forces = np.zeros((len(times), 3 * len(self.contacts.names)))
        last = self.machine
        for number, machine in enumerate(self.used):
            here = partition == number
            if here.any() and self.modes:
                self.machine = machine
                forces[here] = self.contact_forces(np.hstack([times[here, None], y[here], parameters[here]]))
        self.machine = last
        return forces

    def rows_from(self, first: int, times: Array, progress: Progress) -> tuple[Array, ...]:
        """Positions, speeds, their rates, parameters and contact forces at the outputs so far, from one on."""
        before = (*(self.rows_before or ()), *(() if self.forces_before is None else (self.forces_before,)))
        known = len(before[0]) if before else 0
        new = slice(max(first, known), progress.outputs)
        t, y, partition = times[new], progress.y[new], progress.partition[new].copy()
        rows = self.rows(t, y, partition)
        found = (*rows, self._forces_at(t, y, partition, rows[-1]))
        if first >= known:
            return found
        return tuple(np.vstack([old[first:], block]) for old, block in zip(before, found, strict=True))

    def final_outputs(self, times: Array) -> int:
        """How many of these outputs nothing will take back."""
        return len(times)

    def _on_event(self, t: float, y: Array, hits: tuple[int, ...], p: Array) -> Change | None:
        users = tuple(i for i in hits if i < len(self.user_events))
        change = self._met(t, y, users, p) if users else None
        first = len(self.events) - len(self.ends)
        ended = [self.ends[i - first] for i in hits if i >= first]
        struck = [self.events[i].name for i in hits if isinstance(self.events[i], Gap)]
        try:
            state, new_p, stop = change or (None, None, False)
            if not (struck or ended or (self.modes and change)):
                packed = None if state is None else self.machine.pack(state.q, state.u)
                return Change(packed, new_p, stop) if change else None
            return self._contact_event(t, y, p, (state, new_p, stop), struck, ended, bool(users))
        except ContactError as error:
            self.failure = error
            return Change(None, None, True)

    def _contact_event(
        self,
        t: float,
        y: Array,
        p: Array,
        change: Answer,
        struck: Sequence[str],
        ended: Sequence[tuple[str, str]],
        met: bool,
    ) -> Change:
        """Impacts and changes of lasting contacts, after what the user's own events did; met: Whether any were met."""
        self.breaks.append(self.row(t, y, p))
        jumped, new_p, stop = change
        p = p if new_p is None else new_p
        state = jumped or self.full_state(self.machine, t, y, p)
        ahead: State | None = None
        if struck or jumped is not None:
            after, staying = self.contacts.strike(state, p, struck)
            if not staying and not self.modes and not self.contacts.clock.struck(t):
                packed = self.machine.pack(after.q, after.u)
                self.breaks.append(self.row(t, packed, p))
                return Change(packed, p, stop)
            if self.contacts.clock.struck(t):
                self.stalled = "impacts follow each other without end"
            after, modes = self.contacts.settle(staying, after, p)
        elif any(what == GONE for _, what in ended):
            # Others may touch at the same place from here on.
            after, modes = self.contacts.settle(self.contacts.resting(state, p), state, p)
        elif met and new_p is not None:
            after, modes = self.contacts.settle(list(self.modes), state, p)
        else:
            if self._shares(ended):
                ahead = ahead_of(self, t, y, p)
            after, modes = changed(self, state, ended, p, ahead)
        self.go_on(after, p, modes, ahead)
        if stop:
            self.next = None
        return Change(None, None, True)

    def _on_sampled(self, t: float, y: Array, p: Array) -> bool:
        """Lasting contacts may not bear what controllers have changed."""
        if not self.modes:
            return False
        state = self.full_state(self.machine, t, y, p)
        before = next((old for when, old in reversed(self.history) if when < t), p)
        try:
            after, modes = self.contacts.settle(list(self.modes), state, p)
        except ContactError as error:
            self.failure = error
            return True
        rubbed, rubs = (self.contacts.instant(state, x)[0].friction for x in (before, p))
        same = after is state and np.array_equal(rubbed, rubs)
        if same and self.contacts.shared(modes, state, p) == self.modes:
            return False
        self.breaks.append(self.row(t, y, before))
        self.go_on(after, p, modes)
        assert self.next is not None
        self.next = replace(self.next, sampled=True)
        return True

    def go_on(self, state: State, p: Array, modes: Mapping[str, Mode], ahead: State | None = None) -> None:
        """End the segment; the run goes on from here with other lasting contacts.

        ahead: Just after it: there it shows which of them bear.
        """
        bouncing, p = state, p.copy()
        state, modes = ready(self.contacts, modes, state, p, ahead)
        log, t = self.contacts.changes, state.t
        for name, mode in modes.items():
            before = self.modes.get(name)
            if before is None:
                begins = t + bouncing_left(self.contacts, name, set(self.modes) & set(modes), bouncing, p)
                log.append(ContactChange(begins, name, "rest"))
            elif before.sticking != mode.sticking:
                log.append(ContactChange(t, name, "stick" if mode.sticking else "slip"))
        log += [ContactChange(t, name, "release") for name in self.modes if name not in modes]
        self.next = Next(state, p, modes)

    def _shares(self, ended: Sequence[tuple[str, str]]) -> bool:
        """Whether these ends may be of how contacts share, and not of a contact."""
        return self.sharing is not None and any(what != "stick" for _, what in ended)


def _never(measured: Mapping[str, Scalar]) -> Scalar:
    return 1.0
