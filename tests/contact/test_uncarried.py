"""No place overlaps without a force and without a word: bumps, feet, grooves; and patches a few points stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from tests.contact.test_conserved import closed_cylinder, off, torus, touches
from tests.contact.test_overlooked import pipe
from tests.contact.test_several import box

from bellcrank.contact import Ellipsoid, Implicit, Plane, Sampled, Sphere, Superellipsoid
from bellcrank.contact.facing import no_corners
from bellcrank.contact.found import Found
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Shape
from bellcrank.errors import ModelError
from bellcrank.integrate import SimulationError
from bellcrank.model import System
from bellcrank.result.result import Result

Array = NDArray[np.float64]
G = 9.81
CENTRES = ((-0.06, -0.05), (0.06, -0.05), (0.0, 0.06))
DEPTHS = (1e-3, 7e-4, 4e-4)
WIDE = 0.02
TALL = 0.03


def height(x: Array, y: Array) -> Array:
    """Three bumps downwards, the first of which reaches lowest."""
    z = np.zeros_like(x)
    for (a, b), depth in zip(CENTRES, DEPTHS, strict=True):
        z = z - (TALL + depth) * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2.0 * WIDE**2))
    return z


def downwards(x: Array, y: Array, z: Array) -> Sampled:
    return Sampled.from_grid(np.stack([x, y, z], axis=2)[::-1])


def square(half: float, number: int) -> tuple[Array, Array]:
    t = np.linspace(-half, half, number)
    x, y = np.meshgrid(t, t, indexing="ij")
    return x, y


def bumps() -> Sampled:
    x, y = square(0.1, 61)
    return downwards(x, y, height(x, y))


def upwards(bend: float) -> Sampled:
    x, y = square(0.3, 61)
    return Sampled.from_grid(np.stack([x, y, -0.5 * bend * (x * x + y * y)], axis=2))


PARTNERS: dict[str, tuple[Shape, float]] = {
    "plane": (Plane(), 0.0),
    "sphere": (Sphere(200.0), 200.0),
    "ellipsoid": (Ellipsoid(200.0, 200.0, 150.0), 150.0),
    "superellipsoid": (Superellipsoid(2.0, 2.0, 1.0, (4.0, 4.0)), 1.0),
    "implicit": (Implicit(lambda x, y, z: x * x / 9e4 + y * y / 9e4 + z * z / 4e4 - 1.0, size=310.0), 200.0),
    "flat samples": (upwards(0.0), 0.0),
    "curved samples": (upwards(1.0 / 300.0), 0.0),
}


def let_down(pair: SampledPair, points: int, top: float, overlaps: Array) -> list[Found]:
    """All three bumps overlap in the end."""
    found: list[Found] = []
    for overlap in overlaps:
        z = -(TALL + DEPTHS[0]) + float(overlap)
        found = pair.contacts(np.eye(3), np.array([0.0, 0.0, z - top]), points, list(found))[0]
    return found


@pytest.mark.parametrize("name", PARTNERS)
def test_bumps_without_a_point_are_an_error(name: str) -> None:
    """The third overlaps less than both that have a point."""
    other, top = PARTNERS[name]
    pair = SampledPair(bumps(), other)
    overlaps = np.linspace(-1e-3, 9e-4, 20)
    with pytest.raises(ModelError, match=r"touch at more than one point.*points=\d or more"):
        let_down(pair, 1, top, overlaps)
    with pytest.raises(ModelError, match=r"at \(.*, -0.0304\) .* overlap as well.*more points \(points=3\)"):
        let_down(pair, 2, top, overlaps)
    for points in (3, 5):
        found = [f for f in let_down(pair, points, top, overlaps) if f.gap < 0.0]
        assert len(found) == 3
    if name == "plane":
        lowest = [minimize(lambda p: float(height(p[0], p[1])), c, tol=1e-14).fun for c in CENTRES]
        plane = -(TALL + DEPTHS[0]) + overlaps[-1]
        assert sorted(f.gap for f in found) == pytest.approx(sorted(v - plane for v in lowest), abs=2e-6)


@pytest.mark.parametrize("apart", [2.5, 3.3])
def test_bumps_a_few_samples_apart(apart: float) -> None:
    """They were taken for one, and the second carried nothing though there was a point for it.

    Where samples do not tell a spike from a ridge it has none still, which is said.
    """
    s = 0.2 / 60 * math.sqrt(2.0)
    x, y = square(0.1, 61)
    z = np.zeros_like(x)
    for side, tall in ((-1.0, 5.5e-3), (1.0, 5e-3)):
        z = z - tall * np.exp(-((x - side * 0.5 * apart * s) ** 2 + y * y) / (2.0 * (0.3 * apart * s) ** 2))
    pair, low = SampledPair(downwards(x, y, z), Plane()), float(z.min())
    heights = low + np.linspace(-1e-3, 8e-4, 10)
    if apart < 3.0:
        right = float(z[x > 0.0].min())
        gaps = sorted(f.gap for f in _lowered(pair, 2, heights))
        assert gaps == pytest.approx([-8e-4, right - low - 8e-4], abs=0.02 * s)
    else:
        with pytest.raises(ModelError, match=r"overlap as well.*give the contact more points \(points="):
            _lowered(pair, 2, heights)
    with pytest.raises(ModelError, match=r"touch at more than one point.*points=2 or more"):
        pair.contacts(np.eye(3), np.array([0.0, 0.0, low + 8e-4]), 1)


@pytest.mark.parametrize("radius", [0.02, 0.008, 0.006])
def test_ball_in_a_groove_a_few_samples_wide(radius: float) -> None:
    """It lay on one side alone where both touch less than four distances of samples from each other."""
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 81), np.linspace(-0.05, 0.05, 41), indexing="ij")
    pair = SampledPair(Sampled.from_grid(np.stack([x, y, np.abs(x)], axis=2)), Sphere(radius))
    at = np.array([1e-4, 0.0, math.sqrt(2.0) * (radius - 3e-4)])
    found = pair.contacts(np.eye(3), at, 2)[0]
    sides = [(at[2] + side * at[0]) / math.sqrt(2.0) - radius for side in (-1.0, 1.0)]
    assert [f.gap for f in found] == pytest.approx(sorted(sides), abs=1e-9)
    with pytest.raises(ModelError, match=r"touch at more than one point.*points=2 or more"):
        pair.contacts(np.eye(3), at, 1)


def feet(centres: tuple[tuple[float, float], ...]) -> Sampled:
    """Flat feet of 32 mm, 30 mm high, with walls 12 mm wide."""
    x, y = square(0.1, 61)
    z = np.zeros_like(x)
    for a, b in centres:
        share = np.clip((0.028 - np.maximum(np.abs(x - a), np.abs(y - b))) / 0.012, 0.0, 1.0)
        z = np.minimum(z, -TALL * share * share * (3.0 - 2.0 * share))
    return downwards(x, y, z)


ROW = ((-0.07, 0.0), (0.0, 0.0), (0.07, 0.0))
FIVE = ((-0.07, -0.07), (0.07, -0.07), (-0.07, 0.07), (0.07, 0.07), (0.0, 0.0))


@pytest.mark.parametrize("centres", [CENTRES, ROW, FIVE])
@pytest.mark.parametrize("other", [Plane(), upwards(0.0)], ids=["plane", "samples"])
def test_every_flat_foot_has_a_point(centres: tuple[tuple[float, float], ...], other: Shape) -> None:
    pair = SampledPair(feet(centres), other)
    heights = np.linspace(-TALL - 1e-3, -TALL + 5e-4, 6)
    number = len(centres)
    with pytest.raises(ModelError, match=r"overlap as well.*give the contact more points \(points="):
        _lowered(pair, number - 1, heights)
    for points in (number, number + 1):
        found = [f for f in _lowered(pair, points, heights) if f.gap < 0.0]
        feet_of = {
            min(range(number), key=lambda k, f=f: math.dist(centres[k], f.x[:2]))  # type: ignore[misc]
            for f in found
        }
        assert len(feet_of) == number


def _lowered(pair: SampledPair, points: int, heights: Array) -> list[Found]:
    found: list[Found] = []
    for z in heights:
        found = pair.contacts(np.eye(3), np.array([0.0, 0.0, z]), points, list(found))[0]
    return found


LYING = Rotation.from_rotvec([0.0, 0.5 * np.pi, 0.0])
PATCHES: dict[str, tuple[Sampled, Rotation]] = {
    "box": (box((0.2, 0.1, 0.06), 7), Rotation.identity()),
    "cylinder on end": (closed_cylinder(0.05, 0.12, 48, 13), Rotation.identity()),
    "ring": (torus(0.08, 0.03, 60, 24), Rotation.identity()),
    "pipe": (pipe(0.05, 0.3, 60, 31), LYING),
    "pipe between samples": (pipe(0.05, 0.3, 60, 31), Rotation.from_rotvec([0.0, 0.0, 0.03]) * LYING),
}


@pytest.mark.parametrize("points", [2, 3, 4, 8])
@pytest.mark.parametrize("name", PATCHES)
def test_a_few_points_stand_for_a_patch(name: str, points: int) -> None:
    """All of it overlaps in one piece: corners, lines and rings with fewer points than samples are no error."""
    surface, turn = PATCHES[name]
    R = turn.as_matrix()
    n = R[:, 2]
    low = float((surface.points @ n).min())
    pair = SampledPair(surface, Plane())
    for overlap in (1e-6, 3e-4):
        found: list[Found] = []
        for d in np.linspace(-1e-3, overlap, 5):
            found = pair.contacts(R, (low + d) * n, points, list(found))[0]
        if overlap > 1e-5:
            assert sum(f.gap < 0.0 for f in found) >= min(points, 4)


def settled(points: int, duration: float) -> Result:
    system = System("bumps")
    body = system.body("body", mass=1.0, inertia=(3e-3, 3e-3, 5e-3), at=(0.0, 0.0, TALL + 2e-3))
    system.free("flight", system.ground, body)
    system.contact(
        "floor", system.ground.plane(), body.shape(bumps()), 0.1, 0.3,
        treatment="continuous", stiffness=1e6, points=points,
    )  # fmt: skip
    return system.simulate(duration, tolerance=1e-7, output=40)


@pytest.mark.parametrize("points", [1, 2])
def test_a_run_ends_where_a_bump_touches_without_a_point(points: int) -> None:
    """At the time at which the next bump touches, by an integration with all of them."""
    touch = sorted(e.time for e in settled(3, 0.1).events if e.name.endswith("touch"))
    with pytest.raises(SimulationError, match=r"contact 'floor': .*points=\d") as stopped:
        settled(points, 0.3)
    assert touch[points - 1] < stopped.value.time < touch[points] + 2e-4


def test_all_three_bumps_carry() -> None:
    """Forces of all of them hold the weight at its middle."""
    run = settled(3, 0.5)
    force = np.array([float(run[f"floor {k}.normal_force"][-1]) for k in (1, 2, 3)])
    place = np.array([[float(run[f"floor {k}.point.{axis}"][-1]) for axis in "xy"] for k in (1, 2, 3)])
    assert (force > 1.0).all()
    assert force.sum() == pytest.approx(G, rel=1e-3)
    middle = [float(run[f"body.position.{axis}"][-1]) for axis in "xy"]
    assert force @ place / force.sum() == pytest.approx(middle, abs=1e-4)


@pytest.mark.parametrize("number", [5, 7, 12])
def test_corners_are_what_spans_a_box(number: int) -> None:
    """Qhull leaves out what lies on edges and sides."""
    surface = box((0.2, 0.1, 0.06), number)
    assert sorted(np.flatnonzero(~no_corners(surface))) == sorted(ConvexHull(surface.points).vertices)


def test_lines_of_a_cylinder_are_no_edges() -> None:
    """Between its samples the surface is lower."""
    assert not no_corners(pipe(0.05, 0.3, 60, 31)).any()
    assert not no_corners(torus(0.08, 0.03, 60, 24)).any()


def landing(seed: int, restitution: float, friction: float, duration: float) -> Result:
    """A box of samples lands tilted on a plane, with four points."""
    random = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(0.2 * random.normal(size=3)).as_matrix()
    system = System("landing")
    body = system.body("body", mass=1.0, inertia=(1e-3, 2.6e-3, 3.2e-3), at=(0.0, 0.0, 0.08))
    system.free("flight", system.ground, body)
    system.contact(
        "floor", system.ground.plane(), body.shape(box((0.2, 0.1, 0.06), 7), rotation=turn), restitution, friction,
        treatment="continuous", stiffness=1e6, points=4,
    )  # fmt: skip
    start = {"flight": {"angular_velocity": tuple(random.normal(scale=2.0, size=3))}}
    return system.simulate(duration, tolerance=1e-8, output=60, initial=start)


@pytest.mark.parametrize("seed", range(8))
def test_a_box_lands_on_its_four_corners(seed: int) -> None:
    """Samples on its edges took the points that its corners needed: five of eight were refused."""
    run = landing(seed, 0.3, 0.3, 0.8)
    assert float(run["body.position.z"][-1]) == pytest.approx(
        0.03 - (0.25 * G / 1e6) ** (2.0 / 3.0), abs=1e-6
    )
    for k in range(1, 5):
        assert float(run[f"floor {k}.normal_force"][-1]) == pytest.approx(0.25 * G, rel=1e-2)


@pytest.mark.parametrize("seed", range(8))
def test_an_elastic_box_keeps_its_energy_on_four_points(seed: int) -> None:
    run = landing(seed, 1.0, 0.0, 0.5)
    assert touches(run) > 0
    assert off(run) < 1e-5
