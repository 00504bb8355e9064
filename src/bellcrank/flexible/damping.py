"""Structural damping of a member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from bellcrank.base.keys import NUMBER, Keys, Kinds, any_of, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.flexible.model import Array


class Damping(Protocol):
    """What turns modal mass and stiffness into a damping matrix."""

    def matrix(self, mass: Array, stiffness: Array) -> Array:
        """The damping matrix (n, n)."""
        ...


@dataclass(frozen=True)
class Ratios:
    """Damping ratios of the natural modes: one for all, or one each."""

    kind: ClassVar[str] = "ratios"
    keys: ClassVar[Keys] = Keys(
        "Ratios of the natural modes, one for all or one each.",
        must("ratios", any_of(NUMBER, list_of(NUMBER))),
    )

    ratios: float | Sequence[float]

    def matrix(self, mass: Array, stiffness: Array) -> Array:
        """C = M V diag(2 zeta w) V^T M over the natural modes V of the member's own coordinates."""
        from bellcrank.flexible.held import ritz

        squares, V = ritz(stiffness, mass)
        given = np.asarray(self.ratios, dtype=float)
        if given.ndim and len(given) != len(squares):
            raise ModelError(
                f"{len(given)} damping ratios were given for {len(squares)} modes; give one, or one each"
            )
        if (given < 0).any():
            raise ModelError("a damping ratio must not be negative")
        MV = mass @ V
        return np.asarray((MV * (2 * given * np.sqrt(squares))) @ MV.T)


@dataclass(frozen=True)
class Rayleigh:
    """C = mass_factor M + stiffness_factor K; factors in 1/s and s."""

    kind: ClassVar[str] = "rayleigh"
    keys: ClassVar[Keys] = Keys(
        "C = mass_factor M + stiffness_factor K.",
        may("mass_factor", NUMBER, "[1/s]."),
        may("stiffness_factor", NUMBER, "[s]."),
    )

    mass_factor: float = 0.0
    stiffness_factor: float = 0.0

    def matrix(self, mass: Array, stiffness: Array) -> Array:
        """C."""
        return self.mass_factor * mass + self.stiffness_factor * stiffness


DAMPINGS = Kinds.of("Structural damping.", Ratios, Rayleigh)
"""The kinds that model files know."""
