"""How a run stands: one code, and for each what to do about it."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Where a run stands when the compiled loop hands control back."""

    DONE = 0
    RUNNING = 1
    EVENT = 2
    REPARTITION = 3
    CONSTRAINTS = 4
    STEP_UNDERFLOW = 5
    NOT_FINITE = 6
    TOO_MANY_STEPS = 7
    NEWTON_FAILED = 8
    STIFF = 9
    NONSTIFF = 10
    INTERRUPTED = 11
    CHANGE_POINT = 12
    EVENT_NOT_FINITE = 13
    PASSED_OVER = 14
    CALLED = 15
    UNSTABLE = 16

    @property
    def failed(self) -> bool:
        """Whether the run cannot go on by itself."""
        return self in _FAILURES

    @property
    def advice(self) -> str:
        """What the code means and what to do about it."""
        return _ADVICE[self]


_FAILURES = frozenset(
    {
        Status.CONSTRAINTS,
        Status.STEP_UNDERFLOW,
        Status.NOT_FINITE,
        Status.TOO_MANY_STEPS,
        Status.NEWTON_FAILED,
        Status.CHANGE_POINT,
        Status.EVENT_NOT_FINITE,
        Status.PASSED_OVER,
        Status.CALLED,
        Status.UNSTABLE,
    }
)

_ADVICE = {
    Status.DONE: "The run reached its end time.",
    Status.RUNNING: "The run is between two steps; call again to go on.",
    Status.EVENT: "An event function crossed zero; change the state or parameters, or simply go on.",
    Status.REPARTITION: "The dependent coordinates are close to a dead centre; go on with another partition.",
    Status.CONSTRAINTS: (
        "The loops cannot be closed to the position tolerance, however small the step. The mechanism may "
        "be at a position it cannot pass (a locked or over-stretched linkage), a driver may demand an "
        "impossible position, or lengths are such large numbers that rounding is beyond the position tolerance: "
        "check the drivers, or describe the mechanism in a larger unit."
    ),
    Status.STEP_UNDERFLOW: (
        "The step shrank to rounding without meeting the tolerance. A force is probably discontinuous or "
        "infinite here: describe the jump as an event, smooth it, or loosen the tolerances. If the "
        "mechanism is stiff, use the method 'radau' or 'auto'."
    ),
    Status.NOT_FINITE: (
        "The accelerations are not finite numbers. Look for a division by zero, the root of a negative "
        "number, a massless body without inertia, or a spring of zero length in the forces at this time; a fixed "
        "step may be too long."
    ),
    Status.TOO_MANY_STEPS: (
        "The run used all the steps it was allowed. If the mechanism is stiff, use the method 'radau' or "
        "'auto'; otherwise loosen the tolerance, or give simulate() a larger max_steps."
    ),
    Status.NEWTON_FAILED: (
        "The implicit equations of the step could not be solved, however small the step (a fixed one may be too long: "
        "make it shorter). A force is probably discontinuous here: describe the jump as an event or smooth it; or use "
        "the explicit method 'dop853'."
    ),
    Status.STIFF: "The explicit method is held back by stability; an implicit one would take longer steps.",
    Status.NONSTIFF: "Stability no longer limits the step: an explicit method would be cheaper.",
    Status.CHANGE_POINT: (
        "The loops lose rank here: the mechanism may continue on more than one branch (a linkage with all its bars in "
        "line, for example), or on none (at the end of its reach). Check that drivers demand what it can do; let it "
        "pass with more speed or with larger steps (a looser tolerance), stop it before, or add what holds its branch "
        "in reality: a second linkage, a gear pair, a stop."
    ),
    Status.EVENT_NOT_FINITE: (
        "An event function is not a number here, so that nothing it watches could be met any more. The expression of "
        "an event may divide by zero or take the root of a negative number; of a contact, the closest points are not "
        "defined where the bodies are now: check that they start apart, or choose other shapes."
    ),
    Status.PASSED_OVER: (
        "The fixed step is too long for a contact: it would pass over it, or make four steps of it or less. Give a "
        "shorter step, or none with an integrator that chooses its steps."
    ),
    Status.CALLED: (
        "What the run called raised an error: a search for contact points, or a function of a controller or an event."
    ),
    Status.UNSTABLE: (
        "The fixed step is too long for an explicit method: errors of the fastest part of the model grow from step to "
        "step. Give a shorter step, a softer or slower part (friction by the reaction of a joint: a lag= as long as "
        "the step), the integrator 'radau', or no step with an integrator that chooses its own."
    ),
    Status.INTERRUPTED: "The run was interrupted; the result up to here is kept.",
}
