"""The distance joint: against Newton-Euler with multipliers, closed forms, and a ball on a real joint."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import simpson

from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.program.functions import sin
from bellcrank.run.events import Event
from bellcrank.view.scene import scene
from formulations.comparison import AGREEMENT, body_difference, body_motion, random_state, solved
from reference import newton_euler

G = 9.81
RUN = {"tolerance": 1e-11}


def crane(length: object = "parameter") -> System:
    """A jib on a hinge, a hook body that floats, and a rod between points off their origins."""
    system = System("crane")
    L = system.parameter("L", 1.3)
    jib = system.body("jib", 5.0, (0.4, 0.9, 0.7), center_of_mass=(0.4, 0.1, 0.0))
    hook = system.body("hook", 2.0, (0.05, 0.08, 0.06), at=(1.0, 0.2, -1.1), angle=0.3)
    system.cylindrical("mast", system.ground, jib, at=(0, 0, 0))
    system.free("air", system.ground, hook)
    system.spring("rope", system.ground.point(0.3, 1, 0), hook, 40.0, 0.5, free_length=1.0)
    system.distance(
        "rod", jib.point(0.9, 0.1, 0.2), hook.point(0.1, -0.2, 0.3), L if length == "parameter" else length
    )
    return system


@pytest.mark.parametrize("length", ["parameter", lambda t: 1.2 + 0.2 * sin(3.0 * t)])
def test_all_formulations_agree_with_multipliers_on_bodies(length: object) -> None:
    found = analyse(crane(length), t=0.4)
    assert found.degrees_of_freedom == 7
    state = random_state(found, np.random.default_rng(2), 0.3, t=0.4)
    poses, velocities, _ = body_motion(found, state)
    reference = newton_euler.accelerations(found.system, None, 0.4, poses, velocities)
    for formulation in FORMULATIONS:
        way = solved(found.traced(formulation), state, found.parameter_values)
        assert body_difference(reference, body_motion(found, state, way.du)[2]) < AGREEMENT


def test_two_points_spin_about_each_other() -> None:
    """In space both masses circle their common centre: tension m1 m2 / (m1 + m2) w^2 L."""
    system = System("bolas", gravity=(0, 0, 0))
    first, second = (
        system.body("first", 2.0, (1, 1, 1), at=(0, 0, 0)),
        system.body("second", 3.0, (1, 1, 1), at=(1.5, 0, 0)),
    )
    for body in (first, second):
        system.planar(f"plane of {body.name}", system.ground, body, axis="z")
    system.distance("rod", first, second)
    w = 2.0
    start = {
        "plane of first": {"y": (0.0, -3.0 / 5.0 * 1.5 * w)},
        "plane of second": {"y": (0.0, 2.0 / 5.0 * 1.5 * w)},
    }
    result = system.simulate(0.5, initial=start, **RUN)
    assert np.asarray(result["rod.tension"]) == pytest.approx(2.0 * 3.0 / 5.0 * w**2 * 1.5, rel=1e-7)
    assert np.asarray(result["first.position.x"])[-1] == pytest.approx(
        0.9 - 0.9 * math.cos(0.5 * w), abs=1e-8
    )


def test_conical_pendulum_hangs_at_its_angle() -> None:
    L, angle = 1.2, 0.7
    r, h = L * math.sin(angle), L * math.cos(angle)
    system = System("conical pendulum")
    bob = system.body("bob", 2.0, (0.1, 0.1, 0.1), at=(r, 0, -h))
    system.free("air", system.ground, bob)
    system.distance("rod", system.ground, bob, length=L)
    speed = math.sqrt(G * r * math.tan(angle))
    result = system.simulate(1.5, initial={"air": {"velocity": (0, speed, 0)}}, **RUN)
    assert np.asarray(result["bob.position.z"]) == pytest.approx(-h, abs=1e-8)
    assert np.asarray(result["rod.tension"]) == pytest.approx(2.0 * G / math.cos(angle), rel=1e-8)
    assert np.asarray(result["rod.force.z"]) == pytest.approx(2.0 * G, rel=1e-8)
    assert np.asarray(result["rod.length"]) == pytest.approx(L, abs=1e-10)


def test_swings_like_a_pendulum_on_a_pin() -> None:
    def swing(by_distance: bool) -> np.ndarray:
        system = System("pendulum")
        bob = system.body("bob", 1.0, (0.1, 0.1, 0.1) if by_distance else (0, 0, 0), at=(0.8, 0, 0))
        if by_distance:
            system.planar("plane", system.ground, bob, axis="y")
            system.distance("rod", system.ground, bob)
        else:
            system.revolute("pin", system.ground, bob, at=(0, 0, 0), axis="y")
        found = system.simulate(1.0, output=0.1, **RUN)
        return np.stack([found["bob.position.x"], found["bob.position.z"]])

    assert np.abs(swing(True) - swing(False)).max() < 1e-8


def test_a_driven_length_works_on_the_mechanism() -> None:
    """What the rod gives is what the energy takes up."""
    result = crane(lambda t: 1.2 + 0.1 * sin(4.0 * t)).simulate(0.6, output=0.001, **RUN)
    t = np.asarray(result.time)
    assert np.asarray(result["rod.length"]) == pytest.approx(1.2 + 0.1 * np.sin(4.0 * t), abs=1e-9)
    power = np.asarray(result["power.drivers"])
    assert power == pytest.approx(
        -np.asarray(result["rod.tension"]) * 0.4 * np.cos(4.0 * t), rel=1e-6, abs=1e-8
    )
    given = simpson(power + np.asarray(result["power.forces"]), x=t)
    energy = np.asarray(result["energy.total"])
    assert energy[-1] - energy[0] == pytest.approx(given, abs=1e-6)
    assert np.ptp(energy) > 0.4


@pytest.mark.parametrize("length", ["parameter", 1.25, lambda t: 1.2 + 0.2 * sin(3.0 * t), None])
def test_files_carry_the_length(length: object) -> None:
    system = crane(length)
    text = dumps(system)
    again = loads(text)
    assert dumps(again) == text
    assert callable(again.joints["rod"].length) == callable(system.joints["rod"].length)
    first, second = (analyse(s, t=0.2).start.q for s in (system, again))
    np.testing.assert_array_equal(first, second)


def test_a_parameter_changes_the_length() -> None:
    found = crane().simulate(0.01, parameters={"L": 1.1})
    assert np.asarray(found["rod.length"]) == pytest.approx(1.1, abs=1e-12)
    with pytest.raises(ModelError, match=r"length of distance joint 'rod' is 0 m; .* system.spherical"):
        crane().simulate(0.01, parameters={"L": 0.0})


@pytest.mark.parametrize("length", [0.0, -1.0, lambda t: t])
def test_no_distance_is_a_ball(length: object) -> None:
    with pytest.raises(ModelError, match=r"length of distance joint 'rod' .* system.spherical"):
        crane(length)


def test_a_body_needs_more_than_a_distance() -> None:
    system = System("loose")
    system.distance("rod", system.ground, system.body("bob", 1.0, at=(1, 0, 0)))
    with pytest.raises(ModelError, match=r"'rod' only holds it at a distance.*system.free"):
        analyse(system)


def test_the_rod_is_drawn() -> None:
    run = crane().simulate(0.01)
    drawn = scene(run)
    rod, spring = (link for link in drawn.links if link.length > 0.0)
    assert rod.length == pytest.approx(float(run["rod.length"][0]))
    faces = {k: len(s.faces) for k, s in drawn.solids if k >= len(drawn.bodies) - len(drawn.links)}
    first = len(drawn.bodies) - len(drawn.links)
    # A spring is wound, a rod is not.
    assert faces[first + drawn.links.index(spring)] > 5 * faces[first + drawn.links.index(rod)]


def shrinking() -> System:
    """A bob on a rod that is pulled in, to nothing at 2 s."""
    system = System("shrinking", gravity=(0.0, 0.0, -9.81))
    bob = system.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(1.0, 0.0, 0.0))
    system.free("flight", system.ground, bob)
    system.distance(
        "rod", system.ground.point(0.0, 0.0, 0.0), bob.point(0.0, 0.0, 0.0), length=lambda t: 1.0 - 0.5 * t
    )
    return system


def test_a_length_that_falls_to_zero_is_named_at_once() -> None:
    with pytest.raises(ModelError, match=r"distance joint 'rod' falls to zero by t = 2"):
        shrinking().simulate(3.0)


def test_a_run_that_ends_before_its_rod_is_gone_is_not_refused() -> None:
    stop = Event("stop", lambda m: m["t"] - 1.0, stops=True)
    assert shrinking().simulate(3.0, output=30, events=[stop]).run.status == "event"
    assert shrinking().simulate(1.0, output=5)["rod.length"][-1] == pytest.approx(0.5, abs=1e-10)
