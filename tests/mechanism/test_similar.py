"""What is decided about a mechanism does not depend on the unit of length: the same loop from 1e-6 m to 1e6 m."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bellcrank as bc


def skew(length: float, cut: str) -> bc.System:
    """A spatial loop of two revolute, a ball and a universal joint, `length` times one of a metre; times stay."""
    system = bc.System("skew", gravity=(0, 0, -9.81 * length))

    def at(*x: float) -> list[float]:
        return [length * c for c in x]

    def body(name: str, share: float, *place: float) -> bc.Body:
        return system.body(name, 1.0, (share * length * length,) * 3, at=at(*place))

    crank, rod = body("crank", 0.02, 0.15, 0, 0), body("rod", 0.1, 0.65, 0.5, 0.3)
    rocker = body("rocker", 0.05, 1.0, 1.0, 0.3)
    system.revolute("main", system.ground, crank, at=at(0, 0, 0), axis="z")
    system.spherical("ball", crank, rod, at=at(0.3, 0, 0), cut=cut == "ball")
    system.universal(
        "cross", rod, rocker, at=at(1, 1, 0.6), axis_a=(1, 0, 0), axis_b=(0, 1, 0), cut=cut == "cross"
    )
    system.revolute("bearing", system.ground, rocker, at=at(1, 1, 0), axis="x")
    return system


REFERENCE = {}


@given(st.floats(-6.0, 6.0), st.sampled_from(["ball", "cross"]))
@settings(max_examples=12, deadline=None)
def test_a_spatial_loop_runs_alike_at_any_size(exponent: float, cut: str) -> None:
    def run(length: float) -> np.ndarray:
        found = skew(length, cut).simulate(
            0.5, initial={"main": {"angle_rate": 3.0}}, tolerance=1e-10, output=5
        )
        return np.asarray(found["rocker.angular_velocity.x"])

    if cut not in REFERENCE:
        REFERENCE[cut] = run(1.0)
    assert run(10.0**exponent) == pytest.approx(REFERENCE[cut], abs=1e-8)


@given(st.floats(-6.0, 6.0))
@settings(max_examples=6, deadline=None)
def test_redundant_equations_are_the_same_at_any_size(exponent: float) -> None:
    length = 10.0**exponent
    system = bc.System("four bar", gravity=(0, -9.81 * length, 0))
    pins = [(0, 0), (0, 1), (2, 1.5), (2, 0)]
    before = system.ground
    for k, ((x, y), (X, Y)) in enumerate(pairwise(pins)):
        place = (length * (x + X) / 2, length * (y + Y) / 2, 0)
        bar = system.body(f"bar {k}", 1.0, (0.1 * length**2,) * 3, at=place)
        system.revolute(f"pin {k}", before, bar, at=(length * x, length * y, 0))
        before = bar
    system.revolute("last", before, system.ground, at=(2 * length, 0, 0))
    mechanism = system.mechanism()
    assert (mechanism.degrees_of_freedom, len(mechanism.dropped)) == (1, 3)
    assert mechanism.start_independence > 0.1


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_stops_are_struck_alike_at_any_size(length: float) -> None:
    def flap(size: float) -> np.ndarray:
        system = bc.System("flap", gravity=(0, 0, -9.81 * size))
        body = system.body("flap", 1.0, (0.01 * size * size,) * 3, at=(0, 0, -size))
        stop = bc.Limits(0.1, 2.0, restitution=0.5)
        system.revolute("pin", system.ground, body, at=(0, 0, 0), axis="y", limits=stop)
        return np.asarray(system.simulate(1.5, initial={"pin": 1.0}, output=6)["pin.angle"])

    assert flap(length) == pytest.approx(flap(1.0), abs=1e-7)


def test_coordinates_that_are_not_zero_as_described_are_said() -> None:
    system = bc.System("cranks")
    for name, angle in (("turned", 0.5), ("straight", 0.0)):
        body = system.body(name, 1.0, (1.0, 1.0, 1.0), angle=angle)
        system.revolute(f"{name} pin", system.ground, body, at=(0, 0, 0))
    text = str(system.mechanism())
    assert "turned pin.angle = 0.5 rad: it counts from where the axes of its two frames coincide" in text
    assert "straight pin.angle =" not in text
