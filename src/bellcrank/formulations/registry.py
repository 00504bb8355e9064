"""The formulations by name, and the choice among them by exact count."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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


def in_turn(linkage: Linkage) -> Sequence[Formulation]:
    """The candidates, that first which promises to be the smallest: the others are given up where they outgrow it.

    Recursion eliminates the modes of a member together with its joint, which takes about the cube of their number; in
    the mass matrix they go first.
    """
    first, *others = CANDIDATES
    modes = sum(link.modes**3 for link in linkage.links if link.shape is not None)
    if modes > _products(linkage):
        return others[0], first, *others[1:]
    return CANDIDATES


def least_operations(formulation: Formulation, linkage: Linkage, constraints: int) -> float:
    """Operations a candidate takes at the very least, as far as that is known without tracing it.

    In a tree, factorising the mass matrix costs k (k + 1) / 2 products for a speed with k speeds between it and the
    ground; a quarter of that allows for entries that vanish. Partitioning is then the same thing a second time.
    Modal coordinates go first at a price of their own.
    """
    if constraints or formulation is Formulation.RECURSIVE:
        return 0.0
    if formulation is Formulation.PARTITIONING:
        return math.inf
    return 0.0 if any(link.modes for link in linkage.links) else _products(linkage) / 4


def _products(linkage: Linkage) -> int:
    """Products that factorise the mass matrix of a tree, without modal coordinates."""
    above: list[int] = []
    products = 0
    for link in linkage.links:
        k = above[link.parent] if link.parent >= 0 else 0
        for _ in () if link.kind.modal else link.own_speeds:
            products += k * (k + 1) // 2
            k += 1
        above.append(k)
    return products
