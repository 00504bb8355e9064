"""Friction in joints by their load: stick and slip of a block pulled by a spring, and a flywheel that comes to rest.

A block of mass m lies on its guide, which carries the load m g. A spring k pulls it, its far end moving at v. The block
sticks until the spring pulls with mu_s m g. Then, with D = (mu_s - mu_k) m g and w^2 = k / m, it slips along

    x = v t - (v / w) sin(w t) + (D / k) (1 - cos(w t))

until it stands, at tan(w t / 2) = -D w / (k v), and sticks until the spring pulls that much again. A flywheel on a
bearing of radius r that carries its weight stops after I W / (mu r m g), and stays.

Source: closed form for Coulomb's law with a jump from static to kinetic friction; Den Hartog (1956), Mechanical
Vibrations, section 7.5. Bristles tend to that jump as they get stiff and as the speed falls over which their friction
does. With s their stiffness over the load, the spring makes them creep at c = k v / (m g s), and they break away short
of mu_s by a share of (c / stribeck_speed)^(2/3); the slip begins late by a time that falls with stribeck_speed. Here
c / stribeck_speed is 8e-7.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.contact.friction import LuGre
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

MASS, STIFFNESS, PULL, G = 2.0, 300.0, 0.05, 9.81
STATIC, KINETIC = 0.3, 0.2
INERTIA, RADIUS, SPIN = 0.02, 0.01, 30.0
"""Of the flywheel [kg m^2], of its bearing [m], and its speed at the start [rad/s]."""


def block() -> System:
    """The block on its guide, and the driven end of the spring."""
    system = System("block", gravity=(0.0, 0.0, -G))
    body = system.body("block", mass=MASS, inertia=(0.01,) * 3)
    hook = system.body("hook", mass=1.0, inertia=(0.01,) * 3, at=(1.0, 0.0, 0.0))
    system.prismatic("guide", system.ground, body, axis="x")
    system.prismatic("rail", system.ground, hook, axis="x")
    system.driver("rail", lambda t: PULL * t + 0.0)
    system.spring("spring", body, hook, STIFFNESS, 0.0, free_length=1.0)
    law = LuGre(KINETIC, STATIC, stiffness=1e12, damping=10.0, stribeck_speed=1e-6)
    system.joint_friction("rub", "guide", law)
    return system


def flywheel() -> Result:
    """On a horizontal axis, until after it stands."""
    system = System("flywheel", gravity=(0.0, 0.0, -G))
    wheel = system.body("wheel", mass=MASS, inertia=(INERTIA,) * 3)
    system.revolute("bearing", system.ground, wheel, at=(0.0, 0.0, 0.0), axis="y")
    system.joint_friction("rub", "bearing", KINETIC, radius=RADIUS)
    rest = INERTIA * SPIN / (KINETIC * RADIUS * MASS * G)
    return system.simulate(1.2 * rest, initial={"bearing": (0.0, SPIN)}, tolerance=1e-9, output=1200)


def quantities() -> list[Quantity]:
    """Force at which the block breaks away, period, way of one slip; time after which the flywheel stands."""
    load = MASS * G
    w, drop = math.sqrt(STIFFNESS / MASS), (STATIC - KINETIC) * load
    slipping = (2.0 * math.pi - 2.0 * math.atan(drop * w / (STIFFNESS * PULL))) / w
    way = (
        PULL * slipping
        - PULL / w * math.sin(w * slipping)
        + drop / STIFFNESS * (1.0 - math.cos(w * slipping))
    )
    # While it sticks the spring must catch up with what the block went ahead of its far end.
    period = way / PULL
    first = STATIC * load / (STIFFNESS * PULL)
    run = block().simulate(first + 2.5 * period, tolerance=1e-10, output=8000)
    t, speed = run.time, np.asarray(run["guide.displacement_rate"])
    held = -np.asarray(run["rub.effort"])
    moving = speed > 0.5 * PULL
    k = np.flatnonzero(moving[1:] & ~moving[:-1])
    begins = t[k] + (t[k + 1] - t[k]) * (0.5 * PULL - speed[k]) / (speed[k + 1] - speed[k])
    here = np.asarray(run["guide.displacement"])
    stands = [float(here[np.searchsorted(t, b + slipping + 0.1 * (period - slipping))]) for b in begins[:2]]
    wheel = flywheel()
    rest = INERTIA * SPIN / (KINETIC * RADIUS * load)
    turning = np.asarray(wheel["bearing.angle_rate"])
    half = int(np.searchsorted(wheel.time, 0.5 * rest))
    # From the slope while it slips: where the line of its speed meets zero.
    stop = float(wheel.time[half] + turning[half] * (wheel.time[half] / (SPIN - turning[half])))
    return [
        Quantity("load", float(np.asarray(run["rub.load"]).mean()), load, 1e-9, "N", Within.RELATIVE),
        Quantity("breakaway", float(held[: np.searchsorted(t, begins[0])].max()), STATIC * load, 5e-4, "N",
                 Within.RELATIVE),
        Quantity("period", float(begins[1] - begins[0]), period, 5e-4, "s", Within.RELATIVE),
        Quantity("way_of_a_slip", stands[1] - stands[0], way, 5e-4, "m", Within.RELATIVE),
        Quantity("creep_while_stuck", float(np.abs(here[t < 0.5 * first]).max()), 0.0, 1e-9, "m"),
        Quantity("flywheel_stops", stop, rest, 1e-3, "s", Within.RELATIVE),
        Quantity("flywheel_stays", float(np.ptp(np.asarray(wheel["bearing.angle"])[-100:])), 0.0, 1e-5, "rad"),
    ]  # fmt: skip
