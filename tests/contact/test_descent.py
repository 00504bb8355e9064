"""Closest points of two sampled surfaces in compiled code: closed forms, many starts, how much is looked at."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bellcrank.contact import Sampled
from bellcrank.contact.descent import Descent
from bellcrank.contact.search import SampledPair
from bellcrank.errors import ModelError
from contact.slow_search import SlowPair

Array = NDArray[np.float64]


def ways(number: int) -> Array:
    """Directions spread evenly."""
    k = np.arange(number)
    z, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def bumpy(number: int, height: float, phase: float) -> Sampled:
    """A sphere with hills and dents; normals from the slope of |x| - r(x / |x|)."""

    def radius(u: Array) -> Array:
        return np.asarray(
            1.0 + height * np.sin(5 * u[:, 0] + phase) * np.sin(5 * u[:, 1]) * np.cos(5 * u[:, 2])
        )

    def f(x: Array) -> Array:
        size = np.linalg.norm(x, axis=1)
        return np.asarray(size - radius(x / size[:, None]))

    u = ways(number)
    p = u * radius(u)[:, None]
    g = np.stack([(f(p + 1e-5 * e) - f(p - 1e-5 * e)) / 2e-5 for e in np.eye(3)], axis=1)
    return Sampled(p, g / np.linalg.norm(g, axis=1)[:, None])


@pytest.mark.parametrize("gap", [0.3, 1e-2, -1e-3])
@pytest.mark.parametrize("larger_first", [False, True])
def test_two_sampled_spheres_have_the_gap_of_spheres(gap: float, larger_first: bool) -> None:
    u = ways(3000)
    small, large = Sampled(u, u), Sampled(1.5 * u, u)
    pair = SampledPair(large, small) if larger_first else SampledPair(small, large)
    R = Rotation.random(random_state=3).as_matrix()
    n = np.array([0.48, -0.6, 0.64])
    found, normal, x, z, _, y = pair(R, (2.5 + gap) * n)
    # What the surface through so many samples differs from a sphere by (it is of fourth order).
    assert found == pytest.approx(gap, abs=1.2e-5)
    np.testing.assert_allclose(normal, n, atol=2e-4)
    np.testing.assert_allclose(z - x, found * normal, atol=1e-12)
    np.testing.assert_allclose(R @ y + (2.5 + gap) * n, z, atol=1e-14)


def test_bodies_with_dents_are_no_closer_anywhere_than_found() -> None:
    a, b = bumpy(2500, 0.15, 0.3), bumpy(2000, 0.12, 1.1)
    pair, slow = SampledPair(a, b), SlowPair(a, b)
    random = np.random.default_rng(0)
    decided = 0
    for trial in range(12):
        R = Rotation.random(random_state=trial).as_matrix()
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        far, target = 3.0, (0.3, 0.1, 0.04)[trial % 3]
        for _ in range(60):
            apart = float(a.nearest_points.query(b.points @ R.T + far * way)[0].min())
            far -= 0.98 * max(0.0, apart - target)
        c = far * way
        found = pair.closest(R, c)
        if found is None:
            continue
        decided += 1
        # The program of the equations of motion, from every local minimum of the heights of samples.
        i, heights, j = slow.low(*pair.seen(R, c), apart + 0.05)
        starts = slow._minima(i, heights)
        gaps = []
        for k in starts[np.argsort(heights[starts])][:8]:
            p, q = slow.source.points[i[k]], b.points[j[k]] if pair.first else a.points[j[k]]
            try:
                gaps.append(slow.refined(R, c, *((p, q) if pair.first else (q, p))).gap)
            except ModelError:
                continue
        assert found.gap <= min(gaps) + 1e-10
    assert decided >= 10


def test_a_search_along_a_motion_looks_at_a_number_of_nodes_that_grows_with_the_logarithm() -> None:
    looks = []
    for number in (2_000, 8_000, 32_000):
        u = ways(number)
        axes = np.array([1.0, 0.8, 1.3])
        n = u / axes
        surface = Sampled(u * axes, n / np.linalg.norm(n, axis=1)[:, None])
        descent = Descent(surface, surface, 4.0 * surface.spacing, 0.05)
        start, seen = None, []
        for step in range(30):
            R = Rotation.from_rotvec([0.4 + 2e-3 * step, 0.3, 0.1]).as_matrix()
            place = descent(R, np.array([1.2, 1.0, 1.3]), start)[0]
            assert place.settled
            if start is not None:
                seen.append(descent.visited)
            start = place.samples
        looks.append(math.fsum(seen) / len(seen))
    # Four times the samples: as many more each time, where a root would double what is added.
    assert looks[2] - looks[1] < 1.4 * (looks[1] - looks[0])


def test_a_start_does_not_change_the_answer() -> None:
    a, b = bumpy(1500, 0.1, 0.3), bumpy(1500, 0.1, 2.0)
    descent = Descent(a, b, 4.0 * a.spacing, 0.05)
    R, c = Rotation.random(random_state=8).as_matrix(), np.array([1.3, 1.2, 1.4])
    cold = descent(R, c)[0]
    for start in ((0, 0), (700, 3), cold.samples):
        assert descent(R, c, start)[0].gap == pytest.approx(cold.gap, abs=1e-14)
