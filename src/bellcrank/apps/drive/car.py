"""The full car of Kang and Yoon with a driver: rack, drive torques and brakes as parameters, tyres with friction."""

from __future__ import annotations

from typing import Any

from bellcrank.apps.drive.terrain import PROVING_GROUND, Terrain
from bellcrank.math.tuples import Vec
from bellcrank.model import Body, System
from bellcrank.program.functions import sqrt
from bellcrank.program.trace import Scalar, function
from bellcrank.tyres import MagicFormula, TyreLaw
from bellcrank.vehicles import Vehicle
from bellcrank.vehicles.passenger_car import passenger
from bellcrank.verify.full_car import RACK, car_without_tyres, full_car_data

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
RATIO = 7.2
"""Angle of the front wheels over the travel of the rack [rad/m], about the middle."""
LENGTHS = ("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS", "BOTTOM_OFFST")
LOADS = ("FNOMIN", "FZMAX")
STIFFNESSES = (
    "VERTICAL_STIFFNESS",
    "LONGITUDINAL_STIFFNESS",
    "LATERAL_STIFFNESS",
    "BOTTOM_STIFF",
    "VERTICAL_DAMPING",
)
"""Coefficients of a tyre that grow with its size, with its load, and with its load over its size."""


def resized(law: MagicFormula, radius: float, load: float) -> MagicFormula:
    """A tyre alike with another radius [m] and nominal load [N]: the formula is one of loads over the nominal load
    and of lengths over the radius."""
    c = law.coefficients
    larger, heavier = radius / law.free_radius, load / c["FNOMIN"]
    factors = (
        dict.fromkeys(LENGTHS, larger)
        | dict.fromkeys(LOADS, heavier)
        | dict.fromkeys(STIFFNESSES, heavier / larger)
    )
    return MagicFormula({name: value * factors.get(name, 1.0) for name, value in c.items()})


def usual_tyre() -> TyreLaw:
    """The tyre of the verification case `magic-formula` in the size of those of the car."""
    item = full_car_data()["tyres"][0]
    law = passenger()
    assert isinstance(law, MagicFormula)
    return resized(law, item["radius"], item["N_ref"])


def drive_car(ground: Terrain = PROVING_GROUND, law: TyreLaw | None = None) -> Vehicle:
    """The car on a terrain. law: Of its tyres; :func:`usual_tyre` where missing.

    Parameters: ``steering``, where the rack is to be [m], positive turns left; ``throttle``, -1 to 1 of the drive
    torque, negative drives back; ``brake``, 0 to 1.
    """
    data = full_car_data()
    law = law or usual_tyre()
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
        wheel = bodies[item["body"]]
        system.tyre(f"{item['name']} tyre", wheel, law, road=ground.road)
        _add_hub(system, item["name"], wheel, throttle, brake)
    # Larger tyres than those of the paper begin above the ground, not within it.
    x, y, z = (float(x) for x in system.bodies["chassis"].position)
    higher = law.free_radius - data["tyres"][0]["radius"] + float(ground.highest(x, y))
    system.initial("ground to chassis", {"position": (x, y, z + higher)})
    force = 2.0 * DRIVE_TORQUE / law.free_radius
    return Vehicle(system, "chassis", "steering", "throttle", "brake", RATIO, force)


def _drag(velocity: Any) -> Vec:
    speed = sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2 + 1e-6)
    return tuple(-DRAG * speed * v for v in velocity)  # type: ignore[return-value]


def _add_hub(system: System, name: str, wheel: Body, throttle: Scalar, brake: Scalar) -> None:
    most = BRAKE_TORQUE[name[0]]
    driven = name[0] == "F"

    def hub(coordinate: Scalar, rate: Scalar, t: Scalar) -> Scalar:
        torque: Scalar = -most * brake * function("tanh", rate / BRAKE_SPEED)
        if driven:
            torque = torque + DRIVE_TORQUE * throttle / sqrt(1.0 + (DRIVE_TORQUE / DRIVE_POWER * rate) ** 2)
        return torque

    joint = next(
        j for j in system.joints.values() if wheel in (j.a.body, j.b.body) and j.name.endswith(wheel.name)
    )
    system.joint_force(f"{name} hub", joint, hub)
