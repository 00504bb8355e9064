"""Designs: which values the variables of a study take, one row a run.

Latin hypercube: McKay, Beckman, Conover (1979). Sobol sequence: Sobol (1967) with the directions of Joe and Kuo
(2008), scrambled after Owen, as SciPy has them. With the same seed a design gives the same numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.study.distributions import Choice, Distribution

Array = NDArray[np.float64]
Variables = Mapping[str, Distribution]

MOST_NUMBERS = 25_000_000
"""Numbers of a table at most (200 MB): drawing it takes four times its memory, which a file may ask for."""
SMALLEST = 2.0**-31
"""Probability that stands for 0 where the quantile of 0 is infinite: an unscrambled Sobol sequence begins there."""


@dataclass(frozen=True)
class Design(ABC):
    """A plan of runs."""

    kind: ClassVar[str] = ""

    def table(self, variables: Variables) -> dict[str, Array]:
        """One column a variable."""
        if not variables:
            raise ModelError("a study varies at least one thing; give variables")
        rows = self.rows(variables)
        if rows * len(variables) > MOST_NUMBERS:
            raise ModelError(
                f"the {self.kind} would have {rows:,} runs of {len(variables)} variables; "
                f"at most {MOST_NUMBERS:,} numbers are taken"
            )
        return self._table(variables)

    @abstractmethod
    def rows(self, variables: Variables) -> int:
        """Number of runs."""

    @abstractmethod
    def _table(self, variables: Variables) -> dict[str, Array]: ...

    def as_data(self) -> dict[str, Any]:
        """Kind and settings, plainly."""
        from dataclasses import asdict

        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Grid(Design):
    """All combinations: `levels` equal intervals' ends a variable, as one number or by name.

    A :class:`Choice` has its own values as levels. The last variable changes fastest.
    """

    levels: int | Mapping[str, int] = 5
    kind: ClassVar[str] = "grid"

    def __post_init__(self) -> None:
        counts = self.levels.values() if isinstance(self.levels, Mapping) else [self.levels]
        if any(not isinstance(n, int) or n < 1 for n in counts):
            raise ModelError(f"levels of a grid are whole numbers from 1 on, not {self.levels!r}")

    def axes(self, variables: Variables) -> dict[str, Array]:
        """The levels of each variable."""
        if isinstance(self.levels, Mapping):
            for name in self.levels:
                if name not in variables:
                    raise unknown_name("variable", name, variables)
        found = {}
        for name, distribution in variables.items():
            count = self.levels.get(name, 5) if isinstance(self.levels, Mapping) else self.levels
            if isinstance(distribution, Choice):
                found[name] = np.array(distribution.values)
            elif count == 1:
                found[name] = np.array([distribution.middle])
            else:
                found[name] = np.linspace(*distribution.range, count)
        return found

    def rows(self, variables: Variables) -> int:
        """The product of all levels."""
        return math.prod(len(axis) for axis in self.axes(variables).values())

    def _table(self, variables: Variables) -> dict[str, Array]:
        axes = self.axes(variables)
        mesh = np.meshgrid(*axes.values(), indexing="ij")
        return {name: m.ravel() for name, m in zip(axes, mesh, strict=True)}


@dataclass(frozen=True)
class _Drawn(Design):
    """Points of the unit cube, taken through the quantiles."""

    runs: int
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("runs", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < least:
                raise ModelError(f"{name} of a {self.kind} is a whole number from {least} on, not {value!r}")

    def rows(self, variables: Variables) -> int:
        """As asked for."""
        return self.runs

    @abstractmethod
    def points(self, dimensions: int) -> Array:
        """Shape (runs, dimensions), in 0 ... 1."""

    def _table(self, variables: Variables) -> dict[str, Array]:
        return through_quantiles(self.points(len(variables)), variables)


@dataclass(frozen=True)
class MonteCarlo(_Drawn):
    """Independent random draws."""

    kind: ClassVar[str] = "monte carlo"

    def points(self, dimensions: int) -> Array:
        """Row by row, so that more runs begin with the same ones."""
        return np.random.default_rng(self.seed).random((self.runs, dimensions))


@dataclass(frozen=True)
class LatinHypercube(_Drawn):
    """Random draws of which every one of `runs` equal shares of each variable holds exactly one."""

    kind: ClassVar[str] = "latin hypercube"

    def points(self, dimensions: int) -> Array:
        """By SciPy."""
        from scipy.stats import qmc

        drawn = qmc.LatinHypercube(dimensions, rng=np.random.default_rng(self.seed)).random(self.runs)
        return np.asarray(drawn)


@dataclass(frozen=True)
class Sobol(_Drawn):
    """Sobol's sequence; a power of two of `runs` keeps its balance."""

    scramble: bool = True
    kind: ClassVar[str] = "sobol"

    def points(self, dimensions: int) -> Array:
        """By SciPy; the whole power of two is drawn and cut."""
        from scipy.stats import qmc

        if dimensions > qmc.Sobol.MAXDIM:
            raise ModelError(f"a sobol design has at most {qmc.Sobol.MAXDIM} variables, not {dimensions}")
        engine = qmc.Sobol(dimensions, scramble=self.scramble, rng=np.random.default_rng(self.seed))
        drawn = engine.random_base2(max(0, math.ceil(math.log2(self.runs))))[: self.runs]
        return np.asarray(drawn)


