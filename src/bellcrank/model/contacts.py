"""Contacts: pairs of shapes on two bodies that may touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.frames import Frame
from bellcrank.model.registry import Registry
from bellcrank.program.trace import Expr

if TYPE_CHECKING:
    from bellcrank.contact.shapes import Shape

LAWS = ("newton", "poisson", "stronge")


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """A shape on a body; `frame` is the shape's own frame."""

    frame: Frame
    shape: Shape


@dataclass(frozen=True, eq=False)
class Contact:
    """Two shapes that may touch.

    restitution: e in [0, 1]. friction: Coulomb's coefficient. law: Of restitution, one of newton, poisson, stronge.
    """

    name: str
    a: PlacedShape
    b: PlacedShape
    restitution: float
    friction: float
    law: str


class ContactMethods(Registry):
    """Contacts between shapes on bodies."""

    contacts: dict[str, Contact]

    def contact(
        self,
        name: str,
        a: PlacedShape,
        b: PlacedShape,
        restitution: float = 1.0,
        friction: float = 0.0,
        law: str = "newton",
    ) -> Contact:
        """Let two shapes strike and touch each other.

        a, b: From ``body.sphere(...)``, ``body.circle(...)``, ``ground.plane(...)`` and their kin. restitution: Speed of
        parting over speed of approach, 0 to 1. friction: Coulomb's coefficient, also during impacts.
        """
        from bellcrank.contact.closest import check_pair

        name = self._new_name("contact", name)
        who = f"contact {name!r}"
        for side in (a, b):
            if not isinstance(side, PlacedShape):
                raise ModelError(f"{who} needs two shapes on bodies, such as body.sphere(0.1), not {side!r}")
            if side.frame.body.name not in (*self.bodies, self.ground.name):
                raise ModelError(f"{who}: body {side.frame.body.name!r} belongs to another system")
        if a.frame.body is b.frame.body:
            raise ModelError(f"{who} joins body {a.frame.body.name!r} to itself; choose shapes on two bodies")
        e = _between_zero_and_one(who, restitution)
        mu = checks.plain_number(f"friction of {who}", friction, "friction is a plain number")
        if mu < 0.0:
            raise ModelError(f"friction of {who} is {mu:g}; it must not be negative")
        if law not in LAWS:
            raise ModelError(f"{who}: no law {law!r}; choose one of {', '.join(LAWS)}")
        check_pair(a.shape, b.shape)
        self.contacts[name] = Contact(name, a, b, e, mu, law)
        return self.contacts[name]


def _between_zero_and_one(who: str, given: Any) -> float:
    if isinstance(given, Expr):
        raise ModelError(f"restitution of {who} is a plain number between 0 and 1")
    e = checks.plain_number(f"restitution of {who}", given, "restitution is a plain number")
    if not 0.0 <= e <= 1.0:
        raise ModelError(f"restitution of {who} is {e:g}; it must lie between 0 (plastic) and 1 (elastic)")
    return e
