"""Contacts in the impulsive treatment: what the user says, checked and made into contacts."""

from __future__ import annotations

from typing import Any

from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.contact.shapes import Box, Cylinder, Shape
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.contacts import LAWS, Contact, PlacedShape
from bellcrank.model.parameters import Parameter, ParameterTable
from bellcrank.model.pressing import at_spots, kept_by_search, no_points, notes_of
from bellcrank.program.trace import Scalar


def striking_contacts(
    parameters: ParameterTable,
    name: str,
    a: PlacedShape,
    b: PlacedShape,
    restitution: float,
    friction: Any,
    law: str | None,
    *,
    points: Any = None,
    **pressing: Any,
) -> list[Contact]:
    """One contact for each point at which two shapes may touch; of several they are called "<name> 1" and so on.

    A capsule, a cylinder or a box touches a plane with its ends, rims or corners, and boxes and capsules each other at
    several places. pressing: What belongs to the other treatment, and is refused.
    """
    who = f"contact {name!r}"
    if pressing:
        raise ModelError(
            f"{who}: {next(iter(pressing))} belongs to the continuous treatment; add treatment='continuous'"
        )
    no_points(who, points)
    check_standing(who, a.shape, b.shape)
    touching = struck_sides(a, b)
    count = len(touching)
    if isinstance(friction, Coulomb | LuGre):
        raise ModelError(
            f"friction of {who} is a law of the continuous treatment; give a coefficient, or add "
            "treatment='continuous'"
        )
    mu = checks.plain_number(f"friction of {who}", friction, "friction is a plain number")
    if mu < 0.0:
        raise ModelError(f"friction of {who} is {mu:g}; it must not be negative")
    law = checks.choice(f"law of {who}", LAWS[0] if law is None else law, LAWS)
    notes = notes_of(name, a, b)
    found = []
    for k in range(count):
        own = name if count == 1 else f"{name} {k + 1}"
        heading: tuple[Scalar, Scalar, Scalar] | None = None
        # Slip of nodes of flexible bodies is a speed of its own, and turns as fast as it begins.
        if mu > 0.0 and not a.shape.planar and all(side.frame.body.member is None for side in (a, b)):
            x, y, z = (parameters.add(Parameter(f"{own} heading {axis}", 0.0, "", True)) for axis in "xyz")
            heading = x, y, z
        warm = kept_by_search(parameters, own, a.shape, b.shape)
        found.append(Contact(own, *touching[k], restitution, mu, law, name, count, heading, notes, warm))
    return found


def struck_sides(a: PlacedShape, b: PlacedShape) -> list[tuple[PlacedShape, PlacedShape]]:
    """Both sides for each point at which two rigid shapes may touch."""
    return at_spots(a, b, rigid=True) or [(a, b)]


def check_standing(who: str, a: Shape, b: Shape) -> None:
    """Raise for bodies that may stand on each other with a rim, which no rigid contact follows."""
    if {type(a), type(b)} == {Cylinder, Box}:
        raise ModelError(
            f"{who}: {type(a).__name__} and {type(b).__name__} may stand on each other, with a rim that no impulsive "
            "contact follows; add treatment='continuous'"
        )


__all__ = ["check_standing", "striking_contacts", "struck_sides"]
