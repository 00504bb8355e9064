"""A sampled surface around a contact point, in a straight-line program, and how two surfaces meet there.

A program cannot search a tree. So the samples around the contact point are inputs of it, gathered from outside by
:mod:`bellcrank.contact.gather` whenever the point has moved by a margin; Newton's method does the rest. Weights vanish
beyond their radius, so gathering anew changes nothing: the gap stays one smooth function of the poses, and there is
no tick.

Newton's method, with x on a, y on b, r = y - x, d = n_a . r, curvatures K by dn = K dx, and T for the part across n_a:
    (K_a + K_b + d K_b K_a) dx = K_b r_T - (n_a + n_b)_T,   dy = (I + d K_a) dx - r_T,
both points being pulled back onto their surfaces. It is regular at d = 0. The curvatures are those of the nearest
quadrics, so it converges by a factor of the order of the spacing over the radius squared each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import TINY, Plane, Shape, Sphere, Support
from bellcrank.contact.steps import frame, solved_2x2
from bellcrank.errors import ModelError
from bellcrank.mechanics.vectors import Mat, Vec, add, dot, scale, sub, times, transposed_times
from bellcrank.program.trace import Expr, Graph, Scalar, maximum, minimum, sqrt

STEPS = 6
"""Newton steps."""
NEAR = 1e-10
"""Square of a distance over the radius of its weight that counts as on the sample."""
FAR = 1e-12
"""Weight of the nearest quadric where no other weight reaches."""

Symmetric = tuple[Scalar, Scalar, Scalar]


@dataclass(frozen=True, eq=False)
class Local(Shape):
    """A sampled surface with the samples around a point as inputs.

    source: The whole surface. start: The last contact point. rows: One for each sample, see
    :meth:`~bellcrank.contact.sampled.Sampled.around`. turn: +1 and -1 in turn, changed when samples are gathered.
    """

    source: Sampled
    start: Vec
    rows: tuple[tuple[Scalar, ...], ...]
    turn: Scalar = 1.0
    closed_support: ClassVar[bool] = False

    @staticmethod
    def of(source: Sampled, inputs: Sequence[Scalar], turn: Scalar = 1.0) -> Local:
        """From the numbers of :func:`bellcrank.contact.gather.numbers` as inputs."""
        from bellcrank.contact.sampled import ENTRIES

        rows = tuple(tuple(inputs[k : k + ENTRIES]) for k in range(3, len(inputs), ENTRIES))
        return Local(source, (inputs[0], inputs[1], inputs[2]), rows, turn)

    def brought(self, graph: Graph) -> Local:
        """The same with its inputs in the graph of a trace, once instead of at every operation."""
        x, y, z = (graph.bring(v) for v in self.start)
        rows = tuple(tuple(graph.bring(v) for v in row) for row in self.rows)
        return Local(self.source, (x, y, z), rows, self.turn)

    @property
    def bend(self) -> tuple[Vec, Vec, Vec]:
        """K = -H of the nearest sample."""
        xx, yy, zz, xy, xz, yz = self.rows[0][6:12]
        return (-xx, -xy, -xz), (-xy, -yy, -yz), (-xz, -yz, -zz)

    def slope(self, x: Vec) -> tuple[Scalar, Vec]:
        """f and its gradient."""
        total: Scalar = 0.0
        value: Scalar = 0.0
        total_slope: Vec = (0.0, 0.0, 0.0)
        value_slope: Vec = (0.0, 0.0, 0.0)
        for k, row in enumerate(self.rows):
            d = sub(x, (row[0], row[1], row[2]))
            n: Vec = (row[3], row[4], row[5])
            xx, yy, zz, xy, xz, yz = row[6:12]
            Hd: Vec = (
                xx * d[0] + xy * d[1] + xz * d[2],
                xy * d[0] + yy * d[1] + yz * d[2],
                xz * d[0] + yz * d[1] + zz * d[2],
            )
            q = dot(n, d) - 0.5 * dot(d, Hd)
            narrow = 1.0 / (row[12] * row[12])
            s = dot(d, d) * narrow
            left = maximum(1.0 - s, 0.0)
            inverse = 1.0 / (s + NEAR)
            square = left * left * inverse
            w = square * left
            # dw/ds = -(3 left^2 + w) / (s + NEAR), and ds = 2 d / R^2.
            steep = -(2.0 * narrow) * (3.0 * square + w * inverse)
            spare = FAR if k == 0 else 0.0
            total, value = total + w + spare, value + (w + spare) * q
            total_slope = add(total_slope, scale(steep, d))
            value_slope = add(value_slope, add(scale(w + spare, sub(n, Hd)), scale(steep * q, d)))
        f = value / total
        return f, scale(1.0 / total, sub(value_slope, scale(f, total_slope)))

    def implicit(self, s: Vec) -> Scalar:
        return self.slope(s)[0]

    def support(self, n: Vec) -> Support:
        return self.source.support(n)

    def bounding_radius(self) -> Scalar:
        return self.source.bounding_radius()


def meets(other: Shape) -> bool:
    """Whether a sampled surface can meet this shape."""
    return isinstance(other, Sampled | Local | Plane) or type(other) is Sphere


def _slope(shape: Shape, x: Vec) -> tuple[Scalar, Vec]:
    if isinstance(shape, Local):
        return shape.slope(x)
    if isinstance(shape, Plane):
        return x[2], (0.0, 0.0, 1.0)
    assert isinstance(shape, Sphere)
    length = sqrt(maximum(dot(x, x), TINY))
    return length - shape.radius, scale(1.0 / length, x)


def _bend(shape: Shape, e1: Vec, e2: Vec) -> Symmetric:
    """Curvature along two tangents, in the shape's own axes."""
    if isinstance(shape, Local):
        K = shape.bend
        K1, K2 = times(K, e1), times(K, e2)
        return dot(e1, K1), dot(e1, K2), dot(e2, K2)
    if isinstance(shape, Plane):
        return 0.0, 0.0, 0.0
    assert isinstance(shape, Sphere)
    return 1.0 / shape.radius, 0.0, 1.0 / shape.radius


