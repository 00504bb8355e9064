"""A quantity over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Series(np.ndarray):
    """An array that knows its name, its unit and the times of its rows."""

    name: str
    unit: str
    time: NDArray[np.float64]

    def __new__(cls, values: Any, time: Any, name: str = "", unit: str = "") -> Series:
        """values: one row an output. time: [s]."""
        series = np.asarray(values, dtype=float).view(cls)
        series.time = np.asarray(time, dtype=float)
        series.name = name
        series.unit = unit
        return series

    def __array_finalize__(self, parent: Any) -> None:
        """Views and results of arithmetic keep the times where the length still fits."""
        self.name = getattr(parent, "name", "")
        self.unit = getattr(parent, "unit", "")
        self.time = getattr(parent, "time", np.zeros(0))

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (np.asarray(self), np.asarray(self.time), self.name, self.unit)

    @property
    def label(self) -> str:
        """Name and unit, for axes of plots."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def to_numpy(self) -> NDArray[np.float64]:
        """The bare numbers."""
        return np.asarray(self)


def restored(values: NDArray[Any], time: NDArray[np.float64], name: str, unit: str) -> Series:
    """The series that was pickled."""
    series = values.view(Series)
    series.time, series.name, series.unit = time, name, unit
    return series
