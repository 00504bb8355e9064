"""From bodies and tree joints to links: one elementary joint each, in frames laid for few operations.

A joint becomes a chain of elementary joints (revolute, prismatic, screw, ball, free), each moving one
link; the last link carries the body, those before are massless. Bodies on fixed joints ride on their
parent's link. Each link has a frame of its own:

- revolute and screw: z along the axis, x along the common normal to the next axis, so that the constant
  rotation to the next link is about x alone (Denavit and Hartenberg's choice);
- prismatic: the axes of the parent, so that nothing turns; origin in the centre of mass;
- ball: z along the next axis; free: the axes of the body, origin in the centre of mass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from bellcrank.errors import ModelError
from bellcrank.mechanics.flexible import NodeShape, Shape
from bellcrank.mechanics.inertia import NOTHING, Inertia, from_body
from bellcrank.mechanics.rotations import (
    AxisTurn,
    FullTurn,
    Turn,
    constant_turns,
    perpendicular_frame,
    snapped,
    zxz_angles,
)
from bellcrank.mechanics.vectors import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    column,
    cross,
    mat,
    matmul,
    neg,
    sub,
    times,
    transpose,
    transposed_times,
    vec,
)
from bellcrank.model.joints import JointKind
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.member import Member, Node
    from bellcrank.model.bodies import Body
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints import Joint
    from bellcrank.model.system import System
    from bellcrank.topology.tree import Tree

GROUND = -1


class LinkKind(Enum):
    """The elementary joints."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    SCREW = "screw"
    BALL = "ball"
    FREE = "free"
    NODE = "node"
    """Between a flexible member's floating frame and one of its nodes: moved by the modal coordinates."""

    @property
    def positions(self) -> int:
        """How many numbers of its own tell where it stands."""
        return {LinkKind.BALL: 4, LinkKind.FREE: 7, LinkKind.NODE: 0}.get(self, 1)

    @property
    def speeds(self) -> int:
        """How many numbers tell how it moves; those of a node follow from the modal rates."""
        return {LinkKind.BALL: 3, LinkKind.FREE: 6, LinkKind.NODE: 6}.get(self, 1)


@dataclass(frozen=True, eq=False)
class Link:
    """One elementary joint and what it moves.

    `turns` lead from the parent's axes to the joint's, `r` is the origin in the parent's axes (at zero
    displacement), `axis` the direction of a prismatic joint in the parent's axes. `q` and `u` are the
    first of its positions and speeds. `offset` is added to the angle.

    Flexible members: the link that carries the floating frame holds the member's `shape` and owns `modes` modal
    coordinates from `eta_q` and `eta_u` on; node links know theirs by the same numbers. `inverse` leads from the
    node to the floating frame.
    """

    index: int
    name: str
    parent: int
    kind: LinkKind
    turns: tuple[Turn, ...]
    r: Vec
    axis: Vec
    offset: float
    pitch: Scalar
    q: int
    u: int
    inertia: Inertia
    joint: str
    coordinates: tuple[str, ...]
    shape: Shape | None = None
    node: NodeShape | None = None
    inverse: bool = False
    eta_q: int = 0
    eta_u: int = 0
    modes: int = 0

    @property
    def own_speeds(self) -> range:
        """The speeds of the tree that belong to this link: of its joint, or the modal rates it owns."""
        if self.kind is not LinkKind.NODE:
            return range(self.u, self.u + self.kind.speeds)
        return range(self.eta_u, self.eta_u + self.modes) if self.shape is not None else range(0)

    @property
    def own_positions(self) -> range:
        """The positions that belong to this link."""
        if self.kind is not LinkKind.NODE:
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
    the nodes of flexible members, by body and node name.
    """

    links: tuple[Link, ...]
    placements: Mapping[str, Placement]
    positions: int
    speeds: int
    gravity: Vec
    maps: Mapping[int, QuaternionMap]
    free_frames: Mapping[int, tuple[Placement, Placement]] = field(default_factory=dict)
    shadows: int = 0
    owners: Mapping[int, int] = field(default_factory=dict)
    nodes: Mapping[tuple[str, str], Placement] = field(default_factory=dict)

    @property
    def all_speeds(self) -> int:
        """Speeds of the tree and of the nodes."""
        return self.speeds + self.shadows

    def seat(self, frame: Frame) -> Placement:
        """Where a frame's body stands on its link; on a flexible member, where the frame's node does."""
        member = frame.body.member
        if member is None:
            return self.placements[frame.body.name]
        return self.nodes[frame.body.name, member.node(_position(frame)).name]

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


@dataclass
class _Raw:
    """A link before its frame is chosen: the joint's own frame, z along the axis."""

    name: str
    parent: int
    kind: LinkKind
    R: Mat
    r: Vec
    pitch: Scalar
    joint: Joint
    coordinates: tuple[str, ...]
    reverse: bool
    node: Node | None = None
    member: Member | None = None
    G: Mat = UNIT
    s: Vec = ZERO


