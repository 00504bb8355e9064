"""Numbers in words: times with a unit of their size, counts with their noun."""

from __future__ import annotations


def seconds(x: float) -> str:
    """A time [s] with a unit of its size."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if x >= factor:
            return f"{x / factor:.3g} {unit}"
    return f"{x / 1e-9:.3g} ns"


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
