"""Planes: slope and bank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.base.keys import NUMBER, Keys, may
from bellcrank.program.trace import Scalar
from bellcrank.roads.road import Road, number


@dataclass(frozen=True)
class Plane(Road):
    """A plane, h = height + slope x + bank y.

    slope: Rise along x [m/m]. bank: Along y [m/m]. height: At the origin [m].
    """

    kind: ClassVar[str] = "plane"
    keys: ClassVar[Keys] = Keys(
        "A plane.",
        may("slope", NUMBER, "Rise along x [m/m]; 0 where missing.", plain=True),
        may("bank", NUMBER, "Rise along y [m/m]; 0 where missing.", plain=True),
        may("height", NUMBER, "At the origin [m]; 0 where missing.", plain=True),
    )

    slope: float = 0.0
    bank: float = 0.0
    height: float = 0.0

    def __post_init__(self) -> None:
        for name in ("slope", "bank", "height"):
            object.__setattr__(self, name, number(f"{name} of a plane road", getattr(self, name)))

    def __call__(self, x: Scalar, y: Scalar, t: Scalar = 0.0) -> Scalar:
        return self.height + self.slope * x + self.bank * y