def _start(shape: Shape, a: Local, R: Mat, c: Vec) -> Vec:
    """A point of b near the contact, in b's frame."""
    if isinstance(shape, Local):
        return shape.start
    return transposed_times(R, sub(a.start, c))


def _pulled(shape: Shape, x: Vec) -> tuple[Vec, Vec]:
    """The point pulled onto the surface, and the normal where it was."""
    f, g = _slope(shape, x)
    inverse = 1.0 / sqrt(maximum(dot(g, g), TINY))
    n = scale(inverse, g)
    return sub(x, scale(f * inverse, n)), n


def meet(a: Local, b: Shape, R: Mat, c: Vec) -> tuple[Vec, Vec, Vec]:
    """Normal and closest points of a sampled surface and another shape, in the frame of a."""
    if not meets(b):
        raise ModelError(
            f"a sampled surface meets spheres, planes and sampled surfaces, not {type(b).__name__}"
        )
    graph = next((v.graph for v in (*c, *R[0], *R[1], *R[2]) if isinstance(v, Expr)), None)
    if graph is not None:
        a, b = a.brought(graph), b.brought(graph) if isinstance(b, Local) else b
    longest = a.source.spacing
    if isinstance(b, Local):
        longest = min(longest, b.source.spacing)
    x, y = a.start, _start(b, a, R, c)
    for _ in range(STEPS):
        x, n = _pulled(a, x)
        y, m = _pulled(b, y)
        n_b = times(R, m)
        r = sub(add(c, times(R, y)), x)
        d = dot(n, r)
        e1, e2 = frame(n)
        r1, r2 = dot(e1, r), dot(e2, r)
        s1, s2 = dot(e1, n_b), dot(e2, n_b)
        a11, a12, a22 = _bend(a, e1, e2)
        b11, b12, b22 = _bend(b, transposed_times(R, e1), transposed_times(R, e2))
        p11, p12 = b11 * a11 + b12 * a12, b11 * a12 + b12 * a22
        p21, p22 = b12 * a11 + b22 * a12, b12 * a12 + b22 * a22
        t1, t2 = solved_2x2(
            a11 + b11 + d * p11,
            a12 + b12 + d * p12,
            a12 + b12 + d * p21,
            a22 + b22 + d * p22,
            b11 * r1 + b12 * r2 - s1,
            b12 * r1 + b22 * r2 - s2,
        )
        # Far steps leave the samples that are known here.
        part = minimum(1.0, longest / sqrt(maximum(t1 * t1 + t2 * t2, TINY)))
        t1, t2 = part * t1, part * t2
        x = add(x, add(scale(t1, e1), scale(t2, e2)))
        k1, k2 = t1 + d * (a11 * t1 + a12 * t2) - r1, t2 + d * (a12 * t1 + a22 * t2) - r2
        y = add(y, transposed_times(R, add(scale(k1, e1), scale(k2, e2))))
    x, _ = _pulled(a, x)
    x, n = _pulled(a, x)
    y, _ = _pulled(b, y)
    return n, x, add(c, times(R, y))


__all__ = ["Local", "meet", "meets"]
