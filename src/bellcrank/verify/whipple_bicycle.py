"""The benchmark bicycle of Whipple: eigenvalues of small motions about riding straight ahead.

Rear frame with rider, front fork, and two thin wheels that roll without slip: nine coordinates, two equations that keep
the wheels on the ground, four of velocities alone, so seven freedoms of positions and three of speeds. At 5 m/s the
eigenvalues are compared with those printed; at other speeds with those of the printed matrices of the linear equations
M q'' + v C1 q' + (g K0 + v^2 K2) q = 0 for lean and steer.

Source: Meijaard, Papadopoulos, Ruina, Schwab (2007), Linearized dynamics equations for the balance and steer of a
bicycle: a benchmark and review, Proc. R. Soc. A 463, tables 1 and 2 and section 4(a).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from bellcrank.model import System
from bellcrank.verify.cases import Quantity

WHEELBASE, TRAIL, TILT, G = 1.02, 0.08, math.pi / 10.0, 9.81
REAR, FRONT = 0.3, 0.35
"""Radii of the wheels [m]."""
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
SPEEDS = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)


def bicycle() -> System:
    """Riding along x, z up; the tables have z down."""
    system = System("bicycle", gravity=(0.0, 0.0, -G))
    frame = system.body("rear frame", mass=85.0, inertia=(9.2, 11.0, 2.8, 0.0, -2.4, 0.0), at=(0.3, 0.0, 0.9))
    fork = system.body(
        "front frame", mass=4.0, inertia=(0.05892, 0.06, 0.00708, 0.0, 0.00756, 0.0), at=(0.9, 0.0, 0.7)
    )
    rear = system.body("rear wheel", mass=2.0, inertia=(0.0603, 0.12, 0.0603), at=(0.0, 0.0, REAR))
    front = system.body("front wheel", mass=3.0, inertia=(0.1405, 0.28, 0.1405), at=(WHEELBASE, 0.0, FRONT))
    system.free("ride", system.ground, frame)
    system.revolute("rear axle", frame, rear, at=(0.0, 0.0, REAR), axis="y")
    steer = (-math.sin(TILT), 0.0, math.cos(TILT))
    system.revolute("head", frame, fork, at=(WHEELBASE + TRAIL, 0.0, 0.0), axis=steer)
    system.revolute("front axle", fork, front, at=(WHEELBASE, 0.0, FRONT), axis="y")
    system.rolling("rear contact", system.ground, rear, REAR, axis="y")
    system.rolling("front contact", system.ground, front, FRONT, axis="y")
    return system


def eigenvalues(speed: float) -> NDArray[np.complex128]:
    """The four of lean and steer [1/s]; those of place, heading and turning wheels are zero."""
    start = {
        "ride": {"velocity": (speed, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0)},
        "head": (0.0, 0.0),
        "rear axle": (0.0, speed / REAR),
    }
    found = bicycle().linearize(initial=start).eigenvalues
    return np.asarray(found[np.argsort(-np.abs(found))][:4])


def printed(speed: float) -> NDArray[np.complex128]:
    """Those of the printed matrices."""
    zero, one = np.zeros((2, 2)), np.eye(2)
    stiffness = G * K0 + speed**2 * K2
    first = np.block([[zero, one], [-stiffness, -speed * C1]])
    return np.asarray(eig(first, np.block([[one, zero], [zero, M]]), right=False))


def distance(found: NDArray[np.complex128], expected: NDArray[np.complex128]) -> float:
    """The largest difference of an expected one from the nearest found."""
    return float(max(np.abs(found - x).min() for x in expected))


def quantities() -> list[Quantity]:
    """Weave, capsize and castering at 5 m/s as printed; all four at other speeds; the freedoms."""
    mechanism = bicycle().mechanism()
    five = eigenvalues(5.0)
    weave = five[five.imag > 0.0][0]
    capsize, castering = sorted(five[np.abs(five.imag) < 1e-9].real, reverse=True)
    return [
        Quantity("degrees_of_freedom", mechanism.degrees_of_freedom, 3, 0.0),
        Quantity("position_freedoms", mechanism.position_freedoms, 7, 0.0),
        Quantity("weave_real_5", float(weave.real), -0.77534188219585, 1e-8, "1/s"),
        Quantity("weave_imag_5", float(weave.imag), 4.46486771378823, 1e-8, "1/s"),
        Quantity("capsize_5", float(capsize), -0.32286642900409, 1e-8, "1/s"),
        Quantity("castering_5", float(castering), -14.07838969279822, 1e-8, "1/s"),
        *(
            Quantity(f"difference_{v:g}", distance(eigenvalues(v), printed(v)), 0.0, 1e-8, "1/s")
            for v in SPEEDS
        ),
    ]
