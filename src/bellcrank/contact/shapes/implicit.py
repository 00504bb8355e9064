"""A convex surface given by any traced function g(x, y, z) = 0."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.keys import FUNCTION, NUMBER, TEXT, Keys, may, must
from bellcrank.contact.given import is_positive
from bellcrank.contact.norms import Expansion
from bellcrank.contact.shapes import fields
from bellcrank.contact.shapes.base import TINY, Shape, Support, Surface, check_plain, sample_normals
from bellcrank.contact.shapes.fields import Field, depths, first_order, smooth_maximum
from bellcrank.contact.shapes.geodesic import geodesic
from bellcrank.contact.shapes.grading import following
from bellcrank.contact.shapes.written import written
from bellcrank.contact.steps import chosen, frame, solved_2x2
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, add, dot, scale, sub, vec
from bellcrank.math.vectors import Vector
from bellcrank.program.derive import directional
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import maximum, reachable, rebuild, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar, compare

Array: TypeAlias = NDArray[np.float64]

PULLS = 3
"""Newton steps along the ray that bring a point back onto the surface."""
FOLLOWING = 6
"""Newton steps to the surface along a ray, behind bisections that bring them near to it."""
BISECTIONS = (4, 8, 12, 16, 24, 32, 48, 52)
"""Numbers of these that are tried, the least first."""
UNCHECKED = 16
"""That where nothing is known of g, which depends on parameters."""
ROUND = 1.25
"""Radius of a ball around the body, over its size, whose distance takes over far outside."""
SAFE = 1.2
"""Over the steepest slope of the depth that was sampled: between the samples it may be steeper."""
SHALLOW = 0.3
"""Least depth over the distance to the surface that a field may have inside."""
RINGS = 48
"""Rings of rays, and half the rays of each, along which mass properties are integrated."""
SUPPORT_STEPS = 8
"""Newton steps for a support point, which only pairs of two implicit shapes and straight sides need."""


LEAST_BEND = 1e-9
"""Curvature times the size that stands for less: a side that departs from a plane by less than a billionth is flat."""
ROUNDED = 1e-15
"""Part of the size by which a step may seem to fall back: rounding of a product."""
BULGE = 1e-9
"""Of g over its value at the origin, by which the middle of two points on the surface may lie outside by rounding."""
HOLLOW = 1e-7
"""Hollow curvature times the size that rounding of second derivatives makes of a flat side, with a margin."""


class ImplicitField(NamedTuple):
    """The distance to first order, g over its slope; far outside that to a ball around the body.

    The slope is one on the surface; `steepest` is about the largest anywhere.

    inner: Radius of a ball around the origin in the body [m]. size: Of one that holds it [m].
    """

    inner: float
    size: float
    steepest: float

    @staticmethod
    def expanded(x: float, y: float, z: float) -> tuple[float, float, float, float]:
        """g and its slopes: that of a shape of its own."""
        raise NotImplementedError

    def depth(self, x: Vector) -> float:
        g, a, b, c = self.expanded(x.x, x.y, x.z)
        near = first_order(g, a * a + b * b + c * c, self.inner)
        tiny = fields.TINY * self.size
        far = (x.square + tiny * tiny) ** 0.5 - ROUND * self.size
        # On the surface, within the size, the ball is a quarter of it below.
        return -smooth_maximum(near, far, (ROUND - 1.0) * self.size)

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + self.steepest * r


@dataclass(frozen=True, eq=False)
class Implicit(Shape):
    """The body g(x, y, z) <= 0, which must be convex and hold the origin of its frame.

    function: g, written with NumPy's functions; negative inside.
    size: A length [m] that the surface does not exceed in any direction from the origin.
    name: What errors call the surface.
    values: Numbers for the parameters the function uses, at which convexity is checked; without them a surface
        with parameters is not checked.
    """

    kind = "implicit"
    keys = Keys(
        "The convex body g(x, y, z) <= 0, which holds the origin of its frame.",
        must("function", FUNCTION, "g of x, y, z [m].", of=("x", "y", "z")),
        must(
            "size",
            NUMBER,
            "A length the surface does not exceed in any direction from the origin [m]; a plain number.",
            plain=True,
        ),
        may("name", TEXT, "What errors call it."),
    )

    function: Callable[[Scalar, Scalar, Scalar], Scalar]
    size: float
    name: str = "implicit surface"
    by_points: ClassVar[bool] = True
    closed_support: ClassVar[bool] = False
    values: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ModelError(f"the name of an implicit surface is a text, not {self.name!r}")
        if not callable(self.function):
            raise ModelError(f"{self.name}: its function g(x, y, z) is a function, not {self.function!r}")
        check_plain(self.name, size=self.size)
        if not is_positive(self.size):
            raise ModelError(f"{self.name}: size must be a positive length [m], not {self.size!r}")
        if not self._parameters() or self.values:
            self.check_convex(self.values)

    @cached_property
    def _traced(self) -> tuple[tuple[Expr, Expr, Expr], list[Scalar]]:
        """x, y, z, and g, its gradient, and the six second derivatives xx, yy, zz, xy, xz, yz."""
        graph = Graph()
        x = (
            graph.input("x of the surface"),
            graph.input("y of the surface"),
            graph.input("z of the surface"),
        )
        value = graph.bring(self.function(*x))
        slopes = [directional([value], {axis.id: 1.0})[0] for axis in x]
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        bends = [directional([slopes[i]], {x[j].id: 1.0})[0] for i, j in pairs]
        return x, [value, *slopes, *bends]

    def _parameters(self) -> list[Expr]:
        x, outputs = self._traced
        own = {axis.id for axis in x}
        return [node for node in reachable(outputs) if node.op == "input" and node.id not in own]

    def implicit(self, s: Vec) -> Scalar:
        axes, outputs = self._traced
        return _substituted(outputs[:1], axes, s)[0]

    def _slope(self, s: Vec) -> tuple[Scalar, Vec]:
        axes, outputs = self._traced
        g, x, y, z = _substituted(outputs[:4], axes, s)
        return g, (x, y, z)

    def expansion(self, s: Vec) -> Expansion:
        """g, its gradient and its second derivative at s."""
        axes, outputs = self._traced
        g, x, y, z, xx, yy, zz, xy, xz, yz = _substituted(outputs, axes, s)

        def second(e: Vec, f: Vec) -> Scalar:
            mixed = xy * (e[0] * f[1] + e[1] * f[0]) + xz * (e[0] * f[2] + e[2] * f[0])
            straight = xx * (e[0] * f[0]) + yy * (e[1] * f[1]) + zz * (e[2] * f[2])
            return straight + mixed + yz * (e[1] * f[2] + e[2] * f[1])

        return Expansion(g, (x, y, z), second)

    def pulled(self, x: Vec, steps: int = PULLS) -> Vec:
        """The point of the surface on the ray through x.

        Along a ray g is convex, so Newton's method is outside after one step and then comes down.
        """
        for _ in range(steps):
            g, slope = self._slope(x)
            along = dot(slope, x)
            # Near the origin g is flat along the ray: never stretch by more than two, nor turn round.
            factor = 1.0 - g / where(compare("lt", 0.0, along), maximum(along, TINY), 1.0)
            factor = where(compare("lt", 0.0, along), factor, 2.0)
            factor = where(compare("lt", factor, 2.0), maximum(factor, 0.25), 2.0)
            x = scale(factor, x)
        return x

    def gauge(self, x: Vec) -> tuple[Scalar, Vec]:
        """|x| over the length of the ray through x that is inside, less one, and its gradient n / (n . p) at its end p.

        This is convex for every convex body that holds the origin (Minkowski), while g need not be: far away log(r)
        bounds the body by no plane.
        """
        length = sqrt(maximum(dot(x, x), TINY))
        way = scale(1.0 / length, x)
        s = self._inside(way, self._bisections)
        p = scale(s, way)
        n = self._slope(p)[1]
        return length / s - 1.0, scale(1.0 / maximum(dot(n, p), TINY), n)

    def _inside(self, way: Vec, bisections: int) -> Scalar:
        """The length of the ray along a unit vector that is inside [m], by bisections and then Newton's method."""
        low: Scalar = 0.0
        high: Scalar = self.size
        for _ in range(bisections):
            middle = 0.5 * (low + high)
            inside = compare("lt", self.implicit(scale(middle, way)), 0.0)
            low, high = where(inside, middle, low), where(inside, high, middle)
        s = 0.5 * (low + high)
        for _ in range(FOLLOWING):
            g, slope = self._slope(scale(s, way))
            along = dot(slope, way)
            inside = compare("lt", g, 0.0)
            low, high = where(inside, s, low), where(inside, high, s)
            newton = s - g / where(compare("lt", 0.0, along), maximum(along, TINY), 1.0)
            middle = 0.5 * (low + high)
            kept = where(
                compare("le", low, newton), where(compare("le", newton, high), newton, middle), middle
            )
            s = where(compare("lt", 0.0, along), kept, middle)
        return s

    @cached_property
    def _bisections(self) -> int:
        """As many as it takes to come along every ray to where Newton's method converges.

        They are tried on some rays; other ones may ask for more, so it is the next number of them.
        """
        if self._parameters() and not self.values:
            return UNCHECKED
        ways = _check_directions()
        known = np.linalg.norm(self._on_rays(ways, self.values), axis=1)
        parameters = self._parameters()
        given = np.array([*ways.T, *(np.full(len(ways), self.values[e.args[0]]) for e in parameters)])
        for number, more in pairwise(BISECTIONS):
            graph = Graph()
            names = [*(axis.args[0] for axis in self._traced[0]), *(e.args[0] for e in parameters)]
            inputs = [graph.input(name) for name in names]
            traced = graph.bring(self._inside(vec(inputs[:3]), number))
            length = evaluate(Program.of(inputs, [traced]), given)[0]
            # A thousand roundings and more, and a millionth of what closest points are asked for.
            if np.all(np.abs(length - known) <= 1e-12 * known):
                return more
        raise ModelError(
            f"{self.name}: where it ends along a ray is not found, since g changes too suddenly there; write g so that "
            "it grows evenly through the surface"
        )

    def surface(self, x: Vec) -> Surface:
        return self._at(self.pulled(x))

    def _at(self, point: Vec) -> Surface:
        near = self.expansion(point)
        steep = 1.0 / sqrt(maximum(dot(near.gradient, near.gradient), TINY))
        return Surface(point, scale(steep, near.gradient), lambda e, f: steep * near.second(e, f))

    def outward(self, direction: Vec) -> Vec:
        length = sqrt(maximum(dot(direction, direction), TINY))
        start = scale(self.size / length, direction)
        return self._slope(self.pulled(start, 2 * PULLS))[1]

    def point_near(self, n: Vec, steps: int = 3) -> Vec:
        """The point of normal n by Newton's method, from where the ray along n leaves the surface."""
        x = self.pulled(scale(self.size, n), 2 * PULLS)
        part: Scalar = 1.0
        for _ in range(steps):
            here = self._at(x)
            e1, e2 = frame(here.normal)
            k11, k12, k22 = (here.curvature(e1, e1), here.curvature(e1, e2), here.curvature(e2, e2))
            # A share of the isotropic bend keeps the step bounded where the surface is flat.
            least = LEAST_BEND / self.size
            t1, t2 = solved_2x2(k11 + least, k12, k12, k22 + least, dot(e1, n), dot(e2, n))
            step = add(scale(t1, e1), scale(t2, e2))
            length = sqrt(maximum(dot(step, step), TINY))
            step = scale(part * where(compare("lt", length, self.size), 1.0, self.size / length), step)
            trial = self.pulled(add(here.point, step))
            better = compare("le", 0.0, dot(n, sub(trial, here.point)) + ROUNDED * self.size)
            x = vec(chosen(better, trial, here.point))
            part = where(better, 1.0, 0.25 * part)
        return x

    def support(self, n: Vec) -> Support:
        here = self._at(self.point_near(n, SUPPORT_STEPS))
        e1, e2 = frame(here.normal)
        k11, k12, k22 = (here.curvature(e1, e1), here.curvature(e1, e2), here.curvature(e2, e2))
        # The square of the same share.
        inverse = 1.0 / maximum(k11 * k22 - k12 * k12, (LEAST_BEND / self.size) ** 2)

        def second(e: Vec, f: Vec) -> Scalar:
            a1, a2, b1, b2 = dot(e, e1), dot(e, e2), dot(f, e1), dot(f, e2)
            return inverse * (k22 * a1 * b1 - k12 * (a1 * b2 + a2 * b1) + k11 * a2 * b2)

        return Support(here.point, second)

    def bounding_radius(self) -> Scalar:
        return self.size

    def samples(self) -> tuple[Vec, ...]:
        return tuple(self.pulled(scale(self.size, n), 2 * PULLS) for n in sample_normals(False))

    def __getstate__(self) -> dict[str, Any]:
        # The text of a field's function is known to this process alone.
        return {name: kept for name, kept in self.__dict__.items() if name != "field"}

    @cached_property
    def field(self) -> Field:
        axes, outputs = self._traced
        self._numbers(np.zeros((1, 3)), self.values)  # asks for values that are missing
        function = written(self.name, axes, outputs[:4], self.values)
        own = type("ImplicitField", (ImplicitField,), {"expanded": staticmethod(function)})
        directions = _check_directions()
        points = self._on_rays(directions, self.values)
        slopes = self._numbers(points, self.values)[1:4].T
        normals = slopes / np.linalg.norm(slopes, axis=1)[:, None]
        levels = np.einsum("ij,ij->i", normals, points)
        found: ImplicitField = own(float(levels.min()), float(self.size), 1.0)
        shares = np.linspace(0.02, 3.0, 61)
        steep = np.linalg.norm(depths(found, (shares[:, None, None] * points).reshape(-1, 3))[1], axis=1)
        inside = (np.array([0.0, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9])[:, None, None] * points).reshape(-1, 3)
        # A convex body lies below its tangent planes.
        away = (levels - inside @ normals.T).min(axis=1)
        if not (np.all(np.isfinite(steep)) and np.all(depths(found, inside)[0] >= SHALLOW * away)):
            raise ModelError(
                f"{self.name}: g over its slope is no depth inside, since g changes unevenly there; write g so that it "
                "grows about evenly from the middle outwards, such as x^2/a^2 + y^2/b^2 + z^2/c^2 - 1"
            )
        return found._replace(steepest=SAFE * max(1.0, float(steep.max())))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        start = geodesic(0.4)
        points = self._on_rays(start.vertices, self.values)
        size = 2.0 * float(np.linalg.norm(points, axis=1).min())
        return following(Triangles(points, start.faces), self.field, size, spacing)

    @cached_property
    def _mass(self) -> tuple[float, Array, Array]:
        """Integrals along rays: of s^2 ds over the solid angle, and so on."""
        heights, weights = np.polynomial.legendre.leggauss(RINGS)
        turn = np.pi * np.arange(2 * RINGS) / RINGS
        level = np.sqrt(1.0 - heights * heights)[:, None]
        u = np.stack([level * np.cos(turn), level * np.sin(turn), heights[:, None] + 0.0 * turn], axis=-1)
        u, w = u.reshape(-1, 3), np.repeat(weights * np.pi / RINGS, len(turn))
        s = np.linalg.norm(self._on_rays(u, self.values), axis=1)
        volume = float(w @ s**3) / 3.0
        centre = (w * s**4) @ u / (4.0 * volume)
        products = np.einsum("i,ij,ik->jk", w * s**5, u, u) / 5.0 - volume * np.outer(centre, centre)
        return volume, centre, np.trace(products) * np.eye(3) - products

    def check_convex(self, values: Mapping[str, float]) -> None:
        """Raise where a sample shows that the body is not convex, empty, or larger than its size.

        values: Numbers for the parameters the function uses.
        """
        origin = float(self._numbers(np.zeros((1, 3)), values)[0, 0])
        if not origin < 0.0:
            raise ModelError(
                f"{self.name}: g at the origin of its frame is {origin:.3g}, it must be negative "
                "(inside); move the frame into the body or change the sign of g"
            )
        points = self._on_rays(_check_directions(), values)
        self._check_bends(points, values)
        first, second = np.triu_indices(len(points), 1)
        middles = 0.5 * (points[first] + points[second])
        outside = self._numbers(middles, values)[0]
        worst = int(np.argmax(outside))
        if outside[worst] > BULGE * abs(origin):
            raise ModelError(
                f"{self.name} is not convex: {_text(middles[worst])} lies outside, although it is the middle of "
                f"{_text(points[first[worst]])} and {_text(points[second[worst]])} on the surface; "
                "split it into convex parts"
            )

    def _on_rays(self, directions: Array, values: Mapping[str, float]) -> Array:
        low, high = np.zeros(len(directions)), np.full(len(directions), 1.0000001 * self.size)
        inside = self._numbers(high[:, None] * directions, values)[0] < 0.0
        if np.any(inside):
            far = high[0] * directions[int(np.argmax(inside))]
            raise ModelError(
                f"{self.name} reaches further than its size {self.size:g} m: {_text(far)} "
                "is still inside; give a larger size"
            )
        for _ in range(60):
            middle = 0.5 * (low + high)
            inside = self._numbers(middle[:, None] * directions, values)[0] < 0.0
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return np.asarray(0.5 * (low + high)[:, None] * directions)

    def _check_bends(self, points: Array, values: Mapping[str, float]) -> None:
        for p, row in zip(points, self._numbers(points, values).T, strict=True):
            _, x, y, z, xx, yy, zz, xy, xz, yz = (float(t) for t in row)
            steep = math.hypot(x, y, z)
            if not (steep > 0.0 and math.isfinite(steep)):
                raise ModelError(
                    f"{self.name} has no normal at {_text(p)}: the gradient of g is {_text((x, y, z))}"
                )
            hessian = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            tangents = np.array(frame((x / steep, y / steep, z / steep)), dtype=float)
            least = float(np.linalg.eigvalsh(tangents @ hessian @ tangents.T)[0]) / steep
            if least < -HOLLOW / self.size:
                raise ModelError(
                    f"{self.name} is not convex: at {_text(p)} it bends inward (curvature {least:.3g} 1/m); "
                    "split it into convex parts"
                )

    def _numbers(self, points: Array, values: Mapping[str, float]) -> Array:
        """g, its slopes and bends (10, number) at the points (number, 3)."""
        axes, outputs = self._traced
        parameters = self._parameters()
        missing = [e.args[0] for e in parameters if e.args[0] not in values]
        if missing:
            raise ModelError(
                f"{self.name} uses the parameter {missing[0]!r}; give its value to check convexity"
            )
        known = [np.full(len(points), values[e.args[0]]) for e in parameters]
        return evaluate(Program.of([*axes, *parameters], outputs), np.array([*points.T, *known]))


def _check_directions() -> Array:
    """Two hundred directions, spread evenly (Fibonacci's lattice)."""
    k = np.arange(200)
    height, turn = 1.0 - (2 * k + 1) / 200, np.pi * (3.0 - np.sqrt(5.0)) * k
    level = np.sqrt(1.0 - height * height)
    return np.stack([level * np.cos(turn), level * np.sin(turn), height], axis=1)


def _text(p: Sequence[float] | Array) -> str:
    return "(" + ", ".join(f"{float(t):.4g}" for t in p) + ")"


def _substituted(outputs: Sequence[Scalar], axes: Sequence[Expr], at: Vec) -> list[Scalar]:
    """The outputs with the axes replaced, in the graph of the replacements."""
    done: dict[int, Scalar] = {axis.id: value for axis, value in zip(axes, at, strict=True)}
    graph = next((value.graph for value in at if isinstance(value, Expr)), None)
    for node in reachable(outputs):
        if node.id in done:
            continue
        if node.op == "input":
            done[node.id] = node if graph is None else graph.input(node.args[0])
        else:
            done[node.id] = rebuild(node.op, [done[a.id] if isinstance(a, Expr) else a for a in node.args])
    return [done[o.id] if isinstance(o, Expr) else o for o in outputs]
