"""Similar mechanisms do similar things: the same impacts and the same motion from a micrometre to a kilometre.

With lengths s times as long, times T and densities the same, all speeds are s / T times as large. Under the same
gravity T goes with the root of s, under gravity that grows with s it stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bellcrank.contact import Sampled
from bellcrank.model import System
from bellcrank.result.result import Result

G = 9.81
SIZES = (1e-6, 1e3)
Model = Callable[[float, float], tuple[System, float, str]]


def ball(s: float, g: float) -> tuple[System, float, str]:
    """It bounces to rest while it begins to roll."""
    system, m, T = System("ball", gravity=(0.0, 0.0, -g)), s**3, math.sqrt(s / g)
    body = system.body("ball", mass=m, inertia=(0.016 * m * s * s,) * 3, at=(0.0, 0.0, s))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.sphere(0.2 * s), restitution=0.7, friction=0.3)
    system.initial("flight", {"velocity": (0.5 * s / T, 0.0, 0.0)})
    return system, 12.0 * T, "ball"


def box(s: float, g: float) -> tuple[System, float, str]:
    """On two feet in the plane: it rocks from one to the other until it stands."""
    system, m, T = System("box", gravity=(0.0, -g, 0.0)), s**3, math.sqrt(s / g)
    body = system.body("box", mass=m, inertia=(m * s * s / 60.0,) * 3, at=(0.0, 0.3 * s, 0.0), angle=0.3)
    system.planar("plane", system.ground, body, axis="z")
    for name, x in (("left", -0.1), ("right", 0.1)):
        foot = body.circle(0.01 * s, at=(x * s, -0.19 * s, 0.0))
        system.contact(name, system.ground.line(), foot, restitution=0.5, friction=0.4)
    return system, 5.0 * T, "box"


def slider_crank(s: float, g: float) -> tuple[System, float, str]:
    """A crank that turns freely moves a piston, with play within a sleeve, without gravity."""
    system, m, T = System("slider crank", gravity=(0.0, 0.0, 0.0)), s**3, math.sqrt(s / g)
    places = {"crank": 0.1, "rod": 0.45, "piston": 0.7, "sleeve": 0.7}
    crank, rod, piston, sleeve = (
        system.body(name, mass=m, inertia=(0.05 * m * s * s,) * 3, at=(x * s, 0.0, 0.0))
        for name, x in places.items()
    )
    system.revolute("bearing", system.ground, crank, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("crank pin", crank, rod, at=(0.2 * s, 0.0, 0.0), axis="z")
    system.revolute("wrist pin", rod, piston, at=(0.7 * s, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, piston, axis="x")
    system.prismatic("rail", system.ground, sleeve, axis="x")
    for name, way in (("right", 1.0), ("left", -1.0)):
        inner = piston.circle(0.05 * s, at=(0.06 * way * s, 0.0, 0.0))
        outer = sleeve.circle(0.05 * s, at=(0.19 * way * s, 0.0, 0.0))
        system.contact(name, *((inner, outer) if way > 0.0 else (outer, inner)), restitution=0.6)
    system.initial("bearing", (0.3, 3.0 / T))
    return system, 6.0 * T, "sleeve"


def egg(s: float, g: float) -> tuple[System, float, str]:
    """An ellipsoid in space that slips and rolls once it does not bounce any more."""
    system, m, T = System("egg", gravity=(0.0, 0.0, -g)), s**3, math.sqrt(s / g)
    inertia = (0.03 * m * s * s, 0.04 * m * s * s, 0.05 * m * s * s)
    body = system.body("egg", mass=m, inertia=inertia, at=(0.0, 0.0, 0.5 * s))
    system.free("flight", system.ground, body)
    shape = body.ellipsoid(0.2 * s, 0.3 * s, 0.25 * s)
    system.contact("floor", system.ground.plane(), shape, restitution=0.3, friction=0.3)
    spin = {"velocity": (0.3 * s / T, 0.0, 0.0), "angular_velocity": (0.3 / T, 0.5 / T, 0.1 / T)}
    system.initial("flight", spin)
    return system, 8.0 * T, "egg"


def sampled(s: float, g: float) -> tuple[System, float, str]:
    """A ball of 400 samples."""
    system, m, T = System("ball", gravity=(0.0, 0.0, -g)), s**3, math.sqrt(s / g)
    body = system.body("ball", mass=m, inertia=(0.016 * m * s * s,) * 3, at=(0.0, 0.0, 0.5 * s))
    system.free("flight", system.ground, body)
    k = np.arange(400) + 0.5
    z, angle = 1.0 - k / 200.0, k * math.pi * (1.0 + math.sqrt(5.0))
    r = np.sqrt(1.0 - z * z)
    n = np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
    shape = body.shape(Sampled(0.2 * s * n, n))
    system.contact("floor", system.ground.plane(), shape, restitution=0.7, friction=0.2)
    spin = {"velocity": (0.3 * s / T, 0.0, 0.0), "angular_velocity": (0.3 / T, 0.5 / T, 0.1 / T)}
    system.initial("flight", spin)
    return system, 5.0 * T, "ball"


def motion(run: Result, body: str, s: float, T: float) -> list[float]:
    """Where a body is at the end and how it moves, as plain numbers."""
    where = [float(run[f"{body}.position.{axis}"][-1]) / s for axis in "xyz"]
    how = [float(run[f"{body}.velocity.{axis}"][-1]) * T / s for axis in "xyz"]
    return [*where, *how, *(float(run[f"{body}.angular_velocity.{axis}"][-1]) * T for axis in "xyz")]


@pytest.mark.parametrize("model", [ball, box, slider_crank, egg, sampled])
def test_similar_mechanisms_do_the_same(model: Model) -> None:
    system, duration, body = model(1.0, G)
    run = system.simulate(duration, output=1)
    wanted = motion(run, body, 1.0, math.sqrt(1.0 / G))
    for s, g in ((size, gravity) for size in SIZES for gravity in (G, G * size)):
        T = math.sqrt(s / g)
        system, duration, body = model(s, g)
        other = system.simulate(duration, output=1)
        assert len(other.impacts) == len(run.impacts)
        assert [(c.contact, c.what) for c in other.contact_changes] == [
            (c.contact, c.what) for c in run.contact_changes
        ]
        times = np.array([i.time for i in other.impacts]) / T
        assert times == pytest.approx(np.array([i.time for i in run.impacts]) * math.sqrt(G), rel=1e-6)
        assert motion(other, body, s, T) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("s", [*SIZES, 1.0])
def test_balls_of_all_sizes_come_to_rest_and_roll(s: float) -> None:
    """Bounces of e = 0.7 end after (1 + e) / (1 - e) times the fall; 5/7 of the speed is left to a ball that rolls."""
    system, duration, _ = ball(s, G)
    run = system.simulate(duration, output=1)
    fall = math.sqrt(2.0 * 0.8 * s / G)
    assert run.contact_changes[0].time == pytest.approx(fall * 1.7 / 0.3, rel=1e-5)
    assert run["ball.velocity.x"][-1] == pytest.approx(5.0 / 7.0 * 0.5 * math.sqrt(s * G), rel=1e-6)


@pytest.mark.parametrize("s", [*SIZES, 1.0])
def test_boxes_of_all_sizes_stand_in_the_end(s: float) -> None:
    system, duration, _ = box(s, G)
    run = system.simulate(duration, output=1)
    assert run["box.position.y"][-1] == pytest.approx(0.2 * s, rel=1e-9)
    assert abs(run["box.angular_velocity.z"][-1]) < 1e-9 * math.sqrt(G / s)
