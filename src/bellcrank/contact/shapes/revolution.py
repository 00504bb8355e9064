"""A solid of revolution with any smooth profile, convex or not: a bat, a bottle, a cam on its axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bellcrank.contact.given import is_positive
from bellcrank.contact.shapes.base import TINY, Shape, Support
from bellcrank.errors import ModelError
from bellcrank.mechanics.vectors import Vec, dot, scale, sub
from bellcrank.program.derive import directional
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import clip, maximum, rebuild, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, compare, logical

STARTS = 24
"""Places along the profile from which the nearest is refined."""
STEPS = 8
"""Newton steps from there."""


@dataclass(frozen=True, eq=False)
class Revolution(Shape):
    """The solid r <= profile(z), 0 <= z <= length, about the z axis of its frame, with flat ends; meets spheres.

    profile: Radius [m] as a function of z [m], positive and smooth, written with NumPy's functions. length: [m].
    """

    profile: Callable[[Scalar], Scalar]
    length: float

    def __post_init__(self) -> None:
        if not callable(self.profile):
            raise ModelError(f"solid of revolution: its profile is a function of z, not {self.profile!r}")
        if not is_positive(self.length):
            raise ModelError(
                f"solid of revolution: length must be a positive length [m], not {self.length!r}"
            )
        radii = self._radii
        if not (np.all(np.isfinite(radii)) and np.all(radii > 0.0)):
            z = self.length * int(np.argmin(np.where(np.isfinite(radii), radii, -np.inf))) / (len(radii) - 1)
            raise ModelError(f"solid of revolution: the radius at z = {z:.4g} m is not a positive length [m]")

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


__all__ = ["Revolution"]
