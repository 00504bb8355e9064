"""A stretch of a run with the same lasting contacts: what it watches, and what its events do."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.events import Event, StateEvent, watch_program
from bellcrank.impacts.contacts import TOUCHING, Contacts, modes_key
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.modes import Mode, Modes, traced_equations, watched
from bellcrank.impacts.records import ContactChange
from bellcrank.mechanics.contacts import ContactPair, along
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanism import Mechanism, State
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.result.result import Result
from bellcrank.simulate.events import RATE
from bellcrank.simulate.loop import Change
from bellcrank.simulation import Run

if TYPE_CHECKING:
    from bellcrank.events import Controller
    from bellcrank.simulate import Problem, Trajectory

Array = NDArray[np.float64]

MISSED = 1e-9
"""A gap below minus this was not seen at its zero, because the bounce before was too low; it strikes there [m]."""


class Gap(StateEvent):
    """The gap of a contact falling through zero; its name is the contact's."""


class GapRate(StateEvent):
    """The rate of the gap before it: tells where the gap is smallest, so that no short overlap is missed."""

    def __post_init__(self) -> None:
        assert self.direction == RATE


def watching(pair: ContactPair) -> list[Event]:
    """What is watched of an open contact."""

    def gap(kin: Kinematics, t: Scalar) -> Scalar:
        return pair.closest(kin).distance

    def deeper(kin: Kinematics, t: Scalar) -> Scalar:
        return pair.closest(kin).distance + MISSED

    def rate(kin: Kinematics, t: Scalar) -> Scalar:
        return along(kin, pair.rows(kin)[1][0])

    name = pair.contact.name
    return [
        Gap(name, direction=-1, trace=gap),
        GapRate(name, direction=RATE, trace=rate),
        Gap(name, direction=-1, trace=deeper),
    ]


