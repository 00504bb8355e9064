"""The method `auto`: explicit while it can be, implicit while the motion is stiff.

It begins as `dop853`, which watches its own stability and the motion (see `stiffness`), and goes over to
`radau` when the motion would allow much longer steps than it can make. `radau` estimates the largest eigenvalue of
each Jacobian; after twenty steps in a row well inside the stability region of the explicit method it hands back.
Each method is compiled only when its turn comes.
"""

from __future__ import annotations

from bellcrank.integrate.status import Status

FIRST = "dop853"
_SUCCESSORS = {Status.STIFF: "radau", Status.NONSTIFF: "dop853"}


def successor(status: Status) -> str | None:
    """The method to go on with, or None where the status asks for no change."""
    return _SUCCESSORS.get(status)
