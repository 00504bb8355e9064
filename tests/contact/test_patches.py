"""Bezier and B-spline patches: evaluation, seams, rims, contact, and the patch of paper C with its known offset."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.spatial.transform import Rotation

from bellcrank.contact import Plane, Sphere
from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.parametric import SLACK, Parametric
from bellcrank.contact.patches import patch_at
from bellcrank.contact.search import SampledPair
from bellcrank.errors import ModelError
from bellcrank.model import System


def sphere_grid(rows: int) -> np.ndarray:
    polar = np.linspace(0.0, np.pi, rows + 2)[1:-1]
    turn = np.linspace(0.0, 2.0 * np.pi, 2 * rows, endpoint=False)
    a, b = np.meshgrid(polar, turn, indexing="ij")
    return np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=2)


def ring() -> Parametric:
    """About a torus, from a periodic net."""
    u, v = np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False), np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    a, b = np.meshgrid(u, v, indexing="ij")
    r = 2.0 + 0.8 * np.cos(b)
    return Parametric.b_spline(
        np.stack([r * np.cos(a), r * np.sin(a), 0.8 * np.sin(b)], axis=2), around=(True, True)
    )


def test_b_splines_are_the_patches_they_are_made_of() -> None:
    random = np.random.default_rng(5)
    net = random.normal(size=(6, 5, 3))
    surface = Parametric.b_spline(net, degrees=(3, 2))
    knots = [np.array([0, 0, 0, 0, 1, 2, 3, 3, 3, 3.0]), np.array([0, 0, 0, 1, 2, 3, 3, 3.0])]
    for i in range(3):
        for j in range(3):
            u, v = random.uniform(size=2)
            expected = BSpline(knots[1], BSpline(knots[0], net, 3)(i + u), 2)(j + v)
            assert patch_at(surface.nets[3 * i + j], u, v)[0] == pytest.approx(expected, abs=1e-12)


def test_closed_splines_join_with_their_curvature() -> None:
    surface = ring()
    assert len(surface.nets) == 80
    assert surface._rims == pytest.approx(np.tile([-SLACK, 1.0 + SLACK, -SLACK, 1.0 + SLACK], (80, 1)))
    one, next_ = surface.nets[0], surface.nets[1]
    for here, there in zip(patch_at(one, 0.3, 1.0), patch_at(next_, 0.3, 0.0), strict=True):
        assert here == pytest.approx(there, abs=1e-12)


def test_ball_meets_a_spline_where_a_fine_grid_says() -> None:
    surface = ring()
    t = np.linspace(0.0, 1.0, 41)
    every = surface.nets.transpose(1, 2, 0, 3)
    fine = np.concatenate([patch_at(every, u, v)[0] for u in t.tolist() for v in t.tolist()])
    pair, random = SampledPair(surface, Sphere(0.2)), np.random.default_rng(2)
    for _ in range(8):
        a, b = random.uniform(0.0, 2.0 * np.pi, size=2)
        c = np.array([(2.0 + np.cos(b)) * np.cos(a), (2.0 + np.cos(b)) * np.sin(a), np.sin(b)])
        found = pair(np.eye(3), c)
        expected = np.linalg.norm(fine - c, axis=1).min() - 0.2
        assert expected - 1e-3 < found[0] <= expected + 1e-9
        assert found[1] == pytest.approx((c - found[2]) / np.linalg.norm(c - found[2]), abs=1e-6)


def test_ball_rolls_over_the_seams_of_a_bowl_without_losing_energy() -> None:
    """Frictionless in a spline bowl, through many patches: the energy stays."""
    t = np.linspace(-1.0, 1.0, 7)
    x, y = np.meshgrid(t, t, indexing="ij")
    bowl = Parametric.b_spline(np.stack([x, y, 0.5 * (x * x + y * y)], axis=2))
    system = System("bowl")
    ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(0.4, 0.0, 0.3))
    system.free("flight", system.ground, ball)
    system.contact(
        "bowl",
        system.ground.shape(bowl),
        ball.sphere(0.1),
        treatment="continuous",
        stiffness=1e6,
        law="hertz",
    )
    run = system.simulate(
        1.0,
        formulation="recursive",
        tolerance=1e-9,
        output=200,
        integrator="dop853",
        initial={"flight": {"velocity": (0.0, 0.5, 0.0)}},
    )
    assert np.ptp(run["energy.total"]) < 1e-6 * np.ptp(run["energy.gravity"])
    assert np.ptp(run["ball.position.x"]) > 0.3
    assert min(run["bowl.gap"]) < 0.0


def test_contact_ends_at_the_rim() -> None:
    t = np.linspace(-1.0, 1.0, 4)
    x, y = np.meshgrid(t, t, indexing="ij")
    plate = Parametric.bezier(np.stack([x, y, np.zeros_like(x)], axis=2))
    pair = SampledPair(plate, Sphere(0.2))
    assert pair(np.eye(3), np.array([0.9, 0.0, 0.19]))[0] == pytest.approx(-0.01, abs=1e-9)
    assert pair(np.eye(3), np.array([2.5, 0.0, 0.19]))[0] == np.inf


def errors_of(shape: BezierGrid) -> tuple[float, float]:
    pair, random = SampledPair(shape, Sphere(0.5)), np.random.default_rng(1)
    rows = []
    for _ in range(60):
        way = random.normal(size=3) * [1.0, 1.0, 0.4]
        way /= np.linalg.norm(way)
        gap = random.uniform(0.0, 0.1)
        found = pair(Rotation.random(random_state=random).as_matrix(), (1.5 + gap) * way)
        rows.append((found[0] - gap, np.linalg.norm(found[1] - way)))
    assert np.mean(rows, axis=0)[0] > 0.0
    gap_error, normal_error = np.sqrt(np.mean(np.square(rows), axis=0))
    return float(gap_error), float(normal_error)


def test_patch_of_paper_c_as_a_contact_shape_has_its_known_offset() -> None:
    """3.7e-3 of the radius at 32 rows, of second order; normals of first: it is a comparison, not the default."""
    coarse, fine = (errors_of(BezierGrid(sphere_grid(n), True, (0.0, 0.0, 0.0))) for n in (16, 32))
    assert fine[0] == pytest.approx(3.7e-3, rel=0.15)
    assert np.log2(coarse[0] / fine[0]) == pytest.approx(2.0, abs=0.2)
    assert np.log2(coarse[1] / fine[1]) == pytest.approx(1.0, abs=0.3)


def test_ball_of_paper_c_bounces() -> None:
    """A constant offset does not change the rebound: speeds after the impact are those of the restitution."""
    shape = BezierGrid(0.1 * sphere_grid(17), True, (0.0, 0.0, 0.0))
    system = System("bounce", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(0.11, 0.0, 0.0))
    system.free("flight", system.ground, ball)
    system.contact(
        "wall",
        system.ground.plane(normal=(1.0, 0.0, 0.0)),
        ball.shape(shape),
        treatment="continuous",
        stiffness=1e7,
        restitution=0.7,
    )
    run = system.simulate(
        0.05,
        initial={"flight": {"velocity": (-1.0, 0.0, 0.0)}},
        formulation="recursive",
        tolerance=1e-9,
        output=20,
    )
    assert float(run["ball.velocity.x"][-1]) == pytest.approx(0.7, abs=1e-3)


def test_patches_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ModelError, match="more than 3 control points"):
        Parametric.b_spline(np.zeros((3, 5, 3)))
    with pytest.raises(ModelError, match="knots must not fall"):
        Parametric.b_spline(np.zeros((5, 5, 3)), knots=([0.0] * 3, [0.0] * 3))
    with pytest.raises(ModelError, match="not a number"):
        Parametric.bezier(np.full((3, 3, 3), np.nan))
    with pytest.raises(ModelError, match="at least 3 x 3"):
        BezierGrid(np.zeros((2, 3, 3)))
    with pytest.raises(ModelError, match="surface of data"):
        SampledPair(Sphere(1.0), Plane())


def ring_on(ground: str, stiffness: float, **contact: object) -> System:
    """A small ring of patches above a plane or a bowl of patches."""
    system = System("ring")
    body = system.body("ring", mass=1.0, inertia=(4e-3, 5e-3, 6e-3), at=(0.3, 0.0, 0.45))
    system.free("flight", system.ground, body)
    t = np.linspace(-1.0, 1.0, 9)
    x, y = np.meshgrid(t, t, indexing="ij")
    bowl = Parametric.b_spline(np.stack([x, y, 0.5 * (x * x + y * y)], axis=2))
    below = system.ground.plane() if ground == "plane" else system.ground.shape(bowl)
    ring_of_patches = Parametric(0.08 * ring().nets)
    system.contact(
        "below",
        below,
        body.shape(ring_of_patches),
        treatment="continuous",
        stiffness=stiffness,
        law="hertz",
        **contact,
    )  # type: ignore[arg-type]
    return system


@pytest.mark.parametrize("ground", ["plane", "bowl"])
@pytest.mark.parametrize("stiffness", [1e6, 1e8])
def test_a_ring_of_patches_tumbles_without_losing_energy(ground: str, stiffness: float) -> None:
    """Also 9 mm deep, where the circle on which it would lie flat overlaps beside its one contact point."""
    run = ring_on(ground, stiffness).simulate(
        0.6,
        formulation="recursive",
        tolerance=1e-9,
        output=100,
        integrator="dop853",
        initial={"flight": {"velocity": (0.0, 0.3, 0.0), "angular_velocity": (2.0, 1.0, 0.5)}},
    )
    assert np.ptp(run["energy.total"]) < 3e-7 * np.ptp(run["energy.gravity"])
    assert sum(event.name == "below: touch" for event in run.events) >= 2


def test_ball_between_the_sides_of_a_groove() -> None:
    """It goes along the groove as if nothing held it, and rests on both sides with half its weight each, tilted."""
    d = 0.6 * np.sqrt(0.5)
    left = [[[-d, s, d] for s in (-1.0, 1.0)], [[0.0, s, 0.0] for s in (-1.0, 1.0)]]
    right = [[[0.0, s, 0.0] for s in (-1.0, 1.0)], [[d, s, d] for s in (-1.0, 1.0)]]
    system = System("groove")
    # 1e6 N/m^1.5 each: the gap where both sides carry the weight over root two.
    gap = -((9.81 * np.sqrt(0.5) / 1e6) ** (2.0 / 3.0))
    ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, -0.8, (0.1 + gap) * np.sqrt(2.0)))
    system.free("flight", system.ground, ball)
    groove = Parametric(np.array([left, right]))
    system.contact(
        "groove",
        system.ground.shape(groove),
        ball.sphere(0.1),
        points=2,
        treatment="continuous",
        stiffness=1e6,
        law="hertz",
    )
    run = system.simulate(
        1.0,
        formulation="recursive",
        tolerance=1e-9,
        output=50,
        initial={"flight": {"velocity": (0.0, 0.9, 0.0)}},
    )
    assert run["ball.position.y"] == pytest.approx(-0.8 + 0.9 * run.time, abs=1e-9)
    assert np.abs(run["ball.position.x"]).max() < 1e-9
    for k in (1, 2):
        assert run[f"groove {k}.normal_force"] == pytest.approx(9.81 * np.sqrt(0.5), rel=1e-4)


@pytest.mark.parametrize("kind", ["patch", "spline", "grid"])
def test_ball_rolls_off_a_plate_and_falls(kind: str) -> None:
    """Behind the rim there is nothing: it falls freely, and one that falls past the rim never touches."""
    number = {"patch": 4, "spline": 8, "grid": 21}[kind]
    t = np.linspace(-1.0, 1.0, number)
    x, y = np.meshgrid(t, t, indexing="ij")
    net = np.stack([x, y, np.zeros_like(x)], axis=2)
    plate = (
        BezierGrid(net)
        if kind == "grid"
        else Parametric.bezier(net)
        if kind == "patch"
        else Parametric.b_spline(net)
    )
    depth = (9.81 / 1e6) ** (2.0 / 3.0)
    for start, height, speed in ((0.7, 0.1 - depth, 1.0), (-0.7, 0.1 - depth, -1.0), (1.02, 0.3, 0.0)):
        system = System("plate")
        ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(start, 0.013, height))
        system.free("flight", system.ground, ball)
        system.contact(
            "plate",
            system.ground.shape(plate),
            ball.sphere(0.1),
            treatment="continuous",
            stiffness=1e6,
            law="hertz",
        )
        run = system.simulate(
            0.5,
            formulation="recursive",
            tolerance=1e-9,
            output=97,
            initial={"flight": {"velocity": (speed, 0.0, 0.0)}},
        )
        left = 0.3 if speed else 0.0
        falling = np.maximum(run.time - left, 0.0)
        assert run["ball.position.z"] == pytest.approx(height - 0.5 * 9.81 * falling**2, abs=1e-8)
        assert run["ball.position.x"] == pytest.approx(start + speed * run.time, abs=1e-8)
        assert np.all(run["plate.normal_force"][run.time > left + 1e-9] == 0.0)


def test_a_box_of_patches_comes_to_rest_on_its_corners() -> None:
    from contact.test_patched_meeting import box

    system = System("box")
    body = system.body("box", mass=1.0, inertia=(0.02,) * 3, at=(0.0, 0.0, 0.11))
    system.free("flight", system.ground, body)
    system.contact(
        "floor",
        system.ground.plane(),
        body.shape(box(np.array([0.3, 0.2, 0.1]))),
        points=4,
        treatment="continuous",
        stiffness=1e5,
        restitution=0.3,
        friction=0.3,
    )
    run = system.simulate(
        1.0,
        formulation="recursive",
        tolerance=1e-7,
        output=20,
        initial={"flight": {"angular_velocity": (0.3, 0.5, 0.1)}},
    )
    forces = [float(run[f"floor {k}.normal_force"][-1]) for k in range(1, 5)]
    assert sum(forces) == pytest.approx(9.81, rel=1e-3)
    assert forces == pytest.approx([9.81 / 4] * 4, rel=0.02)
    assert float(run["box.position.z"][-1]) == pytest.approx(0.1, abs=1e-3)


def egg() -> Parametric:
    """Closed, of patches whose sides at both poles are single points; flat there."""
    wide, high = np.array([0.0, 0.9, 1.0, 1.0, 0.9, 0.0]), np.array([1.0, 1.0, 0.5, -0.5, -1.0, -1.0])
    turn = 2.0 * np.pi * np.arange(12) / 12
    parts = np.outer(wide, np.cos(turn)), np.outer(wide, np.sin(turn)), np.outer(high, np.ones(12))
    return Parametric.b_spline(0.1 * np.stack(parts, axis=2), around=(False, True))


@pytest.mark.parametrize(("spin", "kept"), [(0.0, 1e-6), (0.3, 2e-5)])
def test_an_egg_rocks_over_its_pole(spin: float, kept: float) -> None:
    """Through the pole, behind which its patches are turned inside out, and around it."""
    system = System("egg")
    body = system.body("egg", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, 0.0, 0.1002))
    system.free("flight", system.ground, body)
    system.contact(
        "floor",
        system.ground.plane(),
        body.shape(egg()),
        treatment="continuous",
        stiffness=1e6,
        law="hertz",
    )
    run = system.simulate(
        0.3,
        formulation="recursive",
        tolerance=1e-9,
        output=100,
        integrator="dop853",
        initial={"flight": {"angular_velocity": (0.0, 3.0, spin)}},
    )
    assert np.ptp(run["energy.total"]) < kept * run["energy.kinetic"].max()
    # It rocked to one side and back beyond its pole.
    below = run["floor.point"][:, 0] - run["egg.position.x"]
    assert below.max() > 5e-3
    assert below.min() < -5e-3
