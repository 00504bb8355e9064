"""Tyres: forces of a road on a rolling wheel, with slip that builds up over a distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from bellcrank.base.keys import AXIS, ROAD, SIDE, TRUTH, Keys, may, must, ref
from bellcrank.base.provided import provided
from bellcrank.errors import ModelError
from bellcrank.math.arrays import as_vec
from bellcrank.math.tuples import Vec, add, cross, dot, scale, sub, times, transposed_times
from bellcrank.model import checks
from bellcrank.model.forces.element import ForceElement, ForceMethod, ForceQuantity
from bellcrank.model.forces.road import ARGUMENTS, place_function, place_subprograms
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Side
from bellcrank.model.states import StateVariable
from bellcrank.program.functions import atan2, maximum, sqrt, where
from bellcrank.program.subprogram import Subprogram
from bellcrank.program.trace import Expr, Scalar, function
from bellcrank.tyres.envelope import Envelope, Felt
from bellcrank.tyres.law import Deflection, Slip, TyreForces, TyreLaw

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Linkage
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

LYING = 0.5
"""Cosine of the camber from which on distances along the wheel plane are no longer drawn out: there the flank of the
tyre touches, which no law knows, and a wheel that lies flat still finds the ground."""
FLAT = 1e-12
"""Least square of that cosine, which keeps the direction in which a wheel rolls a number when it lies flat."""
STILL = 1e-12
"""Speed [m/s] that keeps the slope of a speed's magnitude finite at standstill; far below any rounding of speeds."""
PASSES = 2
"""Corrections of the load for the softening of the carcass by forces of slip. Each leaves some 0.1 of the error of the
one before, the share of a force in its own change of load."""


class Ground(NamedTuple):
    """The road under a wheel: a point of it [m], its unit normal, the speed of the wheel away from it [m/s], friction
    factor."""

    foot: Vec
    normal: Vec
    leaving: Scalar
    friction: Scalar


class Contact(NamedTuple):
    """A wheel on its road, in world axes.

    ahead, left, normal: Axes of the contact. arm: From the wheel centre to the contact [m]. radius: From the wheel
    centre to the road along the wheel plane, touched or not [m]. load: [N]. slip: Of the tyre. bending: Rates of the
    deflections [m/s, rad/s]. forces: In the axes of the contact.
    """

    ahead: Vec
    left: Vec
    normal: Vec
    arm: Vec
    radius: Scalar
    load: Scalar
    slip: Slip
    bending: tuple[Scalar, ...]
    forces: TyreForces


