"""Fields of triangle meshes against the shapes they stand for, and meshes as they come."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy.typing import NDArray

from bellcrank.contact.mesh import Mesh
from bellcrank.contact.mesh_field import MeshField
from bellcrank.contact.mesh_grid import evaluated
from bellcrank.contact.shapes.geodesic import geodesic
from bellcrank.errors import ModelError
from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Entry, Reals, Reals2, gradient

trimesh = pytest.importorskip("trimesh")
make = trimesh.creation

Array = NDArray[np.float64]


def mesh(of, **given) -> Mesh:
    return Mesh(np.array(of.vertices), np.array(of.faces), **given)


@functools.cache
def torus() -> Mesh:
    return mesh(make.torus(0.1, 0.03, major_sections=96, minor_sections=48), resolution=48)


@functools.cache
def box() -> Mesh:
    return mesh(make.box((0.2, 0.1, 0.06)), resolution=48)


def around(shape: Mesh, count: int, reach: float, seed: int = 0) -> Array:
    """Points near a mesh: within `reach` of its box [m]."""
    low, high = shape.vertices.min(axis=0) - reach, shape.vertices.max(axis=0) + reach
    return np.random.default_rng(seed).uniform(low, high, (count, 3))


def box_depth(x: Array, half: Array) -> Array:
    q = np.abs(x) - half
    return -np.linalg.norm(np.maximum(q, 0.0), axis=1) - np.minimum(q.max(axis=1), 0.0)


def test_depths_of_a_torus_and_of_a_box_are_distances():
    x = around(torus(), 4000, 0.02)
    exact = 0.03 - np.hypot(np.hypot(x[:, 0], x[:, 1]) - 0.1, x[:, 2])
    d, g = evaluated(torus().field, x)
    near = np.abs(exact) < 0.01
    # The torus is one of 96 x 48 flats, 0.06 mm within it.
    np.testing.assert_allclose(d[near], exact[near], atol=1.5e-4)
    np.testing.assert_allclose(np.linalg.norm(g[near], axis=1), 1.0, atol=0.04)
    np.testing.assert_allclose(d, exact, atol=2.0 * torus().field.spacing)
    assert evaluated(torus().field, np.array([[0.1, 0.0, 0.0]]))[0] > 0.02
    x = around(box(), 4000, 0.02)
    half = np.array([0.1, 0.05, 0.03])
    error = np.abs(evaluated(box().field, x)[0] - box_depth(x, half)) / box().field.spacing
    assert np.median(error) < 0.05
    assert error.max() < 1.0
    face = np.stack([np.linspace(-0.07, 0.07, 50), np.zeros(50), np.full(50, 0.0305)], axis=1)
    np.testing.assert_allclose(evaluated(box().field, face)[0], -0.0005, atol=1e-12)


def test_smooth_depths_converge_with_the_fourth_power_of_the_spacing():
    """Of exact depths; so the field of the flats of a mesh would not do."""
    from bellcrank.contact.mesh_grid import tabulated

    class Ball:
        def __init__(self, radius: float) -> None:
            self.radius = radius

        def on_lattice(self, x: Array, *_: object) -> Array:
            return self.radius - np.linalg.norm(x, axis=1)

    errors = []
    for cells in (16, 32, 64):
        field = tabulated(Ball(cells / 2), np.full(3, float(cells)), np.zeros(3), 1.0 / cells)
        u = np.random.default_rng(1).normal(size=(2000, 3))
        r = 0.5 + np.random.default_rng(2).uniform(-1.0, 1.0, 2000) / 64.0
        x = u / np.linalg.norm(u, axis=1)[:, None] * r[:, None]
        errors.append(np.abs(evaluated(field, x)[0] - (0.5 - r)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all()


def _slopes(field: MeshField, points: Reals2, out: Reals2, bounds: Reals, r: float) -> int:
    for i in range(len(points)):
        x = Vector(points[i, 0], points[i, 1], points[i, 2])
        out[i, 0], g = gradient(field.depth, x)
        out[i, 1], out[i, 2], out[i, 3] = g
        bounds[i] = field.bound(x, r)
    return 0


def test_compiled_and_interpreted_depths_and_slopes_agree():
    field = box().field
    x = around(box(), 200, 0.06, seed=3)
    rows, bounds = np.zeros((200, 4)), np.zeros(200)
    Entry(_slopes)(field, x, rows, bounds, 0.01)
    d, g = evaluated(field, x)
    np.testing.assert_allclose(rows[:, 0], d, atol=1e-15)
    np.testing.assert_allclose(rows[:, 1:], g, atol=1e-12)
    for k in range(0, 200, 5):
        plain, slope = field.depth_and_gradient(Vector(*x[k]))
        assert plain == pytest.approx(d[k], abs=1e-15)
        assert np.array(slope) == pytest.approx(g[k], abs=1e-12)
        assert gradient(field.depth, Vector(*x[k]))[1] == pytest.approx(g[k], abs=1e-12)
    h = 1e-7
    for axis in range(3):
        e = h * np.eye(3)[axis]
        moved = (evaluated(field, x + e)[0] - evaluated(field, x - e)[0]) / (2 * h)
        np.testing.assert_allclose(moved, g[:, axis], atol=1e-5)


def test_slopes_are_continuous_along_lines_through_everything():
    """Second differences of a C2 function fall with the square of the step, from far outside to deep inside."""
    field = torus().field
    jumps = []
    for count in (20_000, 40_000):
        s = np.linspace(-0.5, 0.5, count)[:, None]
        _, g = evaluated(field, s * [0.7, 0.5, 0.3] + [0.1, 0.01, 0.0])
        jumps.append(np.abs(np.diff(g, n=2, axis=0)).max())
    assert jumps[1] < 0.6 * jumps[0]


@pytest.mark.parametrize("r", [0.001, 0.01, 0.1])
def test_bounds_hold(r: float):
    for shape in (box(), torus()):
        x = around(shape, 400, 0.15, seed=5)
        rows, bounds = np.zeros((400, 4)), np.zeros(400)
        Entry(_slopes)(shape.field, x, rows, bounds, r)
        u = np.random.default_rng(6).normal(size=(30, 400, 3))
        y = x + r * u / np.linalg.norm(u, axis=2)[..., None]
        found = evaluated(shape.field, y.reshape(-1, 3))[0].reshape(30, 400).max(axis=0)
        assert (found <= bounds + 1e-12).all()
        near = np.abs(rows[:, 0]) < 0.02
        assert (bounds - rows[:, 0])[near].max() < min(1.8 * r, r + 3.1 * shape.field.spacing)


@pytest.mark.parametrize("scale", [1e-3, 1e3, 3.7])
def test_a_scaled_mesh_has_the_scaled_depth(scale: float):
    small = mesh(make.icosphere(2, 0.1), resolution=24)
    large = Mesh(small.vertices * scale, small.faces, resolution=24)
    x = around(small, 500, 0.1)
    d, g = evaluated(small.field, x)
    e, f = evaluated(large.field, x * scale)
    np.testing.assert_allclose(e, d * scale, atol=1e-13 * scale)
    np.testing.assert_allclose(f, g, atol=1e-11)
    assert large.volume == pytest.approx(small.volume * scale**3, rel=1e-12)


def test_deep_inside_is_inside_and_far_outside_is_far():
    field = box().field
    d, _ = evaluated(field, np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.3, 0.4, -0.5]]))
    assert d[0] == pytest.approx(0.03, rel=0.1)
    assert -5.1 < d[1] < -4.8
    assert d[2] < -0.5
    assert np.isnan(evaluated(field, np.array([[np.nan, 0.0, 0.0]]))[0]).all()
    assert evaluated(field, np.array([[np.inf, 0.0, 0.0]]))[0] == -np.inf


def test_however_a_mesh_is_wound_its_depth_is_the_same():
    ball = make.icosphere(2, 0.1)
    x = around(mesh(ball), 300, 0.02)
    expected = evaluated(mesh(ball, resolution=24).field, x)[0]
    mixed = np.array(ball.faces)
    mixed[::3] = mixed[::3, ::-1]
    for faces, note in ((ball.faces[:, ::-1], "faced inwards"), (mixed, "wound against each other")):
        turned = Mesh(np.array(ball.vertices), np.array(faces), resolution=24)
        np.testing.assert_allclose(evaluated(turned.field, x)[0], expected, atol=1e-12)
        assert any(note in n for n in turned.notes)
        assert turned.volume == pytest.approx(ball.volume)
        np.testing.assert_array_less(0.0, np.einsum("ij,ij->i", *_outward(turned)))
    doubled = Mesh(np.array(ball.vertices), np.concatenate([ball.faces, ball.faces[:, ::-1]]), resolution=24)
    np.testing.assert_allclose(evaluated(doubled.field, x)[0], expected, atol=1e-5)


def _outward(shape: Mesh) -> tuple[Array, Array]:
    surface = shape.triangles()
    return surface.normals, surface.corners.mean(axis=1)


def test_overlapping_solids_are_one():
    a, b = make.box((0.1, 0.1, 0.1)), make.box((0.1, 0.1, 0.1))
    b.apply_translation((0.05, 0.03, 0.02))
    both = mesh(trimesh.util.concatenate([a, b]), resolution=48)
    # On a face of the one deep within the other.
    inner = np.array([[0.05, 0.02, 0.015], [0.0, 0.01, 0.01]])
    assert (evaluated(both.field, inner)[0] > 0.015).all()
    assert both.volume == pytest.approx(2e-3 - 0.05 * 0.07 * 0.08, rel=2e-3)
    surface = both.triangles()
    assert (evaluated(both.field, surface.corners.mean(axis=1))[0] < 0.004).all()
    assert surface.areas.sum() == pytest.approx(
        0.12 - 2 * (0.05 * 0.07 + 0.05 * 0.08 + 0.07 * 0.08), rel=0.04
    )


def test_the_wall_of_a_cavity_stays_one():
    outer, inner = make.icosphere(3, 0.1), make.icosphere(3, 0.05)
    inner.invert()
    hollow = mesh(trimesh.util.concatenate([outer, inner]), resolution=40)
    d, _ = evaluated(hollow.field, np.array([[0.0, 0.0, 0.0], [0.0, 0.075, 0.0]]))
    assert d[0] == pytest.approx(-0.05, abs=1.5 * hollow.field.spacing)
    assert d[1] == pytest.approx(0.025, abs=1.5 * hollow.field.spacing)


def test_an_open_surface_is_a_sheet_with_a_thickness():
    bowl = make.icosphere(3, 0.1)
    bowl.update_faces(bowl.triangles_center[:, 2] < 0.0)
    shape = mesh(bowl, resolution=64)
    assert any("sheets 6.25 mm thick" in n for n in shape.notes)
    x = np.array([[0.0, 0.0, -0.1], [0.0, 0.0, -0.08], [0.06, 0.0, -0.08], [0.0, 0.0, -0.06]])
    d, _ = evaluated(shape.field, x)
    assert d == pytest.approx([0.003, -0.017, 0.003, -0.037], abs=1.5e-3)
    assert shape.volume == pytest.approx(bowl.area * 0.2 / 32, rel=1e-9)
    given = mesh(bowl, thickness=0.02, resolution=48)
    assert evaluated(given.field, x[1:2])[0] == pytest.approx(-0.01, abs=1e-3)
    surface = given.triangles()
    assert surface.closed
    assert surface.volume == pytest.approx(0.02 * bowl.area, rel=0.06)
    # The rim is a half square where the field has a half circle of 10 mm.
    assert np.abs(evaluated(given.field, surface.vertices)[0]).max() < 0.005


def test_small_holes_are_closed_by_the_winding_number():
    ball = make.icosphere(3, 0.1)
    kept = np.ones(len(ball.faces), bool)
    kept[::40] = False
    whole = evaluated(mesh(ball, resolution=32).field, np.zeros((1, 3)))[0]
    ball.update_faces(kept)
    shape = mesh(ball, resolution=32)
    assert any("holes" in n for n in shape.notes)
    assert evaluated(shape.field, np.zeros((1, 3)))[0] == pytest.approx(whole, rel=0.05)
    assert shape.volume == pytest.approx(4.14e-3, rel=0.02)


def test_bounds_hold_where_a_wide_hole_is_closed():
    """What closes it is far from all triangles, so the depth jumps there."""
    ball = make.icosphere(3, 0.1)
    ball.update_faces(ball.triangles_center[:, 2] < 0.06)
    field = Mesh(np.asarray(ball.vertices), np.asarray(ball.faces), resolution=24).field
    x = np.random.default_rng(0).uniform(-0.12, 0.12, (20_000, 3))
    y = x + np.random.default_rng(1).normal(0.0, 0.01, x.shape)
    outside, inside = evaluated(field, x)[0], evaluated(field, y)[0]
    wet = np.flatnonzero((outside < 0.0) & (inside > 0.0))[:300]
    assert field.jump > 0.0
    for i in wet:
        assert field.bound(Vector(*x[i]), float(np.linalg.norm(y[i] - x[i]))) >= inside[i] - 1e-12


def test_thin_walls_do_not_vanish():
    plate = mesh(make.box((0.2, 0.2, 0.0005)), resolution=32)
    assert any("thinner than a cell" in n for n in plate.notes)
    x = np.random.default_rng(0).uniform(-0.09, 0.09, (200, 3)) * [1.0, 1.0, 0.0]
    assert (evaluated(plate.field, x)[0] > 0.0).all()
    assert mesh(make.box((0.2, 0.2, 0.002))).field.spacing == pytest.approx(0.2 / 128)


def test_triangles_are_graded_towards_creases_and_thinned():
    surface = box().triangles()
    assert surface.closed
    assert surface.volume == pytest.approx(box().volume)
    edges = np.linalg.norm(surface.corners - np.roll(surface.corners, 1, axis=1), axis=2)
    along = np.abs(np.abs(surface.corners).max(axis=1) - [0.1, 0.05, 0.03]).max(axis=1) < 0.051
    assert edges[along].min() < 0.2 / 50
    assert edges.max() > 0.02
    ball = mesh(make.icosphere(6, 0.1))
    thinned = ball.triangles()
    assert len(thinned.faces) <= 12_000 < len(ball.faces)
    assert np.abs(np.linalg.norm(thinned.vertices, axis=1) - 0.1).max() < 1e-12
    assert thinned.volume == pytest.approx(ball.volume, rel=5e-3)


def test_an_edge_without_length_has_two_ends():
    """Where two openings of a sheet meet in a corner, the rim that bulges by half a thickness has such edges."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    corners[7, 0] = 2.0
    faces = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
    ]
    surface = Mesh(corners, np.array([*faces, (1, 5, 7)]), resolution=12).triangles()
    assert np.isfinite(surface.vertices).all()


V = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
F = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


@pytest.mark.parametrize(
    ("vertices", "faces", "given", "reason"),
    [
        (V, np.zeros((0, 3), int), {}, "no triangles"),
        (V, [[0, 1, 4]], {}, "vertex 4, which does not exist"),
        (V, [[0, 1, -1]], {}, "vertex -1, which does not exist"),
        (V, [[0.0, 1.0, 2.0]], {}, "whole numbers"),
        (V[:, :2], F, {}, "shape"),
        (np.where(V == 1.0, np.nan, V), F, {}, "vertex 1 of the mesh is not a number"),
        (V * 0.0, F, {}, "one point"),
        (V, [[0, 1, 1], [2, 2, 2]], {}, "no triangle of the mesh has an area"),
        (V * 1e300, F, {}, "scale="),
        (V + 1e9, F, {}, "scale="),
        (V, F, {"thickness": 0.0}, "thickness"),
        (V, F, {"resolution": 10_000}, "resolution"),
        (V, F, {"resolution": 64.5}, "resolution"),
        ([["a"] * 3], F, {}, "must be numbers"),
    ],
)
def test_what_is_no_mesh_is_refused_with_the_reason(vertices, faces, given, reason):
    with pytest.raises(ModelError, match=reason):
        _ = Mesh(np.asarray(vertices), np.asarray(faces), **given).field


