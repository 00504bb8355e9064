"""Positions, velocities and velocity-dependent accelerations of links (paper D, equations 4 to 16).

Two views are kept, each computed only where asked for:

- *own axes*: angular velocity and acceleration of each link in its own axes, outwards from the ground;
  this is what inertia forces need;
- *seen from a base link*: rotation, position, velocity and acceleration of a link in the axes of an
  inner one, as if that one stood still; this is what loops, springs and world quantities need.

Differs from the paper in: body axes instead of world axes, loops seen from their lowest common body.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bellcrank.math.rotations import (
    AxisTurn,
    FullTurn,
    Turn,
    after,
    from_quaternion,
    into,
    out,
    quaternion_rate,
)
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    column,
    cross,
    dot,
    scale,
    times,
)
from bellcrank.mechanics.flexible import NodePose
from bellcrank.mechanics.links import GROUND, Link, Linkage, LinkKind
from bellcrank.mechanics.numbers import Numbers
from bellcrank.program.functions import cos, sin
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.closest import Closest


@dataclass(frozen=True, eq=False)
class Pose:
    """Rotation matrix and origin of a link in the axes of a base link."""

    R: Mat
    p: Vec


@dataclass(frozen=True, eq=False)
class Motion:
    """Angular velocity and velocity of the origin, seen from and in the axes of a base link."""

    w: Vec
    v: Vec


def _cosine_and_sine(q: Scalar, offset: float) -> tuple[Scalar, Scalar]:
    """cos and sin of q + offset; quarter turns cost nothing."""
    quarter = round(offset / (0.5 * math.pi))
    if abs(offset - quarter * 0.5 * math.pi) < 1e-15:
        c, s = cos(q), sin(q)
        return ((c, s), (-s, c), (-c, -s), (s, -c))[quarter % 4]
    return cos(q + offset), sin(q + offset)


def _summed(rates: Sequence[Scalar], columns: Sequence[tuple[Vec, Vec]]) -> tuple[Vec, Vec]:
    """sum rate_k column_k."""
    w, v = ZERO, ZERO
    for rate, (turn, shift) in zip(rates, columns, strict=True):
        w, v = add(w, scale(rate, turn)), add(v, scale(rate, shift))
    return w, v


class Kinematics:
    """The motion of a linkage in one state; numbers or traced values alike.

    q: positions. u: speeds, may be set later with :meth:`set_speeds` when they follow from loops.
    """

    def __init__(
        self,
        linkage: Linkage,
        q: Sequence[Scalar],
        numbers: Numbers,
        unturned: frozenset[int] = frozenset(),
    ) -> None:
        """unturned: symmetric links whose axes are left unspun."""
        self.linkage = linkage
        self.unturned = unturned
        self.number = numbers.number
        self.parameter = numbers.parameter
        self.q = tuple(q)
        self.u: tuple[Scalar, ...] | None = None
        self.nodes: dict[int, NodePose] = {}
        self.closest: dict[str, Closest] = {}
        """Closest points by contact, found once in a state: on surfaces of data they are long programs."""
        self.turns: list[tuple[Turn, ...]] = []
        self.r: list[Vec] = []
        for link in linkage.links:
            turns, r = self._joint(link)
            self.turns.append(turns)
            self.r.append(r)
        self._poses: dict[tuple[int, int], Pose] = {}
        self._motions: dict[tuple[int, int], Motion] = {}
        self._biases: dict[tuple[int, int], Motion] = {}
        self._w: dict[int, Vec] = {}
        self._v: dict[int, Vec] = {}

    def vector(self, v: Sequence[Scalar]) -> Vec:
        """A model's vector in this trace."""
        return (self.number(v[0]), self.number(v[1]), self.number(v[2]))

    def _joint(self, link: Link) -> tuple[tuple[Turn, ...], Vec]:
        """All turns from the parent's axes to the link's, and the origin in the parent's axes."""
        q = self.q
        r = self.vector(link.r)
        fixed = tuple(
            FullTurn((self.vector(t.r[0]), self.vector(t.r[1]), self.vector(t.r[2])))
            if isinstance(t, FullTurn)
            else t
            for t in link.turns
        )
        if link.kind is LinkKind.PRISMATIC:
            return (), add(r, scale(q[link.q], self.vector(link.axis)))
        if link.kind is LinkKind.BALL:
            return (FullTurn(from_quaternion(q[link.q : link.q + 4])),), r
        if link.kind is LinkKind.FREE:
            position: Vec = (q[link.q], q[link.q + 1], q[link.q + 2])
            return (FullTurn(from_quaternion(q[link.q + 3 : link.q + 7])),), position
        if link.kind is LinkKind.NODE:
            return self._node(link, fixed, r)
        if link.index in self.unturned:
            return fixed, r
        turn = AxisTurn(2, *_cosine_and_sine(q[link.q], link.offset))
        if link.kind is LinkKind.SCREW:
            r = add(r, out(fixed, (0.0, 0.0, self.number(link.pitch) * q[link.q])))
        return (*fixed, turn), r

    def _node(self, link: Link, fixed: tuple[Turn, ...], r: Vec) -> tuple[tuple[Turn, ...], Vec]:
        """From the floating frame to a node of a flexible member, or back."""
        assert link.node is not None
        pose = NodePose(link.node, self.eta(link), link.inverse)
        self.nodes[link.index] = pose
        turns = fixed if pose.straight else (*fixed, FullTurn(pose.R))
        return turns, add(r, out(fixed, pose.r))

    def eta(self, link: Link) -> tuple[Scalar, ...]:
        """The modal coordinates that move a link."""
        return self.q[link.eta_q : link.eta_q + link.modes]

    def eta_rates(self, link: Link) -> tuple[Scalar, ...]:
        """Their rates."""
        if self.u is None:
            raise RuntimeError("velocities were asked for before the speeds were set")
        return self.u[link.eta_u : link.eta_u + link.modes]

    def set_speeds(self, u: Sequence[Scalar]) -> None:
        """Give the speeds of the tree, once they are known; those of nodes follow."""
        self.u = tuple(u)
        self.u = (*self.u, *self.shadow_speeds(self.u))

    def shadow_speeds(self, u: Sequence[Scalar]) -> list[Scalar]:
        """The speeds of all nodes for given speeds of the tree."""
        found: list[Scalar] = []
        for k, pose in self.nodes.items():
            link = self.linkage.links[k]
            w, v = _summed(u[link.eta_u : link.eta_u + link.modes], pose.columns())
            found += [*w, *v]
        return found

    def with_shadow_rates(self, du: Sequence[Scalar]) -> list[Scalar]:
        """Rates of all speeds from those of the tree."""
        found = list(du)
        for k, pose in self.nodes.items():
            link = self.linkage.links[k]
            w, v = _summed(du[link.eta_u : link.eta_u + link.modes], pose.columns())
            dw, dv = pose.bias(self.eta_rates(link))
            found += [*add(w, dw), *add(v, dv)]
        return found

    def folded(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Generalised forces of the tree from those of all speeds: nodes hand theirs to the modes."""
        found = list(values[: self.linkage.speeds])
        for k, pose in self.nodes.items():
            link = self.linkage.links[k]
            u = values[link.u : link.u + 6]
            for j, (w, v) in enumerate(pose.columns()):
                work = dot(w, (u[0], u[1], u[2])) + dot(v, (u[3], u[4], u[5]))
                found[link.eta_u + j] = found[link.eta_u + j] + work
        return found

    def speed(self, link: Link, k: int = 0) -> Scalar:
        """The k-th speed of a link."""
        if self.u is None:
            raise RuntimeError("velocities were asked for before the speeds were set")
        return self.u[link.u + k]

    def three_speeds(self, link: Link, k: int = 0) -> Vec:
        """Three speeds of a link from the k-th on."""
        return (self.speed(link, k), self.speed(link, k + 1), self.speed(link, k + 2))

    def axis(self, link: Link) -> Vec:
        """The joint axis in the parent's axes (revolute, screw, prismatic)."""
        if link.kind is LinkKind.PRISMATIC:
            return self.vector(link.axis)
        return out(self.turns[link.index], (0.0, 0.0, 1.0))

    def pose(self, link: int, base: int = GROUND) -> Pose:
        """The link seen from the base (4, 5)."""
        if link == base:
            return Pose(UNIT, ZERO)
        found = self._poses.get((link, base))
        if found is None:
            self._outwards(self.pose, self._poses, link, base)
            inner = self.pose(self.linkage.links[link].parent, base)
            found = Pose(
                after(inner.R, self.turns[link]),
                add(inner.p, times(inner.R, self.r[link])),
            )
            self._poses[link, base] = found
        return found

    def _outwards(
        self, view: Callable[[int, int], object], seen: Mapping[tuple[int, int], object], link: int, base: int
    ) -> None:
        """Ask for inner links first, so that long chains do not nest calls."""
        missing = []
        inner = self.linkage.links[link].parent
        while inner != base and (inner, base) not in seen:
            missing.append(inner)
            inner = self.linkage.links[inner].parent
        for k in reversed(missing):
            view(k, base)

    def axis_seen(self, link: int, base: int) -> Vec:
        """The joint axis of a link in the axes of the base."""
        this = self.linkage.links[link]
        inner = self.pose(this.parent, base)
        if this.kind is LinkKind.PRISMATIC:
            return times(inner.R, self.vector(this.axis))
        if not this.turns:
            return column(inner.R, 2)
        return times(inner.R, self.axis(this))

    def motion(self, link: int, base: int = GROUND) -> Motion:
        """Velocity of the link seen from the base (6, 7)."""
        if link == base:
            return Motion(ZERO, ZERO)
        found = self._motions.get((link, base))
        if found is None:
            self._outwards(self.motion, self._motions, link, base)
            w_rel, v_rel = self._joint_motion(link, base)
            inner = self.motion(self.linkage.links[link].parent, base)
            arm = self._arm(link, base)
            found = Motion(add(inner.w, w_rel), add(add(inner.v, cross(inner.w, arm)), v_rel))
            self._motions[link, base] = found
        return found

    def _arm(self, link: int, base: int) -> Vec:
        """From the parent's origin to the link's, in the axes of the base."""
        return times(self.pose(self.linkage.links[link].parent, base).R, self.r[link])

    def _joint_motion(self, link: int, base: int) -> tuple[Vec, Vec]:
        """Angular velocity and velocity of the origin against the parent, in the axes of the base."""
        this = self.linkage.links[link]
        if this.kind is LinkKind.BALL:
            return times(self.pose(link, base).R, self.three_speeds(this)), ZERO
        if this.kind in (LinkKind.FREE, LinkKind.NODE):
            R = self.pose(link, base).R
            return times(R, self.three_speeds(this)), times(R, self.three_speeds(this, 3))
        moved = scale(self.speed(this), self.axis_seen(link, base))
        if this.kind is LinkKind.PRISMATIC:
            return ZERO, moved
        if this.kind is LinkKind.SCREW:
            return moved, scale(self.number(this.pitch), moved)
        return moved, ZERO

    def bias(self, link: int, base: int = GROUND) -> Motion:
        """Acceleration of the link seen from the base while all speeds keep their values (11)."""
        if link == base:
            return Motion(ZERO, ZERO)
        found = self._biases.get((link, base))
        if found is None:
            self._outwards(self.bias, self._biases, link, base)
            this = self.linkage.links[link]
            w_rel, v_rel = self._joint_motion(link, base)
            inner, rates = self.bias(this.parent, base), self.motion(this.parent, base)
            arm = self._arm(link, base)
            w = add(inner.w, cross(rates.w, w_rel))
            v = add(inner.v, cross(inner.w, arm))
            v = add(v, cross(rates.w, add(cross(rates.w, arm), scale(2.0, v_rel))))
            if this.kind in (LinkKind.FREE, LinkKind.NODE):
                # The three linear speeds are components in the turning axes of the link itself.
                v = add(v, cross(w_rel, v_rel))
            if this.kind is LinkKind.NODE:
                R = self.pose(link, base).R
                dw, dv = self.nodes[link].bias(self.eta_rates(this))
                w, v = add(w, times(R, dw)), add(v, times(R, dv))
            found = Motion(w, v)
            self._biases[link, base] = found
        return found

    def w(self, link: int) -> Vec:
        """Angular velocity in the link's own axes (6)."""
        if link == GROUND:
            return ZERO
        found = self._w.get(link)
        if found is None:
            this = self.linkage.links[link]
            for k in reversed(self._unseen(self._w, this.parent)):
                self.w(k)
            found = into(self.turns[link], self.w(this.parent))
            if this.kind in (LinkKind.REVOLUTE, LinkKind.SCREW):
                found = (found[0], found[1], found[2] + self.speed(this))
            elif this.kind is not LinkKind.PRISMATIC:
                found = add(found, self.three_speeds(this))
            self._w[link] = found
        return found

    def v(self, link: int) -> Vec:
        """Velocity of the origin against the ground, in the link's own axes (7)."""
        if link == GROUND:
            return ZERO
        found = self._v.get(link)
        if found is None:
            this = self.linkage.links[link]
            for k in reversed(self._unseen(self._v, this.parent)):
                self.v(k)
            carried = add(self.v(this.parent), cross(self.w(this.parent), self.r[link]))
            found = into(self.turns[link], carried)
            if this.kind is LinkKind.PRISMATIC:
                found = add(found, scale(self.speed(this), self.vector(this.axis)))
            elif this.kind is LinkKind.SCREW:
                slide = self.number(this.pitch) * self.speed(this)
                found = (found[0], found[1], found[2] + slide)
            elif this.kind in (LinkKind.FREE, LinkKind.NODE):
                found = add(found, self.three_speeds(this, 3))
            self._v[link] = found
        return found

    def _unseen(self, seen: Mapping[int, Vec], link: int) -> list[int]:
        """The links from `link` inwards that have no entry yet."""
        missing = []
        while link != GROUND and link not in seen:
            missing.append(link)
            link = self.linkage.links[link].parent
        return missing

    def position_rates(self) -> list[Scalar]:
        """q-dot: the speeds, with quaternions and the place of free links by their own relations."""
        rates: list[Scalar] = []
        for link in self.linkage.links:
            if link.kind is LinkKind.BALL:
                rates += quaternion_rate(self.q[link.q : link.q + 4], self.three_speeds(link))
            elif link.kind is LinkKind.FREE:
                rates += out(self.turns[link.index], self.three_speeds(link, 3))
                rates += quaternion_rate(self.q[link.q + 3 : link.q + 7], self.three_speeds(link))
            elif link.kind is LinkKind.NODE:
                rates += self.eta_rates(link) if link.shape is not None else ()
            else:
                rates.append(self.speed(link))
        # What states do is told elsewhere; here they stand still.
        return rates + [0.0] * len(self.linkage.states)
