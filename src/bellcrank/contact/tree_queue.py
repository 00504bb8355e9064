"""Nodes of trees, or pairs of them, that wait for their turn: a heap with the least bound first, in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def queued(pairs: Ints, bounds: Floats, waiting: int, i: int, j: int, bound: float, ordered: bool) -> None:
    """Put a pair of nodes to those that wait: into the heap of them where they are ordered, else at the end."""
    k = waiting
    while ordered and k > 0:
        above = (k - 1) // 2
        if bounds[above] <= bound:
            break
        bounds[k] = bounds[above]
        pairs[2 * k] = pairs[2 * above]
        pairs[2 * k + 1] = pairs[2 * above + 1]
        k = above
    bounds[k] = bound
    pairs[2 * k] = i
    pairs[2 * k + 1] = j


@part
def unqueued(pairs: Ints, bounds: Floats, waiting: int) -> None:
    """Take the first pair of those that wait out of the heap."""
    last = waiting - 1
    bound = bounds[last]
    k = 0
    while 2 * k + 1 < last:
        below = 2 * k + 1
        if below + 1 < last and bounds[below + 1] < bounds[below]:
            below += 1
        if bounds[below] >= bound:
            break
        bounds[k] = bounds[below]
        pairs[2 * k] = pairs[2 * below]
        pairs[2 * k + 1] = pairs[2 * below + 1]
        k = below
    bounds[k] = bound
    pairs[2 * k] = pairs[2 * last]
    pairs[2 * k + 1] = pairs[2 * last + 1]


__all__ = ["queued", "unqueued"]
