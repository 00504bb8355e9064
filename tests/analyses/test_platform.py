"""A spatial mechanism with loops, springs, dampers, a gear and a driver, against runs of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

import bellcrank as bc
from bellcrank.mechanism import analyse

OUTPUTS = ["plate.position", "plate.velocity", "rod1.position", "leg2.angular_velocity", "ball1.force"]


def platform(
    drive: Callable[[float], float], efforts: Mapping[str, Callable[[float], float]] | None = None
) -> bc.System:
    """A plate on three legs of hip, slide and ball, tied by springs to a geared wheel and to a driven crank."""
    rng = np.random.default_rng(0)
    system = bc.System("platform", gravity=(0.3, -9.81, 0.5))
    k, pull = system.parameter("k", 900.0), system.parameter("pull", 1.5)
    plate = system.body("plate", 3.0, (0.2, 0.25, 0.3), at=(0.0, 1.0, 0.0))
    system.free("float", system.ground, plate, at=(0.0, 1.0, 0.0))
    for i, angle in enumerate((0.3, 2.4, 4.5)):
        foot = 0.9 * np.array([np.cos(angle), 0.0, np.sin(angle)])
        top = np.array([0.4 * np.cos(angle + 0.2), 1.0, 0.4 * np.sin(angle + 0.2)])
        top += rng.uniform(-0.08, 0.08, 3)
        along, middle = (top - foot) / np.linalg.norm(top - foot), 0.5 * (foot + top)
        leg = system.body(f"leg{i}", 0.7, (0.02, 0.03, 0.025), at=foot)
        rod = system.body(f"rod{i}", 0.4, (0.01, 0.012, 0.011), at=middle)
        system.revolute(f"hip{i}", system.ground, leg, at=foot, axis=np.cross(along, [0.0, 1.0, 0.0]))
        system.prismatic(f"slide{i}", leg, rod, at=middle, axis=along)
        system.spherical(f"ball{i}", rod, plate, at=top)
        ends = leg.point(0.0, 0.1, 0.0), plate.point(*rng.uniform(-0.08, 0.08, 3))
        system.spring(f"strut{i}", *ends, stiffness=k * (1.0 + 0.2 * i), damping=25.0, free_length=1.05)
    wheel = system.body("wheel", 0.5, (0.02, 0.02, 0.04), at=(2.0, 0.0, 0.0))
    flap = system.body("flap", 0.3, (0.01, 0.02, 0.02), (0.1, 0.05, 0.0), at=(2.5, 0.0, 0.0))
    crank = system.body("crank", 0.2, (0.01, 0.01, 0.01), at=(-2.0, 0.0, 0.0))
    for name, body, x in (("axle", wheel, 2.0), ("flap axle", flap, 2.5), ("motor", crank, -2.0)):
        system.revolute(name, system.ground, body, at=(x, 0.0, 0.0))
    system.gear("gear", "axle", "flap axle", 1.3)
    ends = wheel.point(0.1, 0.1, 0.02), plate.point(0.3, 0.0, 0.1)
    system.spring("link", *ends, stiffness=120.0, damping=4.0, free_length=1.2)
    ends = crank.point(0.3, 0.0, 0.0), plate.point(-0.3, 0.0, 0.0)
    system.spring("exciter", *ends, stiffness=200.0, damping=3.0, free_length=1.5)
    system.applied_force("wind", plate.point(0.1, 0.2, 0.0), (pull, 0.0, 2.0 * pull))
    system.driver("motor", drive, name="drive")
    for joint, effort in (efforts or {}).items():
        system.joint_force(f"effort of {joint}", joint, effort)
    return system


def _responses(mechanism, start, **options):
    run = mechanism.simulate(
        0.5, start=start, integrator="dop853", tolerance=1e-12, output=5, progress=False, **options
    )
    return np.hstack([np.asarray(series).reshape(6, -1) for series in run.compute(OUTPUTS)])


def test_small_motions_are_central_differences_of_runs():
    mechanism = analyse(platform(lambda t: 0.2 + 0.0 * t))
    equilibrium = mechanism.equilibrium()
    linear = mechanism.linearize(equilibrium, inputs=["k", "pull"], outputs=OUTPUTS)
    n, times = len(linear.A), np.linspace(0.0, 0.5, 6)
    assert n == 8
    for j, (name, value) in enumerate((("k", 900.0), ("pull", 1.5))):
        h = 1e-4 * value
        high, low = (
            _responses(mechanism, equilibrium.state, parameters={name: x}) for x in (value + h, value - h)
        )
        driven = np.zeros((n + 1, n + 1))
        driven[:n, :n], driven[:n, n] = linear.A, linear.B[:, j]
        told = np.array([linear.C @ expm(driven * t)[:n, n] + linear.D[:, j] for t in times])
        assert (high - low) / (2.0 * h) == pytest.approx(told, abs=1e-6 * np.abs(told).max())
    for j in range(n // 2, n):
        i = mechanism.speed_names.index(linear.states[j].removesuffix("_rate"))
        around = []
        for h in (1e-4, -1e-4):
            u = equilibrium.state.u.copy()
            u[i] += h
            around.append(_responses(mechanism, replace(equilibrium.state, u=u)))
        told = np.array([linear.C @ expm(linear.A * t)[:, j] for t in times])
        assert (around[0] - around[1]) / 2e-4 == pytest.approx(told, abs=1e-6 * np.abs(told).max())


def test_efforts_are_found_again_from_the_motion_they_made():
    efforts: dict[str, Callable[[float], float]] = {
        "hip0": lambda t: 5.0 * np.sin(4.0 * t),
        "hip1": lambda t: 3.0 * np.cos(2.0 * t),
        "slide2": lambda t: 20.0 * t * np.sin(5.0 * t),
        "axle": lambda t: 2.0 * np.sin(3.0 * t),
    }

    def drive(t):
        return 0.4 * np.sin(3.0 * t)

    run = platform(drive, efforts).simulate(1.0, tolerance=1e-11, output=100, progress=False)
    mechanism = analyse(platform(drive))
    actuators = ["hip0.angle", "hip1.angle", "slide2.displacement", "axle.angle"]
    inverse = mechanism.inverse_dynamics(run, actuators=actuators)
    for name in actuators:
        assert np.asarray(inverse[name]) == pytest.approx(efforts[name.split(".")[0]](run.time), abs=1e-8)
    assert np.asarray(inverse.result["drive.effort"]) == pytest.approx(
        np.asarray(run["drive.effort"]), abs=1e-10
    )
    with pytest.raises(bc.ModelError, match="4 degrees of freedom; name as many actuators, not 5"):
        mechanism.inverse_dynamics(run, actuators=[*actuators, "hip2.angle"])
    # Wheel and flap are geared together: two efforts on one freedom, none on another.
    with pytest.raises(bc.SingularMechanism, match="some freedom has none"):
        mechanism.inverse_dynamics(
            run, actuators=["hip0.angle", "hip1.angle", "axle.angle", "flap axle.angle"]
        )
