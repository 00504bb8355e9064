"""Places of two polyhedra against what Qhull and SciPy say of the same bodies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from bellcrank.contact.polyhedra import Face, Part, Polyhedron, places
from bellcrank.contact.recognised import around, edge_directions

ROOF = np.array(
    [(x, y, -0.1) for x in (-0.02, 0.02) for y in (-0.3, 0.3)] + [(0, -0.28, 0.1), (0, 0.1, 0.098)],
    dtype=float,
)
"""Steep, with a long hip that faces upwards more than the sides at the highest corner do."""


HEAVY = 1e4


def polyhedron(points: np.ndarray) -> Polyhedron:
    hull = ConvexHull(points)
    planes: list[np.ndarray] = []
    for row in hull.equations:
        if not any(np.allclose(row, other, atol=1e-9) for other in planes):
            planes.append(row)
    faces = []
    for row in planes:
        corners = around(points[np.abs(points @ row[:3] + row[3]) < 1e-9], row[:3])
        assert corners is not None
        faces.append(Face.whole(row[:3], corners))
    part = Part(points[hull.vertices], tuple(faces), edge_directions(faces), np.zeros((0, 4)))
    return Polyhedron((part,))


def bodies(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    cube = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    turn = 2 * np.pi * np.arange(6) / 6
    nut = np.concatenate([np.column_stack([np.cos(turn), np.sin(turn), np.full(6, z)]) for z in (-0.4, 0.4)])
    drawn = rng.normal(size=(9, 3)) * (0.1, 0.08, 0.15)
    kinds = [cube * (0.1, 0.05, 0.15), nut * 0.12, ROOF, drawn, cube[[0, 3, 5, 6]] * 0.1]
    return kinds[seed % 5], kinds[(seed // 5) % 5]


def apart(a: np.ndarray, b: np.ndarray) -> tuple[float, bool]:
    """The distance of two hulls by quadratic programming, or minus the depth of the origin in their difference.

    And whether it is that of a side or of two crossing edges.
    """
    difference = (b[:, None] - a[None]).reshape(-1, 3)
    hull = ConvexHull(difference)
    depth = float(hull.equations[:, 3].max())
    if depth < 0.0:
        return depth, True
    # min |w . d|^2 over weights that are positive and together one, by non-negative least squares.
    rows = np.vstack([difference.T, np.full(len(difference), HEAVY)])
    weights, _ = nnls(rows, np.array([0.0, 0.0, 0.0, HEAVY]))
    distance = float(np.linalg.norm(weights @ difference))
    return distance, depth > distance - 1e-6


@pytest.mark.parametrize("seed", range(25))
def test_the_least_gap_is_the_depth_of_the_overlap_or_the_distance(seed: int) -> None:
    a, b = bodies(seed)
    one, two = polyhedron(a), polyhedron(b)
    rng, near, deep = np.random.default_rng(seed), 0, 0
    for k in range(10):
        R = Rotation.random(random_state=100 * seed + k).as_matrix()
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        # From where they are apart towards where they only just overlap, or are a little apart.
        difference = ConvexHull(((b @ R.T)[:, None] - a[None]).reshape(-1, 3))
        slopes = difference.equations[:, :3] @ way
        outer = slopes > 1e-9
        reach = float((-difference.equations[outer, 3] / slopes[outer]).min())
        c = -(reach - rng.uniform(-0.004, 0.006)) * way
        expected, told = apart(a, b @ R.T + c)
        gaps = [float(p.gap) for p in places(one, two, R.tolist(), tuple(c.tolist())) if float(p.room) > 0.0]
        if expected < 0.0:
            deep += 1
            assert min(gaps) == pytest.approx(expected, abs=1e-9)
        elif told:
            near += 1
            assert min(abs(gap - expected) for gap in gaps) < 1e-8
        # What is apart overlaps nowhere.
        if expected > 0.0:
            assert not gaps or min(gaps) > 0.0
    assert deep > 2
    assert near > 0
