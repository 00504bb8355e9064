"""Surfaces of samples and patches: closest points, order of their error, rims, runs, and input that makes no sense."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from bellcrank.contact import (
    BezierGrid,
    ClosestKernel,
    Ellipsoid,
    Mesh,
    Parametric,
    Plane,
    Sampled,
    Shape,
    Sphere,
    check_pair,
)
from bellcrank.contact.closest import routine
from bellcrank.contact.parametric import surface_points
from bellcrank.contact.sampled import MOST
from bellcrank.contact.shapes import Circle
from bellcrank.errors import ModelError
from bellcrank.model import System
from bellcrank.result.result import Result

Array = np.ndarray
HERE = np.eye(3), np.zeros(3)


def on_sphere(number: int) -> Array:
    """Points of a unit sphere, spread evenly (Fibonacci's lattice)."""
    k = np.arange(number)
    z, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def sampled_sphere(number: int, radius: float = 1.0) -> Sampled:
    p = on_sphere(number)
    return Sampled(radius * p, p)


def sampled_ellipsoid(number: int, axes: tuple[float, float, float]) -> Sampled:
    u = on_sphere(number)
    return Sampled(u * axes, u / axes)


def globe(rows: int) -> Array:
    polar = np.linspace(0.0, np.pi, rows + 2)[1:-1]
    turn = np.linspace(0.0, 2.0 * np.pi, 2 * rows, endpoint=False)
    a, b = np.meshgrid(polar, turn, indexing="ij")
    return np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=2)


def ring() -> Parametric:
    """About a torus, from a periodic net."""
    u, v = np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False), np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    a, b = np.meshgrid(u, v, indexing="ij")
    r = 2.0 + 0.8 * np.cos(b)
    net = np.stack([r * np.cos(a), r * np.sin(a), 0.8 * np.sin(b)], axis=2)
    return Parametric.b_spline(net, around=(True, True))


def gap_errors(number: int, other: str, tries: int = 40) -> tuple[float, float]:
    """Root mean square of the errors of gap and normal over random poses, apart and overlapping."""
    ball = sampled_sphere(number)
    shape: Shape = {"sphere": Sphere(0.5), "plane": Plane(), "sampled": sampled_sphere(number)}[other]
    pair, random = ClosestKernel(ball, shape), np.random.default_rng(1)
    gaps, normals = [], []
    for _ in range(tries):
        R = Rotation.random(random_state=random).as_matrix()
        gap, way = random.uniform(-0.02, 0.1), random.normal(size=3)
        way /= np.linalg.norm(way)
        if other == "plane":
            way = -R[:, 2]
        far = {"plane": 1.0, "sphere": 1.5, "sampled": 2.0}[other]
        found = pair(*HERE, R, (far + gap) * way)
        gaps.append(found.distance - gap)
        normals.append(np.linalg.norm(found.normal - way))
    return float(np.sqrt(np.mean(np.square(gaps)))), float(np.sqrt(np.mean(np.square(normals))))


@pytest.mark.parametrize("other", ["sphere", "plane", "sampled"])
def test_gap_of_a_sampled_sphere_is_of_fourth_order(other: str) -> None:
    """Four times the points halve the spacing: a sixteenth of the error, an eighth for the normal."""
    coarse, fine = gap_errors(500, other), gap_errors(2000, other)
    assert fine[0] < 1.2e-5
    assert np.log2(coarse[0] / fine[0]) > 3.5
    if other == "sphere":
        assert np.log2(coarse[1] / fine[1]) > 2.5


def test_surface_passes_through_its_samples_with_their_normals() -> None:
    ball = sampled_sphere(600)
    pair = ClosestKernel(ball, Sphere(0.25))
    for k in (0, 17, 300, 599):
        n = ball._fitted[1][k]
        found = pair(*HERE, np.eye(3), ball.points[k] + 0.25 * n)
        assert found.distance == pytest.approx(0.0, abs=1e-9)
        assert found.normal == pytest.approx(n, abs=1e-6)


