"""The user's own constraint: a traced function of quantities that is zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.base.keys import FUNCTION, NAME, TRUTH, Keys, by_name, may, must
from bellcrank.errors import ModelError
from bellcrank.model.constraints.constraint import Constraint, ConstraintMethod, Effort
from bellcrank.model.joints import Joint
from bellcrank.program.graph import Graph

COMPONENTS = (*"xyz", *(a + b for a in "xyz" for b in "xyz"))
Measure = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Own(Constraint):
    """function(m) = 0, of quantities by name; of velocities too where `velocity`."""

    kind = "constraint"
    keys = Keys(
        "A function of quantities that is zero.",
        must(
            "function", FUNCTION, "What is zero: an expression of t, the words of measures, and parameters."
        ),
        may(
            "measures",
            by_name(NAME),
            "Words for the function, each with the quantity it stands for, such as crank.position.x.",
        ),
        may("velocity", TRUTH, "Whether it is of velocities, and linear in them; false where missing."),
    )

    function: Measure
    velocity: bool = False

    def uses(self, joints: Mapping[str, Joint]) -> Sequence[tuple[Joint, str]]:
        seen = _Seen()
        # What goes wrong here goes wrong again where the function is traced, and is named there.
        with suppress(Exception):
            self.function(seen)
        found = []
        for name in seen.names:
            head, _, coordinate = name.rpartition(".")
            coordinate = coordinate.removesuffix("_rate")
            if head in joints and coordinate in joints[head].scalar_coordinates:
                found.append((joints[head], coordinate))
        return found

    def position_efforts(self) -> Sequence[Effort]:
        return () if self.velocity else (Effort("effort", "J over the unit of the function"),)

    def velocity_efforts(self) -> Sequence[Effort]:
        return (Effort("effort", "W over the unit of the function"),) if self.velocity else ()


class _Seen(Mapping[str, Any]):
    """Takes down the names that a function asks for; what may be a vector is one."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __getitem__(self, name: str) -> Any:
        self.names.append(name)
        graph = Graph()
        if name.rpartition(".")[2] in COMPONENTS:
            return graph.input(name)
        values = np.empty(9, dtype=object)
        values[:] = [graph.input(f"{name} {k}") for k in range(9)]
        return values

    def __iter__(self) -> Any:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class OwnMethod(ConstraintMethod):
    """Makes constraints of the user."""

    def constraint(self, name: str, function: Measure, velocity: bool = False) -> Own:
        """Hold function(m) = 0, where m gives quantities by name, as in the rate of a state.

        function: Such as ``lambda m: m["slider.position.y"] - 0.1 * m["pin.angle"] ** 2``, with parameters and
        ``m["t"]`` among the quantities; smooth, it is differentiated twice. velocity: The function is of velocities
        too, and linear in them, such as ``lambda m: m["cart.velocity.y"] - m["t"] * m["cart.velocity.x"]``; then the
        velocities are held and positions go where that leads.
        """
        name, who = self._constraint_name(name)
        if not callable(function):
            raise ModelError(
                f"{who} needs a function of the quantities, such as lambda m: ..., not {function!r}"
            )
        if velocity not in (True, False):
            raise ModelError(f"velocity of {who} must be True or False, not {velocity!r}")
        return self._add_constraint(Own(name, function, bool(velocity)))
