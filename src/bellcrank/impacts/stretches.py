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
from bellcrank.integrate import Options
from bellcrank.integrate.run import held_against
from bellcrank.mechanism import State
from bellcrank.result.impact_table import ContactChange
from bellcrank.result.result import Result

if TYPE_CHECKING:
    from bellcrank.impacts.recording import Pieces
    from bellcrank.run.events import Controller, Event

Array = NDArray[np.float64]

STEP = 1e-3
"""Longest step, over the time in which bodies fall by their own size: a millionth of the size in height."""
FIRST = 20
"""Steps of the first stretch."""
SOON = 10.0
"""A stall within so many lengths of the last stretch makes the next one twice as long."""
NEAR = 2e-6
"""Gap over the unit of length up to which contacts touch after steps, which keep bodies apart to 5e-7 of their size and
let them approach by what they fall in a step."""
SHORTENED = 0.9
"""Part of the step that would just do, as in the controllers of the integrators."""
FAR_OFF = 0.1
"""Least factor by which a step is shortened at once: an error so large does not follow its order yet."""


class Stretches:
    """Those of one run.

    options: Of the integrator, whose tolerance the free motion keeps. taken: Begin and end [s], and why, of those
    before a run that is gone on with.
    """

    def __init__(
        self, contacts: Contacts, options: Options, taken: Sequence[tuple[float, float, str]] = ()
    ) -> None:
        self.contacts, self.options = contacts, options
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
        run.length = self._resolved(run)
        wanted = times[(times >= now) & (times <= end)]
        piece = run.go_on(np.unique([now, *wanted, end]), False)
        stopped = piece.run.status == "event"
        self.end = float(piece.time[-1])
        names = sorted(begin.modes) or sorted({r.contact for i in piece.impacts for r in i.contacts})
        reason = f"{why}; contacts {', '.join(map(repr, names))}"
        warnings.warn(
            f"from t = {now:.9g} s to {self.end:.9g} s the run was taken by steps of {run.length:.2g} s: {reason}. "
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
        reached = State(self.end, piece.q[-1], piece.u[-1])
        return self._after(reached, np.array(piece.parameters[-1]), begin, run.length), stopped

    def _resolved(self, run: SteppedRun) -> float:
        """The longest step in which the motion between contacts keeps the tolerance, vibrations of members above all.

        By doubling the step (Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", II.4) with the
        midpoint rule, which the steps are where nothing touches.
        """
        start, p = run.mechanism.start, np.array(run.mechanism.parameter_values)
        given = run.problem(start.q, start.u, start.t, p)
        absolute, lengths = held_against(given.n, self.options, given.scales, given.sizes)
        rates = run.machine.rates
        if not np.isfinite(rates(np.concatenate([[start.t], given.y0, p]))).all():
            return self.length

        def after(h: float, steps: int) -> Array:
            t, y = start.t, given.y0
            for _ in range(steps):
                half = y + 0.5 * h * rates(np.concatenate([[t], y, p]))
                t, y = t + h, y + h * rates(np.concatenate([[t + 0.5 * h], half, p]))
            return y

        h = self.length
        while True:
            with np.errstate(all="ignore"):
                once, twice = after(h, 1), after(0.5 * h, 2)
                farther = np.maximum(np.abs(twice - lengths * given.y0), np.abs(given.y0 * ~lengths))
                error = float(
                    np.sqrt(np.mean(((once - twice) / (absolute + self.options.rtol * farther)) ** 2))
                )
            if error <= 1.0:
                return h
            h *= max(SHORTENED * error ** (-1.0 / 3.0), FAR_OFF) if np.isfinite(error) else FAR_OFF

    def _after(self, state: State, p: Array, before: Next, step: float) -> Next:
        """Followed by events again: what touches strikes or lasts."""
        contacts = self.contacts
        gaps, rates = contacts.approach(state, p)
        touching, slow = [], []
        for pair, gap, rate in zip(contacts.pairs, gaps, rates, strict=True):
            if gap <= NEAR * pair.length:
                touching.append(pair.contact.name)
                # What forces make of a step, and what a bounce that hides has.
                if abs(rate) <= 2.0 * step * pair.speed / pair.time + HIDDEN * pair.speed:
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
