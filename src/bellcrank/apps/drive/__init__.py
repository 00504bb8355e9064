"""A driver in the loop: the full car in real time, with fixed steps, on a terrain with bumps."""
