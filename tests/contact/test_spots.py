"""Capsules, cylinders and boxes on a plane: along a line or with a whole side, without chatter."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import Box, Capsule, ClosestKernel, Cylinder, Plane, Sphere, closest_numeric
from bellcrank.files import dumps, loads

G = 9.81


def on_floor(shape, at, turn=None, **contact) -> bc.System:
    system = bc.System("floor", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.004, 0.006), at=at)
    system.free("flight", system.ground, body)
    turned = np.eye(3) if turn is None else turn.as_matrix()
    chosen = {"restitution": 0.3, "friction": 0.3, "stiffness": 1e6, **contact}
    system.contact(
        "c", system.ground.plane(), body.shape(shape, (0, 0, 0), turned), treatment="continuous", **chosen
    )
    return system


LYING = Rotation.from_rotvec([np.pi / 2, 0, 0])
CASES = {
    "cylinder on its side": (Cylinder(0.08, 0.1), LYING, 0.08, 2),
    "cylinder on its end": (Cylinder(0.08, 0.1), Rotation.identity(), 0.1, 4),
    "capsule on its side": (Capsule(0.05, 0.1), LYING, 0.05, 2),
    "box on a side": (Box(0.1, 0.08, 0.05), Rotation.identity(), 0.05, 4),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tilt", [(0.05, 0.0), (0.03, 0.04)])
def test_what_falls_tilted_comes_to_rest(name: str, tilt: tuple[float, float]) -> None:
    shape, turn, height, bearing = CASES[name]
    tilted = Rotation.from_rotvec([*tilt, 0.0]) * turn
    result = on_floor(shape, (0, 0, height + 0.03), tilted).simulate(1.2)
    # Each of the spots that bear carries its part of the weight.
    depth = (G / bearing / 1e6) ** (2 / 3)
    assert result["body.position.z"][-1] == pytest.approx(height - depth, abs=2e-8)
    assert max(abs(result[f"body.angular_velocity.{c}"][-1]) for c in "xyz") < 1e-5
    assert result.run.steps < 5000


@pytest.mark.parametrize("around", [0.0, 0.3, 0.785, 2.0])
def test_a_cylinder_rocks_alike_every_way(around: float) -> None:
    # Linear springs at a rim: sum k R^2 cos^2 = 2 k R^2 whichever way it leans; gravity tips by m g h.
    k, radius, half, mass, inertia = 1e5, 0.08, 0.1, 1.0, 0.004
    small = 1e-5
    lean = Rotation.from_rotvec([small * np.cos(around), small * np.sin(around), 0.0])
    sunk = mass * G / (4 * k)
    system = on_floor(
        Cylinder(radius, half), (0, 0, half - sunk), lean, law="kelvin-voigt", damping=0.0, friction=0.0,
        stiffness=k, restitution=1.0,
    )  # fmt: skip
    result = system.simulate(0.05, output=2001, tolerance=1e-10)
    axis = np.array([np.cos(around), np.sin(around)])
    w = sum(a * np.asarray(result[f"body.angular_velocity.{c}"]) for a, c in zip(axis, "xy", strict=True))
    t = np.asarray(result.time)
    k_up = np.flatnonzero((w[:-1] > 0) & (w[1:] <= 0))
    crossings = t[k_up] + w[k_up] / (w[k_up] - w[k_up + 1]) * (t[1] - t[0])
    # Springs normal to a fixed floor at points that go with the body: they lean against no side force.
    expected = np.sqrt((2 * k * radius**2 - mass * G * half) / inertia)
    assert 2 * np.pi / np.diff(crossings).mean() == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("name", CASES)
def test_elastic_tumbling_keeps_energy(name: str) -> None:
    shape, turn, height, _ = CASES[name]
    tilted = Rotation.from_rotvec([0.4, 0.3, 0.2]) * turn
    system = on_floor(shape, (0, 0, height + 0.15), tilted, restitution=1.0, friction=0.0, law="hertz")
    result = system.simulate(1.5, tolerance=1e-9, output=1501)
    flying = (
        sum(np.asarray(result[f"{force.name}.penetration"]).clip(0) for force in system.forces.values()) == 0
    )
    assert np.count_nonzero(np.diff(flying.astype(int))) >= 4
    energy = np.asarray(result["energy.total"])[flying]
    assert np.ptp(energy) < 1e-6 * energy[0]


def test_a_cylinder_rolls_on_evenly() -> None:
    system = on_floor(Cylinder(0.08, 0.1), (0, 0, 0.08 - (G / 2 / 1e6) ** (2 / 3)), LYING)
    start = {"velocity": (0.4, 0, 0), "angular_velocity": (0, 5.0, 0)}
    result = system.simulate(2.0, initial={"flight": start}, output=201)
    assert np.ptp(np.asarray(result["body.position.z"])) < 1e-6
    # Held by friction from the start; it rolls at a radius less by the overlap.
    assert np.ptp(np.asarray(result["body.velocity.x"])) < 2e-3
    assert np.ptp(np.asarray(result["body.angular_velocity.z"])) < 1e-9


def test_shapes_touch_a_plane_at_ends_rims_and_corners() -> None:
    for shape, spots in (
        (Sphere(0.05), 1),
        (Capsule(0.05, 0.1), 2),
        (Cylinder(0.05, 0.1), 8),
        (Box(0.1, 0.1, 0.1), 8),
    ):
        assert len(on_floor(shape, (0, 0, 1)).forces) == spots


def test_files_carry_the_whole_shape() -> None:
    text = dumps(on_floor(Box(0.05, 0.1, 0.2), (0, 0, 1)))
    assert "half_lengths: [0.05, 0.1, 0.2]" in text
    again = loads(text)
    assert len(again.forces) == 8
    assert dumps(again) == text


def test_a_box_and_a_ball() -> None:
    box, ball = Box(0.3, 0.2, 0.1), Sphere(0.05)
    search, random = ClosestKernel(box, ball), np.random.default_rng(3)
    for _ in range(200):
        c = random.uniform(-0.5, 0.5, 3)
        found = search(np.eye(3), np.zeros(3), np.eye(3), c)
        low = -np.array([0.3, 0.2, 0.1])
        if (np.abs(c) < -low).all():
            expected = -float((-low - np.abs(c)).min())
        else:
            nearest = minimize(
                lambda x, c=c: ((x - c) ** 2).sum(), np.zeros(3), bounds=[(a, -a) for a in low], tol=1e-14
            )
            expected = float(np.linalg.norm(nearest.x - c))
        assert found.distance == pytest.approx(expected - 0.05, abs=1e-6)
        assert np.linalg.norm(found.normal) == pytest.approx(1.0)
        gap = np.asarray(found.normal) @ (np.asarray(found.point_b) - np.asarray(found.point_a))
        assert gap == pytest.approx(found.distance, abs=1e-12)


def test_a_box_above_a_plane_and_a_ball() -> None:
    for shape in (Plane(), Sphere(0.1)):
        apart = closest_numeric(
            shape, np.eye(3), (0, 0, 0), Box(1, 1, 1), np.eye(3), (0.0, 0.0, 3.0)
        ).distance
        assert apart == pytest.approx(2.0 if isinstance(shape, Plane) else 1.9)


def striking(shape, at, turn, **contact) -> bc.System:
    system = bc.System("floor", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.004, 0.006), at=at)
    system.free("flight", system.ground, body)
    system.contact("c", system.ground.plane(), body.shape(shape, (0, 0, 0), turn.as_matrix()), **contact)
    return system


@pytest.mark.parametrize("name", ["cylinder on its side", "capsule on its side", "box on a side"])
def test_what_falls_tilted_comes_to_rest_by_impacts(name: str) -> None:
    shape, turn, height, bearing = CASES[name]
    tilted = Rotation.from_rotvec([0.05, 0.0, 0.0]) * turn
    system = striking(shape, (0, 0, height + 0.03), tilted, restitution=0.3, friction=0.3)
    result = system.simulate(1.0, output=21)
    assert result["body.position.z"][-1] == pytest.approx(height, abs=1e-8)
    assert max(abs(result[f"body.angular_velocity.{c}"][-1]) for c in "xyz") < 1e-6
    forces = np.array([result[f"{name}.force.z"][-1] for name in system.contacts])
    assert forces.sum() == pytest.approx(G, rel=1e-6)
    assert np.count_nonzero(forces > 1e-6) == bearing


def test_a_dumbbell_of_balls_strikes_as_a_capsule_does() -> None:
    # A capsule meets a plane with its round ends alone.
    turn = Rotation.from_rotvec([0.3, 0.2, 0.0]) * LYING
    results = [
        striking(Capsule(0.05, 0.1), (0, 0, 0.3), turn, restitution=0.6, friction=0.2).simulate(
            0.6, output=301
        )
    ]
    system = bc.System("floor", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.004, 0.006), at=(0, 0, 0.3))
    system.free("flight", system.ground, body)
    for side in (1.0, -1.0):
        ball = body.sphere(0.05, at=side * 0.1 * turn.as_matrix()[:, 2])
        system.contact(f"c {side:g}", system.ground.plane(), ball, restitution=0.6, friction=0.2)
    results.append(system.simulate(0.6, output=301))
    one, two = (np.asarray(result["body.position.z"]) for result in results)
    assert len(results[0].impacts) == len(results[1].impacts) >= 2
    assert np.abs(one - two).max() < 1e-9


def test_files_carry_whole_shapes_that_strike() -> None:
    system = striking(Capsule(0.05, 0.1), (0, 0, 0.3), LYING)
    again = loads(dumps(system))
    assert len(again.contacts) == 2
    assert dumps(again) == dumps(system)
