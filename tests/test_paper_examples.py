"""The examples of the five papers exist as model files and in Python, and both give the same numbers."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.elastic.files import load as load_elastic
from bellcrank.files import dumps, load
from bellcrank.model import System
from bellcrank.verify import flexible_slider_crank
from bellcrank.verify.bat_and_ball import bat_and_ball, central_normal
from bellcrank.verify.full_car_bump import driving_car
from bellcrank.verify.spatial_pendulums import pendulums
from bellcrank.verify.two_balls import two_balls

EXAMPLES = Path(__file__).parents[1] / "examples"
CRANK = {"initial": {"main bearing": (np.pi / 6, 1.0)}}
_SLOPE = central_normal()[2]
ALONG_THE_NORMAL = np.array([1.0, 0.0, _SLOPE]) / np.hypot(1.0, _SLOPE)


def of_module(module: str, function: str) -> Callable[[], System]:
    """What a function of an example describes."""
    return lambda: runpy.run_path(str(EXAMPLES / f"{module}.py"), run_name="example")[function]()


def flexible() -> System:
    rod = flexible_slider_crank.rod(10, bending=5, stiffening=True)
    return flexible_slider_crank.mechanism(rod)


CASES: dict[str, tuple[Callable[[], System], float, dict[str, Any], str]] = {
    "slider_crank_impact": (of_module("impacts", "slider_crank"), 3.0, CRANK, "slider.velocity.x"),
    "ball_on_ground": (of_module("impacts", "ball"), 1.5, {}, "ball.position.y"),
    "two_pendulums": (of_module("impacts", "pendulums"), 1.0, {}, "two.angular_velocity.z"),
    "flexible_slider_crank": (flexible, 0.01, {}, "rod.middle.position.y"),
    "two_balls": (
        lambda: two_balls(law="kelvin-voigt", stiffness=1e4, damping=10.0),
        0.1,
        {"initial": {"left flight": {"velocity": (1.0, 0.0, 0.0)}}},
        "right.velocity.x",
    ),
    "spatial_pendulums": (
        pendulums,
        0.6,
        {"initial": {"right pivot": {"angular_velocity": (0.0, 0.5, 0.0)}}},
        "left.velocity.x",
    ),
    "bat_and_ball": (
        bat_and_ball,
        5e-3,
        {"initial": {"ball flight": {"velocity": ALONG_THE_NORMAL}}, "formulation": "recursive"},
        "bat.velocity.x",
    ),
    "full_car": (driving_car, 0.02, {}, "chassis.position.z"),
}
"""Model file, which carries its start: what Python says, how long it runs, from where, and what is compared."""


@pytest.mark.parametrize("name", CASES)
def test_file_and_python_give_the_same_numbers(name: str) -> None:
    described, duration, options, quantity = CASES[name]
    file, python = load(EXAMPLES / f"{name}.yaml"), described()
    assert set(file.bodies) == set(python.bodies)
    assert set(file.joints) == set(python.joints)
    from_the_file = {**options, "initial": None}
    a, b = (
        system.simulate(duration, tolerance=1e-10, output=50, **told)[quantity]
        for system, told in ((file, from_the_file), (python, options))
    )
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
    assert np.ptp(a) > 0.0
    assert len(dumps(file)) > 100


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_the_elastic_sphere(friction: float) -> None:
    values = {"friction": friction, "step": 0.05, "divisions": 4.0, "grading": 3.0}
    file = load_elastic(EXAMPLES / "elastic_sphere_on_wall.elastic", values)
    module = runpy.run_path(str(EXAMPLES / "elastic_sphere_on_wall.py"), run_name="example")
    ball = module["ball"](divisions=4, grading=3.0)
    python = elastic.simulate(ball, elastic.Contact(ball, elastic.RigidPlane(), friction=friction), 3.6, 0.05)
    np.testing.assert_allclose(
        file.simulate()["contact.force"], python["contact.force"], rtol=1e-9, atol=1e-9
    )


def test_every_model_of_the_papers_has_its_python() -> None:
    for model in (*(f"{name}.yaml" for name in CASES), "elastic_sphere_on_wall.elastic"):
        assert (EXAMPLES / model).is_file()
    for module in (
        "impacts",
        "flexible_slider_crank",
        "contact_of_shapes",
        "full_car_bump",
        "elastic_sphere_on_wall",
    ):
        assert (EXAMPLES / f"{module}.py").is_file()
