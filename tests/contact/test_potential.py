"""Closest points of bodies with rims, sides and edges: against a search over all directions, and in flights."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import Box, Capsule, ClosestKernel, Cylinder, Shape, Superellipsoid
from bellcrank.contact.shapes.fields import depths

SHAPES: dict[str, Shape] = {
    "drum": Cylinder(0.1, 0.12),
    "pole": Cylinder(0.07, 0.15),
    "box": Box(0.1, 0.12, 0.15),
    "brick": Box(0.08, 0.1, 0.2),
    "rod": Capsule(0.06, 0.12),
    "pill": Capsule(0.08, 0.1),
}


@cache
def vertices(shape: Shape) -> np.ndarray:
    """Of the triangles of a shape."""
    return shape.triangles().vertices


def deepest(a: Shape, b: Shape, R: np.ndarray, c: np.ndarray) -> float:
    """How deep a's surface is in b or b's in a, where any is [m]."""
    into_b = depths(b.field, (vertices(a) - c) @ R)[0].max()
    return float(max(into_b, depths(a.field, c + vertices(b) @ R.T)[0].max()))


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
        if deepest(a, b, R, middle * way) > deep:
            low = middle
        else:
            high = middle
    return R, low * way


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
