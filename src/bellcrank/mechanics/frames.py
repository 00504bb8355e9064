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
from typing import TYPE_CHECKING

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
from bellcrank.mechanics.links import LinkKind
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.member import Member, Node
    from bellcrank.model.bodies import Body
    from bellcrank.model.joints import Joint
    from bellcrank.model.system import System


@dataclass
class RawLink:
    """A link before its frame is chosen: the joint's own frame, z along the axis."""

    name: str
    parent: int
    kind: LinkKind
    R: Mat
    r: Vec
    pitch: Scalar
    joint: Joint
    coordinates: tuple[str, ...]
    reverse: bool
    node: Node | None = None
    member: Member | None = None
    G: Mat = UNIT
    s: Vec = ZERO


def flat(m: Mat) -> Iterator[Scalar]:
    return (x for row in m for x in row)


def exact(m: Mat) -> Mat:
    return snapped(m) if numeric(*flat(m)) else m


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
        center = _center_of_mass(riders[k], seats)
        if raw.kind in (LinkKind.REVOLUTE, LinkKind.SCREW):
            raw.G = _along_common_normal(raw, [raws[c] for c in children[k]], raws)
            raw.s = _level_with_next([raws[c] for c in children[k]])
        elif raw.kind is LinkKind.PRISMATIC:
            parent_axes = raws[raw.parent].G if raw.parent >= 0 else UNIT
            raw.G = exact(matmul(transpose(raw.R), parent_axes))
            raw.s = center or ZERO
        elif raw.kind is LinkKind.BALL:
            raw.G = _along_children([raws[c] for c in children[k]], center)
        elif raw.kind is LinkKind.FREE and riders[k]:
            body = riders[k][0]
            raw.G = seats[body.name][1] if numeric(*flat(seats[body.name][1])) else UNIT
            raw.s = center or ZERO


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


def _along_common_normal(raw: RawLink, children: Sequence[RawLink], raws: Sequence[RawLink]) -> Mat:
    """Rz(phi): x perpendicular to the next axis, or towards the next joint where axes are parallel."""
    for child in children:
        if not numeric(*flat(child.R)) or child.kind.has_quaternion:
            continue
        z = column(child.R, 2)
        sine = math.hypot(float(z[0]), float(z[1]))
        if sine > 1e-9:
            return exact(transpose(_spin(-float(z[1]) / sine, float(z[0]) / sine)))
    for child in children:
        if numeric(*child.r):
            x, y = float(child.r[0]), float(child.r[1])
            length = math.hypot(x, y)
            if length > 1e-12:
                return exact(transpose(_spin(x / length, y / length)))
    if not numeric(*flat(raw.R)):
        return UNIT
    parent_axes = raws[raw.parent].G if raw.parent >= 0 else UNIT
    _, _, delta = zxz_angles(matmul(transpose(parent_axes), raw.R))  # type: ignore[arg-type]
    return exact(transpose(_spin(math.cos(delta), -math.sin(delta))))


def _level_with_next(children: Sequence[RawLink]) -> Vec:
    """The origin may lie anywhere on the axis: level with the next joint, one offset is zero."""
    for child in children:
        if numeric(*child.r):
            return (0.0, 0.0, child.r[2])
    return ZERO


def _spin(c: float, s: float) -> Mat:
    """Rz^T of the angle with cosine c and sine s."""
    return ((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0))


def _along_children(children: Sequence[RawLink], center: Vec | None) -> Mat:
    """z along the first next axis, x perpendicular to the second; a leaf looks at its centre of mass."""
    axes = [column(c.R, 2) for c in children if c.kind is not LinkKind.BALL and numeric(*flat(c.R))]
    if axes:
        first = axes[0]
        for other in axes[1:]:
            normal = cross(first, other)
            size = math.sqrt(sum(float(x) ** 2 for x in normal))
            if size > 1e-6:
                x = [float(a) / size for a in normal]
                return exact(perpendicular_frame(_floats(first), x))
        return exact(perpendicular_frame(_floats(first)))
    if center is not None:
        size = math.sqrt(sum(float(x) ** 2 for x in center))
        if size > 1e-9:
            return exact(perpendicular_frame([float(x) / size for x in center]))
    return UNIT


def _floats(v: Vec) -> list[float]:
    return [float(x) for x in v]
