"""Limits of joint coordinates: stops that are struck with restitution, or pressed with stiffness and damping.

A stop that is struck is a contact of rigid shapes: a ball on the second body and a plane on the first, laid so that
their gap is the distance of the coordinate from its limit, or for an angle its sine times a lever.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.math.arrays import rotation_about_z
from bellcrank.model import checks
from bellcrank.model.forces.element import ANGLES, COORDINATE, ForceMethod
from bellcrank.model.forces.joint_force import OnCoordinate
from bellcrank.model.joints import Joint
from bellcrank.model.joints.joint import SHIFTS
from bellcrank.program.functions import maximum, where
from bellcrank.program.trace import Scalar, compare

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.quantities.snapshot import Snapshot

LEVER, BALL = 1.0, 0.1
"""Of the shapes of a struck stop [m]: the gap of an angle is that of a point so far from the axis."""


@dataclass(frozen=True, eq=False)
class JointLimits(OnCoordinate):
    """Stops at `low` and `high` [m or rad] that press with stiffness and damping, and never pull."""

    kind = "limits"
    keys = Keys(
        "Stops of a joint coordinate that press with stiffness and damping.",
        *COORDINATE,
        may("low", NUMBER, "Lower limit [m or rad]; none where missing."),
        may("high", NUMBER, "Upper limit [m or rad]; none where missing."),
        must("stiffness", NUMBER, "[N/m or N m/rad]."),
        may("damping", NUMBER, "While pressed [N s/m or N m s/rad]; 0 where missing."),
    )

    stiffness: Scalar
    damping: Scalar = 0.0
    low: Scalar | None = None
    high: Scalar | None = None

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        k, c = act.kin.number(self.stiffness), act.kin.number(self.damping)
        total: Scalar = 0.0
        for sign, limit in ((1.0, self.low), (-1.0, self.high)):
            if limit is not None:
                depth = sign * (act.kin.number(limit) - x)
                pressing = where(compare("lt", 0.0, depth), maximum(k * depth - sign * (c * rate), 0.0), 0.0)
                total = total + sign * pressing
        return total

    def stored(self, s: Snapshot) -> Scalar:
        x = s.acting.coordinate(self.joint, self.coordinate)[0]
        total: Scalar = 0.0
        for sign, limit in ((1.0, self.low), (-1.0, self.high)):
            if limit is not None:
                depth = maximum(sign * (s.kin.number(limit) - x), 0.0)
                total = total + 0.5 * s.kin.number(self.stiffness) * (depth * depth)
        return total


class JointLimitsMethod(ForceMethod):
    """Makes limits of joint coordinates."""

    if TYPE_CHECKING:
        contact: Callable[..., Any]

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
    ) -> Any:
        """Stops of a joint coordinate, struck with restitution or pressed with stiffness and damping.

        low, high: [m or rad]; one may be missing. restitution: Of rigid stops, 0 to 1: these are contacts, called
        "<name> low" and "<name> high"; between the stops of an angle lie less than 180 degrees. stiffness: Of elastic
        stops [N/m or N m/rad]; damping: while they are pressed [N s/m or N m s/rad]. coordinate: Which one, where the
        joint has several.
        """
        who = f"limits {name!r}"
        found = self._joint(who, joint)
        chosen = found.coordinate(coordinate)
        if low is None and high is None:
            raise ModelError(f"{who} has neither low= nor high=; give one of them at least")
        if (restitution is None) == (stiffness is None):
            raise ModelError(
                f"{who} is struck with restitution= or pressed with stiffness=; give one of them"
            )
        numbers = [
            None if given is None else checks.number(f"{key} of {who}", given, self.parameters)
            for key, given in (("low", low), ("high", high))
        ]
        if None not in numbers and not self.parameters.value(numbers[0]) < self.parameters.value(numbers[1]):  # type: ignore[arg-type]
            raise ModelError(f"low of {who} is not below high; give low < high")
        if stiffness is not None:
            name, who = self._force_name(name)
            k = checks.positive(f"stiffness of {who}", stiffness, self.parameters)
            c = checks.at_least_zero(f"damping of {who}", damping, self.parameters)
            return self._add_force(JointLimits(name, found, chosen, k, c, *numbers))
        return self._struck(name, who, found, chosen, numbers, restitution)

    def _struck(
        self, name: str, who: str, joint: Joint, coordinate: str, limits: list[Any], restitution: Any
    ) -> dict[str, Any]:
        """Contacts at both limits, by their names."""
        why = "a stop that is struck stands at a plain number; give stiffness= to move it by parameters"
        places = [None if x is None else checks.plain_number(f"a limit of {who}", x, why) for x in limits]
        if coordinate in ANGLES and joint.turns_with_b(coordinate):
            raise ModelError(
                f"{who}: the axis of {coordinate!r} is fixed in the second body; give stiffness= instead"
            )
        if coordinate in ANGLES:
            start = joint.start_coordinates()[joint.coordinates.index(coordinate)]
            both = [x for x in (*places, start) if x is not None]
            if max(both) - min(both) >= math.pi:
                raise ModelError(
                    f"{who} leaves {math.degrees(max(both) - min(both)):.4g} degrees; stops that are struck leave "
                    "less than 180: give stiffness= instead"
                )
        made = {}
        a, b = joint.a, joint.b
        Ra, pa = checks.numeric(a.rotation, self.parameters), checks.numeric(a.position, self.parameters)
        Rb, pb = checks.numeric(b.rotation, self.parameters), checks.numeric(b.position, self.parameters)
        for word, sign, place in (("low", 1.0, places[0]), ("high", -1.0, places[1])):
            if place is None:
                continue
            if coordinate in SHIFTS:
                along = np.eye(3)[SHIFTS[coordinate]]
                ball, normal, foot = np.zeros(3), sign * along, (place - sign * BALL) * along
            else:
                ball = LEVER * np.array([1.0, 0.0, 0.0])
                normal = sign * rotation_about_z(place) @ np.array([0.0, 1.0, 0.0])
                foot = -BALL * normal
            plane = a.body.plane(tuple(pa + Ra @ foot), tuple(Ra @ normal))
            made[word] = self.contact(
                f"{name} {word}", plane, b.body.sphere(BALL, at=tuple(pb + Rb @ ball)), restitution
            )
        return made


__all__ = ["JointLimits", "JointLimitsMethod"]
