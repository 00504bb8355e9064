"""A contact point of a surface of data as a search finds it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Hold = tuple[float, float, float, float]

FREE: Hold = (2.0, 0.0, 0.0, 0.0)
HELD: Hold = (0.0, 0.0, 0.0, 0.0)
NONE: Hold = (-1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Found:
    """A contact point: gap and normal (from a to b) in the frame of a, the points in each own frame, and how it moves.

    sample, partner: The samples of the surface and of the other it came from. hold: As in
    :class:`~bellcrank.contact.source.Around`.
    """

    gap: float
    normal: Array
    x: Array
    y: Array
    sample: int
    partner: int = -1
    hold: Hold = FREE


def parked(found: Found) -> Found:
    """An empty slot: a pair out of reach."""
    return Found(math.inf, found.normal, found.x, found.y, -1, -1, NONE)


__all__ = ["FREE", "HELD", "NONE", "Found", "Hold", "parked"]
