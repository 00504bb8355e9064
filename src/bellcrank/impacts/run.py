"""Runs with contacts: impacts as events, lasting contacts as constraints, one segment after another.

Within a segment the set of lasting contacts is fixed. An impact is located as a zero of the gap, solved through the
constrained mass matrix, and the segment goes on. Where a bouncing has converged the contact becomes a constraint
with a force; where that force turns to tension it is let go; friction sticks and slips with located transitions. Each
change of the set begins a new segment with its own compiled program, kept for the next time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.events import Event, StateEvent, watch_program
from bellcrank.impacts.modes import ContactForces, Mode, Modes, traced_equations, variant_of, watched
from bellcrank.impacts.solver import ImpactProgram, ImpactRecord, impact
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism import Mechanism, State
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.result.result import Result
from bellcrank.simulate import Options
from bellcrank.simulate.loop import Change
from bellcrank.simulation import Run

if TYPE_CHECKING:
    from bellcrank.events import Controller
    from bellcrank.formulations.loops import Partition

Array = NDArray[np.float64]

TOUCHING = 1e-8
"""Contacts nearer than this at an impact take part in it [m]."""
AT_REST = 3e-7
"""A bounce slower than this share of the fastest approach has converged: its height is lost in rounding."""
MISSED = 1e-9
"""A gap below minus this was not seen at its zero, because the bounce before was too low; it strikes there [m]."""
SEGMENTS = 10_000
"""Changes of contact after which a run is taken to be stuck."""


class Gap(StateEvent):
    """The gap of a contact falling through zero."""


@dataclass(eq=False)
class Contacts:
    """The contacts of a mechanism, and what is compiled for them."""

    base: Mechanism
    pairs: tuple[ContactPair, ...]
    fastest: dict[str, float] = field(default_factory=dict)
    records: list[ImpactRecord] = field(default_factory=list)
    _programs: dict[object, object] = field(default_factory=dict)
    _variants: dict[object, Mechanism] = field(default_factory=dict)

    @staticmethod
    def of(base: Mechanism) -> Contacts:
        """Place all contacts; shapes that start inside each other are refused."""
        pairs = tuple(ContactPair.of(c, base.linkage) for c in base.system.contacts.values())
        contacts = Contacts(base, pairs)
        _, states, _ = contacts.impact_program(base.partition).evaluate(base.kernel_input())
        for pair, s in zip(pairs, states, strict=True):
            if s.gap < -TOUCHING:
                a, b = pair.contact.a.frame.body.name, pair.contact.b.frame.body.name
                raise ModelError(
                    f"contact {pair.contact.name!r}: {a!r} and {b!r} start {-s.gap * 1e3:.3g} mm inside each other; "
                    f"move one of them by that along ({', '.join(f'{x:.3g}' for x in s.normal)}), or make a shape smaller"
                )
        return contacts

    def impact_program(self, partition: Partition) -> ImpactProgram:
        """Impacts of the open mechanism in a partition."""
        key = ("impact", partition)
        if key not in self._programs:
            self._programs[key] = ImpactProgram(self.base.mechanics, partition, self.pairs)
        found = self._programs[key]
        assert isinstance(found, ImpactProgram)
        return found

    def variant(self, modes: Modes, state: State) -> Mechanism:
        """The mechanism with lasting contacts closed, from `state` on."""
        if not modes:
            return replace(self.base, start=state).with_programs_of(self.base)
        key = tuple(sorted(modes.items(), key=lambda item: item[0]))
        fresh = variant_of(self.base, self.pairs, modes, state)
        known = self._variants.get(key)
        if known is not None and known.kept == fresh.kept:
            fresh = replace(known, start=fresh.start).with_programs_of(known)
        self._variants[key] = fresh
        return fresh

    def forces(self, variant: Mechanism, partition: Partition, modes: Modes) -> ContactForces:
        """The forces of lasting contacts."""
        key = ("forces", tuple(sorted(modes.items(), key=lambda item: item[0])), partition)
        if key not in self._programs:
            self._programs[key] = ContactForces(variant, partition, self.pairs, modes)
        found = self._programs[key]
        assert isinstance(found, ContactForces)
        return found

    def strike(self, state: State, p: Array) -> tuple[State, list[str]]:
        """The state after all touching contacts have struck, and those of them that come to rest."""
        partition = self.base.choose_partition(state, p.tolist())
        program = self.impact_program(partition)
        u_i = state.u[list(partition.independent)]
        after, record = impact(program, state.t, state.q, u_i, p, TOUCHING)
        if record is None:
            _, states, _ = program.evaluate(np.concatenate([[state.t], state.q, u_i, p]))
            return state, self._resting(states, u_i)
        self.records.append(record)
        for c in record.contacts:
            self.fastest[c.contact] = max(self.fastest.get(c.contact, 0.0), -c.speed_before)
        _, states, u = program.evaluate(np.concatenate([[state.t], state.q, after, p]))
        return State(state.t, state.q, u.copy()), self._resting(states, after)

    def _resting(self, states: Sequence[object], u_i: Array) -> list[str]:
        """Contacts that touch and part so slowly that their bouncing has converged."""
        found = []
        for pair, s in zip(self.pairs, states, strict=True):
            speed = float(s.rows[0] @ u_i + s.drift[0])  # type: ignore[attr-defined]
            name = pair.contact.name
            scale = max(self.fastest.get(name, 0.0), 1e-3)
            if s.gap <= TOUCHING and abs(speed) <= AT_REST * scale:  # type: ignore[attr-defined]
                found.append(name)
        return found

    def settle(self, names: Sequence[str], state: State, p: Array) -> tuple[dict[str, Mode], Mechanism]:
        """Modes of contacts that touch at rest: those that press last, sticking where friction can hold them."""
        by_name = {pair.contact.name: pair for pair in self.pairs}
        modes = {
            n: Mode(by_name[n].contact.friction > 0.0 and self._still(by_name[n], state, p)) for n in names
        }
        modes = {
            n: m if m.sticking else Mode(False, self._slip(by_name[n], state, p)) for n, m in modes.items()
        }
        for _ in range(4 * len(names) + 4):
            variant = self.variant(modes, state)
            if not modes:
                return modes, variant
            partition = variant.partition
            x = np.concatenate([[state.t], state.q, variant.start.u[list(partition.independent)], p])
            forces = self.forces(variant, partition, modes)
            changed = False
            for pair, (f, _) in zip(forces.pairs, forces.at(x), strict=True):
                name, mu = pair.contact.name, pair.contact.friction
                if f[0] <= 0.0:
                    del modes[name]
                    changed = True
                    break
                if modes[name].sticking and np.linalg.norm(f[1:]) > mu * f[0] * (1.0 + 1e-12):
                    # The body would slip against the force that held it.
                    modes[name] = Mode(False, -1.0 if f[1] > 0.0 else 1.0)
                    changed = True
                    break
            if not changed:
                return modes, variant
        return modes, self.variant(modes, state)

    def _tangential(self, pair: ContactPair, state: State, p: Array) -> Array:
        partition = self.base.choose_partition(state, p.tolist())
        u_i = state.u[list(partition.independent)]
        _, states, _ = self.impact_program(partition).evaluate(np.concatenate([[state.t], state.q, u_i, p]))
        s = states[self.pairs.index(pair)]
        return np.asarray(s.rows[1:] @ u_i + s.drift[1:])

    def _still(self, pair: ContactPair, state: State, p: Array) -> bool:
        scale = max(self.fastest.get(pair.contact.name, 0.0), 1e-3)
        return bool(np.linalg.norm(self._tangential(pair, state, p)) <= 1e-7 * scale)

    def _slip(self, pair: ContactPair, state: State, p: Array) -> float:
        return -1.0 if float(self._tangential(pair, state, p)[0]) < 0.0 else 1.0


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
        open_pairs = [pair for pair in contacts.pairs if pair.contact.name not in modes]
        gaps = [
            Gap(pair.contact.name, direction=-1, trace=lambda kin, t, pair=pair: pair.closest(kin).distance)
            for pair in open_pairs
        ]
        gaps += [
            Gap(
                pair.contact.name,
                direction=-1,
                trace=lambda kin, t, pair=pair: pair.closest(kin).distance + MISSED,
            )
            for pair in open_pairs
        ]
        super().__init__(variant, integrator, (*events, *gaps), controllers)
        self.ends: list[tuple[str, str]] = []
        if modes:
            eq = traced_equations(variant, self.machine.partition)
            self.ends = [(name, what) for name, what, _, _ in watched(eq, contacts.pairs, modes)]
            marks = [Event(f"{name}: {what}", _never, direction=-1) for name, what in self.ends]
            self.events = (*self.events, *marks)
        self.next: tuple[State, list[str], dict[str, Mode]] | None = None

    def _event_program(self) -> Program:
        plain = self.events[: len(self.events) - len(self.ends)]
        program = watch_program(self.mechanism, self.machine.partition, plain)
        if not self.ends:
            return program
        eq = traced_equations(self.mechanism, self.machine.partition)
        outputs: list[Scalar] = [eq.graph.bring(e) for e in program.outputs]
        outputs += [x for _, _, _, x in watched(eq, self.contacts.pairs, self.modes)]
        return Program.of(eq.inputs, outputs, "events")

    def _on_event(self, t: float, y: Array, hits: tuple[int, ...], p: Array) -> Change | None:
        users = [i for i in hits if i < len(self.user_events)]
        ended = [i - (len(self.events) - len(self.ends)) for i in hits]
        changes = super()._on_event(t, y, tuple(users), p) if users else None
        state = self.full_state(self.machine, t, y, p)
        gone = [self.ends[i] for i in ended if i >= 0]
        if gone:
            return self._change(state, gone, p)
        struck = any(isinstance(self.events[i], Gap) for i in hits)
        if not struck:
            return changes
        after, resting = self.contacts.strike(state, p)
        if not resting and not self.modes:
            return Change(self.machine.pack(after.q, after.u), changes.p if changes else None)
        keep = [n for n in dict.fromkeys([*resting, *self._still_touching(after, p)])]
        self.next = (after, keep, {})
        return Change(self.machine.pack(after.q, after.u), None, True)

    def _still_touching(self, state: State, p: Array) -> list[str]:
        """Lasting contacts that the impact did not part."""
        if not self.modes:
            return []
        _, resting = self.contacts.strike(state, p)
        return [n for n in resting if n in self.modes]

    def _change(self, state: State, gone: Sequence[tuple[str, str]], p: Array) -> Change:
        """Let go, slip or stick."""
        names = list(self.modes)
        forced: dict[str, Mode] = dict(self.modes)
        for name, what in gone:
            if what == "release":
                forced.pop(name, None)
            elif what == "slip":
                forces = self.contacts.forces(self.mechanism, self.machine.partition, self.modes)
                x = np.concatenate([[state.t], state.q, state.u[list(self.machine.partition.independent)], p])
                at = {pair.contact.name: f for pair, (f, _) in zip(forces.pairs, forces.at(x), strict=True)}
                forced[name] = Mode(False, -1.0 if at[name][1] > 0.0 else 1.0)
            elif what == "stick":
                forced[name] = Mode(True)
        self.next = (state, [n for n in names if n in forced], forced)
        return Change(None, None, True)


def _never(measured: Mapping[str, Scalar]) -> Scalar:
    return 1.0


def simulate_with_contacts(
    mechanism: Mechanism,
    integrator: str,
    times: Array,
    options: Options,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
) -> Result:
    """Segments until the end, joined into one result."""
    contacts = Contacts.of(mechanism)
    p = np.array(mechanism.parameter_values)
    state, resting = contacts.strike(mechanism.start, p)
    modes, variant = contacts.settle(resting, state, p) if resting else ({}, contacts.variant({}, state))
    pieces: list[Result] = []
    first = 0
    for _ in range(SEGMENTS):
        run = Segment(contacts, modes, variant, integrator, events, controllers)
        piece = run.go(times[first:], options, progress)
        pieces.append(piece)
        first += len(piece.time)
        if run.next is None or first >= len(times):
            break
        state, touching, forced = run.next
        run.next = None
        if forced:
            modes, variant = dict(forced), contacts.variant(forced, state)
            modes, variant = _checked(contacts, modes, variant, state, p)
        elif touching:
            modes, variant = contacts.settle(touching, state, p)
        else:
            modes, variant = {}, contacts.variant({}, state)
    return joined(mechanism, pieces, contacts)


def _checked(
    contacts: Contacts, modes: dict[str, Mode], variant: Mechanism, state: State, p: Array
) -> tuple[dict[str, Mode], Mechanism]:
    """A contact that was to stick but cannot be held goes on sliding, the other way if need be."""
    for name, mode in list(modes.items()):
        if mode.sticking:
            settled, _ = contacts.settle([name], state, p)
            if name in settled and not settled[name].sticking:
                modes[name] = settled[name]
                variant = contacts.variant(modes, state)
    return modes, variant


def joined(mechanism: Mechanism, pieces: Sequence[Result], contacts: Contacts) -> Result:
    """One result from the segments."""
    runs = [piece.run for piece in pieces]
    whole = replace(
        runs[-1],
        steps=sum(r.steps for r in runs),
        rejected=sum(r.rejected for r in runs),
        evaluations=sum(r.evaluations for r in runs),
        seconds=sum(r.seconds for r in runs),
        repartitions=tuple(t for r in runs for t in r.repartitions),
        switches=tuple(s for r in runs for s in r.switches),
    )
    stacked = [
        np.concatenate([getattr(piece, key) for piece in pieces])
        for key in ("time", "q", "u", "du", "parameters")
    ]
    names = set(mechanism.system.contacts)
    met = tuple(e for piece in pieces for e in piece.events if e.name.split(":")[0] not in names)
    return Result(mechanism, *stacked, whole, met, impacts=tuple(contacts.records))
