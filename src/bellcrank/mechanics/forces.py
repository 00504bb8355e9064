"""What forces do to a mechanism: the state they act in, and their loads on links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bellcrank.math.tuples import Mat, Vec, dot, mat, matmul, norm, scale, sub, vec
from bellcrank.mechanics.constraints import Marker, Seen, marker
from bellcrank.mechanics.functions import substituted
from bellcrank.mechanics.joint_coordinates import joint_coordinate, loaded_direction
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND, Linkage
from bellcrank.mechanics.loads import Loads
from bellcrank.mechanics.pressing import press
from bellcrank.model.forces import ContactForce, Force
from bellcrank.program.subprogram import Subprogram, call, part
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints import Joint

Effect: TypeAlias = Callable[[Kinematics, Scalar, Loads], None]
"""Adds the loads of one force in one state at one time."""


def effect(force: Force, linkage: Linkage) -> Effect:
    """The loads of a described force on the links of a mechanism."""
    if isinstance(force, ContactForce):
        return lambda kin, t, loads: press(force, linkage, kin, t, loads)
    return lambda kin, t, loads: force.load(Acting(linkage, kin, t), loads)


def stretch(kin: Kinematics, a: Seen, b: Seen) -> tuple[Vec, Scalar, Scalar]:
    """Unit vector from a to b, distance and its rate."""
    d = sub(b.point, a.point)
    length = norm(d)
    e = scale(1.0 / length, d)
    return e, length, dot(e, sub(b.velocity(), a.velocity()))


@dataclass(frozen=True, eq=False)
class Acting:
    """The state in which a force acts, as kinds of forces ask for it."""

    linkage: Linkage
    kin: Kinematics
    t: Scalar

    def _marker(self, frame: Frame) -> Marker:
        return marker(self.linkage.seat(frame), mat(frame.rotation), vec(frame.position))

    def place(self, frame: Frame) -> tuple[int, Vec]:
        """The link that carries a frame, and the frame's origin in the link's axes [m]."""
        found = self._marker(frame)
        return found.link, found.p

    def body_axes(self, frame: Frame) -> Mat:
        """The axes of a frame's body in those of its link."""
        r = self.linkage.seat(frame).r
        return (self.kin.vector(r[0]), self.kin.vector(r[1]), self.kin.vector(r[2]))

    def seen(self, frame: Frame, base: int) -> Seen:
        """A frame seen from a link."""
        return Seen(self.kin, self._marker(frame), base)

    def ends(self, a: Frame, b: Frame) -> tuple[Seen, Seen, int]:
        """Two frames seen from their lowest common link, and that link."""
        on_a, on_b = self._marker(a), self._marker(b)
        base = self.linkage.common(on_a.link, on_b.link)
        return Seen(self.kin, on_a, base), Seen(self.kin, on_b, base), base

    def line(self, a: Frame, b: Frame, seen_from_ground: bool = False) -> tuple[Vec, Scalar, Scalar]:
        """Unit vector from a to b, distance and its rate, seen from the lowest common link or from the ground."""
        if seen_from_ground:
            return stretch(self.kin, self.seen(a, GROUND), self.seen(b, GROUND))
        return stretch(self.kin, *self.ends(a, b)[:2])

    def coordinate(self, joint: Joint, name: str) -> tuple[Scalar, Scalar]:
        """A joint's coordinate and its rate."""
        return joint_coordinate(self.linkage, self.kin, joint, name)

    def speed(self, joint: Joint, name: str) -> int | None:
        """The number of the speed of a joint's coordinate; None where no speed is its rate."""
        link = next((k for k in self.linkage.links if k.joint == joint.name), None)
        if link is None or link.kind.floats or name in joint.measures:
            return None
        return self.linkage.coordinate(joint.name, name)[2]

    def direction(self, joint: Joint, name: str) -> tuple[int, int, int, Vec, Vec, bool]:
        """Links a and b, base, point, direction, and whether a load along a coordinate is a torque."""
        return loaded_direction(self.linkage, self.kin, joint, name)

    def carrier(self, link: int) -> int:
        """The link on which one spins; itself where it does not spin."""
        return (
            self.linkage.links[link].parent
            if link != GROUND and self.linkage.links[link].kind.spins
            else link
        )

    def floating(self, link: int) -> int:
        """The link nearest to the ground on the path there, if it is free; otherwise the ground."""
        inmost = self.linkage.path(link)[-1] if link != GROUND else GROUND
        return inmost if inmost != GROUND and self.linkage.links[inmost].kind.floats else GROUND

    def substituted(self, outputs: Sequence[Scalar], inputs: Mapping[int, Scalar]) -> list[Scalar]:
        """Outputs of a small graph with some inputs replaced; the others are parameters of the model."""
        return substituted(outputs, inputs, self.kin)

    def called(self, target: Subprogram, *args: Scalar) -> list[Scalar]:
        """What a subprogram gives, with the parameters of the model that it takes."""
        whole = call(target, *args, *(self.kin.parameter(name) for name in target.taken))
        return [part(whole, k) for k in range(target.results)]

    def point_arguments(self, function: Any, frame: Frame) -> Mapping[str, Any]:
        """The quantities a user function of a point asks for, in world axes."""
        wants = getattr(
            function, "wants", frozenset({"t", "position", "velocity", "rotation", "angular_velocity"})
        )
        seen = self.seen(frame, GROUND)
        found: dict[str, Any] = {}
        if "t" in wants:
            found["t"] = self.t
        if "position" in wants:
            found["position"] = seen.point
        if "velocity" in wants:
            found["velocity"] = seen.velocity()
        if "rotation" in wants:
            found["rotation"] = matmul(self.kin.pose(seen.link, GROUND).R, self.body_axes(frame))
        if "angular_velocity" in wants:
            found["angular_velocity"] = self.kin.motion(seen.link, GROUND).w
        return found
