"""Simeon's elastic slider-crank of the IVP test set: angle, stroke and elastic coordinates after 0.1 s.

Two sines across and two quadratics along the rod, linear elasticity, no damping, crank at 150 rad/s. The
test set's mass matrix of the axial coordinates, rho b h l (8 1; 1 2), lacks the factor 1/15 of the integrals of
its own shape functions; the published numbers belong to that matrix, so it is put into the member here. With
the integrals themselves the stroke differs by 4e-7 of itself (reported).

Source: Simeon, Math. Modelling of Systems 2 (1996) 1; Test Set for IVP Solvers (Bari), problem "slider crank",
reference solution by MEBDFI at tolerance 1e-14; there pi is 3.1415927 (taken over in the bending stiffness, where it
shows) and x3 starts 2e-10 m off its constraint.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bellcrank.flexible import Material, Member, assumed_shapes, polynomial, rectangle, sine
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

CRANK, ROD, SIDE, SPEED = 0.15, 0.30, 0.008, 150.0
PI = 3.1415927
SLIDER_MASS, CRANK_INERTIA = 0.075552, 0.002727
START = {
    "mode 1": (0.0, 0.444896105),
    "mode 2": (0.0, 0.463434311e-2),
    "mode 3": (0.103339863e-4, -0.178591076e-5),
    "mode 4": (0.169327969e-4, -0.268938672e-5),
}
REFERENCE = {
    "phi2": -0.3311734988256260,
    "x3": 0.1697373328427860,
    "q1": 0.1893192899613509e-3,
    "q2": 0.2375751249879174e-4,
    "q3": -0.5323896770569702e-5,
    "q4": -0.8363313279112129e-5,
    "phi2_rate": 60.25346755138369,
    "x3_rate": -8.753116326670527,
    "q1_rate": -0.3005541400289738e-1,
    "q2_rate": -0.5500431812571696e-2,
    "guide_force": 62.32935833287916,
    "drive_torque": -25.29857947066878,
}


def rod(published_mass: bool = True) -> Member:
    """The rod of the test set, with its axial mass matrix or with the integrals of its shapes."""
    shapes = [
        sine("y", 1, ROD),
        sine("y", 2, ROD),
        polynomial("x", (0.0, 4.0, -4.0), ROD),
        polynomial("x", (0.0, -1.0, 2.0), ROD),
    ]
    member = assumed_shapes(
        "rod",
        ROD,
        rectangle(SIDE, SIDE),
        Material(2e11, density=7870.0, poisson=0.3),
        shapes,
        stiffening=False,
    )
    if not published_mass:
        return member
    coupling, stiffness = np.array(member.modal_coupling), np.array(member.stiffness)
    coupling[2:, 2:] *= 15.0
    stiffness[:2, :2] *= (PI / math.pi) ** 4
    return replace(member, modal_coupling=coupling, stiffness=stiffness)


def mechanism(member: Member) -> System:
    """Crank, rod and slider, extended."""
    system = System("Simeon's slider-crank", gravity=(0.0, 0.0, 0.0))
    J = CRANK_INERTIA
    crank = system.body("crank", mass=0.0, inertia=(J, J, J))
    flexible = system.flexible_body("rod", member, at=(CRANK, 0.0, 0.0))
    slider = system.body("slider", mass=SLIDER_MASS, at=(CRANK + ROD, 0.0, 0.0))
    main = system.revolute("main bearing", system.ground, crank, at=(0.0, 0.0, 0.0))
    system.revolute("crank pin", crank.point(CRANK, 0.0, 0.0), flexible.node("start"), axis="z")
    system.revolute("wrist pin", flexible.node("end"), slider.point(0.0, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x")
    system.driver(main, lambda t: SPEED * t, name="motor")
    return system


def after(member: Member) -> dict[str, float]:
    """What the test set prints, 0.1 s after its start."""
    run: Result = mechanism(member).simulate(
        0.1, initial={"rod": START}, tolerance=1e-12, integrator="dop853", output=2
    )
    start, end = (run[f"rod.{node}.position"].to_numpy()[-1] for node in ("start", "end"))
    eta, rate = (run[f"rod.{what}"].to_numpy()[-1] for what in ("modes", "modes_rate"))
    arm = end - start
    return {
        "phi2": float(np.arctan2(arm[1], arm[0])),
        "x3": float(run["slider.position.x"][-1]),
        **{f"q{k + 1}": float(eta[k]) for k in range(4)},
        "phi2_rate": float(run["rod.angular_velocity.z"][-1]),
        "x3_rate": float(run["slider.velocity.x"][-1]),
        **{f"q{k + 1}_rate": float(rate[k]) for k in range(2)},
        "guide_force": float(run["guide.force.y"][-1]),
        "drive_torque": float(run["motor.effort"][-1]),
    }


def quantities() -> list[Quantity]:
    """Against the reference solution; the stroke with the integrals of the shapes beside it."""
    found = after(rod())
    rows = [Quantity(name, found[name], REFERENCE[name], 1e-6, "", Within.RELATIVE) for name in REFERENCE]
    own = after(rod(published_mass=False))["x3"]
    rows.append(
        Quantity("x3_with_the_integrals_of_the_shapes", own, REFERENCE["x3"], 0.0, "m", Within.REPORTED)
    )
    return rows
