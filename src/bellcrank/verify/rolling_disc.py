"""Rolling disc: steady precession, and small wobbles about rolling straight ahead.

A thin disc of mass m and radius r rolls on a plane without slip, its axis at the angle theta to the vertical, so that
its centre goes round a circle. With the rate of precession W and the angular velocity w about the axis,

    (C + m r^2) w W sin(theta) - A W^2 sin(theta) cos(theta) + m g r cos(theta) = 0,

where C and A are the moments about the axis and about a diameter. Rolling upright at the rate w it wobbles at the
frequency sqrt(C (C + m r^2) w^2 / (A (A + m r^2)) - m g r / (A + m r^2)): it is stable above w^2 = g / (3 r).

Source: closed form; Routh (1905), The Advanced Part of a Treatise on the Dynamics of a System of Rigid Bodies, article
244; Neimark and Fufaev (1972), Dynamics of Nonholonomic Systems, chapter 2.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

MASS, RADIUS, G = 2.0, 0.25, 9.81
ABOUT, ACROSS = 0.5 * MASS * RADIUS**2, 0.25 * MASS * RADIUS**2
LEAN, PRECESSION = math.radians(65.0), 3.0
"""Angle of the axis to the vertical, and rate of precession [rad/s]."""
STRAIGHT = 8.0
"""Rate of rolling upright [rad/s]."""


def disc(lean: float) -> System:
    """The disc with its axis at an angle to the vertical, the lowest point at the origin."""
    system = System("disc", gravity=(0.0, 0.0, -G))
    c, s = math.cos(lean), math.sin(lean)
    # Columns: x along the track, y along the axis, z from the touching point to the centre.
    turned = ((1.0, 0.0, 0.0), (0.0, s, -c), (0.0, c, s))
    moments = (ACROSS, ABOUT, ACROSS)
    up = (0.0, -RADIUS * c, RADIUS * s)
    body = system.body("disc", mass=MASS, inertia=moments, at=up, rotation=turned)
    system.free("flight", system.ground, body)
    system.rolling("contact", system.ground, body, RADIUS, axis="y")
    return system


def upright() -> System:
    """The disc in a massless yoke that does not turn with it: axes in which the motion straight ahead is steady."""
    system = System("disc", gravity=(0.0, 0.0, -G))
    here = (0.0, 0.0, RADIUS)
    track = system.body("track", mass=0.0, at=here)
    lift = system.body("lift", mass=0.0, at=here)
    yoke = system.body("yoke", mass=0.0, at=here)
    body = system.body("disc", mass=MASS, inertia=(ACROSS, ABOUT, ACROSS), at=here)
    system.planar("heading", system.ground, track, axis="z")
    system.prismatic("height", track, lift, axis="z")
    system.revolute("lean", lift, yoke, at=here, axis="x")
    system.revolute("spin", yoke, body, at=here, axis="y")
    system.rolling("contact", system.ground, body, RADIUS, axis="y")
    return system


def quantities() -> list[Quantity]:
    """Circle of the centre, lean, forces and energy of the steady motion; frequency of the wobble."""
    s, c = math.sin(LEAN), math.cos(LEAN)
    spin = (ACROSS * PRECESSION**2 * s * c - MASS * G * RADIUS * c) / (
        (ABOUT + MASS * RADIUS**2) * PRECESSION * s
    )
    start = {"flight": {"angular_velocity": (0.0, spin, PRECESSION * s)}}
    period = 2.0 * math.pi / PRECESSION
    run = disc(LEAN).simulate(2.0 * period, initial=start, tolerance=1e-12, output=400)
    x, y = (np.asarray(run[f"disc.position.{axis}"]) for axis in "xy")
    half = 0.5 * np.hypot(x - np.roll(x, 100), y - np.roll(y, 100))
    leaning = np.asarray(run["disc.rotation.zy"])
    normal = np.asarray(run["contact.normal_force"])
    sideways = np.hypot(*np.asarray(run["contact.force"])[:, :2].T)
    energy = np.asarray(run["energy.total"])
    wobble = upright().linearize(initial={"spin": (0.0, STRAIGHT)})
    stiff = ABOUT * (ABOUT + MASS * RADIUS**2) / (ACROSS * (ACROSS + MASS * RADIUS**2)) * STRAIGHT**2
    expected = math.sqrt(stiff - MASS * G * RADIUS / (ACROSS + MASS * RADIUS**2))
    return [
        Quantity("circle_radius", float(half[150]), RADIUS * abs(spin) / PRECESSION, 1e-9, "m"),
        Quantity("lean_drift", float(np.abs(leaning - c).max()), 0.0, 1e-9),
        Quantity("closed_after_two_turns", float(np.hypot(x[-1] - x[0], y[-1] - y[0])), 0.0, 1e-8, "m"),
        Quantity("normal_force", float(normal.mean()), MASS * G, 1e-9, "N", Within.RELATIVE),
        Quantity(
            "sideways_force",
            float(sideways.mean()),
            MASS * RADIUS * abs(spin) * PRECESSION,
            1e-8,
            "N",
            Within.RELATIVE,
        ),
        Quantity("energy_drift", float(np.ptp(energy)) / abs(energy[0]), 0.0, 1e-9),
        Quantity("off_the_plane", float(np.abs(run["constraints.position"]).max()), 0.0, 1e-10, "m"),
        Quantity("wobble", float(np.abs(wobble.eigenvalues.imag).max()), expected, 1e-10, "rad/s"),
    ]
