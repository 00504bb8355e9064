"""The equations of motion of a mechanism as programs: traced for one partition in one formulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from bellcrank.base.garbage import collection_paused
from bellcrank.formulations.equations import Equations, Reference
from bellcrank.formulations.loops import Partition
from bellcrank.formulations.multipliers import multipliers
from bellcrank.formulations.registry import CANDIDATES, FORMULATIONS, Formulation, in_turn, least_operations
from bellcrank.mechanism.carried_loads import solved
from bellcrank.program.count import Count, count
from bellcrank.program.graph import BudgetExceeded, Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.quantities.states import state_rate

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Traced:
    """The equations of motion for one partition in one formulation."""

    formulation: Formulation
    partition: Partition
    equations: Equations
    du: Sequence[Scalar]
    state_rates: Callable[[Equations, Sequence[Scalar]], Sequence[Scalar]] = lambda equations, du: ()

    @cached_property
    def rates(self) -> Program:
        """[t, q, u_i, p] to [q-dot, rates of the independent speeds]: what integrators call."""
        eq = self.equations
        with eq.graph.counting("rates"):
            q_dot = eq.kin.position_rates()
            changes = self.state_rates(eq, self.du)
            q_dot[len(q_dot) - len(changes) :] = changes
        return Program.of(eq.inputs, [*q_dot, *(self.du[i] for i in self.partition.independent)], "rates")

    @cached_property
    def full(self) -> Program:
        """[t, q, u_i, p] to [all speeds, all speed rates, constraint residuals]."""
        eq = self.equations
        residuals = [e.residual for e in eq.loops.equations]
        return Program.of(eq.inputs, [*eq.u, *self.du, *residuals], "full")

    @cached_property
    def multipliers(self) -> Program:
        """[t, q, u_i, p] to the multiplier of every constraint equation, M du + Phi^T lambda = Q.

        Redundant equations have the multiplier zero: what they carry is not determined.
        """
        eq = self.equations
        with eq.graph.counting("multipliers"):
            found = multipliers(eq, self.du)
        return Program.of(
            eq.inputs, [found.get(e, 0.0) for e in range(len(eq.loops.equations))], "multipliers"
        )

    @cached_property
    def accelerations(self) -> Program:
        """[t, q, u_i, p] to the rates of all speeds, nothing else: what operation counts refer to."""
        return Program.of(self.equations.inputs, list(self.du), "accelerations")

    def count(self) -> Count:
        """The arithmetic of one evaluation of all accelerations."""
        return count(self.accelerations)


@collection_paused()
def trace(mechanism: Mechanism, wanted: Formulation, partition: Partition) -> Traced:
    """The equations of motion in a formulation; auto takes the one with the fewest operations."""
    if wanted is not Formulation.AUTO:
        return _traced(mechanism, wanted, partition)
    best: Traced | None = None
    fewest: int | None = None
    for candidate in in_turn(mechanism.linkage):
        if (
            fewest is not None
            and least_operations(candidate, mechanism.linkage, mechanism.constraints) > fewest
        ):
            continue
        try:
            # Some nodes of a graph end up unused, hardly ever more than half of them.
            trial = _traced(mechanism, candidate, partition, None if fewest is None else 2 * fewest + 1000)
        except BudgetExceeded:
            continue
        total = trial.count().total
        # Of equals the first of the candidates, in whatever order they came.
        ahead = best is not None and CANDIDATES.index(candidate) < CANDIDATES.index(best.formulation)
        if fewest is None or total < fewest or (total == fewest and ahead):
            best, fewest = trial, total
    assert best is not None
    # The budget was for choosing; derivatives of the chosen program may grow past it.
    best.equations.graph.budget = None
    return best


def _traced(
    mechanism: Mechanism, formulation: Formulation, partition: Partition, budget: int | None = None
) -> Traced:
    graph = Graph(budget)
    graph.twins = mechanism.twins
    reference = Reference(
        mechanism.start.t, mechanism.start.q.tolist(), mechanism.start.u.tolist(), mechanism.parameter_values
    )
    equations = Equations.traced(mechanism.mechanics, partition, graph, reference)
    du = FORMULATIONS[formulation](equations)
    return Traced(formulation, partition, equations, du, partial(_state_rates, mechanism))


def _state_rates(mechanism: Mechanism, eq: Equations, du: Sequence[Scalar]) -> list[Scalar]:
    """The rates of the first-order states; those that follow reactions need the accelerations."""
    if not mechanism.linkage.states:
        return []
    here = Snapshot.on(mechanism.system, mechanism.tree, mechanism.mechanics, eq.kin, eq.t, eq.graph)
    rates = [state_rate(here, name) for name in mechanism.linkage.states]
    if any(mechanism.system.states[name].follows is not None for name in mechanism.linkage.states):
        rates = solved(here, eq, du, rates)
    return rates
