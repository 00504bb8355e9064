"""How large the numbers of a description may be, whoever gives them: a program, a file, a stranger."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

LARGEST = 1e100
"""The largest number of a description: its cube is still a number."""
SMALLEST = 1.0 / LARGEST
"""The smallest one of what must be positive: its cube is not lost."""
LARGEST_SIZE = 1e50
"""The largest length [m] of a solid: its fifth power times a density, its moment of inertia, is still a number."""
SMALLEST_SIZE = 1.0 / LARGEST_SIZE
"""The smallest one: its moment of inertia is not lost."""


def within(value: Any, largest: float = LARGEST) -> bool:
    """Whether a value is a real number, finite, and not beyond `largest`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        number = float(value)
    except OverflowError:
        return False
    return math.isfinite(number) and abs(number) <= largest


def is_positive(value: Any) -> bool:
    """Whether a value is a positive number that can be computed with."""
    return within(value) and value >= SMALLEST


def is_size(value: Any) -> bool:
    """Whether a value is a length [m] that a solid can have."""
    return within(value, LARGEST_SIZE) and value >= SMALLEST_SIZE


def shown(value: Any) -> str:
    """A value for a message, whatever it is."""
    try:
        text = f"{value:g}" if isinstance(value, float) else repr(value)
    except ValueError:
        # Whole numbers beyond some thousand digits are not written out.
        return "a number of thousands of digits"
    return text if len(text) < 60 else f"{text[:40]}..."
