"""Rigid and flexible bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.math.arrays import (
    Array,
    Floats3,
    Floats33,
    as_mat,
    as_vec,
    rotation_about_z,
    rotation_of_quaternion,
    tidy,
)
from bellcrank.math.tuples import UNIT, ZERO, Mat, Vec
from bellcrank.model import checks
from bellcrank.model.frames import Frame
from bellcrank.model.parameters import ParameterTable
from bellcrank.model.shape_methods import ShapeMethods
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.model.contacts import PlacedShape
    from bellcrank.model.visuals import Visual

START_POSE = (
    "the start pose is made of plain numbers; put parameters into the points of the joints "
    "(body.point(length, 0, 0)) and the mechanism is assembled from there"
)
GROUND = "ground"


@dataclass(frozen=True, eq=False)
class Body(ShapeMethods):
    """A rigid body.

    mass: [kg]. center_of_mass: In body axes [m]. inertia: About the centre of mass in body axes, the
    matrix elements themselves [kg m^2]. position: World position of the body's origin in the start
    pose [m]. rotation: From body to world axes in the start pose. member: The reduced finite element model
    of a flexible body; the body's frame is then the member's floating frame. colliding: Shapes with which it takes part
    in :meth:`~bellcrank.System.contacts_between`. visuals: What it is drawn by.
    """

    name: str
    mass: Scalar = 0.0
    center_of_mass: Vec = ZERO
    inertia: Mat = (ZERO, ZERO, ZERO)
    position: Floats3 = (0.0, 0.0, 0.0)
    rotation: Floats33 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    parameters: ParameterTable = field(default_factory=ParameterTable, repr=False)
    member: FlexibleMember | None = field(default=None, repr=False)
    colliding: list[PlacedShape] = field(default_factory=list, repr=False)
    visuals: list[Visual] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        return f"<Body {self.name!r}>"

    @property
    def is_ground(self) -> bool:
        """Whether this is the body that never moves."""
        return self.name == GROUND

    @property
    def origin(self) -> Frame:
        """The body's own frame."""
        return Frame(self, ZERO)

    def collides(self, *shapes: PlacedShape) -> None:
        """The body stands for these shapes of its own in :meth:`~bellcrank.System.contacts_between`."""
        for shape in shapes:
            if shape.frame.body is not self:
                other = shape.frame.body.name
                raise ModelError(
                    f"body {self.name!r} collides with its own shapes; this one is of body {other!r}"
                )
        self.colliding.extend(shapes)

    def node(self, name: Any) -> Frame:
        """A node of a flexible body, where joints, forces and points may sit.

        name: Of the node; of a rod also an arc [m]. A frame of a rod has the axes of its section, x along the rod.
        """
        if self.member is None:
            raise ModelError(f"body {self.name!r} is rigid and has no nodes; use {self.name}.point(...)")
        node = self.member.node(name)
        return Frame(self, as_vec(np.array(node.position, dtype=float)), as_mat(node.axes), node.name)

    def point(self, *position: Any) -> Frame:
        """A point fixed in the body: position [m] in body axes, three numbers or one triple; axes as the body's."""
        given = position[0] if len(position) == 1 else position
        return Frame(self, checks.vector(f"point of body {self.name!r}", given, self.parameters))

    def point_at(self, world_point: Any) -> Frame:
        """The point of the body that is at `world_point` [m] in the start pose."""
        what = f"point_at of body {self.name!r}"
        return Frame(self, as_vec(self.local(checks.plain_vector(what, world_point, START_POSE))))

    def frame(self, position: Any = ZERO, rotation: Any = UNIT, name: str = "") -> Frame:
        """A frame fixed in the body: position [m] and rotation (3, 3), whose columns are its axes, in body axes.

        name: For results and errors.
        """
        what = f"frame {name!r} of body {self.name!r}" if name else f"frame of body {self.name!r}"
        return Frame(
            self,
            checks.vector(f"position of {what}", position, self.parameters),
            checks.rotation(f"rotation of {what}", rotation, self.parameters),
            name,
        )

    def start_rotation(self) -> Array:
        """The rotation from body to world axes in the start pose."""
        return np.array(self.rotation)

    def local(self, world_point: Array) -> Array:
        """`world_point` [m], (3,), in body axes, in the start pose."""
        offset = world_point - np.array(self.position)
        scale = max(float(np.abs(world_point).max()), float(np.abs(self.position).max()), 1e-300)
        return _without_dust(self.start_rotation().T @ offset, scale)


def _without_dust(a: Array, scale: float) -> Array:
    return np.where(np.abs(a) < 1e-15 * scale, 0.0, a)


