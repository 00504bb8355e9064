"""Quintic splines on evenly spaced knots, four times continuously differentiable: a field needs three of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Reals2, compiled

Floats = NDArray[np.float64]

PIECE = (
    np.array(
        [
            [1, 26, 66, 26, 1, 0],
            [-5, -50, 0, 50, 5, 0],
            [10, 20, -60, 20, 10, 0],
            [-10, 20, 0, -20, 10, 0],
            [5, -20, 30, -20, 5, 0],
            [-1, 5, -10, 10, -5, 1],
        ]
    )
    / 120.0
)
"""Powers of t, by rows, of the six B-splines over one interval 0 <= t <= 1, by columns."""


def coefficients(values: Floats) -> Floats:
    """Coefficients (n + 4, ...) of the spline through values (n, ...) along the first axis.

    Two more stand on each side than there are values. The fifth slope does not jump at the two knots next to each end,
    so that polynomials of degree five are kept; fewer than six values take a polynomial of a lower degree.
    """
    n = len(values)
    order = min(6, n)
    system = np.zeros((n + 4, n + 4))
    for k in range(n):
        system[k, k : k + 5] = PIECE[0, :5]
    difference = np.array([1.0])
    for _ in range(order):
        difference = np.convolve(difference, [1.0, -1.0])
    for row, start in zip(range(n, n + 4), (0, 1, n + 2 - order, n + 3 - order), strict=True):
        system[row, start : start + order + 1] = difference
    given = np.concatenate([values, np.zeros((4, *values.shape[1:]))])
    return np.linalg.solve(system, given.reshape(n + 4, -1)).reshape(given.shape)


def pieces(values: Floats) -> Floats:
    """Powers of t in every interval between values (n,), by rows, (n - 1, 6)."""
    c = coefficients(values)
    windows = np.stack([c[k : k + len(values) - 1] for k in range(6)], axis=1)
    return windows @ PIECE.T


def beyond(c: Floats) -> Floats:
    """Coefficients along the first axis with one more on each side, by which the polynomials next to the ends go on."""
    order = min(6, len(c) - 4)
    signs = np.array([1.0])
    for _ in range(order):
        signs = np.convolve(signs, [1.0, -1.0])
    # The difference of that order, which vanishes, solved for its first term.
    before = -np.tensordot(signs[1:], c[:order], axes=1)
    after = -np.tensordot(signs[1:], c[::-1][:order], axes=1)
    return np.concatenate([before[None], c, after[None]])


class Weights(NamedTuple):
    """Of six B-splines at a point."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def row(self, table: Reals2, i: int, j: int) -> float:
        """Their sum with the coefficients of a row from column j on."""
        return (  # type: ignore[no-any-return]
            self.a * table[i, j]
            + self.b * table[i, j + 1]
            + self.c * table[i, j + 2]
            + self.d * table[i, j + 3]
            + self.e * table[i, j + 4]
            + self.f * table[i, j + 5]
        )

    def dot(self, a: float, b: float, c: float, d: float, e: float, f: float) -> float:
        """Their sum with six numbers."""
        return self.a * a + self.b * b + self.c * c + self.d * d + self.e * e + self.f * f


@compiled
def weights(t: float) -> Weights:
    """Of the six B-splines over an interval, 0 <= t <= 1."""
    s = 1.0 - t
    return Weights(
        s * s * s * s * s / 120.0,
        (26.0 + t * (-50.0 + t * (20.0 + t * (20.0 + t * (-20.0 + 5.0 * t))))) / 120.0,
        (66.0 + t * t * (-60.0 + t * t * (30.0 - 10.0 * t))) / 120.0,
        (26.0 + t * (50.0 + t * (20.0 + t * (-20.0 + t * (-20.0 + 10.0 * t))))) / 120.0,
        (1.0 + t * (5.0 + t * (10.0 + t * (10.0 + t * (5.0 - 5.0 * t))))) / 120.0,
        t * t * t * t * t / 120.0,
    )


@compiled
def slopes(t: float) -> Weights:
    """Of the weights, by t."""
    s = 1.0 - t
    return Weights(
        s * s * s * s / -24.0,
        (-50.0 + t * (40.0 + t * (60.0 + t * (-80.0 + 25.0 * t)))) / 120.0,
        t * (-120.0 + t * t * (120.0 - 50.0 * t)) / 120.0,
        (50.0 + t * (40.0 + t * (-60.0 + t * (-80.0 + 50.0 * t)))) / 120.0,
        (5.0 + t * (20.0 + t * (30.0 + t * (20.0 - 25.0 * t)))) / 120.0,
        t * t * t * t / 24.0,
    )


__all__ = ["Weights", "beyond", "coefficients", "pieces", "slopes", "weights"]