@pytest.mark.parametrize("partner", ["ellipsoid", "sampled", "bezier"])
def test_closest_points_face_each_other_and_so_do_their_rates(partner: str) -> None:
    """Normals opposed on one line; rates of the result are differences of it, for first and second derivatives.

    One partner moves along x, the next along y, the third along z.
    """
    along = ["ellipsoid", "sampled", "bezier"].index(partner)
    a = sampled_ellipsoid(1200, (0.5, 0.4, 0.3))
    b: Shape = {
        "ellipsoid": Ellipsoid(0.2, 0.3, 0.25),
        "sampled": sampled_ellipsoid(900, (0.2, 0.3, 0.25)),
        "bezier": BezierGrid(0.3 * globe(24), around=True),
    }[partner]
    found = routine(a, b)
    first = found.partials((along,))
    second = first.partials((along,)) if partner == "bezier" else None
    random = np.random.default_rng(3)
    for _ in range(3):
        way = random.normal(size=3) * [1.0, 1.0, 0.3]
        R = Rotation.random(random_state=random).as_matrix()
        pose = np.concatenate([0.78 * way / np.linalg.norm(way), R.ravel(), [-1.0]])
        y = found.kernel(pose)
        n, x_a, x_b = y[:3], y[3:6], y[6:9]
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-14)
        across = (x_b - x_a) - n * ((x_b - x_a) @ n)
        assert np.abs(across).max() < 1e-12
        rates = first.kernel(pose)
        assert rates[:9] == pytest.approx(y, abs=1e-14)
        ahead, back = (pose + s * 1e-5 * np.eye(13)[along] for s in (1.0, -1.0))
        slope = (found.kernel(ahead) - found.kernel(back)) / 2e-5
        assert rates[9:] == pytest.approx(slope, rel=1e-5, abs=1e-5)
        if second is not None:
            # For each of the results and of their rates, the rate of that.
            bend = second.kernel(pose)[27:]
            change = (first.kernel(ahead) - first.kernel(back))[9:] / 2e-5
            assert bend == pytest.approx(change, rel=1e-3, abs=1e-3)


def test_what_a_search_keeps_changes_nothing_but_its_time() -> None:
    found = routine(sampled_ellipsoid(1200, (0.5, 0.4, 0.3)), Sphere(0.2)).kernel
    random = np.random.default_rng(5)
    for _ in range(20):
        way = random.normal(size=3)
        pose = np.concatenate([0.6 * way / np.linalg.norm(way), np.eye(3).ravel()])
        rows = [found(np.append(pose, kept)) for kept in (-1.0, 0.0, 40.0, 1e9)]
        assert all(np.array_equal(row, rows[0]) for row in rows)


