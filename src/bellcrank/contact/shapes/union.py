"""Several shapes as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.keys import MATRIX, NUMBER, PART, VECTOR3, Keys, list_of, may, must
from bellcrank.contact.given import is_finite, numbers
from bellcrank.contact.shapes.base import SHARPEST, FieldShape, Floats, Shape, check_plain
from bellcrank.contact.shapes.fields import Field, PlacedField, depths, onto, smooth_maximum
from bellcrank.contact.triangles import Triangles, clipped, joined, refined
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Matrix, Vector
from bellcrank.program.trace import Scalar

SAME = 1e-9
"""Distance of two surfaces, over the size of the union, below which they lie on each other."""


class UnionField(NamedTuple):
    """The larger of two depths: to first order the distance where one part alone is near, less within both.

    width: Over which the parts are blended where they meet [m]; 0 leaves a crease.
    """

    first: Any
    second: Any
    width: float

    def depth(self, x: Vector) -> float:
        return smooth_maximum(self.first.depth(x), self.second.depth(x), self.width)

    def bound(self, x: Vector, r: float) -> float:
        return smooth_maximum(self.first.bound(x, r), self.second.bound(x, r), self.width)


class Part(NamedTuple):
    """A shape, its frame at `at` [m] and turned by `rotation`, (3, 3), in the frame of the union."""

    shape: Shape
    at: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


PLACED = (
    may("at", VECTOR3, "Origin of the part in the frame of the union [m].", plain=True, formerly="position"),
    may("rotation", MATRIX, "Rows of the matrix whose columns are the axes of the part there.", plain=True),
)
"""Keys of model files that say where a part lies, beside those of its shape."""


@dataclass(frozen=True, eq=False)
class Union(FieldShape):
    """Several shapes of finite size as one, which may overlap.

    blending: Width over which their depths are blended where they meet [m]: fillets that add at most 3/16 of it.
    """

    kind: ClassVar[str] = "union"
    keys: ClassVar[Keys] = Keys(
        "Several shapes of finite size as one.",
        must("parts", list_of(PART), "Shapes, each at its position and rotation in the frame of the union."),
        may(
            "blending",
            NUMBER,
            "Width over which they are blended where they meet [m]. A plain number.",
            plain=True,
        ),
    )

    parts: Sequence[Part]
    blending: float = 0.0

    def __post_init__(self) -> None:
        if len(self.parts) == 0:
            raise ModelError("a union has no parts; give at least one, such as Part(Sphere(0.1))")
        found = []
        for part in self.parts:
            if not isinstance(part, Part) or not isinstance(part.shape, Shape):
                raise ModelError(f"a part of a union is a Part(shape, at, rotation), not {part!r}")
            for name, size in vars(part.shape).items():
                check_plain(f"{type(part.shape).__name__} in a union", **{name: size})
            if part.shape.planar or not np.isfinite(part.shape.extent):
                raise ModelError(f"a part of a union has a finite size in space, not {part.shape!r}")
            at, rotation = (
                numbers(part.at, "the place of a part"),
                numbers(part.rotation, "the rotation of a part"),
            )
            if at.shape != (3,) or rotation.shape != (3, 3) or not np.all(np.isfinite(at)):
                raise ModelError(f"the place of a part of a union is (3,), its rotation (3, 3): {part!r}")
            if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-9) or np.linalg.det(rotation) < 0.0:
                raise ModelError(f"the rotation of a part of a union is none: {part.rotation!r}")
            found.append(Part(part.shape, at, rotation))
        object.__setattr__(self, "parts", tuple(found))
        if not (is_finite(self.blending) and self.blending >= 0.0):
            raise ModelError(f"union: blending must be a length [m], not {self.blending!r}")

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("a union has no formula; it meets other shapes by its field")

    def bounding_radius(self) -> Scalar:
        reach = max(float(np.linalg.norm(np.asarray(part.at))) + part.shape.extent for part in self.parts)
        return reach + 0.1875 * self.blending

    @cached_property
    def _fields(self) -> list[PlacedField]:
        return [
            PlacedField(
                part.shape.field,
                Vector(*np.asarray(part.at).tolist()),
                Matrix(*(Vector(*row) for row in np.asarray(part.rotation).tolist())),
            )
            for part in self.parts
        ]

    @cached_property
    def field(self) -> Field:
        width = float(self.blending)
        found: Field = reduce(lambda first, second: UnionField(first, second, width), self._fields)  # type: ignore[arg-type,return-value]
        return found

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        """What of the surfaces of the parts lies outside the other ones; its pieces meet within the spacing squared."""
        found = []
        for i, part in enumerate(self.parts):
            surface = part.shape.triangles(spacing)
            if surface is None:
                raise ModelError(f"{part.shape!r} has no triangles and cannot be a part of a union")
            surface = surface.placed(np.asarray(part.rotation), np.asarray(part.at))
            for j in range(len(self.parts)):
                if j != i and len(surface.faces):
                    surface = self._seamed(surface, i, j, spacing)
                    surface = self._outside(surface, i, j)
            found.append(surface)
        whole = joined(found)
        return Triangles(onto(self.field, whole.vertices), whole.faces) if self.blending > 0.0 else whole

    def _seamed(self, surface: Triangles, i: int, j: int, spacing: float | None) -> Triangles:
        """The surface of part i with short edges where it runs into part j."""
        fine = 2.0 * min(part.shape.extent for part in self.parts) / SHARPEST if spacing is None else spacing

        def too_long(a: Floats, b: Floats) -> NDArray[np.bool_]:
            length = np.linalg.norm(b - a, axis=1)
            away = np.abs(depths(self._fields[j], 0.5 * (a + b))[0])
            return np.asarray((length > fine) & (SAME * self.extent < away) & (away < 0.5 * length))

        return refined(surface, too_long, lambda a, b: onto(self._fields[i], 0.5 * (a + b)))

    def _outside(self, surface: Triangles, i: int, j: int) -> Triangles:
        """What of the surface of part i lies outside part j.

        Where both lie on each other, sides that face each other are inside, and of flush ones the first is kept.
        """
        near = SAME * self.extent
        middle = surface.corners.mean(axis=1)[:, None]
        points = np.concatenate([middle, 0.9 * surface.corners + 0.1 * middle], axis=1)
        depth, slope = depths(self._fields[j], points.reshape(-1, 3))
        deepest = np.arange(len(points)), depth.reshape(-1, 4).argmax(axis=1)
        facing = np.einsum("ij,ij->i", slope.reshape(-1, 4, 3)[deepest], surface.normals) > 0.5
        hidden = facing | (j < i)
        found = []
        for faces, slack in ((surface.faces[hidden], near), (surface.faces[~hidden], -near)):
            if len(faces):
                part = Triangles(surface.vertices, faces)
                found.append(clipped(part, lambda x, slack=slack: depths(self._fields[j], x)[0] + slack))  # type: ignore[misc]
        return joined(found)

    @cached_property
    def _mass(self) -> tuple[float, Floats, Floats]:
        """The sum of the parts where they do not overlap, else what their triangles enclose."""
        if self.blending > 0.0 or self._overlap:
            surface = self.triangles()
            assert surface is not None
            return surface.volume, surface.centre, surface.inertia
        rows = [(p.shape.volume, np.asarray(p.rotation), np.asarray(p.at), p.shape) for p in self.parts]
        volume = sum(v for v, _, _, _ in rows)
        places = [at + rotation @ shape.centre for _, rotation, at, shape in rows]
        centre = (
            sum((v * place for (v, _, _, _), place in zip(rows, places, strict=True)), np.zeros(3)) / volume
        )
        inertia = np.zeros((3, 3))
        for (v, rotation, _, shape), place in zip(rows, places, strict=True):
            off = place - centre
            inertia += rotation @ shape.inertia @ rotation.T + v * (
                off @ off * np.eye(3) - np.outer(off, off)
            )
        return volume, centre, inertia

    @property
    def _overlap(self) -> bool:
        for i, part in enumerate(self.parts):
            surface = part.shape.triangles()
            if surface is None:
                continue
            points = surface.placed(np.asarray(part.rotation), np.asarray(part.at)).vertices
            others = [field for j, field in enumerate(self._fields) if j != i]
            if any(np.any(depths(field, points)[0] > SAME * self.extent) for field in others):
                return True
        return False


__all__ = ["Part", "Union", "UnionField"]
