"""Forces at several places are the slope of one energy: checked by differences, and by flights that keep it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import Box, Capsule, ClosestKernel, Cylinder, Shape, Superellipsoid
from bellcrank.contact.side_by_side import places

SHAPES: dict[str, Shape] = {
    "drum": Cylinder(0.1, 0.12),
    "pole": Cylinder(0.07, 0.15),
    "box": Box(0.1, 0.12, 0.15),
    "brick": Box(0.08, 0.1, 0.2),
    "rod": Capsule(0.06, 0.12),
    "pill": Capsule(0.08, 0.1),
}
PAIRS = [
    ("rod", "pill"),
    ("rod", "box"),
    ("box", "rod"),
    ("box", "brick"),
    ("rod", "drum"),
    ("drum", "rod"),
    ("drum", "pole"),
    ("drum", "box"),
    ("box", "drum"),
]


def overlapping(a: Shape, b: Shape, R: np.ndarray, c: np.ndarray, n: float):
    """Depth and place of all that presses."""
    for place in places(a, b, R.tolist(), tuple(float(x) for x in c), n):
        if place.room > 0 and place.gap < 0:
            yield -float(place.gap), place


def energy(a: Shape, b: Shape, R: np.ndarray, c: np.ndarray, n: float) -> float:
    return sum(float(p.weight) * d ** (n + 1) / (n + 1) for d, p in overlapping(a, b, R, c, n))


def wrench(a: Shape, b: Shape, R: np.ndarray, c: np.ndarray, n: float) -> np.ndarray:
    """Force on b, and moment about its origin, for K = 1."""
    total = np.zeros(6)
    for d, p in overlapping(a, b, R, c, n):
        normal, push, twist = (np.array(v, dtype=float) for v in (p.normal, p.push, p.twist))
        middle = 0.5 * (np.array(p.point_a, dtype=float) + np.array(p.point_b, dtype=float))
        force = d**n * (float(p.weight) * normal + push)
        total += [*force, *(np.cross(middle - c, force) + d**n * twist)]
    return total


@cache
def pose(pair: tuple[str, str], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """At random, every other one with axes nearly along each other, so far in that they overlap a little."""
    a, b = (SHAPES[name] for name in pair)
    rng = np.random.default_rng(seed)
    R, way = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    if seed % 2:
        axes = np.eye(3)[rng.permutation(3)]
        around = Rotation.from_rotvec(np.eye(3)[rng.integers(3)] * rng.uniform(0, 6)).as_matrix()
        tilt = Rotation.from_rotvec(rng.normal(size=3) * 10 ** rng.uniform(-4, -1)).as_matrix()
        R = tilt @ around @ (axes if np.linalg.det(axes) > 0 else -axes)
        way = 0.4 * way
        way[rng.integers(3)] = 1.0
    way /= np.linalg.norm(way)
    deep, low, high = 10 ** rng.uniform(-4, -2.7), 0.0, 0.6
    for _ in range(20):
        middle = 0.5 * (low + high)
        if max((d for d, _ in overlapping(a, b, R, middle * way, 1.0)), default=0.0) > deep:
            low = middle
        else:
            high = middle
    return R, low * way


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_force_is_the_slope_of_the_energy(pair: tuple[str, str], exponent: float) -> None:
    a, b = (SHAPES[name] for name in pair)
    for seed in range(4):
        R, c = pose(pair, seed)
        step, size = 1e-7, 0.1
        slope = np.zeros(6)
        for k in range(6):
            v = np.eye(6)[k] * step
            ahead, back = (
                energy(a, b, Rotation.from_rotvec(s * v[3:] / size).as_matrix() @ R, c + s * v[:3], exponent)
                for s in (1.0, -1.0)
            )
            slope[k] = (back - ahead) / (2 * step)
        here = wrench(a, b, R, c, exponent) * [1, 1, 1, 1 / size, 1 / size, 1 / size]
        np.testing.assert_allclose(here, slope, atol=1e-4 * np.linalg.norm(here))


def support(shape: Shape, n: np.ndarray) -> np.ndarray:
    """How far a shape reaches along directions (..., 3)."""
    if isinstance(shape, Box):
        return np.abs(n) @ np.array(shape.half_lengths)
    assert isinstance(shape, Cylinder | Capsule)
    across = 1.0 if isinstance(shape, Capsule) else np.hypot(n[..., 0], n[..., 1])
    return shape.half_length * abs(n[..., 2]) + shape.radius * across


@pytest.mark.parametrize("pair", [("drum", "pole"), ("drum", "rod"), ("box", "drum")])
def test_closest_points_face_each_other_in_the_direction_of_least_overlap(pair: tuple[str, str]) -> None:
    """Rims nearly level on a line, and edges across the side of a cylinder, among them."""
    a, b = (SHAPES[name] for name in pair)
    search, rng = ClosestKernel(a, b), np.random.default_rng(8)
    for seed in range(4):
        R, c = pose(pair, seed)

        def overlap(v: np.ndarray, R: np.ndarray = R, c: np.ndarray = c) -> np.ndarray:
            n = v / np.linalg.norm(v, axis=-1, keepdims=True)
            return support(a, n) + support(b, -n @ R) - n @ c

        found = search(np.eye(3), np.zeros(3), R, c)
        normal, r = np.array(found.normal), np.array(found.point_b) - np.array(found.point_a)
        ways = rng.normal(size=(20000, 3))
        starts = [c, *ways[np.argsort(overlap(ways))[:2]]]
        options = {"xatol": 1e-11, "fatol": 1e-14, "maxiter": 3000}
        least = min(minimize(overlap, v, method="Nelder-Mead", options=options).fun for v in starts)
        assert -found.distance == pytest.approx(least, abs=1e-9)
        # Flat on flat many pairs face each other; the miss is across the normal.
        assert np.linalg.norm(r - normal * (normal @ r)) < 1e-8


def test_flat_superellipsoids_that_collide_keep_energy() -> None:
    """Newton's method needs many steps around their edges: points that missed each other lost energy."""
    system = bc.System("two", gravity=(0, 0, -9.81))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.0045, 0.005), at=(0.02, 0.01, 0.21))
    system.free("flight", system.ground, body)
    shape = Superellipsoid(0.1, 0.1, 0.1, (6.0, 6.0))
    sides = system.ground.shape(shape), body.shape(shape)
    system.contact("c", *sides, treatment="continuous", stiffness=1e6, law="hertz")
    start = {"flight": {"velocity": (0.1, 0.05, -0.2), "angular_velocity": (0.35, 0.82, 0.17)}}
    result = system.simulate(0.3, tolerance=1e-8, initial=start)
    total, moving = np.asarray(result["energy.total"]), np.asarray(result["energy.kinetic"])
    assert np.ptp(total) < 1e-4 * np.ptp(moving)


