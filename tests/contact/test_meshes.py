"""Triangle meshes as they come from CAD and from strangers: made even, repaired or refused, and put down."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bellcrank.contact import Plane, Sampled, Solid
from bellcrank.contact.creases import CORNER, EDGE, Creases
from bellcrank.contact.division import divided
from bellcrank.contact.resampling import resampled
from bellcrank.contact.sampled import CROWDED, MOST
from bellcrank.contact.search import SampledPair
from bellcrank.errors import ModelError
from bellcrank.model import System

trimesh = pytest.importorskip("trimesh")
make = trimesh.creation

Array = NDArray[np.float64]
G = 9.81


def new_points(mesh: trimesh.Trimesh, spacing: float) -> Array:
    """What division adds to the vertices."""
    v = np.asarray(mesh.vertices, dtype=float)
    return divided(Creases(v, np.asarray(mesh.faces)), spacing, MOST).points[len(v) :]


def rounded_plate(per: int) -> tuple[Array, NDArray[np.int64]]:
    """A plate 0.2 x 0.1 x 0.05 whose corners are arcs of radius 0.02 of so many edges; its planes are two triangles."""
    turns = [np.linspace(0.0, 0.5 * np.pi, per + 1) + 0.5 * np.pi * k for k in range(4)]
    middles = ((0.08, 0.03), (-0.08, 0.03), (-0.08, -0.03), (0.08, -0.03))
    outline = np.vstack(
        [
            np.array(m) + 0.02 * np.stack([np.cos(t), np.sin(t)], 1)
            for m, t in zip(middles, turns, strict=True)
        ]
    )
    n = len(outline)
    low, top = (np.column_stack([outline, np.full(n, z)]) for z in (0.0, 0.05))
    i, j = np.arange(n), (np.arange(n) + 1) % n
    sides = [np.stack([i, j, j + n], 1), np.stack([i, j + n, i + n], 1)]
    caps = [np.stack([j, i, np.full(n, 2 * n)], 1), np.stack([i + n, j + n, np.full(n, 2 * n + 1)], 1)]
    return np.vstack([low, top, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.05]]]), np.vstack(sides + caps)


def test_box_of_twelve_triangles_is_divided_and_stays_a_box() -> None:
    box = make.box((0.2, 0.2, 0.2))
    surface = Sampled.from_mesh(box.vertices, box.faces)
    assert surface.notes == ("divided 12 triangles into 3072, 12.5 mm apart, so that samples lie evenly",)
    assert len(surface.points) == 16 * 16 * 6 + 2
    on = np.isclose(np.abs(surface.points), 0.1, atol=1e-17, rtol=0.0)
    assert (np.abs(surface.points) <= 0.1).all()
    assert on.any(axis=1).all()
    # Normals: of sides, of edges between them, and of corners.
    expected = np.where(on, np.sign(surface.points), 0.0)
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    np.testing.assert_allclose(surface.normals, expected, atol=1e-15)


@pytest.mark.parametrize(
    "mesh", [make.icosphere(3, 0.1), make.box((0.2, 0.2, 0.2)).subdivide().subdivide().subdivide()]
)
def test_mesh_that_is_even_is_used_as_it_is(mesh: trimesh.Trimesh) -> None:
    surface = Sampled.from_mesh(mesh.vertices, mesh.faces)
    assert surface.notes == ()
    assert np.array_equal(surface.points, np.unique(mesh.vertices, axis=0))
    coarse = Sampled.from_mesh(mesh.vertices, mesh.faces, spacing=surface.spacing)
    assert np.array_equal(coarse.points, surface.points)
    assert np.array_equal(coarse.normals, surface.normals)


def test_new_points_lie_on_smooth_surfaces_to_fourth_order() -> None:
    """Half the edges, a sixteenth of the error: on a torus, on an ellipsoid and around a cylinder with its rims."""
    axes = np.array([0.1, 0.06, 0.04])

    def torus(n: int) -> float:
        p = new_points(make.torus(0.1, 0.03, major_sections=2 * n, minor_sections=n), 0.004)
        return float(np.abs(np.hypot(np.hypot(p[:, 0], p[:, 1]) - 0.1, p[:, 2]) - 0.03).max())

    def ellipsoid(n: int) -> float:
        p = new_points(make.icosphere(n).apply_scale(axes), 0.003) / axes
        return float(np.abs((np.linalg.norm(p, axis=1) - 1.0) / np.linalg.norm(p / axes, axis=1)).max())

    def cylinder(n: int) -> float:
        p = new_points(make.cylinder(0.1, 0.2, sections=n), 0.0125)
        side = np.hypot(p[:, 0], p[:, 1]) - 0.1
        assert (np.abs(p[:, 2]) <= 0.1).all()
        return float(np.abs(np.where(np.abs(p[:, 2]) < 0.1, side, np.maximum(side, 0.0))).max())

    for error, coarse, fine, limit in (
        (torus, 24, 48, 1e-6),
        (ellipsoid, 2, 3, 1e-5),
        (cylinder, 32, 64, 1e-6),
    ):
        one, two = error(coarse), error(fine)
        assert two < limit
        assert np.log2(one / two) > 3.5


def test_creases_stay_and_so_do_the_curves_they_follow() -> None:
    cylinder = make.cylinder(0.1, 0.2, sections=32)
    samples = divided(Creases(np.asarray(cylinder.vertices), np.asarray(cylinder.faces)), 0.0125, MOST)
    edges = samples.points[samples.kinds == EDGE]
    assert len(edges) == 128
    assert not (samples.kinds == CORNER).any()
    assert np.array_equal(np.abs(edges[:, 2]), np.full(len(edges), 0.1))
    assert np.hypot(edges[:, 0], edges[:, 1]) == pytest.approx(0.1, abs=1e-15)
    # Between both sides, however the triangles lie.
    n = samples.normals[samples.kinds == EDGE]
    assert np.abs(n[:, 2]) == pytest.approx(np.sqrt(0.5), abs=1e-3)
    cone = make.cone(0.1, 0.2)
    kinds = Creases(np.asarray(cone.vertices), np.asarray(cone.faces)).kinds[0]
    assert [int(np.argmax(cone.vertices[:, 2]))] == np.flatnonzero(kinds == CORNER).tolist()


@pytest.mark.parametrize(("per", "limit"), [(4, 5e-5), (8, 6e-6)])
def test_flat_sides_stay_flat_where_they_run_into_fillets(per: int, limit: float) -> None:
    found = resampled(Creases(*rounded_plate(per)), 0.005, MOST, CROWDED)
    assert found is not None
    p = found[0]
    q = np.abs(p[:, :2]) - (0.08, 0.03)
    round_ = (q > 0.0).all(axis=1)
    inside = np.where(round_, np.hypot(q[:, 0], q[:, 1]), q.max(axis=1)) - 0.02
    on_caps = (p[:, 2] == 0.0) | (p[:, 2] == 0.05)
    walls = np.abs(np.where(on_caps, np.maximum(inside, 0.0), inside))
    assert walls[~round_].max() < 1e-16
    assert walls.max() < limit


def test_two_flat_sides_that_meet_at_a_shallow_edge_stay_flat() -> None:
    """Of a roof: turned by 0.2 rad, less than what makes a crease of a coarse smooth mesh."""
    x, z = 0.1, 0.1 * np.tan(0.1)
    v = np.array([[-x, 0, 0], [0, 0, z], [x, 0, 0], [-x, 0.3, 0], [0, 0.3, z], [x, 0.3, 0]])
    f = np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]])
    found = resampled(Creases(v, f), 0.02, MOST, CROWDED)
    assert found is not None
    p = found[0]
    assert p[:, 2] == pytest.approx(z * (1.0 - np.abs(p[:, 0]) / x), abs=1e-16)


@pytest.mark.parametrize(
    "mesh", [make.capsule(0.2, 0.05), make.uv_sphere(0.1), make.torus(0.1, 0.03), make.cone(0.1, 0.2)]
)
def test_samples_of_uneven_meshes_lie_evenly(mesh: trimesh.Trimesh) -> None:
    surface = Sampled.from_mesh(mesh.vertices, mesh.faces)
    assert any("so that" in note for note in surface.notes)
    far = cKDTree(surface.points).query(surface.points, 7)[0]
    usual = float(np.median(far[:, 1]))
    assert far[:, 1].min() > 0.55 * usual
    assert far[:, 6].max() < 3.0 * usual
    # No gaps: points of the triangles lie within the reach of a sample.
    points, _ = trimesh.sample.sample_surface(mesh, 20_000, seed=1)
    assert cKDTree(surface.points).query(points)[0].max() < 1.5 * usual


def test_both_sides_and_all_rims_of_a_thin_plate_are_sampled() -> None:
    plate = make.box((0.2, 0.2, 0.001))
    surface = Sampled.from_mesh(plate.vertices, plate.faces)
    for side in (-1.0, 1.0):
        there = surface.points[surface.points[:, 2] == 0.0005 * side]
        ends = there[np.abs(there[:, :2]).max(axis=1) == 0.1]
        assert len(there) > 500
        assert len(ends) > 60


def test_spacing_is_what_was_asked_for_or_refused_with_one_that_does() -> None:
    box = make.box((0.2, 0.2, 0.2))
    surface = Sampled.from_mesh(box.vertices, box.faces, spacing=0.03)
    far = cKDTree(surface.points).query(surface.points)[0]
    near = cKDTree(surface.points).query(surface.points, 2)[0][:, 1]
    assert far.max() == 0.0
    assert near.min() > 0.6 * 0.03
    assert near.max() < 1.42 * 0.03
    v, f = np.asarray(box.vertices), np.asarray(box.faces)
    with pytest.raises(ModelError, match=r"more than 5000 on this mesh.*spacing=0.011 would do"):
        resampled(Creases(v, f), 0.002, 5000, CROWDED)
    allowed = resampled(Creases(v, f), 0.011, 5000, CROWDED)
    assert allowed is not None
    assert len(allowed[0]) <= 5000
    # Slivers are as many as they are long.
    long = make.cylinder(0.1, 0.2, sections=500)
    with pytest.raises(ModelError, match="so narrow"):
        resampled(Creases(np.asarray(long.vertices), np.asarray(long.faces)), 0.01, 3000, CROWDED)
    with pytest.raises(ModelError, match=r"spacing=\S+ would do"):
        Sampled.from_mesh(v, f, spacing=1e-7)
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ModelError, match="spacing of samples must be positive"):
            Sampled.from_mesh(v, f, spacing=wrong)
    with pytest.raises(ModelError, match="leave nothing of the shape"):
        Sampled.from_mesh(v, f, spacing=0.2)


def test_millimetres_are_scaled() -> None:
    box = make.box((200.0, 200.0, 200.0))
    surface = Sampled.from_mesh(box.vertices, box.faces, scale=1e-3)
    assert np.abs(surface.points).max() == pytest.approx(0.1, abs=1e-16)
    assert len(surface.points) == 1538
    with pytest.raises(ModelError, match="scale of a mesh must be positive"):
        Sampled.from_mesh(box.vertices, box.faces, scale=0.0)


def test_the_same_mesh_gives_the_same_bits() -> None:
    mesh = make.capsule(0.2, 0.05)
    one, two = (Sampled.from_mesh(mesh.vertices, mesh.faces) for _ in range(2))
    assert np.array_equal(one.points, two.points)
    assert np.array_equal(one.normals, two.normals)


def test_hundreds_of_thousands_of_triangles_are_thinned_out_in_bounded_time() -> None:
    mesh = make.icosphere(7, 0.1)
    began = time.perf_counter()
    found = resampled(Creases(np.asarray(mesh.vertices), np.asarray(mesh.faces)), 0.004, MOST, CROWDED)
    assert time.perf_counter() - began < 120.0
    assert found is not None
    assert cKDTree(found[0]).query(found[0], 2)[0][:, 1].min() >= 0.6 * 0.004
    assert cKDTree(found[0]).query(mesh.vertices)[0].max() <= 0.6 * 0.004


def test_a_flat_sheet_is_flat_and_open() -> None:
    v = np.array([[0.0, 0, 0], [0.3, 0, 0], [0.3, 0.2, 0], [0, 0.2, 0]])
    sheet = Sampled.from_mesh(v, [[0, 1, 2], [0, 2, 3]])
    assert (sheet.points[:, 2] == 0.0).all()
    assert np.array_equal(sheet.normals, np.tile([0.0, 0.0, 1.0], (len(sheet.points), 1)))


def test_solid_of_a_mesh_has_the_mass_and_inertia_of_closed_forms() -> None:
    box = make.box((0.2, 0.3, 0.4)).apply_translation((1.0, 2.0, 3.0))
    solid = Solid.from_mesh(box.vertices, box.faces, density=1000.0)
    assert solid.mass == pytest.approx(24.0, rel=1e-13)
    assert solid.center_of_mass == pytest.approx([1.0, 2.0, 3.0], rel=1e-13)
    np.testing.assert_allclose(solid.inertia, np.diag([0.5, 0.4, 0.26]), atol=1e-13)
    assert Solid.from_mesh(1e3 * box.vertices, box.faces, density=1000.0, scale=1e-3).mass == pytest.approx(
        24.0
    )
    # A tetrahedron with three right angles: V = 1/6, centre 1/4, and 1/10 - 1/16 of V about it for each axis squared.
    v = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    inside_out = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    corner = Solid.from_mesh(v, inside_out, density=6.0)
    assert corner.mass == pytest.approx(1.0)
    assert corner.center_of_mass == pytest.approx([0.25] * 3)
    square, product = 0.1 - 1.0 / 16.0, 0.05 - 1.0 / 16.0
    expected = np.full((3, 3), -product) + np.diag([2.0 * square + product] * 3)
    np.testing.assert_allclose(corner.inertia, expected, atol=1e-14)
    # Inscribed triangles lack a share of the second order of a ball.
    errors = []
    for n in (3, 4):
        ball = make.icosphere(n, 0.1)
        found = Solid.from_mesh(ball.vertices, ball.faces, density=1000.0)
        errors.append(1.0 - found.inertia[0, 0] / (0.4 * 4000.0 / 3.0 * np.pi * 0.1**5))
    assert errors[1] < 5e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_solids_that_hold_nothing_are_refused() -> None:
    box = make.box((1.0, 1.0, 1.0))
    with pytest.raises(ModelError, match="open"):
        Solid.from_mesh(box.vertices, box.faces[1:], density=1.0)
    with pytest.raises(ModelError, match="density"):
        Solid.from_mesh(box.vertices, box.faces, density=-1.0)
    v = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    with pytest.raises(ModelError, match="holds no volume"):
        Solid.from_mesh(v, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], density=1.0)


def angles(shape: Sampled, depth: float, points: int) -> Array:
    """Where contact points stand around the axis of a shape that lies on the floor as it is [rad], sorted."""
    lowest = -float(shape.points[:, 2].min())
    found, _ = SampledPair(shape, Plane()).contacts(np.eye(3), np.array([0.0, 0.0, depth - lowest]), points)
    assert [f.gap for f in found] == pytest.approx([-depth] * points, abs=0.05 * depth)
    return np.sort([np.arctan2(f.x[1], f.x[0]) for f in found])


@pytest.mark.parametrize("points", [3, 4, 8])
def test_contact_points_stand_evenly_around_a_rim(points: int) -> None:
    """None on the wall above it, as those of the row beside the rim."""
    cylinder = make.cylinder(0.1, 0.2, sections=32)
    found = angles(Sampled.from_mesh(cylinder.vertices, cylinder.faces), 1e-4, points)
    steps = np.diff(np.append(found, found[0] + 2.0 * np.pi))
    even = 2.0 * np.pi / points
    assert steps.min() > (0.7 if points == 3 else 0.99) * even


def test_contact_points_stand_around_a_ring_that_lies_flat() -> None:
    torus = make.torus(0.1, 0.03)
    found = angles(Sampled.from_mesh(torus.vertices, torus.faces), 1e-4, 4)
    assert np.diff(np.append(found, found[0] + 2.0 * np.pi)).min() > 0.9 * 0.5 * np.pi


def dropped(mesh: trimesh.Trimesh, points: int, **initial: object) -> tuple[System, float]:
    surface = Sampled.from_mesh(mesh.vertices, mesh.faces)
    solid = Solid.from_mesh(mesh.vertices, mesh.faces, density=1.0 / mesh.volume)
    lowest = -float(surface.points[:, 2].min())
    system = System("drop", gravity=(0.0, 0.0, -G))
    body = system.body("body", **solid.body, at=(0.0, 0.0, lowest + 0.02))
    system.free("flight", system.ground, body)
    system.contact(
        "floor", system.ground.plane(), body.shape(surface), treatment="continuous",
        stiffness=1e6, restitution=0.3, friction=0.3, points=points,
    )  # fmt: skip
    return system, lowest


@pytest.mark.parametrize(
    ("mesh", "points"),
    [
        (make.box((0.2, 0.2, 0.2)), 4),
        (make.cylinder(0.1, 0.2, sections=32), 8),
        (make.cone(0.1, 0.2), 4),
        (make.annulus(0.05, 0.1, 0.05), 4),
    ],
)
def test_meshes_of_cad_come_to_rest_with_equal_loads(mesh: trimesh.Trimesh, points: int) -> None:
    """Each point carries its share: K d^1.5 = m g / points."""
    system, lowest = dropped(mesh, points)
    run = system.simulate(0.6, output=30)
    depth = lowest - float(run["body.position.z"][-1])
    assert depth == pytest.approx((G / points / 1e6) ** (2.0 / 3.0), rel=1e-4)
    assert abs(float(run["body.velocity.z"][-1])) < 1e-5


def test_box_of_a_mesh_slides_as_coulomb_says() -> None:
    """From 0.8 m/s to rest over v^2 / (2 mu g), after the fall of 20 mm."""
    box = make.box((0.3, 0.3, 0.05))
    surface = Sampled.from_mesh(box.vertices, box.faces)
    depth = (0.25 * G / 1e6) ** (2.0 / 3.0)
    system = System("slide", gravity=(0.0, 0.0, -G))
    solid = Solid.from_mesh(box.vertices, box.faces, density=1.0 / box.volume)
    body = system.body("body", **solid.body, at=(0.0, 0.0, 0.025 - depth))
    system.free("flight", system.ground, body)
    system.contact(
        "floor", system.ground.plane(), body.shape(surface), treatment="continuous",
        stiffness=1e6, restitution=0.3, friction=0.3, points=4,
    )  # fmt: skip
    run = system.simulate(0.4, initial={"flight": {"velocity": (0.8, 0.0, 0.0)}}, output=40)
    assert float(run["body.position.x"][-1]) == pytest.approx(0.8**2 / (2.0 * 0.3 * G), rel=0.02)
    assert abs(float(run["body.velocity.x"][-1])) < 1e-3


def test_rims_of_divided_meshes_run_around_their_holes() -> None:
    box, tube = make.box((0.2, 0.2, 0.2)), make.cylinder(0.1, 0.2, sections=32)
    side = np.abs(tube.face_normals[:, 2]) < 0.5
    around = [
        (box.vertices, box.faces[1:], [0.4 + 0.2 * np.sqrt(2.0)]),
        (tube.vertices, tube.faces[side], [0.2 * np.pi] * 2),
    ]
    for vertices, faces, lengths in around:
        surface = Sampled.from_mesh(vertices, faces)
        assert surface.rims is not None
        loops = [surface.points[rim] for rim in surface.rims]
        steps = [np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1) for p in loops]
        assert [float(s.sum()) for s in steps] == pytest.approx(lengths, rel=1e-3)
        assert max(float(s.max()) for s in steps) < 2.0 * surface.spacing


def test_needles_and_far_vertices_are_divided_in_time() -> None:
    """Along the sides of a narrow triangle only: halving what is inside as well made 3^13 pieces of each."""
    needle = np.array([(0.0, 0.0, -0.1), (1e-6, 0.0, 0.1), (-1e-6, 1e-6, 0.1), (-1e-6, -1e-6, 0.1)])
    faces = np.array([(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)])
    surface = Sampled.from_mesh(needle, faces)
    assert len(surface.points) < 30_000
    level = np.sort(surface.points[:, 2])
    assert np.diff(level).max() < 1.42 * surface.spacing
    # Of 1e9 m at millimetres no attempt is made.
    far = np.array([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 1e7)])
    tetrahedron = np.array([(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)])
    with pytest.raises(ModelError, match=r"so narrow|may be more than"):
        Sampled.from_mesh(far, tetrahedron, spacing=1e-2)
