"""The elementary joint between the floating frame of a flexible member and one of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bellcrank.math.rotations import FullTurn, Turn, constant_turns, out
from bellcrank.math.tuples import UNIT, ZERO, Mat, Vec, add, dot, times
from bellcrank.model.joints.elementary import Array, Laid, Twist
from bellcrank.model.joints.free import SixSpeeds
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.frames import FrameSite, RawLink
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link


class ModalNode(SixSpeeds):
    """Moved by the modal coordinates of a member: its own speeds follow from theirs.

    The link that owns the member's modal coordinates answers for them; the others have no positions of their own.
    """

    name = "node"
    positions = 0
    modal = True

    def frame(self, site: FrameSite) -> tuple[Mat, Vec]:
        return UNIT, ZERO

    def laid(self, T: Mat, r: Vec, raw: RawLink) -> Laid:
        return Laid(r, constant_turns(T))

    def transform(
        self, kin: Kinematics, link: Link, fixed: tuple[Turn, ...], r: Vec
    ) -> tuple[tuple[Turn, ...], Vec]:
        assert link.node is not None
        pose = link.node.pose(kin.eta(link), link.inverse)
        kin.nodes[link.index] = pose
        turns = fixed if pose.straight else (*fixed, FullTurn(pose.R))
        return turns, add(r, out(fixed, pose.r))

    def bias(self, kin: Kinematics, link: Link, base: int, bias: Twist, relative: Twist) -> Twist:
        w, v = super().bias(kin, link, base, bias, relative)
        R = kin.pose(link.index, base).R
        dw, dv = kin.nodes[link.index].bias(kin.eta_rates(link))
        return add(w, times(R, dw)), add(v, times(R, dv))

    def by_modes(self, kin: Kinematics, link: Link, entries: Sequence[Scalar]) -> Iterator[Scalar]:
        """Entries of a constraint row by the modal rates, from those by the speeds of the node."""
        w, v = (entries[0], entries[1], entries[2]), (entries[3], entries[4], entries[5])
        return (dot(turn, w) + dot(shift, v) for turn, shift in kin.nodes[link.index].columns())

    def position_rates(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        return kin.eta_rates(link) if link.shape is not None else ()

    def corrected(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        if link.shape is None:
            return ()
        return [a + b for a, b in zip(kin.eta(link), kin.eta_rates(link), strict=True)]

    def start_values(self, link: Link, x: Array) -> dict[str, Any]:
        return {name: float(value) for name, value in zip(link.coordinates, x, strict=True)}

    def speed_names(self, link: Link, of_joint: Sequence[str]) -> Sequence[str]:
        return link.coordinates if link.shape is not None else ()


NODE = ModalNode()
