"""Continuous contacts by fields on links: the relative motion of two bodies to force and moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

from bellcrank.contact.bending import CASES
from bellcrank.contact.field_energy import Coefficients, Pose, Pressed, Twist
from bellcrank.contact.fields import routine
from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.contact.shapes.base import has_parameters
from bellcrank.contact.skin import Party, SkinShape, skin_routine
from bellcrank.math.tuples import (
    Mat,
    Vec,
    add,
    cross,
    dot,
    matmul,
    scale,
    sub,
    times,
    transposed_times,
    vec,
)
from bellcrank.math.vectors import Matrix, Vector
from bellcrank.mechanics.pressing import Pressing
from bellcrank.program.functions import sqrt, where
from bellcrank.program.loops.layout import built, declared, leaves
from bellcrank.program.trace import Expr, Scalar, compare

if TYPE_CHECKING:
    from bellcrank.mechanics.contacts import ContactPair
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link
    from bellcrank.model.forces import FieldContact

MEAN = 0.94
"""Mean distance of a load from its middle over its radius of gyration: 0.943 for an even disc, 0.931 for Hertz's."""
TINY = 1e-200
"""Square of a force [N^2] that keeps the direction of none finite."""


@dataclass(frozen=True, eq=False)
class FieldPressing(Pressing):
    """A contact by fields in one state, seen from the common link of its two sides."""

    force: FieldContact

    @cached_property
    def _frames(self) -> tuple[Mat, Vec, Mat, Vec]:
        """Rotations and origins of both sides."""
        return (*self.seen(self.pair.a), *self.seen(self.pair.b))

    @cached_property
    def _relative(self) -> tuple[Pose, Twist]:
        """Where b is and how it moves, seen from a."""
        R_a, p_a, R_b, p_b = self._frames
        v = sub(self.velocity_of(self.pair.b.link, p_b), self.velocity_of(self.pair.a.link, p_b))
        w_a, w_b = self._spins()
        R = matmul((_column(R_a, 0), _column(R_a, 1), _column(R_a, 2)), R_b)
        pose = Pose(_vector(transposed_times(R_a, sub(p_b, p_a))), Matrix(*(_vector(row) for row in R)))
        return pose, Twist(_vector(transposed_times(R_a, v)), _vector(transposed_times(R_a, sub(w_b, w_a))))

    def _coefficients(self, nearness: float) -> Coefficients:
        f, number = self.force, self.kin.number
        law = self.rubbing if isinstance(self.rubbing, Coulomb) else Coulomb(0.0)
        static = law.kinetic if law.static is None else law.static
        friction = law.kinetic, static, law.stribeck_speed, law.slip_speed
        numbers = self.stiffness, f.factor, number(f.approach_speed), *friction, nearness
        return Coefficients(*(cast("float", x) for x in numbers))

    @property
    def _memory(self) -> list[Expr]:
        return [cell for cell in map(self.kin.number, self.force.warm) if isinstance(cell, Expr)]

    def _called(self, nearness: float) -> Pressed:
        """What the routine gives, in the frame of side a."""
        f = self.force
        if any(has_parameters(side.shape) for side in (f.contact.a, f.contact.b)):
            return self._formed(nearness)[0]
        made = routine(f.contact.a.shape, f.contact.b.shape, f.field_law)
        found: Pressed = made(*self._relative, self._coefficients(nearness), memory=self._memory)
        return found

    def _formed(
        self, nearness: float, moved: Sequence[Sequence[Scalar]] = ((), (), (), ())
    ) -> tuple[Pressed, list[Scalar]]:
        """The contact of bodies that deform or whose sizes are parameters, and the forces on their coordinates.

        moved: Coordinates of both and their rates.
        """
        f = self.force
        sides = [
            Party(side.shape, side.present, side.frame.body.member) for side in (f.contact.a, f.contact.b)
        ]
        made = skin_routine(sides[0], sides[1], f.field_law, f.bend is not None)
        kinds = [declared(type(side.sizes)) for side in sides]
        sizes = [
            built(kind, iter([self.kin.number(x) for x in leaves(kind, side.sizes)]))
            for kind, side in zip(kinds, sides, strict=True)
        ]
        found: tuple[Pressed, list[Scalar]] = made(
            *self._relative, self._coefficients(nearness), *sizes, *moved, memory=self._memory
        )
        return found

    @cached_property
    def pressed(self) -> Pressed:
        """Force and all that belongs to it."""
        return self._called(0.0)

    @cached_property
    def nearest(self) -> Pressed:
        """The deepest penetration, or the gap."""
        return self._called(1.0)

    def _out(self, v: Vector) -> Vec:
        """A direction of side a, seen from the common link."""
        return times(self._frames[0], (v.x, v.y, v.z))

    @cached_property
    def point(self) -> Vec:
        """Where the load acts in the mean."""
        return add(self._frames[1], self._out(self.pressed.point))

    @property
    def depth(self) -> Scalar:
        """The deepest penetration [m], negative apart."""
        return self.nearest.depth

    @cached_property
    def rate(self) -> Scalar:
        """Of the deepest penetration [m/s]."""
        return self.nearest.rate

    @cached_property
    def stiffness(self) -> Scalar:
        """E* [Pa] or k [N/m^3]."""
        f = self.force
        return self.kin.number(f.modulus if f.stiffness is None else f.stiffness)

    @cached_property
    def load(self) -> Scalar:
        """Normal force [N]."""
        return self.pressed.load

    @property
    def push(self) -> Scalar:
        """Normal force [N]; it never pulls."""
        return self.pressed.load

    @cached_property
    def _elastic(self) -> Vec:
        """On b, without friction [N]."""
        return self._out(self.pressed.force - self.pressed.friction)

    @cached_property
    def normal(self) -> Vec:
        """Direction in which b is pushed."""
        return scale(1.0 / sqrt(dot(self._elastic, self._elastic) + TINY), self._elastic)

    @cached_property
    def slip(self) -> Vec:
        """Tangential velocity of b against a where the load acts [m/s]."""
        return sub(self.velocity, scale(dot(self.normal, self.velocity), self.normal))

    @cached_property
    def spin(self) -> Scalar:
        """Of b against a about the normal [rad/s]."""
        w_a, w_b = self._spins()
        return dot(self.normal, sub(w_b, w_a))

    @cached_property
    def _bristles(self) -> tuple[LuGre, list[Scalar], list[Scalar], Scalar]:
        """The law, bend and slip of bristles, those of drilling last, and the radius at which they drill [m]."""
        law = self.rubbing
        assert isinstance(law, LuGre)
        assert self.force.drill is not None
        radius = MEAN * self.pressed.radius
        turn = radius * self.spin
        return law, [*self.bend, self.kin.number(self.force.drill)], [*self.slip, turn], radius

    @cached_property
    def _rubbed(self) -> list[Scalar]:
        """Force of bristles on b, and that at the radius at which they drill [N]."""
        law, bend, slip, _ = self._bristles
        return law.force(bend, slip, self.load)

    @cached_property
    def friction(self) -> Vec:
        """Force of friction on b [N]."""
        if self.force.bend is not None:
            return vec(self._rubbed[:3])
        return self._out(self.pressed.friction)

    @cached_property
    def bending(self) -> list[Scalar]:
        """The rates of the bend, then that of drilling [m/s]."""
        law, bend, slip, _ = self._bristles
        rate = law.rate(bend, slip, compare("lt", 0.0, self.load))
        n, z = self.normal, self._kept
        turned = cross(scale(0.5, add(*self._spins())), z)
        return [*add(add(vec(rate[:3]), turned), scale(-dot(n, z) / law.recovery, n)), rate[3]]

    @cached_property
    def on_b(self) -> Vec:
        """Whole force on b [N]."""
        return add(self._elastic, self.friction)

    @property
    def energy(self) -> Scalar:
        """Elastic energy [J]."""
        return self.pressed.energy

    @property
    def mean_pressure(self) -> Scalar:
        """Normal force over the area of the patch [Pa]; zero apart."""
        area: Scalar = self.pressed.area
        touching = compare("lt", 0.0, area)
        return where(touching, self.load / where(touching, area, 1.0), 0.0)

    @cached_property
    def moment(self) -> Vec:
        """On b, about the point where the load acts [N m]."""
        about_a = self._out(self.pressed.moment)
        found = sub(about_a, cross(sub(self.point, self._frames[1]), self._out(self.pressed.force)))
        if self.force.bend is None:
            return found
        return add(found, scale(self._bristles[3] * self._rubbed[3], self.normal))


