"""Springs and dampers between the axes of two frames, alike about every axis: those of ball joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, Keys, may
from bellcrank.math.tuples import ZERO, Vec, add, dot, neg, scale, transposed_times
from bellcrank.model import checks
from bellcrank.model.forces.bushing import motion_between
from bellcrank.model.forces.element import POINTS, ForceElement, ForceMethod
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Side
from bellcrank.program.functions import atan2, maximum, sqrt, where
from bellcrank.program.trace import Scalar, compare

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

SMALL = 1e-6
"""Square of the sine below which angle over sine is a series: its next term, 15 s^6 / 336, is below rounding."""


@dataclass(frozen=True, eq=False)
class RotationSpring(ForceElement):
    """Torque on b against the rotation from frame a to frame b, in proportion to its angle, about its axis.

    stiffness: [N m/rad]. damping: Against the relative angular velocity [N m s/rad]. The angle lies below 180 degrees;
    there the axis turns round.
    """

    kind = "rotation_spring"
    keys = Keys(
        "A spring and damper between the axes of two frames.",
        *POINTS,
        may("stiffness", NUMBER, "[N m/rad]; 0 where missing."),
        may("damping", NUMBER, "[N m s/rad]; 0 where missing."),
    )

    name: str
    a: Frame
    b: Frame
    stiffness: Scalar
    damping: Scalar = 0.0

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.a, self.b)

    def load(self, act: Acting, loads: Loads) -> None:
        A, B, base = act.ends(self.a, self.b)
        axes = (A.axis(0), A.axis(1), A.axis(2))
        torque, _ = self._torque(act, A, B, base)
        loads.between(A.link, B.link, base, B.point, B.point, ZERO, transposed_times(axes, torque))

    def _torque(self, act: Acting, A: Seen, B: Seen, base: int) -> tuple[Vec, Vec]:
        """On b in the axes of a, and the relative angular velocity there."""
        (_, sine), (_, w) = motion_between(act, A, B, base)
        turn = scale(_angle_over_sine(A, B, sine), sine)
        k, c = act.kin.number(self.stiffness), act.kin.number(self.damping)
        return neg(add(scale(k, turn), scale(c, w))), w

    def stored(self, s: Snapshot) -> Scalar:
        A, B, base = s.acting.ends(self.a, self.b)
        (_, sine), _ = motion_between(s.acting, A, B, base)
        angle = _angle_over_sine(A, B, sine)
        return 0.5 * s.kin.number(self.stiffness) * (angle * angle * dot(sine, sine))

    def power(self, s: Snapshot) -> Scalar:
        return dot(*self._torque(s.acting, *s.acting.ends(self.a, self.b)))


def _angle_over_sine(A: Seen, B: Seen, sine: Vec) -> Scalar:
    """Of the rotation from A to B; sine: its axis times the sine of its angle."""
    square = dot(sine, sine)
    cosine = 0.5 * (dot(A.axis(0), B.axis(0)) + dot(A.axis(1), B.axis(1)) + dot(A.axis(2), B.axis(2)) - 1.0)
    size = sqrt(maximum(square, 1e-2 * SMALL))
    small = compare("lt", square, where(compare("lt", 0.0, cosine), SMALL, 0.0))
    return where(small, 1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0)), atan2(size, cosine) / size)


class RotationSpringMethod(ForceMethod):
    """Makes springs between axes."""

    def rotation_spring(
        self, name: str, a: Side, b: Side, stiffness: Any = 0.0, damping: Any = 0.0
    ) -> RotationSpring:
        """A spring and damper between the axes of two frames, alike about every axis, such as in a ball joint.

        a, b: Frames of two bodies, or bodies; without torque where their axes coincide. stiffness: [N m/rad], by the
        angle of the rotation between them, about its axis. damping: Against the relative angular velocity [N m s/rad].
        """
        name, who = self._force_name(name)
        frames = self._two_points(who, a, b)
        k = checks.at_least_zero(f"stiffness of {who}", stiffness, self.parameters)
        c = checks.at_least_zero(f"damping of {who}", damping, self.parameters)
        return self._add_force(RotationSpring(name, *frames, k, c))


__all__ = ["RotationSpring", "RotationSpringMethod"]
