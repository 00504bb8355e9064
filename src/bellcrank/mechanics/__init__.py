"""Kinematics, inertia, constraints and loads of a linkage, traced."""
