"""FMUs made once for all tests here: quickly compiled, since nothing is timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bellcrank.files import load
from bellcrank.mechanism import Mechanism
from bellcrank.model import System

EXAMPLES = Path(__file__).parents[2] / "examples"


def slider_crank() -> Mechanism:
    """The crank turns freely, pushed by an input at the slider."""
    system = load(EXAMPLES / "slider_crank.yaml")
    push = system.parameter("push", 0.0, "N")
    system.applied_force("push on the slider", system.bodies["slider"].point(0.0, 0.0, 0.0), (push, 0.0, 0.0))
    return system.mechanism()


def ball() -> Mechanism:
    """A ball that bounces on a floor with a speed that its contact keeps."""
    system = System("bouncing ball", gravity=(0.0, 0.0, -9.81))
    body = system.body("ball", 1.0, (0.004, 0.004, 0.004), at=(0.0, 0.0, 0.5))
    system.free("motion", system.ground, body)
    floor = system.ground.plane(normal=(0.0, 0.0, 1.0))
    system.contact("floor", floor, body.sphere(0.1), treatment="continuous", young=1e7, restitution=0.7)
    return system.mechanism()


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile without optimisation."""
    monkeypatch.setenv("CFLAGS", "-O0 -Werror")
