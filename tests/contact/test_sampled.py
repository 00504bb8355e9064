"""Sampled surfaces: order of the error, rolling without ticks, and meshes that are hostile."""

from __future__ import annotations

import math
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from bellcrank.contact import Plane, Sampled, Sphere, check_pair
from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.meshes import cleaned
from bellcrank.contact.sampled import MOST
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Circle, Cylinder, Ellipsoid
from bellcrank.contact.tree import Tree
from bellcrank.contact.tree_layout import PLANE
from bellcrank.contact.tree_search import Search
from bellcrank.errors import ModelError
from bellcrank.model import System


def on_sphere(number: int) -> np.ndarray:
    """Points of a unit sphere, spread evenly (Fibonacci's lattice)."""
    k = np.arange(number)
    z, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def sampled_sphere(number: int, radius: float = 1.0) -> Sampled:
    p = on_sphere(number)
    return Sampled(radius * p, p)


def gap_errors(number: int, other: str, tries: int = 60) -> tuple[float, float]:
    """Root mean square of the errors of gap and normal over random poses."""
    ball = sampled_sphere(number)
    shape = {"sphere": Sphere(0.5), "plane": Plane(), "sampled": ball}[other]
    pair, random = SampledPair(ball, shape), np.random.default_rng(1)
    gaps, normals = [], []
    for _ in range(tries):
        R = Rotation.random(random_state=random).as_matrix()
        gap, way = random.uniform(-0.02, 0.1), random.normal(size=3)
        way /= np.linalg.norm(way)
        if other == "plane":
            way = -R[:, 2]
            c = (1.0 + gap) * way
        else:
            c = (1.5 if other == "sphere" else 2.0) * way + gap * way
        found = pair(R, c)
        gaps.append(found[0] - gap)
        normals.append(np.linalg.norm(found[1] - way))
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
    pair = SampledPair(ball, Sphere(0.25))
    for k in (0, 17, 300, 599):
        n = ball._fitted[1][k]
        found = pair(np.eye(3), ball.points[k] + 0.25 * n)
        assert found[0] == pytest.approx(0.0, abs=1e-9)
        assert found[1] == pytest.approx(n, abs=1e-6)


