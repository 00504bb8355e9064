"""The linear tyre: forces in proportion to slip, for small slip and comparisons with closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.program.functions import where
from bellcrank.program.trace import function
from bellcrank.tyres.law import Slip, TyreForces
from bellcrank.tyres.sprung import SPRUNG, SprungTyre


@dataclass(frozen=True, kw_only=True)
class LinearTyre(SprungTyre):
    """A tyre with forces in proportion to slip.

    longitudinal: dF_x/dkappa [N]. cornering: -dF_y/dalpha [N/rad]. camber: -dF_y/dgamma [N/rad]. trail: Pneumatic
    trail [m]. reference_load: The load at which they hold; forces grow in proportion to the load. None: whatever the
    load.
    """

    kind: ClassVar[str] = "linear"
    keys: ClassVar[Keys] = Keys(
        "A tyre with forces in proportion to slip.",
        *SPRUNG,
        must("longitudinal", NUMBER, "dF_x/dkappa [N].", plain=True),
        must("cornering", NUMBER, "-dF_y/dalpha [N/rad].", plain=True),
        may("camber", NUMBER, "-dF_y/dgamma [N/rad].", plain=True),
        may("trail", NUMBER, "Pneumatic trail [m].", plain=True),
        may(
            "reference_load",
            NUMBER,
            "The load at which they hold [N]; whatever the load where missing.",
            plain=True,
        ),
    )

    positive: ClassVar[tuple[str, ...]] = ("reference_load",)

    longitudinal: float
    cornering: float
    camber: float = 0.0
    trail: float = 0.0
    reference_load: float | None = None

    def forces(self, slip: Slip) -> TyreForces:
        touches = where(slip.load > 0.0, 1.0, 0.0)
        share = touches if self.reference_load is None else slip.load / self.reference_load
        alpha = function("atan", slip.tangent)
        F_x = share * self.longitudinal * slip.kappa
        sideways = -share * self.cornering * alpha
        F_y = sideways - share * self.camber * slip.camber
        onward = self.onward(slip.speed)
        return TyreForces(F_x, F_y, 0.0, self.resistance(slip.load, onward), -self.trail * onward * sideways)
