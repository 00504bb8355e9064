"""The spanning tree of a mechanism: which joints carry the bodies, which ones close loops."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from bellcrank.errors import AssemblyError, ModelError
from bellcrank.model.bodies import Body
from bellcrank.model.drivers import CoordinateTarget
from bellcrank.model.forces import Armature
from bellcrank.model.joints import Joint
from bellcrank.model.joints.joint import SHIFTS
from bellcrank.model.system import System


@dataclass(frozen=True, eq=False)
class Link:
    """A body, the joint it hangs on and the body it hangs from.

    forward: Whether frame a of the joint is on the side of the parent.
    depth: Joints between the body and the ground.
    """

    body: Body
    joint: Joint
    parent: Body
    forward: bool
    depth: int


@dataclass(frozen=True, eq=False)
class Tree:
    """A spanning tree rooted in the ground.

    links: Bodies with their joints in evaluation order, parents before children and every subtree in one
    piece. cuts: Joints that close loops, in the order they were described. idle: Free joints between
    bodies that the tree joins otherwise; they neither carry nor constrain.
    """

    ground: Body
    links: tuple[Link, ...]
    cuts: tuple[Joint, ...]
    idle: tuple[Joint, ...] = ()

    @property
    def order(self) -> tuple[Body, ...]:
        """The bodies in evaluation order."""
        return tuple(link.body for link in self.links)

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each body, by name, in `links`; the ground is not among them."""
        return {link.body.name: i for i, link in enumerate(self.links)}

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For each link the place of its parent in `links`, -1 for the ground."""
        return tuple(self.index.get(link.parent.name, -1) for link in self.links)

    def link_of(self, body: Body) -> Link:
        """The link that carries `body`."""
        return self.links[self.index[body.name]]

    @property
    def dof(self) -> int:
        """Degrees of freedom of all tree joints: the number of relative coordinates, loops open."""
        return sum(link.joint.dof for link in self.links)

    @property
    def equations(self) -> int:
        """Equations of all cut joints."""
        return sum(joint.constraints for joint in self.cuts)


def used_joints(system: System) -> frozenset[str]:
    """Names of the joints whose coordinates a driver, a coupling, a constraint or a force works on."""
    used: set[str] = set()
    for driver in system.drivers.values():
        if isinstance(driver.target, CoordinateTarget):
            used.add(driver.target.joint.name)
    for coupling in system.couplings.values():
        used.update(joint.name for joint, _, _ in coupling.terms)
    for constraint in system.constraints.values():
        used.update(joint.name for joint, _ in constraint.uses(system.joints))
    for force in system.forces.values():
        if force.in_joint is not None:
            used.add(force.in_joint.name)
    return frozenset(used)


def counted_joints(system: System) -> frozenset[str]:
    """Names of the joints with rigid stops a turn or more apart, whose turns are counted in the tree alone."""
    limits = (contact.limits for contact in system.contacts.values())
    return frozenset(x.joint.name for x in limits if x is not None and x.coordinate not in SHIFTS and x.turns)


def armed_joints(system: System) -> dict[str, str]:
    """Joints with armatures, which stay in the tree, and the name of one of each."""
    return {x.joint.name: x.name for x in system.forces.values() if isinstance(x, Armature)}


def spanning_tree(system: System) -> Tree:
    """The tree that keeps the most constraint equations, so that the cuts have the fewest.

    Prim's algorithm from the ground. Joints whose turns are counted and those with armatures stay in the tree. Among
    joints with equally many equations spherical ones are cut first, joints whose coordinates are used (drivers,
    couplings, joint forces) stay in the tree, then the shallower body and the earlier description win. ``cut`` of a
    joint overrules all of that.
    """
    system.check()
    joints = list(system.joints.values())
    used, armed = used_joints(system), armed_joints(system)
    kept = counted_joints(system) | armed.keys()
    at_body: dict[str, list[int]] = {name: [] for name in (system.ground.name, *system.bodies)}
    for number, joint in enumerate(joints):
        if joint.in_tree and joint.cut is not True:
            at_body[joint.a.body.name].append(number)
            at_body[joint.b.body.name].append(number)

    found: dict[str, Link] = {}
    reached = {system.ground.name: 0}
    candidates: list[tuple[_Rank, str]] = []

    def offer(body: str) -> None:
        for number in at_body[body]:
            rank = _rank(joints[number], number, reached[body], used, kept)
            heapq.heappush(candidates, (rank, body))

    offer(system.ground.name)
    while candidates:
        rank, parent = heapq.heappop(candidates)
        joint = joints[rank[-1]]
        forward = joint.a.body.name == parent
        body = joint.b.body if forward else joint.a.body
        if body.name in reached:
            continue
        reached[body.name] = reached[parent] + 1
        found[body.name] = Link(body, joint, system.body_named(parent), forward, reached[body.name])
        offer(body.name)

    _check_reached(system, found)
    links = _depth_first(system, found)
    carrying = {link.joint.name for link in links}
    left = [joint for joint in joints if joint.name not in carrying]
    tree = Tree(
        system.ground,
        links,
        tuple(joint for joint in left if joint.constraints),
        tuple(joint for joint in left if not joint.constraints),
    )
    for joint in left:
        if joint.cut is False:
            raise _cannot_keep(tree, joint)
        if joint.name in armed:
            raise AssemblyError(
                f"the armature {armed[joint.name]!r} is on joint {joint.name!r}, which closes a loop; let another "
                f"joint of the loop close it (cut=True), or end {joint.name!r} at a massless body that a joint of "
                f"kind fixed (cut=True) ties to {joint.b.body.name!r}"
            )
    return tree


_Rank = tuple[bool, bool, int, bool, bool, int, int]


def _rank(joint: Joint, number: int, depth: int, used: frozenset[str], kept: frozenset[str]) -> _Rank:
    """Smaller is better."""
    return (
        joint.cut is not False,
        joint.name not in kept,
        -joint.constraints,
        joint.cut_first,
        joint.name not in used,
        depth,
        number,
    )


def _depth_first(system: System, found: dict[str, Link]) -> tuple[Link, ...]:
    children: dict[str, list[str]] = {}
    for name in system.bodies:
        children.setdefault(found[name].parent.name, []).append(name)
    links: list[Link] = []
    pending = list(reversed(children.get(system.ground.name, [])))
    while pending:
        name = pending.pop()
        links.append(found[name])
        pending.extend(reversed(children.get(name, [])))
    return tuple(links)


def _check_reached(system: System, found: dict[str, Link]) -> None:
    lost = [name for name in system.bodies if name not in found]
    if not lost:
        return
    listed = _listed(lost)
    only_cut = [
        joint.name
        for joint in system.joints.values()
        if joint.cut is True and (joint.a.body.name in lost) != (joint.b.body.name in lost)
    ]
    held = [
        joint.name
        for joint in system.joints.values()
        if not joint.in_tree and (joint.a.body.name in lost) != (joint.b.body.name in lost)
    ]
    if only_cut:
        raise ModelError(
            f"{_listed(lost, 'body', 'bodies')} would be joined to the rest only by cut joints "
            f"({_listed(only_cut)}); take cut=True off one of them"
        )
    besides = f" ({_listed(held)} only holds it at a distance)" if held else ""
    raise ModelError(
        f"no chain of joints leads from the ground to {listed}{besides}; join one of them to the ground, "
        f"or give it system.free('...', system.ground, {lost[0]}) if it should float"
    )


def _cannot_keep(tree: Tree, joint: Joint) -> ModelError:
    from bellcrank.topology.loops import loop_of

    loop = loop_of(tree, joint)
    around = [link.joint.name for link in (*reversed(loop.path_a), *loop.path_b)]
    return AssemblyError(
        f"joint {joint.name!r} has cut=False, but it closes a loop with {_listed(around)}, which are all "
        "to be kept too; one joint of every loop must be cut, so take cut=False off one of them"
    )


def _listed(names: Iterable[str], one: str = "", many: str = "") -> str:
    quoted = [repr(n) for n in names]
    shown = ", ".join(quoted[:12]) + (f" and {len(quoted) - 12} more" if len(quoted) > 12 else "")
    word = one if len(quoted) == 1 else many
    return f"{word} {shown}" if word else shown
