"""The isotropic linear elastic material of flexible members and of elastic bodies."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.base.reach import LARGEST, SMALLEST, is_positive, shown, within
from bellcrank.errors import ModelError


@dataclass(frozen=True)
class Material:
    """Isotropic linear elastic material; all but Young's modulus is given by name.

    young: Young's modulus [Pa]. density: [kg/m^3]. poisson: Poisson's ratio. mass_damping, stiffness_damping: Rayleigh
    damping of elastic bodies, factors of the mass matrix [1/s] and of the stiffness matrix [s] in the damping matrix;
    flexible members have a damping of their own.
    """

    keys: ClassVar[Keys] = Keys(
        "An isotropic linear elastic material.",
        must("young", NUMBER, "Young's modulus [Pa]."),
        must("density", NUMBER, "[kg/m^3]."),
        may("poisson", NUMBER, "Poisson's ratio; 0.3 by default."),
    )

    young: float
    _: KW_ONLY
    density: float
    poisson: float = 0.3
    mass_damping: float = 0.0
    stiffness_damping: float = 0.0

    def __new__(cls, *ordered: Any, **_named: Any) -> Material:
        """Refuse numbers whose meaning would depend on their order."""
        if len(ordered) > 1:
            raise ModelError(
                "Material takes density and Poisson's ratio by name, such as "
                f"Material({shown(ordered[0])}, density=7850.0, poisson=0.3), so that neither is taken for the other"
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for what, value in (("Young's modulus", self.young), ("density", self.density)):
            if not is_positive(value):
                raise ModelError(
                    f"{what} of a material must be positive, from {SMALLEST:g} to {LARGEST:g}, not {shown(value)}"
                )
        if not (within(self.poisson) and -1.0 < self.poisson < 0.5):
            raise ModelError(
                f"Poisson's ratio {shown(self.poisson)} is outside (-1, 0.5), so the stiffness is singular; take 0.499 "
                "for a nearly incompressible material"
            )
        if not all(within(x) and x >= 0.0 for x in (self.mass_damping, self.stiffness_damping)):
            raise ModelError("damping factors must be numbers that are not negative")

    @property
    def shear(self) -> float:
        """Shear modulus, Lame's mu [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def lame(self) -> float:
        """Lame's lambda [Pa]."""
        return self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))

    @property
    def bar_wave_speed(self) -> float:
        """Speed of longitudinal waves in a thin bar [m/s]."""
        return math.sqrt(self.young / self.density)

    @property
    def pressure_wave_speed(self) -> float:
        """Speed of pressure waves in a solid, the fastest there are [m/s]."""
        return math.sqrt((self.lame + 2.0 * self.shear) / self.density)

    def undamped_in(self, who: str) -> None:
        """Refuse damping factors where they would be ignored."""
        if self.mass_damping or self.stiffness_damping:
            raise ModelError(
                f"{who} is a flexible member, whose damping is not that of its material: give the member a damping, "
                "such as damping=flexible.Rayleigh(...), and the material none"
            )


STEEL = Material(210e9, density=7850.0, poisson=0.3)
