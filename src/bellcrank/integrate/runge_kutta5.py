"""Runge-Kutta 5(4) for damped mechanisms: seven stages a step, stable for steps nearly twice as long as usual.

Springs with dampers, bushings and tyres hold an explicit method back by its stability long before a moderate tolerance
does. How far it reaches along the negative real axis is a matter of its polynomial R(z), whose first coefficients
1/k! the order fixes. With seven stages and order 5 two are free: the sixth is 1/720 as well, which leaves no error of
order six in linear motion, and 5040 times the seventh is 0.57, near the 0.549 where |R(-x)| <= 0.95 reaches furthest.
That gives 6.09 (0.87 a stage) where Dormand and Prince have 3.31 (0.55 a stage) and Bogacki and Shampine 3.99 (0.57 a
stage).

Of the methods with that polynomial these nodes and weights have small errors of order six, 4.0e-5 as a norm over the
rooted trees (Dormand and Prince: 4.0e-4, Bogacki and Shampine: 2.2e-5), with weights of about 2 at most. They are a
numerical solution of the order conditions with A c = c^2 / 2 from the third stage on (Hairer, Norsett, Wanner,
"Solving Ordinary Differential Equations I", II.5), by a Gauss-Newton method on the manifold of these conditions, then
by Newton's method with 50 digits. The rates at the end are those the next step begins with; the error estimate of
order 4 and the dense output of order 4 use them as the eighth stage. The controller is Gustafsson's, with the
exponents 0.7 / 5 and 0.4 / 5 that keep the step steady where stability bounds it (Hairer, Wanner, "Solving
Ordinary Differential Equations II", IV.2).
"""

from __future__ import annotations

import numpy as np

from bellcrank.integrate.embedded import Table, integrator
from bellcrank.integrate.sources import HAIRER_1, HAIRER_2

_A = (
    (),
    (0.025,),
    (-0.1358024691358024691358, 0.2469135802469135802469),
    (0.1123301049949515609313, -0.135067153252208729049, 0.2370227625429714538319),
    (2.004168799236556331635, -1.391008372984943726634, -2.048039067976624082611, 2.018211975058344810943),
    (
        0.3062713154777555590533,
        0.226151292457862764613,
        -1.145338948140546149138,
        1.087170507168355964086,
        0.2075640148547536795683,
    ),
    (
        1.803492730368091163927,
        -2.085483531689913301855,
        -0.843727670136707156003,
        2.14675132876062519615,
        -2.032871583023321188816,
        2.011838725721225286598,
    ),
)
_B = (
    0.1380110226598501662937,
    0.0,
    -0.2967333898884999740247,
    0.6456655329263878592392,
    -0.1585910705599167692599,
    0.5799293352099664241529,
    0.09171856965221229359875,
)
_C = (0.0, 1.0 / 40.0, 1.0 / 9.0, 3.0 / 14.0, 7.0 / 12.0, 15.0 / 22.0, 1.0)
_ERROR = (
    -0.1807802308026032890313,
    0.0,
    0.5391702881094920817718,
    -0.4223715181039185924731,
    0.1193518990926128255305,
    -0.05138216228866813080771,
    0.00601172399308510500977,
    -0.01,
)
_DENSE = (
    -0.4298346601022475055947,
    0.0,
    -3.461889548699166363622,
    5.534275996511895936336,
    0.3964776763997919231497,
    -3.163250919327089586289,
    -1.375778544783184403981,
    2.5,
)

TABLE = Table(
    name="runge_kutta5",
    purpose="explicit, order 5, adaptive, stable for longer steps: for damped mechanisms such as vehicles",
    sources=(HAIRER_1, HAIRER_2),
    order=5,
    a=np.array([[*row, *[0.0] * (7 - len(row))] for row in _A]),
    b=np.array(_B),
    c=np.array(_C),
    errors=np.array([_ERROR]),
    extra_a=np.zeros((0, 8)),
    extra_c=np.zeros(0),
    dense=np.array([_DENSE]),
    exponent=0.14,
    beta=0.08,
    grow=10.0,
    shrink=0.2,
    stability=6.09,
    reach=3.1,
    # Where stability holds the step back, the error estimate lets vibrations of ten times the tolerance pass.
    window=96,
)
METHOD = integrator(TABLE)
