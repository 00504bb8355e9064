"""The frame of each link, laid for few operations.

- revolute and screw: z along the axis, x along the common normal to the next axis, so that the constant
  rotation to the next link is about x alone (Denavit and Hartenberg's choice);
- prismatic: the axes of the parent, so that nothing turns; origin in the centre of mass;
- ball: z along the next axis; free: the axes of the body, origin in the centre of mass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.math.rotations import (
    perpendicular_frame,
    snapped,
    zxz_angles,
)
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    column,
    cross,
    matmul,
    numeric,
    times,
    transpose,
    vec,
)
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.model.bodies import Body
    from bellcrank.model.constraints import Constraint
    from bellcrank.model.joints import Joint
    from bellcrank.model.joints.elementary import Elementary
    from bellcrank.model.system import System


@dataclass
class RawLink:
    """A link before its frame is chosen: the joint's own frame, z along the axis.

    joint: What its coordinates belong to: a joint, or a constraint that brings them along.
    """

    name: str
    parent: int
    kind: Elementary
    R: Mat
    r: Vec
    joint: Joint | Constraint
    coordinates: tuple[str, ...]
    reverse: bool
    node: Any = None
    member: FlexibleMember | None = None
    G: Mat = UNIT
    s: Vec = ZERO


def flat(m: Mat) -> Iterator[Scalar]:
    return (x for row in m for x in row)


def exact(m: Mat) -> Mat:
    return snapped(m) if numeric(*flat(m)) else m


@dataclass(frozen=True, eq=False)
class FrameSite:
    """Where a link's frame is to be laid.

    outer: Axes of the parent's frame. children: Links that hang on this one. center: Common centre of mass of its
    bodies in the joint's frame, None where it is unknown or there is no mass. axes: Of its first body in the joint's.
    """

    raw: RawLink
    outer: Mat
    children: Sequence[RawLink]
    center: Vec | None
    axes: Mat

    def parent_axes(self) -> Mat:
        """The axes of the parent."""
        return exact(matmul(transpose(self.raw.R), self.outer))

    def body_axes(self) -> Mat:
        """The axes of the first body on the link."""
        return self.axes if numeric(*flat(self.axes)) else UNIT

    def along_common_normal(self) -> Mat:
        """Rz(phi): x perpendicular to the next axis, or towards the next joint where axes are parallel."""
        for child in self.children:
            if not numeric(*flat(child.R)) or child.kind.has_quaternion:
                continue
            z = column(child.R, 2)
            sine = math.hypot(float(z[0]), float(z[1]))
            if sine > 1e-9:
                return exact(transpose(_spin(-float(z[1]) / sine, float(z[0]) / sine)))
        for child in self.children:
            if numeric(*child.r):
                x, y = float(child.r[0]), float(child.r[1])
                length = math.hypot(x, y)
                if length > 1e-12:
                    return exact(transpose(_spin(x / length, y / length)))
        if not numeric(*flat(self.raw.R)):
            return UNIT
        _, _, delta = zxz_angles(matmul(transpose(self.outer), self.raw.R))  # type: ignore[arg-type]
        return exact(transpose(_spin(math.cos(delta), -math.sin(delta))))

    def level_with_next(self) -> Vec:
        """The origin may lie anywhere on the axis: level with the next joint, one offset is zero."""
        for child in self.children:
            if numeric(*child.r):
                return (0.0, 0.0, child.r[2])
        return ZERO

    def along_children(self) -> Mat:
        """z along the first next axis, x perpendicular to the second; a leaf looks at its centre of mass."""
        axes = [column(c.R, 2) for c in self.children if not c.kind.has_quaternion and numeric(*flat(c.R))]
        if axes:
            first = axes[0]
            for other in axes[1:]:
                normal = cross(first, other)
                size = math.sqrt(sum(float(x) ** 2 for x in normal))
                if size > 1e-6:
                    x = [float(a) / size for a in normal]
                    return exact(perpendicular_frame(_floats(first), x))
            return exact(perpendicular_frame(_floats(first)))
        if self.center is not None:
            size = math.sqrt(sum(float(x) ** 2 for x in self.center))
            if size > 1e-9:
                return exact(perpendicular_frame([float(x) / size for x in self.center]))
        return UNIT


def choose_frames(raws: list[RawLink], seats: Mapping[str, tuple[int, Mat, Vec]], system: System) -> None:
    """Turn (G) and shift (s) each link's frame from its joint frame for the fewest operations."""
    children: list[list[int]] = [[] for _ in raws]
    riders: list[list[Body]] = [[] for _ in raws]
    for k, raw in enumerate(raws):
        if raw.parent >= 0:
            children[raw.parent].append(k)
    for body in system.bodies.values():
        link = seats[body.name][0]
        if link >= 0:
            riders[link].append(body)
    for k, raw in enumerate(raws):
        outer = raws[raw.parent].G if raw.parent >= 0 else UNIT
        axes = seats[riders[k][0].name][1] if riders[k] else UNIT
        site = FrameSite(raw, outer, [raws[c] for c in children[k]], _center_of_mass(riders[k], seats), axes)
        raw.G, raw.s = raw.kind.frame(site)


def _center_of_mass(bodies: Sequence[Body], seats: Mapping[str, tuple[int, Mat, Vec]]) -> Vec | None:
    """The common centre of mass in the joint frame where it is a plain number, else None."""
    total, moment = 0.0, [0.0, 0.0, 0.0]
    for body in bodies:
        _, R, p = seats[body.name]
        if not numeric(body.mass, *body.center_of_mass, *p, *flat(R)):
            return None
        c = add(p, times(R, vec(body.center_of_mass)))
        total += float(body.mass)
        moment = [m + float(body.mass) * float(x) for m, x in zip(moment, c, strict=True)]
    return (moment[0] / total, moment[1] / total, moment[2] / total) if total > 0.0 else None


def _spin(c: float, s: float) -> Mat:
    """Rz^T of the angle with cosine c and sine s."""
    return ((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0))


def _floats(v: Vec) -> list[float]:
    return [float(x) for x in v]
