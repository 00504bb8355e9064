"""The kind of analysis a material is used in."""

from __future__ import annotations

from enum import StrEnum

from bellcrank.fe.material import Material


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


def lame(material: Material, analysis: Analysis) -> float:
    """Lame's lambda [Pa]; in plane stress the value that leaves no stress across the plane."""
    if analysis is Analysis.PLANE_STRESS:
        return 2.0 * material.lame * material.shear / (material.lame + 2.0 * material.shear)
    return material.lame
