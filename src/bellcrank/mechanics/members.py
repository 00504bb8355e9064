"""From the description of a flexible member to what its links know of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bellcrank.flexible.member import FlexibleMember, Member
from bellcrank.flexible.rods import Rod
from bellcrank.mechanics.flexible import MemberShape, NodePlace, NodeShape, Shape
from bellcrank.mechanics.rods import rod_parts, station_places


def member_parts(member: FlexibleMember, nodes: Iterable[Any]) -> tuple[MemberShape, Mapping[str, NodePlace]]:
    """Inertia and stiffness of a member, and some of its nodes by name."""
    if isinstance(member, Rod):
        return rod_parts(member, nodes)
    assert isinstance(member, Member)
    return Shape.of(member), node_places(member, nodes)


def node_places(member: FlexibleMember, nodes: Iterable[Any]) -> Mapping[str, NodePlace]:
    """Some nodes of a member, by name."""
    if isinstance(member, Rod):
        return station_places(member, nodes)
    return {node.name: NodeShape.of(node) for node in nodes}
