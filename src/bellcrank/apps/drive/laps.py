"""Lap times: gates across a course, to be passed in their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError

Array = NDArray[np.float64]
GATES = 12
"""Gates of a course: a shortcut misses one of them."""
REACH = 8.0
"""How far beside the middle of the course a gate is still passed [m]."""
LINE = 6.0
"""How far along the course the line of start and end lies [m]: ahead of a car that stands at its beginning."""
LONGEST = 0.5
"""The longest look of all [s]: a car that has been put elsewhere in between has passed nothing."""


class Laps:
    """The laps of a car.

    course: The middle of a closed lane, points [m] in the order they are passed; the line of start and end is `LINE`
    after the first of them. A lap begins and ends with a pass of that line; the time is interpolated between two looks.
    """

    def __init__(self, course: Array) -> None:
        points = np.asarray(course, dtype=float)
        following = np.roll(points, -1, axis=0)
        steps = np.linalg.norm(following - points, axis=1)
        points, following, steps = (a[steps > 0.0] for a in (points, following, steps))
        if len(points) < 3:
            raise ModelError("a course must have three or more different points")
        along = np.concatenate([[0.0], np.cumsum(steps)])
        at = (LINE + along[-1] * np.arange(GATES) / GATES) % along[-1]
        k = np.searchsorted(along, at, side="right") - 1
        self.ahead: Array = (following[k] - points[k]) / steps[k, None]
        self.gates: Array = points[k] + (at - along[k])[:, None] * self.ahead
        self.length = float(along[-1])
        self.times: list[float] = []
        self.put_back()

    def put_back(self) -> None:
        """Forget the lap in progress."""
        self.next = 0
        self.begun: float | None = None
        self._before: tuple[float, Array] | None = None

    def current(self, t: float) -> float:
        """How long the lap in progress has taken [s]; 0 before the first."""
        return 0.0 if self.begun is None else t - self.begun

    def look(self, t: float, x: float, y: float) -> float | None:
        """Where the car is at a time [s]; the time of a lap that ends here."""
        here = np.array([x, y])
        before, self._before = self._before, (t, here)
        if before is None or not 0.0 < t - before[0] <= LONGEST:
            return None
        gate, ahead = self.gates[self.next], self.ahead[self.next]
        was, now = float((before[1] - gate) @ ahead), float((here - gate) @ ahead)
        if not was < 0.0 <= now:
            return None
        share = was / (was - now)
        off = before[1] + share * (here - before[1]) - gate
        if abs(float(off[0] * ahead[1] - off[1] * ahead[0])) > REACH:
            return None
        first = self.next == 0
        self.next = (self.next + 1) % GATES
        if not first:
            return None
        passed = before[0] + share * (t - before[0])
        lap = None if self.begun is None else passed - self.begun
        self.begun = passed
        if lap is not None:
            self.times.append(lap)
        return lap


__all__ = ["Laps"]
