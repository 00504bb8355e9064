"""Start poses that do not quite fit, and what the user holds while they are closed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank.errors import AssemblyError, ModelError, UnknownName
from bellcrank.math.rotations import from_quaternion
from bellcrank.mechanism import Mechanism, analyse
from bellcrank.mechanism.assembly import FEW, _shortest, close_positions, closed_without
from bellcrank.mechanism.description import moved_bodies, moved_coordinates
from bellcrank.model import System
from mechanism.linkages import engine, four_bar, four_bar_of_lengths
from reference.mechanisms import mechanism

WITH_LOOPS = (
    "four-bar",
    "slider-crank",
    "nested planar loops",
    "parallel cranks",
    "spatial loop",
    "ternary loops",
    "platform",
    "suspension cut",
    "bennett",
    "bricard",
    "coupled",
    "driven",
    "cut screw",
    "cut universal",
)


@pytest.mark.parametrize("equations", [2, FEW, FEW + 1])
def test_steps_are_the_shortest_with_few_equations_and_with_many(equations: int) -> None:
    rng = np.random.default_rng(equations)
    J = rng.standard_normal((equations, equations + 5))
    J[-1] = 2.0 * J[0]
    b = rng.standard_normal(equations)
    x = _shortest(J, b)
    assert J.T @ (J @ x - b) == pytest.approx(0.0, abs=1e-11)
    along = np.linalg.qr(J[:-1].T)[0]
    assert along @ (along.T @ x) == pytest.approx(x, abs=1e-11)


def move_between(found: Mechanism, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The move from one configuration to another along the speeds, to first order."""
    move = np.zeros(found.coordinates)
    for link in found.linkage.links:
        a, b = (x[link.q : link.q + link.kind.positions] for x in (before, after))
        if link.kind.has_quaternion:
            (w, v), turned = (a[-4], a[-3:]), b[-4:] * np.sign(a[-4:] @ b[-4:])
            move[link.u : link.u + 3] = 2.0 * (w * turned[1:] - turned[0] * v - np.cross(v, turned[1:]))
            if link.kind.floats:
                R = np.array(from_quaternion(a[-4:].tolist()), dtype=float)
                move[link.u + 3 : link.u + 6] = R.T @ (b[:3] - a[:3])
        else:
            move[link.u] = b[0] - a[0]
    return move


@pytest.mark.parametrize("family", WITH_LOOPS)
@pytest.mark.parametrize("seed", range(2))
def test_loops_close_with_the_smallest_move(family: str, seed: int) -> None:
    """The move has no part along the freedoms, up to second order in its size."""
    found = analyse(mechanism(family, seed))
    loops, kept = found.loop_state(), list(found.kept)
    direction = np.random.default_rng(seed).standard_normal(found.coordinates)
    direction /= np.linalg.norm(direction)
    along = []
    for size in (2e-3, 1e-3):
        off = loops.moved(found.start.q, size * direction)
        closed = close_positions(loops, off, (), found.start.t, lambda rows: "open")
        closed = closed_without(loops, off, closed, (), found.start.t, kept)
        rows = loops.rows(closed, found.start.t)
        assert np.abs(rows.residual).max() < 1e-11
        freedoms = np.linalg.svd(loops.rows(off, found.start.t).J[kept])[2][len(kept) :]
        move = move_between(found, off, closed)
        assert np.linalg.norm(move) < 1.01 * size
        along.append(np.linalg.norm(freedoms @ move))
    assert along[0] < 5.0 * (2e-3) ** 2
    assert along[1] < 0.3 * along[0] + 1e-12


def test_a_pose_that_fits_is_not_touched() -> None:
    drawn = four_bar()
    found = analyse(drawn)
    for link in found.linkage.links:
        (start,) = drawn.joints[link.joint].start_coordinates()
        assert found.start.q[link.q] == pytest.approx(start, abs=1e-12)
    assert found.start.u.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.0, math.pi / 2, -0.7, 3.1, 40.0])
def test_held_coordinates_stay_to_the_last_bit(angle: float) -> None:
    found = analyse(engine(0.9), initial={"main": (angle, 2.5)})
    _, q, u = found.linkage.coordinate("main", "angle")
    assert found.start.q[q] == angle
    assert found.start.u[u] == 2.5
    # However far the crank is from the drawing, the engine stays assembled the way it was drawn.
    assert np.abs(found.loop_state().rows(found.start.q).residual).max() < 1e-12
    # The piston follows: x = r cos a + sqrt(l^2 - r^2 sin^2 a).
    s, c = 0.3 * math.sin(angle), 0.3 * math.cos(angle)
    _, q, u = found.linkage.coordinate("guide", "displacement")
    start = 0.3 * math.cos(0.9) + math.sqrt(1 - (0.3 * math.sin(0.9)) ** 2)
    assert found.start.q[q] + start == pytest.approx(c + math.sqrt(1 - s * s), abs=1e-10)
    assert found.start.u[u] == pytest.approx(2.5 * (-s - s * c / math.sqrt(1 - s * s)), rel=1e-9)


