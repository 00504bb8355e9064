"""What is to be learned on a mechanism: what is seen, what may be done, what counts, where episodes begin and end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.group import lane_machine
from bellcrank.batch.starts import assembled_starts
from bellcrank.batch.table import read_table
from bellcrank.errors import AssemblyError, ModelError, unknown_name
from bellcrank.gym.motions import Method
from bellcrank.gym.reading import Reading
from bellcrank.impacts.timing import Timing
from bellcrank.mechanism import Mechanism, State, analyse
from bellcrank.model.system import System
from bellcrank.run.events import Controller, Event
from bellcrank.run.simulation import check_options, stepping

Array = NDArray[np.float64]
Range = float | tuple[float, float]
Initial = Mapping[str, Range] | Callable[[np.random.Generator], Mapping[str, float]]
Reward = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
Ending = Callable[[Mapping[str, Any]], Any]


@dataclass(eq=False)
class Task:
    """A mechanism and what is to be learned on it.

    model: a System, a Mechanism or the path of a model file. observation: names of quantities, in their order; or a
    mapping of names to their smallest and largest values. action: parameters that the agent sets, by name, with their
    smallest and largest values; they act wherever the model uses them, in joint forces, drivers or set points of
    controllers. reward: function (quantities by name after the step, action by name) -> number. step: time between two
    actions [s]. substeps: integration steps of equal length in each; None chooses them by `tolerance`. initial: start
    values ``joint.coordinate``, ``joint.coordinate_rate`` and parameters by name, each a number or the ends of a range
    from which every episode draws; or a function of a random generator that gives them. terminated: function of the
    quantities -> whether the episode ends. duration: of an episode at most [s]. events: those with ``stops=True`` end
    an episode at their time. controllers, integrator, tolerance, impacts: as for `simulate`; with substeps the
    integrator is runge_kutta4 unless another is named.
    """

    model: System | Mechanism | str | PathLike[str]
    observation: Sequence[str] | Mapping[str, tuple[float, float]]
    action: Mapping[str, tuple[float, float]]
    reward: Reward
    step: float
    substeps: int | None = None
    initial: Initial = field(default_factory=dict)
    terminated: Ending | None = None
    duration: float = np.inf
    events: Sequence[Event] = ()
    controllers: Sequence[Controller] = ()
    integrator: str | None = None
    tolerance: float = 1e-8
    impacts: str = "dense"

    def __post_init__(self) -> None:
        self.mechanism = _mechanism(self.model)
        self._check_times()
        known = self.mechanism.mechanics.parameters
        if not self.observation:
            raise ModelError("an environment needs something to see: observation=['cart.position.x']")
        if not self.action:
            raise ModelError("an environment needs something to do: action={'force': (-1.0, 1.0)}")
        for name, ends in self.action.items():
            if name not in known:
                raise unknown_name("parameter to act on", name, known)
            _check_range(f"action {name!r}", ends)
        self._check_initial()
        self.names = tuple(self.observation)
        self.reading = Reading(self.mechanism, self.names)
        self.places = [known.index(name) for name in self.action]
        self.low, self.high = np.array([*self.action.values()], dtype=float).T
        self.most_steps = 0 if np.isinf(self.duration) else max(1, round(self.duration / self.step))
        self.fixed_step = 0.0 if self.substeps is None else self.step / int(self.substeps)
        self.method = self._method()

    def _check_times(self) -> None:
        for name, value in (("step", self.step), ("duration", self.duration)):
            if not value > 0.0:
                raise ModelError(f"{name} must be a positive number of seconds, not {value!r}")
        if self.substeps is not None and (self.substeps != int(self.substeps) or self.substeps < 1):
            raise ModelError(f"substeps is a number of steps, at least 1, not {self.substeps!r}")
        if self.mechanism.system.strikes and self.impacts == "stepping" and self.substeps is None:
            raise ModelError(
                "impacts='stepping' needs the number of its steps in an action: give substeps=, e.g. 10"
            )

    def _check_initial(self) -> None:
        if callable(self.initial):
            return
        for name, ends in self.initial.items():
            if isinstance(ends, Sequence):
                _check_range(f"initial {name!r}", ends)
            if name in self.action:
                raise ModelError(f"{name!r} is an action and an initial value; leave one of them out")
        read_table(self.mechanism, {name: [np.mean(ends)] for name, ends in self.initial.items()})

    def _method(self) -> Method:
        integrator = self.integrator or ("auto" if self.substeps is None else "runge_kutta4")
        check_options(integrator, self.tolerance, self.fixed_step, np.inf, self.events, self.controllers)
        timing = Timing.of(self.impacts, 4, np.inf)
        options = stepping(self.mechanism, self.tolerance, self.fixed_step, np.inf)
        return Method(integrator, options, timing, tuple(self.events), tuple(self.controllers))

    def observed_bounds(self) -> tuple[Array, Array]:
        """Smallest and largest values of all components of the observation."""
        widths = [int(np.prod(self.reading.shape(name))) for name in self.names]
        if not isinstance(self.observation, Mapping):
            whole = np.full(sum(widths), np.inf)
            return -whole, whole
        low, high = np.array([*self.observation.values()], dtype=float).T
        return np.repeat(low, widths), np.repeat(high, widths)

    def checked(self, action: Any) -> Array:
        """Actions within their bounds, shape (..., actions); raises where one is not a number."""
        values = np.asarray(action, dtype=float)
        if not np.isfinite(values).all():
            column = int(np.argwhere(~np.isfinite(np.atleast_2d(values)))[0, 1])
            raise ModelError(f"action {[*self.action][column]!r} is not a finite number: {values!r}")
        return np.asarray(np.clip(values, self.low, self.high), dtype=float)

    def drawn(
        self, random: np.random.Generator, given: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Initial values of one episode; given: those that are not drawn."""
        if callable(self.initial):
            found = {name: float(value) for name, value in self.initial(random).items()}
        else:
            found = {
                name: float(random.uniform(*ends)) if isinstance(ends, Sequence) else float(ends)
                for name, ends in self.initial.items()
            }
        return found | {name: float(value) for name, value in (given or {}).items()}

    def starts(self, drawn: Sequence[Mapping[str, float]]) -> tuple[Array, Array]:
        """States of the integrator (rows, n), and parameters (rows, parameters), for episodes with initial values."""
        mechanism = self.mechanism
        if not any(drawn):
            y = np.concatenate([mechanism.start.q, mechanism.start.u[list(mechanism.partition.independent)]])
            return np.tile(y, (len(drawn), 1)), np.tile(mechanism.parameter_values, (len(drawn), 1))
        rows = read_table(mechanism, drawn)
        first = assembled_starts(mechanism, rows, lane_machine(mechanism))
        for row, reason in first.problems.items():
            raise AssemblyError(f"an episode cannot start with {rows.row(row)}: {reason}")
        return first.y, rows.parameters

    def start(self, drawn: Mapping[str, float]) -> Mechanism:
        """The mechanism at the start of an episode."""
        m = self.mechanism
        if not drawn:
            return m
        y, p = (values[0] for values in self.starts([drawn]))
        u = lane_machine(m).full.many(np.concatenate([[m.start.t], y, p])[None])[0][: m.linkage.speeds]
        start = State(m.start.t, y[: m.linkage.positions].copy(), u)
        return replace(m, start=start, parameter_values=tuple(p.tolist())).with_programs_of(m)


def _mechanism(model: Any) -> Mechanism:
    if isinstance(model, Mechanism):
        return model
    if not isinstance(model, System):
        from bellcrank.files import load

        model = load(model)
    return analyse(model)


def _check_range(who: str, ends: Any) -> None:
    values = np.asarray(ends, dtype=float)
    if values.shape != (2,) or not np.isfinite(values).all() or not values[0] <= values[1]:
        raise ModelError(f"{who} needs its smallest and largest value, not {ends!r}")


__all__ = ["Task"]
