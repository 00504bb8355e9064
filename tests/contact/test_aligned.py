"""Shapes in line with each other, as people put them: gaps and curvatures on axes, by closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bellcrank.contact import Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere, Superellipsoid
from bellcrank.contact.numeric import closest_program
from bellcrank.model import System
from bellcrank.program.kernel import compile_program

TALL: dict[str, tuple[Shape, float]] = {
    "sphere": (Sphere(0.1), 0.1),
    "ellipsoid": (Ellipsoid(0.12, 0.11, 0.1), 0.1),
    "capsule": (Capsule(0.06, 0.04), 0.1),
    "cylinder": (Cylinder(0.12, 0.1), 0.1),
    "round superellipsoid": (Superellipsoid(0.12, 0.11, 0.1, (2.0, 2.0)), 0.1),
    "superellipsoid": (Superellipsoid(0.12, 0.11, 0.1, (2.5, 3.0)), 0.1),
    "octahedron": (Superellipsoid(0.12, 0.11, 0.1, (1.5, 1.4)), 0.1),
    "box": (Superellipsoid(0.12, 0.11, 0.1, (12.0, 9.0)), 0.1),
}
"""Shapes and their heights above the middle [m]."""


def found(a: Shape, b: Shape, *heights: float) -> list[np.ndarray]:
    """One search without a guess for each height of b above a: distance, normal, points, residual."""
    unit, search = np.eye(3).ravel(), compile_program(closest_program(a, b, False))
    return [search(np.concatenate([unit, np.zeros(3), unit, [0.0, 0.0, height]])) for height in heights]


@pytest.mark.parametrize(("a", "b"), [*itertools.combinations_with_replacement(TALL, 2)])
def test_shapes_above_each_other(a: str, b: str) -> None:
    (one, low), (two, high) = TALL[a], TALL[b]
    gaps = (5e-3, 1e-9, -1e-9, -2e-3)
    for gap, row in zip(gaps, found(one, two, *(low + high + gap for gap in gaps)), strict=True):
        assert row[0] == pytest.approx(gap, rel=1e-6, abs=1e-12)
        assert row[1:4] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


@pytest.mark.parametrize("name", TALL)
def test_shapes_above_a_plane(name: str) -> None:
    shape, height = TALL[name]
    (row,) = found(Plane(), shape, height + 1e-3)
    assert row[0] == pytest.approx(1e-3, rel=1e-9)
    assert row[7:10] == pytest.approx([0.0, 0.0, 1e-3], abs=1e-12)


def test_curvature_on_the_axes_is_that_of_an_ellipsoid() -> None:
    """Radii a^2/c and b^2/c above the middle, and so on around."""
    size = np.array([0.3, 0.2, 0.1])
    shape = Superellipsoid(*size, (2.0, 2.0))
    for axis in range(3):
        n, across = np.eye(3)[axis], [k for k in range(3) if k != axis]
        second = shape.support(tuple(n)).second
        for k in across:
            e = tuple(np.eye(3)[k])
            assert float(second(e, e)) == pytest.approx(size[k] ** 2 / size[axis], rel=1e-9)
        mixed = second(tuple(np.eye(3)[across[0]]), tuple(np.eye(3)[across[1]]))
        assert float(mixed) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", ["superellipsoid", "box"])
def test_stacked_bodies_come_to_rest_as_deep_as_their_weight_presses(name: str) -> None:
    """m g = K d^1.5; guided, since one point does not hold a flat end upright."""
    shape, height = TALL[name]
    system = System("stack", gravity=(0.0, 0.0, -9.81))
    body = system.body("body", mass=2.0, inertia=(1e-2,) * 3, at=(0.0, 0.0, 2.0 * height + 1e-4))
    system.prismatic("guide", system.ground, body, axis="z")
    system.contact(
        "stack",
        system.ground.shape(shape),
        body.shape(shape),
        treatment="continuous",
        stiffness=1e6,
        restitution=0.1,
    )
    run = system.simulate(2.0, tolerance=1e-8, output=10)
    assert float(run["stack.penetration"][-1]) == pytest.approx((2.0 * 9.81 / 1e6) ** (2.0 / 3.0), rel=1e-3)
