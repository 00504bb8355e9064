"""Surfaces of data that strike: against exact shapes, closed forms, and the other treatment."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ellipk

import bellcrank as bc
from bellcrank.batch import simulate_many
from bellcrank.contact import Sampled
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.shapes import Shape, Sphere
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.mechanism import State
from bellcrank.model import System
from bellcrank.run.simulation import simulate
from contact.test_sampled import on_sphere, sampled_sphere
from impacts.models import TIGHT, G
from impacts.test_saving import check_same, interrupting  # noqa: F401

R = 0.1
SPINNING = {"flight": {"velocity": (0.3, 0.1, 0.0), "angular_velocity": (2.0, 3.0, 1.0)}}


@cache
def sphere(number: int) -> Sampled:
    return sampled_sphere(number, R)


def ball(shape: Shape, height: float = 0.5, **contact: Any) -> System:
    """A free ball of 1 kg over a plane."""
    system = System("ball", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.4 * R * R,) * 3, at=(0.0, 0.0, height))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.shape(shape), **contact)
    return system


def test_bounces_of_a_sampled_ball_converge_to_those_of_a_sphere() -> None:
    """Four times the samples halve their distance; the gap is of fourth order, and with it the time of the impact."""
    speed = math.sqrt(2.0 * G * 0.4)
    errors = []
    for number in (500, 2000):
        mechanism = ball(sphere(number)).mechanism()
        found = []
        for turn in np.random.default_rng(2).normal(size=(8, 3)):
            start = {"flight": {"angular_velocity": tuple(5.0 * turn)}}
            run = simulate(mechanism, 0.3, initial=start, output=2, **TIGHT)
            (hit,) = run.impacts
            found.append(hit.time - speed / G)
        errors.append(math.sqrt(np.mean(np.square(found))))
    assert errors[1] < 2e-7
    assert math.log2(errors[0] / errors[1]) > 3.0


def test_elastic_bounces_keep_their_energy_and_follow_those_of_a_sphere() -> None:
    runs = [ball(shape).simulate(2.0, initial=SPINNING, **TIGHT) for shape in (sphere(2000), Sphere(R))]
    assert len(runs[0].impacts) == len(runs[1].impacts) == 4
    assert np.ptp(runs[0]["energy.total"]) < 1e-10
    away = runs[0]["ball.position"] - runs[1]["ball.position"]
    assert np.abs(away).max() < 1e-4
    assert min(runs[0]["floor.gap"]) > -1e-10


def test_bouncing_ends_when_the_sum_of_its_flights_says() -> None:
    """From h with e = 1/2 at t0 (1 + e) / (1 - e), t0 the time of the fall."""
    run = ball(sphere(1000), restitution=0.5).simulate(1.5, **TIGHT)
    fall = math.sqrt(2.0 * 0.4 / G)
    (rest,) = run.contact_changes
    assert rest.time == pytest.approx(3.0 * fall, rel=5e-6)
    flights = np.diff(run.impacts.times)[:6]
    assert flights == pytest.approx(2.0 * fall * 0.5 ** np.arange(1, 7), rel=1e-5)
    assert run["floor.normal_force"][-1] == pytest.approx(G, rel=1e-5)


def test_sampled_ball_slides_and_then_rolls() -> None:
    """A ball set down with speed v rolls after 2 v / (7 mu g), at 5/7 v."""
    v, mu = 2.0, 0.2
    system = ball(sphere(2000), R + 1e-4, restitution=0.0, friction=mu)
    run = system.simulate(
        0.8, initial={"flight": {"velocity": (v, 0.0, 0.0)}}, tolerance=1e-9, integrator="dop853"
    )
    rest, stick = run.contact_changes
    assert (rest.what, stick.what) == ("rest", "stick")
    assert stick.time == pytest.approx(2.0 * v / (7.0 * mu * G), rel=2e-3)
    assert run["ball.velocity.x"][-1] == pytest.approx(5.0 / 7.0 * v, rel=2e-4)
    rolling = run.time > stick.time
    assert np.abs(run["floor.slip"][rolling]).max() < 1e-12
    assert np.abs(run["floor.gap"][run.time > rest.time]).max() < 1e-12
    # Rolling makes no work, over however many pieces of surface.
    assert np.ptp(run["energy.total"][rolling]) < 1e-7


def bowl(number: int, angle: float) -> System:
    """A ball in a spherical bowl of radius 1 m that is sampled on a grid."""
    t = np.linspace(-0.5, 0.5, number)
    x, y = np.meshgrid(t, t, indexing="ij")
    shape = Sampled.from_grid(np.stack([x, y, 1.0 - np.sqrt(1.0 - x * x - y * y)], axis=2))
    system = System("bowl", gravity=(0.0, 0.0, -G))
    at = (-0.9 * math.sin(angle), 0.0, 1.0 - 0.9 * math.cos(angle) + 1e-6)
    body = system.body("ball", mass=1.0, inertia=(0.4 * R * R,) * 3, at=at)
    system.free("flight", system.ground, body)
    system.contact("bowl", system.ground.shape(shape), body.sphere(R), restitution=0.0, friction=0.8)
    return system


def test_ball_rolls_in_a_sampled_bowl_as_a_pendulum_swings() -> None:
    """Without slip 7/5 (R - r) angle'' = -g sin(angle)."""
    angle, errors = 0.3, []
    period = 4.0 * math.sqrt(7.0 * 0.9 / (5.0 * G)) * float(ellipk(math.sin(0.5 * angle) ** 2))
    for number in (15, 30):
        level = bc.Event("level", lambda m: m["ball.position.x"])
        run = bowl(number, angle).simulate(
            1.75, events=[level], tolerance=1e-9, integrator="dop853", output=100
        )
        first, second = (e.time for e in run.events)
        errors.append(abs(2.0 * (second - first) - period))
        assert [c.what for c in run.contact_changes] == ["rest"]
        assert np.ptp(run["energy.total"][1:]) < 1e-7
        assert np.abs(run["bowl.gap"][1:]).max() < 1e-12
    assert errors[1] < 5e-5
    assert errors[0] > 4.0 * errors[1]


AXES = np.array((0.1, 0.07, 0.05))


def egg(number: int) -> System:
    system = System("egg", gravity=(0.0, 0.0, -G))
    inertia = tuple(0.2 * (np.sum(AXES**2) - AXES**2))
    body = system.body("egg", mass=1.0, inertia=inertia, at=(0.0, 0.0, 0.3))
    system.free("flight", system.ground, body)
    p = on_sphere(number)
    shape = body.shape(Sampled(p * AXES, p / AXES)) if number else body.ellipsoid(*AXES.tolist())
    system.contact("floor", system.ground.plane(), shape, restitution=0.5, friction=0.3, law="stronge")
    return system


def test_sampled_ellipsoid_falls_as_the_exact_one_does() -> None:
    """It strikes with spin and friction, comes to rest while it rocks, sticks and slips."""
    start = {"flight": {"angular_velocity": (1.0, 4.0, 2.0), "velocity": (0.2, 0.0, 0.0)}}
    exact, sampled = (
        egg(number).simulate(0.8, initial=start, tolerance=1e-8, integrator="dop853", output=100)
        for number in (0, 3000)
    )
    # Of the lowest bounces some may pass unseen: their heights are those of rounding.
    assert abs(len(sampled.impacts) - len(exact.impacts)) <= 2
    assert sampled.impacts.times[:18] == pytest.approx(exact.impacts.times[:18], abs=1e-4)
    assert sampled.impacts[0].time == pytest.approx(exact.impacts[0].time, abs=1e-6)
    changes, expected = sampled.contact_changes, exact.contact_changes
    assert [c.what for c in changes] == [c.what for c in expected] == ["rest", "stick", "slip"]
    assert [c.time for c in changes] == pytest.approx([c.time for c in expected], abs=2e-3)
    # Between two gatherings of samples no gap closes unseen.
    assert min(sampled["floor.gap"]) > -1e-10


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
def test_two_sampled_bodies_strike_as_spheres_do(law: str) -> None:
    def pair(shape: Shape) -> System:
        system = System("two", gravity=(0.0, 0.0, 0.0))
        sides = []
        for k, (x, y, mass) in enumerate(((-0.15, 0.0, 1.0), (0.15, 0.04, 2.0))):
            body = system.body(f"ball {k}", mass=mass, inertia=(0.4 * mass * R * R,) * 3, at=(x, y, 0.0))
            system.free(f"flight {k}", system.ground, body)
            sides.append(body.shape(shape))
        system.contact("hit", *sides, restitution=0.6, friction=0.2, law=law)
        return system

    start = {
        "flight 0": {"velocity": (1.0, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 5.0)},
        "flight 1": {"angular_velocity": (1.0, 2.0, 3.0)},
    }
    one, two = (pair(s).simulate(0.4, initial=start, output=4, **TIGHT) for s in (sphere(4000), Sphere(R)))
    (hit,), (expected,) = one.impacts, two.impacts
    assert hit.time == pytest.approx(expected.time, abs=2e-5)
    assert hit.impulse == pytest.approx(expected.impulse, rel=2e-4)
    # Normals are of third order; spins feel their errors by impulse and radius over the inertia.
    assert hit.contacts[0].normal == pytest.approx(expected.contacts[0].normal, abs=2e-4)
    for k in (0, 1):
        assert one[f"ball {k}.velocity"][-1] == pytest.approx(two[f"ball {k}.velocity"][-1], abs=1e-4)
        spin, expected_spin = (run[f"ball {k}.angular_velocity"][-1] for run in (one, two))
        assert spin == pytest.approx(expected_spin, abs=2e-4 * 0.9 * R / (0.4 * R * R))
    assert one["momentum"][-1] == pytest.approx(one["momentum"][0], abs=1e-11)


def paraboloid() -> Parametric:
    """z = (x^2 + y^2) / 2, exactly, of 4 by 4 patches: control points are blossoms at the knots."""
    knots = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0])
    s, t = 0.5 * knots[1:7] - 1.0, 0.5 * knots[2:8] - 1.0
    at, square = 0.5 * (s + t), s * t
    x, y = np.meshgrid(at, at, indexing="ij")
    z = 0.5 * (square[:, None] + square[None, :])
    return Parametric.b_spline(np.stack([x, y, z], axis=2), degrees=(2, 2))


def test_ball_strikes_and_slides_on_a_spline() -> None:
    """The impact where and as the distance to the paraboloid says; then over seams without losing energy."""
    x0, z0, shape = 0.3, 0.5, paraboloid()

    def dropped(e: float, duration: float) -> bc.Result:
        system = System("spline", gravity=(0.0, 0.0, -G))
        body = system.body("ball", mass=1.0, inertia=(0.4 * R * R,) * 3, at=(x0, 0.0, z0))
        system.free("flight", system.ground, body)
        system.contact("bowl", system.ground.shape(shape), body.sphere(R), restitution=e)
        return system.simulate(duration, output=100, tolerance=1e-9, integrator="dop853")

    def foot(t: float) -> tuple[float, float]:
        z = z0 - 0.5 * G * t * t
        found = minimize_scalar(
            lambda x: (x - x0) ** 2 + (0.5 * x * x - z) ** 2, bounds=(0.0, 0.4), options={"xatol": 1e-12}
        )
        return math.sqrt(found.fun) - R, found.x

    due = brentq(lambda t: foot(t)[0], 0.0, 0.3, xtol=1e-12)
    e = 0.6
    hit = dropped(e, 0.3).impacts[0]
    assert hit.time == pytest.approx(due, abs=1e-6)
    normal = np.array([-foot(due)[1], 0.0, 1.0])
    normal /= np.linalg.norm(normal)
    v = np.array([0.0, 0.0, -G * due])
    assert hit.contacts[0].normal == pytest.approx(normal, abs=1e-5)
    assert hit.speeds_after[3:6] == pytest.approx(v - (1.0 + e) * (v @ normal) * normal, abs=1e-4)
    run = dropped(0.0, 1.2)
    (rest,) = run.contact_changes
    sliding = run.time > rest.time
    assert np.ptp(run["ball.position.x"][sliding]) > 0.3
    assert np.ptp(run["energy.total"][sliding]) < 1e-7
    assert np.abs(run["bowl.gap"][sliding]).max() < 1e-11


def dumbbell() -> Sampled:
    """A body of revolution about x with two bulbs, 0.2 m long; not convex."""
    x = np.linspace(-1.0, 1.0, 4001)
    radius = 0.25 * np.sqrt(1.0 - x * x) * (1.0 + 1.2 * x * x)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(radius)))])
    rings, points, normals = 40, [], []
    for k in range(rings):
        s = (k + 0.5) * along[-1] / rings
        at, r = float(np.interp(s, along, x)), float(np.interp(s, along, radius))
        step = np.array([s - 1e-4, s + 1e-4])
        dx, dr = (float(np.diff(np.interp(step, along, f))[0]) for f in (x, radius))
        count = max(5, round(2.0 * np.pi * r * rings / along[-1]))
        turn = 2.0 * np.pi * (np.arange(count) + 0.5 * (k % 2)) / count
        c, s_ = np.cos(turn), np.sin(turn)
        points.append(np.stack([np.full(count, at), r * c, r * s_], axis=1))
        normals.append(np.stack([np.full(count, -dr), dx * c, dx * s_], axis=1))
    return Sampled(0.1 * np.vstack(points), np.vstack(normals))


def test_a_search_that_finds_another_place_is_no_impact() -> None:
    """The lowest place of a dumbbell that turns in flight passes from one bulb to the other."""
    system = System("dumbbell", gravity=(0.0, 0.0, -G))
    body = system.body("body", mass=1.0, inertia=(4e-4, 3e-3, 3e-3), at=(0.0, 0.0, 0.4))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.shape(dumbbell()), restitution=0.5, friction=0.3)
    start = {"flight": {"angular_velocity": (0.0, 25.0, 0.0)}}
    mechanism = system.mechanism()
    run = simulate(mechanism, 0.2, initial=start, output=400, tolerance=1e-8)
    assert not len(run.impacts)
    jumps = np.abs(np.diff(run["floor.point.x"]))
    assert jumps.max() > 0.05
    assert np.abs(np.diff(run["floor.gap"])).max() < 0.02


def test_queues_find_the_impacts_of_sampled_bodies() -> None:
    system = ball(sphere(1000), restitution=0.7, friction=0.2)
    options: dict[str, Any] = {"initial": SPINNING, "output": 60, **TIGHT}
    dense = system.simulate(1.2, **options)
    errors = []
    for step in (0.02, 0.005):
        queued = system.simulate(1.2, impacts="queue", max_step=step, **options)
        assert len(queued.impacts) == len(dense.impacts)
        errors.append(np.abs(queued.impacts.times - dense.impacts.times).max())
    assert errors[0] < 2e-6
    assert errors[1] < 0.1 * errors[0]


@pytest.mark.parametrize("impacts", ["dense", "queue"])
def test_an_interrupted_run_on_samples_goes_on(
    impacts: str,
    interrupting: Callable[[int], None],  # noqa: F811
    tmp_path: Path,
) -> None:
    """Bounces, slides and rolls; what the searches remember comes along."""

    def make() -> System:
        return ball(sphere(500), 0.101, restitution=0.4, friction=0.3)

    start = {"flight": {"velocity": (1.0, 0.0, 0.0), "angular_velocity": (3.0, 0.0, 5.0)}}
    options: dict[str, Any] = {"initial": start, "output": 40, "progress": False, "impacts": impacts}
    options |= {"max_step": 0.02, "tolerance": 1e-8, "integrator": "dop853"}
    whole = make().simulate(0.2, **options)
    assert {c.what for c in whole.contact_changes} == {"rest", "stick"}
    path, left = tmp_path / "run.h5", 0
    for number in (3, 10, 20, 10**6):
        interrupting(number)
        part = bc.resume(path) if path.exists() else make().simulate(0.2, save=path, **options)
        left += part.run.status == "interrupted"
    assert left >= 2
    check_same(part, whole)


def test_stiff_continuous_contact_converges_to_the_impulsive_one() -> None:
    """One argument switches. The time of contact goes with K^(-2/5), and with it what is between the two."""
    options: dict[str, Any] = {"initial": SPINNING, "output": [0.5, 0.6], "tolerance": 1e-9}
    law: dict[str, Any] = {"restitution": 0.7, "friction": 0.1}
    expected = ball(sphere(1000), treatment="impulsive", **law).simulate(0.6, **options)
    errors = []
    for stiffness in (1e8, 1e10):
        run = ball(sphere(1000), treatment="continuous", stiffness=stiffness, **law).simulate(0.6, **options)
        errors.append(np.abs(run["ball.velocity"] - expected["ball.velocity"]).max())
    assert errors[1] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(100.0**0.4, rel=0.25)


def test_model_files_hold_surfaces_that_strike() -> None:
    system = ball(sphere(100), restitution=0.4, friction=0.2, law="poisson")
    text = dumps(system)
    again = loads(text)
    assert dumps(again) == text
    assert list(again.contacts) == ["floor"]
    assert not again.forces
    one, two = (s.simulate(0.4, output=4, tolerance=1e-8) for s in (system, again))
    assert np.array_equal(one.q, two.q)


def test_a_body_that_is_put_elsewhere_is_searched_anew() -> None:
    def turned(state: State, p: object) -> State:
        q = state.q.copy()
        q[3:7], q[:3] = (0.0, 0.6, 0.8, 0.0), q[:3] + np.array([0.2, 0.0, 0.1])
        return replace(state, q=q)

    lift = bc.Event("lift", lambda m: m["t"] - 0.1, jump=turned)
    runs = [
        ball(shape, restitution=0.5).simulate(0.8, events=[lift], output=80, **TIGHT)
        for shape in (sphere(2000), Sphere(R))
    ]
    assert runs[0].impacts.times == pytest.approx(runs[1].impacts.times, abs=1e-5)
    assert min(runs[0]["floor.gap"]) > -1e-10


def test_many_runs_meet_their_samples_one_by_one() -> None:
    system = ball(sphere(500), restitution=0.6)
    push = system.parameter("push", 0.0, "N")
    system.applied_force("hand", system.bodies["ball"].origin, lambda t: (0.0, 0.0, push + 0.0 * t))
    table = {"push": [0.0, -5.0]}
    found = simulate_many(system, table, 0.5, quantities=["ball.position.z"], tolerance=1e-9, output=5)
    assert not found.failures
    for k, force in enumerate(table["push"]):
        given = {"push": force}
        alone = system.simulate(0.5, parameters=given, output=5, tolerance=1e-9, integrator="dop853")
        assert found["ball.position.z"][k] == pytest.approx(alone["ball.position.z"], abs=1e-9)


def test_what_belongs_to_other_contacts_is_refused() -> None:
    with pytest.raises(ModelError, match="contact 'floor': stiffness belongs to the continuous treatment"):
        ball(sphere(100), stiffness=1e6)
    with pytest.raises(ModelError, match="points= is not taken any more"):
        ball(sphere(100), points=13)
    with pytest.raises(ModelError, match=r"start 0\.995 mm inside each other"):
        ball(sphere(500), R - 1e-3).simulate(0.1)
