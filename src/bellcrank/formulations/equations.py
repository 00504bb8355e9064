"""The equations of motion of one mechanism in one state, as far as all formulations share them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from bellcrank.formulations.algebra import Symmetric
from bellcrank.formulations.loops import Loops, Partition
from bellcrank.mechanics.constraints import Constraint, Equation, over_speeds
from bellcrank.mechanics.dynamics import (
    InertiaForces,
    mass_matrix,
    regrouped,
    tree_columns,
)
from bellcrank.mechanics.forces import Effect
from bellcrank.mechanics.inertia import Inertia
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.level import LevelKinematics
from bellcrank.mechanics.links import Linkage
from bellcrank.mechanics.loads import Loads, elastic_forces
from bellcrank.mechanics.numbers import Traced
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar


@dataclass(frozen=True, eq=False)
class Mechanics:
    """Everything about a mechanism that does not depend on its state."""

    linkage: Linkage
    constraints: tuple[Constraint, ...]
    effects: tuple[Effect, ...]
    parameters: tuple[str, ...]
    unturned: frozenset[int] = frozenset()

    @cached_property
    def inertias(self) -> list[Inertia]:
        """Link inertias, regrouped."""
        return regrouped(self.linkage)


@dataclass(frozen=True, eq=False)
class Reference:
    """A state of numbers in which pivots are judged: time, positions, all speeds, parameter values."""

    t: float
    q: Sequence[float]
    u: Sequence[float]
    parameters: Sequence[float]


@dataclass(eq=False)
class Equations:
    """One traced state: inputs, loops solved for the dependent speeds, loads, and M and f on demand.

    `v` holds the independent speeds; those that are plain numbers are folded in and no inputs. `sample` gives
    the values of expressions in a reference state, by which pivots are chosen.
    """

    mechanics: Mechanics
    partition: Partition
    graph: Graph
    t: Expr
    q: tuple[Expr, ...]
    v: Mapping[int, Scalar]
    sample: Callable[[Sequence[Scalar]], list[float]]
    kin: Kinematics = field(init=False)
    loops: Loops = field(init=False)
    u: list[Scalar] = field(init=False)
    loads: Loads = field(init=False)
    bias: list[Scalar] = field(init=False)

    def __post_init__(self) -> None:
        graph, mechanics = self.graph, self.mechanics
        with graph.counting("kinematics"):
            self.kin = Kinematics(mechanics.linkage, self.q, Traced(graph), mechanics.unturned)
        with graph.counting("loops"):
            self.loops = Loops(self.kin, mechanics.constraints, self.partition, self.t)
            self.u = self.loops.speeds(self.v)
        self.kin.set_speeds(self.u)
        with graph.counting("loops"):
            self.bias = self.loops.solve_accelerations()
        with graph.counting("forces"):
            self.loads = Loads(self.kin)
            for effect in mechanics.effects:
                effect(self.kin, self.t, self.loads)
            elastic_forces(self.kin, self.loads)

    @cached_property
    def level(self) -> LevelKinematics:
        """The motion by links in the axes of their dynamics."""
        with self.graph.counting("kinematics"):
            return LevelKinematics(self.kin)

    @staticmethod
    def traced(mechanics: Mechanics, partition: Partition, graph: Graph, reference: Reference) -> Equations:
        """With fresh inputs t, q, independent speeds and parameters of `graph`."""
        t = graph.input("t.")
        q = tuple(mechanics.linkage.position_inputs(graph))
        v = {i: graph.input(f"u.{i}") for i in partition.independent}
        inputs = [t, *q, *v.values(), *(graph.input(name) for name in mechanics.parameters)]
        x = [reference.t, *reference.q, *(reference.u[i] for i in v), *reference.parameters]

        def sample(values: Sequence[Scalar]) -> list[float]:
            return [float(y) for y in evaluate(Program.of(inputs, values), x)]

        return Equations(mechanics, partition, graph, t, q, v, sample)

    @property
    def inputs(self) -> list[Expr]:
        """t, q, independent speeds, parameters."""
        parameters = [self.graph.input(name) for name in self.mechanics.parameters]
        speeds = [x for x in self.v.values() if isinstance(x, Expr)]
        return [self.t, *self.q, *speeds, *parameters]

    def forces(self, du: Sequence[Scalar]) -> list[Scalar]:
        """Q - f: generalised forces less inertia forces at speed rates `du`, for every speed (19)."""
        with self.graph.counting("inertia forces"):
            inertia = InertiaForces(self.level, self.mechanics.inertias, du, self.loads.wrenches).whole()
            return [Q - f for Q, f in zip(self.kin.folded(self.loads.Q), inertia, strict=True)]

    def tree_forces(self) -> list[Scalar]:
        """Q - f for every speed with all speed rates zero."""
        return self.forces([0.0] * self.mechanics.linkage.speeds)

    def tree_mass(self) -> Symmetric:
        """M over all speeds of the tree (18)."""
        with self.graph.counting("mass matrix"):
            return mass_matrix(self.level, self.mechanics.inertias, tree_columns(self.kin))

    def reduced_forces(self) -> dict[int, Scalar]:
        """B^T (Q - f) for the independent speeds, with the dependent speed rates at their bias (35, 36)."""
        forces = self.forces(self.bias)
        with self.graph.counting("inertia forces"):
            return {n: self._work(i, forces.__getitem__) for n, i in enumerate(self.partition.independent)}

    def forces_inwards(self) -> Callable[[int, Iterable[int]], dict[int, Scalar]]:
        """The forces of :meth:`reduced_forces` where they are asked for from the tips inwards.

        What it gives is asked for some independent speeds, by their order, that move no links further in than a link.
        """
        if self.kin.nodes:
            found = self.reduced_forces()
            return lambda link, columns: {n: found[n] for n in columns}
        with self.graph.counting("inertia forces"):
            inertia = InertiaForces(self.level, self.mechanics.inertias, self.bias, self.loads.wrenches)
        Q = self.kin.folded(self.loads.Q)

        def asked(link: int, columns: Iterable[int]) -> dict[int, Scalar]:
            with self.graph.counting("inertia forces"):
                found = inertia.down_to(link)
                return {
                    n: self._work(self.partition.independent[n], lambda i: Q[i] - found[i]) for n in columns
                }

        return asked

    def _work(self, speed: int, force: Callable[[int], Scalar]) -> Scalar:
        """What all forces do along one independent speed."""
        total = force(speed)
        for c, row in self.loops.B.items():
            if speed in row:
                total = total + row[speed] * force(c)
        return total

    def rows(self) -> list[dict[int, Scalar]]:
        """The kept constraint rows over all speeds, in the order of `kept`."""
        with self.graph.counting("loops"):
            return [self.loops.row(e) for e in self.kept]

    @property
    def kept(self) -> list[int]:
        """The numbers of the equations that are not redundant."""
        return sorted(e for g in self.partition.groups for e, _ in g.pivots)

    def rubbing(self, number: int) -> dict[int, Scalar]:
        """What sliding friction adds to the force row of an equation."""
        equation = self._sliding[number]
        if equation.rubbing is None:
            return {}
        return over_speeds(self.kin, replace(equation, row=equation.rubbing))

    @cached_property
    def _sliding(self) -> list[Equation]:
        """All equations again, now that the speeds are known, and with them the direction of friction."""
        return [e for c in self.mechanics.constraints for e in c.equations(self.kin, self.t)]