def test_any_handful_of_triangles_has_a_field():
    random = np.random.default_rng(4)
    for count in (1, 3, 40):
        soup = Mesh(random.normal(size=(3 * count, 3)), np.arange(3 * count).reshape(-1, 3), resolution=24)
        d, g = evaluated(soup.field, around(soup, 200, 0.5))
        assert np.isfinite(d).all()
        assert np.isfinite(g).all()
        assert evaluated(soup.field, soup.vertices[soup.faces].mean(axis=1))[0].min() > 0.0
        assert len(soup.triangles().faces) > 0
        assert soup.volume > 0.0


def test_fields_are_kept_on_disk_and_damaged_ones_are_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "kept"))
    first = mesh(make.icosphere(2, 0.1), resolution=16).field
    monkeypatch.setattr("bellcrank.contact.mesh.tabulated", lambda *_: pytest.fail("made again"))
    again = mesh(make.icosphere(2, 0.1), resolution=16)
    np.testing.assert_array_equal(again.field.fine, first.fine)
    assert again.field.steepest == first.steepest
    from bellcrank.contact import mesh_cache

    whole = mesh_cache._packed((first, np.zeros(1), 0.0))
    assert mesh_cache._unpacked(whole) is not None
    beyond = first._replace(table=first.table + 1)
    short = first._replace(coarse=first.coarse[:-1])
    for wrong in (beyond, short):
        assert mesh_cache._unpacked(mesh_cache._packed((wrong, np.zeros(1), 0.0))) is None
    assert mesh_cache._unpacked(whole[:-100]) is None


