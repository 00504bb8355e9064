"""Continuous contacts of surfaces of data do the same at all sizes: samples, meshes, cut meshes, several points.

With lengths s times as long, the same density and gravity, times are the root of s as long; a stiffness of F = K d^1.5
that grows with s^1.5 keeps the overlap in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bellcrank.contact import Mesh, Sampled
from bellcrank.contact.friction import Coulomb
from bellcrank.model import System

G = 9.81
Floats = NDArray[np.float64]


def evenly(number: int) -> Floats:
    """Unit vectors (number, 3) all around."""
    z, turn = 1.0 - (2.0 * np.arange(number) + 1.0) / number, np.pi * (1.0 + np.sqrt(5.0)) * np.arange(number)
    flat = np.sqrt(1.0 - z**2)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)


def egg(s: float) -> Sampled:
    axes, n = np.array([0.2, 0.15, 0.12]), evenly(800)
    across = n / axes
    return Sampled(s * n * axes, across / np.linalg.norm(across, axis=1)[:, None])


def dumbbell(s: float) -> Sampled:
    n, out = evenly(500), np.array([0.1, 0.0, 0.0])
    return Sampled(s * np.concatenate([0.05 * n - out, 0.05 * n + out]), np.concatenate([n, n]))


def brick(s: float) -> Mesh:
    corners = s * np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.05, 0.05)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Mesh(corners, np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]))


def fallen(
    s: float, height: float, touch: Callable[[System, Any, dict[str, Any]], None], time: float
) -> Floats:
    """Places over s and rotations (outputs, 12) of a body that falls, slides and tumbles; time: in roots of s / g."""
    T = math.sqrt(s / G)
    system = System("fall", gravity=(0.0, 0.0, -G))
    inertia = tuple(0.005 * k * s**5 for k in (1.0, 1.2, 1.4))
    body = system.body("body", mass=s**3, inertia=inertia, at=(0.0, 0.0, height * s))
    system.free("flight", system.ground, body)
    rubbing = Coulomb(0.3, slip_speed=1e-3 * s / T)
    law = {"restitution": 0.4, "friction": rubbing, "approach_speed": s / T}
    touch(system, body, {**law, "treatment": "continuous"})
    turning = {"velocity": (s / T, 0.2 * s / T, 0.0), "angular_velocity": (0.5 / T, 1.0 / T, 0.3 / T)}
    run = system.simulate(time * T, initial={"flight": turning}, output=30, tolerance=1e-8)
    assert any(force.startswith("floor") for force in system.forces)
    return np.concatenate(
        [run["body.position"].to_numpy() / s, run["body.rotation"].to_numpy().reshape(-1, 9)], axis=1
    )


CASES: dict[str, tuple[float, float, Callable[[float], Callable[[System, Any, dict[str, Any]], None]]]] = {
    "samples": (
        0.2, 3.0,
        lambda s: lambda m, b, law: m.contact(
            "floor", m.ground.plane(), b.shape(egg(s)), stiffness=2e5 * s**1.5, **law
        ),
    ),
    "corners of a mesh": (
        0.2, 0.8,
        lambda s: lambda m, b, law: m.contact("floor", m.ground.plane(), b.shape(brick(s)), young=1e5 * s, **law),
    ),
    "samples on a mesh": (
        0.21, 0.35,
        lambda s: lambda m, b, law: m.contact(
            "floor", m.ground.shape(brick(3.0 * s)), b.shape(dumbbell(s)), young=1e5 * s, method="field", **law
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bodies_of_all_sizes_move_alike(case: str) -> None:
    height, time, touch = CASES[case]
    wanted = fallen(1.0, height, touch(1.0), time)
    assert np.ptp(wanted[:, 2]) > 1e-3
    for s in (1e-3, 1e3):
        # Impacts on corners multiply the errors of a run.
        error = 1e-3 if case == "corners of a mesh" else 2e-6
        np.testing.assert_allclose(fallen(s, height, touch(s), time), wanted, rtol=0.0, atol=error)
