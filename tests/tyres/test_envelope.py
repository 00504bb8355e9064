"""Cams on steps, planes and waves, by closed forms and by a search over a fine grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import tyres
from bellcrank.errors import ModelError
from bellcrank.model.forces.road import place_subprograms
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import cos, where
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.tyres.envelope import Envelope
from bellcrank.verify.magic_formula import passenger

LAW = tyres.LinearTyre(radius=0.3, stiffness=2e5, damping=500.0, longitudinal=8e4, cornering=5e4)
CAMS = Envelope().on(LAW)
BASE, SIZE, ORDER = 0.8 * 0.4 * 0.3, 0.3, 1.8


def felt(road: Callable[..., Any], places: np.ndarray, cams: Envelope = CAMS) -> np.ndarray:
    """Height, slopes and rate for rows of x, y, direction ahead and velocity."""
    graph = Graph()
    inputs = [graph.input(name) for name in ("x", "y", "e_x", "e_y", "v_x", "v_y", "t")]
    x, y, e_x, e_y, v_x, v_y, t = inputs
    height, moving = place_subprograms(road)
    slopes = cams.chord(height, (x, y), (e_x, e_y), t)
    outputs = cams.feel(height, moving, (x, y), (e_x, e_y), slopes, (v_x, v_y), t)
    program = Program.of(inputs, [graph.bring(one) for one in outputs], "felt")  # type: ignore[arg-type]
    rows = np.column_stack([places, np.zeros(len(places))])
    return np.asarray(evaluate(program, rows.T)).T


def ahead(x: np.ndarray, angle: float = 0.0) -> np.ndarray:
    """Rows along a line through the origin, driven along it at 10 m/s."""
    c, s = np.cos(angle), np.sin(angle)
    one = np.ones_like(x)
    return np.column_stack([c * x, s * x, c * one, s * one, 10.0 * c * one, 10.0 * s * one])


def depth(s: Any) -> Any:
    """e(s) of a cam."""
    return SIZE - SIZE * np.maximum(1.0 - np.abs(np.asarray(s) / SIZE) ** ORDER, 0.0) ** (1.0 / ORDER)


def test_the_numbers_are_those_of_the_file() -> None:
    cams = Envelope(width=0.1).on(passenger())
    c = passenger().c
    q = c.FNOMIN / (c.VERTICAL_STIFFNESS * c.UNLOADED_RADIUS)
    assert cams.base == pytest.approx(1.6 * c.UNLOADED_RADIUS * (0.60147 * q**0.5 + 0.81974 * q))
    assert (cams.length, cams.order, cams.width) == (c.UNLOADED_RADIUS, 1.8, 0.1)


@pytest.mark.parametrize("angle", [0.0, 2.0])
def test_a_step_is_felt_by_its_closed_form(angle: float) -> None:
    """Each cam climbs the edge by its outline, from where that is as high as the step."""
    H = 0.02
    c, s = np.cos(angle), np.sin(angle)
    x = np.linspace(-0.4, 0.4, 161) + 1.3e-3

    def climbed(x: np.ndarray) -> np.ndarray:
        return np.where(x > 0.0, H, np.maximum(H - depth(x), 0.0))

    found = felt(lambda x, y, t: where(c * x + s * y > 0.0, H, 0.0), ahead(x, angle))
    front, rear = climbed(x + 0.5 * BASE), climbed(x - 0.5 * BASE)
    # What a plane of the slope of the step over the cams would add.
    assert np.abs(found[:, 0] - 0.5 * (front + rear)).max() < 6e-5
    assert found[:, 1] == pytest.approx((front - rear) / BASE, abs=1e-6)
    assert np.abs(found[:, 2]).max() < 1e-6


def test_a_plane_is_felt_as_it_is() -> None:
    places = np.array([[0.3, -0.2, 0.6, 0.8, 4.0, 1.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    for tracks in (1, 3):
        found = felt(lambda x, y, t: 0.1 * x - 0.2 * y + 0.05 * t, places, Envelope(tracks=tracks).on(LAW))
        assert found[0] == pytest.approx(
            [0.07, 0.1 * 0.6 - 0.2 * 0.8, -0.1 * 0.8 - 0.2 * 0.6, 0.4 - 0.2 + 0.05], abs=1e-10
        )
        assert found[1] == pytest.approx([0.0, 0.1, -0.2, 0.05], abs=1e-10)


def test_waves_are_followed_as_by_a_search_on_a_fine_grid() -> None:
    """Waves of 0.15 m, shorter than the contact and its cams, across a wheel that drives askew."""
    angle, k = 0.5, 2.0 * np.pi / 0.15

    def road(x: Any, y: Any, t: Any) -> Any:
        return 0.01 * cos(k * x) + 0.002 * y

    x = np.linspace(0.0, 0.15, 31)
    found = felt(road, ahead(x, angle))
    c, s = np.cos(angle), np.sin(angle)
    fine = np.linspace(-0.3, 0.3, 60001)[1:-1]
    width = 0.8 * LAW.width
    heights, slopes = [], []
    for at in x:
        cams = []
        for offset in (-width / 3.0, 0.0, width / 3.0):
            for middle in (-0.5 * BASE, 0.5 * BASE):
                along = at + middle + fine
                ground = 0.01 * np.cos(k * (c * along - s * offset)) + 0.002 * (s * along + c * offset)
                cams.append((ground - depth(fine)).max())
        rear, front = np.array(cams).reshape(3, 2).mean(axis=0)
        heights.append(0.5 * (rear + front))
        slopes.append((front - rear) / BASE)
    assert np.abs(found[:, 0] - heights).max() < 6e-5
    assert np.abs(found[:, 1] - slopes).max() < 1e-6
    steps = np.diff(felt(road, ahead(np.array([0.05, 0.05 + 1e-7]), angle))[:, 0]) / 1e-8
    # That of the correction for a plane is left out.
    assert felt(road, ahead(np.array([0.05]), angle))[0, 3] == pytest.approx(steps[0], rel=2e-3)


def wheel(road: Any, envelope: Envelope | None, law: tyres.TyreLaw = LAW) -> bc.System:
    """A wheel on a body that stands on it alone."""
    system = bc.System("wheel")
    body = system.body("body", mass=400.0, inertia=(10.0, 10.0, 10.0), at=(0.0, 0.0, 0.3))
    system.free("motion", system.ground, body)
    system.tyre("tyre", body, law, road=road, envelope=envelope)
    return system


def test_a_wheel_feels_a_step_before_it_stands_on_it_and_a_slope_as_ever() -> None:
    start = {"motion": {"velocity": (3.0, 0.5, 0.2), "position": (0.0, 0.0, 0.29)}}

    def forces(road: Any, envelope: Envelope | None) -> np.ndarray:
        result = wheel(road, envelope).simulate(2e-3, initial=start, output=2)
        return np.asarray(result["tyre.force"])

    slope = [forces(lambda x, y, t: 0.2 * x + 0.1 * y + 0.3 * t, one) for one in (None, Envelope())]
    assert slope[0] == pytest.approx(slope[1], rel=1e-8)
    system = bc.System("step")
    size = system.parameter("size", 0.02)
    step = [forces(lambda x, y, t: where(x > 0.1, 0.02, 0.0), one) for one in (None, Envelope())]
    assert step[0][0, 2] == pytest.approx(2e5 * 0.01 - 500.0 * 0.2)
    assert step[1][0, 2] > step[0][0, 2] + 500.0
    body = system.body("body", mass=400.0, inertia=(10.0, 10.0, 10.0), at=(0.0, 0.0, 0.3))
    system.free("motion", system.ground, body)
    system.tyre(
        "tyre", body, LAW, road=lambda x, y, t: where(x > 0.1, size, 0.0), envelope=Envelope(tracks=1)
    )
    by_parameter = system.simulate(2e-3, initial=start, output=2, parameters={"size": 0.02})
    assert np.asarray(by_parameter["tyre.force"])[0] == pytest.approx(step[1][0], rel=1e-9)


def test_the_loaded_radius_is_that_at_which_the_wheel_stands() -> None:
    """400 kg on 200 N/mm; in the air it is the free radius."""
    system = wheel(None, None)
    standing = system.equilibrium().result
    assert standing["tyre.loaded_radius"][-1] == pytest.approx(0.3 - 400.0 * 9.81 / 2e5, rel=1e-9)
    flying = system.simulate(1e-3, initial={"motion": {"position": (0.0, 0.0, 0.5)}}, output=1)
    assert flying["tyre.loaded_radius"][0] == 0.3


def test_mistakes_are_named() -> None:
    for wrong, said in (
        ({"base": -1.0}, "base of the envelope of a tyre must be greater than 0"),
        ({"order": 1.0}, "order .* greater than 1"),
        ({"tracks": 2.5}, "tracks .* whole number"),
        ({"length": np.nan}, "length .* not nan"),
    ):
        with pytest.raises(ModelError, match=said):
            Envelope(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="samples for a pair of cams"):
        wheel(None, Envelope(step=1e-5))
    with pytest.raises(ModelError, match=r"must be a bellcrank\.tyres\.Envelope, not True"):
        wheel(None, True)  # type: ignore[arg-type]
