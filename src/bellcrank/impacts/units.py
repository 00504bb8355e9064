"""What contacts measure against: a length and a speed of the bodies that touch.

What is small for a mechanism of a metre is large for one of a micrometre. Gaps, slips and moments that are small are
given as parts of these units, so that a mechanism of another size, with its times scaled likewise, does the same.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism.sizes import body_sizes, contact_lengths

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism


def placed_pairs(mechanism: Mechanism) -> tuple[ContactPair, ...]:
    """The contacts of a mechanism on its links, in their units."""
    system = mechanism.system
    gravity, moving = float(np.linalg.norm(mechanism.linkage.gravity)), _moving(mechanism)
    found = []
    contacts = list(system.contacts.values())
    for contact, length in zip(contacts, contact_lengths(system, contacts), strict=True):
        speed = math.sqrt(gravity * length) or moving or length
        found.append(replace(ContactPair.of(contact, mechanism.linkage), length=length, speed=speed))
    # Stops of joints have no tangents: they go with both kinds of shapes.
    flat = any(pair.planar for pair in found)
    return tuple(replace(pair, planar=flat) if pair.contact.limits is not None else pair for pair in found)


def group_units(mechanism: Mechanism) -> tuple[dict[str, float], float, float]:
    """Lengths of bodies [m], and the speed of a length as a constant [m/s] and a factor of its root."""
    gravity, moving = float(np.linalg.norm(mechanism.linkage.gravity)), _moving(mechanism)
    sizes = body_sizes(mechanism.system)
    if gravity > 0.0:
        return sizes, 0.0, math.sqrt(gravity)
    return sizes, moving or max(sizes.values(), default=0.0), 0.0


def _moving(mechanism: Mechanism) -> float:
    """The greatest speed at the start [m/s], up to the next power of ten, so that programs serve many starts."""
    sizes, u = body_sizes(mechanism.system), np.abs(mechanism.start.u)
    arm = max(sizes.values(), default=0.0)
    greatest = 0.0
    for link in mechanism.linkage.links:
        turning, sliding = u[link.turning_speeds], u[link.sliding_speeds]
        greatest = max(greatest, arm * float(turning.max(initial=0.0)), float(sliding.max(initial=0.0)))
    return float(10.0 ** math.ceil(math.log10(greatest))) if greatest > 0.0 else 0.0


__all__ = ["group_units", "placed_pairs"]
