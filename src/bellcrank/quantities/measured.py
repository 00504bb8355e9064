"""Quantities as functions of the user ask for them: events, controllers, rates of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.quantities.quantities import Quantities


def arranged(values: Sequence[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Traced numbers as an array, so that ``m["rod.rotation"] @ (1, 0, 0)`` works as it does on numbers."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found.reshape(shape)


class Measured(Mapping[str, Any]):
    """Quantities by name on a traced state, shaped as in results: numbers, vectors, matrices of rotation (3, 3)."""

    def __init__(self, quantities: Quantities, who: str, solved: bool = False) -> None:
        """solved: Whether accelerations and reactions are known."""
        self.quantities, self.who, self.solved = quantities, who, solved

    def __getitem__(self, name: str) -> Any:
        s = self.quantities.s
        if name == "t":
            return s.t
        if name in s.mechanics.parameters:
            return s.graph.input(name)
        quantity, components = self.quantities.find(name)
        if quantity.needs_rates and not self.solved:
            raise ModelError(
                f"{self.who}: {name!r} needs accelerations; use positions and velocities "
                "here, or a state that follows it: system.state(name, follows=...)"
            )
        states = s.system.states
        if (
            name.removesuffix(".rate") in states
            and states[name.removesuffix(".rate")].follows
            and name not in states
        ):
            raise ModelError(
                f"{self.who}: {name!r} is how a state follows what it asks for; ask for the state"
            )
        values = list(quantity.trace())
        if components is not None:
            return values[components[0]]
        shape = quantity.shape(None, len(values))
        if not shape:
            return values[0]
        return arranged(values, shape)

    def __iter__(self) -> Any:
        return iter(self.quantities.table)

    def __len__(self) -> int:
        return len(self.quantities.table)
