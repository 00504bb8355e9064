"""Friction in joints: by the reaction that the joint carries, and by a given capacity (brakes and clutches).

Both are bristles (:class:`bellcrank.contact.friction.LuGre`), which hold without creep and slip at Coulomb's law with
Stribeck's peak. The load on them is a state that follows the reaction:

    N-dot = (|F| - N) / lag,   F: force of the joint across the directions it leaves free,

because friction and reaction ask for each other: rigid bodies leave two answers, or none, where friction is large
(Painleve 1895). The lag makes the answer that of a joint which yields a little. It is so short that stiff methods,
which such runs take by themselves, solve for the load as for an algebraic unknown.

Rigid contacts that last press on the joint with their forces. Impacts do not rub: a bristle bends by the slip, which an
impulse of no duration leaves as it is, so friction stays finite while the impulse in the joint is without bound. What
is left out is mu times that impulse, which a law for the sequence of events within an impact would have to share out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import FUNCTION, NUMBER, Keys, may, must, one_of, ref
from bellcrank.base.provided import provided
from bellcrank.contact.friction import Coulomb, LuGre, with_numbers
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.forces.element import ANGLES, COORDINATE, ForceMethod, ForceQuantity
from bellcrank.model.forces.joint_force import OnCoordinate
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint
from bellcrank.model.joints.joint import SHIFTS
from bellcrank.model.states import LAG, StateVariable, checked_lag
from bellcrank.program.functions import sqrt
from bellcrank.program.trace import Scalar, compare

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Linkage
    from bellcrank.program.trace import Expr
    from bellcrank.quantities.snapshot import Snapshot

_FRICTION = "Law of friction, or the coefficient of one that sticks and slips alike."


@dataclass(frozen=True, eq=False)
class Bristles(OnCoordinate):
    """Friction on a joint coordinate, by bristles under a load. bend: Their bend [m or rad], a state."""

    friction: LuGre
    bend: Scalar

    def pressed(self, act: Acting) -> Scalar:
        """The load on the bristles."""
        raise NotImplementedError

    def lever(self, act: Acting) -> Scalar:
        """Slip over the rate of the coordinate [m or 1]."""
        return 1.0

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        arm = self.lever(act)
        law = self._law(act)
        return law.force((act.kin.number(self.bend),), (arm * rate,), self.pressed(act))[0] * arm

    def bending(self, act: Acting) -> Scalar:
        """The rate of the bend."""
        slip = self.lever(act) * act.coordinate(self.joint, self.coordinate)[1]
        touching = compare("lt", 0.0, self.pressed(act))
        return self._law(act).rate((act.kin.number(self.bend),), (slip,), touching)[0]

    def _law(self, act: Acting) -> LuGre:
        law = with_numbers(self.friction, act.kin.number)
        assert isinstance(law, LuGre)
        return law

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        return {
            **super().quantities(s),
            "bend": ForceQuantity(lambda: [s.kin.number(self.bend)], self.bend_unit),
        }

    @property
    def bend_unit(self) -> str:
        """Of the bend."""
        return "m"


@dataclass(frozen=True, eq=False)
class JointFriction(Bristles):
    """Friction by the reaction of the joint.

    radius: Of the bearing [m], where the coordinate is an angle. preload: Load that is always there [N]. lag: Time in
    which the load follows the reaction [s]. load: The state that does.
    """

    kind = "joint_friction"
    keys = Keys(
        "Friction by the force that the joint carries, with stick.",
        *COORDINATE,
        must("friction", one_of(NUMBER, ref("friction")), _FRICTION),
        may("radius", NUMBER, "Radius of the bearing [m], for angles."),
        may("preload", NUMBER, "Load besides the reaction [N]; 0 where missing."),
        may(
            "lag", NUMBER, "Time in which the load follows the reaction [s]; 1e-12 where missing.", plain=True
        ),
    )

    radius: Scalar | None = None
    preload: Scalar = 0.0
    lag: float = LAG
    load_state: Scalar = 0.0

    def lever(self, act: Acting) -> Scalar:
        return 1.0 if self.radius is None else act.kin.number(self.radius)

    def pressed(self, act: Acting) -> Scalar:
        return act.kin.number(self.load_state) + act.kin.number(self.preload)

    def carried(self, m: Mapping[str, Any]) -> Scalar:
        """The force [N] of the joint across the directions it leaves free."""
        force = m[f"{self.joint.name}.force_in_a"]
        free = {SHIFTS[c] for c in self.joint.scalar_coordinates if c in SHIFTS}
        squares: Scalar = sum(force[k] * force[k] for k in range(3) if k not in free)
        # A joint that carries nothing has no direction of its load; the root is smooth there.
        return sqrt(squares + 1e-24)

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        return {**super().quantities(s), "load": ForceQuantity(lambda: [self.pressed(s.acting)], "N")}


@dataclass(frozen=True, eq=False)
class Clutch(Bristles):
    """A brake or clutch in a joint, with the capacity [N m or N] that is given."""

    kind = "clutch"
    keys = Keys(
        "A brake or clutch in a joint: it slips at its capacity, and locks below it.",
        *COORDINATE,
        must("capacity", FUNCTION, "Torque [N m] or force [N] at which it slips, of t [s].", of=("t",)),
        may("static", NUMBER, "Capacity at rest over that while slipping; 1 where missing."),
        may("stiffness", NUMBER, "Of the locked clutch over its capacity [1/rad or 1/m]; 1e4 where missing."),
        may(
            "stribeck_speed", NUMBER, "Slip over which it falls from rest [rad/s or m/s]; 0.01 where missing."
        ),
    )

    capacity: Callable[..., Scalar]
    static: Scalar = 1.0
    stiffness: Scalar = 1e4
    stribeck_speed: Scalar = 1e-2

    def pressed(self, act: Acting) -> Scalar:
        return act.kin.number(self.capacity(act.t))

    @property
    def bend_unit(self) -> str:
        return "rad" if self.coordinate in ANGLES else "m"


def _bend(force: Bristles, linkage: Linkage, kin: Kinematics, t: Scalar) -> Scalar:
    return force.bending(provided("a force in action")(linkage, kin, t))


class JointFrictionMethods(ForceMethod):
    """Makes friction in joints."""

    if TYPE_CHECKING:

        def _add_state(self, state: StateVariable) -> Expr: ...

    def joint_friction(
        self,
        name: str,
        joint: Joint | str,
        friction: Any,
        radius: Any = None,
        preload: Any = 0.0,
        coordinate: str | None = None,
        lag: Any = LAG,
    ) -> JointFriction:
        """Friction in a joint by the force that it carries, with stick: Coulomb's law with Stribeck's peak.

        friction: Coefficient, or :class:`bellcrank.contact.LuGre` with more of it. radius: Of the bearing [m], where
        the coordinate is an angle. preload: Load besides the reaction [N]. coordinate: Which one, where the joint has
        several. lag: Time in which the load follows the reaction [s]; results differ from those of no lag in proportion
        to it. Explicit methods and fixed steps need one as long as their steps; runs with ``impacts="stepping"`` take
        the load of each step with the contact forces of the one before. Impacts cause no friction in joints.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        chosen = found.coordinate(coordinate)
        if isinstance(friction, Coulomb):
            raise ModelError(
                f"{who} sticks, which takes bristles: give a coefficient or bellcrank.contact.LuGre"
            )
        law = friction
        if isinstance(law, LuGre):
            for key, number in vars(law).items():
                if number is not None:
                    checks.number(f"{key} of the friction of {who}", number, self.parameters)
        else:
            law = LuGre(checks.positive(f"friction of {who}", friction, self.parameters))
        turning = chosen in ANGLES
        if turning and radius is None:
            raise ModelError(f"{who} is on an angle: give radius= of the bearing [m]")
        if radius is not None:
            if not turning:
                raise ModelError(f"{who} is on a length, which has no radius; leave radius= out")
            radius = checks.positive(f"radius of {who}", radius, self.parameters)
        preload = checks.at_least_zero(f"preload of {who}", preload, self.parameters)
        lag = checked_lag(name, lag)
        graph = self.parameters.graph
        bend, load = graph.input(f"{name} bend"), graph.input(f"{name} load")
        made = self._add_force(JointFriction(name, found, chosen, law, bend, radius, preload, lag, load))
        self._add_state(StateVariable(f"{name} bend", None, 0.0, "m", partial(_bend, made), owner=made))
        self._add_state(
            StateVariable(f"{name} load", None, 0.0, "N", follows=made.carried, lag=lag, owner=made)
        )
        return made

    def clutch(
        self,
        name: str,
        joint: Joint | str,
        capacity: Any,
        static: Any = 1.0,
        stiffness: Any = 1e4,
        stribeck_speed: Any = 1e-2,
        coordinate: str | None = None,
    ) -> Clutch:
        """A brake or clutch in a joint: it slips at its capacity, and locks below it.

        capacity: Torque [N m] or force [N] at which it slips, a number or a function of t [s]; zero is open. static:
        Capacity at rest over that while slipping. stiffness: Of the locked clutch over its capacity [1/rad or 1/m].
        stribeck_speed: Slip over which the capacity falls from rest [rad/s or m/s]. coordinate: Which one, where the
        joint has several.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        chosen = found.coordinate(coordinate)
        if not callable(capacity):
            constant = checks.at_least_zero(f"capacity of {who}", capacity, self.parameters)
            capacity = lambda t: constant  # noqa: E731
        law = user_function(f"capacity of {who}", capacity, ("t",), self.parameters)
        numbers = [
            checks.positive(f"{key} of {who}", given, self.parameters)
            for key, given in (
                ("static", static),
                ("stiffness", stiffness),
                ("stribeck_speed", stribeck_speed),
            )
        ]
        if self.parameters.value(numbers[0]) < 1.0:
            raise ModelError(f"static of {who} is less than 1; a clutch holds at least what it slips at")
        bristles = LuGre(1.0, numbers[0], numbers[1], stribeck_speed=numbers[2])
        bend = self.parameters.graph.input(f"{name} bend")
        made = self._add_force(Clutch(name, found, chosen, bristles, bend, law, *numbers))
        self._add_state(
            StateVariable(f"{name} bend", None, 0.0, made.bend_unit, partial(_bend, made), owner=made)
        )
        return made


__all__ = ["Clutch", "JointFriction", "JointFrictionMethods"]
