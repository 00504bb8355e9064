"""Small plane linkages drawn by their pins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.model import Body, System

Pin = Sequence[float]


def bar(system: System, name: str, start: Pin, end: Pin, mass: float = 1.0) -> Body:
    """A slender bar between two pins; its own x axis runs along it."""
    along = np.subtract(end, start)
    length = float(np.linalg.norm(along))
    moment = mass * length**2 / 12.0
    angle = float(np.arctan2(along[1], along[0]))
    return system.body(
        name, mass, (moment, moment, moment), (length / 2, 0.0, 0.0), at=(*start, 0.0), angle=angle
    )


def four_bar(A: Pin = (0, 0), B: Pin = (0, 1), C: Pin = (2, 1.5), D: Pin = (2, 0)) -> System:
    """Crank A B, coupler B C, rocker D C on spatial hinges."""
    system = System("four-bar", gravity=(0.0, -9.81, 0.0), zero="axes")
    for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        bar(system, name, start, end)
    for name, a, b, at in (
        ("main", "ground", "crank", A),
        ("knee", "crank", "coupler", B),
        ("elbow", "coupler", "rocker", C),
        ("foot", "ground", "rocker", D),
    ):
        system.revolute(name, a, b, at=(*at, 0.0))
    return system


def four_bar_of_lengths(crank: float, coupler: float, rocker: float, base: float) -> System:
    """The same by lengths, every bar drawn along x from its first pin: nothing closes in the drawing."""
    system = System("straight", gravity=(0.0, -9.81, 0.0), zero="axes")
    bodies = {
        "crank": bar(system, "crank", (0, 0), (crank, 0)),
        "coupler": bar(system, "coupler", (crank, 0), (crank + coupler, 0)),
        "rocker": bar(system, "rocker", (base, 0), (base + rocker, 0)),
    }
    system.revolute("main", "ground", "crank", at=(0, 0, 0))
    system.revolute("knee", "crank", "coupler", at=(crank, 0, 0))
    system.revolute("elbow", bodies["coupler"].point(coupler, 0, 0), bodies["rocker"].point(rocker, 0, 0))
    system.revolute("foot", "ground", "rocker", at=(base, 0, 0))
    return system


def truss() -> System:
    """Two bars on the ground that meet: a triangle."""
    system = System("truss", zero="axes")
    bar(system, "left", (0, 0), (1, 1))
    bar(system, "right", (2, 0), (1, 1))
    system.revolute("left foot", "ground", "left", at=(0, 0, 0))
    system.revolute("right foot", "ground", "right", at=(2, 0, 0))
    system.revolute("ridge", "left", "right", at=(1, 1, 0))
    return system


def engine(angle: float, crank: float = 0.3, rod: float = 1.0) -> System:
    """A slider-crank with the crank at this angle."""
    system = System("engine", zero="axes")
    pin = crank * np.array([np.cos(angle), np.sin(angle), 0.0])
    slope = -np.arcsin(pin[1] / rod)
    end = pin[0] + rod * np.cos(slope)
    system.body("crank", 1.0, (0.1, 0.1, 0.1), angle=angle)
    system.body("rod", 0.7, (0.1, 0.1, 0.1), (rod / 2, 0, 0), at=pin, angle=slope)
    system.body("piston", 0.5, (0.1, 0.1, 0.1), at=(end, 0, 0))
    system.revolute("main", "ground", "crank", at=(0, 0, 0))
    system.revolute("big end", "crank", "rod", at=pin)
    system.revolute("small end", "rod", "piston", at=(end, 0, 0), cut=True)
    system.prismatic("guide", "ground", "piston", axis="x")
    return system
