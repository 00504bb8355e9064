"""Coordinates that an equilibrium holds where they are, as rows over small moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.tangent import move_names
from bellcrank.errors import ModelError, unknown_name
from bellcrank.math.rotations import from_quaternion
from bellcrank.mechanics.links import Link
from bellcrank.mechanics.start import numbers, to_joint

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hold:
    """A held coordinate: a speed of the tree, or the position of a free joint along an axis of its first frame.

    unit: Of the force that holds it.
    """

    name: str
    mechanism: Mechanism
    link: Link
    speed: int
    axis: int | None = None

    @property
    def unit(self) -> str:
        """Of the force that holds it."""
        turning = self.axis is None and self.speed in self.link.turning_speeds
        return "N m" if turning else "N"

    def row(self, q: Array) -> Array:
        """Its rate over all speeds."""
        m = self.mechanism
        found = np.zeros(m.linkage.speeds)
        if self.axis is None:
            found[self.speed] = 1.0
            return found
        named, link = m.loop_state().parameters, self.link
        left = numbers(m.linkage.maps[link.index].left, named)
        R = np.array(from_quaternion(q[link.q + 3 : link.q + 7].tolist()), dtype=float)
        along = (left.T @ R)[self.axis]
        point = numbers(m.linkage.joint_frames[link.index][1].p, named)
        found[link.u : link.u + 3] = np.cross(point, along)
        found[link.u + 3 : link.u + 6] = along
        return found

    def value(self, q: Array) -> float | None:
        """Where it stands; None for small turns and shifts of whole joints, which have no coordinate."""
        link = self.link
        if self.axis is not None:
            here = q[list(link.own_positions)]
            return float(
                to_joint(self.mechanism.linkage, link, here, self.mechanism.loop_state().parameters)[
                    self.axis
                ]
            )
        return None if link.kind.has_quaternion or link.shape is not None else float(q[link.q])


def holds(mechanism: Mechanism, names: Sequence[str]) -> tuple[Hold, ...]:
    """What the names of joints, of their coordinates or of small moves hold."""
    if isinstance(names, str):
        raise ModelError(f"hold is a list of coordinates, such as hold=[{names!r}], not {names!r}")
    moves = move_names(mechanism, range(mechanism.linkage.speeds))
    known = dict(zip(moves, range(len(moves)), strict=True))
    links = {i: link for link in mechanism.linkage.links for i in link.own_speeds}
    found: list[Hold] = []
    for name in names:
        if name in known:
            found.append(Hold(name, mechanism, links[known[name]], known[name]))
            continue
        joint, _, coordinate = str(name).rpartition(".")
        own = [link for link in mechanism.linkage.links if link.joint == (joint or name)]
        if name in mechanism.system.joints:
            own = [link for link in mechanism.linkage.links if link.joint == name]
            if not own:
                raise ModelError(f"hold: joint {name!r} closes a loop here and has no coordinate of its own")
            found += [Hold(moves[i], mechanism, link, i) for link in own for i in link.own_speeds]
        elif own and own[0].kind.floats and coordinate in ("x", "y", "z"):
            if mechanism.linkage.maps[own[0].index].reverse:
                raise ModelError(
                    f"hold: joint {joint!r} runs from the moving body to the other; swap its two bodies"
                )
            found.append(Hold(str(name), mechanism, own[0], own[0].u + 3, "xyz".index(coordinate)))
        else:
            free = [
                f"{link.joint}.{c}" for link in mechanism.linkage.links if link.kind.floats for c in "xyz"
            ]
            raise unknown_name("coordinate to hold", str(name), [*mechanism.system.joints, *moves, *free])
    return tuple(found)


__all__ = ["Hold", "holds"]