def test_needles_leave_no_hole():
    """A square whose side has a vertex in it, in a triangle without area: the mesh is closed, and computed as such."""
    v = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [0.5, 0, 0]],
        float,
    )
    box = [
        [0, 3, 2],
        [0, 2, 1],
        [4, 5, 6],
        [4, 6, 7],
        [1, 2, 6],
        [1, 6, 5],
        [2, 3, 7],
        [2, 7, 6],
        [3, 0, 4],
        [3, 4, 7],
    ]
    # The side y = 0 is met from the side at the vertex in the middle of its edge, across a needle.
    needled = [*box, [0, 8, 4], [8, 5, 4], [8, 1, 5], [0, 1, 8]]
    mesh = Mesh(0.1 * v, np.array(needled))
    assert not any("hole" in note for note in mesh.notes)
    assert mesh.volume == pytest.approx(1e-3)


def test_nodes_of_a_lattice_around_holes_are_inside_where_the_winding_number_says_so():
    from bellcrank.contact.mesh_depth import Surface

    ball = geodesic(0.2)
    faces = np.ascontiguousarray(ball.faces[ball.vertices[ball.faces].mean(axis=1)[:, 0] < 0.6])
    surface = Surface(ball.vertices, np.delete(faces, slice(0, 400, 40), axis=0), faces[:0])
    shape = np.array([24, 25, 26])
    keys = np.arange(int(np.prod(shape)))[::2]
    points = -1.2 + 0.1 * np.stack(np.unravel_index(keys, shape.tolist()), axis=1)
    found = surface.inside_on_lattice(points, keys, shape, 0.1)
    assert (found == (surface.winding(points) >= 0.5)).all()
    assert 1000 < found.sum() < 6000


