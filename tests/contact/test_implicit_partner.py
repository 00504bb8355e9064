"""Surfaces of patches and implicit ones far apart: closest points against SciPy from many starts.

Only the body need be convex, not the function that tells of it: a logarithm or one that saturates tells of no plane
behind which the body is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from bellcrank.contact import Ellipsoid
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.patches import patch_at
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.smooth import Smooth
from contact.test_patched_meeting import ring_net

Array = NDArray[np.float64]
G = Callable[..., Array]
ACROSS = 9
RING = Parametric.b_spline(0.2 * ring_net(), around=(True, True))


def squares(x: Array, y: Array, z: Array) -> Array:
    return (x / 0.2) ** 2 + (y / 0.12) ** 2 + (z / 0.08) ** 2


FUNCTIONS: dict[str, tuple[G, float]] = {
    "quadratic": (lambda x, y, z: squares(x, y, z) - 1.0, 0.2001),
    "logarithm": (lambda x, y, z: np.log(squares(x, y, z) + 0.1) - np.log(1.1), 0.2001),
    "saturated": (lambda x, y, z: np.tanh(squares(x, y, z) - 1.0), 0.2001),
    "quartic": (lambda x, y, z: (x / 0.2) ** 4 + (y / 0.15) ** 4 + (z / 0.1) ** 4 - 1.0, 0.3),
}


def on_rays(g: G, number: int) -> Array:
    """Points of an implicit surface, by bisection."""
    k = np.arange(number)
    height, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - np.sqrt(5.0)) * k
    level = np.sqrt(1.0 - height * height)
    ways = np.stack([level * np.cos(turn), level * np.sin(turn), height], axis=1)
    low, high = np.zeros(number), np.full(number, 0.6)
    for _ in range(50):
        middle = 0.5 * (low + high)
        inside = g(*(middle[:, None] * ways).T) < 0.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low[:, None] * ways


@cache
def grid(surface: Parametric) -> Array:
    t = np.linspace(0.0, 1.0, ACROSS)
    return np.array([patch_at(net, u, v)[0] for net in surface.nets for u in t for v in t])


def by_scipy(surface: Parametric, g: G, R: Array, c: Array) -> float:
    """The least distance over parameters and points of the implicit surface, from the six best and distinct starts."""
    points, others, t = grid(surface), on_rays(g, 2000), np.linspace(0.0, 1.0, ACROSS)
    far, near = cKDTree(others).query((points - c) @ R)
    starts: list[Array] = []
    best = np.inf
    for i in np.argsort(far):
        if len(starts) == 6:
            break
        if any(np.linalg.norm(points[i] - p) < 0.1 for p in starts):
            continue
        starts.append(points[i])
        net, rest = surface.nets[i // ACROSS**2], i % ACROSS**2

        def between(w: Array, net: Array = net) -> Array:
            return np.asarray((patch_at(net, w[0], w[1])[0] - c) @ R - w[2:])

        found = minimize(
            lambda w: 100.0 * float(between(w) @ between(w)),
            [t[rest // ACROSS], t[rest % ACROSS], *others[near[i]]],
            method="SLSQP",
            bounds=[(0.0, 1.0)] * 2 + [(None, None)] * 3,
            constraints=[{"type": "eq", "fun": lambda w: g(*w[2:])}],
            options={"ftol": 1e-16, "maxiter": 300},
        )
        if abs(g(*found.x[2:])) < 1e-10:
            best = min(best, float(np.linalg.norm(between(found.x))))
    return best


def off_the_patches(surface: Parametric, x: Array) -> float:
    """How far a point is from the nearest of the patches that have points of the grid nearby."""
    t, best = np.linspace(0.0, 1.0, ACROSS), np.inf
    for i in np.argsort(np.linalg.norm(grid(surface) - x, axis=1))[:6]:
        net, rest = surface.nets[i // ACROSS**2], i % ACROSS**2
        start = [t[rest // ACROSS], t[rest % ACROSS]]

        def miss(w: Array, net: Array = net) -> Array:
            return np.asarray(patch_at(net, w[0], w[1])[0] - x)

        found = least_squares(miss, start, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15)
        if found.x.min() > -1e-9 and found.x.max() < 1.0 + 1e-9:
            best = min(best, float(np.linalg.norm(found.fun)))
    return best


@pytest.mark.parametrize("distance", [0.003, 0.1, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_closest_points_of_patches_and_an_implicit_surface(name: str, distance: float) -> None:
    g, size = FUNCTIONS[name]
    surface = RING
    pair = SampledPair(surface, Implicit(g, size))
    random = np.random.default_rng(round(1000 * distance))
    for _ in range(2):
        R = Rotation.random(random_state=random).as_matrix()
        # Not towards the hole of the ring.
        way = random.normal(size=3) * [1.0, 1.0, 0.2]
        way /= np.linalg.norm(way)
        c = (distance + size + 0.65) * way
        for _ in range(40):
            c = c - 0.7 * (pair(R, c)[0] - distance) * way
        gap, normal, x, y, _, own = pair(R, c)
        assert gap == pytest.approx(distance, rel=0.1)
        # Points of both surfaces, so no less than the distance; and none are closer.
        assert np.linalg.norm(y - x) == pytest.approx(gap, abs=1e-12)
        assert off_the_patches(surface, x) < 1e-9
        assert abs(float(g(*own))) < 1e-9
        assert gap < by_scipy(surface, g, R, c) + 1e-9
        # Brought together along their normal they touch there.
        assert pair(R, c - gap * normal)[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", ["quadratic", "logarithm", "saturated"])
def test_the_gauge_is_that_of_the_body_whatever_tells_of_it(name: str) -> None:
    """All three are the same ellipsoid, whose norm and curvature have closed forms."""
    one, other = Smooth(Implicit(*FUNCTIONS[name])), Smooth(Ellipsoid(0.2, 0.12, 0.08))
    random = np.random.default_rng(4)
    for _ in range(200):
        x = random.normal(size=3) * 10.0 ** random.uniform(-2.0, 0.5)
        known = other.slope(x)
        assert one.slope(x) == pytest.approx(known, rel=1e-12, abs=1e-12 * np.abs(known).max())
        n = known[1:] / np.linalg.norm(known[1:])
        u = np.cross(n, [0.3, 0.5, 0.8])
        u /= np.linalg.norm(u)
        frame = np.concatenate([x / (1.0 + known[0]), u, np.cross(n, u)])
        bends = other.bend(frame)
        assert one.bend(frame) == pytest.approx(bends, abs=1e-10 * np.abs(bends).max())


@pytest.mark.parametrize(("exponent", "narrow"), [(4, 0.05), (10, 0.2), (20, 1.0), (20, 0.05), (40, 0.2)])
def test_the_gauge_of_a_steep_function_is_found_too(exponent: int, narrow: float) -> None:
    """Rounded boxes, whose norm has a closed form: far outside Newton's method alone hardly moves."""

    def g(x: Array, y: Array, z: Array) -> Array:
        return x**exponent + (y / narrow) ** exponent + (z / narrow) ** exponent - 1.0

    shape = Smooth(Implicit(g, 1.8))
    random = np.random.default_rng(exponent)
    ways = [*np.eye(3), *random.normal(size=(40, 3)), *random.normal(size=(40, 3)) * [1.0, narrow, narrow]]
    for x in ways:
        x = x * 10.0 ** random.uniform(-1.0, 1.0)
        known = float(np.sum(np.abs(x / [1.0, narrow, narrow]) ** exponent) ** (1.0 / exponent))
        assert shape.slope(x)[0] + 1.0 == pytest.approx(known, rel=1e-11)
