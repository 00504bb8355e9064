"""Vectors and matrices of three, over scalars that are numbers or traced values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeAlias

from bellcrank.program.functions import sqrt, where
from bellcrank.program.trace import Scalar, compare

Vec: TypeAlias = tuple[Scalar, Scalar, Scalar]
Mat: TypeAlias = tuple[Vec, Vec, Vec]

ZERO: Vec = (0.0, 0.0, 0.0)
UNIT: Mat = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def numeric(*values: Scalar) -> bool:
    """Whether all of them are plain numbers."""
    return all(isinstance(v, float | int) for v in values)


def settled(total: Vec, *parts: Vec) -> Vec:
    """A sum of turned `parts` with its rounding taken out: what is nothing beside the parts becomes zero.

    A world point brought into a body's axes leaves remainders of some 1e-17 m, and each of them would cost the
    machine code a product in every evaluation.
    """
    largest = max((abs(x) for part in parts for x in part if isinstance(x, float | int)), default=0.0)
    nothing = 4.0 * sys.float_info.epsilon * largest
    x, y, z = (0.0 if isinstance(x, float | int) and abs(x) <= nothing else x for x in total)
    return x, y, z


def add(a: Vec, b: Vec) -> Vec:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a: Vec, b: Vec) -> Vec:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def neg(a: Vec) -> Vec:
    """-a."""
    return (-a[0], -a[1], -a[2])


def scale(s: Scalar, a: Vec) -> Vec:
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


def dot(a: Vec, b: Vec) -> Scalar:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> Vec:
    """a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm(a: Vec) -> Scalar:
    """The length of a."""
    return sqrt(dot(a, a))


def tangents(n: Vec) -> tuple[Vec, Vec]:
    """Two directions perpendicular to n; continuous but where n turns past the plane |n_x| = 0.8."""
    steep = compare("lt", 0.64, n[0] * n[0])
    e: Vec = (where(steep, 0.0, 1.0), where(steep, 1.0, 0.0), 0.0)
    t = cross(n, e)
    t = scale(1.0 / sqrt(dot(t, t)), t)
    return t, cross(n, t)


def times(m: Mat, a: Vec) -> Vec:
    """M a."""
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


def transposed_times(m: Mat, a: Vec) -> Vec:
    """M^T a."""
    return (
        m[0][0] * a[0] + m[1][0] * a[1] + m[2][0] * a[2],
        m[0][1] * a[0] + m[1][1] * a[1] + m[2][1] * a[2],
        m[0][2] * a[0] + m[1][2] * a[1] + m[2][2] * a[2],
    )


def transpose(m: Mat) -> Mat:
    """M^T."""
    return (column(m, 0), column(m, 1), column(m, 2))


def column(m: Mat, j: int) -> Vec:
    """The j-th column of M."""
    return (m[0][j], m[1][j], m[2][j])


def matmul(a: Mat, b: Mat) -> Mat:
    """A B."""
    columns = (column(b, 0), column(b, 1), column(b, 2))
    rows = tuple((dot(r, columns[0]), dot(r, columns[1]), dot(r, columns[2])) for r in a)
    return (rows[0], rows[1], rows[2])


def vec(values: Sequence[Scalar]) -> Vec:
    """Three scalars as a vector."""
    x, y, z = values
    return (x, y, z)


def mat(rows: Sequence[Sequence[Scalar]]) -> Mat:
    """Three rows as a matrix."""
    a, b, c = rows
    return (vec(a), vec(b), vec(c))


def is_zero(a: Vec) -> bool:
    """Whether all three components are the constant zero."""
    return all(not hasattr(x, "graph") and x == 0.0 for x in a)
