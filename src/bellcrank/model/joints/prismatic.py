"""The prismatic joint: Tz(displacement)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import Keys
from bellcrank.math.arrays import Array
from bellcrank.math.rotations import Turn
from bellcrank.math.tuples import ZERO, Mat, Vec, add, column, cross, dot, scale, times
from bellcrank.model.joints.elementary import Elementary, Laid, Twist, Wrench, settled_sum
from bellcrank.model.joints.joint import ALONG, LIMITED, PLACED, Joint, Mark, Place, Plane, Side, Step
from bellcrank.model.joints.making import JointMethod
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.frames import FrameSite, RawLink
    from bellcrank.mechanics.inertia import Inertia
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link


class Slide(Elementary):
    """Translation along z; the link takes the axes of its parent, so that nothing turns."""

    name = "prismatic"
    turning = (False,)
    lengths = (0,)

    def frame(self, site: FrameSite) -> tuple[Mat, Vec]:
        return site.parent_axes(), site.center or ZERO

    def laid(self, T: Mat, r: Vec, raw: RawLink) -> Laid:
        return Laid(settled_sum(r, times(T, raw.s), raw.s), axis=column(T, 2))

    def transform(
        self, kin: Kinematics, link: Link, fixed: tuple[Turn, ...], r: Vec
    ) -> tuple[tuple[Turn, ...], Vec]:
        return (), add(r, scale(kin.q[link.q], kin.vector(link.axis)))

    def axis_seen(self, kin: Kinematics, link: Link, base: int) -> Vec:
        return times(kin.pose(link.parent, base).R, kin.vector(link.axis))

    def motion(self, kin: Kinematics, link: Link, base: int) -> Twist:
        return ZERO, scale(kin.speed(link), self.axis_seen(kin, link, base))

    def spin(self, kin: Kinematics, link: Link, w: Vec) -> Vec:
        return w

    def slide(self, kin: Kinematics, link: Link, v: Vec) -> Vec:
        return add(v, scale(kin.speed(link), kin.vector(link.axis)))

    def accelerated(
        self, kin: Kinematics, link: Link, du: Sequence[Scalar], w: Vec, alpha: Vec, a: Vec
    ) -> tuple[Vec, Vec]:
        axis = kin.vector(link.axis)
        twice = 2.0 * kin.speed(link)
        return alpha, add(a, add(scale(twice, cross(w, axis)), scale(du[link.u], axis)))

    def columns(self, kin: Kinematics, link: Link, base: int, point: Vec) -> list[Twist]:
        return [(ZERO, self.axis_seen(kin, link, base))]

    def forces(self, kin: Kinematics, link: Link, wrench: Wrench) -> tuple[Scalar, ...]:
        return (dot(kin.vector(link.axis), wrench[1]),)

    def velocity(self, kin: Kinematics, link: Link, u: Sequence[Scalar]) -> Twist:
        return ZERO, scale(u[0], kin.vector(link.axis))

    def unfelt(self, inertia: Inertia) -> Inertia:
        return inertia.moment_part()

    def unfelt_place(self, link: Link) -> Vec:
        return ZERO

    def unit_directions(self, link: Link) -> tuple[int, ...]:
        return tuple(3 + i for i, x in enumerate(link.axis) if isinstance(x, float) and abs(x) == 1.0)


SLIDE = Slide()


class Prismatic(Joint):
    """A slider."""

    kind = "prismatic"
    keys = Keys("displacement [m] along the axis.", *PLACED, ALONG, LIMITED)
    coordinates = speeds = ("displacement",)
    place = Place.ANYWHERE
    perpendicular = ((0, 1), (1, 2), (2, 0))
    offsets = (0, 1)
    plane = Plane.ALONG
    slider = True
    marks = (Mark.GUIDE,)

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return (float(p[2]),)

    def chain(self) -> list[Step]:
        return [(SLIDE, self.coordinates)]

    @classmethod
    def compares_axes(cls) -> bool:
        return False


class PrismaticMethod(JointMethod):
    """Makes prismatic joints."""

    def prismatic(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis: Any = None,
        cut: bool | None = None,
        limits: Any = None,
    ) -> Prismatic:
        """A slider: `displacement` [m] along the axis.

        a, b: Bodies, their names, or points or frames of them. at: World point [m], may be left out; axis: world
        direction ("x", "y", "z" or a vector; "z" where missing), both in the start pose. cut: True closes a loop here,
        False keeps the joint in the tree, None lets the analysis choose. limits: (low, high) [m], as for
        :meth:`revolute`.
        """
        return self._add_joint(Prismatic, name, a, b, at, axis, cut=cut, limits=limits)
