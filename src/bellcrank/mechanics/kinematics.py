"""Positions, velocities and velocity-dependent accelerations of links (Kang and Yoon 2001, equations 4 to 16).

Two views are kept, each computed only where asked for:

- *own axes*: angular velocity and acceleration of each link in its own axes, outwards from the ground;
  this is what inertia forces need;
- *seen from a base link*: rotation, position, velocity and acceleration of a link in the axes of an
  inner one, as if that one stood still; this is what loops, springs and world quantities need.

Differs from the paper in: body axes instead of world axes, loops seen from their lowest common body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bellcrank.math.rotations import (
    FullTurn,
    Turn,
    after,
    into,
    out,
)
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    cross,
    dot,
    scale,
    times,
)
from bellcrank.mechanics.flexible import MovedNode
from bellcrank.mechanics.links import GROUND, Link, Linkage
from bellcrank.mechanics.numbers import Numbers
from bellcrank.mechanics.runs import runs_of
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.closest import Closest
    from bellcrank.mechanics.inertia import Inertia
    from bellcrank.model.joints.elementary import Wrench


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


def summed(rates: Sequence[Scalar], columns: Sequence[tuple[Vec, Vec]]) -> tuple[Vec, Vec]:
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
        self.nodes: dict[int, MovedNode] = {}
        self.closest: dict[str, Closest] = {}
        """Closest points by contact, found once in a state: on surfaces of data they are long programs."""
        self.turns: list[tuple[Turn, ...]] = []
        self.r: list[Vec] = []
        for link in linkage.links:
            turns, r = self._joint(link)
            self.turns.append(turns)
            self.r.append(r)
        self.runs = runs_of(linkage.links, self.turns, self.q, unturned)
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
        r = self.vector(link.r)
        fixed = tuple(
            FullTurn((self.vector(t.r[0]), self.vector(t.r[1]), self.vector(t.r[2])))
            if isinstance(t, FullTurn)
            else t
            for t in link.turns
        )
        return link.kind.transform(self, link, fixed, r)

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
            w, v = summed(u[link.eta_u : link.eta_u + link.modes], pose.columns())
            found += [*w, *v]
        return found

    def with_shadow_rates(self, du: Sequence[Scalar]) -> list[Scalar]:
        """Rates of all speeds from those of the tree."""
        found = list(du)
        for k, pose in self.nodes.items():
            link = self.linkage.links[k]
            w, v = summed(du[link.eta_u : link.eta_u + link.modes], pose.columns())
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
        """z of a link's frame in the parent's axes."""
        return out(self.turns[link.index], (0.0, 0.0, 1.0))

    def pose(self, link: int, base: int = GROUND) -> Pose:
        """The link seen from the base (4, 5)."""
        if link == base:
            return Pose(UNIT, ZERO)
        found = self._poses.get((link, base))
        if found is None:
            self._outwards(self.pose, self._poses, link, base)
            inner = self.pose(self.linkage.links[link].parent, base)
            found = Pose(self._turned(link, base), add(inner.p, times(inner.R, self.r[link])))
            self._poses[link, base] = found
        return found

    def _turned(self, link: int, base: int) -> Mat:
        """The rotation of the link seen from the base; in a run that begins there or further out, by one angle."""
        run = self.runs.get(link)
        if run is None or base not in (GROUND, *self.linkage.path(run.base)):
            return after(self.pose(self.linkage.links[link].parent, base).R, self.turns[link])
        return after(self.pose(run.base, base).R, run.turns)

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

    def motion(self, link: int, base: int = GROUND) -> Motion:
        """Velocity of the link seen from the base (6, 7)."""
        if link == base:
            return Motion(ZERO, ZERO)
        found = self._motions.get((link, base))
        if found is None:
            self._outwards(self.motion, self._motions, link, base)
            this = self.linkage.links[link]
            w_rel, v_rel = this.kind.motion(self, this, base)
            inner = self.motion(this.parent, base)
            arm = self._arm(link, base)
            found = Motion(add(inner.w, w_rel), add(add(inner.v, cross(inner.w, arm)), v_rel))
            self._motions[link, base] = found
        return found

    def _arm(self, link: int, base: int) -> Vec:
        """From the parent's origin to the link's, in the axes of the base."""
        return times(self.pose(self.linkage.links[link].parent, base).R, self.r[link])

    def bias(self, link: int, base: int = GROUND) -> Motion:
        """Acceleration of the link seen from the base while all speeds keep their values (11)."""
        if link == base:
            return Motion(ZERO, ZERO)
        found = self._biases.get((link, base))
        if found is None:
            self._outwards(self.bias, self._biases, link, base)
            this = self.linkage.links[link]
            w_rel, v_rel = this.kind.motion(self, this, base)
            inner, rates = self.bias(this.parent, base), self.motion(this.parent, base)
            arm = self._arm(link, base)
            w = add(inner.w, cross(rates.w, w_rel))
            v = add(inner.v, cross(inner.w, arm))
            v = add(v, cross(rates.w, add(cross(rates.w, arm), scale(2.0, v_rel))))
            found = Motion(*this.kind.bias(self, this, base, (w, v), (w_rel, v_rel)))
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
            found = this.kind.spin(self, this, into(self.turns[link], self.w(this.parent)))
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
            found = this.kind.slide(self, this, into(self.turns[link], carried))
            self._v[link] = found
        return found

    def inertia_of(self, link: int, own: Inertia) -> Inertia:
        """An inertia of a link, given in the link's axes, in those of its dynamics: the same, but in runs of hinges."""
        return own

    def wrench_on(self, link: int, own: Wrench) -> Wrench:
        """A wrench on a link, given in the link's axes, in those of its dynamics."""
        return own

    def _unseen(self, seen: Mapping[int, Vec], link: int) -> list[int]:
        """The links from `link` inwards that have no entry yet."""
        missing = []
        while link != GROUND and link not in seen:
            missing.append(link)
            link = self.linkage.links[link].parent
        return missing

    def position_rates(self) -> list[Scalar]:
        """q-dot of all links."""
        rates: list[Scalar] = []
        for link in self.linkage.links:
            rates += link.kind.position_rates(self, link)
        # The rates of states come from the user's functions; here they stand still.
        return rates + [0.0] * len(self.linkage.states)
