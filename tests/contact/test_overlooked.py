"""Contacts that could be missed or come out wrong without a word: thin, uneven, hollow and along lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.contact.test_several import box, put_down

from bellcrank.contact import Sampled, Sphere
from bellcrank.contact.search import SampledPair
from bellcrank.integrate import SimulationError
from bellcrank.model import System
from bellcrank.result.result import Result

G = 9.81


def pipe(radius: float, length: float, around: int, along: int, side: float = 1.0) -> Sampled:
    """An open cylinder about z; side: 1 outside, -1 inside."""
    t, z = np.meshgrid(
        2.0 * np.pi * np.arange(around) / around,
        np.linspace(-0.5 * length, 0.5 * length, along),
        indexing="ij",
    )
    n = np.stack([np.cos(t), np.sin(t), 0.0 * z], axis=2).reshape(-1, 3)
    return Sampled(radius * n + np.outer(z.ravel(), [0.0, 0.0, 1.0]), side * n)


@pytest.mark.parametrize(("rows", "columns"), [(20, 20), (20, 10), (30, 10), (12, 40)])
def test_normals_over_grids_with_uneven_spacing(rows: int, columns: int) -> None:
    """Three rows of neighbours do not tell a cubic across them; it must not be solved for from noise."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, rows), np.linspace(-1.0, 1.0, columns), indexing="ij")
    z = 0.1 * np.sin(2.0 * x) * np.cos(2.0 * y)
    slope = -0.2 * np.cos(2.0 * x) * np.cos(2.0 * y), 0.2 * np.sin(2.0 * x) * np.sin(2.0 * y)
    n = np.stack([*slope, np.ones_like(x)], axis=2).reshape(-1, 3)
    n /= np.linalg.norm(n, axis=1)[:, None]
    surface = Sampled(np.stack([x, y, z], axis=2).reshape(-1, 3), n)
    assert np.linalg.norm(surface._fitted[1] - n, axis=1).max() < 0.05
    # Curvatures are 0.4 at most.
    assert np.abs(surface._fitted[2]).max() < 0.45


@pytest.mark.parametrize("aspect", [1, 2, 4])
def test_curvature_of_a_pipe_with_uneven_spacing(aspect: int) -> None:
    surface = pipe(0.5, 2.0, 60, 64 // aspect)
    assert np.linalg.norm(surface._fitted[1] - surface.normals, axis=1).max() < 2e-3
    assert np.abs(np.linalg.norm(surface._fitted[2], axis=(1, 2)) - 2.0).max() < 0.1


@pytest.mark.parametrize("thickness", [0.05, 0.01, 0.002])
def test_the_other_side_of_a_thin_plate_does_not_count(thickness: float) -> None:
    """Samples of both sides lie closer together than those of one side; the gap to a ball is known."""
    import trimesh

    mesh = trimesh.creation.box(extents=(0.5, 0.5, thickness))
    for _ in range(4):
        mesh = mesh.subdivide()
    pair = SampledPair(Sampled.from_mesh(mesh.vertices, mesh.faces), Sphere(0.02))
    for gap in (0.01, 1e-4, -1e-4, -1e-3):
        for side in (1.0, -1.0):
            place = np.array([0.013, 0.017, side * (0.5 * thickness + 0.02 + gap)])
            found = pair.contacts(np.eye(3), place, 1)[0][0]
            assert found.gap == pytest.approx(gap, abs=1e-12)
            assert found.normal == pytest.approx([0.0, 0.0, side], abs=1e-12)


def lying(points: int) -> Result:
    system = System("roller", gravity=(0.0, 0.0, -G))
    body = system.body("body", mass=1.0, inertia=(8e-3, 8e-3, 1e-3), at=(0.0, 0.0, 0.0501))
    system.free("flight", system.ground, body)
    lain = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    shape = body.shape(pipe(0.05, 0.3, 60, 31), rotation=lain)
    system.contact(
        "floor", system.ground.plane(), shape, 0.1, 0.3, treatment="continuous", stiffness=1e6, points=points
    )
    return system.simulate(0.4, tolerance=1e-7, output=20)


def test_cylinder_of_samples_rests_on_both_ends_of_its_line() -> None:
    run = lying(2)
    assert float(run["body.position.z"][-1]) == pytest.approx(0.05 - (0.5 * G / 1e6) ** (2.0 / 3.0), abs=1e-8)
    assert sorted(float(run[f"floor {k}.point.x"][-1]) for k in (1, 2)) == pytest.approx(
        [-0.15, 0.15], abs=1e-6
    )
    for k in (1, 2):
        assert float(run[f"floor {k}.normal_force"][-1]) == pytest.approx(0.5 * G, rel=1e-5)


def test_one_point_is_not_enough_for_a_line() -> None:
    with pytest.raises(
        SimulationError, match=r"contact 'floor': the surfaces touch at more than one point.*points=2"
    ):
        lying(1)


def test_two_points_are_not_enough_for_a_box() -> None:
    """It falls over the two: a corner without a point sinks, which is said with its place."""
    system = put_down(box((0.2, 0.1, 0.06), 5), 2, 0.0301, (1e-3, 4e-3, 4e-3))
    with pytest.raises(SimulationError, match=r"contact 'floor': at \(.*\) .* more points") as caught:
        system.simulate(
            1.0, tolerance=1e-6, output=400, initial={"flight": {"angular_velocity": (0.1, -0.05, 0.0)}}
        )
    until = caught.value.result.time[-1]
    assert 0.0 <= caught.value.time - until <= 1.0 / 399


def groove(points: int) -> Result:
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 81), np.linspace(-0.05, 0.05, 41), indexing="ij")
    floor = Sampled.from_grid(np.stack([x, y, np.abs(x)], axis=2))
    return dropped(floor, (0.0, 0.0, 0.0295), (0.0, 0.0, 0.0), 0.6, gravity=G, restitution=0.2, points=points)


