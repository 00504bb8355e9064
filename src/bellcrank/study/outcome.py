"""What a study leaves behind: variables and measures of all runs, as labelled columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.batch.result import Failure
from bellcrank.errors import BellcrankError, unknown_name
from bellcrank.study.work import Rows

if TYPE_CHECKING:
    from bellcrank.study.study import Study

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Variables and measures, one row a run: ``outcome["comfort"]``, ``outcome["stiffness"]``.

    status: "done" or "interrupted". rows: numbers of the runs that are here, in order. done: which reached their end.
    failures: the others, with their variables and why. curves: kept quantities, shape (runs, outputs, ...), over
    `time` [s]. seconds: of this call, in which `fresh` runs were made; the others came from the store.
    """

    study: Study
    status: str
    rows: NDArray[np.int64]
    variables: Mapping[str, Array]
    measures: Mapping[str, Array]
    done: NDArray[np.bool_]
    failures: tuple[Failure, ...]
    curves: Mapping[str, Array]
    seconds: float
    fresh: int

    @staticmethod
    def of(study: Study, found: Rows, status: str, seconds: float, fresh: int) -> Outcome:
        """From the rows that were found."""
        table = {name: values[found.rows] for name, values in study.table.items()}
        failures = tuple(
            Failure(
                int(found.rows[k]),
                {name: float(values[k]) for name, values in table.items()},
                float(found.reached[k]),
                found.reasons[k],
            )
            for k in np.flatnonzero(~found.done).tolist()
        )
        return Outcome(
            study,
            status,
            found.rows,
            table,
            found.measures,
            found.done,
            failures,
            found.curves,
            seconds,
            fresh,
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"<Outcome of {self.study.name!r}: {len(self)} of {len(self.study)} runs{failed}, {self.status}>"
        )

    def __getitem__(self, name: str) -> Array:
        """A column: a variable or a measure."""
        if name in self.variables:
            return self.variables[name]
        if name not in self.measures:
            raise unknown_name("variable or measure", name, [*self.variables, *self.measures])
        return self.measures[name]

    @property
    def time(self) -> Array:
        """Of the outputs [s]."""
        return self.study.time

    @property
    def units(self) -> Mapping[str, str]:
        """By column."""
        return self.study.units

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Runs that reached their end and keep to all constraints."""
        found = self.done.copy()
        for name, limit in self.study.constraints.items():
            found &= limit.holds(self.measures[name])
        return found

    def best(self, measure: str | None = None, maximise: bool | None = None) -> dict[str, float]:
        """Variables and measures of the best run that keeps to the constraints.

        measure: by default the objective of the study.
        """
        name = measure or self.study.objective
        if name is None:
            raise BellcrankError(
                "name the measure that counts: best('comfort'), or give the study an objective"
            )
        values = self[name] * (-1.0 if (self.study.maximise if maximise is None else maximise) else 1.0)
        allowed = np.flatnonzero(self.feasible & np.isfinite(values))
        if not len(allowed):
            raise BellcrankError("no run keeps to all constraints")
        k = int(allowed[np.argmin(values[allowed])])
        return {name: float(self[name][k]) for name in (*self.variables, *self.measures)}

    def to_pandas(self) -> Any:
        """A pandas DataFrame: variables, measures, done, reason."""
        pd = needed("pandas", "to_pandas", "pandas", "frames")

        reasons = {f.row: f.reason for f in self.failures}
        columns: dict[str, Any] = {**self.variables, **self.measures, "done": self.done}
        columns["reason"] = [reasons.get(int(r), "") for r in self.rows]
        return pd.DataFrame(columns, index=pd.Index(self.rows, name="run"))

    def to_xarray(self) -> Any:
        """An xarray Dataset over the dimension run (and time for kept curves), with units as attributes."""
        xr = needed("xarray", "to_xarray", "xarray", "frames")

        data: dict[str, Any] = {
            name: ("run", values, {"units": self.units[name]}) for name, values in self.measures.items()
        }
        for name, values in self.curves.items():
            dims = ("run", "time", *[f"{name}:{i}" for i in range(2, values.ndim)])
            data[f"curve {name}"] = (dims, values, {"units": self.study.units_of_quantities[name]})
        coordinates: dict[str, Any] = {"run": self.rows, "done": ("run", self.done)}
        if self.curves:
            coordinates["time"] = ("time", self.time, {"units": "s"})
        coordinates |= {
            name: ("run", values, {"units": self.units[name]}) for name, values in self.variables.items()
        }
        return xr.Dataset(data, coords=coordinates)

    def plot(self, kind: str, *names: str, path: str | PathLike[str] | None = None) -> Any:
        """A matplotlib figure: "response", "surface", "scatter", "tornado" or "convergence" of named columns."""
        from bellcrank.study.plots import plot

        return plot(self, kind, names, path)


__all__ = ["Outcome"]
