"""Options of a run that make no sense: the error names the option in the user's word, and says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bellcrank as bc


@pytest.fixture(scope="module")
def system() -> bc.System:
    system = bc.System("pendulum")
    rod = system.body("rod", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    system.revolute("pin", system.ground, rod, at=(0, 0, 0), axis="y")
    system.parameter("drag", 1.0)
    return system


EVENT = bc.Event("passing", lambda m: m["pin.angle"])
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "formulation": ({"formulation": "newton"}, "no formulation named 'newton'"),
    "integrator": ({"integrator": "rk45"}, "no integrator named 'rk45'"),
    "tolerance": ({"tolerance": -1.0}, "tolerance must be a positive number, not -1.0"),
    "tolerance as text": ({"tolerance": "fine"}, "tolerance must be a positive number, not 'fine'"),
    "tolerance below rounding": ({"tolerance": 1e-30}, "tolerance=1e-30 is finer than numbers of 16 digits"),
    "steps allowed": ({"max_steps": 0}, "max_steps must be a whole number of steps, at least 1, not 0"),
    "initial angle": ({"initial": {"pin": 1e300}}, "'angle' of 'pin' is 1e+300; it must not exceed"),
    "initial turns": ({"initial": {"pin": 1e9}}, "'angle' of joint 'pin' is 1e+09 rad; angles beyond"),
    "initial rate": ({"initial": {"pin": (0, 1e300)}}, "'angle' of 'pin' is 1e+300; it must not exceed"),
    "step": ({"step": -0.1}, "step must be a positive number"),
    "longest step": ({"max_step": 0.0}, "max_step must be a positive number"),
    "no step": ({"integrator": "runge_kutta4"}, "give step="),
    "output": ({"output": "all"}, "output='all': give a number of intervals"),
    "initial": ({"initial": [0.5]}, "initial must be a mapping"),
    "parameters": ({"parameters": {"drag": "much"}}, "parameter 'drag' must be a finite number, not 'much'"),
    "parameters as list": ({"parameters": [1.0]}, "parameters must be a mapping"),
    "events": ({"events": EVENT}, "events must be a list"),
    "start": ({"start": "rest"}, "no start named 'rest'"),
    "impacts without contacts": ({"impacts": "exact"}, "no way to find impact times"),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_option_is_named(system: bc.System, case: str) -> None:
    options, message = WRONG[case]
    with pytest.raises(bc.ModelError) as error:
        system.simulate(1.0, **options)
    assert message in str(error.value)


@pytest.mark.parametrize("duration", [0.0, -1.0, float("inf"), float("nan"), "5", None, True])
def test_the_duration_is_a_number_of_seconds(system: bc.System, duration: Any) -> None:
    with pytest.raises(bc.ModelError, match="duration must be a positive number of seconds"):
        system.simulate(duration)


def test_a_result_needs_a_folder(system: bc.System, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        system.simulate(0.01).save(tmp_path / "nowhere" / "run.h5")


def test_numbers_beyond_all_measure_are_refused() -> None:
    with pytest.raises(bc.ModelError, match="mass of body 'star' is 1e\\+308; it must not exceed"):
        bc.System("sky").body("star", mass=1e308)
