"""Forces: what acts between bodies, in joints, at points and on the ground; one file a kind.

A new kind is a file here, and a line each in :class:`ForceMethods` and :data:`KINDS`.
"""

from typing import TypeAlias

from bellcrank.model.forces.aerodynamics import Aerodynamics, AerodynamicsMethod
from bellcrank.model.forces.anti_roll_bar import AntiRollBar, AntiRollBarMethod
from bellcrank.model.forces.applied import AppliedForce, AppliedMethod, AppliedTorque, Axes
from bellcrank.model.forces.armature import Armature, ArmatureMethod
from bellcrank.model.forces.bushing import Bushing, BushingMethod
from bellcrank.model.forces.cable import Cable, CableMethod
from bellcrank.model.forces.contact import ContactForce, FieldContact
from bellcrank.model.forces.element import ForceElement
from bellcrank.model.forces.ground_spring import GroundSpring, GroundSpringMethod
from bellcrank.model.forces.joint_force import JointForce, JointForceMethod
from bellcrank.model.forces.joint_friction import Clutch, JointFriction, JointFrictionMethods
from bellcrank.model.forces.limits import JointLimits, JointLimitsMethod
from bellcrank.model.forces.line_force import LineForce, LineForceMethod
from bellcrank.model.forces.motor import Motor, MotorMethod
from bellcrank.model.forces.power_train import PowerTrain, PowerTrainMethod
from bellcrank.model.forces.rotation_spring import RotationSpring, RotationSpringMethod
from bellcrank.model.forces.spring import Spring, SpringMethod
from bellcrank.model.forces.steering import Steering, SteeringMethod
from bellcrank.model.forces.strut import Strut, StrutMethod
from bellcrank.model.forces.torsion_spring import TorsionSpring, TorsionSpringMethod
from bellcrank.model.forces.tyre import Tyre, TyreMethod

Force: TypeAlias = ForceElement | ContactForce
"""Forces of their own kind in files, and those of contacts, which stand under their shapes."""


class ForceMethods(
    SpringMethod,
    LineForceMethod,
    TorsionSpringMethod,
    JointForceMethod,
    JointFrictionMethods,
    ArmatureMethod,
    JointLimitsMethod,
    MotorMethod,
    CableMethod,
    BushingMethod,
    RotationSpringMethod,
    AppliedMethod,
    GroundSpringMethod,
    TyreMethod,
    StrutMethod,
    AntiRollBarMethod,
    SteeringMethod,
    PowerTrainMethod,
    AerodynamicsMethod,
):
    """Forces. Where a point is asked for, a body stands for its own origin."""


KINDS: tuple[type[ForceElement], ...] = (
    *(
        Spring,
        LineForce,
        TorsionSpring,
        JointForce,
        JointFriction,
        Clutch,
        Armature,
        JointLimits,
        Motor,
        Cable,
    ),
    *(Bushing, RotationSpring, AppliedForce, AppliedTorque, GroundSpring, Tyre),
    *(Strut, AntiRollBar, Steering, PowerTrain, Aerodynamics),
)
"""All kinds of forces, in the order of pages and schemas."""

__all__ = [
    "KINDS",
    "Aerodynamics",
    "AntiRollBar",
    "AppliedForce",
    "AppliedTorque",
    "Armature",
    "Axes",
    "Bushing",
    "Cable",
    "Clutch",
    "ContactForce",
    "FieldContact",
    "Force",
    "ForceElement",
    "ForceMethods",
    "GroundSpring",
    "JointForce",
    "JointFriction",
    "JointLimits",
    "LineForce",
    "Motor",
    "PowerTrain",
    "RotationSpring",
    "Spring",
    "Steering",
    "Strut",
    "TorsionSpring",
    "Tyre",
]
