"""One strike after another, compiled: the contact that approaches fastest is struck alone, by Routh's process."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.routh import (
    FRICTION,
    LAW,
    RESTITUTION,
    ROWS,
    SLIPPED,
    STRONGE,
    Process,
    carry_through,
    room,
)
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, compiled, entry
from bellcrank.program.loops.entry import Bound

Array = NDArray[np.float64]

TIE = 1e-6
"""Contacts whose approach differs by less than this share are struck at once: speeds are known to the tolerance of a
run and to what has become of it since, so that what is symmetric stays so."""
ROUNDING = 1e-13
"""Gain of energy, over the work of the impulses, that is rounding."""
STRIKES = 100
"""Strikes per contact after which approaches slower than SLOW of the first meet plastically. A ball between a wall and
one a thousand times as heavy is done within them, pi sqrt(1000)."""
SLOW = 1e-6
"""The energy of such an approach is 1e-12 of that of the first, its square: less than the ledger of a run shows."""
MOST_STRIKES = 5_000
"""Most strikes per contact. A ball between a wall and one m times as heavy takes pi sqrt(m) of them; where these are
not enough, what still approaches meets plastically, and the impact says so."""
LOGGED = 1024
"""Strikes that are kept in compiled code before they are read."""
IMMOVABLE = 1e-14
"""Mobility, over the largest, that is none."""

NUMBER, LOG, CONTACT, COUNTS = range(4)
"""Strikes so far, those kept, and the contact that cannot be struck."""
_rooms = threading.local()
FIRST, RESTING, FELT, SIZES = range(4)
"""The first approach, that which is none [m/s], and mobility between contacts that do not feel each other [1/kg]."""
ENDED, TIED, ENDLESS, SLOWED, PRESSED, LOCKED, JAMMED, FULL = range(8)
"""Why the strikes stop: none approaches; some approach alike that feel each other; there are too many; what is left is
slow; one that has met without restitution is pressed again; a contact cannot be moved; friction does not let one part;
the log is full."""


class Strikes(NamedTuple):
    """An impact of many contacts, `rows` rows each: W, velocities so far, coefficients, impulses so far.

    limited: Contacts at which energy limited restitution. met: Contacts that have been struck. log: Contact and what
    the slip did, strike by strike.
    """

    W: Reals2
    v: Reals
    restitution: Reals
    friction: Reals
    p: Reals
    sizes: Reals
    counts: Ints
    limited: Ints
    met: Ints
    log: Ints2
    one: Process


def room_for(contacts: int, rows: int) -> Strikes:
    """Arrays for so many contacts."""
    n, whole = rows * contacts, np.int64
    return Strikes(
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(contacts),
        np.zeros(contacts),
        np.zeros(n),
        np.zeros(SIZES),
        np.zeros(COUNTS, whole),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros((LOGGED, 2), whole),
        room(),
    )


def sequence_of(W: Array, v: Array, restitution: Array, friction: Array, rows: int, law: int) -> Bound:
    """An impact about to begin, whose arrays each thread uses again for the next one of as many contacts."""
    known: dict[tuple[int, int], Bound] = _rooms.__dict__.setdefault("known", {})
    key = len(restitution), rows
    if key not in known:
        known[key] = strike_on.bound(room_for(*key))
    g: Strikes = known[key].arguments[0]
    g.W[:], g.v[:], g.restitution[:], g.friction[:] = W, v, restitution, friction
    for array in (g.p, g.sizes, g.counts, g.limited, g.met, *g.one):
        array.fill(0)
    g.sizes[RESTING] = 1e-12 * float(np.abs(g.v).max(initial=0.0))
    g.sizes[FELT] = 1e-13 * float(np.diagonal(g.W).max(initial=0.0))
    g.one.flags[LAW], g.one.flags[ROWS] = law, rows
    return known[key]


@compiled
def feel(g: Strikes, i: int, j: int) -> bool:
    """Whether two contacts feel each other."""
    rows = g.one.flags[ROWS]
    for a in range(rows):
        for b in range(rows):
            if abs(g.W[rows * i + a, rows * j + b]) > g.sizes[FELT]:
                return True
    return False


@compiled
def gained(g: Process) -> float:
    """Kinetic energy gained by the impulse over the work against it; v is that after it."""
    energy, against = 0.0, 0.0
    for k in range(3):
        more = 0.0
        for j in range(3):
            more += g.W[k, j] * g.p[j]
        energy += g.p[k] * (g.v[k] - 0.5 * more)
        against += g.p[k] * (g.v[k] - more)
    return energy / max(abs(against), 1e-300)


@compiled
def load(g: Strikes, i: int) -> None:
    """A contact as one impact."""
    rows = g.one.flags[ROWS]
    for a in range(rows):
        g.one.v[a] = g.v[rows * i + a]
        for b in range(rows):
            g.one.W[a, b] = g.W[rows * i + a, rows * i + b]
    g.one.numbers[RESTITUTION], g.one.numbers[FRICTION] = g.restitution[i], g.friction[i]


@compiled
def strike_alone(g: Strikes, i: int) -> bool:
    """One contact; where the law with friction would raise the energy, Stronge's. False where it does not end."""
    rows, law = g.one.flags[ROWS], g.one.flags[LAW]
    load(g, i)
    if not carry_through(g.one):
        return False
    if g.friction[i] > 0.0 and law != STRONGE and gained(g.one) > ROUNDING:
        load(g, i)
        g.one.flags[LAW] = STRONGE
        ends = carry_through(g.one)
        g.one.flags[LAW] = law
        if not ends:
            return False
        g.limited[i] = 1
    for a in range(rows):
        g.p[rows * i + a] += g.one.p[a]
    for k in range(len(g.v)):
        for a in range(rows):
            g.v[k] += g.W[k, rows * i + a] * g.one.p[a]
    g.log[g.counts[LOG], 0] = i
    g.log[g.counts[LOG], 1] = g.one.flags[SLIPPED]
    g.counts[LOG] += 1
    return True


@entry
def strike_on(g: Strikes) -> int:
    """Strike as long as contacts approach, and why it stops."""
    rows, m = g.one.flags[ROWS], len(g.restitution)
    largest, bouncing = 1e-300, 0.0
    for k in range(len(g.v)):
        largest = max(largest, g.W[k, k])
    for i in range(m):
        bouncing = max(bouncing, g.restitution[i])
    while True:
        fastest = 0.0
        for i in range(m):
            fastest = min(fastest, g.v[rows * i])
        if not fastest < -g.sizes[RESTING]:
            return ENDED
        g.sizes[FIRST] = min(g.sizes[FIRST], fastest)
        if g.counts[NUMBER] >= MOST_STRIKES * m:
            return ENDLESS
        if g.counts[NUMBER] >= STRIKES * m and fastest > SLOW * g.sizes[FIRST]:
            return SLOWED
        if g.counts[LOG] + m > LOGGED:
            return FULL
        alike = fastest * (1.0 - TIE)
        for i in range(m):
            if g.v[rows * i] <= alike:
                if bouncing == 0.0 and g.met[i] == 1:
                    return PRESSED
                if g.W[rows * i, rows * i] <= IMMOVABLE * largest:
                    g.counts[CONTACT] = i
                    return LOCKED
                for j in range(i):
                    if g.v[rows * j] <= alike and feel(g, i, j):
                        return TIED
        g.counts[NUMBER] += 1
        for i in range(m):
            # Those that do not feel each other keep their speeds.
            if g.v[rows * i] <= alike:
                g.met[i] = 1
                if not strike_alone(g, i):
                    g.counts[CONTACT] = i
                    return JAMMED
    return ENDED
