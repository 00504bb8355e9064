"""Flat sides and straight lines on each other: boxes, capsules and cylinders, in both treatments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import linprog, minimize, minimize_scalar
from scipy.spatial import HalfspaceIntersection
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import Box, Capsule, ClosestKernel, Cylinder, Ellipsoid, Shape, Superellipsoid
from bellcrank.contact.side_by_side import places
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads

G = 9.81
LYING = Rotation.from_rotvec([np.pi / 2, 0, 0])


def on(
    below: Shape, above: Shape, at, turn=None, under=None, inertia=(0.004, 0.004, 0.006), **contact
) -> bc.System:
    system = bc.System("one on the other", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=inertia, at=at)
    system.free("flight", system.ground, body)
    turns = [np.eye(3) if r is None else r.as_matrix() for r in (under, turn)]
    system.contact(
        "c",
        system.ground.shape(below, (0, 0, 0), turns[0]),
        body.shape(above, (0, 0, 0), turns[1]),
        **contact,
    )
    return system


PRESSING = {"treatment": "continuous", "restitution": 0.3, "friction": 0.3, "young": 1e8}


def found(a: Shape, b: Shape, R, c):
    """(gap, point of b, what it counts) of all places that are there."""
    return [
        (float(p.gap), np.array(p.point_b, dtype=float), float(p.room))
        for p in places(a, b, np.asarray(R).tolist(), tuple(float(x) for x in c))
        if p.room > 0
    ]


def half_spaces(half, R=None, c=None) -> np.ndarray:
    """Rows (n, -d) of n . x <= d for a box."""
    R = np.eye(3) if R is None else R
    c = np.zeros(3) if c is None else c
    normals = np.vstack([R.T, -R.T])
    return np.column_stack([normals, -(normals @ c + np.tile(half, 2))])


def test_boxes_have_a_place_within_each_other_where_they_overlap_and_none_else() -> None:
    rng, overlaps = np.random.default_rng(0), 0
    a = Box(0.3, 0.2, 0.1)
    for k in range(150):
        half = rng.uniform(0.05, 0.3, 3)
        R = Rotation.random(random_state=k).as_matrix()
        c = rng.normal(size=3)
        c *= rng.uniform(0.2, 0.5) / np.linalg.norm(c)
        rows = np.vstack([half_spaces(np.array([0.3, 0.2, 0.1])), half_spaces(half, R, c)])
        # The largest ball in both; negative where there is none.
        room = -linprog([0, 0, 0, -1], np.column_stack([rows[:, :3], np.ones(12)]), -rows[:, 3],
                        bounds=[(None, None)] * 4).fun  # fmt: skip
        gaps = [g for g, _, _ in found(a, Box(*half), R, c)]
        if room > 1e-6:
            overlaps += 1
            assert min(gaps) < 0.0
        elif room < -1e-6:
            assert min(gaps, default=1.0) > 0.0
    assert 30 < overlaps < 140


@pytest.mark.parametrize("seed", range(20))
def test_sides_that_lie_on_each_other_touch_at_the_corners_of_their_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half, half_b = rng.uniform(0.1, 0.3, 3), rng.uniform(0.1, 0.3, 3)
    yaw = Rotation.from_rotvec([0, 0, rng.uniform(0, np.pi)]).as_matrix()
    c = np.array([*rng.uniform(-0.15, 0.15, 2), half[2] + half_b[2] - 1e-4])
    rows = np.vstack([half_spaces(half), half_spaces(half_b, yaw, c)])
    flat = rows[np.abs(rows[:, 2]) < 0.5][:, [0, 1, 3]]
    ball = linprog([0, 0, -1], np.column_stack([flat[:, :2], np.ones(len(flat))]), -flat[:, 2],
                   bounds=[(None, None)] * 3)  # fmt: skip
    expected = HalfspaceIntersection(flat, ball.x[:2]).intersections
    there = found(Box(*half), Box(*half_b), yaw, c)
    assert all(gap == pytest.approx(-1e-4, rel=1e-9) for gap, _, _ in there)
    # The outline turns once around.
    assert sum(w for _, _, w in there) == pytest.approx(4.0, rel=1e-9)
    for corner in expected:
        assert min(np.linalg.norm(x[:2] - corner) for _, x, _ in there) < 1e-6
    for _, x, _ in there:
        assert np.linalg.norm(expected - x[:2], axis=1).min() < 1e-6


def support(shape: Shape, n: np.ndarray) -> float:
    if isinstance(shape, Box):
        return float(np.abs(n) @ np.array(shape.half_lengths))
    if isinstance(shape, Cylinder):
        return shape.half_length * abs(n[2]) + shape.radius * float(np.hypot(n[0], n[1]))
    if isinstance(shape, Ellipsoid):
        return float(np.linalg.norm(n * [shape.a, shape.b, shape.c]))
    assert isinstance(shape, Superellipsoid)
    p, q = (t / (t - 1.0) for t in shape.exponents)
    x, y, z = np.abs(n * [shape.a, shape.b, shape.c])
    return float(((x**p + y**p) ** (q / p) + z**q) ** (1 / q))


@pytest.mark.parametrize(
    "other", [Cylinder(0.1, 0.15), Ellipsoid(0.2, 0.1, 0.15), Superellipsoid(0.2, 0.1, 0.15, (6.0, 4.0))]
)
def test_a_box_and_convex_shapes_agree_with_a_search_over_all_normals(other: Shape) -> None:
    rng, box = np.random.default_rng(4), Box(0.3, 0.2, 0.1)
    search, kinds = ClosestKernel(box, other), set()
    for k in range(12):
        R = Rotation.random(random_state=k).as_matrix()
        signs = rng.choice([-1, 0, 1], 3, p=[0.4, 0.2, 0.4])
        signs = signs if signs.any() else np.array([0, 0, 1])
        n = np.abs(rng.normal(size=3)) * signs
        n /= np.linalg.norm(n)
        c = signs * [0.3, 0.2, 0.1] + n * (support(other, -R.T @ n) + rng.uniform(-0.01, 0.01))

        def nearer(v, R=R, c=c):
            n = v / np.linalg.norm(v)
            return support(box, n) + support(other, -R.T @ n) - n @ c

        starts = np.vstack([rng.normal(size=(300, 3)), np.eye(3), -np.eye(3), R.T, -R.T])
        best = sorted(starts, key=nearer)[:5]
        options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 2000}
        expected = -min(minimize(nearer, v, method="Nelder-Mead", options=options).fun for v in best)
        here = search(np.eye(3), np.zeros(3), R, c)
        assert here.distance == pytest.approx(expected, abs=1e-8)
        kinds.add(int((np.abs(here.normal) > 1e-6).sum()))
    assert kinds == {1, 2, 3}


def test_a_box_and_a_capsule_agree_with_a_search_along_the_core() -> None:
    rng = np.random.default_rng(1)
    for k in range(100):
        half, radius, length = rng.uniform(0.05, 0.3, 3), rng.uniform(0.02, 0.1), rng.uniform(0.05, 0.3)
        R, c = Rotation.random(random_state=k).as_matrix(), rng.uniform(-0.6, 0.6, 3)

        def away(s, half=half, R=R, c=c):
            return float(np.linalg.norm(np.maximum(np.abs(c + s * R[:, 2]) - half, 0.0)))

        near = minimize_scalar(away, bounds=(-length, length), method="bounded", options={"xatol": 1e-12})
        expected = min(near.fun, away(-length), away(length))
        if expected < 1e-6:
            continue
        gaps = [g for g, _, _ in found(Box(*half), Capsule(radius, length), R, c)]
        assert min(gaps) == pytest.approx(expected - radius, abs=2e-6)


BOX, DRUM, ROD = Box(0.1, 0.1, 0.1), Cylinder(0.1, 0.1), Capsule(0.05, 0.08)
RESTING = {
    "box on an equal box": (BOX, BOX, None, None, 0.2),
    "cylinder on a box": (Box(0.2, 0.2, 0.1), DRUM, None, None, 0.2),
    "cylinder on an equal one": (DRUM, DRUM, None, None, 0.2),
    "cylinder lying on a box": (Box(0.3, 0.3, 0.1), DRUM, LYING, None, 0.2),
    "capsule on a box": (Box(0.3, 0.3, 0.1), ROD, LYING, None, 0.15),
}


@pytest.mark.parametrize("name", RESTING)
def test_what_falls_tilted_comes_to_rest(name: str) -> None:
    below, above, turn, under, height = RESTING[name]
    tilted = Rotation.from_rotvec([0.02, 0.0 if turn else 0.01, 0.0]) * (turn or Rotation.identity())
    result = on(below, above, (0, 0, height + 0.005), tilted, under, **PRESSING).simulate(0.6, tolerance=1e-6)
    # It has sunk in by micrometres, and may still roll along its axis.
    assert result["body.position.z"][-1] == pytest.approx(height, abs=3e-5)
    assert result["c.normal_force"][-1] == pytest.approx(G, rel=1e-3)
    assert np.linalg.norm(result["body.angular_velocity"][-1]) < 5e-3


def sliding_over_an_edge(t: float) -> tuple[float, float, float]:
    """x, z and tilt of a box without friction at 1 m/s over an edge, from when its middle is above it, after t.

    s along its side from the edge to its middle, turned by f: T = m ((s' + h f')^2 + s^2 f'^2) / 2 + I f'^2 / 2 and
    V = m g (h cos f - s sin f).
    """
    h, inertia = 0.1, 0.004

    def rates(_, y):
        s, f, ds, df = y
        M = np.array([[1.0, h], [h, h * h + s * s + inertia]])
        pull = G * np.array([np.sin(f), s * np.cos(f) + h * np.sin(f)])
        return [ds, df, *np.linalg.solve(M, pull + np.array([s * df * df, -2.0 * s * ds * df]))]

    s, f, _, _ = solve_ivp(rates, (0, t), [0, 0, 1, 0], rtol=1e-11, atol=1e-12).y[:, -1]
    return s * np.cos(f) + h * np.sin(f), h * np.cos(f) - s * np.sin(f), f


def test_a_box_slides_over_an_edge_and_tips() -> None:
    system = on(Box(0.3, 0.3, 0.1), BOX, (0.1, 0, 0.2), restitution=0.0)
    result = system.simulate(0.3, initial={"flight": {"velocity": (1, 0, 0)}}, output=31)
    x, z, _ = sliding_over_an_edge(0.1)
    # One of two boxes is taken narrower by 1e-7, here by 3e-8 m.
    assert result["body.position.x"][-1] == pytest.approx(0.3 + x, abs=1e-7)
    assert result["body.position.z"][-1] == pytest.approx(0.1 + z, abs=1e-7)
    assert np.ptp(np.asarray(result["body.position.z"])[:20]) < 1e-9
    # Corners over the edge at 0.1 s; from there on the edge bears where it crosses the box.
    taken = [c.time for c in result.contact_changes if c.what == "release"]
    np.testing.assert_allclose(taken, [0.1, 0.1, 0.2, 0.2], atol=1e-6)


@pytest.mark.parametrize("steps", [{}, {"impacts": "stepping", "step": 1e-3}])
def test_edges_that_cross_strike(steps: dict) -> None:
    """Two beams stand on an edge across each other: after the fall of 0.05 m it goes up at half the speed."""
    edge = 0.1 * 2**0.5
    turns = Rotation.from_rotvec([np.pi / 4, 0, 0]), Rotation.from_rotvec([0, np.pi / 4, 0])
    below, above = Box(0.3, 0.1, 0.1), Box(0.1, 0.3, 0.1)
    system = on(below, above, (0, 0, 2 * edge + 0.05), turns[1], turns[0], restitution=0.5)
    result = system.simulate(0.15, output=3, **steps)
    speed = (2 * G * 0.05) ** 0.5
    left = 0.15 - speed / G
    assert len(result.impacts) == 1
    assert result["body.velocity.z"][-1] == pytest.approx(
        0.5 * speed - G * left, abs=1e-6 if not steps else 0.01
    )


@pytest.mark.parametrize("seed", [0, 6, 9])
def test_rigid_boxes_that_tumble_stay_outside_each_other(seed: int) -> None:
    """Among their impacts are those of edges that cross, which lie on no side."""
    rng, halves = np.random.default_rng(seed), (np.array([0.1, 0.12, 0.15]), np.array([0.08, 0.1, 0.2]))
    system = bc.System("two", gravity=(0, 0, 0))
    shapes, start = [], {}
    for k, name in enumerate("pq"):
        turn = Rotation.random(random_state=seed + 99 * k).as_matrix()
        body = system.body(
            name, mass=1.0 - 0.3 * k, inertia=(0.005, 0.006, 0.007), at=(0, 0, 0.45 * k), rotation=turn
        )
        system.free(f"f{name}", system.ground, body)
        shapes.append(body.shape(Box(*halves[k])))
        start[f"f{name}"] = {"velocity": (0, 0, 0.5 - 1.3 * k), "angular_velocity": rng.normal(size=3) * 2}
    system.contact("c", *shapes, restitution=1.0)
    result = system.simulate(0.8, initial=start, output=20, tolerance=1e-8)
    assert len(result.impacts) > 1
    energy = np.asarray(result["energy.total"])
    assert np.ptp(energy) < 1e-7 * energy[0]
    for t in range(len(result)):
        rows = np.vstack(
            [
                half_spaces(half, result[f"{name}.rotation"][t], result[f"{name}.position"][t])
                for half, name in zip(halves, "pq", strict=True)
            ]
        )
        # The largest ball in both; negative where there is none.
        room = -linprog([0, 0, 0, -1], np.column_stack([rows[:, :3], np.ones(12)]), -rows[:, 3],
                        bounds=[(None, None)] * 4).fun  # fmt: skip
        assert room < 1e-6


def block(lean: float, **contact) -> bc.System:
    """A block of 0.1 x 0.1 x 0.3 m on a box, leaning on the lower edge at x = 0.05."""
    turn = Rotation.from_rotvec([0, lean, 0])
    at = np.array([0.05, 0, 0.1]) - turn.apply([0.05, 0, -0.15])
    inertia = ((0.01 + 0.09) / 12, (0.01 + 0.09) / 12, 0.02 / 12)
    return on(Box(0.5, 0.5, 0.1), Box(0.05, 0.05, 0.15), tuple(at), turn, inertia=inertia, **contact)


@pytest.mark.parametrize("beyond", [-0.02, 0.02])
@pytest.mark.parametrize("treatment", ["impulsive", "continuous"])
def test_a_block_topples_beyond_the_critical_angle(treatment: str, beyond: float) -> None:
    chosen = (
        {"friction": 1.0, "restitution": 0.0} if treatment == "impulsive" else {**PRESSING, "friction": 1.0}
    )
    result = block(np.arctan(1 / 3) + beyond, **chosen).simulate(0.1)
    assert np.sign(result["body.angular_velocity.y"][-1]) == np.sign(beyond)


def test_a_rocking_block_comes_down_when_housner_says() -> None:
    # I0 f'' = -m g R sin(alpha - f): Housner (1963), before it is made linear for slender blocks.
    lean, alpha, arm = 0.15, np.arctan(1 / 3), np.hypot(0.05, 0.15)
    pivot = 0.1 / 12 + arm**2

    def down(_, y):
        return y[0]

    down.terminal = True
    fall = solve_ivp(lambda _, y: [y[1], -G * arm / pivot * np.sin(alpha - y[0])], (0, 2), [lean, 0.0],
                     events=down, rtol=1e-11, atol=1e-12)  # fmt: skip
    result = block(lean, friction=5.0, restitution=0.0).simulate(0.3)
    assert result.impacts[0].time == pytest.approx(fall.t_events[0][0], abs=1e-6)


@pytest.mark.parametrize("treatment", ["impulsive", "continuous"])
def test_a_stack_of_boxes_stands(treatment: str) -> None:
    system = bc.System("stack", gravity=(0, 0, -G))
    chosen = (
        {"friction": 0.5, "restitution": 0.0} if treatment == "impulsive" else {**PRESSING, "friction": 0.5}
    )
    below = system.ground.plane()
    for k, name in enumerate(("lower", "upper")):
        body = system.body(name, mass=1.0, inertia=(0.004,) * 3, at=(0.01 * k, 0, 0.1 + 0.2 * k))
        system.free(f"{name} flight", system.ground, body)
        own = body.box(0.1, 0.1, 0.1)
        system.contact(f"under {name}", below, own, **chosen)
        below = own
    result = system.simulate(0.4 if treatment == "impulsive" else 0.8)
    contacts = system.contacts if treatment == "impulsive" else system.forces
    for name, weight in (("lower", 2 * G), ("upper", G)):
        borne = sum(result[f"{c}.force.z"][-1] for c in contacts if c.startswith(f"under {name}"))
        assert borne == pytest.approx(weight, rel=1e-4)
    assert abs(result["upper.position.x"][-1] - 0.01) < 1e-4


@pytest.mark.parametrize("name", ["capsule on a box", "box on an equal box"])
def test_what_falls_tilted_comes_to_rest_by_impacts(name: str) -> None:
    below, above, turn, under, height = RESTING[name]
    tilted = Rotation.from_rotvec([0.02, 0.0 if turn else 0.01, 0.0]) * (turn or Rotation.identity())
    system = on(below, above, (0, 0, height + 0.005), tilted, under, restitution=0.3, friction=0.3)
    result = system.simulate(0.3, output=4)
    assert result["body.position.z"][-1] == pytest.approx(height, abs=1e-7)
    assert max(abs(result[f"body.angular_velocity.{c}"][-1]) for c in "xyz") < 1e-6
    assert sum(result[f"{c}.force.z"][-1] for c in system.contacts) == pytest.approx(G, rel=1e-6)


def test_what_stands_on_a_rim_strikes_in_a_patch() -> None:
    system = on(BOX, DRUM, (0, 0, 1))
    assert not system.contacts
    assert [group.pair for group in system.collisions.values()] == [True]
    with pytest.raises(ModelError, match="is solved by steps"):
        system.simulate(0.1)
    assert len(on(DRUM, ROD, (0, 0, 1)).contacts) == 1


@pytest.mark.parametrize("other", [ROD, DRUM, BOX])
def test_laws_at_points_say_what_flat_sides_take(other: Shape) -> None:
    for law in ({"stiffness": 1e6}, {"law": "hertz", "young": 1e8}, {"method": "points"}):
        with pytest.raises(ModelError, match=r"may touch along sides, lines and rims.*law='foundation'"):
            on(BOX, other, (0, 0, 1), treatment="continuous", **law)
    system = on(BOX, other, (0, 0, 1), **PRESSING)
    assert dumps(loads(dumps(system))) == dumps(system)
