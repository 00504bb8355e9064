"""The searches of the trees against looking at every sample, and the order in which their cost grows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from bellcrank.contact.tree import Tree
from bellcrank.contact.tree_layout import PLANE, SEGMENT
from bellcrank.contact.tree_search import Search
from contact.test_sampled import on_sphere


def tree_of(number: int) -> tuple[np.ndarray, Tree]:
    axes = np.array([1.0, 0.8, 1.3])
    points = on_sphere(number) * axes
    return points, Tree.over(points, points / axes**2)


@pytest.mark.parametrize("number", [12, 100, 3001])
def test_searches_find_what_looking_at_every_sample_finds(number: int) -> None:
    points, tree = tree_of(number)
    search, random = Search(tree, tree, room=4), np.random.default_rng(3)
    for _ in range(20):
        R = Rotation.random(random_state=random).as_matrix()
        plane = np.append(R[0], random.normal())
        heights = points @ R[0] - plane[3]
        sample, height = search.lowest(PLANE, plane)
        assert height == pytest.approx(heights.min(), abs=1e-14)
        assert heights[sample] == pytest.approx(height, abs=1e-14)
        warm = search.lowest(PLANE, plane, start=sample)
        assert warm[1] == pytest.approx(height, abs=1e-14)
        found, own = search.low(PLANE, plane, heights.min() + 0.2)
        assert np.array_equal(found, np.flatnonzero(heights < heights.min() + 0.2))
        assert own == pytest.approx(heights[found], abs=1e-14)
        middle, half = 2.0 * R[1], 0.7 * R[2]
        along = np.clip((points - middle) @ half / (half @ half), -1.0, 1.0)
        far = np.linalg.norm(points - middle - along[:, None] * half, axis=1) - 0.3
        assert search.lowest(SEGMENT, np.concatenate([middle, half, [0.3]]))[1] == pytest.approx(
            far.min(), abs=1e-14
        )
        c = (1.5 + random.uniform()) * R[1]
        ways, near = cKDTree(points).query((points - c) @ R)
        i, j, d = search.nearest(R, c)
        assert d == pytest.approx(ways.min(), abs=1e-13)
        assert np.linalg.norm(points[i] - R @ points[j] - c) == pytest.approx(d, abs=1e-13)
        assert search.nearest(R, c, start=(i, j))[2] == pytest.approx(d, abs=1e-13)
        some, partners = search.near(R, c, ways.min() + 0.05)
        assert np.array_equal(some, np.flatnonzero(ways < ways.min() + 0.05))
        assert np.linalg.norm(points[some] - (points[partners] @ R.T + c), axis=1) == pytest.approx(
            ways[some], abs=1e-13
        )
        assert near.shape == ways.shape


def test_nothing_within_the_bound_is_said_so() -> None:
    _, tree = tree_of(100)
    assert Search(tree, tree).nearest(np.eye(3), np.array([9.0, 0.0, 0.0]), bound=1.0) == (-1, -1, math.inf)


def test_nodes_hold_their_samples() -> None:
    points, tree = tree_of(1000)
    assert set(tree.order.tolist()) == set(range(len(points)))
    for k, node in enumerate(tree.nodes):
        level = int(math.log2(k + 1))
        share = len(tree.order) >> level
        first = (k + 1 - (1 << level)) * share
        d = tree.points[first : first + share] - node[:3]
        along = d @ node[4:7]
        assert np.linalg.norm(d, axis=1).max() <= node[3]
        assert np.abs(along).max() <= node[7]
        assert np.linalg.norm(d - np.outer(along, node[4:7]), axis=1).max() <= node[8] * (1.0 + 1e-9)