@cache
def two(pair: tuple[str, str]) -> bc.System:
    system = bc.System("two", gravity=(0, 0, 0))
    p = system.body("p", mass=1.0, inertia=(0.005, 0.006, 0.007))
    q = system.body("q", mass=0.7, inertia=(0.004, 0.003, 0.005), at=(0, 0, 0.45))
    system.free("fp", system.ground, p)
    system.free("fq", system.ground, q)
    a, b = (SHAPES[name] for name in pair)
    system.contact(
        "c", p.shape(a), q.shape(b), treatment="continuous", stiffness=1e6, exponent=1.0, law="hertz"
    )
    return system


THROWN = [
    *((("rod", "drum"), seed) for seed in (0, 22)),
    *((("drum", "pole"), seed) for seed in (1,)),
    *((("drum", "box"), seed) for seed in (2, 17)),
    *((("box", "brick"), seed) for seed in (5, 28)),
]
"""Among them all that lost or won energy, up to a fifth, when points missed each other or forces were no slopes."""


@pytest.mark.parametrize(("pair", "seed"), THROWN)
def test_tumbling_bodies_that_collide_keep_energy_and_momentum(pair: tuple[str, str], seed: int) -> None:
    rng = np.random.default_rng(seed)

    def turn(seed: int) -> np.ndarray:
        return np.roll(Rotation.random(random_state=seed).as_quat(), 1)

    spins = rng.normal(size=3) * 2
    start = {
        "fp": {"quaternion": turn(seed), "velocity": (0, 0, 0.5), "angular_velocity": spins},
        "fq": {
            "position": (*rng.uniform(-0.05, 0.05, 2), 0.45),
            "quaternion": turn(seed + 99),
            "velocity": (0, 0, -0.8),
            "angular_velocity": rng.normal(size=3) * 2,
        },
    }
    system = two(pair)
    result = system.simulate(0.8, tolerance=1e-9, initial=start)
    assert max(np.asarray(result[f"{f}.penetration"]).max() for f in system.forces) > 1e-5
    total = np.asarray(result["energy.total"])
    assert np.ptp(total) < 1e-4 * total[0]
    masses = {"p": 1.0, "q": 0.7}
    place = {b: np.array([result[f"{b}.position.{c}"] for c in "xyz"]).T for b in masses}
    speed = {b: np.array([result[f"{b}.velocity.{c}"] for c in "xyz"]).T for b in masses}
    inertia = {"p": np.diag([0.005, 0.006, 0.007]), "q": np.diag([0.004, 0.003, 0.005])}
    linear, angular = np.zeros(3), np.zeros(3)
    for body, m in masses.items():
        R = np.asarray(result[f"{body}.rotation"])
        w = np.array([result[f"{body}.angular_velocity.{c}"] for c in "xyz"]).T
        own = np.einsum("tij,jk,tlk,tl->ti", R, inertia[body], R, w)
        linear = linear + m * speed[body]
        angular = angular + own + m * np.cross(place[body], speed[body])
    assert np.ptp(linear, axis=0).max() < 1e-7
    assert np.ptp(angular, axis=0).max() < 1e-7
