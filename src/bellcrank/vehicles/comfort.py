"""Vibration of a person by ISO 2631-1: the weighting W_k of vertical acceleration of a seated one.

ISO 2631-1:1997, annex A: band limits, the transition of acceleration to velocity, and the upward step, with the
corners and quality factors of table A.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import ModelError

Array = NDArray[np.float64]
LIMITS, TRANSITION, STEP = (0.4, 100.0), (12.5, 12.5, 0.63), (2.37, 0.91, 3.35, 0.91)
"""f_1, f_2 [Hz] with Q = 1/sqrt(2); f_3, f_4 [Hz], Q_4; f_5 [Hz], Q_5, f_6 [Hz], Q_6."""


def vertical_weighting(frequency: ArrayLike) -> NDArray[np.complex128]:
    """W_k as a complex factor, at frequencies [Hz]."""
    p = 2j * np.pi * np.asarray(frequency, dtype=float)

    def second(corner: float, quality: float) -> NDArray[np.complex128]:
        w = 2.0 * np.pi * corner
        return np.asarray(1.0 + p / (quality * w) + (p / w) ** 2)

    q = 1.0 / np.sqrt(2.0)
    low, high = LIMITS
    band = (p / (2.0 * np.pi * low)) ** 2 / second(low, q) / second(high, q)
    f_3, f_4, q_4 = TRANSITION
    f_5, q_5, f_6, q_6 = STEP
    transition = (1.0 + p / (2.0 * np.pi * f_3)) / second(f_4, q_4)
    step = second(f_5, q_5) / second(f_6, q_6) * (f_5 / f_6) ** 2
    return np.asarray(band * transition * step)


def weighted(acceleration: ArrayLike, interval: float) -> Array:
    """Vertical acceleration [m/s^2], sampled every `interval` [s], weighted by W_k."""
    a = np.asarray(acceleration, dtype=float)
    if a.ndim != 1 or len(a) < 2 or not np.all(np.isfinite(a)):
        raise ModelError("acceleration must be a row of two or more finite numbers")
    # As many zeros behind, so that the end does not answer at the beginning.
    spectrum = np.fft.rfft(a, 2 * len(a))
    factor = vertical_weighting(np.fft.rfftfreq(2 * len(a), interval))
    return np.asarray(np.fft.irfft(spectrum * factor, 2 * len(a))[: len(a)])