_FLIP: Mat = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
_X_TO_Z: Mat = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
_Y_TO_Z: Mat = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
_Y_QUARTER: Mat = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))

_Step = tuple[LinkKind, tuple[str, ...]] | Mat


def _steps(joint: Joint) -> list[_Step]:
    """The elementary joints between frame a and frame b; matrices are constant rotations between."""
    kind = joint.kind
    names = joint.coordinates
    revolute, prismatic = LinkKind.REVOLUTE, LinkKind.PRISMATIC
    if kind is JointKind.FIXED:
        return []
    if kind is JointKind.REVOLUTE:
        return [(revolute, names)]
    if kind is JointKind.PRISMATIC:
        return [(prismatic, names)]
    if kind is JointKind.CYLINDRICAL:
        return [(prismatic, names[1:]), (revolute, names[:1])]
    if kind is JointKind.SCREW:
        return [(LinkKind.SCREW, names)]
    if kind is JointKind.UNIVERSAL:
        return [(revolute, names[:1]), _Y_QUARTER, (revolute, names[1:])]
    if kind is JointKind.PLANAR:
        x_axis: list[_Step] = [_X_TO_Z, (prismatic, names[:1]), transpose(_X_TO_Z)]
        y_axis: list[_Step] = [_Y_TO_Z, (prismatic, names[1:2]), transpose(_Y_TO_Z)]
        return [*x_axis, *y_axis, (revolute, names[2:])]
    if kind is JointKind.SPHERICAL:
        return [(LinkKind.BALL, names)]
    if kind is JointKind.FREE:
        return [(LinkKind.FREE, names)]
    raise ValueError(f"joint {joint.name!r}: no mechanics for a {kind.name.lower()} joint in the tree")


def _directed_steps(joint: Joint, reverse: bool) -> list[_Step]:
    """The steps from the parent's frame to the child's; backwards, every axis points the other way."""
    steps = _steps(joint)
    if not reverse:
        return steps
    backwards: list[_Step] = []
    for step in reversed(steps):
        if isinstance(step[0], LinkKind):
            whole = step[0] in (LinkKind.BALL, LinkKind.FREE)
            backwards += [step] if whole else [_FLIP, step, _FLIP]
        else:
            backwards.append(transpose(step))  # type: ignore[arg-type]
    return backwards


def _position(frame: Frame) -> tuple[float, float, float]:
    x, y, z = frame.position
    if not _numeric(x, y, z):
        raise ModelError(
            f"a point of the flexible body {frame.body.name!r} holds parameters; use one of its nodes instead"
        )
    return (float(x), float(y), float(z))  # type: ignore[arg-type]


class _Nodes:
    """The node links of flexible members, made when first asked for."""

    def __init__(self, raws: list[_Raw]) -> None:
        self.raws = raws
        self.frames: dict[str, int] = {}
        self.found: dict[tuple[str, str], int] = {}

    def seat(self, frame: Frame, joint: Joint) -> tuple[int, Mat, Vec]:
        """Link, axes and place of a flexible body seen from the link of a frame's node."""
        member = frame.body.member
        assert member is not None
        node = member.node(_position(frame))
        key = (frame.body.name, node.name)
        if key not in self.found:
            owner = self.frames[frame.body.name]
            name = f"{frame.body.name}({node.name})"
            self.raws.append(
                _Raw(name, owner, LinkKind.NODE, UNIT, ZERO, 0.0, joint, (), False, node, member)
            )
            self.found[key] = len(self.raws) - 1
        s0 = _vector(node.position)
        return self.found[key], UNIT, neg(s0)

    def hang(self, frame: Frame, joint: Joint, link: int, R: Mat, r: Vec) -> int:
        """The floating frame of a member that hangs on one of its nodes."""
        member = frame.body.member
        assert member is not None
        node = member.node(_position(frame))
        # R, r lead to the body's axes with the body's origin at r; the node stands at r + R s0.
        at = add(r, times(R, _vector(node.position)))
        self.raws.append(
            _Raw(frame.body.name, link, LinkKind.NODE, _exact(R), at, 0.0, joint, (), True, node, member)
        )
        self.frames[frame.body.name] = len(self.raws) - 1
        return len(self.raws) - 1