class Carried(NamedTuple):
    """What a contact does to the coordinates of one of its sides, which deforms.

    link: Of the member. sign: 1 on b, -1 on a. forces: On its coordinates, elastic and of dry friction. shifts:
    Velocity of the member where the load acts in the mean, for a unit rate of each coordinate. turns: Its spin about
    the normal there, likewise.
    """

    link: Link
    sign: float
    forces: list[Scalar]
    shifts: list[Vec]
    turns: list[Scalar]


@dataclass(frozen=True, eq=False)
class SkinPressing(FieldPressing):
    """A contact of which one side at least is the skin of a flexible member.

    Bristles see how fast the members deform there: the mean of the relative velocity, weighed by the load, and the mean
    spin about the normal. Their force and moment act on the coordinates as those two velocities say, so that power is
    the same by either.
    """

    @cached_property
    def _members(self) -> list[Link | None]:
        """The links that deform."""
        shapes = self.force.contact.a.shape, self.force.contact.b.shape
        markers = self.pair.a, self.pair.b
        return [
            self.kin.linkage.links[m.link] if isinstance(shape, SkinShape) else None
            for shape, m in zip(shapes, markers, strict=True)
        ]

    @cached_property
    def _whole(self) -> tuple[Pressed, list[Scalar]]:
        """What the routine gives: the contact, and the forces on coordinates."""
        return self._skin(0.0)

    def _skin(self, nearness: float) -> tuple[Pressed, list[Scalar]]:
        moved: list[Sequence[Scalar]] = []
        for link in self._members:
            moved += [(), ()] if link is None else [self.kin.eta(link), self.kin.eta_rates(link)]
        return self._formed(nearness, moved)

    def _called(self, nearness: float) -> Pressed:
        return (self._whole if nearness == 0.0 else self._skin(nearness))[0]

    @cached_property
    def _carried(self) -> list[Carried]:
        given, first = self._whole[1], 0
        cases = CASES if self.force.bend is not None else 1
        found = []
        for k, link in enumerate(self._members):
            if link is None:
                continue
            n, own = link.modes, given[first : first + cases * link.modes]
            first += cases * n
            shifts, turns = list[Vec](), list[Scalar]()
            if cases > 1:
                R, p = self.seen((self.pair.a, self.pair.b)[k])
                centre, square = sub(self.point, p), self.pressed.radius * self.pressed.radius
                small = where(compare("lt", 0.0, square), 1.0 / (square + TINY), 0.0)
                for j in range(n):
                    shift, swirl = (
                        times(R, (own[i * n + j], own[(i + 1) * n + j], own[(i + 2) * n + j])) for i in (1, 4)
                    )
                    shifts.append(shift)
                    turns.append(small * dot(self.normal, sub(swirl, cross(centre, shift))))
            found.append(Carried(link, 2.0 * k - 1.0, list(own[:n]), shifts, turns))
        return found

    @cached_property
    def slip(self) -> Vec:
        """Tangential velocity of b against a, in the mean over the load [m/s]."""
        velocity = self.velocity
        for side in self._carried:
            for rate, shift in zip(self.kin.eta_rates(side.link), side.shifts, strict=False):
                velocity = add(velocity, scale(side.sign * rate, shift))
        return sub(velocity, scale(dot(self.normal, velocity), self.normal))

    @cached_property
    def spin(self) -> Scalar:
        spin = super().spin
        for side in self._carried:
            for rate, turn in zip(self.kin.eta_rates(side.link), side.turns, strict=True):
                spin = spin + side.sign * rate * turn
        return spin

    @cached_property
    def _on_coordinates(self) -> list[tuple[Carried, list[Scalar]]]:
        if self.force.bend is None:
            return [(side, side.forces) for side in self._carried]
        rubbed, moment = self.friction, self._bristles[3] * self._rubbed[3]
        return [
            (
                side,
                [
                    force + side.sign * (dot(rubbed, shift) + moment * turn)
                    for force, shift, turn in zip(side.forces, side.shifts, side.turns, strict=True)
                ],
            )
            for side in self._carried
        ]

    def modal_forces(self) -> list[tuple[int, Scalar]]:
        return [
            (side.link.eta_u + k, push)
            for side, forces in self._on_coordinates
            for k, push in enumerate(forces)
        ]

    @property
    def working(self) -> Scalar:
        power = super().working
        for side, forces in self._on_coordinates:
            for push, rate in zip(forces, self.kin.eta_rates(side.link), strict=True):
                power = power + push * rate
        return power


def field_pressing(force: FieldContact, pair: ContactPair, kin: Kinematics) -> FieldPressing:
    """A contact by fields, of rigid bodies or of skins of members."""
    skins = any(isinstance(side.shape, SkinShape) for side in (force.contact.a, force.contact.b))
    return SkinPressing(force, pair, kin) if skins else FieldPressing(force, pair, kin)


def _vector(v: Vec) -> Vector:
    x, y, z = (cast("float", c) for c in v)
    return Vector(x, y, z)


def _column(m: Mat, k: int) -> Vec:
    return (m[0][k], m[1][k], m[2][k])


__all__ = ["FieldPressing", "field_pressing"]
