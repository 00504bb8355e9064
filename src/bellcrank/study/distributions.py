"""How a number varies: distributions, each known by its quantiles.

Every design draws probabilities and asks for quantiles, so that any design goes with any distribution.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from bellcrank.errors import ModelError

Array = NDArray[np.float64]
TAILS = 1e-3
"""Share of an unbounded distribution beyond each end of its :attr:`~Distribution.range`."""


@dataclass(frozen=True)
class Distribution(ABC):
    """A distribution of one number."""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not math.isfinite(value):
                raise ModelError(f"{self.kind} distribution: {field.name} must be finite, not {value!r}")
        self.check()

    @abstractmethod
    def check(self) -> None:
        """Raise where the numbers make no distribution."""

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> Array:
        """Values below which the given shares lie."""

    @abstractmethod
    def share(self, value: ArrayLike) -> Array:
        """The share that lies below the given values (the cumulative distribution)."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value; infinite where there is none."""
        low, high = self.quantile([0.0, 1.0])
        return float(low), float(high)

    @property
    def range(self) -> tuple[float, float]:
        """Finite ends for grids: the bounds, or the quantiles 0.001 and 0.999 where there are none."""
        low, high = self.bounds
        inner = self.quantile([TAILS, 1.0 - TAILS])
        return (
            low if math.isfinite(low) else float(inner[0]),
            high if math.isfinite(high) else float(inner[1]),
        )

    @property
    def middle(self) -> float:
        """The median."""
        return float(self.quantile(0.5))

    def as_data(self) -> dict[str, Any]:
        """Kind and numbers, plainly."""
        return {"kind": self.kind, **{f.name: getattr(self, f.name) for f in fields(self)}}

    def _need(self, right: bool, what: str) -> None:
        if not right:
            given = ", ".join(f"{f.name} = {getattr(self, f.name)!r}" for f in fields(self))
            raise ModelError(f"{self.kind} distribution: {what}; given: {given}")


