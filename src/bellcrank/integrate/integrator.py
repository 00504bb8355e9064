"""What the driver needs to know of a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Entry


@dataclass(frozen=True, eq=False)
class Integrator:
    """A method ready to run.

    Attributes:
        name: Its name.
        order: Order of convergence.
        rows: Vectors it needs in `v`.
        adaptive: Whether it can choose its step size.
        arrays: (state size, number of parameters) -> the method's own arrays, of integers and of reals.
        advance: The compiled loop over :class:`~bellcrank.integrate.arrays.Arrays`; returns a Status code.
    """

    name: str
    order: int
    rows: int
    adaptive: bool
    arrays: Callable[[int, int], tuple[NDArray[np.int64], NDArray[np.float64]]]
    advance: Entry
