"""What a study reads from every run: one number by statistic and quantity, or by a Python function.

A :class:`Measure` also gives its exact derivative from that of the quantity over time. Extremes are taken over the
outputs of a run, so they are as fine as these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError, ModelError, unknown_name
from bellcrank.result.series import Series

Array = NDArray[np.float64]
Slope = tuple[Any, Array]


def _weights(time: Array) -> Array:
    """Of the trapezoidal rule: their sum is the time passed."""
    w = np.zeros(len(time))
    steps = np.diff(time)
    w[:-1] += 0.5 * steps
    w[1:] += 0.5 * steps
    return w if len(time) > 1 else np.ones(1)


def _at(index: Callable[[Array], int]) -> Callable[[Array, Array], Slope]:
    def rule(time: Array, values: Array) -> Slope:
        by = np.zeros(len(values))
        k = index(values)
        by[k] = 1.0
        return values[k], by

    return rule


def _mean(time: Array, values: Array) -> Slope:
    w = _weights(time)
    w = w / w.sum()
    return np.asarray(w @ values), w


def _integral(time: Array, values: Array) -> Slope:
    w = _weights(time) if len(time) > 1 else np.zeros(1)
    return np.asarray(w @ values), w


def _rms(time: Array, values: Array) -> Slope:
    w = _weights(time)
    w = w / w.sum()
    found = np.sqrt(w @ values**2)
    return found, w * values / (found if found > 0.0 else 1.0)


def _magnitude(time: Array, values: Array) -> Slope:
    k = int(np.argmax(np.abs(values)))
    by = np.zeros(len(values))
    by[k] = np.sign(values[k])
    return np.abs(values[k]), by


def _range(time: Array, values: Array) -> Slope:
    by = np.zeros(len(values))
    by[int(np.argmax(values))] += 1.0
    by[int(np.argmin(values))] -= 1.0
    return np.ptp(values), by


def _deviation(time: Array, values: Array) -> Slope:
    mean, w = _mean(time, values)
    found = np.sqrt(w @ (values - mean) ** 2)
    return found, w * (values - mean) / (found if found > 0.0 else 1.0)


STATISTICS: dict[str, Callable[[Array, Array], Slope]] = {
    "max": _at(lambda v: int(np.argmax(v))),
    "min": _at(lambda v: int(np.argmin(v))),
    "magnitude": _magnitude,
    "range": _range,
    "mean": _mean,
    "rms": _rms,
    "deviation": _deviation,
    "integral": _integral,
    "initial": _at(lambda v: 0),
    "final": _at(lambda v: -1),
}
"""Numbers of a curve: (time, values) to the number and its derivative by every value.

