"""Surfaces of Bezier patches around a contact point: de Casteljau's algorithm in a program and in numbers.

A program holds the control points of one patch and the parameters u, v of the last contact; Newton's method finds the
foot of a point on it. The patch is changed where the contact leaves it, which is located as an event; searches find it
by :mod:`bellcrank.contact.patch_settling`.

Source: Farin (2002), Curves and Surfaces for CAGD, sections 4.1 (de Casteljau), 14.6 (tensor products), 19.3
(curvature).
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.partners import Symmetric
from bellcrank.contact.patch_points import OVER, PADDED, PATCHED, SINGLE, SOFT
from bellcrank.contact.patch_settling import CHANGED, LEAVES, SAME, WIDTH, WRITES, settle_patch
from bellcrank.contact.pieces import SLOPES
from bellcrank.contact.shapes import TINY
from bellcrank.contact.source import Around, Source
from bellcrank.contact.steps import chosen
from bellcrank.contact.tree_layout import STACK
from bellcrank.math.tuples import Vec, add, cross, dot, scale, sub, vec
from bellcrank.program.functions import maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, logical

if TYPE_CHECKING:
    from bellcrank.contact.covering import Covering

Array = NDArray[np.float64]

STEPS = 3
"""Newton steps for a foot in a program, from the last contact."""
BEYOND = 0.25
"""How far, in parameters, the step of an integrator may reach beyond limits; there the event is met that ends it."""
HEAD = 6
"""Entries before the control points: u, v, and the least and largest of each before another patch is due."""


def de_casteljau(control: Array, t: float) -> tuple[Array, Array, Array]:
    """Point and first two derivatives of the Bezier curve with the control points (number, ...) at t."""
    n, row = len(control) - 1, control
    while len(row) > 3:
        row = (1.0 - t) * row[:-1] + t * row[1:]
    bend = n * (n - 1) * (row[2] - 2.0 * row[1] + row[0]) if n > 1 else np.zeros_like(row[0])
    while len(row) > 2:
        row = (1.0 - t) * row[:-1] + t * row[1:]
    return (1.0 - t) * row[0] + t * row[1], n * (row[1] - row[0]), bend


def patch_at(control: Array, u: float, v: float) -> tuple[Array, ...]:
    """Point of a patch (rows, columns, 3), its derivatives by u and v, and by uu, uv, vv."""
    along, slope, bend = de_casteljau(control, u)
    point, by_v, by_vv = de_casteljau(along, v)
    by_u, by_uv, _ = de_casteljau(slope, v)
    return point, by_u, by_v, de_casteljau(bend, v)[0], by_uv, by_vv


class Patched(Source):
    """A surface of patches of one degree.

    sign: +1 where the normal is u x v, -1 where it is v x u.
    """

    degrees: tuple[int, int]
    sign: float

    @property
    def entries(self) -> int:
        return HEAD + 3 * (self.degrees[0] + 1) * (self.degrees[1] + 1)

    def local(self, start: Vec, inputs: Sequence[Scalar], turn: Scalar) -> LocalPatch:
        return LocalPatch(self, start, tuple(inputs), turn)

    @abstractmethod
    def covered(self, width: float, edges: bool) -> Covering:
        """Points over all patches, in cells no wider than that [m], by which the surface is searched.

        edges: Whether points stand on creases as well.
        """

    def piece(self, x: Array) -> tuple[Array, Array, bool]:
        """The foot of x, then u, v, their limits until another patch is due, and the control points of the patch."""
        cover = self.covered(math.inf, False)
        pad, numbers = np.zeros(PADDED), np.zeros(3 + self.entries)
        pad[SLOPES + 4 : SLOPES + 7] = x
        counts, stack = np.zeros(CHANGED + 2, np.int64), np.zeros((2, STACK), np.int64)
        counts[[0, LEAVES, WIDTH, WRITES]] = -1, cover.tree.leaves, cover.tree.width, 1
        spare = 3 * (np.zeros(1),)
        settle_patch(
            stack[0], counts, cover.pieces.table, cover.pieces.nodes, pad, numbers, *spare, stack[1], spare[0]
        )
        return numbers[:3], numbers[3:], bool(pad[PATCHED + OVER] <= SAME)


@dataclass(frozen=True, eq=False)
class LocalPatch(Around):
    """One patch with its control points as inputs."""

    source: Patched
    far: ClassVar[float] = -BEYOND

    def at(self, u: Scalar, v: Scalar) -> tuple[Vec, ...]:
        """The point, its derivatives by u and v, and by uu, uv, vv."""
        rows, columns = self.source.degrees[0] + 1, self.source.degrees[1] + 1
        flat = self.inputs[HEAD:]
        net = [[_three(flat, 3 * (i * columns + j)) for i in range(rows)] for j in range(columns)]
        curves = [_casteljau(column, u) for column in net]
        point, by_v, by_vv = _casteljau([c[0] for c in curves], v)
        by_u, by_uv, _ = _casteljau([c[1] for c in curves], v)
        return point, by_u, by_v, _casteljau([c[2] for c in curves], v)[0], by_uv, by_vv

    def foot(self, x: Vec) -> tuple[Scalar, Scalar]:
        """Parameters of the foot of a point."""
        u, v = self.inputs[0], self.inputs[1]
        for _ in range(STEPS):
            p, a, b, aa, ab, bb = self.at(u, v)
            r = sub(p, x)
            m11, m12, m22 = dot(a, a), dot(a, b), dot(b, b)
            h11, h12, h22 = m11 + dot(aa, r), m12 + dot(ab, r), m22 + dot(bb, r)
            flat, det = m11 * m22 - m12 * m12, h11 * h22 - h12 * h12
            # Far from the surface the second derivatives may turn the step round: Gauss and Newton's then.
            safe = logical("and", compare("lt", 0.1 * flat, det), compare("lt", 0.0, h11))
            h11, h12, h22 = where(safe, h11, m11), where(safe, h12, m12), where(safe, h22, m22)
            # Where a side of the patch is a single point nothing changes along it.
            soft = SOFT * (h11 + h22)
            inverse = 1.0 / maximum(where(safe, det, flat) + soft * (h11 + h22), TINY)
            g1, g2 = dot(a, r), dot(b, r)
            du, dv = inverse * ((h22 + soft) * g1 - h12 * g2), inverse * ((h11 + soft) * g2 - h12 * g1)
            u, v = u - minimum(maximum(du, -1.0), 1.0), v - minimum(maximum(dv, -1.0), 1.0)
        return u, v

    def pulled(self, x: Vec) -> tuple[Vec, Vec]:
        u, v = self.foot(x)
        p, a, b, _, ab, _ = self.at(u, v)
        return p, self._normal(u, v, a, b, ab)

    def _normal(self, u: Scalar, v: Scalar, a: Vec, b: Vec, ab: Vec) -> Vec:
        """Where a side of the patch is a single point, as :func:`bellcrank.contact.patch_points.told` has it."""
        n, size = cross(a, b), dot(a, a) + dot(b, b)
        # Behind a side that is a single point the patch is turned inside out.
        _, a0, b0, *_ = self.at(self.inputs[0], self.inputs[1])
        n = scale(where(compare("lt", dot(n, cross(a0, b0)), 0.0), -1.0, 1.0), n)
        first = compare("lt", dot(a, a), dot(b, b))
        inwards = where(compare("lt", where(first, v, u), 0.5), 1.0, -1.0)
        other = scale(inwards, vec(chosen(first, cross(ab, b), cross(a, ab))))
        n = vec(chosen(compare("lt", SINGLE * size * size, dot(n, n)), n, other))
        return scale(self.source.sign / sqrt(maximum(dot(n, n), TINY)), n)

    def bend(self, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
        """Second over first fundamental form, where the last contact was; at x where it is `sharp`."""
        u, v = self.foot(x) if self.sharp else (self.inputs[0], self.inputs[1])
        _, a, b, aa, ab, bb = self.at(u, v)
        n = self._normal(u, v, a, b, ab)
        E, F, G = dot(a, a), dot(a, b), dot(b, b)
        L, M, N = -dot(n, aa), -dot(n, ab), -dot(n, bb)
        det = 1.0 / maximum(E * G - F * F, TINY)

        def share(e: Vec) -> tuple[Scalar, Scalar]:
            p, q = dot(e, a), dot(e, b)
            return det * (G * p - F * q), det * (E * q - F * p)

        (p1, q1), (p2, q2) = share(e1), share(e2)

        def form(p: Scalar, q: Scalar, s: Scalar, t: Scalar) -> Scalar:
            return L * p * s + M * (p * t + q * s) + N * q * t

        return form(p1, q1, p1, q1), form(p1, q1, p2, q2), form(p2, q2, p2, q2)

    def room(self, x: Vec) -> Scalar:
        u, v = self.foot(x)
        low_u, high_u, low_v, high_v = self.inputs[2:HEAD]
        return minimum(minimum(u - low_u, high_u - u), minimum(v - low_v, high_v - v))


def _three(flat: Sequence[Scalar], k: int) -> Vec:
    return flat[k], flat[k + 1], flat[k + 2]


def _casteljau(control: Sequence[Vec], t: Scalar) -> tuple[Vec, Vec, Vec]:
    """Point and first two derivatives of a Bezier curve, traced."""
    n, row = len(control) - 1, list(control)

    def lower(points: list[Vec]) -> list[Vec]:
        return [add(p, scale(t, sub(q, p))) for p, q in itertools.pairwise(points)]

    while len(row) > 3:
        row = lower(row)
    bend: Vec = (0.0, 0.0, 0.0)
    if n > 1:
        bend = scale(float(n * (n - 1)), sub(sub(row[2], row[1]), sub(row[1], row[0])))
    while len(row) > 2:
        row = lower(row)
    return lower(row)[0], scale(float(n), sub(row[1], row[0])), bend


__all__ = ["LocalPatch", "Patched", "de_casteljau", "patch_at"]
