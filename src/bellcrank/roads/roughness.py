"""Random roads of the classes of ISO 8608: two tracks with the displacement spectrum of the standard.

ISO 8608:2016: the one-sided power spectral density of the height over the spatial frequency n [cycles/m] is

    G_d(n) = G_d(n_0) (n/n_0)^-w,   n_0 = 0.1 cycles/m,   w = 2

with the geometric mean G_d(n_0) = 16e-6 m^3 of class A and four times that of each class after it. The two tracks
are those of a surface that is alike in all directions (K. M. A. Kamash and J. D. Robson, The application of isotropy in
road surface modelling, Journal of Sound and Vibration 57, 1978): at the distance b their cross spectrum is
G_d(n) 2 pi b n K_1(2 pi b n), so that long waves roll little and short ones are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from bellcrank.base.keys import NUMBER, WHOLE, Keys, may, must, words
from bellcrank.errors import ModelError, unknown_name
from bellcrank.program.trace import Scalar
from bellcrank.roads.profile import Profile
from bellcrank.roads.road import MOST_HEIGHTS, Array, Road, number

CLASSES = {name: 16e-6 * 4.0**k for k, name in enumerate("ABCDEFGH")}
"""G_d(n_0) [m^3], geometric means."""
REFERENCE = 0.1
"""n_0 [cycles/m]."""
BAND = (0.011, 2.83)
"""Spatial frequencies [cycles/m] for which the standard states the spectrum."""


def density(roughness: str, n: Array) -> Array:
    """G_d [m^3] of a class at spatial frequencies n [cycles/m]."""
    return np.asarray(CLASSES[roughness] * (n / REFERENCE) ** -2)


@dataclass(frozen=True)
class RandomRoad(Road):
    """A road of a class of ISO 8608, the same for the same numbers.

    roughness: Class, "A" (very good) to "H". length: [m], from x = 0 on. seed: Of its phases. width: Between the
    tracks [m]. spacing: Between heights [m]; waves down to 0.35 m, the shortest of the standard, need 0.1. level: Over
    so many metres at either end the road rises out of level ground and falls back.
    """

    kind: ClassVar[str] = "iso8608"
    keys: ClassVar[Keys] = Keys(
        "A random road of a class of ISO 8608.",
        must("roughness", words(*CLASSES), "Class; A is a very good road."),
        must("length", NUMBER, "[m], from x = 0 on.", plain=True),
        may("seed", WHOLE, "Of its phases; 0 where missing.", whole=(0, 2**53)),
        may("width", NUMBER, "Between the two tracks [m]; 1.5 where missing.", plain=True),
        may("spacing", NUMBER, "Between heights [m]; 0.1 where missing.", plain=True),
        may("level", NUMBER, "Length at either end over which it rises [m]; 5 where missing.", plain=True),
    )

    roughness: str
    length: float
    seed: int = 0
    width: float = 1.5
    spacing: float = 0.1
    level: float = 5.0

    def __post_init__(self) -> None:
        if not isinstance(self.roughness, str) or self.roughness not in CLASSES:
            raise unknown_name("class of a random road", str(self.roughness), CLASSES)
        for name in ("length", "width", "spacing"):
            value = number(f"{name} of a random road", getattr(self, name), positive=True)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "level", number("level of a random road", self.level))
        if self.level < 0.0 or 2.0 * self.level > self.length:
            raise ModelError(
                f"level of a random road must lie between 0 and half its length, not {self.level:g}"
            )
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise ModelError(f"seed of a random road must be a whole number, 0 or greater, not {self.seed!r}")
        count = self.length / self.spacing
        if not 8 <= count <= MOST_HEIGHTS:
            raise ModelError(
                f"a random road of {self.length:g} m with a height every {self.spacing:g} m has {count:.3g} heights; "
                f"8 to {MOST_HEIGHTS} can be"
            )

    @cached_property
    def profile(self) -> Profile:
        """The two tracks."""
        from scipy.special import k1

        count = int(np.ceil(self.length / self.spacing)) + 1
        step = 1.0 / (count * self.spacing)
        n: Array = step * np.arange(count // 2 + 1, dtype=np.float64)
        amplitude = np.zeros(len(n))
        # Waves longer than those of the standard would be hills; those at the last frequency have no phase.
        within = (n >= BAND[0]) & (n < 0.5 / self.spacing)
        amplitude[within] = np.sqrt(2.0 * density(self.roughness, n[within]) * step)
        phases = np.random.default_rng(self.seed).uniform(0.0, 2.0 * np.pi, (2, len(n)))
        right, own = 0.5 * count * amplitude * np.exp(1j * phases)
        apart = 2.0 * np.pi * self.width * np.maximum(n, 0.5 * step)
        shared = apart * k1(apart)
        left = shared * right + np.sqrt(np.maximum(1.0 - shared**2, 0.0)) * own
        x = self.spacing * np.arange(count)
        rise = np.ones(count)
        if self.level:
            s = np.clip(np.minimum(x, x[-1] - x) / self.level, 0.0, 1.0)
            rise = s * s * (3.0 - 2.0 * s)
        return Profile(x, rise * np.fft.irfft(left, count), rise * np.fft.irfft(right, count), self.width)

    def __call__(self, x: Scalar, y: Scalar, t: Scalar = 0.0) -> Scalar:
        return self.profile(x, y, t)
