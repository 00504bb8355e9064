"""Transitions of lasting contacts: how they begin, at rest or sliding, and how they let go, slip or stick."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.contacts import STILL, Contacts
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.lasting import JammedContact, contact_forces
from bellcrank.impacts.modes import BACKWARDS, Mode, Modes
from bellcrank.impacts.solver import delassus
from bellcrank.mechanism import State

if TYPE_CHECKING:
    from bellcrank.impacts.segment import Segment

Array = NDArray[np.float64]

SETTING_OFF = 2.0
"""Slip with which sliding in space begins, so that the run knows its direction: times the error of slip."""
TURNS = 4
"""Times that contacts may be found to slide the other way before they are given up."""


def ready(
    contacts: Contacts, modes: Modes, state: State, p: Array, ahead: State | None = None
) -> tuple[State, dict[str, Mode]]:
    """State and modes with which a segment begins: at rest or set off, and shared what is borne.

    ahead: Just after it, where it shows better which of them bear. p: Takes the headings of contacts that slide.
    """
    for _ in range(TURNS):
        begun, found = _ready(contacts, modes, state, p, ahead)
        backwards = _backwards(contacts, found, begun, p)
        if not backwards:
            return begun, found
        # The slip was that of a bounce which is over now: without it they slide the other way, or stick.
        state, modes = contacts.settle(list(modes), begun, p)
    why = "the direction in which it slides is not defined."
    raise ContactError(state.t, tuple(backwards), why)


def _backwards(contacts: Contacts, modes: Modes, state: State, p: Array) -> list[str]:
    """Contacts in the plane that slide against the sign they are said to slide with."""
    if contacts.tangents == 2 or all(mode.sticking for mode in modes.values()):
        return []
    _, states, u_i, _ = contacts.at(state, p)
    found = []
    for pair, s in zip(contacts.pairs, states, strict=True):
        mode = modes.get(pair.contact.name)
        if mode is not None and not mode.sticking and pair.contact.rubs:
            slip = float(s.rows[1] @ u_i + s.drift[1])
            if mode.slip * slip < -0.5 * BACKWARDS * pair.speed:
                found.append(pair.contact.name)
    return found


def _ready(
    contacts: Contacts, modes: Modes, state: State, p: Array, ahead: State | None
) -> tuple[State, dict[str, Mode]]:
    state = _set_off(contacts, modes, state, p)
    contacts.head(modes, state, p)
    seen = state if ahead is None else _set_off(contacts, modes, ahead, p)
    under_way = {name: replace(mode, toward=()) for name, mode in modes.items()}
    shared = contacts.shared(under_way, seen, p)
    state = _set_off(contacts, shared, state, p)
    contacts.head(shared, state, p)
    return state, {name: replace(mode, toward=()) for name, mode in shared.items()}


def _set_off(contacts: Contacts, modes: Modes, state: State, p: Array) -> State:
    """The state in which contacts rest against each other, and those that begin to slide in space have a slip.

    What bounces and slips are left, too small to matter, impulses take away, by the masses.
    """
    if not modes:
        return state
    M, states, u_i, partition = contacts.at(state, p)
    rows, change = [], list[float]()
    for k, name in enumerate(contacts.names):
        if name in modes:
            mode = modes[name]
            held = states[k].rows if mode.sticking or mode.toward else states[k].rows[:1]
            rows.append(held)
            slow = SETTING_OFF * contacts.resolution(k, states[k], u_i)
            wanted = [0.0, *(slow * x for x in mode.toward)] if mode.toward else [0.0] * len(held)
            change += (np.array(wanted) - held @ u_i - states[k].drift[: len(held)]).tolist()
    if not any(change):
        return state
    J = np.vstack(rows)
    inverse = np.linalg.solve(M, J.T)
    u_i = u_i + inverse @ np.linalg.lstsq(J @ inverse, np.array(change), rcond=1e-12)[0]
    x = np.concatenate([[state.t], state.q, u_i, p])
    return State(state.t, state.q, contacts.impact_program(partition).evaluate(x).speeds.copy())


def bouncing_left(contacts: Contacts, name: str, lasting: Collection[str], state: State, p: Array) -> float:
    """How long the bounces go on that follow one too low to be followed [s].

    The flights last 2 v / a, 2 e v / a, ...: together 2 v / (a (1 - e)), a being the approach of the open contact
    while the others last.
    """
    k = contacts.names.index(name)
    now, u_i, partition = contacts.instant(state, p)
    M, states, e = now.M, now.contacts, float(now.restitution[k])
    v = float(states[k].rows[0] @ u_i + states[k].drift[0])
    if v <= 0.0 or e >= 1.0:
        return 0.0
    others = [i for i, n in enumerate(contacts.names) if n in lasting and n != name]
    rows = [k, *others]
    free = contacts.free(state, p, partition, u_i, rows)
    size = 1 + contacts.tangents
    a = float(free[0])
    if others:
        W = delassus(M, [states[i].rows for i in rows])
        mu = now.friction[others]
        slip = np.array([states[i].rows[1:] @ u_i + states[i].drift[1:] for i in others])
        none = STILL * np.array([contacts.pairs[i].speed for i in others])
        slip[np.linalg.norm(slip, axis=1) <= none] = 0.0
        try:
            held = contact_forces(W[size:, size:], free[size:], mu, slip, tangents=size - 1)
        except JammedContact:
            return 0.0
        a += float(W[0, size:] @ held.forces)
    return 2.0 * v / (-a * (1.0 - e)) if a < -1e-9 * abs(float(free[0])) else 0.0


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


__all__ = ["ahead_of", "bouncing_left", "changed", "ready"]
