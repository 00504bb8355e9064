"""From bodies and tree joints to links.

A joint becomes a chain of elementary joints (revolute, prismatic, screw, ball, free), each moving one
link; the last link carries the body, those before are massless. Bodies on fixed joints ride on their
parent's link. A flexible body hangs on one of its nodes, and every node in use is a link of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bellcrank.math.rotations import (
    constant_turns,
)
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    mat,
    matmul,
    neg,
    settled,
    sub,
    times,
    transpose,
    transposed_times,
    vec,
)
from bellcrank.mechanics.flexible import MemberShape, NodePlace
from bellcrank.mechanics.frames import RawLink, choose_frames, exact
from bellcrank.mechanics.inertia import NOTHING, from_body
from bellcrank.mechanics.links import (
    GROUND,
    Armature,
    Link,
    Linkage,
    Placement,
    QuaternionMap,
    frame_node,
)
from bellcrank.mechanics.members import member_parts
from bellcrank.mechanics.node import NODE
from bellcrank.model.forces.armature import Armature as ForceArmature
from bellcrank.model.joints.elementary import Elementary
from bellcrank.model.joints.prismatic import SLIDE

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints import Joint
    from bellcrank.model.joints.joint import Step
    from bellcrank.model.system import System
    from bellcrank.topology.tree import Tree

_FLIP: Mat = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))


def _directed_steps(joint: Joint, reverse: bool) -> list[Step]:
    """The steps from the parent's frame to the child's; backwards, every axis is reversed."""
    steps = joint.chain()
    if not reverse:
        return steps
    backwards: list[Step] = []
    for step in reversed(steps):
        if isinstance(step[0], Elementary):
            whole = step[0].has_quaternion
            backwards += [step] if whole else [_FLIP, step, _FLIP]
        else:
            backwards.append(transpose(step))
    return backwards


class _Nodes:
    """The node links of flexible members, made when first asked for."""

    def __init__(self, raws: list[RawLink]) -> None:
        self.raws = raws
        self.frames: dict[str, int] = {}
        self.found: dict[tuple[str, str], int] = {}

    def seat(self, frame: Frame, joint: Joint) -> tuple[int, Mat, Vec]:
        """Link, axes and place of a flexible body seen from the link of a frame's node."""
        member = frame.body.member
        assert member is not None
        node = frame_node(frame)
        key = (frame.body.name, node.name)
        if key not in self.found:
            owner = self.frames[frame.body.name]
            name = f"{frame.body.name}({node.name})"
            self.raws.append(RawLink(name, owner, NODE, UNIT, ZERO, joint, (), False, node, member))
            self.found[key] = len(self.raws) - 1
        s0 = _vector(node.position)
        return self.found[key], UNIT, neg(s0)

    def hang(self, frame: Frame, joint: Joint, link: int, R: Mat, r: Vec) -> int:
        """The floating frame of a member that hangs on one of its nodes."""
        member = frame.body.member
        assert member is not None
        node = frame_node(frame)
        # R, r lead to the body's axes with the body's origin at r; the node stands at r + R s0.
        at = add(r, times(R, _vector(node.position)))
        self.raws.append(RawLink(frame.body.name, link, NODE, exact(R), at, joint, (), True, node, member))
        self.frames[frame.body.name] = len(self.raws) - 1
        return len(self.raws) - 1


def _vector(a: Any) -> Vec:
    return (float(a[0]), float(a[1]), float(a[2]))


def lower(system: System, tree: Tree) -> Linkage:
    """The links of a system along its spanning tree."""
    raws: list[RawLink] = []
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
        movers = [k for k, s in enumerate(steps) if isinstance(s[0], Elementary)]
        for k, step in enumerate(steps):
            if not isinstance(step[0], Elementary):
                R = matmul(R, step)
                continue
            kind, names = step
            last = k == movers[-1]
            name = branch.body.name if last else f"{branch.body.name}({', '.join(names)})"
            raws.append(RawLink(name, link, kind, exact(R), r, branch.joint, names, reverse))
            link, R, r = len(raws) - 1, UNIT, ZERO
        R_b = exact(matmul(R, transpose(mat(child_frame.rotation))))
        origin = sub(r, times(R_b, vec(child_frame.position)))
        if branch.body.member is None:
            seats[branch.body.name] = (link, R_b, origin)
        else:
            seats[branch.body.name] = (nodes.hang(child_frame, branch.joint, link, R_b, origin), UNIT, ZERO)
    for frame, joint in _loose_frames(system, tree):
        if frame.body.member is not None:
            nodes.seat(frame, joint)
    for constraint in system.constraints.values():
        for unknown in constraint.unknowns():
            name = f"{constraint.name}.{unknown.name}"
            raws.append(RawLink(name, GROUND, SLIDE, UNIT, ZERO, constraint, (unknown.name,), False))
    choose_frames(raws, seats, system)
    return _build(raws, seats, system, nodes)


