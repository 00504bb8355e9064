"""The methods of a system that prescribe and couple motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.drivers import CoordinateTarget, Coupling, Driver, PointTarget, Target
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint
from bellcrank.model.registry import Registry
from bellcrank.program.trace import Scalar

CoordinateKey: TypeAlias = Joint | str | tuple[Joint | str, str]


def _label(target: Any, coordinate: str | None, axis: str | None) -> str:
    """The name of a driver that was given none."""
    if isinstance(target, Frame):
        words = (target.name or target.body.name, axis)
    else:
        words = (target.name if isinstance(target, Joint) else str(target), coordinate)
    return " ".join(["driver of", *(word for word in words if word)])


class MotionMethods(Registry):
    """Drivers and couplings."""

    def driver(
        self,
        target: Joint | Frame | str,
        function: Callable[..., Any],
        coordinate: str | None = None,
        axis: str | None = None,
        name: str | None = None,
    ) -> Driver:
        """Make a joint coordinate, or the world coordinate `axis` of a point, follow function(t) [m or rad].

        target: A joint or its name, or a point of a body. function: Of t [s], smooth; it is differentiated twice.
        coordinate: Of a joint that has several. axis: "x", "y" or "z", for a point. name: Made up where missing.
        """
        if isinstance(function, str) or not isinstance(coordinate, str | None):
            raise ModelError(
                f"a driver takes what it drives, then a function of t: driver({target!r}, lambda t: ..., name='motor')"
            )
        label = self._new_name("driver", _label(target, coordinate, axis) if name is None else name)
        who = f"driver {label!r}"
        found = self._target(who, target, coordinate, axis)
        driver = Driver(label, found, user_function(who, function, ("t",), self.parameters))
        self.drivers[label] = driver
        return driver

    def _target(self, who: str, target: Any, coordinate: str | None, axis: str | None) -> Target:
        if isinstance(target, Frame):
            if coordinate is not None:
                raise ModelError(f"{who} drives a point, which has no joint coordinate; use axis= instead")
            if axis is None:
                raise ModelError(f"{who} drives a point; say along which world axis: axis='x', 'y' or 'z'")
            frame = self._frame(who, target)
            if frame.body.is_ground:
                raise ModelError(f"{who} drives a point of the ground, which never moves")
            return PointTarget(frame, checks.choice(f"axis for {who}", axis, ("x", "y", "z")))
        if axis is not None:
            raise ModelError(f"{who} drives a joint; axis= is for points, use coordinate= instead")
        joint = self._joint(who, target)
        return CoordinateTarget(joint, joint.coordinate(coordinate))

    def coupling(self, name: str, terms: Mapping[Any, Any], offset: Any = 0.0) -> Coupling:
        """Hold sum(factor * coordinate) = offset.

        terms: Factors by joint, or by (joint, coordinate name) where a joint has several coordinates. offset: In the
        unit of factor times coordinate [m or rad].
        """
        name = self._new_name("coupling", name)
        who = f"coupling {name!r}"
        if not isinstance(terms, Mapping) or not terms:
            raise ModelError(f"{who} needs factors by joint, such as {{joint_a: 1.0, joint_b: -2.0}}")
        checked = tuple(self._term(who, key, factor) for key, factor in terms.items())
        if all(self.parameters.value(factor) == 0.0 for _, _, factor in checked):
            raise ModelError(f"all factors of {who} are zero; nothing is coupled")
        seen: set[tuple[str, str]] = set()
        for joint, coordinate, _ in checked:
            if (joint.name, coordinate) in seen:
                raise ModelError(f"{who} names {coordinate!r} of joint {joint.name!r} twice; add the factors")
            seen.add((joint.name, coordinate))
        coupling = Coupling(name, checked, checks.number(f"offset of {who}", offset, self.parameters))
        self.couplings[name] = coupling
        return coupling

    def _term(self, who: str, key: Any, factor: Any) -> tuple[Joint, str, Scalar]:
        given, coordinate = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        joint = self._joint(who, given)
        what = f"factor of joint {joint.name!r} in {who}"
        return joint, joint.coordinate(coordinate), checks.number(what, factor, self.parameters)

    def gear(
        self,
        name: str,
        a: CoordinateKey,
        b: CoordinateKey,
        ratio: Any,
        offset: Any = None,
        carrier: CoordinateKey | None = None,
    ) -> Coupling:
        """Two angles in mesh: angle_a - ratio * angle_b = offset.

        ratio: Turns of `a` for one of `b`; negative where the wheels turn opposite ways (outer teeth). offset: [rad];
        the meshing of the start pose where missing. carrier: Angle of the arm on which the axes turn, where all three
        angles are measured against one body: then angle_a - angle_c - ratio * (angle_b - angle_c) = offset. Angles
        that are measured against the arm itself need none.
        """
        who = f"coupling {name!r}"
        ratio = checks.number(f"ratio of {who}", ratio, self.parameters)
        if self.parameters.value(ratio) == 0.0:
            raise ModelError(f"ratio of {who} is zero; give the turns of the first for one of the second")
        terms = {a: 1.0, b: -ratio}
        if carrier is not None:
            terms[carrier] = ratio - 1.0
        return self._meshing(name, terms, offset)

    def belt(
        self,
        name: str,
        a: CoordinateKey,
        b: CoordinateKey,
        radius_a: Any,
        radius_b: Any,
        crossed: bool = False,
        offset: Any = None,
    ) -> Coupling:
        """A belt or chain that does not slip: radius_a * angle_a - radius_b * angle_b = offset.

        a, b: Angles of the pulleys. radius_a, radius_b: [m]. crossed: Whether the belt crosses between them, so that
        they turn opposite ways. offset: [m]; that of the start pose where missing.
        """
        radii = [
            checks.positive(f"{key} of coupling {name!r}", radius, self.parameters)
            for key, radius in (("radius_a", radius_a), ("radius_b", radius_b))
        ]
        if crossed not in (True, False):
            raise ModelError(f"crossed of coupling {name!r} must be True or False, not {crossed!r}")
        return self._meshing(name, {a: radii[0], b: radii[1] if crossed else -radii[1]}, offset)

    def worm(
        self,
        name: str,
        worm: CoordinateKey,
        wheel: CoordinateKey,
        starts: Any,
        teeth: Any,
        offset: Any = None,
    ) -> Coupling:
        """A worm on its wheel: angle_worm - teeth / starts * angle_wheel = offset.

        worm, wheel: Their angles. starts: Threads of the worm; negative for a left-hand one. teeth: Of the wheel.
        offset: [rad]; the meshing of the start pose where missing.
        """
        who = f"coupling {name!r}"
        starts = checks.number(f"starts of {who}", starts, self.parameters)
        if self.parameters.value(starts) == 0.0:
            raise ModelError(f"starts of {who} is zero; give the number of threads of the worm")
        teeth = checks.positive(f"teeth of {who}", teeth, self.parameters)
        return self._meshing(name, {worm: 1.0, wheel: -teeth / starts}, offset)

    def differential(
        self, name: str, carrier: CoordinateKey, left: CoordinateKey, right: CoordinateKey, offset: Any = None
    ) -> Coupling:
        """A differential: angle_left + angle_right - 2 * angle_carrier = offset.

        carrier, left, right: Angles of the cage and of the two shafts, all against one body. offset: [rad]; that of the
        start pose where missing.
        """
        return self._meshing(name, {left: 1.0, right: 1.0, carrier: -2.0}, offset)

    def rack_and_pinion(
        self, name: str, prismatic: CoordinateKey, revolute: CoordinateKey, radius: Any, offset: Any = None
    ) -> Coupling:
        """A rack on a pinion: displacement - radius * angle = offset, radius > 0 [m].

        prismatic, revolute: The joint of the rack and that of the pinion. offset: [m]; the meshing of the start pose
        where missing.
        """
        remedy = "; turn the axis of one of the joints around to reverse the motion"
        radius = checks.positive(f"radius of coupling {name!r}", radius, self.parameters, remedy)
        return self._meshing(name, {prismatic: 1.0, revolute: -radius}, offset)

    def _meshing(self, name: str, terms: Mapping[Any, Any], offset: Any) -> Coupling:
        if offset is None:
            offset = 0.0
            for key, factor in terms.items():
                joint, coordinate, checked = self._term(f"coupling {name!r}", key, factor)
                start = joint.start_coordinates()[joint.coordinates.index(coordinate)]
                offset = offset + checked * start
        return self.coupling(name, terms, offset)
