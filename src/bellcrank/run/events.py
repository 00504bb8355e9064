"""Events and sampled controllers: what happens to a run from outside its equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.reach import is_positive
from bellcrank.errors import ModelError, unknown_name
from bellcrank.formulations.loops import Loops, Partition
from bellcrank.integrate.crossings import RATE
from bellcrank.integrate.failures import function_of
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import rebuild
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program
from bellcrank.program.subprogram import called
from bellcrank.program.trace import Expr, Scalar
from bellcrank.quantities.measured import Measured
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism, State

Array = NDArray[np.float64]


class Watched(Protocol):
    """Gives the event functions by the names of the events."""

    def __call__(self, state: State | None = None, p: Array | None = None, /) -> Mapping[str, float]:
        """In a state and with values of all parameters; those of the event where missing."""


@dataclass(frozen=True, eq=False)
class Event:
    """A zero crossing of a traced expression.

    expression: function of a mapping of quantities by name, e.g. ``lambda m: m["slider.position.x"] - 1.0``;
    ``m["t"]`` is time, parameters go by their names. direction: +1 rising, -1 falling, 0 both. stops: whether
    the run ends here. parameters: new values from here on. jump: function (state, parameters by name) -> new
    State, or None. update: function (state, parameters by name) -> new values of parameters; the step begins anew
    here even where there are none. revise: function (state, values of all parameters in their order, values of all
    event functions by name) that changes the parameters in place. recorded: whether the result lists it.
    """

    name: str
    expression: Callable[[Mapping[str, Scalar]], Scalar]
    direction: int = 0
    stops: bool = False
    parameters: Mapping[str, float] | None = None
    jump: Callable[[State, Mapping[str, float]], State | None] | None = None
    update: Callable[[State, Mapping[str, float]], Mapping[str, float]] | None = None
    revise: Callable[[State, Array, Watched], None] | None = None
    recorded: bool = True

    @property
    def changes_parameters(self) -> bool:
        """Whether parameters may have other values after it."""
        return bool(self.parameters) or self.update is not None or self.revise is not None

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"event {self.name!r}: direction is -1, 0 or 1, not {self.direction!r}")
        if not callable(self.expression):
            raise ModelError(f"event {self.name!r}: expression must be a function of the quantities")


def _nothing(measured: Mapping[str, Scalar]) -> Scalar:
    return 1.0


@dataclass(frozen=True, eq=False)
class StateEvent(Event):
    """A zero crossing of something traced from the kinematics itself: the gap of a contact."""

    expression: Callable[[Mapping[str, Scalar]], Scalar] = _nothing
    trace: Callable[[Kinematics, Scalar], Scalar] = lambda kin, t: 1.0


class ClosingRate(StateEvent):
    """The rate of the gap before it. Its zero is where the gap is smallest, so that no short overlap is missed."""

    def __post_init__(self) -> None:
        assert self.direction == RATE


@dataclass(frozen=True, eq=False)
class Controller:
    """A Python function called every `period` seconds.

    measures: quantities by name, handed to the function. function: (t [s], measurements by name) -> new values of
    parameters by name, or None. offset: time of the first call after the start [s].
    """

    name: str
    period: float
    measures: Sequence[str]
    function: Callable[[float, Mapping[str, Any]], Mapping[str, float] | None]
    offset: float = 0.0

    def __post_init__(self) -> None:
        who = f"controller {self.name!r}"
        if not is_positive(self.period):
            raise ModelError(f"{who}: the period must be a positive number of seconds, not {self.period!r}")
        if not (self.offset == 0.0 or is_positive(self.offset)):
            raise ModelError(f"{who}: the offset is a number of seconds from 0 on, not {self.offset!r}")
        if isinstance(self.measures, str) or not isinstance(self.measures, Sequence):
            raise ModelError(f"{who}: measures are a list of names, such as ['t'], not {self.measures!r}")
        if not callable(self.function):
            raise ModelError(
                f"{who}: the last argument is a function, such as lambda t, measured: {{'force': 1.0}}, "
                f"not {self.function!r}"
            )


def watch_program(mechanism: Mechanism, partition: Partition, events: Sequence[Event]) -> Program:
    """[t, q, u_i, p] to the event functions."""
    s = Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)
    quantities = Quantities(s)
    values = [_scalar(e, _traced(e, quantities), s) for e in events]
    loops = Loops(s.kin, mechanism.mechanics.constraints, partition, s.t)
    speeds = loops.speeds({i: s.u[i] for i in partition.independent})
    values = substituted(values, {s.u[c].id: speeds[c] for c in partition.dependent})
    inputs = [s.t, *s.q, *(s.u[i] for i in partition.independent), *s.parameters]
    return Program.of(inputs, values, "events")


def _traced(event: Event, quantities: Quantities) -> Any:
    if isinstance(event, StateEvent):
        return event.trace(quantities.s.kin, quantities.s.t)
    return event.expression(Measured(quantities, f"event {event.name!r}"))


def _scalar(event: Event, value: Any, s: Snapshot) -> Scalar:
    if isinstance(value, Expr):
        return s.graph.bring(value)
    try:
        return float(value)
    except TypeError as error:
        raise ModelError(f"event {event.name!r}: its expression must give one number") from error


def substituted(outputs: Sequence[Scalar], replaced: Mapping[int, Scalar]) -> list[Scalar]:
    """Outputs with some inputs replaced by expressions of the others."""
    memo: dict[int, Scalar] = dict(replaced)
    for node in Program(inputs_of(outputs), tuple(outputs)).operations:
        args = [memo.get(a.id, a) if isinstance(a, Expr) else a for a in node.args]
        memo[node.id] = rebuild(node.op, args)
    return [memo.get(e.id, e) if isinstance(e, Expr) else e for e in outputs]


def inputs_of(outputs: Sequence[Scalar]) -> tuple[Expr, ...]:
    """All inputs of the graph the outputs live in."""
    graph = next((e.graph for e in outputs if isinstance(e, Expr)), None)
    return tuple(e for e in graph.nodes if e.op == "input") if graph is not None else ()


def measuring(mechanism: Mechanism, names: Sequence[str]) -> Callable[[State, Array], dict[str, Any]]:
    """A function that measures quantities in a state."""
    s = Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)
    measured = Measured(Quantities(s), "controller")
    outputs: list[Scalar] = []
    places: dict[str, tuple[slice, tuple[int, ...]]] = {}
    for name in names:
        value = measured[name]
        several = np.asarray(value, dtype=object)
        places[name] = slice(len(outputs), len(outputs) + several.size), several.shape
        outputs += several.ravel().tolist()
    program = Program.of([s.t, *s.q, *s.u, *s.parameters], outputs)
    # What is called is thousands of operations, and compiled for the run anyway.
    run = compile_program(program) if called(program) else partial(evaluate, program)

    def measure(state: State, p: Array) -> dict[str, Any]:
        values = run(np.concatenate([[state.t], state.q, state.u, p]))
        return {
            name: values[place].reshape(shape) if shape else float(values[place.start])
            for name, (place, shape) in places.items()
        }

    return measure


def react(
    mechanism: Mechanism, met: Sequence[Event], state: State, p: Array, watched: Watched
) -> tuple[State | None, Array | None, bool] | None:
    """What the events that were met change: state, parameters, whether to stop."""
    names = mechanism.mechanics.parameters
    new_p: Array | None = None
    new_state: State | None = None
    for event in met:
        changes = dict(event.parameters or {})
        if event.revise is not None:
            new_p = p.copy() if new_p is None else new_p
            event.revise(state, new_p, watched)
        if event.update is not None:
            new_p = p.copy() if new_p is None else new_p
            with function_of(f"event {event.name!r}"):
                changes |= event.update(state, dict(zip(names, new_p.tolist(), strict=True)))
        for name, value in changes.items():
            if name not in names:
                raise unknown_name(f"parameter for event {event.name!r}", name, names)
            new_p = p.copy() if new_p is None else new_p
            new_p[names.index(name)] = float(value)
        if event.jump is not None:
            values = dict(zip(names, (p if new_p is None else new_p).tolist(), strict=True))
            with function_of(f"event {event.name!r}"):
                new_state = event.jump(new_state or state, values) or new_state
    stop = any(e.stops for e in met)
    return (new_state, new_p, stop) if new_p is not None or new_state is not None or stop else None
