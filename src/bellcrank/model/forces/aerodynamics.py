"""Forces of the air on a body that moves through it.

With the velocity v of the air point against the air in body axes (x forwards, y left, z up), V = |v| and
q = density area V^2 / 2:

    F = density area V / 2 (-drag v_x, -side v_y, lift V),
    M = density area length V / 2 (-roll v_y, pitch v_x, yaw v_y)

`side` and `yaw` are slopes by the sine of the angle of the air. Nothing is divided by V, so that all is smooth at rest,
and drag and side force take energy wherever the wind comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, SIDE, VECTOR3, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, dot, sub, times, transposed_times
from bellcrank.model import checks
from bellcrank.model.forces.element import XYZ, ForceElement, ForceMethod, ForceQuantity
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Side
from bellcrank.program.functions import sqrt
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

GROUND = -1
STILL = 1e-12
"""Speed [m/s] that keeps the slope of |v| finite at rest."""
COEFFICIENTS = ("drag", "lift", "side", "roll", "pitch", "yaw")


@dataclass(frozen=True, eq=False)
class Aerodynamics(ForceElement):
    """Drag, lift, side force and moments of the air at a point of a body.

    frame: The point; x of the body is forwards, z up. area: [m^2]. drag, lift: Coefficients. side: Of the force to the
    side by the sine of the angle of the air. length: For the moments [m]. roll, pitch, yaw: Coefficients of the
    moments; roll and yaw by the sine of that angle. density: Of the air [kg/m^3]. wind: Velocity of the air [m/s],
    world axes.
    """

    kind = "aerodynamics"
    keys = Keys(
        "Forces of the air at a point of a body; x of the body is forwards, z up.",
        must("point", SIDE, "Where they act.", python="frame"),
        must("area", NUMBER, "[m^2]."),
        may("drag", NUMBER, "Coefficient against x; 0 where missing, like those below."),
        may("lift", NUMBER, "Coefficient along z; negative for downforce."),
        may("side", NUMBER, "Coefficient of the side force by the sine of the angle of the air."),
        may("roll", NUMBER, "Coefficient of the moment about x by that sine."),
        may("pitch", NUMBER, "Coefficient of the moment about y."),
        may("yaw", NUMBER, "Coefficient of the moment about z by that sine."),
        may("length", NUMBER, "Of the moments [m]; 1 where missing."),
        may("density", NUMBER, "Of the air [kg/m^3]; 1.2 where missing."),
        may("wind", VECTOR3, "Velocity of the air [m/s], world axes."),
    )

    name: str
    frame: Frame
    area: Scalar
    drag: Scalar = 0.0
    lift: Scalar = 0.0
    side: Scalar = 0.0
    roll: Scalar = 0.0
    pitch: Scalar = 0.0
    yaw: Scalar = 0.0
    length: Scalar = 1.0
    density: Scalar = 1.2
    wind: Vec = (0.0, 0.0, 0.0)

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    @property
    def held_at(self) -> tuple[Frame, ...]:
        return ()

    def load(self, act: Acting, loads: Loads) -> None:
        link, place = act.place(self.frame)
        axes = act.body_axes(self.frame)
        force, moment = self._wrench(act)
        loads.on_link(link, act.kin.vector(place), times(axes, force), times(axes, moment))

    def _wrench(self, act: Acting) -> tuple[Vec, Vec]:
        """Force and moment in body axes."""
        link, _ = act.place(self.frame)
        against = sub(act.seen(self.frame, GROUND).velocity(), act.kin.vector(self.wind))
        v = transposed_times(act.body_axes(self.frame), transposed_times(act.kin.pose(link).R, against))
        V = sqrt(dot(v, v) + STILL * STILL)
        drag, lift, side, roll, pitch, yaw = (act.kin.number(getattr(self, c)) for c in COEFFICIENTS)
        p = 0.5 * act.kin.number(self.density) * act.kin.number(self.area) * V
        pl = p * act.kin.number(self.length)
        force = (-(p * drag) * v[0], -(p * side) * v[1], p * lift * V)
        return force, (-(pl * roll) * v[1], pl * pitch * v[0], pl * yaw * v[1])

    def power(self, s: Snapshot) -> Scalar:
        force, moment = self._wrench(s.acting)
        R = s.rotation(self.frame.body.name)
        turning = s.angular_velocity(self.frame.body.name)
        return dot(times(R, force), s.point(self.frame).velocity()) + dot(times(R, moment), turning)

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        return {
            "force": ForceQuantity(lambda: self._wrench(s.acting)[0], "N", XYZ),
            "moment": ForceQuantity(lambda: self._wrench(s.acting)[1], "N m", XYZ),
        }


class AerodynamicsMethod(ForceMethod):
    """Makes forces of the air."""

    def aerodynamics(
        self,
        name: str,
        frame: Side,
        area: Any,
        *,
        drag: Any = 0.0,
        lift: Any = 0.0,
        side: Any = 0.0,
        roll: Any = 0.0,
        pitch: Any = 0.0,
        yaw: Any = 0.0,
        length: Any = 1.0,
        density: Any = 1.2,
        wind: Any = (0.0, 0.0, 0.0),
    ) -> Aerodynamics:
        """Forces of the air at a point; see :class:`~bellcrank.model.forces.aerodynamics.Aerodynamics`.

        frame: The point; x of its body is forwards, y left, z up. area: [m^2]. drag, lift: Coefficients against x and
        along z. side: Of the force to the side by the sine of the angle of the air, positive for one that pushes with
        the wind. roll, pitch, yaw: Of the moments, over area and length; roll and yaw by that sine. length: [m].
        density: Of the air [kg/m^3]. wind: Velocity of the air [m/s], world axes.
        """
        name, who = self._force_name(name)
        found = self._frame(who, frame)
        if found.body.is_ground:
            raise ModelError(f"{who} acts on the ground, which never moves; give it a point of a body")
        number = self._numbers(who)
        sizes = [
            checks.at_least_zero(f"{key} of {who}", given, self.parameters)
            for key, given in (("area", area), ("length", length), ("density", density))
        ]
        given = (drag, lift, side, roll, pitch, yaw)
        factors = {key: number(key, value) for key, value in zip(COEFFICIENTS, given, strict=True)}
        air = checks.vector(f"wind of {who}", wind, self.parameters)
        sized, long, dense = sizes
        made = Aerodynamics(name, found, sized, length=long, density=dense, wind=air, **factors)
        return self._add_force(made)


__all__ = ["Aerodynamics", "AerodynamicsMethod"]
