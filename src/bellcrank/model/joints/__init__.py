"""Joints between bodies: one file a kind, with all that the package needs of it.

The convention of a kind is the transform from frame A to frame B, with z of both frames along the joint axis:

============ =========================================================
fixed        identity
revolute     Rz(angle)
prismatic    Tz(displacement)
cylindrical  Rz(angle) Tz(displacement)
universal    Rz(angle_a) Ry(+90 deg) Rz(angle_b)
spherical    rotation by a unit quaternion (w, x, y, z)
planar       Tx(x) Ty(y) Rz(angle)
screw        Rz(angle) Tz(pitch * angle)
free         translation (x, y, z) in A's axes, then rotation by a unit quaternion
distance     any, with the points of A and B at a distance; only where it closes a loop
============ =========================================================

A new kind is a file here, and a line each in :class:`JointMethods` and :data:`KINDS`.
"""

from bellcrank.model.joints.cylindrical import Cylindrical, CylindricalMethod
from bellcrank.model.joints.distance import Distance, DistanceMethod
from bellcrank.model.joints.fixed import Fixed, FixedMethod
from bellcrank.model.joints.free import Free, FreeMethod
from bellcrank.model.joints.joint import SAME_AXIS, Joint, Side, Zero
from bellcrank.model.joints.making import make_joint
from bellcrank.model.joints.planar import Planar, PlanarMethod
from bellcrank.model.joints.prismatic import Prismatic, PrismaticMethod
from bellcrank.model.joints.revolute import Revolute, RevoluteMethod
from bellcrank.model.joints.screw import Screw, ScrewMethod
from bellcrank.model.joints.spherical import Spherical, SphericalMethod
from bellcrank.model.joints.universal import Universal, UniversalMethod


class JointMethods(
    FixedMethod,
    RevoluteMethod,
    PrismaticMethod,
    CylindricalMethod,
    UniversalMethod,
    SphericalMethod,
    PlanarMethod,
    ScrewMethod,
    FreeMethod,
    DistanceMethod,
):
    """Joints between `a` and `b`: bodies (or their names), or points and frames of bodies.

    From bodies, `at` is the joint's world point [m] and `axis` its world direction ("x", "y", "z" or a
    vector; "z" where missing), both in the start pose. From points the place is theirs and `axis` gives
    the direction; from frames with axes of their own, z of the frames is the joint axis. `cut=True` closes
    a loop at this joint, `cut=False` keeps it in the tree, None leaves the choice to the analysis. `limits`
    are (low, high) [m or rad], None for a side without; such stops are struck and do not throw back.
    :class:`bellcrank.Limits` gives restitution, or stiffness and damping. A joint of several coordinates takes a
    mapping: ``limits={"angle": (-1, 1)}``.
    """


KINDS: tuple[type[Joint], ...] = (
    *(Fixed, Revolute, Prismatic, Cylindrical, Universal, Spherical, Planar, Screw, Free, Distance),
)
"""All kinds of joints, in the order of pages and schemas."""

__all__ = ["KINDS", "SAME_AXIS", "Joint", "JointMethods", "Side", "Zero", "make_joint"]