def make_body(
    name: str,
    mass: Any,
    inertia: Any,
    center_of_mass: Any,
    at: Any,
    angle: Any,
    rotation: Any,
    quaternion: Any,
    parameters: ParameterTable,
) -> Body:
    """A checked body; see :meth:`bellcrank.model.system.System.body`."""
    who = f"body {name!r}"
    R = _start_rotation(who, angle, rotation, quaternion)
    return Body(
        name,
        checks.at_least_zero(f"mass of {who}", mass, parameters, " (zero makes a massless body)"),
        checks.vector(f"center_of_mass of {who}", center_of_mass, parameters),
        inertia_matrix(who, inertia, parameters),
        as_vec(checks.plain_vector(f"at of {who}", at, START_POSE)),
        as_mat(R),
        parameters,
    )


def make_flexible_body(
    name: str,
    member: FlexibleMember,
    at: Any,
    angle: Any,
    rotation: Any,
    quaternion: Any,
    parameters: ParameterTable,
) -> Body:
    """A checked flexible body; see :meth:`bellcrank.model.system.System.flexible_body`."""
    who = f"body {name!r}"
    if not hasattr(member, "coordinate_names"):
        raise ModelError(f"{who}: {member!r} is not a flexible member; make one with bellcrank.flexible")
    mass = float(member.mass)
    center = np.array(member.first_moment, dtype=float) / mass if mass > 0.0 else np.zeros(3)
    J = np.array(member.second_moment, dtype=float) - mass * np.outer(center, center)
    return Body(
        name,
        mass,
        as_vec(center),
        as_mat(np.trace(J) * np.eye(3) - J),
        as_vec(checks.plain_vector(f"at of {who}", at, START_POSE)),
        as_mat(_start_rotation(who, angle, rotation, quaternion)),
        parameters,
        member,
    )


def _start_rotation(who: str, angle: Any, rotation: Any, quaternion: Any) -> Array:
    given = {"angle": angle, "rotation": rotation, "quaternion": quaternion}
    turned = [key for key, item in given.items() if item is not None]
    if len(turned) > 1:
        raise ModelError(f"{who} is turned twice, by {' and '.join(turned)}; give one of them")
    if angle is not None:
        return rotation_about_z(checks.plain_number(f"angle of {who}", angle, START_POSE))
    if rotation is not None:
        empty = ParameterTable()
        rows = checks.matrix(f"rotation of {who}", rotation)
        for row in rows:
            checks.plain_vector(f"rotation of {who}", row, START_POSE)
        return tidy(checks.numeric(checks.rotation(f"rotation of {who}", rows, empty), empty))
    if quaternion is not None:
        items = checks.sequence(f"quaternion of {who}", quaternion, 4, "(1, 0, 0, 0)")
        q = np.array([checks.plain_number(f"quaternion of {who}", x, START_POSE) for x in items])
        length = float(np.linalg.norm(q))
        if abs(length - 1.0) > 1e-6:
            raise ModelError(f"quaternion (w, x, y, z) of {who} has length {length:g}; it must be 1")
        return rotation_of_quaternion(q / length)
    return np.eye(3)


def inertia_matrix(who: str, given: Any, parameters: ParameterTable) -> Mat:
    """The inertia matrix from 3 (diagonal), 6 (xx, yy, zz, xy, xz, yz matrix elements) or 3x3 numbers."""
    what = f"inertia of {who}"
    shape = "3 numbers (the diagonal), 6 (xx, yy, zz, xy, xz, yz) or a 3x3 matrix"
    if isinstance(given, Expr) or not hasattr(given, "__len__"):
        raise ModelError(f"{what} must be {shape}, not {given!r}")
    if len(given) == 3 and all(hasattr(row, "__len__") for row in given):
        result = checks.matrix(what, given, parameters)
    elif len(given) == 3:
        a, b, c = checks.vector(what, given, parameters)
        result = ((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c))
    elif len(given) == 6:
        xx, yy, zz, xy, xz, yz = (checks.number(what, x, parameters) for x in given)
        result = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    else:
        raise ModelError(f"{what} must be {shape}, not {len(given)} numbers")
    _check_inertia(what, checks.numeric(result, parameters))
    return result


def _check_inertia(what: str, J: Array) -> None:
    scale = max(float(np.abs(J).max()), 1e-300)
    tolerance = 1e-9 * scale
    if np.abs(J - J.T).max() > tolerance:
        i, j = (int(k) for k in np.argwhere(np.abs(J - J.T) > tolerance)[0])
        raise ModelError(
            f"{what} is not symmetric: "
            f"element {i + 1},{j + 1} is {J[i, j]:g} but {j + 1},{i + 1} is {J[j, i]:g}"
        )
    low, middle, high = np.linalg.eigvalsh(J)
    if low < -tolerance:
        raise ModelError(
            f"{what} is not positive semidefinite (principal moment {low:g}); check the signs of the "
            "products of inertia: the off-diagonal numbers are the matrix elements themselves"
        )
    if high > low + middle + tolerance:
        raise ModelError(
            f"{what} belongs to no real body: the principal moments {low:g}, {middle:g}, {high:g} break the "
            "triangle inequality (no moment may exceed the sum of the other two). "
            f"For a planar mechanism, where only one counts, give all three: ({high:g}, {high:g}, {high:g})"
        )