magnitude: the largest absolute value. range: from the least to the greatest. mean, rms, deviation and integral weigh
by time (trapezoidal rule).
"""


@dataclass(frozen=True)
class Measure:
    """A statistic of a quantity between the times `after` and `before` [s].

    statistic: one of :data:`STATISTICS`. of: a single number over time, such as ``chassis.acceleration.z``.
    """

    statistic: str
    of: str
    after: float = -np.inf
    before: float = np.inf

    def __post_init__(self) -> None:
        if self.statistic not in STATISTICS:
            raise unknown_name("statistic", self.statistic, STATISTICS)
        if not self.after < self.before:
            raise ModelError(
                f"{self}: the time after={self.after:g} s must lie before before={self.before:g} s"
            )

    def __str__(self) -> str:
        return f"{self.statistic} of {self.of}"

    @property
    def quantities(self) -> tuple[str, ...]:
        """What a run must keep."""
        return (self.of,)

    def unit(self, units: Mapping[str, str]) -> str:
        """Its unit, from those of the quantities."""
        unit = units[self.of]
        if self.statistic == "integral":
            return f"{unit} s" if unit else "s"
        return unit

    def window(self, time: Array) -> NDArray[np.bool_]:
        """Which outputs count."""
        inside = (time >= self.after) & (time <= self.before)
        if not inside.any():
            raise ModelError(f"{self}: no output lies between its times; give more outputs or other times")
        return np.asarray(inside)

    def value(self, time: Array, curves: Mapping[str, Array], row: Mapping[str, float]) -> float:
        """Of one run; NaN where the run did not get so far.

        time: [s]. curves: the quantities over time. row: the values of the variables.
        """
        inside = self.window(time)
        return float(STATISTICS[self.statistic](time[inside], np.asarray(curves[self.of])[inside])[0])

    def slope(self, time: Array, values: Array, derivatives: Array) -> tuple[float, Array]:
        """Value, and its derivatives from those of the quantity, shape (times, parameters)."""
        inside = self.window(time)
        value, by = STATISTICS[self.statistic](time[inside], values[inside])
        return float(value), by @ derivatives[inside]

    def as_data(self) -> dict[str, Any]:
        """Its settings, plainly."""
        data: dict[str, Any] = {"statistic": self.statistic, "of": self.of}
        for name in ("after", "before"):
            if np.isfinite(getattr(self, name)):
                data[name] = getattr(self, name)
        return data


@dataclass(frozen=True)
class Curves(Mapping[str, Series]):
    """What a function of a run is given: ``run["slider.position.x"]`` over ``run.time``, and ``run.variables``.

    time: [s]. variables: the values of this run, by name.
    """

    time: Array
    kept: Mapping[str, Array]
    units: Mapping[str, str]
    variables: Mapping[str, float]

    def __getitem__(self, name: str) -> Series:
        if name not in self.kept:
            raise unknown_name("quantity of this function (name it in quantities=)", name, self.kept)
        return Series(self.kept[name], self.time, name, self.units.get(name, ""))

    def __iter__(self) -> Any:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)


@dataclass(frozen=True)
class Function:
    """A number by a Python function of the curves of a run.

    function: of :class:`Curves`. quantities: those it reads, by name. in_unit: unit of the number. On a cluster the
    function travels to the workers, so it must not depend on what only this process has.
    """

    function: Callable[[Curves], float]
    quantities: tuple[str, ...]
    in_unit: str = ""

    def __init__(
        self, function: Callable[[Curves], float], quantities: Sequence[str], unit: str = ""
    ) -> None:
        if not callable(function):
            raise ModelError("a measure is a statistic of a quantity or a function of the curves of a run")
        if isinstance(quantities, str) or not quantities:
            raise ModelError("name the quantities the function reads: quantities=['slider.position.x']")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "quantities", tuple(quantities))
        object.__setattr__(self, "in_unit", unit)

    def __str__(self) -> str:
        return f"function {getattr(self.function, '__name__', 'of a run')}"

    def unit(self, units: Mapping[str, str]) -> str:
        """As given."""
        return self.in_unit

    def value(
        self,
        time: Array,
        curves: Mapping[str, Array],
        row: Mapping[str, float],
        units: Mapping[str, str] | None = None,
    ) -> float:
        """Of one run."""
        own = {name: np.asarray(curves[name]) for name in self.quantities}
        try:
            return float(self.function(Curves(time, own, units or {}, row)))
        except BellcrankError:
            raise
        except Exception as error:
            point = ", ".join(f"{name} = {value:g}" for name, value in row.items())
            raise ModelError(f"{self} raised {type(error).__name__}: {error} (at {point})") from error

    def as_data(self) -> dict[str, Any]:
        """What identifies the function: its source where it has one, its byte code where not."""
        import inspect

        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):
            code = getattr(self.function, "__code__", None)
            text = (
                repr(self.function)
                if code is None
                else repr((code.co_code.hex(), code.co_consts, code.co_names))
            )
        return {"function": text, "quantities": list(self.quantities), "unit": self.in_unit}


AnyMeasure = Measure | Function


def measure(text: str) -> Measure:
    """A measure as it is spoken: ``"rms of chassis.acceleration.z"``."""
    statistic, word, of = text.partition(" of ")
    if not word or not of.strip():
        raise ModelError(f"a measure reads 'rms of chassis.acceleration.z', not {text!r}")
    return Measure(statistic.strip(), of.strip())


@dataclass(frozen=True)
class Limit:
    """What a measure must keep to, in its unit."""

    at_least: float = -np.inf
    at_most: float = np.inf

    def __post_init__(self) -> None:
        if np.isnan(self.at_least) or np.isnan(self.at_most) or not self.at_least <= self.at_most:
            raise ModelError(f"a limit needs at_least <= at_most, not {self.at_least!r} and {self.at_most!r}")
        if not (np.isfinite(self.at_least) or np.isfinite(self.at_most)):
            raise ModelError("a limit gives at_least or at_most")

    def holds(self, values: Any, slack: float = 0.0) -> Any:
        """Whether values keep to it; NaN does not."""
        return (values >= self.at_least - slack) & (values <= self.at_most + slack)

    def as_data(self) -> dict[str, Any]:
        """Its ends, plainly."""
        return {k: v for k, v in (("at_least", self.at_least), ("at_most", self.at_most)) if np.isfinite(v)}


__all__ = ["STATISTICS", "AnyMeasure", "Curves", "Function", "Limit", "Measure", "measure"]
