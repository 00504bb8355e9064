"""What impulsive contacts ask of a model before a run."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.errors import ModelError
from bellcrank.impacts.solver import ContactState
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism import Mechanism

TOUCHING = 1e-8
"""Contacts nearer than this part of the unit of length at an impact take part in it."""


def check_apart(pair: ContactPair, s: ContactState) -> None:
    """Shapes may touch at the start, not overlap."""
    if s.gap >= -TOUCHING * pair.length:
        return
    a, b = pair.contact.a.frame.body.name, pair.contact.b.frame.body.name
    way = ", ".join(f"{-s.gap * x + 0.0:.4g}" for x in s.normal)
    raise ModelError(
        f"contact {pair.contact.name!r}: {a!r} and {b!r} start {-s.gap * 1e3:.3g} mm inside each other; "
        f"to separate them, move {b!r} by ({way}) m, or make a shape smaller"
    )


def check_movable(pair: ContactPair, base: Mechanism) -> None:
    """Shapes between which nothing moves never meet."""
    links = (*base.linkage.path(pair.a.link, pair.base), *base.linkage.path(pair.b.link, pair.base))
    if not any(len(base.linkage.links[k].own_speeds) for k in links):
        a, b = pair.contact.a.frame.body.name, pair.contact.b.frame.body.name
        raise ModelError(
            f"contact {pair.contact.name!r} can never close: {a!r} and {b!r} do not move against each other; "
            "put one of its shapes on a body that moves"
        )


def check_dimensions(pairs: Sequence[ContactPair]) -> None:
    """Impacts are solved in the plane or in space, all of them."""
    flat = [pair.contact.name for pair in pairs if pair.planar]
    if flat and len(flat) < len(pairs):
        solid = next(pair.contact.name for pair in pairs if not pair.planar)
        raise ModelError(
            f"contact {flat[0]!r} is between plane curves, contact {solid!r} between solid shapes; use one kind: "
            "a circle becomes a sphere or a cylinder, a line becomes a plane"
        )
