"""The method `auto`: explicit while it can be, implicit while the motion is stiff.

The tolerance decides the explicit method. A step of order 8 costs 12 evaluations, one of order 5 seven; to an accuracy
of about 1e-5 both need the same number of evaluations, for pendulums, chains and linkages alike, and fewer of order 5
where dampers bound the step. So `runge_kutta5` is taken at tolerances from there on, `dop853` below.

Between it and `radau` the price of a second of motion decides, as spent by the one and as foreseen for the other (see
`stiffness`). Prices are counted in evaluations, never taken from the clock. Each method is compiled only when its turn
comes.
"""

from __future__ import annotations

from bellcrank.integrate.problem import Options
from bellcrank.integrate.status import Status

LOOSE = 1e-5
"""Tolerance from which on order 5 needs no more evaluations than order 8 for the same accuracy."""


def explicit(options: Options) -> str:
    """The explicit method. The tolerance does not choose a fixed step: the more accurate method makes it."""
    return "runge_kutta5" if options.rtol >= LOOSE and options.fixed_step == 0.0 else "dop853"


def successor(status: Status, options: Options) -> str | None:
    """The method to go on with, or None where the status asks for no change."""
    if status is Status.STIFF:
        return "radau"
    return explicit(options) if status is Status.NONSTIFF else None
