"""Loops: for each cut joint the two paths to the lowest common body."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.model.bodies import Body
from bellcrank.model.joints import Joint
from bellcrank.topology.tree import Link, Tree


@dataclass(frozen=True, eq=False)
class Loop:
    """What a cut joint closes.

    common: Lowest body that carries both sides. path_a, path_b: Links from below `common` down to the
    joint's first and second body; the common body itself is in neither, its motion does not enter.
    """

    cut: Joint
    common: Body
    path_a: tuple[Link, ...]
    path_b: tuple[Link, ...]

    @property
    def links(self) -> tuple[Link, ...]:
        """All links whose joint coordinates enter the loop equations."""
        return (*self.path_a, *self.path_b)


def paths_to_common(tree: Tree, a: Body, b: Body) -> tuple[Body, tuple[Link, ...], tuple[Link, ...]]:
    """The lowest common body of two bodies and the links from below it down to each of them."""
    path_a: list[Link] = []
    path_b: list[Link] = []
    while a is not b:
        depth_a = tree.link_of(a).depth if not a.is_ground else 0
        depth_b = tree.link_of(b).depth if not b.is_ground else 0
        if depth_a >= depth_b:
            path_a.append(tree.link_of(a))
            a = path_a[-1].parent
        else:
            path_b.append(tree.link_of(b))
            b = path_b[-1].parent
    return a, tuple(reversed(path_a)), tuple(reversed(path_b))


def loop_of(tree: Tree, joint: Joint) -> Loop:
    """The loop that `joint` closes."""
    return Loop(joint, *paths_to_common(tree, joint.a.body, joint.b.body))


def loops(tree: Tree) -> tuple[Loop, ...]:
    """The loop of every cut joint, in the order of `tree.cuts`."""
    return tuple(loop_of(tree, joint) for joint in tree.cuts)


def loop_links(tree: Tree, loop: Loop) -> frozenset[int]:
    """The places in `tree.links` that enter the equations of a loop.

    Welded bodies have no coordinates and are left out.
    """
    return frozenset(tree.index[link.body.name] for link in loop.links if link.joint.dof)
