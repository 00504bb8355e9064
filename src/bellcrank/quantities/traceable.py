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


XYZ = ("x", "y", "z")
