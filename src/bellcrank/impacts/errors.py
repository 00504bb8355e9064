"""The error of a run whose contacts admit no motion; it carries everything computed so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.errors import BellcrankError
from bellcrank.integrate.failures import SimulationError
from bellcrank.integrate.status import Status

if TYPE_CHECKING:
    from bellcrank.result.result import Result


class ContactError(SimulationError):
    """A run stopped because no forces or impulses fit its contacts.

    Attributes:
        time: Where it stopped [s].
        contacts: The contacts concerned.
        result: The outputs up to there.
    """

    result: Result

    def __init__(self, time: float, contacts: tuple[str, ...], why: str) -> None:
        self.status, self.time, self.index, self.quantity = Status.STEP_UNDERFLOW, time, -1, None
        self.contacts = contacts
        names = ", ".join(repr(c) for c in contacts)
        self.why = f"contact {names}: {why}"
        BellcrankError.__init__(
            self,
            f"simulation stopped at t = {time:.9g} s at contact {names}: {why} (Earlier outputs: error.result.)",
        )
