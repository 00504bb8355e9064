"""Linear elastic material and the kind of analysis it is used in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from bellcrank.base.reach import LARGEST, SMALLEST, is_positive, shown, within
from bellcrank.errors import ModelError


class Analysis(StrEnum):
    """What the third direction does."""

    PLANE_STRAIN = "plane strain"
    PLANE_STRESS = "plane stress"
    AXISYMMETRIC = "axisymmetric"
    """First coordinate the radius, second the axis; masses and forces are those of the full turn."""
    SOLID = "solid"

    @property
    def dimension(self) -> int:
        """Coordinates of a point."""
        return 3 if self is Analysis.SOLID else 2


class Mass(StrEnum):
    """How the mass is shared out to the nodes."""

    CONSISTENT = "consistent"
    LUMPED = "lumped"
    """Diagonal of the consistent matrix scaled to the mass of each element (Hinton, Rock, Zienkiewicz 1976)."""


@dataclass(frozen=True)
class Material:
    """Isotropic linear elastic material with Rayleigh damping.

    young: Young's modulus [Pa]. poisson: Poisson's ratio. density: [kg/m^3]. mass_damping: factor of the mass
    matrix in the damping matrix [1/s]. stiffness_damping: factor of the stiffness matrix [s].
    """

    young: float
    poisson: float
    density: float
    mass_damping: float = 0.0
    stiffness_damping: float = 0.0

    def __post_init__(self) -> None:
        if not is_positive(self.young):
            raise ModelError(
                f"Young's modulus must be positive, from {SMALLEST:g} to {LARGEST:g}, not {shown(self.young)}"
            )
        if not (within(self.poisson) and -1.0 < self.poisson < 0.5):
            raise ModelError(
                f"Poisson's ratio {shown(self.poisson)} is outside (-1, 0.5), so the stiffness is singular; take 0.499 "
                "for a nearly incompressible material"
            )
        if not is_positive(self.density):
            raise ModelError(
                f"density must be positive, from {SMALLEST:g} to {LARGEST:g}, not {shown(self.density)}: "
                "motion needs mass"
            )
        if not all(within(x) and x >= 0.0 for x in (self.mass_damping, self.stiffness_damping)):
            raise ModelError("damping factors must be numbers that are not negative")

    @property
    def shear(self) -> float:
        """Shear modulus, Lame's mu [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    def lame(self, analysis: Analysis = Analysis.SOLID) -> float:
        """Lame's lambda [Pa]; in plane stress the value that leaves no stress across the plane."""
        first = self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
        if analysis is Analysis.PLANE_STRESS:
            return 2.0 * first * self.shear / (first + 2.0 * self.shear)
        return first

    @property
    def wave_speed(self) -> float:
        """Speed of pressure waves, the fastest there are [m/s]."""
        return math.sqrt((self.lame() + 2.0 * self.shear) / self.density)
