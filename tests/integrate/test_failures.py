"""What a user reads when a run cannot go on, or cannot begin."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.integrate import SimulationError, Status


def pendulum() -> bc.System:
    system = bc.System("pendulum", gravity=(0.0, -9.81, 0.0))
    arm = system.body("arm", 1.0, (0.1, 0.1, 0.1), (0.5, 0.0, 0.0))
    system.revolute("pivot", system.ground, arm, at=(0.0, 0.0, 0.0))
    system.torsion_spring("coil", "pivot", stiffness=1.0)
    return system


def fails_later(t, measured):
    if t > 0.35:
        raise KeyError("gain")
    return {}


@pytest.mark.parametrize("impulsive", [False, True])
def test_an_error_in_a_controller_costs_nothing_that_was_computed(tmp_path, impulsive):
    system = pendulum()
    if impulsive:
        system.contact("stop", system.ground.plane(at=(0.0, 0.0, -1.0)), system.bodies["arm"].sphere(0.01))
    control = bc.Controller("pid", 0.1, ["pivot.angle"], fails_later)
    kept = tmp_path / "run.h5"
    with pytest.raises(SimulationError, match=r"t = 0\.4 s: KeyError: 'gain' .*controller 'pid'") as caught:
        system.simulate(1.0, controllers=[control], output=101, save=kept, progress=False)
    assert isinstance(caught.value.__cause__, KeyError)
    free = system.simulate(1.0, output=101, progress=False)
    for partial in (caught.value.result, bc.load_result(kept)):
        assert len(partial.time) == 41
        assert partial["pivot.angle"] == pytest.approx(free["pivot.angle"][:41], abs=1e-6)


def test_an_error_in_the_function_of_an_event_names_it():
    def update(state, parameters):
        return {"gone": 1.0 / 0.0}

    down = bc.Event("down", lambda m: m["pivot.angle"] + 0.5, update=update)
    with pytest.raises(SimulationError, match=r"ZeroDivisionError.*event 'down'") as caught:
        pendulum().simulate(1.0, events=[down], output=101, progress=False)
    assert len(caught.value.result.time) > 10


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


def test_the_limit_of_steps_can_be_raised_as_the_error_says():
    with pytest.raises(SimulationError, match=r"give simulate\(\) a larger max_steps") as caught:
        pendulum().simulate(1.0, max_steps=5, progress=False)
    assert caught.value.status is Status.TOO_MANY_STEPS
    assert pendulum().simulate(1.0, max_steps=500, progress=False).run.status == "done"


@pytest.mark.parametrize("integrator", ["auto", "radau", "generalised_alpha", "milne_hamming"])
def test_a_mechanism_that_cannot_move_runs(integrator):
    system = bc.System("shelf")
    system.fixed("weld", system.ground, system.body("board", 2.0, (1, 1, 1), at=(1, 0, 0)))
    half = bc.Event("half", lambda m: m["t"] - 0.5)
    result = system.simulate(1.0, integrator=integrator, events=[half], output=4, progress=False)
    assert result.run.status == "done"
    assert [e.time for e in result.events] == pytest.approx([0.5])
    assert result["board.position"][-1] == pytest.approx([1, 0, 0])
    assert result["weld.force"][-1] == pytest.approx([0, 0, 2 * 9.81])
    assert system.mechanism().equilibrium().stable


def test_a_mechanism_that_is_driven_in_all_it_can_do_runs():
    system = pendulum()
    system.driver("pivot", lambda t: 2.0 * t, name="motor")
    assert system.simulate(1.0, output=4, progress=False)["pivot.angle"][-1] == pytest.approx(2.0)
