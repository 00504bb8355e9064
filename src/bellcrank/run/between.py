"""The motion between outputs, for integrals over time that outputs far apart cannot carry.

Results keep states at the outputs alone. Where these are much closer than the steps were, they show all there is; else
the run is integrated once more, in pieces that begin at outputs and behind jumps with the states found there, so that
the errors of the run stay its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError
from bellcrank.integrate import Options
from bellcrank.mechanism import State
from bellcrank.result.ledger import NODES
from bellcrank.run.run import Run

if TYPE_CHECKING:
    from bellcrank.result.result import Result

Array = NDArray[np.float64]

PIECES = 50
"""Pieces a run without jumps is cut into, at most."""
TOLERANCE = 1e-10


def pieces(result: Result) -> list[Result]:
    """The motion in pieces with states close to each other, none of them across a jump.

    The last state of a piece is the first of the next only up to the error of the run. A piece that cannot be
    integrated again shows the outputs.
    """
    starts, ends = _bounds(result)
    duration = float(result.time[-1] - result.time[0])
    nodes = NODES * result.run.steps
    return [
        _piece(result, start, end, max(2 * NODES, int(nodes * (end - start[0]) / duration)))
        for start, end in zip(starts, ends, strict=True)
    ]


def _bounds(result: Result) -> tuple[list[Array], list[float]]:
    """Where pieces begin, as rows [t, q, u, du, parameters], and the times at which they end."""
    rows = np.hstack([result.time[:, None], result.q, result.u, result.du, result.parameters])
    chosen = list(range(0, len(rows) - 1, -(-(len(rows) - 1) // PIECES)))
    marks = [(float(rows[k, 0]), 0, rows[k]) for k in chosen]
    if result.breaks is not None:
        marks += [(float(row[0]), 1, row[: rows.shape[1]]) for row in result.breaks[1::2]]
    # What comes behind a jump counts for the time of the jump and after it.
    marks.sort(key=lambda mark: mark[:2])
    ends = [*(t for t, _, _ in marks[1:]), float(result.time[-1])]
    least = 1e-12 * float(result.time[-1] - result.time[0])
    found = [(row, end) for (t, _, row), end in zip(marks, ends, strict=True) if end > t + least]
    return [row for row, _ in found], [end for _, end in found]


def _piece(result: Result, start: Array, end: float, nodes: int) -> Result:
    m = result.mechanism
    sizes = (1, m.linkage.positions, m.linkage.speeds, m.linkage.speeds)
    t, q, u, du, p = np.split(start, np.cumsum(sizes))
    inside = result.time[(result.time > t[0]) & (result.time < end)]
    times = np.unique(np.concatenate([np.linspace(t[0], end, nodes + 1), inside]))
    own = replace(m, start=State(float(t[0]), q.copy(), u.copy()), parameter_values=tuple(p.tolist()))
    options = Options(
        rtol=TOLERANCE,
        atol=0.01 * TOLERANCE,
        position_tolerance=1e-11 * m.length_scale,
        repartition_threshold=0.05,
    )
    try:
        return Run(own.with_programs_of(m), "auto", (), ()).go(times, options, False)
    except BellcrankError:
        here = np.flatnonzero((result.time > t[0]) & (result.time <= end))
        q, u, du, p = (np.vstack([a, b[here]]) for a, b in zip((q, u, du, p), _states(result), strict=True))
        time = np.concatenate([t, result.time[here]])
        return result.at_states(time, q, u, du, p)


def _states(result: Result) -> Sequence[Array]:
    return result.q, result.u, result.du, result.parameters


__all__ = ["pieces"]
