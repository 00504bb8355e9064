"""Forces on joint coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import FUNCTION, Keys, may, must
from bellcrank.math.tuples import ZERO, scale
from bellcrank.model.forces.element import ANGLES, COORDINATE, ForceElement, ForceMethod, ForceQuantity
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

ARGUMENTS = ("coordinate", "rate", "t")


@dataclass(frozen=True, eq=False)
class OnCoordinate(ForceElement):
    """A force [N] or torque [N m] on body B of a joint along one of its coordinates, opposite on A."""

    name: str
    joint: Joint
    coordinate: str

    @property
    def in_joint(self) -> Joint:
        return self.joint

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        """The force or torque along the coordinate."""
        raise NotImplementedError

    def load(self, act: Acting, loads: Loads) -> None:
        push = self.push(act, *act.coordinate(self.joint, self.coordinate))
        speed = act.speed(self.joint, self.coordinate)
        if speed is not None:
            loads.on_speed(speed, push)
            return
        a, b, base, at, direction, turning = act.direction(self.joint, self.coordinate)
        along = scale(push, direction)
        loads.between(a, b, base, at, at, *((ZERO, along) if turning else (along, ZERO)))

    def power(self, s: Snapshot) -> Scalar:
        x, rate = s.acting.coordinate(self.joint, self.coordinate)
        return self.push(s.acting, x, rate) * rate

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        unit = "N m" if self.coordinate in ANGLES else "N"
        act = s.acting
        return {
            "effort": ForceQuantity(
                lambda: [self.push(act, *act.coordinate(self.joint, self.coordinate))], unit
            )
        }


@dataclass(frozen=True, eq=False)
class JointForce(OnCoordinate):
    """function(coordinate, rate, t): Force [N] or torque [N m] on B along a coordinate, opposite on A.

    energy(coordinate): Potential energy [J], where there is one.
    """

    kind = "joint_force"
    keys = Keys(
        "A force or torque along a joint coordinate.",
        *COORDINATE,
        must(
            "function",
            FUNCTION,
            "Torque [N m] or force [N] on the second body, of coordinate [rad or m], rate [rad/s or "
            "m/s] and t [s].",
            of=ARGUMENTS,
        ),
        may("energy", FUNCTION, "Potential energy [J] of coordinate [rad or m].", of=("coordinate",)),
    )

    function: Callable[..., Scalar]
    energy: Callable[..., Scalar] | None = None

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        return act.kin.number(self.function(x, rate, act.t))

    def stored(self, s: Snapshot) -> Scalar | None:
        if self.energy is None:
            return None
        return s.kin.number(self.energy(s.acting.coordinate(self.joint, self.coordinate)[0]))


class JointForceMethod(ForceMethod):
    """Makes forces on joint coordinates."""

    def joint_force(
        self,
        name: str,
        joint: Joint | str,
        function: Callable[..., Any],
        coordinate: str | None = None,
        energy: Callable[..., Any] | None = None,
    ) -> JointForce:
        """function(coordinate, rate, t): Force [N] or torque [N m] on the joint's second body, opposite on
        its first, along a coordinate [m or rad], at its rate [m/s or rad/s], at time t [s].

        coordinate: Which one, where the joint has several. energy: Potential energy [J] of the coordinate, for the
        energy balance, where there is one.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        law = user_function(who, function, ARGUMENTS, self.parameters)
        stored = None
        if energy is not None:
            stored = user_function(f"the energy of {who}", energy, ("coordinate",), self.parameters)
        return self._add_force(JointForce(name, found, found.measure(coordinate), law, stored))
