"""Springs and dampers on joint coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, Keys, may
from bellcrank.model.forces.element import COORDINATE, ForceMethod
from bellcrank.model.forces.joint_force import OnCoordinate
from bellcrank.model.joints import Joint
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.quantities.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class TorsionSpring(OnCoordinate):
    """A linear spring and damper on a joint coordinate.

    stiffness: [N m/rad, or N/m on a displacement]. damping: [N m s/rad or N s/m]. free_angle: [rad or m].
    The torque on B is -stiffness * (coordinate - free_angle) - damping * rate.
    """

    kind = "torsion_spring"
    keys = Keys(
        "A linear spring and damper on a joint coordinate.",
        *COORDINATE,
        may("stiffness", NUMBER, "[N m/rad, or N/m on a displacement]"),
        may("damping", NUMBER, "[N m s/rad or N s/m]"),
        may("free_angle", NUMBER, "Coordinate without torque [rad or m]."),
    )

    stiffness: Scalar
    damping: Scalar = 0.0
    free_angle: Scalar = 0.0

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        k, c, free = (act.kin.number(v) for v in (self.stiffness, self.damping, self.free_angle))
        return -(k * (x - free) + c * rate)

    def stored(self, s: Snapshot) -> Scalar:
        x = s.acting.coordinate(self.joint, self.coordinate)[0] - s.kin.number(self.free_angle)
        return 0.5 * s.kin.number(self.stiffness) * (x * x)


class TorsionSpringMethod(ForceMethod):
    """Makes springs on joint coordinates."""

    def torsion_spring(
        self,
        name: str,
        joint: Joint | str,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        free_angle: Any = 0.0,
        coordinate: str | None = None,
    ) -> TorsionSpring:
        """A spring and damper on a joint coordinate: stiffness [N m/rad], damping [N m s/rad], free_angle [rad].

        On a displacement the units are N/m, N s/m and m. coordinate: Which one, where the joint has several.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        number = self._numbers(who)
        k, c = number("stiffness", stiffness), number("damping", damping)
        rest = number("free_angle", free_angle)
        return self._add_force(TorsionSpring(name, found, found.coordinate(coordinate), k, c, rest))
