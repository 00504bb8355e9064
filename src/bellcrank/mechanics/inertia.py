"""Mass, first moment and second moment of a rigid link about its origin.

The second moment J = sum m r r^T is used instead of the inertia tensor I = tr(J) 1 - J: it moves under
translation by J' = J + h r^T + r h^T + m r r^T without cross products, and mass spread along an axis is
one number of it, which is what regrouping needs.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.math.rotations import Symmetric, Turn, out, symmetric_out
from bellcrank.math.tuples import ZERO, Mat, Vec, add, cross, scale, sub
from bellcrank.program.trace import Scalar

NO_MOMENT: Symmetric = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass m [kg], first moment h = m c [kg m], second moment J [kg m2], about and in the link's frame."""

    m: Scalar
    h: Vec
    J: Symmetric

    def __add__(self, other: Inertia) -> Inertia:
        J = tuple(a + b for a, b in zip(self.J, other.J, strict=True))
        return Inertia(self.m + other.m, add(self.h, other.h), J)  # type: ignore[arg-type]

    def moved(self, turns: tuple[Turn, ...], r: Vec) -> Inertia:
        """The same mass seen from a frame in which this one stands at `r`, turned by `turns`."""
        h = out(turns, self.h)
        J = symmetric_out(turns, self.J)
        m, (x, y, z) = self.m, r
        # h r^T + r h^T + m r r^T = g r^T + r g^T with g = h + m r / 2
        gx, gy, gz = (h[0] + 0.5 * m * x, h[1] + 0.5 * m * y, h[2] + 0.5 * m * z)
        moved = (
            *(J[0] + 2.0 * (gx * x), J[1] + 2.0 * (gy * y), J[2] + 2.0 * (gz * z)),
            *(J[3] + (gx * y + gy * x), J[4] + (gx * z + gz * x), J[5] + (gy * z + gz * y)),
        )
        return Inertia(m, add(h, scale(m, r)), moved)

    def momentum(self, w: Vec, v: Vec) -> tuple[Vec, Vec]:
        """Moment about the origin and force per unit spatial motion: I w + h x v, m v + w x h."""
        xx, yy, zz, xy, xz, yz = self.J
        n = (
            (yy + zz) * w[0] - xy * w[1] - xz * w[2],
            (xx + zz) * w[1] - xy * w[0] - yz * w[2],
            (xx + yy) * w[2] - xz * w[0] - yz * w[1],
        )
        return add(n, cross(self.h, v)), add(scale(self.m, v), cross(w, self.h))

    def force(self, a: Vec, K: Mat) -> tuple[Vec, Vec]:
        """Moment about the origin and force of the accelerated link.

        f = m a + K h and n = h x a + vee(K J - (K J)^T) with K = [alpha]x + [w]x [w]x.
        """
        xx, yy, zz, xy, xz, yz = self.J
        n = (
            K[2][0] * xy + K[2][1] * yy - K[1][0] * xz - K[1][2] * zz + (K[2][2] - K[1][1]) * yz,
            K[0][1] * yz + K[0][2] * zz - K[2][0] * xx - K[2][1] * xy + (K[0][0] - K[2][2]) * xz,
            K[1][0] * xx + K[1][2] * xz - K[0][1] * yy - K[0][2] * yz + (K[1][1] - K[0][0]) * xy,
        )
        h = self.h
        kh = (
            K[0][0] * h[0] + K[0][1] * h[1] + K[0][2] * h[2],
            K[1][0] * h[0] + K[1][1] * h[1] + K[1][2] * h[2],
            K[2][0] * h[0] + K[2][1] * h[1] + K[2][2] * h[2],
        )
        return add(n, cross(h, a)), add(scale(self.m, a), kh)

    def axis_part(self) -> Inertia:
        """The mass, first and second moment along z: a spin about z leaves these where they are."""
        return Inertia(self.m, (0.0, 0.0, self.h[2]), (0.0, 0.0, self.J[2], 0.0, 0.0, 0.0))

    def point_part(self) -> Inertia:
        """The mass as a point at the origin: any rotation about the origin leaves it where it is."""
        return Inertia(self.m, ZERO, NO_MOMENT)

    def moment_part(self) -> Inertia:
        """The second moment alone: a translation of the link does not change it."""
        return Inertia(0.0, ZERO, self.J)


NOTHING = Inertia(0.0, ZERO, NO_MOMENT)


def from_body(mass: Scalar, center: Vec, inertia: Mat) -> Inertia:
    """From the inertia tensor about the centre of mass to the moments about the frame's origin."""
    half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2])
    J: Symmetric = (
        *(half - inertia[0][0], half - inertia[1][1], half - inertia[2][2]),
        *(-inertia[0][1], -inertia[0][2], -inertia[1][2]),
    )
    return Inertia(mass, ZERO, J).moved((), center)


def turning_matrix(w: Vec, alpha: Vec) -> Mat:
    """K = [alpha]x + [w]x [w]x: acceleration of a point at r from the origin is a + K r."""
    x, y, z = w
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    return (
        (-(yy + zz), xy - alpha[2], xz + alpha[1]),
        (xy + alpha[2], -(xx + zz), yz - alpha[0]),
        (xz - alpha[1], yz + alpha[0], -(xx + yy)),
    )


def without(p: Inertia, part: Inertia) -> Inertia:
    """p - part, for a part read off p itself."""
    J = tuple(a - b for a, b in zip(p.J, part.J, strict=True))
    return Inertia(p.m - part.m, sub(p.h, part.h), J)  # type: ignore[arg-type]
