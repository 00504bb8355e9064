"""Mechanisms whose answers are known in closed form."""

from __future__ import annotations

from bellcrank.model import System


def oscillator() -> System:
    """A mass on a spring and damper, let go 0.1 m off: x = 0.1 exp(-d t) (cos w t + d/w sin w t)."""
    system = System("oscillator", gravity=(0.0, 0.0, 0.0))
    mass = system.parameter("mass", 1.0, "kg")
    stiffness = system.parameter("stiffness", 100.0, "N/m")
    damping = system.parameter("damping", 0.5, "N s/m")
    block = system.body("block", mass=mass, at=(0.1, 0.0, 0.0))
    system.prismatic("rail", system.ground, block, at=(0.0, 0.0, 0.0), axis="x")
    system.applied_force(
        "spring", block.point(0.0, 0.0, 0.0),
        lambda position, velocity: (-stiffness * position[0] - damping * velocity[0], 0.0, 0.0),
    )  # fmt: skip
    return system


def cart() -> System:
    """A cart of 2 kg pushed by three forces: after 1 s at rest it has moved by (a + 2 b + 3 c) / 4 m."""
    system = System("cart", gravity=(0.0, 0.0, 0.0))
    a, b, c = (system.parameter(name, 1.0, "N") for name in "abc")
    body = system.body("cart", mass=2.0)
    system.prismatic("rail", system.ground, body, axis="x")
    system.joint_force("push", "rail", lambda coordinate: a + 2.0 * b + 3.0 * c + 0.0 * coordinate)
    return system


def runaway() -> System:
    """A cart that accelerates away where its gain is large: the run ends before its time."""
    system = System("runaway")
    gain = system.parameter("gain", 1.0)
    body = system.body("cart", mass=1.0, at=(1.0, 0.0, 0.0))
    system.prismatic("rail", system.ground, body, axis="x")
    system.joint_force("push", "rail", lambda coordinate: gain * (1.0 + coordinate) ** 3)
    return system