def test_winding_numbers_are_those_of_solid_angles():
    """Overlapping balls, one of them turned inside out or with a hole, against the sum of solid angles."""
    from bellcrank.contact.mesh_depth import Surface

    igl = pytest.importorskip("igl")
    ball = geodesic(0.5)
    v = np.concatenate([ball.vertices, ball.vertices + np.array([0.9, 0.1, 0.2])])
    second = ball.faces + len(ball.vertices)
    points = np.random.default_rng(2).uniform(-1.5, 2.5, (2000, 3))
    for other in (second, second[:, ::-1], second[5:]):
        faces = np.ascontiguousarray(np.concatenate([ball.faces, other]))
        surface = Surface(v, faces, faces[:0])
        found = surface.winding(points)
        np.testing.assert_allclose(found, igl.winding_number(v, faces, points), atol=0.01)
        if surface.closed_solids:
            assert set(found) <= {-1.0, 0.0, 1.0, 2.0}


def test_solid_angles_are_those_of_closed_forms_and_of_libigl():
    """A ball, a cap of one from its middle, and triangles of all sizes; the interpreter finds the same."""
    from bellcrank.contact import solid_angle

    ball = geodesic(0.05)
    height = ball.vertices[ball.faces].mean(axis=1)[:, 2]
    seen = solid_angle.seen_of(ball.vertices, ball.faces)
    random = np.random.default_rng(3)
    points = random.normal(size=(400, 3))
    inside = np.linalg.norm(points, axis=1) < 1.0
    np.testing.assert_allclose(solid_angle.solid_angles(seen, points), inside, atol=5e-3)
    cap = solid_angle.seen_of(ball.vertices, ball.faces[height > 0.6])
    # To the width of the triangles along its rim.
    assert solid_angle.solid_angles(cap, np.zeros((1, 3)))[0] == pytest.approx(0.2, abs=0.01)
    igl = pytest.importorskip("igl")
    v = random.normal(size=(600, 3)) * np.repeat(10.0 ** random.uniform(-3.0, 0.0, (200, 1)), 3, axis=0)
    f = np.arange(600).reshape(200, 3)
    for faces in (f, f[:1], f[:5]):
        seen = solid_angle.seen_of(v, faces)
        found = solid_angle.solid_angles(seen, points)
        np.testing.assert_allclose(found, igl.winding_number(v, faces, points), atol=5e-3)
        by_hand = np.empty(20)
        solid_angle._solid_angles.function(seen, points[:20], by_hand)
        np.testing.assert_allclose(by_hand, found[:20], rtol=1e-12, atol=1e-15)


