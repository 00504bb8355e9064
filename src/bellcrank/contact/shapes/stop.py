"""The stop of a joint coordinate: it knows how far the coordinate is from a limit, not where material is.

Both sides stand in the frames of the joint. A length is the offset of the origin of b along an axis of a. An angle is
that of an axis of b about z of a, met at a lever from the joint: the gap is lever times angle, exact all the way round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bellcrank.contact.shapes.base import Shape, Support
from bellcrank.errors import ModelError
from bellcrank.math.rotations import direction, half_turn
from bellcrank.math.tuples import UNIT, Mat, Vec, add, column, cross, scale, sub, tangents, transpose
from bellcrank.program.functions import atan2
from bellcrank.program.trace import Scalar


@dataclass(frozen=True, eq=False)
class Stop(Shape):
    """A limit at `place` [m or rad], of sign +1 where the coordinate stays above it and -1 where it stays below.

    axis: Along which a length is measured, or the axis of b that turns. lever: From the axis of an angle [m]; zero for
    a length. heading: The sign of the turning axis. middle: The angle opposite to which the measured angle jumps [rad].
    """

    place: float
    sign: float
    axis: int
    lever: float = 0.0
    heading: float = 1.0
    middle: float = 0.0

    def points(self, R: Mat, c: Vec) -> tuple[Vec, Vec, Vec]:
        """Normal, point of a and point of b in the frame of a, where b stands at c, turned by R."""
        if not self.lever:
            n: Vec = tuple(self.sign if k == self.axis else 0.0 for k in range(3))  # type: ignore[assignment]
            return n, sub(c, scale(self.gap(c[self.axis]), n)), c
        x, y, _ = column(R, self.axis)
        x, y = self.heading * x, self.heading * y
        u, v = math.cos(self.middle), math.sin(self.middle)
        angle = self.middle + atan2(u * y - v * x, u * x + v * y)
        n = (-self.sign * y, self.sign * x, 0.0)
        b = add(c, (self.lever * x, self.lever * y, 0.0))
        return n, sub(b, scale(self.gap(angle), n)), b

    def gap(self, coordinate: Scalar) -> Scalar:
        """How far the coordinate is from the limit [m]; of an angle at the lever."""
        return (self.lever or 1.0) * (self.sign * (coordinate - self.place))

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("a stop of a joint has no surface")

    def support(self, n: Vec) -> Support:
        raise ModelError("a stop of a joint has no surface")

    def bounding_radius(self) -> Scalar:
        return math.inf


@dataclass(frozen=True, eq=False)
class ConeStop(Stop):
    """A limit of an angle about an axis that goes with it: the whole rotation of b in a, or that of z to z.

    rotates: Whether it is the whole rotation. Where the angle vanishes the axis is any one across.
    """

    rotates: bool = False

    def points(self, R: Mat, c: Vec) -> tuple[Vec, Vec, Vec]:
        if self.rotates:
            cosine, sine = half_turn(UNIT, transpose(R))
            e, s = direction(sine)
            arm = tangents(e)[0]
        else:
            arm = column(R, 2)
            cosine, sine = arm[2], cross(UNIT[2], arm)
            e, s = direction(sine)
        n = scale(self.sign, cross(e, arm))
        b = add(c, scale(self.lever, arm))
        return n, sub(b, scale(self.gap(atan2(s, cosine)), n)), b


__all__ = ["ConeStop", "Stop"]
