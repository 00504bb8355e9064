"""Sensitivities against closed forms and differences of runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from analyses.mechanisms import cart_pole, g, pendulum, slider_crank
from bellcrank.analyses.tangent import speed_map
from bellcrank.errors import ModelError, UnknownName
from bellcrank.mechanism import State
from bellcrank.model import System


def by_differences(
    system: System, duration: float, outputs: list[str], name: str, **options: Any
) -> np.ndarray:
    """Fourth order; shape (times, numbers)."""
    value = system.parameters[name].value
    h = 1e-4 * max(abs(value), 0.1)

    def run(shift: float) -> np.ndarray:
        result = system.simulate(
            duration, output=20, tolerance=1e-12, parameters={name: value + shift * h}, **options
        )
        return np.hstack([np.asarray(s).reshape(len(result), -1) for s in result.compute(outputs)])

    return (8 * (run(1) - run(-1)) - (run(2) - run(-2))) / (12 * h)


def agree(system: System, duration: float, outputs: list[str], tolerance: float, **options: Any) -> None:
    found = system.sensitivity(duration, outputs=outputs, output=20, tolerance=1e-10, **options)
    for k, name in enumerate(found.parameters):
        expected = by_differences(system, duration, outputs, name, **options)
        scale = max(1.0, float(np.abs(expected).max()))
        assert found.derivatives[:, :, k] / scale == pytest.approx(expected / scale, abs=tolerance)


def test_small_swings_by_length_in_closed_form() -> None:
    """a = a0 cos(W t), W = sqrt(g / l): da/dl = a0 sin(W t) W t / (2 l)."""
    L, a0 = 1.3, 1e-5
    found = pendulum(L).sensitivity(5.0, outputs=["pin.angle"], initial={"pin": a0}, tolerance=1e-11)
    t, W = found.result.time, math.sqrt(g / L)
    assert found["pin.angle", "length"] == pytest.approx(a0 * np.sin(W * t) * W * t / (2 * L), abs=2e-13)
    assert np.abs(found["pin.angle", "mass"]).max() < 1e-15
    assert found["pin.angle", "length"].unit == "(rad)/(m)"
    assert found.end["pin.angle", "length"] == found["pin.angle", "length"][-1]


def test_period_of_the_large_swing_scales_with_the_root_of_length() -> None:
    """Angle depends on t / sqrt(l) only: l da/dl = -t/2 da/dt."""
    L = 1.3
    found = pendulum(L).sensitivity(
        4.0, outputs=["pin.angle", "pin.force.y"], by=["length"], initial={"pin": 2.0}, tolerance=1e-11
    )
    t = found.result.time
    expected = -t / (2 * L) * found.result["pin.angle_rate"].to_numpy()
    assert found["pin.angle", "length"] == pytest.approx(expected, abs=1e-9)


def test_constant_push_moves_the_cart() -> None:
    """The pole hangs; total momentum: d(momentum x)/d(push) = t."""
    found = cart_pole().sensitivity(
        2.0, outputs=["momentum.x", "motor.effort"], initial={"hinge": math.pi - 0.5}
    )
    assert found["momentum.x", "push"] == pytest.approx(found.result.time, abs=1e-8)
    assert found["motor.effort", "push"] == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("initial", [{}, {"main": (0.7, 3.0)}])
def test_a_length_in_a_loop(initial: dict[str, Any]) -> None:
    system = slider_crank(inertia=0.02)
    system.spring("return", system.ground.point(0, 0.5, 0), "slider", stiffness=100.0, free_length=0.3)
    agree(system, 1.0, ["slider.position.x", "guide.force.y", "slider.acceleration.x"], 1e-8, initial=initial)


def spatial() -> System:
    """Two bodies on balls, closed by a third on a universal joint; its start pose must be assembled."""
    system = System("spatial")
    arm, k = system.parameter("arm", 0.5), system.parameter("k", 30.0)
    a = system.body("a", mass=1.0, inertia=(0.02, 0.03, 0.02), at=(0.5, 0, 0))
    b = system.body("b", mass=0.7, inertia=(0.01, 0.012, 0.015), at=(0.5, 0.3, -0.2))
    c = system.body("c", mass=1.0, inertia=(0.02, 0.03, 0.02), at=(0, 1, 0))
    system.spherical("ball", system.ground, a, at=(0, 0, 0))
    system.spherical("second", a.point(arm, 0, 0), b.point(-0.5, 0.1, 0))
    system.universal("cross", system.ground, c, at=(0, 1, 0), axis_a="x", axis_b="y")
    system.spherical("close", b.point(0.2, 0.1, 0), c.point(0.1, -0.5, 0.1))
    system.spring("spring", system.ground.point(0, 0, 1), b, stiffness=k, free_length=0.4)
    return system


def test_balls_a_loop_assembly_and_a_new_partition() -> None:
    agree(spatial(), 0.5, ["b.position", "c.angular_velocity", "ball.force"], 1e-8)


def test_linearisation_on_the_way_agrees() -> None:
    """x = T^+ dY/dp of a run with balls and loops must follow x' = A x + B."""
    system, h = spatial(), 1e-4
    times = 0.1 + h * np.arange(-2, 3)
    found = system.sensitivity(0.2, outputs=[], by=["arm", "k"], output=times, tolerance=1e-12)
    mechanism, run = found.result.mechanism, found.result
    linear = mechanism.linearize(State(0.1, run.q[2], run.u[2]), inputs=["arm", "k"])
    partition = mechanism.choose_partition(linear.state)
    independent = list(partition.independent)
    x = np.array(
        [
            np.vstack([speed_map(mechanism.linkage, q)[independent] @ dq, du[independent]])
            for q, dq, du in zip(run.q, found.position_derivatives, found.speed_derivatives, strict=True)
        ]
    )
    rate = (8 * (x[3] - x[1]) - (x[4] - x[0])) / (12 * h)
    np.testing.assert_allclose(linear.A @ x[2] + linear.B, rate, atol=1e-7 * np.abs(rate).max())


def test_names_are_checked() -> None:
    with pytest.raises(UnknownName, match="length"):
        pendulum().sensitivity(1.0, outputs=["pin.angle"], by=["lenght"])
    system = System("bare")
    system.revolute("pin", system.ground, system.body("bob", mass=1.0, at=(1, 0, 0)), at=(0, 0, 0), axis="y")
    with pytest.raises(ModelError, match="no parameters"):
        system.sensitivity(1.0, outputs=["pin.angle"])
