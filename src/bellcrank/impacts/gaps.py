"""What is watched of open contacts: their gaps, and how these change."""

from __future__ import annotations

from functools import partial

from bellcrank.integrate.crossings import RATE
from bellcrank.mechanics.contacts import ContactPair, along
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.program.trace import Scalar
from bellcrank.run.events import Event, StateEvent

MISSED = (1e-9, 1e-7, 1e-5)
"""A gap below minus this part of the unit of length was not seen at its zero, because the bounce before was too low; it
strikes there. Where other contacts close that were as good as closed, the body may be moved by more than the first."""


class Gap(StateEvent):
    """The gap of a contact falling through zero; its name is the contact's."""


class Missed(Gap):
    """The gap of a contact well below zero, where it was not seen to fall through it."""


class GapRate(StateEvent):
    """The rate of the gap before it: it vanishes where the gap is smallest, so that no short overlap is missed."""

    def __post_init__(self) -> None:
        assert self.direction == RATE


def watching(pair: ContactPair) -> list[Event]:
    """What is watched of an open contact."""

    def gap(kin: Kinematics, t: Scalar) -> Scalar:
        return pair.closest(kin).distance

    def deeper(by: float, kin: Kinematics, t: Scalar) -> Scalar:
        return pair.closest(kin).distance + by

    def rate(kin: Kinematics, t: Scalar) -> Scalar:
        return along(kin, pair.rows(kin)[1][0])

    name = pair.contact.name
    return [
        Gap(name, direction=-1, trace=gap),
        GapRate(name, direction=RATE, trace=rate),
        *(Missed(name, direction=-1, trace=partial(deeper, by * pair.length)) for by in MISSED),
    ]


__all__ = ["MISSED", "Gap", "GapRate", "Missed", "watching"]
