"""A cam cut for a lift: a flat follower rises as was asked, with the force and torque that follow from it.

The cam with the distance p(s) of its tangents from the axis has the profile P(s) = p n(s) + p' n'(s), where n is the
direction s. Turned at a steady rate W, it lifts a flat follower to exactly p(pi / 2 - W t). The follower, of mass m
under a spring and its weight, presses with N = m (p'' W^2 + g) + F, and the cam takes the torque N p'.

Source: closed form; envelope of tangents, Norton (2009), Cam Design and Manufacturing Handbook, chapter 7.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.program.functions import cos, sin
from bellcrank.program.trace import Scalar
from bellcrank.verify.cases import Quantity

BASE, LIFT, RATE, MASS, G = 0.03, 0.004, 40.0, 0.5, 9.81
STIFFNESS, PRELOAD = 3000.0, 60.0
"""Of the spring [N/m], and its force [N] at the base circle."""


def profile(s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The cam for p = BASE + LIFT (1 - cos(2 s)) / 2."""
    p = BASE + 0.5 * LIFT * (1.0 - cos(2.0 * s))
    slope = LIFT * sin(2.0 * s)
    return p * cos(s) - slope * sin(s), p * sin(s) + slope * cos(s), 0.0


def flat(s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The face of the follower."""
    return s, 0.0, 0.0


def cam() -> System:
    """The cam on a driven shaft, the follower in a guide above it."""
    system = System("cam", gravity=(0.0, -G, 0.0))
    wheel = system.body("cam", mass=1.0, inertia=(1e-3,) * 3)
    follower = system.body("follower", mass=MASS, inertia=(1e-3,) * 3, at=(0.0, BASE + LIFT, 0.0))
    system.revolute("shaft", system.ground, wheel, at=(0.0, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, follower, axis="y")
    system.driver("shaft", lambda t: RATE * t, name="motor")
    system.curve_on_curve("contact", wheel, follower, profile, flat, start_a=0.5 * math.pi)
    system.applied_force(
        "spring", follower, lambda position: (0.0, -PRELOAD - STIFFNESS * (position[1] - BASE), 0.0)
    )
    return system


def quantities() -> list[Quantity]:
    """Lift, contact force and torque over two turns, by a run and by kinematics."""
    duration = 4.0 * math.pi / RATE
    run = cam().simulate(duration, tolerance=1e-11, output=200)
    driven = cam().kinematics(duration, output=200)
    s = 0.5 * math.pi - RATE * run.time
    p = BASE + 0.5 * LIFT * (1.0 - np.cos(2.0 * s))
    slope, bend = LIFT * np.sin(2.0 * s), 2.0 * LIFT * np.cos(2.0 * s)
    force = MASS * (bend * RATE**2 + G) + PRELOAD + STIFFNESS * (p - BASE)
    found = []
    for name, result in (("run", run), ("kinematics", driven)):
        height = np.asarray(result["follower.position.y"])
        pressed = np.asarray(result["contact.force"])
        torque = np.asarray(result["motor.effort"])
        found += [
            Quantity(f"{name}_lift_error", float(np.abs(height - p).max()), 0.0, 1e-10, "m"),
            Quantity(f"{name}_force_error", float(np.abs(pressed[:, 1] - force).max()), 0.0, 1e-6, "N"),
            Quantity(f"{name}_sideways_force", float(np.abs(pressed[:, 0]).max()), 0.0, 1e-8, "N"),
            Quantity(f"{name}_torque_error", float(np.abs(torque + force * slope).max()), 0.0, 1e-7, "N m"),
        ]
    return found
