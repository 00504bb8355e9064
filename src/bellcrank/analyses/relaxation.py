"""Dynamic relaxation with kinetic damping: a fictitious motion that loses its speed whenever it slows down.

Source: Barnes, "Form finding and analysis of tension structures by dynamic relaxation", International Journal
of Space Structures 14 (1999); fictitious masses by Gershgorin's bound, so that the unit time step is
stable (Underwood 1983).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.kernel import compile_program

if TYPE_CHECKING:
    from bellcrank.analyses.statics import Statics

Array = NDArray[np.float64]

FAR = 0.02
"""The most a freedom may move in the first step after a stop [rad, or sizes of the mechanism]."""


def relaxed(statics: Statics, q: Array, scale: float, steps: int = 4000, aim: float = 1e-5) -> Array:
    """A configuration nearer to equilibrium, by letting go from `q` and stopping at every peak of speed.

    scale: size of the forces [N m]; the motion ends once they fall below `aim` of it.
    """
    forces = _evaluated(statics)
    best, least = q, np.inf
    speed = np.zeros(len(statics.units))
    mass, energy, slower = speed, 0.0, 1.0
    for _ in range(steps):
        if not speed.any():
            if not statics.conditioned(q):
                statics.turn_to(q)
                forces = _evaluated(statics)
            mass = slower * _masses(*statics.stiffness(q), scale)
        Q = forces(q)
        left = float(np.abs(Q).max(initial=0.0))
        if left < least:
            best, least = q, left
        if left <= aim * scale:
            break
        speed = speed + Q / mass if speed.any() else 0.5 * Q / mass
        now = float(mass @ speed**2)
        trial = statics.moved(q, speed) if now >= energy else None
        if trial is not None:
            q, energy = trial, now
            continue
        # Past the peak, or against a loop that will not close: stand still and let go again, slower there.
        slower = 4.0 * slower if energy == 0.0 else 1.0
        speed, energy = np.zeros_like(speed), 0.0
    return best


def _evaluated(statics: Statics) -> Callable[[Array], Array]:
    """The forces in the present partition, compiled where the program is all of them."""
    if not statics.plain:
        return statics.forces
    kernel, units = compile_program(statics.program), statics.units
    return lambda q: np.asarray(units * kernel(np.concatenate([[statics.t], q, statics.p])))


def _masses(Q: Array, J: Array, scale: float) -> Array:
    """Half the row sums of the stiffness, and enough that no freedom leaps."""
    mass: Array = np.maximum(0.5 * np.abs(J).sum(axis=1), np.abs(Q) / FAR)
    return np.maximum(mass, 1e-3 * scale)
