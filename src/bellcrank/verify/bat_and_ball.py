"""Ball against a bat: speeds after a central impact with restitution 0.7, for every law.

A bat of 1 kg, a solid of revolution with a logistic profile (not convex), is met by a ball of 1 kg at 1 m/s along the
normal through its centre of mass; no friction. The calibrated law delivers what is asked, also on a bat of about 3080
samples; the others do not.

Source: Park, Shin, Sohn, Yoo (2003), section 3.3, equations (13) and (14): 0.15 and 0.85 m/s; the profile is
reconstructed. What equation (10) delivers: a (1 + e) = ln((1 + a) / (1 - a e)).
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.model import System
from bellcrank.program.trace import Scalar, function
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

LENGTH, THIN, THICK, MIDDLE, WIDTH = 0.84, 0.0125, 0.033, 0.42, 0.06
CENTRE, ACROSS, ALONG = 0.574255629752379, 0.03761393747020987, 0.00042851346796626507
BALL, GAP = 0.0365, 1e-3


def profile(z: Scalar) -> Scalar:
    """Radius [m] at a distance from the knob [m]."""
    return THIN + (THICK - THIN) / (1.0 + function("exp", -(z - MIDDLE) / WIDTH))


def central_normal() -> tuple[float, float, float]:
    """z and radius of the point whose normal runs through the centre of mass, and the slope there."""
    z = CENTRE
    for _ in range(50):
        r = float(profile(z))
        share = (r - THIN) / (THICK - THIN)
        slope = (THICK - THIN) * share * (1.0 - share) / WIDTH
        z = CENTRE - r * slope
    return z, r, slope


def sampled_bat(number: int = 3080) -> Sampled:
    """The side of the bat as about so many points in rings, turned against each other."""
    fine = np.linspace(0.0, LENGTH, 4001)
    radius = np.array([float(profile(float(z))) for z in fine])
    spacing = math.sqrt(2.0 * math.pi * float(radius.mean()) * LENGTH / number)
    points = []
    for k, z in enumerate(np.linspace(0.0, LENGTH, round(LENGTH / spacing) + 1)):
        r = float(profile(float(z)))
        count = round(2.0 * math.pi * r / spacing)
        turn = 2.0 * np.pi * (np.arange(count) + 0.5 * (k % 2)) / count
        points.append(np.stack([r * np.cos(turn), r * np.sin(turn), np.full(count, z)], axis=1))
    rows = np.vstack(points)
    return Sampled(rows, rows * [1.0, 1.0, 0.0])


def bat_and_ball(
    law: str = "calibrated", restitution: float = 0.7, stiffness: float = 1e7, sampled: bool = False
) -> System:
    """The bat along z, and the ball a little off its side on the central normal."""
    system = System("bat and ball", gravity=(0.0, 0.0, 0.0))
    bat = system.body("bat", mass=1.0, inertia=(ACROSS, ACROSS, ALONG), at=(0.0, 0.0, 0.0))
    z, r, slope = central_normal()
    n = np.array([-1.0, 0.0, -slope]) / math.hypot(1.0, slope)
    at = np.array([-r, 0.0, z - CENTRE]) + (BALL + GAP) * n
    inertia = 0.4 * BALL**2
    ball = system.body("ball", mass=1.0, inertia=(inertia,) * 3, at=tuple(at))
    system.free("bat flight", system.ground, bat)
    system.free("ball flight", system.ground, ball)
    system.contact(
        "hit",
        bat.shape(sampled_bat() if sampled else Revolution(profile, LENGTH), at=(0.0, 0.0, -CENTRE)),
        ball.sphere(BALL),
        restitution=restitution,
        law=law,
        treatment="continuous",
        stiffness=stiffness,
    )
    return system


def run(law: str = "calibrated", restitution: float = 0.7, sampled: bool = False) -> Result:
    """The whole impact, the ball at 1 m/s along the normal."""
    _, _, slope = central_normal()
    n = np.array([-1.0, 0.0, -slope]) / math.hypot(1.0, slope)
    return bat_and_ball(law, restitution, sampled=sampled).simulate(
        0.02,
        initial={"ball flight": {"velocity": tuple(-n)}},
        tolerance=1e-10,
        integrator="dop853",
        output=50,
        formulation="recursive",
    )


def speeds_after(result: Result) -> tuple[float, float]:
    """Of the ball and of the bat [m/s]."""
    ball, bat = (float(np.linalg.norm(result[f"{name}.velocity"][-1])) for name in ("ball", "bat"))
    return ball, bat


def quantities() -> list[Quantity]:
    """The calibrated law on both bats against the published speeds, the others against what theory says of them."""
    exact = run()
    ball, bat = speeds_after(exact)
    spin = float(np.abs(exact["bat.angular_velocity"][-1]).max())
    found = [
        Quantity("ball_speed_after", ball, 0.15, 1e-6, "m/s"),
        Quantity("bat_speed_after", bat, 0.85, 1e-6, "m/s"),
        Quantity("bat_spin_after", spin, 1e-6, 0.0, "rad/s", Within.AT_MOST),
    ]
    ball, bat = speeds_after(run(sampled=True))
    found += [
        Quantity("ball_speed_after_sampled", ball, 0.15, 1e-4, "m/s"),
        Quantity("bat_speed_after_sampled", bat, 0.85, 1e-4, "m/s"),
    ]
    delivered = {"lankarani-nikravesh": 0.7960, "hunt-crossley": 0.7680, "flores": 0.6832}
    for law, e in delivered.items():
        ball, bat = speeds_after(run(law))
        found.append(Quantity(f"delivered_{law.replace('-', '_')}", bat - ball, e, 1e-4))
    return found
