"""Impacts and lasting contact: impulses with friction, forces that last, the time of an impact, and runs of them."""

from bellcrank.impacts.impact_queue import ImpactQueue
from bellcrank.impacts.impulses import Impact, ImpactError, Propagation, solve_impact
from bellcrank.impacts.lasting import (
    ContactForces,
    ContactState,
    JammedContact,
    after_slip_stops,
    contact_forces,
)
from bellcrank.impacts.routh import ImpactLaw

__all__ = [
    "ContactForces",
    "ContactState",
    "Impact",
    "ImpactError",
    "ImpactLaw",
    "ImpactQueue",
    "JammedContact",
    "Propagation",
    "after_slip_stops",
    "contact_forces",
    "solve_impact",
]
