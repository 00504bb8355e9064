"""The rims of two open surfaces against each other: an edge against an edge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, minimize
from scipy.spatial.transform import Rotation

from bellcrank import System
from bellcrank.contact import Sampled
from bellcrank.contact.edges import DIRECTION, EDGES, FOUND, GAP, OUT_A, OUT_B, closest_edges, within_cones
from bellcrank.contact.pieces import SLOPES
from bellcrank.contact.refinement import RIMS, WIDE_PAD
from bellcrank.contact.search import SampledPair
from bellcrank.errors import ModelError
from bellcrank.integrate.failures import CallError
from contact.slow_search import SlowPair
from contact.test_rims import disc, flat, plate

Array = NDArray[np.float64]
Curve = Callable[[float], Array]
G, HALF, RADIUS = 9.81, 0.2, 0.05
UPRIGHT, ACROSS = (0.5 * np.pi, 0.0, 0.0), (0.0, 0.5 * np.pi, 0.0)
"""Turns of a flat plate: its upper edge along x, and its lower edge along y."""


def closest(
    a: Sampled, b: Sampled, R: Array, c: Array, x: Array, y: Array
) -> tuple[Array, Array, Array, bool]:
    """What two edges tell, the points in each own frame, and whether they hold each other."""
    pad = np.zeros(WIDE_PAD + EDGES)
    pad[SLOPES + 4 : SLOPES + 7], pad[SLOPES + 12 : SLOPES + 15] = x, y
    scratch = [np.zeros(4096, np.int64) for _ in range(4)]
    sides = []
    for s in (a, b):
        table = s.pieces.table
        assert isinstance(table.base, np.ndarray)
        sides += [table.base, s.pieces.nodes, s.tree.leaves, s.tree.width, s.spacing]
    how = closest_edges(np.concatenate([R.ravel(), c]), *sides, pad, *scratch, RIMS, WIDE_PAD, 1.0)
    assert how == FOUND
    holds = within_cones(pad, WIDE_PAD, 0.0)
    return pad[WIDE_PAD:], pad[SLOPES + 4 : SLOPES + 7], pad[SLOPES + 12 : SLOPES + 15], holds


def turn(*ways: float) -> Array:
    return Rotation.from_rotvec(np.array(ways)).as_matrix()


def between(u: Array, v: Array, d: Array) -> float:
    """Distance of two straight lines with directions u and v, d apart."""
    n = np.cross(u, v)
    return abs(float(d @ n)) / float(np.linalg.norm(n))


@pytest.mark.parametrize("lean", [0.2, 0.9, 0.5 * np.pi, 2.6])
@pytest.mark.parametrize("gap", [0.01, 1e-9, -0.004])
def test_straight_edges_are_as_far_apart_as_two_lines(lean: float, gap: float) -> None:
    """One plate lies flat, the other stands upright beside its edge, turned about the way from one to the other."""
    a = b = plate(9, HALF)
    R = turn(lean, 0.0, 0.0)
    c = np.array([2.0 * HALF + gap, 0.03, 0.02])
    told, x, y, holds = closest(a, b, R, c, np.array([HALF, 0.05, 0.0]), np.array([-HALF, 0.05, 0.0]))
    assert holds
    assert told[GAP] == pytest.approx(gap, abs=1e-14)
    assert told[DIRECTION : DIRECTION + 3] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    u, v = np.array([0.0, 1.0, 0.0]), R @ np.array([0.0, 1.0, 0.0])
    assert abs(told[GAP]) == pytest.approx(between(u, v, c - R @ [HALF, 0, 0] - [HALF, 0, 0]), abs=1e-14)
    assert R @ y + c - x == pytest.approx([gap, 0.0, 0.0], abs=1e-12)
    assert x[2] == pytest.approx(0.0, abs=1e-14)
    assert y[0] == pytest.approx(-HALF, abs=1e-14)


def test_direction_leads_out_of_both_sheets_or_the_edges_do_not_hold() -> None:
    """An edge in front of a sheet's edge, or behind that sheet's, is none that both could lean on."""
    a = b = plate(9, HALF)
    x, y = np.array([HALF, 0.03, 0.0]), np.array([-HALF, 0.05, 0.0])
    for pitch in np.linspace(0.05, 6.2, 23):
        # The second sheet turns about its own edge, which stays across the first one's, 1 mm beyond it.
        R = turn(0.5 * np.pi, 0.0, 0.0) @ turn(0.0, pitch, 0.0)
        c = np.array([HALF + 1e-3, 0.03, 0.0]) - R @ y
        told, _, _, holds = closest(a, b, R, c, x, y)
        # Its own way out is -x of its frame.
        way_out = R @ np.array([-1.0, 0.0, 0.0])
        n = told[DIRECTION : DIRECTION + 3]
        assert told[OUT_A : OUT_B + 1] == pytest.approx([n[0], -float(n @ way_out)], abs=1e-12)
        assert holds == (way_out[0] < 0.0)


def circle(turned: Array, middle: Array) -> Curve:
    return lambda t: turned @ np.array([np.cos(t), np.sin(t), 0.0]) + middle


def line(turned: Array, middle: Array) -> Curve:
    return lambda t: turned @ np.array([1.0, t, 0.0]) + middle


def least(one: Curve, other: Curve, start: tuple[float, float]) -> tuple[float, Array, Array]:
    """Closest points of two curves, by SciPy."""

    def square(t: Array) -> float:
        return float(np.sum((one(t[0]) - other(t[1])) ** 2))

    rough = minimize(square, np.array(start), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-20})
    found = minimize(square, rough.x, method="BFGS", options={"gtol": 1e-14})
    p, q = one(found.x[0]), other(found.x[1])
    return float(np.linalg.norm(q - p)), p, q


@pytest.mark.parametrize("straight", [False, True])
def test_round_edges_are_as_far_apart_as_circles(straight: bool) -> None:
    """Discs whose rims are told by 480 samples; SciPy minimises over both parameters."""
    ring = flat(disc(80, 76))
    other = plate(21, 1.0) if straight else ring
    random = np.random.default_rng(3)
    for _ in range(8):
        R = Rotation.random(random_state=random).as_matrix()
        one, two = random.uniform(0.0, 2.0 * np.pi), random.uniform(-0.5, 0.5)
        rim_b = line(R, np.zeros(3)) if straight else circle(R, np.zeros(3))
        # Beside each other, where the common perpendicular is known, and a little along both edges besides.
        u, v = np.array([-np.sin(one), np.cos(one), 0.0]), (rim_b(two + 1e-6) - rim_b(two - 1e-6)) / 2e-6
        n = np.cross(u, v)
        n /= np.linalg.norm(n)
        near = circle(np.eye(3), np.zeros(3))(one)
        c = near + random.uniform(0.002, 0.05) * n + 0.01 * (u - v) - rim_b(two)
        far, p, q = least(
            circle(np.eye(3), np.zeros(3)), line(R, c) if straight else circle(R, c), (one, two)
        )
        told, x, y, _ = closest(ring, other, R, c, near, R.T @ rim_b(two))
        assert abs(told[GAP]) == pytest.approx(far, abs=1e-9)
        assert x == pytest.approx(p, abs=1e-6)
        assert R @ y + c == pytest.approx(q, abs=1e-6)


def rectangles(R: Array, c: Array) -> tuple[Array, Array]:
    """Closest points of two flat squares, by SciPy; R, c: Pose of the second seen from the first."""
    found = lsq_linear(np.column_stack([np.eye(3)[:, :2], -R[:, :2]]), c, bounds=(-HALF, HALF), tol=1e-15).x
    return np.array([*found[:2], 0.0]), np.array([*found[2:], 0.0])


def test_plates_beside_each_other_are_as_far_apart_as_rectangles() -> None:
    """Where their edges are closest: near each other, far apart, and with other edges crossing behind."""
    pair = SampledPair(plate(9, HALF), plate(9, HALF))
    random, looked = np.random.default_rng(0), 0
    for _ in range(600):
        R, c = Rotation.random(random_state=random).as_matrix(), random.normal(size=3)
        c *= random.uniform(0.1, 0.5) / np.linalg.norm(c)
        x, y = rectangles(R, c)
        d = R @ y + c - x
        far = float(np.linalg.norm(d))
        edges = all(np.count_nonzero(np.abs(np.abs(p[:2]) - HALF) < 1e-7) == 1 for p in (x, y))
        if not edges or far < 1e-4:
            continue
        looked += 1
        found = pair.contacts(R, c, 1)[0][0]
        assert found.gap == pytest.approx(far, abs=1e-7)
        assert found.normal == pytest.approx(d / far, abs=1e-3)
        # Of several points, or from the last one, it is no other.
        assert min(f.gap for f in pair.contacts(R, c, 3, [found])[0]) == pytest.approx(found.gap, abs=1e-12)
    assert looked > 100


def test_program_follows_two_edges_as_the_search_does() -> None:
    """Round edges that are apart or press, up to as far as a program goes without other samples."""
    ring = flat(disc(12, 8))
    pair, slow, random = SampledPair(ring, ring), SlowPair(ring, ring), np.random.default_rng(8)
    looked = 0
    while looked < 12:
        R = Rotation.random(random_state=random).as_matrix()
        one, two = random.uniform(0.0, 2.0 * np.pi, size=2)
        x, y = (np.array([np.cos(t), np.sin(t), 0.0]) for t in (one, two))
        n = np.cross(np.array([-x[1], x[0], 0.0]), R @ np.array([-y[1], y[0], 0.0]))
        n *= np.sign(n @ x) / np.linalg.norm(n)
        if n @ x < 0.2 or n @ (R @ y) > -0.2:
            continue
        looked += 1
        for gap in (3e-3, -3e-3):
            c = x + gap * n - R @ y
            found = pair.contacts(R, c, 1)[0][0]
            assert found.gap == pytest.approx(gap, abs=2e-5)
            moved = c + 0.02 * random.normal(size=3) * ring.spacing
            again, same = pair.refined(R, moved, found.x, found.y), slow.refined(R, moved, found.x, found.y)
            assert same.gap == pytest.approx(again.gap, abs=1e-12)
            assert same.normal == pytest.approx(again.normal, abs=1e-9)


def test_bent_sheet_comes_down_on_the_edge_of_a_plate() -> None:
    """Over the plate its edge touches the side, beyond that the plate's edge; SciPy minimises over both curves."""
    t = np.linspace(-0.3, 0.3, 21)
    x, y = np.meshgrid(t, t, indexing="ij")
    sheet = Sampled.from_grid(np.stack([x, y, -0.5 * (x * x + y * y)], axis=2))
    pair, R = SampledPair(plate(21, 1.0), sheet), turn(np.pi - 0.5, 0.0, 0.0)
    lowest = pair.contacts(R, np.array([0.9, 0.0, 0.2]), 1)[0][0]
    assert lowest.x[0] == pytest.approx(0.9, abs=1e-4)
    for side, height in ((1.1, 0.12), (1.1, 0.1), (1.2, 0.09), (1.1, 0.085)):
        c = np.array([side, 0.0, height])

        def rim(s: float, c: Array = c) -> Array:
            return np.asarray(R @ np.array([s, -0.3, -0.5 * (s * s + 0.09)]) + c)

        far, p, _ = least(line(np.eye(3), np.zeros(3)), rim, (0.2, -0.1))
        found = pair.contacts(R, c, 1)[0][0]
        assert abs(found.gap) == pytest.approx(far, abs=2e-6)
        assert found.x == pytest.approx(p, abs=1e-3)
    assert found.gap < 0.0


