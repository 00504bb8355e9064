"""Closest points: constructed pairs, an independent search, closed forms, and paper A's third example."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear, minimize
from scipy.spatial.transform import Rotation

from bellcrank.contact import (
    Capsule,
    Circle,
    ClosestKernel,
    Cylinder,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    Implicit,
    Plane,
    Shape,
    Sphere,
    Superellipsoid,
    closest,
    closest_numeric,
    closest_program,
)
from bellcrank.contact.shapes import sample_normals
from bellcrank.errors import ModelError
from bellcrank.math.tuples import UNIT
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program


def egg(x, y, z):
    return x**2 + 2 * y**2 + 3 * z**2 + 0.5 * x**4 - 1


SMOOTH: dict[str, tuple[Shape, Shape]] = {
    "circle, ellipse": (Circle(0.1), Ellipse(0.5, 0.1)),
    "ellipse, ellipse": (Ellipse(0.5, 0.1), Ellipse(1.0, 0.3)),
    "sphere, ellipsoid": (Sphere(0.3), Ellipsoid(1.0, 0.2, 0.3)),
    "ellipsoid, ellipsoid": (Ellipsoid(1.0, 0.5, 0.3), Ellipsoid(0.4, 0.8, 0.2)),
    "superellipsoid, sphere": (Superellipsoid(1.0, 0.5, 0.3, (8.0, 8.0)), Sphere(0.3)),
    "superellipsoid, superellipsoid": (
        Superellipsoid(1.0, 0.5, 0.3, (4.0, 4.0)),
        Superellipsoid(0.6, 0.5, 0.5, (4.0, 6.0)),
    ),
    "octahedral, ellipsoid": (Superellipsoid(1.0, 0.5, 0.3, (1.5, 1.5)), Ellipsoid(0.4, 0.8, 0.2)),
    "implicit, ellipsoid": (Implicit(egg, 1.1), Ellipsoid(0.4, 0.8, 0.2)),
}
STRAIGHT: dict[str, tuple[Shape, Shape]] = {
    "capsule, ellipsoid": (Capsule(0.2, 0.7), Ellipsoid(0.4, 0.8, 0.2)),
    "cylinder, ellipsoid": (Cylinder(0.3, 0.7), Ellipsoid(0.4, 0.8, 0.2)),
    "cylinder, cylinder": (Cylinder(0.3, 0.7), Cylinder(0.5, 0.4)),
    "capsule, superellipsoid": (Capsule(0.2, 0.7), Superellipsoid(0.6, 0.5, 0.5, (4.0, 6.0))),
}
SMALLEST = {"circle, ellipse": 0.1, "ellipse, ellipse": 0.1, "sphere, ellipsoid": 0.2}
SIZES = {name: SMALLEST.get(name, 0.2) for name in SMOOTH}
_kernels: dict[str, ClosestKernel] = {}


def kernel(name: str) -> ClosestKernel:
    if name not in _kernels:
        _kernels[name] = ClosestKernel(*{**SMOOTH, **STRAIGHT}[name])
    return _kernels[name]


def turned(rng: np.random.Generator, planar: bool) -> np.ndarray:
    if planar:
        return Rotation.from_euler("z", rng.uniform(0, 2 * np.pi)).as_matrix()
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def way(rng: np.random.Generator, planar: bool) -> np.ndarray:
    n = rng.normal(size=3)
    n[2] = 0.0 if planar else n[2]
    return n / np.linalg.norm(n)


def support(shape: Shape, R: np.ndarray, n: np.ndarray) -> np.ndarray:
    return R @ np.array(shape.support(tuple(float(x) for x in R.T @ n)).point, dtype=float)


def touching(name: str, rng: np.random.Generator, distance: float):
    """A pose in which the pair with normal n has this distance, by construction."""
    a, b = SMOOTH[name]
    R_a, R_b, n, p_a = turned(rng, a.planar), turned(rng, a.planar), way(rng, a.planar), rng.normal(size=3)
    p_a[2] = 0.0 if a.planar else p_a[2]
    p_b = p_a + support(a, R_a, n) - support(b, R_b, -n) + distance * n
    return (R_a, p_a, R_b, p_b), n


def separation(a: Shape, b: Shape, pose, n: np.ndarray) -> tuple[float, np.ndarray]:
    R_a, p_a, R_b, p_b = pose
    length = np.linalg.norm(n)
    n = n / length
    r = p_b + support(b, R_b, -n) - p_a - support(a, R_a, n)
    return float(n @ r), (r - n * (n @ r)) / length


def searched(a: Shape, b: Shape, pose, gradient: bool) -> float:
    """The largest separation by scipy, from sample directions all around: slow, and another way."""
    best = -np.inf
    starts = sample_normals(a.planar)[:: 1 if a.planar else 3] if gradient else sample_normals(False)[::5]
    for start in (*starts, pose[3] - pose[1]):
        if gradient:

            def down(n):
                d, slope = separation(a, b, pose, n)
                return -d, -slope

            found = minimize(down, np.array(start), jac=True, method="BFGS", options={"gtol": 1e-9})
        else:
            options = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 400}
            found = minimize(
                lambda n: -separation(a, b, pose, n)[0],
                np.array(start),
                method="Nelder-Mead",
                options=options,
            )
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("name", SMOOTH)
def test_constructed_distances_are_found(name):
    a, _ = SMOOTH[name]
    rng = np.random.default_rng(3)
    for _ in range(6 if isinstance(a, Implicit) else 40):
        distance = rng.uniform(0.0, 2.0) * rng.choice([0.0, 1e-9, 1e-3, 1.0])
        pose, n = touching(name, rng, distance)
        found = kernel(name)(*pose)
        assert found.distance == pytest.approx(distance, abs=3e-13)
        assert found.residual < 1e-9
        np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-9)
        if distance > 1e-3:
            np.testing.assert_allclose(found.normal, n, atol=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_penetration_follows_the_branch_with_opposed_normals(name):
    """To 90 % of the smaller radius, from the normal of the step before, in twelve steps."""
    a, _ = SMOOTH[name]
    rng = np.random.default_rng(4)
    depth = 0.9 * SIZES[name]
    followed = 0
    for _ in range(3 if isinstance(a, Implicit) else 20):
        (R_a, p_a, R_b, p_b), n = touching(name, rng, 0.0)
        guess = n
        for k in range(1, 13):
            d = -depth * k / 12
            found = kernel(name)(R_a, p_a, R_b, p_b + d * n, guess)
            assert found.residual < 1e-9
            assert found.distance >= d - 1e-12  # never a worse way out than the one known
            if abs(found.distance - d) > 1e-9:
                break  # this way out ended as a maximum; the search went on to a better one
            guess = found.normal
        else:
            followed += 1
        inside = found.point_b - found.point_a
        assert inside @ found.normal == pytest.approx(found.distance, abs=1e-9)
    assert followed > 0


@pytest.mark.parametrize("name", [*SMOOTH, *STRAIGHT])
def test_an_independent_search_agrees(name):
    a, b = {**SMOOTH, **STRAIGHT}[name]
    rng = np.random.default_rng(5)
    parts = (1.1,) if isinstance(a, Implicit) else (1.1, 0.45, 0.25) if name in SMOOTH else (1.1, 0.4)
    for part in parts:
        u = way(rng, a.planar)
        reach = float(a.bounding_radius() + b.bounding_radius())
        pose = (turned(rng, a.planar), np.zeros(3), turned(rng, a.planar), part * reach * u)
        found = kernel(name)(*pose)
        wanted = searched(a, b, pose, gradient=name in SMOOTH)
        assert found.distance == pytest.approx(wanted, abs=1e-7)
        assert found.distance >= wanted - 1e-9
        assert found.residual < 1e-9


def test_closed_forms():
    eye, origin = np.eye(3), np.zeros(3)
    tilted = Rotation.from_euler("y", 30, degrees=True).as_matrix()
    cases = [
        (Sphere(1.0), Sphere(0.5), eye, (0.0, 3.0, 4.0), 3.5),
        (Circle(1.0), Circle(0.5), eye, (3.0, 4.0, 0.0), 3.5),
        (Plane(), Sphere(0.5), eye, (7.0, 1.0, 2.0), 1.5),
        (HalfPlane(), Circle(0.5), eye, (7.0, 0.2, 0.0), -0.3),
        (HalfPlane(), Ellipse(2.0, 0.5), eye, (7.0, 0.2, 0.0), -0.3),
        (Plane(), Capsule(0.1, 1.0), tilted, (0.0, 0.0, 2.0), 2.0 - 0.1 - np.cos(np.pi / 6)),
        (Plane(), Cylinder(0.1, 1.0), tilted, (0.0, 0.0, 2.0), 2.0 - np.cos(np.pi / 6) - 0.05),
        (Plane(), Ellipsoid(1.0, 1.0, 2.0), tilted, (0.0, 0.0, 3.0), 3.0 - np.sqrt(4 * 0.75 + 0.25)),
        (Capsule(0.1, 1.0), Sphere(0.2), eye, (3.0, 0.0, 5.0), 5.0 - 0.3),
        (Capsule(0.1, 1.0), Capsule(0.2, 1.0), eye, (3.0, 0.0, 0.5), 3.0 - 0.3),
        (Cylinder(0.5, 1.0), Sphere(0.2), eye, (3.5, 0.0, 5.0), 5.0 - 0.2),
        (Cylinder(0.5, 1.0), Sphere(0.2), eye, (0.1, 0.0, 0.9), -0.3),
    ]
    for a, b, R_b, p_b, distance in cases:
        found = closest_numeric(a, eye, origin, b, R_b, p_b)
        assert found.distance == pytest.approx(distance, abs=1e-14), (a, b)
        back = closest_numeric(b, R_b, p_b, a, eye, origin)
        assert back.distance == pytest.approx(distance, abs=1e-14)
        np.testing.assert_allclose(back.normal, -found.normal, atol=1e-14)


def test_capsules_agree_with_least_squares_over_their_axes():
    rng = np.random.default_rng(6)
    a, b = Capsule(0.2, 0.7), Capsule(0.1, 0.5)
    pair = ClosestKernel(a, b)
    for _ in range(40):
        R_a, R_b, p = turned(rng, False), turned(rng, False), 2.0 * way(rng, False)
        axes = np.column_stack([0.7 * R_a[:, 2], -0.5 * R_b[:, 2]])
        found = lsq_linear(axes, p, (-1.0, 1.0), method="bvls", tol=1e-14)
        expected = np.linalg.norm(axes @ found.x - p) - 0.3
        assert pair(R_a, np.zeros(3), R_b, p).distance == pytest.approx(expected, abs=1e-12)


def test_equal_semi_axes_are_spheres():
    rng = np.random.default_rng(7)
    for a, b in ((Ellipsoid(0.5, 0.5, 0.5), Sphere(0.3)), (Ellipse(0.5, 0.5), Circle(0.3))):
        p = 1.5 * way(rng, a.planar)
        R_a, R_b = turned(rng, a.planar), turned(rng, a.planar)
        assert closest_numeric(a, R_a, np.zeros(3), b, R_b, p).distance == pytest.approx(0.7, abs=1e-14)


def test_implicit_surfaces_agree_with_the_shape_they_describe():
    same = Implicit(lambda x, y, z: (x / 1.0) ** 2 + (y / 0.5) ** 2 + (z / 0.3) ** 2 - 1, 1.0)
    rng = np.random.default_rng(8)
    for other in (Ellipsoid(0.4, 0.8, 0.2), Plane()):
        pose = (turned(rng, False), np.zeros(3), turned(rng, False), 2.5 * way(rng, False))
        one, two = (
            closest_numeric(shape, *pose[:2], other, *pose[2:]) for shape in (same, Ellipsoid(1.0, 0.5, 0.3))
        )
        assert one.distance == pytest.approx(two.distance, abs=1e-12)


def test_numbers_and_traces_agree():
    R = tuple(tuple(float(x) for x in row) for row in Rotation.from_euler("xyz", [1, 2, 3]).as_matrix())
    a, b, p = Ellipsoid(1.0, 0.5, 0.3), Superellipsoid(0.4, 0.8, 0.2, (4.0, 3.0)), (1.0, 1.2, 0.4)
    plain = closest(a, UNIT, (0.0, 0.0, 0.0), b, R, p)  # type: ignore[arg-type]
    compiled = ClosestKernel(a, b)(np.eye(3), np.zeros(3), np.array(R), np.array(p))
    assert plain.distance == pytest.approx(compiled.distance, abs=1e-13)
    np.testing.assert_allclose(np.array(plain.point_a, dtype=float), compiled.point_a, atol=1e-9)


def test_sizes_may_be_parameters():
    graph = Graph()
    a, height = graph.input("semi-axis"), graph.input("height")
    found = closest(Plane(), UNIT, (0.0, 0.0, 0.0), Ellipsoid(1.0, 1.0, a), UNIT, (0.0, 0.0, height))
    kernel = compile_program(Program.of([a, height], [found.distance]))
    assert kernel([0.5, 2.0])[0] == pytest.approx(1.5, abs=1e-15)


def test_the_distance_changes_along_the_normal():
    rng = np.random.default_rng(9)
    (R_a, p_a, R_b, p_b), n = touching("ellipsoid, ellipsoid", rng, 0.1)
    for axis in np.eye(3):
        d = [kernel("ellipsoid, ellipsoid")(R_a, p_a, R_b, p_b + s * axis, n).distance for s in (1e-5, -1e-5)]
        assert (d[0] - d[1]) / 2e-5 == pytest.approx(axis @ n, abs=1e-9)


def test_two_pendulums_of_paper_a_touch_where_they_should():
    """Example 3: the circle swings from the horizontal into the resting ellipse."""

    def swing(t, y):
        return [y[1], -9.81 * 0.5 * np.sin(y[0]) / (0.3 + 0.25)]

    motion = solve_ivp(swing, (0, 0.668702961765), [-np.pi / 2, 0.0], rtol=1e-12, atol=1e-13, method="DOP853")
    angle = motion.y[0, -1]
    centre = 0.5 * np.array([np.cos(angle), np.sin(angle), 0.0])
    R = Rotation.from_euler("z", angle).as_matrix()
    found = closest_numeric(Circle(0.1), R, centre, Ellipse(0.5, 0.1), np.eye(3), (0.5, 0.3, 0.0))
    assert found.distance == pytest.approx(0.0, abs=2e-11)
    np.testing.assert_allclose(found.point_b[:2], (0.490282701054, 0.200018886963), atol=1e-9)


def test_deep_overlap_of_a_flat_ellipse_is_not_missed():
    """Past a penetration of 0.1 m paper A's problem prefers equal normals, with a positive distance."""
    guess = (0.0, 1.0, 0.0)
    for depth in (0.05, 0.12, 0.17):
        found = ClosestKernel(Circle(0.1), Ellipse(0.5, 0.1))(
            np.eye(3), np.zeros(3), np.eye(3), (0.0, 0.2 - depth, 0.0), guess
        )
        assert found.distance == pytest.approx(-depth, abs=1e-12)


