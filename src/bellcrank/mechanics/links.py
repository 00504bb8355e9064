"""Links: one elementary joint each, and what it moves; how they hang together in a linkage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bellcrank.errors import ModelError
from bellcrank.math.rotations import Turn
from bellcrank.math.tuples import ZERO, Mat, Vec
from bellcrank.mechanics.flexible import MemberShape, NodePlace
from bellcrank.mechanics.inertia import Inertia

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints.elementary import Elementary
    from bellcrank.program.graph import Graph
    from bellcrank.program.trace import Expr, Scalar

GROUND = -1


@dataclass(frozen=True, eq=False)
class Armature:
    """Inertia of a link's motion against its parent: J |w|^2 / 2 + m |v|^2 / 2, v that of the point `at`."""

    J: Scalar = 0.0
    m: Scalar = 0.0
    at: Vec = ZERO

    def __add__(self, other: Armature) -> Armature:
        return Armature(self.J + other.J, self.m + other.m, self.at)


@dataclass(frozen=True, eq=False)
class Link:
    """One elementary joint and what it moves.

    `turns` lead from the parent's axes to the joint's, `r` is the origin in the parent's axes (at zero
    displacement), `axis` the direction of a prismatic joint in the parent's axes. `q` and `u` are the
    first of its positions and speeds. `offset` is added to the angle.

    Flexible members: the link that carries the floating frame holds the member's `shape` and owns `modes` modal
    coordinates from `eta_q` and `eta_u` on; node links know theirs by the same numbers. `inverse` leads from the
    node to the floating frame. `armature`: Inertia of its own motion, if any.
    """

    index: int
    name: str
    parent: int
    kind: Elementary
    turns: tuple[Turn, ...]
    r: Vec
    axis: Vec
    offset: float
    q: int
    u: int
    inertia: Inertia
    joint: str
    coordinates: tuple[str, ...]
    shape: MemberShape | None = None
    node: NodePlace | None = None
    inverse: bool = False
    eta_q: int = 0
    eta_u: int = 0
    modes: int = 0
    armature: Armature | None = None

    @property
    def own_speeds(self) -> range:
        """The speeds of the tree that belong to this link: of its joint, or the modal rates it owns."""
        if not self.kind.modal:
            return range(self.u, self.u + self.kind.speeds)
        return range(self.eta_u, self.eta_u + self.modes) if self.shape is not None else range(0)

    @property
    def sliding_speeds(self) -> list[int]:
        """The speeds of its joint that are lengths in time."""
        if self.kind.modal:
            return []
        return [self.u + k for k, turning in enumerate(self.kind.turning) if not turning]

    @property
    def turning_speeds(self) -> list[int]:
        """The speeds of its joint that are angular."""
        if self.kind.modal:
            return []
        return [self.u + k for k, turning in enumerate(self.kind.turning) if turning]

    @property
    def quaternion(self) -> int | None:
        """The first of the four positions that are its quaternion; None without one."""
        return self.q + self.kind.positions - 4 if self.kind.has_quaternion else None

    @property
    def own_positions(self) -> range:
        """The positions that belong to this link."""
        if not self.kind.modal:
            return range(self.q, self.q + self.kind.positions)
        return range(self.eta_q, self.eta_q + self.modes) if self.shape is not None else range(0)


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a body's own frame stands on its link: columns of `r` are its axes, `p` its origin."""

    link: int
    r: Mat
    p: Vec


@dataclass(frozen=True, eq=False)
class QuaternionMap:
    """R_link = left R_joint right (R_joint transposed where the tree runs against the joint)."""

    left: Mat
    right: Mat
    reverse: bool


