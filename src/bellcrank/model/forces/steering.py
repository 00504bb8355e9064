"""Steering gears: a wheel turned by a given angle drives a rack through an elastic shaft, with assistance.

With the coordinate x of the rack, the angle delta of the steering wheel and the ratio i (angle over coordinate), the
shaft carries the torque

    T = stiffness (delta - i x) + damping (delta' - i x'),   force on the rack: i (T + assistance(T)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import FUNCTION, NUMBER, Keys, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.forces.element import COORDINATE, ForceMethod, ForceQuantity
from bellcrank.model.forces.joint_force import OnCoordinate
from bellcrank.model.forces.tabulated import Pairs, pairs
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint
from bellcrank.program.derive import directional
from bellcrank.program.graph import Graph
from bellcrank.program.tables import smooth_table
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.quantities.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Steering(OnCoordinate):
    """A steering wheel that drives a joint coordinate through an elastic shaft.

    angle: Of the steering wheel [rad], of t [s]. ratio: Of that angle over the coordinate [rad/m or 1]. stiffness:
    [N m/rad], damping: [N m s/rad], both at the steering wheel. assistance: Rows of the torque of the shaft and the
    torque [N m] that a motor adds.
    """

    kind = "steering"
    keys = Keys(
        "A steering wheel that drives a joint coordinate through an elastic shaft, with assistance.",
        *COORDINATE,
        must("angle", FUNCTION, "Of the steering wheel [rad], of t [s].", of=("t",)),
        must("ratio", NUMBER, "Angle of the steering wheel over the coordinate [rad/m or 1]."),
        must("stiffness", NUMBER, "Of the shaft, at the steering wheel [N m/rad]."),
        may("damping", NUMBER, "At the steering wheel [N m s/rad]; 0 where missing."),
        may(
            "assistance",
            list_of(list_of(NUMBER, 2)) | {"minItems": 2},
            "Rows of the torque of the shaft and the torque that is added [N m], the first rising.",
            plain=True,
        ),
    )

    angle: Callable[..., Scalar]
    ratio: Scalar
    stiffness: Scalar
    damping: Scalar = 0.0
    assistance: Pairs | None = None

    def _turned(self, act: Acting) -> tuple[Scalar, Scalar]:
        """Angle of the steering wheel and its rate."""
        clock = Graph().input("t.")
        angle = self.angle(clock)
        if not isinstance(angle, Expr):
            return angle, 0.0
        angle = clock.graph.bring(angle)
        found = act.substituted([angle, directional([angle], {clock.id: 1.0})[0]], {clock.id: act.t})
        return found[0], found[1]

    def torque(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        """Of the shaft [N m]."""
        angle, turning = self._turned(act)
        i, k, c = (act.kin.number(value) for value in (self.ratio, self.stiffness, self.damping))
        return k * (angle - i * x) + c * (turning - i * rate)

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        T = self.torque(act, x, rate)
        whole = T
        if self.assistance is not None:
            given, added = zip(*self.assistance, strict=True)
            whole = T + smooth_table(given, added, extrapolate="linear", monotone=True)(T)
        return act.kin.number(self.ratio) * whole

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        act = s.acting

        def torque() -> list[Scalar]:
            return [self.torque(act, *act.coordinate(self.joint, self.coordinate))]

        return {
            **super().quantities(s),
            "torque": ForceQuantity(torque, "N m"),
            "angle": ForceQuantity(lambda: [self._turned(act)[0]], "rad"),
        }


class SteeringMethod(ForceMethod):
    """Makes steering gears."""

    def steering(
        self,
        name: str,
        joint: Joint | str,
        angle: Any,
        ratio: Any,
        stiffness: Any,
        damping: Any = 0.0,
        assistance: Any = None,
        coordinate: str | None = None,
    ) -> Steering:
        """A steering wheel that drives a joint coordinate, such as that of a rack, through an elastic shaft.

        angle: Of the steering wheel [rad]: a parameter, or a function of t [s]. ratio: That angle over the coordinate
        [rad/m or 1]. stiffness: Of the shaft [N m/rad] and damping [N m s/rad], at the steering wheel. assistance: Rows
        of the torque of the shaft and the torque [N m] that is added to it, such as ``[(-5, -40), (0, 0), (5, 40)]``.
        coordinate: Which one, where the joint has several.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        if not callable(angle):
            constant = checks.number(f"angle of {who}", angle, self.parameters)
            angle = lambda t: constant  # noqa: E731
        law = user_function(f"angle of {who}", angle, ("t",), self.parameters)
        i = checks.number(f"ratio of {who}", ratio, self.parameters)
        if self.parameters.value(i) == 0.0:
            raise ModelError(f"ratio of {who} is 0: the steering wheel would move nothing")
        k = checks.positive(f"stiffness of {who}", stiffness, self.parameters)
        c = checks.at_least_zero(f"damping of {who}", damping, self.parameters)
        curve = None if assistance is None else pairs(f"assistance of {who}", assistance)
        if curve is not None and any(a[1] > b[1] for a, b in pairwise(curve)):
            raise ModelError(f"assistance of {who} falls; it must not fall as the torque of the shaft rises")
        return self._add_force(Steering(name, found, found.coordinate(coordinate), law, i, k, c, curve))


__all__ = ["Steering", "SteeringMethod"]
