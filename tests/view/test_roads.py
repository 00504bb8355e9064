"""Wheels and roads as they are drawn."""

from __future__ import annotations

import numpy as np

from bellcrank import System
from bellcrank.roads import Grid
from bellcrank.tyres import LinearTyre
from bellcrank.view.scene import scene


def test_a_tyre_and_its_road_are_drawn() -> None:
    system = System("wheel")
    rise = system.parameter("rise", 2.0)
    wheel = system.body("wheel", mass=20.0, inertia=(1.0, 1.5, 1.0), at=(0.0, 0.0, 0.3))
    system.free("motion", system.ground, wheel)
    law = LinearTyre(radius=0.3, width=0.25, stiffness=2e5, longitudinal=1e4, cornering=1e4)
    grid = Grid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [[0, 0, 0], [0, 0.01, 0], [0, 0, 0]])
    system.tyre("tyre", wheel, law, road=lambda x, y, t: rise * grid(x, y))
    drawn = scene(system.simulate(0.01))
    rounds = [s.corners for body, s in drawn.solids if body == 0]
    assert any(np.allclose(np.ptp(c, axis=0), (0.6, 0.25, 0.6), atol=0.02) for c in rounds)
    (road,) = [s.corners for _, s in drawn.solids if s.ground]
    assert np.allclose(road[:, 2], 2.0 * grid.heights(road[:, 0], road[:, 1]))
    assert np.ptp(road[:, 2]) > 1e-3
