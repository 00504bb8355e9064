"""The 22-body car over a bump on its left side: one second from static equilibrium at 10 m/s.

Source: model after Kang and Yoon (about 2001), reconstructed; static figures and trajectory from absolute coordinates
with 117 multipliers, confirmed by a second code in relative coordinates to 5e-12 m.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.mechanism import Mechanism, State, analyse
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within
from bellcrank.verify.full_car import full_car_data, full_car_system

TYRES = ("FL", "FR", "RL", "RR")


@cache
def reference() -> dict[str, Any]:
    """The reference run."""
    text = files("bellcrank.verify").joinpath("data/fullcar_reference.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def rolling_start(mechanism: Mechanism, speed: float) -> State:
    """Static equilibrium, then every body at `speed` along x and the wheels rolling."""
    balance = mechanism.equilibrium()
    state = balance.state
    u = np.zeros_like(state.u)
    names = mechanism.speed_names
    linkage = mechanism.linkage
    chassis = linkage.links[linkage.placements["chassis"].link]
    R = np.array(balance.result["chassis.rotation"][0])
    seat = np.array(linkage.placements["chassis"].r, dtype=float)
    u[chassis.u + 3 : chassis.u + 6] = seat @ R.T @ np.array([speed, 0.0, 0.0])
    wheels = {item["body"]: item for item in full_car_data()["tyres"]}
    bodies = {item["id"]: item["name"] for item in full_car_data()["bodies"]}
    for number in wheels:
        name = bodies[number]
        joint = next(link.joint for link in linkage.links if link.name == name)
        height = float(balance.result[f"{name}.position.z"][0])
        u[names.index(f"{joint}.angle")] = speed / height
    return State(state.t, state.q, u)


def driving_car(speed: float = 10.0, before: float = 5.0) -> System:
    """The car as the example file has it: in its design pose at `speed` [m/s], `before` [m] behind where it stands
    in the paper, so that it settles on its springs before the bump."""
    system = full_car_system("bump")
    x, y, z = (float(x) for x in system.bodies["chassis"].position)
    system.initial("ground to chassis", {"position": (x - before, y, z), "velocity": (speed, 0.0, 0.0)})
    for item in full_car_data()["tyres"]:
        corner = item["name"]
        height = float(system.bodies[f"{corner}_wheel"].position[2])
        system.initial(f"{corner}_knuckle to {corner}_wheel", (0.0, speed / height))
    return system


def bump_run(tolerance: float = 1e-11, output: int | NDArray[np.float64] = 200) -> Result:
    """One second over the bump."""
    mechanism = analyse(full_car_system("bump"))
    return mechanism.simulate(
        1.0, start=rolling_start(mechanism, 10.0), tolerance=tolerance, output=output, integrator="dop853"
    )


def quantities() -> list[Quantity]:
    """Static figures and the largest distance of the chassis and wheels from the reference."""
    expected = reference()
    static = expected["static"]
    balance = analyse(full_car_system()).equilibrium()
    found = [
        Quantity(f"static_load_{name}", float(balance[f"{name}_tyre.load"]), load, 1e-6, "N")
        for name, load in zip(TYRES, static["tyre_N"], strict=True)
    ]
    R = np.array(balance["chassis.rotation"])
    roll = math.degrees(math.atan2(R[2, 1], R[2, 2]))
    found.append(Quantity("static_height", float(balance["chassis.position.z"]), 0.553983068729, 1e-10, "m"))
    found.append(Quantity("static_roll", roll, -0.2702, 5e-5, "degrees"))
    run = expected["bump"]
    times = np.array(run["t"])
    result = bump_run(output=times)
    chassis = np.abs(result["chassis.position"] - np.array(run["chassis_pos"])).max()
    speed = np.abs(result["chassis.velocity"] - np.array(run["chassis_vel"])).max()
    at_most = Within.AT_MOST
    found.append(Quantity("chassis_position_error", float(chassis), 1e-6, 0.0, "m", at_most))
    found.append(Quantity("chassis_velocity_error", float(speed), 1e-5, 0.0, "m/s", at_most))
    residual = float(result["constraints.position"].max())
    found.append(Quantity("position_residual", residual, 1e-10, 0.0, "m", at_most))
    slip = float(result["constraints.velocity"].max())
    found.append(Quantity("velocity_residual", slip, 1e-9, 0.0, "m/s", at_most))
    return found
