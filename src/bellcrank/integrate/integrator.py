"""What a run, a batch and their users need to know of a method; every method says it of itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Entry

if TYPE_CHECKING:
    from bellcrank.integrate.embedded import Table


@dataclass(frozen=True, eq=False)
class Integrator:
    """A method ready to run. A module that defines one as `METHOD` adds a method, with the name of the module.

    Attributes:
        name: Its name.
        purpose: What it is and what it is for, in a line.
        sources: Whom to cite for it.
        order: Order of convergence.
        rows: Vectors it needs in `v`.
        adaptive: Whether it can choose its step size.
        arrays: (state size, number of parameters) -> the method's own arrays, of integers and of reals.
        advance: The compiled loop over :class:`~bellcrank.integrate.arrays.Arrays`; returns a Status code.
        implicit: Whether it needs derivatives of the rates.
        stability: Size beyond which no eigenvalue times the step, of a motion that does not grow, lies in the stability
            region; infinite where there is none.
        spare: Row of `v` that is free between two steps; -1 where none is.
        table: The coefficients of an explicit Runge-Kutta method, which runs in lanes as well; None for others.
    """

    name: str
    purpose: str
    sources: tuple[str, ...]
    order: int
    rows: int
    adaptive: bool
    arrays: Callable[[int, int], tuple[NDArray[np.int64], NDArray[np.float64]]]
    advance: Entry
    implicit: bool = False
    stability: float = math.inf
    spare: int = -1
    table: Table | None = None
