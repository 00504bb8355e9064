"""Inertia of a link with joints beyond it that give way: a full symmetric 6 x 6 relation.

n = A alpha + B a and f = B^T alpha + C a about the link's origin, in its axes (Featherstone's articulated-body
inertia; A and C symmetric).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.math.rotations import Symmetric, Turn, symmetric_out
from bellcrank.math.tuples import Mat, Vec, add, cross, times, transpose, transposed_times
from bellcrank.mechanics.inertia import Inertia
from bellcrank.program.trace import Scalar

_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def symmetric_times(a: Symmetric, v: Vec) -> Vec:
    """A v for A given by its six entries."""
    xx, yy, zz, xy, xz, yz = a
    return (
        xx * v[0] + xy * v[1] + xz * v[2],
        xy * v[0] + yy * v[1] + yz * v[2],
        xz * v[0] + yz * v[1] + zz * v[2],
    )


def _full(a: Symmetric) -> Mat:
    xx, yy, zz, xy, xz, yz = a
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


@dataclass(frozen=True, eq=False)
class Articulated:
    """The blocks A, B, C."""

    A: Symmetric
    B: Mat
    C: Symmetric

    @staticmethod
    def rigid(p: Inertia) -> Articulated:
        """A rigid link: A = tr(J) 1 - J, B = [h]x, C = m 1."""
        xx, yy, zz, xy, xz, yz = p.J
        x, y, z = p.h
        return Articulated(
            (yy + zz, xx + zz, xx + yy, -xy, -xz, -yz),
            ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)),
            (p.m, p.m, p.m, 0.0, 0.0, 0.0),
        )

    def __add__(self, other: Articulated) -> Articulated:
        A = tuple(a + b for a, b in zip(self.A, other.A, strict=True))
        C = tuple(a + b for a, b in zip(self.C, other.C, strict=True))
        B = tuple(add(a, b) for a, b in zip(self.B, other.B, strict=True))
        return Articulated(A, B, C)  # type: ignore[arg-type]

    def moved(self, turns: Sequence[Turn], r: Vec) -> Articulated:
        """Seen from a frame in which this one stands at `r`, turned by `turns`."""
        A, C, B = symmetric_out(turns, self.A), symmetric_out(turns, self.C), self.B
        for turn in reversed(turns):
            B = transpose(_columns_out(turn, transpose(_columns_out(turn, B))))
        full = _full(C)
        # B' = B + [r]x C and A' = A - B [r]x + [r]x B'^T
        XC = transpose((cross(r, full[0]), cross(r, full[1]), cross(r, full[2])))
        moved_B: Mat = (add(B[0], XC[0]), add(B[1], XC[1]), add(B[2], XC[2]))
        # row i of -B [r]x is r x (row i of B); column j of [r]x B'^T is r x (row j of B')
        left = [cross(r, row) for row in B]
        right = [cross(r, row) for row in moved_B]
        moved_A = tuple(A[k] + (left[i][j] + right[j][i]) for k, (i, j) in enumerate(_ENTRIES))
        return Articulated(moved_A, moved_B, C)  # type: ignore[arg-type]

    def force(self, alpha: Vec, a: Vec) -> tuple[Vec, Vec]:
        """Moment and force for an acceleration."""
        n = add(symmetric_times(self.A, alpha), times(self.B, a))
        return n, add(transposed_times(self.B, alpha), symmetric_times(self.C, a))

    def less(
        self, F: Sequence[tuple[Vec, Vec]], U: Sequence[tuple[Vec, Vec]], gone: frozenset[int]
    ) -> Articulated:
        """This less sum_c F_c U_c^T; components in `gone` (0-2 turning, 3-5 shifting) vanish exactly."""
        wide_F = [(*n, *f) for n, f in F]
        wide_U = [(*n, *f) for n, f in U]

        def entry(i: int, j: int, before: Scalar) -> Scalar:
            if i in gone or j in gone:
                return 0.0
            for x, y in zip(wide_F, wide_U, strict=True):
                before = before - x[i] * y[j]
            return before

        A = tuple(entry(i, j, self.A[k]) for k, (i, j) in enumerate(_ENTRIES))
        C = tuple(entry(3 + i, 3 + j, self.C[k]) for k, (i, j) in enumerate(_ENTRIES))
        B = tuple(tuple(entry(i, 3 + j, self.B[i][j]) for j in range(3)) for i in range(3))
        return Articulated(A, B, C)  # type: ignore[arg-type]


def _columns_out(turn: Turn, m: Mat) -> Mat:
    """R M: every column turned."""
    columns = transpose(m)
    return transpose((turn.out(columns[0]), turn.out(columns[1]), turn.out(columns[2])))
