"""Slider-crank with a flexible rod: deflection of the rod's middle over one turn at 1200 rpm.

Rigid crank 15.24 cm, steel rod 30.48 cm of 6.4 mm diameter as finite element beam, massless slider; started
undeformed in the extended position with the velocities of the rigid mechanism. The deflection is the distance
of the material middle from the chord between the pins over the rod's length. b1: one bending mode; a1: one
axial mode; stiffened: five bending modes with geometric stiffening.

Source: Ahn, Lee (1994), the example; peaks from independent solutions (a floating frame in minimal coordinates,
two fully nonlinear beam codes that agree to 2e-6), the paper itself prints only curves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.flexible import Chord, Material, Member, NormalModes, beam, circle
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

CRANK, ROD, DIAMETER = 0.1524, 0.3048, 0.0064
STEEL = Material(young=200e9, density=7830.0, poisson=0.3)
SPEED = 40.0 * math.pi
TURN = 0.05
FINE = 40


def rod(
    elements: int, bending: int = 1, axial: int = 0, mass: str = "consistent", stiffening: bool = False
) -> Member:
    """The rod between its pins, planar."""
    model = beam(
        "rod", ROD, circle(DIAMETER), STEEL, elements, planar=True, mass=mass, points={"middle": 0.5 * ROD}
    )
    kinds = {"y": bending, "x": axial} if axial else {"y": bending}
    return model.reduce(NormalModes(along=kinds), Chord("start", "end"), stiffening=stiffening)


def mechanism(member: Member) -> System:
    """The driven slider-crank, extended."""
    system = System("flexible slider-crank", gravity=(0.0, 0.0, 0.0))
    crank = system.body("crank", mass=0.0)
    flexible = system.flexible_body("rod", member, at=(CRANK, 0.0, 0.0))
    slider = system.body("slider", mass=0.0, at=(CRANK + ROD, 0.0, 0.0))
    main = system.revolute("main bearing", system.ground, crank, at=(0.0, 0.0, 0.0))
    system.revolute("crank pin", crank.point(CRANK, 0.0, 0.0), flexible.node("start"), axis="z")
    system.revolute("wrist pin", flexible.node("end"), slider.point(0.0, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x")
    system.driver(main, lambda t: SPEED * t, name="motor")
    return system


def deflection(run: Result) -> NDArray[np.float64]:
    """Distance of the rod's middle from the chord over the length, positive to the left of pin to slider."""
    start, end, middle = (
        s.to_numpy() for s in run.compute([f"rod.{n}.position" for n in ("start", "end", "middle")])
    )
    chord, arm = end - start, middle - start
    across = chord[:, 0] * arm[:, 1] - chord[:, 1] * arm[:, 0]
    return np.asarray(across / np.linalg.norm(chord, axis=1) / ROD)


@dataclass(frozen=True)
class Peak:
    """Largest deflection, its time [s], and the largest closure errors [m], [m/s] of a turn."""

    ratio: float
    time: float
    position_residual: float
    velocity_residual: float


def peak(member: Member) -> Peak:
    """Of one turn; the top of the parabola through the three highest outputs."""
    run = mechanism(member).simulate(TURN, tolerance=1e-10, output=2000)
    ratio = np.abs(deflection(run))
    k = int(np.argmax(ratio))
    a, b, c = ratio[k - 1 : k + 2]
    shift = 0.5 * (a - c) / (a - 2.0 * b + c)
    return Peak(
        float(b - 0.25 * (a - c) * shift),
        float(run.time[k] + shift * (run.time[k] - run.time[k - 1])),
        float(run["constraints.position"].max()),
        float(run["constraints.velocity"].max()),
    )


def quantities() -> list[Quantity]:
    """Peaks, frequencies and closure."""
    one, both = rod(FINE), rod(FINE, axial=1)
    linear, with_axial = peak(one), peak(both)
    stiffened = peak(rod(10, bending=5, stiffening=True))
    lumped = {n: peak(rod(n, axial=1, mass="lumped")) for n in (2, 4, 10)}
    every = [linear, with_axial, stiffened, *lumped.values()]
    relative, at_most = Within.RELATIVE, Within.AT_MOST
    return [
        Quantity("peak_ratio_linear_b1", linear.ratio, 0.010941, 1e-3, "", relative),
        Quantity("peak_ratio_linear_b1_a1", with_axial.ratio, 0.010938, 3e-3, "", relative),
        Quantity("peak_time_linear", linear.time, 5.72e-3, 1e-5, "s"),
        Quantity("peak_ratio_stiffened", stiffened.ratio, 0.01014, 1e-2, "", relative),
        Quantity("peak_ratio_lumped_2", lumped[2].ratio, 0.008760, 3e-3, "", relative),
        Quantity("peak_ratio_lumped_4", lumped[4].ratio, 0.010377, 3e-3, "", relative),
        Quantity("peak_ratio_lumped_10", lumped[10].ratio, 0.010847, 3e-3, "", relative),
        Quantity("first_bending_frequency", float(both.frequencies[0]), 136.724, 1e-4, "Hz", relative),
        Quantity("axial_frequency", float(both.frequencies[1]), 4145.33, 1e-4, "Hz", relative),
        Quantity("position_residual", max(p.position_residual for p in every), 1e-10, 0.0, "m", at_most),
        Quantity("velocity_residual", max(p.velocity_residual for p in every), 1e-8, 0.0, "m/s", at_most),
    ]
