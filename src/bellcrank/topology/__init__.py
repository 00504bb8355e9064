"""Spanning tree, cut joints, loops and body groups of a mechanism."""

from bellcrank.topology.describe import describe
from bellcrank.topology.groups import Group, Grouping, body_groups, find_groups
from bellcrank.topology.loops import Loop, loop_links, loop_of, loops, paths_to_common
from bellcrank.topology.tree import Link, Tree, spanning_tree, used_joints

__all__ = [
    "Group",
    "Grouping",
    "Link",
    "Loop",
    "Tree",
    "body_groups",
    "describe",
    "find_groups",
    "loop_links",
    "loop_of",
    "loops",
    "paths_to_common",
    "spanning_tree",
    "used_joints",
]
