"""First-order states: against SciPy in every integrator, by name in results, files, batches and sensitivities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.model import System
from bellcrank.result.storage import load
from bellcrank.run.events import Event

TAU = 0.1


def lagging() -> System:
    """A slider pushed by a force that lags behind its command, with integral feedback."""
    system = System("lag", gravity=(0.0, 0.0, 0.0))
    slider = system.body("slider", mass=2.0)
    system.prismatic("rail", system.ground, slider, axis="x")
    system.parameter("tau", TAU, "s")
    push = system.state(
        "push", lambda m: (np.sin(3.0 * m["t"]) - m["push"]) / m["tau"], initial=0.3, unit="N"
    )
    total = system.state("total", lambda m: m["slider.position.x"], unit="m s")
    system.joint_force("motor", "rail", lambda coordinate, rate, t: push - 4.0 * total)
    return system


def reference(end: float = 2.0, tau: float = TAU) -> np.ndarray:
    """x, v, push, total by SciPy."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], (y[2] - 4.0 * y[3]) / 2.0, (np.sin(3.0 * t) - y[2]) / tau, y[0]]

    return np.asarray(solve_ivp(rates, (0.0, end), [0.0, 0.0, 0.3, 0.0], rtol=1e-12, atol=1e-13).y[:, -1])


@pytest.mark.parametrize(
    "integrator", ["dop853", "dormand_prince5", "radau", "milne_hamming", "generalised_alpha", "runge_kutta4"]
)
def test_states_follow_their_equations_in_every_integrator(integrator: str) -> None:
    step = {"step": 1e-3} if integrator == "runge_kutta4" else {}
    run = lagging().simulate(2.0, integrator=integrator, tolerance=1e-9, **step)
    found = [run[name][-1] for name in ("slider.position.x", "slider.velocity.x", "push", "total")]
    bound = 2e-6 if integrator == "generalised_alpha" else 2e-9
    assert found == pytest.approx(reference(), abs=bound)
    assert run["push.rate"][-1] == pytest.approx((np.sin(6.0) - float(run["push"][-1])) / TAU, abs=1e-12)


def test_start_value_of_a_run_and_of_the_model() -> None:
    system = lagging()
    assert system.simulate(0.1)["push"][0] == 0.3
    assert system.simulate(0.1, initial={"push": -2.0})["push"][0] == -2.0


def test_states_in_events_files_and_saved_results(tmp_path: Path) -> None:
    system = lagging()
    again = loads(dumps(system))
    assert dumps(again) == dumps(system)
    event = Event("strong", lambda m: m["push"] - 0.9, direction=1, stops=True)
    run = again.simulate(2.0, events=[event], tolerance=1e-9)
    assert run["push"][-1] == pytest.approx(0.9, abs=1e-9)
    end = run.events[0].time
    assert reference(end)[2] == pytest.approx(0.9, abs=1e-7)
    run.save(tmp_path / "run.h5")
    assert np.array_equal(load(tmp_path / "run.h5")["total"], run["total"])


def test_states_in_batches_and_sensitivities() -> None:
    mechanism = lagging().mechanism()
    many = mechanism.simulate_many({"tau": [0.1, 0.2]}, 2.0, quantities=["push"], tolerance=1e-9)
    assert many["push"][:, -1] == pytest.approx([reference()[2], reference(tau=0.2)[2]], abs=1e-8)
    found = mechanism.sensitivity(2.0, outputs=["slider.position.x", "push"], by=["tau"])
    change = (reference(tau=TAU + 1e-4) - reference(tau=TAU - 1e-4)) / 2e-4
    assert found.end["slider.position.x", "tau"] == pytest.approx(change[0], abs=1e-5)
    assert found.end["push", "tau"] == pytest.approx(change[2], abs=1e-5)


def test_state_measures_what_loops_make_of_the_speeds() -> None:
    """The integral of a dependent velocity is the position."""
    system = System("loop")
    crank = system.body("crank", mass=1.0, inertia=(0.1,) * 3, at=(0.5, 0.0, 0.0))
    rod = system.body("rod", mass=1.0, inertia=(0.1,) * 3, at=(2.0, 0.0, 0.0))
    slider = system.body("slider", mass=1.0, at=(3.0, 0.0, 0.0))
    system.revolute("bearing", system.ground, crank, at=(0.0, 0.0, 0.0), axis="y")
    system.revolute("pin", crank, rod, at=(1.0, 0.0, 0.0), axis="y")
    system.revolute("wrist", rod, slider, at=(3.0, 0.0, 0.0), axis="y")
    system.prismatic("guide", system.ground, slider, axis="x")
    system.state("travel", lambda m: m["slider.velocity.x"], unit="m")
    run = system.simulate(1.0, initial={"bearing": (0.3, 2.0)}, tolerance=1e-10)
    moved = run["slider.position.x"] - run["slider.position.x"][0]
    assert run["travel"] == pytest.approx(moved, abs=1e-8)


