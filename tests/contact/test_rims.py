"""The rims of open sampled surfaces: where contact ends, and edges that bodies roll over, fall through and rest on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from bellcrank import System
from bellcrank.contact import Capsule, Ellipsoid, Sampled, Sphere
from bellcrank.contact.search import SampledPair
from bellcrank.errors import ModelError
from contact.slow_search import SlowPair

Array = NDArray[np.float64]
G, RADIUS, HALF = 9.81, 0.05, 0.2
EYE = np.eye(3)


def plate(number: int = 9, half: float = HALF, uneven: bool = False) -> Sampled:
    t = np.linspace(-1.0, 1.0, number)
    along = np.sin(0.5 * np.pi * t) if uneven else t
    x, y = np.meshgrid(half * along, half * t, indexing="ij")
    return Sampled.from_grid(np.stack([x, y, np.zeros_like(x)], axis=2))


def ways(number: int) -> Array:
    k = np.arange(number) + 0.5
    z, turn = 1.0 - 2.0 * k / number, np.pi * (1.0 + np.sqrt(5.0)) * k
    around = np.sqrt(1.0 - z * z)
    return np.stack([around * np.cos(turn), around * np.sin(turn), z], axis=1)


def rings(number: int, top: float, inner: int = 0) -> tuple[Array, Array]:
    """Distance from the pole and turn of samples in rings, each with six more than the last."""
    rows = [(0.0, 0.0)] if inner == 0 else []
    for k in range(max(inner, 1), number + 1):
        rows += [(top * k / number, 2.0 * np.pi * j / (6 * k)) for j in range(6 * k)]
    out, turn = np.array(rows).T
    return out, turn


def disc(number: int, inner: int = 0) -> Array:
    r, turn = rings(number, 1.0, inner)
    return np.stack([r * np.cos(turn), r * np.sin(turn), np.zeros_like(r)], axis=1)


def flat(points: Array) -> Sampled:
    return Sampled(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)))


def cap(number: int, top: float) -> Sampled:
    angle, turn = rings(number, top)
    p = np.stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), np.cos(angle)], axis=1)
    return Sampled(p, p)


def holed(radius: float, width: float) -> Sampled:
    """A flat ring of triangles around a round hole."""
    rows, turns = 9, 24
    r, turn = np.meshgrid(radius + width * np.arange(rows) / (rows - 1), np.arange(turns), indexing="ij")
    angle = 2.0 * np.pi * turn / turns
    points = np.stack([r * np.cos(angle), r * np.sin(angle), 0.0 * r], axis=2).reshape(-1, 3)
    place = np.arange(rows * turns).reshape(rows, turns)
    a, b = place[:-1], np.roll(place[:-1], -1, axis=1)
    c, d = place[1:], np.roll(place[1:], -1, axis=1)
    faces = np.concatenate([np.stack(f, axis=2).reshape(-1, 3) for f in ((a, c, b), (b, c, d))])
    return Sampled.from_mesh(points, faces)


def on_table(
    shape: Sampled, at: tuple[float, float, float], radius: float = RADIUS, **contact: object
) -> System:
    system = System("edge", gravity=(0.0, 0.0, -G))
    ball = system.body("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3, at=at)
    system.free("flight", system.ground, ball)
    system.contact(
        "table", system.ground.shape(shape), ball.sphere(radius), treatment="continuous", **contact
    )  # type: ignore[arg-type]
    return system


def to_rectangle(c: Array, half: float) -> tuple[float, Array]:
    """Distance of a point from a flat square, and its closest point."""
    q = np.array([*np.clip(c[:2], -half, half), 0.0])
    return float(np.linalg.norm(c - q)), q


PLACES = [
    (0.0, 0.0, 0.6), (0.95, 0.03, 0.5), (1.2, 0.03, 0.4), (1.45, 0.05, 0.1), (1.3, -0.72, 0.3), (1.2, 1.25, 0.3),
    (1.05, 1.02, 0.48), (1.2, 1.03, 0.3), (1.3, 0.5, -0.3), (0.93, 0.95, 0.5), (1.51, 0.22, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("uneven", [False, True])
def test_ball_over_a_plate_is_as_far_as_from_a_rectangle(uneven: bool) -> None:
    """Beyond edges and corners, and from below around them."""
    surface = plate(11, 1.0, uneven)
    fast, slow = SampledPair(surface, Sphere(0.5)), SlowPair(surface, Sphere(0.5))
    for place in PLACES:
        c = np.array(place)
        distance, q = to_rectangle(c, 1.0)
        found = fast.contacts(EYE, c, 1)[0][0]
        assert found.gap == pytest.approx(distance - 0.5, abs=1e-14)
        assert found.x == pytest.approx(q, abs=1e-12)
        assert found.normal == pytest.approx((c - q) / distance, abs=1e-10)
        assert slow.refined(EYE, c, found.x, found.y).gap == pytest.approx(distance - 0.5, abs=1e-14)


@pytest.mark.parametrize("first", [False, True])
def test_sampled_ball_over_a_plate_is_as_far_as_from_a_rectangle(first: bool) -> None:
    """Here the smaller body's samples lead, and the rim is the other's."""
    u, surface = ways(2000), plate(11, 1.0)
    ball = Sampled(0.5 * u, u)
    assert ball.rims == ()
    pair = SampledPair(surface, ball) if first else SampledPair(ball, surface)
    slow = SlowPair(surface, ball) if first else SlowPair(ball, surface)
    # Deep below the plate samples of the ball lie behind it, which is told.
    for place in [p for p in PLACES if p[2] >= 0.0]:
        c = np.array(place)
        distance, q = to_rectangle(c, 1.0)
        origin = c if first else -c
        found = pair.contacts(EYE, origin, 1)[0][0]
        assert found.gap == pytest.approx(distance - 0.5, abs=3e-6)
        assert (found.x if first else found.y) == pytest.approx(q, abs=3e-4)
        again = slow.refined(EYE, origin, found.x, found.y)
        assert again.gap == pytest.approx(found.gap, abs=1e-12)


def test_ball_over_a_turned_hexagon_is_as_far_as_from_the_polygon() -> None:
    """Beside its corners only the corner itself may be told of the next side; rounding must not make that a notch."""
    angle = 0.3 + np.pi / 3.0 * np.arange(7)
    corners = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    part = np.linspace(0.0, 1.0, 9)[:-1]
    ring = np.concatenate([a + part[:, None] * (b - a) for a, b in pairwise(corners)])
    points = np.concatenate([*(ring * k / 8.0 for k in range(3, 9)), [[0.0, 0.0, 0.0]], corners[:6] / 6.0])
    rim = np.arange(len(points) - 7 - len(ring), len(points) - 7)
    surface = Sampled(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), rims=(rim,))
    ball, random = Sphere(0.2), np.random.default_rng(6)
    pair = SampledPair(surface, ball)
    for _ in range(150):
        turn, out = random.uniform(0.0, 2.0 * np.pi), random.uniform(0.8, 1.15)
        c = np.array([out * np.cos(turn), out * np.sin(turn), random.uniform(0.1, 0.19)])
        sides = [(a, (b - a)) for a, b in pairwise(corners)]
        edges = [a + np.clip((c - a) @ w / (w @ w), 0.0, 1.0) * w for a, w in sides]
        inside = all(np.cross(w, c - a)[2] >= 0.0 for a, w in sides)
        far = c[2] if inside else min(float(np.linalg.norm(c - x)) for x in edges)
        found = pair.contacts(EYE, c, 2)[0]
        assert min(f.gap for f in found) == pytest.approx(far - 0.2, abs=1e-9)


def test_rim_of_a_disc_is_a_circle_of_fourth_order() -> None:
    errors = []
    for number in (6, 12, 24):
        surface = flat(disc(number))
        (loop,) = surface.rims or ()
        assert len(loop) == 6 * number
        pair, worst = SampledPair(surface, Sphere(0.3)), 0.0
        for k in range(25):
            turn, lean = 0.37 * k, 0.2 + 0.055 * k
            out, up = 1.0 + 0.3 * np.sin(lean), 0.3 * np.cos(lean)
            c = np.array([out * np.cos(turn), out * np.sin(turn), up])
            worst = max(worst, abs(pair.contacts(EYE, c, 1)[0][0].gap))
        errors.append(worst)
    assert errors[0] < 1e-5
    assert errors[2] < errors[0] / 100.0


def test_ellipsoid_over_the_rim_of_a_cap_touches_where_it_was_put() -> None:
    """An ellipsoid is put with a point of given normal over a point of the rim; nothing else is nearer."""
    axes, top, errors = np.array([0.5, 0.3, 0.2]), 1.2, []
    random = np.random.default_rng(5)
    cases = [
        (random.uniform(0.0, 6.0), random.uniform(0.3, 1.3), random.uniform(-0.005, 0.02), k)
        for k in range(8)
    ]
    for number in (6, 12, 24):
        pair, worst = SampledPair(cap(number, top), Ellipsoid(*axes)), 0.0
        for turn, lean, gap, k in cases:
            Q, _ = np.linalg.qr(np.random.default_rng(k).normal(size=(3, 3)))
            Q *= np.linalg.det(Q)
            x = np.array([np.sin(top) * np.cos(turn), np.sin(top) * np.sin(turn), np.cos(top)])
            out = np.array([np.cos(top) * np.cos(turn), np.cos(top) * np.sin(turn), -np.sin(top)])
            normal = np.cos(lean) * x + np.sin(lean) * out
            m = -(Q.T @ normal)
            y = axes**2 * m / np.sqrt(m @ (axes**2 * m))
            found = pair.contacts(Q, x + gap * normal - Q @ y, 1)[0][0]
            worst = max(worst, abs(found.gap - gap))
        errors.append(worst)
    assert errors[0] < 2e-4
    assert errors[2] < errors[0] / 60.0


@pytest.mark.parametrize("clear", [0.005, 0.3 * HALF / 4.0])
def test_ball_clear_of_the_rim_falls_freely(clear: float) -> None:
    start = (HALF + RADIUS + clear, 0.013, RADIUS)
    run = on_table(plate(), start, stiffness=1e7, law="hertz").simulate(
        0.2, formulation="recursive", tolerance=1e-9, output=40
    )
    assert float(run["ball.position.z"][-1]) == pytest.approx(RADIUS - 0.5 * G * 0.04, abs=1e-12)
    assert float(run["table.gap"].min()) > 0.9 * clear


def tipped(stiffness: float, friction: float) -> tuple[float, float, float]:
    """The angle at which a ball that starts over an edge leaves it [rad], that of the closed form; change of energy."""
    speed, depth = 0.02, (G / stiffness) ** (2.0 / 3.0)
    start = (HALF, 0.013, RADIUS - depth)
    system = on_table(plate(), start, stiffness=stiffness, law="hertz", friction=friction)
    rolls = {"angular_velocity": (0.0, speed / RADIUS, 0.0)} if friction else {}
    run = system.simulate(
        0.45 if friction else 0.35,
        initial={"flight": {"position": start, "velocity": (speed, 0.0, 0.0), **rolls}},
        tolerance=1e-8,
        formulation="recursive",
        output=1500,
    )
    last = int(np.flatnonzero(run["table.normal_force"] > 0.0)[-1])
    angle = np.arctan2(run["ball.position.x"] - HALF, run["ball.position.z"])[last]
    share = 1.4 if friction else 1.0
    cosine = (G * RADIUS + 0.5 * share * speed**2) / (G * RADIUS * (1.0 + 0.5 * share))
    # The gap is that from the edge, all the way.
    x, z = run["ball.position.x"] - HALF, run["ball.position.z"]
    assert np.abs(run["table.gap"] - (np.hypot(np.maximum(x, 0.0), z) - RADIUS))[:last].max() < 1e-9
    return float(angle), float(np.arccos(cosine)), float(np.ptp(run["energy.total"]))


def test_ball_that_slides_over_an_edge_leaves_it_at_the_angle_of_the_closed_form() -> None:
    """cos = 2/3 from rest. A softer edge is left later, since it springs back; energy stays."""
    misses = []
    for stiffness in (1e8, 1e10):
        angle, expected, energy = tipped(stiffness, 0.0)
        misses.append(angle - expected)
        assert energy < 1e-9 * G * RADIUS
    assert 0.0 < misses[1] < 0.3 * misses[0]
    assert misses[1] < np.radians(0.25)


def test_ball_that_rolls_over_an_edge_leaves_it_at_the_angle_of_the_closed_form() -> None:
    """cos = 10/17 from rest, for a solid ball that does not slip."""
    angle, expected, _ = tipped(1e9, 5.0)
    assert angle == pytest.approx(expected, abs=np.radians(0.6))


def test_small_ball_falls_through_a_hole_and_a_large_one_sits_on_its_rim() -> None:
    hole = 0.03
    surface = holed(hole, 0.06)
    assert sorted(len(loop) for loop in surface.rims or ()) == [24, 24]
    small = on_table(surface, (0.0, 0.0, 0.08), 0.025, stiffness=1e7, law="hertz")
    run = small.simulate(0.2, formulation="recursive", tolerance=1e-9, output=20)
    assert float(run["ball.position.z"][-1]) == pytest.approx(0.08 - 0.5 * G * 0.04, abs=1e-12)
    depth = np.sqrt(RADIUS**2 - hole**2)
    large = on_table(
        surface, (0.0, 0.0, depth + 0.001), stiffness=1e7, law="calibrated", restitution=0.2, points=4
    )
    run = large.simulate(0.8, formulation="recursive", tolerance=1e-8, output=20)
    forces = np.array([float(run[f"table {k}.normal_force"][-1]) for k in (1, 2, 3, 4)])
    z = float(run["ball.position.z"][-1])
    assert z == pytest.approx(depth, abs=1e-4)
    # Each of four points of the rim bears a quarter of the weight, along the way to the middle of the ball.
    assert forces == pytest.approx([0.25 * G * np.hypot(z, hole) / z] * 4, rel=1e-4)


def test_rims_are_found() -> None:
    assert [len(loop) for loop in plate(9).rims or ()] == [32]
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 15), np.linspace(-1.0, 1.0, 15), indexing="ij")
    points = np.stack([x, y, 0.0 * x], axis=2).reshape(-1, 3)
    assert [len(loop) for loop in flat(points).rims or ()] == [56]
    assert sorted(len(loop) for loop in flat(disc(12, 4)).rims or ()) == [24, 72]
    # Closed ones have none: bodies, and grids whose sides meet.
    turn, z = np.meshgrid(2.0 * np.pi * np.arange(24) / 24, np.linspace(-1.0, 1.0, 9), indexing="ij")
    tube = Sampled.from_grid(np.stack([np.cos(turn), np.sin(turn), z], axis=2), inside=(0.0, 0.0, 0.0))
    assert [len(loop) for loop in tube.rims or ()] == [24, 24]
    polar = np.pi * (np.arange(12) + 0.5) / 12
    turn, angle = np.meshgrid(2.0 * np.pi * np.arange(24) / 24, polar, indexing="ij")
    ball = np.stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), np.cos(angle)], axis=2)
    assert Sampled.from_grid(ball, inside=(0.0, 0.0, 0.0)).rims == ()
    scattered = np.random.default_rng(0).normal(size=(1500, 3))
    scattered /= np.linalg.norm(scattered, axis=1)[:, None]
    assert Sampled(scattered, scattered).rims == ()


def test_rims_may_be_given() -> None:
    points = disc(6)
    normals = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    loop = np.arange(len(points) - 36, len(points))
    given, found = Sampled(points, normals, rims=(loop,)), flat(points)
    c = np.array([1.1, 0.05, 0.2])
    pairs = [SampledPair(s, Sphere(0.2)).contacts(EYE, c, 1)[0][0].gap for s in (given, found)]
    assert pairs[0] == pytest.approx(pairs[1], abs=1e-12)
    with pytest.raises(ModelError, match="rim 0 of the sampled surface is no loop"):
        Sampled(points, normals, rims=(np.array([1, 2, 2]),))
    with pytest.raises(ModelError, match="rim 1 of the sampled surface names a sample that does not exist"):
        Sampled(points, normals, rims=(loop, np.array([1, 2, 500])))


def test_small_holes_of_a_mesh_are_covered_with_a_note() -> None:
    rows = 25
    x, y = np.meshgrid(np.arange(rows), np.arange(rows), indexing="ij")
    points = np.stack([x, y, 0.0 * x], axis=2).reshape(-1, 3)
    faces = [
        face
        for i in range(rows - 1)
        for j in range(rows - 1)
        for a in [rows * i + j]
        for face in ((a, a + rows, a + 1), (a + rows, a + rows + 1, a + 1))
        if (i, j) != (12, 12)
    ]
    surface = Sampled.from_mesh(points, np.array(faces))
    assert [len(loop) for loop in surface.rims or ()] == [4 * (rows - 1)]
    assert any("covered 1 hole" in note for note in surface.notes)
    found = SampledPair(surface, Sphere(0.3)).contacts(EYE, np.array([12.5, 12.5, 0.31]), 1)[0][0]
    assert found.gap == pytest.approx(0.01, abs=1e-9)


@pytest.mark.parametrize("points", [1, 3])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("number", [9, 65])
def test_what_comes_from_behind_is_refused_and_what_goes_by_the_rim_is_not(
    points: int, sampled: bool, number: int
) -> None:
    u = ways(2000)
    pair = SampledPair(plate(number), Sampled(RADIUS * u, u) if sampled else Sphere(RADIUS))
    for depth in (0.0501, 0.0495, 0.03):
        with pytest.raises(ModelError, match="from behind"):
            pair.contacts(EYE, np.array([0.01, 0.02, -depth]), points)
    far = pair.contacts(EYE, np.array([0.01, 0.02, -0.1]), points)[0]
    assert min(found.gap for found in far) > 0.0
    # A ball that has rolled off falls by beside the plate, its middle below the rim.
    for out, down in ((0.01, 0.0495), (0.01, 0.0485), (0.03, 0.04), (0.045, 0.02)):
        found = pair.contacts(EYE, np.array([HALF + out, 0.02, -down]), points)[0]
        nearest = min(found, key=lambda point: point.gap)
        assert nearest.gap == pytest.approx(np.hypot(out, down) - RADIUS, abs=1e-6)
        assert nearest.x == pytest.approx([HALF, 0.02, 0.0], abs=1e-4)


def test_dome_stands_on_its_rim() -> None:
    """A quarter of its weight at each of four points of it."""
    angle, turn = rings(8, 0.5 * np.pi)
    p = np.stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), np.cos(angle)], axis=1)
    system = System("dome", gravity=(0.0, 0.0, -G))
    dome = system.body("dome", mass=1.0, inertia=(0.006,) * 3, at=(0.0, 0.0, 0.001))
    system.free("flight", system.ground, dome)
    system.contact(
        "floor", system.ground.plane(), dome.shape(Sampled(0.1 * p, p)), treatment="continuous", stiffness=1e7,
        restitution=0.3, points=4,
    )  # fmt: skip
    run = system.simulate(0.3, formulation="recursive", tolerance=1e-8, output=10)
    forces = [float(run[f"floor {k}.normal_force"][-1]) for k in (1, 2, 3, 4)]
    assert forces == pytest.approx([0.25 * G] * 4, rel=1e-5)


def test_rod_across_an_edge_rests_on_the_rim_and_on_its_end() -> None:
    """Its straight part ends at 50 mm and goes beyond the rim at 200 mm: with its middle at 150 mm that bears twice."""
    system = System("rod", gravity=(0.0, 0.0, -G))
    rod = system.body("rod", mass=1.0, inertia=(5e-4, 5e-3, 5e-3), at=(0.15, 0.013, RADIUS))
    system.free("flight", system.ground, rod)
    lying = rod.shape(Capsule(RADIUS, 0.1), rotation=((0, 0, 1), (0, 1, 0), (-1, 0, 0)))
    system.contact(
        "table", system.ground.shape(plate(17)), lying, treatment="continuous", stiffness=1e8, restitution=0.2,
        friction=0.3, points=2,
    )  # fmt: skip
    run = system.simulate(0.3, formulation="recursive", tolerance=1e-8, output=10)
    forces = sorted(float(run[f"table {k}.normal_force"][-1]) for k in (1, 2))
    assert forces == pytest.approx([G / 3.0, 2.0 * G / 3.0], rel=2e-3)


def test_ball_slides_around_the_corner_of_a_plate() -> None:
    stiffness = 1e8
    start = (0.19, 0.185, RADIUS - (G / stiffness) ** (2.0 / 3.0))
    run = on_table(plate(), start, stiffness=stiffness, law="hertz").simulate(
        0.4,
        initial={"flight": {"position": start, "velocity": (0.05, 0.06, 0.0)}},
        formulation="recursive",
        tolerance=1e-8,
        output=500,
    )
    place = np.stack([run[f"ball.position.{axis}"] for axis in "xyz"], axis=1)
    last = int(np.flatnonzero(run["table.normal_force"] > 0.0)[-1])
    assert place[last, 0] > HALF
    assert place[last, 1] > HALF
    away = np.array([to_rectangle(c, HALF)[0] - RADIUS for c in place[:last]])
    assert np.abs(run["table.gap"][:last] - away).max() < 1e-12
    assert np.ptp(run["energy.total"]) < 1e-8 * G * RADIUS
