"""Results to be looked at, and one browser for all tests that need one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import bellcrank as bc
from bellcrank.verify.slider_crank import slider_crank
from view.conftest import evil
from view.live.chromium import PROGRAM, Browser

__all__ = ["evil"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if PROGRAM is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium here; 'make browser' installs it")
        pytest.skip("no chromium here; 'make browser' installs it")
    with Browser() as found:
        yield found


@pytest.fixture(scope="session")
def crank() -> bc.Result:
    return slider_crank(9.81).simulate(2.0, initial={"main bearing": (0.5, 1.0)}, output=400)


def ball_system() -> bc.System:
    """A ball that falls on the ground; gravity can be turned by a slider."""
    system = bc.System("ball", gravity=(0, 0, 0))
    weight = system.parameter("weight", 9.81, "N")
    ball = system.body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), at=(0, 0, 1))
    system.free("fall", system.ground, ball)
    system.applied_force("pull", ball, lambda t: (0.0, 0.0, -weight))
    system.contact("floor", system.ground.plane(), ball.sphere(0.1), restitution=0.7)
    return system


@pytest.fixture(scope="session")
def ball() -> bc.Result:
    return ball_system().simulate(1.5, output=300)


@pytest.fixture(scope="session")
def bent() -> bc.Result:
    """The slider crank of paper B with its flexible rod, half a turn."""
    from bellcrank.verify.flexible_slider_crank import TURN, mechanism, rod

    return mechanism(rod(10, bending=3, stiffening=True)).simulate(0.5 * TURN, output=100)