def knives(
    height: float, turned: float = 0.5 * np.pi, at: tuple[float, float] = (0.013, 0.021), **contact: object
) -> System:
    """An upright plate that moves up and down over another one, their edges across each other."""
    system = System("knives", gravity=(0.0, 0.0, -G))
    upper = system.body("upper", mass=1.0, inertia=(0.03, 0.02, 0.02), at=(*at, HALF + height))
    system.prismatic("guide", system.ground, upper, axis="z")
    system.contact(
        "edges", system.ground.shape(plate(9, HALF), at=(0.0, 0.0, -HALF), rotation=turn(*UPRIGHT)),
        upper.shape(plate(9, HALF), rotation=turn(0.0, 0.0, turned - 0.5 * np.pi) @ turn(*ACROSS)), **contact,
    )  # type: ignore[arg-type]  # fmt: skip
    return system


@pytest.mark.parametrize("turned", [0.03, 0.7, 0.5 * np.pi])
def test_plate_dropped_on_an_edge_bounces_back_to_where_it_was(turned: float) -> None:
    """Its greatest depth is that at which the spring holds all energy: m g (h + d) = (2/5) k d^(5/2)."""
    at = (0.013, 0.021) if turned > 0.1 else (0.013, 1e-3)
    height, stiffness = 0.02, 1e6
    run = knives(height, turned, at, treatment="continuous", stiffness=stiffness).simulate(
        1.0, formulation="recursive", tolerance=1e-9, output=2000
    )
    z = run["upper.position.z"] - HALF
    touching = run["edges.normal_force"] > 0.0
    assert np.count_nonzero(np.diff(touching.astype(int)) > 0) >= 6
    assert np.ptp(run["energy.total"]) < 1e-6 * G * height
    depth = -float(z.min())
    assert G * (height + depth) == pytest.approx(0.4 * stiffness * depth**2.5, rel=1e-3)
    assert float(z[1000:].max()) == pytest.approx(height, rel=1e-4)
    assert np.abs(run["edges.gap"] - z).max() < 1e-12


