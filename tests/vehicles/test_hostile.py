"""Cars at speeds of zero, backwards and far too fast, in the air and upside down: sane forces, no NaN."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.tyres import Brush
from bellcrank.vehicles import Vehicle, brakes, sedan

RUBBER = Brush(radius=0.323, stiffness=2e5, damping=500.0, longitudinal=20.0, lateral=15.0, friction=0.9)
FORCES = ("front left tyre.load", "front left tyre.force", "rear right tyre.moment", "power train.hub_torque")
PARTS = (
    "front bar.torque",
    "front left strut.force",
    "air.force",
    "steering gear.torque",
    "power train speed",
)


@cache
def car() -> Vehicle:
    return sedan(RUBBER)


def run(motion: dict[str, Any], parameters: dict[str, float] | None = None) -> bc.Result:
    state = car().rest.state
    return car().mechanism.simulate(
        0.15, start=state, initial={"motion": motion}, parameters=parameters or {}, output=15, tolerance=1e-5
    )


@pytest.mark.parametrize(
    ("motion", "parameters"),
    [
        ({"velocity": (0.0, 0.0, 0.0)}, {"throttle": 1.0, "gear": 1.0}),
        ({"velocity": (-10.0, 3.0, 0.0)}, {"brake": 1.0, "gear": -1.0}),
        ({"velocity": (150.0, -40.0, 0.0)}, {"steering": 6.0}),
        ({"position": (0.0, 0.0, 8.0), "velocity": (20.0, 0.0, 0.0)}, {"throttle": 1.0}),
        (
            {"position": (0.0, 0.0, 1.2), "quaternion": (0.0, 1.0, 0.0, 0.0), "velocity": (20.0, 0.0, -1.0)},
            {},
        ),
    ],
    ids=["standing", "backwards", "sideways at 150 m/s", "in the air", "on its roof"],
)
def test_forces_stay_sane(motion: dict[str, Any], parameters: dict[str, float]) -> None:
    found = run(motion, parameters)
    for name in (*FORCES, *PARTS, "chassis.velocity"):
        assert np.isfinite(np.asarray(found[name])).all(), name
    loads = np.asarray(found["front left tyre.load"])
    assert loads.min() >= 0.0
    across = np.abs(np.asarray(found["front left tyre.force"])[:, :2])
    assert (across <= 0.91 * loads[:, None] + 1e-9).all()
    if motion.get("position", (0, 0, 0))[2] > 5.0:
        assert loads.max() == 0.0


def test_numbers_that_are_none_are_named() -> None:
    system, body = car().system, car().system.bodies["chassis"]
    hubs = [system.joints["front left hub"], system.joints["front right hub"]]
    for bad in (np.nan, np.inf):
        with pytest.raises(bc.ModelError):
            system.aerodynamics("gale", body, area=bad)
        with pytest.raises(bc.ModelError):
            system.power_train("v12", body, hubs, [(0, bad), (1, 2)], 0.1, (1.0,), throttle=0.0)
        with pytest.raises(bc.ModelError):
            system.steering("helm", "rack guide", bad, ratio=1.0, stiffness=1.0)
        with pytest.raises(bc.ModelError):
            brakes(system, hubs, system.parameters.graph.input("brake"), torque=bad)
    assert not {"gale", "v12", "helm"} & set(system.forces)
