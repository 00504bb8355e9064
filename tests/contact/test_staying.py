"""Closest points followed along motions: the same as by a search from anywhere, and mostly without one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bellcrank.contact import Sampled
from bellcrank.contact.descent import Descent
from bellcrank.contact.staying import rounded
from contact.test_descent import bumpy
from contact.test_places import box, ellipsoid, ring, sheet

Array = NDArray[np.float64]


@cache
def surface(name: str) -> Sampled:
    made = {
        "ellipsoid": lambda: ellipsoid(2000),
        "bumpy": lambda: bumpy(8000, 0.05, 0.3),
        "rough": lambda: bumpy(6000, 0.15, 1.1),
        "box": lambda: box(3),
        "ring": lambda: ring(1500),
        "sheet": lambda: sheet(25),
    }
    return made[name]()


def motion(a: Sampled, b: Sampled, seed: int, step: float, steps: int) -> list[tuple[Array, Array]]:
    """A smooth random motion of b around a, close to it throughout: they come near and touch now and then."""
    random = np.random.default_rng(seed)
    spin, drift = random.normal(size=3), random.normal(size=3)
    R = Rotation.random(random_state=random)
    way = random.normal(size=3)
    found = []
    for _ in range(steps):
        spin, drift = spin + 0.1 * random.normal(size=3), drift + 0.1 * random.normal(size=3)
        R = Rotation.from_rotvec(step * spin) * R
        way = way + step * drift * np.linalg.norm(way)
        way /= np.linalg.norm(way)
        Q = R.as_matrix()
        far = float((a.points @ way).max() + (b.points @ (Q.T @ -way)).max())
        found.append((Q, (far + 0.02 + 0.02 * np.sin(0.3 * len(found)) * min(1.0, 50.0 * step)) * way))
    return found


@pytest.mark.parametrize("step", [3e-2, 2e-3, 2e-5])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ellipsoid", "ellipsoid"),
        ("bumpy", "bumpy"),
        ("rough", "rough"),
        ("bumpy", "ellipsoid"),
        ("box", "bumpy"),
        ("ring", "ellipsoid"),
        ("sheet", "ellipsoid"),
        ("rough", "sheet"),
    ],
)
def test_following_finds_what_a_search_from_anywhere_finds(first: str, second: str, step: float) -> None:
    a, b = surface(first), surface(second)
    following, anew = (Descent(a, b, 4.0 * a.spacing, 0.15) for _ in range(2))
    without = compared = 0
    for seed in range(3):
        for R, c in motion(a, b, seed, step, 60):
            place = following.follow(R, c)
            without += following.visited == 0
            places = anew(R, c)
            if place is None or not places:
                assert place is None
                assert not places
                continue
            assert place.settled == places[0].settled
            assert place.gap == pytest.approx(places[0].gap, abs=1e-10)
            compared += 1
    assert compared > 150
    if (first, second) == ("ellipsoid", "ellipsoid"):
        assert without > 170
    if (first, second, step) == ("bumpy", "bumpy", 2e-5):
        assert without > 150


def test_only_closed_bodies_without_dents_and_edges_count_as_convex() -> None:
    assert rounded(surface("ellipsoid"))
    assert not any(rounded(surface(name)) for name in ("bumpy", "rough", "box", "ring", "sheet"))
    points = surface("ellipsoid").points
    above = points[:, 2] > 0.2
    cap = Sampled(points[above], points[above] / np.array([1.0, 0.64, 1.69]))
    assert cap.least_curvature[0] > 0.0
    assert not rounded(cap)


def test_two_hills_of_which_first_one_and_then_the_other_is_closest() -> None:
    """A plate with two hills, tilted little by little: the closest place changes hills, however small the steps."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 121), np.linspace(-1.0, 1.0, 121), indexing="ij")
    z = 0.2 * (np.exp(-12.0 * ((x - 0.5) ** 2 + y**2)) + np.exp(-12.0 * ((x + 0.5) ** 2 + y**2))) - 0.02 * (
        x**2 + y**2
    )
    hills = Sampled.from_grid(np.stack([x, y, z], axis=2))
    u = ellipsoid(60_000).points * 2.0 / np.array([1.0, 0.8, 1.3])
    ball = Sampled(u, u)
    following = Descent(hills, ball, 4.0 * hills.spacing, 0.05)
    anew = Descent(hills, ball, 4.0 * hills.spacing, 0.05)
    sides, without = [], 0
    for k in range(400):
        R = Rotation.from_rotvec([0.0, 1e-4 * (k - 200), 0.0]).as_matrix()
        c = np.array([5e-4 * (k - 200), 0.0, 2.3])
        place = following.follow(R, c)
        without += following.visited == 0
        assert place is not None
        assert place.gap == pytest.approx(anew(R, c)[0].gap, abs=1e-10)
        sides.append(bool(place.x[0] > 0.0))
    assert not sides[0]
    assert sides[-1]
    assert without > 50
