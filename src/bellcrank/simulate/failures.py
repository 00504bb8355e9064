"""The error of a run that could not go on; it carries everything computed so far."""

from __future__ import annotations

from bellcrank.errors import BellcrankError
from bellcrank.simulate.status import Status
from bellcrank.simulate.trajectory import Trajectory


class SimulationError(BellcrankError, ArithmeticError):
    """A run stopped before its end time.

    Attributes:
        status: Why the run stopped.
        time: Where it stopped [s].
        index: Position in the state of the quantity that gave the trouble, or -1 where none stands out.
        quantity: Its name, or None.
        trajectory: The outputs up to there.
        result: The same as the result of a run; set by :meth:`bellcrank.System.simulate`.
    """

    def __init__(self, status: Status, time: float, index: int, quantity: str | None, trajectory: Trajectory):
        self.status = status
        self.time = time
        self.index = index
        self.quantity = quantity
        self.trajectory = trajectory
        where = f" at {quantity!r}" if quantity else f" at state entry {index}" if index >= 0 else ""
        kept = len(trajectory.t)
        super().__init__(
            f"simulation stopped at t = {time:.9g} s{where}: {status.advice} "
            f"(The error carries the {kept} outputs before.)"
        )