def test_bezier_patch_as_published_lies_inside_and_is_of_second_order() -> None:
    errors = []
    for rows in (16, 32):
        grid = globe(rows)
        bezier = Sampled.from_grid(grid, surface="bezier", around=True)
        assert isinstance(bezier, BezierGrid)
        point, normal = bezier.nearest(1.1 * grid[rows // 2, 3])
        polar = np.pi * (rows // 2 + 1) / (rows + 1)
        h1, h2 = np.pi / (rows + 1), np.pi / rows * np.sin(polar)
        assert 1.0 - np.linalg.norm(point) == pytest.approx((h1**2 + h2**2) / 4.0, rel=0.05)
        assert normal == pytest.approx(point / np.linalg.norm(point), abs=0.02)
        errors.append(1.0 - float(np.linalg.norm(point)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_grid_of_a_wavy_surface_that_is_not_convex() -> None:
    """The gap against the least distance from the wave itself; it errs by a power of the distance of samples near 4."""
    c = np.array([-0.39, 0.05, 0.2])

    def wave(x: Array, y: Array) -> Array:
        return np.asarray(0.1 * np.sin(4.0 * x) * np.cos(3.0 * y))

    def square(place: Array) -> float:
        return float(((place - c[:2]) ** 2).sum() + (wave(*place) - c[2]) ** 2)

    expected = math.sqrt(minimize(square, c[:2], tol=1e-14).fun) - 0.05
    errors = []
    for count in (41, 81):
        x, y = np.meshgrid(np.linspace(-1.0, 1.0, count), np.linspace(-1.0, 1.0, count), indexing="ij")
        surface = Sampled.from_grid(np.stack([x, y, wave(x, y)], axis=2))
        assert surface.is_open
        errors.append(abs(ClosestKernel(surface, Sphere(0.05))(*HERE, np.eye(3), c).distance - expected))
    assert errors[0] < 1.5e-5
    assert math.log2(errors[0] / errors[1]) > 3.0


def test_b_splines_are_the_patches_they_are_made_of() -> None:
    random = np.random.default_rng(5)
    net = random.normal(size=(6, 5, 3))
    surface = Parametric.b_spline(net, degrees=(3, 2))
    knots = [np.array([0, 0, 0, 0, 1, 2, 3, 3, 3, 3.0]), np.array([0, 0, 0, 1, 2, 3, 3, 3.0])]
    for i in range(3):
        for j in range(3):
            u, v = random.uniform(size=2)
            expected = BSpline(knots[1], BSpline(knots[0], net, 3)(i + u), 2)(j + v)
            point, by_u, _ = surface_points(surface.nets[3 * i + j], np.array([u, u + 1e-6]), np.array([v]))
            assert point[0, 0] == pytest.approx(expected, abs=1e-12)
            assert by_u[0, 0] == pytest.approx((point[1, 0] - point[0, 0]) / 1e-6, rel=1e-3, abs=1e-3)


def test_ball_meets_a_spline_where_a_fine_grid_says() -> None:
    surface = ring()
    t = np.linspace(0.0, 1.0, 41)
    fine = np.concatenate([surface_points(net, t, t)[0].reshape(-1, 3) for net in surface.nets])
    pair, random = ClosestKernel(surface, Sphere(0.2)), np.random.default_rng(2)
    for _ in range(8):
        a, b = random.uniform(0.0, 2.0 * np.pi, size=2)
        c = np.array([(2.0 + np.cos(b)) * np.cos(a), (2.0 + np.cos(b)) * np.sin(a), np.sin(b)])
        found = pair(*HERE, np.eye(3), c)
        expected = np.linalg.norm(fine - c, axis=1).min() - 0.2
        assert expected - 1e-3 < found.distance <= expected + 1e-6


def bouncing(shape: Shape, radius: float, **contact: object) -> System:
    system = System("sampled", gravity=(0.0, 0.0, -9.81))
    ball = system.body("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3, at=(0.0, 0.0, 1.02 * radius))
    system.free("flight", system.ground, ball)
    given = {"treatment": "continuous", "stiffness": 1e7, **contact}
    system.contact("floor", system.ground.plane(), ball.shape(shape), **given)  # type: ignore[arg-type]
    return system


SPINNING = {"flight": {"velocity": (0.3, 0.0, 0.0), "angular_velocity": (0.0, 3.0, 1.0)}}


def wavering(run: Result) -> float:
    return float(np.ptp(run["energy.total"]) / run["energy.kinetic"].max())


@pytest.mark.parametrize("kind", ["ball", "egg", "spline"])
def test_surfaces_of_data_bounce_without_losing_energy(kind: str) -> None:
    """A ball, an egg that tumbles over its poles, a ring of splines on its side."""
    shape: Shape = {
        "ball": sampled_sphere(800, 0.1),
        "egg": sampled_ellipsoid(1500, (0.1, 0.08, 0.09)),
        "spline": Parametric(0.035 * ring().nets),
    }[kind]
    run = bouncing(shape, 0.1, law="hertz").simulate(
        0.6, initial=SPINNING, tolerance=1e-9, formulation="recursive", integrator="dop853"
    )
    assert sum(event.name == "floor: touch" for event in run.events) >= 3
    assert wavering(run) < 2e-5


def test_ball_rolls_over_the_seams_of_a_bowl_without_losing_energy() -> None:
    """Frictionless in a spline bowl, through many patches."""
    t = np.linspace(-1.0, 1.0, 7)
    x, y = np.meshgrid(t, t, indexing="ij")
    bowl = Parametric.b_spline(np.stack([x, y, 0.5 * (x * x + y * y)], axis=2))
    system = System("bowl")
    ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(0.4, 0.0, 0.3))
    system.free("flight", system.ground, ball)
    system.contact("bowl", system.ground.shape(bowl), ball.sphere(0.1), treatment="continuous", stiffness=1e6,
                   law="hertz")  # fmt: skip
    run = system.simulate(1.0, tolerance=1e-9, output=200, initial={"flight": {"velocity": (0.0, 0.5, 0.0)}})
    assert np.ptp(run["energy.total"]) < 2e-6 * np.ptp(run["energy.gravity"])
    assert np.ptp(run["ball.position.x"]) > 0.3
    assert min(run["bowl.gap"]) < 0.0


def test_ball_rolls_off_a_plate_and_falls() -> None:
    """Behind the rim there is nothing: the ball falls freely."""
    t = np.linspace(-0.2, 0.2, 21)
    x, y = np.meshgrid(t, t, indexing="ij")
    system = System("plate")
    ball = system.body("ball", mass=1.0, inertia=(1e-3,) * 3, at=(0.1, 0.0, 0.05))
    system.free("flight", system.ground, ball)
    plate = Sampled.from_grid(np.stack([x, y, np.zeros_like(x)], axis=2))
    system.contact(
        "plate", system.ground.shape(plate), ball.sphere(0.05), treatment="continuous", stiffness=1e6
    )
    run = system.simulate(0.5, output=200, initial={"flight": {"velocity": (1.0, 0.0, 0.0)}})
    late = run.time > 0.3
    assert np.gradient(run["ball.velocity.z"], run.time)[late][1:-1] == pytest.approx(-9.80665, rel=1e-3)
    assert run["ball.position.z"][-1] < -0.1
    assert run["plate.gap"][-1] > 0.1


def test_impacts_of_a_sampled_ball_are_those_of_a_ball() -> None:
    """In the impulsive treatment, with friction: heights and spin after some impacts, and rest in the end."""
    runs = []
    for sampled in (True, False):
        system = System("ball")
        ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, 0.0, 0.3))
        system.free("flight", system.ground, ball)
        side = ball.shape(sampled_sphere(2000, 0.1)) if sampled else ball.sphere(0.1)
        system.contact("floor", system.ground.plane(), side, restitution=0.5, friction=0.3)
        runs.append(system.simulate(1.5, output=100, initial={"flight": {"velocity": (0.5, 0.0, 0.0)}}))
    for name in ("ball.position.z", "ball.position.x", "ball.angular_velocity.y"):
        assert runs[0][name] == pytest.approx(runs[1][name], rel=2e-3, abs=2e-3)


def test_link_of_a_chain_swings_in_the_next() -> None:
    """Two tori of samples, which hook into each other."""
    u, v = np.meshgrid(np.arange(48) * 2 * np.pi / 48, np.arange(20) * 2 * np.pi / 20, indexing="ij")
    n = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], axis=2).reshape(-1, 3)
    p = np.stack([(0.05 + 0.015 * np.cos(v)) * np.cos(u), (0.05 + 0.015 * np.cos(v)) * np.sin(u),
                  0.015 * np.sin(v)], axis=2).reshape(-1, 3)  # fmt: skip
    link, turned = Sampled(p, n), Sampled(p[:, [0, 2, 1]] * [1, -1, 1], n[:, [0, 2, 1]] * [1, -1, 1])
    system = System("chain")
    body = system.body("link", mass=1.0, inertia=(1e-3, 1e-3, 2e-3), at=(0.0, 0.0, -0.069))
    system.free("flight", system.ground, body)
    upright = Sampled(p[:, [2, 0, 1]], n[:, [2, 0, 1]])
    system.contact("hook", system.ground.shape(upright), body.shape(turned), treatment="continuous", stiffness=1e6,
                   restitution=0.1)  # fmt: skip
    assert link.volume == pytest.approx(2.0 * np.pi**2 * 0.05 * 0.015**2, rel=0.06)
    run = system.simulate(0.4, tolerance=1e-7, output=20)
    assert float(run["link.position.z"][-1]) == pytest.approx(
        -0.07 - (9.80665 / 1e6) ** (2.0 / 3.0), abs=2e-5
    )


def test_samples_by_their_field_come_to_rest_as_the_ball_does() -> None:
    """The patch of a soft ball: Hertz's depth for the load."""
    system = System("ball")
    ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, 0.0, 0.0995))
    system.free("flight", system.ground, ball)
    shape = ball.shape(sampled_sphere(3000, 0.1))
    system.contact("floor", system.ground.plane(), shape, treatment="continuous", method="field", young=1e6,
                   poisson=0.0, restitution=0.1)  # fmt: skip
    run = system.simulate(0.5, output=10)
    expected = (9.80665 / (4.0 / 3.0 * 0.5e6 * math.sqrt(0.1))) ** (2.0 / 3.0)
    assert 0.1 - run["ball.position.z"][-1] == pytest.approx(expected, rel=0.1)


