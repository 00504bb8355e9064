"""A solid of revolution with any smooth profile, convex or not: a bat, a bottle, a cam on its axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bellcrank.base.keys import FUNCTION, NUMBER, Keys, must
from bellcrank.contact.given import is_positive
from bellcrank.contact.shapes.base import (
    RIMS,
    SAGITTA,
    SHARPEST,
    TINY,
    Floats,
    Shape,
    Support,
    check_plain,
    check_rounding,
)
from bellcrank.contact.shapes.fields import (
    BLEND,
    SHARP,
    Field,
    smooth_absolute,
    smooth_maximum,
    smooth_radius,
)
from bellcrank.contact.shapes.splines import pieces
from bellcrank.contact.shapes.turned import mass_of_revolution, rounded
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, dot, scale, sub
from bellcrank.math.vectors import Vector
from bellcrank.program.derive import directional
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import clip, maximum, rebuild, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.loops import Reals2, value
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, compare, logical

STARTS = 24
"""Places along the profile from which the nearest is refined."""
STEPS = 8
"""Newton steps from there."""
CELLS = (64, 128, 256, 512, 1024, 2048)
"""Intervals of the spline that stands for the profile in the field; the first number that follows it is taken."""
FOLLOWED = 1e-11
"""How far the spline may leave the profile, over its length."""
PLACES = 64
"""Places along the profile from which the field begins to look for the nearest."""


class RevolutionField(NamedTuple):
    """Minus the smooth maximum of the distance to the profile, in the half-plane through x, and the ends.

    Exact off the rims, where the slope falls to 0.71 or, at a sharp rim, less; C2 where the profile is C3, but where
    two places of the profile are equally near.

    pieces: Powers of the spline in every interval, one more before and behind. starts: Rows of height and radius [m].
    cell: Length of an interval [m]. width: Over which side and ends are blended [m].
    """

    pieces: Reals2
    starts: Reals2
    cell: float
    length: float
    width: float

    def at(self, z: float) -> tuple[float, float, float]:
        """Radius, its slope and its second derivative; quadratic beyond the ends, and straight beyond the blends."""
        within = min(max(z, -self.width), self.length + self.width)
        last = len(self.pieces) - 2
        place = value(within) / self.cell
        base = min(max(int(place), 0), last)
        row = base + 1
        if place < 0.0:
            row = 0
        t = within / self.cell - base
        c = self.pieces
        r = c[row, 0] + t * (c[row, 1] + t * (c[row, 2] + t * (c[row, 3] + t * (c[row, 4] + t * c[row, 5]))))
        slope = c[row, 1] + t * (
            2.0 * c[row, 2] + t * (3.0 * c[row, 3] + t * (4.0 * c[row, 4] + t * 5.0 * c[row, 5]))
        )
        bend = 2.0 * c[row, 2] + t * (6.0 * c[row, 3] + t * (12.0 * c[row, 4] + t * 20.0 * c[row, 5]))
        slope, bend = slope / self.cell, bend / (self.cell * self.cell)
        beyond = z - within
        if value(beyond) != 0.0:
            bend = 0.0 * bend
        return r + slope * beyond, slope, bend

    def step(self, out: float, height: float, z: float) -> float:
        """A step of Newton's method towards the place of the profile nearest to (out, height)."""
        r, slope, bend = self.at(value(z))
        steep = 1.0 + slope * slope
        full = steep - (out - r) * bend
        if full < 0.1 * steep:
            full = steep + 0.0 * full
        return z + (height - z + (out - r) * slope) / full

    def far(self, out: float, height: float, k: int) -> float:
        """The square of the distance from one of the starts."""
        along, across = height - self.starts[k, 0], out - self.starts[k, 1]
        return along * along + across * across  # type: ignore[no-any-return]

    def nearest(self, out: float, height: float) -> float:
        """The place of the profile, with its straight ends, nearest to (out, height)."""
        z, least = 0.0, math.inf
        before, now = math.inf, self.far(out, height, 0)
        last = len(self.starts) - 1
        for k in range(last + 1):
            after = self.far(out, height, k + 1) if k < last else math.inf
            if now <= before and now <= after:
                low, place = now, self.starts[k, 0]
                bend = before - 2.0 * now + after
                # A parabola through three places shows which of two valleys is the deeper one.
                if k > 0 and k < last and bend > 0.0:
                    tilt = after - before
                    low = now - tilt * tilt / (8.0 * bend)
                    place -= 0.5 * tilt / bend * (self.starts[1, 0] - self.starts[0, 0])
                if low < least:
                    least = low
                    z = place
            before = now
            now = after
        for k in range(2):
            end = -self.width if k == 0 else self.length + self.width
            r, slope, _ = self.at(end)
            foot = (height - end + (out - r) * slope) / (1.0 + slope * slope)
            foot = min(foot, 0.0) if k == 0 else max(foot, 0.0)
            along, across = height - end - foot, out - r - slope * foot
            far = along * along + across * across
            if far < least:
                least = far
                z = end + foot
        for _ in range(12):
            after = self.step(out, height, z)
            change = abs(after - z)
            z = after
            # The next step, which carries the rates, squares this.
            if change <= 1e-9 * self.length:
                break
        return z

    def depth(self, x: Vector) -> float:
        out = smooth_radius(x.x * x.x + x.y * x.y, self.width)
        z = self.nearest(value(out), value(x.z))
        foot = self.step(out, x.z, z)
        r, slope, _ = self.at(foot)
        side = (out - r - slope * (x.z - foot)) / (1.0 + slope * slope) ** 0.5
        half = 0.5 * self.length
        return -smooth_maximum(side, smooth_absolute(x.z - half, self.width) - half, self.width)

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r


