"""The keys of a study file and what may stand there, by pydantic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bellcrank.errors import ModelError
from bellcrank.integrate import METHODS
from bellcrank.study.optimise import WITH_GRADIENTS, WITHOUT_GRADIENTS

MOST_RUNS = 10_000_000
MOST_OUTPUTS = 100_000


def _number(given: Any) -> Any:
    """A number, or an expression of numbers."""
    if not isinstance(given, str):
        return given
    from bellcrank.files.documents import Text
    from bellcrank.files.places import Place, Source
    from bellcrank.files.scope import Scope

    text = given.strip()
    try:
        value = Scope().number(Text(Place(Source("", text), 0, 0), text), "it")
    except ModelError as error:
        raise ValueError(str(error).splitlines()[0].split(": ", 1)[-1]) from error
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("Input should be a finite number")
    return float(value)


def _word(choices: Sequence[str]) -> Any:
    def check(given: Any) -> Any:
        if given not in choices:
            raise ValueError(f"Input should be one of {', '.join(choices)}, not {given!r}")
        return given

    return BeforeValidator(check)


Number = Annotated[float, BeforeValidator(_number)]
Positive = Annotated[float, BeforeValidator(_number), Field(gt=0.0)]
Runs = Annotated[int, Field(ge=1, le=MOST_RUNS)]
Seed = Annotated[int, Field(ge=0, le=2**63)]


class Keys(BaseModel):
    """A mapping with these keys and no others."""

    model_config = ConfigDict(extra="forbid")


class UniformKeys(Keys):
    kind: Literal["uniform"]
    low: Number
    high: Number


class LogUniformKeys(Keys):
    kind: Literal["loguniform"]
    low: Number
    high: Number


class NormalKeys(Keys):
    kind: Literal["normal"]
    mean: Number
    deviation: Number


class LogNormalKeys(Keys):
    kind: Literal["lognormal"]
    median: Number
    spread: Number


class TriangularKeys(Keys):
    kind: Literal["triangular"]
    low: Number
    mode: Number
    high: Number


class ChoiceKeys(Keys):
    kind: Literal["choice"]
    values: Annotated[list[Number], Field(min_length=1, max_length=100_000)]


Simple = Annotated[
    UniformKeys | LogUniformKeys | NormalKeys | LogNormalKeys | TriangularKeys, Field(discriminator="kind")
]


class TruncatedKeys(Keys):
    kind: Literal["truncated"]
    of: Simple
    low: Number
    high: Number


AnyDistribution = Annotated[
    UniformKeys | LogUniformKeys | NormalKeys | LogNormalKeys | TriangularKeys | ChoiceKeys | TruncatedKeys,
    Field(discriminator="kind"),
]


class GridKeys(Keys):
    kind: Literal["grid"]
    levels: (
        Annotated[int, Field(ge=1, le=MOST_RUNS)] | dict[str, Annotated[int, Field(ge=1, le=MOST_RUNS)]]
    ) = 5


class MonteCarloKeys(Keys):
    kind: Literal["monte carlo"]
    runs: Runs
    seed: Seed = 0


class LatinHypercubeKeys(Keys):
    kind: Literal["latin hypercube"]
    runs: Runs
    seed: Seed = 0


class SobolKeys(Keys):
    kind: Literal["sobol"]
    runs: Runs
    seed: Seed = 0
    scramble: bool = True


class OneAtATimeKeys(Keys):
    kind: Literal["one at a time"]
    levels: Annotated[int, Field(ge=2, le=MOST_RUNS)] = 2
    base: dict[str, Number] = Field(default_factory=dict)


class GivenKeys(Keys):
    kind: Literal["given"]
    columns: dict[str, Annotated[list[Number], Field(min_length=1)]]


AnyDesign = Annotated[
    GridKeys | MonteCarloKeys | LatinHypercubeKeys | SobolKeys | OneAtATimeKeys | GivenKeys,
    Field(discriminator="kind"),
]


class MeasureKeys(Keys):
    statistic: str
    of: str
    after: Number | None = None
    before: Number | None = None


class LimitKeys(Keys):
    at_least: Number | None = None
    at_most: Number | None = None


class OptimisationKeys(Keys):
    method: Annotated[str, _word((*WITH_GRADIENTS, *WITHOUT_GRADIENTS))] = "slsqp"
    begin: dict[str, Number] | None = None
    tolerance: Positive = 1e-6
    seed: Seed = 0


class SensitivityKeys(Keys):
    method: Annotated[str, _word(("sobol", "morris"))]
    runs: Annotated[int, Field(ge=2, le=MOST_RUNS)]
    seed: Seed = 0


class StudyFile(Keys):
    """A whole study file."""

    study: int
    name: str = "study"
    model: str
    duration: Positive
    variables: dict[str, AnyDistribution]
    fixed: dict[str, Number] = Field(default_factory=dict)
    design: AnyDesign | None = None
    measures: dict[str, str | MeasureKeys]
    minimise: str | None = None
    maximise: str | None = None
    constraints: dict[str, LimitKeys] = Field(default_factory=dict)
    start: Annotated[str, _word(("described", "equilibrium"))] = "described"
    keep: list[str] = Field(default_factory=list)
    integrator: Annotated[str, _word(tuple(METHODS))] = "dop853"
    tolerance: Positive = 1e-8
    outputs: Annotated[int, Field(ge=1, le=MOST_OUTPUTS)] = 200
    step: Annotated[float, BeforeValidator(_number), Field(ge=0.0)] = 0.0
    max_step: Positive | None = None
    impacts: Annotated[str, _word(("dense", "queue", "stepping"))] = "dense"
    batch: Annotated[int, Field(ge=0, le=MOST_RUNS)] = 0
    optimisation: OptimisationKeys | None = None
    sensitivity: SensitivityKeys | None = None


_SECTIONS: dict[str, type[Keys]] = {
    "measures": MeasureKeys,
    "constraints": LimitKeys,
    "optimisation": OptimisationKeys,
    "sensitivity": SensitivityKeys,
}
_KINDS: dict[tuple[str, str], type[Keys]] = {
    (section, str(k.model_fields["kind"].annotation.__args__[0])): k  # type: ignore[union-attr]
    for section, kinds in {
        "variables": (
            UniformKeys,
            LogUniformKeys,
            NormalKeys,
            LogNormalKeys,
            TriangularKeys,
            ChoiceKeys,
            TruncatedKeys,
        ),
        "design": (GridKeys, MonteCarloKeys, LatinHypercubeKeys, SobolKeys, OneAtATimeKeys, GivenKeys),
    }.items()
    for k in kinds
}


def keys_of(place: Sequence[Any]) -> list[str]:
    """The keys that may stand at a place of the file."""
    if not place:
        return list(StudyFile.model_fields)
    section = str(place[0])
    found = _SECTIONS.get(section) or _KINDS.get((section, str(place[-1])))
    return [] if found is None else list(found.model_fields)


__all__ = ["StudyFile", "keys_of"]
