"""The compiled search of a sampled surface and any other shape against SciPy's optimiser and closed forms.

What is optimised is written here once more, from the formula of the surface through samples and from the implicit
functions of the other shapes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from bellcrank.contact import ClosestKernel, Plane, Sampled, Sphere
from bellcrank.contact.above import FARTHEST
from bellcrank.contact.found import Found
from bellcrank.contact.meeting import Meeting
from bellcrank.contact.meeting_layout import BAND, FOUND
from bellcrank.contact.pieces import REACH
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Capsule, Ellipsoid, Shape, Superellipsoid
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.tree_layout import BALL
from contact.slow_search import SlowPair
from contact.test_descent import bumpy, ways
from contact.test_several import box, dumbbell

Array = NDArray[np.float64]
Field = Callable[[Array], float]


def through(surface: Sampled, around: Array | None = None) -> tuple[Field, Callable[[Array], Array]]:
    """f of the surface through samples (around a point only), and its slope by complex steps along each axis."""
    near = slice(None)
    if around is not None:
        near = np.linalg.norm(surface.points - around, axis=1) < 5.0 * surface.spacing  # type: ignore[assignment]
    far, n, H = (rows[near] for rows in surface._fitted)
    points, reach = surface.points[near], 1.35 * far

    def value(x: Array) -> complex:
        d = x - points
        s = np.einsum("ij,ij->i", d, d) / reach**2
        near = s.real < 1.0
        if not near.any():
            return complex(np.nan)
        d, s = d[near], s[near]
        w = (1.0 - s) ** 3 / (s + 1e-10)
        q = np.einsum("ij,ij->i", n[near], d) - 0.5 * np.einsum("ij,ijk,ik->i", d, H[near], d)
        return complex(np.sum(w * q) / np.sum(w))

    def slope(x: Array) -> Array:
        return np.array([value(x + 1e-20j * e).imag / 1e-20 for e in np.eye(3)])

    return lambda x: value(x).real, slope


def outline(shape: Shape, rays: Array) -> Array:
    """Points of the other shape, by bisection along rays from a point inside."""
    middle = np.array([0.0, 0.0, 0.5 * shape.length]) if isinstance(shape, Revolution) else np.zeros(3)
    low, high = np.zeros(len(rays)), np.full(len(rays), 2.0 * float(shape.bounding_radius()))
    for _ in range(40):
        at = 0.5 * (low + high)
        inside = np.array(
            [float(shape.implicit(tuple(middle + r * u))) < 0.0 for r, u in zip(at, rays, strict=True)]
        )  # type: ignore[arg-type]
        low, high = np.where(inside, at, low), np.where(inside, high, at)
    return middle + low[:, None] * rays


def nearest(surface: Sampled, shape: Shape, points: Array, R: Array, c: Array) -> float:
    """The least distance of the surface from a shape around `points`, from every sample that may lead to it."""
    there = points @ R.T + c
    tree = cKDTree(there)
    far, _ = tree.query(surface.points)
    best = np.inf
    f, slope = through(surface)
    tried: list[Array] = []
    for i in np.argsort(far)[:400]:
        p = surface.points[i]
        if far[i] > far.min() + 0.3 or any(np.linalg.norm(p - q) < 0.25 for q in tried):
            continue
        tried.append(p)
        q = R.T @ (there[tree.query(p)[1]] - c)

        def gap(z: Array) -> float:
            r = R @ z[3:] + c - z[:3]
            return float(r @ r)

        def by(z: Array) -> Array:
            r = R @ z[3:] + c - z[:3]
            return np.concatenate([-2.0 * r, 2.0 * R.T @ r])

        bounds = [
            {"type": "eq", "fun": lambda z: f(z[:3]), "jac": lambda z: np.append(slope(z[:3]), np.zeros(3))},
            {"type": "eq", "fun": lambda z: float(shape.implicit((z[3], z[4], z[5])))},
        ]
        found = minimize(
            gap, np.concatenate([p, q]), jac=by, constraints=bounds, method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 300},
        )  # fmt: skip
        if abs(f(found.x[:3])) < 1e-9 and abs(float(shape.implicit(tuple(found.x[3:])))) < 1e-9:
            best = min(best, float(np.sqrt(found.fun)))
    return best


OTHERS: dict[str, Shape] = {
    "sphere": Sphere(0.4),
    "capsule": Capsule(0.3, 0.5),
    "ellipsoid": Ellipsoid(0.3, 0.5, 0.9),
    "superellipsoid": Superellipsoid(0.5, 0.4, 0.6, (3.0, 2.5)),
    "implicit": Implicit(lambda x, y, z: 2.0 * x**2 + 3.0 * y**2 + z**2 + 0.5 * x**4 - 0.5, 1.0),
    "revolution": Revolution(lambda z: 0.25 + 0.1 * np.cos(3.0 * z), 2.0),
}


@pytest.mark.parametrize("name", list(OTHERS))
def test_no_point_of_a_body_with_dents_is_closer_to_a_smooth_shape_than_found(name: str) -> None:
    surface, shape = bumpy(1200, 0.12, 0.3), OTHERS[name]
    pair, turned = SampledPair(surface, shape), SampledPair(shape, surface)
    points = outline(shape, ways(150))
    random = np.random.default_rng(3)
    for trial in range(2):
        R = Rotation.random(random_state=10 + trial).as_matrix()
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        if isinstance(shape, Revolution):
            # Its ends are flat and no part of the smooth side.
            way = R[:, 0]
        far, target = 4.0, (0.3, 0.12)[trial % 2]
        start = -R @ np.array([0.0, 0.0, 1.0]) if isinstance(shape, Revolution) else np.zeros(3)
        for _ in range(60):
            apart = float(surface.nearest_points.query(points @ R.T + start + far * way)[0].min())
            far -= 0.9 * (apart - target)
        c = start + far * way
        gap, normal, x, z, _, _ = pair(R, c)
        expected = nearest(surface, shape, points, R, c)
        assert gap == pytest.approx(expected, abs=2e-8)
        assert normal @ (z - x) == pytest.approx(gap, abs=1e-12)
        assert np.linalg.norm(z - x) == pytest.approx(gap, abs=1e-10)
        assert abs(float(shape.implicit(tuple(R.T @ (z - c))))) < 1e-10
        assert turned(R.T, -R.T @ c)[0] == pytest.approx(gap, abs=1e-12)


def four_feet(number: int) -> Sampled:
    """A body with eight feet, of which it stands on four: r = 0.7 + 16.2 (x y z)^2 of the direction."""

    def f(x: Array) -> Array:
        size = np.linalg.norm(x, axis=1)
        return np.asarray(size - 0.7 - 16.2 * (x / size[:, None]).prod(axis=1) ** 2)

    u = ways(number)
    p = u * (0.7 + 16.2 * u.prod(axis=1) ** 2)[:, None]
    g = np.stack([(f(p + 1e-5 * e) - f(p - 1e-5 * e)) / 2e-5 for e in np.eye(3)], axis=1)
    return Sampled(p, g)


def foot(surface: Sampled, i: int, n: Array) -> Array:
    """Where the height along n is least near a sample, over whose tangent plane the surface is found by bracketing."""
    p, m, s = surface.points[i], surface.normals[i], surface.spacing
    f, _ = through(surface, p)
    e1 = np.cross(m, [1.0, 0.0, 0.0] if abs(m[0]) < 0.7 else [0.0, 1.0, 0.0])
    e1 /= np.linalg.norm(e1)
    E = np.stack([e1, np.cross(m, e1)])

    def on_surface(uv: Array) -> Array:
        flat = p + s * uv @ E
        return flat + brentq(lambda h: f(flat + h * m), -0.7 * s, 0.7 * s, xtol=1e-14) * m

    best = minimize(
        lambda uv: float(n @ (on_surface(uv) - p)) / s, np.zeros(2), method="Nelder-Mead", bounds=[(-1.0, 1.0)] * 2,
        options={"xatol": 1e-6, "fatol": 1e-13},
    )  # fmt: skip
    return on_surface(best.x)


def feet(surface: Sampled, n: Array, below: float) -> list[Array]:
    """All places below a bound where the height along n is least nearby, from every low sample without lower ones."""
    heights = surface.points @ n
    _, near = cKDTree(surface.points).query(surface.points, 9)
    found: list[Array] = []
    for i in np.flatnonzero((heights < below) & (heights <= heights[near].min(axis=1))):
        x = foot(surface, int(i), n)
        if n @ x < below and all(np.linalg.norm(x - y) > 1e-3 for y in found):
            found.append(x)
    return sorted(found, key=lambda x: float(n @ x))


def test_every_foot_is_a_contact_point_and_stays_in_its_slot() -> None:
    """A body that rocks on four feet: points as by a search from many starts, and slots do not change hands."""
    surface = four_feet(3000)
    pair = SampledPair(surface, Plane())
    assert pair.meeting is not None
    band = pair.meeting.band
    before: list[Found | None] | None = None
    stood = set()
    for step in range(5):
        tilt = 0.02 * np.array([np.sin(0.7 * step), np.cos(0.9 * step), 0.2 * step])
        R = Rotation.from_rotvec(tilt).as_matrix()
        n = R[:, 2]
        c = (float((surface.points @ n).min()) - 0.1 * band) * n
        found, _ = pair.contacts(R, c, 4, before)
        points = [p for p in found if p.hold[0] >= 0.0]
        assert {p.hold[0] for p in points} == {2.0}
        places = feet(surface, n, float(n @ c) + 1.1 * band)
        for x in places:
            if n @ (x - c) > 0.98 * band:
                continue
            assert min(float(np.linalg.norm(p.x - x)) for p in points) < 1e-6
        for p in points:
            assert (
                min(float(np.linalg.norm(p.x - x)) for x in feet(surface, n, float(n @ c) + 1.1 * band))
                < 1e-6
            )
            assert p.gap == pytest.approx(float(n @ (p.x - c)), abs=1e-10)
        for old, new in zip(before or [], found, strict=False):
            if old is not None and old.sample >= 0 and new.sample >= 0:
                # Feet are half a metre apart and more.
                assert np.linalg.norm(old.x - new.x) < 0.2
        stood.add(len(points))
        before = list(found)
    assert max(stood) == 4


def ellipsoid(number: int, axes: Array) -> Sampled:
    u = ways(number)
    n = u / axes
    return Sampled(u * axes, n / np.linalg.norm(n, axis=1)[:, None])


@pytest.mark.parametrize("overlap", [0.0, 0.02])
def test_gap_of_a_sampled_ellipsoid_over_a_plane_is_of_fourth_order(overlap: float) -> None:
    """The support of an ellipsoid along a unit vector m is |diag(axes) m|."""
    axes = np.array([1.0, 0.7, 1.3])
    errors = []
    for number in (800, 3200):
        pair = SampledPair(ellipsoid(number, axes), Plane())
        off = []
        for trial in range(40):
            R = Rotation.random(random_state=trial).as_matrix()
            m = R[:, 2]
            support = float(np.linalg.norm(axes * m))
            c = -(support - overlap) * m
            gap, normal, x, *_ = pair(R, c)
            off.append(gap + overlap)
            np.testing.assert_allclose(normal, -m, atol=1e-10)
            np.testing.assert_allclose(x, -axes * axes * m / support, atol=6e-3)
        errors.append(float(np.sqrt(np.mean(np.square(off)))))
    assert errors[1] < 1e-5
    assert np.log2(errors[0] / errors[1]) > 3.5


def test_overlap_with_a_curved_shape_grows_as_it_is_pushed_in() -> None:
    """Moved along the common normal the points stay the closest ones, also inside."""
    surface = ellipsoid(2000, np.array([1.0, 0.7, 1.3]))
    for shape in (Sphere(0.5), Ellipsoid(0.3, 0.5, 0.9), Superellipsoid(0.5, 0.4, 0.6, (3.0, 2.5))):
        pair = SampledPair(surface, shape)
        R, c = Rotation.random(random_state=5).as_matrix(), np.array([1.2, 0.9, 1.1])
        gap, n, x, *_ = pair(R, c)
        assert gap > 0.0
        for depth in (1e-3, 0.02):
            inside = pair(R, c - (gap + depth) * n)
            assert inside[0] == pytest.approx(-depth, abs=1e-11)
            np.testing.assert_allclose(inside[2], x, atol=1e-9)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (dumbbell(600), Plane()),
        (box((0.2, 0.1, 0.06), 6), Plane()),
        (dumbbell(600), Sphere(2.0)),
        (dumbbell(600), Sampled(2.0 * ways(20_000), ways(20_000))),
    ],
)
def test_slow_search_finds_the_same_points(a: Sampled, b: Shape) -> None:
    """The steps in Python, refined by the program of the equations of motion."""
    quick, slow = SampledPair(a, b), SlowPair(a, b)
    random = np.random.default_rng(2)
    for trial in range(12):
        R = Rotation.from_rotvec(0.02 * random.normal(size=3) * (trial % 3)).as_matrix()
        n = R[:, 2]
        c = (float((a.points @ n).min()) + 1e-4) * n
        if not isinstance(b, Plane):
            c = c - 2.0 * n
        one, clear = quick.contacts(R, c, 4)
        two, clearance = slow.contacts(R, c, 4)
        # The quick one looks again earlier: along a line, and before a corner without a point touches.
        assert clear <= clearance * (1.0 + 1e-12)
        assert [f.hold[0] for f in one] == [f.hold[0] for f in two]
        for f, g in zip(one, two, strict=True):
            if f.hold[0] >= 0.0:
                # What the slow one takes for settled, and the square of it in the gap; where a point is held, itself.
                assert f.gap == pytest.approx(g.gap, abs=1e-7 if f.hold[0] == 1.0 else 1e-12)
                np.testing.assert_allclose(f.x, g.x, atol=2e-4 * a.spacing)


def test_pieces_are_the_samples_that_the_equations_of_motion_take() -> None:
    """Gathered by the tree as by a search of nearest neighbours: the same surface around the point."""
    surface = bumpy(1500, 0.1, 0.3)
    meeting = Meeting(surface, Sphere(0.3))
    f, _ = through(surface)
    for k in (3, 700, 1400):
        x = surface.points[k] + 0.1 * surface.spacing * np.array([1.0, -1.0, 0.5])
        meeting.pose(np.eye(3), x + 0.31 * surface.normals[k])
        meeting.put(0, x, -0.3 * surface.normals[k], (k, -1), (2.0, 0.0, 0.0, 0.0))
        assert meeting.follow(0) == FOUND
        point, piece = meeting.slots[0, 4:7], meeting.pieces[0][0]
        assert abs(f(point)) < 1e-12
        np.testing.assert_array_equal(piece[:3], point)
        rows = piece[3:].reshape(-1, 13)
        reached = np.linalg.norm(surface.points - point, axis=1) < surface.reach + surface.margin
        here = {tuple(row[:3]) for row in rows if np.linalg.norm(row[:3] - point) < 1.0}
        assert here == {tuple(p) for p in surface.points[reached]}
        closest = surface.points[surface.nearest_points.query(point)[1]]
        np.testing.assert_array_equal(rows[0, :3], closest)


def test_nodes_looked_at_grow_with_the_logarithm_of_the_samples() -> None:
    """Touching an ellipsoid as wide as the body: each four times as many samples add about as many nodes.

    The band in which contact points are looked for is that of many samples throughout, which holds as many of them.
    """
    axes, other = np.array([1.0, 0.8, 1.3]), Ellipsoid(1.0, 0.7, 0.9)
    turned = Rotation.from_rotvec([0.4, 0.3, 0.1]).as_matrix()
    kernel, way = ClosestKernel(Ellipsoid(*axes), other), np.array([1.6, 1.4, 1.5])

    def gap(far: float) -> float:
        return float(kernel(np.eye(3), np.zeros(3), turned, far * way).distance)

    c = brentq(gap, 0.5, 1.5) * way
    looks = []
    for number in (2_000, 8_000, 32_000):
        surface = ellipsoid(number, axes)
        meeting = Meeting(surface, other)
        meeting._given[BAND] = 30.0 * surface.spacing**2 / axes.max()
        seen = []
        for step in range(10):
            R = Rotation.from_rotvec([0.4 + 2e-3 * step, 0.3, 0.1]).as_matrix()
            meeting.pose(R, c)
            meeting.empty(0)
            assert meeting.search(1) == FOUND
            seen.append(meeting.looked)
        looks.append(float(np.mean(seen)))
    assert looks[2] - looks[1] < 1.5 * (looks[1] - looks[0])


@pytest.mark.parametrize("gap", [0.02, 1e-3, -5e-3])
def test_one_point_of_two_sampled_bodies_is_the_closest(gap: float) -> None:
    """By nodes that face each other, as by the descent through both trees, which looks at distances alone."""
    a, b = bumpy(2500, 0.06, 0.3), bumpy(2000, 0.05, 1.1)
    pair = SampledPair(a, b)
    meeting = pair.meeting
    assert meeting is not None
    compared = 0
    for trial in range(12):
        R = Rotation.random(random_state=trial).as_matrix()
        way = Rotation.random(random_state=50 + trial).as_matrix()[0]
        far = 3.0
        for _ in range(20):
            closest = pair.closest(R, far * way)
            if closest is None:
                break
            far -= 0.9 * (closest.gap - gap)
        c = far * way
        closest = pair.closest(R, c, None, meeting.band)
        if closest is None:
            continue
        meeting.pose(*pair.seen(R, c))
        meeting.empty(0)
        assert meeting.search(1) == FOUND
        assert meeting.slots[1, 0] == pytest.approx(closest.gap, abs=1e-11)
        np.testing.assert_allclose(meeting.slots[1, 4:7], pair.turned(closest.x, closest.y)[0], atol=1e-8)
        compared += 1
    assert compared >= 6


def test_samples_that_stand_twice_in_the_tree_are_no_places_of_their_own() -> None:
    """A ball touches a plane at one place only: the way to the next search is the longest that is asked for."""
    u = ways(5000)
    ball = Sampled(u, u)
    assert len(ball.tree.order) > 5000
    assert (ball.pieces.table[ball.facing.neighbours, REACH] > 0.0).all()
    meeting, random = Meeting(ball, Plane()), np.random.default_rng(3)
    allowed = FARTHEST * ball.tree.nodes[0, BALL] - ball.bulge
    for _ in range(60):
        R = Rotation.random(random_state=random).as_matrix()
        meeting.pose(R, -0.999 * R[:, 2])
        meeting.empty(0)
        assert meeting.search(1) == FOUND
        assert meeting.clearance == pytest.approx(allowed, rel=1e-12)
