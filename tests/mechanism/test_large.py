"""Mechanisms in small units or far away: their motion is that of the same ones in metres."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.run.simulation import simulate

SCALES = [1e3, 1e6, 1e9]


def _rod(mass: float, length: float) -> tuple[float, float, float]:
    return (1e-3 * mass, mass * length**2 / 12, mass * length**2 / 12)


class _Drawing:
    """A system whose lengths are all in units of 1 / scale."""

    def __init__(self, scale: float, origin: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        self.scale, self.origin = scale, np.array(origin)
        self.system = System("large", gravity=(0.0, -9.81 * scale, 0.0))

    def at(self, *point: float) -> tuple[float, ...]:
        return tuple(self.scale * (np.array(point) + self.origin))

    def body(self, name: str, mass: float, length: float, *at: float):
        inertia = tuple(self.scale**2 * x for x in _rod(mass, length))
        return self.system.body(name, mass, inertia, at=self.at(*at))


def _four_bar(scale: float, origin: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> System:
    d = _Drawing(scale, origin)
    crank, coupler = d.body("crank", 2.0, 1.0, 0.2, 0.4, 0.0), d.body("coupler", 3.0, 2.0, 1.2, 1.0, 0.0)
    rocker = d.body("rocker", 2.5, 1.4, 1.9, 0.6, 0.0)
    d.system.revolute("A", d.system.ground, crank, at=d.at(0.0, 0.0, 0.0))
    d.system.revolute("B", crank, coupler, at=d.at(0.4, 0.8, 0.0))
    d.system.revolute("C", coupler, rocker, at=d.at(2.0, 1.2, 0.0))
    d.system.revolute("D", rocker, d.system.ground, at=d.at(1.8, 0.0, 0.0))
    return d.system


def _slider_crank(scale: float) -> System:
    d = _Drawing(scale)
    crank, rod = d.body("crank", 2.0, 1.0, 0.15, 0.2, 0.0), d.body("rod", 3.0, 2.0, 0.8, 0.2, 0.0)
    slider = d.body("slider", 2.5, 0.1, 1.3, 0.0, 0.0)
    d.system.revolute("A", d.system.ground, crank, at=d.at(0.0, 0.0, 0.0))
    d.system.revolute("B", crank, rod, at=d.at(0.3, 0.4, 0.0))
    d.system.revolute("C", rod, slider, at=d.at(1.3, 0.0, 0.0))
    d.system.prismatic("D", d.system.ground, slider, at=d.at(1.3, 0.0, 0.0), axis="x")
    return d.system


def _spatial(scale: float) -> System:
    d = _Drawing(scale)
    crank, rod = d.body("crank", 2.0, 1.0, 0.0, 0.15, 0.12), d.body("rod", 3.0, 2.0, 0.5, 0.1, 0.06)
    slider = d.body("slider", 2.5, 0.1, 1.0, 0.0, 0.0)
    d.system.revolute("A", d.system.ground, crank, at=d.at(0.0, 0.1, 0.12), axis="x")
    d.system.spherical("B", crank, rod, at=d.at(0.0, 0.25, 0.12))
    d.system.universal("C", rod, slider, at=d.at(1.0, 0.0, 0.0), axis_a="y", axis_b="z")
    d.system.prismatic("D", d.system.ground, slider, at=d.at(1.0, 0.0, 0.0), axis="x")
    return d.system


def _angles(system: System, integrator: str):
    run = simulate(system, 3.0, integrator=integrator, tolerance=1e-9, output=30, progress=False)
    return np.asarray(run["A.angle"]), run


@pytest.mark.parametrize("integrator", ["dop853", "radau"])
@pytest.mark.parametrize("make", [_four_bar, _slider_crank, _spatial])
def test_the_unit_of_length_does_not_matter(make, integrator):
    in_metres, reference = _angles(make(1.0), integrator)
    for scale in SCALES:
        angles, run = _angles(make(scale), integrator)
        assert angles == pytest.approx(in_metres, abs=2e-7)
        assert run.run.steps + run.run.rejected < 1.5 * (reference.run.steps + reference.run.rejected)


def test_a_mechanism_far_from_the_origin_moves_as_it_does_there():
    # At an orbit's radius coordinates are rounded to 1e-9 m, which lengths of 1 m then carry.
    here, there = (_angles(_four_bar(1.0, origin), "dop853")[0] for origin in ((0, 0, 0), (7e6, 3e6, 0)))
    assert there == pytest.approx(here, abs=1e-6)


@pytest.mark.parametrize("scale", SCALES)
def test_start_values_far_from_the_drawing_are_reached(scale):
    in_metres = analyse(_slider_crank(1.0), initial={"D": 0.1}).start.q
    large = analyse(_slider_crank(scale), initial={"D": 0.1 * scale}).start.q
    lengths = np.abs(large) > 10.0
    assert np.where(lengths, large / scale, large) == pytest.approx(in_metres, abs=1e-9)


def test_loops_of_ordinary_size_close_as_before():
    q = analyse(_four_bar(1.0)).start.q
    mechanism = analyse(_four_bar(100.0))
    assert mechanism.length_scale == 1.0
    rows = mechanism.loop_state().rows(mechanism.start.q, 0.0)
    assert np.abs(rows.residual).max() < 1e-10
    assert mechanism.start.q == pytest.approx(q, abs=1e-12)
