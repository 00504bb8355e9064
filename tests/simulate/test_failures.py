"""What a user reads when a run cannot go on, or cannot begin."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.simulate import SimulationError, Status


def pendulum() -> bc.System:
    system = bc.System("pendulum", gravity=(0.0, -9.81, 0.0))
    arm = system.body("arm", 1.0, (0.1, 0.1, 0.1), (0.5, 0.0, 0.0))
    system.revolute("pivot", system.ground, arm, at=(0.0, 0.0, 0.0))
    system.torsion_spring("coil", "pivot", stiffness=1.0)
    return system


@pytest.mark.parametrize("integrator", ["dop853", "radau", "milne_hamming", "runge_kutta4"])
def test_the_force_that_is_not_a_number_is_named(integrator):
    system = pendulum()
    system.joint_force("brake", "pivot", lambda coordinate, rate, t: np.sqrt(coordinate + 1.0))
    options = {"step": 1e-3} if integrator == "runge_kutta4" else {}
    with pytest.raises(SimulationError, match=r"force 'brake'.*root of a negative") as caught:
        system.simulate(3.0, integrator=integrator, progress=False, **options)
    assert caught.value.status is Status.NOT_FINITE
    partial = caught.value.result
    assert len(partial.time) > 100
    assert np.isfinite(partial.q).all()
    assert partial["pivot.angle"][-1] > -1.0
    assert caught.value.time == pytest.approx(partial.time[-1], abs=4e-3)


def test_a_spring_without_length_is_named_at_the_start():
    system = pendulum()
    block = system.body("block", 1.0, (0.1, 0.1, 0.1), at=(0.3, 0.0, 0.0))
    system.prismatic("rail", system.ground, block, axis="x")
    system.spring("link", system.bodies["arm"].point(0.3, 0.0, 0.0), block, stiffness=10.0, free_length=0.5)
    with pytest.raises(SimulationError, match="force 'link'") as caught:
        system.simulate(1.0, progress=False)
    assert caught.value.time == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1.0}, "tolerance must be a positive number, not -1.0"),
        ({"tolerance": float("nan")}, "tolerance must be a positive number, not nan"),
        ({"max_step": 0.0}, "max_step must be a positive number, not 0.0"),
        ({"step": -0.1}, "step must be a positive number, not -0.1"),
        ({"integrator": "runge_kutta4"}, "give step="),
    ],
)
def test_settings_without_sense_are_told_in_the_words_of_the_call(options, message):
    with pytest.raises(ModelError, match=message):
        pendulum().simulate(1.0, progress=False, **options)
