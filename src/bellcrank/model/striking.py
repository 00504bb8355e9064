"""Contacts in the impulsive treatment: what the user says, checked and made into contacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.contact.closest import OF_DATA
from bellcrank.contact.fields import has_field, surface_missing
from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.contact.shapes import Box, Cylinder, Shape
from bellcrank.contact.shapes.base import FieldShape
from bellcrank.contact.side_by_side import count, lie_on_each_other
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.contacts import LAWS, Contact, PlacedShape
from bellcrank.model.parameters import Parameter, ParameterTable
from bellcrank.model.pressing import at_spots, kept_by_search, no_points, notes_of
from bellcrank.program.trace import Expr, Scalar


def striking_contacts(
    parameters: ParameterTable,
    name: str,
    a: PlacedShape,
    b: PlacedShape,
    restitution: Scalar,
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
    check_options(who, points, pressing)
    touching = struck_sides(a, b)
    count = len(touching)
    mu = coefficient(f"friction of {who}", friction, parameters)
    rubs = isinstance(mu, Expr) or mu > 0.0
    law = checks.choice(f"law of {who}", LAWS[0] if law is None else law, LAWS)
    notes = notes_of(name, a, b)
    found = []
    for k in range(count):
        own = name if count == 1 else f"{name} {k + 1}"
        heading: tuple[Scalar, Scalar, Scalar] | None = None
        # Slip of nodes of flexible bodies is a speed of its own, and turns as fast as it begins.
        if rubs and not a.shape.planar and all(side.frame.body.member is None for side in (a, b)):
            x, y, z = (parameters.add(Parameter(f"{own} heading {axis}", 0.0, "", True)) for axis in "xyz")
            heading = x, y, z
        warm = kept_by_search(parameters, own, a.shape, b.shape)
        found.append(Contact(own, *touching[k], restitution, mu, law, name, count, heading, notes, warm))
    return found


def struck_sides(a: PlacedShape, b: PlacedShape) -> list[tuple[PlacedShape, PlacedShape]]:
    """Both sides for each point at which two rigid shapes may touch."""
    return at_spots(a, b, rigid=True) or [(a, b)]


def check_options(who: str, points: Any, pressing: Mapping[str, Any]) -> None:
    """Refuse what belongs to the other treatment."""
    if pressing:
        raise ModelError(
            f"{who}: {next(iter(pressing))} belongs to the continuous treatment; add treatment='continuous'"
        )
    no_points(who, points)


def coefficient(what: str, given: Any, parameters: ParameterTable) -> Scalar:
    """A coefficient of friction or a length of resistance, not negative (with the present parameter values)."""
    if isinstance(given, Coulomb | LuGre):
        raise ModelError(
            f"{what} is a law of the continuous treatment; give a coefficient, or add treatment='continuous'"
        )
    return checks.at_least_zero(what, given, parameters)


def in_patch(a: Shape, b: Shape) -> bool:
    """Whether two rigid shapes touch in a patch whose points are not known beforehand: meshes, fields, and rims."""
    if not (has_field(a) and has_field(b)) or surface_missing(a, b):
        return False
    if any(isinstance(shape, FieldShape) and not isinstance(shape, OF_DATA) for shape in (a, b)):
        return True
    return {type(a), type(b)} == {Cylinder, Box}


def stand_on_rims(a: Shape, b: Shape) -> bool:
    """Whether two shapes may lie on each other with a rim, which no fixed number of points follows."""
    return lie_on_each_other(a, b) and not count(a, b)


__all__ = ["check_options", "coefficient", "in_patch", "stand_on_rims", "striking_contacts", "struck_sides"]
