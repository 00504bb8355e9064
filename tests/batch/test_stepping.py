"""Batches of runs by steps: the bits of single runs, in any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import Controller, Event, System, analyse
from bellcrank.study import LatinHypercube, Study, Uniform

NAMES = ["ball.position", "other.velocity", "floor.normal_force", "energy.kinetic"]
STEPS = {"impacts": "stepping", "step": 2e-3, "output": 30}


def two_balls() -> System:
    """Two balls on a floor with friction; the mass of one and its push are parameters."""
    system = System("two balls", gravity=(0.0, 0.0, -9.81))
    mass, push = system.parameter("mass", 1.0), system.parameter("push", 0.0)
    floor = system.ground.plane()
    for name, m, x in (("ball", mass, 0.0), ("other", 1.0, 0.25)):
        body = system.body(name, mass=m, inertia=(0.004, 0.004, 0.004), at=(x, 0.0, 0.12))
        system.free(f"{name} flight", system.ground, body)
    ball, other = system.bodies["ball"], system.bodies["other"]
    system.contact("floor", floor, ball.sphere(0.1), restitution=0.5, friction=0.4)
    system.contact("other floor", floor, other.sphere(0.1), restitution=0.5, friction=0.4)
    system.contact("balls", ball.sphere(0.1), other.sphere(0.1), restitution=0.8)
    system.applied_force("pushing", ball.point(0.0, 0.0, 0.0), (push, 0.0, 0.0))
    return system


@pytest.fixture(scope="module")
def balls() -> bc.Mechanism:
    return analyse(two_balls())


TABLE = {
    "mass": np.array([1.0, 2.0, 0.5, 1.0, 3.0]),
    "ball flight.x_rate": np.array([1.0, 0.5, 2.0, -1.0, 1.5]),
    "ball flight.z": np.array([0.12, 0.2, 0.1, 0.15, 0.11]),
}


def test_every_instance_has_the_bits_of_a_single_run(balls: bc.Mechanism) -> None:
    """With an event and a controller, in one thread and in three."""
    events = [Event("passed", lambda m: m["ball.position.x"] - 0.02, direction=1)]
    hold = Controller("hold", 0.02, ["ball.velocity.x"], lambda t, m: {"push": -2.0 * m["ball.velocity.x"]})
    options = STEPS | {"events": events, "controllers": [hold]}
    many = [balls.simulate_many(TABLE, 0.3, quantities=NAMES, threads=n, **options) for n in (1, 3)]
    assert many[0].done.all(), many[0].failures
    assert many[0].run.method == "moreau"
    assert "contacts of a step" in many[0].run.one_by_one
    for k in range(5):
        row = {name: float(column[k]) for name, column in TABLE.items()}
        start = {"x_rate": row["ball flight.x_rate"], "z": row["ball flight.z"]}
        alone = balls.simulate(
            0.3, parameters={"mass": row["mass"]}, initial={"ball flight": start}, **options
        )
        assert alone["ball.velocity.x"][0] == start["x_rate"]
        assert alone["ball.position.z"][0] == start["z"]
        assert len(alone.impacts) > 0
        for batch in many:
            assert batch.events.get(k, ()) == alone.events
            assert [i.time for i in batch.impacts[k]] == [i.time for i in alone.impacts]
            for name in NAMES:
                np.testing.assert_array_equal(batch[name][k], alone[name])


def test_the_batch_says_why_instances_run_one_by_one(balls: bc.Mechanism) -> None:
    table = {"mass": [1.0]}
    assert balls.simulate_many(table, 0.05, quantities=NAMES, output=2).run.one_by_one == ""
    found = balls.simulate_many(table, 0.05, quantities=NAMES, output=2, integrator="radau")
    assert "'radau'" in found.run.one_by_one


def test_a_batch_without_a_step_is_refused_by_name(balls: bc.Mechanism) -> None:
    with pytest.raises(bc.ModelError, match="length of its steps"):
        balls.simulate_many({"mass": [1.0]}, 0.1, quantities=NAMES, impacts="stepping")


def test_studies_by_steps() -> None:
    """A study reads from runs by steps what single runs give."""
    system = two_balls()
    study = Study(
        system,
        variables={"mass": Uniform(0.5, 2.0)},
        fixed={"ball flight.x_rate": 1.0},
        measures={"speed": "final of other.velocity.x"},
        duration=0.3,
        design=LatinHypercube(3, seed=4),
        output=3,
        step=2e-3,
        impacts="stepping",
    )
    table = study.run()
    for mass, speed in zip(table["mass"], table["speed"], strict=True):
        alone = system.simulate(
            0.3,
            parameters={"mass": float(mass)},
            initial={"ball flight": {"x_rate": 1.0}},
            **STEPS | {"output": 3},
        )
        assert speed == alone["other.velocity.x"][-1]
