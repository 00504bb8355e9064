"""A ring with a round section."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bellcrank.base.keys import NUMBER, Keys, must
from bellcrank.contact.shapes.base import SAGITTA, FieldShape, Floats, check_sizes, number, plain
from bellcrank.contact.shapes.fields import TINY, Field
from bellcrank.contact.shapes.turned import turned
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import sqrt
from bellcrank.program.trace import Expr, Scalar


class TorusField(NamedTuple):
    """The depth in a torus, exact; radius of its middle line and of its section, tube: [m]."""

    radius: float
    tube: float

    def depth(self, x: Vector) -> float:
        tiny = TINY * self.radius
        out = (x.x * x.x + x.y * x.y + tiny * tiny) ** 0.5 - self.radius
        return self.tube - (out * out + x.z * x.z + tiny * tiny) ** 0.5  # type: ignore[no-any-return]

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def carried(self, x: Vector, before: TorusField) -> Vector:
        k = self.tube / before.tube
        out = (x.x * x.x + x.y * x.y) ** 0.5
        around = (self.radius + k * (out - before.radius)) / out
        return Vector(x.x * around, x.y * around, x.z * k)

    def change(self, before: TorusField) -> float:
        return abs(self.radius - before.radius) + abs(self.tube - before.tube)


@dataclass(frozen=True)
class Torus(FieldShape):
    """A ring about z: radius of its middle line, and of its section, `tube` [m], which is smaller."""

    kind = "torus"
    keys = Keys(
        "A ring about z.",
        must("radius", NUMBER, "Of its middle line [m]."),
        must("tube", NUMBER, "Radius of its section [m]."),
    )

    radius: Scalar
    tube: Scalar

    def __post_init__(self) -> None:
        check_sizes("torus", radius=self.radius, tube=self.tube)
        numbers = not isinstance(self.radius, Expr) and not isinstance(self.tube, Expr)
        if numbers and not self.tube < self.radius:
            raise ModelError(
                f"torus: tube {self.tube:g} m must be smaller than radius {self.radius:g} m, or the ring has no hole"
            )

    def implicit(self, s: Vec) -> Scalar:
        out = sqrt(s[0] * s[0] + s[1] * s[1]) - self.radius
        return out * out + s[2] * s[2] - self.tube * self.tube

    def bounding_radius(self) -> Scalar:
        return self.radius + self.tube

    @cached_property
    def field(self) -> Field:
        return TorusField(number(self.radius), number(self.tube))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        r, tube = plain("torus", self.radius), plain("torus", self.tube)
        sagitta = 2.0 * tube / SAGITTA
        lengths = (math.sqrt(8.0 * sagitta * x) if spacing is None else spacing for x in (tube, r + tube))
        section, count = (
            max(8, math.ceil(2.0 * np.pi * x / h)) for x, h in zip((tube, r + tube), lengths, strict=True)
        )
        turn = 2.0 * np.pi * np.arange(section) / section
        rows = np.stack([r + tube * np.cos(turn), tube * np.sin(turn)], axis=1)
        return turned(rows, count, ring=True)

    @property
    def volume(self) -> float:
        return 2.0 * math.pi**2 * plain("torus", self.radius) * plain("torus", self.tube) ** 2

    @property
    def centre(self) -> Floats:
        return np.zeros(3)

    @property
    def inertia(self) -> Floats:
        r, tube = plain("torus", self.radius) ** 2, plain("torus", self.tube) ** 2
        across = 0.5 * r + 0.625 * tube
        return self.volume * np.diag([across, across, r + 0.75 * tube])


__all__ = ["Torus", "TorusField"]
