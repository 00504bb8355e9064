"""Where events and controllers changed the state or the parameters of a run: what stood before and after.

The energy ledger needs both sides: powers jump there, and so may the energy itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bellcrank.run.run import Run

Array = NDArray[np.float64]

CORRECTIONS = 8
"""Newton's corrections of a state after a jump, at most."""


class Jumps:
    """The sides of all jumps of a run so far, in pairs."""

    def __init__(self) -> None:
        self._earlier: list[Array] = []
        self._sides: list[tuple[int, Array]] = []

    def add(self, run: Run, t: float, before: tuple[Array, Array], after: tuple[Array, Array]) -> None:
        """One jump: the integrator's state and the parameters on both sides, in the present partition."""
        for y, p in (before, (_closed(run, t, *after), after[1])):
            self._sides.append((len(run.used) - 1, np.concatenate([[t], y, p])))

    def go_on_from(self, rows: Array) -> None:
        """Begin with the rows of an earlier part of the run."""
        self._earlier = [rows]

    def rows(self, run: Run) -> Array | None:
        """[t, q, u, du, parameters] on both sides of every jump; None where there was none."""
        if not self._sides:
            return self._earlier[0] if self._earlier else None
        nq, nu = run.mechanism.linkage.positions, run.mechanism.linkage.speeds
        inputs = np.array([x for _, x in self._sides])
        used = np.array([k for k, _ in self._sides])
        np_ = len(run.mechanism.mechanics.parameters)
        found = np.zeros((len(inputs), 1 + nq + 2 * nu + np_))
        found[:, : 1 + nq] = inputs[:, : 1 + nq]
        found[:, 1 + nq + 2 * nu :] = inputs[:, inputs.shape[1] - np_ :]
        for k in np.unique(used):
            here = used == k
            values = run.used[k].full.many(np.ascontiguousarray(inputs[here]))
            found[here, 1 + nq : 1 + nq + 2 * nu] = values[:, : 2 * nu]
        return np.vstack([*self._earlier, found])


def _closed(run: Run, t: float, y: Array, p: Array) -> Array:
    """The state projected onto the constraints: a jump may have set positions that violate them."""
    from bellcrank.mechanism.export import needs_projection

    if needs_projection(run.mechanism):
        for _ in range(CORRECTIONS):
            out = run.machine.projection(np.concatenate([[t], y, p]))
            moved = np.abs(out[: len(y)] - y).max()
            y = out[: len(y)]
            if not moved > 1e-12:
                break
    return y
