"""What can be done with a mechanism, described or analysed: runs and studies as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.analyses.inverse import InverseDynamics
    from bellcrank.analyses.linearize import Linear
    from bellcrank.analyses.sensitivity import Sensitivity
    from bellcrank.batch import BatchResult
    from bellcrank.mechanism import State
    from bellcrank.result.result import Result


class StudyMethods:
    """Runs and studies of a system or a mechanism; each opens its room when it is first called."""

    def simulate(self: Any, duration: float, **options: Any) -> Result:
        """Run for `duration` seconds; see :func:`bellcrank.run.simulation.simulate` for the options."""
        from bellcrank.run.simulation import simulate

        return simulate(self, duration, **options)

    def simulate_many(self: Any, table: Any, duration: float, **options: Any) -> BatchResult:
        """One run of `duration` seconds for every row of a table; see :func:`bellcrank.batch.simulate_many`."""
        from bellcrank.batch import simulate_many

        return simulate_many(self, table, duration, **options)

    def equilibrium(self: Any, **options: Any) -> Equilibrium:
        """Where it stays at rest; see :func:`bellcrank.analyses.equilibrium.equilibrium`."""
        from bellcrank.analyses.equilibrium import equilibrium

        return equilibrium(self, **options)

    def linearize(self: Any, state: State | Equilibrium | None = None, **options: Any) -> Linear:
        """Small motions about a state; see :func:`bellcrank.analyses.linearize.linearize`."""
        from bellcrank.analyses.linearize import linearize

        return linearize(self, state, **options)

    def kinematics(self: Any, duration: float, **options: Any) -> Result:
        """The motion over `duration` seconds when all freedoms are driven.

        See :func:`bellcrank.analyses.kinematics.kinematics`.
        """
        from bellcrank.analyses.kinematics import kinematics

        return kinematics(self, duration, **options)

    def inverse_dynamics(
        self: Any, motion: Any = None, duration: float | None = None, **options: Any
    ) -> InverseDynamics:
        """The efforts a motion of `duration` seconds needs; see :func:`bellcrank.analyses.inverse.inverse_dynamics`."""
        from bellcrank.analyses.inverse import inverse_dynamics

        return inverse_dynamics(self, motion, duration, **options)

    def sensitivity(self: Any, duration: float, **options: Any) -> Sensitivity:
        """Derivatives along a run of `duration` seconds by parameters.

        See :func:`bellcrank.analyses.sensitivity.sensitivity`.
        """
        from bellcrank.analyses.sensitivity import sensitivity

        return sensitivity(self, duration, **options)
