"""Which variables matter, over their whole ranges: Sobol's indices and Morris's elementary effects, by SALib.

Sobol's indices (Sobol 1993, estimators of Saltelli and others 2010) share the variance of a measure out: the first
order index of a variable is the share it causes alone, the total index that with all its interactions. Morris's
effects (Morris 1991, mu* of Campolongo and others 2007) are differences along random paths: cheap, for screening.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.errors import BellcrankError, ModelError, unknown_name
from bellcrank.study.designs import Given, through_quantiles
from bellcrank.study.distributions import Distribution

if TYPE_CHECKING:
    from bellcrank.study.study import Study

Array = NDArray[np.float64]
Evaluate = Callable[[Mapping[str, Array]], Mapping[str, Array]]


@dataclass(frozen=True, eq=False)
class Indices:
    """Sobol's indices by measure: ``indices.first["comfort"]["stiffness"]``.

    first, total: shares of the variance. first_error, total_error: half the width of their 95 % intervals, from
    resampling. second: of pairs of variables, where asked for. runs: how many it took.
    """

    variables: tuple[str, ...]
    first: Mapping[str, Mapping[str, float]]
    total: Mapping[str, Mapping[str, float]]
    first_error: Mapping[str, Mapping[str, float]]
    total_error: Mapping[str, Mapping[str, float]]
    second: Mapping[str, Mapping[tuple[str, str], float]]
    runs: int

    def plot(self, measure: str, path: str | PathLike[str] | None = None) -> Any:
        """Bars of first order and total indices; a matplotlib figure."""
        from bellcrank.study.plots import indices

        if measure not in self.first:
            raise unknown_name("measure", measure, self.first)
        return indices(self, measure, path)


@dataclass(frozen=True, eq=False)
class Screening:
    """Morris's effects by measure, for a step over the whole range of a variable, in the unit of the measure.

    strength: mean of their magnitudes (mu*). mean: with sign (mu). spread: their deviation (sigma), a measure of
    curvature and interactions. error: half the width of the 95 % interval of the strength. runs: how many it took.
    """

    variables: tuple[str, ...]
    strength: Mapping[str, Mapping[str, float]]
    mean: Mapping[str, Mapping[str, float]]
    spread: Mapping[str, Mapping[str, float]]
    error: Mapping[str, Mapping[str, float]]
    runs: int


def sobol_indices(
    variables: Mapping[str, Distribution],
    evaluate: Evaluate,
    runs: int,
    *,
    second_order: bool = False,
    seed: int = 0,
) -> Indices:
    """Indices of a function of columns.

    evaluate: columns of the variables to columns of measures. runs: base samples, a power of two; the function is
    evaluated at runs * (n + 2) points for n variables, with `second_order` at runs * (2 n + 2).
    """
    _salib()
    from SALib.analyze import sobol as analysis
    from SALib.sample import sobol as sampling

    if runs < 4 or runs & (runs - 1):
        raise ModelError(f"runs of Sobol's indices are a power of two from 4 on, not {runs}")
    names = tuple(variables)
    problem = _problem(names)
    points = sampling.sample(problem, runs, calc_second_order=second_order, seed=seed)
    columns = _evaluated(evaluate, through_quantiles(points, variables), len(points))
    found: list[dict[str, Any]] = [{}, {}, {}, {}, {}]
    for measure, values in columns.items():
        _check_varied(measure, values)
        s = analysis.analyze(
            problem, _standard(values), calc_second_order=second_order, seed=seed, print_to_console=False
        )
        for kept, key in zip(found, ("S1", "ST", "S1_conf", "ST_conf"), strict=False):
            kept[measure] = dict(zip(names, map(float, s[key]), strict=True))
        if second_order:
            pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
            found[4][measure] = {(names[i], names[j]): float(s["S2"][i, j]) for i, j in pairs}
    first, total, first_error, total_error, second = found
    return Indices(names, first, total, first_error, total_error, second, len(points))


def morris(
    variables: Mapping[str, Distribution],
    evaluate: Evaluate,
    trajectories: int,
    *,
    levels: int = 4,
    seed: int = 0,
) -> Screening:
    """Elementary effects of a function of columns; it is evaluated at trajectories * (n + 1) points.

    evaluate: columns of the variables to columns of measures. levels: of the grid the paths go on (even).
    """
    _salib()
    from SALib.analyze import morris as analysis
    from SALib.sample import morris as sampling

    if trajectories < 2 or levels < 2 or levels % 2:
        raise ModelError("elementary effects need two trajectories and an even number of levels at least")
    names = tuple(variables)
    problem = _problem(names)
    points = np.asarray(sampling.sample(problem, trajectories, num_levels=levels, seed=seed))
    ends = np.array([[float(d.share(x)) for x in d.range] for d in variables.values()]).T
    inside = np.clip(ends[0] + points * (ends[1] - ends[0]), 0.0, 1.0)
    columns = _evaluated(evaluate, through_quantiles(inside, variables), len(points))
    found: list[dict[str, Any]] = [{}, {}, {}, {}]
    for measure, values in columns.items():
        s = analysis.analyze(problem, points, values, num_levels=levels, seed=seed, print_to_console=False)
        for kept, key in zip(found, ("mu_star", "mu", "sigma", "mu_star_conf"), strict=True):
            kept[measure] = dict(zip(names, map(float, s[key]), strict=True))
    strength, mean, spread, error = found
    return Screening(names, strength, mean, spread, error, len(points))


def study_indices(
    study: Study, runs: int, *, second_order: bool = False, seed: int = 0, **options: Any
) -> Indices:
    """Indices of the measures of a study; options: those of :meth:`Study.run`."""
    return sobol_indices(
        study.variables, _running(study, options), runs, second_order=second_order, seed=seed
    )


def study_screening(
    study: Study, trajectories: int, *, levels: int = 4, seed: int = 0, **options: Any
) -> Screening:
    """Elementary effects of the measures of a study; options: those of :meth:`Study.run`."""
    return morris(study.variables, _running(study, options), trajectories, levels=levels, seed=seed)


def _running(study: Study, options: Mapping[str, Any]) -> Evaluate:
    def evaluate(columns: Mapping[str, Array]) -> Mapping[str, Array]:
        outcome = replace(study, design=Given(columns)).run(**options)
        if outcome.status != "done":
            raise KeyboardInterrupt
        if outcome.failures:
            raise BellcrankError(
                f"{len(outcome.failures)} of {len(outcome)} runs failed, and indices need all of them; narrow the "
                f"ranges. The first: {outcome.failures[0]}"
            )
        return outcome.measures

    return evaluate


def _evaluated(evaluate: Evaluate, table: Mapping[str, Array], count: int) -> dict[str, Array]:
    columns = {name: np.asarray(v, dtype=float) for name, v in evaluate(table).items()}
    for name, values in columns.items():
        if values.shape != (count,) or not np.isfinite(values).all():
            raise ModelError(f"measure {name!r} must be one finite number a point; indices need all of them")
    return columns


def _check_varied(measure: str, values: Array) -> None:
    if np.ptp(values) <= 1e-13 * np.abs(values).max(initial=0.0):
        raise ModelError(
            f"measure {measure!r} does not change over the ranges; it has no variance to share out"
        )


def _standard(values: Array) -> Array:
    """Indices do not depend on offset and scale; estimators behave better without them."""
    return np.asarray((values - values.mean()) / values.std())


def _problem(names: tuple[str, ...]) -> dict[str, Any]:
    return {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}


def _salib() -> None:
    needed("SALib", "global sensitivity", "SALib", "study")


__all__ = ["Indices", "Screening", "morris", "sobol_indices"]
