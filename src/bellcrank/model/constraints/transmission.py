"""A transmission: one joint coordinate is a function of another, such as gears of changing ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import FUNCTION, Keys, must, ref
from bellcrank.errors import ModelError
from bellcrank.model.constraints.constraint import Constraint, ConstraintMethod, Effort
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting


@dataclass(frozen=True, eq=False)
class Transmission(Constraint):
    """Coordinate a = function(coordinate b), each a joint and the name of its coordinate."""

    kind = "transmission"
    keys = Keys(
        "One joint coordinate as a function of another.",
        must("a", ref("coordinate"), "Coordinate that follows."),
        must("b", ref("coordinate"), "Coordinate that leads."),
        must("function", FUNCTION, "Value of a [m or rad] of the value x of b [m or rad].", of=("x",)),
    )

    a: tuple[Joint, str]
    b: tuple[Joint, str]
    function: Callable[..., Scalar]

    def uses(self, joints: Mapping[str, Joint]) -> Sequence[tuple[Joint, str]]:
        return (self.a, self.b)

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("effort", "N or N m on a"),)

    def positions(self, act: Acting) -> Sequence[Scalar]:
        x = act.coordinate(*self.b)[0]
        return (act.coordinate(*self.a)[0] - act.kin.number(self.function(x)),)


class TransmissionMethod(ConstraintMethod):
    """Makes transmissions."""

    def transmission(self, name: str, a: Any, b: Any, function: Callable[..., Any]) -> Transmission:
        """Hold coordinate a = function(coordinate b): non-circular gears, cams by their lift, tables of ratios.

        a, b: Joints, or pairs of a joint and a coordinate name. function: Of x, the value of b [m or rad], smooth; a
        table of ratios is the derivative of it, see :func:`bellcrank.table_and_integral`.
        """
        name, who = self._constraint_name(name)
        sides = [self._coordinate(who, given) for given in (a, b)]
        if sides[0] == sides[1]:
            raise ModelError(f"{who} couples a coordinate to itself; give it two different ones")
        law = user_function(who, function, ("x",), self.parameters)
        return self._add_constraint(Transmission(name, sides[0], sides[1], law))

    def _coordinate(self, who: str, given: Any) -> tuple[Joint, str]:
        joint, coordinate = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        found = self._joint(who, joint)
        return found, found.coordinate(coordinate)
