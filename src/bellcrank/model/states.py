"""First-order states: numbers that follow z-dot = rate beside the motion (filters, actuators, bristles)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.math.tuples import Vec
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Linkage
    from bellcrank.model.joints import Joint
    from bellcrank.model.parameters import ParameterTable
    from bellcrank.quantities.snapshot import Snapshot

Rate = Callable[[Mapping[str, Any]], Any]
Trace = Callable[["Linkage", "Kinematics", Scalar], Scalar]


class Follower(Protocol):
    """What a load that follows a reaction is asked for; wrench: Moment and force of a joint on b, in world axes.

    lag: The time in which it does [s].
    """

    @property
    def lag(self) -> float: ...

    def carried(self, wrench: Callable[[Joint], tuple[Vec, Vec]], s: Snapshot) -> Scalar:
        """The load that it follows."""
        ...

    def following(self, wrench: Callable[[Joint], tuple[Vec, Vec]], s: Snapshot) -> Scalar:
        """The rate of the load."""
        ...


@dataclass(frozen=True, eq=False)
class StateVariable:
    """A first-order state.

    rate: z-dot [unit/s] of quantities by name; or trace: the same of the kinematics, for states that the package makes
    itself; or reaction: a load that follows the reaction of a joint, and starts with it. initial: Value at the start.
    unit: Of the value.
    """

    name: str
    rate: Rate | None
    initial: float = 0.0
    unit: str = ""
    trace: Trace | None = None
    reaction: Follower | None = None


class StateMethods:
    """First-order states of a system."""

    parameters: ParameterTable
    states: dict[str, StateVariable]
    _new_name: Callable[[str, Any], str]

    def state(self, name: str, rate: Rate, initial: float = 0.0, unit: str = "") -> Expr:
        """A number that follows its own differential equation; use the result in forces like a parameter.

        rate: Function of a mapping of quantities by name, like the expression of an event:
        ``lambda m: (m["slider.position.x"] - m["filtered"]) / 0.01``, with states, parameters and ``m["t"]`` among
        them; what needs accelerations is not. initial: Value at the start of a run; ``initial={name: value}`` of a run
        gives another. unit: Of the value.
        """
        name = self._new_name("state", name)
        if not callable(rate):
            raise ModelError(
                f"state {name!r}: rate must be a function of the quantities, such as lambda m: ..., not {rate!r}"
            )
        value = checks.plain_number(
            f"initial value of state {name!r}", initial, "a state starts from a plain number"
        )
        return self._add_state(StateVariable(name, rate, value, unit))

    def _add_state(self, state: StateVariable) -> Expr:
        self.states[state.name] = state
        if state.rate is not None:
            # Those of the user stand first, whenever they are made.
            for other in [name for name, known in self.states.items() if known.rate is None]:
                self.states[other] = self.states.pop(other)
        self.parameters.states.add(state.name)
        return self.parameters.graph.input(state.name)


__all__ = ["StateMethods", "StateVariable"]
