"""The classical Runge-Kutta method: explicit, order 4, fixed step, for real time.

Each step costs the same: four evaluations, of which the one at the end of the step is the first of the next.
The dense output is the cubic through states and rates at both ends. Source: Kutta 1901; Hairer, Norsett,
Wanner, "Solving Ordinary Differential Equations I", II.1.
"""

from __future__ import annotations

import numpy as np

from bellcrank.integrate.embedded import Table, integrator
from bellcrank.integrate.sources import KUTTA

TABLE = Table(
    name="runge_kutta4",
    purpose="explicit, order 4, fixed step: for real time",
    sources=(KUTTA,),
    order=4,
    a=np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]]),
    b=np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    c=np.array([0, 0.5, 0.5, 1.0]),
    errors=np.zeros((0, 5)),
    extra_a=np.zeros((0, 5)),
    extra_c=np.zeros(0),
    dense=np.zeros((0, 5)),
    exponent=0.0,
    beta=0.0,
    grow=1.0,
    shrink=1.0,
    stability=2.78,
    reach=2.6,
)
METHOD = integrator(TABLE)
