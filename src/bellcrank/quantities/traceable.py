"""One quantity of a mechanism, ready to be traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bellcrank.program.trace import Scalar

Values = Sequence[Scalar]


@dataclass(frozen=True, eq=False)
class Traceable:
    """One quantity: how to trace it, its components and unit, and what it needs in addition to q and u."""

    trace: Callable[[], Values]
    components: tuple[str, ...]
    unit: str
    needs_rates: bool = False
    needs_multipliers: bool = False

    def shape(self, chosen: tuple[int, ...] | None, size: int) -> tuple[int, ...]:
        """Of one value: a number, a matrix of rotation or a vector of `size`; `chosen` are the components asked for."""
        if size == 1 and (chosen is not None or not self.components):
            return ()
        return (3, 3) if chosen is None and self.components == MATRIX else (size,)


XYZ = ("x", "y", "z")
MATRIX = tuple(a + b for a in XYZ for b in XYZ)
