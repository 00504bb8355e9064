"""The best values of the variables of a study, by SciPy's methods: with exact gradients, or without any.

Variables are scaled to 0 ... 1 over the range of their distributions, the objective by its first value, constraints by
their limits, so that one tolerance suits all.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError, ModelError, unknown_name
from bellcrank.study.evaluation import Evaluation, Evaluator
from bellcrank.study.objectives import Limit

if TYPE_CHECKING:
    from bellcrank.study.study import Study

Array = NDArray[np.float64]

WITH_GRADIENTS = ("slsqp", "trust-constr", "l-bfgs-b")
WITHOUT_GRADIENTS = ("nelder-mead", "powell", "cobyqa", "differential-evolution")
CONSTRAINED = ("slsqp", "trust-constr", "cobyqa", "differential-evolution")
"""Methods that take constraints."""
_NAMES = {
    "cobyqa": "COBYQA",
    "slsqp": "SLSQP",
    "l-bfgs-b": "L-BFGS-B",
    "nelder-mead": "Nelder-Mead",
    "powell": "Powell",
}
SLACK = 1e-6
"""By which share of its limit a measure may pass it and still count as keeping to it."""
FAILED = 1e10
"""Scaled objective of a run that failed, for methods without gradients."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best point found.

    status: "converged", "stopped" (`message` says why) or "interrupted". variables, measures: there. gradients: of
    each measure by each variable, where the method uses them. feasible: whether it keeps to the constraints. history:
    every point that was computed, in order. seconds: of this call.
    """

    study: Study
    method: str
    status: str
    message: str
    variables: Mapping[str, float]
    measures: Mapping[str, float]
    gradients: Mapping[str, Mapping[str, float]] | None
    feasible: bool
    history: tuple[Evaluation, ...]
    seconds: float

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name} = {value:g}" for name, value in (*self.variables.items(), *self.measures.items())
        )
        kept = "" if self.feasible else ", constraints broken"
        return f"<Optimum of {self.study.name!r}: {values}; {self.status}{kept}, {len(self.history)} points>"

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """How the search went: objective, constraints and variables over the points; a matplotlib figure."""
        from bellcrank.study.plots import search

        return search(self, path)


def optimise(
    study: Study,
    *,
    method: str = "slsqp",
    begin: Mapping[str, float] | None = None,
    tolerance: float = 1e-6,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    store: str | PathLike[str] | None = None,
    cluster: Any = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Optimum:
    """Make the objective of the study small (or large), within the ranges of its variables and its constraints.

    method: 'slsqp', 'trust-constr' or 'l-bfgs-b' with exact gradients; 'nelder-mead', 'powell', 'cobyqa' or
    'differential-evolution' without. begin: the first point (default: the medians). tolerance: of the search, in
    scaled numbers. options: those of the method in SciPy. seed: of differential evolution. store: a folder that keeps
    every point; a search that was killed goes on from there. cluster: for the populations of differential evolution;
    see :meth:`Study.run`. Ctrl-C returns the best point so far.
    """
    if method not in (*WITH_GRADIENTS, *WITHOUT_GRADIENTS):
        raise unknown_name("method", method, (*WITH_GRADIENTS, *WITHOUT_GRADIENTS))
    if study.objective is None:
        raise ModelError("an optimisation needs the objective of the study: objective='comfort'")
    if study.constraints and method not in CONSTRAINED:
        raise ModelError(f"method {method!r} takes no constraints; use {', '.join(CONSTRAINED)}")
    if cluster is not None and method != "differential-evolution":
        raise ModelError(
            f"method {method!r} asks for one point after the other; a cluster has nothing to share there"
        )
    for name in begin or {}:
        if name not in study.variables:
            raise unknown_name("variable", name, study.variables)
    settings = {"method": method, "begin": dict(begin or {}), "tolerance": tolerance, "seed": seed}
    settings["options"] = dict(options or {})
    with ExitStack() as stack:
        kept = None if store is None else stack.enter_context(_store(study, store, settings))
        client = None
        if cluster is not None:
            from bellcrank.study.cluster import client_of

            client = stack.enter_context(client_of(cluster))
        line = stack.enter_context(_Line(study, progress))
        evaluator = Evaluator(study, method in WITH_GRADIENTS, kept, client, threads, line.show)
        return _Search(study, evaluator, settings).go()


class _Search:
    """A search in scaled variables."""

    def __init__(self, study: Study, evaluator: Evaluator, settings: Mapping[str, Any]) -> None:
        self.study, self.evaluator, self.settings = study, evaluator, settings
        self.sign = -1.0 if study.maximise else 1.0
        self.span = evaluator.high - evaluator.low
        assert study.objective is not None
        self.objective = study.objective
        self.scale = 1.0

    def point(self, s: Array) -> Array:
        """Variables from scaled ones, which stand in the first axis."""
        return np.asarray(self.evaluator.low + self.span * np.asarray(s).T).reshape(-1, len(self.span))

    def go(self) -> Optimum:
        began = time.perf_counter()
        status, message = "interrupted", "Ctrl-C"
        try:
            result = self._search()
            message = str(result.message if isinstance(result.message, str) else result.message[0])
            status = "converged" if result.success else "stopped"
        except KeyboardInterrupt:
            pass
        return self._best(status, message, time.perf_counter() - began)

    def _search(self) -> Any:
        from scipy import optimize

        first = self._first()
        begin = (np.array([*first.values()]) - self.evaluator.low) / self.span
        here = self.evaluator.at(self.point(begin))[0]
        if here.reason and self.settings["method"] != "differential-evolution":
            raise BellcrankError(
                f"the first point cannot be simulated: {here.reason}; give another with begin="
            )
        value = here.measures[self.objective]
        self.scale = abs(value) if np.isfinite(value) and value != 0.0 else 1.0
        method, tolerance = self.settings["method"], self.settings["tolerance"]
        bounds = optimize.Bounds(np.zeros(len(begin)), np.ones(len(begin)), keep_feasible=True)
        constraints = [self._constraint(name, limit) for name, limit in self.study.constraints.items()]
        options: dict[str, Any] = dict(self.settings["options"])
        if method == "differential-evolution":
            given = {"tol": tolerance, "polish": False, **options}
            return optimize.differential_evolution(
                self._values, bounds, x0=begin, rng=self.settings["seed"], vectorized=True, updating="deferred",
                constraints=tuple(constraints), **given,
            )  # fmt: skip
        more: dict[str, Any] = {"jac": self._gradient} if self.evaluator.gradients else {}
        if constraints:
            more["constraints"] = constraints
        minimize: Any = optimize.minimize
        with warnings.catch_warnings():
            # What trust-constr says where a measure is linear in the variables.
            warnings.filterwarnings("ignore", message="delta_grad == 0.0")
            return minimize(
                self._value,
                begin,
                method=_NAMES.get(method, method),
                bounds=bounds,
                tol=tolerance,
                options=options,
                **more,
            )

    def _first(self) -> dict[str, float]:
        given = self.settings["begin"]
        first = {name: float(given.get(name, d.middle)) for name, d in self.study.variables.items()}
        for (name, value), low, high in zip(
            first.items(), self.evaluator.low, self.evaluator.high, strict=True
        ):
            if not low <= value <= high:
                raise ModelError(
                    f"begin: {name!r} = {value:g} lies outside of its range {low:g} ... {high:g}"
                )
        return first

    def _scaled(self, found: Evaluation) -> float:
        value = found.measures[self.objective]
        return FAILED if not np.isfinite(value) else self.sign * value / self.scale

    def _value(self, s: Array) -> float:
        return self._scaled(self._whole(s))

    def _values(self, s: Array) -> Any:
        """For a population: one point a column."""
        found = [self._scaled(e) for e in self.evaluator.at(self.point(s))]
        return np.array(found) if np.ndim(s) == 2 else found[0]

    def _whole(self, s: Array) -> Evaluation:
        """The evaluation of one point; with gradients a failing run ends the search."""
        found = self.evaluator.at(self.point(s))[0]
        if found.reason and self.evaluator.gradients:
            point = ", ".join(f"{n} = {x:g}" for n, x in zip(self.evaluator.names, found.point, strict=True))
            raise BellcrankError(
                f"the run at {point} failed: {found.reason}; narrow the ranges, or use a method without gradients"
            )
        return found

    def _gradient(self, s: Array) -> Array:
        found = self._whole(s)
        assert found.gradients is not None
        return np.asarray(self.sign * found.gradients[self.objective] * self.span / self.scale)

    def _constraint(self, name: str, limit: Limit) -> Any:
        from scipy.optimize import NonlinearConstraint

        size = _size(limit)

        def value(s: Array) -> Any:
            if not self.evaluator.gradients:
                # A run that failed keeps to no limit.
                worst = -FAILED if np.isfinite(limit.at_least) else FAILED
                measured = [e.measures[name] / size for e in self.evaluator.at(self.point(s))]
                found = np.array([worst if not np.isfinite(v) else v for v in measured])
                return found[None] if np.ndim(s) == 2 else found
            return np.array([self._whole(s).measures[name] / size])

        def jacobian(s: Array) -> Array:
            found = self._whole(s)
            assert found.gradients is not None
            return np.asarray(found.gradients[name] * self.span / size)[None]

        given: dict[str, Any] = {"jac": jacobian} if self.evaluator.gradients else {}
        return NonlinearConstraint(value, limit.at_least / size, limit.at_most / size, **given)

    def _best(self, status: str, message: str, seconds: float) -> Optimum:
        history = self.evaluator.history
        usable = [e for e in history if not e.reason and np.isfinite(e.measures[self.objective])]
        if not usable:
            raise BellcrankError(
                "no point could be simulated" if history else "stopped before the first point"
            )
        kept = [e for e in usable if self._violation(e) <= SLACK]
        if kept:
            best = min(kept, key=lambda e: self.sign * e.measures[self.objective])
        else:
            best = min(usable, key=self._violation)
        gradients = None
        if best.gradients is not None:
            names = self.evaluator.names
            gradients = {m: dict(zip(names, map(float, by), strict=True)) for m, by in best.gradients.items()}
        variables = dict(zip(self.evaluator.names, map(float, best.point), strict=True))
        return Optimum(
            self.study, self.settings["method"], status, message, variables, best.measures, gradients, bool(kept),
            tuple(history), seconds,
        )  # fmt: skip

    def _violation(self, e: Evaluation) -> float:
        """The largest share of its limit by which a measure passes it."""
        worst = 0.0
        for name, limit in self.study.constraints.items():
            value = e.measures[name]
            over = max(limit.at_least - value, value - limit.at_most) / _size(limit)
            worst = max(worst, over) if np.isfinite(over) else np.inf
        return worst


def _size(limit: Limit) -> float:
    ends = [abs(x) for x in (limit.at_least, limit.at_most) if np.isfinite(x)]
    return max(ends) or 1.0


def _store(study: Study, folder: str | PathLike[str], settings: Mapping[str, Any]) -> Any:
    import hashlib
    import json

    from bellcrank.study.store import Store

    definition = study.definition(design=False)
    definition |= {
        "objective": study.objective,
        "maximise": study.maximise,
        "constraints": {name: limit.as_data() for name, limit in study.constraints.items()},
        "search": settings,
    }
    text = json.dumps(definition, sort_keys=True, default=str)
    return Store(folder, hashlib.sha256(text.encode()).hexdigest(), json.loads(text))


class _Line:
    """A line with points done, their rate, and the best so far."""

    def __init__(self, study: Study, wanted: bool | None) -> None:
        import sys

        self.study, self.count, self.best = study, 0, np.inf
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.began = time.perf_counter()
        self.shown: Any = None

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown is not None:
            self.shown.stop()

    def show(self, found: Evaluation) -> None:
        """One more point."""
        self.count += 1
        sign = -1.0 if self.study.maximise else 1.0
        value = found.measures[self.study.objective or ""]
        kept = all(limit.holds(found.measures[name], SLACK) for name, limit in self.study.constraints.items())
        if kept and np.isfinite(value):
            self.best = min(self.best, sign * value)
        seconds = time.perf_counter() - self.began
        if not self.wanted or seconds < 1.0:
            return
        if self.shown is None:
            from rich.console import Console
            from rich.status import Status

            self.shown = Status("", console=Console(stderr=True))
            self.shown.start()
        unit = self.study.units[self.study.objective or ""]
        self.shown.update(
            f"{self.count} points, {self.count / seconds:.3g} a second, "
            f"best {self.study.objective} {sign * self.best:.6g} {unit}"
        )


__all__ = ["Optimum", "optimise"]
