"""Contacts in the continuous treatment: the switch, energy, friction, scale, and what is refused."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

from bellcrank.contact import Box, ContactNote, Coulomb
from bellcrank.errors import ModelError
from bellcrank.model import System
from bellcrank.model.forces import FieldContact
from bellcrank.verify import hertz_impact, rolling_sphere


def ball_above(floor_angle: float = 0.0, **contact: object) -> System:
    system = System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.body("ball", mass=0.2, inertia=(2e-4,) * 3, at=(0.0, 0.0, 0.15))
    system.free("flight", system.ground, ball)
    normal = (math.sin(floor_angle), 0.0, math.cos(floor_angle))
    system.contact("floor", system.ground.plane(normal=normal), ball.sphere(0.05), **contact)  # type: ignore[arg-type]
    return system


def test_one_argument_switches_the_treatment() -> None:
    """A stiff continuous contact and the impulsive one agree to the time of contact."""
    runs = [
        ball_above(restitution=0.8, treatment=how, **more).simulate(0.5, tolerance=1e-9)
        for how, more in (("impulsive", {}), ("continuous", {"stiffness": 1e9}))
    ]
    assert len(runs[0].impacts) == 2
    assert [e.name for e in runs[1].events].count("floor: touch") == 2
    assert runs[1]["ball.position.z"] == pytest.approx(runs[0]["ball.position.z"], abs=1e-3)


def test_impulsive_and_continuous_contacts_in_one_system() -> None:
    system = ball_above(restitution=1.0, treatment="continuous", stiffness=1e10, law="hertz")
    other = system.body("other", mass=0.2, inertia=(2e-4,) * 3, at=(1.0, 0.0, 0.15))
    system.free("other flight", system.ground, other)
    system.contact("other floor", system.ground.plane(), other.sphere(0.05), restitution=1.0)
    run = system.simulate(0.4, tolerance=1e-9)
    assert len(run.impacts) == 1
    assert [e.name for e in run.events] == ["floor: touch", "floor: part"]
    assert run["ball.position.z"] == pytest.approx(run["other.position.z"], abs=1e-3)


def test_bouncing_keeps_the_energy_over_a_hundred_contacts() -> None:
    run = ball_above(law="hertz", treatment="continuous", stiffness=1e7).simulate(
        29.0, tolerance=1e-10, integrator="dop853"
    )
    assert sum(e.name == "floor: touch" for e in run.events) == 101
    energy = run["energy.total"]
    assert np.ptp(energy) < 1e-5 * np.ptp(run["energy.gravity"])


def test_ball_comes_to_rest_as_deep_as_its_weight_presses() -> None:
    run = ball_above(restitution=0.3, treatment="continuous", stiffness=1e6).simulate(3.0, tolerance=1e-8)
    assert float(run["floor.penetration"][-1]) == pytest.approx((0.2 * 9.81 / 1e6) ** (2.0 / 3.0), rel=1e-3)


@pytest.mark.parametrize("size", [0.1, 10.0])
def test_impact_scales_with_size(size: float) -> None:
    """At the same speed lengths and times of contact go with the size (Hertz)."""
    run = hertz_impact.impact(1.0, size)
    assert hertz_impact.peak(run, "impact.penetration") == pytest.approx(1.779510914e-5 * size, rel=1e-7)
    assert hertz_impact.duration(run) == pytest.approx(5.237590314e-5 * size, rel=1e-7)


def test_ellipsoid_on_its_side_presses_softer_along_its_long_axis() -> None:
    """The stiffness follows the curvatures where it touches; the elastic run keeps the energy."""
    system = System("egg", gravity=(0.0, 0.0, -9.81))
    egg = system.body("egg", mass=0.1, inertia=(2e-5, 2e-5, 1e-5), at=(0.0, 0.0, 0.06))
    system.free("flight", system.ground, egg)
    plane = system.ground.plane()
    system.contact(
        "floor", plane, egg.ellipsoid(0.02, 0.02, 0.04), law="hertz", treatment="continuous", young=1e7
    )
    run = system.simulate(0.2, tolerance=1e-9)
    modulus = 1e7 / (2.0 * (1.0 - 0.3**2))
    radius = 0.02**2 / 0.04
    assert float(run["floor.stiffness"][0]) == pytest.approx(
        4.0 / 3.0 * modulus * math.sqrt(radius), rel=1e-9
    )
    assert np.ptp(run["energy.total"]) < 1e-6 * np.ptp(run["energy.gravity"])


def test_friction_holds_a_block_up_to_its_angle_but_for_creep() -> None:
    """On a slope below the angle of friction a block creeps as fast as the law says; above, it slides."""

    def coefficient(slip: float) -> float:
        s = math.hypot(slip, 1e-4)
        return (0.3 + 0.05 * math.exp(-((s / 1e-2) ** 2))) * slip / s

    creep = brentq(lambda slip: coefficient(slip) - math.tan(0.25), 0.0, 1e-3, xtol=1e-15)
    sliding = 9.81 * (math.sin(0.4) - 0.3 * math.cos(0.4)) * 0.5
    for angle, expected in ((0.25, pytest.approx(creep, rel=1e-4)), (0.4, pytest.approx(sliding, rel=0.01))):
        system = System("slope", gravity=(-9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle)))
        block = system.body("block", mass=1.0, inertia=(0.01,) * 3, at=(0.0, 0.0, 0.1))
        # No turning: a sphere that cannot roll is a block on one point.
        carrier = system.body("carrier", mass=0.0, at=(0.0, 0.0, 0.1))
        system.prismatic("along", system.ground, carrier, axis="x")
        system.prismatic("up", carrier, block, axis="z")
        system.contact(
            "floor",
            system.ground.plane(),
            block.sphere(0.1),
            friction=Coulomb(0.3, static=0.35, slip_speed=1e-4),
            restitution=0.2,
            treatment="continuous",
            stiffness=1e7,
        )
        run = system.simulate(0.5, tolerance=1e-8)
        slip = float(np.abs(run["floor.slip"][-1]).max())
        assert slip == expected


def test_friction_is_within_the_cone_and_against_the_slip() -> None:
    run = rolling_sphere.thrown_ball().simulate(
        0.1, initial={"flight": {"velocity": (1.0, 0.0, 0.0)}}, tolerance=1e-8
    )
    load, rubbing = run["floor.normal_force"], run["floor.friction_force.x"]
    assert np.all(np.abs(rubbing) <= 0.2 * load * (1.0 + 1e-12))
    assert np.all(rubbing * run["floor.slip.x"] <= 0.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stiffness": 1e6, "young": 1e9}, "not both"),
        ({"stiffness": -1.0}, "must be positive"),
        ({"stiffness": 1e6, "law": "newton"}, "newton"),
        ({"stiffness": 1e6, "law": "hertz", "restitution": 0.5}, "keeps the energy"),
        ({"stiffness": 1e6, "restitution": 0.0}, "impulsive"),
        ({"stiffness": 1e6, "law": "kelvin-voigt"}, "needs damping="),
        ({"stiffness": 1e6, "damping": 3.0}, "belongs to law kelvin-voigt"),
        ({"young": -2.0}, "positive"),
        ({"young": 1e9, "poisson": 0.7}, "poisson"),
        ({"young": 1e9, "exponent": 2.0}, "1.5"),
        ({"stiffness": 1e6, "exponent": 0.5}, "at least 1"),
        ({"stiffness": 1e6, "friction": -0.1}, "negative"),
        ({"stiffness": 1e6, "approach_speed": 0.0}, "positive"),
        ({"treatment": "sudden"}, "sudden"),
        ({"treatment": "impulsive", "stiffness": 1e6}, "treatment='continuous'"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        ball_above(**{"treatment": "continuous", **given})


def test_round_bodies_take_closest_points_and_others_their_fields_where_nothing_is_said() -> None:
    force = ball_above(treatment="continuous").forces["floor"]
    assert not isinstance(force, FieldContact)
    assert (force.stiffness, force.modulus, force.exponent) == (None, 1e7, 1.5)
    system = System("brick")
    body = system.body("brick", mass=1.0, inertia=(1.0,) * 3)
    system.contact("floor", system.ground.plane(), body.box(0.1, 0.1, 0.1), treatment="continuous")
    assert isinstance(system.forces["floor"], FieldContact)


def test_line_contact_has_no_hertz_stiffness() -> None:
    system = System("roller")
    roller = system.body("roller", mass=1.0, inertia=(1.0,) * 3)
    sides = system.ground.plane(), roller.capsule(0.1, 0.2)
    with pytest.raises(ModelError, match="along a line"):
        system.contact("floor", *sides, treatment="continuous", young=1e9, method="points")
    system.contact("floor", *sides, treatment="continuous", young=1e9)
    assert isinstance(system.forces["floor"], FieldContact)


def test_bodies_that_start_deep_within_each_other_are_told_of_once() -> None:
    def sunk(depth: float) -> System:
        system = System("brick")
        brick = system.body("brick", mass=1.0, inertia=(0.001,) * 3, at=(0.0, 0.0, 0.05 - depth))
        system.free("flight", system.ground, brick)
        system.contact(
            "floor", system.ground.plane(), brick.shape(Box(0.05, 0.05, 0.05)),
            treatment="continuous", stiffness=1e5,
        )  # fmt: skip
        return system

    deep = sunk(0.02)
    with pytest.warns(
        ContactNote, match=r"contact 'floor': 'ground' and 'brick' start 20 mm inside each other"
    ) as told:
        deep.simulate(1e-4, output=2)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sunk(1e-4).simulate(1e-4, output=2)
