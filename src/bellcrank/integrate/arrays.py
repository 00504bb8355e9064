"""The arrays of a run, as its compiled loops take them; :mod:`layout` says what lies where."""

from __future__ import annotations

from typing import NamedTuple

from bellcrank.program.loops import Ints, Reals, Reals2


class Arrays(NamedTuple):
    """All that a running integrator knows."""

    addresses: Ints
    ints: Ints
    reals: Reals
    x: Reals
    v: Reals2
    g: Reals2
    corrected: Reals
    out_t: Reals
    out_y: Reals2
    own_ints: Ints
    own_reals: Reals
