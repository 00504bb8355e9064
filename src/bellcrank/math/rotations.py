"""Rotations as sequences of turns: about one axis where that is all there is, full matrices elsewhere.

A turn about a coordinate axis costs four multiplications a vector and eight a symmetric matrix, a full
rotation matrix nine and forty-five; frames are laid so that nearly all turns are of the first kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bellcrank.math.tuples import (
    UNIT,
    Mat,
    Vec,
    add,
    cross,
    dot,
    matmul,
    norm,
    scale,
    times,
    transpose,
    transposed_times,
)
from bellcrank.program.trace import Scalar

Symmetric: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
"""xx, yy, zz, xy, xz, yz of a symmetric matrix."""
VANISHING = 1e-100
"""What is added to a sine that may vanish: below all rounding, and its square is not zero yet."""


@dataclass(frozen=True, eq=False)
class AxisTurn:
    """Rotation about coordinate axis `axis` by the angle with the given cosine and sine."""

    axis: int
    c: Scalar
    s: Scalar

    def out(self, v: Vec) -> Vec:
        """R v: from the turned axes to the axes turned from."""
        c, s = self.c, self.s
        if self.axis == 2:
            return (c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])
        if self.axis == 0:
            return (v[0], c * v[1] - s * v[2], s * v[1] + c * v[2])
        return (c * v[0] + s * v[2], v[1], c * v[2] - s * v[0])

    def into(self, v: Vec) -> Vec:
        """R^T v: from the axes turned from to the turned axes."""
        return AxisTurn(self.axis, self.c, -self.s).out(v)

    def matrix(self) -> Mat:
        """R."""
        return transpose(_rows(self.into(UNIT[0]), self.into(UNIT[1]), self.into(UNIT[2])))

    def after(self, m: Mat) -> Mat:
        """M R, by mixing two columns of M."""
        rows = [self.into(row) for row in m]
        return _rows(*rows)

    def symmetric_out(self, a: Symmetric) -> Symmetric:
        """R A R^T with four multiplications in the plane of the turn and four outside."""
        xx, yy, zz, xy, xz, yz = a
        c, s = self.c, self.s
        if self.axis == 2:
            xx, yy, xy = _planar(xx, yy, xy, c, s)
            return (xx, yy, zz, xy, c * xz - s * yz, s * xz + c * yz)
        if self.axis == 0:
            yy, zz, yz = _planar(yy, zz, yz, c, s)
            return (xx, yy, zz, c * xy - s * xz, s * xy + c * xz, yz)
        zz, xx, xz = _planar(zz, xx, xz, c, s)
        return (xx, yy, zz, c * xy + s * yz, xz, c * yz - s * xy)


def _planar(xx: Scalar, yy: Scalar, xy: Scalar, c: Scalar, s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The plane part of R A R^T; a part with equal principal values comes out unchanged."""
    e = (xx - yy) * s + 2.0 * xy * c
    w = s * e
    return xx - w, yy + w, c * e - xy


@dataclass(frozen=True, eq=False)
class FullTurn:
    """Rotation by a full matrix."""

    r: Mat

    def out(self, v: Vec) -> Vec:
        """R v."""
        return times(self.r, v)

    def into(self, v: Vec) -> Vec:
        """R^T v."""
        return transposed_times(self.r, v)

    def matrix(self) -> Mat:
        """R."""
        return self.r

    def after(self, m: Mat) -> Mat:
        """M R."""
        return matmul(m, self.r)

    def symmetric_out(self, a: Symmetric) -> Symmetric:
        """R A R^T, with A's middle eigen-ish part taken out first: R (A - a 1) R^T + a 1."""
        shift = a[2]
        xx, yy, zz, xy, xz, yz = (a[0] - shift, a[1] - shift, 0.0, a[3], a[4], a[5])
        half = [(xx * r[0] + xy * r[1] + xz * r[2], xy * r[0] + yy * r[1] + yz * r[2],
                 xz * r[0] + yz * r[1] + zz * r[2]) for r in self.r]  # fmt: skip
        r = self.r

        def entry(i: int, j: int) -> Scalar:
            return r[i][0] * half[j][0] + r[i][1] * half[j][1] + r[i][2] * half[j][2]

        return (
            *(entry(0, 0) + shift, entry(1, 1) + shift, entry(2, 2) + shift),
            *(entry(0, 1), entry(0, 2), entry(1, 2)),
        )


Turn: TypeAlias = AxisTurn | FullTurn


def _rows(a: Vec, b: Vec, c: Vec) -> Mat:
    return (a, b, c)


def out(turns: Sequence[Turn], v: Vec) -> Vec:
    """R_1 R_2 ... v."""
    for turn in reversed(turns):
        v = turn.out(v)
    return v


def into(turns: Sequence[Turn], v: Vec) -> Vec:
    """(R_1 R_2 ...)^T v."""
    for turn in turns:
        v = turn.into(v)
    return v


def symmetric_out(turns: Sequence[Turn], a: Symmetric) -> Symmetric:
    """R A R^T for R = R_1 R_2 ..."""
    for turn in reversed(turns):
        a = turn.symmetric_out(a)
    return a


