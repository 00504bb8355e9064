"""Andrews' squeezer: seven bodies, three loops, one degree of freedom, in 30 milliseconds.

Source: Test Set for IVP Solvers (Bari), problem "Andrews' squeezing mechanism"; Schiehlen, Multibody Systems
Handbook (1990).
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import Body, System
from bellcrank.verify.cases import Quantity, Within

A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
D, DA, E, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
ZT, TA, TB, U, UA, UB, ZF, FA = 0.04, 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.01421
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
START = (
    *(-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885),
    *(0.487364979543842550, -0.222668390165885885, 1.23054744454982119),
)
"""beta, Theta, gamma, Phi, delta, Omega, epsilon [rad]."""

REFERENCE = {
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}
JOINTS = ("O", "F", "B", "E", "A delta", "H", "A epsilon")


def squeezer() -> System:
    """The mechanism in its start pose; every body's frame lies in its bearing, x along its angle."""
    beta, theta, gamma, phi, delta, omega, epsilon = START
    system = System("Andrews' squeezer", gravity=(0.0, 0.0, 0.0))

    def body(number: int, at: tuple[float, float], angle: float, center: tuple[float, float]) -> Body:
        inertia = INERTIAS[number - 1]
        return system.body(
            f"K{number}",
            mass=MASSES[number - 1],
            inertia=(inertia, inertia, inertia),
            center_of_mass=(*center, 0.0),
            at=(*at, 0.0),
            angle=angle,
        )

    F = (RR * math.cos(beta), RR * math.sin(beta))
    pin_4 = (A[0] + ZT * math.cos(delta), A[1] + ZT * math.sin(delta))
    pin_6 = (A[0] + U * math.sin(epsilon), A[1] - U * math.cos(epsilon))
    P = (F[0] - D * math.cos(beta + theta), F[1] - D * math.sin(beta + theta), 0.0)
    k1 = body(1, (0.0, 0.0), beta, (RA, 0.0))
    k2 = body(2, F, beta + theta, (-DA, 0.0))
    k3 = body(3, B, gamma, (SB, -SA))
    k4 = body(4, pin_4, phi + delta, (0.0, -(E - EA)))
    k5 = body(5, A, delta, (TA, TB))
    k6 = body(6, pin_6, omega + epsilon, (ZF - FA, 0.0))
    k7 = body(7, A, epsilon, (UA, -UB))
    ground = system.ground
    drive = system.revolute("O", ground, k1, at=(0.0, 0.0, 0.0))
    system.revolute("F", k1, k2, at=(*F, 0.0))
    system.revolute("B", ground, k3, at=(*B, 0.0))
    system.revolute("A delta", ground, k5, at=(*A, 0.0))
    system.revolute("E", k5, k4, at=(*pin_4, 0.0))
    system.revolute("A epsilon", ground, k7, at=(*A, 0.0))
    system.revolute("H", k7, k6, at=(*pin_6, 0.0))
    for number, other in ((3, k3), (4, k4), (6, k6)):
        system.revolute(f"P{number}", k2, other, at=P, cut=True)
    system.spring(
        "spring", ground.point(*C, 0.0), k3.point(SD, -SC, 0.0), stiffness=4530.0, free_length=0.07785
    )
    system.joint_force("motor", drive, lambda coordinate, rate, t: 0.033)
    return system


def quantities() -> list[Quantity]:
    """Angles and invariant at 0.03 s."""
    run = squeezer().simulate(0.03, tolerance=1e-13, integrator="dop853", output=2000)
    found = []
    for (name, reference), joint in zip(REFERENCE.items(), JOINTS, strict=True):
        value = float(run[f"{joint}.angle"][-1])
        found.append(Quantity(name, value, reference, 3e-9 * max(1.0, abs(reference)), "rad"))
    energy, beta = run["energy.total"], run["O.angle"]
    invariant = np.abs(energy - energy[0] - 0.033 * (beta - beta[0])).max() / float(energy[-1])
    found.append(Quantity("invariant", float(invariant), 0.0, 1e-9, "of the energy"))
    residual = float(run["constraints.position"].max())
    found.append(Quantity("position_residual", residual, 1e-10, 0.0, "m", Within.AT_MOST))
    return found
