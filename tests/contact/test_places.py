"""The lowest places of samples above a sampled surface: against every pair of samples, and how much is looked at."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bellcrank.contact import Sampled
from bellcrank.contact.descent import Descent
from bellcrank.contact.pieces import ACROSS, CONE, COVER, FACE, NORMAL, WIDE_TOP
from bellcrank.contact.tree_layout import AXIS, BEND, DRUM, TOP
from bellcrank.contact.tree_pairs import BRIEF, LIMIT
from bellcrank.contact.tree_search import Search
from contact.test_descent import bumpy, ways

Array = NDArray[np.float64]
AXES = np.array([1.0, 0.8, 1.3])


def ellipsoid(number: int) -> Sampled:
    n = ways(number) / AXES
    return Sampled(ways(number) * AXES, n)


def ball(number: int) -> Sampled:
    return Sampled(ways(number), ways(number))


def cloud(number: int) -> Sampled:
    """Samples of a ball at random places, some far closer together than others."""
    p = np.random.default_rng(2).normal(size=(number, 3))
    p /= np.linalg.norm(p, axis=1)[:, None]
    return Sampled(p, p)


def sheet(rows: int) -> Sampled:
    """An open wavy surface."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, rows), np.linspace(-1.0, 1.0, rows), indexing="ij")
    return Sampled.from_grid(np.stack([x, y, 0.1 * np.sin(4.0 * x) * np.cos(3.0 * y)], axis=2))


def box(rows: int) -> Sampled:
    """A cube as a mesh: flat sides, edges and corners."""
    import trimesh

    mesh = trimesh.creation.box()
    for _ in range(rows):
        mesh = mesh.subdivide()
    return Sampled.from_mesh(mesh.vertices, mesh.faces)


