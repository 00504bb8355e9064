"""Meshes with creases against smooth surfaces of samples: edges and corners touch as they do smooth shapes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from trimesh import creation as make

from bellcrank import System
from bellcrank.contact import Sampled, Shape, Sphere
from bellcrank.contact.search import SampledPair
from bellcrank.contact.sheets import Sheets

Array = NDArray[np.float64]
HALF = 0.05
BOX = Sampled.from_mesh(*(lambda mesh: (mesh.vertices, mesh.faces))(make.box((2 * HALF,) * 3)))


def sampled_ball(radius: float, number: int = 4000) -> Sampled:
    k = np.arange(number) + 0.5
    z, turn = 1.0 - 2.0 * k / number, np.pi * (1.0 + np.sqrt(5.0)) * k
    n = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
    return Sampled(radius * n, n)


def bump(x: Array, y: Array) -> Array:
    """A terrain, hollow and round by turns [m]."""
    return np.asarray(0.02 * np.cos(12.0 * x) * np.cos(9.0 * y))


def test_a_ball_of_samples_is_as_far_from_edges_and_corners_as_a_ball() -> None:
    radius = 0.03
    ball = sampled_ball(radius)
    pair = SampledPair(Sheets.against(BOX, ball), ball)
    random = np.random.default_rng(1)
    kinds = np.zeros(4, int)
    while kinds.sum() < 150:
        c = random.uniform(-0.09, 0.09, 3)
        off = c - np.clip(c, -HALF, HALF)
        far = float(np.linalg.norm(off))
        # On a side, an edge or a corner.
        kind = int(np.count_nonzero(off))
        if not 0.028 < far < 0.034 or kinds[kind] >= 50:
            continue
        kinds[kind] += 1
        R = Rotation.random(random_state=random).as_matrix()
        assert pair.contacts(R, c, 1)[0][0].gap == pytest.approx(far - radius, abs=2e-7)


def test_a_corner_is_as_far_from_a_terrain_as_the_nearest_point_of_it() -> None:
    g = np.linspace(-0.4, 0.4, 161)
    x, y = np.meshgrid(g, g, indexing="ij")
    land = Sampled.from_grid(np.stack([x, y, bump(x, y)], axis=-1))
    pair = SampledPair(land, Sheets.against(BOX, land))
    for seed in range(12):
        random = np.random.default_rng(seed)
        # On a corner, the diagonal about upright.
        R = Rotation.align_vectors([[0, 0, -1.0]], [[1.0, 1, 1]])[0].as_matrix()
        R = Rotation.from_rotvec(random.normal(0.0, 0.1, 3)).as_matrix() @ R
        at = random.uniform(-0.15, 0.15, 2)
        corner = R @ np.full(3, HALF)
        c = np.array([*at, float(bump(*at)) + 1e-3]) - corner

        def far(p: Array, tip: Array = c + corner) -> float:
            return float(np.linalg.norm(np.array([p[0], p[1], bump(p[0], p[1])]) - tip))

        nearest = minimize(far, at, method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-14}).fun
        assert min(f.gap for f in pair.contacts(R, c, 2)[0]) == pytest.approx(nearest, abs=2e-7)


def dropped(shape: Shape, offset: float) -> tuple[Array, Array]:
    """Velocity and spin of a ball that falls upon the edge of a box."""
    system = System("edge", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=0.2, inertia=(7.2e-5,) * 3, at=(HALF + offset, 0.004, HALF + 0.03))
    system.free("flight", system.ground, ball)
    system.contact(
        "edge", system.ground.shape(BOX), ball.shape(shape), treatment="continuous",
        stiffness=1e10, restitution=1.0, points=2,
    )  # fmt: skip
    run = system.simulate(0.03, initial={"flight": {"velocity": (0.0, 0.0, -1.0)}}, output=2)
    return run["ball.velocity"][-1], run["ball.angular_velocity"][-1]


@pytest.mark.parametrize("offset", [-0.001, 0.01, 0.02])
def test_a_ball_of_samples_bounces_off_an_edge_like_a_ball(offset: float) -> None:
    velocity, spin = dropped(sampled_ball(0.03), offset)
    exact, _ = dropped(Sphere(0.03), offset)
    # Normals through so many samples are good to 1e-4 rad; the ball turns by 2 m v r / I of that.
    assert velocity == pytest.approx(exact, abs=2.0 * 1e-4)
    assert np.linalg.norm(velocity) == pytest.approx(1.0, abs=1e-6)
    assert spin == pytest.approx(np.zeros(3), abs=2.0 * 0.2 * 0.03 / 7.2e-5 * 1e-4)
    if offset > 0.0:
        # Mirrored at the line from the edge to the middle of the ball, where it touches.
        turn = 2.0 * np.arcsin(offset / 0.03)
        assert velocity == pytest.approx([np.sin(turn), 0.0, np.cos(turn)], abs=5e-3)