def after(m: Mat, turns: Sequence[Turn]) -> Mat:
    """M R_1 R_2 ..."""
    for turn in turns:
        m = turn.after(m)
    return m


def from_quaternion(q: Sequence[Scalar]) -> Mat:
    """The rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def quaternion_rate(q: Sequence[Scalar], w: Vec) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """q-dot = 1/2 q (0, w) for an angular velocity in body axes."""
    a, b, c, d = q
    x, y, z = 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]
    return (
        -(b * x + c * y + d * z),
        a * x + c * z - d * y,
        a * y + d * x - b * z,
        a * z + b * y - c * x,
    )


def to_quaternion(r: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
    """The unit quaternion (w, x, y, z), w >= 0 where possible, of a rotation matrix of numbers."""
    trace = r[0][0] + r[1][1] + r[2][2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        q = [0.25 * s, (r[2][1] - r[1][2]) / s, (r[0][2] - r[2][0]) / s, (r[1][0] - r[0][1]) / s]
    else:
        i = max(range(3), key=lambda k: r[k][k])
        j, k = (i + 1) % 3, (i + 2) % 3
        s = 2.0 * math.sqrt(max(0.0, 1.0 + r[i][i] - r[j][j] - r[k][k]))
        q = [0.0] * 4
        q[0] = (r[k][j] - r[j][k]) / s
        q[1 + i] = 0.25 * s
        q[1 + j] = (r[j][i] + r[i][j]) / s
        q[1 + k] = (r[k][i] + r[i][k]) / s
    length = math.sqrt(sum(x * x for x in q)) * (-1.0 if q[0] < 0.0 else 1.0)
    return (q[0] / length, q[1] / length, q[2] / length, q[3] / length)


def half_turn(a: Sequence[Vec], b: Sequence[Vec]) -> tuple[Scalar, Vec]:
    """Cosine of the rotation that takes the axes a to b, and its axis times its sine."""
    trace: Scalar = 0.0
    sine: Vec = (0.0, 0.0, 0.0)
    for x, y in zip(a, b, strict=True):
        trace = trace + dot(x, y)
        sine = add(sine, cross(x, y))
    return 0.5 * (trace - 1.0), scale(0.5, sine)


def direction(a: Vec) -> tuple[Vec, Scalar]:
    """The unit vector along a and the length of a; along x where a vanishes."""
    moved: Vec = (a[0] + VANISHING, a[1], a[2])
    length = norm(moved)
    return scale(1.0 / length, moved), length


def perpendicular_frame(z: Sequence[float], x_near: Sequence[float] | None = None) -> Mat:
    """A rotation (columns x, y, z) whose z is the given unit vector and whose x lies near `x_near`."""
    candidates = [x_near] if x_near is not None else []
    candidates += [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    for guess in candidates:
        along = sum(a * b for a, b in zip(z, guess, strict=True))
        x = [g - along * a for g, a in zip(guess, z, strict=True)]
        length = math.sqrt(sum(a * a for a in x))
        if length > 1e-3 or (guess is x_near and length > 1e-9):
            x = [snap(a / length) for a in x]
            break
    y = (z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0])
    return transpose(_rows((x[0], x[1], x[2]), y, (z[0], z[1], z[2])))


def snap(x: float) -> float:
    """Direction cosines within rounding of -1, 0, 1 become these, so that they fold."""
    for exact in (0.0, 1.0, -1.0):
        if abs(x - exact) < 2e-15:
            return exact
    return x


def snapped(m: Mat) -> Mat:
    """A rotation of numbers with its near zeros and ones made exact."""
    rows = [tuple(snap(x) if isinstance(x, float) else x for x in row) for row in m]
    return (rows[0], rows[1], rows[2])  # type: ignore[return-value]


def constant_turns(r: Mat) -> tuple[Turn, ...]:
    """A constant rotation as turns about z, x, z (Euler angles), identities left out."""
    if any(not isinstance(x, float) for row in r for x in row):
        return () if r == UNIT else (FullTurn(r),)
    beta, alpha, delta = zxz_angles(r)  # type: ignore[arg-type]
    turns = (_about(2, beta), _about(0, alpha), _about(2, delta))
    return tuple(t for t in turns if not (t.c == 1.0 and t.s == 0.0))


def _about(axis: int, angle: float) -> AxisTurn:
    return AxisTurn(axis, snap(math.cos(angle)), snap(math.sin(angle)))


def zxz_angles(r: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """beta, alpha, delta with R = Rz(beta) Rx(alpha) Rz(delta); beta = 0 where alpha is 0 or pi."""
    sine = math.hypot(r[0][2], r[1][2])
    if sine < 1e-14:
        alpha = 0.0 if r[2][2] > 0.0 else math.pi
        return 0.0, alpha, math.atan2(-r[0][1], r[0][0])
    return math.atan2(r[0][2], -r[1][2]), math.atan2(sine, r[2][2]), math.atan2(r[2][0], r[2][1])


__all__ = [
    *("AxisTurn", "FullTurn", "Symmetric", "Turn", "after", "column", "constant_turns", "from_quaternion"),
    *("into", "out", "perpendicular_frame", "quaternion_rate", "snap", "snapped", "symmetric_out"),
    *("to_quaternion", "zxz_angles"),
]
