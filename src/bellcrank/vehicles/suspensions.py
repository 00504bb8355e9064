"""Suspensions from their hard points: double wishbone, McPherson, multi-link, twist beam, solid axle.

Points are world coordinates [m] in the design position, with x forwards, y to the left and z up, of the left side; the
right side is its mirror image in the plane y = 0. Rods have no mass and a ball at either end. `compliance` makes rods
elastic and sets arms on bushings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.model import System
from bellcrank.model.bodies import Body
from bellcrank.model.forces.bushing import NOTHING
from bellcrank.model.joints import Joint

Array = NDArray[np.float64]
Point: TypeAlias = Sequence[float]
Points: TypeAlias = Mapping[str, Point]
SIDES = {"left": 1.0, "right": -1.0}
NO_COMPLIANCE: Mapping[str, Mapping[str, Any]] = {}


@dataclass(frozen=True)
class Unsprung:
    """Masses of one side.

    knuckle: [kg], with `knuckle_inertia` [kg m^2] about its centre, the centre of the wheel. wheel: [kg], with
    `wheel_inertia` [kg m^2], about its spin axis the second. arm: Of a wishbone or lower arm [kg]. toe: Towards the
    middle of the car [rad]. camber: Top outwards [rad].
    """

    knuckle: float = 15.0
    knuckle_inertia: tuple[float, float, float] = (0.3, 0.2, 0.3)
    wheel: float = 20.0
    wheel_inertia: tuple[float, float, float] = (0.75, 1.25, 0.75)
    arm: float = 5.0
    toe: float = 0.0
    camber: float = 0.0


@dataclass(frozen=True, eq=False)
class Corner:
    """One wheel. knuckle: What carries it; both corners of a solid axle have one. hub: Joint between the two."""

    name: str
    knuckle: Body
    wheel: Body
    hub: Joint


@dataclass(frozen=True, eq=False)
class Axle:
    """Two wheels on a chassis."""

    system: System
    chassis: Body
    left: Corner
    right: Corner

    @property
    def corners(self) -> tuple[Corner, Corner]:
        """Left and right."""
        return self.left, self.right

    @property
    def wheels(self) -> tuple[str, str]:
        """Names of the wheels, left and right."""
        return self.left.wheel.name, self.right.wheel.name

    @property
    def hubs(self) -> tuple[Joint, Joint]:
        """Joints of the wheels, left and right."""
        return self.left.hub, self.right.hub


class _Side:
    """What the sides of all suspensions are built of."""

    def __init__(
        self,
        system: System,
        chassis: Body,
        name: str,
        side: str,
        points: Mapping[str, Array],
        unsprung: Unsprung,
        compliance: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.system, self.chassis, self.name, self.unsprung = system, chassis, f"{name} {side}", unsprung
        self.sign, self.compliance = SIDES[side], compliance
        self.points = {key: point * (1.0, self.sign, 1.0) for key, point in points.items()}

    def knuckle(self, free: bool = False) -> Body:
        """The carrier of the wheel; free on the chassis, or held by what follows."""
        u, at = self.unsprung, self.points["wheel"]
        body = self.system.body(f"{self.name} knuckle", mass=u.knuckle, inertia=u.knuckle_inertia, at=at)
        if free:
            self.system.free(f"{self.name} motion", self.chassis, body)
        return body

    def wheel(self, knuckle: Body) -> Corner:
        """The wheel on its carrier."""
        u, at = self.unsprung, self.points["wheel"]
        out = np.array([np.sin(u.toe), np.cos(u.toe), -np.tan(u.camber)])
        axis = out / np.linalg.norm(out) * (self.sign, 1.0, self.sign)
        ahead = np.array([axis[1], -axis[0], 0.0]) / np.hypot(axis[0], axis[1])
        turned = np.column_stack([ahead, axis, np.cross(ahead, axis)])
        wheel = self.system.body(
            f"{self.name} wheel", mass=u.wheel, inertia=u.wheel_inertia, at=at, rotation=turned
        )
        hub = self.system.revolute(f"{self.name} hub", knuckle, wheel, at=at, axis=axis)
        return Corner(self.name, knuckle, wheel, hub)

    def rod(self, what: str, a: Body, b: Body, ends: tuple[Array, Array] | None = None) -> None:
        """A rod between `WHAT_inner` on body a and `WHAT_outer` on body b."""
        inner, outer = ends or (self.points[f"{what}_inner"], self.points[f"{what}_outer"])
        _rod(self.system, f"{self.name} {what}", (a, b), (inner, outer), self.compliance.get(what))

    def arm(self, what: str, knuckle: Body) -> Body:
        """A wishbone: two points on the chassis, one on the knuckle."""
        front, rear, outer = (self.points[f"{what}_{end}"] for end in ("front", "rear", "outer"))
        mass, middle = self.unsprung.arm, (front + rear + outer) / 3.0
        size = float(np.linalg.norm(outer - 0.5 * (front + rear)))
        body = self.system.body(
            f"{self.name} {what} arm", mass=mass, inertia=(mass * size * size / 12.0,) * 3, at=middle
        )
        if what in self.compliance:
            self.system.free(f"{self.name} {what} seat", self.chassis, body)
            for end, at in (("front", front), ("rear", rear)):
                bushing = {"stiffness": NOTHING, **self.compliance[what]}
                self.system.bushing(
                    f"{self.name} {what} {end}", self.chassis.point_at(at), body.point_at(at), **bushing
                )
        else:
            seat = 0.5 * (front + rear)
            self.system.revolute(f"{self.name} {what} seat", self.chassis, body, at=seat, axis=front - rear)
        self.system.spherical(f"{self.name} {what} ball", body, knuckle, at=outer)
        return body

    def strut(self, on: Body, spring: Mapping[str, Any] | None, ends: tuple[str, str]) -> None:
        """Spring and damper from the chassis to a body."""
        if spring is not None:
            upper, lower = (self.points[end] for end in ends)
            self.system.strut(
                f"{self.name} strut", self.chassis.point_at(upper), on.point_at(lower), **spring
            )


def _rod(
    system: System,
    name: str,
    bodies: tuple[Body, Body],
    ends: tuple[Array, Array],
    elastic: Mapping[str, Any] | None,
) -> None:
    """A rod between points of two bodies [m], rigid or with the stiffness and damping of a spring."""
    a, b = (body.point_at(end) for body, end in zip(bodies, ends, strict=True))
    if elastic is None:
        system.distance(name, a, b)
    else:
        system.spring(name, a, b, free_length=float(np.linalg.norm(ends[1] - ends[0])), **elastic)


SPRING = ("spring_upper", "spring_lower")


def _checked(name: str, points: Any, needed: Sequence[str], spring: bool) -> dict[str, Array]:
    """Hard points by name, all that are needed and no others."""
    if not isinstance(points, Mapping):
        raise ModelError(f"points of suspension {name!r} must be a mapping of names and (x, y, z)")
    wanted = (*needed, *(SPRING if spring else ()))
    for key in points:
        if key not in (*needed, *SPRING):
            raise unknown_name(f"hard point of suspension {name!r}", str(key), (*needed, *SPRING))
    missing = [key for key in wanted if key not in points]
    if missing:
        raise ModelError(f"suspension {name!r} needs the hard points {', '.join(missing)}")
    return {key: _point(f"hard point {key!r} of suspension {name!r}", points[key]) for key in points}


def _point(what: str, given: Any) -> Array:
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or not np.all(np.isfinite(found)):
        raise ModelError(f"{what} must be three finite numbers, not {given!r}")
    return found


def _compliant(
    name: str, given: Mapping[str, Mapping[str, Any]], parts: Sequence[str]
) -> Mapping[str, Mapping[str, Any]]:
    for key in given:
        if key not in parts:
            raise unknown_name(f"part of suspension {name!r} with compliance", str(key), parts)
    return given


WISHBONE = ("lower_front", "lower_rear", "lower_outer")
TIE = ("tie_inner", "tie_outer")
UPPER = ("upper_front", "upper_rear", "upper_outer")


def double_wishbone(
    system: System,
    chassis: Body,
    name: str,
    points: Points,
    *,
    unsprung: Unsprung | None = None,
    rack: Body | None = None,
    spring: Mapping[str, Any] | None = None,
    compliance: Mapping[str, Mapping[str, Any]] = NO_COMPLIANCE,
) -> Axle:
    """Two wishbones and a tie rod on either side.

    points: `lower_front`, `lower_rear`, `lower_outer`, the same of `upper`, `tie_inner`, `tie_outer`, `wheel`, and with
    a spring `spring_upper` on the chassis and `spring_lower` on the lower wishbone. rack: Body on which the tie rods
    end; the chassis where missing. spring: Arguments of :meth:`~bellcrank.System.strut` but for its points. compliance:
    For `lower` and `upper` the stiffness and damping of the bushings at either seat, for `tie` those of an elastic rod.
    """
    hard = _checked(name, points, (*WISHBONE, *UPPER, *TIE, "wheel"), spring is not None)
    soft = _compliant(name, compliance, ("lower", "upper", "tie"))
    corners = []
    for side in SIDES:
        made = _Side(system, chassis, name, side, hard, unsprung or Unsprung(), soft)
        knuckle = made.knuckle()
        made.arm("lower", knuckle)
        if "upper" in soft:
            made.arm("upper", knuckle)
        else:
            outer = made.points["upper_outer"]
            for end in ("front", "rear"):
                made.rod(f"upper {end}", chassis, knuckle, (made.points[f"upper_{end}"], outer))
        made.rod("tie", rack or chassis, knuckle)
        made.strut(system.bodies[f"{made.name} lower arm"], spring, SPRING)
        corners.append(made.wheel(knuckle))
    return Axle(system, chassis, *corners)


def mcpherson(
    system: System,
    chassis: Body,
    name: str,
    points: Points,
    *,
    unsprung: Unsprung | None = None,
    rack: Body | None = None,
    spring: Mapping[str, Any] | None = None,
    compliance: Mapping[str, Mapping[str, Any]] = NO_COMPLIANCE,
) -> Axle:
    """A lower wishbone, a tie rod, and a strut whose tube is part of the knuckle, on either side.

    points: `lower_front`, `lower_rear`, `lower_outer`, `tie_inner`, `tie_outer`, `wheel`, `strut_upper` on the chassis
    and `strut_lower` on the knuckle; the strut slides along the line through both, and its spring acts there. Others as
    for :func:`double_wishbone`.
    """
    needed = (*WISHBONE, *TIE, "wheel", "strut_upper", "strut_lower")
    hard = _checked(name, points, needed, False)
    soft = _compliant(name, compliance, ("lower", "tie"))
    corners = []
    for side in SIDES:
        made = _Side(system, chassis, name, side, hard, unsprung or Unsprung(), soft)
        knuckle = made.knuckle()
        made.arm("lower", knuckle)
        made.rod("tie", rack or chassis, knuckle)
        upper, lower = made.points["strut_upper"], made.points["strut_lower"]
        seat = knuckle.frame(lower - made.points["wheel"], _along(upper - lower))
        system.point_on_line(f"{made.name} slide", seat, chassis.point_at(upper))
        made.strut(knuckle, spring, ("strut_upper", "strut_lower"))
        corners.append(made.wheel(knuckle))
    return Axle(system, chassis, *corners)


def _along(direction: Array) -> Array:
    """A rotation whose z axis has a direction."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def multi_link(
    system: System,
    chassis: Body,
    name: str,
    points: Points,
    links: Mapping[str, tuple[Point, Point]],
    *,
    unsprung: Unsprung | None = None,
    rack: Body | None = None,
    spring: Mapping[str, Any] | None = None,
    compliance: Mapping[str, Mapping[str, Any]] = NO_COMPLIANCE,
) -> Axle:
    """Five rods on either side.

    points: `wheel`, and with a spring `spring_upper` on the chassis and `spring_lower` on the knuckle. links: The rods
    by name, each with its ends on the chassis and on the knuckle. rack: Body on which the rod `tie` ends, if there is
    one; the chassis where missing. compliance: Stiffness and damping of elastic rods by name. Others as for
    :func:`double_wishbone`.
    """
    hard = _checked(name, points, ("wheel",), spring is not None)
    soft = _compliant(name, compliance, tuple(links))
    if len(links) != 5:
        raise ModelError(f"suspension {name!r} has {len(links)} links; five leave the wheel its travel")
    rods = _rods(name, links)
    corners = []
    for side in SIDES:
        made = _Side(system, chassis, name, side, hard, unsprung or Unsprung(), soft)
        knuckle = made.knuckle(free=True)
        mirror = np.array([1.0, made.sign, 1.0])
        for what, (inner, outer) in rods.items():
            carrier = rack if what == "tie" and rack is not None else chassis
            made.rod(what, carrier, knuckle, (inner * mirror, outer * mirror))
        made.strut(knuckle, spring, SPRING)
        corners.append(made.wheel(knuckle))
    return Axle(system, chassis, *corners)


