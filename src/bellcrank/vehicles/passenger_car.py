"""A whole car of the parts of this room, for examples, manoeuvres and benchmarks: a mid-size sedan."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any

from bellcrank.model import System
from bellcrank.program.trace import Scalar
from bellcrank.tyres import TyreLaw, tyre
from bellcrank.vehicles.brake_system import anti_lock, brakes
from bellcrank.vehicles.suspensions import Axle, Unsprung, double_wishbone, mcpherson, steering_rack
from bellcrank.vehicles.vehicle import Vehicle

FRONT = {
    "lower_front": (1.42, 0.36, 0.235), "lower_rear": (1.02, 0.36, 0.235), "lower_outer": (1.255, 0.7, 0.205),
    "tie_inner": (1.105, 0.34, 0.275), "tie_outer": (1.115, 0.675, 0.265), "wheel": (1.25, 0.765, 0.31),
    "strut_upper": (1.222, 0.575, 0.86), "strut_lower": (1.243, 0.645, 0.4),
}  # fmt: skip
REAR = {
    "lower_front": (-1.25, 0.34, 0.23), "lower_rear": (-1.65, 0.34, 0.23), "lower_outer": (-1.455, 0.69, 0.2),
    "upper_front": (-1.3, 0.42, 0.4775), "upper_rear": (-1.62, 0.42, 0.4775), "upper_outer": (-1.465, 0.655, 0.465),
    "tie_inner": (-1.6, 0.36, 0.245), "tie_outer": (-1.605, 0.69, 0.23), "wheel": (-1.455, 0.76, 0.31),
    "spring_upper": (-1.43, 0.5, 0.68), "spring_lower": (-1.45, 0.57, 0.22),
}  # fmt: skip
STEERING = 110.0
"""Angle of the steering wheel over the travel of the rack [rad/m]: 57 mm of rack for a turn."""
RATIO = 1.0 / 16.3
"""Angle of the front wheels over that of the steering wheel in the design position."""
ENGINE = (
    (0.0, 60.0, 90.0),
    (80.0, 25.0, 190.0),
    (120.0, -15.0, 230.0),
    (450.0, -45.0, 240.0),
    (650.0, -65.0, 190.0),
)
"""Rows of speed [rad/s] and torque [N m] with the throttle closed and open."""
GEARS, FINAL = (3.6, 2.05, 1.35, 1.0, 0.8), 4.0
BRAKES = 7600.0
"""Torque of all brakes at full pedal [N m]: more than the tyres hold on dry road."""


def passenger() -> TyreLaw:
    """The tyre of the verification case `magic-formula`, by the Magic Formula 6.1."""
    with (
        as_file(files("bellcrank") / "verify" / "data" / "passenger_61.tir") as path,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # The rigid ring of the file is not wanted.
        return tyre(path)


def sedan(
    law: TyreLaw | None = None,
    slip_control: bool = True,
    turned: Callable[[Scalar], Scalar] | None = None,
    **options: Any,
) -> Vehicle:
    """A car with McPherson struts and a power train in front and double wishbones behind.

    Parameters: ``steering``, angle of the steering wheel [rad], positive to the left; ``throttle`` and ``brake`` from 0
    to 1; ``gear``; ``front spring`` and ``rear spring`` [N/m], ``front bar stiffness`` and ``rear bar stiffness``
    [N m/rad]. law: Of the tyres; one of the Magic Formula 6.1 where missing. slip_control: Whether its brakes have a
    slip controller. turned: Angle of the steering wheel [rad] of t [s], beside its parameter. options: Those of tyres,
    such as `road` and `friction`.
    """
    rubber = law or passenger()
    system = System("sedan")
    wheel, throttle = system.parameter("steering", 0.0, "rad"), system.parameter("throttle", 0.0)
    pedal, gear = system.parameter("brake", 0.0), system.parameter("gear", 3.0)
    chassis = system.body("chassis", mass=1250.0, inertia=(480.0, 1950.0, 2150.0), at=(0.0, 0.0, 0.56))
    system.free("motion", system.ground, chassis)
    rack, guide = steering_rack(system, chassis, "rack", (1.105, 0.0, 0.275))
    # The tie rods meet the knuckles behind the kingpins: the rack moves to the right (-y) to turn left.
    angle = wheel if turned is None else lambda t: wheel + turned(t)
    system.steering(
        "steering gear", guide, angle, ratio=-STEERING, stiffness=60.0, damping=0.8, assistance=HELP
    )
    stiffness = {"front": 26000.0, "rear": 40000.0}
    springs = [system.parameter(f"{axle} spring", k, "N/m") for axle, k in stiffness.items()]
    masses = Unsprung(12.0, (0.2, 0.15, 0.15), 19.0, (0.75, 1.25, 0.75), 6.0)
    front = mcpherson(
        system, chassis, "front", FRONT, unsprung=masses, rack=rack, spring=_spring(0.61, springs[0], 0.5)
    )
    rear = double_wishbone(
        system, chassis, "rear", REAR, unsprung=masses, spring=_spring(0.575, springs[1], 0.46)
    )
    _bar(system, front, system.parameter("front bar stiffness", 1000.0, "N m/rad"), 1.2)
    _bar(system, rear, system.parameter("rear bar stiffness", 700.0, "N m/rad"), -1.4)
    for axle in (front, rear):
        for corner in axle.corners:
            system.tyre(f"{corner.name} tyre", corner.wheel, rubber, **options)
    hubs = (*front.hubs, *rear.hubs)
    held = brakes(system, hubs, pedal, BRAKES, balance=0.7)
    system.power_train(
        "power train", chassis, front.hubs, ENGINE, 0.2, GEARS, throttle=throttle, gear=gear, final=FINAL
    )
    system.aerodynamics("air", chassis, area=2.2, drag=0.3, lift=0.05, side=1.1, yaw=-0.15, length=2.7)
    helpers: tuple[Callable[..., Any], ...] = (
        (anti_lock(held, rubber.free_radius - 0.01),) if slip_control else ()
    )
    force = 240.0 * GEARS[2] * FINAL / rubber.free_radius
    return Vehicle(system, "chassis", "steering", "throttle", "brake", RATIO, force, helpers)


HELP = ((-8.0, -90.0), (-1.0, -4.0), (0.0, 0.0), (1.0, 4.0), (8.0, 90.0))
"""Assistance of the steering over the torque of the shaft [N m]."""


def _spring(free: float, stiffness: Scalar, design: float) -> dict[str, Any]:
    """A strut with stops 60 mm of travel below and above its length in the design position [m]."""
    damper = [(-1.0, -1500.0), (-0.1, -220.0), (0.0, 0.0), (0.1, 420.0), (1.0, 2600.0)]
    stop = [(0.0, 0.0), (0.02, 1500.0), (0.04, 9000.0)]
    tables = {"damper": damper, "bump": stop, "rebound": stop}
    return {
        "stiffness": stiffness,
        "free_length": free,
        "bump": design - 0.06,
        "rebound": design + 0.06,
        "tables": tables,
    }


def _bar(system: System, axle: Axle, stiffness: Scalar, x: float) -> None:
    """An anti-roll bar across the car at x - 0.25 m, with levers of 250 mm that hold the lower arms by links."""
    arms = [system.bodies[f"{corner.name} lower arm"] for corner in axle.corners]
    on = [arm.point_at((x, sign * 0.58, 0.215)) for arm, sign in zip(arms, (1.0, -1.0), strict=True)]
    ends = [axle.chassis.point_at((x, sign * 0.55, 0.42)) for sign in (1.0, -1.0)]
    seat = axle.chassis.point_at((x - 0.25, 0.0, 0.42))
    system.anti_roll_bar(f"{axle.left.name.split()[0]} bar", seat, ends, on, stiffness)


__all__ = ["passenger", "sedan"]