@dataclass(frozen=True, eq=False)
class Revolution(Shape):
    """The solid r <= profile(z), 0 <= z <= length, about the z axis of its frame, with flat ends; meets spheres.

    profile: Radius [m] as a function of z [m], positive and smooth, written with NumPy's functions. length: [m].
    rounding: Radius of the rims [m], a fiftieth of the smaller of diameter and length where missing; 0 for sharp ones.
    """

    kind = "revolution"
    keys = Keys(
        "A solid of revolution about z, 0 to length.",
        must("function", FUNCTION, "Radius [m] of z [m].", of=("z",), python="profile"),
        must("length", NUMBER, "[m] A plain number.", plain=True),
        replace(RIMS, plain=True),
    )

    profile: Callable[[Scalar], Scalar]
    length: float
    rounding: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.profile):
            raise ModelError(f"solid of revolution: its profile is a function of z, not {self.profile!r}")
        check_plain("solid of revolution", length=self.length, rounding=self.rounding)
        if not is_positive(self.length):
            raise ModelError(
                f"solid of revolution: length must be a positive length [m], not {self.length!r}"
            )
        radii = self._radii
        if not (np.all(np.isfinite(radii)) and np.all(radii > 0.0)):
            z = self.length * int(np.argmin(np.where(np.isfinite(radii), radii, -np.inf))) / (len(radii) - 1)
            raise ModelError(f"solid of revolution: the radius at z = {z:.4g} m is not a positive length [m]")
        check_rounding("solid of revolution", self.rounding, self._smallest)

    @property
    def _smallest(self) -> float:
        """Half the smallest size [m]."""
        return min(float(self._radii.max()), 0.5 * self.length)

    @cached_property
    def _program(self) -> Program:
        graph = Graph()
        z = graph.input("z")
        r = graph.bring(self.profile(z))
        slope = directional([r], {z.id: 1.0})[0]
        return Program.of([z], [r, slope, directional([slope], {z.id: 1.0})[0]], "profile")

    @cached_property
    def _radii(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.asarray(evaluate(self._program, np.linspace(0.0, self.length, 401)[None, :])[0])

    def outline(self, rings: int = 26) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Places along the axis and the radius there [m], shape (rings, 2)."""
        z = np.linspace(0.0, self.length, rings)
        return np.stack(
            [z, np.interp(z, np.linspace(0.0, self.length, len(self._radii)), self._radii)], axis=1
        )

    def at(self, z: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """Radius, its slope and its second derivative."""
        done: dict[int, Scalar] = {self._program.inputs[0].id: z}
        for node in self._program.operations:
            done[node.id] = rebuild(node.op, [done.get(getattr(a, "id", -1), a) for a in node.args])
        r, slope, bend = (done[o.id] if hasattr(o, "id") else o for o in self._program.outputs)
        return r, slope, bend

    def implicit(self, s: Vec) -> Scalar:
        around = sqrt(s[0] * s[0] + s[1] * s[1]) - self.at(s[2])[0]
        return maximum(around, maximum(-s[2], s[2] - self.length))

    def support(self, n: Vec) -> Support:
        raise ModelError(
            "a solid of revolution meets spheres only; it may not be convex, so it has no support points"
        )

    def bounding_radius(self) -> Scalar:
        return math.hypot(self.length, float(self._radii.max()))

    def nearest(self, c: Vec) -> tuple[Vec, Vec]:
        """Outward normal and point of the surface nearest to c."""
        around = sqrt(maximum(c[0] * c[0] + c[1] * c[1], TINY))
        out: Vec = (c[0] / around, c[1] / around, 0.0)
        z = self._foot(around, c[2])
        r, slope, _ = self.at(z)
        side = scale(1.0 / sqrt(1.0 + slope * slope), (out[0], out[1], -slope))
        top = where(compare("lt", 0.5 * self.length, c[2]), self.length, 0.0)
        rim = self.at(top)[0]
        held = clip(around, 0.0, rim)
        on_end: Vec = (out[0] * held, out[1] * held, top)
        on_side: Vec = (out[0] * r, out[1] * r, z)
        to_side, to_end = sub(c, on_side), sub(c, on_end)
        inside = logical(
            "and",
            compare("lt", around, self.at(clip(c[2], 0.0, self.length))[0]),
            logical("and", compare("lt", 0.0, c[2]), compare("lt", c[2], self.length)),
        )
        by_side = compare("le", dot(to_side, to_side), dot(to_end, to_end))
        x = tuple(where(by_side, p, q) for p, q in zip(on_side, on_end, strict=True))
        away = sub(c, (x[0], x[1], x[2]))
        gap2 = dot(away, away)
        # Nearer than 1e-12 of the length the direction to the surface is rounding; the normal there is not.
        tiny = compare("lt", gap2, 1e-24 * self.length * self.length)
        flip = where(inside, -1.0, 1.0) / sqrt(maximum(gap2, TINY))
        up = where(compare("lt", 0.0, top), 1.0, -1.0)
        spare = tuple(where(by_side, p, q) for p, q in zip(side, (0.0, 0.0, up), strict=True))
        n = tuple(where(tiny, s, flip * d) for s, d in zip(spare, away, strict=True))
        return (n[0], n[1], n[2]), (x[0], x[1], x[2])

    def _foot(self, around: Scalar, height: Scalar) -> Scalar:
        """z of the point of the profile nearest to (around, height)."""
        best: Scalar = 0.0
        least: Scalar = math.inf
        for k in range(STARTS + 1):
            z = self.length * k / STARTS
            radius = float(self.at(z)[0])
            far = (around - radius) * (around - radius) + (height - z) * (height - z)
            nearer = True if k == 0 else compare("lt", far, least)
            best, least = where(nearer, z, best), where(nearer, far, least)
        for _ in range(STEPS):
            r, slope, bend = self.at(best)
            pull = (height - best) + (around - r) * slope
            steep = 1.0 + slope * slope
            full = steep - (around - r) * bend
            best = best + pull / where(compare("lt", 0.1 * steep, full), full, steep)
            best = clip(best, 0.0, self.length)
        return best

    def _profile(self, z: Floats) -> Floats:
        """Radii at places along the axis [m]."""
        return np.broadcast_to(evaluate(self._program, z.reshape(1, -1))[0], z.size).reshape(z.shape)

    @cached_property
    def field(self) -> Field:
        for cells in CELLS:
            z = np.linspace(0.0, self.length, cells + 1)
            table = pieces(self._profile(z))
            # Halfway between knots a spline leaves what it follows most.
            middles = table @ 0.5 ** np.arange(6)
            if np.abs(middles - self._profile(z[:-1] + 0.5 * z[1])).max() <= FOLLOWED * self.length:
                break
        ends = np.zeros((2, 6))
        ends[0, :3] = table[0, :3]
        powers = np.arange(6)
        ends[1, :3] = [table[-1].sum(), table[-1] @ powers, table[-1] @ (powers * (powers - 1)) / 2.0]
        table = np.ascontiguousarray(np.concatenate([ends[:1], table, ends[1:]]))
        starts = np.linspace(0.0, self.length, PLACES + 1)
        rounding = 2.0 * self._smallest / SHARPEST if self.rounding is None else self.rounding
        width = max(BLEND * rounding, SHARP * self._smallest)
        return RevolutionField(
            table, np.stack([starts, self._profile(starts)], axis=1), self.length / cells, self.length, width
        )

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        size, widest = 2.0 * self._smallest, float(self._radii.max())
        fine = max(size / SHARPEST, (widest + 0.5 * self.length) / SHARPEST) if spacing is None else spacing
        bend = np.abs(np.broadcast_to(evaluate(self._program, self._heights(401)[None, :])[2], 401)).max()
        # A chord of length h leaves a curve by h^2 / 8 of its curvature; the slope makes it smaller.
        longest = math.sqrt(8.0 * size / (SAGITTA * max(float(bend), 1e-300))) if spacing is None else spacing
        z = self._heights(1 + max(4, math.ceil(self.length / longest)))
        r = self._profile(z)
        rows = np.concatenate([[(0.0, 0.0)], np.stack([r, z], axis=1), [(0.0, self.length)]])
        rims = [(float(r[0]), 0.0), (float(r[-1]), self.length)]
        return rounded(rows, self.field, rims, size, fine, spacing)

    def _heights(self, count: int) -> Floats:
        return np.linspace(0.0, self.length, count)

    @cached_property
    def _mass(self) -> tuple[float, Floats, Floats]:
        return mass_of_revolution(lambda z: self._profile(z) ** 2, self._heights(65))


__all__ = ["Revolution", "RevolutionField"]
