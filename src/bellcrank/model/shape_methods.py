"""The methods of a body that put shapes on it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.math.arrays import as_mat, rotation_with_z_along
from bellcrank.math.tuples import ZERO
from bellcrank.model import checks

if TYPE_CHECKING:
    from bellcrank.contact.shapes import Shape
    from bellcrank.model.bodies import Body
    from bellcrank.model.contacts import PlacedShape
    from bellcrank.model.visuals import Visual


class ShapeMethods:
    """Shapes for contacts; places and directions in body axes."""

    def shape(self, shape: Shape, at: Any = ZERO, rotation: Any = None) -> PlacedShape:
        """Any shape of :mod:`bellcrank.contact`, its frame at `at` [m] and turned by `rotation`, (3, 3)."""
        from bellcrank.contact.shapes import Shape
        from bellcrank.model.contacts import PlacedShape

        body = cast("Body", self)
        if not isinstance(shape, Shape):
            raise ModelError(
                f"a shape of body {body.name!r} is one of bellcrank.contact, such as Sphere(0.1), not {shape!r}"
            )
        turned = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)) if rotation is None else rotation
        return PlacedShape(body.frame(at, turned), shape)

    def visual(
        self,
        shape: Shape | PlacedShape | str | PathLike[str],
        at: Any = ZERO,
        rotation: Any = None,
        colour: str | None = None,
        opacity: float = 1.0,
        scale: float = 1.0,
    ) -> Visual:
        """Draw the body by a shape of :mod:`bellcrank.contact` or a mesh file, besides other visuals of it.

        shape: Such as ``Box(0.1, 0.2, 0.3)`` or ``"arm.stl"`` (STL, OBJ, PLY, glTF, COLLADA); its frame is at `at` [m]
        and turned by `rotation`, (3, 3). colour: "#rrggbb"; that of the body where None. opacity: From 0 to 1. scale:
        Metres in a unit of length of a file. A body with visuals is drawn by them alone; they do not touch anything.
        """
        from bellcrank.contact.mesh import Mesh
        from bellcrank.model.contacts import PlacedShape
        from bellcrank.model.visuals import make_visual

        if isinstance(shape, str | PathLike):
            shape = Mesh.from_file(shape, scale=scale)
        elif scale != 1.0:
            raise ModelError(f"scale belongs to mesh files; give the sizes of {shape!r} in metres")
        placed = shape if isinstance(shape, PlacedShape) else self.shape(shape, at, rotation)
        body = cast("Body", self)
        if placed.frame.body is not body:
            raise ModelError(
                f"body {body.name!r} is drawn by its own shapes; this one is of body {placed.frame.body.name!r}"
            )
        made = make_visual(placed.frame, placed.shape, colour, opacity)
        body.visuals.append(made)
        return made

    def skin(
        self, shape: Shape | None = None, at: Any = ZERO, rotation: Any = None, spacing: float | None = None
    ) -> PlacedShape:
        """The surface of a flexible member, which bends with it, for contact with rigid shapes and other skins.

        A member of solid elements has a surface; around one of beams lies a shape, its frame at `at` [m] and turned by
        `rotation`, (3, 3), in the member's axes. So it does around a rod, as if that were straight along x from its
        start. spacing: The longest edge of the triangles of the skin [m]; they
        should be small against what they touch.
        """
        from bellcrank.contact.shapes import Shape
        from bellcrank.model.contacts import PlacedShape
        from bellcrank.model.skins import node_of, skin_of

        body = cast("Body", self)
        who = f"the skin of body {body.name!r}"
        if body.member is None:
            raise ModelError(f"{who}: the body is rigid; put a shape on it, such as {body.name}.sphere(0.1)")
        if shape is not None and not isinstance(shape, Shape):
            raise ModelError(f"{who} takes a shape of bellcrank.contact, not {shape!r}")
        why = "a skin is made of plain numbers"
        turned = np.eye(3) if rotation is None else np.asarray(rotation, float)
        place = checks.plain_vector(f"at of {who}", at, why)
        made = skin_of(who, body.member, shape, place, turned, spacing)
        return PlacedShape(body.frame(node_of(body.member).tolist()), made)

    def sphere(self, radius: Any, at: Any = ZERO) -> PlacedShape:
        """A sphere of a radius [m] about the point `at` [m]."""
        from bellcrank.contact.shapes import Sphere

        return self.shape(Sphere(radius), at)

    def mesh(
        self,
        file: Any,
        at: Any = ZERO,
        rotation: Any = None,
        scale: float = 1.0,
        thickness: float | None = None,
        resolution: int | None = None,
    ) -> PlacedShape:
        """A triangle mesh as it is, for contact with every shape.

        file: STL, OBJ, PLY, glTF or COLLADA; or ``(vertices, faces)``, or what has both, as the meshes of trimesh do.
        at, rotation: Of its frame. scale: Metres in its unit of length. thickness: Of sheets [m]. resolution: Cells of
        the grid of depths along the longest side. See :class:`bellcrank.contact.Mesh`.
        """
        from bellcrank.contact.mesh import Mesh

        made = Mesh.of(file, scale=scale, thickness=thickness, resolution=resolution)
        return self.shape(made, at, rotation)

    def ellipsoid(self, a: Any, b: Any, c: Any, at: Any = ZERO, rotation: Any = None) -> PlacedShape:
        """An ellipsoid with semi-axes a, b, c [m] along its frame, at `at` [m], turned by `rotation`, (3, 3)."""
        from bellcrank.contact.shapes import Ellipsoid

        return self.shape(Ellipsoid(a, b, c), at, rotation)

    def capsule(self, radius: Any, half_length: Any, at: Any = ZERO, rotation: Any = None) -> PlacedShape:
        """A capsule along z of its frame: radius [m], half_length of its straight part [m].

        at: Its middle [m]. rotation: Of its frame, (3, 3).
        """
        from bellcrank.contact.shapes import Capsule

        return self.shape(Capsule(radius, half_length), at, rotation)

    def box(
        self,
        half_x: Any,
        half_y: Any,
        half_z: Any,
        at: Any = ZERO,
        rotation: Any = None,
        rounding: Any = None,
    ) -> PlacedShape:
        """A box around the origin of its frame: half_x, half_y, half_z, half its edges [m].

        at: Its middle [m]. rotation: Of its frame, (3, 3). rounding: Radius of its edges [m].
        """
        from bellcrank.contact.shapes import Box

        return self.shape(Box(half_x, half_y, half_z, rounding), at, rotation)

    def cylinder(
        self, radius: Any, half_length: Any, at: Any = ZERO, rotation: Any = None, rounding: Any = None
    ) -> PlacedShape:
        """A cylinder along z of its frame: radius and half_length [m]; at [m] and rotation as for a capsule.

        rounding: Radius of its rims [m].
        """
        from bellcrank.contact.shapes import Cylinder

        return self.shape(Cylinder(radius, half_length, rounding), at, rotation)

    def cone(
        self,
        radius: Any,
        half_length: Any,
        top_radius: Any = 0.0,
        at: Any = ZERO,
        rotation: Any = None,
        rounding: Any = None,
    ) -> PlacedShape:
        """A cone along z of its frame: radius at z = -half_length, top_radius at z = half_length [m], 0 for a tip.

        at: Its middle [m]. rotation: Of its frame, (3, 3). rounding: Radius of its rims [m].
        """
        from bellcrank.contact.shapes import Cone

        return self.shape(Cone(radius, half_length, top_radius, rounding), at, rotation)

    def torus(self, radius: Any, tube: Any, at: Any = ZERO, rotation: Any = None) -> PlacedShape:
        """A ring about z of its frame: radius of its middle line and of its section, tube [m].

        at: Its middle [m]. rotation: Of its frame, (3, 3).
        """
        from bellcrank.contact.shapes import Torus

        return self.shape(Torus(radius, tube), at, rotation)

    def plane(self, at: Any = ZERO, normal: Any = (0.0, 0.0, 1.0)) -> PlacedShape:
        """A half-space whose surface runs through `at` [m] with the outward `normal`, (3,)."""
        from bellcrank.contact.shapes import Plane

        n = checks.plain_vector("normal of a plane", normal, "a normal is three plain numbers")
        if not np.linalg.norm(n) > 0.0:
            raise ModelError("the normal of a plane is zero; give its direction")
        return self.shape(Plane(), at, as_mat(rotation_with_z_along(n / np.linalg.norm(n))))

    def circle(self, radius: Any, at: Any = ZERO) -> PlacedShape:
        """A circle in the x-y plane, radius [m] about `at` [m], for planar mechanisms."""
        from bellcrank.contact.shapes import Circle

        return self.shape(Circle(radius), at)

    def ellipse(self, a: Any, b: Any, at: Any = ZERO, angle: float = 0.0) -> PlacedShape:
        """An ellipse in the x-y plane about `at` [m] with semi-axes a, b [m], a turned by `angle` [rad] from x."""
        from bellcrank.contact.shapes import Ellipse

        return self.shape(Ellipse(a, b), at, _about_z(angle))

    def line(self, at: Any = ZERO, angle: float = 0.0) -> PlacedShape:
        """A straight edge through `at` [m] in the x-y plane, along x turned by `angle` [rad], material below it."""
        from bellcrank.contact.shapes import HalfPlane

        return self.shape(HalfPlane(), at, _about_z(angle))


def _about_z(angle: float) -> Any:
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
