"""Joints between bodies: one file a kind, with all that the package needs of it."""

from bellcrank.model.joints.joint import SAME_AXIS, Joint, JointKind, make_joint

__all__ = ["SAME_AXIS", "Joint", "JointKind", "make_joint"]
