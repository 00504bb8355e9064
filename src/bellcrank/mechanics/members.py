"""From the description of a flexible member to what its links know of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bellcrank.flexible.member import FlexibleMember, Member
from bellcrank.flexible.rods import Rod
from bellcrank.mechanics.flexible import MemberShape, NodePlace, NodeShape, Shape
from bellcrank.mechanics.rods import RodShape, station_places


def member_shape(member: FlexibleMember) -> MemberShape:
    """Inertia and stiffness of a member."""
    if isinstance(member, Rod):
        return RodShape.of(member)
    assert isinstance(member, Member)
    return Shape.of(member)


def node_places(member: FlexibleMember, nodes: Iterable[Any]) -> Mapping[str, NodePlace]:
    """Some nodes of a member, by name."""
    if isinstance(member, Rod):
        return station_places(member, nodes)
    return {node.name: NodeShape.of(node) for node in nodes}
