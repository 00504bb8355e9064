"""Contacts in one traced state: gaps, and the forces of lasting contacts as loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.contact.shapes import Stop
from bellcrank.math.tuples import ZERO, Vec, add, cross, dot, scale, sub, times, transposed_times
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanics.loads import Loads
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.closest import Closest
    from bellcrank.quantities.snapshot import Snapshot


class TracedContact:
    """One contact: closest points, and the force on b while it lasts (zero while open)."""

    def __init__(self, s: Snapshot, pair: ContactPair, force: Vec) -> None:
        self.s, self.pair, self.force = s, pair, force

    @property
    def closest(self) -> Closest:
        """Closest points, seen from the pair's base."""
        return self.pair.closest(self.s.kin)

    def gap(self) -> Scalar:
        """[m]."""
        return self.closest.distance

    def angle(self) -> Scalar:
        """How far the stop of an angle is from being struck [rad]."""
        stop = self.pair.contact.a.shape
        assert isinstance(stop, Stop)
        return self.gap() * (1.0 / stop.lever)

    def torque(self) -> Vec:
        """Of the stop of an angle, on b, world [N m]."""
        return scale(self.normal_force(), self.in_world(self.pair.couple(self.s.kin, self.closest)))

    def in_world(self, v: Vec) -> Vec:
        """A direction seen from the base, in world axes."""
        return times(self.s.kin.pose(self.pair.base).R, v)

    def point(self) -> Vec:
        """The contact point on a, world [m]."""
        return add(self.s.kin.pose(self.pair.base).p, self.in_world(self.closest.point_a))

    def normal(self) -> Vec:
        """From a to b, world."""
        return self.in_world(self.closest.normal)

    def normal_force(self) -> Scalar:
        """[N]."""
        return dot(self.force, self.normal())

    def friction_force(self) -> Vec:
        """On b, world [N]."""
        n = self.normal()
        N = self.normal_force()
        return sub(self.force, (N * n[0], N * n[1], N * n[2]))

    def slip_velocity(self) -> Vec:
        """Velocity of b against a at the contact, without its normal part, world [m/s]."""
        n, v = self.normal(), sub(self._velocity(self.pair.b.link), self._velocity(self.pair.a.link))
        along = dot(n, v)
        return sub(v, (along * n[0], along * n[1], along * n[2]))

    def _velocity(self, link: int) -> Vec:
        if link < 0:
            return (0.0, 0.0, 0.0)
        motion, pose = self.s.kin.motion(link), self.s.kin.pose(link)
        return add(motion.v, cross(motion.w, sub(self.point(), pose.p)))

    def power(self) -> Scalar:
        """Of friction [W], not positive."""
        return dot(self.force, self.slip_velocity())

    def load(self, loads: Loads) -> None:
        """Put the force on both bodies."""
        kin, base = self.s.kin, self.pair.base
        f = transposed_times(kin.pose(base).R, self.force)
        at, moment = self.closest.point_a, ZERO
        if self.pair.couples:
            moment, f = scale(self.normal_force(), self.pair.couple(kin, self.closest)), ZERO
        loads.between(self.pair.a.link, self.pair.b.link, base, at, at, f, moment)

    @property
    def bodies(self) -> tuple[str, str]:
        """Names of a and b."""
        return self.pair.contact.a.frame.body.name, self.pair.contact.b.frame.body.name


__all__ = ["TracedContact"]