def _vector(a: Any) -> Vec:
    return (float(a[0]), float(a[1]), float(a[2]))


def lower(system: System, tree: Tree) -> Linkage:
    """The links of a system along its spanning tree."""
    raws: list[_Raw] = []
    nodes = _Nodes(raws)
    seats: dict[str, tuple[int, Mat, Vec]] = {"ground": (GROUND, UNIT, ZERO)}
    for branch in tree.links:
        reverse = not branch.forward
        parent_frame, child_frame = _frames(branch.joint, reverse)
        if branch.parent.member is None:
            link, R_p, p_p = seats[branch.parent.name]
        else:
            link, R_p, p_p = nodes.seat(parent_frame, branch.joint)
        R = matmul(R_p, mat(parent_frame.rotation))
        r = add(p_p, times(R_p, vec(parent_frame.position)))
        steps = _directed_steps(branch.joint, reverse)
        movers = [k for k, s in enumerate(steps) if isinstance(s[0], LinkKind)]
        for k, step in enumerate(steps):
            if not isinstance(step[0], LinkKind):
                R = matmul(R, step)  # type: ignore[arg-type]
                continue
            kind, names = step
            last = k == movers[-1]
            name = branch.body.name if last else f"{branch.body.name}({', '.join(names)})"  # type: ignore[arg-type]
            raws.append(_Raw(name, link, kind, _exact(R), r, branch.joint.pitch, branch.joint,
                             names, reverse))  # type: ignore[arg-type]  # fmt: skip
            link, R, r = len(raws) - 1, UNIT, ZERO
        R_b = _exact(matmul(R, transpose(mat(child_frame.rotation))))
        origin = sub(r, times(R_b, vec(child_frame.position)))
        if branch.body.member is None:
            seats[branch.body.name] = (link, R_b, origin)
        else:
            seats[branch.body.name] = (nodes.hang(child_frame, branch.joint, link, R_b, origin), UNIT, ZERO)
    for frame, joint in _loose_frames(system, tree):
        if frame.body.member is not None:
            nodes.seat(frame, joint)
    _choose_frames(raws, seats, system)
    return _build(raws, seats, system, nodes)


def _loose_frames(system: System, tree: Tree) -> Iterator[tuple[Frame, Joint]]:
    """Frames used by cut joints, forces and drivers, with a joint to name their links after."""
    any_joint = tree.links[0].joint
    for joint in tree.cuts:
        yield joint.a, joint
        yield joint.b, joint
    for force in system.forces.values():
        for key in ("a", "b", "frame"):
            if hasattr(force, key):
                yield getattr(force, key), any_joint
    for driver in system.drivers.values():
        if hasattr(driver.target, "frame"):
            yield driver.target.frame, any_joint


def _frames(joint: Joint, reverse: bool) -> tuple[Frame, Frame]:
    return (joint.b, joint.a) if reverse else (joint.a, joint.b)


def _numeric(*values: Scalar) -> bool:
    return all(isinstance(v, float | int) for v in values)


def _flat(m: Mat) -> Iterator[Scalar]:
    return (x for row in m for x in row)


def _exact(m: Mat) -> Mat:
    return snapped(m) if _numeric(*_flat(m)) else m


def _choose_frames(raws: list[_Raw], seats: Mapping[str, tuple[int, Mat, Vec]], system: System) -> None:
    """Turn (G) and shift (s) each link's frame from its joint frame for the fewest operations."""
    children: list[list[int]] = [[] for _ in raws]
    riders: list[list[Body]] = [[] for _ in raws]
    for k, raw in enumerate(raws):
        if raw.parent >= 0:
            children[raw.parent].append(k)
    for body in system.bodies.values():
        link = seats[body.name][0]
        if link >= 0:
            riders[link].append(body)
    for k, raw in enumerate(raws):
        center = _center_of_mass(riders[k], seats)
        if raw.kind in (LinkKind.REVOLUTE, LinkKind.SCREW):
            raw.G = _along_common_normal(raw, [raws[c] for c in children[k]], raws)
            raw.s = _level_with_next([raws[c] for c in children[k]])
        elif raw.kind is LinkKind.PRISMATIC:
            parent_axes = raws[raw.parent].G if raw.parent >= 0 else UNIT
            raw.G = _exact(matmul(transpose(raw.R), parent_axes))
            raw.s = center or ZERO
        elif raw.kind is LinkKind.BALL:
            raw.G = _along_children([raws[c] for c in children[k]], center)
        elif raw.kind is LinkKind.FREE and riders[k]:
            body = riders[k][0]
            raw.G = seats[body.name][1] if _numeric(*_flat(seats[body.name][1])) else UNIT
            raw.s = center or ZERO