def test_mistakes_are_named() -> None:
    system = lagging()
    with pytest.raises(ModelError, match="already a state named 'push'"):
        system.state("push", lambda m: 0.0)
    with pytest.raises(ModelError, match="rate must be a function"):
        system.state("wrong", 3.0)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="plain number"):
        system.state("wrong", lambda m: 0.0, initial=system.parameter("k", 1.0))  # type: ignore[arg-type]
    system.state("lost", lambda m: m["slidr.position.x"])
    with pytest.raises(ModelError, match="slidr"):
        system.simulate(0.1)
    needy = lagging()
    needy.state("felt", lambda m: m["slider.acceleration.x"])
    with pytest.raises(ModelError, match="needs accelerations"):
        needy.simulate(0.1)
    with pytest.raises(ModelError, match="does not follow first-order states, here 'push'"):
        lagging().kinematics(0.1)


def sled(gain: float, mass: float = 2.0, stiffness: float = 50.0) -> System:
    """A block on a spring that a force -gain * acceleration drags, as so much more mass would."""
    system = System("sled", gravity=(0, 0, 0))
    block = system.body("block", mass, (0.1, 0.1, 0.1))
    system.prismatic("rail", "ground", block, axis="x")
    system.joint_force("spring", "rail", lambda coordinate, rate, t: -stiffness * coordinate)
    felt = system.state("felt", follows=lambda m: m["rail.displacement_acceleration"], unit="m/s^2")
    system.joint_force("drag", "rail", lambda coordinate, rate, t: -gain * felt)
    return system


@pytest.mark.parametrize("gain", [-1.0, 0.5, 8.0])
def test_a_force_that_asks_for_an_acceleration_is_mass(gain: float) -> None:
    """Repeating does not find the start where the gain is above the mass."""
    system = sled(gain)
    omega = (50.0 / (2.0 + gain)) ** 0.5
    for one in (system, loads(dumps(system))):
        result = one.simulate(1.0, initial={"rail": 1.0}, tolerance=1e-10, output=1)
        assert result["rail.displacement"][-1] == pytest.approx(np.cos(omega), abs=1e-9)
        assert result["felt"] == pytest.approx(result["rail.displacement_acceleration"], abs=1e-8)
    A = system.linearize(outputs=[]).A
    assert -A[1, 0] + A[1, 2] * A[2, 0] / A[2, 2] == pytest.approx(omega**2, rel=1e-9)


def test_a_force_that_asks_for_a_reaction() -> None:
    """Rubbing by the force in the pin of a pendulum takes the work out of it that the closed form says."""
    m, L, g, c = 2.0, 0.5, 9.81, 0.05
    system = System("pendulum", gravity=(0, 0, -g))
    bob = system.body("bob", m, (0.0, 1e-9, 1e-9), at=(0, 0, -L))
    system.revolute("pin", "ground", bob, at=(0, 0, 0), axis="y")
    load = system.state("load", follows=lambda n: n["pin.force"] @ (0.0, 0.0, 1.0), unit="N")
    system.joint_force("rub", "pin", lambda coordinate, rate, t: -c * load * rate)
    result = system.simulate(1.0, initial={"pin": 1.0}, tolerance=1e-10, output=50)
    angle, rate, acceleration = (result[f"pin.angle{part}"] for part in ("", "_rate", "_acceleration"))
    up = m * (g + L * (np.sin(angle) * acceleration + np.cos(angle) * rate**2))
    assert result["load"] == pytest.approx(up, abs=1e-7)
    assert m * L**2 * acceleration == pytest.approx(-m * g * L * np.sin(angle) - c * up * rate, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "one of rate= and follows="),
        ({"rate": lambda m: 0.0, "follows": lambda m: 0.0}, "one of rate= and follows="),
        ({"follows": lambda m: m["f.rate"]}, "ask for the state"),
        ({"follows": lambda m: 1.0, "initial": 2.0}, "leave initial= out"),
        ({"rate": lambda m: 1.0, "lag": 1.0}, "leave lag= out"),
        ({"follows": lambda m: 1.0, "lag": 0.0}, "must be positive"),
        ({"follows": 3.0}, "follows must be a function"),
    ],
)
def test_what_a_state_cannot_follow(given: dict[str, Any], said: str) -> None:
    system = System("free")
    system.free("joint", "ground", system.body("body", 1.0, (1, 1, 1)))

    def described_and_run() -> None:
        system.state("f", **given)
        system.mechanism().simulate(0.1)

    with pytest.raises(ModelError, match=said):
        described_and_run()
