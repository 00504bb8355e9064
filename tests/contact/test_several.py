"""Several contact points of one pair: rest on two bulbs and on four corners, and what is said with too few points."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.contact import Plane, Sampled
from bellcrank.contact.search import SampledPair
from bellcrank.integrate import SimulationError
from bellcrank.model import System

G = 9.81


def dumbbell(number: int = 1500) -> Sampled:
    """A body of revolution about x with two bulbs, 0.2 m long; not convex."""
    x = np.linspace(-1.0, 1.0, 4001)
    radius = 0.25 * np.sqrt(1.0 - x * x) * (1.0 + 1.2 * x * x)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(radius)))])
    spacing = np.sqrt(2.0 * np.pi * np.trapezoid(radius, along) / number)
    rings = int(along[-1] / spacing)
    points, normals = [], []
    for k in range(rings):
        s = (k + 0.5) * along[-1] / rings
        at, r = float(np.interp(s, along, x)), float(np.interp(s, along, radius))
        step = np.array([s - 1e-4, s + 1e-4])
        dx, dr = (float(np.diff(np.interp(step, along, f))[0]) for f in (x, radius))
        count = max(5, round(2.0 * np.pi * r / spacing))
        turn = 2.0 * np.pi * (np.arange(count) + 0.5 * (k % 2)) / count
        c, s_ = np.cos(turn), np.sin(turn)
        points.append(np.stack([np.full(count, at), r * c, r * s_], axis=1))
        normals.append(np.stack([np.full(count, -dr), dx * c, dx * s_], axis=1))
    return Sampled(0.1 * np.vstack(points), np.vstack(normals))


def box(sides: tuple[float, float, float], per_side: int) -> Sampled:
    """The vertices of a box with squares on its faces, normals averaged at edges and corners."""
    t = np.linspace(-0.5, 0.5, per_side)
    a, b = (m.ravel() for m in np.meshgrid(t, t, indexing="ij"))
    normals: dict[tuple[float, ...], np.ndarray] = {}
    for axis in range(3):
        for sign in (-0.5, 0.5):
            for u, v in zip(a, b, strict=True):
                p = np.insert([u, v], axis, sign)
                key = tuple(np.round(p, 9))
                normals[key] = normals.get(key, np.zeros(3)) + 2.0 * sign * np.eye(3)[axis]
    return Sampled(np.array(list(normals)) * sides, np.array(list(normals.values())))


def put_down(
    shape: Sampled, points: int, height: float, inertia: tuple[float, float, float], **more: object
) -> System:
    system = System("rest")
    body = system.body("body", mass=1.0, inertia=inertia, at=(0.0, 0.0, height))
    system.free("flight", system.ground, body)
    given = {"stiffness": 1e6, "restitution": 0.1, "friction": 0.3, "treatment": "continuous", **more}
    system.contact("floor", system.ground.plane(), body.shape(shape), points=points, **given)  # type: ignore[arg-type]
    return system


def test_dumbbell_rests_on_both_bulbs() -> None:
    system = put_down(dumbbell(), 2, 0.03, (4e-4, 3e-3, 3e-3))
    run = system.simulate(0.5, formulation="recursive", tolerance=1e-7, output=50, integrator="dop853")
    forces = [float(run[f"floor {k}.normal_force"][-1]) for k in (1, 2)]
    assert forces == pytest.approx([0.5 * G, 0.5 * G], rel=5e-3)
    places = sorted(float(run[f"floor {k}.point.x"][-1]) for k in (1, 2))
    assert places[0] < -0.05
    assert places[1] > 0.05
    assert abs(float(run["body.velocity.z"][-1])) < 1e-5


def test_one_point_is_not_enough_for_two_bulbs() -> None:
    system = put_down(dumbbell(), 1, 0.03, (4e-4, 3e-3, 3e-3))
    with pytest.raises(
        SimulationError, match=r"contact 'floor': the surfaces touch at more than one point.*points=2"
    ):
        system.simulate(0.5, formulation="recursive", tolerance=1e-7, integrator="dop853")


def test_box_finds_its_four_corners() -> None:
    """The search alone, flat and tilted: corners, held where they are."""
    sides = (0.2, 0.1, 0.06)
    pair = SampledPair(box(sides, 7), Plane())
    for tilt in (0.0, 0.01):
        c, s = np.cos(tilt), np.sin(tilt)
        R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        found, clearance = pair.contacts(R, -0.0299 * R[:, 2], 4)
        corners = {tuple(np.sign(f.x[:2]).astype(int)) for f in found if f.gap < 0.01}
        assert clearance > 0.0
        assert {f.hold[0] for f in found} <= {0.0, -1.0}
        deepest = min(found, key=lambda f: f.gap)
        assert np.abs(deepest.x) == pytest.approx([0.1, 0.05, 0.03], abs=1e-12)
        if tilt == 0.0:
            assert len(corners) == 4
            assert [f.gap for f in found] == pytest.approx([-1e-4] * 4, abs=1e-12)


def test_box_at_rest_presses_with_a_quarter_of_its_weight_at_each_corner() -> None:
    system = put_down(box((0.2, 0.1, 0.06), 5), 4, 0.03, (1e-3, 4e-3, 4e-3))
    run = system.simulate(0.4, formulation="recursive", tolerance=1e-6, output=20, integrator="dop853")
    forces = [float(run[f"floor {k}.normal_force"][-1]) for k in (1, 2, 3, 4)]
    assert forces == pytest.approx([0.25 * G] * 4, rel=1e-5)
    assert abs(float(run["body.velocity.z"][-1])) < 1e-7


def test_box_on_a_sampled_floor_is_held_at_its_corners() -> None:
    """The corners are those of the smaller body, whichever comes first."""
    t = np.linspace(-0.3, 0.3, 13)
    x, y = np.meshgrid(t, t, indexing="ij")
    floor = Sampled.from_grid(np.stack([x, y, np.zeros_like(x)], axis=2))
    shape = box((0.2, 0.12, 0.1), 6)
    found, _ = SampledPair(floor, shape).contacts(np.eye(3), np.array([0.013, 0.007, 0.0499]), 4)
    assert [f.gap for f in found] == pytest.approx([-1e-4] * 4, abs=1e-9)
    assert {tuple(np.sign(f.y[:2]).astype(int)) for f in found} == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    assert np.abs([f.y for f in found]) == pytest.approx(np.tile([0.1, 0.06, 0.05], (4, 1)), abs=1e-12)
    for f in found:
        assert f.normal == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
