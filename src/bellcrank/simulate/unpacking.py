"""The arrays of a run, from the pointers that its units are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.simulate.compiled import matrix, part, vector
from bellcrank.simulate.layout import ADDRESSES, EVENT_ROWS, INTS, N_EVENTS, N_OUT, REALS, ROWS, N

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# places of the pointers behind which a method has arrays of its own
OWN_INTS_AT = 9
OWN_REALS_AT = 10


@part
def unpacked(pointers: Any) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats, Floats, Floats, Floats]:
    """Addresses, integers, reals, [t, y, p], rows of states and rates, rows of events, projection, outputs."""
    (
        addresses_at,
        ints_at,
        reals_at,
        x_at,
        v_at,
        g_at,
        corrected_at,
        out_t_at,
        out_y_at,
        _own_ints_at,
        _own_reals_at,
    ) = pointers
    addresses = vector(addresses_at, ADDRESSES)
    ints = vector(ints_at, INTS)
    reals = vector(reals_at, REALS)
    x = vector(x_at, 1 + ints[N])
    v = matrix(v_at, 0, ints[ROWS], ints[N])
    g = matrix(g_at, 0, EVENT_ROWS, ints[N_EVENTS])
    corrected = vector(corrected_at, ints[N] + 3)
    out_t = vector(out_t_at, ints[N_OUT])
    out_y = matrix(out_y_at, 0, ints[N_OUT], ints[N])
    return addresses, ints, reals, x, v, g, corrected, out_t, out_y
