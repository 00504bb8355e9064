"""A study: what varies, how a run goes, what is read from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.version import __version__
from bellcrank.errors import BellcrankError, ModelError, unknown_name
from bellcrank.study.designs import Design, MonteCarlo
from bellcrank.study.distributions import Distribution
from bellcrank.study.objectives import AnyMeasure, Function, Limit, Measure, measure
from bellcrank.study.work import Work

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism
    from bellcrank.model.system import System
    from bellcrank.study.optimise import Optimum
    from bellcrank.study.outcome import Outcome
    from bellcrank.study.sensitivity import Indices, Screening

Array = NDArray[np.float64]

LANES = 4
MOST_BATCH, PARTS = 1024, 64
MOST_KEPT = 500_000_000
"""Numbers of kept curves at most (4 GB)."""
MOST_OUTPUTS = 20_000_000
"""Numbers that the runs of a batch, or of several at once, put out at most (160 MB)."""


@dataclass(frozen=True, eq=False)
class Study:
    """Many runs of one model, and what they are asked.

    model: the described system. variables: what varies, by the name of a parameter or start value
    (``joint.coordinate``, ``joint.coordinate_rate``). measures: what is read from every run, by a name of your own: a
    :class:`Measure`, a :class:`Function`, or words such as ``"rms of chassis.acceleration.z"``. duration: of a run
    [s]. design: which values the variables take. fixed: other parameters and start values, the same for all runs.
    objective: the measure to make small (`maximise`: large). constraints: limits on measures. start: "described",
    "equilibrium" (each run from its own), a State for all, or a function (mechanism, columns) -> (positions, speeds).
    keep: quantities whose curves are kept as well. integrator, tolerance, output, step, max_step, impacts, events: as
    for `simulate_many`. batch: runs in one part of the work.
    """

    model: System
    variables: Mapping[str, Distribution]
    measures: Mapping[str, AnyMeasure | str]
    duration: float
    design: Design = field(default_factory=lambda: MonteCarlo(100))
    name: str = "study"
    fixed: Mapping[str, float] = field(default_factory=dict)
    objective: str | None = None
    maximise: bool = False
    constraints: Mapping[str, Limit] = field(default_factory=dict)
    start: Any = "described"
    keep: Sequence[str] = ()
    integrator: str = "dop853"
    tolerance: float = 1e-8
    output: int | ArrayLike = 200
    step: float = 0.0
    max_step: float = np.inf
    impacts: str = "dense"
    events: Sequence[Any] = ()
    batch: int = 0

    def __post_init__(self) -> None:
        from bellcrank.model.system import System

        if not isinstance(self.model, System):
            raise ModelError(f"the model of a study is a System, not {type(self.model).__name__}")
        read = {name: measure(m) if isinstance(m, str) else m for name, m in self.measures.items()}
        object.__setattr__(self, "measures", read)
        object.__setattr__(self, "variables", dict(self.variables))
        if not self.variables:
            raise ModelError(
                "a study varies at least one thing; give variables={'stiffness': Uniform(1e3, 2e3)}"
            )
        if not read:
            raise ModelError(
                "a study reads at least one measure; give measures={'peak': 'max of slider.velocity.x'}"
            )
        self._check_names(read)
        self._check_options()
        self._check_quantities(read)

    def _check_names(self, measures: Mapping[str, Any]) -> None:
        from bellcrank.study.store import reserved

        for name, item in measures.items():
            if not isinstance(item, Measure | Function):
                raise ModelError(
                    f"measure {name!r} is a Measure, a Function, or words such as 'max of slider.velocity.x', "
                    f"not {type(item).__name__}"
                )
            if name in self.variables or reserved(name):
                raise ModelError(f"measure {name!r} has the name of a variable or of a column of the store")
        for name in self.fixed:
            if name in self.variables:
                raise ModelError(f"{name!r} is both varied and fixed; leave one of them out")
        for name in self.variables:
            if reserved(name):
                raise ModelError(f"a variable cannot be called {name!r} in a study; rename the parameter")
            if not isinstance(self.variables[name], Distribution):
                raise ModelError(f"variable {name!r} needs a distribution such as Uniform(1.0, 2.0)")
        for name in (*self.constraints, *([self.objective] if self.objective else [])):
            if name not in measures:
                raise unknown_name("measure", name, measures)
        for name, limit in self.constraints.items():
            if not isinstance(limit, Limit):
                raise ModelError(f"the constraint on {name!r} is a Limit(at_least=..., at_most=...)")
        values = {**self.fixed, **{name: d.middle for name, d in self.variables.items()}}
        from bellcrank.batch.table import read_table

        read_table(self.mechanism, {name: [value] for name, value in values.items()})

    def _check_options(self) -> None:
        from bellcrank.impacts.timing import Timing

        if isinstance(self.start, str) and self.start not in ("described", "equilibrium"):
            raise unknown_name("start", self.start, ("described", "equilibrium"))
        if not (
            self.start is None
            or isinstance(self.start, str)
            or callable(self.start)
            or hasattr(self.start, "q")
        ):
            raise ModelError(
                "start is 'described', 'equilibrium', a State, or a function of mechanism and columns"
            )
        if not (isinstance(self.batch, int) and self.batch >= 0):
            raise ModelError(f"batch is a number of runs, not {self.batch!r}")
        if not (np.isfinite(self.tolerance) and 0.0 < self.tolerance < 1.0):
            raise ModelError(f"tolerance is a number between 0 and 1, not {self.tolerance!r}")
        Timing.of(self.impacts, 4, self.max_step).check_step(self.step)
        if self.start != "described" and any(name not in self.model.parameters for name in self.columns):
            odd = next(name for name in self.columns if name not in self.model.parameters)
            raise ModelError(f"{odd!r} is a start value; it goes with start='described' only")

    def _check_quantities(self, measures: Mapping[str, AnyMeasure]) -> None:
        units = self.units_of_quantities
        time = self.time
        for name, m in measures.items():
            if isinstance(m, Measure):
                if self.shapes[m.of]:
                    raise ModelError(
                        f"measure {name!r}: {m.of!r} has several components; name one, as in {m.of}.x"
                    )
                m.window(time)
                m.unit(units)

    @property
    def columns(self) -> tuple[str, ...]:
        """All names given values: variables, then fixed ones."""
        return (*self.variables, *self.fixed)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The analysed model, as every worker has it."""
        return self.work_for(self._model_key).mechanism()

    @cached_property
    def text(self) -> str | None:
        """The model file that travels to workers; None where the model cannot be written as one."""
        from bellcrank.files import dumps, loads

        try:
            text = dumps(self.model)
            loads(text, "the model of the study")
        except BellcrankError:
            return None
        return text

    @cached_property
    def _model_key(self) -> str:
        if self.text is not None:
            return hashlib.sha256(self.text.encode()).hexdigest()
        from bellcrank.study.identity import identity

        return hashlib.sha256(identity(self.model).encode()).hexdigest()

    @cached_property
    def time(self) -> Array:
        """Of the outputs [s]."""
        from bellcrank.run.simulation import output_times

        return output_times(self.mechanism.start.t, self.duration, self.output)

    @cached_property
    def _read(self) -> tuple[dict[str, str], dict[str, tuple[int, ...]]]:
        from bellcrank.batch.readout import readout

        reading = readout(self.mechanism, self.work_for("").quantities)
        units = dict(zip(reading.names, reading.units, strict=True))
        return units, dict(zip(reading.names, reading.shapes, strict=True))

    @property
    def units_of_quantities(self) -> dict[str, str]:
        """Units of what measures read."""
        return self._read[0]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what measures read."""
        return self._read[1]

    @cached_property
    def units(self) -> dict[str, str]:
        """Units of variables and measures."""
        found = {name: _unit_of(self.mechanism, name) for name in self.variables}
        measures: Mapping[str, Any] = self.measures
        return found | {name: m.unit(self.units_of_quantities) for name, m in measures.items()}

    @cached_property
    def table(self) -> dict[str, Array]:
        """The values of the variables, one row a run."""
        found = self.design.table(self.variables)
        for name, values in found.items():
            if not np.isfinite(values).all():
                raise ModelError(f"the design gives variable {name!r} values that are not finite")
        kept = sum(int(np.prod(self.shapes[name])) for name in self.keep) * len(self.time)
        rows = len(next(iter(found.values())))
        if kept * rows > MOST_KEPT:
            raise ModelError(
                f"keep= would hold {8e-9 * kept * rows:.3g} GB of curves; keep fewer quantities or outputs, "
                "or read measures from them"
            )
        return found

    def __len__(self) -> int:
        return len(next(iter(self.table.values())))

    @property
    def batch_size(self) -> int:
        """Runs in one part of the work: whole groups of lanes, some sixty parts in all, within bounded memory."""
        wanted = self.batch or min(MOST_BATCH, max(2 * LANES, len(self) // PARTS))
        return LANES * max(1, min(-(-wanted // LANES), MOST_OUTPUTS // (LANES * self.width)))

    @property
    def width(self) -> int:
        """Numbers that one run puts out."""
        return len(self.time) * sum(int(np.prod(shape)) for shape in self.shapes.values())

    def definition(self, design: bool = True) -> dict[str, Any]:
        """All that the numbers depend on, plainly; without the design where points are chosen otherwise."""
        measures: Mapping[str, Any] = self.measures
        rows = {"design": self.design.as_data(), "batch": self.batch_size} if design else {}
        return {
            "bellcrank": __version__,
            "model": self._model_key,
            "variables": {name: d.as_data() for name, d in self.variables.items()},
            "fixed": {name: float(v) for name, v in self.fixed.items()},
            "measures": {name: m.as_data() for name, m in measures.items()},
            "duration": self.duration,
            "output": self.time.tolist() if len(self.time) <= 64 else _digest(self.time),
            "start": _start_data(self.start),
            "integrator": self.integrator,
            "tolerance": self.tolerance,
            "step": self.step,
            "max_step": None if np.isinf(self.max_step) else self.max_step,
            **({} if self.impacts == "dense" else {"impacts": self.impacts}),
            "events": [_event_data(e) for e in self.events],
            "keep": list(self.keep),
            **rows,
        }

    @cached_property
    def fingerprint(self) -> str:
        """Of the definition: equal for studies that compute the same."""
        return hashlib.sha256(json.dumps(self.definition(), sort_keys=True).encode()).hexdigest()

    def work_for(self, fingerprint: str) -> Work:
        """The work of a worker; `fingerprint` is its key for the compiled model."""
        options = {
            "integrator": self.integrator,
            "tolerance": self.tolerance,
            "output": self.output,
            "step": self.step,
            "max_step": self.max_step,
            "impacts": self.impacts,
            "events": tuple(self.events),
        }
        measures: Mapping[str, Any] = self.measures
        return Work(
            fingerprint, self.text, self.model if self.text is None else None, measures, self.duration, options,
            dict(self.fixed), self.start, tuple(self.keep),
        )  # fmt: skip

    @property
    def work(self) -> Work:
        """The work of a worker."""
        return self.work_for(self._model_key)

    def run(
        self,
        store: str | PathLike[str] | None = None,
        *,
        cluster: Any = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Outcome:
        """Do all runs of the design that `store` does not hold yet; Ctrl-C returns what is done.

        store: a folder; a study that was killed goes on from there. cluster: a dask scheduler's address, a dask
        client, or "local" for a cluster of processes on this machine, started for the study; default: the cores of
        this process. threads: default all cores. progress: show a bar (default: on a terminal). The numbers depend on
        none of these.
        """
        from bellcrank.study.running import run

        return run(self, store, cluster, threads, progress)

    def optimise(self, **options: Any) -> Optimum:
        """The best values of the variables; see :func:`bellcrank.study.optimise.optimise`."""
        from bellcrank.study.optimise import optimise

        return optimise(self, **options)

    def sobol_indices(self, runs: int, **options: Any) -> Indices:
        """Shares of variance from so many runs; see :func:`bellcrank.study.sensitivity.sobol_indices`."""
        from bellcrank.study.sensitivity import study_indices

        return study_indices(self, runs, **options)

    def morris(self, trajectories: int, **options: Any) -> Screening:
        """Elementary effects along so many trajectories; see :func:`bellcrank.study.sensitivity.morris`."""
        from bellcrank.study.sensitivity import study_screening

        return study_screening(self, trajectories, **options)


def _unit_of(mechanism: Mechanism, name: str) -> str:
    """Of a parameter, as described; a start value is a quantity of the same name."""
    if name in mechanism.system.parameters:
        return mechanism.system.parameters[name].unit
    from bellcrank.quantities.quantities import Quantities
    from bellcrank.quantities.snapshot import Snapshot

    m = mechanism
    return Quantities(Snapshot(m.system, m.tree, m.mechanics)).find(name)[0].unit


def _digest(values: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()


def _start_data(start: Any) -> Any:
    if isinstance(start, str):
        return start
    if callable(start):
        return _function_text(start)
    return {"t": start.t, "q": _digest(start.q), "u": _digest(start.u)}


def _event_data(event: Any) -> dict[str, Any]:
    functions = {
        name: _function_text(f)
        for name in ("expression", "jump", "update")
        if (f := getattr(event, name)) is not None
    }
    values = dict(event.parameters) if event.parameters else {}
    return {
        "name": event.name,
        "direction": event.direction,
        "stops": event.stops,
        "values": values,
        **functions,
    }


def _function_text(function: Callable[..., Any]) -> str:
    text: str = Function(function, ["."]).as_data()["function"]
    return text


__all__ = ["Study"]
