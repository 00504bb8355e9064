"""Fast bodies do not pass over contacts, whatever the steps: against closed forms."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank.contact import ClosestKernel, Ellipsoid
from bellcrank.integrate import METHODS, SimulationError, Status
from bellcrank.mechanism import Mechanism
from bellcrank.model import System
from bellcrank.result.result import Result
from contact.test_sampled import sampled_ellipsoid, sampled_sphere

ADAPTIVE = [name for name in METHODS if name != "runge_kutta4"]
RADIUS = 0.01
FLIGHTS = [(100.0, 1.0), (1000.0, 1.0), (100.0, 1e4), (1e4, 1e4), (1.0, 100.0)]


def balls(distance: float, shapes: Any = None, offset: float = 0.0, **contact: Any) -> System:
    """Two balls of 1 kg with a contact; one rests at the origin, the other is to come along x."""
    system = System("balls", gravity=(0.0, 0.0, 0.0))
    one = system.body("one", mass=1.0, inertia=(1e-3,) * 3)
    other = system.body("other", mass=1.0, inertia=(1e-3,) * 3, at=(distance, offset, 0.0))
    for body in (one, other):
        system.free(f"flight of {body.name}", system.ground, body)
    a, b = (one.sphere(RADIUS), other.sphere(RADIUS)) if shapes is None else shapes(one, other)
    system.contact("bump", a, b, **contact)
    return system


def thrown(mechanism: Mechanism, speed: float, duration: float, **options: Any) -> Result:
    velocity = {"flight of other": {"velocity": (-speed, 0.0, 0.0)}}
    return mechanism.simulate(duration, initial=velocity, output=20, **options)


@cache
def resisting(speed: float, distance: float) -> Mechanism:
    """Restitution 0.5; all of them as deep as a third of the radius."""
    stiffness = 1e11 * (speed / 100.0) ** 2
    return balls(distance, restitution=0.5, treatment="continuous", stiffness=stiffness).mechanism()


def touches(run: Result) -> list[float]:
    return [e.time for e in run.events if e.name.endswith(": touch")]


@pytest.mark.parametrize("integrator", ADAPTIVE)
@pytest.mark.parametrize(("tolerance", "error"), [(1e-3, 1e-2), (1e-6, 1e-4), (1e-8, 1e-5)])
@pytest.mark.parametrize(("speed", "distance"), FLIGHTS)
def test_fast_balls_do_not_pass_through_each_other(
    speed: float, distance: float, tolerance: float, error: float, integrator: str
) -> None:
    """Steps of free flight are far longer than the time they would need to pass through."""
    run = thrown(
        resisting(speed, distance),
        speed,
        1.5 * distance / speed,
        tolerance=tolerance,
        integrator=integrator,
    )
    assert touches(run) == pytest.approx([(distance - 2.0 * RADIUS) / speed], rel=1e-12)
    assert float(run["one.velocity.x"][-1]) == pytest.approx(-0.75 * speed, abs=error * speed)
    assert float(run["other.velocity.x"][-1]) == pytest.approx(-0.25 * speed, abs=error * speed)


@pytest.mark.parametrize("start", [0.37, 0.61, 0.93, 1.0])
def test_impulses_agree(start: float) -> None:
    for speed, distance in FLIGHTS:
        run = thrown(
            balls(start * distance, restitution=0.5).mechanism(),
            speed,
            1.5 * distance / speed,
            tolerance=1e-6,
        )
        assert [i.time for i in run.impacts] == pytest.approx(
            [(start * distance - 2.0 * RADIUS) / speed], rel=1e-9
        )
        assert float(run["one.velocity.x"][-1]) == pytest.approx(-0.75 * speed, rel=1e-9)


@pytest.mark.parametrize("integrator", ADAPTIVE)
@pytest.mark.parametrize("offset", [0.3, 0.9, 0.99])
def test_glancing_balls_keep_energy_and_momentum(offset: float, integrator: str) -> None:
    """Elastic and so stiff that the normal does not turn: the speeds along it are exchanged."""
    b = 2.0 * RADIUS * offset
    elastic = {"law": "hertz", "treatment": "continuous", "stiffness": 1e18}
    run = thrown(
        balls(50.0, offset=b, **elastic).mechanism(), 100.0, 0.7, tolerance=1e-8, integrator=integrator
    )
    normal = math.sqrt(1.0 - offset**2), offset
    assert touches(run) == pytest.approx([(50.0 - 2.0 * RADIUS * normal[0]) / 100.0], rel=1e-9)
    one, other = ([float(run[f"{body}.velocity.{axis}"][-1]) for axis in "xy"] for body in ("one", "other"))
    assert one == pytest.approx([-100.0 * normal[0] * n for n in normal], abs=0.1)
    assert np.add(one, other) == pytest.approx([-100.0, 0.0], abs=1e-4)
    assert np.ptp(run["energy.total"][[0, -1]]) < 1e-4 * float(run["energy.total"][0])


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("step", [3e-3, 1e-3, 2e-4])
def test_fixed_steps_that_pass_over_a_contact_say_so(step: float, integrator: str) -> None:
    """The contact lasts 4e-5 s. Implicit methods may find out before that their equations have no solution."""
    for distance in (1.0, 1.003, 1.37):
        with pytest.raises(SimulationError) as stopped:
            thrown(
                resisting(100.0, distance), 100.0, 1.5 * distance / 100.0, integrator=integrator, step=step
            )
        implicit = integrator in ("radau", "auto", "generalised_alpha")
        if not implicit or stopped.value.status is not Status.NEWTON_FAILED:
            assert stopped.value.status is Status.PASSED_OVER
            assert "'bump" in str(stopped.value)
        assert stopped.value.time <= (distance - 2.0 * RADIUS) / 100.0 * (1.0 + 1e-9)


@pytest.mark.parametrize("integrator", ["runge_kutta4", "dop853", "dormand_prince5", "milne_hamming"])
def test_fixed_steps_shorter_than_a_contact_are_as_good_as_they_are(integrator: str) -> None:
    run = thrown(resisting(100.0, 1.003), 100.0, 0.015, integrator=integrator, step=2e-6)
    assert touches(run) == pytest.approx([0.00983], rel=1e-9)
    assert float(run["one.velocity.x"][-1]) == pytest.approx(-75.0, rel=1e-4)


@pytest.mark.parametrize("integrator", ADAPTIVE)
@pytest.mark.parametrize(("deep", "tolerance"), [(0.3, 1e-3), (0.01, 1e-3), (0.3, 1e-7), (1e-6, 1e-7)])
def test_tip_of_a_spinning_rod_does_not_sweep_through_a_wall(
    deep: float, tolerance: float, integrator: str
) -> None:
    """It touches where half its length times the sine of its angle is the height over the wall."""
    half, radius, spin = 0.5, 0.01, 300.0
    height = half + radius - deep
    system = System("rod", gravity=(0.0, 0.0, 0.0))
    rod = system.body("rod", mass=1.0, inertia=(1e-4, 0.08, 0.08), at=(0.0, 0.0, height))
    system.free("flight", system.ground, rod)
    along = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    system.contact(
        "wall",
        system.ground.plane(),
        rod.capsule(radius, half, rotation=along),
        law="hertz",
        treatment="continuous",
        stiffness=1e11,
    )
    run = system.simulate(
        6.0 / spin,
        tolerance=tolerance,
        integrator=integrator,
        output=50,
        initial={"flight": {"angular_velocity": (0.0, spin, 0.0)}},
    )
    first = math.asin((height - radius) / half)
    # A quaternion that is off by the tolerance turns this much where the tip moves along the wall.
    assert touches(run)[0] * spin == pytest.approx(first, abs=math.sqrt(10.0 * tolerance) + 1e-5)
    energy = np.asarray(run["energy.total"])
    assert np.ptp(energy[[0, -1]]) < max(1e-4, 30.0 * tolerance) * energy[0]


def test_gaps_of_sampled_bodies_are_those_of_the_exact_ones_from_any_distance() -> None:
    """Eggs turned anyhow, from two lengths apart to fifty thousand."""
    axes = (0.1, 0.05, 0.04)
    sampled, exact = (
        ClosestKernel(a, b)
        for a, b in ((sampled_ellipsoid(1500, axes),) * 2, (Ellipsoid(*axes), Ellipsoid(*axes)))
    )
    random = np.random.default_rng(0)
    for distance in np.geomspace(0.4, 1e4, 60):
        way, R = random.normal(size=3), Rotation.random(random_state=random).as_matrix()
        pose = np.eye(3), np.zeros(3), R, distance * way / np.linalg.norm(way)
        one, two = sampled(*pose), exact(*pose)
        assert one.distance == pytest.approx(two.distance, abs=1e-4)
        assert one.normal == pytest.approx(two.normal, abs=1e-2)


def test_a_fast_sampled_ball_does_not_pass_through_another() -> None:
    surface = sampled_sphere(400, RADIUS)
    system = balls(
        1.0,
        lambda one, other: (one.shape(surface), other.sphere(RADIUS)),
        restitution=0.5,
        treatment="continuous",
        stiffness=1e11,
    )
    run = thrown(system.mechanism(), 100.0, 0.015, tolerance=1e-8)
    # Samples on a sphere of a centimetre leave the surface between them a few micrometres off.
    assert touches(run) == pytest.approx([0.0098], abs=1e-7)
    assert float(run["one.velocity.x"][-1]) == pytest.approx(-75.0, rel=1e-3)


def test_many_fast_runs() -> None:
    """Momentum and restitution give the speed of the struck ball for every mass of the other."""
    masses = [0.5, 1.0, 3.0]
    system = System("balls", gravity=(0.0, 0.0, 0.0))
    one = system.body("one", mass=1.0, inertia=(1e-3,) * 3)
    mass = system.parameter("mass", 1.0)
    other = system.body("other", mass=mass, inertia=(1e-3,) * 3, at=(100.0, 0.0, 0.0))
    for body in (one, other):
        system.free(f"flight of {body.name}", system.ground, body)
    struck = one.sphere(RADIUS), other.sphere(RADIUS)
    system.contact("bump", *struck, 0.5, treatment="continuous", stiffness=1e11)
    system.initial("flight of other", {"velocity": (-100.0, 0.0, 0.0)})
    many = system.mechanism().simulate_many(
        {"mass": masses}, 1.5, quantities=["one.velocity.x"], tolerance=1e-6, output=5
    )
    assert not many.failures
    for k, given in enumerate(masses):
        expected = -150.0 * given / (1.0 + given)
        assert float(many["one.velocity.x"][k][-1]) == pytest.approx(expected, rel=1e-4)
