"""Analyses of one mechanism: equilibrium, linearisation, kinematics, inverse dynamics, sensitivity."""
