"""A car without suspension on a four-post rig: heave and pitch over the motion of the posts.

The posts move by A sin(w t), all together and the front against the rear. On tyres of stiffness k and damping c, heave
over posts is (k + i w c)/(k - m w^2 + i w c) with the sums over all tyres, and pitch likewise with their moments.

Source: closed form of an oscillator moved at its foot.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bellcrank.program.functions import sin, where
from bellcrank.program.trace import Scalar
from bellcrank.tyres import LinearTyre, TyreLaw
from bellcrank.verify.cart import FRONT, INERTIA, LEVEL, MASS, RADIUS, REAR, cart, moving
from bellcrank.verify.cases import Quantity, Within

FREQUENCY, AMPLITUDE, DAMPING = 2.5, 1e-3, 4000.0
PERIODS = 24


def post(corner: str) -> TyreLaw:
    """A tyre of a corner, with damping in proportion to its stiffness."""
    k = LEVEL[corner[0]]
    c = DAMPING * k / (0.5 * (LEVEL["F"] + LEVEL["R"]))
    return LinearTyre(radius=RADIUS, stiffness=k, damping=c, longitudinal=8e4, cornering=6e4)


def transfer(inertia: float, arm: float) -> complex:
    """Motion over that of the posts; inertia: mass [kg] or moment of inertia [kg m^2], arm: 1, or the square of the
    radius at which the tyres act [m^2]."""
    w = 2.0 * math.pi * FREQUENCY
    k, c = 2.0 * (LEVEL["F"] + LEVEL["R"]) * arm, 4.0 * DAMPING * arm
    stiffness = complex(k, w * c)
    return stiffness / (stiffness - inertia * w * w)


def amplitude(turned: Callable[[Scalar], Scalar], quantity: str) -> complex:
    """Amplitude and phase of a motion in the last periods of a run."""
    w = 2.0 * math.pi * FREQUENCY

    def road(x: Scalar, y: Scalar, t: Scalar) -> Scalar:
        return AMPLITUDE * turned(x) * sin(w * t)

    duration = PERIODS / FREQUENCY
    system = cart(post, height=RADIUS, road=road)
    run = moving(system, 0.0, duration, tolerance=1e-9, output=np.linspace(0.0, duration, 40 * PERIODS + 1))
    last = slice(-41, -1)
    t, found = run.time[last], np.asarray(run[quantity])[last]
    return complex(2.0 * np.mean((found - found.mean()) * np.exp(-1j * w * t))) * 1j


def quantities() -> list[Quantity]:
    """Amplitude and phase of heave and pitch."""
    heave = amplitude(lambda x: 1.0, "body.position.z") / AMPLITUDE
    # Front and rear against each other in proportion to their distances make no heave: k_f a = k_r b.
    pitch = amplitude(lambda x: where(x > 0.0, FRONT, -REAR), "body.rotation.xz") / AMPLITUDE
    rows = []
    for name, found, expected in (
        ("heave", heave, transfer(MASS, 1.0)),
        ("pitch", -pitch, transfer(INERTIA[1], FRONT * REAR)),
    ):
        rows.append(Quantity(f"{name}_amplitude", abs(found), abs(expected), 1e-5, "", Within.RELATIVE))
        rows.append(Quantity(f"{name}_phase", float(np.angle(found / expected)), 0.0, 1e-5, "rad"))
    return rows
