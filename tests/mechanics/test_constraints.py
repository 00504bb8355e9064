"""Constraints beside joints: against Newton-Euler with multipliers, and against joints that say the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank import SplineCurve, load_result, simulate_many, table_and_integral
from bellcrank.errors import ModelError
from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.program.functions import cos, sin, sqrt
from formulations.comparison import AGREEMENT, body_difference, body_motion, random_state, solved
from reference import newton_euler

TURN = np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])


def machine() -> System:
    """A jib on a hinge, a hook that floats, and a shaft on the jib: constraints hold between jib or ground and hook."""
    system = System("crane")
    jib = system.body("jib", 5.0, (0.4, 0.9, 0.7), center_of_mass=(0.4, 0.1, 0.0))
    hook = system.body("hook", 2.0, (0.05, 0.08, 0.06), at=(1.0, 0.2, 1.1), rotation=TURN)
    shaft = system.body("shaft", 1.0, (0.1, 0.1, 0.2), at=(0.5, 0, 0))
    system.cylindrical("mast", system.ground, jib, at=(0, 0, 0))
    system.revolute("bearing", jib, shaft, at=(0.5, 0, 0), axis="y")
    system.free("air", system.ground, hook)
    system.spring("rope", system.ground.point(0.3, 1, 0), hook, 40.0, 0.5, free_length=1.0)
    return system


def side(system: System, base: str) -> object:
    """Where constraints start from: the jib, or the ground."""
    body = system.ground if base == "ground" else system.bodies["jib"]
    return body.frame((0.1, 0.2, -0.1), rotation=((0.6, 0.0, 0.8), (0.0, 1.0, 0.0), (-0.8, 0.0, 0.6)))


def point(system: System) -> object:
    return system.bodies["hook"].point(0.1, -0.2, 0.3)


class Globe:
    """The signed distance from a globe about the origin."""

    radius = 0.7

    def __call__(self, x: Any, y: Any, z: Any) -> Any:
        return sqrt(x * x + y * y + z * z) - self.radius


class Ellipse:
    """In the xy plane."""

    a, b = 0.5, 0.3

    def __call__(self, s: Any) -> Any:
        return self.a * cos(s), self.b * sin(s), 0.0


KINDS: dict[str, Callable[[System, object], object]] = {
    "disc": lambda s, a: s.rolling("c", a, point(s), 0.4, axis=(0.1, 1, 0.2)),
    "wheel with a rim": lambda s, a: s.rolling("c", a, point(s), 0.4, axis="y", rim=0.1),
    "ball": lambda s, a: s.rolling("c", a, point(s), 0.4),
    "ball on a ball": lambda s, a: s.rolling(
        "c", a, point(s), 0.4, surface=lambda x, y, z: sqrt(x * x + y * y + z * z) - 0.7
    ),
    "wheel on a globe": lambda s, a: s.rolling(
        "c", a, point(s), 0.4, axis=(0.1, 1, 0.2), rim=0.05, surface=Globe()
    ),
    "knife edge": lambda s, a: s.knife_edge("c", a, point(s), axis="y"),
    "point on a line": lambda s, a: s.point_on_line("c", a, point(s)),
    "point on a plane": lambda s, a: s.point_on_plane("c", a, point(s)),
    "point on a surface": lambda s, a: s.point_on_surface(
        "c", a, point(s), lambda x, y, z: z - 0.2 * sin(2.0 * x) * y
    ),
    "parallel": lambda s, a: s.parallel("c", a, s.bodies["hook"]),
    "perpendicular": lambda s, a: s.perpendicular("c", a, s.bodies["hook"]),
    "constant velocity": lambda s, a: s.constant_velocity("c", a, s.bodies["hook"]),
    "transmission": lambda s, a: s.transmission(
        "c", ("mast", "displacement"), "bearing", lambda x: 0.3 * x + 0.1 * sin(x)
    ),
}


PLACED = [
    (kind, base) for kind in KINDS for base in ("jib", "ground") if (kind, base) != ("transmission", "ground")
]


@pytest.mark.parametrize(("kind", "base"), PLACED)
def test_all_formulations_agree_with_multipliers_on_bodies(kind: str, base: str) -> None:
    system = machine()
    KINDS[kind](system, side(system, base))
    found = analyse(system)
    state = random_state(found, np.random.default_rng(3), 0.2)
    poses, velocities, _ = body_motion(found, state)
    reference = newton_euler.accelerations(system, None, 0.0, poses, velocities)
    # The normal of a surface is found by differences there.
    agreement = 1e-6 if kind == "ball on a ball" else AGREEMENT
    for formulation in FORMULATIONS:
        way = solved(found.traced(formulation), state, found.parameter_values)
        assert body_difference(reference, body_motion(found, state, way.du)[2]) < agreement, formulation


def accelerations(system: System, poses: object, velocities: object) -> object:
    return newton_euler.accelerations(system, None, 0.0, poses, velocities)  # type: ignore[arg-type]


def circle(s: object) -> tuple[object, object, object]:
    return 0.9 * cos(s), 0.9 * sin(s), 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize("base", ["jib", "ground"])
def test_a_point_on_a_circle_is_on_a_plane_at_a_distance(base: str) -> None:
    system, same = machine(), machine()
    system.point_on_curve("c", side(system, base), point(system), circle, start=0.3)
    same.point_on_plane("c", side(same, base), point(same))
    same.distance("d", side(same, base), point(same), 0.9)
    found = analyse(system)
    assert found.degrees_of_freedom == found.position_freedoms == 7
    state = random_state(found, np.random.default_rng(4), 0.2)
    poses, velocities, _ = body_motion(found, state)
    for formulation in FORMULATIONS:
        way = solved(found.traced(formulation), state, found.parameter_values)
        moved = body_motion(found, state, way.du)[2]
        assert body_difference(accelerations(same, poses, velocities), moved) < AGREEMENT, formulation


@pytest.mark.parametrize("base", ["jib", "ground"])
def test_a_point_on_a_helix_is_on_a_cylinder_and_on_a_ramp(base: str) -> None:
    """The ramp rises with the angle about the axis; the engine knows both as surfaces."""
    system, same = machine(), machine()
    curve = lambda s: (0.9 * cos(s), 0.9 * sin(s), 0.25 * s)  # noqa: E731
    system.point_on_curve("c", side(system, base), point(system), curve, start=0.3)
    same.point_on_surface("c", side(same, base), point(same), lambda x, y, z: sqrt(x * x + y * y) - 0.9)
    same.point_on_surface("d", side(same, base), point(same), lambda x, y, z: z - 0.25 * np.arctan2(y, x))
    found = analyse(system)
    for seed in range(3):
        state = random_state(found, np.random.default_rng(seed), 0.2)
        poses, velocities, _ = body_motion(found, state)
        reference = accelerations(same, poses, velocities)
        for formulation in FORMULATIONS:
            way = solved(found.traced(formulation), state, found.parameter_values)
            assert body_difference(reference, body_motion(found, state, way.du)[2]) < AGREEMENT, formulation


def test_a_cam_pair_agrees_with_the_reach_of_its_cam() -> None:
    """An ellipse on a turning arm lifts a flat follower that slides and turns in the plane."""
    system = System("cam", gravity=(0, -9.81, 0))
    arm = system.body("arm", 2.0, (0.1, 0.1, 0.2), center_of_mass=(0.1, 0.05, 0))
    cam = system.body("cam", 1.0, (0.1, 0.1, 0.1), at=(0.4, 0, 0), angle=0.3)
    flat = system.body("flat", 1.5, (0.3, 0.3, 0.3), at=(0.5, 0.45, 0), angle=0.1)
    system.revolute("pin", system.ground, arm, at=(0, 0, 0))
    system.revolute("shaft", arm, cam, at=(0.4, 0, 0))
    system.planar("plane", system.ground, flat)
    system.curve_on_curve("c", cam, flat, Ellipse(), lambda s: (s, 0.0, 0.0), start_a=1.5, start_b=0.0)
    found = analyse(system)
    for seed in range(3):
        state = random_state(found, np.random.default_rng(seed), 0.2)
        poses, velocities, _ = body_motion(found, state)
        reference = accelerations(system, poses, velocities)
        for formulation in FORMULATIONS:
            way = solved(found.traced(formulation), state, found.parameter_values)
            assert body_difference(reference, body_motion(found, state, way.du)[2]) < AGREEMENT, formulation


def train(kind: str, in_words: bool, cut: bool) -> System:
    """Three shafts across each other on a moving arm, coupled by a kind, or by the sum of angles that it stands for."""
    system = System("train")
    arm = system.body("arm", 3.0, (0.4, 0.9, 0.7), center_of_mass=(0.4, 0.1, 0.0))
    system.universal("mount", system.ground, arm, (0, 0, 0), "z", "x")
    axes = {"one": (0.0, 0.6, 0.8), "two": (0.0, 1.0, 0.0), "three": (1.0, 0.0, 0.0)}
    for k, (name, axis) in enumerate(axes.items()):
        body = system.body(name, 1.0 + k, (0.1, 0.2, 0.25), (0.02, -0.03, 0.01), at=(0.3 * k, 0.2, 0.1 * k))
        closes = cut and name == "three"
        if closes:
            system.free("air", system.ground, body)
        system.revolute(f"pin {name}", arm, body, at=(0.3 * k, 0.2, 0.1 * k), axis=axis, cut=closes or None)
    rack = system.body("rack", 0.5, (0.1, 0.1, 0.1), at=(0.1, 0.1, 0.4))
    system.prismatic("rail", arm, rack, axis=(0.6, 0.8, 0.0))
    one, two, three = (f"pin {name}" for name in axes)
    if in_words:
        match kind:
            case "gear":
                system.gear("c", one, three, ratio=-1.7)
            case "carrier":
                system.gear("c", one, three, ratio=-1.7, carrier=two)
            case "belt":
                system.belt("c", one, three, 0.2, 0.5, crossed=True)
            case "worm":
                system.worm("c", one, three, starts=-2, teeth=30)
            case "differential":
                system.differential("c", two, one, three)
            case "rack":
                system.rack_and_pinion("c", "rail", three, 0.3)
            case "transmission":
                system.transmission("c", one, three, lambda x: 0.4 * x + 0.2 * sin(x))
    else:
        sums = {
            "gear": {one: 1.0, three: 1.7},
            "carrier": {one: 1.0, two: -1.0 - 1.7, three: 1.7},
            "belt": {one: 0.2, three: 0.5},
            "worm": {one: 1.0, three: 15.0},
            "differential": {one: 1.0, three: 1.0, two: -2.0},
            "rack": {"rail": 1.0, three: -0.3},
        }
        if kind == "transmission":
            return train(kind, True, cut)
        system.coupling("c", sums[kind])
    return system


COUPLED = ("gear", "carrier", "belt", "worm", "differential", "rack")


@pytest.mark.parametrize(
    ("kind", "cut"), [*((k, c) for k in COUPLED for c in (False, True)), ("transmission", False)]
)
def test_couplings_agree_with_multipliers_on_bodies(kind: str, cut: bool) -> None:
    """The sums of angles are those of the textbooks; one shaft is a tree joint, or closes a loop."""
    found, same = analyse(train(kind, True, cut)), train(kind, False, cut)
    state = random_state(found, np.random.default_rng(7), 0.2)
    poses, velocities, _ = body_motion(found, state)
    reference = accelerations(same, poses, velocities)
    for formulation in FORMULATIONS:
        way = solved(found.traced(formulation), state, found.parameter_values)
        assert body_difference(reference, body_motion(found, state, way.du)[2]) < AGREEMENT, formulation


def discs(by_curves: bool) -> System:
    """Two discs in a plane whose rims touch and slide, by curves or by the distance of their centres."""
    system = System("discs", gravity=(0, -9.81, 0))
    a = system.body("a", 2.0, (0.1, 0.1, 0.2), center_of_mass=(0.1, 0.05, 0))
    b = system.body("b", 1.0, (0.1, 0.1, 0.1), at=(0.3, 0.9, 0), angle=0.4)
    system.revolute("pin", system.ground, a, at=(0.1, 0, 0))
    system.planar("plane", system.ground, b)
    if by_curves:
        rims = [lambda s, r=r: (r * cos(s), r * sin(s), 0.0) for r in (0.6, 0.35)]
        system.curve_on_curve("c", a, b, *rims, start_a=1.2, start_b=4.0)
    else:
        system.distance("d", a, b, 0.95)
    return system


def test_two_rims_that_touch_keep_their_centres_apart() -> None:
    found, same = analyse(discs(True)), discs(False)
    assert found.degrees_of_freedom == 3
    state = random_state(found, np.random.default_rng(5), 0.2)
    poses, velocities, _ = body_motion(found, state)
    for formulation in FORMULATIONS:
        way = solved(found.traced(formulation), state, found.parameter_values)
        moved = body_motion(found, state, way.du)[2]
        assert body_difference(accelerations(same, poses, velocities), moved) < AGREEMENT, formulation


def test_reactions_include_what_constraints_push() -> None:
    """A free joint carries nothing, and the mast what the point on the plane presses it with."""
    system = machine()
    system.point_on_plane("c", side(system, "jib"), point(system))
    result = system.simulate(0.2, tolerance=1e-10)
    assert np.abs(result["air.force"]).max() < 1e-8
    assert np.abs(result["air.torque"]).max() < 1e-8
    pushed = np.abs(np.asarray(result["c.normal_force"]))
    assert np.linalg.norm(result["c.force"], axis=1) == pytest.approx(pushed, rel=1e-9, abs=1e-9)
    assert np.abs(result["constraints.position"]).max() < 1e-10


def test_own_constraint_is_the_joint_it_describes() -> None:
    def bob(own: bool) -> np.ndarray:
        system = System("pendulum")
        length = system.parameter("L", 0.8)
        body = system.body("bob", 1.0, (0.1, 0.1, 0.1), at=(0.8, 0, 0))
        system.planar("plane", system.ground, body, axis="y")
        if own:
            system.constraint(
                "rod",
                lambda m: (
                    m["bob.position.x"] ** 2
                    + m["bob.position.z"] ** 2
                    - (length * (1 + 0.1 * sin(m["t"]))) ** 2
                ),
            )
        else:
            system.distance("rod", system.ground, body, lambda t: length * (1 + 0.1 * sin(t)))
        found = system.simulate(1.0, output=10, tolerance=1e-11)
        assert np.abs(found["constraints.position"]).max() < 1e-10
        return np.stack([found["bob.position.x"], found["bob.position.z"], found["power.drivers"]])

    assert np.abs(bob(True) - bob(False)).max() < 1e-7


def test_own_velocity_constraint_is_the_knife_edge() -> None:
    def sleigh(own: bool) -> np.ndarray:
        system = System("sleigh", gravity=(0, 0, 0))
        body = system.body("sleigh", 1.0, (0.1, 0.1, 0.1), center_of_mass=(0.3, 0, 0))
        system.planar("ice", system.ground, body)
        if own:
            system.constraint(
                "blade",
                lambda m: (
                    cos(m["ice.angle"]) * m["ice.y_rate"] - sin(m["ice.angle"]) * m["sleigh.velocity.x"]
                ),
                velocity=True,
            )
        else:
            system.knife_edge("blade", system.ground, body, axis="y")
        start = {"ice": {"angle": (0.2, 1.0), "x": (0.0, 1.0)}}
        found = system.simulate(2.0, output=10, tolerance=1e-11, initial=start)
        return np.stack([found["sleigh.position.x"], found["ice.angle"]])

    assert np.abs(sleigh(True) - sleigh(False)).max() < 1e-8


def test_shafts_at_an_angle_turn_alike_or_as_cardan_says() -> None:
    """tan(out) = tan(in) cos(bend) behind one cardan joint whose first arm lies across the bend.

    A constant velocity joint turns by the same angle.
    """
    bend, angles = 0.6, np.linspace(0.0, 2.0, 21)
    out_axis = np.array([np.cos(bend), 0.0, np.sin(bend)])
    bent = np.column_stack([(0.0, 1.0, 0.0), np.cross(out_axis, (0.0, 1.0, 0.0)), out_axis])
    straight = np.column_stack([(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)])

    def shafts(joint: Callable[[System, Any, Any], object]) -> np.ndarray:
        system = System("shafts", gravity=(0, 0, 0))
        first, second = (system.body(name, 1.0, (0.1,) * 3) for name in ("in", "out"))
        system.revolute("in pin", system.ground, first, at=(0, 0, 0), axis="x")
        system.revolute("out pin", system.ground, second, at=(0, 0, 0), axis=tuple(out_axis))
        joint(system, first, second)
        system.driver("in pin", lambda t: t)
        return np.asarray(system.kinematics(2.0, output=20)["out pin.angle"])

    alike = shafts(
        lambda system, a, b: system.constant_velocity(
            "joint", a.frame((0, 0, 0), rotation=straight), b.frame((0, 0, 0), rotation=bent)
        )
    )
    assert alike == pytest.approx(angles, abs=1e-9)
    # The arms of a cross: y of the first shaft, and what is across it on the second one.
    cardan = shafts(
        lambda system, a, b: system.perpendicular(
            "cross",
            a.frame((0, 0, 0), rotation=np.column_stack([(0, 0, 1), (1, 0, 0), (0, 1, 0)])),
            b.frame(
                (0, 0, 0), rotation=np.column_stack([(0, 1, 0), out_axis, np.cross((0, 1, 0), out_axis)])
            ),
        )
    )
    expected = np.unwrap(np.arctan2(np.sin(angles) * np.cos(bend), np.cos(angles)))
    assert cardan == pytest.approx(expected, abs=1e-9)


def test_a_ball_with_parallel_axes_swings_as_a_hinge() -> None:
    """(m g c / (I + m c^2))^(1/2) about the axis that is held."""
    system = System("pendulum")
    bob = system.body("bob", 2.0, (0.3, 0.2, 0.1), center_of_mass=(0, 0, -0.5))
    system.spherical("ball", system.ground, bob, at=(0, 0, 0))
    along = np.column_stack([(0, 0, 1), (1, 0, 0), (0, 1, 0)])
    system.parallel(
        "hinge", system.ground.frame((0, 0, 0), rotation=along), bob.frame((0, 0, 0), rotation=along)
    )
    linear = system.linearize(system.equilibrium())
    assert linear.frequencies == pytest.approx([(2.0 * 9.81 * 0.5 / 0.7) ** 0.5 / (2.0 * np.pi)], rel=1e-9)


def test_gears_of_changing_ratio_follow_their_table() -> None:
    """A ratio that rises from 1 to 3 over 2 rad: the angle is its integral x + x^2 / 2."""
    _, angle = table_and_integral([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    system = System("gears", gravity=(0, 0, 0))
    for name in ("leading", "following"):
        body = system.body(name, 1.0, (0.1,) * 3)
        system.revolute(f"{name} pin", system.ground, body, at=(0, 0, 0))
    system.transmission("mesh", "following pin", "leading pin", angle)
    result = system.simulate(1.0, initial={"leading pin": (0.0, 1.5)}, output=10, tolerance=1e-10)
    x = np.asarray(result["leading pin.angle"])
    assert x[-1] > 0.5
    assert result["following pin.angle"] == pytest.approx(x + 0.5 * x * x, abs=1e-9)
    # The energy stays, so the leading wheel slows as it comes to carry the other faster.
    assert result["leading pin.angle_rate"] == pytest.approx(1.5 * (2.0 / (1.0 + (1.0 + x) ** 2)) ** 0.5)


def test_freedoms_are_counted_and_kinematics_says_what_it_cannot() -> None:
    system = System("ball")
    ball = system.body("ball", 1.0, (0.1, 0.1, 0.1), at=(0, 0, 0.5))
    system.free("air", system.ground, ball)
    system.rolling("roll", system.ground, ball, 0.5)
    found = analyse(system)
    assert (found.degrees_of_freedom, found.position_freedoms) == (3, 5)
    assert "5 of positions: 2 equations are of velocities alone" in str(found)
    with pytest.raises(ModelError, match=r"constraint 'roll' holds velocities"):
        system.kinematics(1.0)


def test_a_disc_in_a_round_track_swings_at_its_frequency() -> None:
    """w^2 = g / ((R - r) (1 + I / (m r^2))); it touches where its rim is nearest, and its energy stays."""
    system = System("track")
    disc = system.body("disc", 1.0, (0.01, 0.02, 0.01), at=(0, 0, -0.8))
    system.free("air", system.ground, disc)
    system.rolling("roll", system.ground, disc, 0.2, "y", surface=lambda x, y, z: 1.0 - sqrt(x * x + z * z))
    found = analyse(system)
    assert (found.degrees_of_freedom, found.position_freedoms) == (3, 5)
    result = system.simulate(
        1.5, initial={"air": {"angular_velocity": (0, 1e-3, 0)}}, tolerance=1e-10, output=60
    )
    w = (9.81 / (0.8 * 1.5)) ** 0.5
    assert result["disc.position.x"] == pytest.approx(0.2e-3 / w * np.sin(w * result.time), abs=1e-10)
    assert np.ptp(result["energy.total"]) < 1e-12
    # A wheel that leans and steers over waves, by a function that is no distance.
    waves = System("waves")
    wheel = waves.body("wheel", 1.0, (0.01, 0.02, 0.01), at=(0.3, 0.2, 0.5))
    waves.free("air", waves.ground, wheel)
    waves.rolling(
        "roll", waves.ground, wheel, 0.3, "y", surface=lambda x, y, z: z - 0.1 * sin(2 * x) * cos(1.5 * y)
    )
    run = waves.simulate(
        1.0, initial={"air": {"angular_velocity": (0.2, 8.0, 0.5)}}, tolerance=1e-9, output=20
    )
    assert np.ptp(run["energy.total"]) < 1e-6 * run["energy.kinetic"].max()
    assert np.abs(run["constraints.position"]).max() < 1e-10


def bowl() -> System:
    """A ball in a bowl of radius 1 m; its radius is a parameter."""
    system = System("bowl")
    radius = system.parameter("r", 0.1)
    ball = system.body("ball", 1.0, (0.004,) * 3, at=(0.2, 0.1, -((0.81 - 0.05) ** 0.5)))
    system.free("air", system.ground, ball)
    system.rolling(
        "roll", system.ground, ball, radius, surface=lambda x, y, z: 1.0 - sqrt(x * x + y * y + z * z)
    )
    return system


def test_a_ball_in_a_bowl_comes_to_lie_and_swings_at_its_frequency() -> None:
    """w^2 = g / ((R - r) (1 + I / (m r^2))) both ways; its turned pose is neutral."""
    system = bowl()
    found = system.equilibrium()
    assert found.state.q[:3] == pytest.approx([0.0, 0.0, -0.9], abs=1e-9)
    assert found.neutral == ("air.rotation_x", "air.rotation_y", "air.rotation_z")
    assert system.linearize(found).frequencies == pytest.approx(
        [(9.81 / 0.9 / 1.4) ** 0.5 / (2.0 * np.pi)] * 2, rel=1e-9
    )


def test_batches_and_files_of_runs_carry_rolling(tmp_path: Path) -> None:
    """A parameter that shapes the constraint moves the start of each run like that of a single one."""
    system, radii = bowl(), [0.1, 0.12]
    many = simulate_many(system, {"r": radii}, 0.3, quantities=["ball.position.z"], output=2)
    for k, r in enumerate(radii):
        alone = system.simulate(0.3, parameters={"r": r}, output=2)
        assert np.asarray(many["ball.position.z"])[k] == pytest.approx(alone["ball.position.z"], abs=1e-7)
    alone.save(tmp_path / "run.h5")
    again = load_result(tmp_path / "run.h5")
    np.testing.assert_array_equal(again["roll.normal_force"], alone["roll.normal_force"])


def test_a_wheel_rolls_on_a_turning_wheel_and_on_a_rack() -> None:
    """Rims that do not slip: r1 w1 = -r2 w2 of axes at rest, v = r w of a rack."""
    system = System("wheels", gravity=(0, 0, 0))
    sun = system.body("sun", 1.0, (0.2,) * 3)
    planet = system.body("planet", 1.0, (0.1,) * 3, at=(0.5, 0, 0))
    rack = system.body("rack", 1.0, (0.1,) * 3, at=(0.5, 0.2, 0))
    system.revolute("first", system.ground, sun, at=(0, 0, 0))
    system.revolute("second", system.ground, planet, at=(0.5, 0, 0))
    system.prismatic("rail", system.ground, rack, axis="x")
    system.rolling("rims", sun, planet, 0.2, surface=lambda x, y, z: sqrt(x * x + y * y) - 0.3)
    down = rack.frame((0, 0, 0), rotation=((1, 0, 0), (0, 0, -1), (0, 1, 0)))
    system.rolling("teeth", down, planet, 0.2)
    found = analyse(system, initial={"first": (0.0, 2.0)})
    assert found.degrees_of_freedom == 1
    speeds = dict(zip(found.speed_names, found.start.u, strict=True))
    assert speeds["second.angle"] == pytest.approx(-3.0)
    assert speeds["rail.displacement"] == pytest.approx(0.2 * 3.0)


def test_mistakes_are_named() -> None:
    system = machine()
    system.constraint("c", lambda m: m["hook.velocity.x"])
    with pytest.raises(ModelError, match=r"constraint 'c' depends on velocities; give it velocity=True"):
        analyse(system)
    system = machine()
    system.constraint("c", lambda m: m["hook.velocity.x"] ** 2 - 1.0, velocity=True)
    with pytest.raises(ModelError, match=r"constraint 'c' is not linear in the velocities"):
        analyse(system)
    with pytest.raises(ModelError, match=r"constraint 'd' is a ball, which has no rim"):
        system.rolling("d", system.ground, "hook", 0.1, rim=0.1)


def test_a_closed_spline_goes_round() -> None:
    """A bead on a wire through points of a circle turns round and round, at the pace of a bead on the circle."""
    around = 2.0 * np.pi * np.arange(64) / 64
    wire = SplineCurve(0.5 * np.column_stack([np.cos(around), np.sin(around)]), closed=True)
    system = System("bead", gravity=(0, 0, 0))
    bead = system.body("bead", 1.0, (0.1, 0.1, 0.1), at=(0, 0.5, 0))
    system.planar("plane", system.ground, bead)
    system.point_on_curve("wire", system.ground, bead, wire)
    result = system.simulate(
        5.0, initial={"plane": {"x": (0.0, 2.0), "angle": (0.0, 0.0)}}, tolerance=1e-9, output=50
    )
    angle = np.unwrap(np.arctan2(result["bead.position.y"], result["bead.position.x"]))
    assert angle[-1] - angle[0] == pytest.approx(-2.0 / 0.5 * 5.0, rel=1e-4)
    assert np.linalg.norm(result["wire.force"], axis=1) == pytest.approx(8.0, rel=2e-2)
    assert np.asarray(result["wire.s"])[-1] - np.asarray(result["wire.s"])[0] == pytest.approx(
        -10.0, rel=1e-3
    )


def test_a_spring_between_axes_agrees_with_the_rotation_vector() -> None:
    """Small and large turns; its energy is what its torque takes."""
    system = machine()
    system.rotation_spring("s", side(system, "jib"), system.bodies["hook"].frame(rotation=TURN), 3.0, 0.2)
    found = analyse(system)
    for seed, size in ((1, 1e-5), (2, 0.3), (3, 1.5)):
        state = random_state(found, np.random.default_rng(seed), size)
        poses, velocities, _ = body_motion(found, state)
        way = solved(found.traced("recursive"), state, found.parameter_values)
        moved = body_motion(found, state, way.du)[2]
        assert body_difference(accelerations(system, poses, velocities), moved) < AGREEMENT
    ball = System("ball", gravity=(0, 0, 0))
    body = ball.body("b", 1.0, (0.3, 0.2, 0.15))
    ball.spherical("joint", ball.ground, body, at=(0, 0, 0))
    ball.rotation_spring("s", ball.ground, body, 3.0)
    run = ball.simulate(
        3.0, initial={"joint": {"angular_velocity": (2.0, 3.0, 1.0)}}, tolerance=1e-10, output=30
    )
    assert run["s.energy"].max() > 1.0
    assert np.ptp(run["energy.total"]) < 1e-7
