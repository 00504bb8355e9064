"""Contact points of a sampled body and each kind of partner, one and four at a time, along a motion.

An ellipsoid of samples overlaps its partner by a tenth of a millimetre and turns by half a degree a step; each search
begins with the points of the last one, as in a run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.contact import samples
from benchmarks.timing import Timing

Array = NDArray[np.float64]
STEPS = 40
OVERLAP = 1e-4
TILT = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])
PARTNERS = ("plane", "sphere", "capsule", "ellipsoid", "superellipsoid", "samples")


def partner_query(number: int, name: str, repeats: int) -> Timing:
    """Seconds of one search, the fastest of a few rounds."""
    from bellcrank.contact import ClosestKernel, Plane, Sampled, Sphere
    from bellcrank.contact.shapes import Capsule, Ellipsoid, Shape, Superellipsoid

    body = Sampled(*samples(number))
    others: dict[str, Shape] = {
        "plane": Plane(),
        "sphere": Sphere(0.6),
        "capsule": Capsule(0.3, 0.5),
        "ellipsoid": Ellipsoid(0.5, 0.7, 0.9),
        "superellipsoid": Superellipsoid(0.5, 0.4, 0.6, (3.0, 2.5)),
        "samples": body,
    }
    pair, here = ClosestKernel(body, others[name]), (np.eye(3), np.zeros(3))
    poses = []
    for k in range(STEPS):
        turn = math.radians(30.0 + 0.5 * k)
        c, s = math.cos(turn), math.sin(turn)
        R = TILT @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        away = -2.0 * R[:, 2] if name == "plane" else np.array([1.9, 1.6, 1.8])
        found = pair(*here, R, away)
        poses.append((R, away - (found.distance + OVERLAP) * np.asarray(found.normal)))
    best = math.inf
    for _ in range(max(2, min(repeats, 5))):
        began = time.perf_counter()
        for R, c in poses:
            pair(*here, R, c)
        best = min(best, (time.perf_counter() - began) / STEPS)
    return Timing(best, note=f"{1.0 / best:.3g} searches/s")


def partner_measures(repeats: int, quick: bool) -> Iterator[tuple[str, str, Callable[[], Timing]]]:
    """Case, code and measure of every row."""
    number = 10_000 if quick else 100_000
    for name in PARTNERS:
        case = f"{number} samples on {name}"
        yield case, "bellcrank", lambda n=name: partner_query(number, n, repeats)  # type: ignore[misc]


__all__ = ["partner_measures"]
