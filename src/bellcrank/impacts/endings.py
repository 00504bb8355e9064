"""What becomes of lasting contacts that let go, slip or stick."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.modes import Mode
from bellcrank.mechanism import State

if TYPE_CHECKING:
    from bellcrank.impacts.segment import Segment

Array = NDArray[np.float64]

MOMENTS = (1e-6, 1e-5, 1e-4)
"""How far ahead it may show which of the contacts that share let go or slip, over the unit of time."""
SLIGHT = 1e-2
"""Part of a slip by which it may change in such a moment, and of the first moment below which it is not shortened."""
NEARLY = 1e-7
"""Longest time to the end of slip without a heading from where it is near, over the unit of time."""


def _stopped(segment: Segment, state: State, ended: Sequence[tuple[str, str]], p: Array) -> list[str]:
    """Contacts whose slip has come to its end; slip in space that has only turned goes on with another heading."""
    names = [name for name, what in ended if what == "stick"]
    if segment.contacts.tangents == 1 or not names:
        return names
    found = [name for name in names if name not in segment.contacts.headings]
    return found + _unresolved(segment, state, [name for name in names if name not in found], p)


def _unresolved(segment: Segment, state: State, names: Iterable[str], p: Array) -> list[str]:
    """Those of these contacts of whose slip the direction is not known."""
    found = []
    _, states, u_i, _ = segment.contacts.at(state, p)
    for name in names:
        k = segment.contacts.names.index(name)
        slip = states[k].rows[1:] @ u_i + states[k].drift[1:]
        if np.linalg.norm(slip) <= segment.contacts.unresolved(k, states[k], u_i):
            found.append(name)
    return found


def _at_rest(segment: Segment, state: State, stopped: Sequence[str], p: Array) -> State:
    """With the speeds at the end of slip that has no heading: it is watched at a speed that is not quite zero."""
    stopped = [name for name in stopped if name not in segment.contacts.headings]
    if not stopped or segment.contacts.tangents == 1:
        return state
    forces = segment.lasting()
    number = [pair.contact.name for pair in forces.pairs].index(stopped[0])
    near = NEARLY * forces.pairs[number].time
    y = segment.machine.pack(state.q, state.u)
    rates = segment.rates(np.concatenate([[state.t], y, p]))[: len(y)]
    slips = [
        forces.at(np.concatenate([[state.t + dt], y + dt * rates, p]))[number][1].copy() for dt in (0.0, near)
    ]
    change = (slips[1] - slips[0]) / near
    left = -float(slips[0] @ change) / max(float(change @ change), 1e-300)
    if not 0.0 < left < near:
        return state
    # Positions stay with the clock: what they would gain they gain afterwards.
    return State(state.t, state.q, segment.full_state(segment.machine, state.t, y + left * rates, p).u)


def ahead_of(segment: Segment, t: float, y: Array, p: Array) -> State:
    """The state a moment later, as the present contacts have it; the first at which something has changed."""
    rates = segment.rates(np.concatenate([[t], y, p]))[: len(y)]
    unit = min(pair.time for pair in segment.contacts.pairs if pair.contact.name in segment.modes)
    # Not so far that slip which is about to end turns round.
    first, last = MOMENTS[0] * unit, _turning(segment, t, y, rates, p, MOMENTS[0] * unit)
    for moment in (min(unit * part, max(first * SLIGHT, last)) for part in MOMENTS):
        ahead = segment.full_state(segment.machine, t + moment, y + moment * rates, p)
        if not segment.contacts.lasts(segment.modes, ahead, p):
            break
    return ahead


def _turning(segment: Segment, t: float, y: Array, rates: Array, p: Array, moment: float) -> float:
    """A time in which no slip that the run knows changes by much [s]."""
    contacts, forces = segment.contacts, segment.lasting()
    if contacts.tangents == 1:
        return np.inf
    state = segment.full_state(segment.machine, t, y, p)
    unknown = _unresolved(segment, state, segment.modes, p)
    here, there = (
        {pair.contact.name: slip for pair, (_, slip) in zip(forces.pairs, forces.at(x), strict=True)}
        for x in (np.concatenate([[t + dt], y + dt * rates, p]) for dt in (0.0, moment))
    )
    left = [
        moment * float(np.linalg.norm(here[n])) / max(float(np.linalg.norm(there[n] - here[n])), 1e-300)
        for n, mode in segment.modes.items()
        if not mode.sticking and n not in unknown
    ]
    return SLIGHT * min(left, default=np.inf)


def changed(
    segment: Segment, state: State, ended: Sequence[tuple[str, str]], p: Array, ahead: State | None = None
) -> tuple[State, dict[str, Mode]]:
    """State and modes after contacts let go, slip or stick."""
    modes = dict(segment.modes)
    state = _at_rest(segment, state, [name for name, what in ended if what == "stick"], p)
    if ahead is not None:
        # At the instant itself the forces that vanish do not show whether others take over.
        still = [name for name, what in ended if what in ("slip", "stick")]
        still += [name for name, mode in modes.items() if mode.sticking]
        if segment.contacts.tangents == 2:
            still += _unresolved(segment, state, modes, p)
        after, settled = segment.contacts.settle(list(modes), ahead, p, still)
        if after is not ahead:
            return replace(after, t=state.t), settled
        if segment.contacts.tangents == 2:
            return state, settled
        # The forces alone decide what lets go; what slips depends on how contacts share the load.
        return state, settled if len(settled) < len(modes) else modes
    if any(what == "release" and not segment.modes[name].sticking for name, what in ended):
        # The force of a contact that slides also changes its sign where it has grown beyond all bounds.
        after, settled = segment.contacts.settle(list(modes), state, p)
        if after is not state:
            return after, settled
    for name, what in ended:
        if what == "release":
            modes.pop(name, None)
        elif what == "slip":
            forces = segment.lasting()
            x = np.concatenate([[state.t], state.q, state.u[list(segment.machine.partition.independent)], p])
            at = {pair.contact.name: f for pair, (f, _) in zip(forces.pairs, forces.at(x), strict=True)}
            away = -at[name][1:] / np.linalg.norm(at[name][1:])
            toward = tuple(float(x) for x in away) if len(away) > 1 else ()
            modes[name] = Mode(False, -1.0 if at[name][1] > 0.0 else 1.0, toward=toward)
    stopped = [name for name in _stopped(segment, state, ended, p) if name in modes]
    if stopped:
        state, settled = segment.contacts.settle(list(modes), state, p, stopped)
        modes |= settled
    return state, modes


__all__ = ["ahead_of", "changed"]
