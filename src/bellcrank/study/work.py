"""The work of a study: runs of some rows, here or on another machine, and what they are read for.

The same text of the model is compiled everywhere, and lanes are filled by row number, so the numbers of a row depend
neither on who computes it nor on what else is computed at the same time.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError, ModelError
from bellcrank.study.objectives import AnyMeasure, Function

if TYPE_CHECKING:
    from bellcrank.batch import BatchResult
    from bellcrank.mechanism import Mechanism
    from bellcrank.model.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """What was found for some rows: their numbers, the measures, whether they reached the end, why not.

    curves: kept quantities, one row of outputs each.
    """

    rows: NDArray[np.int64]
    measures: Mapping[str, Array]
    done: NDArray[np.bool_]
    reached: Array
    reasons: Sequence[str]
    curves: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, chosen: Any) -> Rows:
        """Some of them."""
        return Rows(
            self.rows[chosen],
            {name: values[chosen] for name, values in self.measures.items()},
            self.done[chosen],
            self.reached[chosen],
            [str(r) for r in np.array(self.reasons, dtype=object)[chosen]],
            {name: values[chosen] for name, values in self.curves.items()},
        )

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """All of them in the order of their numbers."""
        order = np.argsort(np.concatenate([p.rows for p in parts]), kind="stable")
        first = parts[0]
        return Rows(
            np.concatenate([p.rows for p in parts]),
            {name: np.concatenate([p.measures[name] for p in parts]) for name in first.measures},
            np.concatenate([p.done for p in parts]),
            np.concatenate([p.reached for p in parts]),
            [reason for p in parts for reason in p.reasons],
            {name: np.concatenate([p.curves[name] for p in parts]) for name in first.curves},
        ).part(order)


@dataclass(frozen=True, eq=False)
class Work:
    """Everything a worker needs to know.

    fingerprint: of the study. text: the model file. system: the model itself where it cannot be written as a
    file; such work stays in this process. measures: by name. options: of `simulate_many`. fixed: other values for
    all rows. start: where runs begin. keep: quantities whose curves are kept.
    """

    fingerprint: str
    text: str | None
    system: System | None
    measures: Mapping[str, AnyMeasure]
    duration: float
    options: Mapping[str, Any]
    fixed: Mapping[str, float]
    start: Any = "described"
    keep: tuple[str, ...] = ()

    @property
    def quantities(self) -> list[str]:
        """Those that measures read, and those to keep."""
        needed = [name for m in self.measures.values() for name in m.quantities]
        return list(dict.fromkeys([*needed, *self.keep]))

    def mechanism(self) -> Mechanism:
        """The analysed model, once a process."""
        # A system that has no text is known by itself: equal equations may carry other names.
        key = self.fingerprint, id(self.system)
        with _preparing:
            if key not in _prepared:
                from bellcrank.mechanism import analyse

                while len(_prepared) >= MOST_PREPARED:
                    _prepared.pop(next(iter(_prepared)))
                _prepared[key] = analyse(self.model())
            return _prepared[key]

    def model(self) -> System:
        """The model, from its text where there is one."""
        if self.text is None:
            assert self.system is not None
            return self.system
        from bellcrank.files import loads

        return loads(self.text, "the model of the study")

    def portable(self) -> Work:
        """A copy of the work that can be sent to another process."""
        if self.text is None:
            raise ModelError(
                "this model cannot be written as a model file, so it cannot travel to a cluster; run it here"
            )
        return Work(
            self.fingerprint, self.text, None, self.measures, self.duration, self.options, self.fixed,
            self.start, self.keep,
        )  # fmt: skip

    def run(self, rows: NDArray[np.int64], table: Mapping[str, Array], threads: int) -> tuple[Rows, bool]:
        """Simulate rows and read them; whether all came to their end before Ctrl-C.

        rows: their numbers, beginning at a multiple of the lanes. table: their variables.
        """
        from bellcrank.batch import simulate_many

        mechanism = self.mechanism()
        columns: dict[str, Any] = {**self.fixed, **table}
        starts, problems = self._starts(mechanism, table, len(rows))
        result = simulate_many(
            mechanism, columns, self.duration, quantities=self.quantities, starts=starts, threads=threads,
            progress=False, **self.options,
        )  # fmt: skip
        found = self._read(rows, table, result, problems)
        return found, result.run.status == "done"

    def _starts(
        self, mechanism: Mechanism, table: Mapping[str, Array], rows: int
    ) -> tuple[tuple[Array, Array] | None, dict[int, str]]:
        """Positions and speeds to start from; rows without any are NaN, and why."""
        if isinstance(self.start, str) and self.start == "described":
            return None, {}
        columns = {**{k: np.full(rows, v) for k, v in self.fixed.items()}, **table}
        if not isinstance(self.start, str):
            if callable(self.start):
                q, u = self.start(mechanism, columns)
                return (np.asarray(q), np.asarray(u)), {}
            return (np.tile(self.start.q, (rows, 1)), np.tile(self.start.u, (rows, 1))), {}
        from bellcrank.batch import equilibria

        try:
            return equilibria(mechanism, columns), {}
        except (BellcrankError, ArithmeticError):
            # One row without an equilibrium costs only itself.
            q = np.full((rows, mechanism.linkage.positions), np.nan)
            problems = {}
            for k in range(rows):
                try:
                    q[k] = equilibria(mechanism, {name: v[k : k + 1] for name, v in columns.items()})[0][0]
                except (BellcrankError, ArithmeticError) as error:
                    problems[k] = f"it has no equilibrium to start from: {error}"
            return (q, np.zeros((rows, mechanism.linkage.speeds))), problems

    def _read(
        self,
        rows: NDArray[np.int64],
        table: Mapping[str, Array],
        result: BatchResult,
        problems: Mapping[int, str],
    ) -> Rows:
        reasons, reached = [""] * len(rows), np.full(len(rows), result.time[-1])
        for failure in result.failures:
            reasons[failure.row] = problems.get(failure.row, failure.reason)
            reached[failure.row] = failure.time
        measures = {name: np.full(len(rows), np.nan) for name in self.measures}
        done = result.done.copy()
        for k in np.flatnonzero(result.done).tolist():
            row = {name: float(values[k]) for name, values in table.items()}
            # A run that an event has stopped counts as far as it went.
            known = _known(result, k)
            curves = {name: result.values[name][k, :known] for name in self.quantities}
            reached[k] = result.time[known - 1]
            for name, m in self.measures.items():
                try:
                    more = (result.units,) if isinstance(m, Function) else ()
                    value = m.value(result.time[:known], curves, row, *more)
                except BellcrankError as error:
                    done[k], reasons[k] = False, f"measure {name!r}: {error}"
                    continue
                measures[name][k] = value
                if not np.isfinite(value):
                    done[k], reasons[k] = False, f"measure {name!r} ({m}) is {value}"
        kept = {name: np.asarray(result.values[name]) for name in self.keep}
        return Rows(np.asarray(rows), measures, done, reached, reasons, kept)


def _known(result: BatchResult, k: int) -> int:
    """Outputs that a run has reached."""
    first = next(iter(result.values.values()))[k].reshape(len(result.time), -1)
    missing = np.isnan(first[:, 0])
    return int(np.argmax(missing)) if missing.any() else len(result.time)


MOST_PREPARED = 8
"""Models a process keeps compiled."""
_prepared: dict[tuple[str, int], Mechanism] = {}
_preparing = threading.RLock()

__all__ = ["Rows", "Work"]
