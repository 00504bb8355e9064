"""Runs with contacts: impacts as events, lasting contacts as constraints, one segment after another.

Within a segment the set of lasting contacts is fixed. An impact is located as a zero of the gap, solved through the
constrained mass matrix, and the segment goes on. Where a bouncing has converged the contact becomes a constraint
with a force; where that force turns to tension it is let go; friction sticks and slips with located transitions. Each
change of the set begins a new segment. A run that does not get on takes a stretch by steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.impacts.contacts import Contacts
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.multipliers import HeldSegment
from bellcrank.impacts.queue import QueueSegment
from bellcrank.impacts.recording import Pieces
from bellcrank.impacts.segment import Next, Segment, Standing
from bellcrank.impacts.stretches import Stretches
from bellcrank.impacts.timing import Timing
from bellcrank.impacts.transitions import ready
from bellcrank.integrate import Options, SimulationError
from bellcrank.integrate.failures import CallError
from bellcrank.integrate.status import Status
from bellcrank.mechanism import Mechanism, State
from bellcrank.result.impact_table import ContactChange
from bellcrank.result.result import Result
from bellcrank.run.events import Event
from bellcrank.run.watching import Watch

if TYPE_CHECKING:
    from bellcrank.impacts.recording import ContactRecorder, SegmentWriter
    from bellcrank.run.events import Controller

Array = NDArray[np.float64]

SUNK = 1e-4
"""Overlap of rigid bodies, over the unit of length, that no rounding explains."""
CRAWL = 3_000
"""Steps after which it is seen whether a segment gets on."""
CREEPING = 1e-7
"""Length of a step, over the time in which bodies fall by their own size, below which it does not: slip is so slow that
its direction follows forces at once."""
RESCUED = (Status.CONSTRAINTS, Status.STEP_UNDERFLOW, Status.NOT_FINITE, Status.TOO_MANY_STEPS)
"""Ends of a segment with lasting contacts after which steps may get on."""


@dataclass(frozen=True, eq=False)
class Setup:
    """What a run was asked for."""

    mechanism: Mechanism
    integrator: str
    times: Array
    options: Options
    events: tuple[Event, ...]
    controllers: tuple[Controller, ...]
    progress: bool | None
    timing: Timing


def simulate_with_contacts(
    mechanism: Mechanism,
    integrator: str,
    times: Array,
    options: Options,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
    timing: Timing | None = None,
    save: str | PathLike[str] | None = None,
    watch: Callable[[Result], None] | None = None,
) -> Result:
    """Segments until the end, joined into one result; a failing run keeps those before."""
    timing = timing or Timing()
    if timing.stepping:
        from bellcrank.impacts.stepping import simulate_by_steps

        timing.check_step(options.fixed_step)
        return simulate_by_steps(mechanism, times, options, events, controllers, progress, save, watch)
    if mechanism.system.collisions:
        group = next(iter(mechanism.system.collisions.values()))
        raise ModelError(
            f"{group.who} is solved by steps: add impacts='stepping' and step= [s], e.g. step=1e-3; in "
            "a shell --impacts stepping --step 1e-3"
        )
    contacts = Contacts.of(mechanism, timing.propagation, options.rtol)
    setup = Setup(mechanism, integrator, times, options, tuple(events), tuple(controllers), progress, timing)
    record = None
    if save is not None:
        from bellcrank.impacts.recording import ContactRecorder

        record = ContactRecorder.new(save, setup, contacts)
    watched = Watch(watch) if watch is not None else None
    return drive(setup, contacts, Pieces(mechanism, contacts), begin(contacts), record, watched=watched)


def begin(contacts: Contacts) -> Next:
    """The start: what touches and approaches strikes, what touches at rest may last."""
    p = np.array(contacts.base.parameter_values)
    state, staying = contacts.strike(contacts.base.start, p)
    state, modes = contacts.settle(staying, state, p)
    contacts.changes += [ContactChange(state.t, name, "rest") for name in modes]
    state, modes = ready(contacts, modes, state, p)
    return Next(state, p, modes)


def drive(
    setup: Setup,
    contacts: Contacts,
    whole: Pieces,
    following: Next,
    record: ContactRecorder | None = None,
    standing: Standing | None = None,
    watched: Watch | None = None,
) -> Result:
    """Segment after segment. standing: Where the first one was, in a run that is gone on with."""
    times = setup.times
    stretches = Stretches(contacts, setup.options, whole.report().stepped if whole.pieces else ())
    try:
        while True:
            stalled = contacts.clock.changed(following.state.t)
            why = "contacts slip and stick in turn without end" if stalled else ""
            failed: SimulationError | None = None
            if not stalled:
                run = _segment(setup, contacts, following)
                if standing is None:
                    whole.open(run)
                writer = None if record is None else _writer(record, whole, following)
                options = setup.options
                if isinstance(run, HeldSegment):
                    options = replace(options, max_steps=min(options.max_steps, CRAWL))
                try:
                    piece = run.go_from(times[whole.outputs :], options, setup.progress, writer, standing)
                except SimulationError as error:
                    whole.add(run, error.result)  # type: ignore[attr-defined]
                    stood = _stood(run, error, following, setup.options)
                    if stood is None:
                        error.result = whole.joined()  # type: ignore[attr-defined]
                        if not isinstance(error, CallError):
                            _explain(error, run)
                        raise
                    following, why, failed = *stood, error
                    whole.breaks.append(run.row(error.time, error.trajectory.end_state, following.p))
                else:
                    whole.add(run, piece)
                    if watched is not None and watched.due():
                        watched.show(whole.joined())
                    if run.failure is not None:
                        run.failure.result = whole.joined()
                        raise run.failure
                    if run.next is None or whole.outputs >= len(times):
                        # Queues locate impacts to the order of their steps.
                        judged = contacts if setup.timing.queue_size is None else None
                        return _finished(whole, record, None if run.next is None else "done", judged)
                    following, why = run.next, run.stalled
                standing = None
            if why:
                following, stopped = _take_steps(setup, contacts, whole, stretches, following, why, failed)
                if stopped or whole.outputs >= len(times):
                    return _finished(whole, record, "event" if stopped else "done", contacts)
            if record is not None:
                record.between(whole, following)
    except SimulationError as error:
        if record is not None:
            record.finish(error.result, complete=False)  # type: ignore[attr-defined]
        raise
    except KeyboardInterrupt:
        # Between two segments; within one the integrator takes it.
        if not whole.pieces:
            raise
        return _finished(whole, record, "interrupted")
    finally:
        if record is not None:
            record.close()


def _stood(run: Segment, error: SimulationError, begin: Next, options: Options) -> tuple[Next, str] | None:
    """Where a segment came to that did not get on, and why it goes on by steps; no reason where it goes on by itself.

    None where steps are not asked: what fails with one contact, or without its forces, fails for other reasons.
    """
    if not isinstance(run, HeldSegment) or error.status not in RESCUED or isinstance(error, CallError):
        return None
    state, p = error.trajectory.end_state, run.history[-1][1]
    if error.status is not Status.TOO_MANY_STEPS:
        free = run.machine.rates(np.concatenate([[error.time], state, p]))
        if len(run.modes) < 2 or not np.isfinite(free).all():
            return None
    following = Next(run.full_state(run.machine, error.time, state, p), p, run.modes, begin.sampled)
    if error.status is not Status.TOO_MANY_STEPS:
        return following, f"the integrator does not get on ({error.status.name.lower().replace('_', ' ')})"
    if options.max_steps <= CRAWL:
        return None
    unit = min(pair.time for pair in run.contacts.pairs)
    if len(run.modes) < 2 or error.time - begin.state.t > CREEPING * CRAWL * unit:
        return following, ""
    return following, "slip is so slow that its direction turns at once"


def _take_steps(
    setup: Setup,
    contacts: Contacts,
    whole: Pieces,
    stretches: Stretches,
    following: Next,
    why: str,
    failed: SimulationError | None,
) -> tuple[Next, bool]:
    """A stretch by steps; where it cannot be taken the run ends as it would without."""
    controllers = _controllers(setup, following)
    try:
        taken = stretches.take(whole, following, why, setup.times, setup.events, controllers)
    except (ModelError, ContactError) as refused:
        now, names = following.state.t, tuple(following.modes) or contacts.names
        stuck = failed or ContactError(
            now, names, f"{why}; the run does not get on, by steps neither: {refused}"
        )
        stuck.result = whole.joined()  # type: ignore[attr-defined]
        raise stuck from refused
    contacts.clock.reset()
    return taken


def _writer(record: ContactRecorder, whole: Pieces, following: Next) -> SegmentWriter:
    from bellcrank.impacts.recording import SegmentWriter

    return SegmentWriter(record, whole, following)


def _finished(
    whole: Pieces, record: ContactRecorder | None, status: str | None, judged: Contacts | None = None
) -> Result:
    """The whole result, also of its record; judged: Contacts whose bodies must not be within each other at its end."""
    result = whole.joined(status)
    if judged is not None:
        _check_outside(judged, result)
    if record is not None:
        record.finish(result, complete=result.run.status in ("done", "event"))
    return result


def _check_outside(contacts: Contacts, result: Result) -> None:
    """Raise where bodies have passed through each other unseen."""
    if not len(result):
        return
    end = State(float(result.time[-1]), result.q[-1], result.u[-1])
    gaps, _ = contacts.approach(end, result.parameters[-1])
    sunk = [
        pair.contact.name for pair, gap in zip(contacts.pairs, gaps, strict=True) if gap < -SUNK * pair.length
    ]
    if sunk:
        why = (
            "its bodies have passed through each other, by an impact that was not seen; please report it. A smaller "
            "tolerance may help."
        )
        error = ContactError(end.t, tuple(sunk), why)
        error.result = result
        raise error


def _segment(setup: Setup, contacts: Contacts, begin: Next) -> Segment:
    controllers = _controllers(setup, begin)
    size = setup.timing.queue_size
    if size is None and contacts.held(begin.modes, begin.state, begin.p):
        return HeldSegment(
            contacts, begin.modes, begin.state, begin.p, setup.integrator, setup.events, controllers
        )
    variant = contacts.variant(begin.modes, begin.state, begin.p)
    if size is None:
        return Segment(contacts, begin.modes, variant, setup.integrator, setup.events, controllers)
    return QueueSegment(
        contacts, begin.modes, variant, setup.integrator, setup.events, controllers, size, setup.options
    )


def _controllers(setup: Setup, following: Next) -> list[Controller]:
    """The controllers with their instants where they were, seen from a segment that begins later."""
    begin, now = setup.mechanism.start.t, following.state.t
    return [later(c, begin, now, following.sampled) for c in setup.controllers]


def later(controller: Controller, begin: float, now: float, sampled: bool = False) -> Controller:
    """A controller of a run from `begin` [s], for a part of it from `now` on; sampled: whether it was called there."""
    instants = (now - begin - controller.offset) / controller.period
    passed = math.floor(instants + 1e-9) + 1 if sampled else math.ceil(instants - 1e-9)
    offset = begin + controller.offset + max(passed, 0) * controller.period - now
    return replace(controller, offset=max(offset, 0.0))


def _explain(error: SimulationError, run: Segment) -> None:
    sliding = [n for n, m in run.modes.items() if not m.sticking]
    rubbing = [
        pair.contact.name for pair in run.contacts.pairs if pair.contact.rubs and pair.contact.name in sliding
    ]
    if rubbing:
        error.add_note(
            f"contact {rubbing[0]!r} was sliding with friction: where its force grows without bound (Painleve's "
            "paradox) a rigid body has no further motion; use less friction there"
        )
