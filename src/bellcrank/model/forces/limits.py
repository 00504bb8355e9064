"""Limits of joint coordinates: stops that are struck with restitution, or pressed with stiffness and damping.

Stops that are struck are contacts of rigid bodies whose gap is the distance of the coordinate from its limit, for an
angle at a lever (:class:`bellcrank.contact.shapes.Stop`). The stop of an angle exerts a couple, its normal force times
the lever, so that bearings feel nothing of it wherever it is built.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import NUMBER, Keys, may
from bellcrank.contact.shapes import ConeStop, Stop
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.forces.element import COORDINATE, ForceMethod
from bellcrank.model.forces.joint_force import OnCoordinate
from bellcrank.model.joints import Joint
from bellcrank.model.joints.joint import SHIFTS
from bellcrank.program.functions import maximum, where
from bellcrank.program.trace import Scalar, compare

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.model.contacts import Contact
    from bellcrank.quantities.snapshot import Snapshot

PLASTIC = 0.0
"""Restitution of stops where none is given: what strikes a stop stays there."""
STOPS = (
    may("low", NUMBER, "Lower limit [m or rad]; none where missing."),
    may("high", NUMBER, "Upper limit [m or rad]; none where missing."),
    may("restitution", NUMBER, "Of stops that are struck, 0 to 1; 0 where missing."),
    may("stiffness", NUMBER, "Of stops that are pressed [N/m or N m/rad]."),
    may("damping", NUMBER, "While pressed [N s/m or N m s/rad]; 0 where missing."),
)


@dataclass(frozen=True)
class Limits:
    """Limits of a joint coordinate, for `limits=` of a joint.

    low, high: [m or rad]; one may be None. restitution: Of rigid stops, 0 to 1; 0 where neither it nor a stiffness is
    given. stiffness: Of elastic stops [N/m or N m/rad]; damping: while they are pressed [N s/m or N m s/rad].
    """

    low: Any = None
    high: Any = None
    restitution: Any = None
    stiffness: Any = None
    damping: Any = 0.0


@dataclass(frozen=True, eq=False)
class JointLimits(OnCoordinate):
    """Stops at `low` and `high` [m or rad]: pressed with stiffness and damping, never pulling, or struck.

    restitution: Of stops that are struck, which are contacts; None of those that are pressed, which are a force.
    """

    kind = "limits"
    keys = Keys("Stops of a joint coordinate, struck or pressed.", *COORDINATE, *STOPS)

    low: Scalar | None = None
    high: Scalar | None = None
    restitution: Scalar | None = None
    stiffness: Scalar | None = None
    damping: Scalar | None = None

    @property
    def sense(self) -> float:
        """Sign of the coordinate in the angle that its stops measure: that of A in B where the axis is fixed in B."""
        return -1.0 if self.joint.turns_with_b(self.coordinate) else 1.0

    @property
    def turns(self) -> bool:
        """Whether stops of an angle leave a whole turn or more, so that turns must be counted."""
        if self.coordinate in self.joint.measures:
            return False
        if self.low is None or self.high is None:
            return True
        return float(self.high) - float(self.low) >= 2.0 * math.pi  # type: ignore[arg-type]

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        assert self.stiffness is not None
        assert self.damping is not None
        k, c = act.kin.number(self.stiffness), act.kin.number(self.damping)
        total: Scalar = 0.0
        for sign, limit in ((1.0, self.low), (-1.0, self.high)):
            if limit is not None:
                depth = sign * (act.kin.number(limit) - x)
                pressing = where(compare("lt", 0.0, depth), maximum(k * depth - sign * (c * rate), 0.0), 0.0)
                total = total + sign * pressing
        return total

    def stored(self, s: Snapshot) -> Scalar:
        assert self.stiffness is not None
        x = s.acting.coordinate(self.joint, self.coordinate)[0]
        total: Scalar = 0.0
        for sign, limit in ((1.0, self.low), (-1.0, self.high)):
            if limit is not None:
                depth = maximum(sign * (s.kin.number(limit) - x), 0.0)
                total = total + 0.5 * s.kin.number(self.stiffness) * (depth * depth)
        return total

    def contacts(self) -> list[Contact]:
        """One for each stop that is struck."""
        from bellcrank.model.contacts import LAWS, Contact, PlacedShape

        joint, sense = self.joint, self.sense
        a, b = (joint.b, joint.a) if sense < 0.0 else (joint.a, joint.b)
        assert self.restitution is not None
        found = []
        for word, sign, limit in (("low", 1.0, self.low), ("high", -1.0, self.high)):
            if limit is not None:
                stop = self._stop(sign * sense, float(sense * limit))
                own = f"{self.name} {word}"
                sides = PlacedShape(a, stop), PlacedShape(b, stop)
                found.append(Contact(own, *sides, self.restitution, 0.0, LAWS[0], own, limits=self))
        return found

    def _stop(self, sign: float, place: float) -> Stop:
        if self.coordinate in SHIFTS:
            return Stop(place, sign, SHIFTS[self.coordinate])
        if self.coordinate in self.joint.measures:
            return ConeStop(place, sign, 2, self._lever(), rotates=self.coordinate == "turn")
        low, high = (None if x is None else self.sense * float(x) for x in (self.low, self.high))  # type: ignore[arg-type]
        middle = place + sign * math.pi if low is None or high is None else 0.5 * (low + high)
        # The axes of a universal joint are z of both frames, each seen from the other; angle_b is minus the angle of
        # -z of A about z of B.
        crossed = self.joint.perpendicular == ((2, 2),)
        return Stop(place, sign, 2 if crossed else 0, self._lever(), self.sense if crossed else 1.0, middle)

    def _lever(self) -> float:
        """The radius of gyration of a body about the axis [m], at which an angle is as large as its arc."""
        for frame in (self.joint.b, self.joint.a):
            body: Body = frame.body
            table = body.parameters
            mass = table.value(body.mass)
            if body.is_ground or not mass > 0.0:
                continue
            z = checks.numeric(frame.rotation, table)[:, 2]
            arm = checks.numeric(body.center_of_mass, table) - checks.numeric(frame.position, table)
            square = z @ checks.numeric(body.inertia, table) @ z / mass + float(np.sum(np.cross(z, arm) ** 2))
            if square > 0.0:
                return math.sqrt(square)
        return 1.0


class JointLimitsMethod(ForceMethod):
    """Makes limits of joint coordinates."""

    if TYPE_CHECKING:
        contacts: dict[str, Any]

    def limits(
        self,
        name: str,
        joint: Joint | str,
        low: Any = None,
        high: Any = None,
        restitution: Any = None,
        stiffness: Any = None,
        damping: Any = 0.0,
        coordinate: str | None = None,
    ) -> JointLimits:
        """Stops of a joint coordinate, struck with restitution or pressed with stiffness and damping.

        low, high: [m or rad]; one may be missing. restitution: Of rigid stops, 0 to 1, and 0 where neither it nor a
        stiffness is given; these are contacts, called "<name> low" and "<name> high". stiffness: Of elastic stops [N/m
        or N m/rad]; damping: while they are pressed [N s/m or N m s/rad]. coordinate: Which one, where the joint has
        several. Joints take the same as `limits=`, see :class:`bellcrank.Limits`.
        """
        name, _ = self._force_name(name)
        who = f"limits {name!r}"
        found = self._joint(who, joint)
        chosen = found.measure(coordinate)
        if low is None and high is None:
            raise ModelError(f"{who} have neither low= nor high=; give one of them at least")
        if restitution is not None and stiffness is not None:
            raise ModelError(
                f"{who} are struck with restitution= or pressed with stiffness=; give one of them"
            )
        first, last = (
            None if given is None else checks.number(f"{key} of {who}", given, self.parameters)
            for key, given in (("low", low), ("high", high))
        )
        value = self.parameters.value
        for limit in (first, last) if chosen in found.measures else ():
            if limit is not None and not 0.0 < value(limit) < math.pi:
                raise ModelError(
                    f"{who}: the angle {chosen!r} lies between 0 and pi, and so do its limits; leave out one that "
                    "does not limit"
                )
        if first is not None and last is not None and not value(first) < value(last):
            raise ModelError(f"low of {who} is not below high; give low < high")
        if stiffness is not None:
            k = checks.positive(f"stiffness of {who}", stiffness, self.parameters)
            c = checks.at_least_zero(f"damping of {who}", damping, self.parameters)
            return self._add_force(JointLimits(name, found, chosen, first, last, None, k, c))
        return self._strike(who, JointLimits(name, found, chosen, first, last), restitution, damping)

    def _strike(self, who: str, made: JointLimits, restitution: Any, damping: Any) -> JointLimits:
        """Add the contacts of limits that are struck."""
        from bellcrank.model.contacts import between_zero_and_one

        if not isinstance(damping, int | float) or damping != 0.0:
            raise ModelError(f"{who}: damping= belongs to stops that are pressed; give stiffness= too")
        why = "a stop that is struck stands at a plain number; give stiffness= to move it by parameters"
        low, high = (
            None if x is None else checks.plain_number(f"a limit of {who}", x, why)
            for x in (made.low, made.high)
        )
        e = between_zero_and_one(who, PLASTIC if restitution is None else restitution, self.parameters)
        made = replace(made, low=low, high=high, restitution=e)
        struck = made.contacts()
        for contact in struck:
            self._new_name("contact", contact.name)
        # Stops stand before other contacts, as model files are read.
        others = {key: c for key, c in self.contacts.items() if c.limits is None}
        for key in others:
            del self.contacts[key]
        self.contacts.update({contact.name: contact for contact in struck})
        self.contacts.update(others)
        return made

    def _limit(self, joint: Joint, given: Any) -> None:
        """Limits given with a joint: of its coordinate, or by the names of its coordinates."""
        who = f"limits of {joint.kind} joint {joint.name!r}"
        several = len(joint.coordinates) > 1
        try:
            for coordinate, own in (given if isinstance(given, Mapping) else {None: given}).items():
                chosen = joint.measure(coordinate)
                name = f"{joint.name} {chosen} limits" if several else f"{joint.name} limits"
                self._limited(who, name, joint, chosen, own)
        except ModelError:
            for things in (self.forces, self.contacts):
                made = [
                    k for k, x in things.items() if getattr(getattr(x, "limits", x), "joint", None) is joint
                ]
                for key in made:
                    del things[key]
            raise

    def _limited(self, who: str, name: str, joint: Joint, coordinate: str, given: Any) -> None:
        if not isinstance(given, Limits):
            if not (isinstance(given, tuple | list) and len(given) == 2):
                raise ModelError(
                    f"{who} must be (low, high), bellcrank.Limits(...), or a mapping of coordinates to these, "
                    f"not {given!r}"
                )
            given = Limits(*given)
        self.limits(name, joint, **vars(given), coordinate=coordinate)


__all__ = ["JointLimits", "JointLimitsMethod", "Limits"]
