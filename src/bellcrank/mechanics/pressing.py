"""Continuous contacts on links: from overlap to forces (Park, Shin, Sohn, Yoo 2003, section 2).

Step 7 of the paper keeps the pair of points of the first touch, which would act as a tangential spring; here the pair
is found anew in every state. Both bodies feel the force at one point, half way between the two surfaces, so that
force and moment balance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bellcrank.contact.closest import Closest
from bellcrank.contact.friction import Coulomb, LuGre, with_numbers
from bellcrank.contact.hertz import Curvature, curvature, stiffness
from bellcrank.contact.laws import normal_force, unclipped_force
from bellcrank.math.tuples import (
    ZERO,
    Mat,
    Vec,
    add,
    cross,
    dot,
    neg,
    scale,
    sub,
    tangents,
    times,
    transposed_times,
    vec,
)
from bellcrank.mechanics.constraints import Marker
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage
from bellcrank.mechanics.loads import Loads
from bellcrank.program.functions import maximum
from bellcrank.program.trace import Scalar, compare, power

if TYPE_CHECKING:
    from bellcrank.model.forces import ContactForce


@dataclass(frozen=True, eq=False)
class Pressing:
    """A continuous contact in one state, seen from the common link of its two sides."""

    force: ContactForce
    pair: ContactPair
    kin: Kinematics

    @staticmethod
    def of(force: ContactForce, linkage: Linkage, kin: Kinematics) -> Pressing:
        """Place a continuous contact on the links."""
        from bellcrank.model.forces import FieldContact

        if isinstance(force, FieldContact):
            from bellcrank.mechanics.field_contact import field_pressing

            return field_pressing(force, ContactPair.of(force.contact, linkage), kin)
        return Pressing(force, ContactPair.of(force.contact, linkage), kin)

    @cached_property
    def closest(self) -> Closest:
        """The pair of points."""
        return self.pair.closest(self.kin)

    @cached_property
    def point(self) -> Vec:
        """Where the force acts: half way between the surfaces."""
        return scale(0.5, add(self.closest.point_a, self.closest.point_b))

    @property
    def depth(self) -> Scalar:
        """Penetration [m], negative apart."""
        return -self.closest.distance

    @cached_property
    def velocity(self) -> Vec:
        """Of b against a at the point [m/s]."""
        return sub(
            self.velocity_of(self.pair.b.link, self.point), self.velocity_of(self.pair.a.link, self.point)
        )

    def velocity_of(self, link: int, point: Vec) -> Vec:
        """Of a link, where it passes a point, seen from the common link [m/s]."""
        return self.pair.velocity_of(self.kin, link, point)

    @cached_property
    def rate(self) -> Scalar:
        """Of penetration [m/s]."""
        return -dot(self.closest.normal, self.velocity)

    @cached_property
    def normal(self) -> Vec:
        """From a to b."""
        return self.closest.normal

    @cached_property
    def slip(self) -> Vec:
        """Tangential velocity of b against a [m/s]."""
        return add(self.velocity, scale(self.rate, self.normal))

    @cached_property
    def stiffness(self) -> Scalar:
        """K of F = K d^exponent."""
        given = self.force.stiffness
        if given is not None:
            return self.kin.number(given)
        n, modulus = self.closest.normal, self.kin.number(self.force.modulus)
        e1, e2 = tangents(n)
        if self.closest.bends is not None:
            return stiffness(modulus, *(_along(K, e1, e2) for K in self.closest.bends()))
        bends = []
        sides = (
            (self.force.contact.a.shape, self.pair.a, n, self.closest.point_a),
            (self.force.contact.b.shape, self.pair.b, neg(n), self.closest.point_b),
        )
        for shape, marker, outward, point in sides:
            R, p = self.seen(marker)
            bends.append(curvature(shape, R, outward, transposed_times(R, sub(point, p)), e1, e2))
        return stiffness(modulus, *bends)

    def seen(self, m: Marker) -> tuple[Mat, Vec]:
        """Rotation and origin of a side's frame."""
        return self.pair.seen(self.kin, m)

    @cached_property
    def load(self) -> Scalar:
        """Normal force [N]."""
        return normal_force(*self._arguments())  # type: ignore[arg-type]

    @property
    def push(self) -> Scalar:
        """What the normal force [N] would be if it could pull."""
        return unclipped_force(*self._arguments())  # type: ignore[arg-type]

    def _arguments(self) -> tuple[object, ...]:
        f, number = self.force, self.kin.number
        v0, D = number(f.approach_speed), number(f.damping)
        return f.law, self.depth, self.rate, self.stiffness, f.exponent, f.factor, v0, D

    @cached_property
    def rubbing(self) -> Coulomb | LuGre | None:
        """The law of friction with its numbers in this state."""
        law = self.force.friction
        return None if law is None else with_numbers(law, self.kin.number)

    @cached_property
    def friction(self) -> Vec:
        """Force of friction on b [N]."""
        law = self.rubbing
        if law is None:
            return ZERO
        if isinstance(law, Coulomb):
            return law.force(self.slip, self.load)
        return vec(law.force(self.bend, self.slip, self.load))

    @cached_property
    def bend(self) -> Vec:
        """How far bristles are bent, in the plane of contact [m]."""
        z, n = self._kept, self.normal
        return sub(z, scale(dot(n, z), n))

    @property
    def _kept(self) -> Vec:
        assert self.force.bend is not None
        return self.kin.vector(self.force.bend)

    @cached_property
    def bending(self) -> Sequence[Scalar]:
        """The rate of the bend as it is kept, in the axes of the common link [m/s].

        It turns with the mean of both bodies, so that friction goes along with a turning table; what then sticks out
        of the plane of contact straightens.
        """
        law, n, z = self.rubbing, self.normal, self._kept
        assert isinstance(law, LuGre)
        rate = vec(law.rate(self.bend, self.slip, compare("lt", 0.0, self.load)))
        turned = cross(scale(0.5, add(*self._spins())), z)
        return add(add(rate, turned), scale(-dot(n, z) / law.recovery, n))

    @cached_property
    def on_b(self) -> Vec:
        """Whole force on b [N]."""
        return add(scale(self.load, self.closest.normal), self.friction)

    @property
    def energy(self) -> Scalar:
        """Elastic energy K d^(n+1) / (n+1) [J]."""
        n = self.force.exponent + 1.0
        return self.stiffness * power(maximum(self.depth, 0.0), n) * (1.0 / n)

    @cached_property
    def moment(self) -> Vec:
        """On b besides the force at the point [N m]."""
        return ZERO

    def modal_forces(self) -> list[tuple[int, Scalar]]:
        """Generalised forces on modal coordinates, by the number of the speed; only the skin of a member has them."""
        return []

    @property
    def working(self) -> Scalar:
        """Power given to the mechanism [W]."""
        power = dot(self.on_b, self.velocity)
        if self.moment is ZERO:
            return power
        w_a, w_b = self._spins()
        return power + dot(self.moment, sub(w_b, w_a))

    def _spins(self) -> tuple[Vec, Vec]:
        """Angular velocities of both sides, seen from the common link [rad/s]."""
        a, b = (
            ZERO if m.link == self.pair.base else self.kin.motion(m.link, self.pair.base).w
            for m in (self.pair.a, self.pair.b)
        )
        return a, b


def _along(K: Mat, e1: Vec, e2: Vec) -> Curvature:
    """A curvature along two tangents."""
    f1, f2 = times(K, e1), times(K, e2)
    return dot(e1, f1), dot(e1, f2), dot(e2, f2)


def press(force: ContactForce, linkage: Linkage, kin: Kinematics, t: Scalar, loads: Loads) -> None:
    """Put the force of a continuous contact on both links."""
    found = Pressing.of(force, linkage, kin)
    at = found.point
    loads.between(found.pair.a.link, found.pair.b.link, found.pair.base, at, at, found.on_b, found.moment)
    for speed, modal in found.modal_forces():
        loads.on_speed(speed, modal)


__all__ = ["Pressing", "press"]
