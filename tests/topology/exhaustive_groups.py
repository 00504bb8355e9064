"""The grouping of paper D as it is written: all bipartitions, all subsets (section 3.3, steps 1 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Constraints = Sequence[tuple[int, frozenset[int]]]


def exhaustive_groups(
    coordinates: Sequence[int], constraints: Constraints, largest_removal: int | None = None
) -> set[tuple[frozenset[int], frozenset[int]]]:
    """Groups as (links, constraints); removals of up to `largest_removal` links at once are tried."""
    touched = frozenset().union(*(links for _, links in constraints))
    alone = {(frozenset({i}), frozenset[int]()) for i in range(len(coordinates)) if i not in touched}
    rows = frozenset(range(len(constraints)))
    return alone | _divide(coordinates, constraints, touched, rows, largest_removal)


def _divide(coordinates, constraints, links, rows, largest):  # type: ignore[no-untyped-def]
    if not links:
        return set()
    if (halves := _bipartition(coordinates, constraints, links, rows, positive=False)) is not None:
        return set().union(*(_divide(coordinates, constraints, *half, largest) for half in halves))
    for size in range(1, min(len(links) - 1, largest or len(links)) + 1):
        for removed in combinations(sorted(links), size):
            left = links.difference(removed)
            halves = _bipartition(coordinates, constraints, left, rows, positive=True)
            if halves is not None:
                alone = {(frozenset({i}), frozenset[int]()) for i in removed}
                return alone.union(*(_divide(coordinates, constraints, *half, largest) for half in halves))
    return {(frozenset(links), frozenset(rows))}


def _bipartition(coordinates, constraints, links, rows, positive):  # type: ignore[no-untyped-def]
    first, *others = sorted(links)
    for size in range(len(others)):
        for joined in combinations(others, size):
            a = frozenset({first, *joined})
            b = links - a
            rows_a = frozenset(r for r in rows if constraints[r][1] & a)
            rows_b = frozenset(r for r in rows if constraints[r][1] & b)
            if rows_a & rows_b or not rows_a or not rows_b or len(rows_a | rows_b) < len(rows):
                continue
            halves = ((a, rows_a), (b, rows_b))
            surplus = [
                sum(coordinates[i] for i in half) - sum(constraints[r][0] for r in own)
                for half, own in halves
            ]
            if positive and min(surplus) <= 0:
                continue
            return halves
    return None