def test_triangles_are_wound_alike_as_libigl_winds_them():
    """Two balls of which a third of the triangles are turned; a strip that cannot be wound alike is computed too."""
    from bellcrank.contact.mesh_depth import _consistent, edges

    igl = pytest.importorskip("igl")
    ball = geodesic(0.4)
    open_ball = ball.faces[ball.vertices[ball.faces].mean(axis=1)[:, 0] < 0.5]
    faces = np.concatenate([ball.faces, open_ball + len(ball.vertices)])
    turned = np.random.default_rng(5).random(len(faces)) < 1 / 3
    mixed = np.where(turned[:, None], faces[:, ::-1], faces)
    notes: list[str] = []
    found = _consistent(mixed, notes)
    assert "were turned" in notes[0]
    # Of a whole patch either all triangles are as they were made or all are turned, as the first one is.
    expected = igl.bfs_orient(mixed)[0]
    firsts = [0, len(ball.faces)]
    for first, end in zip(firsts, [*firsts[1:], len(faces)], strict=True):
        same = (found[first:end] == mixed[first:end]).all(axis=1)
        peer = (expected[first:end] == mixed[first:end]).all(axis=1)
        assert same[0]
        assert (same == peer).all() or (same != peer).all()
    _, which = np.unique(edges(found)[0], return_inverse=True)
    assert np.abs(np.bincount(which, edges(found)[1])).max() == 1
    k = np.arange(7)
    strip = np.concatenate([np.stack([k, k + 1, k + 8], 1), np.stack([k + 1, k + 9, k + 8], 1)])
    moebius = np.concatenate([strip, [(7, 8, 15), (8, 0, 15)]])
    assert _consistent(moebius, []).shape == moebius.shape


def test_caps_over_holes_close_a_mesh():
    """Also where holes share a vertex: edges are passed as often one way as the other, and few triangles are long."""
    from bellcrank.contact.mesh_depth import _balanced, _caps, borders

    ball = geodesic(0.05)
    middles = ball.vertices[ball.faces].mean(axis=1)
    away = (middles[:, 2] > 0.5) | (middles[:, 2] < -0.9)
    at_vertex = (ball.faces == ball.faces[np.argmax(middles[:, 0]), 0]).any(axis=1)
    away[np.flatnonzero(at_vertex)[[0, 2]]] = True
    faces = np.ascontiguousarray(ball.faces[~away])
    assert not _balanced(faces).all()
    v, caps = _caps(ball.vertices, *borders(faces, len(ball.vertices)))
    assert _balanced(np.concatenate([faces, caps])).all()
    longest = np.linalg.norm(v[caps] - np.roll(v[caps], 1, axis=1), axis=2).max(axis=1)
    assert np.mean(longest > 0.5) < 0.2


def test_distances_from_triangles_are_those_of_libigl():
    """Triangles of all sizes, some without area, and points in no order; the interpreter finds the same."""
    igl = pytest.importorskip("igl")

    from bellcrank.contact import mesh_distance

    random = np.random.default_rng(4)
    v = random.normal(size=(600, 3)) * np.repeat(10.0 ** random.uniform(-3.0, 0.0, (200, 1)), 3, axis=0)
    f = np.arange(600).reshape(200, 3)
    f[:3, 2] = f[:3, 1]
    f[3] = f[3, 0]
    for faces in (f, f[:1]):
        tree, points = mesh_distance.tree_of(v, faces), random.normal(size=(500, 3))
        found = mesh_distance.distances(tree, points)
        peer = igl.AABB()
        peer.init(v, faces)
        np.testing.assert_allclose(found**2, peer.squared_distance(v, faces, points)[0], atol=1e-14)
        by_hand = np.empty(20)
        mesh_distance._distances.function(tree, points[:20], by_hand)
        np.testing.assert_allclose(by_hand, found[:20], rtol=1e-12)