def _rods(name: str, links: Any) -> dict[str, tuple[Array, Array]]:
    found = {}
    for what, ends in links.items():
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise ModelError(f"link {what!r} of suspension {name!r} needs two points, inner and outer")
        inner, outer = (_point(f"link {what!r} of suspension {name!r}", end) for end in ends)
        found[str(what)] = (inner, outer)
    return found


def twist_beam(
    system: System,
    chassis: Body,
    name: str,
    points: Points,
    torsion: float,
    *,
    unsprung: Unsprung | None = None,
    spring: Mapping[str, Any] | None = None,
) -> Axle:
    """Two trailing arms with a cross beam that twists but does not bend.

    points: `pivot` on the chassis, `beam`, a point of the axis about which the cross beam twists (that of its shear
    centres), `wheel`, and with a spring `spring_upper` on the chassis and `spring_lower` on the arm. torsion: Stiffness
    of the cross beam [N m/rad]. The pivots may move along their common axis, the middle of the beam stays in that of
    the car: the wheels have a common travel, about the line of the pivots, and an opposite one, which twists the beam.
    """
    hard = _checked(name, points, ("pivot", "beam", "wheel"), spring is not None)
    sides = {
        side: _Side(system, chassis, name, side, hard, unsprung or Unsprung(), NO_COMPLIANCE)
        for side in SIDES
    }
    left, right = sides["left"], sides["right"]
    arm, other = left.knuckle(free=True), right.knuckle()
    middle = hard["beam"] * (1.0, 0.0, 1.0)
    beam = system.revolute(f"{name} beam", arm, other, at=middle, axis="y")
    system.torsion_spring(f"{name} torsion", beam, stiffness=torsion)
    across = _along(np.array([0.0, 1.0, 0.0]))
    corners = []
    for made, half in ((left, arm), (right, other)):
        pivot = made.points["pivot"]
        seat = chassis.frame(chassis.local(pivot), chassis.start_rotation().T @ across)
        system.point_on_line(f"{made.name} pivot", seat, half.point_at(pivot))
        made.strut(half, spring, SPRING)
        corners.append(made.wheel(half))
    plane = chassis.frame(chassis.local(middle), chassis.start_rotation().T @ across)
    system.point_on_plane(f"{name} middle", plane, arm.point_at(middle))
    return Axle(system, chassis, *corners)


