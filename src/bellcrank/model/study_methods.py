"""What can be done with a mechanism, described or analysed: runs and analyses as methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import inf
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from bellcrank.base.provided import provided

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike

    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.analyses.inverse import InverseDynamics
    from bellcrank.analyses.linearize import Linear
    from bellcrank.analyses.sensitivity import Sensitivity
    from bellcrank.batch import BatchResult
    from bellcrank.formulations.registry import Formulation
    from bellcrank.mechanism import State
    from bellcrank.result.result import Result
    from bellcrank.run.events import Controller, Event

Given = ParamSpec("Given")
Found = TypeVar("Found")


def provided_by(service: str) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """A method that is a function of an upper folder, imported when it is first called.

    The method spells the arguments out, for readers and editors; a test holds them to those of the function.
    """

    def made(method: Callable[Given, Found]) -> Callable[Given, Found]:
        @wraps(method)
        def call(*ordered: Given.args, **named: Given.kwargs) -> Found:
            found: Found = provided(service)(*ordered, **named)
            return found

        return call

    return made


class StudyMethods:
    """Runs and analyses of a system or a mechanism."""

    @provided_by("simulate")
    def simulate(  # type: ignore[empty-body]
        self,
        duration: float,
        *,
        formulation: Formulation | str = "auto",
        integrator: str = "auto",
        tolerance: float = 1e-8,
        output: int | float | ArrayLike = 1000,
        initial: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        events: Sequence[Event] = (),
        controllers: Sequence[Controller] = (),
        step: float = 0.0,
        max_step: float = inf,
        max_steps: int = 100_000_000,
        start: State | Equilibrium | str | None = None,
        progress: bool | None = None,
        impacts: str = "dense",
        queue_size: int = 4,
        propagation: str = "sequential",
        save: str | PathLike[str] | None = None,
        watch: Callable[[Result], None] | None = None,
    ) -> Result:
        """Run for `duration` seconds; see :func:`bellcrank.run.simulation.simulate` for the options."""

    @provided_by("simulate many")
    def simulate_many(  # type: ignore[empty-body]
        self,
        table: Any,
        duration: float,
        *,
        quantities: Sequence[str],
        integrator: str | None = None,
        tolerance: float = 1e-8,
        output: int | float | ArrayLike = 100,
        starts: Sequence[State] | tuple[Any, Any] | None = None,
        events: Sequence[Any] = (),
        controllers: Sequence[Any] = (),
        step: float = 0.0,
        max_step: float = inf,
        impacts: str = "dense",
        queue_size: int = 4,
        propagation: str = "sequential",
        threads: int | None = None,
        device: str = "cpu",
        precision: Literal["double", "single"] = "double",
        progress: bool | None = None,
    ) -> BatchResult:
        """One run of `duration` seconds for every row of a table; see :func:`bellcrank.batch.simulate_many`."""

    @provided_by("equilibrium")
    def equilibrium(  # type: ignore[empty-body]
        self,
        *,
        t: float | None = None,
        drivers: str = "frozen",
        nearest: bool = False,
        initial: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        start: State | Equilibrium | None = None,
        hold: Sequence[str] = (),
        iterations: int = 200,
    ) -> Equilibrium:
        """Where it stays at rest; see :func:`bellcrank.analyses.equilibrium.equilibrium`."""

    @provided_by("linearize")
    def linearize(  # type: ignore[empty-body]
        self,
        state: State | Equilibrium | str | None = None,
        *,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        initial: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Linear:
        """Small motions about a state; see :func:`bellcrank.analyses.linearize.linearize`."""

    @provided_by("kinematics")
    def kinematics(  # type: ignore[empty-body]
        self,
        duration: float,
        *,
        output: int | float | ArrayLike = 1000,
        initial: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        start: State | Equilibrium | str | None = None,
    ) -> Result:
        """The motion over `duration` seconds when all freedoms are driven.

        See :func:`bellcrank.analyses.kinematics.kinematics`.
        """

    @provided_by("inverse dynamics")
    def inverse_dynamics(  # type: ignore[empty-body]
        self,
        motion: Mapping[Any, Any] | Result | None = None,
        duration: float | None = None,
        *,
        output: int | float | ArrayLike = 1000,
        actuators: Sequence[str] | None = None,
        initial: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        start: State | Equilibrium | None = None,
    ) -> InverseDynamics:
        """The efforts a motion of `duration` seconds needs; see :func:`bellcrank.analyses.inverse.inverse_dynamics`."""

    @provided_by("sensitivity")
    def sensitivity(  # type: ignore[empty-body]
        self,
        duration: float,
        *,
        outputs: Sequence[str],
        by: Sequence[str] | None = None,
        integrator: str = "auto",
        tolerance: float = 1e-9,
        output: int | float | ArrayLike = 100,
        initial: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        start: State | Equilibrium | str | None = None,
    ) -> Sensitivity:
        """Derivatives along a run of `duration` seconds by parameters.

        See :func:`bellcrank.analyses.sensitivity.sensitivity`.
        """
