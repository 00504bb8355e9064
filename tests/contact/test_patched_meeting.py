"""The compiled search of surfaces of patches against SciPy's splines and optimiser, and closed forms.

Surfaces are evaluated here once more, by SciPy's B-splines, and the distance to the other shape is minimised over
their parameters from many starts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.optimize import brentq, minimize
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from bellcrank.contact import Plane, Sampled, Sphere
from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.patches import patch_at
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Capsule, Ellipsoid, Shape, Superellipsoid
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.errors import ModelError
from contact.test_meeting import outline

Array = NDArray[np.float64]


def ring_net(rows: int = 10, columns: int = 8, thick: float = 0.8, size: float = 1.0) -> Array:
    """Control points about a torus."""
    turn = (2.0 * np.pi * np.arange(n) / n for n in (rows, columns))
    a, b = np.meshgrid(*turn, indexing="ij")
    r = 2.0 + thick * np.cos(b)
    return size * np.stack([r * np.cos(a), r * np.sin(a), thick * np.sin(b)], axis=2)


class Splined:
    """A cubic B-spline surface, closed both ways, by SciPy."""

    def __init__(self, net: Array) -> None:
        self.size = net.shape[:2]
        wide = np.concatenate([net, net[:3]])
        self.net = np.concatenate([wide, wide[:, :3]], axis=1)
        self.knots = [np.arange(n + 7.0) for n in self.size]

    def __call__(self, u: float, v: float) -> Array:
        rows = BSpline(self.knots[0], self.net, 3)(3.0 + u % self.size[0])
        return np.asarray(BSpline(self.knots[1], rows, 3)(3.0 + v % self.size[1]))

    def grid(self, share: int = 5) -> tuple[Array, Array]:
        """Points and parameters, so many to a patch each way."""
        u, v = (np.arange(share * n) / share for n in self.size)
        rows = np.moveaxis(BSpline(self.knots[0], self.net, 3)(3.0 + u), 1, 0)
        points = np.moveaxis(BSpline(self.knots[1], rows, 3)(3.0 + v), 0, 1)
        return points.reshape(-1, 3), np.stack(np.meshgrid(u, v, indexing="ij"), axis=2).reshape(-1, 2)


def above_ellipsoid(p: Array, axes: Array) -> float:
    """The distance of a point from an ellipsoid, negative inside: the foot is s^2 p / (t + s^2), t a root."""
    low = -(axes.min() ** 2) * (1.0 - 1e-13)
    t = brentq(lambda t: np.sum((axes * p / (t + axes**2)) ** 2) - 1.0, low, 10.0, xtol=1e-15, rtol=1e-14)
    return float(np.sign(t) * np.linalg.norm(p - axes**2 * p / (t + axes**2)))


def above(shape: Shape, p: Array) -> float:
    """The distance of a point from a shape, negative inside."""
    match shape:
        case Plane():
            return float(p[2])
        case Sphere():
            return float(np.linalg.norm(p) - shape.radius)
        case Capsule():
            z = np.clip(p[2], -shape.half_length, shape.half_length)
            return float(np.linalg.norm(p - [0.0, 0.0, z]) - shape.radius)
        case Ellipsoid():
            return above_ellipsoid(p, np.array([shape.a, shape.b, shape.c], dtype=float))
    raise AssertionError(shape)


def least(f: Callable[[Array], float], starts: Array) -> float:
    """The least value from several starts."""
    best = np.inf
    for start in starts:
        found = minimize(f, start, method="BFGS", options={"gtol": 1e-12})
        simplex = found.x + 1e-6 * np.concatenate([np.zeros((1, len(start))), np.eye(len(start))])
        options = {"xatol": 1e-11, "fatol": 1e-15, "initial_simplex": simplex}
        best = min(best, float(minimize(f, found.x, method="Nelder-Mead", options=options).fun))
    return best


SIMPLE = (Plane(), Sphere(0.3), Capsule(0.15, 0.4), Ellipsoid(0.2, 0.3, 0.4))


@pytest.mark.parametrize("shape", SIMPLE, ids=lambda s: type(s).__name__)
def test_closest_points_of_a_spline_and_a_smooth_shape(shape: Shape) -> None:
    """Far apart, near, and overlapping by a millimetre."""
    net = ring_net()
    surface, splined = Parametric.b_spline(net, around=(True, True)), Splined(net)
    points, places = splined.grid()
    pair, other_way = SampledPair(surface, shape), SampledPair(shape, surface)
    random = np.random.default_rng(4)
    for _ in range(4):
        R = Rotation.random(random_state=random).as_matrix()
        way = random.normal(size=3)
        c = -3.6 * R[:, 2] if isinstance(shape, Plane) else 3.6 * way / np.linalg.norm(way)
        for gap in (None, 0.02, -1e-3):
            found = pair(R, c)
            if gap is not None:
                c = c - (found[0] - gap) * found[1]
                found = pair(R, c)

            def height(w: Array, R: Array = R, c: Array = c) -> float:
                return above(shape, R.T @ (splined(*w) - c))

            heights = np.array([above(shape, p) for p in (points - c) @ R])
            expected = least(height, places[np.argsort(heights)[:3]])
            assert found[0] == pytest.approx(expected, abs=1e-9)
            back = other_way(R.T, -R.T @ c)
            assert back[0] == pytest.approx(expected, abs=1e-9)
            assert R.T @ found[1] == pytest.approx(-back[1], abs=1e-8)


ODD = (
    Superellipsoid(0.3, 0.25, 0.2, (3.0, 2.5)),
    Implicit(lambda x, y, z: (x / 0.3) ** 4 + (y / 0.25) ** 4 + (z / 0.2) ** 2 - 1.0, 0.45),
    Revolution(lambda z: 0.15 + 0.05 * np.cos(3.0 * z), 0.6),
)


@pytest.mark.parametrize("shape", ODD, ids=lambda s: type(s).__name__)
def test_closest_points_of_a_spline_and_other_shapes(shape: Shape) -> None:
    """Points on both surfaces, the way between them along both normals, and none of many points nearer."""
    net = ring_net()
    surface, splined = Parametric.b_spline(net, around=(True, True)), Splined(net)
    points, places = splined.grid(8)
    random = np.random.default_rng(3)
    rays = random.normal(size=(3000, 3))
    tree = cKDTree(outline(shape, rays / np.linalg.norm(rays, axis=1)[:, None]))
    pair = SampledPair(surface, shape)
    for _ in range(4):
        R = Rotation.random(random_state=random).as_matrix()
        at = random.integers(len(surface.points))
        c = surface.points[at] + 0.35 * surface.normals[at]
        if isinstance(shape, Revolution):
            # Its side towards the surface, not an end of it.
            outside = np.flatnonzero(np.linalg.norm(surface.points[:, :2], axis=1) > 2.4)
            at = outside[at % len(outside)]
            R = np.linalg.qr(np.stack([surface.normals[at], *random.normal(size=(2, 3))], axis=1))[0]
            R[:, 0] *= np.linalg.det(R)
            c = surface.points[at] + 0.25 * surface.normals[at] - 0.5 * shape.length * R[:, 2]
        gap, n, x, z, _, y = pair(R, c)
        assert least(lambda w, x=x: float(np.sum((splined(*w) - x) ** 2)), _near(points, places, x)) < 1e-18
        assert abs(float(shape.implicit(tuple(y)))) < 1e-9  # type: ignore[arg-type]
        assert z - x == pytest.approx(gap * n, abs=1e-9)
        slope = np.array([_slope(shape, y, k) for k in range(3)])
        assert R @ slope / np.linalg.norm(slope) == pytest.approx(-n, abs=1e-6)
        far = tree.query((points - c) @ R)[0].min()
        assert far - 0.05 < gap < far + 1e-12


def _near(points: Array, places: Array, x: Array) -> Array:
    return places[[int(np.argmin(np.linalg.norm(points - x, axis=1)))]]


def _slope(shape: Shape, y: Array, k: int) -> float:
    step = 1e-6 * np.eye(3)[k]
    high, low = (float(shape.implicit(tuple(y + s * step))) for s in (1.0, -1.0))  # type: ignore[arg-type]
    return (high - low) / 2e-6


def test_closest_points_of_two_splines() -> None:
    nets = ring_net(), ring_net(7, 6, 0.5, 0.4)
    a, b = (Parametric.b_spline(net, around=(True, True)) for net in nets)
    first, second = (Splined(net) for net in nets)
    (points, places), (others, other_places) = first.grid(4), second.grid(4)
    tree, pair, other_way = cKDTree(points), SampledPair(a, b), SampledPair(b, a)
    random = np.random.default_rng(3)
    for _ in range(4):
        R = Rotation.random(random_state=random).as_matrix()
        way = random.normal(size=3)
        c = 4.2 * way / np.linalg.norm(way)
        for near in (False, True):
            found = pair(R, c)
            if near:
                c = c - (found[0] - 0.01) * found[1]
                found = pair(R, c)
            far, which = tree.query(others @ R.T + c)
            lowest = np.argsort(far)[:3]
            starts = np.concatenate([places[which[lowest]], other_places[lowest]], axis=1)

            def apart(w: Array, R: Array = R, c: Array = c) -> float:
                return float(np.linalg.norm(first(*w[:2]) - R @ second(*w[2:]) - c))

            assert found[0] == pytest.approx(least(apart, starts), abs=1e-9)
            assert other_way(R.T, -R.T @ c)[0] == pytest.approx(found[0], abs=1e-12)
        # Into each other by a millimetre: the gap of what is closest falls as fast as it is pushed.
        deep = pair(R, c - 0.011 * found[1])
        assert deep[0] == pytest.approx(-1e-3, abs=1e-6)


def test_a_sampled_ball_and_a_round_one_meet_a_spline_at_the_same_place() -> None:
    surface = Parametric.b_spline(ring_net(), around=(True, True))
    k = np.arange(4000)
    z, turn = 1.0 - (2 * k + 1) / 4000, np.pi * (3.0 - np.sqrt(5.0)) * k
    p = np.stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z], axis=1)
    sampled, round_one = SampledPair(surface, Sampled(0.3 * p, p)), SampledPair(surface, Sphere(0.3))
    random = np.random.default_rng(3)
    for gap in (0.2, 0.01, -1e-3, -1e-4):
        R = Rotation.random(random_state=random).as_matrix()
        way = random.normal(size=3)
        c = 3.6 * way / np.linalg.norm(way)
        found = round_one(R, c)
        c = c - (found[0] - gap) * found[1]
        one, other = round_one(R, c), sampled(R, c)
        assert one[0] == pytest.approx(gap, abs=1e-6)
        # The surface through the samples is that of the ball to about 1e-6 of its radius.
        assert other[0] == pytest.approx(one[0], abs=2e-6)
        assert other[2] == pytest.approx(one[2], abs=1e-3)


def paraboloid(degree: int = 2) -> Parametric:
    """z = (x^2 + y^2) / 2 over -1 to 1 both ways, as one patch, exactly; its normals point up."""
    t = np.array([-1.0, 0.0, 1.0])
    square = np.array([1.0, -1.0, 1.0])  # of x^2, in Bernstein polynomials of degree 2
    while len(t) <= degree:
        k = np.arange(1, len(t)) / len(t)
        t, square = (np.concatenate([b[:1], k * b[:-1] + (1.0 - k) * b[1:], b[-1:]]) for b in (t, square))
    x, y = np.meshgrid(t, t, indexing="ij")
    z = 0.5 * (square[:, None] + square[None, :])
    return Parametric.bezier(np.stack([x, y, z], axis=2))


@pytest.mark.parametrize("degree", [2, 3, 7])
def test_ball_in_a_paraboloid_is_where_a_cubic_says(degree: int) -> None:
    """The foot of (d, 0, h) is where (x - d) + (x^2 / 2 - h) x = 0."""
    pair, random = SampledPair(paraboloid(degree), Sphere(0.05)), np.random.default_rng(2)
    for _ in range(20):
        turn, d, h = random.uniform(0.0, 2.0 * np.pi), random.uniform(0.0, 0.6), random.uniform(0.23, 0.6)
        roots = np.roots([0.5, 0.0, 1.0 - h, -d])
        x = roots[np.abs(roots.imag) < 1e-9].real
        far = np.hypot(x - d, 0.5 * x * x - h).min()
        found = pair(np.eye(3), np.array([d * np.cos(turn), d * np.sin(turn), h]))
        assert found[0] == pytest.approx(far - 0.05, abs=1e-12)


def test_gap_and_normal_are_continuous_across_seams() -> None:
    """A ball above a seam, and a hair to either side of it."""
    surface = Parametric.b_spline(ring_net(), around=(True, True))
    pair = SampledPair(surface, Sphere(0.3))
    one, next_ = surface.nets[0], surface.nets[1]
    for t in (0.2, 0.5, 1.0):
        # Bernstein's polynomials along the side that both patches share.
        w = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3])
        p, across = w @ one[:, 3], w @ (one[:, 3] - one[:, 2])
        assert w @ next_[:, 0] == pytest.approx(p, abs=1e-12)
        along = across / np.linalg.norm(across)
        found = pair(np.eye(3), 1.25 * p)
        for h in (-1e-7, 1e-7, 1e-10):
            beside = pair(np.eye(3), 1.25 * p + h * along)
            assert beside[0] == pytest.approx(found[0] + h * float(found[1] @ along), abs=1e-12)
            assert beside[1] == pytest.approx(found[1], abs=10.0 * abs(h))


@pytest.mark.parametrize("radius", [0.5, 0.1, 0.01, 1e-3])
def test_small_ball_on_one_large_patch(radius: float) -> None:
    """However small the ball, points of the patch lie near enough to lead to it."""
    plate = Parametric.bezier([[[x, y, 0.0] for y in (-1.0, 1.0)] for x in (-1.0, 1.0)])
    pair, random = SampledPair(plate, Sphere(radius)), np.random.default_rng(1)
    for _ in range(50):
        x, y = random.uniform(-0.95, 0.95, size=2)
        gap = radius * random.choice([-0.1, 0.1, 3.0])
        assert pair(np.eye(3), np.array([x, y, radius + gap]))[0] == pytest.approx(gap, abs=1e-12)


def test_a_side_that_is_a_single_point_is_smooth() -> None:
    """A spline egg whose first and last rows are its poles; balls over them and near them."""
    polar, turn = np.array([0.0, 0.9, 1.0, 1.0, 0.9, 0.0]), 2.0 * np.pi * np.arange(12) / 12
    high = np.array([1.0, 1.0, 0.5, -0.5, -1.0, -1.0])
    net = np.stack(
        [np.outer(polar, np.cos(turn)), np.outer(polar, np.sin(turn)), np.outer(high, np.ones(12))], axis=2
    )
    egg = Parametric.b_spline(net, around=(False, True))
    assert not egg._joined[1].any()
    u = np.linspace(0.0, 1.0, 60)
    dense = np.concatenate([patch_at(egg.nets.transpose(1, 2, 0, 3), a, b)[0] for a in u for b in u])
    pair = SampledPair(egg, Sphere(0.3))
    for c in ([0.0, 0.0, 1.4], [0.0, 0.0, -1.31], [1e-3, 0.0, 1.4], [0.2, 0.1, 1.35], [0.0, 0.0, 1.299]):
        found = pair(np.eye(3), np.array(c))
        expected = np.linalg.norm(dense - c, axis=1).min() - 0.3
        assert expected - 1e-3 < found[0] < expected + 1e-12
        assert found[1] == pytest.approx(
            (np.array(c) - found[2]) / np.linalg.norm(np.array(c) - found[2]), abs=1e-6
        )


def groove(deep: float = 0.6) -> Parametric:
    """Two flat sides at right angles that meet in the y axis."""
    y, d = (-1.0, 1.0), deep * np.sqrt(0.5)
    left = [[[-d, s, d] for s in y], [[0.0, s, 0.0] for s in y]]
    right = [[[0.0, s, 0.0] for s in y], [[d, s, d] for s in y]]
    return Parametric(np.array([left, right]))


def test_ball_in_a_groove_touches_both_sides() -> None:
    pair = SampledPair(groove(), Sphere(0.1))
    for x, y, z in ((0.0, 0.05, 0.14), (1e-3, 0.3, 0.1413), (-2e-3, -0.71, 0.1416)):
        found, _ = pair.contacts(np.eye(3), np.array([x, y, z]), 2)
        gaps = sorted((z + s * x) * np.sqrt(0.5) - 0.1 for s in (1.0, -1.0))
        assert sorted(point.gap for point in found) == pytest.approx(gaps, abs=1e-12)
        for point in found:
            side = np.sign(point.x[0])
            assert point.normal == pytest.approx([-side * np.sqrt(0.5), 0.0, np.sqrt(0.5)], abs=1e-12)
    with pytest.raises(ModelError, match="touch at more than one point"):
        pair(np.eye(3), np.array([0.0, 0.05, 0.14]))


def test_ball_on_a_ridge_touches_the_crease_or_the_side_beside_it() -> None:
    ridge = Parametric(groove().nets * [1.0, 1.0, -1.0])
    assert ridge.normals[:, 2].min() > 0.0
    pair = SampledPair(ridge, Sphere(0.2))
    crease = pair.source.points[pair.source.sharp]
    assert np.abs(crease[:, [0, 2]]).max() == 0.0
    for x in (0.0, 0.05, 0.19, 0.2, 0.25):
        c = np.array([x, 0.3, 0.19])
        expected = (x + 0.19) * np.sqrt(0.5) if x > 0.19 else np.linalg.norm(crease - c, axis=1).min()
        assert pair(np.eye(3), c)[0] == pytest.approx(expected - 0.2, abs=1e-12)
        found, _ = pair.contacts(np.eye(3), c, 2)
        assert min(point.gap for point in found) == pytest.approx(expected - 0.2, abs=1e-12)


def box(size: Array) -> Parametric:
    """Six flat patches."""
    sides = []
    for axis in range(3):
        d, u, v = (np.eye(3)[(axis + k) % 3] for k in range(3))
        for s, (p, q) in ((1.0, (u, v)), (-1.0, (v, u))):
            sides.append([[(s * d + a * p + b * q) * size for b in (-1.0, 1.0)] for a in (-1.0, 1.0)])
    return Parametric(np.array(sides))


def test_a_box_of_patches_stands_on_its_corners() -> None:
    size = np.array([0.3, 0.2, 0.1])
    pair = SampledPair(box(size), Plane())
    found, _ = pair.contacts(np.eye(3), np.array([0.0, 0.0, -0.0999]), 4)
    corners = {tuple(point.x.tolist()) for point in found}
    assert corners == {(x, y, -0.1) for x in (-0.3, 0.3) for y in (-0.2, 0.2)}
    assert [point.gap for point in found] == pytest.approx([-1e-4] * 4, abs=1e-12)
    # Tilted, the lowest corner is the first to touch, and one point is enough.
    R = Rotation.from_euler("xy", [0.3, 0.4]).as_matrix()
    low = min(
        (s * size) @ R[:, 2] for s in np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    )
    assert pair(R, (low + 1e-3) * R[:, 2])[0] == pytest.approx(-1e-3, abs=1e-12)
    with pytest.raises(ModelError, match="touch at more than one point"):
        pair(np.eye(3), np.array([0.0, 0.0, -0.0999]))


def test_a_contact_that_was_not_followed_is_an_error() -> None:
    """The bodies jump: what was followed is far from what touches now, deeply."""
    pair = SampledPair(Parametric.b_spline(ring_net(), around=(True, True)), Sphere(0.3))
    near = pair(np.eye(3), np.array([3.2, 0.0, 0.0]))[0]
    before, _ = pair.contacts(np.eye(3), np.array([3.2 - near - 1e-4, 0.0, 0.0]), 1)
    assert before[0].gap == pytest.approx(-1e-4, abs=1e-9)
    now = np.array([-3.2 + near + 0.05, 0.0, 0.0])
    with pytest.raises(ModelError, match="touch at more than one point"):
        pair.contacts(np.eye(3), now, 1, list(before))


def flat(kind: str) -> Parametric | BezierGrid:
    """A plate over -1 to 1 both ways, facing up."""
    number = {"patch": 4, "spline": 8, "grid": 21}[kind]
    t = np.linspace(-1.0, 1.0, number)
    x, y = np.meshgrid(t, t, indexing="ij")
    net = np.stack([x, y, np.zeros_like(x)], axis=2)
    if kind == "grid":
        return BezierGrid(net)
    return Parametric.bezier(net) if kind == "patch" else Parametric.b_spline(net)


@pytest.mark.parametrize("kind", ["patch", "spline", "grid"])
def test_contact_reaches_to_the_rim_and_no_farther(kind: str) -> None:
    pair = SampledPair(flat(kind), Sphere(0.1))
    for side in (-1.0, 1.0):
        for axis in (0, 1):
            c = np.array([0.013, 0.013, 0.099])
            c[axis] = side * (1.0 - 1e-8)
            assert pair(np.eye(3), c)[0] == pytest.approx(-1e-3, abs=1e-12)
            for beyond in (1e-7, 1e-3, 0.05):
                c[axis] = side * (1.0 + beyond)
                found, clearance = pair.contacts(np.eye(3), c, 1)
                assert found[0].gap == np.inf
                # It is looked for again before it can come back by more than a sliver.
                assert clearance < max(1.1 * beyond, 0.1 * pair.source.spacing)


def test_the_same_search_gives_the_same_bits() -> None:
    nets = ring_net(), ring_net(7, 6, 0.5, 0.4)
    R, c = Rotation.from_rotvec([0.3, -0.5, 0.2]).as_matrix(), np.array([3.0, 1.0, 0.4])
    rows = []
    for _ in range(2):
        pair = SampledPair(*(Parametric.b_spline(net, around=(True, True)) for net in nets))
        rows += [np.concatenate([np.ravel(x) for x in pair(R, c)]) for _ in range(2)]
    assert len({row.tobytes() for row in rows}) == 1
