"""Contacts in the impulsive treatment: what the user says, checked and made into contacts."""

from __future__ import annotations

from typing import Any

from bellcrank.contact.shapes import Box, Capsule, Cylinder, Shape
from bellcrank.contact.spots import flat_spotted
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.contacts import LAWS, Contact, PlacedShape
from bellcrank.model.parameters import Parameter, ParameterTable
from bellcrank.model.pressing import (
    at_spots,
    count_of_points,
    remember_search,
    rounded_edges,
    sides_around,
)
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
    points: int | None = None,
    **pressing: Any,
) -> list[Contact]:
    """One contact for each point at which two shapes may touch; of several they are called "<name> 1" and so on.

    points: At how many points at most a surface of data touches at a time, 1 where missing. A capsule, a cylinder or a
    box touches a plane with its ends, rims or corners, and boxes and capsules each other at several places: all of
    them where points is missing, or at one point for points=1; a mesh that corners alone span touches a plane with all
    of them. pressing: What belongs to the other treatment, and is refused.
    """
    who = f"contact {name!r}"
    if pressing:
        raise ModelError(
            f"{who}: {next(iter(pressing))} belongs to the continuous treatment; add treatment='continuous'"
        )
    _check_standing(who, a.shape, b.shape, points)
    touching = at_spots(points, a, b, rigid=True)
    count = len(touching) if touching else count_of_points(who, points, a.shape, b.shape, rigid=True)
    mu = checks.plain_number(f"friction of {who}", friction, "friction is a plain number")
    if mu < 0.0:
        raise ModelError(f"friction of {who} is {mu:g}; it must not be negative")
    law = LAWS[0] if law is None else law
    if law not in LAWS:
        raise ModelError(f"{who}: no law {law!r}; choose one of {', '.join(LAWS)}")
    notes = () if touching else rounded_edges(name, a, b, exact=True)
    found = []
    for k in range(count):
        own = name if count == 1 else f"{name} {k + 1}"
        sides = touching[k] if touching else sides_around(parameters, own, a, b, exact=True)
        heading: tuple[Scalar, Scalar, Scalar] | None = None
        # Slip of nodes of flexible bodies is a speed of its own, and turns as fast as it begins.
        if mu > 0.0 and not a.shape.planar and all(side.frame.body.member is None for side in (a, b)):
            x, y, z = (parameters.add(Parameter(f"{own} heading {axis}", 0.0, "", True)) for axis in "xyz")
            heading = x, y, z
        found.append(Contact(own, *sides, restitution, mu, law, name, count, heading, notes))
    if not touching:
        remember_search(parameters, name, a, b)
    return found


def _check_standing(who: str, a: Shape, b: Shape, points: int | None) -> None:
    """Raise for bodies that may stand or lie on each other where no rigid contact follows rims or flat spots."""
    if flat_spotted(a, b) and points is None:
        raise ModelError(
            f"{who}: two superellipsoids with flat spots may lie on each other, where a single point runs across "
            "them at any speed; add treatment='continuous', give them as boxes, or points=1 where they only strike"
        )
    shapes = {type(a), type(b)}
    if Cylinder not in shapes or not shapes <= {Box, Capsule, Cylinder}:
        return
    pair = f"{who}: {type(a).__name__} and {type(b).__name__}"
    if Box in shapes:
        raise ModelError(
            f"{pair} may stand on each other, with a rim that no impulsive contact follows; add "
            "treatment='continuous', or give the cylinder as a mesh (Sampled.from_mesh) and the contact points=8"
        )
    if points is None:
        raise ModelError(
            f"{pair} may lie along each other, where a single point would jump from end to end; add "
            "treatment='continuous', which follows several, or points=1 where they only strike crosswise"
        )


__all__ = ["striking_contacts"]
