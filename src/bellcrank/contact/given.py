"""What users give, looked at before anything is done with it."""

from __future__ import annotations

import math
import numbers as kinds

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.keys import PACKED, may
from bellcrank.errors import ModelError

MOST_VERTICES = (0, 2**31 - 1)
FACES = may(
    "faces",
    PACKED,
    "Numbers of the vertices of each triangle, packed as vertices are.",
    dimensions=2,
    whole=MOST_VERTICES,
)
"""Key of the triangles of a surface."""
OUT_OF_SAMPLES = "where a surface ends follows from its samples, and edges are those of its triangles"
"""Why keys of older files about edges and samples are not needed."""


def is_finite(value: object) -> bool:
    """Whether this is a plain number, neither infinite nor too large for one."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, kinds.Real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def is_positive(value: object) -> bool:
    """Whether this is a plain number above zero."""
    return is_finite(value) and value > 0.0  # type: ignore[operator,no-any-return]


def numbers(given: ArrayLike, what: str) -> NDArray[np.float64]:
    """What a user gives, as an array of numbers; what: Its name in errors."""
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "fiu":
            raise TypeError(f"they are of type {found.dtype}")
        return np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what} must be numbers ({error})") from error


__all__ = ["FACES", "MOST_VERTICES", "OUT_OF_SAMPLES", "is_finite", "is_positive", "numbers"]
