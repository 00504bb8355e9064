"""What every shape gives: a field of depth, triangles, mass, and for smooth convex pairs support points and curvature.

A convex shape is known to the search for closest points by its support map: for an outward unit normal n the
point of the surface where n is the normal, and the second derivative of the support function there, which
holds the radii of curvature. With it the constraints of problem (23) of Park et al. (2000) hold by construction.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.contact.given import is_finite, is_positive
from bellcrank.contact.norms import TINY, Form
from bellcrank.contact.shapes.fields import Field
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.program.trace import Expr, Scalar

Floats = NDArray[np.float64]

RADIUS = must("radius", NUMBER, "[m]")
HALF_LENGTH = must("half_length", NUMBER, "[m]")
RIMS = may("rounding", NUMBER, "Radius of its rims [m]; a fiftieth of its smallest size where missing.")

FLAT = 1e-9
"""A normal within this angle of a flat side's [rad] touches the side as a whole."""
SHARPEST = 50.0
"""Size of a shape over the radius of its edges where the user gives none: edges of real parts are not sharper."""
SAGITTA = 1600.0
"""Size of a shape over the distance of its triangles from its curved sides."""


@dataclass(frozen=True, eq=False)
class Support:
    """The point of the surface with a given outward unit normal.

    `second(e, f)` is the second derivative of the support function [m] along tangents e and f.
    """

    point: Vec
    second: Form


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface near one of its points; `curvature(e, f)` [1/m] along tangents e and f."""

    point: Vec
    normal: Vec
    curvature: Form


class Shape(ABC):
    """A shape in its own frame."""

    kind: ClassVar[str] = ""
    """What model files call the shape; empty where they cannot carry it."""
    keys: ClassVar[Keys] = Keys("")
    """What model files say of it; a key by its Python name is an argument of the class."""
    old_kinds: ClassVar[Mapping[str, Keys]] = {}
    """Kinds of older files that are read as this shape."""
    planar: ClassVar[bool] = False
    """Whether the shape is a curve in the x-y plane (standing for the cylinder over it, endless along z)."""
    by_points: ClassVar[bool] = False
    """Whether the surface bends so little in places that points, not normals, are the better unknowns."""
    closed_support: ClassVar[bool] = True
    """Whether support points have a closed form."""
    straight: ClassVar[bool] = False
    """Whether the shape has straight sides along z."""
    faces: ClassVar[bool] = False
    """Whether the shape has flat ends across z."""

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> Shape:
        """The shape from what a model file says, by the Python names of its keys."""
        return cls(**given)

    def to_keys(self) -> dict[str, Any]:
        """What a model file says of the shape, by the Python names of its keys; None is left out."""
        return {key.attribute: getattr(self, key.attribute) for key in self.keys.keys}

    @property
    def is_open(self) -> bool:
        """Whether it is a surface with a rim, which bounds nothing."""
        return False

    @property
    def whole(self) -> Shape:
        """What the user gave, where this is a piece or a spot of it."""
        return self

    @abstractmethod
    def implicit(self, s: Vec) -> Scalar:
        """g(s): negative inside, zero on the surface."""

    @abstractmethod
    def support(self, n: Vec) -> Support:
        """The point whose outward normal is the unit vector n."""

    def support_near(self, n: Vec, target: Vec) -> Vec:
        """Where a whole side has the normal n, the point of it nearest to `target`."""
        return self.support(n).point

    def outward(self, direction: Vec) -> Vec:
        """A vector along the normal where the ray from the origin along `direction` leaves the shape."""
        return direction

    def surface(self, x: Vec) -> Surface:
        """The surface where the ray from the origin to x meets it; only shapes that are `by_points` have one."""
        raise ModelError(f"{type(self).__name__} is searched by its normals and gives no surface by points")

    def point_near(self, n: Vec) -> Vec:
        """A point whose outward normal is about n, to start from."""
        return self.support(n).point

    @abstractmethod
    def bounding_radius(self) -> Scalar:
        """No point lies further than this from the origin of the frame [m]."""

    def samples(self) -> tuple[Vec, ...]:
        """Points of the surface, spread evenly by their normals, to start a search from."""
        return tuple(self.support(n).point for n in sample_normals(self.planar))

    @property
    def field(self) -> Field:
        """The depth of points in the shape, as a record of the loop language."""
        raise ModelError(f"{self._name} has no field of depth; it meets shapes by closest points only")

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        """The surface as triangles; None where it has no end.

        spacing: Longest edge on curved sides and along edges of the shape [m]; without it edges of the shape are
        resolved by a fiftieth of its size, and curved sides are followed within 1/1600 of it.
        """
        return None

    def even_triangles(self, spacing: float) -> Triangles | None:
        """The surface of a body that will bend: straight sides too have edges about as short as `spacing` [m]."""
        return self.triangles(spacing)

    def facets(self) -> Triangles | None:
        """The surface for partners whose field is linear, as a plane's: straight sides need no small triangles."""
        return self.triangles()

    def drawn(self) -> Triangles | None:
        """The surface for pictures, with few triangles; None where it has no end."""
        return self.triangles(0.12 * self.extent)

    @property
    def _mass(self) -> tuple[float, Floats, Floats]:
        """Volume, centre of mass and inertia about it, at unit density."""
        raise ModelError(f"the mass properties of {self._name} are not known; give mass and inertia")

    @property
    def volume(self) -> float:
        """[m^3]."""
        return self._mass[0]

    @property
    def centre(self) -> Floats:
        """The centre of mass [m], (3,)."""
        return self._mass[1].copy()

    @property
    def inertia(self) -> Floats:
        """About the centre of mass in the axes of the shape, at unit density [m^5], (3, 3)."""
        return self._mass[2].copy()

    @property
    def extent(self) -> float:
        """No point lies further than this from the origin of the frame [m]."""
        return plain(self._name, self.bounding_radius())

    @property
    def _name(self) -> str:
        """What errors call the shape."""
        return f"{type(self).__name__}"


