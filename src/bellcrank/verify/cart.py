"""A car without suspension on four tyres, for closed forms: a rigid body whose wheels roll, or are locked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bellcrank.model import System
from bellcrank.program.trace import Scalar, function
from bellcrank.result.result import Result
from bellcrank.tyres import Brush, LinearTyre, TyreLaw

MASS, INERTIA = 1400.0, (400.0, 1900.0, 2100.0)
FRONT, REAR, HALF_TRACK = 1.1, 1.5, 0.75
RADIUS, HEIGHT = 0.3, 0.5
WHEELBASE = FRONT + REAR
GRAVITY = 9.81
CORNERS = {
    "FL": (FRONT, HALF_TRACK),
    "FR": (FRONT, -HALF_TRACK),
    "RL": (-REAR, HALF_TRACK),
    "RR": (-REAR, -HALF_TRACK),
}
SINKING = MASS * GRAVITY / 6e5
"""How far the car sinks on its tyres [m]; a centre of mass at this height lies in the road then."""
CORNERING = {"F": 5.5e4, "R": 6e4}
"""Of a linear tyre at the front and at the rear [N/rad]."""
LEVEL = {"F": 3e5 * REAR / WHEELBASE, "R": 3e5 * FRONT / WHEELBASE}
"""Vertical stiffness [N/m] in proportion to the load, so that the car stands level."""
WHEEL = 1e-3
"""Mass of a wheel [kg] and, over the square of the radius, its inertia: next to nothing, as closed forms have it."""


def cart(
    tyre: Callable[[str], TyreLaw],
    steering: Callable[..., Any] | float = 0.0,
    locked: bool = False,
    height: float = HEIGHT,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
    **options: Any,
) -> System:
    """The car. tyre: Of a corner by name. steering: Angle of the front wheels [rad], of t [s]. locked: Whether the
    wheels cannot turn. height: Of the centre of mass [m]. options: Those of tyres."""
    system = System("car on four tyres", gravity=gravity)
    body = system.body("body", mass=MASS, inertia=INERTIA, at=(0.0, 0.0, height))
    system.free("motion", system.ground, body)
    small = WHEEL * RADIUS * RADIUS
    for corner, (x, y) in CORNERS.items():
        at = (x, y, RADIUS)
        carrier = body
        if corner.startswith("F") and steering:
            carrier = system.body(f"knuckle {corner}", mass=WHEEL, inertia=(small, small, small), at=at)
            joint = system.revolute(f"kingpin {corner}", body, carrier, at=at, axis="z")
            system.driver(joint, steering if callable(steering) else (lambda t: steering))
        wheel = system.body(f"wheel {corner}", mass=WHEEL, inertia=(small, small, small), at=at)
        if locked:
            system.fixed(f"hub {corner}", carrier, wheel)
        else:
            system.revolute(f"hub {corner}", carrier, wheel, at=at, axis="y")
        system.tyre(corner, wheel, tyre(corner), **options)
    return system


STEERED = (0.1, 200.0)
"""Inertia of a steered knuckle [kg m^2], and the frequency [rad/s] of the critically damped spring that turns it."""


def driven_cart(tyre: Callable[[str], TyreLaw], height: float = HEIGHT, **options: Any) -> System:
    """The car with a driver: parameters ``steering`` [rad], ``drive`` on each rear wheel and ``brake`` on every wheel
    [N m]. options: Those of tyres."""
    system = System("car with a driver")
    steering = system.parameter("steering", 0.0, "rad")
    drive = system.parameter("drive", 0.0, "N m")
    brake = system.parameter("brake", 0.0, "N m")
    body = system.body("body", mass=MASS, inertia=INERTIA, at=(0.0, 0.0, height))
    system.free("motion", system.ground, body)
    small = WHEEL * RADIUS * RADIUS
    inertia, w = STEERED

    def turned(coordinate: Scalar, rate: Scalar) -> Scalar:
        return inertia * w * (w * (steering - coordinate) - 2.0 * rate)

    for corner, (x, y) in CORNERS.items():
        at, driven = (x, y, RADIUS), corner.startswith("R")
        carrier = body
        if not driven:
            carrier = system.body(f"knuckle {corner}", mass=WHEEL, inertia=(inertia,) * 3, at=at)
            system.revolute(f"kingpin {corner}", body, carrier, at=at, axis="z")
            system.joint_force(f"actuator {corner}", f"kingpin {corner}", turned)
        wheel = system.body(f"wheel {corner}", mass=WHEEL, inertia=(small, small, small), at=at)
        system.revolute(f"hub {corner}", carrier, wheel, at=at, axis="y")

        def torque(rate: Scalar, driven: bool = driven) -> Scalar:
            return (drive if driven else 0.0) - brake * function("tanh", rate / 2.0)

        system.joint_force(f"torque {corner}", f"hub {corner}", torque)
        system.tyre(corner, wheel, tyre(corner), **options)
    return system


def linear(corner: str) -> LinearTyre:
    """A linear tyre of a corner."""
    axle = corner[0]
    return LinearTyre(
        radius=RADIUS, stiffness=LEVEL[axle], damping=2000.0, longitudinal=8e4, cornering=CORNERING[axle]
    )


def rubber(corner: str, friction: float = 0.8) -> Brush:
    """A brush tyre of a corner."""
    return Brush(
        radius=RADIUS,
        stiffness=LEVEL[corner[0]],
        damping=2000.0,
        longitudinal=20.0,
        lateral=15.0,
        friction=friction,
        damping_time=0.01,
    )


def moving(system: System, speed: float, duration: float, **options: Any) -> Result:
    """A run that begins in static equilibrium with a speed forwards [m/s], the wheels rolling."""
    from scipy.spatial.transform import Rotation

    rest = system.equilibrium().result
    start: dict[str, Any] = {
        "motion": {
            "position": rest["body.position"][-1],
            "quaternion": Rotation.from_matrix(rest["body.rotation"][-1]).as_quat()[[3, 0, 1, 2]],
            "velocity": (speed, 0.0, 0.0),
        }
    }
    for name, force in system.forces.items():
        hub = f"hub {name}"
        if system.joints[hub].kind == "revolute":
            load = float(rest[f"{name}.load"][-1])
            start[hub] = (0.0, speed / float(force.law.rolling_radius(load, speed / RADIUS)))  # type: ignore[union-attr]
    return system.simulate(duration, initial=start, **options)
