"""Domino wave: its speed in a row of dominoes that topple without sliding and lean on each other without friction.

Dominoes of 48 x 24 x 7.5 mm, 20 mm apart, on a floor too rough to slip on; blows between them are plastic. The front
settles to a constant speed. In theory each domino turns about its front edge and touches the next one with its upper
edge, so that h sin(a - b) = (s + d) cos b - d for the angles a and b of neighbours, height h, thickness d and distance
s. The whole row behind the front has one degree of freedom: its energy is conserved from blow to blow, and a blow keeps
the momentum of that degree of freedom. By steps of 0.5 ms, with free bodies that collide.

Source: van Leeuwen (2010), "The domino effect", Am. J. Phys. 78, 721, arXiv physics/0401018, without friction between
dominoes.
"""

from __future__ import annotations

import math

from scipy.integrate import quad
from scipy.optimize import brentq

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

GRAVITY, HEIGHT, WIDTH, THICKNESS, DISTANCE = 9.81, 0.048, 0.024, 0.0075, 0.02
PITCH = DISTANCE + THICKNESS
COUNT, FIRST, LAST = 24, 12, 22
STEP, LEAN = 5e-4, 0.25
TOUCH = math.asin(DISTANCE / HEIGHT)
INERTIA = (HEIGHT**2 + THICKNESS**2) / 3.0
"""About the front edge, over the mass [m^2]."""


def behind(angle: float) -> tuple[float, float]:
    """Angle of the domino that leans on one at an angle [rad], and its slope."""
    rest = math.asin((PITCH * math.cos(angle) - THICKNESS) / HEIGHT)
    return angle + rest, 1.0 - PITCH * math.sin(angle) / (HEIGHT * math.cos(rest))


def row(angle: float, count: int) -> tuple[list[float], list[float]]:
    """Angles of so many dominoes from the front back, and their slopes by that of the front [rad]."""
    angles, slopes = [angle], [1.0]
    for _ in range(count - 1):
        following, slope = behind(angles[-1])
        angles.append(following)
        slopes.append(slopes[-1] * slope)
    return angles, slopes


def height(angle: float) -> float:
    """Of the centre of a domino on its front edge [m]."""
    return 0.5 * (HEIGHT * math.cos(angle) + THICKNESS * math.sin(angle))


def theory(count: int) -> list[float]:
    """How long each of so many dominoes is the front [s]."""
    energy, times = GRAVITY * height(LEAN), []
    for n in range(1, count + 1):

        def speed(angle: float, n: int = n, energy: float = energy) -> float:
            angles, slopes = row(angle, n)
            potential = GRAVITY * sum(height(a) for a in angles)
            inertia = INERTIA * sum(w * w for w in slopes)
            return math.sqrt(max(2.0 * (energy - potential) / inertia, 1e-300))

        begin = LEAN + 1e-9 if n == 1 else 0.0
        times.append(float(quad(lambda a, speed=speed: 1.0 / speed(a), begin, TOUCH, limit=200)[0]))
        before, (angles, slopes) = speed(TOUCH), row(0.0, n + 1)
        # At the blow the front and the next one turn alike: the slopes of the longer row are those of the old one.
        moving = sum(w * w for w in slopes[1:])
        after = before * moving / (moving + 1.0)
        energy = 0.5 * INERTIA * (moving + 1.0) * after**2 + GRAVITY * sum(height(a) for a in angles)
    return times


def measured() -> tuple[float, Result]:
    """The speed of the front by steps [m/s], and the run."""
    system = System("dominoes", gravity=(0.0, 0.0, -GRAVITY))
    half = (0.5 * THICKNESS, 0.5 * WIDTH, 0.5 * HEIGHT)
    x, y, z = (4.0 * v * v for v in half)
    for k in range(COUNT):
        lean = LEAN if k == 0 else 0.0
        c, s = math.cos(lean), math.sin(lean)
        # Its front edge is at k times the pitch.
        at = (PITCH * k - c * half[0] + s * half[2], 0.0, s * half[0] + c * half[2])
        body = system.body(
            f"domino {k}",
            mass=1.0,
            inertia=((y + z) / 12.0, (x + z) / 12.0, (x + y) / 12.0),
            at=at,
            rotation=[[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
        )
        system.free(f"flight {k}", system.ground, body)
        body.collides(body.box(*half))
    bodies = list(system.bodies.values())
    system.contacts_between(bodies, restitution=0.0, friction=0.0, name="leaning")
    system.contacts_between(bodies, system.ground.plane(), restitution=0.0, friction=3.0, name="floor")
    run = system.simulate(0.9, impacts="stepping", step=STEP, output=1)
    struck = {
        name: impact.time
        for impact in reversed(list(run.impacts))
        for name in (contact.contact for contact in impact.contacts)
    }
    first, last = (struck[f"leaning: domino {k} domino {k + 1}"] for k in (FIRST, LAST))
    return PITCH * (LAST - FIRST) / (last - first), run


def quantities() -> list[Quantity]:
    """The speed of the wave, and the angle at which fallen dominoes lean."""
    speed, run = measured()
    # The blow of domino k on the next one ends its time at the front, as number k + 1 from the first.
    expected = PITCH * (LAST - FIRST) / sum(theory(LAST + 1)[FIRST + 1 :])
    leaning = brentq(lambda a: behind(a)[0] - a, 1.0, 1.5)
    return [
        Quantity("wave_speed", speed, expected, 0.01, "m/s", Within.RELATIVE),
        Quantity("leaning_angle", leaning, math.acos(THICKNESS / PITCH), 1e-12, "rad"),
        Quantity("penetration", run.run.penetration, 1e-6, 0.0, "size", Within.AT_MOST),
    ]
