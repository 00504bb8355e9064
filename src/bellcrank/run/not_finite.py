"""Which force is to blame where accelerations are no longer numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot
from numpy.typing import NDArray

from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program

if TYPE_CHECKING:
    from bellcrank.run.run import Run

Array = NDArray[np.float64]

AHEAD = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)
"""How far ahead of the last state that could be reached forces are looked at, relative to 1 s and to the time."""


def offender(run: Run, t: float, y: Array, p: Array) -> str | None:
    """The first force that is not a finite number in a state or just ahead of it, in words."""
    mechanism, machine = run.mechanism, run.machine
    forces = list(mechanism.system.forces)
    if not forces:
        return None
    s = Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)
    quantities = Quantities(s)
    program = Program.of(
        [s.t, *s.q, *s.u, *s.parameters],
        [x for name in forces for x in quantities.table[f"{name}.power"].trace()],
    )
    rates = machine.rates(np.concatenate([[t], y, p]))
    rates = np.where(np.isfinite(rates), rates, 0.0)
    for share in AHEAD:
        ahead = share * max(1.0, abs(t))
        state = run.full_state(machine, t + ahead, y + ahead * rates, p)
        powers = np.ravel(evaluate(program, np.concatenate([[state.t], state.q, state.u, p])[:, None]))
        wrong = np.flatnonzero(~np.isfinite(powers))
        if len(wrong):
            return f"force {forces[int(wrong[0])]!r}"
    return None