def ring(number: int) -> Sampled:
    """A torus: hollow around its hole, as a mesh."""
    import trimesh

    around = max(12, round(math.sqrt(3.0 * number)))
    mesh = trimesh.creation.torus(1.0, 0.35, major_sections=around, minor_sections=around // 3)
    return Sampled.from_mesh(mesh.vertices, mesh.faces)


SURFACES = {
    "ellipsoid": ellipsoid(300),
    "bumpy": bumpy(400, 0.15, 0.3),
    "cloud": cloud(250),
    "sheet": sheet(16),
    "box": box(3),
    "ring": ring(300),
}


def heights(a: Sampled, b: Sampled, R: Array, c: Array, deep: float) -> Array:
    """Of every sample of a above the quadric of every one of b, by what the search is defined to look for."""
    far, n, H = b._fitted
    d = ((a.points - c) @ R)[:, None] - b.points
    high = np.einsum("pqk,qk->pq", d, n)
    t = d - high[:, :, None] * n
    square = np.einsum("pqk,pqk->pq", d, d)
    face = COVER * far
    bent = np.clip(0.5 * np.einsum("pqk,qkl,pql->pq", t, H, t), -face, face)
    height = high - bent
    faces = (a._fitted[1] @ R) @ n.T <= 0.0
    inside = (height < 0.0) & (square <= deep * deep) & faces
    on = np.einsum("pqk,pqk->pq", t, t) <= face * face
    return np.where(on & ((height >= 0.0) | inside), height, np.sqrt(square))


@given(
    a=st.sampled_from(sorted(SURFACES)),
    b=st.sampled_from(sorted(SURFACES)),
    turn=st.integers(0, 2**31),
    clearance=st.sampled_from([1.0, 0.2, 0.03, 0.0, -0.02, -0.1]),
    deep=st.sampled_from([0.03, 0.15]),
)
@settings(max_examples=120, deadline=None)
def test_the_lowest_place_is_that_of_all_pairs_of_samples(
    a: str, b: str, turn: int, clearance: float, deep: float
) -> None:
    one, other = SURFACES[a], SURFACES[b]
    random = np.random.default_rng(turn)
    R = Rotation.random(random_state=random).as_matrix()
    way = random.normal(size=3)
    way /= np.linalg.norm(way)
    far = 4.0
    for _ in range(40):
        far -= one.nearest_points.query(other.points @ R.T + far * way)[0].min() - max(clearance, 0.02)
    c = (far + min(clearance, 0.0)) * way
    descent = Descent(one, other, 4.0 * one.spacing, deep)
    every = heights(one, other, R, c, deep)
    start = tuple(int(k) for k in random.integers(0, (len(one.points), len(other.points))))
    for begin in (None, (start[0], start[1])):
        places = descent(R, c, begin)
        assert places
        assert min(place.height for place in places) == pytest.approx(every.min(), abs=2e-9)


@pytest.mark.parametrize("name", sorted(SURFACES))
def test_domes_hold_their_samples_and_the_quadrics_around_them(name: str) -> None:
    surface = SURFACES[name]
    tree, pieces = surface.tree, surface.pieces
    H = surface._fitted[2][tree.order]
    random = np.random.default_rng(5)
    t = random.normal(size=(len(tree.order), 3))
    n, face = pieces.table[:, NORMAL : NORMAL + 3], pieces.table[:, FACE]
    t -= np.einsum("ij,ij->i", t, n)[:, None] * n
    t *= (face / np.linalg.norm(t, axis=1))[:, None]
    bent = np.clip(0.5 * np.einsum("ij,ijk,ik->i", t, H, t), -face, face)
    around = tree.points + t + bent[:, None] * n
    for k, node in enumerate(pieces.nodes):
        level = int(math.log2(k + 1))
        share = len(tree.order) >> level
        rows = slice((k + 1 - (1 << level)) * share, (k + 2 - (1 << level)) * share)
        for points, top, drum in (
            (tree.points[rows], node[TOP], node[DRUM]),
            (around[rows], node[WIDE_TOP], node[DRUM] + node[ACROSS]),
        ):
            d = points - node[:3]
            up = d @ node[AXIS : AXIS + 3]
            across = np.maximum(0.0, np.einsum("ij,ij->i", d, d) - up * up)
            assert (up <= top - 0.5 * node[BEND] * across + 1e-12).all()
            assert (np.sqrt(across) <= drum * (1.0 + 1e-9)).all()
        assert (np.linalg.norm(n[rows] - node[AXIS : AXIS + 3], axis=1) <= node[CONE] + 1e-12).all()


def looks(one: Sampled, other: Sampled, clearance: float) -> tuple[float, float]:
    """Pairs of nodes looked at, on the mean over a few poses: from anywhere, and from the samples of a step before."""
    random = np.random.default_rng(7)
    descent, search = Descent(one, other, 4.0 * one.spacing, 0.1), Search(one.tree, other.tree)
    step = Rotation.from_rotvec([0.0, 0.0, 0.01]).as_matrix()
    cold, warm = [], []
    for _ in range(8):
        R = Rotation.random(random_state=random).as_matrix()
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        far = 4.0
        for _ in range(40):
            far -= search.nearest(R, far * way)[2] - max(clearance, 0.03)
        c = (far + min(clearance, 0.0) - (0.03 if clearance < 0.03 else 0.0)) * way
        start = descent(R, c)[0].samples
        cold.append(descent.visited)
        assert descent(step @ R, c, start)
        warm.append(descent.visited)
    return float(np.mean(cold)), float(np.mean(warm))


@cache
def bodies(pair: str, number: int) -> tuple[Sampled, Sampled]:
    if pair == "ellipsoids":
        return (ellipsoid(number),) * 2
    return bumpy(number, 0.15, 0.3), bumpy(number, 0.12, 1.1)


@pytest.mark.parametrize("clearance", [1.0, 0.1, 0.0, -0.05])
@pytest.mark.parametrize("pair", ["ellipsoids", "bodies with dents"])
def test_what_is_looked_at_grows_with_the_logarithm_of_the_number_of_samples(
    pair: str, clearance: float
) -> None:
    """Four times the samples add two levels to each tree, and as many pairs of nodes each time, about."""
    numbers = (4096, 16_384, 65_536, 262_144)
    cold, warm = np.array([looks(*bodies(pair, number), clearance) for number in numbers]).T
    added = np.diff(cold)
    # A root of the number would double it, a fourth root make it 1.41 times as much.
    assert added[2] < 1.35 * added[1]
    assert cold[3] < 4000
    # From a start a search goes without the order for so many pairs a level, eight samples being on a leaf.
    levels = 2.0 * np.log2(np.array(numbers) / 8.0) + 1.0
    assert (warm < cold + BRIEF * levels).all()


@pytest.mark.parametrize("height", [0.3, 1e-3, -1e-3])
def test_parallel_flat_sides_are_told_by_a_few_looks(height: float) -> None:
    """Every place is as low as every other: one of them is the answer."""
    t = np.linspace(-1.0, 1.0, 100)
    x, y = np.meshgrid(t, t, indexing="ij")
    points, up = np.stack([x, y, np.zeros_like(x)], axis=2).reshape(-1, 3), np.array([[0.0, 0.0, 1.0]])
    upper, lower = (Sampled(points, np.repeat(s * up, len(points), axis=0)) for s in (-1.0, 1.0))
    descent = Descent(upper, lower, 4.0 * upper.spacing, 0.02)
    places = descent(Rotation.from_rotvec([0.0, 0.0, 0.3]).as_matrix(), np.array([0.01, 0.02, -height]))
    assert min(place.height for place in places) == pytest.approx(height, abs=1e-12)
    assert descent.visited < 3000


def test_a_search_that_cannot_end_soon_gives_up() -> None:
    """All of two flat sides lies within the band."""
    t = np.linspace(-1.0, 1.0, 150)
    x, y = np.meshgrid(t, t, indexing="ij")
    points, up = np.stack([x, y, np.zeros_like(x)], axis=2).reshape(-1, 3), np.array([[0.0, 0.0, 1.0]])
    upper, lower = (Sampled(points, np.repeat(s * up, len(points), axis=0)) for s in (-1.0, 1.0))
    descent = Descent(upper, lower, 4.0 * upper.spacing, 0.02)
    assert descent(np.eye(3), np.array([0.01, 0.02, -1e-3]), None, 0.01) == []
    assert descent.visited <= LIMIT + 2
