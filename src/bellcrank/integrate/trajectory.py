"""What a run leaves behind: states at the output times, events, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.status import Status


@dataclass(frozen=True, eq=False)
class EventRecord:
    """One located event.

    Attributes:
        t: Time [s].
        y: State just before any jump.
        indices: The event functions that crossed zero here, lowest first.
        y_after: State after the jump; the same as `y` where nothing jumped.
    """

    t: float
    y: NDArray[np.float64]
    indices: tuple[int, ...]
    y_after: NDArray[np.float64]

    @property
    def index(self) -> int:
        """The first event function that crossed zero."""
        return self.indices[0]


class Trajectory(NamedTuple):
    """States at the output times that were reached.

    Attributes:
        t: Output times [s], shape (k,).
        y: States, shape (k, n).
        partition: How many repartitions had happened at each output, shape (k,): the meaning of the
            independent speeds in `y` changes with it.
        status: How the run ended.
        steps, rejected: Accepted and rejected steps.
        evaluations: Calls of the right-hand side, for finite differences included.
        jacobians, factorisations: Jacobian evaluations and matrix factorisations of the implicit methods.
        events: Every located event in order of time.
        repartitions: Times at which the partition changed [s].
        switches: (time, method) for every change of method by `auto`, the first entry being the start.
        end_time: Time reached by the integrator [s].
        end_state: State there.
        next_step: Step size the integrator would try next [s].
    """

    t: NDArray[np.float64]
    y: NDArray[np.float64]
    partition: NDArray[np.int64]
    status: Status
    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    factorisations: int
    events: tuple[EventRecord, ...]
    repartitions: tuple[float, ...]
    switches: tuple[tuple[float, str], ...]
    end_time: float
    end_state: NDArray[np.float64]
    next_step: float

    def with_end(self) -> Trajectory:
        """The same with one more output at the time reached, just before any jump there."""
        t = self.end_time
        if len(self.t) and self.t[-1] >= t:
            return self
        last = self.events[-1] if self.events else None
        y = self.end_state if last is None or last.t != t else last.y
        return self._replace(
            t=np.append(self.t, t),
            y=np.vstack([self.y, y]),
            partition=np.append(self.partition, len(self.repartitions)),
        )
