"""Spur gears from meshes, by fields of depth: the mean ratio of their speeds is that of their teeth.

A pinion of 12 teeth turns at 20 rad/s and drives a wheel of 18 against a torque; both are involute profiles of module
4 mm and pressure angle 20 degrees, extruded and given as triangles, with backlash. After the first teeth have met, the
wheel turns by whole teeth while the pinion does; between, its angle wavers by the transmission error of the mesh.

Source: conjugate action of involutes (Litvin and Fuentes 2004, chapter 10); the mean ratio follows from counting teeth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh import Mesh
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

Array = NDArray[np.float64]

MODULE, PRESSURE, WIDTH = 4e-3, math.radians(20.0), 8e-3
TEETH = 12, 18
BACKLASH = 0.1e-3
"""Play on the pitch circle [m]."""
SPEED, TORQUE = 20.0, 1.0
"""Of the pinion [rad/s], and on the wheel [N m]."""


def profile(teeth: int, points: int = 8) -> Array:
    """The outline of a gear around, (number, 2) [m], a tooth about the x axis; straight below the base circle."""
    pitch = 0.5 * MODULE * teeth
    base, tip, root = pitch * math.cos(PRESSURE), pitch + MODULE, pitch - 1.25 * MODULE

    def involute(angle: float) -> float:
        return math.tan(angle) - angle

    half = 0.5 * math.pi / teeth - 0.25 * BACKLASH / pitch + involute(PRESSURE)
    radii = np.linspace(max(base, root), tip, points)
    flank = [(r, half - involute(math.acos(min(base / r, 1.0)))) for r in radii]
    if root < base:
        flank = [(root, half), *flank]
    tooth = [(r, -a) for r, a in flank] + [(r, a) for r, a in reversed(flank)]
    turns = 2.0 * math.pi * np.arange(teeth) / teeth
    return np.array([(r * math.cos(a + turn), r * math.sin(a + turn)) for turn in turns for r, a in tooth])


def gear(teeth: int, resolution: int = 128) -> Mesh:
    """A gear about z, half its width on either side."""
    outline = profile(teeth)
    n = len(outline)
    layers = [np.column_stack([outline, np.full(n, z)]) for z in (-0.5 * WIDTH, 0.5 * WIDTH)]
    ends = np.array([[0.0, 0.0, -0.5 * WIDTH], [0.0, 0.0, 0.5 * WIDTH]])
    k = np.arange(n)
    j = (k + 1) % n
    faces = np.concatenate(
        [
            np.stack([k, j, n + j], axis=1),
            np.stack([k, n + j, n + k], axis=1),
            np.stack([np.full(n, 2 * n), j, k], axis=1),
            np.stack([np.full(n, 2 * n + 1), n + k, n + j], axis=1),
        ]
    )
    return Mesh(np.concatenate([*layers, ends]), faces, resolution=resolution)


def pair() -> System:
    """The pinion at the origin, the wheel beside it along x, both about z."""
    system = System("gears", gravity=(0.0, 0.0, 0.0))
    apart = 0.5 * MODULE * sum(TEETH)
    pinion = system.body("pinion", mass=0.1, inertia=(1e-5,) * 3)
    wheel = system.body("wheel", mass=0.2, inertia=(4e-5,) * 3, at=(apart, 0.0, 0.0))
    system.revolute("shaft", system.ground, pinion, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("axle", system.ground, wheel, at=(apart, 0.0, 0.0), axis="z")
    system.driver("shaft", lambda t: SPEED * t)
    system.joint_force("load", "axle", lambda rate: TORQUE - 0.02 * rate)
    # A tooth of the pinion points at the wheel, which has a gap there.
    turned = math.pi + math.pi / TEETH[1]
    c, s = math.cos(turned), math.sin(turned)
    side = wheel.shape(gear(TEETH[1]), rotation=((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
    system.contact("mesh", pinion.shape(gear(TEETH[0])), side, 0.1, treatment="continuous", young=2e9)
    return system


def run() -> Result:
    """From before the first touch over some teeth."""
    ratio = TEETH[0] / TEETH[1]
    return pair().simulate(0.085, initial={"axle": (0.0, -ratio * SPEED)}, tolerance=1e-6, output=850)


def quantities() -> list[Quantity]:
    """Mean ratio over two teeth, and how far the angle wavers between."""
    result = run()
    period = 2.0 * math.pi / TEETH[0] / SPEED
    begin = 0.03
    angle = np.interp([begin, begin + 2.0 * period], result.time, result["axle.angle"])
    ratio = float(angle[0] - angle[1]) / (2.0 * period * SPEED)
    late = result.time >= begin
    carried = float(np.mean(np.asarray(result["mesh.normal_force"])[late] > 0.0))
    error = np.asarray(result["axle.angle"])[late] + TEETH[0] / TEETH[1] * SPEED * result.time[late]
    return [
        Quantity("mean_ratio", ratio, TEETH[0] / TEETH[1], 2e-4),
        Quantity("transmission_error", float(np.ptp(error)), 2e-3, 0.0, "rad", Within.AT_MOST),
        Quantity("load_carried", carried, 0.99, 0.0, "", Within.AT_LEAST),
    ]
