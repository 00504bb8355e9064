"""The formulations by name, and the choice among them by exact count."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum

from bellcrank.errors import unknown_name
from bellcrank.formulations import independent, lagrange, partitioning, recursive, reduced_lagrange
from bellcrank.formulations.equations import Equations
from bellcrank.mechanics.links import Linkage
from bellcrank.program.trace import Scalar


class Formulation(StrEnum):
    """Formulations of the equations of motion; AUTO takes the one with the fewest operations."""

    AUTO = "auto"
    LAGRANGE = "lagrange"
    REDUCED_LAGRANGE = "reduced_lagrange"
    PARTITIONING = "partitioning"
    INDEPENDENT = "independent"
    RECURSIVE = "recursive"

    @classmethod
    def _missing_(cls, value: object) -> Formulation:
        raise unknown_name("formulation", str(value), list(cls))


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


def least_operations(formulation: Formulation, linkage: Linkage, constraints: int) -> float:
    """Operations a candidate takes at the very least, as far as that is known without tracing it.

    In a tree, factorising the mass matrix costs k (k + 1) / 2 products for a speed with k speeds between it and the
    ground; a quarter of that allows for entries that vanish. Partitioning is then the same thing a second time.
    Modal coordinates go first at a price of their own.
    """
    flexible = any(link.modes for link in linkage.links)
    if constraints or flexible or formulation is Formulation.RECURSIVE:
        return 0.0
    if formulation is Formulation.PARTITIONING:
        return math.inf
    above: list[int] = []
    products = 0
    for link in linkage.links:
        k = above[link.parent] if link.parent >= 0 else 0
        for _ in link.own_speeds:
            products += k * (k + 1) // 2
            k += 1
        above.append(k)
    return products / 4
