"""The ground a car drives on: smooth hills, bumps on either side and across, a washboard; endless, periodic.

Every function takes plain numbers, arrays and traced numbers alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Bumps:
    """Bumps every `period` along x, h = height exp(((cos(2 pi (x - first)/period) - 1) k), one at x = `first`.

    height, first, period: [m]. length: Standard length along x, k = (period/(2 pi length))^2 [m]. side: +1 raises
    the ground to the left of the x axis, -1 to the right, 0 across; sides repeat every `lane` [m] along y.
    """

    height: float
    first: float
    period: float
    length: float
    side: int = 0
    lane: float = 3.2

    def at(self, x: Any, y: Any) -> tuple[Any, Any, Any]:
        """Height [m] and its slopes along x and y."""
        turn = 2.0 * math.pi / self.period
        k = (1.0 / (turn * self.length)) ** 2
        phase = turn * (x - self.first)
        shape = self.height * np.exp(k * (np.cos(phase) - 1.0))
        slope = -k * turn * np.sin(phase) * shape
        if not self.side:
            return shape, slope, 0.0 * y
        across = 2.0 * math.pi / self.lane
        beside = across * (y - 0.25 * self.lane * self.side)
        share = 0.5 * (1.0 + np.cos(beside))
        return shape * share, slope * share, -0.5 * across * np.sin(beside) * shape


@dataclass(frozen=True)
class Washboard:
    """Ripples, h = height sin(pi x/ripple)^2, in a stretch of standard length `length` every `period` [m]."""

    height: float
    ripple: float
    first: float
    period: float
    length: float

    def at(self, x: Any, y: Any) -> tuple[Any, Any, Any]:
        """Height [m] and its slopes along x and y."""
        window, window_x, _ = Bumps(1.0, self.first, self.period, self.length).at(x, y)
        turn = math.pi / self.ripple
        s = np.sin(turn * x)
        ripples = self.height * s * s
        return (
            window * ripples,
            window_x * ripples + window * self.height * turn * np.sin(2.0 * turn * x),
            0.0 * y,
        )


@dataclass(frozen=True)
class Hills:
    """Long waves, h = height (sin(pi x/along)^2 + sin(pi y/across)^2), all lengths in [m]."""

    height: float
    along: float
    across: float

    def at(self, x: Any, y: Any) -> tuple[Any, Any, Any]:
        """Height [m] and its slopes along x and y."""
        a, b = math.pi / self.along, math.pi / self.across
        s, c = np.sin(a * x), np.sin(b * y)
        return (
            self.height * (s * s + c * c),
            self.height * a * np.sin(2.0 * a * x),
            self.height * b * np.sin(2.0 * b * y),
        )


@dataclass(frozen=True)
class Terrain:
    """A sum of features; none is level ground at height 0."""

    features: tuple[Bumps | Washboard | Hills, ...] = ()

    def at(self, x: Any, y: Any) -> tuple[Any, Any, Any]:
        """Height [m] and its slopes along x and y."""
        found = [feature.at(x, y) for feature in self.features]
        height, along, across = (
            (sum(part, 0.0 * x) for part in zip(*found, strict=True)) if found else (0.0 * x,) * 3
        )
        return height, along, across

    def unevenness(self, x: Any, y: Any) -> Any:
        """Height above the hills [m]: what a driver sees as bumps."""
        return Terrain(tuple(f for f in self.features if not isinstance(f, Hills))).at(x, y)[0]


FLAT = Terrain()
PROVING_GROUND = Terrain(
    (
        Bumps(0.07, first=30.0, period=80.0, length=0.45, side=1),
        Bumps(0.05, first=50.0, period=80.0, length=0.45),
        Bumps(0.07, first=70.0, period=80.0, length=0.45, side=-1),
        Washboard(0.015, ripple=0.9, first=105.0, period=160.0, length=5.0),
        Hills(0.7, along=150.0, across=130.0),
    )
)
"""A bump under the left wheels, one across, one under the right wheels every 80 m; level where the car starts."""
TERRAINS = {"bumps": PROVING_GROUND, "flat": FLAT}