@dataclass(frozen=True, eq=False)
class Next:
    """How a run goes on after a segment; `sampled`: controllers have been called at its time already."""

    state: State
    p: Array
    modes: Mapping[str, Mode]
    sampled: bool = False


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
        self.contacts, self.modes = contacts, modes
        self.user_events = tuple(events)
        gaps: list[Event] = []
        for pair in contacts.pairs:
            if pair.contact.name not in modes:
                gaps += watching(pair)
        super().__init__(variant, integrator, (*events, *gaps, *self._more_events()), controllers)
        self.ends: list[tuple[str, str]] = []
        if modes:
            eq = traced_equations(variant, self.machine.partition)
            self.ends = [(name, what) for name, what, _, _ in watched(eq, contacts.pairs, modes)]
            marks = [Event(f"{name}: {what}", _never, direction=-1) for name, what in self.ends]
            self.events = (*self.events, *marks)
            self._ready_forces()
        self.begin = variant.start
        self.next: Next | None = None
        self.failure: ContactError | None = None
        self.breaks: list[Array] = []

    def _more_events(self) -> list[Event]:
        """What else is watched."""
        return []

    def _watched_key(self) -> Hashable:
        """What tells apart what else is watched."""
        return ()

    def problem(self, q: Array, u: Array, t: float, p: Array) -> Problem:
        """As of any run; gaps that are closed at the start may go either way from there."""
        gaps, _ = self.contacts.approach(State(t, q, u), p)
        closed = {name for name, gap in zip(self.contacts.names, gaps, strict=True) if abs(gap) <= TOUCHING}
        standing = tuple(k for k, e in enumerate(self.events) if isinstance(e, Gap) and e.name in closed)
        return replace(super().problem(q, u, t, p), standing=standing)

    def _event_kernel(self) -> Kernel:
        key = ("events", modes_key(self.modes), self.machine.partition, self.user_events, self._watched_key())
        return self.contacts.once(key, lambda: compile_program(self._event_program()))

    def _event_program(self) -> Program:
        plain = self.events[: len(self.events) - len(self.ends)]
        program = watch_program(self.mechanism, self.machine.partition, plain)
        if not self.ends:
            return program
        eq = traced_equations(self.mechanism, self.machine.partition)
        outputs: list[Scalar] = [eq.graph.bring(e) for e in program.outputs]
        outputs += [x for _, _, _, x in watched(eq, self.contacts.pairs, self.modes)]
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
            self.contacts.forces(self.mechanism, self.machine.partition, self.modes)

    def row(self, t: float, y: Array, p: Array) -> Array:
        """[t, q, u, du, parameters, contact forces] at a state of the integrator."""
        n, speeds = self.mechanism.linkage.positions, self.mechanism.linkage.speeds
        x = np.concatenate([[t], y, p])
        return np.concatenate(
            [[t], y[:n], self.machine.full(x)[: 2 * speeds], p, self.contact_forces(x[None])[0]]
        )

    def contact_forces(self, x: Array) -> Array:
        """Forces of all contacts on b, world axes, for rows [t, y, p] of the present partition."""
        names = self.contacts.names
        found = np.zeros((len(x), 3 * len(names)))
        if self.modes:
            forces = self.contacts.forces(self.mechanism, self.machine.partition, self.modes)
            for name, block in forces.in_world(x).items():
                k = 3 * names.index(name)
                found[:, k : k + 3] = block
        return found

    def _result(self, trajectory: Trajectory, seconds: float) -> Result:
        result = super()._result(trajectory, seconds)
        forces = np.zeros((len(result), 3 * len(self.contacts.names)))
        last = self.machine
        for number, machine in enumerate(self.used):
            here = trajectory.partition == number
            if here.any() and self.modes:
                self.machine = machine
                x = np.hstack([trajectory.t[here, None], trajectory.y[here], result.parameters[here]])
                forces[here] = self.contact_forces(x)
        self.machine = last
        return replace(result, contact_forces=forces)

    def _on_event(self, t: float, y: Array, hits: tuple[int, ...], p: Array) -> Change | None:
        users = tuple(i for i in hits if i < len(self.user_events))
        change = self._met(t, y, users, p) if users else None
        first = len(self.events) - len(self.ends)
        ended = [self.ends[i - first] for i in hits if i >= first]
        struck = [self.events[i].name for i in hits if isinstance(self.events[i], Gap)]
        state, new_p, stop = change or (None, None, False)
        if not (struck or ended or (self.modes and (state is not None or new_p is not None))):
            packed = None if state is None else self.machine.pack(state.q, state.u)
            return Change(packed, new_p, stop) if change else None
        try:
            return self._contact_event(t, y, p, change or (None, None, False), struck, ended)
        except ContactError as error:
            self.failure = error
            return Change(None, None, True)

    def _contact_event(
        self,
        t: float,
        y: Array,
        p: Array,
        change: tuple[State | None, Array | None, bool],
        struck: Sequence[str],
        ended: Sequence[tuple[str, str]],
    ) -> Change:
        """Impacts and changes of lasting contacts, after what the user's own events did."""
        self.breaks.append(self.row(t, y, p))
        jumped, new_p, stop = change
        p = p if new_p is None else new_p
        state = jumped or self.full_state(self.machine, t, y, p)
        if struck or jumped is not None:
            after, staying = self.contacts.strike(state, p, struck)
            if not staying and not self.modes:
                packed = self.machine.pack(after.q, after.u)
                self.breaks.append(self.row(t, packed, p))
                return Change(packed, p, stop)
            modes = self.contacts.settle(staying, after, p)
        elif new_p is not None:
            after, modes = state, self.contacts.settle(list(self.modes), state, p)
        else:
            after, modes = state, self._changed(state, ended, p)
        self.go_on(after, p, modes)
        if stop:
            self.next = None
        return Change(None, None, True)

    def _on_sampled(self, t: float, y: Array, p: Array) -> bool:
        """Lasting contacts may not bear what controllers have changed."""
        if not self.modes:
            return False
        state = self.full_state(self.machine, t, y, p)
        try:
            modes = self.contacts.settle(list(self.modes), state, p)
        except ContactError as error:
            self.failure = error
            return True
        if modes == self.modes:
            return False
        before = next((old for when, old in reversed(self.history) if when < t), p)
        self.breaks.append(self.row(t, y, before))
        self.go_on(state, p, modes)
        assert self.next is not None
        self.next = replace(self.next, sampled=True)
        return True

    def go_on(self, state: State, p: Array, modes: Mapping[str, Mode]) -> None:
        """End the segment; the run goes on from here with other lasting contacts."""
        log, t = self.contacts.changes, state.t
        for name, mode in modes.items():
            before = self.modes.get(name)
            if before is None:
                begins = t + self.contacts.bouncing_left(name, modes, state, p)
                log.append(ContactChange(begins, name, "rest"))
            elif before.sticking != mode.sticking:
                log.append(ContactChange(t, name, "stick" if mode.sticking else "slip"))
        log += [ContactChange(t, name, "release") for name in self.modes if name not in modes]
        self.next = Next(state, p.copy(), modes)

    def _changed(self, state: State, ended: Sequence[tuple[str, str]], p: Array) -> dict[str, Mode]:
        """Modes after contacts let go, slip or stick."""
        modes = dict(self.modes)
        for name, what in ended:
            if what == "release":
                modes.pop(name, None)
            elif what == "slip":
                forces = self.contacts.forces(self.mechanism, self.machine.partition, self.modes)
                x = np.concatenate([[state.t], state.q, state.u[list(self.machine.partition.independent)], p])
                at = {pair.contact.name: f for pair, (f, _) in zip(forces.pairs, forces.at(x), strict=True)}
                modes[name] = Mode(False, -1.0 if at[name][1] > 0.0 else 1.0)
        stopped = [name for name, what in ended if what == "stick" and name in modes]
        if stopped:
            settled = self.contacts.settle(list(modes), state, p, stopped)
            modes |= {name: settled[name] for name in stopped if name in settled}
        return modes


def _never(measured: Mapping[str, Scalar]) -> Scalar:
    return 1.0
