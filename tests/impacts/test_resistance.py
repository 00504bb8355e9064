"""Resistance to rolling and spinning, by steps: closed forms of a ball."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bellcrank import files
from bellcrank.errors import ModelError
from bellcrank.model import System
from bellcrank.result.result import Result
from impacts.models import G

R, ROLLING, SPINNING = 0.1, 0.005, 0.004


def on_plane(slope: float = 0.0, **law: float) -> System:
    """A solid ball on an inclined plane."""
    system = System("ball", gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
    ball = system.body("ball", mass=2.0, inertia=(0.4 * 2.0 * R * R,) * 3, at=(0.0, 0.0, R))
    system.free("flight", system.ground, ball)
    system.contact(
        "floor", system.ground.plane(), ball.sphere(R), **({"restitution": 0.0, "friction": 0.5} | law)
    )
    return system


def run(system: System, duration: float, **motion: object) -> Result:
    return system.simulate(
        duration, impacts="stepping", step=1e-3, output=20, initial={"flight": motion} if motion else {}
    )


def test_a_rolling_ball_stops() -> None:
    """(1 + 2/5) m R a = rho m g: after 7/10 R v^2 / (rho g), however it is turned to its way."""
    system, v = on_plane(rolling_resistance=ROLLING), 0.5
    c, s = math.cos(0.4), math.sin(0.4)
    result = run(system, 2.0, velocity=(v * c, v * s, 0.0), angular_velocity=(-v * s / R, v * c / R, 0.0))
    expected = 0.7 * R * v * v / (ROLLING * G)
    assert np.asarray(result["ball.position"])[-1, :2] == pytest.approx(
        [expected * c, expected * s], rel=2e-3
    )
    assert np.linalg.norm(np.asarray(result["ball.velocity"])[-1]) < 1e-9
    assert np.diff(result["energy.total"]).max() < 1e-9
    assert result.run.unsolved == 0


def test_a_spinning_ball_stops() -> None:
    """2/5 m R^2 w / (sigma m g) seconds of spinning; until then the moment is sigma m g."""
    result = run(on_plane(spinning_resistance=SPINNING), 1.0, angular_velocity=(0.0, 0.0, 5.0))
    spin, stop = np.asarray(result["ball.angular_velocity.z"]), 0.4 * R * R * 5.0 / (SPINNING * G)
    assert spin == pytest.approx(5.0 * np.maximum(0.0, 1.0 - result.time / stop), abs=2e-2)
    assert np.asarray(result["ball.contact_torque"])[5] == pytest.approx(
        [0.0, 0.0, -SPINNING * 2.0 * G], rel=1e-3
    )
    assert spin[-1] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("share", [0.9, 1.2])
def test_a_ball_stays_on_a_slope_below_the_angle_of_rolling(share: float) -> None:
    """It holds where tan(slope) < rho / R, and rolls by the rest of the force otherwise."""
    slope = math.atan(share * ROLLING / R)
    result = run(on_plane(slope, rolling_resistance=ROLLING), 0.5)
    rest = max(0.0, G * math.sin(slope) - ROLLING / R * G * math.cos(slope)) / 1.4
    assert result["ball.velocity.x"][-1] == pytest.approx(0.5 * rest, abs=1e-6, rel=1e-3)


def test_balls_in_a_heap_with_resistance() -> None:
    """Many at once are solved to their tolerance, and come to rest where balls without it roll away."""
    system = System("heap", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.plane())
    for k in range(8):
        at = (0.09 * (k % 2) + 0.003 * k, 0.01 * (k // 2 % 2), 0.05 + 0.11 * (k // 2))
        body = system.body(f"ball {k}", mass=1.0, inertia=(1e-3,) * 3, at=at)
        system.free(f"flight {k}", system.ground, body)
        body.collides(body.sphere(0.05) if k % 2 else body.sphere(0.03))
    system.contacts_between(restitution=0.0, friction=0.5, rolling_resistance=0.01, spinning_resistance=0.01)
    result = run(system, 1.5)
    assert result.run.unsolved == 0
    assert np.diff(result["energy.total"]).max() < 1e-6
    assert max(np.linalg.norm(np.asarray(result[f"ball {k}.velocity"])[-1]) for k in range(8)) < 1e-3


def test_resistance_goes_through_files_and_is_refused_elsewhere(tmp_path: Path) -> None:
    system = on_plane(rolling_resistance=ROLLING, spinning_resistance=SPINNING)
    files.save(system, tmp_path / "ball.yaml")
    again = files.load(tmp_path / "ball.yaml").collisions["floor"]
    assert (again.rolling_resistance, again.spinning_resistance) == (ROLLING, SPINNING)
    with pytest.raises(ModelError, match=r"contact 'floor' is solved by steps"):
        system.simulate(0.1)
    with pytest.raises(ModelError, match=r"rolling_resistance belongs to rigid contacts in runs by steps"):
        on_plane(rolling_resistance=ROLLING, treatment="continuous", restitution=0.5)
    with pytest.raises(ModelError, match=r"rolling_resistance of contact 'floor' is -1"):
        on_plane(rolling_resistance=-1.0)
