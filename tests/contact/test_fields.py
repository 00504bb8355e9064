"""Fields of depth, triangles and mass of all shapes: against closed forms, each other, and brute force."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.contact.mesh import Mesh
from bellcrank.contact.shapes import (
    Box,
    Capsule,
    Circle,
    Cone,
    Cylinder,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    HeightField,
    Implicit,
    Part,
    Plane,
    Revolution,
    Shape,
    Sphere,
    Superellipsoid,
    Torus,
    Tube,
    Union,
    bounds,
    depths,
)
from bellcrank.errors import ModelError
from bellcrank.math.vectors import Vector
from bellcrank.program.derive import jacobian
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.loops import Entry, Reals, Reals2, Routine, gradient
from bellcrank.program.loops.layout import type_of
from bellcrank.program.program import Program

QUARTER = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def _egg(scale: float) -> Implicit:
    s = 1.0 / scale
    return Implicit(lambda x, y, z: (s * x) ** 2 + 2.0 * (s * y) ** 2 + (s * z) ** 4 - 1.0, 1.3 * scale)


def _bottle(scale: float, rounding: float | None = None) -> Revolution:
    return Revolution(
        lambda z: scale * (0.5 + 0.15 * np.sin(3.0 * z / scale)),
        2.0 * scale,
        None if rounding is None else rounding * scale,
    )


def _hills(scale: float) -> HeightField:
    x, y = np.arange(9)[:, None], np.arange(8)
    return HeightField(0.2 * scale * np.sin(0.6 * x) * np.cos(0.5 * y), (0.5 * scale, 0.4 * scale))


def _dumbbell(scale: float, blending: float = 0.3) -> Union:
    ball, bar = Sphere(0.5 * scale), Cylinder(0.25 * scale, 0.8 * scale)
    turned = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
    parts = [
        Part(ball, (-0.8 * scale, 0.0, 0.0)),
        Part(bar, (0.0, 0.0, 0.0), turned),
        Part(ball, (0.8 * scale, 0.0, 0.0)),
    ]
    return Union(parts, blending * scale)


@dataclass(frozen=True)
class Look:
    """A kind of shape at any scale. slope: The least on its surface. smooth: Whether its depth is C2 near the surface.

    exact: Whether the depth is the distance, all around. sharp: The shape that mass properties are those of.
    """

    make: Callable[[float], Shape]
    slope: float = 1.0
    smooth: bool = True
    exact: bool = False
    sharp: Callable[[], Shape] | None = None


SOLIDS = {
    "sphere": Look(lambda s: Sphere(0.7 * s), exact=True),
    "capsule": Look(lambda s: Capsule(0.4 * s, 0.6 * s), smooth=False, exact=True),
    "ellipsoid": Look(lambda s: Ellipsoid(1.0 * s, 0.7 * s, 0.4 * s), exact=True),
    "superellipsoid": Look(lambda s: Superellipsoid(1.0 * s, 0.7 * s, 0.5 * s, (4.0, 3.0))),
    "octahedral": Look(lambda s: Superellipsoid(0.8 * s, 0.8 * s, 0.8 * s, (1.4, 1.4)), smooth=False),
    "box": Look(
        lambda s: Box(1.0 * s, 0.7 * s, 0.5 * s), 1 / math.sqrt(3), sharp=lambda: Box(1.0, 0.7, 0.5, 0.0)
    ),
    "cylinder": Look(
        lambda s: Cylinder(0.6 * s, 0.8 * s), 1 / math.sqrt(2), sharp=lambda: Cylinder(0.6, 0.8, 0.0)
    ),
    "cone": Look(lambda s: Cone(0.8 * s, 0.6 * s), 0.4, sharp=lambda: Cone(0.8, 0.6, rounding=0.0)),
    "frustum": Look(
        lambda s: Cone(0.4 * s, 0.5 * s, 0.7 * s), 0.5, sharp=lambda: Cone(0.4, 0.5, 0.7, rounding=0.0)
    ),
    "torus": Look(lambda s: Torus(0.8 * s, 0.3 * s), exact=True),
    "tube": Look(
        lambda s: Tube(0.9 * s, 0.5 * s, 0.6 * s), 1 / math.sqrt(2), sharp=lambda: Tube(0.9, 0.5, 0.6, 0.0)
    ),
    "revolution": Look(_bottle, 0.5, sharp=lambda: _bottle(1.0, 0.0)),
    "implicit": Look(_egg),
    "union": Look(_dumbbell, 0.5),
}
ALL = {**SOLIDS, "plane": Look(lambda s: Plane(), exact=True), "height field": Look(_hills)}


def _looks(
    given: dict[str, Look], wanted: Callable[[Look], bool] = lambda look: True
) -> pytest.MarkDecorator:
    kept = {name: look for name, look in given.items() if wanted(look)}
    return pytest.mark.parametrize("look", kept.values(), ids=kept.keys())


solids, every = _looks(SOLIDS), _looks(ALL)


def _points(shape: Shape, count: int, reach: float = 1.5, seed: int = 0) -> np.ndarray:
    extent = shape.extent if np.isfinite(shape.extent) else 3.0
    return reach * extent * np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 3))


def _distances(surface, points: np.ndarray) -> np.ndarray:
    """To the nearest triangle: in its plane where the foot is in it, else to its edges.

    Triangles all of which lie farther than the nearest centre are left out.
    """
    middles = surface.corners.mean(axis=1)
    radii = np.linalg.norm(surface.corners - middles[:, None], axis=2).max(axis=1)
    found = []
    for x in points:
        far = np.linalg.norm(x - middles, axis=1)
        near = far - radii <= far.min()
        a, b, c = surface.corners[near].swapaxes(0, 1)
        normals = surface.normals[near]
        least = np.full(len(a), np.inf)
        inside = np.ones(len(a), bool)
        for p, q in ((a, b), (b, c), (c, a)):
            along = np.clip(
                np.einsum("ij,ij->i", x - p, q - p) / np.einsum("ij,ij->i", q - p, q - p), 0.0, 1.0
            )
            least = np.minimum(least, np.linalg.norm(x - p - along[:, None] * (q - p), axis=1))
            inside &= np.einsum("ij,ij->i", np.cross(q - p, x - p), normals) >= 0.0
        level = np.abs(np.einsum("ij,ij->i", x - a, normals))
        found.append(np.where(inside, level, least).min())
    return np.array(found)


@every
def test_the_interpreter_and_compiled_code_give_the_same_depth_and_slope(look):
    field = look.make(1.0).field
    points = np.concatenate([_points(look.make(1.0), 20), np.zeros((1, 3)), [[0.3, 0.0, 0.0]]])
    found, slopes = depths(field, points)
    assert np.all(np.isfinite(found))
    assert np.all(np.isfinite(slopes))
    radii = np.linspace(0.0, 1.0, len(points))
    reached = bounds(field, points, radii)
    for k, x in enumerate(points):
        depth, slope = gradient(field.depth, Vector(*x.tolist()))
        assert depth == pytest.approx(found[k], rel=1e-12, abs=1e-13)
        assert list(slope) == pytest.approx(slopes[k], rel=1e-9, abs=1e-11)
        assert field.bound(Vector(*x.tolist()), float(radii[k])) == pytest.approx(
            reached[k], rel=1e-12, abs=1e-13
        )


@every
def test_slopes_are_those_of_the_depth(look):
    field, h = look.make(1.0).field, 1e-6
    points = _points(look.make(1.0), 200, seed=1)
    moved = [
        (depths(field, points + h * e)[0] - depths(field, points - h * e)[0]) / (2.0 * h) for e in np.eye(3)
    ]
    off = np.abs(np.stack(moved, axis=1) - depths(field, points)[1]).max(axis=1)
    # On lines where two places are equally near, differences straddle a kink; points fall there by chance alone.
    assert np.mean(off > 1e-7) < 0.02


def _missed(field: Any, points: Reals2, ways: Reals2, count: Reals) -> int:
    """How many points inside the body the tangent takes for outside, and how many outside it leaves out."""
    for i in range(len(points)):
        x = Vector(points[i, 0], points[i, 1], points[i, 2])
        w = Vector(ways[i, 0], ways[i, 1], ways[i, 2])
        near = field.tangent(x)
        bent = near.depth + near.slope.dot(w) + 0.5 * near.bend * w.square
        out = (bent <= 0.0 and w.length <= near.reach) or w.length <= -near.limit
        if field.depth(x + w) > 0.0:
            count[0] += 1.0 if out else 0.0
        else:
            count[1] += 1.0 if out else 0.0
    return 0


def _dent() -> Mesh:
    """Two balls as one mesh, with a concave seam."""
    ball = Sphere(0.1).triangles()
    v = np.concatenate([ball.vertices, ball.vertices + np.array([0.12, 0.03, 0.0])])
    return Mesh(v, np.concatenate([ball.faces, ball.faces + len(ball.vertices)]), resolution=32)


@pytest.mark.parametrize(
    "shape",
    [Box(0.1, 0.07, 0.05), Capsule(0.04, 0.06), Cone(0.08, 0.08), Cylinder(0.06, 0.08), Sphere(0.1),
     _hills(0.1), _dent()],
    ids=lambda shape: type(shape).__name__,
)  # fmt: skip
def test_a_tangent_leaves_out_nothing_inside(shape):
    random = np.random.default_rng(3)
    middle, wide = (
        (np.array([0.2, 0.14, 0.0]), 0.2) if isinstance(shape, HeightField) else (np.zeros(3), 0.15)
    )
    x = middle + random.uniform(-wide, wide, (20_000, 3))
    ways = random.normal(size=x.shape) * random.uniform(0.0, 0.03, (len(x), 1))
    # From far to just within the surface, too.
    deep = depths(shape.field, x)[0]
    shallow = x[(deep > 0.0) & (deep < np.quantile(deep[deep > 0.0], 0.05))]
    x[::4] = middle + 2.0 * (x[::4] - middle)
    ways[::4] = random.choice(shallow, len(ways[::4])) - x[::4]
    count = np.zeros(2)
    numbers = type_of(shape.field), type_of(x), type_of(x), type_of(count)
    Entry(_missed, numbers)(shape.field, x, ways, count)
    assert count[0] == 0
    assert count[1] > 5000


@every
def test_a_bound_bounds_the_depth(look):
    shape = look.make(1.0)
    random = np.random.default_rng(2)
    points = _points(shape, 400, 2.0, seed=3)
    radii = random.uniform(0.0, 2.0, 400) ** 2
    reached = bounds(shape.field, points, radii)
    assert np.all(reached >= depths(shape.field, points)[0] - 1e-12)
    for _ in range(20):
        away = random.normal(size=points.shape)
        away *= (radii * random.uniform(0.0, 1.0, 400) ** (1 / 3) / np.linalg.norm(away, axis=1))[:, None]
        assert np.all(depths(shape.field, points + away)[0] <= reached + 1e-12)


@every
@pytest.mark.parametrize("scale", [2.0, 0.37])
def test_depths_scale_with_the_shape(look, scale):
    points = _points(look.make(1.0), 50, seed=4)
    one, slope = depths(look.make(1.0).field, points)
    other, same = depths(look.make(scale).field, scale * points)
    assert other == pytest.approx(scale * one, rel=1e-9, abs=1e-12)
    assert same == pytest.approx(slope, rel=1e-6, abs=1e-9)


@solids
def test_vertices_lie_on_the_surface_where_the_slope_is_one(look):
    shape = look.make(1.0)
    surface = shape.triangles()
    assert 200 < len(surface.vertices) < 12000
    depth, slope = depths(shape.field, surface.vertices)
    assert np.abs(depth).max() < 1e-14
    steep = np.linalg.norm(slope, axis=1)
    assert steep.max() < 1.0 + 1e-9
    assert steep.min() > look.slope * (1.0 - 1e-9)
    assert np.linalg.norm(surface.vertices, axis=1).max() <= shape.extent * (1.0 + 1e-12)
    # The slope points inwards, against the normals of the triangles.
    flat = surface.areas > 1e-9 * surface.areas.max()
    middle = depths(shape.field, surface.corners.mean(axis=1))[1]
    assert np.all(np.einsum("ij,ij->i", middle, surface.normals)[flat] < 0.0)


@solids
def test_depth_is_the_distance_to_first_order(look):
    """Against brute force, a little inside and outside; rounded edges have less, as they say."""
    shape = look.make(1.0)
    surface = shape.triangles(0.06)
    random = np.random.default_rng(5)
    faces = random.choice(len(surface.faces), 60, p=surface.areas / surface.areas.sum())
    away = random.uniform(0.02, 0.05, 60) * np.sign(random.uniform(-1.0, 1.0, 60))
    points = surface.corners[faces].mean(axis=1) + away[:, None] * surface.normals[faces]
    depth, distance = depths(shape.field, points)[0], _distances(surface, points)
    assert np.all(depth * away < 0.0)
    # Chords of 0.06 leave curves of radius 0.3 by 0.0015; to second order the rest is of the distance squared.
    slack = 2e-3 + (0.0 if look.exact else 2.0 * distance**2)
    assert np.all(np.abs(depth) <= distance + slack)
    assert np.all(np.abs(depth) >= look.slope * distance - slack)


@_looks(SOLIDS, lambda look: look.exact)
def test_exact_depths_lead_to_the_surface_along_their_slope(look):
    shape = look.make(1.0)

    @settings(max_examples=50, deadline=None)
    @given(st.tuples(*[st.integers(-21, 21)] * 3))
    def hold(sevenths):
        # Off the axes and planes of symmetry, where it may have no slope.
        x = np.array(sevenths) / 7.0 + [0.011, 0.013, 0.017]
        depth, slope = depths(shape.field, np.array([x]))
        assert np.linalg.norm(slope) == pytest.approx(1.0, abs=1e-9)
        assert depths(shape.field, x - depth[:, None] * slope)[0] == pytest.approx(0.0, abs=1e-9)

    hold()


def _slope(x: Vector, field: Any) -> Vector:
    return gradient(field.depth, x)[1]


@pytest.mark.parametrize(
    "name", ["box", "ellipsoid", "superellipsoid", "revolution", "implicit", "height field"]
)
def test_second_slopes_are_exact(name):
    field, h = ALL[name].make(1.0).field, 1e-6
    graph = Graph()
    inputs = [graph.input(axis) for axis in "xyz"]
    rows = jacobian(list(Routine(_slope, (field,))(Vector(*inputs))), inputs)
    kernel = compile_program(Program.of(inputs, [row.get(j, 0.0) for row in rows for j in range(3)]))
    for at in np.array([[0.31, 0.22, 0.43], [0.985, 0.69, 0.21]]):
        pairs = (depths(field, np.add(at, [h * e, -h * e]))[1] for e in np.eye(3))
        moved = np.stack([(ahead - behind) / (2.0 * h) for ahead, behind in pairs], axis=1)
        assert kernel(at).reshape(3, 3) == pytest.approx(moved, abs=1e-7)


@_looks(ALL, lambda look: look.smooth)
def test_second_slopes_are_continuous_near_the_surface(look):
    shape = look.make(1.0)
    random = np.random.default_rng(6)
    surface = shape.triangles()
    vertices = np.zeros((1, 3)) if surface is None else surface.vertices
    starts = vertices[random.choice(len(vertices), 30)]
    jumps = []
    for steps in (200, 1600):
        s = np.linspace(-0.06, 0.06, steps)
        worst = 0.0
        for k, start in enumerate(starts):
            way = np.random.default_rng(k).normal(size=3)
            way /= np.linalg.norm(way)
            rate = depths(shape.field, start + s[:, None] * way)[1] @ way
            worst = max(worst, np.abs(np.diff(rate, 2)).max() / (s[1] - s[0]))
        jumps.append(worst)
    # What is continuous changes by an eighth where steps are an eighth; a jump would stay.
    assert jumps[1] < max(0.3 * jumps[0], 1e-6)


def test_a_box_with_sharp_edges_is_that_of_three_slabs():
    points = _points(Box(1.0, 0.7, 0.5), 200)
    depth = depths(Box(1.0, 0.7, 0.5, 0.0).field, points)[0]
    assert depth == pytest.approx((np.array([1.0, 0.7, 0.5]) - np.abs(points)).min(axis=1), abs=1e-15)


def test_an_edge_is_cut_as_by_a_fillet_of_its_radius():
    box = Box(0.5, 0.6, 0.7, rounding=0.1)
    inwards = (math.sqrt(2.0) - 1.0) * 0.1 / math.sqrt(2.0)
    depth, slope = depths(box.field, np.array([[0.5 - inwards, 0.6 - inwards, 0.0]]))
    assert depth[0] == pytest.approx(0.0, abs=1e-16)
    assert slope[0] == pytest.approx([-0.5, -0.5, 0.0], abs=1e-14)
    # A box has no preferred axis.
    corner = np.array([0.45, 0.47, 0.52])
    cube = Box(0.5, 0.5, 0.5, rounding=0.1).field
    turned = depths(cube, corner[[[0, 1, 2], [1, 2, 0], [2, 1, 0]]])[0]
    assert turned == pytest.approx(np.full(3, turned[0]), rel=1e-14)


@solids
def test_depth_is_large_inside_and_low_outside(look):
    shape = look.make(1.0)
    surface = shape.triangles()
    hollow = {SOLIDS["torus"].make: 0.8, SOLIDS["tube"].make: 0.7}
    middle = shape.centre + np.array([[hollow.get(look.make, 0.0), 0.0, 0.0]])
    assert depths(shape.field, middle)[0][0] >= 0.5 * _distances(surface, middle)[0]
    far = 5.0 * shape.extent * np.array([[1.0, 0.0, 0.0], [0.6, 0.0, 0.8], [0.0, -0.6, -0.8]])
    assert np.all(depths(shape.field, far)[0] < -0.4 * shape.extent)


# The pieces of a union meet along its seams without common vertices.
@_looks(SOLIDS, lambda look: look.make is not _dumbbell)
def test_triangles_are_closed_and_converge_to_the_volume(look):
    shape = look.sharp() if look.sharp else look.make(1.0)
    errors = []
    for spacing in (0.16, 0.08):
        surface = shape.triangles(spacing)
        assert surface.closed
        volumes = trimesh.Trimesh(surface.vertices, surface.faces, process=False)
        assert surface.volume == pytest.approx(volumes.volume, rel=1e-12)
        assert surface.inertia == pytest.approx(volumes.moment_inertia, rel=1e-9, abs=1e-12)
        errors.append(surface.volume / shape.volume - 1.0)
    if abs(errors[0]) > 1e-12:
        assert 2.5 < errors[0] / errors[1] < 6.5
    assert abs(errors[1]) < 0.02


@solids
def test_mass_properties_are_those_of_the_triangles(look):
    shape = look.sharp() if look.sharp else look.make(1.0)
    surface = shape.triangles(0.05)
    mass = shape if not isinstance(shape, Union) else _dumbbell(1.0).triangles()
    assert surface.volume == pytest.approx(mass.volume, rel=0.01)
    assert surface.centre == pytest.approx(mass.centre, abs=2e-3)
    assert surface.inertia == pytest.approx(mass.inertia, rel=0.015, abs=2e-3 * np.abs(mass.inertia).max())


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (Sphere(0.7), 4.0 * math.pi * 0.49),
        (Capsule(0.4, 0.6), 4.0 * math.pi * 0.4 * (0.4 + 0.6)),
        (Torus(0.8, 0.3), 4.0 * math.pi**2 * 0.24),
        (Cylinder(0.6, 0.8, 0.0), 2.0 * math.pi * 0.6 * (0.6 + 1.6)),
        (Box(1.0, 0.7, 0.5, 0.0), 8.0 * (0.7 + 0.5 + 0.35)),
        (Cone(0.8, 0.6, rounding=0.0), math.pi * 0.8 * (0.8 + math.hypot(0.8, 1.2))),
    ],
    ids=lambda x: type(x).__name__,
)
def test_areas(shape, area):
    errors = [shape.triangles(h).areas.sum() / area - 1.0 for h in (0.1, 0.05)]
    assert abs(errors[1]) < 5e-3
    assert abs(errors[0]) < 1e-12 or 2.5 < errors[0] / errors[1] < 6.5


def test_mass_of_known_bodies():
    assert Ellipsoid(1.0, 2.0, 3.0).inertia[0, 0] == pytest.approx(8.0 * math.pi * (4.0 + 9.0) / 5.0)
    capsule = trimesh.creation.capsule(1.2, 0.4, count=(256, 256))
    assert Capsule(0.4, 0.6).volume == pytest.approx(capsule.volume, rel=1e-3)
    # A superellipsoid of exponents 2 is an ellipsoid, a solid of revolution with a straight profile a cone.
    for one, other in (
        (Superellipsoid(0.3, 0.5, 0.7, (2.0, 2.0)), Ellipsoid(0.3, 0.5, 0.7)),
        (
            Implicit(lambda x, y, z: (x / 0.3) ** 2 + (y / 0.5) ** 2 + (z / 0.7) ** 2 - 1.0, 0.8),
            Ellipsoid(0.3, 0.5, 0.7),
        ),
    ):
        assert one.volume == pytest.approx(other.volume, rel=1e-9)
        assert one.inertia == pytest.approx(other.inertia, rel=1e-9, abs=1e-12)
    bar = Revolution(lambda z: 0.4 - 0.1 * z, 2.0)
    cone = Cone(0.4, 1.0, 0.2)
    assert bar.volume == pytest.approx(cone.volume, rel=1e-12)
    assert bar.centre == pytest.approx([0.0, 0.0, 1.0 + cone.centre[2]], rel=1e-12)
    assert bar.inertia == pytest.approx(cone.inertia, rel=1e-12)
    solid = math.pi * 0.64 * 1.2 / 3.0
    assert Cone(0.8, 0.6).inertia[2, 2] == pytest.approx(0.3 * solid * 0.64)
    assert Cone(0.8, 0.6).centre[2] == pytest.approx(-0.3)


def test_a_union_takes_the_parts_apart_or_overlapping():
    apart = Union([Part(Box(0.1, 0.2, 0.3), (1.0, 0.0, 0.0), QUARTER), Part(Sphere(0.2), (-1.0, 0.0, 0.0))])
    assert apart.volume == pytest.approx(8 * 0.006 + Sphere(0.2).volume)
    assert apart.inertia == pytest.approx(apart.triangles(0.02).inertia, rel=0.02, abs=1e-3)
    # Two boxes side by side are one; so are two that overlap with flush sides.
    for reach in (0.5, 0.4):
        sides = Box(0.5, 0.3, 0.2, rounding=0.0)
        both = Union([Part(sides, (-reach, 0.0, 0.0)), Part(sides, (reach, 0.0, 0.0))])
        whole = Box(0.5 + reach, 0.3, 0.2, rounding=0.0)
        assert both.triangles().volume == pytest.approx(whole.volume, rel=1e-9)
        assert both.triangles().areas.sum() == pytest.approx(whole.triangles().areas.sum(), rel=1e-9)
        assert both.volume == pytest.approx(whole.volume, rel=1e-9)
    ball, bar = Sphere(0.5), Capsule(0.2, 0.8)
    volumes = [Union([Part(ball), Part(bar)]).triangles(h).volume for h in (0.1, 0.05, 0.025)]
    assert 2.5 < (volumes[1] - volumes[0]) / (volumes[2] - volumes[1]) < 6.5


def test_a_height_field_goes_through_its_heights_and_polynomials():
    x, y = 0.3 * np.arange(8)[:, None], 0.2 * np.arange(7)
    terrain = HeightField(0.1 * x**3 - 0.2 * x * y + 0.05 * y**4, (0.3, 0.2))
    surface = terrain.triangles()
    assert np.abs(depths(terrain.field, surface.vertices)[0]).max() < 1e-14
    # Quintic splines are exact between the knots where the terrain is a polynomial.
    fine = terrain.triangles(0.05).vertices
    assert fine[:, 2] == pytest.approx(
        0.1 * fine[:, 0] ** 3 - 0.2 * fine[:, 0] * fine[:, 1] + 0.05 * fine[:, 1] ** 4
    )
    assert np.all(surface.normals[:, 2] > 0.0)
    slope = depths(terrain.field, surface.vertices)[1]
    assert np.linalg.norm(slope, axis=1) == pytest.approx(1.0, abs=1e-9)
    roof = HeightField(np.ones((3, 2)), 1.0, above=True)
    assert depths(roof.field, np.array([[1.0, 0.5, 3.0], [-4.0, 9.0, 0.0]]))[0] == pytest.approx([2.0, -1.0])
    assert np.all(roof.triangles().normals[:, 2] == -1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cone(-1.0, 1.0), "radius must be a positive length"),
        (lambda: Cone(1.0, 1.0, -0.1), "top_radius must be a length"),
        (lambda: Torus(0.1, 0.2), "smaller than radius"),
        (lambda: Tube(0.1, 0.1, 0.2), "smaller than outer_radius"),
        (lambda: Box(1.0, 1.0, 0.1, rounding=0.09), "0.6 of its smallest half size"),
        (lambda: Cylinder(1.0, 1.0, rounding=-1.0), "rounding must be a length"),
        (lambda: HeightField([[1.0, 2.0]], 1.0), "at least 2 by 2"),
        (lambda: HeightField([[1.0, 2.0], [1.0, 2.0]], (1.0, 0.0)), "positive lengths"),
        (lambda: Union([]), "no parts"),
        (lambda: Union([Part(Plane())]), "finite size"),
        (
            lambda: Union([Part(Sphere(1.0), rotation=2.0 * np.eye(3))]),
            "rotation of a part of a union is none",
        ),
        (lambda: Circle(1.0).field, "no field"),
        (lambda: Ellipse(1.0, 2.0).field, "no field"),
        (lambda: HalfPlane().field, "no field"),
        (lambda: Torus(2.0, 1.0).support((0.0, 0.0, 1.0)), "by its field"),
        (lambda: Plane().inertia, "give mass and inertia"),
        (
            lambda: Implicit(lambda x, y, z: np.log(x * x + y * y + z * z + 1e-9), 1.5).field,
            "grows about evenly",
        ),
    ],
)
def test_refusals_say_what_to_do(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_planes_have_no_triangles():
    assert Plane().triangles() is None
    assert Circle(1.0).triangles() is None
    assert Plane().volume == Plane().extent == math.inf
