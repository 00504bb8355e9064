"""Meshes of several shells, some of them inside out: which way is outside."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.contact import Sampled, Solid, Sphere
from bellcrank.contact.search import SampledPair
from bellcrank.contact.sheets import Sheets
from bellcrank.contact.shells import winding
from bellcrank.errors import ModelError

trimesh = pytest.importorskip("trimesh")
make = trimesh.creation

Array = NDArray[np.float64]
Mesh = tuple[Array, NDArray[np.int64]]


def ball(radius: float, at: tuple[float, ...] = (0.0, 0.0, 0.0), turned: bool = False) -> Mesh:
    mesh = make.icosphere(3, radius)
    faces = np.asarray(mesh.faces)
    return np.asarray(mesh.vertices) + at, faces[:, ::-1] if turned else faces


def box(size: float, at: tuple[float, ...] = (0.0, 0.0, 0.0), turned: bool = False) -> Mesh:
    mesh = make.box((size,) * 3)
    faces = np.asarray(mesh.faces)
    return np.asarray(mesh.vertices) + at, faces[:, ::-1] if turned else faces


def together(*meshes: Mesh) -> Mesh:
    begins = np.cumsum([0, *(len(v) for v, _ in meshes)])
    return np.vstack([v for v, _ in meshes]), np.vstack(
        [f + b for (_, f), b in zip(meshes, begins, strict=False)]
    )


def outward(surface: Sampled, at: tuple[float, ...], radius: float) -> float:
    """The mean cosine between normals and ways from a centre, of samples on a ball around it."""
    d = surface.points - at
    far = np.linalg.norm(d, axis=1)
    on = np.abs(far - radius) < 1e-3 * radius
    assert on.sum() > 100
    return float(np.mean(np.sum(surface.normals[on] * d[on], axis=1) / far[on]))


def test_each_of_several_bodies_faces_outwards() -> None:
    far = (0.5, 0.0, 0.0)
    for turned in ((False, True), (True, False), (True, True)):
        surface = Sampled.from_mesh(*together(ball(0.15, turned=turned[0]), ball(0.1, far, turned=turned[1])))
        assert outward(surface, (0.0, 0.0, 0.0), 0.15) > 0.99
        assert outward(surface, far, 0.1) > 0.99
        of = "" if all(turned) else " of 1 of 2 shells"
        assert f"turned the triangles{of}, which faced inwards" in surface.notes


def test_walls_of_cavities_face_inwards() -> None:
    """Volumes of boxes within boxes, which no other way of facing gives."""
    for inside_out in (False, True):
        mesh = together(box(0.4, turned=inside_out), box(0.2, turned=not inside_out))
        assert Solid.from_mesh(*mesh, density=1.0).volume == pytest.approx(0.4**3 - 0.2**3, rel=1e-12)
        # A body loose in the cavity, of whichever sense.
        for turned in (False, True):
            solid = Solid.from_mesh(*together(mesh, box(0.1, turned=turned)), density=1.0)
            assert solid.volume == pytest.approx(0.4**3 - 0.2**3 + 0.1**3, rel=1e-12)
    beside = together(box(0.4), box(0.2, (0.5, 0.0, 0.0), turned=True))
    assert Solid.from_mesh(*beside, density=1.0).volume == pytest.approx(0.4**3 + 0.2**3, rel=1e-12)


def test_a_shell_that_fills_another_is_told_and_has_no_mass() -> None:
    mesh = together(box(0.4), box(0.2))
    assert any("not as walls of cavities" in note for note in Sampled.from_mesh(*mesh).notes)
    with pytest.raises(ModelError, match="count twice"):
        Solid.from_mesh(*mesh, density=1.0)


def test_closed_shells_are_turned_also_beside_open_ones() -> None:
    sheet = np.array([(-0.1, -0.1, 0.3), (0.1, -0.1, 0.3), (0.1, 0.1, 0.3), (-0.1, 0.1, 0.3)])
    mesh = together(ball(0.1, turned=True), (sheet, np.array([(0, 1, 2), (0, 2, 3)])))
    surface = Sampled.from_mesh(*mesh)
    assert outward(surface, (0.0, 0.0, 0.0), 0.1) > 0.99
    assert (surface.normals[np.abs(surface.points[:, 2] - 0.3) < 1e-9, 2] > 0.99).all()


def test_a_mesh_whose_holes_are_covered_is_turned() -> None:
    points, faces = ball(0.1)
    for turned in (False, True):
        kept = np.delete(faces, [3, 400, 900], axis=0)
        surface = Sampled.from_mesh(points, kept[:, ::-1] if turned else kept)
        assert outward(surface, (0.0, 0.0, 0.0), 0.1) > 0.99
        assert "covered 3 holes of fewer than 8 vertices" in surface.notes
        assert not any("open" in note for note in surface.notes)


def test_cracks_are_closed() -> None:
    """Triangles that each have corners of their own, nearly where those of the others are; and edges divided on one
    side only. What comes out holds the volume of the box, which is closed then."""
    points, faces = box(0.2)
    random = np.random.default_rng(1)
    for turned in (False, True):
        own = (faces[:, ::-1] if turned else faces).reshape(-1)
        loose = points[own] + 1e-9 * random.normal(size=(len(own), 3)), np.arange(len(own)).reshape(-1, 3)
        surface = Sampled.from_mesh(*loose)
        assert surface.rims == ()
        assert "merged 28 vertices on rims that nearly coincided with others" in surface.notes
        assert Solid.from_mesh(*loose, density=1.0).volume == pytest.approx(0.2**3, rel=1e-6)
    edge = [k for k in range(8) if points[k, 1] > 0.0 and points[k, 2] < 0.0]
    for number in (1, 20):
        k = next(k for k, t in enumerate(faces) if set(edge) <= set(t.tolist()))
        t = faces[k].tolist()
        while {t[0], t[1]} != set(edge):
            t = t[1:] + t[:1]
        new = points[t[0]] + np.linspace(0.0, 1.0, number + 2)[1:-1, None] * (points[t[1]] - points[t[0]])
        way = [t[0], *range(8, 8 + number), t[1]]
        fan = np.array([(a, b, t[2]) for a, b in pairwise(way)])
        mesh = np.vstack([points, new]), np.vstack([np.delete(faces, k, axis=0), fan])
        surface = Sampled.from_mesh(*mesh)
        assert surface.rims == ()
        assert f"put {number} vertices into edges that they lie on" in surface.notes
        assert Solid.from_mesh(*mesh, density=1.0).volume == pytest.approx(0.2**3, rel=1e-12)
    # Halves that face opposite ways do not hide that by a crack between them.
    ball_points, ball_faces = ball(0.1)
    upper = ball_points[ball_faces].mean(axis=1)[:, 2] > 0.0
    apart = np.where(upper[:, None], ball_faces[:, ::-1] + len(ball_points), ball_faces)
    with pytest.raises(ModelError, match="disagree about the outside"):
        Sampled.from_mesh(np.vstack([ball_points, ball_points + np.array([0.0, 0.0, 1e-9])]), apart)


def test_the_winding_of_a_shell_is_one_inside_and_none_outside() -> None:
    points, faces = together(box(0.2, turned=True), box(0.6))
    triangles = points[faces]
    for x, known in (((0.0, 0.0, 0.0), 0), ((0.2, 0.1, 0.0), 1), ((0.2, 0.31, 0.0), 0)):
        assert winding(np.array(x), triangles) == pytest.approx(known, abs=1e-12)


def test_a_ball_is_as_far_from_the_outside_and_from_a_smooth_cavity_as_the_closed_forms_say() -> None:
    """Of a box with creases and a hollow without any."""
    surface = Sampled.from_mesh(*together(box(0.4), ball(0.1, turned=True)), spacing=0.012)
    other = Sphere(0.03)
    sheets = Sheets.against(surface, other)
    assert isinstance(sheets, Sheets)
    assert len(sheets.parts) == 7
    pair = SampledPair(sheets, other)
    for c, gap in (
        ((0.05, 0.02, 0.25), 0.02),
        ((0.24, 0.23, 0.01), 0.05 - 0.03),
        ((0.22, 0.22, 0.21), 0.03 - 0.03),
    ):
        assert pair(np.eye(3), np.array(c))[0] == pytest.approx(gap, abs=1e-9)
    for way in np.random.default_rng(1).normal(size=(10, 3)):
        c = 0.06 * way / np.linalg.norm(way)
        assert pair(np.eye(3), c)[0] == pytest.approx(0.01, abs=1e-5)


def test_a_ball_comes_to_rest_on_a_mesh_that_was_inside_out_in_parts() -> None:
    """By the force at its lowest point, F = K d^(3/2), and the heights of both balls."""
    support = Sampled.from_mesh(*together(ball(0.1, (0.5, 0.0, 0.0)), ball(0.1, turned=True)), spacing=0.012)
    system = bc.System("on top", gravity=(0.0, 0.0, -9.81))
    body = system.body("body", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 0.1502))
    system.prismatic("slide", system.ground, body, axis="z")
    upper = body.shape(Sampled.from_mesh(*ball(0.05)))
    system.contact(
        "touch", system.ground.shape(support), upper, treatment="continuous", restitution=0.2, stiffness=1e7
    )
    rest = float(system.simulate(0.5)["body.position.z"][-1])
    assert rest == pytest.approx(0.15 - (9.81 / 1e7) ** (2.0 / 3.0), abs=2e-7)