def _center_of_mass(bodies: Sequence[Body], seats: Mapping[str, tuple[int, Mat, Vec]]) -> Vec | None:
    """The common centre of mass in the joint frame where it is a plain number, else None."""
    total, moment = 0.0, [0.0, 0.0, 0.0]
    for body in bodies:
        _, R, p = seats[body.name]
        if not _numeric(body.mass, *body.center_of_mass, *p, *_flat(R)):
            return None
        c = add(p, times(R, vec(body.center_of_mass)))
        total += float(body.mass)  # type: ignore[arg-type]
        moment = [m + float(body.mass) * float(x) for m, x in zip(moment, c, strict=True)]  # type: ignore[arg-type]
    return (moment[0] / total, moment[1] / total, moment[2] / total) if total > 0.0 else None


def _along_common_normal(raw: _Raw, children: Sequence[_Raw], raws: Sequence[_Raw]) -> Mat:
    """Rz(phi): x perpendicular to the next axis, or towards the next joint where axes are parallel."""
    for child in children:
        if not _numeric(*_flat(child.R)) or child.kind in (LinkKind.BALL, LinkKind.FREE):
            continue
        z = column(child.R, 2)
        sine = math.hypot(float(z[0]), float(z[1]))  # type: ignore[arg-type]
        if sine > 1e-9:
            return _exact(transpose(_spin(-float(z[1]) / sine, float(z[0]) / sine)))  # type: ignore[arg-type]
    for child in children:
        if _numeric(*child.r):
            x, y = float(child.r[0]), float(child.r[1])  # type: ignore[arg-type]
            length = math.hypot(x, y)
            if length > 1e-12:
                return _exact(transpose(_spin(x / length, y / length)))
    if not _numeric(*_flat(raw.R)):
        return UNIT
    parent_axes = raws[raw.parent].G if raw.parent >= 0 else UNIT
    _, _, delta = zxz_angles(matmul(transpose(parent_axes), raw.R))  # type: ignore[arg-type]
    return _exact(transpose(_spin(math.cos(delta), -math.sin(delta))))


def _level_with_next(children: Sequence[_Raw]) -> Vec:
    """The origin may lie anywhere on the axis: level with the next joint, one offset is zero."""
    for child in children:
        if _numeric(*child.r):
            return (0.0, 0.0, child.r[2])
    return ZERO


def _spin(c: float, s: float) -> Mat:
    """Rz^T of the angle with cosine c and sine s."""
    return ((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0))


def _along_children(children: Sequence[_Raw], center: Vec | None) -> Mat:
    """z along the first next axis, x perpendicular to the second; a leaf looks at its centre of mass."""
    axes = [column(c.R, 2) for c in children if c.kind is not LinkKind.BALL and _numeric(*_flat(c.R))]
    if axes:
        first = axes[0]
        for other in axes[1:]:
            normal = cross(first, other)
            size = math.sqrt(sum(float(x) ** 2 for x in normal))  # type: ignore[arg-type]
            if size > 1e-6:
                x = [float(a) / size for a in normal]  # type: ignore[arg-type]
                return _exact(perpendicular_frame(_floats(first), x))
        return _exact(perpendicular_frame(_floats(first)))
    if center is not None:
        size = math.sqrt(sum(float(x) ** 2 for x in center))  # type: ignore[arg-type]
        if size > 1e-9:
            return _exact(perpendicular_frame([float(x) / size for x in center]))  # type: ignore[arg-type]
    return UNIT


def _floats(v: Vec) -> list[float]:
    return [float(x) for x in v]  # type: ignore[arg-type]


