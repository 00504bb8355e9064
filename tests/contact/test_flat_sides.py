"""Flat sides of long and narrow triangles: as even as others, and no more samples on the way than these ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bellcrank.contact.creases import SMOOTH, Creases
from bellcrank.contact.division import Samples, divided
from bellcrank.contact.flat_sides import grid_within
from bellcrank.contact.resampling import resampled
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.thinning import CLOSEST, thinned

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST, AROUND = 250_000, 48
RADIUS, THICK = 0.05, 0.01


def circle(number: int, radius: float) -> Floats:
    turn = 2.0 * np.pi * np.arange(number) / number
    return radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def ends(outline: Floats) -> Floats:
    """An outline below and above."""
    return np.concatenate([np.column_stack([outline, np.full(len(outline), z)]) for z in (0.0, THICK)])


def around(first: int, number: int, inward: bool = False) -> Ints:
    """Two triangles for each edge of an outline of so many vertices and its copy above."""
    k = first + np.arange(number)
    j = first + (np.arange(number) + 1) % number
    found = np.concatenate(
        [np.stack([k, j, j + number], axis=1), np.stack([k, j + number, k + number], axis=1)]
    )
    return found[:, ::-1] if inward else found


def disc(number: int) -> Creases:
    """A disc whose ends are fans from one vertex of their rims."""
    k = np.arange(1, number - 1)
    fan = np.stack([0 * k, k, k + 1], axis=1)
    return Creases(
        ends(circle(number, RADIUS)), np.concatenate([fan[:, ::-1], fan + number, around(0, number)])
    )


def washer(number: int) -> Creases:
    """A washer whose ends are slivers from the outer rim to the inner one."""
    k, j = np.arange(number), (np.arange(number) + 1) % number
    inner = 2 * number
    flat = np.concatenate([np.stack([k, j, inner + j], axis=1), np.stack([k, inner + j, inner + k], axis=1)])
    points = np.concatenate([ends(circle(number, RADIUS)), ends(circle(number, 0.4 * RADIUS))])
    sides = [flat[:, ::-1], flat + number, around(0, number), around(inner, number, inward=True)]
    return Creases(points, np.concatenate(sides))


def upper(samples: Samples, stays: NDArray[np.bool_]) -> Floats:
    """Samples inside the upper end."""
    return samples.points[stays & (samples.kinds == SMOOTH) & (samples.normals[:, 2] > 0.999)]


@pytest.mark.parametrize("spacing", [2e-3, 5e-4])
@pytest.mark.parametrize(("make", "hole"), [(disc, 0.0), (washer, 0.4 * RADIUS)])
def test_a_side_of_slivers_is_covered_evenly(
    make: Callable[[int], Creases], hole: float, spacing: float
) -> None:
    mesh = make(1000)
    samples = divided(mesh, spacing, MOST)
    area, border = float(mesh.areas.sum()), 2.0 * np.pi * (RADIUS + hole) * 2.0
    narrow = 8000 * THICK / spacing  # along the upright edges of the curved sides, which are as they are
    assert len(samples.points) < 2.0 * area / spacing**2 + 2.0 * border / spacing + narrow + len(mesh.points)
    stays = thinned(samples, spacing)
    top = upper(samples, stays)
    assert np.abs(top[:, 2] - THICK).max() == 0.0
    assert (np.hypot(*top[:, :2].T) <= RADIUS).all()
    assert (np.hypot(*top[:, :2].T) >= hole).all()
    assert cKDTree(top).query(top, 2)[0][:, 1].min() > CLOSEST * spacing
    random = np.random.default_rng(0)
    spread = np.sqrt(random.uniform((hole / RADIUS) ** 2, 1.0, 20000)) * RADIUS
    turn = random.uniform(0.0, 2.0 * np.pi, 20000)
    asked = np.stack([spread * np.cos(turn), spread * np.sin(turn), np.full(20000, THICK)], axis=1)
    assert cKDTree(samples.points[stays]).query(asked)[0].max() < spacing


def test_twice_as_many_slivers_make_no_more_of_a_side() -> None:
    counts = [divided(disc(number), 2e-3, MOST).laid[1] for number in (1000, 8000)]
    assert counts[0] == pytest.approx(counts[1], rel=1e-3)
    assert counts[0] == pytest.approx(
        2.0 * np.pi * (RADIUS - 1.2e-3) ** 2 / (0.85 * 2e-3) ** 2 / np.sqrt(0.75), rel=0.02
    )


def test_wide_triangles_are_divided_as_ever() -> None:
    corners = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])
    samples = divided(Creases(corners, faces), 0.05, MOST)
    assert samples.laid == (0, 0)
    assert samples.divided[0] == 12


def test_borders_that_are_bowed_bound_the_grid() -> None:
    """The rim of a coarse polygon is a circle; what is between them belongs to the side."""
    found = resampled(disc(24), 5e-4, MOST, AROUND)
    assert found is not None
    points, normals = found[0], found[1]
    top = points[normals[:, 2] > 0.999]
    far = np.hypot(*top[:, :2].T).max()
    assert RADIUS * np.cos(np.pi / 24) < far < RADIUS


def test_what_is_laid_is_told() -> None:
    mesh = disc(1000)
    surface = Sampled.from_mesh(mesh.points, mesh.faces)
    assert any("long and narrow triangles" in note for note in surface.notes)


def test_a_grid_keeps_to_a_border_that_turns_in() -> None:
    """An L of three squares, in a plane that leans."""
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    spacing, per = 0.03, 200
    line = np.concatenate([a + np.linspace(0, 1, per, endpoint=False)[:, None] * (b - a)
                           for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True)])  # fmt: skip
    points = np.column_stack([line, np.full(len(line), 3.0)]) @ turn.T
    inside = grid_within(points, np.roll(points, -1, axis=0), turn[:, 2], spacing) @ turn
    assert np.abs(inside[:, 2] - 3.0).max() < 1e-14
    x, y = inside[:, 0], inside[:, 1]
    assert ((x > 0) & (y > 0) & (x < 2) & (y < 2) & ~((x > 1) & (y > 1))).all()
    assert len(inside) == pytest.approx(3.0 / (0.85 * spacing) ** 2 / np.sqrt(0.75), rel=0.1)