def test_patches_need_a_stiffness_for_points() -> None:
    """Patches as published have half the curvature: nothing for Hertz's theory; their field takes young=."""
    system = System("ball")
    ball = system.body("ball", mass=1.0, inertia=(1.0,) * 3)
    patched = ball.shape(Sampled.from_grid(globe(16), surface="bezier", around=True))
    with pytest.raises(ModelError, match="give stiffness="):
        system.contact(
            "floor", system.ground.plane(), patched, treatment="continuous", young=1e9, method="points"
        )


def test_samples_that_make_no_sense_are_refused() -> None:
    p = on_sphere(100)
    wrong = p.copy()
    wrong[7, 1] = np.nan
    for points, normals, match in (
        (wrong, p, "sample 7 has a point that is not a number"),
        (p, wrong, "sample 7 has a normal that is not a number"),
        (p[:8], p[:8], "at least 12"),
        (p, p[:50], "shape"),
        (np.vstack([p, p[:1]]), np.vstack([p, p[:1]]), "the same point twice"),
        (p, np.zeros_like(p), "normal zero"),
        (1e9 * p, p, "in metres"),
        ("points", p, "must be numbers"),
    ):
        with pytest.raises(ModelError, match=match):
            Sampled(points, normals)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="planar"):
        check_pair(sampled_sphere(100), Circle(0.1))
    many = np.broadcast_to(np.zeros(3), (MOST + 1, 3))
    with pytest.raises(ModelError, match="at most"):
        Sampled(many, many)
    grid = np.zeros((5, 5, 3))
    with pytest.raises(ModelError, match="'through' or 'bezier', not 'spline'"):
        Sampled.from_grid(grid, surface="spline")  # type: ignore[call-overload]
    with pytest.raises(ModelError, match="around= belongs to surface='bezier'"):
        Sampled.from_grid(grid, around=True)  # type: ignore[call-overload]


