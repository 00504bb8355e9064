"""Wheels: links whose spin changes nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bellcrank.math.tuples import add, mat, times, vec
from bellcrank.mechanics.constraints import Constraint
from bellcrank.mechanics.inertia import Inertia
from bellcrank.mechanics.links import Link, Linkage

if TYPE_CHECKING:
    from bellcrank.model.system import System


def spinning_links(
    system: System, linkage: Linkage, constraints: Sequence[Constraint], inertias: Sequence[Inertia]
) -> frozenset[int]:
    """Revolute links at the tips of the tree, symmetric about their axis, with nothing attached off it.

    Their equations hold in axes that do not turn with them, in which sine and cosine of the spin never enter.
    """
    carrying = {link.parent for link in linkage.links}
    for contact in system.contacts.values():
        carrying |= {linkage.seat(side.frame).link for side in (contact.a, contact.b)}
    for frame in system.colliding.values():
        carrying.add(linkage.seat(frame).link)
    geared = {k for c in constraints for k in (c.links if c.sides is not None else c.turns)}
    found = set()
    for link in linkage.links:
        plain = link.kind.spins and link.index not in carrying and link.index not in geared
        if plain and _symmetric(inertias[link.index]) and _only_on_axis(system, linkage, link):
            found.add(link.index)
    return frozenset(found)


def _symmetric(p: Inertia) -> bool:
    values = (*p.h[:2], p.J[0] - p.J[1], *p.J[3:])
    size = abs(p.J[0]) if isinstance(p.J[0], float) else 0.0
    return all(isinstance(x, float) and abs(x) <= 1e-12 * size for x in values)


def _only_on_axis(system: System, linkage: Linkage, link: Link) -> bool:
    for force in system.forces.values():
        for frame in force.frames:
            if linkage.seat(frame).link != link.index:
                continue
            if force.spin_axis is None:
                return False
            seat = linkage.seat(frame)
            place = add(seat.p, times(seat.r, vec(frame.position)))
            axis = times(mat(seat.r), vec(force.spin_axis))
            if not all(isinstance(x, float) and abs(x) < 1e-12 for x in (*place[:2], *axis[:2])):
                return False
    return True
