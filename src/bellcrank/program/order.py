"""The order of steps in which few values are alive at a time, so that most of them stay in registers."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TypeVar

from bellcrank.program.step import Pair, Step

Unit = TypeVar("Unit", Step, Step | Pair)


def few_live(units: Sequence[Unit]) -> list[Unit]:
    """The same steps; of those that could come next, always one that ends the most values.

    Where several end as many, the natural order decides, which already holds few values alive.
    """
    maker = {o: k for k, unit in enumerate(units) for o in unit.outs if o >= 0}
    needs = [sorted({maker[a] for a in unit.reads() if a in maker}) for unit in units]
    users: list[list[int]] = [[] for _ in units]
    for k, made in enumerate(needs):
        for m in made:
            users[m].append(k)
    left = [len(u) for u in users]
    waiting = [len(m) for m in needs]
    ends = [0] * len(units)
    for k, count in enumerate(left):
        if count == 1:
            ends[users[k][0]] += 1
    done = [False] * len(units)
    ready = [(bool(users[k]) - ends[k], k) for k, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order: list[Unit] = []
    while ready:
        rank, k = heapq.heappop(ready)
        if done[k] or rank != bool(users[k]) - ends[k]:
            continue  # entered again with another rank since
        done[k] = True
        order.append(units[k])
        for m in needs[k]:
            left[m] -= 1
            if left[m] == 1:
                last = next(u for u in users[m] if not done[u])
                ends[last] += 1
                if waiting[last] == 0:
                    heapq.heappush(ready, (bool(users[last]) - ends[last], last))
        for u in users[k]:
            waiting[u] -= 1
            if waiting[u] == 0:
                heapq.heappush(ready, (bool(users[u]) - ends[u], u))
    return order
