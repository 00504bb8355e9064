"""All constraint equations of a system on the links of its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.errors import ModelError
from bellcrank.mechanics.constraints import (
    Constraint,
    coordinate_driver,
    coupling,
    cut_joint,
    marker,
    point_driver,
)
from bellcrank.mechanics.joint_coordinates import markers
from bellcrank.mechanics.links import Linkage, LinkKind
from bellcrank.mechanics.vectors import mat, vec
from bellcrank.model.drivers import CoordinateTarget

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint
    from bellcrank.model.system import System
    from bellcrank.topology.tree import Tree


def constraints_of(system: System, tree: Tree, linkage: Linkage) -> tuple[Constraint, ...]:
    """Cut joints, then couplings, then drivers, each in the order described."""
    found = []
    for joint in tree.cuts:
        a, b = markers(linkage, joint)
        found.append(cut_joint(linkage, joint.name, joint.kind, a, b, joint.pitch))
    for item in system.couplings.values():
        terms = [(_link(linkage, j, c, f"coupling {item.name!r}"), f) for j, c, f in item.terms]
        found.append(coupling(linkage, item.name, terms, item.offset))
    for driver in system.drivers.values():
        target = driver.target
        if isinstance(target, CoordinateTarget):
            link = _link(linkage, target.joint, target.coordinate, f"driver {driver.name!r}")
            found.append(coordinate_driver(linkage, driver.name, link, driver.function))
        else:
            frame = target.frame
            point = marker(linkage.placements[frame.body.name], mat(frame.rotation), vec(frame.position))
            axis = "xyz".index(target.axis)
            found.append(point_driver(linkage, driver.name, point, axis, driver.function))
    return tuple(c for c in found if c.size)


def _link(linkage: Linkage, joint: Joint, coordinate: str, who: str) -> int:
    for link in linkage.links:
        if link.joint == joint.name and coordinate in link.coordinates:
            if link.kind in (LinkKind.BALL, LinkKind.FREE):
                raise ModelError(
                    f"{who}: coordinate {coordinate!r} of the {joint.kind} joint {joint.name!r} cannot be "
                    "prescribed; drive a point of the body instead"
                )
            return link.index
    raise ModelError(
        f"{who} uses joint {joint.name!r}, which closes a loop here and has no coordinate of its own; "
        f"give {joint.name!r} cut=False, or cut=True to another joint of its loop"
    )