def test_patches_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ModelError, match="more than 3 control points"):
        Parametric.b_spline(np.zeros((3, 5, 3)))
    with pytest.raises(ModelError, match="knots must not fall"):
        Parametric.b_spline(np.zeros((4, 4, 3)), knots=([0, 1, 2], [0, 1, 2]))
    with pytest.raises(ModelError, match="too high"):
        Parametric(np.zeros((1, 9, 9, 3)))
    with pytest.raises(ModelError, match="not a number"):
        Parametric.bezier(np.full((3, 3, 3), np.nan))
    with pytest.raises(ModelError, match="1 or -1"):
        Parametric(np.zeros((1, 3, 3, 3)), 0.5)


def test_vertices_of_a_smooth_mesh_serve_as_samples(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=4, radius=0.1)
    path = tmp_path / "ball.stl"
    ball.export(path)
    for surface in (Sampled.from_mesh(ball.vertices, ball.faces), Sampled.from_file(path)):
        found = ClosestKernel(surface, Sphere(0.05))(*HERE, np.eye(3), [0.0, 0.03, 0.155])
        assert found.distance == pytest.approx(math.hypot(0.03, 0.155) - 0.15, abs=2e-6)
    assert Mesh(ball.vertices, ball.faces).sampled().volume == pytest.approx(4 / 3 * np.pi * 1e-3, rel=0.01)


def test_points_are_told_to_be_gone() -> None:
    system = System("box")
    body = system.body("box", mass=1.0, inertia=(1e-2,) * 3)
    for treatment in ("continuous", "impulsive"):
        with pytest.raises(
            ModelError, match=r"contact 'floor': points= is not taken any more.*method='field'"
        ):
            system.contact("floor", system.ground.plane(), body.sphere(0.1), treatment=treatment, points=4)


def test_point_clouds_take_normals_as_given() -> None:
    """Any order, normals of any length; coplanar clouds are flat."""
    random = np.random.default_rng(0)
    order = random.permutation(800)
    u = on_sphere(800)[order]
    found = ClosestKernel(Sampled(u, u * random.uniform(0.1, 9.0, (800, 1))), Plane())
    R = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    assert found(*HERE, R, -1.1 * R[:, 2]).distance == pytest.approx(0.1, abs=1e-4)
    flat = np.column_stack([random.uniform(-1.0, 1.0, (400, 2)), np.zeros(400)])
    sheet = ClosestKernel(Sampled(flat, np.tile([0.0, 0.0, 1.0], (400, 1))), Sphere(0.2))
    assert sheet(*HERE, np.eye(3), [0.1, 0.2, 0.25]).distance == pytest.approx(0.05, abs=1e-9)
