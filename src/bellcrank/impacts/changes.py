"""When contacts of a run by steps begin to last, stick, slip and are let go, compiled.

A contact lasts where it bears without a strike; it sticks where its impulse lies inside Coulomb's cone, and slips
where it lies on it. Points of two colliding bodies count together: they stick where one of them does. A change counts
when it holds for two steps, from the first of them on; what comes and goes within one is the noise of impulses that
others can bear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Ints, Ints2, Reals, Records, compiled

APART, SLIPS, STICKS = range(3)
"""States of a contact."""
_KEY, _NUMBER, _A, _B, _STATE, _WANTED, _WIDTH = range(7)
KNOWN, LOGGED, _COUNTS = range(3)
NAMES = "release", "slip", "stick", "rest"
"""What a change is called: the state that begins, or that it begins to last."""
REST = 3


class Change(NamedTuple):
    """What a contact began to do, and when [s]. number: Of the contact of the model, or -1. a, b: Colliders."""

    time: float
    number: int
    a: int
    b: int
    what: int


class Changes(NamedTuple):
    """Contacts that last, or did a step ago.

    known: Key, number and colliders of each, its state and the one it had in the last step. since: When that began [s].
    now: Its state in this step. table: A hash table of them, -1 where empty. slots: Where they are in it. log: Changes
    not read yet.
    """

    counts: Ints
    known: Ints2
    since: Reals
    now: Ints
    table: Ints
    slots: Ints
    log: Records[Change]


def changes_of(contacts: int, room: int) -> Changes:
    """Room for the changes of so many contacts, and `room` more of them in the log."""
    # Those that bear in this step, and those that did in the two before.
    most = 3 * contacts
    return Changes(
        np.zeros(_COUNTS, np.int64),
        np.zeros((most, _WIDTH), np.int64),
        np.zeros(most),
        np.zeros(most, np.int64),
        np.full(3 * most + 7 | 1, -1, np.int64),
        np.zeros(most, np.int64),
        Records.empty(Change, room + most),
    )


@compiled
def place_of(w: Changes, key: int) -> int:
    """Where in the hash table a key is, or the empty place where it belongs."""
    size = len(w.table)
    # A multiplier near the golden part of the size spreads keys that follow each other.
    at = key % size * 40503 % size
    while w.table[at] >= 0 and w.known[w.table[at], _KEY] != key:
        at = (at + 1) % size
    return at


@compiled
def see_contact(w: Changes, key: int, number: int, a: int, b: int, state: int) -> None:
    """A point of a contact in this step; those of one key count together."""
    slot = place_of(w, key)
    k = w.table[slot]
    if k < 0:
        if state == APART:
            return
        k = w.counts[KNOWN]
        w.counts[KNOWN] += 1
        w.table[slot], w.slots[k] = k, slot
        w.known[k, _KEY], w.known[k, _NUMBER], w.known[k, _A], w.known[k, _B] = key, number, a, b
        w.known[k, _STATE], w.known[k, _WANTED] = APART, APART
        w.now[k] = APART
    w.now[k] = max(w.now[k], state)


@compiled
def log_change(w: Changes, k: int, what: int) -> None:
    """Write down what a contact began to do."""
    w.log[w.counts[LOGGED]] = Change(w.since[k], w.known[k, _NUMBER], w.known[k, _A], w.known[k, _B], what)
    w.counts[LOGGED] += 1


@compiled
def end_step(w: Changes, time: float) -> None:
    """Compare with the step before; time: When this step began [s]."""
    for k in range(w.counts[KNOWN]):
        w.table[w.slots[k]] = -1
    kept = 0
    for k in range(w.counts[KNOWN]):
        state, now = w.known[k, _STATE], w.now[k]
        if now != state and now == w.known[k, _WANTED]:
            what = now
            if state == APART:
                what = REST
            log_change(w, k, what)
            state = now
        elif now != w.known[k, _WANTED]:
            w.since[k] = time
        if state == APART and now == APART:
            continue
        for i in range(_STATE):
            w.known[kept, i] = w.known[k, i]
        w.known[kept, _STATE], w.known[kept, _WANTED] = state, now
        w.since[kept], w.now[kept] = w.since[k], APART
        kept += 1
    w.counts[KNOWN] = kept
    for k in range(kept):
        slot = place_of(w, w.known[k, _KEY])
        w.table[slot], w.slots[k] = k, slot


def carry_on(
    w: Changes, known: NDArray[np.int64], since: NDArray[np.float64], now: NDArray[np.int64]
) -> None:
    """Take the contacts that last from arrays of another size."""
    count = w.counts[KNOWN] = len(known)
    w.known[:count], w.since[:count], w.now[:count] = known, since, now
    for k in range(count):
        slot = place_of(w, int(w.known[k, _KEY]))
        w.table[slot], w.slots[k] = k, slot


__all__ = [
    "APART",
    "KNOWN",
    "LOGGED",
    "NAMES",
    "SLIPS",
    "STICKS",
    "Change",
    "Changes",
    "carry_on",
    "changes_of",
    "end_step",
    "see_contact",
]