@dataclass(frozen=True, eq=False)
class Linkage:
    """All links of a mechanism, parents first, and where bodies and coordinates are found on them.

    speeds: those of the tree, modal rates included. shadows: speeds of nodes, numbered after them, which follow
    from the modal rates. owners: for each node link the link that owns its modal coordinates. nodes: placements of
    the nodes of flexible members, by body and node name. states: first-order states; their values stand behind the
    positions of the links and count as positions, but no speed belongs to them. unit: a length [m]; speeds are held
    against angular speeds, where pivots are chosen, by the way they make in the time of one radian.
    """

    links: tuple[Link, ...]
    placements: Mapping[str, Placement]
    positions: int
    speeds: int
    gravity: Vec
    maps: Mapping[int, QuaternionMap]
    joint_frames: Mapping[int, tuple[Placement, Placement]] = field(default_factory=dict)
    shadows: int = 0
    owners: Mapping[int, int] = field(default_factory=dict)
    nodes: Mapping[tuple[str, str], Placement] = field(default_factory=dict)
    states: tuple[str, ...] = ()
    unit: float = 1.0

    @property
    def has_quaternions(self) -> bool:
        """Whether any link has a quaternion to be kept unit."""
        return any(link.kind.has_quaternion for link in self.links)

    @property
    def position_names(self) -> tuple[str, ...]:
        """What the positions are called, no two alike."""
        found = []
        for link in self.links:
            count = len(link.own_positions)
            found += [
                f"mode {i + 1} of {link.name}" if link.kind.modal else f"position {i} of {link.name}"
                for i in range(count)
            ]
        return (*found, *(f"state {name}" for name in self.states))

    def position_inputs(self, graph: Graph) -> list[Expr]:
        """Inputs of a trace for all positions; those of states go by their names, as expressions know them."""
        own = self.positions - len(self.states)
        return [*(graph.input(f"q.{i}") for i in range(own)), *(graph.input(name) for name in self.states)]

    @property
    def speed_units(self) -> tuple[float, ...]:
        """What each speed of the tree counts by when it is held against others: `unit` or one."""
        found = [1.0] * self.speeds
        for link in self.links:
            for k in link.sliding_speeds:
                found[k] = self.unit
        return tuple(found)

    @property
    def all_speeds(self) -> int:
        """Speeds of the tree and of the nodes."""
        return self.speeds + self.shadows

    def seat(self, frame: Frame) -> Placement:
        """Where a frame's body stands on its link; on a flexible member, where the frame's node does."""
        if frame.body.member is None:
            return self.placements[frame.body.name]
        return self.nodes[frame.body.name, frame_node(frame).name]

    def owning(self, links: Iterable[int]) -> frozenset[int]:
        """The links whose speeds move the given ones: nodes by the owner of their modal coordinates."""
        return frozenset(self.owners.get(k, k) for k in links)

    def path(self, link: int, base: int = GROUND) -> list[int]:
        """The links from `link` inwards, `base` left out."""
        found = []
        while link != base:
            found.append(link)
            link = self.links[link].parent
        return found

    def common(self, a: int, b: int) -> int:
        """The lowest common link of two; links are numbered outwards, so the larger steps in."""
        while a != b:
            if a > b:
                a = self.links[a].parent
            else:
                b = self.links[b].parent
        return a

    def coordinate(self, joint: str, name: str) -> tuple[Link, int, int]:
        """The link, position index and speed index of a joint's coordinate (one-speed joints only)."""
        for link in self.links:
            if link.joint == joint and name in link.coordinates:
                return link, link.q, link.u
        raise KeyError((joint, name))


def frame_node(frame: Frame) -> Any:
    """The node of a flexible body that a frame sits on: the one it is called after, or the one at its place."""
    member = frame.body.member
    assert member is not None
    where = node_position(frame)
    if frame.name:
        with suppress(ModelError):
            named = member.node(frame.name)
            if tuple(named.position) == where:
                return named
    return member.node(where)


def node_position(frame: Frame) -> tuple[float, float, float]:
    """Where a frame of a flexible body sits, in plain numbers [m]."""
    x, y, z = frame.position
    if not (isinstance(x, float) and isinstance(y, float) and isinstance(z, float)):
        raise ModelError(
            f"a point of the flexible body {frame.body.name!r} holds parameters; use one of its nodes instead"
        )
    return (x, y, z)