@dataclass(frozen=True, eq=False)
class Tyre(ForceElement):
    """A tyre on a road.

    law: Of load and slip forces. frame: The wheel centre. axis: Spin axis in body axes, to the left of a wheel that
    rolls forwards. road(x, y, t): Height [m]; None is flat ground at 0. friction(x, y, t): Of the road over that on
    which the tyre was measured; None is 1. envelope: Cams that follow obstacles shorter than the contact; None takes
    the road as it is below the wheel. deflection: The states that hold how far the carcass is bent along and
    across the wheel [m] and, with turn slip, about the normal [rad]; None for slip without delay.

    The road is taken as its tangent plane below the contact, or as the plane on which the cams of the envelope stand;
    the load acts along its normal. Slip builds up over the relaxation lengths (Pacejka 2012, 7.2): the carcass, a
    spring and a damper, gives way by u while the contact slides with the rest of the slip speeds w,

        w - u' = V slip,   slip = y + T u'/l,   y' = u'/l,   l = s (1 + |k y|^2)^(-3/2),
        V = max(|V_x|, |w|/S (|y|/S)^4)

    with the time T of the damping, the relaxation lengths s of small slip, the slip stiffnesses k over the friction
    force and the largest slip S of the law. The states are e = s y. A carcass is bent in proportion to the force,
    here taken as y/sqrt(1 + |k y|^2) over slip, whose slope the length follows: it is bent no farther than friction
    bends it, and a car that slides to a standstill swings back by no more. A rolling wheel has the slip w/|V_x| in
    the end, and a standing one is a spring that gives way as the slip nears S (the fourth power keeps it from
    creeping before): nothing is divided by a speed.
    """

    kind = "tyre"
    keys = Keys(
        "A tyre on a road.",
        must("point", SIDE, "The wheel centre.", python="frame"),
        must("law", ref("tyre"), "Of load and slip forces."),
        may(
            "axis",
            AXIS,
            "Spin axis in body axes, to the left of a wheel that rolls forwards; y where missing.",
        ),
        may("road", ROAD, "Height [m] of x [m], y [m] and t [s], or a road; flat ground at 0 where missing."),
        may(
            "friction",
            ROAD,
            "Of the road over that on which the tyre was measured, of x [m], y [m] and t [s]; 1 where missing.",
        ),
        may(
            "envelope",
            ref("envelope"),
            "Cams that follow obstacles shorter than the contact; none where missing.",
        ),
        may("transient", TRUTH, "Whether slip builds up over the relaxation length; true where missing."),
    )

    name: str
    frame: Frame
    law: TyreLaw
    axis: Vec = (0.0, 1.0, 0.0)
    road: Callable[..., Scalar] | None = None
    friction: Callable[..., Scalar] | None = None
    envelope: Envelope | None = None
    deflection: tuple[Scalar, ...] | None = None

    @property
    def radius(self) -> float:
        """Of the wheel without load [m]."""
        return self.law.free_radius

    @property
    def transient(self) -> bool:
        """Whether slip builds up over the relaxation length."""
        return self.deflection is not None

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
        """On the wheel, seen from its carrier: the angle by which the wheel has turned never enters."""
        kin = act.kin
        wheel, _ = act.place(self.frame)
        carrier = act.carrier(wheel)
        touch = self._contact(act)
        force, moment = _wrench(touch)
        R = kin.pose(carrier).R
        at = act.seen(self.frame, carrier).point
        loads.seen_from(wheel, carrier, at, transposed_times(R, force), transposed_times(R, moment))

    def _contact(self, act: Acting) -> Contact:
        kin = act.kin
        wheel, _ = act.place(self.frame)
        carrier = act.carrier(wheel)
        seen = act.seen(self.frame, carrier)
        pose = kin.pose(carrier)
        c = add(pose.p, times(pose.R, seen.point))
        inner = kin.motion(carrier)
        v = add(inner.v, add(cross(inner.w, times(pose.R, seen.point)), times(pose.R, seen.velocity())))
        spinning = times(pose.R, kin.motion(wheel, carrier).w) if wheel != carrier else (0.0, 0.0, 0.0)
        w = add(inner.w, spinning)
        axis = times(act.body_axes(self.frame), kin.vector(self.axis))
        a = times(pose.R, times(kin.pose(wheel, carrier).R, axis) if wheel != carrier else axis)
        return self._rolling(act, c, v, w, a)

    def _rolling(self, act: Acting, c: Vec, v: Vec, w: Vec, a: Vec) -> Contact:
        """The contact of a wheel with centre c, velocity v, angular velocity w and spin axis a."""
        law = self.law
        ground = self._tangent(act, c, v, a) if self.envelope is None else self._felt(act, c, v, a)
        n = ground.normal
        up, upright = _axes(a, n)
        radius = dot(sub(c, ground.foot), n) / upright
        rate = ground.leaving / upright
        ahead = cross(a, up)
        left = cross(n, ahead)
        tilt = dot(a, n)
        spin, yaw = dot(w, a), (dot(w, n) - tilt * dot(w, a)) / (upright * upright)
        camber = atan2(tilt, upright)
        V_x = dot(v, ahead)
        pressed = Deflection(radius, rate, camber, spin)
        load = law.load(pressed)
        arm = scale(-radius, up)
        across = dot(add(v, cross(w, arm)), left)
        found = self._slipping(act, load, camber, V_x, spin, across, yaw, ground.friction)
        if law.softens:
            for _ in range(PASSES):
                forces = found[2]
                load = law.load(pressed._replace(longitudinal=forces.longitudinal, lateral=forces.lateral))
                found = self._slipping(act, load, camber, V_x, spin, across, yaw, ground.friction)
        return Contact(ahead, left, n, arm, radius, load, *found)

    def _slipping(
        self,
        act: Acting,
        load: Scalar,
        camber: Scalar,
        V_x: Scalar,
        spin: Scalar,
        across: Scalar,
        yaw: Scalar,
        friction: Scalar,
    ) -> tuple[Slip, tuple[Scalar, ...], TyreForces]:
        """Slip, rates of deflection, forces."""
        law = self.law
        along = law.rolling_radius(load, spin) * spin - V_x
        sliding = sqrt(along * along + across * across + STILL * STILL) / law.most_slip
        if self.deflection is None:
            V = maximum(function("abs", V_x), sliding)
            slip = Slip(load, along / V, across / V, camber, yaw / V, V_x, friction)
            return slip, (), law.forces(slip)
        along_wheel, across_wheel = law.relaxation(load, camber)
        lengths: tuple[Scalar, ...] = (along_wheel, across_wheel, across_wheel)
        bent = [act.kin.number(e) for e in self.deflection]
        slips = [e / s for e, s in zip(bent, lengths, strict=False)]
        near = (slips[0] * slips[0] + slips[1] * slips[1]) / (law.most_slip * law.most_slip)
        V = maximum(function("abs", V_x), sliding * near * near)
        bent_by = [k * y for k, y in zip(law.steepness(load, camber, friction), slips, strict=False)]
        spread = 1.0 + bent_by[0] * bent_by[0] + bent_by[1] * bent_by[1]
        share = 1.0 / (spread * sqrt(spread))
        lengths = tuple(s * share for s in lengths)
        speeds, onward = [along, across], [V, V]
        if len(bent) > 2:
            # Slip at the ends of the contact by turning is bounded like that along and across it.
            ends = slips[2] * lengths[1] / law.most_slip
            turning = function("abs", yaw) * lengths[1] / law.most_slip * ends**4
            speeds.append(yaw)
            onward.append(maximum(function("abs", V_x), turning))
        T = law.damping_time
        states = list(zip(speeds, onward, slips, lengths, strict=False))
        giving = [length * (w - v * y) / (length + v * T) for w, v, y, length in states]
        rates = tuple(u / share for u in giving)
        felt = [y + T * u / length for (_, _, y, length), u in zip(states, giving, strict=True)]
        turn = slips[2] if len(slips) > 2 else 0.0
        slip = Slip(load, felt[0], felt[1], camber, turn, V_x, friction, giving[1])
        return slip, rates, law.forces(slip)

    def bending(self, act: Acting, k: int) -> Scalar:
        """The rate of a deflection [m/s or rad/s]."""
        return self._contact(act).bending[k]

    def _tangent(self, act: Acting, c: Vec, v: Vec, a: Vec) -> Ground:
        """The tangent plane of the road where the wheel plane meets that below the wheel centre."""
        h, h_x, h_y, _ = place_function(act, self.road, c[0], c[1])
        n = _normal(h_x, h_y)
        up, upright = _axes(a, n)
        x, y, _ = add(c, scale(-((c[2] - h) * n[2] / upright), up))
        h, h_x, h_y, h_t = place_function(act, self.road, x, y)
        n = _normal(h_x, h_y)
        return Ground((x, y, h), n, dot(v, n) - h_t * n[2], self._friction(act, x, y))

    def _felt(self, act: Acting, c: Vec, v: Vec, a: Vec) -> Ground:
        """The plane on which the cams of the envelope stand; they go where the wheel goes."""
        assert self.envelope is not None
        level = 1.0 / sqrt(maximum(a[0] * a[0] + a[1] * a[1], FLAT))
        ahead = a[1] * level, -a[0] * level
        if self.road is None:
            chord: list[Scalar] = [0.0, 0.0]
        else:
            chord = act.called(self._chord, c[0], c[1], *ahead, act.t)
        up, _ = _axes(a, _turned(chord[0], chord[1], ahead))
        x, y, _ = add(c, scale(-self.law.free_radius, up))
        if self.road is None:
            felt = Felt(0.0, 0.0, 0.0, 0.0)
        else:
            felt = Felt(*act.called(self._cams, x, y, *ahead, *chord, v[0], v[1], act.t))
        n = _turned(felt.ahead, felt.left, ahead)
        leaving = (v[2] - felt.rising) * n[2]
        return Ground((x, y, felt.height), n, leaving, self._friction(act, x, y))

    @cached_property
    def _chord(self) -> Subprogram:
        """Slopes of the road ahead and to the left over the size of the cams, of x, y, the direction ahead and t."""
        assert self.envelope is not None
        assert self.road is not None
        road, _ = place_subprograms(self.road)
        cams = self.envelope.on(self.law)
        return Subprogram.traced(
            "chord of the road", 5, lambda s: cams.chord(road, (s[0], s[1]), (s[2], s[3]), s[4])
        )

    @cached_property
    def _cams(self) -> Subprogram:
        """What the cams feel, of x, y, the direction ahead, slopes of the chord, the velocity in the plane and t."""
        assert self.envelope is not None
        assert self.road is not None
        road, moving = place_subprograms(self.road)
        cams = self.envelope.on(self.law)
        return Subprogram.traced(
            "cams on the road",
            9,
            lambda s: cams.feel(road, moving, (s[0], s[1]), (s[2], s[3]), (s[4], s[5]), (s[6], s[7]), s[8]),
        )

    def _friction(self, act: Acting, x: Scalar, y: Scalar) -> Scalar:
        return 1.0 if self.friction is None else maximum(place_function(act, self.friction, x, y)[0], 1e-6)

    def power(self, s: Snapshot) -> Scalar:
        force, moment = _wrench(self._contact(s.acting))
        return dot(force, s.point(self.frame).velocity()) + dot(
            moment, s.angular_velocity(self.frame.body.name)
        )

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        def touch() -> Contact:
            return self._contact(s.acting)

        def force() -> Vec:
            found = touch()
            return found.forces.longitudinal, found.forces.lateral, found.load

        def moment() -> Vec:
            found = touch().forces
            return found.overturning, found.rolling, found.aligning

        def radius() -> list[Scalar]:
            found = touch()
            return [where(found.load > 0.0, found.radius, self.radius)]

        return {
            "load": ForceQuantity(lambda: [touch().load], "N"),
            "loaded_radius": ForceQuantity(radius, "m"),
            "force": ForceQuantity(force, "N", ("longitudinal", "lateral", "normal")),
            "moment": ForceQuantity(moment, "N m", ("overturning", "rolling", "aligning")),
            "slip": ForceQuantity(lambda: [touch().slip.kappa], ""),
            "slip_angle": ForceQuantity(lambda: [function("atan", touch().slip.tangent)], "rad"),
            "camber": ForceQuantity(lambda: [touch().slip.camber], "rad"),
        }