def test_rates_alone_of_the_others_follow_with_the_smallest_change() -> None:
    system = mechanism("suspension cut", 3)
    name = next(n for n in system.joints if n.startswith("revolute"))
    moving = analyse(system, initial={name: (0.0, 1.0)})
    rows = moving.loop_state().rows(moving.start.q)
    assert np.abs(rows.J @ moving.start.u).max() < 1e-12
    held = moving.linkage.coordinate(name, "angle")[2]
    free = np.delete(np.arange(moving.coordinates), held)
    freedoms = np.linalg.svd(rows.J[:, free])[2][rows.J.shape[0] :]
    assert np.abs(freedoms @ moving.start.u[free]).max() < 1e-12


def test_a_straight_drawing_closes() -> None:
    """All bars drawn on one line: no direction is given, and yet the loop is found."""
    found = analyse(four_bar_of_lengths(1.0, 2.0, 1.5, 2.2))
    assert np.abs(found.loop_state().rows(found.start.q).residual).max() < 1e-10
    assert found.degrees_of_freedom == 1
    assert len(found.partition.independent) == 1


def test_an_impossible_loop_says_by_how_much_and_which() -> None:
    """Crank, coupler and rocker reach 1 + 1 + 1 of 5 m."""
    with pytest.raises(AssemblyError, match="nearest miss 2 m") as caught:
        analyse(four_bar_of_lengths(1.0, 1.0, 1.0, 5.0))
    for word in ("cut joint 'elbow'", "'straight'", "Check the lengths", "crank", "coupler", "rocker"):
        assert word in str(caught.value)
    with pytest.raises(AssemblyError, match="nearest miss 100 mm"):
        analyse(four_bar_of_lengths(1.0, 1.0, 1.0, 3.1))


def test_a_held_coordinate_that_opens_the_loop_is_mentioned() -> None:
    with pytest.raises(AssemblyError, match=r"'elbow'.*nearest miss .*held by initial="):
        analyse(four_bar(), initial={"main": (math.pi / 2, 1.0), "foot": 0.3})


def test_rates_that_do_not_fit_together() -> None:
    with pytest.raises(AssemblyError, match=r"rates do not fit together: cut joint 'elbow'.*fewer rates"):
        analyse(four_bar(), initial={"main": (math.pi / 2, 1.0), "foot": (math.pi / 2, 5.0)})