def _loose_frames(system: System, tree: Tree) -> Iterator[tuple[Frame, Joint]]:
    """Frames used by joints, constraints, forces and drivers, with a joint to name their links after."""
    any_joint = tree.links[0].joint
    for joint in system.joints.values():
        yield joint.a, joint
        yield joint.b, joint
    for force in system.forces.values():
        for frame in force.frames:
            yield frame, any_joint
    for constraint in system.constraints.values():
        for frame in constraint.frames:
            yield frame, any_joint
    for contact in system.contacts.values():
        yield contact.a.frame, any_joint
        yield contact.b.frame, any_joint
    for group in system.collisions.values():
        for side in group.shapes:
            yield side.frame, any_joint
    for driver in system.drivers.values():
        if hasattr(driver.target, "frame"):
            yield driver.target.frame, any_joint


def _frames(joint: Joint, reverse: bool) -> tuple[Frame, Frame]:
    return (joint.b, joint.a) if reverse else (joint.a, joint.b)


def _members(raws: Sequence[RawLink]) -> dict[str, tuple[MemberShape, Mapping[str, NodePlace]]]:
    """For each flexible body its member, and the nodes of it that are in use."""
    used: dict[str, tuple[FlexibleMember, dict[str, Any]]] = {}
    for raw in raws:
        if raw.member is not None and raw.node is not None:
            carrier = raw.name if raw.reverse else raws[raw.parent].name
            used.setdefault(carrier, (raw.member, {}))[1][raw.node.name] = raw.node
    return {name: member_parts(member, nodes.values()) for name, (member, nodes) in used.items()}


def _armature(system: System, link: Link, at: Vec) -> Armature | None:
    """What the armatures of a link's joint give to its coordinates; at: the point of the joint on the link."""
    total = None
    for force in system.forces.values():
        if not isinstance(force, ForceArmature) or force.joint.name != link.joint:
            continue
        if force.coordinate is None or force.coordinate in link.coordinates:
            J = force.inertia if any(link.kind.turning) else 0.0
            m = force.mass if not all(link.kind.turning) else 0.0
            total = Armature(J, m, at) + (total or Armature())
    return total


def _build(
    raws: Sequence[RawLink], seats: Mapping[str, tuple[int, Mat, Vec]], system: System, nodes: _Nodes
) -> Linkage:
    placements: dict[str, Placement] = {}
    for name, (number, R, p) in seats.items():
        if number == GROUND:
            placements[name] = Placement(number, R, p)
        else:
            G, s = raws[number].G, raws[number].s
            placements[name] = Placement(
                number, exact(matmul(transpose(G), R)), settled(transposed_times(G, sub(p, s)), p, s)
            )
    own = [NOTHING] * len(raws)
    for body in system.bodies.values():
        seat = placements[body.name]
        if seat.link != GROUND and body.member is None:
            about_own = from_body(body.mass, vec(body.center_of_mass), mat(body.inertia))
            own[seat.link] = own[seat.link] + about_own.moved(constant_turns(seat.r), seat.p)
    links: list[Link] = []
    maps: dict[int, QuaternionMap] = {}
    joint_frames: dict[int, tuple[Placement, Placement]] = {}
    members = _members(raws)
    q = u = 0
    eta: dict[str, tuple[int, int]] = {}
    for k, raw in enumerate(raws):
        G_p, s_p = (raws[raw.parent].G, raws[raw.parent].s) if raw.parent >= 0 else (UNIT, ZERO)
        T = exact(matmul(transpose(G_p), raw.R))
        r = settled(transposed_times(G_p, sub(raw.r, s_p)), raw.r, s_p)
        laid = raw.kind.laid(T, r, raw)
        if raw.kind.has_quaternion:
            maps[k] = QuaternionMap(T, raw.G, raw.reverse)
            on_link = settled(neg(transposed_times(raw.G, raw.s)), raw.s)
            joint_frames[k] = (Placement(raw.parent, T, r), Placement(k, exact(transpose(raw.G)), on_link))
        link = Link(k, raw.name, raw.parent, raw.kind, laid.turns, laid.r, laid.axis, laid.offset,
                    q, -1 if raw.kind.modal else u, own[k], raw.joint.name, raw.coordinates)  # fmt: skip
        if raw.member is not None and raw.node is not None:
            if raw.reverse:
                eta[raw.name] = (q, u)
                q, u = q + raw.member.modes, u + raw.member.modes
            carrier = raw.name if raw.reverse else raws[raw.parent].name
            link = replace(
                link,
                node=members[carrier][1][raw.node.name],
                inverse=raw.reverse,
                shape=members[carrier][0] if raw.reverse else None,
                modes=raw.member.modes,
                coordinates=raw.member.coordinate_names if raw.reverse else (),
                joint="",
                eta_q=eta[carrier][0],
                eta_u=eta[carrier][1],
            )
        else:
            q += raw.kind.positions
            u += raw.kind.speeds
            at = joint_frames[k][1].p if k in joint_frames else ZERO
            link = replace(link, armature=_armature(system, link, at))
        links.append(link)
    shadows = 0
    owners: dict[int, int] = {}
    for k, link in enumerate(links):
        if link.kind.modal:
            links[k] = replace(link, u=u + shadows)
            shadows += link.kind.speeds
            owners[k] = k if link.shape is not None else link.parent
    at_nodes = {
        key: Placement(k, UNIT, neg(links[k].node.s0))  # type: ignore[union-attr]
        for key, k in nodes.found.items()
    }
    return Linkage(
        tuple(links),
        placements,
        q + len(system.states),
        u,
        vec(system.gravity),
        maps,
        joint_frames,
        shadows,
        owners,
        at_nodes,
        tuple(system.states),
    )
