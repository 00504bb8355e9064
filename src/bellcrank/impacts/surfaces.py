"""Contacts with surfaces of data in runs with impacts: what becomes of them where their points are looked for anew.

A search may put a contact at another place of the surface. Its gap jumps there, which is no impact: only where the new
place is closed already does it strike. A contact that lasts keeps its place; where the search has found another for it
the run goes on in another segment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.source import Source, leader
from bellcrank.contact.uncarried import NEAR
from bellcrank.impacts.checks import TOUCHING
from bellcrank.impacts.errors import ContactError
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism import Mechanism, State
from bellcrank.run.events import Event
from bellcrank.run.tracking import Tracker, trackers

Array = NDArray[np.float64]
Approach = Callable[[State, Array], tuple[Array, Array]]


def searches(event: Event) -> bool:
    """Whether an event looks for contact points anew, and does nothing else."""
    return event.revise is not None and not event.recorded


@dataclass(frozen=True)
class Elsewhere:
    """Contacts that a search has put at other places of their surfaces.

    moved: All of them. passed: Those among them that lasted. struck: Those that are closed and approach there.
    """

    moved: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    struck: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Surfaces:
    """The contacts of a mechanism with surfaces of data, in the impulsive treatment.

    near: For all its contacts, the gap within which they touch [m].
    """

    trackers: tuple[Tracker, ...]
    near: Mapping[str, float]

    @staticmethod
    def of(base: Mechanism, pairs: Sequence[ContactPair]) -> Surfaces:
        """Those of a mechanism, among all its contacts."""
        near = {pair.contact.name: TOUCHING * pair.length for pair in pairs}
        mine = tuple(t for t in trackers(base) if t.contacts[0].name in near)
        return Surfaces(mine, near)

    def search(self, state: State, p: Array) -> None:
        """All contact points anew, into the parameters."""
        for tracker in self.trackers:
            tracker.search(state, p)

    def elsewhere(
        self, lasting: Collection[str], state: State, before: Array, after: Array, approach: Approach
    ) -> Elsewhere:
        """What a search has changed; `after`, its parameters, are put in order: what lasts stays in its slot.

        before: The parameters before it. approach: Gaps and their rates of all contacts.
        """
        moved: list[str] = []
        for tracker in self.trackers:
            names = [contact.name for contact in tracker.contacts]
            _put_back(
                tracker, sorted(range(len(names)), key=lambda k: names[k] not in lasting), before, after
            )
            moved += [name for k, name in enumerate(names) if not _same(tracker, k, before, after)]
        if not moved:
            return Elsewhere()
        gaps, rates = (dict(zip(self.near, x.tolist(), strict=True)) for x in approach(state, after))
        passed = [name for name in moved if name in lasting]
        for tracker in self.trackers:
            points = len(tracker.contacts)
            for contact in tracker.contacts:
                gap = gaps[contact.name]
                near = self.near[contact.name]
                if contact.name in passed and gap < (near if points == 1 else -near):
                    why = (
                        f"it touches at {'one place' if points == 1 else f'{points} places'} and at another; "
                        f"give it points={points + 1} or more."
                    )
                    raise ContactError(state.t, (tracker.name,), why)
        struck = [name for name in moved if name not in lasting and gaps[name] <= 0.0 and rates[name] < 0.0]
        return Elsewhere(tuple(moved), tuple(passed), tuple(struck))


def _put_back(tracker: Tracker, order: Sequence[int], before: Array, after: Array) -> None:
    """Let points have the slots they were in; of two that want one the first in order."""
    free = list(order)
    for k in order:
        ways = [(_way(tracker, k, before, j, after), j != k, j) for j in free]
        least, other, j = min(ways)
        if least <= _near(tracker) or not other:
            if other:
                tracker.exchange(j, k, after)
            free.remove(k)


def _near(tracker: Tracker) -> float:
    """Contact points closer than this are one [m]."""
    source = tracker.shapes[leader(*tracker.shapes)]
    assert isinstance(source, Source)
    return NEAR * source.spacing


def _way(tracker: Tracker, j: int, before: Array, k: int, after: Array) -> float:
    """From the place of one slot to that of another [m]."""
    x, y = tracker.place(j, before), tracker.place(k, after)
    return np.inf if x is None or y is None else float(np.linalg.norm(x - y))


def _same(tracker: Tracker, k: int, before: Array, after: Array) -> bool:
    """Whether a slot holds the same place as before, or none as before; points that are held stay where they are."""
    x, y, slot = tracker.place(k, before), tracker.place(k, after), tracker.slots[k]
    if x is None or y is None:
        return x is None and y is None
    held = before[slot.hold[0]] < 0.5 and after[slot.hold[0]] < 0.5
    return bool(np.array_equal(x, y)) if held else _way(tracker, k, before, k, after) <= _near(tracker)


__all__ = ["Elsewhere", "Surfaces", "searches"]
