"""Tabulated functions, traceable: look up the interval, then evaluate its polynomial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.program.functions import clip, gather, interval, maximum, minimum
from bellcrank.program.trace import Scalar

Extrapolation: TypeAlias = Literal["constant", "linear"]
Table: TypeAlias = Callable[[Scalar], Scalar]


def linear_table(xs: ArrayLike, ys: ArrayLike, extrapolate: Extrapolation = "constant") -> Table:
    """The function through the points (xs, ys) that is straight between them.

    Beyond the table it keeps the last value, or with ``extrapolate="linear"`` the last slope.
    """
    x, y = _checked(xs, ys, extrapolate)
    return _piecewise(x, [np.diff(y) / np.diff(x), y[:-1]], extrapolate)


def smooth_table(
    xs: ArrayLike,
    ys: ArrayLike,
    extrapolate: Extrapolation = "constant",
    ends: Literal["not-a-knot", "natural"] = "not-a-knot",
    monotone: bool = False,
) -> Table:
    """The cubic spline through the points (xs, ys), twice continuously differentiable.

    `ends` says how it ends: with the outer two cubics equal ("not-a-knot") or without curvature ("natural").
    With ``monotone=True`` it rises and falls only as the data do (Fritsch and Butland 1984, PCHIP), at
    the price of a jumping second derivative. Beyond the table it keeps the last value, or with
    ``extrapolate="linear"`` the last slope.
    """
    x, y = _checked(xs, ys, extrapolate)
    if ends not in ("not-a-knot", "natural"):
        raise ValueError(f"a spline ends 'not-a-knot' or 'natural', not {ends!r}")
    from scipy.interpolate import CubicSpline, PchipInterpolator

    spline = PchipInterpolator(x, y) if monotone else CubicSpline(x, y, bc_type=ends)
    return _piecewise(x, list(np.asarray(spline.c, dtype=np.float64)), extrapolate)


def table_and_integral(xs: ArrayLike, ys: ArrayLike) -> tuple[Table, Table]:
    """The monotone :func:`smooth_table` with its end slopes beyond, and its exact integral from 0."""
    x, y = _checked(xs, ys, "linear")
    from scipy.interpolate import PchipInterpolator

    spline = PchipInterpolator(x, y)
    value = _piecewise(x, list(np.asarray(spline.c, dtype=np.float64)), "linear")
    inner = _piecewise(x, list(np.asarray(spline.antiderivative().c, dtype=np.float64)), "constant")
    first, last = float(x[0]), float(x[-1])
    slopes = spline.derivative()
    k_first, k_last = float(slopes(first)), float(slopes(last))

    def integral(at: Scalar) -> Scalar:
        # What clipping took away: at an end itself its slope is zero, so that none counts twice there.
        outside = at - clip(at, first, last)
        below, above = minimum(outside, 0.0), maximum(outside, 0.0)
        beyond = below * (float(y[0]) + 0.5 * k_first * below) + above * (float(y[-1]) + 0.5 * k_last * above)
        return inner(at) + beyond

    start = integral(0.0)
    return value, lambda at: integral(at) - start


def _checked(
    xs: ArrayLike, ys: ArrayLike, extrapolate: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"a table takes two rows of numbers, not shapes {x.shape} and {y.shape}")
    if len(x) != len(y):
        raise ValueError(f"a table needs as many values as points; here are {len(x)} points, {len(y)} values")
    if len(x) < 2:
        raise ValueError(f"a table needs at least two points; here are {len(x)}")
    for name, row in (("points", x), ("values", y)):
        bad = np.flatnonzero(~np.isfinite(row))
        if len(bad):
            raise ValueError(f"the {name} of a table must be finite; number {bad[0]} is {row[bad[0]]}")
    falls = np.flatnonzero(np.diff(x) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise ValueError(
            f"the points of a table must increase; number {k + 1} ({x[k + 1]:g}) follows {x[k]:g}; sort them"
        )
    if extrapolate not in ("constant", "linear"):
        raise ValueError(f"a table extrapolates 'constant' or 'linear', not {extrapolate!r}")
    return x, y


def _piecewise(x: NDArray[np.float64], coefficients: list[NDArray[np.float64]], extrapolate: str) -> Table:
    """The polynomials with `coefficients` of falling powers of the distance from each interval's start."""
    points = x.tolist()
    rows = [c.tolist() for c in coefficients]
    first, last = points[0], points[-1]
    h = last - points[-2]
    slope_first = rows[-2][0]
    degree = len(rows) - 1
    slope_last = sum((degree - k) * row[-1] * h ** (degree - k - 1) for k, row in enumerate(rows[:-1]))

    def table(at: Scalar) -> Scalar:
        inside = clip(at, first, last)
        k = interval(inside, points)
        distance = inside - gather(k, points[:-1])
        value: Scalar = gather(k, rows[0])
        for row in rows[1:]:
            value = value * distance + gather(k, row)
        if extrapolate == "linear":
            outside = at - inside
            value = value + slope_first * minimum(outside, 0.0) + slope_last * maximum(outside, 0.0)
        return value

    return table