def test_plate_that_strikes_an_edge_comes_to_rest_on_it() -> None:
    """Touch at sqrt(2 h / g), each speed 0.7 of the one before, and then held by its weight: a constraint."""
    height = 0.02
    run = knives(height, 1.0, restitution=0.7).simulate(
        0.6, formulation="recursive", tolerance=1e-9, output=60
    )
    strikes = list(run.impacts)
    assert strikes[0].time == pytest.approx(np.sqrt(2.0 * height / G), abs=1e-9)
    gaps = np.diff([strike.time for strike in strikes[:6]])
    assert gaps == pytest.approx(2.0 * np.sqrt(2.0 * height / G) * 0.7 ** np.arange(1, 6), rel=1e-6)
    assert float(run["upper.position.z"][-1]) == pytest.approx(HALF, abs=1e-10)
    assert float(run["edges.normal_force"][-1]) == pytest.approx(G, rel=1e-9)


def test_hinged_plate_hammers_on_a_tilted_edge_without_loss() -> None:
    """Edges at any angle, which slide along each other as one of them turns."""
    system = System("hammer", gravity=(0.0, 0.0, -G))
    hammer = system.body("hammer", mass=1.0, inertia=(0.03, 0.02, 0.02), at=(0.0, 0.0, 0.22))
    system.revolute("hinge", system.ground, hammer, at=(-0.3, 0.0, 0.25), axis=(0.2, 1.0, 0.1))
    anvil = turn(0.3, 0.0, 0.0) @ turn(0.0, 0.0, 0.4) @ turn(*UPRIGHT)
    system.contact(
        "edges", system.ground.shape(plate(9, HALF), at=(0.05, 0.0, -0.2), rotation=anvil),
        hammer.shape(plate(9, HALF), rotation=turn(*ACROSS)), treatment="continuous", stiffness=1e6,
    )  # fmt: skip
    run = system.simulate(1.5, formulation="recursive", tolerance=1e-9, output=1500)
    assert np.count_nonzero(np.diff((run["edges.normal_force"] > 0.0).astype(int)) > 0) >= 5
    assert np.ptp(run["energy.total"]) < 1e-6


