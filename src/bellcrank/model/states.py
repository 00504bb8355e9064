"""First-order states: numbers with a rate of their own beside the motion (filters, actuators, bristles), and numbers
that follow what only the solved equations know, reactions and accelerations, so that forces can ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Linkage
    from bellcrank.model.parameters import ParameterTable

Rate = Callable[[Mapping[str, Any]], Any]
Trace = Callable[["Linkage", "Kinematics", Scalar], Scalar]


LAG = 1e-12
"""Time in which a state follows what it asks for [s]. Stiff methods take steps of the motion whatever it is: the state
is what it follows, solved with each step. Results differ from those of no lag in proportion to it: the speed of a
slider crank with friction after 1 s by 2.6e-6 rad/s at 1e-5 s and by 2.6e-10 rad/s at 1e-9 s, so here by less than
1e-12 rad/s."""


@dataclass(frozen=True, eq=False)
class StateVariable:
    """A first-order state.

    rate: z-dot [unit/s] of quantities by name; or trace: the same of the kinematics, for states that the package makes
    itself; or follows: z of quantities by name, reactions and accelerations among them, reached within the time `lag`
    [s]: z-dot = (follows - z) / lag. It starts with what it follows; others with `initial`. unit: Of the value. owner:
    What made it, where it is not the user's own.
    """

    name: str
    rate: Rate | None
    initial: float = 0.0
    unit: str = ""
    trace: Trace | None = None
    follows: Rate | None = None
    lag: float = LAG
    owner: Any = None


class StateMethods:
    """First-order states of a system."""

    parameters: ParameterTable
    states: dict[str, StateVariable]
    _new_name: Callable[[str, Any], str]

    def state(
        self,
        name: str,
        rate: Rate | None = None,
        initial: float | None = None,
        unit: str = "",
        *,
        follows: Rate | None = None,
        lag: float | None = None,
    ) -> Expr:
        """A number beside the motion; use the result in forces like a parameter.

        rate: Its rate [unit/s], a function of a mapping of quantities by name, like the expression of an event:
        ``lambda m: (m["slider.position.x"] - m["filtered"]) / 0.01``, with states, parameters and ``m["t"]`` among
        them; what needs accelerations is not. initial: Value at the start of a run, 0 where missing;
        ``initial={name: value}`` of a run gives another. unit: Of the value. follows: In the place of a rate, what it
        follows, a function of quantities with reactions and accelerations among them:
        ``lambda m: m["pin.force.x"]``. It starts there. lag: The time in which it follows, 1e-12 s where
        missing; results differ from those of no lag in proportion to it. Explicit methods and fixed steps need one as
        long as their steps.
        """
        name = self._new_name("state", name)
        if (rate is None) == (follows is None):
            raise ModelError(
                f"state {name!r} has a rate or follows something: give one of rate= and follows="
            )
        what, law = ("rate", rate) if follows is None else ("follows", follows)
        if not callable(law):
            raise ModelError(
                f"state {name!r}: {what} must be a function of the quantities, such as lambda m: ..., not {law!r}"
            )
        if follows is not None and initial is not None:
            raise ModelError(f"state {name!r} starts with what it follows; leave initial= out")
        if follows is None and lag is not None:
            raise ModelError(f"state {name!r} has a rate, which has no lag; leave lag= out")
        value = checks.plain_number(
            f"initial value of state {name!r}",
            0.0 if initial is None else initial,
            "a state starts from a plain number",
        )
        lag = checked_lag(name, LAG if lag is None else lag)
        return self._add_state(StateVariable(name, rate, value, unit, None, follows, lag))

    def _add_state(self, state: StateVariable) -> Expr:
        self.states[state.name] = state
        if state.owner is None:
            # Those of the user stand first, whenever they are made.
            for other in [name for name, known in self.states.items() if known.owner is not None]:
                self.states[other] = self.states.pop(other)
        self.parameters.states.add(state.name)
        return self.parameters.graph.input(state.name)


def checked_lag(name: str, lag: Any) -> float:
    """The time in which `name` follows what it asks for [s]."""
    value = checks.plain_number(f"lag of {name!r}", lag, "a lag is a plain number")
    if not value > 0.0:
        raise ModelError(f"lag of {name!r} is {value:g} s; it must be positive")
    return value


__all__ = ["LAG", "StateMethods", "StateVariable", "checked_lag"]
