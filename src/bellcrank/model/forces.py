"""Forces: what acts between bodies, in joints, at points and on the ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from bellcrank.math.tuples import Vec
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Joint
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.fields import FieldLaw
    from bellcrank.contact.friction import Coulomb, LuGre
    from bellcrank.contact.laws import ForceLaw
    from bellcrank.model.contacts import Contact

Six: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]


class Axes(StrEnum):
    """The axes the components of an applied force or torque refer to."""

    WORLD = "world"
    BODY = "body"


@dataclass(frozen=True, eq=False)
class LineForce:
    """A force along the line between two points.

    function(length, rate, t): Force that pushes the points apart [N], of their distance [m], its rate
    [m/s] and time [s]. energy(length): Potential energy [J], where there is one.
    """

    kind: ClassVar[str] = "force"
    name: str
    a: Frame
    b: Frame
    function: Callable[..., Scalar]
    energy: Callable[..., Scalar] | None = None


@dataclass(frozen=True, eq=False)
class Spring:
    """A linear spring and damper between two points: stiffness [N/m], damping [N s/m], free_length [m].

    The tension is stiffness * (length - free_length) + damping * rate.
    """

    kind: ClassVar[str] = "spring"
    name: str
    a: Frame
    b: Frame
    stiffness: Scalar
    damping: Scalar = 0.0
    free_length: Scalar = 0.0


@dataclass(frozen=True, eq=False)
class JointForce:
    """function(coordinate, rate, t): Force [N] or torque [N m] on B along a coordinate, opposite on A."""

    kind: ClassVar[str] = "joint_force"
    name: str
    joint: Joint
    coordinate: str
    function: Callable[..., Scalar]


@dataclass(frozen=True, eq=False)
class TorsionSpring:
    """A linear spring and damper on a joint coordinate.

    stiffness: [N m/rad, or N/m on a displacement]. damping: [N m s/rad or N s/m]. free_angle: [rad or m].
    The torque on B is -stiffness * (coordinate - free_angle) - damping * rate.
    """

    kind: ClassVar[str] = "torsion_spring"
    name: str
    joint: Joint
    coordinate: str
    stiffness: Scalar
    damping: Scalar = 0.0
    free_angle: Scalar = 0.0


@dataclass(frozen=True, eq=False)
class Bushing:
    """Six springs and dampers between two frames, along and about the axes of `a`.

    stiffness: 3 [N/m] and 3 [N m/rad]. damping: 3 [N s/m] and 3 [N m s/rad]. Force on B is -k*displacement
    - c*rate of b's origin in a's axes; the rotation is half the antisymmetric part of the relative
    rotation matrix.
    """

    kind: ClassVar[str] = "bushing"
    name: str
    a: Frame
    b: Frame
    stiffness: Six
    damping: Six


@dataclass(frozen=True, eq=False)
class AppliedForce:
    """A force [N] on a point: three components in world or body axes.

    function takes, by name, any of t, position, velocity, rotation, angular_velocity (of the point and
    its body, in world axes).
    """

    kind: ClassVar[str] = "applied_force"
    name: str
    frame: Frame
    function: Callable[..., Vec]
    axes: Axes = Axes.WORLD


@dataclass(frozen=True, eq=False)
class AppliedTorque:
    """A torque [N m] on a body; arguments as for :class:`AppliedForce`."""

    kind: ClassVar[str] = "applied_torque"
    name: str
    frame: Frame
    function: Callable[..., Vec]
    axes: Axes = Axes.WORLD


@dataclass(frozen=True, eq=False)
class GroundSpring:
    """A wheel on a road: a vertical spring below its centre, with slip forces in proportion to the load.

    With c the wheel centre, v its velocity, h the road height below it, d = radius + h - c_z: the load is
    N = max(0, stiffness d + damping (h_x v_x + h_y v_y - v_z)) for d > 0, else 0. At P = (c_x, c_y, h) the
    force is N n - N/reference_load (longitudinal (v_P.e_x) e_x + lateral (v_P.e_y) e_y), n = (0, 0, 1),
    e_x = a x n / |a x n|, e_y = n x e_x, a the spin axis.

    axis: Spin axis, unit vector in body axes. radius: [m]. stiffness: [N/m]. damping: [N s/m].
    longitudinal, lateral: Slip coefficients [N s/m] at the load reference_load [N]. road(x, y, t): Height
    [m]; None is flat ground at 0.
    """

    kind: ClassVar[str] = "ground_spring"
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


@dataclass(frozen=True, eq=False)
class ContactForce:
    """Two shapes that press on each other where they overlap: a contact in the continuous treatment.

    a, b: Frames of the shapes. contact: The pair. law: Of the normal force. stiffness: K of F = K d^exponent
    [N/m^exponent], or None where `modulus`, E* [Pa], and the local curvatures give it. factor: a of the law.
    damping: Of Kelvin and Voigt's law [N s/m]. approach_speed: The parameter that holds the speed of the last touch
    [m/s]. friction: Law of friction, None without. group: What the user called the contact, of which this is one of so
    many `points`. bend: The states that hold how far bristles are bent, in the axes of
    the bodies' common link [m]; None for friction without memory. given: Young's modulus, Poisson's
    ratio and the first approach speed as the user said them.
    """

    name: str
    a: Frame
    b: Frame
    contact: Contact
    law: ForceLaw
    stiffness: Scalar | None
    modulus: Scalar
    exponent: float
    factor: float
    damping: Scalar
    approach_speed: Scalar
    friction: Coulomb | LuGre | None = None
    group: str = ""
    points: int = 1
    bend: tuple[Scalar, Scalar, Scalar] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slowest(self) -> float:
        """The least speed a touch is taken to have [m/s]."""
        from bellcrank.contact.laws import SLOWEST

        return SLOWEST * float(self.given["approach_speed"])


@dataclass(frozen=True, eq=False)
class FieldContact(ContactForce):
    """Two shapes that press on each other by the depth of each in the field of the other.

    `stiffness` is k of the law foundation [N/m^3]; with the law half-space `modulus` is E* [Pa]. warm: Parameters that
    keep where the bodies were deepest in each other. drill: The state that holds how far bristles are bent about the
    normal, at the mean distance of the load from its middle [m].
    """

    field_law: FieldLaw = None  # type: ignore[assignment]
    warm: tuple[Scalar, ...] = ()
    drill: Scalar | None = None


ForceElement: TypeAlias = (
    LineForce | Spring | JointForce | TorsionSpring | Bushing | AppliedForce | AppliedTorque | GroundSpring
)
"""Forces of their own kind in files; contacts stand under their shapes."""
Force: TypeAlias = ForceElement | ContactForce
