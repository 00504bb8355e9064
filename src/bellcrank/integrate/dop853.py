"""DOP853: explicit, order 8, with error estimates of orders 5 and 3 and a dense output of order 7.

Source: Dormand, Prince 1980 and Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I",
II.5-6, IV.2. Three more evaluations are spent on the dense output, only in steps where an output or an event
may lie.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.coefficients_dop853 import DENSE, ERRORS, EXTRA, EXTRA_NODES, NODES, SOLUTION, STAGES
from bellcrank.integrate.embedded import Table, integrator
from bellcrank.integrate.sources import DORMAND_PRINCE, HAIRER_1


def _full(rows: Sequence[dict[int, float]], columns: int) -> NDArray[np.float64]:
    full = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        for j, weight in row.items():
            full[i, j] = weight
    return full


TABLE = Table(
    name="dop853",
    purpose="explicit, order 8, adaptive: accurate at low cost for smooth motion",
    sources=(HAIRER_1, DORMAND_PRINCE),
    order=8,
    a=_full([{}, *STAGES], 12),
    b=_full(SOLUTION, 12)[0],
    c=np.array(NODES),
    errors=_full(ERRORS, 13),
    extra_a=_full(EXTRA, 16),
    extra_c=np.array(EXTRA_NODES),
    dense=_full(DENSE, 16),
    exponent=1.0 / 8.0 - 0.2 * 0.04,
    beta=0.04,
    grow=6.0,
    shrink=0.333,
    stability=6.39,
    reach=6.39,
)
METHOD = integrator(TABLE)