def solid_axle(
    system: System,
    chassis: Body,
    name: str,
    points: Points,
    links: Mapping[str, tuple[Point, Point]],
    *,
    unsprung: Unsprung | None = None,
    spring: Mapping[str, Any] | None = None,
    compliance: Mapping[str, Mapping[str, Any]] = NO_COMPLIANCE,
) -> Axle:
    """A rigid axle on four rods, which leave it heave and roll.

    points: `wheel`, and with springs `spring_upper` on the chassis and `spring_lower` on the axle. links: The four rods
    by name, each with its ends on the chassis and on the axle; none is mirrored. compliance: Stiffness and damping of
    elastic rods by name, of which there may be any number. unsprung: `knuckle` is the mass of half the axle.
    """
    hard = _checked(name, points, ("wheel",), spring is not None)
    soft = _compliant(name, compliance, tuple(links))
    rigid = len(links) - len(soft)
    if rigid > 4 or len(links) < 4:
        raise ModelError(
            f"axle {name!r} has {len(links)} links, {rigid} of them rigid; four leave it heave and roll"
        )
    u = unsprung or Unsprung()
    centre = hard["wheel"] * (1.0, 0.0, 1.0)
    y = float(hard["wheel"][1])
    J = np.array(u.knuckle_inertia) * 2.0 + 2.0 * u.knuckle * y * y / 3.0 * np.array([1.0, 0.0, 1.0])
    axle = system.body(f"{name} axle", mass=2.0 * u.knuckle, inertia=tuple(J), at=centre)
    system.free(f"{name} motion", chassis, axle)
    sides = [_Side(system, chassis, name, side, hard, u, soft) for side in SIDES]
    rods = _rods(name, links)
    for what, ends in rods.items():
        _rod(system, f"{name} {what}", (chassis, axle), ends, soft.get(what))
    corners = []
    for made in sides:
        made.strut(axle, spring, SPRING)
        corners.append(made.wheel(axle))
    return Axle(system, chassis, *corners)


def steering_rack(
    system: System, chassis: Body, name: str, at: Point, mass: float = 4.0
) -> tuple[Body, Joint]:
    """A rack that slides across the chassis, for the tie rods of a suspension, and its joint.

    at: Its middle in the design position [m].
    """
    rack = system.body(name, mass=mass, inertia=(0.04 * mass, 1e-3 * mass, 0.04 * mass), at=at)
    return rack, system.prismatic(f"{name} guide", chassis, rack, axis="y", at=at)


__all__ = [
    "Axle",
    "Corner",
    "Unsprung",
    "double_wishbone",
    "mcpherson",
    "multi_link",
    "solid_axle",
    "steering_rack",
    "twist_beam",
]
