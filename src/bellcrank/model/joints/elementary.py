"""What the equations need to know of an elementary joint: the motion of one link against its parent.

A joint between bodies is a chain of elementary joints, each moving one link. The mechanics asks the object for its
transform, motion subspace, bias, generalised forces and coordinate maps; it never asks which kind it is. The file of a
joint holds its elementary joint too, where it has one of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.rotations import Turn
from bellcrank.math.tuples import ZERO, Mat, Vec, column, dot, settled, times
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.frames import FrameSite, RawLink
    from bellcrank.mechanics.inertia import Inertia
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link

Array: TypeAlias = NDArray[np.float64]
Twist: TypeAlias = tuple[Vec, Vec]
"""Angular velocity and velocity of a point."""
Wrench: TypeAlias = tuple[Vec, Vec]
"""Moment about the origin and force, in the axes of a link."""


@dataclass(frozen=True, eq=False)
class Laid:
    """The constants of a link: turns to the joint's axes, origin, axis in the parent's axes, offset of the angle."""

    r: Vec
    turns: tuple[Turn, ...] = ()
    axis: Vec = ZERO
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class JointFrames:
    """A joint's frames on its two links in numbers: R_link = left R_joint right, R_joint transposed where reversed.

    on_parent, on_link: Origins of the frames in the axes of their links [m].
    """

    left: Array
    right: Array
    reverse: bool
    on_parent: Array
    on_link: Array


class Elementary:
    """One elementary joint, here with the answers of a single coordinate about or along z of the joint's frame.

    name: Of the kind. turning: Which of its speeds are angular. lengths: Which of its positions are lengths.
    has_quaternion: Whether the last four positions are a unit quaternion; its speeds are no rates of positions then.
    rows_in_base: Whether its entries of constraint rows are by the angular velocity in the axes of the constraint's
    base link, not in its own. floats: Whether it holds nothing. spins: Whether it is a pure rotation about z.
    modal: Whether it is moved by the modal coordinates of a flexible member.
    """

    name: ClassVar[str]
    positions: ClassVar[int] = 1
    turning: ClassVar[tuple[bool, ...]] = (True,)
    lengths: ClassVar[tuple[int, ...]] = ()
    has_quaternion: ClassVar[bool] = False
    rows_in_base: ClassVar[bool] = False
    floats: ClassVar[bool] = False
    spins: ClassVar[bool] = False
    modal: ClassVar[bool] = False

    @property
    def speeds(self) -> int:
        """How many numbers say how it moves."""
        return len(self.turning)

    def frame(self, site: FrameSite) -> tuple[Mat, Vec]:
        """Rotation and origin of the link's frame in the joint's, chosen for few operations."""
        raise NotImplementedError

    def laid(self, T: Mat, r: Vec, raw: RawLink) -> Laid:
        """The link's constants; T turns from the parent's axes to the joint's, r is the joint's point."""
        return Laid(settled_sum(r, times(T, raw.s), raw.s))

    def transform(
        self, kin: Kinematics, link: Link, fixed: tuple[Turn, ...], r: Vec
    ) -> tuple[tuple[Turn, ...], Vec]:
        """All turns from the parent's axes to the link's, and the link's origin in the parent's axes."""
        raise NotImplementedError

    def axis_seen(self, kin: Kinematics, link: Link, base: int) -> Vec:
        """The joint axis in the axes of the base."""
        inner = kin.pose(link.parent, base)
        if not link.turns:
            return column(inner.R, 2)
        return times(inner.R, kin.axis(link))

    def motion(self, kin: Kinematics, link: Link, base: int) -> Twist:
        """Angular velocity and velocity of the origin against the parent, in the axes of the base."""
        raise NotImplementedError

    def bias(self, kin: Kinematics, link: Link, base: int, bias: Twist, relative: Twist) -> Twist:
        """The bias of the link, from that of a link whose motion against the parent keeps its components there."""
        return bias

    def spin(self, kin: Kinematics, link: Link, w: Vec) -> Vec:
        """Angular velocity in the link's axes, from that of the parent in the same axes."""
        raise NotImplementedError

    def slide(self, kin: Kinematics, link: Link, v: Vec) -> Vec:
        """Velocity of the origin in the link's axes, from that of the parent there."""
        return v

    def accelerated(
        self, kin: Kinematics, link: Link, du: Sequence[Scalar], w: Vec, alpha: Vec, a: Vec
    ) -> tuple[Vec, Vec]:
        """Angular acceleration and acceleration of the origin in the link's axes.

        w, alpha: Angular velocity and acceleration of the parent, a: acceleration of the parent at the link's origin,
        in the same axes.
        """
        raise NotImplementedError

    def columns(self, kin: Kinematics, link: Link, base: int, point: Vec) -> list[Twist]:
        """For each speed: angular velocity and velocity of a point carried by the link, from the base."""
        raise NotImplementedError

    def own_axes(self, kin: Kinematics, link: Link, base: int, entries: Sequence[Scalar]) -> Sequence[Scalar]:
        """Entries of a constraint row by the link's own speeds."""
        return entries

    def works(
        self, kin: Kinematics, link: Link, base: int, at: Vec, force: Vec, moment: Vec
    ) -> Sequence[Scalar]:
        """Generalised forces of a force at a point and a moment, both seen from the base."""
        return [dot(w, moment) + dot(v, force) for w, v in self.columns(kin, link, base, at)]

    def forces(self, kin: Kinematics, link: Link, wrench: Wrench) -> tuple[Scalar, ...]:
        """S^T (n, f): the part of a wrench that works on each speed."""
        raise NotImplementedError

    def velocity(self, kin: Kinematics, link: Link, u: Sequence[Scalar]) -> Twist:
        """S u: angular velocity and velocity of the origin in the link's axes for given speeds."""
        raise NotImplementedError

    def unfelt(self, inertia: Inertia) -> Inertia | None:
        """The part of a link's inertia that its motion does not feel: it acts as if it belonged to the parent."""
        return None

    def unfelt_place(self, link: Link) -> Vec:
        """Where that part is in the parent's axes."""
        return link.r

    def unit_directions(self, link: Link) -> tuple[int, ...]:
        """Which components of (n, f) in the link's axes are its generalised forces."""
        return ()

    def given_way(self, wrench: Wrench, rhs: Sequence[Scalar]) -> Wrench:
        """A wrench handed on to the parent; along the joint's own directions it is the generalised force itself."""
        return wrench

    def position_rates(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        """q-dot of its positions."""
        return (kin.speed(link),)

    def corrected(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        """Its positions after a small step along the speeds that `kin` holds."""
        return (kin.q[link.q] + kin.speed(link),)

    def moved(self, q: Array, du: Array) -> Array:
        """Its positions in numbers after a small step along its speeds."""
        return q + du

    def rate_matrix(self, q: Array) -> Array:
        """Rates of its positions by its speeds."""
        return np.eye(len(q))

    def inverse_rate(self, q: Array, q_dot: Array, u: Array) -> Array:
        """The rate of the left inverse of :meth:`rate_matrix` in a motion."""
        return np.zeros((len(u), len(q)))

    def to_joint(self, frames: JointFrames, q: Array) -> Array:
        """The joint's coordinates from the link's positions."""
        return q

    def from_joint(self, frames: JointFrames, given: Array) -> Array:
        """The link's positions from the joint's coordinates."""
        return given

    def start_values(self, link: Link, x: Array) -> dict[str, Any]:
        """Coordinates of the joint by the names that a start goes by."""
        return {link.coordinates[0]: float(x[0])}

    def speed_names(self, link: Link, of_joint: Sequence[str]) -> Sequence[str]:
        """The names of its speeds; `of_joint` are those of the whole joint."""
        return link.coordinates


def settled_sum(r: Vec, more: Vec, size: Vec) -> Vec:
    """r + more, with rounding beside r and `size` taken out."""
    return settled((r[0] + more[0], r[1] + more[1], r[2] + more[2]), r, size)