def coin(stiffness: float, start: tuple[float, float, float]) -> System:
    """A thin disc that stands on a plate and moves across its edge, upright."""
    system = System("coin", gravity=(0.0, 0.0, -G))
    body = system.body("coin", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), at=start)
    system.planar("upright", system.ground, body, axis="y")
    points = RADIUS * disc(10)
    system.contact(
        "table", system.ground.shape(plate(9, HALF)), body.shape(flat(points), rotation=turn(*UPRIGHT)),
        treatment="continuous", stiffness=stiffness,
    )  # fmt: skip
    return system


def test_coin_that_slides_over_an_edge_is_handed_from_side_to_edge() -> None:
    """As a ball does: it leaves the edge where cos = 2/3, from rest, and later where that is softer; energy stays."""
    speed, misses = 0.02, []
    expected = np.arccos((G * RADIUS + 0.5 * speed**2) / (1.5 * G * RADIUS))
    for stiffness in (1e7, 1e9):
        start = (HALF - 0.002, 0.013, RADIUS - (G / stiffness) ** (2.0 / 3.0))
        run = coin(stiffness, start).simulate(
            0.42,
            initial={"upright": {"y": (0.0, speed)}},
            formulation="recursive",
            tolerance=1e-8,
            output=1500,
        )
        x, z = run["coin.position.x"] - HALF, run["coin.position.z"]
        last = int(np.flatnonzero(run["table.normal_force"] > 0.0)[-1])
        assert float(x[0]) < 0.0 < float(x[last])
        # The gap is that from the side, then from the edge, but for what samples tell of a circle.
        assert np.abs(run["table.gap"] - (np.hypot(np.maximum(x, 0.0), z) - RADIUS))[:last].max() < 1e-7
        assert np.ptp(run["energy.total"]) < 1e-8 * G * RADIUS
        misses.append(float(np.arctan2(x, z)[last] - expected))
    assert 0.0 < misses[1] < 0.5 * misses[0]
    assert misses[1] < np.radians(0.6)


