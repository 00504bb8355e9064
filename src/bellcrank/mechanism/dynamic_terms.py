"""The terms of the equations of motion in numbers: M du + h = Q + J^T l, J du = gamma, over all speeds of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.loops import Partition
from bellcrank.program.derive import jvp_program
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.formulations.equations import Mechanics
    from bellcrank.mechanism.mechanism import Mechanism, State

Array = NDArray[np.float64]


class DynamicTerms:
    """Mass matrix, bias and applied forces, constraint rows and derivatives of quantities, compiled when asked for."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.n = mechanism.linkage.speeds
        self.count = sum(c.size for c in mechanism.mechanics.constraints)
        self._quantities: dict[str, tuple[Kernel, int]] = {}

    def _equations(self, mechanics: Mechanics) -> Equations:
        """With all speeds of the tree as inputs."""
        graph = Graph()
        t = graph.input("t.")
        q = tuple(mechanics.linkage.position_inputs(graph))
        v = {i: graph.input(f"u.{i}") for i in range(self.n)}
        every = Partition((), tuple(range(self.n)))
        return Equations(mechanics, every, graph, t, q, v, lambda values: [0.0] * len(values))

    def input(self, state: State, parameters: Sequence[float]) -> Array:
        """[t, q, u, p]."""
        return np.concatenate([[state.t], state.q, state.u, parameters])

    @cached_property
    def _mass(self) -> tuple[Kernel, list[tuple[int, int]]]:
        eq = self._equations(self.mechanism.mechanics)
        entries = eq.tree_mass()
        return compile_program(Program.of(eq.inputs, list(entries.values()), "mass matrix")), list(entries)

    def mass_matrix(self, x: Array) -> Array:
        """M."""
        kernel, places = self._mass
        M = np.zeros((self.n, self.n))
        for (i, j), value in zip(places, kernel(x), strict=True):
            M[i, j] = M[j, i] = value
        return M

    @cached_property
    def _forces(self) -> tuple[Kernel, Kernel]:
        mechanics = self.mechanism.mechanics
        kernels = []
        for own in (replace(mechanics, effects=()), mechanics):
            eq = self._equations(own)
            kernels.append(compile_program(Program.of(eq.inputs, eq.tree_forces(), "forces")))
        return kernels[0], kernels[1]

    def bias(self, x: Array) -> Array:
        """h."""
        return np.asarray(-self._forces[0](x))

    def applied(self, x: Array) -> Array:
        """Q."""
        alone, together = self._forces
        return np.asarray(together(x) - alone(x))

    @cached_property
    def _rows(self) -> tuple[Kernel, list[tuple[int, int]]]:
        eq = self._equations(self.mechanism.mechanics)
        rows = [eq.loops.row(e) for e in range(self.count)]
        places = [(i, j) for i, row in enumerate(rows) for j in row]
        gamma = [g for c in eq.mechanics.constraints for g in c.gammas(eq.kin, eq.t)]
        outputs: list[Scalar] = [*(rows[i][j] for i, j in places), *gamma]
        return compile_program(Program.of(eq.inputs, outputs, "constraint rows")), places

    def rows(self, x: Array) -> tuple[Array, Array]:
        """J and gamma of all equations."""
        J = np.zeros((self.count, self.n))
        if not self.count:
            return J, np.zeros(0)
        kernel, places = self._rows
        values = kernel(x)
        for (i, j), value in zip(places, values, strict=False):
            J[i, j] = value
        return J, values[len(places) :].copy()

    def quantity(self, name: str, x: Array) -> tuple[Array, Array]:
        """A quantity of positions and speeds, and its derivatives by the speeds."""
        if name not in self._quantities:
            self._quantities[name] = self._traced(name)
        kernel, size = self._quantities[name]
        columns = np.tile(x, (self.n + 1, 1))
        change = np.zeros_like(columns)
        first = 1 + self.mechanism.linkage.positions
        change[range(self.n), range(first, first + self.n)] = 1.0
        values = kernel.many(np.hstack([columns, change]))
        return values[-1, :size].copy(), values[: self.n, size:].T.copy()

    def _traced(self, name: str) -> tuple[Kernel, int]:
        m = self.mechanism
        eq = self._equations(m.mechanics)
        s = Snapshot.on(m.system, m.tree, m.mechanics, eq.kin, eq.t, eq.graph)
        quantity, components = Quantities(s).find(name)
        if quantity.needs_rates or quantity.needs_multipliers:
            raise ModelError(
                f"{name!r} depends on accelerations or reactions; give a quantity of positions and speeds"
            )
        values = list(quantity.trace())
        values = values if components is None else [values[i] for i in components]
        return compile_program(jvp_program(Program.of(eq.inputs, values, name))), len(values)


TERMS: Table[None, DynamicTerms] = Table("terms of the equations of motion")

__all__ = ["TERMS", "DynamicTerms"]
