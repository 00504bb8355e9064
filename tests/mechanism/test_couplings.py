"""Couplings with coordinates that no joint of the tree owns."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.mechanism import analyse
from bellcrank.model import System


def geared(second_cut: bool = False) -> System:
    """Two wheels geared 2 : 1, the second on a free joint closed by a cut pin; a torque on the first."""
    system = System("gears", gravity=(0, 0, 0))
    small = system.body("small", 1.0, (1.0, 1.0, 0.3))
    large = system.body("large", 2.0, (2.0, 2.0, 1.6), at=(1, 0, 0))
    if second_cut:
        system.free("float small", system.ground, small)
    system.revolute(
        "pin", system.ground, small, at=(0, 0, 0), axis=(0, 0, 1), cut=True if second_cut else None
    )
    system.free("float", system.ground, large)
    system.revolute("closing", system.ground, large, at=(1, 0, 0), axis=(0, 0, 1), cut=True)
    system.gear("mesh", "pin", "closing", ratio=-2.0)
    system.applied_torque("motor", small, (0.0, 0.0, 5.0))
    return system


def test_gear_on_a_cut_pin_turns_round_and_round():
    """alpha = T / (I1 + I2 / 4), over many turns: the cut angle is known up to full turns only."""
    result = analyse(geared()).simulate(6.0, output=0.5)
    alpha = 5.0 / (0.3 + 1.6 / 4)
    angle = 0.5 * alpha * result.time**2
    assert angle[-1] > 3 * 2 * np.pi
    np.testing.assert_allclose(result["pin.angle"], angle, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        result["large.angular_velocity.z"], -0.5 * alpha * result.time, rtol=1e-7, atol=1e-9
    )
    turned = np.exp(1j * result["closing.angle"])
    np.testing.assert_allclose(turned, np.exp(-0.5j * angle), atol=1e-6)


def test_two_uncounted_angles_are_refused():
    with pytest.raises(
        ModelError, match=r"coupling 'mesh' uses the angles of 'pin' and 'closing'.*cut=False"
    ):
        analyse(geared(second_cut=True))