def dropped(
    floor: Sampled,
    at: tuple[float, float, float],
    velocity: tuple[float, float, float],
    duration: float,
    gravity: float = 0.0,
    **contact: object,
) -> Result:
    """A ball of 0.1 kg, radius 0.02 m."""
    system = System("ball", gravity=(0.0, 0.0, -gravity))
    ball = system.body("ball", mass=0.1, inertia=(1.6e-5,) * 3, at=at)
    system.free("flight", system.ground, ball)
    given = {"stiffness": 1e6, "treatment": "continuous", **contact}
    system.contact("floor", system.ground.shape(floor), ball.sphere(0.02), **given)  # type: ignore[arg-type]
    return system.simulate(duration, tolerance=1e-8, output=400, initial={"flight": {"velocity": velocity}})


def test_ball_rests_on_both_sides_of_a_groove() -> None:
    """Each side carries weight / sqrt 2."""
    sunk = (0.1 * G / math.sqrt(2.0) / 1e6) ** (2.0 / 3.0)
    assert float(groove(2)["ball.position.z"][-1]) == pytest.approx(math.sqrt(2.0) * (0.02 - sunk), abs=1e-9)
    with pytest.raises(SimulationError, match=r"more than one point.*points=2"):
        groove(1)


def test_ball_in_a_pipe_flies_straight_until_it_touches() -> None:
    """Long steps through the wall must not bend the flight before it; the wall gives no angular momentum."""
    run = dropped(
        pipe(0.03, 0.2, 80, 40, -1.0), (0.0, 0.005, 0.0), (0.5, 0.0, 0.0), 0.5, restitution=0.9, stiffness=1e7
    )
    touch = next(e.time for e in run.events if e.name == "floor: touch")
    assert touch == pytest.approx(math.sqrt(0.01**2 - 0.005**2) / 0.5, rel=1e-4)
    x, y, u, v = (np.asarray(run[f"ball.{what}.{c}"]) for what in ("position", "velocity") for c in "xy")
    assert x * v - y * u == pytest.approx(-0.0025 * np.ones_like(x), rel=2e-3)
    assert np.diff(np.asarray(run["energy.total"])).max() < 1e-12
    assert np.hypot(x, y).max() < 0.0107


def test_peg_stays_in_its_hole() -> None:
    """A search within another event must not keep the next one from being called for."""
    system = System("peg", gravity=(0.0, 0.0, 0.0))
    peg = system.body("peg", mass=1.0, inertia=(1e-3, 1e-3, 4e-4))
    system.free("flight", system.ground, peg)
    hole = system.ground.shape(pipe(0.03, 0.2, 80, 40, -1.0))
    system.contact(
        "hole", hole, peg.capsule(0.028, 0.04), 0.9, treatment="continuous", stiffness=1e7, points=2
    )
    run = system.simulate(0.02, tolerance=1e-8, output=400, initial={"flight": {"velocity": (1.0, 0.0, 0.0)}})
    # Two points, each K d^2.5 / 2.5 at the deepest.
    deepest = (2.5 * 0.5 / 2e7) ** 0.4
    assert np.abs(np.asarray(run["peg.position.x"])).max() == pytest.approx(0.002 + deepest, rel=0.03)
    assert np.diff(np.asarray(run["energy.total"])).max() < 1e-4
