"""A mechanism: what the analysis of a described system found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.provided import provided
from bellcrank.errors import ModelError, SingularMechanism, unknown_name
from bellcrank.formulations.equations import Mechanics
from bellcrank.formulations.loops import Partition
from bellcrank.formulations.partition import choose_partition, independence, nonholonomic
from bellcrank.formulations.registry import FORMULATIONS, Formulation
from bellcrank.mechanics.constraints import comparable
from bellcrank.mechanics.dynamics import regrouped
from bellcrank.mechanics.forces import effect
from bellcrank.mechanics.links import Linkage
from bellcrank.mechanics.lowering import lower
from bellcrank.mechanics.start import start_positions
from bellcrank.mechanics.twins import twin_inputs
from bellcrank.mechanism.assembly import (
    LoopState,
    close_positions,
    close_speeds,
    closed_without,
    independent_equations,
    led,
    yielding,
)
from bellcrank.mechanism.carried_loads import start_loads
from bellcrank.mechanism.constraints import constraints_of
from bellcrank.mechanism.groups import body_groups_of, connected
from bellcrank.mechanism.initial import apply_initial, bendable, separate
from bellcrank.mechanism.masses import check_masses
from bellcrank.mechanism.mistakes import check_implied, check_locked, open_loop, stuck
from bellcrank.mechanism.sizes import length_scale, length_unit
from bellcrank.mechanism.symmetry import spinning_links
from bellcrank.mechanism.traced import Traced, trace
from bellcrank.model.study_methods import StudyMethods
from bellcrank.program.made import Compiled, Table
from bellcrank.program.program import Program
from bellcrank.topology import spanning_tree
from bellcrank.topology.groups import Group

if TYPE_CHECKING:
    from bellcrank.mechanism.count_report import CountReport
    from bellcrank.mechanism.dynamic_terms import DynamicTerms
    from bellcrank.mechanism.export import CasadiFunctions
    from bellcrank.model.system import System
    from bellcrank.program.kernel import Kernel
    from bellcrank.topology.tree import Tree

Array = NDArray[np.float64]

TRACES: Table[tuple[Formulation, Partition], Traced] = Table("traces")
UNBOUND: Table[None, Partition] = Table("partition without loops")

CHANGE_POINT = 1e-6
"""Independence of the loop equations below which speeds are lost in rounding (see `Mechanism.check_rank`)."""


@dataclass(frozen=True, eq=False)
class State:
    """Time t [s], positions q [m, rad] and speeds u [m/s, rad/s] of all links, loops closed.

    q: (positions,), quaternions as (w, x, y, z). u: (speeds,), in the order of :attr:`Mechanism.speed_names`.
    """

    t: float
    q: Array
    u: Array


@dataclass(frozen=True, eq=False)
class Mechanism(StudyMethods):
    """An analysed system.

    kept, dropped: numbers of the constraint equations in use and of those found redundant. groups: links
    solved together. start: the assembled start state. initial: start values over the described ones from which it was
    assembled; None where it was given as a state. bent: speeds of members that had to move so that the loops close, in
    positions and in speeds.
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
    initial: Mapping[str, Any] | None = None
    bent: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())

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
    def holonomic(self) -> tuple[int, ...]:
        """The kept equations of positions; the others are of velocities alone."""
        velocities = nonholonomic(self.mechanics.constraints)
        return tuple(e for e in self.kept if e not in velocities)

    @property
    def position_freedoms(self) -> int:
        """Number of independent small moves: more than speeds where equations are of velocities alone."""
        return self.coordinates - len(self.holonomic)

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
        """joint.coordinate for every speed.

        The three of a ball, and the six of a free joint, are along axes of their own, which follow the axis of the next
        joint; ``jacobian("body.angular_velocity")`` leads to world axes.
        """
        names = []
        for link in self.linkage.links:
            joint = self.system.joints.get(link.joint)
            own = link.kind.speed_names(link, () if joint is None else joint.speeds)
            names += [f"{link.joint or link.name}.{name}" for name in own]
        return tuple(names)

    def starting(self, state: State, initial: Mapping[str, Any] | None = None) -> Mechanism:
        """The mechanism with another start: a state, and start values by joint over it, loops closed around them."""
        linkage = self.linkage
        q, u = np.asarray(state.q, dtype=float), np.asarray(state.u, dtype=float)
        if q.shape != (linkage.positions,) or u.shape != (linkage.speeds,):
            raise ModelError(
                f"the start has {q.size} positions and {u.size} speeds, {self.system.name!r} has {linkage.positions} "
                f"and {linkage.speeds}; take a state of this mechanism"
            )
        if not (np.isfinite(q).all() and np.isfinite(u).all() and math.isfinite(state.t)):
            raise ModelError(f"the start given for {self.system.name!r} is not finite")
        if initial:
            loops, t = self.loop_state(), state.t
            given, v, held_q, held_u = apply_initial(
                self.system, linkage, loops, q, u, initial, described=False
            )
            constraints = self.mechanics.constraints
            given = led(loops, q, given, held_q, t)
            may = bendable(self.system, linkage, loops, initial, described=False)
            q, _ = yielding(
                lambda held: close_positions(
                    loops,
                    given,
                    held,
                    t,
                    partial(open_loop, self.system, self.tree, constraints, held),
                    self.kept,
                ),
                held_q,
                may[0],
            )
            rows = loops.rows(q, t)
            u, _ = yielding(
                lambda held: close_speeds(loops, rows, v, held, lambda left: stuck(constraints, left, held)),
                held_u,
                may[1],
            )
        return replace(self, start=State(state.t, q, u), initial=None).with_programs_of(self)

    def loop_state(self, parameters: Sequence[float] | None = None) -> LoopState:
        """The constraints ready to be evaluated in plain numbers."""
        values = self.parameter_values if parameters is None else parameters
        named = dict(zip(self.mechanics.parameters, values, strict=True))
        return LoopState(self.linkage, self.mechanics.constraints, named, max(1.0, self.length_scale))

    def choose_partition(self, state: State, parameters: Sequence[float] | None = None) -> Partition:
        """Dependent and independent speeds that are well conditioned in this state."""
        if self.kept:
            return self._conditioned(state, parameters)
        # Without loops there is one partition, whatever the state.
        return self.compiled.once(UNBOUND, None, lambda: self._conditioned(state, parameters))

    def position_partition(self, state: State) -> Partition:
        """Dependent and independent small moves of positions: by the equations of positions alone."""
        if len(self.holonomic) == len(self.kept):
            return self.partition
        rows = self.loop_state().rows(state.q, state.t)
        whole = connected(self.groups)
        return choose_partition(self.linkage, self.mechanics.constraints, whole, self.holonomic, rows)

    def _conditioned(self, state: State, parameters: Sequence[float] | None) -> Partition:
        rows = self.loop_state(parameters).rows(state.q, state.t)
        partition = choose_partition(self.linkage, self.mechanics.constraints, self.groups, self.kept, rows)
        if len(partition.dependent) < len(self.kept):
            whole = connected(self.groups)
            partition = choose_partition(self.linkage, self.mechanics.constraints, whole, self.kept, rows)
        if len(partition.dependent) < len(self.kept):
            used = {e for g in partition.groups for e, _ in g.pivots}
            lost = next(self.equation_names[e] for e in self.kept if e not in used)
            members = [body.member for body in self.system.bodies.values() if body.member is not None]
            advice = [member.loop_advice for member in members if member.loop_advice]
            raise SingularMechanism(
                f"{self.system.name!r} stands in a singular configuration at t = {state.t:g} s: the equation "
                f"'{lost}' depends on the others there; "
                + " or ".join([*advice, "start a little to one side of it"])
            )
        return partition

    def independence(
        self, state: State, partition: Partition, parameters: Sequence[float] | None = None
    ) -> tuple[float, str]:
        """How far the loops are from losing rank in a state, 0 to 1, and the equation that goes first."""
        kept = list(self.kept)
        if not kept:
            return 1.0, ""
        J = self.loop_state(parameters).rows(state.q, state.t).J
        J = J * np.array(self.linkage.speed_units)
        owner = np.array(comparable(self.mechanics.constraints), dtype=int)
        largest = np.zeros(owner.max(initial=0) + 1)
        np.maximum.at(largest, owner, np.abs(J).max(axis=1, initial=0.0))
        sizes = largest[owner]
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

    @cached_property
    def length_scale(self) -> float:
        """What absolute tolerances of lengths are multiplied by (see :mod:`bellcrank.mechanism.sizes`)."""
        return length_scale(self.system)

    @property
    def start_independence(self) -> float:
        """How far the loops are from losing rank in the start state, 0 to 1."""
        return self._partition_and_rank[1][0]

    def check_start(self, tolerance: float) -> None:
        """Raise where the start is so close to a change point that a run cannot hold this relative tolerance."""
        partition, (distance, name) = self._partition_and_rank
        if self.partition is partition:
            self._check_distance(distance, name, self.start.t, 0.1 * math.sqrt(2.2e-16 / tolerance))

    def _check_distance(self, distance: float, name: str, t: float, least: float) -> None:
        if distance < least:
            raise SingularMechanism(
                f"{self.system.name!r} is so close to a change point at t = {t:.9g} s, where its loops lose rank "
                f"and its motion may branch, that its speeds are lost in rounding: the equation '{name}' "
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
        return self.compiled.once(TRACES, (wanted, partition), lambda: trace(self, wanted, partition))

    @cached_property
    def compiled(self) -> Compiled:
        """What was traced and compiled of it; shared by mechanisms of the same description."""
        return Compiled()

    @cached_property
    def _elements(self) -> tuple[object, ...]:
        s = self.system
        kinds = (s.bodies, s.joints, s.drivers, s.couplings, s.constraints, s.forces, s.states)
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
            self.compiled.share(other.compiled)
        return self

    @cached_property
    def twins(self) -> dict[str, str]:
        """Inputs that play the same part in two alike halves, in both directions."""
        return twin_inputs(self.linkage)

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

    @property
    def _terms(self) -> DynamicTerms:
        from bellcrank.mechanism.dynamic_terms import TERMS, DynamicTerms

        return self.compiled.once(TERMS, None, lambda: DynamicTerms(self))

    def _input(self, state: State | None) -> Array:
        return self._terms.input(state or self.start, self.parameter_values)

    def mass_matrix(self, state: State | None = None) -> Array:
        """M over the speeds of the tree, shape (speeds, speeds), in the order of :attr:`speed_names`.

        M du + bias = applied forces + J^T multipliers, with M [kg, kg m, kg m^2]. state: default the start.
        """
        return self._terms.mass_matrix(self._input(state))

    def bias_forces(self, state: State | None = None) -> Array:
        """Inertia forces at zero speed rates, weight and strain of flexible bodies [N, N m], shape (speeds,)."""
        return self._terms.bias(self._input(state))

    def applied_forces(self, state: State | None = None) -> Array:
        """Generalised forces of springs, tyres, motors and all other force elements [N, N m], shape (speeds,)."""
        return self._terms.applied(self._input(state))

    def constraint_jacobian(self, state: State | None = None) -> tuple[Array, Array]:
        """J and gamma of J du = gamma: one row for each of :attr:`equation_names`, redundant ones included."""
        return self._terms.rows(self._input(state))

    def jacobian(self, quantity: str, state: State | None = None) -> Array:
        """Derivatives of a quantity by the speeds of the tree, shape (components, speeds).

        quantity: by name, such as ``"hand.velocity"``, ``"hand.point(0.1, 0, 0).velocity"``,
        ``"hand.angular_velocity"`` or ``"momentum"``.
        """
        return self._terms.quantity(quantity, self._input(state))[1]

    def center_of_mass(self, state: State | None = None) -> Array:
        """Of all bodies in world axes [m], shape (3,)."""
        return self._terms.quantity("center_of_mass", self._input(state))[0]

    def momentum(self, state: State | None = None) -> Array:
        """Of all bodies in world axes [kg m/s], shape (3,)."""
        return self._terms.quantity("momentum", self._input(state))[0]

    def angular_momentum(self, state: State | None = None, about: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
        """Of all bodies about a point of the world [kg m^2/s], shape (3,)."""
        x = self._input(state)
        found = self._terms.quantity("angular_momentum", x)[0]
        moved = np.cross(np.asarray(about, dtype=float), self._terms.quantity("momentum", x)[0])
        return np.asarray(found - moved)

    def count(self, *formulations: Formulation | str) -> CountReport:
        """Operations of one evaluation by stage (default: of all formulations), and the formulas of Kang and Yoon."""
        from bellcrank.mechanism.count_report import CountReport
        from bellcrank.mechanism.paper_counts import paper_counts

        traced = [self.traced(f) for f in formulations or FORMULATIONS]
        counts = {t.formulation: t.count() for t in traced}
        return CountReport(self.system.name, counts, paper_counts(self))

    def export_c(self, path: str | PathLike[str], name: str | None = None) -> Path:
        """Write it as one self-contained C99 file; see :func:`bellcrank.mechanism.export.export_c`."""
        from bellcrank.mechanism.export import export_c

        return export_c(self, path, name)

    def export_fmu(
        self,
        path: str | PathLike[str],
        *,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] | None = None,
        version: str = "2.0",
        duration: float = 10.0,
        tolerance: float = 1e-8,
        integrator: str = "auto",
        step: float = 0.0,
        platforms: Sequence[str] = ("this",),
        name: str | None = None,
    ) -> Path:
        """Write it as an FMU for other programs; see :func:`bellcrank.fmu.export_fmu`."""
        written: Path = provided("fmu")(
            self,
            path,
            inputs=inputs,
            outputs=outputs,
            version=version,
            duration=duration,
            tolerance=tolerance,
            integrator=integrator,
            step=step,
            platforms=platforms,
            name=name,
        )
        return written

    def export_casadi(self) -> CasadiFunctions:
        """It as CasADi functions; see :func:`bellcrank.mechanism.export.export_casadi`."""
        from bellcrank.mechanism.export import export_casadi

        return export_casadi(self)

    def projection(self, partition: Partition, with_rank: bool = False) -> Program:
        """[t, q, u_i, p] to [q corrected, u_i, residual, margin]: one Newton step (Ahn and Lee 1994, equations 38, 39).

        residual: largest constraint residual before the step. margin: smallest pivot against the largest
        entry of its row; it falls towards zero where another partition is due. with_rank: one more output,
        the smallest pivot against the largest entry of its constraint; towards zero the loops lose rank.
        """
        from bellcrank.formulations.projection import projection

        return projection(self.mechanics, partition, with_rank)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the text of its model and its start: neither the user's functions nor machine code travel."""
        parts: tuple[Any, ...] = provided("pickled mechanism")(self)
        return parts

    def __str__(self) -> str:
        from bellcrank.mechanism.description import describe_mechanism

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

    formulation: how accelerations are computed. initial: start values by joint, see
    :func:`bellcrank.mechanism.initial.apply_initial`. parameters: values other than the described ones. t: start
    time [s].
    """
    tree = spanning_tree(system)
    linkage = replace(lower(system, tree), unit=length_unit(system))
    constraints = constraints_of(system, tree, linkage)
    effects = tuple(effect(force, linkage) for force in system.forces.values())
    names = tuple(system.parameters)
    values = _parameter_values(system, parameters or {})
    # The rates of states may look at any rotation.
    watched = any(state.trace is None for state in system.states.values())
    spinning = frozenset() if watched else spinning_links(system, linkage, constraints, regrouped(linkage))
    mechanics = Mechanics(linkage, constraints, effects, names, spinning)
    coarse = max(1.0, length_scale(system))
    loops = LoopState(linkage, constraints, dict(zip(names, values, strict=True)), coarse)
    drawn, rest = start_positions(system, linkage, loops.parameters), np.zeros(linkage.speeds)
    given, u, fixed_q, fixed_u = apply_initial(system, linkage, loops, drawn, rest, initial or {})
    given = led(loops, drawn, given, fixed_q, t)
    may = bendable(system, linkage, loops, initial or {})
    q, bent_q = yielding(
        lambda held: close_positions(
            loops, given, held, t, partial(open_loop, system, tree, constraints, held)
        ),
        fixed_q,
        may[0],
    )
    fixed_q = [k for k in fixed_q if k not in bent_q]
    kept, dropped = independent_equations(loops, q, t)
    q = closed_without(loops, given, q, fixed_q, t, kept)
    rows = loops.rows(q, t)
    u, bent_u = yielding(
        lambda held: close_speeds(loops, rows, u, held, lambda left: stuck(constraints, left, held)),
        fixed_u,
        may[1],
    )
    check_implied(loops, q, u, t, kept, dropped)
    groups = body_groups_of(linkage, mechanics, kept)
    check_locked(mechanics, groups, kept)
    start = State(t, q, u)
    mechanism = Mechanism(
        system,
        tree,
        mechanics,
        groups,
        tuple(kept),
        tuple(dropped),
        start,
        values,
        Formulation(formulation),
        separate(system, initial or {}),
        (bent_q, bent_u),
    )
    _ = mechanism._elements
    check_masses(mechanism)
    for place, value in start_loads(mechanism):
        name = linkage.states[place - linkage.positions + len(linkage.states)]
        if name not in (initial or {}):
            q[place] = value
    return mechanism


def _parameter_values(system: System, given: Mapping[str, float]) -> tuple[float, ...]:
    if not isinstance(given, Mapping):
        raise ModelError(f"parameters must be a mapping such as {{'stiffness': 1e4}}, not {given!r}")
    for name, value in given.items():
        if name not in system.parameters:
            raise unknown_name("parameter", name, system.parameters)
        if not isinstance(value, Real) or not np.isfinite(value):
            raise ModelError(f"parameter {name!r} must be a finite number, not {value!r}")
    return tuple(float(given.get(name, p.value)) for name, p in system.parameters.items())


__all__ = ["Formulation", "Mechanism", "State", "analyse"]
