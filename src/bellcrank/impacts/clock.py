"""Whether a run gets on: changes of contacts, and impacts, that crowd within no time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from bellcrank.mechanics.contacts import ContactPair

STALLED, STALLED_EACH = 1000, 20
"""Changes, and more of them for every contact, that a motion does not have within NO_TIME; a zone of nodes of a
flexible body has about one for every node."""
IMPACTS = 10
"""Times as many impacts: bounces of a ball that hardly loses speed come close."""
NO_TIME = 1e-4
"""Part of the time in which bodies fall by their own size that such changes take where friction makes contacts slip and
stick in turn: a body moves by 1e-8 of its size in it."""


class Clock:
    """The times of the last changes and impacts of a run."""

    def __init__(self, pairs: Sequence[ContactPair]) -> None:
        most = STALLED + STALLED_EACH * len(pairs)
        self.brief = NO_TIME * min(pair.time for pair in pairs)
        self.changes: deque[float] = deque(maxlen=most)
        self.impacts: deque[float] = deque(maxlen=IMPACTS * most)

    def changed(self, now: float) -> bool:
        """Whether, with one more change of contacts at this time, the run does not get on."""
        return self._crowded(self.changes, now)

    def struck(self, now: float) -> bool:
        """Whether, with one more impact at this time, the run does not get on."""
        return self._crowded(self.impacts, now)

    def _crowded(self, times: deque[float], now: float) -> bool:
        times.append(now)
        return len(times) == times.maxlen and now - times[0] < self.brief

    def times(self) -> tuple[list[float], list[float]]:
        """Of the changes and impacts that still count [s], for a run that is gone on with."""
        changes, impacts = (
            [t for t in times if times[-1] - t < self.brief] for times in (self.changes, self.impacts)
        )
        return changes, impacts

    def restore(self, times: Sequence[Sequence[float]]) -> None:
        """Go on from the times of another clock."""
        self.reset()
        for mine, its in zip((self.changes, self.impacts), times, strict=True):
            mine.extend(float(t) for t in its)

    def reset(self) -> None:
        """After a stretch that was taken otherwise."""
        self.changes.clear()
        self.impacts.clear()
