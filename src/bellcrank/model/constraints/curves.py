"""Points on curves, and curves that touch each other: cams, slots and Geneva wheels.

A curve c(s) is any traced function of its parameter s. The place on it is a coordinate that the constraint brings
along: a point on a curve is three equations d = c(s) in one more coordinate; two plane curves that touch are two
equations for the common point and one for the common tangent, in two more coordinates. No force acts along a curve: the
equations of motion of s, which has no mass, say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bellcrank.base.keys import NUMBER, SIDE, VECTOR_FUNCTION, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, add, dot, scale, sub
from bellcrank.model import checks
from bellcrank.model.constraints.constraint import (
    BetweenFrames,
    ConstraintMethod,
    Effort,
    Unknown,
)
from bellcrank.model.constraints.points import place_in
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Side
from bellcrank.program.derive import directional
from bellcrank.program.functions import gather, interval
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Scalar, function

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen
    from bellcrank.mechanics.forces import Acting

Curve = Callable[..., Sequence[Scalar]]
_START = "a start on a curve is a plain number"


class SplineCurve:
    """The cubic spline through points (number, 2 or 3) [m], closed or open, twice continuously differentiable.

    Its parameter s is the length of the polygon through the points [m], from the first; a closed one repeats with
    `length`, an open one goes on straight beyond its ends.
    """

    def __init__(self, points: ArrayLike, closed: bool = False) -> None:
        given = np.asarray(points, dtype=float)
        if given.ndim != 2 or given.shape[1] not in (2, 3) or len(given) < 3 or not np.isfinite(given).all():
            raise ModelError(
                f"a curve needs 3 points or more of 2 or 3 finite numbers, not {np.shape(points)}"
            )
        if given.shape[1] == 2:
            given = np.column_stack([given, np.zeros(len(given))])
        if closed and np.any(given[0] != given[-1]):
            given = np.vstack([given, given[:1]])
        steps = np.linalg.norm(np.diff(given, axis=0), axis=1)
        if not np.all(steps > 0.0):
            raise ModelError("two neighbouring points of a curve are the same; leave one of them out")
        from scipy.interpolate import CubicSpline

        self.closed = closed
        self.knots = np.concatenate([[0.0], np.cumsum(steps)])
        self.length = float(self.knots[-1])
        spline = CubicSpline(self.knots, given, bc_type="periodic" if closed else "natural")
        self.coefficients = np.asarray(spline.c, dtype=float)
        self.points = given

    def __call__(self, s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        knots = self.knots.tolist()
        if self.closed:
            inside = s - self.length * function("floor", s / self.length)
        else:
            inside = s
        k = interval(inside, knots)
        distance = inside - gather(k, knots[:-1])
        found = []
        for axis in range(3):
            value: Scalar = gather(k, self.coefficients[0, :, axis].tolist())
            for row in self.coefficients[1:, :, axis]:
                value = value * distance + gather(k, row.tolist())
            found.append(value)
        return found[0], found[1], found[2]

    def nearest(self, place: ArrayLike) -> float:
        """The parameter of the point nearest to a place, among many on the curve."""
        s = np.linspace(0.0, self.length, 32 * len(self.knots))
        k = np.clip(np.searchsorted(self.knots, s, "right") - 1, 0, len(self.knots) - 2)
        d = (s - self.knots[k])[:, None]
        c = self.coefficients[:, k]
        points = ((c[0] * d + c[1]) * d + c[2]) * d + c[3]
        return float(s[np.linalg.norm(points - np.asarray(place, dtype=float), axis=1).argmin()])


def on_curve(act: Acting, curve: Curve, s: Scalar) -> tuple[Vec, Vec]:
    """The point of a curve and its derivative by the parameter."""
    at = Graph().input("s of a curve")
    point = [at.graph.bring(x) for x in curve(at)]
    slope = directional(point, {at.id: 1.0})
    x, y, z, dx, dy, dz = act.substituted([*point, *slope], {at.id: s})
    return (x, y, z), (dx, dy, dz)


@dataclass(frozen=True, eq=False)
class PointOnCurve(BetweenFrames):
    """On the curve c(s) of frame a, s near `start` at the start."""

    kind = "point_on_curve"
    keys = Keys(
        "A point on a curve.",
        must("a", SIDE, "Frame of the curve."),
        must("b", SIDE, "The point."),
        must("curve", VECTOR_FUNCTION, "Place x, y, z [m] in frame a, of the parameter s.", of=("s",)),
        may("start", NUMBER, "Parameter near which the point starts; 0 where missing.", plain=True),
    )

    curve: Curve
    start: float = 0.0

    def unknowns(self) -> Sequence[Unknown]:
        return (Unknown("s", self.start),)

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("force_1", "N"), Effort("force_2", "N"), Effort("force_3", "N"))

    def positions(self, act: Acting) -> Sequence[Scalar]:
        return sub(place_in(act, self.a, self.b), on_curve(act, self.curve, self.unknown(act, "s"))[0])


@dataclass(frozen=True, eq=False)
class CurveOnCurve(BetweenFrames):
    """The curves of frames a and b, each in the xy plane of its frame, touch each other."""

    kind = "curve_on_curve"
    keys = Keys(
        "Two plane curves that touch.",
        must("a", SIDE, "Frame of the first curve, which lies in its xy plane."),
        must("b", SIDE, "Frame of the second."),
        must("curve_a", VECTOR_FUNCTION, "Place x, y, z [m] in frame a, of the parameter s.", of=("s",)),
        must("curve_b", VECTOR_FUNCTION, "Place x, y, z [m] in frame b, of the parameter s.", of=("s",)),
        may("start_a", NUMBER, "Parameter of the first near which they touch at the start.", plain=True),
        may("start_b", NUMBER, "The same of the second.", plain=True),
    )

    curve_a: Curve
    curve_b: Curve
    start_a: float = 0.0
    start_b: float = 0.0

    def unknowns(self) -> Sequence[Unknown]:
        return (Unknown("s_a", self.start_a), Unknown("s_b", self.start_b))

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("force_1", "N"), Effort("force_2", "N"), Effort("tangent", "N m"))

    def positions(self, act: Acting) -> Sequence[Scalar]:
        A, B, _ = act.ends(self.a, self.b)
        on_a, along_a = self._seen(act, A, self.curve_a, "s_a")
        on_b, along_b = self._seen(act, B, self.curve_b, "s_b")
        x, y = A.axis(0), A.axis(1)
        gap = sub(on_b, on_a)
        across = dot(x, along_a) * dot(y, along_b) - dot(y, along_a) * dot(x, along_b)
        return dot(x, gap), dot(y, gap), across

    def _seen(self, act: Acting, frame: Seen, curve: Curve, name: str) -> tuple[Vec, Vec]:
        """A point of a curve and the derivative there, in the axes of the common link."""
        point, slope = on_curve(act, curve, self.unknown(act, name))
        return add(frame.point, _turned(frame, point)), _turned(frame, slope)


def _turned(frame: Seen, v: Vec) -> Vec:
    return add(add(scale(v[0], frame.axis(0)), scale(v[1], frame.axis(1))), scale(v[2], frame.axis(2)))


class CurveMethods(ConstraintMethod):
    """Makes constraints on curves."""

    def point_on_curve(self, name: str, a: Side, b: Side, curve: Curve, start: Any = None) -> PointOnCurve:
        """Keep a point on a curve, in the plane or in space, closed or open.

        a: Body or frame of the curve. b: The point. curve: Function of a parameter s that gives x, y, z [m] in frame a,
        or :class:`bellcrank.SplineCurve`. start: Parameter near which the point starts; where missing the nearest of a
        spline, 0 otherwise.
        """
        name, who = self._constraint_name(name)
        frames = self._two_frames(who, a, b)
        if start is None:
            start = curve.nearest(_place(*frames)) if isinstance(curve, SplineCurve) else 0.0
        law = user_function(f"curve of {who}", curve, ("s",), self.parameters, 3)
        return self._add_constraint(
            PointOnCurve(name, *frames, law, checks.plain_number(f"start of {who}", start, _START))
        )

    def curve_on_curve(
        self,
        name: str,
        a: Side,
        b: Side,
        curve_a: Curve,
        curve_b: Curve,
        start_a: float = 0.0,
        start_b: float = 0.0,
    ) -> CurveOnCurve:
        """Let two plane curves touch and slide on each other without friction and without parting: a cam pair.

        a, b: Bodies or frames; each curve lies in the xy plane of its frame, and the planes stay in one. curve_a,
        curve_b: Functions of a parameter s that give x, y, z [m], or :class:`bellcrank.SplineCurve`. start_a, start_b:
        Parameters near which they touch at the start.
        """
        name, who = self._constraint_name(name)
        frames = self._two_frames(who, a, b)
        laws = [
            user_function(f"{key} of {who}", curve, ("s",), self.parameters, 3)
            for key, curve in (("curve_a", curve_a), ("curve_b", curve_b))
        ]
        starts = [
            checks.plain_number(f"{key} of {who}", x, _START)
            for key, x in (("start_a", start_a), ("start_b", start_b))
        ]
        return self._add_constraint(CurveOnCurve(name, *frames, laws[0], laws[1], starts[0], starts[1]))


def _place(a: Frame, b: Frame) -> Any:
    """Where b starts, in frame a [m]."""
    return a.start_rotation().T @ (b.start_position() - a.start_position())


__all__ = ["CurveMethods", "CurveOnCurve", "PointOnCurve", "SplineCurve"]
