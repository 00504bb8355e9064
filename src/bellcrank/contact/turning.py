"""Directions and places between the frames of two bodies, in compiled code.

given begins with the rotation from the other's frame to that of the surface, row by row, and the other's origin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.units import part

Floats = NDArray[np.float64]


@part
def turned(given: Floats, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A direction of the other's frame in the surface's."""
    return (
        given[0] * x + given[1] * y + given[2] * z,
        given[3] * x + given[4] * y + given[5] * z,
        given[6] * x + given[7] * y + given[8] * z,
    )


@part
def turned_back(given: Floats, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A direction of the surface's frame in the other's."""
    return (
        given[0] * x + given[3] * y + given[6] * z,
        given[1] * x + given[4] * y + given[7] * z,
        given[2] * x + given[5] * y + given[8] * z,
    )


@part
def brought_back(given: Floats, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A place of the surface's frame in the other's."""
    a, b, c = turned_back(given, x - given[9], y - given[10], z - given[11])
    return a, b, c


__all__ = ["brought_back", "turned", "turned_back"]
