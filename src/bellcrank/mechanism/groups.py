"""Body groups of a mechanism from the constraint equations that remain."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.formulations.equations import Mechanics
from bellcrank.formulations.partition import equation_numbers
from bellcrank.mechanics.links import Linkage
from bellcrank.topology import body_groups
from bellcrank.topology.groups import Group


def body_groups_of(linkage: Linkage, mechanics: Mechanics, kept: Sequence[int]) -> tuple[Group, ...]:
    """Body groups by the equations that remain."""
    keep = set(kept)
    sizes = [sum(e in keep for e in numbers) for numbers in equation_numbers(mechanics.constraints)]
    sized = [(n, c.links) for n, c in zip(sizes, mechanics.constraints, strict=True)]
    used = [k for k, (n, _) in enumerate(sized) if n]
    found = body_groups([len(link.own_speeds) for link in linkage.links], [sized[k] for k in used])
    return tuple(Group(g.links, tuple(used[c] for c in g.constraints), g.inputs) for g in found)


def connected(groups: Sequence[Group]) -> list[Group]:
    """Groups merged with everything that enters them: the coarse grouping, always solvable."""
    owner = {k: n for n, g in enumerate(groups) for k in g.links}
    leader = list(range(len(groups)))

    def find(n: int) -> int:
        while leader[n] != n:
            n = leader[n]
        return n

    for n, g in enumerate(groups):
        for k in g.inputs:
            a, b = find(n), find(owner[k])
            leader[max(a, b)] = min(a, b)
    merged: dict[int, list[Group]] = {}
    for n, g in enumerate(groups):
        merged.setdefault(find(n), []).append(g)
    return [
        Group(
            tuple(sorted(k for g in parts for k in g.links)),
            tuple(sorted(c for g in parts for c in g.constraints)),
            (),
        )
        for parts in merged.values()
    ]
