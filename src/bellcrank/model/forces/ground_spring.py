"""Wheels on a road."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import AXIS, NUMBER, ROAD, SIDE, Keys, may, must
from bellcrank.math.arrays import as_vec
from bellcrank.math.tuples import Vec, add, cross, dot, times, transposed_times
from bellcrank.model import checks
from bellcrank.model.forces.element import XYZ, ForceElement, ForceMethod, ForceQuantity
from bellcrank.model.forces.road import ARGUMENTS, place_function
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Side
from bellcrank.program.functions import maximum, where
from bellcrank.program.trace import Scalar, compare

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class GroundSpring(ForceElement):
    """A wheel on a road: a vertical spring below its centre, with slip forces in proportion to the load.

    With c the wheel centre, v its velocity, h the road height below it, d = radius + h - c_z: the load is
    N = max(0, stiffness d + damping (h_x v_x + h_y v_y - v_z)) for d > 0, else 0. At P = (c_x, c_y, h) the
    force is N n - N/reference_load (longitudinal (v_P.e_x) e_x + lateral (v_P.e_y) e_y), n = (0, 0, 1),
    e_x = a x n / |a x n|, e_y = n x e_x, a the spin axis.

    axis: Spin axis, unit vector in body axes. radius: [m]. stiffness: [N/m]. damping: [N s/m].
    longitudinal, lateral: Slip coefficients [N s/m] at the load reference_load [N]. road(x, y, t): Height
    [m]; None is flat ground at 0.
    """

    kind = "ground_spring"
    keys = Keys(
        "A wheel on a road.",
        must("point", SIDE, "The wheel centre.", python="frame"),
        must("axis", AXIS, "Spin axis in body axes."),
        must("radius", NUMBER, "[m]"),
        must("stiffness", NUMBER, "[N/m]"),
        may("damping", NUMBER, "[N s/m]"),
        may("longitudinal", NUMBER, "Slip coefficient [N s/m] at the reference load."),
        may("lateral", NUMBER, "Slip coefficient [N s/m] at the reference load."),
        may("reference_load", NUMBER, "[N]"),
        may("road", ROAD, "Height [m] of x [m], y [m] and t [s], or a road; flat ground at 0 where missing."),
    )

    name: str
    frame: Frame
    axis: Vec
    radius: Scalar
    stiffness: Scalar
    damping: Scalar = 0.0
    longitudinal: Scalar = 0.0
    lateral: Scalar = 0.0
    reference_load: Scalar = 1.0
    road: Callable[..., Scalar] | None = None

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    @property
    def held_at(self) -> tuple[Frame, ...]:
        return ()

    @property
    def spin_axis(self) -> Vec:
        return self.axis

    def load(self, act: Acting, loads: Loads) -> None:
        """The force is put on the wheel's carrier, so that the spin of the wheel never enters.

        The wheel is seen from the body that floats (the chassis) where there is one: loops see its carrier from
        there too, and vectors are turned into the world by one rotation instead of a chain of them.
        """
        kin = act.kin
        wheel, _ = act.place(self.frame)
        carrier = act.carrier(wheel)
        floating = act.floating(carrier)
        world, seen = kin.pose(floating), act.seen(self.frame, floating)
        w_base, v_base = kin.w(floating), kin.v(floating)
        v = add(seen.velocity(), add(v_base, cross(w_base, seen.point)))
        w = add(w_base, kin.motion(wheel, floating).w)
        axis = times(act.body_axes(self.frame), kin.vector(self.axis))
        spin = times(kin.pose(wheel, floating).R, axis)
        c = add(world.p, times(world.R, seen.point))
        load, slip_force, height = self._tyre(
            act, c, times(world.R, v), times(world.R, w), times(world.R, spin)
        )
        drop = height - c[2]
        F = transposed_times(world.R, (*slip_force, load))
        m = transposed_times(world.R, (-(drop * slip_force[1]), drop * slip_force[0], 0.0))
        R, at = kin.pose(carrier, floating).R, act.seen(self.frame, carrier).point
        loads.seen_from(wheel, carrier, at, transposed_times(R, F), transposed_times(R, m))

    def _tyre(
        self, act: Acting, c: Vec, v: Vec, w: Vec, a: Vec
    ) -> tuple[Scalar, tuple[Scalar, Scalar], Scalar]:
        """Load, horizontal force components and road height under a wheel centre (all world axes)."""
        number = act.kin.number
        h, h_x, h_y, _ = place_function(act, self.road, c[0], c[1])
        depth = number(self.radius) + h - c[2]
        k, damping = number(self.stiffness), number(self.damping)
        closing = h_x * v[0] + h_y * v[1] - v[2]
        load = where(compare("lt", 0.0, depth), maximum(0.0, k * depth + damping * closing), 0.0)
        drop = h - c[2]
        v_x, v_y = v[0] + w[1] * drop, v[1] - w[0] * drop
        # Along and across the wheel, both directions left unnormalised: their length comes in squared only.
        e = (a[1], -a[0])
        unit = load / (a[0] * a[0] + a[1] * a[1])
        share = 1.0 / number(self.reference_load)
        along = -(unit * (number(self.longitudinal) * share)) * (v_x * e[0] + v_y * e[1])
        across = -(unit * (number(self.lateral) * share)) * (v_y * e[0] - v_x * e[1])
        return load, (along * e[0] - across * e[1], along * e[1] + across * e[0]), h

    def stored(self, s: Snapshot) -> Scalar | None:
        if self.road is not None:
            return None
        depth = maximum(0.0, s.kin.number(self.radius) - s.point(self.frame).position()[2])
        return 0.5 * s.kin.number(self.stiffness) * (depth * depth)

    def _under(self, s: Snapshot) -> tuple[Scalar, tuple[Scalar, Scalar], Scalar]:
        """Load, horizontal force and road height."""
        name, point = self.frame.body.name, s.point(self.frame)
        spin = times(s.rotation(name), s.kin.vector(self.axis))
        return self._tyre(s.acting, point.position(), point.velocity(), s.angular_velocity(name), spin)

    def power(self, s: Snapshot) -> Scalar:
        load, slip, height = self._under(s)
        point = s.point(self.frame)
        c, v, w = point.position(), point.velocity(), s.angular_velocity(self.frame.body.name)
        drop = height - c[2]
        at_ground = (v[0] + w[1] * drop, v[1] - w[0] * drop, v[2])
        return dot((slip[0], slip[1], load), at_ground)

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        def force() -> Vec:
            load, slip, _ = self._under(s)
            return (slip[0], slip[1], load)

        return {
            "load": ForceQuantity(lambda: [self._under(s)[0]], "N"),
            "force": ForceQuantity(force, "N", XYZ),
        }


class GroundSpringMethod(ForceMethod):
    """Makes wheels on roads."""

    def ground_spring(
        self,
        name: str,
        frame: Side,
        axis: Any,
        radius: Any,
        stiffness: Any,
        damping: Any = 0.0,
        longitudinal: Any = 0.0,
        lateral: Any = 0.0,
        reference_load: Any = 1.0,
        road: Callable[..., Any] | None = None,
    ) -> GroundSpring:
        """A wheel on a road; see :class:`~bellcrank.model.forces.ground_spring.GroundSpring` for the law.

        frame: The wheel centre. axis: Spin axis in body axes ("x", "y", "z" or a vector). radius: [m]. stiffness:
        [N/m]. damping: [N s/m]. longitudinal, lateral: Slip forces over slip speed at the reference load [N s/m].
        reference_load: [N]. road(x, y, t): Height [m] at a place [m] and time [s]; flat ground at 0 where missing.
        """
        name, who = self._force_name(name)
        found = self._frame(who, frame)
        why = "the spin axis is made of plain numbers"
        law = None
        if road is not None:
            law = user_function(f"the road of {who}", road, ARGUMENTS, self.parameters)
        number = self._numbers(who)
        return self._add_force(
            GroundSpring(
                name,
                found,
                as_vec(checks.axis(f"axis of {who}", axis, why)),
                checks.positive(f"radius of {who}", radius, self.parameters),
                number("stiffness", stiffness),
                number("damping", damping),
                number("longitudinal", longitudinal),
                number("lateral", lateral),
                checks.positive(f"reference_load of {who}", reference_load, self.parameters),
                law,
            )
        )
