"""Rods in fast rotation: the spin-up of a cantilever, and a flexible rod thrown into free flight.

Spin-up: the root turns by w_s / T (t^2 / 2 + (T / 2 pi)^2 (cos(2 pi t / T) - 1)) until T = 15 s; the tip lags behind
and comes back. Flight: a rod of 10 m, EI = 500 N m^2, EA = GA = 10 kN, 1 kg/m and 10 kg m of rotary inertia is pushed
at one end by a force of 8 N and a moment of -80 N m for 2.5 s, and flies on, turning and bending to and fro. Its centre
follows from the impulse alone; after the push its energy stays.

Source: Simo, Vu-Quoc, J. Appl. Mech. 53 (1986) 855 (both examples; curves in the print). The largest lag is that of a
fully nonlinear inextensible beam as a chain of links, extrapolated (see `spin-up`).
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.fe.material import Material
from bellcrank.flexible import Section, rod
from bellcrank.model import System
from bellcrank.program.functions import cos, where
from bellcrank.verify.cases import Quantity, Within
from bellcrank.verify.spin_up import KANE, SPIN_UP

LENGTH, PUSH, MOMENT, RELEASE = 10.0, 8.0, -80.0, 2.5


def largest_lag(coordinates: int) -> float:
    """Of the tip behind the turning root [m], negative."""
    section = Section(KANE.area, KANE.second_moment, KANE.second_moment)
    material = Material(KANE.young, density=KANE.density)
    member = rod("blade", KANE.length, section, material, bending=(0, coordinates), torsion=0)
    system = System("spin-up", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("blade", member)
    root = system.revolute("root", system.ground, body.node("start"), axis="z")
    rate, period = KANE.speed / SPIN_UP, SPIN_UP / (2.0 * math.pi)
    system.driver(root, lambda t: rate * (0.5 * t * t + period**2 * (cos(t / period) - 1.0)), name="motor")
    run = system.simulate(SPIN_UP, tolerance=1e-9, output=601)
    return float(member.position("end", run["blade.modes"].to_numpy())[:, 1].min())


def thrown() -> System:
    """The rod before its flight; it leans from (6, 0) to (0, 8)."""
    stiffness = np.diag([500.0, 500.0, 500.0, 1e4, 1e4, 1e4])
    mass = np.diag([20.0, 10.0, 10.0, 1.0, 1.0, 1.0])
    member = rod(
        "rod", LENGTH, stiffness=stiffness, mass=mass, bending=(0, 6), torsion=0, stretch=4, shear=(4, 0)
    )
    system = System("flight", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("rod", member, at=(6.0, 0.0, 0.0), angle=math.atan2(8.0, -6.0))
    system.planar("plane", system.ground, body.node("start"), axis="z")
    system.applied_force("push", body.node("start"), lambda t: (where(t < RELEASE, PUSH, 0.0), 0.0, 0.0))
    system.applied_torque("twist", body.node("start"), lambda t: (0.0, 0.0, where(t < RELEASE, MOMENT, 0.0)))
    return system


def flight() -> tuple[float, float, float]:
    """Path of the centre along x until 10 s [m], drift of the energy over it after the push, and its largest bending.

    The bending is the angle between the ends [rad].
    """
    system = thrown()
    run = system.simulate(10.0, tolerance=1e-12, output=np.linspace(0.0, 10.0, 401))
    energy, time = run["energy.total"].to_numpy(), np.asarray(run.time)
    free = energy[time > RELEASE + 0.01]
    centre = run["rod.center_position.x"].to_numpy()
    angle = LENGTH * run["rod.modes.bending_z 1"].to_numpy()
    return float(centre[-1] - centre[0]), float(np.ptp(free) / free[-1]), float(np.abs(angle).max())


def quantities() -> list[Quantity]:
    """Lag in the spin-up; invariants of the flight."""
    path, drift, bent = flight()
    # The push gives 8 N / 10 kg for 2.5 s, and the centre goes on at 2 m/s for 7.5 s.
    exact = 0.5 * PUSH / LENGTH * RELEASE**2 + PUSH / LENGTH * RELEASE * 7.5
    return [
        Quantity("largest_lag", largest_lag(5), KANE.largest, 1e-4, "m", Within.RELATIVE),
        Quantity("flight_of_centre", path, exact, 1e-9, "m"),
        Quantity("flight_energy_drift", drift, 0.0, 1e-9, "", Within.AT_MOST),
        Quantity("flight_largest_bending", bent, 0.0, 0.0, "rad", Within.REPORTED),
    ]