def _normal(h_x: Scalar, h_y: Scalar) -> Vec:
    """Of a plane with these slopes along x and y."""
    n_z = 1.0 / sqrt(1.0 + h_x * h_x + h_y * h_y)
    return -h_x * n_z, -h_y * n_z, n_z


def _turned(along: Scalar, across: Scalar, ahead: tuple[Scalar, Scalar]) -> Vec:
    """The normal of a plane with these slopes ahead and to the left."""
    return _normal(along * ahead[0] - across * ahead[1], along * ahead[1] + across * ahead[0])


def _axes(a: Vec, n: Vec) -> tuple[Vec, Scalar]:
    """Upwards in the wheel plane, and the cosine of the camber, at least `LYING`."""
    tilt = dot(a, n)
    upright = sqrt(maximum(1.0 - tilt * tilt, FLAT))
    return scale(1.0 / upright, sub(n, scale(tilt, a))), maximum(upright, LYING)


def _wrench(touch: Contact) -> tuple[Vec, Vec]:
    """Force on the wheel and its moment about the wheel centre, in world axes."""
    f = touch.forces
    force = add(
        scale(touch.load, touch.normal), add(scale(f.longitudinal, touch.ahead), scale(f.lateral, touch.left))
    )
    turning = add(
        scale(f.overturning, touch.ahead), add(scale(f.rolling, touch.left), scale(f.aligning, touch.normal))
    )
    return force, add(cross(touch.arm, force), turning)