@dataclass(frozen=True)
class Uniform(Distribution):
    """Anything between `low` and `high` alike."""

    low: float
    high: float
    kind: ClassVar[str] = "uniform"

    def check(self) -> None:
        """Ends in order."""
        self._need(self.low < self.high, "low must lie below high")

    def quantile(self, probability: ArrayLike) -> Array:
        """Linear."""
        p = np.asarray(probability, dtype=float)
        # Exact at both ends, which designs on bounds rely on.
        return np.asarray(self.low * (1.0 - p) + self.high * p)

    def share(self, value: ArrayLike) -> Array:
        """Linear between the ends."""
        return np.clip((np.asarray(value, dtype=float) - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True)
class LogUniform(Distribution):
    """Any order of magnitude between `low` and `high` alike."""

    low: float
    high: float
    kind: ClassVar[str] = "loguniform"

    def check(self) -> None:
        """Positive ends in order."""
        self._need(0.0 < self.low < self.high, "low must be positive and lie below high")

    def quantile(self, probability: ArrayLike) -> Array:
        """Linear in the logarithm."""
        p = np.asarray(probability, dtype=float)
        value = np.exp(math.log(self.low) * (1.0 - p) + math.log(self.high) * p)
        return np.clip(value, self.low, self.high)

    def share(self, value: ArrayLike) -> Array:
        """Linear in the logarithm between the ends."""
        x = np.log(np.clip(np.asarray(value, dtype=float), self.low, self.high))
        return np.asarray((x - math.log(self.low)) / (math.log(self.high) - math.log(self.low)))


@dataclass(frozen=True)
class Normal(Distribution):
    """Gauss's distribution about `mean` with the standard deviation `deviation`."""

    mean: float
    deviation: float
    kind: ClassVar[str] = "normal"

    def check(self) -> None:
        """A width."""
        self._need(self.deviation > 0.0, "deviation must be positive")

    def quantile(self, probability: ArrayLike) -> Array:
        """By the inverse error function."""
        return np.asarray(self.mean + self.deviation * ndtri(np.asarray(probability, dtype=float)))

    def share(self, value: ArrayLike) -> Array:
        """By the error function."""
        return np.asarray(ndtr((np.asarray(value, dtype=float) - self.mean) / self.deviation))


@dataclass(frozen=True)
class LogNormal(Distribution):
    """A number whose logarithm is normal: half lie below `median`, `spread` is the deviation of the logarithm."""

    median: float
    spread: float
    kind: ClassVar[str] = "lognormal"

    def check(self) -> None:
        """Positive numbers."""
        self._need(self.median > 0.0 and self.spread > 0.0, "median and spread must be positive")

    def quantile(self, probability: ArrayLike) -> Array:
        """By the inverse error function."""
        return np.asarray(self.median * np.exp(self.spread * ndtri(np.asarray(probability, dtype=float))))

    def share(self, value: ArrayLike) -> Array:
        """By the error function."""
        x = np.asarray(value, dtype=float)
        with np.errstate(divide="ignore"):
            logarithm = np.log(np.maximum(x, 0.0) / self.median)
        return np.asarray(ndtr(logarithm / self.spread))


@dataclass(frozen=True)
class Triangular(Distribution):
    """Most likely `mode`, ever less likely towards `low` and `high`."""

    low: float
    mode: float
    high: float
    kind: ClassVar[str] = "triangular"

    def check(self) -> None:
        """In order."""
        self._need(
            self.low <= self.mode <= self.high and self.low < self.high, "low <= mode <= high is needed"
        )

    def quantile(self, probability: ArrayLike) -> Array:
        """Two parabolas."""
        p = np.asarray(probability, dtype=float)
        width = self.high - self.low
        rising = self.low + np.sqrt(p * width * (self.mode - self.low))
        falling = self.high - np.sqrt((1.0 - p) * width * (self.high - self.mode))
        return np.where(p < (self.mode - self.low) / width, rising, falling)

    def share(self, value: ArrayLike) -> Array:
        """Two parabolas."""
        x = np.clip(np.asarray(value, dtype=float), self.low, self.high)
        width = self.high - self.low
        # Where the mode lies at an end the other branch is taken alone; 1 only keeps the division whole.
        rising = (x - self.low) ** 2 / (width * ((self.mode - self.low) or 1.0))
        falling = 1.0 - (self.high - x) ** 2 / (width * ((self.high - self.mode) or 1.0))
        return np.where(x < self.mode, rising, np.where(x >= self.high, 1.0, falling))


@dataclass(frozen=True)
class Truncated(Distribution):
    """Another distribution without what lies outside of `low` ... `high`."""

    of: Distribution
    low: float
    high: float
    kind: ClassVar[str] = "truncated"

    def check(self) -> None:
        """Something must be left."""
        self._need(self.low < self.high, "low must lie below high")
        a, b = self._shares
        self._need(b - a > 1e-12, "nothing of it lies between low and high")

    @property
    def _shares(self) -> tuple[float, float]:
        return float(self.of.share(self.low)), float(self.of.share(self.high))

    def quantile(self, probability: ArrayLike) -> Array:
        """Those of the part that is left."""
        a, b = self._shares
        p = np.asarray(probability, dtype=float)
        return np.clip(self.of.quantile(a * (1.0 - p) + b * p), self.low, self.high)

    def share(self, value: ArrayLike) -> Array:
        """That of the part that is left."""
        a, b = self._shares
        return np.clip((self.of.share(value) - a) / (b - a), 0.0, 1.0)

    @property
    def bounds(self) -> tuple[float, float]:
        """Those of both."""
        low, high = self.of.bounds
        return max(low, self.low), min(high, self.high)

    def as_data(self) -> dict[str, Any]:
        """Kind and numbers, plainly."""
        return {"kind": self.kind, "of": self.of.as_data(), "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Choice(Distribution):
    """One of the given values, each as likely as the others."""

    values: tuple[float, ...]
    kind: ClassVar[str] = "choice"

    def __init__(self, values: Sequence[float]) -> None:
        object.__setattr__(self, "values", tuple(sorted({float(v) for v in values})))
        self.__post_init__()

    def check(self) -> None:
        """Values."""
        self._need(
            len(self.values) > 0 and all(map(math.isfinite, self.values)), "give one finite value at least"
        )

    def quantile(self, probability: ArrayLike) -> Array:
        """Steps."""
        p = np.asarray(probability, dtype=float)
        place = np.clip(np.floor(p * len(self.values)).astype(int), 0, len(self.values) - 1)
        return np.asarray(np.array(self.values)[place])

    def share(self, value: ArrayLike) -> Array:
        """Steps."""
        found = np.searchsorted(self.values, np.asarray(value, dtype=float), side="right")
        return np.asarray(found / len(self.values))

    def as_data(self) -> dict[str, Any]:
        """Kind and values, plainly."""
        return {"kind": self.kind, "values": list(self.values)}


KINDS: dict[str, type[Distribution]] = {
    k.kind: k for k in (Uniform, LogUniform, Normal, LogNormal, Triangular, Truncated, Choice)
}

__all__ = [
    "KINDS",
    "Choice",
    "Distribution",
    "LogNormal",
    "LogUniform",
    "Normal",
    "Triangular",
    "Truncated",
    "Uniform",
]
