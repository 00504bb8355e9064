"""Laws of the normal force of a continuous contact: penetration and its rate to a force that never pulls.

All laws but Kelvin and Voigt's have the form of Hunt and Crossley, F = K d^n (1 + a v / v0), with d the penetration,
v its rate and v0 the rate at which the bodies touched. Whatever K, n and the masses, the restitution e it
*delivers* obeys

    a (1 + e) = ln((1 + a) / (1 - a e)),

which the published factors a(e) meet only near e = 1; `calibrated` solves it for a.

Sources: Hunt and Crossley (1975); Lankarani and Nikravesh (1990), which is equation (10) of Park et al.
(2003); Flores, Machado, Silva and Martins (2011); equation (4) of Park et al. for Kelvin and Voigt.
Differs in: a contact never pulls, F = max(0, F); Park et al. do not say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum

from bellcrank.contact.given import is_positive
from bellcrank.errors import ModelError
from bellcrank.program.functions import maximum, where
from bellcrank.program.trace import Scalar, compare, power

SLOWEST = 1e-3
"""Part of the approach speed a contact is given below which the speed of a touch is not taken.

The damping goes with the inverse of that speed. A body that is laid down rather than dropped touches at next to none,
and would sink in over minutes, with forces stiffer than any step can follow.
"""


class ForceLaw(StrEnum):
    """How penetration and its rate become a force."""

    KELVIN_VOIGT = "kelvin-voigt"
    """K d + D v; jumps at the touch."""
    HERTZ = "hertz"
    """K d^n: keeps the energy."""
    HUNT_CROSSLEY = "hunt-crossley"
    """a = 3 (1 - e) / 2."""
    LANKARANI_NIKRAVESH = "lankarani-nikravesh"
    """a = 3 (1 - e^2) / 4; never delivers less than 0.663."""
    FLORES = "flores"
    """a = 8 (1 - e) / (5 e)."""
    CALIBRATED = "calibrated"
    """a such that the restitution delivered is the one asked for."""


def _remainder(x: float) -> float:
    """(x - ln(1 + x)) / x^2 for x > -1, also near zero."""
    if abs(x) < 1e-2:
        return sum((-x) ** k / (k + 2) for k in range(12))
    return (x - math.log1p(x)) / (x * x)


def calibrated_factor(restitution: float) -> float:
    """The a that delivers `restitution`, in (0, 1].

    With L(x) = (x - ln(1 + x)) / x^2 the condition is L(a) = e^2 L(-a e), without the root a = 0. The unknown is
    c = -ln(1 - a e), which stays of moderate size where a e comes close to one.
    """
    from scipy.optimize import brentq

    e = restitution
    if e == 1.0:
        return 0.0

    def miss(c: float) -> float:
        b = -math.expm1(-c)
        beyond = _remainder(-b) if c < 1.0 else (c - b) / (b * b)
        return _remainder(b / e) - e * e * beyond

    c = float(brentq(miss, 0.0, 2.0 / e + 2.0, xtol=1e-15, rtol=8.9e-16))
    return -math.expm1(-c) / e


FACTORS: Mapping[ForceLaw, Callable[[float], float]] = {
    ForceLaw.HERTZ: lambda e: 0.0,
    ForceLaw.HUNT_CROSSLEY: lambda e: 1.5 * (1.0 - e),
    ForceLaw.LANKARANI_NIKRAVESH: lambda e: 0.75 * (1.0 - e * e),
    ForceLaw.FLORES: lambda e: 1.6 * (1.0 - e) / e,
    ForceLaw.CALIBRATED: calibrated_factor,
}
"""The factor a of each law of the form of Hunt and Crossley, by the restitution asked for."""


def delivered_restitution(factor: float) -> float:
    """The restitution that F = K d^n (1 + a v / v0) delivers."""
    from scipy.optimize import brentq

    if factor == 0.0:
        return 1.0

    def miss(e: float) -> float:
        return _remainder(factor) - e * e * _remainder(-factor * e)

    most = min(1.0, (1.0 - 1e-15) / factor)
    # Beyond a of about 35 the force at parting is zero to the last digit: e = 1 / a.
    return most if miss(most) >= 0.0 else float(brentq(miss, 0.0, most, xtol=1e-15))


def kelvin_voigt_damping(stiffness: float, mass: float, restitution: float) -> float:
    """The damping [N s/m] with which Kelvin and Voigt's law delivers a restitution, in (0, 1].

    stiffness: [N/m]. mass: Effective mass m1 m2 / (m1 + m2) of the two bodies [kg]. The contact ends when its force
    does: e = exp(-2 z / sqrt(1 - z^2) acos z), z the damping ratio; beyond critical damping, where e is below exp(-2),
    the same with z^2 - 1 and the area cosine.
    """
    from scipy.optimize import brentq

    for what, value in (("stiffness", stiffness), ("mass", mass)):
        if not is_positive(value):
            raise ModelError(f"the {what} of a contact must be a positive number, not {value!r}")
    if not (is_positive(restitution) and restitution <= 1.0):
        raise ModelError(f"the restitution must lie in (0, 1], not {restitution!r}")

    def miss(z: float) -> float:
        if abs(z - 1.0) < 1e-6:
            decay = 1.0 + 2.0 / 3.0 * (z - 1.0)
        elif z < 1.0:
            decay = z * math.acos(z) / math.sqrt(1.0 - z * z)
        else:
            decay = z * math.acosh(z) / math.sqrt(z * z - 1.0)
        return 2.0 * decay + math.log(restitution)

    # Twice the decay exceeds 2 ln(z): so much is enough for any restitution.
    ratio = 0.0 if restitution == 1.0 else float(brentq(miss, 0.0, 1.0 + 1.0 / restitution, xtol=1e-16))
    return 2.0 * ratio * math.sqrt(stiffness * mass)


def unclipped_force(
    law: ForceLaw,
    penetration: Scalar,
    rate: Scalar,
    stiffness: Scalar,
    exponent: float,
    factor: float,
    approach_speed: Scalar,
    damping: Scalar = 0.0,
) -> Scalar:
    """The force of a law [N] before pulling is taken off; arguments as for :func:`normal_force`."""
    if law is ForceLaw.KELVIN_VOIGT:
        return stiffness * penetration + damping * rate
    elastic = stiffness * power(maximum(penetration, 0.0), exponent)
    return elastic * (1.0 + factor * (rate / approach_speed)) if factor else elastic


def normal_force(
    law: ForceLaw,
    penetration: Scalar,
    rate: Scalar,
    stiffness: Scalar,
    exponent: float,
    factor: float,
    approach_speed: Scalar,
    damping: Scalar = 0.0,
) -> Scalar:
    """The normal force [N], zero apart and never negative.

    penetration: [m], negative apart. rate: Of penetration [m/s], positive while the bodies approach. stiffness:
    [N/m^exponent]. factor: From :data:`FACTORS`. approach_speed: Rate at the touch [m/s]. damping: Of Kelvin and
    Voigt's law alone [N s/m].
    """
    push = unclipped_force(law, penetration, rate, stiffness, exponent, factor, approach_speed, damping)
    return where(compare("lt", 0.0, penetration), maximum(push, 0.0), 0.0)


__all__ = [
    "FACTORS",
    "ForceLaw",
    "calibrated_factor",
    "delivered_restitution",
    "kelvin_voigt_damping",
    "normal_force",
    "unclipped_force",
]
