"""Vectors and rotations of numbers as NumPy arrays, with the exact zeros and ones that fold away in a program."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.normals import across
from bellcrank.math.tuples import Vec

Floats3: TypeAlias = tuple[float, float, float]
Floats33: TypeAlias = tuple[Floats3, Floats3, Floats3]
Array: TypeAlias = NDArray[np.float64]

AXES: dict[str, Vec] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
QUARTER_TURN_Y = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""The rotation by +90 degrees about y, between the two axes of a universal joint."""


def tidy(a: Array, scale: float = 1.0) -> Array:
    """`a` with rounding dust removed: zeros and ones that are exact fold away in the program."""
    dust = 1e-15 * scale
    result = np.where(np.abs(a) < dust, 0.0, a)
    for whole in (1.0, -1.0):
        result = np.where(np.abs(result - whole) < dust, whole, result)
    return result


def as_vec(a: Array) -> Floats3:
    """Three floats as a tuple."""
    return (float(a[0]), float(a[1]), float(a[2]))


def as_mat(a: Array) -> Floats33:
    """A 3x3 array as a tuple of rows."""
    return (as_vec(a[0]), as_vec(a[1]), as_vec(a[2]))


def rotation_about_z(angle: float) -> Array:
    """Rotation by `angle` [rad] about z."""
    c, s = math.cos(angle), math.sin(angle)
    return tidy(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))


def rotation_of_quaternion(quaternion: Array) -> Array:
    """The rotation matrix of the unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return tidy(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
    )


def quaternion_of_rotation(R: Array) -> Array:
    """The unit quaternion (w, x, y, z), w >= 0, of a rotation matrix, from its largest component."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    squares = np.array([trace, *(2 * R[i, i] - trace for i in range(3))])
    largest = int(np.argmax(squares))
    q = np.empty(4)
    if largest == 0:
        q[:] = [1 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q[0] = R[k, j] - R[j, k]
        q[1 + i] = 1 + squares[largest]
        q[1 + j] = R[i, j] + R[j, i]
        q[1 + k] = R[i, k] + R[k, i]
    q /= np.linalg.norm(q)
    return -q if q[0] < 0 else q


def rotation_with_z_along(axis: Array) -> Array:
    """A rotation whose z column is the unit vector `axis`, with as many exact zeros as possible.

    Along x, y and z of the surrounding axes it is a permutation, along z the identity.
    """
    for i in range(3):
        if axis[i] == 1.0:
            return np.roll(np.eye(3), i + 1, axis=0)
    x = -across(axis)[0]
    return tidy(np.column_stack([x, np.cross(axis, x), axis]))


def is_rotation(R: Array, tolerance: float = 1e-9) -> bool:
    """Whether `R` is orthonormal and right-handed."""
    return bool(np.abs(R.T @ R - np.eye(3)).max() <= tolerance and np.linalg.det(R) > 0)
