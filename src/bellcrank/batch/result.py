"""What a batch leaves behind: chosen quantities of all instances, stacked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.errors import unknown_name

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism
    from bellcrank.result.impact_table import ImpactTable
    from bellcrank.result.result import Happening

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Failure:
    """An instance that did not reach its end: its row, its table entries, the time it reached [s], and why."""

    row: int
    values: Mapping[str, float]
    time: float
    reason: str

    def __str__(self) -> str:
        row = ", ".join(f"{name} = {value:g}" for name, value in self.values.items())
        return f"row {self.row} ({row}) stopped at t = {self.time:g} s: {self.reason}"


@dataclass(frozen=True, eq=False)
class BatchReport:
    """How a batch went.

    status: "done" or "interrupted". method: integrator, "moreau" for runs by steps. steps, evaluations: over all
    instances. alone: instances that left their lanes and went on by themselves. seconds: wall time of the integration,
    of the starts before it. one_by_one: why instances ran one by one in threads; empty where four shared SIMD lanes.
    unsolved: steps in which contact impulses missed their tolerance. stepped: instances followed event by event that
    took stretches by steps.
    """

    status: str
    method: str
    threads: int
    steps: int
    evaluations: int
    alone: int
    seconds: float
    start_seconds: float
    one_by_one: str = ""
    unsolved: int = 0
    stepped: int = 0


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Quantities of all instances. ``result["slider.velocity.x"]`` has shape (instances, outputs).

    table: the columns that were given. time: [s]. done: whether each instance reached its end. failures: those
    that did not, with their values. Outputs that were not reached are NaN. events, impacts: by instance, of those that
    met any.
    """

    mechanism: Mechanism
    table: Mapping[str, Array]
    time: Array
    values: Mapping[str, Array]
    units: Mapping[str, str]
    done: NDArray[np.bool_]
    failures: tuple[Failure, ...]
    run: BatchReport
    events: Mapping[int, tuple[Happening, ...]] = field(default_factory=dict)
    impacts: Mapping[int, ImpactTable] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.done)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"<BatchResult of {self.mechanism.system.name!r}: {len(self)} instances{failed}, "
            f"{len(self.time)} outputs of {', '.join(self.values)}, {self.run.status}>"
        )

    def __getitem__(self, name: str) -> Array:
        """A quantity: (instances, outputs), or (instances, outputs, components)."""
        if name not in self.values:
            raise unknown_name("quantity of this batch", name, self.values)
        return self.values[name]

    def to_xarray(self) -> Any:
        """An xarray Dataset with the dimensions instance and time, the table as coordinates."""
        xr = needed("xarray", "to_xarray", "xarray", "frames")

        data = {}
        for name, values in self.values.items():
            dims = ("instance", "time", *[f"{name}:{i}" for i in range(2, values.ndim)])
            data[name] = (dims, values, {"units": self.units[name]})
        coordinates: dict[str, Any] = {"time": ("time", self.time, {"units": "s"})}
        coordinates |= {name: ("instance", column) for name, column in self.table.items()}
        return xr.Dataset(data, coords=coordinates)


__all__ = ["BatchReport", "BatchResult", "Failure"]
