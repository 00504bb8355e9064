"""What the user describes: bodies, joints, drivers, couplings, forces and parameters, validated."""

from bellcrank.math.tuples import Mat, Vec
from bellcrank.model.bodies import Body
from bellcrank.model.drivers import CoordinateTarget, Coupling, Driver, PointTarget
from bellcrank.model.forces import (
    AppliedForce,
    AppliedTorque,
    Axes,
    Bushing,
    Force,
    GroundSpring,
    JointForce,
    LineForce,
    Spring,
    TorsionSpring,
)
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Joint
from bellcrank.model.parameters import Parameter, ParameterTable, value
from bellcrank.model.system import System

__all__ = [
    "AppliedForce",
    "AppliedTorque",
    "Axes",
    "Body",
    "Bushing",
    "CoordinateTarget",
    "Coupling",
    "Driver",
    "Force",
    "Frame",
    "GroundSpring",
    "Joint",
    "JointForce",
    "LineForce",
    "Mat",
    "Parameter",
    "ParameterTable",
    "PointTarget",
    "Spring",
    "System",
    "TorsionSpring",
    "Vec",
    "value",
]
