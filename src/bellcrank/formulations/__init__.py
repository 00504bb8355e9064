"""Formulations of the equations of motion: from kinematics, inertia and loads to accelerations."""
