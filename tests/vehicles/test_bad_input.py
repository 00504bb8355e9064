"""Tyres, roads and parts of cars under input that nobody means: a named error, or forces that are numbers."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank import System, tyres, vehicles
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.roads import Grid, Plane, Profile, RandomRoad
from bellcrank.tyres import Brush, Deflection, Fiala, LinearTyre, Slip, TyreLaw

BAD: tuple[Any, ...] = (
    *(math.nan, math.inf, -math.inf, -1.0, 0.0, 1e300, 1e-300, 1e18, 2.0),
    *(
        "x",
        None,
        [],
        True,
        (1.0,),
        (1.0, 2.0, 3.0),
        (0.0, 0.0),
        ("a", "b"),
        [[1.0, 2.0], [3.0]],
        np.array([math.nan]),
    ),
)
STATES = (
    Slip(0.0, speed=0.0),
    Slip(4000.0, 0.1, 0.1, 0.1, 0.1),
    Slip(4000.0, -1.0, -5.0, 1.0, speed=-1e4),
    Slip(1e6, 1e9, 1e9, speed=1e-9),
)


def numbers_of(law: TyreLaw) -> list[float]:
    """All that a law gives."""
    found: list[Any] = [law.load(Deflection(0.25, 1e3, 0.1, 20.0))]
    for state in STATES:
        found += [*law.forces(state), *law.relaxation(state.load, state.camber)]
        found += [*law.steepness(state.load, state.camber, 0.1), law.rolling_radius(state.load, 1e4)]
    return [float(x) for x in found]


def heights_of(road: Any) -> list[float]:
    """On the road and far beside it."""
    return [float(road(x, y, 0.0)) for x, y in ((0.0, 0.0), (1e9, -1e9), (-5.0, 3.3))]


SPRUNG = {
    "radius": 0.3,
    "stiffness": 2e5,
    "damping": 500.0,
    "width": 0.2,
    "rolling_resistance": 0.01,
    "damping_time": 1e-3,
    "relaxation_lengths": (0.3, 0.3),
    "rim_radius": 0.2,
    "rim_stiffness": 1e6,
}
MADE: dict[str, tuple[Callable[..., Any], dict[str, Any], Callable[[Any], list[float]]]] = {
    "brush": (
        Brush,
        {**SPRUNG, "longitudinal": 20.0, "lateral": 15.0, "friction": 1.0, "patch": 0.05},
        numbers_of,
    ),
    "fiala": (
        Fiala,
        {**SPRUNG, "longitudinal": 8e4, "lateral": 5e4, "friction": 1.0, "sliding_friction": 0.9},
        numbers_of,
    ),
    "linear": (
        LinearTyre,
        {
            **SPRUNG,
            "longitudinal": 8e4,
            "cornering": 5e4,
            "camber": 1e3,
            "trail": 0.02,
            "reference_load": 3e3,
        },
        numbers_of,
    ),
    "plane": (Plane, {"slope": 0.1, "bank": 0.1, "height": 0.0}, heights_of),
    "profile": (Profile, {"x": [0, 1, 2], "left": [0, 0, 1], "right": [0, 1, 0], "width": 1.5}, heights_of),
    "grid": (
        Grid,
        {"x": [0, 1, 2], "y": [0, 1], "z": np.zeros((3, 2)), "at": (0, 0), "heading": 0.0},
        heights_of,
    ),
    "random": (
        RandomRoad,
        {"roughness": "C", "length": 50.0, "seed": 1, "width": 1.5, "spacing": 0.1, "level": 5.0},
        heights_of,
    ),
    "mesh": (
        Grid.from_mesh,
        {
            "vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 1)],
            "triangles": [(0, 1, 2)],
            "cell": 0.1,
            "base": 0.0,
        },
        heights_of,
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_laws_and_roads_take_numbers_or_name_what_is_none(name: str) -> None:
    make, usual, read = MADE[name]
    assert np.isfinite(read(make(**usual))).all()
    refused = 0
    for key in usual:
        for value in BAD:
            try:
                found = read(make(**{**usual, key: value}))
            except BellcrankError:
                refused += 1
            else:
                assert np.isfinite(found).all(), (key, value)
    assert refused > 5 * len(usual)


def test_damaged_property_files_are_read_as_numbers_or_refused(tmp_path: Path) -> None:
    text = (files("bellcrank.verify") / "data" / "passenger_61.tir").read_text()
    lines, rng = text.splitlines(), random.Random(2)
    given = [k for k, line in enumerate(lines) if "=" in line and "'" not in line]
    path, refused = tmp_path / "tyre.tir", 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in given:
            value = rng.choice(("0", "-1", "1e300", "1e9", "nan", "inf", "abc", "1,2", "", "-1e6", "1e-300"))
            damaged = [*lines[:k], f"{lines[k].split('=')[0]}= {value}", *lines[k + 1 :]]
            path.write_text("\n".join(damaged))
            try:
                law = tyres.tyre(path)
            except BellcrankError:
                refused += 1
            else:
                assert np.isfinite(numbers_of(law)).all(), damaged[k]
    assert refused > 0.3 * len(given)


def wheeled() -> tuple[System, Any, list[Any]]:
    """A body on four wheels."""
    system = System("car")
    body = system.body("body", mass=100.0, inertia=(1.0, 1.0, 1.0))
    system.free("motion", system.ground, body)
    hubs = []
    for k in range(4):
        wheel = system.body(f"wheel {k}", mass=10.0, inertia=(1.0, 1.0, 1.0), at=(k, 0, 0))
        hubs.append(system.revolute(f"hub {k}", body, wheel, at=(k, 0, 0), axis="y"))
    return system, body, hubs


ENGINE = [(0, 60, 90), (80, 25, 190)]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("front", 1.5, "front of force 'train' is 1.5; it is a share from 0 to 1"),
        ("front", -0.1, "share from 0 to 1"),
        ("inertia", 0.0, "inertia of force 'train' is 0"),
        ("preload", -1.0, "preload of force 'train'"),
        ("ratios", [], "ratios of force 'train'"),
        ("engine", [(0, 1)], "force 'train'"),
        ("differentials", ["open", "welded", "open"], "welded"),
        ("differentials", ["open"], "3 differentials"),
        ("throttle", "full", "throttle of force 'train'"),
    ],
)
def test_a_power_train_names_what_it_cannot_be(key: str, value: Any, said: str) -> None:
    system, body, hubs = wheeled()
    usual: dict[str, Any] = {
        "engine": ENGINE,
        "inertia": 0.2,
        "ratios": (3.6, 2.0),
        "throttle": 0.5,
        key: value,
    }
    with pytest.raises(ModelError, match=said):
        system.power_train("train", body, hubs, **usual)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("pedal", math.nan, "pedal of brakes"),
        ("pedal", "full", "pedal of brakes"),
        ("torque", -1.0, "torque of brakes is -1; it must not be negative"),
        ("torque", None, "torque of brakes"),
        ("balance", 1.2, "balance of brakes is 1.2; it is a share from 0 to 1"),
        ("lag", 0.0, "lag of brakes is 0; it must be positive"),
    ],
)
def test_brakes_name_what_they_cannot_be(key: str, value: Any, said: str) -> None:
    system, _, hubs = wheeled()
    with pytest.raises(ModelError, match=said):
        vehicles.brakes(system, hubs, **{"pedal": 0.5, "torque": 100.0, key: value})