class TyreMethod(ForceMethod):
    """Makes tyres."""

    if TYPE_CHECKING:

        def _add_state(self, state: StateVariable) -> Expr: ...

    def tyre(
        self,
        name: str,
        frame: Side,
        law: TyreLaw,
        axis: Any = "y",
        road: Callable[..., Any] | None = None,
        friction: Any = None,
        transient: bool = True,
        envelope: Envelope | None = None,
    ) -> Tyre:
        """A tyre on a road; see :class:`~bellcrank.model.forces.tyre.Tyre` for the equations.

        frame: The wheel centre. law: Such as ``bc.tyres.tyre("sedan.tir")`` or ``bc.tyres.Brush(...)``. axis: Spin axis
        in body axes ("x", "y", "z" or a vector), to the left of a wheel that rolls forwards. road(x, y, t): Height [m]
        at a place [m] and time [s]; flat ground at 0 where missing. friction: Of the road over that on which the tyre
        was measured, a number or a function of (x, y, t). transient: Whether slip builds up over the relaxation
        length; without, slip follows at once and a car does not hold on a slope. envelope: Cams that follow obstacles
        shorter than the contact, such as ``bc.tyres.Envelope()``; without, the road is taken as it is below the wheel.
        """
        name, who = self._force_name(name)
        found = self._frame(who, frame)
        if found.body.is_ground:
            raise ModelError(f"{who} is on the ground, which never rolls; give it a point of a wheel")
        if not isinstance(law, TyreLaw):
            raise ModelError(
                f"{who} needs a law of the tyre such as bellcrank.tyres.tyre('sedan.tir'), not {law!r}"
            )
        if envelope is not None:
            if not isinstance(envelope, Envelope):
                raise ModelError(f"envelope of {who} must be a bellcrank.tyres.Envelope, not {envelope!r}")
            envelope.on(law)
        height = None
        if road is not None:
            height = user_function(f"the road of {who}", road, ARGUMENTS, self.parameters)
        mu = None
        if friction is not None:
            if not callable(friction):
                constant = checks.number(f"friction of {who}", friction, self.parameters)
                friction = lambda: constant  # noqa: E731
            mu = user_function(f"the friction of {who}", friction, ARGUMENTS, self.parameters)
        spin = as_vec(checks.axis(f"axis of {who}", axis, "the spin axis is made of plain numbers"))
        bent: tuple[Scalar, ...] | None = None
        names = [
            f"{name} deflection {which}"
            for which in ("x", "y", "z")[: 3 if getattr(law, "turn_slip", False) else 2]
        ]
        if transient:
            bent = tuple(self.parameters.graph.input(one) for one in names)
        made = self._add_force(Tyre(name, found, law, spin, height, mu, envelope, bent))
        if transient:
            for k, one in enumerate(names):
                self._add_state(
                    StateVariable(
                        one, None, 0.0, "rad" if k == 2 else "m", partial(_bend, made, k), owner=made
                    )
                )
        return made


def _bend(tyre: Tyre, k: int, linkage: Linkage, kin: Kinematics, t: Scalar) -> Scalar:
    return tyre.bending(provided("a force in action")(linkage, kin, t), k)