def test_coin_that_gets_behind_the_edge_it_presses_on_is_refused() -> None:
    pair, R = SampledPair(plate(9, HALF), flat(RADIUS * disc(10))), turn(*UPRIGHT)
    found = None
    for k, out in enumerate((1e-3, 1e-4, -1e-4)):
        c = np.array([HALF + out, 0.013, -RADIUS + 1e-4])
        if k < 2:
            found = pair.contacts(R, c, 1, [found])[0][0]
            assert found.gap == pytest.approx(np.hypot(out, c[2]) - RADIUS, abs=1e-7)
    with pytest.raises(ModelError, match="gets behind that surface"):
        pair.contacts(R, c, 1, [found])


def sliding(slope: float, start: float, above: float = 0.0, **contact: object) -> System:
    """An upright plate that moves in a plane across another one, whose edge is inclined.

    start: Place on that edge [m]. A carriage of the same mass takes it along, but not up and down.
    """
    system = System("sliding", gravity=(0.0, 0.0, -G))
    way, up = np.array([np.cos(slope), 0.0, np.sin(slope)]), np.array([-np.sin(slope), 0.0, np.cos(slope)])
    at = start * way + np.array([0.0, 0.0, HALF + above])
    carriage = system.body("carriage", mass=0.5, inertia=(1e-3,) * 3, at=at)
    upper = system.body("upper", mass=0.5, inertia=(1e-3,) * 3, at=at)
    system.prismatic("along", system.ground, carriage, axis="x")
    system.prismatic("up", carriage, upper, axis="z")
    incline = turn(0.0, -slope, 0.0) @ turn(*UPRIGHT)
    system.contact(
        "edges", system.ground.shape(plate(9, HALF), at=-HALF * up, rotation=incline),
        upper.shape(plate(9, HALF), at=(0.0, 0.021, 0.0), rotation=turn(*ACROSS)), **contact,
    )  # type: ignore[arg-type]  # fmt: skip
    return system


def test_edge_slides_down_an_edge_with_friction_as_the_closed_form_says() -> None:
    """Down the way e with the normal n: 2 m a e_x = N (n_x + mu e_x), m a e_z = N (n_z + mu e_z) - m g."""
    slope, friction, mass, start = 0.5, 0.2, 0.5, 0.1
    run = sliding(slope, start, friction=friction, restitution=0.0).simulate(
        0.25, formulation="recursive", tolerance=1e-9, output=50
    )
    e, n = np.array([np.cos(slope), np.sin(slope)]), np.array([-np.sin(slope), np.cos(slope)])
    force = n + friction * e
    a, N = np.linalg.solve([[2.0 * mass * e[0], -force[0]], [mass * e[1], -force[1]]], [0.0, -mass * G])
    path = start + 0.5 * a * run.time**2
    assert np.abs(run["upper.position.x"] - path * e[0]).max() < 1e-8
    assert np.abs(run["upper.position.z"] - HALF - path * e[1]).max() < 1e-8
    assert np.asarray(run["edges.normal_force"])[1:] == pytest.approx(N, rel=1e-8)
    assert path[-1] - start < -0.045


