"""Frames of a normal, in numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def across(directions: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed triad with each direction, shape (..., 3)."""
    z = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z), axis=-1)])
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return x, np.cross(z, x)
