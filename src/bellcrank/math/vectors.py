"""Vectors and matrices of three as records: for numbers, for traced values, and in the loop language.

`+ - * /` act on a vector or matrix and a scalar, `@` multiplies matrices. A matrix is its three rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Vector(NamedTuple):
    """Three numbers."""

    x: float
    y: float
    z: float

    def __add__(self, other: Vector) -> Vector:  # type: ignore[override]
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, factor: float) -> Vector:  # type: ignore[override]
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def __rmul__(self, factor: float) -> Vector:  # type: ignore[override]
        return Vector(factor * self.x, factor * self.y, factor * self.z)

    def __truediv__(self, divisor: float) -> Vector:
        return Vector(self.x / divisor, self.y / divisor, self.z / divisor)

    def dot(self, other: Vector) -> float:
        """The scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        """The vector product."""
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def outer(self, other: Vector) -> Matrix:
        """The matrix of all products."""
        return Matrix(self.x * other, self.y * other, self.z * other)

    @property
    def square(self) -> float:
        """The square of the length."""
        return self.x * self.x + self.y * self.y + self.z * self.z

    @property
    def length(self) -> float:
        """The length."""
        return (self.x * self.x + self.y * self.y + self.z * self.z) ** 0.5  # type: ignore[no-any-return]


class Matrix(NamedTuple):
    """Three rows of three numbers."""

    a: Vector
    b: Vector
    c: Vector

    def __add__(self, other: Matrix) -> Matrix:  # type: ignore[override]
        return Matrix(self.a + other.a, self.b + other.b, self.c + other.c)

    def __sub__(self, other: Matrix) -> Matrix:
        return Matrix(self.a - other.a, self.b - other.b, self.c - other.c)

    def __neg__(self) -> Matrix:
        return Matrix(-self.a, -self.b, -self.c)

    def __mul__(self, factor: float) -> Matrix:  # type: ignore[override]
        return Matrix(self.a * factor, self.b * factor, self.c * factor)

    def __rmul__(self, factor: float) -> Matrix:  # type: ignore[override]
        return Matrix(factor * self.a, factor * self.b, factor * self.c)

    def __truediv__(self, divisor: float) -> Matrix:
        return Matrix(self.a / divisor, self.b / divisor, self.c / divisor)

    def __matmul__(self, other: Any) -> Any:
        return (
            Vector(self.a.dot(other), self.b.dot(other), self.c.dot(other))
            if isinstance(other, Vector)
            else Matrix(
                self.a.x * other.a + self.a.y * other.b + self.a.z * other.c,
                self.b.x * other.a + self.b.y * other.b + self.b.z * other.c,
                self.c.x * other.a + self.c.y * other.b + self.c.z * other.c,
            )
        )

    @property
    def transposed(self) -> Matrix:
        """Rows and columns exchanged."""
        return Matrix(
            Vector(self.a.x, self.b.x, self.c.x),
            Vector(self.a.y, self.b.y, self.c.y),
            Vector(self.a.z, self.b.z, self.c.z),
        )

    @property
    def determinant(self) -> float:
        """The determinant."""
        return self.a.dot(self.b.cross(self.c))

    @property
    def trace(self) -> float:
        """The sum of the diagonal."""
        return self.a.x + self.b.y + self.c.z


# NumPy's numbers leave products with records to these.
Vector.__array_ufunc__ = Matrix.__array_ufunc__ = None  # type: ignore[attr-defined]


def inverse(m: Matrix) -> Matrix:
    """The inverse by cofactors."""
    u, v, w = m.b.cross(m.c), m.c.cross(m.a), m.a.cross(m.b)
    return Matrix(Vector(u.x, v.x, w.x), Vector(u.y, v.y, w.y), Vector(u.z, v.z, w.z)) / m.a.dot(u)


def across(n: Vector) -> Vector:
    """A unit vector across a unit vector."""
    e = Vector(-n.z, 0.0, n.x) if abs(n.x) > 0.8 else Vector(0.0, n.z, -n.y)
    return e / e.length


IDENTITY = Matrix(Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))
ZERO = Vector(0.0, 0.0, 0.0)
