"""Flexible members and mechanisms for the tests."""

from __future__ import annotations

import math

import numpy as np

import bellcrank as bc
from bellcrank.flexible import (
    Chord,
    Clamped,
    Material,
    MeanAxes,
    Member,
    MemberFrame,
    NormalModes,
    beam,
    rectangle,
)

LENGTH = 1.0
ALLOY = Material(young=7e10, density=2700.0, poisson=0.3)
FRAMES: dict[str, MemberFrame] = {
    "chord": Chord("start", "end"),
    "clamped": Clamped("start"),
    "mean axes": MeanAxes(),
}


def rod(
    frame: str = "chord",
    modes: int = 4,
    stiffening: bool = True,
    elements: int = 6,
    young: float = ALLOY.young,
    planar: bool = False,
    length: float = LENGTH,
) -> Member:
    """A slender bar that is not the same in y and z, with a node in the middle."""
    model = beam(
        "rod",
        length,
        rectangle(0.02 * length, 0.03 * length),
        Material(young, density=ALLOY.density, poisson=0.3),
        elements,
        planar=planar,
        points={"middle": 0.5 * length},
        theory="timoshenko",
        check_units=False,
    )
    return model.reduce(NormalModes(modes), FRAMES[frame], stiffening=stiffening)


def slider_crank(member: Member, cut: str = "guide", gravity: float = 9.81) -> bc.System:
    """Crank, flexible rod and slider, drawn with the crank at 40 degrees, one joint cut."""
    system = bc.System("slider-crank", gravity=(0.0, -gravity, 0.0))
    angle, r = math.radians(40.0), 0.4
    pin = np.array([r * math.cos(angle), r * math.sin(angle), 0.0])
    lean = -math.asin(pin[1] / LENGTH)
    end = np.array([pin[0] + LENGTH * math.cos(lean), 0.0, 0.0])
    crank = system.body("crank", mass=1.0, inertia=(0.02, 0.02, 0.02), angle=angle)
    body = system.flexible_body("rod", member, at=pin, angle=lean)
    slider = system.body("slider", mass=0.5, inertia=(0.01, 0.01, 0.01), at=end)
    system.revolute(
        "main", system.ground.point(0, 0, 0), crank.point(0, 0, 0), axis="z", cut=cut == "main" or None
    )
    system.revolute("pin", crank.point(r, 0, 0), body.node("start"), axis="z", cut=cut == "pin" or None)
    system.revolute("wrist", body.node("end"), slider.point(0, 0, 0), axis="z", cut=cut == "wrist" or None)
    system.prismatic("guide", system.ground, slider, axis="x", at=end, cut=cut == "guide" or None)
    return system
