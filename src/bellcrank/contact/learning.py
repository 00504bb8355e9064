"""What a Newton step tells of the curvatures: those of the nearest samples may be far off, and steps taken with them
would go back and forth.

Where a surface begins to bend, as at the start of a fillet, the surface through its samples is bent more than any of
its quadrics. The residual that comes out of a step, less the one it should leave, says by how much.

Source: Broyden (1965); Dennis and Schnabel (1983). Differs in: where that would leave less than a quarter of the
curvature of the gap, less is learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes import TINY
from bellcrank.contact.units import part
from bellcrank.math.tuples import Mat, Vec, add, dot, scale, sub
from bellcrank.program.functions import maximum, where
from bellcrank.program.trace import Scalar, compare

Floats = NDArray[np.float64]

MOST_LESS = 0.75
"""Share of the curvature of the gap that a step may take away."""
LEARNS = 1e-7
"""Newton step over the spacing below which rounding tells nothing of curvatures."""
OFF = 0.5
"""Residual over the one before the step beyond which a search learns: less comes down by itself."""


@dataclass(frozen=True, eq=False)
class Step:
    """A Newton step: its vector, the residual that it should leave, and which step an amount of residual calls for."""

    vector: Vec
    leaves: Vec
    answers: Callable[[Vec], Vec]

    def learnt(self, C: Mat, residual: Vec, longest: Scalar) -> Mat:
        """C, which is added to the curvatures of the gap, after the residual that came out."""
        off = sub(self.leaves, residual)
        square = dot(self.vector, self.vector)
        some = compare("lt", (LEARNS * longest) * (LEARNS * longest), square)
        inverse = where(some, 1.0, 0.0) / maximum(square, TINY)
        less = -inverse * dot(self.vector, self.answers(off))
        inverse = inverse * where(compare("lt", MOST_LESS, less), MOST_LESS / maximum(less, MOST_LESS), 1.0)
        x, y, z = (add(row, scale(inverse * value, self.vector)) for row, value in zip(C, off, strict=True))
        return x, y, z


# The same in compiled code, in pad from a place on: C by rows, the last step, what it should leave, two tangents, its
# parts along them, the matrix it was solved with, whether there was one, and the square of the residual before.
VECTOR = 9
LEAVES = 12
TANGENTS = 15
PARTS = 21
SOLVED = 23
STEPPED = 27
BEFORE = 28
LEARNING = 29


@part
def forget(pad: Floats, at: int) -> None:
    """Know nothing."""
    for k in range(LEARNING):
        pad[at + k] = 0.0


@part
def learn(pad: Floats, at: int, x: float, y: float, z: float, longest: float) -> None:
    """From the residual that came out of the last step."""
    if pad[at + STEPPED] < 0.5:
        return
    pad[at + STEPPED] = 0.0
    x = pad[at + LEAVES] - x
    y = pad[at + LEAVES + 1] - y
    z = pad[at + LEAVES + 2] - z
    if not x * x + y * y + z * z > OFF * OFF * pad[at + BEFORE]:
        return
    m1 = pad[at + PARTS]
    m2 = pad[at + PARTS + 1]
    square = m1 * m1 + m2 * m2
    if not square > (LEARNS * longest) * (LEARNS * longest):
        return
    e = at + TANGENTS
    o1 = pad[e] * x + pad[e + 1] * y + pad[e + 2] * z
    o2 = pad[e + 3] * x + pad[e + 4] * y + pad[e + 5] * z
    s = at + SOLVED
    determinant = pad[s] * pad[s + 3] - pad[s + 1] * pad[s + 2]
    t1 = (pad[s + 3] * o1 - pad[s + 1] * o2) / determinant
    t2 = (pad[s] * o2 - pad[s + 2] * o1) / determinant
    inverse = 1.0 / square
    less = -inverse * (m1 * t1 + m2 * t2)
    if less > MOST_LESS:
        inverse *= MOST_LESS / less
    for k in range(3):
        v = inverse * pad[at + VECTOR + k]
        pad[at + k] += x * v
        pad[at + 3 + k] += y * v
        pad[at + 6 + k] += z * v


@part
def learnt(pad: Floats, at: int, ux: float, uy: float, uz: float, vx: float, vy: float, vz: float) -> float:
    """u . C v, which is added to a curvature of the gap."""
    x = pad[at] * vx + pad[at + 1] * vy + pad[at + 2] * vz
    y = pad[at + 3] * vx + pad[at + 4] * vy + pad[at + 5] * vz
    z = pad[at + 6] * vx + pad[at + 7] * vy + pad[at + 8] * vz
    return ux * x + uy * y + uz * z  # type: ignore[no-any-return]


@part
def stepped(
    pad: Floats, at: int, t1: float, t2: float, ux: float, uy: float, uz: float, vx: float, vy: float, vz: float,
    A11: float, A12: float, A21: float, A22: float, w1: float, w2: float, leaves: float,
) -> None:  # fmt: skip
    """Remember a step of t1 u + t2 v; w: The residual it was made for. leaves: The share that it should leave."""
    pad[at + VECTOR] = t1 * ux + t2 * vx
    pad[at + VECTOR + 1] = t1 * uy + t2 * vy
    pad[at + VECTOR + 2] = t1 * uz + t2 * vz
    pad[at + LEAVES] = leaves * (w1 * ux + w2 * vx)
    pad[at + LEAVES + 1] = leaves * (w1 * uy + w2 * vy)
    pad[at + LEAVES + 2] = leaves * (w1 * uz + w2 * vz)
    e = at + TANGENTS
    pad[e] = ux
    pad[e + 1] = uy
    pad[e + 2] = uz
    pad[e + 3] = vx
    pad[e + 4] = vy
    pad[e + 5] = vz
    pad[at + PARTS] = t1
    pad[at + PARTS + 1] = t2
    s = at + SOLVED
    pad[s] = A11
    pad[s + 1] = A12
    pad[s + 2] = A21
    pad[s + 3] = A22
    pad[at + STEPPED] = 1.0
    pad[at + BEFORE] = w1 * w1 + w2 * w2


__all__ = ["LEARNING", "STEPPED", "Step", "forget", "learn", "learnt", "stepped"]
