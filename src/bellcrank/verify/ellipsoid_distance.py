"""Distance of ellipsoids in random poses against a search from many starts.

Two hundred pairs with semi-axes from 0.2 to 1 m, apart and touching closely; the distance is the largest gap between
parallel tangent planes, found by quasi-Newton steps from twelve directions.

Source: separating planes of convex bodies; support function |D R^T n| of an ellipsoid. The search shares no code
with the compiled one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from bellcrank.contact import ClosestKernel, Ellipsoid
from bellcrank.verify.cases import Quantity, Within

Array = NDArray[np.float64]
PAIRS = 200
SHAPES = 8


def separation(axes: Array, R: Array, c: Array, n: Array) -> tuple[float, Array]:
    """Gap between the tangent planes of both ellipsoids across n, and its gradient by n (not of unit length)."""
    length = float(np.linalg.norm(n))
    unit = n / length
    value, slope = float(c @ unit), c.copy()
    for k in range(2):
        stretched = R[k] @ (axes[k] ** 2 * (R[k].T @ unit))
        h = float(np.sqrt(unit @ stretched))
        value, slope = value - h, slope - stretched / h
    return value, (slope - (slope @ unit) * unit) / length


def by_many_starts(axes: Array, R: Array, c: Array, starts: Array) -> float:
    """The largest separation over all directions."""

    def cost(n: Array) -> tuple[float, Array]:
        value, slope = separation(axes, R, c, n)
        return -value, -slope

    found = [minimize(cost, n, jac=True, method="BFGS", options={"gtol": 1e-11}).fun for n in [c, *starts]]
    return -float(min(found))


def largest_errors() -> tuple[float, float]:
    """Of the distance and of the normal's condition, over all pairs."""
    random = np.random.default_rng(6)
    worst = miss = 0.0
    starts = random.normal(size=(11, 3))
    for _ in range(SHAPES):
        axes = random.uniform(0.2, 1.0, (2, 3))
        first, second = (Ellipsoid(*(float(x) for x in row)) for row in axes)
        kernel = ClosestKernel(first, second)
        for _ in range(PAIRS // SHAPES):
            R = np.array([Rotation.random(random_state=random).as_matrix() for _ in range(2)])
            way = random.normal(size=3)
            way /= np.linalg.norm(way)
            # From nearly touching to far away: the gap across the line of centres is between 1e-6 and 1 m.
            reach = -separation(axes, R, np.zeros(3), way)[0]
            c = (reach + 10.0 ** random.uniform(-6.0, 0.0)) * way
            found = kernel(R[0], np.zeros(3), R[1], c)
            worst = max(worst, abs(found.distance - by_many_starts(axes, R, c, starts)))
            miss = max(miss, found.residual)
    return worst, miss


def quantities() -> list[Quantity]:
    """The largest difference over all pairs."""
    worst, miss = largest_errors()
    return [
        Quantity("largest_difference", worst, 1e-9, 0.0, "m", Within.AT_MOST),
        Quantity("points_off_the_normal", miss, 1e-8, 0.0, "m", Within.AT_MOST),
        Quantity("pairs", PAIRS // SHAPES * SHAPES, 200, 0.0),
    ]