@pytest.mark.parametrize(
    ("initial", "error", "message"),
    [
        (
            {"mian": 1.0},
            UnknownName,
            r"no joint named 'mian'; did you mean 'main'\?.*main, knee, elbow, foot",
        ),
        ({"main": math.nan}, ModelError, r"'main'.*finite position or \(position, rate\)"),
        ({"main": (0.1, math.inf)}, ModelError, "'main'.*finite"),
        ({"main": (1, 2, 3)}, ModelError, "'main'.*position or"),
        ({"main": "fast"}, ModelError, "'fast' is not a number"),
        ({"main": {"angel": 1.0}}, UnknownName, "no coordinate of joint 'main' named 'angel'; did you mean"),
        ({"elbow": 1.0}, ModelError, "'elbow' closes a loop here.*another joint of the loop.*cut=False"),
    ],
)
def test_mistakes_in_start_values(initial: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        analyse(four_bar(), initial=initial)


def floating() -> System:
    system = System("floating")
    system.body("boat", 1.0, (1, 1, 1), at=(1, 2, 3))
    system.body("mast", 1.0, (1, 1, 1), at=(1, 2, 4))
    system.body("rail", 1.0, (1, 1, 1))
    system.free("water", "ground", "boat")
    system.spherical("foot", "boat", "mast", at=(1, 2, 3.5))
    system.cylindrical("tube", "ground", "rail", at=(0, 0, 0))
    return system


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        ({"water": 1.0}, "'water' has the coordinates x, y, z.*give a mapping"),
        ({"tube": 1.0}, "'tube' has the coordinates angle, displacement; give a mapping"),
        ({"water": {"position": (1, 2)}}, "'position' of joint 'water' needs 3 finite numbers"),
        ({"water": {"velocity": (1, 2, math.nan)}}, "'velocity' of joint 'water' needs 3 finite"),
        ({"water": {"velocity": "fast"}}, "'velocity' of joint 'water': 'fast' are not numbers"),
        ({"water": {"speed": (1, 2, 3)}}, "no start value of joint 'water' named 'speed'"),
        ({"foot": {"quaternion": (0, 0, 0, 0)}}, "quaternion of joint 'foot' is zero"),
        ({"foot": {"position": (0, 0, 0)}}, "no start value of joint 'foot' named 'position'"),
        ({"tube": {"angle": (1, 2, 3)}}, "'tube', 'angle': give a finite position or"),
    ],
)
def test_mistakes_in_start_values_of_whole_joints(initial: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        analyse(floating(), initial=initial)


def test_start_values_of_whole_joints_arrive_in_the_bodies() -> None:
    from formulations.comparison import body_motion

    half = math.sqrt(0.5)
    water = {
        "position": (5, 6, 7),
        "quaternion": (half, 0, 0, half),
        "velocity": (1, 2, 3),
        "angular_velocity": (0.1, 0.2, 0.3),
    }
    foot = {"quaternion": (half, half, 0, 0), "angular_velocity": (1, 0, 0)}
    found = analyse(floating(), initial={"water": water, "foot": foot, "tube": {"displacement": (0.3, 0.4)}})
    poses, velocities, _ = body_motion(found, found.start)
    R = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(poses["boat"][0], (5, 6, 7), atol=1e-15)
    np.testing.assert_allclose(poses["boat"][1], R, atol=1e-15)
    np.testing.assert_allclose(velocities["boat"], ((1, 2, 3), R @ (0.1, 0.2, 0.3)), atol=1e-14)
    np.testing.assert_allclose(poses["mast"][1], R @ [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-15)
    relative = velocities["mast"][1] - velocities["boat"][1]
    np.testing.assert_allclose(poses["mast"][1].T @ relative, (1, 0, 0), atol=1e-14)
    np.testing.assert_allclose(poses["rail"][0], (0, 0, 0.3), atol=1e-15)
    np.testing.assert_allclose(velocities["rail"][0], (0, 0, 0.4), atol=1e-15)


def test_what_moves_from_the_described_pose_is_told() -> None:
    system = System("slider crank", zero="axes")
    crank = system.body("crank", 1.0, (1, 1, 1), at=(0.5, 0, 0))
    rod = system.body("rod", 1.0, (1, 1, 1), at=(2, 0, 0))
    slider = system.body("slider", 1.0, at=(3, 0, 0))
    system.revolute("bearing", system.ground, crank, at=(0, 0, 0))
    system.revolute("pin", crank, rod, at=(1, 0, 0))
    system.revolute("wrist", rod, slider, at=(3, 0, 0))
    system.prismatic("guide", system.ground, slider, axis="x")
    assert moved_coordinates(system.mechanism()) == []
    moved = moved_coordinates(system.mechanism(initial={"bearing": 0.5}))
    slide = math.cos(0.5) + math.sqrt(4.0 - math.sin(0.5) ** 2) - 3.0
    turned = -0.5 - math.asin(math.sin(0.5) / 2.0)
    expected = {"bearing.angle": (0.0, 0.5, "rad"), "guide.displacement": (0.0, slide, "m")}
    for name, before, start, unit in moved:
        assert (before, unit) == (0.0, "m" if name == "guide.displacement" else "rad")
        assert start == pytest.approx(expected.get(name, (0, turned))[1], abs=1e-9)
    assert len(moved) == 3
    assert "guide.displacement from 0 to" in str(system.mechanism(initial={"bearing": 0.5}))


def test_bodies_that_joints_put_elsewhere_are_told() -> None:
    """Of every kind of joint, whichever way it is described; the pose at the start is that of the kinematics."""
    from formulations.comparison import body_motion

    rng = np.random.default_rng(5)
    system = System("astray")
    nearest = system.ground

    def anywhere() -> tuple[np.ndarray, np.ndarray]:
        return rng.standard_normal(3), Rotation.random(random_state=rng).as_matrix()

    for k, kind in enumerate(
        ("revolute", "prismatic", "cylindrical", "planar", "spherical", "universal", "screw", "fixed", "free")
    ):
        body = system.body(kind, 1.0, (1, 1, 1), **dict(zip(("at", "rotation"), anywhere(), strict=True)))
        sides = (nearest, body) if k % 2 else (body, nearest)
        more = {"pitch": 0.1} if kind == "screw" else {}
        getattr(system, kind)(f"{kind} joint", *(side.frame(*anywhere()) for side in sides), **more)
        nearest = body
    found = system.mechanism()
    poses, _, _ = body_motion(found, found.start)
    moved = {name: (far, turned) for name, far, turned in moved_bodies(found)}
    assert list(moved) == [name for name in system.bodies if name != "ground"]
    for name, (far, turned) in moved.items():
        x, R = poses[name]
        assert far == pytest.approx(math.dist(x, system.bodies[name].position), rel=1e-9)
        cosine = 0.5 * (np.trace(np.array(R).T @ system.bodies[name].start_rotation()) - 1.0)
        assert turned == pytest.approx(math.acos(cosine), rel=1e-6)
    assert "  fixed by " in str(found)