class FieldShape(Shape):
    """A shape that meets others by its field alone."""

    def support(self, n: Vec) -> Support:
        raise ModelError(f"{self._name} has no support points; it meets other shapes by its field")


def sample_normals(planar: bool) -> tuple[tuple[float, float, float], ...]:
    """Unit vectors spread evenly: eight in the plane, or the 26 to faces, edges and corners of a cube."""
    if planar:
        angles = [math.pi * (k + 0.125) / 4 for k in range(8)]
        return tuple((math.cos(t), math.sin(t), 0.0) for t in angles)
    steps = (-1.0, 0.0, 1.0)
    cells = [(x, y, z) for x in steps for y in steps for z in steps if (x, y, z) != (0.0, 0.0, 0.0)]
    return tuple((x / m, y / m, z / m) for x, y, z in cells for m in [math.sqrt(x * x + y * y + z * z)])


def check_sizes(shape: str, **sizes: Scalar) -> None:
    """Raise where a size is not a positive length; `shape` is what errors call it."""
    for name, value in sizes.items():
        if not isinstance(value, Expr) and not is_positive(value):
            raise ModelError(f"{shape}: {name} must be a positive length [m], not {value!r}")


def check_rounding(shape: str, rounding: Scalar | None, smallest: Scalar) -> None:
    """Raise where edges would be rounder than the smallest half size allows."""
    if rounding is None or isinstance(rounding, Expr):
        return
    if not (is_finite(rounding) and rounding >= 0.0):
        raise ModelError(f"{shape}: rounding must be a length [m], not {rounding!r}")
    # Blends of opposite edges, 1.6 radii wide, must not overlap.
    if not isinstance(smallest, Expr) and rounding > 0.6 * smallest:
        raise ModelError(
            f"{shape}: rounding {rounding:g} m is more than 0.6 of its smallest half size {smallest:g} m; "
            "give a smaller radius, or a rounder shape"
        )


def plain(shape: str, value: Scalar) -> float:
    """A size as a number; `shape` is what errors call its owner."""
    if isinstance(value, Expr):
        raise ModelError(f"{shape} has a size that depends on parameters; its surface and mass need numbers")
    return float(value)


PLAIN = (
    "parameters may stand in the sizes of spheres, ellipsoids, superellipsoids, boxes, capsules, cylinders, cones, "
    "tubes and tori. Give a number, and describe the system anew for another one"
)
"""What to do about other sizes."""


def check_plain(shape: str, **sizes: Any) -> None:
    """Raise where what a shape is made of depends on a parameter of a system; `shape` is what errors call it."""
    for name, value in sizes.items():
        if isinstance(value, Expr):
            raise ModelError(
                f"{shape}: {name} is a plain number and cannot depend on the parameter {value!r}; {PLAIN}"
            )


def has_parameters(shape: Shape) -> bool:
    """Whether a size of a shape depends on parameters."""
    return any(isinstance(x, Expr) for x in vars(shape).values())


def with_values(shape: Shape, value: Callable[[Scalar], float]) -> Shape:
    """The shape with numbers in place of sizes that depend on parameters."""
    changed = {name: value(x) for name, x in vars(shape).items() if isinstance(x, Expr)}
    return replace(shape, **changed) if changed else shape  # type: ignore[type-var]


def number(value: Scalar) -> Any:
    """A size for a field: a float, or a traced value as it is."""
    return value if isinstance(value, Expr) else float(value)


__all__ = [
    "FLAT",
    "HALF_LENGTH",
    "PLAIN",
    "RADIUS",
    "RIMS",
    "SAGITTA",
    "SHARPEST",
    "TINY",
    "FieldShape",
    "Shape",
    "Support",
    "Surface",
    "check_plain",
    "check_rounding",
    "check_sizes",
    "has_parameters",
    "number",
    "plain",
    "sample_normals",
    "with_values",
]
