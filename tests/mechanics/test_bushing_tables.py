"""Bushings by tables: against stiffness, Newton-Euler with multipliers, and the work of the tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.program.tables import table_and_integral
from formulations.comparison import AGREEMENT, body_difference, body_motion, random_state, solved
from reference import newton_euler

HARD = [(-0.02, -900.0), (-0.01, -300.0), (0.0, 0.0), (0.01, 300.0), (0.03, 2000.0)]


def mount(tables: object, stiffness: object = (0.0,) * 6, damping: object = (0.0,) * 6) -> System:
    """An engine on a mount under a frame that slides."""
    system = System("engine mount")
    frame = system.body("frame", 20.0, (1.0, 1.0, 1.0))
    engine = system.body("engine", 8.0, (0.3, 0.4, 0.2), center_of_mass=(0.05, 0.02, 0.1), angle=0.1)
    system.prismatic("road", system.ground, frame, axis="z")
    system.free("air", frame, engine)
    system.bushing(
        "mount", frame.frame((0.1, 0, 0)), engine.frame((0.1, 0.01, 0)), stiffness, damping, tables
    )
    return system


def test_a_straight_table_is_a_stiffness() -> None:
    k = (900.0, 700.0, 800.0, 30.0, 20.0, 10.0)
    axes = ("x", "y", "z", "rx", "ry", "rz")
    rows = {axis: [(x, x * s) for x in (-0.01, 0.0, 0.02)] for axis, s in zip(axes, k, strict=True)}
    straight = mount(rows)
    results = [system.simulate(0.1, output=0.01) for system in (straight, mount(None, k))]
    for name in ("engine.position", "engine.angular_velocity", "mount.energy", "mount.power"):
        one, two = (np.asarray(result[name]) for result in results)
        np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_forces_on_bodies(seed: int) -> None:
    turning = [(-0.2, -9.0), (0.0, 1.0), (0.1, 4.0), (0.3, 5.0)]
    tables = {"x": HARD, "y": [(0.0, 5.0), (0.01, 8.0)], "rx": turning, "rz": turning}
    found = analyse(mount(tables, (10, 20, 900, 1, 2, 3), (5, 4, 3, 0.2, 0.3, 0.4)))
    state = random_state(found, np.random.default_rng(seed), (0.01, 0.05, 0.5)[seed])
    poses, velocities, _ = body_motion(found, state)
    way = solved(found.traced(), state, found.parameter_values)
    reference = newton_euler.accelerations(found.system, None, 0.0, poses, velocities)
    assert body_difference(reference, body_motion(found, state, way.du)[2]) < AGREEMENT


@pytest.mark.parametrize("x", [-0.5, -0.02, -0.013, 0.0, 0.004, 0.03, 0.2])
def test_the_energy_is_the_work_of_the_table(x: float) -> None:
    force, energy = table_and_integral(*zip(*HARD, strict=True))
    work, _ = quad(force, 0.0, x, points=[p for p, _ in HARD if abs(p) < abs(x)] or None)
    assert energy(x) == pytest.approx(work, rel=1e-9, abs=1e-12)
    assert force(0.05) - force(0.04) == pytest.approx(force(1.01) - force(1.0), rel=1e-9)


def test_the_ledger_closes_beyond_the_table() -> None:
    """A mass on the table alone, thrown far beyond its end: nothing is lost, and it comes back as fast."""
    system = System("stop", gravity=(0, 0, 0))
    mass = system.body("mass", 2.0)
    system.prismatic("rail", system.ground, mass, axis="x")
    system.bushing("stop", system.ground, mass, tables={"x": HARD})
    result = system.simulate(0.1, initial={"rail": (0.0, 6.0)}, tolerance=1e-11)
    assert np.asarray(result["rail.displacement"]).max() > 0.031
    energy = np.asarray(result["energy.total"])
    assert np.ptp(energy) < 1e-7 * energy[0]
    assert np.abs(np.asarray(result["power.forces"])).max() < 1e-9
    _, stored = table_and_integral(*zip(*HARD, strict=True))
    top = float(np.asarray(result["rail.displacement"]).max())
    assert stored(top) == pytest.approx(36.0, rel=1e-4)


def test_files_carry_tables() -> None:
    system = mount({"x": HARD, "rz": [(-0.1, -math.pi), (0.1, math.pi)]})
    text = dumps(system)
    again = loads(text)
    assert dumps(again) == text
    assert again.forces["mount"].tables == system.forces["mount"].tables
    with pytest.raises(ModelError, match="must increase"):
        loads(text.replace("[-0.02, -900]", "[0.5, -900]"))


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"x": [(0.0, 1.0)]}, "at least two points"),
        ({"x": [(0.0, 1.0), (0.0, 2.0)]}, "must increase"),
        ({"x": [(0.0, 1.0), (1.0, math.nan)]}, "finite"),
        ({"x": 5.0}, "must be pairs"),
        ({"x": [(0.0, 1.0, 2.0)]}, "2 numbers"),
        ({"w": HARD}, "axis"),
        ([1.0, 2.0], "mapping"),
    ],
)
def test_wrong_tables_are_refused_by_name(tables: object, said: str) -> None:
    with pytest.raises(ModelError, match=said) as refused:
        mount(tables)
    assert "force 'mount'" in str(refused.value)