@pytest.mark.parametrize("contact", [{"restitution": 0.0}, {"treatment": "continuous", "stiffness": 1e7}])
def test_edge_that_slides_off_the_end_of_another_is_refused(contact: dict[str, object]) -> None:
    """At the corner of the plate, and not before."""
    with pytest.raises(CallError, match="slides off over its end") as stopped:
        sliding(0.5, -0.15, **contact).simulate(0.6, formulation="recursive", tolerance=1e-8, output=300)
    last = float(stopped.value.result["upper.position.x"][-1])
    assert last == pytest.approx(-HALF * np.cos(0.5), abs=4e-3)


def test_edge_that_flies_past_the_end_of_another_falls_freely() -> None:
    run = sliding(0.0, -0.15, 0.05, treatment="continuous", stiffness=1e7).simulate(
        0.3, initial={"along": (0.0, -1.0)}, formulation="recursive", tolerance=1e-9, output=30
    )
    assert float(run["upper.position.z"][-1]) == pytest.approx(HALF + 0.05 - 0.5 * G * 0.09, abs=1e-10)
    assert float(run["edges.normal_force"].max()) == 0.0


@pytest.mark.parametrize("points", [1, 3])
@pytest.mark.parametrize("turned", [0.0, 0.01])
def test_edges_along_each_other_are_refused_before_they_touch(points: int, turned: float) -> None:
    with pytest.raises(CallError, match="lie along each other") as stopped:
        knives(0.02, turned, (0.013, 1e-3), points=points).simulate(0.1, formulation="recursive", output=50)
    assert 0.0 < float(stopped.value.result["upper.position.z"][-1]) - HALF < 0.02


def test_edges_that_pass_beside_each_other_do_not_touch() -> None:
    """Along each other, but 21 mm apart."""
    run = knives(0.02, 0.0, treatment="continuous", stiffness=1e6).simulate(
        0.15, formulation="recursive", tolerance=1e-9, output=20
    )
    assert float(run["upper.position.z"][-1]) == pytest.approx(HALF + 0.02 - 0.5 * G * 0.15**2, abs=1e-10)


def test_a_corner_that_leaves_the_side_of_a_plate_turned_the_same_way_touches_nothing() -> None:
    """Where the corner is beyond the edge there is no contact point, and none with a force; later edges strike."""
    at = np.array([-0.4327183, -0.1806747, 0.28742221])
    system = System("throw", gravity=(0.0, 0.0, 0.0))
    body = system.body("body", mass=1.0, inertia=(0.02,) * 3, at=at)
    system.free("flight", system.ground, body)
    turned = turn(-1.12763587, 0.53687231, -0.06035125)
    system.contact(
        "edges", system.ground.shape(plate(9, HALF)), body.shape(plate(9, HALF), rotation=turned),
        treatment="continuous", stiffness=1e6, points=3,
    )  # fmt: skip
    velocity, spin = (0.79372181, 0.48930412, -0.57484443), (-2.59696242, -2.4022311, -2.56498359)
    begin = {"flight": {"position": at, "velocity": velocity, "angular_velocity": spin}}
    run = system.simulate(0.3, initial=begin, tolerance=1e-9, output=400)
    before = run.time < 0.18
    assert all(np.min(run[f"edges {k}.gap"][before]) > 0.0 for k in (1, 2, 3))
    # By bisection on the distance of both squares: a quadratic program with bounds.
    force = sum(run[f"edges {k}.normal_force"] for k in (1, 2, 3))
    touched = float(run.time[np.flatnonzero(force)[0]])
    assert 0.0 < touched - 0.185200806 < 0.3 / 400
    assert np.ptp(run["energy.total"]) < 1e-6 * run["energy.total"][0]
