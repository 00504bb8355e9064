"""Forces of contacts in the continuous treatment; what they do is in :mod:`bellcrank.mechanics.pressing`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bellcrank.model.forces.element import ActingForce
from bellcrank.model.frames import Frame
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.fields import FieldLaw
    from bellcrank.contact.friction import Coulomb, LuGre
    from bellcrank.contact.laws import ForceLaw
    from bellcrank.model.contacts import Contact


@dataclass(frozen=True, eq=False)
class ContactForce(ActingForce):
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
    def frames(self) -> tuple[Frame, ...]:
        return (self.a, self.b)

    @property
    def held_at(self) -> tuple[Frame, ...]:
        return ()

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
