"""The queue method for the time of an impact.

Paper A, Park et al. (2000), Section 2.3 and Table 1: the last m pairs of check time and distance d_N are kept; when
d_N <= 0 (24) the polynomial through them has a root in the last interval, to which the motion is integrated anew.

Differs in: the paper leaves open m, the order of the interpolation, what becomes of the queue at an impact, and bodies
that move apart. Here the polynomial runs through all m pairs, the queue is emptied at an impact, and only an approach
(v_N < 0) counts. The error of the time is of order m in the interval of the checks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np


class ImpactQueue:
    """The last `size` pairs of time [s] and distance [m] of one pair of bodies."""

    def __init__(self, size: int = 4) -> None:
        if size < 2:
            raise ValueError(f"the queue needs at least 2 pairs to bracket an impact, not {size}")
        self.size = size
        self._pairs: deque[tuple[float, float]] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The pairs in the queue, the oldest first."""
        return list(self._pairs)

    def restore(self, pairs: Sequence[tuple[float, float]]) -> None:
        """Put pairs in the place of those in the queue."""
        self._pairs.clear()
        self._pairs.extend(pairs)

    def clear(self) -> None:
        """Forget the past: call it at an impact, where the distance has a corner."""
        self._pairs.clear()

    def check(self, time: float, distance: float, approach: float = -1.0) -> float | None:
        """Note a check; the time of the impact since the one before, if there was any [s].

        approach: Rate of the distance v_N at this check [m/s]; bodies that move apart do not collide (guard).
        After an impact at the returned time, `clear` the queue: the pairs belong to a motion that ended there.
        """
        if self._pairs and time <= self._pairs[-1][0]:
            raise ValueError(f"checks must go forward in time: {time} s after {self._pairs[-1][0]} s")
        self._pairs.append((time, distance))
        if distance > 0.0 or approach >= 0.0 or len(self._pairs) < 2 or self._pairs[-2][1] <= 0.0:
            return None
        return self._root()

    def _root(self) -> float:
        """The root of the interpolating polynomial in the last interval (Illinois)."""
        times = np.array([t for t, _ in self._pairs])
        values = np.array([d for _, d in self._pairs])
        coefficients = _divided_differences(times, values)

        def interpolated(t: float) -> float:
            value = coefficients[-1]
            for c, node in zip(coefficients[-2::-1], times[-2::-1], strict=True):
                value = value * (t - node) + c
            return float(value)

        low, high = float(times[-2]), float(times[-1])
        at_low, at_high = float(values[-2]), float(values[-1])
        side = 0
        for _ in range(200):
            if at_high == 0.0 or high - low <= 4e-16 * max(abs(low), abs(high)):
                break
            middle = (low * at_high - high * at_low) / (at_high - at_low)
            if not low < middle < high:
                middle = 0.5 * (low + high)
                if not low < middle < high:
                    break
            at = interpolated(middle)
            if at > 0.0:
                low, at_low = middle, at
                at_high = 0.5 * at_high if side == 1 else at_high
                side = 1
            else:
                high, at_high = middle, at
                at_low = 0.5 * at_low if side == -1 else at_low
                side = -1
        return high


def _divided_differences(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Newton's coefficients of the polynomial through the pairs."""
    c = values.astype(float).copy()
    for k in range(1, len(c)):
        c[k:] = (c[k:] - c[k - 1 : -1]) / (times[k:] - times[:-k])
    return c