def test_bezier_patch_as_published_lies_inside_and_is_of_second_order() -> None:
    errors = []
    for rows in (16, 32):
        polar = np.linspace(0.0, np.pi, rows + 2)[1:-1]
        turn = np.linspace(0.0, 2.0 * np.pi, 2 * rows, endpoint=False)
        grid = np.stack(
            [
                np.outer(np.sin(polar), np.cos(turn)),
                np.outer(np.sin(polar), np.sin(turn)),
                np.outer(np.cos(polar), np.ones_like(turn)),
            ],
            axis=2,
        )
        bezier = Sampled.from_grid(grid, surface="bezier", around=True)
        assert isinstance(bezier, BezierGrid)
        at_sample = np.array(grid[rows // 2, 3])
        point, _ = bezier.nearest(1.1 * at_sample)
        h1, h2 = polar[1] - polar[0], (turn[1] - turn[0]) * np.sin(polar[rows // 2])
        assert 1.0 - np.linalg.norm(point) == pytest.approx((h1**2 + h2**2) / 4.0, rel=0.05)
        errors.append(1.0 - float(np.linalg.norm(point)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_surfaces_over_a_grid_are_named() -> None:
    grid = np.zeros((5, 5, 3))
    with pytest.raises(ModelError, match="'through' or 'bezier', not 'spline'"):
        Sampled.from_grid(grid, surface="spline")  # type: ignore[call-overload]
    with pytest.raises(ModelError, match="around= belongs to surface='bezier'"):
        Sampled.from_grid(grid, around=True)  # type: ignore[call-overload]


def test_grid_of_a_wavy_surface_that_is_not_convex() -> None:
    """The gap against the least distance from the wave itself; it errs by a power of the distance of samples near 4."""
    c = np.array([-0.39, 0.05, 0.2])

    def wave(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(0.1 * np.sin(4.0 * x) * np.cos(3.0 * y))

    def square(place: np.ndarray) -> float:
        return float(((place - c[:2]) ** 2).sum() + (wave(*place) - c[2]) ** 2)

    expected = math.sqrt(minimize(square, c[:2], tol=1e-14).fun) - 0.05
    errors = []
    for count in (41, 81):
        x, y = np.meshgrid(np.linspace(-1.0, 1.0, count), np.linspace(-1.0, 1.0, count), indexing="ij")
        surface = Sampled.from_grid(np.stack([x, y, wave(x, y)], axis=2))
        errors.append(abs(SampledPair(surface, Sphere(0.05))(np.eye(3), c)[0] - expected))
    assert errors[0] < 1.5e-5
    assert math.log2(errors[0] / errors[1]) > 3.0


def bouncing(shape: Sampled, radius: float, **contact: object) -> System:
    system = System("sampled", gravity=(0.0, 0.0, -9.81))
    ball = system.body("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3, at=(0.0, 0.0, 1.02 * radius))
    system.free("flight", system.ground, ball)
    system.contact(
        "floor", system.ground.plane(), ball.shape(shape), treatment="continuous", stiffness=1e7, **contact
    )  # type: ignore[arg-type]
    return system


def test_sampled_ball_keeps_its_energy_over_a_hundred_contacts() -> None:
    run = bouncing(sampled_sphere(2000, 0.1), 0.1, law="hertz").simulate(
        4.8,
        initial={"flight": {"velocity": (0.3, 0.0, 0.0), "angular_velocity": (0.0, 3.0, 1.0)}},
        tolerance=1e-9,
        formulation="recursive",
    )
    assert Counter(e.name for e in run.events)["floor: touch"] >= 100
    energy = run["energy.total"]
    assert np.ptp(energy) < 1e-4 * float(run["energy.kinetic"].max())
    assert np.abs(run["floor.gap"] - (run["ball.position.z"] - 0.1)).max() < 2e-6


def test_sampled_ball_rolls_without_ticking() -> None:
    """Rolling from rest in its dent, the load wavers by little more than the error of the gap makes it."""
    system = bouncing(sampled_sphere(8000, 0.1), 0.1, law="hertz", friction=0.3)
    depth = (9.81 / 1e7) ** (2.0 / 3.0)
    run = system.simulate(
        0.3,
        initial={
            "flight": {
                "position": (0.0, 0.0, 0.1 - depth),
                "velocity": (0.5, 0.0, 0.0),
                "angular_velocity": (0.0, 5.0, 0.0),
            }
        },
        tolerance=1e-9,
        formulation="recursive",
    )
    assert np.abs(run["floor.normal_force"] / 9.81 - 1.0).max() < 5e-3
    assert np.ptp(run["energy.total"]) < 1e-4 * float(run["energy.kinetic"].max())
    assert float(run["ball.velocity.x"][-1]) == pytest.approx(0.5, rel=1e-3)


def test_patches_need_a_stiffness() -> None:
    system = System("ball")
    ball = system.body("ball", mass=1.0, inertia=(1.0,) * 3)
    # Patches as published have half the curvature: nothing for Hertz's theory.
    t = np.linspace(-1.0, 1.0, 5)
    x, y = np.meshgrid(t, t, indexing="ij")
    bowl = Sampled.from_grid(np.stack([x, y, -(x**2) - y**2], axis=2), surface="bezier")
    with pytest.raises(ModelError, match="stiffness="):
        system.contact("floor", system.ground.plane(), ball.shape(bowl), treatment="continuous", young=1e9)
    check_pair(sampled_sphere(100), Ellipsoid(1.0, 2.0, 3.0))
    with pytest.raises(ModelError, match="sharp rims"):
        check_pair(sampled_sphere(100), Cylinder(1.0, 2.0))
    with pytest.raises(ModelError, match="planar"):
        check_pair(sampled_sphere(100), Circle(1.0))
    with pytest.raises(ModelError, match="points= belongs to surfaces of samples"):
        system.contact(
            "two", system.ground.plane(), ball.sphere(0.1), treatment="continuous", stiffness=1e6, points=2
        )


def test_samples_that_make_no_sense_are_refused() -> None:
    p = on_sphere(100)
    wrong = p.copy()
    wrong[7, 1] = np.nan
    with pytest.raises(ModelError, match="sample 7"):
        Sampled(wrong, p)
    with pytest.raises(ModelError, match="normal zero"):
        Sampled(p, np.zeros_like(p))
    with pytest.raises(ModelError, match="twice"):
        Sampled(np.vstack([p, p[:1]]), np.vstack([p, p[:1]]))
    with pytest.raises(ModelError, match="at least 12"):
        Sampled(p[:5], p[:5])
    with pytest.raises(ModelError, match="4 x 4"):
        Sampled.from_grid(p)


def icosphere() -> tuple[np.ndarray, np.ndarray]:
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.creation.icosphere(subdivisions=3)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def test_hostile_meshes_are_repaired_with_a_note_or_refused() -> None:
    v, f = icosphere()
    assert Sampled.from_mesh(v, f).notes == ()
    doubled = Sampled.from_mesh(v[f].reshape(-1, 3), np.arange(3 * len(f)).reshape(-1, 3))
    assert "merged" in doubled.notes[0]
    assert len(doubled.points) == len(v)
    thin = Sampled.from_mesh(v, np.vstack([f, [[0, 0, 1]]]))
    assert "without area" in thin.notes[0]
    assert "inwards" in Sampled.from_mesh(v, f[:, ::-1]).notes[0]
    inside_out = Sampled.from_mesh(v, f[:, ::-1])
    assert np.all(np.sum(inside_out.points * inside_out.normals, axis=1) > 0.9)
    assert any("open" in note for note in Sampled.from_mesh(v, f[:-40]).notes)
    with pytest.raises(ModelError, match="disagree"):
        Sampled.from_mesh(v, np.vstack([f[:1, ::-1], f[1:]]))
    bad = v.copy()
    bad[3] = np.nan
    with pytest.raises(ModelError, match="vertex 3"):
        Sampled.from_mesh(bad, f)
    with pytest.raises(ModelError, match="does not exist"):
        Sampled.from_mesh(v, f + len(v))


@pytest.mark.parametrize("kind", ["stl", "obj", "ply"])
def test_mesh_files(kind: str, tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / f"ball.{kind}"
    trimesh.creation.icosphere(subdivisions=3).export(path)
    surface = Sampled.from_file(path)
    assert len(surface.points) == 642
    pair = SampledPair(surface, Plane())
    assert pair(np.eye(3), np.array([0.0, 0.0, -1.1]))[0] == pytest.approx(0.1, abs=1e-4)
    (tmp_path / "empty.stl").write_text("no mesh")
    with pytest.raises(ModelError, match="holds no triangles"):
        Sampled.from_file(tmp_path / "empty.stl")


def test_a_million_triangles_are_taken_in_bounded_time() -> None:
    """A surface of a million triangles, open at its poles: cleaned, and searched."""
    rows, columns = 500, 1000
    polar = np.linspace(0.0, np.pi, rows + 2)[1:-1]
    turn = np.linspace(0.0, 2.0 * np.pi, columns, endpoint=False)
    a, b = np.meshgrid(polar, turn, indexing="ij")
    points = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=2).reshape(-1, 3)
    k = np.arange((rows - 1) * columns)
    right = k + 1 - columns * ((k + 1) % columns == 0)
    faces = np.concatenate(
        [np.stack([k, k + columns, right], 1), np.stack([right, k + columns, right + columns], 1)]
    )
    assert len(faces) > 0.99e6
    began = time.perf_counter()
    cleaned_points, normals, notes = cleaned(points, faces)
    assert time.perf_counter() - began < 300.0
    assert any("open" in note for note in notes)
    outward = np.einsum("ij,ij->i", cleaned_points, normals)
    assert (outward > 0.0).all() or (outward < 0.0).all()
    tree = Tree.over(cleaned_points, normals)
    _, height = Search(tree).lowest(PLANE, np.array([0.0, 1.0, 0.0, -1.5]))
    assert height == pytest.approx(float((cleaned_points[:, 1] + 1.5).min()), abs=1e-13)


def test_too_many_samples_are_refused_before_any_work() -> None:
    many = np.broadcast_to(np.zeros(3), (MOST + 1, 3))
    with pytest.raises(ModelError, match="at most"):
        Sampled(many, many)


def test_point_clouds_take_normals_as_given() -> None:
    """Any order, normals of any length; coplanar clouds are flat."""
    random = np.random.default_rng(0)
    order = random.permutation(800)
    p = on_sphere(800)[order]
    ball = Sampled(p, p * random.uniform(0.5, 2.0, size=(800, 1)))
    pair = SampledPair(ball, Plane())
    assert pair(np.eye(3), np.array([0.0, 0.0, -1.05]))[0] == pytest.approx(0.05, abs=1e-4)
