"""Impact times by the queue method of Park et al. (2000), Section 2.3.

The gaps are checked at all multiples of `max_step`; when one is found closed, the polynomial through the last m
checks gives the time of the impact, and the motion is integrated anew from the check before to there.

Differs in: an overlap that begins and ends between two checks, or begins before there are two checks, is seen on the
dense output and struck at the time found there. m = 1 strikes at the check itself: the naive method the paper
compares with.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.contacts import Contacts
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.gaps import Gap
from bellcrank.impacts.impact_queue import ImpactQueue
from bellcrank.impacts.modes import Modes
from bellcrank.impacts.segment import Segment
from bellcrank.integrate import Options, Trajectory, integrate
from bellcrank.integrate.events import CLOCK
from bellcrank.integrate.loop import Change
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanism import Mechanism, State
from bellcrank.program.trace import Scalar, function
from bellcrank.result.result import Result
from bellcrank.run.events import Controller, Event, StateEvent

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Check:
    """The state at a check, the gaps [m] there, and their rates [m/s]."""

    state: State
    p: Array
    gaps: Array
    speeds: Array


class CheckTime(StateEvent):
    """The times at which gaps are checked."""

    def __post_init__(self) -> None:
        assert self.direction == CLOCK


class QueueSegment(Segment):
    """A stretch of a run whose impacts are located by queues."""

    def __init__(
        self,
        contacts: Contacts,
        modes: Modes,
        variant: Mechanism,
        integrator: str,
        events: Sequence[Event],
        controllers: Sequence[Controller],
        size: int,
        options: Options,
    ) -> None:
        self.size, self.options = size, options
        super().__init__(contacts, modes, variant, integrator, events, controllers)
        self.queues = [ImpactQueue(max(size, 2)) for _ in contacts.pairs]
        self.before: Check | None = None
        self.seen: tuple[State, Array, list[str]] | None = None
        self.cut: float | None = None
        self.again = 0
        self._due(variant.start, np.array(variant.parameter_values))

    def _more_events(self) -> list[Event]:
        turn = math.pi / self.options.max_step

        def wave(kin: Kinematics, t: Scalar) -> Scalar:
            return function("sin", turn * t)

        return [CheckTime("check", direction=CLOCK, trace=wave)]

    def _watched_key(self) -> Hashable:
        return ("checks", self.options.max_step)

    def _on_event(self, t: float, y: Array, hits: tuple[int, ...], p: Array) -> Change | None:
        gaps = [i for i in hits if isinstance(self.events[i], Gap)]
        checks = [i for i in hits if isinstance(self.events[i], CheckTime)]
        if gaps and self.seen is None:
            self._see(t, y, p, {self.events[i].name for i in gaps})
        others = tuple(i for i in hits if i not in gaps and i not in checks)
        change = super()._on_event(t, y, others, p) if others else None
        if checks and change is None:
            found = self._due(self.full_state(self.machine, t, y, p), p)
            if found is not None:
                return self._strike(*found)
        return change

    def _see(self, t: float, y: Array, p: Array, names: set[str]) -> None:
        """Note what closes; right after an impact rounding closes gaps that are opening."""
        state = self.full_state(self.machine, t, y, p)
        _, speeds = self.contacts.approach(state, p)
        closing = [
            n for n, speed in zip(self.contacts.names, speeds, strict=True) if n in names and speed < 0.0
        ]
        if closing:
            self.seen = state, p.copy(), closing

    def _due(self, state: State, p: Array) -> tuple[State, Array, list[str]] | None:
        """A check; state, parameters and contacts of the impact since the one before, if there was any."""
        t, before = state.t, self.before
        if before is not None and t <= before.state.t:
            return None
        gaps, speeds = self.contacts.approach(state, p)
        self.before = Check(state, p.copy(), gaps, speeds)
        found: dict[str, float] = {}
        for k, name in enumerate(self.contacts.names):
            if name in self.modes:
                continue
            hit = self.queues[k].check(t, gaps[k], speeds[k])
            inside = gaps[k] <= 0.0 and speeds[k] < 0.0
            if (
                hit is not None
                and before is not None
                and before.speeds[k] >= 0.0
                and len(self.queues[k].pairs) == 2
            ):
                # Two checks of a body that flew up in between say nothing of when it came down.
                hit = None
            if inside and before is not None and (self.size == 1 or hit is None):
                found[name] = t if self.size == 1 else self._seen_at(name, t)
            elif hit is not None:
                found[name] = hit
        if not found:
            return self.seen
        first = min(found.values())
        names = [n for n, at in found.items() if at <= first + 1e-12 * max(self.options.max_step, abs(first))]
        if self.seen is not None and first == self.seen[0].t:
            return self.seen
        return (*((state, p) if first >= t else self._integrated(before, first)), names)

    def _seen_at(self, name: str, t: float) -> float:
        return self.seen[0].t if self.seen is not None and name in self.seen[2] else t

    def _integrated(self, before: Check | None, t: float) -> tuple[State, Array]:
        """State and parameters at t, integrated anew from the check before."""
        assert before is not None
        state, p = before.state, before.p.copy()
        problem = self.problem(state.q, state.u, state.t, p)
        problem = replace(problem, events=0, directions=(), terminal=(), event_names=(), standing=())
        trajectory = integrate(problem, self.integrator, [t], self.options)
        self.again += trajectory.evaluations
        return self.full_state(self.machine, t, trajectory.y[-1], p), p

    def final_outputs(self, times: Array) -> int:
        """Those up to the last check."""
        return 0 if self.before is None else int(np.searchsorted(times, self.before.state.t, side="right"))

    def _strike(self, state: State, p: Array, names: Sequence[str]) -> Change:
        """Strike, and end the segment: outputs after the impact are computed anew."""
        self.cut = state.t
        self.breaks.append(self.row(state.t, self.machine.pack(state.q, state.u), p))
        try:
            after, staying = self.contacts.strike(state, p, names)
            after, modes = self.contacts.settle(staying, after, p)
            self.go_on(after, p, modes)
        except ContactError as error:
            self.failure = error
        return Change(None, None, True)

    def _result(self, trajectory: Trajectory, seconds: float) -> Result:
        result = super()._result(trajectory, seconds)
        run = replace(result.run, evaluations=result.run.evaluations + self.again)
        if self.cut is None:
            return replace(result, run=run)
        keep = result.time <= self.cut
        rows = {
            key: getattr(result, key)[keep]
            for key in ("time", "q", "u", "du", "parameters", "contact_forces")
        }
        events = tuple(e for e in result.events if e.time <= self.cut)
        return replace(result, run=run, events=events, **rows)
