"""Stretches that a run followed event by event takes by steps, because it does not get on otherwise.

Contacts may change faster than any clock can follow. Such a run hands over to stepping
(:mod:`bellcrank.impacts.stepping`), which takes all of them together, and comes back after a stretch; where it stalls
again soon, the next stretch is twice as long. The result lists every stretch, and a warning names it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.contacts import HIDDEN, Contacts
from bellcrank.impacts.segment import Next
from bellcrank.impacts.stepping import SteppedRun
from bellcrank.impacts.transitions import ready
from bellcrank.mechanism import State
from bellcrank.result.impact_table import ContactChange
from bellcrank.result.result import Result

if TYPE_CHECKING:
    from bellcrank.impacts.recording import Pieces
    from bellcrank.run.events import Controller, Event

Array = NDArray[np.float64]

STEP = 1e-3
"""Length of a step, over the time in which bodies fall by their own size: a millionth of the size in height."""
FIRST = 20
"""Steps of the first stretch."""
SOON = 10.0
"""A stall within so many lengths of the last stretch makes the next one twice as long."""
NEAR = 2e-6
"""Gap over the unit of length up to which contacts touch after steps, which keep bodies apart to 5e-7 of their size and
let them approach by what they fall in a step."""


class Stretches:
    """Those of one run; taken: Begin and end [s], and why, of those before a run that is gone on with."""

    def __init__(self, contacts: Contacts, taken: Sequence[tuple[float, float, str]] = ()) -> None:
        self.contacts = contacts
        self.length = STEP * min(pair.time for pair in contacts.pairs)
        self.steps, self.end = FIRST, -np.inf
        if taken:
            begin, self.end, _ = taken[-1]
            self.steps = max(FIRST, round((self.end - begin) / self.length))

    def take(
        self,
        whole: Pieces,
        begin: Next,
        why: str,
        times: Array,
        events: Sequence[Event],
        controllers: Sequence[Controller],
    ) -> tuple[Next, bool]:
        """Step over a stretch from where the run is; how it goes on, and whether an event has stopped it."""
        contacts, now = self.contacts, begin.state.t
        soon = now - self.end < SOON * self.steps * self.length
        self.steps = 2 * self.steps if soon else FIRST
        end = min(now + self.steps * self.length, float(times[-1]))
        start = contacts.variant({}, begin.state, begin.p)
        run = SteppedRun(start, self.length, events, controllers)
        wanted = times[(times >= now) & (times <= end)]
        piece = run.go_on(np.unique([now, *wanted, end]), False)
        stopped = piece.run.status == "event"
        self.end = float(piece.time[-1])
        names = sorted(begin.modes) or sorted({r.contact for i in piece.impacts for r in i.contacts})
        reason = f"{why}; contacts {', '.join(map(repr, names))}"
        warnings.warn(
            f"from t = {now:.9g} s to {self.end:.9g} s the run was taken by steps of {self.length:.2g} s: {reason}. "
            "result.run.stepped lists all such stretches.",
            stacklevel=2,
        )
        contacts.records += list(piece.impacts)
        whole.breaks += [_row(piece, 0), _row(piece, -1)]
        kept = np.isin(piece.time, wanted)
        if stopped:
            kept[-1] = True
        report = replace(
            piece.run, method=f"{piece.run.method} for a stretch", stepped=((now, self.end, reason),)
        )
        whole.take(replace(_rows(piece, kept), run=report))
        return self._after(
            State(self.end, piece.q[-1], piece.u[-1]), np.array(piece.parameters[-1]), begin
        ), stopped

    def _after(self, state: State, p: Array, before: Next) -> Next:
        """Followed by events again: what touches strikes or lasts."""
        contacts = self.contacts
        gaps, rates = contacts.approach(state, p)
        touching, slow = [], []
        for pair, gap, rate in zip(contacts.pairs, gaps, rates, strict=True):
            if gap <= NEAR * pair.length:
                touching.append(pair.contact.name)
                # What forces make of a step, and what a bounce that hides has.
                if abs(rate) <= 2.0 * self.length * pair.speed / pair.time + HIDDEN * pair.speed:
                    slow.append(pair.contact.name)
        fast = [name for name in touching if name not in slow]
        after, staying = contacts.strike(state, p, fast) if fast else (state, [])
        after, modes = contacts.settle([*slow, *(n for n in staying if n not in slow)], after, p)
        after, modes = ready(contacts, modes, after, p)
        for name, mode in modes.items():
            was = before.modes.get(name)
            if was is None:
                contacts.changes.append(ContactChange(state.t, name, "rest"))
            elif was.sticking != mode.sticking:
                contacts.changes.append(ContactChange(state.t, name, "stick" if mode.sticking else "slip"))
        contacts.changes += [ContactChange(state.t, n, "release") for n in before.modes if n not in modes]
        return Next(after, p, modes, sampled=True)


def _row(piece: Result, k: int) -> Array:
    """[t, q, u, du, parameters, contact forces] of an output."""
    assert piece.contact_forces is not None
    parts = (piece.time[k : k + 1] if k >= 0 else piece.time[-1:], piece.q[k], piece.u[k], piece.du[k])
    return np.concatenate([*parts, piece.parameters[k], piece.contact_forces[k]])


def _rows(piece: Result, kept: NDArray[np.bool_]) -> Result:
    """Some outputs of a result."""
    assert piece.contact_forces is not None
    names = ("time", "q", "u", "du", "parameters", "contact_forces")
    return replace(piece, **{name: getattr(piece, name)[kept] for name in names})


__all__ = ["Stretches"]
