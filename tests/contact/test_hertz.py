"""Hertz's stiffness of elliptic contact against Johnson's equations solved on the spot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ellipe, ellipkm1

from bellcrank.contact import Sampled
from bellcrank.contact.closest import routine
from bellcrank.contact.hertz import curvature, effective_modulus, stiffness
from bellcrank.contact.nearest import closest_bends
from bellcrank.contact.shapes import Capsule, Ellipsoid, Sphere, Superellipsoid
from bellcrank.contact.steps import frame
from bellcrank.errors import ModelError
from bellcrank.model import System

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def reference(k_low: float, k_high: float) -> float:
    """K / E* from Johnson (4.26) to (4.28): the ratio of the axes by root finding."""

    def halves(b2: float) -> tuple[float, float, float]:
        e2, K, E = 1.0 - b2, float(ellipkm1(b2)), float(ellipe(1.0 - b2))
        b = math.sqrt(b2)
        return b / e2 * (K - E), b / e2 * (E / b2 - K), K

    log_b2 = brentq(
        lambda x: math.log(halves(math.exp(x))[1] / halves(math.exp(x))[0] * k_low / k_high), -40.0, -1e-4
    )
    b2 = math.exp(log_b2)
    low, _, K = halves(b2)
    a = 1.0 * 2.0 * low / k_low
    # Lengths scale by a at p0 = E*: force as a^2, approach as a.
    return (2.0 / 3.0) * math.pi * math.sqrt(b2) * a**2 / (a * math.sqrt(b2) * K) ** 1.5


@settings(deadline=None)
@given(st.floats(0.01, 100.0), st.floats(-3.5, -0.05), st.floats(0.0, math.pi))
def test_elliptic_contact_in_any_axes(k_high: float, log_ratio: float, angle: float) -> None:
    k_low = k_high * 10.0**log_ratio
    c, s = math.cos(angle), math.sin(angle)
    gap = (c * c * k_low + s * s * k_high, c * s * (k_low - k_high), s * s * k_low + c * c * k_high)
    assert stiffness(1.0, gap, (0.0, 0.0, 0.0)) == pytest.approx(reference(k_low, k_high), rel=1e-7)


def test_sphere_on_plane() -> None:
    k = 1.0 / 0.01
    assert stiffness(3.0, (k, 0.0, k), (0.0, 0.0, 0.0)) == pytest.approx(
        4.0 / 3.0 * 3.0 * math.sqrt(0.01), rel=1e-12
    )


def test_modulus_of_steel_on_a_rigid_body() -> None:
    assert effective_modulus((math.inf, 210e9), (0.3, 0.3)) == pytest.approx(2.3076923077e11, rel=1e-9)


def test_curvatures_of_shapes() -> None:
    e1, e2, n = UNIT[0], UNIT[1], UNIT[2]
    assert curvature(Sphere(0.5), UNIT, n, (0.0, 0.0, 0.5), e1, e2) == pytest.approx((2.0, 0.0, 2.0))
    a, b, c = 0.3, 0.5, 0.7
    assert curvature(Ellipsoid(a, b, c), UNIT, n, (0.0, 0.0, c), e1, e2) == pytest.approx(
        (c / a**2, 0.0, c / b**2)
    )
    side = curvature(Capsule(0.2, 1.0), UNIT, e1, (0.2, 0.0, 0.3), e2, n)
    assert side == pytest.approx((5.0, 0.0, 0.0))
    near = np.array([0.1, 0.2, 0.9])
    plain, by_points = Ellipsoid(0.3, 0.5, 0.7), Superellipsoid(0.3, 0.5, 0.7, (2.0, 2.0000001))
    point = np.array(plain.support(tuple(near / np.linalg.norm(near))).point, dtype=float)
    n = tuple(near / np.linalg.norm(near))
    t1 = np.cross(n, (1.0, 0.0, 0.0))
    t1 /= np.linalg.norm(t1)
    t2 = np.cross(n, t1)
    one = curvature(plain, UNIT, n, tuple(point), tuple(t1), tuple(t2))
    two = curvature(by_points, UNIT, n, tuple(point), tuple(t1), tuple(t2))
    assert one == pytest.approx(two, rel=1e-5, abs=1e-5)


def spread(number: int) -> np.ndarray:
    """Directions spread evenly."""
    k = np.arange(number)
    z, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def test_curvatures_of_a_sampled_ellipsoid_are_of_second_order() -> None:
    """Root mean square of the errors between samples, where a mean by weights would be of first order."""
    axes = (1.0, 0.8, 1.3)
    random, errors = np.random.default_rng(2), []
    ways = [w / np.linalg.norm(w) for w in random.normal(size=(40, 3))]
    for number in (1000, 8000):
        u = spread(number)
        n = u / axes
        surface = Sampled(u * axes, n / np.linalg.norm(n, axis=1)[:, None])
        bends = routine(surface, Sphere(0.1), closest_bends).kernel
        squares = []
        for way in ways:
            x = way * axes
            normal = way / axes / np.linalg.norm(way / axes)
            tangents = frame(tuple(normal.tolist()))
            exact = curvature(
                Ellipsoid(*axes), UNIT, tuple(normal.tolist()), tuple(x.tolist()), tangents[0], tangents[1]
            )
            found = bends(np.concatenate([x + 0.1 * normal, np.eye(3).ravel(), [-1.0]]))
            e1, e2 = np.array(tangents)
            on_ball = e1 @ found[9:].reshape(3, 3)
            assert on_ball == pytest.approx(10.0 * e1, abs=0.1)
            H = found[:9].reshape(3, 3)
            squares.append(
                float(np.abs(np.subtract((e1 @ H @ e1, e1 @ H @ e2, e2 @ H @ e2), exact)).max()) ** 2
            )
        errors.append(math.sqrt(math.fsum(squares) / len(squares)))
    assert errors[1] < 6e-3
    assert math.log(errors[0] / errors[1], math.sqrt(8.0)) > 1.8


def test_a_sampled_ball_is_as_stiff_as_hertz_says() -> None:
    u = spread(2000)
    system = System("ball", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=1.0, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.0499))
    system.free("flight", system.ground, ball)
    shape = ball.shape(Sampled(0.05 * u, u))
    system.contact(
        "floor", system.ground.plane(), shape, treatment="continuous", law="hertz", young=(math.inf, 2e7)
    )
    run = system.simulate(1e-5, output=1, progress=False)
    depth, force = -float(run["floor.gap"][0]), float(run["floor.normal_force"][0])
    assert depth == pytest.approx(1e-4, rel=0.01)
    assert force == pytest.approx(4.0 / 3.0 * 2e7 / 0.91 * math.sqrt(0.05) * depth**1.5, rel=5e-3)


def test_a_flat_sampled_side_has_no_hertz_stiffness() -> None:
    t = np.linspace(-0.3, 0.3, 7)
    x, y = np.meshgrid(t, t, indexing="ij")
    plate = Sampled.from_grid(np.stack([x, y, np.zeros_like(x)], axis=2))
    system = System("plate")
    body = system.body("body", mass=1.0, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.1))
    system.free("flight", system.ground, body)
    with pytest.raises(ModelError, match=r"contact 'floor'.*curve away.*give stiffness="):
        system.contact("floor", system.ground.plane(), body.shape(plate), treatment="continuous", law="hertz",
                       young=2e7)  # fmt: skip
    system.contact("knob", system.ground.sphere(0.05), body.shape(plate), treatment="continuous", law="hertz",
                   young=2e7)  # fmt: skip
