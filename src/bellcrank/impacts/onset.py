"""How contacts begin to last: at rest or set off to slide, and how long they would have bounced."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.contacts import STILL, Contacts
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.lasting import JammedContact, contact_forces
from bellcrank.impacts.modes import BACKWARDS, Mode, Modes
from bellcrank.impacts.solver import delassus
from bellcrank.mechanism import State

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
        if mode is not None and not mode.sticking and pair.contact.friction > 0.0:
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
    return State(state.t, state.q, contacts.impact_program(partition).evaluate(x)[2].copy())


def bouncing_left(contacts: Contacts, name: str, lasting: Collection[str], state: State, p: Array) -> float:
    """How long the bounces go on that follow one too low to be followed [s].

    The flights last 2 v / a, 2 e v / a, ...: together 2 v / (a (1 - e)), a being the approach of the open contact
    while the others last.
    """
    k = contacts.names.index(name)
    e = contacts.pairs[k].contact.restitution
    M, states, u_i, partition = contacts.at(state, p)
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
        mu = [contacts.pairs[i].contact.friction for i in others]
        slip = np.array([states[i].rows[1:] @ u_i + states[i].drift[1:] for i in others])
        none = STILL * np.array([contacts.pairs[i].speed for i in others])
        slip[np.linalg.norm(slip, axis=1) <= none] = 0.0
        try:
            held = contact_forces(W[size:, size:], free[size:], mu, slip, tangents=size - 1)
        except JammedContact:
            return 0.0
        a += float(W[0, size:] @ held.forces)
    return 2.0 * v / (-a * (1.0 - e)) if a < -1e-9 * abs(float(free[0])) else 0.0


__all__ = ["bouncing_left", "ready"]
