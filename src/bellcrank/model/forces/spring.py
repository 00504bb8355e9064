"""Springs and dampers between two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, Keys, may
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.forces.element import POINTS, ForceMethod
from bellcrank.model.forces.line_force import AlongLine
from bellcrank.model.joints import Side
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.quantities.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Spring(AlongLine):
    """A linear spring and damper between two points: stiffness [N/m], damping [N s/m], free_length [m].

    The tension is stiffness * (length - free_length) + damping * rate.
    """

    kind = "spring"
    keys = Keys(
        "A linear spring and damper between two points.",
        *POINTS,
        may("stiffness", NUMBER, "[N/m]"),
        may("damping", NUMBER, "[N s/m]"),
        may("free_length", NUMBER, "Length without force [m]; needed where there is a stiffness."),
    )

    stiffness: Scalar
    damping: Scalar = 0.0
    free_length: Scalar = 0.0

    def push(self, act: Acting, length: Scalar, rate: Scalar) -> Scalar:
        k, c, free = (act.kin.number(x) for x in (self.stiffness, self.damping, self.free_length))
        return -(k * (length - free) + c * rate)

    def stored(self, s: Snapshot) -> Scalar:
        _, length, _ = s.acting.line(self.a, self.b)
        x = length - s.kin.number(self.free_length)
        return 0.5 * s.kin.number(self.stiffness) * (x * x)


class SpringMethod(ForceMethod):
    """Makes springs."""

    def spring(
        self,
        name: str,
        a: Side,
        b: Side,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        free_length: Any = None,
    ) -> Spring:
        """A spring and damper between two points: stiffness [N/m], damping [N s/m], free_length [m].

        a, b: Points of two bodies; a body stands for its origin.
        """
        name, who = self._force_name(name)
        if free_length is None:
            if isinstance(stiffness, Expr) or stiffness != 0.0:
                raise ModelError(f"{who} has a stiffness but no length at rest; give free_length=")
            free_length = 0.0
        points = self._two_points(who, a, b)
        number = self._numbers(who)
        length = checks.at_least_zero(f"free_length of {who}", free_length, self.parameters)
        k, c = number("stiffness", stiffness), number("damping", damping)
        return self._add_force(Spring(name, *points, k, c, length))
