"""All constraint equations of a system on the links of its tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bellcrank.errors import ModelError
from bellcrank.mechanics.constraints import Constraint, cut_joint, marker
from bellcrank.mechanics.drivers import coordinate_driver, coupling, measured_driver, point_driver
from bellcrank.mechanics.joint_coordinates import markers
from bellcrank.mechanics.links import Linkage, LinkKind
from bellcrank.mechanics.vectors import mat, vec
from bellcrank.model.drivers import CoordinateTarget, Driver

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint
    from bellcrank.model.system import System
    from bellcrank.topology.tree import Tree


def constraints_of(system: System, tree: Tree, linkage: Linkage) -> tuple[Constraint, ...]:
    """Cut joints, then couplings, then drivers, each in the order described."""
    found = []
    for joint in tree.cuts:
        a, b = markers(linkage, joint)
        closed = cut_joint(linkage, joint.name, joint.kind, a, b, joint.pitch)
        found.append(replace(closed, bodies=(joint.a.body.name, joint.b.body.name)))
    for item in system.couplings.values():
        terms = [(_link(linkage, j, c, f"coupling {item.name!r}"), f) for j, c, f in item.terms]
        found.append(coupling(linkage, item.name, terms, item.offset))
    for driver in system.drivers.values():
        target = driver.target
        if isinstance(target, CoordinateTarget):
            found.append(_coordinate_driver(linkage, driver, target))
        else:
            frame = target.frame
            point = marker(linkage.seat(frame), mat(frame.rotation), vec(frame.position))
            axis = "xyz".index(target.axis)
            driven = point_driver(linkage, driver.name, point, axis, driver.function)
            found.append(replace(driven, bodies=("ground", frame.body.name)))
    return tuple(c for c in found if c.size)


def _coordinate_driver(linkage: Linkage, driver: Driver, target: CoordinateTarget) -> Constraint:
    """On the coordinate itself where it is one of the tree, else on what is measured between the frames."""
    joint = target.joint
    for link in linkage.links:
        whole = link.kind in (LinkKind.BALL, LinkKind.FREE)
        if link.joint == joint.name and target.coordinate in link.coordinates and not whole:
            return coordinate_driver(linkage, driver.name, link.index, driver.function)
    a, b = markers(linkage, joint)
    driven = measured_driver(linkage, driver.name, a, b, target.coordinate, driver.function)
    return replace(driven, bodies=(joint.a.body.name, joint.b.body.name))


def _link(linkage: Linkage, joint: Joint, coordinate: str, who: str) -> int:
    for link in linkage.links:
        if link.joint == joint.name and coordinate in link.coordinates:
            if link.kind in (LinkKind.BALL, LinkKind.FREE):
                raise ModelError(
                    f"{who}: coordinate {coordinate!r} of the {joint.kind} joint {joint.name!r} cannot be "
                    "coupled; couple the coordinates of other joints"
                )
            return link.index
    raise ModelError(
        f"{who} uses joint {joint.name!r}, which closes a loop here and has no coordinate of its own; "
        f"give {joint.name!r} cut=False, or cut=True to another joint of its loop"
    )
