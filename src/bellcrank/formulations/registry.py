"""The formulations by name, and the choice among them by exact count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from bellcrank.formulations import independent, lagrange, partitioning, recursive, reduced_lagrange
from bellcrank.formulations.equations import Equations
from bellcrank.program.trace import Scalar


class Formulation(StrEnum):
    """The ways to accelerations; AUTO takes the one with the fewest operations."""

    AUTO = "auto"
    LAGRANGE = "lagrange"
    REDUCED_LAGRANGE = "reduced_lagrange"
    PARTITIONING = "partitioning"
    INDEPENDENT = "independent"
    RECURSIVE = "recursive"


FORMULATIONS: Mapping[Formulation, Callable[[Equations], list[Scalar]]] = {
    Formulation.LAGRANGE: lagrange.accelerations,
    Formulation.REDUCED_LAGRANGE: reduced_lagrange.accelerations,
    Formulation.PARTITIONING: partitioning.accelerations,
    Formulation.INDEPENDENT: independent.accelerations,
    Formulation.RECURSIVE: recursive.accelerations,
}

CANDIDATES = (Formulation.RECURSIVE, Formulation.INDEPENDENT, Formulation.PARTITIONING)
"""What AUTO traces. The multiplier forms carry every operation of `partitioning` that matters and a larger
system to solve besides; they are never ahead."""
