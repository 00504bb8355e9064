"""The brush model: elastic bristles under a parabolic pressure that stick and slide.

H. B. Pacejka, Tire and Vehicle Dynamics, 3rd edition, 2012, section 3.2; combined slip by the theoretical slip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.program.functions import maximum, minimum, sqrt
from bellcrank.program.trace import Scalar
from bellcrank.tyres.envelope import SHIFT, Envelope
from bellcrank.tyres.law import STEEPEST, Slip, TyreForces
from bellcrank.tyres.sprung import SPRUNG, SprungTyre

LOCKED = 1e-3
"""Least 1 + kappa that slips are divided by; a wheel that turns a thousandth of its speed slides all over."""


@dataclass(frozen=True, kw_only=True)
class Brush(SprungTyre):
    """A brush tyre.

    longitudinal, lateral: Slip stiffness over load, of kappa and of tan(alpha). friction: Coulomb's coefficient.
    patch: Half length of the contact [m]; the pneumatic trail of small slip is a third of it.
    """

    kind: ClassVar[str] = "brush"
    keys: ClassVar[Keys] = Keys(
        "A brush tyre.",
        *SPRUNG,
        must("longitudinal", NUMBER, "Slip stiffness over load, of kappa.", plain=True),
        must("lateral", NUMBER, "Slip stiffness over load, of tan(alpha).", plain=True),
        may("friction", NUMBER, "Coulomb's coefficient; 1 where missing.", plain=True),
        may("patch", NUMBER, "Half length of the contact [m].", plain=True),
    )

    positive: ClassVar[tuple[str, ...]] = ("friction",)

    longitudinal: float
    lateral: float
    friction: float = 1.0
    patch: float = 0.05

    def forces(self, slip: Slip) -> TyreForces:
        mu = self.friction * slip.friction
        onward = self.onward(slip.speed)
        least = maximum(1.0 + onward * slip.kappa, LOCKED)
        # Deflections over those at which the whole contact slides: theta sigma of both directions.
        x = self.longitudinal * slip.kappa / (3.0 * mu * least)
        y = -self.lateral * slip.tangent / (3.0 * mu * least)
        # The guard is below the square of any slip that matters, and keeps the slope finite at none.
        size = sqrt(x * x + y * y + 1e-24)
        t = minimum(size, 1.0)
        held = mu * slip.load * t * (3.0 - t * (3.0 - t)) / size
        F_x, F_y = held * x, held * y
        trail = onward * self._trail(t)
        return TyreForces(F_x, F_y, 0.0, self.resistance(slip.load, onward), -trail * F_y)

    def steepness(self, load: Scalar, camber: Scalar, friction: Scalar) -> tuple[Scalar, Scalar]:
        mu = self.friction * friction
        return minimum(self.longitudinal / mu, STEEPEST), minimum(self.lateral / mu, STEEPEST)

    def envelope(self) -> Envelope:
        """By the length of the patch."""
        return (
            replace(super().envelope(), base=2.0 * SHIFT * self.patch) if self.patch else super().envelope()
        )

    def _trail(self, t: Scalar) -> Scalar:
        """3.11."""
        rest = 1.0 - t
        return self.patch / 3.0 * rest * rest * rest / (1.0 - t + t * t / 3.0)
