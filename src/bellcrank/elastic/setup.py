"""An elastic contact problem as a whole: what a file describes and `simulate` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bellcrank.elastic.active_set import DirectActiveSet
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.interface import Contact
from bellcrank.elastic.problem import ContactSolver
from bellcrank.elastic.result import ElasticResult
from bellcrank.elastic.run import simulate
from bellcrank.elastic.schemes import Scheme
from bellcrank.elastic.stepping import Compatibility


@dataclass(frozen=True, eq=False)
class Setup:
    """Bodies, contacts and how they are followed through time.

    duration, step: [s]. frames: whole fields kept. parameters: values of the file's parameters, by name.
    """

    name: str
    bodies: tuple[ElasticBody, ...]
    contacts: tuple[Contact, ...]
    duration: float
    step: float
    scheme: Scheme = field(default_factory=Scheme)
    solver: ContactSolver = field(default_factory=DirectActiveSet)
    compatibility: Compatibility = field(default_factory=Compatibility)
    frames: int = 60
    parameters: Mapping[str, float] = field(default_factory=dict)

    def simulate(
        self,
        duration: float | None = None,
        step: float | None = None,
        progress: bool | Callable[[float], None] = False,
    ) -> ElasticResult:
        """Run it; see :func:`bellcrank.elastic.simulate`."""
        return simulate(
            self.bodies,
            self.contacts,
            self.duration if duration is None else duration,
            self.step if step is None else step,
            scheme=self.scheme,
            solver=self.solver,
            compatibility=self.compatibility,
            frames=self.frames,
            progress=progress,
            name=self.name,
        )
