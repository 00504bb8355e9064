"""Dormand-Prince 5(4): explicit, seven stages of which the last is the first of the next step.

Source: Dormand, Prince, "A family of embedded Runge-Kutta formulae", J. Comp. Appl. Math. 6 (1980); dense
output of order 4 and the controller from Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations
I", II.5-6, IV.2.
"""

from __future__ import annotations

from fractions import Fraction as Q

import numpy as np

from bellcrank.integrate.embedded import Table, integrator
from bellcrank.integrate.sources import DORMAND_PRINCE, HAIRER_1

_A = (
    (),
    (Q(1, 5),),
    (Q(3, 40), Q(9, 40)),
    (Q(44, 45), Q(-56, 15), Q(32, 9)),
    (Q(19372, 6561), Q(-25360, 2187), Q(64448, 6561), Q(-212, 729)),
    (Q(9017, 3168), Q(-355, 33), Q(46732, 5247), Q(49, 176), Q(-5103, 18656)),
)
_B = (Q(35, 384), Q(0), Q(500, 1113), Q(125, 192), Q(-2187, 6784), Q(11, 84))
_C = (Q(0), Q(1, 5), Q(3, 10), Q(4, 5), Q(8, 9), Q(1))
_ERROR = (Q(71, 57600), Q(0), Q(-71, 16695), Q(71, 1920), Q(-17253, 339200), Q(22, 525), Q(-1, 40))
_DENSE = (
    Q(-12715105075, 11282082432),
    Q(0),
    Q(87487479700, 32700410799),
    Q(-10690763975, 1880347072),
    Q(701980252875, 199316789632),
    Q(-1453857185, 822651844),
    Q(69997945, 29380423),
)

TABLE = Table(
    name="dormand_prince5",
    purpose="explicit, order 5, adaptive: for loose tolerances and frequent events",
    sources=(DORMAND_PRINCE, HAIRER_1),
    order=5,
    a=np.array([[float(w) for w in row] + [0.0] * (6 - len(row)) for row in _A]),
    b=np.array([float(w) for w in _B]),
    c=np.array([float(w) for w in _C]),
    errors=np.array([[float(w) for w in _ERROR]]),
    extra_a=np.zeros((0, 7)),
    extra_c=np.zeros(0),
    dense=np.array([[float(w) for w in _DENSE]]),
    exponent=0.2 - 0.75 * 0.04,
    beta=0.04,
    grow=10.0,
    shrink=0.2,
    stability=3.31,
    reach=2.6,
)
METHOD = integrator(TABLE)
