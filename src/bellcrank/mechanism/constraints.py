"""All constraint equations of a system on the links of its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bellcrank.errors import ModelError
from bellcrank.math.tuples import mat, vec
from bellcrank.mechanics.constraints import Constraint, cut_joint, marker
from bellcrank.mechanics.couplings import Counted, Measured, coupling
from bellcrank.mechanics.derived import BodyKinematics, derived
from bellcrank.mechanics.drivers import coordinate_driver, measured_driver, point_driver
from bellcrank.mechanics.forces import Acting
from bellcrank.mechanics.joint_coordinates import markers
from bellcrank.mechanics.links import GROUND, Linkage
from bellcrank.mechanism.own import own_value
from bellcrank.model.constraints import Constraint as Described
from bellcrank.model.constraints import Own
from bellcrank.model.drivers import CoordinateTarget, Coupling, Driver
from bellcrank.model.joints.joint import SHIFTS
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint
    from bellcrank.model.system import System
    from bellcrank.topology.tree import Tree


def constraints_of(system: System, tree: Tree, linkage: Linkage) -> tuple[Constraint, ...]:
    """Cut joints, then couplings, constraints and drivers, each in the order described."""
    found = []
    for joint in tree.cuts:
        a, b = markers(linkage, joint)
        found.append(cut_joint(linkage, joint, a, b))
    for item in system.couplings.values():
        found.append(_coupling(linkage, item))
    for described in system.constraints.values():
        found.append(_derived(system, tree, linkage, described))
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


def _derived(system: System, tree: Tree, linkage: Linkage, item: Described) -> Constraint:
    """A constraint beside joints, from its functions."""
    who = f"constraint {item.name!r}"
    for joint, coordinate in item.uses(system.joints):
        if coordinate not in SHIFTS and _counted(linkage, joint, coordinate) is None:
            raise ModelError(
                f"{who} uses the angle of {joint.name!r}, which closes a loop here, so that its full turns are not "
                f"counted; give {joint.name!r} cut=False, or cut=True to another joint of its loop"
            )

    def positions(kin: BodyKinematics, t: Expr) -> Sequence[Scalar]:
        if isinstance(item, Own):
            return () if item.velocity else (own_value(system, tree, item, kin, t),)
        return item.positions(Acting(kin.linkage, kin, t))

    def velocities(kin: BodyKinematics, t: Expr) -> Sequence[Scalar]:
        if isinstance(item, Own):
            return (own_value(system, tree, item, kin, t),) if item.velocity else ()
        return item.velocities(Acting(kin.linkage, kin, t))

    # Between moving bodies only their motion against each other counts; the user's own may look at the world.
    within = not isinstance(item, Own) and all(linkage.seat(f).link != GROUND for f in item.frames)
    labels = tuple(e.name for e in (*item.position_efforts(), *item.velocity_efforts()))
    return derived(linkage, item.name, who, labels, positions, velocities, within)


def _coordinate_driver(linkage: Linkage, driver: Driver, target: CoordinateTarget) -> Constraint:
    """On the coordinate itself where it is one of the tree, else on what is measured between the frames."""
    joint = target.joint
    link = _counted(linkage, joint, target.coordinate)
    if link is not None:
        return coordinate_driver(linkage, driver.name, link, driver.function)
    a, b = markers(linkage, joint)
    driven = measured_driver(linkage, driver.name, joint, (a, b), target.coordinate, driver.function)
    return replace(driven, bodies=(joint.a.body.name, joint.b.body.name))


def _coupling(linkage: Linkage, item: Coupling) -> Constraint:
    counted: list[Counted] = []
    measured: list[Measured] = []
    for joint, coordinate, factor in item.terms:
        link = _counted(linkage, joint, coordinate)
        if link is not None:
            counted.append(Counted(link, factor))
        else:
            measured.append(Measured(joint, *markers(linkage, joint), coordinate, factor))
    angles = [j.name for (j, c, _) in item.terms if _counted(linkage, j, c) is None and c not in SHIFTS]
    if len(angles) > 1:
        raise ModelError(
            f"coupling {item.name!r} uses the angles of {' and '.join(map(repr, angles))}, which close loops here, so "
            f"that their full turns are not counted; give {angles[0]!r} cut=False, or cut=True to another joint of its "
            "loop"
        )
    return coupling(linkage, item.name, counted, measured, item.offset)


def _counted(linkage: Linkage, joint: Joint, coordinate: str) -> int | None:
    """The link whose own coordinate this is; None where it is measured between the joint's frames."""
    for link in linkage.links:
        whole = link.kind.has_quaternion
        if link.joint == joint.name and coordinate in link.coordinates and not whole:
            return link.index
    return None
