"""The free slider-crank in one coordinate, written down by hand: the independent reference.

With M(a) the reduced inertia and V(a) the potential at the crank angle a: M a'' + M' a'^2 / 2 + V' = 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

CRANK, ROD = 3.0, 4.0
MASSES, INERTIAS = (2.0, 3.0, 4.0), (1.0, 2.0, 1.0)
GRAVITY = 9.81
ANGLE, RATE = math.pi / 6.0, 1.0
DURATION = 10.0


def terms(angle: Any, functions: Any = math) -> tuple[Any, Any, Any]:
    """M, M' and V' at a crank angle; `functions` has sin, cos and sqrt (of math, numpy or casadi)."""
    s, c = functions.sin(angle), functions.cos(angle)
    m1, m2, m3 = MASSES
    i1, i2, _ = INERTIAS
    # The rod leans by b with ROD sin b = -CRANK sin a.
    sb = -CRANK / ROD * s
    cb = functions.sqrt(1.0 - sb * sb)
    b1 = -CRANK / ROD * c / cb
    b2 = (CRANK / ROD * s + sb * b1 * b1) / cb
    half = 0.5 * ROD
    x1, x2 = -CRANK * s - half * sb * b1, -CRANK * c - half * (cb * b1 * b1 + sb * b2)
    y1, y2 = CRANK * c + half * cb * b1, -CRANK * s + half * (-sb * b1 * b1 + cb * b2)
    z1, z2 = -CRANK * s - ROD * sb * b1, -CRANK * c - ROD * (cb * b1 * b1 + sb * b2)
    inertia = i1 + m1 * (0.5 * CRANK) ** 2 + i2 * b1 * b1 + m2 * (x1 * x1 + y1 * y1) + m3 * z1 * z1
    slope = 2.0 * (i2 * b1 * b2 + m2 * (x1 * x2 + y1 * y2) + m3 * z1 * z2)
    weight = GRAVITY * (m1 * 0.5 * CRANK * c + m2 * y1)
    return inertia, slope, weight


def rates(t: float, y: Any) -> list[float]:
    """Rates of crank angle and crank rate."""
    inertia, slope, weight = terms(y[0])
    return [y[1], -(0.5 * slope * y[1] * y[1] + weight) / inertia]


def reference(tolerance: float = 1e-13) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Crank angle and rate at the end, by SciPy's DOP853."""
    from scipy.integrate import solve_ivp

    found = solve_ivp(rates, (0.0, DURATION), [ANGLE, RATE], "DOP853", rtol=tolerance, atol=0.01 * tolerance)
    return np.array(found.y[:, -1])
