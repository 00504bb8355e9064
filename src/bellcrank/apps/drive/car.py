"""The full car of Kang and Yoon with a driver: rack, drive torques and brakes as parameters, tyres with friction."""

from __future__ import annotations

from typing import Any

from bellcrank.apps.drive.terrain import PROVING_GROUND, Terrain
from bellcrank.apps.drive.tyre import Tyre, spin_axis
from bellcrank.math.tuples import Vec
from bellcrank.mechanism import Mechanism, State
from bellcrank.model import Body, System
from bellcrank.program.functions import sqrt
from bellcrank.program.trace import Scalar, function
from bellcrank.verify.full_car import RACK, car_without_tyres, full_car_data

SLIP_SPEED = 10.0
"""Speed [m/s] at which the slip stiffnesses are those of the paper's viscous tyres."""
DRIVE_TORQUE = 900.0
"""Largest torque on each front wheel [N m]; the driven wheels have motors in their hubs."""
DRIVE_POWER = 45e3
"""Largest power of each of them [W]."""
BRAKE_TORQUE = {"F": 1250.0, "R": 600.0}
"""Largest brake torque on a front and on a rear wheel [N m]."""
BRAKE_SPEED = 2.0
"""Wheel speed [rad/s] below which a brake lets go, smoothly."""
DRAG = 0.5 * 1.2 * 0.65
"""Half of air density times drag area [kg/m]."""
RACK_TRAVEL = 0.05
"""Largest travel of the rack to either side [m]."""


def drive_car(ground: Terrain = PROVING_GROUND) -> System:
    """The car on a terrain.

    Parameters: ``steering``, where the rack is to be [m], positive turns left; ``throttle``, -1 to 1 of the drive
    torque, negative drives back; ``brake``, 0 to 1.
    """
    data = full_car_data()
    system, bodies = car_without_tyres(data)
    steering = system.parameter("steering", 0.0, "m")
    throttle = system.parameter("throttle", 0.0)
    brake = system.parameter("brake", 0.0)
    actuator = data["rack_actuator"]
    k, c = actuator["stiffness"], actuator["damping"]
    # The tie rods meet the knuckles behind the kingpins: the rack moves to the right (-y) to turn left.
    system.joint_force(
        "rack actuator", RACK, lambda coordinate, rate, t: -k * (coordinate + steering) - c * rate
    )
    system.applied_force("air", bodies[1], _drag)
    for item in data["tyres"]:
        _add_wheel(system, item, bodies[item["body"]], ground, throttle, brake)
    return system


def _drag(velocity: Any) -> Vec:
    speed = sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2 + 1e-6)
    return tuple(-DRAG * speed * v for v in velocity)  # type: ignore[return-value]


def _add_wheel(
    system: System, item: dict[str, Any], body: Body, ground: Terrain, throttle: Scalar, brake: Scalar
) -> None:
    name, load = item["name"], item["N_ref"]
    tyre = Tyre(
        item["radius"],
        item["stiffness"],
        item["damping"],
        item["c_long"] * SLIP_SPEED / load,
        item["c_lat"] * SLIP_SPEED / load,
    )

    def force(position: Vec, velocity: Vec, rotation: Any, angular_velocity: Vec) -> Vec:
        return tyre.forces(ground, position, velocity, angular_velocity, spin_axis(rotation))[0]

    def moment(position: Vec, velocity: Vec, rotation: Any, angular_velocity: Vec) -> Vec:
        return tyre.forces(ground, position, velocity, angular_velocity, spin_axis(rotation))[1]

    most = BRAKE_TORQUE[name[0]]
    driven = name[0] == "F"

    def hub(coordinate: Scalar, rate: Scalar, t: Scalar) -> Scalar:
        torque: Scalar = -most * brake * function("tanh", rate / BRAKE_SPEED)
        if driven:
            torque = torque + DRIVE_TORQUE * throttle / sqrt(1.0 + (DRIVE_TORQUE / DRIVE_POWER * rate) ** 2)
        return torque

    system.applied_force(f"{name} tyre", body, force)
    system.applied_torque(f"{name} tyre moment", body, moment)
    joint = next(
        j for j in system.joints.values() if body in (j.a.body, j.b.body) and j.name.endswith(body.name)
    )
    system.joint_force(f"{name} hub", joint, hub)


def standing(mechanism: Mechanism) -> State:
    """The car at rest where it starts, in static equilibrium."""
    return mechanism.equilibrium().state
