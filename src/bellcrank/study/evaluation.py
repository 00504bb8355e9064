"""Values of the measures at points an optimiser asks for, and their exact gradients; each point is computed once.

The gradient of a measure follows from the variational equations of the run (:mod:`bellcrank.analyses.sensitivity`) and
the derivative of its statistic. What was computed is kept in the store in the order it was asked for: an optimiser
that is started again asks for the same points and is answered from there until it comes to where it was killed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError, ModelError
from bellcrank.integrate import SimulationError
from bellcrank.run.touch import refuse_continuous
from bellcrank.study.distributions import Choice
from bellcrank.study.objectives import Measure
from bellcrank.study.running import Batches, cores
from bellcrank.study.store import DamagedPart
from bellcrank.study.work import Rows

if TYPE_CHECKING:
    from bellcrank.analyses.sensitivity import Sensitivity
    from bellcrank.study.store import Store
    from bellcrank.study.study import Study

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One point: variables, measures, gradients by measure (in the order of the variables) where computed.

    reason: why a run failed; its measures are NaN.
    """

    point: Array
    measures: Mapping[str, float]
    gradients: Mapping[str, Array] | None
    reason: str = ""


class Evaluator:
    """Answers an optimiser. history: every point once, in the order computed."""

    def __init__(
        self,
        study: Study,
        gradients: bool,
        store: Store | None = None,
        client: Any = None,
        threads: int | None = None,
        seen: Callable[[Evaluation], None] | None = None,
    ) -> None:
        self.study, self.gradients, self.store, self.client = study, gradients, store, client
        self.threads = threads or cores()
        self.names = tuple(study.variables)
        self.history: list[Evaluation] = []
        self.seen = seen or (lambda evaluation: None)
        self._known: dict[bytes, Evaluation] = {}
        self._stored = {} if store is None else store.batches()
        self._asked = 0
        for name, d in study.variables.items():
            if isinstance(d, Choice):
                raise ModelError(f"variable {name!r} has separate values; an optimiser needs a range")
        self.low, self.high = np.array([d.range for d in study.variables.values()]).T
        if gradients:
            self._check_differentiable()

    def _check_differentiable(self) -> None:
        study = self.study
        for name, m in study.measures.items():
            if not isinstance(m, Measure):
                raise ModelError(
                    f"measure {name!r} is a Python function, which has no exact gradient; "
                    "use method='nelder-mead', 'cobyqa' or 'differential-evolution'"
                )
        for name in self.names:
            if name not in study.mechanism.mechanics.parameters:
                raise ModelError(f"variable {name!r} is a start value; gradients go by parameters only")
        refuse_continuous(study.mechanism, "a gradient")
        if study.events or study.mechanism.system.strikes:
            raise ModelError(
                "gradients do not follow events and impacts; use method='nelder-mead', 'cobyqa' or "
                "'differential-evolution'"
            )
        if callable(study.start):
            raise ModelError("gradients do not know how a start made by a function depends on the variables")

    def at(self, points: Array) -> list[Evaluation]:
        """Evaluations of points, shape (points, variables)."""
        points = np.clip(np.atleast_2d(points), self.low, self.high)
        fresh: dict[bytes, Array] = {}
        for point in points:
            if point.tobytes() not in self._known:
                fresh.setdefault(point.tobytes(), point)
        if fresh:
            for found in self._answered(np.array([*fresh.values()])):
                self._known[found.point.tobytes()] = found
                self.history.append(found)
                self.seen(found)
        return [self._known[point.tobytes()] for point in points]

    def _answered(self, points: Array) -> list[Evaluation]:
        """From the store where it holds these very points under the next number, else computed."""
        number = self._asked
        self._asked += 1
        table = dict(zip(self.names, points.T, strict=True))
        if self.store is not None and number in self._stored:
            with suppress(DamagedPart):
                before = self.store.table(self._stored[number], table)
                if all(np.array_equal(before[name], values) for name, values in table.items()):
                    rows = self.store.read(self._stored[number], dict.fromkeys(self._columns), {})
                    return self._evaluations(points, rows)
        rows = self._with_gradients(points) if self.gradients else self._values(points, table)
        if self.store is not None:
            self.store.write(number, rows, table)
        return self._evaluations(points, rows)

    @property
    def _columns(self) -> list[str]:
        own = list(self.study.measures)
        return own + ([slope(m, v) for m in own for v in self.names] if self.gradients else [])

    def _evaluations(self, points: Array, rows: Rows) -> list[Evaluation]:
        found = []
        for k, point in enumerate(points):
            measures = {name: float(rows.measures[name][k]) for name in self.study.measures}
            gradients = None
            if self.gradients:
                gradients = {
                    m: np.array([rows.measures[slope(m, v)][k] for v in self.names])
                    for m in self.study.measures
                }
            found.append(Evaluation(point, measures, gradients, rows.reasons[k]))
        return found

    def _values(self, points: Array, table: dict[str, Array]) -> Rows:
        """By `simulate_many`, here or on the cluster."""
        work = replace(self.study.work, keep=())
        batches = Batches(table, 8 if self.client is not None else max(4, 4 * -(-len(points) // 4)))
        if self.client is not None:
            from bellcrank.study.cluster import LostCluster, on_cluster

            numbers = list(range(len(batches)))
            try:
                return Rows.joined([rows for _, rows in on_cluster(work, batches, numbers, self.client)])
            except LostCluster as error:
                raise LostCluster(f"{error}; {self._kept()}") from error
        rows, whole = work.run(np.arange(len(points)), table, self.threads)
        if not whole:
            raise KeyboardInterrupt
        return rows

    def _kept(self) -> str:
        """What is left of a search that was stopped from outside, and how to go on."""
        if self.store is None:
            return "give the search a store, which keeps the points it has computed"
        return (
            f"{len(self.history)} points are kept in {str(self.store.folder)!r}; start a scheduler and search again "
            "with this store, it asks only for new ones"
        )

    def _with_gradients(self, points: Array) -> Rows:
        count = len(points)
        columns = {name: np.full(count, np.nan) for name in self._columns}
        done, reasons = np.zeros(count, bool), [""] * count
        reached = np.full(count, np.nan)
        for k, point in enumerate(points):
            try:
                run = self._sensitivity(point)
                reached[k] = run.result.time[-1]
                self._read(run, columns, k)
                done[k] = True
            except SimulationError as error:
                reached[k], reasons[k] = error.time, error.why
            except (BellcrankError, ArithmeticError) as error:
                reasons[k] = str(error) or type(error).__name__
        return Rows(np.arange(count), columns, done, reached, reasons)

    def _read(self, run: Sensitivity, columns: dict[str, Array], k: int) -> None:
        measures: Mapping[str, Any] = self.study.measures
        for name, m in measures.items():
            place = run.outputs.index(m.of)
            value, by = m.slope(run.result.time, run.values[:, place], run.derivatives[:, place])
            if not (math.isfinite(value) and np.isfinite(by).all()):
                raise BellcrankError(f"measure {name!r} ({m}) or its gradient is not finite")
            columns[name][k] = value
            for v, slope_by in zip(self.names, by, strict=True):
                columns[slope(name, v)][k] = slope_by

    def _sensitivity(self, point: Array) -> Sensitivity:
        """The run at a point with its derivatives."""
        from bellcrank.analyses.equilibrium_tangent import equilibrium_tangents
        from bellcrank.analyses.sensitivity import along
        from bellcrank.analyses.start_tangent import start_tangents
        from bellcrank.mechanism import State
        from bellcrank.run.simulation import prepared

        study = self.study
        nominal = study.mechanism
        known = nominal.mechanics.parameters
        given = {**study.fixed, **dict(zip(self.names, map(float, point), strict=True))}
        parameters = {name: value for name, value in given.items() if name in known}
        columns = [known.index(name) for name in self.names]
        if isinstance(study.start, str) and study.start == "described":
            from bellcrank.batch.table import read_table

            row = {name: [v] for name, v in given.items()}
            initial = read_table(nominal, row).start_values(0)
            own = prepared(nominal, "auto", initial, parameters)
            dq, du = start_tangents(own, columns)
        else:
            values = tuple(parameters.get(n, v) for n, v in zip(known, nominal.parameter_values, strict=True))
            state = study.start
            if isinstance(state, str):
                from bellcrank.batch import equilibria

                q, u = equilibria(nominal, {name: [v] for name, v in parameters.items()})
                state = State(nominal.start.t, q[0], u[0])
            own = replace(nominal, start=state, parameter_values=values).with_programs_of(nominal)
            if isinstance(study.start, str):
                dq, du = equilibrium_tangents(own, columns)
            else:
                dq, du = start_tangents(own, columns, held=True)
        outputs = list(dict.fromkeys(m.of for m in study.measures.values() if isinstance(m, Measure)))
        return along(own, self.names, dq, du, study.time, outputs, study.integrator, study.tolerance)


def slope(measure: str, variable: str) -> str:
    """The name of a derivative."""
    return f"d({measure})/d({variable})"


__all__ = ["Evaluation", "Evaluator", "slope"]
