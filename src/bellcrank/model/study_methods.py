"""What can be done with a mechanism, described or analysed: runs and studies as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bellcrank.base.provided import provided

if TYPE_CHECKING:
    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.analyses.inverse import InverseDynamics
    from bellcrank.analyses.linearize import Linear
    from bellcrank.analyses.sensitivity import Sensitivity
    from bellcrank.batch import BatchResult
    from bellcrank.mechanism import State
    from bellcrank.result.result import Result


class StudyMethods:
    """Runs and studies of a system or a mechanism; each is imported when it is first called."""

    def simulate(self: Any, duration: float, **options: Any) -> Result:
        """Run for `duration` seconds; see :func:`bellcrank.run.simulation.simulate` for the options."""
        found: Result = provided("simulate")(self, duration, **options)
        return found

    def simulate_many(self: Any, table: Any, duration: float, **options: Any) -> BatchResult:
        """One run of `duration` seconds for every row of a table; see :func:`bellcrank.batch.simulate_many`."""
        found: BatchResult = provided("simulate many")(self, table, duration, **options)
        return found

    def equilibrium(self: Any, **options: Any) -> Equilibrium:
        """Where it stays at rest; see :func:`bellcrank.analyses.equilibrium.equilibrium`."""
        found: Equilibrium = provided("equilibrium")(self, **options)
        return found

    def linearize(self: Any, state: State | Equilibrium | str | None = None, **options: Any) -> Linear:
        """Small motions about a state; see :func:`bellcrank.analyses.linearize.linearize`."""
        found: Linear = provided("linearize")(self, state, **options)
        return found

    def kinematics(self: Any, duration: float, **options: Any) -> Result:
        """The motion over `duration` seconds when all freedoms are driven.

        See :func:`bellcrank.analyses.kinematics.kinematics`.
        """
        found: Result = provided("kinematics")(self, duration, **options)
        return found

    def inverse_dynamics(
        self: Any, motion: Any = None, duration: float | None = None, **options: Any
    ) -> InverseDynamics:
        """The efforts a motion of `duration` seconds needs; see :func:`bellcrank.analyses.inverse.inverse_dynamics`."""
        found: InverseDynamics = provided("inverse dynamics")(self, motion, duration, **options)
        return found

    def sensitivity(self: Any, duration: float, **options: Any) -> Sensitivity:
        """Derivatives along a run of `duration` seconds by parameters.

        See :func:`bellcrank.analyses.sensitivity.sensitivity`.
        """
        found: Sensitivity = provided("sensitivity")(self, duration, **options)
        return found
