"""Runs with contacts: impacts as events, lasting contacts as constraints, one segment after another.

Within a segment the set of lasting contacts is fixed. An impact is located as a zero of the gap, solved through the
constrained mass matrix, and the segment goes on. Where a bouncing has converged the contact becomes a constraint
with a force; where that force turns to tension it is let go; friction sticks and slips with located transitions. Each
change of the set begins a new segment with its own compiled program, kept for the next time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.events import Event
from bellcrank.impacts.contacts import Contacts
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.queue import QueueSegment
from bellcrank.impacts.records import ContactChange, ImpactTable
from bellcrank.impacts.segment import Next, Segment
from bellcrank.impacts.timing import Timing
from bellcrank.mechanism import Mechanism
from bellcrank.result.result import Result
from bellcrank.simulate import Options, SimulationError
from bellcrank.watching import Watch

if TYPE_CHECKING:
    from bellcrank.events import Controller

Array = NDArray[np.float64]

SEGMENTS = 10_000
"""Changes of contact after which a run is taken to be stuck."""


def simulate_with_contacts(
    mechanism: Mechanism,
    integrator: str,
    times: Array,
    options: Options,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
    timing: Timing | None = None,
    watch: Callable[[Result], None] | None = None,
) -> Result:
    """Segments until the end, joined into one result; a failing run keeps those before."""
    timing = timing or Timing()
    contacts = Contacts.of(mechanism, timing.propagation)
    p = np.array(mechanism.parameter_values)
    state, staying = contacts.strike(mechanism.start, p)
    modes = contacts.settle(staying, state, p)
    contacts.changes += [ContactChange(state.t, name, "rest") for name in modes]
    following: Next | None = Next(state, p, modes)
    whole = _Pieces(mechanism, contacts)
    watched = Watch(watch) if watch is not None else None
    for _ in range(SEGMENTS):
        assert following is not None
        variant = contacts.variant(following.modes, following.state, following.p)
        samples = [_later(c, mechanism.start.t, following) for c in controllers]
        run = _segment(contacts, following, variant, integrator, events, samples, timing, options)
        try:
            piece = run.go(times[whole.outputs :], options, progress)
        except SimulationError as error:
            whole.add(run, error.result)  # type: ignore[attr-defined]
            error.result = whole.joined()  # type: ignore[attr-defined]
            _explain(error, run)
            raise
        whole.add(run, piece)
        if watched is not None and watched.due():
            watched.tell(whole.joined())
        if run.failure is not None:
            run.failure.result = whole.joined()
            raise run.failure
        following = run.next
        if following is None or whole.outputs >= len(times):
            return whole.joined()
    stuck = ContactError(state.t, contacts.names, f"they changed {SEGMENTS} times; the run does not get on.")
    stuck.result = whole.joined()
    raise stuck


def _segment(
    contacts: Contacts,
    begin: Next,
    variant: Mechanism,
    integrator: str,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    timing: Timing,
    options: Options,
) -> Segment:
    if timing.queue_size is None:
        return Segment(contacts, begin.modes, variant, integrator, events, controllers)
    return QueueSegment(
        contacts, begin.modes, variant, integrator, events, controllers, timing.queue_size, options
    )


def _later(controller: Controller, begin: float, following: Next) -> Controller:
    """The controller with its instants where they were, seen from a segment that begins later."""
    now = following.state.t
    instants = (now - begin - controller.offset) / controller.period
    passed = math.floor(instants + 1e-9) + 1 if following.sampled else math.ceil(instants - 1e-9)
    offset = begin + controller.offset + max(passed, 0) * controller.period - now
    return replace(controller, offset=max(offset, 0.0))


def _explain(error: SimulationError, run: Segment) -> None:
    sliding = [n for n, m in run.modes.items() if not m.sticking]
    rubbing = [
        pair.contact.name
        for pair in run.contacts.pairs
        if pair.contact.friction and pair.contact.name in sliding
    ]
    if rubbing:
        error.add_note(
            f"contact {rubbing[0]!r} was sliding with friction: where its force grows without bound (Painleve's "
            "paradox) a rigid body has no further motion; use less friction there"
        )


class _Pieces:
    """The segments so far."""

    def __init__(self, mechanism: Mechanism, contacts: Contacts) -> None:
        self.mechanism, self.contacts = mechanism, contacts
        self.pieces: list[Result] = []
        self.breaks: list[Array] = []
        self.outputs = 0

    def add(self, run: Segment, piece: Result) -> None:
        """One more segment; breaks come in pairs, so that of its start belongs to the end of the one before."""
        if self.pieces:
            start, p = run.begin, np.array(run.mechanism.parameter_values)
            first = run.used[0]
            run.machine, last = first, run.machine
            self.breaks.append(run.row(start.t, first.pack(start.q, start.u), p))
            run.machine = last
        self.breaks += run.breaks
        self.pieces.append(piece)
        self.outputs += len(piece)

    def joined(self) -> Result:
        """One result from the segments."""
        pieces = self.pieces
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
        time, q, u, du, parameters, forces = (
            np.concatenate([getattr(piece, key) for piece in pieces])
            for key in ("time", "q", "u", "du", "parameters", "contact_forces")
        )
        paired = self.breaks[: len(self.breaks) // 2 * 2]
        return Result(
            self.mechanism,
            time,
            q,
            u,
            du,
            parameters,
            whole,
            tuple(e for piece in pieces for e in piece.events),
            impacts=ImpactTable(self.contacts.records, self.mechanism),
            contact_forces=forces,
            contact_changes=tuple(self.contacts.changes),
            breaks=np.array(paired) if paired else None,
        )
