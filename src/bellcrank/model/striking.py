"""Contacts in the impulsive treatment: what the user says, checked and made into contacts."""

from __future__ import annotations

from typing import Any

from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.contacts import LAWS, Contact, PlacedShape
from bellcrank.model.parameters import ParameterTable
from bellcrank.model.pressing import at_spots, count_of_points, remember_search, sides_around


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
    box touches a plane with its ends, rims or corners, all of them where points is missing, or with its lowest point
    alone for points=1. pressing: What belongs to the other treatment, and is refused.
    """
    who = f"contact {name!r}"
    if pressing:
        raise ModelError(
            f"{who}: {next(iter(pressing))} belongs to the continuous treatment; add treatment='continuous'"
        )
    touching = at_spots(points, a, b, rigid=True)
    count = len(touching) if touching else count_of_points(who, points, a.shape, b.shape, rigid=True)
    mu = checks.plain_number(f"friction of {who}", friction, "friction is a plain number")
    if mu < 0.0:
        raise ModelError(f"friction of {who} is {mu:g}; it must not be negative")
    law = LAWS[0] if law is None else law
    if law not in LAWS:
        raise ModelError(f"{who}: no law {law!r}; choose one of {', '.join(LAWS)}")
    found = []
    for k in range(count):
        own = name if count == 1 else f"{name} {k + 1}"
        sides = touching[k] if touching else sides_around(parameters, own, a, b, exact=True)
        found.append(Contact(own, *sides, restitution, mu, law, name, count))
    if not touching:
        remember_search(parameters, name, a, b)
    return found


__all__ = ["striking_contacts"]
