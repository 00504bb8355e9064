"""What a road is: a height over the plane, in traced code, with a slope that is continuous everywhere.

Heights between measured ones are cubic convolutions (R. G. Keys, Cubic convolution interpolation for digital image
processing, IEEE Transactions on Acoustics, Speech, and Signal Processing 29, 1981), here for points at any distances:
the slope at a point is that of the parabola through it and its neighbours. Each height is then a sum of four
heights along an axis, with weights that are cubic in the place, and the normal of the road is continuous.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.keys import Keys
from bellcrank.base.reach import LARGEST
from bellcrank.errors import ModelError
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import Numbers, clip, gather, interval, rebuilt
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar

Array = NDArray[np.float64]
MOST_HEIGHTS = 2_000_000
"""Heights of one road at most: they stand in the machine code, 16 MB then."""


class Road:
    """A height [m] as a function of place [m] and time [s]: what `road=` of a tyre takes.

    kind: Its name in model files. keys: Its keys there.
    """

    kind: ClassVar[str]
    keys: ClassVar[Keys]

    def __call__(self, x: Scalar, y: Scalar, t: Scalar = 0.0) -> Scalar:
        """Height at a place; numbers or traced."""
        raise NotImplementedError

    def heights(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Heights [m] at many places [m] at once; x and y are broadcast against each other."""
        return heights(self, x, y)


def heights(road: Any, x: ArrayLike, y: ArrayLike, parameter: Callable[[str], float] | None = None) -> Array:
    """Heights [m] of any function of (x, y, t) at many places, at time 0. parameter: Values of parameters by name."""
    graph = Graph()
    inputs = [graph.input(f"road at {name}") for name in ("x", "y", "t")]
    places = {one.args[0]: one for one in inputs}

    def leaf(name: str) -> Scalar:
        if name in places or parameter is None:
            return places[name]
        return parameter(name)

    height = road(*inputs)
    height = rebuilt(height, leaf, {}) if isinstance(height, Expr) else height
    xs, ys = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    program = Program.of(inputs, [height], "road")
    found = evaluate(program, np.stack([xs.ravel(), ys.ravel(), np.zeros(xs.size)]))[0]
    return np.asarray(found).reshape(xs.shape)


class Axis:
    """Points along a direction, and the weights of four of them for a place between.

    Two points are added at either end with the heights of the last one, so that a road stays as high as it ends.
    """

    def __init__(self, points: Array) -> None:
        first, last = points[1] - points[0], points[-1] - points[-2]
        ends = np.array([2.0, 1.0])
        padded = np.concatenate([points[0] - ends * first, points, points[-1] + ends[::-1] * last])
        self.size = len(padded)
        self.steps = np.diff(padded)
        self.inner = Numbers(padded[1:-1].tolist())
        self.before, self.here, self.after = (
            Numbers(self.steps[k : self.size - 3 + k].tolist()) for k in range(3)
        )

    def weights(self, x: Scalar) -> tuple[Scalar, list[Scalar]]:
        """The first of four points around x, as a whole number, and their weights."""
        inside = clip(x, self.inner[0], self.inner[-1])
        k = interval(inside, self.inner)
        a, h, b = gather(k, self.before), gather(k, self.here), gather(k, self.after)
        s = (inside - gather(k, self.inner)) / h
        r = 1.0 - s
        # Cubic Hermite: slopes times h of the two inner points are sums of height differences.
        rising, falling = s * r * r, -s * s * r
        first, second = h / (a + h), h / (h + b)
        left = first * h / a, 1.0 - first
        right = 1.0 - second, second * h / b
        start = r * r * (1.0 + 2.0 * s)
        return k, [
            -rising * left[0],
            start + rising * (left[0] - left[1]) - falling * right[0],
            1.0 - start + rising * left[1] + falling * (right[0] - right[1]),
            falling * right[1],
        ]


def along(padded: Numbers, at: tuple[Scalar, list[Scalar]]) -> Scalar:
    """The height of a row of padded heights at a place, by the weights there."""
    k, weights = at
    total: Scalar = 0.0
    for m, w in enumerate(weights):
        total = total + w * gather(k + float(m), padded)
    return total


def pad(values: Array) -> Array:
    """Heights with those that an :class:`Axis` adds at the ends of each direction."""
    return np.pad(values, 2, mode="edge")


def points(what: str, values: Any) -> Array:
    """Places along a direction, checked."""
    found = numbers(what, values)
    if found.ndim != 1 or len(found) < 2:
        raise ModelError(f"{what} must be a row of at least 2 numbers, not of shape {found.shape}")
    falls = np.flatnonzero(np.diff(found) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise ModelError(f"{what} must increase; number {k + 1} ({found[k + 1]:g}) follows {found[k]:g}")
    return found


def numbers(what: str, values: Any) -> Array:
    """An array of finite numbers."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what} must be numbers in rows of equal length") from None
    if found.size > MOST_HEIGHTS:
        raise ModelError(
            f"{what} are {found.size} numbers; {MOST_HEIGHTS} are the most: leave some out, or take a part of the road"
        )
    if not np.all(np.abs(found) <= LARGEST):
        k = np.argwhere(~(np.abs(found) <= LARGEST))[0].tolist()
        raise ModelError(f"{what} must be finite numbers; number {k} is {found[tuple(k)]:g}")
    found.setflags(write=False)
    return found


def number(what: str, value: Any, positive: bool = False) -> float:
    """A plain finite number."""
    found = numbers(what, value)
    if found.ndim or (positive and not found > 0.0):
        raise ModelError(f"{what} must be a {'positive ' * positive}number, not {value!r}")
    return float(found)


def table(values: Array) -> Numbers:
    """Numbers for the program."""
    return Numbers(values.ravel().tolist())


__all__ = ["Axis", "Road", "heights"]
