"""Armature: inertia that moves as the coordinates of a joint do, such as the rotor of a geared motor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import JOINT, NUMBER, TEXT, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.forces.element import ANGLES, ForceElement, ForceMethod
from bellcrank.model.joints import Joint
from bellcrank.model.joints.joint import SHIFTS, TURNING
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Armature(ForceElement):
    """Kinetic energy of the motion in a joint: inertia |w|^2 / 2 + mass |v|^2 / 2.

    w and v: Angular velocity and velocity of the second body as the first one sees them. It has no weight, and what it
    does is part of the mass matrix. coordinate: The only one that carries it; all where None.
    """

    kind = "armature"
    keys = Keys(
        "Inertia of the motion in a joint, such as that of a geared rotor: inertia rate^2 / 2 or mass rate^2 / 2.",
        must("joint", JOINT, "Name of the joint."),
        may("inertia", NUMBER, "Of its rotation [kg m^2]; 0 where missing."),
        may("mass", NUMBER, "Of its displacement [kg]; 0 where missing."),
        may("coordinate", TEXT, "The only coordinate that carries it; all of them where missing."),
    )

    name: str
    joint: Joint
    inertia: Scalar = 0.0
    mass: Scalar = 0.0
    coordinate: str | None = None

    @property
    def in_joint(self) -> Joint:
        return self.joint

    def load(self, act: Acting, loads: Loads) -> None:
        """Nothing: the links of the joint hold it."""

    def power(self, s: Snapshot) -> Scalar:
        return 0.0


def _none(given: Scalar) -> bool:
    return isinstance(given, float) and given == 0.0


class ArmatureMethod(ForceMethod):
    """Makes armatures."""

    def armature(
        self,
        name: str,
        joint: Joint | str,
        inertia: Any = 0.0,
        mass: Any = 0.0,
        coordinate: str | None = None,
    ) -> Armature:
        """Inertia of the motion in a joint, such as the rotor of a geared motor seen through its gear.

        inertia: Of its rotation [kg m^2]; a rotor of J behind a gear of ratio n counts as n^2 J. mass: Of its
        displacement [kg]. coordinate: The only one that carries it, where the joint has several; all of them where
        missing. It has no weight and bears no gyroscopic moments: a rotor that does is a body of its own. The joint
        stays in the tree.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        chosen = None if coordinate is None else found.coordinate(coordinate)
        inertia = checks.at_least_zero(f"inertia of {who}", inertia, self.parameters)
        mass = checks.at_least_zero(f"mass of {who}", mass, self.parameters)
        moves = set(found.speeds) if chosen is None else {chosen}
        joint_called = f"the {found.kind} joint {found.name!r}"
        what = joint_called if chosen is None else f"coordinate {chosen!r} of {joint_called}"
        for given, key, of, kind in (
            (inertia, "inertia", ANGLES | set(TURNING), "rotation"),
            (mass, "mass", set(SHIFTS), "displacement"),
        ):
            if not _none(given) and not moves & of:
                raise ModelError(f"{who} has {key}=, but {what} has no {kind}; leave it out")
        if _none(inertia) and _none(mass):
            raise ModelError(f"{who} has neither inertia= nor mass=; give what {what} carries")
        if found.in_tree is False:
            raise ModelError(f"{who}: {joint_called} carries no armature; give a body its mass")
        if found.has_quaternion and not _none(mass) and found.a.body.name != "ground":
            raise ModelError(
                f"{who} has mass=, but {found.name!r} floats against {found.a.body.name!r}, which moves; give the mass "
                f"to {found.b.body.name!r}, or let the free joint begin at the ground"
            )
        return self._add_force(Armature(name, found, inertia, mass, chosen))
