"""Bristle friction: holds without creep, slides as Coulomb says, turns with a table, and takes energy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.contact import LuGre
from bellcrank.errors import ModelError
from bellcrank.model import System
from bellcrank.result.result import Result

G = 9.81


def on_slope(angle: float, friction: LuGre, duration: float, **run: object) -> Result:
    """A block that cannot turn, at rest just above a slope."""
    system = System("slope", gravity=(-G * math.sin(angle), 0.0, -G * math.cos(angle)))
    block = system.body("block", mass=1.0, inertia=(0.01,) * 3, at=(0.0, 0.0, 0.1))
    carrier = system.body("carrier", mass=0.0, at=(0.0, 0.0, 0.1))
    system.prismatic("along", system.ground, carrier, axis="x")
    system.prismatic("up", carrier, block, axis="z")
    system.contact(
        "floor",
        system.ground.plane(),
        block.sphere(0.1),
        friction=friction,
        restitution=0.2,
        treatment="continuous",
        stiffness=1e7,
    )
    return system.simulate(duration, tolerance=1e-9, **run)  # type: ignore[arg-type]


@pytest.mark.parametrize("integrator", ["auto", "radau"])
def test_bristles_hold_a_block_on_a_slope_without_creep(integrator: str) -> None:
    run = on_slope(0.25, LuGre(0.3, static=0.35), 4.0, integrator=integrator)
    x = run["block.position.x"]
    assert abs(float(x[-1] - x[len(x) // 2])) < 2e-9
    # The bend carries the weight along the slope: stiffness z = tan(angle).
    assert 1e4 * float(run["floor bend x"][-1]) == pytest.approx(-math.tan(0.25), rel=1e-6)
    assert float(run["floor.friction_force.x"][-1]) == pytest.approx(G * math.sin(0.25), rel=1e-6)


def test_beyond_the_static_angle_the_block_slides_as_coulomb_says() -> None:
    run = on_slope(0.4, LuGre(0.3, static=0.35), 1.0)
    v, t = run["block.velocity.x"], run.time
    slope = float((v[-1] - v[500]) / (t[-1] - t[500]))
    assert slope == pytest.approx(-G * (math.sin(0.4) - 0.3 * math.cos(0.4)), rel=1e-4)


def test_static_friction_holds_what_kinetic_friction_would_not() -> None:
    angle = math.atan(0.33)
    depth = (G * math.cos(angle) / 1e7) ** (2.0 / 3.0)
    start = {"up": -depth, "floor bend x": -0.33e-4}
    held = on_slope(angle, LuGre(0.3, static=0.36), 1.0, initial=start)
    assert abs(float(held["block.velocity.x"][-1])) < 1e-8


def test_block_goes_along_with_a_turning_table() -> None:
    """Held by friction on a turntable, the block turns with it: a creep would show as a lag."""
    system = System("table")
    table = system.body("table", mass=10.0, inertia=(1.0, 1.0, 1.0))
    block = system.body("block", mass=1.0, inertia=(1e-3,) * 3, at=(0.2, 0.0, 0.05))
    system.revolute("spindle", system.ground, table, at=(0.0, 0.0, 0.0), axis="z")
    system.driver("spindle", lambda t: 2.0 * t, name="drive")
    system.free("flight", system.ground, block)
    for k, (x, y) in enumerate(((0.03, 0.03), (-0.03, 0.03), (0.03, -0.03), (-0.03, -0.03))):
        system.contact(
            f"foot {k}",
            table.plane(),
            block.sphere(0.02, at=(x, y, -0.03)),
            friction=LuGre(0.5, stiffness=1e5),
            restitution=0.1,
            treatment="continuous",
            stiffness=1e6,
        )
    depth = (0.25 * G / 1e6) ** (2.0 / 3.0)
    start = {
        "position": (0.2, 0.0, 0.05 - depth),
        "velocity": (0.0, 0.4, 0.0),
        "angular_velocity": (0.0, 0.0, 2.0),
    }
    run = system.simulate(2.0, initial={"flight": start}, tolerance=1e-8)
    x, y = run["block.position.x"], run["block.position.y"]
    lag = np.unwrap(np.arctan2(y, x)) - 2.0 * run.time
    radius, half = np.hypot(x, y), len(x) // 2
    assert radius[0] == pytest.approx(radius[-1], abs=1e-4)
    assert radius[half] == pytest.approx(radius[-1], abs=1e-7)
    assert abs(float(lag[-1] - lag[half])) < 1e-6


def test_bristles_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ModelError, match="kinetic must be a positive number"):
        LuGre(0.0)
    with pytest.raises(ModelError, match="must not be smaller"):
        LuGre(0.3, static=0.2)
    with pytest.raises(ModelError, match="stiffness must be"):
        LuGre(0.3, stiffness=-1.0)
