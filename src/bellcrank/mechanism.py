"""A mechanism: what the analysis of a described system found, and the programs traced from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.analysis.assembly import (
    LoopState,
    close_positions,
    close_speeds,
    closed_without,
    independent_equations,
    led,
)
from bellcrank.analysis.constraints import constraints_of
from bellcrank.analysis.grouping import body_groups_of, connected
from bellcrank.analysis.initial import apply_initial
from bellcrank.analysis.masses import check_masses
from bellcrank.analysis.mistakes import check_implied, check_locked, open_loop, stuck
from bellcrank.analysis.symmetry import spinning_links
from bellcrank.errors import ModelError, SingularMechanism, unknown_name
from bellcrank.formulations.equations import Equations, Mechanics, Reference
from bellcrank.formulations.loops import Partition
from bellcrank.formulations.multipliers import multipliers
from bellcrank.formulations.partition import choose_partition, independence
from bellcrank.formulations.registry import CANDIDATES, FORMULATIONS, Formulation, least_operations
from bellcrank.mechanics.dynamics import regrouped
from bellcrank.mechanics.forces import effect
from bellcrank.mechanics.links import Linkage, LinkKind
from bellcrank.mechanics.lowering import lower
from bellcrank.mechanics.start import start_positions
from bellcrank.mechanics.twins import twin_inputs
from bellcrank.program.count import Count, count
from bellcrank.program.program import Program
from bellcrank.program.trace import BudgetExceeded, Graph, Scalar
from bellcrank.topology import spanning_tree
from bellcrank.topology.groups import Group

if TYPE_CHECKING:
    from bellcrank.analysis.count_report import CountReport
    from bellcrank.batch import BatchResult
    from bellcrank.export import CasadiFunctions
    from bellcrank.model.system import System
    from bellcrank.program.kernel import Kernel
    from bellcrank.result.result import Result
    from bellcrank.studies.equilibrium import Equilibrium
    from bellcrank.studies.inverse import InverseDynamics
    from bellcrank.studies.linearize import Linear
    from bellcrank.studies.sensitivity import Sensitivity
    from bellcrank.topology.tree import Tree

Array = NDArray[np.float64]

CHANGE_POINT = 1e-6
"""Independence of the loop equations below which speeds are lost in rounding (see `Mechanism.check_rank`)."""


@dataclass(frozen=True, eq=False)
class State:
    """Time [s], positions and speeds of all links, loops closed."""

    t: float
    q: Array
    u: Array


@dataclass(frozen=True, eq=False)
class Traced:
    """The equations of motion for one partition in one formulation."""

    formulation: Formulation
    partition: Partition
    equations: Equations
    du: Sequence[Scalar]
    state_rates: Callable[[Equations], Sequence[Scalar]] = lambda equations: ()

    @cached_property
    def rates(self) -> Program:
        """[t, q, u_i, p] to [q-dot, rates of the independent speeds]: what integrators call."""
        eq = self.equations
        with eq.graph.counting("rates"):
            q_dot = eq.kin.position_rates()
            changes = self.state_rates(eq)
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


@dataclass(frozen=True, eq=False)
class Mechanism:
    """An analysed system.

    kept, dropped: numbers of the constraint equations in use and of those found redundant. groups: links
    solved together. start: the assembled start state.
    """

    system: System
    tree: Tree
    mechanics: Mechanics
    groups: tuple[Group, ...]
    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    start: State
    parameter_values: tuple[float, ...]
    formulation: Formulation

    @property
    def linkage(self) -> Linkage:
        """The links."""
        return self.mechanics.linkage

    @property
    def coordinates(self) -> int:
        """Number of relative speeds of the tree."""
        return self.linkage.speeds

    @property
    def constraints(self) -> int:
        """Number of constraint equations, redundant ones included."""
        return sum(c.size for c in self.mechanics.constraints)

    @property
    def degrees_of_freedom(self) -> int:
        """Number of independent speeds."""
        return self.coordinates - len(self.kept)

    @cached_property
    def equation_names(self) -> tuple[str, ...]:
        """Every constraint equation in words."""
        return tuple(f"{c.what}: {label}" for c in self.mechanics.constraints for label in c.labels)

    @property
    def redundant(self) -> tuple[str, ...]:
        """The redundant equations that were dropped, in words."""
        return tuple(self.equation_names[e] for e in self.dropped)

    @cached_property
    def speed_names(self) -> tuple[str, ...]:
        """joint.coordinate for every speed."""
        names = []
        for link in self.linkage.links:
            if link.kind is LinkKind.NODE:
                names += [f"{link.name}.mode {k + 1}" for k in range(len(link.own_speeds))]
                continue
            joint = self.system.joints[link.joint]
            if link.kind is LinkKind.FREE:
                turning, moving = joint.speeds[3:], joint.speeds[:3]
                names += [f"{joint.name}.{s}" for s in (*turning, *(f"velocity_{m}" for m in moving))]
            elif link.kind is LinkKind.BALL:
                names += [f"{joint.name}.{s}" for s in joint.speeds]
            else:
                names.append(f"{joint.name}.{link.coordinates[0]}")
        return tuple(names)

    def loop_state(self, parameters: Sequence[float] | None = None) -> LoopState:
        """The constraints ready to be evaluated in plain numbers."""
        values = self.parameter_values if parameters is None else parameters
        named = dict(zip(self.mechanics.parameters, values, strict=True))
        return LoopState(self.linkage, self.mechanics.constraints, named)

    def choose_partition(self, state: State, parameters: Sequence[float] | None = None) -> Partition:
        """Dependent and independent speeds that are well conditioned in this state."""
        rows = self.loop_state(parameters).rows(state.q, state.t)
        partition = choose_partition(self.linkage, self.mechanics.constraints, self.groups, self.kept, rows)
        if len(partition.dependent) < len(self.kept):
            whole = connected(self.groups)
            partition = choose_partition(self.linkage, self.mechanics.constraints, whole, self.kept, rows)
        if len(partition.dependent) < len(self.kept):
            used = {e for g in partition.groups for e, _ in g.pivots}
            lost = next(self.equation_names[e] for e in self.kept if e not in used)
            raise SingularMechanism(
                f"{self.system.name!r} stands in a singular configuration at t = {state.t:g} s: the equation "
                f"'{lost}' depends on the others there; start a little to one side of it"
            )
        return partition

    def independence(
        self, state: State, partition: Partition, parameters: Sequence[float] | None = None
    ) -> tuple[float, str]:
        """How far the loops are from losing rank in a state, 0 to 1, and the equation that goes first."""
        J = self.loop_state(parameters).rows(state.q, state.t).J
        kept = list(self.kept)
        if not kept:
            return 1.0, ""
        # Equations of one point count together: one of them may vanish in line with an axis.
        counts = [len(c.labels) for c in self.mechanics.constraints]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        sizes = np.repeat([np.abs(J[a:b]).max(initial=0.0) for a, b in pairwise(starts)], counts)
        distance, weakest = independence(J[np.ix_(kept, list(partition.dependent))], sizes[kept])
        return distance, self.equation_names[kept[weakest]]

    def check_rank(
        self, state: State, partition: Partition, parameters: Sequence[float] | None = None
    ) -> tuple[float, str]:
        """Raise where the loops nearly lose rank, whatever the partition: at a change point.

        Speeds follow there from differences of positions, so that rounding is amplified by the inverse square of
        the distance. Returns the distance and the equation that goes first.
        """
        distance, name = self.independence(state, partition, parameters)
        self._check_distance(distance, name, state.t, CHANGE_POINT)
        return distance, name

    def check_start(self, tolerance: float) -> None:
        """Raise where the start is so close to a change point that a run cannot hold this relative tolerance."""
        partition, (distance, name) = self._partition_and_rank
        if self.partition is partition:
            self._check_distance(distance, name, self.start.t, 0.1 * math.sqrt(2.2e-16 / tolerance))

    def _check_distance(self, distance: float, name: str, t: float, least: float) -> None:
        if distance < least:
            raise SingularMechanism(
                f"{self.system.name!r} is so close to a change point at t = {t:.9g} s, where its loops lose rank "
                f"and it may go on in more than one way, that its speeds are lost in rounding: the equation '{name}' "
                f"depends on the others up to {distance:.1e}; start further to one side of it "
                f"(beyond {least:.1e}), or loosen the tolerance"
            )

    @cached_property
    def partition(self) -> Partition:
        """The partition in the start state."""
        return self._partition_and_rank[0]

    @cached_property
    def _partition_and_rank(self) -> tuple[Partition, tuple[float, str]]:
        partition = self.choose_partition(self.start)
        return partition, self.check_rank(self.start, partition)

    def traced(
        self, formulation: Formulation | str | None = None, partition: Partition | None = None
    ) -> Traced:
        """The equations of motion in a formulation (default: the mechanism's own)."""
        wanted = Formulation(formulation or self.formulation)
        partition = partition or self.partition
        key = (wanted, partition)
        if key not in self._traces:
            self._traces[key] = self._choose_trace(wanted, partition)
        return self._traces[key]

    @cached_property
    def _traces(self) -> dict[tuple[Formulation, Partition], Traced]:
        return {}

    @cached_property
    def compiled(self) -> dict[Any, Any]:
        """Programs already compiled, by partition; shared by mechanisms of the same description."""
        return {}

    @cached_property
    def _elements(self) -> tuple[object, ...]:
        s = self.system
        kinds = (s.bodies, s.joints, s.drivers, s.couplings, s.forces, s.states)
        return (*(item for kind in kinds for item in kind.values()), *s.parameters, *s.gravity)

    def with_programs_of(self, other: Mechanism) -> Mechanism:
        """This mechanism, taking over the programs of another where both describe the same.

        Start state and parameter values are inputs of the programs, so they may differ.
        """
        same = len(self._elements) == len(other._elements) and all(
            a is b or (isinstance(a, float | str) and a == b)
            for a, b in zip(self._elements, other._elements, strict=True)
        )
        if same and self.kept == other.kept and self.formulation == other.formulation:
            self.__dict__["_traces"] = other._traces
            self.__dict__["compiled"] = other.compiled
        return self

    def _choose_trace(self, wanted: Formulation, partition: Partition) -> Traced:
        if wanted is not Formulation.AUTO:
            return self._trace(wanted, partition)
        best: Traced | None = None
        fewest: int | None = None
        for candidate in CANDIDATES:
            if fewest is not None and least_operations(candidate, self.linkage, self.constraints) > fewest:
                continue
            try:
                # Some nodes of a graph end up unused, hardly ever more than half of them.
                trial = self._trace(candidate, partition, None if fewest is None else 2 * fewest + 1000)
            except BudgetExceeded:
                continue
            total = trial.count().total
            if fewest is None or total < fewest:
                best, fewest = trial, total
        assert best is not None
        # The budget was for choosing; derivatives of the chosen program may grow past it.
        best.equations.graph.budget = None
        return best

    @cached_property
    def _twins(self) -> dict[str, str]:
        return twin_inputs(self.linkage)

    def _trace(self, formulation: Formulation, partition: Partition, budget: int | None = None) -> Traced:
        graph = Graph(budget)
        graph.twins = self._twins
        reference = Reference(
            self.start.t, self.start.q.tolist(), self.start.u.tolist(), self.parameter_values
        )
        equations = Equations.traced(self.mechanics, partition, graph, reference)
        du = FORMULATIONS[formulation](equations)
        return Traced(formulation, partition, equations, du, self._state_rates)

    def _state_rates(self, eq: Equations) -> list[Scalar]:
        """The rates of the first-order states."""
        if not self.linkage.states:
            return []
        from bellcrank.result.snapshot import Snapshot
        from bellcrank.result.states import state_rate

        here = Snapshot.on(self.system, self.tree, self.mechanics, eq.kin, eq.t, eq.graph)
        return [state_rate(here, name) for name in self.linkage.states]

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled rates in the start partition; see :attr:`Traced.rates`."""
        from bellcrank.program.kernel import compile_program

        return compile_program(self.traced().rates)

    def kernel_input(self, state: State | None = None, parameters: Sequence[float] | None = None) -> Array:
        """[t, q, u_i, p] of a state (default: the start) for :attr:`kernel`."""
        state = state or self.start
        values = self.parameter_values if parameters is None else parameters
        return np.concatenate([[state.t], state.q, state.u[list(self.partition.independent)], values])

    def count(self, *formulations: Formulation | str) -> CountReport:
        """Operations of one evaluation by stage (default: of all formulations), and paper D's formulas."""
        from bellcrank.analysis.count_report import CountReport
        from bellcrank.analysis.paper_counts import paper_counts

        traced = [self.traced(f) for f in formulations or FORMULATIONS]
        counts = {t.formulation: t.count() for t in traced}
        return CountReport(self.system.name, counts, paper_counts(self))

    def simulate(self, duration: float, **options: Any) -> Result:
        """Run for `duration` seconds; see :func:`bellcrank.simulation.simulate` for the options."""
        from bellcrank.simulation import simulate

        return simulate(self, duration, **options)

    def equilibrium(self, **options: Any) -> Equilibrium:
        """Where it stays at rest; see :func:`bellcrank.studies.equilibrium.equilibrium`."""
        from bellcrank.studies.equilibrium import equilibrium

        return equilibrium(self, **options)

    def linearize(self, state: State | Equilibrium | None = None, **options: Any) -> Linear:
        """Small motions about a state; see :func:`bellcrank.studies.linearize.linearize`."""
        from bellcrank.studies.linearize import linearize

        return linearize(self, state, **options)

    def kinematics(self, duration: float, **options: Any) -> Result:
        """The motion when all freedoms are driven; see :func:`bellcrank.studies.kinematics.kinematics`."""
        from bellcrank.studies.kinematics import kinematics

        return kinematics(self, duration, **options)

    def inverse_dynamics(
        self, motion: Any = None, duration: float | None = None, **options: Any
    ) -> InverseDynamics:
        """The efforts a motion needs; see :func:`bellcrank.studies.inverse.inverse_dynamics`."""
        from bellcrank.studies.inverse import inverse_dynamics

        return inverse_dynamics(self, motion, duration, **options)

    def sensitivity(self, duration: float, **options: Any) -> Sensitivity:
        """Derivatives along a run by parameters; see :func:`bellcrank.studies.sensitivity.sensitivity`."""
        from bellcrank.studies.sensitivity import sensitivity

        return sensitivity(self, duration, **options)

    def simulate_many(self, table: Any, duration: float, **options: Any) -> BatchResult:
        """One run for every row of a table; see :func:`bellcrank.batch.simulate_many`."""
        from bellcrank.batch import simulate_many

        return simulate_many(self, table, duration, **options)

    def export_c(self, path: str | PathLike[str], name: str | None = None) -> Path:
        """Write it as one self-contained C99 file; see :func:`bellcrank.export.export_c`."""
        from bellcrank.export import export_c

        return export_c(self, path, name)

    def export_casadi(self) -> CasadiFunctions:
        """It as CasADi functions; see :func:`bellcrank.export.export_casadi`."""
        from bellcrank.export import export_casadi

        return export_casadi(self)

    def projection(self, partition: Partition, with_rank: bool = False) -> Program:
        """[t, q, u_i, p] to [q corrected, u_i, residual, margin]: one Newton step (paper B, 38, 39).

        residual: largest constraint residual before the step. margin: smallest pivot against the largest
        entry of its row; it falls towards zero where another partition is due. with_rank: one more output,
        the smallest pivot against the largest entry of its constraint; towards zero the loops lose rank.
        """
        from bellcrank.formulations.projection import projection

        return projection(self.mechanics, partition, with_rank)

    def __str__(self) -> str:
        from bellcrank.analysis.describe import describe_mechanism

        return describe_mechanism(self)


def analyse(
    system: System,
    *,
    formulation: Formulation | str = Formulation.AUTO,
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    t: float = 0.0,
) -> Mechanism:
    """Analyse a described system: tree, cuts, loops, groups, redundancies, assembled start.

    initial: start values by joint, see :func:`bellcrank.analysis.initial.apply_initial`. parameters: values
    other than the described ones.
    """
    tree = spanning_tree(system)
    linkage = lower(system, tree)
    constraints = constraints_of(system, tree, linkage)
    effects = tuple(effect(force, linkage) for force in system.forces.values())
    names = tuple(system.parameters)
    values = _parameter_values(system, parameters or {})
    # The rates of states may look at any rotation.
    watched = any(state.rate is not None for state in system.states.values())
    spinning = frozenset() if watched else spinning_links(system, linkage, constraints, regrouped(linkage))
    mechanics = Mechanics(linkage, constraints, effects, names, spinning)
    loops = LoopState(linkage, constraints, dict(zip(names, values, strict=True)))
    drawn, rest = start_positions(system, linkage, loops.parameters), np.zeros(linkage.speeds)
    given, u, fixed_q, fixed_u = apply_initial(system, linkage, loops, drawn, rest, initial or {})
    given = led(loops, drawn, given, fixed_q, t)
    describe = partial(open_loop, system, tree, constraints, fixed_q)
    q = close_positions(loops, given, fixed_q, t, describe)
    kept, dropped = independent_equations(loops, q, t)
    q = closed_without(loops, given, q, fixed_q, t, kept)
    u = close_speeds(loops, loops.rows(q, t), u, fixed_u, lambda left: stuck(constraints, left, fixed_u))
    check_implied(loops, q, u, t, kept, dropped)
    groups = body_groups_of(linkage, mechanics, kept)
    check_locked(mechanics, groups, kept)
    start = State(t, q, u)
    mechanism = Mechanism(
        system, tree, mechanics, groups, tuple(kept), tuple(dropped), start, values, Formulation(formulation)
    )
    _ = mechanism._elements
    check_masses(mechanism)
    return mechanism


def _parameter_values(system: System, given: Mapping[str, float]) -> tuple[float, ...]:
    for name, value in given.items():
        if name not in system.parameters:
            raise unknown_name("parameter", name, system.parameters)
        if not np.isfinite(value):
            raise ModelError(f"parameter {name!r} must be a finite number, not {value!r}")
    return tuple(float(given.get(name, p.value)) for name, p in system.parameters.items())


__all__ = ["Formulation", "Mechanism", "State", "Traced", "analyse"]
