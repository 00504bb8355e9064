"""What is decided about a mechanism does not depend on the unit of length: the same loop from 1e-6 m to 1e6 m."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank.mechanism import analyse
from formulations.comparison import random_state, solved
from reference.mechanisms import FAMILIES, mechanism

DRIVEN = ("coupled", "coupled across cuts", "driven", "rolling", "constrained")
LINKAGES = [family for family in FAMILIES if family not in DRIVEN]


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


def enlarged(system: bc.System, length: float) -> bc.System:
    """The same mechanism with all its lengths so many times as large, and its times as they are."""
    large = bc.System("large", gravity=tuple(length * np.array(system.gravity)))
    for body in system.bodies.values():
        inertia, center = length**2 * np.array(body.inertia), length * np.array(body.center_of_mass)
        place, turned = length * np.array(body.position), body.start_rotation()
        large.body(body.name, body.mass, inertia, center, at=place, rotation=turned)
    for joint in system.joints.values():
        sides = []
        for frame in (joint.a, joint.b):
            owner = large.ground if frame.body.is_ground else large.bodies[frame.body.name]
            sides.append(owner.frame(length * np.array(frame.position), rotation=frame.rotation))
        more = {"pitch": length * joint.pitch} if joint.kind == "screw" else {}
        getattr(large, joint.kind)(joint.name, *sides, cut=joint.cut, **more)
    return large


@given(st.sampled_from(LINKAGES), st.integers(0, 999), st.floats(-6.0, 6.0))
@settings(max_examples=10, deadline=None)
def test_any_mechanism_is_analysed_and_accelerated_alike_at_any_size(
    family: str, seed: int, exponent: float
) -> None:
    """Joints of every kind in trees and loops: as many freedoms and redundant equations, and the same accelerations."""
    length = 10.0**exponent
    drawn = mechanism(family, seed, forces=0)
    found, large = analyse(drawn), analyse(enlarged(drawn, length))
    assert large.degrees_of_freedom == found.degrees_of_freedom
    assert len(large.dropped) == len(found.dropped)
    state = random_state(found, np.random.default_rng(seed), 0.2)
    q, u = np.ones(len(state.q)), np.ones(len(state.u))
    for link in found.linkage.links:
        u[link.sliding_speeds] = length
        places = {7: 3, 1: len(link.sliding_speeds) if not len(link.turning_speeds) else 0}
        q[link.q : link.q + places.get(link.kind.positions, 0)] = length
    here = solved(found.traced("independent"), state, found.parameter_values).du
    there = solved(large.traced("independent"), bc.State(state.t, q * state.q, u * state.u), ()).du
    assert there / u == pytest.approx(here, rel=1e-6, abs=1e-6 * np.abs(here).max())
