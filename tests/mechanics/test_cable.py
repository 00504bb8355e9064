"""Cables over pulleys: against geometry, Atwood's machine, a tackle, and the line force between two points."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.model import System

G = 9.81
FACING = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
"""z of a pulley along y of the world."""


def atwood(damping: float, length: float = 2.0, wheel: float = 0.0) -> System:
    """Masses of 3 and 2 kg on a cable over a pulley of radius 0.2 m at the origin."""
    system = System("Atwood")
    first = system.body("first", 3.0, (0.1,) * 3, at=(-0.2, 0, -1.0))
    second = system.body("second", 2.0, (0.1,) * 3, at=(0.2, 0, -1.0))
    system.prismatic("left", system.ground, first, axis="z")
    system.prismatic("right", system.ground, second, axis="z")
    pulley = system.ground
    if wheel:
        pulley = system.body("pulley", 1.0, (wheel,) * 3)
        system.revolute("axle", system.ground, pulley, at=(0, 0, 0), axis="y")
    centre = pulley.frame((0, 0, 0), rotation=FACING)
    whole = length + 0.2 * math.pi
    system.cable("rope", [first, centre, second], [0.2], stiffness=1e5, damping=damping, length=whole)
    return system


def test_the_length_is_that_of_the_path() -> None:
    result = atwood(0.0).simulate(1e-6, output=1)
    assert result["rope.length"][0] == pytest.approx(2.0 + 0.2 * math.pi, abs=1e-12)


@pytest.mark.parametrize("wheel", [0.0, 0.5])
def test_masses_on_one_cable_share_their_weight(wheel: float) -> None:
    """Also with a wheel for a pulley, on which the cable slides: it does not turn."""
    result = atwood(400.0, wheel=wheel).simulate(0.5, tolerance=1e-9, output=10)
    tension = 2.0 * 3.0 * 2.0 / 5.0 * G
    assert result["rope.tension"][-1] == pytest.approx(tension, rel=1e-6)
    assert result["left.displacement_acceleration"][-1] == pytest.approx(-G / 5.0, rel=1e-6)
    if wheel:
        assert abs(result["axle.angle_rate"][-1]) < 1e-12
        # The axle carries both ends of the cable, and the weight of the wheel.
        assert result["axle.force.z"][-1] == pytest.approx(2.0 * tension + G, rel=1e-6)


def test_energy_is_kept_and_a_slack_cable_does_nothing() -> None:
    result = atwood(0.0, length=2.3).simulate(0.6, tolerance=1e-10, output=60)
    energy = np.asarray(result["energy.total"])
    assert np.ptp(energy) < 1e-6 * 60.0
    slack = np.asarray(result["rope.tension"]) == 0.0
    fallen = (0.5 * 0.3 / (0.5 * G)) ** 0.5
    assert slack[result.time < fallen - 1e-3].all()
    assert not slack.all()


def test_a_loose_pulley_halves_the_force() -> None:
    """A load on a loose pulley hangs on two strands: each carries half of it."""
    system = System("tackle")
    block = system.body("block", 10.0, (0.1,) * 3, at=(0, 0, -1.0))
    weight = system.body("weight", 5.0, (0.1,) * 3, at=(0.5, 0, -1.0))
    system.prismatic("guide", system.ground, block, axis="z")
    system.prismatic("rail", system.ground, weight, axis="z")
    loose = block.frame((0, 0, 0), rotation=FACING)
    top = system.ground.frame((0.3, 0, 0), rotation=FACING)
    # Down from the ground, round the loose pulley from below (clockwise), up, over the fixed one, and down.
    path = [system.ground.point(-0.1, 0, 0), loose, top, weight]
    system.cable("rope", path, [-0.1, 0.2], stiffness=1e6, damping=3e3, length=3.0 + 0.3 * math.pi)
    result = system.simulate(0.5, tolerance=1e-9, output=5)
    assert result["rope.tension"][-1] == pytest.approx(5.0 * G, rel=1e-3)
    assert abs(result["guide.displacement"][-1]) < 1e-3


def bungee(length: object, rate: object) -> object:
    pull = np.maximum(100.0 * (length - 1.0) + 2.0 * rate, 0.0)  # type: ignore[operator]
    return -np.where(length > 1.0, pull, 0.0)  # type: ignore[operator]


def test_without_pulleys_it_is_the_force_between_its_ends() -> None:
    def run(by_cable: bool) -> np.ndarray:
        system = System("bungee")
        bob = system.body("bob", 1.0, (0.1,) * 3, at=(0.5, 0, -0.5))
        system.free("air", system.ground, bob)
        if by_cable:
            system.cable("rope", [system.ground, bob], stiffness=100.0, damping=2.0, length=1.0)
        else:
            system.force("rope", system.ground, bob, bungee)
        return np.asarray(system.simulate(2.0, tolerance=1e-9, output=10)["bob.position"])

    assert np.abs(run(True) - run(False)).max() < 1e-6


def test_mistakes_are_named() -> None:
    system = atwood(0.0)
    with pytest.raises(ModelError, match=r"force 'c' has 0 pulleys between its ends; give as many radii="):
        system.cable("c", ["first", "second"], [0.1], stiffness=1.0, length=1.0)
    with pytest.raises(ModelError, match=r"force 'c' needs stiffness= .* and length="):
        system.cable("c", ["first", "second"])
