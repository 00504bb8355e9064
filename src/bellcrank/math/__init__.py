"""Vectors and rotations over scalars: numbers, traced values, or numbers of the loop language."""
