"""The ground a car drives on: smooth hills, bumps on either side and across, a washboard; endless, periodic.

Every function takes plain numbers, arrays and traced numbers alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.roads.roughness import CLASSES, REFERENCE


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
class Rough:
    """A random surface alike in all directions, whose sections have the spectrum of a class of ISO 8608.

    A section with G_d = c n^-2 belongs to the spectrum c/4 k^-3 of the surface over the plane of wave vectors. It is
    made of waves of one direction each, evenly spread over the logarithm of k from `longest` to `shortest` [m]. Level
    within some metres of the origin, where the car starts.
    """

    roughness: str
    seed: int = 0
    waves: int = 32
    longest: float = 40.0
    shortest: float = 0.6
    level: float = 5.0

    @cached_property
    def parts(self) -> tuple[tuple[float, float, float, float], ...]:
        """Amplitude [m], wave vector [rad/m] and phase of each wave."""
        rng = np.random.default_rng(self.seed)
        ends = np.linspace(math.log(1.0 / self.longest), math.log(1.0 / self.shortest), self.waves + 1)
        k = np.exp(0.5 * (ends[:-1] + ends[1:]))
        c = CLASSES[self.roughness] * REFERENCE**2
        amplitude = np.sqrt(2.0 * 2.0 * math.pi * c / 4.0 / k * np.diff(ends))
        # Directions in equal steps in a random order, so that few waves still cover all of them.
        turned = math.pi * (rng.permutation(self.waves) + 0.5) / self.waves
        phases = rng.uniform(0.0, 2.0 * math.pi, self.waves)
        wave = 2.0 * math.pi * k
        rows = np.column_stack([amplitude, wave * np.cos(turned), wave * np.sin(turned), phases])
        return tuple((a, b, c, d) for a, b, c, d in rows.tolist())

    def at(self, x: Any, y: Any) -> tuple[Any, Any, Any]:
        """Height [m] and its slopes along x and y."""
        height, along, across = 0.0 * x, 0.0 * x, 0.0 * x
        for a, k_x, k_y, phase in self.parts:
            angle = k_x * x + k_y * y + phase
            c, s = a * np.cos(angle), a * np.sin(angle)
            height, along, across = height + c, along - k_x * s, across - k_y * s
        q = (x * x + y * y) / self.level**2
        left = np.exp(-(q * q))
        inner = 4.0 * q * left / self.level**2
        rise = 1.0 - left
        return height * rise, along * rise + height * inner * x, across * rise + height * inner * y


@dataclass(frozen=True)
class Terrain:
    """A sum of features; none is level ground at height 0."""

    features: tuple[Bumps | Washboard | Hills | Rough, ...] = ()

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
TERRAINS = {"bumps": PROVING_GROUND, "flat": FLAT, "rough": Terrain((Rough("D", seed=1),))}
