"""Fiala's tyre: a cubic law of the lateral force, with a friction that falls with the slip.

E. Fiala, VDI-Zeitschrift 96 (1954) 973-979, in the form of tyre property files with the format FIALA: friction
U = U_max - (U_max - U_min) s with the comprehensive slip s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.program.functions import maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, function
from bellcrank.tyres.law import STEEPEST, Slip, TyreForces
from bellcrank.tyres.magic_formula import sign_of
from bellcrank.tyres.sprung import SPRUNG, SprungTyre

LEAST = 1e-6
"""Friction force [N] that slopes are divided by at least, where a wheel is in the air."""


@dataclass(frozen=True, kw_only=True)
class Fiala(SprungTyre):
    """A tyre by Fiala's law.

    longitudinal, lateral: Slip stiffness of kappa and of tan(alpha) [N]. friction: At rest. sliding_friction: At a
    comprehensive slip of 1.
    """

    kind: ClassVar[str] = "fiala"
    keys: ClassVar[Keys] = Keys(
        "A tyre by Fiala's law.",
        *SPRUNG,
        must("longitudinal", NUMBER, "Slip stiffness of kappa [N].", plain=True),
        must("lateral", NUMBER, "Slip stiffness of tan(alpha) [N].", plain=True),
        may("friction", NUMBER, "At no slip; 1 where missing.", plain=True),
        may("sliding_friction", NUMBER, "At a comprehensive slip of 1; 0.9 where missing.", plain=True),
    )

    positive: ClassVar[tuple[str, ...]] = ("longitudinal", "friction", "sliding_friction")

    longitudinal: float
    lateral: float
    friction: float = 1.0
    sliding_friction: float = 0.9

    def forces(self, slip: Slip) -> TyreForces:
        k, tangent = slip.kappa, slip.tangent
        comprehensive = minimum(sqrt(k * k + tangent * tangent + 1e-24), 1.0)
        U = (self.friction - (self.friction - self.sliding_friction) * comprehensive) * slip.friction
        most = maximum(U * slip.load, LEAST)
        steep = function("abs", k)
        turning = most / (2.0 * self.longitudinal)
        sliding = most - most * most / (4.0 * self.longitudinal * maximum(steep, turning))
        share = slip.load / maximum(slip.load, LEAST)
        F_x = share * sign_of(k) * where(steep < turning, self.longitudinal * steep, sliding)
        H = maximum(1.0 - self.lateral * function("abs", tangent) / (3.0 * most), 0.0)
        side = share * sign_of(tangent)
        F_y = -side * most * (1.0 - H * H * H)
        onward = self.onward(slip.speed)
        M_z = onward * side * most * self.width * (1.0 - H) * H * H * H
        return TyreForces(F_x, F_y, 0.0, self.resistance(slip.load, onward), M_z)

    def steepness(self, load: Scalar, camber: Scalar, friction: Scalar) -> tuple[Scalar, Scalar]:
        most = maximum(self.friction * friction * load, LEAST)
        return minimum(self.longitudinal / most, STEEPEST), minimum(self.lateral / most, STEEPEST)