LIMITS = {
    "circle, ellipse": 1300,
    "ellipse, ellipse": 1400,
    "ellipsoid, ellipsoid": 3700,
    "superellipsoid, sphere": 4900,
}


@pytest.mark.parametrize("name", LIMITS)
def test_programs_stay_small(name):
    assert len(closest_program(*SMOOTH[name], guess=True).operations) < LIMITS[name]
    assert len(closest_program(*SMOOTH[name], guess=True, iterations=3).operations) < 0.5 * LIMITS[name]
    plane = closest_program(Superellipsoid(1.0, 0.5, 0.3), Plane(), guess=False)
    assert len(plane.operations) < 160


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sphere(-1.0), "radius must be a positive length"),
        (lambda: Superellipsoid(1.0, 1.0, 1.0, (0.5, 2.0)), "not convex"),
        (lambda: closest_program(Plane(), Plane(), False), "no closest points"),
        (lambda: closest_program(Circle(1.0), Sphere(1.0), False), "planar shape meets planar"),
        (lambda: Implicit(lambda x, y, z: x**2 + y**2 + z**2 + 1, 1.0), "must be negative"),
        (lambda: Implicit(lambda x, y, z: x**2 + y**2 + z**2 - 4, 1.0, "ball"), "ball reaches further"),
        (
            lambda: Implicit(
                lambda x, y, z: (x**2 + y**2 + z**2) ** 2 - 2 * (x**2 - y**2 - z**2) - 0.1, 2.0, "nut"
            ),
            r"nut is not convex: at \(.*\) it bends inward",
        ),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises(ModelError, match=words):
        make()
