"""The rates of first-order states in one traced state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bellcrank.errors import ModelError, TracedBranch
from bellcrank.program.trace import TRUTH_OPS, Expr, Scalar
from bellcrank.quantities.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism


def state_rate(s: Snapshot, name: str) -> Scalar:
    """The rate of a state [unit/s]."""
    from bellcrank.quantities.measured import Measured
    from bellcrank.quantities.quantities import Quantities

    state = s.system.states[name]
    if state.trace is not None:
        return state.trace(s.linkage, s.kin, s.t)
    if state.follows is not None:
        first = s.linkage.positions - len(s.linkage.states)
        return (followed(s, name) - s.q[first + s.linkage.states.index(name)]) * (1.0 / state.lag)
    assert state.rate is not None
    rate, who = state.rate, f"state {name!r}"
    return checked_value(s, who, f"the rate of {who}", lambda: rate(Measured(Quantities(s), who)))


def followed(s: Snapshot, name: str) -> Scalar:
    """What a state follows: of accelerations and multipliers, where it asks for them."""
    from bellcrank.quantities.measured import Measured
    from bellcrank.quantities.quantities import Quantities

    law, who = s.system.states[name].follows, f"state {name!r}"
    assert law is not None
    measured = Measured(Quantities(s), who, solved=True)
    return checked_value(s, who, f"what {who} follows", lambda: law(measured))


def checked_value(s: Snapshot, who: str, what: str, function: Callable[[], Any]) -> Scalar:
    """The value of a user's function of quantities, traced; `what` it is in errors, `who` owns it."""
    try:
        value = function()
    except TracedBranch as error:
        raise TracedBranch(f"{who}: {error}") from error
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{what} failed when it was traced: {type(error).__name__}: {error}") from error
    if isinstance(value, Expr):
        if value.op in TRUTH_OPS:
            raise ModelError(f"{what} is a condition; return a number: where(condition, a, b)")
        return s.graph.bring(value)
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} must be one number, not {value!r}") from error


def refuse_states(mechanism: Mechanism, what: str, besides_deflections: bool = False) -> None:
    """Raise where something that knows motions only is asked of a mechanism with first-order states.

    besides_deflections: Those of tyres and bristles may be there; at rest they stay as they are.
    """
    states = mechanism.system.states
    for name in mechanism.linkage.states:
        if besides_deflections and states[name].owner is not None:
            continue
        raise ModelError(f"{what} does not follow first-order states, here {name!r}; use simulate")


__all__ = ["checked_value", "followed", "refuse_states", "state_rate"]
