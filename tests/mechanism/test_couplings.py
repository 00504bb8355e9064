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


def shafts(count: int) -> System:
    """Wheels side by side on the ground, each of inertia 1, 2, 3 ... about its axis."""
    system = System("shafts", gravity=(0, 0, 0))
    for k in range(count):
        body = system.body(f"wheel {k}", 1.0, (1.0 + k,) * 3, at=(k, 0, 0))
        system.revolute(f"pin {k}", system.ground, body, at=(k, 0, 0))
    system.joint_force("motor", "pin 0", lambda t: 6.0)
    return system


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_couples_by_radii(crossed: bool) -> None:
    system = shafts(2)
    system.belt("belt", "pin 0", "pin 1", 0.1, 0.3, crossed=crossed)
    result = system.simulate(1.0, output=2)
    alpha = 6.0 / (1.0 + 2.0 / 9.0)
    assert result["pin 0.angle_rate"][-1] == pytest.approx(alpha, rel=1e-8)
    assert result["pin 1.angle_rate"][-1] == pytest.approx(alpha / (-3.0 if crossed else 3.0), rel=1e-8)


def test_a_worm_turns_its_wheel_slowly() -> None:
    system = shafts(2)
    system.worm("mesh", "pin 0", "pin 1", starts=2, teeth=40)
    result = system.simulate(1.0, output=2)
    assert result["pin 0.angle_rate"][-1] == pytest.approx(20.0 * result["pin 1.angle_rate"][-1], rel=1e-12)
    assert result["pin 0.angle_rate"][-1] == pytest.approx(6.0 / (1.0 + 2.0 / 400.0), rel=1e-8)


def test_a_differential_shares_the_torque() -> None:
    """The cage gives half its torque to either shaft, whatever their speeds."""
    system = shafts(3)
    system.differential("diff", "pin 0", "pin 1", "pin 2")
    result = system.simulate(1.0, output=2)
    left, right, cage = (result[f"pin {k}.angle_rate"][-1] for k in (1, 2, 0))
    assert left + right == pytest.approx(2.0 * cage, rel=1e-12)
    assert 2.0 * left == pytest.approx(3.0 * right, rel=1e-8)
    assert 1.0 * cage + 2.0 * 2.0 * left == pytest.approx(6.0, rel=1e-8)


def test_axes_on_a_turning_arm_mesh_by_willis() -> None:
    """A sun of 20 teeth held still, a planet of 30 that rolls around it on an arm: it turns 5 / 3 times as fast."""
    system = shafts(2)
    arm = system.bodies["wheel 0"]
    planet = system.body("planet", 0.1, (0.1, 0.1, 0.1), at=(0.5, 0, 0))
    system.planar("on the ground", system.ground, planet, cut=False)
    system.revolute("axle", arm, planet, at=(0.5, 0, 0))
    system.driver("pin 1", lambda t: 0.0 * t)
    system.gear("mesh", ("on the ground", "angle"), "pin 1", ratio=-20 / 30, carrier="pin 0")
    result = system.simulate(1.0, output=2)
    turned = result["on the ground.angle_rate"][-1] / result["pin 0.angle_rate"][-1]
    assert turned == pytest.approx(1.0 + 20.0 / 30.0, rel=1e-9)
