"""Which coordinates play the same part in two alike branches of the tree: left and right, leg and leg.

Branches on one link are alike when their joints are, from the link to the tips; whether their dimensions are does not
matter. The twins share registers in the machine code.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from bellcrank.mechanics.links import Linkage


def twin_inputs(linkage: Linkage) -> dict[str, str]:
    """The names of inputs by those of their twins, in both directions."""
    children: dict[int, list[int]] = defaultdict(list)
    for link in linkage.links:
        children[link.parent].append(link.index)
    shapes: dict[int, Any] = {}
    numbers: dict[Any, int] = {}
    for link in reversed(linkage.links):
        below = tuple(sorted(shapes[c] for c in children[link.index]))
        # A flexible member brings coordinates of its own; it is like nothing else.
        own = link.index if link.kind.modal else -1
        shapes[link.index] = numbers.setdefault((link.kind.name, own, below), len(numbers))
    pairs: list[tuple[int, int]] = []

    def alike(a: int, b: int) -> None:
        pending = [(a, b)]
        while pending:
            one, two = pending.pop()
            pairs.append((one, two))
            order = [sorted(children[k], key=lambda c: (shapes[c], c)) for k in (one, two)]
            pending.extend(zip(*order, strict=True))

    open_links = [-1]
    while open_links:
        waiting: dict[int, int] = {}
        for child in children[open_links.pop()]:
            other = waiting.pop(shapes[child], None)
            if other is None:
                waiting[shapes[child]] = child
            else:
                alike(other, child)
        open_links.extend(waiting.values())
    twins: dict[str, str] = {}
    for a, b in pairs:
        one, two = linkage.links[a], linkage.links[b]
        for letter, left, right in (
            ("q", one.own_positions, two.own_positions),
            ("u", one.own_speeds, two.own_speeds),
        ):
            for i, j in zip(left, right, strict=True):
                twins[f"{letter}.{i}"], twins[f"{letter}.{j}"] = f"{letter}.{j}", f"{letter}.{i}"
    return twins
