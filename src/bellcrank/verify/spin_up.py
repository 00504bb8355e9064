"""Spin-up of a cantilever: the beam lags behind, then straightens in the rotation.

The root turns by w_s / T (t^2 / 2 + (T / 2 pi)^2 (cos(2 pi t / T) - 1)) until T = 15 s. Two published beams: 10 m
(w_s = 6 rad/s) and 8 m (w_s = 4 rad/s). The linear floating frame diverges in this manoeuvre; stiffening cures it.

Source: Kane, Ryan, Banerjee, J. Guidance 10 (1987) 139; Wu, Haug, Int. J. Numer. Meth. Eng. 26 (1988) 2211. The print
gives curves only; the references here are those of a fully nonlinear inextensible beam as a chain of 16 and 32 links
with the exact angles, extrapolated (tests/flexible_dynamics/test_spin_up.py holds that solver).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.flexible import Clamped, Material, NormalModes, Section, beam
from bellcrank.model import System
from bellcrank.program.functions import cos
from bellcrank.run.bending import DeflectionNote
from bellcrank.verify.cases import Quantity, Within

SPIN_UP = 15.0


@dataclass(frozen=True)
class Blade:
    """A beam [m, m^2, m^4, Pa, kg/m^3] and the speed it reaches [rad/s]; its largest lag at the tip [m]."""

    length: float
    area: float
    second_moment: float
    young: float
    density: float
    speed: float
    largest: float


KANE = Blade(10.0, 4e-4, 2e-7, 7e10, 3000.0, 6.0, -0.573744)
WU_HAUG = Blade(8.0, 7.3e-5, 8.218e-9, 6.895e10, 2766.67, 4.0, -0.533897)


def tip(
    blade: Blade,
    modes: int,
    stiffening: bool = True,
    duration: float = SPIN_UP,
    outputs: int | NDArray[np.float64] = 601,
) -> NDArray[np.float64]:
    """Deflection of the tip in the axes of the root over the spin-up [m]."""
    section = Section(blade.area, blade.second_moment, blade.second_moment)
    model = beam(
        "blade", blade.length, section, Material(blade.young, density=blade.density), 16, planar=True
    )
    member = model.reduce(NormalModes(along={"y": modes}), Clamped("start"), stiffening=stiffening)
    system = System("spin-up", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("blade", member)
    root = system.revolute("root", system.ground.point(0.0, 0.0, 0.0), body.node("start"), axis="z")
    rate, period = blade.speed / SPIN_UP, SPIN_UP / (2.0 * math.pi)
    system.driver(root, lambda t: rate * (0.5 * t * t + period**2 * (cos(t / period) - 1.0)), name="motor")
    run = system.simulate(duration, tolerance=1e-9, output=outputs)
    return np.asarray(run["blade.modes"].to_numpy() @ member.node("end").translation[1])


def quantities() -> list[Quantity]:
    """Largest lag of both beams; the linear theory, which runs away, is reported."""
    rows = []
    for name, blade in (("kane", KANE), ("wu_haug", WU_HAUG)):
        lag = float(tip(blade, 4).min())
        rows.append(Quantity(f"largest_lag_{name}", lag, blade.largest, 3e-3, "m", Within.RELATIVE))
        late = float(np.abs(tip(blade, 4)[-1]))
        rows.append(Quantity(f"lag_at_speed_{name}", late, 0.02, 0.0, "m", Within.AT_MOST))
    # At half the time the rotation is as fast as the first frequency of the beam at rest: the linear theory fails.
    with warnings.catch_warnings():
        # That it diverges is what is shown.
        warnings.simplefilter("ignore", DeflectionNote)
        linear = float(tip(KANE, 4, stiffening=False, duration=10.0).min())
    rows.append(Quantity("lag_kane_without_stiffening", linear, KANE.largest, 0.0, "m", Within.REPORTED))
    return rows