def _build(
    raws: Sequence[_Raw], seats: Mapping[str, tuple[int, Mat, Vec]], system: System, nodes: _Nodes
) -> Linkage:
    placements: dict[str, Placement] = {}
    for name, (link, R, p) in seats.items():
        if link == GROUND:
            placements[name] = Placement(link, R, p)
        else:
            G, s = raws[link].G, raws[link].s
            placements[name] = Placement(
                link, _exact(matmul(transpose(G), R)), transposed_times(G, sub(p, s))
            )
    own = [NOTHING] * len(raws)
    for body in system.bodies.values():
        seat = placements[body.name]
        if seat.link != GROUND and body.member is None:
            about_own = from_body(body.mass, vec(body.center_of_mass), mat(body.inertia))
            own[seat.link] = own[seat.link] + about_own.moved(constant_turns(seat.r), seat.p)
    links: list[Link] = []
    maps: dict[int, QuaternionMap] = {}
    free_frames: dict[int, tuple[Placement, Placement]] = {}
    q = u = 0
    eta: dict[str, tuple[int, int]] = {}
    for k, raw in enumerate(raws):
        G_p, s_p = (raws[raw.parent].G, raws[raw.parent].s) if raw.parent >= 0 else (UNIT, ZERO)
        T = _exact(matmul(transpose(G_p), raw.R))
        r = transposed_times(G_p, sub(raw.r, s_p))
        turns: tuple[Turn, ...] = ()
        offset, axis = 0.0, ZERO
        first_u = u
        if raw.kind in (LinkKind.REVOLUTE, LinkKind.SCREW):
            turns, offset = _turns_and_offset(T, raw.G)
            r = add(r, times(T, raw.s))
        elif raw.kind is LinkKind.PRISMATIC:
            axis = column(T, 2)
            r = add(r, times(T, raw.s))
        elif raw.kind is LinkKind.BALL:
            maps[k] = QuaternionMap(T, raw.G, raw.reverse)
        elif raw.kind is LinkKind.FREE:
            maps[k] = QuaternionMap(T, raw.G, raw.reverse)
            on_parent = Placement(raw.parent, T, r)
            on_link = Placement(k, _exact(transpose(raw.G)), neg(transposed_times(raw.G, raw.s)))
            free_frames[k] = (on_parent, on_link)
        else:
            turns = constant_turns(T)
            first_u = -1
        link = Link(k, raw.name, raw.parent, raw.kind, turns, r, axis, offset, raw.pitch,
                    q, first_u, own[k], raw.joint.name, raw.coordinates)  # fmt: skip
        if raw.member is not None and raw.node is not None:
            if raw.reverse:
                eta[raw.name] = (q, u)
                q, u = q + raw.member.modes, u + raw.member.modes
            body = raw.name if raw.reverse else raws[raw.parent].name
            link = replace(
                link,
                node=NodeShape.of(raw.node),
                inverse=raw.reverse,
                shape=Shape.of(raw.member) if raw.reverse else None,
                modes=raw.member.modes,
                joint="",
                eta_q=eta[body][0],
                eta_u=eta[body][1],
            )
        else:
            q += raw.kind.positions
            u += raw.kind.speeds
        links.append(link)
    shadows = 0
    owners: dict[int, int] = {}
    for k, link in enumerate(links):
        if link.kind is LinkKind.NODE:
            links[k] = replace(link, u=u + shadows)
            shadows += link.kind.speeds
            owners[k] = k if link.shape is not None else link.parent
    at_nodes = {
        key: Placement(k, UNIT, neg(links[k].node.s0))  # type: ignore[union-attr]
        for key, k in nodes.found.items()
    }
    return Linkage(
        tuple(links), placements, q, u, vec(system.gravity), maps, free_frames, shadows, owners, at_nodes
    )


def _turns_and_offset(T: Mat, G: Mat) -> tuple[tuple[Turn, ...], float]:
    """Constant turns about z and x, and the rest about z as an offset of the angle."""
    if not _numeric(*_flat(T)):
        return (FullTurn(T),), 0.0
    beta, alpha, delta = zxz_angles(T)  # type: ignore[arg-type]
    phi = math.atan2(float(G[1][0]), float(G[0][0]))  # type: ignore[arg-type]
    fixed = (AxisTurn(2, math.cos(beta), math.sin(beta)), AxisTurn(0, math.cos(alpha), math.sin(alpha)))
    turns = []
    for turn in fixed:
        c, s = (snapped(((float(turn.c), float(turn.s), 0.0),) * 3))[0][:2]  # type: ignore[arg-type]
        if not (c == 1.0 and s == 0.0):
            turns.append(AxisTurn(turn.axis, c, s))
    offset = math.remainder(delta + phi, 2.0 * math.pi)
    return tuple(turns), 0.0 if abs(offset) < 1e-15 else offset
