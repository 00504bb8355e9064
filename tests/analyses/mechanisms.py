"""Mechanisms with closed-form answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.model import System

g = 9.81


def pendulum(length: float = 1.3, mass: float = 2.0, damping: float = 0.0) -> System:
    """A point mass on a massless rod, both parameters; angle from hanging."""
    system = System("pendulum", gravity=(0, -g, 0), zero="axes")
    rod = system.parameter("length", length, "m")
    m = system.parameter("mass", mass, "kg")
    bob = system.body("bob", mass=m, center_of_mass=(0, -rod, 0))
    system.revolute("pin", system.ground, bob, at=(0, 0, 0), axis="z")
    if damping:
        system.torsion_spring("friction", "pin", damping=damping)
    return system


def double_pendulum() -> System:
    """Two equal point masses on equal rods of 1 m."""
    system = System("double pendulum", gravity=(0, -g, 0), zero="axes")
    upper = system.body("upper", mass=1.0, at=(0, -1, 0))
    lower = system.body("lower", mass=1.0, at=(0, -2, 0))
    system.revolute("pin", system.ground, upper, at=(0, 0, 0), axis="z")
    system.revolute("elbow", upper, lower, at=(0, -1, 0), axis="z")
    return system


def cart_pole(cart: float = 1.5, mass: float = 0.3, length: float = 0.6) -> System:
    """A cart pushed by the parameter "push", a point mass on a rod standing up."""
    system = System("cart pole", gravity=(0, -g, 0), zero="axes")
    push = system.parameter("push", 0.0, "N")
    body = system.body("cart", mass=cart)
    pole = system.body("pole", mass=mass, at=(0, length, 0))
    system.prismatic("rail", system.ground, body, axis="x")
    system.revolute("hinge", body, pole, at=(0, 0, 0), axis="z")
    system.joint_force("motor", "rail", lambda coordinate, rate, t: push)
    return system


def hanging_chain(links: int, span: float, length: float, mass: float = 1.0) -> System:
    """Equal links between two pins at the same height, drawn as a half circle of chords below them."""
    system = System("chain", gravity=(0, -g, 0), zero="axes")
    side = length / links
    # Chords of a circular arc with the given span: the angle between links follows by bisection.
    low, high = 1e-9, 2 * math.pi / links
    for _ in range(200):
        turn = 0.5 * (low + high)
        reach = sum(side * math.cos((k - (links - 1) / 2) * turn) for k in range(links))
        low, high = (turn, high) if reach > span else (low, turn)
    x, y = 0.0, 0.0
    before: Any = system.ground
    for k in range(links):
        angle = (k - (links - 1) / 2) * turn
        dx, dy = side * math.cos(angle), side * math.sin(angle)
        link = system.body(
            f"link {k}",
            mass=mass / links,
            inertia=(0, mass / links * side**2 / 12, mass / links * side**2 / 12),
            at=(x + dx / 2, y + dy / 2, 0),
            angle=angle,
        )
        system.revolute(f"pin {k}", before, link, at=(x, y, 0), axis="z")
        x, y, before = x + dx, y + dy, link
    system.revolute("last pin", before, system.ground, at=(span, 0, 0), axis="z", cut=True)
    return system


def governor(length: float = 0.3, ball: float = 1.0, speed: float = 8.0) -> System:
    """Two balls on hinged arms on a spindle turned at a given speed (parameter)."""
    system = System("governor", gravity=(0, 0, -g), zero="axes")
    omega = system.parameter("speed", speed, "rad/s")
    spindle = system.body("spindle", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    system.revolute("bearing", system.ground, spindle, at=(0, 0, 0), axis="z")
    system.driver("bearing", lambda t: omega * t, name="drive")
    for side, sign in (("left", -1.0), ("right", 1.0)):
        arm = system.body(f"{side} arm", mass=ball, at=(0, 0, -length))
        # Turning about -y or y lifts both balls outwards.
        system.revolute(f"{side} hinge", spindle, arm, at=(0, 0, 0), axis=(0, -sign, 0))
    return system


def four_bar(
    ground: float, crank: float, coupler: float, rocker: float, drive: Callable[..., Any] | None = None
) -> System:
    """A four-bar linkage drawn with the crank at 60 degrees, coupler above the ground link."""
    system = System("four-bar", gravity=(0, -g, 0), zero="axes")
    angle = math.radians(60.0)
    a = np.array([crank * math.cos(angle), crank * math.sin(angle), 0.0])
    d = np.array([ground, 0.0, 0.0])
    reach = d - a
    size = float(np.linalg.norm(reach))
    along = (coupler**2 - rocker**2 + size**2) / (2 * size)
    across = math.sqrt(coupler**2 - along**2)
    unit = reach / size
    b = a + along * unit + across * np.array([-unit[1], unit[0], 0.0])

    def bar(name: str, p: np.ndarray, q: np.ndarray) -> Any:
        line = q - p
        return system.body(
            name,
            mass=1.0,
            inertia=(0.01, 0.01, 0.02),
            at=(p + q) / 2,
            angle=math.atan2(line[1], line[0]),
        )

    bars = [bar("crank", 0 * a, a), bar("coupler", a, b), bar("rocker", d, b)]
    system.revolute("A", system.ground, bars[0].point(-crank / 2, 0, 0), axis="z")
    system.revolute("B", bars[0], bars[1], at=a, axis="z")
    system.revolute("D", system.ground, bars[2].point(-rocker / 2, 0, 0), axis="z")
    system.revolute("C", bars[1], bars[2], at=b, axis="z", cut=True)
    if drive is not None:
        system.driver("A", drive, name="motor")
    return system


def slider_crank(
    crank: float = 0.1,
    rod: float = 0.35,
    slider: float = 2.0,
    drive: Callable[..., Any] | None = None,
    inertia: float = 0.0,
) -> System:
    """A massless rod moving a heavy slider, by a crank with or without inertia, drawn at 40 degrees."""
    system = System("slider-crank", gravity=(0, 0, 0), zero="axes")
    angle = math.radians(40.0)
    pin = np.array([crank * math.cos(angle), crank * math.sin(angle), 0.0])
    lean = -math.asin(pin[1] / rod)
    wrist = pin + rod * np.array([math.cos(lean), math.sin(lean), 0.0])
    r = system.parameter("radius", crank, "m")
    a = system.body("crank", mass=1.0 if inertia else 0.0, inertia=(inertia,) * 3, angle=angle)
    b = system.body("rod", mass=0.0, at=pin, angle=lean)
    c = system.body("slider", mass=slider, at=wrist)
    system.revolute("main", system.ground, a, at=(0, 0, 0), axis="z")
    system.revolute("pin", a.point(r, 0, 0), b.point(0, 0, 0), axis="z")
    system.revolute("wrist", b, c, at=wrist, axis="z")
    system.prismatic("guide", system.ground, c, axis="x", cut=True)
    if drive is not None:
        system.driver("main", drive, name="motor")
    return system