@dataclass(frozen=True)
class OneAtATime(Design):
    """The middle of all variables, then each through its levels with the others kept at their middles.

    levels: values a variable, from the lower to the upper end of its range. base: the middle by name where it
    is not the median.
    """

    levels: int = 2
    base: Mapping[str, float] = field(default_factory=dict)
    kind: ClassVar[str] = "one at a time"

    def __post_init__(self) -> None:
        if not isinstance(self.levels, int) or self.levels < 2:
            raise ModelError(
                f"levels of a one at a time design are a whole number from 2 on, not {self.levels!r}"
            )

    def rows(self, variables: Variables) -> int:
        """One, and the levels of every variable."""
        return 1 + self.levels * len(variables)

    def _table(self, variables: Variables) -> dict[str, Array]:
        for name in self.base:
            if name not in variables:
                raise unknown_name("variable", name, variables)
        middle = {name: float(self.base.get(name, d.middle)) for name, d in variables.items()}
        columns = {name: np.full(self.rows(variables), value) for name, value in middle.items()}
        for k, (name, distribution) in enumerate(variables.items()):
            first = 1 + k * self.levels
            columns[name][first : first + self.levels] = np.linspace(*distribution.range, self.levels)
        return columns


@dataclass(frozen=True, eq=False)
class Given(Design):
    """A table that is given: columns by name."""

    columns: Mapping[str, Any]
    kind: ClassVar[str] = "given"

    def rows(self, variables: Variables) -> int:
        """The length of its columns."""
        lengths = {len(np.atleast_1d(v)) for v in self.columns.values()}
        if len(lengths) != 1:
            raise ModelError("the columns of the given table differ in length, or there are none")
        return lengths.pop()

    def _table(self, variables: Variables) -> dict[str, Array]:
        for name in variables:
            if name not in self.columns:
                raise unknown_name("column of the given table", name, self.columns)
        for name in self.columns:
            if name not in variables:
                raise unknown_name("variable", name, variables)
        return {name: np.atleast_1d(np.asarray(self.columns[name], dtype=float)) for name in variables}

    def as_data(self) -> dict[str, Any]:
        """A digest stands for the numbers."""
        from hashlib import sha256

        digest = sha256()
        for name, values in sorted(self.columns.items()):
            digest.update(name.encode() + b"\0" + np.asarray(values, dtype="<f8").tobytes())
        return {"kind": self.kind, "rows": self.rows({}), "sha256": digest.hexdigest()}


def through_quantiles(points: Array, variables: Variables) -> dict[str, Array]:
    """Points of the unit cube as values of the variables; unbounded ones are not taken to infinity."""
    found = {}
    for k, (name, d) in enumerate(variables.items()):
        bounded = np.isfinite(d.bounds)
        p = points[:, k]
        p = p if bounded[0] else np.maximum(p, SMALLEST)
        found[name] = d.quantile(p if bounded[1] else np.minimum(p, 1.0 - SMALLEST))
    return found


KINDS: dict[str, type[Design]] = {
    k.kind: k for k in (Grid, MonteCarlo, LatinHypercube, Sobol, OneAtATime, Given)
}

__all__ = [
    "KINDS",
    "Design",
    "Given",
    "Grid",
    "LatinHypercube",
    "MonteCarlo",
    "OneAtATime",
    "Sobol",
    "through_quantiles",
]
