"""The mechanisms of the batch and graphics processor benchmarks: springs, dampers and masses are parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.mechanism import Mechanism, analyse
from bellcrank.model import Body, System
from bellcrank.verify.full_car import _add_actuator, _add_joint, _road, full_car_data

SPEED = 10.0
"""Of the car [m/s]."""
SPREAD = 0.1
"""Standard deviation of every varied number over its value, cut at three of them."""


def varied(rng: np.random.Generator, rows: int, nominal: dict[str, float]) -> dict[str, Any]:
    """A Monte Carlo table around the values given."""
    return {
        name: value * (1.0 + SPREAD * np.clip(rng.standard_normal(rows), -3.0, 3.0))
        for name, value in nominal.items()
    }


def car_system() -> tuple[System, dict[str, float]]:
    """The car on the bump, and the values of its parameters: spring, damper, tyre and mass by axle."""
    data = full_car_data()
    system = System("full car", gravity=tuple(data["gravity"]))
    nominal: dict[str, float] = {}

    def parameter(name: str, value: float) -> Any:
        if name not in nominal:
            nominal[name] = float(value)
            handles[name] = system.parameter(name, float(value))
        # Left and right may differ by their data: one factor on each value.
        return handles[name] * (float(value) / nominal[name])

    handles: dict[str, Any] = {}
    bodies: dict[int, Body] = {0: system.ground}
    heaviest = max(item["mass"] for item in data["bodies"])
    for item in data["bodies"]:
        mass: Any = item["mass"]
        if mass == heaviest:
            mass = parameter(f"mass of {item['name']}", mass)
        bodies[item["id"]] = system.body(item["name"], mass=mass, inertia=item["inertia"], at=item["com"])
    for item in data["joints"]:
        _add_joint(system, item, bodies)
    for item in data["cuts"]:
        a, b = bodies[item["body_a"]], bodies[item["body_b"]]
        system.spherical(f"{a.name} to {b.name}", a, b, at=item["point"], cut=True)
    for item in data["springs"]:
        stiffness, damping = item["stiffness"], item["damping"]
        if stiffness:
            stiffness = parameter(f"{axle(item['name'])} spring", stiffness)
        if damping:
            damping = parameter(f"{axle(item['name'])} damper", damping)
        system.spring(
            item["name"],
            bodies[item["body_a"]].point_at(item["point_a"]),
            bodies[item["body_b"]].point_at(item["point_b"]),
            stiffness=stiffness,
            damping=damping,
            free_length=item["free_length"],
        )
    chosen = data["scenarios"]["bump"]
    _add_actuator(system, data["rack_actuator"], chosen.get("steering"))
    for item in data["tyres"]:
        system.ground_spring(
            f"{item['name']}_tyre",
            bodies[item["body"]],
            axis="y",
            radius=item["radius"],
            stiffness=parameter("tyre stiffness", item["stiffness"]),
            damping=item["damping"],
            longitudinal=item["c_long"],
            lateral=item["c_lat"],
            reference_load=item["N_ref"],
            road=_road(chosen.get("bump")),
        )
    return system, nominal


def axle(name: str) -> str:
    """The axle of a spring, by its name."""
    return "front" if name.upper().startswith("F") else "rear"


def rolling_starts(mechanism: Mechanism, table: Any) -> tuple[Any, Any]:
    """Every car at its own equilibrium, then at speed with the wheels rolling: positions and speeds."""
    from bellcrank.batch import equilibria
    from bellcrank.batch.readout import readout
    from bellcrank.batch.table import read_table

    q, u = equilibria(mechanism, table)
    linkage = mechanism.linkage
    bodies = {item["id"]: item["name"] for item in full_car_data()["bodies"]}
    wheels = [bodies[item["body"]] for item in full_car_data()["tyres"]]
    reading = readout(mechanism, ["chassis.rotation", *(f"{name}.position.z" for name in wheels)])
    p = read_table(mechanism, table).parameters
    values = reading.split(reading.rows(np.zeros(len(q)), q, u, np.zeros_like(u), p))
    chassis = linkage.links[linkage.placements["chassis"].link]
    seat = np.array(linkage.placements["chassis"].r, dtype=float)
    forward = values["chassis.rotation"].transpose(0, 2, 1) @ np.array([SPEED, 0.0, 0.0])
    u[:, chassis.u + 3 : chassis.u + 6] = forward @ seat.T
    for name in wheels:
        joint = next(link.joint for link in linkage.links if link.name == name)
        u[:, mechanism.speed_names.index(f"{joint}.angle")] = SPEED / values[f"{name}.position.z"]
    return q, u


def slider_crank_system() -> tuple[System, dict[str, float]]:
    """The free slider-crank of the verification with its masses as parameters."""
    gravity, angle, crank_length, rod_length = 9.81, math.pi / 6.0, 3.0, 4.0
    system = System("slider-crank", gravity=(0.0, -gravity, 0.0))
    nominal = {"crank mass": 2.0, "rod mass": 3.0, "slider mass": 4.0}
    masses = {name: system.parameter(name, value) for name, value in nominal.items()}
    pin = (crank_length * math.cos(angle), crank_length * math.sin(angle), 0.0)
    reach = pin[0] + math.sqrt(rod_length**2 - pin[1] ** 2)
    lean = math.atan2(-pin[1], reach - pin[0])
    middle = (0.5 * (pin[0] + reach), 0.5 * pin[1], 0.0)
    at = (0.5 * pin[0], 0.5 * pin[1], 0.0)
    crank = system.body("crank", mass=masses["crank mass"], inertia=(1.0, 1.0, 1.0), at=at, angle=angle)
    rod = system.body("rod", mass=masses["rod mass"], inertia=(2.0, 2.0, 2.0), at=middle, angle=lean)
    slider = system.body("slider", mass=masses["slider mass"], inertia=(1.0, 1.0, 1.0), at=(reach, 0.0, 0.0))
    system.revolute("main bearing", system.ground, crank, at=(0.0, 0.0, 0.0))
    system.revolute("crank pin", crank, rod, at=pin)
    system.revolute("wrist pin", rod, slider, at=(reach, 0.0, 0.0))
    system.prismatic("guide", system.ground, slider, axis="x")
    return system, nominal


def car() -> tuple[Mechanism, dict[str, float]]:
    """The analysed car."""
    system, nominal = car_system()
    return analyse(system), nominal


def slider_crank() -> tuple[Mechanism, dict[str, float]]:
    """The analysed slider-crank."""
    system, nominal = slider_crank_system()
    return analyse(system), nominal
