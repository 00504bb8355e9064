"""The error of a run that could not go on; it carries everything computed so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bellcrank.errors import BellcrankError
from bellcrank.integrate.status import Status
from bellcrank.integrate.trajectory import Trajectory


class SimulationError(BellcrankError, ArithmeticError):
    """A run stopped before its end time.

    Attributes:
        status: Why the run stopped, as a code.
        why: Why the run stopped, in words, with what to do about it.
        time: Where it stopped [s].
        index: Position in the state of the quantity that gave the trouble, or -1 where none stands out.
        quantity: Its name, or None.
        trajectory: The outputs up to there.
        result: The outputs up to there as a result; set by :meth:`bellcrank.System.simulate`.
    """

    def __init__(self, status: Status, time: float, index: int, quantity: str | None, trajectory: Trajectory):
        self.status = status
        self.why = status.advice
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


class CallError(SimulationError):
    """A run stopped because what it called raised an error, which is the cause of this one.

    That is a search for contact points, or a function of a controller or an event.
    """

    def __init__(self, time: float, problem: Exception, trajectory: Trajectory) -> None:
        self.status, self.time, self.index, self.quantity = Status.CALLED, time, -1, None
        self.trajectory = trajectory
        if isinstance(problem, BellcrankError):
            self.why = str(problem)
        else:
            self.why = " ".join([f"{type(problem).__name__}: {problem}", *getattr(problem, "__notes__", ())])
        BellcrankError.__init__(
            self,
            f"simulation stopped at t = {time:.9g} s: {self.why} (Earlier outputs: error.result.)",
        )


@contextmanager
def function_of(whom: str) -> Iterator[None]:
    """Say of an error in a function of the user which one it was."""
    try:
        yield
    except BellcrankError:
        raise
    except Exception as problem:
        problem.add_note(f"(raised by the function of {whom})")
        raise
