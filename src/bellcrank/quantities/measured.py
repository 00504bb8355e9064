"""Quantities as functions of the user ask for them: events, controllers, rates of states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.quantities.quantities import Quantities


class Measured(Mapping[str, Any]):
    """Quantities by name on a traced state."""

    def __init__(self, quantities: Quantities, who: str) -> None:
        self.quantities, self.who = quantities, who

    def __getitem__(self, name: str) -> Any:
        s = self.quantities.s
        if name == "t":
            return s.t
        if name in s.mechanics.parameters:
            return s.graph.input(name)
        quantity, components = self.quantities.find(name)
        if quantity.needs_rates:
            raise ModelError(f"{self.who}: {name!r} needs accelerations; use positions and velocities here")
        values = list(quantity.trace())
        if components is not None:
            return values[components[0]]
        return values[0] if len(values) == 1 and not quantity.components else values

    def __iter__(self) -> Any:
        return iter(self.quantities.table)

    def __len__(self) -> int:
        return len(self.quantities.table)
