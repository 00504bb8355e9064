"""Tyres of a system: on roads, in files, in linearisations."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bellcrank import files, tyres
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.files.places import ModelFileError
from bellcrank.model import System
from bellcrank.program.functions import sin
from bellcrank.program.trace import Scalar
from bellcrank.roads import Road, heights
from bellcrank.tyres import Brush, LinearTyre
from bellcrank.verify.cart import CORNERING, FRONT, INERTIA, MASS, REAR, SINKING, cart, linear, moving, rubber
from bellcrank.verify.magic_formula import passenger

DATA = Path(__file__).parents[1] / "tyres" / "data"


def test_a_car_rolls_down_a_slope_that_is_a_road() -> None:
    """The load acts along the normal of the road: down a slope the car gains speed as on gravity that leans."""
    slope = 0.1
    angle = math.atan(slope)
    speeds = []
    for tilted in (False, True):
        start = {}
        if tilted:
            leaning = (9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle))
            system = cart(rubber, height=SINKING, gravity=leaning)
        else:
            system = cart(rubber, height=SINKING, road=lambda x, y, t: -slope * x)
            turned = (math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0)
            start = {"motion": {"position": (0.0, 0.0, SINKING), "quaternion": turned}}
        run = system.simulate(2.0, initial=start, output=20)
        speeds.append(np.linalg.norm(np.asarray(run["body.velocity"])[-1]))
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-3)
    assert speeds[1] == pytest.approx(2.0 * 9.81 * math.sin(angle), rel=2e-3)


def test_a_wheel_in_the_air_or_lying_flat_has_sane_forces() -> None:
    for quaternion in (
        (1.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0),
        (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0),
    ):
        system = System("wheel")
        wheel = system.body("wheel", mass=20.0, inertia=(1.0, 1.5, 1.0), at=(0.0, 0.0, 0.5))
        system.free("flight", system.ground, wheel)
        system.tyre("tyre", wheel, passenger())
        start = {
            "flight": {
                "position": (0.0, 0.0, 0.5),
                "quaternion": quaternion,
                "angular_velocity": (0.0, 50.0, 0.0),
            }
        }
        run = system.simulate(0.6, initial=start, output=60)
        assert np.isfinite(run["tyre.force"]).all()
        assert run["tyre.load"][0] == 0.0
        assert run["tyre.load"].max() > 0.0


def test_small_motions_of_a_car_have_the_eigenvalues_of_the_single_track() -> None:
    """With slip that builds up over the relaxation length: two first-order states besides sideslip and yaw."""
    speed, sigma = 25.0, 0.5
    tyre = lambda corner: tyres.LinearTyre(  # noqa: E731
        **{
            k: getattr(linear(corner), k)
            for k in ("radius", "stiffness", "damping", "longitudinal", "cornering")
        },
        relaxation_lengths=(0.3, sigma),
        damping_time=0.0,
    )
    system = cart(tyre, height=SINKING)
    run = moving(system, speed, 0.01, tolerance=1e-10)
    lin = system.linearize(run.mechanism.start)
    f, r, a, b = 2.0 * CORNERING["F"], 2.0 * CORNERING["R"], FRONT, REAR
    A = np.array(
        [
            [0.0, -speed, -f / MASS / sigma, -r / MASS / sigma],
            [0.0, 0.0, -a * f / INERTIA[2] / sigma, b * r / INERTIA[2] / sigma],
            [1.0, a, -speed / sigma, 0.0],
            [1.0, -b, 0.0, -speed / sigma],
        ]
    )
    assert lin.first_order == 8
    assert lin.freedoms == 10
    for value in np.linalg.eigvals(A):
        assert np.abs(lin.eigenvalues - value).min() < 1e-3 * abs(value)


@pytest.mark.parametrize(
    "law",
    [
        passenger(pressure=2.4e5),
        tyres.tyre(DATA / "passenger_52.tir"),
        Brush(radius=0.3, stiffness=2e5, longitudinal=20.0, lateral=15.0, relaxation_lengths=(0.2, 0.4)),
        LinearTyre(radius=0.3, stiffness=2e5, longitudinal=8e4, cornering=5e4, reference_load=3e3),
    ],
    ids=lambda law: law.kind,
)
def test_laws_go_through_files(law: tyres.TyreLaw) -> None:
    text = dumps(cart(lambda corner: law))
    again = loads(text)
    assert dumps(again) == text
    state = tyres.Slip(4000.0, 0.05, 0.04, 0.02)
    assert again.forces["FL"].law.forces(state) == law.forces(state)  # type: ignore[union-attr]


def test_a_model_may_name_a_property_file(tmp_path: Path) -> None:
    (tmp_path / "van.tir").write_text((DATA / "passenger_52.tir").read_text())
    text = """
bellcrank: 1
name: wheel
bodies:
  wheel: {mass: 20, inertia: [1, 1.5, 1], at: [0, 0, 0.4]}
joints:
  flight: {kind: free, a: ground, b: wheel}
forces:
  tyre: {kind: tyre, point: wheel, law: {kind: file, file: van.tir, scales: {LMUX: 0.8}}}
"""
    path = tmp_path / "wheel.yaml"
    path.write_text(text)
    law = files.load(path).forces["tyre"].law  # type: ignore[union-attr]
    assert law.c.LMUX == 0.8  # type: ignore[union-attr]
    path.write_text(text.replace("van.tir", "../van.tir"))
    with pytest.raises(ModelFileError):
        files.load(path)
    path.write_text(text.replace("LMUX", "PDX1"))
    with pytest.raises(ModelFileError, match="no scaling factor"):
        files.load(path)


def test_mistakes_are_named() -> None:
    system = System("wheel")
    wheel = system.body("wheel", mass=20.0, inertia=(1.0, 1.5, 1.0))
    with pytest.raises(
        ModelError, match=r"force 'tyre' needs a law of the tyre such as bellcrank.tyres.tyre"
    ):
        system.tyre("tyre", wheel, "sedan.tir")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="on the ground, which never rolls"):
        system.tyre("tyre", system.ground, rubber("FL"))
    with pytest.raises(ModelError, match="stiffness of a brush tyre is nan"):
        Brush(radius=0.3, stiffness=math.nan, longitudinal=20.0, lateral=15.0)
    with pytest.raises(ModelError, match="friction of a brush tyre must be greater than 0"):
        Brush(radius=0.3, stiffness=2e5, longitudinal=20.0, lateral=15.0, friction=0.0)
    with pytest.raises(ModelError, match="PDX9"):
        tyres.MagicFormula({"PDX9": 1.0})


def test_a_law_of_ones_own_is_not_written_as_another() -> None:
    class Mine(LinearTyre):
        pass

    system = cart(lambda corner: Mine(radius=0.3, stiffness=2e5, longitudinal=8e4, cornering=5e4))
    with pytest.raises(ModelError, match="a tyre by Mine cannot be written"):
        dumps(system)


def test_a_road_of_ones_own_is_written_as_an_expression() -> None:
    class Waves(Road):
        def __call__(self, x: Scalar, y: Scalar, t: Scalar = 0.0) -> Scalar:
            return 0.01 * sin(2.0 * x)

    again = loads(dumps(cart(linear, road=Waves())))
    found = heights(again.forces["FL"].road, [0.3], [0.0])  # type: ignore[union-attr]
    assert found == pytest.approx(0.01 * math.sin(0.6))
